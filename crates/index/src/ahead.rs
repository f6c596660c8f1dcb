//! A snapshot with changes that are only planned.

use std::sync::Arc;

use super::{
    digest::digest,
    file::{FileState, Slice},
    snapshot::Snapshot,
};
use crate::{Change, ChangeSet, Stamp, Stat, VaultPath, rebased};

impl Snapshot {
    /// As it will be after these changes. Not to be published: the numbers of its new files are given again.
    pub fn take_for_made(&mut self, changes: &ChangeSet) {
        for change in &changes.changes {
            match change {
                Change::Write { path, bytes, .. } | Change::Create { path, bytes } => {
                    let path = self.spelt(path);
                    self.put_planned(&path, bytes);
                }
                Change::Move { from, to, before, bytes, .. } => {
                    let old = self.file(&self.spelt(from)).cloned();
                    self.remove(&self.spelt(from));
                    match (bytes, before, old) {
                        (Some(bytes), _, _) => self.put_planned(to, bytes),
                        (None, Some(before), _) => self.put_planned(to, &before.bytes),
                        (None, None, Some(old)) => self.put_again(to, &old),
                        (None, None, None) => self.put_planned(to, &[]),
                    }
                }
                Change::MoveFolder { from, to } => {
                    let files: Vec<Arc<FileState>> = self.files_below(from).cloned().collect();
                    let folders: Vec<VaultPath> = self.folders_below(from).cloned().collect();
                    self.remove(from);
                    self.put_folders_around(to);
                    self.put_folder(to.clone());
                    folders.iter().filter_map(|folder| rebased(folder, from, to)).for_each(|to| self.put_folder(to));
                    for file in files {
                        if let Some(to) = rebased(&file.path, from, to) {
                            self.put_again(&to, &file);
                        }
                    }
                }
                Change::Trash { path, .. } | Change::Delete { path, .. } => self.remove(&self.spelt(path)),
            }
        }
    }

    /// A file that is there may be stored with its accents in the other way.
    fn spelt(&self, path: &VaultPath) -> VaultPath {
        use unicode_normalization::UnicodeNormalization;
        if self.file(path).is_some() {
            return path.clone();
        }
        let same = |state: &&Arc<FileState>| state.path.as_str().nfc().eq(path.as_str().nfc());
        let named = self.named(&crate::links::folded_name(path.name())).find(same);
        named.map_or_else(|| path.clone(), |state| state.path.clone())
    }

    fn put_planned(&mut self, path: &VaultPath, bytes: &[u8]) {
        let known = self.file(path).map(|state| state.stat);
        let stamp = Stamp { size: bytes.len() as u64, ..known.unwrap_or_default().stamp };
        self.put_folders_around(path);
        self.put(path.clone(), Stat { stamp, created: known.and_then(|stat| stat.created) });
        let Some(state) = self.file(path).cloned() else { return };
        if let Some(text) = Slice::whole(bytes.to_vec()) {
            state.set_text(text, 0);
        }
        let mut made = Vec::new();
        digest(bytes, &mut made);
        if let Some(digest) = Slice::whole(made) {
            state.set_digest(digest, 0);
        }
        self.take_in(&[state]);
    }

    /// The same file at another path.
    fn put_again(&mut self, path: &VaultPath, old: &FileState) {
        self.put_folders_around(path);
        self.put(path.clone(), old.stat);
        let Some(state) = self.file(path).cloned() else { return };
        if let Some(text) = old.text() {
            state.set_text(text, 0);
        }
        if let Some(digest) = old.digest() {
            state.set_digest(digest.clone(), 0);
        }
        self.take_in(&[state]);
    }

    fn put_folders_around(&mut self, path: &VaultPath) {
        let mut around = path.folder();
        while let Some(folder) = around {
            around = folder.folder();
            if !self.has_folder(&folder) {
                self.put_folder(folder);
            }
        }
    }
}
