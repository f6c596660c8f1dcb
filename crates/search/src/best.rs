//! The documents to show: those with the highest scores, in order.

use std::cmp::Ordering;

use super::{
    bits::{DocumentSet, ones},
    evaluate::RankedSearch,
    weigh::TermScores,
};

/// How many documents are scored at once, which keeps their data in the cache.
const BLOCK_DOCUMENTS: usize = 512;
/// The least number of candidates that are collected before the worst of them are dropped.
const MIN_CANDIDATES: usize = 256;

/// A document that was found.
#[derive(Clone, Copy)]
pub(super) struct FoundDocument {
    pub(super) document: usize,
    /// In thousandths, so that scores that look equal are equal.
    pub(super) score: u32,
}

/// The best so far, and some that may be.
struct BestHits<'s> {
    search: &'s RankedSearch<'s>,
    wanted: usize,
    gathered: Vec<FoundDocument>,
    /// Lower scores are not among the best.
    least: u32,
}

impl RankedSearch<'_> {
    /// The best from this number on, in order: by score, then by the latest change.
    pub(super) fn best(&self, documents: &DocumentSet, offset: usize, limit: usize) -> Vec<FoundDocument> {
        let leaves: Vec<&TermScores> = self.query.wanted().into_iter().filter_map(|words| self.scores(words)).collect();
        let mut best = BestHits { search: self, wanted: offset.saturating_add(limit), gathered: Vec::new(), least: 0 };
        let mut scores = [0.0; BLOCK_DOCUMENTS];
        for (number, words) in documents.words().chunks(BLOCK_DOCUMENTS / 64).enumerate() {
            if words.iter().all(|word| *word == 0) {
                continue;
            }
            let first = number * BLOCK_DOCUMENTS;
            let highest = score(&leaves, first, &mut scores);
            // No document of this block can be among the best any more.
            if highest < best.least as f32 {
                continue;
            }
            for (at, word) in words.iter().enumerate() {
                for bit in ones(*word) {
                    let score = scores[at * 64 + bit] as u32;
                    // Not only higher scores: with an equal score, the later change wins.
                    if score >= best.least {
                        best.add(FoundDocument { document: first + at * 64 + bit, score });
                    }
                }
            }
        }
        best.finish(offset)
    }

    /// What each word contributed to the score of a document, the most first, and how much of the query it has.
    pub(super) fn explained(&self, document: usize) -> (Vec<(String, f64)>, f64) {
        let (mut parts, mut held, mut all) = (Vec::new(), 0.0, 0.0);
        for words in self.query.wanted() {
            let Some(scores) = self.scores(words) else { continue };
            let value = scores.values.get(document).copied().unwrap_or_default();
            all += scores.rarity;
            if value > 0.0 {
                held += scores.rarity;
                parts.push((words.terms.join(" "), f64::from(scores.rarity * value)));
            }
        }
        // The most first, so that an explanation can be cut.
        parts.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let coverage = if all > 0.0 { f64::from(held / all) } else { 1.0 };
        (parts, coverage)
    }

    fn order(&self, a: &FoundDocument, b: &FoundDocument) -> Ordering {
        b.score.cmp(&a.score).then_with(|| self.newer(a.document, b.document))
    }

    /// The one that was changed later comes first, then the one whose path does.
    pub(super) fn newer(&self, a: usize, b: usize) -> Ordering {
        // Before the numbers are replaced by those within a segment.
        let pages = a.cmp(&b);
        let ((ours, a), (theirs, b)) = (self.corpus.place(a), self.corpus.place(b));
        let (ours, theirs) = (&ours.segment, &theirs.segment);
        let (before, after) = (ours.modified(a), theirs.modified(b));
        // Of the pages of one document, the first.
        after.cmp(&before).then_with(|| ours.path(a).cmp(theirs.path(b))).then(pages)
    }
}

/// The scores of the documents from this one on, and the highest of them. All of them in sequence, including those that
/// do not match: that is faster than checking each.
fn score(leaves: &[&TermScores], first: usize, scores: &mut [f32; BLOCK_DOCUMENTS]) -> f32 {
    let mut held = [0.0; BLOCK_DOCUMENTS];
    // The buffer has the scores of the block before.
    scores.fill(0.0);
    for leaf in leaves {
        let values = leaf.values[first..].iter().take(BLOCK_DOCUMENTS);
        for ((value, score), held) in values.zip(scores.iter_mut()).zip(&mut held) {
            *score += leaf.rarity * value;
            *held += if *value > 0.0 { leaf.rarity } else { 0.0 };
        }
    }
    let all = leaves.iter().map(|leaf| leaf.rarity).sum::<f32>();
    // In thousandths, as scores are compared.
    let share = if all > 0.0 { 1000.0 / all } else { 0.0 };
    // None is below zero, so their bits are in the same order, and these are compared many at once.
    let mut highest = 0;
    for (score, held) in scores.iter_mut().zip(&held) {
        // If not all words were required, more of the query is better than much of one word.
        *score *= held * share;
        highest = highest.max(score.to_bits());
    }
    f32::from_bits(highest)
}

impl BestHits<'_> {
    fn add(&mut self, found: FoundDocument) {
        self.gathered.push(found);
        // Twice as many as wanted before the worst are dropped, so that dropping is rare.
        if self.gathered.len() >= self.wanted.saturating_mul(2).max(MIN_CANDIDATES) {
            self.drop_worst();
        }
    }

    fn drop_worst(&mut self) {
        // A page of nothing only counts.
        let Some(last) = self.wanted.checked_sub(1) else { return self.gathered.clear() };
        if self.wanted < self.gathered.len() {
            let search = self.search;
            let (_, worst, _) = self.gathered.select_nth_unstable_by(last, |a, b| search.order(a, b));
            self.least = worst.score;
            self.gathered.truncate(self.wanted);
        }
    }

    fn finish(mut self, offset: usize) -> Vec<FoundDocument> {
        self.drop_worst();
        let search = self.search;
        self.gathered.sort_unstable_by(|a, b| search.order(a, b));
        self.gathered.split_off(offset.min(self.gathered.len()))
    }
}
