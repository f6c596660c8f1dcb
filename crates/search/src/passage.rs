//! What is shown of a note in the results: its best passage, and where that is.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    ops::Range,
};

use lapidary_note::{ContentHash, Frontmatter};
use lapidary_query::{QueryStarts, RowHeading, TextUnit, folded};

use super::{
    evaluate::RankedSearch,
    hybrid::{NearQuery, RankedDocument},
    meaning::NearNote,
};
use lapidary_index::FileState;

use crate::{Digest, DocumentKind, DocumentPart, VaultPath, documents::part_places, shown::with_shown};

/// How much of a note is wanted.
#[derive(Clone, Copy, Debug)]
pub struct PassageSize {
    /// Characters on either side of a match.
    pub context: usize,
    pub max_matches: usize,
    /// How many of its pieces are wanted, if it is ranked by meaning.
    pub pieces: usize,
}

/// A note that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedNote {
    pub path: VaultPath,
    /// The page, if it is a document.
    pub page: Option<FoundPage>,
    pub score: f64,
    /// The matching words of the note, in lower case, each once.
    pub words: Vec<String>,
    /// In text order; those of the passage first.
    pub matches: Vec<RankedMatch>,
    pub excerpt: String,
    /// The section of the passage: its heading with those above it.
    pub section: Option<Vec<String>>,
    /// The line where the passage starts, from 1.
    pub line: Option<usize>,
    /// What each word of the query contributed to the score, the most first.
    pub parts: Vec<(String, f64)>,
    /// How much of the query it has, by weight: the factor for the sum of the parts.
    pub coverage: f64,
    /// How near its meaning is, if that counted.
    pub near: Option<NearPassage>,
    /// The pieces that are nearest, best first.
    pub pieces: Vec<NotePiece>,
}

/// Where in a document something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPage {
    pub kind: DocumentKind,
    /// From 1.
    pub number: u32,
    /// The name of a sheet, the title of a chapter.
    pub label: Option<String>,
    /// Of the file.
    pub hash: ContentHash,
}

/// A piece of a note.
#[derive(Clone, Debug, PartialEq)]
pub struct NotePiece {
    /// How near it is, from -1 to 1.
    pub cosine: f64,
    /// In the shown text.
    pub span: Range<usize>,
    pub text: String,
    /// The line where it starts, from 1.
    pub line: usize,
    /// The heading above it, with those above that.
    pub section: Option<Vec<String>>,
    /// Of a document, where it is on this page.
    pub page: Option<FoundPage>,
}

/// The piece of a note whose meaning is nearest to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct NearPassage {
    /// From -1 to 1.
    pub cosine: f64,
    /// In the shown text.
    pub span: Range<usize>,
    /// Of the file that the passage is from.
    pub hash: ContentHash,
    /// Whether the note has none of the words, so that the excerpt is from here.
    pub alone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedMatch {
    pub text: String,
    /// In the shown text, in UTF-16 units, as JavaScript counts.
    pub offset: usize,
}

/// How many different words of a note are named.
const MOST_WORDS: usize = 12;
/// How many characters of an excerpt are given up to end at a whole word; scripts without spaces have none near.
const LONGEST_CUT: usize = 20;

impl RankedNote {
    /// With nothing to show yet.
    fn of(state: &FileState, score: f64) -> Self {
        Self {
            path: state.path.clone(),
            page: None,
            score,
            words: Vec::new(),
            matches: Vec::new(),
            excerpt: String::new(),
            section: None,
            line: None,
            parts: Vec::new(),
            coverage: 1.0,
            near: None,
            pieces: Vec::new(),
        }
    }
}

impl NotePiece {
    /// `None` if the note has changed since it was compared, or the piece is its title.
    pub(super) fn of(near: &NearNote, text: &str, digest: &Digest<'_>) -> Option<Self> {
        let piece = text.get(near.span.clone()).filter(|piece| !piece.is_empty())?;
        let line = text[..near.span.start].matches('\n').count() + 1;
        let (cosine, section) = (f64::from(near.cosine), section(digest, line));
        Some(Self { cosine, span: near.span.clone(), text: piece.to_owned(), line, section, page: None })
    }
}

