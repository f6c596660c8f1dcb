//! A text as searchable words: in lower case, without accents, and in scripts without spaces every pair of adjacent
//! characters.

use std::ops::Range;

use unicode_normalization::{
    UnicodeNormalization,
    char::{compose, decompose_canonical},
};

/// Longer words are never typed; their start is enough to find them.
const LONGEST: usize = 64;
/// The offset of the wide letters and digits from the usual ones.
const WIDER: u32 = 0xfee0;

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    pub term: &'t str,
    /// In bytes of the text.
    pub start: usize,
    pub end: usize,
    /// The last character of a run without spaces, which is also in the pair before it. It exists so that every
    /// character starts a term.
    pub tail: bool,
}

/// An owned word with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptWord {
    pub term: String,
    pub span: Range<usize>,
}

/// All words of a text, owned.
pub fn search_words(text: &str) -> Vec<KeptWord> {
    let mut words = Vec::new();
    search_tokens(text, |token| words.push(KeptWord { term: token.term.to_owned(), span: token.start..token.end }));
    words
}

/// Calls `each` for all words of a text, in order.
pub fn search_tokens(text: &str, mut each: impl FnMut(Token<'_>)) {
    let mut run = CharacterRun::default();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        // The usual case without decoding, which most of the time of indexing depends on.
        if byte.is_ascii_alphanumeric() {
            run.word(at, at + 1, &mut each);
            run.term.push(char::from(byte.to_ascii_lowercase()));
            at += 1;
        } else if byte.is_ascii() {
            run.finish(&mut each);
            at += 1;
        } else {
            let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { return };
            run.take(c, at, &mut each);
            at += c.len_utf8();
        }
    }
    run.finish(&mut each);
}

/// A text in the form in which it is compared: in lower case and without accents, otherwise unchanged.
pub fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    // Composed first: marks that are not accents, as in kana and Hangul, are the same in any encoding.
    text.nfc().filter(|c| !is_accent(*c)).for_each(|c| fold(c, &mut folded));
    folded
}

/// The current word, or run of characters of one kind.
#[derive(Default)]
struct CharacterRun {
    term: String,
    start: usize,
    end: usize,
    /// Characters of a script without spaces, and their positions.
    dense: Vec<(char, usize, usize)>,
}

