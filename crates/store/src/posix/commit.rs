//! How a change set gets onto the disk: completely or not at all, never overwriting another program's changes, and with
//! the undo data stored before the first step.
//!
//! 1. `plan`: every change becomes steps, each with the state that it expects.
//! 2. The ledger stores them and the old contents durably. From here on a killed server leaves a trail.
//! 3. `steps`: each is taken and its result checked. If one is not as expected, all are rolled back.
//! 4. The names are synced, the old files are removed, the ledger closes the entry.
//!
//! `recovery` finishes this for a killed server, `caretaker` for files that other programs still had open.

mod course;
mod news;
pub(super) mod old_files;
mod plan;
mod recovery;
mod steps;
mod undo;

use std::{
    collections::BTreeSet,
    io::ErrorKind,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use self::{
    course::{called_after, places_of},
    news::NewsQueue,
    plan::{CommitPlanner, PlannedSteps},
    steps::{StepFailure, TakenStep},
    undo::{RollbackReport, StepExtent},
};
use super::{Draft, EntryHandle, FileOperations, JournalStep, Ledger, OldFileRecord, TurnFile};
use crate::{
    BackendTurn, ChangeOrigin, ChangeSet, CheckpointKind, CheckpointRecord, CommitError, ElapsedTime, File,
    LedgerError, PlaceJudge, Receipt, Scope, StoreError, TurnError, VaultNews, VaultPath,
    fair_queue::{FairQueue, QueueTicket},
};

/// Keep handles open for at most this many steps (some systems allow only 256 open files); later ones are reopened when
/// all is done.
const MAX_HELD: usize = 50;

/// New contents up to this size are kept too: the next change has to keep them anyway.
const MAX_KEPT: usize = 1 << 20;

/// The only place where files of a folder change.
pub(super) struct Committer {
    pub(super) steps: Arc<dyn FileOperations>,
    pub(super) ledger: Ledger,
    /// Larger files are not read.
    max_file_bytes: u64,
    /// Changes of one server take turns in order of arrival; readers never wait.
    writers: FairQueue,
    /// Servers on the same vault take turns too.
    turns: Option<TurnFile>,
    news: NewsQueue,
    recovered: RecoveryState,
    /// Whether files that are still open are being watched.
    pub(super) tended: AtomicBool,
    /// Whether there may be late saves that no caller knows of.
    untold: AtomicBool,
}

/// How far this process has cleaned up after a killed server. Only increases.
#[derive(Default)]
struct RecoveryState(AtomicU8);

/// Changes in progress, by the first reader.
const LOOKED: u8 = 1;
/// And what a power cut may have brought back, by the first change.
const SWEPT: u8 = 2;

impl RecoveryState {
    /// Whether this call is the first to get this far.
    fn reach(&self, stage: u8) -> bool {
        self.0.fetch_max(stage, Ordering::AcqRel) < stage
    }
}

/// The right to change the files.
pub(super) struct PosixTurn<'a> {
    changes: &'a Arc<Committer>,
    _place: QueueTicket<'a>,
    /// Released when closed, also by a process that dies.
    _lock: Option<std::fs::File>,
}

impl Committer {
    pub(super) fn new(
        steps: Arc<dyn FileOperations>,
        ledger: Ledger,
        turns: Option<TurnFile>,
        max_file_bytes: u64,
    ) -> Self {
        Self {
            steps,
            ledger,
            max_file_bytes,
            writers: FairQueue::default(),
            turns,
            news: NewsQueue::default(),
            recovered: RecoveryState::default(),
            tended: AtomicBool::new(false),
            untold: AtomicBool::new(true),
        }
    }

