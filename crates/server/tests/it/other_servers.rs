//! Other MCP servers, with the real binary as the other one: what reaches a client, and what must not.

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault};

/// Values that no answer may have.
const SECRETS: [&str; 4] = ["sekret-env", "sekret-arg", "sekret-header", "LAPIDARY_NESTED"];

/// A vault whose owner has these servers.
fn with_servers(settings: &str) -> Vault {
    let vault = Vault::new(&[("Here.md", b"# Here\n\nOur own words.\n")]);
    let folder = vault.path().parent().unwrap().join(".config/lapidary");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("lapidary.toml"), settings).unwrap();
    vault
}

/// Another vault, served by our own program as a server of the first.
fn our_own(other: &Vault, more: &str) -> String {
    format!(
        "[mcp.servers.own]\nabout = \"another vault\"\ncommand = {:?}\nargs = [\"--vault\", {:?}]\nenv = {{ LAPIDARY_STATE_DIR = {:?} }}\n{more}",
        env!("CARGO_BIN_EXE_lapidary"),
        other.path(),
        other.path().parent().unwrap().join("state"),
    )
}

fn text(result: &Value) -> String {
    let content = result["content"].as_array().cloned().unwrap_or_default();
    content.iter().filter_map(|block| block["text"].as_str()).collect()
}

fn serve(vault: &Vault) -> Server {
    vault.serve_with(&[], &[("SECRET_OF_OURS", "sekret-env")]).open(Era::Modern)
}

#[test]
fn our_own_program_is_a_server_like_any_other() {
    let other = Vault::new(&[("There.md", b"# There\n\nWords of the other vault.\n")]);
    let vault = with_servers(&our_own(&other, "read_only = [\"file_read\", \"mcp_tools\"]\n"));
    let mut server = serve(&vault);
    let listed = server.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone();
    assert!(listed.iter().all(|tool| !tool["name"].as_str().unwrap().starts_with("mcp_")), "they are deferred");
    let found = server.done("find_tool", json!({ "query": "look into another vault" }));
    assert_eq!(found["elsewhere"], json!(["own: `another vault`"]), "nothing was started for that");
    let shown = server.call("mcp_tools", json!({ "server": "own", "query": "note", "limit": 5 }));
    assert!(text(&shown).contains("own/obsidian_get_note") && text(&shown).contains("Text of strangers"), "{shown}");
    let whole = server.done("mcp_tools", json!({ "server": "own", "tool": "obsidian_get_note" }));
    assert_eq!(whole["tool"]["needsApproval"], true, "what it says of itself does not count");
    // A deferred tool of the other server is not in its list, so it is none of ours either.
    assert_eq!(
        server
            .refused("mcp_call", json!({ "server": "own", "tool": "file_read", "arguments": { "file": "There.md" } })),
        "server_tool_unknown"
    );
    let get = json!({ "target": { "type": "path", "path": "There.md" } });
    let call = json!({ "server": "own", "tool": "obsidian_get_note", "arguments": get });
    assert_eq!(server.refused("mcp_call", call), "approval_pending");
    drop(server);
    let line = vault.log().pop().unwrap();
    assert_eq!((&line["mcp"], line.get("called")), (&json!(["own/obsidian_get_note"]), None));

    let trusting = our_own(&other, "read_only = [\"obsidian_get_note\", \"call_tool\"]\n");
    let vault = with_servers(&trusting);
    let mut server = vault.serve_with(&["--read-only"], &[]).open(Era::Modern);
    let call = |arguments: Value| json!({ "server": "own", "tool": "obsidian_get_note", "arguments": arguments });
    let read = server.call("mcp_call", call(get.clone()));
    assert!(text(&read).contains("Words of the other vault") && text(&read).contains("Text of strangers"), "{read}");
    assert_eq!(server.refused("mcp_call", call(json!({ "target": 7 }))), "invalid_arguments");
    // The other Lapidary reaches no further servers, not even as itself.
    let nested = json!({ "server": "own", "tool": "call_tool", "arguments": { "name": "mcp_tools", "arguments": {} } });
    let nested = server.done("mcp_call", nested);
    assert_eq!(nested["failed"], true);
    assert!(nested["text"].to_string().contains("`mcp_tools` is switched off"), "{nested}");
    drop(server);
    assert_eq!(vault.log().first().unwrap()["called"], true);
}

#[test]
fn a_read_only_server_without_trusted_tools_calls_nothing() {
    let vault = with_servers("[mcp.servers.a]\ncommand = \"/bin/false\"\n");
    let mut server = vault.serve_with(&["--read-only"], &[]).open(Era::Modern);
    assert_eq!(server.refused("mcp_call", json!({ "server": "a", "tool": "x" })), "tool_disabled");
    let empty = Vault::new(&[]);
    let mut unconfigured = empty.serve().open(Era::Modern);
    assert_eq!(unconfigured.refused("mcp_tools", json!({})), "tool_disabled");
}

