//! What assistants remember: notes in a folder that the owner names.

use serde_json::json;

use crate::harness::{Era, Vault};

const FOLDER: [(&str, &str); 1] = [("LAPIDARY_MEMORY_FOLDER", "AI/Memory")];

#[test]
fn what_one_conversation_saves_the_next_recalls_and_the_owner_can_correct() {
    let vault = Vault::new(&[("Roof.md", b"# Roof\n")]);
    let mut first = vault.serve_with(&[], &FOLDER).open(Era::Modern);
    let saved = first.done("memory_save", json!({ "subject": "Anna", "text": "Prefers slate for the [[Roof]]." }));
    assert_eq!((&saved["path"], &saved["created"]), (&json!("AI/Memory/Anna.md"), &json!(true)));
    first.done("memory_save", json!({ "subject": "anna", "text": "Calls on Mondays." }));
    let again = first.done("memory_save", json!({ "subject": "Anna", "text": "calls on mondays" }));
    assert_eq!(again["knownLine"], 2, "{again}");
    drop(first);
    // The owner corrects it in an editor, in words of their own.
    let text = String::from_utf8(vault.read("AI/Memory/Anna.md")).unwrap();
    assert!(text.ends_with(": Calls on Mondays.\n"), "{text}");
    vault.write("AI/Memory/Anna.md", text.replace("Mondays", "Tuesdays").as_bytes());
    let mut next = vault.serve_with(&[], &FOLDER).open(Era::Modern);
    let recalled = next.done("memory_recall", json!({ "query": "when does she call" }));
    assert!(recalled["entries"][0]["text"].as_str().unwrap().contains("Tuesdays"), "{recalled}");
    let about = next.done("memory_recall", json!({ "query": "Anna" }));
    assert_eq!(about["total"], 2, "{about}");
    // One word takes the last thing back that this client remembered.
    next.done("memory_save", json!({ "subject": "Bob", "text": "Wrong." }));
    next.done("undo", json!({}));
    assert_eq!(next.done("memory_recall", json!({ "query": "Bob" }))["total"], 0);
}

#[test]
fn without_a_folder_nothing_is_remembered_and_the_answer_says_what_to_set() {
    let vault = Vault::new(&[("a.md", b"x\n")]);
    let mut server = vault.serve_with(&[], &[]).open(Era::Modern);
    let refused = server.call("memory_save", json!({ "subject": "Anna", "text": "x" }));
    assert_eq!(refused["isError"], true);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("`memory_folder`"), "{refused}");
    let found = server.done("find_tool", json!({ "query": "remember this for next time" }));
    assert!(!found.to_string().contains("memory_save"), "{found}");
}

#[test]
fn without_a_folder_no_schema_is_kept_and_the_answer_says_what_to_set() {
    let vault = Vault::new(&[("Meetings/a.md", b"---\ndate: 2026-01-01\n---\n")]);
    let given = json!({ "name": "Meeting", "folder": "Meetings", "dryRun": true });
    let mut server = vault.serve_with(&[], &[]).open(Era::Modern);
    let refused = server.call("schema_save", given.clone());
    assert_eq!(refused["isError"], true);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("`schema_folder`"), "{refused}");
    let query = json!({ "query": "save a schema for the properties of my notes" });
    let is_found = |found: &serde_json::Value| found.to_string().contains(r#""name":"schema_save""#);
    let found = server.done("find_tool", query.clone());
    assert!(!is_found(&found), "{found}");
    drop(server);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_SCHEMA_FOLDER", "Schemas")]).open(Era::Modern);
    assert_eq!(server.done("schema_save", given)["path"], "Schemas/Meeting.md");
    let found = server.done("find_tool", query);
    assert!(is_found(&found), "{found}");
}

#[test]
fn notes_outside_of_the_folder_and_hidden_ones_are_not_recalled() {
    let vault = Vault::new(&[
        ("AI/Memory/Anna.md", b"- 2026-01-01: lantern one\n"),
        ("AI/Memory/secret.md", b"- 2026-01-01: lantern two\n"),
        ("AI/Memory2/Bob.md", b"- 2026-01-01: lantern three\n"),
        ("Lantern.md", b"lantern four\n"),
    ]);
    let environment = [FOLDER[0], ("OBSIDIAN_DENY_PATHS", "AI/Memory/secret.md")];
    let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
    for query in [json!({ "query": "lantern" }), json!({}), json!({ "query": "lantern) OR (lantern" })] {
        let recalled = server.done("memory_recall", query);
        assert_eq!((&recalled["total"], &recalled["entries"][0]["path"]), (&json!(1), &json!("AI/Memory/Anna.md")));
    }
}
