use std::ops::Range;

use super::{Change, EditError, Edited, apply};
use crate::Text;

/// Puts `new` in place of a span.
pub fn replace_range(file: &[u8], text: &Text<'_>, span: Range<usize>, new: &str) -> Result<Edited, EditError> {
    apply(file, text, &[Change::new(span, new)])
}

/// Puts new texts in place of several spans, which are in order and do not overlap.
pub fn replace_ranges(
    file: &[u8],
    text: &Text<'_>,
    changes: impl IntoIterator<Item = (Range<usize>, String)>,
) -> Result<Edited, EditError> {
    let changes: Vec<Change> = changes.into_iter().map(|(span, new)| Change::new(span, new)).collect();
    apply(file, text, &changes)
}

pub fn insert_at(file: &[u8], text: &Text<'_>, at: usize, new: &str) -> Result<Edited, EditError> {
    replace_range(file, text, at..at, new)
}

pub fn delete_range(file: &[u8], text: &Text<'_>, span: Range<usize>) -> Result<Edited, EditError> {
    replace_range(file, text, span, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::variants::check;

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
            check(before, after, |file, text| replace_range(file, text, span.clone(), new));
        }
        check("abc\n", "aXbc\n", |file, text| insert_at(file, text, 1, "X"));
        check("abc\n", "ac\n", |file, text| delete_range(file, text, 1..2));
    }

    #[test]
    fn the_answer_says_where_the_new_text_stands() {
        let file = "\u{feff}a\r\nb\r\n".as_bytes();
        let text = Text::decode(file).unwrap();
        assert_eq!(replace_range(file, &text, 2..3, "x\ny").unwrap().span, 2..5);
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "a caller may send one")]
    fn a_place_that_is_no_place_is_refused() {
        let file = "aé石\n".as_bytes();
        let text = Text::decode(file).unwrap();
        for span in [0..2, 2..3, 9..9, 0..99, 3..1, usize::MAX..usize::MAX] {
            assert!(matches!(delete_range(file, &text, span), Err(EditError::OutsideText { .. })));
        }
    }

    #[test]
    fn two_line_ends_never_become_one_in_silence() {
        let file = b"a\rb\nc\n";
        let text = Text::decode(file).unwrap();
        assert_eq!(delete_range(file, &text, 2..3), Err(EditError::MergedLineEnds));
        let file = b"abc";
        let text = Text::decode(file).unwrap();
        assert_eq!(insert_at(file, &text, 0, "\u{feff}"), Err(EditError::MergedLineEnds));
    }
}
