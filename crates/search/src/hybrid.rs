//! One order from two: by words, and by meaning.
//!
//! Over the union of the best of each list, the share of the best score by words and the place between the lowest and
//! the highest cosine are added up. Only notes that the caller may read are among them.

use std::cmp::Ordering;

use lapidary_meaning::{Embedding, ModelKind, TextModel};
use lapidary_query::{QueryNode, SearchQuery, TextUnit, Words, evaluate};

use super::{
    best::FoundDocument,
    bits::DocumentSet,
    evaluate::{RankedSearch, digest_of, without_ending},
    meaning::{NearNote, VectorIndex},
};
use crate::{IndexError, RankedQuery};

/// How many notes of each list are joined.
pub(super) const MOST_JOINED: usize = 50;
/// From this cosine on, and from this share of the highest one, a note is shown that has none of the words. Without it
/// something would be found for every query.
pub(super) const LEAST_COSINE: f32 = 0.15;
pub(super) const LEAST_SHARE: f32 = 0.5;
/// By how much words count less if the best note has only some of them: `coverage` to this power. Words that no note
/// has all of are probably not those of the note that is meant.
const COVERAGE_POWER: f64 = 1.5;

/// How much of a query a model has to know as whole words.
const FAMILIAR: f32 = 0.75;

/// How notes are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankedBy {
    #[default]
    Words,
    Meaning,
    Hybrid,
}

/// A query as a vector, and what it is compared with.
pub(super) struct NearQuery<'q> {
    pub(super) vectors: &'q VectorIndex,
    pub(super) embedding: Embedding,
    pub(super) kind: ModelKind,
    /// What a note has to fulfil that has none of the words.
    pub(super) conditions: QueryNode,
    /// The words of the query itself, without alternatives.
    pub(super) asked: SearchQuery,
    /// Whether the share of its words that a note has says how far these are to be trusted.
    pub(super) by_coverage: bool,
    pub(super) by: RankedBy,
    /// Whether the vectors of documents are of another model.
    pub(super) of_notes_alone: bool,
    /// Whether there is no filter.
    is_everywhere: bool,
}

impl<'q> NearQuery<'q> {
    pub(super) fn new(
        query: RankedQuery<'_>,
        embedding: Embedding,
        model: &TextModel,
        vectors: &'q VectorIndex,
        by: RankedBy,
    ) -> Self {
        let (asked, conditions) = (SearchQuery::parse(query.text), SearchQuery::parse(query.text).into_conditions());
        // With alternatives, no note has all words, however well it fits. And a model is not to be trusted more than
        // words with names and with a language that it has not seen.
        let by_coverage = query.alternatives.is_empty() && model.familiarity(&asked.free_text) >= FAMILIAR;
        Self {
            vectors,
            embedding,
            kind: model.kind(),
            conditions,
            asked,
            by_coverage,
            by,
            of_notes_alone: false,
            is_everywhere: query.filter.is_open(),
        }
    }

    pub(super) fn of_notes_alone(self, of_notes_alone: bool) -> Self {
        Self { of_notes_alone, ..self }
    }

    /// Whether a note that has none of the words has to fulfil nothing.
    pub(super) fn is_open(&self) -> bool {
        self.is_everywhere && matches!(&self.conditions, QueryNode::All(nodes) if nodes.is_empty())
    }

    /// How much meaning counts: as measured on judged queries.
    fn weight(&self) -> f32 {
        match self.kind {
            ModelKind::Static => 0.4,
            ModelKind::Transformer => 0.7,
        }
    }
}

/// A document in its place.
#[derive(Clone)]
pub(super) struct RankedDocument {
    pub(super) document: usize,
    /// As it is shown.
    pub(super) score: f64,
    /// Whether it matches by its words.
    pub(super) by_words: bool,
    pub(super) near: Option<NearNote>,
    /// How much of the query it has, by weight.
    pub(super) coverage: f64,
    /// Whether it is named by all words, and so comes first.
    pub(super) named: bool,
}

