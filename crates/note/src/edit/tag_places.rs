use std::ops::Range;

use super::{EditError, TagEdit, append_tags, edit_property_tag, remove_tags, rename_tags};
use crate::{Note, Text};

/// Where the tags of a note are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagPlaces {
    Properties,
    /// What is added there stands at the end of the note.
    Text,
    Both,
}

/// Changes a tag of a note wherever it is asked for. Names are compared without case, as Obsidian does; a note that
/// needs no change keeps its bytes.
pub fn edit_tag(file: &[u8], text: &Text<'_>, edit: &TagEdit<'_>, places: TagPlaces) -> Result<Vec<u8>, EditError> {
    if places == TagPlaces::Properties {
        return edit_property_tag(file, text, edit).map(|edited| edited.file);
    }
    let file = edit_in_text(file, text, edit)?;
    if places == TagPlaces::Text {
        return Ok(file);
    }
    let text = Text::decode(&file).map_err(|_| EditError::MergedLineEnds)?;
    edit_property_tag(&file, &text, edit).map(|edited| edited.file)
}

fn edit_in_text(file: &[u8], text: &Text<'_>, edit: &TagEdit<'_>) -> Result<Vec<u8>, EditError> {
    let edited = match *edit {
        TagEdit::Add { tag } if in_text(text, tag).is_empty() => append_tags(file, text, &[tag])?,
        TagEdit::Add { .. } => return Ok(file.to_vec()),
        TagEdit::Remove { tag } => remove_tags(file, text, &in_text(text, tag))?,
        TagEdit::Rename { from, to } => rename_tags(file, text, &in_text(text, from), to)?,
    };
    Ok(edited.file)
}

fn in_text(text: &Text<'_>, tag: &str) -> Vec<Range<usize>> {
    let wanted = tag.trim_start_matches('#').to_lowercase();
    let note = Note::parse(text.shown());
    let spans = note.tags.iter().filter(|found| note.text[found.name()].to_lowercase() == wanted);
    spans.map(|found| found.span.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(before: &str, edit: &TagEdit<'_>, places: TagPlaces) -> Result<String, EditError> {
        let text = Text::decode(before.as_bytes()).unwrap();
        edit_tag(before.as_bytes(), &text, edit, places).map(|file| String::from_utf8(file).unwrap())
    }

    #[test]
    fn a_tag_changes_where_it_is_asked_for() {
        use TagPlaces::{Both, Properties, Text};
        const NOTE: &str = "---\ntags: [a, b]\n---\n- #A x\n    - `#a` #b\n";
        let (add, remove) = (TagEdit::Add { tag: "new" }, TagEdit::Remove { tag: "#a" });
        let rename = TagEdit::Rename { from: "a", to: "z" };
        for (edit, places, after) in [
            (&add, Properties, "---\ntags: [a, b, new]\n---\n- #A x\n    - `#a` #b\n"),
            (&add, Text, "---\ntags: [a, b]\n---\n- #A x\n    - `#a` #b\n#new\n"),
            (&add, Both, "---\ntags: [a, b, new]\n---\n- #A x\n    - `#a` #b\n#new\n"),
            (&remove, Properties, "---\ntags: [b]\n---\n- #A x\n    - `#a` #b\n"),
            (&remove, Text, "---\ntags: [a, b]\n---\n- x\n    - `#a` #b\n"),
            (&remove, Both, "---\ntags: [b]\n---\n- x\n    - `#a` #b\n"),
            (&rename, Both, "---\ntags: [z, b]\n---\n- #z x\n    - `#a` #b\n"),
            (&TagEdit::Add { tag: "B" }, Both, NOTE),
            (&TagEdit::Remove { tag: "c" }, Both, NOTE),
        ] {
            assert_eq!(edited(NOTE, edit, places).as_deref(), Ok(after), "{edit:?} {places:?}");
        }
        assert!(edited("x\n", &TagEdit::Add { tag: "a b" }, Text).is_err());
        assert!(edited("```\nopen\n", &add, Text).is_err(), "code would take it in");
    }
}
