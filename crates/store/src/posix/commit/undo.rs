//! Rolling back steps. What was done is derived from the disk, so it makes no difference whether we did it a moment ago
//! or a killed server did; and it can be repeated.

use std::{
    cell::Cell,
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

use lapidary_note::ContentHash;

use super::{
    Committer,
    course::{PathState, inspect, is_earlier, places_of, seen, there},
    steps::rescue,
};
use crate::{
    VaultPath,
    posix::{EntryHandle, InspectedFile, JournalStep, OldFileRecord, OtherWriters, StoreError, SwapOutcome},
};

const MOMENT: Duration = Duration::from_millis(2);
const MOMENTS: usize = 10;

/// The result of rolling back a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RollbackOutcome {
    /// It had not been taken.
    Untouched,
    /// It is as it was before.
    Undone,
    /// The file has been changed since, and that version is kept.
    Left,
}

/// What is left of steps that were rolled back.
#[derive(Default)]
pub(super) struct RollbackReport {
    /// Files that have been changed since, which are kept.
    pub(super) left: Vec<VaultPath>,
    /// Files next to their places that other programs have open.
    pub(super) beside: Vec<OldFileRecord>,
}

/// How much of a step was done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StepExtent {
    Nothing,
    /// As far as the disk shows.
    Unknown,
    All,
}

/// Rolls back steps, last to first.
pub(super) fn take_back(
    changes: &Committer,
    steps: &[JournalStep],
    extent: &dyn Fn(usize) -> StepExtent,
    now: SystemTime,
) -> Result<RollbackReport, StoreError> {
    let mut undone = RollbackReport::default();
    let mut touched = Vec::new();
    for (index, step) in steps.iter().enumerate().rev() {
        let earlier = match extent(index) {
            StepExtent::Nothing => continue,
            StepExtent::Unknown => &steps[..index],
            // The current content is not the one from before.
            StepExtent::All => &[],
        };
        let (outcome, place) = match step {
            JournalStep::MakeFolder { place } => {
                // Its contents have to be durable elsewhere before it is removed.
                sync(changes, &std::mem::take(&mut touched))?;
                (remove_folder(changes, place)?, place)
            }
            JournalStep::Move { from, to, before } => (move_back(changes, earlier, from, to, before.as_ref())?, from),
            JournalStep::Replace { place, aside, .. }
            | JournalStep::Create { place, aside, .. }
            | JournalStep::Remove { place, aside, .. } => {
                // Its folder is gone, and everything that the step did with it.
                let Some(spot) = there(changes, place)? else { continue };
                let undo = FileRollback { changes, spot: &spot, aside, earlier, now, open: &Cell::default() };
                let outcome = undo.step(step)?;
                if let Some(aside) = undo.open.take() {
                    undone.beside.push(OldFileRecord {
                        position: index,
                        place: place.clone(),
                        aside: Some(aside),
                        gone: false,
                    });
                }
                (outcome, place)
            }
        };
        match outcome {
            RollbackOutcome::Untouched => {}
            RollbackOutcome::Undone => touched.extend(places_of(step)),
            RollbackOutcome::Left if undone.left.contains(place) => {}
            RollbackOutcome::Left => undone.left.push(place.clone()),
        }
    }
    // A rollback must be durable before it is forgotten.
    sync(changes, &touched)?;
    Ok(undone)
}

/// Syncs the names in the folders of these places.
pub(super) fn sync(changes: &Committer, places: &[&VaultPath]) -> Result<(), StoreError> {
    let mut synced = BTreeSet::new();
    for place in places {
        if synced.insert(place.folder())
            && let Some(spot) = there(changes, place)?
        {
            changes.steps().sync(&spot)?;
        }
    }
    Ok(())
}

fn remove_folder(changes: &Committer, place: &VaultPath) -> Result<RollbackOutcome, StoreError> {
    if !seen(changes, place)?.is_there() {
        return Ok(RollbackOutcome::Untouched);
    }
    changes.steps().remove_folder(place)?;
    Ok(RollbackOutcome::Undone)
}

fn move_back(
    changes: &Committer,
    earlier: &[JournalStep],
    from: &VaultPath,
    to: &VaultPath,
    before: Option<&ContentHash>,
) -> Result<RollbackOutcome, StoreError> {
    let (at_from, at_to) = (seen(changes, from)?, seen(changes, to)?);
    let moved = |state| before.is_some_and(|before| state == PathState::Holds(*before));
    match (at_from.is_there(), at_to.is_there()) {
        // It was moved, and a new one was created: both are kept.
        (true, true) if moved(at_to) && !moved(at_from) => Ok(RollbackOutcome::Left),
        (true, _) => Ok(RollbackOutcome::Untouched),
        // An earlier step should have moved it here and did not; or one should have cleared the other place and did
        // not.
        (false, _) if is_earlier(earlier, from, PathState::Nothing) && !moved(at_to) => Ok(RollbackOutcome::Untouched),
        (false, _) if is_earlier(earlier, to, at_to) => Ok(RollbackOutcome::Untouched),
        // Another program has removed it.
        (false, false) => Ok(RollbackOutcome::Left),
        (false, true) => {
            let (Some(from), Some(to)) = (there(changes, from)?, there(changes, to)?) else {
                return Ok(RollbackOutcome::Left);
            };
            match changes.steps().rename(&to, &from) {
                Err(StoreError::Missing | StoreError::Exists | StoreError::NotAFile) => Ok(RollbackOutcome::Left),
                moved => moved.map(|()| RollbackOutcome::Undone),
            }
        }
    }
}

