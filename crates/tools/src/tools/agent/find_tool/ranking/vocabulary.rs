//! Everyday words of several languages and synonyms, mapped to the words that the tools use.

use std::{collections::HashMap, sync::LazyLock};

/// For every entry, the words of the tools that it stands for.
static ENTRIES: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let rows = include_str!("../vocabulary.txt").lines().filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|line| line.split_once(" => "));
    let mut entries: HashMap<&str, Vec<&str>> = HashMap::new();
    for (meant, said) in rows {
        said.split(' ').for_each(|said| entries.entry(said).or_default().push(meant));
    }
    entries
});

/// A shorter entry has to match a whole word: too many words start with it.
const BEGINNING: usize = 4;

/// No entry without spaces is longer, in letters.
const LONGEST_UNSPACED: usize = 12;

/// What German puts before a verb: `durchsuchen` is to search, `anzeigen` to show.
const PREFIXES: [&str; 16] = [
    "durch", "zusammen", "zuruck", "ver", "nach", "auf", "aus", "ein", "weg", "hin", "her", "vor", "an", "ab", "zu",
    "um",
];

/// Whether the language of a letter writes its words without spaces.
pub(super) fn is_unspaced(letter: char) -> bool {
    // The scripts of East Asia begin here.
    letter >= '\u{2e80}'
}

/// What a word also means, by the longest entry that it begins with: `folder` has nothing to do with `fold`.
pub(super) fn meanings(word: &str) -> &'static [&'static str] {
    let word = plain(word);
    let behind_prefix = PREFIXES.iter().filter_map(|prefix| word.strip_prefix(prefix));
    let behind_prefix = behind_prefix.filter(|rest| rest.len() >= BEGINNING);
    std::iter::once(word.as_str()).chain(behind_prefix).find_map(longest_entry).unwrap_or_default()
}

/// What German puts at the end of a clause, away from its verb: `hak das ab` is `abhaken`.
const PARTICLES: [&str; 18] = [
    "an", "ab", "auf", "aus", "ein", "um", "zu", "durch", "weg", "hinzu", "zusammen", "zuruck", "vor", "nach", "her",
    "hin", "runter", "raus",
];

/// The meaning of a verb whose first part ends the clause.
pub(super) fn separated(clause: &[String]) -> Option<&'static [&'static str]> {
    let (last, others) = clause.split_last()?;
    let particle = PARTICLES.into_iter().find(|particle| plain(last) == *particle)?;
    others.iter().find_map(|word| {
        let verb = format!("{particle}{}", plain(word));
        // An entry that is hardly longer than the particle is about something else.
        let ends =
            verb.char_indices().map(|(at, letter)| at + letter.len_utf8()).filter(|end| *end >= particle.len() + 3);
        ends.filter_map(|end| ENTRIES.get(&verb[..end])).next_back().map(Vec::as_slice)
    })
}

fn longest_entry(word: &str) -> Option<&'static [&'static str]> {
    let long_enough = |end: &usize| *end == word.len() || word[..*end].chars().count() >= BEGINNING;
    let ends = word.char_indices().map(|(at, letter)| at + letter.len_utf8()).filter(long_enough);
    ends.filter_map(|end| ENTRIES.get(&word[..end])).next_back().map(Vec::as_slice)
}

/// The meanings of the entries in a text without spaces: always the longest, from left to right.
pub(super) fn meanings_within(text: &str) -> Vec<&'static [&'static str]> {
    let mut found: Vec<&'static [&'static str]> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let ends = rest.char_indices().map(|(at, letter)| at + letter.len_utf8()).take(LONGEST_UNSPACED);
        let entry = ends.filter_map(|end| Some((end, ENTRIES.get(&rest[..end])?))).last();
        found.extend(entry.map(|(_, meant)| meant.as_slice()));
        rest = &rest[entry.map_or(first.len_utf8(), |(end, _)| end)..];
    }
    found
}

/// Letters without their accents, as people type them in a hurry.
pub(super) fn plain(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    for letter in word.chars() {
        let mut buffer = [0; 4];
        plain.push_str(match letter {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => "a",
            'ç' => "c",
            'è' | 'é' | 'ê' | 'ë' => "e",
            'ì' | 'í' | 'î' | 'ï' => "i",
            'ñ' => "n",
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' => "o",
            'ù' | 'ú' | 'û' | 'ü' => "u",
            'ß' => "ss",
            letter => letter.encode_utf8(&mut buffer),
        });
    }
    plain
}
