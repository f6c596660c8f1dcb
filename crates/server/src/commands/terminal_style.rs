//! How text is laid out and coloured on a terminal.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, IsTerminal},
};

use lapidary_tools::quote::visible;
use unicode_width::UnicodeWidthStr;

use crate::found_words::{PassagePiece, pieces};

/// The width for text in a pipe, and on a terminal that does not say.
const USUAL_WIDTH: usize = 80;
/// Longer lines are tiring to read.
const WIDEST_TEXT: usize = 100;

/// What the reader of our output can show.
#[derive(Clone, Copy, Debug)]
pub(super) struct TerminalStyle {
    pub(super) colours: bool,
    pub(super) width: usize,
    pub(super) is_terminal: bool,
}

/// What a colour says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TextPaint {
    #[default]
    Plain,
    Strong,
    Faint,
    Good,
    Warning,
    Bad,
    /// The word before what went wrong.
    Error,
    /// A path or a name to copy.
    Name,
    /// What was searched for.
    Hit,
}

impl TextPaint {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Faint => Some("2"),
            Self::Good => Some("32"),
            Self::Warning => Some("33"),
            Self::Bad => Some("31"),
            Self::Error => Some("1;31"),
            Self::Name => Some("36"),
            Self::Hit => Some("1;33"),
        }
    }
}

impl TerminalStyle {
    /// Of standard output.
    pub(super) fn of_output(environment: &BTreeMap<String, String>) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let width = terminal_width().unwrap_or(USUAL_WIDTH);
        Self { colours: wants_colours(environment, is_terminal), width, is_terminal }
    }

    /// Of standard error, where questions are asked.
    pub(super) fn of_errors(environment: &BTreeMap<String, String>) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let width = terminal_width().unwrap_or(USUAL_WIDTH);
        Self { colours: wants_colours(environment, is_terminal), width, is_terminal }
    }

    #[cfg(test)]
    pub(super) fn plain() -> Self {
        Self { colours: false, width: USUAL_WIDTH, is_terminal: false }
    }

    #[cfg(test)]
    pub(super) fn terminal(width: usize, colours: bool) -> Self {
        Self { colours, width, is_terminal: true }
    }

    pub(super) fn strong(self, text: &str) -> String {
        self.painted(TextPaint::Strong, text)
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.painted(TextPaint::Faint, text)
    }

    pub(super) fn painted(self, paint: TextPaint, text: &str) -> String {
        // Codes around nothing would only confuse a reader of the bytes.
        match paint.code().filter(|_| self.colours && !text.is_empty()) {
            Some(code) => format!("\x1b[{code}m{text}\x1b[0m"),
            None => text.to_owned(),
        }
    }

    pub(super) fn good(self, text: &str) -> String {
        self.painted(TextPaint::Good, text)
    }

    pub(super) fn doubtful(self, text: &str) -> String {
        self.painted(TextPaint::Warning, text)
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.painted(TextPaint::Bad, text)
    }

    /// A unified diff with removed lines in red and added ones in green.
    pub(super) fn diff(self, diff: &str) -> String {
        let line = |line: &str| {
            let code = match line.as_bytes().first() {
                Some(b'-') => "31",
                Some(b'+') => "32",
                Some(b'@') => "36",
                _ => return line.to_owned(),
            };
            if self.colours { format!("\x1b[{code}m{line}\x1b[0m") } else { line.to_owned() }
        };
        diff.lines().map(|text| line(text) + "\n").collect()
    }

    /// The text of a note with its headings marked.
    pub(super) fn note(self, text: &str) -> String {
        let mut is_code = false;
        let line = |line: &str| {
            let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
            // Headings in code are comments of a shell script more often than not.
            is_code ^= content.trim_start().starts_with("```");
            let level = content.bytes().take_while(|byte| *byte == b'#').count();
            // `#tag` is not a heading: Markdown needs a blank after the signs.
            let is_heading = !is_code && (1..=6).contains(&level) && content[level..].starts_with(' ');
            if is_heading { self.strong(content) + end } else { line.to_owned() }
        };
        text.split_inclusive('\n').map(line).collect()
    }

    /// A text with some words marked wherever they occur, in any case.
    pub(super) fn marked(self, text: &str, words: &[String]) -> String {
        if !self.colours {
            return text.to_owned();
        }
        let paint = |piece: PassagePiece<'_>| match piece.is_found {
            true => self.painted(TextPaint::Hit, piece.text),
            false => piece.text.to_owned(),
        };
        pieces(text, words).into_iter().map(paint).collect()
    }

    /// Text of a note, which on a terminal shows all its characters.
    pub(super) fn shown(self, text: &str) -> Cow<'_, str> {
        if self.is_terminal { visible(text) } else { Cow::Borrowed(text) }
    }

    /// Lines that are too long for the terminal, broken at blanks. A command of ours in backticks stays whole, to be copied, and so does
    /// an indented line, in which columns matter.
    pub(super) fn folded(self, text: &str) -> String {
        let fold = |line: &str| {
            if !self.is_terminal || line.starts_with(' ') || painted_width(line) <= self.width {
                return line.to_owned();
            }
            let mut folded = String::new();
            let mut used = 0;
            for word in whole_words(line) {
                let width = painted_width(&word);
                // A word that is wider than the terminal gets its own line and is not cut.
                if used > 0 && used + 1 + width > self.width {
                    folded.push('\n');
                    used = 0;
                } else if used > 0 {
                    folded.push(' ');
                    used += 1;
                }
                folded += &word;
                used += width;
            }
            folded
        };
        text.split('\n').map(fold).collect::<Vec<_>>().join("\n")
    }

    /// Paragraphs broken at blanks, each line after an indent. Blank lines between them stay.
    pub(super) fn wrapped(self, text: &str, indent: usize) -> String {
        // Some room even on a very narrow terminal: a line for each letter could not be read.
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

/// The words of a line; a command of ours in backticks is one.
fn whole_words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for word in line.split(' ') {
        match words.last_mut().filter(|_| is_open) {
            Some(last) => *last += &format!(" {word}"),
            None => words.push(word.to_owned()),
        }
        is_open = match is_open {
            true => !word.contains('`'),
            // Only commands of ours: other words in backticks may be broken.
            false => word == "`lapidary",
        };
    }
    words
}

