//! Who calls over HTTP: the clients that the owner gave a token, or everybody where none was given.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use lapidary_note::ContentHash;
use lapidary_pipeline::Grant;
use parking_lot::{Mutex, MutexGuard};

/// A client that is known by its token.
#[derive(Clone)]
pub(crate) struct TokenIdentity {
    /// Stands in the log.
    pub(crate) name: String,
    pub(crate) grant: Arc<Grant>,
}

impl TokenIdentity {
    /// The name of the principal that it is.
    pub(crate) fn principal_name(&self) -> String {
        format!("http:{}", self.name)
    }
}

tokio::task_local! {
    /// Whose request this task handles. The protocol library makes a service for a session without a word on whose it
    /// is.
    static CURRENT: TokenIdentity;
}

/// Asks something of whoever sent the request that is being handled.
pub(super) fn with_current<T>(ask: impl FnOnce(Option<&TokenIdentity>) -> T) -> T {
    match CURRENT.try_with(TokenIdentity::clone) {
        Ok(identity) => ask(Some(&identity)),
        Err(_) => ask(None),
    }
}

/// The tokens by which clients are known, as hashes. None of them means that nobody needs one.
#[derive(Clone, Default)]
pub(crate) struct TokenHashes {
    known: Arc<[(ContentHash, TokenIdentity)]>,
    /// Whose each session is: to know its name is not enough to speak or to listen in it.
    sessions: Arc<Mutex<SessionOwners>>,
}

#[derive(Default)]
struct SessionOwners {
    owners: BTreeMap<String, String>,
    /// The oldest first.
    order: VecDeque<String>,
}

/// Clients come and go; whoever is forgotten opens a new session.
const SESSIONS: usize = 10_000;
pub(super) const SESSION: &str = "mcp-session-id";

impl TokenHashes {
    pub(crate) fn new(known: Vec<(ContentHash, TokenIdentity)>) -> Self {
        Self { known: known.into(), sessions: Arc::default() }
    }

    fn find(&self, headers: &HeaderMap) -> Option<&TokenIdentity> {
        let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = value.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let digest = ContentHash::of(token.trim().as_bytes());
        // All are compared to the end: how long it takes tells nothing.
        let same = |known: &ContentHash| {
            let bytes = known.as_bytes().iter().zip(digest.as_bytes());
            bytes.fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
        };
        let known: Vec<&TokenIdentity> =
            self.known.iter().filter(|(known, _)| same(known)).map(|(_, identity)| identity).collect();
        known.first().copied()
    }

    /// Whether a request that names a session was sent by whoever opened it.
    fn is_theirs(&self, headers: &HeaderMap, name: &str) -> bool {
        match session(headers) {
            None => true,
            Some(session) => self.sessions().owners.get(session).is_some_and(|owner| owner == name),
        }
    }

    /// How many sessions of a client are open, by whoever knows which are.
    pub(super) fn count(&self, name: &str, is_open: impl Fn(&str) -> bool) -> usize {
        self.sessions().owners.iter().filter(|(session, owner)| *owner == name && is_open(session)).count()
    }

    fn opened(&self, session: &str, name: &str) {
        let mut sessions = self.sessions();
        let SessionOwners { owners, order } = &mut *sessions;
        if owners.contains_key(session) {
            return;
        }
        owners.insert(session.to_owned(), name.to_owned());
        order.push_back(session.to_owned());
        if order.len() > SESSIONS {
            order.pop_front().and_then(|oldest| owners.remove(&oldest));
        }
    }

    fn sessions(&self) -> MutexGuard<'_, SessionOwners> {
        self.sessions.lock()
    }
}

fn session(headers: &HeaderMap) -> Option<&str> {
    // What is no text is no session of ours.
    headers.get(SESSION).map(|id| id.to_str().unwrap_or_default())
}

/// Lets a request pass that is known, and notes who it is.
pub(super) async fn identify(State(tokens): State<TokenHashes>, mut request: Request, next: Next) -> Response {
    if tokens.known.is_empty() {
        return next.run(request).await;
    }
    let Some(identity) = tokens.find(request.headers()).cloned() else { return unknown() };
    if !tokens.is_theirs(request.headers(), &identity.name) {
        return no_session();
    }
    let name = identity.name.clone();
    request.extensions_mut().insert(identity.clone());
    let response = CURRENT.scope(identity, next.run(request)).await;
    if let Some(session) = session(response.headers()) {
        tokens.opened(session, &name);
    }
    response
}

/// The same whether it is somebody else's or nobody's; clients open a new one.
fn no_session() -> Response {
    refused(StatusCode::NOT_FOUND, "Session not found").into_response()
}

fn unknown() -> Response {
    let message = "This server needs a token: send it as `Authorization: Bearer …`. The owner finds or sets it in the \
                   configuration (`tokens`).";
    ([(header::WWW_AUTHENTICATE, "Bearer")], refused(StatusCode::UNAUTHORIZED, message)).into_response()
}

fn refused(status: StatusCode, message: &str) -> impl IntoResponse {
    let error = serde_json::json!({ "code": -32001, "message": message });
    (status, axum::Json(serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error })))
}
