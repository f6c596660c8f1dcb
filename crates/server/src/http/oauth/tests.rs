//! The authorization server as browsers and programs see it, in this process.

mod attacks;
mod documents;
mod flow;
mod resource_server;

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Method, Request, StatusCode, header},
};
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lapidary_auth::{AuthStore, SecretText, UnixSeconds, percent_encoded};
use lapidary_note::ContentHash;
use lapidary_pipeline::Clock;
use lapidary_telemetry::Telemetry;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use tower::ServiceExt;

use super::{outgoing_fetch::tests::FakeHost, *};
use crate::{
    assemble::{ExecutorPurpose, assemble},
    cli, commands,
    environment::ProcessEnvironment,
    http::{self, ClientCheck, KnownClients},
    mcp::{Connection, McpServer},
};

const ORIGIN: &str = "https://vault.example";
const PASSPHRASE: &str = "correct horse battery";
const CALLBACK: &str = "https://client.example/cb";
const VERIFIER: &str = "a-verifier-of-at-least-forty-three-characters-0123456789";

/// A server with the authorization server, and a browser of its owner.
struct Trial {
    router: Router,
    /// Where it is not another's.
    server: Option<Arc<AuthorizationServer>>,
    store: Arc<AuthStore>,
    /// Of the owner's browser.
    cookie: Option<String>,
    _stop: watch::Sender<bool>,
    place: TempDir,
}

/// An answer, as far as tests look at it.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The parameters of the address to which it sends a browser.
    fn returned(&self) -> BTreeMap<String, String> {
        assert_eq!(self.status, StatusCode::SEE_OTHER, "{self:?}");
        let (_, query) = self.header("location").split_once('?').unwrap();
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap();
            (name.to_owned(), form_decoded(value).unwrap())
        };
        query.split('&').map(pair).collect()
    }

    /// The value of a hidden field.
    fn field(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let (_, rest) = self.body.split_once(&start).unwrap_or_else(|| panic!("no {name} in {}", self.body));
        rest.split('"').next().unwrap().replace("&amp;", "&").replace("&quot;", "\"")
    }
}

fn encoded(pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{}={}", percent_encoded(name), percent_encoded(value))).collect();
    pairs.join("&")
}

/// Replaces values by name, and adds the others. An empty value leaves one out.
fn changed<'a>(pairs: &[(&'a str, &'a str)], changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let kept = pairs.iter().filter(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
    kept.chain(changes).filter(|(_, value)| !value.is_empty()).copied().collect()
}

fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(ContentHash::of(verifier.as_bytes()).as_bytes())
}

/// Nothing can be fetched.
fn no_way_out() -> OutgoingFetch {
    let host = FakeHost::answering("HTTP/1.1 503 Away\r\nContent-Length: 0\r\n\r\n");
    host.fetch()
}

fn trial() -> Trial {
    Trial::start(&[], no_way_out())
}

impl Trial {
    fn start(environment: &[(&str, &str)], fetch: OutgoingFetch) -> Self {
        let check = |store: &Arc<AuthStore>| ClientCheck::BuiltIn { configured: [].into(), store: Arc::clone(store) };
        Self::checking(environment, fetch, check)
    }

