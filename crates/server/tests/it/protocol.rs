//! MCP itself: versions, framing, errors, cancellation, progress.

use serde_json::{Value, json};

use crate::harness::{ERAS, Era, Vault, path};

#[test]
fn every_protocol_version_reads_and_edits() {
    for era in ERAS {
        let vault = Vault::new(&[("a.md", b"one two\n")]);
        let mut server = vault.serve().open(era);
        let read = server.done("obsidian_get_note", json!({ "format": "content", "target": path("a.md") }));
        assert_eq!(read["result"]["content"], "one two\n", "{era:?}");
        let hash = &read["result"]["contentHash"];
        let edit = json!({ "file": "a.md", "find": "two", "replace": "2", "expected_content_hash": hash });
        let edited = server.done("str_replace", edit.clone());
        assert_eq!(edited["changed"], true, "{era:?}");
        assert_eq!(vault.read("a.md"), b"one 2\n", "{era:?}");
        assert_eq!(server.refused("str_replace", edit), "stale_precondition", "{era:?}");
    }
}

#[test]
fn a_modern_client_discovers_what_it_needs() {
    let vault = Vault::new(&[]);
    let mut server = vault.serve();
    let discovered = server.request("server/discover", json!({}))["result"].clone();
    assert_eq!(discovered["resultType"], "complete");
    assert_eq!(discovered["cacheScope"], "private");
    assert!(discovered["ttlMs"].as_u64().unwrap() > 0);
    let versions: Vec<&str> =
        discovered["supportedVersions"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        assert!(versions.contains(&version), "{versions:?}");
    }
}

#[test]
fn a_request_of_an_unknown_version_is_told_the_known_ones() {
    let vault = Vault::new(&[]);
    let mut server = vault.serve();
    server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2031-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    } } }));
    let error = &server.answer_to(1)["error"];
    assert_eq!(error["code"], -32022);
    assert!(error["data"]["supported"].as_array().unwrap().contains(&json!("2026-07-28")));
}

#[test]
fn lists_carry_cache_hints_in_the_modern_era_only() {
    let vault = Vault::new(&[]);
    let modern = vault.serve().open(Era::Modern).request("tools/list", json!({}));
    assert_eq!(modern["result"]["cacheScope"], "private");
    assert_eq!(modern["result"]["resultType"], "complete");
    let legacy = vault.serve().open(Era::Legacy("2025-11-25")).request("tools/list", json!({}));
    assert!(legacy["result"].get("resultType").is_none(), "{legacy}");
}

#[test]
fn an_unknown_tool_is_a_protocol_error_with_the_nearest_name() {
    for era in [Era::Legacy("2025-11-25"), Era::Modern] {
        let vault = Vault::new(&[]);
        let mut server = vault.serve().open(era);
        let error = server.request("tools/call", json!({ "name": "file_raed", "arguments": {} }))["error"].clone();
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().unwrap().contains("file_read"), "{error}");
    }
}

#[test]
fn a_client_gets_progress_while_a_large_vault_is_scanned() {
    let vault = Vault::new(&[]);
    let text = "# Heading\n\nSome words with [[links]] and #tags here.\n".repeat(40);
    for number in 0..4_000 {
        vault.write(&format!("{}/{number}.md", number % 20), text.as_bytes());
    }
    let mut server = vault.serve().open(Era::Legacy("2025-11-25"));
    let params = json!({ "name": "obsidian_list_tags", "arguments": {}, "_meta": { "progressToken": 7 } });
    let reply = server.request("tools/call", params);
    assert_ne!(reply["result"]["isError"], true, "{reply}");
    let told: Vec<&Value> = server.aside.iter().filter(|news| news["method"] == "notifications/progress").collect();
    let values: Vec<f64> = told.iter().map(|news| news["params"]["progress"].as_f64().unwrap()).collect();
    assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "it only goes up: {values:?}");
    let messages: Vec<&str> = told.iter().filter_map(|news| news["params"]["message"].as_str()).collect();
    assert!(messages.iter().any(|message| message.starts_with("indexing the vault")), "{messages:?}");
    assert_eq!(messages.last(), Some(&"done"));
}

#[test]
fn unsupported_requests_are_not_answered() {
    let vault = Vault::new(&[]);
    let mut server = vault.serve().open(Era::Legacy("2025-11-25"));
    for method in ["logging/setLevel", "subscriptions/listen", "no/such"] {
        let params = match method {
            "logging/setLevel" => json!({ "level": "info" }),
            "subscriptions/listen" => json!({ "notifications": {} }),
            _ => json!({}),
        };
        assert_eq!(server.request(method, params)["error"]["code"], -32601, "{method}");
    }
    assert!(server.request("ping", json!({})).get("result").is_some());
}

