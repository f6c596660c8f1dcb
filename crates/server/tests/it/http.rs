//! HTTP as such: which clients may connect, and what else is served. The protocol over HTTP is tested with outside
//! clients.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::harness::{Vault, patience};

pub(crate) struct HttpServer {
    pub(crate) child: Child,
    pub(crate) address: String,
    /// What it said before it served.
    pub(crate) said: Vec<String>,
}

impl HttpServer {
    pub(crate) fn start(vault: &Vault, address: &str, environment: &[(&str, &str)]) -> Self {
        let mut command = vault.command();
        command.arg("--vault").arg(vault.path()).args(["--http", address]).envs(environment.iter().copied());
        Self::start_command(command)
    }

    /// The same with additional arguments.
    pub(crate) fn start_command(mut command: Command) -> Self {
        // Tests ask faster than clients do.
        for limit in ["CALLS_PER_SECOND", "WRITES_PER_SECOND", "MAX_CALLS", "MAX_CALLS_PER_CLIENT"] {
            let name = format!("LAPIDARY_HTTP_{limit}");
            if !command.get_envs().any(|(given, _)| given == name.as_str()) {
                command.env(name, "0");
            }
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut said = Vec::new();
        let is_there = |line: &String| line.contains("serving MCP at ");
        let line = lines.by_ref().inspect(|line| said.push(line.clone())).find(is_there).expect("it says where it is");
        let url = line.split("serving MCP at ").nth(1).and_then(|url| url.split("://").nth(1)).unwrap();
        let address = url.split('/').next().unwrap().to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address, said }
    }

    /// Sends one request on a separate connection.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(patience())).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        head.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        // A server that refuses early may have closed already.
        drop(stream.write_all(body.as_bytes()));
        stream
    }

    /// One request; status and body.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = self.send(method, path, headers, body);
        let mut reply = Vec::new();
        drop(stream.read_to_end(&mut reply));
        let reply = String::from_utf8(reply).unwrap();
        let status =
            reply.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{reply}"));
        (status, reply.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    /// Opens a session as older clients do.
    pub(crate) fn session(&self) -> String {
        self.session_with(&[])
    }

    pub(crate) fn session_with(&self, extra: &[(&str, &str)]) -> String {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        } });
        let accept = ("Accept", "application/json, text/event-stream");
        let headers = [&[("Content-Type", "application/json"), accept], extra].concat();
        let opened = self.send("POST", "/mcp", &headers, &hello.to_string());
        let mut head = String::new();
        let mut lines = BufReader::new(opened);
        while !head.ends_with("\r\n\r\n") {
            assert!(lines.read_line(&mut head).unwrap() > 0, "{head}");
        }
        let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        session.unwrap_or_else(|| panic!("{head}")).to_owned()
    }

    /// A request of an older client in its session; the answer.
    pub(crate) fn ask_in(&self, session: &str, extra: &[(&str, &str)], method: &str, params: &Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut headers = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2025-11-25"),
            ("mcp-session-id", session),
        ];
        headers.extend(extra);
        let (_, reply) = self.request("POST", "/mcp", &headers, &body);
        // A request that leads to others is answered in a stream.
        let data = reply.lines().filter_map(|line| line.strip_prefix("data: ")).find(|data| data.contains("\"id\":1"));
        serde_json::from_str(data.unwrap_or(&reply)).unwrap_or_else(|_| panic!("{reply}"))
    }

    /// A call as a modern client makes it.
    pub(crate) fn post(
        &self,
        extra: &[(&str, &str)],
        method: &str,
        name: Option<&str>,
        params: Value,
    ) -> (u16, String) {
        let (mut headers, body) = modern(method, params);
        headers.extend(name.map(|name| ("Mcp-Name", name)));
        headers.extend(extra);
        self.request("POST", "/mcp", &headers, &body)
    }

    /// The same, with a streaming answer.
    pub(crate) fn open_stream(&self, method: &str, params: Value) -> TcpStream {
        let (headers, body) = modern(method, params);
        self.send("POST", "/mcp", &headers, &body)
    }
}

