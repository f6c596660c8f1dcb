#![expect(clippy::disallowed_methods, reason = "the tests change vaults behind our back")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
};

use cap_std::fs::Dir;
use lapidary_note::ContentHash;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::{
    index::digest::FORMAT,
    store::{CacheFile, Entry, Events, FolderStore, Open, Stamp, StateFolder, StoredFile},
};

/// What another program, or we ourselves, may do to a vault.
#[derive(Clone, Debug)]
enum Step {
    Write {
        path: usize,
        content: usize,
    },
    /// In place, of equal size, with the old time set back.
    Disguise {
        path: usize,
    },
    Append {
        path: usize,
    },
    SaveByRename {
        path: usize,
        content: usize,
    },
    Delete {
        path: usize,
    },
    Rename {
        from: usize,
        to: usize,
    },
    MakeFolders {
        folder: usize,
    },
    RenameFolder {
        from: usize,
        to: usize,
    },
    DeleteFolder {
        folder: usize,
    },
    Link {
        path: usize,
    },
    /// Asks, with the events in this condition.
    Ask(Condition),
}

#[derive(Clone, Copy, Debug)]
enum Condition {
    Whole,
    /// Some are lost, and the system says so.
    Lossy(u64),
    /// Some come only the next time.
    Late(u64),
}

const PATHS: &[&str] = &[
    "a.md",
    "b.md",
    "A.md",
    "img.png",
    "one/a.md",
    "one/two/a.md",
    "one/two/b.md",
    "one/c.txt",
    "three/a.md",
    "three/x/y.md",
    "node_modules/a.md",
    ".hidden/a.md",
    "Ünï.md",
];
const FOLDERS: &[&str] = &["one", "one/two", "three", "three/x", "four", "node_modules", ".hidden"];
const CONTENTS: &[&str] = &[
    "",
    "[[a]] #tag\n",
    "---\naliases: [q]\nup: \"[[b]]\"\n---\n# H\n[[one/a|x]] ![[img.png]]\n",
    "[t](two/b.md) [[A#H]] ^id\n",
    "[[Ünï]] [[nowhere]]\n- [ ] task\n",
];

fn step() -> impl Strategy<Value = Step> {
    let path = || 0..PATHS.len();
    let folder = || 0..FOLDERS.len();
    let content = || 0..CONTENTS.len();
    prop_oneof![
        4 => (path(), content()).prop_map(|(path, content)| Step::Write { path, content }),
        1 => path().prop_map(|path| Step::Disguise { path }),
        1 => path().prop_map(|path| Step::Append { path }),
        2 => (path(), content()).prop_map(|(path, content)| Step::SaveByRename { path, content }),
        2 => path().prop_map(|path| Step::Delete { path }),
        2 => (path(), path()).prop_map(|(from, to)| Step::Rename { from, to }),
        1 => folder().prop_map(|folder| Step::MakeFolders { folder }),
        3 => (folder(), folder()).prop_map(|(from, to)| Step::RenameFolder { from, to }),
        1 => folder().prop_map(|folder| Step::DeleteFolder { folder }),
        1 => path().prop_map(|path| Step::Link { path }),
        4 => prop_oneof![
            3 => Just(Condition::Whole),
            1 => any::<u64>().prop_map(Condition::Lossy),
            1 => any::<u64>().prop_map(Condition::Late),
        ].prop_map(Step::Ask),
    ]
}

