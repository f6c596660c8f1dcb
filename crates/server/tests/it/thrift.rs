//! The cost for a model: the bytes of everyday answers, and the tools that save calls.

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, path};

const PLAN: &str =
    "---\nstatus: open\n---\n# Plan\n\n## Tasks\n\n- [ ] Order slates\n- [ ] Order lead\n\n## Log\n\nDry.\n";

fn vault() -> Vault {
    Vault::new(&[("Projects/Plan.md", PLAN.as_bytes()), ("Inbox/Idea.md", b"# Idea\n\nCut [[Plan]].\n")])
}

/// The text of an answer, all of its parts.
fn text(server: &mut Server, tool: &str, arguments: Value) -> String {
    let result = server.call(tool, arguments);
    let parts = result["content"].as_array().unwrap();
    parts.iter().map(|part| part["text"].as_str().unwrap()).collect()
}

#[test]
fn an_edit_of_a_word_is_answered_in_a_line() {
    let vault = vault();
    let mut server = vault.serve().open(Era::Modern);
    let file = "Projects/Plan.md";
    for (tool, arguments) in [
        ("str_replace", json!({ "file": file, "find": "slates", "replace": "tiles" })),
        ("apply_edits", json!({ "file": file, "edits": [{ "find": "tiles", "replace": "slates" }] })),
        (
            "obsidian_replace_in_note",
            json!({ "target": file, "replacements": [{ "search": "slates", "replace": "tiles" }] }),
        ),
        (
            "obsidian_manage_frontmatter",
            json!({ "target": file, "operation": "set", "key": "status", "value": "done" }),
        ),
        ("obsidian_append_to_note", json!({ "target": file, "content": "Rain.\n" })),
        (
            "obsidian_patch_note",
            json!({ "target": file, "section": "Log", "operation": "append", "content": "Sun.\n" }),
        ),
        ("obsidian_write_note", json!({ "target": "Inbox/New.md", "content": "x\n" })),
        ("obsidian_delete_note", json!({ "target": "Inbox/New.md" })),
        ("file_append", json!({ "file": file, "content": "Fog.\n" })),
    ] {
        let result = server.call(tool, arguments);
        let (text, facts) = (result["content"][0]["text"].as_str().unwrap(), &result["structuredContent"]);
        assert!(result["isError"] != true && text.len() < 120, "{tool}: {} bytes: {text}", text.len());
        assert!(text.contains(facts["checkpoint"].as_str().unwrap()), "{text}");
        let hash = facts["contentHash"].as_str().or(facts["result"]["contentHash"].as_str());
        assert!(hash.is_none_or(|hash| text.contains(&hash[7..15])), "{tool}: {text}");
    }
}

#[test]
fn a_moved_section_and_what_changed_are_told_in_a_line_each() {
    let vault = vault();
    let mut server = vault.serve().open(Era::Modern);
    let moved = text(&mut server, "section_move", json!({ "file": "Plan", "section": "Log", "to": "Inbox/Log.md" }));
    assert!(moved.len() < 160, "{} bytes: {moved}", moved.len());
    let changed = text(&mut server, "changes", json!({ "path": "Projects" }));
    assert!(changed.len() < 120, "{} bytes: {changed}", changed.len());
}

#[test]
fn eight_digits_of_a_hash_are_enough_for_every_expectation() {
    let vault = vault();
    let mut server = vault.serve().open(Era::Modern);
    let file = "Projects/Plan.md";
    let short = |hash: &Value| hash.as_str().unwrap()[7..15].to_owned();
    let content = |server: &mut Server| short(&server.done("file_read", json!({ "file": file }))["contentHash"]);
    let hash = content(&mut server);
    server.done("str_replace", json!({ "file": file, "find": "Dry", "replace": "Wet", "expected_content_hash": hash }));
    assert_eq!(
        server.refused(
            "str_replace",
            json!({ "file": file, "find": "Wet", "replace": "x", "expected_content_hash": hash })
        ),
        "stale_precondition"
    );
    let hash = content(&mut server);
    server.done("obsidian_append_to_note", json!({ "target": file, "content": "x\n", "expectedHash": hash }));
    let outline = server.done("outline", json!({ "file": file }));
    let section = short(&outline["headings"][1]["sectionHash"]);
    let body = json!({ "file": file, "heading": "Tasks", "content": "none\n", "expected_section_hash": section });
    server.done("heading_replace_body", body);
    let read = server.done("file_read_range", json!({ "file": file, "from": 4, "to": 4 }));
    let range = short(&read["rangeHash"]);
    server.done(
        "lines_replace",
        json!({ "file": file, "from": 4, "to": 4, "content": "# Plans", "expected_range_hash": range }),
    );
    let frontmatter = short(&server.done("frontmatter_get", json!({ "file": file }))["frontmatterHash"]);
    let set = json!({ "file": file, "keyPath": "status", "value": "done", "expected_frontmatter_hash": frontmatter });
    server.done("frontmatter_set", set);
    let seven =
        json!({ "file": file, "find": "none", "replace": "x", "expected_content_hash": &content(&mut server)[..7] });
    assert_eq!(server.refused("str_replace", seven), "invalid_arguments");
}

