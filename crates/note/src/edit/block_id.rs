//! The names of blocks: given, changed and taken away.

use super::{
    Change, EditError, Edited, apply,
    block::{self, Marker},
    outline::frame_without,
    place::{Standing, block_at},
    preview,
};
use crate::{
    Block, BlockKind, Note, Text,
    blocks::is_block_id,
    span::{is_blank_line, line_end, line_start},
};

/// Names the block that stands at a place, or gives it another name if it has one.
///
/// The marker ends a paragraph or a list item; below anything else it gets a line of its own. A heading is named that
/// way too: behind its words the marker would become a part of them, and no link to the heading would lead there.
pub fn set_block_id(file: &[u8], text: &Text<'_>, at: usize, id: &str) -> Result<Edited, EditError> {
    let shown = text.shown();
    let id = valid(id)?;
    let note = Note::parse(shown);
    let standing = block_at(&note, at).ok_or(EditError::NoBlock { at })?;
    let same = |block: &&Block| block.kind == standing.kind && block.span.start == standing.span.start;
    if let Some(block) = note.blocks.iter().rfind(same) {
        return rename_block_id(file, text, block, id);
    }
    free(&note, id)?;
    let lost = || EditError::BlockLost { id: id.to_owned() };
    let is_named = |change: &Change| {
        let Some(edited) = preview(shown, std::slice::from_ref(change)) else { return false };
        let after = Note::parse(&edited);
        let mut found = after.blocks.iter().filter(|block| block.id == id);
        let named = found.next().is_some_and(|block| {
            (block.kind, block.span.start) == (standing.kind, standing.span.start)
                && block.span.end >= standing.span.end
        });
        named && found.next().is_none() && frame_without(shown, "") == frame_without(&edited, id)
    };
    let change = markers(&note, &standing, id).into_iter().find(is_named).ok_or_else(lost)?;
    apply(file, text, &[change])
}

/// Gives a block another id. Only the id changes.
pub fn rename_block_id(file: &[u8], text: &Text<'_>, block: &Block, new_id: &str) -> Result<Edited, EditError> {
    let new_id = valid(new_id)?;
    if !block.id.eq_ignore_ascii_case(new_id) {
        free(&Note::parse(text.shown()), new_id)?;
    }
    block::write(file, text, block, Change::new(block.marker.clone(), format!("^{new_id}")), new_id)
}

/// Takes the id from a block. The block stays, with the blank line behind it.
pub fn remove_block_id(file: &[u8], text: &Text<'_>, block: &Block) -> Result<Edited, EditError> {
    let shown = text.shown();
    let lost = || EditError::BlockLost { id: block.id.clone() };
    let marker = Marker::within(shown, block, &block.span)?;
    let start = if marker.is_inside() {
        block.marker.end - marker.tail.len()
    } else {
        let mut start = line_start(shown, block.marker.start);
        while start > 0 && is_blank_line(shown, line_start(shown, start - 1)) {
            start = line_start(shown, start - 1);
        }
        start.saturating_sub(1)
    };
    // Where the blank before it is all that a list marker has, it stays.
    let spans = [start..block.marker.end, block.marker.clone()];
    let is_kept = |change: &Change| {
        let edited = preview(shown, std::slice::from_ref(change));
        edited.is_some_and(|edited| frame_without(shown, &block.id) == frame_without(&edited, ""))
    };
    let change = spans.into_iter().map(|span| Change::new(span, "")).find(is_kept).ok_or_else(lost)?;
    apply(file, text, &[change])
}

pub(super) fn valid(id: &str) -> Result<&str, EditError> {
    let id = id.strip_prefix('^').unwrap_or(id);
    if is_block_id(id) { Ok(id) } else { Err(EditError::BadBlockId { id: id.to_owned() }) }
}

pub(super) fn free(note: &Note<'_>, id: &str) -> Result<(), EditError> {
    let taken = note.blocks.iter().any(|block| block.id.eq_ignore_ascii_case(id));
    if taken { Err(EditError::BlockIdTaken { id: id.to_owned() }) } else { Ok(()) }
}

/// Where the last line ends that says something. An item in a quote takes the empty lines of the quote along.
fn text_end(shown: &str, block: &Standing) -> usize {
    let own = &shown[block.span.clone()];
    let says_nothing = |line: &str| line.trim_matches([' ', '\t', '>']).is_empty();
    let empty: usize = match block.kind {
        // Each with the line end before it; the first line holds the marker of the list.
        BlockKind::Item => own.rsplit('\n').take_while(|line| says_nothing(line)).map(|line| line.len() + 1).sum(),
        _ => 0,
    };
    let end = if empty < own.len() { block.span.end - empty } else { block.span.end };
    line_end(shown, end)
}

/// The ways to write a marker for a block, the usual one first.
fn markers(note: &Note<'_>, block: &Standing, id: &str) -> Vec<Change> {
    let shown = note.text;
    let end = text_end(shown, block);
    let blank = if shown[..end].ends_with([' ', '\t']) { "" } else { " " };
    let behind = Change::new(end..end, format!("{blank}^{id}"));
    let follows = end < shown.len() && !is_blank_line(shown, end + 1);
    let below = Change::new(end..end, format!("\n\n^{id}{}", if follows { "\n" } else { "" }));
    match block.kind {
        // An item may end in a block that takes no marker.
        BlockKind::Item => {
            let margin = block::item_margin(shown, &block.span);
            vec![behind, Change::new(end..end, format!("\n{margin}^{id}"))]
        }
        BlockKind::Paragraph | BlockKind::Footnote => vec![behind, below],
        _ => vec![below],
    }
}

#[cfg(test)]
mod tests;
