//! From a change set to the steps that carry it out.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use lapidary_note::{ContentHash, FileContent};

use super::CommitError;
use crate::{
    Change, ChangeSet, File, PlaceJudge, Receipt, Scope, TrashKind, VaultPath,
    change::numbered,
    posix::{EntryRecord, FileOperations, JournalStep, NewPlace, StoreError},
};

/// More files of one name are not trashed.
const MAX_NAMES: usize = 10_000;
const TRASH: &str = ".trash";

pub(super) struct PlannedSteps<'a> {
    pub(super) steps: Vec<JournalStep>,
    /// What each step writes.
    pub(super) bytes: Vec<&'a [u8]>,
    /// The change that each step is for.
    pub(super) about: Vec<usize>,
    pub(super) entries: Vec<EntryRecord>,
    /// The old contents, by hash.
    pub(super) contents: BTreeMap<ContentHash, &'a [u8]>,
    trashed: BTreeMap<usize, VaultPath>,
}

impl PlannedSteps<'_> {
    /// Known only now: where the trashed files go.
    pub(super) fn correct(&self, receipt: &mut Receipt) {
        for (index, place) in &self.trashed {
            if let Some(changed) = receipt.changed.get_mut(*index) {
                changed.moved_to = Some(place.clone());
            }
        }
    }
}

pub(super) struct CommitPlanner<'a> {
    store: &'a dyn FileOperations,
    scope: &'a Scope,
    judged: PlaceJudge<'a>,
    max_file_bytes: u64,
    /// Whether something may be created under a name.
    may_have_name: &'a dyn Fn(&VaultPath) -> bool,
    /// Files cannot be moved by renaming them, because the two places are on different disks.
    copies: bool,
    /// The effect of earlier changes of the set.
    made: BTreeSet<VaultPath>,
    produced: BTreeMap<VaultPath, VaultPath>,
    vacated: BTreeSet<VaultPath>,
    /// Folders by their old and their new path.
    moved_folders: Vec<(VaultPath, VaultPath)>,
}

impl<'a> CommitPlanner<'a> {
    pub(super) fn new(
        store: &'a dyn FileOperations,
        scope: &'a Scope,
        judged: PlaceJudge<'a>,
        max_file_bytes: u64,
        may_have_name: &'a dyn Fn(&VaultPath) -> bool,
    ) -> Self {
        Self {
            store,
            scope,
            judged,
            max_file_bytes,
            may_have_name,
            copies: false,
            made: BTreeSet::new(),
            produced: BTreeMap::new(),
            vacated: BTreeSet::new(),
            moved_folders: Vec::new(),
        }
    }

    pub(super) fn copying(self) -> Self {
        Self { copies: true, ..self }
    }

