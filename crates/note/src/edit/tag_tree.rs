//! Renames a tag with the tags nested in it.

use std::collections::HashSet;

use super::{
    EditError, PropertyEdit, PropertyError, PropertyPath, ReplaceResult, TagEdit, TextChange,
    outline::same_frame,
    tag::{checked, tag_name},
};
use crate::{Document, Note, Tag, YamlValue};

impl Document {
    /// Renames a tag and all tags nested in it, in the text and in the properties: with `a` to `b`, `#a/x` becomes
    /// `#b/x`. Names are given with or without `#` and compared without case.
    pub fn rename_tag_tree(&self, from: &str, to: &str) -> Result<ReplaceResult, EditError> {
        let tree = TagTree { from: tag_name(from), to: checked(to)? };
        let in_text = tree.in_text(self)?;
        // On the result of the first, so that both edits are in one document.
        let in_properties = tree.in_properties(&in_text.document)?;
        Ok(ReplaceResult { document: in_properties.document, count: in_text.count + in_properties.count })
    }
}

/// Whether a tag is another or nested in it; both without `#`.
pub fn is_tag_within(tag: &str, other: &str) -> bool {
    below(tag, other).is_some()
}

/// What follows the outer tag, with its slash.
fn below<'t>(tag: &'t str, outer: &str) -> Option<&'t str> {
    let mut rest = Some(tag);
    for wanted in outer.split('/') {
        let (name, behind) = match rest?.split_once('/') {
            Some((name, behind)) => (name, Some(behind)),
            None => (rest?, None),
        };
        if name.to_lowercase() != wanted.to_lowercase() {
            return None;
        }
        rest = behind;
    }
    Some(rest.map_or("", |rest| &tag[tag.len() - rest.len() - 1..]))
}

struct TagTree<'a> {
    from: &'a str,
    to: &'a str,
}

impl TagTree<'_> {
    fn renamed(&self, tag: &str) -> Option<String> {
        below(tag, self.from).map(|rest| format!("{}{rest}", self.to))
    }

    fn in_text(&self, document: &Document) -> Result<ReplaceResult, EditError> {
        let note = document.note();
        let names =
            |note: &Note<'_>| -> Vec<String> { note.tags.iter().map(|tag| note.text[tag.name()].to_owned()).collect() };
        let change = |tag: &Tag| Some(Ok(TextChange::new(tag.name(), self.renamed(&note.text[tag.name()])?)));
        let changes = document.gathered(note.tags.iter().filter_map(change))?;
        let count = changes.len();
        if count == 0 {
            return Ok(ReplaceResult { document: document.clone(), count });
        }
        let expected: Vec<String> = names(&note).into_iter().map(|name| self.renamed(&name).unwrap_or(name)).collect();
        let draft = document.draft(changes)?;
        if names(&draft.note()) != expected || !same_frame(&note, &draft.note()) {
            return Err(EditError::TagLost { tag: self.to.to_owned() });
        }
        Ok(ReplaceResult { document: draft.finish()?.document, count })
    }

    fn in_properties(&self, document: &Document) -> Result<ReplaceResult, EditError> {
        let mut tags: Vec<String> = document.note().property_tags().into_iter().map(|tag| tag.name).collect();
        tags.retain(|tag| is_tag_within(tag, self.from));
        let count = tags.len();
        // A new name may be that of another tag which is still to be renamed; that one goes first.
        tags.sort_by_key(|tag| tag.matches('/').count());
        if is_tag_within(self.to, self.from) {
            tags.reverse();
        }
        tags.dedup_by_key(|tag| tag.to_lowercase());
        if tags.len() > FEW {
            return Ok(ReplaceResult { document: self.in_list(document)?, count });
        }
        let mut document = document.clone();
        for tag in &tags {
            let Some(to) = self.renamed(tag) else { continue };
            document = document.edit_property_tag(&TagEdit::Rename { from: tag, to: &to })?.document;
        }
        Ok(ReplaceResult { document, count })
    }
}

/// Each costs a pass over all properties. More than a person writes by hand are renamed together, by rewriting their
/// list.
const FEW: usize = 200;