#[test]
fn invalid_messages_are_answered_and_skipped() {
    let vault = Vault::new(&[]);
    let mut server = vault.serve().open(Era::Legacy("2025-06-18"));
    for (bytes, id, code) in [
        (&b"nonsense\n"[..], Value::Null, -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7}\n", json!(7), -32600),
        (b"[1,2]\n", Value::Null, -32600),
        (b"\xff\xfe\n", Value::Null, -32700),
    ] {
        server.send_bytes(bytes);
        let error = server.message();
        assert_eq!((&error["id"], &error["error"]["code"]), (&id, &json!(code)), "{error}");
    }
    server.send_bytes(b"\n  \r\n");
    assert!(server.request("ping", json!({})).get("result").is_some());
}

#[test]
fn a_client_that_sends_frames_gets_frames() {
    let vault = Vault::new(&[]);
    let mut server = vault.serve();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "framed", "version": "1" },
    } })
    .to_string();
    server.send_bytes(
        format!("Content-Type: json\r\nContent-Length: {}\r\nX-Other: y\r\n\r\n{hello}", hello.len()).as_bytes(),
    );
    let header = server.line();
    let length: usize = header.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
    assert_eq!(server.line().trim(), "");
    // The body has no trailing newline; the next frame's header ends its line.
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }).to_string();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    server.send_bytes(
        format!("Content-Length: {}\r\n\r\n{ready}content-length: {}\r\n\r\n{ping}", ready.len(), ping.len())
            .as_bytes(),
    );
    let line = server.line();
    let (body, header) = line.split_at(length);
    assert_eq!(serde_json::from_str::<Value>(body).unwrap()["result"]["serverInfo"]["name"], "lapidary");
    assert!(header.starts_with("Content-Length: "), "{header}");
}

#[test]
fn a_large_message_passes() {
    let vault = Vault::new(&[]);
    let mut server = vault.serve().open(Era::Legacy("2025-11-25"));
    let text = "line of text\n".repeat(700_000);
    server.done("obsidian_write_note", json!({ "target": path("big.md"), "content": text }));
    assert_eq!(vault.read("big.md").len(), text.len());
}

#[test]
fn an_oversized_message_is_refused_and_the_session_continues() {
    let vault = Vault::new(&[]);
    let mut server = vault.serve().open(Era::Legacy("2025-11-25"));
    let mut line = vec![b'x'; 65 << 20];
    line.push(b'\n');
    server.send_bytes(&line);
    assert_eq!(server.message()["error"]["code"], -32600);
    assert!(server.request("ping", json!({})).get("result").is_some());
}

#[test]
fn progress_is_sent_on_request() {
    for era in [Era::Legacy("2025-11-25"), Era::Modern] {
        let vault = Vault::new(&[("a.md", b"x")]);
        let mut server = vault.serve().open(era);
        let id = server.ask(
            "tools/call",
            json!({ "name": "str_replace", "arguments": { "file": "a.md", "find": "x", "replace": "y" }, "_meta": { "progressToken": "t" } }),
        );
        server.answer_to(id);
        let seen: Vec<f64> = server
            .aside
            .iter()
            .filter(|message| {
                message["method"] == "notifications/progress" && message["params"]["progressToken"] == "t"
            })
            .map(|message| message["params"]["progress"].as_f64().unwrap())
            .collect();
        assert_eq!(seen, [1.0, 2.0], "{era:?}");
    }
}

#[test]
fn calls_at_the_same_time_are_all_answered() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern);
    let ids: Vec<u64> = (0..50)
        .map(|_| server.ask("tools/call", json!({ "name": "file_read", "arguments": { "file": "a.md" } })))
        .collect();
    let mut open: std::collections::BTreeSet<u64> = ids.into_iter().collect();
    while !open.is_empty() {
        let reply = server.message();
        assert_eq!(reply["result"]["structuredContent"]["content"], "x");
        assert!(open.remove(&reply["id"].as_u64().unwrap()));
    }
}

#[test]
fn edits_at_the_same_time_lose_nothing() {
    let vault = Vault::new(&[("a.md", b"start\n")]);
    let mut servers = [vault.serve().open(Era::Modern), vault.serve().open(Era::Legacy("2025-11-25"))];
    // Each edit inserts a line before the last one; without a hash they are planned again when another was faster.
    for round in 0..20 {
        for (number, server) in servers.iter_mut().enumerate() {
            let arguments = json!({ "file": "a.md", "find": "start", "replace": format!("{number}.{round}\nstart") });
            server.ask("tools/call", json!({ "name": "str_replace", "arguments": arguments }));
        }
    }
    for server in &mut servers {
        for _ in 0..20 {
            let reply = server.message();
            assert_ne!(reply["result"]["isError"], true, "{reply}");
        }
    }
    let text = String::from_utf8(vault.read("a.md")).unwrap();
    assert_eq!(text.lines().count(), 41, "{text}");
    for round in 0..20 {
        for number in 0..2 {
            assert!(text.lines().any(|line| line == format!("{number}.{round}")), "{number}.{round} is lost");
        }
    }
}

