//! Which documents match a query.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use lapidary_index::{FileRow, FileState, GoOn, VisibleFiles};
use lapidary_note::ChargeAside;
use lapidary_query::{
    AnswerBounds, LeafResolver, Lexicon, Pattern, QueryLeaf, QueryNode, QueryPiece, QueryStarts, SearchQuery,
    TextFilter, Words, evaluate, folded, has_tag,
};
use rayon::prelude::*;

use super::{
    bits::DocumentSet,
    corpus::{KnownSpelling, ReadableCorpus},
    documents::ReadableDocuments,
    shown::with_shown,
    weigh::TermScores,
};
use crate::{Digest, IndexError, NoteFilter};

pub(super) struct RankedSearch<'s> {
    pub(super) corpus: ReadableCorpus<'s>,
    pub(super) query: SearchQuery,
    /// By the numbers of the words.
    scores: Vec<Option<TermScores>>,
    pub(super) files: &'s VisibleFiles,
    /// If its corpus is made of pages of documents, and not of notes.
    pub(super) documents: Option<&'s ReadableDocuments<'s>>,
    pub(super) go_on: GoOn<'s>,
    /// An expression gave up on a note.
    pub(super) undecided: AtomicBool,
    /// Where to search, if not in everything that is visible.
    within: Option<DocumentSet>,
}

impl<'s> RankedSearch<'s> {
    pub(super) fn new(
        corpus: ReadableCorpus<'s>,
        query: SearchQuery,
        files: &'s VisibleFiles,
        go_on: GoOn<'s>,
    ) -> Self {
        let mut search = Self {
            corpus,
            query,
            scores: Vec::new(),
            files,
            documents: None,
            go_on,
            undecided: AtomicBool::new(false),
            within: None,
        };
        search.weigh();
        search
    }

    /// The same over pages of documents.
    pub(super) fn of_pages(
        corpus: ReadableCorpus<'s>,
        query: SearchQuery,
        documents: &'s ReadableDocuments<'s>,
        go_on: GoOn<'s>,
    ) -> Self {
        Self { documents: Some(documents), ..Self::new(corpus, query, documents.files, go_on) }
    }

    /// Requires only some of the words instead of all. `false` if that would change nothing.
    pub(super) fn relax(&mut self) -> bool {
        let relaxed = self.query.relax();
        if relaxed {
            self.weigh();
        }
        relaxed
    }

    /// Finds the documents of all words that have not been looked up yet.
    fn weigh(&mut self) {
        let mut words = Vec::new();
        put_words(&self.query.root, &mut words);
        // Relaxing a query adds words; those that are known keep their scores.
        words.retain(|words| self.scores.get(words.number).is_none_or(Option::is_none));
        let corpus = &self.corpus;
        let found: Vec<(usize, TermScores)> =
            words.par_iter().map(|words| (words.number, corpus.scores_of(words))).collect();
        self.scores.resize_with(self.query.words, || None);
        found.into_iter().for_each(|(number, found)| self.scores[number] = Some(found));
    }

