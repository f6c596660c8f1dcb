//! Why the note tools refuse: every tool with every reason that applies to it, in the oldest and in the newest era. The
//! reasons are those of the tools that these replace; those that need the Obsidian app are in `app`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, path};

const BOTH: [Era; 2] = [Era::Legacy("2024-11-05"), Era::Modern];

const GET: &str = "obsidian_get_note";
const LIST: &str = "obsidian_list_notes";
const LIST_TAGS: &str = "obsidian_list_tags";
const SEARCH: &str = "obsidian_search_notes";
const OPEN: &str = "obsidian_open_in_ui";
const WRITE: &str = "obsidian_write_note";
const APPEND: &str = "obsidian_append_to_note";
const PATCH: &str = "obsidian_patch_note";
const REPLACE: &str = "obsidian_replace_in_note";
const FRONTMATTER: &str = "obsidian_manage_frontmatter";
const TAGS: &str = "obsidian_manage_tags";
const DELETE: &str = "obsidian_delete_note";
/// Not a tool, but refused for the same reasons.
const RESOURCE: &str = "resources/read";

const WITH_A_TARGET: [&str; 8] = [GET, WRITE, APPEND, PATCH, REPLACE, FRONTMATTER, TAGS, DELETE];
const WITH_A_PATH: [&str; 9] = [GET, WRITE, APPEND, PATCH, REPLACE, FRONTMATTER, TAGS, DELETE, OPEN];

fn vault() -> Vault {
    let plan = b"---\nstatus: open\n---\n# Plan\n\n## Tasks\n\n- one\n\n## Twice\n\nx\n\n# Other\n\n## Twice\n\ny\n";
    Vault::new(&[
        ("Plan.md", plan),
        ("Folder/a.md", b"x"),
        ("Case/Note.md", b"x"),
        ("Case/NOTE.md", b"x"),
        ("secret/a.md", b"x"),
        (".obsidian/core-plugins.json", b"{\"daily-notes\": true}"),
        (".obsidian/daily-notes.json", b"{\"folder\": \"Daily\"}"),
    ])
}

/// Arguments with which a tool succeeds, on this note or folder.
fn usual(tool: &str, target: Value) -> Value {
    let mut arguments = match tool {
        GET => json!({ "format": "content" }),
        LIST | OPEN => return json!({ "path": target["path"] }),
        LIST_TAGS => return json!({}),
        SEARCH => return json!({ "mode": "text", "query": "x" }),
        WRITE => json!({ "content": "new\n", "overwrite": true }),
        APPEND => json!({ "content": "more\n" }),
        PATCH => json!({ "section": heading("Tasks"), "operation": "append", "content": "more\n" }),
        REPLACE => json!({ "replacements": [{ "search": "one", "replace": "two" }] }),
        FRONTMATTER => json!({ "operation": "set", "key": "k", "value": 1 }),
        TAGS => json!({ "operation": "add", "tags": ["x"] }),
        _ => json!({}),
    };
    arguments["target"] = target;
    arguments
}

fn heading(name: &str) -> Value {
    json!({ "type": "heading", "target": name })
}

fn with(mut arguments: Value, more: &Value) -> Value {
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    arguments
}

