//! Whether the other MCP servers of the configuration answer. Each is started or asked once, as the first call would.

use std::time::Duration;

use lapidary_config::{ChosenVault, Config, ServerConfig, ServerReach, VaultsConfig};
use lapidary_mcp_client::ConfiguredServers;
use lapidary_note::counted;
use lapidary_tools::{FailedCall, OtherServers, ServerFacts, ServerFault, ToolOffer, quote::quoted};

use super::finding::Finding;
use crate::{other_servers, trusted_roots::usable_roots};

/// A person waits for the answer, and a package manager may have to fetch the program first.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn look(config: &Config, vaults: &[ChosenVault]) -> Vec<Finding> {
    if config.mcp.is_nested && !config.mcp.servers.is_empty() {
        let advice = "nothing: a Lapidary that another one started reaches no further servers (LAPIDARY_NESTED)";
        return vec![Finding::warning("servers", "they are not used here", advice)];
    }
    let is_unknown = matches!(&config.vaults, VaultsConfig::Chosen(chosen) if chosen.is_empty());
    if is_unknown && !config.mcp.servers.is_empty() {
        let advice = "correct the configuration first; only then is it known what is in a vault, from where no program is started";
        return vec![Finding::warning("servers", "they were not asked: no vault is known", advice)];
    }
    match other_servers::configured(&config.mcp, vaults, &|| usable_roots(config.authorities.as_deref())) {
        Ok(None) => Vec::new(),
        // What is wrong is said under "Rules", where the server does not start.
        Err(_) => Vec::new(),
        Ok(Some(servers)) => {
            let findings = config.mcp.servers.iter().map(|server| one(server, &servers)).collect();
            servers.stop();
            findings
        }
    }
}

fn one(server: &ServerConfig, servers: &ConfiguredServers) -> Finding {
    let what = format!("server {}", server.name);
    match servers.tools(&server.name, PATIENCE) {
        Ok(offer) if offer.tools.is_empty() => {
            let advice = "see `allow` and `deny` of the server, or remove it";
            Finding::warning(what, format!("it answers, with no tool that can be used{}", left_out(&offer)), advice)
        }
        Ok(offer) => {
            let reading = offer.tools.iter().filter(|tool| tool.standing.only_reads).count();
            let unmatched = server.read_only.iter().filter(|pattern| {
                // A pattern that matches nothing trusts nothing, which is safe and probably not meant.
                !offer.tools.iter().any(|tool| pattern.matches(&tool.name))
            });
            let unmatched = unmatched.count();
            let found = format!(
                "it answers, with {}, {reading} of them read-only{}",
                counted(offer.tools.len(), "tool"),
                left_out(&offer)
            );
            match unmatched {
                0 => Finding::ok(what, found),
                _ => Finding::warning(what, found, "correct `read_only`: some of its patterns match no tool"),
            }
        }
        Err(fault) => {
            let advice = advice(server, &fault);
            // For the owner alone: in no answer to a client.
            let words: Vec<String> =
                servers.last_words(&server.name).iter().map(|line| quoted(line).to_string()).collect();
            let words = if words.is_empty() { String::new() } else { format!(" Its last words: {}", words.join(" ")) };
            let said = FailedCall::unsent(fault).into_reason(&server.name).to_string();
            Finding::failure(what, format!("{said}{words}"), advice)
        }
    }
}

fn left_out(offer: &ToolOffer) -> String {
    match offer.left_out {
        0 => String::new(),
        count => format!(" ({count} left out: too many, or of an odd name)"),
    }
}

fn advice(server: &ServerConfig, fault: &ServerFault) -> &'static str {
    match (&server.reach, fault) {
        (ServerReach::Program { .. }, ServerFault::NotStarted) => {
            "check `command`: a name is looked for in PATH, which differs for programs that are not started from a shell"
        }
        (ServerReach::Program { .. }, ServerFault::TimedOut) => {
            "start it by hand once: it may have to be fetched first"
        }
        (ServerReach::Program { .. }, _) => {
            "start it by hand with the same `args`; it gets only the variables that you pass on"
        }
        (ServerReach::Address { .. }, ServerFault::Status { status: 401 | 403 }) => "check `headers` and `token_env`",
        (ServerReach::Address { .. }, ServerFault::Redirected) => "write the address that it sends to as `url`",
        (ServerReach::Address { .. }, _) => "check `url`, and whether the server runs",
    }
}
