use std::{
    cell::Cell,
    io::ErrorKind,
    sync::{Arc, Mutex, MutexGuard, TryLockError},
    time::{Duration, SystemTime},
};

use lapidary_note::ContentHash;

use crate::{
    Change, ChangeSet, Guard, Policy, Receipt, RulesError, Scope, VaultPath, View,
    scope::ScopeKeeper,
    store::{Store, StoreError, TurnFile},
};

/// How often somebody who waits for the turn looks again.
const LOOK_AGAIN: Duration = Duration::from_micros(500);

/// One vault: views of it for readers, and the one place where it changes.
pub struct Vault {
    name: String,
    store: Arc<dyn Store>,
    scope: ScopeKeeper,
    /// Changes of one server take turns; readers never wait.
    writer: Mutex<()>,
    /// Servers on the same vault take turns too.
    turns: Option<TurnFile>,
}

/// Why a change set was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {error}")]
pub struct CommitError {
    pub path: VaultPath,
    pub error: StoreError,
    pub guard: Guard,
    /// What the plan saw there.
    pub before: Option<ContentHash>,
}

impl Vault {
    /// A vault that other servers may change as well; they agree on the file by which they take turns.
    pub fn shared(name: String, store: Arc<dyn Store>, turns: TurnFile) -> Self {
        Self { name, store, scope: ScopeKeeper::default(), writer: Mutex::default(), turns: Some(turns) }
    }

    /// A vault that only this process knows.
    pub fn private(name: String, store: Arc<dyn Store>) -> Self {
        Self { name, store, scope: ScopeKeeper::default(), writer: Mutex::default(), turns: None }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same vault, of which callers may use only what the policy opens.
    #[must_use]
    pub fn under(mut self, policy: Policy) -> Self {
        self.scope = ScopeKeeper::new(policy);
        self
    }

    pub fn policy(&self) -> &Policy {
        self.scope.policy()
    }

    /// What callers may read and change now, by the policy and by the rule files in the vault. As long as the rules
    /// say the same, this is the same `Arc`.
    pub fn scope(&self, now: SystemTime) -> Result<Arc<Scope>, RulesError> {
        self.scope.scope(&*self.store, now)
    }

    pub fn view(&self, scope: Arc<Scope>, max_file_bytes: u64) -> View {
        View::new(Arc::clone(&self.store), scope, max_file_bytes)
    }

    /// Waits, as long as it is told to, until no other change of ours is under way. Whoever holds the turn can plan and
    /// commit without another caller in between; it is never held while a person is asked.
    pub fn turn(&self, go_on: &dyn Fn() -> bool) -> Result<Turn<'_>, TurnError> {
        let writer = loop {
            match self.writer.try_lock() {
                Ok(writer) => break writer,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                // Not simply waited for: whoever holds it may wait for a disk that never answers.
                Err(TryLockError::WouldBlock) if go_on() => std::thread::sleep(LOOK_AGAIN),
                Err(TryLockError::WouldBlock) => return Err(TurnError::GivenUp),
            }
        };
        // Without the lock two servers could overwrite each other, so there is no change without it.
        let lock =
            self.turns.as_ref().map(|turns| turns.take(go_on)).transpose().map_err(|error| match error.kind() {
                ErrorKind::WouldBlock => TurnError::GivenUp,
                // Where the state is kept follows from where the vault is.
                ErrorKind::NotFound => TurnError::VaultGone,
                _ => TurnError::NoState,
            })?;
        Ok(Turn { store: &*self.store, _writer: writer, _lock: lock })
    }
}

/// Why there was no turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    #[error("the wait was given up")]
    GivenUp,
    #[error("the vault's folder is not there")]
    VaultGone,
    #[error("the state folder cannot be used")]
    NoState,
}

/// The right to change a vault.
pub struct Turn<'a> {
    store: &'a dyn Store,
    _writer: MutexGuard<'a, ()>,
    /// Given back when it is closed, also by a process that dies.
    _lock: Option<std::fs::File>,
}

impl Turn<'_> {
    /// Carries out a change set, in order, each file compared with what is on disk and replaced in one step.
    ///
    /// The scope is asked again here, about each path and about where it really leads.
    pub fn commit(&self, set: &ChangeSet, scope: &Scope) -> Result<Receipt, CommitError> {
        for change in &set.changes {
            let unseen = Cell::new(false);
            let open = |place: &VaultPath| {
                let open = scope.may_write(place).is_ok();
                unseen.set(unseen.get() || (!open && scope.may_read(place).is_err()));
                open
            };
            // A link to a place that the caller may not even see looks like a link that leads nowhere.
            let narrowed = |error, nowhere| if error == StoreError::Closed && unseen.get() { nowhere } else { error };
            let (result, guard) = match change {
                Change::Write { path, guard, .. } if !open(path) => (Err(StoreError::Closed), *guard),
                Change::Create { path, .. } if !open(path) => (Err(StoreError::Closed), Guard::Plan),
                Change::Write { path, before, guard, bytes } => {
                    let replaced = self.store.replace(path, &before.hash, bytes, &open);
                    (replaced.map_err(|error| narrowed(error, StoreError::Missing)), *guard)
                }
                Change::Create { path, bytes } => {
                    let created = self.store.create(path, bytes, &open);
                    (created.map_err(|error| narrowed(error, StoreError::NotAFile)), Guard::Plan)
                }
            };
            let before = change.before().map(|file| file.hash);
            result.map_err(|error| CommitError { path: change.path().clone(), error, guard, before })?;
        }
        Ok(Receipt::of(set))
    }
}
