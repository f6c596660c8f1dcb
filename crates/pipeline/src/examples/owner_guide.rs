//! The owner's guide: who gets it, and who may change it; and what folders are for.

use lapidary_tools::{Effect, OwnerGuide, ReadGuides, ReadPayload, ReadResource, ReasonKind};
use lapidary_vault::{PathPrefix, Policy};
use serde_json::json;

use crate::{
    ApprovalRule, DecidedBy, Principal, RuleDecision,
    testing::{TestServer, TestSetup, granted},
};

const NOTES: &[(&str, &str)] = &[
    ("AGENTS.md", "---\ntags: [meta]\n---\n\n# How to work here\nNew notes go to `Inbox`.\n"),
    ("CLAUDE.md", "Be brief.\n"),
    ("Work/Plan.md", "x\n"),
];

fn guides(server: &TestServer, principal: &Principal) -> Vec<OwnerGuide> {
    match server.read_as(principal, ReadGuides) {
        Ok(ReadPayload::Guides(guides)) => guides,
        Ok(_) => panic!("another payload"),
        Err(reason) => panic!("{reason}"),
    }
}

fn closing(path: &str) -> Policy {
    Policy { deny: vec![PathPrefix::parse(path).unwrap()], ..Policy::default() }
}

#[test]
fn a_guide_is_given_to_those_who_may_read_it() {
    let server = TestServer::new(NOTES);
    let [guide] = &guides(&server, &server.principal())[..] else { panic!("one guide") };
    assert_eq!((guide.path.as_str(), guide.rest_line), ("AGENTS.md", None));
    assert_eq!(guide.text, "# How to work here\nNew notes go to `Inbox`.");
    // Of one that is closed to a caller nothing is said, and the next one counts.
    let outsider = server.principal_with(granted(&["Work"]));
    assert_eq!(guides(&server, &outsider), []);
    let reply = server.call_as(&outsider, "vault_guide", json!({})).rendered().unwrap();
    assert!(!reply.is_error && !reply.structured().contains("AGENTS"), "{}", reply.structured());
    let other = TestSetup { policy: closing("AGENTS.md"), ..TestSetup::default() }.serve(NOTES);
    assert_eq!(guides(&other, &other.principal())[0].text, "Be brief.");
    assert_eq!(other.done("vault_guide", json!({}))["path"], "CLAUDE.md");
    // Where nothing may be read, neither may the guide.
    let rules = vec![ApprovalRule::effect(Effect::Read, RuleDecision::Deny)];
    let denied = TestSetup { rules, ..TestSetup::default() }.serve(NOTES);
    assert!(denied.read(ReadGuides).is_err_and(|reason| reason.kind() == ReasonKind::DeniedByRule));
    let resource = ReadResource { uri: "obsidian://guide".to_owned() };
    assert!(denied.read(resource).is_err_and(|reason| reason.kind() == ReasonKind::DeniedByRule));
}

#[test]
fn a_long_guide_is_cut_at_a_line_and_says_where_the_rest_is() {
    let long = format!("---\na: 1\n---\n{}", "A line of the guide.\n".repeat(2_000));
    let server = TestServer::new(&[("AGENTS.md", &long)]);
    let [guide] = &guides(&server, &server.principal())[..] else { panic!("one guide") };
    let lines = guide.text.lines().count();
    assert!(guide.text.len() <= 4_096 && guide.text.ends_with(".\n") && lines > 190, "{}", guide.text.len());
    assert_eq!(guide.rest_line, Some(4 + lines));
    let whole = server.done("vault_guide", json!({}));
    let next = whole["restLine"].as_u64().unwrap();
    assert_eq!(next as usize, 4 + whole["guide"].as_str().unwrap().lines().count());
}

