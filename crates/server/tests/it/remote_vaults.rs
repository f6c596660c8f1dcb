//! A vault that is only reachable by URL and key: the same answers as on its folder, and what happens when the other side is
//! not there.

use std::{collections::BTreeMap, path::PathBuf, process::Command};

use lapidary_fake_plugin::{FakePlugin, FakeSetup, FakeVersion, FaultKind, PluginFault};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::{Era, Server, Vault, path, reason},
    rest::{RestProcess, SETTINGS},
};

const NOTES: [(&str, &[u8]); 5] = [
    (
        "Plan.md",
        b"---\ntags: [gem]\nstatus: open\n---\n# Plan\n\n## Tasks\n\n- [ ] Slates ^slates\n\nlantern [[Stone]]\n",
    ),
    ("Stone.md", b"# Stone\r\n\r\nlantern, and #gem\r\n"),
    ("Deep/er/Note.md", b"\xef\xbb\xbf# Note\n\n[[Plan]] and ![[picture.png]]\n"),
    ("Deep/board.canvas", b"{\"nodes\":[{\"id\":\"1\",\"type\":\"file\",\"file\":\"Plan.md\"}],\"edges\":[]}\n"),
    ("picture.png", b"\x89PNG\r\n"),
];

/// A computer that does not have the vault.
struct OtherComputer {
    around: TempDir,
}

impl OtherComputer {
    fn new() -> Self {
        Self { around: tempfile::tempdir().unwrap() }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lapidary"));
        command
            .env_clear()
            .env("HOME", self.around.path())
            .env("LAPIDARY_STATE_DIR", self.around.path().join("state"))
            .current_dir(self.around.path());
        command
    }

    /// With the vault in the configuration file, under the name that its folder has.
    fn configured(&self, url: &str, key: &str, more: &str) -> Command {
        let file: PathBuf = self.around.path().join("lapidary.toml");
        std::fs::write(&file, format!("[vaults.Notes]\nurl = \"{url}\"\nkey = \"{key}\"\n{more}")).unwrap();
        let mut command = self.command();
        command.arg("--config").arg(file);
        command
    }

    fn server(&self, plugin: &FakePlugin) -> Server {
        let pem = self.around.path().join("plugin.crt");
        let more = match plugin.certificate() {
            Some(certificate) => {
                std::fs::write(&pem, certificate).unwrap();
                format!("certificate = {:?}\n", pem.to_str().unwrap())
            }
            None => String::new(),
        };
        Server::start(&self.configured(&plugin.url(), &plugin.key(), &more)).open(Era::Modern)
    }
}

/// What is different from place to place: times, ids, and where deleted files are.
const OWN: [&str; 11] = [
    "id",
    "time",
    "stat",
    "checkpoint",
    "checkpointId",
    "modified",
    "created_at",
    "mtime",
    "ctime",
    "trashedTo",
    "movedTo",
];

fn scrubbed(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), scrubbed(value))).collect()
        }
        Value::Array(values) => values.iter().map(scrubbed).collect(),
        other => other.clone(),
    }
}

