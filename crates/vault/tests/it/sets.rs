//! Any set of changes does what a plain map would do, all of it or nothing, on disk and in memory alike; and its
//! checkpoint is enough to undo it.

use std::{collections::BTreeMap, sync::Arc};

use lapidary_vault::{
    Change, ChangeSet, Checkpoint, ContentGuard, Receipt, Scope, TrashKind, Vault, View,
    store::{Backend, MemoryStore, StoreError},
};
use proptest::prelude::*;

use crate::{
    scenarios::known,
    scratch::{Found, NO_LIMIT, Scratch, create, origin, vault_path},
};

/// Few files and folders, so that a set often returns to the same path.
const FILES: [&str; 8] = ["a.md", "b.md", "c.md", "x/a.md", "x/b.md", "x/y/a.md", "y/a.md", "y/z/c.md"];
const FOLDERS: [&str; 4] = ["x", "x/y", "y", "y/z"];

type Files = BTreeMap<String, Vec<u8>>;

#[derive(Clone, Debug)]
enum Wish {
    Write { path: usize, text: u8, stale: bool },
    Create { path: usize, text: u8 },
    Move { from: usize, to: usize, text: Option<u8>, stale: bool },
    Trash { path: usize, read: bool, stale: bool },
    Delete { path: usize, stale: bool },
}

/// Some changes, and at the end perhaps the move of a folder: later changes of the same set cannot name the contents of
/// the folder.
type Wishes = (Vec<Wish>, Option<usize>);

fn wishes() -> impl Strategy<Value = Wishes> {
    let path = || 0..FILES.len();
    let stale = || prop::bool::weighted(0.04);
    let wish = prop_oneof![
        3 => (path(), any::<u8>(), stale()).prop_map(|(path, text, stale)| Wish::Write { path, text, stale }),
        4 => (path(), any::<u8>()).prop_map(|(path, text)| Wish::Create { path, text }),
        3 => (path(), path(), prop::option::of(any::<u8>()), stale())
            .prop_map(|(from, to, text, stale)| Wish::Move { from, to, text, stale }),
        2 => (path(), any::<bool>(), stale()).prop_map(|(path, read, stale)| Wish::Trash { path, read, stale }),
        2 => (path(), stale()).prop_map(|(path, stale)| Wish::Delete { path, stale }),
    ];
    (prop::collection::vec(wish, 1..6), prop::option::weighted(0.2, 0..FOLDERS.len()))
}

/// A map that knows the effect of a change, and whether it can be made.
#[derive(Clone, Debug, Default)]
struct Model {
    files: Files,
    possible: bool,
}

impl Model {
    fn seen(&self, path: &str, stale: bool) -> Arc<lapidary_vault::File> {
        let there = self.files.get(path).cloned().unwrap_or_default();
        known(if stale { [&there[..], b"!"].concat() } else { there })
    }

    fn take(&mut self, path: &str, stale: bool) -> Vec<u8> {
        let taken = self.files.remove(path);
        self.possible &= taken.is_some() && !stale;
        taken.unwrap_or_default()
    }

    fn put(&mut self, path: &str, bytes: Vec<u8>) {
        self.possible &= self.files.insert(path.to_owned(), bytes).is_none();
    }

    /// Where Obsidian would put it.
    fn trash(&mut self, path: &str, bytes: Vec<u8>) {
        let (stem, _) = path.rsplit('/').next().unwrap().split_once('.').unwrap();
        let names = (1..).map(|number| match number {
            1 => format!(".trash/{stem}.md"),
            _ => format!(".trash/{stem} {number}.md"),
        });
        let free = names.into_iter().find(|name| !self.files.contains_key(name)).unwrap();
        self.put(&free, bytes);
    }