#[test]
fn a_change_of_the_guide_is_asked_about() {
    let edit = |file: &str| json!({ "file": file, "find": "go", "replace": "went" });
    let server = TestServer::new(NOTES);
    assert_eq!(server.refused("str_replace", edit("AGENTS.md")).kind(), ReasonKind::ApprovalUnavailable);
    let moved = json!({ "from": "Work/Plan.md", "to": "CLAUDE.md", "overwrite": true });
    for (tool, given) in [
        ("file_create", json!({ "file": "agents.md", "content": "x" })),
        ("obsidian_append_to_note", json!({ "target": { "type": "path", "path": "CLAUDE.md" }, "content": "x" })),
        ("file_delete", json!({ "file": "CLAUDE.md" })),
        ("file_move", moved),
        (
            "bulk_apply",
            json!({ "operations": [{ "tool": "file_append", "args": { "file": "CLAUDE.md", "content": "x" } }] }),
        ),
    ] {
        let reply = server.call(tool, given).rendered().unwrap();
        assert!(reply.is_error, "{tool}: {}", reply.structured());
    }
    assert_eq!((server.text("AGENTS.md").as_str(), server.text("CLAUDE.md").as_str()), (NOTES[0].1, NOTES[1].1));
    // A dry run only shows something.
    let mut dry = edit("AGENTS.md");
    dry["dry_run"] = json!(true);
    assert!(server.done("str_replace", dry)["diff"].as_str().unwrap().contains("went"));
    // Other notes of the name are not guides.
    server.done("file_create", json!({ "file": "Work/AGENTS.md", "content": "go" }));
    server.done("str_replace", edit("Work/AGENTS.md"));
    let verdict = server.executor.access(
        &server.principal(),
        "str_replace",
        None,
        &lapidary_vault::VaultPath::parse("AGENTS.md").unwrap(),
    );
    assert_eq!((verdict[0].decision, verdict[0].by.clone()), (RuleDecision::Ask, DecidedBy::Guide));
}

#[test]
fn the_owner_allows_changes_of_the_guide_by_a_rule_about_it() {
    let any = |decision| ApprovalRule { effect: None, group: None, tool: None, path: None, decision };
    let edit = json!({ "file": "AGENTS.md", "find": "go", "replace": "went" });
    let about = |path: &str, decision| ApprovalRule { path: PathPrefix::parse(path).ok(), ..any(decision) };
    for (rule, is_made) in [
        (about("AGENTS.md", RuleDecision::Allow), true),
        (ApprovalRule { tool: Some("str_replace".to_owned()), ..any(RuleDecision::Allow) }, true),
        (ApprovalRule::effect(Effect::Write, RuleDecision::Allow), false),
        (about("CLAUDE.md", RuleDecision::Allow), false),
        (about("AGENTS.md", RuleDecision::Deny), false),
    ] {
        let server = TestSetup { rules: vec![rule.clone()], ..TestSetup::default() }.serve(NOTES);
        let reply = server.call("str_replace", edit.clone()).rendered().unwrap();
        assert_eq!(!reply.is_error, is_made, "{rule:?}: {}", reply.structured());
        assert_eq!(server.text("AGENTS.md").contains("went"), is_made);
    }
}

#[test]
fn folders_are_described_once_by_the_nearest_note_about_them() {
    let server = TestServer::new(&[
        ("Areas/Areas.md", "What goes on.\n"),
        ("Areas/Garden/Beds.md", "Slate edges.\n"),
        ("Areas/Garden/Roof.md", "Slate roof.\n"),
        ("Stones.md", "---\ndescription: Kinds of stone\n---\nSlate and more.\n"),
        ("Stones/Slate.md", "A slate is grey.\n"),
        ("Other/Slate.md", "No folder note, slate.\n"),
    ]);
    let found = server.done("obsidian_search_notes", json!({ "query": "slate" }));
    let expected = json!({ "Areas": "What goes on.", "Stones": "Kinds of stone" });
    assert_eq!(found["folders"], expected, "{found:#}");
    let text = server.call("obsidian_search_notes", json!({ "query": "slate" })).rendered().unwrap().text().join("");
    assert_eq!(text.matches("What goes on.").count(), 1, "{text}");
    let words = server.done("obsidian_search_notes", json!({ "query": "slate", "mode": "text" }));
    assert!(words.get("folders").is_none(), "{words:#}");
    let listed = server.done("obsidian_list_notes", json!({ "path": "Areas" }));
    assert_eq!(listed["folders"], json!({ "Areas": "What goes on." }));
    let nothing = server.done("obsidian_list_notes", json!({ "path": "Other" }));
    assert!(nothing.get("folders").is_none());
}

#[test]
fn a_hidden_folder_note_describes_nothing() {
    let notes = &[("Areas/Areas.md", "zqsecret\n"), ("Areas/index.md", "Open.\n"), ("Areas/a.md", "slate\n")];
    let server = TestSetup { policy: closing("Areas/Areas.md"), ..TestSetup::default() }.serve(notes);
    for (tool, given) in [("obsidian_list_notes", json!({})), ("obsidian_search_notes", json!({ "query": "slate" }))] {
        assert_eq!(server.done(tool, given)["folders"], json!({ "Areas": "Open." }), "{tool}");
    }
}
