//! Everyday words of other languages and synonyms, mapped to the words that the tools use.

use lapidary_query::words;

const VOCABULARY: &str = include_str!("../vocabulary.txt");

/// A shorter entry has to match a whole word: too many words start with it.
const BEGINNING: usize = 4;

/// What German puts before a verb: `durchsuchen` is to search, `anzeigen` to show.
const PREFIXES: [&str; 16] = [
    "durch", "zusammen", "zuruck", "ver", "nach", "auf", "aus", "ein", "weg", "hin", "her", "vor", "an", "ab", "zu",
    "um",
];

/// What the words of a request also mean, and how much of it: a word with several meanings says less of each.
pub(super) fn meanings(wish: &str) -> Vec<(&'static str, f32)> {
    let wish = wish.to_lowercase();
    let words: Vec<String> = words(&wish).iter().map(|word| plain(word)).collect();
    let is_said = |said: &str, word: &str| match said.chars().count() >= BEGINNING {
        true => word.starts_with(said),
        false => word == said,
    };
    let says = |said: &str| match said.chars().all(|c| c < '\u{2e80}') {
        true => words.iter().any(|word| {
            let rests = PREFIXES.iter().filter_map(|prefix| word.strip_prefix(prefix));
            is_said(said, word) || rests.filter(|rest| rest.len() >= BEGINNING).any(|rest| is_said(said, rest))
        }),
        // Without spaces, word boundaries are unknown.
        false => wish.contains(said),
    };
    let rows = || VOCABULARY.lines().filter_map(|line| line.split_once(" => "));
    let said: Vec<(&str, &str)> = rows()
        .flat_map(|(meant, said)| said.split(' ').filter(|said| says(said)).map(move |said| (meant, said)))
        .collect();
    let mut found: Vec<(&'static str, f32)> = Vec::new();
    for (meant, word) in &said {
        #[expect(clippy::cast_precision_loss, reason = "there are a few dozen rows")]
        let share = 1.0 / said.iter().filter(|(_, other)| other == word).count() as f32;
        match found.iter_mut().find(|(other, _)| other == meant) {
            Some((_, best)) => *best = best.max(share),
            None => found.push((meant, share)),
        }
    }
    found
}

/// Letters without their accents, as people type them in a hurry.
pub(super) fn plain(word: &str) -> String {
    let letter = |letter: char| match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => 'a',
        'ç' => 'c',
        'è' | 'é' | 'ê' | 'ë' => 'e',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'ñ' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' => 'o',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        letter => letter,
    };
    word.chars().map(letter).collect()
}
