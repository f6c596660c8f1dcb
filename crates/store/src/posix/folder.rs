mod changing;
mod follow;
mod renames;
mod seek;
mod walk;

use std::{
    io::{self, Read},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, Metadata, OpenOptions},
};
use parking_lot::RwLock;
use unicode_normalization::UnicodeNormalization;

pub use self::changing::Observer;
use self::follow::{Followed, Leaving, leaves};
use super::{Entry, EntryKind, Open, Stamp, Stat, StoreError, StoredFile, SystemTrash, nanoseconds};
use crate::VaultPath;

/// More links in a row than this are a loop.
const MAX_LINKS: usize = 40;

/// A vault in a folder. Every access goes through a handle on that folder, so no path, link or race leads outside, but
/// to the folders that the owner named.
pub struct FolderStore {
    root: PathBuf,
    followed: Arc<Followed>,
    /// Opened on first use and again when the folder was replaced (unmounted, cloned anew).
    opened: RwLock<Option<Arc<Opened>>>,
    trash: Option<SystemTrash>,
    observer: Option<Observer>,
}

pub(super) struct Opened {
    pub(super) dir: Dir,
    identity: Identity,
    followed: Arc<Followed>,
}

impl FolderStore {
    pub fn new(root: PathBuf) -> Self {
        Self { root, followed: Arc::default(), opened: RwLock::default(), trash: None, observer: None }
    }

    /// The same vault, whose links into these folders are followed.
    #[must_use]
    pub fn following(self, folders: Vec<PathBuf>) -> Self {
        let followed = Arc::new(Followed::new(self.root.clone(), folders));
        Self { followed, ..self }
    }

