//! The edit of clients' files: files as people have them, and files that chance makes.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use lapidary_clients::{
    CLIENTS, ClientFileError, ClientFolders, ClientSpec, EntryOwner, HostPlatform, ServerLaunch, find_client,
    install_link,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn client(name: &str) -> &'static ClientSpec {
    find_client(name).unwrap()
}

fn program() -> ServerLaunch {
    let arguments = ["--vault", "/home/ana/My notes"].map(str::to_owned).to_vec();
    ServerLaunch::Program { command: "/usr/local/bin/lapidary".to_owned(), arguments }
}

fn address() -> ServerLaunch {
    ServerLaunch::Address { url: "http://127.0.0.1:3010/mcp".to_owned() }
}

/// Real-looking files, with the oddities that people and programs leave in them.
const FILES: &[(&str, &str)] = &[
    (
        "claude-desktop",
        "{\n  \"mcpServers\": {\n    \"filesystem\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"server\", \"/tmp\"]\n    }\n  },\n  \"globalShortcut\": \"\"\n}",
    ),
    (
        "claude-desktop",
        "{\r\n\t\"scale\": 0,\r\n\t\"mcpServers\": {\r\n\t\t\"time\": { \"command\": \"uvx\" }\r\n\t}\r\n}\r\n",
    ),
    ("claude-desktop", "\u{feff}{\n    \"mcpServers\": {\n        \"a\": {}\n    }\n}\n"),
    (
        "claude-code",
        "{\"numStartups\":7,\"projects\":{\"/x\":{\"mcpServers\":{}}},\"mcpServers\":{\"a\":{\"type\":\"stdio\",\"command\":\"a\"}}}",
    ),
    ("cursor", "{\n  \"mcpServers\": {\n    \"a\": { \"url\": \"https://a.example/mcp\" }\n  }\n}\n"),
    (
        "vscode",
        "{\n\t// servers of this computer\n\t\"servers\": {\n\t\t\"a\": { \"type\": \"stdio\", \"command\": \"a\" }, // first\n\t},\n\t\"inputs\": [ /* none */ ],\n}\n",
    ),
    ("vscode-insiders", "{ \"inputs\": [], \"servers\": { \"a\": {\"command\": \"x\"}, } }"),
    (
        "copilot",
        "{\n  \"mcpServers\": {\n    \"a\": {\"type\": \"local\", \"command\": \"a\", \"tools\": [\"*\"]}\n  }\n}",
    ),
    (
        "zed",
        "// Zed settings\n{\n  \"theme\": \"One Dark\", // dark\n  /* two\n     lines */\n  \"context_servers\": {\n    \"a\": {\n      \"command\": \"a\" // last\n    } // end of a\n  },\n  \"vim_mode\": true,\n}\n// end\n",
    ),
    (
        "codex",
        "model = \"gpt-6\"   # the newest\n\n[mcp_servers.docs]\ncommand = 'npx'\nargs = [\n  \"-y\", # yes\n  \"docs\",\n]\n\n# my profile\n[profiles.deep]\nmodel = \"o9\"",
    ),
    ("codex", "[mcp_servers.docs]\r\ncommand = \"docs\"\r\n"),
    (
        "gemini",
        "{\n  \"selectedAuthType\": \"oauth\",\n  \"mcpServers\": {\n    \"a\": {\"httpUrl\": \"https://a\"}\n  }\n}\n",
    ),
    ("antigravity", "{\"mcpServers\": {\"a\": {}}}\n"),
    ("windsurf", "{\n  \"mcpServers\": {\n    \"a\": {\n      \"serverUrl\": \"https://a\"\n    }\n  }\n}\n"),
    (
        "opencode",
        "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"servers\": {\n      \"a\": { \"type\": \"local\", \"command\": [\"a\"] },\n    },\n  },\n}\n",
    ),
    (
        "opencode",
        "{\n  \"mcp\": {\n    \"a\": { \"type\": \"local\", \"command\": [\"a\"], \"enabled\": true }\n  }\n}\n",
    ),
    (
        "goose",
        "GOOSE_PROVIDER: anthropic\nextensions:\n  # built in\n  developer:\n    bundled: true\n    enabled: true\n    name: developer\n    type: builtin\n# the end\nGOOSE_MODEL: sonnet\n",
    ),
    ("goose", "extensions:\r\n  memory:\r\n    description: |\r\n      two\r\n      lines\r\n    type: builtin"),
    ("lm-studio", "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}"),
    (
        "cline",
        "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\", \"disabled\": false, \"autoApprove\": [] }\n  }\n}\n",
    ),
    ("roo", "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"),
    (
        "vscodium",
        "{\n  \"servers\": {\n    /* local */\n    \"a\": { \"type\": \"http\", \"url\": \"https://a\" }\n  }\n}",
    ),
];

