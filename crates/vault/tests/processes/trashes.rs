//! The system trash, if it cannot be used or is full.

use std::{path::Path, sync::Arc};

use lapidary_vault::{
    Change, ChangeSet, ContentGuard, Policy, Receipt, Scope, TrashKind, Vault, VaultLimits,
    store::{FolderStore, StateFolder, SystemTrash},
};

use crate::{
    disks::mount,
    elsewhere::OWN_MOUNTS,
    scenarios::known,
    scratch::{Scratch, origin, vault_path},
};

/// A vault whose settings select the system trash, in this folder.
fn with_trash(scratch: &Scratch, data_home: &Path) -> Vault {
    let store = FolderStore::new(scratch.root()).with_trash(Some(SystemTrash::in_data_home(data_home)));
    let state = StateFolder::new(scratch.state().to_owned(), scratch.root());
    let limits = VaultLimits::default();
    Vault::shared("v".to_owned(), Arc::new(store), &Arc::new(state), Policy::default(), limits)
}

fn trash(vault: &Vault, path: &str, text: &[u8]) -> Receipt {
    let (path, before) = (vault_path(path), Some(known(text)));
    let change = Change::Trash { path, before, guard: ContentGuard::Plan, trash: TrashKind::System };
    vault.turn(&|| true).unwrap().commit(&ChangeSet::one(change), &Scope::default(), &origin()).unwrap()
}

#[test]
fn without_a_system_trash_the_vaults_own_is_used() {
    let scratch = Scratch::with(&[("a.md", "old")]);
    // No folder can be created there.
    let receipt = trash(&with_trash(&scratch, Path::new("/dev/null")), "a.md", b"old");
    assert_eq!(receipt.changed[0].moved_to, Some(vault_path(".trash/a.md")));
    assert_eq!(scratch.bytes(".trash/a.md"), b"old");
    let is_alone = || std::fs::read_dir(scratch.root()).unwrap().count() == 1;
    // Waited for: a process that another test starts at this moment has the old file open until its program begins.
    let mut tries = 0..600;
    while !is_alone() && tries.next().is_some() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(is_alone(), "nothing else is left");
}

/// It is retried, and a partial file must not stay each time.
#[test]
fn a_full_trash_on_another_disk_gets_no_half_of_a_file() {
    if !OWN_MOUNTS.reached(a_full_trash_on_another_disk_gets_no_half_of_a_file) {
        return;
    }
    let scratch = Scratch::new();
    let home = scratch.outside("home");
    std::fs::create_dir(&home).unwrap();
    mount("size=64k", &home);
    let large = vec![b'x'; 100_000];
    scratch.put("a.md", &large);
    let vault = with_trash(&scratch, &home);
    trash(&vault, "a.md", &large);
    for _ in 0..3 {
        drop(vault.turn(&|| true).unwrap());
    }
    assert!(!scratch.at("a.md").exists());
    for part in ["files", "info"] {
        assert_eq!(std::fs::read_dir(home.join("Trash").join(part)).unwrap().count(), 0, "{part}");
    }
    mount("remount,size=1m", &home);
    drop(vault.turn(&|| true).unwrap());
    assert_eq!(std::fs::read(home.join("Trash/files/a.md")).unwrap(), large);
    assert_eq!(std::fs::read_dir(scratch.root()).unwrap().count(), 0, "nothing stays beside its place");
}
