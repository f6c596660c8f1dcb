//! Late saves in the ledger.

use lapidary_note::ContentHash;
use rusqlite::{Error, OptionalExtension, Transaction, params};

use super::{ChangeOrigin, CheckpointKind, Draft, Ledger, LedgerError};
use crate::{
    VaultPath,
    posix::{CheckpointRecord, EntryRecord},
};

impl Ledger {
    /// Stores what another program wrote to a file that had just been replaced.
    pub(crate) fn keep_late_save(
        &self,
        path: &VaultPath,
        content: &[u8],
        origin: &ChangeOrigin,
    ) -> Result<String, LedgerError> {
        let hash = ContentHash::of(content);
        let entry = EntryRecord {
            path: path.clone(),
            moved_to: None,
            before: Some(hash),
            after: None,
            bytes_before: content.len() as u64,
            bytes_after: 0,
        };
        let draft = Draft {
            origin,
            kind: CheckpointKind::LateSave,
            entries: vec![entry],
            steps: &[],
            contents: vec![(hash, content)],
        };
        let name = self.place.name()?;
        let write = |transaction: &Transaction<'_>| match known(transaction, path, &hash)? {
            Some(id) => Ok(id),
            None => Ok(self.insert_checkpoint(transaction, &draft, name)?.1),
        };
        // It is tried again, and then it is known.
        self.write_for_good(write, |_, _| Ok(()))
    }

    /// Late saves that no caller was told of yet.
    pub(crate) fn untold(&self) -> Result<Vec<CheckpointRecord>, LedgerError> {
        let wanted = |checkpoint: &CheckpointRecord| checkpoint.kind == CheckpointKind::LateSave;
        let numbers: Vec<String> = self.read(Vec::new(), |database| {
            let mut found =
                database.prepare_cached("SELECT id FROM checkpoints WHERE kind = 1 AND told = 0 ORDER BY number")?;
            found.query_map([], |row| row.get(0))?.collect()
        })?;
        let found: Result<Vec<Vec<CheckpointRecord>>, LedgerError> =
            numbers.iter().map(|id| self.checkpoint(id)).collect();
        Ok(found?.into_iter().flatten().filter(wanted).collect())
    }

    /// The caller that should have been told did not get it.
    pub(crate) fn set_untold(&self, id: &str) -> Result<(), LedgerError> {
        self.write(|transaction| transaction.execute("UPDATE checkpoints SET told = 0 WHERE id = ?1", [id]).map(|_| ()))
    }

    /// Whether no other caller was told meanwhile.
    pub(crate) fn set_told(&self, number: i64) -> Result<bool, LedgerError> {
        self.write(|transaction| {
            let told =
                // Two servers may report at the same time; only one of them changes the row.
                transaction.execute("UPDATE checkpoints SET told = 1 WHERE number = ?1 AND told = 0", [number])?;
            Ok(told == 1)
        })
    }
}

/// The same text, stored by a server that was killed before it could remove the file.
fn known(transaction: &Transaction<'_>, path: &VaultPath, hash: &ContentHash) -> Result<Option<String>, Error> {
    let mut known = transaction.prepare_cached(
        "SELECT id FROM checkpoints JOIN entries ON checkpoint = number
         WHERE kind = 1 AND told = 0 AND path = ?1 AND before = ?2",
    )?;
    known.query_row(params![path.as_str(), hash.as_bytes()], |row| row.get(0)).optional()
}
