use rusqlite::{Connection, Error, params_from_iter, types::Value};

use super::{Ledger, LedgerError, records};
use crate::{CheckpointRecord, PathFilter, VaultPath};

/// All but what is under way or was taken back.
const DONE: &str =
    "SELECT * FROM checkpoints WHERE undone = 0 AND number NOT IN (SELECT checkpoint FROM steps WHERE state = 0)";

impl Ledger {
    /// The newest checkpoints first.
    pub(crate) fn checkpoints(&self, filter: &PathFilter, limit: usize) -> Result<Vec<CheckpointRecord>, LedgerError> {
        let mut query = DONE.to_owned();
        let mut values = Vec::new();
        if let Some(path) = &filter.path {
            query += " AND number IN (SELECT checkpoint FROM entries WHERE path = ? OR moved_to = ?
                       OR (path >= ? AND path < ?))";
            // Everything that begins with the folder and a slash stands between the two.
            let texts = [path.to_string(), path.to_string(), format!("{path}/"), format!("{path}0")];
            values.extend(texts.map(Value::from));
        }
        if let Some(before) = filter.before {
            query += " AND number < ?";
            values.push(Value::from(before));
        }
        query += " ORDER BY number DESC LIMIT ?";
        values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
        self.read(Vec::new(), |database| with_entries(database, &query, &values))
    }

    /// Those whose name begins like this; more than one if it is too short.
    pub(crate) fn checkpoint(&self, prefix: &str) -> Result<Vec<CheckpointRecord>, LedgerError> {
        // Names are hex digits: what is not can be no name, and a pattern would read it otherwise.
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        let from = prefix.to_ascii_lowercase();
        let values = [Value::from(from.clone()), Value::from(format!("{from}g"))];
        let query = format!("{DONE} AND id >= ? AND id < ? ORDER BY number DESC LIMIT 20");
        self.read(Vec::new(), |database| with_entries(database, &query, &values))
    }

    /// Whether a change took away a file at this path, or one in this folder.
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
    let found = found.query_map(params_from_iter(values), records::checkpoint)?;
    let mut found: Vec<CheckpointRecord> = found.collect::<Result<_, _>>()?;
    let mut entries = database.prepare_cached("SELECT * FROM entries WHERE checkpoint = ?1 ORDER BY position")?;
    for checkpoint in &mut found {
        checkpoint.entries = entries.query_map([checkpoint.number], records::entry)?.collect::<Result<_, _>>()?;
    }
    Ok(found)
}
