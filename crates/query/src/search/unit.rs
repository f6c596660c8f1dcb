//! Evaluates a query on one piece of text.

use std::{
    collections::HashMap,
    convert::Infallible,
    ops::{ControlFlow, Range},
};

use super::{LeafResolver, QueryLeaf, QueryNode, TextFilter, Words, evaluate, folded, holds, search_tokens};
use crate::{LineMatch, Row};

/// Which terms match a word of a query: itself, other forms, probable corrections.
pub trait Lexicon {
    /// Whether this term may match the word with this number in `words`.
    fn accepts(&self, words: &Words, at: usize, term: &str) -> bool;
}

/// A piece of text that is evaluated separately.
pub struct TextUnit<'t> {
    text: &'t str,
    /// All its words in sequence, which is much faster than each separately.
    terms: String,
    words: Vec<TermPosition>,
}

/// The position of a word among the terms, and in the text.
struct TermPosition {
    term: Range<usize>,
    span: Range<usize>,
}

impl<'t> TextUnit<'t> {
    pub fn new(text: &'t str) -> Self {
        let (mut terms, mut words) = (String::with_capacity(text.len()), Vec::new());
        search_tokens(text, |token| {
            let start = terms.len();
            terms.push_str(token.term);
            words.push(TermPosition { term: start..terms.len(), span: token.start..token.end });
        });
        Self { text, terms, words }
    }

    /// The positions of words of a query, in order, in bytes of the text.
    pub fn find(&self, words: &Words, lexicon: &dyn Lexicon) -> Vec<Range<usize>> {
        let accepts = |(at, word): (usize, &TermPosition)| lexicon.accepts(words, at, &self.terms[word.term.clone()]);
        let fits = |run: &[TermPosition]| run.iter().enumerate().all(accepts);
        let span = |run: &[TermPosition]| Some(run.first()?.span.start..run.last()?.span.end);
        self.words.windows(words.terms.len().max(1)).filter(|run| fits(run)).filter_map(span).collect()
    }

    /// Everything in the text that a query searches for, with the number of the words it was found by; excluded parts
    /// are not searched, and matches that are not words have a number beyond theirs.
    pub fn matches(&self, starts: &QueryStarts<'_>, lexicon: &dyn Lexicon) -> Vec<(usize, Range<usize>)> {
        let mut found = Vec::new();
        for (at, place) in self.words.iter().enumerate() {
            for words in starts.at(&self.terms[place.term.clone()]) {
                // The text ends before the phrase does.
                let Some(run) = self.words.get(at..at + words.terms.len()) else { continue };
                let accepts =
                    |(at, word): (usize, &TermPosition)| lexicon.accepts(words, at, &self.terms[word.term.clone()]);
                // The first term was matched by the table.
                if run.iter().enumerate().skip(1).all(accepts)
                    && let Some(last) = run.last()
                {
                    found.push((words.number, place.span.start..last.span.end));
                }
            }
        }
        for filter in &starts.filters {
            let in_line = |line: LineMatch| {
                let start = line.span.start;
                line.matches.into_iter().map(move |span| (usize::MAX, start + span.start..start + span.end))
            };
            let spans = filter.pattern.lines(self.text.as_bytes(), &|| false).flat_map(in_line);
            // An empty match shows nothing, and a span may have been cut within a character.
            found.extend(spans.filter(|(_, span)| !span.is_empty() && self.text.get(span.clone()).is_some()));
        }
        found
    }

    /// Whether a query is true of this piece alone; conditions on paths and properties, of its note. Without a note,
    /// these are not claimed.
    pub fn fulfils(&self, node: &QueryNode, lexicon: &dyn Lexicon, note: Option<&dyn Row>) -> bool {
        holds(node, &UnitResolver { unit: self, lexicon, note })
    }

    /// Whether this piece has a tag or one below it.
    fn has_tag(&self, wanted: &str) -> bool {
        let named = |(at, _): (usize, &str)| {
            // `C#` and `##` are not tags.
            let begins = !self.text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '#');
            let name = self.text[at + 1..].split(|c: char| !is_in_tag(c)).next().unwrap_or_default();
            begins && is_tag_or_below(name, wanted)
        };
        self.text.match_indices('#').any(named)
    }
}

