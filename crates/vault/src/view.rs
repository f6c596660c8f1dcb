//! What one call may see of a vault.

use std::{
    cell::{OnceCell, RefCell},
    sync::Arc,
};

use lapidary_index::{PlannedIndex, SortedMap, VaultIndex};
use lapidary_query::{Period, WeekRule};
use lapidary_search::{DocumentKey, DocumentKind, DocumentStore, DocumentText, NoDocumentText, RankedIndexCache};
use lapidary_store::Backend;

use crate::{
    ChangeSet, File, IndexError, NewNotePlace, PathDenied, PeriodicNotes, Scope, SettingsError, TaskSettings,
    TemplateSettings, VaultPath, VisibleFiles, VisibleNotes,
    background_index::schedule_upkeep,
    links::folded_name,
    planned_view::{PlannedEntry, PlannedOverlay},
    settings,
    store::{EntryKind, FileStamp, FolderEntry, StoreError},
    writing_settings,
};

/// What one call may see of a vault. A file that was read once stays the same for the rest of the call, and files
/// outside the scope do not exist.
pub struct View {
    vault: String,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) scope: Arc<Scope>,
    max_file_bytes: u64,
    pub(crate) live: Arc<VaultIndex>,
    pub(crate) search: Arc<RankedIndexCache>,
    pub(crate) documents: Arc<DocumentStore>,
    pub(crate) waits_for_index: bool,
    /// Changes treated as made; only in a batch.
    ahead: PlannedOverlay,
    /// Files that were read. A view belongs to one call, which is one thread.
    seen: RefCell<SortedMap<VaultPath, Arc<File>>>,
    files: OnceCell<VisibleFiles>,
    notes: OnceCell<VisibleNotes>,
}

/// What all views of a vault share.
pub(crate) struct SharedIndexes {
    pub(crate) live: Arc<VaultIndex>,
    pub(crate) search: Arc<RankedIndexCache>,
    pub(crate) documents: Arc<DocumentStore>,
}

/// A note with rules of the owner.
pub struct OwnersNote {
    pub path: VaultPath,
    pub content: Result<File, StoreError>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    Denied(PathDenied),
    Store(StoreError),
}

impl View {
    pub(crate) fn new(
        vault: String,
        backend: Arc<dyn Backend>,
        scope: Arc<Scope>,
        max_file_bytes: u64,
        known: SharedIndexes,
        waits_for_index: bool,
    ) -> Self {
        let SharedIndexes { live, search, documents } = known;
        Self {
            vault,
            backend,
            scope,
            max_file_bytes,
            live,
            search,
            documents,
            waits_for_index,
            ahead: PlannedOverlay::default(),
            seen: RefCell::default(),
            files: OnceCell::new(),
            notes: OnceCell::new(),
        }
    }

    /// The same vault with these changes applied, which were planned on this view.
    pub fn with(&self, changes: &ChangeSet) -> Self {
        let mut ahead = self.ahead.clone();
        ahead.make(changes, self.base());
        Self {
            vault: self.vault.clone(),
            backend: Arc::clone(&self.backend),
            scope: Arc::clone(&self.scope),
            max_file_bytes: self.max_file_bytes,
            live: Arc::clone(&self.live),
            search: Arc::clone(&self.search),
            documents: Arc::clone(&self.documents),
            waits_for_index: self.waits_for_index,
            ahead,
            // A file that was read stays the same for the rest of the call, also in the views made from this one.
            seen: self.seen.clone(),
            files: OnceCell::new(),
            notes: OnceCell::new(),
        }
    }

    /// The same in place of this view: each of thousands of steps costs what it changes, and not what those before it did.
    #[must_use]
    pub fn then(mut self, changes: &ChangeSet) -> Self {
        let base = self.base();
        self.ahead.make(changes, base);
        (self.files, self.notes) = (OnceCell::new(), OnceCell::new());
        self
    }

    /// What is known of the vault without any planned change, if it was scanned.
    fn base(&self) -> Option<PlannedIndex> {
        // If this view has changes, its overlay already carries the base.
        let notes = self.notes.get().filter(|_| self.ahead.is_empty());
        notes.map(|notes| PlannedIndex::new(Arc::clone(notes.snapshot()), &self.live))
    }

    /// The files on disk that were read through it, each with its content.
    pub fn files_read(&self) -> Vec<(VaultPath, Arc<File>)> {
        self.seen.borrow().iter().map(|(path, file)| (path.clone(), Arc::clone(file))).collect()
    }

