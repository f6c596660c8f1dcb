//! Edits of the text under a heading.

use std::ops::Range;

use super::{
    EditError, EditResult, TextChange, begins_line,
    outline::{cuts_block, keeps_others},
};
use crate::{
    BlockKind, Document, Heading,
    span::{line_end, line_start},
    text::plain_line_ends,
};

mod fit;
mod join;
mod transfer;

use fit::LastBlock;
pub(super) use fit::TextEnding;
use join::{ListEnd, is_rows};
pub use transfer::{MovedPart, MovedText, PartPlace};

/// The extent of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionPart {
    /// To the next heading of any level.
    Own,
    /// To the next heading of the same or a higher level.
    Subtree,
}

/// How the blank lines at the edge of a section are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlankLines {
    /// Replaced text includes its blank lines; appended text goes right below the last non-blank line.
    AsSent,
    /// The blank lines around replaced text stay. Items join the list at the edge, and rows the table; any other text
    /// is appended below the last blank line, except at the end of the note, where blank lines are dropped first, and
    /// prepended below the first.
    Kept,
    /// Blank lines between the new and old text are dropped, so that one directly follows the other; a blank line
    /// before the next heading stays. Replaces like `Kept`.
    Trimmed,
}

/// A heading with its section, and how an edit treats its edges.
#[derive(Clone, Copy, Debug)]
pub struct SectionEdit<'h> {
    pub heading: &'h Heading,
    pub part: SectionPart,
    pub blanks: BlankLines,
}

impl SectionEdit<'_> {
    fn end(&self) -> usize {
        match self.part {
            SectionPart::Own => self.heading.own.end,
            SectionPart::Subtree => self.heading.section.end,
        }
    }

    /// The text under the heading. An id on its own line that names the heading belongs to it.
    fn body(&self, document: &Document) -> Result<Range<usize>, EditError> {
        let Heading { span, body, .. } = self.heading;
        let shown = document.shown();
        let end = self.end();
        shown.get(*body..end).ok_or_else(|| document.outside(*body..end))?;
        let note = document.note();
        let id = note
            .blocks
            .iter()
            .rfind(|block| block.kind == BlockKind::Heading && block.span == *span && block.marker.start >= *body);
        // The id line goes with the heading: an edit of the text must not take it.
        let start = id.map_or(*body, |id| (line_end(shown, id.marker.end) + 1).min(end));
        Ok(start..end)
    }
}

impl EditResult {
    /// A heading in the new text that would end the section of `heading` instead of being part of it.
    pub fn heading_outside(&self, heading: &Heading) -> Option<String> {
        let note = self.document.note();
        let ends = |new: &&Heading| self.span.contains(&new.section.start) && new.level <= heading.level;
        note.headings.iter().find(ends).map(|outside| outside.text.clone())
    }
}

impl Document {
    /// Replaces the text under a heading. The heading stays, a setext heading with its underline; the text may include
    /// it.
    pub fn replace_body(&self, section: &SectionEdit<'_>, content: &str) -> Result<EditResult, EditError> {
        let content = &without_own_heading(content, section.heading);
        let shown = self.shown();
        let body = section.body(self)?;
        let after = &shown[body.end..];
        let text = &shown[body.clone()];
        if section.blanks != BlankLines::AsSent && !content.trim().is_empty() {
            return match text.trim() {
                // Nothing to replace: blank lines are kept apart as when adding.
                "" => self.append_to_section(&SectionEdit { blanks: BlankLines::Kept, ..*section }, content),
                _ => self.write_section(&between_blanks(text, body.start, content)),
            };
        }
        // The blank line before the next heading belongs to the layout, not to the replaced text.
        let separated =
            section.blanks != BlankLines::AsSent && !after.is_empty() && shown[..body.end].ends_with("\n\n");
        let content =
            SectionInsert { separated, ..SectionInsert::below(&shown[..body.start], content) }.above(shown, after);
        self.write_section(&TextChange::new(body, content))
    }

