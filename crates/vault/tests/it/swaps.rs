//! Another program replaces a folder with a link during a call: nothing behind the link is read, changed or left there.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use lapidary_vault::{
    Change, ChangeSet, ContentGuard, File, Policy, Scope, TrashKind, Vault, VaultLimits,
    store::{FolderStore, StateFolder, StoreError},
};

use crate::scratch::{Scratch, create, listed, origin, vault_path, walk};

const OPEN: &str = "open";
const SECRET: &str = "secret";

fn prepared() -> Scratch {
    let scratch = Scratch::fast();
    for path in ["work/a.md", "work/b.md", "work/deep/c.md", "other/d.md"] {
        scratch.put(path, OPEN);
    }
    for path in [".closed/a.md", ".closed/b.md", ".closed/deep/c.md", ".closed/only.md"] {
        scratch.put(path, SECRET);
    }
    scratch
}

/// `work` becomes a link to the closed folder, and is kept next to it. In one step: while there is no `work`, a
/// concurrent commit may create it again.
fn swap(root: &std::path::Path) {
    std::os::unix::fs::symlink(".closed", root.join("kept")).unwrap();
    exchange(root);
}

fn swap_back(root: &std::path::Path) {
    exchange(root);
    std::fs::remove_file(root.join("kept")).unwrap();
}

fn exchange(root: &std::path::Path) {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, root.join("work"), CWD, root.join("kept"), RenameFlags::EXCHANGE).unwrap();
}

fn closed(scratch: &Scratch) -> std::collections::BTreeMap<PathBuf, crate::scratch::Found> {
    let mut found = std::collections::BTreeMap::new();
    walk(&scratch.at(".closed"), &mut found);
    found
}

fn file(text: &str) -> Arc<File> {
    Arc::new(File { content: text.to_owned().into(), modified: None, created: None })
}

/// Every kind of change, in a folder that may be swapped. The content they expect is behind the link as well.
fn changes() -> Vec<Vec<Change>> {
    let (guard, content) = (ContentGuard::Plan, || b"changed".to_vec().into());
    let mut sets = Vec::new();
    for text in [OPEN, SECRET] {
        let write = || Change::Write { path: vault_path("work/a.md"), before: file(text), guard, content: content() };
        let moved = |from: &str, to: &str, before| Change::Move {
            from: vault_path(from),
            to: vault_path(to),
            before,
            guard,
            content: None,
        };
        sets.extend([
            vec![write()],
            vec![Change::Delete { path: vault_path("work/deep/c.md"), before: file(text), guard }],
            vec![moved("work/a.md", "other/a.md", Some(file(text)))],
            vec![write(), create("work/new.md", "new"), create("other/new.md", "new")],
            vec![moved("work/b.md", "work/e.md", None), write()],
        ]);
    }
    let trash = |path: &str| Change::Trash { path: vault_path(path), before: None, guard, trash: TrashKind::InVault };
    sets.extend([
        vec![create("work/new.md", "new")],
        vec![create("work/new/deep/er.md", "new"), create("work/new/deep/est.md", "new")],
        vec![trash("work/a.md")],
        vec![Change::MoveFolder { from: vault_path("work/deep"), to: vault_path("other/deep") }],
        vec![Change::MoveFolder { from: vault_path("other"), to: vault_path("work/other") }],
    ]);
    sets
}

/// A vault in which something happens right before the system call of this number.
fn interrupted(scratch: &Scratch, at: usize) -> (Vault, Arc<AtomicBool>) {
    let (calls, done) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
    let (root, told) = (scratch.root(), Arc::clone(&done));
    let observer = move |_: &'static str| {
        if calls.fetch_add(1, Ordering::SeqCst) == at && !told.swap(true, Ordering::SeqCst) {
            swap(&root);
        }
        Ok(())
    };
    let store = Arc::new(FolderStore::new(scratch.root()).observed(Arc::new(observer)));
    let state = Arc::new(StateFolder::new(scratch.state().to_owned(), scratch.root()));
    (Vault::shared("swapped".to_owned(), store, &state, Policy::default(), VaultLimits::default()), done)
}

