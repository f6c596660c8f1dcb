use std::{
    sync::{Arc, Mutex, Once, PoisonError, RwLock},
    time::{Duration, Instant},
};

use rayon::prelude::*;

use super::{
    cache::Cache,
    file::{FileState, Slice},
    progress::Progress,
    snapshot::Snapshot,
    texts::{GoOn, Source, Wanted},
    visible::VisibleSets,
};
use crate::{
    Files, FolderNames, VaultLimits, VaultPath, lock,
    store::{Found, Stat, Store, StoreError, TextRoom, Walk, Walked, Watch},
};

/// How often notes are read again because they changed while they were being read.
const ROUNDS: usize = 8;
/// Some changes make no event: through a memory map, behind a mount that came later.
const SWEEP_EVERY: Duration = Duration::from_secs(15 * 60);

/// The newest snapshot of a vault, and how it is kept true to the disk.
///
/// Whoever asks gets what was on disk when it asked. With a watch that costs one look into an empty queue; without one,
/// everything is looked at.
pub struct Live {
    pub(super) store: Arc<dyn Store>,
    skip_folders: FolderNames,
    limits: VaultLimits,
    cache: Option<Cache>,
    newest: RwLock<Arc<Snapshot>>,
    sync: Mutex<Sync>,
    /// Whoever makes digests; readers of files and texts do not wait for that.
    digesting: Mutex<()>,
    pub(super) visible: VisibleSets,
    pub progress: Progress,
    used: Mutex<Instant>,
    /// Whether somebody does the work that nobody should wait for.
    pub kept: Once,
}

#[derive(Default)]
struct Sync {
    /// Of the folder that was walked; `None` before that.
    identity: Option<u64>,
    watch: Option<Box<dyn Watch>>,
    swept: Option<Instant>,
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
    pub fn new(store: Arc<dyn Store>, skip_folders: FolderNames, limits: VaultLimits, cache: Option<Cache>) -> Self {
        Self {
            store,
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
        let mut sync = lock(&self.sync, go_on).ok_or(IndexError::Stopped)?;
        let identity = self.store.identity()?;
        if sync.identity != Some(identity) {
            *sync = Sync::default();
            let next_id = self.newest().next_id();
            self.publish(Snapshot::build(Vec::new(), Vec::new(), next_id));
        }
        let overdue = sync.swept.is_none_or(|swept| swept.elapsed() > SWEEP_EVERY);
        // Taken out, and put back when all is well: whoever has read events and then fails has lost them.
        match sync.watch.take().filter(|_| !overdue) {
            Some(watch) if self.catch_up(&*watch)? => sync.watch = Some(watch),
            _ => self.sweep(&mut sync, identity, read, go_on)?,
        }
        Ok(self.newest())
    }

    /// Looks at what has changed by the watch; `false` if only a look at everything helps.
    fn catch_up(&self, watch: &dyn Watch) -> Result<bool, IndexError> {
        let events = watch.events();
        if events.lost {
            return Ok(false);
        }
        if !events.paths.is_empty() {
            let mut next = Snapshot::clone(&self.newest());
            for path in &events.paths {
                self.refresh(&mut next, path, Some(watch))?;
            }
            self.publish(next);
        }
        Ok(watch.is_whole())
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
            let mut sync = lock(&self.sync, go_on).ok_or(IndexError::Stopped)?;
            let mut next = Snapshot::clone(&self.newest());
            next.take_in(&pending);
            let watch = sync.watch.take();
            for state in &reading.moved_on {
                self.refresh(&mut next, &state.path, watch.as_deref())?;
            }
            sync.watch = watch.filter(|watch| watch.is_whole());
            let done = next.is_indexed();
            let published = self.publish(next);
            drop(sync);
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
        Source { store: &*self.store, max_file_bytes: self.limits.max_file_bytes, progress: &self.progress }
    }

    /// Looks at everything, and takes over what has changed.
    fn sweep(
        &self,
        sync: &mut Sync,
        identity: u64,
        read: Option<&TextRoom>,
        go_on: GoOn<'_>,
    ) -> Result<(), IndexError> {
        let before = self.newest();
        let first = before.is_empty();
        // A new watch, because the old one has lost track or never was.
        let (watch, read_at) = (self.store.watch(), self.store.now());
        let walked = self.store.walk(&Walk {
            below: None,
            skip: &|name| self.skips(name),
            watch: watch.as_deref(),
            read: read.filter(|_| first),
            go_on,
        })?;
        if walked.stopped {
            return Err(IndexError::Stopped);
        }
        if first {
            let Walked { files, folders, texts, .. } = walked;
            let next = Snapshot::build(files, folders, before.next_id());
            texts.into_par_iter().for_each(|(path, buffer, range)| {
                if let (Some(state), Some(text)) = (next.file(&path), Slice::of(&buffer, range)) {
                    state.set_text(text, read_at);
                }
            });
            self.publish(next);
        } else {
            let mut next = Snapshot::clone(&before);
            take_over(&mut next, before.files(), before.folders(), walked);
            self.publish(next);
        }
        *sync = Sync {
            identity: Some(identity),
            watch: watch.filter(|watch| watch.is_whole()),
            swept: Some(Instant::now()),
        };
        Ok(())
    }

    fn walk(&self, below: &VaultPath, watch: Option<&dyn Watch>) -> Result<Walked, StoreError> {
        let skip = |name: &str| self.skips(name);
        self.store.walk(&Walk { below: Some(below), skip: &skip, watch, read: None, go_on: &|| true })
    }

    /// Something happened at this path: looks what is there now.
    fn refresh(&self, next: &mut Snapshot, path: &VaultPath, watch: Option<&dyn Watch>) -> Result<(), StoreError> {
        if path.is_hidden() || self.skips(path.name()) {
            return Ok(());
        }
        let found = match self.store.look(path) {
            // Its folder has been closed to us.
            Err(StoreError::NotPermitted) => Found::Nothing,
            found => found?,
        };
        match found {
            Found::Nothing => {
                if next.has_folder(path) {
                    watch.iter().for_each(|watch| watch.forget(path));
                }
                next.remove(path);
            }
            found @ (Found::File(stat) | Found::Linked(stat)) => {
                if matches!(found, Found::Linked(_)) {
                    watch.iter().for_each(|watch| watch.give_up());
                }
                if next.has_folder(path) {
                    next.remove(path);
                }
                next.put(path.clone(), stat);
            }
            Found::Folder => {
                watch.iter().for_each(|watch| watch.forget(path));
                let walked = match self.walk(path, watch) {
                    // Gone again, or closed to us.
                    Err(StoreError::Missing | StoreError::NotAFile | StoreError::NotPermitted) => Walked::default(),
                    walked => walked?,
                };
                if next.file(path).is_some() {
                    next.remove(path);
                }
                next.put_folder(path.clone());
                let before = next.clone();
                take_over(next, before.files_below(path), before.folders_below(path), walked);
            }
        }
        Ok(())
    }

    fn skips(&self, name: &str) -> bool {
        self.skip_folders.holds(name)
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
        let Some(mut sync) = lock(&self.sync, &|| false) else { return false };
        *sync = Sync::default();
        let next_id = self.newest().next_id();
        self.publish(Snapshot::build(Vec::new(), Vec::new(), next_id));
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
