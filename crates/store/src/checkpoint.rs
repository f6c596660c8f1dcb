//! The records that make up the history of a vault.

use std::time::{Duration, SystemTime};

use lapidary_note::ContentHash;

use crate::VaultPath;

/// The caller that requested a change, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeOrigin {
    pub tool: String,
    pub client: String,
    pub time: SystemTime,
    /// The request that the owner approved, so that it counts once even if the process dies before it is answered.
    pub approval: Option<ContentHash>,
    /// By which a repeated call is recognised.
    pub call: Option<CallKey>,
    /// Whether it takes earlier changes back: folders that were made for files go with the last of them.
    pub restores: bool,
}

/// A call that its caller may send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallKey {
    /// Of the caller and the key that it chose.
    pub key: ContentHash,
    /// Of the tool and its arguments.
    pub call: ContentHash,
}

/// A call with a key that changed the vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedCall {
    pub call: ContentHash,
    pub checkpoint: CheckpointRecord,
    /// What was answered; `None` if the process ended before.
    pub reply: Option<Vec<u8>>,
}

/// How long a key is remembered, and among how many of the latest changes.
pub const KEYS_LAST: Duration = Duration::from_secs(24 * 60 * 60);
pub const KEYED_CALLS: i64 = 1000;
/// Longer replies are not kept; a repeated call is then told that it was made.
pub const LONGEST_KEPT_REPLY: usize = 1 << 16;

/// What a checkpoint is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointKind {
    /// A change of ours: the state before.
    Change = 0,
    /// What another program wrote to a file that had just been replaced: its only copy.
    LateSave = 1,
}

/// The record of one change.
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
    /// Where the file went, if it was not deleted.
    pub moved_to: Option<VaultPath>,
    /// `None` if there was no file, or it was not read.
    pub before: Option<ContentHash>,
    /// `None` if the file no longer exists.
    pub after: Option<ContentHash>,
    pub bytes_before: u64,
    pub bytes_after: u64,
}

impl EntryRecord {
    /// An empty folder that was created or removed.
    pub fn of_folder(path: &VaultPath) -> Self {
        let (path, moved_to) = (path.clone(), Some(path.clone()));
        Self { path, moved_to, before: None, after: None, bytes_before: 0, bytes_after: 0 }
    }

    /// Whether it concerns a file, something in a folder, or a folder around it that came here.
    pub fn touches(&self, path: &VaultPath) -> bool {
        self.path.is_within(path) || self.moved_to.as_ref().is_some_and(|to| path.is_within(to))
    }

    /// Whether it is an empty folder, which exists afterwards if it did not before.
    pub fn is_of_folder(&self) -> bool {
        self.moved_to.as_ref() == Some(&self.path)
    }
}

/// Which checkpoints to find.
#[derive(Clone, Debug, Default)]
pub struct PathFilter {
    /// Only those that touched one of these files or something in one of these folders; all if empty.
    pub paths: Vec<VaultPath>,
    /// Only those before this one.
    pub before: Option<i64>,
}

/// How long old content is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub age: Duration,
    /// As stored, which is about a third of the text.
    pub bytes: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { age: Duration::from_secs(90 * 24 * 60 * 60), bytes: 1 << 30 }
    }
}

/// Why something could not be stored or looked up. The message is for logs; it may name places.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    #[error("the state folder cannot be used ({0})")]
    Unusable(String),
    #[error("the disk of the state folder is full")]
    Full,
}
