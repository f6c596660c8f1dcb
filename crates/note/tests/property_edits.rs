//! Requirements for every edit of properties, of any form.

use lapidary_note::{
    Document, EditError, EditResult, Frontmatter, PropertyEdit, PropertyError, PropertyPath, YamlValue,
};
use proptest::prelude::*;

fn properties(file: &[u8]) -> YamlValue {
    let text = Document::open(file.to_vec()).expect("text");
    match Frontmatter::find(text.shown()) {
        Some(block) => YamlValue::Map(block.properties(text.shown()).expect("valid properties")),
        None => YamlValue::Map(Vec::new()),
    }
}

/// Scalars as people write them, none of which an edit may read as something else.
fn scalar() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "x",
        "1",
        "007",
        "1.50",
        "true",
        "~",
        "null",
        "2024-01-02",
        "12:30",
        "'single ''q'''",
        "\"double \\\" \\u00e9\"",
        "\"[[Link|x]]\"",
        "a b c",
        "yes",
        "größe 石",
        "http://a.b/c",
        "\"\"",
        "-1",
        "1e3",
        "word's",
    ])
}

fn comment() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", "", " # why", "   # a: b", "\t# tab"])
}

fn indent() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["  ", "    ", "   "])
}

/// The lines of one property, with `K` for its name.
fn entry() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (scalar(), comment()).prop_map(|(s, c)| format!("K: {s}{c}\n")),
        1 => (scalar(), comment()).prop_map(|(s, c)| format!("K:   {s}{c}\n")),
        1 => scalar().prop_map(|s| format!("\"K\":\t{s}\n")),
        1 => comment().prop_map(|c| format!("K:{c}\n")),
        3 => (prop::sample::select(vec!["", "  ", "    "]), scalar(), comment(), scalar(), comment())
            .prop_map(|(i, a, c, b, d)| format!("K:\n{i}- {a}{c}\n{i}- {b}{d}\n")),
        1 => (scalar(), scalar(), comment()).prop_map(|(a, b, c)| format!("K:\n# before\n  - {a}\n\n  # between\n  - {b}{c}\n")),
        2 => (flow(), flow(), comment()).prop_map(|(a, b, c)| format!("K: [{a}, {b}]{c}\n")),
        1 => (flow(), comment()).prop_map(|(a, c)| format!("K: [ {a} , ]{c}\n")),
        1 => comment().prop_map(|c| format!("K: []{c}\n")),
        1 => (flow(), flow(), comment()).prop_map(|(a, b, c)| format!("K: {{x: {a}, y: {b}}}{c}\n")),
        1 => (flow(), flow()).prop_map(|(a, b)| format!("K: {{\n  x: {a},\n  y: {b}\n}}\n")),
        2 => (indent(), scalar(), comment(), scalar())
            .prop_map(|(i, a, c, b)| format!("K:\n{i}x: {a}{c}\n{i}# in\n{i}y:\n{i}  - {b}\n")),
        1 => (indent(), scalar(), comment()).prop_map(|(i, a, c)| format!("K:\n{i}- x: {a}{c}\n{i}  y: 1\n{i}- z\n")),
        1 => comment().prop_map(|c| format!("K: |{c}\n  one\n   two\n\n  three\n")),
        1 => Just("K: >-\n  folded\n  text\n\n".to_owned()),
        1 => Just("K: plain\n  over lines\n".to_owned()),
        1 => Just("K: \"quoted\n  over lines\"\n".to_owned()),
    ]
}

fn flow() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["x", "1", "'a, b'", "\"[[L]]\"", "a b", "true", "null"])
}

const NAMES: [&str; 5] = ["a", "tags", "long name", "größe", "b-c"];

