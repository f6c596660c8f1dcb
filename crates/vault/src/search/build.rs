//! Makes segments: of notes, and of other segments.

use std::{cmp::Reverse, collections::BinaryHeap, collections::HashMap};

use lapidary_note::Frontmatter;
use lapidary_query::search_tokens;

use super::segment::{Counts, Document, FIELDS, Field, Segment, Writer, put_posting, put_varint};
use crate::{Digest, VaultPath, store::Stamp};

/// So far apart are things that no phrase goes across.
const GAP: u32 = 2;

/// Takes in notes one by one.
#[derive(Default)]
pub(super) struct Builder {
    numbers: HashMap<Box<str>, usize>,
    terms: Vec<Term>,
    writer: Writer,
    documents: u32,
}

/// What is known of a term so far.
#[derive(Default)]
struct Term {
    postings: Vec<u8>,
    positions: Vec<u8>,
    /// The document that is being read, and what was found in it.
    document: u32,
    counts: Counts,
    position: u32,
    /// The least number that the next document can have.
    after: u32,
}

impl Term {
    fn finish_document(&mut self) {
        if self.counts.iter().any(|count| *count > 0) {
            put_posting(&mut self.postings, self.after, self.document, &self.counts);
            self.after = self.document + 1;
            self.counts = [0; FIELDS];
            self.position = 0;
        }
    }
}

impl Builder {
    /// A note with this text, which is that of the file with this stamp.
    pub(super) fn add(&mut self, path: &VaultPath, stamp: Stamp, read_at: i64, digest: &Digest<'_>, text: &str) {
        let mut document = Document { stamp, read_at, ..Document::default() };
        let mut position = 0;
        let name = path.name().rsplit_once('.').map_or(path.name(), |(stem, _)| stem);
        document.name = self.words(name, Field::Name, &mut position);
        digest.aliases().for_each(|alias| {
            self.words(alias, Field::Alias, &mut position);
        });
        if let Some(folder) = path.folder() {
            self.words(folder.as_str(), Field::Folder, &mut position);
        }
        digest.tags().for_each(|tag| {
            self.words(tag.name, Field::Tag, &mut position);
        });
        let body = Frontmatter::find(text).map_or(0, |block| block.span.end);
        self.words(&text[..body], Field::Property, &mut position);
        document.text_from = position;
        let headings = digest.structure().headings;
        let mut headings = headings.iter().map(|heading| heading.line).peekable();
        let (mut line, mut seen) = (1 + text[..body].matches('\n').count(), body);
        search_tokens(&text[body..], |token| {
            let start = body + token.start;
            line += memchr::memchr_iter(b'\n', &text.as_bytes()[seen..start]).count();
            seen = start;
            while headings.next_if(|heading| *heading < line).is_some() {}
            let field = if headings.peek() == Some(&line) { Field::Heading } else { Field::Body };
            document.headings += u32::from(field == Field::Heading);
            document.body += 1;
            self.word(token.term, field, position);
            position += 1;
        });
        self.writer.document(path.as_str(), &document);
        self.documents += 1;
    }

    /// How many there were.
    fn words(&mut self, text: &str, field: Field, position: &mut u32) -> u32 {
        let mut count = 0;
        search_tokens(text, |token| {
            self.word(token.term, field, *position);
            *position += 1;
            count += 1;
        });
        *position += GAP;
        count
    }

    fn word(&mut self, word: &str, field: Field, position: u32) {
        let number = match self.numbers.get(word) {
            Some(number) => *number,
            None => {
                self.terms.push(Term::default());
                self.numbers.insert(word.into(), self.terms.len() - 1);
                self.terms.len() - 1
            }
        };
        let term = &mut self.terms[number];
        if term.document != self.documents {
            term.finish_document();
            term.document = self.documents;
        }
        put_varint(&mut term.positions, position - term.position);
        term.position = position;
        term.counts[field as usize] += 1;
    }

    pub(super) fn finish(self) -> Option<Segment> {
        let Self { numbers, mut terms, mut writer, .. } = self;
        let mut sorted: Vec<(Box<str>, usize)> = numbers.into_iter().collect();
        sorted.sort_unstable();
        for (word, number) in sorted {
            let mut term = std::mem::take(&mut terms[number]);
            term.finish_document();
            writer.term(&word, &term.postings, &term.positions);
        }
        writer.finish()
    }
}

/// One segment of several, with only the documents that are wanted, in this order. Also answers which they were, as the
/// number of a segment and of a document in it.
pub(super) fn merge(
    segments: &[&Segment],
    wanted: impl Fn(usize, usize) -> bool,
) -> Option<(Segment, Vec<(usize, usize)>)> {
    let mut writer = Writer::default();
    let mut origin = Vec::new();
    let mut renumbered: Vec<Vec<Option<u32>>> = Vec::with_capacity(segments.len());
    for (number, segment) in segments.iter().enumerate() {
        let mut numbers = vec![None; segment.documents()];
        for (document, renumbered) in numbers.iter_mut().enumerate().filter(|(document, _)| wanted(number, *document)) {
            *renumbered = Some(u32::try_from(origin.len()).ok()?);
            origin.push((number, document));
            writer.document(segment.path(document), &segment.document(document));
        }
        renumbered.push(numbers);
    }
    let mut heads: BinaryHeap<Reverse<(&str, usize, usize)>> = BinaryHeap::new();
    let head = |number: usize, term: usize| {
        let segment = segments[number];
        (term < segment.terms()).then(|| Reverse((segment.term(term), number, term)))
    };
    heads.extend((0..segments.len()).filter_map(|number| head(number, 0)));
    let (mut postings, mut positions) = (Vec::new(), Vec::new());
    while let Some(Reverse((word, _, _))) = heads.peek().copied() {
        postings.clear();
        positions.clear();
        let mut after = 0;
        // Of one word, the segments come in their order, and so do the new numbers.
        while let Some(Reverse((same, number, term))) =
            heads.peek().copied().filter(|Reverse((same, ..))| *same == word)
        {
            debug_assert_eq!(same, word);
            heads.pop();
            heads.extend(head(number, term + 1));
            let mut found = segments[number].postings(term);
            while let Some((document, counts)) = found.next() {
                let raw = found.raw_positions(&counts);
                let Some(document) = renumbered[number].get(document as usize).copied().flatten() else { continue };
                positions.extend_from_slice(raw);
                put_posting(&mut postings, after, document, &counts);
                after = document + 1;
            }
        }
        if !postings.is_empty() {
            writer.term(word, &postings, &positions);
        }
    }
    Some((writer.finish()?, origin))
}
