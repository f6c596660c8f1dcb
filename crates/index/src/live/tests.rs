//! Tests that the index is current at every call, on real folders.

#![expect(clippy::disallowed_methods, reason = "the tests change vaults behind our back")]

mod caches;
mod followed;
mod shaky;
mod steps;

use std::{fs, path::Path, sync::atomic::Ordering};

use lapidary_note::steps_of;
use lapidary_store::{
    Policy,
    posix::{FolderStore, PosixBackend},
};
use tempfile::TempDir;

use super::*;
use shaky::{Condition, Shaky};

fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

fn followed(backend: impl Backend + 'static) -> VaultIndex {
    VaultIndex::new(Arc::new(backend), FolderNames::new(&["node_modules"]), VaultLimits::default(), None)
}

fn live(folder: FolderStore) -> VaultIndex {
    followed(PosixBackend::private(Arc::new(folder)))
}

fn rebuilt(root: &Path) -> String {
    live(FolderStore::new(root.to_owned())).notes(&|| true).unwrap().described()
}

#[test]
fn a_change_of_another_program_is_seen_at_once_thousands_of_times() {
    let folder = scratch();
    fs::create_dir_all(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("target.md"), "").unwrap();
    let backend = Shaky::new(folder.path(), 0);
    let looked_at_everything = backend.looked_at_everything();
    let live = followed(backend);
    live.notes(&|| true).unwrap();
    let target = VaultPath::parse("target.md").unwrap();
    for round in 0..3000 {
        let path = folder.path().join(format!("sub/{}.md", round % 7));
        let linked = round % 2 == 0;
        // Both texts have the same size, and most rounds are within one tick of the clock.
        fs::write(&path, if linked { "[[target]]" } else { "[[notgat]]" }).unwrap();
        let snapshot = live.notes(&|| true).unwrap();
        let name = VaultPath::parse(&format!("sub/{}.md", round % 7)).unwrap();
        let mentions = snapshot.mentioning(&target).any(|state| state.path == name);
        assert_eq!(mentions, linked, "round {round}");
    }
    // And without checking every file each time.
    assert_eq!(looked_at_everything.load(Ordering::Relaxed), 1);
}

#[test]
fn without_a_watch_a_change_within_one_tick_of_the_clock_is_seen() {
    let folder = scratch();
    let (path, target) = (folder.path().join("a.md"), VaultPath::parse("target.md").unwrap());
    fs::write(&path, "[[target]]").unwrap();
    let backend = Shaky::new(folder.path(), 0);
    *backend.condition().lock().unwrap() = Condition::Blind;
    let live = followed(backend);
    for round in 0..300 {
        let linked = round % 2 == 0;
        // In place: neither size nor inode differ, and most rounds are within one tick.
        fs::write(&path, if linked { "[[target]]" } else { "[[notgat]]" }).unwrap();
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
fn a_cancelled_build_continues_where_it_stopped() {
    use std::sync::atomic::AtomicUsize;
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

#[test]
fn texts_and_everything_else_can_rest() {
    let folder = scratch();
    fs::write(folder.path().join("a.md"), "[[b]]").unwrap();
    let live = live(FolderStore::new(folder.path().to_owned()));
    let snapshot = live.notes(&|| true).unwrap();
    let states: Vec<Arc<FileState>> = snapshot.files().cloned().collect();
    let loaded = live.load_texts(&states, &TextTable::default(), &|| true);
    assert_eq!(loaded.text(&states[0]).map(|text| &**text), Some(&b"[[b]]"[..]));
    assert_eq!((live.texts().bytes(), live.texts().text(&states[0]).is_some()), (5, true));
    live.drop_texts();
    assert_eq!((live.texts().bytes(), live.texts().text(&states[0]).is_none()), (0, true));
    assert!(live.texts().get(&states[0]).is_some(), "when it was read is remembered, as it was written just now");
    assert!(loaded.text(&states[0]).is_some(), "a search keeps its own snapshot");
    assert!(live.drop_all());
    assert_eq!(live.newest().len(), 0);
    assert!(!live.drop_all(), "nothing is left to forget");
    fs::write(folder.path().join("b.md"), "").unwrap();
    assert_eq!(live.notes(&|| true).unwrap().described(), rebuilt(folder.path()));
    assert!(live.drop_all(), "it was used again");
}

#[test]
fn no_text_is_kept_while_memory_is_spared() {
    let folder = scratch();
    fs::write(folder.path().join("a.md"), "[[b]]").unwrap();
    let live = live(FolderStore::new(folder.path().to_owned()));
    let states: Vec<Arc<FileState>> = live.files(&|| true).unwrap().files().cloned().collect();
    let load = || live.load_texts(&states, &TextTable::default(), &|| true);
    load();
    let spared = live.spare_memory();
    let again = live.spare_memory();
    assert_eq!((live.texts().bytes(), load().bytes(), live.texts().bytes()), (0, 0, 0));
    let text = live.source().text(&states[0]);
    assert_eq!(text.as_deref(), Some(&b"[[b]]"[..]), "it is read when it is needed");
    drop(spared);
    assert_eq!(load().bytes(), 0, "there is other work that needs it");
    drop(again);
    assert_eq!((load().bytes(), live.texts().bytes()), (5, 5));
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
fn a_note_of_very_many_tags_and_links_is_read_in_no_time() {
    let folder = scratch();
    let text: String = (0..60_000).map(|number| format!("#tag{number} [[n{number}]]\n")).collect();
    fs::write(folder.path().join("a.md"), text).unwrap();
    let live = live(FolderStore::new(folder.path().to_owned()));
    let target = VaultPath::parse("n59999.md").unwrap();
    assert_eq!(live.notes(&|| true).unwrap().mentioning(&target).count(), 1);
}

#[test]
fn backlinks_right_after_a_change_are_found_without_walking_all_files() {
    let folder = scratch();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    (0..500).for_each(|number| write(&format!("{number:03}.md"), "[[Other]]"));
    write("Target.md", "");
    write("Kept.md", "[[target]]");
    write("Former.md", "[[target]]");
    write("Board.canvas", r#"{ "nodes": [{ "type": "file", "file": "Target.md" }] }"#);
    let live = Arc::new(live(FolderStore::new(folder.path().to_owned())));
    live.notes(&|| true).unwrap();
    write("Former.md", "[[other]]");
    write("New.md", "[[Target|t]]");
    let snapshot = live.files(&|| true).unwrap();
    assert_eq!(snapshot.pending().len(), 2);
    let files = VisibleFiles::new(Arc::clone(&live), Arc::new(Scope::from(Policy::default())), snapshot);
    let target = VaultPath::parse("Target.md").unwrap();
    let (sources, steps) = steps_of(|| {
        let backlinks = files.find_backlinks(&target, &|| true).unwrap();
        let notes = backlinks.iter().map(|backlink| backlink.source.to_string());
        let canvases = files.canvases_mentioning(&target, &|| true).unwrap();
        notes.chain(canvases.into_iter().map(|(path, _)| path.to_string())).collect::<Vec<_>>()
    });
    assert_eq!(sources, ["Kept.md", "New.md", "Board.canvas"]);
    // A walk over the files counts sixteen for each.
    assert!(steps < 500, "{steps}");
}
