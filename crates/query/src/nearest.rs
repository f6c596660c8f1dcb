//! The known name a person probably meant when they wrote one that does not exist.

use lapidary_note::count_steps;

/// Longer names are not compared: they are rarely mistyped, and the work for hostile input stays bounded.
const LONGEST: usize = 80;

/// Shorter words would be contained in almost everything.
const SHORTEST_CONTAINED: usize = 3;

/// How near a known name is. Earlier variants are nearer; the number orders within a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameDistance {
    /// The same except for case and separators.
    Spelling,
    /// This many typos apart.
    Typos(usize),
    /// One starts with the other; this many letters are left over.
    Prefix(usize),
    /// One contains the other, from the start of a word on or as most of it.
    Contains(usize),
    /// The known name contains all words of the other, in that order: `MCP_PORT` and `MCP_HTTP_PORT`.
    Words(usize),
}

/// The known name that is nearest to `word`, if one is near enough to be worth suggesting.
///
/// Case and `-`, `_`, `.` are ignored. Of equally near names the alphabetically first is returned, regardless of their
/// order.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = ComparedName::new(word)?;
    known
        .into_iter()
        .filter_map(|name| Some((nearness(&word, &ComparedName::new(name)?)?, name)))
        .min()
        .map(|(_, name)| name)
}

/// The known names nearest to `word`, nearest first; only those that are a few typos away, or contain it.
pub fn nearest_several<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let Some(word) = ComparedName::new(word) else { return Vec::new() };
    let mut found: Vec<(NameDistance, &str)> =
        known.into_iter().filter_map(|name| Some((nearness(&word, &ComparedName::new(name)?)?, name))).collect();
    found.sort_unstable();
    // The same name may occur in several folders.
    found.dedup();
    found.into_iter().take(most).map(|(_, name)| name).collect()
}

/// A name in the form in which it is compared.
struct ComparedName {
    letters: Vec<char>,
    words: Vec<String>,
}

