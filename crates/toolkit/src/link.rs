use std::collections::BTreeMap;

use lapidary_note::{Link, LinkKind, Note, Place};
use lapidary_vault::{Notes, VaultPath};
use schemars::JsonSchema;
use serde::Serialize;

use crate::place::Places;

/// The words of the file tools for what a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Wiki,
    Embed,
    HeaderRef,
    BlockRef,
    Markdown,
}

impl Kind {
    /// An embed of a part of a note is an embed first: that is what a reader sees.
    pub fn of(kind: LinkKind, embed: bool, subpath: Option<&str>) -> Self {
        match (kind, subpath) {
            (LinkKind::Markdown | LinkKind::Reference | LinkKind::Url, _) => Self::Markdown,
            (LinkKind::Wiki, _) if embed => Self::Embed,
            (LinkKind::Wiki, Some(subpath)) if is_block(subpath) => Self::BlockRef,
            (LinkKind::Wiki, Some(_)) => Self::HeaderRef,
            (LinkKind::Wiki, None) => Self::Wiki,
        }
    }
}

fn is_block(subpath: &str) -> bool {
    subpath.trim_start_matches('#').starts_with('^')
}

/// A link in a note.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutLink {
    kind: Kind,
    /// As written, decoded; empty for a link into the note itself.
    target: String,
    /// The file it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heading: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alias: Option<String>,
    /// Of a Markdown link, what is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Of a Markdown link, its destination as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Of an embed, `width` or `widthxheight`.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<String>,
    /// The property it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<String>,
    line: usize,
    col: usize,
}

/// The links of a note as they are written, properties first. `None` for `notes` leaves out where they lead.
pub fn out_links(note: &Note<'_>, source: &VaultPath, notes: &Notes) -> Vec<OutLink> {
    let places = Places::of(note.text);
    let mut found: Vec<OutLink> = Vec::new();
    for property in note.property_links() {
        let mut link = out_link(&property.value, &property.link, source, notes);
        (link.line, link.col) = (places.line(property.span.start), places.column(property.span.start));
        link.property = Some(property.key);
        found.push(link);
    }
    for link in &note.links {
        let written = match note.definition_of(link) {
            // Where a reference link leads is said elsewhere in the note.
            Some(definition) => definition.followed_by(link),
            None => link.clone(),
        };
        let mut out = out_link(note.text, &written, source, notes);
        (out.line, out.col) = (places.line(link.span.start), places.column(link.span.start));
        found.push(out);
    }
    found
}

fn out_link(text: &str, link: &Link, source: &VaultPath, notes: &Notes) -> OutLink {
    let subpath = link.subpath.clone().map(|subpath| &text[subpath]);
    let kind = Kind::of(link.kind, link.embed, subpath);
    let target = link.target(text);
    let path = link.internal.then(|| notes.resolve(&target, source)).flatten();
    let written = link.decoded_subpath(text);
    let (heading, block_id) = match written.as_deref().map(Place::of) {
        Some(Place::Block(id)) => (None, Some(id.to_owned())),
        Some(Place::Headings(parts)) => (Some(parts.join("#")), None),
        Some(Place::Footnote(_)) | None => (None, None),
    };
    let alias = link.alias.clone().map(|alias| text[alias].to_owned());
    let markdown = kind == Kind::Markdown;
    let url = markdown.then(|| link.address(text).into_owned());
    OutLink {
        kind,
        path: path.map(ToString::to_string),
        heading: heading.filter(|_| link.internal),
        block_id: block_id.filter(|_| link.internal),
        text: alias.clone().filter(|_| markdown),
        alias: alias.filter(|_| !markdown),
        target: if link.internal { target.into_owned() } else { url.clone().unwrap_or_default() },
        url,
        size: link.size.as_ref().map(ToString::to_string),
        property: None,
        line: 0,
        col: 0,
    }
}

/// How many links of each kind a note has.
pub fn counts(note: &Note<'_>) -> BTreeMap<Kind, usize> {
    let mut counts = BTreeMap::new();
    let mut count = |text: &str, link: &Link| {
        let kind = Kind::of(link.kind, link.embed, link.subpath.clone().map(|subpath| &text[subpath]));
        *counts.entry(kind).or_default() += 1;
    };
    note.links.iter().for_each(|link| count(note.text, link));
    note.property_links().iter().for_each(|found| count(&found.value, &found.link));
    counts
}
