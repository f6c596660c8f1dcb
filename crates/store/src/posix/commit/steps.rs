use std::time::SystemTime;

use lapidary_note::ContentHash;

use super::{Committer, undo::Extent};
use crate::{
    VaultPath,
    posix::{FileNumber, Held, Origin, Spot, Step, StoreError, Swap},
};

/// A step that was taken.
#[derive(Default)]
pub(super) struct Taken {
    /// The places it was about, the one where a file went before the one from which it went.
    pub(super) spots: Vec<Spot>,
    /// The old file that now stands beside its place.
    pub(super) old: Option<Held>,
    /// The folder was there already, so it is not ours to remove.
    pub(super) found: bool,
}

impl Taken {
    fn at(spot: Spot, old: Option<Held>) -> Self {
        Self { spots: vec![spot], old, found: false }
    }

    /// The same without anything held open. A process may have some thousand files open, and a change may have more.
    pub(super) fn let_go(self) -> Self {
        let old = self.old.map(|held| match held {
            // What was not read is not looked at again either.
            Held::Alone(None) => held,
            _ => Held::Unknown,
        });
        Self { spots: Vec::new(), old, found: self.found }
    }
}

/// Why a step was not taken.
pub(super) struct Failure {
    pub(super) error: StoreError,
    /// How much of it was done all the same.
    pub(super) extent: Extent,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self { error, extent: Extent::Unknown }
    }
}

/// Takes one step and looks at what came of it.
pub(super) fn take(changes: &Committer, step: &Step, bytes: &[u8]) -> Result<Taken, Failure> {
    let store = changes.steps();
    match step {
        Step::MakeFolder { place } => {
            let made = store.make_folder(place)?;
            Ok(Taken { found: !made, ..Taken::at(store.spot(place)?, None) })
        }
        Step::Create { place, aside, .. } => {
            let spot = store.spot(place)?;
            store.stage(&spot, aside, bytes, false)?;
            store.bring(&spot, aside)?;
            Ok(Taken::at(spot, None))
        }
        Step::Replace { place, aside, before, .. } => {
            let spot = store.spot(place)?;
            let ours = store.stage(&spot, aside, bytes, true)?;
            match store.exchange(&spot, aside, before)? {
                Swap::Replaced => Ok(Taken::at(spot, None)),
                Swap::Changed => {
                    let held = expect_aside(changes, &spot, aside, before, ours)?;
                    Ok(Taken::at(spot, Some(held)))
                }
            }
        }
        Step::Remove { place, aside, before, .. } => {
            let spot = store.spot(place)?;
            store.set_aside(&spot, aside)?;
            let Some(before) = before else {
                // It was not read, so there is nothing to compare; the trash has it.
                return Ok(Taken::at(spot, Some(Held::Alone(None))));
            };
            match store.inspect(&spot, Some(aside), changes.max_file_bytes) {
                Ok(found) if found.hash == *before => Ok(Taken::at(spot, Some(found.held))),
                // Taking steps back puts it where it was.
                Ok(found) => Err(StoreError::Changed { found: found.hash }.into()),
                Err(error) => Err(error.into()),
            }
        }
        Step::Move { from, to, before } => {
            let (from, to) = (store.spot(from)?, store.spot(to)?);
            store.rename(&from, &to).map_err(|error| match error {
                StoreError::Missing | StoreError::Exists => Failure { error, extent: Extent::Nothing },
                error => error.into(),
            })?;
            if let Some(before) = before {
                let moved = |error| Failure { error, extent: Extent::All };
                let found = store.inspect(&to, None, changes.max_file_bytes).map_err(moved)?.hash;
                if found != *before {
                    return Err(moved(StoreError::Changed { found }));
                }
            }
            // Where it is now has to last before where it was does.
            Ok(Taken { spots: vec![to, from], ..Taken::default() })
        }
    }
}

/// However late one looks before a rename, another program can save between the look and the rename. So the two files
/// have changed places, and what is now out of the way is looked at. If it is somebody's newer work, ours makes way.
fn expect_aside(
    changes: &Committer,
    spot: &Spot,
    aside: &str,
    before: &ContentHash,
    ours: FileNumber,
) -> Result<Held, StoreError> {
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
pub(super) fn is_disposed(changes: &Committer, step: &Step, spot: &Spot, held: Held, now: SystemTime) -> bool {
    let (aside, before) = match step {
        Step::Replace { aside, before, .. } => (aside, Some(before)),
        Step::Remove { aside, before, .. } => (aside, before.as_ref()),
        Step::MakeFolder { .. } | Step::Create { .. } | Step::Move { .. } => return true,
    };
    // It was let go, or the system could not tell: then it tells now, or it is waited for.
    let held = match held {
        Held::Unknown => match changes.steps().inspect(spot, Some(aside), changes.max_file_bytes) {
            Ok(found) if Some(&found.hash) == before => found.held,
            _ => return false,
        },
        held => held,
    };
    held.is_alone() && dispose(changes, step, spot, now).is_ok()
}

/// The old file of a step that is done goes where it belongs.
fn dispose(changes: &Committer, step: &Step, spot: &Spot, now: SystemTime) -> Result<(), StoreError> {
    match step {
        Step::Remove { aside, to_trash: true, .. } => changes.steps().trash(spot, aside, now),
        Step::Replace { aside, .. } | Step::Remove { aside, .. } => changes.steps().discard(spot, aside),
        Step::MakeFolder { .. } | Step::Create { .. } | Step::Move { .. } => Ok(()),
    }
}

/// For what is found to be somebody's work and has no place of its own any more.
pub(super) fn rescue(
    changes: &Committer,
    spot: &Spot,
    aside: &str,
    (path, content): (&VaultPath, &[u8]),
    now: SystemTime,
) -> Result<(), StoreError> {
    let origin = Origin { tool: String::new(), client: String::new(), time: now };
    let kept = changes.ledger.keep_late_save(path, content, &origin);
    let checkpoint = kept.map_err(|_| StoreError::NoCheckpoint)?;
    changes.expect_untold();
    changes.tell(super::News::LateSave { path: path.clone(), checkpoint });
    changes.steps().discard(spot, aside)
}
