//! Recipes from end to end: through MCP, on the command line, and those that come with the demo vault.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::{
    harness::{Era, Vault},
    http::HttpServer,
    tokens::{FAR, WEB_SECRET, web_token},
};

const SETTINGS: [(&str, &str); 2] = [("LAPIDARY_RECIPE_FOLDER", "Recipes"), ("LAPIDARY_SCRIPTS", "true")];

const GREET: &str = "description: Greet a person in a new note.
parameters:
  name: text
steps:
  - id: made
    tool: file_create
    with:
      file: \"People/{{ name }}.md\"
      content: \"Hello {{ name }}!\\n\"
  - tool: file_append
    with:
      file: Log.md
      content: \"- [[{{ name }}]]\"
answer: \"{{ made.file }}\"
";

fn note() -> String {
    format!("```recipe\n{GREET}```\n")
}

#[test]
fn an_approved_recipe_is_found_and_run_by_its_name_over_mcp() {
    let vault = Vault::new(&[("Log.md", b"# Log\n"), ("Recipes/custom_greet.md", note().as_bytes())]);
    let mut server = vault.serve_with(&[], &SETTINGS).open(Era::Modern);
    let list = |server: &mut crate::harness::Server| server.request("tools/list", json!({}))["result"]["tools"].clone();
    let before = list(&mut server);
    let found = server.done("find_tool", json!({ "query": "greet a person" }));
    assert_eq!(found.get("recipes"), None, "it is not approved yet: {found}");
    assert_eq!(server.refused("custom_greet", json!({ "name": "Ada" })), "recipe_disabled");
    vault.approve_recipe("Recipes/custom_greet.md", &note());
    let found = server.done("find_tool", json!({ "query": "greet a person" }));
    assert_eq!(found["recipes"][0]["name"], "custom_greet", "{found}");
    let done = server.done("call_tool", json!({ "name": "custom_greet", "arguments": { "name": "Ada" } }));
    assert_eq!((&done["answer"], &done["files"]), (&json!("People/Ada.md"), &json!(2)), "{done}");
    assert_eq!(vault.read("People/Ada.md"), b"Hello Ada!\n");
    assert_eq!(vault.read("Log.md"), b"# Log\n- [[Ada]]\n");
    // All of it or nothing: the second run finds the note of the first.
    let files = vault.everything();
    assert_eq!(server.refused("custom_greet", json!({ "name": "Ada" })), "file_exists");
    assert_eq!(vault.everything(), files);
    server.done("undo", json!({}));
    assert_eq!(vault.read("Log.md"), b"# Log\n");
    assert!(!vault.path().join("People/Ada.md").exists());
    assert_eq!(list(&mut server), before, "the list never changes by a call");
    drop(server);
    let log = vault.log();
    let line = log.iter().find(|line| line["recipe"] == "custom_greet" && line["ok"] == true).unwrap();
    assert_eq!(line["steps"][0], json!({ "tool": "file_create", "calls": 1 }), "{line}");
}

const COUNT: &str = "description: Count the notes of a folder.
parameters:
  folder: folder
steps:
  - id: found
    tool: query
    with:
      query: LIST FROM \"{{ folder }}\"
answer: \"{{ found.total }}\"
";

#[test]
fn a_token_that_may_only_read_runs_recipes_that_only_read() {
    let count = format!("```recipe\n{COUNT}```\n");
    let vault = Vault::new(&[
        ("Log.md", b"# Log\n"),
        ("Recipes/custom_greet.md", note().as_bytes()),
        ("Recipes/custom_count.md", count.as_bytes()),
    ]);
    vault.approve_recipe("Recipes/custom_greet.md", &note());
    vault.approve_recipe("Recipes/custom_count.md", &count);
    let settings = [SETTINGS[0], ("MCP_AUTH_MODE", "jwt"), ("MCP_AUTH_SECRET_KEY", WEB_SECRET)];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &settings);
    let bearer = format!("Bearer {}", web_token(&json!({ "cid": "phone", "scope": "vault:read", "exp": FAR })));
    let call = |tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        server.post(&[("Authorization", bearer.as_str())], "tools/call", Some(tool), params).1
    };
    for (tool, arguments) in [
        ("custom_count", json!({ "folder": "Recipes" })),
        ("call_tool", json!({ "name": "custom_count", "arguments": { "folder": "Recipes" } })),
    ] {
        let said = call(tool, arguments);
        assert!(said.contains("\"answer\":2") && !said.contains("isError\":true"), "{said}");
    }
    let before = vault.everything();
    let refused = call("custom_greet", json!({ "name": "Ada" }));
    assert!(refused.contains("insufficient_scope") && refused.contains("steps[0]"), "{refused}");
    assert_eq!(vault.everything(), before);
    drop(server);
    // So does a server that may change nothing.
    let mut reader = vault.serve_with(&["--read-only"], &SETTINGS).open(Era::Modern);
    assert_eq!(reader.done("custom_count", json!({ "folder": "Recipes" }))["answer"], 2);
    assert_eq!(reader.refused("custom_greet", json!({ "name": "Ada" })), "tool_disabled");
}

