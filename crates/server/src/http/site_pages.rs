//! Everything that is served next to the endpoint: the landing page, its parts, and the documents that programs look for.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use lapidary_config::HttpConfig;
use lapidary_pipeline::{Clock, Executor};
use lapidary_tools::FIXED_RESOURCES;
use serde_json::{Value, json};

use super::{
    connection_snippets::ConnectionStyle,
    endpoint::{Endpoint, peer_of},
    known_clients::bearer,
    landing_page::{LandingPage, PageVisitor},
};

const STYLE: &str = include_str!("assets/page.css");
const ICON: &str = include_str!("assets/icon.svg");
/// Pages have a style and an icon of this server, and nothing else.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; \
                      form-action 'none'";
/// The documents about the server are the same for everyone.
const FOR_EVERYONE: &str = "public, max-age=3600";
const CARD_TYPE: &str = "application/mcp-server-card+json";

/// What the pages are made of.
pub(super) struct SitePages {
    endpoint: Endpoint,
    executor: Arc<Executor>,
    address: SiteAddress,
    style: ConnectionStyle,
    mode: &'static str,
    robots: String,
    card: Value,
    older_card: Value,
}

/// Where clients reach the server: as the owner says, never as a request says.
#[derive(Clone)]
pub(super) struct SiteAddress {
    /// Of the endpoint.
    pub(super) url: String,
    endpoint_path: String,
}

impl SiteAddress {
    pub(super) fn new(settings: &HttpConfig, bound: SocketAddr) -> Self {
        let origin = match &settings.public_url {
            Some(public) => public.origin.clone(),
            None => {
                let scheme = if settings.tls.is_some() { "https" } else { "http" };
                match bound.ip() {
                    // All addresses of this computer; which one a client can use is not known here.
                    // A placeholder that a person replaces: a wrong address would be worse than none.
                    ip if ip.is_unspecified() => format!("{scheme}://THIS-COMPUTER:{}", bound.port()),
                    IpAddr::V4(_) | IpAddr::V6(_) => format!("{scheme}://{bound}"),
                }
            }
        };
        Self { url: format!("{origin}{}", settings.endpoint_path), endpoint_path: settings.endpoint_path.clone() }
    }

    /// Without a slash at the end.
    pub(super) fn origin(&self) -> String {
        self.url.strip_suffix(&self.endpoint_path).unwrap_or(&self.url).to_owned()
    }
}

impl SitePages {
    pub(super) fn new(endpoint: Endpoint, executor: Arc<Executor>, address: SiteAddress) -> Arc<Self> {
        let mode = Endpoint::mode(&endpoint.0.clients.check);
        let style = ConnectionStyle::of_mode(mode);
        // Made once: none of it depends on the request.
        // The page for people may be found; the endpoint answers only programs that were told of it.
        let robots = format!("User-agent: *\nAllow: /\nDisallow: {}\n", address.endpoint_path);
        let (card, older_card) = (card(&address.url, style), older_card(&address.url, mode));
        Arc::new(Self { endpoint, executor, address, style, mode, robots, card, older_card })
    }
}

/// The older card.
pub(super) const CARD: &str = "/.well-known/mcp.json";

/// The routes, all of them for reading.
pub(super) fn routes(pages: Arc<SitePages>) -> Router {
    let card = format!("{}/server-card", pages.address.endpoint_path);
    Router::new()
        .route("/", get(landing))
        .route("/healthz", get(|| async { axum::Json(json!({ "status": "ok" })) }))
        .route("/robots.txt", get(|State(pages): State<Arc<SitePages>>| async move { pages.robots.clone() }))
        .route("/assets/page.css", get(|| async { asset(STYLE, "text/css; charset=utf-8") }))
        .route("/assets/icon.svg", get(|| async { asset(ICON, "image/svg+xml") }))
        .route(
            CARD,
            get(|State(pages): State<Arc<SitePages>>| async move { document(&pages.older_card, "application/json") }),
        )
        .route(&card, get(|State(pages): State<Arc<SitePages>>| async move { document(&pages.card, CARD_TYPE) }))
        .route(
            "/.well-known/mcp/server-card.json",
            get(|State(pages): State<Arc<SitePages>>| async move { document(&pages.card, CARD_TYPE) }),
        )
        .with_state(pages)
}

