//! The journal that is written before anything in the vault changes: the planned steps, and the old content of every
//! affected file. During a change it serves to complete or undo a killed server's work; afterwards it is the checkpoint
//! from which a user undoes it.

mod closing;
mod conflicts;
mod database;
mod health;
mod keyed_calls;
mod reading;
mod records;
mod retention;
mod salvage;
#[cfg(test)]
mod tests;
mod wal;

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use lapidary_note::ContentHash;
use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, params};

use self::{closing::OldFile, database::OpenDatabase};
use super::StateFolder;
use crate::{
    ChangeOrigin, CheckpointKind, CheckpointRecord, EntryRecord, LedgerError, Retention, VaultPath, nanoseconds,
};

pub use health::LedgerHealth;
pub(crate) use records::{JournalStep, OldFileRecord, OpenOldFile, UnfinishedChange};

/// A change that is about to happen.
pub(crate) struct Draft<'a> {
    pub(crate) origin: &'a ChangeOrigin,
    pub(crate) kind: CheckpointKind,
    pub(crate) entries: Vec<EntryRecord>,
    pub(crate) steps: &'a [JournalStep],
    /// The old content of files, by its hash.
    pub(crate) contents: Vec<(ContentHash, &'a [u8])>,
}

impl From<rusqlite::Error> for LedgerError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full,
            _ => Self::Unusable(error.to_string()),
        }
    }
}

/// The database of one vault. Several servers may have it open; they take turns writing.
pub(super) struct Ledger {
    place: LedgerPlace,
    open: Mutex<Option<OpenDatabase>>,
    retention: Retention,
    /// The size of all contents, as far as this process has counted and written them.
    stored: AtomicI64,
}

/// Not counted yet.
const UNKNOWN: i64 = i64::MIN;

enum LedgerPlace {
    Folder(Arc<StateFolder>),
    /// For a vault that only this process knows.
    Memory,
}

impl Ledger {
    pub(super) fn new(folder: Arc<StateFolder>, retention: Retention) -> Self {
        Self { place: LedgerPlace::Folder(folder), open: Mutex::default(), retention, stored: AtomicI64::new(UNKNOWN) }
    }

    pub(super) fn in_memory() -> Self {
        Self {
            place: LedgerPlace::Memory,
            open: Mutex::default(),
            retention: Retention::default(),
            stored: AtomicI64::new(UNKNOWN),
        }
    }

    /// Durably stores what is about to happen, and returns the number and the id of the checkpoint.
    pub(crate) fn begin(&self, draft: &Draft<'_>) -> Result<(i64, String), LedgerError> {
        let name = self.place.name()?;
        let write = |transaction: &Transaction<'_>| {
            let (number, id) = self.insert_checkpoint(transaction, draft, name)?;
            let mut insert = transaction.prepare_cached(
                "INSERT INTO steps (checkpoint, position, kind, place, other, aside, before, after)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?;
            for (position, step) in draft.steps.iter().enumerate() {
                let row = step.row();
                let (before, after) = (row.before.as_ref().map(bytes), row.after.as_ref().map(bytes));
                let other = row.other.map(VaultPath::as_str);
                insert.execute(params![
                    number,
                    position as i64,
                    row.kind,
                    row.place.as_str(),
                    other,
                    row.aside,
                    before,
                    after
                ])?;
            }
            Ok((number, id))
        };
        // If the disk does not confirm it, no step was taken yet, so it can be forgotten.
        self.write_for_good(write, |transaction, (number, _)| closing::forget(transaction, *number, &[]))
    }

    /// Whether no change is in progress and no file is being watched.
    pub(crate) fn is_settled(&self) -> Result<bool, LedgerError> {
        self.read(true, |database| {
            let mut any = database.prepare_cached("SELECT 1 FROM steps WHERE state < 2 LIMIT 1")?;
            any.exists([]).map(|any| !any)
        })
    }

    /// Whether it is empty.
    pub(crate) fn is_empty(&self) -> Result<bool, LedgerError> {
        self.read(true, |database| {
            let mut any = database.prepare_cached("SELECT 1 FROM steps WHERE state < 3 LIMIT 1")?;
            any.exists([]).map(|any| !any)
        })
    }

