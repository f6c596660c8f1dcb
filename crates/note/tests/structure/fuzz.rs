//! A short run as a test; `BOLERO_RANDOM_ITERATIONS` makes it longer, `cargo bolero test` gives it to a fuzzer.

use bolero::check;

use super::{laws, nasty};

#[test]
fn no_bytes_make_the_parser_panic_or_a_span_wrong() {
    check!().for_each(|bytes: &[u8]| laws::check(&String::from_utf8_lossy(bytes)));
}

#[test]
fn no_pieces_make_the_parser_panic_or_a_span_wrong() {
    check!().for_each(|choices: &[u8]| laws::check(&nasty::text(choices)));
}

#[test]
fn no_pieces_make_the_properties_panic_or_a_span_wrong() {
    check!().for_each(|choices: &[u8]| laws::check(&format!("---\n{}\n---\n", nasty::text(choices))));
}
