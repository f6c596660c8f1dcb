//! Replacing a whole note: text that another program wrote since the caller read it is not lost.

use lapidary_note::ContentHash;
use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, path, reason};

const NOTE: &str = "Wissen/Espresso.md";

fn overwrite(text: &str) -> Value {
    json!({ "target": path(NOTE), "content": text, "overwrite": true })
}

fn read(server: &mut Server) -> Value {
    server.done("obsidian_get_note", json!({ "target": path(NOTE), "format": "content" }))
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

fn open(vault: &Vault) -> Server {
    vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Legacy("2025-11-25"))
}

#[test]
fn an_overwrite_without_a_hash_is_refused_once_the_note_has_changed_since_it_was_read() {
    let vault = Vault::new(&[(NOTE, b"18 g in\n")]);
    let mut server = open(&vault);
    read(&mut server);
    vault.write(NOTE, b"18 g in\nA person's line\n");
    for dry_run in [true, false] {
        let mut given = overwrite("20 g in\n");
        given["dryRun"] = json!(dry_run);
        let refused = server.call("obsidian_write_note", given);
        assert_eq!(reason(&refused), "stale_precondition", "{refused}");
        assert!(text(&refused).contains("A person's line"), "{refused}");
        let now = ContentHash::of(b"18 g in\nA person's line\n").to_string();
        assert!(!refused.to_string().contains(&now), "the hash would be a way around: {refused}");
    }
    assert_eq!(vault.read(NOTE), b"18 g in\nA person's line\n");
    read(&mut server);
    let done = server.call("obsidian_write_note", overwrite("20 g in\n"));
    assert_ne!(done["isError"], true, "{done}");
    assert!(text(&done).contains("24 → 8 bytes") && text(&done).contains("Checkpoint "), "{done}");
    assert_eq!(vault.read(NOTE), b"20 g in\n");
}

#[test]
fn a_note_that_was_read_as_a_resource_is_known_like_any_other() {
    let vault = Vault::new(&[(NOTE, b"18 g in\n")]);
    let mut server = open(&vault);
    let resource = json!({ "uri": format!("obsidian://vault/{NOTE}") });
    let read = server.request("resources/read", resource.clone());
    assert!(read["result"].to_string().contains("18 g in"), "{read}");
    vault.write(NOTE, b"18 g in\nA person's line\n");
    assert_eq!(server.refused("obsidian_write_note", overwrite("20 g in\n")), "stale_precondition");
    assert_eq!(vault.read(NOTE), b"18 g in\nA person's line\n");
    server.request("resources/read", resource);
    server.done("obsidian_write_note", overwrite("20 g in\n"));
}

#[test]
fn a_note_that_the_caller_never_read_is_overwritten_and_the_answer_says_what_was_replaced() {
    let vault = Vault::new(&[(NOTE, b"18 g in\n")]);
    let mut server = open(&vault);
    let done = server.call("obsidian_write_note", overwrite("20 g in, 40 g out\n"));
    assert!(text(&done).contains("8 → 18 bytes") && text(&done).contains("Checkpoint "), "{done}");
    // It knows what it wrote itself.
    server.done("obsidian_write_note", overwrite("21 g in\n"));
    server.done("obsidian_append_to_note", json!({ "target": path(NOTE), "content": "40 g out" }));
    server.done("obsidian_write_note", overwrite("22 g in\n"));
    vault.write(NOTE, b"22 g in\nA person's line\n");
    let refused = server.call("obsidian_write_note", overwrite("23 g in\n"));
    assert_eq!(reason(&refused), "stale_precondition", "{refused}");
    assert_eq!(vault.read(NOTE), b"22 g in\nA person's line\n");
}

