//! Finishes or rolls back the changes of a killed server.

use std::time::{Duration, UNIX_EPOCH};

use super::{
    PosixTurn, SWEPT, TurnError, VaultNews,
    course::{self, called_after},
    old_files,
    undo::{self, StepExtent},
};
use crate::posix::{JournalStep, OldFileRecord, StoreError, UnfinishedChange};

impl PosixTurn<'_> {
    /// Cleans up after a killed server: changes in progress, and old files that were still open.
    pub(super) fn settle(&self) -> Result<(), TurnError> {
        let settled = self.changes.ledger.is_settled().unwrap_or_else(|error| {
            self.changes.tell(VaultNews::Postponed { why: error.to_string() });
            false
        });
        if !settled {
            self.recover()?;
            if self.tend() > 0 {
                old_files::keep_tending(self.changes);
            }
        }
        // Once for each process, and not on reading: a sweep changes the vault.
        if self.changes.recovered.reach(SWEPT) {
            self.sweep();
        }
        Ok(())
    }

    /// Completes or rolls back unfinished changes. The holder of the turn knows that no other server is at it.
    pub(super) fn recover(&self) -> Result<(), TurnError> {
        let under_way = match self.changes.ledger.under_way() {
            Ok(under_way) => under_way,
            Err(error) => {
                self.changes.tell(VaultNews::Postponed { why: error.to_string() });
                return Err(TurnError::NoState);
            }
        };
        if !under_way.is_empty() {
            tracing::debug!(changes = under_way.len(), "checking changes of a server that was killed");
        }
        for intent in under_way {
            self.settle_one(&intent).map_err(|error| {
                self.changes.tell(VaultNews::Postponed { why: error.to_string() });
                TurnError::Unfinished
            })?;
        }
        Ok(())
    }

    fn settle_one(&self, intent: &UnfinishedChange) -> Result<(), StoreError> {
        let nanoseconds = self.changes.steps.now().unsigned_abs();
        let now = UNIX_EPOCH + Duration::from_nanos(nanoseconds);
        let unusable = |_| StoreError::NoCheckpoint;
        if course::were_all_taken(self.changes, &intent.steps)? {
            // The killed server may not have come as far as this.
            self.sync(&intent.steps, &[])?;
            // A file next to its place is treated as if it were still open.
            self.changes.ledger.finish(intent.number, &old_file_records(&intent.steps)).map_err(unusable)?;
            self.changes.tell(VaultNews::Completed { checkpoint: intent.id.clone() });
            return Ok(());
        }
        // Only the disk says how far it came.
        let undone = undo::take_back(self.changes, &intent.steps, &|_| StepExtent::Unknown, now)?;
        self.write_off(intent.number, &undone).map_err(unusable)?;
        self.changes.tell(VaultNews::Undone { left: undone.left });
        Ok(())
    }
}

/// Files that a change may have left next to their places.
fn old_file_records(steps: &[JournalStep]) -> Vec<OldFileRecord> {
    let steps_with_one = steps.iter().enumerate().filter_map(|(position, step)| match step {
        JournalStep::Replace { place, .. } | JournalStep::Remove { place, .. } => Some((position, place)),
        JournalStep::MakeFolder { .. } | JournalStep::Create { .. } | JournalStep::Move { .. } => None,
    });
    let beside = |(position, place)| {
        let place = called_after(&steps[position..], place);
        OldFileRecord { position, place, aside: None, gone: false }
    };
    steps_with_one.map(beside).collect()
}
