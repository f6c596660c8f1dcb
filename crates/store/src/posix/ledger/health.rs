//! Whether the history of changes can be read, without repairing anything.

use std::path::PathBuf;

use rusqlite::{Connection, OpenFlags};

use super::database::{self, FORMAT, NAME};
use crate::posix::StateFolder;

/// A longer check takes seconds; SQLite checks each page anyway when it is read.
const LARGEST_CHECKED: u64 = 256 << 20;

/// The state of a vault's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerHealth {
    /// Nothing has ever been changed.
    Empty,
    Well {
        changes: u64,
        bytes: u64,
        /// Changes that a server has begun and not ended.
        unfinished: u64,
        /// Whether each page was read.
        is_checked: bool,
    },
    /// It was written by a newer version.
    Newer,
    /// The next change sets it aside and keeps what can be read.
    Damaged(String),
    /// It cannot be opened.
    Closed(String),
}

impl StateFolder {
    /// Looks at the history of this vault. Nothing is repaired, and no folder is made.
    pub fn ledger_health(&self) -> LedgerHealth {
        let path = match self.file(NAME) {
            Ok(path) => path,
            Err(error) => return LedgerHealth::Closed(error.to_string()),
        };
        let bytes = match std::fs::symlink_metadata(&path) {
            Ok(found) => found.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return LedgerHealth::Empty,
            Err(error) => return LedgerHealth::Closed(error.to_string()),
        };
        // SQLite ignores the damaged end of its log, and with it changes that were confirmed.
        if database::log_is_damaged(&path) {
            return LedgerHealth::Damaged("its log ends with a damaged record".to_owned());
        }
        match looked_at(&path, bytes) {
            Ok(health) => health,
            Err(error) if database::is_damaged(&error) => LedgerHealth::Damaged("it is not a database".to_owned()),
            Err(error) => LedgerHealth::Closed(error.to_string()),
        }
    }

    /// Damaged histories that were set aside, where a person can look at them.
    pub fn damaged_histories(&self) -> Vec<PathBuf> {
        let Ok(path) = self.file(NAME) else { return Vec::new() };
        (1..100)
            .map(|number| database::with_ending(&path, &format!(".damaged-{number}")))
            .filter(|path| path.exists())
            .collect()
    }
}

fn looked_at(path: &std::path::Path, bytes: u64) -> Result<LedgerHealth, rusqlite::Error> {
    let database =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    database.busy_timeout(std::time::Duration::from_secs(2))?;
    let format: i64 = database.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if format > FORMAT {
        return Ok(LedgerHealth::Newer);
    }
    // Checking reads every page, and a person waits for the answer.
    let is_checked = bytes <= LARGEST_CHECKED;
    if is_checked {
        let said: String = database.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if said != "ok" {
            return Ok(LedgerHealth::Damaged("its pages contradict each other".to_owned()));
        }
    }
    // Created, but nothing was written to it yet.
    if format == 0 {
        return Ok(LedgerHealth::Empty);
    }
    let count = |query: &str| database.query_row(query, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs);
    let changes = count("SELECT count(*) FROM checkpoints")?;
    let unfinished = count("SELECT count(DISTINCT checkpoint) FROM steps WHERE state = 0")?;
    Ok(LedgerHealth::Well { changes, bytes, unfinished, is_checked })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn state(around: &Path) -> StateFolder {
        StateFolder::new(around.join("state"), around.to_owned())
    }

    fn database(folder: &StateFolder) -> Connection {
        let database = Connection::open(folder.file_in_place(NAME).unwrap()).unwrap();
        database::set_up(&database).unwrap();
        database
    }

    #[test]
    fn a_history_is_empty_well_unfinished_newer_or_damaged() {
        let around = tempfile::tempdir().unwrap();
        let folder = state(around.path());
        assert_eq!(folder.ledger_health(), LedgerHealth::Empty);
        assert!(!around.path().join("state").exists(), "nothing is made by a look");
        let open = database(&folder);
        let unfinished = |health| match health {
            LedgerHealth::Well { unfinished, is_checked: true, .. } => unfinished,
            other => panic!("{other:?}"),
        };
        assert_eq!(unfinished(folder.ledger_health()), 0);
        open.execute_batch("INSERT INTO steps (checkpoint, position, kind, place) VALUES (7, 0, 0, 'a.md')").unwrap();
        assert_eq!(unfinished(folder.ledger_health()), 1);
        open.execute_batch("PRAGMA user_version = 99").unwrap();
        assert_eq!(folder.ledger_health(), LedgerHealth::Newer);
        drop(open);
        std::fs::write(folder.file(NAME).unwrap(), "not a database".repeat(100)).unwrap();
        assert!(matches!(folder.ledger_health(), LedgerHealth::Damaged(_)));
        assert!(folder.damaged_histories().is_empty(), "nothing is repaired by a look");
    }
}
