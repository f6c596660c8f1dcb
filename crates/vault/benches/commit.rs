//! The cost of losing nothing: one durable edit with its checkpoint, and a batch of a thousand files, each compared
//! with the bare system calls on the same disk in the same run. Results are kept in `benches/results/`.

#![expect(clippy::disallowed_methods, reason = "a benchmark plays other programs and writes the disk for comparison")]

#[path = "../../server/benches/wire/report.rs"]
#[allow(dead_code, reason = "shared with other benchmarks")]
mod report;

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use lapidary_vault::{
    Change, ChangeSet, ContentGuard, Policy, Scope, Vault, VaultLimits, VaultPath,
    store::{ChangeOrigin, FolderStore, StateFolder},
};
use report::{Failure, Report, Times};
use rusqlite::Connection;

const EDITS: usize = 600;
const BATCH: usize = 1000;
const BATCHES: usize = 5;
/// As long as a note is.
const BYTES: usize = 3000;

fn main() -> Result<(), Failure> {
    // `cargo test` builds benchmarks too and runs them without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    // Next to the build output: on many systems temporary files are in memory, where syncing costs nothing.
    let around = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut report = Report::new(&["what", "p50 ms", "p95 ms", ""]);
    edits(&mut report, around.path())?;
    batches(&mut report, around.path())?;
    report.keep("commit", "What a durable change costs")
}

fn edits(report: &mut Report, around: &Path) -> Result<(), Failure> {
    let root = around.join("edits");
    fs::create_dir_all(&root)?;
    for name in ["ours.md", "bare.md"] {
        fs::write(root.join(name), text(0))?;
    }
    let vault = vault(&root, &around.join("state"));
    let database = Connection::open(around.join("bare.db"))?;
    database.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE old (number INTEGER PRIMARY KEY, text BLOB)",
    )?;
    let mut times: [Vec<Duration>; 3] = Default::default();
    // In turns, as the speed of a disk varies.
    for number in 1..=EDITS {
        let text = text(number);
        let bare = Instant::now();
        database.execute("INSERT INTO old (text) VALUES (?1)", [&text])?;
        replace(&root, "bare.md", &text)?;
        times[0].push(bare.elapsed());
        File::open(&root)?.sync_all()?;
        times[1].push(bare.elapsed());
        let ours = Instant::now();
        commit(&vault, &["ours.md".to_owned()], &text)?;
        times[2].push(ours.elapsed());
    }
    let [bare, synced, ours] = times.map(quantiles);
    report.row("temporary file, fsync, rename and one SQLite commit", bare, "");
    report.row("the same, and its folder synced", synced, "");
    report.row("one edit with its checkpoint", ours, &format!("{}, aim 1.5 ×", factor(ours, bare)));
    Ok(())
}

fn batches(report: &mut Report, around: &Path) -> Result<(), Failure> {
    let mut times: [Vec<Duration>; 2] = Default::default();
    let names: Vec<String> = (0..BATCH).map(|number| format!("{}/{number}.md", number % 10)).collect();
    for batch in 1..=BATCHES {
        for name in ["bare", "ours"] {
            for note in &names {
                let path = around.join(format!("{name} {batch}")).join(note);
                fs::create_dir_all(path.parent().ok_or("a note is in a folder")?)?;
                fs::write(path, text(0))?;
            }
        }
        rustix::fs::sync();
        let root = around.join(format!("bare {batch}"));
        let text = text(batch);
        let bare = Instant::now();
        for note in &names {
            replace(&root, note, &text)?;
        }
        times[0].push(bare.elapsed());
        let root = around.join(format!("ours {batch}"));
        let vault = vault(&root, &around.join("state"));
        let ours = Instant::now();
        commit(&vault, &names, &text)?;
        times[1].push(ours.elapsed());
    }
    let [bare, ours] = times.map(quantiles);
    report.row(&format!("{BATCH} times temporary file, fsync, rename"), bare, "");
    report.row(&format!("one change of {BATCH} files, all or nothing"), ours, &factor(ours, bare));
    Ok(())
}

fn quantiles(mut times: Vec<Duration>) -> Times {
    times.sort();
    Times { p50: times[times.len() / 2], p95: times[times.len() * 95 / 100] }
}

fn factor(ours: Times, bare: Times) -> String {
    format!("{:.2} ×", ours.p50.as_secs_f64() / bare.p50.as_secs_f64())
}

fn text(number: usize) -> Vec<u8> {
    let mut text = format!("# Version {number}\n").into_bytes();
    while text.len() < BYTES {
        text.extend(format!("line {} of it, with [[a link]] and #tag-{number}\n", text.len()).into_bytes());
    }
    text
}

/// As any careful program saves a file.
fn replace(root: &Path, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let (path, beside) = (root.join(name), root.join(format!("{name}.tmp")));
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(beside, path)?;
    Ok(())
}

fn vault(root: &Path, state: &Path) -> Vault {
    let store = Arc::new(FolderStore::new(root.to_owned()));
    let state = Arc::new(StateFolder::new(state.to_owned(), root.to_owned()));
    Vault::shared("bench".to_owned(), store, &state, Policy::default(), VaultLimits::default())
}

fn commit(vault: &Vault, names: &[String], text: &[u8]) -> Result<(), Failure> {
    let view = vault.view(Arc::default(), u64::MAX);
    let mut changes = Vec::new();
    for name in names {
        let path = VaultPath::parse(name)?;
        let before = view.read(&path).map_err(|error| format!("{error:?}"))?;
        changes.push(Change::Write { path, before, guard: ContentGuard::Plan, content: text.to_vec().into() });
    }
    let origin = ChangeOrigin {
        tool: "bench".to_owned(),
        client: "bench".to_owned(),
        time: SystemTime::now(),
        approval: None,
        call: None,
        restores: false,
    };
    vault.turn(&|| true)?.commit(&ChangeSet { changes }, &Scope::default(), &origin)?;
    Ok(())
}
