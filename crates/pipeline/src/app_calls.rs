//! Tests of calls that need the Obsidian app, through all stages.

use std::sync::Arc;

use lapidary_tools::{AppAction, AppFault, Effect, OutsideAction, Reason, ReasonKind};
use lapidary_vault::{PathPrefix, Policy};
use serde_json::{Value, json};

use crate::{
    ApprovalDecision, ApprovalOutcome, ApprovalRule, ConsentAnswer, Outcome, RuleDecision, Verdict,
    fake_app::FakeApp,
    testing::{TestServer, TestSetup, granted},
};

const NOTES: [(&str, &str); 2] = [("Plan.md", "one\n"), ("Private/Diary.md", "dear\n")];

fn with_app(app: FakeApp, setup: TestSetup) -> (TestServer, Arc<FakeApp>) {
    let app = Arc::new(app);
    let server = TestSetup { app: Some(Arc::<FakeApp>::clone(&app)), ..setup }.serve(&NOTES);
    (server, app)
}

fn private() -> Policy {
    Policy { deny: vec![PathPrefix::parse("Private").unwrap()], ..Policy::default() }
}

fn active() -> Value {
    json!({ "type": "active" })
}

fn run_command(id: &str) -> Value {
    json!({ "commandId": id })
}

/// What a command needs by default: the user's word.
fn allowed() -> Vec<ApprovalRule> {
    vec![ApprovalRule {
        effect: None,
        group: None,
        tool: Some("obsidian_execute_command".to_owned()),
        path: None,
        decision: RuleDecision::Allow,
    }]
}

#[test]
fn the_open_note_is_a_target_of_every_note_tool() {
    for (tool, mut arguments) in [
        ("obsidian_get_note", json!({ "format": "content" })),
        ("obsidian_write_note", json!({ "content": "two\n", "overwrite": true })),
        ("obsidian_append_to_note", json!({ "content": "two\n" })),
        (
            "obsidian_patch_note",
            json!({ "section": { "type": "frontmatter", "target": "a" }, "operation": "replace", "content": "b",
                    "patchOptions": { "createTargetIfMissing": true } }),
        ),
        ("obsidian_replace_in_note", json!({ "replacements": [{ "search": "one", "replace": "two" }] })),
        ("obsidian_manage_frontmatter", json!({ "operation": "set", "key": "a", "value": 1 })),
        ("obsidian_manage_tags", json!({ "operation": "add", "tags": ["x"] })),
        ("obsidian_delete_note", json!({})),
    ] {
        let (server, app) = with_app(FakeApp::showing("Plan.md"), TestSetup::default());
        arguments["target"] = active();
        let done = server.done(tool, arguments.clone()).to_string();
        assert!(done.contains("\"path\":\"Plan.md\""), "{tool}: {done}");
        assert_eq!(*app.requests.lock().unwrap(), 1, "{tool}");
        assert_eq!(server.log()[0]["file"], "Plan.md", "{tool}");
    }
}

#[test]
fn a_hidden_note_is_not_open_for_the_caller() {
    for path in ["Private/Diary.md", "Private/None.md", "Other vault.md", "../out.md", ""] {
        let setup = TestSetup { policy: private(), ..TestSetup::default() };
        let (server, _) = with_app(FakeApp::showing(path), setup);
        let write = json!({ "target": active(), "content": "x", "overwrite": true });
        for (tool, arguments) in
            [("obsidian_get_note", json!({ "target": active(), "format": "content" })), ("obsidian_write_note", write)]
        {
            assert_eq!(server.refused(tool, arguments), Reason::NoActiveFile, "{tool} {path}");
        }
        assert_eq!(server.text("Private/Diary.md"), "dear\n");
        assert!(!server.log()[0].to_string().contains("Diary"), "{path}");
    }
    let (server, app) = with_app(FakeApp::default(), TestSetup::default());
    let read = json!({ "target": active(), "format": "content" });
    assert_eq!(server.refused("obsidian_get_note", read.clone()), Reason::NoActiveFile);
    *app.fault.lock().unwrap() = Some(AppFault::CertificateRejected);
    assert_eq!(server.refused("obsidian_get_note", read).kind(), ReasonKind::CertificateRejected);
}

