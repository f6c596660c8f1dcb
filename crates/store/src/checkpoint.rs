//! What is kept of changes: the records of which the history of a vault is made.

use std::time::{Duration, SystemTime};

use lapidary_note::ContentHash;

use crate::VaultPath;

/// Who asked for a change, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeOrigin {
    pub tool: String,
    pub client: String,
    pub time: SystemTime,
}

/// What a checkpoint is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointKind {
    /// A change of ours: how it was before.
    Change = 0,
    /// What another program wrote into a file that had just been replaced: the only copy of it.
    LateSave = 1,
}

/// What is kept of one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRecord {
    pub number: i64,
    pub id: String,
    pub time: SystemTime,
    pub kind: CheckpointKind,
    pub tool: String,
    pub client: String,
    /// In the order in which they were changed.
    pub entries: Vec<EntryRecord>,
}

/// One file before and after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRecord {
    pub path: VaultPath,
    /// Where the file went, if it is not simply gone.
    pub moved_to: Option<VaultPath>,
    /// `None` if there was no file, or none that was read.
    pub before: Option<ContentHash>,
    /// `None` if there is no file any more.
    pub after: Option<ContentHash>,
    pub bytes_before: u64,
    pub bytes_after: u64,
}

impl EntryRecord {
    /// An empty folder that was made, or removed: it goes nowhere.
    pub fn of_folder(path: &VaultPath) -> Self {
        let (path, moved_to) = (path.clone(), Some(path.clone()));
        Self { path, moved_to, before: None, after: None, bytes_before: 0, bytes_after: 0 }
    }

    /// Whether it is about a file, or something in a folder, or a folder with it that came here.
    pub fn touches(&self, path: &VaultPath) -> bool {
        self.path.is_within(path) || self.moved_to.as_ref().is_some_and(|to| path.is_within(to))
    }

    /// Whether it is of an empty folder, which is there afterwards if it was not before.
    pub fn is_of_folder(&self) -> bool {
        self.moved_to.as_ref() == Some(&self.path)
    }
}

/// Which checkpoints to look for.
#[derive(Clone, Debug, Default)]
pub struct PathFilter {
    /// Only those that touched one of these files or something in one of these folders; all if there are none.
    pub paths: Vec<VaultPath>,
    /// Only those before this one.
    pub before: Option<i64>,
}

/// How long old content is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub age: Duration,
    /// As it is stored, which is about a third of the text.
    pub bytes: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { age: Duration::from_secs(90 * 24 * 60 * 60), bytes: 1 << 30 }
    }
}

/// Why something could not be written down or looked up. The message is for logs; it may name places.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    #[error("the state folder cannot be used ({0})")]
    Unusable(String),
    #[error("the disk of the state folder is full")]
    Full,
}
