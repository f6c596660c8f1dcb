//! Tests of edits of properties, as YAML before and after.

use super::*;
use crate::edit::variants::{check, refuse};

/// A value from its YAML.
fn value(yaml: &str) -> YamlValue {
    yaml::parse(yaml).unwrap()
}

fn text(text: &str) -> YamlValue {
    YamlValue::Text(text.to_owned())
}

fn path(path: &str) -> PropertyPath {
    PropertyPath::parse(path).unwrap()
}

/// Runs the edit on the YAML of a note, alone and with a body.
fn yields(before: &str, edit: PropertyEdit<'_>, after: &str) {
    for body in ["", "body\n", "\n# H\n"] {
        let (before, after) = (format!("---\n{before}---\n{body}"), format!("---\n{after}---\n{body}"));
        check(&before, &after, |document| document.edit_property(&edit));
    }
    check(&format!("---\n{before}---"), &format!("---\n{after}---"), |document| document.edit_property(&edit));
}

fn sets(cases: &[(&str, &str, YamlValue, &str)]) {
    for (before, at, value, after) in cases {
        yields(before, PropertyEdit::Set { path: &path(at), value }, after);
    }
}

#[test]
fn a_value_is_set_and_the_rest_stays_as_written() {
    sets(&[
        ("a: 1\nb: 2\n", "a", value("3"), "a: 3\nb: 2\n"),
        ("a: 1 # why\n# more\nb: 2\n", "a", text("x"), "a: x # why\n# more\nb: 2\n"),
        ("a:   1\nb:\t2\n", "b", value("true"), "a:   1\nb:\ttrue\n"),
        ("z: 007\na: 'x'\n", "a", text("y"), "z: 007\na: 'y'\n"),
        ("a: \"x\"\n", "a", text("y"), "a: \"y\"\n"),
        ("a: x\n", "b", text("y"), "a: x\nb: y\n"),
        ("a: x\n", "b", YamlValue::Null, "a: x\nb:\n"),
        ("a: x\n", "a", YamlValue::Null, "a:\n"),
        ("a:\n", "a", text("x"), "a: x\n"),
        ("a: |\n  one\n  two\nb: 1\n", "a", text("x"), "a: x\nb: 1\n"),
        ("a: >-\n  one\n\n\nb: 1\n", "a", text("x"), "a: x\n\n\nb: 1\n"),
        ("a: |\n  one\n\n# c\nb: 1\n", "a", text("x\ny"), "a: |-\n  x\n  y\n\n# c\nb: 1\n"),
        ("a: x\nb: 1\n", "a", text("one\ntwo"), "a: |-\n  one\n  two\nb: 1\n"),
        ("a: x\n", "a", value("[1, b]"), "a:\n  - 1\n  - b\n"),
        ("a: x\n", "a", value("[]"), "a: []\n"),
        ("a: x\n", "a", value("{b: 1, c: [d]}"), "a:\n  b: 1\n  c:\n    - d\n"),
        ("a: {b: 1}\n", "a.b", value("2"), "a: {b: 2}\n"),
        ("a: {b: 1}\n", "a.c", value("[x]"), "a: {b: 1, c: [x]}\n"),
        ("a:\n  b: 1 # c\n  d: 2\n", "a.b", value("3"), "a:\n  b: 3 # c\n  d: 2\n"),
        ("a:\n    b: 1\ne: 1\n", "a.c", value("2"), "a:\n    b: 1\n    c: 2\ne: 1\n"),
        ("a: 1\n", "b.c.d", value("2"), "a: 1\nb:\n  c:\n    d: 2\n"),
        ("a:\n", "a.b", value("2"), "a:\n  b: 2\n"),
        ("a: [x, y]\n", "a.1", text("z"), "a: [x, z]\n"),
        ("a: [x, y]\n", "a.2", text("z"), "a: [x, y, z]\n"),
        ("a:\n- x # c\n- y\n", "a.1", text("z"), "a:\n- x # c\n- z\n"),
        ("a:\n  - b: 1\n    c: 2\n", "a.0.c", value("3"), "a:\n  - b: 1\n    c: 3\n"),
        ("# only a comment\n", "a", value("1"), "# only a comment\na: 1\n"),
        ("\n", "a", value("1"), "\na: 1\n"),
        ("{a: 1}\n", "b", value("2"), "{a: 1, b: 2}\n"),
        ("a: 1\n\n# end\n", "b", value("2"), "a: 1\n\n# end\nb: 2\n"),
        ("a: 1\n", "a", value("1"), "a: 1\n"),
        ("1: x\ntrue: y\n", "1", text("z"), "1: z\ntrue: y\n"),
        ("\"a b\": 1\n", "a b", value("2"), "\"a b\": 2\n"),
        ("größe: 1\n", "größe", text("石"), "größe: 石\n"),
        ("t: &x a\nb: *x\nc: 1\n", "c", value("2"), "t: &x a\nb: *x\nc: 2\n"),
        ("t: &x a\nb: *x\n", "b", value("2"), "t: &x a\nb: 2\n"),
        ("t: &x a\nb: 1\n", "b", value("2"), "t: &x a\nb: 2\n"),
    ]);
}

