//! Whether the server of this configuration answers on this computer, for containers that have no other program to ask.

use std::{io::Write, time::Duration};

use lapidary_config::{Config, HttpConfig};
use lapidary_telemetry::outgoing;

use crate::commands::{CommandFailure, CommandOutcome};

const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// Where the server of this configuration answers on this computer.
pub(super) fn own_address(http: &HttpConfig) -> String {
    // What listens everywhere also listens here.
    let host = match http.host {
        host if !host.is_unspecified() => host,
        std::net::IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
        std::net::IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
    };
    let scheme = if http.tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{}", std::net::SocketAddr::new(host, http.port))
}

pub(super) fn run(config: &Config, out: &mut dyn Write) -> Result<CommandOutcome, CommandFailure> {
    let url = format!("{}/healthz", own_address(&config.http));
    // The certificate is for the name that the world uses, not for this address.
    let answered = outgoing::unverified_agent(ANSWER_TIMEOUT).get(&url).call();
    let (said, outcome) = match answered {
        Ok(answer) if answer.status().is_success() => ("ok".to_owned(), CommandOutcome::Well),
        Ok(answer) => (format!("it answers {}", answer.status().as_u16()), CommandOutcome::Refused),
        Err(error) => (outgoing::in_words(&error), CommandOutcome::Refused),
    };
    writeln!(out, "{said}")?;
    Ok(outcome)
}
