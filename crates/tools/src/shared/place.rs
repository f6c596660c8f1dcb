/// Finds lines and columns, both counted from 1 as editors show them.
pub(crate) struct Places<'t> {
    text: &'t str,
    line_ends: Vec<usize>,
}

impl<'t> Places<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let line_ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
        Self { text, line_ends }
    }

    pub(crate) fn line(&self, at: usize) -> usize {
        self.line_ends.partition_point(|end| *end < at) + 1
    }

    /// In characters.
    pub(crate) fn column(&self, at: usize) -> usize {
        let start = self.line(at).checked_sub(2).map_or(0, |line| self.line_ends[line] + 1);
        self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1
    }

    /// The last line of a part that ends before `end`.
    pub(crate) fn last_line(&self, end: usize) -> usize {
        self.line(end.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_where_an_editor_shows_them() {
        let places = Places::of("añb\n\nc");
        for (at, line, column) in [(0, 1, 1), (3, 1, 3), (4, 1, 4), (5, 2, 1), (6, 3, 1), (7, 3, 2)] {
            assert_eq!((places.line(at), places.column(at)), (line, column), "{at}");
        }
        assert_eq!((places.last_line(0), places.last_line(5), places.last_line(6), places.last_line(7)), (1, 1, 2, 3));
    }
}
