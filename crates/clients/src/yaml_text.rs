//! YAML in block style: an entry is a run of whole lines.

use std::ops::Range;

use granit_parser::{Event, Marker, Parser, ScalarStyle, StructureStyle};
use serde_json::{Map, Number, Value};

use crate::{
    ClientFileError,
    text_lines::{before_line_end, line_end, line_start, next_line},
};

/// Settings are not deep; a deeper file is not one.
const MAX_DEPTH: usize = 64;

const FLOW_STYLE: ClientFileError =
    ClientFileError::Unsupported("its tables are in braces; add the entry by hand (--print shows it)");

/// A node and where it is. A block collection ends with its last child.
#[derive(Debug, Clone)]
struct YamlNode {
    range: Range<usize>,
    content: YamlContent,
}

#[derive(Debug, Clone)]
enum YamlContent {
    Scalar(Value),
    List(Vec<YamlNode>),
    Table { entries: Vec<(YamlNode, YamlNode)>, flow: bool },
}

pub(crate) fn parse(text: &str) -> Result<Value, ClientFileError> {
    Ok(tree(text)?.as_ref().map_or_else(|| Value::Object(Map::new()), YamlNode::value))
}

/// The text with a table at a path of two keys.
pub(crate) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, ClientFileError> {
    let ([parent, name], Value::Object(fields)) = (path, value) else { return Err(ClientFileError::Unsafe) };
    let eol = line_end(text);
    let block = |indent: usize| {
        let (outer, inner) = (" ".repeat(indent), " ".repeat(indent + 2));
        let lines = fields.iter().map(|(key, value)| format!("{eol}{inner}{key}: {}", written(value)));
        format!("{outer}{name}:{}", lines.collect::<String>())
    };
    let root = tree(text)?;
    let above = root.as_ref().map(|root| root.entry(parent)).transpose()?.flatten();
    let Some((key, table)) = above else {
        // In a file in braces, lines at the end would be outside of the table.
        if let Some(root) = &root {
            root.expect_block()?;
        }
        let added = format!("{parent}:{eol}{}", block(2));
        return Ok(match text {
            "" => format!("{added}{eol}"),
            _ if text.ends_with('\n') => format!("{text}{added}{eol}"),
            // Whether the file ends with a line end stays as it is.
            _ => format!("{text}{eol}{added}"),
        });
    };
    let column = key.range.start - line_start(text, key.range.start);
    match &table.content {
        YamlContent::Table { entries, flow } if !entries.is_empty() => {
            if *flow {
                return Err(FLOW_STYLE);
            }
            if let Some((key, old)) = table.entry(name)? {
                // Written anew as a whole: comments inside our entry do not survive, every line outside of it does.
                let lines = lines(text, key, old);
                let indent = key.range.start - lines.start;
                let end = if text[lines.clone()].ends_with('\n') { eol } else { "" };
                return Ok(format!("{}{}{end}{}", &text[..lines.start], block(indent), &text[lines.end..]));
            }
            // In the column of the entries that are there: YAML takes another one for an error or for another level.
            let indent = entries
                .first()
                .map_or(column + 2, |(first, _)| first.range.start - line_start(text, first.range.start));
            // Right below its key: a comment after the last entry may belong to what follows.
            let at = next_line(text, key.range.end);
            Ok(format!("{}{}{eol}{}", &text[..at], block(indent), &text[at..]))
        }
        // `extensions:` and `extensions: {}`
        YamlContent::Table { .. } | YamlContent::Scalar(Value::Null) => {
            // The braces go first, since an entry on the lines below could not follow them.
            let without = format!("{}{}", &text[..table.range.start], &text[table.range.end..]);
            let at = next_line(&without, key.range.end);
            let (head, tail) = without.split_at(at);
            Ok(match head.ends_with('\n') {
                true => format!("{head}{}{eol}{tail}", block(column + 2)),
                false => format!("{head}{eol}{}{tail}", block(column + 2)),
            })
        }
        _ => Err(ClientFileError::NotATable { key: (*parent).to_owned() }),
    }
}

/// The text without the table at a path of two keys, and without the key above it if nothing else is below.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String, ClientFileError> {
    let [parent, name] = path else { return Err(ClientFileError::Unsafe) };
    let root = tree(text)?;
    let above = root.as_ref().map(|root| root.entry(parent)).transpose()?.flatten();
    let Some((above, table)) = above else { return Ok(text.to_owned()) };
    // An entry in braces shares its lines with others, so they cannot go.
    table.expect_block()?;
    let Some((key, entry)) = table.entry(name)? else { return Ok(text.to_owned()) };
    let mut lines = lines(text, key, entry);
    let alone = matches!(&table.content, YamlContent::Table { entries, .. } if entries.len() == 1);
    let start = line_start(text, above.range.start);
    // A comment above the entry would go with the key, so the key stays.
    if alone && !text[start..lines.start].contains('#') {
        lines.start = start;
    }
    // A file that had no line end at its end has none afterwards.
    if lines.end == text.len() && !text.ends_with('\n') {
        lines.start = before_line_end(text, lines.start);
    }
    Ok(format!("{}{}", &text[..lines.start], &text[lines.end..]))
}

