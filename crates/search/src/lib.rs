//! The ranked search: an inverted index of all notes, and its results.
//!
//! The index is our own and lives in memory. An engine such as tantivy was measured too. Scores that do not reveal
//! hidden notes are possible there as well (`Bm25StatisticsProvider`); what is not is one index for all servers of a
//! vault, since it has a single writer, and immediate visibility of a changed note, since it takes a commit of tens of
//! milliseconds. Here a [`Segment`](segment::Segment) is immutable, an index is a few of them and belongs to exactly
//! one snapshot, a changed note creates a small new one, and everything that scores depend on is counted for each
//! search among the notes that the caller may read. That costs no more than reading the postings, which is necessary
//! anyway.

mod best;
mod bits;
mod blocks;
mod build;
mod cache;
mod chunk;
mod corpus;
mod document_store;
mod document_text;
mod documents;
mod evaluate;
mod hybrid;
mod index;
mod index_cache;
mod lines;
mod meaning;
mod near_notes;
mod others;
mod passage;
mod phrase;
mod piece;
mod pieces;
mod postings;
mod scan;
mod segment;
mod shown;
#[cfg(test)]
mod tests;
mod weigh;

use std::{sync::atomic::Ordering, time::SystemTime};

use lapidary_note::ChargeAside;
use lapidary_query::SearchQuery;
use rayon::prelude::*;

use lapidary_index::{Digest, FileEntry, GoOn, IndexError, VisibleFiles};
use lapidary_store::{FileStamp, Scope, VaultPath, lock, posix};

use corpus::ReadableCorpus;
use documents::{FoundPages, NoteOrder, ReadableDocuments};
use evaluate::RankedSearch;
use hybrid::{NearQuery, RankedDocument};
use lapidary_meaning::Embedding;
use others::other_files;

pub use document_store::{DocumentKey, DocumentStore};
pub use document_text::{
    DecodeFault, DocumentKind, DocumentPart, DocumentReader, DocumentText, MOST_DOCUMENT_TEXT, NoDocumentText, label,
};
pub use documents::{DocumentIndexCache, DocumentsState, read_aside};
pub use hybrid::RankedBy;
pub use meaning::{KeptVectors, MeaningState, VectorIndexCache, embed_aside};
pub use near_notes::CloseNote;
pub use passage::{FoundPage, NearPassage, NotePiece, PassageSize, RankedMatch, RankedNote};

pub use cache::SegmentCache;
pub use index_cache::{RankedIndexCache, build_aside};
pub use scan::search_by_scan;

/// How many notes are read before checking whether there is room for more.
const AT_ONCE: usize = 8;

/// Which of the matching notes are wanted, and how much of each.
#[derive(Clone, Copy, Debug)]
pub struct RankedPage {
    pub offset: usize,
    pub limit: usize,
    pub size: PassageSize,
    /// Notes are read until they take more room than this.
    pub room: usize,
    pub takes: fn(&RankedNote) -> usize,
}

/// What to search for: a query, and alternatives.
#[derive(Clone, Copy, Debug)]
pub struct RankedQuery<'q> {
    pub text: &'q str,
    /// Each of these words counts as much as those of the query.
    pub alternatives: &'q [String],
    pub filter: NoteFilter<'q>,
    /// Whether documents are wanted beside notes.
    pub documents: bool,
}

/// Among which notes to search.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoteFilter<'q> {
    /// Only in this folder and below it.
    pub folder: Option<&'q VaultPath>,
    /// Only with all of these tags, or tags below them; without `#`.
    pub tags: &'q [String],
    /// Only if changed since.
    pub since: Option<SystemTime>,
}

impl NoteFilter<'_> {
    fn is_open(&self) -> bool {
        self.folder.is_none() && self.tags.is_empty() && self.since.is_none()
    }
}

