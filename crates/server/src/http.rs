//! MCP over Streamable HTTP: who may connect, who is calling, and how much each may ask for.

mod accept_loop;
mod client_address;
mod client_identity;
mod client_limits;
mod endpoint;
mod event_streams;
mod known_clients;
mod posted_message;
mod quoted_facts;
mod request_gate;
mod session_table;

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
use lapidary_note::ContentHash;
use lapidary_pipeline::Executor;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};

pub(crate) use self::known_clients::{ClientCheck, ConfiguredClient, KnownClient, KnownClients};
use self::{
    client_limits::LimitKeeper,
    endpoint::{Endpoint, EndpointParts},
    event_streams::EventStreams,
    request_gate::RequestGate,
    session_table::SessionTable,
};
use crate::{
    config::{HttpConfig, SessionMode},
    mcp::{Connection, McpServer},
    stdio::told_to_stop,
};

/// How long calls that are under way may take to be answered once the server is told to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

pub(crate) async fn serve(
    executor: Arc<Executor>,
    dotted_names: bool,
    settings: &HttpConfig,
    clients: KnownClients,
    stream_token: Option<ContentHash>,
) -> Result<(), String> {
    let listener = listen(settings).await?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    announce(address, settings);
    let (stop, stopping) = watch::channel(false);
    let mcp = McpServer::new(Arc::clone(&executor), dotted_names, Connection::Http);
    let endpoint = endpoint(&executor, mcp.clone(), settings, clients, stopping.clone());
    let streams = settings.sse.then(|| {
        let calls = settings.clients.calls;
        EventStreams::new(endpoint.clone(), mcp, stream_token, settings.heartbeat, calls)
    });
    tokio::spawn(endpoint.0.sessions.clone().sweep());
    tokio::spawn(async move {
        told_to_stop().await;
        stop.send_replace(true);
    });
    accept_loop::serve(listener, router(endpoint, streams, settings), settings.connections, stopping, LAST_ANSWERS)
        .await;
    Ok(())
}

fn endpoint(
    executor: &Arc<Executor>,
    mcp: McpServer,
    settings: &HttpConfig,
    clients: KnownClients,
    stopping: watch::Receiver<bool>,
) -> Endpoint {
    let grant = Arc::clone(executor.grant());
    let has_sessions = settings.session_mode == SessionMode::Stateful;
    // Host, origin and size are checked before, on every route.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(has_sessions)
        .with_json_response(true)
        .with_sse_keep_alive(Some(settings.heartbeat))
        .with_max_request_body_bytes(usize::MAX)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let sessions = SessionTable::new(settings.sessions);
    let make = move || Ok(client_identity::with_current(|client| mcp.for_session(client)));
    Endpoint(Arc::new(EndpointParts {
        service: StreamableHttpService::new(make, Arc::clone(&sessions.sessions), config),
        status: status(settings, &clients),
        sessions,
        limits: LimitKeeper::new(settings.clients),
        body: settings.body,
        trusted_proxies: settings.trusted_proxies.clone(),
        grant,
        has_sessions,
        is_loopback: settings.host.is_loopback(),
        clients,
        stopping,
    }))
}

fn router(endpoint: Endpoint, streams: Option<Arc<EventStreams>>, settings: &HttpConfig) -> Router {
    let public = settings.public_url.iter().map(|url| url.host.clone());
    let hosts = public.chain(settings.allowed_hosts.iter().cloned()).collect();
    let gate = RequestGate::new(hosts, settings.allowed_origins.clone(), settings.host);
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
        .route("/healthz", get(|| async { axum::Json(json!({ "status": "ok" })) }))
        .merge(older.unwrap_or_default())
        .layer(from_fn_with_state(gate, request_gate::guard))
}

/// The answer to a plain look at the endpoint. With authentication it says only that the server is up.
fn status(settings: &HttpConfig, clients: &KnownClients) -> Value {
    if !matches!(clients.check, ClientCheck::Open) {
        return json!({ "status": "ok" });
    }
    let mode = match settings.session_mode {
        SessionMode::Stateful => "stateful",
        SessionMode::Stateless => "stateless",
    };
    let server = json!({
        "name": "lapidary",
        "version": env!("CARGO_PKG_VERSION"),
        "description": env!("CARGO_PKG_DESCRIPTION"),
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

/// Tells a person where the server is and what to paste into a client.
fn announce(address: SocketAddr, settings: &HttpConfig) {
    let endpoint = &settings.endpoint_path;
    tracing::info!("serving MCP at http://{address}{endpoint}");
    if settings.sse {
        tracing::info!("older clients connect to http://{address}/sse");
    }
    let url = match &settings.public_url {
        Some(public) => format!("{}{endpoint}", public.origin),
        None => format!("http://{address}{endpoint}"),
    };
    let config = json!({ "mcpServers": { "obsidian": { "type": "http", "url": url } } });
    tracing::info!("to connect Claude Code: claude mcp add --transport http obsidian {url}");
    tracing::info!("to connect Codex: codex mcp add obsidian --url {url}");
    tracing::info!("to connect Cursor and others: {config}");
}
