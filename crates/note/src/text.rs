use std::{borrow::Cow, ops::Range};

const BOM: &str = "\u{feff}";

/// How a file ends its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eol {
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

/// A file's bytes read as text.
///
/// Callers see and send text without a byte order mark and with `\n` line ends ([`Text::shown`]); the
/// file keeps whatever it had. Spans of the shown text map back to exact spans of the file.
pub struct Text<'a> {
    raw: &'a str,
    shown: Cow<'a, str>,
    /// Offsets in `shown` of each `\n` whose `\r` is not shown.
    folded: Vec<usize>,
    eol: Eol,
    /// What new lines get; for mixed files the commonest ending.
    line_end: &'static str,
}

impl<'a> Text<'a> {
    pub fn decode(bytes: &'a [u8]) -> Result<Self, NotUtf8> {
        let raw = str::from_utf8(bytes).map_err(|error| NotUtf8 { valid_up_to: error.valid_up_to() })?;
        let body = raw.strip_prefix(BOM).unwrap_or(raw);
        if !body.contains('\r') {
            return Ok(Self { raw, shown: Cow::Borrowed(body), folded: Vec::new(), eol: Eol::Lf, line_end: "\n" });
        }
        let mut shown = String::with_capacity(body.len());
        let mut folded = Vec::new();
        let (mut lf, mut crlf, mut cr) = (0_usize, 0_usize, 0_usize);
        let mut rest = body;
        while let Some(at) = rest.find(['\r', '\n']) {
            shown.push_str(&rest[..at]);
            let length = if rest[at..].starts_with("\r\n") {
                crlf += 1;
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
            (0, _, 0) => Eol::CrLf,
            (0, 0, _) => Eol::Cr,
            _ => Eol::Mixed,
        };
        let line_end = if crlf > lf && crlf >= cr {
            "\r\n"
        } else if cr > lf {
            "\r"
        } else {
            "\n"
        };
        Ok(Self { raw, shown: Cow::Owned(shown), folded, eol, line_end })
    }

    /// The text as callers see it: no byte order mark, every line end a `\n`.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    pub fn has_bom(&self) -> bool {
        self.raw.starts_with(BOM)
    }

    pub fn eol(&self) -> Eol {
        self.eol
    }

    /// Lines as editors count them: a final line end does not begin another line.
    pub fn line_count(&self) -> usize {
        self.shown.split_inclusive('\n').count()
    }

    /// The bytes of the file that stand behind a span of the shown text.
    pub fn file_span(&self, shown: Range<usize>) -> Range<usize> {
        self.file_offset(shown.start)..self.file_offset(shown.end)
    }

    fn file_offset(&self, shown: usize) -> usize {
        let bom = if self.has_bom() { BOM.len() } else { 0 };
        bom + shown + self.folded.partition_point(|at| *at < shown)
    }

    /// A caller's text with the line ends of this file.
    pub fn with_own_line_ends(&self, text: &str) -> String {
        let plain = plain_line_ends(text);
        if self.line_end == "\n" { plain.into_owned() } else { plain.replace('\n', self.line_end) }
    }

    /// A caller's text as the whole of this file: with its byte order mark and line ends.
    pub fn in_own_form(&self, text: &str) -> Vec<u8> {
        let bom = if self.has_bom() && !text.starts_with(BOM) { BOM } else { "" };
        format!("{bom}{}", self.with_own_line_ends(text)).into_bytes()
    }

    /// A caller's text to stand in place of a part: line by line with the ends of that part, so that a file that
    /// mixes them keeps its mixture; further lines end as most do.
    pub(crate) fn with_line_ends_of(&self, part: Range<usize>, text: &str) -> String {
        if self.eol != Eol::Mixed {
            return self.with_own_line_ends(text);
        }
        let ends = self.shown[part.clone()].match_indices('\n').map(|(at, _)| {
            let at = part.start + at;
            &self.raw[self.file_span(at..at + 1)]
        });
        let mut ends = ends.chain(std::iter::repeat(self.line_end));
        let plain = plain_line_ends(text);
        let mut lines = plain.split('\n');
        let mut written = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            written += ends.next().unwrap_or_default();
            written += line;
        }
        written
    }
}

/// The text with every line end as `\n`.
pub(crate) fn plain_line_ends(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_shown_has_no_mark_and_plain_line_ends() {
        for (file, shown, eol, bom) in [
            ("a\nb\n", "a\nb\n", Eol::Lf, false),
            ("a\r\nb\r\n", "a\nb\n", Eol::CrLf, false),
            ("a\rb\r", "a\nb\n", Eol::Cr, false),
            ("a\r\nb\n", "a\nb\n", Eol::Mixed, false),
            ("\u{feff}a\r\nb", "a\nb", Eol::CrLf, true),
            ("\u{feff}\u{feff}", "\u{feff}", Eol::Lf, true),
            ("", "", Eol::Lf, false),
        ] {
            let text = Text::decode(file.as_bytes()).unwrap();
            assert_eq!((text.shown(), text.eol(), text.has_bom()), (shown, eol, bom), "{file:?}");
        }
    }

    #[test]
    fn lines_are_counted_as_editors_count_them() {
        for (file, lines) in [("", 0), ("a", 1), ("a\n", 1), ("\n", 1), ("a\r\nb", 2), ("a\n\n", 2)] {
            assert_eq!(Text::decode(file.as_bytes()).unwrap().line_count(), lines, "{file:?}");
        }
    }

    #[test]
    fn new_text_takes_on_the_line_ends_of_the_file() {
        for (file, given, written) in [
            ("a\r\nb\r\n", "x\ny", "x\r\ny"),
            ("a\r\nb\r\n", "x\r\ny", "x\r\ny"),
            ("a\nb\n", "x\r\ny", "x\ny"),
            ("a\rb\r", "x\ny", "x\ry"),
            ("a\r\nb\r\nc\n", "x\n", "x\r\n"),
        ] {
            assert_eq!(Text::decode(file.as_bytes()).unwrap().with_own_line_ends(given), written, "{file:?}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_say_where() {
        assert_eq!(Text::decode(b"ab\xff").map(|_| ()), Err(NotUtf8 { valid_up_to: 2 }));
    }

    proptest! {
        #[test]
        fn a_shown_span_maps_to_the_same_text_in_the_file(
            file in "(\u{feff})?([a-zé石\n]|\r\n|\r){0,40}", a in 0_usize..60, b in 0_usize..60,
        ) {
            let text = Text::decode(file.as_bytes()).unwrap();
            let shown = text.shown();
            let (mut start, mut end) = (a.min(b).min(shown.len()), a.max(b).min(shown.len()));
            while !shown.is_char_boundary(start) { start -= 1; }
            while !shown.is_char_boundary(end) { end -= 1; }
            let behind = &file[text.file_span(start..end)];
            prop_assert_eq!(plain_line_ends(behind), &shown[start..end]);
        }
    }
}
