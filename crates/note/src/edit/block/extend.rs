//! Text added at the end or the start of a block.
//!
//! Plain text continues on the same line, so that callers decide about line breaks: content that starts with one starts
//! a new line, with the indentation and marks that the block needs. Code, comments, tables and lists get whole lines,
//! since nothing else is possible there.

use std::ops::Range;

use super::{
    BlockMarker, footnote_label, frame, item, own_span,
    quote::{self, is_title},
    row,
};
use crate::{
    Block, BlockKind, Document,
    edit::{EditError, EditResult, TextChange},
    text::plain_line_ends,
};

#[derive(Clone, Copy, PartialEq)]
enum BlockEdge {
    First,
    Last,
}

impl Document {
    /// Adds text at the end of a block, before its id.
    pub fn append_to_block(&self, block: &Block, content: &str) -> Result<EditResult, EditError> {
        self.extend_block(block, content, BlockEdge::Last)
    }

    /// Adds text at the start of a block, after list marker, task box, quote mark or the title of a callout.
    pub fn prepend_to_block(&self, block: &Block, content: &str) -> Result<EditResult, EditError> {
        self.extend_block(block, content, BlockEdge::First)
    }

    fn extend_block(&self, block: &Block, content: &str, end: BlockEdge) -> Result<EditResult, EditError> {
        let shown = self.shown();
        let span = own_span(self, block)?;
        let marker = BlockMarker::within(shown, block, &span)?;
        let content = plain_line_ends(content);
        // The end of the block has its own line end; more of them would separate it from what follows.
        let content = if end == BlockEdge::Last { content.trim_end_matches('\n') } else { &content };
        // Both are one line by their syntax.
        if matches!(block.kind, BlockKind::Heading | BlockKind::Row) && content.contains('\n') {
            return Err(EditError::SeveralLines);
        }
        if block.kind == BlockKind::Row && row::columns(content) > 1 {
            let expected = row::columns(row::inner(&shown[span]));
            return Err(EditError::Columns { expected, found: expected + row::columns(content) - 1 });
        }
        // Words would become a row of one cell.
        if block.kind == BlockKind::Table && content.lines().any(|line| !line.contains('|')) {
            return Err(EditError::BlockLost { id: block.id.clone() });
        }
        let place = match end {
            BlockEdge::First => first(self, &span, block, &marker),
            BlockEdge::Last => last(self, &span, block, &marker),
        };
        let place = place.ok_or_else(|| EditError::BlockLost { id: block.id.clone() })?;
        let new = place.filled(content);
        self.write_block(block, TextChange::new(place.at..place.at, new), &block.id)
    }
}

/// Where text goes, and what its lines need.
struct InsertionPoint {
    at: usize,
    lead: String,
    trail: &'static str,
    /// The prefix of each line except the first.
    prefix: String,
}

impl InsertionPoint {
    fn within(at: usize, prefix: impl Into<String>) -> Self {
        Self { at, lead: String::new(), trail: "", prefix: prefix.into() }
    }

    /// Lines before the existing text.
    fn above(at: usize) -> Self {
        Self { trail: "\n", ..Self::within(at, "") }
    }

    /// Lines after the existing text.
    fn below(at: usize) -> Self {
        Self { lead: "\n".to_owned(), ..Self::within(at, "") }
    }

    fn filled(&self, content: &str) -> String {
        // The line end that separates comes from `trail`, so the content brings none.
        let content = if self.trail.is_empty() { content } else { content.trim_end_matches('\n') };
        let quoted = self.prefix.contains('>');
        let mut new = self.lead.clone();
        // Quote marks in the content are dropped: the block's own are put before each line.
        let mut lines = content.split('\n').map(|line| if quoted { quote::split(line).1 } else { line }).peekable();
        new += lines.next().unwrap_or_default();
        while let Some(line) = lines.next() {
            new.push('\n');
            // The last line continues with the existing text.
            let blank = line.is_empty() && lines.peek().is_some();
            new += if blank { self.prefix.trim_end() } else { &self.prefix };
            new += line;
        }
        new + self.trail
    }
}

