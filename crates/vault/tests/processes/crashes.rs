//! A server that is killed before any of its system calls leaves all of a change or nothing of it, once the next one
//! has recovered; also if that one is killed during recovery, and the one after it.
//!
//! `LAPIDARY_CRASH_RUNS` is how many runs with random moments are added to the fixed ones.

use std::{
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use lapidary_note::ContentHash;
use lapidary_vault::{
    Scope, VaultNews, VaultPath, View,
    store::{CallKey, ChangeOrigin, StepObserver},
};

use crate::{
    random::Random,
    scenarios::{Place, SCENARIOS, Scenario, Tree, open, settled_tree, shown, steps_written_down, tree_of, view},
    scratch::{Found, Scratch, assert_whole, commit, create, open_vault, origin, vault_path, whole, write},
};

/// Where a child process finds its task.
const VICTIM: &str = "LAPIDARY_TEST_CRASH";
const ACKNOWLEDGED: &str = "acknowledged";

/// A call that its caller sends again if no answer comes.
fn keyed() -> ChangeOrigin {
    ChangeOrigin { call: Some(CallKey { key: ContentHash::of(b"key"), call: ContentHash::of(b"call") }), ..origin() }
}

/// Ends the process without any of its usual cleanup.
fn die() -> ! {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
    unreachable!("nothing survives that")
}

/// The task of the child process: one scenario, or recovery after a killed server, until the call at which it dies.
fn be_a_victim(order: &str) -> ! {
    let [around, scenario, dies_at] = order.split('\n').collect::<Vec<_>>().try_into().unwrap();
    let (around, dies_at): (&Path, usize) = (Path::new(around), dies_at.parse().unwrap());
    let calls = AtomicUsize::new(0);
    let observer: StepObserver =
        Arc::new(move |_| if calls.fetch_add(1, Ordering::SeqCst) == dies_at { die() } else { Ok(()) });
    let vault = open(around, Some(observer));
    let view = view(&vault);
    let turn = vault.turn(&|| true).unwrap();
    if let Some(scenario) = SCENARIOS.iter().find(|known| known.name == scenario) {
        turn.commit(&scenario.change_set(&view), &Scope::default(), &keyed()).unwrap();
    }
    std::fs::write(around.join(ACKNOWLEDGED), "").unwrap();
    die()
}

/// Starts the child and returns whether it finished.
fn sacrifice(place: &Place, scenario: &str, dies_at: usize) -> bool {
    let acknowledged = place.around.path().join(ACKNOWLEDGED);
    drop(std::fs::remove_file(&acknowledged));
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crashes::a_server_killed_at_any_call_leaves_all_or_nothing", "--nocapture"])
        .env(VICTIM, format!("{}\n{scenario}\n{dies_at}", place.around.path().display()))
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
    assert_eq!(signal, Some(9), "{scenario}, {dies_at}: {}", String::from_utf8_lossy(&output.stderr));
    acknowledged.exists()
}

/// How many calls there are at which it can be killed.
fn calls_of(scenario: &Scenario) -> usize {
    let place = Place::new(scenario);
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let observer: StepObserver = Arc::new(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    let vault = open(place.around.path(), Some(observer));
    let set = scenario.change_set(&view(&vault));
    vault.turn(&|| true).unwrap().commit(&set, &Scope::default(), &keyed()).unwrap();
    calls.load(Ordering::SeqCst)
}

/// What was tried, and the results.
#[derive(Default)]
struct Count {
    kills: usize,
    before: usize,
    after: usize,
}

impl Count {
    fn say(&self, what: &str) {
        let Self { kills, before, after } = self;
        eprintln!("{what}: {kills} kills, {before} times before, {after} times after, nothing else");
    }
}

/// Kills a change before one of its calls, then each recovery before one of its calls, and lets the last one finish.
/// Returns whether the first and the last of the killed finished.
fn crash(scenario: &Scenario, kills: &[usize], count: &mut Count) -> (bool, bool) {
    let place = Place::new(scenario);
    let acknowledged = sacrifice(&place, scenario.name, kills[0]);
    let ended = kills[1..].iter().fold(acknowledged, |_, &dies_at| sacrifice(&place, "", dies_at));
    count.kills += kills.len();
    let about = format!("{}, killed at {kills:?}", scenario.name);
    let is_after = assert_settled(&place, scenario, &about);
    assert!(is_after || !acknowledged, "{about}: an acknowledged change was undone");
    if is_after {
        count.after += 1
    } else {
        count.before += 1
    };
    (acknowledged, ended)
}

/// The next server finds the vault before or after the change, and everything settled. Returns which of the two.
fn assert_settled(place: &Place, scenario: &Scenario, about: &str) -> bool {
    let vault = open(place.around.path(), None);
    let view = view(&vault);
    let (before, after) = (scenario.before(), scenario.after());
    let found = settled_tree(&vault, place, &[&before, &after]);
    let is_after = found == after;
    assert!(is_after || found == before, "{about}: neither before nor after:\n{}", shown(&found));
    assert_index_agrees(&view, &found, about);
    drop(vault.turn(&|| true).unwrap());
    assert_eq!(tree_of(&place.vault()), found, "{about}: the first turn changed something");
    for news in vault.take_news() {
        match news {
            VaultNews::Completed { .. } => assert!(is_after, "{about}"),
            VaultNews::Undone { left } => assert!(!is_after && left.is_empty(), "{about}: {left:?}"),
            other => panic!("{about}: {other:?}"),
        }
    }
    assert_eq!(steps_written_down(place), 0, "{about}: the ledger is not settled");
    assert_old_texts_are_kept(&view, scenario, is_after, about);
    // Sent again, the call is recognised if it was made, and made if it was not. Its answer died with the server.
    let made = vault.made_by(&ContentHash::of(b"key"), origin().time, &Scope::default()).unwrap();
    // Nor its checkpoint, for callers that may not read the trash of the vault.
    let made = made.map(|made| (made.call, made.reply));
    assert_eq!(made, is_after.then(|| (ContentHash::of(b"call"), None)), "{about}");
    assert_trash(place, scenario, is_after, about);
    // And work continues.
    let set = lapidary_vault::ChangeSet::one(create("afterwards.md", "x"));
    vault.turn(&|| true).unwrap().commit(&set, &Scope::default(), &origin()).unwrap();
    assert!(vault.take_news().is_empty(), "{about}");
    is_after
}

fn assert_index_agrees(view: &View, found: &Tree, about: &str) {
    let visible = |path: &&String| !path.split('/').any(|name| name.starts_with('.'));
    let notes = view.notes(&|| true).unwrap();
    let indexed: Vec<(String, u64)> = notes.notes().map(|(note, _)| (note.path().to_string(), note.bytes())).collect();
    let on_disk = found.iter().filter(|(path, _)| visible(path));
    let mut on_disk: Vec<(String, u64)> =
        on_disk.filter_map(|(path, bytes)| Some((path.clone(), bytes.as_ref()?.len() as u64))).collect();
    on_disk.sort_by_key(|(path, _)| vault_path(path));
    assert_eq!(indexed, on_disk, "{about}: the index does not agree");
    let folders: Vec<String> = notes.folders_below(None).map(VaultPath::to_string).collect();
    let mut on_disk: Vec<String> =
        found.iter().filter(|(path, bytes)| bytes.is_none() && visible(path)).map(|(path, _)| path.clone()).collect();
    on_disk.sort_by_key(|path| vault_path(path));
    assert_eq!(folders, on_disk, "{about}: the index does not agree");
}

/// One checkpoint if it happened, none if not, with the texts that no longer exist.
fn assert_old_texts_are_kept(view: &View, scenario: &Scenario, is_after: bool, about: &str) {
    let checkpoints = view.checkpoints(None, None, 10).unwrap().checkpoints;
    assert_eq!(checkpoints.len(), usize::from(is_after), "{about}: {checkpoints:?}");
    let (before, after) = (scenario.before(), scenario.after());
    for entry in checkpoints.iter().flat_map(|checkpoint| &checkpoint.entries) {
        if let Some(hash) = entry.before {
            let old = view.old_content(entry).unwrap().unwrap_or_else(|| panic!("{about}: {entry:?} was not kept"));
            assert_eq!(lapidary_note::ContentHash::of(&old), hash);
        }
    }
    let kept = |path: &str, bytes: &[u8]| {
        let hash = lapidary_note::ContentHash::of(bytes);
        let mut entries = checkpoints.iter().flat_map(|checkpoint| &checkpoint.entries);
        entries.any(|entry| entry.path == vault_path(path) && entry.before == Some(hash))
    };
    for (path, bytes) in before.iter().filter_map(|(path, bytes)| Some((path, bytes.as_ref()?))) {
        let somewhere = after.values().flatten().any(|text| text == bytes);
        // Unread files are in the system trash.
        assert!(!is_after || somewhere || kept(path, bytes) || bytes == b"unread\n", "{about}: {path} is lost");
    }
}

fn assert_trash(place: &Place, scenario: &Scenario, is_after: bool, about: &str) {
    let files = place.around.path().join("share/Trash/files");
    let trashed = if files.is_dir() { tree_of(&files) } else { Tree::new() };
    let expected: &[(&str, &str)] = match scenario.name {
        "trash of the system" if is_after => &[("a.md", "to the trash\n"), ("b.md", "unread\n")],
        _ => &[],
    };
    // A name taken by a killed server's note is not taken again.
    let texts: Vec<&[u8]> = trashed.values().flatten().map(|bytes| &**bytes).collect();
    assert_eq!(texts, expected.iter().map(|(_, text)| text.as_bytes()).collect::<Vec<_>>(), "{about}: {trashed:?}");
}

#[test]
fn a_server_killed_at_any_call_leaves_all_or_nothing() {
    if let Ok(order) = std::env::var(VICTIM) {
        be_a_victim(&order);
    }
    for scenario in SCENARIOS {
        let mut count = Count::default();
        let calls = (0..).find(|&dies_at| crash(scenario, &[dies_at], &mut count).0).unwrap();
        assert!(count.before > 0 && count.after > 1, "{}: only one outcome", scenario.name);
        count.say(&format!("{}, {calls} calls", scenario.name));
    }
}

/// Every call of a recovery, for a change that was killed at some call.
#[test]
fn a_server_killed_during_recovery_leaves_all_or_nothing() {
    let mut count = Count::default();
    for (number, scenario) in SCENARIOS.iter().enumerate() {
        // Different in each, and everywhere in the long run.
        let mut first = number % 3;
        loop {
            let mut second = 0;
            while !crash(scenario, &[first, second], &mut count).1 {
                second += 1;
            }
            if crash(scenario, &[first], &mut count).0 {
                break;
            }
            first += 3 + scenario.before().len();
        }
    }
    count.say("kills during recovery");
    assert!(count.before > 0 && count.after > 0);
}

/// Random moments, up to three in a row.
#[test]
fn servers_killed_at_random_moments_leave_all_or_nothing() {
    let runs: u64 = std::env::var("LAPIDARY_CRASH_RUNS").map_or(60, |runs| runs.parse().unwrap());
    let count = Mutex::new(Count::default());
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut own = Count::default();
                loop {
                    let run = next.fetch_add(1, Ordering::Relaxed);
                    if run >= runs {
                        break;
                    }
                    let mut random = Random::new(run);
                    let scenario = &SCENARIOS[random.below(SCENARIOS.len())];
                    let kills = 1 + random.below(3);
                    let mut dies_at = vec![random.below(1 + calls_of(scenario))];
                    dies_at.extend((1..kills).map(|_| random.below(25)));
                    crash(scenario, &dies_at, &mut own);
                }
                let mut count = count.lock().unwrap();
                count.kills += own.kills;
                count.before += own.before;
                count.after += own.after;
            });
        }
    });
    let count = count.into_inner().unwrap();
    count.say("random moments");
    assert!(count.before > 0 && count.after > 0);
}

