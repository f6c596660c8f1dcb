//! What the owner of a vault closes, as seen by a client.

use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, path, reason};

fn subreason(result: &Value) -> &str {
    let content = &result["structuredContent"];
    let data = content.pointer("/error/data").or_else(|| content.get("details"));
    data.and_then(|data| data["subreason"].as_str()).unwrap_or_else(|| panic!("no subreason in {result}"))
}

fn edit(file: &str) -> Value {
    json!({ "file": file, "find": "a", "replace": "b" })
}

fn create(file: &str) -> Value {
    json!({ "target": path(file), "content": "x" })
}

#[test]
fn an_ignored_note_does_not_exist_and_cannot_be_created() {
    let vault = Vault::new(&[("secret/a.md", b"a"), ("open.md", b"a"), (".lapidaryignore", b"Secret/\n")]);
    let mut server = vault.serve().open(Era::Modern);
    for file in ["secret/a.md", "secret/none.md", "SECRET/a.md"] {
        assert_eq!(server.refused("file_read", json!({ "file": file })), "note_missing", "{file}");
        assert_eq!(server.refused("str_replace", edit(file)), "note_missing", "{file}");
        let refused = server.call("obsidian_write_note", create(file));
        assert_eq!((&*reason(&refused), subreason(&refused)), ("path_forbidden", "ignored_path"), "{file}");
    }
    assert_eq!(vault.everything().len(), 3);
}

#[test]
fn a_protected_note_is_readable_and_never_changed() {
    let vault = Vault::new(&[("rules/a.md", b"a"), (".obsidian-agentprotected", b"rules/\n")]);
    for environment in [&[][..], &[("LAPIDARY_APPROVAL", "write=ask")]] {
        let mut server = vault.serve_with(&[], environment).with_elicitation().open(Era::Modern);
        assert_eq!(server.done("file_read", json!({ "file": "rules/a.md" }))["content"], "a");
        for (tool, arguments) in [
            ("str_replace", edit("rules/a.md")),
            ("obsidian_write_note", create("rules/new.md")),
            ("call_tool", json!({ "name": "str_replace", "arguments": edit("rules/a.md") })),
            ("str_replace", json!({ "file": "rules/a.md", "find": "a", "replace": "b", "dry_run": true })),
        ] {
            let refused = server.call(tool, arguments);
            assert_eq!((&*reason(&refused), subreason(&refused)), ("path_forbidden", "protected_path"), "{tool}");
        }
    }
    assert_eq!((vault.read("rules/a.md"), vault.everything().len()), (b"a".to_vec(), 2));
}

#[test]
fn consent_does_not_outlive_a_new_rule() {
    let vault = Vault::new(&[("a.md", b"a")]);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_APPROVAL", "write=ask")]).with_elicitation().open(Era::Modern);
    let call = json!({ "name": "str_replace", "arguments": edit("a.md") });
    let asked = server.request("tools/call", call.clone())["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    vault.write(".lapidaryprotect", b"a.md");
    let mut again = call;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ "consent": { "action": "accept", "content": { "confirm": true } } });
    let refused = server.request("tools/call", again)["result"].clone();
    assert_eq!(subreason(&refused), "protected_path");
    assert_eq!(vault.read("a.md"), b"a");
}

#[test]
fn a_rule_file_that_cannot_be_read_closes_the_vault_until_it_is_repaired() {
    let vault = Vault::new(&[("a.md", b"a"), (".lapidaryignore", b"[broken pattern")]);
    let mut server = vault.spawn().open(Era::Modern);
    for (tool, arguments) in [
        ("file_read", json!({ "file": "a.md" })),
        ("file_read", json!({ "file": "none.md" })),
        ("str_replace", edit("a.md")),
        ("obsidian_write_note", create("new.md")),
        ("obsidian_get_note", json!({ "format": "content", "target": path("a.md") })),
        ("call_tool", json!({ "name": "file_read", "arguments": { "file": "a.md" } })),
    ] {
        let refused = server.call(tool, arguments);
        assert_eq!(reason(&refused), "vault_closed", "{tool}");
        let said = refused.to_string();
        assert!(said.contains("rule file .lapidaryignore cannot be read") && said.contains("must fix"), "{said}");
        assert!(!said.contains("broken") && !said.contains("line"), "no more than that: {said}");
    }
    server.done("find_tool", json!({ "query": "read" }));
    vault.write(".lapidaryignore", b"b.md");
    assert_eq!(server.done("file_read", json!({ "file": "a.md" }))["content"], "a");
    let (_, said) = server.end();
    assert!(said.contains("`Notes` is closed") && said.contains("line 1"), "the owner hears why: {said}");
}

