//! Notifications for files that a client follows, over both transports and in both eras.

use std::{
    io::{BufRead, BufReader},
    net::TcpStream,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    harness::{Era, Server, Vault},
    http::{HttpServer, modern},
};

const NOTE: &str = "obsidian://vault/My%20notes/a.md";
/// Longer than it should take. On a loaded machine it takes longer, so this is only waited for where nothing must come.
const A_WHILE: Duration = Duration::from_millis(2500);

fn vault() -> Vault {
    Vault::new(&[("My notes/a.md", b"one"), ("b.md", b"one"), ("secret/c.md", b"one")])
}

fn uri_of(message: &Value) -> &str {
    assert_eq!(message["method"], "notifications/resources/updated", "{message}");
    message["params"]["uri"].as_str().unwrap()
}

fn follow(server: &mut Server, uri: &str) -> Value {
    server.request("resources/subscribe", json!({ "uri": uri }))
}

/// Sends a request whose answer comes after all earlier messages.
fn nothing_comes(server: &mut Server) {
    std::thread::sleep(A_WHILE);
    server.aside.clear();
    server.done("file_read", json!({ "file": "b.md" }));
    assert_eq!(server.aside, Vec::<Value>::new());
}

#[test]
fn an_older_client_is_notified_of_all_changes_until_it_unsubscribes() {
    for version in ["2024-11-05", "2025-11-25"] {
        let vault = vault();
        let mut server = vault.serve().open(Era::Legacy(version));
        assert_eq!(follow(&mut server, NOTE)["result"], json!({}));
        vault.write("My notes/a.md", b"another program");
        assert_eq!(uri_of(&server.message()), NOTE);
        server.done("str_replace", json!({ "file": "My notes/a.md", "find": "another", "replace": "our" }));
        assert_eq!(uri_of(&server.message()), NOTE);
        std::fs::remove_file(vault.path().join("My notes/a.md")).unwrap();
        assert_eq!(uri_of(&server.message()), NOTE, "it is gone");
        vault.write("My notes/a.md", b"again");
        assert_eq!(uri_of(&server.message()), NOTE, "it is back");
        assert_eq!(server.request("resources/unsubscribe", json!({ "uri": NOTE }))["result"], json!({}));
        vault.write("My notes/a.md", b"unheard");
        vault.write("b.md", b"never followed");
        nothing_comes(&mut server);
        assert_eq!(follow(&mut server, NOTE)["result"], json!({}), "and once more");
        vault.write("My notes/a.md", b"heard");
        assert_eq!(uri_of(&server.message()), NOTE);
    }
}

#[test]
fn a_modern_client_is_notified_while_it_listens() {
    let vault = vault();
    let mut server = vault.serve().open(Era::Modern);
    let wish = json!({ "notifications": {
        "resourceSubscriptions": [NOTE, "obsidian://tags", "test://x", "obsidian://vault/new.md"],
        "toolsListChanged": true,
    } });
    let id = server.ask("subscriptions/listen", wish);
    let acknowledged = server.message();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "resourceSubscriptions": [NOTE, "obsidian://vault/new.md"] })
    );
    // A request that is answered after the files were checked.
    std::thread::sleep(Duration::from_millis(300));
    server.done("file_read", json!({ "file": "b.md" }));
    vault.write("My notes/a.md", b"two");
    let news = server.message();
    assert_eq!(uri_of(&news), NOTE);
    assert_eq!(news["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    vault.write("new.md", b"made");
    assert_eq!(uri_of(&server.message()), "obsidian://vault/new.md");
    server.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        } } }),
    );
    server.done("file_read", json!({ "file": "new.md" }));
    vault.write("My notes/a.md", b"three");
    nothing_comes(&mut server);
}

