//! Keeps the newest index of documents, and reads documents in the background.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use lapidary_index::{FileId, FileState, GoOn, IndexError, SortedMap, TextSource, VisibleFiles};
use lapidary_note::ContentHash;
use lapidary_store::{ElapsedTime, FileStamp, Scope, VaultLimits, VaultPath, maintenance::run_aside};
use parking_lot::Mutex;

use super::document_index::{DocumentIndex, DocumentReading, KnownDocument, ReadableDocuments, kept_text, part_places};
use crate::{
    DocumentKey, DocumentKind, DocumentStore, DocumentText, NoDocumentText, RankedIndexCache, VectorIndexCache,
    meaning::{NoteVectors, VectorCache},
    posix::CacheFile,
};

/// How many callers with their own scopes are remembered.
const MOST_REMEMBERED: usize = 64;
/// Documents become searchable in groups of this much text, of this many, or after this long.
const GROUP_BYTES: u64 = 4 << 20;
const GROUP_DOCUMENTS: usize = 64;
const GROUP_TIME: Duration = Duration::from_secs(1);
/// A caller waits a moment for this many documents of this size.
const FEW_DOCUMENTS: usize = 8;
const FEW_BYTES: u64 = 4 << 20;
/// While calls come in, the next document waits, but not for ever.
const CALLS_ARE_NEAR: Duration = Duration::from_millis(20);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// What takes longer is read after all others, if there is a program for scans.
const LONG_DOCUMENT: Duration = Duration::from_secs(3);
/// What a document counts where notes are counted, for those who wait: it takes about as long.
const NOTES_A_DOCUMENT: usize = 100;

/// The documents of a vault, as far as they were read.
pub struct DocumentIndexCache {
    store: Arc<DocumentStore>,
    newest: Mutex<KeptDocuments>,
    /// Where their vectors are kept.
    vectors: Option<CacheFile>,
    /// Whether some are being read. Only one thread at a time makes the next index.
    reading: AtomicBool,
    /// How much text is searched; with none, documents are not.
    room: u64,
}

#[derive(Default)]
struct KeptDocuments {
    /// `None` until the first is read.
    index: Option<Arc<DocumentIndex>>,
    /// What recent callers may read, latest first.
    listed: Vec<ListedDocuments>,
}

/// The documents that a scope shows of some files, newest first.
struct ListedDocuments {
    scope: Arc<Scope>,
    files: SortedMap<FileId, Arc<FileState>>,
    documents: Arc<[Arc<FileState>]>,
}

/// How far reading is, among the documents that a caller sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentsState {
    pub read: usize,
    /// Of these, without any text: scans.
    pub empty: usize,
    pub failed: usize,
    pub waiting: usize,
    /// For lack of room.
    pub left_out: usize,
}

/// What a caller lacks.
struct DocumentLook {
    index: Arc<DocumentIndex>,
    shown: HashSet<FileId>,
    /// To be read, newest first: new ones, and those that were read too soon after a change. Each with how much text
    /// is known of newer ones.
    wanted: Vec<(Arc<FileState>, u64)>,
    without_vectors: usize,
    state: DocumentsState,
}

/// How documents are read.
#[derive(Clone, Copy)]
pub(crate) struct ReadingPace {
    /// Ends after this long; what was read stays.
    pub(crate) at_most: Option<Duration>,
    /// Pauses while calls come in.
    pub(crate) gives_way: bool,
}

/// A document and its text, if it has one.
type ReadDocument = (KnownDocument, Option<Arc<DocumentText>>);

impl Default for DocumentIndexCache {
    fn default() -> Self {
        Self::new(Arc::default(), None, VaultLimits::default().max_document_bytes)
    }
}

impl DocumentIndexCache {
    pub fn new(store: Arc<DocumentStore>, file: Option<CacheFile>, room: u64) -> Self {
        Self { store, newest: Mutex::default(), vectors: file, reading: AtomicBool::new(false), room }
    }

    /// Whether documents are searched.
    pub fn is_on(&self) -> bool {
        self.room > 0 && self.store.has_reader()
    }

    /// What is kept for the next start: texts, and failures; `None` if documents are not searched.
    pub fn kept(&self) -> Option<(usize, usize)> {
        self.is_on().then(|| self.store.kept())
    }

