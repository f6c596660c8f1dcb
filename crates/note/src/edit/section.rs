use std::ops::Range;

use super::{Change, EditError, Edited, apply, begins_line, outline::keeps_others, preview};
use crate::{Heading, Text, text::plain_line_ends};

/// How far a section reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionPart {
    /// To the next heading of any level.
    Own,
    /// To the next heading of the same or a higher level.
    Subtree,
}

/// What becomes of the blank lines at the edge of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blanks {
    /// Replaced text takes its blank lines along; appended text goes right below the last line that is not blank.
    AsSent,
    /// A blank line before the next heading is there afterwards too; appended text goes below it, except at the end
    /// of the note, where blank lines are dropped first.
    Kept,
    /// White space where the new text joins the old is dropped, line ends included. Replaces as `Kept` does.
    Trimmed,
}

impl SectionPart {
    fn body(self, heading: &Heading) -> Range<usize> {
        match self {
            Self::Own => heading.body..heading.own.end,
            Self::Subtree => heading.body..heading.section.end,
        }
    }
}

/// Puts new text under a heading. The heading stays, a setext heading with its underline.
pub fn replace_body(
    file: &[u8],
    text: &Text<'_>,
    heading: &Heading,
    part: SectionPart,
    content: &str,
    blanks: Blanks,
) -> Result<Edited, EditError> {
    let shown = text.shown();
    let body = part.body(heading);
    let (before, after) = around(shown, &body)?;
    let separated = blanks != Blanks::AsSent && !after.is_empty() && shown[..body.end].ends_with("\n\n");
    let content = Wanted { separated, ..Wanted::below(before, content) }.above(shown, after);
    write(file, text, &Change::new(body, content))
}

/// Puts new text in place of a heading and what stands under it. `""` deletes the section.
pub fn replace_section(
    file: &[u8],
    text: &Text<'_>,
    heading: &Heading,
    part: SectionPart,
    content: &str,
    blanks: Blanks,
) -> Result<Edited, EditError> {
    let shown = text.shown();
    let section = heading.section.start..part.body(heading).end;
    let (before, after) = around(shown, &section)?;
    let separated = blanks != Blanks::AsSent
        && !after.is_empty()
        && !content.is_empty()
        && shown[section.clone()].ends_with("\n\n");
    let content = Wanted { separated, ..Wanted::below(before, content) }.above(shown, after);
    write(file, text, &Change::new(section, content))
}

/// Adds text at the end of a section.
pub fn append_to_section(
    file: &[u8],
    text: &Text<'_>,
    heading: &Heading,
    part: SectionPart,
    content: &str,
    blanks: Blanks,
) -> Result<Edited, EditError> {
    let shown = text.shown();
    let body = part.body(heading);
    let (before, after) = around(shown, &body)?;
    let last_text = before.len() + shown[body.clone()].trim_end().len();
    let blank_line = shown[..body.end].ends_with("\n\n");
    let (span, separated) = match blanks {
        Blanks::Trimmed => (last_text..body.end, false),
        Blanks::AsSent => {
            let at = shown[last_text..body.end].find('\n').map_or(body.end, |at| last_text + at + 1);
            let at = if last_text == body.start { body.start } else { at };
            (at..at, false)
        }
        Blanks::Kept if !after.is_empty() => (body.end..body.end, blank_line),
        Blanks::Kept => {
            let unblanked = shown[..body.end].trim_end_matches('\n').len();
            let end = (unblanked + 1).clamp(body.start, body.end);
            (end..body.end, false)
        }
    };
    let wanted = Wanted { separated, ..Wanted::below(&shown[..span.start], content) };
    let joined = blanks == Blanks::Trimmed && span.start > body.start;
    let wanted = if joined { Wanted { content: plain_line_ends(content).into_owned(), ..wanted } } else { wanted };
    let content = wanted.above(shown, &shown[span.end..]);
    write(file, text, &Change::new(span, content))
}

/// Adds text right below a heading.
pub fn prepend_to_section(
    file: &[u8],
    text: &Text<'_>,
    heading: &Heading,
    part: SectionPart,
    content: &str,
    blanks: Blanks,
) -> Result<Edited, EditError> {
    let shown = text.shown();
    let body = part.body(heading);
    let (before, _) = around(shown, &body)?;
    let old = &shown[body.clone()];
    let trimmed = body.end - old.trim_start().len();
    let span = match blanks {
        Blanks::Trimmed if trimmed < body.end => body.start..trimmed,
        _ => body.start..body.start,
    };
    let wanted = Wanted::below(before, content);
    let joined = !span.is_empty();
    let content = if joined { wanted.content } else { wanted.above(shown, &shown[span.end..]) };
    write(file, text, &Change::new(span, content))
}

/// The text before and behind a span.
fn around<'a>(shown: &'a str, span: &Range<usize>) -> Result<(&'a str, &'a str), EditError> {
    let outside = || EditError::OutsideText { span: span.clone(), length: shown.len() };
    shown.get(span.clone()).ok_or_else(outside)?;
    Ok((&shown[..span.start], &shown[span.end..]))
}

/// New text on its way into a note.
struct Wanted {
    content: String,
    /// Whether a blank line must follow it.
    separated: bool,
}

impl Wanted {
    /// Text that begins a line even where the line before is unfinished.
    fn below(before: &str, content: &str) -> Self {
        let mut content = plain_line_ends(content).into_owned();
        if !content.is_empty() && !begins_line(before, before.len()) {
            content.insert(0, '\n');
        }
        Self { content, separated: false }
    }

    /// Text that ends its line where more follows, or where the note did so before.
    fn above(self, shown: &str, after: &str) -> String {
        let Self { mut content, separated } = self;
        let ends = !after.is_empty() || shown.ends_with('\n');
        if ends && !content.is_empty() && !content.ends_with('\n') {
            content.push('\n');
        }
        if separated && !content.ends_with("\n\n") {
            content.push('\n');
        }
        content
    }
}

/// Makes the change if the headings around it stay what they are. A setext heading below takes in the line above it,
/// so it gets a blank line where it needs one.
fn write(file: &[u8], text: &Text<'_>, change: &Change) -> Result<Edited, EditError> {
    let shown = text.shown();
    let keeps = |change: &Change| {
        preview(shown, std::slice::from_ref(change)).is_some_and(|edited| keeps_others(shown, &edited, &change.span))
    };
    // A blank line before or behind may be all that is missing to leave a neighbour as it is.
    for (lead, trail) in [("", ""), ("", "\n"), ("\n", ""), ("\n", "\n")] {
        let spaced = Change::new(change.span.clone(), format!("{lead}{}{trail}", change.text));
        if keeps(&spaced) {
            return apply(file, text, &[spaced]);
        }
    }
    Err(EditError::HeadingsLost)
}

#[cfg(test)]
mod tests;
