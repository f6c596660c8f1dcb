//! Tests of rows, and that they reveal nothing about hidden files.

use std::fmt::Write;

use lapidary_note::{LineTable, Note};
use lapidary_query::{Number, Object, Value, note_items};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::{
    digest::digest,
    test_vault::{live, notes, put_or_remove, text_of, vault},
};
use lapidary_store::{PathPrefix, Policy};

/// Everything that can be queried about all notes, except the times of the files.
fn described(notes: &VisibleNotes) -> String {
    let mut text = String::new();
    for row in NoteRows::new(notes, &|| true).iter() {
        let resolved: Vec<Option<&str>> = row.links().iter().map(|link| row.resolve(link.target)).collect();
        writeln!(text, "{} {} {} {} {}", row.path(), row.name(), row.folder(), row.extension(), row.bytes()).unwrap();
        writeln!(text, "{:?} {:?}", row.frontmatter(), row.properties(&|_| true)).unwrap();
        writeln!(text, "{:?} {:?} {:?} {:?}", row.tags(), row.aliases(), row.headings(), row.blocks()).unwrap();
        writeln!(text, "{:?} {resolved:?} {:?}", row.links(), row.backlinks()).unwrap();
        writeln!(text, "{:?} {:?}", row.items(), row.fields()).unwrap();
    }
    text
}

