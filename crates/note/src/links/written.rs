//! The parts of a link as it is written.

use std::ops::Range;

use super::{Link, LinkDefinition, LinkKind, is_internal, size, split_destination};
use crate::span::{trim, trim_end};

/// The wikilink whose `[[` is at `open`, if there is one: it ends at the first `]]` of the same line, is not empty, and
/// contains no other `[[`.
pub(crate) fn wiki(text: &str, open: usize, limit: usize, embed: bool) -> Option<Link> {
    let bytes = &text.as_bytes()[..limit];
    let from = open + 2;
    let mut at = from;
    let close = loop {
        at += memchr::memchr3(b'[', b']', b'\n', bytes.get(at..)?)?;
        match (bytes[at], bytes.get(at + 1)) {
            // As in Obsidian: a link ends with its line, and the inner of two openings is the link.
            (b'\n', _) | (b'[', Some(b'[')) => return None,
            (b']', Some(b']')) => break at,
            _ => at += 1,
        }
    };
    // A link to a footnote, `[[a#[^1]]]`, contains a bracket that must not end it.
    let footnote = bytes.get(close + 2) == Some(&b']') && text[from..close].contains("#[^");
    let close = close + usize::from(footnote);
    let inner = trim(text, from..close);
    if inner.is_empty() {
        return None;
    }
    // A leading pipe does not separate.
    let pipe = memchr::memchr(b'|', text[inner.clone()].as_bytes()).filter(|at| *at > 0).map(|at| inner.start + at);
    let destination = destination(text, inner.start..pipe.unwrap_or(inner.end), pipe.is_some());
    let mut alias = pipe.map(|pipe| trim(text, pipe + 1..inner.end));
    let last = if embed { memchr::memrchr(b'|', text[inner.clone()].as_bytes()) } else { None };
    let size = pipe.and(last).and_then(|last| size(text, inner.start + last + 1..inner.end));
    if let (Some(size), Some(shown)) = (&size, &mut alias) {
        // The alias ends before the pipe that separates the size.
        let caption = shown.start..text[..size.span.start].trim_end().len() - 1;
        alias = (caption.start < caption.end).then(|| without_backslash(text, trim(text, caption)));
    }
    let (path, subpath) = split_destination(text, destination.clone());
    let span = open - usize::from(embed)..close + 2;
    Some(Link {
        kind: LinkKind::Wiki,
        embed,
        internal: true,
        span,
        destination,
        path,
        subpath,
        alias,
        size,
        title: None,
    })
}

/// In a table the pipe is written `\|`, and the backslash is not part of the target.
fn destination(text: &str, span: Range<usize>, before_pipe: bool) -> Range<usize> {
    let span = trim(text, span);
    if before_pipe { without_backslash(text, span) } else { span }
}

fn without_backslash(text: &str, span: Range<usize>) -> Range<usize> {
    match text[span.clone()].strip_suffix('\\') {
        Some(rest) => trim_end(text, span.start..span.start + rest.len()),
        None => span,
    }
}

/// The text between the `](` and the `)` of a Markdown link, or after the `:` of a definition.
#[derive(Debug)]
pub(crate) struct InlineParts {
    /// With the `<>` around it.
    pub(crate) destination: Range<usize>,
    pub(crate) path: Range<usize>,
    pub(crate) subpath: Option<Range<usize>>,
    pub(crate) title: Option<Range<usize>>,
    pub(crate) internal: bool,
}

/// Splits a destination with an optional title that a Markdown parser has already accepted.
pub(crate) fn inline_parts(text: &str, span: Range<usize>, image: bool) -> InlineParts {
    let span = trim(text, span);
    let written = &text[span.clone()];
    let (destination, inner) = if let Some(open) = written.strip_prefix('<') {
        let length = unescaped(open, '>').map_or(written.len(), |at| at + 2);
        let inner = span.start + 1..span.start + length.saturating_sub(1).max(1);
        (span.start..span.start + length, inner)
    } else {
        let length = written.bytes().position(|byte| byte.is_ascii_whitespace()).unwrap_or(written.len());
        (span.start..span.start + length, span.start..span.start + length)
    };
    let rest = trim(text, destination.end..span.end);
    let title =
        // The parser has checked the quotes; here they only have to be left out.
        (rest.len() >= 2).then(|| rest.start + 1..rest.end - 1).filter(|title| text.get(title.clone()).is_some());
    let internal = is_internal(&text[inner.clone()], image);
    let (path, subpath) = split_destination(text, inner);
    InlineParts { destination, path, subpath, title, internal }
}

fn unescaped(text: &str, wanted: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let found = c == wanted && !escaped;
        escaped = c == '\\' && !escaped;
        found.then_some(at)
    })
}

/// The parts of `[label]: destination "title"`.
pub(crate) fn definition(text: &str, span: Range<usize>) -> Option<LinkDefinition> {
    let span = trim(text, span);
    let written = text[span.clone()].strip_prefix('[')?;
    let close = unescaped(written, ']')?;
    let label = span.start + 1..span.start + 1 + close;
    text[label.end..].starts_with("]:").then_some(())?;
    let InlineParts { destination, path, subpath, title, internal } =
        inline_parts(text, label.end + 2..span.end, false);
    Some(LinkDefinition { span, label, destination, path, subpath, title, internal })
}
