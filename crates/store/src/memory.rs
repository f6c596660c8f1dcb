//! A vault in memory: a map of files, and the checkpoints of its changes.

mod commit;
mod history;

use std::{collections::BTreeMap, sync::Arc};

use lapidary_note::ContentHash;
use parking_lot::{Mutex, MutexGuard};

use crate::{
    Backend, BackendTurn, Capabilities, ChangeOrigin, ChangeSet, CheckpointRecord, CommitError, Cursor, EntryKind,
    FileStamp, FileStat, FolderEntry, History, ListingOptions, PlaceCheck, PlaceJudge, PlaceState, Receipt, Scope,
    SkippedNames, StoreError, StoredFile, TurnError, VaultDelta, VaultPath, WalkedFolder,
    fair_queue::{FairQueue, QueueTicket},
};

/// A vault in memory: what the examples of the tools run on. A folder is there as long as a file is in it.
#[derive(Default)]
pub struct MemoryStore {
    contents: Mutex<MemoryState>,
    /// Changes take turns in order of arrival; readers never wait.
    writers: FairQueue,
}

/// Everything, at one moment.
#[derive(Default)]
struct MemoryState {
    files: MemoryFiles,
    /// Goes up with every change.
    version: u64,
    /// The oldest first.
    checkpoints: Vec<CheckpointRecord>,
    /// The checkpoint of each approval.
    approved: BTreeMap<ContentHash, String>,
    /// By key: the call, its checkpoint, and what was answered.
    keyed: BTreeMap<ContentHash, MemoryCall>,
    /// What files held before they were changed.
    old: BTreeMap<ContentHash, Arc<[u8]>>,
}

struct MemoryCall {
    call: ContentHash,
    checkpoint: String,
    reply: Option<Vec<u8>>,
}

#[derive(Clone, Default)]
struct MemoryFiles(BTreeMap<VaultPath, MemoryFile>);

#[derive(Clone)]
struct MemoryFile {
    bytes: Arc<[u8]>,
    /// Of the vault, when this was written: a file of the same size is not taken for the same file.
    version: u64,
}

impl MemoryStore {
    pub fn new(files: impl IntoIterator<Item = (VaultPath, Vec<u8>)>) -> Self {
        let file = |(path, bytes): (VaultPath, Vec<u8>)| (path, MemoryFile { bytes: bytes.into(), version: 0 });
        let files = MemoryFiles(files.into_iter().map(file).collect());
        Self { contents: Mutex::new(MemoryState { files, ..MemoryState::default() }), writers: FairQueue::default() }
    }

    pub fn bytes(&self, path: &VaultPath) -> Option<Vec<u8>> {
        self.contents().files.0.get(path).map(|file| file.bytes.to_vec())
    }

    fn contents(&self) -> MutexGuard<'_, MemoryState> {
        self.contents.lock()
    }
}

impl MemoryFile {
    fn stat(&self) -> FileStat {
        // A file has no time here; its version makes two states of it different.
        let stamp = FileStamp { size: self.bytes.len() as u64, inode: self.version, ..FileStamp::default() };
        FileStat { stamp, created: None }
    }
}

impl MemoryFiles {
    /// Why a path has no readable file.
    fn nothing(&self, path: &VaultPath) -> StoreError {
        if self.0.keys().any(|known| is_in(known, path)) { StoreError::IsFolder } else { StoreError::Missing }
    }

    fn walk(&self, below: Option<&VaultPath>, skip: SkippedNames<'_>) -> WalkedFolder {
        let mut walked = WalkedFolder::default();
        for (path, file) in &self.0 {
            let folders: Vec<VaultPath> = std::iter::successors(path.folder(), VaultPath::folder).collect();
            if path.is_hidden()
                || below.is_some_and(|below| !path.is_within(below))
                || skip(path.name())
                || folders.iter().any(|folder| skip(folder.name()))
            {
                continue;
            }
            let inner = folders
                .into_iter()
                .filter(|folder| below.is_none_or(|below| folder != below && folder.is_within(below)));
            walked.folders.extend(inner);
            walked.files.push((path.clone(), file.stat()));
        }
        walked.folders.sort_unstable();
        walked.folders.dedup();
        walked
    }
}

