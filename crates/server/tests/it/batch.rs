//! Many changes in one call.

use lapidary_note::ContentHash;
use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, path};

fn serve(vault: &Vault) -> Server {
    vault.serve_with(&["--tools", "all"], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern)
}

fn op(tool: &str, args: impl Into<Value>) -> Value {
    json!({ "tool": tool, "args": args.into() })
}

fn edit(file: &str, find: &str, replace: &str) -> Value {
    op("str_replace", json!({ "file": file, "find": find, "replace": replace }))
}

fn mv(from: &str, to: &str) -> Value {
    op("file_move", json!({ "from": from, "to": to }))
}

fn text(vault: &Vault, path: &str) -> String {
    String::from_utf8(vault.read(path)).unwrap()
}

/// Undoes the last change by its checkpoint.
fn undo(server: &mut Server, done: &Value) {
    server.done("checkpoint_restore", json!({ "id": done["checkpoint"] }));
}

#[test]
fn every_operation_sees_what_those_before_it_did() {
    let hub = "# Hub\n[[a]] [[a#Old]] [[b]]\n";
    let vault =
        Vault::new(&[("a.md", b"# Old\r\nx #tag\r\n"), ("b.md", b"see [[a#Old]]\n"), ("hub.md", hub.as_bytes())]);
    let before = vault.everything();
    let mut server = serve(&vault);
    let moved = "# New\r\nx #tag\r\n";
    let done = server.done(
        "bulk_apply",
        json!({ "ops": [
            mv("a.md", "d/c.md"),
            op("heading_rename", json!({ "file": "d/c.md", "heading": "Old", "newText": "New", "expected_section_hash": ContentHash::of(b"# Old\r\nx #tag\r\n").to_string() })),
            op("file_create", json!({ "file": "e.md", "content": "[[c#New]] #tag\n" })),
            op("tag_rename", json!({ "from": "tag", "to": "gem" })),
            op("obsidian_append_to_note", json!({ "target": path("e.md"), "content": "end" })),
            mv("e.md", "d/f.md"),
            op("str_replace", json!({ "file": "d/c.md", "find": "x", "replace": "y", "expected_content_hash": ContentHash::of(moved.replace("tag", "gem").as_bytes()).to_string() })),
            op("frontmatter_set", json!({ "file": "b.md", "keyPath": "k", "value": 1 })),
        ] }),
    );
    assert!(done["results"].as_array().unwrap().iter().all(|result| result["ok"] == true), "{done:#}");
    assert_eq!(text(&vault, "d/c.md"), "# New\r\ny #gem\r\n");
    assert_eq!(text(&vault, "d/f.md"), "[[c#New]] #gem\nend\n");
    assert_eq!(text(&vault, "b.md"), "---\nk: 1\n---\nsee [[c#New]]\n");
    assert_eq!(text(&vault, "hub.md"), "# Hub\n[[c]] [[c#New]] [[b]]\n");
    assert_eq!(vault.everything().len(), 4);
    // One line in the log, one checkpoint, and one undo.
    undo(&mut server, &done);
    let mut after = vault.everything();
    after.retain(|path, _| !path.starts_with(".trash/"));
    assert_eq!(after, before);
}

#[test]
fn files_swap_their_names_and_back() {
    let vault = Vault::new(&[("a.md", b"A [[b]]\n"), ("b.md", b"B\n"), ("l.md", b"[[a]] [[b]]\n")]);
    let before = vault.everything();
    let mut server = serve(&vault);
    let done =
        server.done("bulk_apply", json!({ "ops": [mv("a.md", "t.md"), mv("b.md", "a.md"), mv("t.md", "b.md")] }));
    assert_eq!((text(&vault, "a.md"), text(&vault, "b.md")), ("B\n".to_owned(), "A [[a]]\n".to_owned()));
    assert_eq!(text(&vault, "l.md"), "[[b]] [[a]]\n");
    undo(&mut server, &done);
    assert_eq!(vault.everything(), before);
}

