//! The Obsidian app, through a plugin that behaves as the real one does: found by itself, used for what only it can do, and
//! missed by nothing else.

use std::time::{Duration, Instant};

use lapidary_fake_plugin::{FakePlugin, FakeSetup, FakeVersion, FaultKind, PluginFault, RecordedRequest};
use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, patience, reason};

const SETTINGS: &str = ".obsidian/plugins/obsidian-local-rest-api/data.json";
/// Words of the fake plugin's errors.
const UPSTREAM: &str = "Upstream words";
const NOTES: &[(&str, &[u8])] =
    &[("Plan.md", b"of the disk\n"), ("Work/Roof.md", b"slates\n"), ("Private/Diary.md", b"slates of mine\n")];

/// A vault whose app runs, with the note `Plan.md` open.
struct OpenVault {
    vault: Vault,
    plugin: FakePlugin,
}

impl OpenVault {
    fn new(version: FakeVersion) -> Self {
        let files: Vec<(&str, &[u8])> =
            NOTES.iter().map(|(path, _)| (*path, b"slates of the app\n".as_slice())).collect();
        let plugin = FakePlugin::start(FakeSetup::new(version).encrypted().with_files(&files));
        plugin.set_active(Some("Plan.md"));
        plugin.set_commands(&[("workspace:close", "Close current tab"), ("editor:toggle-bold", "Toggle bold")]);
        let open = Self { vault: Vault::new(NOTES), plugin };
        open.save_settings();
        open
    }

    /// As the plugin keeps them.
    fn save_settings(&self) {
        let port: u16 = self.plugin.url().rsplit(':').next().unwrap().parse().unwrap();
        let crypto = json!({ "cert": self.plugin.certificate(), "privateKey": "secret", "publicKey": "x" });
        let settings = json!({ "apiKey": self.plugin.key(), "port": port, "insecurePort": 1, "crypto": crypto });
        self.vault.write(SETTINGS, settings.to_string().as_bytes());
    }

    fn serve(&self, environment: &[(&str, &str)]) -> Server {
        let quiet = [("LAPIDARY_REPETITION", "off"), ("LAPIDARY_APPROVAL", "write=allow,destroy=allow")];
        self.vault.serve_with(&[], &[&quiet, environment].concat()).open(Era::Modern)
    }

    fn requests(&self) -> Vec<String> {
        let line = |request: RecordedRequest| format!("{} {}", request.method, request.path);
        self.plugin.take_requests().into_iter().map(line).collect()
    }
}

fn read_active() -> Value {
    json!({ "format": "content", "target": { "type": "active" } })
}

fn content(server: &mut Server) -> Value {
    server.call("obsidian_get_note", read_active())["structuredContent"]["result"]["content"].clone()
}

