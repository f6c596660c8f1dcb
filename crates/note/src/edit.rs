//! Edits: functions from a file and a place in it to the new bytes of that file.
//!
//! Places are spans of the shown text ([`Text::shown`]), as the structure of a note gives them. Whatever stands
//! outside the place keeps its bytes: byte order mark, line ends, final newline.

use std::ops::Range;

use crate::{Splice, Text, replace::shared_ends, splice, text::plain_line_ends};

mod block;
mod block_id;
mod heading;
mod lines;
mod link;
mod merge;
mod missing;
mod outline;
mod patch;
mod place;
mod property;
mod property_tag;
mod range;
mod section;
mod tag;
mod tag_places;
mod tag_tree;

pub use block::{append_rows, append_to_block, prepend_rows, prepend_to_block, replace_block, replace_rows};
pub use block_id::{remove_block_id, rename_block_id, set_block_id};
pub use heading::rename_heading;
pub use lines::{Lines, delete_lines, insert_lines, replace_lines, whole_lines};
pub use link::{
    LinkForm, Relocate, Retarget, relocate_links, relocate_property_link, retarget_links, retarget_property_link,
};
pub use merge::Side;
pub use missing::{append_block, append_heading};
pub use patch::{Operation, PatchContent, PatchTarget, Patched, SectionPatch, SectionPatchError, patch_section};
pub use property::{PropertyEdit, PropertyError, PropertyPath, edit_properties, edit_property};
pub use property_tag::{TagEdit, edit_property_tag};
pub use range::{delete_range, insert_at, replace_range, replace_ranges};
pub use section::{Blanks, Section, SectionPart, append_to_section, prepend_to_section, replace_body, replace_section};
pub use tag::{append_tags, insert_tag, is_tag, remove_tags, rename_tags};
pub use tag_places::{TagPlaces, edit_tag};
pub use tag_tree::{is_tag_within, rename_tag_tree};

/// What an edit leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub file: Vec<u8>,
    /// Where the new text stands, in the shown text of the new file.
    pub span: Range<usize>,
}

/// Why an edit was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("bytes {} to {} are no part of a text of {length} bytes", span.start, span.end)]
    OutsideText { span: Range<usize>, length: usize },
    #[error("line {line} is not in a text of {lines} lines")]
    OutsideLines { line: usize, lines: usize },
    /// A lone carriage return and a line feed would come to stand side by side and be read as one line end.
    #[error("two line ends of different kinds would become one")]
    MergedLineEnds,
    #[error("the new text must be one line")]
    SeveralLines,
    #[error("`{text}` would not be read as the text of this heading, or would change another")]
    HeadingLost { text: String },
    #[error("the note already has a heading `{path}`")]
    HeadingTaken { path: String },
    #[error("several headings are meant by `{path}`")]
    AmbiguousHeading { path: String },
    #[error("`{path}` would need a heading below the sixth level")]
    TooDeep { path: String },
    #[error("a heading or a named block outside the section would be lost or changed")]
    HeadingsLost,
    /// Code, a comment or HTML without an end would take the new text in.
    #[error("what stands before it is not closed and would take the text in")]
    Unclosed,
    #[error("the content would not be read as the one block `^{id}`, or would change another")]
    BlockLost { id: String },
    #[error("`{id}` is not a block id: only letters, digits and `-`")]
    BadBlockId { id: String },
    #[error("no block that could have an id stands at byte {at}")]
    NoBlock { at: usize },
    #[error("the note already has a block `^{id}`")]
    BlockIdTaken { id: String },
    #[error("the block `^{id}` is not a table")]
    NotATable { id: String },
    #[error("the table has {expected} columns, the new row {found}")]
    Columns { expected: usize, found: usize },
    #[error("`{tag}` is not a tag that Obsidian reads")]
    BadTag { tag: String },
    #[error("`#{tag}` would not be read as a tag there, or another tag would change")]
    TagLost { tag: String },
    #[error("`{target}` cannot stand in a link")]
    BadLinkTarget { target: String },
    #[error("a link to `{target}` would not be read as one there, or another link would change")]
    LinkLost { target: String },
    #[error(transparent)]
    Property(#[from] PropertyError),
}

/// New text for a span of the shown text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) span: Range<usize>,
    pub(crate) text: String,
}

impl Change {
    pub(crate) fn new(span: Range<usize>, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }
}

/// The file with every change made. Changes are in order and do not overlap.
pub(crate) fn apply(file: &[u8], text: &Text<'_>, changes: &[Change]) -> Result<Edited, EditError> {
    let shown = text.shown();
    let mut expected = String::with_capacity(shown.len());
    let mut splices = Vec::with_capacity(changes.len());
    let mut span: Option<Range<usize>> = None;
    let mut copied = 0;
    for change in changes {
        let outside = || EditError::OutsideText { span: change.span.clone(), length: shown.len() };
        expected += shown.get(copied..change.span.start).ok_or_else(outside)?;
        let old = shown.get(change.span.clone()).ok_or_else(outside)?;
        let new = plain_line_ends(&change.text);
        let start = expected.len();
        expected += &new;
        span = Some(span.map_or(start, |span| span.start)..expected.len());
        copied = change.span.end;
        // What both texts share stays untouched, so that a line end which nobody meant to change keeps its form.
        let (prefix, suffix) = shared_ends(old, &new);
        let part = change.span.start + prefix..change.span.end - suffix;
        let written = text.with_line_ends_of(part.clone(), &new[prefix..new.len() - suffix]);
        splices.push(Splice { span: text.file_span(part), text: written });
    }
    expected += &shown[copied..];
    if text.file_span(0..shown.len()).end != file.len() {
        return Err(EditError::OutsideText { span: 0..file.len(), length: shown.len() });
    }
    let file = splice(file, &splices);
    match Text::decode(&file) {
        Ok(edited) if edited.shown() == expected => {}
        _ => return Err(EditError::MergedLineEnds),
    }
    Ok(Edited { file, span: span.unwrap_or(0..0) })
}

/// The shown text with every change made, to look at before it is decided.
pub(crate) fn preview(shown: &str, changes: &[Change]) -> Option<String> {
    let mut edited = String::with_capacity(shown.len());
    let mut copied = 0;
    for change in changes {
        edited += shown.get(copied..change.span.start)?;
        edited += &plain_line_ends(&change.text);
        copied = change.span.end;
    }
    edited += shown.get(copied..)?;
    Some(edited)
}

/// Whether new text put at `at` would stand on a line of its own.
pub(crate) fn begins_line(shown: &str, at: usize) -> bool {
    shown[..at].is_empty() || shown[..at].ends_with('\n')
}

#[cfg(test)]
mod neighbours;
#[cfg(test)]
pub(crate) mod variants;
