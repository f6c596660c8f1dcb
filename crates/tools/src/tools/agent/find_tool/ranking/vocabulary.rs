//! Everyday words of other languages, and words that people say for the same thing, by what the tools call it.

use lapidary_query::words;

const VOCABULARY: &str = include_str!("../vocabulary.txt");

/// A shorter entry is a whole word: as a beginning it would be that of too many.
const BEGINNING: usize = 4;

/// What the words of a wish mean besides.
pub(super) fn meanings(wish: &str) -> Vec<&'static str> {
    let wish = wish.to_lowercase();
    let words = words(&wish);
    let says = |said: &str| match said.chars().all(|c| c < '\u{2e80}') {
        true if said.chars().count() >= BEGINNING => words.iter().any(|word| word.starts_with(said)),
        true => words.iter().any(|word| word == said),
        // No blanks tell where a word begins.
        false => wish.contains(said),
    };
    let rows = VOCABULARY.lines().filter_map(|line| line.split_once(" => "));
    rows.filter(|(_, said)| said.split(' ').any(says)).map(|(meant, _)| meant).collect()
}
