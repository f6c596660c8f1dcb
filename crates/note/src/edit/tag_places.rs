//! Changes a tag in the text, the properties, or both.

use std::ops::Range;

use super::{EditError, TagEdit, begins_line, tag::TagChanges};
use crate::Document;

/// Where the tags of a note are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagPlaces {
    Properties,
    /// Added tags go to the end of the note.
    Text,
    Both,
}

impl Document {
    /// Changes a tag of a note in the given places. Names are compared without case, as in Obsidian; a note that needs
    /// no change keeps its bytes.
    pub fn edit_tag(&self, edit: &TagEdit<'_>, places: TagPlaces) -> Result<Self, EditError> {
        if places == TagPlaces::Properties {
            return Ok(self.edit_property_tag(edit)?.document);
        }
        if places == TagPlaces::Both
            && let Some(edited) = self.edit_tag_at_once(edit)
        {
            return Ok(edited);
        }
        let in_text = self.edit_tag_in_text(edit)?;
        match places {
            TagPlaces::Both => Ok(in_text.edit_property_tag(edit)?.document),
            _ => Ok(in_text),
        }
    }

    fn edit_tag_in_text(&self, edit: &TagEdit<'_>) -> Result<Self, EditError> {
        let edited = match *edit {
            TagEdit::Add { tag } if self.tags_named(tag).is_empty() => self.append_tags(&[tag])?,
            TagEdit::Add { .. } => self.unchanged(),
            TagEdit::Remove { tag } => self.remove_tags(&self.tags_named(tag))?,
            TagEdit::Rename { from, to } => self.rename_tags(&self.tags_named(from), to)?,
        };
        Ok(edited.document)
    }

    /// The edit in the text and in the properties, decided by one parse of the result. `None` if that is not
    /// sufficient, above all if the edit has to be refused.
    fn edit_tag_at_once(&self, edit: &TagEdit<'_>) -> Option<Self> {
        for tags in self.ways_to_edit_tag(edit).ok()? {
            let in_text = self.apply(tags.changes.clone()).ok()?.document;
            let edited = in_text.edit_property_tag(edit).ok()?.document;
            // The same body has the same tags, regardless of the properties.
            if body(&in_text)? != body(&edited)? {
                return None;
            }
            if tags.changes.is_empty() || tags.are_read(&self.note(), &edited.note()) {
                return Some(edited);
            }
        }
        None
    }

    fn ways_to_edit_tag(&self, edit: &TagEdit<'_>) -> Result<Vec<TagChanges>, EditError> {
        Ok(match *edit {
            TagEdit::Add { tag } if self.tags_named(tag).is_empty() => TagChanges::appending(self, &[tag])?,
            TagEdit::Add { .. } => vec![TagChanges::removing(self, &[])?],
            TagEdit::Remove { tag } => vec![TagChanges::removing(self, &self.tags_named(tag))?],
            TagEdit::Rename { from, to } => vec![TagChanges::renaming(self, &self.tags_named(from), to)?],
        })
    }

    fn tags_named(&self, tag: &str) -> Vec<Range<usize>> {
        let wanted = tag.trim_start_matches('#').to_lowercase();
        let note = self.note();
        let spans = note.tags.iter().filter(|found| note.text[found.name()].to_lowercase() == wanted);
        spans.map(|found| found.span.clone()).collect()
    }
}

/// The text after the properties, unless it continues on the line that ends them.
fn body(document: &Document) -> Option<&str> {
    let start = document.frontmatter().map_or(0, |block| block.span.end);
    begins_line(document.shown(), start).then(|| &document.shown()[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(before: &str, edit: &TagEdit<'_>, places: TagPlaces) -> Result<String, EditError> {
        let document = Document::open(before.to_owned()).unwrap();
        document.edit_tag(edit, places).map(|edited| edited.raw().to_owned())
    }

    #[test]
    fn a_tag_changes_in_the_given_places() {
        use TagPlaces::{Both, Properties, Text};
        const NOTE: &str = "---\ntags: [a, b]\n---\n- #A x\n    - `#a` #b\n";
        let (add, remove) = (TagEdit::Add { tag: "new" }, TagEdit::Remove { tag: "#a" });
        let rename = TagEdit::Rename { from: "a", to: "z" };
        for (edit, places, after) in [
            (&add, Properties, "---\ntags: [a, b, new]\n---\n- #A x\n    - `#a` #b\n"),
            (&add, Text, "---\ntags: [a, b]\n---\n- #A x\n    - `#a` #b\n\n#new\n"),
            (&add, Both, "---\ntags: [a, b, new]\n---\n- #A x\n    - `#a` #b\n\n#new\n"),
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
