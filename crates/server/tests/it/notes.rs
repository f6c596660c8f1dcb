//! The tools that change notes, on the wire and on disk.

use serde_json::{Value, json};

use crate::harness::{Era, Vault, path};

/// A note as other programs leave it: byte order mark, Windows line endings, no final newline.
const NOTE: &str = "\u{feff}---\r\n# how far\r\nstatus: 'open'\r\ntags: [gem]\r\n---\r\n# Plan\r\n\r\n## Tasks\r\n\r\n- [ ] Slates ^slates\r\n\r\n## Log\r\n\r\n| day | what |\r\n|---|---|\r\n| Mon | rain |\r\n\r\n^days\r\n\r\n## Twice\r\n\r\nDry #gem.\r\n\r\n# Other\r\n\r\n## Twice\r\n\r\nend";

fn vault() -> Vault {
    Vault::new(&[("Plan.md", NOTE.as_bytes()), ("bad.md", b"# A\n\xff\n"), ("broken.md", b"---\na: b: c\n---\n# A\n")])
}

fn arguments(tool: &str, note: &str, extra: &Value) -> Value {
    let mut arguments = match tool {
        "obsidian_append_to_note" => json!({ "content": "more\n" }),
        "obsidian_patch_note" => {
            json!({ "section": { "type": "heading", "target": "A" }, "operation": "append", "content": "more\n" })
        }
        "obsidian_replace_in_note" => json!({ "replacements": [{ "search": "A", "replace": "B" }] }),
        "obsidian_manage_frontmatter" => json!({ "operation": "set", "key": "k", "value": 1 }),
        "obsidian_manage_tags" => json!({ "operation": "add", "tags": ["x"] }),
        _ => json!({ "content": "new\n", "overwrite": true }),
    };
    arguments["target"] = path(note);
    arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    arguments
}

const WRITERS: [&str; 6] = [
    "obsidian_write_note",
    "obsidian_append_to_note",
    "obsidian_patch_note",
    "obsidian_replace_in_note",
    "obsidian_manage_frontmatter",
    "obsidian_manage_tags",
];

