use std::{collections::HashSet, ops::Range};

use super::{Change, EditError, Edited, begins_line, outline::same_frame};
use crate::{Document, Note, tags::tag_length};

/// Changes of tags in the text, and what has to be read afterwards.
pub(super) struct TagChanges {
    pub(super) changes: Vec<Change>,
    /// Without its `#`.
    tag: String,
    expected: ExpectedTags,
}

/// What an edit does to the number of tags.
#[derive(Clone, Copy)]
enum ExpectedTags {
    Renamed,
    Fewer,
    More(usize),
}

impl Document {
    /// Gives tags in the text another name. Each span is one `#tag`; they are in order.
    pub fn rename_tags(&self, tags: &[Range<usize>], new_name: &str) -> Result<Edited, EditError> {
        self.write_tags(TagChanges::renaming(self, tags, new_name)?)
    }

    /// Takes tags out of the text, each with at most one space beside it. Each span is one `#tag`; they are in order.
    pub fn remove_tags(&self, tags: &[Range<usize>]) -> Result<Edited, EditError> {
        self.write_tags(TagChanges::removing(self, tags)?)
    }

    /// Writes tags on a line of their own at the end of the note.
    pub fn append_tags(&self, names: &[&str]) -> Result<Edited, EditError> {
        let [right_below, blank_line] = TagChanges::appending(self, names)?;
        self.write_tags(right_below).or_else(|_| self.write_tags(blank_line))
    }

    /// Makes the changes if the tags in them are read as such, and the others as before.
    fn write_tags(&self, tags: TagChanges) -> Result<Edited, EditError> {
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
        let new_name = checked(new_name)?;
        let change = |tag: &Range<usize>| Ok(Change::new(tag.clone(), format!("#{new_name}")));
        let changes = document.gathered(tags.iter().map(change))?;
        Ok(Self { changes, tag: new_name.to_owned(), expected: ExpectedTags::Renamed })
    }

    pub(super) fn removing(document: &Document, tags: &[Range<usize>]) -> Result<Self, EditError> {
        let shown = document.shown();
        let mut changes: Vec<Change> = Vec::with_capacity(tags.len());
        // From the back: whether a tag ends its line depends on what is left behind it.
        for tag in tags.iter().rev() {
            let next = changes.last().map(|change| change.span.clone()).filter(|next| next.start == tag.end);
            let after = next.as_ref().map_or(tag.end, |next| next.end);
            let (Some(before), Some(after)) = (shown.get(..tag.start), shown.get(after..)) else {
                return Err(document.outside(tag.clone()));
            };
            let span =
                with_one_space(before, tag.clone(), if next.is_some() { after.trim_start_matches(' ') } else { after });
            changes.push(Change::new(span, ""));
        }
        changes.reverse();
        let removed = tags.first().and_then(|tag| shown.get(tag.start + 1..tag.end)).unwrap_or_default();
        Ok(Self { changes, tag: removed.to_owned(), expected: ExpectedTags::Fewer })
    }

    /// Right below the last line, and with a blank line between: below a table or a block id, the line would become a
    /// part of it.
    pub(super) fn appending(document: &Document, names: &[&str]) -> Result<[Self; 2], EditError> {
        let shown = document.shown();
        let tags: Vec<String> =
            names.iter().map(|name| Ok(format!("#{}", checked(name)?))).collect::<Result<_, EditError>>()?;
        let lead = if begins_line(shown, shown.len()) { "" } else { "\n" };
        let line = |blank: &str| format!("{lead}{blank}{}\n", tags.join(" "));
        let change = |blank: &str| Change::new(shown.len()..shown.len(), line(blank));
        Ok(["", "\n"].map(|blank| Self {
            changes: if tags.is_empty() { Vec::new() } else { vec![change(blank)] },
            tag: names.first().copied().unwrap_or_default().to_owned(),
            expected: ExpectedTags::More(tags.len()),
        }))
    }

    /// Whether the tags are there as they should be in `after`, and all else is read as in `before`.
    pub(super) fn are_read(&self, before: &Note<'_>, after: &Note<'_>) -> bool {
        let (old, new) = (before.tags.len(), after.tags.len());
        let right = match self.expected {
            ExpectedTags::Renamed => {
                let known: HashSet<(usize, usize)> =
                    before.tags.iter().map(|tag| (tag.span.start, tag.span.end)).collect();
                let is_tag = |change: &Change| known.contains(&(change.span.start, change.span.end));
                let named = after.tags.iter().filter(|tag| after.text[tag.name()] == self.tag).count();
                old == new && named >= self.changes.len() && self.changes.iter().all(is_tag)
            }
            ExpectedTags::Fewer => old == new + self.changes.len(),
            ExpectedTags::More(tags) => old + tags == new,
        };
        right && same_frame(before, after)
    }
}

/// The tag and the space that would be one too many without it.
fn with_one_space(before: &str, tag: Range<usize>, after: &str) -> Range<usize> {
    let alone_before = before.is_empty() || before.ends_with(char::is_whitespace);
    if alone_before && after.starts_with(' ') {
        return tag.start..tag.end + 1;
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    // The space behind a list marker, a task box, a quote mark or heading marks belongs to them.
    let words = line.trim_start_matches(|c: char| c.is_whitespace() || c.is_ascii_digit() || "->*+.)#".contains(c));
    let is_prefix = words.is_empty() || (words.starts_with('[') && words.trim_end().chars().count() == 3);
    let ends_here = after.is_empty() || after.starts_with(['\n', '.', ',', ';', ':', '!', '?', ')']);
    if line.ends_with(' ') && !is_prefix && ends_here { tag.start - 1..tag.end } else { tag }
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
    let whole = !bare.is_empty() && tag_length(bare) == bare.len();
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
            ("#t\n", "\n"),
            ("a #t #t b\n", "a b\n"),
            ("a #t #t\n", "a\n"),
            ("a #t\n\n\tkeep   this  \n", "a\n\n\tkeep   this  \n"),
        ] {
            check(before, after, |document| document.remove_tags(&places(document.shown())));
        }
    }

    #[test]
    fn tags_are_added_at_the_end() {
        for (before, after) in [("a\n", "a\n#n #m\n"), ("a", "a\n#n #m\n"), ("", "#n #m\n")] {
            check(before, after, |document| document.append_tags(&["n", "#m"]));
        }
    }
}
