//! Path prefixes of rules.

use std::fmt;

use lapidary_note::quoted;

use super::fold::folded;
use crate::{PathError, VaultPath};

/// A folder or file named by a rule; compared without case, at name boundaries, and shown in the owner's spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPrefix {
    written: VaultPath,
    folded: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is not a folder or file of the vault: {problem}", quoted(.given))]
pub struct ScopeError {
    pub given: String,
    pub problem: PathError,
}

impl PathPrefix {
    pub fn parse(given: &str) -> Result<Self, ScopeError> {
        VaultPath::parse(given)
            .map(|written| Self { folded: folded(written.as_str()), written })
            .map_err(|problem| ScopeError { given: given.to_owned(), problem })
    }

    pub fn covers(&self, path: &VaultPath) -> bool {
        self.covers_folded(&folded(path.as_str()))
    }

    /// Whether it is in this folder.
    pub fn is_within(&self, folder: &VaultPath) -> bool {
        self.is_below(&folded(folder.as_str()))
    }

    pub(super) fn covers_folded(&self, path: &str) -> bool {
        // At a name boundary: `pub` does not cover `public`.
        path.strip_prefix(&self.folded).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether the path to it leads through this folder.
    pub(super) fn is_below(&self, folder: &str) -> bool {
        self.below(folder).is_some()
    }

    /// The rest of the path to it from this folder.
    pub(super) fn below(&self, folder: &str) -> Option<&str> {
        self.folded.strip_prefix(folder)?.strip_prefix('/')
    }
}

impl fmt::Display for PathPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.written.as_str())
    }
}
