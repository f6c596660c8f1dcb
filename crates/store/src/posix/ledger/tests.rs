//! Tests of the ledger: durability, damage and retention.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::*;
use crate::{
    PathFilter,
    posix::{EntryRecord, StepObserver, StoreError},
};

const DAY: u64 = 24 * 60 * 60;

/// A state folder with a ledger in it.
struct Desk {
    around: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        // Durability does not matter here, and some tests sync a hundred times.
        let in_memory = Path::new("/dev/shm");
        let around = if in_memory.is_dir() { tempfile::tempdir_in(in_memory) } else { tempfile::tempdir() };
        Self { around: around.unwrap() }
    }

    fn keeping(&self, age: Duration, bytes: u64) -> Ledger {
        let state = StateFolder::new(self.around.path().join("state"), self.around.path().to_owned());
        Ledger::new(Arc::new(state), Retention { age, bytes })
    }

    /// One that never removes anything.
    fn ledger(&self) -> Ledger {
        self.keeping(Duration::MAX, u64::MAX)
    }

    fn folder(&self) -> PathBuf {
        let mut states = std::fs::read_dir(self.around.path().join("state")).unwrap();
        states.next().unwrap().unwrap().path()
    }

    fn file(&self) -> PathBuf {
        self.folder().join("checkpoints.db")
    }

    fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn path(path: &str) -> VaultPath {
    VaultPath::parse(path).unwrap()
}

fn at(days: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(days * DAY)
}

/// Text that does not shrink.
fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..bytes).map(next).collect()
}

fn begin(ledger: &Ledger, name: &str, old: &[u8], time: SystemTime) -> Result<(i64, String), LedgerError> {
    let (before, after) = (ContentHash::of(old), ContentHash::of(b"new"));
    let steps = [JournalStep::Replace { place: path(name), aside: ".aside".to_owned(), before, after }];
    let entry = EntryRecord {
        path: path(name),
        moved_to: None,
        before: Some(before),
        after: Some(after),
        bytes_before: old.len() as u64,
        bytes_after: 3,
    };
    let origin = ChangeOrigin {
        tool: "tool".to_owned(),
        client: "client".to_owned(),
        time,
        approval: None,
        call: None,
        restores: false,
    };
    ledger.begin(&Draft {
        origin: &origin,
        kind: CheckpointKind::Change,
        entries: vec![entry],
        steps: &steps,
        contents: vec![(before, old)],
    })
}

/// A change from start to end.
fn change(ledger: &Ledger, name: &str, old: &[u8], time: SystemTime) -> String {
    let (number, id) = begin(ledger, name, old, time).unwrap();
    let beside = OldFileRecord { position: 0, place: path(name), aside: None, gone: true };
    ledger.finish(number, &[beside]).unwrap();
    id
}

fn paths(ledger: &Ledger) -> Vec<String> {
    let found = ledger.checkpoints(&PathFilter::default(), 10_000).unwrap();
    found.iter().flat_map(|record| record.entries.iter().map(|entry| entry.path.to_string())).collect()
}

fn is_kept(ledger: &Ledger, content: &[u8]) -> bool {
    ledger.content(&ContentHash::of(content)).unwrap().as_deref() == Some(content)
}

fn late_save(ledger: &Ledger, name: &str, text: &[u8], time: SystemTime) -> String {
    let origin =
        ChangeOrigin { tool: String::new(), client: String::new(), time, approval: None, call: None, restores: false };
    ledger.keep_late_save(&path(name), text, &origin).unwrap()
}

#[test]
fn stored_changes_are_found_by_another_server() {
    let desk = Desk::new();
    let contents = [b"".to_vec(), b"short".to_vec(), vec![b'x'; 100_000], noise(1, 5_000)];
    for (number, content) in contents.iter().enumerate() {
        change(&desk.ledger(), &format!("{number}.md"), content, at(1));
    }
    let other = desk.ledger();
    assert_eq!(paths(&other), ["3.md", "2.md", "1.md", "0.md"]);
    assert!(contents.iter().all(|content| is_kept(&other, content)));
    let record = &other.checkpoints(&PathFilter::default(), 1).unwrap()[0];
    assert_eq!((record.tool.as_str(), record.client.as_str(), record.time), ("tool", "client", at(1)));
}

