//! Literal patterns.

use std::ops::Range;

use memchr::memmem::Finder;

use super::word::is_whole_word;

/// A text that is searched byte by byte. It contains no line feed, so a match never leaves its line.
pub(super) struct LiteralText {
    finder: Finder<'static>,
    whole_word: bool,
}

impl LiteralText {
    pub(super) fn new(text: &str, whole_word: bool) -> Self {
        Self { finder: Finder::new(text).into_owned(), whole_word }
    }

    pub(super) fn sees_cr(&self) -> bool {
        memchr::memchr(b'\r', self.finder.needle()).is_some()
    }

    /// The first match in a part of the text.
    pub(super) fn find(&self, text: &[u8], part: Range<usize>) -> Option<Range<usize>> {
        let mut at = part.start;
        loop {
            let start = at + self.finder.find(text.get(at..part.end)?)?;
            let span = start..start + self.finder.needle().len();
            if !self.whole_word || is_whole_word(text, span.clone()) {
                return Some(span);
            }
            // Overlapping occurrences count: the next one may be a whole word.
            at = start + 1;
        }
    }
}
