//! Block ids, and the blocks they name.

use std::ops::Range;

use super::{BlockWalk, OpenContainer};
use crate::{
    Block, BlockKind,
    blocks::{TrailingMarker, trailing_id},
    parse::mask::MaskedKind,
    span::{is_blank_line, line_end, trim, trim_end},
};

/// The block that contains an id.
enum BlockIdHolder {
    Item(usize),
    Block(BlockKind, Range<usize>),
}

impl BlockWalk<'_, '_, '_> {
    /// Assigns the block id at the end of a leaf to the block it names.
    pub(super) fn name(&mut self, kind: BlockKind, span: Range<usize>) {
        let text = self.text;
        // In a quote, the marks before the id belong to the quote.
        let prefix: &[char] = if self.quotes > 0 { &[' ', '\t', '>'] } else { &[' ', '\t'] };
        match (trailing_id(text, span.clone(), prefix, &self.note.links), self.holder()) {
            (None, _) => {}
            (Some(TrailingMarker::Behind(marker)), None) => self.block(kind, span.clone(), marker),
            (Some(TrailingMarker::Alone(marker)), None) => {
                // A marker on its own line names the block above, if nothing follows on the next line.
                if is_blank_line(text, (span.end + 1).min(text.len()))
                    && let Some((kind, named)) = self.above(span.start)
                {
                    return self.block(kind, named, marker);
                }
            }
            // In an item or a quote the parts have no names, so a marker on its own line there names the whole as well;
            // Obsidian's rules do not say.
            (Some(TrailingMarker::Behind(marker) | TrailingMarker::Alone(marker)), Some(holder)) => {
                self.block_of(holder, marker)
            }
        }
        self.finish_top(kind, &span);
    }

    /// The block above a place: the last one that the parser or the mask saw end.
    fn above(&mut self, at: usize) -> Option<(BlockKind, Range<usize>)> {
        let parsed = self.previous.clone().map(|(kind, span)| (kind, self.trimmed(span)));
        let before = self.masked.partition_point(|region| region.span.end <= at);
        let masked = self.masked[..before].last().map(|region| {
            let kind = if region.kind == MaskedKind::Math { BlockKind::Math } else { BlockKind::Comment };
            (kind, trim_end(self.text, region.span.clone()))
        });
        let start = |(_, span): &(BlockKind, Range<usize>)| span.start;
        if masked.as_ref().map(start) > parsed.as_ref().map(start) { masked } else { parsed }
    }

    /// What an id in nested blocks names: the innermost item, otherwise the outermost block.
    fn holder(&self) -> Option<BlockIdHolder> {
        if let Some(item) = self.open_items.last() {
            return Some(BlockIdHolder::Item(*item));
        }
        let (kind, span) = match self.containers.first()? {
            OpenContainer::List | OpenContainer::Item(_) => return None,
            OpenContainer::Quote { span, callout: None } => (BlockKind::Quote, span),
            OpenContainer::Quote { span, callout: Some(_) } => (BlockKind::Callout, span),
            OpenContainer::Footnote(span) => (BlockKind::Footnote, span),
            OpenContainer::Table(span) => (BlockKind::Table, span),
        };
        Some(BlockIdHolder::Block(kind, span.clone()))
    }

    fn block_of(&mut self, holder: BlockIdHolder, marker: Range<usize>) {
        match holder {
            BlockIdHolder::Block(kind, span) => self.block(kind, span, marker),
            BlockIdHolder::Item(item) => {
                // Its span is set at the end, when the item is complete.
                self.named_items.push((self.note.blocks.len(), item));
                self.block(BlockKind::Item, marker.clone(), marker);
            }
        }
    }

    pub(super) fn block(&mut self, kind: BlockKind, span: Range<usize>, marker: Range<usize>) {
        let id = self.text[marker.start + 1..marker.end].to_owned();
        self.note.blocks.push(Block { id, kind, span, marker });
    }

    /// The parser drops cells beyond the head of a table. Obsidian does not show them either, but counts their links
    /// and tags.
    fn further_cells(&mut self, row_end: usize) {
        let text = self.text;
        let row = trim_end(text, self.cell_end..row_end.max(self.cell_end));
        let mut start = None;
        let mut escaped = false;
        for (at, byte) in text.as_bytes()[row.clone()].iter().enumerate().map(|(at, byte)| (row.start + at, byte)) {
            if *byte == b'|'
                && !escaped
                // The first pipe only begins a cell.
                && let Some(start) = start.replace(at + 1)
            {
                self.run(trim(text, start..at));
            }
            escaped = *byte == b'\\' && !escaped;
        }
        if let Some(start) = start {
            self.run(trim(text, start..row.end));
        }
    }

    /// A marker right below a table is parsed as its last row; one at the end of a row names the row.
    pub(super) fn end_row(&mut self, range: Range<usize>) {
        self.further_cells(range.end);
        let text = self.text;
        let Some(OpenContainer::Table(table)) = self.containers.last() else { return };
        let row = trim(text, range);
        let last_cell = text[row.clone()].strip_suffix('|').map_or(row.end, |rest| row.start + rest.trim_end().len());
        let table = trim_end(text, table.start..row.start);
        let nested = self.containers.len() > 1;
        match trailing_id(text, row.start..last_cell, &[], &self.note.links) {
            Some(TrailingMarker::Alone(marker)) if last_cell == row.end => {
                // With text below, the marker is part of a paragraph that continues the table.
                if !is_blank_line(text, (line_end(text, row.end) + 1).min(text.len())) {
                    return;
                }
                match self.holder().filter(|_| nested) {
                    Some(holder) => self.block_of(holder, marker),
                    None => self.block(BlockKind::Table, table, marker),
                }
            }
            Some(TrailingMarker::Behind(marker)) => self.block(BlockKind::Row, row, marker),
            _ => {}
        }
    }

    /// Gives the blocks that name items the final spans of these.
    pub(super) fn finish(self) {
        for (block, item) in self.named_items {
            if let (Some(block), Some(item)) = (self.note.blocks.get_mut(block), self.note.items.get(item)) {
                block.span = item.span.start..item.span.end.max(block.marker.end);
            }
        }
    }
}
