//! Heading marks in a text, relative to the section that it goes into.

use crate::{HeadingStyle, Note, edit::TextChange, edit::preview};

/// The deepest heading of Markdown.
const DEEPEST: usize = 6;

/// A text whose headings are this many levels deeper, or less deep, and those that are too deep to be headings then. An
/// underlined heading has no marks to count.
pub fn relevelled(text: &str, deeper: isize) -> (String, Vec<(String, usize)>) {
    if deeper == 0 || !text.contains('#') {
        return (text.to_owned(), Vec::new());
    }
    // Below a line end, so that no properties are read at its start.
    let below = format!("\n{text}");
    let note = Note::parse(&below);
    let (mut changes, mut too_deep) = (Vec::new(), Vec::new());
    for heading in note.headings.iter().filter(|heading| heading.style != HeadingStyle::Setext) {
        let level = usize::from(heading.level);
        let wanted = level.saturating_add_signed(deeper).max(1);
        if wanted > DEEPEST {
            too_deep.push((heading.text.clone(), wanted));
        }
        changes.push(TextChange::new(heading.span.start..heading.span.start + level, "#".repeat(wanted)));
    }
    let edited = preview(&below, &changes).unwrap_or_else(|| below.clone());
    (edited.strip_prefix('\n').unwrap_or(&edited).to_owned(), too_deep)
}
