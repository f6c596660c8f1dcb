//! Times in answers.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::{Span, Timestamp, Unit, Zoned, civil};

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

/// The moment that a caller gives: `today`, `2h ago`, a date, or a time with or without a zone.
pub fn moment(given: &str, now: &Zoned) -> Option<Timestamp> {
    let given = given.trim();
    let midnight = |day: civil::Date| day.to_zoned(now.time_zone().clone()).ok().map(|day| day.timestamp());
    match given.to_lowercase().as_str() {
        // By the owner's time zone, which is that of `now`.
        "today" => return midnight(now.date()),
        "yesterday" => return midnight(now.date().yesterday().ok()?),
        _ => {}
    }
    if let Ok(time) = given.parse::<Timestamp>() {
        return Some(time);
    }
    // A time without a zone is the owner's local time; a date alone is its start.
    if let Ok(day) = given.parse::<civil::Date>()
        && !given.contains(['T', ':'])
    {
        return midnight(day);
    }
    if let Ok(time) = given.parse::<civil::DateTime>() {
        return time.to_zoned(now.time_zone().clone()).ok().map(|time| time.timestamp());
    }
    let span: Span = given.trim_end_matches("ago").trim().parse().ok()?;
    // `-2h` and `2h ago` mean the same; a time in the future would find nothing.
    now.checked_sub(span.abs()).ok().map(|then| then.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_say_them() {
        let now: Zoned = "2026-11-17T15:00:00+01:00[Europe/Berlin]".parse().unwrap();
        for (given, expected) in [
            ("today", "2026-11-16T23:00:00Z"),
            ("Yesterday", "2026-11-15T23:00:00Z"),
            ("2h", "2026-11-17T12:00:00Z"),
            ("7d", "2026-11-10T14:00:00Z"),
            ("1 week ago", "2026-11-10T14:00:00Z"),
            ("2026-11-16", "2026-11-15T23:00:00Z"),
            ("2026-11-16T08:00", "2026-11-16T07:00:00Z"),
            ("2026-11-16T08:00:00Z", "2026-11-16T08:00:00Z"),
        ] {
            assert_eq!(moment(given, &now).map(|time| time.to_string()).as_deref(), Some(expected), "{given}");
        }
        for none in ["", "lately", "2026-99-01"] {
            assert_eq!(moment(none, &now), None, "{none}");
        }
    }
}