/// A server on vaults that are named in a configuration file.
fn configured(vault: &Vault, toml: &str) -> Server {
    Server::start(&configured_command(vault, toml)).open(Era::Modern)
}

fn configured_command(vault: &Vault, toml: &str) -> Command {
    let mut command = vault.command();
    let config = vault.path().with_file_name("lapidary.toml");
    std::fs::write(&config, toml).unwrap();
    command.env("LAPIDARY_CONFIG", config);
    command
}

#[test]
fn each_vault_has_its_own_patterns_and_rules() {
    let (here, there) = (Vault::new(&[]), Vault::new(&[]));
    for vault in [&here, &there] {
        for file in ["Work/a.md", "Work/Secret/b.md", "c.md", "pic.png"] {
            vault.write(file, b"a");
        }
    }
    there.write(".lapidaryignore", b"c.md");
    let toml = format!(
        "[vaults]\nthere = {:?}\n[vaults.here]\npath = {:?}\nallow = [\"Work/**\", \"*.png\"]\ndeny = [\"**/secret/**\"]\n",
        there.path(),
        here.path()
    );
    let mut server = configured(&here, &toml);
    for (name, file, expected) in [
        ("here", "Work/a.md", None),
        ("here", "work/A.PNG/x.md", Some("note_missing")),
        ("here", "c.md", Some("outside_allow")),
        ("here", "none.md", Some("outside_allow")),
        ("here", "Work/SECRET/b.md", Some("in_deny")),
        ("here", "Work/Secret/none.md", Some("in_deny")),
        ("there", "Work/Secret/b.md", None),
        ("there", "c.md", Some("note_missing")),
    ] {
        let result = server.call("file_read", json!({ "vault": name, "file": file }));
        match expected {
            None => assert_ne!(result["isError"], true, "{name} {file}: {result}"),
            Some("note_missing") => assert_eq!(reason(&result), "note_missing", "{name} {file}"),
            Some(expected) => assert_eq!(subreason(&result), expected, "{name} {file}"),
        }
    }
    let refused = server.call("file_read", json!({ "vault": "here", "file": "c.md" }));
    assert_eq!(refused["structuredContent"]["details"]["activeScope"], json!(["Work", "*.png"]), "{refused}");
    there.write(".lapidaryignore", b"\xff");
    assert_eq!(server.refused("file_read", json!({ "vault": "there", "file": "Work/a.md" })), "vault_closed");
    server.done("file_read", json!({ "vault": "here", "file": "Work/a.md" }));
}