/// A step may be impossible where the vault is; then nothing happens.
fn take(root: &Path, step: &Step) {
    let at = |path: &usize| root.join(PATHS[*path]);
    let folder = |folder: &usize| root.join(FOLDERS[*folder]);
    let write = |path: PathBuf, content: &[u8]| {
        fs::create_dir_all(path.parent().unwrap()).and_then(|()| fs::write(path, content))
    };
    let done = match step {
        Step::Write { path, content } => write(at(path), CONTENTS[*content].as_bytes()),
        Step::Disguise { path } => fs::read(at(path)).and_then(|bytes| {
            let modified = fs::metadata(at(path))?.modified()?;
            fs::write(at(path), bytes.iter().rev().copied().collect::<Vec<u8>>())?;
            fs::File::options().write(true).open(at(path))?.set_modified(modified)
        }),
        Step::Append { path } => {
            fs::read(at(path)).and_then(|bytes| fs::write(at(path), [&bytes[..], b"\n[[b]]"].concat()))
        }
        Step::SaveByRename { path, content } => {
            let temporary = root.join(".save.tmp");
            write(temporary.clone(), CONTENTS[*content].as_bytes()).and_then(|()| fs::rename(temporary, at(path)))
        }
        Step::Delete { path } => fs::remove_file(at(path)),
        Step::Rename { from, to } => fs::rename(at(from), at(to)),
        Step::MakeFolders { folder: made } => {
            fs::create_dir_all(folder(made)).and_then(|()| fs::write(folder(made).join("new.md"), "[[a]]"))
        }
        Step::RenameFolder { from, to } => fs::rename(folder(from), folder(to)),
        Step::DeleteFolder { folder: gone } => fs::remove_dir_all(folder(gone)),
        Step::Link { path } => std::os::unix::fs::symlink("a.md", at(path)),
        Step::Ask(_) => Ok(()),
    };
    drop(done);
}

/// A vault whose events can be held back and lost.
struct Shaky {
    inner: FolderStore,
    condition: Arc<Mutex<Condition>>,
    /// How far its clock is ahead of that of the files.
    ahead: i64,
}

struct ShakyWatch {
    inner: Box<dyn Watch>,
    condition: Arc<Mutex<Condition>>,
    late: Mutex<BTreeSet<VaultPath>>,
}

impl Watch for ShakyWatch {
    fn add(&self, folder: &Dir, path: Option<&VaultPath>) {
        self.inner.add(folder, path);
    }

    fn give_up(&self) {
        self.inner.give_up();
    }

    fn is_whole(&self) -> bool {
        self.inner.is_whole()
    }

    fn forget(&self, below: &VaultPath) {
        self.inner.forget(below);
    }

    fn events(&self) -> Events {
        let mut events = self.inner.events();
        let mut late = self.late.lock().unwrap();
        events.paths.append(&mut late);
        let chance = |path: &VaultPath, seed: u64| {
            ContentHash::of(format!("{seed}{path}").as_bytes())
                .to_string()
                .ends_with(['0', '1', '2', '3', '4', '5', '6', '7'])
        };
        match *self.condition.lock().unwrap() {
            Condition::Whole => {}
            Condition::Lossy(seed) => {
                let before = events.paths.len();
                events.paths.retain(|path| chance(path, seed));
                events.lost |= events.paths.len() < before;
            }
            Condition::Late(seed) => {
                late.extend(events.paths.iter().filter(|path| chance(path, seed)).cloned());
                events.paths.retain(|path| !late.contains(path));
            }
        }
        events
    }
}

impl Store for Shaky {
    fn read(&self, path: &VaultPath, max_bytes: u64, open: Open<'_>) -> Result<StoredFile, StoreError> {
        self.inner.read(path, max_bytes, open)
    }

    fn list(&self, folder: Option<&VaultPath>, open: Open<'_>) -> Result<Vec<Entry>, StoreError> {
        self.inner.list(folder, open)
    }

    fn stamp(&self, path: &VaultPath) -> Result<Option<Stamp>, StoreError> {
        self.inner.stamp(path)
    }

    fn replace(&self, path: &VaultPath, hash: &ContentHash, bytes: &[u8], open: Open<'_>) -> Result<(), StoreError> {
        self.inner.replace(path, hash, bytes, open)
    }

    fn create(&self, path: &VaultPath, bytes: &[u8], open: Open<'_>) -> Result<(), StoreError> {
        self.inner.create(path, bytes, open)
    }

    fn walk(&self, walk: &Walk<'_>) -> Result<Walked, StoreError> {
        self.inner.walk(walk)
    }

    fn look(&self, path: &VaultPath) -> Result<Found, StoreError> {
        self.inner.look(path)
    }

    fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<Stat, StoreError> {
        self.inner.load(path, max_bytes, into)
    }