    /// Unfinished changes. Only for the holder of the turn: otherwise they may still be in progress.
    pub(crate) fn under_way(&self) -> Result<Vec<UnfinishedChange>, LedgerError> {
        self.read(Vec::new(), |database| {
            let mut found = database.prepare_cached(
                "SELECT number, id FROM checkpoints
                 WHERE number IN (SELECT checkpoint FROM steps WHERE state = 0) ORDER BY number",
            )?;
            let found = found.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let found: Vec<(i64, String)> = found.collect::<Result<_, _>>()?;
            found.into_iter().map(|(number, id)| records::intent(database, number, id)).collect()
        })
    }

    /// Our old files that were still open when they were replaced.
    pub(crate) fn lingering(&self) -> Result<Vec<OpenOldFile>, LedgerError> {
        self.read(Vec::new(), |database| records::lingering(database, OldFile::Kept as i64))
    }

    /// Our old files that were removed so recently that a power cut might bring them back.
    pub(crate) fn removed(&self) -> Result<Vec<OpenOldFile>, LedgerError> {
        self.read(Vec::new(), |database| records::lingering(database, OldFile::Removed as i64))
    }

    /// The content with this hash, if it was kept.
    pub(super) fn content(&self, hash: &ContentHash) -> Result<Option<Vec<u8>>, LedgerError> {
        self.read(None, |database| {
            let mut found = database.prepare_cached("SELECT size, packed FROM contents WHERE hash = ?1")?;
            let mut rows = found.query([bytes(hash)])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let (size, packed): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
            let content = database::unpacked(&packed, usize::try_from(size).unwrap_or_default());
            // Damaged content counts as missing: wrong content is worse than none.
            Ok(content.filter(|content| ContentHash::of(content) == *hash))
        })
    }

    /// Looks something up; `nothing` if nothing was ever stored.
    fn read<T>(&self, nothing: T, ask: impl Fn(&Connection) -> Result<T, rusqlite::Error>) -> Result<T, LedgerError> {
        // Released again before the file is looked for, which may wait for the disk.
        let is_open = self.open.lock().is_some();
        if !is_open && !self.place.is_there()? {
            return Ok(nothing);
        }
        self.with_database(|opened| ask(&opened.database))
    }

