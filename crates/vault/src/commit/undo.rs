//! Taking steps back. What was done is read off the disk, so it makes no difference whether we did it a moment ago or
//! another server did it before it was killed; and it can be done twice.

use std::time::SystemTime;

use lapidary_note::ContentHash;

use super::{Changes, steps::rescue};
use crate::{
    VaultPath,
    store::{Inspected, Spot, Step, StoreError, Swap},
};

/// What became of a step that was to be taken back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It was never taken.
    Untouched,
    /// It is as it was before.
    Undone,
    /// Somebody has changed the file since, and that stands.
    Left,
}

/// Takes steps back, the last first. Returns the files that somebody has changed since, which stay as they are.
pub(super) fn take_back(changes: &Changes, steps: &[Step], now: SystemTime) -> Result<Vec<VaultPath>, StoreError> {
    let mut left = Vec::new();
    for step in steps.iter().rev() {
        let outcome = match step {
            Step::MakeFolder { place } => changes.steps().remove_folder(place).map(|()| Outcome::Untouched),
            Step::Replace { place, aside, before, after } => {
                let Some(spot) = there(changes, place)? else { continue };
                let undo = Undo { changes, spot: &spot, aside, now };
                undo.replace(before, after)
            }
            Step::Create { place, aside, after } => {
                let Some(spot) = there(changes, place)? else { continue };
                Undo { changes, spot: &spot, aside, now }.create(after)
            }
            Step::Remove { place, aside, before, .. } => {
                let Some(spot) = there(changes, place)? else { continue };
                Undo { changes, spot: &spot, aside, now }.remove(before.as_ref())
            }
            Step::Move { from, to, .. } => move_back(changes, from, to),
        };
        match (outcome?, path_of(step)) {
            (Outcome::Left, Some(place)) => left.push(place.clone()),
            (Outcome::Undone, Some(place)) => {
                if let Some(spot) = there(changes, place)? {
                    changes.steps().sync(&spot)?;
                }
            }
            (Outcome::Untouched, _) | (_, None) => {}
        }
    }
    Ok(left)
}

