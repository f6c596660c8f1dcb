//! The documents with a term one at a time, and its positions in them.
//!
//! Before every block there is a mark from which reading can start, so that a search for few documents, or part of
//! them, skips the others.

use super::blocks::{
    DocumentField, ExtraCounts, FIELDS, FieldCounts, HELD, LONGEST, PostingBlock, put_block, put_varint, take_varints,
    varint,
};

/// The lowest number that the next document can have, and where its block and its positions are.
const SKIP_BYTES: usize = 3 * 4;

/// The written data of one term.
#[derive(Default)]
pub(super) struct PostingsWriter {
    blocks: Vec<u8>,
    positions: Vec<u8>,
    marks: Vec<u8>,
    /// Documents that are in no block yet.
    gathered: Vec<(u32, FieldCounts)>,
    /// The lowest number that the next block can start with.
    after: u32,
}

impl PostingsWriter {
    /// The positions of a document, each as a step from the one before.
    pub(super) fn raw_positions(&mut self, raw: &[u8]) {
        self.positions.extend_from_slice(raw);
    }

    /// Ends a document after its positions were written. The numbers must increase.
    pub(super) fn document(&mut self, document: u32, counts: &FieldCounts) {
        self.gathered.push((document, *counts));
        // A block has a fixed number of documents, except the last.
        if self.gathered.len() == HELD {
            put_block(&mut self.blocks, self.after, &self.gathered);
            self.gathered.clear();
            // A mark after each full block, so that a search can skip without reading.
            self.after = document + 1;
            for number in [self.after, end(&self.blocks), end(&self.positions)] {
                self.marks.extend_from_slice(&number.to_le_bytes());
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.positions.clear();
        self.marks.clear();
        self.gathered.clear();
        self.after = 0;
    }

    /// Appends what [`Postings::new`] reads.
    pub(super) fn write(&self, postings: &mut Vec<u8>, positions: &mut Vec<u8>) {
        put_varint(postings, end(&self.marks) / SKIP_BYTES as u32);
        postings.extend_from_slice(&self.marks);
        postings.extend_from_slice(&self.blocks);
        // The rest, which is empty if all blocks are full.
        put_block(postings, self.after, &self.gathered);
        positions.extend_from_slice(&self.positions);
    }
}

/// The documents with a term, in order.
#[derive(Clone)]
pub(super) struct Postings<'s> {
    marks: &'s [u8],
    all: [&'s [u8]; 2],
    blocks: &'s [u8],
    positions: &'s [u8],
    /// The lowest number that the next block can start with.
    next: u32,
    block: PostingBlock<'s>,
    extras: ExtraCounts<'s>,
    /// How often the term occurs in each document of the block, and which of them comes next.
    sums: [u32; LONGEST],
    at: usize,
    /// Positions before those of the last document, and how many this one has.
    unread: u32,
    here: u32,
}

impl<'s> Postings<'s> {
    pub(super) fn new(mut postings: &'s [u8], positions: &'s [u8]) -> Self {
        let marks = varint(&mut postings).unwrap_or_default() as usize;
        let (marks, blocks) = postings.split_at_checked(marks.saturating_mul(SKIP_BYTES)).unwrap_or_default();
        Self {
            marks,
            all: [blocks, positions],
            blocks,
            positions,
            next: 0,
            block: PostingBlock::EMPTY,
            extras: PostingBlock::EMPTY.extras(),
            sums: [0; LONGEST],
            at: 0,
            unread: 0,
            here: 0,
        }
    }

    /// Roughly how much there is to read.
    pub(super) fn size(&self) -> usize {
        self.all[0].len()
    }

    /// The next block, for a caller that does not read documents one at a time.
    pub(super) fn block(&mut self) -> Option<PostingBlock<'s>> {
        PostingBlock::take(&mut self.blocks, &mut self.next)
    }

    /// The next document.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u32> {
        loop {
            while let Some(sum) = self.sums.get(self.at).filter(|_| self.at < self.block.bodies.len()) {
                let at = self.at;
                self.at += 1;
                // A run also has documents without the term.
                if *sum > 0 {
                    self.unread += self.here;
                    self.here = *sum;
                    return Some(self.block.document(at));
                }
            }
            self.enter()?;
        }
    }

    fn enter(&mut self) -> Option<()> {
        self.block = self.block()?;
        self.at = 0;
        // Most documents have a term in the text alone; the others follow.
        self.sums.iter_mut().zip(self.block.bodies).for_each(|(sum, body)| *sum = u32::from(*body));
        self.extras = self.block.extras();
        for (at, counts) in self.extras.clone() {
            *self.sums.get_mut(at)? = counts.iter().sum();
        }
        Some(())
    }

    /// How often the term occurs in each field of the last document.
    pub(super) fn counts(&mut self) -> FieldCounts {
        // `at` is already that of the next document.
        let at = self.at.wrapping_sub(1);
        while self.extras.peek().is_some_and(|found| found < at) {
            self.extras.next();
        }
        // Peeked at, so that it can be asked for again.
        if let Some((found, counts)) = self.extras.clone().next()
            && found == at
        {
            return counts;
        }
        let mut counts = [0; FIELDS];
        counts[DocumentField::Body as usize] = self.block.bodies.get(at).copied().unwrap_or_default().into();
        counts
    }

    /// The first unread document from this number on.
    pub(super) fn seek(&mut self, document: u32) -> Option<u32> {
        // The block that was read last may still have it.
        if document >= self.next {
            self.skip(document);
        }
        loop {
            let found = self.next()?;
            if found >= document {
                return Some(found);
            }
        }
    }

    /// Continues at the last mark before this document, if that is further on.
    fn skip(&mut self, document: u32) {
        let number = |mark: &[u8], at: usize| {
            mark.get(at * 4..at * 4 + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
        };
        let (mut low, mut high) = (0, self.marks.len() / SKIP_BYTES);
        while low < high {
            let middle = low.midpoint(high);
            if number(&self.marks[middle * SKIP_BYTES..], 0) <= document {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(mark) = low.checked_sub(1).and_then(|at| self.marks.get(at * SKIP_BYTES..)) else { return };
        // Never backwards: positions before it have been read.
        if number(mark, 0) <= self.next {
            return;
        }
        // Everything that was read of the block before is forgotten.
        self.next = number(mark, 0);
        self.blocks = self.all[0].get(number(mark, 1) as usize..).unwrap_or_default();
        self.positions = self.all[1].get(number(mark, 2) as usize..).unwrap_or_default();
        self.block = PostingBlock::EMPTY;
        (self.unread, self.here) = (0, 0);
    }

    /// Calls `each` with the positions in the last document; may be called once for it, or not at all.
    #[inline]
    pub(super) fn positions(&mut self, mut each: impl FnMut(u32)) {
        if self.unread > 0 {
            self.pass();
        }
        // Not in place, so that it is not written back for each.
        let (mut bytes, mut position) = (self.positions, 0_u32);
        for _ in 0..std::mem::take(&mut self.here) {
            let Some(step) = varint(&mut bytes) else { break };
            position = position.wrapping_add(step);
            each(position);
        }
        self.positions = bytes;
    }

    /// The same as bytes, as they were written.
    pub(super) fn raw_positions(&mut self) -> &'s [u8] {
        self.pass();
        take_varints(&mut self.positions, std::mem::take(&mut self.here))
    }

    /// Skips the positions of the documents before.
    fn pass(&mut self) {
        take_varints(&mut self.positions, std::mem::take(&mut self.unread));
    }
}

/// The data that is built at once stays far below the limit of these numbers.
pub(super) fn end(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}
