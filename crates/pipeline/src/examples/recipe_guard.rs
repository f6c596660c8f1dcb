//! Where values may go: a path that a recipe begins stays in its folder, and a value is never syntax, in whatever form an argument
//! is written. What is shown of a recipe is what it does.

use lapidary_tools::{Reason, ReasonKind};
use serde_json::{Value, json};

use super::recipes::{contents, with_recipe};
use crate::{
    ApprovalRule, Outcome, RuleDecision,
    testing::{TestServer, TestSetup},
};

/// A recipe with one step and a parameter of each kind that is a text.
fn step(tool: &str, with: &str) -> String {
    format!("description: x\nparameters: {{x: text}}\nsteps:\n  - id: found\n    tool: {tool}\n    with: {with}\n")
}

fn created(definition: &str) -> Result<(), Vec<String>> {
    let server = TestServer::new(&[]);
    let call = json!({ "name": "custom_z", "definition": definition, "dryRun": true });
    match server.call("recipe_create", call) {
        Outcome::Refused(refusal) => match refusal.reason {
            Reason::RecipeInvalid { problems, .. } => {
                Err(problems.iter().map(|problem| format!("{}: {}", problem.at, problem.problem)).collect())
            }
            reason => Err(vec![format!("{reason:?}")]),
        },
        _ => Ok(()),
    }
}

const WORK: &[(&str, &str)] = &[("Work/a.md", "a\n"), ("Private/p.md", "p\n")];

#[test]
fn a_path_is_guarded_in_whatever_form_it_is_written() {
    for with in [
        "{target: \"Work/{{ x }}.md\", content: new}",
        "{target: {path: \"Work/{{ x }}.md\"}, content: new}",
        "{target: {type: path, path: \"Work/{{ x }}.md\"}, content: new}",
        "{Target: \"Work/{{ x }}.md\", content: new}",
        "{target: {Path: \"Work/{{ x }}.md\"}, content: new}",
    ] {
        let server = with_recipe(&step("obsidian_append_to_note", with), WORK);
        let before = contents(&server);
        for value in ["../Private/p", "sub/p", "..\\Private\\p", "..", "{\"path\": \"Private/p.md\"}"] {
            let reason = server.refused("custom_x", json!({ "x": value }));
            let known = [ReasonKind::RecipeFailed, ReasonKind::PathTraversal, ReasonKind::NoteMissing];
            assert!(known.contains(&reason.kind()), "{with} {value}: {reason:?}");
            assert_eq!(contents(&server), before, "{with} {value}");
        }
        server.done("custom_x", json!({ "x": "a" }));
        assert!(server.text("Work/a.md").contains("new"), "{with}");
    }
    let server = with_recipe(&step("notes_read", "{notes: \"Work/{{ x }}.md\"}"), WORK);
    assert_eq!(server.refused("custom_x", json!({ "x": "../Private/p" })).kind(), ReasonKind::RecipeFailed);
    server.done("custom_x", json!({ "x": "a" }));
}

#[test]
fn a_text_is_never_read_as_the_text_of_an_object() {
    let server = with_recipe(&step("obsidian_append_to_note", "{target: \"{{ x }}\", content: new}"), WORK);
    let before = contents(&server);
    for value in ["{\"period\":\"daily\"}", "{\"type\":\"path\",\"path\":\"Private/p.md\"}", "{\"type\":\"active\"}"] {
        drop(server.call("custom_x", json!({ "x": value })));
        assert!(
            contents(&server)
                .iter()
                .all(|(path, text)| before.contains(&(path.clone(), text.clone())) || path.contains("{")),
            "{value}"
        );
    }
    server.done("custom_x", json!({ "x": "Work/a.md" }));
    assert!(server.text("Work/a.md").contains("new"));
    let replacements = step("obsidian_replace_in_note", "{target: Work/a.md, replacements: \"{{ x.trim() }}\"}");
    let server = with_recipe(&replacements, WORK);
    let sent = json!([{ "search": "a", "replace": "b" }]).to_string();
    let reason = server.refused("custom_x", json!({ "x": sent }));
    assert_eq!(reason.kind(), ReasonKind::RecipeFailed, "{reason:?}");
    assert_eq!(server.text("Work/a.md"), "a\n");
    let rule = step("obsidian_search_notes", "{mode: jsonlogic, logic: \"{{ x.trim() }}\"}");
    let server = with_recipe(&rule, WORK);
    assert_eq!(server.refused("custom_x", json!({ "x": "{\"!!\": [1]}" })).kind(), ReasonKind::RecipeFailed);
    for with in [
        "{target: '{\"path\": \"Work/{{ x }}.md\"}', content: new}",
        "{target: Work/a.md, replacements: '[{\"search\": \"{{ x }}\"}]'}",
    ] {
        let tool = if with.contains("replacements") { "obsidian_replace_in_note" } else { "obsidian_append_to_note" };
        let problems = created(&step(tool, with)).unwrap_err();
        assert!(problems[0].contains("and not a text of one"), "{with}: {problems:?}");
    }
}

