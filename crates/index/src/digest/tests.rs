//! Tests of packing and reading digests.

use lapidary_note::LinkKind;
use lapidary_query::{Number, Value};

use super::*;

const NOTE: &str = "---\ntags: [Work, a/b]\naliases: [Other name]\nup: \"[[Home#H|x]]\"\nn: [1, 2.5, yes, true, null, {k: v}]\n---\n# A *b*\nsee [[Note One#Sub|al]] and ![[p.png|300]] #work #New/x\n- [x] done [[sub/Two]] ^id1\n    - [/] half\n[t](A%20b.md \"t\") [e](https://x.y) [r][ref]\nkey:: value\n\n[ref]: R.md\n## C\n";

fn packed(note: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    digest(note, &mut bytes);
    bytes
}

#[test]
fn everything_that_can_be_queried_survives_packing() {
    let bytes = packed(NOTE.as_bytes());
    let digest = Digest::read(&bytes).unwrap();
    let links: Vec<_> = digest
        .links()
        .map(|link| (link.kind, link.embed, link.line, link.target, link.subpath, link.alias, link.property))
        .collect();
    assert_eq!(
        links,
        [
            (LinkKind::Wiki, false, 4, "Home", Some("#H"), Some("x"), Some("up")),
            (LinkKind::Wiki, false, 8, "Note One", Some("#Sub"), Some("al"), None),
            (LinkKind::Wiki, true, 8, "p.png", None, None, None),
            (LinkKind::Wiki, false, 9, "sub/Two", None, None, None),
            (LinkKind::Markdown, false, 11, "A b.md", None, Some("t"), None),
            (LinkKind::Reference, false, 11, "R.md", None, Some("r"), None),
        ]
    );
    assert_eq!(digest.keys().count(), 6);
    let tags: Vec<_> = digest.tags().map(|tag| (tag.name, tag.in_properties)).collect();
    assert_eq!(tags, [("Work", true), ("a/b", true), ("New/x", false)]);
    assert_eq!(digest.aliases().collect::<Vec<_>>(), ["Other name"]);
    let structure = digest.structure();
    let headings: Vec<_> = structure.headings.iter().map(|found| (found.level, found.line, found.text)).collect();
    assert_eq!(headings, [(1, 7, "A *b*"), (2, 15, "C")]);
    assert_eq!(structure.blocks, [RowBlock { id: "id1", line: 9 }]);
    let tasks: Vec<_> = digest.tasks().iter().map(|task| (task.status, task.line, task.depth)).collect();
    assert_eq!(tasks, [('x', 9, 0), ('/', 10, 1)]);
    assert_eq!(digest.frontmatter(), FrontmatterState::Read);
    let properties: Vec<(&str, PackedValue<'_>)> = digest.properties().collect();
    assert_eq!(properties.len(), 4);
    assert_eq!(properties[3].0, "n");
    let Value::List(items) = properties[3].1.read() else { panic!("a list") };
    assert_eq!(items[..2], [Value::from(1_i64), Value::Number(Number::Float(2.5))]);
    assert_eq!(items[5], Value::Object([("k".to_owned(), Value::from("v"))].into_iter().collect()));
}

#[test]
fn tags_are_kept_once_and_returned_as_written() {
    let bytes = packed(NOTE.as_bytes());
    let tags = Digest::read(&bytes).unwrap().written_tags().collect::<Vec<_>>();
    let tags: Vec<_> = tags.iter().map(|tag| (tag.name, tag.in_properties, tag.repeated)).collect();
    let expected = [("Work", true, false), ("a/b", true, false), ("work", false, true), ("New/x", false, false)];
    assert_eq!(tags, expected);
}

#[test]
fn list_items_and_fields_keep_their_places() {
    let note = "---\nw:: 0\n---\n- one [a:: 1]\n  more b:: 2\n\t1. [x] two 📅 2026-01-02 (c:: 3)\n   * k:: v\n\nkey:: *value*\n```\nin code:: yes\n```\n> - quoted [d:: 4]\n+ last";
    let bytes = packed(note.as_bytes());
    let digest = Digest::read(&bytes).unwrap();
    let items: Vec<_> = digest
        .items()
        .into_iter()
        .map(|item| {
            (item.line, item.line_count, item.depth, item.parent, item.marker, item.status, item.text.into_owned())
        })
        .collect();
    let text = |text: &str| text.to_owned();
    assert_eq!(
        items,
        [
            (4, 2, 0, None, "-", None, text("one [a:: 1]\nmore b:: 2")),
            (6, 1, 1, Some(0), "1.", Some('x'), text("two 📅 2026-01-02 (c:: 3)")),
            (7, 1, 1, Some(0), "*", None, text("k:: v")),
            (13, 1, 0, None, "-", None, text("quoted [d:: 4]")),
            (14, 1, 0, None, "+", None, text("last")),
        ]
    );
    let fields: Vec<_> =
        digest.fields().map(|field| (field.line, field.item, field.of_task, field.key, field.value)).collect();
    assert_eq!(
        fields,
        [
            (2, None, false, "w", "0"),
            (4, Some(0), false, "a", "1"),
            (6, Some(1), true, "due", "2026-01-02"),
            (6, Some(1), true, "c", "3"),
            (7, Some(2), false, "k", "v"),
            (9, None, false, "key", "*value*"),
            (11, None, false, "in code", "yes"),
            (13, Some(3), false, "d", "4"),
        ]
    );
}

#[test]
fn tasks_are_found_by_their_dates() {
    use lapidary_note::{TaskFieldKind, TaskPriority};
    let note = "- a\n- [ ] b ⏫ 🔁 every day 📅 2026-01-02\n\t- [/] c [due:: 1999-12-31] d\n> 1. [x] e ✅ 2026-01-03\n- [ ] f 📅 2026-02-30\n";
    let bytes = packed(note.as_bytes());
    let tasks: Vec<DatedTask> = Digest::read(&bytes).unwrap().dated_tasks().collect();
    let day = |date: &str| Some(day_number(date.parse().unwrap()));
    let shown: Vec<_> = tasks
        .iter()
        .map(|task| (task.item, task.line, task.status, task.day(TaskFieldKind::Due), task.day(TaskFieldKind::Done)))
        .collect();
    assert_eq!(
        shown,
        [
            (1, 2, ' ', day("2026-01-02"), None),
            (2, 3, '/', day("1999-12-31"), None),
            (3, 4, 'x', None, day("2026-01-03")),
            (4, 5, ' ', None, None),
        ]
    );
    assert_eq!((tasks[0].priority, tasks[0].recurs), (Some(TaskPriority::High), true));
    assert_eq!((day("2000-01-01"), day("1999-12-31"), day("2000-12-31")), (Some(0), Some(-1), Some(365)));
}

#[test]
fn recursive_properties_are_cut_off() {
    let mut note = "---\nk0: &a0 [x]\n".to_owned();
    for level in 1..12 {
        note += &format!("k{level}: &a{level} {}*a{}{}\n", "[".repeat(50), level - 1, "]".repeat(50));
    }
    let bytes = packed(format!("{note}---\n").as_bytes());
    let digest = Digest::read(&bytes).unwrap();
    let deepest = digest.properties().map(|(_, value)| depth(&value.read())).max();
    assert_eq!(deepest, Some(128));
}

fn depth(value: &Value) -> usize {
    value.items().iter().map(|item| 1 + depth(item)).max().unwrap_or_default()
}

#[test]
fn a_digest_is_what_it_was() {
    let note = format!("{NOTE}- [ ] task [a:: 1]\n- [b](c.md) item (d:: 2)\n\ne:: 3\n");
    let hash = lapidary_note::ContentHash::of(&packed(note.as_bytes())).to_string();
    assert_eq!((FORMAT, &hash[..19]), (9, "sha256:b9fd35a623cc"), "what the index keeps has changed: raise FORMAT");
}

#[test]
fn what_is_kept_of_a_note_is_smaller_than_one_and_a_half_times_its_text() {
    let mut note = NOTE.to_owned();
    for number in 0..60 {
        note += &format!("- [ ] Call person {number} about the roof #task [due:: 2026-01-02]\n  - a plain item\n\n");
        note += &format!("key {number}:: value\n\nSome words about [[Note {number}]].\n\n");
    }
    let kept = packed(note.as_bytes()).len();
    assert!(kept * 2 < note.len() * 3, "{kept} of {}", note.len());
}

#[test]
fn no_bytes_cause_a_panic() {
    for note in [&b""[..], b"\xff\xfe[[a]]", b"---\n: : [\n---\n", b"\xef\xbb\xbf---\na: 1\n---\r\n[[x]]\r\n"] {
        let bytes = packed(note);
        let digest = Digest::read(&bytes).unwrap();
        assert_eq!(digest.links().count(), usize::from(note.windows(2).any(|pair| pair == b"[[")), "{note:?}");
    }
    assert!(Digest::read(&[]).is_none());
    assert!(Digest::read(&[9, 9, 9, 9, 9, 9]).is_none());
    let bytes = packed(NOTE.as_bytes());
    for end in 0..bytes.len() {
        assert!(Digest::read(&bytes[..end]).is_none());
    }
}
