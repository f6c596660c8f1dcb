//! File metadata, and the result of a walk.

use std::{
    num::NonZeroI64,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::VaultPath;

/// Distinguishes states of a file without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStamp {
    pub size: u64,
    /// In nanoseconds since 1970, as are the others.
    pub modified: i64,
    /// If the system keeps it: changes with every modification, even if the other time is set back.
    pub changed: i64,
    pub inode: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStat {
    pub stamp: FileStamp,
    /// In eight bytes: a large vault has very many of these.
    pub created: Option<NonZeroI64>,
}

/// File system clocks tick between every nanosecond and every two seconds.
const COARSEST_TICK: i64 = 2_000_000_000;

impl FileStamp {
    /// Whether a later change must show in the stamp, if the file was read at this time.
    pub fn is_settled(&self, read_at: i64) -> bool {
        // Both times: programs that restore files set the first one back.
        read_at.saturating_sub(self.modified.max(self.changed)) > COARSEST_TICK
    }
}

impl FileStat {
    pub fn modified(&self) -> SystemTime {
        time(self.stamp.modified)
    }

    pub fn created(&self) -> Option<SystemTime> {
        self.created.map(|created| time(created.get()))
    }
}

/// All that lies below a folder.
#[derive(Debug, Default)]
pub struct WalkedFolder {
    /// In path order.
    pub files: Vec<(VaultPath, FileStat)>,
    /// In path order.
    pub folders: Vec<VaultPath>,
    /// Contents that were read on the way, in shared buffers.
    pub texts: Vec<(VaultPath, Arc<Vec<u8>>, Range<usize>)>,
    /// It was cancelled, so this is incomplete.
    pub stopped: bool,
}

/// How much text may be read.
#[derive(Debug)]
pub struct TextRoom {
    pub max_file_bytes: u64,
    left: AtomicU64,
}

impl TextRoom {
    pub fn new(max_file_bytes: u64, left: u64) -> Self {
        Self { max_file_bytes, left: AtomicU64::new(left) }
    }

    /// Reserves this many bytes, if there is enough room.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        self.left.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// Nanoseconds since 1970; times before 1677 or after 2262 are clamped.
pub(crate) fn nanoseconds(time: SystemTime) -> i64 {
    let clamped = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => clamped(after),
        Err(before) => -clamped(before.duration()),
    }
}

fn time(nanoseconds: i64) -> SystemTime {
    let duration = Duration::from_nanos(nanoseconds.unsigned_abs());
    if nanoseconds < 0 { UNIX_EPOCH - duration } else { UNIX_EPOCH + duration }
}
