//! Whether a query is true of one piece of a note: a line, a block, a section or a task.

use std::sync::Arc;

use lapidary_index::{FileRow, FileState};
use lapidary_query::{QueryNode, QueryPiece, TextUnit};

use super::evaluate::{RankedSearch, digest_of};

impl RankedSearch<'_> {
    /// Whether a part of the query is true of one piece of a note.
    pub(super) fn in_one_piece(
        &self,
        row: &FileRow<'_>,
        document: usize,
        state: &Arc<FileState>,
        piece: QueryPiece,
        node: &QueryNode,
    ) -> bool {
        let fulfils = |text: &str| TextUnit::new(text).fulfils(node, self, Some(row));
        let digest = digest_of(state);
        if let QueryPiece::Task(wanted) = piece {
            let tasks = digest.tasks();
            return tasks.iter().filter(|task| wanted.accepts(task.status)).any(|task| fulfils(task.text));
        }
        // Headings are known from the index; code that looks like one is not among them.
        let headings: Vec<usize> = digest.structure().headings.iter().map(|heading| heading.line).collect();
        let look = |text: &str| match piece {
            QueryPiece::Line => text.lines().any(fulfils),
            QueryPiece::Block => cut_before(text, &block_starts(text, &headings)).into_iter().any(fulfils),
            // Tasks were answered above.
            QueryPiece::Section | QueryPiece::Task(_) => cut_before(text, &headings).into_iter().any(fulfils),
        };
        self.with_text(document, state, look).unwrap_or(false)
    }
}

/// The lines, from 1, where the parts of a text between empty lines start; a heading is one too, and code is not split.
/// `headings` are the lines of headings.
pub(super) fn block_starts(text: &str, headings: &[usize]) -> Vec<usize> {
    let is_heading = |number: usize| headings.binary_search(&number).is_ok();
    let mut code: Option<&str> = None;
    let begins = |(number, line): &(usize, &str)| {
        let line = line.trim();
        let inside = code.is_some();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        code = match code {
            // Only the mark that opened it closes it.
            Some(open) => Some(open).filter(|open| mark != Some(open)),
            None => mark,
        };
        // A heading ends the block before it, and the text below begins another.
        !inside && (line.is_empty() || is_heading(*number) || is_heading(number.saturating_sub(1)))
    };
    (1..).zip(text.lines()).filter(begins).map(|(number, _)| number).collect()
}

/// The parts of a text that start at these lines.
fn cut_before<'t>(text: &'t str, starts: &[usize]) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        if starts.binary_search(&number).is_ok() {
            parts.push(&text[start..at]);
            start = at;
        }
        at += line.len();
    }
    // The last part has no start behind it.
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_adjacent_lines() {
        let text = "a\nb\n \nc\n# H\nd\n```\ne\n\nf\n```\n\ng";
        let found = cut_before(text, &block_starts(text, &[5]));
        let found: Vec<&str> = found.into_iter().map(str::trim).filter(|block| !block.is_empty()).collect();
        assert_eq!(found, ["a\nb", "c", "# H", "d\n```\ne\n\nf\n```", "g"]);
    }
}
