//! How many instructions a call costs, counted by `valgrind --tool=callgrind` and therefore the same on a busy machine, for
//! this version and for an earlier one in the same run. Results are kept in `benches/results/`.
//!
//! The earlier version is `LAPIDARY_BASELINE`, a commit of this repository; it is built on first use.

#![expect(clippy::disallowed_methods, reason = "a benchmark plays the client and prepares its own folders")]

#[path = "../wire/client.rs"]
#[allow(dead_code, reason = "shared with another benchmark")]
mod client;
#[path = "../wire/generate.rs"]
mod generate;
#[path = "../wire/report.rs"]
#[allow(dead_code, reason = "shared with another benchmark")]
mod report;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use client::Server;
use report::{Failure, Report};
use serde_json::{Value, json};

/// The commit before the pipeline had one executor.
const BASELINE: &str = "b03b60e";
const NOTE: &str = "Area 000/Note 0.md";
/// The first calls fill caches; they are made but not counted.
const WARM_UP: usize = 10;
const COUNTED: usize = 50;

/// A call that is repeated.
struct Subject {
    name: &'static str,
    aim: &'static str,
    call: fn(usize) -> Value,
}

const SUBJECTS: [Subject; 4] = [
    Subject { name: "`file_read`", aim: "60 %", call: |_| call("file_read", &json!({ "file": NOTE })) },
    Subject {
        name: "`obsidian_get_note`, full",
        aim: "60 %",
        call: |_| call("obsidian_get_note", &json!({ "format": "full", "target": { "type": "path", "path": NOTE } })),
    },
    Subject {
        name: "`str_replace`",
        aim: "60 %",
        call: |number| {
            let headings = ["## Section 1", "## Part 1"];
            let (find, replace) = (headings[number % 2], headings[(number + 1) % 2]);
            call("str_replace", &json!({ "file": NOTE, "find": find, "replace": replace }))
        },
    },
    Subject {
        name: "ranked search, 1,000 notes",
        aim: "100 %",
        call: |_| call("obsidian_search_notes", &json!({ "mode": "omnisearch", "query": "garnet letter" })),
    },
];

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

fn main() -> Result<(), Failure> {
    // `cargo test` builds benchmarks too and runs them without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let revision = std::env::var("LAPIDARY_BASELINE").unwrap_or_else(|_| BASELINE.to_owned());
    let (before, now) = (baseline(&revision)?, PathBuf::from(env!("CARGO_BIN_EXE_lapidary")));
    let around = tempfile::tempdir()?;
    let mut report = Report::new(&["instructions", &revision, "now", "share", "aim"]);
    let start = [&before, &now].map(|program| instructions(program, around.path(), list));
    row(&mut report, "start to first `tools/list`", start, "100 %")?;
    for Subject { name, aim, call } in SUBJECTS {
        let counted = [&before, &now].map(|program| {
            let calls = |number: usize| {
                move |server: &mut Server| (0..number).try_for_each(|number| ask(server, &call(number)))
            };
            let most = instructions(program, around.path(), calls(WARM_UP + COUNTED))?;
            let least = instructions(program, around.path(), calls(WARM_UP))?;
            Ok(most.saturating_sub(least) / COUNTED as u64)
        });
        row(&mut report, name, counted, aim)?;
    }
    report.keep("instructions", "What a call costs in instructions")
}

fn row(report: &mut Report, name: &str, counted: [Result<u64, Failure>; 2], aim: &str) -> Result<(), Failure> {
    let [before, now] = counted;
    let (before, now) = (before?, now?);
    let share = 100 * now / before.max(1);
    report.say(format!("| {name} | {before} | {now} | {share} % | {aim} |"));
    Ok(())
}

/// The program of an earlier version, built outside this working tree.
fn baseline(revision: &str) -> Result<PathBuf, Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tree = root.join("target/baseline").join(revision);
    let program = tree.join("target/release/lapidary");
    if !program.exists() {
        if !tree.exists() {
            run(Command::new("git")
                .current_dir(&root)
                .args(["worktree", "add", "--force", "--detach"])
                .arg(&tree)
                .arg(revision))?;
        }
        let build = ["build", "--release", "--locked", "--package", "lapidary-server", "--bin", "lapidary"];
        run(Command::new("cargo").current_dir(&tree).env("CARGO_TARGET_DIR", tree.join("target")).args(build))?;
    }
    Ok(program)
}

fn run(command: &mut Command) -> Result<(), Failure> {
    if command.status()?.success() { Ok(()) } else { Err(format!("{command:?} failed").into()) }
}

/// All instructions of a server from its start to its end, for a separate vault and state folder.
fn instructions(
    program: &Path,
    around: &Path,
    session: impl FnOnce(&mut Server) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let folder = tempfile::tempdir_in(around)?;
    let (vault, log) = (folder.path().join("vault"), folder.path().join("callgrind"));
    generate::vault(&vault, 1_000, 1)?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(format!("--log-file={}", log.display()));
    let mut server = Server::start_as(valgrind.arg(program), &vault, folder.path())?;
    session(&mut server)?;
    server.finish()?;
    let log = fs::read_to_string(log)?;
    let collected = log.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, count)| count.trim());
    Ok(collected.ok_or("callgrind counted nothing")?.parse()?)
}

fn list(server: &mut Server) -> Result<(), Failure> {
    server.request("tools/list", &json!({})).map(drop)
}

fn ask(server: &mut Server, params: &Value) -> Result<(), Failure> {
    let reply = server.request("tools/call", params)?;
    if reply["error"].is_null() && reply["result"]["isError"] != true { Ok(()) } else { Err(reply.to_string().into()) }
}