/// Reads, lists, searches, links, every writer, refusals, a move with links, and what takes it back.
fn script() -> Vec<(&'static str, Value)> {
    let section = |target: &str| json!({ "type": "heading", "target": target });
    vec![
        ("obsidian_get_note", json!({ "format": "full", "target": path("Plan.md") })),
        ("obsidian_get_note", json!({ "format": "content", "target": path("Deep/er/Note.md") })),
        ("obsidian_get_note", json!({ "format": "document-map", "target": path("Plan.md") })),
        ("obsidian_get_note", json!({ "format": "content", "target": path("Missing.md") })),
        ("obsidian_get_note", json!({ "format": "content", "target": path("Deep") })),
        ("obsidian_list_notes", json!({ "depth": 5 })),
        ("obsidian_list_tags", json!({})),
        ("obsidian_search_notes", json!({ "mode": "text", "query": "lantern" })),
        ("obsidian_search_notes", json!({ "mode": "jsonlogic", "logic": { "in": ["gem", { "var": "tags" }] } })),
        ("links_get", json!({ "file": "Plan.md" })),
        ("obsidian_write_note", json!({ "target": path("New/One.md"), "content": "# One\n\n[[Plan]]\n" })),
        ("obsidian_write_note", json!({ "target": path("Plan.md"), "content": "x" })),
        ("obsidian_append_to_note", json!({ "target": path("Stone.md"), "content": "more\n" })),
        (
            "obsidian_patch_note",
            json!({ "target": path("Plan.md"), "section": section("Tasks"), "operation": "append", "content": "- [ ] Lead\n" }),
        ),
        (
            "obsidian_replace_in_note",
            json!({ "target": path("Stone.md"), "replacements": [{ "search": "lantern", "replace": "lamp" }] }),
        ),
        (
            "obsidian_manage_frontmatter",
            json!({ "target": path("Plan.md"), "operation": "set", "key": "status", "value": "done" }),
        ),
        ("obsidian_manage_tags", json!({ "target": path("Deep/er/Note.md"), "operation": "add", "tags": ["new"] })),
        ("obsidian_manage_frontmatter", json!({ "target": path("Plan.md"), "operation": "get", "key": "status" })),
        ("obsidian_manage_frontmatter", json!({ "target": path("Plan.md"), "operation": "delete", "key": "status" })),
        ("obsidian_manage_tags", json!({ "target": path("Plan.md"), "operation": "list" })),
        ("obsidian_manage_tags", json!({ "target": path("Plan.md"), "operation": "remove", "tags": ["gem"] })),
        ("obsidian_get_note", json!({ "format": "section", "target": path("Plan.md"), "section": section("Tasks") })),
        ("obsidian_write_note", json!({ "target": path("Plan.md"), "section": section("None"), "content": "x" })),
        (
            "obsidian_write_note",
            json!({ "target": path("Plan.md"), "section": section("Tasks"), "content": "- [ ] Tin\n" }),
        ),
        (
            "obsidian_append_to_note",
            json!({ "target": path("Plan.md"), "section": { "type": "block", "target": "none" }, "content": "x" }),
        ),
        (
            "obsidian_replace_in_note",
            json!({ "target": path("Plan.md"), "replacements": [{ "search": "(", "replace": "x", "useRegex": true }] }),
        ),
        ("obsidian_delete_note", json!({ "target": path("None.md") })),
        ("obsidian_list_notes", json!({ "path": "Deep", "extension": "md", "nameRegex": "N" })),
        ("obsidian_get_note", json!({ "format": "content", "target": path("../out.md") })),
        ("obsidian_open_in_ui", json!({ "path": "None.md" })),
        ("obsidian_list_tags", json!({})),
        ("obsidian_search_notes", json!({ "mode": "text", "query": "lamp" })),
        ("file_move", json!({ "from": "Plan.md", "to": "Deep/Plan 2.md" })),
        ("obsidian_list_notes", json!({ "depth": 5 })),
        ("obsidian_get_note", json!({ "format": "content", "target": path("New/One.md") })),
        ("undo", json!({})),
        ("obsidian_delete_note", json!({ "target": path("Stone.md") })),
        ("obsidian_get_note", json!({ "format": "content", "target": path("Stone.md") })),
        ("undo", json!({})),
        ("obsidian_get_note", json!({ "format": "content", "target": path("Stone.md") })),
    ]
}

fn answers(server: &mut Server) -> Vec<Value> {
    let answer = |(tool, arguments): (&str, Value)| {
        let answer = server.call(tool, arguments);
        scrubbed(&answer["structuredContent"])
    };
    script().into_iter().map(answer).collect()
}

fn assert_same(place: &str, expected: &[Value], found: &[Value]) {
    for (number, ((tool, arguments), (expected, found))) in script().iter().zip(expected.iter().zip(found)).enumerate()
    {
        assert_eq!(expected, found, "{place}, call {number}: {tool} {arguments}");
    }
}

/// The notes that are left; what was deleted is in different places.
fn visible(files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    files.into_iter().filter(|(path, _)| !path.starts_with('.')).collect()
}

#[test]
fn the_note_tools_answer_as_on_the_folder() {
    let folder = Vault::new(&NOTES);
    let expected = answers(&mut folder.serve().open(Era::Modern));
    let kept = visible(folder.everything());
    for setup in [
        FakeSetup::new(FakeVersion::V4_1),
        FakeSetup::new(FakeVersion::V5_0).encrypted(),
        FakeSetup::new(FakeVersion::V5_1),
        FakeSetup::new(FakeVersion::V6).encrypted(),
    ] {
        let place = format!("{:?}", setup.version);
        let plugin = FakePlugin::start(setup.with_files(&NOTES));
        let computer = OtherComputer::new();
        let found = answers(&mut computer.server(&plugin));
        assert_same(&place, &expected, &found);
        let left = plugin.paths().into_iter().map(|path| (path.clone(), plugin.read(&path).unwrap())).collect();
        assert_eq!(visible(left), kept, "{place}");
    }
}

