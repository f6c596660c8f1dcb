//! Who may call over HTTP: tokens that the owner makes and takes back, and JSON web tokens with scopes.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    process::{Output, Stdio},
};

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair},
};
use jsonwebtoken::{Algorithm, EncodingKey, Header, jwk::Jwk};
use serde_json::{Value, json};

use crate::{
    harness::Vault,
    http::{HttpServer, modern},
};

fn vault() -> Vault {
    Vault::new(&[("projects/plan.md", b"# Plan\n"), ("diary/today.md", b"secret thoughts\n")])
}

fn token(vault: &Vault, words: &[&str]) -> Output {
    vault.command().arg("token").args(words).output().unwrap()
}

fn made(vault: &Vault, words: &[&str]) -> String {
    let output = token(vault, &[&["create"], words].concat());
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn listed(vault: &Vault, words: &[&str]) -> Vec<Value> {
    let output = token(vault, &[&["list", "--json"], words].concat());
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["tokens"].as_array().unwrap().clone()
}

/// One call of a client with this token; status and answer.
fn call(server: &HttpServer, token: Option<&str>, tool: &str, arguments: &Value) -> (u16, Value) {
    let bearer = token.map(|token| format!("Bearer {token}"));
    let headers: Vec<(&str, &str)> = bearer.iter().map(|bearer| ("Authorization", bearer.as_str())).collect();
    let (status, body) =
        server.post(&headers, "tools/call", Some(tool), json!({ "name": tool, "arguments": arguments }));
    (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
}

fn read(server: &HttpServer, token: Option<&str>, file: &str) -> (u16, Value) {
    call(server, token, "file_read", &json!({ "file": file }))
}

fn tools(server: &HttpServer, token: &str) -> Vec<String> {
    let bearer = format!("Bearer {token}");
    let (status, body) = server.post(&[("Authorization", &bearer)], "tools/list", None, json!({}));
    assert_eq!(status, 200, "{body}");
    let body: Value = serde_json::from_str(&body).unwrap();
    let tools = body["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_token_limits_its_client_even_where_none_is_required() {
    let vault = vault();
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let token_text = made(&vault, &["phone", "--profile", "reader", "--paths", "projects/"]);
    assert_eq!(read(&server, None, "diary/today.md").0, 200);
    let (_, closed) = read(&server, Some(&token_text), "diary/today.md");
    assert_eq!(closed["result"]["isError"], true, "{closed}");
    assert!(!tools(&server, &token_text).contains(&"str_replace".to_owned()));
    assert!(token(&vault, &["revoke", "phone"]).status.success());
    assert_eq!(read(&server, Some(&token_text), "projects/plan.md").0, 401, "a revoked token is not full access");
}

#[test]
fn a_token_has_its_own_profile_and_folders_and_nothing_is_served_without_one() {
    let vault = vault();
    let token =
        made(&vault, &["phone", "--profile", "reader", "--paths", "projects/", "--vault", "Notes", "--expires", "30d"]);
    assert!(token.starts_with("lap_pat_"), "{token}");
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let (status, answer) = read(&server, Some(&token), "projects/plan.md");
    assert_eq!((status, &answer["result"]["structuredContent"]["content"]), (200, &json!("# Plan\n")));
    let (_, closed) = read(&server, Some(&token), "diary/today.md");
    assert_eq!(closed["result"]["isError"], true, "{closed}");
    assert!(!closed.to_string().contains("thoughts"), "{closed}");
    let (_, denied) =
        call(&server, Some(&token), "str_replace", &json!({ "file": "projects/plan.md", "find": "P", "replace": "p" }));
    assert_eq!(denied["result"]["structuredContent"]["error"]["reason"], "tool_disabled", "{denied}");
    assert!(!tools(&server, &token).contains(&"str_replace".to_owned()));
    let mut mistyped = token.clone();
    mistyped.replace_range(20..21, if &token[20..21] == "x" { "y" } else { "x" });
    for wrong in [None, Some(mistyped.as_str()), Some("lap_pat_short"), Some("é")] {
        let (status, refusal) = read(&server, wrong, "projects/plan.md");
        assert_eq!(status, 401, "{wrong:?}");
        // A header that is not ASCII is not read as a token at all.
        let was_read = wrong.is_some_and(|token| token.is_ascii());
        let told = if was_read { "The token is not valid" } else { "This server needs a token" };
        assert!(refusal["error"]["message"].as_str().unwrap().starts_with(told), "{wrong:?}: {refusal}");
    }
    assert_eq!(vault.log()[0]["client_id"], "http:phone:~test");
    let known = &listed(&vault, &[])[0];
    assert_eq!(
        (&known["name"], &known["state"], &known["rights"]["profile"]),
        (&json!("phone"), &json!("live"), &json!("reader"))
    );
    assert!(!known.to_string().contains(&token) && !said(&self::token(&vault, &["list"])).contains(&token));
}

#[test]
fn the_vault_of_a_token_is_found_in_any_case_and_a_misspelt_one_is_refused() {
    let vault = vault();
    let listed = json!({ "vaults": { "a": { "path": vault.path() } } }).to_string();
    let list = vault.path().parent().unwrap().join(".config/obsidian/obsidian.json");
    std::fs::create_dir_all(list.parent().unwrap()).unwrap();
    std::fs::write(list, listed).unwrap();
    let text = made(&vault, &["phone", "--vault", "notes"]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let (status, answer) = read(&server, Some(&text), "projects/plan.md");
    assert_eq!((status, &answer["result"]["structuredContent"]["content"]), (200, &json!("# Plan\n")), "{answer}");

    let misspelt = token(&vault, &["create", "tablet", "--vault", "Nots"]);
    assert_eq!(misspelt.status.code(), Some(2));
    assert!(said(&misspelt).contains("there is no vault 'Nots'; did you mean 'Notes'?"), "{}", said(&misspelt));
    // Perhaps of a server that is given it elsewhere.
    let elsewhere = token(&vault, &["create", "desk", "--vault", "family"]);
    assert!(elsewhere.status.success() && said(&elsewhere).contains("'family'; the token opens nothing until"));
}

#[test]
fn a_revoked_token_is_refused_at_once_by_a_server_that_runs() {
    let vault = vault();
    let (phone, desk) = (made(&vault, &["phone"]), made(&vault, &["desk", "--expires", "never"]));
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let bearer = format!("Bearer {phone}");
    let session = server.session_with(&[("Authorization", &bearer)]);
    assert_eq!(read(&server, Some(&phone), "projects/plan.md").0, 200);
    assert!(token(&vault, &["revoke", "phone"]).status.success());
    let (status, answer) = read(&server, Some(&phone), "projects/plan.md");
    assert_eq!((status, &answer["error"]["code"]), (401, &json!(-32001)), "{answer}");
    assert_eq!(read(&server, Some(&desk), "projects/plan.md").0, 200);
    assert_eq!(token(&vault, &["revoke", "phone"]).status.code(), Some(1));
    // A later token of the same name is another client: the session is not its own.
    let again = format!("Bearer {}", made(&vault, &["phone"]));
    let listed = server.request("DELETE", "/mcp", &[("Authorization", &again), ("mcp-session-id", &session)], "");
    assert_eq!(listed.0, 404, "{listed:?}");
    // One that is made while the server runs counts at once.
    let late = made(&vault, &["late"]);
    assert_eq!(read(&server, Some(&late), "projects/plan.md").0, 200);
}

#[test]
fn what_is_no_token_is_refused_with_what_to_write() {
    let vault = vault();
    made(&vault, &["phone"]);
    for (words, part) in [
        (&["create", "phone"][..], "already"),
        (&["create", "my phone"], "letters"),
        (&["create", "a", "--profile", "boss"], "curator"),
        (&["create", "a", "--paths", "../x"], "paths"),
        (&["create", "a", "--expires", "soon"], "30d"),
    ] {
        let output = token(&vault, words);
        assert_ne!(output.status.code(), Some(0), "{words:?}");
        assert!(said(&output).contains(part), "{words:?}: {}", said(&output));
        assert!(output.stdout.is_empty());
    }
    assert_eq!(listed(&vault, &["--all"]).len(), 1);
}

#[test]
fn what_is_said_at_the_start_connects_a_client_that_needs_a_token() {
    let vault = vault();
    let said = || {
        let mut command = vault.command();
        command.arg("--vault").arg(vault.path()).args(["--http", "127.0.0.1:0"]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let said: Vec<String> = lines.take_while(|line| !line.contains("in a browser")).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        said.join("\n")
    };
    assert!(!said().contains("LAPIDARY_TOKEN"));
    made(&vault, &["phone"]);
    let with_token = said();
    for part in ["--header \"Authorization: Bearer $LAPIDARY_TOKEN\"", "--bearer-token-env-var LAPIDARY_TOKEN"] {
        assert!(with_token.contains(part), "{with_token}");
    }
}

#[test]
fn the_last_token_taken_back_does_not_open_the_server() {
    let vault = vault();
    made(&vault, &["phone"]);
    assert!(token(&vault, &["revoke", "phone"]).status.success());
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    assert_eq!(read(&server, None, "projects/plan.md").0, 401);
    let open = HttpServer::start(&vault, "127.0.0.1:0", &[("MCP_AUTH_MODE", "none")]);
    assert_eq!(read(&open, None, "projects/plan.md").0, 200);
}

#[test]
fn other_computers_are_not_served_unless_somebody_is_asked() {
    let vault = vault();
    let start = |environment: &[(&str, &str)], flags: &[&str]| {
        let mut command = vault.command();
        command.arg("--vault").arg(vault.path()).args(["serve", "--http", "0.0.0.0:0"]).args(flags);
        command.envs(environment.iter().copied());
        command
    };
    for environment in [&[][..], &[("MCP_AUTH_MODE", "none")]] {
        let output = start(environment, &[]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("--insecure-no-auth") && said(&output).contains("0.0.0.0"), "{}", said(&output));
    }
    drop(HttpServer::start_command(start(&[], &["--insecure-no-auth"])));
    made(&vault, &["phone"]);
    drop(HttpServer::start_command(start(&[], &[])));
}

#[cfg(unix)]
#[test]
fn the_tokens_are_kept_as_hashes_that_only_the_owner_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let vault = vault();
    let token = made(&vault, &["phone"]);
    let state = vault.path().with_file_name("state");
    let files = crate::harness::files_below(&state);
    assert!(files.contains_key("auth.db"), "{:?}", files.keys());
    for (name, bytes) in files {
        let mode = std::fs::metadata(state.join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
        let found = bytes.windows(token.len()).any(|window| window == token.as_bytes());
        assert!(!found, "{name} holds the token");
    }
}

/// Signed with HMAC-SHA256 by Python, so that not only our own code agrees with itself.
pub(crate) fn web_token(claims: &Value) -> String {
    let script = "import sys,hmac,hashlib,base64,json\n\
                  b=lambda x:base64.urlsafe_b64encode(x).rstrip(b'=')\n\
                  s=b(b'{\"alg\":\"HS256\",\"typ\":\"JWT\"}')+b'.'+b(sys.argv[1].encode())\n\
                  print((s+b'.'+b(hmac.new(sys.argv[2].encode(),s,hashlib.sha256).digest())).decode())";
    let output =
        std::process::Command::new("python3").args(["-c", script, &claims.to_string(), WEB_SECRET]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// An authorization server that is not ours, as far as a resource server sees it: a set of keys, and tokens.
pub(crate) struct ForeignIssuer {
    pub(crate) url: String,
    key: EncodingKey,
}

impl ForeignIssuer {
    /// Answers everyone who asks for its keys, until the tests end.
    pub(crate) fn start() -> Self {
        let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).unwrap();
        let key = EncodingKey::from_ec_der(pair.as_ref());
        let public = Jwk::from_encoding_key(&key, Algorithm::ES256).unwrap();
        let set = json!({ "keys": [public] }).to_string();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                let mut head = BufReader::new(&connection).lines().map_while(Result::ok);
                while head.next().is_some_and(|line| !line.is_empty()) {}
                let length = set.len();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}");
                drop(connection.write_all(format!("{head}\r\nConnection: close\r\n\r\n{set}").as_bytes()));
            }
        });
        Self { url, key }
    }

    pub(crate) fn settings(&self) -> [(&'static str, String); 4] {
        [
            ("MCP_AUTH_MODE", "oauth".to_owned()),
            ("OAUTH_ISSUER_URL", self.url.clone()),
            ("OAUTH_AUDIENCE", "notes".to_owned()),
            ("OAUTH_JWKS_URI", format!("{}/keys", self.url)),
        ]
    }

    pub(crate) fn token(&self, scope: &str) -> String {
        let claims = json!({ "iss": self.url, "aud": "notes", "client_id": "phone", "scope": scope, "exp": FAR });
        jsonwebtoken::encode(&Header::new(Algorithm::ES256), &claims, &self.key).unwrap()
    }
}

pub(crate) const WEB_SECRET: &str = "a-shared-secret-of-more-than-32-characters";
pub(crate) const FAR: i64 = 4_000_000_000;

#[test]
fn a_web_token_is_good_for_what_its_scopes_say() {
    let vault = vault();
    let environment = [("MCP_AUTH_MODE", "jwt"), ("MCP_AUTH_SECRET_KEY", WEB_SECRET)];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &environment);
    let scopes = ["tool:obsidian_get_note:read", "tool:obsidian_delete_note:write", "group:vault"];
    let token = web_token(&json!({ "cid": "phone", "sub": "ada", "scp": scopes, "exp": FAR }));
    let shown = tools(&server, &token);
    assert!(
        shown.contains(&"obsidian_get_note".to_owned()) && shown.contains(&"obsidian_list_notes".to_owned()),
        "{shown:?}"
    );
    assert!(
        !shown.contains(&"obsidian_write_note".to_owned()) && !shown.contains(&"call_tool".to_owned()),
        "{shown:?}"
    );
    let target = json!({ "type": "path", "path": "projects/plan.md" });
    let (_, got) = call(&server, Some(&token), "obsidian_get_note", &json!({ "format": "content", "target": target }));
    assert_ne!(got["result"]["isError"], true, "{got}");
    let (status, denied) = call(
        &server,
        Some(&token),
        "obsidian_write_note",
        &json!({ "target": target, "content": "x", "overwrite": true }),
    );
    assert_eq!(status, 200);
    let error = &denied["result"]["structuredContent"]["error"];
    assert_eq!((&error["code"], &error["message"]), (&json!(-32005), &json!("Insufficient permissions.")), "{denied}");
    // Other operations have their own scopes.
    let bearer = format!("Bearer {token}");
    let resource = |uri: &str| {
        let params = json!({ "uri": uri });
        server.post(&[("Authorization", &bearer)], "resources/read", Some(uri), params).1
    };
    assert!(resource("obsidian://vault/projects/plan.md").contains("-32005"));
    assert!(resource("obsidian://tags").contains("\"contents\""), "{}", resource("obsidian://tags"));
    assert_eq!(vault.log()[0]["client_id"], "jwt:phone/ada:~test");
    assert_eq!(vault.read("projects/plan.md"), b"# Plan\n");
}

#[test]
fn a_web_token_that_does_not_count_is_refused_in_the_words_of_the_original() {
    let vault = vault();
    let environment =
        [("MCP_AUTH_MODE", "jwt"), ("MCP_AUTH_SECRET_KEY", WEB_SECRET), ("MCP_JWT_EXPECTED_AUDIENCE", "notes")];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &environment);
    let good = json!({ "client_id": "c", "scope": "vault:read", "aud": "notes", "exp": FAR });
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        Some(web_token(&claims))
    };
    assert_eq!(read(&server, Some(&web_token(&good)), "projects/plan.md").0, 200);
    for (token, message) in [
        (None, "Missing or invalid Authorization header. Bearer scheme required."),
        (with("client_id", json!("")), "Invalid token: missing 'cid' or 'client_id' claim."),
        (with("scope", json!("")), "Token must contain valid, non-empty scopes."),
        (with("exp", json!(1_000_000_000)), "Token has expired."),
        (with("aud", json!("other")), "Token verification failed."),
        (Some(made(&vault, &["phone"])), "Token verification failed."),
    ] {
        let (status, answer) = read(&server, token.as_deref(), "projects/plan.md");
        assert_eq!(
            (status, &answer["error"]["code"], &answer["error"]["message"]),
            (401, &json!(-32006), &json!(message))
        );
    }
}

