//! Every text is a query, and evaluating it on any text terminates.

use bolero::check;
use lapidary_query::{Lexicon, SearchQuery, TextUnit, Words, search_words};

/// Accepts only the typed words.
struct Literally;

impl Lexicon for Literally {
    fn accepts(&self, words: &Words, at: usize, term: &str) -> bool {
        words.terms.get(at).is_some_and(|wanted| wanted == term)
    }
}

const PARTS: [&str; 32] = [
    "stone",
    "Roof ",
    " ",
    "\"",
    "(",
    ")",
    "-",
    " OR ",
    "/",
    "[",
    "]",
    ":",
    "path:",
    "line:",
    "task-todo:",
    "match-case:",
    "tag:#",
    "*",
    "\\",
    "[status:",
    ">5",
    "検索",
    "石",
    "é",
    "e\u{301}",
    "💎",
    "OR",
    "(a|b)+",
    "content:",
    "\n",
    "#a/b",
    "EMPTY",
];

#[test]
fn every_text_is_a_query() {
    check!().for_each(|bytes: &[u8]| {
        let spelt: String = bytes.iter().map(|byte| PARTS[usize::from(*byte) % PARTS.len()]).collect();
        for text in [spelt.as_str(), &String::from_utf8_lossy(bytes)] {
            let query = SearchQuery::parse(text);
            for words in query.wanted() {
                assert!(words.number < query.words && !words.terms.is_empty());
            }
            TextUnit::new(text).fulfils(&query.root, &Literally, None);
        }
    });
}

#[test]
fn a_quoted_text_finds_itself() {
    check!().for_each(|bytes: &[u8]| {
        let text: String = String::from_utf8_lossy(bytes).replace(['"', '\\'], " ");
        let words = search_words(&text);
        if !words.is_empty() && words.len() <= 64 {
            let query = SearchQuery::parse(&format!("\"{text}\""));
            assert!(TextUnit::new(&text).fulfils(&query.root, &Prefixed, None), "{text:?}");
        }
    });
}

/// A single character of a script without spaces matches every pair that starts with it.
struct Prefixed;

impl Lexicon for Prefixed {
    fn accepts(&self, words: &Words, at: usize, term: &str) -> bool {
        let wanted = &words.terms[at];
        if words.open && at + 1 == words.terms.len() { term.starts_with(wanted.as_str()) } else { wanted == term }
    }
}
