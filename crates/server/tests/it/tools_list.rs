//! What a client is shown, and how small it is.

use lapidary_tools::{Effect, TOOLS, ToolGroup, ToolSpec, WireFamily};
use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault};

fn tools(server: &mut Server) -> Vec<Value> {
    server.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn every_tool_has_a_title_and_all_four_hints() {
    let vault = Vault::new(&[]);
    let mut server = vault.serve_with(&["--tools", "all"], &[]).open(Era::Modern);
    for tool in tools(&mut server) {
        let hints = &tool["annotations"];
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{}: {hint}", tool["name"]);
        }
        assert_eq!(hints["openWorldHint"], tool["name"] == "obsidian_open_in_ui");
        assert!(tool["title"].is_string() && hints["title"].is_string(), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["outputSchema"]["type"], "object");
    }
}

#[test]
fn the_default_list_is_small() {
    let vault = Vault::new(&[]);
    let mut server = vault.serve().open(Era::Modern);
    let list = tools(&mut server);
    let seen_by_a_model: usize = list
        .iter()
        .map(|tool| {
            json!({ "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"] })
                .to_string()
                .len()
        })
        .sum();
    assert!((20..=24).contains(&list.len()), "{}", list.len());
    assert!(seen_by_a_model <= 14_000, "{seen_by_a_model}");
    let whole = Value::Array(list).to_string().len();
    assert!(whole <= 36_000, "{whole}");
}

/// The names of the tools for which this holds, in the order of the list. Commands of the app are off.
fn tools_that(hold: impl Fn(&ToolSpec) -> bool) -> Vec<&'static str> {
    TOOLS.iter().map(|tool| tool.spec()).filter(|spec| !spec.is_command).filter(hold).map(|spec| spec.name()).collect()
}

#[test]
fn the_owner_chooses_what_is_listed_and_what_is_off() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let listed = |spec: &ToolSpec| spec.declaration.listed;
    // These are off until the owner names a folder or hosts, or switches them on.
    let off = [ToolGroup::Memory, ToolGroup::Recipe, ToolGroup::Script, ToolGroup::Web, ToolGroup::Mcp];
    let is_set_up = |spec: &ToolSpec| !off.contains(&spec.declaration.group) && spec.name() != "schema_save";
    let reads = |spec: &ToolSpec| (spec.effect == Effect::Read || spec.name() == "call_tool") && is_set_up(spec);
    for (arguments, environment, expected) in [
        (&[][..], &[][..], tools_that(listed)),
        (&["--tools", "obsidian"], &[], tools_that(|spec| spec.declaration.family == WireFamily::Obsidian)),
        (&["--tools", "files"], &[], tools_that(|spec| spec.declaration.family == WireFamily::Files)),
        (
            &["--tools", "default,file_read", "--exclude-tools", "agent"],
            &[],
            tools_that(|spec| {
                (listed(spec) || spec.name() == "file_read") && spec.declaration.group != ToolGroup::Agent
            }),
        ),
        (&["--read-only"], &[], tools_that(|spec| listed(spec) && reads(spec))),
        (&[], &[("OBSIDIAN_READ_ONLY", "1"), ("LAPIDARY_TOOLS", "all")], tools_that(reads)),
    ] {
        let mut server = vault.serve_with(arguments, environment).open(Era::Modern);
        assert!(expected.len() > 2, "{arguments:?}");
        assert_eq!(names(&tools(&mut server)), expected, "{arguments:?}");
    }
}

#[test]
fn a_tool_that_is_off_stays_off_on_every_route() {
    let vault = Vault::new(&[("a.md", b"x")]);
    for arguments in [&["--read-only"][..], &["--exclude-tools", "str_replace"], &["--tools", "file_read,call_tool"]] {
        let mut server = vault.serve_with(arguments, &[]).open(Era::Modern);
        let edit = json!({ "file": "a.md", "find": "x", "replace": "y" });
        assert_eq!(server.refused("str_replace", edit.clone()), "tool_disabled", "{arguments:?}");
        assert_eq!(server.refused("call_tool", json!({ "name": "str_replace", "arguments": edit })), "tool_disabled");
        assert_eq!(vault.read("a.md"), b"x");
    }
}

#[test]
fn find_tool_finds_by_the_words_of_people_and_shows_only_what_is_on() {
    let vault = Vault::new(&[]);
    let mut server = vault.serve().open(Era::Modern);
    for (query, first) in [
        ("read a file", "file_read"),
        ("show me the outline of a note", "outline"),
        ("rename a heading and update links", "heading_rename"),
        ("apply a unified diff", "apply_patch"),
        ("set a frontmatter property", "frontmatter_set"),
        ("block.find", "block_find"),
        ("create a new note", "obsidian_write_note"),
        ("fix a typo", "str_replace"),
        ("file.read", "file_read"),
        ("fileRead", "file_read"),
        ("which vaults are there", "vault_list"),
        ("how many notes are in the vault", "vault_info"),
        ("list all files in a folder", "file_list"),
        ("find an image by name", "file_find"),
        ("tags.list", "tags_list"),
        ("show the folder tree", "obsidian_list_notes"),
    ] {
        let found = server.done("find_tool", json!({ "query": query }));
        assert_eq!(found["matches"][0]["name"], first, "{query}: {found:#}");
        assert_eq!(found["fits"], true, "{query}: {found:#}");
        // Tools in the client's list are not described again.
        let told = found["matches"][0].get("listed").is_none();
        assert_eq!(found["matches"][0]["arguments"].is_string(), told, "{query}: {found:#}");
        assert!(found["matches"][0]["example"].is_object() || !told, "{query}: {found:#}");
    }
    let mut server = vault.serve_with(&["--read-only"], &[]).open(Era::Modern);
    let found = server.done("find_tool", json!({ "query": "create replace edit write note", "limit": 20 }));
    assert!(!found.to_string().contains("str_replace\""), "{found:#}");
}

#[test]
fn the_list_is_the_same_bytes_after_any_calls() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let mut server = vault.serve().open(Era::Modern);
    let before = tools(&mut server);
    server.done("find_tool", json!({ "query": "read" }));
    server.done("call_tool", json!({ "name": "file_read", "arguments": { "file": "a.md" } }));
    server.done("str_replace", json!({ "file": "a.md", "find": "x", "replace": "y" }));
    assert_eq!(Value::Array(before).to_string(), Value::Array(tools(&mut server)).to_string());
}
