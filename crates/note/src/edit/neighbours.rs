//! What stands beside an edit stays what it was: each case once went wrong.

use super::{
    variants::{check, refuse},
    *,
};
use crate::{Note, Text};

fn first_block(text: &Text<'_>) -> crate::Block {
    Note::parse(text.shown()).blocks.remove(0)
}

fn first_heading(text: &Text<'_>) -> crate::Heading {
    Note::parse(text.shown()).headings.remove(0)
}

#[test]
fn appended_tags_leave_ids_and_tables_alone() {
    for (before, after) in [
        ("text ^id\n", "text ^id\n\n#n\n"),
        ("- item ^id\n", "- item ^id\n\n#n\n"),
        ("> q ^id\n", "> q ^id\n\n#n\n"),
        ("p\n\n^id\n", "p\n\n^id\n\n#n\n"),
        ("text\n", "text\n#n\n"),
    ] {
        check(before, after, |file, text| append_tags(file, text, &["n"]));
    }
}

#[test]
fn text_appended_to_a_section_leaves_ids_alone() {
    let append = |blanks| {
        move |file: &[u8], text: &Text<'_>| {
            append_to_section(
                file,
                text,
                &Section { heading: &first_heading(text), part: SectionPart::Subtree, blanks },
                "more",
            )
        }
    };
    check("# A\ntext ^id\n", "# A\ntext ^id\n\nmore\n", append(Blanks::AsSent));
}

#[test]
fn removing_a_tag_makes_nothing_else_of_its_line() {
    for before in ["#t # x\n", "#t - x\n", "#t 1. x\n", "#t\n---\n", "p\n#t\nq ^id\n"] {
        let lost = EditError::TagLost { tag: "t".into() };
        refuse(before, &lost, |file: &[u8], text: &Text<'_>| {
            let tags: Vec<_> = Note::parse(text.shown()).tags.iter().map(|tag| tag.span.clone()).collect();
            remove_tags(file, text, &tags)
        });
    }
}

#[test]
fn only_tags_are_renamed() {
    let lost = EditError::TagLost { tag: "new".into() };
    refuse("`#t` #new\n", &lost, |file, text| rename_tags(file, text, std::slice::from_ref(&(1..3)), "new"));
    refuse("http://x/#t #new\n", &lost, |file, text| rename_tags(file, text, std::slice::from_ref(&(9..11)), "new"));
}

#[test]
fn a_block_stays_what_it_is_and_keeps_the_lists_in_it() {
    for (before, content) in
        [("- a\n  - b\n\n  c ^id\n", "new"), ("text ^id\n\nb\n", "# New"), ("text ^id\n\nb\n", "> x")]
    {
        let lost = EditError::BlockLost { id: "id".into() };
        refuse(before, &lost, |file, text| replace_block(file, text, &first_block(text), content));
    }
}

#[test]
fn a_moved_property_does_not_lose_its_comment() {
    let before = "---\na: 1 # important\nm:\n  k: 2\n---\n";
    let (from, to) = (PropertyPath::parse("a").unwrap(), PropertyPath::parse("m.a").unwrap());
    let text = Text::decode(before.as_bytes()).unwrap();
    let moved = edit_property(before.as_bytes(), &text, &PropertyEdit::Move { from: &from, to: &to });
    let kept = |edited: &Edited| String::from_utf8(edited.file.clone()).unwrap().contains("# important");
    assert!(moved.as_ref().map_or(true, kept), "{moved:?}");
}

#[test]
fn a_long_list_is_set_in_one_go() {
    let items = |mark: &str| (0..2000).map(|n| crate::Value::Text(format!("{mark}{n}"))).collect::<Vec<_>>();
    let list: String = (0..2000).map(|n| format!("  - old{n}\n")).collect();
    let before = format!("---\nk:\n{list}---\n");
    let text = Text::decode(before.as_bytes()).unwrap();
    let (path, value) = (PropertyPath::parse("k").unwrap(), crate::Value::List(items("new")));
    let edited = edit_property(before.as_bytes(), &text, &PropertyEdit::Set { path: &path, value: &value }).unwrap();
    assert!(String::from_utf8(edited.file).unwrap().contains("new1999"));
}

#[test]
fn an_empty_first_cell_is_a_cell() {
    let (before, after) = ("| h | i |\n|---|---|\n| | b ^id |\n", "| h | i |\n|---|---|\n| x | y ^id |\n");
    check(before, after, |file, text| replace_block(file, text, &first_block(text), "x | y"));
}