#[test]
fn the_note_tools_answer_the_same_through_our_own_rest_api() {
    let folder = Vault::new(&NOTES);
    let expected = answers(&mut folder.serve().open(Era::Modern));
    let served = Vault::new(&NOTES);
    served.write(SETTINGS.0, SETTINGS.1);
    let rest = RestProcess::of(&served, &["--rest", "0"]);
    let computer = OtherComputer::new();
    let command = computer.configured(&rest.addresses[0], "a-key-of-the-plugin-0123456789", "");
    let found = answers(&mut Server::start(&command).open(Era::Modern));
    assert_same("REST", &expected, &found);
    assert_eq!(visible(served.everything()), visible(folder.everything()));
}

#[test]
fn a_key_and_an_address_in_the_environment_are_enough() {
    let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&NOTES));
    let computer = OtherComputer::new();
    let mut command = computer.command();
    command.env("OBSIDIAN_API_KEY", plugin.key()).env("OBSIDIAN_BASE_URL", format!("{}/", plugin.url()));
    let mut server = Server::start(&command).open(Era::Modern);
    let found = server.done("obsidian_get_note", json!({ "format": "content", "target": path("Stone.md") }));
    assert_eq!(found["result"]["content"], json!("# Stone\n\nlantern, and #gem\n"));
}

#[test]
fn what_is_wrong_with_the_connection_is_said_without_the_other_sides_words() {
    let mut plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&NOTES));
    let computer = OtherComputer::new();
    let mut server = computer.server(&plugin);
    let read = || json!({ "format": "content", "target": path("Stone.md") });
    let mut said = Vec::new();
    let mut refused = |server: &mut Server, expected: &str| {
        let answer = server.call("obsidian_get_note", read());
        assert_eq!(reason(&answer), expected, "{answer}");
        said.push(answer.to_string());
    };
    let key = plugin.key();
    plugin.set_key("another");
    refused(&mut server, "api_key_rejected");
    plugin.set_key(&key);
    plugin.fail(PluginFault::status(500).times(usize::MAX));
    refused(&mut server, "obsidian_failed");
    plugin.forget_faults();
    plugin.stop();
    refused(&mut server, "obsidian_unreachable");
    plugin.resume();
    server.done("obsidian_get_note", read());
    let encrypted = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).encrypted().with_files(&NOTES));
    let elsewhere = OtherComputer::new();
    let mut server = elsewhere.server(&encrypted);
    encrypted.renew_certificate();
    refused(&mut server, "certificate_rejected");
    for answer in said {
        assert!(!answer.contains("Secret") && !answer.contains(&key), "{answer}");
    }
}

#[test]
fn a_note_that_changes_between_plan_and_commit_loses_nothing() {
    for version in FakeVersion::ALL {
        let plugin = FakePlugin::start(FakeSetup::new(version).with_files(&[("a.md", b"one\n")]));
        let computer = OtherComputer::new();
        let mut server = computer.server(&plugin);
        // Read for the plan; the commit finds what another program wrote, and plans again.
        let theirs = FaultKind::Written { path: "a.md".to_owned(), bytes: b"one\ntheirs\n".to_vec() };
        plugin.fail(PluginFault::new(theirs).of("GET", "/vault/a.md").after(2));
        server.done("obsidian_append_to_note", json!({ "target": path("a.md"), "content": "ours\n" }));
        assert_eq!(plugin.read("a.md").unwrap(), b"one\ntheirs\nours\n", "{version:?}");
    }
}

