//! A link is put in the way between check and use.

use std::{
    fs,
    path::{Path, PathBuf},
};

use lapidary_note::ContentHash;
use tempfile::TempDir;

use super::vault_path;
use crate::{
    VaultPath,
    posix::{FileOperations, FolderStore, PlaceCheck, StoreError},
};

/// A vault in a temporary folder, and room beside it.
struct Scratch(TempDir);

impl Scratch {
    fn with(files: &[(&str, &str)]) -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            fs::create_dir_all(scratch.at(path).parent().unwrap()).unwrap();
            fs::write(scratch.at(path), text).unwrap();
        }
        scratch
    }

    fn root(&self) -> PathBuf {
        self.outside("vault")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// A place beside the vault.
    fn outside(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn link(&self, at: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.at(at)).unwrap();
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.at(path)).unwrap()
    }
}

/// Runs after the path was checked, before it is used. The hook is the place check: the store calls it only for the
/// target of a link.
fn after_looking<T>(
    scratch: &Scratch,
    act: impl Fn(&Scratch),
    then: impl FnOnce(&FolderStore, PlaceCheck<'_>) -> T,
) -> T {
    let store = FolderStore::new(scratch.root());
    let acted = std::cell::Cell::new(false);
    let open = |_: &VaultPath| {
        if !acted.replace(true) {
            act(scratch);
        }
        true
    };
    let result = then(&store, &open);
    assert!(acted.get(), "the store never asked");
    result
}

/// The steps of a change, without the checks in between.
fn replace(
    store: &FolderStore,
    path: &VaultPath,
    expected: &ContentHash,
    open: PlaceCheck<'_>,
) -> Result<(), StoreError> {
    let spot = store.spot(&store.place(path, open)?)?;
    store.stage(&spot, ".aside", b"x", true)?;
    store.exchange(&spot, ".aside", expected).map(|_| ())
}

fn make(store: &FolderStore, path: &VaultPath, open: PlaceCheck<'_>) -> Result<(), StoreError> {
    let new = store.new_place(path, open)?;
    for folder in &new.folders {
        store.make_folder(folder)?;
    }
    let spot = store.spot(&new.place)?;
    store.stage(&spot, ".aside", b"x", false)?;
    store.bring(&spot, ".aside")
}

#[test]
fn a_folder_that_turns_into_a_link_outside_is_not_followed() {
    let swap = |scratch: &Scratch| {
        fs::rename(scratch.at("real"), scratch.at("moved")).unwrap();
        std::os::unix::fs::symlink("../outside", scratch.at("real")).unwrap();
    };
    let prepared = || {
        let scratch = Scratch::with(&[("real/a.md", "inside")]);
        fs::create_dir(scratch.outside("outside")).unwrap();
        fs::write(scratch.outside("outside/a.md"), "outside").unwrap();
        scratch.link("link", "real");
        scratch
    };
    let path = vault_path("link/a.md");

    let scratch = prepared();
    let read = after_looking(&scratch, swap, |store, open| store.read(&path, u64::MAX, open).map(|file| file.bytes));
    assert_eq!(read, Ok(b"inside".to_vec()), "the checked entry is held");

    let scratch = prepared();
    let expected = ContentHash::of(b"inside");
    let written = after_looking(&scratch, swap, |store, open| replace(store, &path, &expected, open));
    assert_eq!(written, Err(StoreError::Outside));
    assert_eq!(fs::read(scratch.outside("outside/a.md")).unwrap(), b"outside");
    assert_eq!(scratch.bytes("moved/a.md"), b"inside");

    let scratch = prepared();
    let new = vault_path("link/deep/new.md");
    let made = after_looking(&scratch, swap, |store, open| make(store, &new, open));
    assert_eq!(made, Err(StoreError::Outside));
    assert_eq!(fs::read_dir(scratch.outside("outside")).unwrap().count(), 1);

    let scratch = prepared();
    let folder = vault_path("link");
    let listed = after_looking(&scratch, swap, |store, open| store.list(Some(&folder), open));
    assert_eq!(listed, Err(StoreError::Missing));
}

/// The same inside the vault, where no sandbox helps.
#[test]
fn a_folder_that_turns_into_a_link_to_a_closed_one_is_not_followed() {
    let swap = |scratch: &Scratch| {
        fs::rename(scratch.at("real"), scratch.at("moved")).unwrap();
        scratch.link("real", ".closed");
    };
    let prepared = || {
        let scratch =
            Scratch::with(&[("real/a.md", "open"), (".closed/a.md", "closed"), (".closed/only.md", "closed")]);
        scratch.link("link", "real");
        scratch
    };
    let path = vault_path("link/a.md");

    let scratch = prepared();
    let read = after_looking(&scratch, swap, |store, open| store.read(&path, u64::MAX, open).map(|file| file.bytes));
    assert_eq!(read, Ok(b"open".to_vec()));

    let scratch = prepared();
    let folder = vault_path("link");
    let listed = after_looking(&scratch, swap, |store, open| store.list(Some(&folder), open));
    assert_eq!(listed, Err(StoreError::Missing));

    let scratch = prepared();
    let expected = ContentHash::of(b"closed");
    let written = after_looking(&scratch, swap, |store, open| replace(store, &path, &expected, open));
    assert_eq!(written, Err(StoreError::Missing));
    let new = vault_path("link/deep/new.md");
    let scratch_of_new = prepared();
    let made = after_looking(&scratch_of_new, swap, |store, open| make(store, &new, open));
    assert_eq!(made, Err(StoreError::Missing));
    for scratch in [scratch, scratch_of_new] {
        assert_eq!(scratch.bytes(".closed/a.md"), b"closed");
        assert_eq!(fs::read_dir(scratch.at(".closed")).unwrap().count(), 2, "nothing of ours is left there");
    }
}

#[test]
fn a_note_that_turns_into_a_link_is_not_followed() {
    let swap = |scratch: &Scratch| {
        fs::remove_file(scratch.at("real.md")).unwrap();
        std::os::unix::fs::symlink("closed.md", scratch.at("real.md")).unwrap();
    };
    let prepared = || {
        let scratch = Scratch::with(&[("real.md", "same"), ("closed.md", "same")]);
        scratch.link("link.md", "real.md");
        scratch
    };
    let path = vault_path("link.md");

    let scratch = prepared();
    let read = after_looking(&scratch, swap, |store, open| store.read(&path, u64::MAX, open).map(|file| file.bytes));
    assert_eq!(read, Err(StoreError::NotAFile));

    let scratch = prepared();
    let expected = ContentHash::of(b"same");
    let written = after_looking(&scratch, swap, |store, open| replace(store, &path, &expected, open));
    assert_eq!(written, Err(StoreError::NotAFile));
    assert_eq!(scratch.bytes("closed.md"), b"same");
    assert_eq!(fs::read_link(scratch.at("real.md")).unwrap(), Path::new("closed.md"));
}
