//! Instructions in the form of markdown-patch 2.0: an operation on a scope of a heading, a block or a property.
//!
//! The new text goes exactly where the instruction says. Heading marks in it are relative to the section, and the blank
//! lines around it are ours, whatever the caller sent at its ends.

use std::ops::Range;

use super::{EditError, PropertyPath, TextChange};
use crate::{Document, YamlValue};

mod block_part;
mod create_part;
mod document_parts;
mod heading_part;
mod levels;
mod property_part;

pub use document_parts::DocumentParts;
pub use levels::relevelled;

/// One instruction, valid in its form.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchInstruction {
    pub target: InstructionTarget,
    pub operation: InstructionOperation,
    pub scope: InstructionScope,
    pub payload: InstructionPayload,
    /// One block of the section's own text, counted from the start, or from the end if negative.
    pub within: Option<i64>,
    /// Create the part if it is missing.
    pub create: bool,
    /// Do not add text that is already there.
    pub once: bool,
}

/// The addressed part: keys as a map of the document lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstructionTarget {
    /// From the outermost heading down; empty means the whole document.
    Heading(Vec<String>),
    Block(String),
    Property(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionOperation {
    Replace,
    Prepend,
    Append,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionScope {
    /// What is under a heading, the text of a block, the value of a property.
    Content,
    /// The heading line, the id, the name.
    Marker,
    MarkerAndContent,
    /// The place of a section in the document.
    Parent,
}

#[derive(Clone, Debug, PartialEq)]
pub enum InstructionPayload {
    Nothing,
    Text(String),
    Value(YamlValue),
    Rows(Vec<Vec<String>>),
    Destination(SectionDestination),
}

/// Where a section is moved to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionDestination {
    /// Empty means the document itself.
    pub parent: Vec<String>,
    pub place: DestinationPlace,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DestinationPlace {
    First,
    Last,
    Before(Vec<String>),
    After(Vec<String>),
}

/// The document after an instruction, and what its author should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionResult {
    pub document: Document,
    /// Headings that got too deep to be headings, each with its level.
    pub too_deep: Vec<(String, usize)>,
}

/// Why an instruction was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstructionError {
    #[error("there is no such part")]
    TargetMissing,
    #[error("the section has no block at this index: it has {blocks}")]
    BlockMissing { blocks: usize },
    #[error("the place is not below the new parent")]
    PlaceMissing,
    #[error("the target already contains the content")]
    Preexists,
    #[error("there is already a property of this name")]
    NameTaken,
    #[error("the two values cannot be merged: they must be two lists, two maps or two texts")]
    NotMergeable,
    #[error("{0}")]
    Impossible(&'static str),
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// Changes of the shown text, and headings that got too deep.
struct DocumentEdit {
    changes: Vec<TextChange>,
    too_deep: Vec<(String, usize)>,
}

impl DocumentEdit {
    fn one(span: Range<usize>, text: impl Into<String>) -> Self {
        Self { changes: vec![TextChange::new(span, text)], too_deep: Vec::new() }
    }
}

impl Document {
    /// Carries out one instruction.
    pub fn instructed(&self, instruction: &PatchInstruction) -> Result<InstructionResult, InstructionError> {
        // Properties are edited as YAML and have no place in the structure of the text.
        if let InstructionTarget::Property(name) = &instruction.target {
            let document = property_part::edited(self, &PropertyPath::name(name), instruction)?;
            return Ok(InstructionResult { document, too_deep: Vec::new() });
        }
        let note = self.note();
        let parts = DocumentParts::of(&note);
        let edit = match &instruction.target {
            InstructionTarget::Heading(path) => match parts.section(path) {
                Some(section) => heading_part::edit(&parts, &section, instruction)?,
                None if instruction.create => create_part::heading(&parts, path, instruction)?,
                None => return Err(InstructionError::TargetMissing),
            },
            InstructionTarget::Block(key) => match parts.block(key) {
                Some(block) => block_part::edit(&parts, block, instruction)?,
                None if instruction.create => create_part::block(&parts, key, instruction)?,
                None => return Err(InstructionError::TargetMissing),
            },
            // Handled above; the match does not know that.
            InstructionTarget::Property(_) => return Err(InstructionError::TargetMissing),
        };
        let DocumentEdit { mut changes, too_deep } = edit;
        // Parts are edited in any order, but a text is changed from its start to its end.
        changes.sort_by_key(|change| (change.span.start, change.span.end));
        drop(parts);
        Ok(InstructionResult { document: self.apply(changes)?.document, too_deep })
    }
}

#[cfg(test)]
mod tests;