#[test]
fn rules_of_a_vault_behind_the_app_hold_here() {
    let hidden = ("Ignored/zqsecretx.md", b"# zqsecretx\n\nlantern [[Plan]] #zqtagx\n".as_slice());
    let rules = (".lapidaryignore", b"/Ignored/\n".as_slice());
    let denied = ("Denied/zqdeniedx.md", b"lantern zqdeniedx\n".as_slice());
    for version in FakeVersion::ALL {
        let twin = |files: &[(&str, &[u8])]| {
            let plugin = FakePlugin::start(FakeSetup::new(version).with_files(&NOTES).with_files(files));
            let computer = OtherComputer::new();
            let command = computer.configured(&plugin.url(), &plugin.key(), "deny = [\"Denied/**\"]\n");
            let mut server = Server::start(&command).open(Era::Modern);
            let mut said = answers(&mut server);
            for name in ["Ignored/zqsecretx.md", "Denied/zqdeniedx.md", "Ignored", "Denied"] {
                let read = server.call("obsidian_get_note", json!({ "format": "content", "target": path(name) }));
                said.push(scrubbed(&read["structuredContent"]));
                let listed = server.call("obsidian_list_notes", json!({ "path": name }));
                said.push(scrubbed(&listed["structuredContent"]));
            }
            said
        };
        let (with, without) = (twin(&[rules, hidden, denied]), twin(&[rules]));
        assert_eq!(with, without, "{version:?}");
    }
}

#[test]
fn the_key_is_in_no_log() {
    let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&NOTES));
    let computer = OtherComputer::new();
    let mut command = computer.configured(&plugin.url(), &plugin.key(), "");
    command.env("MCP_LOG_LEVEL", "debug");
    let mut server = Server::spawn(command).open(Era::Modern);
    server.done("obsidian_append_to_note", json!({ "target": path("Stone.md"), "content": "x\n" }));
    server.close_input();
    let (status, said) = server.end();
    assert!(status.success(), "{said}");
    assert!(!said.contains(&plugin.key()), "{said}");
    let mut shown = computer.configured(&plugin.url(), &plugin.key(), "");
    let shown = shown.args(["config", "show", "--all"]).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("(hidden)") && !shown.contains(&plugin.key()), "{shown}");
}

#[test]
fn the_script_has_every_note_tool() {
    let called: Vec<&str> = script().into_iter().map(|(tool, _)| tool).collect();
    // Commands are switched off by default, and their answers are those of the app.
    let elsewhere = ["obsidian_list_commands", "obsidian_execute_command"];
    for tool in lapidary_tools::TOOLS.iter().map(|tool| tool.spec().name()) {
        if tool.starts_with("obsidian_") && !elsewhere.contains(&tool) {
            assert!(called.contains(&tool), "{tool} is not called");
        }
    }
}

