//! Taking steps back. What was done is read off the disk, so it makes no difference whether we did it a moment ago or
//! another server did it before it was killed; and it can be done twice.

use std::{
    cell::Cell,
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

use lapidary_note::ContentHash;

use super::{
    Committer,
    course::{State, inspect, is_earlier, places_of, seen, there},
    steps::rescue,
};
use crate::{
    VaultPath,
    posix::{Beside, Held, Inspected, Spot, Step, StoreError, Swap},
};

const MOMENT: Duration = Duration::from_millis(2);
const MOMENTS: usize = 10;

/// What became of a step that was to be taken back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing of it was there.
    Untouched,
    /// It is as it was before.
    Undone,
    /// Somebody has changed the file since, and that stands.
    Left,
}

/// What is left of steps that were taken back.
#[derive(Default)]
pub(super) struct Undone {
    /// Files that somebody has changed since, which stay as they are.
    pub(super) left: Vec<VaultPath>,
    /// Files beside their places that somebody has open.
    pub(super) beside: Vec<Beside>,
}

/// How much of a step was done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Nothing,
    /// As much as the disk tells.
    Unknown,
    All,
}

/// Takes steps back, the last first.
pub(super) fn take_back(
    changes: &Committer,
    steps: &[Step],
    extent: &dyn Fn(usize) -> Extent,
    now: SystemTime,
) -> Result<Undone, StoreError> {
    let mut undone = Undone::default();
    let mut touched = Vec::new();
    for (index, step) in steps.iter().enumerate().rev() {
        let earlier = match extent(index) {
            Extent::Nothing => continue,
            Extent::Unknown => &steps[..index],
            // What is found is not what was there before.
            Extent::All => &[],
        };
        let (outcome, place) = match step {
            Step::MakeFolder { place } => {
                // What was in it has to be elsewhere for good before it goes.
                sync(changes, &std::mem::take(&mut touched))?;
                (remove_folder(changes, place)?, place)
            }
            Step::Move { from, to, before } => (move_back(changes, earlier, from, to, before.as_ref())?, from),
            Step::Replace { place, aside, .. }
            | Step::Create { place, aside, .. }
            | Step::Remove { place, aside, .. } => {
                let Some(spot) = there(changes, place)? else { continue };
                let undo = Undo { changes, spot: &spot, aside, earlier, now, open: &Cell::default() };
                let outcome = undo.step(step)?;
                if let Some(aside) = undo.open.take() {
                    undone.beside.push(Beside {
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
            Outcome::Untouched => {}
            Outcome::Undone => touched.extend(places_of(step)),
            Outcome::Left if undone.left.contains(place) => {}
            Outcome::Left => undone.left.push(place.clone()),
        }
    }
    // What was taken back has to last before it is forgotten.
    sync(changes, &touched)?;
    Ok(undone)
}

/// Brings the names in the folders of these places to disk.
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

fn remove_folder(changes: &Committer, place: &VaultPath) -> Result<Outcome, StoreError> {
    if !seen(changes, place)?.is_there() {
        return Ok(Outcome::Untouched);
    }
    changes.steps().remove_folder(place)?;
    Ok(Outcome::Undone)
}

fn move_back(
    changes: &Committer,
    earlier: &[Step],
    from: &VaultPath,
    to: &VaultPath,
    before: Option<&ContentHash>,
) -> Result<Outcome, StoreError> {
    let (at_from, at_to) = (seen(changes, from)?, seen(changes, to)?);
    let moved = |state| before.is_some_and(|before| state == State::Holds(*before));
    match (at_from.is_there(), at_to.is_there()) {
        // It was moved, and somebody made a new one: both stay where they are.
        (true, true) if moved(at_to) && !moved(at_from) => Ok(Outcome::Left),
        (true, _) => Ok(Outcome::Untouched),
        // An earlier step was to bring it, and did not; or one was to clear the other place, and did not.
        (false, _) if is_earlier(earlier, from, State::Nothing) && !moved(at_to) => Ok(Outcome::Untouched),
        (false, _) if is_earlier(earlier, to, at_to) => Ok(Outcome::Untouched),
        // Somebody has taken it away.
        (false, false) => Ok(Outcome::Left),
        (false, true) => {
            let (Some(from), Some(to)) = (there(changes, from)?, there(changes, to)?) else {
                return Ok(Outcome::Left);
            };
            match changes.steps().rename(&to, &from) {
                Err(StoreError::Missing | StoreError::Exists | StoreError::NotAFile) => Ok(Outcome::Left),
                moved => moved.map(|()| Outcome::Undone),
            }
        }
    }
}

/// The name for an old text that is brought back: another than that of the new one, which may be there in part.
fn restoring(aside: &str) -> String {
    format!("{aside}+")
}

/// One file of which a step is taken back.
struct Undo<'a> {
    changes: &'a Committer,
    spot: &'a Spot,
    aside: &'a str,
    /// The steps before this one, if it may be that only they were taken.
    earlier: &'a [Step],
    now: SystemTime,
    /// The name of the file beside the place, if somebody has it open.
    open: &'a Cell<Option<String>>,
}

impl Undo<'_> {
    fn step(&self, step: &Step) -> Result<Outcome, StoreError> {
        match step {
            Step::Replace { before, after, .. } => self.replace(before, after),
            Step::Create { after, .. } => self.create(after),
            Step::Remove { before, .. } => self.remove(before.as_ref()),
            Step::MakeFolder { .. } | Step::Move { .. } => Ok(Outcome::Untouched),
        }
    }

    /// Ours goes, unless somebody found it at its place and still has it open.
    fn discard(&self, beside: &Inspected) -> Result<Outcome, StoreError> {
        if !self.is_open(beside) {
            self.changes.steps().discard(self.spot, self.aside)?;
        }
        Ok(Outcome::Undone)
    }

    fn is_open(&self, beside: &Inspected) -> bool {
        let open = !beside.held.is_alone();
        if open {
            self.open.set(Some(self.aside.to_owned()));
        }
        open
    }

    /// Whoever has it open is often done in a moment: a program that saves, or one that we are starting ourselves and
    /// that holds what we hold until it runs.
    fn beside(&self) -> Result<Option<Inspected>, StoreError> {
        for _ in 0..MOMENTS {
            match inspect(self.changes, self.spot, Some(self.aside))? {
                Some(Inspected { held: Held::InUse, .. }) => std::thread::sleep(MOMENT),
                beside => return Ok(beside),
            }
        }
        inspect(self.changes, self.spot, Some(self.aside))
    }

    /// What is at the place is none of ours. Either nothing was done to it, because an earlier step did not get so far, or
    /// somebody has changed it since.
    fn foreign(&self, seen: State) -> Outcome {
        if is_earlier(self.earlier, &self.spot.place, seen) { Outcome::Untouched } else { Outcome::Left }
    }

    fn replace(&self, before: &ContentHash, after: &ContentHash) -> Result<Outcome, StoreError> {
        let there = match inspect(self.changes, self.spot, None) {
            // Somebody put something else there.
            Err(StoreError::IsFolder | StoreError::NotAFile | StoreError::TooLarge { .. }) => None,
            there => there?,
        };
        let is_old = |file: &Inspected| file.hash == *before;
        let is_ours = |file: &Inspected| file.hash == *after;
        self.end_restore(there.as_ref().is_some_and(is_ours), before, after)?;
        let state = there.as_ref().map_or(State::Nothing, |there| State::Holds(there.hash));
        let never_there = state == State::Holds(*before) || self.foreign(state) == Outcome::Untouched;
        match (self.beside()?, there) {
            // Ours was staged and never took the place, or made way again.
            (Some(beside), _) if is_ours(&beside) || never_there => self.discard(&beside),
            (Some(_), Some(there)) if is_ours(&there) => {
                self.changes.steps().give_way(self.spot, self.aside, there.number)?;
                self.drop_ours(before, after)
            }
            // Somebody has saved, moved or removed what we had put there. That stands; the old text is in the ledger.
            (Some(beside), _) if is_old(&beside) || beside.bytes.is_empty() => {
                self.discard(&beside).map(|_| Outcome::Left)
            }
            (Some(beside), _) => self.rescue(&beside).map(|()| Outcome::Left),
            // On a disk that cannot exchange, the old file is only in the ledger.
            (None, Some(there)) if is_ours(&there) => self.restore(before, after),
            (None, Some(there)) if is_old(&there) => Ok(Outcome::Untouched),
            (None, _) => Ok(self.foreign(state)),
        }
    }

    fn restore(&self, before: &ContentHash, after: &ContentHash) -> Result<Outcome, StoreError> {
        let old = self.changes.ledger.content(before).map_err(|_| StoreError::NoCheckpoint)?;
        let old = old.ok_or(StoreError::NoCheckpoint)?;
        let store = self.changes.steps();
        let aside = restoring(self.aside);
        let undo = Undo { aside: &aside, ..*self };
        let number = store.stage(self.spot, &aside, &old, true)?;
        if store.exchange(self.spot, &aside, after)? == Swap::Replaced {
            return Ok(Outcome::Undone);
        }
        match undo.beside()? {
            Some(beside) if beside.hash == *after => undo.discard(&beside),
            _ => {
                store.give_way(self.spot, &aside, number)?;
                undo.drop_ours(after, before).map(|_| Outcome::Left)
            }
        }
    }

    /// Somebody was killed while they restored the old text.
    fn end_restore(&self, is_ours: bool, before: &ContentHash, after: &ContentHash) -> Result<(), StoreError> {
        let aside = restoring(self.aside);
        let undo = Undo { aside: &aside, ..*self };
        match undo.beside()? {
            None => Ok(()),
            // It never took the place, and may be there in part.
            Some(_) if is_ours => self.changes.steps().discard(self.spot, &aside),
            Some(_) => undo.drop_ours(before, after).map(|_| ()),
        }
    }

    fn create(&self, after: &ContentHash) -> Result<Outcome, StoreError> {
        if self.beside()?.is_some() {
            // It never had a name that others know.
            return self.changes.steps().discard(self.spot, self.aside).map(|()| Outcome::Undone);
        }
        // Another name than that of the new file, which may be there in part: what comes here was at its place.
        let taken_away = format!("{}-", self.aside);
        let undo = Undo { aside: &taken_away, ..*self };
        if undo.beside()?.is_none() {
            match seen(self.changes, &self.spot.place)? {
                State::Holds(hash) if hash == *after => undo.changes.steps().set_aside(self.spot, &taken_away)?,
                State::Nothing => return Ok(Outcome::Untouched),
                other => return Ok(self.foreign(other)),
            }
        }
        // Somebody may have saved into it in that moment.
        match undo.beside()? {
            Some(beside) if beside.hash != *after => undo.put_back(&beside).map(|()| Outcome::Left),
            Some(beside) => undo.discard(&beside),
            None => Ok(Outcome::Undone),
        }
    }

    fn remove(&self, before: Option<&ContentHash>) -> Result<Outcome, StoreError> {
        let Some(beside) = self.beside()? else { return Ok(Outcome::Untouched) };
        if before.is_some_and(|before| beside.hash == *before) {
            return match self.changes.steps().bring(self.spot, self.aside) {
                // Somebody made a new one. That stands; the old text is in the ledger.
                Err(StoreError::Exists) => self.discard(&beside).map(|_| Outcome::Left),
                brought => brought.map(|()| Outcome::Undone),
            };
        }
        self.put_back(&beside).map(|()| Outcome::Undone)
    }

    /// Ours has made way. In the last moment somebody may have saved over it, or into it.
    fn drop_ours(&self, before: &ContentHash, after: &ContentHash) -> Result<Outcome, StoreError> {
        match self.beside()? {
            Some(beside) if beside.hash == *before => self.discard(&beside).map(|_| Outcome::Left),
            Some(beside) if beside.hash == *after => self.discard(&beside),
            Some(beside) => self.rescue(&beside).map(|()| Outcome::Undone),
            None => Ok(Outcome::Undone),
        }
    }

    /// Somebody's text gets its place back, or a checkpoint if that place is taken.
    fn put_back(&self, beside: &Inspected) -> Result<(), StoreError> {
        match self.changes.steps().bring(self.spot, self.aside) {
            Err(StoreError::Exists) => self.rescue(beside),
            brought => brought,
        }
    }

    fn rescue(&self, beside: &Inspected) -> Result<(), StoreError> {
        if self.is_open(beside) {
            // It may not be all yet.
            return Ok(());
        }
        rescue(self.changes, self.spot, self.aside, (&self.spot.place, &beside.bytes), self.now)
    }
}
