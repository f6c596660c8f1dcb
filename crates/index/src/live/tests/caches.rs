//! Tests of the cache of digests across restarts.

use std::{fs, path::Path};

use lapidary_store::posix::StateFolder;

use super::{super::*, rebuilt, scratch, shaky::Shaky};
use crate::{digest::FORMAT, posix::CacheFile};

/// A vault whose clock says that its files settled long ago, and its cache.
fn cached(root: &Path, state: &Path, ahead: i64) -> VaultIndex {
    let store = Shaky::new(root, ahead);
    let cache = IndexCache::new(CacheFile::new(Arc::new(StateFolder::new(state.to_owned(), root.to_owned()))));
    VaultIndex::new(Arc::new(store), FolderNames::default(), VaultLimits::default(), Some(cache))
}

const MINUTE: i64 = 60_000_000_000;

/// How many notes have a digest before any of them is read.
fn recalled(live: &VaultIndex) -> usize {
    let snapshot = live.files(&|| true).unwrap();
    live.cache.as_ref().unwrap().recall(&snapshot, usize::MAX);
    snapshot.files().filter(|state| state.digest().is_some()).count()
}

#[test]
fn digests_of_unchanged_notes_are_known_at_the_next_start() {
    let (folder, state) = (scratch(), scratch());
    for number in 0..600 {
        fs::write(folder.path().join(format!("{number}.md")), format!("[[{}]] #t{number}", number + 1)).unwrap();
    }
    let first = cached(folder.path(), state.path(), MINUTE);
    first.notes(&|| true).unwrap();
    assert!(first.is_unsaved());
    first.save();
    assert!(!first.is_unsaved());
    assert_eq!(recalled(&cached(folder.path(), state.path(), MINUTE)), 600);

    fs::write(folder.path().join("1.md"), "other").unwrap();
    fs::remove_file(folder.path().join("2.md")).unwrap();
    fs::write(folder.path().join("new.md"), "[[1]]").unwrap();
    let second = cached(folder.path(), state.path(), MINUTE);
    assert_eq!(recalled(&second), 598);
    assert_eq!(second.notes(&|| true).unwrap().described(), rebuilt(folder.path()));
    // The two new ones are added to the others.
    second.save();
    let third = cached(folder.path(), state.path(), MINUTE);
    assert_eq!(recalled(&third), 600);
    assert_eq!(third.notes(&|| true).unwrap().described(), rebuilt(folder.path()));
}

#[test]
fn nothing_of_the_cache_stays_in_memory_but_the_digests_in_use() {
    let (folder, state) = (scratch(), scratch());
    let write = |number: usize, text: &str| fs::write(folder.path().join(format!("{number}.md")), text).unwrap();
    (0..300).for_each(|number| write(number, &format!("[[{number}]] #before")));
    let first = cached(folder.path(), state.path(), MINUTE);
    first.notes(&|| true).unwrap();
    first.save();
    (1..300).for_each(|number| write(number, "changed since"));
    let second = cached(folder.path(), state.path(), MINUTE);
    assert_eq!(recalled(&second), 1);
    let snapshot = second.files(&|| true).unwrap();
    let digest = snapshot.files().find_map(|state| state.digest()).unwrap();
    assert_eq!(digest.kept(), digest.len());
}

#[test]
fn a_note_that_was_read_right_after_a_change_is_read_again_at_the_next_start() {
    let (folder, state) = (scratch(), scratch());
    for number in 0..300 {
        fs::write(folder.path().join(format!("{number}.md")), "[[a]]").unwrap();
    }
    let first = cached(folder.path(), state.path(), 0);
    first.notes(&|| true).unwrap();
    first.save();
    assert_eq!(recalled(&cached(folder.path(), state.path(), 0)), 0);
}

#[test]
fn a_cache_that_is_damaged_old_or_of_another_vault_makes_no_wrong_answers() {
    let (folder, state) = (scratch(), scratch());
    for number in 0..300 {
        fs::write(folder.path().join(format!("{number}.md")), format!("[[{}]]", number + 1)).unwrap();
    }
    let truth = rebuilt(folder.path());
    let save = || {
        let live = cached(folder.path(), state.path(), MINUTE);
        assert_eq!(live.notes(&|| true).unwrap().described(), truth);
        live.cache.as_ref().unwrap().changed();
        live.save();
        assert_eq!(recalled(&cached(folder.path(), state.path(), MINUTE)), 300);
    };
    let file = || {
        let vault = fs::read_dir(state.path()).unwrap().next().unwrap().unwrap().path();
        vault.join("index.db")
    };
    type Damage<'a> = &'a dyn Fn(&Path);
    let damages: [(&str, Damage<'_>); 5] = [
        ("a letter of a note", &|path| {
            let database = rusqlite::Connection::open(path).unwrap();
            database.execute("UPDATE digests SET bytes = CAST(replace(bytes, '7', '8') AS BLOB)", []).unwrap();
        }),
        ("an older format", &|path| {
            let database = rusqlite::Connection::open(path).unwrap();
            database.pragma_update(None, "user_version", FORMAT - 1).unwrap();
        }),
        ("something else", &|path| fs::write(path, "not a database at all".repeat(300)).unwrap()),
        ("nothing", &|path| fs::write(path, "").unwrap()),
        ("half of it", &|path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        }),
    ];
    for (what, damage) in damages {
        save();
        damage(&file());
        let live = cached(folder.path(), state.path(), MINUTE);
        assert_eq!(live.notes(&|| true).unwrap().described(), truth, "{what}");
    }
    save();
}

#[test]
fn an_unreadable_note_is_read_once_it_becomes_readable() {
    let (folder, state) = (scratch(), scratch());
    for number in 0..300 {
        fs::write(folder.path().join(format!("{number}.md")), "[[a]]").unwrap();
    }
    fs::write(folder.path().join("big.md"), format!("[[target]] {}", "x".repeat(2000))).unwrap();
    let with_limit = |max_file_bytes| {
        let mut live = cached(folder.path(), state.path(), MINUTE);
        live.limits.max_file_bytes = max_file_bytes;
        live
    };
    let target = VaultPath::parse("target.md").unwrap();
    for (limit, mentions) in [(1000, 0), (10_000, 1), (1000, 1)] {
        let live = with_limit(limit);
        let found = live.notes(&|| true).unwrap().mentioning(&target).count();
        assert_eq!(found, mentions, "{limit}");
        live.save();
    }
}
