//! With any arguments and any note: every call is answered, refused calls change nothing, and the server stays within
//! its memory.
//!
//! `LAPIDARY_SOAK_SECONDS` runs these for longer and with larger notes; `make soak` does.

mod arguments;
mod attacks;
mod chance;
mod concurrent;
mod memory;
mod notes;
mod unread;

use std::{
    collections::BTreeMap,
    process::Command,
    time::{Duration, Instant, SystemTime},
};

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, reason};

/// The memory limit of a server.
const KILOBYTES: u64 = 512 * 1024;

/// How long the long form runs; `None` for the short one.
fn soak_time() -> Option<Duration> {
    let seconds = std::env::var("LAPIDARY_SOAK_SECONDS").ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// A server with limited memory, everything switched on and no approvals.
fn limited(vault: &Vault, environment: &[(&str, &str)]) -> Server {
    let lapidary = vault.command();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -d {KILOBYTES}; exec \"$0\" \"$@\"")]).arg(lapidary.get_program());
    command.arg("--vault").arg(vault.path()).args(["--tools", "all"]);
    command.env_clear().current_dir(lapidary.get_current_dir().unwrap());
    command.envs(lapidary.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.envs([
        ("LAPIDARY_REPETITION", "off"),
        ("LAPIDARY_MAX_FAILURES", "0"),
        ("LAPIDARY_APPROVAL", "write=allow,destroy=allow"),
        ("OBSIDIAN_DELETE_ELICITATION", "false"),
        ("MCP_DEADLINE_MS", "10000"),
        // If each thread keeps its freed memory, usage depends on the number of cores.
        ("MALLOC_ARENA_MAX", "2"),
    ]);
    command.envs(environment.iter().copied());
    Server::spawn(command).open(Era::Modern)
}

/// The state of the disk, without reading it: one call of thousands is checked for its changes.
fn state(vault: &Vault) -> BTreeMap<std::path::PathBuf, (u64, Option<SystemTime>)> {
    let mut state = BTreeMap::new();
    let mut folders = vec![vault.path()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map_while(Result::ok) {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                state.insert(entry.path(), (metadata.len(), metadata.modified().ok()));
            }
        }
    }
    state
}

fn fill(vault: &Vault, files: &[(String, Vec<u8>)]) {
    files.iter().for_each(|(path, bytes)| vault.write(path, bytes));
}

/// The peak memory of a process, in kilobytes.
fn peak(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The answer to a call, which comes, and is never an internal error.
fn answered(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    let shown = || arguments.to_string().chars().take(2000).collect::<String>();
    let id = server.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
    let Some(reply) = server.answer_within(Duration::from_secs(120), id) else {
        panic!("{tool} {} was not answered; {:?}", shown(), server.exited());
    };
    let result = reply["result"].clone();
    assert!(result.is_object() || reply.get("error").is_some(), "{tool} {}: {reply}", shown());
    if result["isError"] == true {
        assert_ne!(reason(&result), "internal_error", "{tool} {}: {result}", shown());
    }
    result
}

/// The same for a request other than a tool call.
fn replied(server: &mut Server, method: &str, params: &Value) {
    let shown = || params.to_string().chars().take(2000).collect::<String>();
    let id = server.ask(method, params.clone());
    let Some(reply) = server.answer_within(Duration::from_secs(120), id) else {
        panic!("{method} {} was not answered; {:?}", shown(), server.exited());
    };
    let is_fault = reply["error"]["code"] == -32603 || reply["error"].to_string().contains("internal_error");
    assert!(!is_fault && (reply["result"].is_object() || reply["error"].is_object()), "{method} {}: {reply}", shown());
}

#[cfg(target_os = "linux")]
#[test]
fn no_call_ends_the_server_and_refusals_change_nothing() {
    let (time, size) = soak_time().map_or((None, 2_000), |time| (Some(time), 20_000));
    let files = notes::vault(size);
    let hash = |bytes: &[u8]| lapidary_note::ContentHash::of(bytes).to_string();
    let hashes = files.iter().map(|(path, bytes)| (path.clone(), hash(bytes))).collect();
    let paths: Vec<String> = files.iter().map(|(path, _)| path.clone()).collect();
    let vault = Vault::new(&[]);
    fill(&vault, &files);
    let mut server = limited(&vault, &[]);
    let schemas: Vec<(&str, Value)> = lapidary_tools::TOOLS
        .iter()
        .map(|tool| (tool.spec().name(), Value::Object(tool.spec().input().clone())))
        .map(|(name, schema)| (&*String::leak(name.to_owned()), schema))
        .collect();
    let tools: Vec<&str> = schemas.iter().map(|(name, _)| *name).collect();
    let chance = chance::Chance::new(if time.is_some() { u64::from(std::process::id()) } else { 1 });
    let mut arguments = arguments::Arguments { chance, size, paths: &paths, hashes: &hashes, tools: &tools };
    let started = Instant::now();
    let (mut calls, mut rounds) = (0_usize, 0);
    loop {
        for (tool, schema) in &schemas {
            let given = arguments.of(schema);
            let before = state(&vault);
            let result = answered(&mut server, tool, &given);
            calls += 1;
            let after = state(&vault);
            if result["isError"] == true {
                assert_eq!(before, after, "{tool} was refused: {result}");
            }
            let (method, params) = arguments.request();
            replied(&mut server, method, &params);
            calls += 1;
            assert_eq!(state(&vault), after, "{method} only looks");
            if before != after {
                std::fs::remove_dir_all(vault.path()).unwrap();
                fill(&vault, &files);
            }
        }
        rounds += 1;
        if time.map_or(rounds >= 3, |time| started.elapsed() > time) {
            break;
        }
    }
    let alive = server.call("file_read", json!({ "file": "plain.md" }));
    assert_ne!(alive["isError"], true, "{alive}");
    println!("hostile calls: {calls} answered, {} MB at most", peak(&server) / 1024);
}
