//! The typical scenarios of the file tools, end to end.

use lapidary_note::ContentHash;
use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault};

fn serve(vault: &Vault) -> Server {
    vault.serve_with(&["--tools", "files"], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern)
}

fn hash(text: &str) -> String {
    ContentHash::of(text.as_bytes()).to_string()
}

fn text(vault: &Vault, path: &str) -> String {
    String::from_utf8(vault.read(path)).unwrap()
}

/// The data of a refusal.
fn refusal(server: &mut Server, tool: &str, arguments: Value) -> Value {
    let result = server.call(tool, arguments);
    assert_eq!(result["isError"], true, "{result}");
    result["structuredContent"].clone()
}

/// A note of 5,500 lines with 1,001 headings on three levels.
fn large() -> String {
    let mut note = "# Large\n\n".to_owned();
    for chapter in 1..=100 {
        note += &format!("## Chapter {chapter}\n\nWords of chapter {chapter}.\n");
        for section in 1..=9 {
            note +=
                &format!("### Section {chapter}.{section}\n\nWords of section {chapter}.{section}.\n\n- [ ] task\n");
            if section < 8 {
                note += "\n";
            }
        }
        note += "\n\n\n";
    }
    note
}

#[test]
fn checkboxes_are_flipped_one_by_one() {
    let before = "# T\n- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\nrest\n";
    let vault = Vault::new(&[("t.md", before.as_bytes()), ("dup.md", b"## Tasks\nx\n## Tasks\n### Tasks\n")]);
    let mut server = serve(&vault);
    for name in ["a", "b", "c", "d"] {
        let arguments = json!({ "file": "t.md", "find": format!("[ ] {name}"), "replace": format!("[x] {name}") });
        assert_eq!(server.done("str_replace", arguments)["replacedCount"], 1);
    }
    assert_eq!(text(&vault, "t.md"), before.replace("[ ]", "[x]"));
    let refused = refusal(&mut server, "str_replace", json!({ "file": "t.md", "find": "[x]", "replace": "[ ]" }));
    assert_eq!((&refused["code"], &refused["details"]["occurrences"]), (&json!("DUPLICATE_TARGET"), &json!(4)));
    let all = json!({ "file": "dup.md", "find": "## Tasks", "replace": "## Todo", "occurrence": "all" });
    assert_eq!(server.done("str_replace", all)["replacedCount"], 3);
}

