//! What may be read and changed of a vault, decided by the path alone: the answer is the same whether or not anything
//! exists there.

mod alike;
mod excluded;
mod fold;
mod globs;
mod inner;
mod policy;
mod prefix;
mod rule_cache;
mod rules;
mod sources;
mod unmatched;

use std::sync::Arc;

use self::{
    fold::{FoldedPath, PathWanted},
    inner::InnerScope,
    rules::VaultRules,
};
use crate::VaultPath;

pub(crate) use fold::folded;
pub use globs::{GlobError, GlobProblem, PathGlobs};
pub use inner::InnerVault;
pub use policy::{FolderNames, Policy};
pub use prefix::{PathPrefix, ScopeError};
pub use rule_cache::ScopeCache;
pub use rules::{RuleProblem, RulesError};
pub use sources::{SourceMark, SourceRules};
pub use unmatched::UnmatchedRule;

/// Which part of a vault a caller may read and which it may change: the configuration, and the rule files in the vault.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    policy: Arc<Policy>,
    /// What a caller is granted of that, if not all.
    grant: Option<Arc<Policy>>,
    /// The policy of the server that a caller asked, if the call is carried out in another process.
    asked: Option<Arc<Policy>>,
    rules: VaultRules,
    /// What other vaults inside folders of this one close.
    inner: Arc<[InnerScope]>,
}

/// Why a path is closed to a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathDenied {
    OutsideReadPaths {
        allowed: Vec<PathPrefix>,
    },
    OutsideWritePaths {
        allowed: Vec<PathPrefix>,
    },
    /// The rule itself is not revealed.
    InDenyPaths,
    /// No `allow` pattern of the vault covers it.
    NotAllowed {
        allowed: Vec<String>,
    },
    /// A `deny` pattern of the vault covers it. Which one is not revealed.
    Forbidden,
    /// `.obsidian`, `.git`, `.trash` and every other name that starts with a dot.
    Hidden,
    ReadOnly,
    /// Not part of the vault. To a reader it does not exist.
    Ignored,
    /// It may never be changed, not even with approval.
    Protected,
}

/// What the rule files of a vault do, without naming paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RulesInForce {
    /// Some paths are not part of the vault.
    pub ignore: bool,
    /// Some files may not be changed.
    pub protect: bool,
}

impl From<Policy> for Scope {
    /// A scope without rule files.
    fn from(policy: Policy) -> Self {
        Self { policy: Arc::new(policy), ..Self::default() }
    }
}

impl Scope {
    /// Whether a file may be read. A rule that closes a folder of this name closes the file too.
    pub fn may_read(&self, path: &VaultPath) -> Result<(), PathDenied> {
        self.may_see(path, PathWanted::Anything)
    }

    /// The same scope for a caller that is granted no more than this policy opens.
    pub fn narrowed(&self, grant: Arc<Policy>) -> Self {
        Self { grant: Some(grant), ..self.clone() }
    }

    /// The same scope for a call that was made to a server with this policy.
    #[must_use]
    pub fn as_asked(&self, policy: Arc<Policy>) -> Self {
        Self { asked: Some(policy), ..self.clone() }
    }

    /// A path has to be opened by each of them. The grant comes first, so that a caller outside its own folders is told
    /// of those and learns nothing of the server's.
    fn policies(&self) -> impl Iterator<Item = &Policy> {
        self.grant.as_deref().into_iter().chain(self.asked.as_deref()).chain([&*self.policy])
    }

    /// Why something is closed, in terms of the caller's own grant: what the server opens to others is not revealed.
    fn in_own_words(&self, denied: PathDenied) -> PathDenied {
        let Some(grant) = &self.grant else { return denied };
        match denied {
            PathDenied::OutsideReadPaths { .. } if grant.read.is_some() => {
                PathDenied::OutsideReadPaths { allowed: grant.read.clone().unwrap_or_default() }
            }
            PathDenied::OutsideWritePaths { .. } if grant.write.is_some() => {
                PathDenied::OutsideWritePaths { allowed: grant.write.clone().unwrap_or_default() }
            }
            // The server's write paths are not the caller's to know, so it is told no more than that.
            PathDenied::OutsideWritePaths { .. } if grant.read.is_some() => PathDenied::Forbidden,
            PathDenied::NotAllowed { .. } if grant.read.is_some() => PathDenied::Forbidden,
            denied => denied,
        }
    }

    /// Whether nothing is closed except what no index contains: hidden files and the folders to skip.
    pub fn shows_all_of_the_index(&self) -> bool {
        self.policies().all(|policy| policy.read.is_none() && !policy.closes_some())
            && self.rules.ignore_nothing()
            && self.inner.iter().all(InnerScope::shows_all)
    }

    /// What the rule files of the vault restrict, if anything.
    pub fn rules_in_force(&self) -> RulesInForce {
        RulesInForce { ignore: !self.rules.ignore_nothing(), protect: !self.rules.protect_nothing() }
    }

    /// Whether the contents of a folder may be listed. Each entry has to be checked separately.
    pub fn may_enter(&self, folder: &VaultPath) -> Result<(), PathDenied> {
        self.may_see(folder, PathWanted::Folder)
    }

    pub fn may_write(&self, path: &VaultPath) -> Result<(), PathDenied> {
        let folded = FoldedPath::new(path.as_str());
        // The configuration first: a refusal by it depends on the path alone, not on files in the vault.
        self.policies().try_for_each(|policy| policy.may_write(&folded)).map_err(|denied| self.in_own_words(denied))?;
        self.present(path, &folded, PathWanted::Anything)?;
        self.inner.iter().try_for_each(|inner| inner.may_write(path, &folded))?;
        if self.rules.protect(&folded) { Err(PathDenied::Protected) } else { Ok(()) }
    }

    /// Whether a file that the caller may not know of could be where a folder is to be created. Then nothing is created
    /// below it, whether or not it exists. Names without an extension are taken for folders: otherwise no folder could
    /// be created where only `*.md` is open.
    pub fn may_hide_file(&self, folder: &VaultPath) -> bool {
        folder.name().contains('.') && self.may_read(folder).is_err()
    }

    fn may_see(&self, path: &VaultPath, wanted: PathWanted) -> Result<(), PathDenied> {
        let folded = FoldedPath::new(path.as_str());
        self.policies()
            .try_for_each(|policy| policy.may_read(&folded, wanted))
            .map_err(|denied| self.in_own_words(denied))?;
        self.present(path, &folded, wanted)?;
        self.inner.iter().try_for_each(|inner| inner.may_see(path, &folded, wanted))
    }

    fn present(&self, path: &VaultPath, folded: &FoldedPath, wanted: PathWanted) -> Result<(), PathDenied> {
        // Only servers' policies have folders to skip; they are not part of the vault for any caller.
        let ignored = self.policies().any(|policy| policy.skip_folders.are_in(folded))
            || self.rules.ignore(path.as_str(), folded, wanted);
        if ignored { Err(PathDenied::Ignored) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
