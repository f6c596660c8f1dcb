//! Mixed calls in a loop: their memory is released.

use std::time::{Duration, Instant};

use serde_json::json;

use super::soak_time;
use crate::harness::{Era, Server, Vault};

/// A line of the system's account of the server's memory.
fn kilobytes(server: &Server, of: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with(of)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// One round of typical client calls.
fn round(server: &mut Server, number: usize) {
    let note = format!("n{}.md", number % 50);
    server.call("file_read", json!({ "file": note }));
    server.call("obsidian_get_note", json!({ "target": { "type": "path", "path": note }, "format": "full" }));
    server.call("search_content", json!({ "query": format!("word{}", number % 7) }));
    server.call("obsidian_search_notes", json!({ "query": "word1", "mode": "text" }));
    server.call(
        "str_replace",
        json!({ "file": note, "find": "word1", "replace": "word1 ", "occurrence": 1, "dry_run": true }),
    );
    server.call("file_append", json!({ "file": "log.md", "content": format!("line {number}\n") }));
    let log = json!({ "type": "path", "path": "log.md" });
    server.call("obsidian_write_note", json!({ "target": log, "content": "start\n", "overwrite": true }));
    server.call("str_replace", json!({ "file": note, "find": "no such text", "replace": "x" }));
    server.call("links_get", json!({ "file": note }));
    server.call("outline", json!({ "file": note }));
    server.call("obsidian_list_tags", json!({}));
    server.call("notes_read", json!({ "notes": [note, "log.md"], "maxBytes": 1_000 }));
    server.call("undo", json!({ "dry_run": true }));
    server.call("find_tool", json!({ "query": "undo my last change" }));
    server.request("prompts/list", json!({}));
    let path = json!({ "name": "path", "value": "n1" });
    let reference = json!({ "type": "ref/resource", "uri": "obsidian://vault/{+path}" });
    server.request("completion/complete", json!({ "ref": reference, "argument": path }));
    server.request("tools/list", json!({}));
    server.request("resources/read", json!({ "uri": format!("obsidian://vault/{note}") }));
}

/// Growth ends: after the first third, memory stays little above its level then.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_given_back_after_mixed_calls() {
    let vault = Vault::new(&[("log.md", b"start\n")]);
    for number in 0..50 {
        let text = format!(
            "# Note {number}\n#tag{number} [[n{}]]\n\n{}\n",
            (number + 1) % 50,
            format!("word{} ", number % 7).repeat(500)
        );
        vault.write(&format!("n{number}.md"), text.as_bytes());
    }
    let environment = [("LAPIDARY_REPETITION", "off"), ("LAPIDARY_MAX_FAILURES", "0")];
    let mut server = vault.spawn_with(&["--tools", "all"], &environment).open(Era::Modern);
    let (time, rounds) = soak_time().map_or((Duration::ZERO, 30), |time| (time, usize::MAX));
    let (started, mut number, mut early) = (Instant::now(), 0, 0);
    let mut first_third = 0;
    while number < rounds && (rounds != usize::MAX || started.elapsed() < time) {
        round(&mut server, number);
        number += 1;
        let is_early = if rounds == usize::MAX { started.elapsed() < time / 3 } else { number <= rounds / 3 };
        if is_early {
            early = early.max(kilobytes(&server, "VmRSS:"));
            first_third = number;
        }
    }
    let late = kilobytes(&server, "VmRSS:");
    println!(
        "mixed calls: {} rounds of 18, {} MB after {first_third}, {} MB at the end",
        number,
        early / 1024,
        late / 1024
    );
    assert!(late < early + early / 2 + 8 * 1024, "{early} kB after {first_third} rounds, {late} kB after {number}");
}

/// Without being asked, the allocator keeps more than 100 MB of these calls.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn the_memory_of_large_calls_goes_back_to_the_system() {
    const MOST_KEPT: u64 = 40 * 1024;
    let vault = Vault::new(&[("small.md", b"small\n")]);
    let calls = 6;
    for number in 0..calls {
        vault.write(&format!("n{number}.md"), "[[small]] *a* `b` #c\n".repeat(20_000).as_bytes());
    }
    let mut server = vault.spawn_with(&["--tools", "all"], &[("MCP_DEADLINE_MS", "300000")]).open(Era::Modern);
    server.done("file_read", json!({ "file": "small.md" }));
    let before = kilobytes(&server, "RssAnon:");
    let ask = |number| json!({ "name": "metadata_read", "arguments": { "file": format!("n{number}.md") } });
    let ids: Vec<_> = (0..calls).map(|number| server.ask("tools/call", ask(number))).collect();
    for id in ids {
        let early = server.aside.iter().position(|message| message["id"] == id).map(|at| server.aside.swap_remove(at));
        assert!(early.or_else(|| server.answer_within(Duration::from_secs(300), id)).is_some());
    }
    let waited = Instant::now();
    let mut kept = u64::MAX;
    // It goes back after a moment, which is long on a busy machine.
    while kept > MOST_KEPT && waited.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(50));
        kept = kilobytes(&server, "RssAnon:").saturating_sub(before);
    }
    println!("large calls: {} MB more than before", kept / 1024);
    assert!(kept <= MOST_KEPT, "{kept} kB are kept");
}