    #[expect(clippy::disallowed_methods, reason = "makes the vault of a test")]
    fn checking(
        environment: &[(&str, &str)],
        fetch: OutgoingFetch,
        check: impl FnOnce(&Arc<AuthStore>) -> ClientCheck,
    ) -> Self {
        let place = tempfile::tempdir().unwrap();
        for (vault, file) in [("Notes", "plan.md"), ("Notes", "projects/a.md"), ("Home", "list.md")] {
            let file = place.path().join(vault).join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "# Plan\n\nlantern\n").unwrap();
        }
        let vault = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
        let words = ["lapidary", "serve", "--http", "127.0.0.1:0", "--public-url", ORIGIN, "--vault"];
        let words = words.map(str::to_owned).into_iter().chain([vault("Notes"), "--vault".to_owned(), vault("Home")]);
        let invocation = cli::parse(words).unwrap();
        let mut variables: BTreeMap<String, String> =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        variables.insert("HOME".to_owned(), place.path().to_str().unwrap().to_owned());
        variables.insert("LAPIDARY_STATE_DIR".to_owned(), vault("state"));
        let surroundings = ProcessEnvironment::new(variables, place.path().to_owned());
        let config = commands::configure(&invocation, &surroundings).unwrap().config;
        let purpose = ExecutorPurpose { every_profile: false, waits_for_index: false };
        let assembled = assemble(&config, purpose).unwrap();
        let store = Arc::clone(&assembled.auth);
        store.set_passphrase(&SecretText::new(PASSPHRASE.to_owned()), &[1; 32], UnixSeconds(1)).unwrap();
        let (grants, owner) = (Arc::clone(&assembled.grants), Arc::clone(&store));
        let clients = KnownClients { check: check(&store), grants, clock: Clock::system(), owner };
        let sign_in_page = Arc::new(OwnerSignIn::new(Arc::clone(&store), Clock::system(), Vec::new()));
        let (stop, stopping) = watch::channel(false);
        let documents = http::public_documents(&clients, &config.http, ORIGIN);
        let server = http::authorization_server(&clients, &config.http, ORIGIN, &sign_in_page, fetch);
        let own = server.clone().map(AuthorizationServer::routes).unwrap_or_default();
        let pages = documents.as_ref().unwrap().routes().merge(own);
        let mcp = McpServer::new(Arc::clone(&assembled.executor), false, Connection::Http, Telemetry::default(), None);
        let challenge = http::challenge(documents.as_ref());
        let endpoint = http::endpoint(&assembled.executor, mcp, &config.http, clients, challenge, stopping);
        let router = http::router(endpoint, None, pages, ORIGIN, &config.http);
        Self { router, server, store, cookie: None, _stop: stop, place }
    }

    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request = request.header(header::HOST, "vault.example");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        Answer { status: parts.status, headers: parts.headers, body: String::from_utf8(body.to_vec()).unwrap() }
    }

    /// Counts a sign-in; whether there may be another.
    fn guess(&self, address: &str) -> bool {
        self.server.as_ref().unwrap().sign_in_page.guess(address).is_ok()
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], "").await
    }

    /// What the owner's browser sends.
    async fn browse(&self, path: &str) -> Answer {
        let cookie = self.cookie.clone().unwrap_or_default();
        self.send(Method::GET, path, &[("cookie", &cookie)], "").await
    }

    async fn submit(&self, pairs: &[(&str, &str)]) -> Answer {
        let cookie = self.cookie.clone().unwrap_or_default();
        let headers = [
            ("cookie", cookie.as_str()),
            ("content-type", "application/x-www-form-urlencoded"),
            ("origin", ORIGIN),
            ("sec-fetch-site", "same-origin"),
        ];
        self.send(Method::POST, "/authorize", &headers, &encoded(pairs)).await
    }

    /// What a program sends.
    async fn form(&self, path: &str, pairs: &[(&str, &str)]) -> Answer {
        let kind = [("content-type", "application/x-www-form-urlencoded")];
        self.send(Method::POST, path, &kind, &encoded(pairs)).await
    }

    async fn register(&self, metadata: &Value) -> Answer {
        self.send(Method::POST, "/register", &[("content-type", "application/json")], &metadata.to_string()).await
    }

    async fn registered(&self) -> String {
        let answer = self.register(&json!({ "redirect_uris": [CALLBACK], "client_name": "Client" })).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{answer:?}");
        answer.json()["client_id"].as_str().unwrap().to_owned()
    }

    async fn sign_in(&mut self, query: &str) -> Answer {
        let pairs = [("action", "sign-in"), ("query", query), ("passphrase", PASSPHRASE)];
        let answer = self.submit(&pairs).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{answer:?}");
        self.cookie = Some(answer.header("set-cookie").split(';').next().unwrap().to_owned());
        answer
    }

    /// The address of a request, with changes to a good one.
    fn request(client: &str, changes: &[(&str, &str)]) -> String {
        let challenge = challenge_of(VERIFIER);
        let usual = [
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", CALLBACK),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
            ("state", "st&te"),
            ("resource", "https://vault.example/mcp"),
        ];
        encoded(&changed(&usual, changes))
    }

    /// Signs in, and looks at a request.
    async fn consent_page(&mut self, query: &str) -> Answer {
        if self.cookie.is_none() {
            self.sign_in(query).await;
        }
        self.browse(&format!("/authorize?{query}")).await
    }

    /// What the owner sends from a consent page, with changes to what is chosen at first.
    async fn decide(&self, page: &Answer, decision: &str, changes: &[(&str, &str)]) -> Answer {
        let ticket = page.field("ticket");
        let usual = [
            ("action", "consent"),
            ("ticket", ticket.as_str()),
            ("profile", "editor"),
            ("vault.Notes", "on"),
            ("lifetime", "90d"),
            ("decision", decision),
        ];
        self.submit(&changed(&usual, changes)).await
    }

    /// From the request to a code.
    async fn code(&mut self, client: &str, request: &[(&str, &str)], choice: &[(&str, &str)]) -> String {
        let page = self.consent_page(&Self::request(client, request)).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        let answer = self.decide(&page, "allow", choice).await;
        answer.returned()["code"].clone()
    }

    async fn exchange(&self, client: &str, code: &str, changes: &[(&str, &str)]) -> Answer {
        let usual = [
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", code),
            ("redirect_uri", CALLBACK),
            ("code_verifier", VERIFIER),
        ];
        self.form("/token", &changed(&usual, changes)).await
    }

    async fn refresh(&self, client: &str, token: &str, changes: &[(&str, &str)]) -> Answer {
        let usual = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
        self.form("/token", &changed(&usual, changes)).await
    }

    /// From the request to a pair of tokens.
    async fn tokens(&mut self, client: &str, request: &[(&str, &str)], choice: &[(&str, &str)]) -> Value {
        let code = self.code(client, request, choice).await;
        let answer = self.exchange(client, &code, &[]).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        answer.json()
    }

    /// A message of a client with a token.
    async fn ask(&self, token: &str, method: &str, params: Value) -> Answer {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let bearer = format!("Bearer {token}");
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default();
        let mut headers = vec![
            ("content-type", "application/json"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
            ("authorization", &bearer),
        ];
        if !name.is_empty() {
            headers.push(("mcp-name", name));
        }
        self.send(Method::POST, "/mcp", &headers, &body.to_string()).await
    }

    async fn call(&self, token: &str, tool: &str, arguments: Value) -> Answer {
        self.ask(token, "tools/call", json!({ "name": tool, "arguments": arguments })).await
    }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}