#[test]
fn a_folder_moves_and_its_notes_are_edited() {
    let vault = Vault::new(&[("f/a.md", b"one [[b]]\n"), ("f/b.md", b"two\n"), ("l.md", b"[[f/a]]\n")]);
    let before = vault.everything();
    let mut server = serve(&vault);
    let done = server.done(
        "bulk_apply",
        json!({ "ops": [edit("f/a.md", "one", "0"), mv("f", "g"), edit("g/a.md", "0", "1"), mv("g/b.md", "c.md"), edit("c.md", "two", "2")] }),
    );
    assert_eq!((text(&vault, "g/a.md"), text(&vault, "c.md")), ("1 [[c]]\n".to_owned(), "2\n".to_owned()));
    assert_eq!(text(&vault, "l.md"), "[[a]]\n");
    assert!(!vault.path().join("f").exists());
    undo(&mut server, &done);
    assert_eq!(vault.everything(), before);
}

#[test]
fn folders_move_on_and_out_of_each_other_and_back() {
    for moves in [
        [("f", "z"), ("z", "q")].as_slice(),
        &[("f", "z"), ("z", "d/q"), ("d/q", "e")],
        &[("f", "z"), ("z/g", "q")],
        &[("f/g", "z"), ("f", "y"), ("z", "q")],
        &[("f/g/h", "y"), ("f/g", "y/u"), ("y", "k")],
        &[("f/g/h", "y"), ("f", "y/u"), ("y/u/g", "k"), ("y", "k/w")],
    ] {
        let notes: &[(&str, &[u8])] = &[("f/a.md", b"[[e]]\n"), ("f/g/e.md", b"x\n"), ("f/g/h/i.md", b"[[a]]\n")];
        let vault = Vault::new(notes);
        let before = vault.everything();
        let mut server = serve(&vault);
        let mut ops: Vec<Value> = moves.iter().map(|(from, to)| mv(from, to)).collect();
        // Notes moved along are edited at their last place.
        let here = |from: &str| {
            moves.iter().fold(from.to_owned(), |at, (from, to)| match at.strip_prefix(from) {
                Some(below) if below.starts_with('/') => format!("{to}{below}"),
                _ => at,
            })
        };
        ops.push(edit(&here("f/g/e.md"), "x", "y"));
        let done = server.done("bulk_apply", json!({ "ops": ops }));
        assert_eq!(done["rolled_back"], false, "{moves:?}: {done:#}");
        assert_eq!(text(&vault, &here("f/g/e.md")), "y\n", "{moves:?}");
        assert_eq!(text(&vault, &here("f/g/h/i.md")), "[[a]]\n", "{moves:?}");
        let listed = server.done("checkpoint_list", json!({}));
        assert_eq!(listed["checkpoints"][0]["files"].as_array().unwrap().len(), moves.len() + 1, "{listed:#}");
        undo(&mut server, &done);
        assert_eq!(vault.everything(), before, "{moves:?}");
    }
}

