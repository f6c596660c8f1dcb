//! Replaces exact text.

use super::TextChange;
use crate::{Document, text::plain_line_ends};

/// Which of several places with the same text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// The text must occur exactly once.
    Unique,
    All,
    /// The n-th, counted from 1.
    Nth(usize),
}

#[derive(Debug, PartialEq, Eq)]
pub struct ReplaceResult {
    pub document: Document,
    pub count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplaceError {
    #[error("nothing to find")]
    EmptyFind,
    #[error("not found")]
    NotFound,
    #[error("found {occurrences} times, expected once")]
    NotUnique { occurrences: usize },
    /// A lone carriage return and a line feed would become adjacent and be read as one line ending.
    #[error("two different line endings would be merged into one")]
    MergedLineEnds,
    #[error("found {occurrences} times, so there is no occurrence {wanted}")]
    OutOfRange { occurrences: usize, wanted: usize },
    #[error("the text would have {bytes} bytes")]
    TooLarge { bytes: usize },
}

impl Document {
    /// Replaces literal text; a `\n` in `find` matches any line ending of the file. Fails if the result would exceed
    /// `most` bytes.
    pub fn replace_text(
        &self,
        find: &str,
        replace: &str,
        occurrence: Occurrence,
        most: usize,
    ) -> Result<ReplaceResult, ReplaceError> {
        let find = plain_line_ends(find);
        if find.is_empty() {
            return Err(ReplaceError::EmptyFind);
        }
        let found: Vec<usize> = self.shown().match_indices(&*find).map(|(at, _)| at).collect();
        let occurrences = found.len();
        let chosen = match occurrence {
            _ if occurrences == 0 => return Err(ReplaceError::NotFound),
            Occurrence::Unique if occurrences > 1 => return Err(ReplaceError::NotUnique { occurrences }),
            Occurrence::Unique | Occurrence::All => &found[..],
            Occurrence::Nth(wanted) => match wanted.checked_sub(1).and_then(|index| found.get(index..=index)) {
                Some(one) => one,
                None => return Err(ReplaceError::OutOfRange { occurrences, wanted }),
            },
        };
        let added = chosen.len().saturating_mul(replace.len());
        let bytes = (self.shown().len() - chosen.len() * find.len()).saturating_add(added);
        if bytes > most.max(self.shown().len()) {
            return Err(ReplaceError::TooLarge { bytes });
        }
        let changes: Vec<TextChange> = chosen.iter().map(|at| TextChange::new(*at..at + find.len(), replace)).collect();
        let count = changes.len();
        let edited = self.apply(changes).map_err(|_| ReplaceError::MergedLineEnds)?;
        Ok(ReplaceResult { document: edited.document, count })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(file: &str, find: &str, replace: &str, occurrence: Occurrence) -> Result<String, ReplaceError> {
        let document = Document::open(file.to_owned()).unwrap();
        document.replace_text(find, replace, occurrence, 100).map(|replaced| replaced.document.raw().to_owned())
    }

    #[test]
    fn the_chosen_places_change_and_nothing_else() {
        for (file, find, replace, occurrence, expected) in [
            ("a b c", "b", "x", Occurrence::Unique, "a x c"),
            ("aaa", "a", "b", Occurrence::All, "bbb"),
            ("aaaa", "aa", "b", Occurrence::All, "bb"),
            ("a a a", "a", "", Occurrence::Nth(2), "a  a"),
            ("\u{feff}one\r\ntwo\r\nthree", "one\ntwo", "1\n2", Occurrence::Unique, "\u{feff}1\r\n2\r\nthree"),
            ("one\r\ntwo", "one\r\ntwo", "x", Occurrence::Unique, "x"),
            ("one\r\ntwo\n", "one\n", "1\n", Occurrence::Unique, "1\r\ntwo\n"),
            ("one\r\ntwo\nthree\n", "one\ntwo\n", "one\n2\n", Occurrence::Unique, "one\r\n2\nthree\n"),
            ("one\rtwo\r", "\n", "\n\n", Occurrence::Nth(1), "one\r\rtwo\r"),
            ("größe 石", "ß", "ss", Occurrence::Unique, "grösse 石"),
        ] {
            assert_eq!(run(file, find, replace, occurrence).as_deref(), Ok(expected), "{file:?} {find:?}");
        }
    }

    #[test]
    fn an_ambiguous_or_missing_occurrence_is_refused_with_the_count() {
        for (file, find, occurrence, expected) in [
            ("abc", "x", Occurrence::Unique, ReplaceError::NotFound),
            ("abc", "", Occurrence::All, ReplaceError::EmptyFind),
            ("a a", "a", Occurrence::Unique, ReplaceError::NotUnique { occurrences: 2 }),
            ("a a", "a", Occurrence::Nth(3), ReplaceError::OutOfRange { occurrences: 2, wanted: 3 }),
            ("a a", "a", Occurrence::Nth(0), ReplaceError::OutOfRange { occurrences: 2, wanted: 0 }),
            ("a\rb\nc\n", "b", Occurrence::Unique, ReplaceError::MergedLineEnds),
        ] {
            let replace = if expected == ReplaceError::MergedLineEnds { "" } else { "y" };
            assert_eq!(run(file, find, replace, occurrence), Err(expected), "{file:?} {find:?}");
        }
        let too_large = ReplaceError::TooLarge { bytes: 120 };
        assert_eq!(run("aab", "a", &"x".repeat(59), Occurrence::All), Err(ReplaceError::TooLarge { bytes: 119 }));
        assert_eq!(run("aabb", "a", &"x".repeat(59), Occurrence::All), Err(too_large));
        assert!(run("aab", "a", &"x".repeat(49), Occurrence::All).is_ok());
        assert!(run(&"a".repeat(200), "a", "b", Occurrence::All).is_ok(), "one that is larger does not grow");
    }

    proptest! {
        #[test]
        fn bytes_outside_the_replaced_text_never_change(
            before in "(\u{feff})?([a-z]|\r\n|\n|\r){0,20}", after in "([a-z]|\r\n|\n|\r){0,20}", new in "[a-z\n]{0,8}",
        ) {
            let file = format!("{before}MARK{after}");
            let edited = match run(&file, "MARK", &new, Occurrence::Unique) {
                // A file with mixed line endings may not allow it; then nothing happens.
                Err(ReplaceError::MergedLineEnds) => return Ok(()),
                edited => edited.unwrap(),
            };
            prop_assert!(edited.starts_with(&before));
            prop_assert!(edited.ends_with(&after));
            prop_assert_eq!(plain_line_ends(&edited[before.len()..edited.len() - after.len()]), new);
        }
    }
}