    /// The change that a request means now, applied here.
    fn change(&mut self, wish: &Wish) -> Change {
        let guard = ContentGuard::Plan;
        match *wish {
            Wish::Write { path, text, stale } => {
                let (path, before) = (FILES[path], self.seen(FILES[path], stale));
                self.take(path, stale);
                self.put(path, vec![text]);
                Change::Write { path: vault_path(path), before, guard, content: vec![text].into() }
            }
            Wish::Create { path, text } => {
                self.put(FILES[path], vec![text]);
                create(FILES[path], vec![text])
            }
            Wish::Move { from, to, text, stale } => {
                let (from, to, before) = (FILES[from], FILES[to], self.seen(FILES[from], stale));
                let old = self.take(from, stale);
                // A note cannot be moved to where it is.
                self.possible &= from != to;
                let bytes = text.map(|text| vec![text]);
                self.put(to, bytes.clone().unwrap_or(old));
                Change::Move {
                    from: vault_path(from),
                    to: vault_path(to),
                    before: Some(before),
                    guard,
                    content: bytes.map(Into::into),
                }
            }
            Wish::Trash { path, read, stale } => {
                let path = FILES[path];
                let before = read.then(|| self.seen(path, stale));
                let old = self.take(path, stale && read);
                self.trash(path, old);
                Change::Trash { path: vault_path(path), before, guard, trash: TrashKind::InVault }
            }
            Wish::Delete { path, stale } => {
                let (path, before) = (FILES[path], self.seen(FILES[path], stale));
                self.take(path, stale);
                Change::Delete { path: vault_path(path), before, guard: ContentGuard::Caller }
            }
        }
    }

    /// `None` for a folder without files: it may be on disk, left empty, and is unknown in memory.
    fn move_folder(&mut self, from: &str, to: &str) -> Option<Change> {
        let moved: Vec<String> =
            self.files.keys().filter(|path| path.starts_with(&format!("{from}/"))).cloned().collect();
        let change = (!moved.is_empty()).then(|| Change::MoveFolder { from: vault_path(from), to: vault_path(to) });
        for path in moved {
            let bytes = self.files.remove(&path).unwrap();
            self.files.insert(format!("{to}{}", &path[from.len()..]), bytes);
        }
        change
    }
}

fn commit(vault: &Vault, changes: Vec<Change>) -> Result<Receipt, StoreError> {
    let set = ChangeSet { changes };
    let done = vault.turn(&|| true).unwrap().commit(&set, &Scope::default(), &origin());
    done.map_err(|error| error.error)
}

fn view(vault: &Vault) -> View {
    vault.view(Arc::default(), NO_LIMIT)
}

fn on_disk(scratch: &Scratch) -> Files {
    let root = scratch.root();
    let name = |path: &std::path::Path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
    let files = scratch.everything().into_iter().filter_map(|(path, found)| match found {
        Found::File(bytes) => Some((name(&path), bytes)),
        _ => None,
    });
    files.collect()
}

fn in_memory(store: &MemoryStore, paths: impl Iterator<Item = String>) -> Files {
    paths.filter_map(|path| Some((path.clone(), store.bytes(&vault_path(&path))?))).collect()
}

/// Files of ours that were left in memory.
fn temporary_files(store: &MemoryStore) -> usize {
    let folders =
        [None, Some("x"), Some("x/y"), Some("y"), Some("y/z"), Some(".trash")].map(|path| path.map(vault_path));
    let moved = (0..8).map(|number| Some(vault_path(&format!("moved {number}"))));
    let entries = folders.into_iter().chain(moved).filter_map(|folder| store.list(folder.as_ref(), &|_| true).ok());
    entries.flatten().filter(|entry| entry.path.name().starts_with(".lapidary-")).count()
}

/// Restores what a checkpoint recorded, as a restore does; folders first.
fn undo(vault: &Vault, checkpoint: &Checkpoint) {
    let is_folder = |entry: &&lapidary_vault::store::EntryRecord| {
        entry.before.is_none() && entry.after.is_none() && entry.bytes_before == 0 && entry.moved_to.is_some()
    };
    let folders = checkpoint.entries.iter().filter(is_folder).filter(|entry| FOLDERS.contains(&entry.path.as_str()));
    for entry in folders.rev() {
        let (from, to) = (entry.moved_to.clone().unwrap(), entry.path.clone());
        commit(vault, vec![Change::MoveFolder { from, to }]).unwrap();
    }
    let view = view(vault);
    let mut before: BTreeMap<_, Option<Vec<u8>>> = BTreeMap::new();
    for entry in checkpoint.entries.iter().filter(|entry| !FOLDERS.contains(&entry.path.as_str())) {
        let old = || match (&entry.before, &entry.moved_to) {
            (Some(_), _) => Some(view.old_content(entry).unwrap().expect("it was kept")),
            // It was never read, and is in the trash.
            (None, Some(trashed)) => Some(view.read(trashed).unwrap().bytes().to_vec()),
            (None, None) => None,
        };
        before.entry(entry.path.clone()).or_insert_with(old);
    }
    let guard = ContentGuard::Plan;
    let back = before.into_iter().filter_map(|(path, old)| match (view.read(&path).ok(), old) {
        (Some(there), Some(bytes)) => Some(Change::Write { path, before: there, guard, content: bytes.into() }),
        (None, Some(bytes)) => Some(Change::Create { path, content: bytes.into() }),
        (Some(there), None) => Some(Change::Trash { path, before: Some(there), guard, trash: TrashKind::InVault }),
        (None, None) => None,
    });
    commit(vault, back.collect()).unwrap();
}