#[test]
fn a_list_that_is_set_touches_only_the_items_that_differ() {
    sets(&[
        ("a: [x, y]\n", "a", value("[x, z, y]"), "a: [x, z, y]\n"),
        ("a:\n- x # c\n- y\nb: 1\n", "a", value("[x, y, z]"), "a:\n- x # c\n- y\n- z\nb: 1\n"),
        ("a:\n    - x # c\n    - y\n", "a", value("[x]"), "a:\n    - x # c\n"),
        ("a:\n- 'x'\n- y\n", "a", value("[x, q]"), "a:\n- 'x'\n- q\n"),
        ("a:\n  - k: 1 # c\n    l: 2\n  - y\n", "a", value("[{k: 1, l: 2}, z]"), "a:\n  - k: 1 # c\n    l: 2\n  - z\n"),
        ("a: [x]\n", "a", value("[]"), "a: []\n"),
        ("a: []\n", "a", value("[x]"), "a:\n  - x\n"),
    ]);
}

#[test]
fn a_text_stays_a_text() {
    for (given, written) in [
        ("2024-01-02", "2024-01-02"),
        ("2024-01-02T10:30:00", "2024-01-02T10:30:00"),
        ("12:30", "\"12:30\""),
        ("007", "\"007\""),
        ("1.0", "\"1.0\""),
        ("1_000", "\"1_000\""),
        ("+1", "\"+1\""),
        ("true", "\"true\""),
        ("yes", "\"yes\""),
        ("NO", "\"NO\""),
        ("null", "\"null\""),
        ("~", "\"~\""),
        ("", "\"\""),
        (" x ", "\" x \""),
        ("[[Link]]", "\"[[Link]]\""),
        ("a: b", "\"a: b\""),
        ("a #b", "\"a #b\""),
        ("#tag", "\"#tag\""),
        ("it's", "it's"),
        ("\"q\"", "'\"q\"'"),
        ("\"q's\"", "\"\\\"q's\\\"\""),
        ("- x", "\"- x\""),
        ("@x", "\"@x\""),
        ("a\tb", "\"a\\tb\""),
        ("a\u{7}b", "\"a\\x07b\""),
        ("1 apple", "1 apple"),
        ("deadbeef", "deadbeef"),
        ("https://x.y/z", "https://x.y/z"),
        ("---", "\"---\""),
        ("a, b", "\"a, b\""),
        ("line\n\nafter", "|-\n  line\n\n  after"),
        ("line\n", "|\n  line"),
        (" line\nx", "\" line\\nx\""),
        ("a\n---\nb", "|-\n  a\n  ---\n  b"),
    ] {
        yields("a: x\n", PropertyEdit::Set { path: &path("b"), value: &text(given) }, &format!("a: x\nb: {written}\n"));
        yields("b: x\n", PropertyEdit::Set { path: &path("b"), value: &text(given) }, &format!("b: {written}\n"));
    }
    // A quoted value keeps its quotes.
    sets(&[("a: \"2024-01-02\"\n", "a", text("2025-02-03"), "a: \"2025-02-03\"\n")]);
}