    /// Whether some are being read.
    pub fn is_reading(&self) -> bool {
        self.reading.load(Ordering::Acquire)
    }

    /// Whether nothing has to be read for a caller that sees these files.
    pub fn is_ready(&self, files: &VisibleFiles, meaning: &VectorIndexCache) -> bool {
        let look = self.look(files, meaning.is_on());
        look.wanted.is_empty() && look.without_vectors == 0
    }

    /// Whether that is so little that it is done in a moment.
    pub fn is_near(&self, files: &VisibleFiles) -> bool {
        let wanted = self.look(files, false).wanted;
        let bytes: u64 = wanted.iter().map(|(state, _)| state.stat.stamp.size).sum();
        wanted.len() <= FEW_DOCUMENTS && bytes <= FEW_BYTES
    }

    /// How far it is for a caller; `None` if documents are not searched. What is only kept from before counts as waiting.
    pub fn state(&self, files: &VisibleFiles) -> Option<DocumentsState> {
        self.is_on().then(|| self.look(files, false).state)
    }

    /// What a caller may search; `None` if there are no documents.
    pub(crate) fn readable<'s>(&'s self, files: &'s VisibleFiles, by_meaning: bool) -> Option<ReadableDocuments<'s>> {
        if !self.is_on() {
            return None;
        }
        let DocumentLook { index, shown, without_vectors, state, .. } = self.look(files, by_meaning);
        let unread = state.waiting;
        Some(ReadableDocuments { index, files, store: &self.store, shown, unread, without_vectors })
    }

    /// The documents that a caller sees, newest first.
    fn listed(&self, files: &VisibleFiles) -> (Arc<DocumentIndex>, Arc<[Arc<FileState>]>) {
        let by_id = files.snapshot().files_by_id();
        let mut newest = self.newest.lock();
        let index = newest.index.clone().unwrap_or_default();
        let listed = &mut newest.listed;
        let is_same = |known: &ListedDocuments| Arc::ptr_eq(&known.scope, files.scope());
        if let Some(at) = listed.iter().position(is_same) {
            listed[..=at].rotate_right(1);
            if listed[0].files.is_same(by_id) {
                return (index, Arc::clone(&listed[0].documents));
            }
        }
        // The list is made without the lock, as a vault may have many files.
        drop(newest);
        let pictures = self.store.reads_pictures();
        let is_document = |path: &VaultPath| DocumentKind::searched(path, pictures).is_some();
        let found = files.iter().filter(|entry| !entry.is_searched() && is_document(entry.path()));
        let mut found: Vec<Arc<FileState>> = found.map(|entry| Arc::clone(entry.state())).collect();
        found.sort_by(|one, other| {
            let changed = |state: &FileState| Reverse(state.stat.stamp.modified);
            changed(one).cmp(&changed(other)).then_with(|| one.path.cmp(&other.path))
        });
        let documents: Arc<[Arc<FileState>]> = found.into();
        // Those of planned changes belong to one call.
        if !files.is_planned() {
            let mut newest = self.newest.lock();
            newest.listed.retain(|known| !is_same(known));
            newest.listed.truncate(MOST_REMEMBERED - 1);
            let (scope, files) = (Arc::clone(files.scope()), by_id.clone());
            newest.listed.insert(0, ListedDocuments { scope, files, documents: Arc::clone(&documents) });
        }
        (index, documents)
    }

    /// What a caller sees of the index, and what it lacks. Hidden documents do not count, or the answer would reveal them.
    fn look(&self, files: &VisibleFiles, by_meaning: bool) -> DocumentLook {
        let (index, documents) = self.listed(files);
        let (mut shown, mut wanted) = (HashSet::with_capacity(documents.len()), Vec::new());
        let (mut state, mut bytes, mut without_vectors) = (DocumentsState::default(), 0, 0);
        let source = files.source();
        for document in documents.iter() {
            // The newest come first, and what has no room is neither read nor found.
            if bytes >= self.room {
                state.left_out += 1;
                continue;
            }
            let Some(known) = index.get(document) else {
                state.waiting += 1;
                wanted.push((Arc::clone(document), bytes));
                continue;
            };
            let newer = bytes;
            bytes += known.bytes();
            if !known.is_settled && document.stat.stamp.is_settled(source.read_at(document)) {
                wanted.push((Arc::clone(document), newer));
            }
            match &known.reading {
                DocumentReading::Failed => state.failed += 1,
                DocumentReading::Text { parts, .. } => {
                    state.read += 1;
                    state.empty += usize::from(parts.is_empty());
                    shown.insert(document.id);
                    if by_meaning && !parts.is_empty() && !index.vectors.has(document) {
                        without_vectors += 1;
                    }
                }
            }
        }
        DocumentLook { index, shown, wanted, without_vectors, state }
    }