#[test]
fn a_change_in_progress_is_not_a_checkpoint_and_a_forgotten_one_never_becomes_one() {
    let desk = Desk::new();
    let ledger = desk.ledger();
    let (number, id) = begin(&ledger, "a.md", b"old", at(1)).unwrap();
    assert!(paths(&ledger).is_empty() && ledger.checkpoint(&id).unwrap().is_empty());
    let under_way = desk.ledger().under_way().unwrap();
    assert_eq!(under_way.iter().map(|intent| &*intent.id).collect::<Vec<_>>(), [&*id]);
    assert!(!ledger.is_settled().unwrap());
    ledger.forget(number, &[]).unwrap();
    assert!(ledger.is_settled().unwrap() && desk.ledger().under_way().unwrap().is_empty());
    assert!(paths(&ledger).is_empty());
}

#[test]
fn an_old_file_is_watched_until_it_is_gone_and_checked_once_after_a_start() {
    let ledger = Desk::new();
    let (desk, ledger) = (&ledger, ledger.ledger());
    let (number, _) = begin(&ledger, "a.md", b"old", at(1)).unwrap();
    ledger
        .finish(number, &[OldFileRecord { position: 0, place: path("moved/a.md"), aside: None, gone: false }])
        .unwrap();
    let lingering = ledger.lingering().unwrap();
    assert_eq!(lingering.iter().map(|lingering| lingering.place.as_str()).collect::<Vec<_>>(), ["moved/a.md"]);
    ledger.let_go(&lingering).unwrap();
    assert!(ledger.is_settled().unwrap() && ledger.lingering().unwrap().is_empty());
    assert_eq!(desk.ledger().removed().unwrap().len(), 1, "a power cut might bring it back");
    let places = || desk.ledger().removed().unwrap().into_iter().map(|removed| removed.place).collect::<Vec<_>>();
    (0..16).for_each(|_| drop(change(&ledger, "b.md", b"old", at(2))));
    assert!(places().iter().all(|place| *place == path("b.md")), "but not after a day: only the new ones are left");
}

#[test]
fn old_checkpoints_are_removed() {
    let desk = Desk::new();
    let ledger = desk.keeping(Duration::from_secs(10 * DAY), u64::MAX);
    for day in [1, 5, 9, 20] {
        change(&ledger, &format!("{day}.md"), format!("day {day}").as_bytes(), at(day));
    }
    ledger.prune(at(16)).unwrap();
    assert_eq!(paths(&ledger), ["20.md", "9.md"]);
    assert!(!is_kept(&ledger, b"day 1") && !is_kept(&ledger, b"day 5"));
    assert!(is_kept(&ledger, b"day 9") && is_kept(&ledger, b"day 20"));
}

#[test]
fn the_newest_checkpoint_is_always_kept() {
    let desk = Desk::new();
    let ledger = desk.keeping(Duration::from_secs(DAY), 1000);
    change(&ledger, "old.md", b"old", at(1));
    let large = noise(1, 50_000);
    change(&ledger, "large.md", &large, at(2));
    ledger.prune(at(100)).unwrap();
    assert_eq!(paths(&ledger), ["large.md"]);
    assert!(is_kept(&ledger, &large));
}

