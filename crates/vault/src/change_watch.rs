//! Whether a file has changed for a subscriber. Cheap enough to be checked every second.

use std::sync::Arc;

use lapidary_note::ContentHash;

use crate::{
    PathDenied, ReadError, Scope, VaultPath, View,
    store::{FileStamp, StoreError},
};

/// What a subscriber saw of a file last.
#[derive(Clone, Debug)]
pub struct LastSeen {
    path: VaultPath,
    last: Option<LastState>,
}

#[derive(Clone, Debug)]
struct LastState {
    /// Another scope may show something else.
    scope: Arc<Scope>,
    stamp: Option<FileStamp>,
    /// A later change must show in the stamp.
    settled: bool,
    /// `None` if there was nothing to see.
    content: Option<ContentHash>,
}

impl LastSeen {
    pub fn new(path: VaultPath) -> Self {
        Self { path, last: None }
    }

    pub fn path(&self) -> &VaultPath {
        &self.path
    }
}

impl View {
    /// Whether the caller may read a file at this path, if it exists. To a reader, an ignored file is just missing.
    pub fn may_read(&self, path: &VaultPath) -> Result<(), PathDenied> {
        match self.scope.may_read(path) {
            // Reported like a missing file, so a subscriber cannot tell the two apart.
            Err(PathDenied::Ignored) => Ok(()),
            decided => decided,
        }
    }

    /// Checks again, and returns whether the caller would now read something else. The file is only read when its stamp
    /// has changed; then the content decides, so that a subscriber learns nothing of a closed file, not even through a
    /// link.
    pub fn has_changed(&self, sight: &mut LastSeen) -> bool {
        let store = &self.backend;
        // If even that fails, reading reports the reason.
        let stamp = store.stamp(&sight.path).unwrap_or_default();
        let same = |last: &LastState| last.settled && last.stamp == stamp && Arc::ptr_eq(&last.scope, &self.scope);
        if sight.last.as_ref().is_some_and(same) {
            return false;
        }
        let now = store.now();
        let content = match self.read(&sight.path) {
            Ok(file) => Some(file.hash()),
            Err(error) if is_passing(&error) => return false,
            Err(_) => None,
        };
        // If the stamp is too new to be trusted, the next check reads the file again.
        let settled = stamp.is_none_or(|stamp| stamp.is_settled(now));
        let last = LastState { scope: Arc::clone(&self.scope), stamp, settled, content };
        let before = sight.last.replace(last);
        // The first look has nothing to compare with.
        before.is_some_and(|before| before.content != content)
    }
}

/// A failing disk says nothing about the file.
fn is_passing(error: &ReadError) -> bool {
    matches!(
        error,
        ReadError::Store(
            StoreError::Disk { .. } | StoreError::NotPermitted | StoreError::VaultGone | StoreError::Remote(_)
        )
    )
}
