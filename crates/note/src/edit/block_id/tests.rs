//! Tests of renaming block ids.

use super::*;
use crate::BlockKind::{Item, Paragraph, Quote, Table};
use crate::edit::{
    block::tests::find,
    variants::{check, refuse},
};

#[test]
fn an_id_is_renamed_alone() {
    for (before, kind, after) in [
        ("text ^a\n", Paragraph, "text ^new-1\n"),
        ("- x ^a\n- y ^b", Item, "- x ^new-1\n- y ^b"),
        ("| h |\n| - |\n\n^a\n", Table, "| h |\n| - |\n\n^new-1\n"),
        ("> q\n\n^a", Quote, "> q\n\n^new-1"),
    ] {
        for id in ["new-1", "^new-1"] {
            check(before, after, |document| document.rename_block_id(&find(document.shown(), "a", kind), id));
        }
    }
    check("x\n\n^long-id\n", "x\n\n^b\n", |document| {
        document.rename_block_id(&find(document.shown(), "long-id", Paragraph), "b")
    });
    check("x ^a\n", "x ^A\n", |document| document.rename_block_id(&find(document.shown(), "a", Paragraph), "A"));
    for bad in ["", "^", "a_b", "a b", "é", "a\n"] {
        let error = EditError::BadBlockId { id: bad.trim_start_matches('^').to_owned() };
        refuse("x ^a\n", &error, |document| document.rename_block_id(&find(document.shown(), "a", Paragraph), bad));
    }
    refuse("x ^a\n\ny ^b\n", &EditError::BlockIdTaken { id: "B".to_owned() }, |document| {
        document.rename_block_id(&find(document.shown(), "a", Paragraph), "B")
    });
}
