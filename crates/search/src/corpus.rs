//! The documents that a caller may read.
//!
//! Nothing here is precomputed over all documents: how many there are, how long they are, and how many contain a word
//! is counted for each search among the documents that the caller may see. So no score depends on a hidden one.

use std::sync::Arc;

use super::{
    bits::DocumentSet,
    index::{GONE, IndexPart, WordIndex},
    weigh::norm,
};
use lapidary_index::FileId;

pub(super) struct ReadableCorpus<'i> {
    pub(super) index: &'i WordIndex,
    pub(super) readable: Arc<ReadableCounts>,
    /// Whether these are all that the caller may read, so that a word that is not here is nowhere.
    pub(super) whole: bool,
    /// How the words of the query are spelt elsewhere, by their numbers.
    pub(super) spellings: Vec<KnownSpelling>,
}

/// What another corpus says of a word.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownSpelling {
    /// It has the word, which is therefore not misspelt.
    pub(super) is_word: bool,
    /// Or these, which were probably meant.
    pub(super) meant: Vec<String>,
}

/// Counts over the documents that a caller may read. Valid as long as neither the notes nor the rules change.
pub(super) struct ReadableCounts {
    /// The number of the first document of each part.
    bases: Vec<usize>,
    /// Documents in all parts, including those that are gone or hidden.
    total: usize,
    visible: DocumentSet,
    pub(super) count: usize,
    pub(super) averages: [f32; 3],
    /// How the length of each text affects the weight of words in it. Infinite if the caller may not read it, so that
    /// nothing there has any weight.
    pub(super) norms: Vec<f32>,
}

impl ReadableCounts {
    pub(super) fn new(index: &WordIndex, shows: &dyn Fn(FileId) -> bool) -> Self {
        let mut bases = Vec::with_capacity(index.parts.len());
        let mut total = 0;
        for part in &index.parts {
            bases.push(total);
            total += part.files.len();
        }
        let mut visible = DocumentSet::none(total);
        let mut norms = vec![f32::INFINITY; total];
        let (mut count, mut lengths) = (0, [0_u64; 3]);
        for (part, base) in index.parts.iter().zip(&bases) {
            for (document, file) in part.files.iter().enumerate() {
                // Counted for each caller: averages over hidden notes would reveal how long they are.
                if *file != GONE && shows(*file) {
                    visible.set(base + document);
                    count += 1;
                    let found = part.segment.lengths(document);
                    lengths.iter_mut().zip(found).for_each(|(sum, length)| *sum += u64::from(length));
                    // The length for now: a norm needs the averages, which are known only after the loop.
                    norms[base + document] = found[2] as f32;
                }
            }
        }
        // An empty vault has no average; one is a harmless divisor.
        let averages = lengths.map(|sum| (sum as f32 / count.max(1) as f32).max(1.0));
        norms.iter_mut().for_each(|length| *length = norm(2, *length, &averages));
        Self { bases, total, visible, count, averages, norms }
    }
}

impl<'i> ReadableCorpus<'i> {
    pub(super) fn new(index: &'i WordIndex, readable: Arc<ReadableCounts>) -> Self {
        Self { index, readable, whole: true, spellings: Vec::new() }
    }

    /// For documents that are only some of those that the caller may read.
    pub(super) fn of_some(index: &'i WordIndex) -> Self {
        Self { whole: false, ..Self::new(index, Arc::new(ReadableCounts::new(index, &|_| true))) }
    }

    pub(super) fn total(&self) -> usize {
        self.readable.total
    }

    pub(super) fn visible(&self) -> &DocumentSet {
        &self.readable.visible
    }

    /// All parts, with the number of the first document of each.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&'i IndexPart, usize)> {
        self.index.parts.iter().zip(self.readable.bases.iter().copied())
    }

    /// The part of a document, and its number there.
    pub(super) fn place(&self, document: usize) -> (&'i IndexPart, usize) {
        // The last part that starts at or before it. The first starts at 0, so there is one.
        let part = self.readable.bases.partition_point(|base| *base <= document) - 1;
        (&self.index.parts[part], document - self.readable.bases[part])
    }

    /// The same with what is known of the spelling of its words.
    pub(super) fn spelt(self, spellings: Vec<KnownSpelling>) -> Self {
        Self { spellings, ..self }
    }

    /// Which of the documents of its file a document is, from 0.
    pub(super) fn ordinal(&self, document: usize) -> Option<usize> {
        document.checked_sub(self.number(self.file(document)?)?)
    }

    /// The number of the document of a file, or of its first page.
    pub(super) fn number(&self, id: FileId) -> Option<usize> {
        let (part, document) = self.index.place(id)?;
        Some(self.readable.bases.get(part)? + document)
    }

    pub(super) fn file(&self, document: usize) -> Option<FileId> {
        let (part, number) = self.place(document);
        part.files.get(number).copied()
    }
}