impl RankedSearch<'_> {
    pub(super) fn ranked(
        &self,
        found: &RankedDocument,
        starts: &QueryStarts<'_>,
        query: Option<&NearQuery<'_>>,
        size: PassageSize,
    ) -> Option<RankedNote> {
        let state = self.state(found.document)?;
        let mut ranked = RankedNote::of(state, found.score);
        (ranked.parts, ranked.coverage) = self.explained(found.document);
        let digest = state.digest().and_then(|digest| Digest::read(digest)).unwrap_or_default();
        // A position among its cards is not a position in the file.
        let size = if state.path.is_canvas() { PassageSize { max_matches: 0, ..size } } else { size };
        // A note that is gone by now has nothing to show.
        if let Some(bytes) = self.files.source().text(state) {
            with_shown(&state.path, &bytes, |text| {
                self.put_passage(&mut ranked, text, &digest, starts, size);
                if let Some(near) = &found.near {
                    put_near(&mut ranked, near, text, &digest, size, ContentHash::of(&bytes));
                }
                let near = query.map(|query| query.vectors.near_pieces(state.id, &query.embedding, size.pieces));
                let pieces = near.into_iter().flatten().filter_map(|near| NotePiece::of(&near, text, &digest));
                ranked.pieces = pieces.collect();
            });
        }
        self.put_words_of_path(&mut ranked, starts);
        Some(ranked)
    }

    /// A document by one of its pages. `factor` leads to the scale of the notes.
    pub(super) fn ranked_page(
        &self,
        found: &RankedDocument,
        starts: &QueryStarts<'_>,
        query: Option<&NearQuery<'_>>,
        size: PassageSize,
        factor: f64,
    ) -> Option<RankedNote> {
        let (documents, state) = (self.documents?, self.state(found.document)?);
        let mut ranked = RankedNote::of(state, found.score);
        (ranked.parts, ranked.coverage) = self.explained(found.document);
        // So that the parts add up to the score that is shown.
        ranked.parts.iter_mut().for_each(|(_, part)| *part *= factor);
        let key = documents.key(state)?;
        let text = documents.text(state, self.go_on)?;
        let places = part_places(&text);
        let part = text.parts.get(self.corpus.ordinal(found.document)?)?;
        let page = |part: &DocumentPart| FoundPage {
            kind: key.kind,
            number: part.number,
            label: part.label.clone(),
            hash: key.hash,
        };
        let digest = Digest::default();
        self.put_passage(&mut ranked, &part.text, &digest, starts, size);
        // The part that a piece is of, and its place there.
        let local = |near: &NearNote| {
            let at = places.partition_point(|place| place.start <= near.span.start).checked_sub(1)?;
            let span = near.span.start - places[at].start..near.span.end.checked_sub(places[at].start)?;
            Some((text.parts.get(at)?, NearNote { span, ..near.clone() }))
        };
        let mut shown = part;
        if let Some((part, near)) = found.near.as_ref().and_then(local) {
            put_near(&mut ranked, &near, &part.text, &digest, size, key.hash);
            // It may have the words in its name alone.
            if ranked.near.as_ref().is_some_and(|near| near.alone) {
                shown = part;
            }
        }
        let near = query.map(|query| documents.index.vectors.near_pieces(state.id, &query.embedding, size.pieces));
        let piece = |near: NearNote| {
            let (part, near) = local(&near)?;
            let piece = NotePiece::of(&near, &part.text, &digest)?;
            Some(NotePiece { page: Some(page(part)), ..piece })
        };
        ranked.pieces = near.into_iter().flatten().filter_map(piece).collect();
        // Lines of a page are not lines of the file.
        ranked.line = None;
        ranked.page = Some(page(shown));
        self.put_words_of_path(&mut ranked, starts);
        Some(ranked)
    }

    /// A file of which only the path is searched.
    pub(super) fn by_path(&self, state: &FileState, starts: &QueryStarts<'_>) -> RankedNote {
        let mut ranked = RankedNote::of(state, 0.0);
        self.put_words_of_path(&mut ranked, starts);
        ranked
    }

    fn put_words_of_path(&self, ranked: &mut RankedNote, starts: &QueryStarts<'_>) {
        let RankedNote { path, words, .. } = ranked;
        for (_, span) in TextUnit::new(path.as_str()).matches(starts, self) {
            put_word(words, &path.as_str()[span]);
        }
    }

    fn put_passage(
        &self,
        ranked: &mut RankedNote,
        text: &str,
        digest: &Digest<'_>,
        starts: &QueryStarts<'_>,
        size: PassageSize,
    ) {
        let mut found = TextUnit::new(text).matches(starts, self);
        found.sort_unstable_by_key(|(number, span)| (span.start, span.end, *number));
        let body = Frontmatter::find(text).map_or(0, |block| block.span.end);
        let best = best(&found, size.context, body);
        let passage = &found[best.clone()];
        let span = match (passage.first(), passage.iter().map(|(_, span)| span.end).max()) {
            // Spans may overlap, so the last one need not end last.
            (Some((_, first)), Some(end)) => first.start..end,
            _ => {
                // Nothing to highlight: the excerpt is the beginning of the text, without properties.
                let start = body + text[body..].len() - text[body..].trim_start().len();
                start..start
            }
        };
        let shown = around(text, span.clone(), size.context);
        // What is found in the text is not shown together with properties.
        let start = if span.start >= body { shown.start.max(body) } else { shown.start };
        ranked.excerpt = text[start..shown.end].trim().to_owned();
        let elsewhere = found[..best.start].iter().chain(&found[best.end..]);
        let (mut last, mut seen, mut units) = (None, HashSet::new(), Utf16Counter::default());
        for (_, span) in passage.iter().chain(elsewhere) {
            let word = &text[span.clone()];
            if seen.insert(word) {
                put_word(&mut ranked.words, word);
            }
            // A match of two words of the query is shown once.
            if ranked.matches.len() < size.max_matches && last != Some(span) {
                last = Some(span);
                ranked.matches.push(RankedMatch { text: word.to_owned(), offset: units.before(text, span.start) });
            }
        }
        if !passage.is_empty() {
            let line = text[..span.start].matches('\n').count() + 1;
            ranked.line = Some(line);
            ranked.section = section(digest, line);
        }
    }
}

