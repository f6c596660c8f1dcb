//! Whether the port of the HTTP server is free, or whose it is.

use std::{
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use lapidary_config::{Config, Transport};
use lapidary_telemetry::outgoing;

use super::{finding::Finding, health_check::own_address};

const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn look(config: &Config) -> Finding {
    const WHAT: &str = "port";
    let http = &config.http;
    if http.port == 0 {
        return Finding::ok(WHAT, "the system chooses one");
    }
    let address = SocketAddr::new(http.host, http.port);
    // Binding is the only sure test; the listener is closed again at once.
    let Err(error) = TcpListener::bind(address) else {
        return Finding::ok(WHAT, format!("{address} is free"));
    };
    if error.kind() != std::io::ErrorKind::AddrInUse {
        let advice = "choose another: lapidary --http HOST:PORT, or MCP_HTTP_HOST and MCP_HTTP_PORT";
        // Over stdio the port is never used, so it is a failure only with HTTP.
        return if config.transport == Transport::Http {
            Finding::failure(WHAT, format!("{address}: {error}"), advice)
        } else {
            Finding::warning(WHAT, format!("{address}: {error}"), advice)
        };
    }
    // Binding failed, so something answers there; a running Lapidary is fine.
    let is_ours = outgoing::unverified_agent(PATIENCE)
        .get(&format!("{}/.well-known/mcp.json", own_address(http)))
        .call()
        .ok()
        .and_then(|mut answer| answer.body_mut().with_config().limit(64 << 10).read_to_string().ok())
        .is_some_and(|card| card.contains("lapidary"));
    if is_ours {
        return Finding::ok(WHAT, format!("{address} is used by a running Lapidary"));
    }
    let last = http.port.saturating_add(http.max_port_retries);
    let advice = format!("the next free port up to {last} is taken instead; or choose one with --http PORT");
    Finding::warning(WHAT, format!("{address} is used by another program"), advice)
}