#[test]
fn no_answer_has_anything_of_the_configuration() {
    let settings = "
        [mcp.servers.gone]
        command = \"/nowhere/sekret-arg\"
        args = [\"--token=sekret-arg\"]
        env = { KEY = \"sekret-env\" }
        [mcp.servers.shell]
        command = \"sh\"
        args = [\"-c\", \"echo sekret-arg $KEY >&2; env >&2; exit 1\"]
        env = { KEY = \"sekret-env\" }
        [mcp.servers.far]
        url = \"http://127.0.0.1:9/sekret-arg\"
        headers = { x-key = \"sekret-header\" }
    ";
    let vault = with_servers(settings);
    let mut server = vault.serve_with(&["--tools", "all"], &[("PATH", "/usr/bin:/bin")]).open(Era::Modern);
    let mut calls = vec![("mcp_tools", json!({})), ("mcp_tools", json!({ "query": "x" })), ("vault_info", json!({}))];
    calls.push(("find_tool", json!({ "query": "sekret" })));
    for name in ["gone", "shell", "far", "other"] {
        calls.push(("mcp_tools", json!({ "server": name })));
        calls.push(("mcp_call", json!({ "server": name, "tool": "x" })));
    }
    for (tool, arguments) in calls {
        let answer = server.call(tool, arguments.clone()).to_string();
        for secret in SECRETS.iter().chain(&["127.0.0.1", "/nowhere"]).filter(|_| tool != "find_tool") {
            assert!(!answer.contains(secret), "{tool} {arguments}: {answer}");
        }
    }
    drop(server);
    let log = json!(vault.log()).to_string();
    assert!(SECRETS.iter().all(|secret| !log.contains(secret)), "{log}");
    // The owner is told more.
    let doctor =
        vault.command().arg("--vault").arg(vault.path()).arg("doctor").env("PATH", "/usr/bin:/bin").output().unwrap();
    let said = String::from_utf8(doctor.stdout).unwrap();
    for part in
        ["server gone", "cannot be started", "server shell", "Its last words", "server far", "cannot be reached"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_vault_does_not_start_programs() {
    let vault = Vault::new(&[]);
    let started = vault.path().parent().unwrap().join("started");
    let inside = vault.path().join("lapidary.toml");
    // Whole, as programs start in the root folder.
    let server = format!(
        "[mcp.servers.evil]\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"touch {}\"]\n",
        started.display().to_string().replace('\\', "/")
    );
    std::fs::write(&inside, server).unwrap();
    let link = vault.path().parent().unwrap().join("linked.toml");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&inside, &link).unwrap();
    for file in [&inside, &link] {
        let output = vault.run(&["--config", file.to_str().unwrap(), "call", "mcp_tools", "{\"server\":\"evil\"}"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains("is in a vault"), "{said}");
        // Which looks at what is left of a configuration that is refused.
        let output = vault.run(&["--config", file.to_str().unwrap(), "doctor"]);
        assert!(String::from_utf8_lossy(&output.stdout).contains("is in a vault"), "{output:?}");
        assert!(!started.exists(), "{} has started a program", file.display());
    }
    // Nor if the vault cannot be told from the rest of the configuration.
    let output =
        vault.command().args(["--vault", "/nowhere/at/all", "--config"]).arg(&inside).arg("doctor").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("they were not asked"), "{output:?}");
    // Nor is it looked for where a client happens to start us.
    let output = vault
        .command()
        .current_dir(vault.path())
        .arg("--vault")
        .arg(vault.path())
        .args(["call", "mcp_tools", "{}"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("tool_disabled"), "{output:?}");
    let program = format!("[mcp.servers.evil]\ncommand = {:?}\n", vault.path().join("run.sh"));
    let vault = with_servers(&program);
    vault.write("run.sh", b"#!/bin/sh\n");
    let program = format!("[mcp.servers.evil]\ncommand = {:?}\n", vault.path().join("run.sh"));
    std::fs::write(vault.path().parent().unwrap().join(".config/lapidary/lapidary.toml"), program).unwrap();
    let output = vault.run(&["call", "mcp_tools", "{}"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("is in a vault"), "{output:?}");
    assert!(!started.exists());
}

#[test]
#[cfg(unix)]
fn a_program_ends_with_the_server() {
    let settings = "[mcp.servers.a]\ncommand = \"sh\"\nargs = [\"-c\", \"echo $$ > \\\"$PLACE\\\"; exec sleep 1000\"]\ntimeout_ms = 1000\n";
    let vault = with_servers(settings);
    let place = vault.path().parent().unwrap().join("pid");
    let settings = format!("{settings}env = {{ PLACE = {place:?} }}\n");
    std::fs::write(vault.path().parent().unwrap().join(".config/lapidary/lapidary.toml"), settings).unwrap();
    let output = vault
        .command()
        .env("PATH", "/usr/bin:/bin")
        .arg("--vault")
        .arg(vault.path())
        .args(["call", "mcp_tools", "{\"server\":\"a\"}"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("server_timeout"), "{output:?}");
    let number: i32 = std::fs::read_to_string(place).unwrap().trim().parse().unwrap();
    let process = rustix::process::Pid::from_raw(number).unwrap();
    assert!(rustix::process::test_kill_process(process).is_err(), "it has ended");
}
