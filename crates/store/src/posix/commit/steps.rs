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
    /// The places it was about, the one where a file went before the one from which it went.
    pub(super) spots: Vec<EntryHandle>,
    /// The old file that now stands beside its place.
    pub(super) old: Option<OtherWriters>,
    /// The folder was there already, so it is not ours to remove.
    pub(super) found: bool,
}

impl TakenStep {
    fn at(spot: EntryHandle, old: Option<OtherWriters>) -> Self {
        Self { spots: vec![spot], old, found: false }
    }

    /// The same without anything held open. A process may have some thousand files open, and a change may have more.
    pub(super) fn let_go(self) -> Self {
        let old = self.old.map(|held| match held {
            // What was not read is not looked at again either.
            OtherWriters::Alone(None) => held,
            _ => OtherWriters::Unknown,
        });
        Self { spots: Vec::new(), old, found: self.found }
    }
}

/// Why a step was not taken.
pub(super) struct StepFailure {
    pub(super) error: StoreError,
    /// How much of it was done all the same.
    pub(super) extent: StepExtent,
}

impl From<StoreError> for StepFailure {
    fn from(error: StoreError) -> Self {
        Self { error, extent: StepExtent::Unknown }
    }
}

/// Takes one step and looks at what came of it.
pub(super) fn take(changes: &Committer, step: &JournalStep, bytes: &[u8]) -> Result<TakenStep, StepFailure> {
    let store = changes.steps();
    match step {
        JournalStep::MakeFolder { place } => {
            let made = store.make_folder(place)?;
            Ok(TakenStep { found: !made, ..TakenStep::at(store.spot(place)?, None) })
        }
        JournalStep::Create { place, aside, .. } => {
            let spot = store.spot(place)?;
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
            store.set_aside(&spot, aside)?;
            let Some(before) = before else {
                // It was not read, so there is nothing to compare; the trash has it.
                return Ok(TakenStep::at(spot, Some(OtherWriters::Alone(None))));
            };
            match store.inspect(&spot, Some(aside), changes.max_file_bytes) {
                Ok(found) if found.hash == *before => Ok(TakenStep::at(spot, Some(found.held))),
                // Taking steps back puts it where it was.
                Ok(found) => Err(StoreError::Changed { found: found.hash }.into()),
                Err(error) => Err(error.into()),
            }
        }
        JournalStep::Move { from, to, before } => {
            let (from, to) = (store.spot(from)?, store.spot(to)?);
            store.rename(&from, &to).map_err(|error| match error {
                StoreError::Missing | StoreError::Exists => StepFailure { error, extent: StepExtent::Nothing },
                error => error.into(),
            })?;
            if let Some(before) = before {
                let moved = |error| StepFailure { error, extent: StepExtent::All };
                let found = store.inspect(&to, None, changes.max_file_bytes).map_err(moved)?.hash;
                if found != *before {
                    return Err(moved(StoreError::Changed { found }));
                }
            }
            // Where it is now has to last before where it was does.
            Ok(TakenStep { spots: vec![to, from], ..TakenStep::default() })
        }
    }
}

/// However late one looks before a rename, another program can save between the look and the rename. So the two files
/// have changed places, and what is now out of the way is looked at. If it is somebody's newer work, ours makes way.
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

/// Whether the old file of a step is gone from beside its place. It stays if somebody can still write into it, or if it
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
    // It was let go, or the system could not tell: then it tells now, or it is waited for.
    let held = match held {
        OtherWriters::Unknown => match changes.steps().inspect(spot, Some(aside), changes.max_file_bytes) {
            Ok(found) if Some(&found.hash) == before => found.held,
            _ => return false,
        },
        held => held,
    };
    held.is_alone() && dispose(changes, step, spot, now).is_ok()
}

/// The old file of a step that is done goes where it belongs.
fn dispose(changes: &Committer, step: &JournalStep, spot: &EntryHandle, now: SystemTime) -> Result<(), StoreError> {
    match step {
        JournalStep::Remove { aside, to_trash: true, .. } => changes.steps().trash(spot, aside, now),
        JournalStep::Replace { aside, .. } | JournalStep::Remove { aside, .. } => changes.steps().discard(spot, aside),
        JournalStep::MakeFolder { .. } | JournalStep::Create { .. } | JournalStep::Move { .. } => Ok(()),
    }
}

/// For what is found to be somebody's work and has no place of its own any more.
pub(super) fn rescue(
    changes: &Committer,
    spot: &EntryHandle,
    aside: &str,
    (path, content): (&VaultPath, &[u8]),
    now: SystemTime,
) -> Result<(), StoreError> {
    let origin = ChangeOrigin { tool: String::new(), client: String::new(), time: now };
    let kept = changes.ledger.keep_late_save(path, content, &origin);
    let checkpoint = kept.map_err(|_| StoreError::NoCheckpoint)?;
    changes.expect_untold();
    changes.tell(super::VaultNews::LateSave { path: path.clone(), checkpoint });
    changes.steps().discard(spot, aside)
}
