//! How text is laid out and coloured on a terminal.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
};

use unicode_width::UnicodeWidthStr;

/// The width for text in a pipe, and on a terminal that does not say.
const USUAL_WIDTH: usize = 80;
/// Longer lines are tiring to read.
const WIDEST_TEXT: usize = 100;

/// What the reader of our output can show.
#[derive(Clone, Copy, Debug)]
pub(super) struct TerminalStyle {
    pub(super) colours: bool,
    pub(super) width: usize,
}

impl TerminalStyle {
    /// Of standard output. `NO_COLOR` switches colours off, and so does a pipe.
    pub(super) fn of_output(environment: &BTreeMap<String, String>) -> Self {
        let plain = environment.get("NO_COLOR").is_some_and(|value| !value.is_empty())
            || environment.get("TERM").is_some_and(|terminal| terminal == "dumb");
        Self { colours: io::stdout().is_terminal() && !plain, width: terminal_width().unwrap_or(USUAL_WIDTH) }
    }

    pub(super) fn strong(self, text: &str) -> String {
        self.painted("1", text)
    }

    pub(super) fn good(self, text: &str) -> String {
        self.painted("32", text)
    }

    pub(super) fn doubtful(self, text: &str) -> String {
        self.painted("33", text)
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.painted("31", text)
    }

    /// A unified diff with removed lines in red and added ones in green.
    pub(super) fn diff(self, diff: &str) -> String {
        let line = |line: &str| match line.as_bytes().first() {
            Some(b'-') => self.painted("31", line),
            Some(b'+') => self.painted("32", line),
            Some(b'@') => self.painted("36", line),
            _ => line.to_owned(),
        };
        diff.lines().map(|text| line(text) + "\n").collect()
    }

    fn painted(self, colour: &str, text: &str) -> String {
        if self.colours { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Paragraphs broken at blanks, each line after an indent. Blank lines between them stay.
    pub(super) fn wrapped(self, text: &str, indent: usize) -> String {
        let most = self.width.min(WIDEST_TEXT).saturating_sub(indent).max(20);
        let lead = " ".repeat(indent);
        let mut lines = Vec::new();
        for paragraph in text.lines() {
            let mut line = String::new();
            for word in paragraph.split_whitespace() {
                if !line.is_empty() && line.width() + 1 + word.width() > most {
                    lines.push(std::mem::take(&mut line));
                }
                if !line.is_empty() {
                    line.push(' ');
                }
                line += word;
            }
            lines.push(line);
        }
        lines.iter().map(|line| format!("{lead}{line}").trim_end().to_owned() + "\n").collect()
    }
}

/// The width of the terminal at standard output; `None` if it is not a terminal.
pub(super) fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    #[cfg(unix)]
    let columns = rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    #[cfg(not(unix))]
    let columns = None;
    Some(columns.filter(|columns| *columns > 0).unwrap_or(USUAL_WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_at_the_width_and_keeps_its_paragraphs() {
        let style = TerminalStyle { colours: false, width: 24 };
        assert_eq!(
            style.wrapped("one two three four five six\n\n日本 日本 日本 日本 日本", 2),
            "  one two three four\n  five six\n\n  日本 日本 日本 日本\n  日本\n"
        );
    }

    #[test]
    fn only_a_terminal_gets_colours() {
        let diff = "@@ -1 +1 @@\n-old\n+new\n same\n";
        assert_eq!(TerminalStyle { colours: false, width: 80 }.diff(diff), diff);
        let coloured = TerminalStyle { colours: true, width: 80 }.diff(diff);
        assert_eq!(coloured, "\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m\n same\n");
    }
}
