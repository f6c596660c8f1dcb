use std::{collections::BTreeSet, path::Path, sync::Mutex};

use cap_std::fs::Dir;
use lapidary_note::ContentHash;

use super::super::*;
use crate::store::{Entry, Events, FolderStore, Open, Stamp, Steps, StoredFile};

#[derive(Clone, Copy, Debug)]
pub(super) enum Condition {
    Whole,
    /// Some are lost, and the system says so.
    Lossy(u64),
    /// Some come only the next time.
    Late(u64),
}

/// A vault whose events can be held back and lost.
pub(super) struct Shaky {
    inner: FolderStore,
    condition: Arc<Mutex<Condition>>,
    /// How far its clock is ahead of that of the files.
    ahead: i64,
}

impl Shaky {
    pub(super) fn new(root: &Path, ahead: i64) -> Self {
        let condition = Arc::new(Mutex::new(Condition::Whole));
        Self { inner: FolderStore::new(root.to_owned()), condition, ahead }
    }

    pub(super) fn condition(&self) -> Arc<Mutex<Condition>> {
        Arc::clone(&self.condition)
    }
}

struct ShakyWatch {
    inner: Box<dyn Watch>,
    condition: Arc<Mutex<Condition>>,
    late: Mutex<BTreeSet<VaultPath>>,
}

impl Watch for ShakyWatch {
    fn add(&self, folder: &Dir, path: Option<&VaultPath>) {
        self.inner.add(folder, path);
    }

    fn give_up(&self) {
        self.inner.give_up();
    }

    fn is_whole(&self) -> bool {
        self.inner.is_whole()
    }

    fn forget(&self, below: &VaultPath) {
        self.inner.forget(below);
    }

    fn events(&self) -> Events {
        let mut events = self.inner.events();
        let mut late = self.late.lock().unwrap();
        events.paths.append(&mut late);
        let chance = |path: &VaultPath, seed: u64| {
            ContentHash::of(format!("{seed}{path}").as_bytes())
                .to_string()
                .ends_with(['0', '1', '2', '3', '4', '5', '6', '7'])
        };
        match *self.condition.lock().unwrap() {
            Condition::Whole => {}
            Condition::Lossy(seed) => {
                let before = events.paths.len();
                events.paths.retain(|path| chance(path, seed));
                events.lost |= events.paths.len() < before;
            }
            Condition::Late(seed) => {
                late.extend(events.paths.iter().filter(|path| chance(path, seed)).cloned());
                events.paths.retain(|path| !late.contains(path));
            }
        }
        events
    }
}

impl Store for Shaky {
    fn read(&self, path: &VaultPath, max_bytes: u64, open: Open<'_>) -> Result<StoredFile, StoreError> {
        self.inner.read(path, max_bytes, open)
    }

    fn list(&self, folder: Option<&VaultPath>, open: Open<'_>) -> Result<Vec<Entry>, StoreError> {
        self.inner.list(folder, open)
    }

    fn stamp(&self, path: &VaultPath) -> Result<Option<Stamp>, StoreError> {
        self.inner.stamp(path)
    }

    fn steps(&self) -> &dyn Steps {
        self.inner.steps()
    }

    fn walk(&self, walk: &Walk<'_>) -> Result<Walked, StoreError> {
        self.inner.walk(walk)
    }

    fn look(&self, path: &VaultPath) -> Result<Found, StoreError> {
        self.inner.look(path)
    }

    fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<Stat, StoreError> {
        self.inner.load(path, max_bytes, into)
    }

    fn watch(&self) -> Option<Box<dyn Watch>> {
        let inner = self.inner.watch()?;
        Some(Box::new(ShakyWatch { inner, condition: Arc::clone(&self.condition), late: Mutex::default() }))
    }

    fn identity(&self) -> Result<u64, StoreError> {
        self.inner.identity()
    }

    fn now(&self) -> i64 {
        self.inner.now() + self.ahead
    }
}
