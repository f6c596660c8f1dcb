//! Changes that wait for approval if the client cannot ask: `lapidary approvals`, the owner's rules, and the result of
//! the call.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::{
    harness::{Era, Vault, files_below, reason},
    http::HttpServer,
};

const ASK: (&str, &str) = ("LAPIDARY_APPROVAL", "write=ask");

fn vault() -> Vault {
    Vault::new(&[("a.md", b"one two three\n"), ("Work/b.md", b"one two three\n")])
}

fn edit() -> Value {
    json!({ "file": "a.md", "find": "two", "replace": "2" })
}

fn pending(vault: &Vault) -> Vec<Value> {
    let output = vault.run(&["approvals", "list", "--json"]);
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    listed["approvals"].as_array().unwrap().clone()
}

/// A person at a terminal, who types this.
fn at_terminal(vault: &Vault, arguments: &[&str], typed: &str) -> String {
    at_terminal_of(vault, &[&vault.path()], &[], arguments, typed)
}

/// The same with several vaults, and settings from the environment.
fn at_terminal_of(
    vault: &Vault,
    vaults: &[&Path],
    environment: &[(&str, &str)],
    arguments: &[&str],
    typed: &str,
) -> String {
    let mut line = format!("'{}'", env!("CARGO_BIN_EXE_lapidary"));
    vaults.iter().for_each(|vault| line += &format!(" --vault '{}'", vault.display()));
    arguments.iter().for_each(|argument| line += &format!(" {argument}"));
    let state = vault.path().parent().unwrap().join("state");
    let mut child = std::process::Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env("LAPIDARY_STATE_DIR", state)
        .envs(environment.iter().copied())
        .env("HOME", vault.path().parent().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    use std::io::Write;
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
}

#[test]
fn a_change_waits_and_a_person_accepts_it() {
    for era in [Era::Legacy("2025-11-25"), Era::Modern] {
        let vault = vault();
        let mut server = vault.serve_with(&[], &[ASK]).open(era);
        let refused = server.call("str_replace", edit());
        assert_eq!(reason(&refused), "approval_pending", "{refused}");
        for _ in 0..5 {
            assert_eq!(server.refused("str_replace", edit()), "approval_pending", "asking again changes nothing");
        }
        assert_eq!(vault.read("a.md"), b"one two three\n");
        let listed = pending(&vault);
        assert_eq!(listed.len(), 1, "and asks once: {listed:?}");
        let id = listed[0]["id"].as_str().unwrap();
        assert!(refused.to_string().contains(id), "the caller knows what to tell the person");
        let shown = String::from_utf8(vault.run(&["approvals", "show", &id[..4]]).stdout).unwrap();
        for part in ["'str_replace'", "'a.md'", "lines added: 1, removed: 1", "-one two three", "+one 2 three"] {
            assert!(shown.contains(part), "{part} is not in {shown}");
        }
        // A program that starts programs is not a person.
        let output = vault.run(&["approvals", "accept", id]);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains("terminal"));
        assert_eq!(vault.read("a.md"), b"one two three\n");

        at_terminal(&vault, &["approvals", "accept", id], "n\n");
        assert_eq!(vault.read("a.md"), b"one two three\n");
        let said = at_terminal(&vault, &["approvals", "accept", id], "y\n");
        assert_eq!(vault.read("a.md"), b"one 2 three\n", "{said}");
        assert_eq!(pending(&vault), Vec::<Value>::new());

        let made = vault.log().into_iter().find(|line| line["checkpoint"].is_string()).unwrap();
        assert_eq!(made["via"], "approvals", "the log says how it came about: {made}");
        let told = server.done("str_replace", edit());
        assert!(told["checkpoint"].is_string(), "the answer of the call: {told}");
        assert!(told["notice"].as_str().unwrap().contains("The owner approved it"), "{told}");
        assert_eq!(vault.read("a.md"), b"one 2 three\n", "it is made once");
        assert_eq!(server.refused("str_replace", edit()), "text_missing", "the answer is given once");
    }
}

