//! How a path is followed: by handles, one name at a time. A checked entry is held, so it cannot become something else
//! before it is used, and no link is followed unchecked.

use std::{io, ops::Deref, path::Component};

use cap_std::fs::{Dir, File, Metadata};

use super::{
    OpenedFolder, PlaceCheck, StoreError,
    names::{NameMatching, listed, other_forms},
    ordinary,
    outside_links::{LeavingLink, leaves},
    reading,
};
use crate::VaultPath;

/// More consecutive links than this are a loop.
const MAX_LINKS: usize = 40;

/// An open folder.
pub(super) enum FolderHandle<'a> {
    Root(&'a Dir),
    Own(Dir),
}

impl Deref for FolderHandle<'_> {
    type Target = Dir;

    fn deref(&self) -> &Dir {
        match self {
            Self::Root(dir) => dir,
            Self::Own(dir) => dir,
        }
    }
}

impl FolderHandle<'_> {
    pub(super) fn into_dir(self) -> io::Result<Dir> {
        match self {
            Self::Root(dir) => dir.try_clone(),
            Self::Own(dir) => Ok(dir),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryClass {
    File,
    Folder,
    Link,
    /// A pipe, a device.
    Other,
}

/// An existing entry.
pub(super) struct FoundEntry<'a> {
    /// The folder that contains it, and its name there.
    pub(super) folder: FolderHandle<'a>,
    pub(super) name: String,
    pub(super) kind: EntryClass,
    /// Its place, links followed.
    pub(super) place: VaultPath,
}

impl FoundEntry<'_> {
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.folder.symlink_metadata(&self.name)
    }

    /// The file, for reading. It was checked before: opening a pipe blocks, opening a device may do anything. No link
    /// is followed: one that was not here a moment ago leads to an unchecked place.
    pub(super) fn open(&self) -> Result<(File, Metadata), StoreError> {
        match self.kind {
            EntryClass::File => {}
            EntryClass::Folder => return Err(StoreError::IsFolder),
            EntryClass::Link | EntryClass::Other => return Err(StoreError::NotAFile),
        }
        let file = self.folder.open_with(&self.name, &reading()).map_err(|error| match self.metadata() {
            // The file became a link since it was looked at. What it leads to was not checked.
            Ok(now) if now.is_symlink() => StoreError::NotAFile,
            _ => error.into(),
        })?;
        let metadata = file.metadata()?;
        // Checked again on the handle: between the look and the opening, another entry may have taken the name.
        ordinary(&metadata)?;
        Ok((file, metadata))
    }

    /// The folder, open for listing.
    pub(super) fn enter(&self) -> Result<Dir, StoreError> {
        if self.kind == EntryClass::Folder {
            Ok(listable(&self.folder, &self.name)?)
        } else {
            Err(StoreError::NotAFile)
        }
    }
}

/// Where a way ends.
pub(super) enum PathEnd<'a> {
    There(FoundEntry<'a>),
    /// At the vault root, which has no path.
    Root,
    Leaves(LeavingLink),
    Nothing(MissingEntry),
}

/// A path that ends before its last name.
pub(super) struct MissingEntry {
    /// The names of the folders that exist.
    pub(super) reached: Vec<String>,
    /// Those that were not found.
    pub(super) missing: Vec<String>,
    pub(super) why: MissingCause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingCause {
    /// Nothing exists there yet.
    Free,
    /// The disk responds to the name, but no listing shows it.
    SecondName,
    /// A broken link, or a loop.
    BrokenLink,
    /// Something other than a folder has a path below it.
    NotAFolder,
}

impl MissingEntry {
    /// Where it would be.
    pub(super) fn place(&self) -> Result<VaultPath, StoreError> {
        spelt(self.reached.iter().chain(&self.missing)).ok_or(StoreError::BadName)
    }

    /// The folders that would have to be created for it, outermost first.
    pub(super) fn folders(&self) -> Result<Vec<VaultPath>, StoreError> {
        let folder = |count| spelt(self.reached.iter().chain(&self.missing[..count])).ok_or(StoreError::BadName);
        (1..self.missing.len()).map(folder).collect()
    }
}

fn spelt<'n>(names: impl Iterator<Item = &'n String>) -> Option<VaultPath> {
    VaultPath::spelt(&names.map(String::as_str).collect::<Vec<_>>().join("/"))
}

