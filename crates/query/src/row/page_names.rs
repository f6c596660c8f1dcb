//! The tags and aliases of a page as Dataview reads them, which is more than Obsidian does: `tag` and `alias` count too,
//! and a text is taken apart at its commas.

use std::ops::ControlFlow;

use indexmap::IndexSet;

use super::Row;
use crate::{Value, number_text};

/// The tags of a page as they are written, with `#`: those of the text, then those of the properties.
pub fn page_tags(row: &dyn Row) -> Vec<String> {
    let mut tags: IndexSet<String> = IndexSet::new();
    let mut put = |tag: String| {
        tags.insert(tag);
    };
    row.visit_tags(&mut |tag| {
        // Those of the properties are read below, as Dataview takes them apart.
        if !tag.in_properties {
            put(format!("#{}", tag.name.trim_start_matches('#')));
        }
        ControlFlow::Continue(())
    });
    row.visit_properties(&mut |name, value| {
        // Only now is the value made; most properties are others.
        if is_name_of_tags(name) {
            let mut texts = Vec::new();
            tag_texts(&value(), &mut texts);
            for text in texts {
                put(if text.starts_with('#') { text } else { format!("#{text}") });
            }
        }
        ControlFlow::Continue(())
    });
    tags.into_iter().collect()
}

/// The tags in a property of this name, as they are written; nothing for any other property.
pub fn property_tag_texts(name: &str, value: &dyn Fn() -> Value) -> Vec<String> {
    let mut texts = Vec::new();
    if is_name_of_tags(name) {
        tag_texts(&value(), &mut texts);
    }
    texts
}

fn is_name_of_tags(name: &str) -> bool {
    name.eq_ignore_ascii_case("tags") || name.eq_ignore_ascii_case("tag")
}

/// Taken apart at commas and white space, in lists too.
fn tag_texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Null => {}
        // An empty item would otherwise become the tag `#null`.
        Value::List(items) => items.iter().filter(|item| is_filled(item)).for_each(|item| tag_texts(item, found)),
        value => {
            let text = script_text(value);
            let words = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
            found.extend(words.map(str::to_owned));
        }
    }
}

/// The other names of a page, each once.
pub fn page_aliases(row: &dyn Row) -> Vec<String> {
    let mut aliases: IndexSet<String> = IndexSet::new();
    row.visit_properties(&mut |name, value| {
        if name.eq_ignore_ascii_case("aliases") || name.eq_ignore_ascii_case("alias") {
            let found = match value() {
                // A list is not taken apart at commas, unlike a text.
                Value::List(items) => items.iter().map(|item| script_text(item).trim().to_owned()).collect(),
                value if is_filled(&value) => {
                    let text = script_text(&value);
                    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                    parts.map(str::to_owned).collect::<Vec<_>>()
                }
                _ => Vec::new(),
            };
            aliases.extend(found);
        }
        ControlFlow::Continue(())
    });
    aliases.into_iter().collect()
}

/// What counts as something in JavaScript.
fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null | Value::Boolean(false) => false,
        Value::Number(number) => number.as_f64() != 0.0 && !number.as_f64().is_nan(),
        Value::Text(text) => !text.is_empty(),
        _ => true,
    }
}

/// A value of YAML as JavaScript puts it into a text.
fn script_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Number(number) => number_text(number.as_f64()),
        Value::Boolean(value) => value.to_string(),
        Value::Null => "null".to_owned(),
        Value::List(items) => {
            // JavaScript joins a list without its nulls.
            let item = |item: &Value| if item.is_null() { String::new() } else { script_text(item) };
            items.iter().map(item).collect::<Vec<_>>().join(",")
        }
        // What an object becomes in JavaScript.
        _ => "[object Object]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::PlainRow;

    fn row(properties: &serde_json::Value, tags: &[&str]) -> PlainRow {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        PlainRow { tags, ..PlainRow::with_properties(properties) }
    }

    #[test]
    fn tags_of_the_text_come_before_those_of_the_properties() {
        use serde_json::json;
        for (properties, body, expected) in [
            (json!({ "tags": ["b", "#a/c", "x y", "p,q"] }), &["a", "A"][..], "#a #A #b #a/c #x #y #p #q"),
            (json!({ "tags": "one, two  three" }), &[], "#one #two #three"),
            (json!({ "Tag": "solo", "TAGS": ["solo", "Solo"] }), &[], "#solo #Solo"),
            (json!({ "tags": [2024, 0, null, true, ["n"]] }), &[], "#2024 #true #n"),
            (json!({ "tags": 7 }), &["x"], "#x #7"),
            (json!({ "tags": null, "other": "no" }), &[], ""),
        ] {
            assert_eq!(page_tags(&row(&properties, body)).join(" "), expected, "{properties}");
        }
    }

    #[test]
    fn aliases_are_lists_or_texts_with_commas() {
        use serde_json::json;
        for (properties, expected) in [
            (json!({ "aliases": ["One", " Two ", 3, "One", null] }), "One|Two|3|null"),
            (json!({ "alias": "a, b ,, c" }), "a|b|c"),
            (json!({ "Aliases": ["x, y"], "ALIAS": "z" }), "x, y|z"),
            (json!({ "aliases": 5 }), "5"),
            (json!({ "aliases": "" }), ""),
        ] {
            assert_eq!(page_aliases(&row(&properties, &[])).join("|"), expected, "{properties}");
        }
    }
}
