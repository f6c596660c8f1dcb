//! Vaults in a folder, for the tests of rows.

#![expect(clippy::disallowed_methods, reason = "tests play other programs")]

use std::{fs, path::Path, sync::Arc};

use lapidary_store::{
    Policy,
    posix::{FolderStore, PosixBackend},
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::{FolderNames, Scope, VaultIndex, VaultLimits, VisibleFiles, VisibleNotes};

pub(crate) fn vault(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(path, text)| put(folder.path(), path, text));
    folder
}

pub(crate) fn put(root: &Path, path: &str, text: &str) {
    fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
    fs::write(root.join(path), text).unwrap();
}

/// What another program does to a file: it writes it or removes it.
pub(crate) fn put_or_remove(root: &Path, path: &str, text: Option<&str>) {
    match text {
        Some(text) => put(root, path, text),
        // It may not exist.
        None => drop(fs::remove_file(root.join(path))),
    }
}

/// A text of fewer than `end` of these parts.
pub(crate) fn text_of(parts: &'static [&'static str], end: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(parts), 0..end).prop_map(|parts| parts.concat())
}

pub(crate) fn live(root: &Path) -> Arc<VaultIndex> {
    let backend = PosixBackend::private(Arc::new(FolderStore::new(root.to_owned())));
    Arc::new(VaultIndex::new(Arc::new(backend), FolderNames::default(), VaultLimits::default(), None))
}

/// What a policy shows of a vault.
pub(crate) fn notes(live: &Arc<VaultIndex>, policy: Policy) -> VisibleNotes {
    let scope = Arc::new(Scope::from(policy));
    VisibleNotes::new(VisibleFiles::new(Arc::clone(live), scope, live.notes(&|| true).unwrap()))
}
