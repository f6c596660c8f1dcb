//! A note as a whole, with what is known of it.

use lapidary_note::Note;
use lapidary_vault::File;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{properties::NoteProperties, reading::ShownFile, tags, time::milliseconds};

// All of a note. No doc comment, because that would stand in the schema of a tool and tell nobody anything.
#[derive(Serialize, JsonSchema)]
pub struct NoteContents {
    pub content: String,
    pub frontmatter: Map<String, Value>,
    pub tags: Vec<String>,
    pub stat: NoteStat,
}

/// Milliseconds since 1970, as Obsidian counts; 0 where the system does not say.
#[derive(Serialize, JsonSchema)]
pub struct NoteStat {
    pub ctime: u64,
    pub mtime: u64,
    pub size: u64,
}

impl NoteContents {
    /// What could not be read of it is added to the notices.
    pub fn of(note: &Note<'_>, file: &File, shown: &ShownFile, notices: &mut Vec<String>) -> Self {
        Self {
            content: shown.text().to_owned(),
            frontmatter: readable_properties(shown, notices).json(),
            tags: tags::of_note(note),
            stat: NoteStat {
                ctime: milliseconds(file.created),
                mtime: milliseconds(file.modified),
                size: file.content.len() as u64,
            },
        }
    }
}

/// Broken properties do not keep a note from being read, but they are said.
pub fn readable_properties(shown: &ShownFile, notices: &mut Vec<String>) -> NoteProperties {
    let properties = shown.properties();
    notices.extend(
        properties
            .problem()
            .map(|problem| format!("The properties are not valid YAML ({problem}), so none are shown.")),
    );
    properties
}
