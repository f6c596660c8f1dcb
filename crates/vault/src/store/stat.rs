use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::StoreError;
use crate::VaultPath;

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub size: u64,
    /// In nanoseconds since 1970, as are the others.
    pub modified: i64,
    /// Where a system keeps it: moves with every change, also one that sets the other time back.
    pub changed: i64,
    pub inode: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    pub stamp: Stamp,
    pub created: Option<i64>,
}

/// Clocks of file systems tick between every nanosecond and every two seconds.
const COARSEST_TICK: i64 = 2_000_000_000;

impl Stamp {
    /// Whether a later change must show in the stamp, if the file was read at this time.
    pub(crate) fn is_settled(&self, read_at: i64) -> bool {
        read_at.saturating_sub(self.modified.max(self.changed)) > COARSEST_TICK
    }
}

impl Stat {
    pub fn modified(&self) -> SystemTime {
        time(self.stamp.modified)
    }

    pub fn created(&self) -> Option<SystemTime> {
        self.created.map(time)
    }
}

/// What is found at a place, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    File(Stat),
    /// A file behind a followed link, whose changes no watch of the vault sees.
    Linked(Stat),
    Folder,
    /// Nothing, or nothing that belongs to the vault: a link, a pipe, a device.
    Nothing,
}

/// All that lies below a folder.
#[derive(Debug, Default)]
pub struct Walked {
    /// In path order.
    pub files: Vec<(VaultPath, Stat)>,
    /// In path order.
    pub folders: Vec<VaultPath>,
    /// Folders that could not be looked into.
    pub closed: Vec<(VaultPath, StoreError)>,
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
