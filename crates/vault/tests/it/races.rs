//! Several writers on one vault: threads of this server, other servers, editors and sync clients.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use lapidary_note::ContentHash;
use lapidary_vault::{
    Change, Policy, Scope, Vault, VaultLimits,
    store::{FolderStore, StateFolder, StepObserver, StoreError},
};

use crate::scratch::{NO_LIMIT, Scratch, assert_whole, commit, create, vault_path, whole, write};

const THREADS: usize = 8;
const TIMES: usize = 50;
const ROUNDS: usize = 20;

fn note(vault: &Vault) -> lapidary_vault::View {
    vault.view(std::sync::Arc::default(), NO_LIMIT)
}

/// Adds a line, planning again as often as another writer was faster.
fn append(vault: &Vault, path: &str, line: &str) {
    loop {
        let view = note(vault);
        let before = view.read(&vault_path(path)).unwrap();
        let change = write(&view, path, [before.bytes(), line.as_bytes(), b"\n"].concat());
        match commit(vault, &Scope::default(), change) {
            Ok(()) => return,
            Err(StoreError::Changed { .. }) => {}
            Err(error) => panic!("{line}: {error}"),
        }
    }
}

fn lines_of(threads: usize) -> BTreeSet<String> {
    (0..threads).flat_map(|thread| (0..TIMES).map(move |time| format!("{thread} wrote {time}"))).collect()
}

#[track_caller]
fn assert_each_once(text: &[u8], expected: &BTreeSet<String>) {
    let text = std::str::from_utf8(text).unwrap();
    let lines: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let lost: Vec<_> = expected.difference(&lines).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert_eq!(text.lines().count(), expected.len(), "a line was written twice");
}

#[test]
fn threads_that_add_lines_lose_none() {
    let scratch = Scratch::fast();
    scratch.put("a.md", "");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let vault = &scratch.vault;
            scope.spawn(move || (0..TIMES).for_each(|time| append(vault, "a.md", &format!("{thread} wrote {time}"))));
        }
    });
    assert_each_once(&scratch.bytes("a.md"), &lines_of(THREADS));
    assert_eq!(scratch.everything().len(), 2, "the vault and the note: no temporary file stays");
}

/// Every client may start its own server on the same vault; these share only the disk.
#[cfg(unix)]
#[test]
fn servers_that_add_lines_lose_none() {
    let scratch = Scratch::fast();
    scratch.put("a.md", "");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let vault = scratch.second_server();
            scope.spawn(move || (0..TIMES).for_each(|time| append(&vault, "a.md", &format!("{thread} wrote {time}"))));
        }
    });
    assert_each_once(&scratch.bytes("a.md"), &lines_of(THREADS));
    assert_eq!(scratch.everything().len(), 2, "the vault and the note: no temporary file stays");
}

/// Saves as Obsidian's sync and most editors do: a whole new file, then a rename.
fn save_by_rename(path: &Path, bytes: &[u8]) {
    let beside = path.with_extension("editor");
    std::fs::write(&beside, bytes).unwrap();
    std::fs::rename(beside, path).unwrap();
}