/// Files with nothing under the key, or without the key.
const BARE_FILES: &[(&str, &str)] = &[
    ("claude-desktop", ""),
    ("claude-desktop", "{}"),
    ("claude-desktop", "{\n}\n"),
    ("claude-desktop", "{\"mcpServers\":{}}"),
    ("cursor", "{\n  \"mcpServers\": { }\n}\n"),
    ("cursor", "{\n  \"mcpServers\": null\n}\n"),
    ("vscode", "{\n\t\"servers\": {\n\t\t// none yet\n\t}\n}\n"),
    ("zed", "{\n  \"theme\": \"One\", // only\n}\n"),
    ("zed", "// nothing but a comment"),
    ("codex", ""),
    ("codex", "model = \"x\""),
    ("codex", "mcp_servers = { a = { command = \"a\" } } # inline\r\nx = 1\r\n"),
    ("codex", "mcp_servers.a.command = \"a\"\n"),
    ("opencode", "{ \"theme\": \"x\" }\n"),
    ("goose", ""),
    ("goose", "# only a comment\n"),
    ("goose", "GOOSE_MODEL: x"),
    ("goose", "extensions:\nGOOSE_MODEL: x\n"),
    ("goose", "extensions: {} # none\nGOOSE_MODEL: x\n"),
];

fn all_files() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    FILES.iter().chain(BARE_FILES)
}

#[test]
fn every_client_that_is_written_to_has_a_file_here() {
    for client in CLIENTS.iter().filter(|client| !client.print_only) {
        assert!(FILES.iter().any(|(name, _)| *name == client.name), "{}", client.name);
    }
}

#[test]
fn every_file_gets_the_entry_and_a_second_time_changes_nothing() {
    for (name, before) in all_files() {
        let client = client(name);
        let after = client.installed(before, &program()).unwrap_or_else(|error| panic!("{name} {before:?}: {error}"));
        assert_eq!(client.found(&after).unwrap(), client.entry(&program()), "{name}: {after}");
        assert_eq!(client.installed(&after, &program()).unwrap(), after, "{name}");
        assert_eq!(client.owner(&client.found(&after).unwrap().unwrap(), None), EntryOwner::Ours);
    }
}

#[test]
fn removing_the_entry_restores_a_file_that_has_other_servers_to_the_byte() {
    for (name, before) in FILES {
        let client = client(name);
        let after = client.installed(before, &program()).unwrap();
        assert_eq!(client.uninstalled(&after).unwrap(), *before, "{name}: {after}");
    }
}

#[test]
fn a_file_is_known_again_as_the_earlier_one_with_our_entry() {
    for (name, before) in all_files() {
        let client = client(name);
        let after = client.installed(before, &program()).unwrap();
        let entry = client.found(&after).unwrap().unwrap();
        assert!(client.is_only_change(before, &after, &entry), "{name} {before:?}");
        assert!(!client.is_only_change(before, &format!("{after} "), &entry), "{name}");
        // Without the earlier file, what remains means the same.
        let removed = client.uninstalled(&after).unwrap();
        assert_eq!(client.found(&removed).unwrap(), None, "{name}: {removed}");
    }
}

/// Every line of the old file is still there, in order. A comma may have been added to one, and a table opened.
fn keeps_lines(before: &str, after: &str) -> bool {
    let mut lines = after.lines();
    before.lines().all(|old| {
        let old = old.trim_end_matches(['\r', ',']);
        lines.any(|new| new.trim_end_matches(['\r', ',']) == old || new.replacen(',', "", 1) == old)
    })
}

