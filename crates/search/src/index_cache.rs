//! Keeps the newest ranked index, and the counts for each scope.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use lapidary_store::maintenance::run_aside;
use parking_lot::Mutex;

use super::{DocumentIndexCache, SegmentCache, VectorIndexCache, corpus::ReadableCounts, index::WordIndex};
use lapidary_index::{FileId, FileState, GoOn, Snapshot, SortedMap, VaultIndex};

use crate::{FileEntry, IndexError, Scope, VisibleFiles, lock};

/// Adding more notes than this takes longer than a caller should wait.
const MAX_CATCH_UP: usize = 1_000;
/// How many callers with their own scopes are remembered.
const MAX_REMEMBERED: usize = 64;
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The newest index of a vault.
#[derive(Default)]
pub struct RankedIndexCache {
    newest: Mutex<KeptIndex>,
    cache: Option<SegmentCache>,
    /// The vectors of the same notes.
    pub(super) meaning: VectorIndexCache,
    /// Those of the bundled model, which answer while a slow one is at work. They are made in a second, so not kept.
    pub(super) stand_in: VectorIndexCache,
    /// What is not a note.
    pub(super) documents: DocumentIndexCache,
    /// Whether one is being built in the background.
    building: AtomicBool,
}

#[derive(Default)]
struct KeptIndex {
    index: Option<Arc<WordIndex>>,
    /// What recent callers may read of it, latest first.
    counted: Vec<ScopeCounts>,
}

/// The counts in an index for a scope.
struct ScopeCounts {
    index: Arc<WordIndex>,
    scope: Arc<Scope>,
    /// With these files it is current for this scope, whatever has changed in others.
    files: SortedMap<FileId, Arc<FileState>>,
    readable: Arc<ReadableCounts>,
    /// The files that no index contains, once requested.
    others: Option<Arc<[Arc<FileState>]>>,
}

impl RankedIndexCache {
    pub fn new(cache: Option<SegmentCache>, meaning: VectorIndexCache, documents: DocumentIndexCache) -> Self {
        Self { cache, meaning, documents, ..Self::default() }
    }

    /// The vectors that answer a caller who sees these files. Cosines of two models cannot be compared, so all are of one.
    pub(super) fn serving(&self, files: &VisibleFiles) -> &VectorIndexCache {
        if self.meaning.is_slow() && !self.meaning.is_near(files) { &self.stand_in } else { &self.meaning }
    }

    /// Whether a search by meaning need not wait long.
    pub fn is_meaning_near(&self, files: &VisibleFiles) -> bool {
        self.serving(files).is_near(files)
    }

    /// Whether it has not to wait much longer.
    pub fn is_meaning_soon(&self, files: &VisibleFiles) -> bool {
        self.serving(files).is_soon(files)
    }

    /// Whether the vectors that such a search waits for are being made.
    pub fn is_meaning_coming(&self) -> bool {
        if self.meaning.is_slow() { self.stand_in.is_building() } else { self.meaning.is_building() }
    }

    /// What is kept of the meaning of notes.
    pub fn meaning(&self) -> &VectorIndexCache {
        &self.meaning
    }

    /// What was read of the documents.
    pub fn documents(&self) -> &DocumentIndexCache {
        &self.documents
    }

    /// Whether there was an index, here or in the cache. Then the texts of all notes need not be read.
    pub fn is_known(&self) -> bool {
        let here = self.newest.try_lock().is_some_and(|newest| newest.index.is_some());
        here || self.cache.as_ref().is_some_and(SegmentCache::is_there)
    }

    /// Whether a caller that sees these files can have an index of them without a long wait. Hidden files do not count,
    /// or the answer would reveal them.
    pub fn is_near(&self, files: &VisibleFiles) -> bool {
        // The holder is adding notes. A small vault is done before it would be worth a scan.
        let Some(mut newest) = self.newest.try_lock() else {
            return files.iter().filter(FileEntry::is_searched).take(MAX_CATCH_UP + 1).count() <= MAX_CATCH_UP;
        };
        // A cached index may be of another snapshot; a search updates it.
        let index = Arc::clone(newest.index.get_or_insert_with(|| Arc::new(self.recall(files.snapshot()))));
        newest.is_counted(&index, files) || index.missing(files) <= MAX_CATCH_UP
    }

    fn recall(&self, snapshot: &Snapshot) -> WordIndex {
        self.cache.as_ref().map(|cache| cache.recall(snapshot)).unwrap_or_default()
    }

