//! What an edit must preserve: the headings and named blocks around it.

use std::ops::Range;

use crate::{Block, BlockKind, CodeKind, Heading, Note, NoteStructure};

/// A heading, as far as an edit elsewhere must not change it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutlineEntry<'n> {
    pub(super) level: u8,
    pub(super) text: &'n str,
    pub(super) start: usize,
}

impl<'n> From<&'n Heading> for OutlineEntry<'n> {
    fn from(heading: &'n Heading) -> Self {
        Self { level: heading.level, text: &heading.text, start: heading.section.start }
    }
}

pub(super) fn outline<'n>(note: &'n Note<'_>) -> Vec<OutlineEntry<'n>> {
    note.headings.iter().map(OutlineEntry::from).collect()
}

/// The headings outside a span, each with those above it.
pub(super) fn outline_paths<'n>(note: &'n Note<'_>, except: &Range<usize>) -> Vec<(u8, Vec<&'n str>)> {
    let others = note.headings.iter().filter(|heading| !except.contains(&heading.section.start));
    others.map(|heading| (heading.level, note.heading_path(heading))).collect()
}

/// The part of the structure that a change within a line, such as a tag, does not affect: which blocks are named, what
/// they are, how headings are nested, how many items, tasks, code blocks and callouts there are.
pub(super) fn same_frame(before: &Note<'_>, after: &Note<'_>) -> bool {
    frame(before) == frame(after)
}

fn frame<'n>(note: &'n Note<'_>) -> impl PartialEq + use<'n> {
    // A block that loses a line was cut in two.
    let lines = |block: &Block| note.text[block.span.clone()].matches('\n').count();
    let blocks: Vec<(&str, BlockKind, usize)> =
        note.blocks.iter().map(|block| (&*block.id, block.kind, lines(block))).collect();
    let levels: Vec<u8> = note.headings.iter().map(|heading| heading.level).collect();
    let code: usize = note.code.iter().filter(|code| code.kind != CodeKind::Span).count();
    (blocks, levels, note.items.len(), note.tasks.len(), code, note.callouts.len())
}

/// Whether all headings and named blocks before or after the changed span are parsed in the new text too, in the right
/// place.
pub(super) fn keeps_others(before: &Note<'_>, after: &Note<'_>, span: &Range<usize>) -> bool {
    keeps_headings(before, after, span) && keeps_blocks(before, after, span)
}

fn extent(block: &Block) -> (usize, usize) {
    // The name may be on a line below its block.
    (block.span.start.min(block.marker.start), block.span.end.max(block.marker.end))
}

/// Whether a change of the span would cut a named block in two, or come between it and its name: the block would be
/// neither before nor after it.
pub(super) fn cuts_block(before: &Note<'_>, span: &Range<usize>) -> bool {
    before.blocks.iter().any(|block| {
        let (start, end) = extent(block);
        (start < span.start && end > span.start) || (start < span.end && end > span.end)
    })
}

/// Whether all named blocks before and after the changed span are unchanged.
pub(super) fn keeps_blocks(before: &Note<'_>, after: &Note<'_>, span: &Range<usize>) -> bool {
    if cuts_block(before, span) {
        return false;
    }
    let (ahead, following) = (span.start, span.end);
    // The text behind the span has moved by the difference in length.
    let following_after = after.text.len() - (before.text.len() - span.end);
    named(before, |(_, end)| end <= ahead) == named(after, |(_, end)| end <= ahead)
        && named(before, |(start, _)| start >= following) == named(after, |(start, _)| start >= following_after)
}

/// The named blocks in the requested place.
fn named(note: &NoteStructure, stands: impl Fn((usize, usize)) -> bool) -> Vec<(&str, BlockKind)> {
    note.blocks.iter().filter(|block| stands(extent(block))).map(|block| (&*block.id, block.kind)).collect()
}

pub(super) fn keeps_headings(before: &Note<'_>, after: &Note<'_>, span: &Range<usize>) -> bool {
    // Counted from the end, because an edit moves all that follows.
    let behind = |length: usize, start: usize| length - start;
    let (old, new) = (outline(before), outline(after));
    let ahead = old.iter().take_while(|entry| entry.start < span.start);
    let kept_ahead = ahead.clone().count();
    let following = old.iter().rev().take_while(|entry| entry.start >= span.end);
    let kept_behind = following.clone().count();
    new.len() >= kept_ahead + kept_behind
        && ahead.eq(new.iter().take(kept_ahead))
        && following.zip(new.iter().rev()).all(|(a, b)| {
            (a.level, &a.text, behind(before.text.len(), a.start))
                == (b.level, &b.text, behind(after.text.len(), b.start))
        })
}
