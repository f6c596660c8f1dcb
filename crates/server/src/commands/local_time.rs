//! Moments as people read them: relative, and in their own time zone.

use std::{cell::OnceCell, time::SystemTime};

use jiff::{Timestamp, Zoned, tz::TimeZone};

/// The present, in the zone of this computer.
#[derive(Clone, Debug)]
pub(crate) struct LocalTime {
    now: Timestamp,
    /// Looked for with the first moment that is shown: that takes longer than the rest of the start of a server.
    zone: OnceCell<TimeZone>,
}

impl LocalTime {
    pub(crate) fn at(now: SystemTime) -> Self {
        // A clock outside the years -9999 to 9999 is broken.
        Self { now: Timestamp::try_from(now).unwrap_or(Timestamp::UNIX_EPOCH), zone: OnceCell::new() }
    }

    /// `just now`, `5 min ago`, `3 h ago`, `Mon 14:02` or `2026-11-02`: at most ten characters. A text that is not a time
    /// stays as it is.
    pub(crate) fn ago(&self, written: &str) -> String {
        // Times in the log are written by us, but a line can be cut by a crash.
        let Some(then) = self.zoned(written) else { return written.to_owned() };
        let seconds = self.now.as_second() - then.timestamp().as_second();
        match seconds {
            // Clocks of two computers differ a little.
            -60..60 => "just now".to_owned(),
            60..3_600 => format!("{} min ago", seconds / 60),
            3_600..86_400 => format!("{} h ago", seconds / 3_600),
            86_400..604_800 => then.strftime("%a %H:%M").to_string(),
            _ => then.strftime("%Y-%m-%d").to_string(),
        }
    }

    /// `2026-11-02 14:02:31`, and how long ago that is.
    pub(crate) fn exact(&self, written: &str) -> String {
        let Some(then) = self.zoned(written) else { return written.to_owned() };
        let exact = then.strftime("%Y-%m-%d %H:%M:%S").to_string();
        let ago = self.ago(written);
        // A date says nothing that the exact time does not.
        if exact.starts_with(&ago) { exact } else { format!("{exact} ({ago})") }
    }

    /// How long it is until a moment: `23 h`, `5 min`.
    pub(crate) fn until(&self, written: &str) -> String {
        let Some(then) = self.zoned(written) else { return written.to_owned() };
        match then.timestamp().as_second() - self.now.as_second() {
            ..=0 => "no time".to_owned(),
            seconds @ 1..3_600 => format!("{} min", (seconds / 60).max(1)),
            seconds => format!("{} h", seconds / 3_600),
        }
    }

    /// Whether a moment is at most so long ago.
    pub(crate) fn is_within(&self, written: &str, seconds: i64) -> bool {
        self.zoned(written).is_some_and(|then| self.now.as_second() - then.timestamp().as_second() <= seconds)
    }

    fn zoned(&self, written: &str) -> Option<Zoned> {
        written.parse::<Timestamp>().ok().map(|then| then.to_zoned(self.zone.get_or_init(TimeZone::system).clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> LocalTime {
        let now: Timestamp = "2026-11-17T12:00:00Z".parse().unwrap();
        LocalTime { now, zone: OnceCell::from(TimeZone::get("Europe/Berlin").unwrap()) }
    }

    #[test]
    fn a_moment_is_relative_and_in_the_local_zone() {
        for (written, expected) in [
            ("2026-11-17T11:59:30.123Z", "just now"),
            ("2026-11-17T12:00:20Z", "just now"),
            ("2026-11-17T11:18:00Z", "42 min ago"),
            ("2026-11-16T12:30:00Z", "23 h ago"),
            ("2026-11-15T23:30:00Z", "Mon 00:30"),
            ("2026-07-01T23:30:00Z", "2026-07-02"),
            ("2027-01-01T00:00:00Z", "2027-01-01"),
            ("no time", "no time"),
        ] {
            assert_eq!(berlin().ago(written), expected, "{written}");
        }
        assert_eq!(berlin().exact("2026-11-17T11:18:05Z"), "2026-11-17 12:18:05 (41 min ago)");
        assert_eq!(berlin().exact("2026-07-01T23:30:00Z"), "2026-07-02 01:30:00");
        for (written, expected) in [
            ("2026-11-18T11:59:59Z", "23 h"),
            ("2026-11-17T12:05:30Z", "5 min"),
            ("2026-11-17T12:00:10Z", "1 min"),
            ("2026-11-17T11:00:00Z", "no time"),
        ] {
            assert_eq!(berlin().until(written), expected, "{written}");
        }
    }
}
