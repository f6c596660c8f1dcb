//! YAML values and how they are parsed.

use std::{borrow::Cow, ops::Range};

use granit_parser::ScalarStyle;

use crate::quoted;

mod document;
mod reader;
mod simple;

pub(crate) use document::YamlDocument;
pub(crate) use reader::MAX_DEPTH;

/// A YAML value in the core schema of YAML 1.2, as Obsidian reads it: `yes` is a word, dates are words.
#[derive(Clone, Debug, PartialEq)]
pub enum YamlValue {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<YamlValue>),
    /// In document order; keys are unique.
    Map(Vec<(String, YamlValue)>),
}

impl YamlValue {
    /// How many lists and maps are nested.
    pub(crate) fn depth(&self) -> usize {
        let mut deepest = 0;
        // Without recursion: a caller's value may be nested deeper than the stack allows.
        let mut left = vec![(self, 0)];
        while let Some((value, depth)) = left.pop() {
            deepest = deepest.max(depth);
            match value {
                Self::List(items) => left.extend(items.iter().map(|item| (item, depth + 1))),
                Self::Map(entries) => left.extend(entries.iter().map(|(_, value)| (value, depth + 1))),
                _ => {}
            }
        }
        deepest
    }
}

/// Why a text is not one YAML value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    /// Counted from 1, within the YAML text.
    pub(crate) line: usize,
    pub(crate) problem: YamlProblem,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum YamlProblem {
    #[error("the property {} occurs twice", quoted(.name))]
    Repeated { name: String },
    #[error("{0}")]
    Other(String),
}

/// A YAML value with its position: spans refer to the text it was parsed from.
#[derive(Clone, Debug, PartialEq)]
pub struct YamlNode {
    /// The value as written, with its quotes, brackets or block header, without tag, anchor and comments. An absent
    /// value has an empty span where it would be.
    pub span: Range<usize>,
    pub content: NodeContent,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NodeContent {
    /// Null, a bool, a number or a text.
    Scalar(YamlValue),
    List(Vec<YamlNode>),
    Map(Vec<Property>),
    /// `*name`, and its target.
    Alias(YamlValue),
}

/// A `key: value` of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    pub key: String,
    /// The key as written, with its quotes.
    pub key_span: Range<usize>,
    pub value: YamlNode,
}

impl YamlNode {
    pub fn to_value(&self) -> YamlValue {
        match &self.content {
            NodeContent::Scalar(value) | NodeContent::Alias(value) => value.clone(),
            NodeContent::List(items) => YamlValue::List(items.iter().map(YamlNode::to_value).collect()),
            NodeContent::Map(entries) => {
                YamlValue::Map(entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value())).collect())
            }
        }
    }

    /// The value that a key of a map or an index of a list leads to.
    pub fn get(&self, step: &str) -> Option<&YamlNode> {
        match &self.content {
            NodeContent::Map(entries) => entries.iter().find(|entry| entry.key == step).map(|entry| &entry.value),
            NodeContent::List(items) => items.get(step.parse::<usize>().ok()?),
            NodeContent::Scalar(_) | NodeContent::Alias(_) => None,
        }
    }

    pub(crate) fn shift(&mut self, by: usize) {
        self.span = self.span.start + by..self.span.end + by;
        match &mut self.content {
            NodeContent::List(items) => items.iter_mut().for_each(|item| item.shift(by)),
            NodeContent::Map(entries) => entries.iter_mut().for_each(|entry| entry.shift(by)),
            NodeContent::Scalar(_) | NodeContent::Alias(_) => {}
        }
    }
}

impl Property {
    pub(crate) fn shift(&mut self, by: usize) {
        self.key_span = self.key_span.start + by..self.key_span.end + by;
        self.value.shift(by);
    }
}

pub(crate) fn parse(yaml: &str) -> Result<YamlValue, YamlError> {
    read(yaml).map(|node| node.to_value())
}

/// Parses one YAML document; an empty one is null.
pub(crate) fn read(yaml: &str) -> Result<YamlNode, YamlError> {
    // Nearly all notes are simple, and reading them takes a fraction of the time.
    simple::read(yaml).map_or_else(|| reader::read(yaml).map(YamlDocument::into_node), Ok)
}

/// A YAML file that is not a note, such as a base: its one value with the positions of its parts. The line of an error is
/// counted from 1.
pub fn read_yaml(yaml: &str) -> Result<YamlNode, (usize, String)> {
    read(yaml).map_err(|error| (error.line, error.problem.to_string()))
}

/// Parses one YAML document with its comments, anchors and aliases.
pub(crate) fn document(yaml: &str) -> Result<YamlDocument, YamlError> {
    // A simple document has none of them.
    let simple = simple::read(yaml).map(|root| YamlDocument { root: Some(root), ..YamlDocument::default() });
    simple.map_or_else(|| reader::read(yaml), Ok)
}

