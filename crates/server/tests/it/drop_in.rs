//! Compatibility for users who change the `command` from obsidian-mcp-server to this server and keep everything else.
//! Parts that concern the Obsidian app or signing in are not covered, because this server does not have them.

use serde_json::{Map, Value, json};

use crate::{
    harness::{Era, Server, Vault, path},
    http::{HttpServer, modern},
};

const BOTH: [Era; 2] = [Era::Legacy("2024-11-05"), Era::Modern];

/// A tool as clients know it: its title, its hints, and its arguments. `*` after a name: required.
struct Known {
    name: &'static str,
    title: &'static str,
    hints: &'static [(&'static str, bool)],
    /// The argument, its type and values in the schema, and its default.
    arguments: &'static [(&'static str, &'static str, &'static str)],
}

const READS: &[(&str, bool)] = &[("readOnlyHint", true), ("idempotentHint", true)];
const CHANGES: &[(&str, bool)] = &[("destructiveHint", true)];
const TARGET: (&str, &str, &str) = ("target*", "object", "");
const CONTENT_TYPE: (&str, &str, &str) = ("contentType", "markdown|json", "\"markdown\"");

const TOOLS: &[Known] = &[
    Known {
        name: "obsidian_get_note",
        title: "Obsidian Get Note",
        hints: READS,
        arguments: &[
            // Optional here: without it, the text or the named section is read. Every call of the original stays valid.
            ("format", "content|full|document-map|section", ""),
            TARGET,
            ("section", "object", ""),
            ("includeLinks", "boolean", "false"),
        ],
    },
    Known {
        name: "obsidian_list_notes",
        title: "Obsidian List Notes",
        hints: READS,
        arguments: &[
            ("path", "string", ""),
            ("extension", "string", ""),
            ("nameRegex", "string", ""),
            ("depth", "integer 1..20", "2"),
        ],
    },
    Known {
        name: "obsidian_list_tags",
        title: "Obsidian List Tags",
        hints: READS,
        arguments: &[
            ("nameRegex", "string", ""),
            ("minCount", "integer 0..", ""),
            ("limit", "integer 1..10000", "200"),
        ],
    },
    Known {
        name: "obsidian_open_in_ui",
        title: "Obsidian Open In UI",
        hints: &[("openWorldHint", true), ("destructiveHint", false), ("idempotentHint", true)],
        arguments: &[("path*", "string", ""), ("failIfMissing", "boolean", "true"), ("newLeaf", "boolean", "false")],
    },
    Known {
        // The mode `omnisearch` always exists, as it needs no plugin.
        name: "obsidian_search_notes",
        title: "Obsidian Search Notes",
        hints: READS,
        arguments: &[
            ("mode", "text|jsonlogic|omnisearch|dataview|hybrid|semantic", "\"hybrid\""),
            ("query", "string", ""),
            ("logic", "object", ""),
            ("contextLength", "integer 1..", "100"),
            ("pathPrefix", "string", ""),
            ("maxMatchesPerHit", "integer 1..", "10"),
            ("cursor", "string", ""),
        ],
    },
    Known {
        name: "obsidian_write_note",
        title: "Obsidian Write Note",
        hints: &[("destructiveHint", true), ("idempotentHint", true)],
        arguments: &[
            TARGET,
            ("content*", "string", ""),
            ("section", "object", ""),
            CONTENT_TYPE,
            ("overwrite", "boolean", "false"),
        ],
    },
    Known {
        name: "obsidian_append_to_note",
        title: "Obsidian Append To Note",
        hints: CHANGES,
        arguments: &[
            TARGET,
            ("content*", "string", ""),
            ("section", "object", ""),
            CONTENT_TYPE,
            ("createTargetIfMissing", "boolean", "false"),
        ],
    },
    Known {
        name: "obsidian_patch_note",
        title: "Obsidian Patch Note",
        hints: CHANGES,
        arguments: &[
            TARGET,
            ("section*", "object", ""),
            ("operation*", "append|prepend|replace", ""),
            ("content*", "string", ""),
            CONTENT_TYPE,
            ("patchOptions", "object", ""),
        ],
    },
    Known {
        name: "obsidian_replace_in_note",
        title: "Obsidian Replace In Note",
        hints: CHANGES,
        arguments: &[TARGET, ("replacements*", "array", ""), ("scope", "body|frontmatter|both", "\"body\"")],
    },
    Known {
        name: "obsidian_manage_frontmatter",
        title: "Obsidian Manage Frontmatter",
        hints: CHANGES,
        arguments: &[("operation*", "get|set|delete", ""), TARGET, ("key*", "string", ""), ("value", "any", "")],
    },
    Known {
        name: "obsidian_manage_tags",
        title: "Obsidian Manage Tags",
        hints: CHANGES,
        arguments: &[
            TARGET,
            ("operation*", "add|remove|list", ""),
            ("tags", "array", ""),
            ("location", "frontmatter|inline|both", "\"frontmatter\""),
        ],
    },
    Known { name: "obsidian_delete_note", title: "Obsidian Delete Note", hints: CHANGES, arguments: &[TARGET] },
];