#[test]
fn excess_checkpoints_are_removed_oldest_first_and_the_file_shrinks() {
    let desk = Desk::new();
    let ledger = desk.keeping(Duration::MAX, 100_000);
    for number in 0..100 {
        change(&ledger, &format!("{number}.md"), &noise(number, 5_000), at(number));
    }
    let size = || std::fs::metadata(desk.file()).unwrap().len();
    ledger.with_database(|opened| opened.database.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")).unwrap();
    let before = size();
    ledger.prune(at(100)).unwrap();
    ledger.with_database(|opened| opened.database.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")).unwrap();
    let kept = paths(&ledger);
    assert!((5..=20).contains(&kept.len()), "{kept:?}");
    let newest: Vec<String> = (0..kept.len()).map(|back| format!("{}.md", 99 - back)).collect();
    assert_eq!(kept, newest);
    assert!(is_kept(&ledger, &noise(99, 5_000)) && !is_kept(&ledger, &noise(0, 5_000)));
    assert!(size() < before / 2, "{before} bytes before, {} after", size());
}

#[test]
fn a_text_that_two_checkpoints_share_stays_as_long_as_one_of_them() {
    let desk = Desk::new();
    let ledger = desk.keeping(Duration::from_secs(10 * DAY), u64::MAX);
    change(&ledger, "old.md", b"shared", at(1));
    change(&ledger, "young.md", b"shared", at(20));
    change(&ledger, "newest.md", b"other", at(21));
    ledger.prune(at(22)).unwrap();
    assert_eq!(paths(&ledger), ["newest.md", "young.md"]);
    assert!(is_kept(&ledger, b"shared"));
    ledger.prune(at(31)).unwrap();
    assert!(!is_kept(&ledger, b"shared"));
}

#[test]
fn changes_in_progress_watched_files_and_unreported_saves_are_kept() {
    let desk = Desk::new();
    let ledger = desk.keeping(Duration::from_secs(DAY), 10);
    begin(&ledger, "under way.md", b"one", at(1)).unwrap();
    let (number, _) = begin(&ledger, "held open.md", b"two", at(1)).unwrap();
    ledger
        .finish(number, &[OldFileRecord { position: 0, place: path("held open.md"), aside: None, gone: false }])
        .unwrap();
    late_save(&ledger, "late.md", b"three", at(1));
    change(&ledger, "done.md", b"four", at(1));
    change(&ledger, "newest.md", b"five", at(1));
    ledger.prune(at(1000)).unwrap();
    assert!([&b"one"[..], b"two", b"three", b"five"].iter().all(|content| is_kept(&ledger, content)));
    assert!(!is_kept(&ledger, b"four"));
    for record in ledger.untold().unwrap() {
        assert!(ledger.set_told(record.number).unwrap());
        assert!(!ledger.set_told(record.number).unwrap(), "told once");
    }
    ledger.prune(at(1000)).unwrap();
    assert!(!is_kept(&ledger, b"three"));
}

#[test]
fn a_late_save_is_kept_once_even_if_its_keeper_is_killed_and_kept_again_when_told() {
    let desk = Desk::new();
    let first = late_save(&desk.ledger(), "a.md", b"late", at(1));
    assert_eq!(late_save(&desk.ledger(), "a.md", b"late", at(1)), first);
    assert_ne!(late_save(&desk.ledger(), "b.md", b"late", at(1)), first);
    assert_ne!(late_save(&desk.ledger(), "a.md", b"later", at(1)), first);
    let ledger = desk.ledger();
    let untold = ledger.untold().unwrap();
    assert_eq!(untold.len(), 3);
    for record in untold {
        ledger.set_told(record.number).unwrap();
    }
    assert_ne!(late_save(&ledger, "a.md", b"late", at(2)), first);
}

/// Garbage over a part of the file.
fn damage(file: &Path, from: u64, bytes: usize) {
    use std::io::{Seek, SeekFrom, Write};
    let mut file = std::fs::File::options().write(true).open(file).unwrap();
    file.seek(SeekFrom::Start(from)).unwrap();
    file.write_all(&noise(7, bytes)).unwrap();
}

#[test]
fn a_damaged_file_is_moved_away_and_kept_and_the_next_write_works() {
    // At the start it shows when it is opened, further on only when that page is read.
    for from in [0, 4096, 12_288] {
        let desk = Desk::new();
        for number in 0..50 {
            change(&desk.ledger(), &format!("{number}.md"), &noise(number, 3000), at(1));
        }
        let length = std::fs::metadata(desk.file()).unwrap().len();
        damage(&desk.file(), from, 60_000);
        let ledger = desk.ledger();
        // As at the start of a turn; it may fail, and then the next one does not.
        let looked = ledger.is_settled().and_then(|_| ledger.under_way().map(|_| ()));
        if looked.is_err() || begin(&ledger, "a.md", b"old", at(2)).is_err() {
            begin(&ledger, "a.md", b"old", at(2)).unwrap();
        }
        assert!(is_kept(&ledger, b"old"));
        let moved = desk.folder().join("checkpoints.db.damaged-1");
        assert!(moved.exists(), "damage at {from} went unseen: {:?}", desk.names());
        assert!(std::fs::metadata(&moved).unwrap().len() >= length, "the rest is kept for people");
    }
}

#[test]
fn a_file_of_a_newer_version_is_not_touched_and_nothing_is_changed_without_it() {
    let desk = Desk::new();
    drop(change(&desk.ledger(), "a.md", b"old", at(1)));
    let set_format = |format: i64| {
        let database = Connection::open(desk.file()).unwrap();
        database.pragma_update(None, "user_version", format).unwrap();
    };
    set_format(3);
    let names = desk.names();
    let refused = begin(&desk.ledger(), "b.md", b"old", at(2)).unwrap_err();
    assert!(refused.to_string().contains("newer version"), "{refused}");
    assert_eq!(desk.names(), names, "it is not damaged");
    set_format(2);
    assert_eq!(paths(&desk.ledger()), ["a.md"]);
    set_format(1);
    assert!(paths(&desk.ledger()).is_empty(), "tables of a form that was never released are not read");
    assert!(desk.folder().join("checkpoints.db.damaged-1").exists());
}

#[test]
fn several_damaged_files_are_all_kept() {
    let desk = Desk::new();
    for round in 1..=3 {
        change(&desk.ledger(), "a.md", b"old", at(1));
        damage(&desk.file(), 0, 100);
        change(&desk.ledger(), "b.md", b"old", at(1));
        assert!(desk.folder().join(format!("checkpoints.db.damaged-{round}")).exists());
    }
}

#[test]
fn a_server_notices_that_the_file_was_moved_away_under_it() {
    let desk = Desk::new();
    let (one, other) = (desk.ledger(), desk.ledger());
    change(&one, "a.md", b"old", at(1));
    change(&other, "b.md", b"old", at(1));
    std::fs::rename(desk.file(), desk.folder().join("elsewhere.db")).unwrap();
    for ending in ["-wal", "-shm"] {
        std::fs::rename(desk.folder().join(format!("checkpoints.db{ending}")), desk.folder().join(ending)).unwrap();
    }
    // A journal that no server finds is useless.
    begin(&one, "c.md", b"old", at(1)).unwrap();
    assert_eq!(other.under_way().unwrap().len(), 1);
    assert_eq!(desk.ledger().under_way().unwrap().len(), 1);
}

#[test]
fn content_that_is_not_what_it_was_is_not_given_out() {
    let desk = Desk::new();
    let ledger = desk.ledger();
    let texts = [b"short".to_vec(), vec![b'y'; 10_000]];
    for text in &texts {
        change(&ledger, "a.md", text, at(1));
    }
    for spoil in ["packed = X'3D414243'", "packed = X'7A00'", "packed = X''", "size = 3", "size = -1"] {
        ledger.with_database(|opened| opened.database.execute_batch(&format!("UPDATE contents SET {spoil}"))).unwrap();
        for text in &texts {
            let found = ledger.content(&ContentHash::of(text)).unwrap();
            assert!(found.is_none() || found.as_deref() == Some(text), "{spoil}: wrong content");
        }
    }
}

#[test]
fn an_id_may_be_shortened_while_it_is_unique() {
    let desk = Desk::new();
    let ledger = desk.ledger();
    let ids: Vec<String> = (0..40).map(|_| change(&ledger, "a.md", b"old", at(1))).collect();
    for id in &ids {
        assert_eq!(id.len(), 16);
        for prefix in [id.as_str(), &id[..15], &id.to_ascii_uppercase()] {
            assert_eq!(ledger.checkpoint(prefix).unwrap().iter().map(|found| &found.id).collect::<Vec<_>>(), [id]);
        }
        let short = ledger.checkpoint(&id[..1]).unwrap();
        assert_eq!(short.len(), ids.iter().filter(|other| other.starts_with(&id[..1])).count().min(20));
    }
    for nonsense in ["", "g", "%", "_", "' OR 1=1 --", "0123456789abcdef0", "é"] {
        assert!(ledger.checkpoint(nonsense).unwrap().is_empty(), "{nonsense}");
    }
}

#[test]
fn the_history_of_a_path_is_that_of_the_path_and_of_what_is_in_it() {
    let desk = Desk::new();
    let ledger = desk.ledger();
    for name in ["a/one.md", "a/b/two.md", "ab.md", "a.md", "a0.md", "A/three.md"] {
        change(&ledger, name, name.as_bytes(), at(1));
    }
    let of = |name: &str| {
        let filter = PathFilter { paths: vec![path(name)], before: None };
        let found = ledger.checkpoints(&filter, 100).unwrap();
        found.iter().map(|record| record.entries[0].path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of("a"), ["a/b/two.md", "a/one.md"]);
    assert_eq!(of("a.md"), ["a.md"]);
    assert_eq!(of("a/b"), ["a/b/two.md"]);
    assert!(of("b").is_empty());
}

#[cfg(unix)]
#[test]
fn other_users_cannot_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let ledger = desk.ledger();
    change(&ledger, "a.md", b"private", at(1));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(desk.names(), ["checkpoints.db", "checkpoints.db-shm", "checkpoints.db-wal"]);
    for name in desk.names() {
        assert_eq!(mode(&desk.folder().join(&name)), 0o600, "{name}");
    }
    assert_eq!(mode(&desk.folder()), 0o700);
}

#[test]
fn servers_that_make_a_new_ledger_at_the_same_moment_share_it() {
    for _ in 0..30 {
        let desk = Desk::new();
        let start = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for server in 0..8 {
                let (desk, start) = (&desk, &start);
                scope.spawn(move || {
                    let ledger = desk.ledger();
                    start.wait();
                    change(&ledger, &format!("{server}.md"), b"old", at(1));
                });
            }
        });
        assert_eq!(paths(&desk.ledger()).len(), 8);
    }
}

