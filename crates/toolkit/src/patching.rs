//! Patching one part of a note.

use lapidary_note::{
    EditError, PatchContent, PatchOperation, PatchResult, PropertyError, SectionPatch, SectionPatchError,
};
use lapidary_operation::{Reason, clipped, quote::Prose};
use lapidary_vault::VaultPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{
    file_edit::too_large,
    note_edit::NoteEdit,
    properties,
    section::{NoteSection, names},
};

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ContentType {
    #[default]
    Markdown,
    Json,
}

/// The change to a section.
pub struct PatchRequest<'a> {
    pub tool: &'static str,
    pub section: &'a NoteSection,
    pub operation: PatchOperation,
    pub content: &'a str,
    pub content_type: ContentType,
    pub create: bool,
    pub repeat: bool,
    pub trim: bool,
}

/// The note with one section changed.
pub fn patched(writing: &NoteEdit, wanted: &PatchRequest<'_>) -> Result<PatchResult, Reason> {
    let document = writing.document()?;
    let value = match wanted.content_type {
        ContentType::Markdown => None,
        ContentType::Json => Some(properties::value(&json(wanted.tool, wanted.content)?)),
    };
    let content = value.as_ref().map_or(PatchContent::Text(wanted.content), PatchContent::Value);
    let PatchRequest { operation, create, repeat, trim, .. } = *wanted;
    let change = SectionPatch { operation, content, create, repeat, trim };
    document
        .patch_section(wanted.section.patch_target(), &change)
        .map_err(|error| patch_refusal(writing.path(), wanted.section, error))
}

fn json(tool: &str, content: &str) -> Result<Json, Reason> {
    serde_json::from_str(content).map_err(|error| not_json(tool, &error))
}

pub fn not_json(tool: &str, error: &serde_json::Error) -> Reason {
    Reason::bad_argument(tool, "content", Prose::ours(format_args!("is not JSON: {}", Prose::of_others(error))))
}

fn patch_refusal(path: &VaultPath, section: &NoteSection, error: SectionPatchError) -> Reason {
    let (path, target) = (path.clone(), clipped(&section.target));
    match error {
        SectionPatchError::Missing { available } => {
            let section_type = section.r#type.name();
            Reason::SectionTargetMissing { path, section_type, target, available: names(&available) }
        }
        SectionPatchError::Ambiguous { candidates } => {
            Reason::AmbiguousSection { path, target, candidates: names(&candidates) }
        }
        SectionPatchError::Preexists => Reason::ContentPreexists { path, target },
        SectionPatchError::Outside { heading } => {
            Reason::HeadingOutsideSection { path, target, heading: clipped(&heading) }
        }
        SectionPatchError::Edit(error) => edit_refusal(&path, &error),
        error @ (SectionPatchError::NotText | SectionPatchError::NotRows | SectionPatchError::NotMergeable) => {
            Reason::PatchRejected { path, problem: Prose::ours(error), remedy: None }
        }
    }
}

/// Why an edit of a note was refused, for the caller.
pub fn edit_refusal(path: &VaultPath, error: &EditError) -> Reason {
    use PropertyError::{Duplicate, NotAMap, Yaml};
    let path = path.clone();
    match error {
        // Unreadable properties are the note's problem, not the edit's, and have a reason that says so.
        EditError::Property(problem @ (Yaml { .. } | NotAMap | Duplicate { .. })) => {
            Reason::FrontmatterInvalid { path, problem: Prose::ours(problem) }
        }
        EditError::TooLarge { bytes, limit } => too_large(path, *bytes, *limit),
        error => {
            // No other content would fit either.
            let remedy = matches!(error, EditError::Unclosed).then_some("Close it first, then repeat the call.");
            Reason::PatchRejected { path, problem: Prose::ours(error), remedy }
        }
    }
}
