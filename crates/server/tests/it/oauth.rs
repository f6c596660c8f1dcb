//! The built-in authorization server in the real binary: the owner's commands, the whole way of a client, what ends when a
//! grant does, and what is never written to a log. Pages and attacks are tested in the crate itself.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Output, Stdio},
};

use lapidary_note::ContentHash;
use lapidary_tools::{TOOLS, ToolKind};
use serde_json::{Value, json};

use crate::{
    harness::{Vault, files_below},
    http::{HttpServer, modern},
    telemetry::collector,
    tokens::{FAR, WEB_SECRET, web_token},
};

pub(crate) const PASSPHRASE: &str = "a passphrase of the owner";
const CALLBACK: &str = "https://client.example/cb";
const VERIFIER: &str = "a-verifier-of-at-least-forty-three-characters-0123456789";

fn vault() -> Vault {
    Vault::new(&[
        ("projects/plan.md", b"# Plan\n\nlantern\n"),
        ("diary/today.md", b"secret thoughts\n"),
        ("Prompts/ask.md", b"---\ntags: [mcp-tools-prompt]\n---\nAsk\n"),
    ])
}

pub(crate) fn set_passphrase(vault: &Vault, passphrase: &str) -> Output {
    let mut command = vault.command();
    command.args(["owner", "set-passphrase"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{passphrase}\n").as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A server whose clients sign in.
fn serve(vault: &Vault, more: &[(&str, &str)]) -> HttpServer {
    let output = set_passphrase(vault, PASSPHRASE);
    assert!(output.status.success(), "{}", said(&output));
    HttpServer::start(vault, "127.0.0.1:0", &[&[("MCP_AUTH_MODE", "builtin")], more].concat())
}

struct RawAnswer {
    status: u16,
    head: String,
    body: String,
}

impl RawAnswer {
    fn header(&self, name: &str) -> &str {
        let start = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{} {}", self.status, self.body))
    }
}

fn ask(server: &HttpServer, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> RawAnswer {
    let mut reply = Vec::new();
    server.send(method, path, headers, body).read_to_end(&mut reply).unwrap();
    let reply = String::from_utf8(reply).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    // Names of headers are written in small letters here.
    RawAnswer { status, head: head.to_owned(), body: body.to_owned() }
}

fn encoded(pairs: &[(&str, &str)]) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    let text = |text: &str| text.bytes().map(letter).collect::<String>();
    pairs.iter().map(|(name, value)| format!("{}={}", text(name), text(value))).collect::<Vec<_>>().join("&")
}

fn challenge() -> String {
    // Base64 by hand: this crate has no other use for it in tests.
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digest = *ContentHash::of(VERIFIER.as_bytes()).as_bytes();
    let three = |part: &[u8]| {
        let number = part.iter().chain(&[0; 3]).take(3).fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
        let letters = (0..4).map(move |at| char::from(LETTERS[number >> (18 - 6 * at) & 63]));
        letters.take(part.len() + 1).collect::<String>()
    };
    digest.chunks(3).map(three).collect()
}

/// Goes the whole way as client, browser and owner; the answer of `/token`.
fn connect(server: &HttpServer, scope: &str, choices: &[(&str, &str)]) -> (String, Value) {
    let json_kind = [("Content-Type", "application/json")];
    let metadata = json!({ "redirect_uris": [CALLBACK], "client_name": "Twin" }).to_string();
    let client =
        ask(server, "POST", "/register", &json_kind, &metadata).json()["client_id"].as_str().unwrap().to_owned();
    let challenge = challenge();
    let query = encoded(&[
        ("response_type", "code"),
        ("client_id", &client),
        ("redirect_uri", CALLBACK),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("scope", scope),
    ]);
    let origin = format!("http://{}", server.address);
    let form_kind = ("Content-Type", "application/x-www-form-urlencoded");
    let sign_in = encoded(&[("action", "sign-in"), ("query", &query), ("passphrase", PASSPHRASE)]);
    let answer = ask(server, "POST", "/authorize", &[form_kind, ("Origin", &origin)], &sign_in);
    assert_eq!(answer.status, 303, "{}", answer.body);
    let cookie = answer.header("set-cookie");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let page = ask(server, "GET", &format!("/authorize?{query}"), &[("Cookie", &cookie)], "");
    let ticket = page.body.split("name=\"ticket\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let mut form = vec![("action", "consent"), ("ticket", ticket.as_str()), ("lifetime", "1d"), ("decision", "allow")];
    form.extend(choices);
    let answer =
        ask(server, "POST", "/authorize", &[form_kind, ("Origin", &origin), ("Cookie", &cookie)], &encoded(&form));
    assert_eq!(answer.status, 303, "{}", answer.body);
    let code = answer.header("location").split("code=").nth(1).unwrap().split('&').next().unwrap();
    let exchange = [
        ("grant_type", "authorization_code"),
        ("client_id", &client),
        ("code", code),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
    ];
    let answer = ask(server, "POST", "/token", &[form_kind], &encoded(&exchange));
    assert_eq!(answer.status, 200, "{}", answer.body);
    (client, answer.json())
}

/// The access token of a client that was granted this.
pub(crate) fn granted(server: &HttpServer, scope: &str, choices: &[(&str, &str)]) -> String {
    connect(server, scope, choices).1["access_token"].as_str().unwrap().to_owned()
}

const EDITOR: [(&str, &str); 2] = [("profile", "editor"), ("vault.Notes", "on")];

fn list(server: &HttpServer, token: &str) -> u16 {
    server.post(&[("Authorization", &format!("Bearer {token}"))], "tools/list", None, json!({})).0
}

#[test]
fn the_passphrase_is_read_from_standard_input_and_has_to_be_long() {
    let vault = vault();
    let short = set_passphrase(&vault, "short");
    assert_eq!(short.status.code(), Some(1));
    assert!(said(&short).contains("12 characters"), "{}", said(&short));
    let set = set_passphrase(&vault, PASSPHRASE);
    assert!(set.status.success() && set.stdout.is_empty(), "{}", said(&set));
    assert!(!said(&set).contains(PASSPHRASE));
}

#[test]
fn with_a_public_address_clients_sign_in_and_a_passphrase_is_made_and_shown_once() {
    let vault = vault();
    let public = [("MCP_PUBLIC_URL", "https://vault.example.com")];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &public);
    let shown = server.said.iter().find(|line| line.contains("your passphrase")).unwrap();
    assert_eq!(shown.rsplit(' ').next().unwrap().len(), 23, "{shown}");
    let answer = ask(&server, "GET", "/mcp", &[], "");
    let challenge = answer.header("www-authenticate");
    assert!(challenge.contains("https://vault.example.com/.well-known/oauth-protected-resource/mcp"), "{challenge}");
    drop(server);
    let again = HttpServer::start(&vault, "127.0.0.1:0", &public);
    assert!(!again.said.iter().any(|line| line.contains("passphrase")), "{:?}", again.said);
}

#[test]
fn a_passphrase_is_not_asked_for_over_a_line_that_others_can_read() {
    let vault = vault();
    for (address, url) in [("127.0.0.1:0", "http://vault.example.com"), ("0.0.0.0:0", "")] {
        let mut command = vault.command();
        command.arg("--vault").arg(vault.path()).args(["serve", "--http", address]).env("MCP_AUTH_MODE", "builtin");
        if !url.is_empty() {
            command.env("MCP_PUBLIC_URL", url);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("not encrypted"), "{}", said(&output));
    }
}

#[test]
fn without_an_authorization_server_nothing_pretends_to_be_one() {
    let vault = vault();
    for mode in ["none", "bearer"] {
        let server = HttpServer::start(&vault, "127.0.0.1:0", &[("MCP_AUTH_MODE", mode)]);
        for path in [
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-authorization-server",
            "/.well-known/openid-configuration",
            "/authorize",
            "/token",
            "/register",
        ] {
            assert_eq!(server.request("GET", path, &[], "").0, 404, "{mode} {path}");
        }
    }
}

#[test]
fn the_owner_sees_a_grant_and_takes_it_back_and_everything_of_it_ends() {
    let vault = vault();
    let server = serve(&vault, &[]);
    let token = granted(&server, "vault:read vault:write", &EDITOR);
    assert_eq!(list(&server, &token), 200);
    let listed = |words: &[&str]| vault.command().args(["token", "list"]).args(words).output().unwrap();
    let table = String::from_utf8(listed(&[]).stdout).unwrap();
    assert!(table.contains("oauth-1") && table.contains("Twin") && table.contains("editor"), "{table}");
    let (mut headers, body) = modern("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let bearer = format!("Bearer {token}");
    headers.push(("Authorization", &bearer));
    let mut stream = BufReader::new(server.send("POST", "/mcp", &headers, &body));
    let mut first = String::new();
    stream.read_line(&mut first).unwrap();
    assert!(first.contains("200"), "{first}");
    let session = server.session_with(&[("Authorization", &bearer)]);
    let revoked = vault.command().args(["token", "revoke", "oauth-1"]).output().unwrap();
    assert!(revoked.status.success(), "{}", said(&revoked));
    assert_eq!(list(&server, &token), 401);
    let mut rest = String::new();
    stream.read_to_string(&mut rest).expect("the stream ends");
    let deleted = server.request("DELETE", "/mcp", &[("Authorization", &bearer), ("mcp-session-id", &session)], "");
    assert_eq!(deleted.0, 401);
    assert_eq!(vault.command().args(["token", "revoke", "oauth-1"]).output().unwrap().status.code(), Some(1));
    let all: Value = serde_json::from_slice(&listed(&["--all", "--json"]).stdout).unwrap();
    let grant = &all["tokens"][0];
    assert_eq!(
        (&grant["state"], &grant["revokedBy"], &grant["client"]["name"]),
        (&json!("revoked"), &json!("owner"), &json!("Twin"))
    );
}

/// What `lapidary token log` shows, as kind and subject.
fn happened(vault: &Vault) -> Vec<(String, String)> {
    let output = vault.command().args(["token", "log", "--json"]).output().unwrap();
    let log: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    let text = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
    log["events"].as_array().unwrap().iter().map(|event| (text(event, "event"), text(event, "subject"))).collect()
}

#[test]
fn the_owner_can_read_who_signed_in_was_granted_used_and_lost_access() {
    let vault = vault();
    assert_eq!(happened(&vault), []);
    let server = serve(&vault, &[]);
    let origin = format!("http://{}", server.address);
    let form_kind = ("Content-Type", "application/x-www-form-urlencoded");
    let (client, tokens) = connect(&server, "vault:read", &[("profile", "reader"), ("vault.Notes", "on")]);
    let wrong = encoded(&[
        ("action", "sign-in"),
        ("query", &encoded(&[("client_id", &client), ("redirect_uri", CALLBACK)])),
        ("passphrase", "lap_os_a guess that is not it"),
    ]);
    assert_eq!(ask(&server, "POST", "/authorize", &[form_kind, ("Origin", &origin)], &wrong).status, 403);
    assert_eq!(server.request("GET", "/mcp", &[("Origin", "https://evil.example")], "").0, 403);
    let token = vault.command().args(["token", "create", "phone"]).output().unwrap();
    let token = String::from_utf8(token.stdout).unwrap().trim().to_owned();
    assert_eq!(list(&server, &token), 200);
    assert!(vault.command().args(["token", "revoke", "phone"]).output().unwrap().status.success());
    let access = tokens["access_token"].as_str().unwrap();
    let end = encoded(&[("token", access), ("client_id", &client)]);
    assert_eq!(ask(&server, "POST", "/revoke", &[form_kind], &end).status, 200);
    // The first use of a token and a refused page are written in the background.
    let expected = [
        ("passphrase_set", ""),
        ("client_registered", "Twin"),
        ("signed_in", ""),
        ("granted", "oauth-1 Twin"),
        ("first_used", "oauth-1 Twin"),
        ("wrong_passphrase", ""),
        ("origin_refused", "https://evil.example"),
        ("token_created", "phone"),
        ("first_used", "phone"),
        ("revoked", "phone"),
        ("ended_by_client", "oauth-1 Twin"),
    ];
    let mut expected = expected.map(|(kind, subject)| (kind.to_owned(), subject.to_owned()));
    expected.sort();
    let mut seen = Vec::new();
    let end = std::time::Instant::now() + crate::harness::patience();
    while seen != expected && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(50));
        seen = happened(&vault);
        seen.sort();
    }
    assert_eq!(seen, expected);
    let table = vault.command().args(["token", "log"]).output().unwrap();
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("owner signed in") && table.contains("127.0.0.1"), "{table}");
    assert!(!table.contains("lap_") && !table.contains("guess"), "no secret is in it: {table}");
}

#[test]
fn no_token_of_the_owner_can_be_called_like_a_grant() {
    let vault = vault();
    let output = vault.command().args(["token", "create", "oauth-1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn a_grant_that_survives_a_restart_acts_under_its_own_name() {
    let vault = vault();
    let server = serve(&vault, &[]);
    let token = granted(&server, "vault:read", &[("profile", "reader"), ("vault.Notes", "on")]);
    drop(server);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("MCP_AUTH_MODE", "builtin")]);
    let params = json!({ "name": "file_read", "arguments": { "file": "projects/plan.md" } });
    let bearer = format!("Bearer {token}");
    let (status, body) = server.post(&[("Authorization", &bearer)], "tools/call", Some("file_read"), params);
    assert_eq!(status, 200, "{body}");
    assert_eq!(vault.log()[0]["client_id"], "http:oauth-1:~test");
}

/// Goes through the flow and plants secrets in everything that a client can send. None is in what others can read: the log at
/// its lowest level, whose lines are returned, what a collector of telemetry gets, and the page of metrics.
fn left_behind(format: &str) -> Vec<String> {
    let vault = vault();
    let logs = tempfile::tempdir().unwrap();
    let folder = logs.path().join("logs");
    let (collector, received) = collector();
    let environment = [
        ("MCP_LOG_LEVEL", "trace"),
        ("LAPIDARY_LOG_FORMAT", format),
        ("LOGS_DIR", folder.to_str().unwrap()),
        ("OTEL_ENABLED", "true"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.as_str()),
        ("LAPIDARY_METRICS", "true"),
    ];
    let server = serve(&vault, &environment);
    let (client, tokens) = connect(&server, "vault:read", &[("profile", "reader"), ("vault.Notes", "on")]);
    let secrets = ["access_token", "refresh_token"].map(|name| tokens[name].as_str().unwrap().to_owned());
    let bearer = format!("Bearer {}", secrets[0]);
    for (tool, arguments) in [
        ("file_read", json!({ "file": "diary/today.md" })),
        ("search_content", json!({ "query": "zqmarksearch" })),
        ("zqmarktool", json!({ "zqmarkkey": "zqmarkvalue" })),
    ] {
        let trace = ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        let headers = [
            ("Authorization", bearer.as_str()),
            trace,
            ("tracestate", "zqmark=zqmarkstate"),
            ("baggage", "zqmark=zqmark"),
        ];
        server.post(&headers, "tools/call", Some(tool), json!({ "name": tool, "arguments": arguments }));
    }
    server.post(&[("Authorization", "Bearer zqmarktoken")], "tools/list", None, json!({}));
    let form_kind = [("Content-Type", "application/x-www-form-urlencoded")];
    let refresh = [("grant_type", "refresh_token"), ("client_id", client.as_str()), ("refresh_token", &secrets[1])];
    ask(&server, "POST", "/token", &form_kind, &encoded(&refresh));
    ask(
        &server,
        "GET",
        &format!("/authorize?state=zqmarkstate&client_id={}", secrets[0]),
        &[("Cookie", "lapidary-owner=zqmarkcookie"), ("Referer", "https://zqmark.example/zqmarkpage")],
        "",
    );
    ask(&server, "POST", "/revoke", &form_kind, &encoded(&[("token", &secrets[0]), ("client_id", &client)]));
    let wrong = [("action", "sign-in"), ("query", "client_id=zqmarkid"), ("passphrase", "zqmarkpassphrase-of-someone")];
    ask(&server, "POST", "/authorize", &form_kind, &encoded(&wrong));
    let metrics = ask(&server, "GET", "/metrics", &[], "").body;
    assert!(metrics.contains("lapidary_calls_total{tool=\"file_read\",outcome=\"ok\"} 1"), "{metrics}");
    // Traces are sent after a while.
    let mut traced = String::new();
    while !["file_read", "search_content", "other"]
        .iter()
        .all(|name| traced.contains(&format!("tool_execution:{name}")))
    {
        let (_, body) = received.recv_timeout(std::time::Duration::from_secs(120)).expect("traces of all calls");
        traced += &String::from_utf8_lossy(&body);
    }
    drop(server);
    let log: String = files_below(&folder).into_values().map(|bytes| String::from_utf8(bytes).unwrap()).collect();
    assert!(log.contains("signed in") && log.contains("wrong passphrase"), "{log}");
    let lines: Vec<String> = log.lines().chain(metrics.lines()).map(str::to_owned).collect();
    for secret in secrets.iter().map(String::as_str).chain([
        PASSPHRASE, VERIFIER, "lap_at_", "lap_rt_", "lap_ac_", "lap_os_", "lap_ct_", "zqmark", "diary", "thoughts",
    ]) {
        let line = lines.iter().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret} is in the log or the metrics");
        assert!(!traced.contains(secret), "{secret} is in a trace");
    }
    log.lines().map(str::to_owned).collect()
}

