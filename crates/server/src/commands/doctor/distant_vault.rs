//! A vault that is reached through Obsidian: whether it answers, and as whom it takes us.

use lapidary_config::{ChosenVault, Config, RemoteVault};
use lapidary_plugin::PluginError;

use super::finding::Finding;
use crate::remote_vault;

const WHAT: &str = "Obsidian";

pub(super) fn look(vault: &ChosenVault, remote: &RemoteVault, config: &Config) -> Finding {
    let connection = match remote_vault::connection(vault, remote, config) {
        Ok(connection) => connection.without_retries(),
        Err(problem) => {
            return Finding::failure(WHAT, problem.to_string(), "correct it; the server does not start with it");
        }
    };
    let url = connection.url();
    match connection.status() {
        Ok(status) if status.is_authenticated => {
            let app = status.obsidian.map(|app| format!(", Obsidian {app}")).unwrap_or_default();
            Finding::ok(WHAT, format!("Local REST API {} answers at {url}{app}", status.version))
        }
        Ok(_) | Err(PluginError::KeyRejected) => Finding::failure(
            WHAT,
            format!("the plugin at {url} does not accept the key"),
            "copy the key from the settings of the plugin Local REST API",
        ),
        Err(PluginError::CertificateRejected) => Finding::failure(
            WHAT,
            format!("{url} has a certificate that is not believed"),
            "name the plugin's certificate as `certificate` of the vault in lapidary.toml, or set OBSIDIAN_VERIFY_SSL=false if \
             Obsidian runs on this computer",
        ),
        Err(error) => Finding::warning(
            WHAT,
            format!("{url}: {error}"),
            "open the vault in Obsidian with the plugin Local REST API; until then every call is refused",
        ),
    }
}
