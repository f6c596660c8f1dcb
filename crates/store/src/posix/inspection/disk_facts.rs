//! What the system says about the disk under a folder.

use std::path::Path;

use unicode_normalization::UnicodeNormalization;

/// How a file system compares names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamesAlike {
    Same,
    Different,
    /// No name in the folder shows it, and nothing is written to find out.
    Unknown,
}

/// The disk that a folder is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskFacts {
    /// Whether `a.md` and `A.md` are one file.
    pub case: NamesAlike,
    /// Whether the two ways to store an accented letter name one file.
    pub unicode: NamesAlike,
    pub is_read_only: bool,
    pub free_bytes: Option<u64>,
}

pub fn disk_facts(folder: &Path) -> DiskFacts {
    let names: Vec<String> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).take(1000).collect())
        .unwrap_or_default();
    let alike = |other: &dyn Fn(&str) -> Option<String>| {
        // A name that is there in both spellings shows nothing.
        let pair = names.iter().find_map(|name| {
            let other = other(name)?;
            (!names.contains(&other)).then_some((name, other))
        });
        pair.map_or(NamesAlike::Unknown, |(_, other)| {
            // Without following links, as only the name counts.
            let there = std::fs::symlink_metadata(folder.join(other)).is_ok();
            if there { NamesAlike::Same } else { NamesAlike::Different }
        })
    };
    let swapped = |name: &str| {
        let other: String =
            name.chars()
                .map(|letter| {
                    if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
                })
                .collect();
        (other != name).then_some(other)
    };
    let respelt = |name: &str| {
        let (together, apart): (String, String) = (name.nfc().collect(), name.nfd().collect());
        (together != apart).then(|| if name == together { apart } else { together })
    };
    let (is_read_only, free_bytes) = mounted(folder);
    DiskFacts { case: alike(&swapped), unicode: alike(&respelt), is_read_only, free_bytes }
}

#[cfg(unix)]
fn mounted(folder: &Path) -> (bool, Option<u64>) {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    match statvfs(folder) {
        Ok(found) => {
            // What an ordinary user may take, not what is free in all.
            (found.f_flag.contains(StatVfsMountFlags::RDONLY), Some(found.f_bavail.saturating_mul(found.f_frsize)))
        }
        Err(_) => (false, None),
    }
}

#[cfg(not(unix))]
fn mounted(_: &Path) -> (bool, Option<u64>) {
    (false, None)
}

#[cfg(unix)]
pub(super) fn may_read(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok()
}

#[cfg(unix)]
pub(super) fn may_write(path: &Path) -> bool {
    // A disk that is mounted for reading is one finding, not one for every file on it.
    !matches!(
        rustix::fs::access(path, rustix::fs::Access::WRITE_OK),
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM)
    )
}

#[cfg(not(unix))]
pub(super) fn may_read(path: &Path) -> bool {
    // Windows has no way to ask without opening it.
    std::fs::File::open(path).is_ok()
}

#[cfg(not(unix))]
pub(super) fn may_write(path: &Path) -> bool {
    path.is_dir() || !std::fs::metadata(path).is_ok_and(|found| found.permissions().readonly())
}

/// Whether other users of this computer may read a file that has secrets; `None` if it is missing or the system has no modes.
pub fn open_to_others(path: &Path) -> Option<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).ok().map(|found| found.mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// How the system reports changes in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchRoom {
    /// It reports changes in this many folders of one user.
    Folders(u64),
    /// The disk can change without its noticing.
    Unseen,
    /// This system is not asked for changes.
    Scanned,
}

#[cfg(target_os = "linux")]
pub fn watch_room(folder: &Path) -> WatchRoom {
    if !super::super::watch::is_seen_at(folder) {
        return WatchRoom::Unseen;
    }
    // The limit is for all programs of one user.
    let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok();
    match limit.and_then(|limit| limit.trim().parse().ok()) {
        Some(limit) => WatchRoom::Folders(limit),
        None => WatchRoom::Scanned,
    }
}

#[cfg(not(target_os = "linux"))]
pub fn watch_room(_: &Path) -> WatchRoom {
    WatchRoom::Scanned
}
