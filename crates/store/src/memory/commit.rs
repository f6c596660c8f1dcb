//! A change set on a map: tried on a copy of it, which takes its place if all went well.

use std::{collections::BTreeMap, sync::Arc};

use lapidary_note::{ContentHash, FileContent};

use super::{MemoryCall, MemoryFile, MemoryFiles, MemoryState, is_in};
use crate::{
    Change, ChangeOrigin, ChangeSet, CheckpointKind, CheckpointRecord, CommitError, EntryRecord, File, Receipt, Scope,
    StoreError, VaultPath, change::numbered, rebased,
};

/// Names of checkpoints begin with this; only in memory are they always the same.
const FIRST_ID: u64 = 0xc0ff_ee00_0000_0000;
const TRASH: &str = ".trash";
/// More files of one name are not trashed.
const MAX_NAMES: usize = 10_000;

/// A set that is being tried.
struct TrialCommit<'t, 's> {
    files: MemoryFiles,
    version: u64,
    scope: &'t Scope,
    may_have_name: &'t dyn Fn(&VaultPath) -> bool,
    entries: Vec<EntryRecord>,
    /// Contents before and after, by hash.
    old: BTreeMap<ContentHash, &'s [u8]>,
    /// Where trashed files went, by the number of the change.
    trashed: BTreeMap<usize, VaultPath>,
    /// Whether anything is different afterwards.
    is_change: bool,
}

/// What is the matter, and with which path.
type CommitProblem<'s> = (&'s VaultPath, StoreError);

impl MemoryState {
    pub(super) fn commit(
        &mut self,
        set: &ChangeSet,
        scope: &Scope,
        origin: &ChangeOrigin,
    ) -> Result<Receipt, CommitError> {
        let may_have_name = |path: &VaultPath| self.may_have_name(path);
        // All changes are tried on a copy, so that a refusal leaves nothing behind.
        let mut trial = TrialCommit {
            files: self.files.clone(),
            version: self.version + 1,
            scope,
            may_have_name: &may_have_name,
            entries: Vec::new(),
            old: BTreeMap::new(),
            trashed: BTreeMap::new(),
            is_change: false,
        };
        for (number, change) in set.changes.iter().enumerate() {
            trial.make(number, change).map_err(|(path, error)| CommitError {
                path: path.clone(),
                error,
                guard: change.guard(),
                before: change.before().map(File::hash),
            })?;
        }
        let TrialCommit { files, version, entries, old, trashed, is_change, .. } = trial;
        let mut receipt = Receipt::of(set);
        for (number, place) in trashed {
            if let Some(changed) = receipt.changed.get_mut(number) {
                changed.moved_to = Some(place);
            }
        }
        // A set that changes nothing gets no checkpoint.
        if is_change {
            for (hash, bytes) in old {
                self.old.entry(hash).or_insert_with(|| bytes.into());
            }
            (self.files, self.version) = (files, version);
            receipt.checkpoint = Some(self.keep(origin, entries));
        }
        Ok(receipt)
    }

    fn keep(&mut self, origin: &ChangeOrigin, entries: Vec<EntryRecord>) -> String {
        let number = self.checkpoints.last().map_or(0, |last| last.number) + 1;
        // The same in every run, so that answers in examples stay the same.
        let id = format!("{:016x}", FIRST_ID.wrapping_add(number.cast_unsigned()));
        // This store has no empty folders that could stay.
        let ChangeOrigin { tool, client, time, approval, call, restores: _ } = origin.clone();
        self.approved.extend(approval.map(|approval| (approval, id.clone())));
        self.keyed
            .extend(call.map(|call| (call.key, MemoryCall { call: call.call, checkpoint: id.clone(), reply: None })));
        let kind = CheckpointKind::Change;
        self.checkpoints.push(CheckpointRecord { number, id: id.clone(), time, kind, tool, client, entries });
        id
    }
}

