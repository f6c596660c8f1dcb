//! Simple YAML is parsed like YAML in general.

use proptest::prelude::*;

use super::{laws, nasty};

/// `PROPTEST_CASES` increases it.
fn config(cases: u32) -> ProptestConfig {
    let given = ProptestConfig::default();
    ProptestConfig { cases: given.cases.max(cases), failure_persistence: None, ..given }
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn every_part_of_any_text_is_cut_out_exactly(text in "\\PC{0,60}") {
        laws::check(&text);
    }

    #[test]
    fn every_part_of_a_nasty_text_is_cut_out_exactly(choices in prop::collection::vec(any::<u8>(), 0..40)) {
        laws::check(&nasty::text(&choices));
    }

    #[test]
    fn every_part_of_nasty_properties_is_cut_out_exactly(choices in prop::collection::vec(any::<u8>(), 0..30)) {
        laws::check(&format!("---\n{}\n---\n{}", nasty::text(&choices), nasty::text(&choices)));
    }
}
