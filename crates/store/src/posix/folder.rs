//! A vault's folder, accessed through handles.

mod changing;
mod names;
mod outside_links;
mod path_walk;
mod renames;
mod seek;
mod walk;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, File, Metadata, OpenOptions},
};
use parking_lot::RwLock;

pub use self::changing::StepObserver;
use self::{
    names::NameMatching,
    outside_links::FollowedFolders,
    path_walk::{EntryClass, LinkHandling, MissingCause, MissingEntry, PathEnd},
};
use super::{
    EntryKind, FileStamp, FileStat, FolderEntry, PlaceCheck, StoreError, StoredFile, SystemTrash, nanoseconds,
};
use crate::VaultPath;

/// A disk that responds to second names: the name it maps another one to. For tests, which cannot mount one everywhere.
pub type SecondNames = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// A vault in a folder. Every access goes through a handle on that folder, so no path, link or race leads outside,
/// except to the folders that the owner named.
pub struct FolderStore {
    root: PathBuf,
    followed: Arc<FollowedFolders>,
    /// Opened on first use and again when the folder was replaced (unmounted, cloned again).
    opened: RwLock<Option<Arc<OpenedFolder>>>,
    trash: Option<SystemTrash>,
    observer: Option<StepObserver>,
    second_names: Option<SecondNames>,
}

pub(super) struct OpenedFolder {
    pub(super) dir: Dir,
    identity: FolderIdentity,
    followed: Arc<FollowedFolders>,
    /// Of the disk that holds the folder itself.
    names: NameMatching,
    second_names: Option<SecondNames>,
}

impl FolderStore {
    /// The name of the folder.
    pub(crate) fn name(&self) -> Option<String> {
        self.root.file_name().map(|name| name.to_string_lossy().into_owned())
    }

    pub fn new(root: PathBuf) -> Self {
        let (opened, followed) = (RwLock::default(), Arc::default());
        Self { root, followed, opened, trash: None, observer: None, second_names: None }
    }

    /// The same vault on a disk that responds to second names.
    #[must_use]
    pub fn answering_to(self, second_names: SecondNames) -> Self {
        Self { second_names: Some(second_names), ..self }
    }

    /// The same vault, whose links into these folders are followed.
    #[must_use]
    pub fn following(self, folders: Vec<PathBuf>) -> Self {
        let followed = Arc::new(FollowedFolders::new(self.root.clone(), folders));
        Self { followed, ..self }
    }

