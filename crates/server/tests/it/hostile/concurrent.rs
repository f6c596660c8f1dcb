//! Many hostile calls at a time: together they stay within the memory of the server.

use std::time::Duration;

use serde_json::{Value, json};

use super::{limited, peak, soak_time};
use crate::harness::{Vault, path, reason};

/// Notes of which everything takes much more memory than its bytes.
fn vault(size: usize) -> Vault {
    let vault = Vault::new(&[("note.md", b"# T\nx\n"), ("small.md", b"small\n")]);
    for (name, text) in [
        ("links.md", "[[note]] "),
        ("marks.md", "*a* `b` "),
        ("heads.md", "# a\n"),
        ("items.md", "- [ ] a #t\n"),
        ("cells.md", "|a|b|\n"),
        ("quotes.md", "> a\n\n"),
    ] {
        vault.write(name, text.repeat(size / text.len()).as_bytes());
    }
    vault.write("keys.md", format!("---\nlist:\n{}---\n", "  - a: 1\n".repeat(size / 9)).as_bytes());
    vault
}

fn calls() -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    for name in ["links.md", "marks.md", "heads.md", "items.md", "cells.md", "quotes.md", "keys.md"] {
        calls.extend([
            ("metadata_read", json!({ "file": name })),
            ("obsidian_get_note", json!({ "target": path(name), "format": "full" })),
            ("str_replace", json!({ "file": name, "find": "a", "replace": "b", "occurrence": 1, "dry_run": true })),
            (
                "obsidian_manage_tags",
                json!({ "target": path(name), "operation": "add", "tags": ["x"], "dryRun": true }),
            ),
            ("heading_find", json!({ "file": name, "heading": "a" })),
        ]);
    }
    for number in 0..16 {
        calls.push(("file_move", json!({ "from": "note.md", "to": format!("n{number}.md"), "dry_run": true })));
        calls.push(("links_get", json!({ "file": "links.md" })));
    }
    calls
}

/// Sends them all before the first is answered, and returns the reasons of refusals.
fn answered_at_once(server: &mut crate::harness::Server) -> Vec<String> {
    let calls = calls();
    let mut ids = Vec::new();
    for (tool, arguments) in &calls {
        ids.push(server.ask("tools/call", json!({ "name": tool, "arguments": arguments })));
    }
    let mut reasons = Vec::new();
    for (id, (tool, _)) in ids.into_iter().zip(&calls) {
        // Answers come in any order.
        let early = server.aside.iter().position(|message| message["id"] == id).map(|at| server.aside.swap_remove(at));
        let Some(reply) = early.or_else(|| server.answer_within(Duration::from_secs(300), id)) else {
            panic!("{tool} was not answered; {:?}", server.exited());
        };
        let result = &reply["result"];
        assert!(result.is_object(), "{tool}: {reply}");
        if result["isError"] == true {
            reasons.push(reason(result));
        }
    }
    reasons
}

#[cfg(target_os = "linux")]
#[test]
fn concurrent_calls_share_the_memory_of_one() {
    // The long form has the usual memory, the short one little: its calls wait for each other too.
    let (size, memory) = if soak_time().is_some() { (2 << 20, 384 << 20) } else { (96 << 10, 12_u64 << 20) };
    let vault = vault(size);
    let memory = memory.to_string();
    let environment = [("LAPIDARY_MEMORY_BYTES", memory.as_str()), ("MCP_DEADLINE_MS", "120000")];
    let mut server = limited(&vault, &environment);
    let reasons = answered_at_once(&mut server);
    let is_expected = |reason: &String| {
        matches!(
            reason.as_str(),
            "budget_exceeded" | "deadline_exceeded" | "frontmatter_invalid" | "reply_too_large" | "text_missing"
        )
    };
    assert!(reasons.iter().all(is_expected), "{reasons:?}");
    assert_eq!(server.done("file_read", json!({ "file": "small.md" }))["content"], "small\n");
    println!("concurrent calls: {} answered, {} MB at most, refused: {reasons:?}", calls().len(), peak(&server) / 1024);
}