/// A call until it has this outcome: what failed is remembered for a few seconds.
fn until(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < patience(), "it never happened");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn every_version_of_the_plugin_is_found_by_itself_and_used() {
    for version in FakeVersion::ALL {
        let open = OpenVault::new(version);
        let mut server = open.serve(&[("OBSIDIAN_ENABLE_COMMANDS", "true")]);
        assert!(open.requests().is_empty(), "nothing is asked before it is needed");
        // The text is that of the disk, not of the app.
        assert_eq!(content(&mut server), "of the disk\n", "{version:?}");
        server.done("obsidian_append_to_note", json!({ "target": { "type": "active" }, "content": "more\n" }));
        assert_eq!(open.vault.read("Plan.md"), b"of the disk\nmore\n");
        let opened = server.done("obsidian_open_in_ui", json!({ "path": "Work/roof.md", "newLeaf": true }));
        assert_eq!((&opened["opened"], open.plugin.active().as_deref()), (&json!(true), Some("Work/Roof.md")));
        let listed = server.done("obsidian_list_commands", json!({ "nameRegex": "tab" }));
        assert_eq!(listed["commands"], json!([{ "id": "workspace:close", "name": "Close current tab" }]));
        let run = server.done("obsidian_execute_command", json!({ "commandId": "editor:toggle-bold" }));
        assert_eq!(run, json!({ "commandId": "editor:toggle-bold", "executed": true }));
        let unknown = server.call("obsidian_execute_command", json!({ "commandId": "editor:togle-bold" }));
        assert_eq!(unknown["structuredContent"]["error"]["data"]["nearest"], json!(["editor:toggle-bold"]));
        let requests = open.requests();
        for expected in
            ["GET /active/", "POST /open/Work/Roof.md", "GET /commands/", "POST /commands/editor:toggle-bold/"]
        {
            assert!(requests.iter().any(|request| request == expected), "{version:?} {expected}: {requests:?}");
        }
        let status = server.request("resources/read", json!({ "uri": "obsidian://status" }));
        let status: Value = serde_json::from_str(status["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(status["manifest"]["version"], version.number());
        assert_eq!(status["vaults"][0]["app"]["versions"]["self"], version.number(), "{status:#}");
        assert_eq!((&status["versions"]["obsidian"], &status["authenticated"]), (&json!("1.12.7"), &json!(true)));
    }
}

#[test]
fn a_server_that_does_not_need_the_app_makes_no_request() {
    let open = OpenVault::new(FakeVersion::V5_1);
    let mut server = open.serve(&[("OBSIDIAN_ENABLE_COMMANDS", "true")]);
    server.request("tools/list", json!({}));
    server.request("resources/list", json!({}));
    server.done("obsidian_get_note", json!({ "format": "full", "target": "Plan.md" }));
    server.done("obsidian_append_to_note", json!({ "target": "Plan.md", "content": "x\n" }));
    server.done("obsidian_search_notes", json!({ "query": "slates" }));
    server.done("obsidian_append_to_note", json!({ "target": { "period": "daily" }, "content": "x\n" }));
    server.done("find_tool", json!({ "query": "run a command of Obsidian" }));
    server.refused("obsidian_open_in_ui", json!({ "path": "none.md" }));
    assert!(open.requests().is_empty());
}

#[test]
fn without_the_app_each_says_so_in_one_sentence_with_the_next_step() {
    let vault = Vault::new(NOTES);
    let mut server = vault.serve_with(&[], &[("OBSIDIAN_ENABLE_COMMANDS", "true")]).open(Era::Modern);
    for (tool, arguments, expected) in [
        ("obsidian_get_note", read_active(), "obsidian_unreachable"),
        ("obsidian_list_commands", json!({}), "obsidian_unreachable"),
        ("obsidian_execute_command", json!({ "commandId": "a:b" }), "obsidian_unreachable"),
    ] {
        let result = server.call(tool, arguments);
        assert_eq!(reason(&result), expected, "{tool}");
        let error = &result["structuredContent"]["error"];
        assert!(error["message"].as_str().unwrap().contains("no plugin Local REST API"), "{error:#}");
        assert!(error["data"]["recovery"]["hint"].as_str().unwrap().contains("install and enable"), "{error:#}");
    }
    let open = server.done("obsidian_open_in_ui", json!({ "path": "Plan.md" }));
    assert_eq!((&open["opened"], &open["uri"]), (&json!(false), &json!("obsidian://open?vault=Notes&file=Plan.md")));
    let found = server.call("find_tool", json!({ "query": "open a note in the obsidian app" }));
    let found = found["content"][0]["text"].as_str().unwrap();
    assert!(found.contains("obsidian_open_in_ui") && found.contains("app does not answer"), "{found}");
}

#[test]
fn the_reason_names_the_state_of_the_plugin() {
    let vault = Vault::new(NOTES);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern);
    let mut said = |expected: &str, remedy: &str| {
        let result = server.call("obsidian_get_note", read_active());
        let error = &result["structuredContent"]["error"];
        assert_eq!(reason(&result), "obsidian_unreachable", "{error:#}");
        assert!(error["message"].as_str().unwrap().contains(expected), "{expected}: {error:#}");
        assert!(error["data"]["recovery"]["hint"].as_str().unwrap().contains(remedy), "{remedy}: {error:#}");
    };
    let plugins = ".obsidian/community-plugins.json";
    said("no plugin Local REST API", "install and enable");
    // Installed and never switched on: it has no settings yet.
    vault.write(".obsidian/plugins/obsidian-local-rest-api/manifest.json", b"{}");
    said("switched off in this vault", "Community plugins");
    vault.write(plugins, br#"["obsidian-local-rest-api"]"#);
    said("no key or certificate", "start Obsidian once");
    vault.write(SETTINGS, br#"{"port": 1}"#);
    said("no key or certificate", "start Obsidian once");
    let plain = br#"{"apiKey": "a-key-of-the-plugin-0123", "enableInsecureServer": true, "insecurePort": 1}"#;
    vault.write(SETTINGS, plain);
    said("not running, or not with this vault", "start Obsidian with this vault");
    vault.write(plugins, b"[]");
    said("switched off in this vault", "Community plugins");
    let status = String::from_utf8(vault.run(&["status"]).stdout).unwrap();
    assert!(status.contains("switched off in Obsidian"), "{status}");
    let address = [("OBSIDIAN_BASE_URL", "http://192.0.2.1:1"), ("LAPIDARY_REPETITION", "off")];
    let mut server = vault.serve_with(&[], &address).open(Era::Modern);
    let result = server.call("obsidian_get_note", read_active());
    assert!(result.to_string().contains("without OBSIDIAN_API_KEY"), "{result:#}");
}

#[test]
fn the_app_may_come_and_go() {
    let mut open = OpenVault::new(FakeVersion::V5_1);
    let mut server = open.serve(&[]);
    assert_eq!(content(&mut server), "of the disk\n");
    open.plugin.stop();
    assert_eq!(server.refused("obsidian_get_note", read_active()), "obsidian_unreachable");
    server.done("obsidian_get_note", json!({ "format": "content", "target": "Plan.md" }));
    let open_note = server.done("obsidian_open_in_ui", json!({ "path": "Plan.md" }));
    assert_eq!(open_note["opened"], false);
    open.plugin.resume();
    until(|| content(&mut server) == "of the disk\n");
}

#[test]
fn a_new_key_and_a_new_certificate_are_read_from_the_vault() {
    let open = OpenVault::new(FakeVersion::V5_1);
    let mut server = open.serve(&[]);
    assert_eq!(content(&mut server), "of the disk\n");
    open.plugin.set_key("another-key-of-the-plugin");
    assert_eq!(server.refused("obsidian_get_note", read_active()), "api_key_rejected");
    // The plugin saves its settings, and nothing has to be waited for.
    open.save_settings();
    assert_eq!(content(&mut server), "of the disk\n");
    open.plugin.take_requests();
    let mut open = open;
    open.plugin.stop();
    open.plugin.renew_certificate();
    open.plugin.resume();
    until(|| server.refused("obsidian_get_note", read_active()) == "certificate_rejected");
    assert!(open.requests().is_empty(), "the key is not sent to a stranger");
    open.save_settings();
    assert_eq!(content(&mut server), "of the disk\n");
}

#[test]
fn faults_are_named_and_nothing_of_what_upstream_says_gets_through() {
    let open = OpenVault::new(FakeVersion::V5_1);
    let commands = ("OBSIDIAN_ENABLE_COMMANDS", "true");
    let mut server = open.serve(&[("OBSIDIAN_REQUEST_TIMEOUT_MS", "60000"), commands]);
    for (kind, times, expected) in [
        // A reading request is repeated.
        (FaultKind::Status { status: 503, retry_after: None }, 1, None),
        (FaultKind::Reset, 1, None),
        (FaultKind::Status { status: 404, retry_after: None }, 1, Some("no_active_file")),
        (FaultKind::Status { status: 405, retry_after: None }, 1, Some("obsidian_failed")),
        (FaultKind::Status { status: 403, retry_after: None }, 1, Some("obsidian_failed")),
        (FaultKind::Status { status: 500, retry_after: None }, 9, Some("obsidian_failed")),
    ] {
        open.plugin.fail(PluginFault::new(kind.clone()).of("GET", "/active/").times(times));
        let result = server.call("obsidian_get_note", read_active());
        assert_eq!(result["isError"] == true, expected.is_some(), "{kind:?}: {result}");
        if let Some(expected) = expected {
            assert_eq!(reason(&result), expected, "{kind:?}");
        }
        assert!(!result.to_string().contains(UPSTREAM), "{kind:?}");
        // What is left of it.
        while !open.requests().is_empty() {}
        until(|| server.call("obsidian_get_note", read_active())["isError"] != true);
    }
    // Only here: on a busy machine, any answer may take longer than that.
    let mut hurried = open.serve(&[("OBSIDIAN_REQUEST_TIMEOUT_MS", "1500")]);
    // Longer than any pause of the machine: nothing waits for it.
    open.plugin.fail(PluginFault::new(FaultKind::Slow(Duration::from_secs(3600))).of("GET", "/active/").times(9));
    assert_eq!(hurried.refused("obsidian_get_note", read_active()), "obsidian_timeout");
    drop(hurried);
    open.plugin.forget_faults();
    until(|| server.call("obsidian_get_note", read_active())["isError"] != true);
    // A command that may have run is not repeated.
    open.plugin.take_requests();
    open.plugin.fail(PluginFault::new(FaultKind::Unanswered).of("POST", "/commands/"));
    let run = server.call("obsidian_execute_command", json!({ "commandId": "workspace:close" }));
    assert_eq!(run["isError"], true, "{run}");
    assert_eq!(open.requests().iter().filter(|request| request.starts_with("POST")).count(), 1);
    drop(server);
    let log = open.vault.log().iter().map(Value::to_string).collect::<String>();
    assert!(!log.contains(UPSTREAM) && !log.contains("a-key-of-the-plugin"), "{log}");
}

#[test]
fn the_key_goes_nowhere_but_to_the_plugin() {
    // The owner names another address, without a certificate that is known there.
    let stranger = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).encrypted());
    let open = OpenVault::new(FakeVersion::V5_1);
    let mut server = open.serve(&[("OBSIDIAN_BASE_URL", &stranger.url())]);
    assert_eq!(server.refused("obsidian_get_note", read_active()), "certificate_rejected");
    assert!(stranger.take_requests().is_empty());
    // Omnisearch is another program, and has no key.
    let search = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&[("Plan.md", b"slates\n")]));
    let mut server = open.serve(&[("OBSIDIAN_OMNISEARCH_URL", &search.url())]);
    server.done("obsidian_search_notes", json!({ "query": "slates", "engine": "plugin" }));
    let requests = search.take_requests();
    assert_eq!(requests.len(), 1);
    assert!(requests.iter().all(|request| request.header("authorization").is_none()), "{requests:?}");
}

