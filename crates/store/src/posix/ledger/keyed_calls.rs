//! Calls with a key, which are answered instead of repeated when they are sent again.

use std::time::SystemTime;

use lapidary_note::ContentHash;
use rusqlite::{OptionalExtension, params};

use super::{Ledger, LedgerError, bytes, database, nanoseconds};
use crate::{KEYED_CALLS, KeyedCall};

/// The call, the id of its checkpoint, and the packed reply.
type KeptRow = ([u8; 32], String, Option<Vec<u8>>);

impl Ledger {
    /// The change that was made by a call with this key, unless that was before a moment.
    pub(crate) fn keyed(&self, key: &ContentHash, since: SystemTime) -> Result<Option<KeyedCall>, LedgerError> {
        let oldest = nanoseconds(since) / 1_000_000;
        let found: Option<KeptRow> = self.read(None, |database| {
            // By number first, so that only the latest rows are looked at.
            let mut found = database.prepare_cached(
                "SELECT call, id, reply FROM checkpoints
                 WHERE number > (SELECT coalesce(max(number), 0) FROM checkpoints) - ?1 AND call_key = ?2 AND time >= ?3
                 AND undone = 0 AND number NOT IN (SELECT checkpoint FROM steps WHERE state = 0)
                 ORDER BY number DESC LIMIT 1",
            )?;
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            found.query_row(params![KEYED_CALLS, bytes(key), oldest], row).optional()
        })?;
        let Some((call, id, reply)) = found else { return Ok(None) };
        let call = ContentHash::from_bytes(call);
        let Some(checkpoint) = self.checkpoint(&id)?.pop() else { return Ok(None) };
        let reply = reply.and_then(|packed| database::unpacked(&packed, crate::LONGEST_KEPT_REPLY));
        Ok(Some(KeyedCall { call, checkpoint, reply }))
    }

    /// Keeps what was answered. Not synced: if it is lost, the call is known to be made, and only its answer is not.
    pub(crate) fn keep_reply(&self, checkpoint: &str, reply: &[u8]) -> Result<(), LedgerError> {
        let packed = database::packed(reply);
        self.write(|transaction| {
            transaction
                .prepare_cached("UPDATE checkpoints SET reply = ?2 WHERE id = ?1")?
                .execute(params![checkpoint, packed])?;
            // Answers of calls that are too old to be repeated take room for nothing.
            transaction
                .prepare_cached(
                    "UPDATE checkpoints SET reply = NULL WHERE reply IS NOT NULL
                     AND number <= (SELECT max(number) FROM checkpoints) - ?1",
                )?
                .execute(params![KEYED_CALLS])?;
            Ok(())
        })
    }
}
