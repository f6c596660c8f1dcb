use std::sync::Arc;

use lapidary_note::ContentHash;
use similar::TextDiff;

use crate::{File, VaultPath};

/// What a write tool wants done. Nothing has happened yet.
#[derive(Clone, Debug, Default)]
pub struct ChangeSet {
    pub changes: Vec<Change>,
}

#[derive(Clone, Debug)]
pub enum Change {
    /// New bytes for a file that is there.
    Write { path: VaultPath, before: Arc<File>, guard: Guard, bytes: Vec<u8> },
    /// A file where there is none; missing folders are made.
    Create { path: VaultPath, bytes: Vec<u8> },
}

/// Who vouches for the content that a change replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The caller named it by hash: if it is gone, so is the reason for the change.
    Caller,
    /// The plan read it a moment ago: if it moved on, the plan can be made again.
    Plan,
}

impl Change {
    pub fn path(&self) -> &VaultPath {
        match self {
            Self::Write { path, .. } | Self::Create { path, .. } => path,
        }
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Write { bytes, .. } | Self::Create { bytes, .. } => bytes,
        }
    }

    pub fn before(&self) -> Option<&File> {
        match self {
            Self::Write { before, .. } => Some(before),
            Self::Create { .. } => None,
        }
    }
}

impl ChangeSet {
    pub fn one(change: Change) -> Self {
        Self { changes: vec![change] }
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Identifies exactly this change of exactly this content; what a person agreed to is this and nothing else.
    pub fn digest(&self) -> ContentHash {
        let mut description = String::new();
        for change in &self.changes {
            let before = change.before().map_or_else(|| "nothing".to_owned(), |file| file.hash.to_string());
            let after = ContentHash::of(change.bytes());
            description += &format!("{before} {after} {}\n", change.path());
        }
        ContentHash::of(description.as_bytes())
    }

    /// The change as a unified diff, for people. Text that is not UTF-8 is shown with replacement characters.
    pub fn diff(&self) -> String {
        self.changes.iter().map(file_diff).collect()
    }
}

fn file_diff(change: &Change) -> String {
    let old = String::from_utf8_lossy(change.before().map_or(&[][..], |file| &file.bytes[..]));
    let new = String::from_utf8_lossy(change.bytes());
    let (path, absent) = (change.path().as_str(), "/dev/null");
    let old_name = if change.before().is_some() { path } else { absent };
    TextDiff::from_lines(&old, &new).unified_diff().context_radius(2).header(old_name, path).to_string()
}
