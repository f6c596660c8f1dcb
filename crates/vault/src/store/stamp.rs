use std::time::{Duration, SystemTime};

use cap_std::fs::Metadata;

/// Tells a file from another that takes its place, and from itself after a change, as well as a file system can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// When anything about it changed, its rights included. Unlike the time above, programs cannot set it.
    changed: Option<SystemTime>,
    identity: Option<u64>,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
        #[cfg(unix)]
        let (changed, identity) = {
            use cap_std::fs::MetadataExt;
            let (seconds, nanos) = (metadata.ctime(), metadata.ctime_nsec());
            let after = Duration::new(u64::try_from(seconds).unwrap_or(0), u32::try_from(nanos).unwrap_or(0));
            (SystemTime::UNIX_EPOCH.checked_add(after), Some(metadata.ino()))
        };
        #[cfg(not(unix))]
        let (changed, identity) = (None, None);
        Self { bytes: metadata.len(), modified, changed, identity }
    }

    /// A file in memory, of which nobody notes the times.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, modified: None, changed: None, identity: None }
    }

    /// Whether nothing has happened to the file for this long. Times in the future, and none, are no proof.
    pub(crate) fn is_older_than(&self, age: Duration, now: SystemTime) -> bool {
        let latest = self.modified.max(self.changed);
        latest.and_then(|latest| now.duration_since(latest).ok()).is_some_and(|passed| passed > age)
    }
}
