//! MCP over Streamable HTTP: who may connect, who is calling, and how much each may ask for.

mod accept_loop;
mod client_address;
mod client_identity;
mod client_limits;
mod connection_snippets;
mod console;
#[cfg(test)]
mod ended_sessions;
mod endpoint;
mod event_streams;
mod known_clients;
mod landing_page;
mod oauth;
mod owner_sign_in;
mod posted_message;
mod quoted_facts;
mod refusal_log;
mod request_checks;
mod request_meter;
mod rest;
mod session_table;
mod site_pages;
mod tls_certificate;
mod unread_body;

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    middleware::from_fn_with_state,
    routing::{any, get, post},
};
use lapidary_auth::AuthorizationRules;
use lapidary_config::{HttpConfig, SessionMode};
use lapidary_note::ContentHash;
use lapidary_pipeline::Executor;
use lapidary_telemetry::{Telemetry, outgoing::unverified_agent};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};

use self::{
    client_identity::AuthChallenge,
    client_limits::RequestLimits,
    connection_snippets::{ConnectionSnippet, ConnectionStyle, snippets},
    console::{Console, ConsoleSite, ServedEndpoint},
    endpoint::{Endpoint, EndpointParts},
    event_streams::EventStreams,
    oauth::{AuthorizationServer, PublicDocuments, ServerSurroundings, TokenIssuer},
    owner_sign_in::OwnerSignIn,
    refusal_log::RefusalLog,
    request_checks::RequestChecks,
    request_meter::{MetricsPage, RequestMeter},
    session_table::SessionTable,
    site_pages::{CARD, SiteAddress, SitePages},
    tls_certificate::TlsCertificate,
};
pub(crate) use self::{
    console::{OwnerAccess, SettingsAccess, link as console_link, serve as serve_console},
    known_clients::{ClientCheck, ConfiguredClient, KnownClient, KnownClients},
    oauth::{IssuerKeyCache, OutgoingFetch},
    rest::{PluginPorts, RestCallers, RestCertificate, VaultKey, serve as serve_rest},
};
use crate::{
    mcp::{Connection, McpServer},
    stdio::told_to_stop,
};

/// How long calls that are under way may take to be answered once the server is told to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

pub(crate) async fn serve(
    executor: Arc<Executor>,
    owner: OwnerAccess,
    clients: KnownClients,
    stream_token: Option<ContentHash>,
    telemetry: Telemetry,
    port: &impl PortOwner,
) -> Result<(), String> {
    let config = Arc::clone(&owner.config);
    let (settings, dotted_names) = (&config.http, config.tools.dotted_names);
    // Before the port is taken: a certificate that cannot be read should be the error, not a port on which no handshake
    // works.
    let tls = settings.tls.as_ref().map(TlsCertificate::start).transpose().map_err(|error| error.to_string())?;
    let listener = listen(settings, port).await?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let (stop, stopping) = watch::channel(false);
    let site = SiteAddress::new(settings, address);
    let origin = site.origin();
    let console_site = ConsoleSite::new(&origin, address, settings.tls.is_some());
    let console_address = console_site.as_ref().map(|site| site.address().to_owned());
    let mcp = McpServer::new(
        Arc::clone(&executor),
        dotted_names,
        Connection::Http,
        telemetry.clone(),
        console_address.clone(),
    );
    let documents = public_documents(&clients, settings, &origin);
    // Read here, because the endpoint takes the clients over below.
    let style = ConnectionStyle::of_mode(Endpoint::mode(&clients.check));
    let mut pages = documents.as_ref().map(PublicDocuments::routes).unwrap_or_default();
    let sign_in_page =
        Arc::new(OwnerSignIn::new(Arc::clone(&clients.owner), clients.clock, settings.trusted_proxies.clone()));
    if let Some(server) =
        authorization_server(&clients, settings, &origin, &sign_in_page, OutgoingFetch::for_strangers())
    {
        pages = pages.merge(server.routes());
    }
    let challenge = challenge(documents.as_ref());
    let endpoint = endpoint(&executor, mcp.clone(), settings, clients, challenge, stopping.clone());
    if let Some(site) = console_site {
        let url = format!("{origin}{}", settings.endpoint_path);
        let served = ServedEndpoint { url, sessions: endpoint.0.sessions.clone() };
        let console = Console::new(Arc::clone(&executor), owner, sign_in_page, site, stopping.clone(), Some(served));
        pages = pages.merge(console.routes());
    }
    let streams = settings.sse.then(|| {
        Arc::new(EventStreams {
            endpoint: endpoint.clone(),
            mcp,
            token: stream_token,
            heartbeat: settings.heartbeat,
            calls_at_once: settings.clients.calls,
        })
    });
    // Clients often vanish without a word, and what a session holds would stay for as long as the server runs.
    tokio::spawn(endpoint.0.sessions.clone().sweep());
    tokio::spawn(async move {
        told_to_stop().await;
        stop.send_replace(true);
    });
    let watched = watched_routes(&endpoint, &telemetry, settings);
    let site_pages = site_pages::routes(SitePages::new(endpoint.clone(), executor, site.clone()));
    let router = router(endpoint, streams, pages.merge(site_pages).merge(watched), &origin, settings);
    // Outermost, so that what the checks refuse is counted too.
    let router = measured(router, &telemetry, settings);
    // Only now: a caller that waits for this may connect at once.
    port.listening(ServedApi::Mcp, address, console_address.as_deref());
    announce(address, &site, style, settings);
    accept_loop::serve(listener, tls, router, settings.connections, stopping, LAST_ANSWERS).await;
    Ok(())
}

