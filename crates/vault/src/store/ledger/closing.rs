//! How a change ends, and what is left to look after.

use rusqlite::{Error, OptionalExtension, Transaction, params};

use super::{Beside, Ledger, LedgerError, Lingering, State, database::Sync};

impl Ledger {
    /// The change has happened. Of its steps only those stay written down that have an old file to look after.
    ///
    /// Not waited for: if this is lost, the next start finds the change complete and says so again.
    pub(crate) fn finish(&self, number: i64, beside: &[Beside]) -> Result<(), LedgerError> {
        self.write(Sync::Normal, |transaction| {
            transaction
                .prepare_cached("UPDATE checkpoints SET state = ?2 WHERE number = ?1")?
                .execute(params![number, State::Done as i64])?;
            keep_steps(transaction, number, beside)?;
            forget_removed(transaction, number)
        })
    }

    /// The change has not happened. Nothing of it is left, but for files that somebody found in their places and has open.
    pub(crate) fn forget(&self, number: i64, beside: &[Beside]) -> Result<(), LedgerError> {
        self.write(Sync::Normal, |transaction| {
            keep_steps(transaction, number, beside)?;
            transaction
                .prepare_cached("UPDATE checkpoints SET state = ?2 WHERE number = ?1")?
                .execute(params![number, State::Undone as i64])?;
            drop_undone(transaction)
        })
    }

    /// The places of these have other names now.
    pub(crate) fn follow(&self, moved: &[Lingering]) -> Result<(), LedgerError> {
        if moved.is_empty() {
            return Ok(());
        }
        self.write(Sync::Normal, |transaction| {
            let mut follow =
                transaction.prepare_cached("UPDATE steps SET place = ?3 WHERE checkpoint = ?1 AND position = ?2")?;
            for Lingering { checkpoint, position, path, .. } in moved {
                follow.execute(params![checkpoint, position, path.as_str()])?;
            }
            Ok(())
        })
    }

    /// Nothing is left beside those places.
    pub(crate) fn let_go(&self, gone: &[Lingering]) -> Result<(), LedgerError> {
        let Some(newest) = gone.iter().map(|lingering| lingering.checkpoint).max() else { return Ok(()) };
        self.write(Sync::Normal, |transaction| {
            let mut mark =
                transaction.prepare_cached("UPDATE steps SET state = ?3 WHERE checkpoint = ?1 AND position = ?2")?;
            for lingering in gone {
                mark.execute(params![lingering.checkpoint, lingering.position, OldFile::Removed as i64])?;
            }
            forget_removed(transaction, newest)?;
            drop_undone(transaction)
        })
    }
}

/// What became of the old file of a step.
#[derive(Clone, Copy)]
pub(super) enum OldFile {
    /// The change is under way.
    NotYet = 0,
    /// It stands beside its place, because somebody had it open.
    Kept = 1,
    Removed = 2,
}

/// Of the steps of a change that is over, those stay written down that have a file to look after.
fn keep_steps(transaction: &Transaction<'_>, number: i64, beside: &[Beside]) -> Result<(), Error> {
    let mut keep = transaction.prepare_cached(
        "UPDATE steps SET state = ?3, place = ?4, aside = coalesce(?5, aside) WHERE checkpoint = ?1 AND position = ?2",
    )?;
    for Beside { position, place, aside, gone } in beside {
        let state = if *gone { OldFile::Removed } else { OldFile::Kept };
        keep.execute(params![number, *position as i64, state as i64, place.as_str(), aside])?;
    }
    transaction
        .prepare_cached("DELETE FROM steps WHERE checkpoint = ?1 AND state = ?2")?
        .execute(params![number, OldFile::NotYet as i64])?;
    Ok(())
}

/// Forgets changes that were taken back when nothing of them is looked after any more.
fn drop_undone(transaction: &Transaction<'_>) -> Result<(), Error> {
    let settled = "SELECT number FROM checkpoints WHERE state <> 1 AND state = 2 AND NOT EXISTS
                   (SELECT 1 FROM steps WHERE checkpoint = number AND steps.state < 2)";
    let mut settled = transaction.prepare_cached(settled)?;
    let settled: Vec<i64> = settled.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for number in settled {
        for table in ["steps", "entries"] {
            transaction.execute(&format!("DELETE FROM {table} WHERE checkpoint = ?1"), [number])?;
        }
        transaction.execute("DELETE FROM checkpoints WHERE number = ?1", [number])?;
    }
    Ok(())
}

/// After so many milliseconds every system has brought to disk that a file was removed.
const LASTS: i64 = 10 * 60 * 1000;

/// Lets go of what was removed long before this change.
fn forget_removed(transaction: &Transaction<'_>, number: i64) -> Result<(), Error> {
    // Asked with every change, and hardly ever is there any.
    let mut oldest = transaction.prepare_cached(
        "SELECT time < (SELECT time FROM checkpoints WHERE number = ?1) - ?2 FROM checkpoints
         WHERE number = (SELECT min(checkpoint) FROM steps)",
    )?;
    if !oldest.query_row(params![number, LASTS], |row| row.get(0)).optional()?.unwrap_or(false) {
        return Ok(());
    }
    transaction
        .prepare_cached(
            "DELETE FROM steps WHERE state = ?1 AND (SELECT time FROM checkpoints WHERE number = checkpoint)
             < (SELECT time FROM checkpoints WHERE number = ?2) - ?3",
        )?
        .execute(params![OldFile::Removed as i64, number, LASTS])?;
    Ok(())
}
