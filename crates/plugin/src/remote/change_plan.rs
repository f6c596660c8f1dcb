//! A change set as what each file holds before and after. The changes of a set build on each other; what is left of them is one
//! step for each file.

use std::collections::BTreeMap;

use lapidary_note::{ContentHash, FileContent};
use lapidary_store::{
    Change, ChangeSet, CommitError, EntryRecord, File, PlaceJudge, RemoteFault, Scope, StoreError, VaultPath, rebased,
};

use super::{file_listing::entry_of, remote_files::RemoteFiles, store_error};
use crate::{FileVersion, PluginError};

/// The contents of a folder that is moved pass through this computer.
const MOST_MOVED_BYTES: u64 = 256 << 20;
/// More files of one name are not trashed.
const MAX_TRASHED: usize = 10_000;
const TRASH: &str = ".trash";

/// What a file held when the change was planned.
#[derive(Clone, Debug, Default)]
pub(super) struct RemoteState {
    /// `None` if there is no file.
    pub(super) content: Option<FileContent>,
    pub(super) version: Option<FileVersion>,
}

impl RemoteState {
    pub(super) fn hash(&self) -> Option<ContentHash> {
        self.content.as_ref().map(FileContent::hash)
    }
}

/// How a file goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileRemoval {
    /// To the trash of the app, where the plugin has it: also what was moved or taken back, in case that it was more than
    /// it seemed.
    Trash,
    /// Deleted, as the caller wants it.
    Gone,
}

/// One file of a change.
#[derive(Debug)]
pub(super) struct PlannedFile {
    pub(super) path: VaultPath,
    pub(super) before: RemoteState,
    pub(super) after: Option<FileContent>,
    pub(super) removal: FileRemoval,
}

/// What a set comes to.
#[derive(Debug, Default)]
pub(super) struct ChangePlan {
    /// New contents first, so that no content is absent in between.
    pub(super) files: Vec<PlannedFile>,
    pub(super) entries: Vec<EntryRecord>,
    /// Where trashed files went, by the number of the change.
    pub(super) trashed: BTreeMap<usize, VaultPath>,
}

/// Plans on the state of the other side, which it reads as it goes.
pub(super) struct ChangePlanner<'p> {
    files: &'p RemoteFiles,
    scope: &'p Scope,
    judged: PlaceJudge<'p>,
    may_have_name: &'p dyn Fn(&VaultPath) -> bool,
    /// Whether deleting a file moves it to the trash.
    deletes_to_trash: bool,
    // The state that each file had before the first change of the set.
    seen: BTreeMap<VaultPath, RemoteState>,
    // The state after the last one so far, which later changes of the set build on.
    after: BTreeMap<VaultPath, (Option<FileContent>, FileRemoval)>,
    /// In the order in which they were first changed.
    order: Vec<VaultPath>,
    entries: Vec<EntryRecord>,
    trashed: BTreeMap<usize, VaultPath>,
    moved_bytes: u64,
}

/// What is the matter, and with which path.
type PlanProblem = (VaultPath, StoreError);

impl<'p> ChangePlanner<'p> {
    pub(super) fn new(
        files: &'p RemoteFiles,
        scope: &'p Scope,
        judged: PlaceJudge<'p>,
        may_have_name: &'p dyn Fn(&VaultPath) -> bool,
        deletes_to_trash: bool,
    ) -> Self {
        Self {
            files,
            scope,
            judged,
            may_have_name,
            deletes_to_trash,
            seen: BTreeMap::new(),
            after: BTreeMap::new(),
            order: Vec::new(),
            entries: Vec::new(),
            trashed: BTreeMap::new(),
            moved_bytes: 0,
        }
    }

    pub(super) fn plan(mut self, set: &ChangeSet) -> Result<ChangePlan, CommitError> {
        for (number, change) in set.changes.iter().enumerate() {
            self.add(set, number, change).map_err(|(path, error)| CommitError {
                path,
                error,
                guard: change.guard(),
                before: change.before().map(File::hash),
            })?;
        }
        let (mut kept, mut removed) = (Vec::new(), Vec::new());
        for path in self.order {
            // Every path in `order` has been put, so the alternative only satisfies the type.
            let (after, removal) = self.after.remove(&path).unwrap_or((None, FileRemoval::Gone));
            let before = self.seen.remove(&path).unwrap_or_default();
            // A set may come back to where it began.
            if before.hash() == after.as_ref().map(FileContent::hash) {
                continue;
            }
            let list = if after.is_some() { &mut kept } else { &mut removed };
            list.push(PlannedFile { path, before, after, removal });
        }
        // Removals last: if the connection breaks in between, content is there twice rather than not at all.
        kept.append(&mut removed);
        Ok(ChangePlan { files: kept, entries: self.entries, trashed: self.trashed })
    }

