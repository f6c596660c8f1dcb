//! Dates: moments that remember whether a time of day was given.

use jiff::{Span, Timestamp, Zoned, civil::DateTime, tz::TimeZone};

use super::base_duration::BaseDuration;
use lapidary_query::{DateValue, DateZone, WeekRule, bases_date_text, format_moment};

/// A moment. On which day it lies is a matter of the time zone, which every method is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseDate {
    pub moment: Timestamp,
    pub has_time: bool,
    /// Written as a distance from now; in all else it is the date.
    pub(super) is_relative: bool,
}

impl BaseDate {
    pub(super) fn at(moment: Timestamp) -> Self {
        Self { moment, has_time: true, is_relative: false }
    }

    pub(super) fn of(date: &DateValue, zone: &TimeZone) -> Option<Self> {
        let moment = date.timestamp(zone)?;
        Some(Self { moment, has_time: date.has_time, is_relative: false })
    }

    /// `YYYY-MM-DD`, with a time, and the two forms without separators that `date()` knows.
    pub(super) fn parse(text: &str, zone: &TimeZone) -> Option<Self> {
        let date = bases_date_text(text).or_else(|| compact(text))?;
        Self::of(&date, zone)
    }

    pub fn civil(self, zone: &TimeZone) -> DateTime {
        zone.to_datetime(self.moment)
    }

    pub(super) fn zoned(self, zone: &TimeZone) -> Zoned {
        self.moment.to_zoned(zone.clone())
    }

    pub(super) fn milliseconds(self) -> f64 {
        precise(self.moment.as_millisecond())
    }

    /// The beginning of its day.
    pub(super) fn day(self, zone: &TimeZone) -> Option<Self> {
        // Midnight does not exist on some days; the zone then gives the first moment of the day.
        let midnight = self.civil(zone).date().to_datetime(jiff::civil::Time::midnight());
        let moment = zone.to_timestamp(midnight).ok()?;
        Some(Self { moment, has_time: false, is_relative: false })
    }

    /// Months and days by the calendar, hours and less by the clock, as moment.js adds them. Nothing out of range.
    pub(super) fn plus(self, duration: &BaseDuration, sign: f64, zone: &TimeZone) -> Option<Self> {
        // From the largest unit on: 31 January plus a month and a day is 1 March.
        let (months, days, milliseconds) = duration.scaled(sign).calendar();
        let zoned = self.zoned(zone);
        let zoned = zoned.checked_add(Span::new().try_months(months).ok()?).ok()?;
        let zoned = zoned.checked_add(Span::new().try_days(days).ok()?).ok()?;
        let zoned = zoned.checked_add(Span::new().try_milliseconds(milliseconds).ok()?).ok()?;
        let has_time = gains_time(self, duration);
        Some(Self { moment: zoned.timestamp(), has_time, is_relative: false })
    }

    pub(super) fn format(self, format: &str, zone: &TimeZone) -> String {
        format_moment(&self.zoned(zone), format, WeekRule::ENGLISH)
    }

    /// `in 2 days`, `an hour ago`
    pub(super) fn relative(self, now: Timestamp, zone: &TimeZone) -> String {
        // By the calendar of the zone, so that `2 days` are days and not 48 hours.
        let distance = BaseDuration::between(&now.to_zoned(zone.clone()), &self.zoned(zone));
        let text = distance.humanised();
        if self.moment > now { format!("in {text}") } else { format!("{text} ago") }
    }

    /// `2026-06-10`, `2026-06-10T12:34:56`
    pub(super) fn text(self, zone: &TimeZone) -> String {
        let civil = self.civil(zone);
        if self.has_time { civil.strftime("%Y-%m-%dT%H:%M:%S").to_string() } else { civil.date().to_string() }
    }

    pub(super) fn is_same(self, other: Self, zone: &TimeZone) -> bool {
        if self.has_time && other.has_time {
            return self.moment.as_millisecond() == other.moment.as_millisecond();
        }
        // A date without a time is a whole day.
        self.civil(zone).date() == other.civil(zone).date()
    }

    pub(super) fn to_shared(self, zone: &TimeZone) -> DateValue {
        DateValue { civil: self.civil(zone), has_time: self.has_time, zone: DateZone::Local }
    }
}

/// Whether hours that are added to a date without a time give it one. They do: the hours would be lost otherwise.
fn gains_time(date: BaseDate, added: &BaseDuration) -> bool {
    date.has_time || added.has_time()
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a date fit a number of JavaScript")]
pub(super) fn precise(number: i64) -> f64 {
    number as f64
}

/// `YYYYMMDD` or `YYYYMMDDHHmm`
fn compact(text: &str) -> Option<DateValue> {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let (date, time) = match text.len() {
        // Other lengths are years or numbers.
        8 | 12 if is_digits => text.split_at(8),
        _ => return None,
    };
    let (year, month, day) = (&date[..4], &date[4..6], &date[6..]);
    let separated = match time.split_at_checked(2) {
        Some((hour, minute)) => format!("{year}-{month}-{day} {hour}:{minute}"),
        None => format!("{year}-{month}-{day}"),
    };
    bases_date_text(&separated)
}