/// The whole lines of an entry. The end of a block of text may be counted past its last line end.
fn lines(text: &str, key: &YamlNode, value: &YamlNode) -> Range<usize> {
    let end = text[..value.range.end.max(key.range.end)].trim_end().len();
    line_start(text, key.range.start)..next_line(text, end)
}

impl YamlNode {
    fn value(&self) -> Value {
        match &self.content {
            YamlContent::Scalar(value) => value.clone(),
            YamlContent::List(nodes) => nodes.iter().map(Self::value).collect(),
            YamlContent::Table { entries, .. } => {
                entries.iter().map(|(key, value)| (key.name(), value.value())).collect()
            }
        }
    }

    fn name(&self) -> String {
        match self.value() {
            Value::String(name) => name,
            other => other.to_string(),
        }
    }

    fn expect_block(&self) -> Result<(), ClientFileError> {
        match &self.content {
            YamlContent::Table { flow: false, .. } | YamlContent::Scalar(Value::Null) => Ok(()),
            YamlContent::Table { .. } => Err(FLOW_STYLE),
            _ => Err(ClientFileError::NotATable { key: "the whole file".to_owned() }),
        }
    }

    fn entry(&self, key: &str) -> Result<Option<(&Self, &Self)>, ClientFileError> {
        let YamlContent::Table { entries, .. } = &self.content else { return Ok(None) };
        let mut named = entries.iter().filter(|(name, _)| name.name() == key);
        match (named.next(), named.next()) {
            (_, Some(_)) => Err(ClientFileError::Twice { key: key.to_owned() }),
            (found, None) => Ok(found.map(|(key, value)| (key, value))),
        }
    }
}

/// A collection that is not complete yet.
struct OpenCollection {
    start: usize,
    end: usize,
    nodes: Vec<YamlNode>,
    /// `None` for a list; otherwise whether the table is in braces.
    table: Option<bool>,
}

fn tree(text: &str) -> Result<Option<YamlNode>, ClientFileError> {
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<OpenCollection> = Vec::new();
    let mut root = None;
    let mut documents = 0_usize;
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| broken(error.marker(), error.info()))?;
        let range = span.byte_range().ok_or(ClientFileError::Unsafe)?;
        let done = match event {
            Event::DocumentStart(..) => {
                documents += 1;
                if documents > 1 {
                    return Err(ClientFileError::Unsupported("the file has more than one YAML document"));
                }
                None
            }
            Event::MappingStart(style, ..) => {
                let table = Some(style == StructureStyle::Flow);
                open.push(OpenCollection { start: range.start, end: range.start, nodes: Vec::new(), table });
                None
            }
            Event::SequenceStart(..) => {
                open.push(OpenCollection { start: range.start, end: range.start, nodes: Vec::new(), table: None });
                None
            }
            Event::MappingEnd | Event::SequenceEnd => open.pop().map(|closed| closed.node(range.end)),
            Event::Scalar(text, style, _, tag) => {
                let value = match tag {
                    None => scalar(&text, style),
                    // Tags and aliases are not resolved: the values are only compared before and after the edit, and
                    // their letters are enough for that.
                    Some(tag) => Value::String(format!("{} {text}", tag.original())),
                };
                Some(YamlNode { range, content: YamlContent::Scalar(value) })
            }
            Event::Alias(id) => Some(YamlNode { range, content: YamlContent::Scalar(Value::String(format!("*{id}"))) }),
            _ => None,
        };
        // Values are read and dropped by recursion, which a file could otherwise drive to the end of the stack.
        if open.len() > MAX_DEPTH {
            return Err(broken(&span.start, "too deep".to_owned()));
        }
        let Some(node) = done else { continue };
        match open.last_mut() {
            Some(above) => {
                above.end = above.end.max(node.range.end);
                above.nodes.push(node);
            }
            None => root = Some(node),
        }
    }
    Ok(root.filter(|root| !matches!(root.content, YamlContent::Scalar(Value::Null))))
}

impl OpenCollection {
    fn node(self, closed: usize) -> YamlNode {
        let flow = self.table.unwrap_or_default();
        // The parser ends a block collection where the next token begins, past blank lines and comments that are not
        // part of it.
        let range = self.start..if flow { closed } else { self.end };
        let content = match self.table {
            None => YamlContent::List(self.nodes),
            Some(flow) => {
                let mut nodes = self.nodes.into_iter();
                let mut entries = Vec::new();
                while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
                    entries.push((key, value));
                }
                YamlContent::Table { entries, flow }
            }
        };
        YamlNode { range, content }
    }
}

fn broken(at: &Marker, problem: String) -> ClientFileError {
    ClientFileError::Broken { line: at.line(), column: at.col() + 1, problem }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => text.parse::<Number>().map_or_else(|_| Value::String(text.to_owned()), Value::Number),
    }
}

/// JSON is YAML; words that need no quotes get none.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let plain = text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/')
                && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-".contains(letter))
                // `y`, `no` and `off` are truth values to older readers.
                && text.len() > 3
                && scalar(text, ScalarStyle::Plain).is_string();
            if plain { text.clone() } else { value.to_string() }
        }
        Value::Array(elements) => format!("[{}]", elements.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
