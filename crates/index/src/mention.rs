//! Whether a text may name a file, by its bytes: the letters of a link target, in any spelling.

use lapidary_query::{LetterCase, Pattern, PatternKind, PatternOptions};
use memchr::{memchr_iter, memchr2_iter, memmem};

use crate::{VaultPath, links::folded_name};

/// Searches for the name of a file in unparsed texts. It may find the name where there is no link, but never misses a
/// link.
pub(crate) struct MayMention {
    /// Parts of the name that every link to it has, in lower case.
    runs: Vec<Vec<u8>>,
    /// For a name without any.
    letters: Option<Pattern>,
}

impl MayMention {
    pub(crate) fn of(target: &VaultPath) -> Self {
        let folded = folded_name(target.name());
        let mut name: &str = folded.trim();
        while let Some(shorter) = name.strip_suffix(".md") {
            name = shorter;
        }
        let mut runs: Vec<Vec<u8>> = Vec::new();
        let mut run = Vec::new();
        for c in name.chars() {
            if is_plain(c) {
                run.extend(c.encode_utf8(&mut [0; 4]).bytes());
                continue;
            }
            if !c.is_ascii() {
                // It may have been one letter with the one before it.
                run.pop();
            }
            runs.extend(Some(std::mem::take(&mut run)).filter(|run| !run.is_empty()));
        }
        runs.extend(Some(run).filter(|run| !run.is_empty()));
        let letters = name.split(|c: char| c.is_ascii() || c.is_whitespace()).max_by_key(|part| part.len());
        let options =
            PatternOptions { kind: PatternKind::Literal, case: LetterCase::Insensitive, whole_word: false, nfc: true };
        let letters = letters.filter(|_| runs.is_empty()).and_then(|part| Pattern::compile(part, &options).ok());
        Self { runs, letters }
    }

    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        let plain = match (&self.letters, self.runs.is_empty()) {
            (Some(letters), _) => letters.count_lines(text, &|| false).lines > 0,
            // An empty name excludes nothing.
            (None, true) => true,
            (None, false) => self.runs.iter().all(|run| holds(text, run)),
        };
        plain || may_hide(text, self.letters.is_some())
    }
}

/// Characters that links normally write literally.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

fn holds(text: &[u8], run: &[u8]) -> bool {
    // The rarest letter needs the fewest checks.
    let common = |byte: &u8| b"zqxjkvbpygw0123456789fmucldrhsniatoe-_".iter().position(|known| known == byte);
    let Some((at, rare)) = run.iter().enumerate().min_by_key(|(_, byte)| common(byte)) else { return true };
    memchr2_iter(*rare, rare.to_ascii_uppercase(), text).any(|found| {
        let found = found.checked_sub(at).and_then(|start| text.get(start..start + run.len()));
        found.is_some_and(|found| found.eq_ignore_ascii_case(run))
    })
}

/// Whether letters may be written differently: `%2D`, `\-`, `&#45;`, `\u002d`, or the Kelvin sign.
fn may_hide(text: &[u8], other_letters: bool) -> bool {
    let digits = |from: usize, count: usize| {
        let digits = text.get(from..from + count).and_then(|digits| str::from_utf8(digits).ok())?;
        u32::from_str_radix(digits, 16).ok()
    };
    let is_wanted = |code: u32| match char::from_u32(code) {
        Some(c) if code < 0x80 => is_plain(c),
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
}
