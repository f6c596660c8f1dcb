use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use lapidary_note::ContentHash;

use super::{Entry, EntryKind, Open, Stamp, Store, StoreError, StoredFile};
use crate::VaultPath;

/// A vault in memory: what the examples of the tools run on.
#[derive(Default)]
pub struct MemoryStore {
    files: Mutex<BTreeMap<VaultPath, Vec<u8>>>,
}

impl MemoryStore {
    pub fn new(files: impl IntoIterator<Item = (VaultPath, Vec<u8>)>) -> Self {
        Self { files: Mutex::new(files.into_iter().collect()) }
    }

    pub fn bytes(&self, path: &VaultPath) -> Option<Vec<u8>> {
        self.files().get(path).cloned()
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<VaultPath, Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why there is no file to read at a path.
fn nothing(files: &BTreeMap<VaultPath, Vec<u8>>, path: &VaultPath) -> StoreError {
    if files.keys().any(|known| is_in(known, path)) { StoreError::IsFolder } else { StoreError::Missing }
}

fn is_in(path: &VaultPath, folder: &VaultPath) -> bool {
    path.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

impl Store for MemoryStore {
    fn read(&self, path: &VaultPath, max_bytes: u64, _: Open<'_>) -> Result<StoredFile, StoreError> {
        let files = self.files();
        match files.get(path) {
            Some(bytes) if bytes.len() as u64 > max_bytes => {
                Err(StoreError::TooLarge { bytes: bytes.len() as u64, limit: max_bytes })
            }
            Some(bytes) => Ok(StoredFile { bytes: bytes.clone(), modified: None, created: None }),
            None => Err(nothing(&files, path)),
        }
    }

    fn list(&self, folder: Option<&VaultPath>, _: Open<'_>) -> Result<Vec<Entry>, StoreError> {
        let mut entries: BTreeMap<VaultPath, EntryKind> = BTreeMap::new();
        let files = self.files();
        if folder.is_some_and(|folder| files.contains_key(folder)) {
            return Err(StoreError::NotAFile);
        }
        for path in files.keys() {
            let below = match folder {
                None => Some(path.as_str()),
                Some(folder) => path.as_str().strip_prefix(folder.as_str()).and_then(|rest| rest.strip_prefix('/')),
            };
            let Some(below) = below else { continue };
            let (name, kind) = match below.split_once('/') {
                Some((name, _)) => (name, EntryKind::Folder),
                None => (below, EntryKind::File),
            };
            let whole = folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
            entries.extend(VaultPath::parse(&whole).map(|path| (path, kind)));
        }
        if entries.is_empty() && folder.is_some() {
            return Err(StoreError::Missing);
        }
        Ok(entries.into_iter().map(|(path, kind)| Entry { path, kind }).collect())
    }

    fn stamp(&self, path: &VaultPath) -> Result<Option<Stamp>, StoreError> {
        let files = self.files();
        match files.get(path) {
            Some(bytes) => Ok(Some(Stamp::of_bytes(bytes))),
            None if nothing(&files, path) == StoreError::Missing => Ok(None),
            None => Ok(Some(Stamp::of_bytes(&[]))),
        }
    }

    fn replace(&self, path: &VaultPath, expected: &ContentHash, bytes: &[u8], _: Open<'_>) -> Result<(), StoreError> {
        let mut files = self.files();
        let nothing = nothing(&files, path);
        let current = files.get_mut(path).ok_or(nothing)?;
        let found = ContentHash::of(current);
        if found != *expected {
            return Err(StoreError::Changed { found });
        }
        *current = bytes.to_vec();
        Ok(())
    }

    fn create(&self, path: &VaultPath, bytes: &[u8], _: Open<'_>) -> Result<(), StoreError> {
        let mut files = self.files();
        if files.contains_key(path) {
            return Err(StoreError::Exists);
        }
        if nothing(&files, path) == StoreError::IsFolder {
            return Err(StoreError::IsFolder);
        }
        if files.keys().any(|known| is_in(path, known)) {
            return Err(StoreError::NotAFile);
        }
        files.insert(path.clone(), bytes.to_vec());
        Ok(())
    }
}