#[test]
fn comments_unknown_keys_and_layout_stay() {
    for (name, before) in FILES.iter().filter(|(_, text)| text.trim().contains('\n')) {
        let after = client(name).installed(before, &program()).unwrap();
        assert!(keeps_lines(before, &after), "{name}:\n{before}\n---\n{after}");
        assert_eq!(before.contains('\u{feff}'), after.contains('\u{feff}'), "{name}");
        assert_eq!(before.ends_with('\n'), after.ends_with('\n'), "{name}: {after}");
        if before.contains("\r\n") {
            assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{name}: {after:?}");
        }
    }
}

#[test]
fn the_new_text_is_written_as_the_file_is() {
    let zed = client("zed").installed(FILES[8].1, &program()).unwrap();
    assert!(
        zed.contains(
            "    }, // end of a\n    \"obsidian\": {\n      \"command\": \"/usr/local/bin/lapidary\",\n      \
             \"args\": [\"--vault\", \"/home/ana/My notes\"]\n    }\n  },\n  \"vim_mode\""
        ),
        "{zed}"
    );
    let code = client("vscode").installed(FILES[5].1, &program()).unwrap();
    assert!(code.contains("}, // first\n\t\t\"obsidian\": {\n\t\t\t\"type\": \"stdio\",\n"), "{code}");
    assert!(code.contains("\n\t\t},\n\t},\n\t\"inputs\""), "a trailing comma only where there was one: {code}");
    let codex = client("codex").installed("model = \"x\"\n", &program()).unwrap();
    assert_eq!(
        codex,
        "model = \"x\"\n\n[mcp_servers.obsidian]\ncommand = \"/usr/local/bin/lapidary\"\nargs = [\"--vault\", \"/home/ana/My notes\"]\n"
    );
    let goose = client("goose").installed(FILES[16].1, &program()).unwrap();
    assert!(
        goose.contains(
            "extensions:\n  obsidian:\n    enabled: true\n    name: obsidian\n    type: stdio\n    cmd: /usr/local/bin/lapidary\n    \
             args: [\"--vault\", \"/home/ana/My notes\"]\n    timeout: 300\n  # built in\n"
        ),
        "{goose}"
    );
    let small = client("roo").installed(FILES[20].1, &program()).unwrap();
    assert!(!small.contains('\n'), "a file of one line stays one: {small}");
}