#[test]
fn the_policy_and_the_rules_see_the_path_of_the_open_note() {
    let write = json!({ "target": active(), "content": "x" });
    let read_only = Policy { write: Some(vec![PathPrefix::parse("Work").unwrap()]), ..Policy::default() };
    let (server, _) = with_app(FakeApp::showing("Plan.md"), TestSetup { policy: read_only, ..TestSetup::default() });
    assert_eq!(server.refused("obsidian_append_to_note", write.clone()).kind(), ReasonKind::PathForbidden);
    let rules = vec![ApprovalRule {
        effect: None,
        group: None,
        tool: None,
        path: Some(PathPrefix::parse("Plan.md").unwrap()),
        decision: RuleDecision::Deny,
    }];
    let (server, _) = with_app(FakeApp::showing("Plan.md"), TestSetup { rules, ..TestSetup::default() });
    assert_eq!(server.refused("obsidian_append_to_note", write.clone()).kind(), ReasonKind::DeniedByRule);
    assert_eq!(server.text("Plan.md"), "one\n");
}

#[test]
fn all_steps_of_a_batch_mean_the_same_open_note() {
    let (server, app) = with_app(FakeApp::showing("Plan.md"), TestSetup::default());
    let append = json!({ "tool": "obsidian_append_to_note", "args": { "target": active(), "content": "more" } });
    server.done("bulk_apply", json!({ "ops": [append, append] }));
    assert_eq!(server.text("Plan.md"), "one\nmore\nmore\n");
    assert_eq!(*app.requests.lock().unwrap(), 1);
}

#[test]
fn a_call_that_does_not_need_the_app_does_not_ask_it() {
    let (server, app) = with_app(FakeApp::showing("Plan.md"), TestSetup::default());
    server.done("obsidian_get_note", json!({ "target": "Plan.md", "format": "full" }));
    server.done("obsidian_append_to_note", json!({ "target": "Plan.md", "content": "x" }));
    server.done("find_tool", json!({ "query": "run a command of the app" }));
    assert_eq!(*app.requests.lock().unwrap(), 0);
}

#[test]
fn a_command_is_run_only_if_somebody_allows_it() {
    let run = || run_command("workspace:close");
    let by_effect = || vec![ApprovalRule::effect(Effect::Destroy, RuleDecision::Ask)];
    let (server, app) = with_app(FakeApp::default(), TestSetup { rules: by_effect(), ..TestSetup::default() });
    assert_eq!(server.refused("obsidian_execute_command", run()).kind(), ReasonKind::ApprovalUnavailable);
    let denied = vec![ApprovalRule::effect(Effect::Destroy, RuleDecision::Deny)];
    let (denied, unused) = with_app(FakeApp::default(), TestSetup { rules: denied, ..TestSetup::default() });
    assert_eq!(denied.refused("obsidian_execute_command", run()).kind(), ReasonKind::DeniedByRule);
    assert!(app.acted.lock().unwrap().is_empty() && unused.acted.lock().unwrap().is_empty());

    let setup = TestSetup { rules: by_effect(), can_be_asked: true, ..TestSetup::default() };
    let (server, app) = with_app(FakeApp::default(), setup);
    let Outcome::Asked(question) = server.call("obsidian_execute_command", run()) else { panic!("no question") };
    let said = "wants to run the command `Close current tab` (`workspace:close`) in Obsidian";
    assert!(question.message.contains(said), "{}", question.message);
    assert!(app.acted.lock().unwrap().is_empty());
    // The answer is for this command and no other.
    let answered = |id: &str| {
        let mut again = server.invocation("obsidian_execute_command", run_command(id));
        again.answer = Some(ConsentAnswer { state: question.state.clone(), verdict: Verdict::Agreed });
        server.run(&again).rendered().unwrap().is_error
    };
    assert!(answered("editor:toggle-bold") && app.acted.lock().unwrap().is_empty());
    assert!(!answered("workspace:close"));
    assert_eq!(app.acted.lock().unwrap().len(), 1);
    assert!(answered("workspace:close"), "an answer counts once");
    let last = server.log().into_iter().find(|line| line.get("app").is_some()).unwrap();
    assert_eq!((&last["app"], &last["ok"]), (&json!("command workspace:close"), &json!(true)));
}

