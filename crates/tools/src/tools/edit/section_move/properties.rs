//! The properties of a note that is merged into another.

use lapidary_note::{Document, EditError, PropertyEdit, PropertyPath, YamlValue};

/// A note with the properties of another.
pub(super) struct MergedProperties {
    pub(super) document: Document,
    /// Those that both have and that differ; the values of the other note are not kept.
    pub(super) differing: Vec<String>,
}

/// Adds the properties that a note lacks, and the items that its lists lack. Where both have a value, its own stays.
/// `None` if the properties of either cannot be read.
pub(super) fn merged(note: &Document, from: &Document) -> Result<Option<MergedProperties>, EditError> {
    let Some(block) = from.frontmatter() else {
        return Ok(Some(MergedProperties { document: note.clone(), differing: Vec::new() }));
    };
    let (Ok(own), Ok(others)) = (note.properties(), from.properties()) else { return Ok(None) };
    if note.frontmatter().is_none() {
        // As they are written, with comments and quotes.
        let block = &from.shown()[block.span];
        let end = if block.ends_with('\n') { "" } else { "\n" };
        let document = note.insert_at(0, &format!("{block}{end}"))?.document;
        return Ok(Some(MergedProperties { document, differing: Vec::new() }));
    }
    let own = YamlValue::Map(own);
    let (mut edits, mut differing) = (Vec::new(), Vec::new());
    for (name, value) in &others {
        // Obsidian compares names regardless of case.
        let path = PropertyPath::name(name).among(&own);
        match (path.find(&own), value) {
            (None | Some(YamlValue::Null), value) => edits.push((path, value.clone(), false)),
            (Some(_), YamlValue::Null) => {}
            (Some(YamlValue::List(there)), YamlValue::List(items)) => {
                let missing = items.iter().filter(|item| !there.contains(item));
                edits.extend(missing.map(|item| (path.clone(), item.clone(), true)));
            }
            // One tag or alias may be written without a list.
            (Some(YamlValue::List(there)), YamlValue::Text(_)) => {
                if !there.contains(value) {
                    edits.push((path, value.clone(), true));
                }
            }
            (Some(there), value) => {
                if there != value {
                    differing.push(name.clone());
                }
            }
        }
    }
    let edits: Vec<PropertyEdit<'_>> = edits
        .iter()
        .map(|(path, value, is_item)| match is_item {
            true => PropertyEdit::Append { path, value },
            false => PropertyEdit::Set { path, value },
        })
        .collect();
    let document = if edits.is_empty() { note.clone() } else { note.edit_properties(&edits)?.document };
    Ok(Some(MergedProperties { document, differing }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_note_lacks_is_added_and_its_own_values_stay() {
        let open = |text: &str| Document::open(text.to_owned()).unwrap();
        for (note, from, expected, differing) in [
            ("b\n", "---\n# mine\na: 'x'\n---\nt\n", "---\n# mine\na: 'x'\n---\nb\n", &[][..]),
            ("---\na: 1\n---\n", "---\na: 2\nb: 3\n---\n", "---\na: 1\nb: 3\n---\n", &["a"]),
            ("---\ntags: [x]\n---\n", "---\nTags: [x, y]\n---\n", "---\ntags: [x, y]\n---\n", &[]),
            ("---\ntags: [x]\n---\n", "---\ntags: y\n---\n", "---\ntags: [x, y]\n---\n", &[]),
            ("---\na:\n---\n", "---\na: 2\n---\n", "---\na: 2\n---\n", &[]),
            ("---\na: 1\n---\n", "t\n", "---\na: 1\n---\n", &[]),
        ] {
            let merged = merged(&open(note), &open(from)).unwrap().unwrap();
            assert_eq!(
                (merged.document.shown(), &merged.differing[..]),
                (expected, &differing.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()[..]),
                "{from}"
            );
        }
        assert!(merged(&open("b\n"), &open("---\n{\n---\nt\n")).unwrap().is_none(), "its YAML is broken");
    }
}