#[test]
fn operations_that_cannot_be_combined_are_reported() {
    let vault = Vault::new(&[("a.md", b"x\n"), ("f/b.md", b"x\n")]);
    let before = vault.everything();
    let mut server = serve(&vault);
    for (ops, code, reason) in [
        (
            json!([edit("a.md", "x", "y"), op("file_delete", json!({ "file": "a.md" }))]),
            "INVALID_ARGS",
            "batch_conflict",
        ),
        (
            json!([op("file_create", json!({ "file": "h/c.md", "content": "" })), mv("h", "g")]),
            "INVALID_ARGS",
            "batch_conflict",
        ),
        (json!([edit("a.md", "x", "y"), op("file_read", json!({ "file": "a.md" }))]), "INVALID_ARGS", "not_in_batch"),
        (json!([edit("a.md", "x", "y"), op("bulk_apply", json!({ "ops": [] }))]), "INVALID_ARGS", "not_in_batch"),
        (
            json!([edit("a.md", "x", "y"), op("call_tool", json!({ "name": "file_read" }))]),
            "INVALID_ARGS",
            "not_in_batch",
        ),
        (json!([edit("a.md", "x", "y"), op("regex.replace", json!({}))]), "INVALID_ARGS", "not_in_batch"),
        (json!([edit("a.md", "x", "y"), op("no.such", json!({}))]), "INVALID_ARGS", "tool_unknown"),
        (
            json!([edit("a.md", "x", "y"), op("str_replace", json!({ "file": "a.md" }))]),
            "INVALID_ARGS",
            "invalid_arguments",
        ),
        (
            json!([
                edit("a.md", "x", "y"),
                op("str_replace", json!({ "file": "a.md", "find": "y", "replace": "z", "vault": "Other" }))
            ]),
            "INVALID_ARGS",
            "vault_differs",
        ),
        (
            json!([edit("a.md", "x", "y"), op("file_create", json!({ "file": ".obsidian/x", "content": "" }))]),
            "PERMISSION_DENIED",
            "path_forbidden",
        ),
    ] {
        let done = server.done("bulk_apply", json!({ "ops": ops }));
        assert_eq!((&done["validated"], &done["dry_run"]), (&json!(false), &json!(true)), "{done}");
        let error = &done["results"][1]["error"];
        assert_eq!((&error["code"], &error["reason"]), (&json!(code), &json!(reason)), "{done}");
        assert!(error["hint"].is_string());
        assert_eq!(vault.everything(), before);
    }
    assert_eq!(server.refused("bulk_apply", json!({ "ops": [] })), "invalid_arguments");
}

#[test]
fn a_hash_made_stale_by_an_earlier_operation_is_distinguished() {
    let vault = Vault::new(&[("a.md", b"# A\nx\n"), ("b.md", b"x\n")]);
    let mut server = serve(&vault);
    let expecting = |mut op: Value, name: &str, text: &str| {
        op["args"][name] = json!(ContentHash::of(text.as_bytes()).to_string());
        op
    };
    let first = || expecting(edit("a.md", "x", "y"), "expected_content_hash", "# A\nx\n");
    let body = op("heading_replace_body", json!({ "file": "a.md", "heading": "A", "content": "z\n" }));
    for (second, leaves) in [
        (expecting(edit("a.md", "y", "z"), "expected_content_hash", "# A\nx\n"), Some("# A\ny\n")),
        (expecting(body, "expected_section_hash", "# A\nx\n"), Some("# A\ny\n")),
        // That one was stale before.
        (expecting(edit("b.md", "x", "z"), "expected_content_hash", "old"), None),
    ] {
        let done = server.done("bulk_apply", json!({ "ops": [first(), second] }));
        let hint = done["results"][1]["error"]["hint"].as_str().unwrap();
        assert_eq!(hint.starts_with("An earlier operation of this batch"), leaves.is_some(), "{hint}");
        assert!(leaves.is_none_or(|text| hint.contains(&ContentHash::of(text.as_bytes()).to_string())), "{hint}");
    }
}

#[test]
fn without_atomic_the_successful_operations_are_one_change() {
    let vault =
        Vault::new(&[("a.md", b"x\n"), ("b.md", b"x\n"), ("fixed/c.md", b"x\n"), (".lapidaryprotect", b"fixed/\n")]);
    let mut server = serve(&vault);
    let ops = json!([
        edit("a.md", "x", "y"),
        edit("fixed/c.md", "x", "y"),
        edit("gone.md", "x", "y"),
        edit("a.md", "y", "z"),
        edit("b.md", "x", "y")
    ]);
    let dry = server.done("bulk_apply", json!({ "atomic": false, "dry_run": true, "ops": ops }));
    assert!(dry["diff"].as_str().unwrap().contains("+z") && dry.get("validated").is_none(), "{dry}");
    assert_eq!(vault.read("a.md"), b"x\n");
    let done = server.done("bulk_apply", json!({ "atomic": false, "ops": ops }));
    let outcomes: Vec<bool> = done["results"].as_array().unwrap().iter().map(|one| one["ok"] == true).collect();
    assert_eq!(outcomes, [true, false, false, true, true]);
    assert_eq!(done["results"][1]["error"]["reason"], "path_forbidden");
    assert_eq!(
        (vault.read("a.md"), vault.read("b.md"), vault.read("fixed/c.md")),
        (b"z\n".into(), b"y\n".into(), b"x\n".into())
    );
    undo(&mut server, &done);
    assert_eq!((vault.read("a.md"), vault.read("b.md")), (b"x\n".into(), b"x\n".into()));
}

