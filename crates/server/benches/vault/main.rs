//! The cost of a large vault: building its index, starting with a saved one, querying it, searching it, and the memory
//! for all of that; and the quality of the ranked search. Compared with `rg` on the same tree in the same run. Results
//! are kept in `benches/results/`.

#![expect(clippy::disallowed_methods, reason = "a benchmark plays other programs and reads the disk for comparison")]

#[path = "../wire/client.rs"]
#[allow(dead_code, reason = "shared with another benchmark")]
mod client;
#[path = "../wire/generate.rs"]
mod generate;
mod judged;
mod meaning;
#[path = "../../../vault/benches/judged/measures.rs"]
#[allow(dead_code, reason = "shared with another benchmark")]
mod measures;
mod queries;
mod questions;
mod ranked;
#[path = "../wire/report.rs"]
#[allow(dead_code, reason = "shared with another benchmark")]
mod report;
mod subjects;

use std::{
    fs, io,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use client::Server;
use report::{Failure, Report, Times, quantiles};
use serde_json::{Value, json};

/// A text that is in a few notes of a hundred.
const QUERY: &str = "garnet letter";
const NOTE: &str = "Area 000/Note 0.md";

fn main() -> Result<(), Failure> {
    // `cargo test` builds benchmarks too and runs them without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let around = tempfile::tempdir()?;
    let mut report = Report::new(&["what", "", "aim"]);
    // `-- --everyday` measures the graph, the tasks and the health check alone.
    if std::env::args().any(|argument| argument == "--everyday") {
        for notes in [10_000, 100_000] {
            everyday(&mut report, around.path(), notes)?;
        }
        return report.keep("everyday", "What everyday questions cost");
    }
    // `-- --meaning` measures the search by meaning alone.
    if std::env::args().any(|argument| argument == "--meaning") {
        meaning::measure(&mut report, around.path())?;
        return report.keep("meaning", "What the search by meaning costs");
    }
    judged::measure(&mut report, around.path())?;
    questions::measure(&mut report, around.path())?;
    // `cargo bench --bench vault -- --quick` leaves out the parts that take minutes.
    if std::env::args().any(|argument| argument == "--quick") {
        return Ok(());
    }
    for notes in [10_000, 100_000] {
        queries::measure(&mut report, around.path(), notes)?;
    }
    // `-- --queries` measures nothing else.
    if std::env::args().any(|argument| argument == "--queries") {
        return report.keep("queries", "What queries cost");
    }
    for notes in [10_000, 100_000] {
        let root = around.path().join(notes.to_string());
        eprintln!("writing {notes} notes …");
        generate::vault(&root, notes, 1)?;
        // Files that have just been written are not trusted to be the same at the next start.
        std::thread::sleep(Duration::from_secs(3));
        measure(&mut report, &root, around.path(), notes)?;
    }
    meaning::measure(&mut report, around.path())?;
    report.keep("vault", "What a large vault costs")
}

/// Questions about the whole vault that are asked every day.
fn everyday(report: &mut Report, around: &Path, notes: usize) -> Result<(), Failure> {
    let root = around.join(format!("everyday-{notes}"));
    eprintln!("writing {notes} notes …");
    generate::vault(&root, notes, 1)?;
    std::thread::sleep(Duration::from_secs(3));
    let mut say = |what: &str, found: String, aim: &str| report.say(format!("| {what} | {found} | {aim} |"));
    say(&format!("**{notes} notes**"), format!("{:.1} MB", megabytes(size(&root)?)), "");
    let near = json!({ "file": NOTE, "hops": 2 });
    let mut server = asked(&root, around, "graph_neighbors", &near)?;
    say("`graph_neighbors`, two links away", both(calls(&mut server, "graph_neighbors", &near, 200)?), "p50 2 ms");
    let times = calls(&mut server, "vault_health_check", &json!({}), 5)?;
    say("`vault_health_check`", both(times), if notes == 10_000 { "p50 2 s" } else { "" });
    let times = calls(&mut server, "schema_infer", &json!({ "property": { "rating": "3" } }), 15)?;
    say("`schema_infer` by a property", both(times), "");
    drop(server);
    fs::remove_dir_all(&root)?;
    queries::tasks(report, around, notes)
}

fn measure(report: &mut Report, root: &Path, around: &Path, notes: usize) -> Result<(), Failure> {
    let text = size(root)?;
    let mut say = |what: &str, found: String, aim: &str| report.say(format!("| {what} | {found} | {aim} |"));
    say(&format!("**{notes} notes**"), format!("{:.1} MB", megabytes(text)), "");

    let backlinks = json!({ "file": NOTE, "direction": "backlinks" });
    let (mut first, cold) = timed(|| asked(root, around, "links_get", &backlinks))?;
    let (cpu, peak) = (processor(&first)?, memory(&first, "VmHWM")?);
    say(
        "start without a cache to the first backlinks",
        format!("{}, {cpu:.2} s of processor", shown(cold)),
        if notes == 100_000 { "5 s of processor" } else { "" },
    );
    say("peak memory by then", format!("{:.0} MB", megabytes(peak)), "");
    let times = calls(&mut first, "links_get", &backlinks, 500)?;
    say("`links_get` over stdio", both(times), "p50 1 ms");
    let times = calls(&mut first, "metadata_read", &json!({ "file": NOTE }), 500)?;
    say("`metadata_read` (an outline) over stdio", both(times), "p50 1 ms");
    let around_it = json!({ "file": NOTE, "hops": 2 });
    let times = calls(&mut first, "graph_neighbors", &around_it, 500)?;
    say("`graph_neighbors`, two links away, over stdio", both(times), "p50 2 ms");
    let times = calls(&mut first, "note_context", &json!({ "file": NOTE }), 50)?;
    say("`note_context` over stdio", both(times), "");
    let times = calls(&mut first, "vault_health_check", &json!({}), 7)?;
    say("`vault_health_check` over stdio", both(times), if notes == 10_000 { "p50 2 s" } else { "" });
    let times = edits(&mut first, root, &backlinks)?;
    say("`links_get` right after another program saved a note", both(times), "5 ms to index it again");
    // Ends by itself, so that it saves its index.
    first.finish()?;

    let times = quantiles(7, || timed(|| asked(root, around, "links_get", &backlinks)).map(|(_, took)| took))?;
    say("start with a good cache to the first backlinks", both(times), if notes == 100_000 { "0.7 s" } else { "" });

    let rg = quantiles(7, || ripgrep(root))?;
    say(&format!("`rg -c '{QUERY}'`"), both(rg), "");
    let search = json!({ "query": QUERY, "limit": 10 });
    let cold = quantiles(7, || timed(|| asked(root, around, "search_content", &search)).map(|(_, took)| took))?;
    say("start and first scan", format!("{}, {}", both(cold), times_of(cold, rg)), "1.5 × `rg`");
    let mut server = asked(root, around, "search_content", &search)?;
    let warm = calls(&mut server, "search_content", &search, 50)?;
    say("scan over stdio", format!("{}, {}", both(warm), times_of(warm, rg)), "0.5 × `rg` at 10,000");
    let fold = json!({ "query": QUERY, "limit": 10, "ignore_case": true });
    say("the same without case", both(calls(&mut server, "search_content", &fold, 50)?), "");
    let regex = json!({ "query": "garnet\\s+l\\w+r", "limit": 10, "regex": true });
    say("a regular expression", both(calls(&mut server, "search_content", &regex, 50)?), "");
    call(&mut server, "links_get", &backlinks)?;
    let limit = 60.0 + 2.5 * megabytes(text);
    let peak = megabytes(memory(&server, "VmHWM")?);
    say("peak memory with index and all texts", format!("{peak:.0} MB"), &format!("{limit:.0} MB"));

    let one = memory(&server, "VmRSS")?;
    let others =
        (0..4).map(|_| asked(root, around, "file_read", &json!({ "file": NOTE }))).collect::<Result<Vec<_>, _>>()?;
    let five = others.iter().try_fold(one, |sum, other| memory(other, "VmRSS").map(|memory| sum + memory))?;
    say(
        "five servers, one of which was asked to search",
        format!("{:.0} MB, the one {:.0} MB", megabytes(five), megabytes(one)),
        "one and four small ones",
    );
    drop((server, others));
    ranked::measure(&mut say, root, around, notes)
}

/// A server that has answered one call.
fn asked(root: &Path, around: &Path, tool: &str, arguments: &Value) -> Result<Server, Failure> {
    let mut server = Server::start(root, around)?;
    call(&mut server, tool, arguments)?;
    Ok(server)
}

fn call(server: &mut Server, tool: &str, arguments: &Value) -> Result<(), Failure> {
    let reply = server.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
    if reply["result"]["isError"] == false { Ok(()) } else { Err(reply.to_string().into()) }
}

fn calls(server: &mut Server, tool: &str, arguments: &Value, runs: usize) -> Result<Times, Failure> {
    quantiles(runs, || timed(|| call(server, tool, arguments)).map(|((), took)| took))
}

fn edits(server: &mut Server, root: &Path, arguments: &Value) -> Result<Times, Failure> {
    let mut number = 0;
    quantiles(100, || {
        number += 1;
        fs::write(root.join("Area 000/Note 1.md"), format!("# {number}\n[[Note 0]] and [[Note 2]]\n"))?;
        timed(|| call(server, "links_get", arguments)).map(|((), took)| took)
    })
}

fn ripgrep(root: &Path) -> Result<Duration, Failure> {
    let found = timed(|| Command::new("rg").args(["-c", QUERY]).current_dir(root).stdout(Stdio::null()).status());
    let (status, took) = found.map_err(|error| format!("`rg` has to be installed: {error}"))?;
    if status.success() { Ok(took) } else { Err("rg found nothing".into()) }
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let started = Instant::now();
    let done = work()?;
    Ok((done, started.elapsed()))
}

fn shown(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn both(times: Times) -> String {
    format!("p50 {}, p95 {}", shown(times.p50), shown(times.p95))
}

fn times_of(ours: Times, other: Times) -> String {
    format!("{:.2} × `rg`", ours.p50.as_secs_f64() / other.p50.as_secs_f64())
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// What a process has used, in seconds.
fn processor(server: &Server) -> io::Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", server.child.id()))?;
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Ok(ticks as f64 / 100.0)
}

fn memory(server: &Server, name: &str) -> Result<u64, Failure> {
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id()))?;
    let line = status.lines().find(|line| line.starts_with(name)).ok_or("no such line")?;
    let kilobytes: u64 = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kilobytes * 1024)
}

fn size(root: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}