#[test]
fn what_is_shown_of_a_recipe_names_the_place_however_it_is_written() {
    for with in [
        "{target: Work/a.md, content: new}",
        "{target: {path: Work/a.md}, content: new}",
        "{target: {type: path, path: Work/a.md}, content: new}",
        "{target: '{\"type\": \"path\", \"path\": \"Work/a.md\"}', content: new}",
    ] {
        let server = with_recipe(&step("obsidian_append_to_note", with), WORK);
        assert_eq!(server.done("recipe_show", json!({ "name": "custom_x" }))["writes"], json!(["Work/a.md"]), "{with}");
        let outside = with.replace("Work/a.md", "../a.md");
        let problems = created(&step("obsidian_append_to_note", &outside)).unwrap_err();
        assert!(problems[0].contains("is not a path in a vault"), "{outside}: {problems:?}");
    }
    let server = with_recipe(&step("obsidian_append_to_note", "{target: \"Work/{{ x }}.md\", content: new}"), WORK);
    assert_eq!(server.done("recipe_show", json!({ "name": "custom_x" }))["writes"], json!(["Work/…"]));
}

/// What a read finds for a value.
fn found(server: &TestServer, value: &str) -> String {
    match server.call("custom_x", json!({ "x": value })) {
        Outcome::Refused(_) => String::new(),
        other => Value::Object(other.rendered().unwrap().facts())["answer"].to_string(),
    }
}

#[test]
fn no_value_is_syntax_in_any_language_of_an_argument() {
    let notes: &[(&str, &str)] = &[
        ("Open/ab.md", "---\nstatus: open\n---\nlime\n"),
        ("Private/pb.md", "---\nstatus: secret\n---\nlime\n"),
        ("Private.base", "views:\n  - type: table\n    name: V\n"),
        ("Open/Books.base", "filters: file.inFolder(\"Open\")\nviews:\n  - type: table\n    name: V\n"),
    ];
    let logic = |rule: &str| format!("{{mode: jsonlogic, logic: {rule}}}");
    for (tool, with, fits, hostile) in [
        ("file_find", "{mode: regex, query: \"^Open/{{ x }}b\"}".to_owned(), "a", &[".*", "|Private/p", "a|"][..]),
        ("file_find", "{mode: glob, query: \"Open/{{ x }}b.md\"}".to_owned(), "a", &["*", "?", "[a]", "../Private/p"]),
        ("file_list", "{recursive: true, glob: \"Open/{{ x }}b.md\"}".to_owned(), "a", &["*", "{a,p}", "../Private/*"]),
        ("obsidian_list_notes", "{path: Open, nameRegex: \"^{{ x }}b\"}".to_owned(), "a", &[".", ".*", "a|"]),
        (
            "obsidian_search_notes",
            logic("{glob: [\"Open/{{ x }}*\", {var: path}]}"),
            "a",
            &["*", "}/*{", "{a,x}", "a/../../Private/"],
        ),
        ("obsidian_search_notes", logic("{regexp: [\"^Open/{{ x }}\", {var: path}]}"), "a", &[".", "x|^Private", "|"]),
        ("obsidian_search_notes", logic("{regexp: [\"{{ x }}\", {var: path}]}"), "Open/a", &["^", ".*", "Private|x"]),
        ("obsidian_search_notes", logic("{regexp: [{cat: [\"^Open/\", \"{{ x }}\"]}, {var: path}]}"), "a", &[".", "|"]),
        (
            "obsidian_search_notes",
            logic("{and: [{\"==\": [{var: \"frontmatter.{{ x }}\"}, open]}]}"),
            "status",
            &["x.y", "status.0"],
        ),
        (
            "query",
            "{query: \"{{ x }}/Books.base\"}".to_owned(),
            "Open",
            &["Private.base#", "LIST //", "filters: 'true'\nviews: []\nx"],
        ),
    ] {
        let server = with_recipe(&step(tool, &with), notes);
        assert!(found(&server, fits).contains("Open/ab.md"), "{with}: {}", found(&server, fits));
        for value in hostile {
            let answer = found(&server, value);
            assert!(!answer.contains("ab.md") && !answer.contains("pb.md"), "{with} {value}: {answer}");
        }
    }
}

