//! Many concurrent callers: none starves, no edit is lost, and a long search delays no edit.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::{harness::Vault, http::HttpServer};

#[expect(clippy::needless_pass_by_value, reason = "literals read better at the calls")]
fn call(server: &HttpServer, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let (status, body) = server.post(&[], "tools/call", Some(tool), params);
    assert_eq!(status, 200, "{body}");
    serde_json::from_str::<Value>(&body).unwrap()["result"].clone()
}

#[test]
fn two_hundred_readers_and_ten_writers_all_get_through() {
    let mut notes: Vec<(String, Vec<u8>)> = (0..200)
        .map(|number| (format!("n{number}.md"), format!("note {number} about things\n").repeat(50).into_bytes()))
        .collect();
    notes.push(("log.md".to_owned(), b"start\n".to_vec()));
    let notes: Vec<(&str, &[u8])> = notes.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let vault = Vault::new(&notes);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("LAPIDARY_REPETITION", "off")]);
    let (read, written) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wrote = std::thread::scope(|scope| {
        for reader in 0..200 {
            let (server, read) = (&server, &read);
            scope.spawn(move || {
                for round in 0..3 {
                    let result = match (reader + round) % 3 {
                        0 => call(server, "file_read", json!({ "file": format!("n{reader}.md") })),
                        1 => call(server, "search_content", json!({ "query": "things", "limit": 5 })),
                        _ => call(server, "obsidian_list_tags", json!({})),
                    };
                    assert_ne!(result["isError"], true, "{result}");
                    read.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let writers: Vec<_> = (0..10)
            .map(|writer| {
                let (server, written) = (&server, &written);
                scope.spawn(move || {
                    let mut lines = Vec::new();
                    for round in 0..5 {
                        let line = format!("writer {writer} round {round}\n");
                        let result = call(server, "file_append", json!({ "file": "log.md", "content": line }));
                        assert_ne!(result["isError"], true, "{result}");
                        lines.push(line);
                        written.fetch_add(1, Ordering::Relaxed);
                    }
                    lines
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!((read.into_inner(), written.into_inner()), (600, 50));
    let log = String::from_utf8(vault.read("log.md")).unwrap();
    for line in wrote {
        assert_eq!(log.matches(&line).count(), 1, "{line} in {log}");
    }
}

#[test]
fn long_searches_delay_no_edit() {
    // Patterns that try every place of every note for a while.
    let text = format!("{}\n", "a".repeat(3000)).repeat(30);
    let notes: Vec<(String, Vec<u8>)> =
        (0..40).map(|number| (format!("n{number}.md"), text.clone().into_bytes())).collect();
    let notes: Vec<(&str, &[u8])> = notes.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let vault = Vault::new(&notes);
    let environment = [("LAPIDARY_REPETITION", "off"), ("MCP_DEADLINE_MS", "20000")];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &environment);
    let searching = AtomicUsize::new(0);
    let left = std::thread::scope(|scope| {
        for number in 0..24 {
            let (server, searching) = (&server, &searching);
            scope.spawn(move || {
                searching.fetch_add(1, Ordering::SeqCst);
                call(server, "search_content", json!({ "query": format!("(a|b|{number})+c$"), "regex": true }));
                searching.fetch_sub(1, Ordering::SeqCst);
            });
        }
        while searching.load(Ordering::SeqCst) < 24 {
            std::thread::yield_now();
        }
        let edited = call(&server, "file_create", json!({ "file": "new.md", "content": "made\n" }));
        assert_ne!(edited["isError"], true, "{edited}");
        searching.load(Ordering::SeqCst)
    });
    assert!(left > 0, "the edit came through before the searches were done");
    assert_eq!(vault.read("new.md"), b"made\n");
}
