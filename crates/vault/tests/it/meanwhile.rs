//! What people do to a vault between the end of a server and the start of the next one, which recovers it.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use lapidary_vault::{Change, ChangeSet, Scope, Vault, VaultNews, store::StepObserver};

use crate::{
    scenarios::{open, view},
    scratch::{create, origin, vault_path, walk, write},
};

/// Ends like a killed server: nothing is rolled back, and the lock is free.
fn killed_before(around: &Path, call: &'static str, times: usize, changes: impl Fn(&Vault) -> Vec<Change>) {
    let calls = AtomicUsize::new(0);
    let observer: StepObserver = Arc::new(move |made| {
        assert!(made != call || calls.fetch_add(1, Ordering::SeqCst) + 1 != times, "killed");
        Ok(())
    });
    let vault = open(around, Some(observer));
    let set = ChangeSet { changes: changes(&vault) };
    let turn = vault.turn(&|| true).unwrap();
    let ended = catch_unwind(AssertUnwindSafe(|| drop(turn.commit(&set, &Scope::default(), &origin()))));
    assert!(ended.is_err(), "it was to be killed");
}

fn put(around: &Path, path: &str, text: &str) {
    let path = around.join("vault").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// In any case the next server can work, and nothing of the killed one is left.
fn settled(around: &Path) -> Vec<VaultNews> {
    let vault = open(around, None);
    let set = ChangeSet::one(create("afterwards.md", "x"));
    let turn = vault.turn(&|| true).unwrap_or_else(|error| panic!("{error}: {:?}", vault.take_news()));
    turn.commit(&set, &Scope::default(), &origin()).unwrap();
    let mut found = BTreeMap::new();
    walk(&around.join("vault"), &mut found);
    assert!(found.keys().all(|path| !path.to_string_lossy().contains(".lapidary-")), "{:?}", found.keys());
    vault.take_news()
}

fn left(paths: &[&str]) -> [VaultNews; 1] {
    [VaultNews::Undone { left: paths.iter().map(|path| vault_path(path)).collect() }]
}

#[test]
fn a_note_that_became_a_link_does_not_close_the_vault() {
    for target in ["elsewhere.md", "/etc/hostname", "nowhere.md"] {
        let around = tempfile::tempdir().unwrap();
        put(around.path(), "a.md", "a");
        put(around.path(), "b.md", "b");
        put(around.path(), "elsewhere.md", "e");
        let both = |vault: &Vault| vec![write(&view(vault), "a.md", "A"), write(&view(vault), "b.md", "B")];
        killed_before(around.path(), "exchange", 2, both);
        let note = around.path().join("vault/a.md");
        std::fs::remove_file(&note).unwrap();
        std::os::unix::fs::symlink(target, &note).unwrap();
        assert_eq!(settled(around.path()), left(&["a.md"]), "{target}");
        assert_eq!(std::fs::read_link(&note).unwrap(), Path::new(target), "the link is a person's work");
        assert_eq!(std::fs::read(around.path().join("vault/b.md")).unwrap(), b"b");
        assert_eq!(std::fs::read(around.path().join("vault/elsewhere.md")).unwrap(), b"e");
        // The old text is not lost either.
        let view = view(&open(around.path(), None));
        let kept = view.checkpoints(Some(&vault_path("a.md")), None, 1).unwrap().checkpoints;
        assert_eq!(view.old_content(&kept[0].entries[0]).unwrap().unwrap(), b"a");
    }
}

#[test]
fn a_folder_that_became_a_link_out_of_the_vault_does_not_close_it() {
    let around = tempfile::tempdir().unwrap();
    put(around.path(), "n/a.md", "a");
    put(around.path(), "b.md", "b");
    let both = |vault: &Vault| vec![write(&view(vault), "n/a.md", "A"), write(&view(vault), "b.md", "B")];
    killed_before(around.path(), "exchange", 2, both);
    let outside = around.path().join("outside");
    std::fs::rename(around.path().join("vault/n"), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, around.path().join("vault/n")).unwrap();
    settled(around.path());
    assert_eq!(std::fs::read(around.path().join("vault/b.md")).unwrap(), b"b");
    assert_eq!(std::fs::read(outside.join("a.md")).unwrap(), b"A", "files outside are not touched");
}

#[test]
fn a_moved_note_that_became_a_link_stays_where_it_is() {
    let around = tempfile::tempdir().unwrap();
    put(around.path(), "a.md", "a");
    put(around.path(), "b.md", "b");
    let moved = |vault: &Vault| {
        let (from, to, before) = (vault_path("a.md"), vault_path("n/a.md"), view(vault).read(&vault_path("a.md")).ok());
        let guard = lapidary_vault::ContentGuard::Plan;
        vec![Change::Move { from, to, before, guard, content: None }, write(&view(vault), "b.md", "B")]
    };
    killed_before(around.path(), "exchange", 1, moved);
    let note = around.path().join("vault/n/a.md");
    std::fs::rename(&note, around.path().join("vault/real.md")).unwrap();
    std::os::unix::fs::symlink("../real.md", &note).unwrap();
    assert_eq!(settled(around.path()), left(&["a.md"]));
    assert_eq!(std::fs::read(&note).unwrap(), b"a");
}

/// The file next to the note moved with its folder.
#[test]
fn a_folder_that_a_person_moved_keeps_nothing_of_ours() {
    for (call, text) in [("exchange", "a"), ("sync folder", "A")] {
        let around = tempfile::tempdir().unwrap();
        put(around.path(), "n/a.md", "a");
        killed_before(around.path(), call, 1, |vault| vec![write(&view(vault), "n/a.md", "A")]);
        std::fs::rename(around.path().join("vault/n"), around.path().join("vault/m")).unwrap();
        settled(around.path());
        assert_eq!(std::fs::read(around.path().join("vault/m/a.md")).unwrap(), text.as_bytes(), "{call}");
    }
}