#[test]
fn many_servers_write_down_what_they_do_at_once_and_nothing_is_missing() {
    let desk = Desk::new();
    std::thread::scope(|scope| {
        for server in 0..4 {
            let desk = &desk;
            scope.spawn(move || {
                let ledger = desk.ledger();
                for number in 0..25 {
                    change(&ledger, &format!("{server}-{number}.md"), format!("{server} {number}").as_bytes(), at(1));
                }
            });
        }
    });
    let ledger = desk.ledger();
    assert_eq!(paths(&ledger).len(), 100);
    assert!((0..4).all(|server| (0..25).all(|number| is_kept(&ledger, format!("{server} {number}").as_bytes()))));
    let numbers: Vec<i64> =
        ledger.checkpoints(&PathFilter::default(), 1000).unwrap().iter().map(|record| record.number).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] > pair[1]), "numbers are given once");
}

/// A ledger on whose disk something happens whenever it is to be synced.
fn watched(desk: &Desk, happens: impl Fn() -> Result<(), StoreError> + Send + Sync + 'static) -> Ledger {
    let observer: StepObserver = Arc::new(move |call| if call == "sync ledger" { happens() } else { Ok(()) });
    let state = StateFolder::new(desk.around.path().join("state"), desk.around.path().to_owned());
    Ledger::new(Arc::new(state.observed(observer)), Retention::default())
}

