//! An inverted index of some documents in one piece of memory, which is also its format on disk: nothing is unpacked
//! when it is read, so it is ready as soon as its bytes are.

use std::ops::Range;

use super::postings::{Postings, PostingsWriter, end};
use lapidary_index::SharedBytes;

use crate::FileStamp;

/// Changes whenever a segment of the same notes would differ.
pub(super) const FORMAT: u32 = 4;

/// The data about a document other than its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IndexedDocument {
    pub(super) stamp: FileStamp,
    /// 0 if the content that was read may be of another state of the file.
    pub(super) read_at: i64,
    /// Words in the name, in headings, and in the text with its headings.
    pub(super) name: u32,
    pub(super) headings: u32,
    pub(super) body: u32,
    /// Words from this position on are in the text, below the properties.
    pub(super) text_from: u32,
}

const HEADER_BYTES: usize = 6 * 8;
const DOCUMENT_BYTES: usize = 5 * 8 + 6 * 4;
const TERM_BYTES: usize = 4 * 4;

/// Documents and their words. Positions count over all fields of a document, with gaps that no phrase spans.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    bytes: SharedBytes,
    documents: usize,
    terms: usize,
    document_table: Range<usize>,
    term_table: Range<usize>,
    paths: Range<usize>,
    lines: Range<usize>,
    words: Range<usize>,
    postings: Range<usize>,
    positions: Range<usize>,
}

/// Builds the bytes of a segment. Documents come first, then terms in order.
#[derive(Default)]
pub(super) struct SegmentWriter {
    documents: usize,
    document_table: Vec<u8>,
    term_table: Vec<u8>,
    paths: Vec<u8>,
    lines: Vec<u8>,
    words: Vec<u8>,
    postings: Vec<u8>,
    positions: Vec<u8>,
}

impl SegmentWriter {
    /// With the distribution of its words over lines.
    pub(super) fn document(&mut self, path: &str, document: &IndexedDocument, lines: &[u8]) {
        self.paths.extend_from_slice(path.as_bytes());
        self.lines.extend_from_slice(lines);
        let FileStamp { size, modified, changed, inode } = document.stamp;
        // Fixed sizes, so that the data of a document is found by its number.
        for number in [size, modified.cast_unsigned(), changed.cast_unsigned(), inode, document.read_at.cast_unsigned()]
        {
            self.document_table.extend_from_slice(&number.to_le_bytes());
        }
        // Ends only, as each begins where the one before ends.
        let (path_end, lines_end) = (end(&self.paths), end(&self.lines));
        let IndexedDocument { name, headings, body, text_from, .. } = *document;
        for number in [name, headings, body, text_from, path_end, lines_end] {
            self.document_table.extend_from_slice(&number.to_le_bytes());
        }
        self.documents += 1;
    }

    /// Terms have to come in order.
    pub(super) fn term(&mut self, term: &str, found: &PostingsWriter) {
        self.words.extend_from_slice(term.as_bytes());
        found.write(&mut self.postings, &mut self.positions);
        for number in [end(&self.words), end(&self.postings), end(&self.positions), letters(term)] {
            self.term_table.extend_from_slice(&number.to_le_bytes());
        }
    }

    pub(super) fn finish(self) -> Option<Segment> {
        let parts = [self.paths, self.lines, self.words, self.postings, self.positions];
        let length = HEADER_BYTES + self.document_table.len() + self.term_table.len();
        let mut bytes = Vec::with_capacity(length + parts.iter().map(|part| part.len()).sum::<usize>());
        // The last part needs no length: it goes on to the end.
        let lengths = parts[..4].iter().map(|part| part.len());
        let counts = [self.documents, self.term_table.len() / TERM_BYTES].into_iter().chain(lengths);
        counts.for_each(|count| bytes.extend_from_slice(&(count as u64).to_le_bytes()));
        bytes.extend_from_slice(&self.document_table);
        bytes.extend_from_slice(&self.term_table);
        // Released one at a time, so that the whole never exists twice.
        parts.into_iter().for_each(|part| bytes.extend_from_slice(&part));
        // Opened like one from the cache, so that there is one reader.
        Segment::open(SharedBytes::whole(bytes)?)
    }
}

