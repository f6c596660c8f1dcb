//! Builds segments: from notes, and from other segments.

use std::{cmp::Reverse, collections::BinaryHeap, collections::HashMap};

use lapidary_note::Frontmatter;
use lapidary_query::search_tokens;

use super::{
    blocks::{DocumentField, FIELDS, FieldCounts, put_varint, take_varints, varint},
    lines::LineWriter,
    postings::PostingsWriter,
    segment::{IndexedDocument, Segment, SegmentWriter},
};
use crate::{Digest, DocumentPart, FileStamp, VaultPath};

/// The distance between parts that no phrase spans.
pub(super) const GAP: u32 = 2;

/// Adds notes one at a time.
#[derive(Default)]
pub(super) struct SegmentBuilder {
    numbers: HashMap<Box<str>, usize>,
    terms: Vec<TermPostings>,
    writer: SegmentWriter,
    documents: u32,
}

/// What is known of a term so far. Most of the memory for a new segment is here, so it is as small as on disk.
#[derive(Default)]
struct TermPostings {
    /// The documents that are done, and the positions in all, see [`PackedDocuments`].
    documents: Vec<u8>,
    positions: Vec<u8>,
    /// The lowest number that the next document can have.
    after: u32,
    /// The document being read, and its terms so far.
    document: u32,
    counts: FieldCounts,
    position: u32,
}

impl TermPostings {
    fn finish_document(&mut self) {
        if self.counts.iter().any(|count| *count > 0) {
            put_document(&mut self.documents, self.document - self.after, &self.counts);
            self.after = self.document + 1;
            self.counts = [0; FIELDS];
            self.position = 0;
        }
    }
}

/// Writes how many documents are between this one and the one before, and how often the term occurs in it.
fn put_document(bytes: &mut Vec<u8>, skipped: u32, counts: &FieldCounts) {
    put_varint(bytes, skipped);
    // A mask says which counts follow.
    bytes.push((0..FIELDS).fold(0, |mask, field| mask | u8::from(counts[field] > 0) << field));
    counts.iter().filter(|count| **count > 0).for_each(|count| put_varint(bytes, *count));
}

/// The documents of a term with their counts, as [`put_document`] wrote them.
struct PackedDocuments<'t> {
    bytes: &'t [u8],
    after: u32,
}

impl Iterator for PackedDocuments<'_> {
    type Item = (u32, FieldCounts);

    fn next(&mut self) -> Option<(u32, FieldCounts)> {
        let document = self.after + varint(&mut self.bytes)?;
        self.after = document + 1;
        let (&mask, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        let mut counts = [0; FIELDS];
        for (_, count) in counts.iter_mut().enumerate().filter(|(field, _)| mask >> field & 1 == 1) {
            *count = varint(&mut self.bytes)?;
        }
        Some((document, counts))
    }
}

impl SegmentBuilder {
    /// A note with this text, from the file with this stamp.
    pub(super) fn add(&mut self, path: &VaultPath, stamp: FileStamp, read_at: i64, digest: &Digest<'_>, text: &str) {
        let mut document = IndexedDocument { stamp, read_at, ..IndexedDocument::default() };
        let mut position = 0;
        // The ending is the same for all notes and would match searches for "md".
        let name = path.name().rsplit_once('.').map_or(path.name(), |(stem, _)| stem);
        document.name = self.words(name, DocumentField::Name, &mut position);
        digest.aliases().for_each(|alias| {
            self.words(alias, DocumentField::Alias, &mut position);
        });
        if let Some(folder) = path.folder() {
            self.words(folder.as_str(), DocumentField::Folder, &mut position);
        }
        digest.tags().for_each(|tag| {
            self.words(tag.name, DocumentField::Tag, &mut position);
        });
        // Words of properties and of the text are separate fields, with a gap that no phrase spans.
        let body = Frontmatter::find(text).map_or(0, |block| block.span.end);
        let headings = digest.structure().headings.iter().map(|heading| heading.line).collect();
        let mut lines = LineWriter::new(text, headings);
        let properties = position;
        search_tokens(&text[..body], |token| {
            lines.word(token.start);
            self.word(token.term, DocumentField::Property, position);
            position += 1;
        });
        let properties = position - properties;
        position += GAP;
        // Positions from here on are in the text, which `content:` queries require.
        document.text_from = position;
        search_tokens(&text[body..], |token| {
            let field = if lines.word(body + token.start) { DocumentField::Heading } else { DocumentField::Body };
            document.headings += u32::from(field == DocumentField::Heading);
            document.body += 1;
            self.word(token.term, field, position);
            position += 1;
        });
        self.writer.document(path.as_str(), &document, &lines.finish(properties));
        self.documents += 1;
    }

