//! Everyday words of other languages and synonyms, mapped to the words that the tools use.

use lapidary_query::words;

const VOCABULARY: &str = include_str!("../vocabulary.txt");

/// A shorter entry has to match a whole word: too many words start with it.
const BEGINNING: usize = 4;

/// What the words of a request also mean.
pub(super) fn meanings(wish: &str) -> Vec<&'static str> {
    let wish = wish.to_lowercase();
    let words = words(&wish);
    let says = |said: &str| match said.chars().all(|c| c < '\u{2e80}') {
        true if said.chars().count() >= BEGINNING => words.iter().any(|word| word.starts_with(said)),
        true => words.iter().any(|word| word == said),
        // Without spaces, word boundaries are unknown.
        false => wish.contains(said),
    };
    let rows = VOCABULARY.lines().filter_map(|line| line.split_once(" => "));
    rows.filter(|(_, said)| said.split(' ').any(says)).map(|(meant, _)| meant).collect()
}
