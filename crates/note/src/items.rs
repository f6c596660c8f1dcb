//! List items.

use std::ops::Range;

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListItem {
    /// From the marker to the end of its content, without nested lists and the last line ending.
    pub span: Range<usize>,
    /// The same with nested lists.
    pub whole: Range<usize>,
    /// `-`, `*`, `+`, `1.` or `1)`.
    pub marker: Range<usize>,
    /// The item whose list it is in, as an index.
    pub parent: Option<usize>,
    /// How many items enclose it.
    pub depth: usize,
    /// Which of the tasks it is.
    pub task: Option<usize>,
}

/// The marker of the item that starts at `start`, and where its content starts.
pub(crate) fn marker(text: &str, start: usize, end: usize) -> (Range<usize>, usize) {
    let bytes = &text.as_bytes()[..end];
    let blanks = |from: usize| bytes[from..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    // If a tab precedes the marker, the parser starts the item too early, at a quote or on the line above.
    let prefix = bytes[start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'>' | b'\n')).count();
    let at = start + prefix;
    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let marker = at..(at + digits + 1).min(end);
    let content = marker.end + blanks(marker.end);
    (marker, content)
}
