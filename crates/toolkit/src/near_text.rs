//! Finds the text that a caller probably meant when its search text is missing.

use lapidary_operation::{NearText, clipped};
use unicode_normalization::UnicodeNormalization;

/// Longer texts are not searched again.
const LONGEST: usize = 10_000;

/// The place that matches `find` except for case, blanks, quotes or Unicode form; otherwise the place of its first
/// line. Linear in the text.
pub(crate) fn near_text(shown: &str, find: &str) -> Option<NearText> {
    if find.len() > LONGEST {
        return None;
    }
    let text = PlainText::of(shown);
    let place = |find: &str| {
        let wanted = PlainText::of(find.trim());
        text.find(&wanted)
    };
    if let Some((start, end)) = place(find) {
        let found = &shown[start..end];
        return Some(NearText {
            line: line_of(shown, start),
            text: clipped(found),
            differs: differs(find.trim(), found),
        });
    }
    let first = find.lines().find(|line| !line.trim().is_empty())?;
    let (start, _) = Some(first).filter(|first| first.len() < find.trim().len()).and_then(place)?;
    let end = shown[start..].find('\n').map_or(shown.len(), |at| start + at);
    let text = clipped(&shown[start..end]);
    Some(NearText { line: line_of(shown, start), text, differs: "the lines after its first" })
}

/// The lines that contain a text, as many as help to choose.
pub(crate) fn lines_of(shown: &str, find: &str) -> Vec<usize> {
    const MOST: usize = 20;
    let (mut line, mut counted) = (1, 0);
    let places = shown.match_indices(find).take(MOST);
    places
        .map(|(at, _)| {
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

/// A text normalised for comparison: case folded and decomposed, runs of blanks as one, plain quotes.
struct PlainText {
    letters: String,
    /// For each byte, the start and end of its source in the text.
    from: Vec<(u32, u32)>,
}

impl PlainText {
    fn of(text: &str) -> Self {
        let mut plain = Self { letters: String::with_capacity(text.len()), from: Vec::with_capacity(text.len()) };
        let invisible = |c: char| matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}');
        for (at, c) in text.char_indices() {
            let place = (u32::try_from(at).unwrap_or(u32::MAX), u32::try_from(at + c.len_utf8()).unwrap_or(u32::MAX));
            if c.is_whitespace() {
                if !plain.letters.ends_with(' ') {
                    plain.put(' ', place);
                }
            } else if !invisible(c) {
                for part in std::iter::once(plain_quote(c)).nfd().flat_map(char::to_lowercase) {
                    plain.put(part, place);
                }
            }
        }
        plain
    }

    fn put(&mut self, c: char, place: (u32, u32)) {
        self.letters.push(c);
        self.from.resize(self.letters.len(), place);
    }

    fn find(&self, wanted: &Self) -> Option<(usize, usize)> {
        let (start, length) = (self.letters.find(&wanted.letters)?, wanted.letters.len());
        let (first, last) = (self.from.get(start)?, self.from.get((start + length).checked_sub(1)?)?);
        Some((first.0 as usize, last.1 as usize))
    }
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
            ("IT'S fine", 0, "", ""),
            ("one\n    two", 5, "one\n\ttwo", "its blanks"),
            ("it's \"FINE\"", 4, "It’s “fine”", "more than one of case, blanks, quotes and Unicode form"),
            ("order the slates now.\nand gold", 3, "Order the  Slates\u{a0}now.", "the lines after its first"),
            ("Gold", 0, "", ""),
        ] {
            let near = near_text(NOTE, find);
            let expected = (line > 0).then(|| NearText { line, text: text.to_owned(), differs });
            assert_eq!(near, expected, "{find}");
        }
        assert_eq!(near_text("", "x"), None);
        assert_eq!(near_text("x", " \n"), None);
        assert_eq!(lines_of("a\nb a\n\na", "a"), [1, 2, 4]);
    }
}
