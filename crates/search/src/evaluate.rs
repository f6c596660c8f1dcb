//! Which documents a query is true of.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use lapidary_note::Value;
use lapidary_query::{Lexicon, Node, PathFilter, PropertyFilter, Scalar, SearchQuery, Words, folded, is_tag_or_below};
use rayon::prelude::*;

use super::{bits::Bits, corpus::Corpus, shown::with_shown, weigh::Leaf};
use lapidary_index::{FileState, GoOn, Source};

use crate::{Digest, IndexError, Properties};

pub(super) struct Search<'s> {
    pub(super) corpus: Corpus<'s>,
    pub(super) query: SearchQuery,
    leaves: Vec<Option<Leaf>>,
    source: Source<'s>,
    pub(super) go_on: GoOn<'s>,
    /// An expression has given up on a note.
    pub(super) undecided: AtomicBool,
}

impl<'s> Search<'s> {
    pub(super) fn new(corpus: Corpus<'s>, query: SearchQuery, source: Source<'s>, go_on: GoOn<'s>) -> Self {
        let mut words = Vec::new();
        put_words(&query.root, &mut words);
        let found: Vec<(usize, Leaf)> = words.par_iter().map(|words| (words.number, corpus.leaf(words))).collect();
        let mut leaves: Vec<Option<Leaf>> = (0..query.words).map(|_| None).collect();
        found.into_iter().for_each(|(number, leaf)| leaves[number] = Some(leaf));
        Self { corpus, query, leaves, source, go_on, undecided: AtomicBool::new(false) }
    }

    pub(super) fn leaf(&self, words: &Words) -> Option<&Leaf> {
        self.leaves.get(words.number)?.as_ref()
    }

    /// All that fulfil the query.
    pub(super) fn found(&self) -> Result<Bits, IndexError> {
        match self.query.is_empty() {
            true => Ok(Bits::none(self.corpus.total())),
            false => self.fulfilling(&self.query.root, self.corpus.visible()),
        }
    }

    pub(super) fn state(&self, document: usize) -> Option<&'s Arc<FileState>> {
        let (part, number) = self.corpus.place(document);
        self.corpus.index.state(*part.files.get(number)?)
    }

    /// Those among some documents of which it is true.
    fn fulfilling(&self, node: &Node, within: &Bits) -> Result<Bits, IndexError> {
        if !(self.go_on)() {
            return Err(IndexError::Stopped);
        }
        match node {
            Node::All(nodes) => {
                let mut left = within.clone();
                // What takes a look into texts comes last, when few are left.
                let (costly, cheap): (Vec<&Node>, Vec<&Node>) = nodes.iter().partition(|node| is_costly(node));
                for node in cheap.into_iter().chain(costly) {
                    left = self.fulfilling(node, &left)?;
                }
                Ok(left)
            }
            Node::Any(nodes) => {
                let mut found = Bits::none(self.corpus.total());
                for node in nodes {
                    found = found.or(&self.fulfilling(node, within)?);
                }
                Ok(found)
            }
            Node::Not(node) => Ok(within.clone().without(&self.fulfilling(node, within)?)),
            Node::Words(words) => Ok(self.holding(words, within)),
            Node::Text(filter) => self.keep(within, |state| {
                (!filter.content && holds(&filter.pattern, without_ending(state.path.as_str())))
                    || self.with_text(state, |text| self.decides(&filter.pattern, text)).unwrap_or(false)
            }),
            Node::Path(filter) => self.keep(within, |state| path_fits(filter, state)),
            Node::Tag(wanted) => self.keep(within, |state| has_tag(state, wanted)),
            Node::Property(filter) => self.keep(within, |state| has_property(state, filter)),
            Node::Within(piece, node) => {
                let possible = self.possible(node, within);
                if let Some(found) = self.in_one_unit(*piece, node, &possible) {
                    return found;
                }
                self.keep(&possible, |state| self.in_one_piece(state, *piece, node))
            }
        }
    }

    /// What cannot be decided is not claimed, but said.
    fn decides(&self, pattern: &lapidary_query::Pattern, text: &str) -> bool {
        pattern.is_match(text).unwrap_or_else(|_| {
            self.undecided.store(true, Ordering::Relaxed);
            false
        })
    }

    fn holding(&self, words: &Words, within: &Bits) -> Bits {
        match self.leaf(words) {
            Some(leaf) => leaf.documents.clone().and(within),
            None => Bits::none(self.corpus.total()),
        }
    }

    /// At least those among which a piece can fulfil it.
    fn possible(&self, node: &Node, within: &Bits) -> Bits {
        match node {
            Node::All(nodes) => nodes.iter().fold(within.clone(), |left, node| self.possible(node, &left)),
            Node::Any(nodes) => {
                let none = Bits::none(self.corpus.total());
                nodes.iter().fold(none, |found, node| found.or(&self.possible(node, within)))
            }
            Node::Words(words) => self.holding(words, within),
            Node::Within(_, node) => self.possible(node, within),
            Node::Not(_) | Node::Text(_) | Node::Path(_) | Node::Tag(_) | Node::Property(_) => within.clone(),
        }
    }

    fn keep(&self, within: &Bits, fits: impl Fn(&Arc<FileState>) -> bool + Sync) -> Result<Bits, IndexError> {
        let documents: Vec<usize> = within.iter().collect();
        let look = |document: &usize| {
            if !(self.go_on)() {
                return Err(IndexError::Stopped);
            }
            Ok(self.state(*document).is_some_and(&fits))
        };
        let kept: Vec<bool> = documents.par_iter().map(look).collect::<Result<_, _>>()?;
        let mut bits = Bits::none(self.corpus.total());
        documents.iter().zip(kept).filter(|(_, kept)| *kept).for_each(|(document, _)| bits.set(*document));
        Ok(bits)
    }

    pub(super) fn with_text<T>(&self, state: &FileState, look: impl FnOnce(&str) -> T) -> Option<T> {
        let text = self.source.text(state)?;
        Some(with_shown(&state.path, &text, look))
    }
}

