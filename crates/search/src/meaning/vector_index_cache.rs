//! Keeps the newest vectors of a vault.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use lapidary_index::{GoOn, IndexError, VisibleFiles};
use lapidary_meaning::{ModelChoice, ModelKind, TextModel};
use lapidary_store::{ElapsedTime, VaultLimits, maintenance::run_aside};
use parking_lot::Mutex;

use super::{
    kept_vectors::{KeptVectors, VectorCache},
    vector_index::{MissingNotes, VectorIndex, VectorWork},
};
use crate::{RankedIndexCache, index_cache::to_rank, lock, posix::CacheFile};

/// A caller waits while this much text is made into vectors: about a tenth of a second.
const CATCH_UP_BYTES: u64 = 2 << 20;
/// The same for a model that takes a tenth of a second for a piece.
const CATCH_UP_SLOWLY: u64 = 2 << 10;
/// This much is made in the background within the patience of a caller who can also be answered without.
const SOON_BYTES: u64 = 12 << 20;
/// How many notes are made at once in the background, and how many if each takes long. What is done stays done.
const AT_ONCE: usize = 64;
const AT_ONCE_SLOWLY: usize = 4;
/// What took long is kept after this many pieces, or after this time: many servers run only for a short conversation.
const KEPT_AT_ONCE: usize = 256;
const KEPT_EVERY: Duration = Duration::from_secs(5);
/// While calls come in, the work in the background gives way, but never stops.
const CALLS_ARE_NEAR: Duration = Duration::from_millis(20);
const GIVES_WAY: Duration = Duration::from_millis(5);

/// The newest vectors of a vault.
pub struct VectorIndexCache {
    newest: Mutex<Option<Arc<VectorIndex>>>,
    cache: Option<VectorCache>,
    /// Whether some are being made in the background.
    building: AtomicBool,
    /// Which model makes them, if it is not the bundled one.
    choice: OnceLock<ModelChoice>,
    /// How much memory they may take; with none, there is no search by meaning.
    room: u64,
}

impl Default for VectorIndexCache {
    fn default() -> Self {
        Self {
            newest: Mutex::default(),
            cache: None,
            building: AtomicBool::new(false),
            choice: OnceLock::new(),
            room: VaultLimits::default().max_vector_bytes,
        }
    }
}

/// How far the vectors are, among the notes that a caller sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeaningState {
    /// The name of the model.
    pub model: String,
    /// Notes that are in, and in how many pieces.
    pub notes: usize,
    pub pieces: usize,
    /// Notes that will be.
    pub waiting: usize,
    /// Notes for which there is no room.
    pub no_room: usize,
    /// Notes of which only the beginning is in, because they are too long.
    pub cut: usize,
}

impl VectorIndexCache {
    pub fn new(file: Option<CacheFile>, room: u64) -> Self {
        Self { cache: file.map(VectorCache::new), room, ..Self::default() }
    }

    /// Whether the owner wants it.
    pub fn is_on(&self) -> bool {
        self.room > 0
    }

