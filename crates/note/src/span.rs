//! Small operations on spans of a text.

use std::ops::Range;

/// The span without whitespace at its ends.
pub(crate) fn trim(text: &str, span: Range<usize>) -> Range<usize> {
    let part = &text[span.clone()];
    let start = span.start + part.len() - part.trim_start().len();
    let kept = part.trim().len();
    start..start + kept
}

/// The span without whitespace at its end.
pub(crate) fn trim_end(text: &str, span: Range<usize>) -> Range<usize> {
    span.start..span.start + text[span].trim_end().len()
}

/// Where the line that holds `at` begins.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |newline| newline + 1)
}

/// Where the line that holds `at` ends, its line end not included.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |newline| at + newline)
}

/// Whether the line that starts at `at` is blank, or there is no such line.
pub(crate) fn is_blank_line(text: &str, at: usize) -> bool {
    // Whitespace other than these two is text to a Markdown parser.
    text[at..line_end(text, at)].trim_matches([' ', '\t']).is_empty()
}
