//! Letters as JavaScript's `\p{Letter}` has them.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, Hir, HirKind};

/// `\p{Letter}`, which is less than what Rust calls alphabetic: circled letters and Roman numerals are not letters.
pub fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    static LETTERS: OnceLock<Vec<(char, char)>> = OnceLock::new();
    let letters = LETTERS.get_or_init(|| match regex_syntax::parse(r"\p{L}").map(Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.ranges().iter().map(|range| (range.start(), range.end())).collect()
        }
        _ => Vec::new(),
    });
    // The ranges are in order and do not overlap.
    let behind = letters.partition_point(|(start, _)| *start <= c);
    behind.checked_sub(1).is_some_and(|at| c <= letters[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_all_scripts_count_and_nothing_that_only_looks_like_one() {
        for letter in ['a', 'Z', 'é', 'ß', 'ж', '石', 'ª', 'ʰ'] {
            assert!(is_letter(letter), "{letter}");
        }
        for other in ['1', '_', '²', '°', 'Ⅷ', 'ⓐ', '\u{301}', '\u{93e}', '🎅'] {
            assert!(!is_letter(other), "{other}");
        }
    }
}