/// Which links are followed.
#[derive(Clone, Copy)]
pub(super) enum LinkHandling<'a> {
    /// All, if the caller may use the places where they are.
    All(PlaceCheck<'a>),
    /// The same, except one at the very end.
    AllButLast(PlaceCheck<'a>),
    /// None except one that leaves the vault: the other links were followed before.
    OnlyLeaving,
}

/// What a folder has under a name.
enum WayEntry {
    There(String, EntryClass),
    Nothing,
    SecondName,
}

impl OpenedFolder {
    /// Follows a path, name by name, up to a link that leaves. The system's own way to resolve a path fails for a file
    /// that is being replaced at that moment, which is what editors and we ourselves do.
    ///
    /// Once a link was followed, anything in a closed place on the way (a link, a folder that the system locks) ends
    /// the search there, so that it looks like nothing at all.
    pub(super) fn way(&self, path: &VaultPath, links: LinkHandling<'_>) -> Result<PathEnd<'_>, StoreError> {
        if let Some(end) = self.at_once(path) {
            return Ok(end);
        }
        // Each with whether it came from a link.
        let mut ahead: Vec<(String, bool)> = path.names().map(|name| (name.to_owned(), false)).collect();
        ahead.reverse();
        let mut reached: Vec<String> = Vec::new();
        let mut held: Vec<(Dir, NameMatching)> = Vec::new();
        let mut followed = 0;
        while let Some((name, of_link)) = ahead.pop() {
            // Only links contain it; a `VaultPath` does not.
            if name == ".." {
                reached.pop().ok_or(StoreError::Outside)?;
                held.pop();
                continue;
            }
            let (folder, names) = held.last().map_or((&self.dir, self.names), |(dir, names)| (dir, *names));
            let is_closed = |name: &String| match links {
                LinkHandling::All(open) | LinkHandling::AllButLast(open) if followed > 0 => {
                    !spelt(reached.iter().chain([name])).is_some_and(|place| open(&place))
                }
                _ => false,
            };
            let nothing = |name: String, ahead: &[(String, bool)], why| {
                let missing = [name].into_iter().chain(ahead.iter().rev().map(|(name, _)| name.clone())).collect();
                Ok(PathEnd::Nothing(MissingEntry { reached: reached.clone(), missing, why }))
            };
            let (name, kind) = match self.entry(folder, &name, names) {
                Ok(WayEntry::There(name, kind)) => (name, kind),
                Ok(WayEntry::Nothing) => {
                    return nothing(name, &ahead, if of_link { MissingCause::BrokenLink } else { MissingCause::Free });
                }
                Ok(WayEntry::SecondName) => return nothing(name, &ahead, MissingCause::SecondName),
                // An error would reveal that something is there.
                Err(_) if is_closed(&name) => return Err(StoreError::Closed),
                Err(error) => return Err(error),
            };
            match kind {
                EntryClass::Folder if !ahead.is_empty() => {
                    let entered = match entered(folder, &name).map_err(StoreError::from) {
                        // Something else by now.
                        Err(StoreError::Missing | StoreError::NotAFile) => {
                            return nothing(name, &ahead, MissingCause::Free);
                        }
                        Err(_) if is_closed(&name) => return Err(StoreError::Closed),
                        entered => entered?,
                    };
                    let names = self.names_in(&entered);
                    held.push((entered, names));
                    reached.push(name);
                }
                // The last link itself is wanted, not its target.
                EntryClass::Link if !matches!((links, ahead.is_empty()), (LinkHandling::AllButLast(_), true)) => {
                    if is_closed(&name) {
                        return Err(StoreError::Closed);
                    }
                    let target = folder.read_link_contents(&name)?;
                    followed += 1;
                    if leaves(&target, reached.len()) {
                        reached.push(name);
                        let ahead = ahead.into_iter().map(|(name, _)| name).collect();
                        return Ok(PathEnd::Leaves(LeavingLink { link: reached.join("/"), target, ahead }));
                    }
                    if matches!(links, LinkHandling::OnlyLeaving) || followed > MAX_LINKS {
                        return nothing(name, &ahead, MissingCause::BrokenLink);
                    }
                    // Pushed backwards, because names are taken from the end.
                    for part in target.components().rev() {
                        match part {
                            Component::CurDir => {}
                            Component::ParentDir => ahead.push(("..".to_owned(), true)),
                            Component::Normal(name) => {
                                ahead.push((name.to_str().ok_or(StoreError::BadName)?.to_owned(), true));
                            }
                            Component::RootDir | Component::Prefix(_) => return Err(StoreError::Outside),
                        }
                    }
                }
                EntryClass::File | EntryClass::Other if !ahead.is_empty() => {
                    return nothing(name, &ahead, MissingCause::NotAFolder);
                }
                kind => {
                    let place = spelt(reached.iter().chain([&name])).ok_or(StoreError::BadName)?;
                    let folder = held.pop().map_or(FolderHandle::Root(&self.dir), |(dir, _)| FolderHandle::Own(dir));
                    return Ok(PathEnd::There(FoundEntry { folder, name, kind, place }));
                }
            }
        }
        // A link ended with `..`, or was empty.
        held.pop();
        let Some(place) = spelt(reached.iter()) else {
            return if reached.is_empty() { Ok(PathEnd::Root) } else { Err(StoreError::BadName) };
        };
        let folder = held.pop().map_or(FolderHandle::Root(&self.dir), |(dir, _)| FolderHandle::Own(dir));
        Ok(PathEnd::There(FoundEntry { folder, name: place.name().to_owned(), kind: EntryClass::Folder, place }))
    }

    /// The target of a path, links followed, if the caller may use that place.
    pub(super) fn sight(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Result<FoundEntry<'_>, StoreError> {
        match self.way(path, LinkHandling::All(open))? {
            PathEnd::There(sight) if sight.place != *path && !open(&sight.place) => Err(StoreError::Closed),
            PathEnd::There(sight) => Ok(sight),
            PathEnd::Root => Err(StoreError::IsFolder),
            PathEnd::Leaves(_) => Err(StoreError::Outside),
            PathEnd::Nothing(_) => Err(StoreError::Missing),
        }
    }

    /// The folder of a place, no part of which is a link, except one that leaves the vault.
    pub(super) fn beside(&self, place: &VaultPath) -> Result<Dir, StoreError> {
        let Some(folder) = place.folder() else { return Ok(self.dir.try_clone()?) };
        match self.way(&folder, LinkHandling::OnlyLeaving)? {
            PathEnd::There(FoundEntry { kind: EntryClass::Folder, folder, name, .. }) => Ok(entered(&folder, &name)?),
            PathEnd::Leaves(_) => Err(StoreError::Outside),
            PathEnd::There(_) | PathEnd::Root | PathEnd::Nothing(_) => Err(StoreError::Missing),
        }
    }

    /// A folder open for listing, reached without following any link: its own place, and no other.
    pub(super) fn folder_at(&self, path: Option<&VaultPath>) -> Result<Dir, StoreError> {
        let Some(path) = path else { return Ok(listable(&self.dir, ".")?) };
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{OFlags, ResolveFlags};
            if let Some(file) = self.open_without_links(path.as_str(), OFlags::DIRECTORY, ResolveFlags::empty()) {
                return file.map(Dir::from_std_file);
            }
        }
        self.own_place(path)?.enter()
    }

    pub(super) fn file_at(&self, path: &VaultPath) -> Result<File, StoreError> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{OFlags, ResolveFlags};
            if let Some(file) = self.open_without_links(path.as_str(), OFlags::NONBLOCK, ResolveFlags::empty()) {
                return file.map(File::from_std);
            }
        }
        self.own_place(path)?.open().map(|(file, _)| file)
    }

    /// What is at a path itself, without following links.
    pub(super) fn own_place(&self, path: &VaultPath) -> Result<FoundEntry<'_>, StoreError> {
        match self.way(path, LinkHandling::OnlyLeaving)? {
            PathEnd::There(sight) => Ok(sight),
            PathEnd::Leaves(_) | PathEnd::Root | PathEnd::Nothing(_) => Err(StoreError::Missing),
        }
    }

    /// The whole path in two steps, if it has no links and no disk with second names. `None` means undecided.
    #[cfg(target_os = "linux")]
    fn at_once(&self, path: &VaultPath) -> Option<PathEnd<'_>> {
        use rustix::fs::{OFlags, ResolveFlags};
        if !path.names().all(|name| self.names.are_certain(name)) {
            // A second name could lead to a file under another path than the rules were asked about.
            return None;
        }
        let folder = match path.folder() {
            None => FolderHandle::Root(&self.dir),
            Some(folder) => {
                let flags = OFlags::PATH | OFlags::DIRECTORY;
                // Another disk may be mounted on the way.
                let opened = self.open_without_links(folder.as_str(), flags, ResolveFlags::NO_XDEV)?;
                FolderHandle::Own(Dir::from_std_file(opened.ok()?))
            }
        };
        let name = path.name().to_owned();
        match self.kind(&folder, &name) {
            // Links need the rules to be asked on the way, which the slow way does.
            Ok(EntryClass::Link) => None,
            Ok(kind) => Some(PathEnd::There(FoundEntry { folder, name, kind, place: path.clone() })),
            // Other letters may have another encoding, which only the slow way tries.
            Err(error) if error.kind() == io::ErrorKind::NotFound && name.is_ascii() => {
                let mut reached: Vec<String> = path.names().map(str::to_owned).collect();
                reached.pop();
                Some(PathEnd::Nothing(MissingEntry { reached, missing: vec![name], why: MissingCause::Free }))
            }
            Err(_) => None,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn at_once(&self, _: &VaultPath) -> Option<PathEnd<'_>> {
        None
    }

    /// `None` if the kernel is too old, or a sandbox too strict, to do it in one step.
    #[cfg(target_os = "linux")]
    fn open_without_links(
        &self,
        path: &str,
        flags: rustix::fs::OFlags,
        resolve: rustix::fs::ResolveFlags,
    ) -> Option<Result<std::fs::File, StoreError>> {
        use rustix::{
            fs::{Mode, OFlags, ResolveFlags, openat2},
            io::Errno,
        };
        let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        // All of these also protect from a link that replaces a folder while the kernel follows the path.
        let resolve = resolve | ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        loop {
            return match openat2(&self.dir, path, flags, Mode::empty(), resolve) {
                Ok(file) => Some(Ok(file.into())),
                // PERM comes from seccomp filters of containers, which do not know this call.
                Err(Errno::NOSYS | Errno::PERM) => None,
                Err(Errno::LOOP) => Some(Err(StoreError::Missing)),
                // A folder was renamed while the path was followed.
                Err(Errno::AGAIN | Errno::INTR) => continue,
                Err(error) => Some(Err(io::Error::from(error).into())),
            };
        }
    }

    /// The entry of a folder under a name, or under another encoding of it.
    fn entry(&self, folder: &Dir, name: &str, names: NameMatching) -> Result<WayEntry, StoreError> {
        let there = |name: &str, kind: EntryClass| -> Result<WayEntry, StoreError> {
            if names.are_certain(name) {
                return Ok(WayEntry::There(name.to_owned(), kind));
            }
            match listed(folder, name)? {
                Some(listed) if listed == name => Ok(WayEntry::There(listed, kind)),
                Some(listed) => Ok(WayEntry::There(listed.clone(), self.kind(folder, &listed)?)),
                None => Ok(WayEntry::SecondName),
            }
        };
        match self.kind(folder, name).map_err(StoreError::from) {
            Ok(kind) => there(name, kind),
            // Disks of macOS may hold decomposed names, and callers usually send composed ones.
            Err(StoreError::Missing) => {
                let other = other_forms(name).find_map(|form| Some((self.kind(folder, &form).ok()?, form)));
                other.map_or(Ok(WayEntry::Nothing), |(kind, form)| there(&form, kind))
            }
            Err(error) => Err(error),
        }
    }

    /// What the disk returns for a name, without following links.
    fn kind(&self, folder: &Dir, name: &str) -> io::Result<EntryClass> {
        // Only tests have such a disk.
        match self.second_names.as_ref().and_then(|disk| disk(name)) {
            Some(listed) => kind(folder, &listed),
            None => kind(folder, name),
        }
    }

    fn names_in(&self, folder: &Dir) -> NameMatching {
        if self.second_names.is_some() { NameMatching::Several } else { NameMatching::on_disk_of(folder) }
    }
}

