//! What a caller may use is the owner's choice, is enforced on every route to a tool, and never changes by a call.

use serde_json::{Value, json};

use crate::{
    harness::{Era, Server, Vault, reason},
    http::{HttpServer, modern},
};

const NOTES: &[(&str, &[u8])] = &[("a.md", b"one two\n"), ("Work/b.md", b"one two\n"), ("Closed/c.md", b"one two\n")];

/// The ways in which a tool can be reached.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Route {
    Direct,
    CallTool,
    Bulk,
}

fn through(server: &mut Server, route: Route, tool: &str, arguments: &Value) -> Value {
    match route {
        Route::Direct => server.call(tool, arguments.clone()),
        Route::CallTool => server.call("call_tool", json!({ "name": tool, "arguments": arguments })),
        Route::Bulk => {
            server.call("bulk_apply", json!({ "ops": [{ "tool": tool, "args": arguments }], "atomic": true }))
        }
    }
}

fn edit(file: &str) -> (&'static str, Value) {
    ("str_replace", json!({ "file": file, "find": "two", "replace": "2" }))
}

fn delete(file: &str) -> (&'static str, Value) {
    let hash = "sha256:1ec8e7d2d4a2ad4dbe6a5ad2f1e17d4a2d6f2f1fdc0a5d8a0be4f4b4e8e7b6a1";
    ("file_delete", json!({ "file": file, "trash": false, "expected_content_hash": hash }))
}

/// One line of the table: the settings, the call and its route, and the result (`ok`, or a reason).
#[test]
fn access_is_decided_by_profile_switches_path_effect_and_route() {
    const ALLOW: (&str, &str) = ("LAPIDARY_APPROVAL", "write=allow,destroy=allow");
    let read = |file: &str| ("file_read", json!({ "file": file }));
    let profile = |name: &'static str| vec!["--profile", name];
    let table: &[(Vec<&str>, (&str, Value), &str)] = &[
        // profile × effect
        (profile("reader"), read("a.md"), "ok"),
        (profile("reader"), edit("a.md"), "tool_disabled"),
        (profile("reader"), ("obsidian_open_in_ui", json!({ "path": "a.md" })), "tool_disabled"),
        (profile("editor"), read("a.md"), "ok"),
        (profile("editor"), edit("a.md"), "ok"),
        (profile("editor"), delete("a.md"), "denied_by_rule"),
        (profile("editor"), ("file_delete", json!({ "file": "a.md" })), "ok"),
        (profile("curator"), edit("a.md"), "ok"),
        (profile("curator"), delete("a.md"), "ok"),
        (vec![], delete("a.md"), "ok"),
        // read-only wins over a profile, a profile over nothing
        (vec!["--read-only", "--profile", "curator"], edit("a.md"), "tool_disabled"),
        (vec!["--read-only", "--profile", "curator"], read("a.md"), "ok"),
        // a tool that is switched off stays off in every profile
        (vec!["--exclude-tools", "str_replace", "--profile", "curator"], edit("a.md"), "tool_disabled"),
        (vec!["--exclude-tools", "str_replace", "--profile", "reader"], edit("a.md"), "tool_disabled"),
        // paths
        (profile("curator"), edit("Closed/c.md"), "path_forbidden"),
        (profile("curator"), read("Closed/c.md"), "path_forbidden"),
        (profile("reader"), read("Closed/c.md"), "path_forbidden"),
    ];
    for (flags, (tool, arguments), expected) in table {
        for route in [Route::Direct, Route::CallTool, Route::Bulk] {
            let writes = !["file_read", "obsidian_open_in_ui"].contains(tool);
            if route == Route::Bulk && (!writes || flags.contains(&"--read-only") || flags.contains(&"reader")) {
                // A batch takes only writers, and is itself off if nothing may be changed.
                continue;
            }
            let vault = Vault::new(NOTES);
            let before = vault.everything();
            let mut server = vault.serve_with(flags, &[ALLOW, ("OBSIDIAN_DENY_PATHS", "Closed")]).open(Era::Modern);
            let mut arguments = arguments.clone();
            if arguments.get("expected_content_hash").is_some() {
                arguments["expected_content_hash"] =
                    server.done("file_read", json!({ "file": "a.md" }))["contentHash"].clone();
            }
            let result = through(&mut server, route, tool, &arguments);
            let what = format!("{flags:?} {tool} {arguments} by {route:?}: {result}");
            if *expected == "ok" {
                assert_ne!(result["isError"], true, "{what}");
                assert_eq!(vault.everything() != before, writes, "{what}");
            } else {
                // A batch answers with the outcome of each operation.
                assert!(route == Route::Bulk || result["isError"] == true, "{what}");
                assert!(result.to_string().contains(expected), "{what}");
                assert_eq!(vault.everything(), before, "{what}");
            }
        }
    }
}

