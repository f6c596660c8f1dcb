//! Line endings, the byte order mark, and the text that callers see.

use std::borrow::Cow;

pub(crate) const BOM: &str = "\u{feff}";

/// How a file ends its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    Lf,
    CrLf,
    Cr,
    Mixed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not valid UTF-8 from byte {valid_up_to} on")]
pub struct NotUtf8 {
    pub valid_up_to: usize,
}

/// How the text that callers see differs from the text of the file: no byte order mark, `\n` line endings.
#[derive(Debug)]
pub(crate) struct ShownText {
    /// `None` if it is the text of the file itself, after its byte order mark.
    shown: Option<String>,
    /// Offsets in the shown text of each `\n` whose `\r` is not shown.
    folded: Vec<usize>,
    pub(crate) eol: LineEnding,
    /// What new lines get; for mixed files the most common ending.
    pub(crate) line_end: &'static str,
}

impl ShownText {
    /// For a file without carriage returns.
    pub(crate) const PLAIN: Self = Self { shown: None, folded: Vec::new(), eol: LineEnding::Lf, line_end: "\n" };

    pub(crate) fn of(raw: &str) -> Self {
        let body = raw.strip_prefix(BOM).unwrap_or(raw);
        // Most files: nothing to fold, and the shown text is the file itself.
        if !body.contains('\r') {
            return Self::PLAIN;
        }
        let mut shown = String::with_capacity(body.len());
        let mut folded = Vec::new();
        let (mut lf, mut crlf, mut cr) = (0_usize, 0_usize, 0_usize);
        let mut rest = body;
        while let Some(at) = rest.find(['\r', '\n']) {
            shown.push_str(&rest[..at]);
            // The position is remembered, so that spans of the shown text map back to the bytes of the file.
            let length = if rest[at..].starts_with("\r\n") {
                crlf += 1;
                // Only these two bytes become one.
                folded.push(shown.len());
                2
            } else {
                *(if rest[at..].starts_with('\r') { &mut cr } else { &mut lf }) += 1;
                1
            };
            shown.push('\n');
            rest = &rest[at + length..];
        }
        shown.push_str(rest);
        let eol = match (lf, crlf, cr) {
            // All carriage returns are part of a pair.
            (0, _, 0) => LineEnding::CrLf,
            (0, 0, _) => LineEnding::Cr,
            _ => LineEnding::Mixed,
        };
        // New lines get the most common ending; `\n` wins a tie.
        let line_end = if crlf > lf && crlf >= cr {
            "\r\n"
        } else if cr > lf {
            "\r"
        } else {
            "\n"
        };
        Self { shown: Some(shown), folded, eol, line_end }
    }

    pub(crate) fn shown<'t>(&'t self, raw: &'t str) -> &'t str {
        self.shown.as_deref().unwrap_or_else(|| raw.strip_prefix(BOM).unwrap_or(raw))
    }

    /// How many bytes of line endings before a place of the shown text are not shown.
    pub(crate) fn folded_before(&self, at: usize) -> usize {
        self.folded.partition_point(|folded| *folded < at)
    }
}

/// A file as shown to callers, for any bytes: without a byte order mark, with `\n` line endings, and with `\u{fffd}`
/// for invalid UTF-8.
pub fn shown_text(bytes: &[u8]) -> Cow<'_, str> {
    let body = bytes.strip_prefix(BOM.as_bytes()).unwrap_or(bytes);
    match String::from_utf8_lossy(body) {
        Cow::Borrowed(text) => plain_line_ends(text),
        Cow::Owned(text) => Cow::Owned(plain_line_ends(&text).into_owned()),
    }
}

/// The text with every line ending as `\n`.
pub(crate) fn plain_line_ends(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}
