//! Retargets links to other places in the same file.

use std::ops::Range;

use super::{LinkForm, in_destination};
use crate::{Document, EditError, EditResult, Link, LinkDefinition, LinkKind, PropertyPath, edit::TextChange};

/// A link and the other place in the same file that it should lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkRelocation {
    pub form: LinkForm,
    /// Path and subpath; of a Markdown link with the `<>` around them.
    pub destination: Range<usize>,
    /// The part that names the file, within `destination`.
    pub path: Range<usize>,
    /// The part that names the place, with its `#`.
    pub subpath: Range<usize>,
    /// The new place without the first `#`, not encoded: `A#B`, `^id`.
    pub place: String,
}

impl LinkRelocation {
    /// `None` for a link that names no place itself.
    pub fn link(link: &Link, place: String) -> Option<Self> {
        let form = match link.kind {
            LinkKind::Wiki => LinkForm::Wiki,
            LinkKind::Markdown => LinkForm::Markdown,
            LinkKind::Reference | LinkKind::Url => return None,
        };
        let (destination, path, subpath) = (link.destination.clone(), link.path.clone(), link.subpath.clone()?);
        Some(Self { form, destination, path, subpath, place })
    }

    pub fn definition(definition: &LinkDefinition, place: String) -> Option<Self> {
        let LinkDefinition { destination, path, subpath, .. } = definition.clone();
        Some(Self { form: LinkForm::Markdown, destination, path, subpath: subpath?, place })
    }
}

impl Document {
    /// Retargets links to other places. Path, alias, size, title and the kind of link stay; links are in order.
    pub fn relocate_links(&self, links: &[LinkRelocation]) -> Result<EditResult, EditError> {
        let changes = self.gathered(links.iter().map(|link| change(self.shown(), link)))?;
        self.write_links(changes, links, |link| link.place.clone())
    }

    /// Retargets a link in a property to another place; its spans are those of the value at `path`, which is nothing
    /// but this link.
    pub fn relocate_property_link(&self, path: &PropertyPath, link: &LinkRelocation) -> Result<EditResult, EditError> {
        let lost = EditError::LinkLost { target: link.place.clone() };
        self.edit_property_link(path, link, &lost, |value| Ok(vec![change(value, link)?]))
    }
}

fn change(text: &str, link: &LinkRelocation) -> Result<TextChange, EditError> {
    let place = &link.place;
    if place.is_empty() || place.trim() != place || place.contains(['\n', '\r', '|', '\\']) {
        return Err(EditError::BadLinkTarget { target: place.clone() });
    }
    let subpath = format!("#{place}");
    match link.form {
        LinkForm::Wiki => Ok(TextChange::new(link.subpath.clone(), subpath)),
        LinkForm::Markdown => in_destination(text, &link.destination, &link.subpath, &subpath)
            .ok_or_else(|| EditError::OutsideText { span: link.destination.clone(), length: text.len() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Note;
    use crate::edit::variants::{check, refuse};

    /// The first link or definition that names a place.
    fn first(shown: &str, place: &str) -> LinkRelocation {
        let note = Note::parse(shown);
        let link = note.links.iter().find_map(|link| LinkRelocation::link(link, place.to_owned()));
        link.unwrap_or_else(|| LinkRelocation::definition(&note.definitions[0], place.to_owned()).unwrap())
    }

    #[test]
    fn a_link_keeps_everything_but_its_place() {
        for (before, place, after) in [
            ("a [[N#Old|al]] b\n", "New one", "a [[N#New one|al]] b\n"),
            ("[[#Old#S]]\n", "New#S", "[[#New#S]]\n"),
            ("![[N#^old|100]]\n", "^new", "![[N#^new|100]]\n"),
            ("| [[N#Old\\|al]] |\n| - |\n", "New", "| [[N#New\\|al]] |\n| - |\n"),
            ("[x](N.md#Old \"t\")\n", "A b", "[x](N.md#A%20b \"t\")\n"),
            ("[x](N.md#Old%20one)\n", "100% (a", "[x](<N.md#100%25 (a>)\n"),
            ("[x](<N o.md#Old>)\n", "A b", "[x](<N o.md#A b>)\n"),
            ("[r]: N.md#Old 'T'\n", "A b", "[r]: N.md#A%20b 'T'\n"),
        ] {
            check(before, after, |document| document.relocate_links(&[first(document.shown(), place)]));
        }
        for bad in ["", " a", "a|b", "a\nb"] {
            refuse("[[N#Old]]\n", &EditError::BadLinkTarget { target: bad.to_owned() }, |document| {
                document.relocate_links(&[first(document.shown(), bad)])
            });
        }
        let lost = EditError::LinkLost { target: "a]] b".to_owned() };
        refuse("[[N#Old]]\n", &lost, |document| document.relocate_links(&[first(document.shown(), "a]] b")]));
    }

    #[test]
    fn a_link_in_a_property_follows_too() {
        let link = LinkRelocation {
            form: LinkForm::Wiki,
            destination: 2..7,
            path: 2..3,
            subpath: 3..7,
            place: "It's".to_owned(),
        };
        let path = PropertyPath::parse("up").unwrap();
        check("---\nup: '[[N#Old|x]]' # c\n---\n", "---\nup: '[[N#It''s|x]]' # c\n---\n", |document| {
            document.relocate_property_link(&path, &link)
        });
    }
}
