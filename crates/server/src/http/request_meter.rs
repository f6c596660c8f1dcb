//! Counts requests by route and status, and shows the counters to those who may see them.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use lapidary_auth::is_same_digest;
use lapidary_note::ContentHash;
use lapidary_telemetry::{
    exposition::{CONTENT_TYPE, exposition},
    meters::{RequestRoute, ServerMeters},
};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::{
    accept_loop::{ConnectionEnds, GuardedBody},
    known_clients::bearer,
    request_checks::{is_loopback_host, plain_error},
};

/// What is needed to count a request.
#[derive(Clone)]
pub(super) struct RequestMeter {
    pub(super) meters: Arc<ServerMeters>,
    pub(super) endpoint_path: Arc<str>,
}

impl RequestMeter {
    fn route(&self, path: &str) -> RequestRoute {
        // A closed list of routes: a path in a metric would grow without end and leak names.
        match path.strip_suffix('/').unwrap_or(path) {
            path if path == &*self.endpoint_path => RequestRoute::Endpoint,
            "/sse" | "/messages" => RequestRoute::EventStream,
            "/authorize" | "/token" | "/register" | "/revoke" => RequestRoute::SignIn,
            _ => RequestRoute::Page,
        }
    }
}

/// Around everything else, so that refusals count too.
pub(super) async fn measure(State(meter): State<RequestMeter>, request: Request, next: Next) -> Response {
    let route = meter.route(request.uri().path());
    let response = next.run(request).await;
    meter.meters.answered(route, response.status().as_u16());
    let kind = response.headers().get(header::CONTENT_TYPE);
    // Only streams are counted while they are open; all else is over when it is answered.
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        return response;
    }
    response.map(|body| Body::new(GuardedBody { body, _guard: meter.meters.stream() }))
}

/// What proxies and tunnels add. One is enough to show that a request comes from elsewhere.
const PROXY_HEADERS: [&str; 8] = [
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
    "cf-connecting-ip",
    "true-client-ip",
];

/// `/metrics`.
#[derive(Clone)]
pub(super) struct MetricsPage {
    pub(super) meters: Arc<ServerMeters>,
    pub(super) sessions: Arc<LocalSessionManager>,
    /// The hash of the token that opens it to other computers.
    pub(super) token: Option<ContentHash>,
}

impl MetricsPage {
    /// A program on this computer may read it, and a collector with the token. What a proxy on this computer passes on
    /// comes from elsewhere.
    fn may_read(&self, request: &Request) -> bool {
        let headers = request.headers();
        let is_near = request.extensions().get::<ConnectionEnds>().is_some_and(|ends| ends.peer.is_loopback());
        // A tunnel on this computer makes strangers look near.
        let is_direct = !PROXY_HEADERS.iter().any(|name| headers.contains_key(*name));
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let given = bearer(headers).map(|token| ContentHash::of(token.as_bytes()));
        let has_token =
            self.token.as_ref().zip(given.as_ref()).is_some_and(|(known, given)| is_same_digest(known, given));
        // The host as well, or a page that points its own name here could read it.
        has_token || (is_near && is_direct && is_loopback_host(host))
    }
}

pub(super) async fn metrics(State(page): State<MetricsPage>, request: Request) -> Response {
    if !page.may_read(&request) {
        let message = "Metrics are for this computer, and for collectors with the token of LAPIDARY_METRICS_TOKEN.";
        let mut refused = plain_error(StatusCode::UNAUTHORIZED, message);
        let challenge = HeaderValue::from_static("Bearer realm=\"lapidary metrics\"");
        refused.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        return refused;
    }
    let sessions = page.sessions.sessions.read().await.len();
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], exposition(&page.meters, sessions)).into_response()
}
