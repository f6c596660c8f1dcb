//! JSON, with or without comments: members are inserted and cut out as text, so that every other byte stays.

use jsonc_parser::{
    CollectOptions, ParseOptions,
    ast::{Object, ObjectProp, Value as AstValue},
    common::Ranged,
    parse_to_ast,
};
use serde_json::{Map, Number, Value};

use crate::{
    ClientFileError,
    text_lines::{before_line_end, line_end, line_start, position},
};

/// The indentation of files that show none.
const USUAL_INDENT: &str = "  ";

pub(crate) fn parse(text: &str, relaxed: bool) -> Result<Value, ClientFileError> {
    Ok(tree(text, relaxed)?.as_ref().map_or_else(|| Value::Object(Map::new()), to_value))
}

/// The text with a value at a path; tables on the way are made.
pub(crate) fn set(text: &str, relaxed: bool, path: &[&str], value: &Value) -> Result<String, ClientFileError> {
    let mut text = text.to_owned();
    // One member at a time instead of one new text for the whole entry: what the user wrote between and behind the
    // members that are right already stays.
    // Each round makes one change and parses again; there are as many rounds as the entry has members.
    while let Some(next) = step(&text, relaxed, path, value)? {
        text = next;
    }
    Ok(text)
}

/// One change towards the wanted value, or `None` if it is reached.
fn step(text: &str, relaxed: bool, path: &[&str], value: &Value) -> Result<Option<String>, ClientFileError> {
    let style = |root: Option<&Object<'_>>| JsonStyle::of(text, root);
    let Some(whole) = tree(text, relaxed)? else {
        let style = style(None);
        let gap = if text.trim().is_empty() || text.ends_with('\n') { "" } else { style.eol };
        // Only comments: they stay above the new table. Blanks alone are not worth keeping.
        let kept = if text.trim().is_empty() { "" } else { text };
        return Ok(Some(format!("{kept}{gap}{}{}", style.render(&nested(path, value), ""), style.eol)));
    };
    let AstValue::Object(root) = &whole else { return Err(not_a_table("the whole file")) };
    let style = style(Some(root));
    let mut object = root;
    for (depth, key) in path.iter().enumerate() {
        let rest = &path[depth + 1..];
        let Some(member) = member(object, key)? else {
            return Ok(Some(insert(text, object, key, &nested(rest, value), &style)));
        };
        object = match &member.value {
            AstValue::Object(below) if !rest.is_empty() => below,
            AstValue::Object(there) => {
                return Ok(match value {
                    Value::Object(wanted) => difference(text, there, wanted, &style)?,
                    _ => Some(replaced(text, member, value, &style)),
                });
            }
            // A null is taken for a table that is not there yet; anything else that is not a table is not ours to
            // replace.
            AstValue::NullKeyword(_) => return Ok(Some(replaced(text, member, &nested(rest, value), &style))),
            // An entry that is not a table, such as a path alone: nothing in it can be kept.
            there if rest.is_empty() => {
                let same = to_value(there) == *value;
                return Ok((!same).then(|| replaced(text, member, value, &style)));
            }
            _ => return Err(not_a_table(key)),
        };
    }
    Ok(None)
}

/// The first member of an entry that is not as wanted: it goes, changes or is added.
fn difference(
    text: &str,
    there: &Object<'_>,
    wanted: &Map<String, Value>,
    style: &JsonStyle,
) -> Result<Option<String>, ClientFileError> {
    for (index, old) in there.properties.iter().enumerate() {
        match wanted.get(old.name.as_str()) {
            // Each round leaves one difference fewer, so the rounds come to an end.
            None => return Ok(Some(cut(text, there, index))),
            Some(value) if to_value(&old.value) != *value => return Ok(Some(replaced(text, old, value, style))),
            Some(_) => {}
        }
    }
    for (key, value) in wanted {
        if member(there, key)?.is_none() {
            return Ok(Some(insert(text, there, key, value, style)));
        }
    }
    Ok(None)
}

/// The text without the member at a path. Tables that are empty then stay: they may have been there before.
pub(crate) fn remove(text: &str, relaxed: bool, path: &[&str]) -> Result<String, ClientFileError> {
    let whole = tree(text, relaxed)?;
    let Some(AstValue::Object(mut object)) = whole else { return Ok(text.to_owned()) };
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    for key in above {
        let Some(AstValue::Object(below)) = member(&object, key)?.map(|member| member.value.clone()) else {
            return Ok(text.to_owned());
        };
        object = below;
    }
    // For its error alone: of two entries with our name neither is removed.
    member(&object, last)?;
    let index = object.properties.iter().position(|member| member.name.as_str() == *last);
    Ok(index.map_or_else(|| text.to_owned(), |index| cut(text, &object, index)))
}

