//! Playbooks: notes of a folder that the owner chose are prompts, and `find_tool` finds them.

use serde_json::json;

use crate::harness::{Era, Vault};

#[test]
fn playbooks_are_prompts_and_are_found_with_the_tools() {
    let vault = Vault::new(&[
        (
            "Skills/Weekly review.md",
            b"---\ndescription: Look back at the week and plan the next\n---\n1. Read the daily notes.\n",
        ),
        ("Skills/meeting/SKILL.md", b"# Prepare a meeting\n\nAsk <% tp.mcpTools.prompt('person') %> first.\n"),
        ("Skills/secret.md", b"for the owner\n"),
        ("Other/x.md", b"nothing\n"),
    ]);
    let environment = [("LAPIDARY_SKILLS_FOLDER", "Skills"), ("OBSIDIAN_DENY_PATHS", "Skills/secret.md")];
    let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
    let listed = server.request("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Notes/Skills/Weekly review", "Notes/Skills/meeting"]);
    assert_eq!(listed[1]["description"], "Prepare a meeting");
    let got = server.request("prompts/get", json!({ "name": names[1], "arguments": { "person": "Ada" } }));
    assert!(got["result"].to_string().contains("Ask Ada first."), "{got}");
    let found = server.done("find_tool", json!({ "query": "plan my next week" }));
    assert_eq!(found["skills"][0]["path"], "Skills/Weekly review.md", "{found}");
    assert!(!server.done("find_tool", json!({ "query": "owner secret" })).to_string().contains("secret.md"));
    drop(server);
    let mut without = vault.serve().open(Era::Modern);
    assert_eq!(without.request("prompts/list", json!({}))["result"]["prompts"], json!([]));
    assert!(without.done("find_tool", json!({ "query": "plan my next week" })).get("skills").is_none());
}

#[test]
fn with_several_vaults_the_answer_names_the_vault_of_a_playbook_and_the_call() {
    let vault = Vault::new(&[("Skills/Weekly review.md", b"Look back at the week\n"), ("a.md", b"x\n")]);
    let other = vault.path().parent().unwrap().join("Other");
    std::fs::create_dir(&other).unwrap();
    let more = ["--vault", other.to_str().unwrap()];
    let mut server = vault.serve_with(&more, &[("LAPIDARY_SKILLS_FOLDER", "Skills")]).open(Era::Modern);
    let found = server.call("find_tool", json!({ "query": "look back at the week" }));
    let (skill, text) = (&found["structuredContent"]["skills"][0], found["content"][0]["text"].as_str().unwrap());
    assert_eq!((&skill["path"], &skill["vault"]), (&json!("Skills/Weekly review.md"), &json!("Notes")));
    assert!(text.contains("`Skills/Weekly review.md` in the vault `Notes`"), "{text}");
    let found = server.done("find_tool", json!({ "query": "file_read", "limit": 1 }));
    assert_eq!(found["matches"][0]["example"]["vault"], "Notes", "{found}");
}

#[test]
fn prompt_names_are_unique() {
    let prompt: &[u8] = b"---\ntags: mcp-tools-prompt\n---\nx\n";
    let vault = Vault::new(&[
        ("Prompts/Skills/x.md", prompt),
        ("Skills/x.md", b"y\n"),
        ("Skills/x/SKILL.md", b"z\n"),
        ("Skills/y.md", b"y\n"),
    ]);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_SKILLS_FOLDER", "Skills")]).open(Era::Modern);
    let listed = server.request("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Notes/Skills/x", "Notes/Skills/y"]);
}

#[test]
fn no_caller_is_told_of_tools_that_it_does_not_have() {
    let vault = Vault::new(&[("a.md", b"x\n")]);
    for (flags, told, not_told) in [
        (&[][..], &["`find_tool`", "`call_tool`", "`obsidian_get_note`"][..], &[][..]),
        (&["--tools", "files"], &[], &["`find_tool`", "`call_tool`", "`obsidian_get_note`"]),
        (&["--exclude-tools", "call_tool"], &["`find_tool`", "call them by name"], &["`call_tool`"]),
    ] {
        let mut server = vault.serve_with(flags, &[]).open(Era::Modern);
        let said = server.request("server/discover", json!({}))["result"]["instructions"].as_str().unwrap().to_owned();
        assert!(told.iter().all(|part| said.contains(part)), "{flags:?}: {said}");
        assert!(!not_told.iter().any(|part| said.contains(part)), "{flags:?}: {said}");
    }
    let mut server = vault.serve_with(&["--exclude-tools", "call_tool"], &[]).open(Era::Modern);
    let found = server.call("find_tool", json!({ "query": "file_read", "limit": 1 })).to_string();
    assert!(!found.contains("`call_tool`"), "{found}");
}

#[test]
fn a_folder_in_which_nothing_can_be_found_is_refused_at_the_start() {
    let vault = Vault::new(&[(".skills/a.md", b"x\n")]);
    let mut command = vault.command();
    let output =
        command.arg("--vault").arg(vault.path()).arg("tools").env("LAPIDARY_SKILLS_FOLDER", ".skills").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("skills_folder"));
}
