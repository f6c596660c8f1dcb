use std::{
    sync::{Arc, atomic::Ordering},
    thread::sleep,
    time::Duration,
};

use super::{fragile::Fragile, scenarios::Tree};
use crate::posix::{
    Ledger,
    commit::{Committer, caretaker::keep_tending},
};

/// A task that should have ended long ago never will.
const MAX_LOOKS: usize = 6_000;

fn has_ended(vault: &Committer) -> bool {
    (0..MAX_LOOKS).any(|_| {
        sleep(Duration::from_millis(10));
        !vault.tended.load(Ordering::Acquire)
    })
}

#[test]
fn files_that_are_still_open_are_looked_after_again_after_a_panic() {
    let store = Arc::new(Fragile::new(&Tree::new()));
    let vault = Arc::new(Committer::new(Arc::clone(&store) as Arc<_>, Ledger::in_memory(), None, u64::MAX));
    for has_no_clock in [true, false] {
        store.has_no_clock.store(has_no_clock, Ordering::Release);
        keep_tending(&vault);
        assert!(vault.tended.load(Ordering::Acquire));
        assert!(has_ended(&vault), "without a clock: {has_no_clock}");
    }
}