#[test]
fn a_change_that_a_person_agreed_to_is_undone_by_the_client_that_asked() {
    let vault = vault();
    let mut server = vault.serve_with(&[], &[ASK]).called_by("Editor").open(Era::Modern);
    let agree = || {
        let id = pending(&vault)[0]["id"].as_str().unwrap().to_owned();
        at_terminal(&vault, &["approvals", "accept", &id], "y\n")
    };
    assert_eq!(server.refused("str_replace", edit()), "approval_pending");
    agree();
    assert_eq!(vault.read("a.md"), b"one 2 three\n");
    assert_eq!(server.refused("undo", json!({})), "approval_pending");
    let said = agree();
    assert_eq!(vault.read("a.md"), b"one two three\n", "{said}");
    let undone = server.done("undo", json!({}));
    assert_eq!(undone["undone"][0].get("otherSession"), None, "{undone:#}");
}

#[test]
fn a_rejected_change_is_not_made_and_the_caller_is_told() {
    let vault = vault();
    let mut server = vault.serve_with(&[], &[ASK]).open(Era::Modern);
    server.call("str_replace", edit());
    let id = pending(&vault)[0]["id"].as_str().unwrap().to_owned();
    assert!(vault.run(&["approvals", "reject", &id]).status.success());
    assert_eq!(server.refused("str_replace", edit()), "cancelled");
    assert_eq!(vault.read("a.md"), b"one two three\n");
    assert_eq!(pending(&vault), Vec::<Value>::new());
    assert_eq!(vault.run(&["approvals", "reject", &id]).status.code(), Some(1), "there is nothing left to reject");
}

#[test]
fn if_the_note_changed_meanwhile_nothing_is_made_and_the_request_is_renewed() {
    let vault = vault();
    let mut server = vault.serve_with(&[], &[ASK]).open(Era::Modern);
    server.call("str_replace", edit());
    let id = pending(&vault)[0]["id"].as_str().unwrap().to_owned();
    vault.write("a.md", b"one two four\n");
    let said = at_terminal(&vault, &["approvals", "accept", &id], "y\n");
    assert!(said.contains("error:\u{1b}[0m The change is no longer the one that the user was"), "{said}");
    assert_eq!(vault.read("a.md"), b"one two four\n");
    assert_eq!(server.refused("str_replace", edit()), "approval_pending");
    assert!(pending(&vault)[0]["question"].as_str().unwrap().contains("+one 2 four"));
    // If it changes while the request is open, the request changes too.
    vault.write("a.md", b"one two five\n");
    assert_eq!(server.refused("str_replace", edit()), "approval_pending");
    let listed = pending(&vault);
    assert_eq!(listed.len(), 1);
    assert!(listed[0]["question"].as_str().unwrap().contains("+one 2 five"));
}

#[test]
fn a_tool_run_by_another_waits_under_its_own_name() {
    let vault = vault();
    let mut server = vault.serve_with(&[], &[ASK]).open(Era::Modern);
    server.call("call_tool", json!({ "name": "str_replace", "arguments": edit() }));
    let batch = json!({ "ops": [{ "tool": "str_replace", "args": edit() }] });
    assert_eq!(server.refused("bulk_apply", batch.clone()), "approval_pending");
    let mut tools: Vec<String> =
        pending(&vault).iter().map(|pending| pending["tool"].as_str().unwrap().to_owned()).collect();
    tools.sort();
    assert_eq!(tools, ["bulk_apply", "str_replace"]);
    let id = pending(&vault).iter().find(|pending| pending["tool"] == "bulk_apply").unwrap()["id"].clone();
    at_terminal(&vault, &["approvals", "accept", id.as_str().unwrap()], "y\n");
    assert_eq!(vault.read("a.md"), b"one 2 three\n");
    assert!(server.done("bulk_apply", batch)["notice"].as_str().unwrap().contains("The owner approved it"));
}

#[test]
fn no_argument_counts_as_consent() {
    let vault = vault();
    let mut server = vault.serve_with(&[], &[ASK]).open(Era::Modern);
    for extra in ["confirm", "approved", "consent", "force"] {
        let mut arguments = edit();
        arguments[extra] = json!(true);
        assert_eq!(server.call("str_replace", arguments)["isError"], true);
    }
    let answered = json!({
        "name": "str_replace", "arguments": edit(), "requestState": "00",
        "inputResponses": { "consent": { "action": "accept", "content": { "confirm": true } } },
    });
    assert_eq!(server.request("tools/call", answered)["result"]["isError"], true);
    assert_eq!(vault.read("a.md"), b"one two three\n");
}

