//! The path policy as applied to every tool: refused by the path alone, with the open paths and advice. And what is in
//! force is reported to the owner and to the client before the first call.

use lapidary_tools::{Effect, ExampleResult, PathRole, TOOLS, ToolSpec, WireFamily};
use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, path};

/// Checkpoint tools take a checkpoint first; its visibility is tested in `undo`.
fn is_of_files(spec: &ToolSpec) -> bool {
    !spec.name().starts_with("checkpoint_")
}

/// Calls of a tool from its examples, with these paths in place of theirs.
fn calls(wanted: impl Fn(&ToolSpec) -> bool, put: &str) -> Vec<(ToolSpec, Value)> {
    let mut calls = Vec::new();
    for tool in TOOLS.iter().filter(|tool| wanted(&tool.spec())) {
        let spec = tool.spec();
        for example in tool.examples() {
            let named = |pointer: &str| example.input.pointer(pointer).is_some_and(Value::is_string);
            // A dry run of a change is judged like the change, but a change that is refused anyway is not.
            let works = matches!(example.gives.last(), ExampleResult::Output(_) | ExampleResult::Including(_));
            if !works || !spec.declaration.paths.iter().any(|path| named(path.pointer)) {
                continue;
            }
            let mut arguments = example.input.clone();
            for argument in spec.declaration.paths {
                if let Some(value) = arguments.pointer_mut(argument.pointer) {
                    let name = value.as_str().and_then(|path| path.rsplit('/').next()).unwrap_or("x.md").to_owned();
                    *value =
                        json!(if argument.role == PathRole::List { put.to_owned() } else { format!("{put}/{name}") });
                }
            }
            calls.push((spec.clone(), arguments));
        }
    }
    assert!(calls.len() > 10);
    calls
}

/// The data of a refusal and its hint, in either form.
#[track_caller]
fn forbidden(spec: &ToolSpec, result: &Value) -> (Value, String) {
    let content = &result["structuredContent"];
    let name = spec.name();
    if spec.declaration.family == WireFamily::Files {
        assert_eq!(content["error"]["reason"], "path_forbidden", "{name}: {result}");
        assert_eq!(content["code"], "PERMISSION_DENIED", "{name}");
        return (content["details"].clone(), content["hint"].as_str().unwrap().to_owned());
    }
    let error = &content["error"];
    assert_eq!(error["data"]["reason"], "path_forbidden", "{name}: {result}");
    assert_eq!(error["code"], -32005, "{name}");
    (error["data"].clone(), error["data"]["recovery"]["hint"].as_str().unwrap().to_owned())
}

#[test]
fn every_tool_that_takes_a_path_says_what_may_be_read() {
    let vault = Vault::new(&[("pub/a.md", b"x"), ("outside/a.md", b"x")]);
    let environment = [
        ("OBSIDIAN_READ_PATHS", "Pub/"),
        ("OBSIDIAN_WRITE_PATHS", "work"),
        ("LAPIDARY_REPETITION", "off"),
        ("LAPIDARY_SCHEMA_FOLDER", "work/Schemas"),
        ("LAPIDARY_WEB_HOSTS", "example.org"),
    ];
    let mut server = vault.serve_with(&["--tools", "all"], &environment).open(Era::Modern);
    for (spec, arguments) in calls(|spec| is_of_files(spec) && !spec.declaration.paths.is_empty(), "outside") {
        let result = server.call(spec.name(), arguments.clone());
        let (data, hint) = forbidden(&spec, &result);
        let what = format!("{} {arguments}: {data}", spec.name());
        // A tool that only writes is refused for that; all others read first.
        let (subreason, scope) = match data["op"].as_str() {
            Some("read") => ("outside_read_paths", json!(["Pub", "work"])),
            _ => ("outside_write_paths", json!(["work"])),
        };
        assert!(data["op"] == "read" || spec.effect != Effect::Read, "{what}");
        assert_eq!((&data["subreason"], &data["activeScope"]), (&json!(subreason), &scope), "{what}");
        assert!(data["path"].as_str().unwrap().starts_with("outside"), "{what}");
        assert!(hint.starts_with("Allowed prefixes: `") && hint.contains("`work`"), "{hint}");
    }
}