    /// What to highlight in the texts of notes.
    pub(super) fn starts(&self) -> QueryStarts<'_> {
        QueryStarts::new(&self.query.root, &|words| {
            self.scores(words).map(|scores| scores.variants.as_slice()).unwrap_or_default()
        })
    }

    pub(super) fn scores(&self, words: &Words) -> Option<&TermScores> {
        self.scores.get(words.number)?.as_ref()
    }

    /// What the words of the query weigh, together.
    pub(super) fn rarity(&self) -> f64 {
        self.query
            .wanted()
            .into_iter()
            .filter_map(|words| self.scores(words))
            .map(|scores| f64::from(scores.rarity))
            .sum()
    }

    /// How the words of the query are spelt here, by their numbers.
    pub(super) fn spellings(&self) -> Vec<KnownSpelling> {
        let spelling = |scores: &Option<TermScores>| {
            let Some(scores) = scores else { return KnownSpelling::default() };
            let is_word = scores.corrected == 0 && !scores.documents.is_empty();
            KnownSpelling { is_word, meant: scores.variants[..scores.corrected].to_vec() }
        };
        self.scores.iter().map(spelling).collect()
    }

    /// Searches only among the notes that a filter accepts.
    pub(super) fn narrow(&mut self, filter: &NoteFilter<'_>) -> Result<(), IndexError> {
        if filter.is_open() {
            return Ok(());
        }
        // Callers write tags with `#`, and some with a slash at the end.
        let tags: Vec<String> =
            filter.tags.iter().map(|tag| folded(tag.trim_matches(|c| matches!(c, '#' | '/')))).collect();
        let fits = |_: usize, state: &Arc<FileState>| {
            filter.folder.is_none_or(|folder| state.path.is_within(folder))
                && filter.since.is_none_or(|since| state.stat.modified() >= since)
                && tags.iter().all(|tag| has_tag(&self.row(state), tag))
        };
        self.within = Some(self.keep(self.corpus.visible(), fits)?);
        Ok(())
    }

    /// What is searched of what the caller may read.
    pub(super) fn searched(&self) -> &DocumentSet {
        self.within.as_ref().unwrap_or_else(|| self.corpus.visible())
    }

    /// All that match the query.
    pub(super) fn found(&self) -> Result<DocumentSet, IndexError> {
        // An empty query matches nothing, rather than everything.
        match self.query.is_empty() {
            true => Ok(DocumentSet::none(self.corpus.total())),
            false => evaluate(&self.query.root, self.searched(), self),
        }
    }

    pub(super) fn state(&self, document: usize) -> Option<&'s Arc<FileState>> {
        let (part, number) = self.corpus.place(document);
        self.corpus.index.state(*part.files.get(number)?)
    }

    fn row<'r>(&'r self, state: &'r Arc<FileState>) -> FileRow<'r> {
        FileRow::new(self.files, state)
    }

    fn holds_text(&self, filter: &TextFilter, document: usize, state: &Arc<FileState>) -> bool {
        // The path is searched with the text, unless the query is about the content alone.
        (!filter.content && surely_matches(&filter.pattern, without_ending(state.path.as_str())))
            // Only now is the file read, and only if the path has not decided.
            || self.with_text(document, state, |text| self.decides(&filter.pattern, text)).unwrap_or(false)
    }

    /// Those with one piece that matches a part of the query.
    fn in_pieces(&self, piece: QueryPiece, node: &QueryNode, within: &DocumentSet) -> Result<DocumentSet, IndexError> {
        let possible = match evaluate(node, &AnswerBounds::exactly(within.clone()), &InSomePiece(self)) {
            Ok(bounds) => bounds.possible,
            Err(never) => match never {},
        };
        // From positions in the index if the query has only words; otherwise the texts are read.
        if let Some(found) = self.in_one_unit(piece, node, &possible) {
            return found;
        }
        self.keep(&possible, |document, state| self.in_one_piece(&self.row(state), document, state, piece, node))
    }

    /// An undecided match is not claimed, but reported.
    fn decides(&self, pattern: &Pattern, text: &str) -> bool {
        pattern.is_match(text).unwrap_or_else(|_| {
            self.undecided.store(true, Ordering::Relaxed);
            false
        })
    }

    fn holding(&self, words: &Words, within: &DocumentSet) -> DocumentSet {
        // A word that no document has was never weighed.
        match self.scores(words) {
            Some(scores) => scores.documents.clone().and(within),
            None => DocumentSet::none(self.corpus.total()),
        }
    }

    fn keep(
        &self,
        within: &DocumentSet,
        fits: impl Fn(usize, &Arc<FileState>) -> bool + Sync,
    ) -> Result<DocumentSet, IndexError> {
        let documents: Vec<usize> = within.iter().collect();
        // The work goes to other threads, and their memory is charged to this call.
        let aside = ChargeAside::of_this_thread();
        let look = |document: &usize| {
            // Asked for each document: one may take long.
            if !(self.go_on)() {
                return Err(IndexError::Stopped);
            }
            Ok(aside.charge(|| self.state(*document).is_some_and(|state| fits(*document, state))))
        };
        let kept: Vec<bool> = documents.par_iter().map(look).collect::<Result<_, _>>()?;
        let mut bits = DocumentSet::none(self.corpus.total());
        documents.iter().zip(kept).filter(|(_, kept)| *kept).for_each(|(document, _)| bits.set(*document));
        Ok(bits)
    }

    /// The number of the page that a document of the index is, if it is one.
    pub(super) fn page(&self, document: usize) -> Option<u32> {
        let documents = self.documents?;
        Some(documents.index.part_of(document, &self.corpus)?.number)
    }

    pub(super) fn with_text<T>(
        &self,
        document: usize,
        state: &Arc<FileState>,
        look: impl FnOnce(&str) -> T,
    ) -> Option<T> {
        if let Some(documents) = self.documents {
            return documents.with_page(self.corpus.ordinal(document)?, state, self.go_on, |part| look(&part.text));
        }
        let text = self.files.source().text(state)?;
        Some(with_shown(&state.path, &text, look))
    }
}

