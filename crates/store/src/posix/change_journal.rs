//! The journal and the history of a vault that is not on this disk: the same ledger in the same state folder as for a folder,
//! with the contents of files as the only states.

use std::{io::ErrorKind, sync::Arc, time::SystemTime};

use lapidary_note::ContentHash;

use super::{Draft, JournalStep, Ledger, StateFolder, TurnFile};
use crate::{
    ChangeOrigin, CheckpointKind, CheckpointRecord, EntryRecord, History, LedgerError, PathFilter, Retention,
    TurnError, VaultPath,
    fair_queue::{FairQueue, QueueTicket},
};

/// Journal, checkpoints and turns of one remote vault.
pub struct ChangeJournal {
    ledger: Ledger,
    /// Changes of one server take turns in order of arrival, and so do servers on the same vault.
    writers: FairQueue,
    turns: TurnFile,
}

/// The right to change the vault.
pub struct JournalTurn<'a> {
    journal: &'a ChangeJournal,
    _place: QueueTicket<'a>,
    /// Released when closed, also by a process that dies.
    _lock: std::fs::File,
}

/// A file before and after a change; `None` is a missing file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalledFile {
    pub path: VaultPath,
    pub before: Option<ContentHash>,
    pub after: Option<ContentHash>,
}

/// A change that is about to happen.
pub struct JournalDraft<'a> {
    pub origin: &'a ChangeOrigin,
    pub entries: Vec<EntryRecord>,
    pub files: &'a [JournalledFile],
    /// The old content of files, by its hash.
    pub contents: Vec<(ContentHash, &'a [u8])>,
}

/// A change that was begun and not closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenChange {
    pub number: i64,
    pub id: String,
    pub files: Vec<JournalledFile>,
}

impl ChangeJournal {
    pub fn new(folder: &Arc<StateFolder>, retention: Retention) -> Self {
        let turns = TurnFile::new(Arc::clone(folder));
        Self { ledger: Ledger::new(Arc::clone(folder), retention), writers: FairQueue::default(), turns }
    }

    /// Waits, while allowed, until no other change is in progress.
    pub fn turn(&self, go_on: &dyn Fn() -> bool) -> Result<JournalTurn<'_>, TurnError> {
        // First among the calls of this server, then among servers: a file lock alone would not be fair.
        let place = self.writers.wait(go_on).ok_or(TurnError::GivenUp)?;
        let lock = self.turns.take(go_on).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => TurnError::GivenUp,
            _ => TurnError::NoState,
        })?;
        Ok(JournalTurn { journal: self, _place: place, _lock: lock })
    }

    /// Whether a file was at this path before, or in this folder.
    pub fn knows(&self, path: &VaultPath) -> bool {
        // A ledger that cannot be read says nothing; the path is then treated as new.
        self.ledger.knows(path).unwrap_or(false)
    }

    /// Removes checkpoints that are too old or too large.
    pub fn keep_limits(&self, now: SystemTime) -> Result<(), LedgerError> {
        // Pruning writes, so it is done only where something is too old or too large.
        if self.ledger.is_over(now)? { self.ledger.prune(now) } else { Ok(()) }
    }

    /// For the end of the process.
    pub fn rest(&self) {
        self.ledger.rest();
    }
}

impl JournalTurn<'_> {
    /// Durably stores what is about to happen: number and id of the checkpoint.
    pub fn begin(&self, draft: JournalDraft<'_>) -> Result<(i64, String), LedgerError> {
        let steps: Vec<JournalStep> = draft.files.iter().filter_map(step).collect();
        let kind = CheckpointKind::Change;
        let JournalDraft { origin, entries, contents, .. } = draft;
        self.journal.ledger.begin(&Draft { origin, kind, entries, steps: &steps, contents })
    }

    /// The change has happened. The new contents are kept, so that a later difference can be shown.
    pub fn finish(&self, number: i64, written: &[(ContentHash, &[u8])]) -> Result<(), LedgerError> {
        self.journal.ledger.finish_with(number, &[], written)
    }

    /// The change has not happened.
    pub fn forget(&self, number: i64) -> Result<(), LedgerError> {
        self.journal.ledger.forget(number, &[])
    }

    /// Changes that were begun and not closed.
    pub fn under_way(&self) -> Result<Vec<OpenChange>, LedgerError> {
        // Asked with every turn, and nearly always there is none.
        if self.journal.ledger.is_settled()? {
            return Ok(Vec::new());
        }
        let found = self.journal.ledger.under_way()?.into_iter();
        let change = |found: super::UnfinishedChange| OpenChange {
            number: found.number,
            id: found.id,
            files: found.steps.iter().filter_map(file).collect(),
        };
        Ok(found.map(change).collect())
    }
}

/// A file that is the same before and after needs no step.
fn step(file: &JournalledFile) -> Option<JournalStep> {
    // Nothing is put aside: the files are not on this disk.
    let (place, aside) = (file.path.clone(), String::new());
    Some(match (file.before, file.after) {
        (Some(before), Some(after)) => JournalStep::Replace { place, aside, before, after },
        (None, Some(after)) => JournalStep::Create { place, aside, after },
        (before @ Some(_), None) => JournalStep::Remove { place, aside, before, to_trash: false },
        (None, None) => return None,
    })
}

fn file(step: &JournalStep) -> Option<JournalledFile> {
    let file = |path: &VaultPath, before, after| JournalledFile { path: path.clone(), before, after };
    match step {
        JournalStep::Replace { place, before, after, .. } => Some(file(place, Some(*before), Some(*after))),
        JournalStep::Create { place, after, .. } => Some(file(place, None, Some(*after))),
        JournalStep::Remove { place, before, .. } => Some(file(place, *before, None)),
        // Never written for a remote vault.
        JournalStep::MakeFolder { .. } | JournalStep::Move { .. } => None,
    }
}

impl History for ChangeJournal {
    fn checkpoints(&self, filter: &PathFilter, limit: usize) -> Result<Vec<CheckpointRecord>, LedgerError> {
        self.ledger.checkpoints(filter, limit)
    }

    fn checkpoint(&self, prefix: &str) -> Result<Vec<CheckpointRecord>, LedgerError> {
        self.ledger.checkpoint(prefix)
    }

    fn content(&self, hash: &ContentHash) -> Result<Option<Vec<u8>>, LedgerError> {
        self.ledger.content(hash)
    }

    fn approved(&self, approval: &ContentHash) -> Result<Option<CheckpointRecord>, LedgerError> {
        self.ledger.approved(approval)
    }
}