#[test]
fn a_folder_swapped_at_any_step_of_a_change_leaks_nothing() {
    for set in changes() {
        let set = ChangeSet { changes: set };
        for at in 0..200 {
            let scratch = prepared();
            let before = closed(&scratch);
            let (vault, swapped) = interrupted(&scratch, at);
            let committed = vault.turn(&|| true).unwrap().commit(&set, &Scope::default(), &origin());
            // The next server finishes the rest.
            vault.turn(&|| true).map(|_| ()).unwrap_or_default();
            assert_eq!(closed(&scratch), before, "step {at} of {set:?}: {committed:?}");
            if !swapped.load(Ordering::SeqCst) {
                break;
            }
            assert!(at < 199, "the change has no end");
        }
    }
}

#[test]
fn a_folder_swapped_before_a_change_leaks_nothing() {
    for set in changes() {
        let scratch = prepared();
        let before = closed(&scratch);
        swap(&scratch.root());
        let set = ChangeSet { changes: set };
        let committed = scratch.vault.turn(&|| true).unwrap().commit(&set, &Scope::default(), &origin());
        assert!(committed.is_err(), "{set:?}");
        assert_eq!(closed(&scratch), before, "{set:?}");
        swap_back(&scratch.root());
    }
}

#[test]
fn a_change_that_would_take_place_elsewhere_than_it_was_judged_is_not_made() {
    let scratch = Scratch::with(&[("Journal/a.md", "a"), ("Scratch/a.md", "a")]);
    scratch.link("link", "Journal");
    let write = || ChangeSet::one(scratch.plan("link/a.md", "b"));
    let make = || ChangeSet::one(create("link/new.md", "b"));
    let commit = |set: &ChangeSet, place: &str| {
        let judged = |_: &_, at: &lapidary_vault::VaultPath| at.as_str().starts_with(place);
        let turn = scratch.vault.turn(&|| true).unwrap();
        turn.commit_judged(set, &Scope::default(), &origin(), &judged).map(|_| ()).map_err(|error| error.error)
    };
    let before = scratch.everything();
    assert_eq!(commit(&write(), "Scratch/"), Err(StoreError::Missing));
    assert_eq!(commit(&make(), "Scratch/"), Err(StoreError::Exists));
    assert_eq!(scratch.everything(), before);
    commit(&write(), "Journal/").unwrap();
    commit(&make(), "Journal/").unwrap();
    assert_eq!((scratch.bytes("Journal/a.md"), scratch.bytes("Journal/new.md")), (b"b".to_vec(), b"b".to_vec()));
}

/// As fast as another thread can swap, for a while.
#[test]
fn no_race_with_a_link_reveals_or_changes_its_target() {
    let scratch = prepared();
    let (root, before, over) = (scratch.root(), closed(&scratch), AtomicBool::new(false));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                swap(&root);
                std::thread::yield_now();
                swap_back(&root);
            }
        });
        for round in 0..400 {
            let view = scratch.view();
            for path in ["work/a.md", "work/deep/c.md"] {
                if let Ok(file) = view.read(&vault_path(path)) {
                    assert_ne!(file.bytes(), SECRET.as_bytes(), "{path} in round {round}");
                }
            }
            assert!(view.read(&vault_path("work/only.md")).is_err(), "round {round}");
            let shown = listed(&view, "work").unwrap_or_default();
            assert!(!shown.contains(&"work/only.md".to_owned()), "round {round}: {shown:?}");
            if round % 10 == 0 {
                let files = view.files(&|| true).map(|files| files.get(&vault_path("work/only.md")).is_some());
                assert!(!files.unwrap_or_default(), "round {round}: it is in the index");
            }
            if round % 4 == 0 {
                let new = create(&format!("work/new-{round}.md"), "new");
                let write = Change::Write {
                    path: vault_path("work/b.md"),
                    before: file(SECRET),
                    guard: ContentGuard::Plan,
                    content: b"changed".to_vec().into(),
                };
                for change in [new, write] {
                    let turn = scratch.vault.turn(&|| true);
                    drop(turn.map(|turn| turn.commit(&ChangeSet::one(change), &Scope::default(), &origin())));
                }
            }
        }
        over.store(true, Ordering::SeqCst);
    });
    assert_eq!(closed(&scratch), before);
}
