//! Tests of moving parts: where they end up, and that no line is lost.

use proptest::prelude::*;

use super::*;

fn open(text: &str) -> Document {
    Document::open(text.to_owned()).unwrap()
}

fn section(note: &str, name: &str) -> usize {
    open(note).note().headings.iter().position(|heading| heading.text == name).unwrap()
}

fn into(source: &str, part: MovedPart, target: &str, place: PartPlace, left: &str) -> (String, String) {
    let moved = open(source).move_into(part, &open(target), place, left).unwrap();
    (moved.source.shown().to_owned(), moved.target.unwrap().shown().to_owned())
}

fn within(note: &str, part: MovedPart, place: PartPlace) -> String {
    open(note).move_within(part, place, "").unwrap().source.shown().to_owned()
}

#[test]
fn a_section_goes_to_another_note_and_what_is_left_reads_as_before() {
    const PLAN: &str = "---\nup: x\n---\n# Plan\n\nIntro.\n\n## Log\n\nDry.\n\n### Deep\n\nx\n\n## End\n\nFin.\n";
    const REST: &str = "---\nup: x\n---\n# Plan\n\nIntro.\n\n## End\n\nFin.\n";
    let log = MovedPart::Section(section(PLAN, "Log"));
    for (target, place, expected) in [
        ("", PartPlace::NoteEnd, "## Log\n\nDry.\n\n### Deep\n\nx\n"),
        ("# T\n\na\n", PartPlace::NoteEnd, "# T\n\na\n\n## Log\n\nDry.\n\n### Deep\n\nx\n"),
        ("# T\n\na\n", PartPlace::SectionEnd(0), "# T\n\na\n\n## Log\n\nDry.\n\n### Deep\n\nx\n"),
        ("## T\n\na\n\n## U\n", PartPlace::SectionEnd(0), "## T\n\na\n\n### Log\n\nDry.\n\n#### Deep\n\nx\n\n## U\n"),
        ("# T\n\na\n", PartPlace::BeforeSection(0), "# Log\n\nDry.\n\n## Deep\n\nx\n\n# T\n\na\n"),
        ("---\na: 1\n---\ntext\n", PartPlace::NoteStart, "---\na: 1\n---\n## Log\n\nDry.\n\n### Deep\n\nx\n\ntext\n"),
    ] {
        assert_eq!(into(PLAN, log, target, place, ""), (REST.to_owned(), expected.to_owned()), "{target:?} {place:?}");
    }
    let (left, _) = into(PLAN, log, "", PartPlace::NoteEnd, "![[Log]]");
    assert_eq!(left, "---\nup: x\n---\n# Plan\n\nIntro.\n\n![[Log]]\n\n## End\n\nFin.\n");
}

#[test]
fn items_join_lists_and_rows_tables() {
    let lines = |from, to| MovedPart::Lines(LineRange { from, to });
    for (source, part, target, place, expected) in [
        ("a\n- x\n- y\n", lines(2, 2), "# L\n\n- one\n\nend\n", PartPlace::SectionEnd(0), None),
        ("a\n- x\n- y\n", lines(2, 2), "# L\n\n- one\n", PartPlace::SectionEnd(0), Some("# L\n\n- one\n- x\n")),
        ("a\n- x\n- y\n", lines(2, 3), "1. one\n2. two\n", PartPlace::NoteEnd, Some("1. one\n2. two\n\n- x\n- y\n")),
        ("- a\n  - x\n    - y\n", lines(2, 3), "* one\n", PartPlace::NoteEnd, Some("* one\n* x\n  - y\n")),
        ("- x\n", lines(1, 1), "# L\n\n- one\n", PartPlace::SectionStart(0), Some("# L\n\n- x\n- one\n")),
        ("- x\n", lines(1, 1), "- one\n", PartPlace::NoteStart, Some("- x\n- one\n")),
        ("a\n| 3 |\n", lines(2, 2), "| A |\n| - |\n| 1 |\n", PartPlace::NoteEnd, Some("| A |\n| - |\n| 1 |\n| 3 |\n")),
        ("- x\n", lines(1, 1), "- one ^i\n- two\n", PartPlace::AfterBlock(0), Some("- one ^i\n- x\n- two\n")),
        ("- x\n", lines(1, 1), "- a\n  - one ^i\n", PartPlace::BeforeBlock(0), Some("- a\n  - x\n  - one ^i\n")),
        ("w\n", lines(1, 1), "p ^i\n\nq\n", PartPlace::AfterBlock(0), Some("p ^i\n\nw\n\nq\n")),
    ] {
        let (_, moved) = into(source, part, target, place, "");
        assert_eq!(moved, expected.unwrap_or("# L\n\n- one\n\nend\n\n- x\n"), "{source:?} {target:?} {place:?}");
    }
}

#[test]
fn sections_change_their_order() {
    const NOTE: &str = "# A\n\na\n\n# B\n\nb\n\n# C\n\nc\n";
    let b = MovedPart::Section(1);
    assert_eq!(within(NOTE, b, PartPlace::BeforeSection(0)), "# B\n\nb\n\n# A\n\na\n\n# C\n\nc\n");
    assert_eq!(within(NOTE, b, PartPlace::NoteEnd), "# A\n\na\n\n# C\n\nc\n\n# B\n\nb\n");
    assert_eq!(within(NOTE, b, PartPlace::AfterSection(2)), "# A\n\na\n\n# C\n\nc\n\n# B\n\nb\n");
    assert_eq!(within(NOTE, b, PartPlace::SectionEnd(0)), "# A\n\na\n\n## B\n\nb\n\n# C\n\nc\n");
    let tight = within("# A\na\n# B\nb\n# C\nc\n", b, PartPlace::BeforeSection(0));
    assert_eq!(tight, "# B\nb\n# A\na\n# C\nc\n");
}

