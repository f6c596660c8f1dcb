//! Whether links lead where they should, and all others where they led before.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{LinkForm, LinkRelocation, LinkRetarget};
use crate::{Link, LinkDefinition, LinkKind, Note, count_steps, edit::PropertyPath};

/// What an edit elsewhere must not change about a link. Its words may contain another link that is edited.
#[derive(Clone, Copy, PartialEq)]
struct LinkParts<'t> {
    /// `None` for a definition.
    kind: Option<(LinkKind, bool)>,
    internal: bool,
    path: &'t str,
    subpath: Option<&'t str>,
    title: Option<&'t str>,
}

/// A link or a definition, as parsed from one of the two texts.
pub(super) struct KeptLink<'t> {
    parts: LinkParts<'t>,
    path: Range<usize>,
    target: Cow<'t, str>,
    /// Without percent escapes.
    subpath: Option<Cow<'t, str>>,
}

/// The intended result for a link.
pub(super) trait LinkGoal {
    fn form(&self) -> LinkForm;
    /// The span of the link's path, which identifies it.
    fn path(&self) -> &Range<usize>;
    /// Whether `new` is the intended result for `old`.
    fn is_reached(&self, old: &KeptLink<'_>, new: &KeptLink<'_>) -> bool;
}

impl LinkGoal for LinkRetarget<'_> {
    fn form(&self) -> LinkForm {
        self.form
    }

    fn path(&self) -> &Range<usize> {
        &self.path
    }

    fn is_reached(&self, old: &KeptLink<'_>, new: &KeptLink<'_>) -> bool {
        // Everything but the path has to be as before.
        let expected = LinkParts { internal: true, path: new.parts.path, ..old.parts };
        new.parts == expected && new.target == plain(self.target.into())
    }
}

impl LinkGoal for LinkRelocation {
    fn form(&self) -> LinkForm {
        self.form
    }

    fn path(&self) -> &Range<usize> {
        &self.path
    }

    fn is_reached(&self, old: &KeptLink<'_>, new: &KeptLink<'_>) -> bool {
        let expected = LinkParts { subpath: new.parts.subpath, ..old.parts };
        new.parts == expected && new.subpath == Some(plain(format!("#{}", self.place).into()))
    }
}

/// Names of files and links are compared with plain spaces.
fn plain(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains('\u{a0}') { text.replace('\u{a0}', " ").into() } else { text }
}

impl<'t> KeptLink<'t> {
    fn link(text: &'t str, link: &Link) -> Self {
        let cut = |span: &Range<usize>| &text[span.clone()];
        let parts = LinkParts {
            kind: Some((link.kind, link.embed)),
            internal: link.internal,
            path: cut(&link.path),
            subpath: link.subpath.as_ref().map(cut),
            title: link.title.as_ref().map(cut),
        };
        count_steps(link.span.len());
        let subpath = link.decoded_subpath(text).map(plain);
        Self { parts, path: link.path.clone(), target: link.target(text), subpath }
    }

    fn definition(text: &'t str, definition: &LinkDefinition) -> Self {
        let found = Self::link(text, &definition.as_link());
        Self { parts: LinkParts { kind: None, ..found.parts }, ..found }
    }

    /// One after another: a note may have so many that all of them together would not be small.
    fn all(note: &'t Note<'t>) -> impl Iterator<Item = Self> {
        let links = note.links.iter().map(|link| Self::link(note.text, link));
        links.chain(note.definitions.iter().map(|definition| Self::definition(note.text, definition)))
    }

    /// Its identification by an aim.
    fn key(&self) -> Option<LinkKey> {
        let form = match self.parts.kind {
            Some((LinkKind::Wiki, _)) => LinkForm::Wiki,
            Some((LinkKind::Markdown, _)) | None => LinkForm::Markdown,
            // Their targets are elsewhere, so nothing aims at them.
            Some((LinkKind::Reference | LinkKind::Url, _)) => return None,
        };
        Some((form, self.path.start, self.path.end))
    }
}

/// The form of a link and the span of its path.
type LinkKey = (LinkForm, usize, usize);

fn key(aim: &impl LinkGoal) -> LinkKey {
    (aim.form(), aim.path().start, aim.path().end)
}

/// The first of the links that is not as intended; the very first if another one changed.
pub(super) fn lost<'r, A: LinkGoal>(before: &Note<'_>, after: &Note<'_>, aims: &'r [A]) -> Option<&'r A> {
    let known: HashSet<LinkKey> = KeptLink::all(before).filter_map(|link| link.key()).collect();
    // Such a place was computed for another text.
    let unknown = aims.iter().find(|aim| !known.contains(&key(*aim)));
    if unknown.is_some() {
        return unknown;
    }
    // Then the pairs below would compare links that are not the same.
    if before.links.len() != after.links.len() || before.definitions.len() != after.definitions.len() {
        return aims.first();
    }
    // The first of several for one link counts.
    // Collected backwards, so that the first overwrites the others.
    let aimed: HashMap<LinkKey, &A> = aims.iter().rev().map(|aim| (key(aim), aim)).collect();
    KeptLink::all(before).zip(KeptLink::all(after)).find_map(|(old, new)| {
        match old.key().and_then(|key| aimed.get(&key).copied()) {
            Some(aim) => (!aim.is_reached(&old, &new)).then_some(aim),
            None => aims.first().filter(|_| old.parts != new.parts),
        }
    })
}

/// Whether the link at `path` is as intended, and all other links in properties are unchanged.
pub(super) fn keeps_property_links(
    before: &Note<'_>,
    after: &Note<'_>,
    path: &PropertyPath,
    aim: &impl LinkGoal,
) -> bool {
    let key = path.segments().collect::<Vec<_>>().join(".");
    let (old, new) = (before.property_links(), after.property_links());
    let is_right = |(old, new): (&crate::PropertyLink, &crate::PropertyLink)| {
        let expected = if old.key == key {
            aim.is_reached(&KeptLink::link(&old.value, &old.link), &KeptLink::link(&new.value, &new.link))
        } else {
            old.value == new.value
        };
        old.key == new.key && expected
    };
    old.len() == new.len()
        // Otherwise it is not certain that the link of the aim was compared.
        && old.iter().filter(|link| link.key == key).count() == 1
        && old.iter().zip(&new).all(is_right)
}
