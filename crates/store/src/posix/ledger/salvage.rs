//! Recovers everything readable from a damaged database, row by row, so that one bad page costs its rows and not the
//! history.

use std::{io::Write, path::Path};

use lapidary_note::ContentHash;
use rusqlite::{Connection, OptionalExtension, Row, params, types::Value};

use super::{
    database::{set_up, with_ending},
    reading, wal,
};
use crate::posix::state::{private_file, read_bytes};

/// The result, for the owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SalvagedRows {
    pub(super) kept: usize,
    /// As far as it is known that there were more.
    pub(super) lost: usize,
}

/// How many numbers are tried one by one between the last rows readable from either end.
const MAX_GAP: i64 = 200_000;
const PAGE: usize = 4096;

/// Copies the readable part of a database that was set aside into a new one. The damaged files are not touched.
pub(super) fn salvage(damaged: &Path, into: &Connection) -> SalvagedRows {
    let copy = with_ending(damaged, ".copy");
    let mut salvaged = SalvagedRows::default();
    // With its own first page if possible; the second attempt gives it that of a new database.
    for head in [false, true] {
        if let Some(source) = readable_copy(damaged, &copy, head) {
            salvaged = rows(&source, into).unwrap_or_default();
        }
        for ending in ["", "-wal", "-shm"] {
            drop(std::fs::remove_file(with_ending(&copy, ending)));
        }
        if salvaged.kept > 0 {
            break;
        }
    }
    salvaged
}

/// The first page describes all others: which table starts where. It is the same in all our databases.
fn new_head(place: &Path) -> Option<Vec<u8>> {
    let database = Connection::open(place).ok()?;
    set_up(&database).ok()?;
    database.close().ok()?;
    read_bytes(place).ok()
}

/// A copy with a log that SQLite reads to its end, and with the first page of a new one, if requested.
fn readable_copy(damaged: &Path, copy: &Path, head: bool) -> Option<Connection> {
    let mut bytes = read_bytes(damaged).ok()?;
    if head {
        bytes.get_mut(..PAGE)?.copy_from_slice(new_head(copy)?.get(..PAGE)?);
        // Then SQLite counts the pages itself.
        bytes.get_mut(92..96)?.copy_from_slice(&[0; 4]);
    }
    let put = |path: &Path, bytes: &[u8]| {
        private_file()
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)
            .and_then(|mut file| file.write_all(bytes))
            .ok()
    };
    put(copy, &bytes)?;
    if let Ok(log) = read_bytes(&with_ending(damaged, "-wal")) {
        put(&with_ending(copy, "-wal"), &wal::mended(&log).unwrap_or(log))?;
    }
    let source = Connection::open(copy).ok()?;
    // Forces SQLite to read the first page now.
    source.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0)).ok()?;
    Some(source)
}

fn rows(source: &Connection, into: &Connection) -> Option<SalvagedRows> {
    let numbers = numbers(source);
    let mut salvaged = SalvagedRows::default();
    into.execute_batch("BEGIN IMMEDIATE").ok()?;
    for number in &numbers {
        match one(source, into, *number) {
            Some(()) => salvaged.kept += 1,
            None => salvaged.lost += 1,
        }
    }
    copy_steps(source, into);
    into.execute_batch("COMMIT").ok()?;
    let (first, last) = (numbers.first().copied().unwrap_or(0), numbers.last().copied().unwrap_or(0));
    // Numbers are consecutive except for forgotten changes.
    let gaps = usize::try_from(last - first + 1).unwrap_or(0).saturating_sub(numbers.len());
    tracing::debug!(
        kept = salvaged.kept,
        lost = salvaged.lost,
        gaps,
        "a damaged ledger was salvaged as far as possible"
    );
    Some(salvaged)
}

