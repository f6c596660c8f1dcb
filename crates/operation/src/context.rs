//! The inputs of a call other than its arguments: caller, clock, budgets, cancellation.

use std::{
    cell::{Cell, LazyCell},
    sync::atomic::{AtomicU8, Ordering},
    time::Duration,
};

use jiff::Zoned;
use lapidary_vault::{ElapsedTime, ScanStop, VaultPath};

use crate::{Catalogue, Interruption, ListedPrompt, MemoryBudget, Reason};

/// What a call has in addition to the vault. The same context and view give the same answer.
pub struct Context<'a> {
    pub cancel: &'a Cancel,
    pub catalogue: &'a Catalogue,
    pub author: Author<'a>,
    /// The names of all vaults available to the caller.
    pub vaults: &'a [String],
    pub scan: ScanLimits,
    /// What it may hold in memory.
    pub budget: MemoryBudget,
    /// The folder of the vaults in which every note is a playbook.
    pub skills: Option<&'a VaultPath>,
    /// When the call was made, in the owner's time zone. Few tools need it, and looking up a zone takes a while.
    pub now: LazyCell<Zoned, &'a dyn Fn() -> Zoned>,
    /// The latest lines of the vault's log, oldest first, for a tool that needs them.
    pub log: &'a [String],
    /// The playbooks of all vaults, for a tool that needs them.
    pub playbooks: &'a [ListedPrompt],
    /// The cost of walking through the vault. A call is planned on one thread.
    pub walked: &'a Cell<Option<WalkCost>>,
}

/// Who the caller is, as far as needed to recognise its own changes.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    /// Identifies this connection.
    pub id: &'a str,
    /// Identifies the client across connections, if anything does.
    pub name: Option<&'a str>,
}

impl Author<'_> {
    /// Whether a change was recorded under this client.
    pub fn is(&self, client: &str) -> bool {
        let of_name =
            |name: &str| client.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
        client == self.id || self.name.is_some_and(of_name)
    }
}

/// How much a call may examine before it answers with what it has, and how much it may request; 0 means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanLimits {
    pub max_files: u64,
    pub max_bytes: u64,
    /// For one batch.
    pub max_operations: u64,
}

/// The cost of walking through the vault, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkCost {
    pub files: u64,
    pub bytes: u64,
    /// Why it ended early.
    pub stopped: Option<ScanStop>,
}

impl Context<'_> {
    /// Check it inside loops and before expensive steps.
    pub fn check(&self) -> Result<(), Reason> {
        self.cancel.check()
    }
}

/// Says when a call has to stop: the caller cancelled it, or its time is up. Once a change is in progress it can no
/// longer be cancelled, so a call that is reported as stopped has changed nothing.
#[derive(Debug)]
pub struct Cancel {
    state: AtomicU8,
    started: ElapsedTime,
    allowed: Duration,
    /// Extra time for a call that answers with partial results.
    to_answer: Duration,
}

const RUNNING: u8 = 0;
const CHANGING: u8 = 1;
const TAKEN_BACK: u8 = 2;
/// Cancelled while a change was being tried. If the change fails, the call ends.
const CHANGING_LAST: u8 = 3;

impl Cancel {
    pub fn after(allowed: Duration) -> Self {
        Self { state: AtomicU8::new(RUNNING), started: ElapsedTime::start(), allowed, to_answer: Duration::ZERO }
    }

    /// For a call that checks [`Self::left`] itself and returns partial results: it is cut off only if it does not.
    #[must_use]
    pub fn with_time_to_answer(self, to_answer: Duration) -> Self {
        Self { to_answer, ..self }
    }

    /// Stops the call if it can still be stopped, and says whether it could.
    pub fn take_back(&self) -> bool {
        let next = |state| Some(if matches!(state, CHANGING | CHANGING_LAST) { CHANGING_LAST } else { TAKEN_BACK });
        self.state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next)
            .is_ok_and(|before| !matches!(before, CHANGING | CHANGING_LAST))
    }

    /// Whether a change has started and may already be on disk.
    pub fn is_changing(&self) -> bool {
        matches!(self.state.load(Ordering::Acquire), CHANGING | CHANGING_LAST)
    }

    /// Call it right before a change; afterwards [`Self::take_back`] comes too late.
    pub fn begin_change(&self) -> Result<(), Reason> {
        self.check()?;
        match self.state.compare_exchange(RUNNING, CHANGING, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(()),
            Err(_) => Err(Reason::Interrupted(Interruption::TakenBack)),
        }
    }

    /// Nothing was changed after all; the call can be stopped again, and is if that was requested meanwhile.
    pub fn end_change(&self) {
        let next = |state| Some(if state == CHANGING_LAST { TAKEN_BACK } else { RUNNING });
        // An update that always returns a next state cannot fail.
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).unwrap_or_default();
    }

    pub fn allowed(&self) -> Duration {
        self.allowed
    }

    /// How much of the allowed time is left.
    pub fn left(&self) -> Duration {
        self.allowed.saturating_sub(self.started.elapsed())
    }

    /// How long until the call is cut off.
    pub fn remaining(&self) -> Duration {
        self.allowed.saturating_add(self.to_answer).saturating_sub(self.started.elapsed())
    }

    pub fn check(&self) -> Result<(), Reason> {
        if self.state.load(Ordering::Acquire) == TAKEN_BACK {
            return Err(Reason::Interrupted(Interruption::TakenBack));
        }
        if self.remaining().is_zero() {
            return Err(Reason::Interrupted(Interruption::Deadline { allowed: self.allowed }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_either_stopped_or_changes_something_never_both() {
        let stopped = Cancel::after(Duration::from_secs(60));
        assert!(stopped.take_back());
        assert!(stopped.begin_change().is_err());

        let changing = Cancel::after(Duration::from_secs(60));
        assert!(changing.begin_change().is_ok());
        assert!(!changing.take_back());
        changing.end_change();
        assert!(changing.begin_change().is_err(), "cancelled meanwhile");

        let tried_twice = Cancel::after(Duration::from_secs(60));
        assert!(tried_twice.begin_change().is_ok() && tried_twice.is_changing());
        tried_twice.end_change();
        assert!(tried_twice.begin_change().is_ok(), "it was not cancelled");
    }

    #[test]
    fn a_call_past_its_deadline_is_stopped() {
        assert!(Cancel::after(Duration::ZERO).check().is_err());
        let answering = Cancel::after(Duration::ZERO).with_time_to_answer(Duration::from_secs(60));
        assert!(answering.left().is_zero() && answering.check().is_ok());
    }
}
