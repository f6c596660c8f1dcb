//! Moves, deletions and changes, on the wire and on disk, and how to undo them.

use serde_json::{Value, json};

use crate::harness::{Era, Vault};

const NOTES: &[(&str, &[u8])] = &[
    ("Inbox/Idea.md", b"\xef\xbb\xbf# Idea\r\nsee [plan](../Plan.md) and [[#Idea]]\r\n"),
    ("Plan.md", b"---\nup: \"[[Inbox/Idea]]\"\n---\n[[Idea|Idea]], ![[Idea#Idea|x]], [i](Inbox/Idea.md#Idea \"t\")\n"),
    (".obsidian/app.json", br#"{"trashOption": "local"}"#),
    (
        "Board.canvas",
        br#"{"nodes":[{"id":"1","type":"file","file":"Inbox/Idea.md","x":0}, {"type":"text","text":"[[Idea]]\n"}]}"#,
    ),
    ("Closed/Secret.md", b"[[Idea]] stays\n"),
    ("Inbox/raw.bin", b"\x00\xff"),
];

fn checkpoint(answer: &Value) -> String {
    answer["checkpoint"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
}

#[test]
fn a_move_updates_all_links_and_is_undone_to_the_byte() {
    let vault = Vault::new(NOTES);
    let before = vault.everything();
    let mut server = vault.serve().open(Era::Modern);
    let moved = server.done("file_move", json!({ "from": "Inbox/Idea.md", "to": "Projects/2026/Cut.md" }));
    assert_eq!((&moved["to"], &moved["linksUpdated"]), (&json!("Projects/2026/Cut.md"), &json!(8)), "{moved:#}");
    assert_eq!(vault.read("Projects/2026/Cut.md"), b"\xef\xbb\xbf# Idea\r\nsee [plan](Plan.md) and [[#Idea]]\r\n");
    let plan = "---\nup: \"[[Cut]]\"\n---\n[[Cut|Cut]], ![[Cut#Idea|x]], [i](Cut.md#Idea \"t\")\n";
    assert_eq!(String::from_utf8(vault.read("Plan.md")).unwrap(), plan);
    let board = String::from_utf8(vault.read("Board.canvas")).unwrap();
    assert!(board.contains(r#""file":"Projects/2026/Cut.md","x":0}"#) && board.contains(r#"[[Cut]]\n"#), "{board}");
    let undone = server.done("checkpoint_restore", json!({ "id": checkpoint(&moved) }));
    assert_eq!(vault.everything(), before, "{undone:#}");
    // And the undoing is undone like anything else.
    server.done("checkpoint_restore", json!({ "id": checkpoint(&undone) }));
    assert_eq!(String::from_utf8(vault.read("Plan.md")).unwrap(), plan);
    assert!(!vault.everything().contains_key("Inbox/Idea.md"));
}

#[test]
fn of_a_canvas_only_the_bytes_of_the_link_change() {
    let card = r#"{"nodes":[{"type":"text","text":"Gr\u00fc\u00DFe \/ [[Idea]], \u00fc [[Idea|x]] \/"}]}"#;
    let vault = Vault::new(&[("Idea.md", b"# Idea\n"), ("Board.canvas", card.as_bytes())]);
    vault.serve().open(Era::Modern).done("file_move", json!({ "from": "Idea.md", "to": "Cut.md" }));
    assert_eq!(String::from_utf8(vault.read("Board.canvas")).unwrap(), card.replace("[[Idea", "[[Cut"));
}

#[test]
fn links_that_may_not_be_changed_stay_and_hidden_ones_are_not_even_counted() {
    for (environment, left) in [
        (("OBSIDIAN_WRITE_PATHS", "Inbox,Plan.md,Board.canvas,Projects"), json!(1)),
        (("OBSIDIAN_DENY_PATHS", "Closed"), Value::Null),
    ] {
        let vault = Vault::new(NOTES);
        let mut server = vault.serve_with(&[], &[environment]).open(Era::Modern);
        let moved = server.done("file_move", json!({ "from": "Inbox/Idea.md", "to": "Projects/Cut.md" }));
        assert_eq!((&moved["linksUpdated"], &moved["linksLeft"]), (&json!(6), &left), "{moved:#}");
        assert_eq!(vault.read("Closed/Secret.md"), b"[[Idea]] stays\n");
    }
}

#[test]
fn a_folder_moves_with_all_that_is_in_it() {
    let vault = Vault::new(NOTES);
    let before = vault.everything();
    let mut server = vault.serve().open(Era::Modern);
    let moved = server.done("file_move", json!({ "from": "Inbox", "to": "Archive/In" }));
    assert!(!vault.path().join("Inbox").exists());
    assert!(vault.read("Archive/In/Idea.md").ends_with(b"see [plan](Plan.md) and [[#Idea]]\r\n"));
    server.done("checkpoint_restore", json!({ "id": checkpoint(&moved) }));
    assert_eq!(vault.everything(), before);
    let inside = server.refused("file_move", json!({ "from": "Inbox", "to": "Inbox/Deeper" }));
    assert_eq!(inside, "invalid_arguments");
}

/// The replies of two calls, without values that differ between any two runs.
fn said(answer: &Value) -> String {
    let mut answer = answer.clone();
    for part in ["checkpoint", "id", "time"] {
        if let Some(value) = answer.get_mut("structuredContent").and_then(|content| content.get_mut(part)) {
            *value = Value::Null;
        }
    }
    answer.as_object_mut().unwrap().remove("content");
    answer.to_string()
}

#[test]
fn the_move_of_a_folder_is_the_same_whether_or_not_something_hidden_is_in_it() {
    let hidden: &[(&str, &[u8])] =
        &[("Inbox/Private/x.md", b"[[Idea]]\n"), ("Inbox/y.secret.md", b"y"), ("Inbox/.dot", b"z")];
    for (rule, outcome) in [
        (("OBSIDIAN_DENY_PATHS", "Inbox/Private"), false),
        (("", "/Inbox/Private/"), false),
        (("", "/Inbox/*/x.md"), false),
        (("", "Private/\n*.secret.md"), true),
        (("OBSIDIAN_DENY_PATHS", "Elsewhere"), true),
    ] {
        let mut twins = [true, false].map(|full| {
            let vault = Vault::new(NOTES);
            std::fs::create_dir(vault.path().join("Inbox/Private")).unwrap();
            if full {
                hidden.iter().for_each(|(path, bytes)| vault.write(path, bytes));
            }
            let is_closed = |path: &str| rule.1 != "Elsewhere" || path.contains("/.");
            if rule.0.is_empty() {
                vault.write(".lapidaryignore", format!("{}\n*.secret.md\n", rule.1).as_bytes());
            } else if full {
                hidden.iter().filter(|(path, _)| !is_closed(path) || path.contains(".secret")).for_each(|(path, _)| {
                    std::fs::remove_file(vault.path().join(path)).unwrap();
                });
            }
            let environment: &[(&str, &str)] = if rule.0.is_empty() { &[] } else { &[rule] };
            let server = vault.serve_with(&[], environment).open(Era::Modern);
            (vault, server)
        });
        let answers = twins.each_mut().map(|(vault, server)| {
            let moving = |dry_run: bool| json!({ "from": "Inbox", "to": "Archive/In", "dry_run": dry_run });
            let shown = server.call("file_move", moving(true));
            let moved = server.call("file_move", moving(false));
            assert_eq!(moved["isError"] != json!(true), outcome, "{rule:?} {moved:#}");
            let listed = server.call("obsidian_list_notes", json!({ "path": "", "depth": 5 }));
            let mut history = server.call("checkpoint_list", json!({}));
            if let Some(kept) = history["structuredContent"]["checkpoints"].get_mut(0) {
                kept["id"] = Value::Null;
                kept["time"] = Value::Null;
            }
            let last = vault.log().pop().unwrap();
            let log: Vec<&Value> = ["files", "moved_to", "path", "outcome"].map(|part| &last[part]).to_vec();
            format!("{}\n{}\n{}\n{}\n{log:?}", said(&shown), said(&moved), said(&listed), said(&history))
        });
        assert_eq!(answers[0], answers[1], "{rule:?}");
        let (vault, _) = &twins[0];
        let place = if outcome { "Archive/In" } else { "Inbox" };
        assert_eq!(vault.read(&format!("{place}/.dot")), b"z", "nothing is left behind");
    }
}

#[test]
fn an_empty_folder_does_not_block_undoing_the_move_of_one() {
    for left_by in ["undo", "a person", "a system"] {
        let vault = Vault::new(&[("bb/a.md", b"a"), ("n.md", b"n")]);
        let mut server = vault.serve().open(Era::Modern);
        let first = server.done("file_move", json!({ "from": "bb", "to": "ff" }));
        if left_by == "undo" {
            let second = server.done("file_move", json!({ "from": "n.md", "to": "bb/x.md" }));
            server.done("checkpoint_restore", json!({ "id": checkpoint(&second) }));
            // It was made for that file alone.
            assert!(!vault.path().join("bb").exists());
        } else {
            std::fs::create_dir(vault.path().join("bb")).unwrap();
        }
        if left_by == "a system" {
            vault.write("bb/.DS_Store", b"icons");
        }
        let undone = server.done("checkpoint_restore", json!({ "id": checkpoint(&first) }));
        assert_eq!(vault.read("bb/a.md"), b"a", "{left_by}: {undone:#}");
        assert!(!vault.path().join("ff").exists());
        assert_eq!(vault.path().join(".trash/bb/.DS_Store").exists(), left_by == "a system", "nothing is lost");
        server.done("checkpoint_restore", json!({ "id": checkpoint(&undone) }));
        assert_eq!(vault.read("ff/a.md"), b"a");
        assert_eq!(
            vault.path().join("bb").is_dir(),
            left_by != "undo",
            "an empty folder that was there is back as well"
        );
    }
    let vault = Vault::new(&[("bb/a.md", b"a")]);
    let mut server = vault.serve().open(Era::Modern);
    let first = server.done("file_move", json!({ "from": "bb", "to": "ff" }));
    vault.write("bb/mine.md", b"mine");
    assert_eq!(server.refused("checkpoint_restore", json!({ "id": checkpoint(&first) })), "path_is_directory");
    assert_eq!((vault.read("bb/mine.md"), vault.read("ff/a.md")), (b"mine".to_vec(), b"a".to_vec()));
}

#[test]
fn an_empty_folder_is_deleted_and_comes_back() {
    let vault = Vault::new(&[("a.md", b"a"), ("full/b.md", b"b")]);
    std::fs::create_dir_all(vault.path().join("empty/inner")).unwrap();
    let mut server = vault.serve().open(Era::Modern);
    let gone = server.done("file_delete", json!({ "file": "empty" }));
    assert_eq!((&gone["trashed"], &gone["trashedTo"]), (&json!(true), &json!(".trash")), "{gone:#}");
    assert!(!vault.path().join("empty").exists() && vault.path().join(".trash/empty").is_dir());
    server.done("checkpoint_restore", json!({ "id": checkpoint(&gone) }));
    assert!(vault.path().join("empty").is_dir());
    assert_eq!(server.refused("file_delete", json!({ "file": "full" })), "path_is_directory");
    let mut closed = vault.serve_with(&[], &[("OBSIDIAN_DENY_PATHS", "empty/secret")]).open(Era::Modern);
    assert_eq!(closed.refused("file_delete", json!({ "file": "empty" })), "path_forbidden");
}

#[test]
fn a_deleted_note_does_not_come_back_over_a_new_one_of_its_name() {
    let vault = Vault::new(&[("g.md", b"old")]);
    let mut server = vault.serve().open(Era::Modern);
    let gone = server.done("file_delete", json!({ "file": "g.md" }));
    vault.write("g.md", b"a user's new text");
    assert_eq!(server.refused("checkpoint_restore", json!({ "id": checkpoint(&gone) })), "file_exists");
    assert_eq!(vault.read("g.md"), b"a user's new text");
    let hash = server.done("file_read", json!({ "file": "g.md" }))["contentHash"].clone();
    let back = json!({ "id": checkpoint(&gone), "path": "g.md", "expectedHash": hash });
    let back = server.done("checkpoint_restore", back);
    assert_eq!(back["files"][0]["changedSince"], true, "{back:#}");
    assert_eq!(vault.read("g.md"), b"old");
    server.done("checkpoint_restore", json!({ "id": checkpoint(&back) }));
    assert_eq!(vault.read("g.md"), b"a user's new text");
}

#[test]
fn a_trash_that_is_not_a_folder_is_reported() {
    let vault =
        Vault::new(&[("g.md", b"old"), (".obsidian/app.json", br#"{"trashOption": "local"}"#), (".trash", b"")]);
    let mut server = vault.serve().open(Era::Modern);
    let answer = server.call("file_delete", json!({ "file": "g.md" }));
    assert!(answer["structuredContent"].to_string().contains("`.trash` in the vault is not a folder"), "{answer:#}");
    #[cfg(unix)]
    {
        std::fs::remove_file(vault.path().join(".trash")).unwrap();
        std::os::unix::fs::symlink("nowhere", vault.path().join(".trash")).unwrap();
        let answer = server.call("file_delete", json!({ "file": "g.md" }));
        assert!(
            answer["structuredContent"].to_string().contains("`.trash` in the vault is not a folder"),
            "{answer:#}"
        );
    }
    assert_eq!(vault.read("g.md"), b"old");
}

#[test]
fn a_note_that_a_batch_makes_and_deletes_was_never_there() {
    let vault = Vault::new(&[("a.md", b"a")]);
    let mut server = vault.serve().open(Era::Modern);
    let operations = json!([
        { "tool": "file_create", "args": { "file": "new.md", "content": "one" } },
        { "tool": "str_replace", "args": { "file": "new.md", "find": "one", "replace": "two" } },
        { "tool": "file_delete", "args": { "file": "new.md" } },
        { "tool": "str_replace", "args": { "file": "a.md", "find": "a", "replace": "b" } },
    ]);
    server.done("bulk_apply", json!({ "ops": operations }));
    assert_eq!(vault.everything().into_iter().collect::<Vec<_>>(), [("a.md".to_owned(), b"b".to_vec())]);
}

#[test]
fn deleted_files_go_to_the_configured_trash_and_come_back() {
    for (setting, there) in [("local", ".trash/Idea.md"), ("system", ""), ("none", "")] {
        let vault = Vault::new(NOTES);
        vault.write(".obsidian/app.json", format!(r#"{{"trashOption": "{setting}"}}"#).as_bytes());
        let before = vault.read("Inbox/Idea.md");
        let mut server = vault.serve_with(&[], &[("LAPIDARY_APPROVAL", "destroy=allow")]).open(Era::Modern);
        let target = json!({ "type": "path", "path": "Inbox/Idea.md" });
        let hash = server.done("file_read", json!({ "file": "Inbox/Idea.md" }))["contentHash"].clone();
        let gone = server.done("obsidian_delete_note", json!({ "target": target, "expectedHash": hash }));
        assert_eq!((&gone["deleted"], &gone["trashed"]), (&json!(true), &json!(setting != "none")), "{gone:#}");
        assert!(!vault.path().join("Inbox/Idea.md").exists());
        let trash = vault.path().parent().unwrap().join(".local/share/Trash");
        match setting {
            "local" => assert_eq!(vault.read(there), before),
            "system" => {
                assert_eq!(std::fs::read(trash.join("files/Idea.md")).unwrap(), before);
                let info = std::fs::read_to_string(trash.join("info/Idea.md.trashinfo")).unwrap();
                assert!(info.contains("/Notes/Inbox/Idea.md\n"), "{info}");
            }
            _ => assert!(!trash.exists()),
        }
        server.done("checkpoint_restore", json!({ "id": checkpoint(&gone), "path": "Inbox/Idea.md" }));
        assert_eq!(vault.read("Inbox/Idea.md"), before);
    }
}

#[test]
fn a_person_is_asked_before_a_note_is_deleted_where_that_is_possible() {
    for (setting, asked) in [("true", true), ("false", false)] {
        let vault = Vault::new(NOTES);
        let mut server =
            vault.serve_with(&[], &[("OBSIDIAN_DELETE_ELICITATION", setting)]).with_elicitation().open(Era::Modern);
        let call = json!({ "name": "obsidian_delete_note", "arguments": { "target": { "path": "Plan.md" } } });
        let result = server.request("tools/call", call)["result"].clone();
        assert_eq!(result["resultType"] == "input_required", asked, "{result:#}");
        assert_eq!(vault.path().join("Plan.md").exists(), asked);
    }
    let vault = Vault::new(NOTES);
    let mut server = vault.serve().open(Era::Modern);
    server.done("obsidian_delete_note", json!({ "target": { "path": "Plan.md" } }));
    // Permanent deletion is another matter.
    let hash = server.done("file_read", json!({ "file": "Inbox/Idea.md" }))["contentHash"].clone();
    let call = json!({ "file": "Inbox/Idea.md", "trash": false, "expected_content_hash": hash });
    assert_eq!(server.refused("file_delete", call), "approval_pending");
}

#[test]
fn versions_are_listed_read_and_compared_as_far_as_the_caller_may_see_the_files() {
    let vault = Vault::new(NOTES);
    let mut server = vault.serve().open(Era::Modern);
    let old = server.done("file_read", json!({ "file": "Plan.md" }))["contentHash"].clone();
    let edit = |file: &str, find: &str| json!({ "file": file, "find": find, "replace": "changed" });
    let first = checkpoint(&server.done("str_replace", edit("Plan.md", "[i](")));
    let second = checkpoint(&server.done("str_replace", edit("Closed/Secret.md", "stays")));
    let listed = server.done("checkpoint_list", json!({}));
    let ids: Vec<&str> =
        listed["checkpoints"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [&*second, &*first]);
    assert_eq!(listed["checkpoints"][0]["tool"], "str_replace");
    let of_path = server.done("checkpoint_list", json!({ "path": "Plan.md" }));
    assert_eq!(
        of_path["checkpoints"][0]["files"],
        json!([{
            "path": "Plan.md",
            "what": "changed",
            "hashBefore": old.as_str().unwrap()[..15],
            "hashAfter": server.done("file_read", json!({ "file": "Plan.md" }))["contentHash"].as_str().unwrap()[..15],
        }])
    );
    let page = server.done("checkpoint_list", json!({ "limit": 1 }));
    assert_eq!(page["nextBefore"], json!(second));
    assert_eq!(server.done("checkpoint_list", json!({ "limit": 1, "before": second }))["checkpoints"][0]["id"], first);
    let read = server.done("checkpoint_read", json!({ "id": first[..6], "path": "Plan.md" }));
    assert_eq!(read["contentHash"], old);
    let diff = server.done("file_diff", json!({ "file": "Plan.md", "fromHash": old }));
    assert!(diff["unifiedDiff"].as_str().unwrap().contains("+[[Idea|Idea]], ![[Idea#Idea|x]], changed"), "{diff:#}");
    let stale = json!({ "id": first, "path": "Plan.md", "expectedHash": "sha256:000000000000" });
    assert_eq!(server.refused("checkpoint_restore", stale), "stale_precondition");
    drop(server);

    // Another client sees only what it may read, and cannot even name the rest.
    let narrow = vault.serve_with(&[], &[("OBSIDIAN_DENY_PATHS", "Closed"), ("LAPIDARY_MAX_FAILURES", "0")]);
    let mut narrow = narrow.open(Era::Modern);
    let listed = narrow.done("checkpoint_list", json!({}));
    assert_eq!(listed["checkpoints"].as_array().unwrap().len(), 1);
    for (tool, call) in [
        ("checkpoint_read", json!({ "id": second, "path": "Plan.md" })),
        ("checkpoint_diff", json!({ "id": second })),
        ("checkpoint_restore", json!({ "id": second })),
        ("checkpoint_list", json!({ "before": second })),
    ] {
        let hidden = narrow.call(tool, call.clone());
        assert_eq!(hidden["isError"], true);
        let mut missing = call;
        let key = if tool == "checkpoint_list" { "before" } else { "id" };
        missing[key] = json!("0123456789abcdef");
        let missing = narrow.call(tool, missing);
        assert_eq!(hidden.to_string().replace(&second, "0123456789abcdef"), missing.to_string());
    }
}

#[test]
fn a_late_save_is_kept_and_the_next_caller_is_told_once() {
    use std::io::{Seek, Write};
    let vault = Vault::new(NOTES);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern);
    let mut held = std::fs::File::options().write(true).open(vault.path().join("Plan.md")).unwrap();
    server.done("str_replace", json!({ "file": "Plan.md", "find": "[i](", "replace": "(" }));
    held.rewind().unwrap();
    held.write_all(b"typed by a person").unwrap();
    held.set_len(17).unwrap();
    drop(held);
    // It is handled in the background, and at the latest by the next change.
    let mut told = Value::Null;
    for _ in 0..600 {
        let answer = server.done("file_read", json!({ "file": "Inbox/Idea.md" }));
        if answer["notice"].is_string() {
            told = answer["notice"].clone();
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let told = told.as_str().expect("a caller is told");
    assert!(told.contains("`Plan.md`") && told.contains("checkpoint_read"), "{told}");
    let listed = server.done("checkpoint_list", json!({ "path": "Plan.md" }));
    assert_eq!(listed["checkpoints"][0]["kind"], "late_save", "{listed:#}");
    let id = &listed["checkpoints"][0]["id"];
    let kept = server.done("checkpoint_read", json!({ "id": id, "path": "Plan.md" }));
    assert_eq!(kept["content"], "typed by a person");
    assert!(!vault.everything().keys().any(|path| path.contains(".lapidary-")), "nothing stays");
    assert!(vault.log().iter().any(|line| line["event"] == "late_save"));
    assert!(server.done("file_read", json!({ "file": "Inbox/Idea.md" }))["notice"].is_null(), "once");
}

#[test]
fn the_command_line_has_the_same() {
    let vault = Vault::new(NOTES);
    let before = vault.everything();
    let edit = vault.run(&["call", "str_replace", r#"{"file": "Plan.md", "find": "[i](", "replace": "("}"#]);
    let edit: Value = serde_json::from_slice(&edit.stdout).unwrap();
    let id = checkpoint(&edit);
    let text = |arguments: &[&str]| {
        let output = vault.run(&[&["checkpoints"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(text(&["list"]).contains(&id));
    let none = vault.run(&["checkpoints", "list", "Inbox"]);
    assert_eq!(none.status.code(), Some(1), "{none:?}");
    assert!(String::from_utf8_lossy(&none.stderr).contains("nothing has been changed there"), "{none:?}");
    assert!(text(&["show", &id[..5], "Plan.md"]).contains("[i](Inbox/Idea.md"));
    assert!(text(&["diff", &id]).contains("\n-[[Idea|Idea]]"));
    assert!(text(&["restore", &id, "--dry-run"]).contains("\n+[[Idea|Idea]]"));
    assert_ne!(vault.everything(), before);
    text(&["restore", &id]);
    assert_eq!(vault.everything(), before);
    let out = vault.path().parent().unwrap().join("out");
    text(&["export", out.join("files").to_str().unwrap()]);
    let exported = crate::harness::files_below(&out.join("files"));
    assert!(
        exported.iter().any(|(path, bytes)| path.ends_with(&format!("{id}/Plan.md")) && *bytes == before["Plan.md"])
    );
    let again = vault.run(&["checkpoints", "export", out.join("files").to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(1), "nothing is overwritten");
    let unknown = vault.run(&["checkpoints", "show", "abcd"]);
    assert_eq!(unknown.status.code(), Some(1));
    if std::process::Command::new("git").arg("--version").output().is_ok() {
        let repository = out.join("git");
        let mut export = vault.command();
        export.env("PATH", std::env::var_os("PATH").unwrap_or_default()).arg("--vault").arg(vault.path());
        let exported = export.args(["checkpoints", "export", "--git"]).arg(&repository).output().unwrap();
        assert_eq!(exported.status.code(), Some(0), "{exported:?}");
        let log =
            std::process::Command::new("git").current_dir(&repository).args(["log", "--format=%s"]).output().unwrap();
        let log = String::from_utf8(log.stdout).unwrap();
        let expected = "Current state\nBefore checkpoint_restore (";
        assert!(log.starts_with(expected) && log.ends_with(&format!("Before str_replace ({id})\n")), "{log}");
        assert_eq!(std::fs::read(repository.join("Plan.md")).unwrap(), before["Plan.md"]);
    }
}

#[test]
fn where_a_trashed_file_went_is_said() {
    let vault = Vault::new(&[
        (".obsidian/app.json", br#"{"trashOption": "local"}"#),
        ("f/a.md", b"1\n"),
        ("g/a.md", b"2\n"),
        ("b.md", b"3\n"),
        ("c.md", b"4\n"),
    ]);
    let mut server = vault.serve_with(&["--tools", "all"], &[]).open(Era::Modern);
    let dry = server.done("file_delete", json!({ "file": "f/a.md", "dry_run": true }));
    assert_eq!((&dry["trashed"], &dry["trashedTo"]), (&json!(true), &Value::Null));
    assert_eq!(server.done("file_delete", json!({ "file": "f/a.md" }))["trashedTo"], ".trash");
    let deleted = server.done("obsidian_delete_note", json!({ "target": { "type": "path", "path": "b.md" } }));
    assert_eq!(deleted["trashedTo"], ".trash");
    let ops = json!([
        { "tool": "file_delete", "args": { "file": "./g/a.md" } },
        { "tool": "file_move", "args": { "from": "c.md", "to": "d.md" } },
    ]);
    let done = server.done("bulk_apply", json!({ "ops": ops }));
    assert_eq!(done["results"][0]["result"]["trashedTo"], ".trash", "{done:#}");
    assert_eq!(done["results"][1]["result"].get("trashedTo"), None);
    assert_eq!(vault.read(".trash/a 2.md"), b"2\n");
}

#[test]
fn a_version_that_was_written_here_is_known_after_another_change_and_a_move() {
    let vault = Vault::new(&[("d/k.md", b"one\n")]);
    let mut server = vault.serve().open(Era::Modern);
    let first = server.done("file_read", json!({ "file": "d/k.md" }))["contentHash"].clone();
    let edit = json!({ "file": "d/k.md", "find": "one", "replace": "two" });
    let second = server.done("str_replace", edit)["contentHash"].clone();
    vault.write("d/k.md", b"two\na user's\n");
    let diff = server.done("file_diff", json!({ "file": "d/k.md", "fromHash": second }));
    assert!(diff["unifiedDiff"].as_str().unwrap().contains("+a user's"), "{diff:#}");
    server.done("file_move", json!({ "from": "d/k.md", "to": "d/kk.md" }));
    server.done("file_move", json!({ "from": "d", "to": "e" }));
    for old in [&first, &second] {
        let diff = server.done("file_diff", json!({ "file": "e/kk.md", "fromHash": old }));
        assert!(diff["unifiedDiff"].as_str().unwrap().contains("+a user's"), "{diff:#}");
    }
    let history = server.done("checkpoint_list", json!({ "path": "e/kk.md" }));
    let tools: Vec<&str> =
        history["checkpoints"].as_array().unwrap().iter().map(|kept| kept["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, ["file_move", "file_move", "str_replace"], "{history:#}");
    // The file with the old name is another one.
    server.done("file_create", json!({ "file": "d/k.md", "content": "new\n" }));
    let history = server.done("checkpoint_list", json!({ "path": "e/kk.md" }));
    assert_eq!(history["checkpoints"].as_array().unwrap().len(), 3, "{history:#}");
}

#[test]
fn the_history_is_in_the_database_after_a_clean_end() {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let mut server = vault.spawn().open(Era::Modern);
    server.done("str_replace", json!({ "file": "a.md", "find": "one", "replace": "two" }));
    server.stop();
    let state = vault.path().parent().unwrap().to_owned();
    let left = crate::harness::files_below(&state);
    let logs: Vec<&String> = left
        .iter()
        .filter(|(path, bytes)| path.ends_with("checkpoints.db-wal") && !bytes.is_empty())
        .map(|(path, _)| path)
        .collect();
    assert!(left.keys().any(|path| path.ends_with("checkpoints.db")), "{:?}", left.keys());
    assert!(logs.is_empty(), "{logs:?}");
}

#[cfg(unix)]
#[test]
fn a_state_folder_that_others_can_write_is_refused_at_the_start() {
    use std::os::unix::fs::PermissionsExt;
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let state = vault.path().parent().unwrap().join("shared");
    std::fs::create_dir(&state).unwrap();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = vault.command();
    command.env("LAPIDARY_STATE_DIR", &state).args(["call", "file_read", r#"{"file": "a.md"}"#]);
    command.arg("--vault").arg(vault.path());
    let refused = command.output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("other users can write to it"), "{said}");
    assert_eq!(std::fs::read_dir(&state).unwrap().count(), 0);
}

#[test]
fn old_checkpoints_are_removed_without_a_further_change() {
    let vault = Vault::new(&[("a.md", b"0\n")]);
    let mut server = vault.serve().open(Era::Modern);
    for number in 0..5 {
        let edit = json!({ "file": "a.md", "find": number.to_string(), "replace": (number + 1).to_string() });
        server.done("str_replace", edit);
    }
    server.stop();
    let mut server =
        vault.serve_with(&[], &[("LAPIDARY_CHECKPOINT_BYTES", "3"), ("LAPIDARY_REPETITION", "off")]).open(Era::Modern);
    let kept = |server: &mut crate::harness::Server| {
        server.done("checkpoint_list", json!({}))["checkpoints"].as_array().unwrap().len()
    };
    // It is checked soon after startup, by a separate thread.
    let looks = (0..1_000).take_while(|_| kept(&mut server) > 1);
    let looks = looks.inspect(|_| std::thread::sleep(std::time::Duration::from_millis(50))).count();
    assert!(looks < 1_000, "all are still there");
}

#[test]
fn opposite_changes_are_each_undone_once() {
    const TASKS: &[u8] = b"- [ ] plain\n- [ ] other\n";
    let vault = Vault::new(&[("T.md", TASKS)]);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern);
    let task = |text: &str, status: &str| json!({ "file": "T.md", "text": text, "status": status });
    server.done("task_update", task("plain", "done"));
    server.done("task_update", task("plain", "open"));
    server.done("undo", json!({}));
    server.done("undo", json!({}));
    assert_eq!(vault.read("T.md"), TASKS);
    server.done("task_update", task("other", "done"));
    server.done("undo", json!({}));
    assert_eq!(server.refused("undo", json!({})), "nothing_to_undo");
    assert_eq!(vault.read("T.md"), TASKS);
}