/// The first matching rule decides, otherwise the effect.
#[test]
fn rules_decide_by_effect_group_tool_and_path() {
    let edit_at = |file: &str| ("str_replace", json!({ "file": file, "find": "two", "replace": "2" }));
    let read = || ("file_read", json!({ "file": "a.md" }));
    let by_name = |(tool, arguments): (&str, Value)| ("call_tool", json!({ "name": tool, "arguments": arguments }));
    for (rules, (tool, arguments), expected) in [
        ("deny path=Work", edit_at("Work/b.md"), "denied_by_rule"),
        ("deny path=Work", edit_at("a.md"), "ok"),
        ("ask path=Work; deny tool=str_replace", edit_at("Work/b.md"), "approval_pending"),
        ("ask path=Work; deny tool=str_replace", edit_at("a.md"), "denied_by_rule"),
        ("allow tool=str_replace; deny group=edit", edit_at("a.md"), "ok"),
        (
            "allow tool=str_replace; deny group=edit",
            ("file_append", json!({ "file": "a.md", "content": "x" })),
            "denied_by_rule",
        ),
        ("deny effect=write", edit_at("a.md"), "denied_by_rule"),
        ("deny effect=destroy", edit_at("a.md"), "ok"),
        ("deny effect=write", read(), "ok"),
        ("deny effect=read", read(), "denied_by_rule"),
        ("deny group=vault", read(), "ok"),
        ("deny group=vault", ("links_get", json!({ "file": "a.md" })), "denied_by_rule"),
        ("ask tool=file_read", read(), "approval_pending"),
        ("deny tool=file.read", read(), "denied_by_rule"),
        ("deny path=a.md", read(), "ok"),
        // A tool that leads to others is judged too, if a rule names it.
        ("deny tool=call_tool", by_name(read()), "denied_by_rule"),
        ("deny group=agent", by_name(edit_at("a.md")), "denied_by_rule"),
        ("ask tool=call_tool", by_name(edit_at("a.md")), "approval_pending"),
        ("ask tool=call_tool", by_name(read()), "approval_pending"),
        ("ask tool=call_tool", edit_at("a.md"), "ok"),
        ("allow tool=str_replace; deny effect=write", by_name(edit_at("a.md")), "ok"),
    ] {
        let vault = vault();
        let before = vault.everything();
        let mut server = vault.serve_with(&[], &[("LAPIDARY_APPROVAL_RULES", rules)]).open(Era::Modern);
        let result = server.call(tool, arguments.clone());
        let found = if result["isError"] == true { reason(&result) } else { "ok".to_owned() };
        assert_eq!(found, expected, "{rules}: {tool} {arguments}: {result}");
        if expected != "ok" {
            assert_eq!(vault.everything(), before);
        }
    }
}

