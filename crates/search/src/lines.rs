//! How the words of a text are distributed over its lines, blocks and sections, so that it need not be split again to
//! tell which words are in one of them.

use std::{iter::Peekable, ops::Range, vec::IntoIter};

use super::{
    blocks::{put_varint, varint},
    build::GAP,
    piece::block_starts,
};

/// A line starts a block or a section if one starts with it or since the previous line with words.
const BEGINS_BLOCK: u32 = 1;
const BEGINS_SECTION: u32 = 2;

/// The unit within which words are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineUnit {
    Line,
    Block,
    Section,
}

/// Goes through a text word by word.
pub(super) struct LineWriter<'t> {
    text: &'t str,
    seen: usize,
    line: usize,
    blocks: Peekable<IntoIter<usize>>,
    headings: Peekable<IntoIter<usize>>,
    heading: Option<usize>,
    /// Words of the line so far, and how it begins.
    words: u32,
    begins: u32,
    written: Vec<u8>,
}

impl<'t> LineWriter<'t> {
    /// With the lines of its headings.
    pub(super) fn new(text: &'t str, headings: Vec<usize>) -> Self {
        // Found at once, as a fence of code may be far above the line.
        let blocks = block_starts(text, &headings).into_iter().peekable();
        let headings = headings.into_iter().peekable();
        Self { text, seen: 0, line: 1, blocks, headings, heading: None, words: 0, begins: 0, written: Vec::new() }
    }

    /// A word is here. Returns whether that is in a heading.
    pub(super) fn word(&mut self, start: usize) -> bool {
        let between = self.text.as_bytes().get(self.seen..start).unwrap_or_default();
        self.seen = start;
        let lines = memchr::memchr_iter(b'\n', between).count();
        self.line += lines;
        let mut begins = 0;
        // A block may begin on an empty line, which has no word to mark it at.
        while self.blocks.next_if(|block| *block <= self.line).is_some() {
            begins |= BEGINS_BLOCK;
        }
        while let Some(heading) = self.headings.next_if(|heading| *heading <= self.line) {
            self.heading = Some(heading);
            begins |= BEGINS_SECTION;
        }
        // A flag belongs to the line that is about to begin, so the one before is ended first.
        if lines > 0 {
            self.end_line();
            self.begins = begins;
        }
        self.words += 1;
        self.heading == Some(self.line)
    }

    fn end_line(&mut self) {
        if self.words > 0 {
            // Both flags fit below the count, which is small for most lines.
            put_varint(&mut self.written, self.words << 2 | self.begins);
            self.words = 0;
        }
    }

    /// What [`lines`] reads.
    pub(super) fn finish(mut self, properties: u32) -> Vec<u8> {
        self.end_line();
        let mut written = Vec::with_capacity(self.written.len() + 1);
        put_varint(&mut written, properties);
        written.append(&mut self.written);
        written
    }
}

/// The positions of the words in each non-empty line, block or section.
pub(super) struct UnitPositions<'s> {
    bytes: &'s [u8],
    unit: LineUnit,
    /// Words among the properties that are still to come, after which the text starts.
    properties: u32,
    text_from: u32,
    position: u32,
}

impl<'s> UnitPositions<'s> {
    pub(super) fn new(mut bytes: &'s [u8], text_from: u32, unit: LineUnit) -> Self {
        let properties = varint(&mut bytes).unwrap_or_default();
        // The properties come right before the gap in front of the text.
        let position = if properties == 0 { text_from } else { text_from.saturating_sub(GAP + properties) };
        Self { bytes, unit, properties, text_from, position }
    }

    /// The next line, and how it starts.
    fn line(&mut self) -> Option<(u32, Range<u32>)> {
        let line = varint(&mut self.bytes)?;
        let words = line >> 2;
        let start = self.position;
        let end = start.saturating_add(words);
        self.position = end;
        // The text follows after a gap, not right behind the properties.
        if self.properties > 0 {
            self.properties = self.properties.saturating_sub(words);
            self.position = if self.properties == 0 { self.text_from } else { end };
        }
        Some((line & (BEGINS_BLOCK | BEGINS_SECTION), start..end))
    }

    /// Whether the next line belongs to another unit.
    fn ends(&self) -> bool {
        // The flags are in the lowest bits of the first byte, also of a longer number.
        let begins = self.bytes.first().map_or(0, |line| u32::from(*line));
        match self.unit {
            LineUnit::Line => true,
            LineUnit::Block => begins & BEGINS_BLOCK != 0,
            LineUnit::Section => begins & BEGINS_SECTION != 0,
        }
    }
}

impl Iterator for UnitPositions<'_> {
    type Item = Range<u32>;

    fn next(&mut self) -> Option<Range<u32>> {
        let (_, mut unit) = self.line()?;
        while !self.ends() {
            let Some((_, more)) = self.line() else { break };
            unit.end = more.end;
        }
        Some(unit)
    }
}
