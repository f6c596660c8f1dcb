use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::VaultPath;

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStamp {
    pub size: u64,
    /// In nanoseconds since 1970, as are the others.
    pub modified: i64,
    /// Where a system keeps it: moves with every change, also one that sets the other time back.
    pub changed: i64,
    pub inode: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStat {
    pub stamp: FileStamp,
    pub created: Option<i64>,
}

/// Clocks of file systems tick between every nanosecond and every two seconds.
const COARSEST_TICK: i64 = 2_000_000_000;

impl FileStamp {
    /// Whether a later change must show in the stamp, if the file was read at this time.
    pub fn is_settled(&self, read_at: i64) -> bool {
        read_at.saturating_sub(self.modified.max(self.changed)) > COARSEST_TICK
    }
}

impl FileStat {
    pub fn modified(&self) -> SystemTime {
        time(self.stamp.modified)
    }

    pub fn created(&self) -> Option<SystemTime> {
        self.created.map(time)
    }
}

/// All that lies below a folder.
#[derive(Debug, Default)]
pub struct WalkedFolder {
    /// In path order.
    pub files: Vec<(VaultPath, FileStat)>,
    /// In path order.
    pub folders: Vec<VaultPath>,
    /// What was read on the way, in buffers that many share.
    pub texts: Vec<(VaultPath, Arc<Vec<u8>>, Range<usize>)>,
    /// It was called off, so this is not everything.
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

    /// Takes room for so many bytes, if there is enough.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        self.left.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// Nanoseconds since 1970; times beyond the years 1677 and 2262 are taken for the nearest that fits.
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
