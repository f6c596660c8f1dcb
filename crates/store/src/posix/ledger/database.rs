//! The SQLite database of the ledger: opening, syncing, replacing.

use std::{
    cell::RefCell,
    fs::File,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, Error, ErrorCode, Transaction, TransactionBehavior, ffi};
use zstd::bulk::Compressor;

use super::{
    LedgerError, LedgerPlace,
    salvage::{SalvagedRows, salvage},
    wal,
};
use crate::posix::{
    StoreError,
    state::{DATABASE_PATIENCE, open_database, private_file, read_bytes, share_database},
};

pub(super) const NAME: &str = "checkpoints.db";
pub(super) const FORMAT: i64 = 2;
const UNRELEASED: &str = "its tables are of a form that was never released";
/// How many prepared statements are cached.
const STATEMENTS: usize = 64;
/// Smaller contents would not shrink.
const WORTH_PACKING: usize = 200;
/// How long a log that looks damaged is checked again.
const MOMENT: Duration = Duration::from_millis(50);

impl LedgerPlace {
    /// Whether anything has ever been stored.
    pub(super) fn is_there(&self) -> Result<bool, LedgerError> {
        match self {
            Self::Memory => Ok(true),
            Self::Folder(folder) => {
                let path = folder.file(NAME).map_err(|error| unusable(&error))?;
                path.try_exists().map_err(|error| unusable(&error))
            }
        }
    }
}

impl LedgerPlace {
    /// For tests that observe each step: their failure looks like one of the disk.
    fn about_to(&self, call: &'static str) -> Result<(), Error> {
        let Self::Folder(folder) = self else { return Ok(()) };
        folder.about_to(call).map_err(|error| {
            let code = if error == StoreError::DiskFull { ffi::SQLITE_FULL } else { ffi::SQLITE_IOERR };
            Error::SqliteFailure(ffi::Error::new(code), None)
        })
    }
}

fn unusable(error: &io::Error) -> LedgerError {
    LedgerError::Unusable(error.kind().to_string())
}

/// An open database, and which file it is.
pub(super) struct OpenDatabase {
    /// SQLite's log, and which file it is. Closed before the database, which may want to remove it.
    log: Option<(File, Option<FileId>)>,
    pub(super) database: Connection,
    file: Option<FileId>,
    /// One of its files was removed.
    lost: bool,
    /// The disk rejected a write to the log. It may claim success the next time: it no longer knows what it lost.
    unsure: bool,
}

impl OpenDatabase {
    pub(super) fn at(place: &LedgerPlace) -> Result<Self, LedgerError> {
        let LedgerPlace::Folder(folder) = place else {
            let database = Connection::open_in_memory()?;
            set_up(&database)?;
            return Ok(Self { log: None, database, file: None, lost: false, unsure: false });
        };
        let path = folder.file_in_place(NAME).map_err(|error| unusable(&error))?;
        // Checked before SQLite opens it, which would silently drop everything after the damage.
        if log_is_damaged(&path) {
            return Self::anew(place);
        }
        match open_file(&path) {
            Err(Error::SqliteFailure(_, Some(why))) if why == UNRELEASED => {
                move_away(&path).map_err(|error| unusable(&error))?;
                Self::at(place)
            }
            Err(error) if is_damaged(&error) => Self::anew(place),
            opened => Ok(Self { log: None, database: opened?, file: file_id(&path), lost: false, unsure: false }),
        }
    }

    /// Sets a damaged one aside, where a person can inspect it, and starts another with everything that can be read
    /// from it.
    pub(super) fn anew(place: &LedgerPlace) -> Result<Self, LedgerError> {
        let LedgerPlace::Folder(folder) = place else { return Self::at(place) };
        let path = folder.file_in_place(NAME).map_err(|error| unusable(&error))?;
        let damaged = move_away(&path).map_err(|error| unusable(&error))?;
        let database = open_file(&path)?;
        let SalvagedRows { kept, lost } = salvage(&damaged, &database);
        let name = damaged.file_name().unwrap_or_default().display();
        tracing::warn!(
            kept,
            lost,
            "the history of changes was damaged; its readable part is kept, and the damaged file is {name}"
        );
        Ok(Self { log: None, database, file: file_id(&path), lost: false, unsure: false })
    }

