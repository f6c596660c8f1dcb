//! What connectors of other companies expect, by their exact shapes.

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, path};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The one text of an answer, which connectors read as JSON.
fn only_text(result: &Value) -> Value {
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{result}");
    assert_eq!(content[0]["type"], "text", "{result}");
    serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap()
}

fn chatgpt(vault: &Vault, environment: &[(&str, &str)]) -> Server {
    vault.serve_with(&["--tools", "chatgpt"], environment).open(Era::Modern)
}

#[test]
fn chatgpt_finds_its_pair_and_nothing_else() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let mut server = chatgpt(&vault, &[]);
    let list = server.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    let shapes: Vec<_> = tools
        .iter()
        .map(|tool| {
            (tool["name"].as_str().unwrap(), keys(&tool["inputSchema"]["properties"]), &tool["inputSchema"]["required"])
        })
        .collect();
    assert_eq!(shapes, [("fetch", vec!["id"], &json!(["id"])), ("search", vec!["query"], &json!(["query"]))]);
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    let read = json!({ "format": "content", "target": path("a.md") });
    assert_eq!(server.refused("obsidian_get_note", read), "tool_disabled");
}

#[test]
fn what_is_found_can_be_fetched_and_both_answers_are_json_in_one_text() {
    let vault = Vault::new(&[
        ("Stones/Amber & Jet.md", b"---\ntags: [gem]\n---\nFossil resin, \"warm\" to the touch.\n"),
        ("Log.md", b"Rain.\n"),
    ]);
    let mut server = chatgpt(&vault, &[]);
    let found = server.call("search", json!({ "query": "fossil resin" }));
    assert_eq!(only_text(&found), found["structuredContent"]);
    assert_eq!(keys(&found["structuredContent"]), ["results"]);
    let results = found["structuredContent"]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{found}");
    assert_eq!(keys(&results[0]), ["id", "title", "url"]);
    assert_eq!(results[0]["title"], "Amber & Jet");
    assert_eq!(results[0]["url"], "obsidian://open?vault=Notes&file=Stones%2FAmber%20%26%20Jet.md");
    let fetched = server.call("fetch", json!({ "id": results[0]["id"] }));
    assert_eq!(only_text(&fetched), fetched["structuredContent"]);
    let document = &fetched["structuredContent"];
    assert_eq!(keys(document), ["id", "title", "text", "url", "metadata"]);
    assert_eq!(document["text"].as_str().unwrap().as_bytes(), vault.read("Stones/Amber & Jet.md"));
    assert_eq!((&document["id"], &document["url"]), (&results[0]["id"], &results[0]["url"]));
    assert!(document["metadata"].as_object().unwrap().values().all(Value::is_string), "{document}");
    assert_eq!(document["metadata"]["tags"], "gem");
    let nothing = server.call("search", json!({ "query": "no such words at all" }));
    assert_eq!(only_text(&nothing), json!({ "results": [] }));
}

#[test]
fn the_pair_shows_only_what_the_caller_may_read() {
    let vault = Vault::new(&[("Open/a.md", b"granite one\n"), ("Closed/b.md", b"granite two\n")]);
    let mut server = chatgpt(&vault, &[("OBSIDIAN_READ_PATHS", "Open")]);
    let found = server.done("search", json!({ "query": "granite" }));
    assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["results"][0]["id"], "Open/a.md");
    assert_eq!(server.refused("fetch", json!({ "id": "Closed/b.md" })), "path_forbidden");
    assert_eq!(server.refused("fetch", json!({ "id": "Closed/nothing.md" })), "path_forbidden");
}

#[test]
fn the_pair_is_not_offered_to_those_who_have_better_tools() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let mut server = vault.serve().open(Era::Modern);
    assert_eq!(server.refused("search", json!({ "query": "x" })), "tool_disabled");
    let found = server.done("find_tool", json!({ "query": "search and fetch notes for chatgpt", "limit": 20 }));
    let names: Vec<_> = found["matches"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert!(!names.contains(&json!("search")) && !names.contains(&json!("fetch")), "{names:?}");
    let mut both = vault.serve_with(&["--tools", "default,chatgpt"], &[]).open(Era::Modern);
    both.done("search", json!({ "query": "x" }));
    both.done("file_read", json!({ "file": "a.md" }));
}
