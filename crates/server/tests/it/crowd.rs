//! Many clients over HTTP for a long time, each with its own token and folder. `tests/soak` runs it.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use ureq::Agent;

use crate::{
    harness::{Vault, patience},
    http::{HttpServer, modern},
};

const CLIENTS: usize = 200;
/// Between two calls of a client.
const PAUSE: Duration = Duration::from_millis(20);

fn seconds() -> u64 {
    std::env::var("LAPIDARY_SOAK_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(10)
}

/// The memory of a process, in kilobytes.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

struct CrowdClient {
    number: usize,
    agent: Agent,
    url: String,
    bearer: String,
    took: Vec<Duration>,
    /// What it was told is written.
    written: Vec<String>,
}

impl CrowdClient {
    #[expect(clippy::needless_pass_by_value, reason = "literals read better at the calls")]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let (headers, body) = modern("tools/call", json!({ "name": tool, "arguments": arguments }));
        let request = self.agent.post(&self.url).header("Authorization", &self.bearer).header("Mcp-Name", tool);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let started = Instant::now();
        let mut answer = request.send(body).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        self.took.push(started.elapsed());
        assert_eq!(answer.status(), 200, "{tool}: {text}");
        let reply: Value = serde_json::from_str(&text).unwrap();
        assert!(reply["result"].is_object() && reply["result"]["isError"] != true, "{tool}: {text}");
        reply["result"]["structuredContent"].clone()
    }

    fn round(&mut self, round: usize) {
        let own = format!("c{}", self.number);
        match round % 10 {
            0 | 5 => {
                let line = format!("client {} round {round}\n", self.number);
                self.call("file_append", json!({ "file": format!("{own}/log.md"), "content": line }));
                self.written.push(line);
            }
            1 | 4 => {
                let found = self.call("obsidian_search_notes", json!({ "mode": "text", "query": "garnet" }));
                assert!(!found.to_string().contains(&format!("\"c{}/", (self.number + 1) % CLIENTS)), "{found}");
            }
            2 => drop(self.call("obsidian_list_notes", json!({ "path": own }))),
            _ => {
                let read = self.call("file_read", json!({ "file": format!("{own}/note.md") }));
                assert!(read["content"].as_str().unwrap().contains("garnet"), "{read}");
            }
        }
    }
}

#[test]
#[ignore = "takes minutes; tests/soak runs it"]
fn two_hundred_clients_with_tokens_of_their_own_read_and_write_without_an_error() {
    let vault = Vault::new(&[]);
    let mut tokens = Vec::new();
    for number in 0..CLIENTS {
        let text = format!("# Note {number}\n\n{}", "A garnet, red and heavy.\n".repeat(20));
        vault.write(&format!("c{number}/note.md"), text.as_bytes());
        vault.write(&format!("c{number}/log.md"), b"start\n");
        let (name, folder) = (format!("client-{number}"), format!("c{number}"));
        let made = vault.command().args(["token", "create", &name, "--profile", "editor", "--paths", &folder]).output();
        tokens.push(String::from_utf8(made.unwrap().stdout).unwrap().trim_end().to_owned());
    }
    let most = "1000000";
    let environment = [
        ("LAPIDARY_REPETITION", "off"),
        ("LAPIDARY_HTTP_CALLS_PER_SECOND", most),
        ("LAPIDARY_HTTP_WRITES_PER_SECOND", most),
        ("LAPIDARY_HTTP_MAX_CALLS", most),
        ("LAPIDARY_HTTP_MAX_CONNECTIONS", "2000"),
    ];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &environment);
    let length = Duration::from_secs(seconds());
    let (started, has_failed) = (Instant::now(), AtomicBool::new(false));
    let mut warm = 0;
    let clients: Vec<CrowdClient> = std::thread::scope(|scope| {
        let running: Vec<_> = tokens
            .iter()
            .enumerate()
            .map(|(number, token)| {
                let agent: Agent =
                    Agent::config_builder().http_status_as_error(false).timeout_global(Some(patience())).build().into();
                let mut client = CrowdClient {
                    number,
                    agent,
                    url: format!("http://{}/mcp", server.address),
                    bearer: format!("Bearer {token}"),
                    took: Vec::new(),
                    written: Vec::new(),
                };
                let has_failed = &has_failed;
                scope.spawn(move || {
                    // The others stop when one has failed.
                    let _failure = FailureMark(has_failed);
                    let mut round = number;
                    while started.elapsed() < length && !has_failed.load(Ordering::Relaxed) {
                        client.round(round);
                        round += 1;
                        std::thread::sleep(PAUSE);
                    }
                    client
                })
            })
            .collect();
        std::thread::sleep(length / 4);
        warm = memory(server.child.id());
        running.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let end = memory(server.child.id());
    let mut took: Vec<Duration> = clients.iter().flat_map(|client| client.took.iter().copied()).collect();
    took.sort();
    let quantile = |share: usize| took[(took.len() - 1) * share / 100];
    println!(
        "client calls: {} of {CLIENTS} clients, p50 {:?}, p99 {:?}, memory {} MB after a quarter, {} MB at the end",
        took.len(),
        quantile(50),
        quantile(99),
        warm / 1024,
        end / 1024
    );
    for CrowdClient { number, written, .. } in &clients {
        let log = String::from_utf8(vault.read(&format!("c{number}/log.md"))).unwrap();
        assert_eq!(log, format!("start\n{}", written.concat()), "client {number}");
    }
    assert!(end <= warm + warm / 2 + 64 * 1024, "memory grows from {warm} to {end} kB");
}

/// Says that a thread has panicked.
struct FailureMark<'a>(&'a AtomicBool);

impl Drop for FailureMark<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