#[test]
fn of_several_vaults_the_address_is_for_the_one_that_has_the_key() {
    let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&[("Open.md", b"of the app\n")]));
    plugin.set_active(Some("Open.md"));
    let with_key = json!({ "apiKey": plugin.key(), "port": 1, "insecurePort": 1 }).to_string();
    let (one, other) = (Vault::new(&[("Open.md", b"one\n")]), Vault::new(&[("Open.md", b"other\n")]));
    one.write(SETTINGS.0, with_key.as_bytes());
    let mut command = one.command();
    let file = one.path().with_file_name("lapidary.toml");
    let remote = FakePlugin::start(FakeSetup::new(FakeVersion::V6).with_files(&[("Far.md", b"far\n")]));
    let text = format!(
        "[vaults.One]\npath = {:?}\n[vaults.Other]\npath = {:?}\n[vaults.Far]\nurl = {:?}\nkey = {:?}\n",
        one.path(),
        other.path(),
        remote.url(),
        remote.key()
    );
    std::fs::write(&file, text).unwrap();
    command.arg("--config").arg(file).env("OBSIDIAN_BASE_URL", plugin.url()).env("OBSIDIAN_API_KEY", plugin.key());
    let mut server = Server::start(&command).open(Era::Modern);
    let active = |vault: &str| json!({ "vault": vault, "format": "content", "target": { "type": "active" } });
    assert_eq!(server.done("obsidian_get_note", active("One"))["result"]["content"], "one\n");
    // The app at the address is not that of the others, and is not asked for them.
    plugin.take_requests();
    assert_eq!(server.refused("obsidian_get_note", active("Other")), "obsidian_unreachable");
    assert_eq!(server.refused("obsidian_get_note", active("Far")), "no_active_file");
    assert!(plugin.take_requests().is_empty());
    let read = |vault: &str, name: &str| json!({ "vault": vault, "format": "content", "target": path(name) });
    assert_eq!(server.done("obsidian_get_note", read("Other", "Open.md"))["result"]["content"], "other\n");
    assert_eq!(server.done("obsidian_get_note", read("Far", "Far.md"))["result"]["content"], "far\n");
    let status = server.request("resources/read", json!({ "uri": "obsidian://status" }));
    let status: Value = serde_json::from_str(status["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    let promises = |at: usize| status["vaults"][at]["capabilities"].clone();
    let far = status["vaults"].as_array().unwrap().iter().position(|vault| vault["name"] == "Far").unwrap();
    assert_eq!(
        promises(far),
        json!({ "compareAndSwap": true, "atomicMany": false, "durable": false, "checkpoints": true })
    );
    assert_eq!(promises((far + 1) % 3)["atomicMany"], true, "{status:#}");
}

#[test]
fn what_a_remote_vault_cannot_promise_is_said() {
    for (version, level) in [(FakeVersion::V5_1, "warning"), (FakeVersion::V6, "ok")] {
        let plugin = FakePlugin::start(FakeSetup::new(version).with_files(&NOTES));
        let computer = OtherComputer::new();
        let said = |words: &[&str]| {
            let output = computer.configured(&plugin.url(), &plugin.key(), "").args(words).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let is_named = version == FakeVersion::V6;
        let status: Value = serde_json::from_str(&said(&["status", "--json"])).unwrap();
        assert_eq!(
            status["vaults"][0]["capabilities"],
            json!({ "compareAndSwap": is_named, "atomicMany": false, "durable": false, "checkpoints": true })
        );
        let status = said(&["status"]);
        assert!(status.contains("Not promised here: "), "{status}");
        assert_eq!(status.contains("at the very moment"), !is_named, "{status}");
        let report = said(&["doctor", "--json"]);
        let report: Value = serde_json::from_str(&report).unwrap_or_else(|_| panic!("{report}"));
        let found = report.to_string();
        assert!(found.contains("not as in a folder: ") && found.contains("several files in one step"), "{found}");
        let is_level = format!("{{\"level\":\"{level}\",\"what\":\"promises\"");
        assert!(found.contains(&is_level), "{is_level} in {found}");
    }
    let folder = Vault::new(&NOTES);
    let status = String::from_utf8(folder.run(&["status"]).stdout).unwrap();
    assert!(!status.contains("Not promised"), "{status}");
}

#[test]
fn a_call_looks_at_the_rules_once_and_a_new_rule_holds_within_moments() {
    let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&NOTES));
    let computer = OtherComputer::new();
    let mut command = computer.configured(&plugin.url(), &plugin.key(), "");
    command.env("LAPIDARY_REPETITION", "off");
    let mut server = Server::start(&command).open(Era::Modern);
    let read = || json!({ "format": "content", "target": path("Stone.md") });
    let began = std::time::Instant::now();
    const CALLS: usize = 20;
    for _ in 0..CALLS {
        server.done("obsidian_get_note", read());
    }
    // A second counts from when a look began.
    let looks = 1 + began.elapsed().as_secs() as usize;
    let asked = plugin.take_requests().iter().filter(|request| request.path.starts_with("/vault/.")).count();
    assert!(asked <= 4 * looks.min(CALLS), "{asked} requests for rule files in {CALLS} calls and {looks} looks");
    plugin.write(".lapidaryignore", b"/Stone.md\n");
    let began = std::time::Instant::now();
    while server.call("obsidian_get_note", read())["isError"] != true {
        assert!(began.elapsed() < crate::harness::patience(), "the rule never holds");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    plugin.take_requests();
}

/// A vault on a server without the app, and a computer that has it through that.
struct HeadlessVault {
    served: Vault,
    rest: RestProcess,
    computer: OtherComputer,
}

impl HeadlessVault {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let served = Vault::new(&NOTES);
        served.write(SETTINGS.0, SETTINGS.1);
        for (path, bytes) in files {
            served.write(path, bytes);
        }
        let rest = RestProcess::of(&served, &["--rest", "0"]);
        Self { served, rest, computer: OtherComputer::new() }
    }

    fn server(&self, environment: &[(&str, &str)]) -> Server {
        let mut command = self.computer.configured(&self.rest.addresses[0], "a-key-of-the-plugin-0123456789", "");
        command.env("LAPIDARY_REPETITION", "off").envs(environment.iter().copied());
        Server::start(&command).open(Era::Modern)
    }
}