#[test]
fn refusals_are_short_and_say_how_to_continue() {
    let vault = vault();
    let headings: String = (0..60).map(|number| format!("## A heading with some words {number}\n\n")).collect();
    vault.write("Long.md", headings.as_bytes());
    vault.write("Twice.md", "## Log\n\n## Log\n\n".repeat(30).as_bytes());
    let mut server = vault.serve().open(Era::Modern);
    for (tool, arguments) in [
        (
            "str_replace",
            json!({ "file": "Projects/Plan.md", "find": "Dry", "replace": "x", "expected_content_hash": "00000000" }),
        ),
        (
            "obsidian_append_to_note",
            json!({ "target": "Projects/Plan.md", "content": "x", "expectedHash": "00000000" }),
        ),
        (
            "heading_replace_body",
            json!({ "file": "Projects/Plan.md", "heading": "Log", "content": "x", "expected_section_hash": "00000000" }),
        ),
        (
            "heading_replace_body",
            json!({ "file": "Twice.md", "heading": "Log", "content": "x", "expected_section_hash": "00000000" }),
        ),
        (
            "heading_replace_body",
            json!({ "file": "Long.md", "heading": "None", "content": "x", "expected_section_hash": "00000000" }),
        ),
        ("obsidian_get_note", json!({ "target": "Long.md", "format": "section", "section": "None" })),
    ] {
        let result = server.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}");
        let said = result["content"][0]["text"].as_str().unwrap();
        assert!(said.len() < 400 && !said.starts_with('{'), "{tool}: {} bytes: {said}", said.len());
    }
}

#[test]
fn an_outline_is_a_short_line_for_each_heading() {
    let vault = Vault::new(&[]);
    let many: String = (0..100).map(|number| format!("## Stone {number}\n\nText.\n\n")).collect();
    vault.write("Long.md", many.as_bytes());
    let mut server = vault.serve().open(Era::Modern);
    let said = text(&mut server, "outline", json!({ "file": "Long.md" }));
    assert!(said.len() < 100 * 30, "{}", said.len());
    let hash = server.done("outline", json!({ "file": "Long.md" }))["headings"][1]["sectionHash"].to_string();
    assert!(said.contains(&format!("\n5 ## `Stone 1` {}\n", &hash[8..16])), "{said}");
}

#[test]
fn a_successful_operation_of_a_batch_costs_almost_nothing() {
    let vault = Vault::new(&[("Notes/Long.md", "x\n".repeat(200).as_bytes())]);
    let mut server = vault.serve().open(Era::Modern);
    let edit = json!({ "tool": "str_replace", "args": { "file": "Notes/Long.md", "find": "x", "replace": "y", "occurrence": 1 } });
    let said = text(&mut server, "bulk_apply", json!({ "ops": vec![edit; 100] }));
    assert!(said.len() < 40 * 100, "{}: {said}", said.len());
    let hash = server.done("file_read", json!({ "file": "Notes/Long.md" }))["contentHash"].to_string();
    assert!(said.contains(&format!("`Notes/Long.md` {}", &hash[8..16])), "{said}");
}