    pub(crate) fn model(&self) -> &'static TextModel {
        self.choice.get().map_or_else(TextModel::bundled, ModelChoice::model)
    }

    /// Sets the model, once and before anything is searched.
    pub fn choose(&self, choice: ModelChoice) {
        self.choice.get_or_init(|| choice);
    }

    /// Whether a text is written in letters that the model was made for.
    pub(crate) fn knows_script(&self, text: &str) -> bool {
        self.model().knows_script(text)
    }

    /// Whether its model takes so long that another one answers meanwhile.
    pub(crate) fn is_slow(&self) -> bool {
        self.is_on() && self.model().kind() == ModelKind::Transformer
    }

    fn recall(&self, files: &VisibleFiles) -> Arc<VectorIndex> {
        Arc::new(self.cache.as_ref().map(|cache| cache.recall(files.snapshot(), self.model())).unwrap_or_default())
    }

    fn missing(&self, index: &VectorIndex, files: &VisibleFiles) -> MissingNotes {
        index.missing(files, self.model().dimension(), self.room)
    }

    /// Whether a caller that sees these files can have vectors of them without a long wait.
    pub fn is_near(&self, files: &VisibleFiles) -> bool {
        self.is_within(files, if self.is_slow() { CATCH_UP_SLOWLY } else { CATCH_UP_BYTES })
    }

    /// Whether it is worth to wait for those that are made in the background.
    pub fn is_soon(&self, files: &VisibleFiles) -> bool {
        self.is_within(files, SOON_BYTES)
    }

    fn is_within(&self, files: &VisibleFiles, most: u64) -> bool {
        // The holder is making some for another caller; to wait for it is as good as to make them.
        let Some(mut newest) = self.newest.try_lock() else { return true };
        let index = Arc::clone(newest.get_or_insert_with(|| self.recall(files)));
        self.missing(&index, files).text_bytes() <= most
    }

    /// The vectors of exactly these files, made as far as they are missing. Those of planned changes are not kept.
    pub(crate) fn index(&self, files: &VisibleFiles, go_on: GoOn<'_>) -> Result<Arc<VectorIndex>, IndexError> {
        let mut newest = lock(&self.newest, go_on).ok_or(IndexError::Stopped)?;
        let index = newest.clone().unwrap_or_else(|| self.recall(files));
        if !files.is_planned() {
            newest.get_or_insert_with(|| Arc::clone(&index));
        }
        let missing = self.missing(&index, files);
        if missing.is_empty() {
            return Ok(index);
        }
        let source = files.source();
        let _under_way = source.progress.begin(missing.states.len());
        let work = VectorWork { model: self.model(), hurried: true, go_on };
        let made = index.made(&missing, &missing.states, &source, work)?;
        let next = Arc::new(index.with(&missing, &missing.states, made, self.model().dimension(), self.room));
        if !files.is_planned() {
            *newest = Some(Arc::clone(&next));
            files.live().learnt();
        }
        Ok(next)
    }

    /// Makes what is missing while calls continue, the newest notes first.
    pub(crate) fn build(&self, files: &VisibleFiles, go_on: GoOn<'_>) -> Result<(), IndexError> {
        let dimension = self.model().dimension();
        let mut newest = lock(&self.newest, go_on).ok_or(IndexError::Stopped)?;
        let first = newest.clone().unwrap_or_else(|| self.recall(files));
        let missing = self.missing(&first, files);
        // What is gone is dropped at once, before any vector is made.
        *newest = Some(Arc::new(first.with(&missing, &[], Vec::new(), dimension, self.room)));
        drop(newest);
        let missing = missing.without_others();
        let source = files.source();
        let _under_way = source.progress.begin(missing.states.len());
        let at_once = if self.is_slow() { AT_ONCE_SLOWLY } else { AT_ONCE };
        let work = VectorWork { model: self.model(), hurried: false, go_on };
        let (mut unkept, mut kept) = (0, ElapsedTime::start());
        for some in missing.states.chunks(at_once) {
            if files.live().idle() < CALLS_ARE_NEAR {
                thread::sleep(GIVES_WAY);
            }
            // Not under the lock: calls can use what there is, and may have made some themselves.
            let made = first.made(&missing, some, &source, work).inspect_err(|_| self.keep_slow_work())?;
            unkept += made.iter().map(|vectors| vectors.spans.len()).sum::<usize>();
            let mut newest = lock(&self.newest, go_on).ok_or(IndexError::Stopped)?;
            let before = newest.clone().unwrap_or_default();
            *newest = Some(Arc::new(before.with(&missing, some, made, dimension, self.room)));
            drop(newest);
            files.live().learnt();
            if unkept >= KEPT_AT_ONCE || kept.elapsed() >= KEPT_EVERY {
                self.keep_slow_work();
                (unkept, kept) = (0, ElapsedTime::start());
            }
        }
        let mut newest = lock(&self.newest, go_on).ok_or(IndexError::Stopped)?;
        if let Some(index) = newest.take() {
            tracing::debug!(notes = index.len(), "the vectors are made");
            *newest = Some(Arc::new(VectorIndex::clone(&index).without_spare()));
        }
        Ok(())
    }

    pub fn is_building(&self) -> bool {
        self.building.load(Ordering::Acquire)
    }

    /// What is kept for the next start; `None` if there is no search by meaning.
    pub fn kept(&self) -> Option<KeptVectors> {
        self.cache.as_ref().filter(|_| self.is_on()).map(|cache| cache.kept(self.model()))
    }

    /// How far it is for a caller; `None` if it is off. Nothing is made for that, but what was kept counts.
    pub fn state(&self, files: &VisibleFiles) -> Option<MeaningState> {
        let index = match self.newest.try_lock().filter(|_| self.is_on())?.clone() {
            Some(index) => index,
            None => self.recall(files),
        };
        let missing = self.missing(&index, files);
        let (notes, pieces) = index.counts(files);
        let (waiting, cut) = (missing.states.len(), index.cut(files));
        Some(MeaningState {
            model: self.model().name().to_owned(),
            notes,
            pieces,
            waiting,
            no_room: missing.left_out,
            cut,
        })
    }

    /// How much of the text that a caller sees is done, in per cent.
    pub fn share(&self, files: &VisibleFiles) -> u8 {
        let Some(index) = self.newest.try_lock().and_then(|newest| newest.clone()) else { return 0 };
        let (done, left) = (index.counts(files).0, self.missing(&index, files).states.len());
        u8::try_from(100 * done / (done + left).max(1)).unwrap_or(100)
    }

    /// Keeps what took long, while more is made: a process that is killed would have to do it again.
    fn keep_slow_work(&self) {
        if self.is_slow() {
            self.save();
        }
    }

    /// Saves new vectors.
    pub(crate) fn save(&self) {
        let index = lock(&self.newest, &|| true).and_then(|newest| newest.clone());
        if let (Some(cache), Some(index)) = (&self.cache, index) {
            cache.save(&index, self.model());
        }
    }

    /// Drops everything; it is recalled or made again by the next call.
    pub(crate) fn rest(&self) {
        if let Some(mut newest) = lock(&self.newest, &|| false) {
            *newest = None;
        }
    }
}

