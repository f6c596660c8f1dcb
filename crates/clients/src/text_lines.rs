//! Positions and line ends of a text.

/// The line end of a text: that of its first line.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Line and column of a byte position, both from 1; the column counts characters.
pub(crate) fn position(text: &str, at: usize) -> (usize, usize) {
    let at = floor(text, at);
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// The start of the line that contains a position.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..floor(text, at)].rfind('\n').map_or(0, |end| end + 1)
}

/// Past the line end at or after a position.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    let at = floor(text, at);
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// A position without the one line end just before it.
pub(crate) fn before_line_end(text: &str, at: usize) -> usize {
    let before = &text[..at];
    let cut = before.strip_suffix('\n').map_or(before, |rest| rest.strip_suffix('\r').unwrap_or(rest));
    cut.len()
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