    /// Reads what a caller lacks, the newest first. What was read before an end stays.
    pub(crate) fn read(
        &self,
        meaning: &VectorIndexCache,
        files: &VisibleFiles,
        pace: ReadingPace,
        go_on: GoOn<'_>,
    ) -> Result<(), IndexError> {
        let started = ElapsedTime::start();
        let goes_on = || go_on() && pace.at_most.is_none_or(|most| started.elapsed() < most);
        let DocumentLook { wanted, shown, .. } = self.look(files, false);
        let source = files.source();
        let _under_way = source.progress.begin(NOTES_A_DOCUMENT * wanted.len());
        // With nothing to read, the disk need not be asked.
        let remembered = if wanted.is_empty() { HashMap::new() } else { self.store.remembered() };
        // As long as reading took, so that neither words nor meaning wait for all of the other: scans may take an hour, and
        // so may the vectors of a transformer.
        let embed_for = |most: Duration| {
            let embedding = ElapsedTime::start();
            self.embed(meaning, files, pace, &|| goes_on() && embedding.elapsed() < most);
        };
        let mut group = DocumentGroup::default();
        let mut taken = 0;
        let mut late: Vec<&(Arc<FileState>, u64)> = wanted.iter().collect();
        // A scan takes seconds a page. All other documents come first, and it goes on where it was left.
        let rounds = if self.store.reads_pictures() { &[Some(LONG_DOCUMENT), None][..] } else { &[None] };
        for longest in rounds {
            for document @ (state, newer) in std::mem::take(&mut late) {
                if !goes_on() || newer + taken >= self.room {
                    break;
                }
                if pace.gives_way {
                    give_way(files);
                }
                let begun = ElapsedTime::start();
                let is_long = || longest.is_some_and(|longest| begun.elapsed() >= longest);
                let read = self.read_one(state, &source, &remembered, &|| goes_on() && !is_long());
                if read.is_none() && is_long() {
                    late.push(document);
                    continue;
                }
                taken += group.put(read);
                source.progress.step(NOTES_A_DOCUMENT);
                if group.is_full() {
                    let took = group.begun.elapsed();
                    self.publish(std::mem::take(&mut group), files, &shown);
                    embed_for(took);
                }
            }
            self.publish(std::mem::take(&mut group), files, &shown);
            embed_for(started.elapsed());
        }
        self.embed(meaning, files, pace, &goes_on);
        if go_on() { Ok(()) } else { Err(IndexError::Stopped) }
    }

    /// `None` if it is not read now.
    fn read_one(
        &self,
        state: &Arc<FileState>,
        source: &TextSource<'_>,
        remembered: &HashMap<String, (FileStamp, ContentHash)>,
        go_on: GoOn<'_>,
    ) -> Option<(ReadDocument, Option<ContentHash>)> {
        let kind = DocumentKind::searched(&state.path, self.store.reads_pictures())?;
        let stamp = state.stat.stamp;
        // A file that has not changed since need not be opened, if its text is kept.
        if let Some((_, hash)) = remembered.get(state.path.as_str()).filter(|(known, _)| *known == stamp) {
            let key = DocumentKey { kind, hash: *hash };
            if let Some(known) = self.store.known(&key) {
                return Some((read_document(state, key, known, true)?, None));
            }
        }
        let read_at = source.read_at(state);
        let mut bytes = Vec::new();
        let is_exact = source.content(state, &mut bytes);
        if !is_exact && !bytes.is_empty() {
            // Changed meanwhile: its next state is read another time.
            return None;
        }
        let is_settled = stamp.is_settled(read_at);
        if !is_exact {
            let reading = DocumentReading::Failed;
            return Some(((KnownDocument { state: Arc::clone(state), reading, is_settled }, None), None));
        }
        let key = DocumentKey { kind, hash: ContentHash::of(&bytes) };
        let read = self.store.text(&key, &bytes, go_on);
        Some((read_document(state, key, read, is_settled)?, is_settled.then_some(key.hash)))
    }

