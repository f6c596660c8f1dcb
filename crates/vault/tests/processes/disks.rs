//! Disks that are full, read-only or inaccessible. Nothing is half written, and nothing is left behind.

use std::{os::unix::fs::PermissionsExt, path::Path, process::Command, sync::Arc};

use lapidary_vault::{
    Change, ChangeSet, ContentGuard, Policy, ReadError, RuleProblem, RulesError, Scope, TurnError, Vault, VaultLimits,
    store::{FolderStore, Retention, StateFolder, StoreError},
};
use rustix::process::geteuid;

use crate::{
    elsewhere::{FEW_FILES, LITTLE_MEMORY, NO_PRIVILEGES, OWN_MOUNTS},
    random::Random,
    scenarios::known,
    scratch::{NO_LIMIT, Scratch, create, open_vault, origin, vault_path, write},
};

pub(crate) fn mount(options: &str, at: &Path) {
    let output = Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(at).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A vault on its own disk, with one note.
fn on_a_disk(options: &str) -> Scratch {
    let scratch = Scratch::new();
    mount(options, &scratch.root());
    scratch.put("a.md", "old");
    scratch
}

#[test]
fn a_full_disk_changes_nothing() {
    if !OWN_MOUNTS.reached(a_full_disk_changes_nothing) {
        return;
    }
    let scratch = on_a_disk("size=64k");
    let too_much = vec![b'x'; 100_000];
    scratch.refuses(scratch.plan("a.md", &*too_much), StoreError::DiskFull);
    scratch.refuses(create("b.md", &*too_much), StoreError::DiskFull);
    scratch.refuses(create("deep/er/b.md", &*too_much), StoreError::DiskFull);
    // That there is no room matters less than that there is nothing to do.
    let stale = scratch.plan("a.md", &*too_much);
    scratch.put("a.md", "newer");
    scratch.refuses(stale, StoreError::Changed { found: lapidary_note::ContentHash::of(b"newer") });
    // What fits still works: the attempts take up no space.
    let most = vec![b'y'; 40_000];
    scratch.commit(scratch.plan("a.md", &*most)).unwrap();
    assert_eq!(scratch.bytes("a.md"), most);
    // Replacing a note needs room for both, so that the old one exists until the new one does.
    scratch.refuses(scratch.plan("a.md", vec![b'z'; 40_000]), StoreError::DiskFull);
}

/// A change that cannot be undone is not made.
#[test]
fn a_full_disk_of_the_state_folder_changes_nothing() {
    if !OWN_MOUNTS.reached(a_full_disk_of_the_state_folder_changes_nothing) {
        return;
    }
    let scratch = Scratch::new();
    mount("size=300k,mode=700", scratch.state());
    let mut random = Random::new(1);
    let large: Vec<u8> = (0..400_000).map(|_| random.below(256) as u8).collect();
    scratch.put("large.md", &large);
    scratch.put("small.md", "old");
    scratch.refuses(scratch.plan("large.md", "new"), StoreError::DiskFull);
    scratch.commit(scratch.plan("small.md", "new")).unwrap();
    scratch.refuses(scratch.plan("large.md", "new"), StoreError::DiskFull);
    // Down to the last byte, many small changes: each is done or refused, and nothing in between.
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for number in 0..400 {
        let text: Vec<u8> = (0..3000).map(|_| random.below(256) as u8).collect();
        let before = scratch.bytes("small.md");
        match scratch.commit(scratch.plan("small.md", &*text)) {
            Ok(()) => assert_eq!(scratch.bytes("small.md"), text),
            Err(error) => {
                assert_eq!(error, StoreError::DiskFull, "{number}");
                assert_eq!(scratch.bytes("small.md"), before);
                texts.push(text);
            }
        }
    }
    assert!(texts.len() > 100, "the disk was never full");
    assert_eq!(scratch.list("").unwrap(), ["large.md", "small.md"]);
    mount("remount,size=2m", scratch.state());
    scratch.commit(scratch.plan("large.md", "new")).unwrap();
}

/// If nothing can be journalled, nothing is changed.
#[test]
fn a_read_only_state_folder_changes_nothing() {
    if !OWN_MOUNTS.reached(a_read_only_state_folder_changes_nothing) {
        return;
    }
    let mut scratch = Scratch::with(&[("a.md", "old")]);
    mount("size=1m,mode=700", scratch.state());
    scratch.commit(scratch.plan("a.md", "new")).unwrap();
    scratch.vault = scratch.second_server();
    mount("remount,ro", scratch.state());
    let before = scratch.everything();
    let fresh = scratch.second_server();
    assert_eq!(fresh.turn(&|| true).map(|_| ()), Err(lapidary_vault::TurnError::NoState));
    assert_eq!(scratch.everything(), before);
    assert_eq!(scratch.read("a.md").unwrap(), b"new");
}

#[test]
fn a_disk_without_room_for_names_changes_nothing() {
    if !OWN_MOUNTS.reached(a_disk_without_room_for_names_changes_nothing) {
        return;
    }
    // Room for the root, the note and two more names: one folder too few.
    let scratch = on_a_disk("size=1m,nr_inodes=4");
    scratch.refuses(create("one/two/three/b.md", "x"), StoreError::DiskFull);
    scratch.refuses(create("one/two/b.md", "x"), StoreError::DiskFull);
    scratch.commit(create("one/b.md", "x")).unwrap();
    scratch.refuses(create("c.md", "x"), StoreError::DiskFull);
    scratch.refuses(scratch.plan("a.md", "new"), StoreError::DiskFull);
}

#[test]
fn a_read_only_disk_is_read_and_not_changed() {
    if !OWN_MOUNTS.reached(a_read_only_disk_is_read_and_not_changed) {
        return;
    }
    let scratch = on_a_disk("size=1m");
    mount("remount,ro", &scratch.root());
    assert_eq!(scratch.read("a.md").unwrap(), b"old");
    assert_eq!(scratch.list("").unwrap(), ["a.md"]);
    scratch.refuses(scratch.plan("a.md", "new"), StoreError::ReadOnlyDisk);
    scratch.refuses(create("b.md", "x"), StoreError::ReadOnlyDisk);
    scratch.refuses(create("deep/er/b.md", "x"), StoreError::ReadOnlyDisk);
}

#[test]
fn a_vault_that_is_unmounted_and_mounted_again_is_found_again() {
    if !OWN_MOUNTS.reached(a_vault_that_is_unmounted_and_mounted_again_is_found_again) {
        return;
    }
    let scratch = on_a_disk("size=1m");
    assert_eq!(scratch.read("a.md").unwrap(), b"old");
    // Lazily, as there is still an open handle on it.
    assert!(Command::new("umount").arg("-l").arg(scratch.root()).status().unwrap().success());
    assert_eq!(scratch.read("a.md"), Err(ReadError::Store(StoreError::Missing)), "the empty mount point");
    mount("size=1m", &scratch.root());
    scratch.put("a.md", "another disk");
    assert_eq!(scratch.read("a.md").unwrap(), b"another disk");
}

/// A folder of the vault may be another disk; a rename across disks would fail, and the new file is never on another.
#[test]
fn a_disk_mounted_inside_the_vault_is_part_of_it() {
    if !OWN_MOUNTS.reached(a_disk_mounted_inside_the_vault_is_part_of_it) {
        return;
    }
    let scratch = Scratch::with(&[("a.md", "a")]);
    std::fs::create_dir(scratch.at("disk")).unwrap();
    mount("size=1m", &scratch.at("disk"));
    scratch.commit(create("disk/deep/b.md", "one")).unwrap();
    scratch.commit(scratch.plan("disk/deep/b.md", "two")).unwrap();
    assert_eq!(scratch.bytes("disk/deep/b.md"), b"two");
    scratch.link("link.md", "disk/deep/b.md");
    scratch.commit(scratch.plan("link.md", "three")).unwrap();
    assert_eq!(scratch.bytes("disk/deep/b.md"), b"three");
}

fn set_mode(scratch: &Scratch, path: &str, mode: u32) {
    std::fs::set_permissions(scratch.at(path), std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn operations_that_the_system_forbids_are_reported_and_not_done() {
    if geteuid().is_root() && !NO_PRIVILEGES.reached(operations_that_the_system_forbids_are_reported_and_not_done) {
        return;
    }
    let scratch = Scratch::with(&[("unreadable.md", "x"), ("locked/a.md", "a"), ("dark/b.md", "b"), ("free.md", "f")]);
    let change = scratch.plan("locked/a.md", "new");
    set_mode(&scratch, "locked", 0o555);
    scratch.refuses(change, StoreError::NotPermitted);
    scratch.refuses(create("locked/new.md", "x"), StoreError::NotPermitted);
    scratch.refuses(create("locked/deep/new.md", "x"), StoreError::NotPermitted);
    assert_eq!(scratch.read("locked/a.md").unwrap(), b"a");

    set_mode(&scratch, "unreadable.md", 0o000);
    set_mode(&scratch, "dark", 0o000);
    let forbidden = ReadError::Store(StoreError::NotPermitted);
    assert_eq!(scratch.read("unreadable.md"), Err(forbidden.clone()));
    assert_eq!(scratch.read("dark/b.md"), Err(forbidden.clone()));
    assert_eq!(scratch.list("dark"), Err(forbidden));
    assert_eq!(scratch.list("").unwrap(), ["dark/", "free.md", "locked/", "unreadable.md"]);
    // A link into a closed place reveals nothing about the system's permissions there.
    scratch.link("link.md", "dark/b.md");
    assert_eq!(scratch.read_as(&crate::scratch::deny(&["dark"]), "link.md"), Err(crate::scratch::missing()));
    // Otherwise the folder could not be cleaned up.
    set_mode(&scratch, "dark", 0o755);
    set_mode(&scratch, "locked", 0o755);
}

/// A folder that may be written but not read cannot be synced, so durability cannot be promised.
#[test]
fn a_change_that_the_disk_does_not_confirm_is_made_and_reported_as_uncertain() {
    if geteuid().is_root()
        && !NO_PRIVILEGES.reached(a_change_that_the_disk_does_not_confirm_is_made_and_reported_as_uncertain)
    {
        return;
    }
    let scratch = Scratch::with(&[("folder/a.md", "old")]);
    set_mode(&scratch, "folder", 0o300);
    assert_eq!(scratch.commit(scratch.plan("folder/a.md", "new")), Err(StoreError::Unsure));
    assert_eq!(scratch.bytes("folder/a.md"), b"new");
    assert_eq!(scratch.commit(create("folder/deep/b.md", "new")), Err(StoreError::Unsure));
    assert_eq!(scratch.bytes("folder/deep/b.md"), b"new");
    set_mode(&scratch, "folder", 0o755);
}

#[test]
fn a_batch_of_more_files_than_may_be_open_is_one_change() {
    if !FEW_FILES.reached(a_batch_of_more_files_than_may_be_open_is_one_change) {
        return;
    }
    let scratch = Scratch::fast();
    let names: Vec<String> = (0..500).map(|number| format!("folder {}/{number}.md", number % 300)).collect();
    names.iter().for_each(|name| scratch.put(name, "old"));
    let batch = |more: Option<Change>| {
        let changes = names.iter().map(|name| scratch.plan(name, "new")).chain(more).collect();
        let turn = scratch.vault.turn(&|| true).unwrap();
        turn.commit(&ChangeSet { changes }, &Scope::default(), &origin()).map_err(|error| error.error)
    };
    // A failure at the very end is rolled back to the start.
    let (path, before) = (vault_path(&names[499]), known("something else"));
    let stale = Change::Write { path, before, guard: ContentGuard::Plan, content: b"newer".to_vec().into() };
    let everything = scratch.everything();
    assert_eq!(batch(Some(stale)), Err(StoreError::Changed { found: lapidary_note::ContentHash::of(b"new") }));
    assert!(scratch.everything() == everything, "something is left");
    batch(None).unwrap();
    assert!(names.iter().all(|name| scratch.bytes(name) == b"new"));
    assert_eq!(scratch.everything().len(), 1 + 300 + 500, "no temporary file stays");
}

#[test]
fn a_file_larger_than_memory_is_an_error_and_not_the_end() {
    if !LITTLE_MEMORY.reached(a_file_larger_than_memory_is_an_error_and_not_the_end) {
        return;
    }
    let scratch = Scratch::with(&[("a.md", "old")]);
    let change = scratch.plan("a.md", "new");
    std::fs::File::create(scratch.at("a.md")).unwrap().set_len(1 << 36).unwrap();
    let out_of_memory = StoreError::Disk { kind: std::io::ErrorKind::OutOfMemory };
    assert_eq!(scratch.read("a.md"), Err(ReadError::Store(out_of_memory.clone())));
    // A change does not even try, as no plan was ever made on a file of this size.
    assert!(matches!(scratch.commit(change), Err(StoreError::TooLarge { .. })));
    assert_eq!(std::fs::metadata(scratch.at("a.md")).unwrap().len(), 1 << 36);
}

/// A missing place for the state does not mean that the vault is gone.
#[test]
fn a_state_folder_that_cannot_be_made_is_called_that() {
    let scratch = Scratch::with(&[("a.md", "old")]);
    let vault = open_vault(&scratch.root(), Path::new("/proc/nowhere/state"));
    assert_eq!(vault.turn(&|| true).err(), Some(TurnError::NoState));
    std::fs::remove_dir_all(scratch.root()).unwrap();
    assert_eq!(scratch.second_server().turn(&|| true).err(), Some(TurnError::VaultGone));
}

/// Two large changes exceed many small ones, and are not kept as long.
#[test]
fn old_contents_do_not_pile_up_behind_large_changes() {
    let scratch = Scratch::new();
    let store = FolderStore::new(scratch.root());
    let state = StateFolder::new(scratch.state().to_owned(), scratch.root());
    let retention = Retention { bytes: 20 << 20, ..Retention::default() };
    let limits = VaultLimits { retention, ..VaultLimits::default() };
    let vault = Vault::shared("v".to_owned(), Arc::new(store), &Arc::new(state), Policy::default(), limits);
    let mut random = Random::new(7);
    let mut text = || -> Vec<u8> { (0..17 << 20).map(|_| random.below(256) as u8).collect() };
    scratch.put("a.md", text());
    for _ in 0..3 {
        let view = vault.view(Arc::default(), NO_LIMIT);
        let set = ChangeSet::one(write(&view, "a.md", text()));
        vault.turn(&|| true).unwrap().commit(&set, &Scope::default(), &origin()).unwrap();
    }
    let view = vault.view(Arc::default(), NO_LIMIT);
    let kept = view.checkpoints(None, None, 10).unwrap().checkpoints;
    assert_eq!(kept.len(), 1, "the newest stays");
    assert!(view.old_content(&kept[0].entries[0]).unwrap().is_some());
}

#[test]
fn a_rule_file_without_rights_closes_the_vault() {
    if !NO_PRIVILEGES.reached(a_rule_file_without_rights_closes_the_vault) {
        return;
    }
    let scratch = Scratch::with(&[("a.md", ""), (".lapidaryignore", "a.md")]);
    let scope = || scratch.vault.scope(std::time::SystemTime::now() + std::time::Duration::from_secs(10));
    assert!(scope().is_ok());
    let allow = |mode| std::fs::set_permissions(scratch.at(".lapidaryignore"), PermissionsExt::from_mode(mode));
    allow(0o000).unwrap();
    let denied =
        RulesError::Unreadable { file: ".lapidaryignore", problem: RuleProblem::Store(StoreError::NotPermitted) };
    assert_eq!(scope().unwrap_err(), denied);
    allow(0o600).unwrap();
    assert!(scope().is_ok());
}
