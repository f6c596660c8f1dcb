//! The power is cut at any moment, and any part of the unsynced data is lost. The next start finds all of a change or
//! nothing of it, and all of an acknowledged one.
//!
//! `LAPIDARY_POWER_RUNS` is how many times each moment is tried.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use super::{
    Random,
    fragile::{CUTS, Cut, Fragile},
    origin,
    scenarios::{Place, SCENARIOS, Scenario, Tree, known, shown, steps_written_down},
    vault_path,
};
use crate::{
    BackendTurn, Change, ChangeSet, ContentGuard, PathFilter, Retention, Scope, VaultNews,
    posix::{Ledger, StateFolder, StepObserver, TurnFile, commit::Committer},
};

/// The state folder, on a disk that may lose unsynced writes.
struct State {
    place: Place,
    lasting: Arc<Mutex<Lasting>>,
}

/// What would be left of the ledger after a power cut.
#[derive(Default)]
struct Lasting {
    /// Its state before the first unsynced transaction.
    snapshot: Option<Vec<(PathBuf, Vec<u8>)>>,
    /// A synced transaction is in progress; when it is over, so is everything before it.
    syncing: bool,
}

impl State {
    fn new(scenario: &Scenario) -> Self {
        Self { place: Place::new(scenario), lasting: Arc::default() }
    }

    fn open(&self, store: &Arc<Fragile>) -> Arc<Committer> {
        let around = self.place.around.path().to_owned();
        let (lasting, disk) = (Arc::clone(&self.lasting), Arc::clone(store));
        let files = around.join("state");
        let observer: StepObserver = Arc::new(move |call| {
            disk.call()?;
            let mut lasting = lasting.lock().unwrap();
            lasting.see(call, &files);
            Ok(())
        });
        let state = StateFolder::new(around.join("state"), around.join("vault")).observed(observer);
        let state = Arc::new(state);
        let ledger = Ledger::new(Arc::clone(&state), Retention::default());
        Arc::new(Committer::new(Arc::clone(store) as Arc<_>, ledger, Some(TurnFile::new(state)), u64::MAX))
    }

    /// Unsynced data is lost, or not.
    fn cut(&self, is_lost: bool) {
        let mut lasting = self.lasting.lock().unwrap();
        if lasting.syncing {
            lasting.snapshot = None;
        }
        if let (true, Some(snapshot)) = (is_lost, lasting.snapshot.take()) {
            for file in ledger_files(&self.place.around.path().join("state")) {
                std::fs::remove_file(file).unwrap();
            }
            for (path, bytes) in snapshot {
                std::fs::write(path, bytes).unwrap();
            }
        }
        *lasting = Lasting::default();
    }
}

impl Lasting {
    fn see(&mut self, call: &str, state: &Path) {
        if std::mem::take(&mut self.syncing) {
            self.snapshot = None;
        }
        match call {
            "sync ledger" => self.syncing = true,
            "commit" if self.snapshot.is_none() => {
                let kept = |path: &PathBuf| !path.to_string_lossy().ends_with("-shm");
                let files = ledger_files(state).into_iter().filter(kept);
                self.snapshot = Some(files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect());
            }
            _ => {}
        }
    }
}

fn ledger_files(state: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(state).unwrap().map(|folder| folder.unwrap().path());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("checkpoints.db")).collect()
}

fn change_set(scenario: &Scenario, store: &Fragile) -> ChangeSet {
    ChangeSet { changes: scenario.changes(&|path| known(store.file(path).unwrap())) }
}

fn commit(vault: &Arc<Committer>, set: &ChangeSet) -> bool {
    // A dead disk gives no turn either.
    let Ok(turn) = vault.turn(&|| true) else { return false };
    turn.commit(set, &Scope::default(), &origin(), &|_, _| true).is_ok()
}

#[derive(Default)]
struct Count {
    cuts: usize,
    before: usize,
    after: usize,
}

impl Count {
    fn say(&self, what: &str) {
        let Self { cuts, before, after } = self;
        eprintln!("{what}: {cuts} power cuts, {before} times before, {after} times after, nothing else");
    }
}

fn after(scenario: &Scenario) -> Tree {
    let (state, store) = (State::new(scenario), Arc::new(Fragile::new(&scenario.before())));
    let vault = state.open(&store);
    assert!(commit(&vault, &change_set(scenario, &store)), "{}", scenario.name);
    store.tree()
}

