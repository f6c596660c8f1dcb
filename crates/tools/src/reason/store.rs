use lapidary_vault::{VaultPath, store::StoreError};

use super::{Disk, Interruption, Reason, Refused};

impl Reason {
    /// What a disk's answer about one path means to the caller.
    pub fn from_store(path: &VaultPath, error: &StoreError, writing: bool) -> Self {
        let path = path.clone();
        let disk = |path, problem| Self::Disk { path: Some(path), problem };
        match *error {
            StoreError::Missing => Self::NoteMissing { path, suggestions: Vec::new() },
            StoreError::IsFolder => Self::PathIsDirectory { path },
            StoreError::NotAFile => Self::NotAFile { path },
            StoreError::Outside => Self::PathForbidden { path, writing, denied: Refused::LeadsOutside },
            StoreError::Closed => Self::PathForbidden { path, writing, denied: Refused::LeadsToClosed },
            StoreError::TooLarge { bytes, limit } => Self::FileTooLarge { path, bytes, limit },
            // Both mean that another program was there in the meantime.
            StoreError::Exists | StoreError::Changed { .. } => Self::KeepsChanging { path },
            StoreError::NotPermitted => disk(path, Disk::NotPermitted),
            StoreError::ReadOnlyDisk => disk(path, Disk::ReadOnly),
            StoreError::DiskFull => disk(path, Disk::Full),
            StoreError::BadName => disk(path, Disk::BadName),
            StoreError::VaultGone => Self::Disk { path: None, problem: Disk::VaultGone },
            StoreError::Unsure => Self::Interrupted(Interruption::WriteUnfinished),
            StoreError::Disk { .. } => disk(path, Disk::Failing),
        }
    }

    /// What a disk's answer about the vault as a whole means to the caller.
    pub fn from_vault(error: &StoreError) -> Self {
        let problem = match error {
            StoreError::NotPermitted => Disk::NotPermitted,
            StoreError::VaultGone | StoreError::Missing | StoreError::NotAFile => Disk::VaultGone,
            _ => Disk::Failing,
        };
        Self::Disk { path: None, problem }
    }
}
