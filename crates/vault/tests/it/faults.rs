//! A disk that fails at any call: the change is refused for that reason and nothing of it is left, or it was done. And
//! when the disk works again, so does everything else.
//!
//! With `LAPIDARY_FAULTS=all` every call fails in every way; otherwise each in one of them.

use std::{
    io::ErrorKind,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use lapidary_vault::{
    CommitError, Receipt, Scope, Vault, VaultNews,
    store::{StepObserver, StoreError},
};

use crate::{
    scenarios::{Place, SCENARIOS, Scenario, open, settled_tree, shown, steps_written_down, tree_of, view},
    scratch::origin,
};

/// Errors of disks. A write that fails has written half before, like a short write.
const FAULTS: [StoreError; 5] = [
    StoreError::Disk { kind: ErrorKind::Other },
    StoreError::DiskFull,
    StoreError::ReadOnlyDisk,
    StoreError::NotPermitted,
    StoreError::Disk { kind: ErrorKind::Interrupted },
];

type Fails = dyn Fn(usize, &str) -> Option<StoreError> + Send + Sync;

/// Which calls fail, and whether the disk has failed at all.
struct Disk {
    calls: AtomicUsize,
    fails: Box<Fails>,
    failed: AtomicBool,
}

impl Disk {
    fn new(fails: impl Fn(usize, &str) -> Option<StoreError> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { calls: AtomicUsize::new(0), fails: Box::new(fails), failed: AtomicBool::new(false) })
    }

    fn observer(self: &Arc<Self>) -> StepObserver {
        let disk = Arc::clone(self);
        Arc::new(move |call| match (disk.fails)(disk.calls.fetch_add(1, Ordering::SeqCst), call) {
            None => Ok(()),
            Some(error) => {
                disk.failed.store(true, Ordering::SeqCst);
                Err(error)
            }
        })
    }
}

fn commit(vault: &Vault, scenario: &Scenario) -> Result<Receipt, CommitError> {
    let set = scenario.change_set(&view(vault));
    vault.turn(&|| true).unwrap().commit(&set, &Scope::default(), &origin())
}

/// Carries out a change on such a disk and checks the invariants. Returns the result.
fn fail(scenario: &Scenario, disk: &Arc<Disk>, about: &str) -> Result<Receipt, StoreError> {
    let place = Place::new(scenario);
    let failing = open(place.around.path(), Some(disk.observer()));
    let said = commit(&failing, scenario).map_err(|error| error.error);
    let found = tree_of(&place.vault());
    let is_before = found == scenario.before();
    match &said {
        // An old file that could not be removed is handled later.
        Ok(_) => assert!(!is_before, "{about}: reported as done, but nothing was"),
        Err(StoreError::Unsure) => {}
        Err(error) => assert!(is_before, "{about}: refused ({error}), and something was left:\n{}", shown(&found)),
    }
    drop(failing);
    // On a disk that is well.
    let vault = open(place.around.path(), None);
    drop(vault.turn(&|| true).unwrap());
    let (before, after) = (scenario.before(), scenario.after());
    let found = settled_tree(&vault, &place, &[&before, &after]);
    let is_after = found == after;
    assert!(is_after || found == before, "{about}: neither before nor after:\n{}", shown(&found));
    assert!(is_after || said.is_err(), "{about}: an acknowledged change was undone");
    assert_eq!(steps_written_down(&place), 0, "{about}: the ledger is not settled");
    for news in vault.take_news() {
        assert!(matches!(&news, VaultNews::Completed { .. } | VaultNews::Undone { .. }), "{about}: {news:?}");
    }
    if !is_after {
        commit(&vault, scenario).unwrap_or_else(|error| panic!("{about}: afterwards: {error}"));
        assert_eq!(settled_tree(&vault, &place, &[&after]), after, "{about}: afterwards");
    }
    said
}

fn all() -> bool {
    std::env::var("LAPIDARY_FAULTS").is_ok_and(|which| which == "all")
}

/// Every call of every scenario.
fn every_call(mut with: impl FnMut(&Scenario, usize) -> bool) -> usize {
    SCENARIOS.iter().map(|scenario| (0..).take_while(|&call| with(scenario, call)).count()).sum()
}

#[test]
fn a_call_that_fails_is_a_refusal_and_nothing_is_left() {
    let all = all();
    let (mut faults, mut refused) = (0, 0);
    every_call(|scenario, number| {
        let some = FAULTS.iter().enumerate().filter(|(index, _)| all || index % FAULTS.len() == number % FAULTS.len());
        let mut any = false;
        for (_, fault) in some {
            let injected = fault.clone();
            let disk = Disk::new(move |call, _| (call == number).then(|| injected.clone()));
            let about = format!("{}, call {number} fails ({fault})", scenario.name);
            let said = fail(scenario, &disk, &about);
            if !disk.failed.load(Ordering::SeqCst) {
                continue;
            }
            any = true;
            faults += 1;
            refused += usize::from(said.is_err());
            let expected = [fault.clone(), StoreError::NoCheckpoint, StoreError::DiskFull, StoreError::Unsure];
            assert!(said.is_ok() || expected.iter().any(|reason| said == Err(reason.clone())), "{about}: {said:?}");
        }
        any
    });
    eprintln!("{faults} calls failed: {refused} changes refused, {} done anyway", faults - refused);
    assert!(refused > 100 && faults > refused);
}

#[test]
fn a_permanent_disk_failure_leaves_a_recoverable_state() {
    let (mut faults, mut unsure) = (0, 0);
    every_call(|scenario, number| {
        let fault = FAULTS[number % FAULTS.len()].clone();
        let about = format!("{}, everything fails from call {number} on ({fault})", scenario.name);
        let disk = Disk::new(move |call, _| (call >= number).then(|| fault.clone()));
        let said = fail(scenario, &disk, &about);
        unsure += usize::from(said == Err(StoreError::Unsure));
        faults += usize::from(disk.failed.load(Ordering::SeqCst));
        disk.failed.load(Ordering::SeqCst)
    });
    eprintln!("{faults} times the disk failed permanently, {unsure} times the outcome was unknown");
    assert!(unsure > 0);
}

/// A second fault during recovery from the first.
#[test]
fn a_disk_that_fails_twice_leaves_a_recoverable_state() {
    let mut faults = 0;
    every_call(|scenario, first| {
        let mut any = false;
        for second in if all() { 1..9 } else { 1 + first % 5..2 + first % 5 } {
            let fault = FAULTS[(first + second) % FAULTS.len()].clone();
            let about = format!("{}, calls {first} and {second} later fail ({fault})", scenario.name);
            let disk = Disk::new(move |call, _| (call == first || call == first + second).then(|| fault.clone()));
            drop(fail(scenario, &disk, &about));
            any = disk.failed.load(Ordering::SeqCst);
            faults += 2;
        }
        any
    });
    eprintln!("{faults} calls failed, two in each change");
}

/// A folder of the vault may be another disk, to which nothing can be renamed.
#[test]
fn a_file_that_cannot_be_renamed_is_copied_and_a_folder_is_refused() {
    for scenario in SCENARIOS {
        let across = StoreError::Disk { kind: ErrorKind::CrossesDevices };
        let error = across.clone();
        let disk = Disk::new(move |_, call| (call == "rename").then(|| error.clone()));
        let said = fail(scenario, &disk, scenario.name);
        let cannot = scenario.name.starts_with("a folder") || scenario.name == "trash in the vault";
        assert_eq!(said.err(), cannot.then_some(across), "{}", scenario.name);
    }
}
