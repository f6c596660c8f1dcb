//! Commands that hints, errors and documents name: each can be run in the set-up that named it.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use clap::error::ErrorKind;
use serde_json::{Value, json};

use crate::harness::{Server, Vault, patience};

const ASK: (&str, &str) = ("LAPIDARY_APPROVAL", "write=ask");

fn vault() -> Vault {
    Vault::new(&[("a.md", b"one two three\n")])
}

fn edit() -> Value {
    json!({ "file": "a.md", "find": "two", "replace": "2" })
}

/// The first command in backticks, or in the quotes that a terminal shows instead.
fn named_command(text: &str) -> Vec<String> {
    let start = text.find("lapidary ").unwrap_or_else(|| panic!("{text}"));
    let command = text[start..].split(['`', '\'', '\n']).next().unwrap();
    command.split_whitespace().skip(1).map(str::to_owned).collect()
}

/// What a person types at any terminal: only the client knows the vault.
fn typed(vault: &Vault, words: &[String]) -> Output {
    vault.command().args(words).stdin(Stdio::null()).output().unwrap()
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// A server announces itself on the side, soon after its start.
fn until_announced(vault: &Vault) {
    let started = Instant::now();
    while !typed(vault, &words("status")).status.success() {
        assert!(started.elapsed() < patience(), "the server never announced itself");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_command_of_an_approval_hint_finds_the_vault_of_the_server_that_gave_it() {
    let vault = vault();
    let alone = typed(&vault, &words("approvals"));
    assert_eq!(alone.status.code(), Some(2), "no vault is known yet: {alone:?}");
    let mut server = vault.spawn_with(&[], &[ASK]);
    let refused = server.call("str_replace", edit()).to_string();
    until_announced(&vault);
    let shown = typed(&vault, &named_command(&refused));
    let text = String::from_utf8(shown.stdout.clone()).unwrap();
    assert!(shown.status.success() && text.contains("+one 2 three"), "{shown:?}");
    // The list names the next command, which is followed too.
    let listed = typed(&vault, &words("approvals"));
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut next = named_command(&listed);
    assert_eq!(next[..2], ["approvals", "accept"], "{listed}");
    next[1] = "reject".to_owned();
    assert!(typed(&vault, &next).status.success(), "{next:?}");
    // A configured vault does not hide the one that a server waits for.
    let mut second = json!({ "file": "a.md", "find": "three", "replace": "3" });
    second["dry_run"] = json!(false);
    let refused = server.call("str_replace", second).to_string();
    let other = vault.path().parent().unwrap().join("Other");
    std::fs::create_dir(&other).unwrap();
    let mut command = vault.command();
    command.args(named_command(&refused)).env("OBSIDIAN_VAULT_PATHS", &other);
    let shown = command.output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("+one two 3"), "{shown:?}");
    let mut command = vault.command();
    let listed = command.args(["approvals"]).env("OBSIDIAN_VAULT_PATHS", &other).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut next = named_command(&listed);
    assert!(next.contains(&vault.path().display().to_string()), "of two vaults, the right one is named: {listed}");
    next[1] = "show".to_owned();
    let shown = vault.command().args(next).env("OBSIDIAN_VAULT_PATHS", &other).output().unwrap();
    assert!(shown.status.success(), "{shown:?}");
}

#[test]
fn commands_find_the_vault_that_a_client_is_set_up_with() {
    let vault = vault();
    let entry = json!({ "command": env!("CARGO_BIN_EXE_lapidary"), "args": ["--vault", vault.path()] });
    let settings = vault.path().parent().unwrap().join(".cursor/mcp.json");
    std::fs::create_dir(settings.parent().unwrap()).unwrap();
    std::fs::write(settings, json!({ "mcpServers": { "obsidian": entry } }).to_string()).unwrap();
    let done = typed(&vault, &words("append a four"));
    let text = String::from_utf8(done.stdout.clone()).unwrap();
    assert!(done.status.success(), "{done:?}");
    let undo = named_command(&text);
    let undone = typed(&vault, &[undo, words("--yes")].concat());
    assert!(undone.status.success(), "{undone:?}");
    assert_eq!(vault.read("a.md"), b"one two three\n");
    for line in ["log", "checkpoints", "status", "read a", "vaults", "doctor", "read a --vault Notes"] {
        let output = typed(&vault, &words(line));
        assert!(output.status.success(), "{line}: {output:?}");
    }
    // What is served is chosen by a person.
    let served = vault.command().stdin(Stdio::null()).output().unwrap();
    assert_eq!(served.status.code(), Some(2), "{served:?}");
}

#[test]
fn a_command_of_a_server_with_its_own_configuration_is_read_with_it() {
    let vault = vault();
    let config = vault.path().parent().unwrap().join("own.toml");
    std::fs::write(&config, "profile = \"scribe\"\n[profiles.scribe]\nallow = [\"read\", \"edit\"]\n").unwrap();
    let mut server = vault.spawn_with(&["--config", "own.toml"], &[ASK]);
    let refused = server.call("str_replace", edit()).to_string();
    until_announced(&vault);
    let mut next = named_command(&refused);
    next[1] = "reject".to_owned();
    let rejected = typed(&vault, &next);
    assert!(rejected.status.success(), "{rejected:?}");
    let undo = typed(&vault, &words("append a four"));
    let undo = named_command(&String::from_utf8(undo.stdout).unwrap());
    assert!(undo.contains(&"--config".to_owned()), "{undo:?}");
}

#[test]
fn the_demo_vault_promises_nothing_that_a_later_command_cannot_do() {
    let vault = vault();
    let demo = |line: &str| typed(&vault, &words(line));
    let done = demo("append Inbox/x.md x --demo");
    let text = String::from_utf8(done.stdout.clone()).unwrap();
    assert!(done.status.success() && !text.contains("lapidary"), "{done:?}");
    for line in ["undo --yes --demo", "undo --id 4f2a --yes --demo"] {
        let refused = demo(line);
        let said = String::from_utf8(refused.stderr.clone()).unwrap();
        assert!(refused.status.code() == Some(1) && said.contains("new copy of the vault"), "{refused:?}");
    }
    let mut command = vault.command();
    command.arg("--demo").env(ASK.0, ASK.1);
    let mut server = Server::spawn(command);
    let change = json!({ "path": "New.md", "content": "x", "target": { "type": "path", "path": "New.md" } });
    let refused = server.call("obsidian_append_to_note", change).to_string();
    assert!(!refused.contains("lapidary approvals"), "{refused}");
}

/// Every text file below a folder of the project.
fn texts(folder: &Path, endings: &[&str], found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, endings, found);
        } else if path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted)) {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}

