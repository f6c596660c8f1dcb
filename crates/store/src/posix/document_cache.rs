//! The text of documents, kept by their content: reading a PDF takes seconds, and a broken one is tried once. Everything here
//! can be read again, so a file in doubt is thrown away.

use std::{io, path::Path, sync::Arc, time::Duration};

use lapidary_note::ContentHash;
use rusqlite::{Connection, Error, OptionalExtension, params};

use super::{
    cache::{is_damage, remove},
    state::{StateFolder, open_database, private_file, share_database},
};
use crate::FileStamp;

const NAME: &str = "documents.db";
const FORMAT: u32 = 2;
/// How long to wait for another server that is writing.
const PATIENCE: Duration = Duration::from_millis(500);
/// What all texts may take, packed: some thousand books. The oldest go first.
const MOST_BYTES: i64 = if cfg!(test) { 64 << 10 } else { 256 << 20 };
/// How many files are remembered.
const MOST_FILES: i64 = 100_000;
/// No text is larger, unpacked; a row that says so is damaged.
const LARGEST: usize = 16 << 20;
const LEVEL: i32 = 3;

/// The database of one vault. Opened for each use, as several servers share it.
#[derive(Clone, Debug)]
pub struct DocumentCache {
    folder: Arc<StateFolder>,
}

/// What a file held when it was read: valid as long as it has this stamp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownContent {
    pub path: String,
    pub stamp: FileStamp,
    pub hash: ContentHash,
}

impl DocumentCache {
    pub fn new(folder: Arc<StateFolder>) -> Self {
        Self { folder }
    }

    /// What was kept under a key by this version of its writer.
    pub fn find(&self, key: &str, version: u32) -> io::Result<Option<Vec<u8>>> {
        // Opening it would create it.
        if !self.folder.file(NAME)?.try_exists()? {
            return Ok(None);
        }
        let packed = self.with(|database| {
            let mut statement = database.prepare("SELECT body FROM texts WHERE key = ?1 AND version = ?2")?;
            statement.query_row(params![key, version], |row| row.get::<_, Vec<u8>>(0)).optional()
        })?;
        // A row that cannot be unpacked is as good as none; the next one replaces it.
        Ok(packed.and_then(|packed| zstd::bulk::decompress(&packed, LARGEST).ok()))
    }