    pub(super) fn folder(&self) -> Result<Arc<Opened>, StoreError> {
        let present = std::fs::metadata(&self.root).map_err(|_| StoreError::VaultGone)?;
        if let Some(opened) = &*self.opened.read()
            && opened.identity == Identity::of(&present)
        {
            return Ok(Arc::clone(opened));
        }
        let dir = Dir::open_ambient_dir(&self.root, ambient_authority()).map_err(|_| StoreError::VaultGone)?;
        let opened = Arc::new(Opened::new(dir, Arc::clone(&self.followed))?);
        *self.opened.write() = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

impl FolderStore {
    pub(super) fn read(&self, path: &VaultPath, max_bytes: u64, open: Open<'_>) -> Result<StoredFile, StoreError> {
        self.folder()?.wherever(path, open, |folder, path, open| folder.read_file(path, max_bytes, open))
    }

    pub(super) fn list(&self, folder: Option<&VaultPath>, open: Open<'_>) -> Result<Vec<Entry>, StoreError> {
        let opened = self.folder()?;
        match opened.list(folder, open) {
            Err(StoreError::Outside) => opened.list_elsewhere(folder, open),
            listed => listed,
        }
    }

    pub(super) fn stamp(&self, path: &VaultPath) -> Result<Option<Stamp>, StoreError> {
        self.folder()?.wherever(path, &|_| true, |folder, path, _| folder.stamp(path))
    }

    pub(super) fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<Stat, StoreError> {
        self.folder()?.load(path, max_bytes, into)
    }

    pub(super) fn time(&self) -> i64 {
        nanoseconds(std::time::SystemTime::now())
    }
}

impl Opened {
    /// Differs when another vault has taken the place of this one.
    pub(super) fn identity(&self) -> u64 {
        self.identity.number()
    }

    fn new(dir: Dir, followed: Arc<Followed>) -> Result<Self, StoreError> {
        // Of the handle, as the path may name another folder by now.
        let identity = Identity::of(&dir.try_clone()?.into_std_file().metadata()?);
        Ok(Self { dir, identity, followed })
    }

    fn read_file(&self, path: &VaultPath, max_bytes: u64, open: Open<'_>) -> Result<StoredFile, StoreError> {
        let place = self.place(path, open)?;
        let (bytes, metadata) = self.read(&place, max_bytes)?;
        let time = |time: io::Result<cap_std::time::SystemTime>| time.ok().map(cap_std::time::SystemTime::into_std);
        Ok(StoredFile { bytes, modified: time(metadata.modified()), created: time(metadata.created()) })
    }

    fn list(&self, folder: Option<&VaultPath>, open: Open<'_>) -> Result<Vec<Entry>, StoreError> {
        let place = folder.map(|folder| self.place_of_folder(folder, open)).transpose()?;
        let names = self.dir.read_dir(place.as_ref().map_or(".", VaultPath::as_str))?;
        let mut entries = Vec::new();
        for name in names {
            let name = name?;
            // A name that is not UTF-8 cannot be asked for, so it is not offered.
            let Some(text) = name.file_name().to_str().map(str::to_owned) else { continue };
            let within = |folder: Option<&VaultPath>| {
                VaultPath::spelt(&folder.map_or_else(|| text.clone(), |folder| format!("{folder}/{text}")))
            };
            let Some(path) = within(folder) else { continue };
            // Through a link, an entry has two paths, and both have to be open.
            if place.as_ref() != folder && !within(place.as_ref()).is_some_and(|place| open(&place)) {
                continue;
            }
            let kind = match name.file_type() {
                // Gone since the folder was read.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                kind => kind?,
            };
            if kind.is_dir() {
                entries.push(Entry { path, kind: EntryKind::Folder });
            } else if kind.is_file() {
                entries.push(Entry { path, kind: EntryKind::File });
            } else if kind.is_symlink() {
                entries.extend(self.linked(path, open));
            }
        }
        Ok(entries)
    }

    fn stamp(&self, path: &VaultPath) -> Result<Option<Stamp>, StoreError> {
        let found = match self.dir.symlink_metadata(path.as_str()).map_err(StoreError::from) {
            Err(StoreError::Missing) => return Ok(None),
            found => found?,
        };
        if !found.is_symlink() {
            return Ok(Some(walk::stat(&found).stamp));
        }
        let place = self.place(path, &|_| true)?;
        Ok(Some(walk::stat(&self.dir.symlink_metadata(place.as_str())?).stamp))
    }

    /// Where a path really leads, links followed, if the caller may use that place.
    fn place(&self, path: &VaultPath, open: Open<'_>) -> Result<VaultPath, StoreError> {
        let place = self.real(path, open)?;
        if place != *path && !open(&place) {
            return Err(StoreError::Closed);
        }
        Ok(place)
    }

    fn place_of_folder(&self, folder: &VaultPath, open: Open<'_>) -> Result<VaultPath, StoreError> {
        let place = self.place(folder, open)?;
        if self.dir.metadata(place.as_str())?.is_dir() { Ok(place) } else { Err(StoreError::NotAFile) }
    }

    /// Where a path really is, if that is in this folder.
    fn real(&self, path: &VaultPath, open: Open<'_>) -> Result<VaultPath, StoreError> {
        self.trace(path, open)?.map_err(|_| StoreError::Outside)
    }

    /// Follows links name by name, up to one that leaves. The system's own way to ask for a real path fails for a file
    /// that is replaced at that very moment, which is what editors and we ourselves do.
    ///
    /// Once a link was followed, whatever a closed place holds on the way (a link, a folder that the system locks) ends
    /// the search there, so that it looks like nothing at all.
    fn trace(&self, path: &VaultPath, open: Open<'_>) -> Result<Result<VaultPath, Leaving>, StoreError> {
        let mut ahead: Vec<String> = path.names().map(str::to_owned).collect();
        ahead.reverse();
        let mut real: Vec<String> = Vec::new();
        let mut links = 0;
        while let Some(name) = ahead.pop() {
            if name == ".." {
                real.pop().ok_or(StoreError::Outside)?;
                continue;
            }
            let name = self.as_on_disk(&real.join("/"), name);
            real.push(name);
            let place = real.join("/");
            let closed = || links > 0 && !VaultPath::spelt(&place).is_some_and(|place| open(&place));
            let metadata = match self.dir.symlink_metadata(&place).map_err(StoreError::from) {
                Err(StoreError::Missing) => return Err(StoreError::Missing),
                Err(_) if closed() => return Err(StoreError::Closed),
                metadata => metadata?,
            };
            if !metadata.is_symlink() {
                if !metadata.is_dir() && !ahead.is_empty() {
                    return Err(StoreError::Missing);
                }
                continue;
            }
            if closed() {
                return Err(StoreError::Closed);
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(StoreError::Missing);
            }
            let target = self.dir.read_link_contents(&place)?;
            real.pop();
            if leaves(&target, real.len()) {
                return Ok(Err(Leaving { link: place, target, ahead }));
            }
            for part in target.components().rev() {
                match part {
                    Component::CurDir => {}
                    Component::ParentDir => ahead.push("..".to_owned()),
                    Component::Normal(name) => ahead.push(name.to_str().ok_or(StoreError::BadName)?.to_owned()),
                    Component::RootDir | Component::Prefix(_) => return Err(StoreError::Outside),
                }
            }
        }
        match real.join("/").as_str() {
            // The vault itself, which has no path.
            "" => Err(StoreError::IsFolder),
            real => VaultPath::spelt(real).map(Ok).ok_or(StoreError::BadName),
        }
    }

    /// A name as the folder spells it. Letters with accents are stored in two ways, and whoever asks cannot know which one
    /// it was; if both are there, each is found by its own spelling.
    fn as_on_disk(&self, folder: &str, name: String) -> String {
        let folder = if folder.is_empty() { "." } else { folder };
        if name.is_ascii() || self.dir.symlink_metadata(Path::new(folder).join(&name)).is_ok() {
            return name;
        }
        let same = |found: &String| found.nfc().eq(name.nfc());
        let Ok(entries) = self.dir.read_dir(folder) else { return name };
        let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.find(same).unwrap_or(name)
    }

    /// Where a file that does not exist yet would be, if the caller may use that place: the part of its path that
    /// exists, links followed, and the rest.
    fn new_place(&self, path: &VaultPath, open: Open<'_>) -> Result<VaultPath, StoreError> {
        let is_link = |path: &VaultPath| self.dir.symlink_metadata(path.as_str()).is_ok_and(|found| found.is_symlink());
        let mut names = Vec::new();
        let mut existing: Option<VaultPath> = None;
        let mut folder = path.folder();
        while let Some(above) = folder {
            match self.real(&above, open) {
                Ok(real) => {
                    names.push(real.as_str().to_owned());
                    existing = Some(real);
                    break;
                }
                // A link that leads nowhere: there is no folder and no room for one.
                Err(StoreError::Missing) if is_link(&above) => return Err(StoreError::NotAFile),
                Err(StoreError::Missing) => names.push(above.name().to_owned()),
                Err(error) => return Err(error),
            }
            folder = above.folder();
        }
        names.reverse();
        // Only where the folder is there can the name be there in another spelling.
        let new_folders = names.len() > usize::from(existing.is_some());
        let name = path.name().to_owned();
        let folder = existing.as_ref().map_or("", VaultPath::as_str);
        names.push(if new_folders { name } else { self.as_on_disk(folder, name) });
        let place = VaultPath::spelt(&names.join("/")).ok_or(StoreError::BadName)?;
        if !open(&place) {
            return Err(StoreError::Closed);
        }
        match existing {
            Some(folder) if !self.dir.metadata(folder.as_str())?.is_dir() => Err(StoreError::NotAFile),
            _ => Ok(place),
        }
    }

    /// What a link in a listing stands for; a broken or forbidden one for nothing.
    fn linked(&self, path: VaultPath, open: Open<'_>) -> Option<Entry> {
        let metadata = match self.place(&path, open) {
            Err(StoreError::Outside) => self.metadata_elsewhere(&path, open)?,
            place => self.dir.metadata(place.ok()?.as_str()).ok()?,
        };
        let kind = if metadata.is_dir() { EntryKind::Folder } else { EntryKind::File };
        (metadata.is_dir() || metadata.is_file()).then_some(Entry { path, kind })
    }

    fn read(&self, place: &VaultPath, max_bytes: u64) -> Result<(Vec<u8>, Metadata), StoreError> {
        // Looked at before it is opened: opening a pipe waits, opening a device may do anything. And nothing is followed:
        // a link that was not here a moment ago leads to a place that nobody has asked the caller's scope about.
        ordinary(&self.dir.symlink_metadata(place.as_str())?)?;
        let file = self.dir.open_with(place.as_str(), &reading())?;
        let metadata = file.metadata()?;
        ordinary(&metadata)?;
        let too_large = |bytes| StoreError::TooLarge { bytes, limit: max_bytes };
        if metadata.len() > max_bytes {
            return Err(too_large(metadata.len()));
        }
        let mut bytes = Vec::new();
        // A file may have become larger than memory since it was planned on; that must not be the end of the process.
        bytes.try_reserve_exact(usize::try_from(metadata.len()).unwrap_or(usize::MAX)).map_err(io::Error::from)?;
        let read = file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        if read as u64 > max_bytes { Err(too_large(read as u64)) } else { Ok((bytes, metadata)) }
    }

    /// The folder in which a file stands.
    fn beside(&self, place: &VaultPath) -> Result<Dir, StoreError> {
        Ok(match place.folder() {
            Some(folder) => self.dir.open_dir(folder.as_str())?,
            None => self.dir.try_clone()?,
        })
    }
}

fn ordinary(metadata: &Metadata) -> Result<(), StoreError> {
    match metadata {
        metadata if metadata.is_dir() => Err(StoreError::IsFolder),
        metadata if metadata.is_file() => Ok(()),
        _ => Err(StoreError::NotAFile),
    }
}

/// Never waits and never goes elsewhere, should a pipe or a link have taken the place of the file a moment ago.
fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        use rustix::fs::OFlags;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32);
    }
    options
}