    /// Waits, while allowed, until no other change is in progress, and cleans up after a killed server.
    pub(super) fn turn<'a>(self: &'a Arc<Self>, go_on: &dyn Fn() -> bool) -> Result<PosixTurn<'a>, TurnError> {
        let turn = self.wait(go_on)?;
        turn.settle()?;
        Ok(turn)
    }

    fn wait<'a>(self: &'a Arc<Self>, go_on: &dyn Fn() -> bool) -> Result<PosixTurn<'a>, TurnError> {
        let asked = ElapsedTime::start();
        // First among the threads of this process, so that only one of them polls the lock that other processes
        // share.
        let place = self.writers.wait(go_on).ok_or(TurnError::GivenUp)?;
        // Without the lock two servers could overwrite each other, so a change requires it.
        let lock =
            self.turns.as_ref().map(|turns| turns.take(go_on)).transpose().map_err(|error| match error.kind() {
                ErrorKind::WouldBlock => TurnError::GivenUp,
                // The place of the state depends on the place of the vault.
                ErrorKind::NotFound => TurnError::VaultGone,
                _ => TurnError::NoState,
            })?;
        tracing::trace!(ms = asked.elapsed().as_millis() as u64, "it is this call's turn");
        Ok(PosixTurn { changes: self, _place: place, _lock: lock })
    }

    /// For the first reader: cleans up after a killed server, unless a change is in progress or it fails.
    pub(super) fn settle(self: &Arc<Self>) {
        // An empty ledger has nothing to clean up, and asking costs less than taking the turn.
        if !self.recovered.reach(LOOKED) || matches!(self.ledger.is_empty(), Ok(true)) {
            return;
        }
        // Readers do not wait for this: the holder of the turn is alive and cleans up before the next change.
        if let Ok(turn) = self.wait(&|| false)
            && let Err(error) = turn.settle()
        {
            self.tell(VaultNews::Postponed { why: error.to_string() });
        }
    }

    /// Whether something may be created under a name: every system accepts it, or it existed before and comes back.
    pub(super) fn may_have_name(&self, path: &VaultPath) -> bool {
        // If the ledger cannot be read, the name is judged like that of a new file.
        path.has_portable_name() || self.ledger.knows(path).unwrap_or(false)
    }

    pub(super) fn steps(&self) -> &dyn FileOperations {
        &*self.steps
    }

    pub(super) fn tell(&self, news: VaultNews) {
        self.news.push(news);
    }

    pub(super) fn take_news(&self) -> Vec<VaultNews> {
        self.news.take()
    }

    /// Removes old contents that are too many or too old.
    fn keep_limits(&self, now: SystemTime) {
        let kept = match self.ledger.is_over(now) {
            Ok(true) => self.ledger.prune(now),
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = kept {
            self.tell(VaultNews::Postponed { why: error.to_string() });
        }
    }

    /// The same without checking first.
    pub(super) fn look_at_limits(&self) {
        let now = UNIX_EPOCH + Duration::from_nanos(self.steps.now().unsigned_abs());
        if let Err(error) = self.ledger.prune(now) {
            self.tell(VaultNews::Postponed { why: error.to_string() });
        }
    }

    /// Late saves that no caller was told of yet.
    pub(super) fn untold(&self) -> Result<Vec<CheckpointRecord>, LedgerError> {
        // Called with every call, so it must cost nothing when there are none.
        if !self.untold.swap(false, Ordering::AcqRel) {
            return Ok(Vec::new());
        }
        let found = self.ledger.untold();
        // Until nothing is found any more: a caller that is told of one says so later, and others are for other
        // callers. If the lookup fails, the next caller tries again.
        if !matches!(&found, Ok(found) if found.is_empty()) {
            self.expect_untold();
        }
        found
    }

    /// There may be a late save that no caller knows of.
    pub(super) fn expect_untold(&self) {
        self.untold.store(true, Ordering::Release);
    }
}

impl BackendTurn for PosixTurn<'_> {
    fn commit(
        &self,
        set: &ChangeSet,
        scope: &Scope,
        origin: &ChangeOrigin,
        judged: PlaceJudge<'_>,
    ) -> Result<Receipt, CommitError> {
        let may_have_name = |path: &VaultPath| self.changes.may_have_name(path);
        let planner =
            || CommitPlanner::new(self.changes.steps(), scope, judged, self.changes.max_file_bytes, &may_have_name);
        match self.carry_out(set, &planner().plan(set)?, origin) {
            // Only now is it known that the two places are on different disks.
            Err(error) if error.error == (StoreError::Disk { kind: ErrorKind::CrossesDevices }) => {
                self.carry_out(set, &planner().copying().plan(set)?, origin)
            }
            done => done,
        }
    }
}

