//! The edges of HTTP: messages that are none, browsers, batches, limits, and clients that only take up room.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    harness::{Vault, patience},
    http::{HttpServer, modern},
};

fn serve(environment: &[(&str, &str)]) -> (Vault, HttpServer) {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", environment);
    (vault, server)
}

const JSON: (&str, &str) = ("Content-Type", "application/json");

/// The whole reply to bytes that are sent as they are, until the server closes.
fn raw(server: &HttpServer, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(patience())).unwrap();
    drop(stream.write_all(bytes));
    rest(&mut stream)
}

/// What comes until the other end closes, which it has to.
fn rest(stream: &mut TcpStream) -> String {
    let mut reply = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return String::from_utf8_lossy(&reply).into_owned(),
            Ok(count) => reply.extend_from_slice(&buffer[..count]),
            // A close with unread input is a reset.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {
                return String::from_utf8_lossy(&reply).into_owned();
            }
            Err(error) => panic!("the connection stays open: {error}"),
        }
    }
}

/// The head of a reply.
fn head(server: &HttpServer, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut reply = String::new();
    let mut lines = BufReader::new(server.send(method, path, headers, body));
    while !reply.ends_with("\r\n\r\n") && lines.read_line(&mut reply).unwrap() > 0 {}
    reply.to_lowercase()
}

#[test]
fn what_is_no_message_is_refused_as_the_protocol_says() {
    let (_vault, server) = serve(&[]);
    for (body, status, code) in [
        ("{\"jsonrpc\":", 400, -32700),
        ("", 400, -32700),
        ("\u{feff}{}", 400, -32700),
        (&"[".repeat(100_000), 400, -32700),
        ("{}", 400, -32600),
        ("7", 400, -32600),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", 400, -32600),
    ] {
        let (got, reply) = server.request("POST", "/mcp", &[JSON], body);
        let shown: String = body.chars().take(30).collect();
        assert_eq!(got, status, "{shown}: {reply}");
        let reply: Value = serde_json::from_str(&reply).unwrap();
        assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(code), &Value::Null), "{shown}");
    }
    let (status, reply) = server.request("POST", "/mcp", &[("Content-Type", "text/plain")], "{}");
    assert!(status == 415 && reply.contains("\"error\""), "{status} {reply}");
    assert_eq!(server.request("PUT", "/mcp", &[], "").0, 405);
}

#[test]
fn whoever_asks_is_answered_whatever_it_accepts() {
    let (_vault, server) = serve(&[]);
    let (headers, body) = modern("tools/list", json!({}));
    let others: Vec<(&str, &str)> = headers.into_iter().filter(|(name, _)| *name != "Accept").collect();
    for accept in [None, Some("application/json"), Some("*/*"), Some("text/html")] {
        let headers: Vec<_> = others.iter().copied().chain(accept.map(|accept| ("Accept", accept))).collect();
        let (status, reply) = server.request("POST", "/mcp", &headers, &body);
        assert!(status == 200 && reply.contains("obsidian_get_note"), "{accept:?} {status} {reply}");
    }
    for path in ["/mcp", "/mcp/"] {
        let (status, reply) = server.request("GET", path, &[("Accept", "application/json")], "");
        let reply: Value = serde_json::from_str(&reply).unwrap();
        assert_eq!((status, &reply["status"], &reply["auth"]["mode"]), (200, &json!("ok"), &json!("none")));
        assert!(!reply.to_string().contains("Notes"), "no vault is named");
    }
}

#[test]
fn a_session_ends_once() {
    let (_vault, server) = serve(&[]);
    let session = server.session();
    let delete = |session: &str| server.request("DELETE", "/mcp", &[("mcp-session-id", session)], "");
    let (status, reply) = delete(&session);
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!((status, &reply["status"], &reply["sessionId"]), (200, &json!("terminated"), &json!(session)));
    assert_eq!(delete(&session).0, 404);
    assert_eq!(server.request("DELETE", "/mcp", &[], "").0, 400);
    let (status, _) =
        server.request("GET", "/mcp", &[("mcp-session-id", &session), ("Accept", "text/event-stream")], "");
    assert_eq!(status, 404);
}

