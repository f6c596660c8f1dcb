//! Sessions that have ended leave nothing behind: no task, stream, subscription or place.

use std::collections::BTreeMap;

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::StatusCode,
    response::Response,
};
use tokio::runtime::Handle;
use tower::ServiceExt;

use super::{client_identity::SESSION, *};
use crate::{
    assemble::{ExecutorPurpose, assemble},
    cli, commands,
    environment::ProcessEnvironment,
};

const SESSIONS: usize = 24;
/// How long the last tasks may take to end; nothing asserts that it is used up.
const PATIENCE: Duration = Duration::from_secs(60);

struct ServedRouter {
    router: Router,
    endpoint: Endpoint,
    mcp: McpServer,
    _stop: watch::Sender<bool>,
    _folder: tempfile::TempDir,
}

impl ServedRouter {
    fn new(environment: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = |path: &str| folder.path().join(path);
        #[expect(clippy::disallowed_methods, reason = "a vault for the test")]
        {
            std::fs::create_dir(file("vault")).unwrap();
            (0..4).for_each(|number| std::fs::write(file(&format!("vault/{number}.md")), "text\n").unwrap());
        }
        let arguments = ["lapidary".into(), "--vault".into(), file("vault").into_os_string()];
        let invocation = cli::parse(arguments.into_iter().chain(["--http".into()])).unwrap();
        let mut variables: BTreeMap<String, String> =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        variables.insert("LAPIDARY_STATE_DIR".to_owned(), file("state").to_str().unwrap().to_owned());
        let surroundings = ProcessEnvironment::new(variables, folder.path().to_owned());
        let config = commands::configure(&invocation, &surroundings).unwrap().config;
        let assembled =
            assemble(&config, ExecutorPurpose { every_profile: false, waits_for_index: false }).ok().unwrap();
        let (stop, stopping) = watch::channel(false);
        let mcp = McpServer::new(Arc::clone(&assembled.executor), false, Connection::Http, Telemetry::default(), None);
        let clients = KnownClients {
            check: ClientCheck::TokenOptional { store: Arc::clone(&assembled.auth) },
            grants: Arc::clone(&assembled.grants),
            clock: lapidary_pipeline::Clock::system(),
            owner: Arc::clone(&assembled.auth),
        };
        let challenge = super::AuthChallenge::default();
        let endpoint = endpoint(&assembled.executor, mcp.clone(), &config.http, clients, challenge, stopping);
        let router = router(endpoint.clone(), None, Router::new(), "http://localhost", &config.http);
        Self { router, endpoint, mcp, _stop: stop, _folder: folder }
    }

    async fn send(&self, method: &str, session: Option<&str>, body: Value) -> Response {
        let accept = if method == "GET" { "text/event-stream" } else { "application/json, text/event-stream" };
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("Host", "localhost")
            .header("Content-Type", "application/json")
            .header("Accept", accept);
        if let Some(session) = session {
            request = request.header(SESSION, session).header("MCP-Protocol-Version", "2025-11-25");
        }
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap()
    }

    async fn ask(&self, session: &str, method: &str, params: Value) -> String {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let response = self.send("POST", Some(session), body).await;
        assert_eq!(response.status(), StatusCode::OK, "{method}");
        let text = String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()).unwrap();
        assert!(text.contains("\"result\""), "{method}: {text}");
        text
    }

    /// A session that uses everything that may outlive a request, and a stream that it leaves open.
    async fn session(&self) -> (String, Response) {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        } });
        let opened = self.send("POST", None, hello).await;
        let session = opened.headers()[SESSION].to_str().unwrap().to_owned();
        to_bytes(opened.into_body(), usize::MAX).await.unwrap();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert!(self.send("POST", Some(&session), ready).await.status().is_success());
        self.ask(&session, "prompts/list", json!({})).await;
        for file in 0..4 {
            self.ask(&session, "resources/subscribe", json!({ "uri": format!("obsidian://vault/{file}.md") })).await;
        }
        self.ask(&session, "tools/call", json!({ "name": "file_read", "arguments": { "file": "1.md" } })).await;
        let stream = self.send("GET", Some(&session), Value::Null).await;
        assert_eq!(stream.status(), StatusCode::OK);
        (session, stream)
    }

    /// Everything that a session may leave behind.
    fn left(&self) -> LeftBehind {
        LeftBehind {
            tasks: Handle::current().metrics().num_alive_tasks(),
            subscriptions: self.mcp.followed_files(),
            sessions: self.endpoint.0.sessions.count(),
            places_taken: self.endpoint.0.limits.places_taken(),
        }
    }

    async fn settles_at(&self, wanted: &LeftBehind) {
        let settled = async {
            while self.left() != *wanted {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(PATIENCE, settled).await.is_err() {
            assert_eq!(&self.left(), wanted);
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
struct LeftBehind {
    tasks: usize,
    subscriptions: usize,
    sessions: usize,
    places_taken: usize,
}

#[tokio::test]
async fn a_session_that_its_client_ends_leaves_nothing_behind() {
    let served = ServedRouter::new(&[]);
    let before = LeftBehind { subscriptions: 0, sessions: 0, places_taken: 0, ..served.left() };
    // The first one starts the watch of the prompts, which all of them share.
    let with_watch = LeftBehind { tasks: before.tasks + 1, ..before };
    for _ in 0..2 {
        let mut open = Vec::new();
        for _ in 0..SESSIONS / 2 {
            open.push(served.session().await);
        }
        let during = served.left();
        assert!(during.tasks > with_watch.tasks + SESSIONS / 2, "{during:?}");
        assert_eq!((during.subscriptions, during.sessions), (2 * SESSIONS, SESSIONS / 2));
        for (number, (session, stream)) in open.into_iter().enumerate() {
            // Some clients go away first, and some after they have said so.
            let stream = (number % 2 == 0).then_some(stream);
            assert_eq!(served.send("DELETE", Some(&session), Value::Null).await.status(), StatusCode::OK);
            drop(stream);
        }
        served.settles_at(&with_watch).await;
    }
}

#[tokio::test]
async fn a_session_that_is_idle_or_makes_room_leaves_nothing_behind() {
    let served =
        ServedRouter::new(&[("MCP_STATEFUL_SESSION_STALE_TIMEOUT_MS", "1000"), ("LAPIDARY_HTTP_MAX_SESSIONS", "5")]);
    tokio::spawn(served.endpoint.0.sessions.clone().sweep());
    let before = LeftBehind { subscriptions: 0, sessions: 0, places_taken: 0, ..served.left() };
    for _ in 0..SESSIONS {
        drop(served.session().await.1);
        assert!(served.left().sessions <= 5);
    }
    served.settles_at(&LeftBehind { tasks: before.tasks + 1, ..before }).await;
}
