//! Parses YAML in general, within limits.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle};

use super::{NodeContent, Property, YamlDocument, YamlError, YamlNode, YamlProblem, YamlValue, key_text, scalar};
use crate::{count_steps, visible};

/// Nesting beyond this is hostile; people do not write it.
pub(crate) const MAX_DEPTH: usize = 64;
/// This many nodes is far beyond any real note.
const MAX_NODES: usize = 100_000;
/// What a node counts, with the characters that the parser looked at to find it.
const NODE_STEPS: usize = 64;
/// Aliases can multiply a small text into a huge value: their targets may weigh this much in total.
const MAX_REPEATED: usize = 1 << 20;

pub(super) fn read(yaml: &str) -> Result<YamlDocument, YamlError> {
    let mut reader = YamlReader {
        yaml,
        parser: Parser::new_from_str(yaml),
        line: 1,
        end: 0,
        anchors: HashMap::new(),
        document: YamlDocument::default(),
        nodes: 0,
        repeated: 0,
    };
    let root = loop {
        match reader.next()? {
            None | Some((Event::StreamEnd, _)) => break None,
            Some((event, span)) if event.is_node() => break Some(reader.node(event, span, 0)?),
            Some(_) => {}
        }
    };
    // A property editor could not show a second document in one block.
    // The rest is read all the same, so that a mistake behind the end is found.
    while let Some((event, _)) = reader.next()? {
        if event.is_node() {
            return Err(reader.problem("more than one YAML document"));
        }
    }
    Ok(YamlDocument { root, ..reader.document })
}

struct YamlReader<'a> {
    yaml: &'a str,
    parser: Parser<'a, granit_parser::StrInput<'a>>,
    line: usize,
    /// Where the last key, item or value ended.
    end: usize,
    anchors: HashMap<usize, YamlValue>,
    /// Everything found other than values.
    document: YamlDocument,
    nodes: usize,
    repeated: usize,
}

