//! The configured policy of a vault.

use super::{PathDenied, PathGlobs, PathPrefix, SourceRules, fold::FoldedPath, fold::PathWanted};

/// What the owner of the server configured for one vault.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// `None` means everywhere.
    pub read: Option<Vec<PathPrefix>>,
    /// `None` means everywhere. What may be changed may also be read.
    pub write: Option<Vec<PathPrefix>>,
    /// Wins over both.
    pub deny: Vec<PathPrefix>,
    pub read_only: bool,
    /// Notes that may be created and then stay as they are.
    pub sources: SourceRules,
    /// Files that decide about the server, closed as hidden ones are.
    pub own_files: Vec<PathPrefix>,
    /// Which parts of this vault are open; `None` means everything.
    pub allow_globs: Option<PathGlobs>,
    /// Wins over what is allowed.
    pub deny_globs: PathGlobs,
    /// Names of folders that are not part of the vault, at any depth.
    pub skip_folders: FolderNames,
    /// Whether files that Obsidian itself excludes are ignored.
    pub hide_excluded: bool,
}

/// Names without case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderNames(Vec<String>);

impl FolderNames {
    pub fn new(names: &[impl AsRef<str>]) -> Self {
        Self(names.iter().map(|name| super::fold::folded(name.as_ref())).collect())
    }

    pub fn names(&self) -> &[String] {
        &self.0
    }

    pub fn holds(&self, name: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&super::fold::folded(name))
    }

    pub(super) fn are_in(&self, path: &FoldedPath) -> bool {
        path.names().any(|name| self.0.iter().any(|skipped| skipped == name))
    }
}

impl Policy {
    /// Whether some paths are closed for reading as well.
    pub fn closes_some(&self) -> bool {
        !self.deny.is_empty() || !self.own_files.is_empty() || self.allow_globs.is_some() || !self.deny_globs.is_empty()
    }

    pub(super) fn may_read(&self, path: &FoldedPath, wanted: PathWanted) -> Result<(), PathDenied> {
        self.closed(path)?;
        // A read-only server changes nothing, so its write paths open nothing for reading either.
        let write = self.write.iter().flatten().filter(|_| !self.read_only);
        if let Some(read) = &self.read {
            let allowed = || read.iter().chain(write.clone());
            // A folder on the way to an open one can be listed, to get there.
            let leads_there = |prefix: &PathPrefix| wanted == PathWanted::Folder && prefix.is_below(path.as_str());
            if !allowed().any(|prefix| prefix.covers_folded(path.as_str()) || leads_there(prefix)) {
                let mut each: Vec<PathPrefix> = Vec::new();
                allowed().for_each(|prefix| {
                    if !each.contains(prefix) {
                        each.push(prefix.clone())
                    }
                });
                return Err(PathDenied::OutsideReadPaths { allowed: each });
            }
        }
        self.globs(path, wanted)
    }

    pub(super) fn may_write(&self, path: &FoldedPath) -> Result<(), PathDenied> {
        if self.read_only {
            return Err(PathDenied::ReadOnly);
        }
        self.closed(path)?;
        match &self.write {
            Some(allowed) if !allowed.iter().any(|prefix| prefix.covers_folded(path.as_str())) => {
                Err(PathDenied::OutsideWritePaths { allowed: allowed.clone() })
            }
            _ => self.globs(path, PathWanted::Anything),
        }
    }

    fn closed(&self, path: &FoldedPath) -> Result<(), PathDenied> {
        // Before all lists: settings and history are closed, whatever the owner opens.
        let is_own = || self.own_files.iter().any(|own| own.covers_folded(path.as_str()));
        if path.names().any(|name| name.starts_with('.')) || is_own() {
            return Err(PathDenied::Hidden);
        }
        if self.deny.iter().any(|prefix| prefix.covers_folded(path.as_str())) {
            return Err(PathDenied::InDenyPaths);
        }
        Ok(())
    }

    fn globs(&self, path: &FoldedPath, wanted: PathWanted) -> Result<(), PathDenied> {
        if let Some(allow) = &self.allow_globs {
            let open = if wanted == PathWanted::Folder { allow.may_be_in(path) } else { allow.covers(path) };
            if !open {
                return Err(PathDenied::NotAllowed { allowed: allow.written().to_vec() });
            }
        }
        if self.deny_globs.covers(path) { Err(PathDenied::Forbidden) } else { Ok(()) }
    }
}
