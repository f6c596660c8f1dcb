//! The weights of words in the documents that contain them.

use std::collections::BTreeSet;

use lapidary_query::{FuzzyWord, Words, word_forms};

use super::{
    bits::DocumentSet,
    blocks::{BlockDocuments, DocumentField, FIELDS, FieldCounts, PostingBlock},
    corpus::ReadableCorpus,
    phrase::PhraseTerms,
    segment::Segment,
};

/// How much a word counts outside the text, in the order of [`DocumentField`].
const FIELD_WEIGHTS: [f32; FIELDS - 1] = [5.0, 4.0, 1.5, 2.5, 0.8, 2.0];
/// How soon more of the same word adds nothing.
const SATURATION: f32 = 1.2;
/// How much the length of a name, of the headings and of a text counts.
const LENGTH_WEIGHTS: [f32; 3] = [0.5, 0.3, 0.75];
/// The relative weight of other forms of a word, words with it as a prefix, and probable corrections.
const WORD_FORM_WEIGHT: f32 = 0.75;
const PREFIX_WEIGHT: f32 = 0.4;
const CORRECTION_WEIGHT: f32 = 0.6;

/// Which documents contain words of a query, and how well.
pub(super) struct TermScores {
    pub(super) documents: DocumentSet,
    /// For every document, 0 if it does not match.
    pub(super) values: Vec<f32>,
    /// Rare words say more.
    pub(super) rarity: f32,
    /// Terms other than the word itself that count as it.
    pub(super) variants: Vec<String>,
    /// How many of these, from the first on, are corrections of a word that no document contains.
    pub(super) corrected: usize,
}

/// Words being looked up.
struct TermScorer<'c> {
    corpus: &'c ReadableCorpus<'c>,
    words: &'c Words,
    values: Vec<f32>,
    variants: Vec<String>,
}

impl ReadableCorpus<'_> {
    pub(super) fn scores_of(&self, words: &Words) -> TermScores {
        let mut weighing = TermScorer { corpus: self, words, values: vec![0.0; self.total()], variants: Vec::new() };
        let corrected = match words.terms.as_slice() {
            [term] => weighing.put_word(term),
            _ => {
                weighing.put_phrase();
                0
            }
        };
        let TermScorer { values, variants, .. } = weighing;
        let documents = DocumentSet::positive(&values);
        let held = documents.count() as f32;
        // The inverse document frequency of BM25, which is never negative in this form.
        let rarity = (1.0 + (self.readable.count as f32 - held + 0.5) / (held + 0.5)).ln();
        TermScores { documents, values, rarity, variants, corrected }
    }
}

