use super::*;
use crate::edit::{
    block::tests::find,
    variants::{check, refuse},
};

use BlockKind::{Item, Paragraph, Quote, Table};

#[test]
fn an_id_is_renamed_alone() {
    for (before, kind, after) in [
        ("text ^a\n", Paragraph, "text ^new-1\n"),
        ("- x ^a\n- y ^b", Item, "- x ^new-1\n- y ^b"),
        ("| h |\n| - |\n\n^a\n", Table, "| h |\n| - |\n\n^new-1\n"),
        ("> q\n\n^a", Quote, "> q\n\n^new-1"),
    ] {
        for id in ["new-1", "^new-1"] {
            check(before, after, |file, text| rename_block_id(file, text, &find(text.shown(), "a", kind), id));
        }
    }
    check("x\n\n^long-id\n", "x\n\n^b\n", |file, text| {
        rename_block_id(file, text, &find(text.shown(), "long-id", Paragraph), "b")
    });
    check("x ^a\n", "x ^A\n", |file, text| rename_block_id(file, text, &find(text.shown(), "a", Paragraph), "A"));
    for bad in ["", "^", "a_b", "a b", "é", "a\n"] {
        let error = EditError::BadBlockId { id: bad.trim_start_matches('^').to_owned() };
        refuse("x ^a\n", &error, |file, text| rename_block_id(file, text, &find(text.shown(), "a", Paragraph), bad));
    }
    refuse("x ^a\n\ny ^b\n", &EditError::BlockIdTaken { id: "B".to_owned() }, |file, text| {
        rename_block_id(file, text, &find(text.shown(), "a", Paragraph), "B")
    });
}

/// Names the block that stands at the first `x` of a text.
fn named(before: &str, after: &str) {
    check(before, after, |file, text| set_block_id(file, text, text.shown().find('x').unwrap(), "new"));
}

#[test]
fn a_paragraph_or_an_item_ends_with_its_id() {
    for (before, after) in [
        ("x\n", "x ^new\n"),
        ("x", "x ^new"),
        ("a\n\nx\nmore\n\nb\n", "a\n\nx\nmore ^new\n\nb\n"),
        ("more x\n# H\n", "more x ^new\n# H\n"),
        ("x \n\nb\n", "x ^new\n\nb\n"),
        ("x\n> q\n", "x ^new\n> q\n"),
        ("x\n- item\n", "x ^new\n- item\n"),
        ("- x\n- b\n", "- x ^new\n- b\n"),
        ("- a\n  - x\n  - b ^b\n", "- a\n  - x ^new\n  - b ^b\n"),
        ("- x\n  - b\n", "- x ^new\n  - b\n"),
        ("- [ ] x\n", "- [ ] x ^new\n"),
        ("1. a\n2. x\n\n   more\n", "1. a\n2. x\n\n   more ^new\n"),
        ("> - x\n> - b\n", "> - x ^new\n> - b\n"),
        ("> - x\n>\n> - b\n", "> - x ^new\n>\n> - b\n"),
        ("> - x\n>   \n", "> - x ^new\n>   \n"),
        ("- a x\n  ```\n  code\n  ```\n- b\n", "- a x\n  ```\n  code\n  ```\n  ^new\n- b\n"),
        ("[^1]: x\n", "[^1]: x ^new\n"),
        ("---\na: 1\n---\nx\n", "---\na: 1\n---\nx ^new\n"),
    ] {
        named(before, after);
    }
}

#[test]
fn any_other_block_has_its_id_below_it() {
    for (before, after) in [
        ("| x |\n| - |\n| 1 |\n", "| x |\n| - |\n| 1 |\n\n^new\n"),
        ("| a |\n| - |\n| x |\n\nb\n", "| a |\n| - |\n| x |\n\n^new\n\nb\n"),
        ("```\na\n\nx\n\nb\n```\n", "```\na\n\nx\n\nb\n```\n\n^new\n"),
        ("```\nx\n```\nb\n", "```\nx\n```\n\n^new\n\nb\n"),
        ("> a\n> x\n# H\n", "> a\n> x\n\n^new\n\n# H\n"),
        ("> [!note] x\n> b\n\nc\n", "> [!note] x\n> b\n\n^new\n\nc\n"),
        ("$$\nx\n\n$$\n", "$$\nx\n\n$$\n\n^new\n"),
        ("%%\nx\n\n%%\n", "%%\nx\n\n%%\n\n^new\n"),
        ("<!--\nx\n\n-->\n", "<!--\nx\n\n-->\n\n^new\n"),
        ("# x\ntext\n", "# x\n\n^new\n\ntext\n"),
        ("x\n===\n", "x\n===\n\n^new\n"),
        ("a\n> x\n***\nb\n", "a\n> x\n\n^new\n\n***\nb\n"),
    ] {
        named(before, after);
    }
}