    /// `is_failure`: that it could not be read.
    pub fn keep(&self, key: &str, version: u32, body: &[u8], is_failure: bool) -> io::Result<()> {
        let packed = zstd::bulk::compress(body, LEVEL)?;
        self.with(|database| {
            let transaction = database.transaction()?;
            transaction.execute("DELETE FROM texts WHERE key = ?1", params![key])?;
            transaction.execute(
                "INSERT INTO texts (key, version, failed, size, body) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![key, version, is_failure, i64::try_from(packed.len()).unwrap_or(i64::MAX), packed],
            )?;
            // A sum from the newest on: whatever does not fit any more goes.
            transaction.execute(
                "DELETE FROM texts WHERE id <= coalesce((SELECT id FROM
                    (SELECT id, sum(size) OVER (ORDER BY id DESC) AS taken FROM texts)
                 WHERE taken > ?1 ORDER BY id DESC LIMIT 1), -1)",
                params![MOST_BYTES],
            )?;
            transaction.commit()
        })
    }

    /// How many texts of this version are kept, and how many failures.
    pub fn count(&self, version: u32) -> io::Result<(usize, usize)> {
        if !self.folder.file(NAME)?.try_exists()? {
            return Ok((0, 0));
        }
        self.with(|database| {
            let count = "SELECT count(*) - total(failed), total(failed) FROM texts WHERE version = ?1";
            database.query_row(count, params![version], |row| {
                let whole = |count: f64| count as usize;
                Ok((whole(row.get(0)?), whole(row.get(1)?)))
            })
        })
    }

    /// Remembers what files held.
    pub fn remember(&self, files: &[KnownContent]) -> io::Result<()> {
        self.with(|database| {
            let transaction = database.transaction()?;
            {
                let mut insert = transaction.prepare(
                    "INSERT OR REPLACE INTO files (path, size, modified, changed, inode, hash)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?;
                for KnownContent { path, stamp, hash } in files {
                    let (size, inode) = (stamp.size.cast_signed(), stamp.inode.cast_signed());
                    insert.execute(params![path, size, stamp.modified, stamp.changed, inode, hash.as_bytes()])?;
                }
            }
            transaction
                .execute("DELETE FROM files WHERE rowid <= (SELECT max(rowid) FROM files) - ?1", params![MOST_FILES])?;
            transaction.commit()
        })
    }

    /// What was remembered.
    pub fn remembered(&self) -> io::Result<Vec<KnownContent>> {
        if !self.folder.file(NAME)?.try_exists()? {
            return Ok(Vec::new());
        }
        self.with(|database| {
            let mut statement = database.prepare("SELECT path, size, modified, changed, inode, hash FROM files")?;
            let rows = statement.query_map([], |row| {
                let [size, modified, changed, inode] = [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
                let (size, inode) = (i64::cast_unsigned(size), i64::cast_unsigned(inode));
                let stamp = FileStamp { size, modified, changed, inode };
                Ok(KnownContent { path: row.get(0)?, stamp, hash: ContentHash::from_bytes(row.get(5)?) })
            })?;
            rows.collect()
        })
    }

    /// Retries with a new file if the existing one is unusable.
    fn with<T>(&self, work: impl Fn(&mut Connection) -> Result<T, Error>) -> io::Result<T> {
        let path = self.folder.file_in_place(NAME)?;
        match open(&path).and_then(|mut database| work(&mut database)) {
            Err(error) if is_damage(&error) => {
                tracing::debug!(why = ?error.sqlite_error_code(), "the damaged texts of documents are thrown away");
                remove(&path)?;
                open(&path).and_then(|mut database| work(&mut database)).map_err(io::Error::other)
            }
            done => done.map_err(io::Error::other),
        }
    }
}

fn open(path: &Path) -> Result<Connection, Error> {
    // Created by us first, so that no other user can read it.
    let made = private_file().append(true).create(true).open(path);
    made.map_err(|_| Error::InvalidPath(std::path::PathBuf::new()))?;
    let database = open_database(path)?;
    share_database(&database, PATIENCE)?;
    // After a power cut it may be damaged, and then it is made again.
    database.execute_batch("PRAGMA synchronous = OFF")?;
    let found: u32 = database.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found != FORMAT {
        database.execute_batch(&format!(
            "BEGIN IMMEDIATE;
             DROP TABLE IF EXISTS texts;
             DROP TABLE IF EXISTS files;
             CREATE TABLE texts (
                id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, failed INTEGER NOT NULL,
                size INTEGER NOT NULL,
                body BLOB NOT NULL);
             CREATE TABLE files (
                path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, modified INTEGER NOT NULL, changed INTEGER NOT NULL,
                inode INTEGER NOT NULL, hash BLOB NOT NULL);
             PRAGMA user_version = {FORMAT};
             COMMIT;"
        ))?;
    }
    Ok(database)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &tempfile::TempDir) -> DocumentCache {
        // The state of a vault is kept under the name of its folder, which has to exist.
        std::fs::create_dir(folder.path().join("vault")).unwrap();
        let state = StateFolder::new(folder.path().join("state"), folder.path().join("vault"));
        DocumentCache::new(Arc::new(state))
    }

    #[test]
    fn a_text_is_found_by_its_key_and_the_version_of_its_reader() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(&folder);
        assert_eq!(cache.find("a", 1).unwrap(), None);
        cache.keep("a", 1, b"text", false).unwrap();
        assert_eq!(cache.find("a", 1).unwrap().unwrap(), b"text");
        assert_eq!(cache.find("a", 2).unwrap(), None);
        cache.keep("a", 2, b"better", false).unwrap();
        assert_eq!(cache.find("a", 2).unwrap().unwrap(), b"better");
        cache.keep("b", 2, b"broken", true).unwrap();
        assert_eq!((cache.count(2).unwrap(), cache.count(1).unwrap()), ((1, 1), (0, 0)));
        let stamp = FileStamp { size: u64::MAX, modified: -1, changed: 3, inode: u64::MAX - 1 };
        let known = KnownContent { path: "a.pdf".into(), stamp, hash: ContentHash::of(b"a") };
        cache.remember(std::slice::from_ref(&known)).unwrap();
        cache.remember(std::slice::from_ref(&known)).unwrap();
        assert_eq!(cache.remembered().unwrap(), [known]);
    }

    #[test]
    fn the_oldest_texts_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(&folder);
        // Bytes that cannot be packed.
        let mut state = 1_u32;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state.to_le_bytes()[0]
        };
        let noise: Vec<u8> = (0..20_000).map(|_| next()).collect();
        for key in ["a", "b", "c", "d", "e"] {
            cache.keep(key, 1, &noise, false).unwrap();
        }
        let kept: Vec<bool> = ["a", "b", "c", "d", "e"].map(|key| cache.find(key, 1).unwrap().is_some()).into();
        assert_eq!(kept, [false, false, true, true, true]);
    }

    #[test]
    fn a_damaged_file_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(&folder);
        cache.keep("a", 1, b"text", false).unwrap();
        let file = cache.folder.file(NAME).unwrap();
        std::fs::write(&file, vec![7; 9_000]).unwrap();
        assert_eq!(cache.find("a", 1).unwrap(), None);
        cache.keep("a", 1, b"text", false).unwrap();
        assert_eq!(cache.find("a", 1).unwrap().unwrap(), b"text");
    }
}
