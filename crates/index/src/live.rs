//! The newest snapshot of a vault, kept in step with the backend.

use std::{
    sync::{
        Arc, Once,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use lapidary_store::{give_back_memory, maintenance::run_aside};
use parking_lot::{Mutex, RwLock};

use super::{
    cache::{IndexCache, SavedDigests},
    file::{FileId, FileState, SharedBytes},
    progress::WorkProgress,
    snapshot::Snapshot,
    text_table::{LoadedText, TextTable},
    texts::{GoOn, TextDemand, TextSource},
    visible::{VisibleSet, VisibleSets},
};
use crate::{
    Backend, Cursor, ElapsedTime, FileStat, FolderNames, ListingOptions, PlaceState, Scope, StoreError, TextRoom,
    VaultDelta, VaultLimits, VaultPath, VisibleFiles, WalkedFolder, lock,
};

/// How often notes are read again because they changed while being read.
const ROUNDS: usize = 8;
/// A search that loads more texts than this drops those of removed files first.
const FEW_TEXTS: usize = 256;

/// The newest snapshot of a vault, and how it is kept in step with the disk.
///
/// A caller gets the state at the time of its call. The cost depends on the backend: with a watch, a check of an empty
/// queue; without one, a full scan.
pub struct VaultIndex {
    backend: Arc<dyn Backend>,
    skip_folders: FolderNames,
    limits: VaultLimits,
    cache: Option<IndexCache>,
    /// Held only briefly, to take something out or to replace it.
    newest: RwLock<IndexState>,
    /// How far the backend has been followed; the holder publishes.
    sync: Mutex<Cursor>,
    /// Held while digests are built; readers of files and texts do not wait for it.
    digesting: Mutex<()>,
    pub progress: WorkProgress,
    started: ElapsedTime,
    /// The time of the last call, in milliseconds since the start.
    used: AtomicU64,
    /// Whether background work is scheduled.
    pub kept: Once,
    /// Whether digests are being built in the background.
    digesting_aside: AtomicBool,
    /// How many are at work that needs the memory of the texts.
    spared: AtomicUsize,
}

/// While it exists, no texts are kept in memory.
pub struct SparedMemory<'v>(&'v VaultIndex);

impl Drop for SparedMemory<'_> {
    fn drop(&mut self) {
        self.0.spared.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What is known about the vault. Each part is an immutable value that is replaced by the next.
#[derive(Default)]
struct IndexState {
    snapshot: Arc<Snapshot>,
    texts: TextTable,
    saved: SavedDigests,
    visible: VisibleSets,
}

impl IndexState {
    /// Whether it holds nothing that takes up memory.
    fn is_empty(&self) -> bool {
        self.snapshot.is_empty() && self.texts.bytes() == 0 && self.visible.is_empty()
    }
}

/// Why there is no snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    #[error("it was cancelled")]
    Stopped,
    #[error("the vault cannot be scanned: {0}")]
    Store(#[from] StoreError),
}

impl VaultIndex {
    pub fn new(
        backend: Arc<dyn Backend>,
        skip_folders: FolderNames,
        limits: VaultLimits,
        cache: Option<IndexCache>,
    ) -> Self {
        Self {
            backend,
            skip_folders,
            limits,
            cache,
            newest: RwLock::default(),
            sync: Mutex::default(),
            digesting: Mutex::default(),
            progress: WorkProgress::default(),
            started: ElapsedTime::start(),
            used: AtomicU64::new(0),
            kept: Once::new(),
            digesting_aside: AtomicBool::new(false),
            spared: AtomicUsize::new(0),
        }
    }

    /// The files and folders as they are now.
    pub fn files(&self, go_on: GoOn<'_>) -> Result<Arc<Snapshot>, IndexError> {
        self.newest_with(None, go_on)
    }

    /// The same for a search: if nothing is known yet, the texts are read along.
    pub fn files_to_search(&self, go_on: GoOn<'_>) -> Result<Arc<Snapshot>, IndexError> {
        let room = TextRoom::new(self.limits.max_file_bytes, self.limits.max_text_bytes);
        self.newest_with(Some(&room), go_on)
    }

    fn newest_with(&self, read: Option<&TextRoom>, go_on: GoOn<'_>) -> Result<Arc<Snapshot>, IndexError> {
        self.touch();
        // Held during the whole look: two callers that both advanced the cursor would each miss half of the changes.
        let mut cursor = lock(&self.sync, go_on).ok_or(IndexError::Stopped)?;
        let before = self.newest();
        let skip = |name: &str| self.skip_folders.holds(name);
        // Texts are read along only on the first walk: later most of them are in memory already.
        let look = ListingOptions { skip: &skip, read: read.filter(|_| before.is_empty()), go_on };
        // Taken before the vault is read. A file that changes meanwhile is then too new to be trusted, and is read
        // again.
        let read_at = self.backend.now();
        let next = match self.backend.changes_since(&mut cursor, &look)? {
            VaultDelta::Places(places) if places.is_empty() => return Ok(before),
            VaultDelta::Places(places) => {
                tracing::trace!(changed = places.len(), "files changed since the last look");
                let (mut next, texts) = (Snapshot::clone(&before), self.texts());
                places.into_iter().for_each(|(path, found)| take_place(&mut next, &path, found, &texts));
                next
            }
            // A partial walk must not replace a complete snapshot.
            VaultDelta::Everything { walked, .. } if walked.stopped => return Err(IndexError::Stopped),
            // Another vault, or none before: nothing of the old snapshot applies.
            VaultDelta::Everything { walked, replaced } if replaced || before.is_empty() => {
                tracing::debug!(files = walked.files.len(), replaced, "the whole vault was walked");
                // The numbers go on where the old snapshot ended, because caches refer to files by number.
                let (next, texts) = built(walked, before.next_id(), read_at);
                self.newest.write().texts = texts;
                next
            }
            VaultDelta::Everything { walked, .. } => {
                tracing::debug!(files = walked.files.len(), "the whole vault was walked again");
                let mut next = Snapshot::clone(&before);
                take_over(&mut next, before.files(), before.folders(), walked, &self.texts());
                next
            }
        };
        Ok(self.publish(next))
    }

    /// The same, with a digest of every note.
    pub fn notes(&self, go_on: GoOn<'_>) -> Result<Arc<Snapshot>, IndexError> {
        for round in 1..=ROUNDS {
            if let Some(done) = Some(self.files(go_on)?).filter(|snapshot| snapshot.is_indexed()) {
                return Ok(done);
            }
            // One caller reads the notes; the others wait for it and then find the work done.
            let _digesting = lock(&self.digesting, go_on).ok_or(IndexError::Stopped)?;
            // Looked again: while this caller waited, another may have read everything.
            let snapshot = self.files(go_on)?;
            let pending = snapshot.pending();
            if let Some(cache) = &self.cache {
                cache.recall(&snapshot, pending.len());
            }
            // Notes that change faster than they can be read, or cannot be read for now, are accepted as they are in
            // the end.
            // In every round but the last, a note that changed since the look is left for the next one.
            let wanted = if round < ROUNDS { TextDemand::ThisState } else { TextDemand::AnyState };
            let under_way = self.progress.begin(pending.len());
            let reading = self.source().digest(&pending, wanted, go_on);
            drop(under_way);
            tracing::debug!(notes = pending.len(), stopped = reading.stopped, round, "notes were read for the index");
            let mut cursor = lock(&self.sync, go_on).ok_or(IndexError::Stopped)?;
            let mut next = Snapshot::clone(&self.newest());
            // Published together with everything that changed since, so that no digest is lost.
            next.take_in(&pending);
            let skip = |name: &str| self.skip_folders.holds(name);
            let look = ListingOptions { skip: &skip, read: None, go_on };
            for state in &reading.moved_on {
                let found = self.backend.look_at(&mut cursor, &state.path, &look)?;
                take_place(&mut next, &state.path, found, &self.texts());
            }
            let done = next.is_indexed();
            let published = self.publish(next);
            drop(cursor);
            if let Some(cache) = &self.cache {
                cache.changed();
            }
            if reading.stopped {
                return Err(IndexError::Stopped);
            }
            if done {
                return Ok(published);
            }
        }
        tracing::debug!("the vault changes faster than it can be read");
        // Other programs keep changing the vault during the scan; missed changes will be seen next time.
        Ok(self.newest())
    }

    /// Builds the digests of all notes in the background. Ends early with the vault.
    pub fn digest_aside(self: &Arc<Self>) {
        if self.newest().is_indexed() || self.digesting_aside.swap(true, Ordering::AcqRel) {
            return;
        }
        let live = Arc::clone(self);
        let started = run_aside("digests", move || {
            // If this fails, a caller that needs them tries again and reports why.
            // The background task holds one reference itself. When it is the last, the vault was closed.
            if let Err(error) = live.notes(&|| Arc::strong_count(&live) > 1) {
                tracing::debug!(%error, "the notes could not be indexed");
            }
            live.digesting_aside.store(false, Ordering::Release);
        });
        if let Err(error) = started {
            self.digesting_aside.store(false, Ordering::Release);
            tracing::warn!(%error, "the notes are not indexed");
        }
    }

    /// Builds the digests of the notes that a caller sees. Others are built for the callers that see them, so that no
    /// call waits for hidden notes.
    pub fn digest_shown(&self, files: &VisibleFiles, go_on: GoOn<'_>) -> Result<(), IndexError> {
        if files.snapshot().is_indexed() {
            return Ok(());
        }
        let pending = files.iter().filter(|entry| entry.is_note() && entry.0.digest().is_none());
        let pending: Vec<Arc<FileState>> = pending.map(|entry| Arc::clone(entry.0)).collect();
        if pending.is_empty() {
            return Ok(());
        }
        if let Some(cache) = &self.cache {
            cache.recall(files.snapshot(), pending.len());
        }
        let _under_way = self.progress.begin(pending.len());
        let reading = self.source().digest(&pending, TextDemand::AnyState, go_on);
        if reading.stopped { Err(IndexError::Stopped) } else { Ok(()) }
    }

    /// Loads the texts of these files, as far as there is room; the others are read when needed.
    pub(crate) fn load_texts(&self, states: &[Arc<FileState>], planned: &TextTable, go_on: GoOn<'_>) -> TextTable {
        let known = self.texts();
        let is_missing = |state: &&Arc<FileState>| known.text(state).is_none() && planned.text(state).is_none();
        // Planned texts exist in no file and cannot be loaded.
        let mut missing: Vec<Arc<FileState>> = states.iter().filter(is_missing).cloned().collect();
        if missing.is_empty() || self.is_short_of_memory() {
            return known;
        }
        // Checking all of them takes longer than reading a few, so texts of removed files may stay until there is no room.
        let wanted: u64 = missing.iter().map(|state| state.stat.stamp.size).sum();
        let fits = known.bytes().saturating_add(wanted) <= self.limits.max_text_bytes;
        let known = if fits && missing.len() < FEW_TEXTS { known } else { known.current(&self.newest()) };
        let mut room = self.limits.max_text_bytes.saturating_sub(known.bytes());
        missing.retain(|state| match room.checked_sub(state.stat.stamp.size) {
            Some(rest) => {
                room = rest;
                true
            }
            None => false,
        });
        let loaded = self.source_with(known.clone(), TextTable::default()).load(&missing, go_on);
        let texts = known.with(loaded);
        let mut newest = self.newest.write();
        if !self.is_short_of_memory() {
            // Texts that another thread has loaded meanwhile are read again when needed.
            newest.texts = texts.clone();
        }
        drop(newest);
        texts
    }

    pub(super) fn texts(&self) -> TextTable {
        self.newest.read().texts.clone()
    }

    fn source(&self) -> TextSource<'_> {
        self.source_with(self.texts(), TextTable::default())
    }

    pub(super) fn source_with(&self, texts: TextTable, planned: TextTable) -> TextSource<'_> {
        let (backend, max_file_bytes) = (&*self.backend, self.limits.max_file_bytes);
        TextSource { backend, max_file_bytes, progress: &self.progress, texts, planned }
    }

    pub(super) fn newest(&self) -> Arc<Snapshot> {
        Arc::clone(&self.newest.read().snapshot)
    }

    fn publish(&self, next: Snapshot) -> Arc<Snapshot> {
        let next = Arc::new(next);
        let before = std::mem::replace(&mut self.newest.write().snapshot, Arc::clone(&next));
        // If this is the last reference, dropping it takes a while.
        drop(before);
        next
    }

    pub(super) fn known_visible(&self, scope: &Arc<Scope>) -> Option<Arc<VisibleSet>> {
        // Most callers have the latest scope, and need not wait for a reader.
        let latest = self.newest.read().visible.latest(scope);
        latest.or_else(|| self.newest.write().visible.known(scope))
    }

    pub(super) fn remember_visible(&self, scope: &Arc<Scope>, visible: &Arc<VisibleSet>) {
        self.newest.write().visible.remember(scope, visible);
    }

    fn touch(&self) {
        self.used.store(self.age(), Ordering::Relaxed);
    }

    /// In milliseconds.
    fn age(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// How long there has been no call.
    pub fn idle(&self) -> Duration {
        Duration::from_millis(self.age().saturating_sub(self.used.load(Ordering::Relaxed)))
    }

    pub fn drop_texts(&self) {
        let known = self.texts();
        if known.bytes() > 0 {
            let texts = std::mem::replace(&mut self.newest.write().texts, known.without_texts());
            drop(texts);
        }
    }

    /// Releases the texts for work that needs much memory itself. Until the mark is dropped, none are kept.
    pub fn spare_memory(&self) -> SparedMemory<'_> {
        self.spared.fetch_add(1, Ordering::AcqRel);
        self.drop_texts();
        // The texts were in many small pieces, which the system does not get back by itself.
        give_back_memory();
        SparedMemory(self)
    }

    fn is_short_of_memory(&self) -> bool {
        self.spared.load(Ordering::Acquire) > 0
    }

    /// Drops everything; it is rebuilt by the next call. Not during a call. Returns whether anything was dropped.
    pub fn drop_all(&self) -> bool {
        // Not waited for: a call that holds it is using the index right now.
        let Some(mut cursor) = lock(&self.sync, &|| false) else { return false };
        if cursor.is_new() && self.newest.read().is_empty() {
            return false;
        }
        *cursor = Cursor::default();
        // Numbers are never used twice, not even after everything was dropped.
        let next_id = self.newest().next_id();
        let snapshot = Arc::new(Snapshot::build(Vec::new(), Vec::new(), next_id));
        let empty = IndexState { snapshot, ..IndexState::default() };
        let forgotten = std::mem::replace(&mut *self.newest.write(), empty);
        // Outside the lock, because dropping it takes a while.
        drop(forgotten);
        tracing::debug!("the index is released until it is needed again");
        true
    }

    /// There is something new worth saving.
    pub fn learnt(&self) {
        if let Some(cache) = &self.cache {
            cache.changed();
        }
    }

    /// Saves new digests for the next start. Returns whether there were any.
    pub fn save(&self) -> bool {
        let Some(cache) = &self.cache else { return false };
        // Under one lock, so that what is saved belongs to this snapshot.
        let (snapshot, saved) = {
            let newest = self.newest.read();
            (Arc::clone(&newest.snapshot), newest.saved.clone())
        };
        let Some(saved) = cache.save(&snapshot, &saved) else { return false };
        self.newest.write().saved = saved;
        true
    }

    /// Whether there is anything that outlives the process.
    pub fn is_cached(&self) -> bool {
        self.cache.is_some()
    }

    pub fn is_unsaved(&self) -> bool {
        self.cache.as_ref().is_some_and(IndexCache::is_unsaved)
    }
}

