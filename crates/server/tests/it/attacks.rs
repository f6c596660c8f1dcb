//! Ways around the rules that were found by attacking the server, each as it was tried.

use std::io::Write as _;

use serde_json::json;

use crate::harness::{Era, Vault, files_below};

#[test]
fn where_reading_is_denied_a_refusal_of_a_writer_shows_nothing_of_the_note() {
    let note: &[u8] = b"# SECRETH\n\nsalary is 91,000 euro\n";
    for rule in ["deny effect=read", "ask effect=read", "deny group=read"] {
        let vault = Vault::new(&[("s.md", note)]);
        let environment = [("LAPIDARY_APPROVAL_RULES", rule), ("LAPIDARY_REPETITION", "off")];
        let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
        for (tool, arguments) in [
            ("str_replace", json!({ "file": "s.md", "find": "s\n\nqqq", "replace": "" })),
            ("str_replace", json!({ "file": "s.md", "find": "SALARY IS", "replace": "" })),
            ("apply_edits", json!({ "file": "s.md", "edits": [{ "find": "SALARY IS", "replace": "" }] })),
            ("heading_rename", json!({ "file": "s.md", "heading": "Nope", "new_name": "x" })),
            (
                "obsidian_patch_note",
                json!({
                    "target": { "path": "s.md" }, "operation": "append", "content": "x",
                    "section": { "type": "heading", "target": "Nope" },
                }),
            ),
            ("regex_replace", json!({ "glob": "**", "pattern": ".+", "replacement": "z", "dry_run": true })),
        ] {
            let result = server.call(tool, arguments.clone()).to_string();
            assert!(!result.contains("salary") && !result.contains("SECRETH"), "{rule}: {tool} {arguments}: {result}");
        }
        assert_eq!(vault.read("s.md"), note);
    }
}

#[test]
fn undoing_a_move_out_of_a_folder_that_is_closed_now_takes_nothing_away() {
    let vault = Vault::new(&[("P/a.md", b"only copy\n")]);
    let mut server = vault.serve().open(Era::Modern);
    server.done("file_move", json!({ "from": "P/a.md", "to": "Q/z.md" }));
    vault.write(".lapidaryignore", b"/P/\n");
    server.call("undo", json!({}));
    assert_eq!(vault.read("Q/z.md"), b"only copy\n");
}

#[test]
fn a_line_of_the_log_that_is_not_text_hides_no_other() {
    let vault = Vault::new(&[("a.md", b"x\n")]);
    let mut server = vault.serve().open(Era::Modern);
    server.done("str_replace", json!({ "file": "a.md", "find": "x", "replace": "y" }));
    let state = vault.path().parent().unwrap().join("state");
    let log = files_below(&state).into_keys().find(|name| name.ends_with("audit.jsonl")).unwrap();
    let mut log = std::fs::OpenOptions::new().append(true).open(state.join(log)).unwrap();
    log.write_all(b"\xff\xfe\n").unwrap();
    let logged = server.done("operation_log", json!({})).to_string();
    assert!(logged.contains("str_replace"), "{logged}");
}