/// The headers and the body of a modern request.
pub(crate) fn modern(method: &str, mut params: Value) -> (Vec<(&str, &str)>, String) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let headers = vec![
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", method),
    ];
    (headers, body)
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_request_that_can_be_read_in_two_ways_is_refused() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let own = server.address.clone();
    let (plain, body) = modern("tools/list", json!({}));
    let status = |target: &str, more: &[(&str, &str)]| {
        let mut headers = plain.clone();
        headers.retain(|(name, _)| !more.iter().any(|(given, _)| given == name));
        headers.extend(more);
        server.request("POST", target, &headers, &body).0
    };
    assert_eq!(status("/mcp", &[]), 200);
    assert_eq!(status(&format!("http://{own}/mcp"), &[]), 200);
    let origin = "http://localhost:1";
    for (name, value, other) in [
        ("Host", own.as_str(), "evil.example"),
        ("Origin", origin, "http://evil.example"),
        ("Origin", origin, origin),
        ("Authorization", "Bearer a", "Bearer b"),
        ("Content-Type", "application/json", "text/plain"),
        ("Content-Length", "2", "3"),
        ("MCP-Protocol-Version", "2026-07-28", "2025-03-26"),
        ("Mcp-Method", "tools/list", "tools/call"),
        ("Mcp-Session-Id", "one", "other"),
        ("mcp-session-id", "one", "one"),
        ("Last-Event-ID", "1", "2"),
    ] {
        for target in ["/mcp", "/sse", "/healthz"] {
            assert_eq!(status(target, &[(name, value), (name, other)]), 400, "{target} {name}: {value}, {other}");
        }
    }
    let accept = [("Accept", "application/json"), ("Accept", "text/event-stream")];
    assert_eq!(status("/mcp", &accept), 200, "a list may come in several headers");
    assert_eq!(status("http://evil.example/mcp", &[]), 400);
    for kind in ["application/jsonx", "text/plain", "application/json-patch+json"] {
        assert_eq!(status("/mcp", &[("Content-Type", kind)]), 415, "{kind}");
    }
    assert_eq!(status("/mcp", &[("Content-Type", "application/json; charset=utf-8")]), 200);
}

#[test]
fn the_session_that_is_idle_longest_makes_room_and_one_in_use_does_not() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let tokens = format!("one:curator:{0}; other:curator:{1}", "1".repeat(32), "2".repeat(32));
    let environment = [("LAPIDARY_TOKENS", tokens.as_str()), ("LAPIDARY_HTTP_MAX_SESSIONS_PER_CLIENT", "3")];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &environment);
    let bearer = |digit: &str| format!("Bearer {}", digit.repeat(32));
    let (one, other) = (bearer("1"), bearer("2"));
    let (one, other) = (("Authorization", one.as_str()), ("Authorization", other.as_str()));
    let others = server.session_with(&[other]);
    let sessions: Vec<String> = (0..4).map(|_| server.session_with(&[one])).collect();
    let is_open =
        |session: &str, token| server.ask_in(session, &[token], "tools/list", &json!({}))["result"].is_object();
    assert!(!is_open(&sessions[0], one), "it was idle longest");
    assert!(is_open(&sessions[1], one) && is_open(&others, other), "those of others are not touched");
    let streams: Vec<TcpStream> = sessions[1..]
        .iter()
        .map(|session| {
            let headers = [one, ("mcp-session-id", session), ("Accept", "text/event-stream")];
            let stream = server.send("GET", "/mcp", &headers, "");
            let mut first = String::new();
            BufReader::new(&stream).read_line(&mut first).unwrap();
            assert!(first.contains("200"), "{first}");
            stream
        })
        .collect();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    } });
    let headers = [("Content-Type", "application/json"), one];
    let (status, reply) = server.request("POST", "/mcp", &headers, &hello.to_string());
    assert_eq!(status, 503, "{reply}");
    assert!(reply.contains("too_many"), "{reply}");
    let ended = server.request("DELETE", "/mcp", &[one, ("mcp-session-id", &sessions[1])], "");
    assert_eq!(ended.0, 200, "{ended:?}");
    server.session_with(&[one]);
    drop(streams);
}

#[test]
fn a_modern_call_is_answered_in_plain_json() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let params = json!({ "name": "file_read", "arguments": { "file": "a.md" } });
    let (status, body) = server.post(&[], "tools/call", Some("file_read"), params);
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("\"content\":\"one\""), "{body}");
    assert_eq!(vault.log()[0]["client_id"], "http:~test");
}

#[test]
fn what_a_note_says_arrives_as_it_is_in_a_session_and_without_one() {
    let text = "# \"Quoted\" \\ \n\t\"structuredContent\":\"{}\" 石\n".repeat(500);
    let vault = Vault::new(&[("a.md", text.as_bytes())]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let params = json!({ "name": "file_read", "arguments": { "file": "a.md" } });
    let legacy = server.ask_in(&server.session(), &[], "tools/call", &params);
    let (status, modern) = server.post(&[], "tools/call", Some("file_read"), params);
    assert_eq!(status, 200, "{modern}");
    for reply in [legacy, serde_json::from_str(&modern).unwrap()] {
        assert_eq!(reply["result"]["structuredContent"]["content"], text);
    }
}

#[test]
fn clients_without_a_session_are_not_taken_for_one() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    for _ in 0..6 {
        let params = json!({ "name": "file_read", "arguments": { "file": "a.md" } });
        let (_, body) = server.post(&[], "tools/call", Some("file_read"), params);
        assert!(body.contains("\"content\":\"one\""), "{body}");
    }
}