#[test]
fn a_custom_profile_only_removes_tools() {
    let vault = Vault::new(NOTES);
    let config = vault.path().parent().unwrap().join("lapidary.toml");
    std::fs::write(
        &config,
        "profile = \"scribe\"\n[profiles.scribe]\nallow = [\"read\", \"agent\", \"str_replace\"]\neffect = \"write\"\n",
    )
    .unwrap();
    let config = config.to_str().unwrap();
    let mut server = vault.serve_with(&["--config", config], &[]).open(Era::Modern);
    server.done("str_replace", edit("a.md").1);
    for (tool, arguments) in
        [("file_append", json!({ "file": "a.md", "content": "x" })), ("links_get", json!({ "file": "a.md" }))]
    {
        for route in [Route::Direct, Route::CallTool] {
            assert_eq!(reason(&through(&mut server, route, tool, &arguments)), "tool_disabled", "{tool}");
        }
    }
    let found = server.done("find_tool", json!({ "query": "append text to a file", "limit": 20 }));
    assert!(!found.to_string().contains("file_append"), "what the profile has not is not found: {found}");
    drop(server);
    let mut narrower = vault.serve_with(&["--config", config, "--exclude-tools", "str_replace"], &[]).open(Era::Modern);
    assert_eq!(narrower.refused("str_replace", edit("Work/b.md").1), "tool_disabled");
}

#[test]
fn no_tool_and_no_argument_changes_the_profile() {
    let vault = Vault::new(NOTES);
    let mut server = vault.serve_with(&["--profile", "reader"], &[]).open(Era::Modern);
    let list = server.request("tools/list", json!({}))["result"].to_string();
    for (tool, arguments) in [
        ("find_tool", json!({ "query": "switch profile" })),
        ("call_tool", json!({ "name": "str_replace", "arguments": edit("a.md").1 })),
        (
            "str_replace",
            json!({ "file": "a.md", "find": "two", "replace": "2", "profile": "curator", "confirm": true }),
        ),
        ("obsidian_get_note", json!({ "target": { "path": "a.md" }, "profile": "curator" })),
        ("no_such_tool", json!({})),
    ] {
        server.request("tools/call", json!({ "name": tool, "arguments": arguments }));
    }
    assert_eq!(server.request("tools/list", json!({}))["result"].to_string(), list, "byte for byte");
    assert_eq!(server.refused("str_replace", edit("a.md").1), "tool_disabled");
    assert_eq!(vault.read("a.md"), b"one two\n");
}

#[test]
fn a_profile_without_reading_reads_no_resources_and_prompts_either() {
    let vault = Vault::new(NOTES);
    let config = vault.path().parent().unwrap().join("lapidary.toml");
    std::fs::write(&config, "profile = \"blind\"\n[profiles.blind]\nallow = [\"file_append\"]\n").unwrap();
    let mut server = vault.serve_with(&["--config", config.to_str().unwrap()], &[]).open(Era::Modern);
    for (method, params) in [
        ("resources/read", json!({ "uri": "obsidian://vault/a.md" })),
        ("resources/read", json!({ "uri": "obsidian://tags" })),
        ("prompts/list", json!({})),
    ] {
        let reply = server.request(method, params);
        assert!(reply["error"].to_string().contains("profile"), "{method}: {reply}");
    }
}

const PROMPT: (&str, &[u8]) = ("Prompts/p.md", b"---\ntags: mcp-tools-prompt\n---\nprivate words\n");

