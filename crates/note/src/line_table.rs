//! Line numbers of positions.

/// Finds the line of a place in a text, counted from 1 as editors show it.
pub struct LineTable {
    line_ends: Vec<usize>,
}

impl LineTable {
    pub fn of(text: &str) -> Self {
        Self { line_ends: memchr::memchr_iter(b'\n', text.as_bytes()).collect() }
    }

    pub fn line(&self, at: usize) -> usize {
        self.line_ends.partition_point(|end| *end < at) + 1
    }

    /// Where the line of a place starts.
    pub fn line_start(&self, at: usize) -> usize {
        self.line(at).checked_sub(2).map_or(0, |line| self.line_ends[line] + 1)
    }

    /// The last line of a part that ends before `end`.
    pub fn last_line(&self, end: usize) -> usize {
        self.line(end.saturating_sub(1))
    }
}