#[test]
fn one_section_is_replaced_by_its_path() {
    let before = "# Project\n## Notes\nold\n# Archive\n## Notes\nkept\n";
    let vault = Vault::new(&[("n.md", before.as_bytes())]);
    let mut server = serve(&vault);
    let found = server.done("heading.find", json!({ "file": "n.md", "heading": "Project::Notes" }));
    let section = &found["matches"][0]["sectionHash"];
    let edit = |heading: &str| json!({ "file": "n.md", "heading": heading, "content": "new", "expected_section_hash": section });
    let refused = refusal(&mut server, "heading.replace_body", edit("Notes"));
    let paths: Vec<&Value> = refused["details"]["matches"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    assert_eq!(
        (&refused["code"], paths),
        (&json!("DUPLICATE_TARGET"), vec![&json!("Project::Notes"), &json!("Archive::Notes")])
    );
    server.done("heading.replace_body", edit("Project::Notes"));
    assert_eq!(text(&vault, "n.md"), before.replace("old", "new"));
}

#[test]
fn what_changed_outside_is_noticed_and_the_retry_needs_no_read() {
    let vault = Vault::new(&[("n.md", b"one\n")]);
    let mut server = serve(&vault);
    let read = server.done("file_read", json!({ "file": "n.md" }));
    vault.write("n.md", b"two\n");
    let edit = |expected: &Value| json!({ "file": "n.md", "content": "three\n", "expected_content_hash": expected });
    let refused = refusal(&mut server, "file_replace", edit(&read["contentHash"]));
    assert_eq!(
        (&refused["code"], &refused["details"]["actual"]),
        (&json!("STALE_PRECONDITION"), &json!(hash("two\n")))
    );
    server.done("file_replace", edit(&refused["error"]["current_content_hash"]));
    assert_eq!(vault.read("n.md"), b"three\n");
}

#[test]
fn an_edit_elsewhere_does_not_make_a_section_stale() {
    let vault = Vault::new(&[("n.md", b"# A\na\n# B\nb ^id\n")]);
    let mut server = serve(&vault);
    let outline = server.done("outline", json!({ "file": "n.md" }));
    let section = outline["headings"][1]["sectionHash"].clone();
    vault.write("n.md", b"# A\nanother\nline\n# B\nb ^id\n");
    let edit = json!({ "file": "n.md", "heading": "B", "content": "new ^id", "expected_section_hash": section });
    let done = server.done("heading_replace_body", edit.clone());
    assert_eq!(text(&vault, "n.md"), "# A\nanother\nline\n# B\nnew ^id\n");
    // Each stale part is answered with its current hash, and that of the file.
    let content = hash("# A\nanother\nline\n# B\nnew ^id\n");
    for (tool, mut arguments, part, current) in [
        ("heading_replace_body", edit, "section", done["sectionHash"].clone()),
        (
            "heading_rename",
            json!({ "heading": "B", "newText": "C", "expected_section_hash": "000000000000" }),
            "section",
            done["sectionHash"].clone(),
        ),
        (
            "block_replace",
            json!({ "blockId": "id", "content": "x", "expected_block_hash": "000000000000" }),
            "block",
            json!(hash("new ^id\n")),
        ),
        (
            "block_rename",
            json!({ "blockId": "id", "newId": "x", "expected_block_hash": "000000000000" }),
            "block",
            json!(hash("new ^id\n")),
        ),
        (
            "lines_replace",
            json!({ "from": 2, "to": 2, "content": "x", "expected_range_hash": "000000000000" }),
            "range",
            json!(hash("another\n")),
        ),
    ] {
        arguments["file"] = json!("n.md");
        let refused = refusal(&mut server, tool, arguments);
        assert_eq!(refused["code"], "STALE_PRECONDITION", "{tool}");
        assert_eq!(refused["error"][format!("current_{part}_hash")], current, "{tool}: {refused}");
        assert_eq!(
            (&refused["details"]["actual"], &refused["error"]["current_content_hash"]),
            (&current, &json!(content))
        );
    }
}

#[test]
fn the_outline_of_a_large_note_is_smaller_than_the_note() {
    let note = large();
    let vault = Vault::new(&[("l.md", note.as_bytes())]);
    let mut server = serve(&vault);
    let whole = server.done("outline", json!({ "file": "l.md" }));
    let rows = whole["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &whole["totalLines"]), (1001, &json!(note.lines().count())));
    // The original needs 243 KB for such a note.
    assert!(whole.to_string().len() < 60_000, "{}", whole.to_string().len());
    let upper = server.done("outline", json!({ "file": "l.md", "maxDepth": 2 }));
    assert_eq!(upper["headings"].as_array().unwrap().len(), 101);
    assert!(upper.to_string().len() < whole.to_string().len() / 2);
    // Its short hashes work for an edit, in either form.
    let row = rows.iter().find(|row| row[0] == "Section 50.5").unwrap();
    let edit =
        json!({ "file": "l.md", "heading": row[0], "line": row[2], "content": "new", "expected_section_hash": row[4] });
    assert_eq!(server.done("heading_replace_body", edit)["headingLine"], row[2]);
    // Pages neither skip nor repeat.
    let mut lines = Vec::new();
    let mut offset = json!(0);
    while !offset.is_null() {
        let page = server.done("outline", json!({ "file": "l.md", "limit": 137, "offset": offset }));
        lines.extend(page["headings"].as_array().unwrap().iter().map(|heading| heading["line"].as_u64().unwrap()));
        offset = page["nextOffset"].clone();
    }
    assert_eq!(lines.len(), 1001);
    assert!(lines.is_sorted_by(|a, b| a < b));
}

#[test]
fn surgical_edits_cost_little() {
    let note = large();
    let vault = Vault::new(&[("l.md", note.as_bytes())]);
    let mut server = serve(&vault);
    let mut spent = 0;
    for chapter in 1..=10 {
        let arguments = json!({
            "file": "l.md", "find": format!("Words of chapter {chapter}."), "replace": format!("Chapter {chapter} anew."),
        });
        let result = server.done("str_replace", arguments.clone());
        let bytes = arguments.to_string().len() + result.to_string().len();
        assert!(bytes < 2_000, "{bytes}");
        spent += bytes;
    }
    let rewriting = 10 * 2 * note.len();
    assert!(spent * 50 < rewriting, "{spent} of {rewriting}: more than 2 %");
}

#[test]
fn a_batch_is_made_whole_or_not_at_all() {
    let vault = Vault::new(&[("a.md", b"one\n"), ("b.md", b"two\n"), ("c.md", b"three\n")]);
    let before = vault.everything();
    let mut server = serve(&vault);
    let edit = |file: &str, find: &str, replace: &str, expected: &str| json!({ "tool": "str_replace", "args": { "file": file, "find": find, "replace": replace, "expected_content_hash": expected } });
    let stale = [
        edit("a.md", "one", "1", &hash("one\n")),
        edit("b.md", "two", "2", &hash("two\n")),
        edit("c.md", "three", "3", &hash("old\n")),
    ];
    let refused = server.done("bulk.apply", json!({ "ops": stale }));
    assert_eq!((&refused["validated"], refused.get("rolled_back")), (&json!(false), None), "{refused}");
    let outcomes: Vec<&Value> = refused["results"].as_array().unwrap().iter().map(|result| &result["ok"]).collect();
    assert_eq!(outcomes, [true, true, false]);
    let error = &refused["results"][2]["error"];
    assert_eq!(
        (&error["code"], &error["current_content_hash"]),
        (&json!("STALE_PRECONDITION"), &json!(hash("three\n")))
    );
    assert_eq!(vault.everything(), before);
    let mut right = stale.to_vec();
    right[2] = edit("c.md", "three", "3", &hash("three\n"));
    let done = server.done("bulk.apply", json!({ "ops": right }));
    assert_eq!((&done["rolled_back"], &done["dry_run"]), (&json!(false), &json!(false)), "{done}");
    assert_eq!(
        (text(&vault, "a.md"), text(&vault, "b.md"), text(&vault, "c.md")),
        ("1\n".into(), "2\n".into(), "3\n".into())
    );
}

#[test]
fn a_nested_property_is_set_and_its_neighbours_stay() {
    let block = "---\nmeta:\n  a: 1\n  b: two\nlist:\n  - x\ntext: |\n  one\n  two\n---\n";
    let vault = Vault::new(&[("n.md", format!("{block}body\n").as_bytes())]);
    let mut server = serve(&vault);
    let set = json!({ "file": "n.md", "keyPath": "meta.c.d", "value": true });
    let refused = refusal(&mut server, "frontmatter.set", set.clone());
    assert_eq!(refused["code"], "INVALID_ARGS");
    assert!(refused["message"].as_str().unwrap().contains("`expected_frontmatter_hash` is required"), "{refused}");
    let mut set = set;
    set["expected_frontmatter_hash"] = json!(hash(block));
    server.done("frontmatter.set", set.clone());
    let after = block.replace("  b: two\n", "  b: two\n  c:\n    d: true\n");
    assert_eq!(text(&vault, "n.md"), format!("{after}body\n"));
    let refused = refusal(&mut server, "frontmatter.set", set);
    assert_eq!(refused["error"]["current_frontmatter_hash"], hash(&after));
}

#[test]
fn headings_in_code_and_comments_are_none() {
    let note =
        "# Real\n\n```\n# Fenced\n```\n\n<!--\n# Comment\n-->\n\n%%\n# Hidden\n%%\n\n`#code` https://x.y/#frag #tag\n";
    let vault = Vault::new(&[("n.md", note.as_bytes())]);
    let mut server = serve(&vault);
    assert_eq!(server.done("outline", json!({ "file": "n.md" }))["headings"].as_array().unwrap().len(), 1);
    for heading in ["Fenced", "Comment", "Hidden"] {
        assert_eq!(server.done("heading_find", json!({ "file": "n.md", "heading": heading }))["matches"], json!([]));
        let edit = json!({ "file": "n.md", "heading": heading, "content": "x", "expected_section_hash": hash(note) });
        assert_eq!(refusal(&mut server, "heading_replace_body", edit)["code"], "NOT_FOUND");
    }
    let rename = server.done("tag_rename", json!({ "from": "code", "to": "x" }));
    assert_eq!(rename["changed"], false);
    assert_eq!(text(&vault, "n.md"), note);
}

#[test]
fn nothing_is_made_up() {
    let vault = Vault::new(&[("n.md", b"# A\n")]);
    let mut server = serve(&vault);
    let refused = refusal(&mut server, "file.create", json!({ "file": "n.md", "content": "x" }));
    assert_eq!((&refused["code"], &refused["details"]["path"]), (&json!("DESTINATION_EXISTS"), &json!("n.md")));
    assert!(refused["hint"].as_str().unwrap().contains("file_replace"), "{refused}");
    let missing = json!({ "file": "n.md", "heading": "B", "newText": "C", "expected_section_hash": hash("# A\n") });
    let refused = refusal(&mut server, "heading.rename", missing);
    assert_eq!((&refused["code"], &refused["details"]["available"]), (&json!("NOT_FOUND"), &json!(["A"])));
    assert_eq!(vault.everything().len(), 1);
    assert_eq!(vault.read("n.md"), b"# A\n");
    // A file in the way stays, unless a free name next to it will do.
    vault.write("other.md", b"other");
    let refused = refusal(&mut server, "file.move", json!({ "from": "n.md", "to": "other.md" }));
    assert_eq!(refused["code"], "DESTINATION_EXISTS");
    let moved = server.done("file.move", json!({ "from": "n.md", "to": "other.md", "on_conflict": "rename" }));
    assert_eq!((&moved["to"], text(&vault, "other (1).md")), (&json!("other (1).md"), "# A\n".to_owned()));
    assert_eq!(vault.read("other.md"), b"other");
}

#[test]
fn a_patch_applies_or_says_where_it_does_not() {
    let vault = Vault::new(&[("n.md", b"a\nb\nc\n")]);
    let mut server = serve(&vault);
    let patch = |patch: &str| json!({ "file": "n.md", "patch": patch });
    let refused = refusal(&mut server, "apply_patch", patch("@@ -1,2 +1,2 @@\n a\n-x\n+y\n"));
    assert_eq!(refused["code"], "STALE_PRECONDITION");
    assert!(refused["message"].as_str().unwrap().starts_with("delete mismatch in hunk 0 at line 2"), "{refused}");
    assert_eq!((&refused["details"]["expected"], &refused["details"]["actual"]), (&json!("x"), &json!("b")));
    let mut expecting = patch("nonsense");
    expecting["expected_content_hash"] = json!("sha256:000000000000");
    assert_eq!(refusal(&mut server, "apply_patch", expecting)["error"]["reason"], "stale_precondition");
    let done = server.done("apply_patch", patch("--- a/n.md\n+++ b/n.md\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"));
    assert_eq!((&done["hunks"], &done["contentHash"]), (&json!(1), &json!(hash("a\nB\nc\n"))));
    // The diff that a dry run shows is a patch.
    let edit = json!({ "file": "n.md", "edits": [{ "find": "a\n", "replace": "a\nnew\n" }, { "find": "c\n", "replace": "" }], "dry_run": true });
    let diff = server.done("apply_edits", edit)["diff"].clone();
    server.done("apply_patch", json!({ "file": "n.md", "patch": diff }));
    assert_eq!(vault.read("n.md"), b"a\nnew\nB\n");
}

/// Thirty notes with 25 hits each.
fn many() -> Vault {
    let vault = Vault::new(&[]);
    for note in 0..30 {
        vault.write(&format!("n/{note:02}.md"), "a needle\nhay\n".repeat(25).as_bytes());
    }
    vault
}

#[test]
fn pages_of_hits_neither_skip_nor_repeat() {
    let vault = many();
    let mut server = serve(&vault);
    let mut seen = std::collections::BTreeSet::new();
    let mut offset = json!(0);
    while !offset.is_null() {
        let page = server.done("search.content", json!({ "query": "needle", "offset": offset, "contextLines": 0 }));
        assert_eq!(page["total"], 750);
        let hits = page["hits"].as_array().unwrap();
        assert!(hits.len() == 100 || page["nextOffset"].is_null());
        for hit in hits {
            assert!(hash("a needle\n").starts_with(hit["lineHash"].as_str().unwrap()), "{hit}");
            assert!(seen.insert((hit["file"].as_str().unwrap().to_owned(), hit["line"].as_u64().unwrap())), "{hit}");
        }
        offset = page["nextOffset"].clone();
    }
    assert_eq!(seen.len(), 750);
}

#[test]
fn budgets_of_the_server_cut_short_and_say_so() {
    let vault = many();
    let environment = [("MCP_MAX_FILES_SCANNED", "3"), ("MCP_MAX_BULK_OPS", "2"), ("LAPIDARY_REPETITION", "off")];
    let mut server = vault.serve_with(&["--tools", "files"], &environment).open(Era::Modern);
    let search = server.done("search.content", json!({ "query": "needle", "limit": 100 }));
    assert_eq!((&search["truncated"], &search["scanned"]), (&json!(true), &json!(3)), "{search}");
    assert!(search["hint"].is_string() && search["resumeFrom"] == "n/03.md", "{search}");
    // Resuming sees every note once, with any budget.
    let (mut total, mut from) = (75, search["resumeFrom"].clone());
    while !from.is_null() {
        let next = server.done("search.content", json!({ "query": "needle", "resume_from": from, "limit": 100 }));
        total += next["total"].as_u64().unwrap();
        from = next["resumeFrom"].clone();
    }
    assert_eq!(total, 750);
    let (mut count, mut offset) = (0, json!(0));
    while !offset.is_null() {
        let info = server.done("vault.info", json!({ "offset": offset }));
        count += info["fileCount"].as_u64().unwrap();
        assert_eq!(info.get("truncated").is_some(), info["hint"].is_string());
        offset = info["nextOffset"].clone();
    }
    assert_eq!(count, 30);
    let op = json!({ "tool": "file_append", "args": { "file": "n/00.md", "content": "x" } });
    let refused = refusal(&mut server, "bulk.apply", json!({ "ops": [op, op, op] }));
    assert_eq!(
        (&refused["code"], &refused["details"]),
        (&json!("BUDGET_EXCEEDED"), &json!({ "submitted": 3, "limit": 2 })),
        "{refused}"
    );
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains('3') && message.contains('2'), "{message}");
    // Without a budget nothing is cut short.
    let mut server = serve(&vault);
    assert!(server.done("search.content", json!({ "query": "needle" })).get("truncated").is_none());
    assert!(server.done("vault.info", json!({})).get("truncated").is_none());
}

#[test]
fn a_call_sets_its_own_budget_higher_or_lower() {
    let vault = many();
    let environment = [
        ("MCP_MAX_FILES_SCANNED", "3"),
        ("MCP_MAX_BYTES_READ", "1"),
        ("MCP_MAX_BULK_OPS", "1"),
        ("LAPIDARY_REPETITION", "off"),
    ];
    let mut server = vault.serve_with(&["--tools", "files"], &environment).open(Era::Modern);
    let search = |budget: Value| json!({ "query": "needle", "_budget": budget });
    let all = server.done("search.content", search(json!({ "maxFilesScanned": 0, "maxBytesRead": 0 })));
    assert_eq!((&all["total"], all.get("truncated")), (&json!(750), None));
    let some = server.done("search.content", search(json!({ "maxFilesScanned": 5, "maxBytesRead": 0 })));
    assert_eq!((&some["total"], &some["scanned"]), (&json!(125), &json!(5)));
    let info = server
        .done("vault.info", json!({ "_budget": { "maxFilesScanned": 0, "maxBytesRead": 0, "deadlineMs": 60_000 } }));
    assert_eq!((&info["fileCount"], info.get("truncated")), (&json!(30), None));
    let op = |text: &str| json!({ "tool": "file_append", "args": { "file": "n/00.md", "content": text } });
    let batch = |budget: Value| json!({ "ops": [op("1"), op("2")], "_budget": budget });
    assert_eq!(refusal(&mut server, "bulk.apply", batch(json!({})))["code"], "BUDGET_EXCEEDED");
    for budget in [json!({ "maxBulkOps": 0 }), json!({ "maxBulkOps": 2 })] {
        assert_eq!(server.done("bulk.apply", batch(budget))["rolled_back"], false);
    }
    // An invalid budget is refused, not ignored.
    for budget in [json!({ "maxFilesScanned": "many" }), json!({ "maxFiles": 1 }), json!({ "maxFilesScanned": -1 })] {
        assert_eq!(refusal(&mut server, "search.content", search(budget))["code"], "INVALID_ARGS");
    }
    assert_eq!(refusal(&mut server, "bulk.apply", batch(json!({ "maxBulkOps": "x" })))["code"], "INVALID_ARGS");
}

#[test]
fn what_a_write_answers_is_what_the_next_one_expects() {
    let vault = Vault::new(&[("n.md", b"# A\none\ntwo\n# B\nx ^id\n")]);
    let mut server = serve(&vault);
    let range = server.done("file.read_range", json!({ "file": "n.md", "from": 2, "to": 3 }));
    let replaced =
        json!({ "file": "n.md", "from": 2, "to": 3, "content": "1\n2\n3", "expected_range_hash": range["rangeHash"] });
    let done = server.done("lines.replace", replaced);
    let read = server.done("file.read", json!({ "file": "n.md" }));
    assert_eq!(done["contentHash"], read["contentHash"]);
    let new = &done["newRange"];
    let again = json!({ "file": "n.md", "from": new["from"], "to": new["to"], "content": "", "expected_range_hash": done["rangeHash"] });
    let done = server.done("lines.replace", again);
    assert_eq!(done["newRange"], json!({ "from": 2, "to": 1 }));
    let outline = server.done("outline", json!({ "file": "n.md" }));
    let edit = |expected: &Value, content: &str| json!({ "file": "n.md", "heading": "A", "content": content, "expected_section_hash": expected });
    let done = server.done("heading.replace_body", edit(&outline["headings"][0]["sectionHash"], "a"));
    server.done("heading.replace_body", edit(&done["sectionHash"], "b"));
    assert_eq!(text(&vault, "n.md"), "# A\nb\n# B\nx ^id\n");
}

#[test]
fn edits_are_made_in_order_or_not_at_all() {
    let vault = Vault::new(&[("n.md", b"a b\n")]);
    let mut server = serve(&vault);
    let edits = |edits: Value| json!({ "file": "n.md", "edits": edits });
    let done =
        server.done("apply_edits", edits(json!([{ "find": "a", "replace": "x" }, { "find": "x b", "replace": "y" }])));
    assert_eq!(done["edits"], json!([{ "replacedCount": 1 }, { "replacedCount": 1 }]));
    assert_eq!(vault.read("n.md"), b"y\n");
    let refused = refusal(
        &mut server,
        "apply_edits",
        edits(json!([{ "find": "y", "replace": "z" }, { "find": "q", "replace": "" }])),
    );
    assert!(refused["message"].as_str().unwrap().starts_with("edits[1] failed: "), "{refused}");
    assert_eq!(
        (&refused["code"], &refused["details"]["index"], &refused["details"]["findPreview"]),
        (&json!("NOT_FOUND"), &json!(1), &json!("q"))
    );
    // A `replace` that is missing or not a string must not delete.
    for edit in [json!({ "find": "y" }), json!({ "find": "y", "replace": 7 }), json!({ "find": "y", "replace": null })]
    {
        assert_eq!(refusal(&mut server, "apply_edits", edits(json!([edit])))["code"], "INVALID_ARGS");
    }
    assert_eq!(vault.read("n.md"), b"y\n");
}

#[test]
fn the_log_has_a_line_for_each_call_with_what_it_changed() {
    let vault = Vault::new(&[("T.md", b"# Old\n")]);
    let mut server = serve(&vault);
    server.done("outline", json!({ "file": "T.md" }));
    let rename =
        json!({ "file": "T.md", "heading": "Old", "newText": "New", "expected_section_hash": hash("# Old\n") });
    let mut dry = rename.clone();
    dry["dry_run"] = json!(true);
    server.done("heading_rename", dry);
    server.done("heading_rename", rename);
    server.stop();
    let log = vault.log();
    assert_eq!(log.len(), 3);
    assert!(log[0].get("after_hash").is_none());
    assert_eq!(log[1]["dry_run"], true);
    assert_ne!(log[2]["before_hash"], log[2]["after_hash"]);
}

#[test]
fn a_file_is_made_by_appending_and_ends_its_lines() {
    let vault = Vault::new(&[]);
    let mut server = serve(&vault);
    for (content, after) in [("one", "one\n"), ("two\n", "one\ntwo\n"), ("", "one\ntwo\n")] {
        server.done("file.append", json!({ "file": "new/log.md", "content": content }));
        assert_eq!(text(&vault, "new/log.md"), after);
    }
}
