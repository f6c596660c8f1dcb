//! Patching one part of a note.

use lapidary_note::{
    Document, EditError, PatchContent, PatchOperation, PatchResult, PropertyError, PropertyPath, SectionPatch,
    SectionPatchError, YamlValue,
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
        ContentType::Markdown => typed_value(&document, wanted),
        // JSON was asked for, so the value may change the type of the property.
        ContentType::Json => Some(properties::value(&json(wanted.tool, wanted.content)?)),
    };
    let content = value.as_ref().map_or(PatchContent::Text(wanted.content), PatchContent::Value);
    let PatchRequest { operation, create, repeat, trim, .. } = *wanted;
    let change = SectionPatch { operation, content, create, repeat, trim };
    document
        .patch_section(wanted.section.patch_target(), &change)
        .map_err(|error| patch_refusal(writing.path(), wanted.section, error))
}

/// The value of a property that is sent as text and means a number, a boolean, a list or a map: a property changes its
/// type only if that was asked for, so only one that holds text stays text.
fn typed_value(document: &Document, wanted: &PatchRequest<'_>) -> Option<YamlValue> {
    if !wanted.section.is_property() {
        return None;
    }
    // Plain text is the usual case and needs no look at the note.
    let given = literal(wanted.content)?;
    let properties = YamlValue::Map(document.properties().ok()?);
    let old = PropertyPath::name(&wanted.section.target).among(&properties).find(&properties).cloned();
    let keeps = match (wanted.operation, old) {
        // A text stays one, even if the new text looks like a number.
        (_, Some(YamlValue::Text(_))) => false,
        (PatchOperation::Replace, _) | (_, None) => true,
        (_, Some(old)) => {
            // Anything else cannot be merged with what is there.
            matches!((old, &given), (YamlValue::List(_), YamlValue::List(_)) | (YamlValue::Map(_), YamlValue::Map(_)))
        }
    };
    keeps.then_some(given)
}

/// What a text says if it is not only text.
fn literal(content: &str) -> Option<YamlValue> {
    let value = properties::from_json(&serde_json::from_str(content).ok()?)?;
    // A quoted text means the same as the text.
    (!matches!(value, YamlValue::Null | YamlValue::Text(_))).then_some(value)
}

/// The notice for a property that holds text and was given the text of a number or the like.
pub fn text_notice(writing: &NoteEdit, wanted: &PatchRequest<'_>) -> Option<String> {
    if wanted.content_type != ContentType::Markdown || !wanted.section.is_property() {
        return None;
    }
    let kind = match literal(wanted.content)? {
        YamlValue::Integer(_) | YamlValue::Float(_) => "a number",
        YamlValue::Bool(_) => "a boolean",
        YamlValue::List(_) => "a list",
        YamlValue::Map(_) => "a map",
        YamlValue::Null | YamlValue::Text(_) => return None,
    };
    let is_text = typed_value(&writing.document().ok()?, wanted).is_none();
    // Said because the file looks right and a query would not find the number.
    is_text.then(|| format!("The property is text. For {kind}, set `contentType` to `json`."))
}

fn json(tool: &str, content: &str) -> Result<Json, Reason> {
    serde_json::from_str(content).map_err(|error| not_json(tool, &error))
}

pub fn not_json(tool: &str, error: &serde_json::Error) -> Reason {
    // The message may repeat the content.
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
