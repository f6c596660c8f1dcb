//! What the owner looks at and changes in the console beside the vaults: clients and settings.

use std::{collections::HashMap, net::SocketAddr, path::PathBuf, sync::Arc};

use lapidary_auth::AuthStore;
use lapidary_config::{AuthMode, ChosenVault, Config};
use lapidary_tools::uri::encoded;
use lapidary_vault::store::{CacheFile, StateFolder};

use super::{Console, settings_access::SettingsAccess};
use crate::{
    assemble::AssembledServer,
    commands::CommandHint,
    grants::GrantMaker,
    http::{ConfiguredClient, connection_snippets::ConnectionStyle},
};

#[derive(Clone)]
pub(crate) struct OwnerAccess {
    pub(super) grants: Arc<GrantMaker>,
    /// Tokens that the owner made, and what was granted to OAuth clients.
    pub(super) auth: Arc<AuthStore>,
    /// Clients whose tokens are in the configuration.
    pub(super) configured: Vec<ConfiguredClient>,
    pub(super) vaults: Vec<ChosenVault>,
    /// As it was when this process started.
    pub(in crate::http) config: Arc<Config>,
    /// As it is on the disk.
    pub(super) settings: SettingsAccess,
    /// Where the server keeps what it knows.
    state: PathBuf,
    /// For commands to copy.
    pub(super) hint: CommandHint,
}

impl OwnerAccess {
    pub(crate) fn new(
        assembled: &AssembledServer,
        config: &Config,
        settings: SettingsAccess,
        hint: &CommandHint,
    ) -> Self {
        Self {
            grants: Arc::clone(&assembled.grants),
            auth: Arc::clone(&assembled.auth),
            configured: assembled.configured.clone(),
            vaults: assembled.vaults.clone(),
            config: Arc::new(config.clone()),
            settings,
            state: assembled.state.clone(),
            hint: hint.clone(),
        }
    }

    /// The files for the places of notes, by vault.
    pub(super) fn place_files(&self) -> HashMap<String, CacheFile> {
        let file = |vault: &ChosenVault| {
            let folder = Arc::new(StateFolder::new(self.state.clone(), vault.path.clone()));
            (vault.name.clone(), CacheFile::for_places(folder))
        };
        self.vaults.iter().map(file).collect()
    }

    /// Where clients over HTTP would find a server with these settings.
    fn configured_address(&self) -> String {
        let http = &self.config.http;
        // The address in the settings, not one that a request named.
        let origin = match &http.public_url {
            Some(url) => url.origin.clone(),
            None => format!("http://{}", SocketAddr::new(http.host, http.port)),
        };
        format!("{origin}{}", http.endpoint_path)
    }

    /// How clients show who they are there, if that is configured.
    pub(super) fn style(&self) -> Option<ConnectionStyle> {
        let http = &self.config.http;
        match http.auth.mode {
            Some(AuthMode::None) => Some(ConnectionStyle::Open),
            Some(AuthMode::Bearer | AuthMode::Jwt) => Some(ConnectionStyle::Token),
            Some(AuthMode::Oauth | AuthMode::Builtin) => Some(ConnectionStyle::SignIn),
            // As `serve` decides it: a public address without a mode means signing in.
            None => http.public_url.is_some().then_some(ConnectionStyle::SignIn),
        }
    }
}

impl Console {
    /// Where clients over HTTP find the endpoint, or would find it if one was served.
    pub(super) fn endpoint_address(&self) -> String {
        self.0.endpoint.as_ref().map_or_else(|| self.0.owner.configured_address(), |served| served.url.clone())
    }

    /// An address that opens a file in Obsidian, which calls a vault by its folder.
    pub(super) fn obsidian_address(&self, vault: Option<&str>, path: &str) -> String {
        let vaults = &self.0.owner.vaults;
        let named = vault.and_then(|name| vaults.iter().find(|vault| vault.name == name));
        let name = |vault: &ChosenVault| match vault.folder().and_then(std::path::Path::file_name) {
            Some(name) => name.to_string_lossy().into_owned(),
            // One that is not on this disk does not say what Obsidian calls it.
            None => vault.name.clone(),
        };
        let folder = named.or_else(|| vaults.first()).map(name).unwrap_or_default();
        format!("obsidian://open?vault={}&file={}", encoded(&folder), encoded(path))
    }
}
