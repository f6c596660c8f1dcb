//! Whether a text may name a file, by its bytes: the letters of a link target, in any spelling.

use lapidary_query::{LetterCase, Pattern, PatternKind, PatternOptions};
use memchr::{memchr_iter, memchr2_iter, memmem};

use crate::{VaultPath, links::folded_name};

/// Searches for the name of a file in unparsed texts. It may find the name where there is no link, but never misses a
/// link.
pub(crate) struct MayMention {
    /// Every link to the file has all of these.
    chains: Vec<Vec<NameRun>>,
    /// For a name without any.
    letters: Option<Pattern>,
}

/// A part of a name that links write literally, in lower case.
#[derive(Debug, PartialEq)]
struct NameRun {
    bytes: Vec<u8>,
    /// The number of characters between the previous run of the chain and this one.
    gap: usize,
}

/// The most bytes one character takes in any notation; the longest HTML entity has 33.
const LONGEST_CHARACTER: usize = 40;
/// Runs that are further apart are searched independently.
const WIDEST_GAP: usize = 8;
/// A text with more occurrences of a run than this counts as mentioning the file.
const MOST_PLACES: usize = 10_000;

impl MayMention {
    pub(crate) fn of(target: &VaultPath) -> Self {
        let folded = folded_name(target.name());
        let mut name: &str = folded.trim();
        // Links may leave out `.md`, and `a.md.md` is a note named `a.md`.
        while let Some(shorter) = name.strip_suffix(".md") {
            name = shorter;
        }
        let chains = chains(name);
        let letters = name.split(|c: char| c.is_ascii() || c.is_whitespace()).max_by_key(|part| part.len());
        let options =
            PatternOptions { kind: PatternKind::Literal, case: LetterCase::Insensitive, whole_word: false, nfc: true };
        let letters = letters.filter(|_| chains.is_empty()).and_then(|part| Pattern::compile(part, &options).ok());
        Self { chains, letters }
    }

    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        let plain = match &self.letters {
            Some(letters) => letters.count_lines(text, &|| false).lines > 0,
            // An empty name excludes nothing.
            None => self.chains.iter().all(|chain| has_chain(text, chain)),
        };
        plain || may_hide(text, self.letters.is_some())
    }
}

/// The runs of a name, grouped into chains with only ASCII between the runs, where all notations are known.
fn chains(name: &str) -> Vec<Vec<NameRun>> {
    let mut chains: Vec<Vec<NameRun>> = Vec::new();
    let mut parts = name.split(|c: char| !c.is_ascii()).peekable();
    while let Some(part) = parts.next() {
        // The last letter may be composed with the next character.
        let part = if parts.peek().is_some() { &part[..part.len().saturating_sub(1)] } else { part };
        let (mut chain, mut gap) = (Vec::new(), 0);
        for run in part.split(|c: char| !is_plain(c)) {
            if !run.is_empty() {
                // Far apart, any text may be between them, and checking the distance would cost more than it
                // excludes.
                if gap > WIDEST_GAP {
                    chains.push(std::mem::take(&mut chain));
                }
                chain.push(NameRun { bytes: run.as_bytes().to_vec(), gap });
                gap = 0;
            }
            gap += 1;
        }
        chains.push(chain);
    }
    chains.retain(|chain| !chain.is_empty());
    chains
}

/// Whether all runs of a chain occur in order, separated only by what a link may write between them.
fn has_chain(text: &[u8], chain: &[NameRun]) -> bool {
    let Some((first, rest)) = chain.split_first() else { return true };
    // Most texts lack the name altogether; the longest run excludes them fastest.
    if rest.iter().max_by_key(|run| run.bytes.len()).is_some_and(|run| run.places(text).next().is_none()) {
        return false;
    }
    // The positions where the runs so far may end.
    let mut ends: Vec<usize> = first.places(text).map(|at| at + first.bytes.len()).take(MOST_PLACES + 1).collect();
    for run in rest {
        // A text full of the first run: parsing it costs less than following every place.
        if ends.len() > MOST_PLACES {
            return true;
        }
        ends = run.ends_after(text, &ends);
    }
    !ends.is_empty()
}

