use std::{
    sync::{Arc, Mutex, Once, PoisonError, RwLock},
    time::{Duration, Instant},
};

use rayon::prelude::*;

use super::{
    cache::Cache,
    file::{FileId, FileState, Slice},
    progress::Progress,
    snapshot::Snapshot,
    texts::{GoOn, Source, Wanted},
    visible::VisibleSets,
};
use crate::{
    Backend, Cursor, Delta, Files, FolderNames, Look, PlaceState, Stat, StoreError, TextRoom, VaultLimits, VaultPath,
    Walked, lock,
};

/// How often notes are read again because they changed while they were being read.
const ROUNDS: usize = 8;

/// The newest snapshot of a vault, and how it is kept true to the disk.
///
/// Whoever asks gets what was there when it asked. What that costs is up to the backend: with a watch, one look into an
/// empty queue; without one, a look at everything.
pub struct Live {
    backend: Arc<dyn Backend>,
    skip_folders: FolderNames,
    limits: VaultLimits,
    cache: Option<Cache>,
    newest: RwLock<Arc<Snapshot>>,
    /// How far the backend has been followed; whoever holds it publishes.
    sync: Mutex<Cursor>,
    /// Whoever makes digests; readers of files and texts do not wait for that.
    digesting: Mutex<()>,
    pub(super) visible: VisibleSets,
    pub progress: Progress,
    used: Mutex<Instant>,
    /// Whether somebody does the work that nobody should wait for.
    pub kept: Once,
}

/// Why there is no snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    #[error("it was called off")]
    Stopped,
    #[error("the vault cannot be looked through: {0}")]
    Store(#[from] StoreError),
}

impl Live {
    pub fn new(
        backend: Arc<dyn Backend>,
        skip_folders: FolderNames,
        limits: VaultLimits,
        cache: Option<Cache>,
    ) -> Self {
        Self {
            backend,
            skip_folders,
            limits,
            cache,
            newest: RwLock::default(),
            sync: Mutex::default(),
            digesting: Mutex::default(),
            visible: VisibleSets::default(),
            progress: Progress::default(),
            used: Mutex::new(Instant::now()),
            kept: Once::new(),
        }
    }

    /// The files and folders as they are now.
    pub fn files(&self, go_on: GoOn<'_>) -> Result<Arc<Snapshot>, IndexError> {
        self.newest_with(None, go_on)
    }

    /// The same for somebody who is going to search: if nothing is known yet, the texts come along.
    pub fn files_to_search(&self, go_on: GoOn<'_>) -> Result<Arc<Snapshot>, IndexError> {
        let room = TextRoom::new(self.limits.max_file_bytes, self.limits.max_text_bytes);
        self.newest_with(Some(&room), go_on)
    }