impl From<FoundDocument> for RankedDocument {
    fn from(found: FoundDocument) -> Self {
        Self {
            document: found.document,
            score: f64::from(found.score) / 1000.0,
            by_words: true,
            near: None,
            coverage: 1.0,
            named: false,
        }
    }
}

impl RankedDocument {
    /// One that has none of the words.
    pub(super) fn by_meaning(document: usize) -> Self {
        Self { document, score: 0.0, by_words: false, near: None, coverage: 0.0, named: false }
    }

    /// The better one comes first.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        other.named.cmp(&self.named).then_with(|| other.score.total_cmp(&self.score))
    }
}

/// The documents that were found in both ways.
pub(super) struct JoinedDocuments {
    pub(super) total: usize,
    pub(super) page: Vec<RankedDocument>,
    /// By which documents are placed among them.
    pub(super) scale: JoinScale,
}

/// What scores are compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct JoinScale {
    /// The best score by words.
    best: f64,
    /// Of the cosines.
    lowest: f32,
    highest: f32,
}

impl JoinScale {
    pub(super) fn of(joined: &[RankedDocument]) -> Self {
        let cosines = || joined.iter().filter_map(|joined| joined.near.as_ref()).map(|near| near.cosine);
        Self {
            best: joined.iter().map(|joined| joined.score).fold(0.0, f64::max),
            lowest: cosines().fold(f32::INFINITY, f32::min),
            highest: cosines().fold(f32::NEG_INFINITY, f32::max),
        }
    }

    /// Another one for what this one does not say.
    pub(super) fn or(self, other: Self) -> Self {
        // Without any cosine, the bounds are still crossed.
        let Self { lowest, highest, .. } = if self.highest < self.lowest { other } else { self };
        Self { best: if self.best > 0.0 { self.best } else { other.best }, lowest, highest }
    }

    pub(super) fn highest(self) -> f32 {
        self.highest.max(0.0)
    }
}

