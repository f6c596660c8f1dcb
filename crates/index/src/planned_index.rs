//! A snapshot with planned changes.

use std::sync::Arc;

use super::{
    digest::digest,
    file::{DigestOrigin, FileState, SharedBytes},
    live::VaultIndex,
    snapshot::Snapshot,
    text_table::{LoadedText, TextTable},
};
use crate::{Change, FileStamp, FileStat, VaultPath, rebased};

/// A vault with planned changes, and the vault without any.
#[derive(Clone)]
pub struct PlannedIndex {
    pub(crate) base: Arc<Snapshot>,
    pub(crate) now: Arc<Snapshot>,
    /// The planned texts.
    pub(crate) planned: TextTable,
    /// Those of the vault, as far as known.
    texts: TextTable,
}

impl PlannedIndex {
    pub fn new(base: Arc<Snapshot>, live: &VaultIndex) -> Self {
        Self { now: Arc::clone(&base), base, planned: TextTable::default(), texts: live.texts() }
    }

    /// With some more changes.
    pub fn make(&mut self, changes: &[Change]) {
        let mut next = Snapshot::clone(&self.now);
        next.take_for_made(changes, (&mut self.planned, &self.texts));
        self.now = Arc::new(next);
    }
}

impl Snapshot {
    /// The state after these changes, whose texts are put into a table. Not to be published: the numbers of its new
    /// files will be reused.
    fn take_for_made(&mut self, changes: &[Change], (planned, texts): (&mut TextTable, &TextTable)) {
        for change in changes {
            match change {
                Change::Write { path, content, .. } | Change::Create { path, content } => {
                    let path = self.spelt(path);
                    self.put_planned(&path, content.bytes(), planned);
                }
                Change::Move { from, to, before, content, .. } => {
                    // The name on disk may have its accents in the other encoding.
                    let old = self.file(&self.spelt(from)).cloned();
                    self.remove(&self.spelt(from));
                    // Without content the file keeps its old state; a file that was never read has no text to show.
                    match (content, before, old) {
                        (Some(content), _, _) => self.put_planned(to, content.bytes(), planned),
                        (None, Some(before), _) => self.put_planned(to, before.bytes(), planned),
                        (None, None, Some(old)) => self.put_again(to, &old, planned, texts),
                        (None, None, None) => self.put_planned(to, &[], planned),
                    }
                }
                Change::MoveFolder { from, to } => {
                    // Collected before the removal, which drops them from the index.
                    let files: Vec<Arc<FileState>> = self.files_below(from).cloned().collect();
                    let folders: Vec<VaultPath> = self.folders_below(from).cloned().collect();
                    self.remove(from);
                    self.put_folders_around(to);
                    self.put_folder(to.clone());
                    folders.iter().filter_map(|folder| rebased(folder, from, to)).for_each(|to| self.put_folder(to));
                    for file in files {
                        if let Some(to) = rebased(&file.path, from, to) {
                            self.put_again(&to, &file, planned, texts);
                        }
                    }
                }
                Change::TrashFolder { path } => self.remove(path),
                Change::MakeFolder { path } => {
                    self.put_folders_around(path);
                    self.put_folder(path.clone());
                }
                Change::Trash { path, .. } | Change::Delete { path, .. } => self.remove(&self.spelt(path)),
            }
        }
    }

    /// An existing file may be stored with its accents in the other encoding.
    fn spelt(&self, path: &VaultPath) -> VaultPath {
        use unicode_normalization::UnicodeNormalization;
        if self.file(path).is_some() {
            return path.clone();
        }
        let same = |state: &&Arc<FileState>| state.path.as_str().nfc().eq(path.as_str().nfc());
        let named = self.named(&crate::links::folded_name(path.name())).find(same);
        named.map_or_else(|| path.clone(), |state| state.path.clone())
    }

    fn put_planned(&mut self, path: &VaultPath, bytes: &[u8], planned: &mut TextTable) {
        // Times stay those of the disk: a plan must not depend on when it is made.
        let known = self.file(path).map(|state| state.stat);
        // The size has to fit the text that is shown for it.
        let stamp = FileStamp { size: bytes.len() as u64, ..known.unwrap_or_default().stamp };
        self.put_folders_around(path);
        self.put(path.clone(), FileStat { stamp, created: known.and_then(|stat| stat.created) });
        let Some(state) = self.file(path).cloned() else { return };
        planned.extend([LoadedText {
            state: Arc::clone(&state),
            text: SharedBytes::whole(bytes.to_vec()),
            read_at: 0,
        }]);
        let mut made = Vec::new();
        // Made at once: a plan may ask for the links of what it has just written.
        digest(bytes, &mut made);
        if let Some(digest) = SharedBytes::whole(made) {
            state.set_digest(digest, 0, DigestOrigin::Content);
        }
        self.take_in(&[state]);
    }

    /// The same file at another path.
    fn put_again(&mut self, path: &VaultPath, old: &FileState, planned: &mut TextTable, texts: &TextTable) {
        self.put_folders_around(path);
        // A moved file keeps its times, as on the disk.
        self.put(path.clone(), old.stat);
        let Some(state) = self.file(path).cloned() else { return };
        if let Some(text) = planned.text(old).or_else(|| texts.text(old)).cloned() {
            planned.extend([LoadedText { state: Arc::clone(&state), text: Some(text), read_at: 0 }]);
        }
        if let Some(digest) = old.digest() {
            state.set_digest(digest.clone(), 0, DigestOrigin::Content);
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
