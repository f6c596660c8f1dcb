//! Every change can be undone, is shown only to callers that may know of it, and is exported faithfully.

use std::{io::Write, process::Command};

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, files_below};

fn checkpoint(answer: &Value) -> String {
    answer["checkpoint"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
}

fn restored(server: &mut Server, answer: &Value) -> Value {
    server.done("checkpoint_restore", json!({ "id": checkpoint(answer) }))
}

/// A name that Windows refuses is refused for new notes; an existing one is not ours to lose.
#[test]
fn a_note_comes_back_under_a_name_that_no_new_note_could_have() {
    let vault = Vault::new(&[("Why?.md", b"because\n"), ("What is it?/a.md", b"a\n")]);
    let before = vault.everything();
    let mut server = vault.serve_with(&[], &[("LAPIDARY_APPROVAL", "destroy=allow")]).open(Era::Modern);
    let hash = server.done("file_read", json!({ "file": "Why?.md" }))["contentHash"].clone();
    let gone = json!({ "file": "Why?.md", "trash": false, "expected_content_hash": hash });
    let deleted = server.done("file_delete", gone);
    restored(&mut server, &deleted);
    assert_eq!(vault.everything(), before);
    let renamed = server.done("file_move", json!({ "from": "Why?.md", "to": "Why.md" }));
    restored(&mut server, &renamed);
    assert_eq!(vault.everything(), before);
    let moved = server.done("file_move", json!({ "from": "What is it?/a.md", "to": "a.md" }));
    std::fs::remove_dir(vault.path().join("What is it?")).unwrap();
    restored(&mut server, &moved);
    assert_eq!(vault.everything(), before, "also in a folder of such a name");
    assert_eq!(server.refused("file_create", json!({ "file": "How?.md", "content": "" })), "name_invalid");
}

#[test]
fn a_file_in_the_way_goes_to_a_trash_even_without_a_configured_one() {
    let notes: &[(&str, &[u8])] =
        &[("x.md", b"x\n"), ("y.md", b"y\n"), (".obsidian/app.json", br#"{"trashOption": "none"}"#)];
    let vault = Vault::new(notes);
    let mut server = vault.serve().open(Era::Modern);
    let made = server.done("file_create", json!({ "file": "new.md", "content": "new\n" }));
    restored(&mut server, &made);
    assert_eq!(vault.read(".trash/new.md"), b"new\n");
    server.done("file_move", json!({ "from": "x.md", "to": "y.md", "on_conflict": "overwrite" }));
    assert_eq!((vault.read("y.md"), vault.read(".trash/y.md")), (b"x\n".to_vec(), b"y\n".to_vec()));
}

#[test]
fn a_move_is_compared_and_undone_by_either_path() {
    let vault = Vault::new(&[("a.md", b"a\n"), ("b.md", b"[[a]]\n")]);
    let before = vault.everything();
    let mut server = vault.serve().open(Era::Modern);
    let moved = server.done("file_move", json!({ "from": "a.md", "to": "n/c.md" }));
    let id = checkpoint(&moved);
    let by_path = json!({ "id": id, "path": "n/c.md" });
    assert_eq!(server.done("checkpoint_read", by_path.clone())["path"], "a.md");
    let diff = server.done("checkpoint_diff", by_path.clone());
    assert_eq!(diff["unifiedDiff"], "rename from a.md\nrename to n/c.md\n");
    let back = server.done("checkpoint_restore", by_path);
    assert_eq!(back["files"], json!([{ "path": "a.md", "outcome": "moved back" }]));
    assert_eq!((vault.read("a.md"), vault.read("b.md")), (before["a.md"].clone(), b"[[c]]\n".to_vec()));
}

#[test]
fn the_move_of_a_folder_can_be_looked_at() {
    let vault = Vault::new(&[("Inbox/a.md", b"a\n"), ("b.md", b"[[Inbox/a]]\n")]);
    let mut server = vault.serve().open(Era::Modern);
    let moved = server.done("file_move", json!({ "from": "Inbox", "to": "Old" }));
    let diff = server.done("checkpoint_diff", json!({ "id": checkpoint(&moved) }))["unifiedDiff"].clone();
    let expected = "rename from Inbox\nrename to Old\n--- b.md\n+++ b.md\n@@ -1 +1 @@\n-[[Inbox/a]]\n+[[a]]\n";
    assert_eq!(diff, expected);
}

#[test]
fn an_unreadable_file_does_not_block_moving_and_renaming_others() {
    let vault = Vault::new(&[("a.md", b"# H\n"), ("b.md", b"[[a]] [[a#H]]\n")]);
    vault.write("large.canvas", &vec![b' '; 2000]);
    vault.write("large.md", &[b"[[a]]\n".as_slice(), &[b'x'; 2000]].concat());
    let mut server = vault.serve_with(&[], &[("LAPIDARY_MAX_FILE_BYTES", "1000")]).open(Era::Modern);
    // The section is the whole note.
    let hash = server.done("file_read", json!({ "file": "a.md" }))["contentHash"].clone();
    let rename = json!({ "file": "a.md", "heading": "H", "newText": "I", "expected_section_hash": hash });
    let renamed = server.done("heading_rename", rename);
    assert_eq!((&renamed["referencesUpdated"], &renamed["filesUnread"]), (&json!(1), &json!(1)), "{renamed:#}");
    let moved = server.done("file_move", json!({ "from": "a.md", "to": "c.md" }));
    assert_eq!((&moved["linksUpdated"], &moved["filesUnread"]), (&json!(2), &json!(1)), "{moved:#}");
    assert_eq!(vault.read("b.md"), b"[[c]] [[c#I]]\n");
    let large = server.done("file_move", json!({ "from": "large.md", "to": "n/large.md" }));
    assert_eq!(large["moved"], true);
    assert!(vault.read("n/large.md").starts_with(b"[[a]]"));
}

/// A caller that may not know of an ignored file must not learn which changes it took part in.
#[test]
fn changes_are_not_found_by_a_file_that_is_hidden() {
    let vault = Vault::new(&[("p.md", b"p\n"), ("Secret/s.md", b"[[p]]\n"), ("o.md", b"[[p]]\n")]);
    vault.serve().open(Era::Modern).done("file_move", json!({ "from": "p.md", "to": "q.md" }));
    vault.write(".lapidaryignore", b"Secret/\n");
    let mut server = vault.serve().open(Era::Modern);
    let mut found =
        |path: &str| server.done("checkpoint_list", json!({ "path": path }))["checkpoints"].as_array().unwrap().len();
    for (path, expected) in [("o.md", 1), ("q.md", 1), ("p.md", 1), ("Secret/s.md", 0), ("Secret", 0), ("none.md", 0)] {
        assert_eq!(found(path), expected, "{path}");
    }
}

/// A refusal has no room for it, so its caller has not been told.
#[test]
fn a_late_save_is_told_with_the_next_answer_and_not_lost_with_a_refusal() {
    let vault = Vault::new(&[("a.md", b"old\n"), ("b.md", b"b\n")]);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern);
    let mut held = std::fs::File::options().write(true).open(vault.path().join("a.md")).unwrap();
    server.done("str_replace", json!({ "file": "a.md", "find": "old", "replace": "new" }));
    held.write_all(b"late").unwrap();
    drop(held);
    // It is handled in the background; until then calls are refused, and for a while after that.
    let is_there = || files_below(&vault.path()).keys().any(|path| path.contains(".lapidary-"));
    for _ in 0..600 {
        server.refused("file_read", json!({ "file": "missing.md" }));
        if !is_there() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    for _ in 0..3 {
        server.refused("file_read", json!({ "file": "missing.md" }));
    }
    let notice = server.done("file_read", json!({ "file": "b.md" }))["notice"].clone();
    assert!(notice.as_str().is_some_and(|notice| notice.contains("`a.md`")), "{notice}");
    assert!(server.done("file_read", json!({ "file": "b.md" }))["notice"].is_null(), "once");
    let log = String::from_utf8(vault.run(&["audit", "--limit", "1000"]).stdout).unwrap();
    let saved = log.lines().find(|line| line.contains("late save")).unwrap_or_else(|| panic!("{log}"));
    assert!(saved.ends_with("  a.md"), "{saved}");
    assert!(!log.starts_with(saved), "it is among the others in order of time:\n{log}");
}

#[test]
fn an_exported_history_has_the_files_of_a_folder_that_moved_and_touches_no_other_repository() {
    let vault = Vault::new(&[("Inbox/a.md", b"one\n"), ("b.md", b"[[Inbox/a]]\n")]);
    let mut server = vault.serve().open(Era::Modern);
    server.done("str_replace", json!({ "file": "Inbox/a.md", "find": "one", "replace": "two" }));
    server.done("file_move", json!({ "from": "Inbox", "to": "Old" }));
    if Command::new("git").arg("--version").output().is_err() {
        return;
    }
    let out = vault.path().parent().unwrap().join("out");
    let theirs = vault.path().parent().unwrap().join("theirs");
    let git = |folder: &std::path::Path, arguments: &[&str]| {
        let output = Command::new("git").current_dir(folder).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    std::fs::create_dir(&theirs).unwrap();
    git(&theirs, &["init", "--quiet"]);
    let mut export = vault.command();
    // As in a git hook.
    export.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("GIT_DIR", theirs.join(".git"));
    let exported = export.arg("--vault").arg(vault.path()).args(["checkpoints", "export", "--git"]).arg(&out).output();
    assert_eq!(exported.as_ref().unwrap().status.code(), Some(0), "{exported:?}");
    assert_eq!(git(&theirs, &["for-each-ref"]), "");
    let before_the_move = git(&out, &["ls-tree", "-r", "--name-only", "HEAD~1"]);
    assert_eq!(before_the_move, "Inbox/a.md\nb.md\n");
    assert_eq!(git(&out, &["show", "HEAD~1:b.md"]), "[[Inbox/a]]\n");
}
