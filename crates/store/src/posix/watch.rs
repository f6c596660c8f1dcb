//! Learns from the system what changes in a vault.
//!
//! On Linux the kernel puts an event into the queue before the call that changed something returns. So whoever empties the
//! queue knows of everything that happened until then: no thread, no waiting and no marker file are needed. Elsewhere
//! there is no watch, and the vault is looked through instead.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;

use std::collections::BTreeSet;

use crate::VaultPath;

#[cfg(target_os = "linux")]
pub(super) use linux::FolderWatch;
#[cfg(not(target_os = "linux"))]
pub(super) use none::FolderWatch;

/// Folders that were given to a watch while a vault was walked, which many threads do at a time. The watch learns their
/// names afterwards, from whoever owns it.
#[derive(Debug, Default)]
pub(super) struct WatchedFolders {
    /// By the number that the system gave each; `None` is the vault itself.
    folders: Vec<(i32, Option<VaultPath>)>,
    /// There is something that can change unseen.
    unseen: bool,
}

impl WatchedFolders {
    pub(super) fn give_up(&mut self) {
        self.unseen = true;
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.folders.extend(other.folders);
        self.unseen |= other.unseen;
    }
}

/// What has happened since the last time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WatchEvents {
    /// Something was made, changed or removed here.
    pub(super) paths: BTreeSet<VaultPath>,
    /// Events were lost; only a look at everything helps.
    pub(super) lost: bool,
}
