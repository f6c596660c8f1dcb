//! Words that follow each other.

use std::ops::Range;

use lapidary_query::Words;
use rayon::prelude::*;

use super::{
    bits::{DocumentSet, ones},
    postings::Postings,
    segment::Segment,
};

/// How many documents one thread processes.
const PIECE_DOCUMENTS: usize = 1 << 14;

/// A document, and the position where a phrase starts.
pub(super) type PhraseStart = (u32, u32);

/// A place in a phrase that one term must have, at this distance from the start.
#[derive(Clone)]
struct PhraseSlot<'s> {
    behind: u32,
    postings: Postings<'s>,
    /// The document that was read last.
    document: u32,
}

/// Consecutive terms in a segment.
pub(super) struct PhraseTerms<'s> {
    segment: &'s Segment,
    /// The rarest leads, so that there is little to compare.
    slots: Vec<PhraseSlot<'s>>,
    /// The last place, if it is a prefix: its distance, and all terms with that prefix.
    open: Option<(u32, Vec<usize>)>,
}

impl<'s> PhraseTerms<'s> {
    /// `None` if not all of them occur.
    pub(super) fn new(segment: &'s Segment, words: &Words) -> Option<Self> {
        let (mut slots, mut open) = (Vec::with_capacity(words.terms.len()), None);
        for (behind, term) in (0..).zip(&words.terms) {
            if words.open && behind as usize + 1 == words.terms.len() {
                open = Some((behind, segment.beginning(term).collect()));
            } else {
                slots.push(PhraseSlot { behind, postings: segment.postings(segment.find(term)?), document: 0 });
            }
        }
        // The shortest list first: every other one is only read where it has a document.
        slots.sort_by_key(|slot| slot.postings.size());
        Some(Self { segment, slots, open })
    }

    /// The documents with the phrase, and where, in order.
    pub(super) fn all(&self) -> Vec<PhraseStart> {
        let count = self.segment.documents();
        let pieces: Vec<usize> = (0..count).step_by(PIECE_DOCUMENTS).collect();
        let piece = |from: usize| self.closed(&(from as u32..(from + PIECE_DOCUMENTS).min(count) as u32));
        self.opened(pieces.into_par_iter().flat_map_iter(piece).collect(), &(0..count as u32))
    }

    /// The same for some documents.
    pub(super) fn among(&self, documents: &Range<u32>) -> Vec<PhraseStart> {
        self.opened(self.closed(documents), documents)
    }

    fn closed(&self, documents: &Range<u32>) -> Vec<PhraseStart> {
        let mut starts = Vec::new();
        together(self.slots.clone(), documents, &mut starts);
        starts
    }

    /// Those that continue with the last place.
    fn opened(&self, mut starts: Vec<PhraseStart>, documents: &Range<u32>) -> Vec<PhraseStart> {
        let Some((behind, terms)) = &self.open else { return starts };
        // Many terms may have the prefix; they are read only where the rest of the phrase is.
        let mut held = DocumentSet::none(self.segment.documents());
        starts.iter().for_each(|(document, _)| held.set(*document as usize));
        let found = |term: &usize| {
            let (mut postings, mut found) = (self.segment.postings(*term), Vec::new());
            let mut next = postings.seek(documents.start);
            while let Some(document) = next.filter(|document| *document < documents.end) {
                if held.has(document as usize) {
                    let start = |position: u32| Some((document, position.checked_sub(*behind)?));
                    postings.positions(|position| found.extend(start(position)));
                }
                next = postings.next();
            }
            found
        };
        let mut ends: Vec<PhraseStart> = terms.par_iter().flat_map_iter(found).collect();
        ends.sort_unstable();
        let mut ends = ends.into_iter().peekable();
        starts.retain(|start| {
            // Both lists are in order, so each is passed once.
            while ends.next_if(|end| end < start).is_some() {}
            ends.peek() == Some(start)
        });
        starts
    }
}

/// Where all slots are filled. `None` as soon as one of them has no more documents.
fn together(mut slots: Vec<PhraseSlot<'_>>, documents: &Range<u32>, into: &mut Vec<PhraseStart>) -> Option<()> {
    let (lead, others) = slots.split_first_mut()?;
    // Read ahead once, so that the loop can compare without reading.
    for slot in others.iter_mut() {
        slot.document = slot.postings.seek(documents.start)?;
    }
    let mut wanted = documents.start;
    // Positions as sets of bits: comparing short lists of numbers mispredicts a branch at every step.
    let (mut possible, mut left): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    'documents: loop {
        let document = lead.postings.seek(wanted)?;
        if document >= documents.end {
            return Some(());
        }
        wanted = document + 1;
        for slot in others.iter_mut() {
            if slot.document < document {
                slot.document = slot.postings.seek(document)?;
            }
            // The lead can skip to the document that this one has next.
            if slot.document > document {
                wanted = slot.document;
                continue 'documents;
            }
        }
        possible.clear();
        lead.postings.positions(|position| {
            // The phrase would start before the first word of the document.
            let Some(start) = position.checked_sub(lead.behind) else { return };
            let word = start as usize / 64;
            match possible.get_mut(word) {
                Some(word) => *word |= 1 << (start % 64),
                None => {
                    possible.resize(word, 0);
                    possible.push(1 << (start % 64));
                }
            }
        });
        for slot in others.iter_mut() {
            left.clear();
            left.resize(possible.len(), 0);
            slot.postings.positions(|position| {
                let Some(start) = position.checked_sub(slot.behind) else { return };
                let word = start as usize / 64;
                if let (Some(left), Some(possible)) = (left.get_mut(word), possible.get(word)) {
                    *left |= possible & 1 << (start % 64);
                }
            });
            std::mem::swap(&mut possible, &mut left);
        }
        for (at, word) in (0_u32..).zip(&possible) {
            into.extend(ones(*word).map(|bit| (document, at * 64 + bit as u32)));
        }
    }
}
