//! Start and end: no waiting for the vault, no orphans, no lost answers.

use std::{
    io::Write,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::harness::{Era, Vault, patience};

#[test]
fn it_ends_well_when_its_input_closes() {
    let vault = Vault::new(&[]);
    let server = vault.spawn().open(Era::Legacy("2025-11-25"));
    let (status, said) = server.end();
    assert!(status.success(), "{said}");
    assert!(said.contains("Notes"), "it says which vault it serves: {said}");
}

#[test]
fn it_ends_well_without_any_message() {
    let vault = Vault::new(&[]);
    let (status, said) = vault.spawn().end();
    assert!(status.success(), "{said}");
}

#[test]
fn requests_before_the_end_of_input_are_answered_and_done() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let mut server = vault.spawn().open(Era::Modern);
    let ids: Vec<u64> = (0..5)
        .map(|number| {
            let arguments = json!({ "target": { "type": "path", "path": format!("{number}.md") }, "content": "text" });
            server.ask("tools/call", json!({ "name": "obsidian_write_note", "arguments": arguments }))
        })
        .collect();
    server.close_input();
    let mut answered: Vec<u64> = (0..5)
        .map(|_| {
            let reply = server.message();
            assert_ne!(reply["result"]["isError"], true, "{reply}");
            reply["id"].as_u64().unwrap()
        })
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert!(server.wait().success());
    assert_eq!(vault.everything().len(), 6);
}

