//! The connection to a vault that is not on this disk.

use lapidary_config::{AppConfig, ChosenVault, Config, RemoteVault};
use lapidary_plugin::{ApiKey, CertificateTrust, ConnectionSettings, PluginConnection, PluginUrl};
use lapidary_vault::store::{Capabilities, folder_exists};

use crate::assemble::StartError;

/// Whether the folder of a vault exists. One that is not on this disk is looked for when it is needed.
pub(crate) fn is_there(vault: &ChosenVault) -> bool {
    vault.folder().is_none_or(folder_exists)
}

/// What the place of a vault cannot promise, in words; nothing for a folder.
pub(crate) fn unpromised(capabilities: &Capabilities) -> Option<String> {
    let missing: Vec<&str> = [
        (capabilities.compare_and_swap, "keeping what another program writes to a note at the very moment of a change"),
        (capabilities.atomic_many, "a change of several files in one step"),
        (capabilities.durable, "that a change survives a power cut"),
    ]
    .into_iter()
    .filter_map(|(is_promised, what)| (!is_promised).then_some(what))
    .collect();
    (!missing.is_empty()).then(|| missing.join("; "))
}

/// How to reach a vault.
pub(crate) fn settings(remote: &RemoteVault, app: &AppConfig) -> Result<ConnectionSettings, String> {
    let url = PluginUrl::parse(&remote.url).map_err(|error| format!("its address: {error}"))?;
    let trust = match &remote.certificate {
        Some(pem) => CertificateTrust::pinned(pem.as_bytes()).map_err(|error| format!("`certificate`: {error}"))?,
        // The owner said so; it holds for this computer alone.
        None if app.verifies_publicly == Some(false) => CertificateTrust::AnyOnThisComputer,
        None => CertificateTrust::Public,
    };
    let key = ApiKey::new(remote.key.reveal());
    Ok(ConnectionSettings { trust, timeout: app.timeout, ..ConnectionSettings::new(url, key) })
}

/// Nothing is sent yet: a server starts while the app is closed.
pub(crate) fn connection(
    vault: &ChosenVault,
    remote: &RemoteVault,
    config: &Config,
) -> Result<PluginConnection, StartError> {
    let wrong = |problem: String| StartError::Remote { vault: vault.name.clone(), problem };
    let settings = settings(remote, &config.app).map_err(wrong)?;
    PluginConnection::new(&settings).map_err(|error| wrong(format!("`certificate`: {error}")))
}
