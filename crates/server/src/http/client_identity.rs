//! Passes requests of known clients, and records the owner of each session.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use lapidary_auth::TokenRefusal;
use parking_lot::Mutex;

use super::known_clients::{KnownClient, KnownClients, UnknownClient};

tokio::task_local! {
    /// Whose request this task handles. The protocol library makes a service for a session without a word on whose it
    /// is.
    static CURRENT: KnownClient;
}

/// Applies a function to the sender of the current request.
pub(super) fn with_current<T>(ask: impl FnOnce(Option<&KnownClient>) -> T) -> T {
    match CURRENT.try_with(KnownClient::clone) {
        Ok(client) => ask(Some(&client)),
        Err(_) => ask(None),
    }
}

/// The client of each session: knowing its id is not enough to use it.
#[derive(Clone, Default)]
pub(super) struct SessionOwners(Arc<Mutex<OwnerTable>>);

#[derive(Default)]
struct OwnerTable {
    owners: BTreeMap<String, String>,
    /// The oldest first.
    order: VecDeque<String>,
}

/// Clients come and go; a forgotten one opens a new session.
const SESSIONS: usize = 10_000;
pub(super) const SESSION: &str = "mcp-session-id";

impl SessionOwners {
    /// Whether a request that names a session was sent by the client that opened it.
    fn is_theirs(&self, headers: &HeaderMap, key: &str) -> bool {
        match session(headers) {
            None => true,
            Some(session) => self.0.lock().owners.get(session).is_some_and(|owner| owner == key),
        }
    }

    /// How many sessions of a client are open, according to the caller's list.
    pub(super) fn count(&self, client: &KnownClient, is_open: impl Fn(&str) -> bool) -> usize {
        self.0.lock().owners.iter().filter(|(session, owner)| **owner == client.key && is_open(session)).count()
    }

    fn opened(&self, session: &str, key: &str) {
        let mut table = self.0.lock();
        let OwnerTable { owners, order } = &mut *table;
        if owners.contains_key(session) {
            return;
        }
        owners.insert(session.to_owned(), key.to_owned());
        order.push_back(session.to_owned());
        if order.len() > SESSIONS {
            order.pop_front().and_then(|oldest| owners.remove(&oldest));
        }
    }
}

fn session(headers: &HeaderMap) -> Option<&str> {
    // A value that is not text is not one of our sessions.
    headers.get(SESSION).map(|id| id.to_str().unwrap_or_default())
}

/// Passes a request of a known client, and records the client.
pub(super) async fn identify(
    State((clients, owners)): State<(KnownClients, SessionOwners)>,
    mut request: Request,
    next: Next,
) -> Response {
    let client = match clients.find(request.headers()) {
        Ok(Some(client)) => client,
        Ok(None) => return next.run(request).await,
        Err(unknown) => return refused(unknown),
    };
    if !owners.is_theirs(request.headers(), &client.key) {
        // The same for a foreign session and an unknown one; clients open a new one.
        return error_response(StatusCode::NOT_FOUND, -32001, "Session not found");
    }
    let key = client.key.clone();
    request.extensions_mut().insert(client.clone());
    let response = CURRENT.scope(client, next.run(request)).await;
    if let Some(session) = session(response.headers()) {
        owners.opened(session, &key);
    }
    response
}

/// The response to an unknown client. A token that was sent and is not valid is reported as such, so that clients request a
/// new one.
fn refused(unknown: UnknownClient) -> Response {
    match unknown {
        UnknownClient::NoToken | UnknownClient::BadToken => {
            let message = "This server needs a token: send it as `Authorization: Bearer …`. The owner makes one with \
                           `lapidary token create NAME`.";
            challenge(error_response(StatusCode::UNAUTHORIZED, -32001, message), unknown == UnknownClient::BadToken)
        }
        UnknownClient::WebToken { refusal, was_sent } => {
            let message = refusal.to_string();
            challenge(
                error_response(StatusCode::UNAUTHORIZED, -32006, &message),
                was_sent && refusal != TokenRefusal::Missing,
            )
        }
        UnknownClient::NothingServed => {
            let message = "This token is for a vault or a profile that this server does not have.";
            error_response(StatusCode::FORBIDDEN, -32005, message)
        }
        UnknownClient::Unavailable => {
            let mut response =
                error_response(StatusCode::SERVICE_UNAVAILABLE, -32000, "Tokens cannot be looked up at the moment.");
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
            response
        }
    }
}

fn challenge(mut response: Response, was_sent: bool) -> Response {
    let value = if was_sent {
        "Bearer realm=\"lapidary\", error=\"invalid_token\", error_description=\"The token is not valid (any more).\""
    } else {
        "Bearer realm=\"lapidary\""
    };
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(value));
    response
}

/// A refusal in the form of the protocol, for a request that was not read.
pub(super) fn error_response(status: StatusCode, code: i32, message: &str) -> Response {
    let error = serde_json::json!({ "code": code, "message": message });
    (status, axum::Json(serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error }))).into_response()
}