#[test]
fn a_command_waits_for_the_owner_like_a_change() {
    let rules = vec![ApprovalRule::effect(Effect::Destroy, RuleDecision::Ask)];
    let setup = TestSetup { rules, waits_for_approval: true, ..TestSetup::default() };
    let (server, app) = with_app(FakeApp::default(), setup);
    let run = || run_command("editor:toggle-bold");
    assert_eq!(server.refused("obsidian_execute_command", run()).kind(), ReasonKind::ApprovalPending);
    let pending = server.executor.pending().unwrap().remove(0);
    assert!(!pending.is_for_reading());
    let preview = server.executor.preview(&pending).unwrap();
    assert!(
        matches!(&preview.action, Some(OutsideAction::App(AppAction::RunCommand(command))) if command.id == "editor:toggle-bold")
    );
    assert_eq!(preview.digest(), pending.digest());
    assert!(app.acted.lock().unwrap().is_empty());
    let decided = server.executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
    assert!(matches!(&decided, ApprovalOutcome::Tried(rendered) if !rendered.is_error));
    assert_eq!(app.acted.lock().unwrap().len(), 1);
    // The caller hears of it, and it is not run again.
    assert_eq!(server.done("obsidian_execute_command", run())["executed"], true);
    assert_eq!(app.acted.lock().unwrap().len(), 1);
}

#[test]
fn an_unknown_command_is_refused_with_the_nearest() {
    let (server, app) = with_app(FakeApp::default(), TestSetup { rules: allowed(), ..TestSetup::default() });
    for (given, nearest) in [
        ("editor:togle-bold", vec!["editor:toggle-bold"]),
        ("toggle bold", vec!["editor:toggle-bold"]),
        ("zzz", Vec::new()),
    ] {
        let refused = server.refused("obsidian_execute_command", run_command(given));
        let nearest = nearest.into_iter().map(str::to_owned).collect();
        assert_eq!(refused, Reason::CommandUnknown { command: given.to_owned(), nearest });
    }
    assert!(app.acted.lock().unwrap().is_empty());
}

#[test]
fn a_command_without_an_answer_may_have_run_and_the_log_says_so() {
    let (server, app) = with_app(FakeApp::default(), TestSetup { rules: allowed(), ..TestSetup::default() });
    for (fault, kind, is_logged) in [
        (AppFault::TimedOut, ReasonKind::ObsidianTimeout, true),
        (AppFault::Unreachable, ReasonKind::ObsidianUnreachable, false),
        (AppFault::NotOffered, ReasonKind::CommandUnknown, false),
    ] {
        *app.unwilling.lock().unwrap() = Some(fault);
        assert_eq!(server.refused("obsidian_execute_command", run_command("workspace:close")).kind(), kind);
        assert_eq!(server.log().last().unwrap().get("app").is_some(), is_logged, "{fault:?}");
    }
}

#[test]
fn actions_are_not_part_of_batches() {
    let (server, app) = with_app(FakeApp::default(), TestSetup { rules: allowed(), ..TestSetup::default() });
    for (tool, arguments) in [
        ("obsidian_execute_command", run_command("workspace:close")),
        ("obsidian_open_in_ui", json!({ "path": "Plan.md" })),
    ] {
        let done = server.done("bulk_apply", json!({ "ops": [{ "tool": tool, "args": arguments }], "atomic": false }));
        assert!(done["results"][0].to_string().contains("cannot be part of a batch"), "{done:#}");
    }
    assert!(app.acted.lock().unwrap().is_empty());
}

#[test]
fn commands_are_not_for_callers_with_folders_of_their_own() {
    let (server, app) = with_app(FakeApp::default(), TestSetup { rules: allowed(), ..TestSetup::default() });
    let narrow = server.principal_with(granted(&["Work"]));
    for (tool, arguments) in
        [("obsidian_execute_command", run_command("workspace:close")), ("obsidian_list_commands", json!({}))]
    {
        let Outcome::Refused(refusal) = server.call_as(&narrow, tool, arguments) else { panic!("not refused") };
        assert_eq!(refusal.reason.kind(), ReasonKind::ToolDisabled);
    }
    assert_eq!(*app.requests.lock().unwrap(), 0);
}