#[test]
fn a_failed_write_never_happened_and_the_next_does_not_build_on_it() {
    let desk = Desk::new();
    change(&desk.ledger(), "a.md", b"old", at(1));
    let left = Arc::new(AtomicUsize::new(0));
    let failures = Arc::clone(&left);
    let ledger = watched(&desk, move || {
        let fails = failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        if fails { Err(StoreError::Disk { kind: std::io::ErrorKind::Other }) } else { Ok(()) }
    });
    change(&ledger, "b.md", b"old", at(1));
    left.store(2, Ordering::Relaxed);
    for name in ["c.md", "d.md"] {
        begin(&ledger, name, b"old", at(1)).unwrap_err();
        assert!(ledger.is_settled().unwrap() && paths(&ledger) == ["b.md", "a.md"], "{name}");
    }
    begin(&ledger, "e.md", b"old", at(1)).unwrap();
    // The log may have a hole, so anything that must be durable is not only there.
    let log = desk.folder().join("checkpoints.db-wal");
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
    assert_eq!(desk.ledger().under_way().unwrap().len(), 1);
    begin(&ledger, "f.md", b"old", at(1)).unwrap();
    assert!(std::fs::metadata(&log).unwrap().len() > 0);
}

#[cfg(unix)]
#[test]
fn a_change_is_not_begun_in_a_file_that_is_not_there_any_more() {
    for taken in ["checkpoints.db", "checkpoints.db-wal"] {
        let desk = Desk::new();
        change(&desk.ledger(), "a.md", b"old", at(1));
        let file = desk.folder().join(taken);
        let (from, once) = (file.clone(), AtomicUsize::new(0));
        let ledger = watched(&desk, move || {
            if once.fetch_add(1, Ordering::Relaxed) == 1 {
                std::fs::rename(&from, from.with_extension("away")).unwrap();
            }
            Ok(())
        });
        change(&ledger, "b.md", b"old", at(1));
        begin(&ledger, "c.md", b"old", at(1)).unwrap_err();
        assert!(ledger.is_settled().unwrap(), "{taken}");
        begin(&ledger, "d.md", b"old", at(1)).unwrap();
        assert_eq!(desk.ledger().under_way().unwrap().len(), 1, "{taken}");
    }
}

