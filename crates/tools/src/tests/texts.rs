//! Every text that a caller can send is declared as a path, as a language, or as plain text: a recipe writes values into it so, and
//! a tool that says nothing of an argument that it reads as a language would let a value be syntax.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::TOOLS;

/// Arguments in which nothing has a meaning, wherever they are: hashes and places to go on from.
const PLAIN_EVERYWHERE: [&str; 7] = [
    "/cursor",
    "/expectedHash",
    "/expected_content_hash",
    "/expected_frontmatter_hash",
    "/expected_section_hash",
    "/expected_block_hash",
    "/expected_range_hash",
];

/// Texts in which nothing has a meaning: content, names, words that are compared as they are, and places in a note that another
/// argument names. One that is read as a language belongs into `TEXTS` of its tool, a path into `paths` or there.
const PLAIN: &[(&str, &[&str])] = &[
    ("apply_edits", &["/edits/*/find", "/edits/*/replace"]),
    ("attachment_add", &["/data"]),
    ("attachment_read", &["/pages"]),
    ("base_create", &["/properties/*", "/views/*/*"]),
    ("base_update", &["/properties/*", "/views/*/*", "/remove/*", "/rename_views/*"]),
    ("block_find", &["/blockId"]),
    ("block_rename", &["/blockId", "/newId"]),
    ("block_replace", &["/blockId", "/content"]),
    ("bulk_apply", &["/ops/*/tool", "/ops/*/args/*"]),
    ("call_tool", &["/name", "/arguments/*"]),
    (
        "canvas_edit",
        &[
            "/operations/*/id",
            "/operations/*/group",
            "/operations/*/text",
            "/operations/*/subpath",
            "/operations/*/url",
            "/operations/*/label",
            "/operations/*/color",
            "/operations/*/from",
            "/operations/*/to",
        ],
    ),
    ("canvas_generate", &["/tag", "/groupBy"]),
    ("changes", &["/since"]),
    ("checkpoint_diff", &["/id"]),
    ("checkpoint_list", &["/before"]),
    ("checkpoint_read", &["/id"]),
    ("checkpoint_restore", &["/id"]),
    ("daily_note", &["/date", "/content", "/section/target"]),
    ("document_create", &["/content", "/view", "/rows/*", "/rows/*/*", "/title"]),
    (
        "drawing_create",
        &[
            "/elements/*/id",
            "/elements/*/label",
            "/elements/*/color",
            "/elements/*/fill",
            "/elements/*/link",
            "/arrows/*/from",
            "/arrows/*/to",
            "/arrows/*/label",
        ],
    ),
    ("file_append", &["/content"]),
    ("file_create", &["/content"]),
    ("file_diff", &["/fromHash", "/toHash"]),
    ("file_replace", &["/content"]),
    ("find_tool", &["/query"]),
    ("frontmatter_set", &["/value", "/value/*"]),
    ("frontmatter_update", &["/set/*", "/remove/*"]),
    ("graph_neighbors", &["/tag"]),
    ("heading_find", &["/heading", "/delimiter"]),
    ("heading_rename", &["/heading", "/delimiter", "/newText"]),
    ("heading_replace_body", &["/heading", "/delimiter", "/content"]),
    ("lines_insert", &["/content"]),
    ("lines_replace", &["/content"]),
    ("link_suggest", &["/heading"]),
    ("mcp_call", &["/server", "/tool", "/arguments/*"]),
    ("mcp_tools", &["/server", "/query", "/tool"]),
    ("memory_save", &["/text"]),
    ("note_create", &["/content"]),
    ("obsidian_append_to_note", &["/target/date", "/content", "/section/target"]),
    ("obsidian_delete_note", &["/target/date"]),
    ("obsidian_execute_command", &["/commandId"]),
    ("obsidian_get_note", &["/target/date", "/section/target"]),
    ("obsidian_list_notes", &["/extension"]),
    ("obsidian_manage_frontmatter", &["/target/date", "/key", "/value", "/value/*"]),
    ("obsidian_manage_tags", &["/target/date", "/tags/*"]),
    ("obsidian_patch_note", &["/target/date", "/section/target", "/content"]),
    ("obsidian_replace_in_note", &["/target/date"]),
    ("obsidian_write_note", &["/target/date", "/content", "/section/target"]),
    ("operation_log", &["/tool"]),
    ("property_types", &["/property"]),
    ("query", &["/view", "/without/*"]),
    ("query_explain", &["/view"]),
    ("recipe_create", &["/name", "/definition"]),
    ("recipe_delete", &["/name"]),
    ("recipe_run", &["/name", "/arguments/*"]),
    ("recipe_show", &["/name"]),
    ("recipe_update", &["/name", "/definition"]),
    ("regex_replace", &["/flags", "/expected_hashes/*", "/proposal_token"]),
    ("related_notes", &["/text"]),
    ("schema_infer", &["/tag", "/property/*"]),
    ("schema_save", &["/tag", "/property/*"]),
    ("search_content", &["/resume_from"]),
    ("section_move", &["/section/target", "/lines", "/toSection/target"]),
    ("semantic_search", &["/tags/*", "/since"]),
    (
        "source_ingest",
        &["/text", "/html", "/url", "/title", "/author", "/published", "/status", "/anchors/*/quote", "/anchors/*/id"],
    ),
    ("sources_list", &["/status"]),
    ("str_replace", &["/find", "/replace"]),
    ("tag_rename", &["/from", "/to"]),
    ("tags_list", &["/prefix"]),
    ("task_update", &["/id", "/text", "/status", "/due", "/scheduled", "/start", "/done", "/priority", "/new_text"]),
    ("tasks_list", &["/due", "/scheduled", "/start", "/done", "/status", "/priority", "/tag", "/heading", "/text"]),
    (
        "tools_script",
        &[
            "/steps/*/id",
            "/steps/*/tool",
            "/steps/*/with/*",
            "/steps/*/for_each",
            "/steps/*/if",
            "/answer",
            "/answer/*",
        ],
    ),
    ("undo", &["/id"]),
    ("vault_health_fix", &["/findings/*"]),
    ("vault_list", &["/vault"]),
    ("web_clip", &["/title", "/status"]),
    ("web_search", &["/query"]),
];