#[test]
fn no_secret_of_the_flow_gets_into_a_log_a_trace_or_the_metrics() {
    left_behind("plain");
    for line in left_behind("json") {
        let line: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(line["target"].as_str().unwrap().starts_with("lapidary"), "{line}");
    }
}

/// Whether a tool changes nothing itself.
fn reads(tool: &str) -> bool {
    let spec = TOOLS.iter().map(|tool| tool.spec()).find(|spec| spec.name() == tool).unwrap();
    !matches!(spec.kind, ToolKind::Write | ToolKind::Batch)
}

/// Everything that a caller is not offered, tried nevertheless.
fn nothing_beyond_the_offer(server: &HttpServer, token: &str, is_offered: &dyn Fn(&str) -> bool) {
    let bearer = format!("Bearer {token}");
    let own = [("Authorization", bearer.as_str())];
    let listed = |method: &str, items: &str, name: &str| -> Vec<String> {
        let (status, body) = server.post(&own, method, None, json!({}));
        assert_eq!(status, 200, "{body}");
        let body: Value = serde_json::from_str(&body).unwrap();
        let items = body["result"][items].as_array().cloned().unwrap_or_default();
        items.iter().map(|item| item[name].as_str().unwrap().to_owned()).collect()
    };
    let tools = listed("tools/list", "tools", "name");
    for tool in TOOLS.iter().map(|tool| tool.spec().name()) {
        assert!(!tools.contains(&tool.to_owned()) || is_offered(tool), "{tool} is listed");
        if is_offered(tool) {
            continue;
        }
        let calls = [
            (tool, json!({ "name": tool, "arguments": {} })),
            ("call_tool", json!({ "name": "call_tool", "arguments": { "name": tool, "arguments": {} } })),
        ];
        for (name, params) in calls {
            let (status, body) = server.post(&own, "tools/call", Some(name), params);
            let refused = status == 403
                || body.contains("Insufficient permissions")
                || body.contains("insufficient_scope")
                || body.contains("tool_disabled")
                || body.contains("tool_unknown");
            assert!(refused, "{name} of {tool}: {status} {body}");
        }
    }
}