impl TagTree<'_> {
    /// The list of tags with all of them renamed, each name once.
    fn in_list(&self, document: &Document) -> Result<Document, EditError> {
        let properties = document.properties().map_err(PropertyError::from)?;
        let lists = properties.into_iter().filter(|(name, _)| name.eq_ignore_ascii_case("tags"));
        let mut document = document.clone();
        for (name, value) in lists {
            let renamed = |written: &str| {
                // In properties a tag may be written with its mark.
                let bare = tag_name(written.trim());
                let mark = if written.trim_start().starts_with('#') { "#" } else { "" };
                self.renamed(bare).map_or_else(|| written.to_owned(), |new| format!("{mark}{new}"))
            };
            let value = match value {
                YamlValue::List(items) => {
                    // A tag whose new name already exists is removed.
                    let folded = |text: &str| tag_name(text.trim()).to_lowercase();
                    let stays = |item: &YamlValue| match item {
                        YamlValue::Text(text) => (renamed(text) == *text).then(|| folded(text)),
                        _ => None,
                    };
                    let mut seen: HashSet<String> = items.iter().filter_map(stays).collect();
                    let mut kept = Vec::with_capacity(items.len());
                    for item in items {
                        match item {
                            YamlValue::Text(text) => {
                                let new = renamed(&text);
                                // What stays is kept even if it was there twice: only renamed tags are merged.
                                if new == text || seen.insert(folded(&new)) {
                                    kept.push(YamlValue::Text(new));
                                }
                            }
                            other => kept.push(other),
                        }
                    }
                    YamlValue::List(kept)
                }
                YamlValue::Text(text) => {
                    let words = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
                    YamlValue::List(words.map(|word| YamlValue::Text(renamed(word))).collect())
                }
                _ => continue,
            };
            let path = PropertyPath::name(&name);
            document = document.edit_property(&PropertyEdit::Set { path: &path, value: &value })?.document;
        }
        Ok(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(file: &str, from: &str, to: &str) -> Result<(String, usize), EditError> {
        let replaced = Document::open(file.to_owned()).unwrap().rename_tag_tree(from, to)?;
        Ok((replaced.document.raw().to_owned(), replaced.count))
    }

    #[test]
    fn nested_tags_are_renamed_too() {
        for (before, from, to, after, count) in [
            ("#a #A/x #ab #b/a\n", "a", "z", "#z #z/x #ab #b/a\n", 2),
            ("#a/b #a/b/c #a\n", "#a/b", "x/y", "#x/y #x/y/c #a\n", 2),
            ("#a #a/b\r\n", "a", "a/b", "#a/b #a/b/b\r\n", 2),
            ("`#a` [x](y#a) <!-- #a --> #a.\n", "a", "b", "`#a` [x](y#a) <!-- #a --> #b.\n", 1),
            ("---\ntags: [a, a/x, b] # c\n---\n#a\n", "a", "z", "---\ntags: [z, z/x, b] # c\n---\n#z\n", 3),
            ("---\ntags: [a, a/b]\n---\n", "a", "a/b", "---\ntags: [a/b, a/b/b]\n---\n", 2),
            ("---\ntags: [a/b, a/b/b]\n---\n", "a/b", "a", "---\ntags: [a, a/b]\n---\n", 2),
            ("---\ntags: [a, z]\n---\n", "a", "z", "---\ntags: [z]\n---\n", 1),
            ("---\ntags: '#a'\n---\n", "a", "größe", "---\ntags: '#größe'\n---\n", 1),
            ("#b\n", "a", "z", "#b\n", 0),
            ("#work #Work\n", "work", "Work", "#Work #Work\n", 2),
        ] {
            assert_eq!(renamed(before, from, to), Ok((after.to_owned(), count)), "{before:?} {from} {to}");
        }
    }

    #[test]
    fn many_tags_of_the_properties_are_renamed_together() {
        let list = |outer: &str| (0..=FEW).map(|number| format!("  - {outer}/{number}\n")).collect::<String>();
        let note = |outer: &str| format!("---\nx: 1 # mine\ntags:\n{}  - b\n---\nbody\n", list(outer));
        assert_eq!(renamed(&note("a"), "a", "z"), Ok((note("z"), FEW + 1)));
        let both = format!("---\ntags:\n{}{}---\n", list("a"), list("z"));
        let merged = format!("---\ntags:\n{}---\n", list("z"));
        assert_eq!(renamed(&both, "a", "z"), Ok((merged, FEW + 1)));
    }

    #[test]
    fn an_invalid_tag_is_refused() {
        for bad in ["", "#", "12", "a b", "a#b"] {
            assert_eq!(renamed("#a\n", "a", bad), Err(EditError::BadTag { tag: bad.to_owned() }));
        }
    }
}
