//! Several servers and a person on the same notes. No text is lost: every acknowledged change and everything a person
//! saved is in the note, in a checkpoint, or was overwritten by the person; and refusals are justified.
//!
//! `LAPIDARY_RACE_SECONDS` is how long each of them goes on.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use lapidary_note::ContentHash;
use lapidary_vault::{
    Change, ChangeSet, ContentGuard, Scope, Vault,
    store::{CheckpointKind, StoreError},
};

use crate::{
    random::Random,
    scratch::{NO_LIMIT, Scratch, open_vault, origin, vault_path},
};

/// Where a child process finds its task.
const CLIENT: &str = "LAPIDARY_TEST_CLIENT";
const PROCESSES: usize = 3;
const THREADS: usize = 2;

fn seconds() -> Duration {
    Duration::from_secs(std::env::var("LAPIDARY_RACE_SECONDS").map_or(3, |seconds| seconds.parse().unwrap()))
}

/// By the clock that all processes share.
fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()
}

/// One attempt to change a note.
struct Attempt {
    asked: u128,
    /// When the note had been read, and the change was requested.
    read: u128,
    answered: u128,
    before: ContentHash,
    after: ContentHash,
    /// `None` if it was done.
    refused: Option<StoreError>,
}

/// Reads a note and replaces it with a modified text.
fn attempt(vault: &Vault, path: &str, edit: impl FnOnce(&[u8]) -> Vec<u8>) -> Attempt {
    let asked = now();
    let before = vault.view(Arc::default(), NO_LIMIT).read(&vault_path(path)).unwrap();
    let (read, bytes) = (now(), edit(before.bytes()));
    let (hash, after) = (before.hash(), ContentHash::of(&bytes));
    let change = Change::Write { path: vault_path(path), before, guard: ContentGuard::Caller, content: bytes.into() };
    let done = vault.turn(&|| true).unwrap().commit(&ChangeSet::one(change), &Scope::default(), &origin());
    let refused = done.err().map(|error| error.error);
    Attempt { asked, read, answered: now(), before: hash, after, refused }
}

/// Starts a process that runs this test again, as one of several servers.
fn start(test: &str, scratch: &Scratch, number: usize, log: &Path) -> Child {
    let order = [scratch.root().display(), scratch.state().display(), log.display()].map(|path| path.to_string());
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CLIENT, format!("{}\n{number}", order.join("\n")))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// The task of the child: some threads, each with its own server, until the time is over. Their results go into a file.
fn be_a_client(order: &str, work: impl Fn(&Vault, &str, &AtomicBool) -> Vec<String> + Sync) {
    let [root, state, log, number] = order.split('\n').collect::<Vec<_>>().try_into().unwrap();
    let over = AtomicBool::new(false);
    let lines: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (over, work) = (&over, &work);
                scope.spawn(move || {
                    let vault = open_vault(Path::new(root), Path::new(state));
                    work(&vault, &format!("{number}.{thread}"), over)
                })
            })
            .collect();
        std::thread::sleep(seconds());
        over.store(true, Ordering::Relaxed);
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    std::fs::write(log, lines.join("\n")).unwrap();
}

fn logs(scratch: &Scratch, children: Vec<Child>) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, mut child) in children.into_iter().enumerate() {
        assert!(child.wait().unwrap().success(), "a client failed");
        let log = std::fs::read_to_string(scratch.outside(&number.to_string())).unwrap();
        lines.extend(log.lines().map(str::to_owned));
    }
    lines
}

fn start_all(test: &str, scratch: &Scratch) -> Vec<Child> {
    (0..PROCESSES).map(|number| start(test, scratch, number, &scratch.outside(&number.to_string()))).collect()
}

