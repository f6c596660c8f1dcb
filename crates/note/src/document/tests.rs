//! Tests of shown text, spans and hashes.

use proptest::prelude::*;

use crate::{ContentHash, Document, LineEnding, LineRange, NotUtf8, shown_text, text::plain_line_ends};

fn open(file: &str) -> Document {
    Document::open(file.to_owned()).unwrap()
}

#[test]
fn shown_text_has_no_mark_and_plain_line_endings() {
    for (file, shown, eol, bom) in [
        ("a\nb\n", "a\nb\n", LineEnding::Lf, false),
        ("a\r\nb\r\n", "a\nb\n", LineEnding::CrLf, false),
        ("a\rb\r", "a\nb\n", LineEnding::Cr, false),
        ("a\r\nb\n", "a\nb\n", LineEnding::Mixed, false),
        ("\u{feff}a\r\nb", "a\nb", LineEnding::CrLf, true),
        ("\u{feff}\u{feff}", "\u{feff}", LineEnding::Lf, true),
        ("", "", LineEnding::Lf, false),
    ] {
        let document = open(file);
        assert_eq!((document.shown(), document.eol(), document.has_bom()), (shown, eol, bom), "{file:?}");
    }
}

#[test]
fn lines_are_counted_as_editors_count_them() {
    for (file, lines) in [("", 0), ("a", 1), ("a\n", 1), ("\n", 1), ("a\r\nb", 2), ("a\n\n", 2)] {
        assert_eq!(open(file).line_count(), lines, "{file:?}");
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
        assert_eq!(open(file).with_own_line_ends(given), written, "{file:?}");
    }
}

#[test]
fn bytes_that_are_not_text_say_where() {
    assert_eq!(Document::open(b"ab\xff".to_vec()).map(|_| ()), Err(NotUtf8 { valid_up_to: 2 }));
}

proptest! {
    #[test]
    fn a_shown_span_maps_to_the_same_text_in_the_file(
        file in "(\u{feff})?([a-zé石\n]|\r\n|\r){0,40}", a in 0_usize..60, b in 0_usize..60,
    ) {
        let text = open(&file);
        let shown = text.shown();
        let (mut start, mut end) = (a.min(b).min(shown.len()), a.max(b).min(shown.len()));
        while !shown.is_char_boundary(start) { start -= 1; }
        while !shown.is_char_boundary(end) { end -= 1; }
        let behind = &file[text.file_span(start..end)];
        prop_assert_eq!(plain_line_ends(behind), &shown[start..end]);
    }
}

#[test]
fn a_part_is_hashed_as_the_bytes_behind_it() {
    let document = open("\u{feff}a\r\nb\nc");
    for (part, bytes) in
        [(0..6, "\u{feff}a\r\nb\nc"), (0..2, "\u{feff}a\r\n"), (2..4, "b\n"), (4..5, "c"), (1..2, "\r\n"), (5..5, "")]
    {
        let part = part.start..part.end.min(document.shown().len());
        assert_eq!(document.hash_of(part.clone()), Some(ContentHash::of(bytes.as_bytes())), "{part:?}");
    }
    assert_eq!(document.hash_of(0..99), None);
    for (from, to, bytes) in [(1, 1, "\u{feff}a\r\n"), (2, 2, "b\n"), (2, 9, "b\nc"), (4, 5, ""), (0, 1, "")] {
        assert_eq!(document.hash_of_lines(LineRange { from, to }), ContentHash::of(bytes.as_bytes()));
    }
}

#[test]
fn invalid_utf8_is_shown_as_well_as_possible() {
    for (bytes, shown) in
        [(&b"\xef\xbb\xbfa\r\nb\rc\n"[..], "a\nb\nc\n"), (b"a\n", "a\n"), (b"\xef\xbb\xbfa\xff\r\n\r", "a\u{fffd}\n\n")]
    {
        assert_eq!(shown_text(bytes), shown, "{bytes:?}");
    }
}