    /// It survives the end of the process; after a power cut it may not have happened.
    fn write<T>(&self, work: impl Fn(&Transaction<'_>) -> Result<T, rusqlite::Error>) -> Result<T, LedgerError> {
        self.with_database(|opened| database::transaction(&mut opened.database, &self.place, &work))
    }

    /// It survives a power cut as soon as it returns. If the disk fails, it is rolled back.
    fn write_for_good<T>(
        &self,
        work: impl Fn(&Transaction<'_>) -> Result<T, rusqlite::Error>,
        take_back: impl Fn(&Transaction<'_>, &T) -> Result<(), rusqlite::Error>,
    ) -> Result<T, LedgerError> {
        self.with_database(|opened| {
            let done = database::transaction(&mut opened.database, &self.place, &work)?;
            let synced = opened.sync(&self.place);
            if synced.is_err() {
                // If this fails too, the holder of the next turn finds that nothing was done, and forgets it then.
                drop(database::transaction(&mut opened.database, &self.place, |transaction| {
                    take_back(transaction, &done)
                }));
            }
            synced.map(|()| done)
        })
    }

    /// Opens it if necessary: for the first time, or because the file was moved away since.
    fn with_database<T>(
        &self,
        work: impl Fn(&mut OpenDatabase) -> Result<T, rusqlite::Error>,
    ) -> Result<T, LedgerError> {
        let mut held = self.open.lock();
        // Closed before another is opened, because it removes its log by name.
        // The file may have been moved away by its owner, or set aside by another server as damaged.
        let known = held.take().filter(|opened| opened.is_at(&self.place));
        let mut opened = known.map_or_else(|| OpenDatabase::at(&self.place), Ok)?;
        let mut done = work(&mut opened);
        // Noticed by SQLite while working, not when it was opened.
        if done.as_ref().is_err_and(database::is_damaged) {
            // It is set aside, and its readable part goes into a new one.
            drop(opened);
            opened = OpenDatabase::anew(&self.place)?;
            done = work(&mut opened);
        }
        *held = Some(opened);
        Ok(done?)
    }

    /// Merges the log into the database itself, which survives more than the log does.
    pub(super) fn rest(&self) {
        if let Some(opened) = &*self.open.lock()
            && let Err(error) = opened.empty_log()
        {
            tracing::debug!(%error, "the ledger's log stays for now");
        }
    }

    fn insert_checkpoint(
        &self,
        transaction: &Transaction<'_>,
        draft: &Draft<'_>,
        name: u64,
    ) -> Result<(i64, String), rusqlite::Error> {
        // Numbers order the history; ids only identify, and reveal nothing about other checkpoints.
        let last: i64 = transaction
            .prepare_cached("SELECT coalesce(max(number), 0) FROM checkpoints")?
            .query_row([], |row| row.get(0))?;
        let (number, time) = (last + 1, nanoseconds(draft.origin.time) / 1_000_000);
        // In examples the name is always the same; the number keeps the ids apart.
        let id = format!("{:016x}", name.wrapping_add(number.cast_unsigned()));
        transaction
            .prepare_cached(
                "INSERT INTO checkpoints (number, id, time, kind, tool, client, digest, approval, call_key, call)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                number,
                id,
                time,
                draft.kind as i64,
                draft.origin.tool,
                draft.origin.client,
                // A row that is changed behind our back no longer fits its digest, and is not trusted by an undo.
                records::digest(&CheckpointRecord {
                    number,
                    id: id.clone(),
                    time: draft.origin.time,
                    kind: draft.kind,
                    tool: draft.origin.tool.clone(),
                    client: draft.origin.client.clone(),
                    entries: draft.entries.clone(),
                }),
                draft.origin.approval.as_ref().map(bytes),
                draft.origin.call.as_ref().map(|call| bytes(&call.key)),
                draft.origin.call.as_ref().map(|call| bytes(&call.call))
            ])?;
        self.insert_contents(transaction, &draft.contents)?;
        let mut insert = transaction.prepare_cached(
            "INSERT INTO entries (checkpoint, position, path, moved_to, before, after, bytes_before, bytes_after)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        for (position, entry) in draft.entries.iter().enumerate() {
            insert.execute(params![
                number,
                position as i64,
                entry.path.as_str(),
                entry.moved_to.as_ref().map(VaultPath::as_str),
                entry.before.as_ref().map(bytes),
                entry.after.as_ref().map(bytes),
                entry.bytes_before as i64,
                entry.bytes_after as i64
            ])?;
        }
        Ok((number, id))
    }

    fn insert_contents(
        &self,
        transaction: &Transaction<'_>,
        contents: &[(ContentHash, &[u8])],
    ) -> Result<(), rusqlite::Error> {
        for (hash, content) in contents {
            let mut known = transaction.prepare_cached("SELECT 1 FROM contents WHERE hash = ?1")?;
            // The same content occurs again and again: each edit replaces what the one before wrote.
            if known.exists([bytes(hash)])? {
                continue;
            }
            let packed = database::packed(content);
            // Before it was counted once, adding to it would give a wrong sum.
            if self.stored.load(Ordering::Relaxed) != UNKNOWN {
                self.stored.fetch_add(packed.len() as i64, Ordering::Relaxed);
            }
            transaction
                .prepare_cached("INSERT INTO contents (hash, size, packed) VALUES (?1, ?2, ?3)")?
                .execute(params![bytes(hash), content.len() as i64, packed])?;
        }
        Ok(())
    }
}

impl LedgerPlace {
    /// An id for a checkpoint. It does not reveal how many others there are; only in examples it is always the same.
    fn name(&self) -> Result<u64, LedgerError> {
        match self {
            Self::Folder(_) => getrandom::u64().map_err(|error| LedgerError::Unusable(error.to_string())),
            Self::Memory => Ok(0xc0ff_ee00_0000_0000),
        }
    }
}

fn bytes(hash: &ContentHash) -> &[u8] {
    hash.as_bytes()
}
