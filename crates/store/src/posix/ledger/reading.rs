//! Queries on the ledger.

use lapidary_note::ContentHash;
use rusqlite::{Connection, Error, ffi, params_from_iter, types::Value};

use super::{Ledger, LedgerError, bytes, records};
use crate::{CheckpointRecord, PathFilter, VaultPath};

/// All except changes in progress or rolled back.
const DONE: &str =
    "SELECT * FROM checkpoints WHERE undone = 0 AND number NOT IN (SELECT checkpoint FROM steps WHERE state = 0)";

impl Ledger {
    /// The newest checkpoints first.
    pub(crate) fn checkpoints(&self, filter: &PathFilter, limit: usize) -> Result<Vec<CheckpointRecord>, LedgerError> {
        let mut query = DONE.to_owned();
        let mut values = Vec::new();
        let mut touching = Vec::new();
        for path in &filter.paths {
            // Everything that starts with the folder and a slash sorts between the two.
            touching.push("path = ? OR (path >= ? AND path < ?)");
            // `0` is the character after `/`.
            let texts = [path.to_string(), format!("{path}/"), format!("{path}0")];
            values.extend(texts.map(Value::from));
            // A file may have come here with a folder that was moved to one of these.
            for came in std::iter::successors(Some(path.clone()), VaultPath::folder) {
                touching.push("moved_to = ?");
                values.push(Value::from(came.to_string()));
            }
        }
        if !touching.is_empty() {
            query += &format!(" AND number IN (SELECT checkpoint FROM entries WHERE {})", touching.join(" OR "));
        }
        if let Some(before) = filter.before {
            query += " AND number < ?";
            values.push(Value::from(before));
        }
        query += " ORDER BY number DESC LIMIT ?";
        values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
        self.read(Vec::new(), |database| with_entries(database, &query, &values))
    }

    /// Those whose id starts like this; more than one if it is too short.
    pub(crate) fn checkpoint(&self, prefix: &str) -> Result<Vec<CheckpointRecord>, LedgerError> {
        // Ids are hex digits: anything else cannot match, and LIKE would interpret it.
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        let from = prefix.to_ascii_lowercase();
        // Hex digits end with `f`, so this is the first text after all that start with the prefix.
        let values = [Value::from(from.clone()), Value::from(format!("{from}g"))];
        let query = format!("{DONE} AND id >= ? AND id < ? ORDER BY number DESC LIMIT 20");
        self.read(Vec::new(), |database| with_entries(database, &query, &values))
    }

    /// The checkpoint of the change that was made on this approval.
    pub(crate) fn approved(&self, approval: &ContentHash) -> Result<Option<CheckpointRecord>, LedgerError> {
        let values = [Value::from(bytes(approval).to_vec())];
        let query = format!("{DONE} AND approval = ? ORDER BY number DESC LIMIT 1");
        Ok(self.read(Vec::new(), |database| with_entries(database, &query, &values))?.pop())
    }

    /// Whether a change made this folder for this file.
    pub(crate) fn made_folder(&self, folder: &VaultPath, file: &VaultPath) -> Result<bool, LedgerError> {
        self.read(false, |database| {
            let mut made = database.prepare_cached(
                "SELECT 1 FROM steps WHERE state = 3 AND place = ?1 AND EXISTS
                 (SELECT 1 FROM entries WHERE checkpoint = steps.checkpoint AND (path = ?2 OR moved_to = ?2)) LIMIT 1",
            )?;
            made.exists([folder.as_str(), file.as_str()])
        })
    }

    /// Whether a change removed a file at this path, or one in this folder.
    pub(crate) fn knows(&self, path: &VaultPath) -> Result<bool, LedgerError> {
        self.read(false, |database| {
            let mut known = database.prepare_cached(
                "SELECT 1 FROM entries WHERE (path = ?1 OR (path >= ?2 AND path < ?3))
                 AND (before IS NOT NULL OR moved_to IS NOT NULL) LIMIT 1",
            )?;
            known.exists([path.to_string(), format!("{path}/"), format!("{path}0")])
        })
    }
}

fn with_entries(database: &Connection, query: &str, values: &[Value]) -> Result<Vec<CheckpointRecord>, Error> {
    let mut found = database.prepare_cached(query)?;
    let mut rows = found.query(params_from_iter(values))?;
    let mut entries = database.prepare_cached("SELECT * FROM entries WHERE checkpoint = ?1 ORDER BY position")?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut checkpoint = records::checkpoint(row)?;
        checkpoint.entries = entries.query_map([checkpoint.number], records::entry)?.collect::<Result<_, _>>()?;
        // Those of an earlier version have none.
        let digest: Option<Vec<u8>> = row.get("digest").unwrap_or_default();
        // Reported as damage, so that the database is set aside and the rest is salvaged.
        if digest.is_some_and(|digest| digest != records::digest(&checkpoint)) {
            return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), None));
        }
        found.push(checkpoint);
    }
    Ok(found)
}

/// Whether a stored checkpoint is still intact.
pub(super) fn is_whole(database: &Connection, number: i64) -> bool {
    let query = "SELECT * FROM checkpoints WHERE number = ?";
    with_entries(database, query, &[Value::from(number)]).is_ok_and(|found| found.len() == 1)
}
