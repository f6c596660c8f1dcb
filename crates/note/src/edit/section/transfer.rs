//! Moves parts of notes: taken out as whole lines, and inserted elsewhere as separate blocks. Items join the list they
//! come to, and rows the table.

use std::ops::Range;

use super::{
    BlankLines, EditError, EditResult, SectionEdit, SectionPart, TextChange, TextEnding,
    join::{ListEnd, begins_with_item, is_rows, with_indent},
};
use crate::{
    Block, BlockKind, CodeKind, Document, Heading, HeadingStyle, LineRange, Note,
    edit::whole_lines,
    span::{line_end, line_start},
    text::plain_line_ends,
};

/// The part to move, identified by what stays the same while links are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedPart {
    /// A heading with everything below it, by its number among the headings.
    Section(usize),
    /// A named block, by its number among the blocks; an item with the lists in it.
    Block(usize),
    Lines(LineRange),
    /// All text below the properties.
    Whole,
}

/// Where a part is put, with numbers of headings and blocks as they are before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartPlace {
    /// Below the properties.
    NoteStart,
    NoteEnd,
    /// Right below a heading.
    SectionStart(usize),
    SectionEnd(usize),
    BeforeSection(usize),
    AfterSection(usize),
    BeforeBlock(usize),
    AfterBlock(usize),
}

/// A part that has moved.
#[derive(Clone, Debug)]
pub struct MovedText {
    /// The note that it was in; after a move within one note, the note.
    pub source: Document,
    /// The note that it is in; `None` after a move within one note.
    pub target: Option<Document>,
    /// The part as it was, in the old source.
    pub part: Range<usize>,
    /// The part as it is, with the blank lines around it, where it is now.
    pub inserted: Range<usize>,
    /// How many levels its headings went down; up if negative.
    pub levels: i8,
}

impl Document {
    /// The lines of a part, including the last line ending.
    pub fn part_span(&self, part: MovedPart) -> Result<Range<usize>, EditError> {
        let note = self.note();
        let shown = self.shown();
        let start_of_text = text_start(&note);
        let span = match part {
            MovedPart::Section(index) => note.headings.get(index).map(|heading| heading.section.clone()),
            MovedPart::Block(index) => note.blocks.get(index).map(|block| block_lines(&note, block)),
            MovedPart::Lines(lines) => Some(lines.span(shown)?),
            MovedPart::Whole => Some(start_of_text..shown.len()),
        };
        let span = span.ok_or_else(|| self.outside(shown.len()..shown.len()))?;
        // Properties are not text; a move would take them out of their block.
        if span.start < start_of_text {
            return Err(EditError::InProperties);
        }
        if shown[span.clone()].trim().is_empty() {
            return Err(EditError::NothingToMove);
        }
        check_cut(&note, &span)?;
        Ok(span)
    }

    /// Moves a part within this note, and leaves `left` where it was.
    pub fn move_within(&self, part: MovedPart, place: PartPlace, left: &str) -> Result<MovedText, EditError> {
        let span = self.part_span(part)?;
        let note = self.note();
        let inside = |at: usize| span.contains(&at);
        let headings = || note.headings.iter().map(|heading| heading.section.start);
        let blocks = || note.blocks.iter().map(|block| block.marker.start);
        let kept = |starts: &mut dyn Iterator<Item = usize>, index: usize| {
            let starts: Vec<usize> = starts.collect();
            let at = *starts.get(index).ok_or(EditError::IntoItself)?;
            if inside(at) {
                return Err(EditError::IntoItself);
            }
            // Headings before the place that move away shift its number.
            Ok(index - starts.iter().take(index).filter(|at| inside(**at)).count())
        };
        let place = match place {
            PartPlace::NoteStart | PartPlace::NoteEnd => place,
            PartPlace::SectionStart(index) => PartPlace::SectionStart(kept(&mut headings(), index)?),
            PartPlace::SectionEnd(index) => PartPlace::SectionEnd(kept(&mut headings(), index)?),
            PartPlace::BeforeSection(index) => PartPlace::BeforeSection(kept(&mut headings(), index)?),
            PartPlace::AfterSection(index) => PartPlace::AfterSection(kept(&mut headings(), index)?),
            PartPlace::BeforeBlock(index) => PartPlace::BeforeBlock(kept(&mut blocks(), index)?),
            PartPlace::AfterBlock(index) => PartPlace::AfterBlock(kept(&mut blocks(), index)?),
        };
        // Taken out first, so that the place is found in the note as it will be.
        let without = self.take_out(&span, left)?;
        check_rest(&note, &span, &without.note())?;
        let (text, levels) = without.leveled(&self.shown()[span.clone()], place)?;
        let edited = without.put_in(&text, place)?;
        check_read(&text, &edited)?;
        Ok(MovedText { source: edited.document, target: None, part: span, inserted: edited.span, levels })
    }