#[test]
fn nothing_of_a_forgotten_change_comes_back_with_the_next_one() {
    let desk = Desk::new();
    let ledger = desk.ledger();
    change(&ledger, "before.md", b"older", at(1));
    let (number, forgotten) = begin(&ledger, "a.md", b"old", at(1)).unwrap();
    ledger.forget(number, &[]).unwrap();
    let (next, id) = begin(&ledger, "b.md", b"old", at(2)).unwrap();
    let under_way = ledger.under_way().unwrap();
    assert_eq!(under_way.iter().map(|intent| intent.steps.len()).collect::<Vec<_>>(), [1]);
    ledger.finish(next, &[]).unwrap();
    assert_eq!(paths(&ledger), ["b.md", "before.md"]);
    assert!(ledger.checkpoint(&forgotten).unwrap().is_empty() && ledger.checkpoint(&id).unwrap().len() == 1);
}

#[test]
fn looking_up_in_an_empty_state_folder_creates_nothing() {
    let desk = Desk::new();
    let ledger = desk.ledger();
    assert!(ledger.is_settled().unwrap() && ledger.is_empty().unwrap() && ledger.under_way().unwrap().is_empty());
    assert!(paths(&ledger).is_empty());
    ledger.prune(at(1)).unwrap();
    assert!(!desk.around.path().join("state").exists());
}

/// Some changes, and everything of them that a person would look for.
fn filled(desk: &Desk) -> Vec<String> {
    let ledger = desk.ledger();
    (0..40).for_each(|number| drop(change(&ledger, &format!("{number}.md"), &noise(number, 3_000), at(number))));
    let mut kept = paths(&ledger);
    kept.sort();
    kept
}

fn flip(file: &Path, at: usize) {
    let mut bytes = std::fs::read(file).unwrap();
    bytes[at] ^= 0x10;
    std::fs::write(file, bytes).unwrap();
}