    fn add(&mut self, set: &ChangeSet, number: usize, change: &Change) -> Result<(), PlanProblem> {
        let path = change.path();
        let about = |path: &VaultPath| {
            let path = path.clone();
            move |error| (path, error)
        };
        match change {
            Change::Write { before, content, .. } => {
                self.expect(path, Some(before)).map_err(about(path))?;
                self.enter(path, Some(&before.content), Some(content), None);
                self.put(path, Some(content.clone()), FileRemoval::Gone);
            }
            Change::Create { content, .. } => {
                self.expect_free(path).map_err(about(path))?;
                self.enter(path, None, Some(content), None);
                self.put(path, Some(content.clone()), FileRemoval::Gone);
            }
            Change::Delete { before, .. } => {
                self.expect(path, Some(before)).map_err(about(path))?;
                self.enter(path, Some(&before.content), None, None);
                self.put(path, None, FileRemoval::Gone);
            }
            Change::Trash { before, .. } => {
                let found = self.expect(path, before.as_deref()).map_err(about(path))?;
                // An old plugin deletes, so the trash is made by hand.
                let place = match self.deletes_to_trash {
                    true => None,
                    false => Some(self.free_in_trash(path).map_err(about(path))?),
                };
                self.enter(path, Some(&found), None, place.clone());
                self.put(path, None, FileRemoval::Trash);
                if let Some(place) = place {
                    // Written before the file is deleted, like every new content.
                    self.put(&place, Some(found), FileRemoval::Gone);
                    self.trashed.insert(number, place);
                }
            }
            Change::Move { to, before, content, .. } => {
                let found = self.expect(path, before.as_deref()).map_err(about(path))?;
                self.expect_free(to).map_err(about(to))?;
                // A move may change the content as well, as when links in the note are adapted.
                let after = content.clone().unwrap_or_else(|| found.clone());
                self.enter(path, Some(&found), None, Some(to.clone()));
                self.enter(to, None, Some(&after), None);
                self.put(path, None, FileRemoval::Trash);
                self.put(to, Some(after), FileRemoval::Gone);
            }
            Change::MoveFolder { to, .. } => self.move_folder(path, to)?,
            Change::TrashFolder { .. } => {
                self.may_write(path).map_err(about(path))?;
                // A folder exists through its files, and the caller sees none of these.
                let error = match self.files.connection.list_folder(Some(path)) {
                    Ok(_) => StoreError::NotPermitted,
                    Err(error) => store_error(error),
                };
                return Err(about(path)(error));
            }
            Change::MakeFolder { .. } => {
                let comes_with_a_file =
                    // The plugin makes the folders above a file, so no request is needed then.
                    set.changes.iter().filter_map(Change::makes).any(|made| made != path && made.is_within(path));
                if !comes_with_a_file {
                    return Err(about(path)(StoreError::Remote(RemoteFault::NoEmptyFolders)));
                }
            }
        }
        Ok(())
    }

    fn move_folder(&mut self, from: &VaultPath, to: &VaultPath) -> Result<(), PlanProblem> {
        let about = |path: &VaultPath, error| (path.clone(), error);
        self.may_write(from).map_err(|error| about(from, error))?;
        self.expect_free(to).map_err(|error| about(to, error))?;
        // Listed on the other side: the index may not have every file of the folder.
        let below = self.files_below(from).map_err(|error| about(from, error))?;
        if below.is_empty() {
            return Err(about(from, StoreError::Missing));
        }
        for path in below {
            let Some(new) = rebased(&path, from, to) else { return Err(about(from, StoreError::BadName)) };
            self.may_write(&path).map_err(|error| about(&path, error))?;
            let found = self.content(&path).map_err(|error| about(&path, error))?;
            let found = found.ok_or_else(|| about(&path, StoreError::Missing))?;
            self.moved_bytes = self.moved_bytes.saturating_add(found.len() as u64);
            if self.moved_bytes > MOST_MOVED_BYTES {
                let limit = MOST_MOVED_BYTES;
                return Err(about(from, StoreError::TooLarge { bytes: self.moved_bytes, limit }));
            }
            self.put(&path, None, FileRemoval::Trash);
            self.put(&new, Some(found), FileRemoval::Gone);
        }
        self.enter(from, None, None, Some(to.clone()));
        Ok(())
    }