/// Whether what stands in a text is a command, with `{…}`, capitals and `…` for what is filled in.
fn is_command(line: &str) -> Result<(), clap::Error> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, ' ') => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    match lapidary_server::command_declaration().try_get_matches_from(&words) {
        Err(error) if error.use_stderr() => Err(error),
        _ => Ok(()),
    }
}

#[test]
fn every_command_that_a_text_names_is_one() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut found = Vec::new();
    for room in std::fs::read_dir(project.join("crates")).unwrap() {
        texts(&room.unwrap().path().join("src"), &["rs"], &mut found);
    }
    texts(&project.join("docs"), &["md"], &mut found);
    found.push((project.join("README.md"), std::fs::read_to_string(project.join("README.md")).unwrap()));
    let mut seen = 0;
    let mut wrong = Vec::new();
    for (path, text) in &found {
        for (at, _) in text.match_indices("`lapidary ") {
            let command = text[at + 1..].split(['`', '\n']).next().unwrap();
            let line = text[..at].lines().last().unwrap_or_default().trim_start();
            // A sentence about the syntax itself, or a comment.
            let is_syntax = command.contains(['[', '…', '|', '\\', '<', '>']) || command.contains("COMMAND");
            if is_syntax || command.ends_with(" JSON") || line.starts_with("//") {
                continue;
            }
            seen += 1;
            // The manual may call a command by its name; what the program says is to be typed.
            let may_be_short = path.extension().is_some_and(|ending| ending == "md");
            match is_command(command) {
                Err(error) if !(may_be_short && error.kind() == ErrorKind::MissingRequiredArgument) => {
                    wrong.push(format!("{}: {command}\n{error}", path.display()));
                }
                _ => {}
            }
        }
    }
    assert!(seen > 40, "{seen} commands");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_client_has_one_name_in_the_log_the_status_the_approvals_and_the_changes() {
    let vault = vault();
    let mut server = vault.serve().called_by("Claude Code");
    server.done("str_replace", edit());
    drop(server);
    let mut asked = vault.serve_with(&[], &[ASK]).called_by("Claude Code");
    asked.call("str_replace", json!({ "file": "a.md", "find": "three", "replace": "3" }));
    let json = |line: &str| -> Value {
        let output = vault.run(&line.split(' ').collect::<Vec<_>>());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{line}: {output:?}"))
    };
    let name = "stdio:~Claude Code";
    assert_eq!(vault.log()[0]["client_id"], name);
    assert_eq!(json("status --json")["vaults"][0]["lastCalls"][0]["client_id"], name);
    assert_eq!(json("approvals --json")["approvals"][0]["client"], name);
    assert_eq!(json("checkpoints --json")["checkpoints"][0]["client"], name);
    for line in ["log --client claude", "status", "approvals", "checkpoints"] {
        let output = vault.run(&line.split(' ').collect::<Vec<_>>());
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("  Claude Code  "), "{line}: {text}");
    }
}

