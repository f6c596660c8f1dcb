//! Values that try to be more than values, recipes that change under their approval, and what the log keeps of decisions.

use lapidary_tools::{ReasonKind, recipes::RecipeName};
use serde_json::{Value, json};

use super::recipes::{INBOX, contents, note, serve, with_recipe};
use crate::{
    ApprovalDecision, ConsentAnswer, Outcome, RecipeDecision, Verdict,
    testing::{TestServer, TestSetup},
};

const NOTES: &[(&str, &str)] = &[
    ("Open/a.md", "---\nstatus: open\n---\nlime mortar #x\n"),
    ("Open/b \"q\".md", "---\nstatus: \"it \\\"is\\\" so\"\n---\nlime\n"),
    ("Private/p.md", "---\nstatus: secret\n---\nlime mortar #x/y\n"),
];

/// Values that would end a text, a query or a template if they were written as they are.
const HOSTILE: &[&str] = &[
    "\" OR \"Private",
    "Open\" OR \"Private",
    "x\" OR true OR \"",
    "open\" OR status = \"secret",
    "\" WHERE true //",
    "` WHERE true `",
    "WHERE true",
    "true OR true",
    "x) OR (true",
    "\\",
    "\\\" OR true OR \\\"",
    "{{ found }}",
    "}} {{ 'Private' }}",
    "x\nWHERE true",
    "x\nfilters: \"true\"\nviews: []",
    "]] OR [[Private/p",
    "#x OR #x/y",
    "(((((((((",
    "\u{202e}x",
    "x.base#y",
    "x || true",
    "true",
    "status",
];

fn paths(done: &Value) -> Vec<String> {
    let rows = done["answer"].as_array().into_iter().flatten();
    rows.filter_map(|row| row.as_str().or(row["path"].as_str()).map(str::to_owned)).collect()
}

/// A recipe that answers with the paths that its query finds.
fn asking(tool: &str, with: &str, list: &str) -> String {
    format!(
        "description: x\nparameters: {{asked: text}}\nsteps:\n  - id: found\n    tool: {tool}\n    with: {with}\nanswer: \"{{{{ found.{list} }}}}\"\n"
    )
}

#[test]
fn no_value_is_more_than_a_value_in_a_query_or_a_search() {
    let dql = |query: &str| asking("query", &format!("{{query: {}}}", json!(query)), "values");
    let base = |filter: &str| {
        let yaml = format!("filters: {filter}\nviews:\n  - type: table\n    name: V\n    order: [file.path]\n");
        asking("query", &format!("{{query: {}}}", json!(yaml)), "rows")
    };
    let search = |query: &str| {
        asking(
            "obsidian_search_notes",
            &format!("{{mode: omnisearch, query: {}}}", json!(query)),
            "result.hits.map(value.filename)",
        )
    };
    for (definition, fits) in [
        (dql("LIST FROM \"{{ asked }}\""), "Open"),
        (dql("LIST FROM \"{{ asked }}\" WHERE status = \"open\""), "Open"),
        (dql("LIST FROM \"Open\" WHERE status = \"{{ asked }}\""), "open"),
        (dql("LIST FROM \"Open\" WHERE status = {{ asked }}"), "open"),
        (dql("LIST FROM #{{ asked }} AND \"Open\""), "x"),
        (dql("LIST FROM \"Open\" WHERE file.link = [[{{ asked }}]]"), "Open/a"),
        (base("file.inFolder(\"Open\") && status == \"{{ asked }}\""), "open"),
        (base("'file.inFolder(\"Open\") && status == \"{{ asked }}\"'"), "open"),
        (search("path:Open \"{{ asked }}\""), "lime mortar"),
        (search("path:Open {{ asked }}"), "lime mortar"),
        (search("path:Open [status:{{ asked }}]"), "open"),
        (search("path:Open [status:\"{{ asked }}\"]"), "open"),
        (search("path:Open tag:#{{ asked }}"), "x"),
    ] {
        let server = with_recipe(&definition, NOTES);
        let done = server.done("custom_x", json!({ "asked": fits }));
        assert!(paths(&done).contains(&"Open/a.md".to_owned()), "{definition}: {done:#}");
        for value in HOSTILE {
            // Refused, or found nothing: what is private, and what another condition excludes, is never found.
            match server.call("custom_x", json!({ "asked": value })) {
                Outcome::Refused(refusal) => {
                    let kind = refusal.reason.kind();
                    let known = [ReasonKind::RecipeFailed, ReasonKind::QueryInvalid, ReasonKind::NoteMissing];
                    assert!(known.contains(&kind), "{definition} {value}: {:?}", refusal.reason);
                }
                other => {
                    let facts = Value::Object(other.rendered().unwrap().facts());
                    let found = paths(&facts);
                    assert!(!found.iter().any(|path| path.starts_with("Private")), "{definition} {value}: {found:?}");
                }
            }
        }
    }
}