    fn watch(&self) -> Option<Box<dyn Watch>> {
        let inner = self.inner.watch()?;
        Some(Box::new(ShakyWatch { inner, condition: Arc::clone(&self.condition), late: Mutex::default() }))
    }

    fn identity(&self) -> Result<u64, StoreError> {
        self.inner.identity()
    }

    fn now(&self) -> i64 {
        self.inner.now() + self.ahead
    }
}

fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

fn live(store: impl Store + 'static) -> Live {
    Live::new(Arc::new(store), FolderNames::new(&["node_modules"]), VaultLimits::default(), None)
}

fn rebuilt(root: &Path) -> String {
    live(FolderStore::new(root.to_owned())).notes(&|| true).unwrap().described()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn after_any_sequence_the_index_is_the_one_built_anew(steps in prop::collection::vec(step(), 1..40)) {
        let folder = scratch();
        let condition = Arc::new(Mutex::new(Condition::Whole));
        let store = Shaky {
            inner: FolderStore::new(folder.path().to_owned()),
            condition: Arc::clone(&condition),
            ahead: 0,
        };
        let live = live(store);
        for step in &steps {
            take(folder.path(), step);
            if let Step::Ask(asked) = step {
                *condition.lock().unwrap() = *asked;
                let found = live.notes(&|| true).unwrap().described();
                if !matches!(asked, Condition::Late(_)) {
                    prop_assert_eq!(found, rebuilt(folder.path()), "{:?}", steps);
                }
            }
        }
        *condition.lock().unwrap() = Condition::Whole;
        prop_assert_eq!(live.notes(&|| true).unwrap().described(), rebuilt(folder.path()), "{:?}", steps);
    }

    #[test]
    fn without_a_watch_it_is_the_same(steps in prop::collection::vec(step(), 1..30)) {
        let folder = scratch();
        let live = live(FolderStore::new(folder.path().to_owned()));
        for step in &steps {
            take(folder.path(), step);
            if matches!(step, Step::Ask(_)) {
                // As if the system had none to give.
                lock(&live.sync, &|| true).unwrap().watch = None;
                let found = live.notes(&|| true).unwrap().described();
                prop_assert_eq!(found, rebuilt(folder.path()), "{:?}", steps);
            }
        }
    }
}

#[test]
fn what_another_program_wrote_a_moment_ago_is_seen_thousands_of_times() {
    let folder = scratch();
    fs::create_dir_all(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("target.md"), "").unwrap();
    let live = live(FolderStore::new(folder.path().to_owned()));
    live.notes(&|| true).unwrap();
    let target = VaultPath::parse("target.md").unwrap();
    for round in 0..3000 {
        let path = folder.path().join(format!("sub/{}.md", round % 7));
        let linked = round % 2 == 0;
        // Both texts are of one size, and most rounds fall into one tick of the clock.
        fs::write(&path, if linked { "[[target]]" } else { "[[notgat]]" }).unwrap();
        let snapshot = live.notes(&|| true).unwrap();
        let name = VaultPath::parse(&format!("sub/{}.md", round % 7)).unwrap();
        let mentions = snapshot.mentioning(&target).any(|state| state.path == name);
        assert_eq!(mentions, linked, "round {round}");
    }
    // And without looking at every file each time.
    assert!(lock(&live.sync, &|| true).unwrap().watch.is_some());
}

#[test]
fn without_a_watch_a_change_within_one_tick_of_the_clock_is_seen() {
    let folder = scratch();
    let (path, target) = (folder.path().join("a.md"), VaultPath::parse("target.md").unwrap());
    fs::write(&path, "[[target]]").unwrap();
    let live = live(FolderStore::new(folder.path().to_owned()));
    for round in 0..300 {
        let linked = round % 2 == 0;
        // In place: neither size nor inode tell, and most rounds fall into one tick.
        fs::write(&path, if linked { "[[target]]" } else { "[[notgat]]" }).unwrap();
        lock(&live.sync, &|| true).unwrap().watch = None;
        let snapshot = live.notes(&|| true).unwrap();
        assert_eq!(snapshot.mentioning(&target).count(), usize::from(linked), "round {round}");
    }
}