/// How to get a token, where tokens come from an issuer. Otherwise hosted clients would start a sign-in that leads nowhere.
fn public_documents(clients: &KnownClients, settings: &HttpConfig, origin: &str) -> Option<PublicDocuments> {
    let (issuer, resource) = match &clients.check {
        ClientCheck::TokenOptional { .. } | ClientCheck::OwnerTokens { .. } => return None,
        ClientCheck::BuiltIn { .. } => (TokenIssuer::Own, None),
        ClientCheck::SharedSecret { .. } => (TokenIssuer::Unnamed, None),
        ClientCheck::Issuer { verifier, .. } => {
            (TokenIssuer::Foreign(verifier.issuer.clone()), verifier.resource.clone())
        }
    };
    let endpoint = settings.endpoint_path.clone();
    Some(PublicDocuments { origin: origin.to_owned(), endpoint, resource, issuer })
}

fn challenge(documents: Option<&PublicDocuments>) -> AuthChallenge {
    AuthChallenge { metadata: documents.map(PublicDocuments::resource_url), scope: PublicDocuments::scope() }
}

fn authorization_server(
    clients: &KnownClients,
    settings: &HttpConfig,
    origin: &str,
    sign_in_page: &Arc<OwnerSignIn>,
    fetch: OutgoingFetch,
) -> Option<Arc<AuthorizationServer>> {
    if !matches!(clients.check, ClientCheck::BuiltIn { .. }) {
        return None;
    }
    let mut rules = AuthorizationRules::new(origin, &settings.endpoint_path);
    // A life too long to be counted falls back to the default rather than to none.
    rules.access_life = i64::try_from(settings.auth.access_life.as_secs()).unwrap_or(rules.access_life);
    rules.redirects = settings.auth.redirects.clone();
    let surroundings = ServerSurroundings {
        sign_in_page: Arc::clone(sign_in_page),
        grants: Arc::clone(&clients.grants),
        rules,
        body: settings.body,
    };
    Some(AuthorizationServer::new(surroundings, fetch))
}

