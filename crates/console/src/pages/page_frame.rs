//! What is around every page, and the list of pages.

use crate::assets::{address_of, icon_of};

/// A page in the list at the top of every page.
#[derive(Debug, PartialEq, Eq)]
pub struct ConsoleSection {
    pub name: &'static str,
    pub address: &'static str,
    /// After `g`, leads there.
    pub key: char,
}

impl ConsoleSection {
    pub const APPROVALS: Self = Self { name: "Approvals", address: "/console/", key: 'a' };
    pub const ACTIVITY: Self = Self { name: "Activity", address: "/console/activity", key: 'c' };
    pub const HISTORY: Self = Self { name: "History", address: "/console/history", key: 'u' };
    pub const VAULT: Self = Self { name: "Vault", address: "/console/vault", key: 'v' };
    pub const HEALTH: Self = Self { name: "Health", address: "/console/health", key: 'h' };
    pub const GRAPH: Self = Self { name: "Graph", address: "/console/graph", key: 'g' };

    pub const SEARCH: Self = Self { name: "Search", address: "/console/search", key: 's' };
    pub const TRY_IT: Self = Self { name: "Try it", address: "/console/try", key: 't' };

    pub const CLIENTS: Self = Self { name: "Clients", address: "/console/clients", key: 'l' };
    pub const SETTINGS: Self = Self { name: "Settings", address: "/console/settings", key: 'e' };

    /// In the order of the list.
    const ALL: &[Self] = &[
        Self::APPROVALS,
        Self::ACTIVITY,
        Self::HISTORY,
        Self::VAULT,
        Self::HEALTH,
        Self::GRAPH,
        Self::SEARCH,
        Self::TRY_IT,
        Self::CLIENTS,
        Self::SETTINGS,
    ];
}

/// What is around every page.
#[derive(Debug)]
pub struct PageFrame {
    /// Nothing before the owner has signed in.
    pub section: Option<ConsoleSection>,
    /// Requests that wait for the owner.
    pub pending: usize,
    /// Shows that a form is of a page of this session.
    pub form_token: String,
}

impl PageFrame {
    /// Of a page that shows nothing of a vault.
    pub fn signed_out() -> Self {
        Self { section: None, pending: 0, form_token: String::new() }
    }

    pub(crate) fn sections(&self) -> &'static [ConsoleSection] {
        ConsoleSection::ALL
    }

    pub(crate) fn is_at(&self, section: &ConsoleSection) -> bool {
        self.section.as_ref() == Some(section)
    }

    /// The icon of the page, with the number of pending requests on it.
    pub(crate) fn icon(&self) -> &'static str {
        address_of(&icon_of(self.pending))
    }

    /// The address of a file in `static/`.
    pub(crate) fn asset(&self, name: &str) -> &'static str {
        address_of(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_an_address_and_a_key_of_its_own() {
        for (at, section) in ConsoleSection::ALL.iter().enumerate() {
            for other in &ConsoleSection::ALL[..at] {
                assert!(section.address != other.address && section.key != other.key, "{section:?} {other:?}");
            }
        }
    }
}
