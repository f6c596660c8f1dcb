//! How long a client waits, compared with the system itself, in one run. Results are kept in `benches/results/`.

#![expect(clippy::disallowed_methods, reason = "a benchmark plays the client and reads the disk for comparison")]

#[allow(dead_code, reason = "shared with another benchmark")]
mod client;
mod generate;
mod http_client;
mod report;
mod surgical;

use std::{
    fs,
    io::{BufRead, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use client::{Server, pipes};
use http_client::HttpServer;
use report::{Failure, Report, Size, Times, quantiles};
use serde_json::{Value, json};

fn main() -> Result<(), Failure> {
    // `cargo test` builds benchmarks too and runs them without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let around = tempfile::tempdir()?;
    let [small, usual, large] = ["small", "usual", "large"].map(|name| around.path().join(name));
    generate::vault(&small, 10, 1)?;
    generate::vault(&usual, 1_000, 1)?;
    eprintln!("writing 100,000 notes …");
    generate::vault(&large, 100_000, 1)?;

    let mut report = Report::new(&["what", "p50 ms", "p95 ms", ""]);
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
    let (tool, arguments) = ("file_read", json!({ "file": note }));
    let stdio = call(&large, around.path(), tool, &arguments, 2000)?;
    let http = call_over_http(&large, around.path(), tool, &arguments, 2000)?;
    let ratio = http.p50.as_secs_f64() / stdio.p50.as_secs_f64();
    let remark = format!("{ratio:.2} × of stdio right before; aim: p50 within 2 ×");
    report.row(&format!("`{tool}` over HTTP, 100,000 notes"), http, &remark);
    report.row("`str_replace` over stdio, durable on disk", edits(&small, around.path(), note, 200)?, "two fsync");
    let mut sizes = lists(&small, around.path())?;
    sizes.extend(answers(&small, around.path(), note, "10 notes")?);
    sizes.extend(answers(&usual, around.path(), note, "1,000 notes")?);
    let within = report.sizes(&sizes);
    let (surgical, rewriting) = surgical::bytes(&small, around.path())?;
    #[expect(clippy::cast_precision_loss, reason = "a share in per cent")]
    let share = 100.0 * surgical as f64 / rewriting as f64;
    report.say(format!(
        "\nTen `str_replace` in a note of 5,000 lines: {surgical} bytes sent and received; by `file_read` and `file_replace`: \
         {rewriting}. That is {share:.2} % (aim: under 2 %)."
    ));
    report.keep("wire", "What a client waits for")?;
    within
}

fn calls(note: &str) -> [(&'static str, Value); 3] {
    let target = json!({ "type": "path", "path": note });
    [
        ("file_read", json!({ "file": note })),
        ("obsidian_get_note", json!({ "format": "full", "target": target })),
        ("find_tool", json!({ "query": "read a file" })),
    ]
}

/// What a model sees of the default list, and what is sent in total.
fn lists(vault: &Path, state: &Path) -> Result<Vec<Size>, Failure> {
    let mut server = Server::start(vault, state)?;
    let list = server.request("tools/list", &json!({}))?;
    let tools = list["result"]["tools"].as_array().cloned().unwrap_or_default();
    let seen = |tool: &Value| {
        json!({ "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"] })
            .to_string()
            .len()
    };
    let discovered = server.request("server/discover", &json!({}))?;
    let size = |what: &str, bytes, limit| Size { what: what.to_owned(), bytes, limit };
    Ok(vec![
        size(
            "default list as a model sees it (names, descriptions, input schemas)",
            tools.iter().map(seen).sum(),
            Some(20_000),
        ),
        size("whole `tools/list` reply", list.to_string().len(), Some(50_000)),
        size("instructions", discovered["result"]["instructions"].as_str().unwrap_or_default().len(), Some(1_500)),
    ])
}

/// What a model gets for common calls: the text, or the structure if its client prefers that.
fn answers(vault: &Path, state: &Path, note: &str, notes: &str) -> Result<Vec<Size>, Failure> {
    let target = json!({ "type": "path", "path": note });
    let mut server = Server::start(vault, state)?;
    let mut sizes = Vec::new();
    for (tool, arguments, limit) in [
        ("obsidian_search_notes", json!({ "mode": "text", "query": "garnet" }), Some(8_000)),
        ("obsidian_search_notes", json!({ "mode": "text", "query": "stone roof" }), Some(8_000)),
        (
            "obsidian_search_notes",
            json!({ "mode": "jsonlogic", "logic": { "==": [{ "var": "frontmatter.rating" }, 4] } }),
            Some(8_000),
        ),
        ("obsidian_list_notes", json!({ "path": "Area 000" }), None),
        ("obsidian_list_tags", json!({}), None),
        ("obsidian_get_note", json!({ "format": "document-map", "target": target }), None),
        ("obsidian_get_note", json!({ "format": "full", "target": target }), None),
        ("find_tool", json!({ "query": "read a file" }), None),
    ] {
        let reply = server.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let result = &reply["result"];
        if result["isError"] == true {
            return Err(reply.to_string().into());
        }
        let text = result["content"][0]["text"].as_str().unwrap_or_default().len();
        let structured = result["structuredContent"].to_string().len();
        for (part, bytes) in [("text", text), ("structure", structured)] {
            sizes.push(Size { what: format!("`{tool}` {arguments}, {notes}, {part}"), bytes, limit });
        }
    }
    Ok(sizes)
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

fn call_over_http(vault: &Path, state: &Path, tool: &str, arguments: &Value, runs: usize) -> Result<Times, Failure> {
    let mut server = HttpServer::start(vault, state)?;
    quantiles(runs, || {
        let started = Instant::now();
        let reply = server.call(tool, arguments)?;
        let took = started.elapsed();
        let is_answer = reply["result"].is_object() && reply["result"]["isError"] != true;
        if is_answer { Ok(took) } else { Err(reply.to_string().into()) }
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
