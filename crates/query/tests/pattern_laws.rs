//! In any text, patterns find the same as a simple search line by line.

use std::ops::Range;

use lapidary_query::{LetterCase, LineMatch, Pattern, PatternKind, PatternOptions};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

fn stop() -> bool {
    false
}

/// The lines of a text with their numbers, split as simply as possible.
fn lines_of(text: &[u8]) -> Vec<(usize, Range<usize>)> {
    let mut start = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut lines = Vec::new();
    for (index, line) in text[start..].split_inclusive(|byte| *byte == b'\n').enumerate() {
        let content = match line.strip_suffix(b"\n") {
            Some(content) => content.strip_suffix(b"\r").unwrap_or(content),
            None => line,
        };
        lines.push((index + 1, start..start + content.len()));
        start += line.len();
    }
    lines
}

/// Like [`Pattern::lines`], with the matches of each line found by `find`.
fn expected(text: &[u8], find: impl Fn(&[u8]) -> Vec<Range<usize>>) -> Vec<LineMatch> {
    let found = lines_of(text).into_iter().map(|(number, span)| {
        let matches = find(&text[span.clone()]);
        LineMatch { number, span, matches, more: false }
    });
    found.filter(|line| !line.matches.is_empty()).collect()
}

fn check(pattern: &Pattern, text: &[u8], expected: &[LineMatch]) -> Result<(), TestCaseError> {
    let count = pattern.count_lines(text, &stop);
    // A pattern that needs too many steps says so; what it would have found is not tested.
    prop_assume!(count.undecided == 0);
    let lines: Vec<LineMatch> = pattern.lines(text, &stop).collect();
    prop_assert_eq!(&lines[..], expected);
    prop_assert_eq!((count.lines, count.stopped), (expected.len(), false));
    Ok(())
}

/// Texts of few different pieces, so that they often contain the pattern, and of every kind of line ending.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => "[ab]{1,3}".prop_map(String::into_bytes),
        2 => Just(b"A ".to_vec()),
        2 => Just("é".as_bytes().to_vec()),
        1 => Just("e\u{301}".as_bytes().to_vec()),
        1 => Just("É石".as_bytes().to_vec()),
        3 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        1 => Just(b"\r".to_vec()),
        1 => Just(b"\xff".to_vec()),
        1 => Just(b"\xe2\x82".to_vec()),
    ];
    (prop::bool::weighted(0.1), prop::collection::vec(piece, 0..24)).prop_map(|(mark, pieces)| {
        let mark = if mark { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
        [mark, pieces.concat()].concat()
    })
}

fn word_at(text: &str) -> bool {
    text.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '\u{301}')
}

/// All non-overlapping places of a literal in a line.
fn literal_in(line: &[u8], sought: &str, options: &PatternOptions) -> Vec<Range<usize>> {
    let same = |part: &[u8]| match (options.case, str::from_utf8(part)) {
        (LetterCase::Insensitive, Ok(part)) => part.to_lowercase() == sought.to_lowercase(),
        _ => part == sought.as_bytes(),
    };
    let whole = |span: &Range<usize>| {
        let (before, behind) = (str::from_utf8(&line[..span.start]), str::from_utf8(&line[span.end..]));
        let reversed = |text: &str| text.chars().next_back().map(String::from).unwrap_or_default();
        !options.whole_word
            || before.is_ok_and(|text| !word_at(&reversed(text))) && behind.is_ok_and(|text| !word_at(text))
    };
    let (mut at, mut found) = (0, Vec::new());
    while at + sought.len() <= line.len() {
        let span = at..at + sought.len();
        if same(&line[span.clone()]) && whole(&span) {
            at = span.end;
            found.push(span);
        } else {
            at += 1;
        }
    }
    found
}

/// All matches in a line, found by an engine in its usual configuration.
fn regex_in(line: &[u8], regex: &regex_automata::meta::Regex) -> Vec<Range<usize>> {
    let splits = |at: usize| line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    regex.find_iter(line).map(|found| found.range()).filter(|span| !span.is_empty() || !splits(span.start)).collect()
}

/// Regular expressions of few different pieces.
fn regex() -> impl Strategy<Value = String> {
    let atom = prop::sample::select(vec![
        "a", "b", "ab", "é", "A", ".", "^", "$", r"\s", r"\S", r"\w", r"\W", r"\b", r"\B", "[^a]", "[ab]", r"[^\w]",
        r"\n", r"\r", r"[\r\n]", r"\d", "(?s:.)", r"\A", r"\z", "",
    ]);
    let atom = atom.prop_map(str::to_owned);
    atom.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
            (inner, prop::sample::select(vec!["*", "+", "?", "*?", "+?", "{2}"]))
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
        ]
    })
}