/// The name for a restored old text: different from that of the new one, which may exist in part.
fn restoring(aside: &str) -> String {
    format!("{aside}+")
}

/// One file for which a step is rolled back.
struct FileRollback<'a> {
    changes: &'a Committer,
    spot: &'a EntryHandle,
    aside: &'a str,
    /// The steps before this one, if possibly only they were taken.
    earlier: &'a [JournalStep],
    now: SystemTime,
    /// The name of the file next to the place, if another program has it open.
    open: &'a Cell<Option<String>>,
}

impl FileRollback<'_> {
    fn step(&self, step: &JournalStep) -> Result<RollbackOutcome, StoreError> {
        match step {
            JournalStep::Replace { before, after, .. } => self.replace(before, after),
            JournalStep::Create { after, .. } => self.create(after),
            JournalStep::Remove { before, .. } => self.remove(before.as_ref()),
            JournalStep::MakeFolder { .. } | JournalStep::Move { .. } => Ok(RollbackOutcome::Untouched),
        }
    }

    /// Removes our file, unless another program found it at its place and still has it open.
    fn discard(&self, beside: &InspectedFile) -> Result<RollbackOutcome, StoreError> {
        if !self.is_open(beside) {
            self.changes.steps().discard(self.spot, self.aside)?;
        }
        Ok(RollbackOutcome::Undone)
    }

    fn is_open(&self, beside: &InspectedFile) -> bool {
        let open = !beside.held.is_alone();
        if open {
            self.open.set(Some(self.aside.to_owned()));
        }
        open
    }

    /// A program that has it open is often done in a moment: it is saving, or we are starting it ourselves and it holds
    /// our handles until it runs.
    fn beside(&self) -> Result<Option<InspectedFile>, StoreError> {
        for _ in 0..MOMENTS {
            match inspect(self.changes, self.spot, Some(self.aside))? {
                Some(InspectedFile { held: OtherWriters::InUse, .. }) => std::thread::sleep(MOMENT),
                beside => return Ok(beside),
            }
        }
        inspect(self.changes, self.spot, Some(self.aside))
    }

    /// The file at the place is not ours. Either nothing was done to it, because an earlier step did not get that far,
    /// or it has been changed since.
    fn foreign(&self, seen: PathState) -> RollbackOutcome {
        if is_earlier(self.earlier, &self.spot.place, seen) {
            RollbackOutcome::Untouched
        } else {
            RollbackOutcome::Left
        }
    }

    fn replace(&self, before: &ContentHash, after: &ContentHash) -> Result<RollbackOutcome, StoreError> {
        let there = match inspect(self.changes, self.spot, None) {
            // Another program put something else there.
            Err(StoreError::IsFolder | StoreError::NotAFile | StoreError::TooLarge { .. }) => None,
            there => there?,
        };
        let is_old = |file: &InspectedFile| file.hash == *before;
        let is_ours = |file: &InspectedFile| file.hash == *after;
        // A rollback may have been killed, too; what it left is dealt with first.
        self.end_restore(there.as_ref().is_some_and(is_ours), before, after)?;
        let state = there.as_ref().map_or(PathState::Nothing, |there| PathState::Holds(there.hash));
        let never_there = state == PathState::Holds(*before) || self.foreign(state) == RollbackOutcome::Untouched;
        match (self.beside()?, there) {
            // Ours was staged and never took the place, or made way again.
            (Some(beside), _) if is_ours(&beside) || never_there => self.discard(&beside),
            (Some(_), Some(there)) if is_ours(&there) => {
                self.changes.steps().give_way(self.spot, self.aside, there.number)?;
                self.drop_ours(before, after)
            }
            // Another program has saved, moved or removed our version. That is kept; the old text is in the ledger.
            // An empty file holds nothing that could be lost.
            (Some(beside), _) if is_old(&beside) || beside.bytes.is_empty() => {
                self.discard(&beside).map(|_| RollbackOutcome::Left)
            }
            (Some(beside), _) => self.rescue(&beside).map(|()| RollbackOutcome::Left),
            // On a disk that cannot exchange, the old file is only in the ledger.
            (None, Some(there)) if is_ours(&there) => self.restore(before, after),
            (None, Some(there)) if is_old(&there) => Ok(RollbackOutcome::Untouched),
            (None, _) => Ok(self.foreign(state)),
        }
    }

    fn restore(&self, before: &ContentHash, after: &ContentHash) -> Result<RollbackOutcome, StoreError> {
        let old = self.changes.ledger.content(before).map_err(|_| StoreError::NoCheckpoint)?;
        let old = old.ok_or(StoreError::NoCheckpoint)?;
        let store = self.changes.steps();
        // Another name: the old file of the change may still be beside the place.
        let aside = restoring(self.aside);
        let undo = FileRollback { aside: &aside, ..*self };
        let number = store.stage(self.spot, &aside, &old, true)?;
        if store.exchange(self.spot, &aside, after)? == SwapOutcome::Replaced {
            return Ok(RollbackOutcome::Undone);
        }
        match undo.beside()? {
            Some(beside) if beside.hash == *after => undo.discard(&beside),
            // What is there now is neither ours nor what we took it for, so it is put back and kept.
            _ => {
                store.give_way(self.spot, &aside, number)?;
                undo.drop_ours(after, before).map(|_| RollbackOutcome::Left)
            }
        }
    }

    /// A server was killed while restoring the old text.
    fn end_restore(&self, is_ours: bool, before: &ContentHash, after: &ContentHash) -> Result<(), StoreError> {
        let aside = restoring(self.aside);
        let undo = FileRollback { aside: &aside, ..*self };
        match undo.beside()? {
            None => Ok(()),
            // It never took the place, and may exist in part.
            Some(_) if is_ours => self.changes.steps().discard(self.spot, &aside),
            Some(_) => undo.drop_ours(before, after).map(|_| ()),
        }
    }

    fn create(&self, after: &ContentHash) -> Result<RollbackOutcome, StoreError> {
        if self.beside()?.is_some() {
            // It never had a name that others know.
            return self.changes.steps().discard(self.spot, self.aside).map(|()| RollbackOutcome::Undone);
        }
        // A different name from that of the new file, which may exist in part: what comes here was at its place.
        let taken_away = format!("{}-", self.aside);
        let undo = FileRollback { aside: &taken_away, ..*self };
        if undo.beside()?.is_none() {
            match seen(self.changes, &self.spot.place)? {
                PathState::Holds(hash) if hash == *after => undo.changes.steps().set_aside(self.spot, &taken_away)?,
                PathState::Nothing => return Ok(RollbackOutcome::Untouched),
                other => return Ok(self.foreign(other)),
            }
        }
        // Another program may have saved to it at that moment.
        match undo.beside()? {
            Some(beside) if beside.hash != *after => undo.put_back(&beside).map(|()| RollbackOutcome::Left),
            Some(beside) => undo.discard(&beside),
            None => Ok(RollbackOutcome::Undone),
        }
    }

    fn remove(&self, before: Option<&ContentHash>) -> Result<RollbackOutcome, StoreError> {
        let Some(beside) = self.beside()? else { return Ok(RollbackOutcome::Untouched) };
        if before.is_some_and(|before| beside.hash == *before) {
            return match self.changes.steps().bring(self.spot, self.aside) {
                // Another program created a new one. That is kept; the old text is in the ledger.
                Err(StoreError::Exists) => self.discard(&beside).map(|_| RollbackOutcome::Left),
                brought => brought.map(|()| RollbackOutcome::Undone),
            };
        }
        self.put_back(&beside).map(|()| RollbackOutcome::Undone)
    }

    /// Ours has made way. At the last moment another program may have saved over it, or to it.
    fn drop_ours(&self, before: &ContentHash, after: &ContentHash) -> Result<RollbackOutcome, StoreError> {
        match self.beside()? {
            Some(beside) if beside.hash == *before => self.discard(&beside).map(|_| RollbackOutcome::Left),
            Some(beside) if beside.hash == *after => self.discard(&beside),
            Some(beside) => self.rescue(&beside).map(|()| RollbackOutcome::Undone),
            None => Ok(RollbackOutcome::Undone),
        }
    }

    /// The other program's text gets its place back, or a checkpoint if that place is taken.
    fn put_back(&self, beside: &InspectedFile) -> Result<(), StoreError> {
        match self.changes.steps().bring(self.spot, self.aside) {
            Err(StoreError::Exists) => self.rescue(beside),
            brought => brought,
        }
    }

    fn rescue(&self, beside: &InspectedFile) -> Result<(), StoreError> {
        if self.is_open(beside) {
            // It may not be complete yet.
            return Ok(());
        }
        rescue(self.changes, self.spot, self.aside, (&self.spot.place, &beside.bytes), self.now)
    }
}
