//! An inverted index of some documents in one piece of memory, which is also how it stands on disk: nothing is unpacked
//! when it is read, so that it is ready as soon as its bytes are.

use std::ops::Range;

use crate::{index::Slice, store::Stamp};

/// Changes whenever a segment of the same notes would come out different.
pub(super) const FORMAT: u32 = 2;

/// Where in a document a word stands. Each word counts for one of them only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    Alias,
    Folder,
    Tag,
    Property,
    Heading,
    Body,
}

pub(super) const FIELDS: usize = 7;

/// How often a word stands in each field of a document.
pub(super) type Counts = [u32; FIELDS];

/// What is kept of a document beside its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) stamp: Stamp,
    /// 0 if what was read may have been another state of the file.
    pub(super) read_at: i64,
    /// Words in the name, in headings, and in the text with its headings.
    pub(super) name: u32,
    pub(super) headings: u32,
    pub(super) body: u32,
    /// Words from this position on stand in the text, below the properties.
    pub(super) text_from: u32,
}

const HEAD: usize = 5 * 8;
const DOCUMENT: usize = 5 * 8 + 5 * 4;
const TERM: usize = 3 * 4;

/// Documents and the words in them. Positions count over all fields of a document, with gaps where no phrase may go across.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    bytes: Slice,
    documents: usize,
    terms: usize,
    document_table: Range<usize>,
    term_table: Range<usize>,
    paths: Range<usize>,
    words: Range<usize>,
    postings: Range<usize>,
    positions: Range<usize>,
}

/// Makes the bytes of a segment. Documents come first, then terms in order.
#[derive(Default)]
pub(super) struct Writer {
    documents: usize,
    document_table: Vec<u8>,
    term_table: Vec<u8>,
    paths: Vec<u8>,
    words: Vec<u8>,
    postings: Vec<u8>,
    positions: Vec<u8>,
}

impl Writer {
    pub(super) fn document(&mut self, path: &str, document: &Document) {
        self.paths.extend_from_slice(path.as_bytes());
        let Stamp { size, modified, changed, inode } = document.stamp;
        for number in [size, modified.cast_unsigned(), changed.cast_unsigned(), inode, document.read_at.cast_unsigned()]
        {
            self.document_table.extend_from_slice(&number.to_le_bytes());
        }
        let path_end = end(&self.paths);
        for number in [document.name, document.headings, document.body, document.text_from, path_end] {
            self.document_table.extend_from_slice(&number.to_le_bytes());
        }
        self.documents += 1;
    }

    /// Terms have to come in order; the postings and positions are appended by the caller before.
    pub(super) fn term(&mut self, term: &str, postings: &[u8], positions: &[u8]) {
        self.words.extend_from_slice(term.as_bytes());
        self.postings.extend_from_slice(postings);
        self.positions.extend_from_slice(positions);
        for end in [end(&self.words), end(&self.postings), end(&self.positions)] {
            self.term_table.extend_from_slice(&end.to_le_bytes());
        }
    }

    pub(super) fn finish(self) -> Option<Segment> {
        let parts = [&self.paths, &self.words, &self.postings, &self.positions];
        let length = HEAD + self.document_table.len() + self.term_table.len();
        let mut bytes = Vec::with_capacity(length + parts.iter().map(|part| part.len()).sum::<usize>());
        let counts =
            [self.documents, self.term_table.len() / TERM, self.paths.len(), self.words.len(), self.postings.len()];
        counts.iter().for_each(|count| bytes.extend_from_slice(&(*count as u64).to_le_bytes()));
        bytes.extend_from_slice(&self.document_table);
        bytes.extend_from_slice(&self.term_table);
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        Segment::open(Slice::whole(bytes)?)
    }
}

