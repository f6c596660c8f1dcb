//! Edits of properties, under the hash of the frontmatter.

use lapidary_note::{Document, EditError, PropertyEdit, PropertyError, PropertyPath, YamlValue};
use lapidary_operation::{FilePart, Reason, ToolPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{
    file_edit::{FileEdit, FileWritten},
    properties::{self, NoteProperties},
};

/// The precondition of all tools that change properties.
#[derive(Deserialize, JsonSchema)]
pub struct FrontmatterInput {
    /// The `frontmatterHash` of the note. Required if it has properties, unless `expected_content_hash` is given.
    #[serde(default)]
    expected_frontmatter_hash: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FrontmatterOutput {
    #[serde(flatten)]
    pub written: FileWritten,
    /// Left out if no property is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    frontmatter_hash: Option<String>,
}

impl FrontmatterOutput {
    pub fn text(&self) -> String {
        match &self.frontmatter_hash {
            Some(hash) => self.written.text_of_part("properties changed", FilePart::Frontmatter, hash),
            None => self.written.text("no properties left"),
        }
    }
}

impl FrontmatterInput {
    /// Refuses to continue if the properties are not those that the caller saw, or if it did not say which it saw.
    pub fn check(&self, editing: &FileEdit, document: &Document) -> Result<(), Reason> {
        let block = document.frontmatter().map(|block| block.span);
        match (&self.expected_frontmatter_hash, block) {
            // Also without a block: then there is nothing that the hash could be of, and the caller saw something
            // else.
            (Some(given), block) => editing.expect_part(document, FilePart::Frontmatter, given, block),
            (None, Some(_)) if !editing.is_expected() => {
                let problem = "is required if a note has properties: the `frontmatterHash` from `frontmatter_get`";
                Err(editing.bad_argument(FilePart::Frontmatter.argument(), problem))
            }
            (None, _) => Ok(()),
        }
    }
}

/// One change of the properties.
pub enum PropertyStep {
    Set(PropertyPath, YamlValue),
    /// A map or list that this leaves empty is removed with it.
    Delete(PropertyPath),
}

/// Applies changes of properties one after the other. Deleting a missing one is not an error.
pub fn plan(editing: FileEdit, steps: &[PropertyStep]) -> Result<ToolPlan<FrontmatterOutput>, Reason> {
    let mut document = editing.document()?;
    for step in steps {
        let widest;
        let edit = match step {
            PropertyStep::Set(path, value) => PropertyEdit::Set { path, value },
            PropertyStep::Delete(path) => {
                // Computed for each step, because the one before may have emptied the map around it.
                widest = path.with_what_it_leaves_empty(&NoteProperties::of(&document).value());
                PropertyEdit::Delete { path: &widest }
            }
        };
        match document.edit_property(&edit) {
            Ok(edited) => document = edited.document,
            Err(EditError::Property(PropertyError::Missing { .. })) if matches!(step, PropertyStep::Delete(_)) => {}
            Err(error) => return Err(editing.refusal(error)),
        }
    }
    let hash = document.frontmatter().and_then(|block| document.hash_of(block.span));
    let frontmatter_hash = hash.map(|hash| hash.to_string());
    Ok(editing.plan(&document, |written| FrontmatterOutput { written, frontmatter_hash }))
}

/// A caller's value, in a form that a property can hold.
pub fn value(editing: &FileEdit, argument: &str, given: &Json) -> Result<YamlValue, Reason> {
    let problem = "has a number that YAML cannot represent exactly; send it as a string";
    properties::from_json(given).ok_or_else(|| editing.bad_argument(argument, problem))
}