impl CharacterRun {
    fn take(&mut self, c: char, at: usize, each: &mut impl FnMut(Token<'_>)) {
        let end = at + c.len_utf8();
        let joined = self.dense.last().and_then(|(last, ..)| compose(*last, c)).filter(|_| joins(c));
        // Decomposed kana and Hangul are put together again, so that both encodings give the same pairs.
        if let (Some(last), true) = (self.dense.last_mut(), joined.is_some() || is_voicing(c)) {
            last.0 = joined.unwrap_or(last.0);
            last.2 = end;
        } else if is_dense(c) {
            if !self.term.is_empty() {
                self.finish(each);
            }
            self.dense.push((c, at, end));
        } else if is_accent(c) {
            // The accent is left out of the term but belongs to the word in the text.
            self.end = if self.term.is_empty() { self.end } else { end };
        } else if c.is_alphanumeric() || is_mark_in_word(c) {
            self.word(at, end, each);
            fold(c, &mut self.term);
        } else {
            self.finish(each);
        }
    }

    /// A letter of a word is here.
    fn word(&mut self, at: usize, end: usize, each: &mut impl FnMut(Token<'_>)) {
        if !self.dense.is_empty() {
            self.finish(each);
        }
        if self.term.is_empty() {
            self.start = at;
        }
        self.end = end;
    }

    fn finish(&mut self, each: &mut impl FnMut(Token<'_>)) {
        if !self.term.is_empty() {
            // Its span stays that of the whole word.
            let cut = self.term.floor_char_boundary(LONGEST);
            each(Token { term: &self.term[..cut], start: self.start, end: self.end, tail: false });
            self.term.clear();
        }
        for (number, &(c, start, end)) in self.dense.iter().enumerate() {
            self.term.clear();
            fold(c, &mut self.term);
            let next = self.dense.get(number + 1);
            if let Some(&(next, ..)) = next {
                fold(next, &mut self.term);
            }
            // A single character is not a tail: nothing else has it.
            let tail = next.is_none() && number > 0;
            each(Token { term: &self.term, start, end: next.map_or(end, |next| next.2), tail });
        }
        self.term.clear();
        self.dense.clear();
    }
}

fn fold(c: char, into: &mut String) {
    if c.is_ascii() {
        into.push(c.to_ascii_lowercase());
        return;
    }
    if is_dense(c) {
        into.push(c);
        return;
    }
    for lower in c.to_lowercase() {
        match lower {
            'ß' => into.push_str("ss"),
            'æ' => into.push_str("ae"),
            'œ' => into.push_str("oe"),
            'ø' => into.push('o'),
            'ł' => into.push('l'),
            'đ' => into.push('d'),
            'ı' => into.push('i'),
            // Wide, as in Japanese texts.
            wide @ ('０'..='９' | 'ａ'..='ｚ') => into.extend(char::from_u32(u32::from(wide) - WIDER)),
            lower => decompose_canonical(lower, |part| {
                if !is_accent(part) {
                    into.push(part);
                }
            }),
        }
    }
}

/// Marks that people omit when they search. Those of the Indian scripts are vowels and stay.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{652}' | '\u{670}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

fn is_mark_in_word(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c) && !is_accent(c)
}

/// Characters stored separately from their base, if letters are decomposed as on a Mac.
fn joins(c: char) -> bool {
    is_voicing(c) || matches!(c, '\u{1161}'..='\u{1175}' | '\u{11a8}'..='\u{11c2}')
}

/// The two marks of kana, which change the sound and are not accents.
fn is_voicing(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309a}')
}

/// Whether a script has no spaces, or, like Korean, joins into words what people search for in parts.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{e01}'..='\u{e4e}' | '\u{e81}'..='\u{ecd}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17d3}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}' | '\u{3105}'..='\u{312f}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        search_words(text).into_iter().map(|word| word.term).collect()
    }

    #[test]
    fn words_are_split_as_people_type_them() {
        for (text, expected) in [
            ("A stone, CUT.", &["a", "stone", "cut"][..]),
            ("Größe Straße Ærø", &["grosse", "strasse", "aero"]),
            ("café cafe\u{301} CAFÉ", &["cafe", "cafe", "cafe"]),
            ("file_read x2 don't", &["file", "read", "x2", "don", "t"]),
            ("全文検索", &["全文", "文検", "検索", "索"]),
            ("石", &["石"]),
            ("Rust石庭abc", &["rust", "石庭", "庭", "abc"]),
            ("か\u{3099}く", &["がく", "く"]),
            ("한국어", &["한국", "국어", "어"]),
            ("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}어", &["한국", "국어", "어"]),
            ("ＡＢｃ１", &["abc1"]),
            ("हिन्दी", &["हिन्दी"]),
            ("Ünïcödé", &["unicode"]),
            ("💎 — …", &[]),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
        assert_eq!(terms(&"x".repeat(500))[0].len(), LONGEST);
    }

    #[test]
    fn it_does_not_matter_how_letters_are_stored() {
        for text in ["서울 여행", "ガイド", "Übermut", "हिन्दी"] {
            let apart: String = text.nfd().collect();
            assert_eq!((folded(&apart), terms(&apart)), (folded(text), terms(text)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_word_stands_where_it_is_said_to(text in "[a-cé\u{301}ß石庭がか\u{3099} .]{0,20}|.{0,20}") {
            for word in search_words(&text) {
                prop_assert!(text.get(word.span.clone()).is_some());
                let again = search_words(&text[word.span]);
                prop_assert_eq!(&again[0].term, &word.term);
            }
        }
    }
}