#[test]
fn a_read_that_is_asked_about_is_answered_after_a_yes() {
    let vault = vault();
    let mut server = vault.serve_with(&[], &[("LAPIDARY_APPROVAL_RULES", "ask tool=file_read")]).open(Era::Modern);
    let read = json!({ "file": "a.md" });
    assert_eq!(server.refused("file_read", read.clone()), "approval_pending");
    let asked = pending(&vault)[0]["question"].as_str().unwrap().to_owned();
    assert!(asked.contains("`file_read`") && asked.contains(r#"{"file":"a.md"}"#), "{asked}");
    let id = pending(&vault)[0]["id"].as_str().unwrap().to_owned();
    at_terminal(&vault, &["approvals", "accept", &id], "y\n");
    let kept = files_below(&state(&vault));
    let has_text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).contains("one two three");
    assert!(!kept.iter().any(|(name, bytes)| name.contains("approvals/") && has_text(bytes)), "no note is kept there");
    vault.write("a.md", b"four\n");
    assert_eq!(server.done("file_read", read.clone())["content"], "four\n", "it reads the current state");
    assert_eq!(server.refused("file_read", read), "approval_pending", "a yes counts once");
}

fn state(vault: &Vault) -> PathBuf {
    vault.path().parent().unwrap().join("state")
}

/// The files of the requests, by their state.
fn questions(vault: &Vault) -> Vec<PathBuf> {
    let all = files_below(&state(vault));
    all.into_keys().filter(|name| name.contains("approvals/")).map(|name| state(vault).join(name)).collect()
}

#[test]
fn an_answer_that_is_not_collected_in_time_is_forgotten() {
    let vault = vault();
    let mut server = vault.serve_with(&[], &[ASK]).open(Era::Modern);
    let append = json!({ "file": "a.md", "content": "more\n" });
    server.call("file_append", append.clone());
    let id = pending(&vault)[0]["id"].as_str().unwrap().to_owned();
    at_terminal(&vault, &["approvals", "accept", &id], "y\n");
    let make_old = || {
        for file in questions(&vault) {
            let mut record: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            for time in ["asked", "answered"] {
                if record.get(time).is_some() {
                    record[time] = json!("2026-01-01T00:00:00.000Z");
                }
            }
            std::fs::write(&file, record.to_string()).unwrap();
            let file = std::fs::File::options().write(true).open(&file).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        }
    };
    make_old();
    assert_eq!(
        server.refused("file_append", append),
        "approval_pending",
        "the old yes is not told as one to this call"
    );
    assert_eq!(vault.read("a.md"), b"one two three\nmore\n");
    make_old();
    // Neither a request nor an answer stays forever, even if the owner never looks.
    server.call("str_replace", edit());
    assert_eq!(questions(&vault).len(), 1, "{:?}", questions(&vault));
}

#[test]
fn an_approval_whose_process_was_killed_can_be_repeated() {
    let vault = vault();
    let mut server = vault.serve_with(&[], &[ASK]).open(Era::Modern);
    server.call("str_replace", edit());
    let id = pending(&vault)[0]["id"].as_str().unwrap().to_owned();
    let open = questions(&vault).remove(0);
    let taken = open.to_str().unwrap().replace(".open.", ".taken.");
    std::fs::rename(&open, taken).unwrap();
    assert_eq!(pending(&vault)[0]["taken"], false);
    assert_eq!(server.refused("str_replace", edit()), "approval_pending");
    at_terminal(&vault, &["approvals", "accept", &id], "y\n");
    assert_eq!(vault.read("a.md"), b"one 2 three\n");
    assert!(server.done("str_replace", edit())["notice"].as_str().unwrap().contains("The owner approved it"));
    assert_eq!(questions(&vault), Vec::<PathBuf>::new());
}

#[test]
fn an_answer_finds_its_vault_also_where_several_are_served() {
    let (vault, other) = (vault(), Vault::new(&[("a.md", b"one two three\n")]));
    let elsewhere = other.path().parent().unwrap().join("Other");
    std::fs::rename(other.path(), &elsewhere).unwrap();
    let mut server = vault.serve_with(&[], &[ASK]).open(Era::Modern);
    server.call("str_replace", edit());
    let id = pending(&vault)[0]["id"].as_str().unwrap().to_owned();
    let said = at_terminal_of(&vault, &[&elsewhere, &vault.path()], &[], &["approvals", "accept", &id], "y\n");
    assert_eq!(vault.read("a.md"), b"one 2 three\n", "{said}");
    assert_eq!(std::fs::read(elsewhere.join("a.md")).unwrap(), b"one two three\n");
    assert!(server.done("str_replace", edit())["notice"].as_str().unwrap().contains("The owner approved it"));
}

#[test]
fn a_request_under_an_unknown_profile_is_not_carried_out() {
    let vault = vault();
    let config = vault.path().parent().unwrap().join("own.toml");
    std::fs::write(&config, "profile = \"scribe\"\n[profiles.scribe]\nallow = [\"all\"]\n").unwrap();
    let config = config.to_str().unwrap();
    let mut server = vault.serve_with(&["--config", config], &[ASK]).open(Era::Modern);
    server.call("str_replace", edit());
    let id = pending(&vault)[0]["id"].as_str().unwrap().to_owned();
    let said = at_terminal(&vault, &["approvals", "accept", &id], "y\n");
    assert!(said.contains("scribe"), "{said}");
    assert_eq!(vault.read("a.md"), b"one two three\n");
    assert_eq!(pending(&vault).len(), 1, "it is still pending");
    let said = at_terminal(&vault, &["approvals", "accept", &id, "--config", config], "y\n");
    assert_eq!(vault.read("a.md"), b"one 2 three\n", "{said}");
}

#[test]
fn an_answer_goes_to_its_caller() {
    let vault = vault();
    let tokens = "phone:curator:a-token-for-the-phone; desk:curator:a-token-for-the-desk-1";
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[ASK, ("LAPIDARY_TOKENS", tokens)]);
    let call_with = |token: &str, handle: Option<&str>| {
        let bearer = format!("Bearer {token}");
        let mut arguments = edit();
        if let Some(handle) = handle {
            arguments["approval"] = json!(handle);
        }
        let params = json!({ "name": "str_replace", "arguments": arguments });
        server.post(&[("Authorization", &bearer)], "tools/call", Some("str_replace"), params).1
    };
    let call = |token: &str| call_with(token, None);
    let asked = call("a-token-for-the-phone");
    assert!(asked.contains("approval_pending"));
    let (_, handle) = asked.split_once("\"handle\":\"").unwrap();
    let (handle, _) = handle.split_once('"').unwrap();
    let id = pending(&vault)[0]["id"].as_str().unwrap().to_owned();
    let accept = |environment: &[(&str, &str)]| {
        at_terminal_of(&vault, &[&vault.path()], environment, &["approvals", "accept", &id], "y\n")
    };
    let said = accept(&[]);
    assert!(said.contains("'http:phone'") && said.contains("not configured here"), "{said}");
    let said = accept(&[("LAPIDARY_TOKENS", "phone:reader:a-token-for-the-phone")]);
    assert!(said.contains("'curator'") && said.contains("profile differs here"), "{said}");
    assert_eq!(vault.read("a.md"), b"one two three\n", "a grant belongs to one principal");
    accept(&[("LAPIDARY_TOKENS", tokens)]);
    let other = call("a-token-for-the-desk-1");
    assert!(other.contains("text_missing") && !other.contains("The owner approved it"), "{other}");
    let other = call_with("a-token-for-the-desk-1", Some(handle));
    assert!(!other.contains("The owner approved it"), "{other}");
    let unknown = call("a-token-for-the-phone");
    assert!(!unknown.contains("The owner approved it"), "another client may have the same token: {unknown}");
    assert!(call_with("a-token-for-the-phone", Some(handle)).contains("The owner approved it"));
}