/// Adds the piece that is near, and shows it if no words were found.
fn put_near(
    ranked: &mut RankedNote,
    near: &NearNote,
    text: &str,
    digest: &Digest<'_>,
    size: PassageSize,
    hash: ContentHash,
) {
    // The note may have changed since it was compared; then its beginning is shown.
    let span = text.get(near.span.clone()).map_or(0..0, |_| near.span.clone());
    let alone = ranked.line.is_none();
    if alone && !span.is_empty() {
        // As long as an excerpt around a match.
        let end = text[span.clone()].char_indices().nth(2 * size.context).map_or(span.end, |(at, _)| span.start + at);
        ranked.excerpt = text[whole_words(text, span.start..end)].trim().to_owned();
        let line = text[..span.start].matches('\n').count() + 1;
        ranked.line = Some(line);
        ranked.section = section(digest, line);
    }
    ranked.near = Some(NearPassage { cosine: f64::from(near.cosine), span, hash, alone });
}

/// Without the beginning of a word at the end, if a space is near.
fn whole_words(text: &str, span: Range<usize>) -> Range<usize> {
    if text[span.end..].starts_with(|c: char| c.is_alphanumeric()) {
        let cut = text[span.clone()].char_indices().rev().take(LONGEST_CUT).find(|(_, c)| c.is_whitespace());
        return span.start..cut.map_or(span.end, |(at, _)| span.start + at);
    }
    span
}

/// Counts UTF-16 units from the last position, as a long text may have many matches.
#[derive(Default)]
struct Utf16Counter {
    at: usize,
    count: usize,
}

impl Utf16Counter {
    fn before(&mut self, text: &str, at: usize) -> usize {
        // Matches of the passage come first, so the next one may be further up.
        if at < self.at {
            *self = Self::default();
        }
        self.count += text[self.at..at].encode_utf16().count();
        self.at = at;
        self.count
    }
}

fn put_word(words: &mut Vec<String>, word: &str) {
    let word = word.to_lowercase();
    if words.len() < MOST_WORDS && !words.iter().any(|known| folded(known) == folded(&word)) {
        words.push(word);
    }
}

/// The matches that are close together and cover most of the query, rather in the text than in the properties; of several
/// such places the first.
fn best(found: &[(usize, Range<usize>)], context: usize, body: usize) -> Range<usize> {
    let (mut best, mut best_rank) = (0..0, (0, false, 0));
    let (mut end, mut held) = (0, HashMap::<usize, usize>::new());
    for (start, (number, first)) in found.iter().enumerate() {
        // Both sides of the excerpt together.
        while let Some((number, _)) = found.get(end).filter(|(_, span)| span.start - first.start <= 2 * context) {
            *held.entry(*number).or_default() += 1;
            end += 1;
        }
        let rank = (held.len(), first.start >= body, end - start);
        if rank > best_rank {
            (best, best_rank) = (start..end, rank);
        }
        // The window moves past its first match.
        if let Entry::Occupied(mut left) = held.entry(*number) {
            *left.get_mut() -= 1;
            if *left.get() == 0 {
                left.remove();
            }
        }
    }
    best
}

/// Some characters more on either side, cut at a space if there is one near.
fn around(text: &str, span: Range<usize>, context: usize) -> Range<usize> {
    let start = text[..span.start].char_indices().rev().take(context).last().map_or(span.start, |(at, _)| at);
    let end = text[span.end..].char_indices().nth(context).map_or(text.len(), |(at, _)| span.end + at);
    // A short context is not given up for whole words.
    let near = LONGEST_CUT.min(context / 2);
    let inner = text[start..span.start].char_indices().take(near).find(|(_, c)| c.is_whitespace());
    let outer = text[span.end..end].char_indices().rev().take(near).find(|(_, c)| c.is_whitespace());
    // At the very beginning of the text, nothing has to be cut.
    let start = inner.filter(|_| start > 0).map_or(start, |(at, _)| start + at);
    start..outer.filter(|_| end < text.len()).map_or(end, |(at, _)| span.end + at)
}

/// The section of a line, as far as its path leads there: of two headings with the same path the second cannot be
/// named, and then it is the section around it.
fn section(digest: &Digest<'_>, line: usize) -> Option<Vec<String>> {
    let mut open: Vec<(RowHeading<'_>, bool)> = Vec::new();
    let mut paths = HashSet::new();
    for heading in digest.structure().headings.into_iter().take_while(|heading| heading.line <= line) {
        // A heading closes all sections of its level and below.
        open.retain(|(above, _)| above.level < heading.level);
        let above = open.iter().map(|(above, _)| above.text);
        let path = above.chain([heading.text]).collect::<Vec<_>>().join("::");
        let leads = !path.is_empty() && paths.insert(path);
        open.push((heading, leads));
    }
    while open.pop_if(|(_, leads)| !*leads).is_some() {}
    (!open.is_empty()).then(|| open.into_iter().map(|(heading, _)| heading.text.to_owned()).collect())
}
