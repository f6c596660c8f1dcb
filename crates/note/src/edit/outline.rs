//! What an edit must leave standing: the headings and the named blocks around it.

use std::ops::Range;

use crate::{Block, BlockKind, CodeKind, Heading, Note, headings};

/// A heading as far as an edit elsewhere must not change it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) level: u8,
    pub(super) text: String,
    pub(super) start: usize,
}

impl From<Heading> for Entry {
    fn from(heading: Heading) -> Self {
        Self { level: heading.level, text: heading.text, start: heading.section.start }
    }
}

pub(super) fn outline(shown: &str) -> Vec<Entry> {
    headings(shown).into_iter().map(Entry::from).collect()
}

/// The headings that stand outside of a span, each with those above it.
pub(super) fn outline_paths<'n>(note: &'n Note<'_>, except: &Range<usize>) -> Vec<(u8, Vec<&'n str>)> {
    let others = note.headings.iter().filter(|heading| !except.contains(&heading.section.start));
    others.map(|heading| (heading.level, note.heading_path(heading))).collect()
}

/// The structure that a change within a line, like that of a tag, leaves alone: which blocks are named, what they are,
/// how headings are nested, how many items, tasks, code blocks and callouts there are.
pub(super) fn frame(shown: &str) -> impl PartialEq + use<> {
    frame_without(shown, "")
}

/// The same for a change that names a block or takes its name away: all but that block.
pub(super) fn frame_without(shown: &str, id: &str) -> impl PartialEq + use<> {
    let note = Note::parse(shown);
    // A block that loses a line has been cut in two.
    let lines = |block: &Block| shown[block.span.clone()].matches('\n').count();
    let blocks: Vec<(String, BlockKind, usize)> = note
        .blocks
        .iter()
        .filter(|block| block.id != id)
        .map(|block| (block.id.clone(), block.kind, lines(block)))
        .collect();
    let levels: Vec<u8> = note.headings.iter().map(|heading| heading.level).collect();
    let code: usize = note.code.iter().filter(|code| code.kind != CodeKind::Span).count();
    (blocks, levels, note.items.len(), note.tasks.len(), code, note.callouts.len())
}

/// Whether all headings and named blocks that stand before or behind the changed span are read in the new text too,
/// and where they should.
pub(super) fn keeps_others(before: &str, after: &str, span: &Range<usize>) -> bool {
    keeps_headings(before, after, span) && keeps_blocks(before, after, span)
}

/// Whether all named blocks before and behind the changed span are read as before.
pub(super) fn keeps_blocks(before: &str, after: &str, span: &Range<usize>) -> bool {
    let extent = |block: &Block| (block.span.start.min(block.marker.start), block.span.end.max(block.marker.end));
    // What is put into the middle of a block, or between it and its name, leaves it neither before nor behind.
    let is_cut = |block: &Block| {
        let (start, end) = extent(block);
        (start < span.start && end > span.start) || (start < span.end && end > span.end)
    };
    if Note::parse(before).blocks.iter().any(is_cut) {
        return false;
    }
    let named = |text: &str, within: &dyn Fn(usize, usize) -> bool| -> Vec<(String, BlockKind)> {
        let blocks = Note::parse(text).blocks;
        let stands = |block: &Block| {
            let (start, end) = extent(block);
            within(start, end)
        };
        blocks.into_iter().filter(stands).map(|block| (block.id, block.kind)).collect()
    };
    let behind = before.len() - span.end;
    let ahead = |_: usize, end: usize| end <= span.start;
    let following_before = |start: usize, _: usize| start >= span.end;
    let following_after = |start: usize, _: usize| start >= after.len() - behind;
    named(before, &ahead) == named(after, &ahead) && named(before, &following_before) == named(after, &following_after)
}

pub(super) fn keeps_headings(before: &str, after: &str, span: &Range<usize>) -> bool {
    let behind = |length: usize, start: usize| length - start;
    let (old, new) = (outline(before), outline(after));
    let ahead = old.iter().take_while(|entry| entry.start < span.start);
    let kept_ahead = ahead.clone().count();
    let following = old.iter().rev().take_while(|entry| entry.start >= span.end);
    let kept_behind = following.clone().count();
    new.len() >= kept_ahead + kept_behind
        && ahead.eq(new.iter().take(kept_ahead))
        && following.zip(new.iter().rev()).all(|(a, b)| {
            (a.level, &a.text, behind(before.len(), a.start)) == (b.level, &b.text, behind(after.len(), b.start))
        })
}
