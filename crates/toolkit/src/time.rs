//! Times in answers.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::{Timestamp, Unit};

/// `2026-11-15T20:15:00Z`
pub fn iso(time: SystemTime) -> String {
    let rounded = Timestamp::try_from(time).and_then(|time| time.round(Unit::Second));
    rounded.map_or_else(|_| String::new(), |time| time.to_string())
}

/// Milliseconds since 1970, as Obsidian counts; 0 if the system does not know.
pub fn milliseconds(time: Option<SystemTime>) -> u64 {
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// `2026-11-15 20:15` in UTC, from milliseconds since 1970: short enough for a list.
pub fn minute(milliseconds: u64) -> String {
    let time = i64::try_from(milliseconds).ok().and_then(|time| Timestamp::from_millisecond(time).ok());
    time.map_or_else(String::new, |time| time.strftime("%Y-%m-%d %H:%M").to_string())
}