#[test]
fn several_vaults_are_told_apart_by_name() {
    let (one, two) = (Vault::new(&[("a.md", b"one")]), Vault::new(&[("a.md", b"two")]));
    let mut command = one.command();
    command.arg("--vault").arg(one.path()).arg("--vault").arg(format!("named={}", two.path().display()));
    let mut server = crate::harness::Server::start(&command).open(Era::Modern);
    let list = server.request("tools/list", json!({}));
    let schema = &list["result"]["tools"][0]["inputSchema"];
    assert_eq!(schema["properties"]["vault"]["enum"], json!(["Notes", "named"]), "{schema}");
    let read = |server: &mut crate::harness::Server, vault: &str| {
        server.done("file_read", json!({ "file": "a.md", "vault": vault }))["content"].clone()
    };
    assert_eq!(read(&mut server, "Notes"), "one");
    assert_eq!(read(&mut server, "named"), "two");
    assert_eq!(server.refused("file_read", json!({ "file": "a.md" })), "vault_required");
    assert_eq!(server.refused("file_read", json!({ "file": "a.md", "vault": "nmaed" })), "vault_unknown");
    assert_eq!(server.refused("file_read", json!({ "file": "a.md", "vault": 3 })), "invalid_arguments");
}

#[test]
fn two_vaults_of_one_name_both_stay_reachable() {
    let (one, two) = (Vault::new(&[("a.md", b"one")]), Vault::new(&[("a.md", b"two")]));
    let mut command = one.command();
    let both = format!("{};{}", one.path().display(), two.path().display());
    command.env("OBSIDIAN_VAULT_PATHS", both);
    let mut server = crate::harness::Server::start(&command).open(Era::Modern);
    assert_eq!(server.done("file_read", json!({ "file": "a.md", "vault": "Notes" }))["content"], "one");
    assert_eq!(server.done("file_read", json!({ "file": "a.md", "vault": "Notes-2" }))["content"], "two");
}

#[test]
fn the_only_vault_may_be_named_or_not() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let mut server = vault.serve().open(Era::Modern);
    assert_eq!(server.done("file_read", json!({ "file": "a.md", "vault": "Notes" }))["content"], "one");
    assert_eq!(server.refused("file_read", json!({ "file": "a.md", "vault": "other" })), "vault_unknown");
}

#[test]
fn repaired_arguments_are_reported() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let mut server = vault.serve().open(Era::Modern);
    let result =
        server.call("obsidian_get_note", json!({ "FORMAT": "content", "target": "a.md", "include_links": "true" }));
    assert_eq!(result["structuredContent"]["result"]["content"], "one");
    let notice = result["structuredContent"]["notice"].as_str().unwrap();
    for part in ["`FORMAT` was read as `format`", "`includeLinks` came as text"] {
        assert!(notice.contains(part), "{notice}");
    }
    assert!(result["content"][1]["text"].as_str().unwrap().contains("FORMAT"), "{result}");
}

#[test]
fn repairs_by_call_tool_are_reported_too() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let mut server = vault.serve().open(Era::Modern);
    let read = server
        .done("call_tool", json!({ "Name": "file_read", "arguments": "{\"File\": \"a.md\", \"Vault\": \"Notes\"}" }));
    assert_eq!(read["content"], "one");
    for part in ["`Name` was read as `name`", "`arguments` came as text", "`File`", "`Vault` was read as `vault`"] {
        assert!(read["notice"].as_str().unwrap().contains(part), "{part}: {read}");
    }
}

#[test]
fn a_dry_run_in_two_spellings_is_not_guessed_at() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let mut server = vault.serve().open(Era::Modern);
    for arguments in [
        json!({ "file": "a.md", "find": "one", "replace": "two", "dryRun": true, "DRY_RUN": false }),
        json!({ "file": "a.md", "find": "one", "replace": "two", "dry-run": true, "dryRun": false }),
    ] {
        assert_eq!(server.refused("str_replace", arguments), "invalid_arguments");
    }
    assert_eq!(vault.read("a.md"), b"one");
}

#[test]
fn dotted_names_are_understood_everywhere_and_listed_on_request() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let mut server = vault.serve_with(&["--tools", "files", "--dotted-names"], &[]).open(Era::Modern);
    let list = server.request("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(["file.read", "tags.list", "str_replace"].iter().all(|name| names.contains(name)), "{names:?}");
    assert!(!names.contains(&"file_read"), "{names:?}");
    assert_eq!(server.done("file.read", json!({ "file": "a.md" }))["content"], "one");
    let mut server = vault.serve().open(Era::Modern);
    assert_eq!(
        server.done("call_tool", json!({ "name": "file.read", "arguments": { "file": "a.md" } }))["content"],
        "one"
    );
}

#[test]
fn the_fourth_same_answer_is_refused_until_something_changes() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let mut server = vault.serve().open(Era::Modern);
    let read = || json!({ "file": "a.md" });
    for _ in 0..3 {
        assert_eq!(server.done("file_read", read())["content"], "one");
    }
    assert_eq!(server.refused("file_read", read()), "repeated_call");
    vault.write("a.md", b"two");
    assert_eq!(server.done("file_read", read())["content"], "two", "another program changed it");
}
