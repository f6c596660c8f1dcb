//! What a change does to the disk, and that a refused one does nothing.

use lapidary_note::ContentHash;
use lapidary_vault::{
    Change, ChangeSet, CommitError, ContentGuard, Policy, Scope, TurnError, VaultPath, store::StoreError,
};

use crate::scratch::{Found, Scratch, create, denying, missing, origin, prefixes, vault_path};

#[test]
fn a_change_puts_its_bytes_in_place_and_nothing_else() {
    let scratch = Scratch::with(&[("a.md", "old"), ("b.md", "beside"), ("folder/c.md", "deep")]);
    for bytes in [&b""[..], b"\0\xff\xfe", b"\xef\xbb\xbfa\r\nb\r", b"no final newline", &[b'x'; 3_000_000]] {
        let mut expected = scratch.everything();
        expected.insert(scratch.at("a.md"), Found::File(bytes.to_vec()));
        scratch.commit(scratch.plan("a.md", bytes)).unwrap();
        assert_eq!(scratch.everything(), expected);
    }
}

#[test]
fn a_stale_change_is_refused_with_what_was_found() {
    let scratch = Scratch::with(&[("a.md", "old")]);
    for (newer, guard) in [("newer", ContentGuard::Plan), ("NEW", ContentGuard::Caller), ("", ContentGuard::Plan)] {
        scratch.put("a.md", "old");
        let view = scratch.view();
        let before = view.read(&vault_path("a.md")).unwrap();
        let change = Change::Write { path: vault_path("a.md"), before, guard, content: b"ours".to_vec().into() };
        scratch.put("a.md", newer);
        let disk = scratch.everything();
        let error = scratch
            .vault
            .turn(&|| true)
            .unwrap()
            .commit(&ChangeSet::one(change), &Scope::default(), &origin())
            .unwrap_err();
        let expected = CommitError {
            path: vault_path("a.md"),
            error: StoreError::Changed { found: ContentHash::of(newer.as_bytes()) },
            guard,
            before: Some(ContentHash::of(b"old")),
        };
        assert_eq!(error, expected);
        assert_eq!(scratch.everything(), disk);
    }
}

#[test]
fn a_note_that_changed_and_changed_back_is_the_note_that_was_seen() {
    let scratch = Scratch::with(&[("a.md", "old")]);
    let change = scratch.plan("a.md", "ours");
    scratch.put("a.md", "in between");
    scratch.put("a.md", "old");
    scratch.commit(change).unwrap();
    assert_eq!(scratch.bytes("a.md"), b"ours");
}

#[test]
fn a_note_that_was_removed_meanwhile_is_not_restored() {
    let scratch = Scratch::with(&[("a.md", "old"), ("deep/b.md", "old")]);
    let (file, whole_folder) = (scratch.plan("a.md", "ours"), scratch.plan("deep/b.md", "ours"));
    std::fs::remove_file(scratch.at("a.md")).unwrap();
    std::fs::remove_dir_all(scratch.at("deep")).unwrap();
    scratch.refuses(file, StoreError::Missing);
    scratch.refuses(whole_folder, StoreError::Missing);
}

#[test]
fn a_note_that_became_a_folder_meanwhile_stays_one() {
    let scratch = Scratch::with(&[("a.md", "old"), ("deep/b.md", "old")]);
    let (file, folder) = (scratch.plan("a.md", "ours"), scratch.plan("deep/b.md", "ours"));
    std::fs::remove_file(scratch.at("a.md")).unwrap();
    std::fs::create_dir(scratch.at("a.md")).unwrap();
    scratch.refuses(file, StoreError::IsFolder);
    std::fs::remove_dir_all(scratch.at("deep")).unwrap();
    std::fs::write(scratch.at("deep"), "now a file").unwrap();
    scratch.refuses(folder, StoreError::Missing);
}

#[test]
fn a_new_note_is_made_with_the_folders_it_needs() {
    let scratch = Scratch::with(&[("there/a.md", "a")]);
    scratch.commit(create("new.md", "top")).unwrap();
    scratch.commit(create("there/new.md", "beside")).unwrap();
    scratch.commit(create("there/one/two/three/new.md", "deep")).unwrap();
    scratch.commit(create("empty.md", "")).unwrap();
    let mut expected = vec!["empty.md", "new.md", "there", "there/a.md", "there/new.md", "there/one", "there/one/two"];
    expected.extend(["there/one/two/three", "there/one/two/three/new.md"]);
    let names: Vec<_> = scratch.everything().into_keys().filter(|path| *path != scratch.root()).collect();
    assert_eq!(names, expected.into_iter().map(|path| scratch.at(path)).collect::<Vec<_>>());
    assert_eq!(scratch.bytes("there/one/two/three/new.md"), b"deep");
    assert_eq!(scratch.bytes("empty.md"), b"");
}