#[test]
fn a_value_with_quotes_finds_what_it_names() {
    let status = asking("query", &format!("{{query: {}}}", json!("LIST WHERE status = \"{{ asked }}\"")), "values");
    let server = with_recipe(&status, NOTES);
    let done = server.done("custom_x", json!({ "asked": "it \"is\" so" }));
    assert_eq!(paths(&done), ["Open/b \"q\".md"]);
    // A whole query may be a parameter: then it is the caller's.
    let whole = asking("query", "{query: \"{{ asked }}\"}", "values");
    let server = with_recipe(&whole, NOTES);
    let done = server.done("custom_x", json!({ "asked": "LIST WHERE status = \"open\"" }));
    assert_eq!(paths(&done), ["Open/a.md"]);
}

#[test]
fn a_value_in_a_pattern_is_found_as_it_is() {
    let with = "{query: \"^{{ asked }}$\", regex: true}";
    let server =
        with_recipe(&asking("search_content", with, "hits.map(value.file)"), &[("a.md", "a.b*\n"), ("b.md", "axbb\n")]);
    assert_eq!(paths(&server.done("custom_x", json!({ "asked": "a.b*" }))), ["a.md"]);
    let replace = "description: x\nparameters: {find: text, with: text}\nsteps:\n  - tool: obsidian_replace_in_note\n    with:\n      target: {type: path, path: a.md}\n      replacements:\n        - {search: \"({{ find }})+\", replace: \"<{{ with }}>\", useRegex: true}\n";
    let server = with_recipe(replace, &[("a.md", "a.a. axa\n")]);
    server.done("custom_x", json!({ "find": "a.", "with": "$1$&" }));
    assert_eq!(server.text("a.md"), "<$1$&> axa\n");
}

#[test]
fn templates_build_no_path_outside_of_what_the_recipe_says() {
    let definition = "description: x\nparameters: {one: text, two: text}\nsteps:\n  - id: made\n    tool: file_create\n    with: {file: \"{{ one }}{{ two }}\", content: x}\nanswer: \"{{ made.file }}\"\n";
    let server = with_recipe(definition, &[]);
    for (one, two) in [("", "Private/x.md"), ("..", "/x.md"), ("A", "/../x.md"), ("A/", "../x.md"), ("A", "\\x.md")] {
        let reason = server.refused("custom_x", json!({ "one": one, "two": two }));
        assert!(
            [ReasonKind::RecipeFailed, ReasonKind::PathTraversal].contains(&reason.kind()),
            "{one} {two}: {reason:?}"
        );
    }
    assert_eq!(contents(&server), []);
    let named = "description: x\nparameters: {name: text}\nsteps:\n  - id: made\n    tool: file_create\n    with: {file: \"A/{{ name }}.md\", content: x}\nanswer: \"{{ made.file }}\"\n";
    let server = with_recipe(named, &[]);
    for name in ["石 💎", "e\u{301}", "a'b", "日本", "ﬁ"] {
        assert_eq!(server.done("custom_x", json!({ "name": name }))["answer"], format!("A/{name}.md"));
    }
    for name in ["", " ", ".", "a\u{0}", "CON", "x".repeat(5000).as_str(), "a:b", "\u{2215}../", "a\n"] {
        let outcome = server.call("custom_x", json!({ "name": name })).rendered().unwrap();
        assert!(outcome.is_error || outcome.structured().contains("A/"), "{name}: {}", outcome.structured());
    }
}

#[test]
fn huge_and_deep_values_end_a_run_and_not_the_server() {
    let definition = "description: x\nparameters: {items: list, text: text}\nsteps:\n  - {id: a, tool: file_read, with: {file: a.md}}\nanswer: {text: \"{{ text }}\", all: \"{{ items.map(text).join() }}\"}\n";
    let server = with_recipe(definition, &[("a.md", "a\n")]);
    let items: Vec<String> = (0..200).map(|_| "x".repeat(1000)).collect();
    let reason = server.refused("custom_x", json!({ "items": items, "text": "y".repeat(500_000) }));
    let known =
        [ReasonKind::RecipeFailed, ReasonKind::ReplyTooLarge, ReasonKind::BudgetExceeded, ReasonKind::InvalidArguments];
    assert!(known.contains(&reason.kind()), "{reason:?}");
    let mut deep = json!("x");
    for _ in 0..100 {
        deep = json!([deep]);
    }
    assert_eq!(server.refused("custom_x", json!({ "items": deep, "text": "" })).kind(), ReasonKind::InvalidArguments);
    for expression in
        ["(".repeat(2000), "[".repeat(2000), format!("text{}", ".map(value)".repeat(500)), "-".repeat(3000)]
    {
        let steps = json!([{ "tool": "file_read", "with": { "file": "a.md" } }]);
        let outcome =
            server.call("tools_script", json!({ "steps": steps, "answer": format!("{{{{ {expression} }}}}") }));
        assert!(matches!(outcome, Outcome::Refused(_)), "{expression}");
    }
}

const HI: &str = "description: Greets.\nsteps:\n  - tool: file_append\n    with: {file: Log.md, content: Hi}\n";

