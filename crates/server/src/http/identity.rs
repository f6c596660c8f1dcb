//! Who calls over HTTP: the clients that the owner gave a token, or everybody where none was given.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use lapidary_tools::Profile;
use sha2::{Digest, Sha256};

/// A client that is known by its token.
#[derive(Clone)]
pub(crate) struct Identity {
    /// Stands in the log.
    pub(crate) name: String,
    pub(crate) profile: Arc<Profile>,
}

/// The tokens by which clients are known, as hashes. None of them means that nobody needs one.
#[derive(Clone, Default)]
pub(crate) struct Tokens(pub(crate) Arc<[([u8; 32], Identity)]>);

impl Tokens {
    fn find(&self, headers: &HeaderMap) -> Option<&Identity> {
        let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = value.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let digest: [u8; 32] = Sha256::digest(token.trim().as_bytes()).into();
        // All are compared to the end: how long it takes tells nothing.
        let same = |known: &[u8; 32]| known.iter().zip(&digest).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0;
        let known: Vec<&Identity> =
            self.0.iter().filter(|(known, _)| same(known)).map(|(_, identity)| identity).collect();
        known.first().copied()
    }
}

/// Lets a request pass that is known, and notes who it is.
pub(super) async fn identify(State(tokens): State<Tokens>, mut request: Request, next: Next) -> Response {
    if !tokens.0.is_empty() {
        let Some(identity) = tokens.find(request.headers()) else { return unknown() };
        let identity = identity.clone();
        request.extensions_mut().insert(identity);
    }
    next.run(request).await
}

fn unknown() -> Response {
    let message = "This server needs a token: send it as `Authorization: Bearer …`. The owner finds or sets it in the \
                   configuration (`tokens`).";
    let body = axum::Json(serde_json::json!({
        "jsonrpc": "2.0", "id": null, "error": { "code": -32001, "message": message },
    }));
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], body).into_response()
}
