//! The inputs of a call other than its arguments: caller, clock, budgets, cancellation.

use std::{
    cell::{Cell, LazyCell},
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use jiff::Zoned;
use lapidary_note::ContentHash;
use lapidary_vault::{ElapsedTime, ScanStop, VaultPath};
use serde::{Deserialize, Serialize};

use crate::{
    AppFacts, AttachmentAccess, Catalogue, Effect, Interruption, ListedPrompt, MemoryBudget, OwnerSettings, Reason,
    ServerRequests, VaultShape, WebRequests,
};

/// What a call has in addition to the vault. The same context and view give the same answer.
pub struct Context<'a> {
    pub cancel: &'a Cancel,
    pub catalogue: &'a Catalogue,
    pub author: &'a ChangeAuthor,
    /// The names of all vaults available to the caller.
    pub vaults: &'a [String],
    pub limits: ToolLimits,
    /// What it may hold in memory.
    pub budget: MemoryBudget,
    /// The folder of the vaults in which every note is a playbook.
    pub skills: Option<&'a VaultPath>,
    /// The folder of the vaults in which assistants keep what they remember.
    pub memory: Option<&'a VaultPath>,
    /// What the owner says about the vaults.
    pub owner: &'a OwnerSettings,
    /// How the owner wants the vaults to look.
    pub shape: &'a VaultShape,
    /// For tools that make, show and run recipes.
    pub recipes: RecipeAccess<'a>,
    /// For tools that read and add attachments.
    pub attachments: AttachmentAccess<'a>,
    /// When the call was made, in the owner's time zone. Few tools need it, and looking up a zone takes a while.
    pub now: LazyCell<Zoned, &'a dyn Fn() -> Zoned>,
    /// The latest lines of the vault's log, oldest first, for a tool that needs them.
    pub log: &'a [String],
    /// The playbooks of all vaults, for a tool that needs them.
    pub playbooks: &'a [ListedPrompt],
    /// The cost of walking through the vault. A call is planned on one thread.
    pub walked: &'a Cell<Option<WalkCost>>,
    /// The Obsidian app of the vault, if it can be looked for.
    pub app: Option<&'a dyn AppFacts>,
    /// The web, if the owner opened some of it.
    pub web: Option<WebRequests<'a>>,
    /// Other MCP servers, if the owner configured any.
    pub servers: Option<ServerRequests<'a>>,
    /// For long work: tells a waiting caller how far it has come.
    pub progress: ShareReport<'a>,
    /// Whether the answer is for later steps of a run and not for a model: lists are then as long as they may be.
    pub in_steps: bool,
}

/// What a call may know of recipes.
#[derive(Clone, Copy, Default)]
pub struct RecipeAccess<'a> {
    /// The folder of the vaults that has them; without one there are none.
    pub folder: Option<&'a VaultPath>,
    /// What the owner approved here, by name, for a tool that needs it.
    pub approved: Option<&'a BTreeMap<String, ContentHash>>,
    /// Those that can be run, for a tool that needs them.
    pub runnable: &'a [RunnableRecipe],
}

/// A recipe that the caller can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnableRecipe {
    pub name: String,
    pub vault: String,
    pub description: String,
    /// Like `title: text, limit?: number`.
    pub arguments: String,
    pub effect: Effect,
}

/// Reports the share of long work that is done, in per cent and each once. Only the share: a number of notes would
/// reveal those that the caller may not read.
#[derive(Default)]
pub struct ShareReport<'a> {
    listener: Option<&'a (dyn Fn(u8) + Sync)>,
    reached: AtomicU8,
}

impl<'a> ShareReport<'a> {
    pub fn to(listener: &'a (dyn Fn(u8) + Sync)) -> Self {
        Self { listener: Some(listener), reached: AtomicU8::new(0) }
    }

    pub fn report(&self, done: u64, total: u64) {
        let Some(listener) = self.listener else { return };
        // More can be done than there was in total. Nothing to do is all done.
        let percent = done.min(total).saturating_mul(100).checked_div(total).unwrap_or(100);
        let percent = u8::try_from(percent).unwrap_or(100);
        // The largest share so far wins, so that a listener never sees progress go back.
        if self.reached.fetch_max(percent, Ordering::Relaxed) < percent {
            listener(percent);
        }
    }
}