fn copy_of(desk: &Desk) -> Vec<(PathBuf, Vec<u8>)> {
    let files = std::fs::read_dir(desk.folder()).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

fn put_back(desk: &Desk, files: &[(PathBuf, Vec<u8>)]) {
    std::fs::read_dir(desk.folder()).unwrap().for_each(|entry| std::fs::remove_file(entry.unwrap().path()).unwrap());
    files.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
}

/// One flipped byte after another, and what is left of the history.
fn after_flips(desk: &Desk, name: &str, least: usize, known: &[String]) {
    let files = copy_of(desk);
    let file = desk.folder().join(name);
    let length = std::fs::metadata(&file).unwrap().len() as usize;
    let (mut damaged, mut whole) = (0, 0);
    const ROUNDS: usize = 40;
    for round in 0..ROUNDS {
        put_back(desk, &files);
        let place = round * length / ROUNDS + (round * 37) % (length / ROUNDS);
        flip(&file, place);
        let ledger = desk.ledger();
        let left = paths(&ledger);
        assert!(left.len() >= least, "{} of {} are left after byte {place} of {name}", left.len(), known.len());
        assert!(left.iter().all(|path| known.contains(path)), "byte {place} of {name}: {left:?}");
        let is_damaged = desk.names().iter().any(|name| name.contains(".damaged-"));
        assert!(is_damaged || left.len() == known.len(), "byte {place} of {name} is not said to be damaged");
        damaged += usize::from(is_damaged);
        whole += usize::from(left.len() == known.len());
        change(&ledger, "next.md", b"next", at(100));
        assert!(paths(&ledger).contains(&"next.md".to_owned()), "byte {place} of {name}");
    }
    assert!(damaged > 0 && whole > ROUNDS / 2, "{damaged} of {ROUNDS} damaged, {whole} whole");
}

#[test]
fn a_flipped_byte_in_the_log_costs_at_most_its_checkpoint() {
    let desk = Desk::new();
    let known = {
        // The state that a killed server leaves: everything is in the log.
        let other = Desk::new();
        let ledger = other.ledger();
        (0..40).for_each(|number| drop(change(&ledger, &format!("{number}.md"), &noise(number, 3_000), at(number))));
        let files = copy_of(&other);
        change(&desk.ledger(), "first.md", b"x", at(1));
        let folder = desk.folder();
        std::fs::read_dir(&folder).unwrap().for_each(|entry| std::fs::remove_file(entry.unwrap().path()).unwrap());
        for (path, bytes) in files.iter().filter(|(path, _)| !path.to_string_lossy().ends_with("-shm")) {
            std::fs::write(folder.join(path.file_name().unwrap()), bytes).unwrap();
        }
        paths(&ledger)
    };
    assert!(std::fs::metadata(desk.folder().join("checkpoints.db-wal")).unwrap().len() > 100_000);
    after_flips(&desk, "checkpoints.db-wal", 20, &known);
}

#[test]
fn a_flipped_byte_in_the_database_costs_at_most_its_checkpoint() {
    let desk = Desk::new();
    let known = filled(&desk);
    assert!(!desk.folder().join("checkpoints.db-wal").exists(), "a ledger that was closed has no log");
    after_flips(&desk, "checkpoints.db", 20, &known);
}

#[test]
fn a_log_that_ends_in_the_middle_is_not_damaged() {
    let desk = Desk::new();
    let ledger = desk.ledger();
    (0..10).for_each(|number| drop(change(&ledger, &format!("{number}.md"), &noise(number, 3_000), at(number))));
    let log = std::fs::read(desk.folder().join("checkpoints.db-wal")).unwrap();
    assert_eq!(wal::mended(&log), None);
    assert_eq!(wal::mended(&log[..log.len() - 100]), None);
    let mut torn = log.clone();
    let end = torn.len();
    torn[end - 3000..].fill(0);
    assert_eq!(wal::mended(&torn), None);
    let mut flipped = log.clone();
    flipped[5_000] ^= 1;
    let mended = wal::mended(&flipped).unwrap();
    assert_eq!(wal::mended(&mended), None);
    assert_eq!(mended.len() % 8, 0);
}

#[test]
fn new_contents_are_kept_until_they_are_released() {
    let desk = Desk::new();
    let ledger = desk.keeping(Duration::from_secs(10 * DAY), u64::MAX);
    let (number, _) = begin(&ledger, "a.md", b"old", at(1)).unwrap();
    ledger.finish_with(number, &[], &[(ContentHash::of(b"new"), b"new")]).unwrap();
    assert!(is_kept(&ledger, b"new") && is_kept(&ledger, b"old"));
    change(&ledger, "b.md", b"other", at(20));
    ledger.prune(at(20)).unwrap();
    assert!(!is_kept(&ledger, b"old"));
}

#[test]
fn limits_are_noticed_with_the_change_that_passes_them() {
    let desk = Desk::new();
    let ledger = desk.keeping(Duration::from_secs(10 * DAY), 10_000);
    ledger.prune(at(1)).unwrap();
    for number in 0..3 {
        change(&ledger, &format!("{number}.md"), &noise(number, 3_000), at(1));
        assert!(!ledger.is_over(at(1)).unwrap(), "{number}");
    }
    change(&ledger, "3.md", &noise(3, 3_000), at(1));
    assert!(ledger.is_over(at(1)).unwrap());
    ledger.prune(at(1)).unwrap();
    assert!(!ledger.is_over(at(1)).unwrap() && paths(&ledger).len() < 4);
    assert!(!ledger.is_over(at(11)).unwrap());
    assert!(ledger.is_over(at(12)).unwrap());
}
