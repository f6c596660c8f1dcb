//! Takes the steps of a change, one at a time.

use std::time::SystemTime;

use lapidary_note::ContentHash;

use super::{Committer, undo::StepExtent};
use crate::{
    VaultPath,
    posix::{ChangeOrigin, EntryHandle, FileNumber, JournalStep, OtherWriters, StoreError, SwapOutcome},
};

/// A step that was taken.
#[derive(Default)]
pub(super) struct TakenStep {
    /// The places it concerned, the destination of a file before its source.
    pub(super) spots: Vec<EntryHandle>,
    /// The old file that is now next to its place.
    pub(super) old: Option<OtherWriters>,
    /// The folder existed already, so it is not ours to remove.
    pub(super) found: bool,
}

impl TakenStep {
    fn at(spot: EntryHandle, old: Option<OtherWriters>) -> Self {
        Self { spots: vec![spot], old, found: false }
    }

    /// The same without open handles. A process may have some thousand files open, and a change may have more.
    pub(super) fn let_go(self) -> Self {
        let old = self.old.map(|held| match held {
            // Unread content is not checked again either.
            OtherWriters::Alone(None) => held,
            _ => OtherWriters::Unknown,
        });
        Self { spots: Vec::new(), old, found: self.found }
    }
}

/// Why a step failed.
pub(super) struct StepFailure {
    pub(super) error: StoreError,
    /// How much of it was done anyway.
    pub(super) extent: StepExtent,
}

impl From<StoreError> for StepFailure {
    fn from(error: StoreError) -> Self {
        Self { error, extent: StepExtent::Unknown }
    }
}

/// Takes one step and checks its result.
pub(super) fn take(changes: &Committer, step: &JournalStep, bytes: &[u8]) -> Result<TakenStep, StepFailure> {
    let store = changes.steps();
    match step {
        JournalStep::MakeFolder { place } => {
            let made = store.make_folder(place)?;
            Ok(TakenStep { found: !made, ..TakenStep::at(store.spot(place)?, None) })
        }
        JournalStep::Create { place, aside, .. } => {
            let spot = store.spot(place)?;
            // Written and synced next to its place first, so that the note appears complete or not at all.
            store.stage(&spot, aside, bytes, false)?;
            store.bring(&spot, aside)?;
            Ok(TakenStep::at(spot, None))
        }
        JournalStep::Replace { place, aside, before, .. } => {
            let spot = store.spot(place)?;
            let ours = store.stage(&spot, aside, bytes, true)?;
            match store.exchange(&spot, aside, before)? {
                SwapOutcome::Replaced => Ok(TakenStep::at(spot, None)),
                SwapOutcome::Changed => {
                    let held = expect_aside(changes, &spot, aside, before, ours)?;
                    Ok(TakenStep::at(spot, Some(held)))
                }
            }
        }
        JournalStep::Remove { place, aside, before, .. } => {
            let spot = store.spot(place)?;
            // Compared only after it has lost its name: no program can save under that name in between.
            store.set_aside(&spot, aside)?;
            let Some(before) = before else {
                // It was not read, so there is nothing to compare; the trash has it.
                return Ok(TakenStep::at(spot, Some(OtherWriters::Alone(None))));
            };
            match store.inspect(&spot, Some(aside), changes.max_file_bytes) {
                Ok(found) if found.hash == *before => Ok(TakenStep::at(spot, Some(found.held))),
                // Rolling back puts it where it was.
                Ok(found) => Err(StoreError::Changed { found: found.hash }.into()),
                Err(error) => Err(error.into()),
            }
        }
        JournalStep::Move { from, to, before } => {
            let (from, to) = (store.spot(from)?, store.spot(to)?);
            store.rename(&from, &to).map_err(|error| match error {
                // The rename did not happen, so what is at the destination is not ours to move back.
                StoreError::Missing | StoreError::Exists => StepFailure { error, extent: StepExtent::Nothing },
                error => error.into(),
            })?;
            // As with a removal: first moved, then compared.
            if let Some(before) = before {
                let moved = |error| StepFailure { error, extent: StepExtent::All };
                let found = store.inspect(&to, None, changes.max_file_bytes).map_err(moved)?.hash;
                if found != *before {
                    return Err(moved(StoreError::Changed { found }));
                }
            }
            // Its new place must be durable before the old one is removed.
            Ok(TakenStep { spots: vec![to, from], ..TakenStep::default() })
        }
    }
}

/// However late one checks before a rename, another program can save in between. So the two files are exchanged, and
/// the one moved out is checked. If it is another program's newer version, ours makes way.
fn expect_aside(
    changes: &Committer,
    spot: &EntryHandle,
    aside: &str,
    before: &ContentHash,
    ours: FileNumber,
) -> Result<OtherWriters, StoreError> {
    let refused = match changes.steps().inspect(spot, Some(aside), changes.max_file_bytes) {
        Ok(found) if found.hash == *before => return Ok(found.held),
        Ok(found) => StoreError::Changed { found: found.hash },
        Err(error) => error,
    };
    changes.steps().give_way(spot, aside, ours)?;
    Err(refused)
}

/// Whether the old file of a step is gone from its place. It stays if another program can still write to it, or if it
/// cannot be removed now.
pub(super) fn is_disposed(
    changes: &Committer,
    step: &JournalStep,
    spot: &EntryHandle,
    held: OtherWriters,
    now: SystemTime,
) -> bool {
    let (aside, before) = match step {
        JournalStep::Replace { aside, before, .. } => (aside, Some(before)),
        JournalStep::Remove { aside, before, .. } => (aside, before.as_ref()),
        JournalStep::MakeFolder { .. } | JournalStep::Create { .. } | JournalStep::Move { .. } => return true,
    };
    // It was released, or the system could not say: then it says so now, or we wait.
    let held = match held {
        OtherWriters::Unknown => match changes.steps().inspect(spot, Some(aside), changes.max_file_bytes) {
            Ok(found) if Some(&found.hash) == before => found.held,
            _ => return false,
        },
        held => held,
    };
    held.is_alone() && dispose(changes, step, spot, now).is_ok()
}

/// The old file of a finished step goes where it belongs.
fn dispose(changes: &Committer, step: &JournalStep, spot: &EntryHandle, now: SystemTime) -> Result<(), StoreError> {
    match step {
        JournalStep::Remove { aside, to_trash: true, .. } => changes.steps().trash(spot, aside, now),
        JournalStep::Replace { aside, .. } | JournalStep::Remove { aside, .. } => changes.steps().discard(spot, aside),
        JournalStep::MakeFolder { .. } | JournalStep::Create { .. } | JournalStep::Move { .. } => Ok(()),
    }
}

/// For another program's work that no longer has a place.
pub(super) fn rescue(
    changes: &Committer,
    spot: &EntryHandle,
    aside: &str,
    (path, content): (&VaultPath, &[u8]),
    now: SystemTime,
) -> Result<(), StoreError> {
    let origin = ChangeOrigin {
        tool: String::new(),
        client: String::new(),
        time: now,
        approval: None,
        call: None,
        restores: false,
    };
    // Stored before the file is removed. If that fails, the file stays and is tried again.
    let kept = changes.ledger.keep_late_save(path, content, &origin);
    let checkpoint = kept.map_err(|_| StoreError::NoCheckpoint)?;
    changes.expect_untold();
    changes.tell(super::VaultNews::LateSave { path: path.clone(), checkpoint });
    changes.steps().discard(spot, aside)
}