#[test]
fn a_block_is_moved_with_its_id_and_an_item_with_what_is_in_it() {
    let block = MovedPart::Block(0);
    let target = || ("t\n", PartPlace::NoteEnd);
    for (source, rest, expected) in [
        ("a\n\np\nq ^i\n\nb\n", "a\n\nb\n", "t\n\np\nq ^i\n"),
        ("- a\n- b ^i\n  - c\n- d\n", "- a\n- d\n", "t\n\n- b ^i\n  - c\n"),
        ("a\n\n> q\n\n^i\n\nb\n", "a\n\nb\n", "t\n\n> q\n\n^i\n"),
        ("a\n\n```\nx\n```\n^i\n", "a\n", "t\n\n```\nx\n```\n^i\n"),
    ] {
        let (text, place) = target();
        assert_eq!(into(source, block, text, place, ""), (rest.to_owned(), expected.to_owned()), "{source:?}");
    }
}

#[test]
fn an_impossible_move_is_refused() {
    let refused =
        |source: &str, part, target: &str, place| open(source).move_into(part, &open(target), place, "").err();
    let first = MovedPart::Lines(LineRange::one(1));
    assert_eq!(refused("---\na: 1\n---\nx\n", first, "", PartPlace::NoteEnd), Some(EditError::InProperties));
    assert_eq!(refused("---\na: 1\n---\n", MovedPart::Whole, "", PartPlace::NoteEnd), Some(EditError::NothingToMove));
    assert_eq!(refused("x\n", first, "```\nopen\n", PartPlace::NoteEnd), Some(EditError::Unclosed));
    let deep = refused("###### X\n", MovedPart::Section(0), "###### T\n", PartPlace::SectionEnd(0));
    assert_eq!(deep, Some(EditError::TooDeep { path: "X".to_owned() }));
    let own = open("# A\n## B\n").move_within(MovedPart::Section(0), PartPlace::SectionEnd(1), "").err();
    assert_eq!(own, Some(EditError::IntoItself));
    // The lines of a named block stay together.
    let cut = refused("p\nq ^i\n", first, "", PartPlace::NoteEnd);
    assert_eq!(cut, Some(EditError::HeadingsLost));
}

/// Text that becomes a heading would take the links of another.
#[test]
fn half_a_code_block_comment_or_formula_is_not_moved() {
    for (text, from, to, is_moved) in [
        ("## B\n```\ncode\n#### H\n- i\n", 4, 5, false),
        ("## B\n```\ncode\n#### H\n```\n", 2, 3, false),
        ("## B\n```\ncode\n#### H\n```\n", 2, 5, true),
        ("## B\n$$\nw1\n#### H\n- i\n$$\n", 4, 5, false),
        ("## B\n<!--\n#### H\n-->\nx\n", 3, 5, false),
        ("## B\n%%\n#### H\n%%\nx\n", 3, 3, false),
        ("## B\n%%\n#### H\n%%\nx\n", 2, 4, true),
        ("## B\n%%\na\n\nb\n%%\n# C\n", 6, 6, false),
        ("## B\npara\n---\n# C\n", 2, 2, false),
        ("## B\n\n#### H\ntext\n## C\n", 3, 4, true),
    ] {
        let part = MovedPart::Lines(LineRange { from, to });
        let place = PartPlace::BeforeSection(0);
        assert_eq!(open(text).move_within(part, place, "").is_ok(), is_moved, "{text:?} {from}-{to}");
        assert_eq!(open(text).move_into(part, &open("# T\n"), place, "").is_ok(), is_moved, "{text:?} {from}-{to}");
    }
}

#[test]
fn line_ends_are_those_of_the_note_that_is_written() {
    let moved = open("a\r\n\r\nb\r\n")
        .move_into(MovedPart::Lines(LineRange::one(3)), &open("t\n"), PartPlace::NoteEnd, "")
        .unwrap();
    assert_eq!((moved.source.raw(), moved.target.unwrap().raw()), ("a\r\n", "t\n\nb\n"));
}

/// Lines that are not blank, whatever their indentation, marks and levels.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = text
        .lines()
        .map(|line| line.trim().trim_start_matches(['#', '-', '*', '=', ' ']).to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    words.sort();
    words
}

proptest! {
    #[test]
    fn no_line_is_lost_and_none_is_added(
        source in proptest::collection::vec(LINES, 1..14),
        target in proptest::collection::vec(LINES, 0..10),
        from in 1_usize..12,
        count in 0_usize..5,
        heading in 0_usize..4,
        place in 0_usize..6,
        inside in any::<bool>(),
    ) {
        let (source, target) = (open(&source.concat()), open(&target.concat()));
        let part = match heading {
            0 => MovedPart::Lines(LineRange { from, to: from + count }),
            index => MovedPart::Section(index - 1),
        };
        let place = [
            PartPlace::NoteStart,
            PartPlace::NoteEnd,
            PartPlace::SectionStart(heading),
            PartPlace::SectionEnd(heading),
            PartPlace::BeforeSection(heading),
            PartPlace::AfterSection(heading),
        ][place];
        let before = format!("{}\n{}", source.shown(), if inside { "" } else { target.shown() });
        let moved = if inside { source.move_within(part, place, "") } else { source.move_into(part, &target, place, "") };
        if let Ok(moved) = moved {
            let after = format!("{}\n{}", moved.source.shown(), moved.target.as_ref().map_or("", Document::shown));
            prop_assert_eq!(words(&before), words(&after), "{}", after);
        }
    }
}

const LINES: &str =
    "(# A\n|## B\n|## C\n\n|### D\n\n|text\n|two\n\n|- item\n|  - deep\n|- \\[ \\] task \\^id\n|> q\n|\n)";
