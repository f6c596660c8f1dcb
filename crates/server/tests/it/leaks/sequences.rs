//! Calls that follow each other and succeed: parts that move, bases, queries, the list of changes and undoing. Two vaults,
//! one with hidden files and one without, answer each of them alike.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    everything::{assert_silent, blanked},
    twins::{Closing, Twin},
};

const BASE: &str = "Open/Drafts/All.base";

/// In order. Each names hidden things, or would count or find them if it looked further than it may.
fn calls() -> Vec<(&'static str, Value)> {
    let view = json!({ "name": "All", "order": ["file.path", "file.backlinks", "file.tags"] });
    vec![
        ("notes_read", json!({ "notes": ["Open/Plan.md", "Stone", "Draft#Plan", "Plan#^one", "shadow-private"] })),
        (
            "notes_read",
            json!({ "notes": ["Open/Plan.md", "Ignored/shadow-private.md", "Open/doors/shadow-private.md"] }),
        ),
        ("notes_read", json!({ "notes": ["Draft", "zqname9x", "zqalias9x"], "maxBytes": 200 })),
        ("query", json!({ "query": "TABLE file.inlinks, file.outlinks, file.tags, file.size FROM #gem" })),
        ("query", json!({ "query": "LIST FROM [[shadow-private]] or outgoing([[Plan]]) or \"Ignored\"" })),
        ("query", json!({ "query": "TABLE length(rows) GROUP BY file.folder" })),
        ("query", json!({ "query": "TASK" })),
        (
            "query",
            json!({ "query": "TABLE file.inlinks WHERE contains(file.outlinks, [[shadow-private]])", "note": "Stone" }),
        ),
        ("query_explain", json!({ "query": "TABLE status FROM #gem WHERE status + 1 > 1" })),
        ("query_explain", json!({ "query": "LIST FROM [[shadow-private]] or \"Ignored\" or #zqtag9x" })),
        (
            "query_explain",
            json!({ "query": "filters: file.ext != \"\"\nviews:\n  - type: table\n    name: A\n    order: [file.path]\n" }),
        ),
        ("base_create", json!({ "file": BASE, "filters": "file.ext != \"\"", "views": [view] })),
        ("query", json!({ "query": BASE })),
        ("base_update", json!({ "file": BASE, "formulas": { "other": "file(\"shadow-private\").path" } })),
        ("base_update", json!({ "file": BASE, "views": [{ "name": "All", "order": ["file.path", "formula.other"] }] })),
        ("query", json!({ "query": BASE, "view": "All" })),
        ("query_explain", json!({ "query": BASE })),
        ("base_create", json!({ "file": "Ignored/zqname9x.base" })),
        ("base_update", json!({ "file": "Ignored/zqname9x.base", "remove": ["filters"] })),
        (
            "section_move",
            json!({ "file": "Open/Drafts/Draft.md", "section": "Plan", "to": "Open/Drafts/New.md", "leave": "link" }),
        ),
        ("section_move", json!({ "file": "Open/Drafts/New.md", "to": "Open/Drafts/Draft.md" })),
        (
            "section_move",
            json!({ "file": "Open/Drafts/Draft.md", "section": "Draft", "to": "Ignored/shadow-private.md" }),
        ),
        ("section_move", json!({ "file": "Ignored/shadow-private.md", "to": "Open/Drafts/Draft.md" })),
        ("section_move", json!({ "file": "Open/Drafts/Draft.md", "lines": "1", "to": "Open/Drafts/Line.md" })),
        ("changes", json!({ "since": "2h", "diff": true })),
        ("changes", json!({ "since": "2020-01-01", "limit": 200 })),
        ("changes", json!({ "since": "2020-01-01", "path": "Open/Drafts" })),
        ("changes", json!({ "since": "2020-01-01", "path": "Ignored" })),
        ("undo", json!({ "dry_run": true })),
        ("undo", json!({})),
        ("undo", json!({ "count": 2 })),
        ("file_append", json!({ "file": "Open/Drafts/Line.md", "content": "one more lantern\n" })),
        ("call_tool", json!({ "name": "undo", "arguments": { "dry_run": true } })),
        ("call_tool", json!({ "name": "undo", "arguments": {} })),
        ("call_tool", json!({ "name": "undo", "arguments": { "path": "Ignored/shadow-private.md" } })),
        ("changes", json!({ "since": "2h", "diff": true, "maxBytes": 300 })),
        ("notes_read", json!({ "notes": ["Draft", "All.base", "Line"] })),
        ("tasks_list", json!({})),
        ("tasks_list", json!({ "tag": "gem", "group": "folder" })),
        ("tasks_list", json!({ "text": "lantern", "group": "tag" })),
        ("tasks_list", json!({ "path": "Ignored" })),
        ("tasks_list", json!({ "path": "shadow-private" })),
        (
            "task_update",
            json!({ "file": "Open/Stone.md", "text": "zqtext9x lantern", "status": "done", "dry_run": true }),
        ),
        ("task_update", json!({ "file": "Ignored/shadow-private.md", "line": 1, "status": "done" })),
        ("template_list", json!({})),
        ("note_create", json!({ "name": "Open/Drafts/Made", "template": "Ignored/shadow-private" })),
        ("note_create", json!({ "name": "Open/Drafts/Made", "template": "zqname9x", "beside": "zqname9x" })),
        ("note_create", json!({ "name": "Open/Drafts/Made", "template": "Open/Plan.md" })),
        ("template_apply", json!({ "file": "Open/Drafts/Made.md", "template": "shadow-private" })),
        ("tag_rename", json!({ "from": "gem", "to": "jewel", "expect": { "at_most": 0 } })),
        ("file_append", json!({ "file": "Open/Drafts/Made.md", "content": "more\n", "idempotency_key": "k" })),
        ("file_append", json!({ "file": "Open/Drafts/Made.md", "content": "more\n", "idempotency_key": "k" })),
        ("schema_infer", json!({ "folder": "Open" })),
        ("schema_infer", json!({ "folder": "Ignored" })),
        ("schema_infer", json!({ "tag": "gem" })),
        ("schema_infer", json!({ "property": { "status": "open" } })),
        ("schema_save", json!({ "name": "Gem", "tag": "gem", "dryRun": true })),
        ("file_create", json!({ "file": "Open/Drafts/Listed.md", "content": "x\n" })),
        ("file_create", json!({ "file": "Open/Listed.md", "content": "x\n" })),
        ("notes_read", json!({ "notes": ["Open/Drafts/Index.md", "Open/Index.md"] })),
        ("undo", json!({})),
    ]
}

