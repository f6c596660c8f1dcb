//! The `^id` of a block and where it is.

use std::{borrow::Cow, ops::Range};

use super::EditError;
use crate::{Block, BlockKind, span::line_start};

const BLANKS: &[char] = &[' ', '\t'];
/// What may precede an id on its own line in a quote.
const QUOTED: &[char] = &[' ', '\t', '>'];

/// How a block carries its id.
pub(in crate::edit) struct BlockMarker<'a> {
    /// The separator before the marker, and the marker; empty if it is below the block.
    pub(in crate::edit) tail: &'a str,
    /// What follows the marker within the block: the last pipe of a row, closing marks or the underline of a heading.
    pub(in crate::edit) rest: &'a str,
}

impl<'a> BlockMarker<'a> {
    pub(in crate::edit) fn within(shown: &'a str, block: &Block, span: &Range<usize>) -> Result<Self, EditError> {
        let outside = || EditError::OutsideText { span: block.marker.clone(), length: shown.len() };
        shown.get(block.marker.clone()).ok_or_else(outside)?;
        if block.marker.start < span.start || block.marker.end > span.end {
            return Ok(Self { tail: "", rest: "" });
        }
        let before = &shown[span.start..block.marker.start];
        let quoted = match block.kind {
            BlockKind::Paragraph => false,
            BlockKind::Item => shown[line_start(shown, span.start)..span.start].contains('>'),
            _ => true,
        };
        let content = match before.rsplit_once('\n') {
            // On its own line, perhaps after quote marks; outside of quotes these are text.
            Some((above, prefix)) if prefix.trim_matches(if quoted { QUOTED } else { BLANKS }).is_empty() => above,
            _ => before.trim_end_matches(BLANKS),
        };
        let at = span.start + content.len();
        Ok(Self { tail: &shown[at..block.marker.end], rest: &shown[block.marker.end..span.end] })
    }

    pub(in crate::edit) fn is_inside(&self) -> bool {
        !self.tail.is_empty()
    }
}

/// Content without the id that a caller may have included.
pub(in crate::edit) fn without_id<'a>(content: &'a str, id: &str) -> Cow<'a, str> {
    // In a row the id is before the last pipe.
    let row = content.strip_suffix('|').map(str::trim_end);
    for (text, pipe) in [(content, ""), (row.unwrap_or_default(), " |")] {
        let Some((before, found)) = text.rsplit_once('^') else { continue };
        if !found.eq_ignore_ascii_case(id) || !(before.is_empty() || before.ends_with(char::is_whitespace)) {
            continue;
        }
        let before = match before.rsplit_once('\n') {
            Some((above, prefix)) if prefix.trim_matches(QUOTED).is_empty() => above,
            _ => before,
        };
        return Cow::Owned(format!("{}{pipe}", before.trim_end()));
    }
    Cow::Borrowed(content)
}
