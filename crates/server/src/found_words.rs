//! Passages of a search, and the words that were found in them.

/// A part of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassagePiece<'p> {
    pub(crate) text: &'p str,
    /// It is one of the words that were found.
    pub(crate) is_found: bool,
}

/// A passage in pieces, found words apart from the rest.
pub(crate) fn pieces<'p>(passage: &'p str, words: &[String]) -> Vec<PassagePiece<'p>> {
    let mut pieces = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while let Some(first) = passage[at..].chars().next() {
        // The longest, so that `roofs` is marked whole if `roof` was searched for too.
        match words.iter().filter_map(|word| starts_with_word(&passage[at..], word)).max() {
            Some(length) => {
                pieces.push(PassagePiece { text: &passage[plain..at], is_found: false });
                pieces.push(PassagePiece { text: &passage[at..at + length], is_found: true });
                at += length;
                plain = at;
            }
            None => at += first.len_utf8(),
        }
    }
    pieces.push(PassagePiece { text: &passage[plain..], is_found: false });
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

/// How many bytes of a text are this word, whatever its case.
fn starts_with_word(text: &str, word: &str) -> Option<usize> {
    let mut rest = text.char_indices();
    let mut end = 0;
    for wanted in word.chars().flat_map(char::to_lowercase) {
        let (at, found) = rest.next()?;
        // A letter whose lower case has several characters is compared as a whole, so it never matches half.
        if !found.to_lowercase().eq([wanted]) {
            return None;
        }
        end = at + found.len_utf8();
    }
    (end > 0).then_some(end)
}

/// The part of an excerpt below the properties, if what was found is there.
pub(crate) fn without_properties<'e>(excerpt: &'e str, words: &[String]) -> &'e str {
    // The last such line, since an excerpt can begin within the properties.
    let below = excerpt.rsplit_once("\n---\n").map(|(_, below)| below).or_else(|| excerpt.strip_prefix("---\n"));
    let finds = |text: &str| {
        let text = text.to_lowercase();
        words.iter().any(|word| text.contains(&word.to_lowercase()))
    };
    below.filter(|below| finds(below)).unwrap_or(excerpt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_left_out_unless_something_was_found_there() {
        let words = ["slate".to_owned()];
        assert_eq!(without_properties("---\nstatus: open\n---\n# Slate\n", &words), "# Slate\n");
        assert_eq!(without_properties("open\n---\n# Slate", &words), "# Slate");
        assert_eq!(without_properties("---\ntags: slate\n---\n# Roof\n", &words), "---\ntags: slate\n---\n# Roof\n");
    }

    #[test]
    fn a_passage_is_divided_at_the_longest_words() {
        let words = ["roof".to_owned(), "roofs".to_owned(), "Ä".to_owned()];
        let found = |text: &str| -> Vec<(String, bool)> {
            pieces(text, &words).iter().map(|piece| (piece.text.to_owned(), piece.is_found)).collect()
        };
        let piece = |text: &str, is_found| (text.to_owned(), is_found);
        assert_eq!(
            found("The ROOFS ä"),
            [piece("The ", false), piece("ROOFS", true), piece(" ", false), piece("ä", true)]
        );
        assert_eq!(found(""), []);
        assert_eq!(found("none"), [piece("none", false)]);
    }
}
