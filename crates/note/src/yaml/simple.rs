//! The YAML that nearly all notes have: `key: value` with plain and quoted texts and lists of them. It is parsed many
//! times faster than general YAML, with the same result; anything unusual is left to the parser.

use std::ops::Range;

use granit_parser::ScalarStyle;

use super::{NodeContent, Property, YamlNode, YamlValue, scalar};

/// More are rare and may take the slow path.
const MAX_PROPERTIES: usize = 50;

/// The document, if all of it is simple.
pub(super) fn read(yaml: &str) -> Option<YamlNode> {
    let mut lines = YamlLines { yaml, at: 0 };
    let mut entries: Vec<Property> = Vec::new();
    while let Some(line) = lines.next() {
        let (key, value) = property(yaml, line, &mut lines)?;
        // A walk is faster than a set for a handful of properties.
        let repeated = entries.iter().any(|entry| entry.key == yaml[key.clone()]);
        if repeated || entries.len() == MAX_PROPERTIES {
            return None;
        }
        entries.push(Property { key: yaml[key.clone()].to_owned(), key_span: key, value });
    }
    let span = entries.first()?.key_span.start..entries.last()?.value.span.end;
    Some(YamlNode { span, content: NodeContent::Map(entries) })
}

struct YamlLines<'a> {
    yaml: &'a str,
    at: usize,
}

impl YamlLines<'_> {
    fn peek(&self) -> Option<Range<usize>> {
        let rest = self.yaml.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        Some(self.at..self.at + length)
    }

    fn next(&mut self) -> Option<Range<usize>> {
        let line = self.peek()?;
        self.at = line.end + 1;
        Some(line)
    }
}

/// A `key: value` at the margin, with the list that may follow an absent value.
fn property(yaml: &str, line: Range<usize>, lines: &mut YamlLines<'_>) -> Option<(Range<usize>, YamlNode)> {
    let written = &yaml[line.clone()];
    let length = written.find(':')?;
    let key = &written[..length];
    // Everything else may be quoted, tagged, or mean something special.
    let plain = key.starts_with(char::is_alphabetic)
        && key.len() < 200
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '))
        && !key.ends_with(' ');
    // A key that parses as a bool or a number has another name.
    if !plain || !matches!(scalar(key.into(), ScalarStyle::Plain), YamlValue::Text(_)) {
        return None;
    }
    let behind = line.start + length + 1;
    let value = trim_blanks(yaml, behind..line.end);
    if value.is_empty() {
        let list = list(yaml, lines)?;
        let absent = YamlNode { span: behind..behind, content: NodeContent::Scalar(YamlValue::Null) };
        return Some((line.start..line.start + length, list.unwrap_or(absent)));
    }
    // The text after the colon starts with a space, and does not continue on the next line.
    let goes_on = lines.peek().is_some_and(|next| yaml[next].starts_with([' ', '-']));
    // `key:value` is not a property.
    if value.start == behind || goes_on {
        return None;
    }
    let node = if yaml[value.clone()].starts_with('[') { flow(yaml, value)? } else { text(yaml, value, ": ")? };
    Some((line.start..line.start + length, node))
}

/// The `- item` lines that follow, if there are any.
fn list(yaml: &str, lines: &mut YamlLines<'_>) -> Option<Option<YamlNode>> {
    let mut items: Vec<YamlNode> = Vec::new();
    let mut column = None;
    let mut start = 0;
    while let Some(line) = lines.peek().filter(|line| yaml[line.clone()].starts_with([' ', '-'])) {
        let content = trim_blanks(yaml, line.clone());
        let indent = content.start - line.start;
        let item = yaml[content.clone()].strip_prefix("- ")?;
        if *column.get_or_insert(indent) != indent {
            return None;
        }
        if items.is_empty() {
            start = content.start;
        }
        let item = trim_blanks(yaml, content.end - item.len()..content.end);
        items.push(text(yaml, item, ": ")?);
        lines.next();
    }
    let Some(last) = items.last() else { return Some(None) };
    let span = start..last.span.end;
    Some(Some(YamlNode { span, content: NodeContent::List(items) }))
}

/// `[a, b]` on one line.
fn flow(yaml: &str, span: Range<usize>) -> Option<YamlNode> {
    let inner = yaml[span.clone()].strip_prefix('[')?.strip_suffix(']')?;
    let mut items = Vec::new();
    let mut at = span.start + 1;
    if !inner.trim_matches(' ').is_empty() {
        for part in inner.split(',') {
            let item = trim_blanks(yaml, at..at + part.len());
            items.push(text(yaml, item, ",[]{}:")?);
            at += part.len() + 1;
        }
    }
    Some(YamlNode { span, content: NodeContent::List(items) })
}