#[test]
fn scopes_decide_what_is_seen_called_read_completed_and_subscribed_to() {
    let vault = vault();
    let environment = [("MCP_AUTH_MODE", "jwt"), ("MCP_AUTH_SECRET_KEY", WEB_SECRET)];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &environment);
    let token = |scopes: &str| web_token(&json!({ "cid": "phone", "scope": scopes, "exp": FAR }));
    nothing_beyond_the_offer(&server, &token("vault:read"), &reads);
    nothing_beyond_the_offer(&server, &token("tool:file_read:read"), &|tool| tool == "file_read");
    nothing_beyond_the_offer(&server, &token("openid profile"), &|_| false);
    // What is not a tool has its own scopes.
    let uri = "obsidian://vault/projects/plan.md";
    let complete = json!({
        "ref": { "type": "ref/resource", "uri": "obsidian://vault/{+path}" },
        "argument": { "name": "path", "value": "pro" },
    });
    let wish = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    for (scopes, notes, prompts) in [
        ("vault:read", true, true),
        ("tool:file_read:read", false, false),
        ("resource:obsidian-vault-note:read", true, true),
        ("resource:obsidian-tags:read", false, true),
        ("openid", false, false),
    ] {
        let bearer = format!("Bearer {}", token(scopes));
        let own = [("Authorization", bearer.as_str())];
        let read = server.post(&own, "resources/read", Some(uri), json!({ "uri": uri })).1;
        assert_eq!(read.contains("lantern"), notes, "{scopes}: {read}");
        let listed = server.post(&own, "prompts/list", None, json!({})).1;
        assert_eq!(listed.contains("\"ask\"") || listed.contains("Ask"), prompts, "{scopes}: {listed}");
        let completed = server.post(&own, "completion/complete", None, complete.clone()).1;
        assert!(!completed.contains("plan.md") || notes || prompts, "{scopes}: {completed}");
        let (mut headers, body) = modern("subscriptions/listen", wish.clone());
        headers.push(own[0]);
        let lines = BufReader::new(server.send("POST", "/mcp", &headers, &body)).lines().map_while(Result::ok);
        let mut lines = lines.filter(|line| line.starts_with("data: ") || line.starts_with('{'));
        let first = lines.next().unwrap_or_default();
        assert_eq!(first.contains("plan.md"), notes, "{scopes}: {first}");
    }
}

#[test]
fn a_grant_is_offered_what_the_owner_chose_and_can_use_nothing_else() {
    let vault = vault();
    let server = serve(&vault, &[]);
    let reader = granted(&server, "vault:read vault:write", &[("profile", "reader"), ("vault.Notes", "on")]);
    nothing_beyond_the_offer(&server, &reader, &reads);
    let read_only = [EDITOR[0], EDITOR[1], ("read_only", "on"), ("folders", "projects")];
    let read_only = granted(&server, "vault:read vault:write", &read_only);
    nothing_beyond_the_offer(&server, &read_only, &reads);
    assert_eq!(vault.read("projects/plan.md"), b"# Plan\n\nlantern\n");
}
