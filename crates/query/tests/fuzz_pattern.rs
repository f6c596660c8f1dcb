//! Patterns of every kind on texts of every kind: nothing panics, and all answers are consistent. A short run as a
//! test; `BOLERO_RANDOM_ITERATIONS` makes it longer, `cargo bolero test` gives it to a fuzzer.

use bolero::check;
use lapidary_query::{LetterCase, Pattern, PatternKind, PatternOptions};

/// What patterns are made of.
const PIECES: [&str; 62] = [
    "a",
    "b",
    "é",
    "e\u{301}",
    "石",
    ".",
    "*",
    "+",
    "?",
    "{2}",
    "{,3}",
    "{1,3}",
    "{",
    "}",
    "|",
    "^",
    "$",
    "(",
    ")",
    "(?:",
    "(?=",
    "(?!",
    "(?<=",
    "(?<!",
    "(?>",
    "(?<n>",
    "(?P<m>",
    "(?P=m)",
    r"\k<n>",
    r"\1",
    r"\2",
    "(?i)",
    "(?-i:",
    "(?s)",
    "(?x)",
    "[",
    "]",
    "[^",
    "[]",
    "-",
    "&&",
    "[:alpha:]",
    r"\",
    r"\d",
    r"\D",
    r"\w",
    r"\W",
    r"\s",
    r"\b",
    r"\B",
    r"\n",
    r"\r",
    r"\u00e9",
    r"\u{1F600}",
    r"\uD83D",
    r"\uDE00",
    r"\x41",
    r"\cI",
    r"\0",
    r"\p{L}",
    r"\/",
    "\n",
];

fn pattern_text(bytes: &[u8]) -> String {
    // Bytes beyond the pieces are used literally.
    let mut text = String::new();
    for byte in bytes.iter().take(24) {
        match PIECES.get(usize::from(*byte) % 80) {
            Some(piece) => text.push_str(piece),
            None => text.push(char::from(*byte)),
        }
    }
    text
}

/// Lines of pieces of patterns, so that they often match, and of invalid UTF-8.
fn searched_text(bytes: &[u8]) -> Vec<u8> {
    let pieces: [&[u8]; 12] = [
        b"a",
        b"b",
        b"aab",
        "é".as_bytes(),
        b"e\xcc\x81",
        "石".as_bytes(),
        b"\n",
        b"\r\n",
        b"\r",
        b" ",
        b"1",
        b"\xef\xbb\xbf",
    ];
    let mut text = Vec::new();
    for byte in bytes {
        match pieces.get(usize::from(*byte) % 16) {
            Some(piece) => text.extend_from_slice(piece),
            None => text.push(*byte),
        }
    }
    text
}

#[test]
fn patterns() {
    check!().with_type::<(Vec<u8>, Vec<u8>, u8)>().for_each(|(pattern, bytes, flags)| {
        let options = PatternOptions {
            kind: if flags & 1 == 0 { PatternKind::Regex } else { PatternKind::Literal },
            case: if flags & 2 == 0 { LetterCase::Sensitive } else { LetterCase::Insensitive },
            whole_word: flags & 4 != 0,
            nfc: flags & 8 != 0,
        };
        let sought = pattern_text(pattern);
        let Ok(pattern) = Pattern::compile(&sought, &options) else { return };
        let text = searched_text(bytes);
        let count = pattern.count_lines(&text, &|| false);
        let mut lines = pattern.lines(&text, &|| false);
        let (mut found, mut number) = (0, 0);
        for line in lines.by_ref() {
            assert!(line.number > number);
            assert!(!line.matches.is_empty(), "{sought} {options:?} {:?} {line:?}", String::from_utf8_lossy(&text));
            let content = &text[line.span.clone()];
            assert!(!content.contains(&b'\n'));
            let mut end = 0;
            for span in &line.matches {
                assert!(span.start >= end && span.end >= span.start && span.end <= content.len());
                end = span.end;
            }
            number = line.number;
            found += 1;
        }
        assert_eq!((count.lines, count.undecided, count.stopped), (found, lines.undecided(), false));
        let stopped = pattern.count_lines(&text, &|| true);
        assert!(stopped.lines == 0 && (stopped.stopped || text.is_empty() || text == b"\xef\xbb\xbf"));
    });
}