/// Paths closed by a vault are also closed through a surrounding one.
#[test]
fn a_vault_inside_a_vault_keeps_its_rules() {
    let outer = Vault::new(&[("a.md", b"lantern"), ("Sub/Inner/open.md", b"lantern"), ("Sub/Inner/Law.md", b"law")]);
    for (path, text) in [
        ("Private/p.md", "lantern zqsecret"),
        ("x.secret.md", "lantern zqsecret"),
        ("Deep/a.md", "deep"),
        ("Deep/Private/p.md", "lantern zqsecret"),
    ] {
        outer.write(&format!("Sub/Inner/{path}"), text.as_bytes());
    }
    outer.write("Sub/Inner/.lapidaryignore", b"Private/\n");
    outer.write("Sub/Inner/.lapidaryprotect", b"/Law.md\n");
    std::os::unix::fs::symlink("Sub/Inner/Private", outer.path().join("door")).unwrap();
    let toml = format!(
        "[vaults]\nouter = {:?}\n[vaults.inner]\npath = {:?}\ndeny = [\"*.secret.md\"]\n",
        outer.path(),
        outer.path().join("Sub/Inner"),
    );
    let mut server = configured(&outer, &toml);
    let before = outer.everything();
    let mut refused = |tool: &str, mut arguments: Value, expected: &str| {
        arguments["vault"] = json!("outer");
        let said = server.call(tool, arguments.clone());
        assert_eq!(reason(&said), expected, "{tool} {arguments}: {said}");
    };
    for file in ["Sub/Inner/Private/p.md", "sub/INNER/private/none.md", "door/p.md"] {
        refused("file_read", json!({ "file": file }), "note_missing");
    }
    refused("file_read", json!({ "file": "Sub/Inner/x.secret.md" }), "path_forbidden");
    refused("file_create", json!({ "file": "Sub/Inner/y.secret.md", "content": "" }), "path_forbidden");
    refused("file_create", json!({ "file": "Sub/Inner/Private/new.md", "content": "" }), "path_forbidden");
    refused("file_append", json!({ "file": "Sub/Inner/Law.md", "content": "x" }), "path_forbidden");
    refused("file_move", json!({ "from": "Sub/Inner/Deep", "to": "Deep" }), "path_forbidden");
    // Elsewhere its rules would be unknown.
    for from in ["Sub/Inner", "Sub"] {
        refused("file_move", json!({ "from": from, "to": "Elsewhere" }), "path_forbidden");
    }
    assert_eq!(outer.everything(), before);
    let found = server.done("search_content", json!({ "vault": "outer", "query": "lantern" })).to_string();
    assert!(found.contains("Sub/Inner/open.md") && !found.contains("zqsecret"), "{found}");
    server.done("file_append", json!({ "vault": "outer", "file": "Sub/Inner/open.md", "content": "x" }));
    outer.write("Sub/Inner/.lapidaryignore", b"\xff");
    server.done("file_read", json!({ "vault": "outer", "file": "a.md" }));
    let said = server.call("file_read", json!({ "vault": "outer", "file": "Sub/Inner/open.md" }));
    assert_eq!(reason(&said), "path_forbidden", "{said}");
    outer.write("Sub/Inner/.lapidaryignore", b"");
    server.done("file_read", json!({ "vault": "outer", "file": "Sub/Inner/Private/p.md" }));
}

/// With `*.md` open, answers about a path below a closed file do not depend on whether the file exists.
#[test]
fn a_path_below_a_closed_file_is_answered_as_if_it_were_not_there() {
    let answers = |there: bool| {
        let vault = Vault::new(&[("a.md", b"a"), ("v1.0/b.md", b"b")]);
        if there {
            vault.write("secret.txt", b"zqsecret");
        }
        let toml = format!("[vaults.notes]\npath = {:?}\nallow = [\"**/*.md\"]\n", vault.path());
        let mut server = configured(&vault, &toml);
        let mut said = Vec::new();
        for file in ["secret.txt/x.md", "secret.txt/deep/x.md"] {
            said.push(server.call("file_read", json!({ "file": file })));
            said.push(server.call("file_list", json!({ "directory": "secret.txt" })));
            for dry_run in [true, false] {
                said.push(server.call("file_create", json!({ "file": file, "content": "x", "dry_run": dry_run })));
                said.push(server.call("file_move", json!({ "from": "a.md", "to": file, "dry_run": dry_run })));
                said.push(server.call("file_append", json!({ "file": file, "content": "x", "dry_run": dry_run })));
            }
        }
        server.done("file_create", json!({ "file": "v1.0/new.md", "content": "x" }));
        server.done("file_create", json!({ "file": "New folder/new.md", "content": "x" }));
        said
    };
    let (with, without) = (answers(true), answers(false));
    assert_eq!(with, without);
    assert!(with.iter().all(|said| !said.to_string().contains("\"created\"")), "{with:#?}");
}

#[test]
fn a_pattern_that_means_nothing_ends_the_start() {
    let vault = Vault::new(&[]);
    let toml = format!("[vaults.notes]\npath = {:?}\ndeny = [\"!x\"]\n", vault.path());
    let (status, said) = Server::spawn(configured_command(&vault, &toml)).end();
    assert_eq!(status.code(), Some(2), "{said}");
    assert!(said.contains("`deny` of the vault 'notes'") && said.contains("`!x`"), "{said}");
}