#[test]
fn every_tool_that_writes_says_what_may_be_changed() {
    let environment =
        [("OBSIDIAN_READ_PATHS", "pub"), ("OBSIDIAN_WRITE_PATHS", "work"), ("LAPIDARY_REPETITION", "off")];
    let writes = |spec: &ToolSpec| {
        is_of_files(spec)
            && spec.effect != Effect::Read
            && spec.declaration.paths.iter().any(|path| path.role == PathRole::Write)
    };
    let mut refused = std::collections::BTreeSet::new();
    for tool in TOOLS.iter().filter(|tool| writes(&tool.spec())) {
        let spec = tool.spec();
        for example in tool.examples() {
            if !matches!(example.gives, ExampleResult::Output(_) | ExampleResult::Including(_)) {
                continue;
            }
            let vault = Vault::new(&[]);
            for (path, text) in example.before {
                vault.write(&format!("pub/{path}"), text.as_bytes());
            }
            let mut arguments = example.input.clone();
            for argument in spec.declaration.paths {
                if let Some(Value::String(path)) = arguments.pointer_mut(argument.pointer) {
                    path.insert_str(0, "pub/");
                }
            }
            let before = vault.everything();
            let mut server = vault.serve_with(&["--tools", "all"], &environment).open(Era::Modern);
            let result = server.call(spec.name(), arguments.clone());
            // An example that changes nothing is not a change to refuse.
            if result["isError"] == true {
                let (data, _) = forbidden(&spec, &result);
                let (op, subreason) = (data["op"].as_str(), data["subreason"].as_str());
                assert_eq!((op, subreason), (Some("write"), Some("outside_write_paths")), "{arguments}: {result}");
                assert_eq!(data["activeScope"], json!(["work"]));
                refused.insert(spec.name());
            }
            assert_eq!(vault.everything(), before, "{} {arguments}", spec.name());
        }
    }
    // Files of an example are text, so none of its examples has an archive.
    let vault = Vault::new(&[("pub/a.zip", b"PK")]);
    let mut server = vault.serve_with(&["--tools", "all"], &environment).open(Era::Modern);
    let result = server.call("zip_extract", json!({ "path": "pub/a.zip", "folder": "pub/Into" }));
    assert_eq!(result["structuredContent"]["error"]["data"]["subreason"], "outside_write_paths", "{result}");
    refused.insert("zip_extract");
    let all: std::collections::BTreeSet<&str> =
        TOOLS.iter().map(|tool| tool.spec()).filter(writes).map(|spec| spec.name()).collect();
    let never: Vec<&&str> = all.difference(&refused).collect();
    assert!(never.is_empty(), "{never:?}");
}