/// The first snapshot of a vault, with the texts that were read on the way.
fn built(walked: WalkedFolder, next_id: FileId, read_at: i64) -> (Snapshot, TextTable) {
    let WalkedFolder { files, folders, texts, .. } = walked;
    let next = Snapshot::build(files, folders, next_id);
    let loaded = texts.into_iter().filter_map(|(path, buffer, range)| {
        let (state, text) = (Arc::clone(next.file(&path)?), Some(SharedBytes::of(&buffer, range)?));
        Some(LoadedText { state, text, read_at })
    });
    let texts = TextTable::new(loaded);
    (next, texts)
}

/// Updates a snapshot with what is at one place.
fn take_place(next: &mut Snapshot, path: &VaultPath, found: PlaceState, texts: &TextTable) {
    match found {
        PlaceState::Nothing => next.remove(path),
        PlaceState::File(stat) => {
            // A file has taken the place of a folder, whose contents are gone with it.
            if next.has_folder(path) {
                next.remove(path);
            }
            next.put(path.clone(), stat);
        }
        PlaceState::Folder(walked) => {
            if next.file(path).is_some() {
                next.remove(path);
            }
            next.put_folder(path.clone());
            // A clone shares everything, and can be read while `next` changes.
            let before = next.clone();
            take_over(next, before.files_below(path), before.folders_below(path), walked, texts);
        }
    }
}

