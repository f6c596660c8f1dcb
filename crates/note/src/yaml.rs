use std::borrow::Cow;

use granit_parser::{Event, Parser, ScalarStyle};

/// A YAML value after the core schema of YAML 1.2, as Obsidian reads it: `yes` is a word, dates are words.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    /// In document order; keys are unique.
    Map(Vec<(String, Value)>),
}

/// Why a text is not one YAML value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    /// Counted from 1, within the YAML text.
    pub(crate) line: usize,
    pub(crate) problem: String,
}

/// Nesting beyond this is hostile; people do not write it.
const MAX_DEPTH: usize = 64;
/// Aliases can multiply a small text into a huge value; this many nodes is far beyond any real note.
const MAX_NODES: usize = 100_000;

pub(crate) fn parse(yaml: &str) -> Result<Value, YamlError> {
    let mut reader = Reader { parser: Parser::new_from_str(yaml), line: 1, anchors: Vec::new(), nodes: 0 };
    let value = loop {
        match reader.next()? {
            None | Some(Event::StreamEnd) => break Value::Null,
            Some(event) if event.is_node() => break reader.node(event, 0)?,
            Some(_) => {}
        }
    };
    // A second document in one block is not something a property editor could show.
    while let Some(event) = reader.next()? {
        if event.is_node() {
            return Err(reader.problem("more than one YAML document"));
        }
    }
    Ok(value)
}

struct Reader<'a> {
    parser: Parser<'a, granit_parser::StrInput<'a>>,
    line: usize,
    anchors: Vec<(usize, Value)>,
    nodes: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<Event<'a>>, YamlError> {
        loop {
            match self.parser.next() {
                None => return Ok(None),
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok((event, span))) => {
                    self.line = span.start.line();
                    return Ok(Some(event));
                }
                Some(Err(error)) => {
                    return Err(YamlError { line: error.marker().line(), problem: error.info().clone() });
                }
            }
        }
    }

    fn problem(&self, problem: &str) -> YamlError {
        YamlError { line: self.line, problem: problem.to_owned() }
    }

    fn node(&mut self, event: Event<'a>, depth: usize) -> Result<Value, YamlError> {
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return Err(self.problem("nested or repeated beyond any reason"));
        }
        let anchor = event.anchor_id();
        let value = match event {
            Event::Scalar(text, style, _, tag) => match tag.as_ref().and_then(|tag| tag.core_suffix()) {
                Some("str") => Value::Text(text.into_owned()),
                _ => scalar(text, style),
            },
            Event::SequenceStart(..) => self.list(depth)?,
            Event::MappingStart(..) => self.map(depth)?,
            Event::Alias(id) => self.alias(id)?,
            _ => return Err(self.problem("unexpected YAML")),
        };
        if let Some(id) = anchor {
            self.anchors.push((id, value.clone()));
        }
        Ok(value)
    }

    fn list(&mut self, depth: usize) -> Result<Value, YamlError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Some(Event::SequenceEnd) => return Ok(Value::List(items)),
                Some(event) => items.push(self.node(event, depth + 1)?),
                None => return Err(self.problem("unfinished list")),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, YamlError> {
        let mut entries: Vec<(String, Value)> = Vec::new();
        loop {
            let key = match self.next()? {
                Some(Event::MappingEnd) => return Ok(Value::Map(entries)),
                Some(event) => self.node(event, depth + 1)?,
                None => return Err(self.problem("unfinished map")),
            };
            let Some(key) = key_text(&key) else {
                return Err(self.problem("a property name that is a list or a map"));
            };
            if entries.iter().any(|(known, _)| *known == key) {
                return Err(self.problem(&format!("the property `{key}` stands there twice")));
            }
            let Some(event) = self.next()? else { return Err(self.problem("unfinished map")) };
            let value = self.node(event, depth + 1)?;
            entries.push((key, value));
        }
    }

    fn alias(&mut self, id: usize) -> Result<Value, YamlError> {
        let Some((_, value)) = self.anchors.iter().rev().find(|(known, _)| *known == id) else {
            return Err(self.problem("an alias without its anchor"));
        };
        let value = value.clone();
        self.nodes += size(&value);
        Ok(value)
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Map(entries) => 1 + entries.iter().map(|(_, value)| size(value)).sum::<usize>(),
        _ => 1,
    }
}

fn key_text(key: &Value) -> Option<String> {
    match key {
        Value::Null => Some(String::new()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Integer(value) => Some(value.to_string()),
        Value::Float(value) => Some(value.to_string()),
        Value::Text(text) => Some(text.clone()),
        Value::List(_) | Value::Map(_) => None,
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::Text(text.into_owned());
    }
    match &*text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Value::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Value::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Value::Float(f64::NEG_INFINITY),
        plain => number(plain).unwrap_or_else(|| Value::Text(text.into_owned())),
    }
}

/// Integers (decimal, `0o`, `0x`) and floats of the core schema; anything else is a word.
fn number(plain: &str) -> Option<Value> {
    if let Some(octal) = plain.strip_prefix("0o") {
        return plain_digits(octal).then(|| i64::from_str_radix(octal, 8).ok().map(Value::Integer))?;
    }
    if let Some(hex) = plain.strip_prefix("0x") {
        return plain_digits(hex).then(|| i64::from_str_radix(hex, 16).ok().map(Value::Integer))?;
    }
    let digits = plain.strip_prefix(['-', '+']).unwrap_or(plain);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        // Longer than any machine integer: keep the value, lose the exactness, as JavaScript does.
        return Some(
            plain.parse().map(Value::Integer).or_else(|_| plain.parse().map(Value::Float)).unwrap_or(Value::Null),
        );
    }
    let mut bytes = digits.bytes();
    let starts_like_a_number = bytes.next().is_some_and(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().any(|byte| byte.is_ascii_digit());
    let only_float_bytes =
        digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'-' | b'+'));
    (starts_like_a_number && only_float_bytes).then(|| plain.parse().ok().map(Value::Float))?
}

fn plain_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_follow_the_core_schema() {
        let text = |value: &str| Value::Text(value.to_owned());
        for (yaml, value) in [
            ("yes", text("yes")),
            ("off", text("off")),
            ("true", Value::Bool(true)),
            ("~", Value::Null),
            ("", Value::Null),
            ("2024-01-02", text("2024-01-02")),
            ("12:30", text("12:30")),
            ("014", Value::Integer(14)),
            ("0o14", Value::Integer(12)),
            ("0xff", Value::Integer(255)),
            ("1_000", text("1_000")),
            ("1e3", Value::Float(1000.0)),
            ("-1.5", Value::Float(-1.5)),
            (".5", Value::Float(0.5)),
            ("1.2.3", text("1.2.3")),
            ("e3", text("e3")),
            ("'7'", text("7")),
            ("\"true\"", text("true")),
            ("[[x]]", Value::List(vec![Value::List(vec![text("x")])])),
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
            Value::Map(vec![
                ("b".into(), Value::Integer(1)),
                ("a".into(), Value::List(vec![Value::Text("x".into()), Value::Integer(2)])),
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

    #[test]
    fn what_is_not_yaml_says_on_which_line() {
        let error = parse("a: 1\nb: c: d\n").unwrap_err();
        assert_eq!(error.line, 2, "{error:?}");
    }
}