/// The author under which the changes of a caller are recorded and recognised as its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeAuthor {
    /// Stays the same across connections: the program that starts the server, or the name of a token.
    client: String,
    /// Its process or session; empty if it has only one.
    connection: String,
    /// When the connection began. Earlier changes of the same client were made in earlier connections.
    since: SystemTime,
    /// Whether other callers may have the same client and connection.
    is_shared: bool,
    /// Whether every change counts as its own.
    #[serde(default)]
    is_owner: bool,
}

/// The owner of a recorded change, relative to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOwnership {
    ThisConnection,
    /// Another connection of the same client, or one that cannot be distinguished from this.
    SameClient,
    OtherClient,
}

/// Separates client and connection. It occurs in no connection.
const MARK: char = '#';

impl ChangeAuthor {
    /// A client that is identified by its only connection.
    pub fn single(client: String) -> Self {
        // Since the epoch: all of its changes have the same signature and are recognised by that.
        let (connection, since) = (String::new(), SystemTime::UNIX_EPOCH);
        Self { client, connection, since, is_shared: false, is_owner: false }
    }

    /// The owner of the vaults, who may undo what any client did.
    pub fn owner(client: String) -> Self {
        Self { is_owner: true, ..Self::single(client) }
    }

    /// One of several connections of a client.
    pub fn connected(client: String, connection: &str, since: SystemTime) -> Self {
        // A program chooses its own name; it must not be able to claim another client by writing the separator.
        Self { connection: connection.replace(MARK, "_"), since, ..Self::single(client) }
    }

    /// Callers without a session: others may use the same name at the same time.
    pub fn shared(client: String, program: &str) -> Self {
        // A program without a session has no beginning, so no change counts as made before it.
        Self { is_shared: true, ..Self::connected(client, program, SystemTime::UNIX_EPOCH) }
    }

    pub fn client(&self) -> &str {
        &self.client
    }

    /// The text that is recorded with a change.
    pub fn signature(&self) -> String {
        let Self { client, connection, .. } = self;
        if connection.is_empty() { client.clone() } else { format!("{client}{MARK}{connection}") }
    }

    /// The client of a recorded change, without its connection.
    pub fn client_of(signature: &str) -> &str {
        // From the right: the name of a client may contain the mark, a connection never does.
        signature.rsplit_once(MARK).map_or(signature, |(client, _)| client)
    }

    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Whether it is the owner, and not an assistant.
    pub fn is_owner(&self) -> bool {
        self.is_owner
    }

    /// The owner of a change with this signature.
    pub fn whose(&self, signature: &str) -> ChangeOwnership {
        let client = Self::client_of(signature);
        match () {
            // Of a shared signature, nothing says that this caller made the change.
            () if signature == self.signature() && !self.is_shared => ChangeOwnership::ThisConnection,
            () if signature == self.signature() => ChangeOwnership::SameClient,
            // A client with a single connection shares it with no other.
            () if client == self.client && !self.connection.is_empty() => ChangeOwnership::SameClient,
            () if self.is_owner => ChangeOwnership::SameClient,
            () => ChangeOwnership::OtherClient,
        }
    }

    /// Whether `undo` reverts it without an id: made in this connection, or by the same client before it reconnected.
    /// Later changes of the same client were made in another window.
    pub fn is_own(&self, signature: &str, time: SystemTime) -> bool {
        match self.whose(signature) {
            ChangeOwnership::ThisConnection => true,
            // A shared name says too little for an undo without an id, except for the owner, who may undo anything.
            ChangeOwnership::SameClient => self.is_owner || (!self.is_shared && time < self.since),
            ChangeOwnership::OtherClient => false,
        }
    }
}