#[test]
fn nothing_is_created_over_an_existing_entry() {
    let scratch = Scratch::with(&[("a.md", "a"), ("folder/b.md", "b")]);
    scratch.refuses(create("a.md", "x"), StoreError::Exists);
    scratch.refuses(create("folder/b.md", "x"), StoreError::Exists);
    scratch.refuses(create("folder", "x"), StoreError::IsFolder);
    scratch.refuses(create("a.md/c.md", "x"), StoreError::NotAFile);
    scratch.refuses(create("a.md/deep/c.md", "x"), StoreError::NotAFile);
}

#[test]
fn a_path_that_no_system_call_accepts_is_refused_and_leaves_nothing() {
    let scratch = Scratch::with(&[("there/a.md", "a")]);
    // With one more byte it is too long, although each name is allowed and so is the whole.
    let deep = format!("there/{}{}", "folder-x/".repeat(454), "last");
    assert_eq!(deep.len(), 4096);
    assert!(VaultPath::parse(&deep).is_ok());
    scratch.refuses(create(&deep, "x"), StoreError::BadName);
    assert_eq!(scratch.read(&deep), Err(missing()));
}

#[test]
fn very_long_names_can_be_made_and_changed() {
    let scratch = Scratch::new();
    let path = format!("{}/{}", "d".repeat(255), "ä".repeat(126) + "x.m");
    scratch.commit(create(&path, "one")).unwrap();
    scratch.commit(scratch.plan(&path, "two")).unwrap();
    assert_eq!(scratch.bytes(&path), b"two");
}

#[test]
fn odd_names_can_be_made_and_changed() {
    let scratch = Scratch::new();
    for name in ["'a' b.md", "  spaces .md", "石 🦀.md", "$(x) `y`; %&.md", "x.md (deleted)", "-rf", "\u{202e}dm.x"]
    {
        let path = format!("{name}/{name}");
        scratch.commit(create(&path, "one")).unwrap();
        scratch.commit(scratch.plan(&path, "two")).unwrap();
        assert_eq!(scratch.bytes(&path), b"two", "{name}");
    }
}

#[test]
fn closed_places_cannot_be_written() {
    let scratch = Scratch::with(&[("open/a.md", "a"), ("shut/b.md", "b"), (".obsidian/app.json", "{}")]);
    let scope = Policy { write: Some(prefixes(&["open"])), ..denying(&["open/secret"]) }.into();
    for path in ["shut/new.md", "open/secret/new.md", ".obsidian/new.json", "open/.hidden.md", "opener/new.md"] {
        scratch.refuses_as(&scope, create(path, "x"), StoreError::Closed);
    }
    scratch.commit_as(&scope, create("open/new.md", "x")).unwrap();
}

#[test]
fn a_set_is_applied_completely_or_not_at_all() {
    let scratch = Scratch::with(&[("a.md", "a"), ("b.md", "b"), ("c.md", "c")]);
    let changes = ["a.md", "b.md", "c.md"].map(|path| scratch.plan(path, "ours"));
    scratch.put("b.md", "newer");
    let error = scratch
        .vault
        .turn(&|| true)
        .unwrap()
        .commit(&ChangeSet { changes: changes.into() }, &Scope::default(), &origin())
        .unwrap_err();
    assert_eq!(error.path, vault_path("b.md"));
    let bytes = ["a.md", "b.md", "c.md"].map(|path| scratch.bytes(path));
    assert_eq!(bytes, [&b"a"[..], b"newer", b"c"]);
    let changes = ["a.md", "b.md", "c.md"].map(|path| scratch.plan(path, "ours"));
    scratch
        .vault
        .turn(&|| true)
        .unwrap()
        .commit(&ChangeSet { changes: changes.into() }, &Scope::default(), &origin())
        .unwrap();
    assert!(["a.md", "b.md", "c.md"].iter().all(|path| scratch.bytes(path) == b"ours"));
}

