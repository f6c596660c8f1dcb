use std::ops::Range;

use super::{Node, Words, search_tokens};
use crate::LineMatch;

/// Which terms stand for a word of a query: itself, other forms, what somebody probably meant.
pub trait Lexicon {
    /// Whether this term may stand for the word with this number in `words`.
    fn accepts(&self, words: &Words, at: usize, term: &str) -> bool;
}

/// A piece of text that is looked at by itself.
pub struct Unit<'t> {
    text: &'t str,
    /// All its words one after another, which is much quicker than each by itself.
    terms: String,
    words: Vec<Place>,
}

/// Where a word is among the terms, and in the text.
struct Place {
    term: Range<usize>,
    span: Range<usize>,
}

impl<'t> Unit<'t> {
    pub fn new(text: &'t str) -> Self {
        let (mut terms, mut words) = (String::with_capacity(text.len()), Vec::new());
        search_tokens(text, |token| {
            let start = terms.len();
            terms.push_str(token.term);
            words.push(Place { term: start..terms.len(), span: token.start..token.end });
        });
        Self { text, terms, words }
    }

    /// Where words of a query stand, in order, in bytes of the text.
    pub fn find(&self, words: &Words, lexicon: &dyn Lexicon) -> Vec<Range<usize>> {
        let accepts = |(at, word): (usize, &Place)| lexicon.accepts(words, at, &self.terms[word.term.clone()]);
        let fits = |run: &[Place]| run.iter().enumerate().all(accepts);
        let span = |run: &[Place]| Some(run.first()?.span.start..run.last()?.span.end);
        self.words.windows(words.terms.len().max(1)).filter(|run| fits(run)).filter_map(span).collect()
    }

    /// Everything in the text that a query asks for, with the number of the words it was found by; what is excluded is not
    /// looked for, and what is no word comes with a number beyond theirs.
    pub fn matches(&self, node: &Node, lexicon: &dyn Lexicon) -> Vec<(usize, Range<usize>)> {
        match node {
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().flat_map(|node| self.matches(node, lexicon)).collect(),
            Node::Within(_, node) => self.matches(node, lexicon),
            Node::Words(words) => self.find(words, lexicon).into_iter().map(|span| (words.number, span)).collect(),
            Node::Text(pattern) => {
                let in_line = |line: LineMatch| {
                    let start = line.span.start;
                    line.matches.into_iter().map(move |span| (usize::MAX, start + span.start..start + span.end))
                };
                let spans = pattern.lines(self.text.as_bytes(), &|| false).flat_map(in_line);
                spans.filter(|(_, span)| !span.is_empty() && self.text.get(span.clone()).is_some()).collect()
            }
            Node::Not(_) | Node::Path(_) | Node::Tag(_) | Node::Property(_) => Vec::new(),
        }
    }

    /// Whether a query is true of this piece alone. Paths, tags and properties belong to the note and are not asked here.
    pub fn fulfils(&self, node: &Node, lexicon: &dyn Lexicon) -> bool {
        match node {
            Node::All(nodes) => nodes.iter().all(|node| self.fulfils(node, lexicon)),
            Node::Any(nodes) => nodes.iter().any(|node| self.fulfils(node, lexicon)),
            Node::Not(node) => !self.fulfils(node, lexicon),
            Node::Words(words) => !self.find(words, lexicon).is_empty(),
            // What cannot be decided is not claimed.
            Node::Text(pattern) => pattern.is_match(self.text) == Ok(true),
            Node::Within(_, node) => self.fulfils(node, lexicon),
            Node::Path(_) | Node::Tag(_) | Node::Property(_) => true,
        }
    }
}
