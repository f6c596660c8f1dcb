//! Tests of adding and replacing rows.

use super::*;
use crate::edit::{
    block::tests::find_a,
    variants::{check, refuse},
};

#[test]
fn a_table_gets_rows() {
    let rows = [vec!["x".to_owned(), "a|b\nc".to_owned()], vec![" \\| ".to_owned(), String::new()]];
    let table = "| h | i |\n| - | - |\n| 1 | 2 |\n";
    let new = "| x | a\\|b<br>c |\n| \\| |  |\n";
    check(&format!("{table}\n^a\n\nb\n"), &format!("{table}{new}\n^a\n\nb\n"), |document| {
        document.append_rows(&find_a(document), &rows)
    });
    check(&format!("{table}\n^a\n"), &format!("| h | i |\n| - | - |\n{new}| 1 | 2 |\n\n^a\n"), |document| {
        document.prepend_rows(&find_a(document), &rows)
    });
    check(&format!("{table}^a\n"), &format!("| h | i |\n| - | - |\n{new}^a\n"), |document| {
        document.replace_rows(&find_a(document), &rows)
    });
    check("h | i\n- | -\n\n^a\n", &format!("h | i\n- | -\n{new}\n^a\n"), |document| {
        document.append_rows(&find_a(document), &rows)
    });
    for (cells, error) in [
        (vec!["x".to_owned()], EditError::Columns { expected: 2, found: 1 }),
        (vec!["x".to_owned(), "y ^z".to_owned()], EditError::BlockLost { id: "a".to_owned() }),
    ] {
        refuse(&format!("{table}\n^a\n"), &error, |document| {
            document.append_rows(&find_a(document), std::slice::from_ref(&cells))
        });
    }
    refuse("old ^a\n", &EditError::NotATable { id: "a".to_owned() }, |document| {
        document.append_rows(&find_a(document), &rows)
    });
}
