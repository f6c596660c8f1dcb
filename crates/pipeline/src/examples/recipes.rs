//! Recipes and scripts through all stages: as one change, as the owner approved them, and with no more than the caller may do.

use std::sync::Arc;

use lapidary_tools::{Effect, ProfileRules, Reason, ReasonKind, ToolGroup};
use lapidary_vault::{PathPrefix, Policy, VaultPath};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    ApprovalDecision, ApprovalRule, ConsentAnswer, Outcome, RuleDecision, Verdict,
    testing::{TestServer, TestSetup, granted},
};

/// A note with a recipe.
pub(super) fn note(definition: &str) -> String {
    format!("About it.\n\n```recipe\n{definition}```\n")
}

/// A server whose owner has approved the recipes in its vault.
pub(super) fn serve(setup: TestSetup, recipes: &[(&str, &str)], files: &[(&str, &str)]) -> TestServer {
    let recipes: Vec<(String, String)> =
        recipes.iter().map(|(name, definition)| (format!("Recipes/{name}.md"), note(definition))).collect();
    let recipes = recipes.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let all: Vec<(&str, &str)> = files.iter().copied().chain(recipes).collect();
    TestSetup { approves_recipes: true, ..setup }.serve(&all)
}

pub(super) fn with_recipe(definition: &str, files: &[(&str, &str)]) -> TestServer {
    serve(TestSetup::default(), &[("custom_x", definition)], files)
}