#[test]
fn a_folder_that_is_replaced_is_opened_again() {
    let around = scratch();
    let root = around.path().join("vault");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a.md"), "[[b]]").unwrap();
    let live = live(FolderStore::new(root.clone()));
    assert_eq!(live.notes(&|| true).unwrap().len(), 1);
    fs::rename(&root, around.path().join("old")).unwrap();
    assert_eq!(live.notes(&|| true).map(|_| ()), Err(IndexError::Store(StoreError::VaultGone)));
    fs::create_dir(&root).unwrap();
    fs::write(root.join("b.md"), "").unwrap();
    fs::write(root.join("c.md"), "").unwrap();
    assert_eq!(live.notes(&|| true).unwrap().described(), rebuilt(&root));
}

#[test]
fn a_build_that_is_called_off_goes_on_where_it_stopped() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let folder = scratch();
    for number in 0..1000 {
        fs::write(folder.path().join(format!("{number}.md")), "[[0]]").unwrap();
    }
    let live = live(FolderStore::new(folder.path().to_owned()));
    let asked = AtomicUsize::new(0);
    let stopped = live.notes(&|| asked.fetch_add(1, Ordering::Relaxed) < 3);
    assert_eq!(stopped.map(|_| ()), Err(IndexError::Stopped));
    let done = live.newest().pending().iter().filter(|state| state.digest().is_some()).count();
    assert!(done < 1000, "{done}");
    assert_eq!(live.notes(&|| true).unwrap().described(), rebuilt(folder.path()));
}

/// A vault whose clock says that its files are long settled, and what was learnt of it before.
fn cached(root: &Path, state: &Path, ahead: i64) -> Live {
    let store =
        Shaky { inner: FolderStore::new(root.to_owned()), condition: Arc::new(Mutex::new(Condition::Whole)), ahead };
    let cache = Cache::new(CacheFile::new(Arc::new(StateFolder::new(state.to_owned(), root.to_owned()))));
    Live::new(Arc::new(store), FolderNames::default(), VaultLimits::default(), Some(cache))
}

const MINUTE: i64 = 60_000_000_000;

/// Of how many notes something is known before any of them is read.
fn recalled(live: &Live) -> usize {
    let snapshot = live.files(&|| true).unwrap();
    live.cache.as_ref().unwrap().recall(&snapshot, usize::MAX);
    snapshot.files().filter(|state| state.digest().is_some()).count()
}