    /// Waits until everything written so far survives a power cut. Not left to SQLite, which would have to be told
    /// before each transaction whether to wait, and waits longer, also for data that its log does not need.
    pub(super) fn sync(&mut self, place: &LedgerPlace) -> Result<(), Error> {
        let LedgerPlace::Folder(folder) = place else { return Ok(()) };
        let synced = place.about_to("sync ledger").and_then(|()| {
            let path = folder.file(NAME).map_err(|error| failed(&error))?;
            self.sync_log(&with_ending(&path, "-wal"), place)
        });
        self.unsure = synced.is_err();
        synced
    }

    fn sync_log(&mut self, path: &Path, place: &LedgerPlace) -> Result<(), Error> {
        let there = file_id(path);
        // A database that the others cannot find is useless to them. The next call reopens it.
        // On other systems an open log cannot be removed.
        if !self.is_at(place) || (cfg!(unix) && there.is_none()) {
            self.lost = true;
            return Err(failed(&io::ErrorKind::NotFound.into()));
        }
        // After a failed sync, the system may have dropped the pages and report success. Only writing them again
        // helps.
        if self.unsure {
            return self.empty_log();
        }
        let log = match self.log.take() {
            // SQLite removes its log when the last connection is closed, and makes another.
            Some(log) if log.1 == there => log,
            _ => (newly_opened(path).map_err(|error| failed(&error))?, there),
        };
        let (file, _) = self.log.insert(log);
        file.sync_data().map_err(|error| failed(&error))
    }

    /// Merges the log into the database itself, and syncs it.
    pub(super) fn empty_log(&self) -> Result<(), Error> {
        let busy: i64 = self.database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if busy == 0 { Ok(()) } else { Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None)) }
    }

    /// Whether it is still the one that others find there. A journal that only we can see is worthless.
    pub(super) fn is_at(&self, place: &LedgerPlace) -> bool {
        match place {
            LedgerPlace::Memory => true,
            LedgerPlace::Folder(folder) => {
                !self.lost && folder.file(NAME).is_ok_and(|path| file_id(&path) == self.file)
            }
        }
    }
}

/// Whether SQLite would read only part of the log.
pub(super) fn log_is_damaged(path: &Path) -> bool {
    let damaged = || read_bytes(&with_ending(path, "-wal")).ok().filter(|log| wal::mended(log).is_some());
    let Some(first) = damaged() else { return false };
    // Another server may be rewriting it right now.
    std::thread::sleep(MOMENT);
    // A log that changed in between is being written. One that stays the same is damaged.
    damaged().is_some_and(|second| second == first)
}

/// A file whose name is durable, too.
fn newly_opened(path: &Path) -> io::Result<File> {
    // Some systems sync only files that were opened for writing.
    let file = private_file().write(true).open(path)?;
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(file)
}

fn failed(error: &io::Error) -> Error {
    let code = if error.kind() == io::ErrorKind::StorageFull { ffi::SQLITE_FULL } else { ffi::SQLITE_IOERR };
    Error::SqliteFailure(ffi::Error::new(code), Some(error.kind().to_string()))
}

type FileId = (u64, u64);

#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Elsewhere an open file cannot be moved away.
#[cfg(not(unix))]
fn file_id(_: &Path) -> Option<FileId> {
    None
}

fn open_file(path: &Path) -> Result<Connection, Error> {
    // Created by us first, so that no other user can read it. An existing one is not touched: opening and closing it
    // would release the locks of other users of it in this process.
    let is_new = match private_file().append(true).create_new(true).open(path) {
        Ok(_) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(_) => return Err(Error::InvalidPath(PathBuf::new())),
    };
    let database = open_database(path)?;
    // More than a change needs: preparing a statement costs as much as running it ten times.
    database.set_prepared_statement_cache_capacity(STATEMENTS);
    set_up(&database)?;
    // The commit syncs the log itself, see `sync`; FULL would sync it twice.
    database.execute_batch("PRAGMA synchronous = NORMAL")?;
    #[cfg(unix)]
    if is_new {
        // A journal whose name is not on disk is useless.
        // The folder of this vault's state, and the state folder itself, may be new as well.
        for folder in path.ancestors().skip(1).take(3) {
            std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(|_| Error::InvalidQuery)?;
        }
    }
    #[cfg(not(unix))]
    let _windows_syncs_with_the_file = is_new;
    Ok(database)
}

