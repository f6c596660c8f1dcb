use std::ops::Range;

use super::{Change, EditError, Edited, apply, lines::whole_lines, outline::keeps_headings, preview};
use crate::{Block, BlockKind, Note, Text, blocks, text::plain_line_ends};

mod extend;
mod frame;
mod item;
mod marker;
mod quote;
mod row;
mod table;

pub use extend::{append_to_block, prepend_to_block};
pub(super) use item::margin as item_margin;
pub(super) use marker::Marker;
pub use table::{append_rows, prepend_rows, replace_rows};

/// Gives a block another content.
///
/// List marker, task box, indentation, quote prefix, heading marks, code fence, comment marks, the outer pipes of a row
/// and the id stay; the content may come with or without them. A box in the content wins over the old one. What would not be
/// read back as this one block among the same others is refused.
pub fn replace_block(file: &[u8], text: &Text<'_>, block: &Block, content: &str) -> Result<Edited, EditError> {
    let shown = text.shown();
    let span = own_span(shown, block)?;
    let old = &shown[span.clone()];
    let marker = Marker::within(shown, block, &span)?;
    let content = plain_line_ends(content);
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
    write(file, text, block, Change::new(span, new), &block.id)
}

/// The block without blank lines around it.
fn own_span(shown: &str, block: &Block) -> Result<Range<usize>, EditError> {
    let outside = || EditError::OutsideText { span: block.span.clone(), length: shown.len() };
    let old = shown.get(block.span.clone()).ok_or_else(outside)?;
    // The parser lets an item that is indented by a tab begin with the line end before it.
    let lead = old.len() - old.trim_start_matches('\n').len();
    let start = block.span.start + lead;
    Ok(start..start + old[lead..].trim_end().len())
}

/// A callout is a quote with a title, which content may bring along or leave out.
fn alike(a: BlockKind, b: BlockKind) -> bool {
    let quote = |kind| matches!(kind, BlockKind::Quote | BlockKind::Callout);
    a == b || (quote(a) && quote(b))
}

fn heading(old: &str, content: &str, marker: &Marker<'_>) -> Result<String, EditError> {
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

/// A footnote keeps its label; what follows its first line is indented to belong to it.
fn footnote(old: &str, content: &str, marker: &Marker<'_>) -> String {
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

/// How long the label of a footnote is, with the blanks behind it.
fn footnote_label(text: &str) -> usize {
    let end = text.strip_prefix("[^").and_then(|rest| rest.find("]:")).map_or(0, |at| at + 4);
    end + text[end..].len() - text[end..].trim_start_matches([' ', '\t']).len()
}

/// Makes the change if the block is found again, where it was, and all other blocks too.
pub(super) fn write(
    file: &[u8],
    text: &Text<'_>,
    block: &Block,
    change: Change,
    id: &str,
) -> Result<Edited, EditError> {
    let shown = text.shown();
    let lost = || EditError::BlockLost { id: id.to_owned() };
    let edited = preview(shown, std::slice::from_ref(&change)).ok_or_else(lost)?;
    let touched = whole_lines(shown, block.span.start..block.span.end.max(block.marker.end));
    let behind = shown.len() - touched.end;
    let others = |text: &str| -> Vec<String> {
        let end = text.len().saturating_sub(behind);
        let other = |block: &Block| block.span.start < touched.start || block.span.end > end;
        blocks(text).into_iter().filter(other).map(|block| block.id).collect()
    };
    let found: Vec<Range<usize>> = blocks(&edited)
        .into_iter()
        .filter(|found| found.id.eq_ignore_ascii_case(id) && alike(found.kind, block.kind))
        .map(|block| whole_lines(&edited, trimmed(&edited, block.span)))
        .collect();
    let old = trimmed(shown, block.span.clone());
    // A marker that stands below its block is no part of it; one inside moves its end.
    let below = change.span.start > old.end;
    let end = if below { old.end } else { (old.end + edited.len()).saturating_sub(shown.len()) };
    let expected = whole_lines(&edited, old.start..end.max(old.start));
    let once = found.iter().filter(|found| **found == expected).count() == 1;
    // An item can hold a list in the middle of its own text; replacing around it would lose that list.
    let inside = |item: &crate::ListItem| item.span.start > change.span.start && item.span.start < change.span.end;
    let items = Note::parse(shown).items;
    if block.kind == BlockKind::Item && items.iter().any(inside) {
        return Err(lost());
    }
    if once && others(shown) == others(&edited) && keeps_headings(shown, &edited, &touched) {
        apply(file, text, &[change])
    } else {
        Err(lost())
    }
}

fn trimmed(text: &str, span: Range<usize>) -> Range<usize> {
    let part = text.get(span.clone()).unwrap_or_default();
    let start = span.start + part.len() - part.trim_start().len();
    start..(span.start + part.trim_end().len()).max(start)
}

#[cfg(test)]
pub(in crate::edit) mod tests;
