//! What kind of value a property is: texts that are links, addresses or dates as a whole are these.

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::{
    base_date::BaseDate,
    base_value::{BaseLink, BaseObject, BaseValue},
};
use lapidary_query::{Value, bases_date_text};

/// Values deeper than this are left out. YAML is not nested so deep.
const MAX_DEPTH: usize = 64;

/// Where a property was read.
pub(super) struct PropertyPlace<'p> {
    pub(super) zone: &'p TimeZone,
    pub(super) source: &'p dyn Fn() -> Arc<str>,
}

impl PropertyPlace<'_> {
    /// A property of a note. That of tags holds tags.
    pub(super) fn property(&self, name: &str, value: Value) -> BaseValue {
        if name.eq_ignore_ascii_case("tags") { self.tags(value) } else { self.value(value, 0) }
    }

    fn tags(&self, value: Value) -> BaseValue {
        let tag = |item: Value| match item {
            Value::Text(text) => BaseValue::Tag(text.trim().trim_start_matches('#').into()),
            item => self.value(item, 1),
        };
        match value {
            Value::Null => BaseValue::Null,
            Value::List(items) => BaseValue::list(items.into_iter().map(tag).collect()),
            // One tag may be written without a list.
            single => BaseValue::list(vec![tag(single)]),
        }
    }

    fn value(&self, value: Value, depth: usize) -> BaseValue {
        match value {
            Value::Null => BaseValue::Null,
            Value::Boolean(value) => BaseValue::Boolean(value),
            Value::Number(number) => BaseValue::Number(number.as_f64()),
            Value::Text(text) => self.text(text),
            Value::List(_) | Value::Object(_) if depth >= MAX_DEPTH => BaseValue::Null,
            Value::List(items) => BaseValue::list(items.into_iter().map(|item| self.value(item, depth + 1)).collect()),
            Value::Object(entries) => {
                let entry = |(name, value)| (name, self.value(value, depth + 1));
                BaseValue::Object(Arc::new(entries.into_iter().map(entry).collect::<BaseObject>()))
            }
            Value::Date(date) => BaseDate::of(&date, self.zone).map_or(BaseValue::Null, BaseValue::Date),
            other @ (Value::Duration(_) | Value::Link(_)) => {
                BaseValue::text(serde_json::Value::from(&other).to_string())
            }
        }
    }

    fn text(&self, text: String) -> BaseValue {
        // Most texts are plain, which their first byte tells.
        match text.as_bytes().first() {
            Some(b'[') => {
                if text.starts_with("[[")
                    && let Some(link) = wikilink(&text, Some((self.source)()))
                {
                    return BaseValue::Link(Arc::new(link));
                }
            }
            Some(b'0'..=b'9') => {
                let date = bases_date_text(&text).and_then(|date| BaseDate::of(&date, self.zone));
                if let Some(date) = date {
                    return BaseValue::Date(date);
                }
            }
            _ if is_url(&text) => return BaseValue::Url(text.into()),
            _ => {}
        }
        BaseValue::text(text)
    }
}

/// A text that is one wikilink as a whole.
pub(super) fn wikilink(text: &str, source: Option<Arc<str>>) -> Option<BaseLink> {
    let inner = text.strip_prefix("[[")?.strip_suffix("]]")?;
    // Two links are a text.
    if inner.contains("[[") || inner.contains("]]") {
        return None;
    }
    Some(link_text(inner, source))
}

/// What is between the brackets of a wikilink. The first bar begins the display text.
pub(super) fn link_text(inner: &str, source: Option<Arc<str>>) -> BaseLink {
    let (target, display) = match inner.split_once('|') {
        // In a table the bar is escaped.
        Some((target, display)) => (target.strip_suffix('\\').unwrap_or(target), Some(display.trim())),
        None => (inner, None),
    };
    let display = display.filter(|display| !display.is_empty()).map(str::to_owned);
    BaseLink { target: target.trim().to_owned(), display, source }
}

/// A scheme, `://`, and no white space.
pub(super) fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(is_scheme)
        && !rest.is_empty()
        && !rest.contains(char::is_whitespace)
}
