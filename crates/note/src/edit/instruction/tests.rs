//! Instructions, and the note after each.

use super::*;

const NOTE: &str =
    "---\ntitle: A\ntags:\n  - x\n---\n\n# One\n\nbody\n\n## Sub\n\nsub text\n\n# Two\n\npara ^p\n\nlast\n";

fn path(names: &[&str]) -> InstructionTarget {
    InstructionTarget::Heading(names.iter().map(|name| (*name).to_owned()).collect())
}

fn text(text: &str) -> InstructionPayload {
    InstructionPayload::Text(text.to_owned())
}

fn instruction(
    target: InstructionTarget,
    operation: InstructionOperation,
    scope: InstructionScope,
    payload: InstructionPayload,
) -> PatchInstruction {
    PatchInstruction { target, operation, scope, payload, within: None, create: false, once: false }
}

fn done(note: &str, instruction: &PatchInstruction) -> String {
    let result = Document::open(note.to_owned()).unwrap().instructed(instruction);
    result.unwrap_or_else(|error| panic!("{error}: {instruction:?}")).document.raw().to_owned()
}

fn refused(note: &str, instruction: &PatchInstruction) -> InstructionError {
    Document::open(note.to_owned()).unwrap().instructed(instruction).unwrap_err()
}

use InstructionOperation::{Append, Delete, Prepend, Replace};
use InstructionScope::{Content, Marker, MarkerAndContent, Parent};

#[test]
fn a_section_is_changed_in_every_scope() {
    const DOC: &str = "# One\n\nbody\n\n## Sub\n\nsub text\n\n# Two\n\nlast\n";
    let one = || path(&["One"]);
    for (operation, scope, new, expected) in [
        (Append, Content, "X", "# One\n\nbody\n\n## Sub\n\nsub text\n\nX\n\n# Two\n\nlast\n"),
        (Append, Content, "\n\nX\n\n\n", "# One\n\nbody\n\n## Sub\n\nsub text\n\nX\n\n# Two\n\nlast\n"),
        (Prepend, Content, "X", "# One\n\nX\n\nbody\n\n## Sub\n\nsub text\n\n# Two\n\nlast\n"),
        (Replace, Content, "X", "# One\n\nX\n\n# Two\n\nlast\n"),
        (Replace, Content, "# In\n\nx", "# One\n\n## In\n\nx\n\n# Two\n\nlast\n"),
        (Replace, Content, "", "# One\n\n# Two\n\nlast\n"),
        (Replace, Marker, "New", "# New\n\nbody\n\n## Sub\n\nsub text\n\n# Two\n\nlast\n"),
        (Append, Marker, "!", "# One!\n\nbody\n\n## Sub\n\nsub text\n\n# Two\n\nlast\n"),
        (Prepend, Marker, "Number ", "# Number One\n\nbody\n\n## Sub\n\nsub text\n\n# Two\n\nlast\n"),
        (Replace, MarkerAndContent, "# New\n\nx\n", "# New\n\nx\n\n# Two\n\nlast\n"),
        (Replace, MarkerAndContent, "plain", "plain\n\n# Two\n\nlast\n"),
        (
            Append,
            MarkerAndContent,
            "# New\n\nx",
            "# One\n\nbody\n\n## Sub\n\nsub text\n\n# New\n\nx\n\n# Two\n\nlast\n",
        ),
        (Prepend, MarkerAndContent, "# New", "# New\n\n# One\n\nbody\n\n## Sub\n\nsub text\n\n# Two\n\nlast\n"),
    ] {
        let wanted = instruction(one(), operation, scope, text(new));
        assert_eq!(done(DOC, &wanted), expected, "{operation:?} {scope:?} {new:?}");
    }
}

#[test]
fn headings_in_new_text_are_relative_and_too_deep_ones_are_reported() {
    let wanted = instruction(path(&["One", "Sub"]), Replace, Content, text("# In\n\n```\n# code\n```\n\n##### Deep"));
    let result = Document::open(NOTE.to_owned()).unwrap().instructed(&wanted).unwrap();
    assert!(result.document.raw().contains("## Sub\n\n### In\n\n```\n# code\n```\n\n####### Deep\n\n# Two"));
    assert_eq!(result.too_deep, [("Deep".to_owned(), 7)]);
}