/// Type, values and bounds of an argument in short.
fn in_short(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|");
    }
    let Some(kind) = schema["type"].as_str() else { return "any".to_owned() };
    match (&schema["minimum"], &schema["maximum"]) {
        (Value::Null, _) => kind.to_owned(),
        (least, Value::Null) => format!("{kind} {least}.."),
        (least, most) => format!("{kind} {least}..{most}"),
    }
}

fn listed(server: &mut Server) -> Vec<Value> {
    server.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn names_titles_hints_and_arguments_are_the_known_ones() {
    let vault = Vault::new(&[]);
    for era in BOTH {
        let list = listed(&mut vault.serve_with(&["--tools", "obsidian"], &[]).open(era));
        assert_eq!(list.len(), TOOLS.len(), "no tool more and none less");
        for known in TOOLS {
            let tool = list.iter().find(|tool| tool["name"] == known.name).unwrap_or_else(|| panic!("{}", known.name));
            assert_eq!(tool["title"], known.title);
            for (hint, value) in known.hints {
                assert_eq!(tool["annotations"][hint], *value, "{}: {hint}", known.name);
            }
            let input = &tool["inputSchema"];
            for (name, kind, default) in known.arguments {
                let plain = name.trim_end_matches('*');
                let schema = &input["properties"][plain];
                assert_eq!(in_short(schema), *kind, "{}: {plain}", known.name);
                let required = input["required"].as_array().is_some_and(|all| all.iter().any(|one| one == plain));
                assert_eq!(required, name.ends_with('*'), "{}: {plain}", known.name);
                // Defaults of off switches and empty lists are not stated.
                let said = schema.get("default").filter(|said| *said != &json!([])).map(Value::to_string);
                let unsaid = if *kind == "boolean" { "false" } else { "" };
                assert_eq!(said.unwrap_or_else(|| unsaid.to_owned()), *default, "{}: {plain}", known.name);
            }
            // Our additional arguments are never required.
            let properties = input["properties"].as_object().unwrap().keys();
            for extra in properties
                .filter(|name| !known.arguments.iter().any(|(known, ..)| known.trim_end_matches('*') == *name))
            {
                assert!(
                    matches!(
                        &**extra,
                        "expectedHash" | "dryRun" | "alternatives" | "engine" | "explain" | "renderQueries"
                    ),
                    "{}: {extra}",
                    known.name
                );
            }
        }
    }
}

#[test]
fn schemas_are_of_2020_and_admit_success_and_error() {
    let vault = Vault::new(&[]);
    for tool in listed(&mut vault.serve_with(&["--tools", "obsidian"], &[]).open(Era::Modern)) {
        for schema in ["inputSchema", "outputSchema"] {
            // Without a label it is JSON Schema 2020-12; with draft-07 clients refuse the whole list.
            assert!(tool[schema].get("$schema").is_none(), "{}", tool["name"]);
        }
        let output = &tool["outputSchema"];
        assert!(output["properties"]["error"].is_object(), "{}", tool["name"]);
        let ways = output["anyOf"].as_array().unwrap_or_else(|| panic!("{}", tool["name"]));
        assert!(ways.iter().any(|way| way["required"] == json!(["error"])), "{}: {ways:?}", tool["name"]);
        assert!(ways.iter().any(|way| way["required"] != json!(["error"])), "{}: {ways:?}", tool["name"]);
    }
}

const NOTE: &str =
    "---\nstatus: open\ntags: [gem]\n---\n# Plan\n\n## Tasks\n\n- one ^first\n\n## Log\n\nDry [[Stone]] #cut\n";

/// Every field that callers know, with its value if that does not depend on the day.
fn assert_includes(answer: &Value, expected: &Value, at: &str) {
    match expected {
        Value::Object(fields) => {
            for (name, value) in fields {
                let found = answer.get(name).unwrap_or_else(|| panic!("{at}.{name} is missing: {answer}"));
                assert_includes(found, value, &format!("{at}.{name}"));
            }
        }
        Value::String(any) if any == "<number>" => assert!(answer.is_u64(), "{at}: {answer}"),
        _ => assert_eq!(answer, expected, "{at}"),
    }
}

#[test]
fn answers_have_the_known_fields() {
    let before = NOTE.len();
    let target = path("Plan.md");
    let sized = |after: usize| json!({ "path": "Plan.md", "previousSizeInBytes": before, "currentSizeInBytes": after });
    let full = json!({ "result": {
        "format": "full", "path": "Plan.md", "content": NOTE, "frontmatter": { "status": "open", "tags": ["gem"] },
        "tags": ["gem", "cut"], "stat": { "ctime": "<number>", "mtime": "<number>", "size": before },
        "outgoingLinks": [{ "target": "Stone", "type": "wikilink" }],
    } });
    let map = json!({ "result": {
        "format": "document-map", "path": "Plan.md", "headings": ["Plan", "Plan::Tasks", "Plan::Log"],
        "blocks": ["first"], "frontmatterFields": ["status", "tags"],
    } });
    let section = json!({ "type": "heading", "target": "Log" });
    for (tool, arguments, expected) in [
        ("obsidian_get_note", json!({ "format": "full", "includeLinks": true }), full),
        ("obsidian_get_note", json!({ "format": "document-map" }), map),
        (
            "obsidian_get_note",
            json!({ "format": "section", "section": { "type": "frontmatter", "target": "status" } }),
            json!({ "result": { "format": "section", "section": { "type": "frontmatter", "target": "status" }, "valueJson": "open" } }),
        ),
        (
            "obsidian_write_note",
            json!({ "content": "new\n", "overwrite": true }),
            json!({ "path": "Plan.md", "sectionTargeted": false, "created": false, "previousSizeInBytes": before, "currentSizeInBytes": 4 }),
        ),
        (
            "obsidian_append_to_note",
            json!({ "content": "more\n", "section": section }),
            json!({ "sectionTargeted": true, "sectionTarget": "Plan::Log", "created": false, "currentSizeInBytes": before + 5 }),
        ),
        (
            "obsidian_patch_note",
            json!({ "section": section, "operation": "prepend", "content": "first\n" }),
            json!({ "path": "Plan.md", "section": { "type": "heading", "target": "Plan::Log" }, "operation": "prepend", "currentSizeInBytes": before + 7 }),
        ),
        (
            "obsidian_replace_in_note",
            json!({ "replacements": [{ "search": "- o(n)e", "replace": "- u$1o", "useRegex": true }] }),
            json!({ "totalReplacements": 1, "perReplacement": [{ "search": "- o(n)e", "count": 1, "bodyCount": 1, "frontmatterCount": 0 }], "currentSizeInBytes": before }),
        ),
        (
            "obsidian_manage_frontmatter",
            json!({ "operation": "get", "key": "none" }),
            json!({ "result": { "operation": "get", "path": "Plan.md", "key": "none", "exists": false, "value": null } }),
        ),
        (
            "obsidian_manage_frontmatter",
            json!({ "operation": "set", "key": "status", "value": "done" }),
            json!({ "result": { "operation": "set", "key": "status", "frontmatter": { "status": "done", "tags": ["gem"] }, "previousSizeInBytes": before, "currentSizeInBytes": before } }),
        ),
        (
            "obsidian_manage_tags",
            json!({ "operation": "list" }),
            json!({ "result": { "operation": "list", "path": "Plan.md", "tags": { "frontmatter": ["gem"], "inline": ["cut"], "all": ["gem", "cut"] } } }),
        ),
        (
            "obsidian_manage_tags",
            json!({ "operation": "add", "tags": ["#new", "gem"] }),
            json!({ "result": { "operation": "add", "applied": ["new"], "skipped": ["gem"], "tags": ["gem", "new", "cut"], "previousSizeInBytes": before } }),
        ),
        ("obsidian_delete_note", json!({}), sized(0)),
        ("obsidian_delete_note", json!({}), json!({ "deleted": true })),
    ] {
        for era in BOTH {
            let vault = Vault::new(&[("Plan.md", NOTE.as_bytes())]);
            let mut arguments: Map<String, Value> = arguments.as_object().unwrap().clone();
            arguments.insert("target".to_owned(), target.clone());
            let result = vault.serve().open(era).call(tool, arguments);
            assert_ne!(result["isError"], true, "{tool}: {result}");
            assert_includes(&result["structuredContent"], &expected, tool);
            assert!(result["content"][0]["text"].as_str().unwrap().contains("Plan.md"), "{tool}: {result}");
        }
    }
}

#[test]
fn lists_and_searches_have_the_known_fields() {
    let vault = Vault::new(&[("Plan.md", NOTE.as_bytes()), ("Sub/a.md", b"Dry #gem"), ("Sub/b.txt", b"x")]);
    for era in BOTH {
        let mut server = vault.serve().open(era);
        for (tool, arguments, expected) in [
            (
                "obsidian_list_notes",
                json!({ "path": "Sub", "extension": "MD" }),
                json!({
                    "path": "Sub", "entries": [{ "path": "Sub/a.md", "type": "file" }],
                    "totals": { "entries": 1, "files": 1, "directories": 0 },
                    "appliedFilters": { "extension": ".md", "depth": 2 },
                }),
            ),
            (
                "obsidian_list_notes",
                json!({ "depth": 1 }),
                json!({ "path": "", "entries": [{ "path": "Plan.md", "type": "file" }, { "path": "Sub", "type": "directory", "truncated": true }] }),
            ),
            (
                "obsidian_list_tags",
                json!({ "nameRegex": "^g" }),
                json!({ "tags": [{ "name": "gem", "count": 2 }], "appliedFilters": { "nameRegex": "^g", "limit": 200 } }),
            ),
            (
                "obsidian_search_notes",
                json!({ "mode": "text", "query": "dry", "pathPrefix": "Sub/" }),
                json!({ "result": { "mode": "text", "totalCount": 1, "hits": [{
                    "filename": "Sub/a.md",
                    "matches": [{ "context": "Dry #gem", "match": { "start": 0, "end": 3, "contextStart": 0, "contextEnd": 3 } }],
                }] }, "effectiveQuery": "dry" }),
            ),
            (
                "obsidian_search_notes",
                json!({ "mode": "jsonlogic", "logic": { "==": [{ "var": "frontmatter.status" }, "open"] } }),
                json!({ "result": { "mode": "jsonlogic", "totalCount": 1, "hits": [{ "filename": "Plan.md", "result": true }] } }),
            ),
        ] {
            assert_includes(&server.done(tool, arguments), &expected, tool);
        }
    }
}

#[test]
fn a_read_only_server_has_only_tools_that_read() {
    let vault = Vault::new(&[("a.md", b"x")]);
    for era in BOTH {
        let environment = [("OBSIDIAN_READ_ONLY", "true")];
        let mut server = vault.serve_with(&["--tools", "obsidian"], &environment).open(era);
        let mut names: Vec<String> =
            listed(&mut server).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        assert_eq!(
            names,
            [
                "obsidian_get_note",
                "obsidian_list_notes",
                "obsidian_list_tags",
                "obsidian_open_in_ui",
                "obsidian_search_notes"
            ]
        );
        let write = json!({ "target": path("a.md"), "content": "y", "overwrite": true });
        assert_eq!(server.refused("obsidian_write_note", write), "tool_disabled");
    }
    // The rest of the table is in `policy`.
}

#[test]
fn a_session_over_http_begins_and_ends() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let session = server.session();
    let list = |session: Option<&str>, version: Option<&str>| {
        let mut headers = vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        headers.extend(session.map(|session| ("Mcp-Session-Id", session)));
        headers.extend(version.map(|version| ("MCP-Protocol-Version", version)));
        let message = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} });
        server.request("POST", "/mcp", &headers, &message.to_string())
    };
    let (status, body) = list(Some(&session), None);
    assert!(status == 200 && body.contains("obsidian_get_note"), "{status} {body}");
    assert_eq!(list(Some(&session), Some("2025-11-25")).0, 200);
    assert_eq!(list(Some(&session), Some("1999-01-01")).0, 400, "an unknown version of the protocol");
    assert_eq!(list(Some("0123456789abcdef"), None).0, 404, "a session that never was");
    assert!((400..500).contains(&list(None, None).0), "none at all");
    let ended = server.request("DELETE", "/mcp", &[("Mcp-Session-Id", &session)], "").0;
    assert!((200..300).contains(&ended), "{ended}");
    assert_eq!(list(Some(&session), None).0, 404, "it has ended");
    // Since 2026-07-28 no session is needed. Origins and the size of a body are tested in `http`.
    let (headers, body) = modern("tools/list", json!({}));
    assert_eq!(server.request("POST", "/mcp", &headers, &body).0, 200);
}

