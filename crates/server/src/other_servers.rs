//! The other MCP servers of the configuration, and what keeps a vault from starting programs.

use std::path::{Path, PathBuf};

use lapidary_config::{ChosenVault, McpConfig, ServerApproval, ServerConfig, ServerReach};
use lapidary_mcp_client::{ConfiguredServers, ServerPlace, ServerSettings};
use lapidary_telemetry::outgoing;
use lapidary_vault::store::is_around;
use ureq::tls::RootCerts;

/// Marks the programs of other servers: a Lapidary among them reaches none itself, so that one that is configured as a server of
/// itself does not start itself without end.
const NESTED: &str = "LAPIDARY_NESTED";

/// Why the servers of the configuration are not used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ServersInVault {
    #[error(
        "{} is in a vault, and `mcp.servers` starts programs: anyone who can write to the vault, as by sync, could run anything on \
         this computer; keep the file elsewhere", .0.display()
    )]
    File(PathBuf),
    #[error(
        "the program of the server '{server}' is in a vault: anyone who can write to the vault, as by sync, could run anything on this \
         computer; keep it elsewhere"
    )]
    Program { server: String },
}

/// The servers, none of which is started or asked yet; `None` if there is none to be used. All that reaches one begins here.
pub(crate) fn configured(
    config: &McpConfig,
    vaults: &[ChosenVault],
    roots: &dyn Fn() -> RootCerts,
) -> Result<Option<ConfiguredServers>, ServersInVault> {
    // Without vaults no one can say what is in one: `doctor` comes here with what is left of a configuration that was refused,
    // perhaps for this very reason.
    if config.servers.is_empty() || config.is_nested || vaults.is_empty() {
        return Ok(None);
    }
    // By their real places: a link outside of the vault may lead into it.
    let is_in_vault = |path: &Path| vaults.iter().filter_map(ChosenVault::folder).any(|vault| is_around(vault, path));
    if let Some(file) = config.file.as_ref().filter(|file| is_in_vault(file)) {
        return Err(ServersInVault::File(file.clone()));
    }
    for server in &config.servers {
        if let ServerReach::Program { command, .. } = &server.reach
            && is_in_vault(Path::new(command))
        {
            return Err(ServersInVault::Program { server: server.name.clone() });
        }
    }
    Ok(Some(ConfiguredServers::new(config.servers.iter().map(|server| settings(server, config, roots)).collect())))
}

/// Whether the owner says of some tool that it only reads.
pub(crate) fn some_only_read(config: &McpConfig) -> bool {
    !config.is_nested && config.servers.iter().any(|server| !server.read_only.is_empty())
}

fn settings(server: &ServerConfig, config: &McpConfig, roots: &dyn Fn() -> RootCerts) -> ServerSettings {
    let place = match &server.reach {
        ServerReach::Program { command, args, variables } => {
            let mut all = config.environment.clone();
            all.extend(variables.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned())));
            // Last, so that the owner's variables cannot take it away by mistake.
            all.insert(NESTED.to_owned(), "true".to_owned());
            ServerPlace::Program { command: command.clone(), args: args.clone(), variables: all }
        }
        ServerReach::Address { url, headers } => {
            let agent = outgoing::settings(server.timeout, roots(), false).proxy(None).build();
            let headers = headers.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
            ServerPlace::Address { url: url.clone(), headers: headers.collect(), agent: agent.into() }
        }
    };
    ServerSettings {
        name: server.name.clone(),
        about: server.about.clone(),
        place,
        allow: server.allow.clone(),
        deny: server.deny.clone(),
        read_only: server.read_only.clone(),
        asks_for_reads: server.approval == ServerApproval::Always,
        asks_for_writes: server.approval != ServerApproval::Never,
        timeout: server.timeout,
        max_reply_bytes: server.max_reply_bytes,
    }
}