/// Whether a path has a card of the server, which is the same for every reader.
pub(super) fn is_card(path: &str) -> bool {
    matches!(path, CARD | "/.well-known/mcp/server-card.json") || path.ends_with("/server-card")
}

/// A visitor without a token sees what a stranger may see; one with a wrong token is refused, so that guessing is counted.
async fn landing(State(pages): State<Arc<SitePages>>, request: Request) -> Response {
    // Without authentication everybody has the server's own grant, so there are no strangers.
    let is_stranger = pages.style != ConnectionStyle::Open && bearer(request.headers()).is_none();
    let grant = if is_stranger {
        None
    } else {
        match pages.endpoint.sender(request.headers(), peer_of(&request)).await {
            Ok(sender) => {
                Some(sender.client.map_or_else(|| Arc::clone(&pages.endpoint.0.grant), |client| client.grant))
            }
            Err(refused) => return refused,
        }
    };
    let visitor = grant
        .as_ref()
        .map(|grant| PageVisitor { vaults: pages.executor.vaults().names(grant), catalogue: &grant.profile.catalogue });
    let page = LandingPage {
        url: &pages.address.url,
        style: pages.style,
        mode: pages.mode,
        visitor,
        // The names of tools are those of a caller without a token.
        offered: &pages.endpoint.0.grant.profile.catalogue,
        resources: FIXED_RESOURCES.len(),
    };
    let headers =
        [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY)];
    (headers, page.html()).into_response()
}

fn asset(text: &'static str, kind: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, FOR_EVERYONE)], text).into_response()
}

/// A document that any page may read: it says nothing that depends on the reader.
fn document(value: &Value, kind: &'static str) -> Response {
    let mut response = axum::Json(value).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(FOR_EVERYONE));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

fn versions() -> Vec<&'static str> {
    rmcp::model::ProtocolVersion::KNOWN_VERSIONS.iter().map(|version| version.as_str()).collect()
}

/// The host of an address from its end, as registries name who is behind a server.
fn namespace(url: &str) -> String {
    let authority = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    // An address of version 6 has more colons, but it is not a name anyway.
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    // An address of numbers or a bare name says nothing about who runs the server.
    let is_name = host.contains('.') && host.parse::<IpAddr>().is_err();
    if is_name { host.rsplit('.').collect::<Vec<_>>().join(".") } else { "local.host".to_owned() }
}

/// The card of the extension `io.modelcontextprotocol/server-card`: who the server is and how it is reached, not what it
/// can do.
fn card(url: &str, style: ConnectionStyle) -> Value {
    let mut remote = json!({ "type": "streamable-http", "url": url, "supportedProtocolVersions": versions() });
    // A client that signs in learns about the header from the challenge.
    if style == ConnectionStyle::Token {
        remote["headers"] = json!([{
            "name": "Authorization",
            "description": "`Bearer` and a token of the owner",
            "isRequired": true,
            "isSecret": true,
        }]);
    }
    json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
        "name": format!("{}/lapidary", namespace(url)),
        "title": "Lapidary",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Safe, fast and thrifty access to Obsidian vaults.",
        "remotes": [remote],
    })
}

/// The card of obsidian-mcp-server.
fn older_card(url: &str, mode: &str) -> Value {
    // The list is ordered from the oldest on.
    let newest = versions().last().copied().unwrap_or_default();
    json!({
        "mcp_version": newest,
        "server_name": "lapidary",
        "server_version": env!("CARGO_PKG_VERSION"),
        "server_description": "Safe, fast and thrifty access to Obsidian vaults.",
        "endpoints": { "streamable_http": url },
        "capabilities": { "tools": true, "resources": true, "prompts": true, "logging": false },
        "authentication": { "required": mode != "none", "type": mode },
        "generated_at": Clock::system().timestamp(),
    })
}