    pub(super) fn plan<'s>(mut self, set: &'s ChangeSet) -> Result<PlannedSteps<'s>, CommitError> {
        let mut planned = PlannedSteps {
            steps: Vec::new(),
            bytes: Vec::new(),
            about: Vec::new(),
            entries: Vec::new(),
            contents: BTreeMap::new(),
            trashed: BTreeMap::new(),
        };
        for (index, change) in set.changes.iter().enumerate() {
            self.change(change, index, &mut planned).map_err(|(path, error)| CommitError {
                path: path.clone(),
                error,
                guard: change.guard(),
                before: change.before().map(File::hash),
            })?;
            // A change may take several steps or none; a step that fails later is reported for its change.
            planned.about.resize(planned.steps.len(), index);
        }
        Ok(planned)
    }

    fn change<'s>(
        &mut self,
        change: &'s Change,
        index: usize,
        planned: &mut PlannedSteps<'s>,
    ) -> Result<(), (&'s VaultPath, StoreError)> {
        let path = change.path();
        let about = |error| (path, error);
        match change {
            Change::Write { before, content, .. } => {
                let place = self.existing(path).map_err(about)?;
                // Replaced content is compared later, so metadata is enough; content that stays is not.
                if before.content == *content || !self.store.looks_like(&place, before) {
                    self.check(path, &place, before).map_err(about)?;
                }
                planned.keep(before);
                planned.entry(path, Some(before), Some(content));
                self.produced.insert(path.clone(), place.clone());
                planned.replace(place, before, content).map_err(about)
            }
            Change::Create { content, .. } => {
                let place = self.free(path, planned).map_err(about)?;
                planned.entry(path, None, Some(content));
                planned.create(place, content).map_err(about)
            }
            Change::Delete { before, .. } => {
                let place = self.existing(path).map_err(about)?;
                self.check(path, &place, before).map_err(about)?;
                planned.keep(before);
                planned.entry(path, Some(before), None);
                planned.remove(place, Some(before.hash()), false).map_err(about)?;
                self.vacate(path);
                Ok(())
            }
            Change::Trash { before, trash, .. } => {
                let place = self.existing(path).map_err(about)?;
                self.trash(path, place, before.as_ref(), *trash, index, planned).map_err(about)
            }
            Change::Move { to, before, content, .. } => {
                let place = self.existing(path).map_err(about)?;
                if let Some(before) = before {
                    self.check(path, &place, before).map_err(about)?;
                    planned.keep(before);
                }
                let target = self.free(to, planned).map_err(|error| (to, error))?;
                self.move_file(change, place, target, content.as_ref(), planned).map_err(about)
            }
            Change::TrashFolder { .. } => {
                let place = self.existing_folder(path).map_err(about)?;
                let target = self.free_in_trash(path, planned).map_err(about)?;
                planned.entries.push(EntryRecord::of_folder(path));
                planned.trashed.insert(index, target.clone());
                // Without a hash: a folder is moved as it is found, with files that the caller cannot see.
                planned.push(JournalStep::Move { from: place, to: target, before: None }, &[]);
                self.vacate(path);
                Ok(())
            }
            Change::MakeFolder { .. } => {
                let place = self.free(path, planned).map_err(about)?;
                planned.entries.push(EntryRecord::of_folder(path));
                self.make(vec![place], planned);
                Ok(())
            }
            Change::MoveFolder { to, .. } => {
                let place = self.existing_folder(path).map_err(about)?;
                let target = self.free(to, planned).map_err(|error| (to, error))?;
                planned.entries.push(EntryRecord {
                    path: path.clone(),
                    moved_to: Some(to.clone()),
                    before: None,
                    after: None,
                    bytes_before: 0,
                    bytes_after: 0,
                });
                planned.push(JournalStep::Move { from: place, to: target, before: None }, &[]);
                self.moved_folders.push((path.clone(), to.clone()));
                self.vacate(path);
                Ok(())
            }
        }
    }

    fn move_file<'s>(
        &mut self,
        change: &'s Change,
        place: VaultPath,
        target: VaultPath,
        content: Option<&'s FileContent>,
        planned: &mut PlannedSteps<'s>,
    ) -> Result<(), StoreError> {
        let Change::Move { from, to, before, .. } = change else { return Ok(()) };
        let before = before.as_ref();
        planned.entry(from, before, None);
        if let Some(last) = planned.entries.last_mut() {
            last.moved_to = Some(to.clone());
        }
        let after = content.or_else(|| before.map(|before| &before.content));
        planned.entry(to, None, after);
        self.produced.insert(to.clone(), target.clone());
        self.vacate(from);
        if self.copies {
            // Unread content can only be moved unchanged.
            let across = StoreError::Disk { kind: std::io::ErrorKind::CrossesDevices };
            let (Some(before), Some(after)) = (before, after) else { return Err(across) };
            // In this order: the original is removed only after the copy is complete.
            planned.create(target, after)?;
            return planned.remove(place, Some(before.hash()), false);
        }
        let hash = before.map(|before| before.hash());
        planned.push(JournalStep::Move { from: place, to: target.clone(), before: hash }, &[]);
        match (before, content) {
            (Some(before), Some(content)) => planned.replace(target, before, content),
            _ => Ok(()),
        }
    }

    fn trash<'s>(
        &mut self,
        path: &'s VaultPath,
        place: VaultPath,
        before: Option<&'s Arc<File>>,
        trash: TrashKind,
        index: usize,
        planned: &mut PlannedSteps<'s>,
    ) -> Result<(), StoreError> {
        // The checkpoint keeps the content even though the trash has the file.
        if let Some(before) = before {
            self.check(path, &place, before)?;
            planned.keep(before);
        }
        planned.entry(path, before, None);
        let hash = before.map(|before| before.hash());
        self.vacate(path);
        if trash == TrashKind::System && self.store.has_system_trash() {
            return planned.remove(place, hash, true);
        }
        let target = self.free_in_trash(path, planned)?;
        if let Some(last) = planned.entries.last_mut() {
            last.moved_to = Some(target.clone());
        }
        planned.trashed.insert(index, target.clone());
        // The trash is on another disk, where a rename is not possible.
        if self.copies {
            let before = before.ok_or(StoreError::Disk { kind: std::io::ErrorKind::CrossesDevices })?;
            planned.create(target, &before.content)?;
            return planned.remove(place, hash, false);
        }
        planned.push(JournalStep::Move { from: place, to: target, before: hash }, &[]);
        Ok(())
    }

    /// Named as Obsidian names trashed files: by the file name alone, numbered if taken. The caller does not choose it,
    /// so its scope is not checked.
    fn free_in_trash(&mut self, path: &VaultPath, planned: &mut PlannedSteps<'_>) -> Result<VaultPath, StoreError> {
        for number in 1..MAX_NAMES {
            let name = format!("{TRASH}/{}", numbered(path.name(), number));
            let wanted = VaultPath::spelt(&name).ok_or(StoreError::BadName)?;
            // Another change of this set takes that name.
            if self.produced.contains_key(&wanted) {
                continue;
            }
            match self.store.new_place(&wanted, &|_| true) {
                Err(StoreError::Exists | StoreError::IsFolder) => {}
                // A file, or a link that leads nowhere or out of the vault.
                Err(StoreError::NotAFile | StoreError::Outside) => return Err(StoreError::NoTrash),
                found => {
                    let NewPlace { place, folders } = found?;
                    self.make(folders, planned);
                    self.produced.insert(wanted, place.clone());
                    return Ok(place);
                }
            }
        }
        Err(StoreError::Exists)
    }

    fn make(&mut self, folders: Vec<VaultPath>, planned: &mut PlannedSteps<'_>) {
        for place in folders {
            if self.made.insert(place.clone()) {
                planned.push(JournalStep::MakeFolder { place }, &[]);
            }
        }
    }

    fn vacate(&mut self, path: &VaultPath) {
        self.produced.remove(path);
        self.vacated.insert(path.clone());
    }

    fn may_write(&self, path: &VaultPath) -> Result<(), StoreError> {
        if self.scope.may_write(path).is_ok() { Ok(()) } else { Err(StoreError::Closed) }
    }

    /// The place of a file that exists, or will by then.
    fn existing(&self, path: &VaultPath) -> Result<VaultPath, StoreError> {
        self.may_write(path)?;
        if let Some(place) = self.produced.get(path) {
            return Ok(place.clone());
        }
        // It exists as soon as its folder does.
        if self.before_its_folder_moved(path).is_some() {
            return Ok(path.clone());
        }
        // An earlier change of this set takes it away, or a folder around it, although the disk still has it.
        if self.vacated.iter().any(|gone| path.is_within(gone)) {
            return Err(StoreError::Missing);
        }
        self.judged_place(path)
    }

    /// Where a path leads now, if that is where the change was judged. If not, a link was put in the way, and the
    /// change has to be planned and judged again.
    fn judged_place(&self, path: &VaultPath) -> Result<VaultPath, StoreError> {
        let place = self.narrowed(StoreError::Missing, |open| self.store.place(path, open))?;
        if (self.judged)(path, &place) { Ok(place) } else { Err(StoreError::Missing) }
    }

    /// The current place of a file or folder that will come to this path with the folder around it.
    fn before_its_folder_moved(&self, path: &VaultPath) -> Option<VaultPath> {
        let mut now = None;
        // Backwards from the last move: each brings the path one step closer to where the disk has it now.
        for (from, to) in self.moved_folders.iter().rev() {
            let at = now.as_ref().unwrap_or(path).as_str();
            let below = at.strip_prefix(to.as_str()).filter(|below| below.starts_with('/'));
            now = below.and_then(|below| VaultPath::spelt(&format!("{from}{below}"))).or(now);
        }
        now
    }

    /// The place of a folder that exists, or will by then: it is moved as found.
    fn existing_folder(&self, path: &VaultPath) -> Result<VaultPath, StoreError> {
        self.may_write(path)?;
        // Earlier changes of this set put files into it, so it will exist by then.
        if self.produced.keys().any(|produced| produced.is_within(path)) {
            return Ok(path.clone());
        }
        match self.before_its_folder_moved(path) {
            Some(now) => {
                self.narrowed(StoreError::Missing, |open| self.store.place(&now, open))?;
                Ok(path.clone())
            }
            None => self.judged_place(path),
        }
    }

    /// Where a file can be created.
    fn free(&mut self, path: &VaultPath, planned: &mut PlannedSteps<'_>) -> Result<VaultPath, StoreError> {
        self.may_write(path)?;
        if self.produced.contains_key(path) {
            return Err(StoreError::Exists);
        }
        let found = self.narrowed(StoreError::NotAFile, |open| self.store.new_place(path, open));
        let NewPlace { place, folders } = match found {
            // It will be gone by then.
            Err(StoreError::Exists | StoreError::IsFolder) if self.vacated.contains(path) => {
                NewPlace { place: path.clone(), folders: Vec::new() }
            }
            found => {
                let found = found?;
                if !(self.judged)(path, &found.place) {
                    return Err(StoreError::Exists);
                }
                found
            }
        };
        // The same answer as if a file that the caller may not see were in the way.
        if folders.iter().any(|folder| self.scope.may_hide_file(folder)) {
            return Err(StoreError::NotAFile);
        }
        // A file that a change here removed comes back under its name, even an invalid one.
        let may_have_name = self.may_have_name;
        if !folders.iter().chain([&place]).all(may_have_name) {
            return Err(StoreError::NotPortable);
        }
        self.make(folders, planned);
        self.produced.insert(path.clone(), place.clone());
        Ok(place)
    }

    /// A link to a place that the caller may not even see looks like a broken link.
    fn narrowed<T>(
        &self,
        nowhere: StoreError,
        find: impl FnOnce(&dyn Fn(&VaultPath) -> bool) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let unseen = Cell::new(false);
        let open = |place: &VaultPath| {
            let is_seen = self.scope.may_read(place).is_ok();
            unseen.set(unseen.get() || !is_seen);
            is_seen && self.scope.may_write(place).is_ok()
        };
        find(&open).map_err(|error| if error == StoreError::Closed && unseen.get() { nowhere } else { error })
    }

    /// The content that the plan saw is still there. Checked again when it is replaced; this spares a lost race the
    /// work.
    fn check(&self, path: &VaultPath, place: &VaultPath, before: &File) -> Result<(), StoreError> {
        // Written by an earlier change of this set: what the disk has now is not what this change replaces.
        if self.produced.contains_key(path) {
            return Ok(());
        }
        let now = self.before_its_folder_moved(path);
        let limit = self.max_file_bytes.max(before.content.len() as u64);
        let found = self.store.inspect(&self.store.spot(now.as_ref().unwrap_or(place))?, None, limit)?.hash;
        if found == before.hash() { Ok(()) } else { Err(StoreError::Changed { found }) }
    }
}