impl<'a> YamlReader<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, YamlError> {
        loop {
            count_steps(NODE_STEPS);
            match self.parser.next() {
                None => return Ok(None),
                // Comments are kept with their place: an edit must not lose them.
                Some(Ok((Event::Comment(..), span))) => {
                    let comment = self.bytes(span);
                    self.document.comments.push(comment);
                }
                Some(Ok((event, span))) => {
                    self.line = span.start.line();
                    return Ok(Some((event, span)));
                }
                Some(Err(error)) => {
                    let problem = YamlProblem::Other(visible(&error.info()).into_owned());
                    return Err(YamlError { line: error.marker().line(), problem });
                }
            }
        }
    }

    fn problem(&self, problem: &str) -> YamlError {
        YamlError { line: self.line, problem: YamlProblem::Other(problem.to_owned()) }
    }

    /// The bytes of an event.
    fn bytes(&self, span: Span) -> Range<usize> {
        span.byte_range().filter(|range| self.yaml.get(range.clone()).is_some()).unwrap_or(self.end..self.end)
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<YamlNode, YamlError> {
        // Counted over the whole document: neither depth nor breadth may exhaust memory.
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return Err(self.problem("nested or repeated beyond any reason"));
        }
        let anchor = event.anchor_id();
        let range = self.bytes(span);
        let node = match event {
            Event::Scalar(text, style, _, tag) => {
                let value = match tag.as_ref().and_then(|tag| tag.core_suffix()) {
                    // `!!str` without a value is an empty text, not nothing.
                    Some("str") if range.is_empty() && style == ScalarStyle::Plain => YamlValue::Text(String::new()),
                    Some("str") => YamlValue::Text(text.into_owned()),
                    _ => scalar(text, style),
                };
                YamlNode { span: self.scalar_span(range, style), content: NodeContent::Scalar(value) }
            }
            Event::SequenceStart(style, ..) => self.list(style, range, depth)?,
            Event::MappingStart(style, ..) => self.map(style, range, depth)?,
            Event::Alias(id) => {
                self.document.aliases.push((id, range.clone()));
                YamlNode { span: range, content: NodeContent::Alias(self.alias(id)?) }
            }
            _ => return Err(self.problem("unexpected YAML")),
        };
        self.end = node.span.end.max(self.end);
        // The value of an anchor is copied for each alias, so its weight is counted.
        if let Some(id) = anchor {
            let value = node.to_value();
            self.weigh(&value)?;
            self.document.anchors.push((id, node.span.clone()));
            self.anchors.insert(id, value);
        }
        Ok(node)
    }

    /// A scalar as written: the parser omits the header of a block scalar, and puts an absent value before the `:` of
    /// its key.
    fn scalar_span(&self, range: Range<usize>, style: ScalarStyle) -> Range<usize> {
        let before = &self.yaml[self.end.min(range.start)..range.start];
        match style {
            ScalarStyle::Literal | ScalarStyle::Folded => {
                // An anchor or a tag before the header may contain its marks too.
                let mut words = before.split_inclusive([' ', '\t', '\n']);
                let ahead: usize = words.by_ref().take_while(|word| !word.starts_with(['|', '>'])).map(str::len).sum();
                let header = (self.end.min(range.start) + ahead).min(range.start);
                header..header + self.yaml[header..range.end].trim_end().len()
            }
            _ if range.is_empty() => {
                let behind = &self.yaml[range.start..];
                let colon = behind.trim_start_matches([' ', '\t']).strip_prefix(':');
                let at = colon.map_or(range.start, |rest| self.yaml.len() - rest.len());
                at..at
            }
            _ => range,
        }
    }

    fn list(&mut self, style: StructureStyle, range: Range<usize>, depth: usize) -> Result<YamlNode, YamlError> {
        // The parser may start a block list after its first dash.
        // For the edit, the dash is part of the list.
        let start = match self.yaml.as_bytes().get(range.start) {
            Some(b'-') | None => range.start,
            _ if style == StructureStyle::Flow => range.start,
            _ => self.yaml[..range.start].rfind('-').unwrap_or(range.start),
        };
        self.end = self.end.max(range.start);
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Some((Event::SequenceEnd, end)) => {
                    let span = start..self.collection_end(style, end).max(start);
                    self.refuse_tabs(&span, style, depth)?;
                    return Ok(YamlNode { span, content: NodeContent::List(items) });
                }
                Some((event, span)) => items.push(self.node(event, span, depth + 1)?),
                None => return Err(self.problem("unfinished list")),
            }
        }
    }

    fn map(&mut self, style: StructureStyle, range: Range<usize>, depth: usize) -> Result<YamlNode, YamlError> {
        self.end = self.end.max(range.start);
        let mut entries: Vec<Property> = Vec::new();
        let mut known = HashSet::new();
        loop {
            let (key, key_span) = match self.next()? {
                Some((Event::MappingEnd, end)) => {
                    let start = if style == StructureStyle::Flow {
                        range.start
                    } else {
                        entries.first().map_or(range.start, |entry| entry.key_span.start)
                    };
                    let span = start..self.collection_end(style, end).max(start);
                    self.refuse_tabs(&span, style, depth)?;
                    return Ok(YamlNode { span, content: NodeContent::Map(entries) });
                }
                Some((event, span)) => {
                    let key = self.node(event, span, depth + 1)?;
                    (key.to_value(), key.span)
                }
                None => return Err(self.problem("unfinished map")),
            };
            let Some(key) = key_text(&key) else {
                return Err(self.problem("a property name that is a list or a map"));
            };
            // Obsidian rejects repeated names, and an edit could not tell which one is meant.
            // In the order of the file, so the second one is the mistake.
            if !known.insert(key.clone()) {
                return Err(YamlError { line: self.line, problem: YamlProblem::Repeated { name: key } });
            }
            let Some((event, span)) = self.next()? else { return Err(self.problem("unfinished map")) };
            let value = self.node(event, span, depth + 1)?;
            entries.push(Property { key, key_span, value });
        }
    }

    /// A bracket ends a flow collection, the last thing in it a block one.
    fn collection_end(&self, style: StructureStyle, end: Span) -> usize {
        if style == StructureStyle::Flow { self.bytes(end).end } else { self.end }
    }

    /// A tab is not indentation. The parser accepts it before a block and between the brackets of a flow collection.
    fn refuse_tabs(&self, span: &Range<usize>, style: StructureStyle, depth: usize) -> Result<(), YamlError> {
        let tab = match style {
            StructureStyle::Block => {
                let indent = self.yaml[..span.start].trim_end_matches([' ', '\t']).len();
                self.yaml[indent..span.start].contains('\t').then_some(span.start)
            }
            // At the margin of the document nothing must be indented.
            StructureStyle::Flow if depth > 0 => self.unindented_flow_line(span),
            StructureStyle::Flow => None,
        };
        match tab {
            Some(at) => {
                let line = 1 + memchr::memchr_iter(b'\n', &self.yaml.as_bytes()[..at]).count();
                Err(YamlError { line, problem: YamlProblem::Other("a tab cannot be used as indentation".to_owned()) })
            }
            None => Ok(()),
        }
    }

    /// The first line in a flow collection that is indented with a tab; only comments and the last bracket need no
    /// indentation.
    fn unindented_flow_line(&self, span: &Range<usize>) -> Option<usize> {
        let written = &self.yaml[span.clone()];
        memchr::memmem::find_iter(written.as_bytes(), "\n\t")
            .map(|at| at + 1)
            .find(|line| {
                let rest = written[*line..].trim_start_matches([' ', '\t']);
                !rest.starts_with(['\n', '#']) && rest.len() > 1
            })
            .map(|line| span.start + line)
    }

    fn alias(&mut self, id: usize) -> Result<YamlValue, YamlError> {
        let Some(value) = self.anchors.get(&id).cloned() else {
            return Err(self.problem("an alias without its anchor"));
        };
        self.weigh(&value)?;
        Ok(value)
    }

    fn weigh(&mut self, value: &YamlValue) -> Result<(), YamlError> {
        // Weighed when an anchor is defined and at each alias, since both are copies.
        self.repeated += weight(value);
        if self.repeated > MAX_REPEATED { Err(self.problem("nested or repeated beyond any reason")) } else { Ok(()) }
    }
}

fn weight(value: &YamlValue) -> usize {
    match value {
        YamlValue::List(items) => 8 + items.iter().map(weight).sum::<usize>(),
        YamlValue::Map(entries) => 8 + entries.iter().map(|(key, value)| key.len() + weight(value)).sum::<usize>(),
        YamlValue::Text(text) => 8 + text.len(),
        _ => 8,
    }
}
