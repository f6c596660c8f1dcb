use serde_json::{Number as JsonNumber, Value as Json};

use super::{Number, Value};

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
    /// JSON has no infinity, dates, durations or links: these become text.
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
