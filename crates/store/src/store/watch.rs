//! Learns from the system what changes in a vault.
//!
//! On Linux the kernel puts an event into the queue before the call that changed something returns. So whoever empties the
//! queue knows of everything that happened until then: no thread, no waiting and no marker file are needed. Elsewhere
//! there is no watch, and the vault is looked through instead.

#[cfg(target_os = "linux")]
mod linux;

use std::collections::BTreeSet;

use cap_std::fs::Dir;

use crate::VaultPath;

/// Tells what happens in the folders it was given.
pub trait Watch: Send + Sync {
    /// From now on, what happens in this folder is told. To be called before the folder is read, so that nothing falls
    /// between.
    fn add(&self, folder: &Dir, path: Option<&VaultPath>);

    /// There is something that can change unseen.
    fn give_up(&self);

    /// Whether all of the vault is watched. The system has room for a limited number of folders.
    fn is_whole(&self) -> bool;

    /// What happens in this folder and below it is of no more interest.
    fn forget(&self, below: &VaultPath);

    /// Everything that happened before this call.
    fn events(&self) -> Events;
}

/// What has happened since the last time.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Something was made, changed or removed here.
    pub paths: BTreeSet<VaultPath>,
    /// Events were lost; only a look at everything helps.
    pub lost: bool,
}

/// `None` where the system would not tell of every change.
#[cfg(target_os = "linux")]
pub(super) fn start(vault: &Dir) -> Option<Box<dyn Watch>> {
    Some(Box::new(linux::Queue::start(vault)?))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn start(_: &Dir) -> Option<Box<dyn Watch>> {
    None
}
