//! The client and the remote vault on the fake plugin, in all versions and with all faults.

#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

mod client;
mod faults;
mod hostile;
mod remote;
mod rules;

use std::time::Duration;

use lapidary_fake_plugin::{FakePlugin, FakeSetup, FakeVersion};
use lapidary_plugin::{ApiKey, CertificateTrust, ConnectionSettings, PluginConnection, PluginUrl};
use lapidary_store::VaultPath;

/// Long enough on a busy computer; no test waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

fn settings(plugin: &FakePlugin) -> ConnectionSettings {
    let url = PluginUrl::parse(&plugin.url()).unwrap();
    let trust = match plugin.certificate() {
        Some(pem) => CertificateTrust::pinned(pem.as_bytes()).unwrap(),
        None => CertificateTrust::Public,
    };
    ConnectionSettings { trust, timeout: PATIENCE, ..ConnectionSettings::new(url, ApiKey::new(plugin.key())) }
}

fn connect(plugin: &FakePlugin) -> PluginConnection {
    PluginConnection::new(&settings(plugin)).unwrap()
}

/// A plugin of each version, with and without TLS.
fn every_plugin(files: &[(&str, &[u8])]) -> Vec<FakePlugin> {
    let plain = FakeVersion::ALL.map(|version| FakeSetup::new(version).with_files(files));
    let encrypted = FakeVersion::ALL.map(|version| FakeSetup::new(version).encrypted().with_files(files));
    plain.into_iter().chain(encrypted).map(FakePlugin::start).collect()
}

fn path(text: &str) -> VaultPath {
    VaultPath::spelt(text).unwrap()
}
