//! Forty calls as everyday work makes them, one after the other on one vault.

use serde_json::{Value, json};

/// One call, and whether it is meant to be refused.
pub(crate) struct EverydayCall {
    /// What is wanted.
    pub(crate) what: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    pub(crate) is_refused: bool,
}

/// What models get wrong, and should be told briefly.
const REFUSED: [&str; 8] = [
    "a note that is misspelt",
    "a heading that is missing",
    "two notes of one name",
    "text that is not there",
    "text that is there twice",
    "a stale hash",
    "a note that exists",
    "an argument that is none",
];

pub(crate) fn everyday() -> Vec<EverydayCall> {
    let call = |(what, tool, arguments)| EverydayCall { what, tool, arguments, is_refused: REFUSED.contains(&what) };
    calls().into_iter().map(call).collect()
}

/// What is wanted, the tool and its arguments.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    const ROOF: &str = "Projects/House/Roof.md";
    const GARDEN: &str = "Areas/Garden/Garden.md";
    vec![
        ("read a note", "obsidian_get_note", json!({ "format": "content", "target": GARDEN })),
        ("read a section", "obsidian_get_note", json!({ "format": "section", "target": "Roof", "section": "Tasks" })),
        ("the map of a note", "obsidian_get_note", json!({ "format": "document-map", "target": "Roof" })),
        ("the outline of a note", "outline", json!({ "file": ROOF })),
        ("two notes at once", "notes_read", json!({ "notes": ["Roof#Tasks", "Ruth Okafor"] })),
        ("a note that is misspelt", "obsidian_get_note", json!({ "format": "content", "target": "Rooff" })),
        (
            "a heading that is missing",
            "obsidian_get_note",
            json!({ "format": "section", "target": "Roof", "section": "Task" }),
        ),
        ("two notes of one name", "obsidian_get_note", json!({ "format": "content", "target": "Plan" })),
        ("the best five notes", "obsidian_search_notes", json!({ "query": "slate roof" })),
        ("a word in all texts", "obsidian_search_notes", json!({ "mode": "text", "query": "garnet" })),
        ("nothing is found", "obsidian_search_notes", json!({ "query": "quetzalcoatl" })),
        ("notes by a property", "obsidian_search_notes", json!({ "query": "[status:active]" })),
        ("lines with a text", "search_content", json!({ "query": "slate" })),
        ("what is in a folder", "obsidian_list_notes", json!({ "path": "Projects" })),
        ("all tags", "obsidian_list_tags", json!({})),
        ("links of a note", "links_get", json!({ "file": ROOF })),
        ("who links here", "links_get", json!({ "file": "Ruth Okafor", "direction": "backlinks" })),
        ("tick a task", "str_replace", json!({ "file": "Welcome.md", "find": "Home", "replace": "House" })),
        ("text that is not there", "str_replace", json!({ "file": "Welcome.md", "find": "welcome!", "replace": "x" })),
        ("text that is there twice", "str_replace", json!({ "file": "Welcome.md", "find": "the", "replace": "x" })),
        (
            "a stale hash",
            "str_replace",
            json!({ "file": "Welcome.md", "find": "House", "replace": "x", "expected_content_hash": "00000000" }),
        ),
        (
            "several edits",
            "apply_edits",
            json!({ "file": "Welcome.md", "edits": [{ "find": "House\n", "replace": "Home\n" }, { "find": "never quite", "replace": "almost" }] }),
        ),
        (
            "a task for a list",
            "obsidian_append_to_note",
            json!({ "target": "Roof", "section": "Tasks", "content": "- [ ] Order spare slates" }),
        ),
        (
            "today's note",
            "obsidian_append_to_note",
            json!({ "target": { "period": "daily", "date": "2026-04-18" }, "content": "Rain." }),
        ),
        (
            "text under a heading",
            "obsidian_patch_note",
            json!({ "target": "Roof", "section": "Tasks", "operation": "prepend", "content": "- [ ] First" }),
        ),
        (
            "a new note",
            "obsidian_write_note",
            json!({ "target": "Inbox/Idea.md", "content": "# Idea\n\nA skylight.\n" }),
        ),
        ("a note that exists", "obsidian_write_note", json!({ "target": "Welcome.md", "content": "x" })),
        (
            "a property",
            "obsidian_manage_frontmatter",
            json!({ "target": "Roof", "operation": "set", "key": "status", "value": "done" }),
        ),
        ("a tag", "obsidian_manage_tags", json!({ "target": "Roof", "operation": "add", "tags": ["urgent"] })),
        (
            "replace a word in a note",
            "obsidian_replace_in_note",
            json!({ "target": "Roof", "replacements": [{ "search": "slates", "replace": "tiles" }] }),
        ),
        (
            "replace a word everywhere",
            "regex_replace",
            json!({ "glob": "**/*.md", "pattern": "Ruth", "replacement": "Rut" }),
        ),
        ("rename a note", "file_move", json!({ "from": "Inbox/Idea.md", "to": "Projects/House/Skylight.md" })),
        ("rename a heading", "heading_rename", json!({ "file": ROOF, "heading": "Tasks", "newText": "To do" })),
        (
            "a section becomes a note",
            "section_move",
            json!({ "file": ROOF, "section": "To do", "to": "Projects/House/Roof tasks.md", "leave": "embed" }),
        ),
        (
            "ten changes as one",
            "bulk_apply",
            json!({ "ops": (0..10).map(|number| json!({ "tool": "file_append", "args": { "file": "Inbox/Untitled.md", "content": format!("{number}\n") } })).collect::<Vec<_>>() }),
        ),
        ("undo", "undo", json!({})),
        ("what changed", "changes", json!({ "since": "1h" })),
        ("delete a note", "obsidian_delete_note", json!({ "target": "Projects/House/Skylight.md" })),
        ("find a tool", "find_tool", json!({ "query": "rename a tag everywhere" })),
        ("an argument that is none", "obsidian_get_note", json!({ "format": "content", "note": "Roof" })),
    ]
}
