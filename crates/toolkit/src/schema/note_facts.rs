//! What a schema looks at in a note: from its text, or from the index.

use std::ops::ControlFlow;

use lapidary_note::{Document, FileContent, YamlValue, count_steps};
use lapidary_query::{Number, Row, Value};
use lapidary_vault::{FileEntry, FileRow, VisibleNotes};

use super::whole_text;
use crate::property_kinds::{PropertyKind, is_convertible};

/// The properties, tags and headings of a note.
#[derive(Default)]
pub struct NoteFacts {
    pub(super) properties: Vec<(String, Value)>,
    tags: Vec<String>,
    pub(super) headings: Vec<String>,
}

impl NoteFacts {
    /// Of a content that is not text, nothing is known.
    pub fn of_content(content: &FileContent) -> Self {
        let Ok(document) = Document::open(content.clone()) else { return Self::default() };
        let note = document.note();
        let in_text = note.tags.iter().map(|tag| note.text[tag.name()].to_owned());
        // Broken properties count as none, as in Obsidian.
        let properties = document.properties().unwrap_or_default();
        Self {
            properties: properties.iter().map(|(name, value)| (name.clone(), of_yaml(value))).collect(),
            tags: in_text.chain(note.property_tags().into_iter().map(|tag| tag.name)).collect(),
            headings: note.headings.iter().map(|heading| heading.text.clone()).collect(),
        }
    }

    pub fn of_entry(notes: &VisibleNotes, entry: &FileEntry<'_>) -> Self {
        let mut properties = Vec::new();
        FileRow::new(notes, entry.state()).visit_properties(&mut |name, read| {
            count_steps(16);
            properties.push((name.to_owned(), read()));
            ControlFlow::Continue(())
        });
        let digest = notes.digest(entry.path()).unwrap_or_default();
        let tags = digest.tags().map(|tag| tag.name.to_owned()).collect();
        let headings = digest.structure().headings.iter().map(|heading| heading.text.to_string()).collect();
        Self { properties, tags, headings }
    }

    /// By its name in any case; of several spellings the first counts.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        let wanted = name.to_lowercase();
        self.properties.iter().find(|(name, _)| name.to_lowercase() == wanted).map(|(_, value)| value)
    }

    /// Whether the value of a property can surely become another kind.
    pub(crate) fn is_convertible(&self, name: &str, to: PropertyKind) -> bool {
        self.value(name).is_some_and(|value| is_convertible(value, to))
    }

    /// A property that is a text, if it has one.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        match self.value(name) {
            Some(Value::Text(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            _ => None,
        }
    }

    /// A tag, or one below it.
    pub(super) fn has_tag(&self, wanted: &str) -> bool {
        let wanted = wanted.to_lowercase();
        let is_within = |tag: &String| {
            let tag = tag.to_lowercase();
            tag.strip_prefix(&wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.tags.iter().any(is_within)
    }

    /// Whether a property has a value, alone or in a list.
    pub(super) fn says(&self, name: &str, wanted: &str) -> bool {
        let is_wanted = |value: &Value| whole_text(value).to_lowercase() == wanted.to_lowercase();
        match self.value(name) {
            Some(Value::List(items)) => items.iter().any(is_wanted),
            Some(value) => is_wanted(value),
            None => false,
        }
    }

    pub(super) fn has_heading(&self, wanted: &str) -> bool {
        let key = |text: &str| text.trim().to_lowercase();
        self.headings.iter().any(|heading| key(heading) == key(wanted))
    }
}

fn of_yaml(yaml: &YamlValue) -> Value {
    // The reader of YAML bounds the depth.
    match yaml {
        YamlValue::Null => Value::Null,
        YamlValue::Bool(value) => Value::Boolean(*value),
        YamlValue::Integer(number) => Value::Number(Number::Integer(*number)),
        YamlValue::Float(number) => Value::Number(Number::Float(*number)),
        YamlValue::Text(text) => Value::from(text.as_str()),
        YamlValue::List(items) => items.iter().map(of_yaml).collect(),
        YamlValue::Map(entries) => {
            Value::Object(entries.iter().map(|(key, entry)| (key.clone(), of_yaml(entry))).collect())
        }
    }
}
