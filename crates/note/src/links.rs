//! Links with their parts.

use std::{borrow::Cow, fmt, ops::Range};

use crate::{Note, span::trim};

mod follow;
mod labels;
mod target;
#[cfg(test)]
mod tests;
mod written;

pub use follow::{BlockRename, HeadingRename, LinkOutcome, PartTransfer, TransferSide};
pub(crate) use labels::ReferenceLabels;
pub(crate) use written::{InlineParts, definition, inline_parts, wiki};

/// How a link is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// `[[path#subpath|alias]]`
    Wiki,
    /// `[alias](path#subpath "title")`
    Markdown,
    /// `[alias][label]`, `[label][]` or `[label]`; path and subpath are in the definition.
    Reference,
    /// `<https://…>` or the bare address.
    Url,
}

/// A link with its parts, each a span of the text it was parsed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub kind: LinkKind,
    /// Its target is shown in place: `![[…]]`, `![…](…)`.
    pub embed: bool,
    /// Leads to a file of the vault or within the note, not to the web.
    pub internal: bool,
    /// The whole construct, including a leading `!`.
    pub span: Range<usize>,
    /// Path and subpath; of a Markdown link with the `<>` around them, of a reference link its label.
    pub destination: Range<usize>,
    /// The part that names the file, before the first `#`; empty if the link leads within the note.
    pub path: Range<usize>,
    /// The part that names a place in the file, from the first `#` on.
    pub subpath: Option<Range<usize>>,
    /// The text to show instead of the target; for an image its alternative text. Without the size.
    pub alias: Option<Range<usize>>,
    pub size: Option<EmbedSize>,
    /// Without its quotes.
    pub title: Option<Range<usize>>,
}

/// How large to show an embed, in pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbedSize {
    pub span: Range<usize>,
    pub width: u32,
    pub height: Option<u32>,
}

impl fmt::Display for EmbedSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.height {
            Some(height) => write!(formatter, "{}x{height}", self.width),
            None => write!(formatter, "{}", self.width),
        }
    }
}

/// `[label]: destination "title"`, the target of reference links. Obsidian does not count it as a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkDefinition {
    pub span: Range<usize>,
    pub label: Range<usize>,
    pub destination: Range<usize>,
    pub path: Range<usize>,
    pub subpath: Option<Range<usize>>,
    pub title: Option<Range<usize>>,
    pub internal: bool,
}

/// A property whose whole value is a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyLink {
    /// The path of the value: `related.0`, `a.b.1`.
    pub key: String,
    /// The value as parsed by YAML; the spans of `link` are spans of this text.
    pub value: String,
    pub link: Link,
    /// The YAML value, including quotes, in the note.
    pub span: Range<usize>,
    /// The offset of the value in the note, if it is written without escapes: add it to a span of `link` to get a span
    /// of the note.
    pub offset: Option<usize>,
}

/// The place in a file that a subpath names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkPlace<'a> {
    /// `#A#B`: a heading `B` below a heading `A`.
    Headings(Vec<&'a str>),
    /// `#^id`
    Block(&'a str),
    /// `#[^1]`
    Footnote(&'a str),
}

impl Note<'_> {
    /// The definition that a reference link leads to: of several with the same label the first.
    pub fn definition_of(&self, link: &Link) -> Option<&LinkDefinition> {
        // Only a reference link has a label where others have their destination.
        let written = (link.kind == LinkKind::Reference).then(|| &self.text[link.destination.clone()])?;
        self.definitions.get(self.labels.find(written)?)
    }
}

impl LinkDefinition {
    /// A reference link to this definition, with its destination in place of the label.
    pub fn followed_by(&self, link: &Link) -> Link {
        // Its words and its place stay those of the link.
        let Self { destination, path, subpath, internal, .. } = self.clone();
        Link { internal, destination, path, subpath, ..link.clone() }
    }

    /// A definition is parsed like the destination of a Markdown link.
    pub fn as_link(&self) -> Link {
        let Self { span, destination, path, subpath, title, internal, .. } = self.clone();
        Link {
            kind: LinkKind::Markdown,
            embed: false,
            internal,
            span,
            destination,
            path,
            subpath,
            alias: None,
            size: None,
            title,
        }
    }
}

impl Link {
    /// The target file, as Obsidian looks it up: without percent escapes (Markdown links only), plain spaces, trimmed.
    /// Not in NFC: file names are not either, and the resolver normalises both.
    pub fn target<'t>(&self, text: &'t str) -> Cow<'t, str> {
        target::target(self.kind, &text[self.path.clone()])
    }

    /// The address of a link to the web, as written: without the `<>` around it, and with the scheme that `<me@x.y>`
    /// omits.
    pub fn address<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let written = &text[self.destination.clone()];
        match self.kind {
            // Only an address of mail has no scheme.
            LinkKind::Url if !written.contains(':') => Cow::Owned(format!("mailto:{written}")),
            _ => Cow::Borrowed(written.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(written)),
        }
    }

    /// The place in the file, as written.
    pub fn place<'t>(&self, text: &'t str) -> Option<LinkPlace<'t>> {
        Some(LinkPlace::of(&text[self.subpath.clone()?]))
    }

    /// The subpath as Obsidian looks it up: without percent escapes (Markdown links only).
    pub fn decoded_subpath<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        Some(target::target(self.kind, &text[self.subpath.clone()?]))
    }
}

impl<'a> LinkPlace<'a> {
    /// A subpath is split at each `#`, and empty parts do not count.
    pub fn of(subpath: &'a str) -> Self {
        let parts: Vec<&str> = subpath.split('#').map(str::trim).filter(|part| !part.is_empty()).collect();
        match parts[..] {
            // A block or a footnote is never below a heading: `#A#^id` are two headings to Obsidian.
            [only] if only.starts_with('^') => Self::Block(&only[1..]),
            [only] if only.starts_with("[^") && only.ends_with(']') => Self::Footnote(&only[2..only.len() - 1]),
            _ => Self::Headings(parts),
        }
    }
}

/// Path and subpath of a destination.
pub(crate) fn split_destination(text: &str, span: Range<usize>) -> (Range<usize>, Option<Range<usize>>) {
    match memchr::memchr(b'#', text[span.clone()].as_bytes()) {
        // A name may be followed by blanks before its `#`.
        Some(at) => (trim(text, span.start..span.start + at), Some(span.start + at..span.end)),
        None => (span, None),
    }
}

/// Whether a Markdown destination stays in the vault: it does unless it has a scheme. With a broken percent escape a
/// link leads nowhere; an image is looked up as written.
pub(crate) fn is_internal(destination: &str, image: bool) -> bool {
    destination.starts_with("./")
        || destination.starts_with("../")
        || (!destination.contains(':') && (image || target::decodes(destination)))
}

/// `300` or `300x200`, spaces allowed.
pub(crate) fn size(text: &str, span: Range<usize>) -> Option<EmbedSize> {
    let span = trim(text, span);
    let (width, height) = match text[span.clone()].split_once('x') {
        Some((width, height)) => (width, Some(height)),
        None => (&text[span.clone()], None),
    };
    let pixels = |digits: &str| {
        let digits = digits.trim();
        // `parse` alone would accept a sign.
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let height = match height {
        Some(height) => Some(pixels(height)?),
        None => None,
    };
    Some(EmbedSize { width: pixels(width)?, height, span })
}