#[test]
fn only_this_computer_and_its_pages_may_connect() {
    let vault = Vault::new(&[]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let list = |headers: &[(&str, &str)]| server.post(headers, "tools/list", None, json!({})).0;
    for (headers, allowed) in [
        (&[][..], true),
        (&[("Origin", "http://localhost:5173")], true),
        (&[("Origin", "http://127.0.0.1:9")], true),
        (&[("Origin", "http://localhost.evil.example")], false),
        (&[("Origin", "https://evil.example")], false),
        (&[("Origin", "null")], false),
        (&[("Host", "evil.example")], false),
        (&[("Host", "localhost:1234")], true),
    ] {
        assert_eq!(list(headers) == 200, allowed, "{headers:?}");
    }
}

#[test]
fn the_owner_may_name_other_pages() {
    let vault = Vault::new(&[]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("MCP_ALLOWED_ORIGINS", "https://app.example:443")]);
    let list = |origin: &str| server.post(&[("Origin", origin)], "tools/list", None, json!({})).0;
    assert_eq!(list("https://app.example"), 200);
    assert_ne!(list("https://other.example"), 200);
}

#[test]
fn a_body_beyond_the_limit_is_refused() {
    let vault = Vault::new(&[]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("MCP_HTTP_MAX_BODY_BYTES", "5000")]);
    let params = json!({ "name": "find_tool", "arguments": { "query": "x".repeat(10_000) } });
    let (status, body) = server.post(&[], "tools/call", Some("find_tool"), params);
    assert_eq!(status, 413, "{body}");
}

#[test]
fn an_unknown_tool_is_not_an_unknown_page() {
    let vault = Vault::new(&[]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let (status, body) = server.post(&[], "tools/call", Some("nope"), json!({ "name": "nope", "arguments": {} }));
    assert!(status != 404 && body.contains("-32602"), "{status} {body}");
}

#[test]
fn only_pages_of_ours_are_served_in_addition() {
    let vault = Vault::new(&[]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("MCP_HTTP_ENDPOINT_PATH", "/api/mcp")]);
    assert_eq!(server.request("GET", "/healthz", &[], ""), (200, "{\"status\":\"ok\"}".to_owned()));
    for path in ["/mcp", "/api", "/../etc/passwd", "/assets/../healthz", "/assets/other.css"] {
        assert_eq!(server.request("GET", path, &[], "").0, 404, "{path}");
    }
}

#[test]
fn a_taken_port_means_the_next_one_only_if_somebody_says_so() {
    let vault = Vault::new(&[]);
    let first = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let second = HttpServer::start(&vault, &first.address, &[("MCP_HTTP_MAX_PORT_RETRIES", "15")]);
    assert_ne!(first.address, second.address);
    assert_eq!(second.request("GET", "/healthz", &[], "").0, 200);
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    // So that it is not asked for long what it is.
    std::thread::spawn(move || other.incoming().for_each(drop));
    let public = [("MCP_PUBLIC_URL", "http://localhost:9"), ("MCP_HTTP_MAX_PORT_RETRIES", "15")];
    let (ours, this) = (first.child.id(), std::process::id());
    for (address, settings, who, process) in [
        (&first.address, &[][..], "another Lapidary server", ours),
        (&first.address, &public[..], "another Lapidary server", ours),
        (&taken, &[][..], "another program", this),
    ] {
        let mut command = vault.command();
        command.arg("--vault").arg(vault.path()).args(["--http", address]).envs(settings.iter().copied());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let port = address.rsplit(':').next().unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("{who} (")), "{said}");
        assert!(said.contains(&format!(" listens on port {port} already")), "{said}");
        // Its mark names the vault as soon as it is there; the system names the process in any case.
        assert!(!cfg!(target_os = "linux") || said.contains(&format!("process {process}")), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn it_ends_when_told_to_although_a_client_keeps_its_stream_open() {
    let vault = Vault::new(&[]);
    let mut server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let session = server.session();
    let stream = server.send("GET", "/mcp", &[("Mcp-Session-Id", &session), ("Accept", "text/event-stream")], "");
    let mut first = String::new();
    BufReader::new(&stream).read_line(&mut first).unwrap();
    assert!(first.contains("200"), "{first}");
    let told = std::process::Command::new("kill").args(["-TERM", &server.child.id().to_string()]).status().unwrap();
    assert!(told.success());
    let started = std::time::Instant::now();
    while server.child.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < patience(), "it waits for the stream");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    drop(stream);
}
