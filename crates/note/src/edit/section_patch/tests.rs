//! Tests of patching headings, blocks and properties.

use super::*;

const APPEND: PatchOperation = PatchOperation::Add(InsertSide::Behind);
const PREPEND: PatchOperation = PatchOperation::Add(InsertSide::Before);

fn plain(operation: PatchOperation, content: &str) -> SectionPatch<'_> {
    SectionPatch { operation, content: PatchContent::Text(content), create: false, repeat: false, trim: false }
}

fn run(
    before: &str,
    target: PatchTarget<'_>,
    wanted: &SectionPatch<'_>,
) -> Result<(String, String), SectionPatchError> {
    let done = Document::open(before.to_owned()).unwrap().patch_section(target, wanted)?;
    Ok((done.document.raw().to_owned(), done.target))
}

fn heading(name: &str) -> PatchTarget<'_> {
    PatchTarget::Heading(name)
}

#[test]
fn sections_get_text_where_it_is_asked_for() {
    const NOTE: &str = "# A\n\nintro\n\n## T\n\n- one\n\n## N\n\nend\n";
    for (target, operation, content, after) in [
        ("T", APPEND, "- two\n", "# A\n\nintro\n\n## T\n\n- one\n- two\n\n## N\n\nend\n"),
        ("A::T", PREPEND, "- zero\n", "# A\n\nintro\n\n## T\n\n- zero\n- one\n\n## N\n\nend\n"),
        ("T", PatchOperation::Replace, "new\n", "# A\n\nintro\n\n## T\n\nnew\n\n## N\n\nend\n"),
        ("T", PatchOperation::Replace, "## T\n\nnew\n", "# A\n\nintro\n\n## T\n\nnew\n\n## N\n\nend\n"),
        ("T", PatchOperation::Replace, "# T\nnew", "# A\n\nintro\n\n## T\n\nnew\n\n## N\n\nend\n"),
        ("N", APPEND, "more", "# A\n\nintro\n\n## T\n\n- one\n\n## N\n\nend\nmore\n"),
        ("N", APPEND, "### Deeper\n", "# A\n\nintro\n\n## T\n\n- one\n\n## N\n\nend\n### Deeper\n"),
    ] {
        let (found, path) = run(NOTE, heading(target), &plain(operation, content)).unwrap();
        assert_eq!(found, after, "{target} {content:?}");
        assert_eq!(path, format!("A::{}", target.trim_start_matches("A::")));
        let windows = run(&NOTE.replace('\n', "\r\n"), heading(target), &plain(operation, content)).unwrap().0;
        assert_eq!(windows, after.replace('\n', "\r\n"));
    }
    let trimmed = SectionPatch { trim: true, ..plain(APPEND, "- two") };
    assert_eq!(run(NOTE, heading("T"), &trimmed).unwrap().0, "# A\n\nintro\n\n## T\n\n- one\n- two\n\n## N\n\nend\n");
}

#[test]
fn existing_content_is_added_again_only_on_request() {
    let note = "# A\n- one\n\nx ^id\n";
    for target in [heading("A"), PatchTarget::Block("id")] {
        let content = if target == heading("A") { "- one\n" } else { " x " };
        assert_eq!(run(note, target, &plain(APPEND, content)), Err(SectionPatchError::Preexists));
        assert!(run(note, target, &SectionPatch { repeat: true, ..plain(APPEND, content) }).is_ok());
        assert!(run(note, target, &plain(PatchOperation::Replace, content)).is_ok());
    }
    assert!(run(note, heading("A"), &plain(APPEND, "")).is_ok());
    let note = "# A\nan entry of text\n  - one \n\nwords of text ^id\n";
    for content in ["try", "text", "an entry", "- on"] {
        assert!(run(note, heading("A"), &plain(APPEND, content)).is_ok(), "{content}");
    }
    for content in ["an entry of text", "- one", "an entry of text\n  - one", "words of text"] {
        assert_eq!(run(note, heading("A"), &plain(APPEND, content)), Err(SectionPatchError::Preexists), "{content}");
    }
    assert!(run(note, PatchTarget::Block("id"), &plain(APPEND, "ord")).is_ok());
    assert_eq!(run(note, PatchTarget::Block("id"), &plain(APPEND, " of text")), Err(SectionPatchError::Preexists));
}

