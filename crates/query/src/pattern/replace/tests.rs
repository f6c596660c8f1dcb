//! Tests of replacing, compared with ECMAScript.

use proptest::prelude::*;

use super::*;
use crate::LetterCase;

const REGEX: PatternOptions =
    PatternOptions { kind: PatternKind::Regex, case: LetterCase::Sensitive, whole_word: false, nfc: false };
const LITERAL: PatternOptions = PatternOptions { kind: PatternKind::Literal, ..REGEX };

fn replaced(search: &str, options: &PatternOptions, loose_space: bool, text: &str, with: &str, all: bool) -> String {
    let replacer = Replacer::compile(search, options, loose_space).unwrap();
    let mut new = text.to_owned();
    for Replacement { span, text } in
        replacer.replacements(text, with, all, usize::MAX, &|| false).unwrap().into_iter().rev()
    {
        new.replace_range(span, &text);
    }
    new
}

/// All but the one with an inline flag were checked against `String.prototype.replace` with the flags `g` and `u`.
#[test]
fn expressions_replace_as_in_ecmascript() {
    for (search, text, with, expected) in [
        (r"(\d+)-(\d+)", "10-20 3-4", "$2/$1", "20/10 4/3"),
        ("b", "abc", "[$&]", "a[b]c"),
        ("b", "abc", "$`|$'", "aa|cc"),
        ("b", "abc", "$$1", "a$1c"),
        ("(b)", "abc", "$10", "ab0c"),
        ("(b)", "abc", "$01", "abc"),
        ("(b)", "abc", "$2$0$x$", "a$2$0$x$c"),
        (r"(?<y>\d{4})-(?<m>\d\d)", "2026-04", "$<m>.$<y>$<z>", "04.2026"),
        (r"(?<y>\d{4})", "2026", "$<y", "$<y"),
        (r"(\d{4})", "2026", "$<y>", "$<y>"),
        ("x*", "abc", "-", "-a-b-c-"),
        ("b*", "abc", "-", "-a--c-"),
        ("(a)|(b)", "ab", "[$1$2]", "[a][b]"),
        ("^.", "ab\ncd", "x", "xb\ncd"),
        (".$", "ab\ncd", "x", "ab\ncx"),
        ("(?m)^", "a\nb", "> ", "> a\n> b"),
        (r"\n", "a\nb\n", " ", "a b "),
        (r"[\s\S]*", "a\nb", "x", "xx"),
        (r"(?<=\$)\d+", "$5 7", "#", "$# 7"),
        (r"(\w)\1", "aabbc", "$1", "abc"),
        (r"(?<c>\w)\k<c>", "aabbc", "<$<c>>", "<a><b>c"),
        (r"a(?!b)", "ab ac", "x", "ab xc"),
        (r"\1(a)", "aa", "<$1>", "<a><a>"),
        (r"(?:(a)|b)\1", "aab", "-", "--"),
        ("[^]+", "a\nb", "x", "x"),
        ("a|[]", "ab", "x", "xb"),
        ("(ab+){2}", "abbab ab", "<$1>", "<ab> ab"),
        (r"\d{2,}(,\d{3})*", "12,345,678 9", "n", "n 9"),
        ("é", "café", "e", "cafe"),
        (".", "石💎", "x", "xx"),
    ] {
        assert_eq!(replaced(search, &REGEX, false, text, with, true), expected, "{search} {text} {with}");
    }
}

/// Texts have line feeds, regardless of their files.
#[test]
fn a_line_end_with_a_carriage_return_is_found_as_it_is_shown() {
    for (search, expected) in [(r"b\r\n", "aX\nc"), (r"\r?\n", "abXXc"), (r"(\r\n)+", "abXc"), (r"[\r\n]+", "abXc")] {
        assert_eq!(replaced(search, &REGEX, false, "ab\n\nc", "X", true), expected, "{search}");
    }
    assert_eq!(replaced(r"\r\n", &REGEX, false, "a\r\nb", "X", true), "aXb");
}

#[test]
fn literals_mean_what_they_say_and_so_do_their_replacements() {
    let loose = PatternOptions { case: LetterCase::Insensitive, ..LITERAL };
    let whole = PatternOptions { whole_word: true, ..LITERAL };
    for (search, options, loose_space, text, with, expected) in [
        ("a.b", &LITERAL, false, "a.b axb", "$&", "$& axb"),
        ("A", &loose, false, "aA", "x", "xx"),
        ("cat", &whole, false, "cat cats", "dog", "dog cats"),
        ("#tag", &whole, false, "#tag #tags", "x", "x #tags"),
        ("a  b", &LITERAL, true, "a\n\tb a b ab", "x", "x x ab"),
        ("a b", &LITERAL, false, "a  b", "x", "a  b"),
        (" a ", &LITERAL, true, "\na\n", "x", "x"),
    ] {
        assert_eq!(replaced(search, options, loose_space, text, with, true), expected, "{search}");
    }
    assert_eq!(replaced("a", &LITERAL, false, "aaa", "b", false), "baa");
}

