//! What a place holds in the course of a change. Steps leave no marks of their own on the disk, so how far a change got
//! is read off what is found there.

use lapidary_note::ContentHash;

use super::Changes;
use crate::{
    VaultPath,
    commit::undo::{inspect, there},
    store::{Step, StoreError},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Nothing,
    Holds(ContentHash),
    /// A folder, or a file that was not read.
    Something,
}

impl State {
    fn holding(hash: Option<ContentHash>) -> Self {
        hash.map_or(Self::Something, Self::Holds)
    }

    pub(super) fn is_there(self) -> bool {
        self != Self::Nothing
    }
}

/// What is at a place now.
pub(super) fn seen(changes: &Changes, place: &VaultPath) -> Result<State, StoreError> {
    let Some(spot) = there(changes, place)? else { return Ok(State::Nothing) };
    match inspect(changes, &spot, None) {
        Ok(found) => Ok(found.map_or(State::Nothing, |found| State::Holds(found.hash))),
        Err(StoreError::IsFolder | StoreError::NotAFile | StoreError::TooLarge { .. } | StoreError::NotPermitted) => {
            Ok(State::Something)
        }
        Err(error) => Err(error),
    }
}

/// What these steps find at a place and leave there, in order.
pub(super) fn course(steps: &[Step], place: &VaultPath) -> Vec<State> {
    steps.iter().filter_map(|step| passage(step, place)).flatten().collect()
}

/// Whether a place still is as it was at some time before these steps were over, and not as they leave it.
pub(super) fn is_earlier(steps: &[Step], place: &VaultPath, seen: State) -> bool {
    let course = course(steps, place);
    let Some((last, earlier)) = course.split_last() else { return false };
    let unread = |state: &State| *state == State::Something;
    match seen {
        _ if seen == *last => false,
        _ if earlier.contains(&seen) => true,
        State::Nothing => false,
        _ => !unread(last) && earlier.iter().any(unread),
    }
}

fn passage(step: &Step, place: &VaultPath) -> Option<[State; 2]> {
    match step {
        Step::Replace { place: at, before, after, .. } if at == place => {
            Some([State::Holds(*before), State::Holds(*after)])
        }
        Step::Create { place: at, after, .. } if at == place => Some([State::Nothing, State::Holds(*after)]),
        Step::Remove { place: at, before, .. } if at == place => Some([State::holding(*before), State::Nothing]),
        Step::Move { from, before, .. } if from == place => Some([State::holding(*before), State::Nothing]),
        Step::Move { to, before, .. } if to == place => Some([State::Nothing, State::holding(*before)]),
        _ => None,
    }
}

/// All places that a step has to do with, the one where a file goes before the one from which it goes.
pub(super) fn places_of(step: &Step) -> Vec<&VaultPath> {
    match step {
        Step::Move { from, to, .. } => vec![to, from],
        Step::MakeFolder { place }
        | Step::Replace { place, .. }
        | Step::Create { place, .. }
        | Step::Remove { place, .. } => vec![place],
    }
}

/// What a place is called after these steps, some of which may move folders in which it lies.
pub(super) fn called_after(steps: &[Step], place: &VaultPath) -> VaultPath {
    let carried = |place: VaultPath, step: &Step| match step {
        Step::Move { from, to, .. } if place != *from && place.is_within(from) => {
            VaultPath::spelt(&format!("{to}{}", &place.as_str()[from.as_str().len()..])).unwrap_or(place)
        }
        _ => place,
    };
    steps.iter().fold(place.clone(), carried)
}