    /// A page of a document. Its name, and the title of the document, are those of each page.
    pub(super) fn add_page(&mut self, path: &VaultPath, stamp: FileStamp, title: Option<&str>, part: &DocumentPart) {
        let mut document = IndexedDocument { stamp, ..IndexedDocument::default() };
        let mut position = 0;
        let name = path.name().rsplit_once('.').map_or(path.name(), |(stem, _)| stem);
        document.name = self.words(name, DocumentField::Name, &mut position);
        // Both name the page, as an alias names a note.
        for other in title.into_iter().chain(part.label.as_deref()) {
            self.words(other, DocumentField::Alias, &mut position);
        }
        if let Some(folder) = path.folder() {
            self.words(folder.as_str(), DocumentField::Folder, &mut position);
        }
        position += GAP;
        document.text_from = position;
        let mut lines = LineWriter::new(&part.text, Vec::new());
        search_tokens(&part.text, |token| {
            lines.word(token.start);
            document.body += 1;
            self.word(token.term, DocumentField::Body, position);
            position += 1;
        });
        self.writer.document(path.as_str(), &document, &lines.finish(0));
        self.documents += 1;
    }

    /// How many there were.
    fn words(&mut self, text: &str, field: DocumentField, position: &mut u32) -> u32 {
        let mut count = 0;
        search_tokens(text, |token| {
            self.word(token.term, field, *position);
            *position += 1;
            count += 1;
        });
        // Also after an empty part: the last word of a name and the first of an alias are not a phrase.
        *position += GAP;
        count
    }

    fn word(&mut self, word: &str, field: DocumentField, position: u32) {
        let number = match self.numbers.get(word) {
            Some(number) => *number,
            None => {
                self.terms.push(TermPostings::default());
                self.numbers.insert(word.into(), self.terms.len() - 1);
                self.terms.len() - 1
            }
        };
        let term = &mut self.terms[number];
        // A term is finished when it occurs in the next document; most occur in few.
        if term.document != self.documents {
            term.finish_document();
            term.document = self.documents;
        }
        // Steps between positions are small and take one byte.
        put_varint(&mut term.positions, position - term.position);
        term.position = position;
        term.counts[field as usize] += 1;
    }

    pub(super) fn finish(self) -> Option<Segment> {
        let Self { numbers, mut terms, mut writer, .. } = self;
        // Terms are looked up by binary search.
        let mut sorted: Vec<(Box<str>, usize)> = numbers.into_iter().collect();
        sorted.sort_unstable();
        let mut written = PostingsWriter::default();
        for (word, number) in sorted {
            // Taken out, so that its memory is released for what is written.
            let mut term = std::mem::take(&mut terms[number]);
            term.finish_document();
            let mut positions = term.positions.as_slice();
            for (document, counts) in (PackedDocuments { bytes: &term.documents, after: 0 }) {
                written.raw_positions(take_varints(&mut positions, counts.iter().sum()));
                written.document(document, &counts);
            }
            writer.term(&word, &written);
            written.clear();
        }
        writer.finish()
    }
}

/// One segment from several, with only the wanted documents, in this order. Also returns which they were, as the number
/// of a segment and of a document in it.
pub(super) fn merge(
    segments: &[&Segment],
    wanted: impl Fn(usize, usize) -> bool,
) -> Option<(Segment, Vec<(usize, usize)>)> {
    let mut writer = SegmentWriter::default();
    let mut origin = Vec::new();
    let mut renumbered: Vec<Vec<Option<u32>>> = Vec::with_capacity(segments.len());
    for (number, segment) in segments.iter().enumerate() {
        let mut numbers = vec![None; segment.documents()];
        for (document, renumbered) in numbers.iter_mut().enumerate().filter(|(document, _)| wanted(number, *document)) {
            *renumbered = Some(u32::try_from(origin.len()).ok()?);
            origin.push((number, document));
            writer.document(segment.path(document), &segment.document(document), segment.lines(document));
        }
        renumbered.push(numbers);
    }
    // A heap of the next term of each segment gives all terms in order, without a list of them.
    let mut heads: BinaryHeap<Reverse<(&str, usize, usize)>> = BinaryHeap::new();
    let head = |number: usize, term: usize| {
        let segment = segments[number];
        (term < segment.terms()).then(|| Reverse((segment.term(term), number, term)))
    };
    heads.extend((0..segments.len()).filter_map(|number| head(number, 0)));
    let mut written = PostingsWriter::default();
    while let Some(Reverse((word, _, _))) = heads.peek().copied() {
        written.clear();
        // For one word, the segments come in order, and so do the new numbers.
        while let Some(Reverse((same, number, term))) =
            heads.peek().copied().filter(|Reverse((same, ..))| *same == word)
        {
            debug_assert_eq!(same, word);
            heads.pop();
            heads.extend(head(number, term + 1));
            let mut found = segments[number].postings(term);
            while let Some(document) = found.next() {
                let Some(document) = renumbered[number].get(document as usize).copied().flatten() else { continue };
                // Positions are relative within a document, so they can be copied as they are.
                written.raw_positions(found.raw_positions());
                written.document(document, &found.counts());
            }
        }
        if !written.is_empty() {
            writer.term(word, &written);
        }
    }
    Some((writer.finish()?, origin))
}
