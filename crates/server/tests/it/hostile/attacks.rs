//! Small calls that once took all memory or time, each under the limit.

use serde_json::{Value, json};

use super::{answered, limited};
use crate::harness::{Server, Vault, path, reason};

fn vault() -> Vault {
    let vault = Vault::new(&[("h.md", b"hhhh\n"), ("a.md", "a".repeat(1 << 20).as_bytes()), ("note.md", b"# T\nx\n")]);
    vault.write("equal.md", "# a\n".repeat(40_000).as_bytes());
    vault.write("below.md", format!("# {}\n{}", "long ".repeat(40_000), "## b\n".repeat(40_000)).as_bytes());
    vault.write("tag.md", format!("#{}\n", vec!["a"; 50_000].join("/")).as_bytes());
    vault
}

/// The reason of a refusal, after which nothing has changed and the server continues.
fn refused(server: &mut Server, vault: &Vault, tool: &str, arguments: &Value) -> String {
    let before = vault.everything();
    let result = answered(server, tool, arguments);
    assert_eq!(result["isError"], true, "{tool}: {}", result.to_string().chars().take(500).collect::<String>());
    assert!(vault.everything() == before, "{tool} changed something");
    assert_eq!(server.done("file_read", json!({ "file": "note.md" }))["content"], "# T\nx\n");
    reason(&result)
}

#[test]
fn replacements_that_multiply_are_refused() {
    let vault = vault();
    let mut server = limited(&vault, &[]);
    let grow = json!({ "find": "h", "replace": "h".repeat(1000), "occurrence": "all" });
    let edits = json!({ "file": "h.md", "edits": vec![grow; 4] });
    assert_eq!(refused(&mut server, &vault, "apply_edits", &edits), "file_too_large");
    let all = json!({ "file": "a.md", "find": "a", "replace": "b".repeat(16_000), "occurrence": "all" });
    assert_eq!(refused(&mut server, &vault, "str_replace", &all), "file_too_large");
    let regex = json!({ "file": "a.md", "pattern": "a+", "replacement": "$&".repeat(1000), "flags": "g" });
    assert_eq!(refused(&mut server, &vault, "regex_replace", &regex), "file_too_large");
    let wanted = json!([{ "search": "a", "replace": "b".repeat(16_000) }]);
    let in_note = json!({ "target": path("a.md"), "replacements": wanted });
    assert_eq!(refused(&mut server, &vault, "obsidian_replace_in_note", &in_note), "file_too_large");
}

#[test]
fn a_batch_of_large_files_is_refused_as_a_whole() {
    let vault = vault();
    let mut server = limited(&vault, &[("LAPIDARY_MAX_CHANGE_BYTES", "5000000")]);
    let make = |number: usize| {
        [
            json!({ "tool": "file_create", "args": { "file": format!("{number}.md"), "content": "x".repeat(1000) } }),
            json!({ "tool": "str_replace", "args": {
                "file": format!("{number}.md"), "find": "x", "replace": "y".repeat(1000), "occurrence": "all",
            } }),
        ]
    };
    let ops: Vec<Value> = (0..200).flat_map(make).collect();
    for atomic in [true, false] {
        let batch = json!({ "ops": ops, "atomic": atomic });
        assert_eq!(refused(&mut server, &vault, "bulk_apply", &batch), "budget_exceeded");
    }
}

#[test]
fn property_paths_and_values_have_a_depth_limit() {
    let vault = vault();
    let mut server = limited(&vault, &[]);
    for parts in [100, 20_000, 200_000] {
        let deep = json!({ "file": "note.md", "keyPath": vec!["a"; parts].join("."), "value": 1 });
        assert_eq!(refused(&mut server, &vault, "frontmatter_set", &deep), "invalid_arguments");
    }
    let mut value = json!(1);
    for _ in 0..80 {
        value = json!({ "a": value });
    }
    let deep = json!({ "file": "note.md", "keyPath": "a", "value": value });
    assert_eq!(refused(&mut server, &vault, "frontmatter_set", &deep), "edit_refused");
    // Endlessly nested arguments are not a message.
    let nested = "[".repeat(200_000);
    server.send_bytes(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"method\":\"tools/call\",\"params\":{{\"name\":\"frontmatter_set\",\"arguments\":{nested}\n").as_bytes());
    assert_eq!(server.message()["error"]["code"], -32700);
    // As a string they are parsed as JSON too, if the tool takes an object there.
    let hidden = json!({ "name": "frontmatter_set", "arguments": format!("{{\"file\":{nested}") });
    refused(&mut server, &vault, "call_tool", &hidden);
}