#[test]
fn a_proposal_is_a_count_and_one_example_for_each_file() {
    let vault = Vault::new(&[]);
    for number in 0..20 {
        let lines: String = (0..9).map(|line| format!("Ruth was here on day {line}.\n")).collect();
        vault.write(&format!("Log/Week {number}.md"), lines.as_bytes());
    }
    let mut server = vault.serve().open(Era::Modern);
    let wanted = json!({ "glob": "Log/*.md", "pattern": "Ruth", "replacement": "Rut" });
    let said = text(&mut server, "regex_replace", wanted.clone());
    assert!(said.starts_with("180 would be replaced in 20 files"), "{said}");
    assert_eq!(
        said.matches(": `Ruth was here on day 0.` → `Rut`").count(),
        said.matches("`Log/Week").count(),
        "{said}"
    );
    assert!(said.len() < 20 * 75, "{} bytes: {said}", said.len());
    // The diff of all of it only on request.
    let mut whole = wanted;
    whole["dry_run"] = json!(true);
    assert!(text(&mut server, "regex_replace", whole).len() > 5_000);
}

#[test]
fn clients_of_the_original_get_its_json_in_the_text() {
    let vault = vault();
    for arguments in [&["--tools", "files"][..], &["--dotted-names"]] {
        let mut server = vault.serve_with(arguments, &[]).open(Era::Modern);
        for (tool, arguments) in [
            ("file.read", json!({ "file": "Projects/Plan.md" })),
            ("outline", json!({ "file": "Projects/Plan.md" })),
            ("str_replace", json!({ "file": "Projects/Plan.md", "find": "slates", "replace": "slates" })),
            ("str_replace", json!({ "file": "Projects/Plan.md", "find": "nothing", "replace": "x" })),
            (
                "bulk.apply",
                json!({ "ops": [{ "tool": "str_replace", "args": { "file": "x.md", "find": "a", "replace": "b" } }] }),
            ),
        ] {
            let result = server.call(tool, arguments);
            let said: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).expect("JSON");
            assert_eq!(said, result["structuredContent"], "{tool}");
        }
    }
}

#[test]
fn undo_reverts_the_last_change_and_then_the_one_before() {
    let vault = vault();
    let first = vault.everything();
    let mut server = vault.serve().open(Era::Modern);
    let file = "Projects/Plan.md";
    server.done("str_replace", json!({ "file": file, "find": "slates", "replace": "tiles" }));
    let second = vault.everything();
    server.done("file_move", json!({ "from": file, "to": "Projects/Roof.md" }));
    let third = vault.everything();
    server.done("obsidian_write_note", json!({ "target": "Inbox/New.md", "content": "x\n" }));
    server.done("undo", json!({}));
    let there =
        |vault: &Vault| vault.everything().into_iter().filter(|(path, _)| !path.starts_with(".trash")).collect();
    assert_eq!(third, there(&vault));
    server.done("undo", json!({}));
    assert_eq!(second, there(&vault));
    server.done("undo", json!({}));
    assert_eq!(first, there(&vault));
    assert_eq!(server.refused("undo", json!({})), "nothing_to_undo");
    // Several at once, including a new note and its edit.
    server.done("str_replace", json!({ "file": file, "find": "Dry", "replace": "Wet" }));
    server.done("obsidian_write_note", json!({ "target": "Inbox/Other.md", "content": "x\n" }));
    server.done("str_replace", json!({ "file": "Inbox/Other.md", "find": "x", "replace": "y" }));
    server.done("str_replace", json!({ "file": file, "find": "lead", "replace": "zinc" }));
    let undone = server.done("undo", json!({ "count": 4 }));
    assert_eq!(undone["undone"].as_array().unwrap().len(), 4, "{undone:#}");
    assert_eq!(first, there(&vault));
    assert_eq!(server.refused("undo", json!({})), "nothing_to_undo");
}

#[test]
fn undo_touches_nothing_that_others_did() {
    let vault = vault();
    let mut server = vault.serve().open(Era::Modern);
    let file = "Projects/Plan.md";
    let edited = server.done("str_replace", json!({ "file": file, "find": "slates", "replace": "tiles" }));
    vault.write(file, b"a person wrote this\n");
    assert_eq!(server.refused("undo", json!({})), "changed_since");
    assert_eq!(vault.read(file), b"a person wrote this\n");
    // A change of another client is not the last change of this one.
    let idea = json!({ "file": "Inbox/Idea.md", "find": "Cut", "replace": "Split" });
    let other = vault.run(&["call", "str_replace", &idea.to_string()]);
    let other: Value = serde_json::from_slice(&other.stdout).unwrap();
    assert_eq!(server.refused("undo", json!({ "id": other["checkpoint"] })), "change_of_other");
    assert_eq!(server.refused("undo", json!({ "id": edited["checkpoint"] })), "changed_since");
    assert_eq!(vault.read("Inbox/Idea.md"), b"# Idea\n\nSplit [[Plan]].\n");
}