impl PosixTurn<'_> {
    fn carry_out(
        &self,
        set: &ChangeSet,
        planned: &PlannedSteps<'_>,
        origin: &ChangeOrigin,
    ) -> Result<Receipt, CommitError> {
        let mut receipt = Receipt::of(set);
        planned.correct(&mut receipt);
        if planned.steps.is_empty() {
            return Ok(receipt);
        }
        let error = |about: usize, error: StoreError| {
            let change = &set.changes[about];
            let before = change.before().map(File::hash);
            // An obstacle at the other end says nothing about the file itself.
            let is_there = || matches!(course::there(self.changes, change.path()), Ok(Some(_)));
            let path = match (&error, change.to()) {
                (StoreError::Exists | StoreError::NotPortable | StoreError::IsFolder, Some(to)) => to,
                (StoreError::Missing, Some(to)) if is_there() => to,
                _ => change.path(),
            };
            CommitError { path: path.clone(), error, guard: change.guard(), before }
        };
        let draft = Draft {
            origin,
            kind: CheckpointKind::Change,
            entries: planned.entries.clone(),
            steps: &planned.steps,
            contents: planned.contents.iter().map(|(hash, bytes)| (*hash, *bytes)).collect(),
        };
        // Durable before the first step: from here on, a server that starts after a crash can complete or undo the
        // change.
        let (number, id) = self.changes.ledger.begin(&draft).map_err(|failed| match failed {
            LedgerError::Full => error(0, StoreError::DiskFull),
            LedgerError::Unusable(why) => {
                self.changes.tell(VaultNews::Postponed { why });
                error(0, StoreError::NoCheckpoint)
            }
        })?;
        let mut taken = Vec::with_capacity(planned.steps.len());
        let mut touched = BTreeSet::new();
        for (index, step) in planned.steps.iter().enumerate() {
            let ready = self.make_ready(&planned.steps[..index], &touched, step);
            touched.extend(places_of(step));
            match ready.and_then(|()| steps::take(self.changes, step, planned.bytes[index])) {
                Ok(done) if index < MAX_HELD => taken.push(done),
                Ok(done) => taken.push(done.let_go()),
                Err(failed) => {
                    // The earlier steps are known to be complete. How much of this one was done, only its failure
                    // says.
                    let extent = |at: usize| match taken.get(at) {
                        Some(TakenStep { found: true, .. }) => StepExtent::Nothing,
                        Some(_) => StepExtent::All,
                        None => failed.extent,
                    };
                    tracing::debug!(step = index, error = %failed.error, "a step failed; the change is taken back");
                    let undone = undo::take_back(self.changes, &planned.steps[..=index], &extent, origin.time);
                    let failed = self.give_up(number, undone, failed.error);
                    return Err(error(planned.about[index], failed));
                }
            }
        }
        let synced = self.sync(&planned.steps, &taken);
        self.close(number, planned, taken, origin.time);
        if origin.restores {
            self.tidy(&planned.steps);
        }
        // It was created, for whatever reason.
        synced.map_err(|_| error(0, StoreError::Unsure))?;
        tracing::debug!(steps = planned.steps.len(), checkpoint = id, "a change is on disk");
        receipt.checkpoint = Some(id);
        Ok(receipt)
    }

    /// Removes the folders that were made for files of which these steps took the last one back. Others stay, also if they are
    /// empty now: a person may have made them.
    fn tidy(&self, taken: &[JournalStep]) {
        for step in taken {
            let (JournalStep::Remove { place, .. } | JournalStep::Move { from: place, .. }) = step else { continue };
            let mut next = place.folder();
            while let Some(folder) = next {
                let removed = match self.changes.ledger.made_folder(&folder, place) {
                    // A folder with anything in it stays.
                    Ok(true) => self.changes.steps.remove_folder(&folder),
                    Ok(false) => break,
                    Err(error) => {
                        tracing::warn!("whether a folder was made for a file is not known: {error}");
                        break;
                    }
                };
                if let Err(error) = removed {
                    // The files are as they should be, so the change has succeeded.
                    tracing::warn!("an empty folder cannot be removed: {error}");
                    break;
                }
                next = folder.folder();
            }
        }
    }

    /// The error for a change that failed.
    fn give_up(&self, number: i64, undone: Result<RollbackReport, StoreError>, failed: StoreError) -> StoreError {
        // The disk failed twice. Its state is unknown, and the next turn checks it.
        let Ok(undone) = undone else { return StoreError::Unsure };
        // If it cannot be stored, it is tried again before the next change; everything is as before.
        if let Err(error) = self.write_off(number, &undone) {
            self.changes.tell(VaultNews::Postponed { why: error.to_string() });
        }
        if !undone.left.is_empty() {
            self.changes.tell(VaultNews::Undone { left: undone.left });
        }
        failed
    }

    /// Closes the entry of a change that was rolled back.
    fn write_off(&self, number: i64, undone: &RollbackReport) -> Result<(), LedgerError> {
        if !undone.beside.is_empty() {
            // What another program has open next to its place is removed once that program is done.
            old_files::keep_tending(self.changes);
        }
        // If another program changed a file between two of our steps, its text is kept in place, and the old one in the
        // ledger.
        if undone.left.is_empty() {
            self.changes.ledger.forget(number, &undone.beside)
        } else {
            self.changes.ledger.finish(number, &undone.beside)
        }
    }

    /// Syncs the names, each folder once.
    fn sync(&self, steps: &[JournalStep], taken: &[TakenStep]) -> Result<(), StoreError> {
        let mut synced = BTreeSet::new();
        for (index, step) in steps.iter().enumerate() {
            for (which, place) in places_of(step).into_iter().enumerate() {
                let later = &steps[index + 1..];
                // A later step may have moved the folder; it is synced under the name that it has now.
                let folder = called_after(later, place).folder();
                if !synced.insert(folder) {
                    continue;
                }
                let held = taken.get(index).and_then(|taken| taken.spots.get(which).cloned());
                if let Some(spot) = self.again(held, later, place)? {
                    self.changes.steps().sync(&spot)?;
                }
            }
        }
        Ok(())
    }

    /// What a step builds on has to be durable first: a power cut may undo unsynced changes in any order. A file moved
    /// into a new folder would disappear with the folder, and one that made room would lose its name.
    fn make_ready(
        &self,
        earlier: &[JournalStep],
        touched: &BTreeSet<&VaultPath>,
        step: &JournalStep,
    ) -> Result<(), StepFailure> {
        let mut places: Vec<&VaultPath> = places_of(step).into_iter().filter(|place| touched.contains(place)).collect();
        if let JournalStep::Move { from, to, .. } = step {
            places.extend(touched.iter().filter(|place| place.is_within(from)));
            let made = earlier.iter().filter(|step| matches!(step, JournalStep::MakeFolder { .. })).flat_map(places_of);
            places.extend(made.filter(|folder| to.is_within(folder)));
        }
        undo::sync(self.changes, &places).map_err(|error| StepFailure { error, extent: StepExtent::Nothing })
    }

    /// A place after a change, still held or looked up again.
    fn again(
        &self,
        held: Option<EntryHandle>,
        later: &[JournalStep],
        place: &VaultPath,
    ) -> Result<Option<EntryHandle>, StoreError> {
        let called = called_after(later, place);
        if held.is_some() && called == *place { Ok(held) } else { course::there(self.changes, &called) }
    }

    /// Removes the old files, unless another program can still write to them.
    fn close(&self, number: i64, planned: &PlannedSteps<'_>, taken: Vec<TakenStep>, now: SystemTime) {
        let mut beside = Vec::new();
        for (index, TakenStep { spots, old, .. }) in taken.into_iter().enumerate() {
            let (step, later) = (&planned.steps[index], &planned.steps[index + 1..]);
            let (Some(held), Some(place)) = (old, places_of(step).first().copied()) else { continue };
            let spot = self.again(spots.into_iter().next(), later, place);
            let gone = matches!(spot, Ok(Some(spot)) if steps::is_disposed(self.changes, step, &spot, held, now));
            beside.push(OldFileRecord { position: index, place: called_after(later, place), aside: None, gone });
        }
        // If it cannot be stored, the next turn finds the change complete.
        let written = planned.written(MAX_KEPT);
        if let Err(error) = self.changes.ledger.finish_with(number, &beside, &written) {
            self.changes.tell(VaultNews::Postponed { why: error.to_string() });
        }
        if beside.iter().any(|beside| !beside.gone) {
            old_files::keep_tending(self.changes);
        }
        self.changes.keep_limits(now);
    }
}
