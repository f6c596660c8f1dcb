//! What people write in a query, and what it means.

use unicode_normalization::UnicodeNormalization;

use super::search_words;
use crate::{LetterCase, Pattern, PatternKind, PatternOptions};

/// The name of a tag, if one is written: a number is not a tag.
pub(super) fn tag(text: &str) -> Option<&str> {
    // People end a sentence with a tag.
    let name = text.strip_prefix('#')?.trim_end_matches(['/', ',', '.', ';', '!', '?']);
    let named = name.starts_with(char::is_alphanumeric) && !name.chars().all(char::is_numeric);
    named.then_some(name)
}

/// A word as typed on a keyboard without umlauts; `None` if it has none.
pub(super) fn without_umlauts(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let text: String = text.nfc().flat_map(char::to_lowercase).collect();
    let written = text.replace('ä', "ae").replace('ö', "oe").replace('ü', "ue");
    let mut words = search_words(&written).into_iter().filter(|_| written != text);
    // Only a single word has another spelling; in a phrase each would.
    words.next().map(|word| word.term).filter(|_| words.next().is_none())
}

/// A regular expression as written in a query; `None` if it is not one.
pub(super) fn expression(text: &str) -> Option<Pattern> {
    compiled(text, PatternKind::Regex, false, false)
}

pub(super) fn compiled(text: &str, kind: PatternKind, match_case: bool, whole_word: bool) -> Option<Pattern> {
    let case = if match_case { LetterCase::Sensitive } else { LetterCase::Insensitive };
    // An invalid pattern is searched as words.
    Pattern::compile(text, &PatternOptions { kind, case, whole_word, nfc: !text.is_ascii() }).ok()
}