/// The words of a query, by the terms that they can start with: a text is scanned once, however long the query is.
#[derive(Default)]
pub struct QueryStarts<'q> {
    by_term: HashMap<&'q str, Vec<&'q Words>>,
    /// Words that may be a prefix.
    beginnings: Vec<&'q Words>,
    filters: Vec<&'q TextFilter>,
}

impl<'q> QueryStarts<'q> {
    /// `variants` are the other terms that match a word.
    pub fn new(node: &'q QueryNode, variants: &dyn Fn(&'q Words) -> &'q [String]) -> Self {
        let mut starts = Self::default();
        starts.put(node, variants);
        starts
    }

    fn put(&mut self, node: &'q QueryNode, variants: &dyn Fn(&'q Words) -> &'q [String]) {
        match node {
            QueryNode::All(nodes) | QueryNode::Any(nodes) => nodes.iter().for_each(|node| self.put(node, variants)),
            QueryNode::Within(_, node) => self.put(node, variants),
            QueryNode::Words(words) => {
                let is_one = words.terms.len() == 1;
                // A phrase is matched as it is written.
                let others: &[String] = if is_one { variants(words) } else { &[] };
                for term in words.terms.first().into_iter().chain(others) {
                    self.by_term.entry(term).or_default().push(words);
                }
                if is_one && words.open {
                    self.beginnings.push(words);
                }
            }
            QueryNode::Text(filter) => self.filters.push(filter),
            QueryNode::Not(_)
            | QueryNode::Path(_)
            | QueryNode::Tag(_)
            | QueryNode::Property(_)
            | QueryNode::Page(_) => {}
        }
    }

    /// The words whose first term this one can match.
    fn at<'s>(&'s self, term: &str) -> impl Iterator<Item = &'q Words> + use<'s, 'q> {
        let exact = self.by_term.get(term).map(Vec::as_slice).unwrap_or_default();
        // A word may be found as itself and as the beginning of itself.
        let is_new = |words: &&&'q Words| !exact.iter().any(|known| known.number == words.number);
        let begins = |words: &&&'q Words| words.terms.first().is_some_and(|start| term.starts_with(start.as_str()));
        let longer: Vec<&'q Words> = self.beginnings.iter().filter(begins).filter(is_new).copied().collect();
        exact.iter().copied().chain(longer)
    }
}

/// Answers for one piece of text.
struct UnitResolver<'u> {
    unit: &'u TextUnit<'u>,
    lexicon: &'u dyn Lexicon,
    note: Option<&'u dyn Row>,
}

impl LeafResolver for UnitResolver<'_> {
    type Answers = bool;
    type Error = Infallible;

    fn leaf(&self, leaf: QueryLeaf<'_>, within: &bool) -> Result<bool, Infallible> {
        Ok(*within
            && match leaf {
                QueryLeaf::Words(words) => !self.unit.find(words, self.lexicon).is_empty(),
                // Undecided matches are not claimed.
                QueryLeaf::Text(filter) => filter.pattern.is_match(self.unit.text) == Ok(true),
                QueryLeaf::Tag(wanted) => self.unit.has_tag(wanted),
                QueryLeaf::Path(filter) => self.note.is_some_and(|note| filter.holds(note.path())),
                QueryLeaf::Property(filter) => self.note.is_some_and(|note| filter.holds(note)),
                // A piece of text does not know its page.
                QueryLeaf::Page(_) => false,
                // This is already one piece, so nested pieces are the same one.
                QueryLeaf::Within(_, node) => evaluate(node, within, self)?,
            })
    }
}

/// Whether a note has a tag, which is folded, or one below it.
pub fn has_tag(row: &dyn Row, wanted: &str) -> bool {
    let mut found = false;
    row.visit_tags(&mut |tag| {
        found = is_tag_or_below(tag.name, wanted);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

fn is_in_tag(c: char) -> bool {
    matches!(c, '_' | '-' | '/') || c.is_alphanumeric() || !(c.is_ascii() || c.is_whitespace())
}

/// Whether a tag is this one, which is folded, or one below it.
fn is_tag_or_below(name: &str, wanted: &str) -> bool {
    folded(name).strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
