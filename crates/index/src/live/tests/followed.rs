//! Tests of files behind followed links.

use std::{fs, sync::atomic::Ordering};

use lapidary_store::posix::FolderStore;

use super::{super::*, followed, live, scratch, shaky::Shaky};

#[test]
fn files_behind_a_followed_link_are_part_of_the_vault() {
    let around = scratch();
    let (vault, work, other) = (around.path().join("vault"), around.path().join("work"), around.path().join("other"));
    for folder in [&vault, &work, &other] {
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(folder.join("sub/a.md"), "[[target]]").unwrap();
    }
    fs::write(vault.join("target.md"), "").unwrap();
    std::os::unix::fs::symlink(&work, vault.join("linked")).unwrap();
    std::os::unix::fs::symlink(&other, vault.join("unnamed")).unwrap();
    let backend = Shaky::of(FolderStore::new(vault.clone()).following(vec![work.clone()]), 0);
    let looked_at_everything = backend.looked_at_everything();
    let live = followed(backend);
    let paths = |live: &VaultIndex| {
        let snapshot = live.notes(&|| true).unwrap();
        snapshot.files().map(|state| state.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&live), ["linked/sub/a.md", "sub/a.md", "target.md"]);
    let target = VaultPath::parse("target.md").unwrap();
    let mentions = || live.notes(&|| true).unwrap().mentioning(&target).count();
    assert_eq!(mentions(), 2);
    // Also seen there at once, even in a new folder, and when the link is removed.
    fs::write(work.join("sub/a.md"), "[[notgat]]").unwrap();
    assert_eq!(mentions(), 1);
    fs::create_dir_all(work.join("new/deep")).unwrap();
    fs::write(work.join("new/deep/b.md"), "[[target]]").unwrap();
    assert_eq!(mentions(), 2);
    fs::rename(work.join("new"), work.join("renamed")).unwrap();
    assert_eq!(paths(&live), ["linked/renamed/deep/b.md", "linked/sub/a.md", "sub/a.md", "target.md"]);
    assert_eq!(looked_at_everything.load(Ordering::Relaxed), 1, "by the watch");
    fs::remove_file(vault.join("linked")).unwrap();
    assert_eq!(paths(&live), ["sub/a.md", "target.md"]);
    std::os::unix::fs::symlink(&work, vault.join("back")).unwrap();
    assert_eq!(paths(&live), ["back/renamed/deep/b.md", "back/sub/a.md", "sub/a.md", "target.md"]);
    // A single file behind a link is seen as well, by scanning.
    std::os::unix::fs::symlink(work.join("sub/a.md"), vault.join("one.md")).unwrap();
    assert_eq!(paths(&live)[2], "one.md");
    fs::write(work.join("sub/a.md"), "[[target]]").unwrap();
    assert_eq!(mentions(), 4);
}

#[test]
fn a_folder_behind_two_links_or_replaced_behind_one_is_seen_to_change() {
    let around = scratch();
    let (vault, work) = (around.path().join("vault"), around.path().join("work"));
    fs::create_dir_all(&vault).unwrap();
    fs::create_dir_all(work.join("sub")).unwrap();
    let names = |live: &VaultIndex| {
        let snapshot = live.notes(&|| true).unwrap();
        snapshot.files().map(|state| state.path.to_string()).collect::<Vec<_>>()
    };
    std::os::unix::fs::symlink(work.join("sub"), vault.join("one")).unwrap();
    let live = live(FolderStore::new(vault.clone()).following(vec![work.clone()]));
    assert!(names(&live).is_empty());
    fs::rename(work.join("sub"), work.join("old")).unwrap();
    fs::create_dir(work.join("sub")).unwrap();
    fs::write(work.join("sub/new.md"), "").unwrap();
    assert_eq!(names(&live), ["one/new.md"]);
    std::os::unix::fs::symlink(work.join("sub"), vault.join("two")).unwrap();
    assert_eq!(names(&live), ["one/new.md", "two/new.md"]);
    fs::write(work.join("sub/b.md"), "").unwrap();
    assert_eq!(names(&live), ["one/b.md", "one/new.md", "two/b.md", "two/new.md"]);
    // A link to a link does not get around the rules for the first.
    std::os::unix::fs::symlink("one", vault.join("three")).unwrap();
    assert_eq!(names(&live), ["one/b.md", "one/new.md", "two/b.md", "two/new.md"]);
}
