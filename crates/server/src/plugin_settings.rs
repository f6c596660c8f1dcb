//! The settings of Obsidian's plugin Local REST API, in the vault where it is installed.

use std::{fmt, io, path::Path};

use lapidary_vault::store::{is_there, read_settings};
use serde_json::Value;

/// The plugin's name in the folders and lists of Obsidian.
const PLUGIN: &str = "obsidian-local-rest-api";
/// Its settings in a vault.
const SETTINGS: &str = ".obsidian/plugins/obsidian-local-rest-api/data.json";

/// What the plugin of a vault is set to.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PluginSettings {
    pub(crate) key: Option<String>,
    /// The header that carries the key, if it is not the usual one.
    pub(crate) key_header: Option<String>,
    pub(crate) port: u16,
    pub(crate) plain_port: u16,
    /// Whether it serves plain HTTP too.
    pub(crate) is_plain: bool,
    /// Its own certificate, in PEM form.
    pub(crate) certificate: Option<String>,
    /// The address that it listens on, if it is not the usual one.
    host: Option<String>,
}

/// Whether a vault has the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstalledPlugin {
    Absent,
    /// Obsidian does not load it.
    Off,
    On,
}

impl InstalledPlugin {
    pub(crate) fn of_vault(folder: &Path) -> Self {
        let settings = folder.join(".obsidian");
        if !is_there(&settings.join("plugins").join(PLUGIN)) {
            return Self::Absent;
        }
        // A list that cannot be read counts as empty, as for Obsidian; `lapidary doctor` reports it.
        let on: Value = read_settings(&settings.join("community-plugins.json"))
            .ok()
            .and_then(|text| serde_json::from_str(text.trim_start_matches('\u{feff}')).ok())
            .unwrap_or_default();
        match on.as_array().is_some_and(|names| names.iter().any(|name| name == PLUGIN)) {
            true => Self::On,
            false => Self::Off,
        }
    }
}

/// Why they cannot be used. The text of the file is not quoted: it has the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingsProblem {
    #[error("not JSON at line {line}, column {column}")]
    NotJson { line: usize, column: usize },
    #[error("{0}")]
    Unreadable(String),
}

impl PluginSettings {
    /// `None` if the plugin has none in this vault.
    pub(crate) fn of_vault(folder: &Path) -> Result<Option<Self>, SettingsProblem> {
        let text = match read_settings(&folder.join(SETTINGS)) {
            Ok(text) => text,
            // A file in the place of a folder: the plugin is not installed there.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(SettingsProblem::Unreadable(error.to_string())),
        };
        let settings: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| SettingsProblem::NotJson { line: error.line(), column: error.column() })?;
        Ok(Some(Self::read(&settings)))
    }

    fn read(settings: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let port =
            |name: &str, usual: u16| settings[name].as_u64().and_then(|port| u16::try_from(port).ok()).unwrap_or(usual);
        Self {
            key: text(&settings["apiKey"]),
            key_header: text(&settings["authorizationHeaderName"]),
            port: port("port", 27124),
            plain_port: port("insecurePort", 27123),
            is_plain: settings["enableInsecureServer"].as_bool().unwrap_or(false),
            certificate: text(&settings["crypto"]["cert"]),
            host: text(&settings["bindingHost"]),
        }
    }

    /// The host to reach it at. One that listens everywhere is reached without leaving this computer.
    pub(crate) fn host(&self) -> &str {
        match self.host.as_deref() {
            None | Some("0.0.0.0" | "::" | "127.0.0.1" | "localhost") => "127.0.0.1",
            Some(host) => host,
        }
    }
}

impl fmt::Debug for PluginSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither key nor certificate: this type may end up in a log line.
        f.debug_struct("PluginSettings").field("port", &self.port).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_missing_is_as_the_plugin_has_it_by_default() {
        let settings = PluginSettings::read(&json!({ "apiKey": "k", "crypto": { "cert": "PEM" } }));
        assert_eq!((settings.port, settings.plain_port, settings.is_plain), (27124, 27123, false));
        assert_eq!((settings.host(), settings.key.as_deref()), ("127.0.0.1", Some("k")));
        assert_eq!(settings.certificate.as_deref(), Some("PEM"));
        for odd in [json!(null), json!([]), json!({ "port": 99_999, "apiKey": " ", "crypto": 3 })] {
            let settings = PluginSettings::read(&odd);
            assert_eq!((settings.port, settings.key, settings.certificate), (27124, None, None), "{odd}");
        }
        let bound = |host: &str| PluginSettings::read(&json!({ "bindingHost": host })).host().to_owned();
        assert_eq!((bound("0.0.0.0"), bound("192.168.1.7")), ("127.0.0.1".to_owned(), "192.168.1.7".to_owned()));
        assert!(!format!("{settings:?}").contains("\"k\""));
    }
}
