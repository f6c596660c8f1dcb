//! How far a change got. Steps leave no marks on the disk, so it is derived from the current state: every place goes
//! through a sequence of contents during a change.

use lapidary_note::ContentHash;

use super::Committer;
use crate::{
    VaultPath,
    posix::{EntryHandle, InspectedFile, JournalStep, StoreError},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathState {
    Nothing,
    Holds(ContentHash),
    /// A folder, or a file that was not read.
    Something,
}

impl PathState {
    fn holding(hash: Option<ContentHash>) -> Self {
        hash.map_or(Self::Something, Self::Holds)
    }

    pub(super) fn is_there(self) -> bool {
        self != Self::Nothing
    }
}

/// What is at a place now.
pub(super) fn seen(changes: &Committer, place: &VaultPath) -> Result<PathState, StoreError> {
    let Some(spot) = there(changes, place)? else { return Ok(PathState::Nothing) };
    match inspect(changes, &spot, None) {
        Ok(found) => Ok(found.map_or(PathState::Nothing, |found| PathState::Holds(found.hash))),
        Err(StoreError::IsFolder | StoreError::NotAFile | StoreError::TooLarge { .. } | StoreError::NotPermitted) => {
            Ok(PathState::Something)
        }
        Err(error) => Err(error),
    }
}

/// The contents that these steps find at a place and leave there, in order.
pub(super) fn course(steps: &[JournalStep], place: &VaultPath) -> Vec<PathState> {
    steps.iter().filter_map(|step| passage(step, place)).flatten().collect()
}

/// Whether a place is still in a state from before these steps were finished, not in their final state.
pub(super) fn is_earlier(steps: &[JournalStep], place: &VaultPath, seen: PathState) -> bool {
    let course = course(steps, place);
    let Some((last, earlier)) = course.split_last() else { return false };
    let unread = |state: &PathState| *state == PathState::Something;
    match seen {
        // A state that occurs both earlier and last counts as the last: a finished change must not be undone.
        _ if seen == *last => false,
        _ if earlier.contains(&seen) => true,
        PathState::Nothing => false,
        // Unread content cannot be compared, so anything may be it, unless the last state was not read either.
        _ => !unread(last) && earlier.iter().any(unread),
    }
}

fn passage(step: &JournalStep, place: &VaultPath) -> Option<[PathState; 2]> {
    match step {
        JournalStep::Replace { place: at, before, after, .. } if at == place => {
            Some([PathState::Holds(*before), PathState::Holds(*after)])
        }
        JournalStep::Create { place: at, after, .. } if at == place => {
            Some([PathState::Nothing, PathState::Holds(*after)])
        }
        JournalStep::Remove { place: at, before, .. } if at == place => {
            Some([PathState::holding(*before), PathState::Nothing])
        }
        JournalStep::Move { from, before, .. } if from == place => {
            Some([PathState::holding(*before), PathState::Nothing])
        }
        JournalStep::Move { to, before, .. } if to == place => Some([PathState::Nothing, PathState::holding(*before)]),
        _ => None,
    }
}

/// All places that a step concerns, the destination of a file before its source.
pub(super) fn places_of(step: &JournalStep) -> Vec<&VaultPath> {
    match step {
        JournalStep::Move { from, to, .. } => vec![to, from],
        JournalStep::MakeFolder { place }
        | JournalStep::Replace { place, .. }
        | JournalStep::Create { place, .. }
        | JournalStep::Remove { place, .. } => vec![place],
    }
}

/// The name of a place after these steps, some of which may move folders around it.
pub(super) fn called_after(steps: &[JournalStep], place: &VaultPath) -> VaultPath {
    let carried = |place: VaultPath, step: &JournalStep| match step {
        JournalStep::Move { from, to, .. } if place != *from && place.is_within(from) => {
            VaultPath::spelt(&format!("{to}{}", &place.as_str()[from.as_str().len()..])).unwrap_or(place)
        }
        _ => place,
    };
    steps.iter().fold(place.clone(), carried)
}

/// Whether all steps were taken, as far as the disk shows. If a place was changed since, so that it does not show, they
/// count as taken: a change that was reported to a caller must not be undone.
pub(super) fn were_all_taken(changes: &Committer, steps: &[JournalStep]) -> Result<bool, StoreError> {
    for (index, step) in steps.iter().enumerate() {
        // A new file still beside its place was staged, and the step that gives it its name was not reached.
        if let JournalStep::Create { place, aside, .. } = step
            && is_beside(changes, &called_after(&steps[index..], place), aside)?
        {
            return Ok(false);
        }
        for place in places_of(step) {
            let later = &steps[index + 1..];
            // Only the last step at a place leaves a mark there; earlier ones are covered by it.
            let is_last = !later.iter().any(|later| places_of(later).contains(&place));
            if is_last && !was_taken(changes, &steps[..=index], place, &called_after(later, place))? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether the last of these steps was taken, which is the last that concerns this place. It may have another name by
/// now.
fn was_taken(
    changes: &Committer,
    steps: &[JournalStep],
    place: &VaultPath,
    called: &VaultPath,
) -> Result<bool, StoreError> {
    let seen = seen(changes, called)?;
    match steps.last() {
        // Without it none of the following steps was taken.
        None | Some(JournalStep::MakeFolder { .. }) => Ok(true),
        // Another program may have created a new one.
        Some(JournalStep::Remove { aside, .. }) if is_beside(changes, called, aside)? => Ok(true),
        _ if is_earlier(steps, place, seen) => Ok(false),
        Some(JournalStep::Replace { aside, before, after, .. }) if seen != PathState::Holds(*after) => {
            let Some(spot) = there(changes, called)? else { return Ok(true) };
            // The old file, or ours, complete or in part. Old files are removed only when all is done.
            Ok(inspect(changes, &spot, Some(aside))?.is_none_or(|beside| beside.hash == *before))
        }
        _ => Ok(true),
    }
}

/// The place, if its folder still exists and is not a link out of the vault put there meanwhile.
pub(super) fn there(changes: &Committer, place: &VaultPath) -> Result<Option<EntryHandle>, StoreError> {
    match changes.steps().spot(place) {
        Err(StoreError::Missing) => Ok(None),
        Err(StoreError::Outside) if !changes.steps().follows() => Ok(None),
        spot => spot.map(Some),
    }
}

pub(super) fn inspect(
    changes: &Committer,
    spot: &EntryHandle,
    aside: Option<&str>,
) -> Result<Option<InspectedFile>, StoreError> {
    // A file next to its place has to be handled, however large it has become.
    let limit = if aside.is_some() { u64::MAX } else { changes.max_file_bytes };
    match changes.steps().inspect(spot, aside, limit) {
        Err(StoreError::Missing) => Ok(None),
        found => found.map(Some),
    }
}

fn is_beside(changes: &Committer, place: &VaultPath, aside: &str) -> Result<bool, StoreError> {
    let Some(spot) = there(changes, place)? else { return Ok(false) };
    Ok(inspect(changes, &spot, Some(aside))?.is_some())
}
