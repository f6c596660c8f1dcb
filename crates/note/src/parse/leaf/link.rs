//! Links of a leaf, including those of the Markdown parser.

use std::ops::Range;

use pulldown_cmark::LinkType;

use super::{InlineScan, OpenLink};
use crate::{Link, LinkKind, links, tags::is_space};

impl InlineScan<'_, '_, '_> {
    pub(super) fn link(&mut self, link_type: LinkType, image: bool, span: Range<usize>, inner_end: usize) {
        if matches!(link_type, LinkType::Autolink | LinkType::Email) {
            let inner = span.start + 1..span.end - 1;
            self.note.links.push(url(self.text, span.clone(), inner));
            return self.jump(span.end);
        }
        let from = span.start + if image { 2 } else { 1 };
        let inner_end = inner_end.max(from);
        // The last `]` within the link: its text may contain brackets.
        let Some(close) = self.bytes.get(inner_end..span.end).and_then(|rest| memchr::memchr(b']', rest)) else {
            return self.jump(from);
        };
        let close = inner_end + close;
        // The parser ends `[label][]` after the label.
        let empty = link_type == LinkType::Collapsed && self.bytes[close..].starts_with(b"][]");
        let span = span.start..if empty { close + 3 } else { span.end };
        let found = markdown(self.text, link_type, image, span.clone(), from..close);
        self.note.links.push(found);
        if image {
            // The alternative text of an image is plain text.
            return self.jump_lines(span.end);
        }
        self.link = Some(OpenLink { inner_end: close, end: span.end });
        self.jump(from);
    }

    pub(super) fn wiki(&mut self, open: usize, embed: bool) -> bool {
        let limit = self.comment.unwrap_or(self.bytes.len());
        let Some(link) = links::wiki(self.text, open, limit, embed) else { return false };
        let end = link.span.end;
        self.note.links.push(link);
        self.jump(end);
        true
    }

    /// `https://…` without brackets around it. Obsidian ends it as GitHub does: before a blank, `<`, and trailing
    /// punctuation.
    pub(super) fn bare_url(&mut self) {
        let at = self.at;
        let before = &self.bytes[self.run.min(at)..at];
        let letters = before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let scheme = &before[before.len() - letters..];
        let known = scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https");
        // An address within the text of a link is not a second link.
        if !known || self.link.is_some() {
            self.at += 3;
            return;
        }
        let rest = &self.text[at + 3..self.comment.unwrap_or(self.bytes.len())];
        // `]` ends it, too, or a link in brackets would take the bracket with it.
        let long = rest.find(|c: char| is_space(c) || matches!(c, '<' | ']')).unwrap_or(rest.len());
        let found = without_closing_punctuation(&rest[..long]);
        if found.is_empty() {
            self.at += 3;
            return;
        }
        let span = at - letters..at + 3 + found.len();
        self.note.links.push(url(self.text, span.clone(), span.clone()));
        self.jump(span.end);
    }
}

/// An address without the punctuation that ends the surrounding sentence, and without an unbalanced `)`.
fn without_closing_punctuation(address: &str) -> &str {
    let count = |byte| memchr::memchr_iter(byte, address.as_bytes()).count();
    let mut unopened = count(b')').saturating_sub(count(b'('));
    address.trim_end_matches(|c: char| {
        let closes = c == ')' && unopened > 0;
        unopened -= usize::from(closes);
        closes || matches!(c, '?' | '!' | '.' | ',' | ':' | ';' | '*' | '_' | '~' | '\'' | '"')
    })
}

fn url(text: &str, span: Range<usize>, inner: Range<usize>) -> Link {
    let (path, subpath) = links::split_destination(text, inner.clone());
    Link {
        kind: LinkKind::Url,
        embed: false,
        internal: false,
        span,
        destination: inner,
        path,
        subpath,
        alias: None,
        size: None,
        title: None,
    }
}

/// A link of the Markdown parser with its parts in the text. `inner` is the text in its brackets.
fn markdown(text: &str, link_type: LinkType, image: bool, span: Range<usize>, inner: Range<usize>) -> Link {
    let (alias, size) = if image { image_alias(text, inner.clone()) } else { (Some(inner.clone()), None) };
    let alias = alias.filter(|alias| !alias.is_empty());
    // `[text](destination)`: the destination follows the closing bracket.
    if link_type == LinkType::Inline {
        let parts = links::inline_parts(text, (inner.end + 2).min(span.end - 1)..span.end - 1, image);
        let links::InlineParts { destination, path, subpath, title, internal } = parts;
        return Link {
            kind: LinkKind::Markdown,
            embed: image,
            internal,
            span,
            destination,
            path,
            subpath,
            alias,
            size,
            title,
        };
    }
    // `[text][label]` has its own label; `[label][]` and `[label]` use the text.
    let written = inner.end + 2..span.end.saturating_sub(1);
    let label = if link_type == LinkType::Reference && written.start < written.end { written } else { inner };
    Link {
        kind: LinkKind::Reference,
        embed: image,
        internal: false,
        span,
        path: label.end..label.end,
        destination: label,
        subpath: None,
        alias,
        size,
        title: None,
    }
}

/// The alternative text of an image and the size after its last pipe, or on its own.
fn image_alias(text: &str, inner: Range<usize>) -> (Option<Range<usize>>, Option<links::EmbedSize>) {
    let pipe = memchr::memrchr(b'|', text[inner.clone()].as_bytes()).map(|at| inner.start + at);
    let size = links::size(text, pipe.map_or(inner.start, |pipe| pipe + 1)..inner.end);
    match (size, pipe) {
        (None, _) => (Some(inner), None),
        (size, None) => (None, size),
        (size, Some(pipe)) => {
            let alias = text[inner.start..pipe].trim_end_matches('\\').len();
            (Some(inner.start..inner.start + alias), size)
        }
    }
}
