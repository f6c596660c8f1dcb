//! A vault with planned changes applied: what the next step of a batch plans on.

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

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
    has_changes: bool,
    /// Passed on to the next view of a batch, which is built from this one.
    index: RefCell<OverlayIndex>,
}

/// What is at a path.
#[derive(Clone)]
pub(crate) enum PlannedEntry {
    Nothing,
    File(VaultPath, Arc<File>),
    /// What the disk has at another path.
    Elsewhere(VaultPath),
}

/// The index as far as it was asked for.
#[derive(Clone, Default)]
struct OverlayIndex {
    known: Option<PlannedIndex>,
    /// Changes that are not in it yet.
    pending: Vec<Change>,
    /// Where the last of them write files, by path as in [`PlannedOverlay::files`]: a text that is replaced before anyone asks is neither kept nor digested.
    written: HashMap<String, usize>,
}

impl OverlayIndex {
    fn put(&mut self, change: &Change) {
        match change {
            Change::Write { path, .. } | Change::Create { path, .. } => match self.written.get(&key(path)) {
                Some(at) => self.pending[*at] = change.clone(),
                None => {
                    self.written.insert(key(path), self.pending.len());
                    self.pending.push(change.clone());
                }
            },
            // What moves or goes away needs the texts before it.
            _ => {
                self.written.clear();
                self.pending.push(change.clone());
            }
        }
    }
}

impl PlannedOverlay {
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_changes
    }

    /// Some more changes. `base` is what is known of the vault without any, if it was scanned.
    pub(crate) fn make(&mut self, changes: &ChangeSet, base: Option<PlannedIndex>) {
        self.has_changes = true;
        let index = self.index.get_mut();
        if let Some(base) = base {
            index.known.get_or_insert(base);
        }
        changes.changes.iter().for_each(|change| index.put(change));
        changes.changes.iter().for_each(|change| self.apply(change));
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
        let below = folder.map(|folder| format!("{}/", folder.as_str().nfc())).unwrap_or_default();
        // In order of their paths, so what is in a folder, directly or deeper, is in one run.
        let inside = self.files.range(below.clone()..).take_while(|(path, _)| path.starts_with(&below));
        for (key, there) in inside {
            if let PlannedEntry::File(path, _) = there
                && !key[below.len()..].contains('/')
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
                // An earlier change may have taken away what was here.
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
        let OverlayIndex { known, pending, written } = &mut *indexed;
        let known = match known {
            Some(known) => known,
            none => none.insert(base()?),
        };
        // Only what came since: a batch of a hundred steps applies each once.
        if !pending.is_empty() {
            known.make(&std::mem::take(pending));
            written.clear();
        }
        Ok(known.clone())
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

#[cfg(test)]
mod tests {
    use lapidary_store::ContentGuard;

    use super::*;

    #[test]
    fn a_file_that_is_written_again_and_again_is_kept_once() {
        let path = |path: &str| VaultPath::parse(path).unwrap();
        let before = Arc::new(File { content: "x".to_owned().into(), modified: None, created: None });
        let write = |at: &str, text: String| Change::Write {
            path: path(at),
            before: Arc::clone(&before),
            guard: ContentGuard::Plan,
            content: text.into(),
        };
        let mut overlay = PlannedOverlay::default();
        for number in 0..100 {
            // One name in both encodings of its accent, too.
            for name in ["a.md", "caf\u{e9}.md", "cafe\u{301}.md"] {
                overlay.make(&ChangeSet::one(write(name, number.to_string())), None);
            }
        }
        let held = |overlay: &PlannedOverlay| {
            overlay.index.borrow().pending.iter().map(|change| change.bytes().to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(held(&overlay), [b"99", b"99"], "the texts that are there at last");
        // A text that is moved away is not the one that comes after it.
        let moved = Change::Move {
            from: path("a.md"),
            to: path("b.md"),
            before: None,
            guard: ContentGuard::Plan,
            content: None,
        };
        overlay.make(&ChangeSet::one(moved), None);
        overlay.make(&ChangeSet::one(write("a.md", "new".to_owned())), None);
        assert_eq!(held(&overlay).len(), 4);
    }
}