    /// Moves a part into another note, which is empty if it is new.
    pub fn move_into(
        &self,
        part: MovedPart,
        target: &Self,
        place: PartPlace,
        left: &str,
    ) -> Result<MovedText, EditError> {
        let span = self.part_span(part)?;
        let (text, levels) = target.leveled(&self.shown()[span.clone()], place)?;
        // The target first: if the part does not fit there, the source stays as it is.
        let edited = match (part, place) {
            // Two notes stay two texts: between them there is always a blank line.
            (MovedPart::Whole, PartPlace::NoteEnd) => {
                target.put_last(text_start(&target.note())..target.shown().len(), text.trim_matches('\n'), true)?
            }
            _ => target.put_in(&text, place)?,
        };
        check_read(&text, &edited)?;
        let source = self.take_out(&span, left)?;
        check_rest(&self.note(), &span, &source.note())?;
        Ok(MovedText { source, target: Some(edited.document), part: span, inserted: edited.span, levels })
    }

    /// The note without these lines. Blank lines on both sides do not add up.
    fn take_out(&self, span: &Range<usize>, left: &str) -> Result<Self, EditError> {
        let shown = self.shown();
        let (above, below) = (&shown[..span.start], &shown[span.end..]);
        let change = if !left.is_empty() {
            let text = &shown[span.clone()];
            TextChange::new(span.start..span.start + text.trim_end_matches('\n').len(), left)
        } else if below.trim_matches('\n').is_empty() {
            // The last line that stays ends as the last one did.
            let end = above.trim_end_matches('\n').len();
            let end = if shown.ends_with('\n') { (end + 1).min(span.start) } else { end };
            TextChange::new(end..shown.len(), "")
        } else if above.is_empty() || above.ends_with("\n\n") {
            TextChange::new(span.start..shown.len() - below.trim_start_matches('\n').len(), "")
        } else {
            TextChange::new(span.clone(), "")
        };
        Ok(self.write_section(&change)?.document)
    }

    /// The text with its headings at the level that they need at the place: one below the heading that they come under, the
    /// same as the one that they come beside. Elsewhere they stay as they are.
    fn leveled(&self, text: &str, place: PartPlace) -> Result<(String, i8), EditError> {
        let note = self.note();
        let level = |index: usize| note.headings.get(index).map_or(0, |heading| heading.level);
        // After a newline, so that no properties are read at its start.
        let below = format!("\n{}", dedented(&plain_line_ends(text)));
        let own = Note::parse(&below);
        let text = || below[1..].to_owned();
        let Some(highest) = own.headings.iter().map(|heading| heading.level).min() else { return Ok((text(), 0)) };
        let wanted = match place {
            // At least one level below its new parent; a deeper part stays as deep as it is.
            PartPlace::SectionStart(index) | PartPlace::SectionEnd(index) => highest.max(level(index) + 1),
            PartPlace::BeforeSection(index) | PartPlace::AfterSection(index) => level(index),
            PartPlace::NoteStart | PartPlace::NoteEnd | PartPlace::BeforeBlock(_) | PartPlace::AfterBlock(_) => highest,
        };
        #[expect(clippy::cast_possible_wrap, reason = "levels are from 1 to 7")]
        let by = wanted as i8 - highest as i8;
        if by == 0 {
            return Ok((text(), 0));
        }
        let mut changed = String::with_capacity(below.len() + own.headings.len());
        let mut copied = 1;
        for heading in &own.headings {
            let level = heading.level.checked_add_signed(by).filter(|level| (1..=6).contains(level));
            let level = level.ok_or_else(|| EditError::TooDeep { path: heading.text.clone() })?;
            changed += &below[copied..heading.span.start];
            changed += &at_level(&below, heading, level);
            copied = heading.span.end;
        }
        changed += &below[copied..];
        Ok((changed, by))
    }

