//! The documents that a caller may read, and what words weigh among them.
//!
//! Nothing here is counted beforehand over all documents: how many there are, how long they are, and how many hold a word
//! is counted for each search among the documents that the caller may see. So no score depends on one that it may not.

use std::sync::Arc;

use lapidary_query::{Fuzzy, Words, word_forms};

use super::{
    bits::Bits,
    index::{GONE, Index, Part},
    segment::{Counts, FIELDS, Field, Segment},
};
use crate::index::FileId;

/// How much a word counts by where it stands beside the text, in the order of [`Field`].
const WEIGHTS: [f32; FIELDS - 1] = [5.0, 4.0, 1.5, 2.5, 0.8, 2.0];
/// How soon more of the same word says nothing new.
const SATURATION: f32 = 1.2;
/// How much the length of a name, of the headings and of a text counts.
const LENGTH: [f32; 3] = [0.5, 0.3, 0.75];
/// What other forms of a word, words that begin with it, and words that were probably meant are worth beside itself.
const FORM: f32 = 0.75;
const LONGER: f32 = 0.4;
const MEANT: f32 = 0.6;

pub(super) struct Corpus<'i> {
    pub(super) index: &'i Index,
    readable: Arc<Readable>,
    /// Whether these are all that the caller may read, so that a word that is not here is nowhere.
    whole: bool,
}

/// What is counted among the documents that a caller may read. The same for as long as neither the notes nor the rules
/// change.
pub(super) struct Readable {
    /// The number of the first document of each part.
    bases: Vec<usize>,
    /// Documents in all parts, those that are gone or hidden included.
    total: usize,
    visible: Bits,
    count: usize,
    averages: [f32; 3],
    /// What the length of each text does to the weight of words in it.
    norms: Vec<f32>,
}

/// In which documents words of a query stand, and how well.
pub(super) struct Leaf {
    pub(super) documents: Bits,
    /// For every document, 0 where it is not.
    pub(super) values: Vec<f32>,
    /// Seldom words say more.
    pub(super) rarity: f32,
    /// Terms besides the word itself that count as it.
    pub(super) variants: Vec<String>,
    /// No document holds the word, so others were looked for that it may be a misspelling of.
    pub(super) meant: bool,
}

impl Readable {
    pub(super) fn new(index: &Index, shows: &dyn Fn(FileId) -> bool) -> Self {
        let mut bases = Vec::with_capacity(index.parts.len());
        let mut total = 0;
        for part in &index.parts {
            bases.push(total);
            total += part.files.len();
        }
        let mut visible = Bits::none(total);
        let (mut count, mut lengths) = (0, [0_u64; 3]);
        for (part, base) in index.parts.iter().zip(&bases) {
            for (document, file) in part.files.iter().enumerate() {
                if *file != GONE && shows(*file) {
                    visible.set(base + document);
                    count += 1;
                    let found = part.segment.lengths(document);
                    lengths.iter_mut().zip(found).for_each(|(sum, length)| *sum += u64::from(length));
                }
            }
        }
        let averages = lengths.map(|sum| (sum as f32 / count.max(1) as f32).max(1.0));
        let mut norms = Vec::with_capacity(total);
        for part in &index.parts {
            let body = |document: usize| norm(2, part.segment.lengths(document), &averages);
            norms.extend((0..part.files.len()).map(body));
        }
        Self { bases, total, visible, count, averages, norms }
    }
}

impl<'i> Corpus<'i> {
    pub(super) fn new(index: &'i Index, readable: Arc<Readable>) -> Self {
        Self { index, readable, whole: true }
    }

    /// Of documents that are only some of those that the caller may read.
    pub(super) fn of_some(index: &'i Index) -> Self {
        Self { whole: false, ..Self::new(index, Arc::new(Readable::new(index, &|_| true))) }
    }

    pub(super) fn total(&self) -> usize {
        self.readable.total
    }

    pub(super) fn visible(&self) -> &Bits {
        &self.readable.visible
    }

    fn parts(&self) -> impl Iterator<Item = (&'i Part, usize)> {
        self.index.parts.iter().zip(self.readable.bases.iter().copied())
    }

    /// The part of a document, and its number there.
    pub(super) fn place(&self, document: usize) -> (&'i Part, usize) {
        let part = self.readable.bases.partition_point(|base| *base <= document) - 1;
        (&self.index.parts[part], document - self.readable.bases[part])
    }