#[test]
fn a_note_is_opened_and_a_missing_one_is_made_first_as_a_change() {
    let (server, app) = with_app(FakeApp::default(), TestSetup::default());
    let opened = server.done("obsidian_open_in_ui", json!({ "path": "plan.md" }));
    assert_eq!((&opened["opened"], &opened["requestedPath"]), (&json!(true), &json!("plan.md")));
    let make = json!({ "path": "New/Note.md", "failIfMissing": false, "newLeaf": true });
    let made = server.done("obsidian_open_in_ui", make.clone());
    assert_eq!((&made["opened"], &made["createdIfMissing"]), (&json!(true), &json!(true)));
    assert!(made["checkpoint"].is_string(), "{made:#}");
    assert_eq!(server.text("New/Note.md"), "");
    let acted = app.acted.lock().unwrap().clone();
    assert!(matches!(&acted[1], AppAction::Open { path, new_leaf: true } if path.as_str() == "New/Note.md"));
    // Without the app nothing is made: the link does it.
    *app.fault.lock().unwrap() = Some(AppFault::Unreachable);
    let linked = server.done("obsidian_open_in_ui", json!({ "path": "Another.md", "failIfMissing": false }));
    assert_eq!((&linked["opened"], &linked["createdIfMissing"]), (&json!(false), &json!(false)));
    assert!(linked["uri"].as_str().unwrap().starts_with("obsidian://new?"), "{linked:#}");
    assert!(linked["notice"].as_str().unwrap().contains("does not answer"), "{linked:#}");
    let refused = server.refused("file_read", json!({ "file": "Another.md" }));
    assert_eq!(refused.kind(), ReasonKind::NoteMissing);
}

#[test]
fn opening_needs_only_to_read_and_making_needs_to_write() {
    let policy = Policy { read_only: true, ..Policy::default() };
    let (server, app) = with_app(FakeApp::default(), TestSetup { policy, ..TestSetup::default() });
    assert_eq!(server.done("obsidian_open_in_ui", json!({ "path": "Plan.md" }))["opened"], true);
    let make = json!({ "path": "New.md", "failIfMissing": false });
    assert_eq!(server.refused("obsidian_open_in_ui", make).kind(), ReasonKind::PathForbidden);
    assert_eq!(app.acted.lock().unwrap().len(), 1);
    let (server, app) = with_app(FakeApp::default(), TestSetup { policy: private(), ..TestSetup::default() });
    let hidden = json!({ "path": "Private/Diary.md" });
    assert_eq!(server.refused("obsidian_open_in_ui", hidden).kind(), ReasonKind::PathForbidden);
    assert!(app.acted.lock().unwrap().is_empty());
}

#[test]
fn the_app_finds_periodic_notes_that_the_settings_do_not_tell() {
    let target = json!({ "period": "weekly" });
    let read = || json!({ "target": target, "format": "content" });
    let (server, app) = with_app(FakeApp::default(), TestSetup { policy: private(), ..TestSetup::default() });
    *app.periodic.lock().unwrap() = Some("Plan.md".to_owned());
    assert_eq!(server.done("obsidian_get_note", read())["result"]["path"], "Plan.md");
    server.done("obsidian_append_to_note", json!({ "target": target, "content": "two\n" }));
    assert_eq!(server.text("Plan.md"), "one\ntwo\n");
    // A hidden one is missing, as one that is not there.
    for path in [Some("Private/Diary.md".to_owned()), None] {
        *app.periodic.lock().unwrap() = path;
        let missing = Reason::PeriodicNotFound { period: "weekly", date: None, path: None };
        assert_eq!(server.refused("obsidian_get_note", read()), missing);
    }
    *app.fault.lock().unwrap() = Some(AppFault::Unreachable);
    assert_eq!(server.refused("obsidian_get_note", read()).kind(), ReasonKind::PeriodicDisabled);
}

#[test]
fn omnisearch_finds_only_what_the_caller_may_read() {
    let (server, app) = with_app(FakeApp::default(), TestSetup { policy: private(), ..TestSetup::default() });
    let search = || json!({ "query": "one", "engine": "plugin" });
    *app.found.lock().unwrap() = ["Private/Diary.md", "Plan.md", "Gone.md"].map(str::to_owned).to_vec();
    let found = server.done("obsidian_search_notes", search());
    *app.found.lock().unwrap() = vec!["Plan.md".to_owned()];
    assert_eq!(found, server.done("obsidian_search_notes", search()), "as if there were no other");
    assert_eq!((&found["result"]["totalCount"], &found["result"]["hits"][0]["score"]), (&json!(1), &json!(1.0)));
}
