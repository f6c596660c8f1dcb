//! The order of texts in Unicode's root collation, which is what `localeCompare` answers in English.

use std::{cmp::Ordering, sync::OnceLock};

use icu_collator::{Collator, CollatorBorrowed, options::CollatorOptions};

/// How two texts are ordered: letters before case, case before nothing, `a < A < b`, `resume < résumé < resumf`.
pub fn collate(left: &str, right: &str) -> Ordering {
    if left == right {
        return Ordering::Equal;
    }
    let tables = CollationTables::get();
    match (plain(left), plain(right)) {
        // Most texts are ASCII, for which a table gives the same order at a fraction of the cost.
        (true, true) => tables.ascii.compare(left.as_bytes(), right.as_bytes()),
        _ => tables.collator.as_ref().map_or_else(|| left.cmp(right), |collator| collator.compare(left, right)),
    }
}

/// Bytes that are ordered as the text is, for sorting many; nothing for a text that is not plain ASCII.
pub fn ascii_key(text: &str) -> Option<Vec<u8>> {
    plain(text).then(|| CollationTables::get().ascii.key(text.as_bytes()))
}

/// Whether every character has its own weight in the table of ASCII; control characters have none.
fn plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r'))
}

struct CollationTables {
    /// Missing only if its data, which is compiled in, cannot be read.
    collator: Option<CollatorBorrowed<'static>>,
    ascii: AsciiOrder,
}

impl CollationTables {
    fn get() -> &'static Self {
        static TABLES: OnceLock<CollationTables> = OnceLock::new();
        TABLES.get_or_init(|| {
            let collator = Collator::try_new(Default::default(), CollatorOptions::default()).ok();
            let ascii = AsciiOrder::of(collator.as_ref());
            Self { collator, ascii }
        })
    }
}

/// The same order for ASCII alone, which is most of what is sorted, without the general algorithm.
struct AsciiOrder {
    /// The rank of a character, the same for both cases of a letter.
    weights: [u8; 128],
}

impl AsciiOrder {
    fn of(collator: Option<&CollatorBorrowed<'static>>) -> Self {
        // Only one case is ranked: the other gets the same weight, and decides only between equal letters.
        let mut characters: Vec<u8> = (0_u8..128).filter(|byte| !byte.is_ascii_uppercase()).collect();
        let text = |byte: u8| char::from(byte).to_string();
        if let Some(collator) = collator {
            // The order comes from the collator itself, so that both ways agree.
            characters.sort_by(|left, right| collator.compare(&text(*left), &text(*right)));
        }
        let mut weights = [0; 128];
        for (byte, weight) in characters.into_iter().zip(1_u8..) {
            weights[usize::from(byte)] = weight;
            weights[usize::from(byte.to_ascii_uppercase())] = weight;
        }
        Self { weights }
    }

    fn key(&self, text: &[u8]) -> Vec<u8> {
        let weight = |byte: &u8| self.weights.get(usize::from(*byte)).copied().unwrap_or_default();
        // No weight is 0, so that a text comes before those that go on.
        let case = text.iter().map(|byte| u8::from(byte.is_ascii_uppercase()));
        text.iter().map(weight).chain([0]).chain(case).collect()
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        let weight = |byte: &u8| self.weights.get(usize::from(*byte)).copied().unwrap_or_default();
        let letters = left.iter().map(weight).cmp(right.iter().map(weight));
        // Where the letters are the same, the first small letter that meets a capital decides.
        letters.then_with(|| left.iter().map(u8::is_ascii_uppercase).cmp(right.iter().map(u8::is_ascii_uppercase)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_ordered_as_people_expect() {
        for ordered in [
            &["a", "A", "b", "B"][..],
            &["resume", "Resume", "résumé", "resumf"],
            &["a10", "a2", "a20"],
            &[" a", "_a", "-a", "a", "ab"],
            &["", "0", "9", "a", "st", "straße", "z", "石"],
            &["aB", "Ab", "AC"],
        ] {
            for pair in ordered.windows(2) {
                assert_eq!(collate(pair[0], pair[1]), Ordering::Less, "{pair:?}");
                assert_eq!(collate(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
            }
        }
        assert_eq!(collate("é", "e\u{301}"), Ordering::Equal);
        assert_eq!(collate("a\u{0}", "a"), Ordering::Equal);
    }

    proptest! {
        #[test]
        fn the_short_way_orders_as_the_collator(left in "[ -~\t\n]{0,8}", right in "[ -~\t\n]{0,8}") {
            let collator = CollationTables::get().collator.as_ref().unwrap();
            prop_assert_eq!(collate(&left, &right), collator.compare(&left, &right));
            prop_assert_eq!(ascii_key(&left).cmp(&ascii_key(&right)), collate(&left, &right));
        }
    }
}
