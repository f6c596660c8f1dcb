//! Systems without change notifications.

use std::convert::Infallible;

use cap_std::fs::Dir;

use super::{WatchEvents, WatchedFolders};
use crate::VaultPath;

/// There is none on these systems.
#[derive(Debug)]
pub(in super::super) struct FolderWatch(Infallible);

impl FolderWatch {
    pub(in super::super) fn start(_: &Dir) -> Option<Self> {
        None
    }

    pub(in super::super) fn add(&self, _: &Dir, _: Option<&VaultPath>, _: &mut WatchedFolders) {
        match self.0 {}
    }

    pub(in super::super) fn learn(&mut self, _: WatchedFolders) {
        match self.0 {}
    }

    pub(in super::super) fn give_up(&mut self) {
        match self.0 {}
    }

    pub(in super::super) fn is_whole(&self) -> bool {
        match self.0 {}
    }

    pub(in super::super) fn forget(&mut self, _: &VaultPath) {
        match self.0 {}
    }

    pub(in super::super) fn events(&self) -> WatchEvents {
        match self.0 {}
    }
}
