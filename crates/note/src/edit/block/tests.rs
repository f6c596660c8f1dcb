//! Tests of replacing blocks of every kind.

use super::*;
use crate::edit::variants::{check, refuse};

use BlockKind::{Callout, Code, Comment, Footnote, Heading, Item, List, Math, Paragraph, Quote, Row, Rule, Table};

pub(in crate::edit) fn find(shown: &str, id: &str, kind: BlockKind) -> Block {
    let block = NoteStructure::parse(shown).blocks.into_iter().find(|block| block.id == id).expect(shown);
    assert_eq!(block.kind, kind, "{shown:?}");
    block
}

/// The block `^a`, of any kind.
pub(in crate::edit) fn find_a(document: &Document) -> Block {
    NoteStructure::parse(document.shown()).blocks.into_iter().find(|block| block.id == "a").expect("a block `^a`")
}

fn replaces(cases: &[(&str, BlockKind, &str, &str)]) {
    for (before, kind, content, after) in cases {
        check(before, after, |document| document.replace_block(&find(document.shown(), "a", *kind), content));
    }
}

#[test]
fn a_paragraph_keeps_its_id() {
    replaces(&[
        ("old ^a\n", Paragraph, "new", "new ^a\n"),
        ("old ^a", Paragraph, "new\n", "new ^a"),
        ("old ^a\n", Paragraph, "new ^a", "new ^a\n"),
        ("old ^a\n", Paragraph, "new ^A\n", "new ^a\n"),
        ("one\ntwo ^a\n\nthree ^b\n", Paragraph, "x\ny\n", "x\ny ^a\n\nthree ^b\n"),
        ("old\n^a\n", Paragraph, "new", "new\n^a\n"),
        ("old\n\n^a\n\nmore\n", Paragraph, "new", "new\n\n^a\n\nmore\n"),
        ("old\n\n^a\n", Paragraph, "new\n\n^a\n", "new\n\n^a\n"),
        ("old   ^a\n", Paragraph, "new", "new   ^a\n"),
    ]);
}

#[test]
fn a_list_item_keeps_marker_box_and_indentation() {
    replaces(&[
        ("- one ^a\n- two\n", Item, "x", "- x ^a\n- two\n"),
        ("- one\n- two ^a\n", Item, "x", "- one\n- x ^a\n"),
        ("- one\n- two ^a", Item, "- x ^a", "- one\n- x ^a"),
        ("* one ^a\n", Item, "- x", "* x ^a\n"),
        ("7) one ^a\n", Item, "1. x", "7) x ^a\n"),
        ("- [ ] one ^a\n", Item, "x", "- [ ] x ^a\n"),
        ("- [ ] one ^a\n", Item, "- x", "- [ ] x ^a\n"),
        ("- [ ] one ^a\n", Item, "- [x] y", "- [x] y ^a\n"),
        ("- [/] one ^a\n", Item, "[-] y", "- [-] y ^a\n"),
        ("- one ^a\n", Item, "[x](y) z", "- [x](y) z ^a\n"),
        ("- p\n  - one ^a\n  - two\n", Item, "x", "- p\n  - x ^a\n  - two\n"),
        ("- p\n\t- one ^a\n", Item, "x\ny", "- p\n\t- x\n\t  y ^a\n"),
        ("- one ^a\n  - child\n", Item, "x", "- x ^a\n  - child\n"),
        ("- one ^a\n  - child ^c\n- last ^l\n", Item, "x\ny", "- x\n  y ^a\n  - child ^c\n- last ^l\n"),
        ("- one ^a\n", Item, "- x\n  y", "- x\n  y ^a\n"),
        ("10. one ^a\n", Item, "- x\n  y", "10. x\n    y ^a\n"),
        ("> - one ^a\n> - two\n", Item, "> - x\n>   y", "> - x\n>   y ^a\n> - two\n"),
        ("- one\n- two\n^a\n", Item, "x", "- one\n- x\n^a\n"),
        ("- - one ^a\n", Item, "x\ny", "- - x\n    y ^a\n"),
        ("1. p\n\t1. [ ] one ^a\n\t2. two\n", Item, "x", "1. p\n\t1. [ ] x ^a\n\t2. two\n"),
        ("- one\n  ^a\n", Item, "x", "- x\n  ^a\n"),
        ("- one\n  more ^a\n- two\n", Item, "x", "- x ^a\n- two\n"),
    ]);
}

#[test]
fn a_quote_keeps_its_marks_and_a_callout_its_title() {
    replaces(&[
        ("> old ^a\n", Quote, "new", "> new ^a\n"),
        ("> old ^a\n", Quote, "> x\n> y", "> x\n> y ^a\n"),
        ("> old ^a\n", Quote, "x\n\ny", "> x\n>\n> y ^a\n"),
        (">old ^a\n", Quote, "x\ny", ">x\n>y ^a\n"),
        ("> [!note] T\n> old ^a\n", Callout, "new", "> [!note] T\n> new ^a\n"),
        ("> [!note] T\n> old ^a\n", Callout, "[!tip] U\nnew", "> [!tip] U\n> new ^a\n"),
        ("> [!note] T\n> old ^a\n", Callout, "> plain", "> plain ^a\n"),
        ("> [!note]- T ^a\n", Callout, "new", "> [!note]- T\n> new ^a\n"),
        ("> old\n^a\n", Quote, "new", "> new\n^a\n"),
        ("> old\n> ^a\n", Quote, "> new", "> new\n> ^a\n"),
        ("> old\n\n^a\n", Quote, "new", "> new\n\n^a\n"),
    ]);
}