fn events(server: &TestServer) -> Vec<(String, String)> {
    let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let log = server.log();
    let events = log.iter().filter(|line| line["event"].is_string());
    events.map(|line| (text(line, "event"), text(line, "recipe"))).collect()
}

#[test]
fn decisions_about_recipes_are_in_the_log() {
    let server = TestSetup::default().serve(&[("Recipes/custom_hi.md", &note(HI)), ("Log.md", "# Log\n")]);
    let name = RecipeName::parse("custom_hi").unwrap();
    let hash = lapidary_tools::recipes::approved_hash(&name, HI);
    let served = server.executor.vaults().iter().next().unwrap();
    let decide = |decision| server.executor.decide_recipe(served, &server.principal(), &name, decision).unwrap();
    assert!(decide(RecipeDecision::Approve(hash)));
    server.done("custom_hi", json!({}));
    assert!(decide(RecipeDecision::Disable));
    assert!(!decide(RecipeDecision::Disable), "there was nothing to take back");
    assert_eq!(server.refused("custom_hi", json!({})).kind(), ReasonKind::RecipeDisabled);
    let named = |event: &str| (event.to_owned(), "custom_hi".to_owned());
    assert_eq!(events(&server), [named("recipe_approved"), named("recipe_disabled")]);
    let line = &server.log()[0];
    assert_eq!(
        (&line["definition_hash"], &line["file"], &line["client_id"]),
        (&json!(hash.to_string()), &json!("Recipes/custom_hi.md"), &json!("tester"))
    );
    // The log is read with the rights of its reader.
    let seen = server.done("operation_log", json!({ "limit": 50 }));
    assert!(seen.to_string().contains("recipe_approved"), "{seen:#}");
    let narrow = server.principal_with(crate::testing::granted(&["Work"]));
    let seen = server.call_as(&narrow, "operation_log", json!({ "limit": 50 })).rendered().unwrap();
    assert!(!seen.structured().contains("recipe_"), "{}", seen.structured());
}

#[test]
fn recipes_that_a_person_agrees_to_are_in_the_log_as_approved() {
    let in_client = TestSetup { can_be_asked: true, ..TestSetup::default() }.serve(INBOX);
    let create = json!({ "name": "custom_hi", "definition": HI });
    let Outcome::Asked(question) = in_client.call("recipe_create", create.clone()) else { panic!("does not ask") };
    assert_eq!(events(&in_client), []);
    let mut again = in_client.invocation("recipe_create", create.clone());
    again.answer = Some(ConsentAnswer { state: question.state, verdict: Verdict::Agreed });
    assert!(!in_client.run(&again).rendered().unwrap().is_error);
    let later = TestSetup { waits_for_approval: true, ..TestSetup::default() }.serve(INBOX);
    assert_eq!(later.refused("recipe_create", create).kind(), ReasonKind::ApprovalPending);
    let pending = later.executor.pending().unwrap().remove(0);
    // What the console says about it, also if the owner has edited it there.
    let preview = later.executor.preview(&pending).unwrap();
    let said = later.executor.recipe_reviews(&pending.tool, &preview.changes);
    assert!(said[0].contains("It changes notes; every run can be undone. It calls `file_append`."), "{said:?}");
    assert!(said[0].contains("It writes to `Log.md`."), "{said:?}");
    let edited = note(&HI.replace("file_append", "file_raed"));
    let path = preview.changes.changes[0].path().clone();
    let amendment = crate::Amendment { texts: [(path, edited)].into(), ..crate::Amendment::default() };
    let said = later.executor.recipe_reviews(&pending.tool, &preview.amended(&amendment).unwrap().changes);
    assert!(said[0].contains("It cannot be run as it is: `steps[0].tool`"), "{said:?}");
    later.executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
    for server in [in_client, later] {
        assert_eq!(events(&server), [("recipe_approved".to_owned(), "custom_hi".to_owned())]);
        server.done("custom_hi", json!({}));
    }
}

#[test]
fn an_approval_is_for_what_was_shown_and_not_for_what_is_there_by_then() {
    let setup = TestSetup { waits_for_approval: true, ..TestSetup::default() };
    let server = serve(setup, &[("custom_hi", HI)], INBOX);
    let update = json!({ "name": "custom_hi", "definition": HI.replace("Hi", "Ho") });
    assert_eq!(server.refused("recipe_update", update).kind(), ReasonKind::ApprovalPending);
    let pending = server.executor.pending().unwrap().remove(0);
    // Another program writes another recipe under the same name while the request waits.
    server.done("str_replace", json!({ "file": "Recipes/custom_hi.md", "find": "Log.md", "replace": "Inbox/a.md" }));
    drop(server.executor.decide(&pending, ApprovalDecision::approve(&pending)));
    let before = contents(&server);
    let outcome = server.call("custom_hi", json!({}));
    let changed = contents(&server) != before;
    // Either it does not run, or it is exactly what was approved.
    assert!(
        !changed || server.text("Log.md") == "# Log\nHo\n",
        "{:?}",
        outcome.rendered().map(|reply| reply.structured().to_owned())
    );
    assert_eq!(server.text("Inbox/a.md"), INBOX[0].1);
}
