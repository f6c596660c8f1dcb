//! The only door to the file system. Everything here takes a [`VaultPath`] or a place that the owner configured.

#![expect(clippy::disallowed_methods, reason = "the one room with a door to the disk")]

mod cache;
mod folder;
mod ledger;
mod memory;
mod outside;
mod stat;
mod state;
mod steps;
mod trash;
mod waiting;
mod watch;

use std::time::SystemTime;

use lapidary_note::ContentHash;

use crate::VaultPath;

pub use cache::CacheFile;
pub use cache::CacheRow;
pub use folder::{FolderStore, Observer};
pub(crate) use ledger::{Beside, Draft, Intent, Lingering, Step};
pub use ledger::{CheckpointKind, CheckpointRecord, EntryRecord, Ledger, LedgerError, Origin, PathFilter, Retention};
pub use memory::MemoryStore;
pub use outside::{DemoFolder, ExportFolder, folder_exists, read_settings};
pub(crate) use stat::nanoseconds;
pub use stat::{Found, Skip, Stamp, Stat, TextRoom, Walk, Walked};
pub use state::{LogFile, LogTail, StateFolder, TurnFile};
pub use steps::{FileNumber, Held, Inspected, NewPlace, Spot, Steps, Swap};
pub use trash::SystemTrash;
pub(crate) use trash::numbered;
pub use waiting::{Progress, Waiting};
pub use watch::{Events, Watch};

/// Asked about the place a path really leads to, so that a link inside the vault opens nothing that is closed.
pub type Open<'a> = &'a dyn Fn(&VaultPath) -> bool;

/// Where a vault's files are kept.
pub trait Store: Send + Sync {
    /// What a commit is made of.
    fn steps(&self) -> &dyn Steps;

    fn read(&self, path: &VaultPath, max_bytes: u64, open: Open<'_>) -> Result<StoredFile, StoreError>;

    fn list(&self, folder: Option<&VaultPath>, open: Open<'_>) -> Result<Vec<Entry>, StoreError>;

    /// What is known of a file without reading it; `None` where there is nothing at all, not even a broken link.
    fn stamp(&self, path: &VaultPath) -> Result<Option<Stamp>, StoreError>;

    /// Everything below a folder that is not hidden. Links are not followed: what they lead to has a place of its own.
    fn walk(&self, walk: &Walk<'_>) -> Result<Walked, StoreError>;

    /// What is at a place, links not followed.
    fn look(&self, path: &VaultPath) -> Result<Found, StoreError>;

    /// Appends what the file at a place holds, links not followed.
    fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<Stat, StoreError>;

    /// A watch for what changes, if there can be one.
    fn watch(&self) -> Option<Box<dyn Watch>>;

    /// Differs when another vault has taken the place of this one (unmounted, cloned anew).
    fn identity(&self) -> Result<u64, StoreError>;

    /// The time by the clock that also dates files, in nanoseconds since 1970.
    fn now(&self) -> i64;
}

#[derive(Clone, Debug)]
pub struct StoredFile {
    pub bytes: Vec<u8>,
    pub modified: Option<SystemTime>,
    pub created: Option<SystemTime>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: VaultPath,
    pub kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
}

/// What the disk said. Never holds a path of the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("nothing is there")]
    Missing,
    #[error("a folder is there")]
    IsFolder,
    #[error("something that is no ordinary file is there")]
    NotAFile,
    #[error("it leads outside the vault")]
    Outside,
    /// A link leads to a place inside the vault that the caller may not use.
    #[error("it leads to a place that is closed")]
    Closed,
    #[error("it has {bytes} bytes, more than the limit of {limit}")]
    TooLarge { bytes: u64, limit: u64 },
    #[error("something is already there")]
    Exists,
    #[error("it holds something else than expected")]
    Changed { found: ContentHash },
    #[error("the system does not permit it")]
    NotPermitted,
    #[error("the disk is read-only")]
    ReadOnlyDisk,
    #[error("the disk is full")]
    DiskFull,
    #[error("the system does not accept the name")]
    BadName,
    /// This system does, and another to which the vault may be carried does not.
    #[error("not every system accepts the name")]
    NotPortable,
    #[error("the vault's folder is not there")]
    VaultGone,
    /// What is about to be replaced could not be written down first.
    #[error("no checkpoint could be taken")]
    NoCheckpoint,
    /// The change was made, but the disk did not confirm that it will last.
    #[error("the disk did not confirm the change")]
    Unsure,
    #[error("the disk reported an error ({kind})")]
    Disk { kind: std::io::ErrorKind },
}

impl From<std::io::Error> for StoreError {
    /// Keeps what happened and drops the message, which may hold absolute paths.
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Missing,
            ErrorKind::IsADirectory => Self::IsFolder,
            ErrorKind::AlreadyExists => Self::Exists,
            // The sandbox refuses with this kind too, but no system call stands behind its refusal.
            ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Self::Outside,
            ErrorKind::PermissionDenied => Self::NotPermitted,
            ErrorKind::ReadOnlyFilesystem => Self::ReadOnlyDisk,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::DiskFull,
            ErrorKind::InvalidFilename | ErrorKind::InvalidInput => Self::BadName,
            kind => Self::Disk { kind },
        }
    }
}