fn endpoint(
    executor: &Arc<Executor>,
    mcp: McpServer,
    settings: &HttpConfig,
    clients: KnownClients,
    challenge: AuthChallenge,
    stopping: watch::Receiver<bool>,
) -> Endpoint {
    let grant = Arc::clone(executor.grant());
    // Sessions exist only for clients of the versions with a handshake.
    let has_sessions = settings.session_mode == SessionMode::Stateful;
    // Host, origin and size are checked before, on every route.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(has_sessions)
        // Most calls are answered at once, and plain JSON is easier on proxies than a stream of one event.
        .with_json_response(true)
        .with_sse_keep_alive(Some(settings.heartbeat))
        // The body was limited while it was read.
        .with_max_request_body_bytes(usize::MAX)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let sessions = SessionTable::new(settings.sessions);
    let make = move || Ok(client_identity::with_current(|client| mcp.for_session(client)));
    Endpoint(Arc::new(EndpointParts {
        service: StreamableHttpService::new(make, Arc::clone(&sessions.sessions), config),
        status: status(settings, &clients),
        sessions,
        limits: RequestLimits::new(settings.clients),
        body: settings.body,
        trusted_proxies: settings.trusted_proxies.clone(),
        grant,
        has_sessions,
        is_loopback: settings.host.is_loopback(),
        clients,
        stopping,
        challenge,
    }))
}

/// `/metrics`, if the owner wants it.
fn watched_routes(endpoint: &Endpoint, telemetry: &Telemetry, settings: &HttpConfig) -> Router {
    let Some(meters) = telemetry.meters().filter(|_| settings.metrics.served) else { return Router::new() };
    let page = MetricsPage {
        meters: Arc::clone(meters),
        sessions: Arc::clone(&endpoint.0.sessions.sessions),
        token: settings.metrics.token,
    };
    Router::new().route("/metrics", get(request_meter::metrics)).with_state(page)
}

/// Counts requests, if there is a reader for the counters.
fn measured(router: Router, telemetry: &Telemetry, settings: &HttpConfig) -> Router {
    let Some(meters) = telemetry.meters() else { return router };
    let meter = RequestMeter { meters: Arc::clone(meters), endpoint_path: settings.endpoint_path.as_str().into() };
    router.layer(from_fn_with_state(meter, request_meter::measure))
}

fn router(
    endpoint: Endpoint,
    streams: Option<Arc<EventStreams>>,
    pages: Router,
    origin: &str,
    settings: &HttpConfig,
) -> Router {
    // The owner's public address is allowed by being configured; it would be refused as a foreign host otherwise.
    let public = settings.public_url.iter().map(|url| url.host.clone());
    let hosts = public.chain(settings.allowed_hosts.iter().cloned()).collect();
    let checks = RequestChecks::new(hosts, settings.allowed_origins.clone(), settings.host, origin.to_owned())
        .recording(RefusalLog::new(&endpoint.0.clients, &settings.trusted_proxies));
    let path = &settings.endpoint_path;
    let older = streams.map(|streams| {
        Router::new()
            .route("/sse", get(event_streams::listen))
            .route("/messages", post(event_streams::post))
            .with_state(streams)
    });
    Router::new()
        .route(path, any(endpoint::handle))
        // A redirect would lose the token.
        .route(&format!("{path}/"), any(endpoint::handle))
        .with_state(endpoint)
        .merge(pages)
        .merge(older.unwrap_or_default())
        // Last, and so around every route: no page can forget the checks of host and origin.
        .layer(from_fn_with_state(checks, request_checks::guard))
}

/// The answer to a plain look at the endpoint. With authentication it says only that the server is up.
fn status(settings: &HttpConfig, clients: &KnownClients) -> Value {
    // Version and capabilities help an attacker to choose; clients learn them when they connect.
    if !matches!(clients.check, ClientCheck::TokenOptional { .. }) {
        return json!({ "status": "ok" });
    }
    let mode = match settings.session_mode {
        SessionMode::Stateful => "stateful",
        SessionMode::Stateless => "stateless",
    };
    let server = json!({
        "name": "lapidary",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "An MCP server for Obsidian vaults",
        "transport": "http",
        "sessionMode": mode,
    });
    let versions: Vec<&str> =
        rmcp::model::ProtocolVersion::KNOWN_VERSIONS.iter().map(|version| version.as_str()).collect();
    json!({
        "status": "ok",
        "server": server,
        "protocolVersions": versions,
        "capabilities": { "tools": true, "resources": true, "prompts": true, "completions": true },
        "auth": { "mode": Endpoint::mode(&clients.check) },
    })
}