#[test]
fn a_page_of_an_allowed_origin_can_ask_and_read_the_answer() {
    let (_vault, server) = serve(&[("MCP_ALLOWED_ORIGINS", "https://app.example")]);
    let asks = [("Origin", "https://app.example"), ("Access-Control-Request-Method", "POST")];
    let preflight = head(&server, "OPTIONS", "/mcp", &asks, "");
    for part in [
        "http/1.1 204",
        "access-control-allow-origin: https://app.example\r\n",
        "mcp-protocol-version",
        "mcp-session-id",
        "authorization",
        "delete",
        "vary: authorization, origin",
    ] {
        assert!(preflight.contains(part), "{part} in {preflight}");
    }
    let (mut headers, body) = modern("tools/list", json!({}));
    headers.push(("Origin", "https://app.example"));
    let answered = head(&server, "POST", "/mcp", &headers, &body);
    assert!(answered.contains("access-control-allow-origin: https://app.example\r\n"), "{answered}");
    assert!(answered.contains("access-control-expose-headers: mcp-session-id"), "{answered}");
    for origin in ["https://evil.example", "null", "https://app.example.evil.com", "http://app.example"] {
        for method in ["OPTIONS", "POST", "GET"] {
            let refused = head(&server, method, "/mcp", &[JSON, ("Origin", origin)], &body);
            assert!(refused.starts_with("http/1.1 403") && !refused.contains("access-control"), "{origin} {refused}");
        }
    }
}

#[test]
fn every_answer_keeps_browsers_and_caches_from_using_it_otherwise() {
    let (_vault, server) = serve(&[]);
    for (method, path) in [("GET", "/mcp"), ("GET", "/healthz"), ("GET", "/nowhere"), ("POST", "/mcp")] {
        let answered = head(&server, method, path, &[], "");
        for part in [
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
            "content-security-policy: default-src 'none'",
            "cache-control: no-store",
        ] {
            assert!(answered.contains(part), "{path}: {part} in {answered}");
        }
    }
}

#[test]
fn a_host_that_is_not_ours_is_refused_on_every_path_and_the_public_one_is_served() {
    let (_vault, server) = serve(&[
        ("MCP_PUBLIC_URL", "https://vault.example.com"),
        ("LAPIDARY_ALLOWED_HOSTS", "nas.local"),
        ("MCP_AUTH_MODE", "none"),
    ]);
    for path in ["/healthz", "/mcp"] {
        for (host, served) in [
            ("vault.example.com", true),
            ("nas.local:8080", true),
            ("evil.example", false),
            ("vault.example.com.evil.example", false),
            ("localhost.", false),
        ] {
            let status = server.request("GET", path, &[("Host", host), ("Accept", "application/json")], "").0;
            assert_eq!(status, if served { 200 } else { 403 }, "{host}{path}");
        }
    }
    let spoofed = [("X-Forwarded-Host", "vault.example.com"), ("Host", "evil.example")];
    assert_eq!(server.request("GET", "/healthz", &spoofed, "").0, 403);
}

fn batch(server: &HttpServer, session: &str, version: Option<&str>, messages: &Value) -> (u16, String) {
    let mut headers = vec![JSON, ("mcp-session-id", session)];
    headers.extend(version.map(|version| ("MCP-Protocol-Version", version)));
    server.request("POST", "/mcp", &headers, &messages.to_string())
}

#[test]
fn a_batch_is_answered_where_the_version_has_them() {
    let (_vault, server) = serve(&[]);
    let session = server.session();
    let read = |id: u32, file: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "file_read", "arguments": { "file": file } } });
    let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let messages = json!([done, read(7, "a.md"), { "jsonrpc": "2.0", "id": 8, "method": "no/such" }, read(9, "b.md")]);
    for version in [None, Some("2025-03-26")] {
        let (status, reply) = batch(&server, &session, version, &messages);
        assert_eq!(status, 200, "{reply}");
        let data = reply.lines().filter_map(|line| line.strip_prefix("data: "));
        let answers: Vec<Value> = data.filter_map(|data| serde_json::from_str(data).ok()).collect();
        let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
        assert_eq!(ids, [&json!(7), &json!(8), &json!(9)], "{reply}");
        assert_eq!(answers[0]["result"]["structuredContent"]["content"], "one\n");
        assert_eq!(answers[1]["error"]["code"], -32601);
        assert_eq!(answers[2]["result"]["isError"], true);
    }
    assert_eq!(batch(&server, &session, None, &json!([done])).0, 202);
    let many = Value::Array(vec![read(1, "a.md"); 51]);
    let hello = json!([{ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} }]);
    for (version, messages) in [
        (Some("2025-11-25"), &messages),
        (Some("2025-06-18"), &messages),
        (None, &many),
        (None, &hello),
        (None, &json!([])),
        (None, &json!([1])),
    ] {
        let (status, reply) = batch(&server, &session, version, messages);
        assert!(status == 400 && reply.contains("-32600"), "{version:?} {status} {reply}");
    }
}