impl Lexicon for Search<'_> {
    fn accepts(&self, words: &Words, at: usize, term: &str) -> bool {
        let Some(wanted) = words.terms.get(at) else { return false };
        let last = at + 1 == words.terms.len();
        wanted == term
            || (words.open && last && term.starts_with(wanted.as_str()))
            || (words.terms.len() == 1
                && self.leaf(words).is_some_and(|leaf| leaf.variants.iter().any(|variant| variant == term)))
    }

    /// Without a note in view, nothing is claimed of it.
    fn of_note(&self, _node: &Node) -> bool {
        false
    }
}

/// All words, those that are excluded too.
pub(super) fn put_words<'n>(node: &'n Node, words: &mut Vec<&'n Words>) {
    match node {
        Node::All(nodes) | Node::Any(nodes) => nodes.iter().for_each(|node| put_words(node, words)),
        Node::Not(node) | Node::Within(_, node) => put_words(node, words),
        Node::Words(found) => words.push(found),
        Node::Text(_) | Node::Path(_) | Node::Tag(_) | Node::Property(_) => {}
    }
}

/// Whether each document has to be looked at.
fn is_costly(node: &Node) -> bool {
    match node {
        Node::Words(_) => false,
        Node::All(nodes) | Node::Any(nodes) => nodes.iter().any(is_costly),
        Node::Not(node) => is_costly(node),
        Node::Path(_) | Node::Tag(_) | Node::Property(_) | Node::Text(_) | Node::Within(..) => true,
    }
}

pub(super) fn digest_of(state: &FileState) -> Digest<'_> {
    state.digest().and_then(|digest| Digest::read(digest)).unwrap_or_default()
}

pub(super) fn holds(pattern: &lapidary_query::Pattern, text: &str) -> bool {
    // What cannot be decided is not claimed.
    pattern.is_match(text) == Ok(true)
}

pub(super) fn path_fits(filter: &PathFilter, state: &FileState) -> bool {
    let (path, name) = (state.path.as_str(), state.path.name());
    match filter {
        PathFilter::Path(wanted) => folded(path).contains(wanted),
        PathFilter::Name(wanted) => folded(name).contains(wanted),
        PathFilter::Extension(wanted) => {
            name.rsplit_once('.').is_some_and(|(_, extension)| folded(extension).starts_with(wanted))
        }
        PathFilter::PathMatches(pattern) => holds(pattern, path),
        PathFilter::NameMatches(pattern) => holds(pattern, name),
    }
}

/// A path as people say it. That it ends as all notes do says nothing.
pub(super) fn without_ending(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(path, _)| path)
}

pub(super) fn has_tag(state: &FileState, wanted: &str) -> bool {
    digest_of(state).tags().any(|tag| is_tag_or_below(tag.name, wanted))
}

pub(super) fn has_property(state: &FileState, filter: &PropertyFilter) -> bool {
    let Properties::Read(properties) = digest_of(state).properties() else { return false };
    let values: Vec<(String, Vec<Scalar>)> = properties.into_iter().map(|(key, value)| (key, scalars(value))).collect();
    filter.holds(values.iter().map(|(key, values)| (key.as_str(), values.as_slice())))
}

fn scalars(value: Value) -> Vec<Scalar> {
    match value {
        Value::Null => vec![Scalar::Null],
        Value::Bool(value) => vec![Scalar::Bool(value)],
        Value::Integer(value) => vec![Scalar::Number(value as f64)],
        Value::Float(value) => vec![Scalar::Number(value)],
        Value::Text(text) => vec![Scalar::Text(text)],
        Value::List(items) => items.into_iter().flat_map(scalars).collect(),
        Value::Map(entries) => entries.into_iter().flat_map(|(_, value)| scalars(value)).collect(),
    }
}