#[test]
fn cursors_go_round_and_bad_ones_are_said() {
    let files: Vec<String> = (0..230).map(|number| format!("n{number:03}.md")).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|path| (path.as_str(), &b"word"[..])).collect();
    let vault = Vault::new(&files);
    for era in BOTH {
        let mut server = vault.serve().open(era);
        let mut page = |cursor: Option<&str>| {
            let mut arguments = json!({ "mode": "text", "query": "word" });
            if let Some(cursor) = cursor {
                arguments["cursor"] = json!(cursor);
            }
            server.call("obsidian_search_notes", arguments)
        };
        let hits = |result: &Value| result["structuredContent"]["result"]["hits"].as_array().unwrap().len();
        let first = page(None);
        let next = first["structuredContent"]["result"]["nextCursor"].as_str().unwrap().to_owned();
        // {"offset":50,"limit":50}, as it has always been written.
        assert_eq!((hits(&first), &*next), (50, "eyJvZmZzZXQiOjUwLCJsaW1pdCI6NTB9"));
        let second = page(Some(&next));
        assert_eq!(second["structuredContent"]["result"]["hits"][0]["filename"], "n050.md");
        // {"offset":0,"limit":100000}
        assert_eq!(hits(&page(Some("eyJvZmZzZXQiOjAsImxpbWl0IjoxMDAwMDB9"))), 200, "no more at once");
        // {"offset":500,"limit":50}
        assert_eq!(hits(&page(Some("eyJvZmZzZXQiOjUwMCwibGltaXQiOjUwfQ"))), 0, "beyond the end");
        for bad in ["nonsense", "e30"] {
            let error = page(Some(bad))["structuredContent"]["error"].clone();
            assert_eq!(error["code"], -32602, "{bad:?}: {error}");
        }
    }
}
