//! Finds a text in spite of typos in what is searched for.

use std::{collections::HashMap, ops::Range};

use lapidary_note::count_steps;

use super::plain_letters;

/// In larger texts the search would take too long.
const LARGEST_TEXT: usize = 2 << 20;
/// Shorter texts are similar to almost anything.
const FEWEST_LETTERS: usize = 5;
/// Of a longer text, its start is searched.
const MOST_LETTERS: usize = 512;
/// A typo in this many letters is forgiven.
const LETTERS_FOR_A_TYPO: usize = 5;
/// How many parts of the text are compared letter by letter.
const COMPARED: usize = 4;
/// A part of the text has at least this many letters.
const SMALLEST_PART: usize = 32;
/// How many letters are looked up together to find promising parts; two for short texts, where a typo spoils most.
const GRAM: usize = 3;
const SHORT: usize = 16;

/// A letter as it is compared, and the place of its source.
type PlacedLetter = (char, Range<usize>);

/// A stretch of the text, and which grams of the wanted text it has.
#[derive(Clone, Default)]
struct TextPart {
    letters: Vec<PlacedLetter>,
    grams: [u64; MOST_LETTERS / 64],
}

/// The place that differs from a text in the fewest letters, if those are few; whole words.
pub(super) fn misspelt_place(shown: &str, find: &str) -> Option<Range<usize>> {
    let wanted: Vec<char> = plain_letters(find.trim()).map(|(letter, _)| letter).take(MOST_LETTERS).collect();
    if wanted.len() < FEWEST_LETTERS || shown.len() > LARGEST_TEXT {
        return None;
    }
    let limit = wanted.len() / LETTERS_FOR_A_TYPO;
    let compared = promising(shown, &wanted).into_iter();
    let found = compared.filter_map(|letters| nearest_in(&letters, &wanted).filter(|(typos, _)| *typos <= limit));
    let (_, place) = found.min_by_key(|(typos, place)| (*typos, place.start))?;
    Some(whole_words(shown, place))
}

/// The pairs of adjacent parts that have most grams of the wanted text.
fn promising(shown: &str, wanted: &[char]) -> Vec<Vec<PlacedLetter>> {
    let gram = if wanted.len() < SHORT { GRAM - 1 } else { GRAM };
    let grams: HashMap<&[char], usize> = wanted.windows(gram).zip(0..).collect();
    let size = wanted.len().max(SMALLEST_PART);
    let mut best: Vec<(u32, Vec<PlacedLetter>)> = Vec::new();
    let (mut before, mut part) = (TextPart::default(), TextPart::default());
    let mut last: Vec<char> = Vec::with_capacity(gram);
    let mut letters = plain_letters(shown).peekable();
    while let Some((letter, place)) = letters.next() {
        if last.len() == gram {
            last.remove(0);
        }
        last.push(letter);
        part.letters.push((letter, place));
        if let Some(number) = grams.get(last.as_slice()) {
            part.grams[number / 64] |= 1 << (number % 64);
        }
        if part.letters.len() < size && letters.peek().is_some() {
            continue;
        }
        // Of two parts together, since a match may be across their border.
        let shared = before.grams.iter().zip(&part.grams).map(|(a, b)| (a | b).count_ones()).sum();
        if shared > 0 && (best.len() < COMPARED || best.iter().any(|(least, _)| *least < shared)) {
            best.push((shared, before.letters.iter().chain(&part.letters).cloned().collect()));
            // Stable, so that of equals the earlier stay.
            best.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
            best.truncate(COMPARED);
        }
        before = std::mem::take(&mut part);
    }
    best.into_iter().map(|(_, letters)| letters).collect()
}

/// The part of some letters that is the fewest typos away from the wanted ones, and how many (Sellers).
fn nearest_in(letters: &[PlacedLetter], wanted: &[char]) -> Option<(usize, Range<usize>)> {
    count_steps(letters.len() * wanted.len());
    // For each number of wanted letters: the fewest typos so far, and where that match starts; also before the last letter.
    let mut column: Vec<(usize, usize)> = (0..=wanted.len()).map(|typos| (typos, 0)).collect();
    let mut earlier = column.clone();
    let mut best: Option<((usize, bool), Range<usize>)> = None;
    for (at, (letter, place)) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at].0);
        // A match may start anywhere.
        let mut next = Vec::with_capacity(column.len());
        next.push((0, at + 1));
        for (number, expected) in wanted.iter().enumerate() {
            let one_more = |(typos, start): (usize, usize)| (typos + 1, start);
            let replaced = (column[number].0 + usize::from(expected != letter), column[number].1);
            let mut least = replaced.min(one_more(next[number])).min(one_more(column[number + 1]));
            // Two neighbours swapped are one typo, the most common one.
            if number > 0 && wanted[number - 1] == *letter && before == Some(*expected) {
                least = least.min(one_more(earlier[number - 1]));
            }
            next.push(least);
        }
        earlier = std::mem::replace(&mut column, next);
        let (typos, start) = column[wanted.len()];
        // Of several that are equally near, the one that ends alike.
        let nearness = (typos, wanted.last() != Some(letter));
        if start <= at && best.as_ref().is_none_or(|(least, _)| nearness < *least) {
            best = Some((nearness, letters[start].1.start..place.end));
        }
    }
    best.map(|((typos, _), place)| (typos, place))
}

/// The place with the words that it cuts.
fn whole_words(shown: &str, place: Range<usize>) -> Range<usize> {
    let before = shown[..place.start].chars().rev().take_while(|c| c.is_alphanumeric());
    let after = shown[place.end..].chars().take_while(|c| c.is_alphanumeric());
    let cuts = |inside: Option<char>| inside.is_some_and(char::is_alphanumeric);
    let before = if cuts(shown[place.clone()].chars().next()) { before.map(char::len_utf8).sum() } else { 0 };
    let after = if cuts(shown[place.clone()].chars().next_back()) { after.map(char::len_utf8).sum() } else { 0 };
    place.start - before..place.end + after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_are_forgiven_as_far_as_they_are_few() {
        let filler = "Nothing of this kind is written here, line after line.\n".repeat(40);
        let shown = format!("# Plan\n{filler}\n- [ ] Order the Schieferplatten für das Dach\n{filler}Straße\n");
        for (find, expected) in [
            ("Ordr the Schieferplaten", Some("Order the Schieferplatten")),
            ("- [ ] Order teh Schieferplatten fur das Dach", Some("- [ ] Order the Schieferplatten für das Dach")),
            ("chieferplatten fürs Dach", Some("Schieferplatten für das Dach")),
            ("für das Dahc\nNothing of thsi kind", Some("für das Dach\nNothing of this kind")),
            ("Strase", Some("Straße")),
            ("Order the marble columns", None),
            ("Dahc", None),
        ] {
            let found = misspelt_place(&shown, find).map(|place| &shown[place]);
            assert_eq!(found, expected, "{find}");
        }
        assert_eq!(misspelt_place("", "something"), None);
        assert_eq!(misspelt_place("some", "something else"), None);
    }

    #[test]
    fn of_a_long_text_the_start_is_found() {
        let shown: String = (0..400).map(|number| format!("row {number} of the table\n")).collect();
        let find = shown.replace("row 7 of", "row 7 off");
        let place = misspelt_place(&shown, &find).unwrap();
        assert!(shown[place].starts_with("row 0 of the table\nrow 1"));
    }
}