/// The effect of each on the note above, in its own place and nowhere else.
#[test]
fn every_byte_outside_of_the_change_stays() {
    let section = |kind: &str, target: &str| json!({ "type": kind, "target": target });
    let patch = |section: Value, operation: &str, content: &str| json!({ "section": section, "operation": operation, "content": content });
    let mut row = patch(section("block", "days"), "append", "[\"Tue\", \"a|b\"]");
    row["contentType"] = json!("json");
    for (tool, extra, old, new) in [
        ("obsidian_append_to_note", json!({ "content": "last\nline" }), "end", "end\r\nlast\r\nline"),
        (
            "obsidian_write_note",
            json!({ "content": "x\ny", "section": section("heading", "Log") }),
            "## Log\r\n\r\n| day | what |\r\n|---|---|\r\n| Mon | rain |\r\n\r\n^days\r\n",
            "## Log\r\n\r\nx\r\ny\r\n",
        ),
        (
            "obsidian_append_to_note",
            json!({ "content": "- [ ] Lead\n", "section": section("heading", "Tasks") }),
            "^slates\r\n\r\n",
            "^slates\r\n- [ ] Lead\r\n\r\n",
        ),
        (
            "obsidian_patch_note",
            patch(section("heading", "Plan::Tasks"), "prepend", "first\n"),
            "## Tasks\r\n\r\n",
            "## Tasks\r\n\r\nfirst\r\n\r\n",
        ),
        (
            "obsidian_patch_note",
            patch(section("heading", "Tasks"), "replace", "none\n"),
            "## Tasks\r\n\r\n- [ ] Slates ^slates\r\n",
            "## Tasks\r\n\r\nnone\r\n",
        ),
        (
            "obsidian_patch_note",
            patch(section("block", "slates"), "append", " soon"),
            "Slates ^slates",
            "Slates soon ^slates",
        ),
        (
            "obsidian_patch_note",
            patch(section("block", "slates"), "replace", "[x] Done"),
            "[ ] Slates ^slates",
            "[x] Done ^slates",
        ),
        ("obsidian_patch_note", row, "| Mon | rain |\r\n", "| Mon | rain |\r\n| Tue | a\\|b |\r\n"),
        ("obsidian_patch_note", patch(section("frontmatter", "status"), "replace", "done"), "'open'", "'done'"),
        (
            "obsidian_replace_in_note",
            json!({ "replacements": [{ "search": "(\\w+)\\n\\n(\\w+)", "replace": "$2\n$1", "useRegex": true, "replaceAll": false }] }),
            "Twice\r\n\r\nDry",
            "Dry\r\nTwice",
        ),
        (
            "obsidian_replace_in_note",
            json!({ "replacements": [{ "search": "RAIN", "replace": "sun", "caseSensitive": false }, { "search": "sun", "replace": "fog" }] }),
            "rain",
            "fog",
        ),
        (
            "obsidian_replace_in_note",
            json!({ "scope": "frontmatter", "replacements": [{ "search": "gem", "replace": "cut" }] }),
            "tags: [gem]",
            "tags: [cut]",
        ),
        (
            "obsidian_manage_frontmatter",
            json!({ "operation": "set", "key": "due", "value": "2026-05-01" }),
            "tags: [gem]\r\n",
            "tags: [gem]\r\ndue: 2026-05-01\r\n",
        ),
        ("obsidian_manage_frontmatter", json!({ "operation": "delete", "key": "tags" }), "tags: [gem]\r\n", ""),
        (
            "obsidian_manage_tags",
            json!({ "operation": "remove", "tags": ["#Gem"], "location": "inline" }),
            "Dry #gem.",
            "Dry.",
        ),
    ] {
        let vault = vault();
        let mut server = vault.serve().open(Era::Modern);
        assert!(NOTE.contains(old), "{old}");
        let expected = NOTE.replacen(old, new, 1);
        let mut dry = arguments(tool, "Plan.md", &extra);
        dry["dryRun"] = json!(true);
        let would = server.done(tool, dry);
        assert_eq!(vault.read("Plan.md"), NOTE.as_bytes(), "{tool}: a dry run changes nothing");
        let done = server.done(tool, arguments(tool, "Plan.md", &extra));
        assert_eq!(String::from_utf8(vault.read("Plan.md")).unwrap(), expected, "{tool} {extra}");
        let told = |answer: &Value, name: &str| answer.get(name).or(answer["result"].get(name)).cloned();
        for name in ["contentHash", "previousSizeInBytes", "currentSizeInBytes"] {
            assert_eq!(told(&done, name), told(&would, name), "{tool}: {name}");
        }
        assert_eq!(told(&done, "currentSizeInBytes"), Some(json!(expected.len())), "{tool}");
        if expected != NOTE {
            assert!(would["diff"].as_str().unwrap().starts_with("--- Plan.md"), "{would}");
        }
        let read = server.done("obsidian_get_note", json!({ "format": "document-map", "target": path("Plan.md") }));
        assert_eq!(told(&read, "contentHash"), told(&done, "contentHash"), "{tool}");
    }
}