fn is_temporary(name: &std::ffi::OsStr) -> bool {
    name.to_string_lossy().starts_with(".lapidary-")
}

/// A killed server leaves the old note or the new one, never a mixture, and blocks no other.
#[test]
fn a_server_killed_at_any_moment_leaves_a_whole_note() {
    const WRITER: &str = "LAPIDARY_TEST_WRITER";
    if let Some(folders) = std::env::var_os(WRITER) {
        let (root, state) = folders.to_str().unwrap().split_once(':').unwrap();
        let vault = open_vault(Path::new(root), Path::new(state));
        // Not forever, in case no process is left to kill it.
        for number in 0..5_000 {
            let change = write(&view(&vault), "a.md", whole("victim", number));
            commit(&vault, &Scope::default(), change).unwrap();
            drop(commit(&vault, &Scope::default(), create(&format!("{number}/b.md"), whole("victim", number))));
        }
        return;
    }
    let scratch = Scratch::fast();
    scratch.put("a.md", whole("first", 0));
    for round in 0..12 {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crashes::a_server_killed_at_any_moment_leaves_a_whole_note", "--nocapture"])
            .env(WRITER, format!("{}:{}", scratch.root().display(), scratch.state().display()))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let before = scratch.bytes("a.md");
        while scratch.bytes("a.md") == before {
            assert_eq!(victim.try_wait().unwrap(), None, "it ended without a change");
            std::thread::sleep(Duration::from_micros(300));
        }
        std::thread::sleep(Duration::from_micros(round * 1700));
        victim.kill().unwrap();
        victim.wait().unwrap();
        for (path, found) in scratch.everything() {
            if let Found::File(bytes) = found
                && !is_temporary(path.file_name().unwrap())
            {
                assert_whole(&bytes);
            }
        }
        scratch.commit(scratch.plan("a.md", whole("survivor", round as usize))).unwrap();
        let offered = scratch.list("").unwrap();
        assert!(offered.iter().all(|path| path == "a.md" || path.ends_with('/')), "{offered:?}");
    }
}