/// A register that can be read, and compared and swapped. All values differ, so that the order of the swaps is known.
#[test]
fn the_history_of_a_note_is_that_of_one_note() {
    let work = |vault: &Vault, name: &str, over: &AtomicBool| {
        let mut lines = Vec::new();
        for number in 0.. {
            if over.load(Ordering::Relaxed) {
                break;
            }
            let Attempt { asked, read, answered, before, after, refused } =
                attempt(vault, "a.md", |_| format!("{name} {number}").into_bytes());
            let outcome = match refused {
                None => "done".to_owned(),
                Some(StoreError::Changed { found }) => found.to_string(),
                Some(error) => panic!("{error}"),
            };
            lines.push(format!("{asked} {read} {answered} {before} {after} {outcome}"));
        }
        lines
    };
    if let Ok(order) = std::env::var(CLIENT) {
        return be_a_client(&order, work);
    }
    let scratch = Scratch::fast();
    scratch.put("a.md", "first");
    let test = "humans::the_history_of_a_note_is_that_of_one_note";
    let lines = logs(&scratch, start_all(test, &scratch));
    let mut history = History::default();
    for line in &lines {
        let [asked, read, answered, before, after, outcome] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let times = [asked, read, answered].map(|time| time.parse().unwrap());
        history.reads.push((times[0], times[1], before.to_owned()));
        match outcome {
            "done" => history.swaps.push((times[1], times[2], before.to_owned(), after.to_owned())),
            found => history.reads.push((times[1], times[2], found.to_owned())),
        }
    }
    let last = ContentHash::of(&scratch.bytes("a.md")).to_string();
    let (swaps, refused) = (history.swaps.len(), lines.len() - history.swaps.len());
    history.assert_linearizable(&ContentHash::of(b"first").to_string(), &last);
    eprintln!("one note, {PROCESSES} processes of {THREADS} servers: {swaps} edits in one order, {refused} refused");
    assert!(swaps > 20 && refused > 0);
}

/// What was seen and done, each between two moments.
#[derive(Default)]
struct History {
    reads: Vec<(u128, u128, String)>,
    /// From one value to another.
    swaps: Vec<(u128, u128, String, String)>,
}

impl History {
    /// Every swap can have happened at one moment between its start and its end, and every read can have seen the value
    /// of such a moment.
    fn assert_linearizable(&self, first: &str, last: &str) {
        let mut next = BTreeMap::new();
        for swap in &self.swaps {
            assert!(next.insert(&*swap.2, swap).is_none(), "two edits of the same version were both acknowledged");
        }
        // The moments when a value appeared and disappeared, each as early and as late as possible.
        let mut stood: BTreeMap<&str, (u128, u128)> = BTreeMap::new();
        let (mut value, mut came) = (first, 0);
        let mut order = Vec::new();
        while let Some(swap) = next.remove(value) {
            order.push(swap);
            stood.insert(value, (came, swap.1));
            came = came.max(swap.0);
            value = &swap.3;
        }
        stood.insert(value, (came, u128::MAX));
        assert!(next.is_empty(), "{} edits were made of versions that never existed", next.len());
        assert_eq!(value, last, "the value is not the last acknowledged one");
        let mut earliest = 0;
        for swap in order {
            earliest = earliest.max(swap.0);
            assert!(earliest <= swap.1, "an edit was over before the one that it builds upon began");
        }
        for (from, to, value) in &self.reads {
            let (came, went) = stood.get(&**value).unwrap_or_else(|| panic!("{value} was read but never existed"));
            assert!(came <= to && from <= went, "{value} was read when it was not there");
        }
    }
}

/// A text with the marks of all writers: each line is one.
fn marks(text: &[u8]) -> BTreeSet<String> {
    String::from_utf8_lossy(text).lines().filter(|line| line.contains('!')).map(str::to_owned).collect()
}

/// How a person's editor saves.
#[derive(Clone, Copy, Debug)]
enum Manner {
    /// A new file takes the place of the old one.
    ByRename,
    /// Into the file itself, in two parts.
    InPlace,
    /// The same, long after the file was opened.
    HeldOpen,
}

/// What a person did to a note.
#[derive(Default)]
struct Deeds {
    saved: BTreeSet<String>,
    /// The contents of the texts that they overwrote.
    overwritten: BTreeSet<String>,
    /// Every state in which they left the file, even for a moment.
    states: BTreeSet<String>,
}

impl Deeds {
    fn state(&mut self, text: &[u8]) {
        self.states.insert(ContentHash::of(text).to_string());
    }
}