    /// Adds text at the end of a section.
    pub fn append_to_section(&self, section: &SectionEdit<'_>, content: &str) -> Result<EditResult, EditError> {
        if content.is_empty() {
            return Ok(self.unchanged());
        }
        let shown = self.shown();
        let body = section.body(self)?;
        let last_text = body.start + shown[body.clone()].trim_end().len();
        let blank_line = shown[..body.end].ends_with("\n\n");
        let note = self.note();
        // Items join the list at the end of the section, with its marks, numbers and spacing.
        if section.blanks == BlankLines::Kept
            && let Some(list) = ListEnd::above(&note, &body, last_text)
            && let Some(items) = list.joining(&plain_line_ends(content), false)
        {
            let at = list.end(last_text);
            let items = format!("{}{items}{}", list.gap(), if content.ends_with('\n') { "\n" } else { "" });
            return self.write_section(&lines_at(shown, at, &body, &items));
        }
        // Only the text after the last heading can affect the ending, so nothing else is parsed.
        let headings = note.headings.partition_point(|heading| heading.section.start < last_text);
        let last_heading = note.headings[..headings].last().map_or(0, |heading| heading.section.start);
        let last_block = LastBlock::of(&shown[..last_text], last_heading);
        // Taken before anything changes: what is open here would take in all that is added.
        let ending = last_block.ending(&shown[..last_text]);
        if ending == TextEnding::Open {
            return Err(EditError::Unclosed);
        }
        // The start of the line after the last text; the body itself may start in the middle of a line.
        let below_text = || {
            let at = shown[last_text..body.end].find('\n').map_or(body.end, |at| last_text + at + 1);
            if last_text == body.start { body.start } else { at }
        };
        // What is replaced, and whether a blank line must follow, depends on how blank lines are treated.
        let (span, separated) = match section.blanks {
            BlankLines::Trimmed => (below_text()..body.end, blank_line && body.end < shown.len()),
            BlankLines::AsSent => (below_text()..below_text(), false),
            BlankLines::Kept if ending.is_table() && is_rows(&plain_line_ends(content)) => {
                // Rows go right below the last row; a blank line would end the table.
                let at = (line_end(shown, last_text) + 1).min(shown.len());
                let rows = plain_line_ends(content);
                return self.write_section(&lines_at(shown, at, &body, rows.trim_start_matches('\n')));
            }
            BlankLines::Kept if body.end < shown.len() => (body.end..body.end, blank_line),
            // At the end of the note, trailing blank lines are dropped before the new text.
            BlankLines::Kept => {
                let unblanked = shown[..body.end].trim_end_matches('\n').len();
                let end = (unblanked + 1).clamp(body.start, body.end);
                (end..body.end, false)
            }
        };
        let content =
            if section.blanks == BlankLines::Trimmed { content.trim_start_matches(['\n', '\r']) } else { content };
        let above = &shown[..span.start];
        // The text above may now end in another block, for example after a dropped blank line.
        let ending = last_block.or_of(above).ending(above);
        let wanted = SectionInsert { separated, ..SectionInsert::below(above, content) }.apart_from(above, ending);
        let content = wanted.above(shown, &shown[span.end..]);
        self.write_section(&TextChange::new(span, content))
    }

    /// Adds text below a heading and the blank line under it.
    pub fn prepend_to_section(&self, section: &SectionEdit<'_>, content: &str) -> Result<EditResult, EditError> {
        if content.is_empty() {
            return Ok(self.unchanged());
        }
        let shown = self.shown();
        let body = section.body(self)?;
        let first_text = body.end - shown[body.clone()].trim_start().len();
        if section.blanks == BlankLines::Kept {
            // An empty section has no first text to go before.
            if first_text == body.end {
                return self.append_to_section(section, content);
            }
            let at = line_start(shown, first_text).max(body.start);
            let note = self.note();
            let list = ListEnd::below(&note, &body, first_text);
            // Items join the list at the start of the section.
            if let Some(list) = list
                && let Some(items) = list.joining(&plain_line_ends(content), true)
            {
                return self.write_section(&TextChange::new(at..at, format!("{items}\n{}", list.gap())));
            }
            if at > body.start {
                // A blank line keeps the new text and the old apart.
                let content = plain_line_ends(content);
                let content = content.trim_matches('\n');
                // An unclosed construct in the new text would take in the text below.
                if TextEnding::of(content) == TextEnding::Open {
                    return Err(EditError::Unclosed);
                }
                return self.write_section(&TextChange::new(at..at, format!("{content}\n\n")));
            }
        }
        let trims = section.blanks == BlankLines::Trimmed && first_text < body.end;
        let first_line = if trims { line_start(shown, first_text).max(body.start) } else { body.start };
        let span = body.start..first_line;
        let below = &shown[span.end..body.end];
        let content = if trims { content.trim_end_matches(['\n', '\r']) } else { content };
        let wanted = SectionInsert::below(&shown[..span.start], content);
        let mut content = wanted.above(shown, &shown[span.end..]);
        match TextEnding::of(content.trim_end_matches('\n')) {
            TextEnding::Open if !below.trim().is_empty() => return Err(EditError::Unclosed),
            ending if !content.ends_with("\n\n") && ending.takes_in(below) => content.push('\n'),
            _ => {}
        }
        self.write_section(&TextChange::new(span, content))
    }