    /// The files in a folder, as the set has left it.
    fn files_below(&self, folder: &VaultPath) -> Result<Vec<VaultPath>, StoreError> {
        let (mut folders, mut found) = (vec![folder.clone()], Vec::new());
        while let Some(folder) = folders.pop() {
            let names = match self.files.connection.list_folder(Some(&folder)) {
                // Everything in it may have been moved away by the same set.
                Err(PluginError::NotFound) => Vec::new(),
                names => names.map_err(store_error)?,
            };
            for name in names {
                match entry_of(Some(&folder), &name.name) {
                    Some(path) if name.is_folder => folders.push(path),
                    Some(path) => found.push(path),
                    // A name that no path of a vault can have would be lost by the move.
                    None => return Err(StoreError::BadName),
                }
            }
        }
        // Files that the set has removed are gone, those that it has made are added.
        found.retain(|path| self.after.get(path).is_none_or(|(content, _)| content.is_some()));
        let made = self.after.iter().filter(|(path, (content, _))| content.is_some() && path.is_within(folder));
        found.extend(made.map(|(path, _)| path.clone()));
        found.sort();
        found.dedup();
        Ok(found)
    }

    fn may_write(&self, path: &VaultPath) -> Result<(), StoreError> {
        // Both the rules and the judge, as on disk.
        let is_open = self.scope.may_write(path).is_ok() && (self.judged)(path, path);
        if is_open { Ok(()) } else { Err(StoreError::Closed) }
    }

    /// What a file holds after the changes so far; read at most once.
    fn content(&mut self, path: &VaultPath) -> Result<Option<FileContent>, StoreError> {
        if let Some((content, _)) = self.after.get(path) {
            return Ok(content.clone());
        }
        if let Some(known) = self.seen.get(path) {
            return Ok(known.content.clone());
        }
        // Read once and kept, so that the comparison before each step is with the same bytes.
        let state = match self.files.read(path, self.files.max_file_bytes()) {
            Ok(answer) => RemoteState { content: Some(answer.bytes.into()), version: answer.version },
            Err(StoreError::Missing) => RemoteState::default(),
            Err(error) => return Err(error),
        };
        Ok(self.seen.entry(path.clone()).or_insert(state).content.clone())
    }

    /// That there is what the plan saw; if it saw nothing in particular, then any file.
    fn expect(&mut self, path: &VaultPath, before: Option<&File>) -> Result<FileContent, StoreError> {
        self.may_write(path)?;
        let found = self.content(path)?.ok_or(StoreError::Missing)?;
        match before {
            // By bytes, not by hash: both are in memory, and equal bytes need no digest.
            Some(before) if before.bytes() != found.bytes() => Err(StoreError::Changed { found: found.hash() }),
            _ => Ok(found),
        }
    }

    /// That something can be made at a path.
    fn expect_free(&mut self, path: &VaultPath) -> Result<(), StoreError> {
        self.may_write(path)?;
        if self.content(path)?.is_some() {
            return Err(StoreError::Exists);
        }
        if !(self.may_have_name)(path) {
            return Err(StoreError::NotPortable);
        }
        // A file in the place of a folder above would make the request fail halfway.
        let mut folder = path.folder();
        while let Some(around) = folder {
            match self.files.connection.list_folder(Some(&around)) {
                // The nearest folder that exists: everything above it exists as well.
                Ok(_) => break,
                Err(PluginError::NotFound) => {}
                Err(error) => return Err(store_error(error)),
            }
            if self.content(&around)?.is_some() {
                return Err(StoreError::NotAFile);
            }
            if !(self.may_have_name)(&around) {
                return Err(StoreError::NotPortable);
            }
            folder = around.folder();
        }
        Ok(())
    }

    /// Named as Obsidian names trashed files: by the file name alone, numbered if taken.
    fn free_in_trash(&mut self, path: &VaultPath) -> Result<VaultPath, StoreError> {
        let (stem, ending) = match path.name().rsplit_once('.') {
            // A name that begins with its only dot has no ending.
            Some((stem, ending)) if !stem.is_empty() => (stem, format!(".{ending}")),
            _ => (path.name(), String::new()),
        };
        for number in 1..MAX_TRASHED {
            let name = if number == 1 { path.name().to_owned() } else { format!("{stem} {number}{ending}") };
            let Some(place) = VaultPath::spelt(&format!("{TRASH}/{name}")) else { return Err(StoreError::BadName) };
            if self.content(&place)?.is_none() {
                return Ok(place);
            }
        }
        Err(StoreError::Exists)
    }

    fn put(&mut self, path: &VaultPath, content: Option<FileContent>, removal: FileRemoval) {
        // Only the first time, so that a file is one step however often the set changes it.
        if self.after.insert(path.clone(), (content, removal)).is_none() {
            self.order.push(path.clone());
        }
    }

    fn enter(
        &mut self,
        path: &VaultPath,
        before: Option<&FileContent>,
        after: Option<&FileContent>,
        moved_to: Option<VaultPath>,
    ) {
        self.entries.push(EntryRecord {
            path: path.clone(),
            moved_to,
            before: before.map(FileContent::hash),
            after: after.map(FileContent::hash),
            bytes_before: before.map_or(0, |content| content.len() as u64),
            bytes_after: after.map_or(0, |content| content.len() as u64),
        });
    }
}
