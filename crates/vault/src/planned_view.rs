//! A vault with planned changes applied: what the next step of a batch plans on.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use lapidary_index::{IndexError, PlannedIndex};
use lapidary_note::FileContent;
use lapidary_store::rebased;
use unicode_normalization::UnicodeNormalization;

use crate::{
    Change, ChangeSet, File, VaultPath,
    store::{EntryKind, FolderEntry},
};

/// Changes that are treated as made.
#[derive(Clone, Default)]
pub(crate) struct PlannedOverlay {
    /// By path, in the spelling that both encodings of an accent share.
    files: BTreeMap<String, PlannedEntry>,
    /// Folders by their old and their new path, in the order in which they move.
    folders: Vec<(VaultPath, VaultPath)>,
    steps: Vec<Arc<ChangeSet>>,
    /// Passed on to the next view of a batch, which is built from this one.
    index: RefCell<Option<OverlayIndex>>,
}

/// What is at a path.
#[derive(Clone)]
pub(crate) enum PlannedEntry {
    Nothing,
    File(VaultPath, Arc<File>),
    /// What the disk has at another path.
    Elsewhere(VaultPath),
}

#[derive(Clone)]
struct OverlayIndex {
    /// How many of the steps are in it.
    steps: usize,
    index: PlannedIndex,
}

impl PlannedOverlay {
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The same with some more changes. `base` is what is known of the vault without any, if it was scanned.
    pub(crate) fn with(&self, changes: &ChangeSet, base: Option<PlannedIndex>) -> Self {
        let mut next = self.clone();
        if let Some(base) = base {
            next.index.get_mut().get_or_insert(OverlayIndex { steps: 0, index: base });
        }
        changes.changes.iter().for_each(|change| next.apply(change));
        next.steps.push(Arc::new(changes.clone()));
        next
    }

    /// What is at a path; `None` if it is unchanged on disk.
    pub(crate) fn at(&self, path: &VaultPath) -> Option<PlannedEntry> {
        if let Some(there) = self.files.get(&key(path)) {
            return Some(there.clone());
        }
        let place = self.on_disk(path);
        match place {
            None => Some(PlannedEntry::Nothing),
            Some(place) if place == *path => None,
            Some(place) => Some(PlannedEntry::Elsewhere(place)),
        }
    }

    /// Where the disk has the entry that will be at a path that no change names; `None` if its folder was removed.
    pub(crate) fn on_disk(&self, path: &VaultPath) -> Option<VaultPath> {
        let mut place = path.clone();
        // From the last move back to the first.
        for (from, to) in self.folders.iter().rev() {
            match rebased(&place, to, from) {
                Some(before) => place = before,
                None if place == *to => place = from.clone(),
                // It was in a folder that moved away.
                None if place.is_within(from) => return None,
                None => {}
            }
        }
        Some(place)
    }

    /// The contents of a folder, where the disk has `listed` in it.
    pub(crate) fn list(&self, folder: Option<&VaultPath>, listed: Vec<FolderEntry>) -> Vec<FolderEntry> {
        let mut entries: BTreeMap<VaultPath, EntryKind> = BTreeMap::new();
        for entry in listed {
            let path = match (folder, entry.path.folder()) {
                (Some(folder), Some(from)) => rebased(&entry.path, &from, folder).unwrap_or(entry.path),
                _ => entry.path,
            };
            // What a change takes away, or what moved away with its folder.
            let gone = |path: &VaultPath| matches!(self.at(path), Some(PlannedEntry::Nothing));
            if !gone(&path) {
                entries.insert(path, entry.kind);
            }
        }
        for there in self.files.values() {
            if let PlannedEntry::File(path, _) = there
                && path.folder().as_ref() == folder
            {
                entries.insert(path.clone(), EntryKind::File);
            }
        }
        entries.into_iter().map(|(path, kind)| FolderEntry { path, kind }).collect()
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Write { path, before, content, .. } => self.put(path, planned(Some(before), content)),
            Change::Create { path, content } => self.put(path, planned(None, content)),
            Change::Move { from, to, before, content, .. } => {
                let there = match (before, content) {
                    (before, Some(content)) => PlannedEntry::File(to.clone(), planned(before.as_ref(), content)),
                    (Some(before), None) => PlannedEntry::File(to.clone(), Arc::clone(before)),
                    // The disk still has it under the old path, or under the one before that.
                    (None, None) => PlannedEntry::Elsewhere(self.on_disk(from).unwrap_or_else(|| from.clone())),
                };
                // In this order, so that a file that only changes the encoding of its name is kept.
                self.files.insert(key(from), PlannedEntry::Nothing);
                self.files.insert(key(to), there);
            }
            Change::MoveFolder { from, to } => {
                self.folders.push((from.clone(), to.clone()));
                self.files.remove(&key(to));
                let below = format!("{}/", from.as_str().nfc());
                let inside: Vec<String> = self.files.range(below.clone()..).map(|(path, _)| path.clone()).collect();
                for path in inside.into_iter().take_while(|path| path.starts_with(&below)) {
                    let there = match self.files.remove(&path) {
                        Some(PlannedEntry::File(at, file)) => {
                            PlannedEntry::File(rebased(&at, from, to).unwrap_or(at), file)
                        }
                        Some(there) => there,
                        None => continue,
                    };
                    self.files.insert(format!("{}/{}", to.as_str().nfc(), &path[below.len()..]), there);
                }
            }
            // It is not searched for before it exists.
            Change::MakeFolder { .. } => {}
            Change::Trash { path, .. } | Change::TrashFolder { path } | Change::Delete { path, .. } => {
                self.files.insert(key(path), PlannedEntry::Nothing);
            }
        }
    }

    fn put(&mut self, path: &VaultPath, file: Arc<File>) {
        self.files.insert(key(path), PlannedEntry::File(path.clone(), file));
    }

    /// The index of the vault with all changes in it.
    pub(crate) fn index(
        &self,
        base: impl FnOnce() -> Result<PlannedIndex, IndexError>,
    ) -> Result<PlannedIndex, IndexError> {
        let mut indexed = self.index.borrow_mut();
        let known = match &mut *indexed {
            Some(known) => known,
            none => none.insert(OverlayIndex { steps: 0, index: base()? }),
        };
        // Only the steps that came since: a batch of a hundred steps applies each once.
        if known.steps < self.steps.len() {
            known.index.make(&self.steps[known.steps..]);
            known.steps = self.steps.len();
        }
        Ok(known.index.clone())
    }
}

fn key(path: &VaultPath) -> String {
    path.as_str().nfc().collect()
}

/// A file as a change leaves it.
fn planned(before: Option<&Arc<File>>, content: &FileContent) -> Arc<File> {
    Arc::new(File {
        content: content.clone(),
        modified: before.and_then(|file| file.modified),
        created: before.and_then(|file| file.created),
    })
}
