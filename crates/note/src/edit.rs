//! Edits: the methods of a [`Document`] that give another one, by what they edit.
//!
//! Places are spans of the shown text ([`Document::shown`]), as in the structure of a note. Everything outside the
//! place keeps its bytes: byte order mark, line endings, final newline.

use std::ops::Range;

use crate::{Document, quoted};

mod block;
mod block_id;
mod draft;
mod heading;
mod instruction;
mod lines;
mod link;
mod merge;
mod missing;
mod outline;
mod place;
mod property;
mod property_tag;
mod range;
mod replace;
mod section;
mod section_patch;
mod tag;
mod tag_places;
mod tag_tree;
mod unified_diff;

pub(crate) use draft::{DocumentDraft, TextChange, preview, shared_ends};
pub use instruction::{
    DestinationPlace, DocumentParts, InstructionError, InstructionOperation, InstructionPayload, InstructionResult,
    InstructionScope, InstructionTarget, PatchInstruction, SectionDestination, relevelled,
};
pub use lines::{LineRange, whole_lines};
pub use link::{LinkForm, LinkRelocation, LinkRetarget, literal_words};
pub use merge::InsertSide;
pub use property::{PropertyEdit, PropertyError, PropertyPath, block_yaml, edit_yaml};
pub use property_tag::TagEdit;
pub use replace::{Occurrence, ReplaceError, ReplaceResult};
pub use section::{BlankLines, MovedPart, MovedText, PartPlace, SectionEdit, SectionPart};
pub use section_patch::{PatchContent, PatchOperation, PatchResult, PatchTarget, SectionPatch, SectionPatchError};
pub use tag::is_tag;
pub use tag_places::TagPlaces;
pub use tag_tree::is_tag_within;
pub use unified_diff::{HunkRange, Patch, PatchError, PatchFailure, PatchMismatch};

/// The result of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditResult {
    pub document: Document,
    /// The span of the new text, in the shown text of the new file.
    pub span: Range<usize>,
}

/// Why an edit was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("bytes {} to {} are outside a text of {length} bytes", span.start, span.end)]
    OutsideText { span: Range<usize>, length: usize },
    #[error("line {line} is not in a text of {lines} lines")]
    OutsideLines { line: usize, lines: usize },
    #[error("the new text would have {bytes} bytes or more; the limit is {limit}")]
    TooLarge { bytes: usize, limit: usize },
    /// A lone carriage return and a line feed would become adjacent and be read as one line ending.
    #[error("two different line endings would be merged into one")]
    MergedLineEnds,
    #[error("the new text must be one line")]
    SeveralLines,
    #[error("{} would not be parsed as the text of this heading, or would change another", quoted(.text))]
    HeadingLost { text: String },
    #[error("the note already has a heading {}", quoted(.path))]
    HeadingTaken { path: String },
    #[error("{} matches several headings", quoted(.path))]
    AmbiguousHeading { path: String },
    #[error("{} would need a heading below the sixth level", quoted(.path))]
    TooDeep { path: String },
    #[error("a heading or a named block outside the section would be lost or changed")]
    HeadingsLost,
    /// Unclosed code, a comment or HTML would swallow the new text.
    #[error("the text above it ends in an unclosed code fence, comment or HTML block")]
    Unclosed,
    #[error("it begins or ends inside a code block, comment or formula, or takes a part of one")]
    CutsBlock,
    #[error("it would be put into a part of itself")]
    IntoItself,
    #[error("properties cannot be moved as text")]
    InProperties,
    #[error("there is no text in it")]
    NothingToMove,
    #[error("the content would not be parsed as the single block {}, or would change another", quoted(.id).after("^"))]
    BlockLost { id: String },
    #[error("{} is not a block id: only letters, digits and `-`", quoted(.id))]
    BadBlockId { id: String },
    #[error("the note already has a block {}", quoted(.id).after("^"))]
    BlockIdTaken { id: String },
    #[error("the block {} is not a table", quoted(.id).after("^"))]
    NotATable { id: String },
    #[error("the table has {expected} columns, the new row {found}")]
    Columns { expected: usize, found: usize },
    #[error("{} is not a tag that Obsidian reads", quoted(.tag))]
    BadTag { tag: String },
    #[error("{} would not be parsed as a tag there, or another tag would change", quoted(.tag).after("#"))]
    TagLost { tag: String },
    #[error("a link cannot express {}", quoted(.target))]
    BadLinkTarget { target: String },
    #[error("a link to {} would not be parsed as one there, or another link would change", quoted(.target))]
    LinkLost { target: String },
    #[error(transparent)]
    Property(#[from] PropertyError),
}

/// Whether new text put at `at` would be on its own line.
pub(crate) fn begins_line(shown: &str, at: usize) -> bool {
    shown[..at].is_empty() || shown[..at].ends_with('\n')
}

#[cfg(test)]
mod neighbours;
#[cfg(test)]
mod parse_counts;
#[cfg(test)]
pub(crate) mod variants;
