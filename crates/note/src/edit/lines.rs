//! Edits of whole lines.

use std::ops::Range;

use super::{EditError, EditResult, TextChange, begins_line};
use crate::{Document, text::plain_line_ends};

/// Whole lines, counted from 1, both ends inclusive. A last line beyond the text means the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    pub from: usize,
    pub to: usize,
}

impl LineRange {
    pub fn one(line: usize) -> Self {
        Self { from: line, to: line }
    }

    /// The lines with their line endings, as a span of the shown text.
    pub fn span(self, shown: &str) -> Result<Range<usize>, EditError> {
        // The line after a final newline is only there for insertions.
        let start = line_start(shown, self.from).filter(|start| *start < shown.len());
        let (Some(start), true) = (start, self.from <= self.to) else {
            return Err(EditError::OutsideLines { line: self.from, lines: count(shown) });
        };
        // A last line beyond the text is clamped to its end.
        let end = self.to.checked_add(1).and_then(|next| line_start(shown, next)).unwrap_or(shown.len());
        Ok(start..end)
    }
}

/// The span widened to whole lines, including the last line ending.
pub fn whole_lines(shown: &str, span: Range<usize>) -> Range<usize> {
    let before = shown.get(..span.start).unwrap_or(shown);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    // A span that ends with a line ending covers that line and not the next.
    let from = if span.end > span.start { span.end - 1 } else { span.end };
    let end =
        shown.as_bytes().iter().skip(from).position(|byte| *byte == b'\n').map_or(shown.len(), |at| from + at + 1);
    start..end.max(start)
}

fn count(shown: &str) -> usize {
    shown.split_inclusive('\n').count()
}

/// Where line `line` starts; the line after a final newline starts at the end of the text.
fn line_start(shown: &str, line: usize) -> Option<usize> {
    match line {
        0 => None,
        1 => Some(0),
        _ => shown.match_indices('\n').nth(line - 2).map(|(at, _)| at + 1),
    }
}

impl Document {
    /// Replaces lines. `""` deletes them, `"\n"` leaves one blank line.
    ///
    /// The final newline of `content` is implied: the new lines end as the old ones did.
    pub fn replace_lines(&self, lines: LineRange, content: &str) -> Result<EditResult, EditError> {
        let shown = self.shown();
        let span = lines.span(shown)?;
        let mut content = plain_line_ends(content).into_owned();
        if shown[span.clone()].ends_with('\n') {
            terminate(&mut content);
        } else if let Some(rest) = content.strip_suffix('\n').filter(|rest| !rest.is_empty() && !rest.ends_with('\n')) {
            content.truncate(rest.len());
        }
        self.apply(vec![TextChange::new(span, content)])
    }

    /// Inserts lines before line `line`; one past the last line is the end of the text.
    pub fn insert_lines(&self, line: usize, content: &str) -> Result<EditResult, EditError> {
        let shown = self.shown();
        let lines = count(shown);
        let at = if line == lines + 1 { Some(shown.len()) } else { line_start(shown, line).filter(|_| line <= lines) };
        let Some(at) = at else { return Err(EditError::OutsideLines { line, lines }) };
        let mut content = plain_line_ends(content).into_owned();
        terminate(&mut content);
        if !content.is_empty() && !begins_line(shown, at) {
            content.insert(0, '\n');
        }
        self.apply(vec![TextChange::new(at..at, content)])
    }
}

/// Ends a non-empty text with a newline.
fn terminate(content: &mut String) {
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::variants::check;

    #[test]
    fn lines_are_replaced_blanked_or_deleted() {
        for (before, from, to, content, after) in [
            ("a\nb\nc\n", 2, 2, "x", "a\nx\nc\n"),
            ("a\nb\nc\n", 2, 2, "x\n", "a\nx\nc\n"),
            ("a\nb\nc\n", 1, 2, "x\ny\nz", "x\ny\nz\nc\n"),
            ("a\nb\nc\n", 2, 2, "", "a\nc\n"),
            ("a\nb\nc\n", 2, 2, "\n", "a\n\nc\n"),
            ("a\nb\nc\n", 1, 99, "", ""),
            ("a\nb", 2, 2, "x", "a\nx"),
            ("a\nb", 2, 2, "x\n", "a\nx"),
            ("a\nb", 2, 2, "\n", "a\n\n"),
            ("a\nb", 2, 2, "x\n\n", "a\nx\n\n"),
            ("a\nb", 2, 2, "", "a\n"),
            ("a\nb", 1, 1, "x\n", "x\nb"),
            ("\n\n", 2, 2, "x", "\nx\n"),
        ] {
            check(before, after, |document| document.replace_lines(LineRange { from, to }, content));
        }
    }

    #[test]
    fn lines_are_inserted_before_a_line_or_at_the_end() {
        for (before, line, content, after) in [
            ("a\nb\n", 1, "x", "x\na\nb\n"),
            ("a\nb\n", 2, "x\n", "a\nx\nb\n"),
            ("a\nb\n", 3, "x", "a\nb\nx\n"),
            ("a\nb", 3, "x", "a\nb\nx\n"),
            ("a\nb", 2, "x", "a\nx\nb"),
            ("a\n", 2, "\n", "a\n\n"),
            ("a\n", 1, "", "a\n"),
            ("a", 2, "", "a"),
            ("", 1, "x", "x\n"),
        ] {
            check(before, after, |document| document.insert_lines(line, content));
        }
    }

    #[test]
    fn lines_beyond_the_end_are_refused() {
        let document = Document::open("a\nb\n".to_owned()).unwrap();
        for (from, to) in [(0, 1), (3, 3), (2, 1), (usize::MAX, usize::MAX)] {
            assert!(matches!(
                document.replace_lines(LineRange { from, to }, "x"),
                Err(EditError::OutsideLines { lines: 2, .. })
            ));
        }
        for line in [0, 4, usize::MAX] {
            assert_eq!(document.insert_lines(line, "x"), Err(EditError::OutsideLines { line, lines: 2 }));
        }
    }

    #[test]
    fn a_span_grows_to_the_lines_it_touches() {
        for (span, lines) in [(0..0, 0..3), (1..4, 0..6), (3..6, 3..6), (7..7, 6..8), (8..8, 8..8)] {
            assert_eq!(whole_lines("ab\ncd\ne\n", span.clone()), lines, "{span:?}");
        }
        assert_eq!(whole_lines("ab\ncd", 3..5), 3..5);
    }
}
