//! How much a run may do, how long it may take, and what it sees of long lists.

use std::time::Duration;

use lapidary_tools::{Effect, ProfileRules, Reason, ReasonKind};
use serde_json::{Value, json};

use super::recipes::{INBOX, contents, note, serve, with_recipe};
use crate::testing::{TestServer, TestSetup};

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

/// All 20 steps, for each of the items.
fn full(tool: &str, with: &str) -> String {
    let step = |step: usize| {
        format!(
            "  - id: s{step}\n    tool: {tool}\n    for_each: items\n    with: {}\n",
            with.replace('#', &step.to_string())
        )
    };
    let steps: String = (0..20).map(step).collect();
    format!("description: x\nparameters: {{items: list}}\nsteps:\n{steps}answer: \"{{{{ s19.length }}}}\"\n")
}

/// What the largest recipe costs in steps of work: 200 items for each of 20 steps.
fn largest(tool: &str, with: &str, files: &[(&str, &str)]) -> (TestServer, Value) {
    let server = with_recipe(&full(tool, with), files);
    let done = server.done("custom_x", json!({ "items": numbers(200) }));
    assert_eq!((&done["calls"], &done["answer"]), (&json!(4000), &json!(200)), "{done:#}");
    (server, done)
}

#[test]
fn four_thousand_calls_on_one_note_are_one_change() {
    let (server, done) = largest("file_append", "{file: Log.md, content: \"{{ item }}-#\"}", INBOX);
    assert_eq!(done["files"], 1);
    let text = server.text("Log.md");
    assert_eq!(text.lines().count(), 4001);
    assert!(text.starts_with("# Log\n0-0\n1-0\n") && text.ends_with("\n198-19\n199-19\n"), "{text}");
    server.done("undo", json!({}));
    assert_eq!(server.text("Log.md"), "# Log\n");
}

#[test]
fn four_thousand_calls_make_four_thousand_notes() {
    let (server, done) = largest("file_create", "{file: \"New/{{ item }}-#.md\", content: \"{{ number }}\"}", &[]);
    assert_eq!(done["files"], 4000);
    assert_eq!(server.text("New/7-3.md"), "8");
}

#[test]
fn a_run_that_takes_too_long_ends_and_changes_nothing() {
    // The clock of a run, scaled: no machine makes 4,000 calls in a millisecond.
    let setup = TestSetup { run_time: Duration::from_millis(1), ..TestSetup::default() };
    let definition = full("file_append", "{file: Log.md, content: \"{{ item }}\"}");
    let server = serve(setup, &[("custom_x", &definition)], INBOX);
    let before = contents(&server);
    let reason = server.refused("custom_x", json!({ "items": numbers(200) }));
    assert_eq!(reason.kind(), ReasonKind::DeadlineExceeded, "{reason:?}");
    assert!(reason.to_string().contains("1 ms") || reason.to_string().contains("0.001"), "{reason}");
    let line = server.log().pop().unwrap();
    assert_eq!((&line["recipe"], &line["ok"]), (&json!("custom_x"), &json!(false)), "{line:#}");
    assert_eq!(line.get("checkpoint"), None, "{line:#}");
    assert_eq!(contents(&server), before);
}

#[test]
fn a_run_has_no_more_items_and_results_than_it_may() {
    let server = with_recipe(&full("file_append", "{file: Log.md, content: \"{{ item }}\"}"), INBOX);
    let reason = server.refused("custom_x", json!({ "items": numbers(201) }));
    assert!(reason.to_string().contains("201 items"), "{reason}");
    let grows = "description: x\nparameters: {items: list}\nsteps:\n  - id: a\n    tool: file_read\n    for_each: items\n    with: {file: Big.md}\nanswer: \"{{ a.map(value.content.repeat(100)).join() }}\"\n";
    let big = "x".repeat(60_000);
    let server = with_recipe(grows, &[("Big.md", &big)]);
    let reason = server.refused("custom_x", json!({ "items": numbers(200) }));
    assert_eq!(reason.kind(), ReasonKind::RecipeFailed, "{reason:?}");
}