#[test]
fn variables_name_a_plugin_that_the_vault_does_not_have() {
    let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&[("Plan.md", b"x")]));
    plugin.set_active(Some("Plan.md"));
    let vault = Vault::new(NOTES);
    let key = plugin.key();
    let url = format!("{}/", plugin.url());
    let mut server =
        vault.serve_with(&[], &[("OBSIDIAN_API_KEY", &key), ("OBSIDIAN_BASE_URL", &url)]).open(Era::Modern);
    assert_eq!(content(&mut server), "of the disk\n");
    let port = plugin.url().rsplit(':').next().unwrap().to_owned();
    let old = [("OBSIDIAN_API_KEY", key.as_str()), ("OBSIDIAN_PROTOCOL", "http"), ("OBSIDIAN_PORT", &port)];
    let mut server = vault.serve_with(&[], &old).open(Era::Modern);
    assert_eq!(content(&mut server), "of the disk\n");
    let wrong = [("OBSIDIAN_API_KEY", "wrong"), ("OBSIDIAN_BASE_URL", url.as_str())];
    let mut server = vault.serve_with(&[], &wrong).open(Era::Modern);
    assert_eq!(server.refused("obsidian_get_note", read_active()), "api_key_rejected");
    let off = [("OBSIDIAN_API_KEY", key.as_str()), ("OBSIDIAN_BASE_URL", &url), ("LAPIDARY_APP", "off")];
    plugin.take_requests();
    let mut server = vault.serve_with(&[], &off).open(Era::Modern);
    assert_eq!(server.refused("obsidian_get_note", read_active()), "obsidian_unreachable");
    assert!(plugin.take_requests().is_empty());
}

