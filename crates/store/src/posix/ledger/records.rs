//! Rows of the ledger.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lapidary_note::ContentHash;
use rusqlite::{Connection, Error, Row};

use crate::{CheckpointKind, CheckpointRecord, EntryRecord, VaultPath};

/// One step of a change in progress; the data needed to tell whether it was taken and to roll it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JournalStep {
    MakeFolder {
        place: VaultPath,
    },
    Replace {
        place: VaultPath,
        aside: String,
        before: ContentHash,
        after: ContentHash,
    },
    Create {
        place: VaultPath,
        aside: String,
        after: ContentHash,
    },
    /// Unread content is not removed, only sent to the system trash.
    Remove {
        place: VaultPath,
        aside: String,
        before: Option<ContentHash>,
        to_trash: bool,
    },
    /// A file, or a folder with everything in it.
    Move {
        from: VaultPath,
        to: VaultPath,
        before: Option<ContentHash>,
    },
}

/// The kind of a step that makes a folder.
pub(super) const MAKES_FOLDER: i64 = 0;

/// A step as a row.
pub(super) struct StepRow<'a> {
    pub(super) kind: i64,
    pub(super) place: &'a VaultPath,
    pub(super) other: Option<&'a VaultPath>,
    pub(super) aside: Option<&'a str>,
    pub(super) before: Option<ContentHash>,
    pub(super) after: Option<ContentHash>,
}

/// An unfinished change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnfinishedChange {
    pub(crate) number: i64,
    pub(crate) id: String,
    pub(crate) steps: Vec<JournalStep>,
}

/// A replaced file that another program still had open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenOldFile {
    pub(crate) checkpoint: i64,
    pub(crate) position: i64,
    pub(crate) since: SystemTime,
    pub(crate) place: VaultPath,
    /// The note's name for people: its place, or the last one that was not hidden.
    pub(crate) path: VaultPath,
    pub(crate) aside: String,
    pub(crate) before: Option<ContentHash>,
    /// Its replacement.
    pub(crate) after: Option<ContentHash>,
    pub(crate) to_trash: bool,
}

/// The fate of the old file of a step, and the current name of its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OldFileRecord {
    pub(crate) position: usize,
    pub(crate) place: VaultPath,
    /// Its name, if it has changed.
    pub(crate) aside: Option<String>,
    pub(crate) gone: bool,
}

impl JournalStep {
    pub(super) fn row(&self) -> StepRow<'_> {
        let row = |kind, place| StepRow { kind, place, other: None, aside: None, before: None, after: None };
        // The numbers are on disk: with another meaning, the change of a process that died would be rolled back wrongly.
        match self {
            Self::MakeFolder { place } => row(MAKES_FOLDER, place),
            Self::Replace { place, aside, before, after } => {
                StepRow { aside: Some(aside), before: Some(*before), after: Some(*after), ..row(1, place) }
            }
            Self::Create { place, aside, after } => {
                StepRow { aside: Some(aside), after: Some(*after), ..row(2, place) }
            }
            Self::Remove { place, aside, before, to_trash } => {
                StepRow { aside: Some(aside), before: *before, ..row(if *to_trash { 5 } else { 3 }, place) }
            }
            Self::Move { from, to, before } => StepRow { other: Some(to), before: *before, ..row(4, from) },
        }
    }

    fn from_row(row: &Row<'_>) -> Result<Self, Error> {
        let kind: i64 = row.get("kind")?;
        let place = path(row, "place")?.ok_or(Error::InvalidQuery)?;
        let aside = || row.get::<_, Option<String>>("aside")?.ok_or(Error::InvalidQuery);
        let (before, after) = (hash(row, "before")?, hash(row, "after")?);
        let some = |hash: Option<ContentHash>| hash.ok_or(Error::InvalidQuery);
        Ok(match kind {
            MAKES_FOLDER => Self::MakeFolder { place },
            1 => Self::Replace { place, aside: aside()?, before: some(before)?, after: some(after)? },
            2 => Self::Create { place, aside: aside()?, after: some(after)? },
            3 | 5 => Self::Remove { place, aside: aside()?, before, to_trash: kind == 5 },
            4 => Self::Move { from: place, to: path(row, "other")?.ok_or(Error::InvalidQuery)?, before },
            // Of a newer version, or damaged. To guess could remove the only copy of a note.
            _ => return Err(Error::InvalidQuery),
        })
    }
}