    /// Whether it is a view of planned changes.
    pub(crate) fn is_planned(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// The text of a document that the caller has read, kept for the next time.
    pub fn document_text(
        &self,
        kind: DocumentKind,
        file: &File,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Arc<DocumentText>, NoDocumentText> {
        self.documents.text(&DocumentKey { kind, hash: file.hash() }, file.bytes(), go_on)
    }

    /// The name of the vault.
    pub fn vault(&self) -> &str {
        &self.vault
    }

    /// Its name in the Obsidian app, regardless of its name here.
    pub fn vault_in_obsidian(&self) -> String {
        self.backend.folder_name().unwrap_or_else(|| self.vault.clone())
    }

    /// Where the owner keeps the notes of a period, if anywhere. Whether a caller may see those is a separate question.
    pub fn periodic_notes(&self, period: Period) -> Result<Option<PeriodicNotes>, SettingsError> {
        settings::periodic_notes(&*self.backend, period)
    }

    /// How the owner counts weeks.
    pub fn owners_week(&self) -> WeekRule {
        settings::owners_week(&*self.backend)
    }

    /// How the Tasks plugin writes, if it is on.
    pub fn task_settings(&self) -> Option<TaskSettings> {
        writing_settings::tasks(&*self.backend)
    }

    /// Where the owner keeps templates, and in which formats they are filled.
    pub fn template_settings(&self) -> Result<TemplateSettings, SettingsError> {
        writing_settings::templates(&*self.backend)
    }

    /// Where the app puts a new note.
    pub fn new_note_place(&self) -> NewNotePlace {
        writing_settings::new_note_place(&*self.backend)
    }

    /// The notes directly in a folder, for any caller: for rules of the owner that are written as notes. No text of them
    /// may reach the caller, except as far as a rule has to name what it wants.
    pub fn owners_notes(&self, folder: &VaultPath, most: usize, max_bytes: u64) -> Result<Vec<OwnersNote>, StoreError> {
        let everything = |_: &VaultPath| true;
        let mut entries = match self.backend.list(Some(folder), &everything) {
            Ok(entries) => entries,
            Err(StoreError::Missing | StoreError::NotAFile) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        entries.retain(|entry| entry.kind == EntryKind::File && entry.path.is_note());
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        let read = |path: &VaultPath| {
            let found = self.backend.read(path, max_bytes, &everything)?;
            Ok(File { content: found.bytes.into(), modified: found.modified, created: found.created })
        };
        let note = |entry: FolderEntry| OwnersNote { content: read(&entry.path), path: entry.path };
        Ok(entries.into_iter().take(most).map(note).collect())
    }

    /// Whether the caller may know of a folder at this path. The answer is the same whether or not it exists, except
    /// for an ignored one, which does not.
    pub fn may_enter(&self, folder: &VaultPath) -> Result<(), ReadError> {
        self.scope.may_enter(folder).map_err(denied)
    }

    /// Whether the caller may change a file at this path. The change itself is judged again when it is made.
    pub fn may_write(&self, path: &VaultPath) -> Result<(), PathDenied> {
        self.scope.may_write(path)
    }

    /// Whether a file that exists has to stay as it is; by its path and content.
    pub fn is_source(&self, path: &VaultPath, content: Option<&File>) -> bool {
        self.scope.is_source(path, content)
    }

    /// Whether the caller may change a file that exists.
    pub fn may_change(&self, path: &VaultPath, content: &File) -> bool {
        self.scope.may_write(path).is_ok() && !self.is_source(path, Some(content))
    }

    /// Whether notes are sources by what they say.
    pub fn has_marked_sources(&self) -> bool {
        self.scope.has_marked_sources()
    }

    /// Whether the same paths are closed in both folders, regardless of their contents.
    pub fn closes_alike(&self, one: &VaultPath, other: &VaultPath) -> bool {
        self.scope.closes_alike(one, other)
    }

    /// The files of the vault at the time of the call's first request. Scanning a large vault takes a while, so it can
    /// be cancelled.
    pub fn files(&self, go_on: &(dyn Fn() -> bool + Sync)) -> Result<&VisibleFiles, IndexError> {
        if let Some(files) = self.files.get() {
            return Ok(files);
        }
        if !self.ahead.is_empty() {
            return self.notes(go_on).map(|notes| &**notes);
        }
        // Only now: a vault that is never scanned needs no maintenance.
        schedule_upkeep(&self.live, &self.search);
        let snapshot = self.live.files(go_on)?;
        Ok(self.files.get_or_init(|| VisibleFiles::new(Arc::clone(&self.live), Arc::clone(&self.scope), snapshot)))
    }

    /// The same for a search.
    pub fn files_to_search(&self, go_on: &(dyn Fn() -> bool + Sync)) -> Result<&VisibleFiles, IndexError> {
        if let Some(files) = self.files.get() {
            return Ok(files);
        }
        if !self.ahead.is_empty() {
            return self.notes(go_on).map(|notes| &**notes);
        }
        schedule_upkeep(&self.live, &self.search);
        let snapshot = self.live.files_to_search(go_on)?;
        Ok(self.files.get_or_init(|| VisibleFiles::new(Arc::clone(&self.live), Arc::clone(&self.scope), snapshot)))
    }

    /// Reads all notes in the background, so that the next call finds them indexed.
    pub fn index_aside(&self) {
        if self.ahead.is_empty() && self.live.is_cached() {
            self.live.digest_aside();
        }
    }

    /// The same, with the structure of each note.
    pub fn notes(&self, go_on: &(dyn Fn() -> bool + Sync)) -> Result<&VisibleNotes, IndexError> {
        if let Some(notes) = self.notes.get() {
            return Ok(notes);
        }
        schedule_upkeep(&self.live, &self.search);
        let (live, scope) = (Arc::clone(&self.live), Arc::clone(&self.scope));
        let files = if self.ahead.is_empty() {
            VisibleFiles::new(live, scope, self.live.notes(go_on)?)
        } else {
            // Planned changes are indexed on top of the shared index, which they must not touch.
            let base = || Ok(PlannedIndex::new(self.live.notes(go_on)?, &self.live));
            VisibleFiles::ahead(live, scope, self.ahead.index(base)?)
        };
        Ok(self.notes.get_or_init(|| VisibleNotes::new(files)))
    }

    pub fn read(&self, path: &VaultPath) -> Result<Arc<File>, ReadError> {
        self.scope.may_read(path).map_err(denied)?;
        match self.ahead.at(path) {
            None => self.read_disk(path),
            Some(PlannedEntry::Nothing) => Err(ReadError::Store(StoreError::Missing)),
            Some(PlannedEntry::File(_, file)) => Ok(file),
            Some(PlannedEntry::Elsewhere(place)) => self.read_disk(&place),
        }
    }

    fn read_disk(&self, path: &VaultPath) -> Result<Arc<File>, ReadError> {
        if let Some(file) = self.seen.borrow().get(path) {
            return Ok(Arc::clone(file));
        }
        let found = self.backend.read(path, self.max_file_bytes, &|place| self.shows(place)).map_err(narrowed)?;
        let (modified, created) = (found.modified, found.created);
        let file = Arc::new(File { content: found.bytes.into(), modified, created });
        self.seen.borrow_mut().insert(path.clone(), Arc::clone(&file));
        Ok(file)
    }

    /// Files in the same folder whose names differ from that of a path only in case or extension, as far as the caller
    /// may see them. Empty without an index.
    pub fn similar(&self, path: &VaultPath) -> Vec<VaultPath> {
        // Suggestions are not worth an error.
        let Ok(snapshot) = self.live.files(&|| true) else { return Vec::new() };
        let files = VisibleFiles::new(Arc::clone(&self.live), Arc::clone(&self.scope), snapshot);
        let similar = files.similar(path);
        if self.ahead.is_empty() {
            return similar;
        }
        let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_lowercase();
        let wanted = [stem(path.name()), path.name().to_lowercase()];
        let listed = similar.into_iter().map(|path| FolderEntry { path, kind: EntryKind::File }).collect();
        let mut planned = self.ahead.list(path.folder().as_ref(), listed);
        planned.retain(|entry| wanted.contains(&stem(entry.path.name())) && self.shows(&entry.path));
        planned.into_iter().map(|entry| entry.path).collect()
    }

    /// What is in the folder of a path under its name, or under one that differs in nothing but case and the form of
    /// letters, in name order. Asks the index by name and lists no folder.
    pub fn named_like(
        &self,
        path: &VaultPath,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<FolderEntry>, IndexError> {
        if self.ahead.is_empty() {
            let mut found = self.files(go_on)?.named_like(path);
            found.sort_by(|one, other| one.path.cmp(&other.path));
            return Ok(found);
        }
        let snapshot = self.live.files(go_on)?;
        let files = VisibleFiles::new(Arc::clone(&self.live), Arc::clone(&self.scope), snapshot);
        // A folder that is to be moved has its files elsewhere for now.
        let folder = path.folder();
        let place = match &folder {
            None => Some(path.clone()),
            Some(folder) => {
                self.ahead.on_disk(folder).and_then(|place| VaultPath::spelt(&format!("{place}/{}", path.name())))
            }
        };
        let listed = place.map(|place| files.named_like(&place)).unwrap_or_default();
        let mut found = self.ahead.list(folder.as_ref(), listed);
        let folded = folded_name(path.name());
        found.retain(|entry| folded_name(entry.path.name()) == folded && self.shows_entry(entry));
        Ok(found)
    }

    /// The contents of a folder, in name order, as far as the caller may see them; `None` is the vault root.
    pub fn list(&self, folder: Option<&VaultPath>) -> Result<Vec<FolderEntry>, ReadError> {
        if let Some(folder) = folder {
            self.scope.may_enter(folder).map_err(denied)?;
        }
        let mut entries = if self.ahead.is_empty() { self.list_disk(folder)? } else { self.list_ahead(folder)? };
        entries.retain(|entry| self.shows_entry(entry));
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    fn shows_entry(&self, entry: &FolderEntry) -> bool {
        match entry.kind {
            EntryKind::File => self.shows(&entry.path),
            EntryKind::Folder => self.scope.may_enter(&entry.path).is_ok(),
        }
    }

    /// Whether the disk has a folder there now, regardless of planned changes.
    pub fn had_folder(&self, folder: &VaultPath) -> bool {
        let open = |place: &VaultPath| self.shows(place);
        self.scope.may_enter(folder).is_ok() && self.backend.find_folder(folder, &open).is_ok()
    }

    /// The same with what is planned.
    fn has_folder(&self, folder: &VaultPath) -> bool {
        if self.ahead.is_empty() { self.had_folder(folder) } else { self.list(Some(folder)).is_ok() }
    }

    /// Whether something new can be created at a path: not below a file, and under names that every system accepts.
    pub fn may_be_made(&self, path: &VaultPath) -> Result<(), StoreError> {
        let portable =
            |path: &VaultPath| if self.backend.may_have_name(path) { Ok(()) } else { Err(StoreError::NotPortable) };
        portable(path)?;
        // The same answer as if a file that the caller may not see were in the way.
        let is_hidden = |folder: &VaultPath| self.scope.may_hide_file(folder) && !self.has_folder(folder);
        if std::iter::successors(path.folder(), VaultPath::folder).any(|folder| is_hidden(&folder)) {
            return Err(StoreError::NotAFile);
        }
        for folder in std::iter::successors(path.folder(), VaultPath::folder) {
            match self.read(&folder) {
                Ok(_) | Err(ReadError::Store(StoreError::TooLarge { .. })) => return Err(StoreError::NotAFile),
                // It is created too.
                Err(ReadError::Store(StoreError::Missing)) => portable(&folder)?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Distinguishes states of a file without reading it.
    pub fn stamp(&self, path: &VaultPath) -> Option<FileStamp> {
        // An inaccessible file has no state.
        let place = || self.backend.place_of_change(path, &|place| self.shows(place)).ok();
        // Through a link, the place has to be open too.
        self.shows(path).then(place).flatten().and_then(|place| self.backend.stamp(&place).ok().flatten())
    }

    fn list_disk(&self, folder: Option<&VaultPath>) -> Result<Vec<FolderEntry>, ReadError> {
        self.backend.list(folder, &|place| self.shows(place)).map_err(|error| match folder {
            // It is not a folder, and whether a file exists must not be revealed.
            Some(folder) if error == StoreError::NotAFile && !self.shows(folder) => {
                ReadError::Store(StoreError::Missing)
            }
            _ => narrowed(error),
        })
    }

    fn list_ahead(&self, folder: Option<&VaultPath>) -> Result<Vec<FolderEntry>, ReadError> {
        let missing = || ReadError::Store(StoreError::Missing);
        let place = folder.map(|folder| self.ahead.on_disk(folder).ok_or_else(missing)).transpose();
        let listed = place.and_then(|place| self.list_disk(place.as_ref()));
        match listed {
            Ok(listed) => Ok(self.ahead.list(folder, listed)),
            // It does not exist yet, but it may.
            Err(ReadError::Store(StoreError::Missing)) => {
                Some(self.ahead.list(folder, Vec::new())).filter(|planned| !planned.is_empty()).ok_or_else(missing)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the caller may read what is at a path, whether or not it exists.
    pub fn shows(&self, path: &VaultPath) -> bool {
        self.scope.may_read(path).is_ok()
    }
}

/// Ignored files do not exist; everything else is closed by its path.
fn denied(denied: PathDenied) -> ReadError {
    if denied == PathDenied::Ignored { ReadError::Store(StoreError::Missing) } else { ReadError::Denied(denied) }
}

/// To a reader, a closed place and an empty place are the same.
fn narrowed(error: StoreError) -> ReadError {
    ReadError::Store(if error == StoreError::Closed { StoreError::Missing } else { error })
}