fn tree(text: &str, relaxed: bool) -> Result<Option<AstValue<'_>>, ClientFileError> {
    // The parser takes more than any client does; what a client cannot read must be reported, not kept.
    let options = ParseOptions {
        allow_comments: relaxed,
        allow_trailing_commas: relaxed,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
    parsed.map(|parsed| parsed.value).map_err(|error| {
        let (line, column) = position(text, error.range().start);
        ClientFileError::Broken { line, column, problem: error.kind().to_string() }
    })
}

fn not_a_table(key: &str) -> ClientFileError {
    ClientFileError::NotATable { key: key.to_owned() }
}

fn member<'o, 'a>(object: &'o Object<'a>, key: &str) -> Result<Option<&'o ObjectProp<'a>>, ClientFileError> {
    // Parsers disagree on which of two members counts, so neither is changed.
    let mut named = object.properties.iter().filter(|member| member.name.as_str() == key);
    match (named.next(), named.next()) {
        (_, Some(_)) => Err(ClientFileError::Twice { key: key.to_owned() }),
        (found, None) => Ok(found),
    }
}

fn to_value(value: &AstValue<'_>) -> Value {
    match value {
        AstValue::StringLit(text) => Value::String(text.value.clone().into_owned()),
        // A number that fits no machine type is compared by its letters.
        AstValue::NumberLit(number) => {
            number.value.parse::<Number>().map_or_else(|_| Value::String(number.value.to_owned()), Value::Number)
        }
        AstValue::BooleanLit(literal) => Value::Bool(literal.value),
        AstValue::NullKeyword(_) => Value::Null,
        AstValue::Array(array) => array.elements.iter().map(to_value).collect(),
        AstValue::Object(object) => {
            object.properties.iter().map(|member| (member.name.as_str().to_owned(), to_value(&member.value))).collect()
        }
    }
}

fn nested(path: &[&str], value: &Value) -> Value {
    path.iter().rev().fold(value.clone(), |inner, key| Value::Object(Map::from_iter([((*key).to_owned(), inner)])))
}

/// How this file is written.
struct JsonStyle {
    eol: &'static str,
    unit: String,
    /// Everything is on one line.
    one_line: bool,
}

impl JsonStyle {
    fn of(text: &str, root: Option<&Object<'_>>) -> Self {
        let first = root.and_then(|root| root.properties.first());
        // The first member shows the unit, because the root itself is not indented.
        let unit = first.and_then(|member| own_line(text, member.range.start)).filter(|indent| !indent.is_empty());
        Self {
            eol: line_end(text),
            unit: unit.unwrap_or(USUAL_INDENT).to_owned(),
            // A table without members says nothing about style, so it gets lines.
            one_line: first.is_some() && !text.trim().contains('\n'),
        }
    }

    /// A value whose first line begins after `indent`.
    fn render(&self, value: &Value, indent: &str) -> String {
        match value {
            Value::Object(members) if members.is_empty() => "{}".to_owned(),
            Value::Object(members) if self.one_line => {
                let members = members.iter().map(|(key, value)| self.member(key, value, indent));
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            }
            Value::Object(members) => {
                let deeper = format!("{indent}{}", self.unit);
                let lines = members.iter().map(|(key, value)| format!("{deeper}{}", self.member(key, value, &deeper)));
                let (eol, separator) = (self.eol, format!(",{}", self.eol));
                format!("{{{eol}{}{eol}{indent}}}", lines.collect::<Vec<_>>().join(&separator))
            }
            // The lists of an entry are arguments, which read best on one line.
            Value::Array(elements) => {
                let elements = elements.iter().map(|element| self.render(element, indent));
                format!("[{}]", elements.collect::<Vec<_>>().join(", "))
            }
            scalar => scalar.to_string(),
        }
    }

    fn member(&self, key: &str, value: &Value, indent: &str) -> String {
        format!("{}: {}", Value::from(key), self.render(value, indent))
    }
}

/// The whitespace before a position, if nothing else is before it on its line.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let before = &text[line_start(text, at)..at];
    before.chars().all(|letter| letter == ' ' || letter == '\t').then_some(before)
}

fn replaced(text: &str, member: &ObjectProp<'_>, value: &Value, style: &JsonStyle) -> String {
    let range = member.value.range();
    let indent = leading(text, member.range.start);
    format!("{}{}{}", &text[..range.start], style.render(value, indent), &text[range.end..])
}

