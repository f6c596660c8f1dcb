//! Text next to an edit is preserved: each case once went wrong.

use super::{
    variants::{check, refuse},
    *,
};

fn first_block(document: &Document) -> crate::Block {
    document.note().blocks[0].clone()
}

fn first_heading(document: &Document) -> crate::Heading {
    document.note().headings[0].clone()
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
        check(before, after, |document| document.append_tags(&["n"]));
    }
}

#[test]
fn text_appended_to_a_section_leaves_ids_alone() {
    let append = |blanks| {
        move |document: &Document| {
            let heading = first_heading(document);
            document.append_to_section(&SectionEdit { heading: &heading, part: SectionPart::Subtree, blanks }, "more")
        }
    };
    check("# A\ntext ^id\n", "# A\ntext ^id\n\nmore\n", append(BlankLines::AsSent));
}

#[test]
fn removing_a_tag_makes_nothing_else_of_its_line() {
    for before in ["#t # x\n", "#t - x\n", "#t 1. x\n", "#t\n---\n", "p\n#t\nq ^id\n"] {
        let lost = EditError::TagLost { tag: "t".into() };
        refuse(before, &lost, |document: &Document| {
            let tags: Vec<_> = document.note().tags.iter().map(|tag| tag.span.clone()).collect();
            document.remove_tags(&tags)
        });
    }
}

#[test]
fn only_tags_are_renamed() {
    let lost = EditError::TagLost { tag: "new".into() };
    refuse("`#t` #new\n", &lost, |document| document.rename_tags(std::slice::from_ref(&(1..3)), "new"));
    refuse("http://x/#t #new\n", &lost, |document| document.rename_tags(std::slice::from_ref(&(9..11)), "new"));
}

#[test]
fn a_block_stays_what_it_is_and_keeps_the_lists_in_it() {
    for (before, content) in
        [("- a\n  - b\n\n  c ^id\n", "new"), ("text ^id\n\nb\n", "# New"), ("text ^id\n\nb\n", "> x")]
    {
        let lost = EditError::BlockLost { id: "id".into() };
        refuse(before, &lost, |document| document.replace_block(&first_block(document), content));
    }
}

#[test]
fn a_moved_property_does_not_lose_its_comment() {
    let before = "---\na: 1 # important\nm:\n  k: 2\n---\n";
    let (from, to) = (PropertyPath::parse("a").unwrap(), PropertyPath::parse("m.a").unwrap());
    let document = Document::open(before.to_owned()).unwrap();
    let moved = document.edit_property(&PropertyEdit::Move { from: &from, to: &to });
    let kept = |edited: &EditResult| edited.document.shown().contains("# important");
    assert!(moved.as_ref().map_or(true, kept), "{moved:?}");
}

#[test]
fn a_long_list_is_set_in_one_go() {
    let items = |mark: &str| (0..2000).map(|n| crate::YamlValue::Text(format!("{mark}{n}"))).collect::<Vec<_>>();
    let list: String = (0..2000).map(|n| format!("  - old{n}\n")).collect();
    let before = format!("---\nk:\n{list}---\n");
    let document = Document::open(before).unwrap();
    let (path, value) = (PropertyPath::parse("k").unwrap(), crate::YamlValue::List(items("new")));
    let edited = document.edit_property(&PropertyEdit::Set { path: &path, value: &value }).unwrap();
    assert!(edited.document.shown().contains("new1999"));
}

#[test]
fn an_empty_first_cell_is_a_cell() {
    let (before, after) = ("| h | i |\n|---|---|\n| | b ^id |\n", "| h | i |\n|---|---|\n| x | y ^id |\n");
    check(before, after, |document| document.replace_block(&first_block(document), "x | y"));
}
