//! Lines and columns.

use lapidary_note::LineTable;

/// Finds lines and columns, both counted from 1 as editors show them.
pub struct LineColumns<'t> {
    text: &'t str,
    lines: LineTable,
}

impl<'t> LineColumns<'t> {
    pub fn of(text: &'t str) -> Self {
        Self { text, lines: LineTable::of(text) }
    }

    pub fn line(&self, at: usize) -> usize {
        self.lines.line(at)
    }

    /// In characters.
    pub fn column(&self, at: usize) -> usize {
        self.text.get(self.lines.line_start(at)..at).map_or(0, |before| before.chars().count()) + 1
    }

    /// The last line of a part that ends before `end`.
    pub fn last_line(&self, end: usize) -> usize {
        self.lines.last_line(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_where_an_editor_shows_them() {
        let places = LineColumns::of("añb\n\nc");
        for (at, line, column) in [(0, 1, 1), (3, 1, 3), (4, 1, 4), (5, 2, 1), (6, 3, 1), (7, 3, 2)] {
            assert_eq!((places.line(at), places.column(at)), (line, column), "{at}");
        }
        assert_eq!((places.last_line(0), places.last_line(5), places.last_line(6), places.last_line(7)), (1, 1, 2, 3));
    }
}