#[test]
fn reasons_of_every_writer() {
    let vault = vault();
    let before = vault.everything();
    let mut server =
        vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off"), ("OBSIDIAN_DENY_PATHS", "secret")]).open(Era::Modern);
    let none = json!({});
    for tool in WRITERS {
        let mut refused = |note: &str, extra: &Value| server.refused(tool, arguments(tool, note, extra));
        // Replacing all of it does not require understanding it.
        if tool != "obsidian_write_note" {
            assert_eq!(refused("bad.md", &none), "not_text", "{tool}");
        }
        assert_eq!(refused("secret/a.md", &none), "path_forbidden", "{tool}");
        assert_eq!(refused("../a.md", &none), "path_traversal", "{tool}");
        assert_eq!(
            refused("Plan.md", &json!({ "expectedHash": "sha256:000000000000" })),
            "stale_precondition",
            "{tool}"
        );
        assert_eq!(refused("Plan.md", &json!({ "expectedHash": "nonsense" })), "invalid_arguments", "{tool}");
        assert_eq!(refused("Plan.md", &json!({ "nonsense": 1 })), "invalid_arguments", "{tool}");
        if !matches!(tool, "obsidian_write_note" | "obsidian_append_to_note") {
            assert_eq!(refused("Nowhere/plan.md", &none), "note_missing", "{tool}");
        }
        if matches!(tool, "obsidian_manage_frontmatter" | "obsidian_manage_tags") {
            assert_eq!(refused("broken.md", &none), "frontmatter_invalid", "{tool}");
        }
    }
    let section = |target: &str| json!({ "section": { "type": "heading", "target": target } });
    for tool in ["obsidian_write_note", "obsidian_append_to_note", "obsidian_patch_note"] {
        let result = server.call(tool, arguments(tool, "Plan.md", &section("Twice")));
        let error = &result["structuredContent"]["error"];
        assert_eq!(error["code"], -32002);
        assert_eq!(error["data"]["reason"], "ambiguous_section");
        assert_eq!(error["data"]["candidates"], json!(["Plan::Twice", "Other::Twice"]));
        let result = server.call(tool, arguments(tool, "Plan.md", &section("Nowhere")));
        let error = &result["structuredContent"]["error"];
        assert_eq!((&error["code"], &error["data"]["reason"]), (&json!(-32007), &json!("section_target_missing")));
        assert!(error["data"]["recovery"]["hint"].as_str().unwrap().contains("`Plan::Tasks`"), "{error}");
        let mut missing = arguments(tool, "none.md", &section("Log"));
        assert_eq!(server.refused(tool, missing.clone()), "note_missing");
        missing["target"] = path("Plan.md");
        missing["content"] = json!("# Higher\n");
        assert_eq!(server.refused(tool, missing), "heading_outside_section");
    }
    for (extra, reason) in [
        (
            json!({ "section": { "type": "heading", "target": "Tasks" }, "content": "- [ ] Slates" }),
            "content_preexists",
        ),
        (
            json!({ "section": { "type": "block", "target": "slates" }, "content": "[1]", "contentType": "json" }),
            "patch_rejected",
        ),
        (
            json!({ "section": { "type": "block", "target": "days" }, "content": "[1]", "contentType": "json" }),
            "patch_rejected",
        ),
        (
            json!({ "section": { "type": "heading", "target": "Log" }, "content": "[1]", "contentType": "json" }),
            "patch_rejected",
        ),
        (
            json!({ "section": { "type": "heading", "target": "Log" }, "content": "[", "contentType": "json" }),
            "invalid_arguments",
        ),
        (json!({ "section": { "type": "frontmatter", "target": "none" } }), "section_target_missing"),
        (json!({ "section": { "type": "block", "target": "none" } }), "section_target_missing"),
    ] {
        let arguments = arguments("obsidian_patch_note", "Plan.md", &extra);
        assert_eq!(server.refused("obsidian_patch_note", arguments), reason, "{extra}");
    }
    let replace = |search: &str| json!({ "replacements": [{ "search": search, "replace": "", "useRegex": true }] });
    for (search, reason) in
        [("(", "regex_invalid"), ("(?!b)(a+)+", "regex_unsafe"), (&"a".repeat(1025), "regex_unsafe")]
    {
        let arguments = arguments("obsidian_replace_in_note", "Plan.md", &replace(search));
        assert_eq!(server.refused("obsidian_replace_in_note", arguments), reason);
    }
    let set = json!({ "operation": "set", "key": "k", "target": path("Plan.md") });
    assert_eq!(server.refused("obsidian_manage_frontmatter", set), "value_required");
    let add = json!({ "operation": "add", "target": path("Plan.md"), "tags": [] });
    assert_eq!(server.refused("obsidian_manage_tags", add), "tags_required");
    assert_eq!(vault.everything(), before);
}