#[test]
fn a_heading_is_named_with_or_without_its_marks() {
    let note = "# A\n## B\nb\n### A\na\n## #x\n";
    for (name, path) in [
        ("B", "A::B"),
        ("## B", "A::B"),
        ("#B", "A::B"),
        (" # A :: ## B ", "A::B"),
        ("### A", "A::B::A"),
        ("# A", "A"),
        ("#x", "A::#x"),
        ("## #x", "A::#x"),
    ] {
        assert_eq!(run(note, heading(name), &plain(APPEND, "new")).unwrap().1, path, "{name}");
    }
    assert!(matches!(run(note, heading("#"), &plain(APPEND, "x")), Err(SectionPatchError::Missing { .. })));
}

#[test]
fn an_ambiguous_heading_is_not_guessed() {
    let note = "# A\n## X\n# B\n## X\n## Y\n## Y\n";
    let ambiguous = |candidates: &[&str]| {
        Err(SectionPatchError::Ambiguous { candidates: candidates.iter().map(|name| (*name).to_owned()).collect() })
    };
    assert_eq!(run(note, heading("X"), &plain(APPEND, "x")), ambiguous(&["A::X", "B::X"]));
    assert_eq!(run(note, heading("B::Y"), &plain(APPEND, "x")), ambiguous(&["B::Y", "B::Y"]));
    let Err(SectionPatchError::Missing { available }) = run(note, heading("A::Y"), &plain(APPEND, "x")) else {
        panic!()
    };
    assert_eq!(available, ["A", "A::X", "B", "B::X", "B::Y", "B::Y"]);
}

#[test]
fn new_headings_stay_in_the_section() {
    let note = "# A\n## B\ntext\n# C\n";
    for content in ["## X\n", "# X\n", "y\n\nX\n---\n"] {
        let outside = SectionPatchError::Outside { heading: "X".to_owned() };
        assert_eq!(run(note, heading("B"), &plain(APPEND, content)), Err(outside), "{content}");
    }
    assert!(run(note, heading("B"), &plain(APPEND, "### X\n")).is_ok());
    assert!(run(note, heading("B"), &plain(APPEND, "```\n# X\n```\n")).is_ok());
}

#[test]
fn a_missing_part_is_created_on_request() {
    let create = |content| SectionPatch { create: true, ..plain(APPEND, content) };
    for (before, target, after) in [
        ("# A\ntext\n", heading("A::B"), "# A\ntext\n\n## B\nnew\n"),
        ("", heading("A"), "# A\nnew\n"),
        ("# A\ntext\n", heading("## B"), "# A\ntext\n\n## B\nnew\n"),
        ("# A\ntext\n", heading("#B"), "# A\ntext\n\n# B\nnew\n"),
        ("# Héad\n", heading("Héad ::ü "), "# Héad\n\n## ü\nnew\n"),
        ("text\n", PatchTarget::Block("id"), "text\n\nnew ^id\n"),
        ("text\n", PatchTarget::Property("k"), "---\nk: new\n---\ntext\n"),
    ] {
        assert_eq!(run(before, target, &create("new")).unwrap().0, after);
        assert!(matches!(run(before, target, &plain(APPEND, "new")), Err(SectionPatchError::Missing { .. })));
    }
    assert!(run("# A\n", heading("A::::B"), &create("x")).is_err());
    assert!(run("# A\n", PatchTarget::Block("not an id"), &create("x")).is_err());
}

#[test]
fn blocks_take_text_and_tables_rows() {
    let rows = |json: &[&[&str]]| {
        let row =
            |cells: &&[&str]| YamlValue::List(cells.iter().map(|cell| YamlValue::Text((*cell).to_owned())).collect());
        YamlValue::List(json.iter().map(row).collect())
    };
    let table = "| a | b |\n|---|---|\n| 1 | 2 |\n\n^t\n\n- item ^i\n";
    let (one, two) = (rows(&[&["3", "4"]]), rows(&[&["3", "x|y"], &["5", "6"]]));
    fn value(operation: PatchOperation, value: &YamlValue) -> SectionPatch<'_> {
        SectionPatch { content: PatchContent::Value(value), ..plain(operation, "") }
    }
    for (operation, rows, after) in [
        (APPEND, &one, "| 1 | 2 |\n| 3 | 4 |\n"),
        (PREPEND, &one, "| 3 | 4 |\n| 1 | 2 |\n"),
        (PatchOperation::Replace, &two, "| 3 | x\\|y |\n| 5 | 6 |\n"),
    ] {
        let (found, target) = run(table, PatchTarget::Block("^T"), &value(operation, rows)).unwrap();
        assert_eq!(found, format!("| a | b |\n|---|---|\n{after}\n^t\n\n- item ^i\n"));
        assert_eq!(target, "t");
    }
    let flat = YamlValue::List(vec![YamlValue::Integer(7), YamlValue::Null]);
    assert!(run(table, PatchTarget::Block("t"), &value(APPEND, &flat)).unwrap().0.contains("| 7 |  |"));
    for bad in [rows(&[&["only one"]]), YamlValue::Text("x".into()), YamlValue::List(vec![rows(&[]), YamlValue::Null])]
    {
        assert!(run(table, PatchTarget::Block("t"), &value(APPEND, &bad)).is_err(), "{bad:?}");
    }
    assert!(run(table, PatchTarget::Block("i"), &value(APPEND, &one)).is_err(), "not a table");
    for operation in [APPEND, PREPEND, PatchOperation::Replace] {
        assert!(run(table, PatchTarget::Block("t"), &plain(operation, "plain words")).is_err(), "no row");
    }
    assert!(run(table, PatchTarget::Block("t"), &plain(APPEND, "| 3 | 4 |")).is_ok());
    assert_eq!(run(table, heading("t"), &value(APPEND, &one)), Err(SectionPatchError::NotText));
    for (operation, after) in
        [(APPEND, "- item! ^i\n"), (PREPEND, "- !item ^i\n"), (PatchOperation::Replace, "- ! ^i\n")]
    {
        assert!(run(table, PatchTarget::Block("i"), &plain(operation, "!")).unwrap().0.ends_with(after));
    }
}

