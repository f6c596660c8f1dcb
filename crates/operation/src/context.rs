use std::{
    cell::{Cell, LazyCell},
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use jiff::Zoned;
use lapidary_vault::{ScanStop, VaultPath};
use serde::{Deserialize, Serialize};

use crate::{Catalogue, Interruption, ListedPrompt, MemoryBudget, Reason};

/// What a call knows besides the vault. The same context and view give the same answer.
pub struct Context<'a> {
    pub cancel: &'a Cancel,
    pub catalogue: &'a Catalogue,
    pub author: &'a ChangeAuthor,
    /// The names of all vaults that there are for the caller.
    pub vaults: &'a [String],
    pub scan: ScanLimits,
    /// What it may hold in memory.
    pub budget: MemoryBudget,
    /// The folder of the vaults in which every note is a playbook.
    pub skills: Option<&'a VaultPath>,
    /// When the call was made, by the clock on the owner's wall. Few ask, and a zone takes a while to look up.
    pub now: LazyCell<Zoned, &'a dyn Fn() -> Zoned>,
    /// The latest lines of the vault's log, oldest first, for a tool that needs them.
    pub log: &'a [String],
    /// The playbooks of all vaults, for a tool that needs them.
    pub playbooks: &'a [ListedPrompt],
    /// What a walk through the vault cost. A call is planned on one thread.
    pub walked: &'a Cell<Option<WalkCost>>,
}

/// What the changes of a caller are recorded under, and by which it finds its own again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeAuthor {
    /// What stays the same when the client comes back: the program that starts the server, the name of a token.
    client: String,
    /// Which of its processes or sessions this is; empty if it has only one.
    connection: String,
    /// When the connection began. What the same client changed before that, it did in an earlier one.
    since: SystemTime,
    /// Whether others may come with the same client and connection: nothing tells whose a change is.
    is_shared: bool,
}

/// Whose a recorded change is, seen from a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOwnership {
    ThisConnection,
    /// Another connection of the same client, or one that cannot be told from this.
    SameClient,
    OtherClient,
}

/// Stands between client and connection, and occurs in no connection.
const MARK: char = '#';

impl ChangeAuthor {
    /// A client that nothing but its connection tells from others, or that has one connection for ever.
    pub fn single(client: String) -> Self {
        Self { client, connection: String::new(), since: SystemTime::UNIX_EPOCH, is_shared: false }
    }

    /// One of the connections of a client that comes back.
    pub fn connected(client: String, connection: &str, since: SystemTime) -> Self {
        Self { client, connection: connection.replace(MARK, "_"), since, is_shared: false }
    }

    /// Callers without a session: others may come under the same name at the same time.
    pub fn shared(client: String, program: &str) -> Self {
        Self { is_shared: true, ..Self::connected(client, program, SystemTime::UNIX_EPOCH) }
    }

    /// What a change is recorded under.
    pub fn signature(&self) -> String {
        let Self { client, connection, .. } = self;
        if connection.is_empty() { client.clone() } else { format!("{client}{MARK}{connection}") }
    }

    /// The client of a recorded change, without which of its connections it was.
    pub fn client_of(signature: &str) -> &str {
        signature.rsplit_once(MARK).map_or(signature, |(client, _)| client)
    }

    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Whose a change is that was recorded under this.
    pub fn whose(&self, signature: &str) -> ChangeOwnership {
        let client = Self::client_of(signature);
        match () {
            () if signature == self.signature() && !self.is_shared => ChangeOwnership::ThisConnection,
            () if signature == self.signature() => ChangeOwnership::SameClient,
            // Who has one connection is not the client of another.
            () if client == self.client && !self.connection.is_empty() => ChangeOwnership::SameClient,
            () => ChangeOwnership::OtherClient,
        }
    }

    /// Whether it is undone without being named: made here, or by the same client before it connected again. What it
    /// changed since then, it did in another window.
    pub fn is_own(&self, signature: &str, time: SystemTime) -> bool {
        match self.whose(signature) {
            ChangeOwnership::ThisConnection => true,
            ChangeOwnership::SameClient => !self.is_shared && time < self.since,
            ChangeOwnership::OtherClient => false,
        }
    }
}