    /// Makes the change if the headings around it are preserved. A setext heading below absorbs the line above it, so
    /// it gets a blank line if necessary.
    fn write_section(&self, change: &TextChange) -> Result<EditResult, EditError> {
        let before = self.note();
        // No blank line fixes that.
        if cuts_block(&before, &change.span) {
            return Err(EditError::HeadingsLost);
        }
        // A blank line before or after may be all that is missing to preserve a neighbour; two newlines if the text
        // would have continued after an id.
        // Tried from the smallest change on, so that no blank line is added without need.
        for lead in ["", "\n", "\n\n"] {
            for trail in ["", "\n"] {
                let spaced = TextChange::new(change.span.clone(), format!("{lead}{}{trail}", change.text));
                let Ok(draft) = self.draft(vec![spaced]) else { continue };
                if keeps_others(&before, &draft.note(), &change.span) {
                    return draft.finish();
                }
            }
        }
        Err(EditError::HeadingsLost)
    }
}

/// The text without the heading itself, which callers include when they rewrite a section, and a blank line below.
fn without_own_heading(content: &str, heading: &Heading) -> String {
    let content = plain_line_ends(content);
    let (first, rest) = content.split_once('\n').unwrap_or((&content, ""));
    let words = first.trim_start_matches('#');
    // Seven marks are not a heading, and neither are marks without a blank.
    let is_heading = (1..=6).contains(&(first.len() - words.len())) && words.starts_with([' ', '\t']);
    if is_heading && words.trim() == heading.text {
        rest.strip_prefix('\n').unwrap_or(rest).to_owned()
    } else {
        content.into_owned()
    }
}

/// New text in place of an old one, between the surrounding blank lines.
fn between_blanks(old: &str, at: usize, content: &str) -> TextChange {
    let content = plain_line_ends(content);
    let text = old.trim_start_matches('\n');
    let lead = old.len() - text.len();
    let trail = text.len() - text.trim_end_matches('\n').len();
    let new = if lead > 0 { content.trim_start_matches('\n') } else { &content };
    let sent = new.len() - new.trim_end_matches('\n').len();
    // Blank lines that were sent and those that are kept do not add up.
    let new = format!("{}{}", new.trim_end_matches('\n'), "\n".repeat(sent.saturating_sub(trail)));
    TextChange::new(at + lead..at + old.len() - trail, new)
}

/// Lines right below the text of a section, keeping the blank lines after it. At the end of the note those are dropped.
fn lines_at(shown: &str, at: usize, body: &Range<usize>, lines: &str) -> TextChange {
    let lead = if begins_line(shown, at) { "" } else { "\n" };
    let text = lines.trim_end_matches('\n');
    let ends = body.end < shown.len() || shown.ends_with('\n') || lines.ends_with('\n');
    let end = if body.end < shown.len() { at } else { body.end };
    TextChange::new(at..end, format!("{lead}{text}{}", if ends { "\n" } else { "" }))
}

/// Whether the first line is one that belongs below a heading.
fn begins_with_underline(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().trim();
    let all = |mark: char| !line.is_empty() && line.chars().all(|letter| letter == mark);
    all('=') || all('-')
}

/// New text before it is inserted into a note.
struct SectionInsert {
    content: String,
    /// Whether a blank line must follow it.
    separated: bool,
}

impl SectionInsert {
    /// Text that starts a new line even after an unfinished one.
    fn below(before: &str, content: &str) -> Self {
        let mut content = plain_line_ends(content).into_owned();
        if !content.is_empty() && !begins_line(before, before.len()) {
            content.insert(0, '\n');
        }
        Self { content, separated: false }
    }

    /// Text with a blank line above it if the block there would absorb it.
    fn apart_from(mut self, before: &str, ending: TextEnding) -> Self {
        let text = self.content.strip_prefix('\n').filter(|_| !begins_line(before, before.len()));
        let text = text.unwrap_or(&self.content);
        // A line of `===` would turn the words above it into a heading.
        if ending.takes_in(text) || (ending.goes_on() && begins_with_underline(text)) {
            self.content.insert(0, '\n');
        }
        self
    }

    /// Text that ends its line if more follows, or if the note did so before.
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

#[cfg(test)]
mod tests;
