//! Whether links lead where they were told to, and all others where they led before.

use std::ops::Range;

use super::{LinkForm, Retarget};
use crate::{Link, LinkDefinition, LinkKind, Note, edit::PropertyPath};

/// What of a link an edit elsewhere must not change. Its words may hold another link that is edited.
#[derive(PartialEq)]
struct Parts<'t> {
    /// Nothing for a definition.
    kind: Option<(LinkKind, bool)>,
    internal: bool,
    path: &'t str,
    subpath: Option<&'t str>,
    title: Option<&'t str>,
}

/// A link or a definition, as read in one of the two texts.
struct Found<'t> {
    parts: Parts<'t>,
    path: Range<usize>,
    target: String,
}

impl<'t> Found<'t> {
    fn link(text: &'t str, link: &Link) -> Self {
        let cut = |span: &Range<usize>| &text[span.clone()];
        let parts = Parts {
            kind: Some((link.kind, link.embed)),
            internal: link.internal,
            path: cut(&link.path),
            subpath: link.subpath.as_ref().map(cut),
            title: link.title.as_ref().map(cut),
        };
        Self { parts, path: link.path.clone(), target: link.target(text).into_owned() }
    }

    fn definition(text: &'t str, definition: &LinkDefinition) -> Self {
        let LinkDefinition { span, label, destination, path, subpath, title, internal } = definition.clone();
        // A definition is read like the destination of a Markdown link.
        let link = Link {
            kind: LinkKind::Markdown,
            embed: false,
            internal,
            span,
            destination,
            path,
            subpath,
            alias: Some(label),
            size: None,
            title,
        };
        let found = Self::link(text, &link);
        Self { parts: Parts { kind: None, ..found.parts }, ..found }
    }

    fn all(note: &Note<'t>) -> Vec<Self> {
        let links = note.links.iter().map(|link| Self::link(note.text, link));
        links.chain(note.definitions.iter().map(|definition| Self::definition(note.text, definition))).collect()
    }

    fn is_meant_by(&self, retarget: &Retarget<'_>) -> bool {
        let form = match self.parts.kind {
            Some((LinkKind::Wiki, _)) => Some(LinkForm::Wiki),
            Some((LinkKind::Markdown, _)) | None => Some(LinkForm::Markdown),
            Some((LinkKind::Reference | LinkKind::Url, _)) => None,
        };
        form == Some(retarget.form) && self.path == retarget.path
    }

    /// Whether this is what became of `old`.
    fn follows(&self, old: &Self, target: &str) -> bool {
        let expected = Parts { internal: true, path: self.parts.path, ..old.parts };
        self.parts == expected && leads_to(&self.target, target)
    }
}

/// Names of files and links are compared with plain spaces.
fn leads_to(found: &str, target: &str) -> bool {
    found == target.replace('\u{a0}', " ")
}

/// The first of the links that does not lead where it should; the first of all if another one changed.
pub(super) fn lost<'r, 'a>(
    before: &Note<'_>,
    after: &Note<'_>,
    retargets: &'r [Retarget<'a>],
) -> Option<&'r Retarget<'a>> {
    let (old, new) = (Found::all(before), Found::all(after));
    let unknown = retargets.iter().find(|retarget| !old.iter().any(|old| old.is_meant_by(retarget)));
    if unknown.is_some() {
        return unknown;
    }
    if before.links.len() != after.links.len() || old.len() != new.len() {
        return retargets.first();
    }
    old.iter().zip(&new).find_map(|(old, new)| {
        let retarget = retargets.iter().find(|retarget| old.is_meant_by(retarget));
        match retarget {
            Some(retarget) => (!new.follows(old, retarget.target)).then_some(retarget),
            None => retargets.first().filter(|_| old.parts != new.parts),
        }
    })
}

/// Whether the link at `path` leads to `target`, and all other links in properties are as they were.
pub(super) fn keeps_property_links(before: &Note<'_>, after: &Note<'_>, path: &PropertyPath, target: &str) -> bool {
    let key = path.segments().collect::<Vec<_>>().join(".");
    let (old, new) = (before.property_links(), after.property_links());
    let is_right = |(old, new): (&crate::PropertyLink, &crate::PropertyLink)| {
        let expected = if old.key == key {
            Found::link(&new.value, &new.link).follows(&Found::link(&old.value, &old.link), target)
        } else {
            old.value == new.value
        };
        old.key == new.key && expected
    };
    old.len() == new.len()
        && old.iter().filter(|link| link.key == key).count() == 1
        && old.iter().zip(&new).all(is_right)
}