impl Lexicon for RankedSearch<'_> {
    fn accepts(&self, words: &Words, at: usize, term: &str) -> bool {
        let Some(wanted) = words.terms.get(at) else { return false };
        let last = at + 1 == words.terms.len();
        wanted == term
            // Only the last word of a run was still being typed.
            || (words.open && last && term.starts_with(wanted.as_str()))
            // Other forms are known of single words only.
            || (words.terms.len() == 1
                && self.scores(words).is_some_and(|scores| scores.variants.iter().any(|variant| variant == term)))
    }
}

/// Documents of the index.
impl LeafResolver for RankedSearch<'_> {
    type Answers = DocumentSet;
    type Error = IndexError;

    fn leaf(&self, leaf: QueryLeaf<'_>, within: &DocumentSet) -> Result<DocumentSet, IndexError> {
        if !(self.go_on)() {
            return Err(IndexError::Stopped);
        }
        match leaf {
            QueryLeaf::Words(words) => Ok(self.holding(words, within)),
            QueryLeaf::Text(filter) => self.keep(within, |document, state| self.holds_text(filter, document, state)),
            QueryLeaf::Path(filter) => self.keep(within, |_, state| filter.holds(state.path.as_str())),
            QueryLeaf::Tag(wanted) => self.keep(within, |_, state| has_tag(&self.row(state), wanted)),
            QueryLeaf::Property(filter) => self.keep(within, |_, state| filter.holds(&self.row(state))),
            QueryLeaf::Page(range) => {
                self.keep(within, |document, _| self.page(document).is_some_and(|page| range.holds(page)))
            }
            QueryLeaf::Within(piece, node) => self.in_pieces(piece, node, within),
        }
    }

    /// Parts that read every document come last, when few are left.
    fn is_costly(&self, node: &QueryNode) -> bool {
        node.any_leaf(&mut |leaf| !matches!(leaf, QueryLeaf::Words(_)))
    }
}

/// Documents with a piece that may match part of the query: they have the required words, anywhere.
struct InSomePiece<'s>(&'s RankedSearch<'s>);

impl LeafResolver for InSomePiece<'_> {
    type Answers = AnswerBounds<DocumentSet>;
    type Error = Infallible;

    fn leaf(
        &self,
        leaf: QueryLeaf<'_>,
        within: &AnswerBounds<DocumentSet>,
    ) -> Result<AnswerBounds<DocumentSet>, Infallible> {
        match leaf {
            // That a document has them does not mean that a piece has, nor that no piece lacks them.
            QueryLeaf::Words(words) => {
                let unknown = AnswerBounds::unknown(within);
                Ok(AnswerBounds { possible: self.0.holding(words, &within.possible), ..unknown })
            }
            QueryLeaf::Within(_, node) => evaluate(node, within, self),
            QueryLeaf::Text(_)
            | QueryLeaf::Path(_)
            | QueryLeaf::Tag(_)
            | QueryLeaf::Property(_)
            | QueryLeaf::Page(_) => Ok(AnswerBounds::unknown(within)),
        }
    }
}

/// All words, including excluded ones.
pub(super) fn put_words<'n>(node: &'n QueryNode, words: &mut Vec<&'n Words>) {
    node.any_leaf(&mut |leaf| {
        match leaf {
            QueryLeaf::Words(found) => words.push(found),
            QueryLeaf::Within(_, node) => put_words(node, words),
            QueryLeaf::Text(_)
            | QueryLeaf::Path(_)
            | QueryLeaf::Tag(_)
            | QueryLeaf::Property(_)
            | QueryLeaf::Page(_) => {}
        }
        // Goes on: all leaves are wanted, not the first that fits.
        false
    });
}

pub(super) fn digest_of(state: &FileState) -> Digest<'_> {
    state.digest().and_then(|digest| Digest::read(digest)).unwrap_or_default()
}

pub(super) fn surely_matches(pattern: &Pattern, text: &str) -> bool {
    // Undecided matches are not claimed.
    pattern.is_match(text) == Ok(true)
}

/// A path as people write it. The common extension of notes says nothing.
pub(super) fn without_ending(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(path, _)| path)
}