/// How much a call may look through before it answers with what it has, and how much it may ask for; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanLimits {
    pub max_files: u64,
    pub max_bytes: u64,
    /// Of one batch.
    pub max_operations: u64,
}

/// What a walk through the vault cost, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkCost {
    pub files: u64,
    pub bytes: u64,
    /// Why it ended before all was seen.
    pub stopped: Option<ScanStop>,
}

impl Context<'_> {
    /// To be asked inside loops and before costly steps.
    pub fn check(&self) -> Result<(), Reason> {
        self.cancel.check()
    }
}

/// Says when a call has to stop: the caller took it back, or its time is up. Once a change is under way it can no
/// longer be taken back, so a call that is reported as stopped has changed nothing.
///
/// Clones are the same token.
#[derive(Clone, Debug)]
pub struct Cancel {
    state: Arc<AtomicU8>,
    /// How often it was asked, and how often it may be: for tests that count instead of waiting.
    checks: Arc<AtomicU64>,
    most_checks: u64,
    started: Instant,
    allowed: Duration,
    /// What a call that answers with what it has may take beyond that.
    to_answer: Duration,
}

const RUNNING: u8 = 0;
const CHANGING: u8 = 1;
const TAKEN_BACK: u8 = 2;
/// Taken back while a change was being tried. If that comes to nothing, the call ends.
const CHANGING_LAST: u8 = 3;

impl Cancel {
    pub fn after(allowed: Duration) -> Self {
        Self {
            state: Arc::new(AtomicU8::new(RUNNING)),
            checks: Arc::default(),
            most_checks: u64::MAX,
            started: Instant::now(),
            allowed,
            to_answer: Duration::ZERO,
        }
    }

    /// Taken back when it has been asked so often, however long that takes.
    #[must_use]
    pub fn with_most_checks(self, most_checks: u64) -> Self {
        Self { most_checks, ..self }
    }

    /// How often it has been asked.
    pub fn checks(&self) -> u64 {
        self.checks.load(Ordering::Relaxed)
    }

    /// For a call that looks at [`Self::left`] itself and answers with what it has: only if it does not, it is cut off.
    #[must_use]
    pub fn with_time_to_answer(self, to_answer: Duration) -> Self {
        Self { to_answer, ..self }
    }

    /// Whether the call can still be stopped; if so, it is.
    pub fn take_back(&self) -> bool {
        let next = |state| Some(if matches!(state, CHANGING | CHANGING_LAST) { CHANGING_LAST } else { TAKEN_BACK });
        self.state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next)
            .is_ok_and(|before| !matches!(before, CHANGING | CHANGING_LAST))
    }

    /// Whether a change has begun that may already be on disk.
    pub fn is_changing(&self) -> bool {
        matches!(self.state.load(Ordering::Acquire), CHANGING | CHANGING_LAST)
    }

    /// To be asked right before a change, after which [`Self::take_back`] comes too late.
    pub fn begin_change(&self) -> Result<(), Reason> {
        self.check()?;
        match self.state.compare_exchange(RUNNING, CHANGING, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(()),
            Err(_) => Err(Reason::Interrupted(Interruption::TakenBack)),
        }
    }

    /// Nothing was changed after all; the call can be stopped again, and is if that was asked for meanwhile.
    pub fn end_change(&self) {
        let next = |state| Some(if state == CHANGING_LAST { TAKEN_BACK } else { RUNNING });
        // An update that always has a next state cannot fail.
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
        if self.checks.fetch_add(1, Ordering::Relaxed) >= self.most_checks {
            self.take_back();
        }
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
        assert!(changing.begin_change().is_err(), "taken back meanwhile");

        let tried_twice = Cancel::after(Duration::from_secs(60));
        assert!(tried_twice.begin_change().is_ok() && tried_twice.is_changing());
        tried_twice.end_change();
        assert!(tried_twice.begin_change().is_ok(), "nobody took it back");
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
    }

    #[test]
    fn time_runs_out() {
        assert!(Cancel::after(Duration::ZERO).check().is_err());
        let answering = Cancel::after(Duration::ZERO).with_time_to_answer(Duration::from_secs(60));
        assert!(answering.left().is_zero() && answering.check().is_ok());
    }
}