#[test]
fn a_property_is_deleted_with_its_lines() {
    for (before, at, after) in [
        ("a: 1\nb: 2\n", "a", "b: 2\n"),
        ("a: 1\nb: 2\n", "b", "a: 1\n"),
        ("# top\na: 1 # x\n# about b\nb: 2\n", "a", "# top\n# about b\nb: 2\n"),
        ("a:\n  - x\n  - y\nb: 2\n", "a", "b: 2\n"),
        ("a:\n  - x\n  - y # c\nb: 2\n", "a.0", "a:\n  - y # c\nb: 2\n"),
        ("a: [x, y]\n", "a.1", "a: [x]\n"),
        ("a:\n  b: 1\n  c: 2\n", "a.b", "a:\n  c: 2\n"),
        ("a: {b: 1, c: 2}\n", "a.c", "a: {b: 1}\n"),
        ("a:\n  b: 1\nc: 2\n", "a.b", "a: {}\nc: 2\n"),
        ("# keep me\na: 1\n", "a", "# keep me\n"),
        ("a: |\n  one\n\nb: 1\n", "b", "a: |\n  one\n\n"),
    ] {
        yields(before, PropertyEdit::Delete { path: &path(at) }, after);
    }
}

#[test]
fn a_list_grows_in_its_own_style() {
    for (before, after) in [
        ("a: [x]\nb: 1\n", "a: [x, new]\nb: 1\n"),
        ("a: []\n", "a: [new]\n"),
        ("a:\n- x # c\nb: 1\n", "a:\n- x # c\n- new\nb: 1\n"),
        ("a:\n    - x\n\nb: 1\n", "a:\n    - x\n    - new\n\nb: 1\n"),
        ("a:\nb: 1\n", "a:\n  - new\nb: 1\n"),
        ("b: 1\n", "b: 1\na:\n  - new\n"),
    ] {
        yields(before, PropertyEdit::Append { path: &path("a"), value: &text("new") }, after);
    }
}

#[test]
fn a_property_is_renamed_in_place_or_moved_elsewhere() {
    for (before, from, to, after) in [
        ("a: 1 # c\nb: 2\n", "a", "z", "z: 1 # c\nb: 2\n"),
        ("a:\n  b: 1\n", "a.b", "a.c", "a:\n  c: 1\n"),
        ("a: 1\n", "a", "2024-01-02", "2024-01-02: 1\n"),
        ("a: {b: 1, c: 2}\nd: 3\n", "a.b", "e", "a: {c: 2}\nd: 3\ne: 1\n"),
        ("a: 'x'\nb:\n  c: 1\n", "a", "b.a", "b:\n  c: 1\n  a: 'x'\n"),
        ("a: 1\nb: 2\n", "a", "n.m", "b: 2\nn:\n  m: 1\n"),
        ("a: &x 1\nb: *x\n", "a", "z", "z: &x 1\nb: *x\n"),
    ] {
        yields(before, PropertyEdit::Move { from: &path(from), to: &path(to) }, after);
    }
}

#[test]
fn the_block_comes_with_the_first_property_and_goes_with_the_last() {
    let (name, one) = (path("a.b"), value("1"));
    let set = PropertyEdit::Set { path: &name, value: &one };
    for (before, after) in [
        ("text\n", "---\na:\n  b: 1\n---\ntext\n"),
        ("text", "---\na:\n  b: 1\n---\ntext"),
        ("", "---\na:\n  b: 1\n---\n"),
        ("---\n---\n", "---\na:\n  b: 1\n---\n---\n---\n"),
    ] {
        check(before, after, |document| document.edit_property(&set));
    }
    let a = path("a");
    for (before, after) in [
        ("---\na: 1\n---\ntext\n", "text\n"),
        ("---\na: 1\n---\n\ntext\n", "\ntext\n"),
        ("---\na: 1\n---", ""),
        ("---\n\na: 1\n\n---\ntext\n", "text\n"),
        ("---\n{a: 1}\n---\ntext\n", "text\n"),
        ("---\na: 1\n---\n---\nb: 2\n---\n", "---\n\n---\n---\nb: 2\n---\n"),
    ] {
        check(before, after, |document| document.edit_property(&PropertyEdit::Delete { path: &a }));
    }
}

