//! Tests of patterns and their limits.

#![expect(clippy::single_range_in_vec_init, reason = "lists of ranges are meant")]

use std::{cell::Cell, ops::Range, time::Duration};

use cpu_time::ThreadTime;

use super::*;

const ON: &dyn Fn() -> bool = &|| false;

/// `i` for any case, `w` for whole words, `n` for NFC, `/` for a regular expression.
fn options(flags: &str) -> PatternOptions {
    PatternOptions {
        kind: if flags.contains('/') { PatternKind::Regex } else { PatternKind::Literal },
        case: if flags.contains('i') { LetterCase::Insensitive } else { LetterCase::Sensitive },
        whole_word: flags.contains('w'),
        nfc: flags.contains('n'),
    }
}

fn pattern(flags: &str, text: &str) -> Pattern {
    Pattern::compile(text, &options(flags)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The numbers of the lines that match, which the count must agree with.
fn numbers(pattern: &Pattern, text: &[u8]) -> Vec<usize> {
    let mut lines = pattern.lines(text, ON);
    let numbers: Vec<usize> = lines.by_ref().map(|line| line.number).collect();
    let count = LineCount { lines: numbers.len(), undecided: lines.undecided(), stopped: false };
    assert_eq!(pattern.count_lines(text, ON), count);
    numbers
}

fn matches(pattern: &Pattern, text: &[u8]) -> Vec<Range<usize>> {
    pattern.lines(text, ON).flat_map(|line| line.matches).collect()
}

#[test]
fn every_pair_of_options_finds_its_lines() {
    let text = "Tag\ntag\nTAGS\nta g\nt\u{e2}g\nta\u{302}g\nT\u{c2}G\n".as_bytes();
    for (flags, sought, lines) in [
        ("", "tag", &[2][..]),
        ("i", "tag", &[1, 2, 3]),
        ("w", "tag", &[2]),
        ("w", "ta", &[4]),
        ("iw", "tag", &[1, 2]),
        ("n", "t\u{e2}g", &[5, 6]),
        ("n", "ta\u{302}g", &[5, 6]),
        ("", "ta\u{302}g", &[6]),
        ("in", "ta\u{302}g", &[5, 6, 7]),
        ("wn", "ta\u{302}g", &[5, 6]),
        ("iwn", "ta\u{302}g", &[5, 6, 7]),
        ("i", "t\u{e2}g", &[5, 7]),
        ("", "t.g", &[]),
        ("/", "t.g", &[2, 5]),
        ("/i", "t.g", &[1, 2, 3, 5, 7]),
        ("/w", "t.g", &[2, 5]),
        ("/iw", "t.g", &[1, 2, 5, 7]),
        ("/n", "t.g", &[2, 5, 6]),
        ("/in", "t.g$", &[1, 2, 5, 6, 7]),
        ("/wn", "[a\u{302}x]g", &[]),
        ("/iwn", "t[a\u{302}x]g", &[5, 6, 7]),
        ("/", "t(?=.g)", &[2, 5]),
        ("/i", "t(?=.g)", &[1, 2, 3, 5, 7]),
        ("/w", "(?=t)t.g", &[2, 5]),
        ("/iw", "(?=t)t.g", &[1, 2, 5, 7]),
        ("/n", "t(?=.g)", &[2, 5, 6]),
        ("/iwn", "(?=t)t.g", &[1, 2, 5, 6, 7]),
    ] {
        assert_eq!(numbers(&pattern(flags, sought), text), lines, "{flags} {sought}");
    }
}

#[test]
fn a_match_ends_with_its_line() {
    for text in [&b"ab\ncd\n\nef"[..], b"ab\r\ncd\r\n\r\nef", b"\xef\xbb\xbfab\r\ncd\n\r\nef", b"ab\ncd\n\nef\n"] {
        for (sought, lines) in [
            ("^", &[1, 2, 3, 4][..]),
            ("$", &[1, 2, 3, 4]),
            ("^$", &[3]),
            ("b$", &[1]),
            ("^c", &[2]),
            (r"\Aab\z", &[1]),
            (r"b\s", &[]),
            (r"b\s*", &[1]),
            (r"b\s*c", &[]),
            (r"b\r?\n", &[]),
            (r"b\W", &[]),
            ("(?s)b.", &[]),
            ("[^x]{3}", &[]),
            ("[^x]{2}", &[1, 2, 4]),
            (r"\r", &[]),
            ("x*", &[1, 2, 3, 4]),
            (r"b\b", &[1]),
            ("(?-m)^e", &[4]),
            ("(?!a)^", &[2, 3, 4]),
            (r"(?<=b)\s*$", &[1]),
            (r"(?<=b)$", &[1]),
            (r"(?<!\w)ab", &[1]),
        ] {
            assert_eq!(numbers(&pattern("/", sought), text), lines, "{sought} in {text:?}");
            let whole = pattern("/w", &format!("(?:{sought})"));
            assert!(numbers(&whole, text).len() <= lines.len(), "{sought} in {text:?}");
        }
        for (sought, lines) in
            [("b", &[1][..]), ("b\n", &[]), ("b\r", &[]), ("b\nc", &[]), ("\n", &[]), ("\u{feff}", &[])]
        {
            for flags in ["", "i", "n", "w"] {
                let lines = if flags == "w" { &[] } else { lines };
                assert_eq!(numbers(&pattern(flags, sought), text), lines, "{flags} {sought:?} in {text:?}");
            }
        }
    }
    assert_eq!(numbers(&pattern("", "a\r"), b"a\r\r\n-a\r"), [1, 2], "a carriage return inside of a line is text");
}

#[test]
fn lines_say_where_they_and_their_matches_are() {
    let text = "\u{feff}no\r\nan \u{e9}-an\r\n\nan".as_bytes();
    let an = |number, span: Range<usize>, matches: &[Range<usize>]| LineMatch {
        number,
        span,
        matches: matches.to_vec(),
        more: false,
    };
    let expected = [an(2, 7..15, &[0..2, 6..8]), an(4, 18..20, &[0..2])];
    for (flags, sought) in
        [("", "an"), ("i", "AN"), ("w", "an"), ("iw", "aN"), ("/", "a[n]"), ("/", "a(?=n)n"), ("n", "an")]
    {
        assert_eq!(pattern(flags, sought).lines(text, ON).collect::<Vec<_>>(), expected, "{flags} {sought}");
    }
}

#[test]
fn matches_of_a_composed_line_have_the_columns_of_the_written_one() {
    let text = "xe\u{301}ye\u{301}\n".as_bytes();
    assert_eq!(matches(&pattern("n", "\u{e9}"), text), [1..4, 5..8]);
    assert_eq!(matches(&pattern("/n", r"\w"), text), [0..1, 1..4, 4..5, 5..8]);
    assert_eq!(matches(&pattern("/n", "$"), text), [8..8]);
    assert!(matches(&pattern("n", "e"), text).is_empty());
    assert_eq!(matches(&pattern("/n", "."), "xq\u{307}\u{323}".as_bytes()), [0..1, 1..6], "marks change places");
}

#[test]
fn empty_matches_neither_split_characters_nor_touch_others() {
    assert_eq!(matches(&pattern("/", "a*"), "\u{e9}aab".as_bytes()), [0..0, 2..4, 5..5]);
    assert_eq!(matches(&pattern("/", "(?=.?)a*"), "\u{e9}aab".as_bytes()), [0..0, 2..4, 5..5]);
    assert_eq!(numbers(&pattern("/w", "x*"), "\u{e9}".as_bytes()), [] as [usize; 0]);
}

#[test]
fn invalid_utf8_is_searched_too() {
    let text = b"caf\xe9 x\n\xff\xfe\n\xe2\x82\nx\xf0\n";
    for (flags, sought, lines) in [
        ("", "x", &[1, 4][..]),
        ("i", "X", &[1, 4]),
        ("n", "x", &[1, 4]),
        ("w", "x", &[1]),
        ("iw", "X", &[1]),
        ("/", "x", &[1, 4]),
        ("/w", "x", &[1]),
        ("/", "^caf", &[1]),
        ("/", "x$", &[1]),
        ("/", "(?=x)x", &[1, 4]),
        ("/", r"(?<=\s)x", &[1]),
        ("/", "(?<=f). x", &[1]),
    ] {
        assert_eq!(numbers(&pattern(flags, sought), text), lines, "{flags} {sought}");
    }
}

#[test]
fn half_a_character_at_the_beginning_of_a_line_hides_what_is_before() {
    let text = b"x\n\x9f1\n\n\x9f\x9f1\n\x9f 1";
    for (flags, sought, lines) in [
        ("w", "1", &[5][..]),
        ("iw", "1", &[5]),
        ("/w", "1", &[5]),
        ("/w", r"\w", &[1, 5]),
        ("/", r"\b\w", &[1, 2, 4, 5]),
    ] {
        assert_eq!(numbers(&pattern(flags, sought), text), lines, "{flags} {sought}");
    }
}

#[test]
fn texts_without_lines_match_nothing() {
    for sought in ["x*", "^", "$", "(?!x)"] {
        for (text, lines) in
            [(&b""[..], &[][..]), (b"\xef\xbb\xbf", &[]), (b"\n", &[1]), (b"\r\n", &[1]), (b"\n\n", &[1, 2])]
        {
            assert_eq!(numbers(&pattern("/", sought), text), lines, "{sought} in {text:?}");
        }
    }
}

#[test]
fn regular_expressions_are_read_as_people_write_them() {
    for (sought, text, found) in [
        (r"\d", "7", true),
        (r"\d", "\u{663}", false),
        (r"\D", "\u{663}", true),
        (r"[\d.]+", "1.5", true),
        (r"[^\D]", "a", false),
        (r"a\/b", "a/b", true),
        (r"\<\>", "<>", true),
        (r"(?<y>\d{4})-\k<y>", "2024-2024", true),
        (r"(?<y>\d{4})-(?<m>\d\d)", "2024-12", true),
        (r"(\w)\1", "book", true),
        (r"(?P<q>['x])a(?P=q)", "'a'", true),
        (r"(?>a+)b", "aab", true),
        (r"\[\[[^[\]]+\]\]", "[[Note]]", true),
        (r"[[]", "[", true),
        (r"[]x]", "]", true),
        (r"^[^]|]$", "]", false),
        (r"^a[^]*z$", "a]z", true),
        (r"^([^])\1$", "]]", true),
        (r"[^]", "x", true),
        (r"[]", "]", false),
        (r"a|[]", "a", true),
        (r"^\1(a)$", "a", true),
        (r"^(a\1)$", "a", true),
        (r"^\k<n>(?<n>a)$", "a", true),
        (r"^(?:(a)|b)\1$", "b", true),
        (r"^(?:(a)|b)\1$", "aa", true),
        (r"^(?:(a)|b)\1$", "ab", false),
        (r"^(?:(?<n>a)|b)\k<n>c$", "bc", true),
        (r"^(a)?\1b$", "aab", true),
        (r"^(a)?\1b$", "ab", false),
        (r"[a&&b]", "&", true),
        (r"[~~]", "~", true),
        (r"[[:alpha:]]", "x", true),
        (r"[[:alpha:]]", ":", false),
        (r"{{title}}", "{{title}}", true),
        (r"x{,2}", "x{,2}", true),
        (r"^a{2}$", "aa", true),
        (r"^a{2,}$", "aaaa", true),
        (r"\u0041\x42", "AB", true),
        (r"\u{1F600}", "\u{1f600}", true),
        (r"\uD83D\uDE00", "\u{1f600}", true),
        (r"[\uD83D\uDE00]", "\u{1f600}", true),
        (r"\cI", "\t", true),
        (r"\0", "\0", true),
        (r"[\b]", "\u{8}", true),
        (r"\p{L}\P{L}", "\u{e9}1", true),
        (r"\p{Script=Greek}", "\u{3b1}", true),
        (r"(?i)\u00c9", "\u{e9}", true),
        (r"(?i:A)b", "ab", true),
        (r"(?i:A)b", "aB", false),
        (r"(?=x)[\d\D&&]", "x", true),
        (r"(?=.)\#\-\ \%", "#- %", true),
        (r"\é", "é", true),
        (r"(?<=€)\d+", "€5", true),
        (r"(?<!€)\b\d+", "€5", false),
        (r"(?<=a+)b", "aab", true),
        (r"^(?!.*draft).*note", "a note", true),
        (r"^(?!.*draft).*note", "a draft note", false),
    ] {
        assert_eq!(pattern("/", sought).is_match(text), Ok(found), "{sought} in {text}");
    }
}

#[test]
fn an_invalid_pattern_is_refused_with_its_place() {
    for (sought, place) in [
        ("a(b", Some(1)),
        ("ab)", Some(2)),
        ("x[a", Some(1)),
        ("*a", Some(0)),
        (r"\d\d\q", Some(4)),
        (r"\d\d(", Some(4)),
        (r"\d\d(?=", Some(7)),
        (r"a\", Some(1)),
        (r"\p{Nonsense}", Some(0)),
        (r"\d[z-a]", Some(3)),
        (r"a\u12", Some(1)),
        (r"\uD83D", Some(0)),
        (r"a(?x)b", Some(1)),
        (r"a(?-u:\xff)", Some(1)),
        (r"a\Kb", Some(1)),
        (r"a\Gb", Some(1)),
        (r"(?<a>x)\g<a>", Some(7)),
        (r"(?(1)a|b)", Some(0)),
        (r"(?~abc)", Some(0)),
        (r"(*FAIL)", Some(0)),
        (r"[\1]", Some(1)),
        (r"x\2(a)", Some(1)),
        (r"(a)\2", Some(3)),
        (r"\k<no>(a)", Some(0)),
    ] {
        for flags in ["/", "/w"] {
            match Pattern::compile(sought, &options(flags)) {
                Err(PatternError::Refused { at, reason }) => {
                    assert!(place.is_none() || at == place, "{sought}: {at:?} {reason}");
                    assert!(!reason.is_empty() && at.is_none_or(|at| at <= sought.len()));
                }
                Err(error) => panic!("{sought}: {error}"),
                Ok(_) => panic!("{sought}"),
            }
        }
    }
}

#[test]
fn an_empty_or_too_large_pattern_is_refused() {
    for flags in ["", "i", "/", "n"] {
        assert_eq!(Pattern::compile("", &options(flags)).err(), Some(PatternError::Empty));
    }
    let long: String =
        (0..).flat_map(|n: u32| n.to_string().into_bytes()).map(char::from).take(MAX_AUTOMATON_TEXT + 1).collect();
    assert_eq!(pattern("", &long).is_match(&long), Ok(true));
    for flags in ["i", "/", "/i"] {
        assert!(matches!(Pattern::compile(&long, &options(flags)), Err(PatternError::TooLong { .. })));
        assert_eq!(pattern(flags, &long[1..]).is_match(&long), Ok(true));
    }
    let nested = "(".repeat(5000) + &")".repeat(5000);
    for sought in [
        "(?:(?:[ab]{1000}){1000}){1000}",
        "(?=x)(?:(?:[ab]{1000}){1000}){1000}",
        nested.as_str(),
        &format!("(?=a){nested}"),
    ] {
        assert!(Pattern::compile(sought, &options("/")).is_err(), "{sought:.40}");
    }
}

#[test]
fn nasty_patterns_end_and_never_say_no_match_when_they_gave_up() {
    let many = "a".repeat(40);
    let long = "a".repeat(2_000);
    for sought in [
        "(a+)+$",
        "(a|aa)+$",
        "(?=a)(a+)+b",
        "(?=a)(a|aa)+$",
        r"(a+)+\1b",
        "(?:(?=a)){1000000000}b",
        "(?:(?=a)|a?){1000000000}b",
        "(?:(?=a)a*)*b",
        r"(a*)*\1b",
        "(?=(a+))*b",
        "(?=.*b).*c",
        "(?<=a*)b",
        "(?<!a+b)c",
        r"(?<=(a+)\1)b",
    ] {
        for flags in ["/", "/iw"] {
            let pattern = match Pattern::compile(sought, &options(flags)) {
                Ok(pattern) => pattern,
                Err(PatternError::Refused { .. }) => continue,
                Err(error) => panic!("{sought}: {error}"),
            };
            for text in [format!("{many}c\n{many}x\n"), format!("{long}\u{e9}")] {
                let start = ThreadTime::now();
                let count = pattern.count_lines(text.as_bytes(), ON);
                assert!(start.elapsed() < Duration::from_secs(20), "{sought} {:?}", start.elapsed());
                assert!(count.lines == 0 || !sought.ends_with('b'), "{sought} {count:?}");
            }
        }
    }
    let exponential = pattern("/", "(?:(?=a)a*)*(?=[bx])[bc]");
    let hard = format!("{many}c");
    assert_eq!(exponential.is_match(&many), Ok(false), "what cannot match for a simple reason is decided");
    assert_eq!(exponential.is_match(&hard), Err(TooManyAttempts));
    let text = format!("aab\n{hard}\naab\n");
    assert_eq!(exponential.count_lines(text.as_bytes(), ON), LineCount { lines: 2, undecided: 1, stopped: false });
    let text = format!("{hard}\n").repeat(1000);
    assert_eq!(exponential.count_lines(text.as_bytes(), ON).undecided, 16, "the rest of a hopeless text is left");
    let text = format!("aab\n{}\naab", "ab".repeat(35_000));
    assert_eq!(numbers(&exponential, text.as_bytes()), [1, 3]);
    assert_eq!(exponential.count_lines(text.as_bytes(), ON).undecided, 1);
    let text = format!("aab\n{}\naab", "a".repeat(70_000));
    assert_eq!(exponential.count_lines(text.as_bytes(), ON), LineCount { lines: 2, undecided: 0, stopped: false });
}

#[test]
fn lookaround_works_in_long_lines_too() {
    let text = format!("{} xyz {}", "word ".repeat(3000), "xyz ".repeat(3000));
    let line = pattern("/", "(?<=word  )xyz(?= )").lines(text.as_bytes(), ON).next().unwrap();
    assert_eq!(line.matches, [15_001..15_004]);
    let doubled = pattern("/", r"(\w+) \1\b").lines(text.as_bytes(), ON).next().unwrap();
    assert_eq!((doubled.matches[0].clone(), doubled.matches.len(), doubled.more), (0..9, 256, true));
}

#[test]
fn a_huge_line_is_one_line() {
    let mut text = "lorem \u{e9}psum ".repeat(700_000).into_bytes();
    text.extend_from_slice(b"end");
    for (flags, sought, first) in [
        ("", "end", text.len() - 3),
        ("i", "END", text.len() - 3),
        ("w", "end", text.len() - 3),
        ("/", "en[d]$", text.len() - 3),
        ("/", "^lorem.*end$", 0),
        ("n", "psum end", text.len() - 8),
    ] {
        let pattern = pattern(flags, sought);
        assert_eq!(pattern.count_lines(&text, ON).lines, 1, "{sought}");
        let lines: Vec<LineMatch> = pattern.lines(&text, ON).collect();
        assert_eq!((lines[0].span.clone(), lines[0].matches[0].start), (0..text.len(), first), "{sought}");
    }
    let lines: Vec<LineMatch> = pattern("", "lorem").lines(&text, ON).collect();
    assert_eq!((lines.len(), lines[0].matches.len(), lines[0].more), (1, 1, true));
}

#[test]
fn a_stop_is_seen_inside_of_a_text_and_said() {
    let text = b"a line of words\r\n".repeat(200_000);
    for (flags, sought) in
        [("", "nothing"), ("", "line"), ("i", "LINE"), ("/", "l.ne"), ("/", "(?=l)line$"), ("n", "words")]
    {
        let pattern = pattern(flags, sought);
        let asked = Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        let count = pattern.count_lines(&text, &stop);
        assert!(count.stopped && count.lines < 200_000, "{sought} {count:?}");
        asked.set(0);
        let mut lines = pattern.lines(&text, &stop);
        assert!(lines.by_ref().count() < 200_000);
        assert!(lines.stopped() && lines.next().is_none(), "{sought}");
    }
    let line = "a".repeat(60_000);
    let stop = || true;
    assert!(pattern("/", "(?=a)b").count_lines(line.as_bytes(), &stop).stopped);
}