    fn put_in(&self, text: &str, place: PartPlace) -> Result<EditResult, EditError> {
        let text = text.trim_matches('\n');
        let note = self.note();
        let missing = || self.outside(self.shown().len()..self.shown().len());
        let heading = |index: usize| note.headings.get(index).ok_or_else(missing);
        match place {
            PartPlace::NoteStart => self.put_first(text),
            PartPlace::NoteEnd => self.put_last(text_start(&note)..self.shown().len(), text, false),
            PartPlace::SectionEnd(index) => {
                let section = whole_section(heading(index)?);
                self.put_last(section.body(self)?, text, false)
            }
            PartPlace::SectionStart(index) => self.prepend_to_section(&whole_section(heading(index)?), text),
            PartPlace::BeforeSection(index) => self.put_apart(heading(index)?.section.start, text),
            PartPlace::AfterSection(index) => {
                let end = heading(index)?.section.end;
                // Blank lines at the end of a section stay below it.
                self.put_apart(line_behind(self.shown(), self.shown()[..end].trim_end().len()), text)
            }
            PartPlace::BeforeBlock(index) | PartPlace::AfterBlock(index) => {
                let block = note.blocks.get(index).ok_or_else(missing)?;
                let lines = block_lines(&note, block);
                let at = if matches!(place, PartPlace::BeforeBlock(_)) { lines.start } else { lines.end };
                // An item beside an item continues its list.
                if block.kind == BlockKind::Item && begins_with_item(text) {
                    let start = line_start(self.shown(), block.span.start);
                    let before = &self.shown()[start..block.span.start];
                    let indent = &before[..before.len() - before.trim_start_matches([' ', '\t']).len()];
                    return self.put_lines(at, &with_indent(text, indent));
                }
                self.put_apart(at, text)
            }
        }
    }

    /// Below the properties, or joined with the list that the note begins with.
    fn put_first(&self, text: &str) -> Result<EditResult, EditError> {
        let (shown, note) = (self.shown(), self.note());
        let start = text_start(&note);
        let first = shown.len() - shown[start..].trim_start().len();
        let at = line_start(shown, first).max(start);
        let list = ListEnd::below(&note, &(start..shown.len()), first);
        if let Some((list, items)) = list.and_then(|list| list.joining(text, true).map(|items| (list, items))) {
            return self.write_section(&TextChange::new(at..at, format!("{items}\n{}", list.gap())));
        }
        self.put_apart(at, text)
    }

    /// At the end of a run of text, joined with the list or the table that it ends with.
    fn put_last(&self, body: Range<usize>, text: &str, airy: bool) -> Result<EditResult, EditError> {
        let (shown, note) = (self.shown(), self.note());
        let last_text = body.start + shown[body.clone()].trim_end().len();
        let at = if last_text == body.start { body.start } else { line_behind(shown, last_text) };
        if let Some(list) = ListEnd::above(&note, &body, last_text)
            && let Some(items) = list.joining(text, false)
        {
            return self.put_lines(at, &format!("{}{items}", list.gap()));
        }
        if is_rows(text) && TextEnding::of(&shown[..last_text]).is_table() {
            return self.put_lines(at, text);
        }
        self.put_between(at, text, airy)
    }

    /// Lines right after those above.
    fn put_lines(&self, at: usize, lines: &str) -> Result<EditResult, EditError> {
        let shown = self.shown();
        let lead = if shown[..at].is_empty() || shown[..at].ends_with('\n') { "" } else { "\n" };
        let trail = if at < shown.len() || shown.ends_with('\n') { "\n" } else { "" };
        self.write_section(&TextChange::new(at..at, format!("{lead}{lines}{trail}")))
    }

