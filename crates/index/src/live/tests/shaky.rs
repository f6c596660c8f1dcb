//! A backend that delays and loses changes, to test that the index recovers.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use lapidary_note::ContentHash;
use lapidary_store::{
    BackendTurn, Capabilities, FolderEntry, History, PlaceCheck, StoredFile, TurnError,
    posix::{FolderStore, PosixBackend},
};

use super::super::*;
use crate::FileStamp;

#[derive(Clone, Copy, Debug)]
pub(super) enum Condition {
    Whole,
    /// Some changes are lost, and the backend knows it.
    Lossy(u64),
    /// Some come only the next time.
    Late(u64),
    /// There are no change events, so everything is checked each time.
    Blind,
}

/// A vault whose changes can be held back and lost.
pub(super) struct Shaky {
    inner: PosixBackend,
    condition: Arc<Mutex<Condition>>,
    late: Mutex<BTreeSet<VaultPath>>,
    /// How far its clock is ahead of that of the files.
    ahead: i64,
    looked_at_everything: Arc<AtomicUsize>,
}

impl Shaky {
    pub(super) fn new(root: &Path, ahead: i64) -> Self {
        Self::of(FolderStore::new(root.to_owned()), ahead)
    }

    pub(super) fn of(folder: FolderStore, ahead: i64) -> Self {
        Self {
            inner: PosixBackend::private(Arc::new(folder)),
            condition: Arc::new(Mutex::new(Condition::Whole)),
            late: Mutex::default(),
            ahead,
            looked_at_everything: Arc::default(),
        }
    }

    pub(super) fn condition(&self) -> Arc<Mutex<Condition>> {
        Arc::clone(&self.condition)
    }

    /// How often everything was checked.
    pub(super) fn looked_at_everything(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.looked_at_everything)
    }

    fn everything(&self, cursor: &mut Cursor, look: &ListingOptions<'_>) -> Result<VaultDelta, StoreError> {
        *cursor = Cursor::default();
        self.inner.changes_since(cursor, look)
    }
}

impl Backend for Shaky {
    fn changes_since(&self, cursor: &mut Cursor, look: &ListingOptions<'_>) -> Result<VaultDelta, StoreError> {
        let condition = *self.condition.lock().unwrap();
        let mut late = self.late.lock().unwrap();
        let delta = match condition {
            Condition::Blind => self.everything(cursor, look)?,
            _ => self.inner.changes_since(cursor, look)?,
        };
        let VaultDelta::Places(mut places) = delta else {
            self.looked_at_everything.fetch_add(1, Ordering::Relaxed);
            late.clear();
            return Ok(delta);
        };
        for path in std::mem::take(&mut *late) {
            let found = self.inner.look_at(cursor, &path, look)?;
            places.push((path, found));
        }
        let chance = |path: &VaultPath, seed: u64| {
            ContentHash::of(format!("{seed}{path}").as_bytes())
                .to_string()
                .ends_with(['0', '1', '2', '3', '4', '5', '6', '7'])
        };
        match condition {
            Condition::Lossy(seed) if places.iter().any(|(path, _)| !chance(path, seed)) => {
                return self.everything(cursor, look);
            }
            Condition::Late(seed) => {
                late.extend(places.iter().map(|(path, _)| path).filter(|path| chance(path, seed)).cloned());
                places.retain(|(path, _)| !late.contains(path));
            }
            Condition::Whole | Condition::Lossy(_) | Condition::Blind => {}
        }
        Ok(VaultDelta::Places(places))
    }

    fn look_at(
        &self,
        cursor: &mut Cursor,
        path: &VaultPath,
        look: &ListingOptions<'_>,
    ) -> Result<PlaceState, StoreError> {
        self.inner.look_at(cursor, path, look)
    }

    fn now(&self) -> i64 {
        self.inner.now() + self.ahead
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn read(&self, path: &VaultPath, max_bytes: u64, open: PlaceCheck<'_>) -> Result<StoredFile, StoreError> {
        self.inner.read(path, max_bytes, open)
    }

    fn list(&self, folder: Option<&VaultPath>, open: PlaceCheck<'_>) -> Result<Vec<FolderEntry>, StoreError> {
        self.inner.list(folder, open)
    }

    fn stamp(&self, path: &VaultPath) -> Result<Option<FileStamp>, StoreError> {
        self.inner.stamp(path)
    }

    fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<FileStat, StoreError> {
        self.inner.load(path, max_bytes, into)
    }

    fn turn<'a>(&'a self, go_on: &dyn Fn() -> bool) -> Result<Box<dyn BackendTurn + 'a>, TurnError> {
        self.inner.turn(go_on)
    }

    fn history(&self) -> &dyn History {
        self.inner.history()
    }
}