fn block() -> impl Strategy<Value = String> {
    let gap = prop::sample::select(vec!["", "", "", "\n", "# note\n", "\n# x: y\n\n"]);
    (prop::collection::vec((entry(), gap), 0..5), prop::sample::select(vec!["", "# top\n"])).prop_map(
        |(entries, top)| {
            let lines =
                entries.iter().zip(NAMES).map(|((entry, gap), name)| format!("{}{gap}", entry.replacen('K', name, 1)));
            let yaml: String = lines.collect();
            if yaml.is_empty() { "\n".to_owned() } else { format!("{top}{yaml}") }
        },
    )
}

fn value() -> impl Strategy<Value = YamlValue> {
    let leaf = prop_oneof![
        Just(YamlValue::Null),
        any::<bool>().prop_map(YamlValue::Bool),
        any::<i64>().prop_map(YamlValue::Integer),
        prop::sample::select(vec![0.5, -1.0, 1e300, f64::INFINITY]).prop_map(YamlValue::Float),
        "[ -~]{0,12}".prop_map(YamlValue::Text),
        "[a-z\n #:é\t-]{0,12}".prop_map(YamlValue::Text),
        any::<String>().prop_map(YamlValue::Text),
        prop::sample::select(vec![
            "2024-01-02",
            "true",
            "a\nb\n",
            "a\n\nb",
            "---",
            "- x",
            "x: y",
            "",
            "\n",
            " a",
            "\\",
            "{}"
        ])
        .prop_map(|text| YamlValue::Text(text.to_owned())),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(YamlValue::List),
            prop::collection::vec(inner, 0..3).prop_map(|values| {
                YamlValue::Map(["k", "l m", "1"].iter().map(|name| (*name).to_owned()).zip(values).collect())
            }),
        ]
    })
}

fn path() -> impl Strategy<Value = PropertyPath> {
    prop::sample::select(vec![
        "a",
        "tags",
        "long name",
        "größe",
        "b-c",
        "new",
        "a.x",
        "a.y",
        "a.0",
        "a.1",
        "a.2",
        "tags.x",
        "tags.0",
        "new.sub.deep",
        "größe.y.0",
        "long name.0.x",
        "true",
    ])
    .prop_map(|path| PropertyPath::parse(path).expect("a path"))
}

fn file() -> impl Strategy<Value = String> {
    let body = prop::sample::select(vec!["", "body", "# H\n\ntext #t\n", "\n", "---\nx\n---\n"]);
    (block(), body, any::<bool>(), any::<bool>()).prop_map(|(yaml, body, crlf, bom)| {
        let text = format!("---\n{yaml}---\n{body}");
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        format!("{}{text}", if bom { "\u{feff}" } else { "" })
    })
}

fn run(file: &str, edit: &PropertyEdit<'_>) -> Result<EditResult, EditError> {
    Document::open(file.to_owned()).expect("text").edit_property(edit)
}

/// The values of all paths that an edit of `path` must not change.
fn others(properties: &YamlValue, path: &PropertyPath) -> Vec<(String, YamlValue)> {
    let YamlValue::Map(entries) = properties else { return Vec::new() };
    let first = path.segments().next().unwrap_or_default();
    entries.iter().filter(|(name, _)| name != first).cloned().collect()
}

/// Whether every line that is a comment is still there, in order.
fn keeps_comments(before: &[u8], after: &[u8]) -> bool {
    let lines = |file| str::from_utf8(file).expect("text").lines().map(str::trim);
    let mut left = lines(after);
    lines(before).filter(|line| line.starts_with('#')).all(|comment| left.any(|line| line == comment))
}

/// The rest of the file when its properties are taken out.
fn body(file: &[u8]) -> Vec<u8> {
    let text = Document::open(file.to_vec()).expect("text");
    let end = Frontmatter::find(text.shown()).map_or(0, |block| text.file_span(block.span).end);
    file[end.max(if text.has_bom() { 3 } else { 0 })..].to_vec()
}