#[test]
fn parts_are_deleted_in_every_scope() {
    const DOC: &str = "# One\n\nbody\n\n## Sub\n\nsub text\n\n# Two\n\npara ^p\n\nlast\n";
    let block = || InstructionTarget::Block("p".to_owned());
    for (target, scope, expected) in [
        (path(&["One"]), Content, "# One\n\n# Two\n\npara ^p\n\nlast\n"),
        (path(&["One"]), MarkerAndContent, "# Two\n\npara ^p\n\nlast\n"),
        // The sections below it move up.
        (path(&["One"]), Marker, "\nbody\n\n# Sub\n\nsub text\n\n# Two\n\npara ^p\n\nlast\n"),
        // The section before it takes its text in.
        (path(&["Two"]), Marker, "# One\n\nbody\n\n## Sub\n\nsub text\n\n\npara ^p\n\nlast\n"),
        (block(), Content, "# One\n\nbody\n\n## Sub\n\nsub text\n\n# Two\n\n ^p\n\nlast\n"),
        (block(), Marker, "# One\n\nbody\n\n## Sub\n\nsub text\n\n# Two\n\npara\n\nlast\n"),
        (block(), MarkerAndContent, "# One\n\nbody\n\n## Sub\n\nsub text\n\n# Two\n\nlast\n"),
    ] {
        let wanted = instruction(target.clone(), Delete, scope, InstructionPayload::Nothing);
        assert_eq!(done(DOC, &wanted), expected, "{target:?} {scope:?}");
    }
}

#[test]
fn a_section_moves_with_its_levels() {
    const DOC: &str = "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n# D\n\nd\n";
    let to = |parent: &[&str], place: DestinationPlace| {
        let parent = parent.iter().map(|name| (*name).to_owned()).collect();
        InstructionPayload::Destination(SectionDestination { parent, place })
    };
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    for (target, destination, expected) in [
        (path(&["A", "B"]), to(&["D"], DestinationPlace::Last), "# A\n\na\n\n# D\n\nd\n\n## B\n\nb\n\n### C\n\nc\n"),
        (path(&["A", "B"]), to(&[], DestinationPlace::First), "# B\n\nb\n\n## C\n\nc\n\n# A\n\na\n\n# D\n\nd\n"),
        (path(&["D"]), to(&["A"], DestinationPlace::First), "# A\n\na\n\n## D\n\nd\n\n## B\n\nb\n\n### C\n\nc\n\n"),
        (
            path(&["D"]),
            to(&["A"], DestinationPlace::After(owned(&["A", "B"]))),
            "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n",
        ),
    ] {
        let wanted = instruction(target.clone(), Replace, Parent, destination);
        assert_eq!(done(DOC, &wanted), expected, "{target:?}");
    }
    let below_itself = instruction(path(&["A"]), Replace, Parent, to(&["A", "B"], DestinationPlace::Last));
    assert!(matches!(refused(DOC, &below_itself), InstructionError::Impossible(_)));
    let elsewhere =
        instruction(path(&["D"]), Replace, Parent, to(&["A"], DestinationPlace::Before(owned(&["A", "B", "C"]))));
    assert_eq!(refused(DOC, &elsewhere), InstructionError::PlaceMissing);
}

