//! Schemas are read as they are written, and mistakes in them are named.

use lapidary_note::FileContent;
use lapidary_operation::ShapeProblem;
use lapidary_vault::VaultPath;
use proptest::prelude::*;

use super::*;

fn content(text: &str) -> FileContent {
    text.to_owned().into()
}

fn schema(yaml: &str) -> Result<Option<NoteSchema>, String> {
    read_schema(&content(&format!("---\n{yaml}\n---\n")))
}

fn problems(yaml: &str, path: &str, note: &str) -> Vec<String> {
    let schema = schema(yaml).unwrap().unwrap();
    let found = schema.problems(&VaultPath::parse(path).unwrap(), &NoteFacts::of_content(&content(note)));
    found.iter().map(ShapeProblem::says).collect()
}

#[test]
fn mistakes_are_named() {
    for (yaml, says) in [
        ("schema: x", "must have names and values"),
        ("schema: {}", "`for` is missing"),
        ("schema: {for: {}}", "a `folder`, a `tag` or a `property`"),
        ("schema: {for: {tags: x}}", "did you mean `tag`?"),
        ("schema: {for: {folder: ../x}}", "`../x`"),
        ("schema: {for: {tag: x}, on_mismatch: deny}", "`notice` or `refuse`"),
        ("schema: {for: {tag: x}, properties: {a: string}}", "the type of `a` must be one of text"),
        ("schema: {for: {tag: x}, properties: {a: {require: true}}}", "did you mean `required`?"),
        ("schema: {for: {tag: x}, properties: {a: {values: []}}}", "allows nothing"),
        ("schema: {for: {property: {type: [a]}}}", "single values"),
        ("schema: [", "line"),
    ] {
        let problem = schema(yaml).unwrap_err();
        assert!(problem.contains(says), "{yaml}: {problem}");
    }
    assert_eq!(schema("other: 1"), Ok(None), "a note in the folder need not be a schema");
}

#[test]
fn types_values_and_headings_are_checked() {
    let yaml = "schema: {for: {tag: book}, properties: {n: number, d: datetime, t: text, l: {values: [a, 1]}, r: {required: true}}, headings: [Why]}";
    let fine = "---\nn: 1.5\nd: 2026-11-18\nt: 2026-11-18\nL: [a, 1]\nr: x\ntags: book/old\n---\n## why\n";
    assert_eq!(problems(yaml, "a.md", fine), Vec::<String>::new());
    assert_eq!(problems(yaml, "a.md", &fine.replace("book", "cook")), Vec::<String>::new(), "another type");
    let wrong = "---\nn: x\nd: 1\nt: 2\nl: [a, b]\nr: ''\n---\n#book `## Why`\n";
    assert_eq!(
        problems(yaml, "a.md", wrong),
        [
            "`n` must be a number, not text (`x`)",
            "`d` must be a date and time, not a number (`1`)",
            "`t` must be text, not a number (`2`)",
            "`l` must be one of `a`, `1`, not `b`",
            "`r` is missing",
            "the heading `Why` is missing",
        ]
    );
    let both = "schema: {for: {folder: Work, property: {type: Meeting}}, properties: {r: {required: true}}}";
    assert_eq!(problems(both, "work/a.md", "---\ntype: [x, meeting]\n---\n").len(), 1);
    assert_eq!(problems(both, "work/a.md", "---\ntype: talk\n---\n").len(), 0);
    assert_eq!(problems(both, "a.md", "---\ntype: meeting\n---\n").len(), 0);
}

#[test]
fn long_values_are_compared_whole() {
    let long = "x".repeat(100);
    let yaml = format!("schema: {{for: {{property: {{type: {long}}}}}, properties: {{v: {{values: [{long}y]}}}}}}");
    let note = |value: &str| format!("---\ntype: {long}\nv: {value}\n---\n");
    assert_eq!(problems(&yaml, "a.md", &note(&format!("{long}y"))), Vec::<String>::new());
    let [problem] = &problems(&yaml, "a.md", &note(&format!("{long}z")))[..] else { panic!("one problem") };
    assert!(problem.contains("not `xxx") && problem.ends_with("…`"), "{problem}");
}

fn word() -> impl Strategy<Value = String> {
    "[a-zé: #'\"\\[{-]{0,8}[a-z]".prop_map(|word| word.trim().to_owned())
}

proptest! {
    #[test]
    fn a_schema_is_read_as_it_was_written(
        tag in proptest::option::of("[a-z]{1,6}(/[a-z]{1,3})?"),
        values in proptest::collection::vec((word(), word()), 1..3),
        rules in proptest::collection::btree_map(word(), (0..7_usize, any::<bool>(), proptest::collection::vec(word(), 0..3)), 0..4),
        headings in proptest::collection::vec(word(), 0..3),
    ) {
        use PropertyKind::{Checkbox, Date, DateTime, List, Number, Object, Text};
        let kinds = [Text, Number, Checkbox, Date, DateTime, List, Object];
        let rule = |(name, (kind, required, values)): (String, (usize, bool, Vec<String>))| PropertyRule {
            name, kind: Some(kinds[kind]), required, values,
        };
        let values: std::collections::BTreeMap<String, String> = values.into_iter().collect();
        let written = NoteSchema {
            notes: NoteType { folder: None, tag, properties: values.into_iter().collect() },
            on_mismatch: MismatchResponse::Refuse,
            properties: rules.into_iter().map(rule).collect(),
            headings,
        };
        let read = read_schema(&content(&format!("---\n{}---\n", written.to_yaml())));
        prop_assert_eq!(read, Ok(Some(written)));
    }
}
