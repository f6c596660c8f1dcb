//! The block at a place, named or not.
//!
//! The structure of a note contains only named blocks. What a marker would name is found by adding one and parsing the
//! result, which follows the parser in every detail.

use std::ops::Range;

use crate::{
    Block, BlockKind, CodeKind, FootnoteKind, MarkForm, Note, NoteStructure,
    span::{is_blank_line, line_end, line_start},
};

/// How many adjacent blocks without a blank line are tried; people do not write more.
const MAX_TRIES: usize = 32;

/// A block that may have no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnnamedBlock {
    pub(super) kind: BlockKind,
    pub(super) span: Range<usize>,
}

/// What a marker below the last line of a text names.
pub(super) fn last_block(text: &str) -> Option<UnnamedBlock> {
    let probe = format!("{}\n\n^probe", text.trim_end_matches('\n'));
    let named = |block: &Block| block.marker.end == probe.len();
    let Block { kind, span, .. } = NoteStructure::parse(&probe).blocks.into_iter().find(named)?;
    Some(UnnamedBlock { kind, span })
}

/// The innermost list item or else the outermost block around a place.
pub(super) fn block_at(note: &Note<'_>, at: usize) -> Option<UnnamedBlock> {
    let text = note.text;
    text.get(at..)?;
    if note.frontmatter.as_ref().is_some_and(|block| at < block.span.end) {
        return None;
    }
    // Indentation belongs to the text it indents.
    let line = &text[line_start(text, at)..line_end(text, at)];
    let at = at.max(line_start(text, at) + line.len() - line.trim_start_matches([' ', '\t']).len());
    if let Some(heading) = note.headings.iter().find(|heading| (heading.own.start..=heading.span.end).contains(&at)) {
        return Some(UnnamedBlock { kind: BlockKind::Heading, span: heading.span.clone() });
    }
    let after = note.items.partition_point(|item| item.marker.start <= at);
    if let Some(item) = note.items[..after].iter().rfind(|item| at <= item.whole.end) {
        // A marker does not cover text after a list in an item.
        let own = at <= item.span.end;
        return own.then(|| UnnamedBlock { kind: BlockKind::Item, span: item.span.clone() });
    }
    outermost(note, at)
}

fn outermost(note: &Note<'_>, at: usize) -> Option<UnnamedBlock> {
    let text = note.text;
    let mut end = enclosing_end(note, at);
    if end == at && is_blank_line(text, line_start(text, at)) {
        return None;
    }
    for _ in 0..MAX_TRIES {
        end = chunk_end(text, end);
        match last_block(&text[..end]) {
            Some(block) => return around(text, block, at),
            // Something is not closed yet, and would include a marker.
            None if end >= text.len() => return None,
            None => end += text[end..].len() - text[end..].trim_start_matches('\n').len(),
        }
    }
    None
}

/// The block around a place: this one, or one right above it.
fn around(text: &str, mut block: UnnamedBlock, at: usize) -> Option<UnnamedBlock> {
    for _ in 0..MAX_TRIES {
        if line_end(text, block.span.end) < at {
            return None;
        }
        let start = line_start(text, block.span.start);
        if start <= at {
            // A whole list is named manually; its items have been checked.
            return (block.kind != BlockKind::List).then_some(block);
        }
        block = last_block(&text[..start - 1])?;
    }
    None
}

/// Where the known enclosing part ends.
fn enclosing_end(note: &Note<'_>, at: usize) -> usize {
    let code = note.code.iter().filter(|code| code.kind != CodeKind::Span).map(|code| &code.span);
    let math = note.math.iter().filter(|math| math.form == MarkForm::Block).map(|math| &math.span);
    let comments = note.comments.iter().filter(|comment| comment.form == MarkForm::Block).map(|comment| &comment.span);
    let footnotes = note.footnotes.iter().filter(|note| note.kind == FootnoteKind::Definition).map(|note| &note.span);
    let encloses = |span: &&Range<usize>| span.start <= at && at <= span.end;
    code.chain(math).chain(comments).chain(footnotes).filter(encloses).map(|span| span.end).max().unwrap_or(at)
}

/// The end of the following lines without a blank one.
fn chunk_end(text: &str, from: usize) -> usize {
    let mut end = line_end(text, from);
    while end < text.len() && !is_blank_line(text, end + 1) {
        end = line_end(text, end + 1);
    }
    end
}