#[test]
fn nothing_runs_or_grows_without_end() {
    let slow = Replacer::compile("^(?:a|aa)+(?!c)c$", &REGEX, false).unwrap();
    let text = format!("{}c", "a".repeat(400));
    assert_eq!(slow.replacements(&text, "", true, 1000, &|| false), Err(ReplaceError::Undecided));
    let long = "ab".repeat(LONGEST_TRIED);
    let tried = Replacer::compile("a(?=c)", &REGEX, false).unwrap();
    assert_eq!(tried.replacements(&long, "", true, 1000, &|| false), Err(ReplaceError::TooLong));
    let grows = Replacer::compile("a", &REGEX, false).unwrap();
    assert_eq!(grows.replacements(&long, "$`", true, 1 << 24, &|| false), Err(ReplaceError::TooMuch));
    // One match can grow as well as many.
    let whole = Replacer::compile(".+", &REGEX, false).unwrap();
    assert_eq!(whole.replacements(&long, &"$&".repeat(1000), false, 1 << 24, &|| false), Err(ReplaceError::TooMuch));
    assert_eq!(grows.replacements(&long, "", true, 1000, &|| true), Err(ReplaceError::Stopped));
    assert!(matches!(Replacer::compile(&"a".repeat(5000), &REGEX, false), Err(PatternError::TooLong { .. })));
    assert_eq!(Replacer::compile("", &LITERAL, false).err(), Some(PatternError::Empty));
}

proptest! {
    #[test]
    fn a_literal_is_replaced_like_the_standard_library_does(text in "[ab \n]{0,20}", search in "[ab ]{1,3}", with in "[xa$&]{0,3}") {
        prop_assert_eq!(replaced(&search, &LITERAL, false, &text, &with, true), text.replace(&search, &with));
    }

    #[test]
    fn matches_are_in_order_and_apart(text in "[aé石\n-]{0,20}", search in r"(\(a\)|[aé石]|\.|\\b|-|\*|\?|\||\(\?=a\)){1,6}", with in "[$1&<>x]{0,4}") {
        let Ok(replacer) = Replacer::compile(&search, &REGEX, false) else { return Ok(()) };
        let found = replacer.replacements(&text, &with, true, usize::MAX, &|| false).unwrap();
        prop_assert!(found.iter().all(|found| text.get(found.span.clone()).is_some()));
        prop_assert!(found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
    }
}

/// Each was asked of Node 20.
#[test]
fn expressions_are_read_exactly_as_ecmascript_reads_them() {
    for (expression, text, found) in [
        (r"\w+", "é_a1", Some("_a1")),
        (r"\bfoo\b", "éfoo", Some("foo")),
        (r"\bfoo\b", "foo_bar", None),
        (r"a\Bb", "ab", Some("ab")),
        (r"(?<=a)\bx|\by", "éy", Some("y")),
        (r"[\W]", "aé", Some("é")),
        (r"[]", "a", None),
        (r"[^]", "\n", Some("\n")),
        (r"[]a]", "a]", None),
        ("a.c", "a\rc", None),
        (r"a{,2}", "a{,2}", Some("a{,2}")),
        (r"\-\_\é", "-_é", Some("-_é")),
        (r"(a)\2", "a\u{2}", Some("a\u{2}")),
        (r"(a)(b)\2", "abb", Some("abb")),
        (r"\k<a>", "k<a>", Some("k<a>")),
        (r"(?<n>a)\k<n>", "xaa", Some("aa")),
        (r"[a-z&&b]", "&", Some("&")),
        (r"\s", "\u{feff}", Some("\u{feff}")),
        (r"\S", "\u{85}", Some("\u{85}")),
        (r"\u00e9\x41\101", "éAA", Some("éAA")),
        ("a|b", "xb", Some("b")),
        ("", "x", Some("")),
        (r"[\w-z]", "-", Some("-")),
        (r"x*?y", "xxy", Some("xxy")),
    ] {
        let replacer = Replacer::ecmascript(expression, ExpressionFlags::default()).unwrap();
        let groups = replacer.find(text, 0, &|| false).unwrap();
        assert_eq!(groups.map(|groups| &text[groups[0].clone().unwrap()]), found, "{expression} {text}");
    }
    for (expression, fault) in [
        ("[", "Unterminated character class"),
        ("(", "Unterminated group"),
        (")", "Unmatched ')'"),
        ("*", "Nothing to repeat"),
        ("a**", "Nothing to repeat"),
        ("{2}", "Nothing to repeat"),
        ("\\", "\\ at end of pattern"),
        ("a{2,1}", "numbers out of order in {} quantifier"),
        ("[b-a]", "Range out of order in character class"),
        ("(?x)", "Invalid group"),
        ("(?<1>a)", "Invalid capture group name"),
        ("(?<a>)(?<a>)", "Duplicate capture group name"),
        (r"(?<a>)\k<b>", "Invalid named capture referenced"),
    ] {
        let error = Replacer::ecmascript(expression, ExpressionFlags::default()).err().unwrap();
        assert_eq!(error.to_string(), format!("Invalid regular expression: /{expression}/: {fault}"));
    }
}
