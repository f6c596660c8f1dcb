//! A whole note, with its metadata.

use lapidary_vault::File;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{properties::NoteProperties, reading::ShownFile, tags, time::milliseconds};

// A whole note. Not a doc comment, because that would be in the schema of a tool to no use.
#[derive(Serialize, JsonSchema)]
pub struct NoteContents {
    pub content: String,
    pub frontmatter: Map<String, Value>,
    pub tags: Vec<String>,
    pub stat: NoteStat,
}

/// Milliseconds since 1970, as Obsidian counts; 0 if the system does not know.
#[derive(Serialize, JsonSchema)]
pub struct NoteStat {
    pub ctime: u64,
    pub mtime: u64,
    pub size: u64,
}

impl NoteContents {
    /// Unreadable parts are added to the notices.
    pub fn of(file: &File, shown: &ShownFile, notices: &mut Vec<String>) -> Self {
        Self {
            content: shown.text().to_owned(),
            frontmatter: readable_properties(shown, notices).json(),
            tags: tags::of_note(&shown.tagged()),
            stat: NoteStat {
                ctime: milliseconds(file.created),
                mtime: milliseconds(file.modified),
                size: file.content.len() as u64,
            },
        }
    }
}

/// Broken properties do not prevent reading a note, but are reported.
pub fn readable_properties(shown: &ShownFile, notices: &mut Vec<String>) -> NoteProperties {
    let properties = shown.properties();
    notices.extend(
        properties
            .problem()
            .map(|problem| format!("The properties are not valid YAML ({problem}), so none are shown.")),
    );
    properties
}
