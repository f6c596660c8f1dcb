use std::ops::Range;

use super::{
    Change, EditError, Edited, begins_line,
    outline::{cuts_block, keeps_others},
};
use crate::{
    BlockKind, Document, Heading,
    span::{line_end, line_start},
    text::plain_line_ends,
};

mod fit;

use fit::{Ending, LastBlock};

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
    /// Blank lines between the new text and the old are dropped, so that one follows the other line by line; a blank line
    /// before the next heading stays. Replaces as `Kept` does.
    Trimmed,
}

/// A heading with what stands under it, and how an edit treats its edges.
#[derive(Clone, Copy, Debug)]
pub struct Section<'h> {
    pub heading: &'h Heading,
    pub part: SectionPart,
    pub blanks: Blanks,
}

impl Section<'_> {
    fn end(&self) -> usize {
        match self.part {
            SectionPart::Own => self.heading.own.end,
            SectionPart::Subtree => self.heading.section.end,
        }
    }

    /// What stands under the heading. An id on a line of its own that names the heading belongs to it.
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
        let start = id.map_or(*body, |id| (line_end(shown, id.marker.end) + 1).min(end));
        Ok(start..end)
    }
}

impl Document {
    /// Puts new text under a heading. The heading stays, a setext heading with its underline.
    pub fn replace_body(&self, section: &Section<'_>, content: &str) -> Result<Edited, EditError> {
        let shown = self.shown();
        let body = section.body(self)?;
        let after = &shown[body.end..];
        let separated = section.blanks != Blanks::AsSent && !after.is_empty() && shown[..body.end].ends_with("\n\n");
        let content = Wanted { separated, ..Wanted::below(&shown[..body.start], content) }.above(shown, after);
        self.write_section(&Change::new(body, content))
    }

    /// Adds text at the end of a section.
    pub fn append_to_section(&self, section: &Section<'_>, content: &str) -> Result<Edited, EditError> {
        let shown = self.shown();
        let body = section.body(self)?;
        let last_text = body.start + shown[body.clone()].trim_end().len();
        let blank_line = shown[..body.end].ends_with("\n\n");
        let note = self.note();
        let headings = note.headings.partition_point(|heading| heading.section.start < last_text);
        let last_heading = note.headings[..headings].last().map_or(0, |heading| heading.section.start);
        let last_block = LastBlock::of(&shown[..last_text], last_heading);
        let ending = last_block.ending(&shown[..last_text]);
        if ending == Ending::Open {
            return Err(EditError::Unclosed);
        }
        let below_text = || {
            let at = shown[last_text..body.end].find('\n').map_or(body.end, |at| last_text + at + 1);
            if last_text == body.start { body.start } else { at }
        };
        let (span, separated) = match section.blanks {
            Blanks::Trimmed => (below_text()..body.end, blank_line && body.end < shown.len()),
            Blanks::AsSent => (below_text()..below_text(), false),
            Blanks::Kept if body.end < shown.len() => (body.end..body.end, blank_line),
            Blanks::Kept => {
                let unblanked = shown[..body.end].trim_end_matches('\n').len();
                let end = (unblanked + 1).clamp(body.start, body.end);
                (end..body.end, false)
            }
        };
        let content =
            if section.blanks == Blanks::Trimmed { content.trim_start_matches(['\n', '\r']) } else { content };
        let above = &shown[..span.start];
        let ending = last_block.or_of(above).ending(above);
        let wanted = Wanted { separated, ..Wanted::below(above, content) }.apart_from(above, ending);
        let content = wanted.above(shown, &shown[span.end..]);
        self.write_section(&Change::new(span, content))
    }

    /// Adds text right below a heading.
    pub fn prepend_to_section(&self, section: &Section<'_>, content: &str) -> Result<Edited, EditError> {
        let shown = self.shown();
        let body = section.body(self)?;
        let first_text = body.end - shown[body.clone()].trim_start().len();
        let trims = section.blanks == Blanks::Trimmed && first_text < body.end;
        let first_line = if trims { line_start(shown, first_text).max(body.start) } else { body.start };
        let span = body.start..first_line;
        let below = &shown[span.end..body.end];
        let content = if trims { content.trim_end_matches(['\n', '\r']) } else { content };
        let wanted = Wanted::below(&shown[..span.start], content);
        let mut content = wanted.above(shown, &shown[span.end..]);
        match Ending::of(content.trim_end_matches('\n')) {
            Ending::Open if !below.trim().is_empty() => return Err(EditError::Unclosed),
            ending if !content.ends_with("\n\n") && ending.takes_in(below) => content.push('\n'),
            _ => {}
        }
        self.write_section(&Change::new(span, content))
    }

    /// Makes the change if the headings around it stay what they are. A setext heading below takes in the line above it,
    /// so it gets a blank line where it needs one.
    fn write_section(&self, change: &Change) -> Result<Edited, EditError> {
        let before = self.note();
        // No blank line mends that.
        if cuts_block(&before, &change.span) {
            return Err(EditError::HeadingsLost);
        }
        // A blank line before or behind may be all that is missing to leave a neighbour as it is; two line ends where the
        // text would have gone on behind an id.
        for lead in ["", "\n", "\n\n"] {
            for trail in ["", "\n"] {
                let spaced = Change::new(change.span.clone(), format!("{lead}{}{trail}", change.text));
                let Ok(draft) = self.draft(vec![spaced]) else { continue };
                if keeps_others(&before, &draft.note(), &change.span) {
                    return draft.finish();
                }
            }
        }
        Err(EditError::HeadingsLost)
    }
}

/// Whether the first line is one that stands below a heading.
fn begins_with_underline(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().trim();
    let all = |mark: char| !line.is_empty() && line.chars().all(|letter| letter == mark);
    all('=') || all('-')
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

    /// Text with a blank line above it where the block there would take it in.
    fn apart_from(mut self, before: &str, ending: Ending) -> Self {
        let text = self.content.strip_prefix('\n').filter(|_| !begins_line(before, before.len()));
        let text = text.unwrap_or(&self.content);
        // A line of `===` would make a heading of the words above it.
        if ending.takes_in(text) || (ending.goes_on() && begins_with_underline(text)) {
            self.content.insert(0, '\n');
        }
        self
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

#[cfg(test)]
mod tests;
