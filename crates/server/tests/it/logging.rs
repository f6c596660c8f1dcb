//! Where the log goes, and what each level contains. That it contains nothing of the notes is tested in `leaks::logs`.

use std::{collections::BTreeSet, path::Path};

use serde_json::{Value, json};

use crate::{
    harness::{Era, Vault, files_below},
    http::HttpServer,
};

/// What a server logs at a level when it reads and changes a note and has a setting without effect.
fn lines(level: &str) -> Vec<Value> {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let environment =
        [("MCP_LOG_LEVEL", level), ("LAPIDARY_LOG_FORMAT", "json"), ("OBSIDIAN_BASE_URL", "http://localhost")];
    let mut server = vault.spawn_with(&[], &environment).open(Era::Modern);
    server.done("file_read", json!({ "file": "a.md" }));
    server.done("str_replace", json!({ "file": "a.md", "find": "one", "replace": "two" }));
    let (status, said) = server.end();
    assert!(status.success(), "{said}");
    said.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn every_level_has_what_the_one_before_it_has_and_more() {
    let of = |level: &str| -> BTreeSet<String> {
        lines(level).iter().map(|line| line["level"].as_str().unwrap().to_owned()).collect()
    };
    for (level, expected) in [
        ("off", &[][..]),
        ("error", &[]),
        ("warning", &["warning"]),
        ("notice", &["info", "warning"]),
        ("debug", &["debug", "info", "warning"]),
        ("trace", &["debug", "info", "trace", "warning"]),
    ] {
        assert_eq!(of(level), expected.iter().map(|level| (*level).to_owned()).collect(), "{level}");
    }
}

#[test]
fn a_log_folder_gets_a_bounded_number_of_private_files() {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let folder = vault.path().with_file_name("logs");
    let environment = [
        ("MCP_LOG_LEVEL", "trace"),
        ("LOGS_DIR", folder.to_str().unwrap()),
        ("LAPIDARY_LOG_MAX_BYTES", "1024"),
        ("LAPIDARY_REPETITION", "off"),
    ];
    let mut server = vault.spawn_with(&[], &environment).open(Era::Modern);
    for number in 0..60 {
        let replace = if number % 2 == 0 { ("one", "two") } else { ("two", "one") };
        server.done("str_replace", json!({ "file": "a.md", "find": replace.0, "replace": replace.1 }));
    }
    let (_, said) = server.end();
    let files = files_below(&folder);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let expected =
        ["lapidary.log", "lapidary.log.1", "lapidary.log.2", "lapidary.log.3", "lapidary.log.4", "lapidary.log.5"];
    assert_eq!(names, expected);
    assert!(files.values().all(|bytes| bytes.len() <= 1024));
    let last = String::from_utf8(files["lapidary.log"].clone()).unwrap();
    let last = last.lines().last().unwrap().split_once(' ').unwrap();
    assert!(last.0.ends_with('Z') && said.contains(last.1), "the time, and the line that is on stderr: {last:?}");
    only_for_the_owner(&folder, 0o700);
    names.iter().for_each(|name| only_for_the_owner(&folder.join(name), 0o600));
}

#[cfg(unix)]
fn only_for_the_owner(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
}

#[cfg(not(unix))]
fn only_for_the_owner(_: &Path, _: u32) {}

#[test]
fn an_unwritable_log_folder_is_reported_once_and_stops_nothing() {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let file = vault.path().with_file_name("logs");
    std::fs::write(&file, "no folder").unwrap();
    let environment = [("MCP_LOG_LEVEL", "debug"), ("LOGS_DIR", file.to_str().unwrap())];
    let mut server = vault.spawn_with(&[], &environment).open(Era::Modern);
    server.done("file_read", json!({ "file": "a.md" }));
    let (status, said) = server.end();
    assert!(status.success());
    assert_eq!(said.matches("LOGS_DIR cannot be written").count(), 1, "{said}");
}

#[test]
fn no_token_of_a_client_is_logged() {
    const TOKEN: &str = "zqtoken-0123456789abcdef0123456789";
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let folder = vault.path().with_file_name("logs");
    let tokens = format!("phone:reader:{TOKEN}");
    let environment =
        [("MCP_LOG_LEVEL", "trace"), ("LOGS_DIR", folder.to_str().unwrap()), ("LAPIDARY_TOKENS", tokens.as_str())];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &environment);
    for token in [TOKEN.to_owned(), format!("{TOKEN}-wrong")] {
        let authorization = format!("Bearer {token}");
        let extra = [("Authorization", authorization.as_str())];
        let (status, _) = server.post(&extra, "server/discover", None, json!({}));
        assert_eq!(status, if token == TOKEN { 200 } else { 401 });
    }
    drop(server);
    let files = files_below(&folder);
    assert!(!files.is_empty());
    for bytes in files.values() {
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(!text.contains("zqtoken"), "{text}");
    }
}

