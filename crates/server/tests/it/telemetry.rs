//! What those who watch the server get to see: counters, traces, and never what is in the vault.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::mpsc::{Receiver, channel},
};

use serde_json::json;

use crate::{
    harness::{Era, Vault},
    http::HttpServer,
};

/// A collector that takes everything: the path of each request and its body.
pub(crate) fn collector() -> (String, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sender = sender.clone();
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream);
                loop {
                    let (mut first, mut length) = (String::new(), 0);
                    if reader.read_line(&mut first).unwrap_or(0) == 0 {
                        return;
                    }
                    loop {
                        let mut line = String::new();
                        reader.read_line(&mut line).unwrap();
                        let line = line.trim_end().to_ascii_lowercase();
                        if let Some(value) = line.strip_prefix("content-length: ") {
                            length = value.parse().unwrap();
                        }
                        if line.is_empty() {
                            break;
                        }
                    }
                    let mut body = vec![0; length];
                    reader.read_exact(&mut body).unwrap();
                    let path = first.split(' ').nth(1).unwrap().to_owned();
                    reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
                    if sender.send((path, body)).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, received)
}

/// A field of a message of protocol buffers.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        shift += 7;
        if first & 0x80 == 0 {
            return value;
        }
    }
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (eight, rest) = bytes.split_at(8);
                bytes = rest;
                Field::Number(u64::from_le_bytes(eight.try_into().unwrap()))
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                let (inner, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(inner)
            }
            kind => panic!("a field of kind {kind}"),
        };
        found.push((tag >> 3, field));
    }
    found
}

/// All messages at this path of field numbers.
fn at<'a>(bytes: &'a [u8], path: &[u64]) -> Vec<&'a [u8]> {
    let Some((first, rest)) = path.split_first() else { return vec![bytes] };
    let inner = fields(bytes).into_iter().filter_map(|(number, field)| match field {
        Field::Bytes(inner) if number == *first => Some(inner),
        _ => None,
    });
    inner.flat_map(|inner| at(inner, rest)).collect()
}

fn texts(bytes: &[u8], path: &[u64]) -> Vec<String> {
    at(bytes, path).into_iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

fn number(bytes: &[u8], wanted: u64) -> u64 {
    fields(bytes)
        .into_iter()
        .find_map(|(number, field)| match field {
            Field::Number(value) if number == wanted => Some(value),
            _ => None,
        })
        .unwrap()
}

const SPANS: [u64; 3] = [1, 2, 2];
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[test]
fn a_call_is_part_of_the_trace_of_its_client_and_says_nothing_of_the_vault() {
    let vault = Vault::new(&[("Secret plans/heist.md", b"the vault of the bank\n")]);
    let (address, received) = collector();
    let environment =
        [("OTEL_ENABLED", "true"), ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()), ("OTEL_SERVICE_NAME", "notes")];
    let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
    let call =
        |tool: &str, arguments| json!({ "name": tool, "arguments": arguments, "_meta": { "traceparent": PARENT } });
    let edit = json!({ "file": "Secret plans/heist.md", "find": "bank", "replace": "museum" });
    let edited = server.request("tools/call", call("str_replace", edit));
    assert_ne!(edited["result"]["isError"], true, "{edited}");
    server.request("tools/call", call("file_read", json!({ "file": "Secret plans/no such.md" })));
    server.request("tools/call", call("Secret plans", json!({})));
    server.stop();
    let (mut traces, mut metrics, mut everything) = (Vec::new(), Vec::new(), Vec::new());
    while let Ok((path, body)) = received.recv_timeout(std::time::Duration::from_millis(500)) {
        everything.extend(&body);
        match path.as_str() {
            "/v1/traces" => traces.push(body),
            "/v1/metrics" => metrics.push(body),
            other => panic!("{other}"),
        }
    }
    let spans: Vec<&[u8]> = traces.iter().flat_map(|body| at(body, &SPANS)).collect();
    let named = |name: &str| {
        let found = spans.iter().find(|span| texts(span, &[5]) == [name]);
        *found.unwrap_or_else(|| panic!("{name}: {:?}", spans.iter().map(|span| texts(span, &[5])).collect::<Vec<_>>()))
    };
    let trace = [0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c];
    let caller = [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31];
    let edit = named("tool_execution:str_replace");
    assert_eq!((at(edit, &[1]), at(edit, &[4])), (vec![&trace[..]], vec![&caller[..]]));
    assert!(texts(edit, &[9, 2, 1]).contains(&"ok".to_owned()));
    assert!(number(edit, 8) >= number(edit, 7) && number(edit, 7) > 0, "it takes its time");
    let commit = named("commit");
    assert_eq!((at(commit, &[1]), at(commit, &[4])), (vec![&trace[..]], at(edit, &[2])), "a stage is part of its call");
    assert!(texts(named("tool_execution:file_read"), &[9, 2, 1]).contains(&"refused".to_owned()));
    named("tool_execution:other");
    assert_eq!(texts(&traces[0], &[1, 1, 1, 2, 1])[0], "notes");
    let names: Vec<String> = metrics.iter().flat_map(|body| texts(body, &[1, 2, 2, 1])).collect();
    for name in ["mcp.tool.calls", "mcp.tool.duration", "mcp.tool.errors", "lapidary.commit.duration"] {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
    let everything = String::from_utf8_lossy(&everything).into_owned();
    for secret in ["Secret", "heist", "bank", "museum", "no such", ".md", vault.path().to_str().unwrap()] {
        assert!(!everything.contains(secret), "{secret}");
    }
}

#[test]
fn a_collector_that_does_not_answer_costs_nothing_but_a_line_of_the_log() {
    let vault = Vault::new(&[("a.md", b"x")]);
    // Connections to it are refused.
    let address = format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let environment = [("OTEL_ENABLED", "true"), ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str())];
    let mut server = vault.spawn_with(&[], &environment).open(Era::Modern);
    assert_eq!(server.done("file_read", json!({ "file": "a.md" }))["content"], "x");
    let (status, said) = server.end();
    assert!(status.success(), "{said}");
    assert!(said.matches("the collector of telemetry takes nothing").count() <= 1, "{said}");
}

