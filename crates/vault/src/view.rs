use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::SystemTime,
};

use lapidary_note::ContentHash;
use lapidary_query::Period;

use crate::{
    Denied, Files, IndexError, Notes, PeriodicNotes, Scope, SettingsError, VaultPath,
    commit::Changes,
    index::Live,
    keeper::keep,
    settings,
    store::{Entry, EntryKind, StoreError},
};

/// The content of one file at one moment.
#[derive(Clone, Debug)]
pub struct File {
    pub bytes: Vec<u8>,
    pub hash: ContentHash,
    pub modified: Option<SystemTime>,
    pub created: Option<SystemTime>,
}

/// What one call may see of a vault. A file that was read once stays as it was for the rest of the call, and what
/// lies outside the scope is not there.
pub struct View {
    vault: String,
    pub(crate) changes: Arc<Changes>,
    pub(crate) scope: Arc<Scope>,
    max_file_bytes: u64,
    live: Arc<Live>,
    seen: Mutex<BTreeMap<VaultPath, Arc<File>>>,
    files: OnceLock<Files>,
    notes: OnceLock<Notes>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    Denied(Denied),
    Store(StoreError),
}

impl View {
    pub(crate) fn new(
        vault: String,
        changes: Arc<Changes>,
        scope: Arc<Scope>,
        max_file_bytes: u64,
        live: Arc<Live>,
    ) -> Self {
        Self {
            vault,
            changes,
            scope,
            max_file_bytes,
            live,
            seen: Mutex::default(),
            files: OnceLock::new(),
            notes: OnceLock::new(),
        }
    }

    /// The name of the vault.
    pub fn vault(&self) -> &str {
        &self.vault
    }

    /// Where the owner keeps the notes of a period, if anywhere. Whether a caller may see those is another question.
    pub fn periodic_notes(&self, period: Period) -> Result<Option<PeriodicNotes>, SettingsError> {
        settings::periodic_notes(&*self.changes.store, period)
    }

    /// Whether the caller may know of a folder at this path. The answer is the same whether or not one is there, but for
    /// an ignored one, which is not.
    pub fn may_enter(&self, folder: &VaultPath) -> Result<(), ReadError> {
        self.scope.may_enter(folder).map_err(denied)
    }

    /// Whether the caller may change a file at this path. The change itself is judged again when it is made.
    pub fn may_write(&self, path: &VaultPath) -> Result<(), Denied> {
        self.scope.may_write(path)
    }

    /// The files of the vault as they were when the call first asked. Looking through a large vault takes a while, so it
    /// can be called off.
    pub fn files(&self, go_on: &(dyn Fn() -> bool + Sync)) -> Result<&Files, IndexError> {
        if let Some(files) = self.files.get() {
            return Ok(files);
        }
        keep(&self.live);
        let snapshot = self.live.files(go_on)?;
        Ok(self.files.get_or_init(|| Files::new(Arc::clone(&self.live), Arc::clone(&self.scope), snapshot)))
    }

    /// The same for somebody who is going to search them.
    pub fn files_to_search(&self, go_on: &(dyn Fn() -> bool + Sync)) -> Result<&Files, IndexError> {
        if let Some(files) = self.files.get() {
            return Ok(files);
        }
        keep(&self.live);
        let snapshot = self.live.files_to_search(go_on)?;
        Ok(self.files.get_or_init(|| Files::new(Arc::clone(&self.live), Arc::clone(&self.scope), snapshot)))
    }

    /// The same, with what stands in each note.
    pub fn notes(&self, go_on: &(dyn Fn() -> bool + Sync)) -> Result<&Notes, IndexError> {
        if let Some(notes) = self.notes.get() {
            return Ok(notes);
        }
        keep(&self.live);
        let snapshot = self.live.notes(go_on)?;
        let files = Files::new(Arc::clone(&self.live), Arc::clone(&self.scope), snapshot);
        Ok(self.notes.get_or_init(|| Notes::new(files)))
    }

    pub fn read(&self, path: &VaultPath) -> Result<Arc<File>, ReadError> {
        self.scope.may_read(path).map_err(denied)?;
        if let Some(file) = self.seen().get(path) {
            return Ok(Arc::clone(file));
        }
        let found = self.changes.store.read(path, self.max_file_bytes, &|place| self.shows(place)).map_err(narrowed)?;
        let hash = ContentHash::of(&found.bytes);
        let file = Arc::new(File { bytes: found.bytes, hash, modified: found.modified, created: found.created });
        self.seen().insert(path.clone(), Arc::clone(&file));
        Ok(file)
    }

    /// What a folder holds, in name order, as far as the caller may see it; `None` is the vault itself.
    pub fn list(&self, folder: Option<&VaultPath>) -> Result<Vec<Entry>, ReadError> {
        if let Some(folder) = folder {
            self.scope.may_enter(folder).map_err(denied)?;
        }
        let mut entries =
            self.changes.store.list(folder, &|place| self.shows(place)).map_err(|error| match folder {
                // It is no folder, and whether a file is there is not to be told.
                Some(folder) if error == StoreError::NotAFile && !self.shows(folder) => {
                    ReadError::Store(StoreError::Missing)
                }
                _ => narrowed(error),
            })?;
        entries.retain(|entry| match entry.kind {
            EntryKind::File => self.shows(&entry.path),
            EntryKind::Folder => self.scope.may_enter(&entry.path).is_ok(),
        });
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    fn shows(&self, path: &VaultPath) -> bool {
        self.scope.may_read(path).is_ok()
    }

    /// A panic while the map was held cannot have left it half changed.
    fn seen(&self) -> std::sync::MutexGuard<'_, BTreeMap<VaultPath, Arc<File>>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is ignored is not there; everything else is closed by its path.
fn denied(denied: Denied) -> ReadError {
    if denied == Denied::Ignored { ReadError::Store(StoreError::Missing) } else { ReadError::Denied(denied) }
}

/// To a reader, a closed place and an empty place are the same.
fn narrowed(error: StoreError) -> ReadError {
    ReadError::Store(if error == StoreError::Closed { StoreError::Missing } else { error })
}