/// A person who keeps rewriting the note without looking at what became of it.
fn person(at: &Path, manner: Manner, seed: u64, over: &AtomicBool) -> Deeds {
    let mut deeds = Deeds::default();
    let mut random = Random::new(seed);
    for number in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let mark = format!("person {number}!");
        let (half, whole) = (format!("{mark} begun\n"), format!("{mark} begun\n{mark} done\n"));
        match manner {
            Manner::ByRename => {
                let beside = at.with_extension("editor");
                std::fs::write(&beside, &whole).unwrap();
                deeds.state(whole.as_bytes());
                // In one step, so that it is known what was overwritten.
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(rustix::fs::CWD, &beside, rustix::fs::CWD, at, flags).unwrap();
                deeds.overwritten.extend(marks(&std::fs::read(&beside).unwrap()));
                std::fs::remove_file(beside).unwrap();
            }
            Manner::InPlace | Manner::HeldOpen => {
                let mut file = File::options().read(true).write(true).open(at).unwrap();
                if matches!(manner, Manner::HeldOpen) {
                    std::thread::sleep(Duration::from_millis(20 + random.below(1500) as u64));
                }
                let mut old = Vec::new();
                file.read_to_end(&mut old).unwrap();
                deeds.overwritten.extend(marks(&old));
                for text in ["", &half, &whole] {
                    deeds.state(text.as_bytes());
                }
                file.set_len(0).unwrap();
                file.seek(SeekFrom::Start(0)).unwrap();
                file.write_all(half.as_bytes()).unwrap();
                std::thread::sleep(Duration::from_micros(random.below(2000) as u64));
                file.write_all(&whole.as_bytes()[half.len()..]).unwrap();
            }
        }
        deeds.saved.extend(marks(whole.as_bytes()));
        std::thread::sleep(Duration::from_micros(random.below(8000) as u64));
    }
    deeds
}

const NOTES: [(&str, Manner); 3] =
    [("renamed.md", Manner::ByRename), ("in place.md", Manner::InPlace), ("folder/held.md", Manner::HeldOpen)];

#[test]
fn nothing_of_a_person_or_of_an_acknowledged_edit_is_lost() {
    let work = |vault: &Vault, name: &str, over: &AtomicBool| {
        let mut lines = Vec::new();
        let mut random = Random::new(name.bytes().map(u64::from).sum());
        for number in 0.. {
            if over.load(Ordering::Relaxed) {
                break;
            }
            let (path, _) = NOTES[random.below(NOTES.len())];
            let mark = format!("server {name} {number}!");
            let attempt = attempt(vault, path, |text| [text, mark.as_bytes(), b"\n"].concat());
            let outcome = match attempt.refused {
                None => "done".to_owned(),
                Some(StoreError::Changed { found }) => found.to_string(),
                Some(error) => panic!("{error}"),
            };
            lines.push(format!("{path}\t{mark}\t{}\t{outcome}", attempt.after));
        }
        lines
    };
    if let Ok(order) = std::env::var(CLIENT) {
        return be_a_client(&order, work);
    }
    let scratch = Scratch::fast();
    for (path, _) in NOTES {
        scratch.put(path, "");
    }
    let children = start_all("humans::nothing_of_a_person_or_of_an_acknowledged_edit_is_lost", &scratch);
    let over = AtomicBool::new(false);
    let (lines, deeds) = std::thread::scope(|scope| {
        let people: Vec<_> = NOTES
            .iter()
            .enumerate()
            .map(|(number, &(path, manner))| {
                let (at, over) = (scratch.at(path), &over);
                scope.spawn(move || person(&at, manner, number as u64, over))
            })
            .collect();
        let lines = logs(&scratch, children);
        over.store(true, Ordering::Relaxed);
        (lines, people.into_iter().map(|person| person.join().unwrap()).collect::<Vec<_>>())
    });
    settle(&scratch);
    let kept = kept_marks(&scratch);
    let mut told = [0; 3];
    for ((path, manner), deeds) in NOTES.into_iter().zip(deeds) {
        let lines: Vec<Vec<&str>> = lines.iter().map(|line| line.split('\t').collect()).collect();
        let lines: Vec<&Vec<&str>> = lines.iter().filter(|line| line[0] == path).collect();
        let mut somewhere = marks(&scratch.bytes(path));
        somewhere.extend(kept.get(path).into_iter().flatten().cloned());
        somewhere.extend(deeds.overwritten);
        let acknowledged: Vec<&str> = lines.iter().filter(|line| line[3] == "done").map(|line| line[1]).collect();
        let lost: Vec<&&str> = acknowledged.iter().filter(|mark| !somewhere.contains(**mark)).collect();
        assert!(lost.is_empty(), "{manner:?}: acknowledged and lost: {lost:?}");
        let lost: Vec<&String> = deeds.saved.difference(&somewhere).collect();
        assert!(lost.is_empty(), "{manner:?}: saved by a person and lost: {lost:?}");
        // Another writer had written the version that a refusal mentions.
        let mut texts = deeds.states;
        texts.insert(ContentHash::of(b"").to_string());
        texts.extend(lines.iter().map(|line| line[2].to_owned()));
        let refused: Vec<&str> = lines.iter().map(|line| line[3]).filter(|outcome| *outcome != "done").collect();
        let invented = refused.iter().filter(|found| !texts.contains(**found)).count();
        // A reader during a write in place may see parts of two texts.
        let torn = if matches!(manner, Manner::ByRename) { 0 } else { 1 + refused.len() / 100 };
        assert!(invented <= torn, "{manner:?}: {invented} times refused for a version that never existed");
        for (sum, more) in told.iter_mut().zip([acknowledged.len(), refused.len(), deeds.saved.len() / 2]) {
            *sum += more;
        }
        eprintln!(
            "{manner:?}: {} edits acknowledged, {} refused, {} saves of a person",
            acknowledged.len(),
            refused.len(),
            deeds.saved.len() / 2
        );
    }
    assert!(told.iter().all(|&count| count > 20), "{told:?}");
}

