//! Words in one line, block or section, found by their positions. The texts are not read.

use std::{convert::Infallible, ops::Range};

use lapidary_query::{LeafResolver, QueryLeaf, QueryNode, QueryPiece, Words, evaluate, holds};
use rayon::prelude::*;

use super::{
    bits::DocumentSet,
    evaluate::{RankedSearch, put_words},
    index::IndexPart,
    lines::{LineUnit, UnitPositions},
    phrase::{PhraseStart, PhraseTerms},
};
use crate::IndexError;

/// How many documents one thread processes: few enough that their data stays in the cache.
const AT_ONCE: usize = 2048;

/// The positions of words of a query in some documents of a part.
struct WordSpots {
    /// The bit that says that they are in a unit.
    bit: u64,
    length: u32,
    starts: Vec<PhraseStart>,
    /// Earlier ones belong to documents that were processed.
    seen: usize,
}

impl RankedSearch<'_> {
    /// The documents with one unit that matches a part of the query. `None` if positions are not sufficient.
    pub(super) fn in_one_unit(
        &self,
        piece: QueryPiece,
        node: &QueryNode,
        possible: &DocumentSet,
    ) -> Option<Result<DocumentSet, IndexError>> {
        let unit = match piece {
            QueryPiece::Line => LineUnit::Line,
            QueryPiece::Block => LineUnit::Block,
            QueryPiece::Section => LineUnit::Section,
            // Positions do not say which words are in a task.
            QueryPiece::Task(_) => return None,
        };
        // Units without any word are not known here.
        // A unit without words is not stored, and may be what is asked for: `line:(-word)`.
        if !is_of_words(node) || holds(node, &HeldWords(0)) {
            return None;
        }
        let mut words = Vec::new();
        put_words(node, &mut words);
        let parts = self.corpus.parts().flat_map(|(part, base)| {
            let count = part.segment.documents();
            (0..count).step_by(AT_ONCE).map(move |from| (part, base, from..(from + AT_ONCE).min(count)))
        });
        let parts: Vec<(&IndexPart, usize, Range<usize>)> = parts.collect();
        let found = parts.into_par_iter().map(|(part, base, documents)| {
            if !(self.go_on)() {
                return Err(IndexError::Stopped);
            }
            let wanted: Vec<usize> = documents.filter(|document| possible.has(base + document)).collect();
            let found = self.with_unit(part, wanted, unit, node, &words);
            Ok(found.into_iter().map(|document| base + document).collect::<Vec<usize>>())
        });
        let found: Result<Vec<Vec<usize>>, IndexError> = found.collect();
        Some(found.map(|found| {
            let mut bits = DocumentSet::none(self.corpus.total());
            found.into_iter().flatten().for_each(|document| bits.set(document));
            bits
        }))
    }

    /// Those of some documents of a part, in order, that have such a unit.
    fn with_unit(
        &self,
        part: &IndexPart,
        mut wanted: Vec<usize>,
        unit: LineUnit,
        node: &QueryNode,
        words: &[&Words],
    ) -> Vec<usize> {
        let mut spots: Vec<WordSpots> = words.iter().map(|words| self.spots(part, words, &wanted)).collect();
        wanted.retain(|document| {
            let (_, text_from) = part.segment.bounds(*document);
            spots.iter_mut().for_each(|spots| spots.begin(*document as u32));
            UnitPositions::new(part.segment.lines(*document), text_from, unit).any(|unit| {
                let held = spots.iter_mut().fold(0, |held, spots| held | spots.within(*document as u32, &unit));
                // Evaluated only for units that have at least one of the words.
                held != 0 && holds(node, &HeldWords(held))
            })
        });
        wanted
    }

    fn spots(&self, part: &IndexPart, words: &Words, wanted: &[usize]) -> WordSpots {
        let segment = &part.segment;
        let spots = |starts: Vec<PhraseStart>| WordSpots {
            bit: 1 << words.number,
            length: words.terms.len() as u32,
            starts,
            seen: 0,
        };
        let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { return spots(Vec::new()) };
        let [term] = words.terms.as_slice() else {
            let found = PhraseTerms::new(segment, words).map(|phrase| phrase.among(&(*first as u32..*last as u32 + 1)));
            return spots(found.unwrap_or_default());
        };
        // The same that [`Lexicon::accepts`](lapidary_query::Lexicon::accepts) accepts.
        let variants = self.scores(words).map(|scores| scores.variants.as_slice()).unwrap_or_default();
        let mut terms: Vec<usize> = variants.iter().chain([term]).filter_map(|term| segment.find(term)).collect();
        if words.open {
            terms.extend(segment.beginning(term));
            terms.sort_unstable();
            terms.dedup();
        }
        let mut starts = Vec::new();
        for term in &terms {
            let mut postings = segment.postings(*term);
            let mut wanted = wanted.iter().map(|document| *document as u32).peekable();
            while let Some(next) = wanted.peek().copied() {
                let Some(document) = postings.seek(next) else { break };
                while wanted.next_if(|wanted| *wanted < document).is_some() {}
                if wanted.next_if_eq(&document).is_some() {
                    postings.positions(|position| starts.push((document, position)));
                }
            }
        }
        // Those of a single term are in order already.
        if terms.len() > 1 {
            starts.sort_unstable();
        }
        spots(starts)
    }
}

impl WordSpots {
    /// Skips documents before this one.
    fn begin(&mut self, document: u32) {
        while self.starts.get(self.seen).is_some_and(|(found, _)| *found < document) {
            self.seen += 1;
        }
    }

    /// The bit if one of them is in this unit, whose document and position come after all previous ones.
    fn within(&mut self, document: u32, unit: &Range<u32>) -> u64 {
        // Units come in order, so what was passed is never needed again.
        while self.starts.get(self.seen).is_some_and(|spot| *spot < (document, unit.start)) {
            self.seen += 1;
        }
        let fits = |(found, start): &PhraseStart| *found == document && start.saturating_add(self.length) <= unit.end;
        if self.starts.get(self.seen).is_some_and(fits) { self.bit } else { 0 }
    }
}

/// Whether it consists only of words.
fn is_of_words(node: &QueryNode) -> bool {
    !node.any_leaf(&mut |leaf| match leaf {
        // There are 64 bits, and a query rarely has that many words.
        QueryLeaf::Words(words) => words.number >= u64::BITS as usize,
        QueryLeaf::Within(_, node) => !is_of_words(node),
        QueryLeaf::Text(_) | QueryLeaf::Path(_) | QueryLeaf::Tag(_) | QueryLeaf::Property(_) | QueryLeaf::Page(_) => {
            true
        }
    })
}

/// A unit of which only the words are known, by their numbers. Only words are evaluated for it.
struct HeldWords(u64);

impl LeafResolver for HeldWords {
    type Answers = bool;
    type Error = Infallible;

    fn leaf(&self, leaf: QueryLeaf<'_>, within: &bool) -> Result<bool, Infallible> {
        match leaf {
            QueryLeaf::Words(words) => Ok(*within && self.0 >> words.number & 1 == 1),
            QueryLeaf::Within(_, node) => evaluate(node, within, self),
            QueryLeaf::Text(_)
            | QueryLeaf::Path(_)
            | QueryLeaf::Tag(_)
            | QueryLeaf::Property(_)
            | QueryLeaf::Page(_) => Ok(false),
        }
    }
}
