//! The end of a server that is in the middle of something.

#![cfg(unix)]

use std::{
    fs::File,
    io::Read,
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    harness::{Vault, patience},
    http::{HttpServer, modern},
};

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < patience(), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Takes the turn of the vault, as another server in the middle of a change does.
fn turn(vault: &Vault) -> File {
    let state = vault.path().with_file_name("state");
    let folder =
        std::fs::read_dir(state).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    let turn = File::options().write(true).open(folder.join("turn.lock")).unwrap();
    turn.lock().unwrap();
    turn
}

#[test]
fn a_write_that_is_under_way_when_the_server_is_told_to_stop_is_done_and_answered() {
    for has_session in [false, true] {
        let vault = Vault::new(&[("a.md", b"one"), ("b.md", b"left alone")]);
        let mut server = HttpServer::start(&vault, "127.0.0.1:0", &[("LAPIDARY_METRICS", "true")]);
        let edit = |find: &str, replace: &str| json!({ "name": "str_replace", "arguments": { "file": "a.md", "find": find, "replace": replace } });
        let (status, reply) = server.post(&[], "tools/call", Some("str_replace"), edit("one", "two"));
        assert_eq!(status, 200, "{reply}");
        let turn = turn(&vault);
        let mut asked = if has_session {
            let session = server.session();
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": edit("two", "three") });
            let headers = [
                ("Content-Type", "application/json"),
                ("MCP-Protocol-Version", "2025-11-25"),
                ("mcp-session-id", session.as_str()),
            ];
            server.send("POST", "/mcp", &headers, &body.to_string())
        } else {
            let (mut headers, body) = modern("tools/call", edit("two", "three"));
            headers.push(("Mcp-Name", "str_replace"));
            server.send("POST", "/mcp", &headers, &body)
        };
        wait_until("the call begins", || {
            server.request("GET", "/metrics", &[], "").1.contains("lapidary_calls_active 1")
        });
        let told = std::process::Command::new("kill").args(["-TERM", &server.child.id().to_string()]).status().unwrap();
        assert!(told.success());
        wait_until("no new connection is taken", || TcpStream::connect(&server.address).is_err());
        assert_eq!(vault.read("a.md"), b"two", "it waits for its turn");
        assert!(server.child.try_wait().unwrap().is_none(), "the server waits for it");
        turn.unlock().unwrap();
        let mut answer = String::new();
        asked.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains("\"checkpoint\"") && !answer.contains("\"isError\":true"), "{answer}");
        assert_eq!(vault.read("a.md"), b"three");
        assert_eq!(vault.everything().len(), 2, "nothing half done is left");
        wait_until("the server ends", || server.child.try_wait().unwrap().is_some());
        assert!(server.child.wait().unwrap().success());
    }
}
