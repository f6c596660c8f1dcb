//! The clock.

use std::time::SystemTime;

use jiff::{Timestamp, Unit, Zoned, tz::TimeZone};

/// The pipeline's clock. Everything else gets the time as an argument.
#[derive(Clone, Copy, Debug)]
pub struct Clock(fn() -> SystemTime);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn system() -> Self {
        Self(SystemTime::now)
    }

    /// `2026-11-15T20:15:00.123Z`
    pub fn timestamp(self) -> String {
        iso(self.now())
    }

    /// A moment as the log writes it.
    pub fn written(time: SystemTime) -> String {
        iso(time)
    }

    /// Noon on a Wednesday, which the examples of tools use.
    #[cfg(test)]
    pub(crate) fn of_examples() -> Self {
        Self(|| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_776_254_400))
    }

    pub fn now(self) -> SystemTime {
        (self.0)()
    }
}

/// The owner's local time: in the zone of this process or this machine.
pub(crate) fn on_the_wall(time: SystemTime) -> Zoned {
    // A clock outside the years -9999 to 9999 is broken.
    Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::system())
}

/// `2026-11-15T20:15:00.123Z`
pub(crate) fn iso(time: SystemTime) -> String {
    let rounded = Timestamp::try_from(time).and_then(|time| time.round(Unit::Millisecond));
    rounded.map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_with_milliseconds() {
        assert_eq!(iso(SystemTime::UNIX_EPOCH + Duration::from_millis(1_500)), "1970-01-01T00:00:01.500Z");
        assert_eq!(iso(SystemTime::UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
    }
}
