//! How long a client waits, against what the system itself takes, in one run. Results are kept in `benches/results/`.

#![expect(clippy::disallowed_methods, reason = "a benchmark plays the client and reads the disk for comparison")]

mod generate;

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    // `cargo test` builds benchmarks too and runs them without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let around = tempfile::tempdir()?;
    let (small, large) = (around.path().join("small"), around.path().join("large"));
    generate::vault(&small, 10, 1)?;
    eprintln!("writing 100,000 notes …");
    generate::vault(&large, 100_000, 1)?;

    let mut report = Report::default();
    report.row("spawn of a program that does nothing (`true`)", quantiles(40, spawn_true)?, "the floor");
    for (vault, name) in [(&small, "10"), (&large, "100,000")] {
        let times = quantiles(40, || first_list(vault, around.path()))?;
        report.row(&format!("spawn to first `tools/list`, {name} notes"), times, "aim: under 10 ms");
    }
    let note = "Area 000/Note 0.md";
    report.row("read of a note by the system alone", quantiles(2000, || read(&small.join(note)))?, "the floor");
    report.row("a line through a pipe and back (`cat`)", echo(2000)?, "the floor");
    for (tool, arguments) in calls(note) {
        let times = call(&large, around.path(), tool, &arguments, 2000)?;
        report.row(
            &format!("`{tool}` over stdio, 100,000 notes"),
            times,
            if tool == "file_read" { "aim: p50 under 0.3 ms" } else { "" },
        );
    }
    report.row("`str_replace` over stdio, durable on disk", edits(&small, around.path(), note, 200)?, "two fsync");
    report.sizes(&sizes(&small, around.path())?);
    report.keep()
}

fn calls(note: &str) -> [(&'static str, Value); 3] {
    let target = json!({ "type": "path", "path": note });
    [
        ("file_read", json!({ "file": note })),
        ("obsidian_get_note", json!({ "format": "full", "target": target })),
        ("find_tool", json!({ "query": "read a file" })),
    ]
}

/// What a model sees of the default list, and what is sent in all.
fn sizes(vault: &Path, state: &Path) -> Result<[(&'static str, usize); 3], Failure> {
    let mut server = Server::start(vault, state)?;
    let list = server.request("tools/list", &json!({}))?;
    let tools = list["result"]["tools"].as_array().cloned().unwrap_or_default();
    let seen = |tool: &Value| {
        json!({ "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"] })
            .to_string()
            .len()
    };
    let discovered = server.request("server/discover", &json!({}))?;
    Ok([
        ("default list as a model sees it (names, descriptions, input schemas)", tools.iter().map(seen).sum()),
        ("whole `tools/list` reply", list.to_string().len()),
        ("instructions", discovered["result"]["instructions"].as_str().unwrap_or_default().len()),
    ])
}

#[derive(Clone, Copy)]
struct Times {
    p50: Duration,
    p95: Duration,
}

fn quantiles(runs: usize, mut run: impl FnMut() -> Result<Duration, Failure>) -> Result<Times, Failure> {
    let mut times = (0..runs).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    times.sort();
    Ok(Times { p50: times[runs / 2], p95: times[runs * 95 / 100] })
}

fn spawn_true() -> Result<Duration, Failure> {
    let started = Instant::now();
    Command::new("true").status()?;
    Ok(started.elapsed())
}

fn first_list(vault: &Path, state: &Path) -> Result<Duration, Failure> {
    let started = Instant::now();
    let mut server = Server::start(vault, state)?;
    server.request("tools/list", &json!({}))?;
    Ok(started.elapsed())
}

fn read(path: &Path) -> Result<Duration, Failure> {
    let started = Instant::now();
    let bytes = fs::read(path)?;
    std::hint::black_box(bytes);
    Ok(started.elapsed())
}

fn echo(runs: usize) -> Result<Times, Failure> {
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (mut input, mut output) = pipes(&mut child)?;
    let line = format!("{}\n", "x".repeat(1500));
    let times = quantiles(runs, || {
        let started = Instant::now();
        input.write_all(line.as_bytes())?;
        output.read_line(&mut String::new())?;
        Ok(started.elapsed())
    });
    drop(input);
    child.wait()?;
    times
}

fn call(vault: &Path, state: &Path, tool: &str, arguments: &Value, runs: usize) -> Result<Times, Failure> {
    let mut server = Server::start(vault, state)?;
    let params = json!({ "name": tool, "arguments": arguments });
    quantiles(runs, || {
        let started = Instant::now();
        let reply = server.request("tools/call", &params)?;
        let took = started.elapsed();
        if reply["result"]["isError"] == true { Err(reply.to_string().into()) } else { Ok(took) }
    })
}

fn edits(vault: &Path, state: &Path, note: &str, runs: usize) -> Result<Times, Failure> {
    let mut server = Server::start(vault, state)?;
    let mut number = 0;
    quantiles(runs, || {
        let (find, replace) =
            if number % 2 == 0 { ("## Section 1", "## Part 1") } else { ("## Part 1", "## Section 1") };
        number += 1;
        let params = json!({ "name": "str_replace", "arguments": { "file": note, "find": find, "replace": replace } });
        let started = Instant::now();
        let reply = server.request("tools/call", &params)?;
        let took = started.elapsed();
        if reply["result"]["isError"] == true { Err(reply.to_string().into()) } else { Ok(took) }
    })
}

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(vault: &Path, around: &Path) -> Result<Self, Failure> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lapidary"))
            .arg("--vault")
            .arg(vault)
            .env("LAPIDARY_STATE_DIR", around.join("state"))
            .env("LAPIDARY_REPETITION", "off")
            .env("MCP_LOG_LEVEL", "error")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = pipes(&mut child)?;
        Ok(Self { child, input, output })
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        let mut params = params.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.input.write_all(format!("{request}\n").as_bytes())?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A benchmark that failed has said so already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn pipes(child: &mut Child) -> Result<(ChildStdin, BufReader<ChildStdout>), Failure> {
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Ok((input, BufReader::new(output))),
        _ => Err("the pipes were asked for".into()),
    }
}

#[derive(Default)]
struct Report {
    rows: Vec<String>,
}

impl Report {
    fn row(&mut self, what: &str, times: Times, remark: &str) {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        self.say(format!("| {what} | {:.3} | {:.3} | {remark} |", milliseconds(times.p50), milliseconds(times.p95)));
    }

    fn sizes(&mut self, sizes: &[(&str, usize)]) {
        self.say("\n| what | bytes |\n|---|---|".to_owned());
        for (what, bytes) in sizes {
            self.say(format!("| {what} | {bytes} |"));
        }
    }

    fn say(&mut self, row: String) {
        eprintln!("{row}");
        self.rows.push(row);
    }

    fn keep(&self) -> Result<(), Failure> {
        let (date, commit) = (output_of("date", &["+%F"])?, output_of("git", &["rev-parse", "--short", "HEAD"])?);
        let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        let page = format!(
            "# What a client waits for, {date}, after {commit}\n\n{cores} cores, release build. `make bench` wrote this.\n\n\
             | what | p50 ms | p95 ms | |\n|---|---|---|---|\n{}\n",
            self.rows.join("\n")
        );
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/results");
        fs::create_dir_all(&results)?;
        let path = results.join(format!("{date}-{commit}-wire.md"));
        fs::write(&path, page)?;
        eprintln!("kept as {}", path.display());
        Ok(())
    }
}

fn output_of(program: &str, arguments: &[&str]) -> Result<String, io::Error> {
    let output = Command::new(program).args(arguments).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
