//! The log as a tool: every call with its outcome, as far as the caller may know of it.

use serde_json::{Value, json};

use crate::harness::{Era, Vault};

#[test]
fn every_outcome_is_in_the_log_and_no_text_or_secret_is() {
    let vault = Vault::new(&[("a.md", b"one two three\n"), ("Closed/c.md", b"hidden\n")]);
    let environment = [
        ("OBSIDIAN_DENY_PATHS", "Closed"),
        ("LAPIDARY_APPROVAL_RULES", "deny tool=file_append; ask tool=lines_insert"),
    ];
    let mut server = vault.serve_with(&["--exclude-tools", "tag_rename"], &environment).open(Era::Modern);
    let secret = "sk-very-secret-text";
    server.call("str_replace", json!({ "file": "a.md", "find": "two", "replace": secret }));
    server.call("str_replace", json!({ "file": "a.md", "find": "nowhere", "replace": "x" }));
    server.call("str_replace", json!({ "file": "a.md" }));
    server.call("file_append", json!({ "file": "a.md", "content": secret }));
    server.call("lines_insert", json!({ "file": "a.md", "line": 1, "content": secret }));
    server.call("tag_rename", json!({ "from": "a", "to": "b" }));
    server.call("file_read", json!({ "file": "Closed/c.md" }));
    server.call("file_read", json!({ "file": "../outside.md" }));
    server.request("tools/call", json!({ "name": "no_such_tool", "arguments": {} }));
    server.call("call_tool", json!({ "name": "no_such_tool", "arguments": {} }));
    for _ in 0..4 {
        server.call("outline", json!({ "file": "a.md" }));
    }
    let told = server.done("operation_log", json!({ "limit": 200 }));
    drop(server);
    let log = vault.log();
    let reasons: Vec<&str> = log.iter().filter_map(|line| line["reason"].as_str()).collect();
    for reason in [
        "text_missing",
        "invalid_arguments",
        "denied_by_rule",
        "approval_pending",
        "tool_disabled",
        "path_forbidden",
        "path_traversal",
        "tool_unknown",
        "repeated_call",
    ] {
        assert!(reasons.contains(&reason), "{reason} is not among {reasons:?}");
    }
    assert!(!log.iter().any(|line| line.to_string().contains(secret)), "{log:#?}");
    let calls = told["calls"].as_array().unwrap();
    let changed = calls.iter().find(|call| call["outcome"] == "changed").unwrap();
    assert_eq!((&changed["tool"], &changed["files"]), (&json!("str_replace"), &json!(["a.md"])));
    assert!(changed["checkpoint"].is_string());
    assert!(calls.iter().any(|call| call["outcome"] == "denied_by_rule"));
    assert!(!told.to_string().contains("Closed"), "what may not be read is not told: {told}");
}

#[test]
fn the_log_is_narrowed_to_what_this_caller_may_read() {
    let vault = Vault::new(&[("a.md", b"[[c]]\n"), ("Closed/c.md", b"x\n"), ("Closed/d.md", b"[[a]]\n")]);
    let mut owner = vault.serve().open(Era::Modern);
    owner.done("file_read", json!({ "file": "Closed/c.md" }));
    owner.done("file_move", json!({ "from": "a.md", "to": "b.md" }));
    owner.done("file_append", json!({ "file": "b.md", "content": "more" }));
    drop(owner);
    let mut narrow = vault.serve_with(&[], &[("OBSIDIAN_DENY_PATHS", "Closed")]).open(Era::Modern);
    let told = narrow.done("operation_log", json!({}));
    let tools: Vec<&str> =
        told["calls"].as_array().unwrap().iter().map(|call| call["tool"].as_str().unwrap()).collect();
    // The move changed a link in a hidden note, so it is not shown either.
    assert_eq!(tools, ["file_append"], "{told}");
}

#[test]
fn calls_are_found_by_path_tool_and_failure() {
    let vault = Vault::new(&[("Work/a.md", b"x\n"), ("b.md", b"x\n")]);
    let mut server = vault.serve().open(Era::Modern);
    server.done("file_read", json!({ "file": "Work/a.md" }));
    server.done("file_read", json!({ "file": "b.md" }));
    server.call("file_read", json!({ "file": "Work/none.md" }));
    server.done("outline", json!({ "file": "b.md" }));
    let mut told = |arguments: Value| server.done("operation_log", arguments)["calls"].as_array().unwrap().len();
    assert_eq!(told(json!({ "path": "Work" })), 2);
    assert_eq!(told(json!({ "path": "b.md" })), 2);
    assert_eq!(told(json!({ "tool": "file.read" })), 3);
    assert_eq!(told(json!({ "onlyFailed": true })), 1);
    let first = server.done("operation_log", json!({ "limit": 1 }));
    assert_eq!((first["calls"].as_array().unwrap().len(), &first["truncated"]), (1, &json!(true)));
}

#[test]
fn the_log_names_the_failed_operations_of_a_batch() {
    let vault = Vault::new(&[("a.md", b"one\n"), ("Work/b.md", b"one\n")]);
    let environment = [("LAPIDARY_APPROVAL_RULES", "deny path=Work")];
    let mut server = vault.serve_with(&["--exclude-tools", "file_append"], &environment).open(Era::Modern);
    let replace =
        |file: &str| json!({ "tool": "str_replace", "args": { "file": file, "find": "one", "replace": "1" } });
    let append = json!({ "tool": "file.append", "args": { "file": "a.md", "content": "x" } });
    let batch = json!({ "atomic": false, "ops": [replace("a.md"), replace("Work/b.md"), append] });
    server.done("bulk_apply", batch);
    let line = vault.log().into_iter().find(|line| line["tool"] == "bulk_apply").unwrap();
    let expected = json!([
        { "tool": "str_replace", "reason": "denied_by_rule" }, { "tool": "file.append", "reason": "tool_disabled" },
    ]);
    assert_eq!(line["refused"], expected, "{line}");
    let told = server.done("operation_log", json!({ "onlyFailed": true }));
    assert_eq!(told["calls"][0]["outcome"], "changed, refused: denied_by_rule, tool_disabled", "{told}");
}