    pub(super) fn leaf(&self, words: &Words) -> Leaf {
        let mut leaf = Leaf {
            documents: Bits::none(self.readable.total),
            values: vec![0.0; self.readable.total],
            rarity: 0.0,
            variants: Vec::new(),
            meant: false,
        };
        match words.terms.as_slice() {
            [term] => self.put_word(&mut leaf, words, term),
            _ => self.put_phrase(&mut leaf, words),
        }
        let held = leaf.documents.count() as f32;
        leaf.rarity = (1.0 + (self.readable.count as f32 - held + 0.5) / (held + 0.5)).ln();
        leaf
    }

    fn put_word(&self, leaf: &mut Leaf, words: &Words, term: &str) {
        self.put_term(leaf, words, term, 1.0);
        if !words.exact {
            for form in word_forms(term).into_iter().chain(words.also.clone()) {
                if self.put_term(leaf, words, &form, FORM) {
                    leaf.variants.push(form);
                }
            }
        }
        if words.open {
            for (part, base) in self.parts() {
                for longer in part.segment.beginning(term).filter(|found| part.segment.term(*found) != term) {
                    self.put_postings(leaf, words, (&part.segment, base), longer, LONGER);
                }
            }
        }
        if leaf.documents.count() == 0 && !words.exact && self.whole && !(words.content && self.is_held(term)) {
            self.put_meant(leaf, words, term);
        }
    }

    /// Whether a readable document holds it anywhere.
    fn is_held(&self, term: &str) -> bool {
        self.parts().any(|(part, base)| {
            let mut postings = part.segment.find(term).map(|term| part.segment.postings(term));
            std::iter::from_fn(|| postings.as_mut()?.next())
                .any(|(document, _)| self.readable.visible.has(base + document as usize))
        })
    }

    /// The nearest words that a readable document holds.
    fn put_meant(&self, leaf: &mut Leaf, words: &Words, term: &str) {
        let Some(fuzzy) = Fuzzy::new(term) else { return };
        let mut near: Vec<(usize, String)> = Vec::new();
        for (part, _) in self.parts() {
            let terms = (0..part.segment.terms()).map(|term| part.segment.term(term));
            near.extend(terms.filter_map(|term| Some((fuzzy.distance(term)?, term.to_owned()))));
        }
        near.sort_unstable();
        near.dedup();
        let mut nearest = None;
        for (distance, term) in near {
            if nearest.is_some_and(|nearest| distance > nearest) {
                break;
            }
            if self.put_term(leaf, words, &term, MEANT) {
                nearest = Some(distance);
                leaf.meant = true;
                leaf.variants.push(term);
            }
        }
    }

    /// Whether any readable document holds it.
    fn put_term(&self, leaf: &mut Leaf, words: &Words, term: &str, weight: f32) -> bool {
        let mut found = false;
        for (part, base) in self.parts() {
            if let Some(term) = part.segment.find(term) {
                found |= self.put_postings(leaf, words, (&part.segment, base), term, weight);
            }
        }
        found
    }

    fn put_postings(
        &self,
        leaf: &mut Leaf,
        words: &Words,
        (segment, base): (&Segment, usize),
        term: usize,
        weight: f32,
    ) -> bool {
        let mut found = false;
        let mut postings = segment.postings(term);
        while let Some((document, mut counts)) = postings.next() {
            if words.content {
                counts[..Field::Heading as usize].fill(0);
            }
            found |= self.put(leaf, segment, base, document as usize, &counts, weight);
        }
        found
    }

    fn put(
        &self,
        leaf: &mut Leaf,
        segment: &Segment,
        base: usize,
        document: usize,
        counts: &Counts,
        weight: f32,
    ) -> bool {
        let number = base + document;
        if !self.readable.visible.has(number) {
            return false;
        }
        let [elsewhere @ .., body] = counts;
        let mut value = saturated(*body, self.readable.norms[number]);
        // Most words stand in the text only.
        if elsewhere.iter().any(|count| *count > 0) {
            let lengths = segment.lengths(document);
            for (field, count) in elsewhere.iter().enumerate() {
                let norm = match field {
                    field if field == Field::Name as usize => norm(0, lengths, &self.readable.averages),
                    field if field == Field::Heading as usize => norm(1, lengths, &self.readable.averages),
                    _ => 1.0,
                };
                value += WEIGHTS[field] * saturated(*count, norm);
            }
        }
        if value <= 0.0 {
            return false;
        }
        leaf.documents.set(number);
        let known = &mut leaf.values[number];
        *known = known.max(weight * value);
        true
    }