proptest! {
    #[test]
    fn a_set_value_is_read_back_and_no_other_changes(file in file(), path in path(), value in value()) {
        let before = properties(file.as_bytes());
        match run(&file, &PropertyEdit::Set { path: &path, value: &value }) {
            Ok(edited) => {
                let after = properties(edited.document.bytes());
                prop_assert_eq!(path.find(&after), Some(&value));
                prop_assert_eq!(others(&after, &path), others(&before, &path));
                prop_assert_eq!(body(edited.document.bytes()), body(file.as_bytes()));
                let again = run(str::from_utf8(edited.document.bytes()).unwrap(), &PropertyEdit::Set { path: &path, value: &value });
                prop_assert_eq!(again.unwrap().document, edited.document);
            }
            Err(EditError::Property(
                PropertyError::NotAContainer { .. } | PropertyError::NoSuchItem { .. }
            )) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn a_new_property_is_set_and_deleted_again_without_a_trace(file in file(), value in value()) {
        let path = PropertyPath::name("brand new");
        let with = run(&file, &PropertyEdit::Set { path: &path, value: &value }).unwrap();
        let without = run(str::from_utf8(with.document.bytes()).unwrap(), &PropertyEdit::Delete { path: &path }).unwrap();
        let empty = matches!(properties(file.as_bytes()), YamlValue::Map(entries) if entries.is_empty());
        if !empty {
            prop_assert_eq!(str::from_utf8(without.document.bytes()).unwrap(), file);
        }
    }

    #[test]
    fn a_deleted_property_is_gone_and_no_other_changes(file in file(), path in path()) {
        let before = properties(file.as_bytes());
        match run(&file, &PropertyEdit::Delete { path: &path }) {
            Ok(edited) => {
                let after = properties(edited.document.bytes());
                prop_assert_eq!(others(&after, &path), others(&before, &path));
                prop_assert_eq!(body(edited.document.bytes()), body(file.as_bytes()));
            }
            Err(EditError::Property(PropertyError::Missing { .. })) => prop_assert_eq!(path.find(&before), None),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn an_appended_item_is_the_last_one(file in file(), path in path(), value in value()) {
        let before = properties(file.as_bytes());
        match run(&file, &PropertyEdit::Append { path: &path, value: &value }) {
            Ok(edited) => {
                let after = properties(edited.document.bytes());
                let Some(YamlValue::List(items)) = path.find(&after) else { panic!("{edited:?}") };
                prop_assert_eq!(items.last(), Some(&value));
                prop_assert_eq!(others(&after, &path), others(&before, &path));
                prop_assert!(keeps_comments(file.as_bytes(), edited.document.bytes()));
            }
            Err(EditError::Property(
                PropertyError::NotAList { .. } | PropertyError::NotAContainer { .. } | PropertyError::NoSuchItem { .. }
            )) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn a_moved_property_keeps_its_value_and_comes_back(file in file(), from in path(), name in "[a-z]{6,8}") {
        let before = properties(file.as_bytes());
        let to = PropertyPath::name(&name);
        match run(&file, &PropertyEdit::Move { from: &from, to: &to }) {
            Ok(edited) => {
                let after = properties(edited.document.bytes());
                prop_assert_eq!(to.find(&after), from.find(&before));
                prop_assert_eq!(body(edited.document.bytes()), body(file.as_bytes()));
                prop_assert!(keeps_comments(file.as_bytes(), edited.document.bytes()));
                if from.segments().count() == 1 {
                    let text = str::from_utf8(edited.document.bytes()).unwrap();
                    let back = run(text, &PropertyEdit::Move { from: &to, to: &from }).unwrap();
                    prop_assert_eq!(properties(back.document.bytes()), before);
                }
            }
            Err(EditError::Property(PropertyError::Missing { .. })) => prop_assert_eq!(from.find(&before), None),
            // Rather not at all than without its comment.
            Err(EditError::Property(PropertyError::Unsafe { .. })) => prop_assert!(file.contains('#')),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
