//! Text as the words that a BERT tokeniser sees: lower case, without accents, punctuation and Han characters apart.

use unicode_normalization::char::decompose_canonical;

use crate::character_class::{CharacterClass, is_newer};

/// A word with more characters is unknown, as in the reference; it also bounds the work for one word.
const LONGEST_WORD: usize = 100;

/// What a tokeniser does to text before it looks for pieces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BertRules {
    pub lowercase: bool,
    pub strip_accents: bool,
}

impl BertRules {
    /// Of models that do not distinguish case.
    pub const UNCASED: Self = Self { lowercase: true, strip_accents: true };

    /// Calls `each` with every word in order; a word that is too long is `None`.
    pub(crate) fn each_word(self, text: &str, each: impl FnMut(Option<&str>)) {
        let mut words = WordCollector { word: String::new(), characters: 0, each };
        for character in text.chars() {
            // Most characters: without a search in the tables, and without an accent to remove.
            if character.is_ascii_alphanumeric() {
                words.push(if self.lowercase { character.to_ascii_lowercase() } else { character });
                continue;
            }
            match CharacterClass::of(character) {
                CharacterClass::Dropped => {}
                CharacterClass::Space => words.end(),
                // Chinese is written without spaces, so BERT takes every character as a word.
                CharacterClass::Ideograph => {
                    words.end();
                    self.push_normalized(character, &mut words);
                    words.end();
                }
                CharacterClass::Mark | CharacterClass::Punctuation | CharacterClass::Letter => {
                    self.push_normalized(character, &mut words);
                }
            }
        }
        words.end();
    }

    fn push_normalized<E: FnMut(Option<&str>)>(self, character: char, words: &mut WordCollector<E>) {
        // The reference leaves newer characters composed, because its tables do not have them.
        if self.strip_accents && !character.is_ascii() && !is_newer(character) {
            decompose_canonical(character, |part| {
                if CharacterClass::of(part) != CharacterClass::Mark {
                    self.push_lowercase(part, words);
                }
            });
        } else {
            self.push_lowercase(character, words);
        }
    }

    fn push_lowercase<E: FnMut(Option<&str>)>(self, character: char, words: &mut WordCollector<E>) {
        if !self.lowercase {
            return words.push_or_split(character);
        }
        // Some letters become two, such as `İ`.
        for lower in character.to_lowercase() {
            words.push_or_split(lower);
        }
    }
}

/// Gathers the characters of a word and hands it over when it ends.
struct WordCollector<E> {
    word: String,
    characters: usize,
    each: E,
}

impl<E: FnMut(Option<&str>)> WordCollector<E> {
    fn push(&mut self, character: char) {
        // Counted beyond the limit, so that `end` can tell; only the text stays bounded.
        self.characters += 1;
        if self.characters <= LONGEST_WORD {
            self.word.push(character);
        }
    }

    /// Normalisation may have made punctuation or a space out of something else.
    fn push_or_split(&mut self, character: char) {
        match CharacterClass::of(character) {
            CharacterClass::Punctuation => {
                self.end();
                self.push(character);
                self.end();
            }
            CharacterClass::Space => self.end(),
            _ => self.push(character),
        }
    }

    fn end(&mut self) {
        if self.characters > 0 {
            (self.each)((self.characters <= LONGEST_WORD).then_some(&self.word));
            self.word.clear();
            self.characters = 0;
        }
    }
}
