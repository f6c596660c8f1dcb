use std::sync::{Arc, Mutex, PoisonError};

use lapidary_note::ContentHash;

use crate::{
    Change, ChangeSet, Guard, Scope, VaultPath, View,
    store::{Store, StoreError},
};

/// One vault: views of it for readers, and the one place where it changes.
pub struct Vault {
    name: String,
    store: Arc<dyn Store>,
    /// Changes of one server take turns; readers never wait.
    writer: Mutex<()>,
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
    pub fn new(name: String, store: Arc<dyn Store>) -> Self {
        Self { name, store, writer: Mutex::default() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn view(&self, scope: Arc<Scope>, max_file_bytes: u64) -> View {
        View::new(Arc::clone(&self.store), scope, max_file_bytes)
    }

    /// Carries out a change set, in order, each file compared with what is on disk and replaced in one step.
    ///
    /// The scope is asked again here, about where each path really leads.
    pub fn commit(&self, set: &ChangeSet, scope: &Scope) -> Result<(), CommitError> {
        let _turn = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let open = |place: &VaultPath| scope.may_write(place).is_ok();
        for change in &set.changes {
            let (result, guard) = match change {
                Change::Write { path, before, guard, bytes } => {
                    (self.store.replace(path, &before.hash, bytes, &open), *guard)
                }
                Change::Create { path, bytes } => (self.store.create(path, bytes, &open), Guard::Plan),
            };
            let before = change.before().map(|file| file.hash);
            result.map_err(|error| CommitError { path: change.path().clone(), error, guard, before })?;
        }
        Ok(())
    }
}
