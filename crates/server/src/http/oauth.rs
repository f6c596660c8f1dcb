//! OAuth over HTTP: the built-in authorization server with its pages, and what is told about the one that clients have to
//! go to.

mod authorize;
mod client_documents;
mod consent_form;
mod consent_tickets;
mod issuer_key_cache;
mod oauth_limits;
mod outgoing_fetch;
mod page_markup;
mod public_documents;
mod registration;
mod token_endpoint;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    body::Bytes,
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use lapidary_auth::{AuthorizationRules, FormParameters, form_decoded};
use lapidary_config::BodyLimits;
use lapidary_vault::ElapsedTime;
use parking_lot::Mutex;
use serde_json::json;

pub(super) use self::public_documents::{PublicDocuments, TokenIssuer, is_for_every_page};
use self::{client_documents::KeptDocuments, consent_tickets::ConsentTickets, oauth_limits::OAuthRates};
pub(crate) use self::{issuer_key_cache::IssuerKeyCache, outgoing_fetch::OutgoingFetch};
use super::{
    client_limits::TooFast,
    owner_sign_in::{OwnerSignIn, StoreTrouble},
    posted_message,
};
use crate::grants::GrantMaker;

/// The largest form, and the largest registration.
const FORM_BYTES: usize = 16 * 1024;

/// The built-in authorization server.
pub(super) struct AuthorizationServer {
    sign_in_page: Arc<OwnerSignIn>,
    grants: Arc<GrantMaker>,
    rules: AuthorizationRules,
    body: BodyLimits,
    fetch: Arc<OutgoingFetch>,
    started: ElapsedTime,
    memory: Mutex<ServerMemory>,
}

/// What is forgotten when the server ends.
#[derive(Default)]
struct ServerMemory {
    rates: OAuthRates,
    tickets: ConsentTickets,
    documents: KeptDocuments,
}

/// What the authorization server shares with the rest.
pub(super) struct ServerSurroundings {
    pub(super) sign_in_page: Arc<OwnerSignIn>,
    pub(super) grants: Arc<GrantMaker>,
    pub(super) rules: AuthorizationRules,
    pub(super) body: BodyLimits,
}

impl AuthorizationServer {
    pub(super) fn new(surroundings: ServerSurroundings, fetch: OutgoingFetch) -> Arc<Self> {
        let ServerSurroundings { sign_in_page, grants, rules, body } = surroundings;
        Arc::new(Self {
            sign_in_page,
            grants,
            rules,
            // Forms are small, whatever the limit for messages is.
            body: BodyLimits { bytes: Some(FORM_BYTES), ..body },
            fetch: Arc::new(fetch),
            started: ElapsedTime::start(),
            memory: Mutex::default(),
        })
    }

    pub(super) fn routes(self: Arc<Self>) -> Router {
        Router::new()
            .route("/authorize", get(authorize::show).post(authorize::answer))
            .route("/authorize.css", get(page_markup::style))
            .route("/token", post(token_endpoint::issue))
            .route("/revoke", post(token_endpoint::revoke))
            .route("/register", post(registration::register))
            .route("/register/{id}", get(registration::show).delete(registration::delete))
            .with_state(self)
    }

    /// Counts something that a stranger asks for.
    fn counted(&self, count: impl FnOnce(&mut OAuthRates, Duration) -> Result<(), TooFast>) -> Result<(), TooFast> {
        count(&mut self.memory.lock().rates, self.started.elapsed())
    }

    /// The form in a request.
    async fn form(&self, request: Request) -> Result<FormParameters, FormTrouble> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        // Parameters such as a charset may follow.
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(FormTrouble::Invalid("the content type is not application/x-www-form-urlencoded"));
        }
        let bytes = self.body(request).await.map_err(FormTrouble::Unread)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| FormTrouble::Invalid("the form is not UTF-8"))?;
        // Twice the same parameter is refused by RFC 6749: two readers could take two different ones.
        FormParameters::parse(text).map_err(|_| FormTrouble::Invalid("a parameter is there twice or is not UTF-8"))
    }

    async fn body(&self, request: Request) -> Result<Bytes, Response> {
        posted_message::check_size(request.headers(), self.body)?;
        posted_message::read(request.into_body(), self.body).await
    }
}

/// A form that cannot be used.
enum FormTrouble {
    Invalid(&'static str),
    /// Too large or too slow, with the answer to that.
    Unread(Response),
}

/// From the system's source of randomness.
fn random<const N: usize>() -> Result<[[u8; 32]; N], StoreTrouble> {
    let mut all = [[0; 32]; N];
    for bytes in &mut all {
        getrandom::fill(bytes).map_err(|error| {
            // The cause is for the owner's log; a stranger only learns that it did not work.
            tracing::error!("the system gives no random numbers: {error}");
            StoreTrouble
        })?;
    }
    Ok(all)
}

/// A refusal in the form of RFC 6749, for programs.
fn oauth_error(status: StatusCode, code: &str, description: &str) -> Response {
    secret_json(status, &json!({ "error": code, "error_description": description }))
}

/// An answer that no cache may keep.
fn secret_json(status: StatusCode, body: &serde_json::Value) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")], Json(body)).into_response()
}

fn too_many(limit: TooFast) -> Response {
    let seconds = limit.retry_after.as_secs_f64().ceil().max(1.0) as u64;
    let description = format!("too many requests; try again in {seconds} s");
    let mut response = oauth_error(StatusCode::TOO_MANY_REQUESTS, "temporarily_unavailable", &description);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

impl IntoResponse for StoreTrouble {
    fn into_response(self) -> Response {
        let mut response = oauth_error(
            StatusCode::SERVICE_UNAVAILABLE,
            "temporarily_unavailable",
            "the server cannot look this up now",
        );
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        response
    }
}

/// The name and the secret of a client in `Authorization: Basic`.
fn basic(headers: &HeaderMap) -> Option<(String, String)> {
    let (scheme, value) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let decoded = scheme.eq_ignore_ascii_case("basic").then(|| STANDARD.decode(value.trim()).ok()).flatten()?;
    let decoded = String::from_utf8(decoded).ok()?;
    let (id, secret) = decoded.split_once(':')?;
    // RFC 6749 encodes both as in a form before they are joined, since either may have a colon.
    Some((form_decoded(id).ok()?, form_decoded(secret).ok()?))
}
