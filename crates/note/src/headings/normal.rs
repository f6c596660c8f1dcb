//! Headings in the forms in which Obsidian compares and links them.

use crate::tags::is_space;

/// A heading as Obsidian compares it with the heading of a link: punctuation counts as a space, case and the number of
/// spaces are ignored.
pub(crate) fn heading_key(text: &str) -> String {
    let spaced = |c: char| if is_punctuation(c) { ' ' } else { c };
    collapse(text.chars().map(spaced).flat_map(char::to_lowercase))
}

/// A heading as Obsidian writes it into a link: only characters that would break the link become a space.
pub(crate) fn heading_for_link(text: &str) -> String {
    let unpaired = text.replace("%%", " ").replace("[[", " ").replace("]]", " ");
    collapse(unpaired.chars().map(|c| if matches!(c, ':' | '#' | '|' | '^' | '\\' | '\r' | '\n') { ' ' } else { c }))
}

/// All ASCII punctuation except `'`, `-` and `_`.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() && !matches!(c, '\'' | '-' | '_')
}

fn collapse(characters: impl Iterator<Item = char>) -> String {
    let mut collapsed = String::new();
    for c in characters {
        match is_space(c) {
            false => collapsed.push(c),
            true if collapsed.ends_with(' ') || collapsed.is_empty() => {}
            true => collapsed.push(' '),
        }
    }
    collapsed.truncate(collapsed.trim_end().len());
    collapsed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_compared_loosely_and_written_carefully() {
        for (text, key, written) in [
            ("**Bold**: x", "bold x", "**Bold** x"),
            ("2.4 vs 5.0", "2 4 vs 5 0", "2.4 vs 5.0"),
            ("It's a-b_c", "it's a-b_c", "It's a-b_c"),
            ("  Größe\u{a0}/ ÄÖ  ", "größe äö", "Größe / ÄÖ"),
            ("a [[b|c]] ^id", "a b c id", "a b c id"),
            ("100%% #x \\", "100 x", "100 x"),
            ("石庭 💎", "石庭 💎", "石庭 💎"),
        ] {
            assert_eq!(heading_key(text), key, "{text:?}");
            assert_eq!(heading_for_link(text), written, "{text:?}");
        }
    }
}
