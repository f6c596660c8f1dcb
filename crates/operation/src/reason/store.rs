//! Reasons for errors of the store.

use lapidary_vault::{IndexError, PathDenied, VaultPath, store::StoreError};

use super::{DiskFault, Interruption, PathRefusal, Reason};
use crate::Cancel;

impl Reason {
    /// The refusal for a path that may not be read.
    pub fn closed(path: VaultPath, denied: PathDenied) -> Self {
        Self::PathForbidden { path, writing: false, denied: PathRefusal::ByScope(denied) }
    }

    /// What a disk error for one path means to the caller.
    pub fn from_store(path: &VaultPath, error: &StoreError, writing: bool) -> Self {
        let path = path.clone();
        let disk = |path, problem| Self::Disk { path: Some(path), problem };
        match *error {
            StoreError::Missing => Self::NoteMissing { path, suggestions: Vec::new() },
            StoreError::IsFolder => Self::PathIsDirectory { path },
            StoreError::NotAFile => Self::NotAFile { path },
            StoreError::Outside => Self::PathForbidden { path, writing, denied: PathRefusal::LeadsOutside },
            StoreError::Closed => Self::PathForbidden { path, writing, denied: PathRefusal::LeadsToClosed },
            StoreError::TooLarge { bytes, limit } => Self::FileTooLarge { path, bytes, limit },
            // Both mean that another program was faster.
            StoreError::Exists | StoreError::Changed { .. } => Self::KeepsChanging { path },
            StoreError::NotPermitted => disk(path, DiskFault::NotPermitted),
            StoreError::ReadOnlyDisk => disk(path, DiskFault::ReadOnly),
            StoreError::DiskFull => disk(path, DiskFault::Full),
            StoreError::BadName => disk(path, DiskFault::BadName),
            StoreError::NotPortable => disk(path, DiskFault::NotPortable),
            StoreError::NoTrash => disk(path, DiskFault::NoTrash),
            // Not the fault of this path, so it is not named.
            StoreError::NoCheckpoint => Self::Disk { path: None, problem: DiskFault::NoState },
            StoreError::VaultGone => Self::Disk { path: None, problem: DiskFault::VaultGone },
            StoreError::Unsure => Self::Interrupted(Interruption::WriteUnfinished),
            StoreError::Disk { .. } => disk(path, DiskFault::Failing),
            StoreError::Remote(fault) => Self::RemoteVault { fault },
        }
    }

    /// Why the scan of the vault stopped. It stops only when the call does.
    pub fn from_index(error: &IndexError, cancel: &Cancel) -> Self {
        let problem = match error {
            IndexError::Stopped => {
                return cancel
                    .check()
                    .err()
                    .unwrap_or_else(|| bug!("the index stopped and the call was not cancelled"));
            }
            IndexError::Store(StoreError::Remote(fault)) => return Self::RemoteVault { fault: *fault },
            IndexError::Store(StoreError::VaultGone) => DiskFault::VaultGone,
            IndexError::Store(StoreError::NotPermitted) => DiskFault::NotPermitted,
            IndexError::Store(_) => DiskFault::Failing,
        };
        // Without a path: the scan sees files that the caller may not.
        Self::Disk { path: None, problem }
    }
}
