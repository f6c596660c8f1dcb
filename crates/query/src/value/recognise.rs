//! The kind of value of a written text. Frontmatter and inline fields keep their texts; each language interprets them.

use super::{Number, Value, literal};

/// Deeper values are not interpreted. YAML is not nested that deep.
const MAX_DEPTH: usize = 64;

/// A frontmatter value as Dataview sees it: texts that are entirely a date, duration or link become one.
pub fn dataview_property(value: &Value) -> Value {
    recognised(value, &dataview_text, 0)
}

/// A frontmatter value as Bases sees it: texts that are entirely a wikilink or date become one.
pub fn bases_property(value: &Value) -> Value {
    recognised(value, &bases_text, 0)
}

fn recognised(value: &Value, text: &dyn Fn(&str) -> Option<Value>, depth: usize) -> Value {
    match value {
        Value::Text(written) => text(written).unwrap_or_else(|| value.clone()),
        Value::List(items) if depth < MAX_DEPTH => items.iter().map(|item| recognised(item, text, depth + 1)).collect(),
        Value::Object(entries) if depth < MAX_DEPTH => {
            let entry = |(name, value): (&String, &Value)| (name.clone(), recognised(value, text, depth + 1));
            Value::Object(entries.iter().map(entry).collect())
        }
        _ => value.clone(),
    }
}

fn whole<T>(read: Option<(T, &str)>) -> Option<T> {
    read.filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value)
}

fn dataview_text(text: &str) -> Option<Value> {
    // In Dataview's order.
    let date = whole(literal::dataview_date(text)).map(Value::Date);
    let duration = || whole(literal::dataview_duration(text)).map(Value::Duration);
    let link = || whole(literal::link(text)).map(Value::Link);
    date.or_else(duration).or_else(link)
}

fn bases_text(text: &str) -> Option<Value> {
    // Bases takes an embed in a property for text.
    let link = || whole(literal::link(text)).filter(|link| !link.embed).map(Value::Link);
    link().or_else(|| literal::bases_date(text).map(Value::Date))
}

/// The value of an inline field as Dataview sees it: nothing, one literal, literals with commas between them, or text.
/// Durations are as they were written, not yet normalised.
pub fn dataview_field(text: &str) -> Value {
    let text = text.trim();
    if text.is_empty() {
        return Value::Null;
    }
    let Some((first, rest)) = atom(text) else { return Value::from(text) };
    if rest.is_empty() {
        return first;
    }
    let mut items = vec![first];
    let mut rest = rest.trim_start();
    while let Some(next) = rest.strip_prefix(',').map(str::trim_start) {
        if next.is_empty() {
            // A comma at the end belongs to a list of one; behind more than one it makes all of it a text.
            return if items.len() == 1 { Value::List(items) } else { Value::from(text) };
        }
        let Some((item, after)) = atom(next) else { break };
        items.push(item);
        rest = after.trim_start();
        if rest.is_empty() {
            return Value::List(items);
        }
    }
    Value::from(text)
}

/// The first that matches the start of the text is taken, even if another would match more of it.
fn atom(text: &str) -> Option<(Value, &str)> {
    let date = || literal::dataview_date(text).map(|(date, rest)| (Value::Date(date), rest));
    let duration = || literal::dataview_duration(text).map(|(duration, rest)| (Value::Duration(duration), rest));
    let link = || literal::link(text).map(|(link, rest)| (Value::Link(link), rest));
    let number = || {
        let (number, rest) = literal::number(text)?;
        #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number that fits")]
        let number = match number {
            whole if whole.fract() == 0.0 && whole.abs() < 9e15 => Number::Integer(whole as i64),
            number => Number::Float(number),
        };
        Some((Value::Number(number), rest))
    };
    date()
        .or_else(duration)
        .or_else(|| quoted(text))
        .or_else(|| tag(text))
        .or_else(link)
        .or_else(|| boolean(text))
        .or_else(number)
        // It is the written word, not null.
        .or_else(|| text.strip_prefix("null").map(|rest| (Value::from("null"), rest)))
}

fn quoted(text: &str) -> Option<(Value, &str)> {
    let inside = text.strip_prefix('"')?;
    let (mut found, mut escaped) = (String::new(), false);
    for (at, c) in inside.char_indices() {
        match c {
            '"' | '\\' if escaped => {
                found.push(c);
                escaped = false;
            }
            '"' => return Some((Value::Text(found), &inside[at + 1..])),
            '\\' => escaped = true,
            c => {
                // Only quotes and backslashes can be escaped; before anything else the backslash is text.
                if escaped {
                    found.push('\\');
                }
                found.push(c);
                escaped = false;
            }
        }
    }
    None
}

fn tag(text: &str) -> Option<(Value, &str)> {
    let name = text.strip_prefix('#')?;
    let end = name.find(|c: char| !literal::is_in_tag(c)).unwrap_or(name.len());
    (end > 0).then(|| (Value::from(&text[..=end]), &name[end..]))
}

fn boolean(text: &str) -> Option<(Value, &str)> {
    let words = [("true", true), ("false", false), ("True", true), ("False", false)];
    words.into_iter().find_map(|(word, value)| Some((Value::Boolean(value), text.strip_prefix(word)?)))
}