/// A call, or a URI, that is refused, with the reason and its code.
type Case = (&'static str, Value, &'static str, i32);

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |tool, arguments, reason, code| cases.push((tool, arguments, reason, code));
    let plan = || path("Plan.md");
    for tool in WITH_A_PATH {
        add(tool, usual(tool, path("secret/a.md")), "path_forbidden", -32005);
        add(tool, usual(tool, path("secret/none.md")), "path_forbidden", -32005);
        add(tool, usual(tool, path("Folder")), "path_is_directory", -32007);
        add(tool, usual(tool, path("../a.md")), "path_traversal", -32007);
        add(tool, usual(tool, path("Folder/../../a.md")), "path_traversal", -32007);
    }
    for tool in [GET, PATCH, REPLACE, FRONTMATTER, TAGS, DELETE, OPEN] {
        add(tool, usual(tool, path("none.md")), "note_missing", -32001);
    }
    for tool in [WRITE, APPEND] {
        let section = json!({ "section": heading("Tasks") });
        add(tool, with(usual(tool, path("none.md")), &section), "note_missing", -32001);
    }
    for tool in WITH_A_TARGET {
        let daily = json!({ "type": "periodic", "period": "daily", "date": "2001-02-03" });
        add(tool, usual(tool, json!({ "type": "active" })), "obsidian_unreachable", -32000);
        // Tools that write a whole note create it.
        if !matches!(tool, WRITE | APPEND) {
            add(tool, usual(tool, daily), "periodic_not_found", -32001);
        }
        let yearly = json!({ "type": "periodic", "period": "yearly" });
        add(tool, usual(tool, yearly), "periodic_disabled", -32007);
    }
    for tool in [GET, OPEN] {
        add(tool, usual(tool, path("Case/note.md")), "ambiguous_path", -32002);
    }
    add(LIST, usual(LIST, path("secret")), "path_forbidden", -32005);
    add(LIST, usual(LIST, path("None")), "directory_missing", -32001);
    add(LIST, usual(LIST, path("Plan.md")), "path_is_file", -32007);
    add(LIST, usual(LIST, path("../x")), "path_traversal", -32007);
    add(GET, with(usual(GET, plan()), &json!({ "format": "section" })), "section_required", -32007);
    for section in [
        heading("None"),
        json!({ "type": "block", "target": "none" }),
        json!({ "type": "frontmatter", "target": "none" }),
    ] {
        let arguments = with(usual(GET, plan()), &json!({ "format": "section", "section": section }));
        add(GET, arguments, "section_missing", -32001);
    }
    add(WRITE, json!({ "target": plan(), "content": "x" }), "file_exists", -32002);
    for tool in [WRITE, APPEND, PATCH] {
        add(tool, with(usual(tool, plan()), &json!({ "section": heading("None") })), "section_target_missing", -32007);
        add(tool, with(usual(tool, plan()), &json!({ "section": heading("Twice") })), "ambiguous_section", -32002);
    }
    for tool in [APPEND, PATCH] {
        let same = json!({ "section": heading("Tasks"), "content": "- one" });
        add(tool, with(usual(tool, plan()), &same), "content_preexists", -32007);
    }
    for (pattern, reason) in [("(", "regex_invalid"), ("(?!b)(a+)+", "regex_unsafe")] {
        add(LIST, json!({ "nameRegex": pattern }), reason, -32007);
        add(LIST_TAGS, json!({ "nameRegex": pattern }), reason, -32007);
        let replacements = json!([{ "search": pattern, "replace": "", "useRegex": true }]);
        add(REPLACE, with(usual(REPLACE, plan()), &json!({ "replacements": replacements })), reason, -32007);
    }
    add(FRONTMATTER, json!({ "target": plan(), "operation": "set", "key": "k" }), "value_required", -32007);
    add(TAGS, json!({ "target": plan(), "operation": "remove" }), "tags_required", -32007);
    let logic = json!({ "var": "path" });
    let prefixed = json!({ "mode": "jsonlogic", "logic": logic, "pathPrefix": "a" });
    add(SEARCH, prefixed, "path_prefix_invalid_mode", -32007);
    add(SEARCH, json!({ "mode": "text" }), "query_required", -32007);
    add(SEARCH, json!({ "mode": "jsonlogic" }), "logic_required", -32007);
    add(SEARCH, json!({ "mode": "jsonlogic", "logic": { "nope": [] } }), "logic_invalid", -32007);
    add(SEARCH, json!({ "mode": "dataview", "query": "LIST WHERE )" }), "query_invalid", -32007);
    add(SEARCH, json!({ "mode": "dataview", "query": "TABLE nosuch(1)" }), "query_failed", -32007);
    let long = json!({ "mode": "text", "query": "x", "contextLength": 1_000_000 });
    add(SEARCH, long, "context_length_too_large", -32007);
    add(RESOURCE, json!("obsidian://vault/secret/a.md"), "path_forbidden", -32005);
    add(RESOURCE, json!("obsidian://vault/none.md"), "note_missing", -32001);
    add(RESOURCE, json!("obsidian://vault/Folder"), "path_is_directory", -32007);
    for tool in WITH_A_PATH.into_iter().chain([LIST, LIST_TAGS, SEARCH]) {
        add(tool, with(usual(tool, plan()), &json!({ "nonsense": 1 })), "invalid_arguments", -32602);
    }
    cases
}

/// The error of a refusal, in either form.
fn refusal(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    if tool == RESOURCE {
        return server.request(tool, json!({ "uri": arguments }))["error"].clone();
    }
    let result = server.call(tool, arguments.clone());
    assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
    let error = result["structuredContent"]["error"].clone();
    let (message, hint) = (error["message"].as_str().unwrap(), &error["data"]["recovery"]["hint"]);
    let text = format!("Error: {message}\n\nRecovery: {}", hint.as_str().unwrap());
    assert_eq!(result["content"][0]["text"], text, "{tool}: the text says the same");
    error
}