#[test]
fn one_block_of_a_section_is_changed_exactly_as_sent() {
    const DOC: &str = "# A\n\nfirst\n\n- x\n- y\n\nlast.\n\n## B\n\nb\n";
    for (within, operation, scope, new, expected) in [
        (-1, Append, Content, " more", "# A\n\nfirst\n\n- x\n- y\n\nlast. more\n\n## B\n\nb\n"),
        (1, Append, Content, "\n- z", "# A\n\nfirst\n\n- x\n- y\n- z\n\nlast.\n\n## B\n\nb\n"),
        (0, Prepend, Content, "very ", "# A\n\nvery first\n\n- x\n- y\n\nlast.\n\n## B\n\nb\n"),
        (0, Replace, Content, "1st", "# A\n\n1st\n\n- x\n- y\n\nlast.\n\n## B\n\nb\n"),
        (0, Append, MarkerAndContent, "second", "# A\n\nfirst\n\nsecond\n\n- x\n- y\n\nlast.\n\n## B\n\nb\n"),
        (0, Prepend, MarkerAndContent, "zeroth", "# A\n\nzeroth\n\nfirst\n\n- x\n- y\n\nlast.\n\n## B\n\nb\n"),
    ] {
        let wanted =
            PatchInstruction { within: Some(within), ..instruction(path(&["A"]), operation, scope, text(new)) };
        assert_eq!(done(DOC, &wanted), expected, "{within} {operation:?} {scope:?}");
    }
    let gone = PatchInstruction {
        within: Some(1),
        ..instruction(path(&["A"]), Delete, MarkerAndContent, InstructionPayload::Nothing)
    };
    assert_eq!(done(DOC, &gone), "# A\n\nfirst\n\nlast.\n\n## B\n\nb\n");
    let outside = PatchInstruction { within: Some(3), ..instruction(path(&["A"]), Append, Content, text("x")) };
    assert_eq!(refused(DOC, &outside), InstructionError::BlockMissing { blocks: 3 });
}

#[test]
fn rows_go_into_a_table_wherever_its_id_is() {
    const BELOW: &str = "| a | b |\n|---|---|\n| 1 | 2 |\n\n^t\n";
    const BEHIND: &str = "| a | b |\n|---|---|\n| 1 | 2 | ^t\n\nmore\n";
    let rows = |operation, cells: &[&str]| {
        let row = cells.iter().map(|cell| (*cell).to_owned()).collect();
        instruction(InstructionTarget::Block("t".to_owned()), operation, Content, InstructionPayload::Rows(vec![row]))
    };
    for (note, operation, expected) in [
        (BELOW, Append, "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n^t\n"),
        (BELOW, Prepend, "| a | b |\n|---|---|\n| 3 | 4 |\n| 1 | 2 |\n\n^t\n"),
        (BELOW, Replace, "| a | b |\n|---|---|\n| 3 | 4 |\n\n^t\n"),
        (BEHIND, Append, "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 | ^t\n\nmore\n"),
        (BEHIND, Replace, "| a | b |\n|---|---|\n| 3 | 4 | ^t\n\nmore\n"),
    ] {
        assert_eq!(done(note, &rows(operation, &["3", "4"])), expected, "{operation:?}");
    }
    assert!(matches!(refused(BELOW, &rows(Append, &["3"])), InstructionError::Edit(EditError::Columns { .. })));
    assert!(matches!(refused("text ^t\n", &rows(Append, &["3"])), InstructionError::Impossible(_)));
}

#[test]
fn properties_are_set_merged_renamed_and_taken_away() {
    let title = || InstructionTarget::Property("title".to_owned());
    let tags = || InstructionTarget::Property("tags".to_owned());
    let list = |item: &str| InstructionPayload::Value(YamlValue::List(vec![YamlValue::Text(item.to_owned())]));
    let word = |word: &str| InstructionPayload::Value(YamlValue::Text(word.to_owned()));
    for (wanted, expected) in [
        (instruction(title(), Replace, Content, word("B")), "title: B\ntags:\n  - x\n"),
        (instruction(title(), Append, Content, word("B")), "title: AB\ntags:\n  - x\n"),
        (instruction(tags(), Append, Content, list("y")), "title: A\ntags:\n  - x\n  - y\n"),
        (instruction(tags(), Prepend, Content, list("y")), "title: A\ntags:\n  - y\n  - x\n"),
        (instruction(title(), Replace, Marker, text("name")), "name: A\ntags:\n  - x\n"),
        (instruction(title(), Delete, MarkerAndContent, InstructionPayload::Nothing), "tags:\n  - x\n"),
        (instruction(title(), Delete, Content, InstructionPayload::Nothing), "title:\ntags:\n  - x\n"),
    ] {
        let done = done(NOTE, &wanted);
        let yaml = done.strip_prefix("---\n").and_then(|rest| rest.split_once("---\n")).unwrap().0;
        assert_eq!(yaml, expected, "{wanted:?}");
        assert!(done.ends_with("\n\n# One\n\nbody\n\n## Sub\n\nsub text\n\n# Two\n\npara ^p\n\nlast\n"));
    }
    assert_eq!(refused(NOTE, &instruction(title(), Append, Content, list("y"))), InstructionError::NotMergeable);
    assert_eq!(refused(NOTE, &instruction(title(), Replace, Marker, text("tags"))), InstructionError::NameTaken);
    let new = InstructionTarget::Property("new".to_owned());
    let missing = instruction(new, Replace, Content, word("x"));
    assert_eq!(refused(NOTE, &missing), InstructionError::TargetMissing);
    assert!(done(NOTE, &PatchInstruction { create: true, ..missing }).contains("\nnew: x\n---\n"));
}

