use std::collections::HashSet;

use lapidary_note::Note;

/// The tags of a note without `#`, those of its properties first, each spelling once.
pub(crate) fn tags_of(note: &Note<'_>) -> Vec<String> {
    let mut found: Vec<String> = note.property_tags().into_iter().map(|tag| tag.name).collect();
    found.extend(note.tags.iter().map(|tag| note.text[tag.name()].to_owned()));
    let mut seen = HashSet::new();
    found.retain(|tag| seen.insert(tag.clone()));
    found
}