/// One power cut at a call of the change, and more while the next starts recover it. Returns whether the change was
/// finished before.
fn cut_off(scenario: &Scenario, expected: &Tree, dies_after: &[usize], seed: u64, count: &mut Count) -> bool {
    let mut random = Random::new(seed);
    let (state, store) = (State::new(scenario), Arc::new(Fragile::new(&scenario.before())));
    let mut acknowledged = false;
    let mut story = String::new();
    for (number, &calls) in dies_after.iter().enumerate() {
        let vault = state.open(&store);
        if number == 0 {
            let set = change_set(scenario, &store);
            store.dies_after(calls);
            acknowledged = commit(&vault, &set);
        } else {
            store.dies_after(calls);
            vault.settle();
            drop(vault.turn(&|| true).ok());
        }
        drop(vault);
        let (cut, is_lost) = (CUTS[random.below(CUTS.len())], random.below(2) == 0);
        story +=
            &format!("; after {calls} calls, {cut:?} is left, the ledger is {}", if is_lost { "old" } else { "new" });
        store.cut(cut, &mut random);
        state.cut(is_lost);
        count.cuts += 1;
    }
    let about = format!("{}{story}, seed {seed}", scenario.name);
    let vault = state.open(&store);
    vault.settle();
    drop(vault.turn(&|| true).unwrap_or_else(|error| panic!("{about}: {error}: {:?}", vault.take_news())));
    let found = store.tree();
    let is_after = found == *expected;
    assert!(is_after || found == scenario.before(), "{about}: neither before nor after:\n{}", shown(&found));
    assert!(is_after || !acknowledged, "{about}: an acknowledged change was undone");
    assert_eq!(steps_written_down(&state.place), 0, "{about}: the ledger is not settled");
    for news in vault.take_news() {
        match news {
            VaultNews::Completed { .. } => assert!(is_after, "{about}"),
            VaultNews::Undone { left } => assert!(!is_after && left.is_empty(), "{about}: {left:?}"),
            other => panic!("{about}: {other:?}"),
        }
    }
    let checkpoints = vault.ledger.checkpoints(&PathFilter::default(), 10).unwrap();
    assert_eq!(checkpoints.len(), usize::from(is_after), "{about}: {checkpoints:?}");
    if is_after {
        count.after += 1
    } else {
        count.before += 1
    };
    acknowledged
}

fn runs() -> u64 {
    std::env::var("LAPIDARY_POWER_RUNS").map_or(3, |runs| runs.parse().unwrap())
}

#[test]
fn a_power_cut_at_any_call_leaves_all_or_nothing() {
    let mut total = Count::default();
    for scenario in SCENARIOS {
        let expected = after(scenario);
        let mut count = Count::default();
        let mut calls = 0;
        let mut over = false;
        while !over {
            let tried = (0..runs()).filter(|&seed| cut_off(scenario, &expected, &[calls], seed, &mut count));
            over = tried.count() as u64 == runs();
            calls += 1;
        }
        // Long after it was acknowledged.
        for seed in 0..8 {
            cut_off(scenario, &expected, &[usize::MAX], seed, &mut count);
        }
        assert!(count.before > 0 && count.after > 0, "{}: only one outcome", scenario.name);
        total.cuts += count.cuts;
        total.before += count.before;
        total.after += count.after;
    }
    total.say("at every call");
}

#[test]
fn power_cuts_during_recovery_leave_all_or_nothing() {
    let mut count = Count::default();
    for scenario in SCENARIOS {
        let expected = after(scenario);
        for seed in 0..6 * runs() {
            let mut random = Random::new(seed);
            let calls = 10 + 8 * scenario.before().len();
            let dies_after = [random.below(calls), random.below(20), random.below(20)];
            cut_off(scenario, &expected, &dies_after[..2 + random.below(2)], seed, &mut count);
        }
    }
    count.say("several in a row");
    assert!(count.before > 0 && count.after > 0);
}

/// A note that is edited repeatedly: it has the last acknowledged text, or the one that was being written.
#[test]
fn of_many_edits_none_that_was_acknowledged_is_lost() {
    let mut cuts = 0;
    for seed in 0..3 * runs() {
        let mut random = Random::new(seed);
        let scenario = &SCENARIOS[0];
        let (state, store) = (State::new(scenario), Arc::new(Fragile::new(&scenario.before())));
        let (mut last, mut attempted) = (String::new(), String::new());
        for number in 0..30 {
            let vault = state.open(&store);
            if store.calls() > 0 || number > 0 {
                store.dies_after(5 + random.below(60));
            }
            while !store.is_dead() {
                vault.settle();
                let Ok(before) = store.file("untouched.md") else { break };
                attempted = format!("{last}x");
                let before = known(before);
                let path = vault_path("untouched.md");
                let change = Change::Write {
                    path,
                    before,
                    guard: ContentGuard::Plan,
                    content: attempted.clone().into_bytes().into(),
                };
                if !commit(&vault, &ChangeSet::one(change)) {
                    break;
                }
                last.clone_from(&attempted);
                if number == 0 && last.len() > 3 {
                    break;
                }
            }
            drop(vault);
            store.cut([Cut::InOrder, Cut::Anything, Cut::Nothing][random.below(3)], &mut random);
            state.cut(random.below(2) == 0);
            cuts += 1;
            let vault = state.open(&store);
            drop(vault.turn(&|| true).unwrap());
            let found = String::from_utf8(store.file("untouched.md").unwrap()).unwrap();
            assert!(found == last || found == attempted, "seed {seed}: {found} is there, {last} was acknowledged");
            let stray: Vec<String> = store.tree().into_keys().filter(|path| path.contains(".lapidary-")).collect();
            assert!(stray.is_empty(), "seed {seed}: {stray:?}");
            last = found;
        }
    }
    eprintln!("many edits: {cuts} power cuts, no acknowledged edit lost");
}