#[test]
fn a_connection_that_does_not_go_on_is_closed() {
    let (_vault, server) = serve(&[("LAPIDARY_HTTP_HEAD_TIMEOUT_MS", "300"), ("LAPIDARY_HTTP_IDLE_TIMEOUT_MS", "300")]);
    // No byte, half a head, and a pause after an answer.
    assert_eq!(raw(&server, b""), "");
    assert_eq!(raw(&server, b"POST /mcp HTTP/1.1\r\nHost: "), "");
    let answered = raw(&server, format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).as_bytes());
    assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
}

#[test]
fn a_client_that_does_not_read_its_answers_is_let_go() {
    let (_vault, server) = serve(&[("LAPIDARY_HTTP_IDLE_TIMEOUT_MS", "500")]);
    let (headers, body) = modern("tools/list", json!({}));
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_write_timeout(Some(patience())).unwrap();
    // Until the answers fill all buffers on the way, the requests do too, and the server closes the connection.
    let error = loop {
        if let Err(error) = stream.write_all(request.as_bytes()) {
            break error;
        }
    };
    let is_closed = matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe);
    assert!(is_closed, "it still holds the connection: {error}");
    let (status, _) = server.post(&[], "tools/list", None, json!({}));
    assert_eq!(status, 200);
}

#[test]
fn a_message_of_too_many_values_is_refused_before_it_is_parsed() {
    let (_vault, server) = serve(&[]);
    let values = vec![0; 100_000];
    let (status, reply) = server.post(&[], "tools/call", Some("file_read"), json!({ "arguments": { "a": values } }));
    assert!(status == 400 && reply.contains("values"), "{status} {reply}");
    let text = "a,".repeat(200_000);
    let params = json!({ "name": "file_create", "arguments": { "file": "long.md", "content": text } });
    let (status, reply) = server.post(&[], "tools/call", Some("file_create"), params);
    assert!(status == 200 && !reply.contains("\"isError\":true"), "{status} {reply}");
}

#[test]
fn a_refusal_arrives_though_the_body_is_sent_after_it() {
    // Clients send head and body one after the other; in between, a busy machine may have refused already.
    let (_vault, server) = serve(&[("LAPIDARY_TOKENS", "phone:reader:0123456789abcdef0123456789abcdef")]);
    let body = "x".repeat(1000);
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n", server.address, body.len());
    let answered = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(&server.address)?;
        stream.set_read_timeout(Some(patience()))?;
        for last in ["", "Connection: close\r\n"] {
            stream.write_all(format!("{head}{last}\r\n").as_bytes())?;
            // Long enough for an answer that does not wait for the body.
            std::thread::sleep(Duration::from_millis(300));
            stream.write_all(body.as_bytes())?;
        }
        Ok(rest(&mut stream))
    };
    // The server waits seconds for the body; a machine that stops this test for longer gets another try.
    let begun = Instant::now();
    loop {
        let started = Instant::now();
        assert!(begun.elapsed() < patience(), "the test is always stopped for longer");
        let replies = answered();
        if started.elapsed() < Duration::from_secs(2) {
            assert_eq!(replies.unwrap().matches("HTTP/1.1 401").count(), 2);
            break;
        }
    }
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let (_vault, server) = serve(&[("LAPIDARY_HTTP_BODY_TIMEOUT_MS", "300")]);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{\"json",
        server.address
    );
    let reply = raw(&server, head.as_bytes());
    assert!(reply.starts_with("HTTP/1.1 408"), "{reply}");
}

