//! What others try over HTTP: sessions that are not theirs, rights that their token does not have, bodies that explode,
//! and secrets that might be written down somewhere.

use std::{process::Command, time::Instant};

use serde_json::{Value, json};

use crate::{
    harness::{Vault, files_below, patience},
    http::{HttpServer, modern},
    tokens::{FAR, WEB_SECRET, web_token},
};

const ADA: (&str, &str) = ("Authorization", "Bearer 11111111111111111111111111111111");
const BEN: (&str, &str) = ("Authorization", "Bearer 22222222222222222222222222222222");
const TOKENS: &str = "ada:curator:11111111111111111111111111111111;ben:curator:22222222222222222222222222222222";

#[test]
fn the_session_of_another_is_as_if_it_were_not_there() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("LAPIDARY_TOKENS", TOKENS)]);
    let session = server.session_with(&[ADA]);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }).to_string();
    let ask = |method: &str, who: (&str, &str), session: &str| {
        let kind = if method == "GET" { ("Accept", "text/event-stream") } else { ("Content-Type", "application/json") };
        let headers = [who, kind, ("MCP-Protocol-Version", "2025-11-25"), ("mcp-session-id", session)];
        server.request(method, "/mcp", &headers, if method == "POST" { &list } else { "" })
    };
    let absent = "00000000-0000-0000-0000-000000000000";
    for method in ["POST", "GET", "DELETE"] {
        let stolen = ask(method, BEN, &session);
        assert_eq!(stolen.0, 404, "{method}: {stolen:?}");
        assert_eq!(stolen, ask(method, BEN, absent), "{method}");
    }
    assert_eq!(ask("POST", ADA, &session).0, 200, "it was not ended by the other");
}

#[test]
fn a_compressed_body_is_not_unpacked() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let (headers, body) = modern("tools/list", json!({}));
    // Readable as it is, so that only unpacking could make something else of it.
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let mut coded = headers.clone();
        coded.push(("Content-Encoding", coding));
        assert_eq!(server.request("POST", "/mcp", &coded, &body).0, 200, "{coding}: taken as it is");
        let packed = "\u{1f}\u{8b}\u{8}\0\0\0\0\0";
        let (status, refused) = server.request("POST", "/mcp", &coded, packed);
        assert!(status == 400 && refused.contains("-32700"), "{coding}: {status} {refused}");
    }
}

#[test]
fn deep_and_broken_messages_cost_an_answer_and_nothing_else() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    for body in [
        "[".repeat(200_000),
        "{\"a\":".repeat(200_000),
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}{}}}",
            "[".repeat(5000),
            "]".repeat(5000)
        ),
        "\u{0}".repeat(1000),
        "{\"jsonrpc\":\"2.0\",\"id\":1e999,\"method\":\"ping\"}".to_owned(),
    ] {
        let (status, answer) = server.request("POST", "/mcp", &headers, &body);
        assert_eq!(status, 400, "{}: {answer}", &body[..20]);
        assert!(answer.contains("-32700") || answer.contains("-32600"), "{answer}");
    }
    assert_eq!(server.request("GET", "/healthz", &[], "").0, 200);
}

