//! Old versions of files that a caller may read.

use std::{collections::BTreeSet, time::SystemTime};

use lapidary_note::{ContentHash, ExpectedHash};
use lapidary_store::{History, rebased};

use crate::{
    Scope, VaultPath, View,
    store::{CheckpointKind, CheckpointRecord, EntryRecord, LedgerError, PathFilter},
};

/// The record of one change. Files that the caller may not read are omitted.
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
    #[error("several checkpoints start with it")]
    Ambiguous { ids: Vec<String> },
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// A program that had a file open saved to it after it had been replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateSave {
    pub path: VaultPath,
    pub checkpoint: String,
}

/// How many characters of the id of a checkpoint are enough. Fewer are a guess: an undo has to be intended.
pub const SHORTEST_ID: usize = 4;

/// How many are read at a time.
const BATCH: usize = 100;

impl View {
    /// The newest checkpoints, older than the one with the id `before`; of one path or of all.
    pub fn checkpoints(
        &self,
        path: Option<&VaultPath>,
        before: Option<&str>,
        limit: usize,
    ) -> Result<CheckpointPage, CheckpointError> {
        let history = self.backend.history();
        // The id of a checkpoint that the caller may not see leads nowhere.
        let before = before.map(|id| one(self.visible(id)?)).transpose()?.map(|record| record.number);
        let mut checkpoints: Vec<Checkpoint> = Vec::new();
        let mut more = false;
        self.each_checkpoint(history, path, before, |record, _| {
            // One more than wanted is looked at, to know whether there are more.
            more = checkpoints.len() == limit;
            if !more {
                checkpoints.push(record.clone().into());
            }
            Ok(!more)
        })?;
        Ok(CheckpointPage { checkpoints, more })
    }

    /// Iterates over the checkpoints that the caller may see, newest first, until told to stop: all, or those of a file
    /// or folder under every name that it had.
    fn each_checkpoint(
        &self,
        history: &dyn History,
        path: Option<&VaultPath>,
        before: Option<i64>,
        mut look: impl FnMut(&CheckpointRecord, &[VaultPath]) -> Result<bool, LedgerError>,
    ) -> Result<(), LedgerError> {
        let mut filter = PathFilter { paths: path.into_iter().cloned().collect(), before };
        loop {
            let batch = history.checkpoints(&filter, BATCH)?;
            let last = batch.len() < BATCH;
            let mut earlier = Vec::new();
            for record in batch {
                // Also for records that are not shown, or the next batch would begin with them again.
                filter.before = Some(record.number);
                let Some(record) = narrowed(record, &self.scope) else { continue };
                // The ledger matched some by files that the caller may not know of.
                if path.is_some() && !filter.paths.iter().any(|path| touches(&record, path)) {
                    continue;
                }
                // Before it came here it had another name, which newer checkpoints do not concern.
                earlier = names_before(&record, &filter.paths);
                filter.paths.append(&mut earlier.clone());
                if !look(&record, &filter.paths)? {
                    return Ok(());
                }
                if !earlier.is_empty() {
                    // From here on back, the ledger has to be asked for the new names as well.
                    break;
                }
            }
            if last && earlier.is_empty() {
                return Ok(());
            }
        }
    }

    /// The checkpoint whose id starts like this.
    pub fn checkpoint(&self, prefix: &str) -> Result<Checkpoint, CheckpointError> {
        Ok(one(self.visible(prefix)?)?.into())
    }

    /// The content of a file before a change; `None` if it was not kept, or no longer is.
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
        let history = self.backend.history();
        let mut version = None;
        self.each_checkpoint(history, Some(path), None, |record, names| {
            let of_file = record.entries.iter().filter(|entry| names.contains(&entry.path));
            // The content after a change is looked for first: it is the more recent one.
            for hash in of_file.flat_map(|entry| [entry.after, entry.before]).flatten() {
                if wanted.matches(&hash)
                    && let Some(content) = history.content(&hash)?
                {
                    version = Some((hash, content));
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        Ok(version)
    }

    /// Late saves that no caller was told of yet; this one is.
    pub fn late_saves(&self) -> Result<Vec<LateSave>, LedgerError> {
        late_saves(self.backend.history(), &self.scope)
    }

    fn visible(&self, prefix: &str) -> Result<Vec<CheckpointRecord>, LedgerError> {
        if prefix.len() < SHORTEST_ID {
            return Ok(Vec::new());
        }
        let found = self.backend.history().checkpoint(prefix)?;
        Ok(found.into_iter().filter_map(|record| narrowed(record, &self.scope)).collect())
    }
}

fn late_saves(history: &dyn History, scope: &Scope) -> Result<Vec<LateSave>, LedgerError> {
    let mut told = Vec::new();
    // Late saves that this caller may not read are for another one.
    for record in history.untold()?.into_iter().filter_map(|record| narrowed(record, scope)) {
        // Another server may have told its caller at the same moment.
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
    // A file that came from a closed place was moved, not created: if it counted as new, undoing it would remove the
    // only copy.
    let came: BTreeSet<VaultPath> =
        record.entries.iter().filter(|entry| !open(&entry.path)).filter_map(|entry| entry.moved_to.clone()).collect();
    let is_arrival = |entry: &EntryRecord| entry.before.is_none() && came.contains(&entry.path);
    let entries = record.entries.into_iter().filter(|entry| open(&entry.path) && !is_arrival(entry));
    let entries: Vec<EntryRecord> =
        entries.map(|entry| EntryRecord { moved_to: entry.moved_to.clone().filter(|to| open(to)), ..entry }).collect();
    (!entries.is_empty()).then_some(CheckpointRecord { entries, ..record })
}

/// Whether a change concerned a file, or something in a folder.
fn touches(record: &CheckpointRecord, path: &VaultPath) -> bool {
    record.entries.iter().any(|entry| entry.touches(path))
}

/// A file is not renamed more often.
const MAX_NAMES: usize = 32;

/// The names of these files before a change that moved them.
fn names_before(record: &CheckpointRecord, names: &[VaultPath]) -> Vec<VaultPath> {
    let mut found: Vec<VaultPath> = Vec::new();
    for entry in record.entries.iter().filter(|entry| !entry.is_of_folder()) {
        let Some(to) = &entry.moved_to else { continue };
        for name in names {
            let earlier = if name == to { Some(entry.path.clone()) } else { rebased(name, to, &entry.path) };
            found.extend(earlier.filter(|earlier| !names.contains(earlier)));
        }
    }
    found.sort_unstable();
    found.dedup();
    // A file that is moved back and forth would otherwise gather names without end.
    found.truncate(MAX_NAMES.saturating_sub(names.len()));
    found
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
