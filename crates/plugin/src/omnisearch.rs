//! The HTTP server of the plugin Omnisearch, which has its own port and no key.

use std::time::Duration;

use serde::Deserialize;

use crate::{
    ApiKey, ConnectionSettings, PluginConnection, PluginError, PluginUrl, TrustError, connection::PluginRequest,
    plugin_url::encoded,
};

/// Its port, unless its settings name another.
const PORT: u16 = 51361;

/// Where Omnisearch answers.
#[derive(Clone, Debug)]
pub struct Omnisearch(PluginConnection);

/// A note that it found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OmnisearchHit {
    /// The name of the vault that it is in: the port is one for all vaults.
    #[serde(default)]
    pub vault: Option<String>,
    pub path: String,
    pub basename: String,
    pub score: f64,
    #[serde(default)]
    pub found_words: Vec<String>,
    #[serde(default)]
    pub matches: Vec<OmnisearchMatch>,
    /// HTML: `<mark>`, `<br>` and entities.
    #[serde(default)]
    pub excerpt: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct OmnisearchMatch {
    #[serde(rename = "match")]
    pub text: String,
    pub offset: f64,
}

impl Omnisearch {
    pub fn new(url: PluginUrl, timeout: Duration) -> Result<Self, TrustError> {
        // An empty key, which is never sent: see `has_key` below.
        let settings = ConnectionSettings { timeout, ..ConnectionSettings::new(url, ApiKey::new("")) };
        PluginConnection::new(&settings).map(Self)
    }

    /// Where it is if nothing is said: on the computer of the other plugin.
    pub fn beside(plugin: &PluginUrl) -> String {
        let host = match plugin.host() {
            // It listens on the name, which may mean an address of version 6.
            "127.0.0.1" => "localhost".to_owned(),
            host if host.contains(':') => format!("[{host}]"),
            host => host.to_owned(),
        };
        format!("http://{host}:{PORT}")
    }

    pub fn url(&self) -> &PluginUrl {
        self.0.url()
    }

    /// The best notes first; at most 50, as it counts.
    pub fn search(&self, query: &str) -> Result<Vec<OmnisearchHit>, PluginError> {
        // Without a slash at the end, which its route does not have.
        let url = self.0.url.endpoint(["search"], false);
        let mut request = PluginRequest::get(format!("{url}?q={}", encoded(query)));
        request.has_key = false;
        // Any other program on its port answers something else.
        self.0.send(&request)?.json()
    }

    /// The same connection, asked once: to see whether it is there.
    pub fn without_retries(&self) -> Self {
        Self(self.0.without_retries())
    }
}
