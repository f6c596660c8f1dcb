//! The user is asked, in both eras, and only a clear approval of exactly what was shown changes anything.

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, reason};

const ASK: &[(&str, &str)] = &[("LAPIDARY_APPROVAL", "write=ask")];

fn vault() -> Vault {
    Vault::new(&[("a.md", b"one two three\n")])
}

fn edit() -> Value {
    json!({ "name": "str_replace", "arguments": { "file": "a.md", "find": "two", "replace": "2" } })
}

/// Makes the call as an older client does and answers its question; `before_answering` happens meanwhile.
fn live(vault: &Vault, answer: &Value, before_answering: impl FnOnce()) -> Value {
    let mut server = vault.serve_with(&[], ASK).with_elicitation().open(Era::Legacy("2025-11-25"));
    let id = server.ask("tools/call", edit());
    let question = server.message();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let message = question["params"]["message"].as_str().unwrap();
    for part in ["`str_replace`", "`a.md`", "`Notes`", "lines added: 1, removed: 1", "-one two three", "+one 2 three"] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
    assert_eq!(vault.read("a.md"), b"one two three\n", "nothing happens before the answer");
    before_answering();
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
    server.answer_to(id)["result"].clone()
}

/// Makes the call like a newer client: the question is the answer, and the call is made again.
fn retried(server: &mut Server, change: impl FnOnce(&mut Value)) -> Value {
    let asked = server.request("tools/call", edit())["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["consent"];
    assert_eq!(question["method"], "elicitation/create");
    assert!(question["params"]["message"].as_str().unwrap().contains("+one 2 three"));
    let mut again = edit();
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ "consent": yes() });
    change(&mut again);
    server.request("tools/call", again)["result"].clone()
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "confirm": true } })
}

fn modern(vault: &Vault) -> Server {
    vault.serve_with(&[], ASK).with_elicitation().open(Era::Modern)
}

#[test]
fn open_questions_of_a_client_are_limited_and_answered_ones_make_room() {
    const MOST: usize = 8;
    let vault = vault();
    let mut server = vault.serve_with(&[], ASK).with_elicitation().open(Era::Legacy("2025-11-25"));
    let mut questions = Vec::new();
    let first = server.ask("tools/call", edit());
    questions.push(server.message());
    for _ in 1..MOST {
        server.ask("tools/call", edit());
        questions.push(server.message());
    }
    assert!(questions.iter().all(|question| question["method"] == "elicitation/create"), "{questions:?}");
    let refused = server.request("tools/call", edit())["result"].clone();
    assert_eq!((reason(&refused).as_str(), &refused["isError"]), ("too_many", &json!(true)), "{refused}");
    assert_eq!(refused["structuredContent"]["details"]["limit"], MOST);
    // Everything else goes on, and an answer makes room for the next question.
    server.done("file_read", json!({ "file": "a.md" }));
    let no = json!({ "action": "decline" });
    server.send(&json!({ "jsonrpc": "2.0", "id": questions[0]["id"], "result": no }));
    assert_eq!(reason(&server.answer_to(first)["result"]), "cancelled");
    let again = server.ask("tools/call", edit());
    let question = server.message();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes() }));
    assert_ne!(server.answer_to(again)["result"]["isError"], true);
    assert_eq!(vault.read("a.md"), b"one 2 three\n");
}

#[test]
fn a_yes_changes_the_note_in_both_eras() {
    let vault = vault();
    assert_ne!(live(&vault, &yes(), || {})["isError"], true);
    assert_eq!(vault.read("a.md"), b"one 2 three\n");

    let vault = self::vault();
    assert_ne!(retried(&mut modern(&vault), |_| {})["isError"], true);
    assert_eq!(vault.read("a.md"), b"one 2 three\n");
}

