//! The spellings of a term in raw text.

use std::{collections::BTreeMap, sync::LazyLock};

use lapidary_query::{LetterCase, Pattern, PatternKind, PatternOptions, folded};

use lapidary_index::GoOn;

/// How a term of a query may be spelt in a text that has not been split into words yet.
pub(super) struct TermSpelling {
    plain: Pattern,
    /// With accents; not for texts that have none.
    accented: Option<Pattern>,
}

impl TermSpelling {
    /// Terms that cannot be searched directly are left to the close examination.
    pub(super) fn of(term: &str) -> Option<Self> {
        let plain = compiled(term, PatternKind::Literal)?;
        Some(Self { plain, accented: compiled(&with_accents(term), PatternKind::Regex) })
    }

    /// How many lines hold it.
    pub(super) fn count_lines(&self, text: &[u8], go_on: GoOn<'_>) -> usize {
        // Without accents in the text, the plain search is much faster and finds the same.
        let pattern = self.accented.as_ref().filter(|_| !text.is_ascii()).unwrap_or(&self.plain);
        pattern.count_lines(text, &|| !go_on()).lines
    }
}

fn compiled(text: &str, kind: PatternKind) -> Option<Pattern> {
    let options = PatternOptions { kind, case: LetterCase::Insensitive, whole_word: false, nfc: !text.is_ascii() };
    Pattern::compile(text, &options).ok()
}

/// The letters that are compared as one or two others, by these.
static FOLDED_LETTERS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let mut accented: BTreeMap<String, String> = BTreeMap::new();
    // Latin letters with diacritics: Latin-1, Extended-A and -B, and Extended Additional.
    for letter in ('\u{df}'..='\u{24f}').chain('\u{1e00}'..='\u{1eff}').filter(|letter| letter.is_lowercase()) {
        let plain = folded(letter.encode_utf8(&mut [0; 4]));
        if plain.is_ascii() {
            accented.entry(plain).or_default().push(letter);
        }
    }
    accented
});

/// A regular expression for a folded term.
fn with_accents(term: &str) -> String {
    let mut pattern = String::new();
    let mut rest = term;
    while let Some(letter) = rest.chars().next() {
        let one = &rest[..letter.len_utf8()];
        let class =
            |plain: &str| FOLDED_LETTERS.get(plain).map_or(String::new(), |accented| format!("[{plain}{accented}]"));
        // Letters such as `æ` are compared as two plain ones.
        let both = rest.get(..2).and_then(|two| Some((two, FOLDED_LETTERS.get(two)?)));
        match both {
            Some((two, joined)) => {
                pattern += &format!("(?:{}{}|[{joined}])", class(&two[..1]), class(&two[1..]));
                rest = &rest[2..];
            }
            None => {
                let class = class(one);
                pattern += if class.is_empty() { one } else { &class };
                rest = &rest[one.len()..];
            }
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_are_matched_and_optional() {
        let lines = |term: &str, text: &str| TermSpelling::of(term).unwrap().count_lines(text.as_bytes(), &|| true);
        for text in ["Café", "CAFE\u{301}", "cafe", "ein Café"] {
            assert_eq!(lines("cafe", text), 1, "{text}");
        }
        for text in ["Straße", "STRASSE", "strasse é"] {
            assert_eq!(lines("strasse", text), 1, "{text}");
        }
        assert_eq!(lines("aero", "Ærø\nnaïve\naero"), 2);
        assert_eq!(lines("がく", "か\u{3099}く"), 1);
        assert_eq!(lines("cafe", "coffee é"), 0);
    }
}