pub(super) fn intent(database: &Connection, number: i64, id: String) -> Result<UnfinishedChange, Error> {
    let mut steps =
        database.prepare_cached("SELECT * FROM steps WHERE state = 0 AND checkpoint = ?1 ORDER BY position")?;
    let steps = steps.query_map([number], JournalStep::from_row)?.collect::<Result<_, _>>()?;
    Ok(UnfinishedChange { number, id, steps })
}

/// The old files in one state.
pub(super) fn lingering(database: &Connection, state: i64) -> Result<Vec<OpenOldFile>, Error> {
    let mut found = database.prepare_cached(
        "SELECT steps.*, checkpoints.time FROM steps JOIN checkpoints ON number = checkpoint WHERE steps.state = ?1
         ORDER BY checkpoint, position",
    )?;
    let mut rows = found.query([state])?;
    let mut lingering = Vec::new();
    while let Some(row) = rows.next()? {
        let (place, aside, before, after, to_trash) = match JournalStep::from_row(row)? {
            JournalStep::Replace { place, aside, before, after } => (place, aside, Some(before), Some(after), false),
            JournalStep::Remove { place, aside, before, to_trash } => (place, aside, before, None, to_trash),
            JournalStep::Create { place, aside, after } => (place, aside, None, Some(after), false),
            // They leave no old file beside their place.
            JournalStep::MakeFolder { .. } | JournalStep::Move { .. } => continue,
        };
        lingering.push(OpenOldFile {
            checkpoint: row.get("checkpoint")?,
            position: row.get("position")?,
            since: time(row.get("time")?),
            path: place.clone(),
            place,
            aside,
            before,
            after,
            to_trash,
        });
    }
    Ok(lingering)
}

pub(super) fn entry(row: &Row<'_>) -> Result<EntryRecord, Error> {
    // The database has only signed numbers, and none of these is ever negative.
    let size = |name: &str| Ok::<_, Error>(row.get::<_, i64>(name)?.unsigned_abs());
    Ok(EntryRecord {
        path: path(row, "path")?.ok_or(Error::InvalidQuery)?,
        moved_to: path(row, "moved_to")?,
        before: hash(row, "before")?,
        after: hash(row, "after")?,
        bytes_before: size("bytes_before")?,
        bytes_after: size("bytes_after")?,
    })
}

/// Detects damage to a checkpoint that the database does not notice.
pub(super) fn digest(checkpoint: &CheckpointRecord) -> Vec<u8> {
    let CheckpointRecord { number, id, time, kind, tool, client, entries } = checkpoint;
    // As exact as the row has it, or the digest of what was read would differ from that of what was written.
    let time = crate::nanoseconds(*time) / 1_000_000;
    let mut text = format!("{number} {id} {time} {} {tool:?} {client:?}\n", *kind as i64);
    for EntryRecord { path, moved_to, before, after, bytes_before, bytes_after } in entries {
        let to = moved_to.as_ref().map(VaultPath::as_str);
        let hashes = [before, after].map(|hash| hash.map(|hash| hash.to_string()).unwrap_or_default());
        text += &format!("{:?} {to:?} {hashes:?} {bytes_before} {bytes_after}\n", path.as_str());
    }
    // Against damage alone: who can forge the row can forge its digest, so a part of the hash is enough.
    ContentHash::of(text.as_bytes()).as_bytes()[..8].to_vec()
}

/// Without its entries.
pub(super) fn checkpoint(row: &Row<'_>) -> Result<CheckpointRecord, Error> {
    let kind: i64 = row.get("kind")?;
    Ok(CheckpointRecord {
        number: row.get("number")?,
        id: row.get("id")?,
        time: time(row.get("time")?),
        // Unknown kinds are treated as changes, which can be undone.
        kind: if kind == CheckpointKind::LateSave as i64 { CheckpointKind::LateSave } else { CheckpointKind::Change },
        tool: row.get("tool")?,
        client: row.get("client")?,
        entries: Vec::new(),
    })
}

fn path(row: &Row<'_>, name: &str) -> Result<Option<VaultPath>, Error> {
    let text: Option<String> = row.get(name)?;
    // A path that cannot be spelt was not written by us.
    text.map(|text| VaultPath::spelt(&text).ok_or(Error::InvalidQuery)).transpose()
}

fn hash(row: &Row<'_>, name: &str) -> Result<Option<ContentHash>, Error> {
    let bytes: Option<[u8; 32]> = row.get(name)?;
    Ok(bytes.map(ContentHash::from_bytes))
}

fn time(milliseconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(milliseconds.unsigned_abs())
}
