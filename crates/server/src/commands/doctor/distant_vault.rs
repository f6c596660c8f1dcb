//! A vault that is reached through Obsidian: whether it answers, and as whom it takes us.

use lapidary_config::{ChosenVault, Config, RemoteVault};
use lapidary_plugin::{PluginConnection, PluginError, RemoteBackend};

use super::finding::{Finding, FindingLevel};
use crate::remote_vault;

const WHAT: &str = "Obsidian";
const PROMISES: &str = "promises";

pub(super) fn look(vault: &ChosenVault, remote: &RemoteVault, config: &Config) -> Vec<Finding> {
    let connection = match remote_vault::connection(vault, remote, config) {
        // A person waits, so one try has to do.
        Ok(connection) => connection.without_retries(),
        Err(problem) => {
            let advice = "correct it; the server does not start with it";
            return vec![Finding::failure(WHAT, problem.to_string(), advice)];
        }
    };
    let answer = answer(&connection);
    match answer.level {
        FindingLevel::Ok => vec![answer, promises(&connection)],
        FindingLevel::Warning | FindingLevel::Failure => vec![answer],
    }
}

/// Whether it answers.
fn answer(connection: &PluginConnection) -> Finding {
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
        // Unlike an app that only does some things more: without this one, nothing works.
        Err(error) => Finding::failure(
            WHAT,
            format!("{url}: {error}"),
            "open the vault in Obsidian with the plugin Local REST API, start `lapidary serve --rest` there, or correct the address; \
             until then every call is refused",
        ),
    }
}

/// What it cannot promise, which a folder can.
fn promises(connection: &PluginConnection) -> Finding {
    let names_versions = connection.names_versions();
    let unpromised = remote_vault::unpromised(&RemoteBackend::promised(matches!(names_versions, Ok(Some(true)))));
    let found = format!("not as in a folder: {}", unpromised.unwrap_or_default());
    match names_versions {
        Ok(Some(false)) => {
            let advice = "update the plugin Local REST API: from version 6 on it names the versions of files, so that nothing is \
                          overwritten unseen";
            Finding::warning(PROMISES, found, advice)
        }
        Ok(_) => Finding::ok(PROMISES, found),
        Err(error) => Finding::warning(PROMISES, format!("not known: {error}"), "look again when Obsidian answers"),
    }
}
