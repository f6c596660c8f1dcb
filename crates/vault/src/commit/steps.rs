use std::time::SystemTime;

use lapidary_note::ContentHash;

use super::Changes;
use crate::store::{FileNumber, Held, Origin, Spot, Step, StoreError, Swap};

/// A step that was taken.
pub(super) struct Taken {
    pub(super) spot: Spot,
    /// The old file that now stands beside its place.
    pub(super) old: Option<Held>,
}

/// Takes one step and looks at what came of it. If that is not what was expected, the step is taken back.
pub(super) fn take(changes: &Changes, step: &Step, bytes: &[u8]) -> Result<Taken, StoreError> {
    let store = changes.steps();
    match step {
        Step::MakeFolder { place } => {
            store.make_folder(place)?;
            Ok(Taken { spot: store.spot(place)?, old: None })
        }
        Step::Create { place, aside, .. } => {
            let spot = store.spot(place)?;
            store.stage(&spot, aside, bytes, false)?;
            store.bring(&spot, aside)?;
            Ok(Taken { spot, old: None })
        }
        Step::Replace { place, aside, before, .. } => {
            let spot = store.spot(place)?;
            let ours = store.stage(&spot, aside, bytes, true)?;
            match store.exchange(&spot, aside, before)? {
                Swap::Replaced => Ok(Taken { spot, old: None }),
                Swap::Changed => {
                    let held = expect_aside(changes, &spot, aside, before, ours)?;
                    Ok(Taken { spot, old: Some(held) })
                }
            }
        }
        Step::Remove { place, aside, before, .. } => {
            let spot = store.spot(place)?;
            store.set_aside(&spot, aside)?;
            let Some(before) = before else {
                // It was not read, so there is nothing to compare; the trash has it.
                return Ok(Taken { spot, old: Some(Held::Alone(None)) });
            };
            match store.inspect(&spot, Some(aside), changes.max_file_bytes) {
                Ok(found) if found.hash == *before => Ok(Taken { spot, old: Some(found.held) }),
                // Taking steps back puts it where it was.
                Ok(found) => Err(StoreError::Changed { found: found.hash }),
                Err(error) => Err(error),
            }
        }
        Step::Move { from, to, before } => {
            let (from, to) = (store.spot(from)?, store.spot(to)?);
            store.rename(&from, &to)?;
            if let Some(before) = before {
                match store.inspect(&to, None, changes.max_file_bytes) {
                    Ok(found) if found.hash == *before => {}
                    Ok(found) => return Err(StoreError::Changed { found: found.hash }),
                    Err(error) => return Err(error),
                }
            }
            // Both folders have to last; one is as good as the other for the caller, so the second is seen to here.
            if from.place.folder() != to.place.folder() {
                store.sync(&from)?;
            }
            Ok(Taken { spot: to, old: None })
        }
    }
}

/// However late one looks before a rename, another program can save between the look and the rename. So the two files
/// have changed places, and what is now out of the way is looked at. If it is somebody's newer work, ours makes way.
fn expect_aside(
    changes: &Changes,
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

/// The old file of a step that is done goes where it belongs.
pub(super) fn dispose(changes: &Changes, step: &Step, spot: &Spot, now: SystemTime) -> Result<(), StoreError> {
    match step {
        Step::Remove { aside, to_trash: true, .. } => changes.steps().trash(spot, aside, now),
        Step::Replace { aside, .. } | Step::Remove { aside, .. } => changes.steps().discard(spot, aside),
        Step::MakeFolder { .. } | Step::Create { .. } | Step::Move { .. } => Ok(()),
    }
}

/// For what is found to be somebody's work and has no place of its own any more.
pub(super) fn rescue(
    changes: &Changes,
    spot: &Spot,
    aside: &str,
    content: &[u8],
    now: SystemTime,
) -> Result<(), StoreError> {
    let origin = Origin { tool: String::new(), client: String::new(), time: now };
    let kept = changes.ledger.keep_late_save(&spot.place, content, &origin);
    let checkpoint = kept.map_err(|_| StoreError::NoCheckpoint)?;
    changes.untold.store(true, std::sync::atomic::Ordering::Release);
    changes.tell(super::News::LateSave { path: spot.place.clone(), checkpoint });
    changes.steps().discard(spot, aside)
}
