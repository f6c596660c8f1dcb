//! The advice in a refusal can be followed, and concerns the call that was made.

use lapidary_note::ContentHash;
use serde_json::{Value, json};

use crate::harness::{Era, Vault, path};

const NOTES: &[(&str, &[u8])] = &[
    ("twice.md", b"# P\n## Notes\na\n# Q\n## Notes\nb\n## Notes\nc\n"),
    ("props.md", b"---\na: 1\n---\nbody\n"),
    ("broken.md", b"---\na: [1\n---\n"),
    ("short.md", b"one\ntwo\n"),
    ("empty.md", b""),
    ("box/in.md", b"x\n"),
    ("other/in.md", b"x\n"),
];

fn section(target: &str) -> Value {
    json!({ "type": "heading", "target": target })
}

/// The full text of a refusal, in either form.
fn said(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().replace("\\\"", "\"")
}

#[test]
fn refusals_name_the_step_that_helps() {
    let hash = |path: &str| {
        let (_, bytes) = NOTES.iter().find(|(known, _)| *known == path).unwrap();
        ContentHash::of(bytes).to_string()
    };
    let yes = |tool: &'static str, arguments: Value, says: &[&'static str]| (tool, arguments, says.to_vec());
    let vault = Vault::new(NOTES);
    let before = vault.everything();
    let mut server = vault.serve_with(&["--tools", "all"], &[]).open(Era::Modern);
    for (tool, arguments, says) in [
        // A heading that no path can name is named in another way.
        yes(
            "obsidian_patch_note",
            json!({ "target": path("twice.md"), "section": section("Notes"), "operation": "append", "content": "x" }),
            &[
                "Name one of: `P::Notes`. `Q::Notes` occurs several times: `obsidian_replace_in_note` finds one by its text, `heading_replace_body` by its `occurrence`",
            ],
        ),
        yes(
            "obsidian_patch_note",
            json!({ "target": path("twice.md"), "section": section("Q::Notes"), "operation": "append", "content": "x" }),
            &["Recovery: `Q::Notes` occurs several times"],
        ),
        yes(
            "frontmatter_set",
            json!({ "file": "props.md", "keyPath": "a", "value": 2 }),
            &["`expected_frontmatter_hash` is required", "`frontmatter_get`"],
        ),
        yes(
            "file_replace",
            json!({ "file": "short.md", "content": "x" }),
            &["`expected_content_hash` is required", "`file_read`"],
        ),
        yes(
            "frontmatter_set",
            json!({ "file": "broken.md", "keyPath": "a", "value": 2, "expected_content_hash": hash("broken.md") }),
            &["The properties of `broken.md` are not valid YAML: line 2: "],
        ),
        // The note is fine; the replacement is not.
        yes(
            "obsidian_replace_in_note",
            json!({ "target": path("props.md"), "scope": "both", "replacements": [{ "search": "1", "replace": "[" }] }),
            &["would no longer be valid YAML: line 2: ", "`scope`"],
        ),
        yes(
            "lines_replace",
            json!({ "file": "empty.md", "from": 1, "to": 1, "content": "x", "expected_range_hash": hash("empty.md") }),
            &["`lines_insert` at line 1"],
        ),
        yes("lines_insert", json!({ "file": "short.md", "line": 4, "content": "x" }), &["Send a line from 1 to 3"]),
        yes(
            "apply_patch",
            json!({ "file": "short.md", "patch": "@@ -2 +2 @@\n-two\n\\ No newline at end of file\n+x\n" }),
            &["create a new patch"],
        ),
        yes("file_move", json!({ "from": "short.md", "to": "empty.md" }), &["`on_conflict` to `rename`"]),
        yes("file_move", json!({ "from": "box", "to": "other" }), &["send `other/box`"]),
        yes(
            "heading_rename",
            json!({ "file": "twice.md", "heading": "P", "newText": " ", "expected_section_hash": hash("twice.md") }),
            &["`newText` must not be empty"],
        ),
    ] {
        let text = said(&server.call(tool, arguments.clone()));
        assert!(says.iter().all(|says| text.contains(says)), "{tool} {arguments}: {text}");
    }
    assert_eq!(vault.everything(), before);
}

#[test]
fn allowed_prefixes_are_named_once() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let environment = [("OBSIDIAN_READ_PATHS", "notes,both"), ("OBSIDIAN_WRITE_PATHS", "both,own")];
    let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
    let refused = server.call("obsidian_get_note", json!({ "format": "content", "target": path("a.md") }));
    assert_eq!(refused["structuredContent"]["error"]["data"]["activeScope"], json!(["notes", "both", "own"]));
}

#[test]
fn a_dry_run_that_would_change_nothing_says_so() {
    let vault = Vault::new(NOTES);
    let mut server = vault.serve().open(Era::Modern);
    let arguments = json!({ "operation": "delete", "target": path("props.md"), "key": "none", "dryRun": true });
    let text = server.call("obsidian_manage_frontmatter", arguments)["content"][0]["text"].clone();
    assert!(text.as_str().unwrap().ends_with("Nothing would change."), "{text}");
}

#[test]
fn an_impossible_change_is_refused_in_a_dry_run_too_and_alone_in_a_batch() {
    let vault =
        Vault::new(&[("a.md", b"x\n"), ("d/b.md", b"y\n"), ("hid/s.md", b"z\n"), (".lapidaryignore", b"hid\n")]);
    let before = vault.everything();
    let mut server = vault.serve_with(&["--tools", "all"], &[]).open(Era::Modern);
    let new = |file: &str| ("file_create", json!({ "file": file, "content": "q" }));
    let moved = |from: &str, to: &str| ("file_move", json!({ "from": from, "to": to }));
    for ((tool, arguments), reason) in [
        (new("con.md"), "name_invalid"),
        (new("what?/x.md"), "name_invalid"),
        (new("a.md/x.md"), "not_a_file"),
        (moved("d", "a.md/y"), "not_a_file"),
        (moved("a.md", "d/aux.md"), "name_invalid"),
    ] {
        let op = json!({ "tool": tool, "args": arguments });
        for dry_run in [true, false] {
            let mut arguments = arguments.clone();
            arguments["dry_run"] = json!(dry_run);
            assert_eq!(server.refused(tool, arguments.clone()), reason, "{arguments}");
        }
        let ok = json!({ "tool": "file_create", "args": { "file": "ok.md", "content": "q" } });
        let done = server.done("bulk_apply", json!({ "atomic": false, "dry_run": true, "ops": [op, ok] }));
        assert_eq!((&done["results"][0]["error"]["reason"], &done["results"][1]["ok"]), (&json!(reason), &json!(true)));
    }
    assert_eq!(vault.everything(), before);
}
