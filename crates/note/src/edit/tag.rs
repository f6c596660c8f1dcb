//! Edits of tags in the text.

use std::{collections::HashSet, ops::Range};

use super::{EditError, EditResult, TextChange, begins_line, outline::same_frame};
use crate::{
    Document, Note,
    span::{line_end, line_start},
    tags::tag_length,
};

/// Changes of tags in the text, and what must be parsed afterwards.
pub(super) struct TagChanges {
    pub(super) changes: Vec<TextChange>,
    /// Without its `#`.
    tag: String,
    expected: ExpectedTags,
}

/// How an edit changes the number of tags.
#[derive(Clone, Copy)]
enum ExpectedTags {
    Renamed,
    Fewer,
    More(usize),
}

impl Document {
    /// Renames tags in the text. Each span is one `#tag`; they are in order.
    pub fn rename_tags(&self, tags: &[Range<usize>], new_name: &str) -> Result<EditResult, EditError> {
        self.write_tags(TagChanges::renaming(self, tags, new_name)?)
    }

    /// Removes tags from the text, each with at most one adjacent space. Each span is one `#tag`; they are in order.
    pub fn remove_tags(&self, tags: &[Range<usize>]) -> Result<EditResult, EditError> {
        self.write_tags(TagChanges::removing(self, tags)?)
    }

    /// Writes tags on their own line at the end of the note.
    pub fn append_tags(&self, names: &[&str]) -> Result<EditResult, EditError> {
        let mut ways = TagChanges::appending(self, names)?.into_iter().map(|way| self.write_tags(way));
        let first = ways.next().unwrap_or_else(|| Ok(self.unchanged()));
        // The first refusal is reported: it is about the place that fits best.
        first.or_else(|refused| ways.find_map(Result::ok).ok_or(refused))
    }

    /// Makes the changes if the tags in them are parsed as such, and the others are unchanged.
    fn write_tags(&self, tags: TagChanges) -> Result<EditResult, EditError> {
        if tags.changes.is_empty() {
            return Ok(self.unchanged());
        }
        let draft = self.draft(tags.changes.clone())?;
        if tags.are_read(&self.note(), &draft.note()) {
            draft.finish()
        } else {
            Err(EditError::TagLost { tag: tags.tag })
        }
    }
}

impl TagChanges {
    pub(super) fn renaming(document: &Document, tags: &[Range<usize>], new_name: &str) -> Result<Self, EditError> {
        // Before the document is looked at: a bad name is wrong everywhere.
        let new_name = checked(new_name)?;
        let change = |tag: &Range<usize>| Ok(TextChange::new(tag.clone(), format!("#{new_name}")));
        let changes = document.gathered(tags.iter().map(change))?;
        Ok(Self { changes, tag: new_name.to_owned(), expected: ExpectedTags::Renamed })
    }

    pub(super) fn removing(document: &Document, tags: &[Range<usize>]) -> Result<Self, EditError> {
        let shown = document.shown();
        let mut changes: Vec<TextChange> = Vec::with_capacity(tags.len());
        // From the end: whether a tag ends its line depends on the text left after it.
        for tag in tags.iter().rev() {
            // Two tags side by side leave one gap, so the text behind both decides.
            let next = changes.last().map(|change| change.span.clone()).filter(|next| next.start == tag.end);
            let after = next.as_ref().map_or(tag.end, |next| next.end);
            let (Some(before), Some(after)) = (shown.get(..tag.start), shown.get(after..)) else {
                return Err(document.outside(tag.clone()));
            };
            let span =
                with_one_space(before, tag.clone(), if next.is_some() { after.trim_start_matches(' ') } else { after });
            changes.push(TextChange::new(span, ""));
        }
        // Changes have to be in the order of the text.
        changes.reverse();
        take_emptied_lines(shown, &mut changes);
        let removed = tags.first().and_then(|tag| shown.get(tag.start + 1..tag.end)).unwrap_or_default();
        Ok(Self { changes, tag: removed.to_owned(), expected: ExpectedTags::Fewer })
    }