#[test]
fn editing_or_reading_a_part_does_not_make_the_rest_known() {
    let long = "A long line of text that no outline shows.\n".repeat(20);
    let before = format!("# Dose\n\n{long}\n# Time\n\n25 s\n");
    let vault = Vault::new(&[(NOTE, before.as_bytes())]);
    let mut server = open(&vault);
    read(&mut server);
    vault.write(NOTE, format!("{before}A person's line\n").as_bytes());
    let section = json!({ "type": "heading", "target": "Dose" });
    server.done(
        "obsidian_get_note",
        json!({ "target": path(NOTE), "format": "section", "section": { "type": "heading", "target": "Time" } }),
    );
    assert_eq!(server.refused("obsidian_write_note", overwrite("x\n")), "stale_precondition");
    server.done("obsidian_write_note", json!({ "target": path(NOTE), "content": "18 g", "section": section }));
    assert_eq!(server.refused("obsidian_write_note", overwrite("x\n")), "stale_precondition");
    let op = |tool: &str, args: Value| json!({ "tool": tool, "args": args });
    let edit = op("str_replace", json!({ "file": NOTE, "find": "25 s", "replace": "26 s" }));
    let batch = json!({ "ops": [edit, op("obsidian_write_note", overwrite("x\n"))] });
    assert_eq!(server.refused("bulk_apply", batch), "stale_precondition");
    assert!(String::from_utf8(vault.read(NOTE)).unwrap().ends_with("25 s\nA person's line\n"));
}

#[test]
fn a_file_that_a_move_would_put_out_of_the_way_has_to_be_the_one_that_was_read() {
    let vault = Vault::new(&[(NOTE, b"old\n"), ("new.md", b"new\n")]);
    let mut server = open(&vault);
    read(&mut server);
    vault.write(NOTE, b"old\nA person's line\n");
    let mv = json!({ "from": "new.md", "to": NOTE, "on_conflict": "overwrite" });
    assert_eq!(server.refused("file_move", mv.clone()), "stale_precondition");
    assert_eq!((vault.read(NOTE), vault.read("new.md")), (b"old\nA person's line\n".to_vec(), b"new\n".to_vec()));
    read(&mut server);
    server.done("file_move", mv);
    assert_eq!(vault.read(NOTE), b"new\n");
}

#[test]
fn a_hash_that_is_out_of_date_is_answered_with_what_changed() {
    let vault = Vault::new(&[(NOTE, b"one\ntwo\n")]);
    let mut server = open(&vault);
    let seen = ContentHash::of(b"one\ntwo\n").to_string();
    vault.write(NOTE, b"one\ntwo\nA person's line\n");
    let mut given = overwrite("ONE\n");
    given["expectedHash"] = json!(seen);
    let refused = server.call("obsidian_write_note", given.clone());
    assert_eq!(refused["structuredContent"]["error"]["data"]["lost"], json!(["one", "two", "A person's line"]));
    assert!(!text(&refused).contains("if the change does not matter"), "{refused}");
    assert!(text(&refused).contains("Read the whole file again"), "{refused}");
    let file = json!({ "file": NOTE, "content": "ONE\n", "expected_content_hash": seen });
    let refused = server.call("file_replace", file);
    let now = ContentHash::of(b"one\ntwo\nA person's line\n").to_string();
    let facts = &refused["structuredContent"];
    assert_eq!((&facts["details"]["actual"], &facts["error"]["current_content_hash"]), (&json!(now), &json!(now)));
    // Content that a change of ours replaced is kept, so later differences are known.
    vault.write(NOTE, b"one\ntwo\n");
    server.done("str_replace", json!({ "file": NOTE, "find": "two", "replace": "2" }));
    vault.write(NOTE, b"one\n2\nA person's line\n");
    let refused = server.call("obsidian_write_note", given);
    let changed = &refused["structuredContent"]["error"]["data"]["changed"];
    assert_eq!(changed, &json!(["-two", "+2", "+A person's line"]), "{refused}");
    assert_eq!(vault.read(NOTE), b"one\n2\nA person's line\n");
}

#[test]
fn a_stale_refusal_is_short() {
    let vault = Vault::new(&[(NOTE, "A person's line of some length, over and over.\n".repeat(5_000).as_bytes())]);
    let mut server = open(&vault);
    let mut given = overwrite("x\n");
    given["expectedHash"] = json!("sha256:000000000000");
    let refused = server.call("obsidian_write_note", given);
    assert!(text(&refused).len() < 800, "{refused}");
}