/// A rule that allows one folder opens no other folder of the same change.
#[test]
fn a_change_of_several_files_is_judged_on_each_of_them() {
    let notes: &[(&str, &[u8])] =
        &[("Inbox/a.md", b"one two\n"), ("Journal/b.md", b"one two\n"), ("Work/Private/c.md", b"one two\n")];
    let edit_at =
        |file: &str| json!({ "tool": "str_replace", "args": { "file": file, "find": "two", "replace": "2" } });
    let move_to = |from: &str, to: &str| ("file_move", json!({ "from": from, "to": to }));
    const INBOX: &str = "allow path=Inbox; ask effect=write";
    for (rules, (tool, arguments), expected) in [
        (INBOX, ("bulk_apply", json!({ "ops": [edit_at("Inbox/a.md")] })), "ok"),
        (INBOX, ("bulk_apply", json!({ "ops": [edit_at("Inbox/a.md"), edit_at("Journal/b.md")] })), "approval_pending"),
        (INBOX, move_to("Journal/b.md", "Inbox/b.md"), "approval_pending"),
        (INBOX, move_to("Inbox/a.md", "Inbox/b.md"), "ok"),
        ("deny path=Work/Private", move_to("Work", "Old"), "denied_by_rule"),
        ("deny path=Work/Private", move_to("Journal", "Old"), "ok"),
    ] {
        let vault = Vault::new(notes);
        let before = vault.everything();
        let mut server = vault.serve_with(&[], &[("LAPIDARY_APPROVAL_RULES", rules)]).open(Era::Modern);
        let result = server.call(tool, arguments.clone());
        let found = if result["isError"] == true { reason(&result) } else { "ok".to_owned() };
        assert_eq!(found, expected, "{rules}: {tool} {arguments}: {result}");
        assert_eq!(vault.everything() == before, expected != "ok", "{rules}: {tool} {arguments}");
    }
}

#[test]
fn a_rule_about_an_unknown_tool_is_reported_at_startup() {
    let vault = vault();
    let output = vault
        .command()
        .arg("--vault")
        .arg(vault.path())
        .arg("tools")
        .env("LAPIDARY_APPROVAL_RULES", "deny tool=file_raed")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `file_read`"));
}
