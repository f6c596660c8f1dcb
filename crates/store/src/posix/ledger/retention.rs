//! Removes old checkpoints.

use std::time::SystemTime;

use rusqlite::{Error, Transaction, params};

use super::{Ledger, LedgerError, Ordering, UNKNOWN, nanoseconds};

impl Ledger {
    /// Whether there is something to remove, as far as can be told cheaply with every change.
    pub(crate) fn is_over(&self, now: SystemTime) -> Result<bool, LedgerError> {
        let stored = self.stored.load(Ordering::Relaxed);
        let limit = i64::try_from(self.retention.bytes).unwrap_or(i64::MAX);
        // Kept up to date with every change; the sum over all contents is only computed when pruning.
        if stored != UNKNOWN && stored > limit {
            return Ok(true);
        }
        let oldest = self.oldest(now);
        self.read(false, |database| {
            let mut first = database.prepare_cached(
                "SELECT 1 FROM (SELECT time, number FROM checkpoints WHERE undone = 0 AND (kind = 0 OR told = 1)
                 ORDER BY number LIMIT 1)
                 WHERE time < ?1 AND number < (SELECT max(number) FROM checkpoints)",
            )?;
            first.exists([oldest])
        })
    }

    fn oldest(&self, now: SystemTime) -> i64 {
        now.checked_sub(self.retention.age).map_or(i64::MIN, |time| nanoseconds(time) / 1_000_000)
    }

    /// Removes checkpoints that are too old or too large, oldest first. The newest is always kept, as it may be undone
    /// next. So are late saves that no caller was told of.
    pub(crate) fn prune(&self, now: SystemTime) -> Result<(), LedgerError> {
        if !self.place.is_there()? {
            self.stored.store(0, Ordering::Relaxed);
            return Ok(());
        }
        let oldest = self.oldest(now);
        let limit = i64::try_from(self.retention.bytes).unwrap_or(i64::MAX);
        let removed = self.write(|transaction| {
            let aged = remove(transaction, "time < ?1", oldest)?;
            let mut removed = aged;
            loop {
                drop_unused(transaction, removed > 0)?;
                let stored: i64 =
                    transaction
                        .query_row("SELECT coalesce(sum(length(packed)), 0) FROM contents", [], |row| row.get(0))?;
                // Also corrects the count: other servers have written and removed contents as well.
                self.stored.store(stored, Ordering::Relaxed);
                if stored <= limit {
                    return Ok(removed);
                }
                // In tenths, so that it is not counted again after each.
                let boundary: i64 = transaction.query_row(
                    "SELECT coalesce(max(number), 0) FROM (SELECT number FROM checkpoints ORDER BY number
                     LIMIT (SELECT 1 + count(*) / 10 FROM checkpoints))",
                    [],
                    |row| row.get(0),
                )?;
                let now_removed = remove(transaction, "number <= ?1", boundary)?;
                // All that is left has to be kept.
                if now_removed == 0 {
                    return Ok(removed);
                }
                removed += now_removed;
            }
        })?;
        if removed > 0 {
            tracing::debug!(checkpoints = removed, "old checkpoints are gone");
            // It frees one page with every row requested.
            self.read((), |database| {
                let mut vacuum = database.prepare_cached("PRAGMA incremental_vacuum")?;
                let mut pages = vacuum.query([])?;
                while pages.next()?.is_some() {}
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Changes in progress, watched files and unreported late saves must not be removed.
fn remove(transaction: &Transaction<'_>, which: &str, bound: i64) -> Result<usize, Error> {
    // Steps in state 2 are only remembered for the case of a power cut, and need not keep their checkpoint.
    let removed = transaction.execute(
        &format!(
            "DELETE FROM checkpoints WHERE {which} AND undone = 0 AND (kind = 0 OR told = 1)
             AND number NOT IN (SELECT checkpoint FROM steps WHERE state < 2) AND number < (SELECT max(number) FROM checkpoints)"
        ),
        params![bound],
    )?;
    if removed > 0 {
        for table in ["entries", "steps"] {
            let orphans = format!("DELETE FROM {table} WHERE checkpoint NOT IN (SELECT number FROM checkpoints)");
            transaction.execute(&orphans, [])?;
        }
    }
    Ok(removed)
}

fn drop_unused(transaction: &Transaction<'_>, any: bool) -> Result<(), Error> {
    if any {
        transaction.execute(
            "DELETE FROM contents WHERE hash NOT IN (SELECT before FROM entries WHERE before IS NOT NULL
             UNION SELECT after FROM entries WHERE after IS NOT NULL)",
            [],
        )?;
    }
    Ok(())
}
