//! Edits of properties, under the hash of the frontmatter.

use lapidary_note::{
    ContentHash, EditError, Frontmatter, PropertyEdit, PropertyError, PropertyPath, Text, Value, edit_properties,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{
    Part, Reason,
    shared::{
        editing::{Editing, Written, decoded},
        properties::{self, Properties},
    },
    spec::Plan,
};

/// The precondition of all that change properties.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct FrontmatterInput {
    /// The `frontmatterHash` of the note. Required if it has properties, unless `expected_content_hash` is given.
    #[serde(default)]
    expected_frontmatter_hash: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrontmatterOutput {
    #[serde(flatten)]
    pub(crate) written: Written,
    /// Left out if no property is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    frontmatter_hash: Option<String>,
}

impl FrontmatterInput {
    /// Refuses to go on if the properties are not those the caller saw, or if it did not say which it saw.
    pub(crate) fn check(&self, editing: &Editing, text: &Text<'_>) -> Result<(), Reason> {
        let block = Frontmatter::find(text.shown()).map(|block| block.span);
        match (&self.expected_frontmatter_hash, block) {
            (Some(given), block) => editing.expect_part(text, Part::Frontmatter, given, block),
            (None, Some(_)) if !editing.is_expected() => {
                let problem =
                    "is required where a note has properties: the `frontmatterHash` that `frontmatter_get` gives";
                Err(editing.bad_argument(Part::Frontmatter.argument(), problem))
            }
            (None, _) => Ok(()),
        }
    }
}

/// One change of the properties.
pub(crate) enum Step {
    Set(PropertyPath, Value),
    /// A map or list that is empty without it goes with it.
    Delete(PropertyPath),
}

/// Makes the changes of properties one on top of the other. What is not there need not be deleted.
pub(crate) fn plan(editing: Editing, steps: &[Step]) -> Result<Plan<FrontmatterOutput>, Reason> {
    let mut bytes = editing.before.bytes.clone();
    for step in steps {
        let text = decoded(&bytes)?;
        let widest;
        let edit = match step {
            Step::Set(path, value) => PropertyEdit::Set { path, value },
            Step::Delete(path) => {
                widest = path.with_what_it_leaves_empty(&Properties::of(text.shown()).value());
                PropertyEdit::Delete { path: &widest }
            }
        };
        match edit_properties(&bytes, &text, &[edit]) {
            Ok(edited) => bytes = edited.file,
            Err(EditError::Property(PropertyError::Missing { .. })) if matches!(step, Step::Delete(_)) => {}
            Err(error) => return Err(editing.refusal(error)),
        }
    }
    let text = decoded(&bytes)?;
    let block = Frontmatter::find(text.shown()).map(|block| block.span);
    let hash = block.and_then(|block| ContentHash::of_part(&bytes, &text, block));
    let frontmatter_hash = hash.map(|hash| hash.to_string());
    Ok(editing.plan(bytes, |written| FrontmatterOutput { written, frontmatter_hash }))
}

/// What a caller sent, as a property can hold it.
pub(crate) fn value(editing: &Editing, argument: &str, given: &Json) -> Result<Value, Reason> {
    let problem = "holds a number that YAML cannot hold exactly; send it as a string";
    properties::from_json(given).ok_or_else(|| editing.bad_argument(argument, problem))
}