#[test]
fn every_tool_refuses_with_the_reason_code_and_hint_that_callers_know() {
    let vault = vault();
    let before = vault.everything();
    let environment = [("LAPIDARY_REPETITION", "off"), ("OBSIDIAN_DENY_PATHS", "secret")];
    for era in BOTH {
        let mut server = vault.serve_with(&["--tools", "obsidian"], &environment).open(era);
        for (tool, arguments, reason, code) in cases() {
            let error = refusal(&mut server, tool, &arguments);
            assert_eq!(error["data"]["reason"], reason, "{era:?} {tool} {arguments}");
            // A missing resource has a protocol code in the newest era.
            let newest = (tool, reason, era) == (RESOURCE, "note_missing", Era::Modern);
            assert_eq!(error["code"], if newest { -32602 } else { code }, "{era:?} {tool} {reason}");
            assert!(!error["message"].as_str().unwrap().is_empty());
            assert!(error["data"]["recovery"]["hint"].as_str().unwrap().len() > 10, "{error}");
            assert!(!error.to_string().contains(vault.path().to_str().unwrap()), "nothing of the machine: {error}");
        }
    }
    assert_eq!(vault.everything(), before, "no refusal changes anything");
}

/// Every reason that a note tool declares is provoked here, or in the test of its subject.
#[test]
fn no_declared_reason_is_left_out() {
    let elsewhere: BTreeSet<&str> = [
        // Of the pipeline, for any tool: approval, bad_input, lifecycle, protocol, tools_list, access.
        "cancelled",
        "approval_unavailable",
        "approval_pending",
        "too_many",
        "approval_expired",
        "changed_meanwhile",
        "denied_by_rule",
        "keeps_changing",
        "write_unfinished",
        "repeated_call",
        "interrupted",
        "deadline_exceeded",
        "internal_error",
        "disk_error",
        "vault_unavailable",
        "vault_unknown",
        "vault_required",
        "vault_closed",
        "tool_disabled",
        "reply_too_large",
        "file_too_large",
        // Of the Obsidian app: app.
        "no_active_file",
        "obsidian_unreachable",
        "certificate_rejected",
        "api_key_rejected",
        "obsidian_timeout",
        "obsidian_failed",
        "omnisearch_unreachable",
        // Of budgets: queries.
        "query_too_large",
        "not_a_file",
        "not_text",
        // Of the search by meaning: meaning.
        "meaning_not_ready",
        // Of names that several notes have: examples, for every tool.
        "ambiguous_path",
        // Of single notes: notes.
        "stale_precondition",
        "heading_outside_section",
        "patch_rejected",
        "frontmatter_invalid",
        "edit_refused",
    ]
    .into();
    let provoked: BTreeSet<(&str, &str)> = cases().into_iter().map(|(tool, _, reason, _)| (tool, reason)).collect();
    for tool in lapidary_tools::TOOLS {
        let spec = tool.spec();
        // Commands are off without the app; `app` has them.
        if spec.declaration.family != lapidary_tools::WireFamily::Obsidian || spec.is_command {
            continue;
        }
        for kind in spec.reasons() {
            let reason = kind.wire_code().id;
            let name = spec.name();
            assert!(
                elsewhere.contains(reason) || provoked.contains(&(name, reason)),
                "{name} never refuses with {reason}"
            );
        }
    }
}

#[test]
fn a_user_who_declines_cancels_the_deletion_in_both_eras() {
    for era in BOTH {
        let vault = vault();
        let before = vault.everything();
        let mut server = vault.serve().with_elicitation().open(era);
        let call = json!({ "name": DELETE, "arguments": { "target": path("Plan.md") } });
        let no = json!({ "action": "decline" });
        let result = if era == Era::Modern {
            let asked = server.request("tools/call", call.clone())["result"].clone();
            assert_eq!(asked["resultType"], "input_required", "{asked}");
            let answer = json!({ "requestState": asked["requestState"], "inputResponses": { "consent": no } });
            server.request("tools/call", with(call, &answer))["result"].clone()
        } else {
            let id = server.ask("tools/call", call);
            let question = server.message();
            assert_eq!(question["method"], "elicitation/create", "{question}");
            server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": no }));
            server.answer_to(id)["result"].clone()
        };
        let error = &result["structuredContent"]["error"];
        assert_eq!((&error["code"], &error["data"]["reason"]), (&json!(-32600), &json!("cancelled")), "{era:?}");
        assert_eq!(vault.everything(), before);
    }
}