/// In both forms of a bug: a reported one, and a panic.
#[cfg(debug_assertions)]
#[test]
fn an_internal_error_is_in_the_log_with_its_id_place_and_cause() {
    for (name, place, cause) in [
        ("lapidary-failpoint-bug.md", "crates/toolkit/src/failpoint.rs:", "a failpoint: "),
        ("lapidary-failpoint-panic.md", "crates/toolkit/src/failpoint.rs:", "a panic"),
    ] {
        let vault = Vault::new(&[(name, b"my diary\n"), ("a.md", b"one\n")]);
        let environment = [("MCP_LOG_LEVEL", "error"), ("LAPIDARY_LOG_FORMAT", "json")];
        let mut server = vault.spawn_with(&[], &environment).open(Era::Modern);
        let result =
            server.call("obsidian_get_note", json!({ "format": "content", "target": crate::harness::path(name) }));
        let error = &result["structuredContent"]["error"];
        assert_eq!(error["data"]["reason"], "internal_error", "{result}");
        let id = error["data"]["id"].as_str().unwrap();
        for part in [&error["message"], &error["data"]["recovery"]["hint"], &result["content"][0]["text"]] {
            assert!(part.as_str().unwrap().contains(id), "{result}");
        }
        for told in ["failpoint.rs", "a failpoint", "diary", "panic"] {
            assert!(!result.to_string().contains(told), "{told} must not be shown to the caller: {result}");
        }
        assert_eq!(server.done("file_read", json!({ "file": "a.md" }))["content"], "one\n", "it cost one call");
        let (_, said) = server.end();
        let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 1, "{said}");
        assert_eq!(lines[0]["fields"]["id"], id, "{said}");
        assert!(lines[0]["fields"]["at"].as_str().unwrap().starts_with(place), "{said}");
        assert!(lines[0]["msg"].as_str().unwrap().contains(cause), "{said}");
        assert!(!said.contains(name), "the message of a panic may quote notes: {said}");
    }
}

/// Without a log, at least the place of a panic is known.
#[cfg(debug_assertions)]
#[test]
fn a_panic_is_printed_if_there_is_no_log() {
    let name = "lapidary-failpoint-panic.md";
    let vault = Vault::new(&[(name, b"my diary\n")]);
    let mut server = vault.spawn_with(&[], &[("MCP_LOG_LEVEL", "off")]).open(Era::Modern);
    server.call("obsidian_get_note", json!({ "format": "content", "target": crate::harness::path(name) }));
    let (_, said) = server.end();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("lapidary: internal error at crates/toolkit/src/failpoint.rs:"), "{said}");
}

#[test]
fn a_policy_is_logged_without_the_folders_that_it_names() {
    let vault = Vault::new(&[("Diary/a.md", b"one\n")]);
    for (setting, said_of_it) in
        [("false", "Vault path policy is enforced."), ("true", "Read-only: nothing can be changed.")]
    {
        let environment = [
            ("MCP_LOG_LEVEL", "trace"),
            ("OBSIDIAN_READ_PATHS", "Diary"),
            ("OBSIDIAN_WRITE_PATHS", "Diary"),
            ("OBSIDIAN_READ_ONLY", setting),
        ];
        let mut server = vault.spawn_with(&[], &environment).open(Era::Modern);
        server.done("file_read", json!({ "file": "Diary/a.md" }));
        let (_, said) = server.end();
        assert!(said.contains(said_of_it) && !said.to_lowercase().contains("diary"), "{said}");
    }
}

/// A hint must not name a tool that is off.
#[test]
fn a_hint_on_the_wire_names_what_is_on() {
    let vault = Vault::new(&[("a.md", "long\n".repeat(2000).as_bytes())]);
    let environment = [("LAPIDARY_MAX_REPLY_BYTES", "4096")];
    for (tools, named) in [("files", "`outline`"), ("default", "`obsidian_get_note`")] {
        let mut server = vault.spawn_with(&["--tools", tools], &environment).open(Era::Modern);
        let result = server.call("file_read", json!({ "file": "a.md" }));
        let hint = result["structuredContent"]["hint"].as_str().unwrap();
        assert!(hint.contains(named), "{tools}: {hint}");
        assert_eq!(hint.contains("obsidian_"), tools == "default", "{hint}");
    }
}