impl<'s> PlannedSteps<'s> {
    /// The contents that the steps write, except those that are too large.
    pub(super) fn written(&self, most: usize) -> Vec<(ContentHash, &'s [u8])> {
        let steps = self.steps.iter().zip(&self.bytes);
        let written = steps.filter_map(|(step, bytes)| match step {
            JournalStep::Replace { after, .. } | JournalStep::Create { after, .. } => Some((*after, *bytes)),
            JournalStep::MakeFolder { .. } | JournalStep::Remove { .. } | JournalStep::Move { .. } => None,
        });
        written.filter(|(_, bytes)| bytes.len() <= most).collect()
    }

    fn push(&mut self, step: JournalStep, bytes: &'s [u8]) {
        self.steps.push(step);
        self.bytes.push(bytes);
    }

    fn keep(&mut self, before: &'s Arc<File>) {
        // By hash: a batch that replaces many equal files keeps their content once.
        self.contents.entry(before.hash()).or_insert(before.bytes());
    }

    fn entry(&mut self, path: &VaultPath, before: Option<&Arc<File>>, after: Option<&FileContent>) {
        self.entries.push(EntryRecord {
            path: path.clone(),
            moved_to: None,
            before: before.map(|file| file.hash()),
            after: after.map(FileContent::hash),
            bytes_before: before.map_or(0, |file| file.content.len() as u64),
            bytes_after: after.map_or(0, |content| content.len() as u64),
        });
    }

    fn replace(&mut self, place: VaultPath, before: &File, content: &'s FileContent) -> Result<(), StoreError> {
        let after = content.hash();
        // A change to the existing content is not a change.
        if after != before.hash() {
            let aside = aside()?;
            self.push(JournalStep::Replace { place, aside, before: before.hash(), after }, content.bytes());
        }
        Ok(())
    }

    fn create(&mut self, place: VaultPath, content: &'s FileContent) -> Result<(), StoreError> {
        let aside = aside()?;
        self.push(JournalStep::Create { place, aside, after: content.hash() }, content.bytes());
        Ok(())
    }

    fn remove(&mut self, place: VaultPath, before: Option<ContentHash>, to_trash: bool) -> Result<(), StoreError> {
        let aside = aside()?;
        self.push(JournalStep::Remove { place, aside, before, to_trash }, &[]);
        Ok(())
    }
}

/// The name of one of our files. The dot hides it from Obsidian.
fn aside() -> Result<String, StoreError> {
    let random = getrandom::u64().map_err(|_| StoreError::Disk { kind: std::io::ErrorKind::Other })?;
    Ok(format!(".lapidary-{random:016x}.tmp"))
}