    fn newest_with(&self, read: Option<&TextRoom>, go_on: GoOn<'_>) -> Result<Arc<Snapshot>, IndexError> {
        self.touch();
        let mut cursor = lock(&self.sync, go_on).ok_or(IndexError::Stopped)?;
        let before = self.newest();
        let skip = |name: &str| self.skip_folders.holds(name);
        let look = Look { skip: &skip, read: read.filter(|_| before.is_empty()), go_on };
        let read_at = self.backend.now();
        let next = match self.backend.changes_since(&mut cursor, &look)? {
            Delta::Places(places) if places.is_empty() => return Ok(before),
            Delta::Places(places) => {
                tracing::trace!(changed = places.len(), "files changed since the last look");
                let mut next = Snapshot::clone(&before);
                places.into_iter().for_each(|(path, found)| take_place(&mut next, &path, found));
                next
            }
            Delta::Everything { walked, .. } if walked.stopped => return Err(IndexError::Stopped),
            Delta::Everything { walked, replaced } if replaced || before.is_empty() => {
                tracing::debug!(files = walked.files.len(), replaced, "the whole vault was walked");
                built(walked, before.next_id(), read_at)
            }
            Delta::Everything { walked, .. } => {
                tracing::debug!(files = walked.files.len(), "the whole vault was walked again");
                let mut next = Snapshot::clone(&before);
                take_over(&mut next, before.files(), before.folders(), walked);
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
            let _digesting = lock(&self.digesting, go_on).ok_or(IndexError::Stopped)?;
            let snapshot = self.files(go_on)?;
            let pending = snapshot.pending();
            if let Some(cache) = &self.cache {
                cache.recall(&snapshot, pending.len());
            }
            // What changes faster than it can be read, or cannot be read for now, is taken as it is in the end.
            let wanted = if round < ROUNDS { Wanted::ThisState } else { Wanted::AnyState };
            let under_way = self.progress.begin(pending.len());
            let reading = self.source().digest(&pending, wanted, go_on);
            drop(under_way);
            tracing::debug!(notes = pending.len(), stopped = reading.stopped, round, "notes were read for the index");
            let mut cursor = lock(&self.sync, go_on).ok_or(IndexError::Stopped)?;
            let mut next = Snapshot::clone(&self.newest());
            next.take_in(&pending);
            let skip = |name: &str| self.skip_folders.holds(name);
            let look = Look { skip: &skip, read: None, go_on };
            for state in &reading.moved_on {
                let found = self.backend.look_at(&mut cursor, &state.path, &look)?;
                take_place(&mut next, &state.path, found);
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
        // Others keep changing the vault while it is looked at; what was missed will be seen next time.
        Ok(self.newest())
    }

    /// Makes the digests of the notes that somebody sees. Those of others are left to whoever sees them, so that nobody
    /// waits for what is hidden.
    pub fn digest_shown(&self, files: &Files, go_on: GoOn<'_>) -> Result<(), IndexError> {
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
        let reading = self.source().digest(&pending, Wanted::AnyState, go_on);
        if reading.stopped { Err(IndexError::Stopped) } else { Ok(()) }
    }

    /// Puts the texts of these files into memory, as far as there is room; the others are read when they are needed.
    pub(crate) fn load_texts(&self, states: &[Arc<FileState>], go_on: GoOn<'_>) {
        let mut missing: Vec<Arc<FileState>> = states.iter().filter(|state| state.text().is_none()).cloned().collect();
        if missing.is_empty() {
            return;
        }
        let held: u64 = self.newest().files().filter_map(|state| state.text()).map(|text| text.len() as u64).sum();
        let mut room = self.limits.max_text_bytes.saturating_sub(held);
        missing.retain(|state| match room.checked_sub(state.stat.stamp.size) {
            Some(rest) => {
                room = rest;
                true
            }
            None => false,
        });
        self.source().load(&missing, go_on);
    }

    pub fn source(&self) -> Source<'_> {
        Source { backend: &*self.backend, max_file_bytes: self.limits.max_file_bytes, progress: &self.progress }
    }

    pub(super) fn newest(&self) -> Arc<Snapshot> {
        Arc::clone(&self.newest.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn publish(&self, next: Snapshot) -> Arc<Snapshot> {
        let next = Arc::new(next);
        *self.newest.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&next);
        next
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// How long nobody has asked.
    pub fn idle(&self) -> Duration {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    pub fn drop_texts(&self) {
        self.newest().files().for_each(|state| state.drop_text());
    }

    /// Forgets everything; it comes back with the next question. Not while somebody is looking: whether it was done.
    pub fn drop_all(&self) -> bool {
        let Some(mut cursor) = lock(&self.sync, &|| false) else { return false };
        *cursor = Cursor::default();
        let next_id = self.newest().next_id();
        self.publish(Snapshot::build(Vec::new(), Vec::new(), next_id));
        tracing::debug!("the index is given back until somebody asks again");
        true
    }

    /// Something is known that is worth writing down.
    pub fn learnt(&self) {
        if let Some(cache) = &self.cache {
            cache.changed();
        }
    }

    /// Writes down what was learnt since the last time, for the next start. Whether there was anything.
    pub fn save(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.save(&self.newest()))
    }

    /// Whether there is anything that outlives the process.
    pub fn is_cached(&self) -> bool {
        self.cache.is_some()
    }

    pub fn is_unsaved(&self) -> bool {
        self.cache.as_ref().is_some_and(Cache::is_unsaved)
    }
}

/// The first snapshot of a vault, with the texts that were read on the way.
fn built(walked: Walked, next_id: FileId, read_at: i64) -> Snapshot {
    let Walked { files, folders, texts, .. } = walked;
    let next = Snapshot::build(files, folders, next_id);
    texts.into_par_iter().for_each(|(path, buffer, range)| {
        if let (Some(state), Some(text)) = (next.file(&path), Slice::of(&buffer, range)) {
            state.set_text(text, read_at);
        }
    });
    next
}

/// Brings a snapshot up to date with what is at one place.
fn take_place(next: &mut Snapshot, path: &VaultPath, found: PlaceState) {
    match found {
        PlaceState::Nothing => next.remove(path),
        PlaceState::File(stat) => {
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
            let before = next.clone();
            take_over(next, before.files_below(path), before.folders_below(path), walked);
        }
    }
}

/// Brings a snapshot up to date with what a walk found in a part of the vault, where this was before.
fn take_over<'s>(
    next: &mut Snapshot,
    files: impl Iterator<Item = &'s Arc<FileState>>,
    folders: impl Iterator<Item = &'s VaultPath>,
    walked: Walked,
) {
    let mut found = walked.files.into_iter().peekable();
    let mut put: Vec<(VaultPath, Stat)> = Vec::new();
    for state in files {
        while let Some(new) = found.next_if(|(path, _)| *path < state.path) {
            put.push(new);
        }
        match found.next_if(|(path, _)| *path == state.path) {
            None => next.remove(&state.path),
            Some((_, stat)) if state.still_is(&stat) => {}
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
    // Last, so that a folder that became a file does not take the file with it.
    put.into_iter().for_each(|(path, stat)| next.put(path, stat));
}

#[cfg(test)]
mod tests;
