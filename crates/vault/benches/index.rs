//! What the index of a large vault costs. Results are kept in `benches/results/`.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the disk for comparison")]

#[path = "../../server/benches/wire/generate.rs"]
mod generate;

use std::{
    fs, io,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use lapidary_vault::{
    Policy, Scope, Vault, VaultLimits, VaultPath,
    store::{FolderStore, StateFolder},
};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    // `cargo test` builds benchmarks too and runs them without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let around = tempfile::tempdir()?;
    for notes in [10_000, 100_000] {
        let root = around.path().join(notes.to_string());
        generate::vault(&root, notes, 1)?;
        let text = size(&root)?;
        println!("{notes} notes, {:.1} MB", text as f64 / 1e6);
        measure(&root, &around.path().join("state"))?;
    }
    Ok(())
}

fn open(root: &Path, state: &Path) -> Vault {
    let store = Arc::new(FolderStore::new(root.to_owned()));
    let state = Arc::new(StateFolder::new(state.to_owned(), root.to_owned()));
    Vault::shared("bench".to_owned(), store, &state, Policy::default(), VaultLimits::default())
}

fn measure(root: &Path, state: &Path) -> Result<(), Failure> {
    let scope = Arc::new(Scope::default());
    let view = |vault: &Vault| vault.view(Arc::clone(&scope), u64::MAX);
    let vault = open(root, state);
    timed("  walk", || view(&vault).files(&|| true).map(|files| files.iter().count()))??;
    drop(vault);
    let vault = open(root, state);
    timed("  index from nothing", || view(&vault).notes(&|| true).map(|_| ()))??;
    timed("  again", || view(&vault).notes(&|| true).map(|_| ()))??;
    let target = VaultPath::parse("Area 000/Note 0.md")?;
    timed("  backlinks", || {
        let view = view(&vault);
        let found = view.notes(&|| true).map(|notes| notes.backlinks(&target).len());
        println!("    {found:?}");
    })?;
    for _ in 0..3 {
        fs::write(root.join(target.as_str()), format!("[[Note 1]] {:?}", Instant::now()))?;
        timed("  after one edit", || view(&vault).notes(&|| true).map(|_| ()))??;
    }
    timed("  save", || vault.save_index())?;
    drop(vault);
    std::thread::sleep(Duration::from_millis(2100));
    let vault = open(root, state);
    timed("  index from the cache", || view(&vault).notes(&|| true).map(|_| ()))??;
    println!(
        "  {}",
        fs::read_to_string("/proc/self/status")?
            .lines()
            .filter(|line| line.starts_with("Vm"))
            .filter(|line| line.contains("HWM") || line.contains("RSS"))
            .collect::<Vec<_>>()
            .join(" ")
    );
    Ok(())
}

fn timed<T>(name: &str, work: impl FnOnce() -> T) -> io::Result<T> {
    let (started, cpu) = (Instant::now(), cpu()?);
    let done = work();
    println!(
        "{name}: {:.1} ms, {:.0} ms of processor",
        started.elapsed().as_secs_f64() * 1e3,
        (self::cpu()? - cpu) * 1e3
    );
    Ok(done)
}

/// What this process has used, in seconds.
fn cpu() -> io::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = fields.iter().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Ok(ticks as f64 / 100.0)
}

fn size(root: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}
