//! Links of notes and canvases, as the file tools show them.

use std::collections::BTreeMap;

use lapidary_note::{CanvasKind, Link, LinkForm, LinkKind, LinkPlace, Note, canvas_values};
use lapidary_vault::{
    VaultPath, VisibleFiles,
    links::{LinkFormat, linkpath_for},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::place::LineColumns;

/// The file tools' names for kinds of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkWord {
    Wiki,
    Embed,
    HeaderRef,
    BlockRef,
    Markdown,
}

impl LinkWord {
    /// In words, after a number.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wiki => "wiki",
            Self::Embed => "embeds",
            Self::HeaderRef => "to headings",
            Self::BlockRef => "to blocks",
            Self::Markdown => "markdown",
        }
    }

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

/// A link that is written for a file.
pub struct NewLink {
    pub text: String,
    /// What it names, not encoded.
    pub target: String,
}

impl NewLink {
    /// A link from a note to a file, in this form or, if its name cannot be written in that one, in the other. `None` if
    /// Obsidian has no link to such a name.
    pub fn to(
        files: &VisibleFiles,
        path: &VaultPath,
        source: &VaultPath,
        format: LinkFormat,
        form: LinkForm,
        words: &str,
    ) -> Option<Self> {
        let other = if form == LinkForm::Wiki { LinkForm::Markdown } else { LinkForm::Wiki };
        let leads_there = |target: &str| files.resolve(target, source) == Some(path);
        let written = |form: LinkForm| {
            let target = linkpath_for(files, path, source, format, form);
            let text = form.written(&target, words).filter(|_| leads_there(&target))?;
            Some(Self { text, target })
        };
        written(form).or_else(|| written(other))
    }
}

/// A link in a note.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutLink {
    pub kind: LinkWord,
    /// As written, decoded; empty for a link into the note itself.
    pub target: String,
    /// The file it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// For a Markdown link: its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// For a Markdown link: its destination as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// For an embed: `width` or `widthxheight`.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<String>,
    /// The property that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    pub line: usize,
    col: usize,
}

/// The links of a note as they are written, properties first.
pub fn out_links(note: &Note<'_>, source: &VaultPath, files: &VisibleFiles) -> Vec<OutLink> {
    let places = LineColumns::of(note.text);
    let mut found: Vec<OutLink> = Vec::new();
    // Properties come first in the file, so the list stays in its order.
    for property in note.property_links() {
        let mut link = out_link(&property.value, &property.link, source, files);
        (link.line, link.col) = (places.line(property.span.start), places.column(property.span.start));
        link.property = Some(property.key);
        found.push(link);
    }
    for link in &note.links {
        // The destination of a reference link is elsewhere in the note.
        let written = note.definition_of(link).map(|definition| definition.followed_by(link));
        let mut out = out_link(note.text, written.as_ref().unwrap_or(link), source, files);
        (out.line, out.col) = (places.line(link.span.start), places.column(link.span.start));
        found.push(out);
    }
    found
}

/// A link on a canvas, and the text that contains it, if any.
pub struct CanvasLink {
    pub link: OutLink,
    pub line: String,
}

/// The cards of a canvas that show files, and the links in its texts. A file that is not a valid canvas has none. Lines
/// and columns are those of the file.
pub fn canvas_links(text: &str, source: &VaultPath, files: &VisibleFiles) -> Vec<CanvasLink> {
    let places = LineColumns::of(text);
    let mut found: Vec<CanvasLink> = Vec::new();
    for value in canvas_values(text).unwrap_or_default() {
        let (line, col) = (places.line(value.span.start), places.column(value.span.start));
        match value.kind {
            CanvasKind::Path => {
                // A path from the vault root, not a name to resolve.
                let path = VaultPath::parse(&value.value).ok().and_then(|path| files.find(&path));
                let path = path.map(|entry| entry.path().to_string());
                let link = OutLink { path, line, col, ..OutLink::to(LinkWord::Embed, value.value) };
                found.push(CanvasLink { link, line: String::new() });
            }
            CanvasKind::Subpath { file } => {
                // A card's part comes after its file in the JSON, so it belongs to the last card of that file.
                let Some(card) = found.iter_mut().rev().find(|card| card.link.target == file) else { continue };
                (card.link.heading, card.link.block_id) = place(&value.value);
            }
            CanvasKind::Text => {
                let note = Note::parse(&value.value);
                let lines: Vec<&str> = value.value.lines().collect();
                for link in out_links(&note, source, files) {
                    let text = lines.get(link.line.saturating_sub(1)).copied().unwrap_or_default().to_owned();
                    // Positions within a card say nothing; those of the card in the file do.
                    found.push(CanvasLink { link: OutLink { line, col, ..link }, line: text });
                }
            }
            CanvasKind::Label => {}
        }
    }
    found
}

impl OutLink {
    fn to(kind: LinkWord, target: String) -> Self {
        Self {
            kind,
            target,
            path: None,
            heading: None,
            block_id: None,
            alias: None,
            text: None,
            url: None,
            size: None,
            property: None,
            line: 0,
            col: 0,
        }
    }
}

/// The heading or block that a link points to.
fn place(subpath: &str) -> (Option<String>, Option<String>) {
    match LinkPlace::of(subpath) {
        LinkPlace::Block(id) => (None, Some(id.to_owned())),
        LinkPlace::Headings(parts) => (Some(parts.join("#")), None),
        LinkPlace::Footnote(_) => (None, None),
    }
}

fn out_link(text: &str, link: &Link, source: &VaultPath, files: &VisibleFiles) -> OutLink {
    let subpath = link.subpath.clone().map(|subpath| &text[subpath]);
    let kind = LinkWord::of(link.kind, link.embed, subpath);
    let target = link.target(text);
    // Addresses of the web are not resolved.
    let path = link.internal.then(|| files.resolve(&target, source)).flatten();
    let written = link.decoded_subpath(text);
    let (heading, block_id) = written.as_deref().map(place).unwrap_or_default();
    let alias = link.alias.clone().map(|alias| text[alias].to_owned());
    let markdown = kind == LinkWord::Markdown;
    let url = markdown.then(|| link.address(text).into_owned());
    OutLink {
        path: path.map(ToString::to_string),
        // The fragment of a web address is not a heading.
        heading: heading.filter(|_| link.internal),
        block_id: block_id.filter(|_| link.internal),
        text: alias.clone().filter(|_| markdown),
        alias: alias.filter(|_| !markdown),
        url: url.clone(),
        size: link.size.as_ref().map(ToString::to_string),
        ..OutLink::to(kind, if link.internal { target.into_owned() } else { url.unwrap_or_default() })
    }
}

/// How many links of each kind a note has.
pub fn counts(note: &Note<'_>) -> BTreeMap<LinkWord, usize> {
    let mut counts = BTreeMap::new();
    let mut count = |text: &str, link: &Link| {
        let kind = LinkWord::of(link.kind, link.embed, link.subpath.clone().map(|subpath| &text[subpath]));
        *counts.entry(kind).or_default() += 1;
    };
    note.links.iter().for_each(|link| count(note.text, link));
    note.property_links().iter().for_each(|found| count(&found.value, &found.link));
    counts
}
