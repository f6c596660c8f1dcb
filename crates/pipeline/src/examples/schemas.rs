//! Schemas hold for every way to write, and only for what a change makes worse.

use lapidary_tools::{Reason, ReasonKind, VaultShape};
use lapidary_vault::{PathPrefix, Policy, VaultPath};
use serde_json::{Value, json};

use crate::{
    ApprovalRule, RuleDecision,
    testing::{TestServer, TestSetup, granted},
};

const SCHEMA: &str = "---\nschema:\n  for: {folder: Meetings}\n  on_mismatch: refuse\n  properties:\n    date: {type: date, required: true}\n    status: {values: [open, done]}\n  headings: [Decisions]\n---\nA meeting has a date.\n";
const GOOD: &str = "---\ndate: 2026-11-02\nstatus: open\n---\n# Decisions\n";
const WRONG: &str = "---\nstatus: later\n---\ntext\n";

fn notes(schema: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![
        ("Schemas/Meeting.md", schema),
        ("Meetings/good.md", GOOD),
        ("Meetings/wrong.md", WRONG),
        ("Inbox/new.md", WRONG),
        ("Old/x/a.md", WRONG),
    ]
}

fn shape() -> VaultShape {
    VaultShape::new(VaultPath::parse("Schemas").ok())
}

fn serve(schema: &'static str) -> TestServer {
    TestSetup { shape: shape(), ..TestSetup::default() }.serve(&notes(schema))
}

fn noticing() -> &'static str {
    Box::leak(SCHEMA.replace("refuse", "notice").into_boxed_str())
}

/// Changes that make a note worse, each by another way.
fn worse() -> Vec<(&'static str, Value)> {
    let target = json!({ "type": "path", "path": "Meetings/good.md" });
    let edit = json!({ "file": "Meetings/good.md", "find": "status: open", "replace": "status: late" });
    vec![
        ("str_replace", edit.clone()),
        ("bulk_apply", json!({ "ops": [{ "tool": "str_replace", "args": edit }] })),
        ("call_tool", json!({ "name": "str_replace", "arguments": edit })),
        ("obsidian_manage_frontmatter", json!({ "target": target, "operation": "delete", "key": "date" })),
        (
            "obsidian_manage_frontmatter",
            json!({ "target": target, "operation": "set", "key": "date", "value": "soon" }),
        ),
        ("obsidian_write_note", json!({ "target": target, "content": "text\n", "overwrite": true })),
        ("heading_rename", json!({ "file": "Meetings/good.md", "heading": "Decisions", "newText": "Ideas" })),
        ("file_create", json!({ "file": "Meetings/other.md", "content": "text\n" })),
        ("note_create", json!({ "name": "Meetings/Another" })),
        ("file_move", json!({ "from": "Inbox/new.md", "to": "Meetings/new.md" })),
        ("file_move", json!({ "from": "Old/x", "to": "Meetings/x" })),
    ]
}

#[test]
fn what_makes_a_note_worse_is_refused_or_said_by_every_way() {
    for (tool, given) in worse() {
        let server = serve(SCHEMA);
        let reason = server.refused(tool, given.clone());
        assert_eq!(reason.kind(), ReasonKind::SchemaMismatch, "{tool} {given}");
        assert_eq!(server.text("Meetings/good.md"), GOOD, "{tool} {given}");
        let server = serve(noticing());
        let done = server.done(tool, given.clone());
        let notice = done["notice"].as_str().unwrap_or_default();
        assert!(notice.contains("Not as the schema of the note type wants"), "{tool} {given}: {done:#}");
        assert!(done["checkpoint"].is_string(), "{tool} {given}: {done:#}");
    }
}

