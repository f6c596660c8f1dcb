//! YAML as bases use it: texts with their places, and what the app tolerates.

use lapidary_note::{NodeContent, Property, YamlNode, YamlValue};
use lapidary_query::{QuerySyntaxError, Value};

/// The fault of a line whose value begins with `!` and has no quotes.
pub(super) fn lost_expression(yaml: &str, line_start: usize) -> Option<QuerySyntaxError> {
    let line = yaml.get(line_start..)?.lines().next()?;
    // In a list, or as the value of a key.
    let value = line.trim_start().trim_start_matches("- ").trim_start();
    let value = value.split_once(": ").map_or(value, |(_, value)| value.trim_start());
    let at = line_start + line.find('!').filter(|_| value.starts_with('!'))?;
    let message = "an expression that begins with '!' must be in quotes, or YAML reads it as the name of a type";
    Some(QuerySyntaxError::at(yaml, at, message))
}

pub(super) fn is_null(node: &YamlNode) -> bool {
    matches!(node.content, NodeContent::Scalar(YamlValue::Null))
}

pub(super) fn text_of(node: &YamlNode) -> Option<&str> {
    match &node.content {
        NodeContent::Scalar(YamlValue::Text(text)) => Some(text),
        _ => None,
    }
}

/// A name may look like a number or a boolean.
pub(super) fn shown_scalar(node: &YamlNode) -> Option<String> {
    match &node.content {
        NodeContent::Scalar(YamlValue::Text(text)) => Some(text.clone()),
        NodeContent::Scalar(YamlValue::Integer(number)) => Some(number.to_string()),
        NodeContent::Scalar(YamlValue::Float(number)) => Some(number.to_string()),
        NodeContent::Scalar(YamlValue::Bool(value)) => Some(value.to_string()),
        _ => None,
    }
}

/// Where a text begins in the YAML that it was read from, if it is written there as it is.
pub(super) fn text_offset(yaml: &str, node: &YamlNode, text: &str) -> Option<usize> {
    let written = yaml.get(node.span.clone())?;
    if let Some(at) = written.find(text) {
        return Some(node.span.start + at);
    }
    // Escapes and folded lines shift what follows them; the first line is still where it is.
    let first = text.lines().next().filter(|line| !line.is_empty())?;
    let known = first.find(['\\', '"', '\'']).map_or(first, |end| &first[..end]);
    written.find(known).map(|at| node.span.start + at)
}

pub(super) fn followed_by_comment(yaml: &str, node: &YamlNode) -> bool {
    let written = yaml.get(node.span.clone()).unwrap_or_default();
    let behind = yaml.get(node.span.end..).unwrap_or_default();
    !written.starts_with(['"', '\'', '|', '>']) && behind.starts_with(" #")
}

pub(super) fn plain_value(value: &YamlValue) -> Value {
    match value {
        YamlValue::Null => Value::Null,
        YamlValue::Bool(value) => Value::Boolean(*value),
        YamlValue::Integer(number) => Value::from(*number),
        YamlValue::Float(number) => Value::Number(lapidary_query::Number::Float(*number)),
        YamlValue::Text(text) => Value::from(text.as_str()),
        YamlValue::List(items) => items.iter().map(plain_value).collect(),
        YamlValue::Map(entries) => {
            Value::Object(entries.iter().map(|(name, value)| (name.clone(), plain_value(value))).collect())
        }
    }
}

/// Every alias with what it stands for in its place.
pub(super) fn without_aliases(node: YamlNode) -> YamlNode {
    let YamlNode { span, content } = node;
    let content = match content {
        NodeContent::Alias(value) => return node_of(value, &span),
        NodeContent::List(items) => NodeContent::List(items.into_iter().map(without_aliases).collect()),
        NodeContent::Map(entries) => {
            let entry = |entry: Property| Property { value: without_aliases(entry.value), ..entry };
            NodeContent::Map(entries.into_iter().map(entry).collect())
        }
        scalar @ NodeContent::Scalar(_) => scalar,
    };
    YamlNode { span, content }
}

pub(super) fn node_of(value: YamlValue, span: &std::ops::Range<usize>) -> YamlNode {
    let content = match value {
        YamlValue::List(items) => NodeContent::List(items.into_iter().map(|item| node_of(item, span)).collect()),
        YamlValue::Map(entries) => {
            let entry = |(key, value)| Property { key, key_span: span.clone(), value: node_of(value, span) };
            NodeContent::Map(entries.into_iter().map(entry).collect())
        }
        scalar => NodeContent::Scalar(scalar),
    };
    YamlNode { span: span.clone(), content }
}

/// Tabs that indent become spaces, as in the app; nothing if there are none.
pub(super) fn without_tabs(yaml: &str) -> Option<String> {
    let is_indented =
        |line: &str| line.trim_start_matches([' ', '\t']).len() < line.len() && line.starts_with([' ', '\t']);
    let has_tabs = |line: &&str| is_indented(line) && line[..line.len() - line.trim_start().len()].contains('\t');
    // Nearly no file has any, and then nothing is copied.
    yaml.lines().find(|line| has_tabs(line))?;
    let spaced = yaml.split_inclusive('\n').map(|line| {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        format!("{}{}", line[..indent].replace('\t', "  "), &line[indent..])
    });
    Some(spaced.collect())
}
