//! Conditions on properties.

use std::{borrow::Cow, cmp::Ordering, ops::ControlFlow};

use super::folded;
use crate::{Pattern, Row, Value};

/// A test of one property.
pub struct PropertyFilter {
    /// Folded.
    key: String,
    test: PropertyTest,
}

enum PropertyTest {
    Exists,
    Any(Vec<PropertyTest>),
    Null,
    Bool(bool),
    Less(String),
    Greater(String),
    /// Folded.
    Equals(String),
    Holds(String),
    Matches(Box<Pattern>),
}

impl PropertyFilter {
    /// From the text between the brackets; `None` if no property is named.
    pub(super) fn parse(inside: &str) -> Option<Self> {
        let mut quoted = false;
        // A colon between quotes is part of the name.
        let colon = inside.char_indices().find(|(_, c)| {
            quoted ^= *c == '"';
            *c == ':' && !quoted
        });
        let (key, value) = match colon {
            Some((at, _)) => (&inside[..at], Some(inside[at + 1..].trim())),
            None => (inside, None),
        };
        let key = folded(key.trim().trim_matches('"'));
        let test = value.filter(|value| !value.is_empty()).map_or(PropertyTest::Exists, PropertyTest::parse);
        (!key.is_empty()).then_some(Self { key, test })
    }

    /// For a note. A list is each of its items, and missing if it is empty; so is an object.
    pub fn holds(&self, row: &dyn Row) -> bool {
        let mut holds = false;
        row.visit_properties(&mut |key, value| {
            if folded(key) == self.key {
                holds = self.holds_for(&value());
            }
            if holds { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        holds
    }

    fn holds_for(&self, value: &Value) -> bool {
        let mut values = Vec::new();
        put_single(value, &mut values);
        self.test.holds(&values)
    }
}

/// The values in a value that are neither lists nor objects.
fn put_single<'v>(value: &'v Value, into: &mut Vec<&'v Value>) {
    match value {
        Value::List(items) => items.iter().for_each(|item| put_single(item, into)),
        Value::Object(entries) => entries.values().for_each(|value| put_single(value, into)),
        single => into.push(single),
    }
}

impl PropertyTest {
    fn parse(value: &str) -> Self {
        let value = value.strip_prefix('(').and_then(|value| value.strip_suffix(')')).unwrap_or(value);
        let alternatives: Vec<&str> = value.split(" OR ").map(str::trim).collect();
        if alternatives.len() > 1 {
            return Self::Any(alternatives.into_iter().map(Self::parse_one).collect());
        }
        Self::parse_one(value.trim())
    }

    fn parse_one(value: &str) -> Self {
        let between = |open: char| value.strip_prefix(open).and_then(|value| value.strip_suffix(open));
        if let Some(quoted) = between('"') {
            return Self::Equals(folded(quoted));
        }
        if let Some(pattern) = between('/').and_then(super::written::expression) {
            return Self::Matches(Box::new(pattern));
        }
        match value {
            "null" | "NULL" | "EMPTY" => return Self::Null,
            "TRUE" | "true" => return Self::Bool(true),
            "FALSE" | "false" => return Self::Bool(false),
            _ => {}
        }
        match value.split_at_checked(1) {
            Some(("<", than)) if !than.trim().is_empty() => Self::Less(than.trim().to_owned()),
            Some((">", than)) if !than.trim().is_empty() => Self::Greater(than.trim().to_owned()),
            _ => Self::Holds(folded(value)),
        }
    }

    fn holds(&self, values: &[&Value]) -> bool {
        match self {
            // Only called for a property that is there.
            Self::Exists => true,
            Self::Any(tests) => tests.iter().any(|test| test.holds(values)),
            // An empty list has no values, and is not null.
            Self::Null => matches!(values, [Value::Null]),
            Self::Bool(wanted) => {
                let fits = |value: &Value| match value {
                    Value::Boolean(value) => value == wanted,
                    value => folded(&text(value)) == wanted.to_string(),
                };
                values.iter().any(|value| fits(value))
            }
            Self::Less(than) => values.iter().any(|value| compare(value, than).is_some_and(Ordering::is_lt)),
            Self::Greater(than) => values.iter().any(|value| compare(value, than).is_some_and(Ordering::is_gt)),
            Self::Equals(wanted) => values.iter().any(|value| folded(&text(value)) == *wanted),
            Self::Holds(wanted) => values.iter().any(|value| match (value, wanted.parse::<f64>()) {
                // A number is compared as one: `1` must not find 10.
                (Value::Number(value), Ok(wanted)) => value.as_f64() == wanted,
                _ => folded(&text(value)).contains(wanted),
            }),
            Self::Matches(pattern) => values.iter().any(|value| pattern.is_match(&text(value)) == Ok(true)),
        }
    }
}

/// How the search language writes a single value.
fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null | Value::List(_) | Value::Object(_) => Cow::Borrowed(""),
        Value::Boolean(value) => Cow::Owned(value.to_string()),
        Value::Number(number) => Cow::Owned(number.as_f64().to_string()),
        Value::Text(text) => Cow::Borrowed(text),
        Value::Date(date) => Cow::Owned(date.to_string()),
        Value::Duration(duration) => Cow::Owned(duration.to_string()),
        Value::Link(link) => Cow::Owned(link.to_string()),
    }
}

/// As numbers if both are, otherwise as text, which is right for dates as usually written.
fn compare(value: &Value, other: &str) -> Option<Ordering> {
    match (value, other.parse::<f64>()) {
        (Value::Null | Value::Boolean(_) | Value::List(_) | Value::Object(_), _) => None,
        (Value::Number(value), Ok(other)) => value.as_f64().partial_cmp(&other),
        // A number has no order among words.
        (Value::Number(_), Err(_)) => None,
        (value, Ok(other)) => text(value).trim().parse::<f64>().ok()?.partial_cmp(&other),
        (value, Err(_)) => Some((*text(value)).cmp(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::PlainRow;

    #[test]
    fn values_are_compared_as_obsidian_does() {
        let properties = serde_json::json!({
            "Status": "In Progress",
            "rating": 4,
            "done": true,
            "empty": null,
            "list": ["Café", "b"],
            "due": "2026-03-01",
            "none": [],
            "a:b": { "k": ["c"] },
        });
        let row = PlainRow::with_properties(&properties);
        let holds = |inside: &str| PropertyFilter::parse(inside).unwrap().holds(&row);
        for inside in [
            "status",
            "STATUS:progress",
            "status:\"in progress\"",
            "status:/^In/",
            "status:open OR progress",
            "status:(open OR progress)",
            "rating:4",
            "rating:>3",
            "rating:<4.5",
            "done:TRUE",
            "empty:null",
            "empty:NULL",
            "empty",
            "list:cafe",
            "list:\"b\"",
            "due:<2026-04-01",
            "none",
            "\"rating\":4",
            "rating:4.0",
            "\"a:b\":c",
        ] {
            assert!(holds(inside), "{inside}");
        }
        for inside in [
            "other",
            "status:\"progress\"",
            "status:null",
            "rating:>4",
            "rating:0",
            "rating:.",
            "rating:>2026-04-01",
            "rating:<9x",
            "rating:\"40\"",
            "done:FALSE",
            "list:\"caf\"",
            "none:null",
            "due:>2026-04-01",
            "status:/^in$/",
        ] {
            assert!(!holds(inside), "{inside}");
        }
        assert!(PropertyFilter::parse(" : x").is_none());
    }
}