#[test]
fn a_server_without_the_app_opens_nothing_and_has_no_commands() {
    let vault = HeadlessVault::new(&[]);
    let mut server = vault.server(&[("OBSIDIAN_ENABLE_COMMANDS", "true")]);
    let opened = server.done("obsidian_open_in_ui", json!({ "path": "Plan.md" }));
    assert_eq!((&opened["opened"], opened["uri"].is_string()), (&json!(false), true), "{opened:#}");
    assert!(opened["notice"].as_str().unwrap().contains("runs without Obsidian"), "{opened:#}");
    for (tool, arguments) in
        [("obsidian_list_commands", json!({})), ("obsidian_execute_command", json!({ "commandId": "a:b" }))]
    {
        let refused = server.call(tool, arguments);
        assert_eq!(reason(&refused), "obsidian_failed", "{refused}");
        let error = &refused["structuredContent"]["error"];
        assert!(error["message"].as_str().unwrap().contains("keeps them off"), "{error:#}");
        let hint = error["data"]["recovery"]["hint"].as_str().unwrap();
        assert!(hint.contains("OBSIDIAN_ENABLE_COMMANDS=true there"), "{error:#}");
    }
    let mut serving = vault.served.command();
    serving.env("OBSIDIAN_ENABLE_COMMANDS", "true");
    let open = RestProcess::start_with(serving, &vault.served, &["--rest", "0"]);
    let command = vault.computer.configured(&open.addresses[0], "a-key-of-the-plugin-0123456789", "");
    let mut command = command;
    command.env("OBSIDIAN_ENABLE_COMMANDS", "true");
    let mut server = Server::start(&command).open(Era::Modern);
    let refused = server.call("obsidian_list_commands", json!({}));
    assert_eq!(reason(&refused), "obsidian_unreachable", "{refused}");
    let error = &refused["structuredContent"]["error"];
    assert!(error["message"].as_str().unwrap().contains("runs without it"), "{error:#}");
}

#[test]
fn periodic_notes_are_made_from_the_template_through_our_own_rest_api() {
    let settings: [(&str, &[u8]); 4] = [
        (".obsidian/daily-notes.json", br#"{"folder": "Days", "format": "YYYY/MM-DD", "template": "Templates/Day"}"#),
        (".obsidian/community-plugins.json", br#"["periodic-notes", "obsidian-tasks-plugin"]"#),
        (
            ".obsidian/plugins/periodic-notes/data.json",
            br#"{"weekly": {"enabled": true, "folder": "Weeks"}, "secret": "zqsecretx"}"#,
        ),
        ("Templates/Day.md", b"# {{title}}\n\n## Log\n"),
    ];
    let folder = Vault::new(&settings);
    let vault = HeadlessVault::new(&settings);
    let calls = || {
        vec![
            ("daily_note", json!({ "date": "2026-04-15" })),
            ("daily_note", json!({ "date": "2026-04-15", "content": "- rain\n" })),
            (
                "daily_note",
                json!({ "date": "2026-04-16", "content": "- sun\n", "section": { "type": "heading", "target": "Log" } }),
            ),
            (
                "obsidian_append_to_note",
                json!({ "target": { "type": "periodic", "period": "weekly", "date": "2026-04-15" }, "content": "week\n" }),
            ),
            ("daily_note", json!({ "date": "2026-04-15" })),
            ("daily_note", json!({ "period": "monthly", "date": "2026-04-15", "create": true })),
        ]
    };
    let said = |server: &mut Server| -> Vec<Value> {
        calls().into_iter().map(|(tool, with)| scrubbed(&server.call(tool, with)["structuredContent"])).collect()
    };
    let expected = said(&mut folder.serve().open(Era::Modern));
    assert_eq!(expected[1]["created"], json!(true), "{:#}", expected[1]);
    let found = said(&mut vault.server(&[]));
    for ((call, expected), found) in calls().iter().zip(&expected).zip(&found) {
        assert_eq!(expected, found, "{call:?}");
    }
    for path in ["Days/2026/04-15.md", "Days/2026/04-16.md", "Weeks/2026-W16.md"] {
        assert_eq!(vault.served.read(path), folder.read(path), "{path}");
    }
    assert_eq!(vault.served.read("Days/2026/04-16.md"), b"# 04-16\n\n## Log\n- sun\n");
    assert!(!format!("{found:?}").contains("zqsecretx"));
}

#[test]
fn a_remote_vault_that_does_not_answer_is_a_failure() {
    let mut plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&NOTES));
    let computer = OtherComputer::new();
    let (url, key) = (plugin.url(), plugin.key());
    plugin.stop();
    let output = computer.configured(&url, &key, "").arg("doctor").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("nothing is wrong") && said.contains("every call is refused"), "{said}");
}
