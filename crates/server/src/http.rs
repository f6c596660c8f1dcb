//! MCP over Streamable HTTP, on loopback.

mod client_identity;
mod known_clients;
mod quoted_facts;

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    extract::{Request, State},
    http::{Method, StatusCode, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
    serve::ListenerExt,
};
use lapidary_pipeline::Executor;
use lapidary_tools::Reason;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::net::TcpListener;

use self::client_identity::SessionOwners;
pub(crate) use self::known_clients::{ClientCheck, ConfiguredClient, KnownClient, KnownClients};
use crate::{
    config::{AllowedOrigins, HttpConfig, SessionMode},
    mcp::{Connection, McpServer},
    stdio::told_to_stop,
};

/// How long calls in progress may take to be answered once the server is told to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

pub(crate) async fn serve(
    executor: Arc<Executor>,
    dotted_names: bool,
    settings: &HttpConfig,
    clients: KnownClients,
) -> Result<(), String> {
    let listener = listen(settings).await?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    announce(address, &settings.endpoint_path);
    // Without this, a reply in two writes waits 40 ms for the client's acknowledgement of the first.
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "slow answers ahead");
        }
    });
    let mcp = McpServer::new(executor, dotted_names, Connection::Http);
    let router = router(mcp, settings, clients);
    let serving = axum::serve(listener, router).with_graceful_shutdown(told_to_stop());
    tokio::select! {
        ended = serving.into_future() => ended.map_err(|error| error.to_string()),
        // Clients keep a stream open for as long as the server lives, so not all of them are waited for.
        () = async { told_to_stop().await; tokio::time::sleep(LAST_ANSWERS).await } => Ok(()),
    }
}

fn router(mcp: McpServer, settings: &HttpConfig, clients: KnownClients) -> Router {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(settings.session_timeout);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(settings.session_mode == SessionMode::Stateful)
        .with_json_response(true)
        .with_max_request_body_bytes(settings.max_body_bytes.unwrap_or(usize::MAX));
    let config = match &settings.allowed_origins {
        AllowedOrigins::Loopback => config.with_allowed_origins(loopback_origins()).enforce_origin_validation(),
        AllowedOrigins::Listed(origins) => config.with_allowed_origins(origins.clone()).enforce_origin_validation(),
        AllowedOrigins::Any => config.disable_allowed_origins(),
    };
    let sessions = Arc::new(sessions);
    let service = StreamableHttpService::new(
        move || Ok(client_identity::with_current(|client| mcp.for_session(client))),
        Arc::clone(&sessions),
        config,
    );
    let owners = SessionOwners::default();
    let limit = from_fn_with_state((owners.clone(), sessions), limit_sessions);
    Router::new()
        .route_service(&settings.endpoint_path, service)
        .route_layer(from_fn(quoted_facts::unquote))
        .route_layer(limit)
        .route_layer(from_fn(strict))
        // Unknown paths need no authentication: clients probe for other ways to identify themselves.
        .route_layer(from_fn_with_state((clients, owners), client_identity::identify))
        .route("/healthz", get(|| async { axum::Json(serde_json::json!({ "status": "ok" })) }))
}

/// Refuses requests that no client sends by itself and that intermediaries could read in two ways.
async fn strict(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let twice = [header::HOST, header::ORIGIN].iter().any(|name| headers.get_all(name).iter().nth(1).is_some());
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    // `GET http://host/path` has to name the host in the header.
    let other_host = request.uri().authority().is_some_and(|authority| host != Some(authority.as_str()));
    if twice || other_host {
        return (StatusCode::BAD_REQUEST, "Bad Request: the request names several hosts or origins").into_response();
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let essence = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    if request.method() == Method::POST && !essence.eq_ignore_ascii_case("application/json") {
        let message = "Unsupported Media Type: Content-Type must be application/json";
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, message).into_response();
    }
    next.run(request).await
}

/// The number of concurrently open sessions: of one client with a token, and of all together.
const SESSIONS_OF_ONE: usize = 500;
const SESSIONS: usize = 2_000;

/// Refuses to open more sessions than a client needs. Each keeps memory and a task until it ends or times out.
async fn limit_sessions(
    State((owners, sessions)): State<(SessionOwners, Arc<LocalSessionManager>)>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    // The protocol library refuses a method in the headers that differs from the one in the body.
    let may_open = headers.get("mcp-method").is_none_or(|method| method == "initialize");
    if request.method() == Method::POST && !headers.contains_key(client_identity::SESSION) && may_open {
        let open = sessions.sessions.read().await;
        let own = request
            .extensions()
            .get::<KnownClient>()
            .map_or(0, |client| owners.count(client, |session| open.contains_key(session)));
        let limit = match () {
            () if own >= SESSIONS_OF_ONE => Some(SESSIONS_OF_ONE),
            () if open.len() >= SESSIONS => Some(SESSIONS),
            () => None,
        };
        drop(open);
        if let Some(limit) = limit {
            return too_many_sessions(limit);
        }
    }
    next.run(request).await
}

fn too_many_sessions(limit: usize) -> Response {
    let reason = Reason::TooMany { what: "sessions", limit };
    let data = serde_json::json!({ "reason": reason.kind().wire_code().id, "limit": limit });
    let error =
        serde_json::json!({ "code": reason.kind().wire_code().number, "message": reason.to_string(), "data": data });
    let body = serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error });
    (StatusCode::SERVICE_UNAVAILABLE, axum::Json(body)).into_response()
}

fn loopback_origins() -> impl Iterator<Item = String> {
    ["localhost", "127.0.0.1", "[::1]"]
        .into_iter()
        .flat_map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{host}:*")))
}

/// The configured port, or one of the next if it is taken.
async fn listen(settings: &HttpConfig) -> Result<TcpListener, String> {
    let host: IpAddr = settings.host;
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
            Err(error) => return Err(format!("cannot listen on {}: {error}", SocketAddr::new(host, port))),
        }
    }
}

/// Prints where the server is and what to paste into a client.
fn announce(address: SocketAddr, endpoint: &str) {
    let url = format!("http://{address}{endpoint}");
    tracing::info!("serving MCP at {url}");
    let config = serde_json::json!({ "mcpServers": { "obsidian": { "type": "http", "url": url } } });
    tracing::info!("to connect Claude Code: claude mcp add --transport http obsidian {url}");
    tracing::info!("to connect Codex: codex mcp add obsidian --url {url}");
    tracing::info!("to connect Cursor and others: {config}");
}