    /// A separate block at the start of a line, with a blank line before and after it. Where the note has none around
    /// its headings, a heading gets none.
    fn put_apart(&self, at: usize, text: &str) -> Result<EditResult, EditError> {
        self.put_between(at, text, false)
    }

    /// The same; if `airy`, a heading gets a blank line in any note.
    fn put_between(&self, at: usize, text: &str, airy: bool) -> Result<EditResult, EditError> {
        let shown = self.shown();
        let (above, below) = (&shown[..at], &shown[at..]);
        let open = |ending: TextEnding| if ending == TextEnding::Open { Err(EditError::Unclosed) } else { Ok(()) };
        open(TextEnding::of(above.trim_end()))?;
        if !below.trim().is_empty() {
            // At the end of the note, what the part leaves open harms nothing.
            open(TextEnding::of(text))?;
        }
        let note = self.note();
        let begins_section = |at: usize| note.headings.iter().any(|heading| heading.section.start == at);
        let is_below_heading = note.headings.iter().any(|heading| heading.body == at && at > 0);
        let tight = !airy && {
            // How the note itself does it; the heading at the place says nothing about the others.
            let mut others = note.headings.iter().filter(|other| other.section.start > 0 && other.section.start != at);
            others.next().is_some_and(|other| !shown[..other.section.start].ends_with("\n\n"))
        };
        let is_heading =
            Note::parse(&format!("\n{text}")).headings.first().is_some_and(|found| found.section.start == 1);
        let airy = airy || note.headings.iter().any(|heading| shown[heading.body..].starts_with('\n'));
        let lead = match above {
            "" => "",
            above if above.ends_with("\n\n") => "",
            above if !above.ends_with('\n') => "\n\n",
            _ if is_below_heading && !airy => "",
            // The line above may be the end of the properties.
            _ if text_start(&note) == at => "",
            _ if is_heading && tight => "",
            _ => "\n",
        };
        let trail = match below {
            "" if shown.is_empty() || shown.ends_with('\n') => "\n",
            "" => "",
            below if below.starts_with('\n') => "\n",
            _ if begins_section(at) && tight => "\n",
            _ => "\n\n",
        };
        let edited = self.write_section(&TextChange::new(at..at, format!("{lead}{text}{trail}")))?;
        // A rule at the very start would be read as properties.
        if edited.document.frontmatter().is_some() == note.frontmatter.is_some() {
            return Ok(edited);
        }
        // A line break before it keeps it from being the first line.
        self.write_section(&TextChange::new(at..at, format!("\n{text}{trail}")))
    }
}

fn whole_section(heading: &Heading) -> SectionEdit<'_> {
    SectionEdit { heading, part: SectionPart::Subtree, blanks: BlankLines::Kept }
}

/// Refuses a place where the headings and the named blocks of the text would not be parsed as such.
fn check_read(text: &str, edited: &EditResult) -> Result<(), EditError> {
    let below = format!("\n{}", text.trim_matches('\n'));
    let own = Note::parse(&below);
    let note = edited.document.note();
    let there = |at: usize| edited.span.contains(&at);
    let headings = note.headings.iter().filter(|heading| there(heading.section.start));
    let blocks = note.blocks.iter().filter(|block| there(block.marker.start));
    let same_headings = headings
        .map(|heading| (heading.level, &heading.text))
        .eq(own.headings.iter().map(|heading| (heading.level, &heading.text)));
    if same_headings && blocks.map(|block| &block.id).eq(own.blocks.iter().map(|block| &block.id)) {
        return Ok(());
    }
    Err(EditError::HeadingsLost)
}

