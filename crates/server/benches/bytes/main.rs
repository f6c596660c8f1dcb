//! What a model pays for forty everyday calls and five tasks on the demo vault: the bytes of requests, answers, refusals and of the list,
//! beside the last result, which is kept in `benches/results/bytes.md`. The build does not matter, so any profile will do.

#![expect(clippy::disallowed_methods, reason = "a benchmark plays the client and keeps its results")]

mod calls;
#[path = "../wire/client.rs"]
#[allow(dead_code, reason = "shared with another benchmark")]
mod client;
#[path = "../wire/report.rs"]
#[allow(dead_code, reason = "shared with another benchmark")]
mod report;
mod tasks;

use std::{collections::BTreeMap, fs, path::Path};

use calls::EverydayCall;
use client::Server;
use report::Failure;
use serde_json::{Value, json};
use tasks::TaskBytes;

const RESULT: &str = "../../benches/results/bytes.md";

fn main() -> Result<(), Failure> {
    // `cargo test` builds benchmarks too and runs them without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let around = tempfile::tempdir()?;
    let vault = around.path().join("Demo");
    copy(&root.join("../../demo"), &vault)?;
    let mut server = Server::start(&vault, around.path())?;
    let kept = root.join(RESULT);
    let last = sizes(&fs::read_to_string(&kept).unwrap_or_default());
    let mut rows = vec![("the list of tools".to_owned(), 0, listed(&mut server)?)];
    for EverydayCall { what, tool, arguments, is_refused } in calls::everyday() {
        let reply = server.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let parts = reply["result"]["content"].as_array().ok_or_else(|| reply.to_string())?;
        // A refusal is short, and would pass for a thrifty answer.
        if (reply["result"]["isError"] == true) != is_refused {
            let unexpected = if is_refused { "was not refused" } else { "was refused" };
            return Err(format!("{what}: {unexpected}: {}", reply["result"]).into());
        }
        let answer = parts.iter().map(|part| part["text"].as_str().unwrap_or_default().len()).sum();
        rows.push((format!("{what} (`{tool}`)"), tool.len() + arguments.to_string().len(), answer));
    }
    server.finish()?;
    let all = rows.iter().fold((0, 0), |(sent, got), (_, request, answer)| (sent + request, got + answer));
    rows.push(("all of them".to_owned(), all.0, all.1));
    let mut page = String::from(
        "# What a model pays, in bytes\n\nForty everyday calls on the demo vault, as text. `make bench` wrote this.\n\n\
         | call | request | answer |\n|---|---|---|\n",
    );
    for (what, request, answer) in &rows {
        page += &format!("| {what} | {request} | {answer} |\n");
        let before = last.get(what.as_str()).map_or_else(String::new, |(sent, got)| {
            let (sent, got) = (change(*sent, *request), change(*got, *answer));
            if (sent.as_str(), got.as_str()) == ("", "") { String::new() } else { format!("  {sent} {got}") }
        });
        eprintln!("{request:>6} {answer:>6}  {what}{before}");
    }
    page += &tasks_table(around.path())?;
    fs::write(&kept, page)?;
    eprintln!("kept as {}", kept.display());
    Ok(())
}

/// Five tasks in three ways.
fn tasks_table(around: &Path) -> Result<String, Failure> {
    let mut page = String::from(
        "\n## Tasks of several steps\n\nCalls and bytes, requests and answers together: call by call, by a recipe of the demo vault, and with a script for \
         what is only read.\n\n| task | call by call | recipe | script |\n|---|---|---|---|\n",
    );
    let cell = |way: Option<(usize, usize)>| match way {
        None => "–".to_owned(),
        Some((1, bytes)) => format!("1 call, {bytes}"),
        Some((calls, bytes)) => format!("{calls} calls, {bytes}"),
    };
    for TaskBytes { what, by_hand, by_recipe, by_script } in tasks::all(around)? {
        let row = format!("| {what} | {} | {} | {} |\n", cell(Some(by_hand)), cell(by_recipe), cell(by_script));
        eprint!("{row}");
        page += &row;
    }
    let [recipe, script] = tasks::finding(around)?;
    let row = format!("| once before: `find_tool` | – | {} | {} |\n", cell(Some(recipe)), cell(Some(script)));
    eprint!("{row}");
    Ok(page + &row)
}

fn change(before: usize, now: usize) -> String {
    match now.cmp(&before) {
        std::cmp::Ordering::Equal => String::new(),
        std::cmp::Ordering::Less => format!("-{}", before - now),
        std::cmp::Ordering::Greater => format!("+{}", now - before),
    }
}

/// The rows of a page that was kept.
fn sizes(page: &str) -> BTreeMap<String, (usize, usize)> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').rsplitn(3, '|').map(str::trim).collect();
        let [answer, request, what] = cells[..] else { return None };
        Some((what.to_owned(), (request.parse().ok()?, answer.parse().ok()?)))
    };
    page.lines().filter_map(row).collect()
}

/// What a model sees of the list.
fn listed(server: &mut Server) -> Result<usize, Failure> {
    let reply = server.request("tools/list", &json!({}))?;
    let tools = reply["result"]["tools"].as_array().ok_or("there is a list")?;
    let seen = |tool: &Value| {
        json!({ "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"] })
            .to_string()
            .len()
    };
    Ok(tools.iter().map(seen).sum())
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &place)?,
            false => {
                fs::copy(entry.path(), place)?;
            }
        }
    }
    Ok(())
}
