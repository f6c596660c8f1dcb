//! The stages of a call, in order, one file each.

pub(crate) mod active_note;
mod admit;
mod approve;
mod authorize;
pub(crate) mod check;
mod commit;
pub(crate) mod find;
pub(crate) mod judge;
mod narrow;
pub(crate) mod observe;
mod plan;
pub(crate) mod record;

use lapidary_tools::Reason;

use crate::execution::{Execution, StageFlow};

type Stage = fn(&mut Execution<'_>) -> Result<StageFlow, Reason>;

/// The stages of a call until it ends. The result is then observed and recorded, however it ended.
pub(crate) const STAGES: [(&str, Stage); 9] = [
    ("find", find::run),
    ("authorize", authorize::run),
    ("check", check::run),
    ("admit", admit::run),
    ("narrow", narrow::run),
    ("plan", plan::run),
    ("judge", judge::run),
    ("approve", approve::run),
    ("commit", commit::run),
];

/// Where a call starts, and starts over with the tool that a relay names.
pub(crate) const FIND: usize = 0;
/// Where it continues when it has to be planned again.
pub(crate) const NARROW: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stages_to_return_to_are_the_right_ones() {
        assert_eq!((STAGES[FIND].0, STAGES[NARROW].0), ("find", "narrow"));
    }
}