#[test]
fn a_request_that_is_too_large_is_refused_before_it_is_read() {
    let (_vault, server) = serve(&[("MCP_HTTP_MAX_BODY_BYTES", "5000")]);
    let start = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n", server.address);
    let declared = raw(&server, format!("{start}Content-Length: 99999999\r\n\r\n").as_bytes());
    assert!(declared.starts_with("HTTP/1.1 413"), "{declared}");
    let chunk = format!("3E8\r\n{}\r\n", "x".repeat(1000));
    let chunked = raw(&server, format!("{start}Transfer-Encoding: chunked\r\n\r\n{}", chunk.repeat(8)).as_bytes());
    assert!(chunked.starts_with("HTTP/1.1 413"), "{chunked}");
    let long_head = raw(&server, format!("{start}X-Long: {}\r\n\r\n", "x".repeat(40_000)).as_bytes());
    assert!(long_head.starts_with("HTTP/1.1 431"), "{long_head}");
    let long_target =
        format!("GET /{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", "x".repeat(9000), server.address);
    assert!(raw(&server, long_target.as_bytes()).starts_with("HTTP/1.1 414"));
}

#[test]
fn a_client_that_asks_too_fast_is_told_when_to_come_back_and_others_are_not_touched() {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let tokens = format!("one:curator:{0}; other:curator:{1}", "1".repeat(32), "2".repeat(32));
    let environment = [("LAPIDARY_TOKENS", tokens.as_str()), ("LAPIDARY_HTTP_CALLS_PER_SECOND", "1")];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &environment);
    let asks = |digit: &str| {
        let token = format!("Bearer {}", digit.repeat(32));
        let (mut headers, body) = modern("tools/list", json!({}));
        headers.push(("Authorization", &token));
        let mut reply = String::new();
        drop(server.send("POST", "/mcp", &headers, &body).read_to_string(&mut reply));
        reply
    };
    // Far more than a second's worth at once, so that a slow machine refuses some of them too.
    let replies: Vec<String> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..60).map(|_| scope.spawn(|| asks("1"))).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let refused = replies.iter().find(|reply| reply.starts_with("HTTP/1.1 429")).expect("some are refused");
    assert!(refused.to_lowercase().contains("retry-after: ") && refused.contains("rate_limited"), "{refused}");
    assert!(replies.iter().any(|reply| reply.starts_with("HTTP/1.1 200")));
    assert!(asks("2").starts_with("HTTP/1.1 200"));
}

#[test]
fn what_a_revoked_client_listens_to_ends() {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let make = vault.command().args(["token", "create", "phone"]).output().unwrap();
    let token = format!("Bearer {}", String::from_utf8(make.stdout).unwrap().trim());
    let token = ("Authorization", token.as_str());
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let session = server.session_with(&[token]);
    let mut stream =
        server.send("GET", "/mcp", &[token, ("mcp-session-id", &session), ("Accept", "text/event-stream")], "");
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    assert!(vault.command().args(["token", "revoke", "phone"]).status().unwrap().success());
    rest(&mut stream);
}

#[test]
fn an_idle_session_ends_and_one_that_listens_does_not() {
    let (_vault, server) = serve(&[("MCP_STATEFUL_SESSION_STALE_TIMEOUT_MS", "1000")]);
    let listening = server.session();
    let stream = server.send("GET", "/mcp", &[("mcp-session-id", &listening), ("Accept", "text/event-stream")], "");
    let mut first = String::new();
    BufReader::new(&stream).read_line(&mut first).unwrap();
    assert!(first.contains("200"), "{first}");
    // To ask about a session is to use it, so a busy machine gets longer and longer pauses.
    let has_ended = [2, 4, 8, 16].into_iter().any(|seconds| {
        let idle = server.session();
        std::thread::sleep(Duration::from_secs(seconds));
        server.request("DELETE", "/mcp", &[("mcp-session-id", &idle)], "").0 == 404
    });
    assert!(has_ended);
    assert!(server.ask_in(&listening, &[], "tools/list", &json!({}))["result"].is_object());
}