#[test]
fn an_encrypted_plugin_without_a_known_certificate_is_believed_only_if_the_owner_says_so() {
    let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).encrypted().with_files(&[("Plan.md", b"x")]));
    plugin.set_active(Some("Plan.md"));
    let vault = Vault::new(NOTES);
    let (key, url) = (plugin.key(), plugin.url());
    let given = [("OBSIDIAN_API_KEY", key.as_str()), ("OBSIDIAN_BASE_URL", &url)];
    for (verify, expected) in
        [(None, "certificate_rejected"), (Some("true"), "certificate_rejected"), (Some("false"), "")]
    {
        let verify = verify.map(|value| ("OBSIDIAN_VERIFY_SSL", value));
        let environment: Vec<(&str, &str)> = given.into_iter().chain(verify).collect();
        let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
        let result = server.call("obsidian_get_note", read_active());
        match expected {
            "" => assert_ne!(result["isError"], true, "{result}"),
            expected => assert_eq!(reason(&result), expected),
        }
    }
}

#[test]
fn hidden_notes_do_not_show_through_the_app() {
    // The same app beside a vault that has the hidden note and one that does not.
    let replies = |has_hidden: bool| -> Vec<String> {
        let open = OpenVault::new(FakeVersion::V5_0);
        let search = FakePlugin::start(
            FakeSetup::new(FakeVersion::V5_0)
                .with_files(&[("Private/Diary.md", b"slates\n"), ("Work/Roof.md", b"slates\n")]),
        );
        if !has_hidden {
            std::fs::remove_dir_all(open.vault.path().join("Private")).unwrap();
            open.plugin.remove("Private/Diary.md");
            search.remove("Private/Diary.md");
        }
        let active = if has_hidden { Some("Private/Diary.md") } else { None };
        open.plugin.set_active(active);
        open.plugin.set_periodic("weekly", "2026-11-16", "Private/Diary.md");
        let url = search.url();
        let mut server = open.serve(&[("OBSIDIAN_DENY_PATHS", "Private"), ("OBSIDIAN_OMNISEARCH_URL", &url)]);
        let weekly = json!({ "period": "weekly", "date": "2026-11-16" });
        [
            ("obsidian_get_note", read_active()),
            ("obsidian_write_note", json!({ "target": { "type": "active" }, "content": "x", "overwrite": true })),
            ("obsidian_delete_note", json!({ "target": { "type": "active" } })),
            ("obsidian_get_note", json!({ "format": "content", "target": weekly })),
            ("obsidian_append_to_note", json!({ "target": weekly, "content": "x" })),
            ("obsidian_search_notes", json!({ "query": "slates", "engine": "plugin" })),
        ]
        .into_iter()
        .map(|(tool, arguments)| server.call(tool, arguments)["structuredContent"].to_string())
        .collect()
    };
    let (with, without) = (replies(true), replies(false));
    for (with, without) in with.iter().zip(&without) {
        assert_eq!(with, without);
        assert!(!with.contains("Diary"), "{with}");
    }
    assert!(with[0].contains("no_active_file") && with[3].contains("periodic_not_found"), "{with:#?}");
    assert!(with[5].contains("Work/Roof.md"), "{}", with[5]);
}