#[test]
fn closed_files_cannot_be_followed_and_hidden_ones_have_no_news() {
    let vault = vault();
    vault.write(".lapidaryignore", b"hidden.md\n");
    vault.write("hidden.md", b"one");
    let environment = [("OBSIDIAN_DENY_PATHS", "secret"), ("LAPIDARY_REPETITION", "off")];
    let mut server = vault.serve_with(&[], &environment).open(Era::Legacy("2025-06-18"));
    for (uri, code, reason) in [
        ("obsidian://vault/secret/c.md", -32005, "path_forbidden"),
        ("obsidian://vault/secret/none.md", -32005, "path_forbidden"),
        ("obsidian://vault/../x", -32007, "path_traversal"),
        ("obsidian://tags", -32602, "resource_unknown"),
        ("test://x", -32602, "resource_unknown"),
    ] {
        let error = follow(&mut server, uri)["error"].clone();
        assert_eq!((&error["code"], &error["data"]["reason"]), (&json!(code), &json!(reason)), "{uri}");
    }
    for uri in ["obsidian://vault/hidden.md", "obsidian://vault/none.md"] {
        assert_eq!(follow(&mut server, uri)["result"], json!({}), "{uri}");
    }
    vault.write("hidden.md", b"two");
    nothing_comes(&mut server);
    vault.write(".lapidaryignore", b"none\n");
    assert_eq!(uri_of(&server.message()), "obsidian://vault/hidden.md", "now it is there");
}

#[test]
fn the_number_of_followed_files_is_limited() {
    let vault = vault();
    let mut server = vault.serve().open(Era::Legacy("2025-11-25"));
    for number in 0..1000 {
        assert_eq!(follow(&mut server, &format!("obsidian://vault/{number}.md"))["result"], json!({}));
    }
    assert_eq!(follow(&mut server, NOTE)["error"]["code"], -32005);
    assert_eq!(follow(&mut server, "obsidian://vault/7.md")["result"], json!({}), "one that is followed already");
    vault.write("7.md", b"made");
    assert_eq!(uri_of(&server.message()), "obsidian://vault/7.md");
}

/// The next message on a stream of events.
fn event(stream: &mut BufReader<TcpStream>) -> Value {
    loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended");
        if let Some(Ok(message)) = line.strip_prefix("data:").map(|data| serde_json::from_str(data.trim())) {
            return message;
        }
    }
}

#[test]
fn an_older_client_is_notified_on_the_stream_of_its_session() {
    let vault = vault();
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let session = server.session();
    let other = server.session();
    let post = |session: &str, message: Value| {
        let headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Mcp-Session-Id", session),
        ];
        server.request("POST", "/mcp", &headers, &message.to_string())
    };
    let open = |session: &str| {
        post(session, json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let headers = [("Mcp-Session-Id", session), ("Accept", "text/event-stream")];
        BufReader::new(server.send("GET", "/mcp", &headers, ""))
    };
    let (mut stream, mut others) = (open(&session), open(&other));
    let subscribe = |session: &str, uri: &str| {
        let params = json!({ "uri": uri });
        let message = json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": params });
        let (status, body) = post(session, message);
        assert!(status == 200 && body.contains("\"result\":{}"), "{status} {body}");
    };
    subscribe(&session, NOTE);
    subscribe(&other, "obsidian://vault/b.md");
    vault.write("My notes/a.md", b"two");
    assert_eq!(uri_of(&event(&mut stream)), NOTE);
    vault.write("b.md", b"two");
    assert_eq!(uri_of(&event(&mut others)), "obsidian://vault/b.md", "each session gets only its notifications");
}

#[test]
fn a_modern_client_is_notified_in_the_answer_it_keeps_open() {
    let vault = vault();
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let wish = json!({ "notifications": { "resourceSubscriptions": [NOTE] } });
    let (headers, body) = modern("subscriptions/listen", wish);
    let mut stream = BufReader::new(server.send("POST", "/mcp", &headers, &body));
    assert_eq!(event(&mut stream)["method"], "notifications/subscriptions/acknowledged");
    std::thread::sleep(Duration::from_millis(500));
    vault.write("My notes/a.md", b"two");
    assert_eq!(uri_of(&event(&mut stream)), NOTE);
}

#[test]
fn without_a_session_an_older_client_cannot_be_notified() {
    let vault = vault();
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("MCP_SESSION_MODE", "stateless")]);
    let headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let message = json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": { "uri": NOTE } });
    let (_, body) = server.request("POST", "/mcp", &headers, &message.to_string());
    assert!(body.contains("-32601"), "{body}");
}
