//! Edits of tags in properties.

use super::{EditError, EditResult, PropertyEdit, PropertyError, PropertyPath, tag::checked};
use crate::{Document, YamlValue};

/// A change of a tag in the properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagEdit<'a> {
    /// Adds it unless it exists.
    Add { tag: &'a str },
    /// Removes it; the property is removed with its last tag.
    Remove { tag: &'a str },
    /// Renames it; if the new name exists already, the old one is removed.
    Rename { from: &'a str, to: &'a str },
}

impl Document {
    /// Changes the tags in the properties of a note. Names are given with or without `#` and compared without case, as
    /// in Obsidian. A note that does not have the tag is unchanged.
    pub fn edit_property_tag(&self, edit: &TagEdit<'_>) -> Result<EditResult, EditError> {
        let (name, value) = tags_property(self);
        let path = PropertyPath::name(&name);
        let steps = match &value {
            YamlValue::List(items) => in_list(items, &name, edit)?,
            YamlValue::Text(written) => in_text(written, &path, edit)?,
            YamlValue::Null => in_text("", &path, edit)?,
            _ => return Err(PropertyError::NotAList { path: name }.into()),
        };
        let edits: Vec<PropertyEdit<'_>> = steps.iter().map(TagStep::edit).collect();
        self.edit_properties(&edits)
    }
}

enum TagStep {
    Set(PropertyPath, YamlValue),
    Append(PropertyPath, YamlValue),
    Delete(PropertyPath),
}

impl TagStep {
    fn edit(&self) -> PropertyEdit<'_> {
        match self {
            Self::Set(path, value) => PropertyEdit::Set { path, value },
            Self::Append(path, value) => PropertyEdit::Append { path, value },
            Self::Delete(path) => PropertyEdit::Delete { path },
        }
    }
}

/// The property that Obsidian reads tags from, in its spelling, and its value.
fn tags_property(document: &Document) -> (String, YamlValue) {
    // The edit reports what is wrong with the YAML.
    let properties = document.properties().unwrap_or_default();
    let tags = properties.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("tags"));
    tags.unwrap_or_else(|| ("tags".to_owned(), YamlValue::Null))
}

fn bare(tag: &str) -> &str {
    let tag = tag.trim();
    tag.strip_prefix('#').unwrap_or(tag)
}

fn is(written: &str, tag: &str) -> bool {
    bare(written).to_lowercase() == bare(tag).to_lowercase()
}

/// The new name in the form of the old one.
fn renamed(written: &str, to: &str) -> String {
    if written.starts_with('#') { format!("#{to}") } else { to.to_owned() }
}

fn in_list(items: &[YamlValue], name: &str, edit: &TagEdit<'_>) -> Result<Vec<TagStep>, EditError> {
    let path = PropertyPath::name(name);
    let texts = || {
        items.iter().enumerate().filter_map(|(at, item)| match item {
            YamlValue::Text(text) => Some((at, text.as_str())),
            _ => None,
        })
    };
    let has = |tag: &str| texts().any(|(_, text)| is(text, tag));
    let item = |at: usize| PropertyPath::of(vec![name.to_owned(), at.to_string()]);
    // From the end, so that positions stay right.
    let found = |tag: &str| texts().filter(|(_, text)| is(text, tag)).collect::<Vec<_>>().into_iter().rev();
    Ok(match edit {
        TagEdit::Add { tag } if has(tag) => Vec::new(),
        TagEdit::Add { tag } => vec![TagStep::Append(path, YamlValue::Text(checked(tag)?.to_owned()))],
        TagEdit::Rename { from, to } if is(from, to) || !has(to) => {
            let to = checked(to)?;
            let set = |(at, text): (usize, &str)| Some(TagStep::Set(item(at)?, YamlValue::Text(renamed(text, to))));
            found(from).filter_map(set).collect()
        }
        TagEdit::Remove { tag } | TagEdit::Rename { from: tag, .. } => {
            let count = found(tag).count();
            if count > 0 && count == items.len() {
                vec![TagStep::Delete(path)]
            } else {
                found(tag).filter_map(|(at, _)| item(at)).map(TagStep::Delete).collect()
            }
        }
    })
}