/// The table of the policy: what is allowed for a path, by configuration.
#[test]
fn the_policy_is_read_and_applied_as_it_always_was() {
    let all = ["pub/a.md", "public/a.md", "work/a.md", "work/deep/a.md", "Single.md"];
    let files: Vec<(&str, &[u8])> = all.iter().map(|path| (*path, &b"x"[..])).collect();
    let vault = Vault::new(&files);
    for (environment, readable, writable) in [
        (&[][..], &all[..], &all[..]),
        (&[("OBSIDIAN_READ_PATHS", "")], &all, &all),
        (&[("OBSIDIAN_READ_PATHS", "pub")], &["pub/a.md"], &all),
        (&[("OBSIDIAN_READ_PATHS", " PUB\\ , ,pub/")], &["pub/a.md"], &all),
        (&[("OBSIDIAN_READ_PATHS", "single.MD")], &["Single.md"], &all),
        (&[("OBSIDIAN_WRITE_PATHS", "work\\deep")], &all, &["work/deep/a.md"]),
        (
            &[("OBSIDIAN_READ_PATHS", "pub"), ("OBSIDIAN_WRITE_PATHS", "work")],
            &["pub/a.md", "work/a.md", "work/deep/a.md"],
            &["work/a.md", "work/deep/a.md"],
        ),
        (
            &[("OBSIDIAN_READ_PATHS", "pub"), ("OBSIDIAN_WRITE_PATHS", "work"), ("OBSIDIAN_READ_ONLY", "true")],
            &["pub/a.md"],
            &[],
        ),
        (&[("OBSIDIAN_READ_ONLY", "yes")], &all, &[]),
    ] {
        let mut server = vault.serve_with(&[], environment).open(Era::Modern);
        for file in all {
            let read = server.call("obsidian_get_note", json!({ "format": "content", "target": path(file) }));
            assert_eq!(read["isError"] != true, readable.contains(&file), "{environment:?}: read {file}");
            let uri = format!("obsidian://vault/{file}");
            let resource = server.request("resources/read", json!({ "uri": uri }));
            assert_eq!(resource.get("result").is_some(), readable.contains(&file), "{environment:?}: resource {file}");
            let write = json!({ "target": path(file), "content": "y", "overwrite": true, "dryRun": true });
            let write = server.call("obsidian_write_note", write);
            // An unreadable file cannot be replaced either, as the caller has not seen it.
            let open = writable.contains(&file) && readable.contains(&file);
            assert_eq!(write["isError"] != true, open, "{environment:?}: write {file}: {write}");
        }
    }
    for list in ["/pub", "\\pub", "a/../b", " , ,"] {
        let mut command = vault.command();
        command.arg("--vault").arg(vault.path()).env("OBSIDIAN_READ_PATHS", list);
        let (status, said) = Server::spawn(command).end();
        assert_eq!(status.code(), Some(2), "{list}: {said}");
        assert!(said.contains("OBSIDIAN_READ_PATHS"), "{said}");
    }
}

#[test]
fn the_open_and_the_daily_note_are_under_the_policy_too() {
    let vault = Vault::new(&[
        ("Daily/2026-04-13.md", b"x"),
        (".obsidian/core-plugins.json", b"{\"daily-notes\": true}"),
        (".obsidian/daily-notes.json", b"{\"folder\": \"Daily\"}"),
    ]);
    let daily = json!({ "type": "periodic", "period": "daily", "date": "2026-04-13" });
    for (environment, reason) in
        [(("OBSIDIAN_READ_PATHS", "Daily"), None), (("OBSIDIAN_READ_PATHS", "pub"), Some("path_forbidden"))]
    {
        let mut server = vault.serve_with(&[], &[environment]).open(Era::Modern);
        let result = server.call("obsidian_get_note", json!({ "format": "content", "target": daily }));
        assert_eq!(result["structuredContent"]["error"]["data"]["reason"].as_str(), reason, "{result}");
        let active = json!({ "format": "content", "target": { "type": "active" } });
        assert_eq!(server.refused("obsidian_get_note", active), "obsidian_unreachable");
    }
}

#[test]
fn tags_and_listings_include_only_readable_files() {
    let vault = Vault::new(&[
        ("pub/a.md", b"#open #shared/x"),
        ("work/b.md", b"#work #shared"),
        ("outside/c.md", b"#secret #shared"),
        ("d.md", b"#root #shared"),
    ]);
    let environment = [("OBSIDIAN_READ_PATHS", "pub"), ("OBSIDIAN_WRITE_PATHS", "work")];
    for era in [Era::Legacy("2024-11-05"), Era::Modern] {
        let mut server = vault.serve_with(&[], &environment).open(era);
        let expected = json!([
            { "name": "shared", "count": 2 },
            { "name": "open", "count": 1 },
            { "name": "shared/x", "count": 1 },
            { "name": "work", "count": 1 },
        ]);
        assert_eq!(server.done("obsidian_list_tags", json!({}))["tags"], expected);
        let resource = server.request("resources/read", json!({ "uri": "obsidian://tags" }));
        let text = resource["result"]["contents"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap()["tags"], expected);
        let listed = server.done("obsidian_list_notes", json!({ "depth": 5 }));
        let paths: Vec<&str> =
            listed["entries"].as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect();
        assert_eq!(paths, ["pub", "pub/a.md", "work", "work/b.md"]);
        assert_eq!(listed["totals"], json!({ "entries": 4, "files": 2, "directories": 2 }));
        let found = server.done("obsidian_search_notes", json!({ "mode": "text", "query": "shared" }));
        assert_eq!(found["result"]["totalCount"], 2);
    }
}