#[test]
fn commands_are_there_only_if_the_owner_opens_them_and_are_asked_about() {
    let open = OpenVault::new(FakeVersion::V5_1);
    let names = |server: &mut Server| -> Vec<String> {
        let listed = server.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone();
        listed.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let pair = ["obsidian_list_commands", "obsidian_execute_command"];
    for (environment, is_there) in [
        (vec![], false),
        (vec![("OBSIDIAN_ENABLE_COMMANDS", "true")], true),
        (vec![("OBSIDIAN_ENABLE_COMMANDS", "true"), ("OBSIDIAN_READ_ONLY", "true")], false),
        (vec![("OBSIDIAN_ENABLE_COMMANDS", "true"), ("LAPIDARY_APP", "off")], false),
    ] {
        let mut server = open.vault.serve_with(&[], &environment).open(Era::Modern);
        let names = names(&mut server);
        assert_eq!(pair.iter().all(|tool| names.iter().any(|name| name == tool)), is_there, "{environment:?}");
        if !is_there {
            let run = json!({ "commandId": "workspace:close" });
            assert_eq!(server.refused("obsidian_execute_command", run), "tool_disabled");
        }
    }
    assert!(open.requests().is_empty());
    // No user can be asked here, so it waits for the owner.
    let mut server = open.vault.serve_with(&[], &[("OBSIDIAN_ENABLE_COMMANDS", "true")]).open(Era::Modern);
    let run = || json!({ "commandId": "workspace:close" });
    assert_eq!(server.refused("obsidian_execute_command", run()), "approval_pending");
    assert!(!open.requests().iter().any(|request| request.starts_with("POST")));
    drop(server);
    let mut command = open.vault.command();
    command.arg("--vault").arg(open.vault.path()).arg("approvals").env("OBSIDIAN_ENABLE_COMMANDS", "true");
    let listed = command.output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("obsidian_execute_command"), "{listed}");
}

