//! Properties as JSON, and JSON as properties.

use lapidary_note::{Document, Frontmatter, FrontmatterError, PropertyError, PropertyPath, YamlValue};
use lapidary_operation::{
    ArgumentProblem, Reason, clipped,
    quote::{Prose, quoted},
};
use serde_json::{Map, Number, Value as Json};

/// The properties of a note: the block, their values, or why they cannot be read.
pub struct NoteProperties {
    pub block: Option<Frontmatter>,
    pub entries: Result<Vec<(String, YamlValue)>, FrontmatterError>,
}

impl NoteProperties {
    pub fn of(document: &Document) -> Self {
        Self { block: document.frontmatter(), entries: document.properties() }
    }

    /// From a text that is not exactly the file.
    pub fn of_text(text: &str) -> Self {
        let block = Frontmatter::find(text);
        // A note without a block has no properties, which is not an error.
        let entries = block.as_ref().map_or(Ok(Vec::new()), |block| block.properties(text));
        Self { block, entries }
    }

    /// Their readable values; none if the YAML is broken, as in Obsidian.
    pub fn readable(&self) -> &[(String, YamlValue)] {
        self.entries.as_deref().unwrap_or_default()
    }

    pub fn json(&self) -> Map<String, Json> {
        self.readable().iter().map(|(name, value)| (name.clone(), json(value))).collect()
    }

    pub fn value(&self) -> YamlValue {
        YamlValue::Map(self.readable().to_vec())
    }

    pub fn problem(&self) -> Option<&FrontmatterError> {
        self.entries.as_ref().err()
    }
}

/// The path of a property, as callers write it in `keyPath`.
pub fn key_path(tool: &str, given: &str) -> Result<PropertyPath, Reason> {
    PropertyPath::parse(given).map_err(|error| Reason::InvalidArguments {
        tool: tool.to_owned(),
        problems: vec![ArgumentProblem {
            at: "keyPath".to_owned(),
            problem: match error {
                // The only error with a remedy that the caller can see.
                PropertyError::TooDeep { limit } => Prose::ours(format_args!("has more than {limit} parts")),
                _ => Prose::ours(format_args!("is not a path of property names: {}", quoted(&clipped(given)))),
            },
            nearest: None,
        }],
    })
}

/// A caller's value as YAML; `None` for a number that it could not represent exactly.
pub(crate) fn from_json(value: &Json) -> Option<YamlValue> {
    Some(match value {
        Json::Null => YamlValue::Null,
        Json::Bool(value) => YamlValue::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => YamlValue::Integer(number),
            // A number beyond 64 bits would come back rounded.
            None => YamlValue::Float(number.as_f64().filter(|_| number.is_f64())?),
        },
        Json::String(text) => YamlValue::Text(text.clone()),
        Json::Array(items) => YamlValue::List(items.iter().map(from_json).collect::<Option<_>>()?),
        Json::Object(entries) => {
            let entry = |(name, value): (&String, &Json)| Some((name.clone(), from_json(value)?));
            YamlValue::Map(entries.iter().map(entry).collect::<Option<_>>()?)
        }
    })
}

pub fn json(value: &YamlValue) -> Json {
    match value {
        YamlValue::Null => Json::Null,
        YamlValue::Bool(value) => Json::Bool(*value),
        YamlValue::Integer(value) => Json::from(*value),
        // JSON has no infinity; YAML's words for it are used.
        YamlValue::Float(value) => {
            Number::from_f64(*value).map_or_else(|| Json::String(value.to_string()), Json::Number)
        }
        YamlValue::Text(text) => Json::String(text.clone()),
        YamlValue::List(items) => items.iter().map(json).collect(),
        YamlValue::Map(entries) => {
            Json::Object(entries.iter().map(|(name, value)| (name.clone(), json(value))).collect())
        }
    }
}

/// JSON in a form that a property can hold.
pub fn value(json: &Json) -> YamlValue {
    match json {
        Json::Null => YamlValue::Null,
        Json::Bool(value) => YamlValue::Bool(*value),
        Json::Number(number) => {
            number.as_i64().map_or_else(|| YamlValue::Float(number.as_f64().unwrap_or(f64::NAN)), YamlValue::Integer)
        }
        Json::String(text) => YamlValue::Text(text.clone()),
        Json::Array(items) => YamlValue::List(items.iter().map(value).collect()),
        Json::Object(entries) => {
            YamlValue::Map(entries.iter().map(|(name, json)| (name.clone(), value(json))).collect())
        }
    }
}
