//! A matching line with its surroundings.

use std::{fmt, ops::Range};

use lapidary_query::{LineMatch, lines_after, lines_before};

use super::SearchedText;

/// A matching line, with its text.
#[derive(Clone)]
pub struct ScanHit {
    /// The index of the text.
    pub file: usize,
    /// How many matching lines of the text come before it.
    pub number: usize,
    text: SearchedText,
    pub line: LineMatch,
}

impl ScanHit {
    pub(super) fn new(file: usize, number: usize, text: SearchedText, line: LineMatch) -> Self {
        Self { file, number, text, line }
    }

    /// The whole text, as read. Spans of its lines apply here too.
    pub fn bytes(&self) -> &[u8] {
        self.text.original()
    }

    /// The line without its line ending.
    pub fn content(&self) -> &[u8] {
        &self.text.lines()[self.line.span.clone()]
    }

    /// At most this many lines before it, in order.
    pub fn before(&self, count: usize) -> Vec<&[u8]> {
        self.parts(lines_before(self.text.lines(), self.line.span.start, count))
    }

    /// At most this many lines after it.
    pub fn after(&self, count: usize) -> Vec<&[u8]> {
        self.parts(lines_after(self.text.lines(), self.line.span.end, count))
    }

    fn parts(&self, lines: Vec<Range<usize>>) -> Vec<&[u8]> {
        lines.into_iter().map(|line| &self.text.lines()[line]).collect()
    }
}

impl fmt::Debug for ScanHit {
    /// Without the text, which may be long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hit").field("file", &self.file).field("line", &self.line).finish_non_exhaustive()
    }
}
