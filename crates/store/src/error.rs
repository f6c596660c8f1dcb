use lapidary_note::ContentHash;

/// What a backend said. Never holds a path of the machine.
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
    #[error("`.trash` is not a folder")]
    NoTrash,
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