impl<'q> From<&'q str> for RankedQuery<'q> {
    fn from(text: &'q str) -> Self {
        Self { text, alternatives: &[], filter: NoteFilter::default(), documents: false }
    }
}

impl RankedQuery<'_> {
    fn parse(&self) -> SearchQuery {
        SearchQuery::with_alternatives(self.text, self.alternatives)
    }
}

/// The result of a ranked search.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedNotes {
    /// Notes that fit.
    pub total: usize,
    /// Its page of them, best first; without those that do not fit.
    pub hits: Vec<RankedNote>,
    /// No note has all words, so these have some.
    pub some_words: bool,
    /// Words that are in no note, and their corrections.
    pub meant: Vec<(String, Vec<String>)>,
    /// Invalid regular expressions.
    pub no_expressions: Vec<String>,
    /// There were more words than are searched.
    pub words_cut: bool,
    /// Notes were left out because an expression needs too many steps on them.
    pub undecided: bool,
    pub scanned: Option<ByScan>,
    pub by: RankedBy,
    /// Why meaning did not count, although it was asked for.
    pub no_meaning: Option<NoMeaning>,
    /// The bundled model was used, because the chosen one has done only this much, in per cent.
    pub stood_in: Option<u8>,
    /// Documents that the caller may read, and that were not searched because they are not read yet.
    pub unread_documents: usize,
    /// Those that were read and are not found by meaning yet, where meaning was asked for.
    pub documents_without_meaning: usize,
}

/// Why a search is by words alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMeaning {
    /// The query has operators and phrases only.
    NoFreeWords,
    /// The model knows none of its words.
    UnknownWords,
    /// Vectors are being made; so much is done, in per cent.
    NotReady(u8),
    /// The owner has switched it off.
    Off,
}

/// The answer did not come from the index, because that is still being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByScan {
    /// More notes contain the words than were ranked.
    pub cut: bool,
}

impl RankedIndexCache {
    /// The notes among these that match a query, best first.
    pub fn ranked<'q>(
        &self,
        files: &VisibleFiles,
        query: impl Into<RankedQuery<'q>>,
        page: RankedPage,
        go_on: GoOn<'_>,
    ) -> Result<RankedNotes, IndexError> {
        let query = query.into();
        let (index, readable) = self.index(files, go_on)?;
        let documents = self.readable_documents(files, query, RankedBy::Words);
        let among = SearchedFiles { files, documents: documents.as_ref() };
        search(ReadableCorpus::new(&index, readable), self, among, query, None, page, go_on)
    }

    fn readable_documents<'s>(
        &'s self,
        files: &'s VisibleFiles,
        query: RankedQuery<'_>,
        by: RankedBy,
    ) -> Option<ReadableDocuments<'s>> {
        query.documents.then(|| self.documents.readable(files, by != RankedBy::Words)).flatten()
    }

    /// The same by meaning, or by both. Waits until all vectors are made.
    pub fn ranked_by<'q>(
        &self,
        by: RankedBy,
        files: &VisibleFiles,
        query: impl Into<RankedQuery<'q>>,
        page: RankedPage,
        go_on: GoOn<'_>,
    ) -> Result<RankedNotes, IndexError> {
        let query = query.into();
        let words_alone = |why: Option<NoMeaning>| {
            let found = self.ranked(files, query, page, go_on)?;
            Ok(RankedNotes { no_meaning: why, ..found })
        };
        if by == RankedBy::Words {
            return words_alone(None);
        }
        let serving = self.serving(files);
        let stood_in = (!std::ptr::eq(serving, &self.meaning)).then(|| self.meaning.share(files));
        let embedding = match serving.embedded(query) {
            Ok(embedding) => embedding,
            // The chosen model may know what the bundled one does not.
            Err(why) => return words_alone(Some(stood_in.map_or(why, NoMeaning::NotReady))),
        };
        let (index, readable) = self.index(files, go_on)?;
        let vectors = serving.index(files, go_on)?;
        let near = NearQuery::new(query, embedding, serving.model(), &vectors, by).of_notes_alone(stood_in.is_some());
        // Documents have vectors of the chosen model only; until then they are found by words.
        let documents_by = if stood_in.is_some() { RankedBy::Words } else { by };
        let documents = self.readable_documents(files, query, documents_by);
        let among = SearchedFiles { files, documents: documents.as_ref() };
        let found = search(ReadableCorpus::new(&index, readable), self, among, query, Some(&near), page, go_on)?;
        Ok(RankedNotes { stood_in, ..found })
    }
}