#[test]
fn a_map_takes_entries_and_existing_ones_stay_as_written() {
    const NOTE: &str = "---\nm:\n  k: 'v' # c\n  l:\n  - 1\n  - 2\nz: 007\n---\n";
    let entry = |name: &str, value: i64| YamlValue::Map(vec![(name.to_owned(), YamlValue::Integer(value))]);
    for (operation, given, after) in [
        (APPEND, entry("new", 1), "m:\n  k: 'v' # c\n  l:\n  - 1\n  - 2\n  new: 1\nz: 007\n"),
        (PREPEND, entry("new", 1), "m:\n  k: 'v' # c\n  l:\n  - 1\n  - 2\n  new: 1\nz: 007\n"),
        (APPEND, entry("k", 1), "m:\n  k: 1 # c\n  l:\n  - 1\n  - 2\nz: 007\n"),
        // The later value wins, which is the old one here.
        (PREPEND, entry("k", 1), "m:\n  k: 'v' # c\n  l:\n  - 1\n  - 2\nz: 007\n"),
    ] {
        let patch = SectionPatch { content: PatchContent::Value(&given), ..plain(operation, "") };
        let found = run(NOTE, PatchTarget::Property("m"), &patch).unwrap().0;
        assert_eq!(found, format!("---\n{after}---\n"), "{given:?}");
    }
}

#[test]
fn properties_take_values_and_keep_their_surroundings() {
    const NOTE: &str = "---\n# comment\ntags: [a, 'b'] # list\ntitle: \"Q\"\nn: 1\nm: {x: 1}\n---\nbody\n";
    let texts = YamlValue::List(vec![YamlValue::Text("c".into()), YamlValue::Text("d".into())]);
    let map = YamlValue::Map(vec![("y".into(), YamlValue::Integer(2))]);
    for (name, patch, line) in [
        (
            "tags",
            SectionPatch { content: PatchContent::Value(&texts), ..plain(APPEND, "") },
            "tags: [a, 'b', c, d] # list\n",
        ),
        ("tags", plain(APPEND, "c"), "tags: [a, 'b', c] # list\n"),
        ("title", plain(APPEND, "?"), "title: \"Q?\"\n"),
        ("title", plain(PREPEND, "A "), "title: \"A Q\"\n"),
        (
            "n",
            SectionPatch { content: PatchContent::Value(&YamlValue::Integer(2)), ..plain(PatchOperation::Replace, "") },
            "n: 2\n",
        ),
        ("m", SectionPatch { content: PatchContent::Value(&map), ..plain(APPEND, "") }, "y: 2"),
    ] {
        let found = run(NOTE, PatchTarget::Property(name), &patch).unwrap().0;
        assert!(
            found.contains(line) && found.starts_with("---\n# comment\n") && found.ends_with("---\nbody\n"),
            "{found}"
        );
    }
    assert_eq!(run(NOTE, PatchTarget::Property("n"), &plain(APPEND, "x")), Err(SectionPatchError::NotMergeable));
    let broken = run("---\na: b: c\n---\n", PatchTarget::Property("a"), &plain(APPEND, "x"));
    assert!(matches!(broken, Err(SectionPatchError::Edit(EditError::Property(_)))));
}