/// A token with this header, signed with the secret of the server by another program.
fn forged(header: &str, claims: &Value, method: &str) -> String {
    let script = "import sys,hmac,hashlib,base64\n\
                  b=lambda x:base64.urlsafe_b64encode(x).rstrip(b'=')\n\
                  s=b(sys.argv[1].encode())+b'.'+b(sys.argv[2].encode())\n\
                  m=sys.argv[4]\n\
                  d=b'' if m=='none' else b(hmac.new(sys.argv[3].encode(),s,getattr(hashlib,m)).digest())\n\
                  print((s+b'.'+d).decode())";
    let output =
        Command::new("python3").args(["-c", script, header, &claims.to_string(), WEB_SECRET, method]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_algorithm_of_a_web_token_is_that_of_the_key_whatever_its_header_says() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let environment = [("MCP_AUTH_MODE", "jwt"), ("MCP_AUTH_SECRET_KEY", WEB_SECRET)];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &environment);
    let claims = json!({ "cid": "c", "scope": "vault:read", "exp": FAR });
    let status = |token: &str| {
        let bearer = format!("Bearer {token}");
        server.post(&[("Authorization", &bearer)], "tools/list", None, json!({})).0
    };
    assert_eq!(status(&forged(r#"{"alg":"HS256","typ":"JWT"}"#, &claims, "sha256")), 200);
    for (header, method) in [
        (r#"{"alg":"none"}"#, "none"),
        (r#"{"alg":"None"}"#, "none"),
        (r#"{"alg":"HS256"}"#, "none"),
        (r#"{"alg":"none"}"#, "sha256"),
        (r#"{"alg":"HS512"}"#, "sha512"),
        (r#"{"alg":"RS256"}"#, "sha256"),
        (r#"{"alg":"hs256"}"#, "sha256"),
        (r#"{"alg":["HS256","none"]}"#, "sha256"),
        (r#"{"alg":"HS256","crit":["exp"],"exp":1}"#, "sha256"),
        (r#"{"typ":"JWT"}"#, "sha256"),
    ] {
        assert_eq!(status(&forged(header, &claims, method)), 401, "{header} {method}");
    }
    // What a header refers to is never fetched, opened or looked up.
    for extra in [
        r#""kid":"../../../../dev/null""#,
        r#""kid":"x' OR '1'='1""#,
        r#""jku":"http://127.0.0.1:1/keys""#,
        r#""x5u":"file:///etc/passwd""#,
        r#""jwk":{"kty":"oct","k":"AA"}"#,
    ] {
        let header = format!("{{\"alg\":\"HS256\",{extra}}}");
        assert_ne!(status(&forged(&header, &claims, "none")), 200, "{header}");
    }
}

#[test]
fn no_detour_leads_past_the_scopes_of_a_token() {
    let vault = Vault::new(&[("a.md", b"granite"), ("Prompts/x.md", b"---\nprompt: true\n---\nsay\n")]);
    let environment = [("MCP_AUTH_MODE", "jwt"), ("MCP_AUTH_SECRET_KEY", WEB_SECRET)];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &environment);
    let scopes = "tool:call_tool:read tool:bulk_apply:write tool:find_tool:read";
    let bearer = format!("Bearer {}", web_token(&json!({ "cid": "c", "scope": scopes, "exp": FAR })));
    let bearer = ("Authorization", bearer.as_str());
    let edit = json!({ "file": "a.md", "find": "granite", "replace": "two" });
    let call = |tool: &str, arguments: Value| {
        server.post(&[bearer], "tools/call", Some(tool), json!({ "name": tool, "arguments": arguments })).1
    };
    for (tool, arguments) in [
        ("str_replace", edit.clone()),
        ("call_tool", json!({ "name": "str_replace", "arguments": edit })),
        ("call_tool", json!({ "name": "file_read", "arguments": { "file": "a.md" } })),
        ("call_tool", json!({ "name": "call_tool", "arguments": { "name": "str_replace", "arguments": edit } })),
        ("bulk_apply", json!({ "operations": [{ "tool": "str_replace", "arguments": edit }] })),
        ("bulk_apply", json!({ "operations": [{ "op": "str_replace", "args": edit }] })),
    ] {
        let answer = call(tool, arguments);
        assert!(answer.contains("\"isError\":true"), "{tool}: {answer}");
        assert!(!answer.contains("granite"), "{tool}: {answer}");
    }
    assert_eq!(vault.read("a.md"), b"granite");
    let found = call("find_tool", json!({ "query": "read a file", "limit": 20 }));
    assert!(!found.contains("file_read"), "{found}");
    let ask = |method: &str, name: Option<&str>, params: Value| server.post(&[bearer], method, name, params).1;
    for (method, name, params) in [
        ("resources/read", Some("obsidian://vault/a.md"), json!({ "uri": "obsidian://vault/a.md" })),
        ("prompts/get", Some("x"), json!({ "name": "x" })),
        (
            "completion/complete",
            None,
            json!({ "ref": { "type": "ref/resource", "uri": "obsidian://vault/{+path}" }, "argument": { "name": "path", "value": "a" } }),
        ),
    ] {
        let answer = ask(method, name, params);
        assert!(answer.contains("\"error\"") && !answer.contains("granite"), "{method}: {answer}");
    }
    let prompts = ask("prompts/list", None, json!({}));
    assert!(!prompts.contains("\"name\":\"x\""), "{prompts}");
}

#[test]
fn no_secret_of_a_request_is_written_down_at_any_level() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let logs = vault.path().with_file_name("logs");
    let made = vault.command().args(["token", "create", "phone"]).output().unwrap();
    let token = String::from_utf8(made.stdout).unwrap().trim_end().to_owned();
    let mut command = vault.command();
    command.arg("--vault").arg(vault.path()).args(["serve", "--sse", "--http", "127.0.0.1:0"]);
    command.env("MCP_LOG_LEVEL", "trace").env("LOGS_DIR", &logs).env("LAPIDARY_METRICS", "true");
    let server = HttpServer::start_command(command);
    let bearer = format!("Bearer {token}");
    let planted = ["planted-cookie", "planted-key", "planted-proxy", "planted-query", "planted-basic", "planted-token"];
    let headers = [
        ("Cookie", "session=planted-cookie"),
        ("X-Api-Key", "planted-key"),
        ("Proxy-Authorization", "Basic planted-proxy"),
    ];
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/mcp"),
        ("POST", "/mcp"),
        ("DELETE", "/mcp"),
        ("GET", "/metrics?token=planted-query"),
        ("GET", "/nowhere?token=planted-query"),
        ("POST", "/messages?token=planted-query"),
        ("OPTIONS", "/mcp?x=planted-query"),
    ] {
        for authorization in ["Basic planted-basic", "Bearer planted-token", bearer.as_str()] {
            let mut all = headers.to_vec();
            all.extend([("Authorization", authorization), ("Content-Type", "application/json")]);
            server.request(method, path, &all, "{\"token\":\"planted-query\"");
        }
    }
    drop(server.send("GET", &format!("/sse?token={token}"), &[], ""));
    let (status, answer) = server.post(
        &[("Authorization", &bearer)],
        "tools/call",
        Some("file_read"),
        json!({ "name": "file_read", "arguments": { "file": "a.md" } }),
    );
    assert_eq!(status, 200, "{answer}");
    // The last call is in the log, so everything before it is.
    let started = Instant::now();
    let log = loop {
        let log =
            files_below(&logs).values().map(|text| String::from_utf8_lossy(text).into_owned()).collect::<String>();
        if log.contains("file_read") {
            break log;
        }
        assert!(started.elapsed() < patience(), "{log}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let audit = vault.run(&["audit", "--json"]);
    let metrics = server.request("GET", "/metrics", &[], "").1;
    let written = format!("{log}{}{metrics}", String::from_utf8_lossy(&audit.stdout));
    for secret in planted.iter().copied().chain([token.as_str()]) {
        assert!(!written.contains(secret), "{secret} is written down");
    }
}
