//! Changes of every kind, each with the whole vault before and after it, and servers to carry them out.

#[path = "../../../store/src/posix/tests/scenarios.rs"]
mod table;

use std::{path::Path, sync::Arc, time::Duration};

use lapidary_vault::{
    Change, ChangeSet, ContentGuard, File, Policy, TrashKind, Vault, VaultLimits, View,
    store::{FolderStore, StateFolder, StepObserver, SystemTrash},
};

use crate::scratch::{NO_LIMIT, vault_path};

pub(crate) use table::*;

impl Scenario {
    pub(crate) fn change_set(&self, view: &View) -> ChangeSet {
        ChangeSet { changes: self.changes(&|path| view.read(&vault_path(path)).unwrap()) }
    }
}

/// A server on such a place, with every call observable.
pub(crate) fn open(around: &Path, observer: Option<StepObserver>) -> Vault {
    let root = around.join("vault");
    let trash = SystemTrash::in_data_home(&around.join("share"));
    let store = FolderStore::new(root.clone()).with_trash(Some(trash));
    let state = StateFolder::new(around.join("state"), root);
    let (store, state) = match observer {
        Some(observer) => (store.observed(Arc::clone(&observer)), state.observed(observer)),
        None => (store, state),
    };
    Vault::shared("v".to_owned(), Arc::new(store), &Arc::new(state), Policy::default(), VaultLimits::default())
}

pub(crate) fn view(vault: &Vault) -> View {
    vault.view(Arc::default(), NO_LIMIT)
}

/// The vault once no old file is beside its place: one stays as long as a process can write to it, be it a server that
/// still cleans up or one that another thread has just started, which has all our files until its program begins.
pub(crate) fn settled_tree(vault: &Vault, place: &Place, expected: &[&Tree]) -> Tree {
    let mut found = tree_of(&place.vault());
    for _ in 0..600 {
        if expected.contains(&&found) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        drop(vault.turn(&|| true).unwrap());
        found = tree_of(&place.vault());
    }
    found
}
