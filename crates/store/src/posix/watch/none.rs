use std::convert::Infallible;

use cap_std::fs::Dir;

use super::{Events, Watched};
use crate::VaultPath;

/// There is none on these systems.
#[derive(Debug)]
pub(in super::super) struct Watch(Infallible);

impl Watch {
    pub(in super::super) fn start(_: &Dir) -> Option<Self> {
        None
    }

    pub(in super::super) fn add(&self, _: &Dir, _: Option<&VaultPath>, _: &mut Watched) {
        match self.0 {}
    }

    pub(in super::super) fn learn(&mut self, _: Watched) {
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

    pub(in super::super) fn events(&self) -> Events {
        match self.0 {}
    }
}