/// Updates a snapshot with the result of walking a part of the vault, which had this before.
fn take_over<'s>(
    next: &mut Snapshot,
    files: impl Iterator<Item = &'s Arc<FileState>>,
    folders: impl Iterator<Item = &'s VaultPath>,
    walked: WalkedFolder,
    texts: &TextTable,
) {
    let mut found = walked.files.into_iter().peekable();
    let mut put: Vec<(VaultPath, FileStat)> = Vec::new();
    for state in files {
        // Both come in path order, so one walk over the two finds all differences.
        while let Some(new) = found.next_if(|(path, _)| *path < state.path) {
            put.push(new);
        }
        match found.next_if(|(path, _)| *path == state.path) {
            None => next.remove(&state.path),
            // The same size and time are not enough if the text was read within the tick of the clock that dates
            // files.
            Some((_, stat)) if state.still_is(&stat, texts.get(state).map(|loaded| loaded.read_at)) => {}
            Some(changed) => put.push(changed),
        }
    }
    put.extend(found);
    let mut found = walked.folders.into_iter().peekable();
    for folder in folders {
        while let Some(new) = found.next_if(|path| path < folder) {
            next.put_folder(new);
        }
        if found.next_if(|path| path == folder).is_none() {
            next.remove(folder);
        }
    }
    found.for_each(|folder| next.put_folder(folder));
    // Last, so that a folder that became a file does not remove the file with it.
    put.into_iter().for_each(|(path, stat)| next.put(path, stat));
}

#[cfg(test)]
mod tests;