#[test]
fn several_notes_are_read_within_a_budget() {
    let vault = vault();
    vault.write("Long.md", "A line of text.\n".repeat(100).as_bytes());
    let mut server = vault.serve().open(Era::Modern);
    let wanted = json!({ "notes": ["Inbox/Idea.md", "Projects/Plan.md#Log", "None.md", "Long.md", "Projects/Plan.md"], "maxBytes": 300 });
    let read = server.done("notes_read", wanted.clone());
    let notes = read["notes"].as_array().unwrap();
    assert_eq!(notes[1]["content"], "## Log\n\nDry.\n");
    assert_eq!(notes[2]["error"]["reason"], "note_missing");
    let cut = notes[3]["content"].as_str().unwrap();
    assert!(cut.ends_with('\n') && cut.len() > 200 && notes[3]["nextLine"] == cut.lines().count() + 1, "{read:#}");
    assert_eq!(read["left"], json!(["Long.md", "Projects/Plan.md"]));
    assert_eq!(read["nextOffset"], cut.len());
    let said = text(&mut server, "notes_read", wanted);
    assert!(
        said.contains("Dry.")
            && said.contains(&format!("Left to read, with `offset: {}`: `Long.md`, `Projects/Plan.md`", cut.len())),
        "{said}"
    );
    // The hash of a section works for an edit.
    let hash = &notes[1]["sectionHash"];
    let body =
        json!({ "file": "Projects/Plan.md", "heading": "Log", "content": "Wet.\n", "expected_section_hash": hash });
    server.done("heading_replace_body", body);
}

#[test]
fn all_of_several_notes_is_read_by_doing_what_the_answers_say() {
    let vault = vault();
    let long = format!("short\n{}\n\nend of it", "é🦀 word ".repeat(60));
    let (tail, lossy) = ("x".repeat(95) + "🦀🦀\n", [&b"\xff"[..], "ü".repeat(90).as_bytes()].concat());
    vault.write("Long.md", format!("# A\n{long}\n# B\n{long}").as_bytes());
    vault.write("Tail.md", tail.as_bytes());
    vault.write("Lossy.md", &lossy);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern);
    let all = ["Tail.md", "Long.md", "Long.md#B", "Lossy.md"];
    let whole = server.done("notes_read", json!({ "notes": all, "maxBytes": 100_000 }));
    let parts = |answer: &Value| -> Vec<(Value, Value, String)> {
        let notes = answer["notes"].as_array().unwrap().iter();
        notes
            .map(|note| (note["path"].clone(), note["section"].clone(), note["content"].as_str().unwrap().to_owned()))
            .collect()
    };
    let mut read: Vec<(Value, Value, String)> = Vec::new();
    let mut next = json!({ "notes": all, "maxBytes": 100 });
    for _ in 0..200 {
        let goes_on = next.get("offset").is_some();
        let answer = server.done("notes_read", next);
        for (number, part) in parts(&answer).into_iter().enumerate() {
            match read.last_mut() {
                Some(last) if goes_on && number == 0 => last.2 += &part.2,
                _ => read.push(part),
            }
        }
        if answer.get("left").is_none() {
            assert_eq!(read, parts(&whole));
            assert!(read[1].2.len() > 1_000 && read[2].2.starts_with("# B"));
            let past = json!({ "notes": ["Tail.md"], "offset": 1_000 });
            let past = server.done("notes_read", past);
            assert_eq!(past["notes"][0]["error"]["reason"], "invalid_arguments", "{past:#}");
            return;
        }
        next = json!({ "notes": answer["left"], "maxBytes": 100 });
        if let Some(offset) = answer.get("nextOffset") {
            next["offset"] = offset.clone();
        }
    }
    panic!("it never ends");
}

#[test]
fn a_note_and_a_section_may_be_named_by_a_bare_text() {
    let vault = vault();
    let mut server = vault.serve().open(Era::Modern);
    let short = server
        .call("obsidian_get_note", json!({ "target": "Projects/Plan.md", "format": "section", "section": "Log" }));
    let section = json!({ "type": "heading", "target": "Log" });
    let long = json!({ "target": path("Projects/Plan.md"), "format": "section", "section": section });
    assert_eq!(short, server.call("obsidian_get_note", long), "nothing is said of it");
}