#[test]
fn what_obsidian_excludes_and_folders_to_skip() {
    let settings = br#"{"userIgnoreFilters": ["Archive/"]}"#;
    let vault = Vault::new(&[
        ("Archive/a.md", b"a"),
        ("x/node_modules/b.md", b"b"),
        ("x/target/c.md", b"c"),
        (".obsidian/app.json", settings),
    ]);
    let read = |environment: &[(&str, &str)], file: &str| {
        let mut server = vault.serve_with(&[], environment).open(Era::Modern);
        server.call("file_read", json!({ "file": file }))["isError"] != true
    };
    assert!(read(&[], "Archive/a.md") && !read(&[("LAPIDARY_EXCLUDED_FILES", "hide")], "Archive/a.md"));
    let skip = [("LAPIDARY_SKIP_FOLDERS", "target")];
    assert!(!read(&[], "x/node_modules/b.md") && read(&skip, "x/node_modules/b.md"));
    assert!(read(&[], "x/target/c.md") && !read(&skip, "x/target/c.md"));
}

#[cfg(unix)]
#[test]
fn links_lead_out_of_the_vault_only_where_the_owner_says() {
    let vault = Vault::new(&[(".lapidaryignore", b"ext/private/\n")]);
    for file in ["shared/a.md", "shared/private/b.md", "other/a.md"] {
        let file = vault.path().with_file_name(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, b"a").unwrap();
    }
    for (at, target) in [("ext", "../shared"), ("other", "../other")] {
        std::os::unix::fs::symlink(target, vault.path().join(at)).unwrap();
    }
    let shared = vault.path().with_file_name("shared");
    let toml = format!("[vaults.Notes]\npath = {:?}\nfollow = [{shared:?}]\n", vault.path());
    let mut server = configured(&vault, &toml);
    server.done("str_replace", edit("ext/a.md"));
    server.done("obsidian_write_note", create("ext/new/x.md"));
    assert_eq!(std::fs::read(shared.join("a.md")).unwrap(), b"b");
    assert_eq!(std::fs::read(shared.join("new/x.md")).unwrap(), b"x");
    assert_eq!(server.refused("file_read", json!({ "file": "ext/private/b.md" })), "note_missing");
    assert_eq!(subreason(&server.call("file_read", json!({ "file": "other/a.md" }))), "leads_outside");
    let environment = [("LAPIDARY_FOLLOW_LINKS", shared.to_str().unwrap())];
    vault.serve_with(&[], &environment).open(Era::Modern).done("file_read", json!({ "file": "ext/a.md" }));
    let mut server = vault.serve().open(Era::Modern);
    assert_eq!(subreason(&server.call("file_read", json!({ "file": "ext/a.md" }))), "leads_outside");
}

#[test]
fn a_closed_path_that_matches_nothing_is_warned_about_with_the_nearest_name() {
    let vault = Vault::new(&[("Personen/Anna.md", b"a"), ("Tagebuch/x.md", b"x"), (".lapidaryignore", b"Personn/\n")]);
    let environment = [("OBSIDIAN_DENY_PATHS", "Persnen,Tagebuch"), ("LAPIDARY_APPROVAL_RULES", "ask path=Tagbuch")];
    let stderr = vault.path().parent().unwrap().join("stderr");
    let mut command = vault.command();
    command
        .arg("--vault")
        .arg(vault.path())
        .envs(environment)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null());
    let mut server = command.stderr(std::fs::File::create(&stderr).unwrap()).spawn().unwrap();
    // The warnings come from a separate thread.
    let mut said = String::new();
    while said.matches("matches nothing").count() < 3 {
        std::thread::sleep(std::time::Duration::from_millis(20));
        said = std::fs::read_to_string(&stderr).unwrap();
        assert!(server.try_wait().unwrap().is_none(), "{said}");
    }
    server.kill().unwrap();
    server.wait().unwrap();
    for (rule, nearest) in [("Persnen", "Personen"), ("Personn/", "Personen"), ("path=Tagbuch", "Tagebuch")] {
        let line = said.lines().find(|line| line.contains(&format!("`{rule}`"))).unwrap_or_else(|| panic!("{said}"));
        assert!(line.contains(&format!("did you mean `{nearest}`?")), "{line}");
    }
}