/// What the owner lets a tool do in one call; 0 means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolLimits {
    /// Examined before the tool answers with what it has.
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
///
/// Clones are the same token.
#[derive(Clone, Debug)]
pub struct Cancel {
    state: Arc<AtomicU8>,
    /// The number of checks, and its limit: for tests that count instead of waiting.
    checks: Arc<AtomicU64>,
    most_checks: u64,
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
        Self {
            state: Arc::new(AtomicU8::new(RUNNING)),
            checks: Arc::default(),
            most_checks: u64::MAX,
            started: ElapsedTime::start(),
            allowed,
            to_answer: Duration::ZERO,
        }
    }

    /// Cancelled after this number of checks, regardless of time.
    #[must_use]
    pub fn with_most_checks(self, most_checks: u64) -> Self {
        Self { most_checks, ..self }
    }

    /// The number of checks so far.
    pub fn checks(&self) -> u64 {
        self.checks.load(Ordering::Relaxed)
    }

    /// For a call that checks [`Self::left`] itself and returns partial results: it is cut off only if it does not.
    #[must_use]
    pub fn with_time_to_answer(self, to_answer: Duration) -> Self {
        Self { to_answer, ..self }
    }

    /// Stops the call if it can still be stopped, and says whether it could.
    pub fn take_back(&self) -> bool {
        // A change in progress goes on, and the wish is noted for the case that nothing is changed after all.
        let next = |state| Some(if matches!(state, CHANGING | CHANGING_LAST) { CHANGING_LAST } else { TAKEN_BACK });
        self.state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next)
            .is_ok_and(|before| !matches!(before, CHANGING | CHANGING_LAST))
    }

    /// Whether the caller took the call back after its effect had begun: it waits for no answer.
    pub fn is_unwanted(&self) -> bool {
        matches!(self.state.load(Ordering::Acquire), TAKEN_BACK | CHANGING_LAST)
    }

    /// Whether a change has started and may already be on disk.
    pub fn is_changing(&self) -> bool {
        matches!(self.state.load(Ordering::Acquire), CHANGING | CHANGING_LAST)
    }

    /// Call it right before a change; afterwards [`Self::take_back`] comes too late.
    pub fn begin_change(&self) -> Result<(), Reason> {
        // The time may be up; then nothing may be changed any more.
        self.check()?;
        // In one step: between a check and a store, the caller could still take the call back.
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
        // From a monotonic clock: the system's time may be set while a call runs.
        self.allowed.saturating_sub(self.started.elapsed())
    }

    /// How long until the call is cut off.
    pub fn remaining(&self) -> Duration {
        self.allowed.saturating_add(self.to_answer).saturating_sub(self.started.elapsed())
    }

    pub fn check(&self) -> Result<(), Reason> {
        // Counted even if there is no limit, so that a test can find out how many checks a call makes.
        if self.checks.fetch_add(1, Ordering::Relaxed) >= self.most_checks {
            self.take_back();
        }
        // Before the deadline, so that a cancelled call is never reported as slow.
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
    fn a_change_belongs_to_the_connection_and_to_the_client_that_made_it() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let window = |name: &str, mark, since| ChangeAuthor::connected(format!("stdio:~{name}"), mark, at(since));
        let (first, second) = (window("Claude", "aa", 10), window("Claude", "bb", 20));
        assert_eq!(first.whose(&first.signature()), ChangeOwnership::ThisConnection);
        assert_eq!(second.whose(&first.signature()), ChangeOwnership::SameClient);
        assert!(second.is_own(&first.signature(), at(15)), "before a restart");
        assert!(!second.is_own(&first.signature(), at(25)), "in another window");
        assert!(!first.is_own(&second.signature(), at(25)));
        // A program cannot choose its name so that it counts as another.
        let forger = window("Claude#aa", "cc", 20);
        assert_eq!(forger.whose(&first.signature()), ChangeOwnership::OtherClient);
        assert_eq!(first.whose(&forger.signature()), ChangeOwnership::OtherClient);
        let (ada, adam) =
            (ChangeAuthor::shared("http:ada".to_owned(), "~x#y"), ChangeAuthor::single("http:a".to_owned()));
        assert_eq!(ada.whose(&ada.signature()), ChangeOwnership::SameClient);
        assert!(!ada.is_own(&ada.signature(), at(0)), "others may come under the same name");
        assert_eq!(adam.whose(&ada.signature()), ChangeOwnership::OtherClient);
        let owner = ChangeAuthor::owner("cli".to_owned());
        assert!(owner.is_own(&ada.signature(), at(0)) && owner.is_own(&owner.signature(), at(0)));
        assert_eq!(first.whose(&owner.signature()), ChangeOwnership::OtherClient);
    }

    #[test]
    fn a_call_past_its_deadline_is_stopped() {
        assert!(Cancel::after(Duration::ZERO).check().is_err());
        let answering = Cancel::after(Duration::ZERO).with_time_to_answer(Duration::from_secs(60));
        assert!(answering.left().is_zero() && answering.check().is_ok());
    }
}
