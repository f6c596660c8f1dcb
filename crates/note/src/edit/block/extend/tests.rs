//! Tests of adding text to blocks of every kind.

use super::*;
use crate::edit::{
    block::tests::find_a,
    variants::{check, refuse},
};

#[test]
fn text_continues_at_the_end_of_a_block() {
    for (before, content, after) in [
        ("old ^a\n", ", new", "old, new ^a\n"),
        ("old ^a\n", "\nnew\n", "old\nnew ^a\n"),
        ("old\n\n^a\n", " new", "old new\n\n^a\n"),
        ("- one ^a\n- two\n", " new\nmore", "- one new\n  more ^a\n- two\n"),
        ("- p\n\t- one ^a\n", "\nmore", "- p\n\t- one\n\t  more ^a\n"),
        ("- one ^a\n  - child\n", " new", "- one new ^a\n  - child\n"),
        ("- one\n  ^a\n", " new", "- one new\n  ^a\n"),
        ("> q ^a\n", "\nnew\n\n> last", "> q\n> new\n>\n> last ^a\n"),
        ("> [!note] T\n> q\n\n^a\n", "\nnew", "> [!note] T\n> q\n> new\n\n^a\n"),
        ("# H ^a\ntext\n", " new", "# H new ^a\ntext\n"),
        ("## ## ^a\n", " new", "## ## new ^a\n"),
        ("# H #\n\n^a\n", " new", "# H new #\n\n^a\n"),
        ("x [^1]\n\n[^1]: old ^a\n", "\nnew", "x [^1]\n\n[^1]: old\n    new ^a\n"),
        ("| h | i |\n| - | - |\n| 1 | 2 ^a |\n", " new", "| h | i |\n| - | - |\n| 1 | 2 new ^a |\n"),
        ("```\nold\n```\n\n^a\n", "new", "```\nold\nnew\n```\n\n^a\n"),
        ("```\n```\n\n^a\n", "new", "```\nnew\n```\n\n^a\n"),
        ("$$\nold\n$$\n\n^a\n", "new\n", "$$\nold\nnew\n$$\n\n^a\n"),
        ("%%\nold\n%%\n\n^a\n", "new", "%%\nold\nnew\n%%\n\n^a\n"),
        ("%% old\n\nb %%\n\n^a\n", "new", "%% old\n\nb\nnew %%\n\n^a\n"),
        ("| h |\n| - |\n| 1 |\n\n^a\n", "| 2 |", "| h |\n| - |\n| 1 |\n| 2 |\n\n^a\n"),
        ("| h |\n| - |\n^a\n", "| 2 |\n", "| h |\n| - |\n| 2 |\n^a\n"),
        ("- one\n- two\n\n^a\n\nb\n", "- three\n", "- one\n- two\n- three\n\n^a\n\nb\n"),
    ] {
        check(before, after, |document| document.append_to_block(&find_a(document), content));
    }
}

#[test]
fn text_is_added_before_the_first_text_of_a_block() {
    for (before, content, after) in [
        ("old ^a\n", "new, ", "new, old ^a\n"),
        ("old ^a\n", "new\n", "new\nold ^a\n"),
        ("- [ ] one ^a\n- two\n", "new ", "- [ ] new one ^a\n- two\n"),
        ("- one ^a\n- two\n", "new\n", "- new\n  one ^a\n- two\n"),
        ("> q ^a\n", "new\n", "> new\n> q ^a\n"),
        ("> [!note] T\n> q ^a\n", "new\n", "> [!note] T\n> new\n> q ^a\n"),
        ("> [!note] T ^a\n", "new", "> [!note] T\n> new ^a\n"),
        ("## H ^a\n", "new ", "## new H ^a\n"),
        ("| h | i |\n| - | - |\n| 1 | 2 ^a |\n", "new ", "| h | i |\n| - | - |\n| new 1 | 2 ^a |\n"),
        ("x [^1]\n\n[^1]: old ^a\n", "new ", "x [^1]\n\n[^1]: new old ^a\n"),
        ("```rust\nold\n```\n\n^a\n", "new", "```rust\nnew\nold\n```\n\n^a\n"),
        ("%%\nold\n%%\n\n^a\n", "new\n", "%%\nnew\nold\n%%\n\n^a\n"),
        ("| h |\n| - |\n| 1 |\n\n^a\n", "| 0 |", "| h |\n| - |\n| 0 |\n| 1 |\n\n^a\n"),
        ("| h |\n| - |\n\n^a\n", "| 0 |", "| h |\n| - |\n| 0 |\n\n^a\n"),
        ("- one\n- two\n\n^a\n", "- zero", "- zero\n- one\n- two\n\n^a\n"),
    ] {
        check(before, after, |document| document.prepend_to_block(&find_a(document), content));
    }
}

#[test]
fn text_that_would_end_the_block_is_refused() {
    let lost = EditError::BlockLost { id: "a".to_owned() };
    for (before, content) in [
        ("old ^a\n", "\n\nnew"),
        ("old ^a\n", "\n# new"),
        ("- one ^a\n", "\n\n# H\n\n- x"),
        ("```\nold\n```\n\n^a\n", "```\nnew"),
        ("%%\nold\n%%\n\n^a\n", "x %% y"),
        ("---\n\n^a\n", "x"),
    ] {
        refuse(before, &lost, |document| document.append_to_block(&find_a(document), content));
    }
    refuse("| h |\n| - |\n| 1 ^a |\n", &EditError::Columns { expected: 1, found: 2 }, |document| {
        document.append_to_block(&find_a(document), " | x")
    });
    refuse("# H ^a\n", &EditError::SeveralLines, |document| document.append_to_block(&find_a(document), "\nx"));
}
