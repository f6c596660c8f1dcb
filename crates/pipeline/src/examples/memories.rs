//! Who may write memories: the tool names no path, so only the place of the change can be judged.

use std::sync::Arc;

use lapidary_tools::ReasonKind;
use lapidary_vault::{PathPrefix, Policy};
use serde_json::{Value, json};

use crate::{
    ApprovalRule, Grant, RuleDecision,
    testing::{TestServer, TestSetup, granted},
};

const NOTES: &[(&str, &str)] = &[("Memory/Anna.md", "- 2026-04-01: Likes slate.\n"), ("Notes/a.md", "x\n")];

fn saved_as(server: &TestServer, grant: Grant, given: &Value) -> Value {
    let principal = server.principal_with(grant);
    let rendered = server.call_as(&principal, "memory_save", given.clone()).rendered().unwrap();
    Value::Object(rendered.facts().clone())
}

fn about(subject: &str, text: &str) -> Value {
    json!({ "subject": subject, "text": text })
}

#[test]
fn memories_are_written_only_where_the_caller_may_write() {
    let prefixes = |folders: &[&str]| Some(folders.iter().map(|folder| PathPrefix::parse(folder).unwrap()).collect());
    let reads = Policy { read: prefixes(&["Memory", "Notes"]), write: prefixes(&["Notes"]), ..Policy::default() };
    let reader = || Grant { paths: Some(Arc::new(reads.clone())), ..granted(&[]) };
    for given in [
        about("Anna", "Calls on Mondays."),
        about("Bob", "Likes tile."),
        // Nothing would change, but whether it is known is not for everyone.
        about("Anna", "likes slate"),
        json!({ "subject": "Anna", "text": "x", "dryRun": true }),
        about("anna", "Calls on Mondays."),
    ] {
        let server = TestServer::new(NOTES);
        let outside = saved_as(&server, granted(&["Notes"]), &given);
        let read_only = saved_as(&server, reader(), &given);
        for refused in [&outside, &read_only] {
            assert_eq!(refused["error"]["data"]["reason"], "path_forbidden", "{given}: {refused:#}");
        }
        assert_eq!(server.text("Memory/Anna.md"), NOTES[0].1);
        // The same answer whether there is such a note or not.
        let empty = TestServer::new(&NOTES[1..]);
        assert_eq!(saved_as(&empty, granted(&["Notes"]), &given).to_string(), outside.to_string(), "{given}");
    }
    let server = TestServer::new(NOTES);
    let own = || granted(&["Memory/Anna.md"]);
    assert_eq!(saved_as(&server, own(), &about("Anna", "Calls."))["created"], false);
    assert_eq!(saved_as(&server, own(), &about("Bob", "Calls."))["error"]["data"]["reason"], "path_forbidden");
    assert_eq!(saved_as(&server, granted(&["Memory"]), &about("Bob", "Calls."))["created"], true);
}

#[test]
fn an_approval_rule_about_a_folder_holds_for_memories_in_it() {
    let rule = ApprovalRule {
        effect: None,
        group: None,
        tool: None,
        path: Some(PathPrefix::parse("Memory").unwrap()),
        decision: RuleDecision::Deny,
    };
    let server = TestSetup { rules: vec![rule], ..TestSetup::default() }.serve(NOTES);
    let refused = server.refused("memory_save", about("Anna", "Calls on Mondays."));
    assert_eq!(refused.kind(), ReasonKind::DeniedByRule, "{refused}");
    assert_eq!(server.text("Memory/Anna.md"), NOTES[0].1);
}

#[test]
fn a_subject_that_has_a_note_is_remembered_beside_it() {
    let notes = [("People/Ruth.md", "x\n"), ("a.md", "[[Ruth]]\n")];
    let server = TestServer::new(&notes);
    let saved = server.done("memory_save", about("ruth", "Calls on Mondays."));
    assert_eq!((&saved["path"], saved.get("notice")), (&json!("Memory/ruth (memory).md"), None));
    let again = server.done("memory_save", about("Ruth", "Likes tea."));
    assert_eq!((&again["path"], &again["created"]), (&json!("Memory/ruth (memory).md"), &json!(false)));
    assert_eq!(server.done("memory_recall", json!({ "query": "Ruth" }))["total"], 2);
    let links = server.done("links_get", json!({ "file": "People/Ruth.md" }));
    assert!(links.to_string().contains("Memory/ruth (memory).md"), "{links:#}");
    // Hidden from this caller, so nothing may tell that it is there.
    let saved = saved_as(&TestServer::new(&notes), granted(&["Memory"]), &about("Ruth", "Calls."));
    assert_eq!(saved["path"], "Memory/Ruth.md");
}

#[test]
fn the_name_of_a_file_is_the_name_of_its_subject_and_a_text_has_an_end() {
    let server = TestServer::new(NOTES);
    assert_eq!(server.done("memory_save", about("Anna.md", "Calls."))["path"], "Memory/Anna.md");
    let long = server.refused("memory_save", about("Anna", &"x".repeat(4_001)));
    assert_eq!(long.kind(), ReasonKind::InvalidArguments);
}
