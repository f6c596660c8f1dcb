//! The YAML of a note as nodes with their places: what an edit must know before it trusts itself to one.

use std::{collections::HashSet, ops::Range};

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};

use super::PropertyError;

#[derive(Debug)]
pub(super) struct Node {
    /// The value as written, quotes included, in the YAML text.
    pub(super) span: Range<usize>,
    anchor: Option<usize>,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Scalar { text: String, style: ScalarStyle },
    List(Vec<Node>),
    Map(Vec<Entry>),
    Alias,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) key: Range<usize>,
    pub(super) value: Node,
}

#[derive(Debug)]
pub(super) struct Tree {
    /// Nothing if the text holds no value at all.
    pub(super) root: Option<Node>,
    pub(super) comments: Vec<Range<usize>>,
    aliases: Vec<(usize, Range<usize>)>,
}

impl Tree {
    pub(super) fn read(yaml: &str) -> Result<Self, PropertyError> {
        let mut reader =
            Reader { parser: Parser::new_from_str(yaml), comments: Vec::new(), aliases: Vec::new(), depth: 0 };
        let mut root = None;
        while let Some((event, span)) = reader.next()? {
            if event.is_node() {
                root = Some(reader.node(event, span)?);
            }
        }
        Ok(Self { root, comments: reader.comments, aliases: reader.aliases })
    }

    /// Whether an alias outside of a node stands for that node or for something in it.
    pub(super) fn is_used_elsewhere(&self, node: &Node) -> bool {
        let inside = |span: &Range<usize>| node.span.start <= span.start && span.end <= node.span.end;
        self.aliases.iter().any(|(id, span)| !inside(span) && node.defines(*id))
    }

    pub(super) fn is_used(&self, anchor: Option<usize>) -> bool {
        anchor.is_some_and(|anchor| self.aliases.iter().any(|(id, _)| *id == anchor))
    }
}

impl Node {
    pub(super) fn anchor(&self) -> Option<usize> {
        self.anchor
    }

    fn defines(&self, id: usize) -> bool {
        self.anchor == Some(id)
            || match &self.content {
                Content::List(items) => items.iter().any(|item| item.defines(id)),
                Content::Map(entries) => entries.iter().any(|entry| entry.value.defines(id)),
                Content::Scalar { .. } | Content::Alias => false,
            }
    }

    /// Whether moving the node would tear an alias from its anchor.
    pub(super) fn has_anchors(&self) -> bool {
        self.anchor.is_some()
            || match &self.content {
                Content::List(items) => items.iter().any(Self::has_anchors),
                Content::Map(entries) => entries.iter().any(|entry| entry.value.has_anchors()),
                Content::Alias => true,
                Content::Scalar { .. } => false,
            }
    }
}

struct Reader<'a> {
    parser: Parser<'a, granit_parser::StrInput<'a>>,
    comments: Vec<Range<usize>>,
    aliases: Vec<(usize, Range<usize>)>,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, Range<usize>)>, PropertyError> {
        loop {
            let (event, span) = match self.parser.next() {
                None => return Ok(None),
                Some(Ok(found)) => found,
                Some(Err(error)) => return Err(broken(error.marker().line(), &error.info())),
            };
            let Some(range) = span.byte_range() else { return Err(broken(span.start.line(), "no byte offsets")) };
            match event {
                Event::Comment(..) => self.comments.push(range),
                event => return Ok(Some((event, range))),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Range<usize>) -> Result<Node, PropertyError> {
        // The YAML reader refuses the same depth.
        if self.depth > 64 {
            return Err(broken(1, "nested beyond any reason"));
        }
        self.depth += 1;
        let anchor = event.anchor_id();
        let (content, end) = match event {
            Event::Scalar(text, style, ..) => (Content::Scalar { text: text.into_owned(), style }, span.end),
            Event::Alias(id) => {
                self.aliases.push((id, span.clone()));
                (Content::Alias, span.end)
            }
            Event::SequenceStart(style, ..) => self.list(style, span.start)?,
            Event::MappingStart(style, ..) => self.map(style, span.start)?,
            _ => return Err(broken(1, "unexpected YAML")),
        };
        self.depth -= 1;
        Ok(Node { span: span.start..end, anchor, content })
    }

    fn list(&mut self, style: StructureStyle, start: usize) -> Result<(Content, usize), PropertyError> {
        let mut items: Vec<Node> = Vec::new();
        while let Some((event, span)) = self.next()? {
            if event == Event::SequenceEnd {
                let end = end(style, span, items.last().map_or(start, |last| last.span.end));
                return Ok((Content::List(items), end));
            }
            items.push(self.node(event, span)?);
        }
        Err(broken(1, "unfinished list"))
    }

    fn map(&mut self, style: StructureStyle, start: usize) -> Result<(Content, usize), PropertyError> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut names = HashSet::new();
        while let Some((event, span)) = self.next()? {
            if event == Event::MappingEnd {
                let end = end(style, span, entries.last().map_or(start, |last| last.value.span.end.max(last.key.end)));
                return Ok((Content::Map(entries), end));
            }
            let name = event.scalar().map(|(text, _)| text.to_owned()).unwrap_or_default();
            let key = self.node(event, span)?.span;
            let Some((event, span)) = self.next()? else { break };
            let value = self.node(event, span)?;
            if !names.insert(name.clone()) {
                return Err(PropertyError::Duplicate { name });
            }
            entries.push(Entry { name, key, value });
        }
        Err(broken(1, "unfinished map"))
    }
}

/// A flow collection ends with its bracket, a block collection with its last value.
fn end(style: StructureStyle, closing: Range<usize>, last: usize) -> usize {
    match style {
        StructureStyle::Flow => closing.end,
        StructureStyle::Block => last,
    }
}

/// The opening fence is line 1 of the note.
fn broken(line: usize, problem: &str) -> PropertyError {
    PropertyError::Yaml { line: line + 1, problem: problem.to_owned() }
}
