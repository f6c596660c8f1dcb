//! Headings and the sections they start.

use std::ops::Range;

use crate::span::{line_end, line_start, trim};

mod find;
mod normal;

pub use find::HeadingMatch;
pub(crate) use find::HeadingName;
pub(crate) use normal::{heading_for_link, heading_key};

/// A heading and its section. Spans are offsets in the shown text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub level: u8,
    pub style: HeadingStyle,
    /// Its words as written, without the `#` marks or the underline; including markup and a block id.
    pub text: String,
    /// Their span.
    pub words: Range<usize>,
    /// The heading itself, including an underline, without indentation and the last line ending.
    pub span: Range<usize>,
    /// Counted from 1.
    pub line: usize,
    /// From the start of its line to the next heading of any level.
    pub own: Range<usize>,
    /// From the start of its line to the next heading of the same or a higher level.
    pub section: Range<usize>,
    /// Where the text under it starts: after its line ending.
    pub body: usize,
    /// The heading above it, as an index.
    pub parent: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadingStyle {
    /// `## Text`
    Atx,
    /// `## Text ##`
    ClosedAtx,
    /// The text, and `===` or `---` below it.
    Setext,
}

/// The heading that a Markdown parser found at `span`, if Obsidian sees one there too; sections are filled in later.
pub(crate) fn heading(text: &str, level: u8, span: Range<usize>) -> Option<Heading> {
    let first_end = line_end(text, span.start);
    let first = span.start..first_end;
    let marks = first.start + usize::from(level);
    let (style, words, end) = if is_atx(&text[first.clone()], level) {
        let (style, words) = atx(text, marks..first.end);
        // Closing marks and blanks belong to the heading, but not to its words.
        let end = text[..first_end].trim_end().len().max(words.end);
        (style, words, end)
    } else {
        // Markdown allows several lines of text above the underline, Obsidian one.
        let underline = setext_underline(text, first_end, span.end)?;
        (HeadingStyle::Setext, trim(text, first), underline)
    };
    let start = line_start(text, span.start);
    // Behind the line end, or at the end of the text if there is none.
    let body = (line_end(text, end) + 1).min(text.len());
    Some(Heading {
        level,
        style,
        text: text[words.clone()].to_owned(),
        words,
        span: span.start..end,
        line: 0,
        own: start..text.len(),
        section: start..text.len(),
        body,
        parent: None,
    })
}

/// An underlined text may also start with `#`: `#tag`.
fn is_atx(line: &str, level: u8) -> bool {
    let rest = line.trim_start_matches('#');
    line.len() - rest.len() == usize::from(level) && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// The words of an ATX heading: the text after the marks, without a closing run of `#` after a blank.
fn atx(text: &str, rest: Range<usize>) -> (HeadingStyle, Range<usize>) {
    let words = trim(text, rest.clone());
    let open = text[words.clone()].trim_end_matches('#');
    // Marks right behind a word are part of it: `C#`.
    if open.len() == words.len() || !(open.is_empty() || open.ends_with([' ', '\t'])) {
        // An empty heading has its words where they would be written.
        let at = if words.is_empty() { rest.end..rest.end } else { words };
        return (HeadingStyle::Atx, at);
    }
    (HeadingStyle::ClosedAtx, words.start..words.start + open.trim_end().len())
}

/// Where the underline ends: Obsidian accepts one line of text, and below it at the margin nothing but marks.
fn setext_underline(text: &str, first_end: usize, end: usize) -> Option<usize> {
    let start = first_end + 1;
    let underline = text.get(start..line_end(text, start.min(text.len())))?;
    let mark = underline.chars().next().filter(|mark| matches!(mark, '=' | '-'))?;
    // Nothing may follow the underline in what the parser took for the heading.
    let last = start + underline.len() >= text[..end].trim_end_matches('\n').len();
    (last && underline.chars().all(|c| c == mark)).then_some(start + underline.len())
}

/// Fills in what follows from the order of the headings: lines, parents and ends of sections.
pub(crate) fn nest(text: &str, headings: &mut [Heading]) {
    let bytes = text.as_bytes();
    let mut above: Vec<usize> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for index in 0..headings.len() {
        let (level, start) = (headings[index].level, headings[index].section.start);
        // Counted from the heading before, so the text is read once for all of them.
        line += memchr::memchr_iter(b'\n', &bytes[counted..start]).count();
        counted = start;
        headings[index].line = line;
        if let Some(previous) = index.checked_sub(1) {
            headings[previous].own.end = start;
        }
        // A heading ends all open sections of its level and below.
        while let Some(last) = above.pop_if(|last| headings[*last].level >= level) {
            headings[last].section.end = start;
        }
        headings[index].parent = above.last().copied();
        above.push(index);
    }
}