#[test]
fn undo_takes_the_folders_that_a_run_made_and_no_others() {
    let move_there = "description: x\nparameters: {to: text}\nsteps:\n  - tool: file_move\n    with: {from: a.md, to: \"{{ to }}/a.md\"}\n  - tool: file_create\n    with: {file: \"{{ to }}/Deep/b.md\", content: b}\n";
    let recipe = format!("```recipe\n{move_there}```\n");
    let vault = Vault::new(&[("a.md", b"a\n"), ("Recipes/custom_move.md", recipe.as_bytes())]);
    vault.approve_recipe("Recipes/custom_move.md", &recipe);
    std::fs::create_dir(vault.path().join("Empty")).unwrap();
    let mut server = vault.serve_with(&[], &SETTINGS).open(Era::Modern);
    for (to, stays) in [("New", false), ("Empty", true), ("Far/Off", false), ("Kept", true)] {
        server.done("custom_move", json!({ "to": to }));
        if to == "Kept" {
            std::fs::write(vault.path().join("Kept/foreign.txt"), "x").unwrap();
        }
        server.done("undo", json!({}));
        assert_eq!(vault.read("a.md"), b"a\n");
        let top = to.split('/').next().unwrap();
        assert_eq!(vault.path().join(top).exists(), stays, "{to}");
        assert!(!vault.path().join(to).join("Deep").exists(), "{to}");
        let listed = server.done("file_list", json!({ "recursive": true })).to_string();
        assert!(stays || !listed.contains(top), "{listed}");
    }
    // A folder that a person empties stays.
    server.done("file_create", json!({ "file": "Own/c.md", "content": "c" }));
    server.done("file_delete", json!({ "file": "Own/c.md" }));
    assert!(vault.path().join("Own").exists());
}

#[test]
fn a_client_makes_a_recipe_only_if_its_user_agrees() {
    let vault = Vault::new(&[("Log.md", b"# Log\n")]);
    let create = json!({ "name": "custom_greet", "definition": GREET });
    let settings = [SETTINGS[0], ("LAPIDARY_APPROVAL", "write=allow,destroy=allow")];
    let mut server = vault.serve_with(&[], &settings).open(Era::Modern);
    let refused = server.refused("recipe_create", create.clone());
    assert!(["approval_unavailable", "approval_pending"].contains(&refused.as_str()), "{refused}");
    assert!(!vault.path().join("Recipes").exists());
}