/// The whitespace at the start of the line that contains a position.
fn leading(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// A new member after the last one. A comma is added after the last one where it has none, and after the new one only where
/// the last one had it.
fn insert(text: &str, object: &Object<'_>, key: &str, value: &Value, style: &JsonStyle) -> String {
    let inner = object.range.start + 1..object.range.end - 1;
    let Some(last) = object.properties.last() else { return insert_only(text, object, key, value, style) };
    let after = last.range.end;
    let comma = comma_after(text, after, inner.end);
    let from = comma.map_or(after, |comma| comma + 1);
    let (first_comma, last_comma) = if comma.is_some() { ("", ",") } else { (",", "") };
    let (at, new) = match own_line(text, last.range.start) {
        Some(indent) => {
            // After the comment on the line of the last member: it is about that member.
            (line_rest(text, from, inner.end), format!("{}{indent}{}", style.eol, style.member(key, value, indent)))
        }
        None => (from, format!(" {}", style.member(key, value, leading(text, last.range.start)))),
    };
    format!("{}{first_comma}{}{new}{last_comma}{}", &text[..after], &text[after..at], &text[at..])
}

/// A member of a table that has none, only perhaps comments.
fn insert_only(text: &str, object: &Object<'_>, key: &str, value: &Value, style: &JsonStyle) -> String {
    let inner = object.range.start + 1..object.range.end - 1;
    let content = &text[inner.clone()];
    if style.one_line {
        // A comment inside the braces stays before the new member; a `//` comment cannot be here, since it would end
        // the line.
        let (head, tail) = if content.trim().is_empty() { (inner.start, inner.end) } else { (inner.end, inner.end) };
        return format!("{}{}{}", &text[..head], style.member(key, value, ""), &text[tail..]);
    }
    let base = leading(text, object.range.start);
    let indent = format!("{base}{}", style.unit);
    let new = format!("{}{indent}{}", style.eol, style.member(key, value, &indent));
    if content.contains('\n') {
        let at = line_rest(text, inner.start, inner.end);
        return format!("{}{new}{}", &text[..at], &text[at..]);
    }
    // `{ }` becomes a table of several lines; its blank would be the indentation of the brace.
    let head = inner.start + content.trim_end().len();
    format!("{}{new}{}{base}{}", &text[..head], style.eol, &text[inner.end..])
}

/// The text without one member, its line and the comma that belonged to it.
fn cut(text: &str, object: &Object<'_>, index: usize) -> String {
    let inner = object.range.start + 1..object.range.end - 1;
    let Some(member) = object.properties.get(index) else { return text.to_owned() };
    let own_comma = comma_after(text, member.range.end, inner.end);
    let end = own_comma.map_or(member.range.end, |comma| comma + 1);
    let alone = object.properties.len() == 1;
    // The table becomes `{}`, as it would have been written without members.
    if alone && text[inner.start..member.range.start].trim().is_empty() && text[end..inner.end].trim().is_empty() {
        return format!("{}{}", &text[..inner.start], &text[inner.end..]);
    }
    let lead = member.range.start
        - (text[..member.range.start].len() - text[..member.range.start].trim_end_matches([' ', '\t']).len());
    // The line end before a member belongs to it, so that no blank line remains where it was.
    let start = before_line_end(text, lead);
    let previous = index.checked_sub(1).and_then(|index| object.properties.get(index));
    match (previous, own_comma) {
        // The comma before the last member goes with it.
        (Some(previous), None) => match comma_after(text, previous.range.end, inner.end) {
            Some(comma) if comma < start => {
                format!("{}{}{}", &text[..comma], &text[comma + 1..start], &text[end..])
            }
            // Not reached in a file that parses: between two members is a comma.
            _ => format!("{}{}", &text[..previous.range.end], &text[end..]),
        },
        // The first of several on one line: the blank after its comma goes, the one before it stays.
        (None, Some(_)) if start == lead => {
            let next = end + text[end..].len() - text[end..].trim_start_matches([' ', '\t']).len();
            format!("{}{}", &text[..member.range.start], &text[next..])
        }
        _ => format!("{}{}", &text[..start], &text[end..]),
    }
}

/// The comma after a value, past blanks and comments.
fn comma_after(text: &str, from: usize, end: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = &text[at..end];
        let blank = rest.len() - rest.trim_start().len();
        at += blank;
        let rest = &text[at..end];
        if rest.starts_with(',') {
            return Some(at);
        }
        at += comment(rest)?;
    }
}

/// The length of the comment at the start, if there is one.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        Some(text.find('\n').unwrap_or(text.len()))
    } else if text.starts_with("/*") {
        Some(text.find("*/").map_or(text.len(), |end| end + 2))
    } else {
        None
    }
}

/// Past the blanks and comments that follow on the same line: they belong to what is before them.
fn line_rest(text: &str, from: usize, end: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..end];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let rest = &rest[blank..];
        if rest.starts_with('\n') || rest.starts_with("\r\n") {
            return at + blank;
        }
        match comment(rest) {
            // A comment that begins here and ends on another line is about what follows.
            Some(length) if !rest[..length].contains('\n') => {
                let length = rest[..length].trim_end_matches('\r').len();
                at += blank + length;
            }
            _ => return at,
        }
    }
}