    fn put_phrase(&self, leaf: &mut Leaf, words: &Words) {
        for (part, base) in self.parts() {
            let segment = &part.segment;
            let found = phrase(segment, words);
            let mut found = found.into_iter().peekable();
            while let Some((document, first)) = found.next() {
                let Document { name, text_from } = bounds(segment, document as usize);
                let mut counts = [0; FIELDS];
                let mut count = |start: u32| {
                    let field = match start {
                        start if start >= text_from => Field::Body,
                        _ if words.content => return,
                        start if start < name => Field::Name,
                        _ => Field::Alias,
                    };
                    counts[field as usize] += 1;
                };
                count(first);
                while let Some((_, next)) = found.next_if(|(same, _)| *same == document) {
                    count(next);
                }
                self.put(leaf, segment, base, document as usize, &counts, 1.0);
            }
        }
    }
}

/// What so many of a word are worth: twice as many are less than twice as good.
fn saturated(count: u32, norm: f32) -> f32 {
    let count = count as f32;
    count * (SATURATION + 1.0) / (count + SATURATION * norm)
}

/// In a longer text a word says less.
fn norm(at: usize, lengths: [u32; 3], averages: &[f32; 3]) -> f32 {
    1.0 - LENGTH[at] + LENGTH[at] * lengths[at] as f32 / averages[at]
}

/// Which positions of a document are its name, and which its text.
struct Document {
    name: u32,
    text_from: u32,
}

fn bounds(segment: &Segment, document: usize) -> Document {
    let found = segment.document(document);
    Document { name: found.name, text_from: found.text_from }
}

/// The documents in which terms follow each other, and where, in order.
fn phrase(segment: &Segment, words: &Words) -> Vec<(u32, u32)> {
    let mut terms: Vec<(u32, Vec<usize>)> = Vec::with_capacity(words.terms.len());
    for (at, term) in (0..).zip(&words.terms) {
        let open = words.open && at as usize + 1 == words.terms.len();
        let found: Vec<usize> =
            if open { segment.beginning(term).collect() } else { segment.find(term).into_iter().collect() };
        if found.is_empty() {
            return Vec::new();
        }
        terms.push((at, found));
    }
    // The rarest first, so that there is little to compare.
    terms.sort_by_key(|(_, found)| found.iter().map(|term| segment.postings(*term).size()).sum::<usize>());
    let mut starts: Option<Vec<(u32, u32)>> = None;
    for (at, found) in terms {
        let mut next = Vec::new();
        for term in &found {
            follow(segment, *term, at, starts.as_deref(), &mut next);
        }
        if found.len() > 1 {
            next.sort_unstable();
            next.dedup();
        }
        starts = Some(next);
    }
    starts.unwrap_or_default()
}

/// Adds where a phrase can begin, if this term is so far behind its beginning: anywhere, or only where it is said.
fn follow(segment: &Segment, term: usize, behind: u32, among: Option<&[(u32, u32)]>, into: &mut Vec<(u32, u32)>) {
    let mut postings = segment.postings(term);
    let mut positions = Vec::new();
    let mut rest = among.unwrap_or_default();
    while let Some((document, counts)) = postings.next() {
        positions.clear();
        if among.is_none() {
            postings.positions(&counts, &mut positions);
            into.extend(positions.iter().filter_map(|position| Some((document, position.checked_sub(behind)?))));
            continue;
        }
        while rest.first().is_some_and(|(found, _)| *found < document) {
            rest = &rest[1..];
        }
        let here = rest.iter().take_while(|(found, _)| *found == document).count();
        if here == 0 {
            postings.raw_positions(&counts);
            continue;
        }
        postings.positions(&counts, &mut positions);
        let follows = |(_, start): &&(u32, u32)| positions.binary_search(&(start + behind)).is_ok();
        into.extend(rest[..here].iter().filter(follows));
    }
}