const NOTE: &str = "---
status: open
rating: 4
due: 2026-01-02
up: \"[[Home|top]]\"
big: 9007199254740993
---
# Plan
See [[a/Other#Part]] and [[Nowhere]]. #gem #Gem #Work
Basic Field:: 3 ^b1
- [ ] call [who:: [[Home]]]
  - [x] done ✅ 2026-01-03
";

#[test]
fn a_row_has_the_structure_of_its_note() {
    let folder =
        vault(&[("Plan.md", NOTE), ("Home.md", "[[Plan]] [[Home]]"), ("a/Other.md", "[[plan]]"), ("x.png", "")]);
    let live = live(folder.path());
    let notes = notes(&live, Policy::default());
    let rows = NoteRows::new(&notes, &|| true);
    let row = rows.iter().find(|row| row.path() == "Plan.md").unwrap();
    assert_eq!((row.name(), row.folder(), row.extension()), ("Plan.md", "", "md"));
    assert_eq!((row.bytes(), row.content().as_deref()), (NOTE.len() as u64, Some(NOTE)));
    assert!(row.modified().is_some());
    assert_eq!(row.property("status"), Some(Value::from("open")));
    assert_eq!(row.property("big"), Some(Value::Number(Number::Integer(9_007_199_254_740_993))));
    assert_eq!(row.property("Status"), None);
    let rating = Object::from_iter([("rating".to_owned(), Value::from(4_i64))]);
    assert_eq!(row.properties(&|name| name == "rating"), rating);
    let tags: Vec<(&str, bool)> = row.tags().iter().map(|tag| (tag.name, tag.repeated)).collect();
    assert_eq!(tags, [("gem", false), ("Gem", true), ("Work", false)]);
    let links: Vec<_> = row.links().iter().map(|link| (link.target, link.display, row.resolve(link.target))).collect();
    assert_eq!(
        links,
        [
            ("Home", Some("top"), Some("Home.md")),
            ("a/Other", None, Some("a/Other.md")),
            ("Nowhere", None, None),
            ("Home", None, Some("Home.md")),
        ]
    );
    assert_eq!(row.backlinks(), ["Home.md", "a/Other.md"]);
    let fields: Vec<_> = row.fields().iter().map(|field| (field.line, field.item, field.key, field.value)).collect();
    assert_eq!(
        fields,
        [
            (10, None, "Basic Field", "3 ^b1"),
            (11, Some(0), "who", "[[Home]]"),
            (12, Some(1), "completion", "2026-01-03")
        ]
    );
    let items: Vec<_> = row.items().iter().map(|item| (item.line, item.status, item.parent)).collect();
    assert_eq!(items, [(11, Some(' '), None), (12, Some('x'), Some(0))]);
    let home = rows.iter().find(|row| row.path() == "Home.md").unwrap();
    assert_eq!(home.backlinks(), ["Home.md", "Plan.md"], "a note that links to itself counts");
}

#[test]
fn a_file_that_is_not_a_note_is_a_row_without_content() {
    let folder = vault(&[("x.png", "\u{1}"), ("a.md", "![[x.png]]")]);
    let live = live(folder.path());
    let notes = notes(&live, Policy::default());
    let rows = NoteRows::new(&notes, &|| true);
    let row = rows.row(notes.iter().find(|entry| !entry.is_note()).unwrap());
    assert_eq!((row.path(), row.extension(), row.bytes()), ("x.png", "png", 1));
    assert_eq!((row.frontmatter(), row.backlinks()), (FrontmatterState::Absent, vec!["a.md"]));
    assert!(row.tags().is_empty() && row.items().is_empty() && row.properties(&|_| true).is_empty());
}

#[test]
fn rows_reveal_nothing_about_hidden_files() {
    let open = [("a.md", "[[secret/b]] [[c]]"), ("c.md", "[[a]]")];
    let hidden = [("secret/b.md", "[[a]] [[c]]"), ("secret/c.md", "[[c]] [[a]]")];
    let (with, without) = (vault(&[open, hidden].concat()), vault(&open));
    let policy = || Policy { deny: vec![PathPrefix::parse("secret").unwrap()], ..Policy::default() };
    let described = |folder: &TempDir| described(&notes(&live(folder.path()), policy()));
    assert_eq!(described(&with), described(&without));
}

#[test]
fn many_questions_for_backlinks_are_answered_as_few_are() {
    let names: Vec<String> = (0..50).map(|number| format!("n{number}.md")).collect();
    let texts: Vec<String> =
        (0..50).map(|number| format!("[[n{}]] [[n{}]] [[n{number}]]", number * 7 % 50, number / 2)).collect();
    let files: Vec<(&str, &str)> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = vault(&files);
    let live = live(folder.path());
    let notes = notes(&live, Policy::default());
    let rows = NoteRows::new(&notes, &|| true);
    let asked: Vec<Vec<String>> =
        rows.iter().map(|row| row.backlinks().into_iter().map(str::to_owned).collect()).collect();
    assert!(rows.backlinks.all.get().is_some());
    let singly: Vec<Vec<String>> = notes
        .notes()
        .map(|(entry, _)| FileRow::new(&notes, entry.state()).backlinks().into_iter().map(str::to_owned).collect())
        .collect();
    assert_eq!(asked, singly);
}

const PATHS: [&str; 5] = ["a.md", "b.md", "sub/a.md", "sub/c.md", "Ünï.md"];
const PARTS: [&str; 16] = [
    "---\nk: [1, x]\ndate: 2026-01-02\n---\n",
    "[[a]] ",
    "[[sub/c|x]] ",
    "- item [f:: 1]\n",
    "  - [ ] task 📅 2026-01-02\n",
    "\t1) tab\n",
    "> - q:: v\n",
    "key:: value\n",
    "```\n",
    "#tag ",
    "\n\n",
    "# H\n",
    "* \n",
    "[[Ünï]]",
    "\r\n",
    "(a:: [[b]]) ^id\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 24 } else { 600 }))]

    #[test]
    fn rows_after_any_changes_are_those_of_an_index_built_anew(
        steps in prop::collection::vec((0..PATHS.len(), prop::option::weighted(0.8, text_of(&PARTS, 12)), any::<bool>()), 1..12)
    ) {
        let folder = vault(&[("a.md", "[[b]]")]);
        let kept = live(folder.path());
        for (path, text, asks) in &steps {
            put_or_remove(folder.path(), PATHS[*path], text.as_deref());
            if *asks {
                let fresh = described(&notes(&live(folder.path()), Policy::default()));
                prop_assert_eq!(described(&notes(&kept, Policy::default())), fresh);
            }
        }
        let fresh = described(&notes(&live(folder.path()), Policy::default()));
        prop_assert_eq!(described(&notes(&kept, Policy::default())), fresh);
    }

    #[test]
    fn items_and_fields_lie_in_the_text_that_they_are_of(
        note in prop_oneof![text_of(&PARTS, 12), ".{0,60}", prop::collection::vec(prop::sample::select(vec!["- ", "\t", "> ", "1. ", "[x] ", "\n", "a:: b ", "é", "[", "]"]), 0..30).prop_map(|parts| parts.concat())]
    ) {
        let mut bytes = Vec::new();
        digest(note.as_bytes(), &mut bytes);
        let digest = Digest::read(&bytes).unwrap();
        let text = shown_text(note.as_bytes());
        let lines = text.split('\n').count();
        let parsed = Note::parse(&text);
        prop_assert_eq!(digest.items(), note_items(&parsed, &LineTable::of(&text)));
        for item in digest.items() {
            let first = item.text.lines().next().unwrap_or_default();
            assert!(text[item.span.clone()].contains(first), "{item:?} of {text:?}");
            assert!(item.line_count > 0 && item.line + item.line_count - 1 <= lines, "{item:?} of {text:?}");
        }
        let items = digest.items().len();
        assert!(digest.fields().all(|field| field.line <= lines && field.item.is_none_or(|item| item < items)));
    }

    #[test]
    fn bytes_that_are_no_digest_are_read_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..80), lengths in prop::collection::vec(0_u8..40, 8)) {
        let total: usize = lengths.iter().map(|length| usize::from(*length)).sum();
        let packed: Vec<u8> = lengths.iter().copied().chain(bytes.into_iter().cycle().take(total)).collect();
        if let Some(digest) = Digest::read(&packed) {
            digest.items();
            digest.fields().for_each(drop);
            digest.structure();
            digest.tasks();
            digest.properties().for_each(|(_, value)| drop(value.read()));
            let read = digest.written_tags().count() + digest.links().count() + digest.aliases().count();
            prop_assert!(read <= packed.len());
        }
    }
}
