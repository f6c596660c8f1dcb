//! Word boundaries.

use std::ops::Range;

/// Whether a part has no letter, digit or underscore directly before or after it. Next to invalid UTF-8 nothing is a
/// whole word, since its meaning is unknown.
pub(super) fn is_whole_word(text: &[u8], part: Range<usize>) -> bool {
    let before = part.start == 0 || last_char(&text[..part.start]).is_some_and(|c| !is_word(c));
    before && (part.end == text.len() || first_char(&text[part.end..]).is_some_and(|c| !is_word(c)))
}

fn is_word(c: char) -> bool {
    // The tables are compiled in, so there is no error; without them only ASCII would be covered.
    regex_syntax::try_is_word_character(c).unwrap_or(c.is_ascii_alphanumeric() || c == '_')
}

fn first_char(text: &[u8]) -> Option<char> {
    // No character has more than four bytes.
    text[..text.len().min(4)].utf8_chunks().next()?.valid().chars().next()
}

fn last_char(text: &[u8]) -> Option<char> {
    let mut start = text.len().checked_sub(1)?;
    while start > 0 && text.len() - start < 4 && super::engine::splits_character(text, start) {
        start -= 1;
    }
    str::from_utf8(&text[start..]).ok()?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_word_has_no_letters_of_any_script_at_its_sides() {
        for (text, whole) in [
            (&b"ab"[..], true),
            (b" ab ", true),
            (b"-ab.", true),
            (b"xab", false),
            (b"ab_", false),
            (b"ab1", false),
            ("éab".as_bytes(), false),
            ("ab石".as_bytes(), false),
            ("“ab”".as_bytes(), true),
            ("😀ab😀".as_bytes(), true),
            ("ab\u{301}".as_bytes(), false),
            (b"\xffab", false),
            (b"ab\xe9", false),
            (b"\xa9ab", false),
        ] {
            let at = memchr::memmem::find(text, b"ab").unwrap();
            assert_eq!(is_whole_word(text, at..at + 2), whole, "{text:?}");
        }
    }
}
