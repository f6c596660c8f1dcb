use std::{
    cell::Cell,
    io::ErrorKind,
    sync::{Arc, Mutex, MutexGuard},
    time::SystemTime,
};

use lapidary_note::ContentHash;

use crate::{
    Change, ChangeSet, FolderNames, Guard, Policy, Receipt, RulesError, Scope, VaultPath, View,
    index::{Cache, Live},
    patience::lock,
    scope::ScopeKeeper,
    store::{CacheFile, StateFolder, Store, StoreError, TurnFile},
};

/// What a vault may cost.
#[derive(Clone, Debug)]
pub struct VaultLimits {
    /// Larger files are not read.
    pub max_file_bytes: u64,
    /// How much text is kept in memory; what is beyond is read from disk each time.
    pub max_text_bytes: u64,
}

impl Default for VaultLimits {
    fn default() -> Self {
        Self { max_file_bytes: 64 << 20, max_text_bytes: 512 << 20 }
    }
}

/// One vault: views of it for readers, and the one place where it changes.
pub struct Vault {
    name: String,
    store: Arc<dyn Store>,
    scope: ScopeKeeper,
    /// Changes of one server take turns; readers never wait.
    writer: Mutex<()>,
    /// Servers on the same vault take turns too.
    turns: Option<TurnFile>,
    live: Arc<Live>,
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
    /// A vault that other servers may change as well; they agree on where to keep their state. Callers may use what the
    /// policy opens.
    pub fn shared(
        name: String,
        store: Arc<dyn Store>,
        state: &Arc<StateFolder>,
        policy: Policy,
        limits: VaultLimits,
    ) -> Self {
        let cache = Cache::new(CacheFile::new(Arc::clone(state)));
        let live = Live::new(Arc::clone(&store), policy.skip_folders.clone(), limits, Some(cache));
        Self {
            name,
            store,
            scope: ScopeKeeper::new(policy),
            writer: Mutex::default(),
            turns: Some(TurnFile::new(Arc::clone(state))),
            live: Arc::new(live),
        }
    }

    /// A vault that only this process knows, open to all callers.
    pub fn private(name: String, store: Arc<dyn Store>) -> Self {
        let live = Live::new(Arc::clone(&store), FolderNames::default(), VaultLimits::default(), None);
        let scope = ScopeKeeper::default();
        Self { name, store, scope, writer: Mutex::default(), turns: None, live: Arc::new(live) }
    }

    pub fn name(&self) -> &str {
        &self.name
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
        View::new(self.name.clone(), Arc::clone(&self.store), scope, max_file_bytes, Arc::clone(&self.live))
    }

    /// Writes down what was learnt of the vault, so that the next start is quick. For the end of the process; while it
    /// runs, that happens by itself.
    pub fn save_index(&self) {
        self.live.save();
    }

    /// Waits, as long as it is told to, until no other change of ours is under way. Whoever holds the turn can plan and
    /// commit without another caller in between; it is never held while a person is asked.
    pub fn turn(&self, go_on: &dyn Fn() -> bool) -> Result<Turn<'_>, TurnError> {
        let writer = lock(&self.writer, go_on).ok_or(TurnError::GivenUp)?;
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