/// A rule applies to the place that would change, by any path.
#[cfg(unix)]
#[test]
fn rules_about_a_folder_apply_through_links() {
    let vault = Vault::new(&[("Journal/a.md", b"a\n"), ("Open/b.md", b"b [[a]]\n")]);
    for (at, target) in [("jl", "Journal"), ("j.md", "Journal/a.md"), ("Open/up", "../jl")] {
        std::os::unix::fs::symlink(target, vault.path().join(at)).unwrap();
    }
    let calls = [
        ("file_append", json!({ "file": "jl/a.md", "content": "x" })),
        ("file_append", json!({ "file": "j.md", "content": "x" })),
        ("file_append", json!({ "file": "Open/up/a.md", "content": "x" })),
        ("file_create", json!({ "file": "jl/new.md", "content": "x" })),
        ("file_create", json!({ "file": "jl/new/deep.md", "content": "x" })),
        ("file_move", json!({ "from": "Open/b.md", "to": "jl/b.md" })),
        ("file_move", json!({ "from": "jl/a.md", "to": "Open/a.md" })),
        ("file_delete", json!({ "file": "jl/a.md" })),
        ("obsidian_append_to_note", json!({ "target": crate::harness::path("jl/a.md"), "content": "x" })),
        ("call_tool", json!({ "name": "file_append", "arguments": { "file": "jl/a.md", "content": "x" } })),
    ];
    let environment = [("LAPIDARY_APPROVAL_RULES", "deny path=Journal"), ("LAPIDARY_REPETITION", "off")];
    let mut server = vault.serve_with(&["--tools", "all"], &environment).open(Era::Modern);
    let before = vault.everything();
    for (tool, arguments) in &calls {
        let said = server.call(tool, arguments.clone());
        assert_eq!(reason(&said), "denied_by_rule", "{tool} {arguments}: {said}");
        let batch = json!({ "ops": [{ "tool": tool, "args": arguments }] });
        let said = server.call("bulk_apply", batch).to_string();
        assert!(*tool == "call_tool" || said.contains("denied_by_rule"), "{tool} in a batch: {said}");
    }
    assert_eq!(vault.everything(), before);
    server.done("file_append", json!({ "file": "Open/b.md", "content": "x" }));

    let environment = [("LAPIDARY_APPROVAL_RULES", "ask path=Journal"), ("LAPIDARY_REPETITION", "off")];
    let mut server = vault.serve_with(&["--tools", "all"], &environment).with_elicitation().open(Era::Modern);
    let call = json!({ "name": "file_append", "arguments": { "file": "jl/a.md", "content": "x" } });
    let asked = server.request("tools/call", call.clone())["result"].clone();
    let question = asked["inputRequests"]["consent"]["params"]["message"].as_str().unwrap().to_owned();
    assert!(question.contains("`jl/a.md`") && question.contains("`Journal/a.md`"), "{question}");
    // The link leads elsewhere by the time of the answer, to the same text.
    vault.write("Other/a.md", b"a\n");
    std::fs::remove_file(vault.path().join("jl")).unwrap();
    std::os::unix::fs::symlink("Other", vault.path().join("jl")).unwrap();
    let mut again = call;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ "consent": yes() });
    let before = vault.everything();
    let said = server.request("tools/call", again)["result"].clone();
    assert_eq!(vault.read("Journal/a.md"), b"a\n", "{said}");
    assert_eq!(said["isError"] == true, vault.everything() == before, "{said}");
}

#[test]
fn anything_but_a_clear_yes_changes_nothing() {
    for (answer, expected) in [
        (json!({ "action": "decline" }), "cancelled"),
        (json!({ "action": "cancel" }), "cancelled"),
        (json!({ "action": "accept", "content": { "confirm": false } }), "cancelled"),
        (json!({ "action": "accept", "content": {} }), "cancelled"),
        (json!({ "action": "accept" }), "cancelled"),
        (json!({ "action": "accept", "content": { "confirm": "true" } }), "cancelled"),
    ] {
        let vault = vault();
        assert_eq!(reason(&live(&vault, &answer, || {})), expected, "{answer}");
        assert_eq!(vault.read("a.md"), b"one two three\n");
        let result = retried(&mut modern(&vault), |again| again["inputResponses"]["consent"] = answer.clone());
        assert_eq!(reason(&result), expected, "{answer}");
        assert_eq!(vault.read("a.md"), b"one two three\n");
    }
}

