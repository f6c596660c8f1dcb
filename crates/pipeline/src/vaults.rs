use std::sync::Arc;

use lapidary_tools::{Reason, clipped};
use lapidary_vault::{
    Vault,
    store::{LogFile, Waiting},
};

/// A vault, the log of what was done with it, and what waits for its owner.
pub struct ServedVault {
    pub vault: Arc<Vault>,
    pub log: LogFile,
    pub waiting: Waiting,
}

/// The vaults of this server, in the order in which they were named. There is always at least one.
pub struct Vaults {
    first: ServedVault,
    others: Vec<ServedVault>,
}

impl Vaults {
    pub fn new(first: ServedVault, others: Vec<ServedVault>) -> Self {
        Self { first, others }
    }

    pub fn iter(&self) -> impl Iterator<Item = &ServedVault> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub fn names(&self) -> Vec<String> {
        self.iter().map(|served| served.vault.name().to_owned()).collect()
    }

    /// The one that is meant: by name, or the only one there is.
    pub fn pick(&self, name: Option<&str>) -> Result<&ServedVault, Reason> {
        match name {
            None if self.others.is_empty() => Ok(&self.first),
            None => Err(Reason::VaultRequired { names: self.names() }),
            Some(given) => self
                .iter()
                .find(|served| served.vault.name() == given)
                .ok_or_else(|| Reason::VaultUnknown { given: clipped(given), names: self.names() }),
        }
    }

    /// Calls that concern no vault are recorded there.
    pub fn first(&self) -> &ServedVault {
        &self.first
    }
}
