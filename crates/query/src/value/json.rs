//! Values from and to JSON.

use lapidary_note::count_steps;
use serde_json::{Map, Number as JsonNumber, Value as Json, json};

use super::{DurationValue, LinkValue, Number, Value};

/// What writing a short value counts.
const VALUE_STEPS: usize = 32;

/// A value with its type: what JSON has is itself, and everything else is an object with one key that begins with `$`.
pub fn typed_json(value: &Value) -> Json {
    count_steps(VALUE_STEPS);
    match value {
        // JSON has no such numbers.
        Value::Number(Number::Float(number)) if !number.is_finite() => {
            let word = if number.is_nan() {
                "NaN"
            } else if *number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
            json!({ "$number": word })
        }
        // A whole number is written as one, as JavaScript does.
        Value::Number(Number::Float(number)) if number.fract() == 0.0 && number.abs() < 9e15 =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number that fits")]
            Json::from(*number as i64)
        }
        Value::Date(date) => json!({ "$date": date.to_string() }),
        Value::Duration(duration) => json!({ "$duration": units(duration) }),
        Value::Link(link) => json!({ "$link": link_json(link) }),
        Value::List(items) => items.iter().map(typed_json).collect(),
        Value::Object(entries) => {
            Json::Object(entries.iter().map(|(name, value)| (name.clone(), typed_json(value))).collect())
        }
        value => Json::from(value),
    }
}

/// The units that are not zero, the largest first.
fn units(duration: &DurationValue) -> Json {
    let units = [
        ("years", duration.years),
        ("months", duration.months),
        ("weeks", duration.weeks),
        ("days", duration.days),
        ("hours", duration.hours),
        ("minutes", duration.minutes),
        ("seconds", duration.seconds),
        ("milliseconds", duration.milliseconds),
    ];
    let written = |(name, number): (&str, f64)| (name.to_owned(), typed_json(&Value::Number(Number::Float(number))));
    Json::Object(units.into_iter().filter(|(_, number)| *number != 0.0).map(written).collect())
}

fn link_json(link: &LinkValue) -> Json {
    let (kind, subpath) = match link.subpath.as_deref() {
        None => ("file", None),
        // The mark of a block is in its type already.
        Some(subpath) => match subpath.strip_prefix('^') {
            Some(block) => ("block", Some(block)),
            None => ("header", Some(subpath)),
        },
    };
    let mut written = Map::new();
    written.insert("path".to_owned(), link.path.clone().into());
    written.insert("type".to_owned(), kind.into());
    // What a link does not have is left out.
    written.extend(subpath.map(|subpath| ("subpath".to_owned(), subpath.into())));
    written.extend(link.display.clone().map(|display| ("display".to_owned(), display.into())));
    written.extend(link.embed.then(|| ("embed".to_owned(), true.into())));
    Json::Object(written)
}

impl From<&Json> for Value {
    /// A whole number that does not fit a signed 64-bit integer becomes a float.
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Boolean(*value),
            Json::Number(number) => Self::Number(
                number.as_i64().map_or_else(|| Number::Float(number.as_f64().unwrap_or(f64::NAN)), Number::Integer),
            ),
            Json::String(text) => Self::Text(text.clone()),
            Json::Array(items) => items.iter().map(Self::from).collect(),
            Json::Object(entries) => {
                Self::Object(entries.iter().map(|(name, value)| (name.clone(), Self::from(value))).collect())
            }
        }
    }
}

impl From<&Value> for Json {
    /// JSON has no dates, durations or links: these become text. Infinity, which it lacks too, becomes null.
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Boolean(value) => Self::Bool(*value),
            Value::Number(Number::Integer(number)) => Self::from(*number),
            Value::Number(Number::Float(number)) => JsonNumber::from_f64(*number).map_or(Self::Null, Self::Number),
            Value::Text(text) => Self::String(text.clone()),
            Value::Date(date) => Self::String(date.to_string()),
            Value::Duration(duration) => Self::String(duration.to_string()),
            Value::Link(link) => Self::String(link.to_string()),
            Value::List(items) => items.iter().map(Self::from).collect(),
            Value::Object(entries) => {
                Self::Object(entries.iter().map(|(name, value)| (name.clone(), Self::from(value))).collect())
            }
        }
    }
}
