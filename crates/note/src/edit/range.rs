//! Replaces spans of the text.

use std::ops::Range;

use super::{EditError, EditResult, TextChange};
use crate::Document;

impl Document {
    /// Replaces a span with `new`.
    pub fn replace_range(&self, span: Range<usize>, new: &str) -> Result<EditResult, EditError> {
        self.apply(vec![TextChange::new(span, new)])
    }

    /// Replaces several spans, which are in order and do not overlap.
    pub fn replace_ranges(
        &self,
        changes: impl IntoIterator<Item = (Range<usize>, String)>,
    ) -> Result<EditResult, EditError> {
        self.apply(changes.into_iter().map(|(span, new)| TextChange::new(span, new)).collect())
    }

    pub fn insert_at(&self, at: usize, new: &str) -> Result<EditResult, EditError> {
        self.replace_range(at..at, new)
    }
}

#[cfg(test)]
mod tests {
    use super::EditError;
    use crate::{Document, edit::variants::check};

    #[test]
    fn a_span_is_replaced_and_nothing_else() {
        for (before, span, new, after) in [
            ("abc\n", 1..2, "x", "axc\n"),
            ("a\nb\nc\n", 2..4, "x\ny\n", "a\nx\ny\nc\n"),
            ("a\nb\n", 0..0, "x\n", "x\na\nb\n"),
            ("a\nb", 3..3, "\nc", "a\nb\nc"),
            ("a\nb\n", 1..2, "", "ab\n"),
            ("größe 石\n", 2..4, "oe", "groeße 石\n"),
        ] {
            check(before, after, |document| document.replace_range(span.clone(), new));
        }
        check("abc\n", "aXbc\n", |document| document.insert_at(1, "X"));
        check("abc\n", "ac\n", |document| document.replace_range(1..2, ""));
    }

    #[test]
    fn the_result_has_the_span_of_the_new_text() {
        let document = Document::open("\u{feff}a\r\nb\r\n".to_owned()).unwrap();
        assert_eq!(document.replace_range(2..3, "x\ny").unwrap().span, 2..5);
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "a caller may send one")]
    fn an_invalid_span_is_refused() {
        let document = Document::open("aé石\n".to_owned()).unwrap();
        for span in [0..2, 2..3, 9..9, 0..99, 3..1, usize::MAX..usize::MAX] {
            assert!(matches!(document.replace_range(span, ""), Err(EditError::OutsideText { .. })));
        }
    }

    #[test]
    fn two_line_endings_are_never_merged_silently() {
        let document = Document::open("a\rb\nc\n".to_owned()).unwrap();
        assert_eq!(document.replace_range(2..3, ""), Err(EditError::MergedLineEnds));
        let document = Document::open("abc".to_owned()).unwrap();
        assert_eq!(document.insert_at(0, "\u{feff}"), Err(EditError::MergedLineEnds));
    }
}
