//! Creates headings and blocks that an edit needs and the note lacks.

use super::{
    DocumentDraft, EditError, EditResult, TextChange, block_id,
    outline::{keeps_blocks, keeps_others, outline_paths},
    section::TextEnding,
};
use crate::{Document, Heading, HeadingMatch, Note, headings::HeadingName, text::plain_line_ends};

impl Document {
    /// Adds the missing headings of a path (`A::B`), and text under the last of them.
    ///
    /// They go to the end of the section that the existing start of the path leads to, each one level deeper; without
    /// one to the end of the note, on the level of its outermost headings, or on that of the given marks (`## A`).
    pub fn append_heading(&self, path: &str, content: &str) -> Result<EditResult, EditError> {
        let shown = self.shown();
        let note = self.note();
        if note.find_heading(path) != HeadingMatch::None {
            return Err(EditError::HeadingTaken { path: path.to_owned() });
        }
        let lost = |name: &str| EditError::HeadingLost { text: name.to_owned() };
        let HeadingName { text: path, level: marked } = HeadingName::read(path, "::");
        let path = &*path;
        let names: Vec<&str> = path.split("::").collect();
        // These would be read as another path, or as several lines.
        if let Some(bad) =
            names.iter().find(|name| name.is_empty() || name.starts_with(':') || name.contains(['\n', '\r']))
        {
            return Err(lost(bad));
        }
        let (parent, known) = parent(&note, &names)?;
        let outermost = note.headings.iter().map(|heading| heading.level).min().unwrap_or(1);
        // The level of a mark is only known for a heading without parents.
        let marked = marked.filter(|_| names.len() == 1);
        let level = parent.map_or(marked.unwrap_or(outermost), |parent| parent.level + 1);
        let missing = &names[known..];
        // Six levels are all that Markdown has.
        let depth = usize::from(level) + missing.len() - 1;
        if depth > 6 {
            return Err(EditError::TooDeep { path: path.to_owned() });
        }
        let end = parent.map_or(shown.len(), |parent| parent.section.end);
        let headings: Vec<String> = missing
            .iter()
            .enumerate()
            .map(|(below, name)| format!("{} {name}", "#".repeat(usize::from(level) + below)))
            .collect();
        let mut new = format!("{}{}", separator(&note, end), headings.join("\n"));
        if !content.is_empty() {
            new.push('\n');
            new += &plain_line_ends(content);
        }
        end_lines(&mut new, shown, end);
        let change = TextChange::new(end..end, new);
        let added = end..end + change.text.len();
        let text_end = end + change.text.trim_end().len();

        // A draft that cannot be parsed is refused in the words of the heading.
        let draft = self.draft(vec![change]).map_err(|_| lost(path))?;
        let after = draft.note();
        let mut expected: Vec<&str> = parent.map_or_else(Vec::new, |parent| note.heading_path(parent));
        expected.extend(missing);
        // With an explicit level it may end up below another.
        let is_there = |heading: &&Heading| {
            let path = after.heading_path(heading);
            if marked.is_some() { path.ends_with(&expected) } else { path == expected }
        };
        let created = after.headings.iter().filter(|heading| heading.section.start >= added.start).find(is_there);
        // The given name must lead there from now on.
        let is_found = created.is_some_and(|created| after.find_heading(path) == HeadingMatch::One(created));
        // Text of the caller may end the section, for instance with a heading of a higher level.
        let holds = created.is_some_and(|created| created.section.end >= text_end);
        if !is_found || !holds {
            return Err(match TextEnding::of(&shown[..end]) {
                TextEnding::Open => EditError::Unclosed,
                _ => lost(names.last().copied().unwrap_or_default()),
            });
        }
        if outline_paths(&note, &(0..0)) != outline_paths(&after, &added) || !keeps_blocks(&note, &after, &(end..end)) {
            return Err(EditError::HeadingsLost);
        }
        drop(after);
        draft.finish()
    }

    /// Adds a named block at the end of the note. The name ends the text if that makes one block of it, otherwise it
    /// gets a separate line below.
    pub fn append_block(&self, id: &str, content: &str) -> Result<EditResult, EditError> {
        let shown = self.shown();
        let note = self.note();
        let id = block_id::valid(id)?;
        block_id::free(&note, id)?;
        let content = plain_line_ends(content);
        let content = content.trim_matches('\n').trim_end();
        let end = shown.len();
        let separator = separator(&note, end);
        let change = |marker: &str| {
            let mut new = format!("{separator}{content}{marker}");
            end_lines(&mut new, shown, end);
            TextChange::new(end..end, new)
        };
        // The new text must be exactly one block with this name, and no other block may change.
        let is_right = |draft: &DocumentDraft<'_>| {
            let start = end + separator.len();
            let whole = start + content.len() - content.trim_start().len()..start + content.len();
            let after = draft.note();
            let mut found = after.blocks.iter().filter(|block| block.id == id);
            let named =
                found.next().is_some_and(|block| block.span.start == whole.start && block.span.end >= whole.end);
            named && found.next().is_none() && keeps_others(&note, &after, &(end..end))
        };
        let lost = || EditError::BlockLost { id: id.to_owned() };
        if content.is_empty() {
            return Err(lost());
        }
        // First the form that people write, then the one that works for lists, tables and code.
        let changes = [change(&format!(" ^{id}")), change(&format!("\n\n^{id}"))];
        let mut drafts = changes.into_iter().filter_map(|change| self.draft(vec![change]).ok());
        drafts.find(is_right).ok_or_else(lost)?.finish()
    }
}

/// The heading that the longest existing start of a path leads to, and how many of its names that covers.
fn parent<'n>(note: &'n Note<'_>, names: &[&str]) -> Result<(Option<&'n Heading>, usize), EditError> {
    // The longest first, so that as little as possible is created.
    for known in (1..names.len()).rev() {
        let path = names[..known].join("::");
        match note.find_heading(&path) {
            HeadingMatch::One(heading) => return Ok((Some(heading), known)),
            HeadingMatch::Several(_) => return Err(EditError::AmbiguousHeading { path }),
            HeadingMatch::None => {}
        }
    }
    Ok((None, 0))
}

/// What turns the end of a text into a blank line, unless the text is empty.
fn separator(note: &Note<'_>, end: usize) -> &'static str {
    let before = &note.text[..end];
    let body = note.frontmatter.as_ref().map_or(0, |block| block.span.end);
    match before {
        "" | "\n" => "",
        // Properties need no blank line after them.
        _ if body >= end => {
            if before.ends_with('\n') {
                ""
            } else {
                "\n"
            }
        }
        _ if before.ends_with("\n\n") => "",
        _ if before.ends_with('\n') => "\n",
        _ => "\n\n",
    }
}

/// Ends the last line if the note does so, and leaves a blank line before the following text.
fn end_lines(new: &mut String, shown: &str, end: usize) {
    let follows = end < shown.len();
    if (follows || shown.is_empty() || shown.ends_with('\n')) && !new.ends_with('\n') {
        new.push('\n');
    }
    if follows && !new.ends_with("\n\n") {
        new.push('\n');
    }
}

#[cfg(test)]
mod tests;