/// Every change waits until all pages that it touches are on disk. So there is no index that a change has to maintain
/// and only a rare query needs: ids and paths are searched linearly, and changes in progress are found by their steps,
/// which are ordered by state.
pub(super) fn set_up(database: &Connection) -> Result<(), Error> {
    // Incremental, so that pruning can give pages back without rewriting the file. Set before the file has any page.
    database.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
    share_database(database, DATABASE_PATIENCE)?;
    database.execute_batch("PRAGMA synchronous = FULL")?;
    let format: i64 = database.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if format == FORMAT {
        return add_columns(database);
    }
    // The tables of an unreleased format were different. It is set aside.
    if (1..FORMAT).contains(&format) {
        return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_NOTADB), Some(UNRELEASED.to_owned())));
    }
    // Writing our tables into it would break it for the program that it belongs to.
    if format > FORMAT {
        let newer = "it was written by a newer version of this program";
        return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CANTOPEN), Some(newer.to_owned())));
    }
    database.execute_batch(&format!(
        "BEGIN IMMEDIATE;
         CREATE TABLE IF NOT EXISTS checkpoints (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL, time INTEGER NOT NULL, kind INTEGER NOT NULL,
            tool TEXT NOT NULL, client TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0,
            told INTEGER NOT NULL DEFAULT 0, digest BLOB, approval BLOB, call_key BLOB, call BLOB, reply BLOB);
         CREATE INDEX IF NOT EXISTS taken_back ON checkpoints (number) WHERE undone = 1;
         CREATE TABLE IF NOT EXISTS entries (
            checkpoint INTEGER NOT NULL, position INTEGER NOT NULL, path TEXT NOT NULL, moved_to TEXT,
            before BLOB, after BLOB, bytes_before INTEGER NOT NULL, bytes_after INTEGER NOT NULL,
            PRIMARY KEY (checkpoint, position)) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS contents (hash BLOB PRIMARY KEY, size INTEGER NOT NULL, packed BLOB NOT NULL);
         CREATE TABLE IF NOT EXISTS steps (
            checkpoint INTEGER NOT NULL, position INTEGER NOT NULL, kind INTEGER NOT NULL, place TEXT NOT NULL,
            other TEXT, aside TEXT, before BLOB, after BLOB, state INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (state, checkpoint, position)) WITHOUT ROWID;
         PRAGMA user_version = {FORMAT};
         COMMIT;"
    ))
}

/// Earlier versions had none, and continue without.
fn add_columns(database: &Connection) -> Result<(), Error> {
    for name in ["digest", "approval", "call_key", "call", "reply"] {
        let known =
            || database.prepare("SELECT 1 FROM pragma_table_info('checkpoints') WHERE name = ?1")?.exists([name]);
        if known()? {
            continue;
        }
        match database.execute_batch(&format!("ALTER TABLE checkpoints ADD COLUMN {name} BLOB")) {
            // Another server was faster.
            Err(_) if known()? => {}
            added => added?,
        }
    }
    Ok(())
}

pub(super) fn transaction<T>(
    database: &mut Connection,
    place: &LedgerPlace,
    work: impl Fn(&Transaction<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    place.about_to("begin")?;
    // Immediate, because a transaction that starts as a reader cannot wait for another writer to finish.
    let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = work(&transaction)?;
    place.about_to("commit")?;
    transaction.commit()?;
    Ok(done)
}

pub(super) fn is_damaged(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Next to itself, under an unused name.
fn move_away(path: &Path) -> io::Result<PathBuf> {
    let free = |number: &usize| !with_ending(path, &format!(".damaged-{number}")).exists();
    let number = (1..).find(free).unwrap_or_default();
    for ending in ["", "-wal", "-shm"] {
        match std::fs::rename(with_ending(path, ending), with_ending(path, &format!(".damaged-{number}{ending}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(with_ending(path, &format!(".damaged-{number}")))
}

pub(super) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The first byte says how it is stored.
pub(super) fn packed(content: &[u8]) -> Vec<u8> {
    if content.len() >= WORTH_PACKING
        && let Some(packed) = compressed(content)
        && packed.len() < content.len()
    {
        return [b"z", &*packed].concat();
    }
    [b"=", content].concat()
}

/// Setting up a compressor costs more than compressing a note.
fn compressed(content: &[u8]) -> Option<Vec<u8>> {
    thread_local! {
        static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    }
    COMPRESSOR.with_borrow_mut(|held| {
        let compressor = match held {
            Some(compressor) => compressor,
            // A fast level, because a change waits for it.
            None => held.insert(Compressor::new(1).ok()?),
        };
        compressor.compress(content).ok()
    })
}

pub(super) fn unpacked(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    match packed.split_first()? {
        (b'=', content) => Some(content.to_vec()),
        (b'z', packed) => zstd::bulk::decompress(packed, size).ok(),
        _ => None,
    }
}
