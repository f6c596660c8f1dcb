//! The subcommands, as a person or a script uses them.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Output, Stdio},
};

use serde_json::{Value, json};

use crate::harness::Vault;

fn out(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn call_makes_one_call_and_prints_json() {
    let vault = Vault::new(&[("a.md", b"one two")]);
    let read = vault.run(&["call", "file.read", r#"{"file": "a.md"}"#]);
    assert_eq!((read.status.code(), out(&read)["content"].clone()), (Some(0), json!("one two")));
    let edit = vault.run(&["call", "str_replace", r#"{"file": "a.md", "find": "two", "replace": "2"}"#]);
    assert_eq!((edit.status.code(), vault.read("a.md")), (Some(0), b"one 2".to_vec()));
    let refused = vault.run(&["call", "str_replace", r#"{"file": "a.md", "find": "two", "replace": "2"}"#]);
    assert_eq!((refused.status.code(), out(&refused)["code"].clone()), (Some(1), json!("NOT_FOUND")));
    let unknown = vault.run(&["call", "file_raed"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(said(&unknown).contains("did you mean `file_read`"), "{}", said(&unknown));
    let no_json = vault.run(&["call", "file_read", "{"]);
    assert_eq!(no_json.status.code(), Some(2), "{}", said(&no_json));
}

#[test]
fn call_takes_its_arguments_from_standard_input() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let mut child = vault
        .command()
        .arg("--vault")
        .arg(vault.path())
        .args(["call", "file_read", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{\"file\": \"a.md\"}").unwrap();
    assert_eq!(out(&child.wait_with_output().unwrap())["content"], "one");
}

#[test]
fn the_same_call_may_be_repeated_in_a_script() {
    let vault = Vault::new(&[("a.md", b"one")]);
    for _ in 0..5 {
        assert!(vault.run(&["call", "file_read", r#"{"file": "a.md"}"#]).status.success());
    }
}

#[test]
fn tools_shows_everything_with_the_way_to_switch_it_on() {
    let vault = Vault::new(&[]);
    let table = String::from_utf8(vault.run(&["tools", "--read-only", "--exclude-tools", "find_tool"]).stdout).unwrap();
    let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{table}"));
    assert!(line("obsidian_get_note").contains("listed"));
    assert!(line("file_read").contains("deferred"));
    assert!(line("str_replace").contains("off") && line("str_replace").contains("--read-only"));
    assert!(line("find_tool").contains("off") && line("find_tool").contains("--exclude-tools"));
    let json = out(&vault.run(&["tools", "--json"]));
    assert!(
        json["tools"]
            .as_array()
            .unwrap()
            .iter()
            .all(|tool| tool["inputSchema"].is_object() && tool["standing"].is_string())
    );
}

#[test]
fn vaults_shows_names_and_places() {
    let vault = Vault::new(&[]);
    let json = out(&vault.run(&["vaults", "--json"]));
    assert_eq!(json["vaults"][0]["name"], "Notes");
    assert_eq!(json["vaults"][0]["path"], vault.path().to_str().unwrap());
}

#[test]
fn audit_shows_the_latest_calls_and_follows() {
    let vault = Vault::new(&[("a.md", b"one")]);
    vault.run(&["call", "file_read", r#"{"file": "a.md"}"#]);
    vault.run(&["call", "file_read", r#"{"file": "b.md"}"#]);
    let text = String::from_utf8(vault.run(&["audit"]).stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("when"), "{text}");
    assert!(lines[1].contains("file_read") && lines[1].contains(" ok ") && lines[1].ends_with("a.md"), "{text}");
    assert!(lines[2].contains("note_missing") && lines[2].ends_with("b.md"), "{text}");

    let mut follower = vault
        .command()
        .arg("--vault")
        .arg(vault.path())
        .args(["audit", "--follow", "--limit", "0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    // It may read the log only after this call; then the call is not new, so more calls follow until it prints one.
    let (done, stop) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let vault = &vault;
        scope.spawn(move || {
            while stop.recv_timeout(std::time::Duration::from_millis(100)).is_err() {
                vault.run(&["call", "file_read", r#"{"file": "c.md"}"#]);
            }
        });
        let line = lines.next().unwrap().unwrap();
        done.send(()).unwrap();
        assert!(line.ends_with("c.md"), "{line}");
    });
    follower.kill().unwrap();
    follower.wait().unwrap();
}

#[test]
fn wrong_usage_and_wrong_configuration_end_with_2_and_say_what_to_do() {
    let vault = Vault::new(&[]);
    let run = |arguments: &[&str]| vault.command().args(arguments).stdin(Stdio::null()).output().unwrap();
    for (arguments, part) in [
        (&["--no-such-flag"][..], "--no-such-flag"),
        (&["--vault", "/no/such/folder"], "/no/such/folder"),
        (&[], "--vault"),
        (&["--demo", "--tools", "file_reed"], "did you mean `file_read`"),
        (&["--demo", "serve", "--http", "0.0.0.0:3010"], "0.0.0.0"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(part), "{arguments:?}: {}", said(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn the_demo_vault_is_a_copy_that_goes_away() {
    let vault = Vault::new(&[]);
    let run = |arguments: &[&str]| vault.command().args(arguments).stdin(Stdio::null()).output().unwrap();
    let read = run(&["--demo", "call", "file_read", r#"{"file": "Welcome.md"}"#]);
    assert!(out(&read)["content"].as_str().unwrap().contains("# Welcome"), "{read:?}");
    let place = out(&run(&["--demo", "vaults", "--json"]))["vaults"][0]["path"].as_str().unwrap().to_owned();
    assert!(!std::path::Path::new(&place).exists(), "{place}");
}

#[test]
fn obsidians_own_list_is_used_if_it_holds_one_vault() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let config = vault.path().parent().unwrap().join(".config/obsidian");
    std::fs::create_dir_all(&config).unwrap();
    let list = json!({ "vaults": { "0123456789abcdef": { "path": vault.path(), "ts": 1, "open": true } } });
    std::fs::write(config.join("obsidian.json"), list.to_string()).unwrap();
    let output =
        vault.command().args(["call", "file_read", r#"{"file": "a.md"}"#]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(out(&output)["content"], "one");
}

#[test]
fn an_unknown_variable_is_named_with_the_nearest() {
    let vault = Vault::new(&[]);
    let output = vault.command().env("OBSIDIAN_READ_ONYL", "1").args(["--demo", "vaults"]).output().unwrap();
    assert!(
        said(&output).contains("OBSIDIAN_READ_ONYL") && said(&output).contains("OBSIDIAN_READ_ONLY"),
        "{}",
        said(&output)
    );
}

#[test]
fn the_log_on_a_terminal_cannot_be_forged() {
    let vault = Vault::new(&[]);
    vault.run(&[
        "call",
        "file_read",
        r#"{"file": "x\n2099-01-01T00:00:00.000Z  obsidian_write_note  changed\u001b[2J"}"#,
    ]);
    let text = String::from_utf8(vault.run(&["audit"]).stdout).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn a_program_gets_a_note_as_it_is_in_its_file() {
    for bytes in [&b"a\r\nb\r\n"[..], b"\xef\xbb\xbfa\nb", b"a\rb\r", b"a\n"] {
        let vault = Vault::new(&[("a.md", bytes), ("part.md", b"\xef\xbb\xbf# A\r\nx\r\n")]);
        let part = vault.run(&["read", "part.md", "--heading", "A"]);
        assert_eq!(part.stdout, b"# A\r\nx", "a part has no byte order mark");
        let read = vault.run(&["read", "a.md"]);
        assert_eq!((read.status.code(), &read.stdout[..]), (Some(0), bytes));
        vault.run(&["call", "file_delete", r#"{"file": "a.md"}"#]);
        let listed = vault.run(&["checkpoints", "list", "--json"]);
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        let id = listed["checkpoints"][0]["id"].as_str().unwrap();
        let shown = vault.run(&["checkpoints", "show", id, "a.md"]);
        assert_eq!((shown.status.code(), &shown.stdout[..]), (Some(0), bytes));
    }
}

#[test]
fn health_prints_findings_and_mends_what_it_is_told_to() {
    let vault = Vault::new(&[("Plan.md", b"[[old/Stone]]\n"), ("Stone.md", b"[[Plan]]\n")]);
    let check = vault.run(&["health", "--json"]);
    assert_eq!((check.status.code(), out(&check)["summary"][0]["kind"].clone()), (Some(1), json!("broken_link")));
    let shown = vault.run(&["health", "broken_link"]);
    assert_eq!(shown.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&shown.stdout).contains("link to"), "{shown:?}");
    let planned = vault.run(&["health", "--fix", "broken_link", "--dry-run"]);
    assert_eq!((planned.status.code(), vault.read("Plan.md")), (Some(0), b"[[old/Stone]]\n".to_vec()));
    let mended = vault.run(&["health", "--fix", "broken_link"]);
    assert_eq!((mended.status.code(), vault.read("Plan.md")), (Some(0), b"[[Stone]]\n".to_vec()));
    let healthy = vault.run(&["health"]);
    assert_eq!(healthy.status.code(), Some(0), "{healthy:?}");
    assert_eq!(vault.run(&["health", "broken"]).status.code(), Some(1));
}
