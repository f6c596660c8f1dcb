//! Old versions of files, as far as a caller may read those files.

use std::time::SystemTime;

use lapidary_note::{ContentHash, ExpectedHash};
use lapidary_store::History;

use crate::{
    Scope, VaultPath, View,
    store::{CheckpointKind, CheckpointRecord, EntryRecord, LedgerError, PathFilter},
};

/// What was kept of one change. Files that the caller may not read are not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub id: String,
    pub time: SystemTime,
    pub kind: CheckpointKind,
    pub tool: String,
    pub client: String,
    /// In the order in which they were changed.
    pub entries: Vec<EntryRecord>,
}

/// Some checkpoints, the newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointPage {
    pub checkpoints: Vec<Checkpoint>,
    /// There are older ones.
    pub more: bool,
}

/// Why there is no checkpoint to show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    #[error("there is no such checkpoint")]
    Missing,
    #[error("several checkpoints begin like that")]
    Ambiguous { ids: Vec<String> },
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// A program that had a file open saved into it after it had been replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateSave {
    pub path: VaultPath,
    pub checkpoint: String,
}

/// Of a name, fewer characters are a guess: what is undone has to be meant.
const SHORTEST_NAME: usize = 4;

/// So many are looked at at once.
const BATCH: usize = 100;

impl View {
    /// The newest checkpoints, older than the one named `before`; of one path or of all.
    pub fn checkpoints(
        &self,
        path: Option<&VaultPath>,
        before: Option<&str>,
        limit: usize,
    ) -> Result<CheckpointPage, CheckpointError> {
        let history = self.backend.history();
        let before = before.map(|id| one(self.visible(id)?)).transpose()?.map(|record| record.number);
        let mut filter = PathFilter { path: path.cloned(), before };
        let mut checkpoints: Vec<Checkpoint> = Vec::new();
        loop {
            let batch = history.checkpoints(&filter, BATCH)?;
            filter.before = batch.last().map(|record| record.number);
            let last = batch.len() < BATCH;
            let seen = batch.into_iter().filter_map(|record| narrowed(record, &self.scope));
            // The ledger has found some by files that the caller may not know of.
            for record in seen.filter(|record| path.is_none_or(|path| touches(record, path))) {
                if checkpoints.len() == limit {
                    return Ok(CheckpointPage { checkpoints, more: true });
                }
                checkpoints.push(record.into());
            }
            if last {
                return Ok(CheckpointPage { checkpoints, more: false });
            }
        }
    }

    /// The checkpoint whose name begins like this.
    pub fn checkpoint(&self, prefix: &str) -> Result<Checkpoint, CheckpointError> {
        Ok(one(self.visible(prefix)?)?.into())
    }

    /// What a file held before a change; `None` if it was not kept, or is not any more.
    pub fn old_content(&self, entry: &EntryRecord) -> Result<Option<Vec<u8>>, LedgerError> {
        match entry.before {
            Some(hash) if self.scope.may_read(&entry.path).is_ok() => self.backend.history().content(&hash),
            _ => Ok(None),
        }
    }

    /// The content that a file once had, by its hash.
    pub fn version(
        &self,
        path: &VaultPath,
        wanted: &ExpectedHash,
    ) -> Result<Option<(ContentHash, Vec<u8>)>, CheckpointError> {
        let mut filter = PathFilter { path: Some(path.clone()), before: None };
        loop {
            let batch = self.backend.history().checkpoints(&filter, BATCH)?;
            for record in &batch {
                let of_path = record.entries.iter().filter(|entry| entry.path == *path);
                for hash in of_path.filter_map(|entry| entry.before).filter(|hash| wanted.matches(hash)) {
                    if self.scope.may_read(path).is_ok()
                        && let Some(content) = self.backend.history().content(&hash)?
                    {
                        return Ok(Some((hash, content)));
                    }
                }
            }
            filter.before = batch.last().map(|record| record.number);
            if batch.len() < BATCH {
                return Ok(None);
            }
        }
    }

    /// Late saves that no caller was told of yet; this one is.
    pub fn late_saves(&self) -> Result<Vec<LateSave>, LedgerError> {
        late_saves(self.backend.history(), &self.scope)
    }

    fn visible(&self, prefix: &str) -> Result<Vec<CheckpointRecord>, LedgerError> {
        if prefix.len() < SHORTEST_NAME {
            return Ok(Vec::new());
        }
        let found = self.backend.history().checkpoint(prefix)?;
        Ok(found.into_iter().filter_map(|record| narrowed(record, &self.scope)).collect())
    }
}

fn late_saves(history: &dyn History, scope: &Scope) -> Result<Vec<LateSave>, LedgerError> {
    let mut told = Vec::new();
    // What this caller may not read is for another one.
    for record in history.untold()?.into_iter().filter_map(|record| narrowed(record, scope)) {
        if history.set_told(record.number)? {
            let entries = record.entries.into_iter();
            told.extend(entries.map(|entry| LateSave { path: entry.path, checkpoint: record.id.clone() }));
        }
    }
    Ok(told)
}

/// The part of it that the caller may read; `None` if that is nothing.
fn narrowed(record: CheckpointRecord, scope: &Scope) -> Option<CheckpointRecord> {
    let open = |path: &VaultPath| scope.may_read(path).is_ok();
    let entries = record.entries.into_iter().filter(|entry| open(&entry.path));
    let entries: Vec<EntryRecord> =
        entries.map(|entry| EntryRecord { moved_to: entry.moved_to.clone().filter(|to| open(to)), ..entry }).collect();
    (!entries.is_empty()).then_some(CheckpointRecord { entries, ..record })
}

/// Whether a change had to do with a file, or with something in a folder.
fn touches(record: &CheckpointRecord, path: &VaultPath) -> bool {
    let touches = |entry: &EntryRecord| entry.path.is_within(path) || entry.moved_to.as_ref() == Some(path);
    record.entries.iter().any(touches)
}

fn one(mut found: Vec<CheckpointRecord>) -> Result<CheckpointRecord, CheckpointError> {
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            let ids = found.into_iter().chain([last]).map(|record| record.id).collect();
            Err(CheckpointError::Ambiguous { ids })
        }
        (None, _) => Err(CheckpointError::Missing),
    }
}

impl From<CheckpointRecord> for Checkpoint {
    fn from(record: CheckpointRecord) -> Self {
        let CheckpointRecord { id, time, kind, tool, client, entries, .. } = record;
        Self { id, time, kind, tool, client, entries }
    }
}