#[test]
fn missing_parts_are_created_only_if_wanted() {
    const DOC: &str = "# A\n\na\n\n# Z\n";
    let wanted = instruction(path(&["A", "New", "Deep"]), Append, Content, text("x"));
    assert_eq!(refused(DOC, &wanted), InstructionError::TargetMissing);
    let create = PatchInstruction { create: true, ..wanted };
    assert_eq!(done(DOC, &create), "# A\n\na\n\n## New\n### Deep\n\nx\n\n# Z\n");
    let block = PatchInstruction {
        create: true,
        ..instruction(InstructionTarget::Block("b1".to_owned()), Replace, Content, text("x"))
    };
    assert_eq!(done("# A\n", &block), "# A\n\nx ^b1\n");
    assert_eq!(done("", &block), "x ^b1\n");
}

#[test]
fn text_that_is_there_is_not_added_again_if_that_is_wanted() {
    for (target, operation, new) in [
        (path(&["One"]), Append, "sub text"),
        (path(&["One"]), Prepend, "# Sub\n\nsub text"),
        (InstructionTarget::Block("p".to_owned()), Append, "para"),
    ] {
        let wanted = instruction(target, operation, Content, text(new));
        done(NOTE, &wanted);
        assert_eq!(refused(NOTE, &PatchInstruction { once: true, ..wanted }), InstructionError::Preexists, "{new}");
    }
}

#[test]
fn repeated_names_have_keys_of_their_own() {
    const DOC: &str = "# Log\n\none ^a\n\n# Log\n\ntwo ^a\n\n## Sub\n";
    let document = Document::open(DOC.to_owned()).unwrap();
    let note = document.note();
    let parts = DocumentParts::of(&note);
    assert_eq!(parts.headings, ["Log", "Log\u{1f}2", "Sub"]);
    assert_eq!(parts.blocks, ["a", "a\u{1f}2"]);
    let second = || path(&["Log\u{1f}2"]);
    assert_eq!(done(DOC, &instruction(second(), Replace, Content, text("x"))), "# Log\n\none ^a\n\n# Log\n\nx\n");
    assert_eq!(parts.section_text(&["Log\u{1f}2".to_owned()], false).unwrap(), "\ntwo ^a\n\n# Sub\n");
    assert_eq!(parts.block_text("a\u{1f}2", false), Some("two"));
}

#[test]
fn line_ends_and_a_byte_order_mark_stay() {
    let note = "\u{feff}# A\r\n\r\na\r\n\r\n# B\r\n";
    let wanted = instruction(path(&["A"]), Append, Content, text("x\ny"));
    assert_eq!(done(note, &wanted), "\u{feff}# A\r\n\r\na\r\n\r\nx\r\ny\r\n\r\n# B\r\n");
    // A heading without a line end, and a note without any text.
    let wanted = instruction(path(&["A"]), Replace, Content, text("x"));
    assert_eq!(done("# A", &wanted), "# A\nx\n");
    assert_eq!(done("", &instruction(path(&[]), Append, Content, text("x"))), "x\n");
    assert_eq!(
        done("---\na: 1\n---\nold\n", &instruction(path(&[]), Replace, Content, text("x"))),
        "---\na: 1\n---\nx\n"
    );
}
