//! A note as seen by a rule.

use super::Logic;
use crate::{Number, Object, Row, RowLink, Value};

/// As much of a row as the rule reads.
pub(super) fn data(logic: &Logic, row: &dyn Row) -> Value {
    let mut data = Object::new();
    let mut put = |name: &str, value: &dyn Fn() -> Value| {
        // Content and backlinks take long to get, so only what the rule reads is put in.
        if logic.reads(name) {
            data.insert(name.to_owned(), value());
        }
    };
    put("path", &|| Value::from(row.path()));
    put("content", &|| Value::Text(row.content().unwrap_or_default().into_owned()));
    put("frontmatter", &|| plain(Value::Object(row.properties(&|name| logic.reads_part("frontmatter", name)))));
    // Each tag once, whatever its case.
    put("tags", &|| row.tags().iter().filter(|tag| !tag.repeated).map(|tag| Value::from(tag.name)).collect());
    put("stat", &|| stat(row));
    put("links", &|| resolved_links(row));
    put("unresolvedLinks", &|| unresolved_links(row));
    put("backlinks", &|| row.backlinks().into_iter().map(Value::from).collect());
    Value::Object(data)
}

fn stat(row: &dyn Row) -> Value {
    let milliseconds = |time: Option<jiff::Timestamp>| Value::from(time.map_or(0, |time| time.as_millisecond().max(0)));
    Value::Object(Object::from_iter([
        ("ctime".to_owned(), milliseconds(row.created())),
        ("mtime".to_owned(), milliseconds(row.modified())),
        ("size".to_owned(), Value::from(row.bytes())),
    ]))
}

/// The files that the links lead to, each once, in order.
fn resolved_links(row: &dyn Row) -> Value {
    let links = row.links();
    distinct(links.iter().filter(|link| !link.target.is_empty()).filter_map(|link| row.resolve(link.target)))
}

/// The targets of unresolved links, each once, in order.
fn unresolved_links(row: &dyn Row) -> Value {
    let links = row.links();
    let nowhere = |link: &&RowLink<'_>| !link.target.is_empty() && row.resolve(link.target).is_none();
    distinct(links.iter().filter(nowhere).map(|link| link.target))
}

fn distinct<'r>(texts: impl Iterator<Item = &'r str>) -> Value {
    let mut seen = std::collections::HashSet::new();
    texts.filter(|text| seen.insert(*text)).map(Value::from).collect()
}

/// JSON has no infinity; YAML's words for it are used.
fn plain(value: Value) -> Value {
    match value {
        Value::Number(Number::Float(number)) if !number.is_finite() => Value::Text(number.to_string()),
        Value::List(items) => items.into_iter().map(plain).collect(),
        Value::Object(entries) => {
            Value::Object(entries.into_iter().map(|(name, value)| (name, plain(value))).collect())
        }
        value => value,
    }
}