fn is_in(path: &VaultPath, folder: &VaultPath) -> bool {
    path.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

/// The version of the vault that a cursor has seen.
struct MemoryCursor(u64);

impl Backend for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            writable: true,
            compare_and_swap: true,
            atomic_many: true,
            durable: false,
            checkpoints: true,
            links: false,
        }
    }

    fn read(&self, path: &VaultPath, max_bytes: u64, _: PlaceCheck<'_>) -> Result<StoredFile, StoreError> {
        let contents = self.contents();
        match contents.files.0.get(path) {
            Some(file) if file.bytes.len() as u64 > max_bytes => {
                Err(StoreError::TooLarge { bytes: file.bytes.len() as u64, limit: max_bytes })
            }
            Some(file) => Ok(StoredFile { bytes: file.bytes.to_vec(), modified: None, created: None }),
            None => Err(contents.files.nothing(path)),
        }
    }

    fn list(&self, folder: Option<&VaultPath>, _: PlaceCheck<'_>) -> Result<Vec<FolderEntry>, StoreError> {
        let mut entries: BTreeMap<VaultPath, EntryKind> = BTreeMap::new();
        let contents = self.contents();
        if folder.is_some_and(|folder| contents.files.0.contains_key(folder)) {
            return Err(StoreError::NotAFile);
        }
        for path in contents.files.0.keys() {
            let below = match folder {
                None => Some(path.as_str()),
                Some(folder) => path.as_str().strip_prefix(folder.as_str()).and_then(|rest| rest.strip_prefix('/')),
            };
            let Some(below) = below else { continue };
            let (name, kind) = match below.split_once('/') {
                // Only the first component: what is deeper shows as its folder, once.
                Some((name, _)) => (name, EntryKind::Folder),
                None => (below, EntryKind::File),
            };
            let whole = folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
            entries.extend(VaultPath::parse(&whole).map(|path| (path, kind)));
        }
        if entries.is_empty() && folder.is_some() {
            return Err(StoreError::Missing);
        }
        Ok(entries.into_iter().map(|(path, kind)| FolderEntry { path, kind }).collect())
    }

    fn stamp(&self, path: &VaultPath) -> Result<Option<FileStamp>, StoreError> {
        let contents = self.contents();
        match contents.files.0.get(path) {
            Some(file) => Ok(Some(file.stat().stamp)),
            None if contents.files.nothing(path) == StoreError::Missing => Ok(None),
            // A folder has a stamp too, as on disk.
            None => Ok(Some(FileStamp::default())),
        }
    }

    fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<FileStat, StoreError> {
        let contents = self.contents();
        let file = contents.files.0.get(path).ok_or_else(|| contents.files.nothing(path))?;
        if file.bytes.len() as u64 > max_bytes {
            return Err(StoreError::TooLarge { bytes: file.bytes.len() as u64, limit: max_bytes });
        }
        into.extend_from_slice(&file.bytes);
        Ok(file.stat())
    }

    /// Long after every change: stamps here are exact.
    fn now(&self) -> i64 {
        i64::MAX
    }

    fn changes_since(&self, cursor: &mut Cursor, look: &ListingOptions<'_>) -> Result<VaultDelta, StoreError> {
        let contents = self.contents();
        if cursor.get_mut::<MemoryCursor>().is_some_and(|known| known.0 == contents.version) {
            return Ok(VaultDelta::Places(Vec::new()));
        }
        cursor.set(MemoryCursor(contents.version));
        // Walking everything is fast enough in memory, and needs no record of changes.
        Ok(VaultDelta::Everything { walked: contents.files.walk(None, look.skip), replaced: false })
    }

    fn look_at(&self, _: &mut Cursor, path: &VaultPath, look: &ListingOptions<'_>) -> Result<PlaceState, StoreError> {
        let files = &self.contents().files;
        Ok(match files.0.get(path) {
            Some(file) => PlaceState::File(file.stat()),
            None if files.nothing(path) == StoreError::IsFolder => {
                PlaceState::Folder(files.walk(Some(path), look.skip))
            }
            None => PlaceState::Nothing,
        })
    }

    fn may_have_name(&self, path: &VaultPath) -> bool {
        self.contents().may_have_name(path)
    }

    fn turn<'a>(&'a self, go_on: &dyn Fn() -> bool) -> Result<Box<dyn BackendTurn + 'a>, TurnError> {
        let place = self.writers.wait(go_on).ok_or(TurnError::GivenUp)?;
        Ok(Box::new(MemoryTurn { store: self, _place: place }))
    }

    fn history(&self) -> &dyn History {
        self
    }
}

struct MemoryTurn<'a> {
    store: &'a MemoryStore,
    _place: QueueTicket<'a>,
}

impl BackendTurn for MemoryTurn<'_> {
    /// There are no links, so every change takes place at its own path.
    fn commit(
        &self,
        set: &ChangeSet,
        scope: &Scope,
        origin: &ChangeOrigin,
        _: PlaceJudge<'_>,
    ) -> Result<Receipt, CommitError> {
        self.store.contents().commit(set, scope, origin)
    }
}
