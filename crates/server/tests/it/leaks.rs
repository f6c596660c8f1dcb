//! Files that a caller may not read do not exist for it.

mod documents;
mod everything;
mod logs;
mod offers;
mod sequences;
mod twins;
mod values;

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, path};

const SECRET: &str = "xyzzy-marker";

fn calls(file: &str) -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("file_read", json!({ "file": file })),
        ("str_replace", json!({ "file": file, "find": "a", "replace": "b" })),
        ("str_replace", json!({ "file": file, "find": "a", "replace": "b", "dry_run": true })),
        ("obsidian_write_note", json!({ "target": path(file), "content": "x" })),
        ("obsidian_write_note", json!({ "target": path(file), "content": "x", "overwrite": true, "dryRun": true })),
        ("call_tool", json!({ "name": "file_read", "arguments": { "file": file } })),
        ("tags_list", json!({ "file": file })),
    ];
    for format in ["content", "full", "document-map"] {
        calls.push(("obsidian_get_note", json!({ "format": format, "target": path(file) })));
    }
    calls
}

fn answers(vault: &Vault, file: &str, environment: &[(&str, &str)]) -> Vec<Value> {
    let mut environment = environment.to_vec();
    environment.push(("LAPIDARY_REPETITION", "off"));
    let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
    calls(file).into_iter().map(|(tool, arguments)| server.call(tool, arguments)).collect()
}

/// Every answer is the same whether or not something exists, and none contains anything of it.
fn nothing_leaks(hidden: &str, asked: &str, environment: &[(&str, &str)]) {
    let (full, bare) = (Vault::new(&[("open.md", b"open")]), Vault::new(&[("open.md", b"open")]));
    full.write(hidden, format!("a {SECRET}").as_bytes());
    let (with, without) = (answers(&full, asked, environment), answers(&bare, asked, environment));
    assert_eq!(with, without, "{hidden} asked as {asked}");
    for answer in with {
        assert_eq!(answer["isError"], true, "{answer}");
        assert!(!answer.to_string().contains(SECRET), "{answer}");
    }
    assert_eq!(full.read(hidden), format!("a {SECRET}").as_bytes());
}

