//! Change notifications of the system for a vault.
//!
//! On Linux the kernel queues an event before the call that changed something returns. So after emptying the queue,
//! everything that happened until then is known: no thread, no waiting and no marker file are needed. Elsewhere there
//! is no watch, and the vault is scanned instead.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;

use std::collections::BTreeSet;

use crate::VaultPath;

#[cfg(target_os = "linux")]
pub(super) use linux::{FolderWatch, is_seen_at};
#[cfg(not(target_os = "linux"))]
pub(super) use none::FolderWatch;

/// Folders that were added to a watch during a walk, which many threads do concurrently. The watch learns their names
/// afterwards, from its owner.
#[derive(Debug, Default)]
pub(super) struct WatchedFolders {
    /// By the number that the system assigned; `None` is the vault root.
    folders: Vec<(i32, Option<VaultPath>)>,
    /// Something can change unnoticed.
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
    /// Something was created, changed or removed here.
    pub(super) paths: BTreeSet<VaultPath>,
    /// Events were lost; only a full scan helps.
    pub(super) lost: bool,
}