#[test]
fn what_was_learnt_is_known_at_the_next_start_for_the_notes_that_are_the_same() {
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
    // The two new ones are written beside the others.
    second.save();
    let third = cached(folder.path(), state.path(), MINUTE);
    assert_eq!(recalled(&third), 600);
    assert_eq!(third.notes(&|| true).unwrap().described(), rebuilt(folder.path()));
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
        live.newest().files().for_each(|state| state.set_unsaved());
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
fn texts_and_everything_else_can_rest() {
    let folder = scratch();
    fs::write(folder.path().join("a.md"), "[[b]]").unwrap();
    let live = live(FolderStore::new(folder.path().to_owned()));
    let snapshot = live.notes(&|| true).unwrap();
    let states: Vec<Arc<FileState>> = snapshot.files().cloned().collect();
    live.load_texts(&states, &|| true);
    assert_eq!(states[0].text().as_deref(), Some(&b"[[b]]"[..]));
    live.drop_texts();
    assert!(states[0].text().is_none());
    live.drop_all();
    assert_eq!(live.newest().len(), 0);
    fs::write(folder.path().join("b.md"), "").unwrap();
    assert_eq!(live.notes(&|| true).unwrap().described(), rebuilt(folder.path()));
}

#[test]
fn what_lies_behind_a_followed_link_is_part_of_the_vault() {
    let around = scratch();
    let (vault, work, other) = (around.path().join("vault"), around.path().join("work"), around.path().join("other"));
    for folder in [&vault, &work, &other] {
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(folder.join("sub/a.md"), "[[target]]").unwrap();
    }
    fs::write(vault.join("target.md"), "").unwrap();
    std::os::unix::fs::symlink(&work, vault.join("linked")).unwrap();
    std::os::unix::fs::symlink(&other, vault.join("unnamed")).unwrap();
    let store = || FolderStore::new(vault.clone()).following(vec![work.clone()]);
    let live = live(store());
    let paths = |live: &Live| {
        let snapshot = live.notes(&|| true).unwrap();
        snapshot.files().map(|state| state.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&live), ["linked/sub/a.md", "sub/a.md", "target.md"]);
    let target = VaultPath::parse("target.md").unwrap();
    let mentions = || live.notes(&|| true).unwrap().mentioning(&target).count();
    assert_eq!(mentions(), 2);
    // Seen at once there too, also in a folder that was not there before, and when the link goes away.
    fs::write(work.join("sub/a.md"), "[[notgat]]").unwrap();
    assert_eq!(mentions(), 1);
    fs::create_dir_all(work.join("new/deep")).unwrap();
    fs::write(work.join("new/deep/b.md"), "[[target]]").unwrap();
    assert_eq!(mentions(), 2);
    fs::rename(work.join("new"), work.join("renamed")).unwrap();
    assert_eq!(paths(&live), ["linked/renamed/deep/b.md", "linked/sub/a.md", "sub/a.md", "target.md"]);
    assert!(lock(&live.sync, &|| true).unwrap().watch.is_some(), "by the watch");
    fs::remove_file(vault.join("linked")).unwrap();
    assert_eq!(paths(&live), ["sub/a.md", "target.md"]);
    std::os::unix::fs::symlink(&work, vault.join("back")).unwrap();
    assert_eq!(paths(&live), ["back/renamed/deep/b.md", "back/sub/a.md", "sub/a.md", "target.md"]);
    // A single file behind a link is seen as well, by looking.
    std::os::unix::fs::symlink(work.join("sub/a.md"), vault.join("one.md")).unwrap();
    assert_eq!(paths(&live)[2], "one.md");
    fs::write(work.join("sub/a.md"), "[[target]]").unwrap();
    assert_eq!(mentions(), 4);
}

#[test]
fn a_file_with_two_names_is_seen_to_change_by_either() {
    let folder = scratch();
    fs::write(folder.path().join("a.md"), "[[target]]").unwrap();
    fs::hard_link(folder.path().join("a.md"), folder.path().join("b.md")).unwrap();
    let live = live(FolderStore::new(folder.path().to_owned()));
    let target = VaultPath::parse("target.md").unwrap();
    let mentions = || live.notes(&|| true).unwrap().mentioning(&target).count();
    assert_eq!(mentions(), 2);
    fs::write(folder.path().join("a.md"), "[[notgat]]").unwrap();
    assert_eq!(mentions(), 0);
    fs::remove_file(folder.path().join("b.md")).unwrap();
    fs::hard_link(folder.path().join("a.md"), folder.path().join("c.md")).unwrap();
    fs::write(folder.path().join("c.md"), "[[target]]").unwrap();
    assert_eq!(mentions(), 2);
}

#[test]
fn a_folder_behind_two_links_or_replaced_behind_one_is_seen_to_change() {
    let around = scratch();
    let (vault, work) = (around.path().join("vault"), around.path().join("work"));
    fs::create_dir_all(&vault).unwrap();
    fs::create_dir_all(work.join("sub")).unwrap();
    let names = |live: &Live| {
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
    // A link to a link is no way around what closes the first.
    std::os::unix::fs::symlink("one", vault.join("three")).unwrap();
    assert_eq!(names(&live), ["one/b.md", "one/new.md", "two/b.md", "two/new.md"]);
}

#[test]
fn what_could_not_be_read_once_is_read_when_it_can_be() {
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

#[test]
fn a_note_of_very_many_tags_and_links_is_read_in_no_time() {
    let folder = scratch();
    let text: String = (0..60_000).map(|number| format!("#tag{number} [[n{number}]]\n")).collect();
    fs::write(folder.path().join("a.md"), text).unwrap();
    let live = live(FolderStore::new(folder.path().to_owned()));
    let target = VaultPath::parse("n59999.md").unwrap();
    assert_eq!(live.notes(&|| true).unwrap().mentioning(&target).count(), 1);
}