/// Makes vectors in the background, of the notes that a caller may read. Ends early with the vault.
pub fn embed_aside(cache: &Arc<RankedIndexCache>, files: &VisibleFiles) {
    if cache.meaning.is_slow() {
        // First, since it is soon done and answers meanwhile.
        start_embedding(cache, files, |cache| &cache.stand_in);
    }
    start_embedding(cache, files, |cache| &cache.meaning);
}

type WhichVectors = fn(&RankedIndexCache) -> &VectorIndexCache;

fn start_embedding(cache: &Arc<RankedIndexCache>, files: &VisibleFiles, which: WhichVectors) {
    if which(cache).building.swap(true, Ordering::AcqRel) {
        return;
    }
    let (live, scope) = (Arc::clone(files.live()), Arc::clone(files.scope()));
    let building = EmbeddingMark(Arc::clone(cache), which);
    let started = run_aside("vectors", move || {
        let live = &live;
        let made = to_rank(live, &scope, &|| Arc::strong_count(live) > 1).and_then(|files| {
            // One reference is this task's, the other one that of the files.
            which(&building.0).build(&files, &|| Arc::strong_count(live) > 2)
        });
        match made {
            // All callers have them now. A caller that sees more makes the stand-in again.
            Ok(()) if which(&building.0).is_slow() => building.0.stand_in.rest(),
            Ok(()) => {}
            Err(error) => tracing::debug!(%error, "the vectors could not be made"),
        }
    });
    if let Err(error) = started {
        tracing::warn!(%error, "there is no search by meaning");
    }
}

/// However it ends, it is over.
struct EmbeddingMark(Arc<RankedIndexCache>, WhichVectors);

impl Drop for EmbeddingMark {
    fn drop(&mut self) {
        (self.1)(&self.0).building.store(false, Ordering::Release);
    }
}
