//! Programs that still have a file open when it is replaced. What they write to it then no longer has a name, but is
//! kept.

use std::{
    fs::{DirEntry, File},
    io::{Seek, SeekFrom, Write},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use lapidary_vault::{
    Change, ChangeSet, ContentGuard, LateSave, Scope, TrashKind, Vault, VaultNews, store::CheckpointKind,
};

use crate::scratch::{Found, NO_LIMIT, Scratch, deny, origin, vault_path};

/// The note as opened by an editor that keeps its files open.
fn held_open(scratch: &Scratch, path: &str) -> File {
    File::options().read(true).write(true).open(scratch.at(path)).unwrap()
}

/// Saves in place, as such an editor does.
fn save(file: &mut File, text: &str) {
    file.set_len(0).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn late_saves(vault: &Vault, scope: &Scope) -> Vec<LateSave> {
    vault.view(Arc::new(scope.clone()), NO_LIMIT).late_saves().unwrap()
}

/// Late saves reported within some seconds, by a server that checks by itself.
fn told(vault: &Vault) -> Vec<LateSave> {
    let started = Instant::now();
    loop {
        let told = late_saves(vault, &Scope::default());
        if !told.is_empty() || started.elapsed() > Duration::from_secs(10) {
            return told;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kept_text(vault: &Vault, late: &LateSave) -> Vec<u8> {
    let view = vault.view(Arc::default(), NO_LIMIT);
    let checkpoint = view.checkpoint(&late.checkpoint).unwrap();
    assert_eq!(checkpoint.kind, CheckpointKind::LateSave);
    assert_eq!(checkpoint.entries.len(), 1);
    view.old_content(&checkpoint.entries[0]).unwrap().unwrap()
}

fn temporary_files(scratch: &Scratch) -> usize {
    fn below(folder: &Path) -> usize {
        let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
        let count = |entry: DirEntry| match entry.file_name() {
            name if name.to_string_lossy().starts_with(".lapidary-") => 1,
            _ => below(&entry.path()),
        };
        // Some disappear during the check.
        entries.filter_map(Result::ok).map(count).sum()
    }
    below(&scratch.root())
}

fn wait_until_nothing_is_beside(scratch: &Scratch) {
    let started = Instant::now();
    while temporary_files(scratch) > 0 {
        assert!(started.elapsed() < Duration::from_secs(120), "an old file stays");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_late_save_is_kept_and_reported_once() {
    let scratch = Scratch::with(&[("folder/a.md", "old")]);
    let mut editor = held_open(&scratch, "folder/a.md");
    scratch.commit(scratch.plan("folder/a.md", "ours")).unwrap();
    assert_eq!(temporary_files(&scratch), 1, "it stays while a program can write to it");
    // Longer than the first check takes.
    std::thread::sleep(Duration::from_millis(700));
    save(&mut editor, "theirs, late");
    drop(editor);
    let late = told(&scratch.vault);
    assert_eq!(late.iter().map(|late| late.path.as_str()).collect::<Vec<_>>(), ["folder/a.md"]);
    assert_eq!(kept_text(&scratch.vault, &late[0]), b"theirs, late");
    assert_eq!(scratch.bytes("folder/a.md"), b"ours");
    assert!(late_saves(&scratch.vault, &Scope::default()).is_empty(), "once");
    assert!(late_saves(&scratch.second_server(), &Scope::default()).is_empty(), "and by no other caller");
    assert_eq!(temporary_files(&scratch), 0);
    let news = scratch.vault.take_news();
    assert_eq!(news, [VaultNews::LateSave { path: vault_path("folder/a.md"), checkpoint: late[0].checkpoint.clone() }]);
}

#[test]
fn a_caller_that_may_not_read_the_note_is_not_told() {
    let scratch = Scratch::with(&[("secret/a.md", "old")]);
    let mut editor = held_open(&scratch, "secret/a.md");
    scratch.commit(scratch.plan("secret/a.md", "ours")).unwrap();
    save(&mut editor, "theirs");
    drop(editor);
    wait_until_nothing_is_beside(&scratch);
    for _ in 0..3 {
        assert!(late_saves(&scratch.vault, &deny(&["secret"])).is_empty());
    }
    let late = told(&scratch.vault);
    assert_eq!(late.len(), 1, "it waited for a caller that may");
    let blind = scratch.view_as(&deny(&["secret"]));
    assert!(blind.checkpoint(&late[0].checkpoint).is_err());
    assert!(blind.checkpoints(None, None, 100).unwrap().checkpoints.is_empty());
}

#[test]
fn an_editor_that_only_had_it_open_leaves_nothing() {
    let scratch = Scratch::with(&[("a.md", "old")]);
    let editor = held_open(&scratch, "a.md");
    scratch.commit(scratch.plan("a.md", "ours")).unwrap();
    drop(editor);
    wait_until_nothing_is_beside(&scratch);
    assert!(late_saves(&scratch.vault, &Scope::default()).is_empty());
    assert!(scratch.vault.take_news().is_empty());
}

#[test]
fn a_server_that_ends_meanwhile_leaves_it_to_the_next() {
    let mut scratch = Scratch::with(&[("a.md", "old")]);
    let mut editor = held_open(&scratch, "a.md");
    scratch.commit(scratch.plan("a.md", "ours")).unwrap();
    scratch.vault = scratch.second_server();
    save(&mut editor, "theirs");
    assert!(late_saves(&scratch.vault, &Scope::default()).is_empty(), "it may not be all yet");
    save(&mut editor, "theirs, all of it");
    drop(editor);
    let late = told(&scratch.vault);
    assert_eq!(kept_text(&scratch.vault, &late[0]), b"theirs, all of it");
    assert_eq!(temporary_files(&scratch), 0);
}

/// Further changes of the same note continue meanwhile, and each old file is watched separately.
#[test]
fn late_saves_of_several_editors_are_all_kept() {
    let scratch = Scratch::with(&[("a.md", "0")]);
    let mut editors = Vec::new();
    for number in 1..=3 {
        editors.push(held_open(&scratch, "a.md"));
        scratch.commit(scratch.plan("a.md", number.to_string())).unwrap();
    }
    for (number, editor) in editors.iter_mut().enumerate() {
        save(editor, &format!("late {number}"));
    }
    drop(editors);
    wait_until_nothing_is_beside(&scratch);
    let mut texts: Vec<Vec<u8>> = told(&scratch.vault).iter().map(|late| kept_text(&scratch.vault, late)).collect();
    texts.sort();
    assert_eq!(texts, [b"late 0", b"late 1", b"late 2"]);
    assert_eq!(scratch.bytes("a.md"), b"3");
}

#[test]
fn a_deleted_note_that_is_saved_late_is_kept_too() {
    let scratch = Scratch::with(&[("a.md", "old"), ("b.md", "old b")]);
    let (mut a, mut b) = (held_open(&scratch, "a.md"), held_open(&scratch, "b.md"));
    let read = |path| scratch.view().read(&vault_path(path)).unwrap();
    scratch
        .commit(Change::Delete { path: vault_path("a.md"), before: read("a.md"), guard: ContentGuard::Caller })
        .unwrap();
    // A note in the trash is still the file that the editor has open.
    let trash = Change::Trash {
        path: vault_path("b.md"),
        before: Some(read("b.md")),
        guard: ContentGuard::Caller,
        trash: TrashKind::InVault,
    };
    scratch.vault.turn(&|| true).unwrap().commit(&ChangeSet::one(trash), &Scope::default(), &origin()).unwrap();
    save(&mut a, "late a");
    save(&mut b, "late b");
    drop((a, b));
    let late = told(&scratch.vault);
    assert_eq!(kept_text(&scratch.vault, &late[0]), b"late a");
    assert_eq!(scratch.bytes(".trash/b.md"), b"late b");
    wait_until_nothing_is_beside(&scratch);
    assert!(!scratch.at("a.md").exists());
}

/// Its folder has another name by then.
#[test]
fn an_old_file_moves_with_its_folder() {
    let scratch = Scratch::with(&[("old/a.md", "old")]);
    let mut editor = held_open(&scratch, "old/a.md");
    let set = ChangeSet {
        changes: vec![
            scratch.plan("old/a.md", "ours"),
            Change::MoveFolder { from: vault_path("old"), to: vault_path("new") },
        ],
    };
    scratch.vault.turn(&|| true).unwrap().commit(&set, &Scope::default(), &origin()).unwrap();
    save(&mut editor, "theirs");
    drop(editor);
    let late = told(&scratch.vault);
    assert_eq!(late.iter().map(|late| late.path.as_str()).collect::<Vec<_>>(), ["new/a.md"]);
    assert_eq!(kept_text(&scratch.vault, &late[0]), b"theirs");
    wait_until_nothing_is_beside(&scratch);
    let files: Vec<_> = scratch.everything().into_iter().filter(|(_, found)| matches!(found, Found::File(_))).collect();
    assert_eq!(files, [(scratch.at("new/a.md"), Found::File(b"ours".to_vec()))]);
}

/// By another change, or by a person, who may also have deleted it.
#[test]
fn an_old_file_moves_with_its_folder_later() {
    fn by_a_change(scratch: &Scratch) {
        let set = ChangeSet::one(Change::MoveFolder { from: vault_path("old"), to: vault_path("new") });
        scratch.vault.turn(&|| true).unwrap().commit(&set, &Scope::default(), &origin()).unwrap();
    }
    fn by_a_person(scratch: &Scratch) {
        std::fs::rename(scratch.at("old"), scratch.at("new")).unwrap();
    }
    fn to_the_trash(scratch: &Scratch) {
        std::fs::create_dir(scratch.at(".trash")).unwrap();
        std::fs::rename(scratch.at("old"), scratch.at(".trash/old")).unwrap();
    }
    let ways = [(by_a_change as fn(&Scratch), "new/deep/a.md"), (by_a_person, "new/deep/a.md")];
    for (moved, path) in ways.into_iter().chain([(to_the_trash as fn(&Scratch), "old/deep/a.md")]) {
        let scratch = Scratch::with(&[("old/deep/a.md", "old"), ("b/c.md", "c")]);
        let mut editor = held_open(&scratch, "old/deep/a.md");
        scratch.commit(scratch.plan("old/deep/a.md", "ours")).unwrap();
        moved(&scratch);
        // Long enough for a check in its old place.
        std::thread::sleep(Duration::from_millis(700));
        save(&mut editor, "theirs, late");
        drop(editor);
        wait_until_nothing_is_beside(&scratch);
        let news = scratch.vault.take_news();
        let [VaultNews::LateSave { path: told, checkpoint }] = &*news else { panic!("{path}: {news:?}") };
        assert_eq!(told.as_str(), path);
        let late = LateSave { path: told.clone(), checkpoint: checkpoint.clone() };
        assert_eq!(kept_text(&scratch.vault, &late), b"theirs, late");
    }
}