#[test]
fn a_broken_file_is_an_error_with_its_place() {
    let at = |name: &str, text: &str| match client(name).installed(text, &program()) {
        Err(ClientFileError::Broken { line, column, .. }) => (line, column),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(at("claude-desktop", "{\n  \"a\": 1\n  \"b\": 2\n}"), (2, 9));
    assert_eq!(at("claude-desktop", "{\n  // no comments here\n}").0, 2);
    assert_eq!(at("claude-desktop", "{\"a\": 1,}").0, 1);
    assert_eq!(at("zed", "{\n  \"é\": tru\n}").0, 2);
    assert_eq!(at("codex", "a = 1\nb = \n").0, 2);
    assert_eq!(at("goose", "a: 1\n b: [\n").0, 2);
}

#[test]
fn a_table_that_is_none_or_is_there_twice_is_left_alone() {
    let error = |name: &str, text: &str| client(name).installed(text, &program()).unwrap_err();
    assert!(matches!(error("cursor", "{\"mcpServers\": []}"), ClientFileError::NotATable { .. }));
    assert!(matches!(error("cursor", "[]"), ClientFileError::NotATable { .. }));
    assert!(matches!(error("cursor", "{\"mcpServers\": {}, \"mcpServers\": {}}"), ClientFileError::Twice { .. }));
    assert!(matches!(error("goose", "extensions: {a: {b: 1}}\n"), ClientFileError::Unsupported(_)));
    assert!(matches!(error("goose", "a: 1\n---\nb: 1\n"), ClientFileError::Unsupported(_)));
}

#[test]
fn an_update_changes_only_what_differs_and_keeps_fields_of_the_user() {
    let before = "{\n  \"mcpServers\": {\n    \"obsidian\": {\n      \"command\": \"/old/lapidary\", // here\n      \"args\": [],\n      \
                  \"env\": { \"OBSIDIAN_READ_ONLY\": \"true\" }\n    }\n  }\n}\n";
    let after = client("cursor").installed(before, &program()).unwrap();
    let expected = before
        .replace("/old/lapidary", "/usr/local/bin/lapidary")
        .replace("\"args\": []", "\"args\": [\"--vault\", \"/home/ana/My notes\"]");
    assert_eq!(after, expected);
    let toml =
        "[mcp_servers.obsidian] # mine\ncommand = \"/old/lapidary\" # old\nstartup_timeout_sec = 20\n\n[x]\na = 1\n";
    let after = client("codex").installed(toml, &program()).unwrap();
    assert!(after.contains("command = \"/usr/local/bin/lapidary\" # old\nstartup_timeout_sec = 20\n"), "{after}");
    assert!(after.starts_with("[mcp_servers.obsidian] # mine\n") && after.ends_with("\n\n[x]\na = 1\n"), "{after}");
    let yaml = "extensions:\n  obsidian:\n    enabled: false\n    type: stdio\n    cmd: /old/lapidary\n    args: []\n    envs: {A: b}\nx: 1\n";
    let after = client("goose").installed(yaml, &program()).unwrap();
    assert!(after.contains("cmd: /usr/local/bin/lapidary\n") && after.contains("envs: {\"A\":\"b\"}\n"), "{after}");
    assert!(after.ends_with("\nx: 1\n"), "{after}");
}

#[test]
fn switching_to_an_address_drops_the_program_and_back() {
    for (name, before) in all_files().filter(|(name, _)| *name != "claude-desktop") {
        let client = client(name);
        let local = client.installed(before, &program()).unwrap();
        let remote = client.installed(&local, &address()).unwrap();
        assert_eq!(client.found(&remote).unwrap(), client.entry(&address()), "{name}: {remote}");
        let back = client.installed(&remote, &program()).unwrap();
        assert_eq!(client.found(&back).unwrap(), client.entry(&program()), "{name}: {back}");
    }
    let error = client("claude-desktop").installed("{}", &address()).unwrap_err();
    assert_eq!(error, ClientFileError::NoAddress);
}

#[test]
fn an_entry_of_another_server_is_told_from_ours() {
    let owner = |entry: Value, address| client("cursor").owner(&entry, address);
    assert_eq!(owner(json!({ "command": "C:\\bin\\lapidary.exe" }), None), EntryOwner::Ours);
    assert_eq!(owner(json!({ "command": ["/bin/lapidary", "--demo"] }), None), EntryOwner::Ours);
    assert_eq!(owner(json!({ "command": "npx" }), None), EntryOwner::Other("npx".to_owned()));
    assert_eq!(owner(json!({ "url": "http://x/mcp" }), None), EntryOwner::Other("http://x/mcp".to_owned()));
    assert_eq!(owner(json!({ "url": "http://x/mcp" }), Some("http://x/mcp")), EntryOwner::Ours);
}

#[test]
fn each_client_has_its_own_file_on_each_platform() {
    let folders = |platform| ClientFolders {
        platform,
        home: "/h".into(),
        xdg_config: None,
        roaming: None,
        own: vec![("CODEX_HOME", "/codex".into())],
    };
    let file =
        |name: &str, platform| client(name).files(&folders(platform))[0].display().to_string().replace('\\', "/");
    use HostPlatform::{Linux, MacOs, Windows};
    assert_eq!(file("claude", Linux), "/h/.config/Claude/claude_desktop_config.json");
    assert_eq!(file("claude", MacOs), "/h/Library/Application Support/Claude/claude_desktop_config.json");
    assert_eq!(file("claude", Windows), "/h/AppData/Roaming/Claude/claude_desktop_config.json");
    assert_eq!(file("claude-code", MacOs), "/h/.claude.json");
    assert_eq!(file("zed", MacOs), "/h/.config/zed/settings.json");
    assert_eq!(file("zed", Windows), "/h/AppData/Roaming/Zed/settings.json");
    assert_eq!(file("goose", Windows), "/h/AppData/Roaming/Block/goose/config/config.yaml");
    assert_eq!(file("codex", Linux), "/codex/config.toml");
    assert_eq!(file("copilot", Linux), "/h/.copilot/mcp-config.json");
    for platform in [Linux, MacOs, Windows] {
        let mut files: Vec<_> = CLIENTS.iter().flat_map(|client| client.files(&folders(platform))).collect();
        let count = files.len();
        files.sort();
        files.dedup();
        assert_eq!(files.len(), count);
    }
}

#[test]
fn a_client_is_found_by_its_name_its_title_and_nearly() {
    for spec in CLIENTS {
        assert_eq!(find_client(spec.name).unwrap().name, spec.name);
        assert!(spec.snippet(&program()).is_some_and(|text| text.contains("obsidian")), "{}", spec.name);
    }
    assert_eq!(client("Claude Desktop").name, "claude-desktop");
    assert_eq!(client("LM Studio").name, "lm-studio");
    assert_eq!(find_client("wind").unwrap_err(), Some("windsurf"));
    assert_eq!(find_client("emacs").unwrap_err(), None);
}

#[test]
fn links_carry_the_entry() {
    let link = |name: &str| install_link(client(name), &program());
    let code = link("vscode").unwrap();
    assert!(code.starts_with("vscode:mcp/install?%7B%22name%22%3A%22obsidian%22%2C"), "{code}");
    assert!(
        link("cursor").unwrap().starts_with("cursor://anysphere.cursor-deeplink/mcp/install?name=obsidian&config=eyJ")
    );
    assert!(link("lm-studio").unwrap().starts_with("lmstudio://add_mcp?name=obsidian&config=eyJ"));
    assert!(
        link("goose")
            .unwrap()
            .ends_with("&cmd=%2Fusr%2Flocal%2Fbin%2Flapidary&arg=--vault&arg=%2Fhome%2Fana%2FMy%20notes")
    );
    assert_eq!(link("zed"), None);
}

/// A JSON text with odd layout, comments and trailing commas, and a table of servers that has at least one.
fn odd_json() -> impl Strategy<Value = String> {
    let blank =
        || prop::sample::select(vec!["", " ", "\n", "\n  ", "\r\n\t", " // c\n", " /* b */ ", "\n\n/* a\nb */\n"]);
    let value = || prop::sample::select(vec!["1", "null", "\"x, y // z\"", "[1, 2]", "{ \"k\": {} }", "\"\\u00e9\""]);
    let member = |keys: &'static [&'static str]| (prop::sample::select(keys), blank(), value(), blank(), blank());
    let members = move |keys, count| {
        prop::collection::vec(member(keys), count).prop_map(|members| {
            let mut seen = std::collections::BTreeSet::new();
            let once = members.into_iter().filter(|member| seen.insert(member.0));
            once.map(|(key, a, value, b, c)| format!("{a}\"{key}\"{b}:{value}{c}")).collect::<Vec<_>>()
        })
    };
    let servers = (members(&["a", "b", "c", "d"], 1..4), any::<bool>(), blank());
    let others = members(&["p", "q", "r", "s"], 0..4);
    (servers, others, any::<bool>(), any::<bool>(), blank(), blank(), 0..4_usize).prop_map(
        |((servers, comma, end), mut others, bom, last_comma, start, after, place)| {
            let comma = if comma { "," } else { "" };
            let table = format!("\n\"context_servers\": {{{}{comma}{end}}}", servers.join(","));
            others.insert(place.min(others.len()), table);
            let last = if last_comma { "," } else { "" };
            format!("{}{{{}{last}{after}}}{start}", if bom { "\u{feff}" } else { "" }, others.join(","))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn adding_and_removing_gives_the_same_bytes(text in odd_json()) {
        let zed = client("zed");
        prop_assume!(zed.found(&text).is_ok());
        let after = zed.installed(&text, &program()).unwrap();
        prop_assert_eq!(zed.found(&after).unwrap(), zed.entry(&program()));
        prop_assert_eq!(zed.uninstalled(&after).unwrap(), text);
    }

    #[test]
    fn no_text_makes_the_edit_panic(text in "[\\[\\]{}:,=\"'#/*a-c \n\r\t|>-]{0,40}") {
        for name in ["zed", "claude-desktop", "codex", "goose"] {
            let client = client(name);
            if let Ok(after) = client.installed(&text, &program()) {
                prop_assert_eq!(client.found(&after).unwrap(), client.entry(&program()));
                let removed = client.uninstalled(&after).unwrap();
                prop_assert_eq!(client.found(&removed).unwrap(), None);
            }
        }
    }
}