#[test]
fn a_person_is_asked_once_about_all_of_it() {
    let vault = Vault::new(&[("a.md", b"x\n"), ("b.md", b"x\n")]);
    let environment = [("LAPIDARY_APPROVAL", "write=ask,destroy=deny")];
    let mut server = vault.serve_with(&[], &environment).with_elicitation().open(Era::Modern);
    let call =
        json!({ "name": "bulk_apply", "arguments": { "ops": [edit("a.md", "x", "y"), edit("b.md", "x", "z")] } });
    let asked = server.request("tools/call", call.clone());
    let question = asked["result"]["inputRequests"]["consent"]["params"]["message"].as_str().unwrap();
    assert!(question.contains("+y") && question.contains("+z"), "{question}");
    let mut again = call;
    again["requestState"] = asked["result"]["requestState"].clone();
    again["inputResponses"] = json!({ "consent": { "action": "accept", "content": { "confirm": true } } });
    let done = server.request("tools/call", again);
    assert_eq!(done["result"]["structuredContent"]["rolled_back"], false, "{done}");
    assert_eq!((vault.read("a.md"), vault.read("b.md")), (b"y\n".into(), b"z\n".into()));
    // Operations denied by the owner are denied here too.
    let hash = ContentHash::of(b"y\n").to_string();
    let destroy = op("file_delete", json!({ "file": "a.md", "trash": false, "expected_content_hash": hash }));
    let denied = server.done("bulk_apply", json!({ "ops": [destroy] }));
    assert_eq!(denied["results"][0]["error"]["reason"], "denied_by_rule");
    assert_eq!(vault.read("a.md"), b"y\n");
}

#[test]
fn a_note_that_another_program_changes_meanwhile_is_planned_again() {
    let vault = Vault::new(&[("a.md", b"x\n")]);
    let mut server = serve(&vault);
    let ids: Vec<u64> = (0..8)
        .map(|number| {
            let ops = json!([
                op("lines_insert", json!({ "file": "a.md", "line": 1, "content": format!("line {number}") })),
                op("file_append", json!({ "file": "log.md", "content": format!("{number}") }))
            ]);
            server.ask("tools/call", json!({ "name": "bulk_apply", "arguments": { "ops": ops } }))
        })
        .collect();
    for id in ids {
        let reply = loop {
            let message = server.aside.iter().position(|message| message["id"] == id);
            match message {
                Some(at) => break server.aside.remove(at),
                None => {
                    let message = server.message();
                    server.aside.push(message);
                }
            }
        };
        assert_ne!(reply["result"]["isError"], true, "{reply}");
    }
    assert_eq!((text(&vault, "a.md").lines().count(), text(&vault, "log.md").lines().count()), (9, 8));
}

#[test]
fn several_vaults_are_not_mixed() {
    let (one, other) = (Vault::new(&[("a.md", b"x\n")]), Vault::new(&[("a.md", b"x\n")]));
    let mut command = one.command();
    command.arg("--vault").arg(format!("one={}", one.path().display()));
    command.arg("--vault").arg(format!("other={}", other.path().display()));
    let mut server = Server::start(&command).open(Era::Modern);
    let mut named = edit("a.md", "y", "z");
    named["args"]["vault"] = json!("one");
    let done = server.done("bulk_apply", json!({ "vault": "one", "ops": [edit("a.md", "x", "y"), named] }));
    assert_eq!(done["rolled_back"], false, "{done}");
    assert_eq!((one.read("a.md"), other.read("a.md")), (b"z\n".into(), b"x\n".into()));
}