#[test]
fn the_command_line_lists_checks_runs_and_disables() {
    let vault = Vault::new(&[
        ("Log.md", b"# Log\n"),
        ("Recipes/custom_greet.md", note().as_bytes()),
        ("Recipes/custom_odd.md", b"```recipe\ndescription: x\nsteps:\n  - tool: file_raed\n```\n"),
    ]);
    let run = |arguments: &[&str]| {
        let mut command = vault.command();
        command.envs(SETTINGS).arg("recipes").args(arguments).arg("--vault").arg(vault.path());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap(), text)
    };
    let approves = format!("lapidary recipes approve custom_greet --vault {}", vault.path().display());
    for word in ["list", "show custom_greet", "check custom_greet"] {
        let (_, said) = run(&word.split(' ').collect::<Vec<_>>());
        // A table may break it over lines.
        let joined = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(&approves) || word == "list", "{word}: {said}");
    }
    let (code, said) = run(&["run", "custom_none"]);
    assert!(code == 1 && said.contains("lapidary recipes --vault") && !said.contains("recipe_list"), "{said}");
    let (code, listed) = run(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((code, &listed["recipes"][0]["enabled"]), (0, &json!(false)));
    let (code, said) = run(&["check"]);
    assert!(code == 1 && said.contains("did you mean `file_read`?"), "{code} {said}");
    let (code, said) = run(&["approve", "custom_greet"]);
    assert!(code == 1 && said.contains("terminal"), "{said}");
    let (code, said) = run(&["run", "custom_greet", "name=Ada"]);
    assert!(code == 1 && said.contains("disabled"), "{said}");
    vault.approve_recipe("Recipes/custom_greet.md", &note());
    let (code, said) = run(&["run", "custom_greet", "name=Ada", "--dry-run"]);
    assert!(code == 0 && said.contains("+Hello Ada!"), "{said}");
    assert!(!vault.path().join("People").exists());
    let (code, said) = run(&["run", "custom_greet", "name=Ada"]);
    assert!(code == 0 && said.contains("People/Ada.md"), "{said}");
    assert_eq!(vault.read("People/Ada.md"), b"Hello Ada!\n");
    assert_eq!(run(&["disable", "custom_greet"]).0, 0);
    let log = vault.log();
    let line = log.iter().find(|line| line["event"] == "recipe_disabled").unwrap();
    assert_eq!((&line["recipe"], &line["client_id"]), (&json!("custom_greet"), &json!("cli")), "{line}");
    let shown = vault.command().args(["log", "--vault"]).arg(vault.path()).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("recipe disabled") && shown.contains("custom_greet"), "{shown}");
    assert_eq!(run(&["run", "custom_greet", "name=Bo"]).0, 1);
    let (_, shown) = run(&["show", "custom_greet"]);
    assert!(shown.contains("It writes to") && shown.contains("tool: file_append"), "{shown}");
}

#[test]
fn the_recipes_of_the_demo_vault_do_what_they_say() {
    let vault = Vault::new(&[]);
    let run = |arguments: &[&str]| {
        let output =
            vault.command().arg("recipes").args(arguments).args(["--json", "--demo"]).stdin(Stdio::null()).output();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str::<Value>(&text)
            .unwrap_or_else(|_| panic!("{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr)))
    };
    let listed = run(&["list"]);
    let recipes = listed["recipes"].as_array().unwrap();
    assert_eq!(recipes.len(), 6);
    assert!(recipes.iter().all(|recipe| recipe["enabled"] == true), "{listed:#}");
    for (arguments, answer, diff) in [
        (&["run", "custom_weekly_review"][..], "open tasks", "## Review of "),
        (
            &["run", "custom_meeting_note", "title=Roof", "people=Ruth Okafor,Tomas Arden"],
            " Roof.md",
            "With [[Ruth Okafor]], [[Tomas Arden]]",
        ),
        (
            &["run", "custom_literature_note", "title=Lime", "author=Ilse Weber", "year=1998"],
            "Books/Lime.md",
            "year: 1998",
        ),
        (
            &["run", "custom_inbox_sorting", "tag=project/house", "folder=Projects/House"],
            "Projects/House/",
            "Projects/House/",
        ),
        (&["run", "custom_archive_project", "project=House"], "are in Projects/Archive/House", "status: archived"),
        (&["run", "custom_changelog", "folder=Projects", "since=2020-01-01"], "files changed in Projects", "## "),
    ] {
        let done = run(&[arguments, &["--dry-run"]].concat());
        let said = done["answer"].as_str().unwrap_or_default();
        assert!(said.contains(answer), "{arguments:?}: {done:#}");
        assert!(done["diff"].as_str().unwrap_or_default().contains(diff), "{arguments:?}: {done:#}");
    }
}

#[test]
fn a_script_answers_with_what_it_keeps() {
    let vault = Vault::new(&[("a.md", b"---\nstatus: open\n---\none\n"), ("b.md", b"two\n")]);
    let mut server = vault.serve_with(&[], &SETTINGS).open(Era::Modern);
    let script = json!({
        "steps": [
            { "id": "found", "tool": "query", "with": { "query": "TABLE status" } },
            { "id": "read", "tool": "file_read", "for_each": "found.rows", "if": "item[1] == 'open'", "with": { "file": "{{ item[0] }}" } },
        ],
        "answer": "{{ read.map(value.file) }}",
    });
    let done = server.done("call_tool", json!({ "name": "tools_script", "arguments": script }));
    assert_eq!(done["answer"], json!(["a.md"]), "{done}");
    drop(server);
    let mut off = vault.serve_with(&[], &[]).open(Era::Modern);
    assert_eq!(off.refused("tools_script", script), "tool_disabled");
}
