//! A patch of format 1: one part of a note, named by headers.

use lapidary_note::{
    BlankLines, Document, EditError, InsertSide, InstructionOperation, InstructionPayload, InstructionScope,
    InstructionTarget, PatchContent, PatchInstruction, PatchOperation, PatchTarget, SectionEdit, SectionPart,
    SectionPatch, SectionPatchError,
};
use lapidary_toolkit::properties;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A patch of format 1.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LegacyPatch {
    /// `heading`, `block` or `frontmatter`.
    pub target_type: String,
    /// The whole path of a heading; one element for everything else.
    pub target: Vec<String>,
    /// `append`, `prepend` or `replace`.
    pub operation: String,
    /// `content`, `marker` or `markerAndContent`.
    pub scope: String,
    /// Text as a string; otherwise `value`.
    #[serde(default)]
    pub content: Option<String>,
    #[serde(default)]
    pub value: Option<Value>,
    pub create: bool,
    pub reject_if_there: bool,
    pub trim: bool,
}

/// Why a patch of format 1 failed, in its own words.
pub(super) enum LegacyFailure {
    Words(&'static str),
    Properties(String),
    Edit(EditError),
}

impl LegacyPatch {
    pub(super) fn apply(&self, document: &Document) -> Result<Document, LegacyFailure> {
        let operation = match self.operation.as_str() {
            "append" => PatchOperation::Add(InsertSide::Behind),
            "prepend" => PatchOperation::Add(InsertSide::Before),
            // Any other word was refused when the headers were read.
            _ => PatchOperation::Replace,
        };
        let name = self.target.last().map(String::as_str).unwrap_or_default();
        match self.target_type.as_str() {
            "heading" => self.heading(document, operation),
            "block" => self.block(document, name, operation),
            _ => self.part(document, PatchTarget::Property(name), operation),
        }
    }

    fn heading(&self, document: &Document, operation: PatchOperation) -> Result<Document, LegacyFailure> {
        // A heading takes text only; JSON is for tables and properties.
        let Some(content) = &self.content else { return Err(LegacyFailure::Words(NOT_FOR_TARGET)) };
        let note = document.note();
        // Of equal paths the last one counts.
        let Some(heading) = note.headings.iter().rfind(|heading| note.heading_path(heading) == self.target) else {
            // A missing heading has no marker that could be changed.
            if !self.create || self.scope == "marker" {
                return Err(LegacyFailure::Words("invalid-target"));
            }
            let created = document.append_heading(&self.target.join("::"), content).map_err(LegacyFailure::Edit)?;
            return Ok(created.document);
        };
        let (marker, section) = (heading.own.start..heading.body, heading.own.start..heading.section.end);
        let part = match self.scope.as_str() {
            "marker" => &note.text[marker.clone()],
            "markerAndContent" => &note.text[section.clone()],
            _ => &note.text[heading.body..heading.section.end],
        };
        self.refuse_twice(part, operation)?;
        let splice = |span: std::ops::Range<usize>| match operation {
            PatchOperation::Replace => document.replace_range(span, &ended(content)),
            PatchOperation::Add(InsertSide::Before) => document.insert_at(span.start, &ended(content)),
            PatchOperation::Add(InsertSide::Behind) => document.insert_at(span.end, &ended(content)),
        };
        let edited = match self.scope.as_str() {
            "marker" => splice(marker),
            "markerAndContent" => splice(section),
            _ => {
                // By the edits for sections, which keep the blank lines around them; the other scopes are cut as they
                // are.
                let blanks = if self.trim { BlankLines::Trimmed } else { BlankLines::Kept };
                let section = SectionEdit { heading, part: SectionPart::Subtree, blanks };
                match operation {
                    PatchOperation::Replace => document.replace_body(&section, content),
                    PatchOperation::Add(InsertSide::Behind) => document.append_to_section(&section, content),
                    PatchOperation::Add(InsertSide::Before) => document.prepend_to_section(&section, content),
                }
            }
        };
        Ok(edited.map_err(LegacyFailure::Edit)?.document)
    }