#[test]
fn rules_about_reading_apply_to_other_operations() {
    let read = || ("resources/read", json!({ "uri": "obsidian://vault/a.md" }));
    let tags = || ("resources/read", json!({ "uri": "obsidian://tags" }));
    let complete = || {
        let reference = json!({ "type": "ref/resource", "uri": "obsidian://vault/{+path}" });
        ("completion/complete", json!({ "ref": reference, "argument": { "name": "path", "value": "a" } }))
    };
    let prompt = || ("prompts/get", json!({ "name": "Notes/p" }));
    for (rules, (method, params), expected) in [
        ("deny effect=read", read(), Some("denied_by_rule")),
        ("deny effect=read", tags(), Some("denied_by_rule")),
        ("deny effect=read", complete(), Some("denied_by_rule")),
        ("deny effect=read", prompt(), Some("denied_by_rule")),
        ("ask group=read", read(), Some("approval_unavailable")),
        ("ask group=read", prompt(), Some("approval_unavailable")),
        ("ask group=read", tags(), None),
        ("deny group=vault", read(), None),
        ("deny group=vault", tags(), Some("denied_by_rule")),
        ("deny group=vault", complete(), Some("denied_by_rule")),
        ("deny effect=write", read(), None),
        ("deny tool=file_read", read(), None),
    ] {
        let vault = Vault::new(&[NOTES[0], PROMPT]);
        let mut server = vault.serve_with(&[], &[("LAPIDARY_APPROVAL_RULES", rules)]).open(Era::Modern);
        let reply = server.request(method, params);
        let refused = reply["error"]["data"]["reason"].as_str();
        assert_eq!(refused, expected, "{rules}: {method}: {reply}");
        assert_eq!(reply.get("result").is_some(), expected.is_none(), "{rules}: {method}: {reply}");
    }
}

#[test]
fn a_profile_has_no_more_access_through_other_routes() {
    let vault = Vault::new(&[NOTES[0], PROMPT]);
    let config = vault.path().parent().unwrap().join("lapidary.toml");
    let config = config.to_str().unwrap();
    let own =
        |profile: &str| std::fs::write(config, format!("profile = \"own\"\n[profiles.own]\n{profile}\n")).unwrap();
    let read = || ("resources/read", json!({ "uri": "obsidian://vault/a.md" }));
    let prompt = || ("prompts/get", json!({ "name": "Notes/p" }));
    for (profile, flags, (method, params)) in [
        ("allow = [\"vault\"]", vec![], read()),
        ("allow = [\"vault\"]", vec![], prompt()),
        // Tools that the server does not offer are not added by a profile.
        ("allow = [\"edit\"]", vec!["--tools", "edit"], read()),
        ("allow = [\"all\"]", vec!["--exclude-tools", "read"], read()),
        ("allow = [\"all\"]", vec!["--exclude-tools", "read"], prompt()),
    ] {
        own(profile);
        let mut server = vault.serve_with(&[&["--config", config][..], &flags].concat(), &[]).open(Era::Modern);
        let reply = server.request(method, params);
        assert_eq!(reply["error"]["data"]["reason"], "tool_disabled", "{profile} {flags:?} {method}: {reply}");
    }
}

#[test]
fn a_read_only_profile_is_offered_no_writing_tools() {
    let vault = Vault::new(NOTES);
    let config = vault.path().parent().unwrap().join("lapidary.toml");
    std::fs::write(&config, "profile = \"own\"\n[profiles.own]\nallow = [\"all\"]\neffect = \"read\"\n").unwrap();
    let mut server = vault.serve_with(&["--config", config.to_str().unwrap()], &[]).open(Era::Modern);
    let listed = server.request("tools/list", json!({}))["result"]["tools"].clone();
    let writes = |tool: &&Value| tool["annotations"]["readOnlyHint"] == false && tool["name"] != "call_tool";
    assert_eq!(listed.as_array().unwrap().iter().find(writes), None);
    assert_eq!(server.refused("str_replace", edit("a.md").1), "tool_disabled");
}

