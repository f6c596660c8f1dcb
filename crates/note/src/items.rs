use std::ops::Range;

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListItem {
    /// From the marker to the end of its own content, without the lists in it and the last line end.
    pub span: Range<usize>,
    /// The same with the lists in it.
    pub whole: Range<usize>,
    /// `-`, `*`, `+`, `1.` or `1)`.
    pub marker: Range<usize>,
    /// The item whose list it is in, as an index.
    pub parent: Option<usize>,
    /// How many items it stands in.
    pub depth: usize,
    /// Which of the tasks it is.
    pub task: Option<usize>,
}

/// The marker of the item that begins at `start`, and where its content begins.
pub(crate) fn marker(text: &str, start: usize, end: usize) -> (Range<usize>, usize) {
    let bytes = &text.as_bytes()[..end];
    let blanks = |from: usize| bytes[from..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    // Where a tab stands before the marker, the parser begins the item too early, at a quote or in the line above.
    let prefix = bytes[start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'>' | b'\n')).count();
    let at = start + prefix;
    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let marker = at..(at + digits + 1).min(end);
    let content = marker.end + blanks(marker.end);
    (marker, content)
}