#[test]
fn there_are_no_more_than_fifty_recipes() {
    let hi = "description: Greets.\nsteps:\n  - tool: file_append\n    with: {file: Log.md, content: Hi}\n";
    let files: Vec<(String, String)> =
        (0..50).map(|number| (format!("Recipes/custom_{number}.md"), note(hi))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let server = TestSetup::default().serve(&files);
    let create = json!({ "name": "custom_more", "definition": hi, "dryRun": true });
    let reason = server.refused("recipe_create", create.clone());
    assert!(reason.to_string().contains("50 recipes"), "{reason}");
    let server = TestSetup::default().serve(&files[1..]);
    server.done("recipe_create", create);
}

/// A hundred and twenty notes, more than a page of anything that a model is shown.
fn many() -> Vec<(String, String)> {
    (0..120).map(|number| (format!("Inbox/{number:03}.md"), format!("---\nk: {number}\n---\nneedle\n"))).collect()
}

#[test]
fn a_loop_over_a_query_or_a_search_gets_every_row() {
    let files = many();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    for (tool, with, list, path) in [
        ("query", "{query: \"TABLE k FROM \\\"Inbox\\\"\"}", "found.rows", "item[0]"),
        ("query", "{query: \"LIST FROM \\\"Inbox\\\"\"}", "found.values", "item"),
        ("search_content", "{query: needle, directory: Inbox}", "found.hits", "item.file"),
        (
            "obsidian_search_notes",
            "{mode: text, query: needle, pathPrefix: Inbox}",
            "found.result.hits",
            "item.filename",
        ),
        (
            "obsidian_search_notes",
            "{mode: omnisearch, query: \"needle path:Inbox\"}",
            "found.result.hits",
            "item.filename",
        ),
    ] {
        let definition = format!(
            "description: x\nsteps:\n  - {{id: found, tool: {tool}, with: {with}}}\n  - id: moved\n    tool: file_move\n    for_each: {list}\n    with: {{from: \"{{{{ {path} }}}}\", to: \"Done/{{{{ number }}}}.md\"}}\nanswer: \"{{{{ moved.length }}}}\"\n"
        );
        let server = with_recipe(&definition, &files);
        let done = server.done("custom_x", json!({}));
        assert_eq!((&done["answer"], done.get("cut")), (&json!(120), None), "{tool}: {done:#}");
        assert!(contents(&server).iter().all(|(path, _)| path.starts_with("Done/")));
    }
}

#[test]
fn a_result_that_is_only_a_part_is_said_to_be_one() {
    let files: Vec<(String, String)> =
        (0..1100).map(|number| (format!("{number}.md"), "- [ ] x\n".to_owned())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let definition = "description: x\nsteps:\n  - {id: all, tool: query, with: {query: LIST}}\n  - {id: few, tool: tasks_list, with: {limit: 3}}\nanswer: \"{{ all.values.length }} of {{ all.total }}\"\n";
    let server = with_recipe(definition, &files);
    let done = server.call("custom_x", json!({})).rendered().unwrap();
    assert_eq!(done.facts()["cut"], json!(["all", "few"]), "{}", done.structured());
    assert!(done.text().join("\n").contains("Only the first part was used of: all, few"), "{:?}", done.text());
    let steps = json!([{ "id": "few", "tool": "tasks_list", "with": { "limit": 3 } }]);
    let script = server.done("tools_script", json!({ "steps": steps, "answer": "{{ few.total }}" }));
    assert_eq!((&script["answer"], &script["cut"]), (&json!(1100), &json!(["few"])));
    // A loop never leaves some out silently.
    let looping = "description: x\nsteps:\n  - {id: all, tool: query, with: {query: LIST}}\n  - {tool: file_read, for_each: all.values, with: {file: \"{{ item }}\"}}\n";
    let server = with_recipe(looping, &files);
    assert_eq!(server.refused("custom_x", json!({})).kind(), ReasonKind::RecipeFailed);
}

const READS: &str = "description: Counts.\nsteps:\n  - {id: found, tool: query, with: {query: \"LIST FROM \\\"Inbox\\\"\"}}\nanswer: \"{{ found.total }}\"\n";
const WRITES: &str = "description: Logs.\nsteps:\n  - {id: found, tool: query, with: {query: LIST}}\n  - {tool: file_append, with: {file: Log.md, content: x}}\n";

#[test]
fn a_caller_who_may_only_read_runs_recipes_that_only_read() {
    let setup = TestSetup { profile: ProfileRules::reader(), ..TestSetup::default() };
    let server = serve(setup, &[("custom_reads", READS), ("custom_writes", WRITES)], INBOX);
    for (tool, call) in [
        ("custom_reads", json!({})),
        ("call_tool", json!({ "name": "custom_reads" })),
        ("recipe_run", json!({ "name": "custom_reads", "dryRun": true })),
    ] {
        let done = server.done(tool, call);
        assert_eq!((&done["answer"], &done["files"]), (&json!(3), &json!(0)), "{done:#}");
    }
    // As if its second step were called by hand.
    let by_hand = server.refused("file_append", json!({ "file": "Log.md", "content": "x" }));
    let reason = server.refused("custom_writes", json!({}));
    let Reason::InStep { index: 1, reason: inner, .. } = &reason else { panic!("{reason:?}") };
    assert_eq!(**inner, by_hand);
    assert_eq!(server.text("Log.md"), "# Log\n");
    let found = server.done("find_tool", json!({ "query": "count or log" }));
    let names: Vec<&Value> = found["recipes"].as_array().into_iter().flatten().map(|found| &found["name"]).collect();
    assert_eq!(names, ["custom_reads"], "{found:#}");
    let listed = server.done("recipe_list", json!({}));
    assert_eq!((&listed["recipes"][0]["enabled"], &listed["recipes"][1]["enabled"]), (&json!(true), &json!(false)));
    assert!(listed["recipes"][1]["problem"].as_str().unwrap().contains("`file_append` is off"), "{listed:#}");
}

#[test]
fn a_rule_against_running_recipes_holds_for_those_that_only_read() {
    let rule = |group, tool: Option<&str>, effect| crate::ApprovalRule {
        effect,
        group,
        tool: tool.map(str::to_owned),
        path: None,
        decision: crate::RuleDecision::Deny,
    };
    for rule in [
        rule(None, Some("recipe_run"), None),
        rule(Some(lapidary_tools::ToolGroup::Recipe), None, None),
        rule(None, None, Some(Effect::Read)),
        rule(None, Some("query"), None),
    ] {
        let setup = TestSetup { rules: vec![rule.clone()], ..TestSetup::default() };
        let server = serve(setup, &[("custom_x", READS)], INBOX);
        assert_eq!(server.refused("custom_x", json!({})).kind(), ReasonKind::DeniedByRule, "{rule:?}");
    }
}