#[test]
fn a_list_needs_no_word_to_be_json() {
    let vault = vault();
    vault.serve().done("str_replace", edit());
    let mut asked = vault.serve_with(&[], &[ASK]);
    asked.call("str_replace", json!({ "file": "a.md", "find": "three", "replace": "3" }));
    let json = |words: &[&str]| -> Value {
        let output = vault.run(words);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{words:?}: {output:?}"))
    };
    assert_eq!(json(&["checkpoints", "--json"]), json(&["checkpoints", "list", "--json"]));
    assert_eq!(json(&["checkpoints", "--limit", "1", "--json"])["checkpoints"].as_array().unwrap().len(), 1);
    let pending = json(&["approvals", "--json"]);
    assert_eq!(pending, json(&["approvals", "list", "--json"]));
    let id = pending["approvals"][0]["id"].as_str().unwrap();
    assert_eq!(json(&["approvals", "show", id, "--json"]), pending["approvals"][0]);
    let change = json(&["checkpoints", "--json"])["checkpoints"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(json(&["checkpoints", "--json", "diff", &change]), json(&["checkpoints", "diff", &change, "--json"]));
    let wrong = vault.run(&["approvals", "--json", "reject", id]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}

#[test]
fn every_command_has_examples() {
    let help = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_lapidary")).args(words).arg("--help").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for command in lapidary_server::command_declaration().get_subcommands() {
        let name = command.get_name();
        if matches!(name, "help" | "completions") {
            continue;
        }
        let text = help(&[name]);
        assert!(text.contains("Examples:\n  lapidary "), "{name}: {text}");
        let examples = command.get_after_long_help().unwrap().to_string();
        assert!(examples.lines().all(|line| line.chars().count() < 80), "a command to copy is on one line: {examples}");
        for line in text.lines().filter_map(|line| line.trim().strip_prefix("lapidary ")) {
            let line = line.split(" | ").next().unwrap().split(" > ").next().unwrap();
            is_command(&format!("lapidary {line}")).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
}

#[test]
fn all_settings_are_listed_also_beside_a_file_that_is_wrong() {
    let vault = vault();
    let folder = vault.path().parent().unwrap().join(".config/lapidary");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("lapidary.toml"), "zzzzzzzz = 1\n").unwrap();
    let wrong = typed(&vault, &words("vaults"));
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let listed = typed(&vault, &named_command(&String::from_utf8(wrong.stderr).unwrap()));
    let text = String::from_utf8(listed.stdout.clone()).unwrap();
    assert!(text.contains("access.read_only"), "{listed:?}");
    assert!(listed.status.code() == Some(2) && !listed.stderr.is_empty(), "{listed:?}");
}
