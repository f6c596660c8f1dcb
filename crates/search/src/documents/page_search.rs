//! Documents that match a query, and their place among the notes.
//!
//! The pages of a document are searched one by one, and the best of them stands for it. Words are weighed among pages,
//! and the result is brought to the scale of the notes: by how much the whole query weighs there and here. So notes have the
//! scores and the order that they have without documents, and a page that says as much as a note comes right after it.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use lapidary_index::{FileId, GoOn};
use lapidary_query::evaluate;

use super::ReadableDocuments;
use crate::{
    IndexError, RankedBy, RankedQuery,
    best::FoundDocument,
    corpus::{KnownSpelling, ReadableCorpus, ReadableCounts},
    evaluate::RankedSearch,
    hybrid::{JoinScale, LEAST_COSINE, LEAST_SHARE, MOST_JOINED, NearQuery, RankedDocument, put_scores},
    meaning::NearNote,
};

/// What a page counts beside a note that says as much: what people have written themselves is more often meant.
const PAGE_WEIGHT: f64 = 0.8;

/// What the search among notes says for that among documents.
pub(crate) struct NoteOrder {
    /// Whether a note has all words.
    pub(crate) is_found: bool,
    /// What the words of the query weigh, together.
    pub(crate) rarity: f64,
    pub(crate) spellings: Vec<KnownSpelling>,
    pub(crate) scale: Option<JoinScale>,
}

/// The documents that match a query.
pub(crate) struct FoundPages<'s> {
    pub(crate) search: RankedSearch<'s>,
    pub(crate) total: usize,
    /// The best, in order; as many as were wanted.
    pub(crate) best: Vec<RankedDocument>,
    /// All that have the words.
    pub(crate) files: HashSet<FileId>,
    pub(crate) some_words: bool,
    /// From the scale of pages to that of notes.
    pub(crate) factor: f64,
}

impl<'s> FoundPages<'s> {
    pub(crate) fn find(
        documents: &'s ReadableDocuments<'s>,
        query: RankedQuery<'_>,
        near: Option<&NearQuery<'_>>,
        order: NoteOrder,
        wanted: usize,
        go_on: GoOn<'s>,
    ) -> Result<Self, IndexError> {
        let words = &documents.index.words;
        let readable = Arc::new(ReadableCounts::new(words, &|id| documents.shown.contains(&id)));
        let corpus = ReadableCorpus::new(words, readable).spelt(order.spellings);
        let mut search = RankedSearch::of_pages(corpus, query.parse(), documents, go_on);
        search.narrow(&query.filter)?;
        let mut found = search.found()?;
        // Only if no note has all words either.
        let some_words = found.is_empty() && !order.is_found && search.relax();
        if some_words {
            found = search.found()?;
        }
        let own = search.rarity();
        let factor = PAGE_WEIGHT * if own > 0.0 { order.rarity / own } else { 1.0 };
        // All pages, since several of the best may be of one document.
        let by_words = best_pages(&search, search.best(&found, 0, found.count()));
        let files = by_words.iter().map(|(id, _)| *id).collect();
        let ranked = |found: &FoundDocument| {
            let mut ranked = RankedDocument::from(*found);
            // As precise as the scores of notes.
            ranked.score = (ranked.score * factor * 1000.0).round() / 1000.0;
            ranked
        };
        let (total, best) = match near {
            None => (by_words.len(), by_words.iter().take(wanted).map(|(_, found)| ranked(found)).collect()),
            Some(near) => {
                let by_words: Vec<(FileId, RankedDocument)> =
                    by_words.iter().map(|(id, found)| (*id, ranked(found))).collect();
                joined(&search, documents, by_words, near, order.scale, wanted)?
            }
        };
        Ok(Self { search, total, best, files, some_words, factor })
    }
}

