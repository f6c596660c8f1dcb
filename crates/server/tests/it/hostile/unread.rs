//! Clients that send and do not read, and that use one id twice.

use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::harness::{Era, Vault};

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_does_not_read_is_not_read_from() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let mut command = vault.command();
    command.arg("--vault").arg(vault.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    const REQUESTS: usize = 600;
    let writing = std::thread::spawn(move || {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        });
        for id in 0..REQUESTS {
            let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": { "_meta": meta } });
            input.write_all(format!("{request}\n").as_bytes()).unwrap();
        }
        input
    });
    // Until the server waits for us. The writer is done only when everything it wrote was accepted.
    let stopped = Instant::now() + Duration::from_secs(2);
    while Instant::now() < stopped && !writing.is_finished() {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!writing.is_finished(), "it accepted everything although no answer was read");
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let memory = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap().to_owned();
    let kilobytes: u64 = memory.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 200 * 1024, "{memory}");
    // Once the client reads, everything is answered.
    let mut seen = vec![false; REQUESTS];
    let lines = BufReader::new(output).lines();
    for line in lines.take(REQUESTS) {
        let reply: Value = serde_json::from_str(&line.unwrap()).unwrap();
        assert!(reply.get("result").is_some(), "{reply}");
        seen[usize::try_from(reply["id"].as_u64().unwrap()).unwrap()] = true;
    }
    assert!(seen.into_iter().all(|answered| answered));
    drop(writing.join().unwrap());
    assert!(child.wait().unwrap().success());
}

#[test]
fn of_two_requests_with_one_id_the_second_is_refused_and_the_first_answered() {
    let text = format!("{}\n", "a".repeat(3000)).repeat(300);
    let vault = Vault::new(&[("a.md", text.as_bytes())]);
    let mut server = vault.spawn().open(Era::Legacy("2025-11-25"));
    let search = json!({ "name": "search_content", "arguments": { "query": "(a|b)+c$", "regex": true } });
    let request = |id: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": search });
    let both = format!("{}\n{}\n", request("same"), request("same"));
    server.send_bytes(both.as_bytes());
    let replies = [server.message(), server.message()];
    let refused = replies.iter().filter(|reply| reply["error"]["code"] == -32600).count();
    let answered = replies.iter().filter(|reply| reply.get("result").is_some()).count();
    // If the first was answered before the second was read, both are answered.
    assert!(answered + refused == 2 && answered > 0, "{replies:?}");
    assert!(replies.iter().all(|reply| reply["id"] == "same"), "{replies:?}");
    // The id is free again.
    server.send(&request("same"));
    assert!(server.message().get("result").is_some());
}
