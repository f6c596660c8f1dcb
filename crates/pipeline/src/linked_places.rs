//! Where changes really take place: a link in the vault leads elsewhere than its path says.

use std::collections::BTreeMap;

use lapidary_note::ContentHash;
use lapidary_tools::Reason;
use lapidary_vault::{ChangeSet, Scope, Vault, VaultPath, store::StoreError};

/// The places of a change set, by the paths that lead there through a link. All others are their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkedPlaces(BTreeMap<VaultPath, VaultPath>);

impl LinkedPlaces {
    /// Where these changes take place now, if the principal may change that too. A place that it may not even see is
    /// treated like a broken link.
    pub(crate) fn of(changes: &ChangeSet, vault: &Vault, scope: &Scope) -> Result<Self, Reason> {
        let mut places = BTreeMap::new();
        for change in &changes.changes {
            for path in change.paths() {
                match vault.place_of_change(path, scope) {
                    Ok(place) if place == *path => {}
                    Ok(place) if scope.may_write(&place).is_err() => {
                        return Err(Reason::from_store(path, &StoreError::Closed, true));
                    }
                    Ok(place) => drop(places.insert(path.clone(), place)),
                    Err(StoreError::Closed) => {
                        let is_made = change.makes() == Some(path);
                        // The caller may not see the target, so it learns no more than from a broken link: that blocks a
                        // new file, and is missing otherwise.
                        let nowhere = if is_made { StoreError::NotAFile } else { StoreError::Missing };
                        return Err(Reason::from_store(path, &nowhere, true));
                    }
                    // The commit reports any other problem.
                    Err(_) => {}
                }
            }
        }
        Ok(Self(places))
    }

    /// Where a change of this path takes place.
    pub(crate) fn of_path<'a>(&'a self, path: &'a VaultPath) -> &'a VaultPath {
        self.0.get(path).unwrap_or(path)
    }

    /// The place that a link leads to, if the path is one.
    pub(crate) fn linked(&self, path: &VaultPath) -> Option<&VaultPath> {
        self.0.get(path)
    }

    /// Identifies exactly these changes at exactly these places: what was approved.
    pub(crate) fn digest(&self, changes: &ChangeSet) -> ContentHash {
        let digest = changes.digest();
        if self.0.is_empty() {
            return digest;
        }
        let places = self.0.iter().map(|(path, place)| format!("\n{path} is {place}"));
        ContentHash::of(format!("{digest}{}", places.collect::<String>()).as_bytes())
    }
}
