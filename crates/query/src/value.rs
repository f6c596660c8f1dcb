//! The value type of all query languages.
//!
//! A [`Value`] says what something is, never how it compares, whether it is truthy or how it is written as text: most
//! of these answers differ between the languages, so each has its own table (`jsonlogic::coerce`, `search::property`).

mod date;
mod duration;
mod json;
mod link;
pub(crate) mod literal;
mod recognise;
#[cfg(test)]
mod tests;

use indexmap::IndexMap;

pub use date::{DateValue, DateZone};
pub use duration::{DurationUnit, DurationValue};
pub use json::typed_json;
pub use link::LinkValue;
pub(crate) use literal::bases_date as bases_date_text;
pub use recognise::{bases_property, dataview_field, dataview_property};

/// The value of a property, a field or an expression.
///
/// `==` means that both are written the same way. It is for tests and for finding duplicates; no language may use it as
/// its own equality.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    #[default]
    Null,
    Boolean(bool),
    Number(Number),
    Text(String),
    Date(DateValue),
    Duration(DurationValue),
    Link(LinkValue),
    List(Vec<Value>),
    Object(Object),
}

/// Named values in insertion order.
pub type Object = IndexMap<String, Value>;

/// A number. The languages calculate with floats, like JavaScript; whole numbers are kept apart so that one which is
/// only passed on comes out digit for digit as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "numbers of JavaScript have no more digits")]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl Value {
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list; nothing for any other value.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(Number::Integer(number))
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::from(number as u64)
    }
}

impl From<u64> for Value {
    #[expect(clippy::cast_precision_loss, reason = "nothing that is counted is so large")]
    fn from(number: u64) -> Self {
        let number = i64::try_from(number).map_or(Number::Float(number as f64), Number::Integer);
        Self::Number(number)
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::List(items.into_iter().collect())
    }
}