/// `LAPIDARY_MODEL_CASES` is how many sequences of sets are tried.
fn cases() -> u32 {
    std::env::var("LAPIDARY_MODEL_CASES").map_or(200, |cases| cases.parse().unwrap())
}

fn without_trash(files: &Files) -> Files {
    files
        .iter()
        .filter(|(path, _)| !path.starts_with(".trash/"))
        .map(|(path, text)| (path.clone(), text.clone()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sets_on_disk_in_memory_and_on_a_plain_map_agree(sets in prop::collection::vec(wishes(), 1..8), undone in any::<bool>()) {
        let scratch = Scratch::fast();
        let store = Arc::new(MemoryStore::default());
        let memory = Vault::private("memory".to_owned(), Arc::clone(&store) as Arc<_>);
        let mut model = Model { possible: true, ..Model::default() };
        for (number, (wishes, folder)) in sets.iter().enumerate() {
            let mut after = model.clone();
            let mut changes: Vec<Change> = wishes.iter().map(|wish| after.change(wish)).collect();
            // A name that never existed: empty folders stay on disk and are unknown in memory.
            changes.extend(folder.and_then(|folder| after.move_folder(FOLDERS[folder], &format!("moved {number}"))));
            let done = commit(&scratch.vault, changes.clone());
            prop_assert_eq!(done.is_ok(), after.possible, "disk and map: {:?}, {:?}", changes, done);
            let done_in_memory = commit(&memory, changes.clone());
            prop_assert_eq!(done_in_memory.is_ok(), after.possible, "memory and map: {:?}", changes);
            // Both report the same, except for the ids of their checkpoints.
            let said = |done: &Result<Receipt, StoreError>| done.as_ref().map(|done| (done.changed.clone(), done.checkpoint.is_some())).ok();
            prop_assert_eq!(said(&done), said(&done_in_memory), "disk and memory: {:?}", changes);
            let before = model.files.clone();
            if after.possible {
                model = after;
            }
            let paths = model.files.keys().chain(before.keys()).cloned().chain(FILES.map(str::to_owned));
            prop_assert_eq!(&in_memory(&store, paths), &model.files, "memory, {:?}", changes);
            prop_assert_eq!(&on_disk(&scratch), &model.files, "disk, {:?}", changes);
            prop_assert_eq!(temporary_files(&store), 0, "memory, {:?}", changes);
            if let (true, Ok(Receipt { checkpoint: Some(id), .. })) = (undone, done) {
                let checkpoint = view(&scratch.vault).checkpoint(&id).unwrap();
                let in_memory_id = done_in_memory.unwrap().checkpoint.unwrap();
                let checkpoint_in_memory = view(&memory).checkpoint(&in_memory_id).unwrap();
                prop_assert_eq!(&checkpoint_in_memory.entries, &checkpoint.entries, "kept, {:?}", changes);
                undo(&scratch.vault, &checkpoint);
                prop_assert_eq!(without_trash(&on_disk(&scratch)), without_trash(&before), "undone, {:?}", changes);
                undo(&memory, &checkpoint_in_memory);
                let paths = before.keys().chain(model.files.keys()).cloned().chain(FILES.map(str::to_owned));
                let undone_in_memory = in_memory(&store, paths);
                prop_assert_eq!(without_trash(&undone_in_memory), without_trash(&before), "undone, {:?}", changes);
                // The rest continues from here, with both.
                return Ok(());
            }
        }
        prop_assert!(scratch.vault.take_news().is_empty());
    }
}
