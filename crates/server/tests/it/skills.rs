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