impl NameRun {
    /// The positions where it starts in a text, in order.
    fn places<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = usize> + 't {
        // The rarest letter needs the fewest checks.
        // From rare to common in English; any order is correct.
        let common = |byte: &u8| b"zqxjkvbpygw0123456789fmucldrhsniatoe-_".iter().position(|known| known == byte);
        let rarest = self.bytes.iter().enumerate().min_by_key(|(_, byte)| common(byte));
        let (at, rare) = rarest.map_or((0, 0), |(at, rare)| (at, *rare));
        memchr2_iter(rare, rare.to_ascii_uppercase(), text)
            .filter_map(move |found| found.checked_sub(at).filter(|start| self.is_at(text, *start)))
    }

    fn is_at(&self, text: &[u8], start: usize) -> bool {
        text.get(start..start + self.bytes.len()).is_some_and(|found| found.eq_ignore_ascii_case(&self.bytes))
    }

    /// The positions where it may end if the previous run ends at one of `ends`. Between the two, letters and digits occur
    /// only inside an escape (`%20`, `&#32;`); a space may be a line break with any indentation.
    fn ends_after(&self, text: &[u8], ends: &[usize]) -> Vec<usize> {
        let mut found = Vec::new();
        for end in ends {
            let (mut written, mut escaped) = (0, false);
            for (at, byte) in text.iter().enumerate().skip(*end) {
                if self.is_at(text, at) {
                    found.push(at + self.bytes.len());
                }
                escaped |= matches!(byte, b'%' | b'&' | b'\\');
                written += usize::from(!byte.is_ascii_whitespace());
                // Anything plain that is not part of an escape ends the name, so the next run must be here.
                if (is_plain(char::from(*byte)) && !escaped) || written > self.gap * LONGEST_CHARACTER {
                    break;
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Characters that links normally write literally.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Whether letters may be written differently: `%2D`, `\-`, `&#45;`, `\u002d`, or the Kelvin sign.
fn may_hide(text: &[u8], other_letters: bool) -> bool {
    let digits = |from: usize, count: usize| {
        let digits = text.get(from..from + count).and_then(|digits| str::from_utf8(digits).ok())?;
        u32::from_str_radix(digits, 16).ok()
    };
    let is_wanted = |code: u32| match char::from_u32(code) {
        Some(c) if code < 0x80 => is_plain(c),
        // An entity for another letter matters only for a name that has other letters.
        _ => other_letters || code > 0xff,
    };
    memchr_iter(b'%', text).any(|at| digits(at + 1, 2).is_some_and(is_wanted))
        || memchr_iter(b'&', text).any(|at| match text.get(at + 1) {
            Some(b'#') => true,
            Some(next) => other_letters && next.is_ascii_alphabetic(),
            None => false,
        })
        || memchr_iter(b'\\', text).any(|at| match text.get(at + 1) {
            Some(b'-' | b'_') => true,
            Some(b'u') => digits(at + 2, 4).is_some_and(|code| is_wanted(code) || other_letters),
            Some(b'x') => digits(at + 2, 2).is_some_and(|code| is_wanted(code) || other_letters),
            Some(b'U') => digits(at + 2, 8).is_some(),
            _ => false,
        })
        || memmem::find(text, "\u{212a}".as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_found_however_a_link_writes_it() {
        for (path, texts) in [
            (
                "Areas/Stone Log.md",
                &["[[stone log]]", "[x](Areas/Stone%20Log.md)", "[x](<STONE LOG>)", "[x](%53tone%20Log)"][..],
            ),
            ("2026-04-15.md", &["[[2026-04-15|x]]", "[x](2026\\-04-15.md)", "[x](2026%2D04-15)"]),
            ("Café.md", &["[[cafe\u{301}]]", "[[CAFÉ]]", "[x](Caf%C3%A9.md)", "[x](caf&eacute;.md)"]),
            ("石庭.md", &["[[石庭]]", "[x](%E7%9F%B3%E5%BA%AD.md)", r#""file":"\u77f3\u5ead.md""#]),
            ("İstanbul.md", &["[[İstanbul]]", "[[i\u{307}stanbul]]"]),
            ("Kelvin.md", &["[[\u{212a}elvin]]"]),
            ("💎.md", &["![[💎]]"]),
        ] {
            let mention = MayMention::of(&VaultPath::parse(path).unwrap());
            for text in texts {
                assert!(mention.is_in(text.as_bytes()), "{path}: {text}");
            }
            assert!(!mention.is_in(b"[[Something]] else, 100 % plain, a & b"), "{path}");
        }
    }

    #[test]
    fn the_parts_of_a_name_are_looked_for_as_one() {
        let mention = |path: &str, text: &str| MayMention::of(&VaultPath::parse(path).unwrap()).is_in(text.as_bytes());
        for text in [
            "[[note 0]]",
            "[x](Note%200.md)",
            "[x](<note&nbsp;0>)",
            "[x](note\\ 0)",
            "up: \"[[Note\n      0]]\"",
            "> [[Note\n> 0]]",
            "[[Note\u{a0}0]]",
            "[x](note&#32;0)",
        ] {
            assert!(mention("Note 0.md", text), "{text}");
        }
        for text in ["[[Note 10]]", "[[Note 5302]]", "a note of 0", "[[0 Note]]", "[[Note]] 1 and 0"] {
            assert!(!mention("Note 0.md", text), "{text}");
        }
        assert!(mention("2 0.md", "[x](2%200)"), "a part may be found in the text between");
        assert!(mention("a - b (c).md", "[x](a%20-%20b%20%28c%29.md)"));
        assert!(!mention("a - b (c).md", "a [- b] d c"));
        assert!(mention("Zoë Log 1.md", "[[zoe\u{308} log 1]]"));
        let far = format!("a{}b.md", " ".repeat(50));
        assert!(mention(&far, "[[b a]]"), "runs that are far apart are looked for each for itself");
        assert!(mention("a b.md", &("a&".repeat(1_000_000) + "b")), "not all of them are counted");
    }

    proptest! {
        #[test]
        fn no_way_to_write_a_name_is_missed(
            characters in prop::collection::vec(prop::sample::select("aB2-_ .,()'&é石".chars().collect::<Vec<_>>()), 1..12),
            ways in prop::collection::vec(0_u8..6, 12),
        ) {
            let name: String = characters.iter().collect();
            let Ok(path) = VaultPath::parse(&format!("{name}.md")) else { return Ok(()) };
            let mut text = "see [x](".to_owned();
            for (c, way) in characters.iter().zip(ways) {
                match way {
                    0 => c.to_string().bytes().for_each(|byte| text += &format!("%{byte:02X}")),
                    1 => text += &format!("&#{};", u32::from(*c)),
                    2 if c.is_ascii_punctuation() => text.extend(['\\', *c]),
                    3 if *c == ' ' => text += "\n    ",
                    4 => text.extend(c.to_uppercase()),
                    _ => text.push(*c),
                }
            }
            prop_assert!(MayMention::of(&path).is_in(text.as_bytes()), "{path}: {text}");
        }
    }
}
