use std::ops::Range;

use crate::{Link, Note};

/// A part of a note that carries a `^name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Without the caret; its case does not matter.
    pub id: String,
    pub kind: BlockKind,
    /// The named part in the shown text, without the last line end. The marker is in it unless it stands on a line
    /// of its own behind it.
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
    /// One row of a table. Obsidian cannot lead to a row; tools can.
    Row,
    Code,
    Math,
    Comment,
    Html,
    Rule,
    Footnote,
}

/// Whether Obsidian takes it for the name of a block, without the caret.
pub(crate) fn is_block_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

impl Note<'_> {
    /// The block that a link to `^id` leads to: of several with one id an item goes before anything else, and a later
    /// one before an earlier.
    pub fn find_block(&self, id: &str) -> Option<&Block> {
        let same = |block: &&Block| block.id.eq_ignore_ascii_case(id);
        let item = self.blocks.iter().rfind(|block| same(block) && block.kind == BlockKind::Item);
        item.or_else(|| self.blocks.iter().rfind(same))
    }
}

/// A marker at the end of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TrailingMarker {
    /// Behind other text.
    Behind(Range<usize>),
    /// The text is nothing else.
    Alone(Range<usize>),
}

/// The `^id` at the very end of a span. What stands before it must be a blank, the begin of a line or the end of one of
/// the links; `prefix` are the characters that may stand in front of a line.
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

/// Whether one of the links ends at a place. Only those that begin behind `floor` are looked at, which are the last.
fn ends_link(at: usize, floor: usize, links: &[Link]) -> bool {
    links.iter().rev().take_while(|link| link.span.start >= floor).any(|link| link.span.end == at)
}
