//! One order from two: by words, and by meaning.
//!
//! Over the union of the best of each list, the share of the best score by words and the place between the lowest and
//! the highest cosine are added up. Only notes that the caller may read are among them.

use lapidary_meaning::{Embedding, ModelKind, TextModel};
use lapidary_query::{QueryNode, SearchQuery, TextUnit, Words, evaluate};

use super::{
    bits::DocumentSet,
    best::FoundDocument,
    evaluate::{RankedSearch, digest_of, without_ending},
    meaning::{NearNote, VectorIndex},
};
use crate::IndexError;

/// How many notes of each list are joined.
const MOST_JOINED: usize = 50;
/// A note that has none of the words is shown only from this cosine on: unrelated texts are not alike by chance.
const LEAST_STATIC: f32 = 0.25;
const LEAST_TRANSFORMER: f32 = 0.25;

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
    pub(super) by: RankedBy,
}

impl<'q> NearQuery<'q> {
    pub(super) fn new(text: &str, embedding: Embedding, model: &TextModel, vectors: &'q VectorIndex, by: RankedBy) -> Self {
        let (asked, conditions) = (SearchQuery::parse(text), SearchQuery::parse(text).into_conditions());
        Self { vectors, embedding, kind: model.kind(), conditions, asked, by }
    }

    /// How much meaning counts: as measured on judged queries.
    fn weight(&self) -> f32 {
        match self.kind {
            ModelKind::Static => env("W", 0.4),
            ModelKind::Transformer => 0.7,
        }
    }