#[test]
fn equal_headings_and_headings_below_a_long_one_are_bounded() {
    let vault = vault();
    let mut server = limited(&vault, &[]);
    for (tool, arguments) in [
        ("heading_find", json!({ "file": "equal.md", "heading": "a" })),
        ("outline", json!({ "file": "equal.md" })),
        ("outline", json!({ "file": "below.md" })),
        ("heading_find", json!({ "file": "below.md", "heading": "b" })),
        ("metadata_read", json!({ "file": "below.md" })),
        ("obsidian_get_note", json!({ "target": path("below.md"), "format": "document-map" })),
        ("section_read", json!({ "file": "equal.md", "heading": "a" })),
        (
            "obsidian_patch_note",
            json!({
                "target": path("below.md"), "operation": "append", "content": "x", "section": { "type": "heading", "target": "b" },
            }),
        ),
    ] {
        answered(&mut server, tool, &arguments);
    }
    let some = server.done("outline", json!({ "file": "equal.md", "limit": 2 }));
    assert_eq!(some["headings"][0]["duplicateOf"].as_array().unwrap().len(), 20, "{some}");
    let second = json!({ "file": "equal.md", "heading": "a", "occurrence": 2 });
    assert_eq!(server.done("heading_find", second)["matches"][0]["line"], 2);
}

#[test]
fn a_long_nested_tag_is_one_tag() {
    let vault = vault();
    let mut server = limited(&vault, &[]);
    answered(&mut server, "obsidian_list_tags", &json!({}));
    answered(&mut server, "tags_list", &json!({ "file": "tag.md" }));
    let read = server.request("resources/read", json!({ "uri": "obsidian://tags" }));
    assert!(read.get("result").is_some() || read.get("error").is_some(), "{read}");
    let tags: Vec<String> = (0..5_000).map(|number| format!("t{number}")).collect();
    let many = json!({ "target": path("note.md"), "operation": "add", "tags": tags });
    assert_eq!(refused(&mut server, &vault, "obsidian_manage_tags", &many), "invalid_arguments");
}

#[test]
fn requests_that_are_nothing_but_values_or_many_large_ones_fit_into_memory() {
    let vault = vault();
    let mut server = limited(&vault, &[]);
    let values = format!("[{}0]", "0,".repeat(4_000_000));
    server.send_bytes(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"v\",\"method\":\"tools/call\",\"params\":{{\"name\":\"file_read\",\"arguments\":{{\"file\":{values}}}}}}}\n").as_bytes());
    assert_eq!(server.message()["error"]["code"], -32600);
    // Sent without waiting for an answer.
    let content = "a".repeat(6 << 20);
    let create = |number: usize| json!({ "file": format!("new{number}.md"), "content": content, "dry_run": true });
    let ids: Vec<u64> = (0..16)
        .map(|number| server.ask("tools/call", json!({ "name": "file_create", "arguments": create(number) })))
        .collect();
    for id in ids {
        let early = server.aside.iter().position(|message| message["id"] == id).map(|at| server.aside.swap_remove(at));
        let reply = early.or_else(|| server.answer_within(std::time::Duration::from_secs(300), id));
        assert!(reply.as_ref().is_some_and(|reply| reply["result"].is_object()), "{reply:?} {:?}", server.exited());
    }
    assert_eq!(server.done("file_read", json!({ "file": "note.md" }))["content"], "# T\nx\n");
}

#[test]
fn a_note_with_very_many_links_moves_in_its_time_or_not_at_all() {
    let vault = vault();
    vault.write("links.md", "[[note]] ".repeat(30_000).as_bytes());
    let mut server = limited(&vault, &[("MCP_DEADLINE_MS", "60000")]);
    let moved = server.done("file_move", json!({ "from": "note.md", "to": "Other.md" }));
    assert_eq!(moved["linksUpdated"], 30_000, "{moved}");
}
