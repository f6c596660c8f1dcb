//! The steps of a commit on a real folder.

use std::{
    collections::BTreeSet,
    io::{self, Read, Write},
    sync::Arc,
    time::SystemTime,
};

use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use lapidary_lease::{Lease, LeaseAnswer};
use lapidary_note::ContentHash;

use super::{
    FolderStore, OpenedFolder, ordinary,
    path_walk::{EntryClass, LinkHandling, MissingCause, PathEnd},
    reading,
    renames::{exchange, number, without_replacing},
    sync_folder,
};
use crate::{
    VaultPath,
    posix::{
        EntryHandle, FileNumber, FileOperations, InspectedFile, NewPlace, OtherWriters, PlaceCheck, StoreError,
        SwapOutcome, SystemTrash,
    },
};

/// Called before each system call that changes something, and able to make it fail: this is how tests kill and fail a
/// commit at every single step.
pub type StepObserver = Arc<dyn Fn(&'static str) -> Result<(), StoreError> + Send + Sync>;

/// The path argument of system calls.
const MAX_PATH_BYTES: usize = 4095;

impl FolderStore {
    /// The same vault, with its changes observed step by step.
    #[must_use]
    pub fn observed(self, observer: StepObserver) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// The same vault, whose deleted files can go to the system trash.
    #[must_use]
    pub fn with_trash(self, trash: Option<SystemTrash>) -> Self {
        Self { trash, ..self }
    }

    fn about_to(&self, call: &'static str) -> Result<(), StoreError> {
        self.observer.as_ref().map_or(Ok(()), |observer| observer(call))
    }
}

impl FileOperations for FolderStore {
    fn now(&self) -> i64 {
        self.time()
    }

    fn place(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Result<VaultPath, StoreError> {
        let opened = self.folder()?;
        match opened.place(path, open) {
            Err(StoreError::Outside) => opened.place_elsewhere(path, open, OpenedFolder::place),
            place => place,
        }
    }

    fn new_place(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Result<NewPlace, StoreError> {
        let opened = self.folder()?;
        match opened.new_file(path, open) {
            Err(StoreError::Outside) => {
                // Only on this error: looking outside the vault costs several lookups more.
                let elsewhere = opened.elsewhere(path, LinkHandling::All(open))?;
                let inside = elsewhere.path.as_ref().ok_or(StoreError::IsFolder)?;
                let found = elsewhere.folder.new_file(inside, &|place| elsewhere.shows(place, open))?;
                let named = |place: &VaultPath| elsewhere.in_vault(place).ok_or(StoreError::BadName);
                let folders = found.folders.iter().map(named).collect::<Result<_, _>>()?;
                Ok(NewPlace { place: named(&found.place)?, folders })
            }
            place => place,
        }
    }

    /// No link is followed on the way, except one that leaves the vault: the place was found by following all others,
    /// and one that appeared since leads to an unchecked place.
    fn spot(&self, place: &VaultPath) -> Result<EntryHandle, StoreError> {
        let opened = self.folder()?;
        let beside = match opened.beside(place) {
            // The place itself is a link, perhaps into a followed folder; `elsewhere` finds out.
            Ok(folder) if opened.follows() && is_link(&folder, place.name()) => Err(StoreError::Outside),
            beside => beside,
        };
        let (folder, name) = match beside {
            Ok(folder) => (folder, place.name().to_owned()),
            Err(StoreError::Outside) => match opened.elsewhere(place, LinkHandling::OnlyLeaving) {
                // A link that was not here when the place was looked up. Files next to it can be handled, and no step
                // follows the link itself.
                Err(StoreError::Outside | StoreError::Missing) => (opened.beside(place)?, place.name().to_owned()),
                elsewhere => {
                    let elsewhere = elsewhere?;
                    let inside = elsewhere.path.as_ref().ok_or(StoreError::IsFolder)?;
                    (elsewhere.folder.beside(inside)?, inside.name().to_owned())
                }
            },
            Err(error) => return Err(error),
        };
        Ok(EntryHandle { place: place.clone(), folder: Some((Arc::new(folder), name)) })
    }

    fn stage(&self, spot: &EntryHandle, aside: &str, bytes: &[u8], like: bool) -> Result<FileNumber, StoreError> {
        let (folder, name) = held(spot)?;
        let old = if like { Some(opened(folder, name)?) } else { None };
        let mut options = OpenOptions::new();
        // Fails if the name exists, so no file and no link of another program is written to.
        options.write(true).create_new(true);
        #[cfg(unix)]
        if like {
            use cap_std::fs::OpenOptionsExt;
            // Private until it has the text and the old file's permissions are known to fit.
            options.mode(0o600);
        }
        self.about_to("open")?;
        let mut file = folder.open_with(aside, &options)?;
        if let Err(error) = self.about_to("write") {
            // Simulates a disk that fails in the middle of it.
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        file.write_all(bytes)?;
        if let Some((old, metadata)) = &old {
            self.about_to("set rights")?;
            keep_rights(&file, old, metadata)?;
        }
        self.about_to("sync")?;
        file.sync_all()?;
        Ok(number(&file.metadata()?))
    }

    fn exchange(&self, spot: &EntryHandle, aside: &str, expected: &ContentHash) -> Result<SwapOutcome, StoreError> {
        let (folder, name) = held(spot)?;
        // A folder or a link may have replaced the file; it is not ours.
        let there = folder.symlink_metadata(name)?;
        ordinary(&there)?;
        self.about_to("exchange")?;
        if exchange(folder, aside, name)? {
            return Ok(SwapOutcome::Changed);
        }
        // The disk cannot exchange, so there is a gap between this check and the rename that nothing can close.
        let found = self.inspect(spot, None, there.len())?.hash;
        if found != *expected {
            return Err(StoreError::Changed { found });
        }
        folder.rename(aside, folder, name)?;
        Ok(SwapOutcome::Replaced)
    }

    fn give_way(&self, spot: &EntryHandle, aside: &str, ours: FileNumber) -> Result<(), StoreError> {
        let (folder, name) = held(spot)?;
        let mut put_in = ours;
        loop {
            // Identified by number: content may be equal, and only the number says whose file it is.
            let theirs = number(&folder.symlink_metadata(aside)?);
            self.about_to("exchange back")?;
            match exchange(folder, aside, name) {
                Ok(true) => {}
                Ok(false) => return Err(StoreError::Unsure),
                // Removed meanwhile; the file that we hold is put back anyway, overwriting nothing.
                Err(_) => match without_replacing((folder, aside), (folder, name)) {
                    Err(StoreError::Exists) => continue,
                    result => return result,
                },
            }
            // Ours came out, so the file that is in place now is the newest foreign one.
            if number(&folder.symlink_metadata(aside)?) == put_in {
                return Ok(());
            }
            put_in = theirs;
        }
    }

    fn bring(&self, spot: &EntryHandle, aside: &str) -> Result<(), StoreError> {
        let (folder, name) = held(spot)?;
        self.about_to("bring")?;
        without_replacing((folder, aside), (folder, name))
    }

    fn set_aside(&self, spot: &EntryHandle, aside: &str) -> Result<(), StoreError> {
        let (folder, name) = held(spot)?;
        ordinary(&folder.symlink_metadata(name)?)?;
        self.about_to("set aside")?;
        without_replacing((folder, name), (folder, aside))
    }

    fn inspect(&self, spot: &EntryHandle, aside: Option<&str>, max_bytes: u64) -> Result<InspectedFile, StoreError> {
        let (folder, name) = held(spot)?;
        let (file, metadata) = opened(folder, aside.unwrap_or(name))?;
        if metadata.len() > max_bytes {
            return Err(StoreError::TooLarge { bytes: metadata.len(), limit: max_bytes });
        }
        let file = file.into_std();
        let held = match aside {
            None => OtherWriters::Unknown,
            // Checked before it is read: from then on no program can write to it unnoticed.
            Some(_) => match Lease::ask(file.try_clone()?) {
                LeaseAnswer::Granted(lease) => OtherWriters::Alone(Some(lease)),
                LeaseAnswer::InUse => OtherWriters::InUse,
                LeaseAnswer::Unknown => OtherWriters::Unknown,
            },
        };
        let mut bytes = Vec::new();
        // A file may have grown larger than memory since it was planned; that must not end the process.
        bytes.try_reserve_exact(usize::try_from(metadata.len()).unwrap_or(usize::MAX)).map_err(io::Error::from)?;
        let read = file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)? as u64;
        if read > max_bytes {
            return Err(StoreError::TooLarge { bytes: read, limit: max_bytes });
        }
        Ok(InspectedFile { number: number(&metadata), hash: ContentHash::of(&bytes), bytes, held })
    }

    fn looks_like(&self, place: &VaultPath, read: &crate::File) -> bool {
        let Ok(spot) = self.spot(place) else { return false };
        let there = held(&spot).map(|(folder, name)| folder.symlink_metadata(name));
        // An unknown time matches nothing: two unknown times say nothing about the file.
        matches!(there, Ok(Ok(there)) if there.is_file() && there.len() == read.content.len() as u64
            && read.modified.is_some() && there.modified().ok().map(cap_std::time::SystemTime::into_std) == read.modified)
    }

    fn discard(&self, spot: &EntryHandle, aside: &str) -> Result<(), StoreError> {
        let (folder, _) = held(spot)?;
        // Checked first: a read-only disk refuses to remove even missing files.
        if is_free(folder, aside) {
            return Ok(());
        }
        self.about_to("remove")?;
        match folder.remove_file(aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => Ok(removed?),
        }
    }

    fn follows(&self) -> bool {
        self.followed.is_any()
    }

    fn seek(&self, names: &BTreeSet<&str>) -> Result<Vec<VaultPath>, StoreError> {
        self.folder()?.seek(names)
    }

    fn has_system_trash(&self) -> bool {
        self.trash.as_ref().is_some_and(SystemTrash::is_usable)
    }

    fn trash(&self, spot: &EntryHandle, aside: &str, deleted: SystemTime) -> Result<(), StoreError> {
        let (folder, _) = held(spot)?;
        let trash = self.trash.as_ref().ok_or(StoreError::NotPermitted)?;
        let origin = self.root.join(spot.place.as_str());
        trash.take(folder, aside, &origin, deleted, &|call| self.about_to(call))
    }

    fn rename(&self, from: &EntryHandle, to: &EntryHandle) -> Result<(), StoreError> {
        let (folder, name) = held(from)?;
        // A link that was not here when the place was looked up would lead elsewhere from there.
        if folder.symlink_metadata(name)?.is_symlink() {
            return Err(StoreError::NotAFile);
        }
        self.about_to("rename")?;
        without_replacing((folder, name), held(to)?)
    }

    fn make_folder(&self, place: &VaultPath) -> Result<bool, StoreError> {
        let spot = self.spot(place)?;
        let (folder, name) = held(&spot)?;
        self.about_to("make folder")?;
        match folder.create_dir(name) {
            Ok(()) => Ok(true),
            // Another writer was faster; then it is not ours to remove.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn remove_folder(&self, place: &VaultPath) -> Result<(), StoreError> {
        let spot = match self.spot(place) {
            Err(StoreError::Missing) => return Ok(()),
            spot => spot?,
        };
        let (folder, name) = held(&spot)?;
        if is_free(folder, name) {
            return Ok(());
        }
        self.about_to("remove folder")?;
        match folder.remove_dir(name) {
            // Another program may have put something into it, which then keeps its folder.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => Ok(()),
            removed => Ok(removed?),
        }
    }

    fn sync(&self, spot: &EntryHandle) -> Result<(), StoreError> {
        let (folder, _) = held(spot)?;
        self.about_to("sync folder")?;
        sync_folder(folder)
    }
}

impl OpenedFolder {
    /// Where a file can be created, if nothing exists there yet.
    fn new_file(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Result<NewPlace, StoreError> {
        let closed = |place: &VaultPath| place != path && !open(place);
        let nothing = match self.way(path, LinkHandling::AllButLast(open))? {
            PathEnd::There(sight) if closed(&sight.place) => return Err(StoreError::Closed),
            PathEnd::There(sight) => {
                return Err(match sight.kind {
                    EntryClass::Folder => StoreError::IsFolder,
                    // Reading finds nothing behind such a link, so reporting a file there would send callers in
                    // circles.
                    EntryClass::Link if self.place(path, open).is_err() => StoreError::NotAFile,
                    EntryClass::File | EntryClass::Link | EntryClass::Other => StoreError::Exists,
                });
            }
            PathEnd::Root => return Err(StoreError::IsFolder),
            PathEnd::Leaves(_) => return Err(StoreError::Outside),
            PathEnd::Nothing(nothing) => nothing,
        };
        let place = nothing.place()?;
        // No other program could name it.
        if place.as_str().len() > MAX_PATH_BYTES {
            return Err(StoreError::BadName);
        }
        match nothing.why {
            // There is no folder and no room for one.
            MissingCause::BrokenLink => Err(StoreError::NotAFile),
            _ if closed(&place) => Err(StoreError::Closed),
            MissingCause::NotAFolder => Err(StoreError::NotAFile),
            MissingCause::SecondName => {
                // The same as on other disks: names of this form are never created. Other second names lead nowhere, as
                // for a reader; to say more would reveal that something is there.
                let is_portable = nothing.folders()?.iter().chain([&place]).all(VaultPath::has_portable_name);
                Err(if is_portable { StoreError::Missing } else { StoreError::NotPortable })
            }
            MissingCause::Free => Ok(NewPlace { place, folders: nothing.folders()? }),
        }
    }
}

fn is_link(folder: &Dir, name: &str) -> bool {
    folder.symlink_metadata(name).is_ok_and(|found| found.is_symlink())
}

fn held(spot: &EntryHandle) -> Result<(&Dir, &str), StoreError> {
    spot.folder.as_ref().map(|(folder, name)| (&**folder, &**name)).ok_or(StoreError::VaultGone)
}

fn is_free(folder: &Dir, name: &str) -> bool {
    folder.symlink_metadata(name).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Checked before it is opened: opening a pipe blocks, opening a device may do anything. No link is followed.
fn opened(folder: &Dir, name: &str) -> Result<(File, Metadata), StoreError> {
    ordinary(&folder.symlink_metadata(name)?)?;
    let file = folder.open_with(name, &reading())?;
    let metadata = file.metadata()?;
    ordinary(&metadata)?;
    Ok((file, metadata))
}

/// Mode, owner and extended attributes of the old file for the new one.
fn keep_rights(new: &File, old: &File, metadata: &Metadata) -> Result<(), StoreError> {
    // Before the permissions, because changing the owner clears some of them.
    #[cfg(unix)]
    keep_owner(new, metadata);
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    keep_attributes(new, old)?;
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    let _has_no_attributes = old;
    Ok(new.set_permissions(metadata.permissions())?)
}

/// A server that runs as root must not take people's notes away from them. Other users may not change owners, and need
/// not: it is their own vault.
#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) {
    use std::os::unix::fs::fchown;

    use cap_std::fs::MetadataExt;
    let (user, group) = (like.uid(), like.gid());
    // Without the right to give it to that user, at least the group stays.
    if fchown(file, Some(user), Some(group)).is_err() {
        drop(fchown(file, None, Some(group)));
    }
}

/// File manager tags, access lists and the like. Those that only the system may set are left to the system.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn keep_attributes(new: &File, old: &File) -> Result<(), StoreError> {
    use rustix::{fs, io::Errno};
    let mut names = vec![0; 4096];
    let length = loop {
        match fs::flistxattr(old, &mut names) {
            Ok(length) => break length,
            // RANGE does not say how much is needed.
            Err(Errno::RANGE) if names.len() < 1 << 20 => names.resize(names.len() * 4, 0),
            // A disk without attributes has none to lose.
            Err(_) => return Ok(()),
        }
    };
    for name in names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0; 65_536];
        let Ok(length) = fs::fgetxattr(old, name, &mut value) else { continue };
        match fs::fsetxattr(new, name, &value[..length], fs::XattrFlags::empty()) {
            Ok(()) => {}
            // A user's own attribute can always be set, if there is room.
            Err(error) if name.starts_with(b"user.") => return Err(io::Error::from(error).into()),
            Err(_) => {}
        }
    }
    Ok(())
}
