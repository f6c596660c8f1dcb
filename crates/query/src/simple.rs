//! Search for words without an index or ranking.

use std::ops::Range;

use crate::{LetterCase, Pattern, PatternError, PatternKind, PatternOptions};

/// Words that must all occur in a note, in its name or its text, in any case and order.
pub struct SimpleQuery {
    words: Vec<Pattern>,
}

/// The positions of the words of a query, in order; adjacent ones are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleMatches {
    pub in_name: Vec<Range<usize>>,
    pub in_text: Vec<Range<usize>>,
}

impl SimpleQuery {
    /// White space separates words; a query without any is refused as empty.
    pub fn parse(query: &str) -> Result<Self, PatternError> {
        let mut words: Vec<&str> = query.split_whitespace().collect();
        words.sort_unstable();
        // A repeated word would be searched twice and find the same.
        words.dedup();
        if words.is_empty() {
            return Err(PatternError::Empty);
        }
        let compile = |word: &&str| {
            let options = PatternOptions {
                kind: PatternKind::Literal,
                case: LetterCase::Insensitive,
                whole_word: false,
                // Accented letters have two encodings. Plain letters do not.
                nfc: !word.is_ascii(),
            };
            Pattern::compile(word, &options)
        };
        Ok(Self { words: words.iter().map(compile).collect::<Result<_, _>>()? })
    }

    /// `None` if a word is missing, or if it was stopped.
    pub fn find(&self, name: &str, text: &str, stop: &dyn Fn() -> bool) -> Option<SimpleMatches> {
        let mut found = SimpleMatches::default();
        for word in &self.words {
            let (in_name, in_text) = (spans(word, name, stop), spans(word, text, stop));
            // All words are required, so the others need not be searched.
            if in_name.is_empty() && in_text.is_empty() {
                return None;
            }
            found.in_name.extend(in_name);
            found.in_text.extend(in_text);
        }
        join(&mut found.in_name);
        join(&mut found.in_text);
        Some(found)
    }
}

/// No word contains white space, so none spans a line ending.
fn spans(word: &Pattern, text: &str, stop: &dyn Fn() -> bool) -> Vec<Range<usize>> {
    let lines = word.lines(text.as_bytes(), stop);
    let in_line = |line: crate::LineMatch| {
        line.matches.into_iter().map(move |span| line.span.start + span.start..line.span.start + span.end)
    };
    // With composed text, a span may end within a character.
    lines.flat_map(in_line).filter(|span| text.get(span.clone()).is_some()).collect()
}

fn join(spans: &mut Vec<Range<usize>>) {
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    spans.dedup_by(|next, before| {
        // Words that overlap or touch are shown as one match.
        let touch = next.start <= before.end;
        if touch {
            before.end = before.end.max(next.end);
        }
        touch
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_must_occur_somewhere() {
        for (query, name, text, found) in [
            ("stone", "Plan", "A stone\nSTONES", Some((vec![], vec!["stone", "STONE"]))),
            ("stone plan", "Plan", "A stone", Some((vec!["Plan"], vec!["stone"]))),
            ("stone roof", "Plan", "A stone", None),
            ("sto one", "x", "stone", Some((vec![], vec!["stone"]))),
            ("a b", "x", "ab", Some((vec![], vec!["ab"]))),
            ("a a A", "x", "a", Some((vec![], vec!["a"]))),
            ("cafe\u{301}", "x", "CAF\u{c9} caf\u{e9}", Some((vec![], vec!["CAF\u{c9}", "caf\u{e9}"]))),
            ("石", "石庭", "", Some((vec!["石"], vec![]))),
        ] {
            let matches = SimpleQuery::parse(query).unwrap().find(name, text, &|| false);
            let shown = matches.map(|found| {
                let part = |text: &'static str, spans: Vec<Range<usize>>| {
                    spans.into_iter().map(|span| &text[span]).collect::<Vec<_>>()
                };
                (part(name, found.in_name), part(text, found.in_text))
            });
            assert_eq!(shown, found, "{query}");
        }
        assert_eq!(SimpleQuery::parse(" \n").err(), Some(PatternError::Empty));
    }
}