#[test]
fn a_vault_that_is_away_says_so_and_one_that_is_back_is_opened_again() {
    let scratch = Scratch::with(&[("a.md", "first")]);
    assert_eq!(scratch.read("a.md").unwrap(), b"first");
    let change = scratch.plan("a.md", "ours");
    // Where servers take turns is known from the first change on.
    scratch.commit(create("other.md", "x")).unwrap();

    std::fs::rename(scratch.root(), scratch.outside("unmounted")).unwrap();
    let gone = lapidary_vault::ReadError::Store(StoreError::VaultGone);
    assert_eq!(scratch.read("a.md"), Err(gone.clone()));
    assert_eq!(scratch.list(""), Err(gone.clone()));
    scratch.refuses(change.clone(), StoreError::VaultGone);
    scratch.refuses(create("new.md", "x"), StoreError::VaultGone);

    std::fs::write(scratch.root(), "a file where the vault was").unwrap();
    assert_eq!(scratch.read("a.md"), Err(gone));
    std::fs::remove_file(scratch.root()).unwrap();

    scratch.put("a.md", "second");
    assert_eq!(scratch.read("a.md").unwrap(), b"second");
    scratch.refuses(change, StoreError::Changed { found: ContentHash::of(b"second") });
    scratch.commit(create("new.md", "x")).unwrap();
    assert_eq!(scratch.bytes("new.md"), b"x");
    assert_eq!(std::fs::read(scratch.outside("unmounted/a.md")).unwrap(), b"first");
    assert!(!scratch.outside("unmounted/new.md").exists(), "the old folder is no longer the vault");
}

#[test]
fn a_vault_replaced_in_one_moment_is_noticed() {
    let scratch = Scratch::with(&[("a.md", "first"), ("only-here.md", "x")]);
    assert_eq!(scratch.read("a.md").unwrap(), b"first");
    for number in 0..20 {
        let (fresh, old) = (scratch.outside("fresh"), scratch.outside(&format!("old-{number}")));
        std::fs::create_dir(&fresh).unwrap();
        std::fs::write(fresh.join("a.md"), format!("clone {number}")).unwrap();
        std::fs::rename(scratch.root(), &old).unwrap();
        // Often the file system gives the next folder the number of the last one.
        std::fs::remove_dir_all(&old).unwrap();
        std::fs::rename(&fresh, scratch.root()).unwrap();
        assert_eq!(scratch.read("a.md").unwrap(), format!("clone {number}").as_bytes());
        assert_eq!(scratch.read("only-here.md"), Err(missing()));
    }
}

#[test]
fn without_a_lock_file_everything_is_readable_and_nothing_changes() {
    let scratch = Scratch::with(&[("a.md", "old")]);
    let a_file = scratch.outside("state");
    std::fs::write(&a_file, "in the way").unwrap();
    let vault = crate::scratch::open_vault(&scratch.root(), &a_file);
    let view = vault.view(std::sync::Arc::default(), 100);
    assert_eq!(view.read(&vault_path("a.md")).unwrap().bytes(), b"old");
    let before = scratch.everything();
    assert_eq!(vault.turn(&|| true).map(|_| ()), Err(TurnError::NoState));
    assert_eq!(scratch.everything(), before);
}