impl<'s> TrialCommit<'_, 's> {
    fn make(&mut self, number: usize, change: &'s Change) -> Result<(), CommitProblem<'s>> {
        let path = change.path();
        let about = |error| (path, error);
        match change {
            Change::Write { before, content, .. } => {
                self.expect(path, Some(before)).map_err(about)?;
                self.entry(path, Some(before), Some(content), None);
                // A change to the existing content is not a change.
                if before.bytes() != content.bytes() {
                    self.put(path, content.bytes().into());
                }
            }
            Change::Create { content, .. } => {
                self.expect_free(path).map_err(about)?;
                self.entry(path, None, Some(content), None);
                self.put(path, content.bytes().into());
            }
            Change::Delete { before, .. } => {
                self.expect(path, Some(before)).map_err(about)?;
                self.entry(path, Some(before), None, None);
                self.remove(path);
            }
            Change::Trash { before, .. } => {
                self.expect(path, before.as_ref()).map_err(about)?;
                let target = self.free_in_trash(path).map_err(about)?;
                self.entry(path, before.as_ref(), None, Some(target.clone()));
                self.rename(path, &target);
                self.trashed.insert(number, target);
            }
            Change::Move { to, before, content, .. } => {
                self.expect(path, before.as_ref()).map_err(about)?;
                self.expect_free(to).map_err(|error| (to, error))?;
                let after = content.as_ref().or_else(|| before.as_ref().map(|before| &before.content));
                self.entry(path, before.as_ref(), None, Some(to.clone()));
                self.entry(to, None, after, None);
                self.rename(path, to);
                if let (Some(_), Some(content)) = (before, content) {
                    self.put(to, content.bytes().into());
                }
            }
            Change::TrashFolder { .. } => {
                self.expect(path, None).map_err(about)?;
                let target = self.free_in_trash(path).map_err(about)?;
                self.entries.push(EntryRecord::of_folder(path));
                self.rename(path, &target);
                self.trashed.insert(number, target);
            }
            // This store has no empty folders.
            Change::MakeFolder { .. } => {
                self.expect_free(path).map_err(about)?;
                self.entries.push(EntryRecord::of_folder(path));
            }
            Change::MoveFolder { to, .. } => {
                self.expect(path, None).map_err(about)?;
                self.expect_free(to).map_err(|error| (to, error))?;
                self.entry(path, None, None, Some(to.clone()));
                self.rename(path, to);
            }
        }
        Ok(())
    }

    fn may_write(&self, path: &VaultPath) -> Result<(), StoreError> {
        if self.scope.may_write(path).is_ok() { Ok(()) } else { Err(StoreError::Closed) }
    }

    /// That there is what the plan saw; if it saw nothing in particular, then anything, be it a folder.
    fn expect(&self, path: &VaultPath, before: Option<&Arc<File>>) -> Result<(), StoreError> {
        self.may_write(path)?;
        let found = self.files.0.get(path);
        match (found, before) {
            (Some(_), None) => Ok(()),
            (Some(found), Some(before)) if *found.bytes == *before.bytes() => Ok(()),
            (Some(found), Some(_)) => Err(StoreError::Changed { found: ContentHash::of(&found.bytes) }),
            (None, before) => match self.files.nothing(path) {
                // A folder exists only through the files below it.
                StoreError::IsFolder if before.is_none() => Ok(()),
                nothing => Err(nothing),
            },
        }
    }

    /// That something can be made at a path.
    fn expect_free(&self, path: &VaultPath) -> Result<(), StoreError> {
        self.may_write(path)?;
        self.is_free(path)?;
        // Only folders that would be new have to have a portable name.
        let is_new = |folder: &VaultPath| self.files.nothing(folder) == StoreError::Missing;
        let new_folders = std::iter::successors(path.folder(), VaultPath::folder).take_while(is_new);
        if new_folders.chain([path.clone()]).all(|path| (self.may_have_name)(&path)) {
            Ok(())
        } else {
            Err(StoreError::NotPortable)
        }
    }

    fn is_free(&self, path: &VaultPath) -> Result<(), StoreError> {
        if self.files.0.contains_key(path) {
            return Err(StoreError::Exists);
        }
        if self.files.nothing(path) == StoreError::IsFolder {
            return Err(StoreError::IsFolder);
        }
        // A file cannot have another below it.
        if self.files.0.keys().any(|known| is_in(path, known)) {
            return Err(StoreError::NotAFile);
        }
        Ok(())
    }

    /// Named as Obsidian names trashed files: by the file name alone, numbered if taken. The caller does not choose it,
    /// so its scope is not checked. There is no system trash.
    fn free_in_trash(&self, path: &VaultPath) -> Result<VaultPath, StoreError> {
        let names = (1..MAX_NAMES).map(|number| format!("{TRASH}/{}", numbered(path.name(), number)));
        let mut free = names.filter_map(|name| VaultPath::spelt(&name)).filter(|name| self.is_free(name).is_ok());
        free.next().ok_or(StoreError::Exists)
    }

    fn put(&mut self, path: &VaultPath, bytes: Arc<[u8]>) {
        self.files.0.insert(path.clone(), MemoryFile { bytes, version: self.version });
        self.is_change = true;
    }

    fn remove(&mut self, path: &VaultPath) {
        self.files.0.remove(path);
        self.is_change = true;
    }

    /// A file, or a folder with everything in it.
    fn rename(&mut self, from: &VaultPath, to: &VaultPath) {
        let moved: Vec<VaultPath> = self.files.0.keys().filter(|path| path.is_within(from)).cloned().collect();
        for path in moved {
            let new = if path == *from { Some(to.clone()) } else { rebased(&path, from, to) };
            if let (Some(file), Some(new)) = (self.files.0.remove(&path), new) {
                // Counts as written, so that followers notice the file at its new path.
                self.put(&new, file.bytes);
            }
        }
    }

    fn entry(
        &mut self,
        path: &VaultPath,
        before: Option<&'s Arc<File>>,
        after: Option<&'s FileContent>,
        moved_to: Option<VaultPath>,
    ) {
        if let Some(after) = after {
            self.old.insert(after.hash(), after.bytes());
        }
        if let Some(before) = before {
            self.old.insert(before.hash(), before.bytes());
        }
        self.entries.push(EntryRecord {
            path: path.clone(),
            moved_to,
            before: before.map(|file| file.hash()),
            after: after.map(FileContent::hash),
            bytes_before: before.map_or(0, |file| file.bytes().len() as u64),
            bytes_after: after.map_or(0, |content| content.len() as u64),
        });
    }
}