    pub(super) fn folder(&self) -> Result<Arc<OpenedFolder>, StoreError> {
        // Looked up by path each time: the folder may be on a disk that was unmounted or replaced.
        let present = std::fs::metadata(&self.root).map_err(|_| StoreError::VaultGone)?;
        if let Some(opened) = &*self.opened.read()
            && opened.identity == FolderIdentity::of(&present)
        {
            return Ok(Arc::clone(opened));
        }
        let dir = Dir::open_ambient_dir(&self.root, ambient_authority()).map_err(|_| StoreError::VaultGone)?;
        let opened = Arc::new(OpenedFolder::new(dir, Arc::clone(&self.followed), self.second_names.clone())?);
        *self.opened.write() = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

impl FolderStore {
    pub(super) fn read(
        &self,
        path: &VaultPath,
        max_bytes: u64,
        open: PlaceCheck<'_>,
    ) -> Result<StoredFile, StoreError> {
        self.folder()?.wherever(path, open, |folder, path, open| folder.read_file(path, max_bytes, open))
    }

    pub(super) fn list(
        &self,
        folder: Option<&VaultPath>,
        open: PlaceCheck<'_>,
    ) -> Result<Vec<FolderEntry>, StoreError> {
        let opened = self.folder()?;
        match opened.list(folder, open) {
            Err(StoreError::Outside) => opened.list_elsewhere(folder, open),
            listed => listed,
        }
    }

    pub(super) fn find_folder(&self, folder: &VaultPath, open: PlaceCheck<'_>) -> Result<(), StoreError> {
        let opened = self.folder()?;
        match opened.find_folder(folder, open) {
            Err(StoreError::Outside) => opened.find_folder_elsewhere(folder, open),
            found => found,
        }
    }

    /// Where a change of a path takes place, if the caller may use that place.
    pub(super) fn place_of_change(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Result<VaultPath, StoreError> {
        let opened = self.folder()?;
        match opened.place_of_change(path, open) {
            Err(StoreError::Outside) => {
                opened.place_elsewhere(path, open, |folder, path, open| folder.place_of_change(path, open))
            }
            place => place,
        }
    }

    pub(super) fn stamp(&self, path: &VaultPath) -> Result<Option<FileStamp>, StoreError> {
        self.folder()?.wherever(path, &|_| true, |folder, path, _| folder.stamp(path))
    }

    /// Of one folder: it is looked up once for all of them.
    pub(super) fn stamps(&self, paths: &[VaultPath]) -> Result<Vec<Option<FileStamp>>, (usize, StoreError)> {
        let opened = self.folder().map_err(|error| (0, error))?;
        let stamp = |path: &VaultPath| opened.wherever(path, &|_| true, |folder, path, _| folder.stamp(path));
        paths.iter().enumerate().map(|(at, path)| stamp(path).map_err(|error| (at, error))).collect()
    }

    pub(super) fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<FileStat, StoreError> {
        self.folder()?.load(path, max_bytes, into)
    }

    pub(super) fn time(&self) -> i64 {
        nanoseconds(std::time::SystemTime::now())
    }
}

impl OpenedFolder {
    /// Changes when another vault takes the place of this one.
    pub(super) fn identity(&self) -> u64 {
        self.identity.number()
    }

    fn new(dir: Dir, followed: Arc<FollowedFolders>, second_names: Option<SecondNames>) -> Result<Self, StoreError> {
        // Of the handle, as the path may name another folder by now.
        let identity = FolderIdentity::of(&dir.try_clone()?.into_std_file().metadata()?);
        let names = if second_names.is_some() { NameMatching::Several } else { NameMatching::on_disk_of(&dir) };
        Ok(Self { dir, identity, followed, names, second_names })
    }

    fn read_file(&self, path: &VaultPath, max_bytes: u64, open: PlaceCheck<'_>) -> Result<StoredFile, StoreError> {
        let (file, metadata) = self.sight(path, open)?.open()?;
        // The file may grow between the two, so the limit is also applied while reading.
        let bytes = read(file, &metadata, max_bytes)?;
        let time = |time: io::Result<cap_std::time::SystemTime>| time.ok().map(cap_std::time::SystemTime::into_std);
        Ok(StoredFile { bytes, modified: time(metadata.modified()), created: time(metadata.created()) })
    }

    fn list(&self, folder: Option<&VaultPath>, open: PlaceCheck<'_>) -> Result<Vec<FolderEntry>, StoreError> {
        let sight = folder.map(|folder| self.sight(folder, open)).transpose()?;
        let dir = match &sight {
            Some(sight) => sight.enter()?,
            None => self.folder_at(None)?,
        };
        let place = sight.map(|sight| sight.place);
        let mut entries = Vec::new();
        for name in dir.entries()? {
            let name = name?;
            // A name that is not UTF-8 cannot be requested, so it is not offered.
            let Some(text) = name.file_name().to_str().map(str::to_owned) else { continue };
            let within = |folder: Option<&VaultPath>| {
                VaultPath::spelt(&folder.map_or_else(|| text.clone(), |folder| format!("{folder}/{text}")))
            };
            let Some(path) = within(folder) else { continue };
            // Through a link, an entry has two paths, and both must be open.
            if place.as_ref() != folder && !within(place.as_ref()).is_some_and(|place| open(&place)) {
                continue;
            }
            let kind = match name.file_type() {
                // Gone since the folder was read.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                kind => kind?,
            };
            if kind.is_dir() {
                entries.push(FolderEntry { path, kind: EntryKind::Folder });
            } else if kind.is_file() {
                entries.push(FolderEntry { path, kind: EntryKind::File });
            } else if kind.is_symlink() {
                entries.extend(self.linked(path, open));
            }
        }
        Ok(entries)
    }

    fn find_folder(&self, folder: &VaultPath, open: PlaceCheck<'_>) -> Result<(), StoreError> {
        self.sight(folder, open)?.enter().map(drop)
    }

    fn stamp(&self, path: &VaultPath) -> Result<Option<FileStamp>, StoreError> {
        match self.way(path, LinkHandling::All(&|_| true))? {
            PathEnd::There(sight) => Ok(Some(walk::stat(&sight.metadata()?).stamp)),
            PathEnd::Nothing(MissingEntry { why: MissingCause::BrokenLink, .. }) => Err(StoreError::Missing),
            PathEnd::Nothing(_) => Ok(None),
            PathEnd::Root => Err(StoreError::IsFolder),
            PathEnd::Leaves(_) => Err(StoreError::Outside),
        }
    }

    /// Where a path really leads, links followed, if the caller may use that place.
    fn place(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Result<VaultPath, StoreError> {
        self.sight(path, open).map(|sight| sight.place)
    }

    /// Where a change of a path takes place, whether or not it exists: links followed as far as they lead.
    fn place_of_change(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Result<VaultPath, StoreError> {
        let place = match self.way(path, LinkHandling::All(open))? {
            PathEnd::There(sight) => sight.place,
            PathEnd::Nothing(nothing) => nothing.place()?,
            PathEnd::Root => return Err(StoreError::IsFolder),
            PathEnd::Leaves(_) => return Err(StoreError::Outside),
        };
        // A path that is its own place was checked by the caller.
        if place != *path && !open(&place) { Err(StoreError::Closed) } else { Ok(place) }
    }

    /// The target of a link in a listing; `None` for a broken or forbidden one.
    fn linked(&self, path: VaultPath, open: PlaceCheck<'_>) -> Option<FolderEntry> {
        let kind = match self.sight(&path, open) {
            Err(StoreError::Outside) => {
                let metadata = self.metadata_elsewhere(&path, open)?;
                let file = metadata.is_file().then_some(EntryKind::File);
                if metadata.is_dir() { Some(EntryKind::Folder) } else { file }
            }
            sight => match sight.ok()?.kind {
                EntryClass::File => Some(EntryKind::File),
                EntryClass::Folder => Some(EntryKind::Folder),
                EntryClass::Link | EntryClass::Other => None,
            },
        };
        kind.map(|kind| FolderEntry { path, kind })
    }
}

fn read(file: File, metadata: &Metadata, max_bytes: u64) -> Result<Vec<u8>, StoreError> {
    let too_large = |bytes| StoreError::TooLarge { bytes, limit: max_bytes };
    if metadata.len() > max_bytes {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::new();
    let read = walk::read_all(file, metadata.len(), max_bytes, &mut bytes)?;
    if read > max_bytes { Err(too_large(read)) } else { Ok(bytes) }
}

fn ordinary(metadata: &Metadata) -> Result<(), StoreError> {
    match metadata {
        metadata if metadata.is_dir() => Err(StoreError::IsFolder),
        metadata if metadata.is_file() => Ok(()),
        _ => Err(StoreError::NotAFile),
    }
}

/// Never blocks and never goes elsewhere, should a pipe or a link have replaced the file a moment ago.
fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        use rustix::fs::OFlags;
        // Without NONBLOCK, opening a pipe waits for a writer that may never come.
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32);
    }
    options
}

/// Identifies the opened folder. Its times change with its entries, so they do not count.
#[derive(PartialEq)]
#[cfg(unix)]
struct FolderIdentity(u64, u64);

#[derive(PartialEq)]
#[cfg(not(unix))]
struct FolderIdentity(Option<std::time::SystemTime>);

impl FolderIdentity {
    #[cfg(unix)]
    fn of(metadata: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(metadata.dev(), metadata.ino())
    }

    #[cfg(not(unix))]
    fn of(metadata: &std::fs::Metadata) -> Self {
        Self(metadata.created().ok())
    }

    #[cfg(unix)]
    fn number(&self) -> u64 {
        // Combined so that a small device number does not collide with an inode number.
        self.0.rotate_left(32) ^ self.1
    }

    #[cfg(not(unix))]
    fn number(&self) -> u64 {
        self.0.map_or(0, |created| nanoseconds(created).cast_unsigned())
    }
}

/// A rename is durable when its folder is. By now the change has happened, so after a failure it is unknown whether it
/// will survive a power cut.
fn sync_folder(folder: &Dir) -> Result<(), StoreError> {
    #[cfg(unix)]
    {
        // The handle only names the folder; to sync it, it has to be open for reading.
        let synced = folder.open(".").and_then(|folder| folder.sync_all());
        match synced {
            // Some file systems cannot sync a folder and do not need to.
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => return Err(StoreError::Unsure),
            _ => {}
        }
    }
    #[cfg(not(unix))]
    let _windows_syncs_with_the_file = folder;
    Ok(())
}

/// Only shown in logs; replies never name a place on the machine.
impl std::fmt::Debug for FolderStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let root: &Path = &self.root;
        f.debug_tuple("FolderStore").field(&root).finish()
    }
}