fn compile(text: &str, options: &PatternOptions) -> Pattern {
    Pattern::compile(text, options).unwrap_or_else(|error| panic!("{text}: {error}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 400 } else { 20_000 }))]

    #[test]
    fn literals_are_found_as_by_comparing_everywhere(
        text in text(),
        sought in prop::sample::select(vec!["a", "ab", "aa", "aba", "é", "A ", "b\r", "a\nb", "石", " ", "\r", "É石"]),
        insensitive: bool,
        mut whole_word: bool,
    ) {
        // Next to invalid UTF-8, words depend on the engine.
        whole_word &= str::from_utf8(&text).is_ok();
        let case = if insensitive { LetterCase::Insensitive } else { LetterCase::Sensitive };
        let options = PatternOptions { case, whole_word, ..PatternOptions::default() };
        let expected = expected(&text, |line| literal_in(line, sought, &options));
        check(&compile(sought, &options), &text, &expected)?;
        // The same as a regular expression, which takes another path.
        let options = PatternOptions { kind: PatternKind::Regex, ..options };
        let escaped = regex_syntax::escape(sought);
        check(&compile(&escaped, &options), &text, &expected)?;
        if str::from_utf8(&text).is_ok() {
            // No text has this character, so it changes nothing but the engine.
            check(&compile(&format!(r"(?!\0){escaped}"), &options), &text, &expected)?;
        }
    }

    #[test]
    fn regular_expressions_are_found_as_line_by_line(text in text(), sought in regex(), insensitive: bool) {
        prop_assume!(!sought.is_empty());
        let case = if insensitive { LetterCase::Insensitive } else { LetterCase::Sensitive };
        let options = PatternOptions { kind: PatternKind::Regex, case, ..PatternOptions::default() };
        let plain = sought.replace(r"\d", "[0-9]");
        let plain = if insensitive { format!("(?i){plain}") } else { plain };
        let engine = regex_automata::meta::Regex::new(&plain).unwrap();
        check(&compile(&sought, &options), &text, &expected(&text, |line| regex_in(line, &engine)))?;
    }

    #[test]
    fn both_engines_find_the_same_lines(text in text(), sought in regex(), whole_word: bool) {
        prop_assume!(!sought.is_empty());
        // The replacement of an invalid byte differs between them.
        let text = String::from_utf8_lossy(&text).into_owned().into_bytes();
        let options = PatternOptions { kind: PatternKind::Regex, whole_word, ..PatternOptions::default() };
        let automaton = compile(&sought, &options);
        // One of them refuses to repeat what has no length.
        let Ok(backtracker) = Pattern::compile(&format!(r"(?!\0)(?:{sought})"), &options) else { return Ok(()) };
        let lines: Vec<LineMatch> = automaton.lines(&text, &stop).collect();
        check(&backtracker, &text, &lines)?;
    }

    #[test]
    fn lookaround_and_backreferences_are_found_as_line_by_line(
        text in text(),
        parts in (regex(), regex(), regex()),
        form in prop::sample::select(vec![
            "A(?=B)", "(?!B)A", "(?<=B)A", "(?<!B)AC", "(A)B\\1", "(?<n>A)(?:B|C)\\k<n>", "(?>A)B", "(A)(?=B\\1)", "(?:A(?=B)|C)",
            "(?i:A)(?!B(?=C))", "A(?:(?!B).)*C",
        ]),
    ) {
        let (a, b, c) = parts;
        let sought: String = form
            .chars()
            .map(|letter| match letter {
                'A' => format!("(?:{a})"),
                'B' => format!("(?:{b})"),
                'C' => format!("(?:{c})"),
                other => other.to_string(),
            })
            .collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        let options = PatternOptions { kind: PatternKind::Regex, ..PatternOptions::default() };
        let engine = fancy_regex::Regex::new(&sought.replace(r"\d", "[0-9]"));
        let (Ok(pattern), Ok(engine)) = (Pattern::compile(&sought, &options), engine) else { return Ok(()) };
        let expected = expected(text.as_bytes(), |line| {
            engine.find_iter(str::from_utf8(line).unwrap()).map(|found| found.unwrap().range()).collect()
        });
        check(&pattern, text.as_bytes(), &expected)?;
    }

    #[test]
    fn composed_and_decomposed_texts_have_the_same_lines(text in text(), sought in prop::sample::select(vec!["é", "a", "e", "aé", "É"])) {
        let Ok(text) = String::from_utf8(text) else { return Ok(()) };
        let composed: String = text.nfc().collect();
        let decomposed: String = text.nfd().collect();
        let simple = PatternOptions::default();
        let nfc = PatternOptions { nfc: true, ..simple };
        let numbers = |pattern: &Pattern, text: &str| -> Vec<(usize, usize)> {
            pattern.lines(text.as_bytes(), &stop).map(|line| (line.number, line.matches.len())).collect()
        };
        let expected = numbers(&compile(sought, &simple), &composed);
        let spelled: String = sought.nfd().collect();
        for sought in [sought, &spelled] {
            for text in [&text, &composed, &decomposed] {
                let pattern = compile(sought, &nfc);
                prop_assert_eq!(&numbers(&pattern, text), &expected);
                prop_assert_eq!(pattern.count_lines(text.as_bytes(), &stop).lines, expected.len());
                for line in pattern.lines(text.as_bytes(), &stop) {
                    for span in line.matches {
                        let found: String = text[line.span.clone()][span].nfc().collect();
                        prop_assert!(found.starts_with(&sought.nfc().collect::<String>()), "{}", found);
                    }
                }
            }
        }
    }
}