/// Tells whether a folder is still the one that was opened. Its times change with its entries, so they do not count.
#[derive(PartialEq)]
#[cfg(unix)]
struct Identity(u64, u64);

#[derive(PartialEq)]
#[cfg(not(unix))]
struct Identity(Option<std::time::SystemTime>);

impl Identity {
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
        self.0.rotate_left(32) ^ self.1
    }

    #[cfg(not(unix))]
    fn number(&self) -> u64 {
        self.0.map_or(0, |created| nanoseconds(created).cast_unsigned())
    }
}

/// A rename is durable when its folder is. By now the change has happened, so a failure means that nobody knows
/// whether it will survive a power cut.
fn sync_folder(folder: &Dir) -> Result<(), StoreError> {
    #[cfg(unix)]
    {
        // The handle only names the folder; to sync it, it has to be open for reading.
        let synced = folder.open(".").and_then(|folder| folder.sync_all());
        match synced {
            // Some file systems cannot sync a folder and need not.
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => return Err(StoreError::Unsure),
            _ => {}
        }
    }
    #[cfg(not(unix))]
    let _windows_syncs_with_the_file = folder;
    Ok(())
}

/// Shown in logs only; replies never name a place on the machine.
impl std::fmt::Debug for FolderStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let root: &Path = &self.root;
        f.debug_tuple("FolderStore").field(&root).finish()
    }
}