#[test]
fn missing_parts_are_created_on_request() {
    let vault = Vault::new(&[("a.md", b"text")]);
    let mut server = vault.serve().open(Era::Modern);
    let made = server.done("obsidian_append_to_note", json!({ "target": path("New/b.md"), "content": "first" }));
    assert_eq!((&made["created"], &made["previousSizeInBytes"]), (&json!(true), &json!(0)));
    assert_eq!(vault.read("New/b.md"), b"first");
    let log = json!({ "type": "heading", "target": "Log::2026" });
    let create = json!({ "createTargetIfMissing": true });
    server.done(
        "obsidian_append_to_note",
        json!({ "target": path("a.md"), "content": "entry\n", "section": log, "createTargetIfMissing": true }),
    );
    server.done("obsidian_patch_note", json!({ "target": path("a.md"), "section": { "type": "frontmatter", "target": "n" }, "operation": "append", "content": "3", "contentType": "json", "patchOptions": create }));
    server.done("obsidian_patch_note", json!({ "target": path("a.md"), "section": { "type": "block", "target": "id" }, "operation": "append", "content": "named", "patchOptions": create }));
    assert_eq!(
        String::from_utf8(vault.read("a.md")).unwrap(),
        "---\nn: 3\n---\ntext\n\n# Log\n## 2026\nentry\n\nnamed ^id\n"
    );
}

#[test]
fn null_is_a_value_and_an_omitted_value_is_none() {
    let vault = Vault::new(&[("a.md", b"---\na: 1\n---\n")]);
    let mut server = vault.serve().open(Era::Modern);
    let set = |value: Value| json!({ "operation": "set", "key": "a", "target": path("a.md"), "value": value });
    for (value, line) in [
        (json!(null), "a:\n"),
        (json!("2026-05-01"), "a: 2026-05-01\n"),
        (json!("yes: no"), "a: \"yes: no\"\n"),
        (json!([1, "x"]), "a:\n  - 1\n  - x\n"),
        (json!(1.5), "a: 1.5\n"),
        (json!("true"), "a: \"true\"\n"),
    ] {
        let done = server.done("obsidian_manage_frontmatter", set(value.clone()));
        assert_eq!(done["result"]["frontmatter"], json!({ "a": value }), "{value}");
        let written = String::from_utf8(vault.read("a.md")).unwrap();
        assert_eq!(written, format!("---\n{line}---\n"), "{value}");
    }
    let get =
        server.done("obsidian_manage_frontmatter", json!({ "operation": "get", "key": "a", "target": path("a.md") }));
    assert_eq!(get["result"]["value"], "true");
    server.done("obsidian_manage_frontmatter", json!({ "operation": "delete", "key": "a", "target": path("a.md") }));
    assert_eq!(vault.read("a.md"), b"");
}

#[test]
fn a_block_that_is_read_is_the_block_that_is_written() {
    let note = "# A\n\n- one\n- two\n  more ^two\n- three\n\n> quote\n\n^q\n\npara\nover lines ^p\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n^t\n";
    for id in ["two", "q", "p", "t"] {
        let vault = Vault::new(&[("a.md", note.as_bytes())]);
        let mut server = vault.serve().open(Era::Modern);
        let block = json!({ "type": "block", "target": id });
        let read =
            server.done("obsidian_get_note", json!({ "format": "section", "target": path("a.md"), "section": block }));
        let text = read["result"]["valueText"].as_str().unwrap().to_owned();
        let patch = json!({ "target": path("a.md"), "section": block, "operation": "replace", "content": text });
        server.done("obsidian_patch_note", patch);
        assert_eq!(String::from_utf8(vault.read("a.md")).unwrap(), note, "{id}");
    }
}

#[test]
fn a_number_is_written_as_it_was_sent() {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let mut server = vault.serve().open(Era::Modern);
    // Parsed quickly instead of exactly, each of these has another last digit.
    server.done(
        "frontmatter_set",
        json!({ "file": "a.md", "keyPath": "k", "value": [-943.3050469559873, -938.8200339328929] }),
    );
    let text = String::from_utf8(vault.read("a.md")).unwrap();
    assert!(text.contains("-943.3050469559873\n") && text.contains("-938.8200339328929\n"), "{text}");
}
