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
    match CURRENT.try_with(KnownClient::clone) {
        Ok(client) => ask(Some(&client)),
        Err(_) => ask(None),
    }
}

pub(super) const SESSION: &str = "mcp-session-id";

/// What a client is told that is not known. A token that was sent and does not count is called invalid, so that clients
/// ask for a new one.
pub(super) fn refused(unknown: UnknownClient) -> Response {
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
