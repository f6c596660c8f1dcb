//! Typo-tolerant comparison of words.

use crate::nearest::typos;

/// A word that may have a typo or two.
pub struct FuzzyWord {
    letters: Vec<char>,
    bytes: usize,
    signature: u64,
    limit: usize,
}

impl FuzzyWord {
    /// `None` for a word so short that any other would be near it, and for a number: another number is another thing.
    pub fn new(word: &str) -> Option<Self> {
        let letters: Vec<char> = word.chars().collect();
        let limit = match letters.len() {
            _ if letters.iter().all(|letter| letter.is_numeric()) => return None,
            0..=3 => return None,
            4..=7 => 1,
            _ => 2,
        };
        Some(Self { bytes: word.len(), signature: signature(word), letters, limit })
    }

    /// How many typos are tolerated. Each changes at most two of the letters that a word has.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The number of typos between them, if few enough.
    pub fn distance(&self, term: &str) -> Option<usize> {
        // One typo changes at most two of the letters that a word has, and no letter has more than four bytes.
        let near = (self.signature ^ signature(term)).count_ones() as usize <= 2 * self.limit
            && self.bytes.abs_diff(term.len()) <= 4 * self.limit;
        if !near {
            return None;
        }
        let letters: Vec<char> = term.chars().collect();
        // Each letter more or less is a typo.
        if letters.len().abs_diff(self.letters.len()) > self.limit {
            return None;
        }
        Some(typos(&self.letters, &letters)).filter(|distance| *distance <= self.limit)
    }
}

/// Which letters a word has, roughly.
fn signature(word: &str) -> u64 {
    word.chars().fold(0, |bits, c| bits | 1 << (u32::from(c) % 64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_words_have_no_errors_and_long_ones_two() {
        let distance = |word: &str, term: &str| FuzzyWord::new(word).and_then(|word| word.distance(term));
        assert_eq!(distance("cat", "car"), None);
        assert_eq!(distance("2026", "2025"), None);
        assert_eq!(distance("ston", "stone"), Some(1));
        assert_eq!(distance("lapidray", "lapidary"), Some(1));
        assert_eq!(distance("lapdiray", "lapidary"), Some(2));
        assert_eq!(distance("granite", "garnets"), None);
    }

    proptest! {
        #[test]
        fn words_excluded_early_are_far_away(a in "[a-eé石]{4,10}", b in "[a-eé石]{2,10}") {
            let fuzzy = FuzzyWord::new(&a).unwrap();
            let exact = typos(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
            prop_assert_eq!(fuzzy.distance(&b), Some(exact).filter(|exact| *exact <= fuzzy.limit));
        }
    }
}