#[test]
fn a_waiter_for_a_turn_can_give_up() {
    let scratch = Scratch::new();
    let second = scratch.second_server();
    let turn = scratch.vault.turn(&|| true).unwrap();
    for vault in [&scratch.vault, &second] {
        let patience = std::cell::Cell::new(3);
        let go_on = || patience.replace(patience.get() - 1) > 1;
        assert_eq!(vault.turn(&go_on).map(|_| ()), Err(TurnError::GivenUp));
        assert_eq!(patience.get(), 0);
    }
    drop(turn);
    assert!(second.turn(&|| false).is_ok());
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    fn set_mode(scratch: &Scratch, path: &str, mode: u32) {
        std::fs::set_permissions(scratch.at(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode(scratch: &Scratch, path: &str) -> u32 {
        std::fs::metadata(scratch.at(path)).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_changed_note_keeps_its_mode() {
        let scratch = Scratch::with(&[("a.md", "0")]);
        for bits in [0o600, 0o640, 0o644, 0o664, 0o666, 0o755, 0o777, 0o2770] {
            set_mode(&scratch, "a.md", bits);
            scratch.commit(scratch.plan("a.md", format!("{bits:o}"))).unwrap();
            assert_eq!(format!("{:o}", mode(&scratch, "a.md")), format!("{bits:o}"));
        }
    }

    /// A rename does not need write permission on the file itself, so a read-only note is changed too, and stays
    /// read-only.
    #[test]
    fn a_read_only_note_is_changed_and_stays_read_only() {
        let scratch = Scratch::with(&[("a.md", "old")]);
        set_mode(&scratch, "a.md", 0o444);
        scratch.commit(scratch.plan("a.md", "new")).unwrap();
        assert_eq!(scratch.bytes("a.md"), b"new");
        assert_eq!(mode(&scratch, "a.md"), 0o444);
    }

    #[test]
    fn a_new_note_has_the_mode_of_any_other_new_file() {
        let scratch = Scratch::with(&[("theirs/a.md", "")]);
        scratch.commit(create("ours/a.md", "")).unwrap();
        assert_eq!(mode(&scratch, "ours/a.md"), mode(&scratch, "theirs/a.md"));
        assert_eq!(mode(&scratch, "ours"), mode(&scratch, "theirs"));
    }

    #[test]
    fn a_changed_note_keeps_its_owner() {
        let scratch = Scratch::with(&[("a.md", "old")]);
        if let Err(error) = std::os::unix::fs::chown(scratch.at("a.md"), Some(12_345), Some(23_456)) {
            eprintln!("skipped: this user may not give files away ({error})");
            return;
        }
        set_mode(&scratch, "a.md", 0o640);
        scratch.commit(scratch.plan("a.md", "new")).unwrap();
        let metadata = std::fs::metadata(scratch.at("a.md")).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (12_345, 23_456));
        assert_eq!(mode(&scratch, "a.md"), 0o640);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_changed_note_keeps_its_extended_attributes() {
        use rustix::fs::{XattrFlags, getxattr, listxattr, setxattr};
        let scratch = Scratch::with(&[("a.md", "old"), ("folder/b.md", "moved")]);
        let long = vec![b'x'; 2000];
        let attributes = [("user.xdg.tags", &b"red,green"[..]), ("user.empty", b""), ("user.long", &long)];
        for path in ["a.md", "folder/b.md"] {
            for (name, value) in attributes {
                if let Err(error) = setxattr(scratch.at(path), name, value, XattrFlags::empty()) {
                    eprintln!("skipped: this disk has no attributes ({error})");
                    return;
                }
            }
        }
        set_mode(&scratch, "a.md", 0o640);
        scratch.commit(scratch.plan("a.md", "new")).unwrap();
        scratch.commit(scratch.plan("a.md", "newer")).unwrap();
        assert_eq!(mode(&scratch, "a.md"), 0o640);
        for path in ["a.md", "folder/b.md"] {
            for (name, value) in attributes {
                let mut found = vec![0; 4096];
                let length = getxattr(scratch.at(path), name, &mut found).unwrap();
                assert_eq!(&found[..length], value, "{name} of {path}");
            }
            let mut names = vec![0; 4096];
            let length = listxattr(scratch.at(path), &mut names).unwrap();
            assert_eq!(names[..length].split(|&byte| byte == 0).filter(|name| name.starts_with(b"user.")).count(), 3);
        }
    }

    /// The other name keeps the old bytes: a file is replaced in one step or changed under all its names, not both.
    #[test]
    fn a_hard_link_keeps_the_old_bytes() {
        let scratch = Scratch::with(&[("a.md", "old")]);
        std::fs::hard_link(scratch.at("a.md"), scratch.at("b.md")).unwrap();
        std::fs::hard_link(scratch.at("a.md"), scratch.outside("c.md")).unwrap();
        scratch.commit(scratch.plan("a.md", "new")).unwrap();
        assert_eq!(scratch.bytes("a.md"), b"new");
        assert_eq!(scratch.bytes("b.md"), b"old");
        assert_eq!(std::fs::read(scratch.outside("c.md")).unwrap(), b"old");
    }

    #[test]
    fn a_program_that_has_the_note_open_keeps_what_it_opened() {
        use std::io::Read;
        let scratch = Scratch::with(&[("a.md", "old")]);
        let mut opened = std::fs::File::open(scratch.at("a.md")).unwrap();
        scratch.commit(scratch.plan("a.md", "new")).unwrap();
        let mut text = String::new();
        opened.read_to_string(&mut text).unwrap();
        assert_eq!(text, "old");
    }

    #[test]
    fn a_vault_reached_through_a_link_follows_the_link_when_it_turns() {
        let scratch = Scratch::new();
        for name in ["one", "two"] {
            std::fs::create_dir(scratch.outside(name)).unwrap();
            std::fs::write(scratch.outside(name).join("a.md"), name).unwrap();
        }
        let turn = |to: &str| {
            drop(std::fs::remove_file(scratch.outside("current")));
            std::os::unix::fs::symlink(to, scratch.outside("current")).unwrap();
        };
        turn("one");
        let vault = scratch.serving(&scratch.outside("current"));
        let read = || vault.view(std::sync::Arc::default(), 100).read(&vault_path("a.md")).unwrap().bytes().to_vec();
        assert_eq!(read(), b"one");
        turn("two");
        assert_eq!(read(), b"two");
    }
}