#[test]
fn consent_is_for_what_was_shown() {
    let vault = vault();
    let result = live(&vault, &yes(), || vault.write("a.md", b"one two four\n"));
    assert_eq!(reason(&result), "changed_meanwhile");
    assert_eq!(vault.read("a.md"), b"one two four\n");

    let vault = self::vault();
    let result = retried(&mut modern(&vault), |_| vault.write("a.md", b"one two four\n"));
    assert_eq!(reason(&result), "changed_meanwhile");
    assert_eq!(vault.read("a.md"), b"one two four\n");
}

#[test]
fn a_state_is_good_for_one_use_of_the_same_call() {
    type Tamper = fn(&mut Value);
    let tampers: [Tamper; 5] = [
        |again| again["arguments"]["replace"] = json!("3"),
        |again| again["requestState"] = json!("00"),
        |again| again["requestState"] = json!(again["requestState"].as_str().unwrap().replace('a', "b")),
        |again| again["inputResponses"] = json!({}),
        |again| again["inputResponses"] = json!({ "other": yes() }),
    ];
    for tamper in tampers {
        let vault = vault();
        assert_eq!(reason(&retried(&mut modern(&vault), tamper)), "approval_expired");
        assert_eq!(vault.read("a.md"), b"one two three\n");
    }

    let vault = vault();
    let mut server = modern(&vault);
    let mut used = Value::Null;
    retried(&mut server, |again| used = again.clone());
    assert_eq!(vault.read("a.md"), b"one 2 three\n");
    vault.write("a.md", b"one two three\n");
    let replayed = server.request("tools/call", used)["result"].clone();
    assert_eq!(reason(&replayed), "approval_expired");
    assert_eq!(vault.read("a.md"), b"one two three\n");
}

#[test]
fn without_a_way_to_ask_the_answer_is_no() {
    for era in [Era::Legacy("2025-11-25"), Era::Modern] {
        let vault = vault();
        let environment = [ASK, &[("LAPIDARY_PENDING_APPROVALS", "false")]].concat();
        let mut server = vault.serve_with(&[], &environment).open(era);
        assert_eq!(server.refused("str_replace", edit()["arguments"].clone()), "approval_unavailable", "{era:?}");
        assert_eq!(vault.read("a.md"), b"one two three\n");
        let dry = server.done("str_replace", json!({ "file": "a.md", "find": "two", "replace": "2", "dry_run": true }));
        assert!(dry["diff"].as_str().unwrap().contains("+one 2 three"), "looking is free: {dry}");
    }
}

#[test]
fn a_rule_can_forbid_what_the_client_would_allow() {
    let vault = vault();
    let mut server = vault.serve_with(&[], &[("LAPIDARY_APPROVAL", "write=deny")]).with_elicitation().open(Era::Modern);
    assert_eq!(server.refused("str_replace", edit()["arguments"].clone()), "denied_by_rule");
    assert_eq!(vault.read("a.md"), b"one two three\n");
}

#[test]
fn the_way_through_call_tool_asks_as_well() {
    let vault = vault();
    let mut server = modern(&vault);
    let asked = server.request("tools/call", json!({ "name": "call_tool", "arguments": edit() }))["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let again = json!({
        "name": "call_tool",
        "arguments": edit(),
        "requestState": asked["requestState"],
        "inputResponses": { "consent": yes() },
    });
    server.request("tools/call", again);
    assert_eq!(vault.read("a.md"), b"one 2 three\n");
}

#[test]
fn a_cancelled_question_changes_nothing() {
    let vault = vault();
    let mut server = vault.serve_with(&[], ASK).with_elicitation().open(Era::Legacy("2025-11-25"));
    let id = server.ask("tools/call", edit());
    let question = server.message();
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    server.request("ping", json!({}));
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes() }));
    server.request("ping", json!({}));
    assert_eq!(vault.read("a.md"), b"one two three\n");
}

#[test]
fn an_answer_that_is_too_late_is_a_refusal() {
    let vault = vault();
    let environment = [("LAPIDARY_APPROVAL", "write=ask"), ("LAPIDARY_ASK_TIMEOUT_MS", "50")];
    let mut server = vault.serve_with(&[], &environment).with_elicitation().open(Era::Legacy("2025-11-25"));
    assert_eq!(server.refused("str_replace", edit()["arguments"].clone()), "approval_expired");
    assert_eq!(vault.read("a.md"), b"one two three\n");
}
