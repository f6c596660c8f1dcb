//! Open brackets, to find the fields and inline footnotes that they may turn out to be.

/// Round and square ones are independent, as in Dataview.
#[derive(Default)]
pub(super) struct BracketPairs {
    pub(super) square: BracketStack,
    pub(super) round: BracketStack,
}

#[derive(Default)]
pub(super) struct BracketStack(Vec<OpenBracket>);

#[derive(Clone, Copy)]
pub(super) struct OpenBracket {
    pub(super) at: usize,
    /// Where its line started: a field is one line.
    pub(super) line: usize,
    /// The first `::` in it.
    pub(super) separator: Option<usize>,
    /// It is `^[`.
    pub(super) footnote: bool,
}

impl BracketStack {
    pub(super) fn open(&mut self, at: usize, line: usize) {
        self.0.push(OpenBracket { at, line, separator: None, footnote: false });
    }

    pub(super) fn open_footnote(&mut self, at: usize, line: usize) {
        self.0.push(OpenBracket { at, line, separator: None, footnote: true });
    }

    pub(super) fn close(&mut self) -> Option<OpenBracket> {
        self.0.pop()
    }
}

impl BracketPairs {
    pub(super) fn clear(&mut self) {
        self.square.0.clear();
        self.round.0.clear();
    }

    /// Assigns a `::` to the innermost open bracket of its line; `false` if there is none.
    pub(super) fn separate(&mut self, at: usize, line: usize) -> bool {
        let (square, round) = (self.square.0.last_mut(), self.round.0.last_mut());
        let innermost = match (square, round) {
            // The one that was opened last is the inner one.
            (Some(square), Some(round)) => Some(if square.at > round.at { square } else { round }),
            (square, round) => square.or(round),
        };
        let Some(open) = innermost.filter(|open| open.line == line && !open.footnote) else { return false };
        open.separator.get_or_insert(at);
        true
    }
}