#[test]
fn a_block_that_has_an_id_gets_another() {
    for (before, after) in [
        ("x ^a\n", "x ^new\n"),
        ("x\n\n^a\n", "x\n\n^new\n"),
        ("- x ^a\n- b\n", "- x ^new\n- b\n"),
        ("| x |\n| - |\n^a\n", "| x |\n| - |\n^new\n"),
        ("> x\n\n^a\n", "> x\n\n^new\n"),
        ("# x ^a\n", "# x ^new\n"),
        ("- x\n- b\n\n^list\n", "- x ^new\n- b\n\n^list\n"),
    ] {
        named(before, after);
    }
}

#[test]
fn what_can_have_no_id_is_refused() {
    let set = |id: &'static str| {
        move |file: &[u8], text: &Text<'_>| set_block_id(file, text, text.shown().find('x').unwrap(), id)
    };
    refuse("x\n", &EditError::BadBlockId { id: "a_b".into() }, set("a_b"));
    refuse("x\n\nb ^New\n", &EditError::BlockIdTaken { id: "new".into() }, set("new"));
    refuse("x ^a\n\nb ^new\n", &EditError::BlockIdTaken { id: "new".into() }, set("new"));
    for before in ["---\nx: 1\n---\n", "a\n\n[x]: d.md\n", "```\nx\n", "%%\nx\n"] {
        let at = before.find('x').unwrap();
        refuse(before, &EditError::NoBlock { at }, set("new"));
    }
    for at in [2, 99] {
        refuse("a\n\nb\n", &EditError::NoBlock { at }, |file, text| set_block_id(file, text, at, "new"));
    }
}

#[test]
fn an_id_is_removed_and_the_block_stays() {
    for (before, after) in [
        ("text ^a\n\nb ^b\n", "text\n\nb ^b\n"),
        ("text ^a", "text"),
        ("text\n^a\n\nb\n", "text\n\nb\n"),
        ("text\n\n^a\n\nb\n", "text\n\nb\n"),
        ("text\n\n\n^a\n", "text\n"),
        ("text\n    > ^a\n", "text\n    >\n"),
        ("- text\n\t\t> ^a\n", "- text\n\t\t>\n"),
        ("- x ^a\n- y\n", "- x\n- y\n"),
        ("- x\n  ^a\n- y\n", "- x\n- y\n"),
        ("- ^a\n- y\n", "-\n- y\n"),
        ("- [ ] ^a\n", "- [ ]\n"),
        ("> q ^a\n", "> q\n"),
        ("> q\n> ^a\n", "> q\n"),
        ("> q\n\n^a\n\nb\n", "> q\n\nb\n"),
        ("| h |\n| - |\n^a\n", "| h |\n| - |\n"),
        ("| h |\n| - |\n| 1 ^a |\n", "| h |\n| - |\n| 1 |\n"),
        ("```\nc\n```\n\n^a\n\nb\n", "```\nc\n```\n\nb\n"),
        ("# H ^a\ntext\n", "# H\ntext\n"),
        ("# H\n\n^a\n\ntext\n", "# H\n\ntext\n"),
    ] {
        check(before, after, |file, text| {
            remove_block_id(file, text, Note::parse(text.shown()).find_block("a").unwrap())
        });
    }
    // Right at the end the other one would name the paragraph.
    check("t ^b ^a\n\nc\n", "t ^b \n\nc\n", |file, text| {
        remove_block_id(file, text, Note::parse(text.shown()).find_block("a").unwrap())
    });
}
