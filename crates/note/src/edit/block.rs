//! Replaces the content of a named block.

use std::ops::Range;

use super::{EditError, EditResult, TextChange, lines::whole_lines, outline::keeps_headings};
use crate::{Block, BlockKind, Document, ListItem, Note, NoteStructure, text::plain_line_ends};

mod extend;
mod frame;
mod item;
mod marker;
mod quote;
mod row;
mod table;

use marker::BlockMarker;
pub(super) use table::row_of;

impl Document {
    /// Replaces the content of a block.
    ///
    /// List marker, task box, indentation, quote prefix, heading marks, code fence, comment marks, the outer pipes of a
    /// row and the id stay; the content may come with or without them. A box in the content wins over the old one.
    /// Refused if the result would not be parsed as this one block among the same others.
    pub fn replace_block(&self, block: &Block, content: &str) -> Result<EditResult, EditError> {
        let shown = self.shown();
        let span = own_span(self, block)?;
        let old = &shown[span.clone()];
        let marker = BlockMarker::within(shown, block, &span)?;
        let content = plain_line_ends(content);
        // Without the id: it stays where it is, even if the content repeats it.
        let content = marker::without_id(content.trim_matches('\n').trim_end(), &block.id);
        let new = match block.kind {
            BlockKind::Item => item::replaced(shown, &span, &content, &marker),
            BlockKind::Quote | BlockKind::Callout => quote::replaced(old, &content, &marker),
            BlockKind::Row => row::replaced(old, &content, &marker)?,
            BlockKind::Heading => heading(old, &content, &marker)?,
            BlockKind::Code | BlockKind::Math => frame::fenced(old, &content, &marker),
            BlockKind::Comment => frame::comment(old, &content),
            BlockKind::Footnote => footnote(old, &content, &marker),
            _ => format!("{content}{}{}", marker.tail, marker.rest),
        };
        self.write_block(block, TextChange::new(span, new), &block.id)
    }

    /// Makes the change if the block is found again in its place, and all other blocks too.
    pub(super) fn write_block(&self, block: &Block, change: TextChange, id: &str) -> Result<EditResult, EditError> {
        self.write_block_if(block, change, id, |_, _| true)
    }

    /// The same, if a comparison of the two texts also allows it.
    fn write_block_if(
        &self,
        block: &Block,
        change: TextChange,
        id: &str,
        allows: impl Fn(&Note<'_>, &Note<'_>) -> bool,
    ) -> Result<EditResult, EditError> {
        let lost = || EditError::BlockLost { id: id.to_owned() };
        let changed = change.span.clone();
        // An edit that cannot be made is the same to the caller as a block that is lost.
        let draft = self.draft(vec![change]).map_err(|_| lost())?;
        let (before, after) = (self.note(), draft.note());
        let is_right = allows(&before, &after) && keeps_block(&before, &after, block, &changed, id);
        if is_right { draft.finish() } else { Err(lost()) }
    }
}

/// The block without surrounding blank lines.
fn own_span(document: &Document, block: &Block) -> Result<Range<usize>, EditError> {
    let old = document.shown().get(block.span.clone()).ok_or_else(|| document.outside(block.span.clone()))?;
    // For an item indented by a tab, the parser includes the preceding line ending.
    let lead = old.len() - old.trim_start_matches('\n').len();
    let start = block.span.start + lead;
    Ok(start..start + old[lead..].trim_end().len())
}

/// A callout is a quote with a title, which content may include or omit.
fn alike(a: BlockKind, b: BlockKind) -> bool {
    let quote = |kind| matches!(kind, BlockKind::Quote | BlockKind::Callout);
    a == b || (quote(a) && quote(b))
}

fn heading(old: &str, content: &str, marker: &BlockMarker<'_>) -> Result<String, EditError> {
    if content.contains('\n') {
        return Err(EditError::SeveralLines);
    }
    let marks = |text: &str| {
        let hashes = text.trim_start_matches(' ');
        let words = hashes.trim_start_matches('#');
        let rest = words.trim_start_matches([' ', '\t']);
        let is_heading =
            (1..=6).contains(&(hashes.len() - words.len())) && (rest.len() < words.len() || rest.is_empty());
        if is_heading { text.len() - rest.len() } else { 0 }
    };
    let head = &old[..marks(old)];
    let words = &content[marks(content)..];
    if marker.is_inside() {
        return Ok(format!("{head}{words}{}{}", marker.tail, marker.rest));
    }
    let first = old.find('\n').unwrap_or(old.len());
    let closing = old[..first].trim_end().trim_end_matches('#');
    let closed = !head.is_empty() && closing.len() > head.len() && closing.ends_with([' ', '\t']);
    let rest = if closed { &old[closing.trim_end().len()..] } else { &old[first..] };
    Ok(format!("{head}{words}{rest}"))
}

/// A footnote keeps its label; further lines are indented to belong to it.
fn footnote(old: &str, content: &str, marker: &BlockMarker<'_>) -> String {
    let mut new = old[..footnote_label(old)].to_owned();
    for (index, line) in content[footnote_label(content)..].split('\n').enumerate() {
        if index > 0 {
            new.push('\n');
            let indented = line.is_empty() || line.starts_with("    ") || line.starts_with('\t');
            new += if indented { "" } else { "    " };
        }
        new += line;
    }
    new + marker.tail + marker.rest
}

/// The length of a footnote's label, with the blanks after it.
fn footnote_label(text: &str) -> usize {
    let end = text.strip_prefix("[^").and_then(|rest| rest.find("]:")).map_or(0, |at| at + 4);
    end + text[end..].len() - text[end..].trim_start_matches([' ', '\t']).len()
}

/// Whether a block is found again in its place, under `id`, and all other blocks and headings are unchanged.
fn keeps_block(before: &Note<'_>, after: &Note<'_>, block: &Block, changed: &Range<usize>, id: &str) -> bool {
    let (shown, edited) = (before.text, after.text);
    // An item can contain a list in the middle of its text; replacing around it would lose that list.
    let inside = |item: &ListItem| item.span.start > changed.start && item.span.start < changed.end;
    if block.kind == BlockKind::Item && before.items.iter().any(inside) {
        return false;
    }
    let touched = whole_lines(shown, block.span.start..block.span.end.max(block.marker.end));
    let behind = shown.len() - touched.end;
    let others = |note: &'_ NoteStructure, length: usize| -> Vec<String> {
        let end = length.saturating_sub(behind);
        let other = |block: &&Block| block.span.start < touched.start || block.span.end > end;
        note.blocks.iter().filter(other).map(|block| block.id.clone()).collect()
    };
    let found = after
        .blocks
        .iter()
        .filter(|found| found.id.eq_ignore_ascii_case(id) && alike(found.kind, block.kind))
        .map(|block| whole_lines(edited, trimmed(edited, block.span.clone())));
    let old = trimmed(shown, block.span.clone());
    // A marker below its block is not part of it; one inside moves its end.
    let below = changed.start > old.end;
    let end = if below { old.end } else { (old.end + edited.len()).saturating_sub(shown.len()) };
    let expected = whole_lines(edited, old.start..end.max(old.start));
    let once = found.filter(|found| *found == expected).count() == 1;
    once && others(before, shown.len()) == others(after, edited.len()) && keeps_headings(before, after, &touched)
}

fn trimmed(text: &str, span: Range<usize>) -> Range<usize> {
    let part = text.get(span.clone()).unwrap_or_default();
    let start = span.start + part.len() - part.trim_start().len();
    start..(span.start + part.trim_end().len()).max(start)
}

#[cfg(test)]
pub(in crate::edit) mod tests;