    /// Makes what was read searchable. Only the reader does so, so nothing else has changed the index meanwhile.
    fn publish(&self, group: DocumentGroup, files: &VisibleFiles, shown: &HashSet<FileId>) {
        let DocumentGroup { documents, known, .. } = group;
        self.store.remember(&known);
        let before = self.newest.lock().index.clone().unwrap_or_default();
        let by_id = files.snapshot().files_by_id();
        let is_gone = |document: &KnownDocument| by_id.get(&document.state.id).is_none();
        // What another caller sees may be dropped, but only if there is no room: it is kept on disk.
        let added: HashSet<FileId> = documents.iter().map(|(document, _)| document.state.id).collect();
        let is_crowded = before.bytes() > self.room.saturating_mul(2);
        let is_dropped = |document: &KnownDocument| {
            let id = document.state.id;
            is_gone(document) || (is_crowded && !shown.contains(&id) && !added.contains(&id))
        };
        let removed: Vec<FileId> =
            before.documents().filter(|document| is_dropped(document)).map(|document| document.state.id).collect();
        if documents.is_empty() && removed.is_empty() {
            return;
        }
        // Segments of this size can always be made.
        let Some(next) = before.with(&removed, documents) else { return };
        self.newest.lock().index = Some(Arc::new(next));
        files.live().learnt();
    }

    /// Makes the vectors that are missing.
    fn embed(&self, meaning: &VectorIndexCache, files: &VisibleFiles, pace: ReadingPace, go_on: GoOn<'_>) {
        if !meaning.is_on() {
            return;
        }
        let before = self.newest.lock().index.clone().unwrap_or_default();
        let model = meaning.model();
        let mut next = DocumentIndex::clone(&before);
        if next.vectors.is_new()
            && let Some(cache) = self.vector_cache()
        {
            next.vectors = cache.recall(files.snapshot(), model);
        }
        let shown = self.look(files, false).shown;
        let lacking: Vec<Arc<KnownDocument>> = next
            .documents()
            .filter(|known| shown.contains(&known.state.id) && !next.vectors.has(&known.state))
            .cloned()
            .collect();
        let mut last = ElapsedTime::start();
        for known in lacking {
            if !go_on() {
                break;
            }
            if pace.gives_way {
                give_way(files);
            }
            let text = known.key().and_then(|key| kept_text(&self.store, files, &known.state, key, go_on));
            let Some(text) = text else { continue };
            let starts: Vec<usize> = part_places(&text).iter().map(|part| part.start).collect();
            let vectors = NoteVectors::of_document(&known.state, &text, &starts, model, known.is_settled);
            next.put_vectors(&known.state, Arc::new(vectors));
            // Searches can use what there is so far.
            if last.elapsed() >= GROUP_TIME {
                self.newest.lock().index = Some(Arc::new(next.clone()));
                files.live().learnt();
                last = ElapsedTime::start();
            }
        }
        self.newest.lock().index = Some(Arc::new(next));
        files.live().learnt();
    }

    fn vector_cache(&self) -> Option<VectorCache> {
        Some(VectorCache::of_version(self.vectors.clone()?, self.store.version()?))
    }

    /// Saves new vectors.
    pub(crate) fn save(&self, meaning: &VectorIndexCache) {
        let index = self.newest.lock().index.clone();
        if let (Some(cache), Some(index), true) = (self.vector_cache(), index, meaning.is_on()) {
            cache.save(&index.vectors, meaning.model());
        }
    }

    /// Drops everything; it comes from what is kept, with the next search.
    pub(crate) fn rest(&self) {
        // The reader would go on from an empty index.
        if !self.is_reading() {
            *self.newest.lock() = KeptDocuments::default();
        }
    }
}