/// What client and owner are told before the first call.
fn told(vault: &Vault, environment: &[(&str, &str)]) -> (String, String) {
    let mut server = vault.spawn_with(&[], environment);
    let discovered = server.request("server/discover", json!({}))["result"]["instructions"].clone();
    let (_, said) = server.end();
    // Warnings are for the owner, who wrote the rules, and quote them.
    let said = said.lines().filter(|line| !line.starts_with("lapidary: warning:")).collect::<Vec<_>>().join("\n");
    (discovered.as_str().unwrap().chars().take(512).collect(), said)
}

#[test]
fn closing_by_rule_files_alone_is_reported_as_well() {
    const ALL: &str = "Everything may be read and changed.";
    for (rules, environment, parts) in [
        (&[][..], &[][..], &[ALL][..]),
        (&[(".lapidaryignore", "# nothing yet\n")], &[], &[ALL]),
        (&[(".lapidaryignore", "secret/\n")], &[], &["Rule files in the vault hide some paths."]),
        (&[(".obsidian-agentprotected", "a.md")], &[], &["protect some paths from changes."]),
        (
            &[(".lapidaryignore", "x"), (".lapidaryprotect", "y")],
            &[("OBSIDIAN_READ_ONLY", "true")],
            &["Read-only", "hide some paths and protect others"],
        ),
        (&[(".lapidaryignore", "[broken")], &[], &["The vault `Notes` is closed until the owner fixes"]),
        (
            &[(".obsidian/app.json", "{\"userIgnoreFilters\": [\"Old/\"]}")],
            &[("LAPIDARY_EXCLUDED_FILES", "hide")],
            &["hide some paths"],
        ),
        (
            &[(".lapidaryignore", "x")],
            &[("OBSIDIAN_READ_PATHS", "pub")],
            &["Readable and writable: `pub`.", "hide some paths"],
        ),
    ] {
        let vault = Vault::new(&[("a.md", b"x")]);
        rules.iter().for_each(|(file, text)| vault.write(file, text.as_bytes()));
        let (instructions, line) = told(&vault, environment);
        for part in parts {
            assert!(instructions.contains(part), "{rules:?}: {instructions}");
            // The log says that there is a policy and names no folder of a vault.
            let logged = if part.starts_with("Readable") { "Vault path policy is enforced." } else { part };
            assert!(line.contains(logged) && !line.contains("`pub`"), "{rules:?}: {line}");
        }
        assert_eq!(instructions.contains(ALL), parts.contains(&ALL), "{rules:?}: {instructions}");
        assert!(instructions.contains("content hash"), "the rest is still there: {instructions}");
        assert!(!instructions.contains("secret"), "hidden names are not revealed");
    }
}

#[test]
fn the_instructions_say_that_there_are_rules() {
    let vault = Vault::new(&[("a.md", b"x\n")]);
    for (rules, said) in [("deny path=Journal", true), ("allow path=Journal", false), ("", false)] {
        let mut server = vault.serve_with(&[], &[("LAPIDARY_APPROVAL_RULES", rules)]).open(Era::Modern);
        let told = server.request("server/discover", json!({}))["result"]["instructions"].to_string();
        assert_eq!(told.contains("owner's rules"), said, "{rules}: {told}");
    }
}