/// Refuses a part that is read differently on its own: half a fence, comment or formula, and lines that are headings only outside
/// of one.
fn check_cut(note: &Note<'_>, part: &Range<usize>) -> Result<(), EditError> {
    let fences = note.code.iter().filter(|code| matches!(code.kind, CodeKind::Fenced { .. })).map(|code| &code.span);
    let comments = note.comments.iter().map(|comment| &comment.span);
    let mut spans = fences.chain(comments).chain(note.math.iter().map(|math| &math.span));
    let cuts = |span: &Range<usize>| [part.start, part.end].iter().any(|end| span.start < *end && *end < span.end);
    let below = format!("\n{}", dedented(&plain_line_ends(&note.text[part.clone()])));
    let own = Note::parse(&below);
    if spans.any(cuts) || !own.headings.iter().map(|heading| &heading.text).eq(headings(note, |at| part.contains(&at)))
    {
        return Err(EditError::CutsBlock);
    }
    Ok(())
}

/// Refuses to take out a part without which the rest would have other headings.
fn check_rest(before: &Note<'_>, part: &Range<usize>, after: &Note<'_>) -> Result<(), EditError> {
    let is_same = headings(before, |at| !part.contains(&at)).eq(headings(after, |_| true));
    if is_same { Ok(()) } else { Err(EditError::CutsBlock) }
}

fn headings<'n>(note: &'n Note<'_>, wanted: impl Fn(usize) -> bool) -> impl Iterator<Item = &'n String> {
    note.headings.iter().filter(move |heading| wanted(heading.section.start)).map(|heading| &heading.text)
}

/// Whole lines of a block with its id; of an item with the lists in it, and of a heading with its section.
fn block_lines(note: &Note<'_>, block: &Block) -> Range<usize> {
    let own = match block.kind {
        BlockKind::Heading => {
            note.headings.iter().find(|heading| heading.span == block.span).map(|found| &found.section)
        }
        BlockKind::Item => note.items.iter().find(|item| item.span == block.span).map(|found| &found.whole),
        _ => None,
    };
    let own = own.unwrap_or(&block.span);
    let text = note.text.get(own.clone()).unwrap_or_default();
    let end = if block.kind == BlockKind::Heading { own.end } else { own.start + text.trim_end().len() };
    whole_lines(note.text, own.start.min(block.marker.start)..end.max(block.marker.end))
}

/// Where the text below the properties begins.
fn text_start(note: &Note<'_>) -> usize {
    let end = note.frontmatter.as_ref().map_or(0, |block| block.span.end);
    if end == 0 || note.text[..end].ends_with('\n') { end } else { line_behind(note.text, end) }
}

/// The start of the line after the one that contains `at`.
fn line_behind(text: &str, at: usize) -> usize {
    (line_end(text, at) + 1).min(text.len())
}

/// An item of a list in another, with its lines moved to the margin.
fn dedented(text: &str) -> String {
    let first = text.trim_start_matches('\n');
    let indent = &first[..first.len() - first.trim_start_matches([' ', '\t']).len()];
    // A line with less indentation is not part of the item.
    let all = || text.lines().all(|line| line.trim().is_empty() || line.starts_with(indent));
    if indent.is_empty() || !begins_with_item(&first[indent.len()..]) || !all() {
        return text.to_owned();
    }
    text.split_inclusive('\n').map(|line| line.strip_prefix(indent).unwrap_or(line)).collect()
}

/// A heading as it is written at another level.
fn at_level(text: &str, heading: &Heading, level: u8) -> String {
    let written = &text[heading.span.clone()];
    let marks = "#".repeat(usize::from(level));
    match heading.style {
        HeadingStyle::Setext if level <= 2 => {
            let (words, underline) = written.split_once('\n').unwrap_or((written, ""));
            let mark = if level == 1 { "=" } else { "-" };
            // As long as it was, so that underlined headings keep their look.
            format!("{words}\n{}", mark.repeat(underline.len()))
        }
        HeadingStyle::Setext => format!("{marks} {}", heading.text),
        HeadingStyle::Atx => format!("{marks}{}", written.trim_start_matches('#')),
        HeadingStyle::ClosedAtx => format!("{marks}{}{marks}", written.trim_matches('#')),
    }
}

#[cfg(test)]
mod tests;