/// The numbers of all checkpoints that can be found: from the start, from the end, and one by one in between.
fn numbers(source: &Connection) -> Vec<i64> {
    let run = |order: &str| {
        let mut found = Vec::new();
        if let Ok(mut rows) = source.prepare(&format!("SELECT number FROM checkpoints ORDER BY number {order}"))
            && let Ok(mut rows) = rows.query([])
        {
            while let Ok(Some(row)) = rows.next() {
                found.extend(row.get::<_, i64>(0).ok());
            }
        }
        found
    };
    // A damaged page ends the walk from one side; the other side reaches what is behind it.
    let (mut found, back) = (run("ASC"), run("DESC"));
    if let (Some(from), Some(to)) = (found.last().copied(), back.last().copied())
        && from < to
        && to - from <= MAX_GAP
    {
        found.extend(from + 1..to);
    }
    found.extend(back);
    found.sort_unstable();
    found.dedup();
    found
}

/// One checkpoint with its entries and contents; `None` if it is incomplete.
fn one(source: &Connection, into: &Connection, number: i64) -> Option<()> {
    let row = source
        .prepare_cached("SELECT * FROM checkpoints WHERE number = ?1")
        .ok()?
        .query_row([number], values)
        .optional()
        .ok()??;
    let mut entries = source.prepare_cached("SELECT * FROM entries WHERE checkpoint = ?1 ORDER BY position").ok()?;
    let entries: Vec<NamedValues> = entries.query_map([number], values).ok()?.collect::<Result<_, _>>().ok()?;
    // Its parts no longer fit together.
    reading::is_whole(source, number).then_some(())?;
    insert(into, "checkpoints", &row)?;
    for entry in &entries {
        insert(into, "entries", entry)?;
        let hashes = entry.iter().filter(|(name, _)| matches!(&**name, "before" | "after"));
        // A checkpoint without some of its contents can still undo other files.
        hashes.for_each(|(_, hash)| copy_content(source, into, hash).unwrap_or_default());
    }
    Some(())
}

/// A row by the names of its columns.
type NamedValues = Vec<(String, Value)>;

fn values(row: &Row<'_>) -> Result<NamedValues, rusqlite::Error> {
    let names: Vec<String> = row.as_ref().column_names().map(str::to_owned).collect();
    names.into_iter().map(|name| Ok((name.clone(), row.get::<_, Value>(&*name)?))).collect()
}

fn insert(into: &Connection, table: &str, row: &NamedValues) -> Option<()> {
    let names: Vec<&str> = row.iter().map(|(name, _)| name.as_str()).collect();
    let places: Vec<String> = (1..=row.len()).map(|number| format!("?{number}")).collect();
    let insert = format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({})", names.join(", "), places.join(", "));
    let values = rusqlite::params_from_iter(row.iter().map(|(_, value)| value));
    into.prepare_cached(&insert).ok()?.execute(values).ok().map(|_| ())
}

fn copy_content(source: &Connection, into: &Connection, hash: &Value) -> Option<()> {
    let Value::Blob(hash) = hash else { return None };
    let mut found = source.prepare_cached("SELECT size, packed FROM contents WHERE hash = ?1").ok()?;
    let (size, packed): (i64, Vec<u8>) = found.query_row([hash], |row| Ok((row.get(0)?, row.get(1)?))).ok()?;
    let content = super::database::unpacked(&packed, usize::try_from(size).ok()?)?;
    (ContentHash::of(&content).as_bytes()[..] == hash[..]).then_some(())?;
    let mut insert =
        into.prepare_cached("INSERT OR IGNORE INTO contents (hash, size, packed) VALUES (?1, ?2, ?3)").ok()?;
    insert.execute(params![hash, size, packed]).ok().map(|_| ())
}

/// Changes in progress and watched files.
fn copy_steps(source: &Connection, into: &Connection) {
    let Ok(mut found) = source.prepare("SELECT * FROM steps") else { return };
    let Ok(mut rows) = found.query([]) else { return };
    while let Ok(Some(row)) = rows.next() {
        if let Ok(row) = values(row) {
            insert(into, "steps", &row).unwrap_or_default();
        }
    }
}