#[test]
fn metrics_are_counted_and_shown_to_this_computer_and_to_the_token_alone() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let token = "metrics-0123456789abcdef0123456789abcdef";
    let environment = [
        ("LAPIDARY_METRICS", "true"),
        ("LAPIDARY_METRICS_TOKEN", token),
        ("MCP_PUBLIC_URL", "https://vault.example.com"),
        ("MCP_AUTH_MODE", "none"),
    ];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &environment);
    let call = |tool: &str, arguments| {
        server.post(&[], "tools/call", Some(tool), json!({ "name": tool, "arguments": arguments }))
    };
    call("str_replace", json!({ "file": "a.md", "find": "x", "replace": "y" }));
    call("file_read", json!({ "file": "none.md" }));
    server.request("GET", "/mcp", &[("Host", "evil.example")], "");
    let read = |headers: &[(&str, &str)]| server.request("GET", "/metrics", headers, "");
    let (status, text) = read(&[]);
    assert_eq!(status, 200, "{text}");
    for line in [
        "lapidary_calls_total{tool=\"str_replace\",outcome=\"ok\"} 1",
        "lapidary_calls_total{tool=\"file_read\",outcome=\"refused\"} 1",
        "lapidary_commit_seconds_count 1",
        "lapidary_http_requests_total{route=\"mcp\",status=\"403\"} 1",
        "lapidary_calls_active 0",
        "lapidary_sessions 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert!(!text.contains("none.md") && !text.contains("a.md") && !text.contains(token), "{text}");
    // A proxy on this computer speaks for others.
    assert_eq!(read(&[("X-Forwarded-For", "198.51.100.7")]).0, 401);
    assert_eq!(read(&[("Host", "vault.example.com")]).0, 401);
    let bearer = format!("Bearer {token}");
    let remote = [("Host", "vault.example.com"), ("X-Forwarded-For", "198.51.100.7"), ("Authorization", &bearer)];
    assert_eq!(read(&remote).0, 200);
    assert_eq!(read(&[("Host", "vault.example.com"), ("Authorization", "Bearer x")]).0, 401);
    let off = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    assert_eq!(off.request("GET", "/metrics", &[], "").0, 404);
}
