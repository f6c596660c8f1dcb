//! What values look like as text: in cells, in exports, and to `toString`.

use std::borrow::Cow;

use jiff::{Timestamp, tz::TimeZone};

use super::base_value::{BaseLink, BaseObject, BaseValue};
use lapidary_note::count_steps;
use lapidary_query::number_text;

/// Deeper values are cut off. Nothing that people write is nested so deep.
const MAX_DEPTH: usize = 64;
/// What writing a short value counts.
pub(super) const VALUE_STEPS: usize = 32;

/// What the text of dates depends on.
#[derive(Clone, Debug)]
pub(super) struct TextClock {
    pub(super) zone: TimeZone,
    pub(super) now: Timestamp,
}

impl TextClock {
    pub(super) fn text<'v>(&self, value: &'v BaseValue) -> Cow<'v, str> {
        match value {
            BaseValue::Text(text)
            | BaseValue::Tag(text)
            | BaseValue::Url(text)
            | BaseValue::Html(text)
            | BaseValue::Icon(text)
            // Nothing to write: these are texts already.
            | BaseValue::Error(text) => Cow::Borrowed(text),
            BaseValue::Null => Cow::Borrowed(""),
            BaseValue::Boolean(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
            BaseValue::File(file) => Cow::Borrowed(&file.path),
            value => {
                let mut text = String::new();
                self.write(&mut text, value, 0);
                Cow::Owned(text)
            }
        }
    }

    fn write(&self, out: &mut String, value: &BaseValue, depth: usize) {
        // A list of lists may be far longer as text than in memory.
        count_steps(VALUE_STEPS);
        match value {
            BaseValue::Number(number) => *out += &shown_number(*number),
            BaseValue::Image(source) => {
                *out += "![](";
                *out += source;
                out.push(')');
            }
            BaseValue::Date(date) if date.is_relative => *out += &date.relative(self.now, &self.zone),
            BaseValue::Date(date) => *out += &date.text(&self.zone),
            BaseValue::Duration(duration) => *out += &duration.humanised(),
            BaseValue::Link(link) => write_link(out, link),
            BaseValue::Regexp(regexp) => *out += &regexp.to_string(),
            // Deeper ones cannot be told apart by a reader anyway, and the recursion needs an end.
            BaseValue::List(_) | BaseValue::Object(_) if depth >= MAX_DEPTH => out.push('…'),
            BaseValue::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    *out += if at == 0 { "" } else { LIST_SEPARATOR };
                    self.write(out, item, depth + 1);
                }
            }
            // JSON as the app shows it in a cell.
            BaseValue::Object(entries) => *out += &self.object(entries, depth + 1).to_string(),
            plain => *out += &self.text(plain),
        }
    }

    /// An object as text is JSON, with everything that JSON has no word for as its text.
    fn object(&self, entries: &BaseObject, depth: usize) -> serde_json::Value {
        let entry = |(name, value): (&String, &BaseValue)| (name.clone(), self.json(value, depth));
        serde_json::Value::Object(entries.iter().map(entry).collect())
    }

    pub(super) fn json(&self, value: &BaseValue, depth: usize) -> serde_json::Value {
        count_steps(VALUE_STEPS);
        match value {
            BaseValue::Null => serde_json::Value::Null,
            BaseValue::Boolean(value) => (*value).into(),
            BaseValue::Number(number) => json_number(*number),
            BaseValue::List(_) | BaseValue::Object(_) if depth >= MAX_DEPTH => serde_json::Value::Null,
            BaseValue::List(items) => items.iter().map(|item| self.json(item, depth + 1)).collect(),
            BaseValue::Object(entries) => self.object(entries, depth + 1),
            value => self.text(value).into_owned().into(),
        }
    }
}

/// Between the items of a list that is shown as one text.
const LIST_SEPARATOR: &str = ", ";

pub(super) fn shown_number(number: f64) -> String {
    match number {
        // As the app shows it, unlike JavaScript's `Infinity`.
        f64::INFINITY => "∞".to_owned(),
        f64::NEG_INFINITY => "-∞".to_owned(),
        number => number_text(number),
    }
}

fn json_number(number: f64) -> serde_json::Value {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number that fits")]
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return (number as i64).into();
    }
    number.into()
}

fn write_link(out: &mut String, link: &BaseLink) {
    *out += "[[";
    *out += &link.target;
    if let Some(display) = &link.display {
        out.push('|');
        *out += display;
    }
    *out += "]]";
}