impl TermScorer<'_> {
    /// The number of corrections that were searched because no document contains the word.
    fn put_word(&mut self, term: &str) -> usize {
        let mut found = self.put_term(term, 1.0);
        if !self.words.exact {
            for form in word_forms(term).into_iter().chain(self.words.also.clone()) {
                if self.put_term(&form, WORD_FORM_WEIGHT) {
                    found = true;
                    self.variants.push(form);
                }
            }
        }
        if self.words.open {
            for (part, base) in self.corpus.parts() {
                // The word itself was weighed above, with its full weight.
                for longer in part.segment.beginning(term).filter(|found| part.segment.term(*found) != term) {
                    found |= self.put_postings(&part.segment, base, longer, PREFIX_WEIGHT);
                }
            }
        }
        let elsewhere = self.corpus.spellings.get(self.words.number);
        if let Some(known) = elsewhere.filter(|_| !found && !self.words.exact) {
            for meant in &known.meant {
                if self.put_term(meant, CORRECTION_WEIGHT) {
                    found = true;
                    self.variants.push(meant.clone());
                }
            }
        }
        // A word that exists in the name of a note is not misspelt, even if the search is about contents only.
        let is_known = elsewhere.is_some_and(|known| known.is_word || !known.meant.is_empty());
        let is_nowhere = || self.corpus.whole && !is_known && !(self.words.content && self.is_held(term));
        if !found && !self.words.exact && is_nowhere() { self.put_meant(term) } else { 0 }
    }

    /// Whether a readable document contains it anywhere.
    fn is_held(&self, term: &str) -> bool {
        self.corpus.parts().any(|(part, base)| {
            let mut postings = part.segment.find(term).map(|term| part.segment.postings(term));
            std::iter::from_fn(|| postings.as_mut()?.next())
                .any(|document| self.corpus.visible().has(base + document as usize))
        })
    }

    /// The nearest words that a readable document contains, and how many there are.
    fn put_meant(&mut self, term: &str) -> usize {
        let Some(fuzzy) = FuzzyWord::new(term) else { return 0 };
        let mut near: Vec<(usize, String)> = Vec::new();
        for (part, _) in self.corpus.parts() {
            let terms = part.segment.alike(term, 2 * fuzzy.limit()).map(|term| part.segment.term(term));
            near.extend(terms.filter_map(|term| Some((fuzzy.distance(term)?, term.to_owned()))));
        }
        near.sort_unstable();
        near.dedup();
        let (mut nearest, mut meant) = (None, Vec::new());
        for (distance, term) in near {
            // Corrections of one distance only: a nearer one is far more likely to be meant.
            if nearest.is_some_and(|nearest| distance > nearest) {
                break;
            }
            if self.put_term(&term, CORRECTION_WEIGHT) {
                nearest = Some(distance);
                meant.push(term);
            }
        }
        // A search for the correction would find its forms too.
        let forms: BTreeSet<String> = meant.iter().flat_map(|term| word_forms(term)).collect();
        let corrected = meant.len();
        for form in forms {
            if !meant.contains(&form) && self.put_term(&form, CORRECTION_WEIGHT * WORD_FORM_WEIGHT) {
                meant.push(form);
            }
        }
        self.variants.extend(meant);
        corrected
    }

    /// Whether any readable document contains it.
    fn put_term(&mut self, term: &str, weight: f32) -> bool {
        let mut found = false;
        for (part, base) in self.corpus.parts() {
            if let Some(term) = part.segment.find(term) {
                found |= self.put_postings(&part.segment, base, term, weight);
            }
        }
        found
    }

    fn put_postings(&mut self, segment: &Segment, base: usize, term: usize, weight: f32) -> bool {
        let readable = &self.corpus.readable;
        let values = &mut self.values[base..base + segment.documents()];
        let norms = &readable.norms[base..base + segment.documents()];
        let mut found = false;
        let mut postings = segment.postings(term);
        while let Some(block) = postings.block() {
            found |= put_bodies(&block, values, norms, weight).unwrap_or_default();
            for (at, mut counts) in block.extras() {
                let document = block.document(at) as usize;
                let (Some(value), Some(norm)) = (values.get_mut(document), norms.get(document)) else { break };
                if self.words.content {
                    counts[..DocumentField::Heading as usize].fill(0);
                }
                let weighed = weight * weighed(segment, document, &counts, *norm, &readable.averages);
                // The best of its forms counts, not their sum: a note is not better for having both.
                *value = value.max(weighed);
                found |= weighed > 0.0;
            }
        }
        found
    }

    fn put_phrase(&mut self) {
        let readable = &self.corpus.readable;
        for (part, base) in self.corpus.parts() {
            let segment = &part.segment;
            let Some(phrase) = PhraseTerms::new(segment, self.words) else { continue };
            let mut found = phrase.all().into_iter().peekable();
            while let Some((document, first)) = found.next() {
                let (name, text_from) = segment.bounds(document as usize);
                let mut counts = [0; FIELDS];
                // The position of the first word decides in which field the phrase is.
                let mut count = |start: u32| {
                    let field = match start {
                        start if start >= text_from => DocumentField::Body,
                        _ if self.words.content => return,
                        start if start < name => DocumentField::Name,
                        // Positions do not tell the fields between the name and the text apart.
                        _ => DocumentField::Alias,
                    };
                    counts[field as usize] += 1;
                };
                count(first);
                while let Some((_, next)) = found.next_if(|(same, _)| *same == document) {
                    count(next);
                }
                let document = document as usize;
                let number = base + document;
                self.values[number] = weighed(segment, document, &counts, readable.norms[number], &readable.averages);
            }
        }
    }
}

/// Weighs the occurrences in the texts of a block of documents. Returns whether there are any.
fn put_bodies(block: &PostingBlock<'_>, values: &mut [f32], norms: &[f32], weight: f32) -> Option<bool> {
    // As bits, since comparing floats in order prevents comparing several at once.
    let mut any = 0;
    let mut put = |value: &mut f32, norm: f32, body: u8| {
        let weighed = weight * saturated(u32::from(body), norm);
        *value = if weighed > *value { weighed } else { *value };
        any |= weighed.to_bits();
    };
    match block.documents() {
        BlockDocuments::From(first) => {
            let run = first as usize..first as usize + block.bodies.len();
            let places = values.get_mut(run.clone())?.iter_mut().zip(norms.get(run)?);
            places.zip(block.bodies).for_each(|((value, norm), body)| put(value, *norm, *body));
        }
        BlockDocuments::Listed(listed) => {
            for (document, body) in listed.iter().zip(block.bodies) {
                put(values.get_mut(*document as usize)?, *norms.get(*document as usize)?, *body);
            }
        }
    }
    Some(any != 0)
}

/// The weight of a word in a document, by its counts.
fn weighed(segment: &Segment, document: usize, counts: &FieldCounts, body_norm: f32, averages: &[f32; 3]) -> f32 {
    // The caller may not read it. The norms of the other fields do not say so.
    if body_norm.is_infinite() {
        return 0.0;
    }
    let [elsewhere @ .., body] = counts;
    let mut value = saturated(*body, body_norm);
    for (field, count) in elsewhere.iter().enumerate().filter(|(_, count)| **count > 0) {
        // Lengths are far away in memory, and rarely needed.
        let norm = match field {
            field if field == DocumentField::Name as usize => norm(0, segment.lengths(document)[0] as f32, averages),
            field if field == DocumentField::Heading as usize => norm(1, segment.lengths(document)[1] as f32, averages),
            _ => 1.0,
        };
        value += FIELD_WEIGHTS[field] * saturated(*count, norm);
    }
    value
}

/// The weight of this many occurrences: twice as many are less than twice as good.
#[inline]
fn saturated(count: u32, norm: f32) -> f32 {
    let count = count as f32;
    count * (SATURATION + 1.0) / (count + SATURATION * norm)
}

/// In a longer text a word says less.
pub(super) fn norm(at: usize, length: f32, averages: &[f32; 3]) -> f32 {
    1.0 - LENGTH_WEIGHTS[at] + LENGTH_WEIGHTS[at] * length / averages[at]
}