#[cfg(unix)]
fn kind(folder: &Dir, name: &str) -> io::Result<EntryClass> {
    use rustix::fs::{AtFlags, FileType, statat};
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => EntryClass::File,
        FileType::Directory => EntryClass::Folder,
        FileType::Symlink => EntryClass::Link,
        _ => EntryClass::Other,
    })
}

#[cfg(not(unix))]
fn kind(folder: &Dir, name: &str) -> io::Result<EntryClass> {
    let found = folder.symlink_metadata(name)?;
    Ok(match found.file_type() {
        kind if kind.is_symlink() => EntryClass::Link,
        kind if kind.is_dir() => EntryClass::Folder,
        kind if kind.is_file() => EntryClass::File,
        _ => EntryClass::Other,
    })
}

/// A folder in a folder, as the next starting point. Fails if it has become a link.
#[cfg(target_os = "linux")]
fn entered(folder: &Dir, name: &str) -> io::Result<Dir> {
    opened_folder(folder, name, rustix::fs::OFlags::PATH)
}

#[cfg(not(target_os = "linux"))]
fn entered(folder: &Dir, name: &str) -> io::Result<Dir> {
    listable(folder, name)
}

#[cfg(unix)]
fn listable(folder: &Dir, name: &str) -> io::Result<Dir> {
    opened_folder(folder, name, rustix::fs::OFlags::RDONLY)
}

#[cfg(unix)]
fn opened_folder(folder: &Dir, name: &str, flags: rustix::fs::OFlags) -> io::Result<Dir> {
    use rustix::{
        fs::{Mode, OFlags, openat},
        io::Errno,
    };
    let flags = flags | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(folder, name, flags, Mode::empty()) {
        Ok(opened) => Ok(Dir::from_std_file(opened.into())),
        Err(Errno::LOOP) => Err(io::ErrorKind::NotADirectory.into()),
        Err(error) => Err(error.into()),
    }
}

/// These systems cannot be told not to follow; the sandbox confines the result to the folder.
#[cfg(not(unix))]
fn listable(folder: &Dir, name: &str) -> io::Result<Dir> {
    folder.open_dir(name)
}