    fn least(&self) -> f32 {
        match self.kind {
            ModelKind::Static => env("LEAST", -1.0),
            ModelKind::Transformer => LEAST_TRANSFORMER,
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
    pub(super) coverage: f64,
}

impl From<FoundDocument> for RankedDocument {
    fn from(found: FoundDocument) -> Self {
        Self { document: found.document, score: f64::from(found.score) / 1000.0, by_words: true, near: None, coverage: 1.0 }
    }
}

/// The documents that were found in both ways.
pub(super) struct JoinedDocuments {
    pub(super) total: usize,
    pub(super) page: Vec<RankedDocument>,
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
        documents.extend(best_of(&near, self, query.least(), MOST_JOINED));
        documents.sort_unstable();
        documents.dedup();
        let mut joined: Vec<RankedDocument> = documents.iter().map(|document| self.in_both(*document, found, &near)).collect();
        let mut union = DocumentSet::none(self.corpus.total());
        documents.iter().for_each(|document| union.set(*document));
        if query.by == RankedBy::Hybrid {
            put_scores(&mut joined, query.weight());
        } else {
            joined.iter_mut().for_each(|joined| joined.score = joined.near.as_ref().map_or(0.0, |near| near.cosine.into()));
        }
        let named: Vec<bool> = joined.iter().map(|joined| env("TITLE", 1.0) > 0.0 && query.by == RankedBy::Hybrid && self.names_all(query, joined)).collect();
        let mut order: Vec<usize> = (0..joined.len()).collect();
        order.sort_by(|one, other| {
            let (a, b) = (&joined[*one], &joined[*other]);
            named[*other].cmp(&named[*one]).then_with(|| b.score.total_cmp(&a.score)).then_with(|| self.newer(a.document, b.document))
        });
        let first: Vec<RankedDocument> = order.into_iter().map(|at| joined[at].clone()).collect();
        // What has the words and is in neither list comes after all of these, by words alone.
        let rest = if query.by == RankedBy::Hybrid { found.clone().without(&union) } else { DocumentSet::none(self.corpus.total()) };
        let total = first.len() + rest.count();
        let mut page: Vec<RankedDocument> = first.iter().skip(offset).take(limit).cloned().collect();
        if page.len() < limit {
            let after = self.best(&rest, offset.saturating_sub(first.len()), limit - page.len());
            // Below all others, and still in order.
            let lowest = first.last().map_or(0.0, |last| last.score);
            page.extend(after.into_iter().map(|found| RankedDocument { score: lowest.min(0.0), ..found.into() }));
        }
        Ok(JoinedDocuments { total, page })
    }

    /// All notes that fulfil the conditions, by number of the file.
    fn near(&self, query: &NearQuery<'_>) -> Result<Vec<NearNote>, IndexError> {
        let is_open = matches!(&query.conditions, QueryNode::All(nodes) if nodes.is_empty());
        let fulfilling = match is_open {
            true => None,
            false => Some(evaluate(&query.conditions, self.corpus.visible(), self)?),
        };
        Ok(query.vectors.near(&query.embedding, |id| {
            self.files.shows(id)
                && fulfilling.as_ref().is_none_or(|set| self.corpus.number(id).is_some_and(|document| set.has(document)))
        }))
    }

    fn in_both(&self, document: usize, found: &DocumentSet, near: &[NearNote]) -> RankedDocument {
        let by_words = found.has(document);
        let (parts, coverage) = if by_words { self.explained(document) } else { (Vec::new(), 0.0) };
        let near = self.corpus.file(document).and_then(|id| {
            let at = near.binary_search_by_key(&id, |near| near.id).ok()?;
            near.get(at).cloned()
        });
        let score = parts.iter().map(|(_, part)| part).sum::<f64>() * coverage;
        RankedDocument { document, score, by_words, near, coverage }
    }

    /// Whether its name, an alias or a heading has all words of the query: then it is what was asked for.
    fn names_all(&self, query: &NearQuery<'_>, joined: &RankedDocument) -> bool {
        let wanted: Vec<&Words> = query.asked.wanted();
        let (Some(state), true) = (self.state(joined.document), joined.by_words && !wanted.is_empty()) else { return false };
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

fn env(name: &str, usual: f32) -> f32 { std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(usual) }

/// The documents of the nearest notes.
fn best_of(near: &[NearNote], search: &RankedSearch<'_>, least: f32, most: usize) -> Vec<usize> {
    let mut best: Vec<(usize, f32)> = near
        .iter()
        .filter(|near| near.cosine >= least)
        .filter_map(|near| Some((search.corpus.number(near.id)?, near.cosine)))
        .collect();
    let order = |(one, a): &(usize, f32), (other, b): &(usize, f32)| b.total_cmp(a).then_with(|| search.newer(*one, *other));
    if best.len() > most {
        best.select_nth_unstable_by(most, order);
        best.truncate(most);
    }
    best.into_iter().map(|(document, _)| document).collect()
}

/// From the score by words to the joined one, which is between 0 and 1.
fn put_scores(joined: &mut [RankedDocument], weight: f32) {
    let best = joined.iter().map(|joined| joined.score).fold(0.0, f64::max);
    let cosines = || joined.iter().filter_map(|joined| joined.near.as_ref()).map(|near| near.cosine);
    let (lowest, highest) = (cosines().fold(f32::INFINITY, f32::min), cosines().fold(f32::NEG_INFINITY, f32::max));
    let weight = f64::from(weight);
    let best_coverage = joined.iter().map(|joined| joined.coverage).fold(0.0, f64::max);
    let sure = best_coverage.powf(f64::from(env("ALPHA", 0.0)));
    let k = f64::from(env("RRF", 0.0));
    if k > 0.0 {
        let rank = |mut v: Vec<(usize, f64)>| { v.sort_by(|a, b| b.1.total_cmp(&a.1)); let mut r = vec![usize::MAX; joined.len()]; for (i, (at, s)) in v.iter().enumerate() { if *s > -2.0 { r[*at] = i; } } r };
        let words = rank(joined.iter().enumerate().map(|(at, j)| (at, if j.by_words { j.score } else { -5.0 })).collect());
        let near = rank(joined.iter().enumerate().map(|(at, j)| (at, j.near.as_ref().map_or(-5.0, |n| f64::from(n.cosine)))).collect());
        for (at, j) in joined.iter_mut().enumerate() {
            let one = |r: usize| if r == usize::MAX { 0.0 } else { 1.0 / (k + r as f64 + 1.0) };
            j.score = (1.0 - weight) * sure * one(words[at]) + weight * one(near[at]);
        }
        return;
    }
    for joined in joined {
        let words = if best > 0.0 { sure * joined.score / best } else { 0.0 };
        let near = match &joined.near {
            Some(near) if highest > lowest => f64::from((near.cosine - lowest) / (highest - lowest)),
            Some(_) => 1.0,
            // A note without a vector is as far away as any.
            None => 0.0,
        };
        joined.score = (1.0 - weight) * words + weight * near;
    }
}