#[test]
fn unsafe_edits_are_refused_by_name() {
    let a = path("a");
    let one = value("1");
    let set = PropertyEdit::Set { path: &a, value: &one };
    let a = || "a".to_owned();
    for (yaml, error) in [
        ("a: 1\na: 2\n", PropertyError::Duplicate { name: a() }),
        ("b: {c: 1, c: 2}\n", PropertyError::Duplicate { name: "c".to_owned() }),
        ("a: &x 1\nb: *x\n", PropertyError::Anchored { path: a() }),
        ("a: {c: &x 1}\nb: *x\n", PropertyError::Anchored { path: a() }),
        ("a: &x|y |-\n  1\nb: *x|y\n", PropertyError::Anchored { path: a() }),
        ("a: {&x c: 1}\nb: *x\n", PropertyError::Anchored { path: a() }),
        ("- a\n", PropertyError::NotAMap),
        ("a\n", PropertyError::NotAMap),
    ] {
        refuse(&format!("---\n{yaml}---\n"), &error.into(), |document| document.edit_property(&set));
    }
    let note = Document::open("---\na: b: c\n---\n".to_owned()).unwrap();
    assert!(matches!(note.edit_property(&set), Err(EditError::Property(PropertyError::Yaml { line: 2, .. }))));

    let note = "---\na: x\nl: [1]\nm: &m {k: 1}\nn: *m\n---\n";
    let missing = |path: &str| PropertyError::Missing { path: path.to_owned() };
    for (at, set, error) in [
        ("a.b", true, PropertyError::NotAContainer { path: "a.b".to_owned() }),
        ("l.2", true, PropertyError::NoSuchItem { path: "l.2".to_owned(), length: 1 }),
        ("l.x", true, PropertyError::NoSuchItem { path: "l.x".to_owned(), length: 1 }),
        ("m.k", true, PropertyError::Anchored { path: "m.k".to_owned() }),
        ("n.k", true, PropertyError::Anchored { path: "n.k".to_owned() }),
        ("m", false, PropertyError::Anchored { path: "m".to_owned() }),
        ("z", false, missing("z")),
        ("l.1", false, missing("l.1")),
        ("a.b.c", false, missing("a.b.c")),
    ] {
        let at = path(at);
        let edit = if set { PropertyEdit::Set { path: &at, value: &one } } else { PropertyEdit::Delete { path: &at } };
        refuse(note, &error.into(), |document| document.edit_property(&edit));
    }
    let (from, to) = (path("a"), path("l"));
    refuse(note, &PropertyError::Taken { path: "l".to_owned() }.into(), |document| {
        document.edit_property(&PropertyEdit::Move { from: &from, to: &to })
    });
    refuse(note, &PropertyError::NotAList { path: a() }.into(), |document| {
        document.edit_property(&PropertyEdit::Append { path: &from, value: &one })
    });
    for bad in ["", ".", "a.", ".a", "a..b"] {
        assert_eq!(PropertyPath::parse(bad), Err(PropertyError::BadPath { path: bad.to_owned() }));
    }
    assert_eq!(PropertyPath::parse("a\\.b.c").unwrap().segments().collect::<Vec<_>>(), ["a.b", "c"]);
    assert_eq!(PropertyPath::name("a.b").to_string(), "a\\.b");
}

#[test]
fn hostile_properties_cost_no_more_than_their_size() {
    let many: String = (0..5000).map(|at| format!("key{at}: value\n")).collect();
    let items = format!("list: [{}]\n", "x, ".repeat(20_000));
    let nested = format!("deep: {}{}\n", "[".repeat(60), "]".repeat(60));
    let long = format!("text: {}\n", "word ".repeat(50_000));
    for yaml in [many, items, nested, long] {
        let file = format!("---\n{yaml}---\nbody\n");
        let note = Document::open(file.clone()).unwrap();
        let started = cpu_time::ThreadTime::now();
        let added = note.edit_property(&PropertyEdit::Set { path: &path("new"), value: &value("1") });
        assert!(added.is_ok(), "{added:?}");
        assert!(started.elapsed().as_secs() < 20, "{} bytes: {:?}", yaml.len(), started.elapsed());
    }
    let bomb = format!("---\ndeep: {}\n---\n", "[".repeat(5000));
    let note = Document::open(bomb).unwrap();
    assert!(note.edit_property(&PropertyEdit::Delete { path: &path("deep") }).is_err());
}
