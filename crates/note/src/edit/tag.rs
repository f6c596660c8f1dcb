use std::ops::Range;

use super::{Change, EditError, Edited, apply, begins_line, block::Marker, outline::frame, preview};
use crate::{BlockKind, Note, Text, tags::tag_length};

/// Gives tags in the text another name. Each span is one `#tag`; they are in order.
pub fn rename_tags(file: &[u8], text: &Text<'_>, tags: &[Range<usize>], new_name: &str) -> Result<Edited, EditError> {
    let new_name = checked(new_name)?;
    let change = |tag: &Range<usize>| Change::new(tag.clone(), format!("#{new_name}"));
    write(file, text, &tags.iter().map(change).collect::<Vec<_>>(), new_name, Expected::Renamed)
}

/// Takes tags out of the text, each with at most one space beside it. Each span is one `#tag`; they are in order.
pub fn remove_tags(file: &[u8], text: &Text<'_>, tags: &[Range<usize>]) -> Result<Edited, EditError> {
    let shown = text.shown();
    let mut changes: Vec<Change> = Vec::with_capacity(tags.len());
    // From the back: whether a tag ends its line depends on what is left behind it.
    for tag in tags.iter().rev() {
        let next = changes.last().map(|change| change.span.clone()).filter(|next| next.start == tag.end);
        let after = next.as_ref().map_or(tag.end, |next| next.end);
        let (Some(before), Some(after)) = (shown.get(..tag.start), shown.get(after..)) else {
            return Err(EditError::OutsideText { span: tag.clone(), length: shown.len() });
        };
        let span =
            with_one_space(before, tag.clone(), if next.is_some() { after.trim_start_matches(' ') } else { after });
        changes.push(Change::new(span, ""));
    }
    changes.reverse();
    let removed = tags.first().and_then(|tag| shown.get(tag.start + 1..tag.end)).unwrap_or_default();
    write(file, text, &changes, removed, Expected::Fewer)
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

/// Writes a tag at a place, with the spaces it needs to stand alone. At a block id it goes before it, as an id behind
/// which anything stands is none.
pub fn insert_tag(file: &[u8], text: &Text<'_>, at: usize, name: &str) -> Result<Edited, EditError> {
    let name = checked(name)?;
    let shown = text.shown();
    let at = before_id(shown, at)?;
    let (Some(before), Some(after)) = (shown.get(..at), shown.get(at..)) else {
        return Err(EditError::OutsideText { span: at..at, length: shown.len() });
    };
    let lead = if before.is_empty() || before.ends_with(char::is_whitespace) { "" } else { " " };
    let trail = if after.is_empty() || after.starts_with(char::is_whitespace) { "" } else { " " };
    write(file, text, &[Change::new(at..at, format!("{lead}#{name}{trail}"))], name, Expected::More(1))
}

/// The place, or the end of the text before the block id that it stands in or behind.
fn before_id(shown: &str, at: usize) -> Result<usize, EditError> {
    for block in Note::parse(shown).blocks {
        let marker = Marker::within(shown, &block, &block.span)?;
        let (text_end, id_start) = if marker.is_inside() {
            let text_end = block.marker.end - marker.tail.len();
            (text_end, text_end)
        } else {
            (block.span.end, block.marker.start)
        };
        // Only a paragraph and its like take more text at their end.
        let takes_text = marker.is_inside() || block.kind == BlockKind::Paragraph;
        if takes_text && (id_start..=block.marker.end).contains(&at) {
            return Ok(text_end);
        }
    }
    Ok(at)
}

/// Writes tags on a line of their own at the end of the note.
pub fn append_tags(file: &[u8], text: &Text<'_>, names: &[&str]) -> Result<Edited, EditError> {
    let shown = text.shown();
    let tags: Vec<String> =
        names.iter().map(|name| Ok(format!("#{}", checked(name)?))).collect::<Result<_, EditError>>()?;
    if tags.is_empty() {
        return apply(file, text, &[]);
    }
    let lead = if begins_line(shown, shown.len()) { "" } else { "\n" };
    let first = names.first().copied().unwrap_or_default();
    let append = |blank: &str| {
        let change = Change::new(shown.len()..shown.len(), format!("{lead}{blank}{}\n", tags.join(" ")));
        write(file, text, &[change], first, Expected::More(tags.len()))
    };
    // Right below a table or a block id, the line would become a part of it.
    append("").or_else(|_| append("\n"))
}

/// What an edit does to the number of tags.
#[derive(Clone, Copy)]
enum Expected {
    Renamed,
    Fewer,
    More(usize),
}

/// Makes the changes if the tags in them are read as such, and the others as before.
fn write(file: &[u8], text: &Text<'_>, changes: &[Change], tag: &str, expected: Expected) -> Result<Edited, EditError> {
    let shown = text.shown();
    let Some(edited) = preview(shown, changes) else { return apply(file, text, changes) };
    let names =
        |text: &str| -> Vec<String> { Note::parse(text).tags.iter().map(|tag| text[tag.name()].to_owned()).collect() };
    let (before, after) = (names(shown), names(&edited));
    let count = |names: &[String]| names.iter().filter(|name| *name == tag).count();
    let spans: Vec<Range<usize>> = Note::parse(shown).tags.iter().map(|tag| tag.span.clone()).collect();
    let are_tags = changes.iter().all(|change| spans.contains(&change.span));
    let right = match expected {
        Expected::Renamed => are_tags && before.len() == after.len() && count(&after) >= changes.len(),
        Expected::Fewer => before.len() == after.len() + changes.len(),
        Expected::More(tags) => before.len() + tags == after.len(),
    };
    if right && frame(shown) == frame(&edited) {
        apply(file, text, changes)
    } else {
        Err(EditError::TagLost { tag: tag.to_owned() })
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
            check(before, after, |file, text| rename_tags(file, text, &places(text.shown()), new));
        }
        for bad in ["", "#", "12", "a b", "a#b", "a.b", "a\nb", "##a"] {
            refuse("#t\n", &EditError::BadTag { tag: bad.to_owned() }, |file, text| {
                rename_tags(file, text, &places(text.shown()), bad)
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
            check(before, after, |file, text| remove_tags(file, text, &places(text.shown())));
        }
    }

    #[test]
    fn tags_are_added_at_a_place_or_at_the_end() {
        for (before, at, after) in
            [("a b\n", 1, "a #n b\n"), ("ab\n", 1, "a #n b\n"), ("a\n", 1, "a #n\n"), ("a\n", 0, "#n a\n")]
        {
            check(before, after, |file, text| insert_tag(file, text, at, "n"));
        }
        for (before, at, after) in [
            ("a ^id\n", 5, "a #n ^id\n"),
            ("a ^id\n", 3, "a #n ^id\n"),
            ("a ^id\n", 2, "a #n ^id\n"),
            ("a ^id\n", 1, "a #n ^id\n"),
            ("- [ ] a ^id\n- b\n", 11, "- [ ] a #n ^id\n- b\n"),
            ("a\n^id\n", 5, "a #n\n^id\n"),
            ("a\n\n^id\n\nb\n", 6, "a #n\n\n^id\n\nb\n"),
            ("# H ^id\n", 7, "# H #n ^id\n"),
            ("> q\n> ^id\n", 9, "> q #n\n> ^id\n"),
        ] {
            check(before, after, |file, text| insert_tag(file, text, at, "n"));
        }
        refuse("```\nc\n```\n\n^id\n", &EditError::TagLost { tag: "n".into() }, |file, text| {
            insert_tag(file, text, 14, "n")
        });
        for (before, after) in [("a\n", "a\n#n #m\n"), ("a", "a\n#n #m\n"), ("", "#n #m\n")] {
            check(before, after, |file, text| append_tags(file, text, &["n", "#m"]));
        }
    }
}