#[test]
fn the_annotations_are_those_of_the_original() {
    let vault = Vault::new(&[]);
    let mut server =
        vault.serve_with(&["--tools", "obsidian"], &[("OBSIDIAN_ENABLE_COMMANDS", "true")]).open(Era::Modern);
    let listed = server.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone();
    let hint = |tool: &str, hint: &str| {
        let tool = listed.iter().find(|listed| listed["name"] == tool).unwrap_or_else(|| panic!("{tool}"));
        tool["annotations"][hint].clone()
    };
    for (tool, hints) in [
        ("obsidian_open_in_ui", [("openWorldHint", true), ("destructiveHint", false), ("idempotentHint", true)]),
        ("obsidian_list_commands", [("readOnlyHint", true), ("idempotentHint", true), ("destructiveHint", false)]),
        ("obsidian_execute_command", [("openWorldHint", true), ("destructiveHint", true), ("readOnlyHint", false)]),
    ] {
        for (name, expected) in hints {
            assert_eq!(hint(tool, name), expected, "{tool} {name}");
        }
    }
}

#[test]
fn doctor_and_status_know_the_app() {
    let mut open = OpenVault::new(FakeVersion::V5_1);
    open.vault.write(".obsidian/community-plugins.json", br#"["obsidian-local-rest-api"]"#);
    let doctor = |open: &OpenVault| {
        let said =
            open.vault.command().arg("--vault").arg(open.vault.path()).args(["doctor", "--json"]).output().unwrap();
        String::from_utf8(said.stdout).unwrap()
    };
    let status = |open: &OpenVault| {
        let said =
            open.vault.command().arg("--vault").arg(open.vault.path()).args(["status", "--json"]).output().unwrap();
        let said: Value = serde_json::from_slice(&said.stdout).unwrap();
        said["vaults"][0]["app"].clone()
    };
    let said = doctor(&open);
    assert!(said.contains("answers: Obsidian 1.12.7, plugin 5.1.0"), "{said}");
    assert!(!said.contains(&open.plugin.key()));
    assert_eq!(status(&open), json!({ "status": "OK", "obsidian": "1.12.7", "plugin": "5.1.0" }));
    let key = open.plugin.key();
    open.plugin.set_key("another");
    assert!(doctor(&open).contains("the key does not fit"));
    open.plugin.set_key(&key);
    open.plugin.renew_certificate();
    let said = doctor(&open);
    assert!(said.contains("another certificate") && said.contains("give each its own"), "{said}");
    open.plugin.stop();
    assert!(doctor(&open).contains("does not answer at https://127.0.0.1"));
    assert_eq!(status(&open)["status"], "obsidian_unreachable");
}
