//! A vault inside a folder of another: paths that it closes are closed through the other one too.

use std::{sync::Arc, time::SystemTime};

use super::{
    PathDenied, Policy, RulesError, Scope, ScopeCache,
    fold::{FoldedPath, PathWanted, folded},
};
use crate::{Backend, File, VaultPath};

/// Another vault, and where in this one it is.
pub struct InnerVault {
    at: VaultPath,
    scopes: ScopeCache,
    store: Arc<dyn Backend>,
    /// What is closed while it is missing.
    nothing: Arc<Scope>,
}

impl InnerVault {
    /// Only what its policy closes counts. What may be read or changed at all is up to the vault that is accessed.
    pub fn new(at: VaultPath, store: Arc<dyn Backend>, policy: Policy) -> Self {
        let policy = Policy { read: None, write: None, read_only: false, ..policy };
        Self { at, scopes: ScopeCache::new(policy), store, nothing: Arc::default() }
    }

    /// What it closes now.
    pub(super) fn scope(&self, now: SystemTime) -> InnerScope {
        let scope = match self.scopes.scope(&*self.store, now, None) {
            Ok(scope) => Some(scope),
            // Without the folder there are no rules, and nothing to close either.
            Err(RulesError::VaultGone) => Some(Arc::clone(&self.nothing)),
            // As with the outer vault: unreadable rules must not be guessed.
            Err(_) => None,
        };
        InnerScope { at: folded(self.at.as_str()), scope }
    }
}

#[derive(Clone, Debug)]
pub(super) struct InnerScope {
    /// Where it is, without case.
    at: String,
    /// `None` if its rules cannot be read: then all of it is closed.
    scope: Option<Arc<Scope>>,
}

/// How a path relates to the folder of the vault.
enum InnerPosition {
    Elsewhere,
    /// The folder, or one around it.
    Around,
    /// This path of the vault; `None` if no vault has such a path.
    Inside(Option<VaultPath>),
}

impl InnerScope {
    /// Whether the same rules apply as then.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (&self.scope, &other.scope) {
            (Some(one), Some(another)) => Arc::ptr_eq(one, another),
            (None, None) => true,
            _ => false,
        }
    }

    pub(super) fn shows_all(&self) -> bool {
        self.scope.as_ref().is_some_and(|scope| scope.shows_all_of_the_index())
    }

    pub(super) fn may_see(&self, path: &VaultPath, folded: &FoldedPath, wanted: PathWanted) -> Result<(), PathDenied> {
        self.asked(path, folded, |scope, path| scope.may_see(path, wanted))
    }

    /// Whether a folder can become another without revealing or hiding anything in it.
    pub(super) fn closes_alike(&self, one: (&VaultPath, &FoldedPath), other: (&VaultPath, &FoldedPath)) -> bool {
        let closes_nothing = |scope: &Scope| scope.shows_all_of_the_index() && !scope.rules_in_force().protect;
        match (self.lies(one.0, one.1), self.lies(other.0, other.1), &self.scope) {
            (InnerPosition::Elsewhere, InnerPosition::Elsewhere, _) => true,
            (InnerPosition::Inside(Some(one)), InnerPosition::Inside(Some(other)), Some(scope)) => {
                scope.closes_alike(&one, &other)
            }
            // From a vault with rules to a place without them, or the other way.
            (InnerPosition::Inside(_), InnerPosition::Elsewhere, Some(scope))
            | (InnerPosition::Elsewhere, InnerPosition::Inside(_), Some(scope)) => closes_nothing(scope),
            _ => false,
        }
    }

    /// The vault itself stays where it is: elsewhere its rules would be unknown.
    pub(super) fn may_write(&self, path: &VaultPath, folded: &FoldedPath) -> Result<(), PathDenied> {
        if matches!(self.lies(path, folded), InnerPosition::Around) {
            return Err(PathDenied::Protected);
        }
        self.asked(path, folded, Scope::may_write)
    }

    /// Whether the vault says that a file in it is a source.
    pub(super) fn is_source(&self, path: &VaultPath, folded: &FoldedPath, content: Option<&File>) -> bool {
        match (self.lies(path, folded), &self.scope) {
            (InnerPosition::Inside(Some(path)), Some(scope)) => scope.is_source(&path, content),
            _ => false,
        }
    }

    /// The same for what is in a folder of it.
    pub(super) fn touches_sources(&self, folder: &VaultPath, folded: &FoldedPath) -> bool {
        match (self.lies(folder, folded), &self.scope) {
            (InnerPosition::Inside(Some(folder)), Some(scope)) => scope.touches_sources(&folder),
            _ => false,
        }
    }

    fn asked(
        &self,
        path: &VaultPath,
        folded: &FoldedPath,
        ask: impl FnOnce(&Scope, &VaultPath) -> Result<(), PathDenied>,
    ) -> Result<(), PathDenied> {
        let InnerPosition::Inside(path) = self.lies(path, folded) else { return Ok(()) };
        let (Some(scope), Some(path)) = (&self.scope, path) else { return Err(PathDenied::Forbidden) };
        ask(scope, &path).map_err(|denied| match denied {
            // Which folders are open is only told to callers of that vault.
            PathDenied::NotAllowed { .. } => PathDenied::Forbidden,
            denied => denied,
        })
    }

    fn lies(&self, path: &VaultPath, folded: &FoldedPath) -> InnerPosition {
        let path_below = |outer: &str, inner: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if path_below(folded.as_str(), &self.at) {
            return InnerPosition::Around;
        }
        if !path_below(&self.at, folded.as_str()) {
            return InnerPosition::Elsewhere;
        }
        // By names, as a folded path may have another length.
        let names: Vec<&str> = path.names().skip(self.at.split('/').count()).collect();
        InnerPosition::Inside(VaultPath::spelt(&names.join("/")))
    }
}