/// The configured port, or one of the next if it is taken and was not chosen.
async fn listen(settings: &HttpConfig, owner: &impl PortOwner) -> Result<TcpListener, String> {
    let host: IpAddr = settings.host;
    // Port 0 means any free one, so there is no next.
    let tries = if settings.port == 0 { 0 } else { settings.max_port_retries };
    let mut port = settings.port;
    loop {
        match TcpListener::bind(SocketAddr::new(host, port)).await {
            Ok(listener) => return Ok(listener),
            Err(error)
                if error.kind() == std::io::ErrorKind::AddrInUse && port < settings.port.saturating_add(tries) =>
            {
                port += 1;
            }
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                return Err(taken(SocketAddr::new(host, port), settings, owner).await);
            }
            Err(error) => return Err(format!("cannot listen on {}: {error}", SocketAddr::new(host, port))),
        }
    }
}

/// What to do about a port that another program listens on. Clients are told one address, so the server must not go
/// elsewhere by itself.
async fn taken(address: SocketAddr, settings: &HttpConfig, owner: &impl PortOwner) -> String {
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let here = IpAddr::from([127, 0, 0, 1]);
    let ip = if address.ip().is_unspecified() { here } else { address.ip() };
    let card = format!("{scheme}://{}{CARD}", SocketAddr::new(ip, address.port()));
    let is_ours = tokio::task::spawn_blocking(move || {
        // Unverified, since nothing is sent and the answer only chooses a word; the certificate of another server here
        // may be for any name.
        let mut answer = unverified_agent(Duration::from_secs(2)).get(&card).call().ok()?;
        let card = answer.body_mut().with_config().limit(64 * 1024).read_to_vec().ok()?;
        let card: Value = serde_json::from_slice(&card).ok()?;
        Some(card["server_name"] == "lapidary")
    });
    let who = match is_ours.await {
        Ok(Some(true)) => "another Lapidary server",
        _ => "another program",
    };
    let port = address.port();
    let known = owner.holder(port);
    let holder = known.as_ref().map_or_else(String::new, |holder| format!(" ({holder})"));
    let search = match known {
        Some(_) => String::new(),
        None => format!(" (`ss -ltnp 'sport = :{port}'` or `lsof -i :{port}` names the process.)"),
    };
    format!(
        "cannot listen on {address}: {who}{holder} listens on port {port} already. Stop it, or choose another port with \
         `--http {}`, or any free one with `--http 0`.{search}",
        SocketAddr::new(address.ip(), port.checked_add(1).unwrap_or(port - 1)),
    )
}

/// What is served at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServedApi {
    Mcp,
    /// The API of Obsidian's plugin.
    Rest {
        is_encrypted: bool,
    },
}

/// Who has which port on this computer.
pub(crate) trait PortOwner {
    /// The server listens here from now on; the console, if it has one, is at this origin.
    fn listening(&self, service: ServedApi, address: SocketAddr, console: Option<&str>);
    /// What is known of the process that has a port, for a person.
    fn holder(&self, port: u16) -> Option<String>;
}

/// Tells a person where the server is and what to paste into a client.
fn announce(address: SocketAddr, site: &SiteAddress, style: ConnectionStyle, settings: &HttpConfig) {
    let (endpoint, scheme) = (&settings.endpoint_path, if settings.tls.is_some() { "https" } else { "http" });
    tracing::info!("serving MCP at {scheme}://{address}{endpoint}");
    if settings.sse {
        tracing::info!("older clients connect to {scheme}://{address}/sse");
    }
    let told = if style == ConnectionStyle::Token { " (with its token in the variable LAPIDARY_TOKEN)" } else { "" };
    for ConnectionSnippet { client, text, .. } in snippets(&site.url, style) {
        let Some(text) = text.filter(|_| matches!(client, "Claude Code" | "Codex" | "Cursor")) else { continue };
        // One line each.
        let text = serde_json::from_str::<Value>(&text).map_or(text, |json| json.to_string());
        tracing::info!("to connect {client}{told}: {text}");
    }
    tracing::info!("for all clients, and everything that is offered: open {scheme}://{address}/ in a browser");
}