    /// After the tags that end the note, otherwise right below its last line; with a blank line between, if that is not
    /// plain text and would absorb the tags.
    pub(super) fn appending(document: &Document, names: &[&str]) -> Result<Vec<Self>, EditError> {
        let shown = document.shown();
        let tags: Vec<String> =
            names.iter().map(|name| Ok(format!("#{}", checked(name)?))).collect::<Result<_, EditError>>()?;
        if tags.is_empty() {
            return Ok(Vec::new());
        }
        let way = |change: TextChange| Self {
            changes: vec![change],
            tag: names.first().copied().unwrap_or_default().to_owned(),
            expected: ExpectedTags::More(tags.len()),
        };
        // A note may end without a line break.
        let lead = if begins_line(shown, shown.len()) { "" } else { "\n" };
        let line = |blank: &str| format!("{lead}{blank}{}\n", tags.join(" "));
        let below = |blank: &str| way(TextChange::new(shown.len()..shown.len(), line(blank)));
        let text_end = shown.trim_end().len();
        let last_line = &shown[line_start(shown, text_end)..text_end];
        let are_tags = |line: &str| line.starts_with('#') && line.split(' ').all(is_tag);
        Ok(match last_line {
            line if are_tags(line) => {
                let behind = TextChange::new(text_end..text_end, format!(" {}", tags.join(" ")));
                vec![way(behind), below("\n")]
            }
            // Each way is tried in turn; the first whose parse has exactly the new tags is taken.
            _ if ends_plainly(shown) => vec![below(""), below("\n")],
            _ => vec![below("\n"), below("")],
        })
    }

    /// Whether the tags are as intended in `after`, and everything else is parsed as in `before`.
    pub(super) fn are_read(&self, before: &Note<'_>, after: &Note<'_>) -> bool {
        let (old, new) = (before.tags.len(), after.tags.len());
        let right = match self.expected {
            ExpectedTags::Renamed => {
                let known: HashSet<(usize, usize)> =
                    before.tags.iter().map(|tag| (tag.span.start, tag.span.end)).collect();
                let is_tag = |change: &TextChange| known.contains(&(change.span.start, change.span.end));
                let named = after.tags.iter().filter(|tag| after.text[tag.name()] == self.tag).count();
                // Others of the name may have been there before.
                old == new && named >= self.changes.len() && self.changes.iter().all(is_tag)
            }
            ExpectedTags::Fewer => old == new + self.changes.len(),
            ExpectedTags::More(tags) => old + tags == new,
        };
        right && same_frame(before, after)
    }
}

/// The tag and the space that would be redundant without it.
fn with_one_space(before: &str, tag: Range<usize>, after: &str) -> Range<usize> {
    let alone_before = before.is_empty() || before.ends_with(char::is_whitespace);
    if alone_before && after.starts_with(' ') {
        return tag.start..tag.end + 1;
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    // The space after a list marker, a task box, a quote mark or heading marks belongs to them.
    let words = line.trim_start_matches(|c: char| c.is_whitespace() || c.is_ascii_digit() || "->*+.)#".contains(c));
    let is_prefix = words.is_empty() || (words.starts_with('[') && words.trim_end().chars().count() == 3);
    let ends_here = after.is_empty() || after.starts_with(['\n', '.', ',', ';', ':', '!', '?', ')']);
    if line.ends_with(' ') && !is_prefix && ends_here { tag.start - 1..tag.end } else { tag }
}

/// Whether a text ends in plain lines, which a line of tags can follow, and not in a list, a quote, a table or HTML.
fn ends_plainly(shown: &str) -> bool {
    // A heading, an underline and the end of the properties leave nothing open either.
    let is_end = |line: &str| line.trim().is_empty() || line.starts_with('#') || line.chars().all(|c| "-=".contains(c));
    let mut lines = shown.trim_end_matches('\n').rsplit('\n').take_while(|line| !is_end(line));
    lines.all(|line| {
        let is_numbered = line.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['.', ')']);
        !line.starts_with([' ', '\t', '-', '*', '+', '>', '<']) && !line.contains('|') && !is_numbered
    })
}

