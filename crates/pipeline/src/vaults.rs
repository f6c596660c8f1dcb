//! The vaults of this server.

use std::sync::Arc;

use lapidary_tools::{AppBridge, Reason, clipped};
use lapidary_vault::{
    Vault,
    store::{ApprovalQueue, ApprovedRecipes, LogFile},
};

use crate::Grant;

/// A vault, the log of its calls, its pending approvals, and its app.
pub struct ServedVault {
    pub vault: Arc<Vault>,
    pub log: LogFile,
    pub waiting: ApprovalQueue,
    /// The recipes that the owner approved on this computer.
    pub recipes: ApprovedRecipes,
    /// The Obsidian app, if it may be used; it is looked for when it is needed.
    pub app: Option<Arc<dyn AppBridge>>,
}

/// The vaults of this server, in configuration order. There is always at least one.
pub struct ServedVaults {
    first: ServedVault,
    others: Vec<ServedVault>,
}

impl ServedVaults {
    pub fn new(first: ServedVault, others: Vec<ServedVault>) -> Self {
        Self { first, others }
    }

    /// All of them, for the owner.
    pub fn iter(&self) -> impl Iterator<Item = &ServedVault> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Those that a caller with this grant may use.
    pub fn granted(&self, grant: &Grant) -> impl Iterator<Item = &ServedVault> {
        self.iter().filter(|served| grant.shows(served.vault.name()))
    }

    /// The names of those.
    pub fn names(&self, grant: &Grant) -> Vec<String> {
        self.granted(grant).map(|served| served.vault.name().to_owned()).collect()
    }

    /// The one with this name, or the only one.
    pub fn pick(&self, grant: &Grant, name: Option<&str>) -> Result<&ServedVault, Reason> {
        let mut granted = self.granted(grant);
        match name {
            None => match (granted.next(), granted.next()) {
                (Some(only), None) => Ok(only),
                // A default could be the wrong vault, and the call may change notes.
                _ => Err(Reason::VaultRequired { names: self.names(grant) }),
            },
            Some(given) => granted
                .find(|served| served.vault.name() == given)
                .ok_or_else(|| Reason::VaultUnknown { given: clipped(given), names: self.names(grant) }),
        }
    }

    /// By name, for any caller.
    pub(crate) fn called(&self, name: &str) -> Option<&ServedVault> {
        self.iter().find(|served| served.vault.name() == name)
    }

    /// Calls that concern no vault are recorded there.
    pub fn first(&self) -> &ServedVault {
        &self.first
    }

    pub(crate) fn first_granted(&self, grant: &Grant) -> &ServedVault {
        self.granted(grant).next().unwrap_or(&self.first)
    }
}