#[test]
fn the_refusal_says_what_was_expected_and_found() {
    let server = serve(SCHEMA);
    let edit = json!({ "file": "Meetings/good.md", "find": "status: open", "replace": "status: late" });
    let refused = server.call("str_replace", edit).rendered().unwrap();
    let text = refused.text().join("\n");
    for part in ["`Meetings/good.md`", "`status` must be one of `open`, `done`, not `late`", "Nothing was changed"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_was_wrong_before_may_stay() {
    let server = serve(SCHEMA);
    server.done("str_replace", json!({ "file": "Meetings/wrong.md", "find": "text", "replace": "words" }));
    server.done("file_move", json!({ "from": "Meetings/wrong.md", "to": "Meetings/still wrong.md" }));
    // Another wrong value is a new mistake, a right one is not.
    let set = |value: &str| json!({ "file": "Meetings/still wrong.md", "find": "later", "replace": value });
    assert_eq!(server.refused("str_replace", set("never")).kind(), ReasonKind::SchemaMismatch);
    let done = server.done("str_replace", set("done"));
    assert_eq!(done.get("notice"), None, "{done:#}");
    // Notes of other types are not concerned.
    server.done("str_replace", json!({ "file": "Inbox/new.md", "find": "later", "replace": "never" }));
}

#[test]
fn an_edit_can_be_taken_back_to_what_does_not_fit() {
    let server = serve(SCHEMA);
    server.done("str_replace", json!({ "file": "Meetings/wrong.md", "find": "later", "replace": "open" }));
    server.done("undo", json!({}));
    assert_eq!(server.text("Meetings/wrong.md"), WRONG);
}

#[test]
fn several_edits_count_as_one() {
    let server = serve(SCHEMA);
    let made = json!({ "ops": [
        { "tool": "file_create", "args": { "file": "Meetings/new.md", "content": "# Decisions\n" } },
        { "tool": "frontmatter_set", "args": { "file": "Meetings/new.md", "key_path": "date", "value": "2026-11-05" } },
    ] });
    let done = server.done("bulk_apply", made);
    assert!(done["checkpoint"].is_string(), "{done:#}");
}

#[test]
fn a_change_of_a_schema_is_asked_for_unless_a_rule_allows_it() {
    let save = json!({ "name": "Inbox", "folder": "Inbox" });
    let edit = json!({ "file": "Schemas/Meeting.md", "find": "refuse", "replace": "notice" });
    for (tool, given) in [("schema_save", save.clone()), ("str_replace", edit)] {
        let server = serve(SCHEMA);
        assert_eq!(server.refused(tool, given.clone()).kind(), ReasonKind::ApprovalUnavailable, "{tool}");
        let path = PathPrefix::parse("Schemas").ok();
        let rules = vec![ApprovalRule { path, ..ApprovalRule::any(RuleDecision::Allow) }];
        let allowed = TestSetup { shape: shape(), rules, ..TestSetup::default() }.serve(&notes(SCHEMA));
        allowed.done(tool, given);
    }
    let off = TestServer::new(&notes(SCHEMA));
    assert_eq!(off.refused("schema_save", save).kind(), ReasonKind::ToolDisabled);
    off.done("str_replace", json!({ "file": "Meetings/good.md", "find": "open", "replace": "late" }));
}

#[test]
fn what_is_in_the_folder_of_schemas_is_one() {
    let broken = json!({ "file": "Schemas/Meeting.md", "find": "values: [open", "replace": "vales: [open" });
    let Reason::SchemaInvalid { problem, .. } = serve(SCHEMA).refused("str_replace", broken) else { panic!() };
    assert!(problem.to_string().contains("did you mean `values`?"), "{problem}");
    // One that a person broke holds for nothing, and the health check says so.
    let server = serve("---\nschema: {for: {folder: Meetings}, on_mismatch: never}\n---\n");
    server.done("str_replace", json!({ "file": "Meetings/good.md", "find": "open", "replace": "late" }));
    let found = server.done("vault_health_check", json!({ "kind": "broken_schema" }));
    assert!(found["findings"][0]["says"].as_str().unwrap().contains("`on_mismatch` must be"), "{found:#}");
}

#[test]
fn schemas_hold_for_those_who_may_not_read_them() {
    let server = serve(SCHEMA);
    let narrow = server.principal_with(granted(&["Meetings"]));
    let edit = json!({ "file": "Meetings/good.md", "find": "status: open", "replace": "status: late" });
    let reply = server.call_as(&narrow, "str_replace", edit).rendered().unwrap();
    assert!(reply.is_error && !reply.structured().contains("Schemas"), "{}", reply.structured());
    // Where they are is not said either.
    let found = server.call_as(&narrow, "vault_health_check", json!({ "kind": "schema_mismatch" })).rendered().unwrap();
    assert!(!found.structured().contains("Schemas") && !found.structured().contains("Old/"), "{}", found.structured());
}

#[test]
fn the_vault_is_checked_and_what_can_be_converted_is_mended() {
    const TYPES: &str =
        "---\nschema:\n  for: {tag: book}\n  properties: {rating: number, topics: list, read: checkbox}\n---\n";
    let book = "---\nrating: \"4\" # of 5\ntopics: stone\nread: maybe\ntags: [book]\n---\n";
    let setup = TestSetup { shape: shape(), ..TestSetup::default() };
    let server = setup.serve(&[("Schemas/Book.md", TYPES), ("a.md", book), ("b.md", "---\nrating: x\n---\n")]);
    let found = server.done("vault_health_check", json!({ "kind": "schema_mismatch" }));
    assert_eq!((&found["summary"][0]["count"], &found["summary"][0]["fixable"]), (&json!(3), &json!(2)), "{found:#}");
    server.done("vault_health_fix", json!({ "findings": ["schema_mismatch"] }));
    assert_eq!(server.text("a.md"), "---\nrating: 4 # of 5\ntopics:\n  - stone\nread: maybe\ntags: [book]\n---\n");
    let left = server.done("vault_health_check", json!({ "kind": "schema_mismatch" }));
    assert_eq!(left["summary"][0]["count"], 1, "{left:#}");
}

#[test]
fn a_schema_is_inferred_from_what_the_caller_may_read() {
    let mut notes: Vec<(String, String)> = Vec::new();
    for number in 0..20 {
        let status = if number % 3 == 0 { "open" } else { "done" };
        let extra = if number == 7 { "when: 1\n" } else { "" };
        let date = if number == 9 { "soon".to_owned() } else { format!("2026-11-{:02}", number + 1) };
        let text = format!("---\ndate: {date}\nstatus: {status}\n{extra}---\n# Notes\n## Decisions\n");
        notes.push((format!("Meetings/{number}.md"), text));
    }
    notes.push(("Meetings/Private/x.md".to_owned(), "---\nsecret: 1\nstatus: hidden\n---\n".to_owned()));
    let notes: Vec<(&str, &str)> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let deny = vec![PathPrefix::parse("Meetings/Private").unwrap()];
    let policy = Policy { deny, ..Policy::default() };
    let server = TestSetup { policy, ..TestSetup::default() }.serve(&notes);
    let found = server.done("schema_infer", json!({ "folder": "Meetings" }));
    assert_eq!((&found["notes"], &found["fit"]), (&json!(20), &json!(19)), "{found:#}");
    assert_eq!(found["differing"], json!(["Meetings/9.md"]));
    assert_eq!(
        found["schema"],
        "schema:\n  for:\n    folder: Meetings\n  on_mismatch: notice\n  properties:\n    date:\n      type: date\n      required: true\n    status:\n      type: text\n      required: true\n      values:\n        - done\n        - open\n  headings:\n    - Decisions\n    - Notes\n"
    );
    assert!(!found.to_string().contains("secret") && !found.to_string().contains("hidden"), "{found:#}");
}