#[test]
fn a_reader_sees_whole_versions_and_never_a_gap() {
    let scratch = Scratch::fast();
    scratch.put("a.md", whole("first", 0));
    let (done, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let second = scratch.second_server();
                while !done.load(Ordering::Relaxed) {
                    for vault in [&scratch.vault, &second] {
                        // An existing note is never missing, however often it is replaced.
                        assert_whole(note(vault).read(&vault_path("a.md")).unwrap().bytes());
                        reads.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        let editor = scope.spawn(|| {
            for number in 0..300 {
                save_by_rename(&scratch.at("a.md"), &whole("editor", number));
                std::thread::yield_now();
            }
        });
        let ours = scope.spawn(|| {
            (0..300)
                .filter(|&number| match scratch.commit(scratch.plan("a.md", whole("ours", number))) {
                    Ok(()) => true,
                    Err(StoreError::Changed { .. }) => false,
                    Err(error) => panic!("{error}"),
                })
                .count()
        });
        // Checked only after the readers know that it is over, as a panic would keep them reading.
        let (edited, written) = (editor.join(), ours.join());
        done.store(true, Ordering::Relaxed);
        edited.unwrap();
        assert!(written.unwrap() > 50);
    });
    assert!(reads.into_inner() > 200);
    assert_eq!(scratch.everything().len(), 2, "no temporary file stays");
}

/// A program that truncates and writes in place has a moment in which the file is short, and every reader then sees
/// that. We promise that our change of it is refused, because the short file is not the one that was planned on.
#[test]
fn a_half_written_file_is_not_built_on() {
    use std::io::Write;
    let scratch = Scratch::with(&[("a.md", "one\ntwo\nthree\n")]);
    let planned_before = scratch.plan("a.md", "one\ntwo\nthree\nfour\n");
    let mut in_place = std::fs::File::create(scratch.at("a.md")).unwrap();
    in_place.write_all(b"one\n").unwrap();
    assert_eq!(scratch.read("a.md").unwrap(), b"one\n", "the window of an in-place writer");
    scratch.refuses(planned_before, StoreError::Changed { found: ContentHash::of(b"one\n") });
    let planned_within = scratch.plan("a.md", "one\nfour\n");
    in_place.write_all(b"two\nthree\n").unwrap();
    scratch.refuses(planned_within, StoreError::Changed { found: ContentHash::of(b"one\ntwo\nthree\n") });
}

/// By its size and time alone a note may look unchanged.
#[test]
fn a_note_of_the_same_size_and_time_is_not_taken_for_the_same() {
    let scratch = Scratch::with(&[("a.md", "one")]);
    let save_unnoticed = |text: &str| {
        let time = std::fs::metadata(scratch.at("a.md")).unwrap().modified().unwrap();
        std::fs::write(scratch.at("a.md"), text).unwrap();
        std::fs::File::options().write(true).open(scratch.at("a.md")).unwrap().set_modified(time).unwrap();
    };
    let edit = scratch.plan("a.md", "ours");
    save_unnoticed("two");
    scratch.refuses(edit, StoreError::Changed { found: ContentHash::of(b"two") });
    // Nothing would be replaced, so nothing would be checked then.
    let no_edit = scratch.plan("a.md", "two");
    save_unnoticed("six");
    scratch.refuses(no_edit, StoreError::Changed { found: ContentHash::of(b"six") });
}

/// Lets another program act before each call that puts new bytes in place.
fn while_we_write(
    change: impl Fn(&Scratch) -> Change,
    act: fn(&Path),
    assert: impl Fn(&Scratch, Result<(), StoreError>),
) {
    let mut moments = 0;
    for moment in ["open", "write", "set rights", "sync", "exchange", "bring"] {
        let scratch = Scratch::fast();
        let (change, place, acted) = (change(&scratch), scratch.at("a.md"), Arc::new(AtomicBool::new(false)));
        let once = Arc::clone(&acted);
        let observer: StepObserver = Arc::new(move |call| {
            if call == moment && !once.swap(true, Ordering::Relaxed) {
                act(&place);
            }
            Ok(())
        });
        let store = Arc::new(FolderStore::new(scratch.root()).observed(observer));
        let state = Arc::new(StateFolder::new(scratch.state().to_owned(), scratch.root()));
        let vault = Vault::shared("watched".to_owned(), store, &state, Policy::default(), VaultLimits::default());
        let result = commit(&vault, &Scope::default(), change);
        if acted.load(Ordering::Relaxed) {
            moments += 1;
            assert(&scratch, result);
        }
    }
    assert!(moments >= 4, "only {moments} moments");
}

fn plan(scratch: &Scratch) -> Change {
    scratch.put("a.md", "old");
    scratch.plan("a.md", "ours")
}

#[test]
fn an_editor_that_saves_while_we_write_wins() {
    // As long as the old text, like an edit of one letter.
    let saves: [fn(&Path); 2] = [|path| save_by_rename(path, b"NEW"), |path| std::fs::write(path, b"NEW").unwrap()];
    for save in saves {
        while_we_write(plan, save, |scratch, result| {
            assert_eq!(result, Err(StoreError::Changed { found: ContentHash::of(b"NEW") }));
            assert_eq!(scratch.bytes("a.md"), b"NEW");
            assert_eq!(scratch.everything().len(), 2, "no temporary file stays");
        });
    }
}

#[test]
fn a_note_that_another_program_makes_while_we_write_wins() {
    let make = |path: &Path| std::fs::write(path, "theirs").unwrap();
    while_we_write(
        |_| create("a.md", "ours"),
        make,
        |scratch, result| {
            assert_eq!(result, Err(StoreError::Exists));
            assert_eq!(scratch.bytes("a.md"), b"theirs");
            assert_eq!(scratch.everything().len(), 2, "no temporary file stays");
        },
    );
}

#[test]
fn a_note_that_is_removed_while_we_write_stays_removed() {
    let remove = |path: &Path| std::fs::remove_file(path).unwrap();
    while_we_write(plan, remove, |scratch, result| {
        assert_eq!(result, Err(StoreError::Missing));
        assert_eq!(scratch.everything().len(), 1, "nothing stays but the vault");
    });
}

#[test]
fn a_note_that_becomes_a_folder_while_we_write_stays_one() {
    let turn = |path: &Path| {
        std::fs::remove_file(path).unwrap();
        std::fs::create_dir(path).unwrap();
    };
    while_we_write(plan, turn, |scratch, result| {
        assert_eq!(result, Err(StoreError::IsFolder));
        assert_eq!(scratch.everything().len(), 2, "no temporary file stays");
    });
}

/// A program that saves by rename finds that version afterwards, or one that we made from it. For a moment it may be
/// one that we made from an older version: only the exchange reveals that there is a newer one, and then ours makes
/// way.
///
/// A program that saves in place keeps a window, inside its own `open`: between looking up the file and truncating it,
/// the file can be replaced and found unchanged. Here that happened to about 1 of 25,000 saves, in a tight loop.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[test]
fn no_save_of_another_program_is_overwritten_unseen() {
    let scratch = Scratch::fast();
    scratch.put("a.md", "0");
    let (done, ours) = (AtomicBool::new(false), AtomicUsize::new(0));
    let stands = |number: usize| {
        let text = String::from_utf8(scratch.bytes("a.md")).unwrap();
        text.split(' ').next() == Some(&number.to_string())
    };
    let lost: Vec<usize> = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let view = scratch.view();
                let base = view.read(&vault_path("a.md")).unwrap();
                let base = base.bytes().split(|&byte| byte == b' ').next().unwrap();
                let change = write(&view, "a.md", [base, b" ours"].concat());
                ours.fetch_add(usize::from(scratch.commit(change).is_ok()), Ordering::Relaxed);
            }
        });
        let lost = (1..=2_000).filter(|&number| {
            save_by_rename(&scratch.at("a.md"), number.to_string().as_bytes());
            std::thread::sleep(Duration::from_micros(number as u64 % 300));
            !stands(number) && {
                std::thread::sleep(Duration::from_millis(100));
                !stands(number)
            }
        });
        let lost = lost.collect();
        done.store(true, Ordering::Relaxed);
        lost
    });
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert!(ours.into_inner() > 100, "we hardly got to write");
    assert_eq!(scratch.everything().len(), 2, "no temporary file stays");
}

