//! Lines in Unicode's composed form (NFC), and the mapping back to their bytes.

use std::ops::Range;

use unicode_normalization::{IsNormalized, UnicodeNormalization, char::canonical_combining_class, is_nfc_quick};

use super::line;

/// The first byte of U+0300, the first character that composition can affect.
const FIRST_TOUCHED: u8 = 0xcc;

/// Whether composing would leave a text unchanged. A line feed takes part in no composition, so lines are checked
/// separately, and only those with characters that may have to be composed.
pub(super) fn is_nfc(text: &[u8]) -> bool {
    let mut start = 0;
    while let Some(at) = next_touched(text, start) {
        // Characters before the first affected one are always in order, so short runs are enough for a quick yes.
        let run = text[at..].iter().position(u8::is_ascii).map_or(text.len(), |length| at + length);
        if is_composed(&text[at..run], |part| is_nfc_quick(part.chars()) == IsNormalized::Yes) {
            start = run;
            continue;
        }
        let feed = line::line_feed(text, at);
        // From the start of the line, as the quick check cannot tell what a mark belongs to.
        let begin = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
        if !is_composed(&text[begin..feed], unicode_normalization::is_nfc) {
            return false;
        }
        start = feed;
    }
    true
}

fn is_composed(text: &[u8], is_composed: impl Fn(&str) -> bool) -> bool {
    text.utf8_chunks().all(|chunk| is_composed(chunk.valid()))
}

fn next_touched(text: &[u8], start: usize) -> Option<usize> {
    const CHUNK: usize = 256;
    // Processes whole chunks without a branch per byte, which is several times as fast.
    let clean = |chunk: &&[u8]| chunk.iter().fold(0, |most: u8, byte| most.max(*byte)) < FIRST_TOUCHED;
    let skipped = start + text[start..].chunks(CHUNK).take_while(clean).map(<[u8]>::len).sum::<usize>();
    text[skipped..].iter().position(|byte| *byte >= FIRST_TOUCHED).map(|at| skipped + at)
}

/// A line in composed form. Invalid UTF-8 is kept.
pub(super) struct ComposedLine {
    line: Vec<u8>,
    /// Parts that are composed separately, in order: where they start in the composed and in the original line.
    parts: Vec<OffsetPair>,
    original_len: usize,
}

#[derive(Clone, Copy)]
struct OffsetPair {
    composed: usize,
    original: usize,
}

impl ComposedLine {
    pub(super) fn new(original: &[u8]) -> Self {
        let mut composed =
            Self { line: Vec::with_capacity(original.len()), parts: Vec::new(), original_len: original.len() };
        let mut at = 0;
        for chunk in original.utf8_chunks() {
            for part in parts(chunk.valid()) {
                composed.begin_part(at);
                for c in part.nfc() {
                    composed.line.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                at += part.len();
            }
            if !chunk.invalid().is_empty() {
                composed.begin_part(at);
                composed.line.extend_from_slice(chunk.invalid());
                at += chunk.invalid().len();
            }
        }
        composed
    }

    pub(super) fn line(&self) -> &[u8] {
        &self.line
    }

    /// The part of the original line that a span of the composed one corresponds to; whole characters with their marks.
    pub(super) fn original(&self, composed: Range<usize>) -> Range<usize> {
        let first = self.parts.partition_point(|part| part.composed <= composed.start);
        let behind = self.parts.partition_point(|part| part.composed < composed.end);
        // At the end there is no part that begins here.
        let start = if composed.start == self.line.len() { None } else { first.checked_sub(1) };
        let place = |index: usize| self.parts.get(index).map_or(self.original_len, |part| part.original);
        let start = start.map_or(self.original_len, place);
        // An empty match is before its character.
        start..if composed.is_empty() { start } else { place(behind).max(start) }
    }

    fn begin_part(&mut self, original: usize) {
        self.parts.push(OffsetPair { composed: self.line.len(), original });
    }
}

/// Splits a text before each character that never composes with the one before it.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().skip(1).find(|(_, c)| begins_part(*c)).map_or(rest.len(), |(at, _)| at);
        let (part, behind) = rest.split_at(end);
        rest = behind;
        (!part.is_empty()).then_some(part)
    })
}

fn begins_part(c: char) -> bool {
    canonical_combining_class(c) == 0 && is_nfc_quick(std::iter::once(c)) == IsNormalized::Yes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spans_lead_back_to_whole_characters() {
        // e + acute, plain x, Hangul jamo, an invalid byte, angstrom sign.
        let line = b"e\xcc\x81x\xe1\x84\x80\xe1\x85\xa1\xff\xe2\x84\xab";
        let composed = ComposedLine::new(line);
        assert_eq!(composed.line(), b"\xc3\xa9x\xea\xb0\x80\xff\xc3\x85");
        for (span, original) in [
            (0..2, 0..3),
            (2..3, 3..4),
            (3..6, 4..10),
            (6..7, 10..11),
            (7..9, 11..14),
            (0..9, 0..14),
            (9..9, 14..14),
            (2..2, 3..3),
        ] {
            assert_eq!(composed.original(span.clone()), original, "{span:?}");
        }
    }

    #[test]
    fn composed_text_is_recognised_without_composing_it() {
        for (text, composed) in [
            ("", true),
            ("plain", true),
            ("é ü ß ÿ", true),
            ("“quoted” – 石 😀 가", true),
            ("plain\ne\u{301}\n", false),
            ("\u{212b}", false),
            ("\u{1100}\u{1161}", false),
            ("\u{301}", true),
        ] {
            assert_eq!(is_nfc(text.as_bytes()), composed, "{text:?}");
            let long = format!("{}\n{text}", "word ".repeat(1000));
            assert_eq!(is_nfc(long.as_bytes()), composed, "{text:?}");
        }
        assert!(is_nfc(b"\xff\xcc\xff"));
    }

    proptest! {
        #[test]
        fn parts_compose_to_the_same_as_the_whole(text in "[ae\u{300}\u{301}\u{323}\u{327}\u{1100}\u{1161}\u{11a8}\u{212b}\u{958}가\u{e9}x]{0,12}") {
            let whole: String = text.nfc().collect();
            let composed = ComposedLine::new(text.as_bytes());
            prop_assert_eq!(composed.line(), whole.as_bytes());
            prop_assert_eq!(is_nfc(text.as_bytes()), whole == text);
            for (at, c) in whole.char_indices() {
                let original = composed.original(at..at + c.len_utf8());
                prop_assert!(text.get(original).is_some_and(|part| part.nfc().collect::<String>().contains(c)));
            }
        }
    }
}
