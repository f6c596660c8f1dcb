//! Where a command prints: text, tables and JSON, as its reader can take them.

use std::io::{self, Write};

use lapidary_pipeline::Clock;
use lapidary_tools::quote::{one_line, visible, visible_json};
use serde_json::Value;

use super::{
    local_time::LocalTime,
    report,
    table::{self, TableCell},
    terminal_style::TerminalStyle,
};
use crate::environment::ProcessEnvironment;

/// Standard output and what its reader can show.
pub(super) struct Screen<'w> {
    out: &'w mut dyn Write,
    pub(super) style: TerminalStyle,
    pub(super) time: LocalTime,
}

impl<'w> Screen<'w> {
    pub(super) fn new(out: &'w mut dyn Write, surroundings: &ProcessEnvironment) -> Self {
        let style = TerminalStyle::of_output(&surroundings.environment);
        Self { out, style, time: LocalTime::at(Clock::system().now()) }
    }

    #[cfg(test)]
    pub(super) fn for_test(out: &'w mut dyn Write, width: usize) -> Self {
        Self { out, style: TerminalStyle::terminal(width, false), time: LocalTime::at(Clock::system().now()) }
    }

    /// JSON, unchanged for a program; on a terminal all its characters are made visible, with the same value.
    pub(super) fn json(&mut self, value: &Value) -> io::Result<()> {
        // Indented for people; programs read either.
        let json = format!("{value:#}");
        self.json_line(&json)
    }

    pub(super) fn json_line(&mut self, json: &str) -> io::Result<()> {
        if self.style.is_terminal { writeln!(self.out, "{}", visible_json(json)) } else { writeln!(self.out, "{json}") }
    }

    /// Text of a note: as in the file for a program, visible on a terminal. It ends with a line break on a terminal only.
    /// Tools send `\n`, and `form` says how the lines of the file end.
    pub(super) fn note_text(&mut self, text: &str, form: &Value) -> io::Result<()> {
        if !self.style.is_terminal {
            // It is at the start of the file, not of each part.
            let mark = if form["bom"] == true && form["format"] != "section" { "\u{feff}" } else { "" };
            let line_end = match form["eol"].as_str() {
                Some("crlf") => "\r\n",
                Some("cr") => "\r",
                _ => "\n",
            };
            // As in the file, to the byte, so that `lapidary read > copy.md` is a copy.
            return write!(self.out, "{mark}{}", text.replace('\n', line_end));
        }
        let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        write!(self.out, "{}{end}", self.style.note(&visible(text)))
    }

    /// A diff, on a terminal with its lines in colour.
    pub(super) fn diff(&mut self, diff: &str) -> io::Result<()> {
        let shown = if self.style.is_terminal { visible(diff) } else { diff.into() };
        write!(self.out, "{}", self.style.diff(&shown))
    }

    /// What is asked, with its diffs in colour.
    pub(super) fn question(&mut self, message: &str) -> io::Result<()> {
        write!(self.out, "{}", report::without_fences(&visible(message), self.style))
    }

    /// A table that fits the terminal, or is as wide as it needs to be.
    pub(super) fn table(&mut self, header: &[&str], rows: &[Vec<TableCell>]) -> io::Result<()> {
        let header: Vec<TableCell> = header.iter().map(|name| TableCell::from(*name).strong()).collect();
        table::print_cells(self.out, &header, rows, self.style)
    }

    /// Rows without a header, for lines that follow others.
    pub(super) fn more_rows(&mut self, rows: &[Vec<TableCell>]) -> io::Result<()> {
        table::print_cells(self.out, &[], rows, self.style)
    }

    pub(super) fn heading(&mut self, words: &str) -> io::Result<()> {
        writeln!(self.out, "{}", self.style.strong(&one_line(words)))
    }
}

impl Write for Screen<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