/// The best page of each file, in the order of these.
fn best_pages(search: &RankedSearch<'_>, pages: Vec<FoundDocument>) -> Vec<(FileId, FoundDocument)> {
    let mut seen = HashSet::new();
    let one = |found: FoundDocument| search.corpus.file(found.document).map(|id| (id, found));
    pages.into_iter().filter_map(one).filter(|(id, _)| seen.insert(*id)).collect()
}

/// By both orders, like notes.
fn joined(
    search: &RankedSearch<'_>,
    documents: &ReadableDocuments<'_>,
    by_words: Vec<(FileId, RankedDocument)>,
    query: &NearQuery<'_>,
    notes: Option<JoinScale>,
    wanted: usize,
) -> Result<(usize, Vec<RankedDocument>), IndexError> {
    let is_hybrid = query.by == RankedBy::Hybrid;
    let by_words = if is_hybrid { by_words } else { Vec::new() };
    let near = nearest(search, documents, query, notes)?;
    let mut union: HashMap<FileId, RankedDocument> = HashMap::new();
    for (id, mut found) in by_words.iter().take(MOST_JOINED).cloned() {
        found.coverage = search.explained(found.document).1;
        union.insert(id, found);
    }
    for near in near {
        let Some(page) = documents.index.document_at(near.id, near.span.start, &search.corpus) else { continue };
        let found = union.entry(near.id).or_insert_with(|| RankedDocument::by_meaning(page));
        found.near = Some(near);
    }
    let mut joined: Vec<(FileId, RankedDocument)> = union.into_iter().collect();
    // The same order for the same documents, whatever a map makes of them.
    joined.sort_unstable_by_key(|(id, _)| *id);
    let (ids, mut joined): (HashSet<FileId>, Vec<RankedDocument>) =
        (joined.iter().map(|(id, _)| *id).collect(), joined.into_iter().map(|(_, found)| found).collect());
    if is_hybrid {
        let own = JoinScale::of(&joined);
        put_scores(&mut joined, query, notes.map_or(own, |notes| notes.or(own)));
        for found in &mut joined {
            found.named = search.names_all(query, found);
        }
    } else {
        joined.iter_mut().for_each(|found| found.score = found.near.as_ref().map_or(0.0, |near| near.cosine.into()));
    }
    joined.sort_by(|one, other| one.order(other).then_with(|| search.newer(one.document, other.document)));
    let rest = by_words.into_iter().filter(|(id, _)| !ids.contains(id));
    // In their order by words, behind all that were joined.
    joined.extend(rest.map(|(_, found)| RankedDocument { score: 0.0, ..found }));
    let total = joined.len();
    joined.truncate(wanted);
    Ok((total, joined))
}

/// The documents with the nearest pieces, as far as these are near enough.
fn nearest(
    search: &RankedSearch<'_>,
    documents: &ReadableDocuments<'_>,
    query: &NearQuery<'_>,
    notes: Option<JoinScale>,
) -> Result<Vec<NearNote>, IndexError> {
    // The vectors of documents are of another model, whose cosines cannot be compared.
    if query.of_notes_alone {
        return Ok(Vec::new());
    }
    let (index, embedding) = (&documents.index, &query.embedding);
    let mut near = if query.is_open() {
        index.vectors.near(embedding, |id| documents.shown.contains(&id))
    } else {
        let fulfilling = evaluate(&query.conditions, search.searched(), search)?;
        index.vectors.near_within(embedding, |id, at| {
            documents.shown.contains(&id)
                && index.document_at(id, at, &search.corpus).is_some_and(|page| fulfilling.has(page))
        })
    };
    // A document has to be near enough compared with the notes, too.
    let highest = near.iter().map(|near| near.cosine).fold(notes.map_or(0.0, JoinScale::highest), f32::max);
    let least = LEAST_COSINE.max(LEAST_SHARE * highest);
    near.retain(|near| near.cosine >= least);
    near.sort_by(|one, other| other.cosine.total_cmp(&one.cosine).then(one.id.cmp(&other.id)));
    near.truncate(MOST_JOINED);
    Ok(near)
}
