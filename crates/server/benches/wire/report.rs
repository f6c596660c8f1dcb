//! Times, and the page on which they are kept.

use std::{fs, io, path::Path, process::Command, time::Duration};

pub(crate) type Failure = Box<dyn std::error::Error>;

#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) p50: Duration,
    pub(crate) p95: Duration,
}

pub(crate) fn quantiles(runs: usize, mut run: impl FnMut() -> Result<Duration, Failure>) -> Result<Times, Failure> {
    let mut times = (0..runs).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    times.sort();
    Ok(Times { p50: times[runs / 2], p95: times[runs * 95 / 100] })
}

/// How large something is that goes over the wire.
pub(crate) struct Size {
    pub(crate) what: String,
    pub(crate) bytes: usize,
    pub(crate) limit: Option<usize>,
}

pub(crate) struct Report {
    rows: Vec<String>,
}

impl Report {
    pub(crate) fn new(columns: &[&str]) -> Self {
        let mut report = Self { rows: Vec::new() };
        report.say(format!("| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len())));
        report
    }

    pub(crate) fn row(&mut self, what: &str, times: Times, remark: &str) {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        self.say(format!("| {what} | {:.3} | {:.3} | {remark} |", milliseconds(times.p50), milliseconds(times.p95)));
    }

    /// Bytes, and how many there may be; more is a failure.
    pub(crate) fn sizes(&mut self, sizes: &[Size]) -> Result<(), Failure> {
        self.say("\n| what | bytes | limit |\n|---|---|---|".to_owned());
        for Size { what, bytes, limit } in sizes {
            let most = limit.map_or(String::new(), |limit| limit.to_string());
            self.say(format!("| {what} | {bytes} | {most} |"));
        }
        match sizes.iter().find(|size| size.limit.is_some_and(|limit| size.bytes >= limit)) {
            Some(Size { what, bytes, .. }) => Err(format!("{what}: {bytes} bytes are too many").into()),
            None => Ok(()),
        }
    }

    pub(crate) fn say(&mut self, row: String) {
        eprintln!("{row}");
        self.rows.push(row);
    }

    pub(crate) fn keep(&self, name: &str, title: &str) -> Result<(), Failure> {
        let (date, commit) = (output_of("date", &["+%F"])?, output_of("git", &["rev-parse", "--short", "HEAD"])?);
        let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        let build = if cfg!(debug_assertions) { "debug" } else { "release" };
        let page = format!(
            "# {title}, {date}, after {commit}\n\n{cores} cores, {build} build. `make bench` wrote this.\n\n{}\n",
            self.rows.join("\n")
        );
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/results");
        fs::create_dir_all(&results)?;
        let path = results.join(format!("{date}-{commit}-{name}.md"));
        fs::write(&path, page)?;
        eprintln!("kept as {}", path.display());
        Ok(())
    }
}

fn output_of(program: &str, arguments: &[&str]) -> Result<String, io::Error> {
    let output = Command::new(program).args(arguments).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
