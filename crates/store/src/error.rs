//! Errors of a store.

use lapidary_note::ContentHash;

/// An error of a backend. Never contains a path of the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("it does not exist")]
    Missing,
    #[error("it is a folder")]
    IsFolder,
    #[error("it is not a regular file")]
    NotAFile,
    #[error("it leads outside the vault")]
    Outside,
    /// A link leads to a place inside the vault that the caller may not use.
    #[error("it leads to a closed path")]
    Closed,
    #[error("it has {bytes} bytes, more than the limit of {limit}")]
    TooLarge { bytes: u64, limit: u64 },
    #[error("it already exists")]
    Exists,
    #[error("its content is not the expected one")]
    Changed { found: ContentHash },
    #[error("the system does not permit it")]
    NotPermitted,
    #[error("the disk is read-only")]
    ReadOnlyDisk,
    #[error("the disk is full")]
    DiskFull,
    #[error("the system does not accept the name")]
    BadName,
    /// This system accepts it, but another that the vault may be synced to does not.
    #[error("some systems do not accept the name")]
    NotPortable,
    #[error("`.trash` is not a folder")]
    NoTrash,
    #[error("the vault's folder does not exist")]
    VaultGone,
    /// The content about to be replaced could not be saved first.
    #[error("no checkpoint could be taken")]
    NoCheckpoint,
    /// The change was made, but the disk did not confirm that it is durable.
    #[error("the disk did not confirm the change")]
    Unsure,
    #[error("the disk reported an error ({kind})")]
    Disk { kind: std::io::ErrorKind },
    /// The vault is on another side of a network.
    #[error("{0}")]
    Remote(RemoteFault),
}

/// Why a vault that is reached over a network does not answer. Nothing of what the other side said is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteFault {
    #[error("Obsidian does not answer")]
    Unreachable,
    #[error("what answers in place of Obsidian has another certificate")]
    CertificateRejected,
    #[error("Obsidian's plugin does not accept the key")]
    KeyRejected,
    #[error("Obsidian did not answer in time")]
    TimedOut,
    #[error("Obsidian's plugin answered with an error")]
    Failing { status: Option<u16> },
    #[error("Obsidian's plugin has no folders without files")]
    NoEmptyFolders,
}

impl From<std::io::Error> for StoreError {
    /// Keeps the kind and drops the message, which may contain absolute paths.
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Missing,
            ErrorKind::IsADirectory => Self::IsFolder,
            ErrorKind::AlreadyExists => Self::Exists,
            // The sandbox refuses with this kind too, but without a system call behind it.
            ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Self::Outside,
            ErrorKind::PermissionDenied => Self::NotPermitted,
            ErrorKind::ReadOnlyFilesystem => Self::ReadOnlyDisk,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::DiskFull,
            ErrorKind::InvalidFilename | ErrorKind::InvalidInput => Self::BadName,
            kind => Self::Disk { kind },
        }
    }
}
