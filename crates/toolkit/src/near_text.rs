//! Finds the text that a caller probably meant when its search text is missing.

use std::{collections::VecDeque, ops::Range};

use lapidary_note::count_steps;
use lapidary_operation::{NearText, clipped};
use unicode_normalization::UnicodeNormalization;

use self::misspelt::misspelt_place;

mod misspelt;

/// Longer texts are not searched again.
const LONGEST: usize = 10_000;

/// The place that matches `find` except for case, blanks, quotes or Unicode form; otherwise the place of its first
/// line, or one that differs in a few letters. Linear in the text.
pub fn near_text(shown: &str, find: &str) -> Option<NearText> {
    if find.len() > LONGEST {
        return None;
    }
    let place = |find: &str| {
        let wanted: Vec<char> = plain_letters(find.trim()).map(|(letter, _)| letter).collect();
        first_place(shown, &wanted)
    };
    if let Some(place) = place(find) {
        let found = &shown[place.clone()];
        return Some(NearText {
            line: line_of(shown, place.start),
            text: clipped(found),
            differs: differs(find.trim(), found),
        });
    }
    // Blank lines at the start are usual in a quoted block.
    let first = find.lines().find(|line| !line.trim().is_empty())?;
    // Only if there are more lines; the first one alone was searched above.
    let (place, differs) = match Some(first).filter(|first| first.len() < find.trim().len()).and_then(place) {
        Some(Range { start, .. }) => {
            let end = shown[start..].find('\n').map_or(shown.len(), |at| start + at);
            (start..end, "the lines after its first")
        }
        None => (misspelt_place(shown, find)?, "a few letters"),
    };
    Some(NearText { line: line_of(shown, place.start), text: clipped(&shown[place]), differs })
}

/// The lines that contain a text, as many as help to choose.
pub(crate) fn lines_of(shown: &str, find: &str) -> Vec<usize> {
    const MOST: usize = 20;
    let (mut line, mut counted) = (1, 0);
    let places = shown.match_indices(find).take(MOST);
    places
        .map(|(at, _)| {
            // Counted on from the last place, so that the text is walked through once.
            line += shown[counted..at].matches('\n').count();
            counted = at;
            line
        })
        .collect()
}

fn line_of(shown: &str, at: usize) -> usize {
    shown[..at].matches('\n').count() + 1
}

/// How two similar texts differ.
fn differs(find: &str, found: &str) -> &'static str {
    let same = |change: fn(&str) -> String| change(find) == change(found);
    // From the smallest difference to the largest; the first that explains all of it is named.
    if same(|text| text.to_lowercase()) {
        "case"
    } else if same(|text| text.nfd().collect()) {
        "its Unicode form"
    } else if same(|text| text.chars().map(plain_quote).collect()) {
        "its quotes or dashes"
    } else if same(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")) {
        "its blanks"
    } else {
        "more than one of case, blanks, quotes and Unicode form"
    }
}

fn plain_quote(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' | '\u{b4}' | '`' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' | '\u{ab}' | '\u{bb}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        c => c,
    }
}

/// The characters of a text normalised for comparison: case folded and decomposed, runs of blanks as one, plain quotes.
/// Each with the place of its source.
fn plain_letters(text: &str) -> impl Iterator<Item = (char, Range<usize>)> {
    let invisible = |c: char| matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}');
    let mut after_blank = false;
    text.char_indices().flat_map(move |(at, c)| {
        count_steps(c.len_utf8());
        let is_blank = c.is_whitespace();
        let is_kept = if is_blank { !after_blank } else { !invisible(c) };
        // An invisible character between two blanks does not separate them.
        after_blank = is_blank || (after_blank && !is_kept);
        let plain = if is_blank { ' ' } else { plain_quote(c) };
        let letters = is_kept.then(|| std::iter::once(plain).nfd().flat_map(char::to_lowercase));
        letters.into_iter().flatten().map(move |letter| (letter, at..at + c.len_utf8()))
    })
}

/// The first place where the normalised text matches. Its memory depends on the wanted text alone (Knuth, Morris and
/// Pratt).
fn first_place(shown: &str, wanted: &[char]) -> Option<Range<usize>> {
    let last = wanted.len().checked_sub(1)?;
    // For each prefix, the length of its longest proper prefix that is also its suffix.
    let mut borders = vec![0_usize; wanted.len()];
    for at in 1..wanted.len() {
        let mut border = borders[at - 1];
        while border > 0 && wanted[border] != wanted[at] {
            border = borders[border - 1];
        }
        borders[at] = border + usize::from(wanted[border] == wanted[at]);
    }
    let mut places: VecDeque<Range<usize>> = VecDeque::with_capacity(wanted.len());
    let mut matched = 0;
    for (letter, place) in plain_letters(shown) {
        // One place for each letter that may be part of the match.
        if places.len() > last {
            places.pop_front();
        }
        places.push_back(place);
        while matched > 0 && wanted[matched] != letter {
            matched = borders[matched - 1];
        }
        matched += usize::from(wanted[matched] == letter);
        if matched == wanted.len() {
            return Some(places.front()?.start..places.back()?.end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_text_is_shown_with_its_line() {
        const NOTE: &str = "# Plan\n\nOrder the  Slates\u{a0}now.\nIt’s “fine” – cafe\u{301}\n\tone\n\ttwo\n";
        for (find, line, text, differs) in [
            ("order the  slates\u{a0}now", 3, "Order the  Slates\u{a0}now", "case"),
            ("Order the Slates now.", 3, "Order the  Slates\u{a0}now.", "its blanks"),
            ("It's \"fine\"", 4, "It’s “fine”", "its quotes or dashes"),
            ("caf\u{e9}", 4, "cafe\u{301}", "its Unicode form"),
            ("IT'S fine", 4, "It’s “fine", "a few letters"),
            ("one\n    two", 5, "one\n\ttwo", "its blanks"),
            ("it's \"FINE\"", 4, "It’s “fine”", "more than one of case, blanks, quotes and Unicode form"),
            ("order the slates now.\nand gold", 3, "Order the  Slates\u{a0}now.", "the lines after its first"),
            ("Gold", 0, "", ""),
        ] {
            let near = near_text(NOTE, find);
            let expected = (line > 0).then(|| NearText { line, text: text.to_owned(), differs });
            assert_eq!(near, expected, "{find}");
        }
        // What begins like it goes on being compared from there, and blanks at the start of a text are one.
        for (shown, find, line) in [("aab aAaB", "aaab", 1), ("abababAC", "ababac", 1), (" \n\u{200b} B", "b", 2)] {
            assert_eq!(near_text(shown, find).map(|near| near.line), Some(line), "{shown}");
        }
        assert_eq!(near_text("", "x"), None);
        assert_eq!(near_text("x", " \n"), None);
        assert_eq!(lines_of("a\nb a\n\na", "a"), [1, 2, 4]);
    }
}
