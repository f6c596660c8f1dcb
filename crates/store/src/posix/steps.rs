//! The file operations of a commit, as a trait that tests can simulate.

use std::{collections::BTreeSet, fmt, sync::Arc, time::SystemTime};

use cap_std::fs::Dir;
use lapidary_lease::Lease;
use lapidary_note::ContentHash;

use super::{FileStat, FolderWatch, PlaceCheck, SkippedNames, StoreError, TextRoom};
use crate::{File, VaultPath};

/// A place for a file, found once and held: operations happen there, no matter what becomes of the path meanwhile.
#[derive(Clone)]
pub(super) struct EntryHandle {
    /// The name of the place in the vault, links inside it followed.
    pub place: VaultPath,
    /// The folder that contains it, and its name there. A simulated disk needs none.
    pub(super) folder: Option<(Arc<Dir>, String)>,
}

impl EntryHandle {
    /// For a simulated disk, which finds its files by path.
    #[cfg(test)]
    pub(super) fn named(place: VaultPath) -> Self {
        Self { place, folder: None }
    }
}

impl fmt::Debug for EntryHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spot").field(&self.place).finish()
    }
}

/// Where a file can be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NewPlace {
    pub place: VaultPath,
    /// Folders that have to be created first, outermost first.
    pub folders: Vec<VaultPath>,
}

/// The result of exchanging two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SwapOutcome {
    Changed,
    /// The disk cannot do that, so the new file replaced the old one, which is gone.
    Replaced,
}

/// Distinguishes one file from another with the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileNumber(pub u64, pub u64);

/// What a file holds.
#[derive(Debug)]
pub(super) struct InspectedFile {
    pub number: FileNumber,
    pub hash: ContentHash,
    pub bytes: Vec<u8>,
    pub held: OtherWriters,
}

/// Whether another program can still write to a file that has lost its name.
#[derive(Debug)]
pub(super) enum OtherWriters {
    /// None can, and a program that opens it for writing is noticed.
    Alone(Option<Lease>),
    InUse,
    /// The system cannot say.
    Unknown,
}

impl OtherWriters {
    /// Whether it is certain that none can.
    pub(super) fn is_alone(&self) -> bool {
        match self {
            Self::Alone(lease) => lease.as_ref().is_none_or(Lease::is_whole),
            Self::InUse | Self::Unknown => false,
        }
    }
}

/// The file operations that a commit is made of. Each is atomic, and none overwrites anything: a file in the way is a
/// refusal.
///
/// `aside` is the name of one of our files next to a place, hidden from Obsidian.
pub(super) trait FileOperations: Send + Sync {
    /// The time by the clock that dates files, in nanoseconds since 1970.
    fn now(&self) -> i64;

    /// Where the file at a path is, links followed, if the caller may use that place.
    fn place(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Result<VaultPath, StoreError>;

    /// Where a file that does not exist yet would be, if the caller may use that place.
    fn new_place(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Result<NewPlace, StoreError>;

    /// Holds a place whose folder exists.
    fn spot(&self, place: &VaultPath) -> Result<EntryHandle, StoreError>;

    /// Writes a file next to a place and waits until it is on disk. `like` is set if it will replace the file there,
    /// with the same permissions and owner.
    fn stage(&self, spot: &EntryHandle, aside: &str, bytes: &[u8], like: bool) -> Result<FileNumber, StoreError>;

    /// Exchanges the file at a place with the one next to it. If a disk cannot do that, the new one replaces the old
    /// one, which is checked right before.
    fn exchange(&self, spot: &EntryHandle, aside: &str, expected: &ContentHash) -> Result<SwapOutcome, StoreError>;

    /// The same in reverse, for a file that turned out to be another program's newer version. It may be saved again at
    /// that moment, so this repeats until the newest foreign file is in its place and ours next to it.
    fn give_way(&self, spot: &EntryHandle, aside: &str, ours: FileNumber) -> Result<(), StoreError>;

    /// Gives the file next to a place its name.
    fn bring(&self, spot: &EntryHandle, aside: &str) -> Result<(), StoreError>;

    /// Removes the name of the file at a place.
    fn set_aside(&self, spot: &EntryHandle, aside: &str) -> Result<(), StoreError>;

    /// The content of the file at a place, or of the one next to it. Only for the latter is it checked who else has it
    /// open.
    fn inspect(&self, spot: &EntryHandle, aside: Option<&str>, max_bytes: u64) -> Result<InspectedFile, StoreError>;

    /// Whether the file at a place has the size and time of one that was read. Its content may still differ.
    fn looks_like(&self, _: &VaultPath, _: &File) -> bool {
        false
    }

    /// Removes the file next to a place; a missing one is fine.
    fn discard(&self, spot: &EntryHandle, aside: &str) -> Result<(), StoreError>;

    /// Whether links lead to outside places that may be temporarily gone.
    fn follows(&self) -> bool {
        false
    }

    /// The current places of our files that are not where they were, by their unique names: their folder was moved.
    /// Empty if no other program moves anything in the vault.
    fn seek(&self, _names: &BTreeSet<&str>) -> Result<Vec<VaultPath>, StoreError> {
        Ok(Vec::new())
    }

    /// Whether the system has a trash for the files of this vault.
    fn has_system_trash(&self) -> bool;

    /// Moves the file next to a place there, under the name of the place.
    fn trash(&self, spot: &EntryHandle, aside: &str, deleted: SystemTime) -> Result<(), StoreError>;

    /// Moves a file or a folder.
    fn rename(&self, from: &EntryHandle, to: &EntryHandle) -> Result<(), StoreError>;

    /// Creates a folder, and says whether it was missing.
    fn make_folder(&self, place: &VaultPath) -> Result<bool, StoreError>;

    /// Removes an empty folder; a non-empty one stays, and a missing one is fine.
    fn remove_folder(&self, place: &VaultPath) -> Result<(), StoreError>;

    /// Waits until the names in the folder of a place are on disk.
    fn sync(&self, spot: &EntryHandle) -> Result<(), StoreError>;
}

/// What is found at a place, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundFile {
    File(FileStat),
    /// A file that has another name too, behind a link or next to it, under which it can be changed unnoticed.
    Linked(FileStat),
    Folder,
    /// Nothing, or nothing that belongs to the vault: a link, a pipe, a device.
    Nothing,
}

/// What to scan, and how.
#[derive(Clone, Copy)]
pub(super) struct WalkOptions<'a> {
    /// `None` is the vault itself.
    pub below: Option<&'a VaultPath>,
    pub skip: SkippedNames<'a>,
    pub watch: Option<&'a FolderWatch>,
    /// Notes are read on the way, which costs less than coming back for them.
    pub read: Option<&'a TextRoom>,
    pub go_on: &'a (dyn Fn() -> bool + Sync),
}