/// What is made at once is kept far below the end of these numbers.
fn end(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

impl Segment {
    /// `None` if these bytes are no segment. That they are undamaged has to be known already.
    pub(super) fn open(bytes: Slice) -> Option<Self> {
        let count = |at: usize| {
            let number = bytes.get(at * 8..at * 8 + 8)?.try_into().ok()?;
            usize::try_from(u64::from_le_bytes(number)).ok()
        };
        let (documents, terms) = (count(0)?, count(1)?);
        let mut at = HEAD;
        let mut part = |length: usize| {
            let start = at;
            at = at.checked_add(length)?;
            (at <= bytes.len()).then_some(start..at)
        };
        let document_table = part(documents.checked_mul(DOCUMENT)?)?;
        let term_table = part(terms.checked_mul(TERM)?)?;
        let (paths, words, postings) = (part(count(2)?)?, part(count(3)?)?, part(count(4)?)?);
        let positions = at..bytes.len();
        Some(Self { bytes, documents, terms, document_table, term_table, paths, words, postings, positions })
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
        bytes.map_or(0, u32::from_le_bytes)
    }

    fn long(&self, at: usize) -> u64 {
        let bytes = self.bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    }

    pub(super) fn document(&self, number: usize) -> Document {
        let at = self.document_table.start + number * DOCUMENT;
        let long = |field: usize| self.long(at + field * 8);
        let short = |field: usize| self.number(at + 40 + field * 4);
        let stamp =
            Stamp { size: long(0), modified: long(1).cast_signed(), changed: long(2).cast_signed(), inode: long(3) };
        Document {
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
        self.long(self.document_table.start + number * DOCUMENT + 8).cast_signed()
    }

    /// How many words a document has in its name, its headings and its text.
    pub(super) fn lengths(&self, number: usize) -> [u32; 3] {
        let at = self.document_table.start + number * DOCUMENT + 40;
        [self.number(at), self.number(at + 4), self.number(at + 8)]
    }

    pub(super) fn path(&self, number: usize) -> &str {
        let end = |number: usize| self.number(self.document_table.start + number * DOCUMENT + 56) as usize;
        let start = number.checked_sub(1).map_or(0, end);
        self.text(&self.paths, start..end(number))
    }

    fn text(&self, part: &Range<usize>, range: Range<usize>) -> &str {
        let bytes = self.bytes.get(part.start + range.start..part.start + range.end).unwrap_or_default();
        str::from_utf8(bytes).unwrap_or_default()
    }

    /// Where a part of a term's data ends; column 0 is the word, 1 its postings, 2 its positions.
    fn term_end(&self, term: usize, column: usize) -> usize {
        self.number(self.term_table.start + term * TERM + column * 4) as usize
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

    /// The terms that begin so.
    pub(super) fn beginning(&self, prefix: &str) -> impl Iterator<Item = usize> {
        (self.first_from(prefix)..self.terms).take_while(move |term| self.term(*term).starts_with(prefix))
    }

    fn first_from(&self, term: &str) -> usize {
        let (mut low, mut high) = (0, self.terms);
        while low < high {
            let middle = low.midpoint(high);
            if self.term(middle) < term {
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
        Postings { postings: part(&self.postings, 1), positions: part(&self.positions, 2), next: 0 }
    }
}

/// The documents with a term, in order.
pub(super) struct Postings<'s> {
    postings: &'s [u8],
    positions: &'s [u8],
    /// The least number that the next one can have.
    next: u32,
}

/// Most words stand in the text only, and seldom.
const ONLY_BODY: u8 = 0x80;

impl Postings<'_> {
    /// About how much there is to look through.
    pub(super) fn size(&self) -> usize {
        self.postings.len()
    }

    /// The next document, and how often the term stands where in it.
    pub(super) fn next(&mut self) -> Option<(u32, Counts)> {
        let document = self.next.checked_add(varint(&mut self.postings)?)?;
        self.next = document + 1;
        let (head, rest) = self.postings.split_first()?;
        self.postings = rest;
        let mut counts = [0; FIELDS];
        if head & ONLY_BODY != 0 {
            counts[Field::Body as usize] = u32::from(head & !ONLY_BODY);
            return Some((document, counts));
        }
        for (field, count) in counts.iter_mut().enumerate() {
            if head >> field & 1 == 1 {
                *count = varint(&mut self.postings)?;
            }
        }
        Some((document, counts))
    }

    /// The positions in the document that came last, to be asked once for every document or never.
    pub(super) fn positions(&mut self, counts: &Counts, into: &mut Vec<u32>) {
        let mut position = 0;
        for _ in 0..counts.iter().sum() {
            let Some(step) = varint(&mut self.positions) else { return };
            position += step;
            into.push(position);
        }
    }

    /// The same as bytes, as they were written.
    pub(super) fn raw_positions(&mut self, counts: &Counts) -> &[u8] {
        let all = self.positions;
        for _ in 0..counts.iter().sum() {
            if varint(&mut self.positions).is_none() {
                break;
            }
        }
        &all[..all.len() - self.positions.len()]
    }
}

/// Appends a document to the postings of a term; `after` is the least number it can have.
pub(super) fn put_posting(postings: &mut Vec<u8>, after: u32, document: u32, counts: &Counts) {
    put_varint(postings, document - after);
    let body = counts[Field::Body as usize];
    let only_body = counts[..Field::Body as usize].iter().all(|count| *count == 0);
    match u8::try_from(body) {
        Ok(body) if only_body && body < ONLY_BODY => postings.push(ONLY_BODY | body),
        _ => {
            let mask = counts.iter().enumerate().fold(0, |mask, (field, count)| mask | u8::from(*count > 0) << field);
            postings.push(mask);
            counts.iter().filter(|count| **count > 0).for_each(|count| put_varint(postings, *count));
        }
    }
}

pub(super) fn put_varint(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push((number as u8) | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn varint(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 {
        return Some(u32::from(first));
    }
    let mut number = u32::from(first & 0x7f);
    for shift in [7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