/// Lets a server handle everything that was left open.
fn settle(scratch: &Scratch) {
    let started = Instant::now();
    let is_ours = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".lapidary-"));
    while scratch.everything().keys().any(|path| is_ours(path)) {
        assert!(started.elapsed() < Duration::from_secs(120), "an old file stays");
        drop(scratch.second_server().turn(&|| true).unwrap());
    }
}

/// The marks in all old texts of each note.
fn kept_marks(scratch: &Scratch) -> BTreeMap<String, BTreeSet<String>> {
    let view = scratch.view();
    let mut kept: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let checkpoints = view.checkpoints(None, None, usize::MAX).unwrap().checkpoints;
    let late = checkpoints.iter().filter(|checkpoint| checkpoint.kind == CheckpointKind::LateSave).count();
    eprintln!("{} checkpoints, {late} of them late saves", checkpoints.len());
    for entry in checkpoints.iter().flat_map(|checkpoint| &checkpoint.entries) {
        if entry.before.is_some() {
            let old = view.old_content(entry).unwrap().expect("it was kept");
            kept.entry(entry.path.to_string()).or_default().extend(marks(&old));
        }
    }
    kept
}

/// A program that truncates the file on opening has its own window: between looking up the file and opening it, the
/// file can be replaced and released. A lease on the old file detects the others.
#[test]
fn a_save_in_one_call_is_in_place_or_kept() {
    let scratch = Scratch::fast();
    scratch.put("a.md", "0!\n");
    let over = AtomicBool::new(false);
    let (saves, edits, missed) = std::thread::scope(|scope| {
        let editor = scope.spawn(|| {
            let mut done = 0;
            while !over.load(Ordering::Relaxed) {
                let edit = |text: &[u8]| [text, format!("ours {done}\n").as_bytes()].concat();
                done += usize::from(attempt(&scratch.vault, "a.md", edit).refused.is_none());
            }
            done
        });
        let (started, mut saves, mut missed) = (Instant::now(), 0, Vec::new());
        while started.elapsed() < seconds() {
            saves += 1;
            let mark = format!("{saves}!");
            std::fs::write(scratch.at("a.md"), format!("{mark}\n")).unwrap();
            std::thread::sleep(Duration::from_micros(saves % 300));
            let stands = || marks(&scratch.bytes("a.md")).contains(&mark);
            // For a moment it may be one that we made of an older text.
            if !stands()
                && (0..50).all(|_| {
                    std::thread::sleep(Duration::from_millis(2));
                    !stands()
                })
            {
                missed.push(mark);
            }
        }
        over.store(true, Ordering::Relaxed);
        (saves, editor.join().unwrap(), missed)
    });
    settle(&scratch);
    let kept = kept_marks(&scratch);
    let kept = kept.get("a.md").unwrap();
    let lost: Vec<&String> = missed.iter().filter(|mark| !kept.contains(*mark)).collect();
    eprintln!("{saves} saves in one call, {edits} edits, {} saves kept as late, {} lost", missed.len(), lost.len());
    assert!(edits > 20, "we hardly got to write");
    // Not never, and this is not the place to wait for it.
    assert!(lost.len() as u64 <= 1 + saves / 20_000, "lost: {lost:?}");
}