/// Whether all steps were taken, as far as the disk tells. Of a place that several have to do with, the last one tells.
pub(super) fn were_all_taken(changes: &Changes, steps: &[Step]) -> Result<bool, StoreError> {
    for (index, step) in steps.iter().enumerate() {
        let is_last = |place: &VaultPath| !steps[index + 1..].iter().any(|later| places_of(later).contains(&place));
        if !was_taken(changes, step, &is_last)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn was_taken(changes: &Changes, step: &Step, is_last: &dyn Fn(&VaultPath) -> bool) -> Result<bool, StoreError> {
    let look = |place: &VaultPath, aside: Option<&str>| match there(changes, place)? {
        Some(spot) => inspect(changes, &spot, aside),
        None => Ok(None),
    };
    Ok(match step {
        // Without it none of the next was taken.
        Step::MakeFolder { .. } => true,
        Step::Replace { place, .. } | Step::Create { place, .. } | Step::Remove { place, .. } if !is_last(place) => {
            true
        }
        Step::Replace { place, aside, before, after } => match (look(place, Some(aside))?, look(place, None)?) {
            (_, Some(there)) if there.hash == *before || there.hash == *after => there.hash == *after,
            // Somebody has changed the place since. Beside it stands the old file, or ours, whole or in part.
            (Some(beside), _) => beside.hash == *before,
            // Old files go only when all is done.
            (None, _) => true,
        },
        Step::Create { place, aside, .. } => look(place, Some(aside))?.is_none() && exists(changes, place)?,
        Step::Remove { place, aside, .. } => !exists(changes, place)? || look(place, Some(aside))?.is_some(),
        Step::Move { from, to, .. } => {
            !(is_last(from) && exists(changes, from)?) && (!is_last(to) || exists(changes, to)?)
        }
    })
}

/// The place, if its folder is still there.
pub(super) fn there(changes: &Changes, place: &VaultPath) -> Result<Option<Spot>, StoreError> {
    match changes.steps().spot(place) {
        Err(StoreError::Missing) => Ok(None),
        spot => spot.map(Some),
    }
}

pub(super) fn inspect(changes: &Changes, spot: &Spot, aside: Option<&str>) -> Result<Option<Inspected>, StoreError> {
    match changes.steps().inspect(spot, aside, changes.max_file_bytes) {
        Err(StoreError::Missing) => Ok(None),
        found => found.map(Some),
    }
}

/// Whether anything is there, if only something that cannot be read.
fn exists(changes: &Changes, place: &VaultPath) -> Result<bool, StoreError> {
    let Some(spot) = there(changes, place)? else { return Ok(false) };
    match inspect(changes, &spot, None) {
        Ok(found) => Ok(found.is_some()),
        Err(StoreError::IsFolder | StoreError::NotAFile | StoreError::TooLarge { .. } | StoreError::NotPermitted) => {
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

/// All places that a step has to do with.
pub(super) fn places_of(step: &Step) -> Vec<&VaultPath> {
    match step {
        Step::Move { from, to, .. } => vec![from, to],
        Step::MakeFolder { place }
        | Step::Replace { place, .. }
        | Step::Create { place, .. }
        | Step::Remove { place, .. } => vec![place],
    }
}

fn path_of(step: &Step) -> Option<&VaultPath> {
    match step {
        Step::MakeFolder { .. } => None,
        Step::Replace { place, .. } | Step::Create { place, .. } | Step::Remove { place, .. } => Some(place),
        Step::Move { from, .. } => Some(from),
    }
}

fn move_back(changes: &Changes, from: &VaultPath, to: &VaultPath) -> Result<Outcome, StoreError> {
    if exists(changes, from)? {
        // It was never moved; or it was, and somebody made a new one: both stay where they are.
        return Ok(Outcome::Untouched);
    }
    let (Some(from), Some(to)) = (there(changes, from)?, there(changes, to)?) else { return Ok(Outcome::Untouched) };
    match changes.steps().rename(&to, &from) {
        Err(StoreError::Missing) => Ok(Outcome::Untouched),
        Err(StoreError::Exists) => Ok(Outcome::Left),
        moved => {
            moved?;
            changes.steps().sync(&to)?;
            Ok(Outcome::Undone)
        }
    }
}

/// One file of which a step is taken back.
struct Undo<'a> {
    changes: &'a Changes,
    spot: &'a Spot,
    aside: &'a str,
    now: SystemTime,
}

impl Undo<'_> {
    fn discard(&self) -> Result<(), StoreError> {
        self.changes.steps().discard(self.spot, self.aside)
    }

    fn beside(&self) -> Result<Option<Inspected>, StoreError> {
        inspect(self.changes, self.spot, Some(self.aside))
    }

    fn replace(&self, before: &ContentHash, after: &ContentHash) -> Result<Outcome, StoreError> {
        let store = self.changes.steps();
        let there = match inspect(self.changes, self.spot, None) {
            // Somebody put something else there.
            Err(StoreError::IsFolder | StoreError::NotAFile | StoreError::TooLarge { .. }) => None,
            there => there?,
        };
        match (self.beside()?, there) {
            // Ours was staged and never took the place, or made way again; or the disk failed while it was staged.
            (Some(beside), there) if beside.hash == *after || there.as_ref().is_some_and(|it| it.hash == *before) => {
                self.discard()?;
                Ok(Outcome::Untouched)
            }
            (Some(_), Some(there)) if there.hash == *after => {
                store.give_way(self.spot, self.aside, there.number)?;
                self.discard()?;
                Ok(Outcome::Undone)
            }
            // Somebody has saved, moved or removed what we had put there. That stands; the old text is in the ledger.
            (Some(beside), _) => {
                if beside.hash == *before {
                    self.discard()?;
                } else {
                    rescue(self.changes, self.spot, self.aside, &beside.bytes, self.now)?;
                }
                Ok(Outcome::Left)
            }
            // On a disk that cannot exchange, the old file is only in the ledger.
            (None, Some(there)) if there.hash == *after => {
                let old = self.changes.ledger.content(before).map_err(|_| StoreError::NoCheckpoint)?;
                let old = old.ok_or(StoreError::NoCheckpoint)?;
                let number = store.stage(self.spot, self.aside, &old, true)?;
                match store.exchange(self.spot, self.aside, after)? {
                    Swap::Replaced => Ok(Outcome::Undone),
                    Swap::Changed if self.beside()?.is_some_and(|beside| beside.hash == *after) => {
                        self.discard()?;
                        Ok(Outcome::Undone)
                    }
                    Swap::Changed => {
                        store.give_way(self.spot, self.aside, number)?;
                        self.discard()?;
                        Ok(Outcome::Left)
                    }
                }
            }
            (None, Some(there)) if there.hash == *before => Ok(Outcome::Untouched),
            (None, _) => Ok(Outcome::Left),
        }
    }

    fn create(&self, after: &ContentHash) -> Result<Outcome, StoreError> {
        if self.beside()?.is_some() {
            self.discard()?;
            return Ok(Outcome::Untouched);
        }
        match inspect(self.changes, self.spot, None) {
            Ok(Some(there)) if there.hash == *after => {}
            Ok(None) => return Ok(Outcome::Untouched),
            Ok(Some(_)) | Err(StoreError::IsFolder | StoreError::NotAFile | StoreError::TooLarge { .. }) => {
                return Ok(Outcome::Left);
            }
            Err(error) => return Err(error),
        }
        self.changes.steps().set_aside(self.spot, self.aside)?;
        // Somebody may have saved into it in that moment.
        match self.beside()? {
            Some(beside) if beside.hash == *after => {
                self.discard()?;
                Ok(Outcome::Undone)
            }
            Some(beside) => self.put_back(&beside).map(|()| Outcome::Left),
            None => Ok(Outcome::Undone),
        }
    }

    fn remove(&self, before: Option<&ContentHash>) -> Result<Outcome, StoreError> {
        let beside = match self.beside() {
            // Too large to be looked into: it was not read before either.
            Err(StoreError::TooLarge { .. }) => {
                return self.changes.steps().bring(self.spot, self.aside).map(|()| Outcome::Undone);
            }
            beside => beside?,
        };
        let Some(beside) = beside else { return Ok(Outcome::Untouched) };
        if before.is_some_and(|before| beside.hash == *before) {
            return match self.changes.steps().bring(self.spot, self.aside) {
                // Somebody made a new one. That stands; the old text is in the ledger.
                Err(StoreError::Exists) => self.discard().map(|()| Outcome::Left),
                brought => brought.map(|()| Outcome::Undone),
            };
        }
        self.put_back(&beside).map(|()| Outcome::Undone)
    }

    /// Somebody's text gets its place back, or a checkpoint if that place is taken.
    fn put_back(&self, beside: &Inspected) -> Result<(), StoreError> {
        match self.changes.steps().bring(self.spot, self.aside) {
            Err(StoreError::Exists) => rescue(self.changes, self.spot, self.aside, &beside.bytes, self.now),
            brought => brought,
        }
    }
}
