//! What the owner looks at and changes in the console beside the vaults: clients and settings.

use std::sync::Arc;

use lapidary_auth::AuthStore;
use lapidary_config::ChosenVault;
use lapidary_tools::uri::encoded;

use super::Console;
use crate::{assemble::AssembledServer, commands::CommandHint, grants::GrantMaker, http::ConfiguredClient};

#[derive(Clone)]
pub(crate) struct OwnerAccess {
    pub(super) grants: Arc<GrantMaker>,
    /// Tokens that the owner made, and what was granted to OAuth clients.
    pub(super) auth: Arc<AuthStore>,
    /// Clients whose tokens are in the configuration.
    pub(super) configured: Vec<ConfiguredClient>,
    pub(super) vaults: Vec<ChosenVault>,
    /// For commands to copy.
    pub(super) hint: CommandHint,
}

impl OwnerAccess {
    pub(crate) fn new(assembled: &AssembledServer, hint: &CommandHint) -> Self {
        Self {
            grants: Arc::clone(&assembled.grants),
            auth: Arc::clone(&assembled.auth),
            configured: assembled.configured.clone(),
            vaults: assembled.vaults.clone(),
            hint: hint.clone(),
        }
    }
}

impl Console {
    /// An address that opens a file in Obsidian, which calls a vault by its folder.
    pub(super) fn obsidian_address(&self, vault: Option<&str>, path: &str) -> String {
        let vaults = &self.0.owner.vaults;
        let named = vault.and_then(|name| vaults.iter().find(|vault| vault.name == name));
        let folder = named.or_else(|| vaults.first()).and_then(|vault| vault.path.file_name());
        let folder = folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        format!("obsidian://open?vault={}&file={}", encoded(&folder), encoded(path))
    }
}