    /// An index in which these files are exactly as a caller sees them, and its counts among the notes that the caller
    /// may read. An index of planned changes is not kept.
    pub(super) fn index(
        &self,
        files: &VisibleFiles,
        go_on: GoOn<'_>,
    ) -> Result<(Arc<WordIndex>, Arc<ReadableCounts>), IndexError> {
        let mut newest = lock(&self.newest, go_on).ok_or(IndexError::Stopped)?;
        let index = newest.index.clone().unwrap_or_else(|| Arc::new(self.recall(files.snapshot())));
        if !files.is_planned() {
            newest.index.get_or_insert_with(|| Arc::clone(&index));
        }
        let is_ready = index.is_of(files.snapshot()) || newest.is_counted(&index, files);
        let next = if is_ready { None } else { index.advanced(files, go_on)?.map(Arc::new) };
        if let (Some(next), false) = (&next, files.is_planned()) {
            newest.index = Some(Arc::clone(next));
            files.live().learnt();
        }
        let index = next.unwrap_or(index);
        // An index of planned changes is private, and must not replace the counts of others.
        let readable = if files.is_planned() { count(&index, files) } else { newest.readable(&index, files) };
        Ok((index, readable))
    }

    /// Builds one while calls continue.
    fn build(&self, files: &VisibleFiles, go_on: GoOn<'_>) -> Result<(), IndexError> {
        // Released again while it is built, so that calls can use the old one.
        let before = lock(&self.newest, go_on).ok_or(IndexError::Stopped)?.index.clone();
        let before = before.unwrap_or_else(|| Arc::new(self.recall(files.snapshot())));
        let Some(next) = before.advanced(files, go_on)? else { return Ok(()) };
        let mut newest = lock(&self.newest, go_on).ok_or(IndexError::Stopped)?;
        // Calls in the meantime added a few notes at most, and can do so again.
        if newest.index.as_ref().is_none_or(|newest| newest.alive() <= next.alive()) {
            tracing::debug!(notes = next.alive(), "the search index is made");
            newest.index = Some(Arc::new(next));
            files.live().learnt();
        }
        Ok(())
    }

    /// Whether there is nothing to do for a caller that sees these files.
    pub fn is_ready(&self, files: &VisibleFiles) -> bool {
        let Some(newest) = self.newest.try_lock() else { return false };
        newest.index.as_ref().is_some_and(|index| newest.is_counted(index, files))
    }

    /// The visible files that no index contains: collecting them takes longer than a search.
    pub(super) fn others(&self, files: &VisibleFiles) -> Arc<[Arc<FileState>]> {
        // Not waited for: a thread that is adding notes takes longer than collecting them.
        let mut newest = self.newest.try_lock();
        let mut known = newest.as_mut().and_then(|newest| newest.counted.iter_mut().find(|known| known.is_of(files)));
        if let Some(others) = known.as_ref().and_then(|known| known.others.clone()) {
            return others;
        }
        let others = files.iter().filter(|entry| !entry.is_searched());
        let others: Arc<[Arc<FileState>]> = others.map(|entry| Arc::clone(entry.state())).collect();
        if let Some(known) = known.as_mut() {
            known.others = Some(Arc::clone(&others));
        }
        others
    }

    fn newest(&self) -> Option<Arc<WordIndex>> {
        lock(&self.newest, &|| true)?.index.clone()
    }

    /// Whether an index of words is being built in the background.
    pub fn is_indexing(&self) -> bool {
        self.building.load(Ordering::Acquire)
    }

    /// Whether anything is being built in the background.
    pub fn is_building(&self) -> bool {
        self.is_indexing() || self.meaning.is_building() || self.stand_in.is_building()
    }