/// A plain or quoted text on one line, without `special` characters and escapes.
fn text(yaml: &str, span: Range<usize>, special: &str) -> Option<YamlNode> {
    let written = &yaml[span.clone()];
    let quote = written.chars().next().filter(|c| matches!(c, '"' | '\''));
    let value = match quote {
        Some(quote) => {
            let inner = written[1..].strip_suffix(quote)?;
            // A comma in quotes has already split the list.
            (!inner.contains([quote, '\\']) && inner.chars().all(is_printable))
                .then(|| YamlValue::Text(inner.to_owned()))?
        }
        None => {
            let begins = written.starts_with(|c: char| c.is_ascii_alphanumeric() || c.is_alphabetic());
            let in_flow = special.len() > 2;
            let plain = |c: char| is_printable(c) && c != '#' && !(in_flow && special.contains(c));
            let colon = written.contains(": ") || written.ends_with(':');
            (begins && !colon && written.chars().all(plain)).then(|| scalar(written.into(), ScalarStyle::Plain))?
        }
    };
    Some(YamlNode { span, content: NodeContent::Scalar(value) })
}

/// Characters that YAML accepts in a text without further checks.
fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~')
        || (c >= '\u{a0}' && !matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}'))
}

fn trim_blanks(yaml: &str, span: Range<usize>) -> Range<usize> {
    let part = &yaml[span.clone()];
    let start = span.start + part.len() - part.trim_start_matches(' ').len();
    start..start + part.trim_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::{YamlDocument, document, reader},
        *,
    };

    #[test]
    fn the_properties_of_most_notes_are_simple() {
        for yaml in [
            "a: b\n",
            "tags: [area/1, daily]\nstatus: open\ncreated: 2026-04-14\nup: \"[[Note 1]]\"\n",
            "tags:\n  - a\n  - b c\naliases:\n- 'x, y'\nempty:\nn: 12\nt: 12:30\n",
            "empty: []\nurl: https://x.y/z\ngröße: x\n要約: y\n",
            "k: größe 石\nlast:",
        ] {
            assert_eq!(read(yaml), reader::read(yaml).ok().map(YamlDocument::into_node), "{yaml}");
            assert_eq!(document(yaml), reader::read(yaml), "{yaml}");
            assert!(read(yaml).is_some(), "{yaml}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn simple_yaml_reads_as_the_parser_reads_it(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "a", "b", "key", "true", "12", "014", "1e3", "null", ": ", ":", "\n", "\n- ", "\n  - ", "- ", " ", "  ", "[", "]", ", ", ",", "'", "\"", "#", " #",
                "é", "石", "\u{a0}", "\t", "x y", "-", "--", "---", "&a", "*a", "!", "|", ">", "{", "}", "\\", "%", "@", "`", "?", "=", ".", "...", "\u{85}", "\u{feff}", "a: b\n", "k: [a, b]\n", "l:\n",
            ]), 0..14),
        ) {
            let yaml: String = pieces.concat();
            if let Some(node) = read(&yaml) {
                let document = YamlDocument { root: Some(node), ..YamlDocument::default() };
                prop_assert_eq!(Ok(document), reader::read(&yaml), "{:?}", yaml);
            }
        }

        #[test]
        fn simple_lines_read_as_the_parser_reads_them(
            lines in prop::collection::vec(("[a-cé石]{1,2}", prop::sample::select(vec![
                ": x\n", ":\n", ": 'q'\n", ": \"r, s\"\n", ": [a, 'b']\n", ":\n  - x\n  - y\n", ":\n- x\n", ": a:b\n", ": 1.5\n", ": [ ]\n", ": [a,]\n", ": [a, , b]\n", ": -1\n", ": a  \n", ":  a, b\n", ": a - b\n", ": a' b\n", ": [a b, c-d]\n", ": [[x]]\n", ":\n   - 'x'\n", ": - x\n", ": x\n  y\n", ": ''\n", ": \"\"\n",
            ])), 0..5),
        ) {
            let yaml: String = lines.into_iter().map(|(key, rest)| key + rest).collect();
            if let Some(node) = read(&yaml) {
                let document = YamlDocument { root: Some(node), ..YamlDocument::default() };
                prop_assert_eq!(Ok(document), reader::read(&yaml), "{:?}", yaml);
            }
        }
    }
}