#[test]
fn closed_places_look_the_same_full_or_empty() {
    let deny = [("OBSIDIAN_DENY_PATHS", "secret")];
    let narrow = [("OBSIDIAN_READ_PATHS", "public"), ("OBSIDIAN_WRITE_PATHS", "public")];
    for (hidden, asked, environment) in [
        (".obsidian/app.json", ".obsidian/app.json", &[][..]),
        (".trash/old.md", ".trash/old.md", &[]),
        (".git/config", "./.git//config", &[]),
        ("secret/a.md", "secret/a.md", &deny),
        ("secret/a.md", "SECRET/a.md", &deny),
        ("secret/a.md", "./secret\\a.md", &deny),
        ("private/a.md", "private/a.md", &narrow),
        ("private/a.md", "/private/a.md", &narrow),
    ] {
        nothing_leaks(hidden, asked, environment);
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_closed_place_opens_nothing() {
    let linked = |full: bool| {
        let vault = Vault::new(&[("open.md", b"open")]);
        std::fs::create_dir(vault.path().join("secret")).unwrap();
        if full {
            vault.write("secret/a.md", format!("a {SECRET}").as_bytes());
        }
        std::os::unix::fs::symlink("secret/a.md", vault.path().join("door.md")).unwrap();
        std::os::unix::fs::symlink("secret", vault.path().join("doors")).unwrap();
        vault
    };
    for asked in ["door.md", "doors/a.md"] {
        let environment = [("OBSIDIAN_DENY_PATHS", "secret")];
        let (full, bare) = (linked(true), linked(false));
        let (with, without) = (answers(&full, asked, &environment), answers(&bare, asked, &environment));
        assert_eq!(with, without, "{asked}");
        assert!(with.iter().all(|answer| !answer.to_string().contains(SECRET)), "{with:?}");
        assert_eq!(full.read("secret/a.md"), format!("a {SECRET}").as_bytes());
    }
}

#[test]
fn suggestions_name_only_what_may_be_read() {
    let vault = Vault::new(&[("Plan.md", b"x"), ("plan.txt", b"x")]);
    let mut server = vault.serve_with(&[], &[("OBSIDIAN_DENY_PATHS", "Plan.md")]).open(Era::Modern);
    let result = server.call("file_read", json!({ "file": "plan" }));
    let suggestions = &result["structuredContent"]["details"]["suggestions"];
    assert_eq!(suggestions, &json!(["plan.txt"]), "{result}");
    let result = server.call("obsidian_get_note", json!({ "format": "content", "target": path("plan.md") }));
    assert!(!result.to_string().contains("Plan.md"), "{result}");
}

#[test]
fn the_path_policy_decides_by_the_path_and_says_what_is_open() {
    let vault = Vault::new(&[("pub/a.md", b"a"), ("public/b.md", b"b"), ("work/c.md", b"c")]);
    let environment = [("OBSIDIAN_READ_PATHS", "pub"), ("OBSIDIAN_WRITE_PATHS", "Work/")];
    let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
    assert_eq!(server.done("file_read", json!({ "file": "pub/a.md" }))["content"], "a");
    assert_eq!(
        server.done("file_read", json!({ "file": "work/c.md" }))["content"],
        "c",
        "what may be changed may be read"
    );
    let denied = server.call("obsidian_get_note", json!({ "format": "content", "target": path("public/b.md") }));
    let data = &denied["structuredContent"]["error"]["data"];
    assert_eq!(denied["structuredContent"]["error"]["code"], -32005);
    assert_eq!((&data["op"], &data["subreason"]), (&json!("read"), &json!("outside_read_paths")));
    assert_eq!(data["activeScope"], json!(["pub", "Work"]));
    let denied = server.call("str_replace", json!({ "file": "pub/a.md", "find": "a", "replace": "b" }));
    assert_eq!(denied["structuredContent"]["details"]["subreason"], "outside_write_paths", "{denied}");
    server.done("str_replace", json!({ "file": "work/c.md", "find": "c", "replace": "d" }));
    assert_eq!((vault.read("pub/a.md"), vault.read("work/c.md")), (b"a".to_vec(), b"d".to_vec()));
}

fn policy_in_instructions(environment: &[(&str, &str)]) -> String {
    let vault = Vault::new(&[]);
    let mut server: Server = vault.serve_with(&[], environment);
    let instructions =
        server.request("server/discover", json!({}))["result"]["instructions"].as_str().unwrap().to_owned();
    instructions.chars().take(512).collect()
}

#[test]
fn the_first_512_characters_of_the_instructions_say_what_is_in_force() {
    for (environment, part) in [
        (&[][..], "Everything may be read and changed."),
        (&[("OBSIDIAN_READ_ONLY", "true")], "Read-only"),
        (&[("OBSIDIAN_DENY_PATHS", "secret")], "Some paths are closed."),
        (&[("LAPIDARY_APPROVAL", "write=ask")], "needs the user's approval"),
        (&[("LAPIDARY_APPROVAL", "write=deny")], "allow no change"),
        (&[("OBSIDIAN_READ_PATHS", "pub"), ("OBSIDIAN_WRITE_PATHS", "work")], "Readable: `pub`. Writable: `work`."),
    ] {
        let start = policy_in_instructions(environment);
        assert!(start.contains(part), "{start}");
        assert!(start.contains("content hash") && start.contains("Projects/Plan.md"), "{start}");
    }
}

#[test]
fn the_log_records_what_happened_without_text() {
    let vault = Vault::new(&[("a.md", format!("a {SECRET}").as_bytes())]);
    let mut server = vault.serve().open(Era::Modern);
    server.done("file_read", json!({ "file": "a.md" }));
    server.done("str_replace", json!({ "file": "a.md", "find": "a ", "replace": "b " }));
    server.refused("str_replace", json!({ "file": "a.md", "find": "nowhere", "replace": "b" }));
    server.done("call_tool", json!({ "name": "file.read", "arguments": { "file": "a.md" } }));
    server.request("tools/call", json!({ "name": "no_such_tool", "arguments": { "x": SECRET } }));
    server.done("find_tool", json!({ "query": "read" }));
    server.stop();
    let log = vault.log();
    let outcome = |line: &Value| (line["tool"].as_str().unwrap().to_owned(), line["ok"].as_bool().unwrap());
    let expected = [
        ("file_read", true),
        ("str_replace", true),
        ("str_replace", false),
        ("file_read", true),
        ("no_such_tool", false),
        ("find_tool", true),
    ];
    assert_eq!(log.iter().map(outcome).collect::<Vec<_>>(), expected.map(|(tool, ok)| (tool.to_owned(), ok)));
    assert!(log[1]["before_hash"].is_string() && log[1]["after_hash"].is_string(), "{}", log[1]);
    assert_eq!(log[2]["reason"], "text_missing");
    assert!(log[2].get("after_hash").is_none(), "{}", log[2]);
    assert_eq!(log[3]["via"], "call_tool");
    assert_eq!(log[4]["reason"], "tool_unknown");
    for line in &log {
        assert!(!line.to_string().contains(SECRET), "{line}");
        assert!(line["ts"].as_str().unwrap().ends_with('Z') && line["args_hash"].is_string(), "{line}");
        assert_eq!(line["client_id"], "stdio:~test");
    }
}
