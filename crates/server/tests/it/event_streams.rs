//! The older HTTP+SSE transport: one stream to listen to, and a path to post to.

use std::{
    io::{BufRead, BufReader},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::{harness::Vault, http::HttpServer};

const JSON: (&str, &str) = ("Content-Type", "application/json");

/// A client of the older kind.
struct StreamClient<'s> {
    server: &'s HttpServer,
    lines: BufReader<TcpStream>,
    messages: String,
}

impl<'s> StreamClient<'s> {
    fn open(server: &'s HttpServer, path: &str, headers: &[(&str, &str)]) -> Self {
        let mut lines = BufReader::new(server.send("GET", path, headers, ""));
        let mut status = String::new();
        lines.read_line(&mut status).unwrap();
        assert!(status.contains("200"), "{status}");
        let mut client = Self { server, lines, messages: String::new() };
        client.messages = client.event("endpoint");
        client
    }

    /// The data of the next event of this kind.
    fn event(&mut self, kind: &str) -> String {
        let mut is_next = false;
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the stream ended");
            if let Some(data) = line.strip_prefix("data: ").filter(|_| is_next) {
                return data.trim_end().to_owned();
            }
            is_next = line.trim_end() == format!("event: {kind}");
        }
    }

    fn post(&self, headers: &[(&str, &str)], message: &Value) -> u16 {
        self.server.request("POST", &self.messages, &[&[JSON], headers].concat(), &message.to_string()).0
    }

    fn ask(&mut self, headers: &[(&str, &str)], method: &str, params: &Value) -> Value {
        let status = self.post(headers, &json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }));
        assert_eq!(status, 202);
        loop {
            let message: Value = serde_json::from_str(&self.event("message")).unwrap();
            if message["id"] == 7 {
                return message;
            }
        }
    }

    fn greet(&mut self, headers: &[(&str, &str)]) {
        let hello = json!({
            "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "old", "version": "1" },
        });
        assert_eq!(self.ask(headers, "initialize", &hello)["result"]["protocolVersion"], "2024-11-05");
        assert_eq!(self.post(headers, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })), 202);
    }
}

fn token(vault: &Vault, words: &[&str]) -> String {
    let made = vault.command().args(["token", "create"]).args(words).output().unwrap();
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

fn serve(vault: &Vault) -> HttpServer {
    let mut command = vault.command();
    command.arg("--vault").arg(vault.path()).args(["serve", "--sse", "--http", "127.0.0.1:0"]);
    HttpServer::start_command(command)
}

#[test]
fn an_older_client_calls_tools_with_the_rights_of_its_token_in_the_address() {
    let vault = Vault::new(&[("projects/plan.md", b"plan\n"), ("diary/today.md", b"secret\n")]);
    let phone = token(&vault, &["phone", "--paths", "projects"]);
    let server = serve(&vault);
    let mut client = StreamClient::open(&server, &format!("/sse?token={phone}"), &[]);
    client.greet(&[]);
    let read = |file: &str| json!({ "name": "file_read", "arguments": { "file": file } });
    let plan = client.ask(&[], "tools/call", &read("projects/plan.md"));
    assert_eq!(plan["result"]["structuredContent"]["content"], "plan\n", "{plan}");
    let closed = client.ask(&[], "tools/call", &read("diary/today.md"));
    assert_eq!(closed["result"]["isError"], true, "{closed}");
    assert!(!closed.to_string().contains("secret"), "{closed}");
    assert!(vault.log()[0]["client_id"].as_str().unwrap().starts_with("http:phone:"), "{}", vault.log()[0]);
    assert!(!vault.log().iter().any(|line| line.to_string().contains(&phone)), "no token in the log");
}

#[test]
fn a_stream_belongs_to_whoever_opened_it() {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let (ada, ben) = (token(&vault, &["ada"]), token(&vault, &["ben"]));
    let server = serve(&vault);
    let (ada, ben) = (format!("Bearer {ada}"), format!("Bearer {ben}"));
    let (ada, ben) = (("Authorization", ada.as_str()), ("Authorization", ben.as_str()));
    let mut client = StreamClient::open(&server, "/sse", &[ada]);
    client.greet(&[ada]);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(client.post(&[ben], &ping), 404);
    assert_eq!(client.post(&[], &ping), 401);
    assert_eq!(client.post(&[ada], &ping), 202);
    let at = |path: &str| server.request("POST", path, &[JSON, ada], &ping.to_string()).0;
    assert_eq!(at("/messages?sessionId=00000000000000000000000000000000"), 404);
    assert_eq!(at("/messages"), 404);
    let broken = server.request("POST", &client.messages, &[JSON, ada], "{");
    assert!(broken.0 == 400 && broken.1.contains("-32700"), "{broken:?}");
    assert_eq!(server.request("GET", "/sse", &[("Origin", "http://localhost.evil.com"), ada], "").0, 403);
}

#[test]
fn without_other_tokens_one_is_made_at_start_and_it_is_served_only_when_asked_for() {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let plain = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    assert_eq!(plain.request("GET", "/sse", &[], "").0, 404);
    let server = serve(&vault);
    assert_eq!(server.request("GET", "/sse", &[], "").0, 401);
    assert_eq!(server.request("GET", "/sse?token=lap_sse_wrong", &[], "").0, 401);
    let token = server.said.iter().find_map(|line| line.split("the server ends: ").nth(1)).unwrap();
    assert!(token.starts_with("lap_sse_"), "{token}");
    let mut client = StreamClient::open(&server, &format!("/sse?token={token}"), &[]);
    client.greet(&[]);
    let listed = client.ask(&[], "tools/list", &json!({}));
    assert!(listed["result"]["tools"].is_array(), "{listed}");
}