#[test]
fn a_value_in_an_expression_of_a_base_is_a_text() {
    let with = "{file: X.base, filters: 'status == \"{{ x }}\"', formulas: {f: \"note.a == {{ x }}\", g: \"{{ x }}\"}}";
    let server = with_recipe(&step("base_create", with), &[]);
    server.done("custom_x", json!({ "x": "a\" || true || \"" }));
    let base = server.text("X.base");
    assert!(
        base.contains(r#"status == "a\" || true || \"""#) && base.contains(r#"f: note.a == "a\" || true || \"""#),
        "{base}"
    );
    assert!(
        base.contains(r#"g: "\"a\\\" || true || \\\"\"""#) || base.contains(r#"g: '"a\" || true || \""'"#),
        "{base}"
    );
}

#[test]
fn a_value_in_a_patch_stays_in_its_line() {
    let with = "{file: Work/a.md, patch: \"@@ -1 +1 @@\\n-a\\n+{{ x }}\\n\"}";
    let server = with_recipe(&step("apply_patch", with), WORK);
    assert_eq!(server.refused("custom_x", json!({ "x": "b\n+c" })).kind(), ReasonKind::RecipeFailed);
    server.done("custom_x", json!({ "x": "-b" }));
    assert_eq!(server.text("Work/a.md"), "-b\n");
}

#[test]
fn an_expression_cannot_make_a_query() {
    for (tool, with) in [
        ("query", "{query: \"{{ 'LIST FROM \\\"' + x + '\\\"' }}\"}"),
        ("search", "{query: \"{{ ['path:Open', x].join(' ') }}\"}"),
        ("search_content", "{regex: true, query: \"{{ x + '.*' }}\"}"),
        ("file_find", "{mode: \"{{ x }}\", query: \"{{ x + '*' }}\"}"),
    ] {
        let problems = created(&step(tool, with)).unwrap_err();
        assert!(
            problems.iter().any(|problem| problem.contains("which an expression cannot make")),
            "{with}: {problems:?}"
        );
    }
    let items = "description: x\nparameters: {x: list}\nsteps:\n  - tool: query\n    for_each: x.map('LIST FROM \"' + value + '\"')\n    with: {query: \"{{ item }}\"}\n";
    assert!(created(items).unwrap_err()[0].contains("which an expression cannot make"));
    // A text that is not a language may be made of anything, and a whole query may be the caller's.
    assert_eq!(created(&step("search_content", "{query: \"{{ x + '.*' }}\"}")), Ok(()));
    assert_eq!(created(&step("query", "{query: \"{{ x }}\"}")), Ok(()));
}

#[test]
fn a_loop_over_a_field_that_is_not_there_is_refused() {
    let over = |tool: &str, with: &str, list: &str| {
        format!(
            "description: x\nsteps:\n  - id: found\n    tool: {tool}\n    with: {with}\n  - tool: file_read\n    for_each: {list}\n    with: {{file: Work/a.md}}\nanswer: \"{{{{ step_2.length }}}}\"\n"
        )
    };
    let search = "{query: zzz}";
    // Before it is kept, where the tool says what it gives.
    for (tool, with, list, says) in [
        (
            "obsidian_search_notes",
            search,
            "found.hits",
            "`found.hits` is not in the result of `obsidian_search_notes`, which has `result`",
        ),
        ("obsidian_search_notes", search, "found.hits.map(value.filename)", "is not in the result"),
        ("obsidian_search_notes", search, "found.result", "`found.result` is not a list"),
        ("search_content", search, "found.result.hits", "which has `hits`"),
        ("tasks_list", "{}", "found.tasks", "which has"),
    ] {
        let problems = created(&over(tool, with, list)).unwrap_err();
        assert!(problems[0].starts_with("steps[1].for_each") && problems[0].contains(says), "{list}: {problems:?}");
    }
    // And when it runs, where only the answer says it.
    let table = "{query: \"TABLE x FROM \\\"None\\\"\"}";
    let server = with_recipe(&over("query", table, "found.values"), WORK);
    let reason = server.refused("custom_x", json!({}));
    assert!(
        reason.kind() == ReasonKind::RecipeFailed && format!("{reason:?}").contains("asks for `values`"),
        "{reason:?}"
    );
    // No rows, no hits and a step that was left out are nothing to do, and no mistake.
    for (tool, with, list) in [
        ("query", table, "found.rows"),
        ("obsidian_search_notes", "{mode: text, query: zzz, pathPrefix: Work/}", "found.result.hits"),
        ("search_content", "{query: zzz, directory: Work}", "found.hits"),
        ("tasks_list", "{}", "found.groups"),
    ] {
        let server = with_recipe(&over(tool, with, list), WORK);
        assert_eq!(server.done("custom_x", json!({}))["answer"], 0, "{list}");
    }
    let left_out =
        over("query", table, "found.values").replace("    tool: query\n", "    tool: query\n    if: false\n");
    assert_eq!(with_recipe(&left_out, WORK).done("custom_x", json!({}))["answer"], 0);
}

#[test]
fn a_field_that_a_tool_never_gives_is_refused_wherever_it_is_used() {
    let uses = |content: &str, rest: &str| {
        format!(
            "description: x\nsteps:\n  - id: found\n    tool: file_read\n    with: {{file: Work/a.md}}\n  - tool: file_create\n    with: {{file: b.md, content: \"{content}\"}}\n{rest}"
        )
    };
    for (definition, at) in [
        (uses("[{{ found.contnt }}]", ""), "steps[1].with.content"),
        (uses("x", "    if: found.contnt.length > 1\n"), "steps[1].if"),
        (uses("x", "answer: [\"{{ 1 + found.contnt }}\"]\n"), "answer"),
    ] {
        let problems = created(&definition).unwrap_err();
        let says = "is not in the result of `file_read`, which has `file`, `content`";
        assert!(problems[0].starts_with(at) && problems[0].contains(says), "{problems:?}");
    }
    // A text has a length, and properties are what the note has.
    let known = uses("{{ found.content.length }} {{ found.frontmatter.data.any.thing }}", "");
    assert_eq!(created(&known), Ok(()));
}

#[test]
fn an_empty_name_does_not_stand_for_its_folder() {
    let server = with_recipe(&step("file_move", "{from: \"Work/{{ x }}\", to: \"Archive/{{ x }}\"}"), WORK);
    for x in ["", " "] {
        let reason = server.refused("custom_x", json!({ "x": x }));
        assert_eq!(reason.kind(), ReasonKind::RecipeFailed, "{reason:?}");
        assert!(!server.text("Work/a.md").is_empty());
    }
}

#[test]
fn a_link_that_is_open_in_a_comment_ends_no_quote_behind_it() {
    for (query, x) in [
        ("LIST // like [[this\\nFROM \\\"Work/{{ x }}\\\"", "\" or \"Secret"),
        ("LIST FROM \\\"Work\\\" // not [[x\\nWHERE status = {{ x }}", "owner or true"),
        ("LIST // [[x\\nFROM #{{ x }}", "tag"),
    ] {
        let server = with_recipe(&step("query", &format!("{{query: \"{query}\"}}")), WORK);
        let reason = server.refused("custom_x", json!({ "x": x }));
        assert!(format!("{reason:?}").contains("open at the end of a line"), "{query}: {reason:?}");
    }
}

#[test]
fn a_step_gets_all_tasks() {
    let tasks = "- [ ] task\n".repeat(40);
    let definition = "description: x\nsteps:\n  - id: found\n    tool: tasks_list\n    with: {path: Many.md}\nanswer: \"{{ found.groups[0].tasks.length }}\"\n";
    let server = with_recipe(definition, &[("Many.md", &tasks)]);
    let done = server.done("custom_x", json!({}));
    assert_eq!((&done["answer"], done.get("cut")), (&json!(40), None), "{done:#}");
    let listed = server.done("tasks_list", json!({ "path": "Many.md" }));
    assert_eq!(listed["groups"][0]["tasks"].as_array().unwrap().len(), 30);
}

#[test]
fn a_date_can_be_counted_with() {
    let definition = "description: x\nparameters: {day: date}\nsteps:\n  - id: made\n    tool: file_create\n    with: {file: \"Log/{{ day }}.md\", content: \"{{ (day + '1w').format('YYYY-MM-DD') }} {{ day.year }}\"}\nanswer: \"{{ made.file }}\"\n";
    let server = with_recipe(definition, WORK);
    assert_eq!(server.done("custom_x", json!({ "day": "2026-11-18" }))["answer"], "Log/2026-11-18.md");
    assert_eq!(server.text("Log/2026-11-18.md"), "2026-11-25 2026");
}

#[test]
fn notes_and_folders_are_found_by_their_names() {
    let definition = "description: x\nparameters: {of: note, to: {type: folder, default: Archive}}\nsteps:\n  - tool: file_move\n    with: {from: \"{{ of }}\", to: \"{{ to }}/{{ of.split('/').reverse()[0] }}\"}\nanswer: \"{{ of }} {{ to }}\"\n";
    let files = &[
        ("Work/Roof plan.md", "---\naliases: [Slates]\n---\na\n"),
        ("Old/Archive/b.md", "b\n"),
        ("A/Same.md", "1\n"),
        ("B/Same.md", "2\n"),
        ("A/Twice/x.md", ""),
        ("B/Twice/x.md", ""),
    ];
    for (name, folder) in [
        ("roof plan", "archive"),
        ("Slates", "Old/Archive"),
        ("[[Roof plan]]", "Old/Archive"),
        ("Work/Roof plan.md", "Archive"),
    ] {
        let server = with_recipe(definition, files);
        let done = server.done("custom_x", json!({ "of": name, "to": folder }));
        assert_eq!(done["answer"], "Work/Roof plan.md Old/Archive", "{name} {folder}");
        assert_eq!(server.text("Old/Archive/Roof plan.md"), files[0].1);
    }
    let server = with_recipe(definition, files);
    for (name, folder, kind) in [
        ("Nothing", "Archive", ReasonKind::NoteMissing),
        ("Same", "Archive", ReasonKind::AmbiguousPath),
        ("Roof plan", "Nowhere", ReasonKind::DirectoryMissing),
        ("Roof plan", "Twice", ReasonKind::AmbiguousPath),
        ("Roof plan", "Work/Roof plan.md", ReasonKind::PathIsFile),
    ] {
        assert_eq!(server.refused("custom_x", json!({ "of": name, "to": folder })).kind(), kind, "{name} {folder}");
    }
    // The default is a name as well.
    assert_eq!(server.done("custom_x", json!({ "of": "Roof plan" }))["answer"], "Work/Roof plan.md Old/Archive");
}

#[test]
fn a_recipe_too_many_is_listed_as_not_loaded() {
    let text =
        super::recipes::note("description: x\nsteps:\n  - tool: file_append\n    with: {file: Log.md, content: Hi}\n");
    let paths: Vec<String> = (0..53).map(|number| format!("Recipes/custom_r{number:02}.md")).collect();
    let files: Vec<(&str, &str)> =
        paths.iter().map(|path| (path.as_str(), text.as_str())).chain([("Log.md", "")]).collect();
    let server = TestSetup { approves_recipes: true, can_be_asked: true, ..TestSetup::default() }.serve(&files);
    let listed = server.done("recipe_list", json!({}));
    let recipes = listed["recipes"].as_array().unwrap();
    assert_eq!(recipes.len(), 53);
    assert_eq!((&recipes[49]["enabled"], &recipes[50]["enabled"]), (&json!(true), &json!(false)));
    assert!(recipes[50]["problem"].as_str().unwrap().starts_with("not loaded: "), "{}", recipes[50]);
    server.done("custom_r49", json!({}));
    let reason = server.refused("custom_r50", json!({}));
    assert!(reason.kind() == ReasonKind::RecipeInvalid && format!("{reason}").contains("not loaded"), "{reason}");
    let reason =
        server.refused("recipe_create", json!({ "name": "custom_z", "definition": step("file_read", "{file: a.md}") }));
    assert!(format!("{reason}").contains("delete one first"), "{reason}");
}

#[test]
fn refusals_about_recipes_say_what_is_true_and_what_to_do() {
    let definition = "description: x\nsteps:\n  - id: first\n    tool: file_raed\n  - tool: regex_replace\n  - tool: operation_log\n  - tool: bulk_apply\n";
    let server = with_recipe(&step("file_read", "{file: \"Work/{{ x }}.md\"}"), WORK);
    let said = |tool: &str, arguments: Value| server.call(tool, arguments).rendered().unwrap().text().concat();
    let text = said("recipe_create", json!({ "name": "custom_x", "definition": definition }));
    assert!(
        text.contains("already exists") && text.contains("use `recipe_update`") && !text.contains("file_replace"),
        "{text}"
    );
    let text = said("recipe_create", json!({ "name": "custom_y", "definition": definition }));
    for part in [
        "in the step `first`: there is no tool `file_raed`; did you mean `file_read`?",
        "`regex_replace` shows what it would do before a second call does it, so it cannot be a step",
        "`operation_log` reads the log",
        "`bulk_apply` runs other tools",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let single = "description: x\nsteps:\n  - tool: file_raed\n";
    let text = said("recipe_create", json!({ "name": "custom_y", "definition": single }));
    assert!(text.contains("`file_read`?") && !text.contains("?."), "{text}");
    let ask = ApprovalRule { tool: Some("file_read".to_owned()), ..ApprovalRule::any(RuleDecision::Ask) };
    let setup = TestSetup { rules: vec![ask], can_be_asked: true, ..TestSetup::default() };
    let server = super::recipes::serve(setup, &[("custom_x", &step("file_read", "{file: Work/a.md}"))], WORK);
    let reason = server.refused("custom_x", json!({ "x": "a" }));
    assert_eq!(reason.kind(), ReasonKind::ApprovalUnavailable);
    assert!(format!("{reason}").contains("among other steps"), "{reason}");
}

#[test]
fn an_approval_shows_a_definition_once() {
    let server = TestSetup { can_be_asked: true, ..TestSetup::default() }.serve(WORK);
    let ask = |definition: &str| match server
        .call("recipe_create", json!({ "name": "custom_x", "definition": definition }))
    {
        Outcome::Asked(question) => question.message,
        other => panic!("not asked: {:?}", other.rendered().map(|reply| reply.structured().to_owned())),
    };
    let message = ask(&step("file_read", "{file: Work/only-once.md}"));
    assert_eq!(message.matches("only-once").count(), 1, "{message}");
    assert!(message.contains("It only reads."), "{message}");
    // Of a long one the diff shows only the beginning, and every word counts.
    let long = step("file_create", &format!("{{file: Work/b.md, content: \"{} at the end\"}}", "word ".repeat(1500)));
    assert!(ask(&long).contains("at the end"));
}