/// Documents that become searchable together.
struct DocumentGroup {
    documents: Vec<ReadDocument>,
    known: Vec<(VaultPath, FileStamp, ContentHash)>,
    bytes: u64,
    begun: ElapsedTime,
}

impl Default for DocumentGroup {
    fn default() -> Self {
        Self { documents: Vec::new(), known: Vec::new(), bytes: 0, begun: ElapsedTime::start() }
    }
}

impl DocumentGroup {
    /// Returns how much text there is.
    fn put(&mut self, read: Option<(ReadDocument, Option<ContentHash>)>) -> u64 {
        let Some((document, hash)) = read else { return 0 };
        let bytes = document.0.bytes();
        self.bytes += bytes;
        let state = &document.0.state;
        self.known.extend(hash.map(|hash| (state.path.clone(), state.stat.stamp, hash)));
        self.documents.push(document);
        bytes
    }

    fn is_full(&self) -> bool {
        self.bytes >= GROUP_BYTES || self.documents.len() >= GROUP_DOCUMENTS || self.begun.elapsed() >= GROUP_TIME
    }
}

/// `None` if it was not read to the end.
fn read_document(
    state: &Arc<FileState>,
    key: DocumentKey,
    read: Result<Arc<DocumentText>, NoDocumentText>,
    is_settled: bool,
) -> Option<ReadDocument> {
    let state = Arc::clone(state);
    match read {
        Ok(text) => {
            let bytes = text.parts.iter().map(|part| part.text.len() as u64).sum();
            let reading = DocumentReading::Text { key, parts: part_places(&text), bytes };
            Some((KnownDocument { state, reading, is_settled }, Some(text)))
        }
        Err(NoDocumentText::Stopped) => None,
        // Also a fault that may be gone another time: the next server tries again.
        Err(NoDocumentText::Fault(_)) => {
            Some((KnownDocument { state, reading: DocumentReading::Failed, is_settled }, None))
        }
    }
}

/// Waits while calls come in.
fn give_way(files: &VisibleFiles) {
    let waited = ElapsedTime::start();
    while files.live().idle() < CALLS_ARE_NEAR && waited.elapsed() < LONGEST_PAUSE {
        thread::sleep(LOOK_AGAIN);
    }
}

/// Reads documents in the background that a caller may read. Ends early with the vault.
pub fn read_aside(cache: &Arc<RankedIndexCache>, files: &VisibleFiles) {
    if cache.documents().reading.swap(true, Ordering::AcqRel) {
        return;
    }
    let (live, scope) = (Arc::clone(files.live()), Arc::clone(files.scope()));
    let reading = ReadingMark(Arc::clone(cache));
    let started = run_aside("documents", move || {
        let live = &live;
        let pace = ReadingPace { at_most: None, gives_way: true };
        let read = live.files(&|| Arc::strong_count(live) > 1).and_then(|snapshot| {
            let files = VisibleFiles::new(Arc::clone(live), Arc::clone(&scope), snapshot);
            let cache = &reading.0;
            // One reference is this task's, the other one that of the files.
            cache.documents().read(cache.meaning(), &files, pace, &|| Arc::strong_count(live) > 2)
        });
        if let Err(error) = read {
            tracing::debug!(%error, "the documents could not be read");
        }
    });
    if let Err(error) = started {
        tracing::warn!(%error, "documents are not read");
    }
}

impl RankedIndexCache {
    /// Reads documents for a caller that waits, for at most this long.
    pub fn read_documents(&self, files: &VisibleFiles, at_most: Duration, go_on: GoOn<'_>) -> Result<(), IndexError> {
        // If another caller is reading, its documents are found a moment later.
        if self.documents().reading.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let _reading = ReadingMark(self);
        let pace = ReadingPace { at_most: Some(at_most), gives_way: false };
        self.documents().read(self.meaning(), files, pace, go_on)
    }
}

/// However it ends, it is over.
struct ReadingMark<C: Deref<Target = RankedIndexCache>>(C);

impl<C: Deref<Target = RankedIndexCache>> Drop for ReadingMark<C> {
    fn drop(&mut self) {
        self.0.documents().reading.store(false, Ordering::Release);
    }
}