/// A line that has only the removed tags is removed as a whole.
fn take_emptied_lines(shown: &str, changes: &mut [TextChange]) {
    let mut index = 0;
    while index < changes.len() {
        let (start, end) = (line_start(shown, changes[index].span.start), line_end(shown, changes[index].span.start));
        let here = changes[index..].iter().take_while(|change| change.span.start < end).count().max(1);
        let (first, last) = (index, index + here - 1);
        index += here;
        let mut kept = start;
        let is_empty = changes[first..=last].iter().all(|change| {
            let between = shown.get(kept..change.span.start).unwrap_or_default();
            kept = change.span.end;
            between.trim().is_empty()
        }) && shown.get(kept..end).unwrap_or_default().trim().is_empty();
        if is_empty {
            let end = (end + 1).min(shown.len());
            // At the end of a note, the blank line before them is removed too.
            let blank_line = end == shown.len() && shown[..start].ends_with("\n\n");
            changes[first].span.start = start - usize::from(blank_line);
            changes[last].span.end = end;
        }
    }
}

/// A tag without its `#`.
pub(super) fn tag_name(given: &str) -> &str {
    given.strip_prefix('#').unwrap_or(given)
}

/// Whether Obsidian reads this, with or without its `#`, as one tag.
pub fn is_tag(name: &str) -> bool {
    checked(name).is_ok()
}

/// A name that Obsidian reads as one tag, without its `#`.
pub(super) fn checked(name: &str) -> Result<&str, EditError> {
    let bare = tag_name(name);
    let whole = tag_length(bare) == bare.len() && bare.split('/').all(|name| !name.is_empty());
    if whole { Ok(bare) } else { Err(EditError::BadTag { tag: name.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::variants::{check, refuse};

    /// The places of `#t` in a text.
    fn places(shown: &str) -> Vec<Range<usize>> {
        shown.match_indices("#t").map(|(at, tag)| at..at + tag.len()).collect()
    }

    #[test]
    fn a_tag_is_renamed_and_nothing_else() {
        for (before, new, after) in [
            ("a #t b\n", "new", "a #new b\n"),
            ("#t #t\n#t\n", "#x/y", "#x/y #x/y\n#x/y\n"),
            ("**#t**#t", "größe", "**#größe**#größe"),
        ] {
            check(before, after, |document| document.rename_tags(&places(document.shown()), new));
        }
        for bad in ["", "#", "12", "a b", "a#b", "a.b", "a\nb", "##a"] {
            refuse("#t\n", &EditError::BadTag { tag: bad.to_owned() }, |document| {
                document.rename_tags(&places(document.shown()), bad)
            });
        }
    }

    #[test]
    fn a_removed_tag_takes_one_space_and_no_more() {
        for (before, after) in [
            ("a #t b\n", "a b\n"),
            ("#t b\n", "b\n"),
            ("a #t\n", "a\n"),
            ("a #t", "a"),
            ("a #t.\n", "a.\n"),
            ("a  #t  b\n", "a   b\n"),
            ("  #t  x\n", "   x\n"),
            ("- #t\n", "- \n"),
            ("- [ ] #t\n", "- [ ] \n"),
            ("- [ ] do #t\n", "- [ ] do\n"),
            ("> #t\n", "> \n"),
            ("## #t\n", "## \n"),
            ("1. #t\n", "1. \n"),
            ("**b**#t c\n", "**b** c\n"),
            ("x #t#b\n", "x #b\n"),
            ("#t\n", ""),
            ("a\n#t\n", "a\n"),
            ("a\n#t #t\nb\n", "a\nb\n"),
            ("- a\n\n#t\n", "- a\n"),
            ("a #t #t b\n", "a b\n"),
            ("a #t #t\n", "a\n"),
            ("a #t\n\n\tkeep   this  \n", "a\n\n\tkeep   this  \n"),
        ] {
            check(before, after, |document| document.remove_tags(&places(document.shown())));
        }
    }

    #[test]
    fn tags_are_added_at_the_end() {
        for (before, after) in [
            ("a\n", "a\n#n #m\n"),
            ("a", "a\n#n #m\n"),
            ("", "#n #m\n"),
            ("a\n#x #y\n", "a\n#x #y #n #m\n"),
            ("- a\n", "- a\n\n#n #m\n"),
            ("1. a\n", "1. a\n\n#n #m\n"),
            ("> a\n", "> a\n\n#n #m\n"),
            ("| h |\n| - |\n", "| h |\n| - |\n\n#n #m\n"),
            ("h | i\n- | -\n1 | 2\n", "h | i\n- | -\n1 | 2\n\n#n #m\n"),
            ("<div>\n", "<div>\n\n#n #m\n"),
        ] {
            check(before, after, |document| document.append_tags(&["n", "#m"]));
        }
    }
}