    /// Waits for an index that is being built in the background. For a caller with nothing else to do.
    pub fn settle(&self) {
        while self.is_building() {
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Saves new segments.
    pub fn save(&self) {
        self.meaning.save();
        self.documents.save(&self.meaning);
        let (Some(cache), Some(index)) = (&self.cache, self.newest()) else { return };
        let Some(better) = cache.save(&index) else { return };
        let Some(mut newest) = lock(&self.newest, &|| true) else { return };
        // If a note changed meanwhile, it is left for the next time.
        if newest.index.as_ref().is_some_and(|newest| Arc::ptr_eq(newest, &index)) {
            newest.index = Some(Arc::new(better));
        }
    }

    /// How many notes are indexed before any is read.
    #[cfg(test)]
    pub(super) fn recalled(&self, snapshot: &Snapshot) -> usize {
        self.recall(snapshot).alive()
    }

    /// How many notes were.
    #[cfg(test)]
    pub(super) fn taken_in(&self) -> usize {
        self.newest().map_or(0, |index| index.alive())
    }

    /// Drops everything; it is rebuilt by the next call.
    pub fn rest(&self) {
        // Without waiting: a call that holds it still needs it.
        if let Some(mut newest) = lock(&self.newest, &|| false) {
            *newest = KeptIndex::default();
        }
        self.meaning.rest();
        self.stand_in.rest();
        self.documents.rest();
    }
}

impl KeptIndex {
    fn is_counted(&self, index: &Arc<WordIndex>, files: &VisibleFiles) -> bool {
        self.counted.iter().any(|counted| Arc::ptr_eq(&counted.index, index) && counted.is_of(files))
    }

    /// The counts among the notes that a caller may read.
    fn readable(&mut self, index: &Arc<WordIndex>, files: &VisibleFiles) -> Arc<ReadableCounts> {
        let known = &mut self.counted;
        // Counts of an older index are never used again.
        known.retain(|known| Arc::ptr_eq(&known.index, index));
        let now = files.snapshot().files_by_id().clone();
        if let Some(at) = known.iter().position(|known| Arc::ptr_eq(&known.scope, files.scope())) {
            // The latest first, so that the least recent one is dropped.
            known[..=at].rotate_right(1);
            let known = &mut known[0];
            if !known.files.is_same(&now) {
                // The scope sees the same notes, and only other files have changed.
                (known.files, known.others) = (now, None);
            }
            return Arc::clone(&known.readable);
        }
        let readable = count(index, files);
        known.truncate(MAX_REMEMBERED - 1);
        let (index, scope) = (Arc::clone(index), Arc::clone(files.scope()));
        known.insert(0, ScopeCounts { index, scope, files: now, readable: Arc::clone(&readable), others: None });
        readable
    }
}

fn count(index: &WordIndex, files: &VisibleFiles) -> Arc<ReadableCounts> {
    Arc::new(ReadableCounts::new(index, &|id| files.shows(id)))
}

impl ScopeCounts {
    /// Whether it is for exactly these files, as this scope shows them.
    fn is_of(&self, files: &VisibleFiles) -> bool {
        Arc::ptr_eq(&self.scope, files.scope()) && self.files.is_same(files.snapshot().files_by_id())
    }
}

/// Builds the index in the background, of the notes that a caller may read: so hidden notes do not delay it. It may
/// take minutes, so it has its own thread, at most one per vault. Ends early with the vault.
pub fn build_aside(cache: &Arc<RankedIndexCache>, files: &VisibleFiles) {
    if cache.building.swap(true, Ordering::AcqRel) {
        return;
    }
    let (building, scope) = (BuildingMark(Arc::clone(cache)), Arc::clone(files.scope()));
    let live = Arc::clone(files.live());
    let started = run_aside("index-build", move || {
        let live = &live;
        // Texts are not needed with an index. They are read again for it, because both together would take too much.
        let _spared = live.spare_memory();
        let made = to_rank(live, &scope, &|| Arc::strong_count(live) > 1).and_then(|files| {
            // The files belong to the vault too.
            // One reference is this task's, the other one that of the files.
            building.0.build(&files, &|| Arc::strong_count(live) > 2)
        });
        // If this fails, the next search tries again and reports why.
        if let Err(error) = made {
            tracing::debug!(%error, "the search index could not be made");
        }
    });
    // Without it, every answer comes from a scan and says so.
    if let Err(error) = started {
        tracing::warn!(%error, "the search index is not built");
    }
}

/// The current files, with a digest of every note that a caller may read.
pub(super) fn to_rank(live: &Arc<VaultIndex>, scope: &Arc<Scope>, go_on: GoOn<'_>) -> Result<VisibleFiles, IndexError> {
    if scope.shows_all_of_the_index() {
        return Ok(VisibleFiles::new(Arc::clone(live), Arc::clone(scope), live.notes(go_on)?));
    }
    let files = VisibleFiles::new(Arc::clone(live), Arc::clone(scope), live.files(go_on)?);
    live.digest_shown(&files, go_on)?;
    Ok(files)
}

/// However it ends, it is no longer being built.
struct BuildingMark(Arc<RankedIndexCache>);

impl Drop for BuildingMark {
    fn drop(&mut self) {
        self.0.building.store(false, Ordering::Release);
    }
}