fn last(document: &Document, span: &Range<usize>, block: &Block, marker: &BlockMarker<'_>) -> Option<InsertionPoint> {
    let shown = document.shown();
    let old = &shown[span.clone()];
    // Behind the text and before the id, which has to stay last.
    let end = span.end - marker.tail.len() - marker.rest.len();
    match block.kind {
        BlockKind::Paragraph | BlockKind::Row => Some(InsertionPoint::within(end, "")),
        BlockKind::Heading => Some(InsertionPoint::within(heading_words(document, block)?.end, "")),
        BlockKind::Footnote => Some(InsertionPoint::within(end, "    ")),
        BlockKind::Item => Some(InsertionPoint::within(end, item::margin(shown, span))),
        BlockKind::Quote | BlockKind::Callout => Some(InsertionPoint::within(end, quote::split(first_line(old)).0)),
        BlockKind::Code | BlockKind::Math | BlockKind::Comment => match frame::inner(old, block.kind) {
            // An empty frame has only its two marks, so the text goes between them.
            Some(inner) if inner.is_empty() => Some(InsertionPoint::above(span.start + inner.start)),
            Some(inner) => Some(InsertionPoint::below(span.start + inner.end)),
            None => Some(InsertionPoint::below(span.end)),
        },
        BlockKind::Table | BlockKind::List | BlockKind::Html => Some(InsertionPoint::below(span.end)),
        BlockKind::Rule => None,
    }
}

fn first(document: &Document, span: &Range<usize>, block: &Block, marker: &BlockMarker<'_>) -> Option<InsertionPoint> {
    let shown = document.shown();
    let old = &shown[span.clone()];
    let start = span.start;
    match block.kind {
        BlockKind::Paragraph => Some(InsertionPoint::within(start, "")),
        BlockKind::Row => Some(InsertionPoint::within(start + row::lead(old), "")),
        BlockKind::Heading => Some(InsertionPoint::within(heading_words(document, block)?.start, "")),
        BlockKind::Footnote => Some(InsertionPoint::within(start + footnote_label(old), "    ")),
        BlockKind::Item => Some(InsertionPoint::within(start + item::text_start(old), item::margin(shown, span))),
        BlockKind::Quote | BlockKind::Callout => Some(quote_begin(shown, span, marker)),
        BlockKind::Code | BlockKind::Math | BlockKind::Comment => {
            Some(InsertionPoint::above(start + frame::inner(old, block.kind).map_or(0, |inner| inner.start)))
        }
        // Below the line of dashes.
        BlockKind::Table => old.match_indices('\n').nth(1).map_or_else(
            || Some(InsertionPoint::below(span.end)),
            |(at, _)| Some(InsertionPoint::above(start + at + 1)),
        ),
        BlockKind::List | BlockKind::Html => Some(InsertionPoint::above(start)),
        BlockKind::Rule => None,
    }
}

/// The title of a callout is not part of its text.
fn quote_begin(shown: &str, span: &Range<usize>, marker: &BlockMarker<'_>) -> InsertionPoint {
    let text = &shown[span.start..span.end - marker.tail.len() - marker.rest.len()];
    let (prefix, words) = quote::split(first_line(text));
    if !is_title(words) {
        return InsertionPoint::within(span.start + prefix.len(), prefix);
    }
    match text.split_once('\n') {
        Some((title, rest)) => {
            let own = quote::split(first_line(rest)).0;
            InsertionPoint::within(span.start + title.len() + 1 + own.len(), prefix)
        }
        None => {
            InsertionPoint { lead: format!("\n{prefix}"), ..InsertionPoint::within(span.start + text.len(), prefix) }
        }
    }
}

fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default()
}

/// The words of a named heading without its id.
fn heading_words(document: &Document, block: &Block) -> Option<Range<usize>> {
    let note = document.note();
    let words = note.headings.iter().find(|heading| heading.span == block.span)?.words.clone();
    // The id is part of the words of a heading.
    let end = if words.contains(&block.marker.start) { block.marker.start } else { words.end };
    Some(words.start..words.start + note.text[words.start..end].trim_end().len())
}

#[cfg(test)]
mod tests;
