use std::ops::Range;

use super::{LinkForm, edit_property_link, in_destination, kept};
use crate::{
    EditError, Edited, Link, LinkDefinition, LinkKind, Note, PropertyPath, Text,
    edit::{Change, apply, outline::frame, preview},
};

/// A link that shall lead to another place in the same file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocate {
    pub form: LinkForm,
    /// Path and subpath; of a Markdown link with the `<>` around them.
    pub destination: Range<usize>,
    /// What names the file, within `destination`.
    pub path: Range<usize>,
    /// What names the place, with its `#`.
    pub subpath: Range<usize>,
    /// The new place without the first `#`, not encoded: `A#B`, `^id`.
    pub place: String,
}

impl Relocate {
    /// Nothing for a link that names no place itself.
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

/// Lets links lead to other places. Path, alias, size, title and the kind of link stay; links are in order.
pub fn relocate_links(file: &[u8], text: &Text<'_>, links: &[Relocate]) -> Result<Edited, EditError> {
    let shown = text.shown();
    let changes: Vec<Change> = links.iter().map(|link| change(shown, link)).collect::<Result<_, _>>()?;
    let Some(edited) = preview(shown, &changes) else { return apply(file, text, &changes) };
    match kept::lost(&Note::parse(shown), &Note::parse(&edited), links) {
        None if frame(shown) == frame(&edited) => apply(file, text, &changes),
        lost => {
            Err(EditError::LinkLost { target: lost.or(links.first()).map_or(String::new(), |link| link.place.clone()) })
        }
    }
}

/// Lets a link in a property lead to another place; its spans are those of the value at `path`, which is nothing but
/// this link.
pub fn relocate_property_link(
    file: &[u8],
    text: &Text<'_>,
    path: &PropertyPath,
    link: &Relocate,
) -> Result<Edited, EditError> {
    let lost = EditError::LinkLost { target: link.place.clone() };
    edit_property_link(file, text, path, link, &lost, |value| Ok(vec![change(value, link)?]))
}

fn change(text: &str, link: &Relocate) -> Result<Change, EditError> {
    let place = &link.place;
    if place.is_empty() || place.trim() != place || place.contains(['\n', '\r', '|', '\\']) {
        return Err(EditError::BadLinkTarget { target: place.clone() });
    }
    let subpath = format!("#{place}");
    match link.form {
        LinkForm::Wiki => Ok(Change::new(link.subpath.clone(), subpath)),
        LinkForm::Markdown => in_destination(text, &link.destination, &link.subpath, &subpath)
            .ok_or_else(|| EditError::OutsideText { span: link.destination.clone(), length: text.len() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::variants::{check, refuse};

    /// The first link or definition that names a place.
    fn first(shown: &str, place: &str) -> Relocate {
        let note = Note::parse(shown);
        let link = note.links.iter().find_map(|link| Relocate::link(link, place.to_owned()));
        link.unwrap_or_else(|| Relocate::definition(&note.definitions[0], place.to_owned()).unwrap())
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
            check(before, after, |file, text| relocate_links(file, text, &[first(text.shown(), place)]));
        }
        for bad in ["", " a", "a|b", "a\nb"] {
            refuse("[[N#Old]]\n", &EditError::BadLinkTarget { target: bad.to_owned() }, |file, text| {
                relocate_links(file, text, &[first(text.shown(), bad)])
            });
        }
        let lost = EditError::LinkLost { target: "a]] b".to_owned() };
        refuse("[[N#Old]]\n", &lost, |file, text| relocate_links(file, text, &[first(text.shown(), "a]] b")]));
    }

    #[test]
    fn a_link_in_a_property_follows_too() {
        let link =
            Relocate { form: LinkForm::Wiki, destination: 2..7, path: 2..3, subpath: 3..7, place: "It's".to_owned() };
        let path = PropertyPath::parse("up").unwrap();
        check("---\nup: '[[N#Old|x]]' # c\n---\n", "---\nup: '[[N#It''s|x]]' # c\n---\n", |file, text| {
            relocate_property_link(file, text, &path, &link)
        });
    }
}