impl Segment {
    /// `None` if these bytes are not a segment. They must be known to be undamaged.
    pub(super) fn open(bytes: SharedBytes) -> Option<Self> {
        let count = |at: usize| {
            let number = bytes.get(at * 8..at * 8 + 8)?.try_into().ok()?;
            usize::try_from(u64::from_le_bytes(number)).ok()
        };
        let (documents, terms) = (count(0)?, count(1)?);
        let mut at = HEADER_BYTES;
        // The lengths come from a file, so no sum of them is trusted.
        let mut part = |length: usize| {
            let start = at;
            at = at.checked_add(length)?;
            (at <= bytes.len()).then_some(start..at)
        };
        let document_table = part(documents.checked_mul(DOCUMENT_BYTES)?)?;
        let term_table = part(terms.checked_mul(TERM_BYTES)?)?;
        let (paths, lines) = (part(count(2)?)?, part(count(3)?)?);
        let (words, postings) = (part(count(4)?)?, part(count(5)?)?);
        let positions = at..bytes.len();
        Some(Self { bytes, documents, terms, document_table, term_table, paths, lines, words, postings, positions })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn documents(&self) -> usize {
        self.documents
    }

    pub(super) fn terms(&self) -> usize {
        self.terms
    }

    fn number(&self, at: usize) -> u32 {
        let bytes = self.bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        // Bytes were checked before they were opened, so a place outside does not occur.
        bytes.map_or(0, u32::from_le_bytes)
    }

    fn long(&self, at: usize) -> u64 {
        let bytes = self.bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    }

    pub(super) fn document(&self, number: usize) -> IndexedDocument {
        let at = self.document_table.start + number * DOCUMENT_BYTES;
        let long = |field: usize| self.long(at + field * 8);
        let short = |field: usize| self.number(at + 40 + field * 4);
        let stamp = FileStamp {
            size: long(0),
            modified: long(1).cast_signed(),
            changed: long(2).cast_signed(),
            inode: long(3),
        };
        IndexedDocument {
            stamp,
            read_at: long(4).cast_signed(),
            name: short(0),
            headings: short(1),
            body: short(2),
            text_from: short(3),
        }
    }

    /// When the file of a document was last changed.
    pub(super) fn modified(&self, number: usize) -> i64 {
        self.long(self.document_table.start + number * DOCUMENT_BYTES + 8).cast_signed()
    }

    /// How many words a document has in its name, its headings and its text.
    pub(super) fn lengths(&self, number: usize) -> [u32; 3] {
        let at = self.document_table.start + number * DOCUMENT_BYTES + 40;
        [self.number(at), self.number(at + 4), self.number(at + 8)]
    }

    /// Words in the name of a document, and the position from which on they are in its text.
    pub(super) fn bounds(&self, number: usize) -> (u32, u32) {
        let at = self.document_table.start + number * DOCUMENT_BYTES + 40;
        (self.number(at), self.number(at + 12))
    }

    pub(super) fn path(&self, number: usize) -> &str {
        self.text(&self.paths, self.document_range(number, 56))
    }

    /// How the words of a document are distributed over lines, for [`UnitPositions`](super::lines::Units).
    pub(super) fn lines(&self, number: usize) -> &[u8] {
        let range = self.document_range(number, 60);
        self.bytes.get(self.lines.start + range.start..self.lines.start + range.end).unwrap_or_default()
    }

    /// A part of data that all documents have one after another, and whose end is stored for each.
    fn document_range(&self, number: usize, at: usize) -> Range<usize> {
        let end = |number: usize| self.number(self.document_table.start + number * DOCUMENT_BYTES + at) as usize;
        // The first begins where the part does.
        number.checked_sub(1).map_or(0, end)..end(number)
    }

    fn text(&self, part: &Range<usize>, range: Range<usize>) -> &str {
        let bytes = self.bytes.get(part.start + range.start..part.start + range.end).unwrap_or_default();
        str::from_utf8(bytes).unwrap_or_default()
    }

    /// Where part of a term's data ends; column 0 is the word, 1 its postings, 2 its positions.
    fn term_end(&self, term: usize, column: usize) -> usize {
        self.number(self.term_table.start + term * TERM_BYTES + column * 4) as usize
    }

    fn term_range(&self, term: usize, column: usize) -> Range<usize> {
        term.checked_sub(1).map_or(0, |before| self.term_end(before, column))..self.term_end(term, column)
    }

    pub(super) fn term(&self, term: usize) -> &str {
        self.text(&self.words, self.term_range(term, 0))
    }

    pub(super) fn find(&self, term: &str) -> Option<usize> {
        let at = self.first_from(term);
        (at < self.terms && self.term(at) == term).then_some(at)
    }

    /// The terms with this prefix.
    pub(super) fn beginning(&self, prefix: &str) -> impl Iterator<Item = usize> {
        (self.first_from(prefix)..self.terms).take_while(move |term| self.term(*term).starts_with(prefix))
    }

    /// The terms that have all but a few letters of a word, and few others.
    pub(super) fn alike(&self, word: &str, most: usize) -> impl Iterator<Item = usize> {
        let wanted = letters(word);
        let table = self.bytes.get(self.term_table.clone()).unwrap_or_default();
        let found =
            table.chunks_exact(TERM_BYTES).map(|term| term.last_chunk().map_or(0, |found| u32::from_le_bytes(*found)));
        // A changed letter differs in two bits, an added or dropped one in one.
        found.enumerate().filter(move |(_, found)| (found ^ wanted).count_ones() as usize <= most).map(|(term, _)| term)
    }

    fn first_from(&self, term: &str) -> usize {
        let (mut low, mut high) = (0, self.terms);
        while low < high {
            let middle = low.midpoint(high);
            if self.term(middle) < term {
                // Terms are in order, so the search halves the table.
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    pub(super) fn postings(&self, term: usize) -> Postings<'_> {
        let part = |range: &Range<usize>, column: usize| {
            let found = self.term_range(term, column);
            self.bytes.get(range.start + found.start..range.start + found.end).unwrap_or_default()
        };
        Postings::new(part(&self.postings, 1), part(&self.positions, 2))
    }
}

/// Which letters a term has, roughly: enough to exclude most terms that are not misspellings of a word without reading
/// them.
fn letters(term: &str) -> u32 {
    term.chars().fold(0, |bits, letter| bits | 1 << (u32::from(letter) % 32))
}
