//! How a change ends, and what remains to be watched.

use lapidary_note::ContentHash;
use rusqlite::{Error, OptionalExtension, Transaction, params};

use super::{Ledger, LedgerError, OldFileRecord, OpenOldFile, records::MAKES_FOLDER};

impl Ledger {
    /// The change has happened. Only steps with an old file to watch are kept.
    ///
    /// Not synced: if this is lost, the next start finds the change complete and records it again.
    pub(crate) fn finish(&self, number: i64, beside: &[OldFileRecord]) -> Result<(), LedgerError> {
        self.finish_with(number, beside, &[])
    }

    /// The same, and the new contents are kept: when they are changed later, the difference can be shown.
    pub(crate) fn finish_with(
        &self,
        number: i64,
        beside: &[OldFileRecord],
        written: &[(ContentHash, &[u8])],
    ) -> Result<(), LedgerError> {
        self.write(|transaction| {
            // In one transaction: a change is either closed with everything or still in progress.
            self.insert_contents(transaction, written)?;
            keep_steps(transaction, number, beside)?;
            // Not with every change: it reads the whole list of removed files.
            if number % LET_GO_EVERY == 0 { forget_removed(transaction, number) } else { Ok(()) }
        })
    }

    /// The change has not happened. Nothing of it is left, except files that other programs found in their places and
    /// have open.
    pub(crate) fn forget(&self, number: i64, beside: &[OldFileRecord]) -> Result<(), LedgerError> {
        self.write(|transaction| forget(transaction, number, beside))
    }

    /// These places have other names now.
    pub(crate) fn follow(&self, moved: &[OpenOldFile]) -> Result<(), LedgerError> {
        if moved.is_empty() {
            return Ok(());
        }
        self.write(|transaction| {
            let mut follow = transaction
                .prepare_cached("UPDATE steps SET place = ?4 WHERE state = ?1 AND checkpoint = ?2 AND position = ?3")?;
            for OpenOldFile { checkpoint, position, path, .. } in moved {
                follow.execute(params![OldFile::Kept as i64, checkpoint, position, path.as_str()])?;
            }
            Ok(())
        })
    }

    /// Nothing is left next to those places.
    pub(crate) fn let_go(&self, gone: &[OpenOldFile]) -> Result<(), LedgerError> {
        // Without any there is nothing to write.
        let Some(newest) = gone.iter().map(|lingering| lingering.checkpoint).max() else { return Ok(()) };
        self.write(|transaction| {
            let mut mark = transaction
                .prepare_cached("UPDATE steps SET state = ?2 WHERE state = ?1 AND checkpoint = ?3 AND position = ?4")?;
            let (kept, removed) = (OldFile::Kept as i64, OldFile::Removed as i64);
            for lingering in gone {
                mark.execute(params![kept, removed, lingering.checkpoint, lingering.position])?;
            }
            forget_removed(transaction, newest)?;
            drop_undone(transaction)
        })
    }
}

/// The fate of the old file of a step.
#[derive(Clone, Copy)]
pub(super) enum OldFile {
    /// The change is in progress.
    NotYet = 0,
    /// It is next to its place, because another program had it open.
    Kept = 1,
    Removed = 2,
    /// No file, but a folder that the change made; it is known as long as the change.
    OfFolder = 3,
}

pub(super) fn forget(transaction: &Transaction<'_>, number: i64, beside: &[OldFileRecord]) -> Result<(), Error> {
    keep_steps(transaction, number, beside)?;
    // Marked first: it can only be removed when nothing of it is watched any more.
    transaction.prepare_cached("UPDATE checkpoints SET undone = 1 WHERE number = ?1")?.execute([number])?;
    drop_undone(transaction)
}

/// Of the steps of a finished change, only those with a file to watch are kept.
fn keep_steps(transaction: &Transaction<'_>, number: i64, beside: &[OldFileRecord]) -> Result<(), Error> {
    let mut keep = transaction.prepare_cached(
        "UPDATE steps SET state = ?4, place = ?5, aside = coalesce(?6, aside)
         WHERE state = ?1 AND checkpoint = ?2 AND position = ?3",
    )?;
    let not_yet = OldFile::NotYet as i64;
    for OldFileRecord { position, place, aside, gone } in beside {
        let state = if *gone { OldFile::Removed } else { OldFile::Kept };
        keep.execute(params![not_yet, number, *position as i64, state as i64, place.as_str(), aside])?;
    }
    transaction
        .prepare_cached("UPDATE steps SET state = ?3 WHERE state = ?1 AND checkpoint = ?2 AND kind = ?4")?
        .execute(params![not_yet, number, OldFile::OfFolder as i64, MAKES_FOLDER])?;
    // What is left was taken and needs no watching.
    transaction
        .prepare_cached("DELETE FROM steps WHERE state = ?1 AND checkpoint = ?2")?
        .execute(params![not_yet, number])?;
    Ok(())
}

/// Forgets rolled back changes once nothing of them is watched any more.
fn drop_undone(transaction: &Transaction<'_>) -> Result<(), Error> {
    let settled = "SELECT number FROM checkpoints WHERE undone = 1 AND NOT EXISTS
                   (SELECT 1 FROM steps WHERE state IN (0, 1) AND checkpoint = number)";
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

/// After this many milliseconds every system has synced the removal of a file.
const LASTS: i64 = 10 * 60 * 1000;
/// They are checked after this many changes.
const LET_GO_EVERY: i64 = 16;

/// Forgets files that were removed long before this change.
fn forget_removed(transaction: &Transaction<'_>, number: i64) -> Result<(), Error> {
    let mut time = transaction.prepare_cached("SELECT time FROM checkpoints WHERE number = ?1")?;
    let Some(now) = time.query_row([number], |row| row.get::<_, i64>(0)).optional()? else { return Ok(()) };
    let mut removed = transaction.prepare_cached(
        "SELECT checkpoint, time FROM steps JOIN checkpoints ON number = checkpoint WHERE steps.state = ?1
         ORDER BY checkpoint",
    )?;
    let mut removed = removed.query([OldFile::Removed as i64])?;
    let mut last = None;
    while let Some(row) = removed.next()? {
        // They are in order of creation, so this is rarely more than one.
        if row.get::<_, i64>(1)? >= now - LASTS {
            break;
        }
        last = Some(row.get::<_, i64>(0)?);
    }
    if let Some(last) = last {
        transaction
            .prepare_cached("DELETE FROM steps WHERE state = ?1 AND checkpoint <= ?2")?
            .execute(params![OldFile::Removed as i64, last])?;
    }
    Ok(())
}