#[test]
fn of_many_creators_of_one_path_exactly_one_wins() {
    let scratch = Scratch::fast();
    for round in 0..40 {
        let path = format!("round {round}/deep/new.md");
        let start = std::sync::Barrier::new(THREADS);
        let results: Vec<Result<(), StoreError>> = std::thread::scope(|scope| {
            let creators: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let (path, start, scratch) = (&path, &start, &scratch);
                    scope.spawn(move || {
                        let own = scratch.second_server();
                        let vault = if thread % 2 == 0 { &scratch.vault } else { &own };
                        start.wait();
                        commit(vault, &Scope::default(), create(path, format!("{thread}")))
                    })
                })
                .collect();
            creators.into_iter().map(|creator| creator.join().unwrap()).collect()
        });
        let winners: Vec<usize> = (0..THREADS).filter(|&thread| results[thread].is_ok()).collect();
        assert_eq!(winners.len(), 1, "{results:?}");
        assert_eq!(scratch.bytes(&path), winners[0].to_string().as_bytes());
        for result in results {
            assert!(matches!(result, Ok(()) | Err(StoreError::Exists)), "{result:?}");
        }
        assert_eq!(scratch.list(&format!("round {round}/deep")).unwrap(), [path]);
    }
}

/// The open folder and its identity must not come from two different moments.
#[cfg(target_os = "linux")]
#[test]
fn a_vault_replaced_while_it_is_opened_is_noticed() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let scratch = Scratch::fast();
    scratch.put("a.md", "one");
    let (ours, other) = (scratch.root(), scratch.outside("other"));
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("a.md"), "two").unwrap();
    for _ in 0..ROUNDS {
        let done = AtomicBool::new(false);
        let swapped = AtomicUsize::new(0);
        let vaults: Vec<Vault> = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    renameat_with(CWD, &ours, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                    swapped.fetch_add(1, Ordering::Relaxed);
                }
            });
            while swapped.load(Ordering::Relaxed) < 10 {
                std::hint::spin_loop();
            }
            let opened = |_| {
                let vault = scratch.second_server();
                note(&vault).read(&vault_path("a.md")).unwrap();
                vault
            };
            let vaults = (0..100).map(opened).collect();
            done.store(true, Ordering::Relaxed);
            vaults
        });
        let current = scratch.bytes("a.md");
        for vault in vaults {
            assert_eq!(note(&vault).read(&vault_path("a.md")).unwrap().bytes(), current);
        }
    }
}

#[test]
fn a_listing_is_whole_while_files_come_and_go() {
    let scratch = Scratch::fast();
    let steady: Vec<String> = (0..50).map(|number| format!("steady-{number:02}.md")).collect();
    steady.iter().for_each(|path| scratch.put(path, "x"));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..3000 {
                scratch.put(&format!("passing-{}.md", number % 20), "x");
                std::fs::remove_file(scratch.at(&format!("passing-{}.md", number % 20))).unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
        while !done.load(Ordering::Relaxed) {
            let mut listed = scratch.list("").unwrap();
            listed.retain(|path| path.starts_with("steady"));
            assert_eq!(listed, steady);
        }
    });
}