impl RankedSearch<'_> {
    pub(super) fn joined(
        &self,
        found: &DocumentSet,
        query: &NearQuery<'_>,
        offset: usize,
        limit: usize,
    ) -> Result<JoinedDocuments, IndexError> {
        let near = self.near(query)?;
        let by_words = if query.by == RankedBy::Hybrid { self.best(found, 0, MOST_JOINED) } else { Vec::new() };
        let mut documents: Vec<usize> = by_words.iter().map(|found| found.document).collect();
        documents.extend(best_of(&near, self));
        // A document may be in both lists.
        documents.sort_unstable();
        documents.dedup();
        let mut joined: Vec<RankedDocument> =
            documents.iter().map(|document| self.in_both(*document, found, &near)).collect();
        let mut union = DocumentSet::none(self.corpus.total());
        documents.iter().for_each(|document| union.set(*document));
        let scale = JoinScale::of(&joined);
        if query.by == RankedBy::Hybrid {
            put_scores(&mut joined, query, scale);
            joined.iter_mut().for_each(|joined| joined.named = self.names_all(query, joined));
        } else {
            joined
                .iter_mut()
                .for_each(|joined| joined.score = joined.near.as_ref().map_or(0.0, |near| near.cosine.into()));
        }
        joined.sort_by(|a, b| a.order(b).then_with(|| self.newer(a.document, b.document)));
        let first = joined;
        // What has the words and is in neither list comes after all of these, by words alone.
        let rest = if query.by == RankedBy::Hybrid {
            found.clone().without(&union)
        } else {
            DocumentSet::none(self.corpus.total())
        };
        let total = first.len() + rest.count();
        let mut page: Vec<RankedDocument> = first.iter().skip(offset).take(limit).cloned().collect();
        if page.len() < limit {
            let after = self.best(&rest, offset.saturating_sub(first.len()), limit - page.len());
            // Below all others, and still in order.
            let lowest = first.last().map_or(0.0, |last| last.score);
            page.extend(after.into_iter().map(|found| RankedDocument { score: lowest.min(0.0), ..found.into() }));
        }
        Ok(JoinedDocuments { total, page, scale })
    }

    /// All notes that fulfil the conditions, by number of the file.
    fn near(&self, query: &NearQuery<'_>) -> Result<Vec<NearNote>, IndexError> {
        let fulfilling = match query.is_open() {
            true => None,
            false => Some(evaluate(&query.conditions, self.searched(), self)?),
        };
        Ok(query.vectors.near(&query.embedding, |id| {
            // All callers share the vectors.
            self.files.shows(id)
                && fulfilling
                    .as_ref()
                    .is_none_or(|set| self.corpus.number(id).is_some_and(|document| set.has(document)))
        }))
    }

    fn in_both(&self, document: usize, found: &DocumentSet, near: &[NearNote]) -> RankedDocument {
        let by_words = found.has(document);
        let (parts, coverage) = if by_words { self.explained(document) } else { (Vec::new(), 0.0) };
        let near = self.corpus.file(document).and_then(|id| {
            let at = near.binary_search_by_key(&id, |near| near.id).ok()?;
            near.get(at).cloned()
        });
        // Computed anew, because a note that is near need not be among the best by words.
        let score = parts.iter().map(|(_, part)| part).sum::<f64>() * coverage;
        RankedDocument { document, score, by_words, near, coverage, named: false }
    }

    /// Whether its name, an alias or a heading has all words of the query: then it is what was asked for.
    pub(super) fn names_all(&self, query: &NearQuery<'_>, joined: &RankedDocument) -> bool {
        let wanted: Vec<&Words> = query.asked.wanted();
        let (Some(state), true) = (self.state(joined.document), joined.by_words && !wanted.is_empty()) else {
            return false;
        };
        let has_all = |text: &str| {
            let unit = TextUnit::new(text);
            wanted.iter().all(|words| !unit.find(words, self).is_empty())
        };
        let digest = digest_of(state);
        has_all(without_ending(state.path.name()))
            || digest.aliases().any(has_all)
            || digest.structure().headings.iter().any(|heading| has_all(heading.text))
    }
}

/// The documents of the nearest notes.
fn best_of(near: &[NearNote], search: &RankedSearch<'_>) -> Vec<usize> {
    let highest = near.iter().map(|near| near.cosine).fold(0.0, f32::max);
    let least = LEAST_COSINE.max(LEAST_SHARE * highest);
    let mut best: Vec<(usize, f32)> = near
        .iter()
        .filter(|near| near.cosine >= least)
        .filter_map(|near| Some((search.corpus.number(near.id)?, near.cosine)))
        .collect();
    let order =
        |(one, a): &(usize, f32), (other, b): &(usize, f32)| b.total_cmp(a).then_with(|| search.newer(*one, *other));
    if best.len() > MOST_JOINED {
        best.select_nth_unstable_by(MOST_JOINED, order);
        best.truncate(MOST_JOINED);
    }
    best.into_iter().map(|(document, _)| document).collect()
}

/// From the score by words to the joined one, which is between 0 and 1.
pub(super) fn put_scores(joined: &mut [RankedDocument], query: &NearQuery<'_>, scale: JoinScale) {
    let JoinScale { best, lowest, highest } = scale;
    let weight = f64::from(query.weight());
    let coverage = joined.iter().map(|joined| joined.coverage).fold(0.0, f64::max);
    let surely = if query.by_coverage { coverage.powf(COVERAGE_POWER) } else { 1.0 };
    for joined in joined {
        let words = if best > 0.0 { surely * (joined.score / best).min(1.0) } else { 0.0 };
        let near = match &joined.near {
            Some(near) if highest > lowest => f64::from((near.cosine - lowest) / (highest - lowest)).clamp(0.0, 1.0),
            // With a single cosine, all are equally near.
            Some(_) => 1.0,
            // A note without a vector is as far away as any.
            None => 0.0,
        };
        joined.score = (1.0 - weight) * words + weight * near;
    }
}
