//! Named blocks: the parts of a note with a `^id`.

use std::ops::Range;

use crate::{Link, Note};

/// A part of a note that carries a `^name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Without the caret; its case does not matter.
    pub id: String,
    pub kind: BlockKind,
    /// The named part in the shown text, without the last line ending. It includes the marker unless that is on a
    /// separate line below it.
    pub span: Range<usize>,
    /// `^id`
    pub marker: Range<usize>,
}

/// What a block id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    Paragraph,
    Heading,
    /// One item without the lists in it.
    Item,
    List,
    Quote,
    Callout,
    Table,
    /// One row of a table. Obsidian cannot link to a row; tools can.
    Row,
    Code,
    Math,
    Comment,
    Html,
    Rule,
    Footnote,
}

/// Whether Obsidian accepts it as the name of a block, without the caret.
pub(crate) fn is_block_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

impl Note<'_> {
    /// The block that a link to `^id` leads to: of several with the same id an item wins over anything else, and a
    /// later one over an earlier.
    pub fn find_block(&self, id: &str) -> Option<&Block> {
        let same = |block: &&Block| block.id.eq_ignore_ascii_case(id);
        let item = self.blocks.iter().rfind(|block| same(block) && block.kind == BlockKind::Item);
        item.or_else(|| self.blocks.iter().rfind(same))
    }
}

/// A marker at the end of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TrailingMarker {
    /// After other text.
    Behind(Range<usize>),
    /// The text is nothing else.
    Alone(Range<usize>),
}

/// The `^id` at the very end of a span. It must be preceded by a blank, the start of a line or the end of a link;
/// `prefix` lists the characters that may precede it on a line.
pub(crate) fn trailing_id(text: &str, span: Range<usize>, prefix: &[char], links: &[Link]) -> Option<TrailingMarker> {
    let part = &text[span.clone()];
    let id = part.bytes().rev().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
    let before = part[..part.len() - id].strip_suffix('^').filter(|_| id > 0)?;
    let marker = span.start + before.len()..span.end;
    if before.trim_end_matches(prefix).is_empty() {
        return Some(TrailingMarker::Alone(marker));
    }
    let begins_line = before.trim_end_matches(prefix).ends_with('\n');
    let separate = begins_line || before.ends_with(char::is_whitespace) || ends_link(marker.start, span.start, links);
    separate.then_some(TrailingMarker::Behind(marker))
}

/// Whether a link ends at a place. Only links after `floor` are checked, which are the last ones.
fn ends_link(at: usize, floor: usize, links: &[Link]) -> bool {
    links.iter().rev().take_while(|link| link.span.start >= floor).any(|link| link.span.end == at)
}
