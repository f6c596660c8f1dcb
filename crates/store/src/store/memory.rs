use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use lapidary_note::ContentHash;

use super::{
    Entry, EntryKind, FileNumber, Found, Held, Inspected, NewPlace, Open, Spot, Stamp, Stat, Steps, Store, StoreError,
    StoredFile, Swap, Walk, Walked, Watch,
};
use crate::VaultPath;

/// A vault in memory: what the examples of the tools run on.
#[derive(Default)]
pub struct MemoryStore {
    files: Mutex<BTreeMap<VaultPath, Vec<u8>>>,
    /// Moves with every change, so that a file of the same size is not taken for the same file.
    changes: AtomicU64,
}

impl MemoryStore {
    pub fn new(files: impl IntoIterator<Item = (VaultPath, Vec<u8>)>) -> Self {
        Self { files: Mutex::new(files.into_iter().collect()), changes: AtomicU64::default() }
    }

    pub fn bytes(&self, path: &VaultPath) -> Option<Vec<u8>> {
        self.files().get(path).cloned()
    }

    /// All files get another stamp with every change to one: a vault this small is read again in no time.
    fn stat(&self, bytes: &[u8]) -> Stat {
        let inode = self.changes.load(Ordering::Acquire);
        Stat { stamp: Stamp { size: bytes.len() as u64, inode, ..Stamp::default() }, created: None }
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

impl MemoryStore {
    fn take(&self, from: &VaultPath, to: &VaultPath) -> Result<(), StoreError> {
        let mut files = self.files();
        if files.contains_key(to) || nothing(&files, to) == StoreError::IsFolder {
            return Err(StoreError::Exists);
        }
        let moved: Vec<VaultPath> = files.keys().filter(|path| path.is_within(from)).cloned().collect();
        if moved.is_empty() {
            return Err(StoreError::Missing);
        }
        for path in moved {
            let name = format!("{to}{}", &path.as_str()[from.as_str().len()..]);
            let new = VaultPath::spelt(&name).ok_or(StoreError::BadName)?;
            let bytes = files.remove(&path).unwrap_or_default();
            files.insert(new, bytes);
        }
        self.changes.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }
}

/// The file beside a place.
fn beside(spot: &Spot, aside: &str) -> Result<VaultPath, StoreError> {
    spot.place.sibling(aside).map_err(|_| StoreError::BadName)
}

impl Steps for MemoryStore {
    fn place(&self, path: &VaultPath, _: Open<'_>) -> Result<VaultPath, StoreError> {
        let files = self.files();
        match nothing(&files, path) {
            _ if files.contains_key(path) => Ok(path.clone()),
            // A folder has a place too.
            StoreError::IsFolder => Ok(path.clone()),
            nothing => Err(nothing),
        }
    }

    fn new_place(&self, path: &VaultPath, _: Open<'_>) -> Result<NewPlace, StoreError> {
        let files = self.files();
        if files.contains_key(path) {
            return Err(StoreError::Exists);
        }
        if nothing(&files, path) == StoreError::IsFolder {
            return Err(StoreError::IsFolder);
        }
        if files.keys().any(|known| is_in(path, known)) {
            return Err(StoreError::NotAFile);
        }
        let above = std::iter::successors(path.folder(), VaultPath::folder);
        let mut folders: Vec<VaultPath> =
            above.take_while(|folder| nothing(&files, folder) == StoreError::Missing).collect();
        folders.reverse();
        Ok(NewPlace { place: path.clone(), folders })
    }

    fn spot(&self, place: &VaultPath) -> Result<Spot, StoreError> {
        Ok(Spot::named(place.clone()))
    }

    fn stage(&self, spot: &Spot, aside: &str, bytes: &[u8], _: bool) -> Result<FileNumber, StoreError> {
        self.files().insert(beside(spot, aside)?, bytes.to_vec());
        Ok(FileNumber(0, 0))
    }

    fn exchange(&self, spot: &Spot, aside: &str, _: &ContentHash) -> Result<Swap, StoreError> {
        let mut files = self.files();
        let aside = beside(spot, aside)?;
        if !files.contains_key(&spot.place) {
            return Err(nothing(&files, &spot.place));
        }
        let new = files.remove(&aside).ok_or(StoreError::Missing)?;
        let old = files.insert(spot.place.clone(), new).unwrap_or_default();
        files.insert(aside, old);
        self.changes.fetch_add(1, Ordering::AcqRel);
        Ok(Swap::Changed)
    }

    fn give_way(&self, spot: &Spot, aside: &str, _: FileNumber) -> Result<(), StoreError> {
        self.exchange(spot, aside, &ContentHash::of(b"")).map(|_| ())
    }

    fn bring(&self, spot: &Spot, aside: &str) -> Result<(), StoreError> {
        self.take(&beside(spot, aside)?, &spot.place)
    }

    fn set_aside(&self, spot: &Spot, aside: &str) -> Result<(), StoreError> {
        if nothing(&self.files(), &spot.place) == StoreError::IsFolder {
            return Err(StoreError::IsFolder);
        }
        self.take(&spot.place, &beside(spot, aside)?)
    }

    fn inspect(&self, spot: &Spot, aside: Option<&str>, _: u64) -> Result<Inspected, StoreError> {
        let place = aside.map_or_else(|| Ok(spot.place.clone()), |aside| beside(spot, aside))?;
        let files = self.files();
        let bytes = files.get(&place).cloned().ok_or_else(|| nothing(&files, &place))?;
        Ok(Inspected { number: FileNumber(0, 0), hash: ContentHash::of(&bytes), bytes, held: Held::Alone(None) })
    }

    fn discard(&self, spot: &Spot, aside: &str) -> Result<(), StoreError> {
        self.files().remove(&beside(spot, aside)?);
        Ok(())
    }

    fn has_system_trash(&self) -> bool {
        false
    }

    fn trash(&self, _: &Spot, _: &str, _: SystemTime) -> Result<(), StoreError> {
        Err(StoreError::NotPermitted)
    }

    fn rename(&self, from: &Spot, to: &Spot) -> Result<(), StoreError> {
        self.take(&from.place, &to.place)
    }

    /// Folders are there as long as something is in them.
    fn make_folder(&self, _: &VaultPath) -> Result<bool, StoreError> {
        Ok(true)
    }

    fn remove_folder(&self, _: &VaultPath) -> Result<(), StoreError> {
        Ok(())
    }

    fn sync(&self, _: &Spot) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Store for MemoryStore {
    fn steps(&self) -> &dyn Steps {
        self
    }

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
            Some(bytes) => Ok(Some(self.stat(bytes).stamp)),
            None if nothing(&files, path) == StoreError::Missing => Ok(None),
            None => Ok(Some(self.stat(&[]).stamp)),
        }
    }

    fn walk(&self, &Walk { below, skip, .. }: &Walk<'_>) -> Result<Walked, StoreError> {
        let mut walked = Walked::default();
        for (path, bytes) in &*self.files() {
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
            walked.files.push((path.clone(), self.stat(bytes)));
        }
        walked.folders.sort_unstable();
        walked.folders.dedup();
        Ok(walked)
    }

    fn look(&self, path: &VaultPath) -> Result<Found, StoreError> {
        let files = self.files();
        Ok(match files.get(path) {
            Some(bytes) => Found::File(self.stat(bytes)),
            None if nothing(&files, path) == StoreError::IsFolder => Found::Folder,
            None => Found::Nothing,
        })
    }

    fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<Stat, StoreError> {
        let stored = self.read(path, max_bytes, &|_| true)?;
        into.extend_from_slice(&stored.bytes);
        Ok(self.stat(&stored.bytes))
    }

    fn watch(&self) -> Option<Box<dyn Watch>> {
        None
    }

    fn identity(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Long after every change: stamps here are exact.
    fn now(&self) -> i64 {
        i64::MAX
    }
}
