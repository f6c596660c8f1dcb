//! Messages and questions to the user of a command. This is not the log: they may quote notes, and no log level silences them.

use std::{
    io::{self, IsTerminal, Write},
    sync::OnceLock,
};

use lapidary_tools::quote::visible;
use unicode_width::UnicodeWidthStr;

use super::terminal_style::{TerminalStyle, TextPaint};

/// How standard error is coloured: decided once, as it is the same for the whole process.
static STYLE: OnceLock<TerminalStyle> = OnceLock::new();

pub(super) fn start(style: TerminalStyle) {
    STYLE.get_or_init(|| style);
}

fn style() -> TerminalStyle {
    // Before `start`, as in tests and in programs that embed the server.
    let unknown = || TerminalStyle { colours: false, width: 80, is_terminal: io::stderr().is_terminal() };
    STYLE.get().copied().unwrap_or_else(unknown)
}

pub(crate) fn error(message: &str) {
    said("error:", TextPaint::Error, message);
}

pub(crate) fn note(message: &str) {
    said("lapidary:", TextPaint::Faint, message);
}

/// A line for the terminal of standard error, broken at blanks.
pub(crate) fn on_terminal(line: &str) -> String {
    style().folded(line) + "\n"
}

fn said(mark: &str, paint: TextPaint, message: &str) {
    let style = style();
    let text = style.folded(&format!("{mark} {}", visible(message)));
    // In a pipe the backticks stay, as programs may look for them.
    let text = if style.is_terminal { text.replace('`', "'") } else { text };
    eprintln!("{}{}", style.painted(paint, mark), text.strip_prefix(mark).unwrap_or(&text));
}

/// Wrong usage, in the words of the parser of the command line.
pub(super) fn usage(usage: &clap::Error, style: TerminalStyle) {
    let text = usage.render();
    let text = if style.colours { text.ansi().to_string() } else { text.to_string() };
    eprint!("{}", style.folded(&text));
}

/// What is about to happen, with its diff.
pub(super) fn question(message: &str) {
    eprint!("{}", without_fences(&visible(message), style()));
}

/// Asks the user, who has to type a yes.
pub(super) fn confirmed(question: &str) -> bool {
    matches!(answer(&format!("{question} [y/N]")).as_deref(), Some("y" | "Y" | "yes"))
}

/// What the user types; `None` if standard input has ended.
pub(super) fn answer(question: &str) -> Option<String> {
    eprint!("{} ", style().strong(question));
    // A terminal that accepts no output has no reader.
    io::stderr().flush().unwrap_or_default();
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line);
    // Zero bytes are the end of the input; an empty line has its line break.
    matches!(read, Ok(1..)).then(|| line.trim().to_owned())
}

/// Our sentences quote names in backticks, for models; a terminal shows no Markdown.
pub(super) fn plain(message: &str, style: TerminalStyle) -> String {
    let shown = visible(message);
    if style.is_terminal { shown.replace('`', "'") } else { shown.into_owned() }
}

/// The text of a question with its diffs in colour and without the fences around them.
pub(super) fn without_fences(message: &str, style: TerminalStyle) -> String {
    let mut fence: Option<String> = None;
    let mut text = String::new();
    for line in message.lines() {
        // A fence is closed by as many backticks as opened it: a diff may contain shorter ones.
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            None if ticks.len() >= 3 => fence = Some(ticks),
            Some(open) if line.trim_end() == *open => fence = None,
            Some(_) => text += &style.diff(line),
            None => {
                let line = line.replace("**", "").replace('`', "'");
                // Only what is too wide: wrapping joins blanks, and a name that has two in a row must be shown with both.
                let is_wrapped = style.is_terminal && line.width() > style.width && !line.contains("  ");
                text += &if is_wrapped { style.wrapped(&line, 0) } else { line + "\n" };
            }
        }
        // Within a diff; the style drops empty lines.
        if line.is_empty() && fence.is_some() {
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_no_markdown_and_a_coloured_diff() {
        let message = "Change `a.md`?\n\n````diff\n--- a.md\n-old ```\n\n+new\n````\nmore";
        assert_eq!(
            without_fences(message, TerminalStyle::plain()),
            "Change 'a.md'?\n\n--- a.md\n-old ```\n\n+new\nmore\n"
        );
        let coloured = without_fences(message, TerminalStyle::terminal(80, true));
        assert!(coloured.contains("\u{1b}[32m+new\u{1b}[0m\n"), "{coloured:?}");
    }
}