/// All places of a schema that take a text.
fn text_places(schema: &Value, at: &str, places: &mut BTreeSet<String>) {
    for choice in ["anyOf", "oneOf"].iter().filter_map(|key| schema[*key].as_array()).flatten() {
        text_places(choice, at, places);
    }
    if schema.get("enum").or(schema.get("const")).is_some() {
        return;
    }
    let is = |kind: &str| {
        schema["type"] == kind || schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(|one| one == kind))
    };
    let is_any = ["type", "anyOf", "oneOf", "properties"].iter().all(|key| schema.get(key).is_none());
    if is("string") || is_any {
        places.insert(at.to_owned());
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        text_places(field, &format!("{at}/{name}"), places);
    }
    match &schema["items"] {
        items @ Value::Object(_) => text_places(items, &format!("{at}/*"), places),
        _ if is("array") => drop(places.insert(format!("{at}/*"))),
        _ => {}
    }
    match &schema["additionalProperties"] {
        more @ Value::Object(_) => text_places(more, &format!("{at}/*"), places),
        Value::Bool(false) => {}
        _ if is("object") && schema.get("properties").is_none() => drop(places.insert(format!("{at}/*"))),
        _ => {}
    }
}

#[test]
fn every_text_argument_is_a_path_a_language_or_plain() {
    let mut unknown = Vec::new();
    let mut stale: BTreeSet<(&str, &str)> =
        PLAIN.iter().flat_map(|(tool, places)| places.iter().map(move |place| (*tool, *place))).collect();
    for tool in TOOLS {
        let spec = tool.spec();
        let mut places = BTreeSet::new();
        text_places(&Value::Object(spec.input().clone()), "", &mut places);
        for place in &places {
            let is_path = spec.declaration.paths.iter().any(|path| path.pointer == place);
            let is_language = spec.texts.iter().any(|text| text.covers(place));
            let is_plain = PLAIN.iter().any(|(name, plain)| *name == spec.name() && plain.contains(&place.as_str()));
            stale.retain(|(name, plain)| !(*name == spec.name() && plain == place));
            // A rule is one language however deep its texts are.
            let is_below =
                spec.texts.iter().any(|text| place.strip_prefix(text.pointer).is_some_and(|rest| rest == "/*"));
            if !(is_path || is_language || is_plain || is_below || PLAIN_EVERYWHERE.contains(&place.as_str())) {
                unknown.push(format!("{} {place}", spec.name()));
            }
        }
        // A pointer that leads nowhere guards nothing.
        for text in spec.texts {
            let top = format!("/{}", text.pointer.split('/').nth(1).unwrap_or_default());
            assert!(
                places.iter().any(|place| text.covers(place) || place.starts_with(&top)),
                "{} {}",
                spec.name(),
                text.pointer
            );
        }
    }
    assert!(unknown.is_empty(), "declare these in `TEXTS` of their tools, or here as plain text: {unknown:#?}");
    assert!(stale.is_empty(), "not texts of a tool any more: {stale:?}");
}
