//! What a client is told that is not known, and whose request is being handled.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use lapidary_auth::TokenRefusal;

use super::known_clients::{KnownClient, UnknownClient};

tokio::task_local! {
    /// Whose request this task handles. The protocol library makes a service for a session without a word on whose it
    /// is.
    pub(super) static CURRENT: KnownClient;
}

/// Applies a function to the sender of the current request.
pub(super) fn with_current<T>(ask: impl FnOnce(Option<&KnownClient>) -> T) -> T {
    // Cloned, because the task-local cannot be held while the caller's function runs other tasks.
    match CURRENT.try_with(KnownClient::clone) {
        Ok(client) => ask(Some(&client)),
        Err(_) => ask(None),
    }
}

pub(super) const SESSION: &str = "mcp-session-id";

/// Where clients learn how to get a token, and what they should ask for.
#[derive(Clone, Debug, Default)]
pub(super) struct AuthChallenge {
    /// The address of the metadata of this resource, where there is any.
    pub(super) metadata: Option<String>,
    /// What to ask for.
    pub(super) scope: String,
}

impl AuthChallenge {
    /// What a client is told that is not known. A token that was sent and does not count is called invalid, so that
    /// clients ask for a new one.
    pub(super) fn refused(&self, unknown: UnknownClient) -> Response {
        match unknown {
            UnknownClient::NoToken | UnknownClient::BadToken => {
                let message = match (unknown == UnknownClient::BadToken, &self.metadata) {
                    (false, Some(_)) => {
                        "This server needs a token: sign in with OAuth, or send one as `Authorization: Bearer …`."
                    }
                    (false, None) => {
                        "This server needs a token: send it as `Authorization: Bearer …`. The owner makes one with \
                         `lapidary token create NAME`."
                    }
                    // Not which of these: a stranger with a guess would learn that it was once right.
                    (true, Some(_)) => {
                        "The token is not valid: it is wrong, has expired or was revoked. Sign in again with OAuth, or \
                         send another one."
                    }
                    (true, None) => {
                        "The token is not valid: it is wrong, has expired or was revoked. The owner sees the valid ones \
                         with `lapidary token list`, and makes another with `lapidary token create NAME`."
                    }
                };
                let response = error_response(StatusCode::UNAUTHORIZED, -32001, message);
                self.on(response, &self.unknown(unknown == UnknownClient::BadToken))
            }
            UnknownClient::WebToken { refusal, was_sent } => {
                let response = error_response(StatusCode::UNAUTHORIZED, -32006, &refusal.to_string());
                self.on(response, &self.unknown(was_sent && refusal != TokenRefusal::Missing))
            }
            UnknownClient::NothingServed => {
                let message = "This token is for a vault or a profile that this server does not have.";
                let response = error_response(StatusCode::FORBIDDEN, -32005, message);
                // Without this, clients take it for wrong credentials and never ask again.
                // A client that cannot sign in has nothing to ask for, so it gets no challenge.
                if self.metadata.is_some() { self.insufficient(response, &self.scope) } else { response }
            }
            // Not 401: the token may well be valid, and the client must not throw it away.
            UnknownClient::Unavailable => {
                let message = "Tokens cannot be checked at the moment.";
                let mut response = error_response(StatusCode::SERVICE_UNAVAILABLE, -32000, message);
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
                response
            }
        }
    }

    /// A token that counts, but not for this.
    pub(super) fn lacking(&self, scope: &str) -> Response {
        let message = format!("This needs more than the token was given for: {scope}.");
        self.insufficient(error_response(StatusCode::FORBIDDEN, -32005, &message), scope)
    }

    fn insufficient(&self, response: Response, scope: &str) -> Response {
        let metadata = self.metadata.as_deref().unwrap_or_default();
        let challenge = format!(
            "Bearer realm=\"lapidary\", error=\"insufficient_scope\", scope=\"{scope}\", resource_metadata=\"{metadata}\""
        );
        self.on(response, &challenge)
    }

    fn unknown(&self, was_sent: bool) -> String {
        let mut challenge = "Bearer realm=\"lapidary\"".to_owned();
        if let Some(metadata) = &self.metadata {
            // RFC 9728: clients find the place to sign in through this address.
            challenge += &format!(", resource_metadata=\"{metadata}\", scope=\"{}\"", self.scope);
        }
        // RFC 6750: without an error, the challenge only says that a token is needed.
        if was_sent {
            challenge += ", error=\"invalid_token\", error_description=\"The token is not valid (any more).\"";
        }
        challenge
    }

    fn on(&self, mut response: Response, challenge: &str) -> Response {
        // Everything in it is ours or checked at start, so it is a valid header; if it were not, the refusal itself
        // still counts.
        if let Ok(challenge) = HeaderValue::from_str(challenge) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// A refusal in the form of the protocol, for a request that was not read.
pub(super) fn error_response(status: StatusCode, code: i32, message: &str) -> Response {
    let error = serde_json::json!({ "code": code, "message": message });
    // `id` is null because the message with its id was not read.
    (status, axum::Json(serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error }))).into_response()
}