/// How many calls of a tool succeed at least; without that, nothing is tried.
const SUCCEED: [(&str, usize); 16] = [
    ("schema_infer", 3),
    ("schema_save", 1),
    ("file_create", 1),
    ("tasks_list", 3),
    ("template_list", 1),
    ("note_create", 1),
    ("file_append", 2),
    ("section_move", 3),
    ("changes", 4),
    ("base_create", 1),
    ("base_update", 2),
    ("query", 7),
    ("query_explain", 4),
    ("notes_read", 4),
    ("undo", 3),
    ("call_tool", 2),
];

/// Without times of the form `2026-11-16T06:31:12.645Z`: the two vaults are changed one after the other.
fn without_times(reply: &str) -> String {
    let is_time = |text: &str| {
        let form = text.as_bytes();
        form.len() > 19 && form[4] == b'-' && form[10] == b'T' && form[13] == b':' && form[16] == b':'
    };
    let mut parts = reply.split_inclusive('Z');
    let mut kept = String::new();
    for part in &mut parts {
        let start = (0..part.len()).rev().filter(|at| part.is_char_boundary(*at)).find(|at| is_time(&part[*at..]));
        kept += &part[..start.filter(|at| part.len() - at < 32).unwrap_or(part.len())];
    }
    kept
}

/// The replies to all calls, without ids and times, which are drawn by lot or differ anyway.
fn replies(twin: &mut Twin) -> Vec<(bool, String)> {
    let mut ids: Vec<String> = Vec::new();
    let mut replies = Vec::new();
    for (tool, arguments) in calls() {
        let mut reply = twin.client.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        reply.as_object_mut().unwrap().shift_remove("id");
        let result = &reply["result"];
        ids.extend(result["structuredContent"]["checkpoint"].as_str().map(str::to_owned));
        let is_done = result.is_object() && result["isError"] != true;
        let mut text = reply.to_string();
        for id in &ids {
            text = text.replace(id.as_str(), "ID");
        }
        for name in ["mtime", "checkpoint", "ctime"] {
            text = blanked(&text, name);
        }
        replies.push((is_done, without_times(&text)));
    }
    replies
}

fn alike(closing: Closing) {
    let environment = [("LAPIDARY_APPROVAL", "write=allow,destroy=allow")];
    let twin = |full: bool| Twin::new(full, closing, &BTreeMap::new(), &environment);
    let (mut full, mut bare) = (twin(true), twin(false));
    let (with, without) = (replies(&mut full), replies(&mut bare));
    let mut done: BTreeMap<&str, usize> = BTreeMap::new();
    let mut said = String::new();
    for ((tool, arguments), (with, without)) in calls().into_iter().zip(with.into_iter().zip(without)) {
        said += &arguments.to_string().to_lowercase();
        assert_silent(&said, &arguments, &with.1);
        assert_eq!(with, without, "{closing:?}: {tool} {arguments}");
        *done.entry(tool).or_default() += usize::from(with.0);
    }
    for (tool, least) in SUCCEED {
        assert!(done[tool] >= least, "{closing:?}: {tool} is done {} times", done[tool]);
    }
    assert!(full.is_untouched());
}

#[test]
fn calls_that_succeed_reveal_no_files_closed_by_rules() {
    alike(Closing::Rules);
}

#[test]
fn calls_that_succeed_reveal_no_files_of_a_remote_vault_closed_by_rules() {
    alike(Closing::Remote);
}

#[test]
fn calls_that_succeed_reveal_no_files_that_are_not_allowed() {
    alike(Closing::Lists);
}

#[test]
fn calls_that_succeed_reveal_no_files_that_a_token_does_not_open() {
    alike(Closing::Principal);
}

#[test]
fn calls_that_succeed_reveal_no_files_that_a_grant_does_not_open() {
    alike(Closing::Granted);
}

#[test]
fn calls_that_succeed_reveal_no_files_that_are_not_allowed_to_a_token_of_another_issuer() {
    alike(Closing::Issued);
}