/// A text has one tag, or several separated by commas and spaces, as in older notes.
fn in_text(written: &str, path: &PropertyPath, edit: &TagEdit<'_>) -> Result<Vec<TagStep>, EditError> {
    let separates = |c: char| c == ',' || c.is_whitespace();
    let words = || written.split(separates).filter(|word| !word.is_empty());
    let has = |tag: &str| words().any(|word| is(word, tag));
    let text = |text: &str| YamlValue::Text(text.to_owned());
    Ok(match edit {
        TagEdit::Add { tag } if has(tag) => Vec::new(),
        TagEdit::Add { tag } if words().next().is_none() && written.is_empty() => {
            vec![TagStep::Append(path.clone(), text(checked(tag)?))]
        }
        TagEdit::Add { tag } => {
            let tags = words().chain(std::iter::once(checked(tag)?)).map(text).collect();
            vec![TagStep::Set(path.clone(), YamlValue::List(tags))]
        }
        TagEdit::Rename { from, .. } | TagEdit::Remove { tag: from } if !has(from) => Vec::new(),
        TagEdit::Rename { from, to } if is(from, to) || !has(to) => {
            let to = checked(to)?;
            let word =
                |word: &str| if is(word, from) && !word.is_empty() { renamed(word, to) } else { word.to_owned() };
            let mut new = String::new();
            for part in written.split_inclusive(separates) {
                let separator = part.len() - part.trim_end_matches(separates).len();
                new += &word(&part[..part.len() - separator]);
                new += &part[part.len() - separator..];
            }
            vec![TagStep::Set(path.clone(), YamlValue::Text(new))]
        }
        TagEdit::Remove { tag } | TagEdit::Rename { from: tag, .. } => {
            let left: Vec<&str> = words().filter(|word| !is(word, tag)).collect();
            let comma = if written.contains(',') { ", " } else { " " };
            match &left[..] {
                [] => vec![TagStep::Delete(path.clone())],
                left => vec![TagStep::Set(path.clone(), YamlValue::Text(left.join(comma)))],
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::variants::{check, refuse};

    const ADD: TagEdit<'_> = TagEdit::Add { tag: "#new" };
    const REMOVE: TagEdit<'_> = TagEdit::Remove { tag: "a" };
    const RENAME: TagEdit<'_> = TagEdit::Rename { from: "A", to: "z/y" };

    #[test]
    fn only_the_tag_changes_in_every_form_of_the_property() {
        for (before, edit, after) in [
            ("tags: [a, b] # c\n", ADD, "tags: [a, b, new] # c\n"),
            ("tags:\n- a\n- b # c\nx: 1\n", ADD, "tags:\n- a\n- b # c\n- new\nx: 1\n"),
            ("tags: a\n", ADD, "tags:\n  - a\n  - new\n"),
            ("tags:\nx: 1\n", ADD, "tags:\n  - new\nx: 1\n"),
            ("x: 1\n", ADD, "x: 1\ntags:\n  - new\n"),
            ("Tags: [a, NEW]\n", ADD, "Tags: [a, NEW]\n"),
            ("tags: [a, b]\n", REMOVE, "tags: [b]\n"),
            ("tags:\n  - b # c\n  - \"#A\"\n  - d\n", REMOVE, "tags:\n  - b # c\n  - d\n"),
            ("tags: [a, b, A]\n", REMOVE, "tags: [b]\n"),
            ("x: 1\ntags: [a]\n", REMOVE, "x: 1\n"),
            ("x: 1\ntags: a\n", REMOVE, "x: 1\n"),
            ("tags: a, b\n", REMOVE, "tags: b\n"),
            ("tags: [b]\n", REMOVE, "tags: [b]\n"),
            ("tags: [a/b]\n", REMOVE, "tags: [a/b]\n"),
            ("tags: [b, a] # c\n", RENAME, "tags: [b, z/y] # c\n"),
            ("tags:\n- \"#a\"\n- 'a'\n- b\n", RENAME, "tags:\n- \"#z/y\"\n- 'z/y'\n- b\n"),
            ("tags: 'a'\n", RENAME, "tags: 'z/y'\n"),
            ("tags: b a c\n", RENAME, "tags: b z/y c\n"),
            ("tags: [a, z/y]\n", RENAME, "tags: [z/y]\n"),
            ("tags: [1, true, a]\n", RENAME, "tags: [1, true, z/y]\n"),
        ] {
            let (before, after) = (format!("---\n{before}---\nbody\n"), format!("---\n{after}---\nbody\n"));
            check(&before, &after, |document| document.edit_property_tag(&edit));
        }
        check("body\n", "---\ntags:\n  - new\n---\nbody\n", |document| document.edit_property_tag(&ADD));
        check("body\n", "body\n", |document| document.edit_property_tag(&REMOVE));
        check("---\ntags: [a]\n---\nbody\n", "body\n", |document| document.edit_property_tag(&REMOVE));
    }

    #[test]
    fn an_invalid_tag_or_list_of_tags_is_refused() {
        refuse("---\ntags: {a: 1}\n---\n", &PropertyError::NotAList { path: "tags".to_owned() }.into(), |document| {
            document.edit_property_tag(&ADD)
        });
        refuse("x\n", &EditError::BadTag { tag: "a b".to_owned() }, |document| {
            document.edit_property_tag(&TagEdit::Add { tag: "a b" })
        });
    }
}