#[test]
fn headings_code_and_whole_tables_keep_their_frame() {
    replaces(&[
        ("# H ^a\ntext\n", Heading, "New", "# New ^a\ntext\n"),
        ("## H ^a\n", Heading, "# New ^a", "## New ^a\n"),
        ("# H\n\n^a\n", Heading, "New", "# New\n\n^a\n"),
        ("# H #\n\n^a\n", Heading, "New", "# New #\n\n^a\n"),
        ("H\n===\n\n^a\n", Heading, "New", "New\n===\n\n^a\n"),
        ("```rust\nold\n```\n\n^a\n", Code, "new\nlines", "```rust\nnew\nlines\n```\n\n^a\n"),
        ("```rust\nold\n```\n\n^a\n", Code, "~~~\nnew\n~~~", "~~~\nnew\n~~~\n\n^a\n"),
        ("$$\nx\n$$\n\n^a\n", Math, "y", "$$\ny\n$$\n\n^a\n"),
        ("| h |\n| - |\n| 1 |\n\n^a\n", Table, "| x |\n| - |\n", "| x |\n| - |\n\n^a\n"),
        ("x [^1]\n\n[^1]: old ^a\n", Footnote, "new", "x [^1]\n\n[^1]: new ^a\n"),
        ("x [^1]\n\n[^1]: old ^a\n", Footnote, "[^1]: new\nmore", "x [^1]\n\n[^1]: new\n    more ^a\n"),
        ("- one\n- two\n\n^a\n", List, "- x\n", "- x\n\n^a\n"),
        ("---\n\n^a\n", Rule, "***", "***\n\n^a\n"),
    ]);
}

#[test]
fn a_comment_keeps_its_marks() {
    replaces(&[
        ("%%\nold\n%%\n\n^a\n", Comment, "new", "%%\nnew\n%%\n\n^a\n"),
        ("%%\nold\n%%\n\n^a\n\nb\n", Comment, "one\n\ntwo\n", "%%\none\n\ntwo\n%%\n\n^a\n\nb\n"),
        ("%%\nold\n%%\n\n^a\n", Comment, "%%\nnew\n%%", "%%\nnew\n%%\n\n^a\n"),
        ("%% one\n\ntwo %%\n\n^a\n", Comment, "x\ny", "%% x\ny %%\n\n^a\n"),
        ("%% one\n\ntwo %%\n\n^a\n", Comment, "x", "%%\nx\n%%\n\n^a\n"),
        ("%%%\nold\n%%%\n\n^a\n", Comment, "100%% new", "%%%\n100%% new\n%%%\n\n^a\n"),
        ("%%\nold\n%%\n\n^a\n", Comment, "", "%%\n\n%%\n\n^a\n"),
    ]);
    let lost = EditError::BlockLost { id: "a".to_owned() };
    for content in ["x %% y", "%% x %%", "%%\nx\n%%\n\ny"] {
        refuse("%%\nold\n%%\n\n^a\n", &lost, |document| {
            document.replace_block(&find(document.shown(), "a", Comment), content)
        });
    }
}

#[test]
fn a_row_keeps_its_outer_pipes() {
    replaces(&[
        (
            "| h | i |\n| - | - |\n| 1 | 2 ^a |\n| 3 | 4 |\n",
            Row,
            "x | y",
            "| h | i |\n| - | - |\n| x | y ^a |\n| 3 | 4 |\n",
        ),
        ("| h | i |\n| - | - |\n| 1 | 2 ^a |", Row, "| x | y ^a |\n", "| h | i |\n| - | - |\n| x | y ^a |"),
    ]);
    let marker = BlockMarker { tail: " ^a", rest: " |" };
    for (content, after) in [
        ("x | y", "| x | y ^a |"),
        ("| x | y |", "| x | y ^a |"),
        ("| x \\| z | y |", "| x \\| z | y ^a |"),
        ("|x|y|", "| x|y ^a |"),
    ] {
        assert_eq!(row::replaced("| 1 | 2 ^a |", content, &marker).as_deref(), Ok(after), "{content}");
    }
    assert_eq!(row::replaced("| 1 | 2 ^a |", "x", &marker), Err(EditError::Columns { expected: 2, found: 1 }));
    assert_eq!(row::replaced("| 1 | 2 ^a |", "x\ny", &marker), Err(EditError::SeveralLines));
    let open = BlockMarker { tail: " ^a", rest: "" };
    assert_eq!(row::replaced("1 | 2 ^a", "| x | y |", &open).as_deref(), Ok("x | y ^a"));
    assert_eq!(marker::without_id("| x | y ^a |", "a"), "| x | y |");
}

#[test]
fn content_that_is_not_such_a_block_is_refused() {
    let lost = EditError::BlockLost { id: "a".to_owned() };
    for (before, kind, content) in [
        ("old ^a\n", Paragraph, "one\n\ntwo"),
        ("old ^a\n\nx ^b\n", Paragraph, "```\ncode"),
        ("- one ^a\n- two\n", Item, "- x\n- y"),
        ("old ^a\n", Paragraph, ""),
        ("```\nold\n```\n\n^a\n", Code, "x\n```\ny"),
    ] {
        refuse(before, &lost, |document| document.replace_block(&find(document.shown(), "a", kind), content));
    }
    refuse("# H ^a\n", &EditError::SeveralLines, |document| {
        document.replace_block(&find(document.shown(), "a", Heading), "x\ny")
    });
}