fn key_text(key: &YamlValue) -> Option<String> {
    match key {
        // The key of `: value` is empty, as in JavaScript.
        YamlValue::Null => Some(String::new()),
        YamlValue::Bool(value) => Some(value.to_string()),
        YamlValue::Integer(value) => Some(value.to_string()),
        YamlValue::Float(value) => Some(value.to_string()),
        YamlValue::Text(text) => Some(text.clone()),
        YamlValue::List(_) | YamlValue::Map(_) => None,
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> YamlValue {
    // A quoted text is a text, whatever it looks like.
    if style != ScalarStyle::Plain {
        return YamlValue::Text(text.into_owned());
    }
    match &*text {
        "" | "~" | "null" | "Null" | "NULL" => YamlValue::Null,
        "true" | "True" | "TRUE" => YamlValue::Bool(true),
        "false" | "False" | "FALSE" => YamlValue::Bool(false),
        ".nan" | ".NaN" | ".NAN" => YamlValue::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => YamlValue::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => YamlValue::Float(f64::NEG_INFINITY),
        plain => number(plain).unwrap_or_else(|| YamlValue::Text(text.into_owned())),
    }
}

/// Integers (decimal, `0o`, `0x`) and floats of the core schema; anything else is a word.
fn number(plain: &str) -> Option<YamlValue> {
    if let Some(octal) = plain.strip_prefix("0o") {
        return plain_digits(octal).then(|| i64::from_str_radix(octal, 8).ok().map(YamlValue::Integer))?;
    }
    if let Some(hex) = plain.strip_prefix("0x") {
        return plain_digits(hex).then(|| i64::from_str_radix(hex, 16).ok().map(YamlValue::Integer))?;
    }
    let digits = plain.strip_prefix(['-', '+']).unwrap_or(plain);
    // Leading zeros are allowed in the core schema: `007` is 7.
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        // Longer than any machine integer: keep the value, lose the exactness, as JavaScript does.
        return Some(
            plain
                .parse()
                .map(YamlValue::Integer)
                .or_else(|_| plain.parse().map(YamlValue::Float))
                .unwrap_or(YamlValue::Null),
        );
    }
    let mut bytes = digits.bytes();
    let starts_like_a_number = bytes.next().is_some_and(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().any(|byte| byte.is_ascii_digit());
    let only_float_bytes =
        digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'-' | b'+'));
    (starts_like_a_number && only_float_bytes).then(|| plain.parse().ok().map(YamlValue::Float))?
}

fn plain_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_follow_the_core_schema() {
        let text = |value: &str| YamlValue::Text(value.to_owned());
        for (yaml, value) in [
            ("yes", text("yes")),
            ("off", text("off")),
            ("true", YamlValue::Bool(true)),
            ("~", YamlValue::Null),
            ("", YamlValue::Null),
            ("2024-01-02", text("2024-01-02")),
            ("12:30", text("12:30")),
            ("014", YamlValue::Integer(14)),
            ("0o14", YamlValue::Integer(12)),
            ("0xff", YamlValue::Integer(255)),
            ("1_000", text("1_000")),
            ("1e3", YamlValue::Float(1000.0)),
            ("-1.5", YamlValue::Float(-1.5)),
            (".5", YamlValue::Float(0.5)),
            ("1.2.3", text("1.2.3")),
            ("e3", text("e3")),
            ("'7'", text("7")),
            ("\"true\"", text("true")),
            ("[[x]]", YamlValue::List(vec![YamlValue::List(vec![text("x")])])),
            ("!!str 7", text("7")),
        ] {
            assert_eq!(parse(yaml), Ok(value), "{yaml}");
        }
    }

    #[test]
    fn maps_keep_their_order_and_refuse_a_repeated_name() {
        let map = parse("b: 1\na: [x, 2]\n").unwrap();
        assert_eq!(
            map,
            YamlValue::Map(vec![
                ("b".into(), YamlValue::Integer(1)),
                ("a".into(), YamlValue::List(vec![YamlValue::Text("x".into()), YamlValue::Integer(2)])),
            ])
        );
        assert_eq!(parse("a: 1\na: 2\n").unwrap_err().line, 2);
    }

    #[test]
    fn aliases_are_resolved_and_bombs_are_refused() {
        assert!(parse("a: &x [1]\nb: *x\n").is_ok());
        let mut bomb = "a: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..12 {
            let previous = format!("*a{}", level - 1);
            bomb += &format!("k{level}: &a{level} [{}]\n", vec![previous; 10].join(","));
        }
        assert!(parse(&bomb).is_err());
        assert!(parse(&"[".repeat(5000)).is_err());
    }

    /// How Obsidian's parser reads the same texts.
    #[test]
    fn a_tab_is_not_indentation() {
        for (yaml, line) in [
            ("a:\n\tb: 1\n", 2),
            ("a:\n\t- x\n", 2),
            ("\ta: 1\n", 1),
            (" \ta: 1\n", 1),
            ("a: 1\nb:\n  \tc: 1\n", 3),
            ("a:\n  -\tb: 1\n", 2),
            ("a:\n  - x\n  - \tb: 1\n", 3),
            ("a: [x,\n\ty]\n", 2),
            ("a: {b: 1,\n  c: 2,\n\td: 3}\n", 3),
            ("a:\n  - [x,\n\ty]\n", 3),
        ] {
            assert_eq!(parse(yaml).map_err(|error| error.line), Err(line), "{yaml:?}");
        }
        for yaml in [
            "a: [x\n\t, y]\n",
            "a: x\n\ty\n",
            "a: \"x\n\ty\"\n",
            "a: |\n\tx\n",
            "a: |\n  x\n\ty\nb: 1\n",
            "a:\n  -\t- x\n",
        ] {
            assert!(parse(yaml).is_err(), "{yaml:?}");
        }
        for yaml in [
            "a:\t1\n",
            "a: 1\n\t\nb: 2\n",
            "a: 1\n\t# c\nb: 2\n",
            "a: |\n  x\n  \ty\n",
            "a: x\n \ty\n",
            "a:\n -\t\"x\"\n",
            "a: [x,\n \ty]\n",
            "a: [x, 'y'\n\t]\n",
            "a: [\n  x,\n\t# c\n  y]\n",
            "a:\t\n  b: 1\n",
            "{\n\ta: 1\n}\n",
        ] {
            assert!(parse(yaml).is_ok(), "{yaml:?} {:?}", parse(yaml));
        }
    }

    #[test]
    fn invalid_yaml_is_reported_with_its_line() {
        let error = parse("a: 1\nb: c: d\n").unwrap_err();
        assert_eq!(error.line, 2, "{error:?}");
    }
}