fn post(server: &HttpServer, token: Option<&str>, method: &str, name: Option<&str>, params: Value) -> (u16, Value) {
    let bearer = token.map(|token| format!("Bearer {token}"));
    let extra: Vec<(&str, &str)> = bearer.iter().map(|bearer| ("Authorization", bearer.as_str())).collect();
    let (status, body) = server.post(&extra, method, name, params);
    (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
}

#[test]
fn over_http_the_token_that_a_client_presents_chooses_the_profile() {
    const READER: &str = "a-token-for-the-phone";
    const CURATOR: &str = "a-token-for-the-desk-1";
    let vault = Vault::new(NOTES);
    let tokens = format!("phone:reader:{READER}; desk:curator:{CURATOR}");
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("LAPIDARY_TOKENS", &tokens)]);
    for wrong in [None, Some("a-token-for-the-phone2"), Some("")] {
        let (status, reply) = post(&server, wrong, "tools/list", None, json!({}));
        assert_eq!(status, 401, "{reply}");
        assert!(!reply.to_string().contains("phone"), "existing names are not revealed: {reply}");
    }
    let (status, body) = server.request("POST", "/mcp", &[("Authorization", "Basic abc")], "{}");
    assert_eq!(status, 401, "{body}");
    assert_eq!(server.request("GET", "/healthz", &[], "").0, 200);
    let names = |token| {
        let (status, reply) = post(&server, Some(token), "tools/list", None, json!({}));
        assert_eq!(status, 200, "{reply}");
        let tools = reply["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(!names(READER).contains(&"str_replace".to_owned()));
    assert!(names(CURATOR).contains(&"str_replace".to_owned()));
    let call = |token| {
        let params = json!({ "name": "str_replace", "arguments": edit("a.md").1 });
        post(&server, Some(token), "tools/call", Some("str_replace"), params).1["result"].clone()
    };
    assert_eq!(reason(&call(READER)), "tool_disabled");
    assert_eq!(vault.read("a.md"), b"one two\n");
    assert_ne!(call(CURATOR)["isError"], true);
    let said = |token| post(&server, Some(token), "server/discover", None, json!({})).1.to_string();
    assert!(said(READER).contains("nothing can be changed") && !said(CURATOR).contains("nothing can be changed"));
    drop(server);
    let log = vault.log();
    let line = |ok: bool| log.iter().find(|line| line["tool"] == "str_replace" && line["ok"] == ok).unwrap();
    assert_eq!((&line(true)["client_id"], &line(true)["profile"]), (&json!("http:desk:~test"), &json!("curator")));
    assert_eq!((&line(false)["client_id"], &line(false)["profile"]), (&json!("http:phone:~test"), &json!("reader")));
    assert!(!log.iter().any(|line| line.to_string().contains("a-token")), "secrets are not in the log");
}

#[test]
fn a_session_of_another_token_gives_no_more() {
    let vault = Vault::new(NOTES);
    let tokens = "phone:reader:a-token-for-the-phone; desk:curator:a-token-for-the-desk-1";
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("LAPIDARY_TOKENS", tokens)]);
    let (mut headers, body) = modern("tools/call", json!({ "name": "str_replace", "arguments": edit("a.md").1 }));
    headers.extend([
        ("Mcp-Name", "str_replace"),
        ("Mcp-Session-Id", "of-the-desk"),
        ("Authorization", "Bearer a-token-for-the-phone"),
    ]);
    let (_, reply) = server.request("POST", "/mcp", &headers, &body);
    assert!(!reply.contains("\"isError\":false"), "{reply}");
    assert_eq!(vault.read("a.md"), b"one two\n");
}

#[test]
fn a_session_belongs_to_the_token_that_opened_it() {
    const PHONE: (&str, &str) = ("Authorization", "Bearer a-token-for-the-phone");
    const DESK: (&str, &str) = ("Authorization", "Bearer a-token-for-the-desk-1");
    let vault = Vault::new(NOTES);
    let tokens = "phone:curator:a-token-for-the-phone; desk:curator:a-token-for-the-desk-1";
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("LAPIDARY_TOKENS", tokens)]);
    let session = server.session_with(&[PHONE]);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    let ask = |method: &str, token| {
        let headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Mcp-Session-Id", session.as_str()),
            token,
        ];
        server.request(method, "/mcp", &headers, if method == "POST" { &list } else { "" }).0
    };
    assert_eq!(ask("POST", PHONE), 200);
    for method in ["POST", "GET", "DELETE"] {
        assert_eq!(ask(method, DESK), 404, "{method}");
    }
    assert_eq!(ask("POST", PHONE), 200, "it is still there");
    let metadata = server.request("GET", "/.well-known/oauth-protected-resource", &[], "").0;
    assert_eq!(metadata, 404, "there is no other way in, and clients are told so");
}

#[test]
fn an_unknown_profile_is_reported_at_startup() {
    let vault = Vault::new(NOTES);
    let output = vault.run(&["tools", "--profile", "raeder"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("raeder") && said.contains("reader, editor, curator"), "{said}");
}

#[test]
fn a_token_in_the_wrong_place_is_not_repeated() {
    let vault = Vault::new(NOTES);
    let mut command = vault.command();
    command
        .arg("--vault")
        .arg(vault.path())
        .arg("tools")
        .env("LAPIDARY_TOKENS", "phone:a-token-in-its-place:reader-reader-reader");
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("phone") && said.contains("reader, editor, curator"), "{said}");
    assert!(!said.contains("a-token-in-its-place"), "{said}");
}