impl VectorIndexCache {
    /// A query as a vector, or why it has none.
    pub fn embedded(&self, query: RankedQuery<'_>) -> Result<Embedding, NoMeaning> {
        if !self.is_on() {
            return Err(NoMeaning::Off);
        }
        let parsed = query.parse();
        // The query itself: alternatives are always free words.
        let own = SearchQuery::parse(query.text);
        if !own.has_free_words() {
            return Err(NoMeaning::NoFreeWords);
        }
        if !self.knows_script(&parsed.free_text) {
            return Err(NoMeaning::UnknownWords);
        }
        self.model().embed(&parsed.free_text).ok_or(NoMeaning::UnknownWords)
    }
}

/// Where to search: the notes of these files, and documents.
#[derive(Clone, Copy)]
struct SearchedFiles<'s> {
    files: &'s VisibleFiles,
    documents: Option<&'s ReadableDocuments<'s>>,
}

/// A result in its place.
enum PlacedResult {
    Note(RankedDocument),
    Page(RankedDocument),
}

/// The notes in a corpus with the documents among them, and after them the other files that were requested.
fn search(
    corpus: ReadableCorpus<'_>,
    cache: &RankedIndexCache,
    among: SearchedFiles<'_>,
    query: RankedQuery<'_>,
    near: Option<&NearQuery<'_>>,
    page: RankedPage,
    go_on: GoOn<'_>,
) -> Result<RankedNotes, IndexError> {
    let files = among.files;
    let mut search = RankedSearch::new(corpus, query.parse(), files, go_on);
    search.narrow(&query.filter)?;
    let mut found = search.found()?;
    // Files of which only the path is known have no tags, and are not asked for with a filter.
    let other_files = |search: &RankedSearch<'_>| match query.filter.is_open() {
        true => other_files(cache, files, &search.query),
        false => Vec::new(),
    };
    let mut others = other_files(&search);
    let is_found = !found.is_empty() || !others.is_empty();
    // Relaxed only if nothing at all was found: some hits for all words are better than many for some.
    let some_words = !is_found && search.relax();
    if some_words {
        found = search.found()?;
        others = other_files(&search);
    }
    // With documents, which notes are on a later page is not known before both are in order.
    let (from, wanted) = match among.documents {
        Some(_) => (0, page.offset.saturating_add(page.limit)),
        None => (page.offset, page.limit),
    };
    let (notes, best, scale): (usize, Vec<RankedDocument>, _) = match near {
        Some(near) => {
            let joined = search.joined(&found, near, from, wanted)?;
            (joined.total, joined.page, Some(joined.scale))
        }
        None => {
            let best = search.best(&found, from, wanted);
            (found.count(), best.into_iter().map(RankedDocument::from).collect(), None)
        }
    };
    let order = || NoteOrder { is_found, rarity: search.rarity(), spellings: search.spellings(), scale };
    let pages = among.documents.map(|documents| FoundPages::find(documents, query, near, order(), wanted, go_on));
    let pages = pages.transpose()?;
    let best = match &pages {
        Some(pages) => placed(best, &pages.best, page),
        None => best.into_iter().map(PlacedResult::Note).collect(),
    };
    if let Some(pages) = &pages {
        // A document that was found by its words is not listed by its path again.
        others.retain(|state| !pages.files.contains(&state.id));
    }
    let ranked = notes + pages.as_ref().map_or(0, |pages| pages.total);
    let total = ranked + others.len();
    let starts = search.starts();
    let page_starts = pages.as_ref().map(|pages| (pages, pages.search.starts()));
    let aside = ChargeAside::of_this_thread();
    let one = |found: &PlacedResult| {
        aside.charge(|| match found {
            PlacedResult::Note(found) => search.ranked(found, &starts, near, page.size),
            PlacedResult::Page(found) => {
                let (pages, starts) = page_starts.as_ref()?;
                pages.search.ranked_page(found, starts, near, page.size, pages.factor)
            }
        })
    };
    let (mut hits, mut taken): (Vec<RankedNote>, usize) = (Vec::new(), 0);
    // In small groups, so that notes are not read for nothing once there is no room.
    for some in best.chunks(AT_ONCE) {
        let before = hits.len();
        hits.par_extend(some.par_iter().filter_map(one));
        taken += hits[before..].iter().map(page.takes).sum::<usize>();
        if taken > page.room {
            break;
        }
    }
    // After all notes of the page, or none: the next page starts where this one ends.
    if hits.len() == best.len() {
        // Notes come first, so the offset into the others is what is left of it.
        let rest = others.into_iter().skip(page.offset.saturating_sub(ranked)).take(page.limit - best.len());
        hits.extend(rest.map(|state| search.by_path(&state, &starts)));
    }
    let corrections = |search: &RankedSearch<'_>| -> Vec<(String, Vec<String>)> {
        let corrected = search.query.wanted().into_iter().filter_map(|words| {
            let scores = search.scores(words).filter(|scores| scores.corrected > 0)?;
            Some((words.terms.join(" "), scores.variants[..scores.corrected].to_vec()))
        });
        corrected.collect()
    };
    let mut meant = corrections(&search);
    for (word, meanings) in pages.as_ref().map_or_else(Vec::new, |pages| corrections(&pages.search)) {
        match meant.iter_mut().find(|(known, _)| *known == word) {
            // Documents may have another word as close.
            Some((_, known)) => known.extend(meanings.into_iter().filter(|it| !known.contains(it)).collect::<Vec<_>>()),
            None => meant.push((word, meanings)),
        }
    }
    let undecided = pages.as_ref().is_some_and(|pages| pages.search.undecided.load(Ordering::Relaxed));
    // Documents that have all words are an answer to the whole query.
    let pages_have_all = pages.as_ref().is_some_and(|pages| pages.total > 0 && !pages.some_words);
    // They borrow the search, whose parts are moved out below.
    drop((starts, page_starts));
    Ok(RankedNotes {
        total,
        hits,
        // Notes found by meaning need none of the words.
        some_words: some_words && !found.is_empty() && !pages_have_all,
        meant,
        undecided: search.undecided.into_inner() || undecided,
        words_cut: search.query.cut,
        no_expressions: search.query.no_expressions,
        scanned: None,
        by: near.map_or(RankedBy::Words, |near| near.by),
        no_meaning: None,
        stood_in: None,
        unread_documents: among.documents.map_or(0, |documents| documents.unread),
        documents_without_meaning: near.and(among.documents).map_or(0, |documents| documents.without_vectors),
    })
}

/// Notes and documents in one order. Each list is in order already; of two that are equally good, the note comes first.
fn placed(notes: Vec<RankedDocument>, pages: &[RankedDocument], page: RankedPage) -> Vec<PlacedResult> {
    let (mut notes, mut pages) = (notes.into_iter().peekable(), pages.iter().cloned().peekable());
    let next = || {
        let is_page = match (notes.peek(), pages.peek()) {
            (Some(note), Some(page)) => note.order(page).is_gt(),
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if is_page { pages.next().map(PlacedResult::Page) } else { notes.next().map(PlacedResult::Note) }
    };
    std::iter::from_fn(next).skip(page.offset).take(page.limit).collect()
}