#[cfg(unix)]
#[test]
fn it_ends_with_its_parent_even_if_the_pipe_stays_open() {
    let vault = Vault::new(&[]);
    // The shell starts the server, prints its process id, and ends a little later; this test still holds the pipe. A
    // background job gets no input by default, hence the detour over descriptor 3.
    let mut shell = Command::new("sh")
        .args([
            "-c",
            "exec 3<&0; \"$0\" --vault \"$1\" <&3 >/dev/null & echo $!; sleep 1",
            env!("CARGO_BIN_EXE_lapidary"),
        ])
        .arg(vault.path())
        .env("LAPIDARY_STATE_DIR", vault.path().with_file_name("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut held = shell.stdin.take().unwrap();
    let output = shell.wait_with_output().unwrap();
    let id = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let alive = || Command::new("kill").args(["-0", &id]).stderr(Stdio::null()).status().unwrap().success();
    let started = Instant::now();
    while alive() {
        assert!(started.elapsed() < patience(), "the orphan {id} lives on");
        std::thread::sleep(Duration::from_millis(50));
    }
    // The pipe was open all the time.
    drop(held.write_all(b"\n"));
}

#[cfg(unix)]
#[test]
fn it_ends_when_told_to() {
    let vault = Vault::new(&[]);
    let mut server = vault.spawn().open(Era::Legacy("2025-11-25"));
    let told = Command::new("kill").args(["-TERM", &server.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert!(server.wait().success());
}

#[cfg(unix)]
#[test]
fn a_vault_on_a_disk_that_may_not_be_written_is_served() {
    let vault = Vault::new(&[("a.md", b"x")]);
    // The state folder cannot be created below a file.
    let state = vault.path().with_file_name("file");
    std::fs::write(&state, "").unwrap();
    let state = state.join("state");
    let mut server =
        vault.spawn_with(&["--read-only"], &[("LAPIDARY_STATE_DIR", state.to_str().unwrap())]).open(Era::Modern);
    assert_eq!(server.done("file_read", json!({ "file": "a.md" }))["content"], "x");
    assert_eq!(
        server.done("find_tool", json!({ "query": "read" }))["total"].as_u64().map(|total| total > 0),
        Some(true)
    );
    let mut writing = vault.spawn_with(&[], &[("LAPIDARY_STATE_DIR", state.to_str().unwrap())]).open(Era::Modern);
    let refused = writing.refused("str_replace", json!({ "file": "a.md", "find": "x", "replace": "y" }));
    assert_eq!((refused.as_str(), vault.read("a.md")), ("disk_error", b"x".to_vec()), "no change without a turn");
    let (status, said) = server.end();
    assert!(status.success());
    assert_eq!(said.matches("audit log cannot be written").count(), 1, "said once: {said}");
}

#[test]
fn the_vault_contains_nothing_of_ours() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let mut server = vault.spawn().open(Era::Modern);
    server.done("str_replace", json!({ "file": "a.md", "find": "x", "replace": "y" }));
    server.refused("str_replace", json!({ "file": "a.md", "find": "x", "replace": "y" }));
    server.stop();
    assert_eq!(vault.everything().into_keys().collect::<Vec<_>>(), ["a.md"]);
}

#[test]
fn a_call_with_no_time_left_is_refused_and_changes_nothing() {
    let vault = Vault::new(&[("a.md", "x".repeat(4 << 20).as_bytes())]);
    let mut server = vault.spawn_with(&[], &[("MCP_DEADLINE_MS", "1")]).open(Era::Modern);
    let edit = json!({ "file": "a.md", "find": "x", "replace": "yy", "occurrence": "all" });
    let result: Value = server.call("str_replace", edit);
    assert_eq!(crate::harness::reason(&result), "deadline_exceeded", "{result}");
    server.stop();
    assert_eq!(vault.read("a.md").len(), 4 << 20);
}

#[test]
fn a_search_makes_progress_with_any_deadline() {
    let files: Vec<(String, Vec<u8>)> =
        (0..30).map(|number| (format!("n{number:02}.md"), b"needle\n".repeat(1000))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let vault = Vault::new(&files);
    for (deadline, budget) in [("1", json!({})), ("60000", json!({ "deadlineMs": 1 }))] {
        let environment = [("MCP_DEADLINE_MS", deadline), ("LAPIDARY_REPETITION", "off")];
        let mut server = vault.spawn_with(&[], &environment).open(Era::Modern);
        let (mut counted, mut offset) = (0, json!(0));
        while !offset.is_null() {
            let info = server.done("vault_info", json!({ "offset": offset, "_budget": budget }));
            let more = info["fileCount"].as_u64().unwrap();
            assert!(more > 0, "{info}");
            counted += more;
            offset = info["nextOffset"].clone();
        }
        assert_eq!(counted, 30);
        let (mut hits, mut offset) = (0, json!(0));
        while !offset.is_null() {
            let search = json!({ "query": "needle", "limit": 1000, "offset": offset, "_budget": budget });
            let found = server.done("search_content", search);
            hits += found["hits"].as_array().unwrap().len();
            assert_ne!(found["scanned"], 0, "{found}");
            offset = found["nextOffset"].clone();
        }
        assert_eq!(hits, 30_000);
        let first = server
            .done("regex_replace", json!({ "glob": "**", "pattern": "needle", "replacement": "x", "_budget": budget }));
        assert_ne!(first["filesScanned"], 0, "{first}");
    }
    let mut server = vault.spawn().open(Era::Modern);
    let some = server.done("vault_info", json!({ "_budget": { "maxBytesRead": 15_000 } }));
    assert_eq!((&some["fileCount"], &some["nextOffset"]), (&json!(2), &json!(2)), "{some}");
}

#[test]
fn a_call_that_waits_too_long_for_its_turn_never_changes_anything() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let mut server = vault.spawn_with(&[], &[("MCP_DEADLINE_MS", "300")]).open(Era::Modern);
    server.done("str_replace", json!({ "file": "a.md", "find": "one", "replace": "two" }));
    // Another server is in the middle of a change and does not end.
    let state = vault.path().with_file_name("state");
    let folder = std::fs::read_dir(state).unwrap().next().unwrap().unwrap().path();
    let turn = std::fs::File::options().write(true).open(folder.join("turn.lock")).unwrap();
    turn.lock().unwrap();
    let edit = json!({ "file": "a.md", "find": "two", "replace": "three" });
    assert_eq!(server.refused("str_replace", edit.clone()), "deadline_exceeded");
    assert_eq!(server.done("file_read", json!({ "file": "a.md" }))["content"], "two", "readers never wait");
    turn.unlock().unwrap();
    // The abandoned call may still get its turn; it must not use it.
    server.done("str_replace", json!({ "file": "a.md", "find": "two", "replace": "2" }));
    assert_eq!(vault.read("a.md"), b"2");
    server.stop();
    assert_eq!(vault.read("a.md"), b"2");
}
