//! Tests of watching replaced files.

use std::{
    sync::{Arc, atomic::Ordering, mpsc::channel},
    thread::sleep,
    time::Duration,
};

use super::{fragile::Fragile, scenarios::Tree};
use crate::{
    maintenance::schedule,
    posix::{
        Ledger,
        commit::{Committer, old_files::keep_tending},
    },
};

/// A task that should have ended long ago never will.
const MAX_LOOKS: usize = 6_000;

fn opened() -> (Arc<Fragile>, Arc<Committer>) {
    let store = Arc::new(Fragile::new(&Tree::new()));
    let vault = Committer::new(Arc::clone(&store) as Arc<_>, Ledger::in_memory(), None, u64::MAX);
    (store, Arc::new(vault))
}

fn has_ended(vault: &Committer) -> bool {
    (0..MAX_LOOKS).any(|_| {
        sleep(Duration::from_millis(10));
        !vault.tended.load(Ordering::Acquire)
    })
}

#[test]
fn open_files_are_watched_again_after_a_panic() {
    let (store, vault) = opened();
    for works in [false, true] {
        *store.clock.lock().unwrap() = works;
        keep_tending(&vault);
        assert!(vault.tended.load(Ordering::Acquire));
        assert!(has_ended(&vault), "the clock works: {works}");
    }
}

#[test]
fn a_disk_that_does_not_respond_does_not_block_other_maintenance() {
    let (store, vault) = opened();
    let hanging = store.clock.lock().unwrap();
    keep_tending(&vault);
    let (say, said) = channel();
    // Due after the first check, which hangs.
    schedule(Duration::from_secs(1), move || {
        say.send(()).unwrap_or_default();
        None
    })
    .unwrap();
    assert_eq!(said.recv_timeout(Duration::from_secs(60)), Ok(()));
    assert!(vault.tended.load(Ordering::Acquire));
    drop(hanging);
    assert!(has_ended(&vault));
}
