//! Where lines start and end.

use std::ops::Range;

use memchr::{memchr, memrchr};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Where the first line starts.
pub(super) fn body_start(text: &[u8]) -> usize {
    if text.starts_with(BOM) { BOM.len() } else { 0 }
}

/// Where the line that contains `at` starts, looking back no further than `floor`, which is a line start.
pub(super) fn line_start(text: &[u8], floor: usize, at: usize) -> usize {
    memrchr(b'\n', &text[floor..at]).map_or(floor, |newline| floor + newline + 1)
}

/// The position of the line feed of the line that contains `at`, or the end of the text.
pub(super) fn line_feed(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |newline| at + newline)
}

/// The line from `start` up to its line feed, without the carriage return before it.
pub(super) fn content(text: &[u8], start: usize, feed: usize) -> Range<usize> {
    // A carriage return at the end of the text is not part of a line ending.
    let cr = feed < text.len() && feed > start && text[feed - 1] == b'\r';
    start..feed - usize::from(cr)
}

/// At most `count` lines before the one that starts at `start`, in order.
pub fn lines_before(text: &[u8], start: usize, count: usize) -> Vec<Range<usize>> {
    let body = body_start(text);
    let mut start = start.min(text.len());
    let mut lines = Vec::new();
    while lines.len() < count && start > body {
        let feed = start - 1;
        start = line_start(text, body, feed);
        lines.push(content(text, start, feed));
    }
    lines.reverse();
    lines
}

/// At most `count` lines after the one that contains `at`.
pub fn lines_after(text: &[u8], at: usize, count: usize) -> Vec<Range<usize>> {
    let mut feed = line_feed(text, at.min(text.len()));
    let mut lines = Vec::new();
    // After a final line feed there is no further line.
    while lines.len() < count && feed + 1 < text.len() {
        let start = feed + 1;
        feed = line_feed(text, start);
        lines.push(content(text, start, feed));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &[u8], lines: Vec<Range<usize>>) -> Vec<&str> {
        lines.into_iter().map(|line| str::from_utf8(&text[line]).unwrap()).collect()
    }

    #[test]
    fn neighbours_come_in_order_and_end_with_the_text() {
        let text = b"\xef\xbb\xbfa\r\n\nb\nc\n\nd\n";
        let c = memchr(b'c', text).unwrap();
        for (count, before, after) in [
            (0, vec![], vec![]),
            (1, vec!["b"], vec![""]),
            (2, vec!["", "b"], vec!["", "d"]),
            (9, vec!["a", "", "b"], vec!["", "d"]),
            (usize::MAX, vec!["a", "", "b"], vec!["", "d"]),
        ] {
            assert_eq!(shown(text, lines_before(text, c, count)), before);
            assert_eq!(shown(text, lines_after(text, c, count)), after);
        }
        assert!(lines_before(text, 3, 5).is_empty());
        assert!(lines_after(text, 999, 5).is_empty());
        assert_eq!(shown(b"a\nb", lines_after(b"a\nb", 0, 5)), ["b"]);
    }
}