impl ComparedName {
    fn new(text: &str) -> Option<Self> {
        // Charged for each known name, as there may be as many as notes.
        count_steps(8 * text.len().min(LONGEST));
        if text.chars().take(LONGEST + 1).count() > LONGEST {
            return None;
        }
        let lower = text.trim().to_lowercase();
        let words: Vec<String> =
            lower.split(['-', '_', '.']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let letters: Vec<char> = words.iter().flat_map(|word| word.chars()).collect();
        (!letters.is_empty()).then_some(Self { letters, words })
    }

    /// Whether it contains these letters in a plausible way: `open` is in `open_in_ui`, `plan` in `bauplan`, but `nope`
    /// is not in `obsidian_open`.
    fn holds(&self, letters: &[char]) -> bool {
        let mut word_starts = vec![0];
        for word in &self.words {
            word_starts.extend(word_starts.last().map(|start| start + word.chars().count()));
        }
        // Words in the sense of separators, and those after any other sign.
        let begins_word = |at: usize| word_starts.contains(&at) || !self.letters[at - 1].is_alphanumeric();
        let is_most = letters.len() * 2 > self.letters.len();
        let mut parts = self.letters.windows(letters.len()).enumerate();
        parts.any(|(at, part)| part == letters && (is_most || begins_word(at)))
    }
}

fn nearness(word: &ComparedName, known: &ComparedName) -> Option<NameDistance> {
    let apart = word.letters.len().abs_diff(known.letters.len());
    if word.letters == known.letters {
        return Some(NameDistance::Spelling);
    }
    // About one typo in three letters; more would turn one short word into any other.
    let limit = (word.letters.len() / 3).min(4);
    if apart <= limit {
        let typos = typos(&word.letters, &known.letters);
        if typos <= limit && !has_other_word(&word.words, &known.words) {
            return Some(NameDistance::Typos(typos));
        }
    }
    let (short, long) = if word.letters.len() < known.letters.len() { (word, known) } else { (known, word) };
    if short.letters.len() < SHORTEST_CONTAINED {
        None
    } else if long.letters.starts_with(&short.letters) {
        Some(NameDistance::Prefix(apart))
    } else if long.holds(&short.letters) {
        Some(NameDistance::Contains(apart))
    } else if word.words.len() > 1 && holds_in_order(&known.words, &word.words) {
        Some(NameDistance::Words(apart))
    } else {
        None
    }
}

/// Whether one of several words is not a misspelling but another word: `list_tasks` does not mean `list_tags`.
fn has_other_word(words: &[String], known: &[String]) -> bool {
    let is_other = |(word, known): (&String, &String)| {
        let (word, known): (Vec<char>, Vec<char>) = (word.chars().collect(), known.chars().collect());
        typos(&word, &known) > (word.len() / 3).max(1)
    };
    words.len() > 1 && words.len() == known.len() && words.iter().zip(known).any(is_other)
}

fn holds_in_order(words: &[String], wanted: &[String]) -> bool {
    let mut rest = words.iter();
    wanted.iter().all(|wanted| rest.any(|word| word == wanted))
}

/// How many letters must be added, removed, replaced or swapped with their neighbour (Damerau–Levenshtein, where no
/// part is edited twice).
pub(crate) fn typos(from: &[char], to: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (i, &a) in from.iter().enumerate() {
        let mut row = Vec::with_capacity(to.len() + 1);
        row.push(i + 1);
        for (j, &b) in to.iter().enumerate() {
            let mut least = (above[j] + usize::from(a != b)).min(above[j + 1] + 1).min(row[j] + 1);
            // Two neighbours swapped count as one typo: the most common one when typing fast.
            if i > 0 && j > 0 && a == to[j - 1] && from[i - 1] == b {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: &[&str] = &[
        "apply_edits",
        "file_list",
        "file_move",
        "file_read",
        "file_read_range",
        "obsidian_get_note",
        "obsidian_list_notes",
        "obsidian_open_in_ui",
        "obsidian_write_note",
        "outline",
        "str_replace",
    ];
    const VARIABLES: &[&str] = &[
        "MCP_HTTP_HOST",
        "MCP_HTTP_MAX_PORT_RETRIES",
        "MCP_HTTP_PORT",
        "OBSIDIAN_API_KEY",
        "OBSIDIAN_READ_ONLY",
        "OBSIDIAN_VAULT_PATHS",
    ];

    #[test]
    fn the_probable_name_is_found() {
        for (word, known, meant) in [
            ("file.read", TOOLS, Some("file_read")),
            ("FILE-READ", TOOLS, Some("file_read")),
            ("outlnie", TOOLS, Some("outline")),
            ("obsidian_list_noets", TOOLS, Some("obsidian_list_notes")),
            ("obsidian_list_nodes", TOOLS, Some("obsidian_list_notes")),
            ("obsidian_list_tasks", TOOLS, None),
            ("file_lift", TOOLS, Some("file_list")),
            ("file_merge", TOOLS, None),
            ("outlin", TOOLS, Some("outline")),
            ("str_repalce", TOOLS, Some("str_replace")),
            ("obsidian_get_notes", TOOLS, Some("obsidian_get_note")),
            ("write_note", TOOLS, Some("obsidian_write_note")),
            ("apply", TOOLS, Some("apply_edits")),
            ("file_read_range_of_lines", TOOLS, Some("file_read_range")),
            ("OBSIDIAN_VAULT_PATH", VARIABLES, Some("OBSIDIAN_VAULT_PATHS")),
            ("OBSIDIAN_VAULT", VARIABLES, Some("OBSIDIAN_VAULT_PATHS")),
            ("OBSIDIAN_APIKEY", VARIABLES, Some("OBSIDIAN_API_KEY")),
            ("MCP_PORT", VARIABLES, Some("MCP_HTTP_PORT")),
            ("größe", &["grösse", "Größe"], Some("Größe")),
        ] {
            assert_eq!(nearest(word, known.iter().copied()), meant, "{word}");
        }
    }

    #[test]
    fn nothing_is_suggested_for_an_unrelated_word() {
        for word in ["", "  ", "._-", "x", "ab", "teleport", "qqqqqqqq", "bash", "nope", "teno"] {
            assert_eq!(nearest(word, TOOLS.iter().copied()), None, "{word:?}");
        }
        assert_eq!(nearest("anything", []), None);
    }

    #[test]
    fn fewer_typing_errors_win_and_equal_ones_go_by_the_alphabet() {
        assert_eq!(nearest("tags", ["tagx", "tag"]), Some("tag"));
        assert_eq!(nearest("tags", ["tag", "tagx"]), Some("tag"));
        assert_eq!(nearest("node", ["nose", "code", "mode"]), Some("code"));
    }

    #[test]
    fn a_swap_of_neighbours_is_one_error() {
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        for (from, to, errors) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "acb", 1), ("kitten", "sitting", 3), ("ca", "abc", 3)]
        {
            assert_eq!(typos(&letters(from), &letters(to)), errors, "{from} {to}");
        }
    }

    #[test]
    fn a_hostile_word_costs_nothing_and_finds_nothing() {
        let long = "a".repeat(50_000_000);
        assert_eq!(nearest(&long, TOOLS.iter().copied()), None);
        assert_eq!(nearest("outline", [long.as_str(), "outline"]), Some("outline"));
    }
}
