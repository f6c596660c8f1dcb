//! Part of a long text, cut where a reader would cut it.

use lapidary_operation::Reason;

use crate::cursor::PageCursor;

/// A part of a text that fits a number of bytes, and where the next begins.
#[derive(Debug, PartialEq)]
pub struct PagePart<'t> {
    pub text: &'t str,
    pub next: Option<String>,
}

/// The longest part that a caller can ask for.
pub const LONGEST: usize = 100_000;

impl<'t> PagePart<'t> {
    /// The part at a cursor of an earlier answer, or the first.
    pub fn of(text: &'t str, cursor: Option<&str>, most: usize) -> Result<Self, Reason> {
        let start = match cursor {
            Some(cursor) => PageCursor::parse_up_to(Some(cursor), LONGEST)?.offset.min(text.len()),
            None => 0,
        };
        // The page may be another one by now.
        let rest = &text[text.ceil_char_boundary(start)..];
        let start = text.len() - rest.len();
        if rest.len() <= most {
            return Ok(Self { text: rest, next: None });
        }
        // At least one character, so that reading comes to an end.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let fitting = &rest[..rest.floor_char_boundary(most).max(first)];
        // After a paragraph if that does not waste half of the room, else after a line or a word.
        let after = |mark: &str| fitting.rfind(mark).map(|at| at + mark.len()).filter(|at| *at > fitting.len() / 2);
        let end = after("\n\n").or_else(|| after("\n")).or_else(|| after(" ")).unwrap_or(fitting.len());
        let next = PageCursor { offset: start + end, limit: most }.written();
        Ok(Self { text: &fitting[..end], next: Some(next) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(text: &str, most: usize) -> Vec<&str> {
        let (mut parts, mut cursor) = (Vec::new(), None);
        loop {
            let part = PagePart::of(text, cursor.as_deref(), most).unwrap();
            parts.push(part.text);
            cursor = part.next;
            if cursor.is_none() {
                return parts;
            }
        }
    }

    #[test]
    fn a_long_text_is_cut_after_paragraphs_lines_and_words() {
        assert_eq!(parts("one\n\ntwo\n\nthree", 12), ["one\n\ntwo\n\n", "three"]);
        assert_eq!(parts("one two\nthree four", 12), ["one two\n", "three four"]);
        assert_eq!(parts("one two three", 9), ["one two ", "three"]);
        assert_eq!(parts("", 9), [""]);
        assert!(PagePart::of("x", Some("!!"), 9).is_err());
    }

    proptest! {
        #[test]
        fn the_parts_are_the_text(text in "[a\u{e9}\u{1f600} \n]{0,80}", most in 1_usize..30) {
            prop_assert_eq!(parts(&text, most).concat(), text);
        }
    }
}
