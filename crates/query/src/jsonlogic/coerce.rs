//! How JavaScript sees one kind of value as another.

use std::{borrow::Cow, cmp::Ordering};

use crate::{Number, Value};

/// As in JsonLogic: an empty list is false.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Boolean(value) => *value,
        Value::Number(number) => number.as_f64() != 0.0,
        Value::Text(text) => !text.is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Object(_) | Value::Date(_) | Value::Duration(_) | Value::Link(_) => true,
    }
}

/// A number as in JSON: whole ones without a point, and null if there is none.
pub(super) fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number that fits")]
    // Up to here every whole number has its own float.
    if value.fract() == 0.0 && value.abs() <= EXACT {
        return Value::from(value as i64);
    }
    if value.is_finite() { Value::Number(Number::Float(value)) } else { Value::Null }
}

/// `Number(value)`
pub(super) fn to_number(value: &Value) -> f64 {
    match value {
        Value::Null => 0.0,
        Value::Boolean(value) => f64::from(u8::from(*value)),
        Value::Number(number) => number.as_f64(),
        Value::Text(text) => text_to_number(text),
        _ => text_to_number(&to_text(value)),
    }
}

/// `Number(text)`
pub fn text_to_number(text: &str) -> f64 {
    let text = text.trim();
    let digits = |prefix: &str, radix| {
        let rest = text.strip_prefix(prefix)?;
        // Rust would accept a sign after the prefix.
        u64::from_str_radix(rest, radix).ok().filter(|_| !rest.starts_with('+'))
    };
    #[expect(clippy::cast_precision_loss, reason = "numbers of JavaScript have no more digits")]
    if let Some(number) = digits("0x", 16).or_else(|| digits("0b", 2)).or_else(|| digits("0o", 8)) {
        return number as f64;
    }
    match text {
        "" => 0.0,
        "Infinity" | "+Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        // Rust accepts more words for numbers than JavaScript does.
        _ if text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) => {
            text.parse().unwrap_or(f64::NAN)
        }
        _ => f64::NAN,
    }
}

/// `parseFloat(value)`: the numeric prefix of its text.
pub(super) fn parse_float(value: &Value) -> f64 {
    if let Value::Number(number) = value {
        return number.as_f64();
    }
    let text = to_text(value);
    let text = text.trim_start();
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(sign);
    let mut end = sign + whole;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        // A point alone is not a number.
        if whole + fraction > 0 {
            end += 1 + fraction;
        }
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        // An exponent without digits is text behind the number: `1em` is 1.
        end += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    text[..end].parse().unwrap_or(f64::NAN)
}

/// `String(value)`. JsonLogic has no dates, durations and links: they are texts here.
pub(super) fn to_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed("null"),
        Value::Boolean(true) => Cow::Borrowed("true"),
        Value::Boolean(false) => Cow::Borrowed("false"),
        Value::Number(number) => Cow::Owned(number_to_text(*number)),
        Value::Text(text) => Cow::Borrowed(text),
        Value::Date(date) => Cow::Owned(date.to_string()),
        Value::Duration(duration) => Cow::Owned(duration.to_string()),
        Value::Link(link) => Cow::Owned(link.to_string()),
        Value::List(items) => Cow::Owned(joined(items, ",")),
        Value::Object(_) => Cow::Borrowed("[object Object]"),
    }
}

fn number_to_text(number: Number) -> String {
    match number {
        Number::Integer(number) => number.to_string(),
        // From 1e21 on, JavaScript writes an exponent.
        Number::Float(float) if float.fract() == 0.0 && float.abs() < 1e21 => format!("{float:.0}"),
        Number::Float(float) => {
            serde_json::Number::from_f64(float).map_or("null".to_owned(), |float| float.to_string())
        }
    }
}

/// `items.join(separator)`: nothing for `null`.
pub(super) fn joined(items: &[Value], separator: &str) -> String {
    let mut text = String::new();
    for (at, item) in items.iter().enumerate() {
        text += if at == 0 { "" } else { separator };
        if !item.is_null() {
            text += &to_text(item);
        }
    }
    text
}

/// `a === b`. Lists and objects are only equal to themselves.
pub(super) fn strictly_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::List(_), Value::List(_)) | (Value::Object(_), Value::Object(_)) => std::ptr::eq(a, b),
        _ => a == b,
    }
}

/// `a == b`
pub(super) fn loosely_equal(a: &Value, b: &Value) -> bool {
    use Value::{Boolean, List, Null, Number, Object};
    match (a, b) {
        // `null == 0` is false, although `Number(null)` is 0.
        (Null, _) | (_, Null) => a.is_null() && b.is_null(),
        (Number(_), Number(_)) | (Boolean(_), Boolean(_)) => strictly_equal(a, b),
        (List(_) | Object(_), List(_) | Object(_)) => strictly_equal(a, b),
        _ if is_textual(a) && is_textual(b) => to_text(a) == to_text(b),
        _ => to_number(a) == to_number(b),
    }
}

/// The order of two values, if they have one.
pub(super) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    if is_textual(a) && is_textual(b) {
        // JavaScript compares units, which differs from characters for emoji.
        return Some(to_text(a).encode_utf16().cmp(to_text(b).encode_utf16()));
    }
    to_number(a).partial_cmp(&to_number(b))
}

/// Whether JavaScript compares it as text with another such value.
fn is_textual(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Boolean(_) | Value::Number(_))
}
