//! Data about a vault that makes the next start fast. It can always be rebuilt, so it has a separate file: in case of
//! doubt that file is discarded, and nothing that matters is lost.

use std::{
    cell::RefCell,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rusqlite::{Connection, Error, Transaction, params};

use super::state::{StateFolder, open_database, private_file, share_database};

const NAME: &str = "index.db";
const SEGMENTS: &str = "search.db";
const VECTORS: &str = "vectors.db";
const DOCUMENT_VECTORS: &str = "document-vectors.db";
const PLACES: &str = "graph.db";
/// How long to wait for another server that is writing.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Clone, Debug)]
pub struct CacheFile {
    folder: Arc<StateFolder>,
    name: &'static str,
}

/// Some records, with a checksum that detects damage.
#[derive(Debug)]
pub struct CacheRow {
    pub checksum: u64,
    pub bytes: Vec<u8>,
}

impl CacheFile {
    pub fn new(folder: Arc<StateFolder>) -> Self {
        Self { folder, name: NAME }
    }

    /// Another one in the same place, for the words of the notes.
    pub fn for_segments(&self) -> Self {
        Self { folder: Arc::clone(&self.folder), name: SEGMENTS }
    }

    /// Another one in the same place, for the vectors of the notes.
    pub fn for_vectors(&self) -> Self {
        Self { folder: Arc::clone(&self.folder), name: VECTORS }
    }

    /// Another one in the same place, for the vectors of documents.
    pub fn for_document_vectors(&self) -> Self {
        Self { folder: Arc::clone(&self.folder), name: DOCUMENT_VECTORS }
    }

    /// One for the places of notes in the picture of their links.
    pub fn for_places(folder: Arc<StateFolder>) -> Self {
        Self { folder, name: PLACES }
    }

    pub fn is_there(&self) -> bool {
        self.folder.file(self.name).and_then(|path| path.try_exists()).unwrap_or(false)
    }

    /// All records in this format, newest first.
    pub fn load(&self, format: u32) -> io::Result<Vec<CacheRow>> {
        let rows = RefCell::default();
        // All at once, for a caller whose records are few.
        self.load_each(format, usize::MAX, &|loaded| *rows.borrow_mut() = loaded)?;
        Ok(rows.into_inner())
    }

    /// The same, some rows at a time: all of them together may be large. If the file turns out to be damaged, rows that
    /// were intact have been seen.
    pub fn load_each(&self, format: u32, at_once: usize, take: &dyn Fn(Vec<CacheRow>)) -> io::Result<()> {
        let path = self.folder.file(self.name)?;
        // Opening it would create it, and an empty cache says nothing.
        if !path.try_exists()? {
            return Ok(());
        }
        self.with(format, |database| {
            let mut statement = database.prepare("SELECT checksum, bytes FROM digests ORDER BY id DESC")?;
            let mut found = statement.query([])?;
            let mut rows = Vec::new();
            while let Some(row) = found.next()? {
                rows.push(CacheRow { checksum: row.get::<_, i64>(0)?.cast_unsigned(), bytes: row.get(1)? });
                if rows.len() == at_once {
                    take(std::mem::take(&mut rows));
                }
            }
            take(rows);
            Ok(())
        })
    }

    /// Replaces everything with these records, and returns the number of rows.
    pub fn replace<B: AsRef<[u8]>, R: Iterator<Item = (u64, B)>>(
        &self,
        format: u32,
        rows: impl Fn() -> R,
    ) -> io::Result<usize> {
        self.write(format, true, rows)
    }

    /// Adds these records.
    pub fn add<B: AsRef<[u8]>, R: Iterator<Item = (u64, B)>>(
        &self,
        format: u32,
        rows: impl Fn() -> R,
    ) -> io::Result<usize> {
        self.write(format, false, rows)
    }

    /// Rows are built one at a time, as all of them together may be large.
    fn write<B: AsRef<[u8]>, R: Iterator<Item = (u64, B)>>(
        &self,
        format: u32,
        anew: bool,
        rows: impl Fn() -> R,
    ) -> io::Result<usize> {
        self.with(format, |database| {
            let transaction = database.transaction()?;
            if anew {
                transaction.execute("DELETE FROM digests", [])?;
            }
            insert(&transaction, rows())?;
            // Callers rewrite the file when appended rows have become too many.
            let count: i64 = transaction.query_row("SELECT count(*) FROM digests", [], |row| row.get(0))?;
            transaction.commit()?;
            Ok(usize::try_from(count).unwrap_or_default())
        })
    }

    /// Retries with a new file if the existing one is unusable.
    fn with<T>(&self, format: u32, work: impl Fn(&mut Connection) -> Result<T, Error>) -> io::Result<T> {
        let path = self.folder.file_in_place(self.name)?;
        // The second attempt starts from nothing, so it is made only once.
        match open(&path, format).and_then(|mut database| work(&mut database)) {
            Err(error) if is_damage(&error) => {
                tracing::debug!(cache = self.name, why = ?error.sqlite_error_code(), "a damaged cache is thrown away");
                remove(&path)?;
                open(&path, format).and_then(|mut database| work(&mut database)).map_err(io::Error::other)
            }
            done => done.map_err(io::Error::other),
        }
    }
}

fn insert(transaction: &Transaction<'_>, rows: impl Iterator<Item = (u64, impl AsRef<[u8]>)>) -> Result<(), Error> {
    let mut insert = transaction.prepare("INSERT INTO digests (checksum, bytes) VALUES (?1, ?2)")?;
    for (checksum, bytes) in rows {
        insert.execute(params![checksum.cast_signed(), bytes.as_ref()])?;
    }
    Ok(())
}

fn open(path: &Path, format: u32) -> Result<Connection, Error> {
    // Created by us first, so that no other user can read it.
    let made = private_file().append(true).create(true).open(path);
    made.map_err(|_| Error::InvalidPath(PathBuf::new()))?;
    let database = open_database(path)?;
    share_database(&database, PATIENCE)?;
    // After a power cut it may be damaged, and then it is rebuilt.
    database.execute_batch("PRAGMA synchronous = OFF")?;
    let found: u32 = database.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found != format {
        // Zero is a new file.
        if found != 0 {
            tracing::debug!(found, format, "a cache in another format is thrown away");
        }
        database.execute_batch(&format!(
            "BEGIN IMMEDIATE;
             DROP TABLE IF EXISTS digests;
             CREATE TABLE digests (id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, bytes BLOB NOT NULL);
             PRAGMA user_version = {format};
             COMMIT;"
        ))?;
    }
    Ok(database)
}

/// Any error except busy: an unreadable file is not worth diagnosing.
pub(super) fn is_damage(error: &Error) -> bool {
    !matches!(
        error.sqlite_error_code(),
        // These say that the file is in use or cannot grow, and not that it is damaged.
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked | rusqlite::ErrorCode::DiskFull)
            | None
    )
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    // SQLite keeps parts of a database beside it.
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        match std::fs::remove_file(PathBuf::from(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