#[test]
fn scopes_can_be_left_out_of_account_and_the_log_warns() {
    let vault = vault();
    let mut command = vault.command();
    command.arg("--vault").arg(vault.path()).args(["--http", "127.0.0.1:0"]).envs([
        ("MCP_AUTH_MODE", "jwt"),
        ("MCP_AUTH_SECRET_KEY", WEB_SECRET),
        ("MCP_AUTH_DISABLE_SCOPE_CHECKS", "true"),
        ("LOGS_DIR", "logs"),
    ]);
    let server = HttpServer::start_command(command);
    let token = web_token(&json!({ "cid": "phone", "scp": ["openid"], "exp": FAR }));
    assert!(tools(&server, &token).contains(&"obsidian_write_note".to_owned()));
    let log = std::fs::read_to_string(vault.path().with_file_name("logs").join("lapidary.log")).unwrap();
    assert!(log.contains("MCP_AUTH_DISABLE_SCOPE_CHECKS"), "{log}");
}

#[test]
fn a_token_that_is_sent_twice_is_refused() {
    let vault = vault();
    let token = format!("Bearer {}", made(&vault, &["phone"]));
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let (mut headers, body) = modern("tools/list", json!({}));
    headers.extend([("Authorization", token.as_str()), ("Authorization", "Bearer other")]);
    assert_eq!(server.request("POST", "/mcp", &headers, &body).0, 400);
}