    fn block(&self, document: &Document, id: &str, operation: PatchOperation) -> Result<Document, LegacyFailure> {
        // Rows and the other scopes are the same in both formats.
        let payload = match (&self.content, &self.value) {
            (Some(text), _) if self.scope != "content" => Some(InstructionPayload::Text(text.clone())),
            (None, Some(value)) => {
                Some(InstructionPayload::Rows(rows(value).ok_or(LegacyFailure::Words(NOT_FOR_TARGET))?))
            }
            _ => None,
        };
        // Plain text for a block is the usual case, and the section patch knows its boundaries.
        let Some(payload) = payload else { return self.part(document, PatchTarget::Block(id), operation) };
        let instruction = PatchInstruction {
            target: InstructionTarget::Block(id.to_owned()),
            operation: match operation {
                PatchOperation::Replace => InstructionOperation::Replace,
                PatchOperation::Add(InsertSide::Before) => InstructionOperation::Prepend,
                PatchOperation::Add(InsertSide::Behind) => InstructionOperation::Append,
            },
            scope: match self.scope.as_str() {
                "marker" => InstructionScope::Marker,
                "markerAndContent" => InstructionScope::MarkerAndContent,
                _ => InstructionScope::Content,
            },
            payload,
            within: None,
            // A block cannot be created: nothing says where it would go.
            create: false,
            once: self.reject_if_there,
        };
        match document.instructed(&instruction) {
            Ok(done) => Ok(done.document),
            Err(lapidary_note::InstructionError::TargetMissing) => Err(LegacyFailure::Words("invalid-target")),
            Err(lapidary_note::InstructionError::Preexists) => Err(LegacyFailure::Words(THERE)),
            Err(lapidary_note::InstructionError::Edit(error)) if !matches!(error, EditError::Columns { .. }) => {
                Err(LegacyFailure::Edit(error))
            }
            Err(_) => Err(LegacyFailure::Words(NOT_FOR_TARGET)),
        }
    }

    fn part(
        &self,
        document: &Document,
        target: PatchTarget<'_>,
        operation: PatchOperation,
    ) -> Result<Document, LegacyFailure> {
        let value = self.value.as_ref().map(properties::value);
        let content = match (&value, &self.content) {
            (Some(value), _) => PatchContent::Value(value),
            (None, content) => PatchContent::Text(content.as_deref().unwrap_or_default()),
        };
        let patch =
            SectionPatch { operation, content, create: self.create, repeat: !self.reject_if_there, trim: self.trim };
        match document.patch_section(target, &patch) {
            Ok(done) => Ok(done.document),
            // The older format has one word for both.
            Err(SectionPatchError::Missing { .. } | SectionPatchError::Ambiguous { .. }) => {
                Err(LegacyFailure::Words("invalid-target"))
            }
            Err(SectionPatchError::Preexists) => Err(LegacyFailure::Words(THERE)),
            Err(SectionPatchError::NotMergeable) => Err(LegacyFailure::Words("content-not-mergeable")),
            Err(SectionPatchError::NotText | SectionPatchError::NotRows | SectionPatchError::Outside { .. }) => {
                Err(LegacyFailure::Words(NOT_FOR_TARGET))
            }
            Err(SectionPatchError::Edit(EditError::Property(error))) => {
                Err(LegacyFailure::Properties(error.to_string()))
            }
            Err(SectionPatchError::Edit(error)) => Err(LegacyFailure::Edit(error)),
        }
    }

    fn refuse_twice(&self, part: &str, operation: PatchOperation) -> Result<(), LegacyFailure> {
        let new = self.content.as_deref().unwrap_or_default().trim();
        let adds = operation != PatchOperation::Replace;
        // Only additions: a replacement that is there already is a harmless repetition.
        match self.reject_if_there && adds && !new.is_empty() && part.contains(new) {
            true => Err(LegacyFailure::Words(THERE)),
            false => Ok(()),
        }
    }
}

const NOT_FOR_TARGET: &str = "content-type-invalid-for-target";
const THERE: &str = "content-already-preexists-in-target";

/// One row of cells, or several.
fn rows(value: &Value) -> Option<Vec<Vec<String>>> {
    let cells = |row: &Value| -> Option<Vec<String>> {
        row.as_array()?.iter().map(|cell| cell.as_str().map(str::to_owned)).collect()
    };
    // A list of lists are rows; a list of texts is one row.
    match value.as_array()?.iter().all(Value::is_array) {
        true => value.as_array()?.iter().map(cells).collect(),
        false => Some(vec![cells(value)?]),
    }
}

/// A text that ends its last line: a heading line has to.
fn ended(content: &str) -> String {
    if content.ends_with('\n') { content.to_owned() } else { format!("{content}\n") }
}
