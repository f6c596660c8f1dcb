use std::{collections::BTreeSet, fmt, sync::Arc, time::SystemTime};

use cap_std::fs::Dir;
use lapidary_lease::Lease;
use lapidary_note::ContentHash;

use super::{FileStat, FolderWatch, PlaceCheck, SkippedNames, StoreError, TextRoom};
use crate::{File, VaultPath};

/// A place for a file, found once and held: what is done there is done there, whatever becomes of the path meanwhile.
#[derive(Clone)]
pub(super) struct EntryHandle {
    /// What the place is called in the vault, links inside it followed.
    pub place: VaultPath,
    /// The folder it stands in, and its name there. A simulated disk needs none.
    pub(super) folder: Option<(Arc<Dir>, String)>,
}

impl EntryHandle {
    /// For a disk that is only simulated and finds its files by their paths.
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

/// Where a file can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NewPlace {
    pub place: VaultPath,
    /// Folders that have to be made first, the outermost first.
    pub folders: Vec<VaultPath>,
}

/// What became of two files that were to change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SwapOutcome {
    Changed,
    /// The disk cannot do that, so the new file took the place of the old one, which is gone.
    Replaced,
}

/// Tells one file from another of the same content.
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

/// Whether somebody else can still write into a file that has lost its name.
#[derive(Debug)]
pub(super) enum OtherWriters {
    /// Nobody can, and whoever opens it to do so is noticed.
    Alone(Option<Lease>),
    InUse,
    /// The system does not tell.
    Unknown,
}

impl OtherWriters {
    /// Whether it is certain that nobody can.
    pub(super) fn is_alone(&self) -> bool {
        match self {
            Self::Alone(lease) => lease.as_ref().is_none_or(Lease::is_whole),
            Self::InUse | Self::Unknown => false,
        }
    }
}

/// The single steps of which a commit is made. Each happens in one go or not at all, and none overwrites anything: a
/// file that is in the way is a refusal.
///
/// `aside` is the name of a file of ours that stands beside a place, hidden from Obsidian.
pub(super) trait FileOperations: Send + Sync {
    /// The time by the clock that also dates files, in nanoseconds since 1970.
    fn now(&self) -> i64;

    /// Where the file at a path is, links followed, if the caller may use that place.
    fn place(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Result<VaultPath, StoreError>;

    /// Where a file would be that is not there yet, if the caller may use that place.
    fn new_place(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Result<NewPlace, StoreError>;

    /// Holds a place whose folder is there.
    fn spot(&self, place: &VaultPath) -> Result<EntryHandle, StoreError>;

    /// Writes a file beside a place and waits until it is on disk. `like` is set if it is to take the place of the file
    /// there, with the same rights and owners.
    fn stage(&self, spot: &EntryHandle, aside: &str, bytes: &[u8], like: bool) -> Result<FileNumber, StoreError>;

    /// Lets the file at a place and the one beside it change places. Where a disk cannot do that, the new one takes the
    /// place of the old one, which is looked at right before.
    fn exchange(&self, spot: &EntryHandle, aside: &str, expected: &ContentHash) -> Result<SwapOutcome, StoreError>;

    /// The same back again, for a file that turned out to be somebody's newer work. Somebody may save again in that
    /// moment, so it goes on until the newest of the others' files stands in its place and ours beside it.
    fn give_way(&self, spot: &EntryHandle, aside: &str, ours: FileNumber) -> Result<(), StoreError>;

    /// Gives the file beside a place its name.
    fn bring(&self, spot: &EntryHandle, aside: &str) -> Result<(), StoreError>;

    /// Takes the name away from the file at a place.
    fn set_aside(&self, spot: &EntryHandle, aside: &str) -> Result<(), StoreError>;

    /// What the file at a place holds, or the one beside it. Only of the latter it is asked who else has it open.
    fn inspect(&self, spot: &EntryHandle, aside: Option<&str>, max_bytes: u64) -> Result<InspectedFile, StoreError>;

    /// Whether the file at a place has the size and the time of one that was read. It may hold something else all the same.
    fn looks_like(&self, _: &VaultPath, _: &File) -> bool {
        false
    }

    /// Removes the file beside a place; none there is as good.
    fn discard(&self, spot: &EntryHandle, aside: &str) -> Result<(), StoreError>;

    /// Whether links lead to places outside that may be gone for a while.
    fn follows(&self) -> bool {
        false
    }

    /// Where files of ours are now that are not where they were, by their names, which no other files have: somebody has
    /// moved the folder they stood in. A vault in which nobody else moves anything has none.
    fn seek(&self, _names: &BTreeSet<&str>) -> Result<Vec<VaultPath>, StoreError> {
        Ok(Vec::new())
    }

    /// Whether the system has a trash for the files of this vault.
    fn has_system_trash(&self) -> bool;

    /// Moves the file beside a place there, under the name of the place.
    fn trash(&self, spot: &EntryHandle, aside: &str, deleted: SystemTime) -> Result<(), StoreError>;

    /// Moves a file or a folder.
    fn rename(&self, from: &EntryHandle, to: &EntryHandle) -> Result<(), StoreError>;

    /// Makes a folder, and says whether there was none.
    fn make_folder(&self, place: &VaultPath) -> Result<bool, StoreError>;

    /// Removes an empty folder; one that is not empty stays, and none there is as good.
    fn remove_folder(&self, place: &VaultPath) -> Result<(), StoreError>;

    /// Waits until the names in the folder of a place are on disk.
    fn sync(&self, spot: &EntryHandle) -> Result<(), StoreError>;
}

/// What is found at a place, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundFile {
    File(FileStat),
    /// A file that has another name too, behind a link or beside it, and can be changed by that unseen.
    Linked(FileStat),
    Folder,
    /// Nothing, or nothing that belongs to the vault: a link, a pipe, a device.
    Nothing,
}

/// What to look through, and how.
#[derive(Clone, Copy)]
pub(super) struct WalkOptions<'a> {
    /// `None` is the vault itself.
    pub below: Option<&'a VaultPath>,
    pub skip: SkippedNames<'a>,
    pub watch: Option<&'a FolderWatch>,
    /// Notes are read on the way, which costs less than to come back for them.
    pub read: Option<&'a TextRoom>,
    pub go_on: &'a (dyn Fn() -> bool + Sync),
}