/// All files but the recipes.
pub(super) fn contents(server: &TestServer) -> Vec<(String, String)> {
    let listed = server.done("file_list", json!({ "recursive": true }));
    let mut files: Vec<(String, String)> = listed["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["type"] == "file")
        .filter_map(|entry| entry["path"].as_str())
        .filter(|path| !path.starts_with("Recipes/"))
        .map(|path| (path.to_owned(), server.text(path)))
        .collect();
    files.sort();
    files
}

const SORT: &str = "description: Files open notes.
parameters:
  folder: text
steps:
  - id: found
    tool: query
    with:
      query: TABLE status FROM \"Inbox\"
  - id: moved
    tool: file_move
    for_each: found.rows
    if: item[1] == \"open\"
    with:
      from: \"{{ item[0] }}\"
      to: \"{{ folder }}/{{ item[0].split('/').reverse()[0] }}\"
  - tool: file_append
    if: moved.length > 0
    with:
      file: Log.md
      content: \"Moved {{ moved.map(value.to).join(', ') }}\\n\"
answer: \"{{ moved.length }} moved\"
";

pub(super) const INBOX: &[(&str, &str)] = &[
    ("Inbox/a.md", "---\nstatus: open\n---\na\n"),
    ("Inbox/b.md", "---\nstatus: done\n---\nb\n"),
    ("Inbox/c.md", "---\nstatus: open\n---\nc\n"),
    ("Log.md", "# Log\n"),
];

#[test]
fn a_recipe_is_one_change_that_one_checkpoint_undoes() {
    let server = with_recipe(SORT, INBOX);
    let before = contents(&server);
    for (tool, call) in [
        ("custom_x", json!({ "folder": "Open" })),
        ("call_tool", json!({ "name": "custom_x", "arguments": { "folder": "Open" } })),
        ("recipe_run", json!({ "name": "custom_x", "arguments": { "folder": "Open" } })),
    ] {
        let shown = match tool {
            "custom_x" => server.done(tool, json!({ "folder": "Open", "dryRun": true })),
            _ => json!({ "diff": "+Moved Open/a.md, Open/c.md", "answer": "2 moved" }),
        };
        assert!(shown["diff"].as_str().unwrap().contains("+Moved Open/a.md, Open/c.md"), "{shown:#}");
        assert_eq!(contents(&server), before, "a dry run changes nothing");
        let done = server.done(tool, call);
        assert_eq!(
            (&done["answer"], &done["files"], &done["calls"]),
            (&json!("2 moved"), &json!(3), &json!(4)),
            "{done:#}"
        );
        assert_eq!(server.text("Log.md"), "# Log\nMoved Open/a.md, Open/c.md\n");
        assert_eq!((server.text("Open/a.md"), server.text("Inbox/b.md")), (INBOX[0].1.into(), INBOX[1].1.into()));
        let line = server.log().pop().unwrap();
        assert_eq!((&line["tool"], &line["recipe"]), (&json!("recipe_run"), &json!("custom_x")), "{line:#}");
        let steps = json!([
            { "tool": "query", "calls": 1 }, { "tool": "file_move", "calls": 2 }, { "tool": "file_append", "calls": 1 },
        ]);
        assert_eq!(line["steps"], steps);
        server.done("undo", json!({}));
        assert_eq!(contents(&server), before, "one undo takes all of it back");
    }
}

#[test]
fn a_step_that_fails_leaves_nothing_and_is_named() {
    let definition = "description: x\nsteps:\n  - tool: file_append\n    with: {file: Log.md, content: more}\n  - tool: str_replace\n    with: {file: Log.md, find: nothing, replace: x}\n";
    let server = with_recipe(definition, INBOX);
    let before = contents(&server);
    let reason = server.refused("custom_x", json!({}));
    assert_eq!((reason.kind(), &reason.data()["index"]), (ReasonKind::TextMissing, &json!(1)), "{reason:?}");
    assert_eq!(server.log().pop().unwrap()["recipe"], "custom_x");
    assert_eq!(contents(&server), before);
}

#[test]
fn bounds_and_keys_hold_for_a_run_as_a_whole() {
    let server = with_recipe(SORT, INBOX);
    let call = |more: Value| {
        let mut call = json!({ "folder": "Open" });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    };
    let reason = server.refused("custom_x", call(json!({ "expect": { "at_most": 2 } })));
    assert_eq!(reason.kind(), ReasonKind::UnexpectedChange);
    let keyed = call(json!({ "expect": { "notes": 3 }, "idempotency_key": "k" }));
    let first = server.done("custom_x", keyed.clone());
    assert_eq!(server.done("custom_x", keyed.clone()), first);
    let relayed = json!({ "name": "custom_x", "arguments": keyed });
    assert_eq!(server.done("call_tool", relayed), first, "the same call by another way");
    assert_eq!(server.text("Log.md"), "# Log\nMoved Open/a.md, Open/c.md\n");
}

#[test]
fn a_run_is_asked_about_once_with_the_whole_diff() {
    let rules = vec![ApprovalRule::effect(Effect::Write, RuleDecision::Ask)];
    let setup = TestSetup { rules, can_be_asked: true, ..TestSetup::default() };
    let server = serve(setup, &[("custom_x", SORT)], INBOX);
    let Outcome::Asked(question) = server.call("custom_x", json!({ "folder": "Open" })) else { panic!("not asked") };
    let message = &question.message;
    assert!(message.starts_with("`custom_x` wants to change") && message.contains("+Moved Open/a.md"), "{message}");
    let mut again = server.invocation("custom_x", json!({ "folder": "Open" }));
    again.answer = Some(ConsentAnswer { state: question.state, verdict: Verdict::Agreed });
    assert!(!server.run(&again).rendered().unwrap().is_error);
    assert_eq!(server.text("Open/c.md"), INBOX[2].1);
}

#[test]
fn rules_about_tools_and_paths_hold_for_every_step() {
    let named = |tool: &str, decision| ApprovalRule {
        effect: None,
        group: None,
        tool: Some(tool.to_owned()),
        path: None,
        decision,
    };
    let path =
        |path: &str, decision| ApprovalRule { path: PathPrefix::parse(path).ok(), ..ApprovalRule::any(decision) };
    for rule in [
        named("file_move", RuleDecision::Deny),
        named("query", RuleDecision::Deny),
        named("query", RuleDecision::Ask),
        named("file_append", RuleDecision::Ask),
        path("Open", RuleDecision::Deny),
        path("Log.md", RuleDecision::Deny),
        path("Inbox/c.md", RuleDecision::Ask),
        named("recipe_run", RuleDecision::Deny),
    ] {
        let server =
            serve(TestSetup { rules: vec![rule.clone()], ..TestSetup::default() }, &[("custom_x", SORT)], INBOX);
        let reason = server.refused("custom_x", json!({ "folder": "Open" }));
        let expected = match rule.decision {
            RuleDecision::Ask => ReasonKind::ApprovalUnavailable,
            _ => ReasonKind::DeniedByRule,
        };
        assert_eq!(reason.kind(), expected, "{rule:?}: {reason:?}");
        assert_eq!(server.text("Log.md"), "# Log\n", "{rule:?}");
        assert_eq!(server.text("Inbox/a.md"), INBOX[0].1, "{rule:?}");
    }
}

#[test]
fn what_a_parameter_holds_is_never_read_as_a_template_or_a_path() {
    let definition = "description: x\nparameters: {title: text}\nsteps:\n  - id: made\n    tool: file_create\n    with: {file: \"Meetings/{{ title }}.md\", content: \"{{ title }}\"}\nanswer: \"{{ made.file }}\"\n";
    let server = with_recipe(definition, &[("Private/secret.md", "hidden\n")]);
    for (title, kind) in [
        ("../Private/x", Some(ReasonKind::RecipeFailed)),
        ("..", Some(ReasonKind::RecipeFailed)),
        ("a/b", Some(ReasonKind::RecipeFailed)),
        ("{{ made }}", None),
        ("}} {{ title", None),
        ("{{ file('Private/secret.md').path }}", Some(ReasonKind::RecipeFailed)),
    ] {
        match kind {
            Some(kind) => assert_eq!(server.refused("custom_x", json!({ "title": title })).kind(), kind, "{title}"),
            None => {
                let done = server.done("custom_x", json!({ "title": title }));
                assert_eq!(done["answer"], format!("Meetings/{title}.md"));
                assert_eq!(server.text(&format!("Meetings/{title}.md")), title);
            }
        }
    }
    assert_eq!(server.refused("custom_x", json!({})).kind(), ReasonKind::InvalidArguments);
    assert_eq!(server.refused("custom_x", json!({ "title": "x", "tilte": 1 })).kind(), ReasonKind::InvalidArguments);
}

#[test]
fn a_recipe_that_was_not_approved_as_it_is_does_not_run() {
    let edit = "description: x\nsteps:\n  - tool: file_append\n    with: {file: Log.md, content: one}\n";
    let server = with_recipe(edit, INBOX);
    server.done("custom_x", json!({}));
    assert_eq!(server.text("Log.md"), "# Log\none\n");
    // Another tool, or another program, changes the note under the approval.
    server.done("str_replace", json!({ "file": "Recipes/custom_x.md", "find": "one", "replace": "two" }));
    assert_eq!(server.refused("custom_x", json!({})).kind(), ReasonKind::RecipeDisabled);
    let listed = server.done("recipe_list", json!({}));
    assert_eq!(listed["recipes"][0]["enabled"], false);
    assert!(listed["recipes"][0]["problem"].as_str().unwrap().contains("lapidary recipes approve custom_x"));
    assert_eq!(server.text("Log.md"), "# Log\none\n");
    // Text around the definition is not part of it.
    server.done("str_replace", json!({ "file": "Recipes/custom_x.md", "find": "two", "replace": "one" }));
    server.done("str_replace", json!({ "file": "Recipes/custom_x.md", "find": "About it.", "replace": "Changed." }));
    server.done("custom_x", json!({}));
    // Nor does a copy under another name run.
    let copy = server.text("Recipes/custom_x.md");
    server.done("file_create", json!({ "file": "Recipes/custom_y.md", "content": copy }));
    assert_eq!(server.refused("custom_y", json!({})).kind(), ReasonKind::RecipeDisabled);
}

#[test]
fn a_recipe_that_changes_while_its_run_waits_does_not_run() {
    let edit = "description: x\nsteps:\n  - tool: file_append\n    with: {file: Log.md, content: one}\n";
    let rules = vec![ApprovalRule { path: PathPrefix::parse("Log.md").ok(), ..ApprovalRule::any(RuleDecision::Ask) }];
    let setup = TestSetup { rules, waits_for_approval: true, ..TestSetup::default() };
    let server = serve(setup, &[("custom_x", edit)], INBOX);
    assert_eq!(server.refused("custom_x", json!({})).kind(), ReasonKind::ApprovalPending);
    let pending = server.executor.pending().unwrap().remove(0);
    server.done("str_replace", json!({ "file": "Recipes/custom_x.md", "find": "one", "replace": "two" }));
    server.executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
    assert_eq!(server.text("Log.md"), "# Log\n");
}

#[test]
fn a_person_sees_every_recipe_before_it_counts() {
    let allowed = vec![ApprovalRule::any(RuleDecision::Allow)];
    let greet = "description: Greets.\nsteps:\n  - tool: file_append\n    with: {file: Log.md, content: Hi}\n";
    let create = json!({ "name": "custom_hi", "definition": greet });
    let alone = TestSetup { rules: allowed.clone(), ..TestSetup::default() }.serve(INBOX);
    assert_eq!(alone.refused("recipe_create", create.clone()), Reason::NobodyToAsk);
    let in_batch = json!({ "ops": [{ "tool": "recipe_create", "args": create }] });
    assert_eq!(alone.done("bulk_apply", in_batch)["results"][0]["ok"], false);

    let setup = TestSetup { rules: allowed, can_be_asked: true, ..TestSetup::default() };
    let server = setup.serve(INBOX);
    let agreed = |tool: &str, call: Value| {
        let Outcome::Asked(question) = server.call(tool, call.clone()) else { panic!("{tool} does not ask") };
        let mut again = server.invocation(tool, call);
        again.answer = Some(ConsentAnswer { state: question.state, verdict: Verdict::Agreed });
        let reply = server.run(&again).rendered().unwrap();
        assert!(!reply.is_error, "{}", reply.structured());
        question.message
    };
    let message = agreed("recipe_create", create);
    assert!(
        message.contains("It calls `file_append`. It writes to `Log.md`.") && message.contains("content: Hi"),
        "{message}"
    );
    server.done("custom_hi", json!({}));
    assert_eq!(server.text("Log.md"), "# Log\nHi\n");
    let more = greet.replace("Hi", "Ho");
    let message = agreed("recipe_update", json!({ "name": "custom_hi", "definition": more }));
    assert!(message.contains("content: Ho"), "{message}");
    server.done("custom_hi", json!({}));
    assert_eq!(server.text("Log.md"), "# Log\nHi\nHo\n");
    agreed("recipe_delete", json!({ "name": "custom_hi" }));
    assert_eq!(server.refused("custom_hi", json!({})).kind(), ReasonKind::RecipeMissing);
    // What was deleted comes back disabled.
    server.done("file_create", json!({ "file": "Recipes/custom_hi.md", "content": note(&more) }));
    assert_eq!(server.refused("custom_hi", json!({})).kind(), ReasonKind::RecipeDisabled);
}

#[test]
fn a_rule_about_recipes_asks_before_one_that_only_reads_and_before_a_dry_run() {
    let reads = "description: x\nsteps:\n  - tool: file_read\n    with: {file: Log.md}\n";
    let writes = "description: x\nsteps:\n  - tool: file_append\n    with: {file: Log.md, content: one}\n";
    let idle =
        "description: x\nsteps:\n  - tool: file_append\n    if: \"false\"\n    with: {file: Log.md, content: one}\n";
    let recipes = [("custom_reads", reads), ("custom_writes", writes), ("custom_idle", idle)];
    let rules = || vec![ApprovalRule { group: Some(ToolGroup::Recipe), ..ApprovalRule::any(RuleDecision::Ask) }];
    let calls = || {
        [
            ("custom_reads", json!({})),
            ("custom_writes", json!({ "dryRun": true })),
            ("custom_idle", json!({})),
            ("recipe_run", json!({ "name": "custom_reads" })),
            ("recipe_list", json!({})),
        ]
    };
    let alone = serve(TestSetup { rules: rules(), ..TestSetup::default() }, &recipes, INBOX);
    let asking = serve(TestSetup { rules: rules(), can_be_asked: true, ..TestSetup::default() }, &recipes, INBOX);
    let waiting =
        serve(TestSetup { rules: rules(), waits_for_approval: true, ..TestSetup::default() }, &recipes, INBOX);
    for (tool, given) in calls() {
        assert_eq!(alone.refused(tool, given.clone()), Reason::NobodyToAsk, "{tool}");
        let Outcome::Asked(question) = asking.call(tool, given.clone()) else { panic!("{tool} does not ask") };
        assert!(!question.message.contains("# Log"), "{}", question.message);
        let mut again = asking.invocation(tool, given.clone());
        again.answer = Some(ConsentAnswer { state: question.state, verdict: Verdict::Agreed });
        let reply = asking.run(&again).rendered().unwrap();
        assert!(!reply.is_error, "{tool}: {}", reply.structured());
        assert_eq!(waiting.refused(tool, given.clone()).kind(), ReasonKind::ApprovalPending, "{tool}");
        let pending = waiting.executor.pending().unwrap().remove(0);
        waiting.executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
        waiting.done(tool, given);
    }
    assert_eq!(asking.text("Log.md"), "# Log\n");
    // A change is asked about as one.
    let Outcome::Asked(question) = asking.call("custom_writes", json!({})) else { panic!("no question") };
    assert!(question.message.contains("+one"), "{}", question.message);
}

#[test]
fn no_recipe_runs_another_or_a_tool_that_runs_others() {
    for step in [
        "tool: recipe_run\n    with: {name: custom_y}",
        "tool: custom_y",
        "tool: call_tool\n    with: {name: custom_y}",
        "tool: bulk_apply\n    with: {ops: []}",
        "tool: recipe_create\n    with: {name: custom_z, definition: x}",
        "tool: tools_script\n    with: {steps: [{tool: query}]}",
        "tool: obsidian_execute_command\n    with: {commandId: x}",
        "tool: operation_log",
        "tool: undo",
        "tool: rest/put",
    ] {
        let definition = format!("description: x\nsteps:\n  - {step}\n");
        let other = "description: y\nsteps:\n  - tool: file_append\n    with: {file: Log.md, content: y}\n";
        let server = serve(TestSetup::default(), &[("custom_x", &definition), ("custom_y", other)], INBOX);
        assert_eq!(server.refused("custom_x", json!({})).kind(), ReasonKind::RecipeInvalid, "{step}");
        let create = json!({ "name": "custom_z", "definition": definition });
        assert_eq!(server.refused("recipe_create", create).kind(), ReasonKind::RecipeInvalid, "{step}");
        assert_eq!(server.text("Log.md"), "# Log\n");
    }
    let server =
        with_recipe("description: x\nsteps:\n  - tool: file_append\n    with: {file: Log.md, content: y}\n", INBOX);
    let batch = json!({ "ops": [{ "tool": "custom_x", "args": {} }] });
    let refused = server.done("bulk_apply", batch)["results"][0].clone();
    assert_eq!((&refused["ok"], &refused["error"]["reason"]), (&json!(false), &json!("not_in_batch")), "{refused:#}");
    let batch = json!({ "ops": [{ "tool": "recipe_run", "args": { "name": "custom_x" } }] });
    assert_eq!(server.done("bulk_apply", batch)["results"][0]["ok"], false);
    assert_eq!(server.text("Log.md"), "# Log\n");
}

#[test]
fn a_refusal_says_what_is_wrong_with_a_recipe_and_what_with_a_script() {
    let definition = "description: x\nparameters: {title: text}\nsteps:\n  - tool: file_read\n    with: {file: \"Inbox/{{ title }}\"}\n";
    let server = with_recipe(definition, INBOX);
    let said = |tool: &str, arguments: Value| server.call(tool, arguments).rendered().unwrap().text().concat();
    let step = |tool: &str, answer: &str| json!({ "steps": [{ "id": "a", "tool": tool, "with": { "query": "LIST" } }], "answer": answer });
    for (tool, arguments, problem, hint) in [
        (
            "custom_x",
            json!({}),
            "Invalid arguments: `title` is required",
            "`recipe_show` with the name `custom_x` shows its",
        ),
        ("custom_x", json!({ "titel": "a" }), "`titel` is not a parameter of this recipe", "Did you mean `title`?"),
        ("custom_x", json!({ "title": "../a" }), "a single name there", "`recipe_show` shows the steps of the recipe"),
        (
            "tools_script",
            step("query", "{{ b }}"),
            "The script cannot be run: `answer`: ",
            "Correct the script and send it",
        ),
        (
            "tools_script",
            step("query", "{{ 'a'.repeat(9999999) }}"),
            "answer cannot be made",
            "Correct the script and send it",
        ),
        (
            "tools_script",
            step("custom_x", "x"),
            "`custom_x` is a recipe, and a recipe cannot be a step",
            "Correct the script",
        ),
    ] {
        let text = said(tool, arguments);
        assert!(text.contains(problem) && text.contains(hint), "{problem}, {hint}: {text}");
    }
}

#[test]
fn a_recipe_is_checked_as_a_whole_before_it_is_kept() {
    let server = TestServer::new(INBOX);
    for (steps, at, says) in [
        ("- tool: file_raed", "steps[0].tool", "did you mean `file_read`?"),
        ("- tool: file_read", "steps[0].with.file", "is required"),
        ("- tool: file_read\n    with: {fiel: a.md}", "steps[0].with.fiel", "not an argument"),
        ("- tool: file_read\n    with: {file: [1]}", "steps[0].with.file", "must be a string"),
        ("- tool: file_read\n    with: {file: \"{{ names }}\"}", "steps[0].with.file", "must be a string"),
        ("- tool: file_read\n    with: {file: ../x.md}", "steps[0].with.file", "not a path"),
        (
            "- tool: file_append\n    with: {file: a.md, content: x, dry_run: true}",
            "steps[0].with.dry_run",
            "whole recipe",
        ),
        ("- tool: file_list\n    with: {directory: \"{{ n }}\"}", "steps[0].with.directory", "is a folder"),
    ] {
        let definition = format!("description: x\nparameters: {{names: list, n: note}}\nsteps:\n  {steps}\n");
        let reason = server.refused("recipe_create", json!({ "name": "custom_z", "definition": definition }));
        let Reason::RecipeInvalid { problems, .. } = &reason else { panic!("{steps}: {reason:?}") };
        let found = problems.iter().any(|problem| problem.at == at && problem.problem.to_string().contains(says));
        assert!(found, "{steps}: {problems:?}");
    }
}

#[test]
fn a_run_has_the_rights_of_its_caller_and_not_of_the_one_who_made_it() {
    let definition = "description: x\nparameters: {to: text}\nsteps:\n  - id: all\n    tool: search_content\n    with: {query: secret}\n  - tool: file_append\n    with: {file: \"{{ to }}\", content: \"{{ all.total }}\"}\n";
    let files = [("Work/a.md", "x\n"), ("Private/b.md", "secret\n")];
    let server = with_recipe(definition, &files);
    let narrow = server.principal_with(granted(&["Work", "Recipes"]));
    let call = |to: &str| server.call_as(&narrow, "custom_x", json!({ "to": to }));
    assert!(call("Private/b.md").rendered().unwrap().is_error);
    let reply = call("Work/a.md").rendered().unwrap();
    assert!(!reply.is_error, "{}", reply.structured());
    assert_eq!(server.text("Work/a.md"), "x\n1\n", "the recipe itself, and nothing that it may not read");
    // Without the folder of recipes there are none.
    let narrower = server.principal_with(granted(&["Work"]));
    let Outcome::Refused(refusal) = server.call_as(&narrower, "custom_x", json!({ "to": "Work/a.md" })) else {
        panic!("ran")
    };
    assert_eq!(refusal.reason, Reason::RecipeMissing { name: "custom_x".into(), nearest: None });
    let listed = server.call_as(&narrower, "recipe_list", json!({})).rendered().unwrap();
    assert_eq!(listed.facts()["recipes"], json!([]));
    let found = server.call_as(&narrower, "find_tool", json!({ "query": "custom_x" })).rendered().unwrap();
    assert!(!found.structured().contains("custom_x"), "{}", found.structured());
}

#[test]
fn hidden_notes_show_through_no_loop_condition_or_answer() {
    let definition = "description: x
parameters: {name: text}
steps:
  - {id: found, tool: query, with: {query: \"LIST FROM \\\"\\\"\"}}
  - {id: words, tool: search_content, with: {query: needle}}
  - {id: listed, tool: file_list, with: {recursive: true}}
  - id: read
    tool: file_read
    for_each: listed.entries.map(value.path)
    if: item.endsWith(\".md\")
    with: {file: \"{{ item }}\"}
  - {id: named, tool: notes_read, with: {notes: [\"{{ name }}\"]}}
answer: {rows: \"{{ found }}\", words: \"{{ words }}\", listed: \"{{ listed }}\", read: \"{{ read.map(value.contentHash) }}\", named: \"{{ named }}\"}
";
    let open = [("a.md", "needle\n"), ("Notes/b.md", "[[c]]\n")];
    let hidden = [("Private/c.md", "needle needle\n"), ("Private/d.md", "#tag\n")];
    let policy = || Policy { read: None, deny: vec![PathPrefix::parse("Private").unwrap()], ..Policy::default() };
    let answers: Vec<Value> = [open.to_vec(), [open, hidden].concat()]
        .into_iter()
        .map(|files| {
            let setup = TestSetup { policy: policy(), ..TestSetup::default() };
            let server = serve(setup, &[("custom_x", definition)], &files);
            let run = |name: &str| match server.call("custom_x", json!({ "name": name })) {
                Outcome::Refused(refusal) => json!(format!("{:?}", refusal.reason)),
                other => Value::Object(other.rendered().unwrap().facts()),
            };
            json!([run("a.md"), run("c"), run("Private/c.md"), run("Private/none.md")])
        })
        .collect();
    let (without, with) = (answers[0].to_string(), answers[1].to_string());
    assert_eq!(without, with);
}

#[test]
fn a_script_reads_and_answers_with_what_it_keeps() {
    let server = TestServer::new(INBOX);
    let script = |steps: Value, answer: Value| json!({ "steps": steps, "answer": answer });
    let steps = json!([
        { "id": "found", "tool": "query", "with": { "query": "TABLE status FROM \"Inbox\"" } },
        { "id": "notes", "tool": "file_read", "for_each": "found.rows", "if": "item[1] == 'open'", "with": { "file": "{{ item[0] }}" } },
    ]);
    let done = server.done("tools_script", script(steps, json!("{{ notes.map(value.content.trim()).length }}")));
    assert_eq!((&done["answer"], &done["calls"]), (&json!(2), &json!(3)), "{done:#}");
    for (steps, kind) in [
        (json!([{ "tool": "file_append", "with": { "file": "Log.md", "content": "x" } }]), ReasonKind::RecipeInvalid),
        (json!([{ "tool": "custom_x" }]), ReasonKind::RecipeInvalid),
        (json!([{ "tool": "file_read", "with": { "file": "none.md" } }]), ReasonKind::NoteMissing),
        (json!([{ "id": "a", "tool": "vault_info", "for_each": "1" }]), ReasonKind::RecipeFailed),
    ] {
        assert_eq!(server.refused("tools_script", script(steps.clone(), Value::Null)).kind(), kind, "{steps}");
    }
    // For a caller who may only read as well.
    let reader = TestSetup { profile: ProfileRules::reader(), ..TestSetup::default() }.serve(INBOX);
    let steps = json!([{ "tool": "file_read", "with": { "file": "Log.md" } }]);
    assert_eq!(reader.done("tools_script", script(steps, Value::Null))["answer"]["content"], "# Log\n");
}

#[test]
fn find_tool_finds_a_recipe_and_the_list_stays_the_same() {
    let server = with_recipe(SORT, INBOX);
    let found = server.done("find_tool", json!({ "query": "file my open notes" }));
    assert_eq!(found["recipes"][0]["name"], "custom_x", "{found:#}");
    assert_eq!(found["recipes"][0]["arguments"], "folder: text");
    assert_eq!(found["recipes"][0]["effect"], "write");
    // A word in common, or the name of a tool, says nothing of a recipe.
    for other in ["make a word document of several notes", "file_append", "rename a tag in all notes"] {
        let found = server.done("find_tool", json!({ "query": other }));
        assert_eq!(found.get("recipes"), None, "{other}: {found:#}");
    }
    server.done("str_replace", json!({ "file": "Recipes/custom_x.md", "find": "Files open", "replace": "Sorts open" }));
    let found = server.done("find_tool", json!({ "query": "file my open notes" }));
    assert_eq!(found.get("recipes"), None, "a disabled one is not offered");
}

/// A call of a small set, on few files, so that many sequences work and many do not.
fn any_call() -> impl Strategy<Value = (&'static str, Value)> {
    let file = || prop::sample::select(vec!["a.md", "b.md", "F/c.md"]);
    let text = || prop::sample::select(vec!["one", "two", "[[a]]", "# H"]);
    prop_oneof![
        (file(), text()).prop_map(|(file, text)| ("file_create", json!({ "file": file, "content": text }))),
        (file(), text()).prop_map(|(file, text)| ("file_append", json!({ "file": file, "content": text }))),
        (file(), text(), text())
            .prop_map(|(file, find, with)| ("str_replace", json!({ "file": file, "find": find, "replace": with }))),
        (file(), file()).prop_map(|(from, to)| ("file_move", json!({ "from": from, "to": to }))),
        file().prop_map(|file| ("file_delete", json!({ "file": file }))),
        (file(), text())
            .prop_map(|(file, text)| ("frontmatter_set", json!({ "file": file, "keyPath": "k", "value": text }))),
        file().prop_map(|file| ("file_read", json!({ "file": file }))),
        Just(("query", json!({ "query": "TABLE k, length(file.inlinks) AS n SORT file.path" }))),
        text().prop_map(|text| ("search_content", json!({ "query": text }))),
    ]
}

/// What a call by hand answers, as far as a step can know it: what only a commit knows is left out, and links are paths.
fn known_to_a_step(answer: &Value) -> Value {
    const OF_A_COMMIT: [&str; 3] = ["checkpoint", "trashedTo", "notice"];
    match answer {
        Value::Array(items) => items.iter().map(known_to_a_step).collect(),
        Value::Object(fields) => match fields.get("$link") {
            Some(link) => link["path"].clone(),
            None => {
                let kept = fields.iter().filter(|(name, _)| !OF_A_COMMIT.contains(&name.as_str()));
                Value::Object(kept.map(|(name, value)| (name.clone(), known_to_a_step(value))).collect())
            }
        },
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// A recipe does and answers what its steps do one after the other; if one of them is refused, nothing is done.
    #[test]
    fn a_recipe_equals_its_steps_called_by_hand(calls in prop::collection::vec(any_call(), 1..6)) {
        let files = [("a.md", "one two\n"), ("b.md", "[[a]]\n")];
        let step = |(number, (tool, with)): (usize, &(&str, Value))| json!({ "id": format!("s{number}"), "tool": tool, "with": with });
        let steps: Vec<Value> = calls.iter().enumerate().map(step).collect();
        let results: Vec<String> = (0..calls.len()).map(|number| format!("{{{{ s{number} }}}}")).collect();
        let definition = json!({ "description": "x", "steps": steps, "answer": results }).to_string() + "\n";
        let (recipe, by_hand) = (with_recipe(&definition, &files), with_recipe(&definition, &files));
        let before = contents(&recipe);
        let answers: Result<Vec<Value>, ReasonKind> = calls.iter().map(|(tool, with)| match by_hand.call(tool, with.clone()) {
            Outcome::Refused(refusal) => Err(refusal.reason.kind()),
            other => Ok(known_to_a_step(&Value::Object(other.rendered().unwrap().facts()))),
        }).collect();
        match (recipe.call("custom_x", json!({})), answers) {
            (Outcome::Refused(refusal), answers) => {
                // Some steps cannot be joined into one change, whatever each of them does alone.
                let kind = refusal.reason.kind();
                prop_assert!(Some(kind) == answers.err() || kind == ReasonKind::BatchConflict, "{:?}", refusal.reason);
                prop_assert_eq!(contents(&recipe), before);
            }
            (_, Err(kind)) => prop_assert!(false, "it ran, and a step alone is refused: {:?}", kind),
            (done, Ok(answers)) => {
                prop_assert_eq!(contents(&recipe), contents(&by_hand));
                let facts = done.rendered().unwrap().facts();
                prop_assert_eq!(known_to_a_step(&facts["answer"]), Value::Array(answers));
            }
        }
    }
}

#[test]
fn the_state_of_another_computer_does_not_count() {
    let server = with_recipe(SORT, INBOX);
    let elsewhere = TestSetup::default()
        .serve(&[("Recipes/custom_x.md", &server.text("Recipes/custom_x.md")), ("Inbox/a.md", INBOX[0].1)]);
    assert_eq!(elsewhere.refused("custom_x", json!({ "folder": "Open" })).kind(), ReasonKind::RecipeDisabled);
    assert!(elsewhere.store.bytes(&VaultPath::parse("Open/a.md").unwrap()).is_none());
    assert!(Arc::strong_count(&elsewhere.store) > 0);
}
