use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, as Obsidian counts; 0 where the system does not say.
pub(crate) fn milliseconds(time: Option<SystemTime>) -> u64 {
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