/// The columns that a text takes, without its colours.
fn painted_width(text: &str) -> usize {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().width();
    first + parts.map(|part| part.split_once('m').map_or(part, |(_, shown)| shown).width()).sum::<usize>()
}

/// `NO_COLOR` switches colours off, `CLICOLOR_FORCE` on; otherwise only a terminal gets them.
fn wants_colours(environment: &BTreeMap<String, String>, is_terminal: bool) -> bool {
    let set = |name: &str| environment.get(name).map(String::as_str).filter(|value| !value.is_empty());
    match () {
        // First, because it is a wish of the person; the other is usually set by a program.
        () if set("NO_COLOR").is_some() => false,
        () if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        () => is_terminal && set("TERM") != Some("dumb"),
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
        let style = TerminalStyle::terminal(24, false);
        assert_eq!(
            style.wrapped("one two three four five six\n\n日本 日本 日本 日本 日本", 2),
            "  one two three four\n  five six\n\n  日本 日本 日本 日本\n  日本\n"
        );
    }

    #[test]
    fn a_long_line_is_broken_at_blanks_and_a_command_is_not() {
        let style = TerminalStyle::terminal(20, false);
        assert_eq!(
            style.folded("error: there is no note of that name\n  --vault \"/home/ana/My Notes\"\nrun `lapidary undo --id 4f2a` then"),
            "error: there is no\nnote of that name\n  --vault \"/home/ana/My Notes\"\nrun\n`lapidary undo --id 4f2a`\nthen"
        );
        assert_eq!(style.folded("\x1b[1;31merror:\x1b[0m 日本 日本 x"), "\x1b[1;31merror:\x1b[0m 日本 日本 x");
        assert_eq!(TerminalStyle::plain().folded(&"a ".repeat(90)), "a ".repeat(90));
    }

    #[test]
    fn only_a_terminal_gets_colours() {
        let diff = "@@ -1 +1 @@\n-old\n+new\n same\n";
        assert_eq!(TerminalStyle::plain().diff(diff), diff);
        let coloured = TerminalStyle::terminal(80, true).diff(diff);
        assert_eq!(coloured, "\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m\n same\n");
    }

    #[test]
    fn variables_decide_about_colours() {
        let with = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect::<BTreeMap<_, _>>()
        };
        for (pairs, on_terminal, in_pipe) in [
            (&[][..], true, false),
            (&[("NO_COLOR", "1")], false, false),
            (&[("NO_COLOR", "")], true, false),
            (&[("TERM", "dumb")], false, false),
            (&[("CLICOLOR_FORCE", "1")], true, true),
            (&[("CLICOLOR_FORCE", "0")], true, false),
            (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false, false),
        ] {
            let found = [wants_colours(&with(pairs), true), wants_colours(&with(pairs), false)];
            assert_eq!(found, [on_terminal, in_pipe], "{pairs:?}");
        }
    }

    #[test]
    fn hits_are_marked_in_any_case_and_headings_outside_of_code() {
        let style = TerminalStyle::terminal(80, true);
        let words = ["roof".to_owned(), "straße".to_owned()];
        assert_eq!(
            style.marked("The Roof of STRAßE 日本", &words),
            "The \x1b[1;33mRoof\x1b[0m of \x1b[1;33mSTRAßE\x1b[0m 日本"
        );
        assert_eq!(
            style.note("# A\n```\n# b\n```\n#tag\n## C"),
            "\x1b[1m# A\x1b[0m\n```\n# b\n```\n#tag\n\x1b[1m## C\x1b[0m"
        );
        assert_eq!(TerminalStyle::plain().note("# A\nb"), "# A\nb");
    }
}
