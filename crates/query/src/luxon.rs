//! Dates as Luxon has them: a moment on the clocks of a zone, with its arithmetic and its formats. Dataview does all
//! that it does with dates through Luxon, corners included.

mod arithmetic;
mod format;
mod parse;
#[cfg(test)]
mod tests;
mod zone;

use crate::{DateValue, DateZone};

pub use format::{format_duration, format_luxon};
pub use parse::{LuxonParseError, parse_luxon};
pub use zone::LuxonZone;

pub(crate) const DAY_MILLISECONDS: f64 = 86_400_000.0;
/// No date of JavaScript is farther from 1970.
const LARGEST_MILLISECONDS: f64 = 8.64e15;

/// A moment, and the wall clock that shows it in a zone. A date that does not exist has `NaN` milliseconds.
#[derive(Clone, Debug)]
pub struct LuxonDate {
    milliseconds: f64,
    zone: LuxonZone,
    /// What the clocks of the zone are ahead of UTC, in seconds.
    offset: i32,
    wall: WallClock,
}

/// What a clock and a calendar show. Fields may be out of their range until they are counted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallClock {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub millisecond: i64,
}

impl WallClock {
    pub fn midnight(year: i64, month: i64, day: i64) -> Self {
        Self { year, month, day, hour: 0, minute: 0, second: 0, millisecond: 0 }
    }

    /// As if the clock were in UTC; what is beyond a month or an hour is counted on.
    fn utc_milliseconds(&self) -> f64 {
        let days = days_since_1970(self.year, self.month, 1) as f64 + (self.day - 1) as f64;
        let time = ((self.hour * 60 + self.minute) * 60 + self.second) * 1000 + self.millisecond;
        days * DAY_MILLISECONDS + time as f64
    }

    fn at(utc_milliseconds: f64) -> Self {
        let days = (utc_milliseconds / DAY_MILLISECONDS).floor();
        let time = (utc_milliseconds - days * DAY_MILLISECONDS).trunc() as i64;
        let (year, month, day) = civil_date(days as i64);
        let (seconds, millisecond) = (time / 1000, time % 1000);
        Self { year, month, day, hour: seconds / 3600, minute: seconds / 60 % 60, second: seconds % 60, millisecond }
    }
}

/// How many days lie between 1970 and a day of the Gregorian calendar. Months beyond a year are counted on.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = year + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    // Years begin in March here, so that a leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    // The calendar repeats every 400 years, which have 146,097 days.
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    // From March on, months have 31, 30, 31, 30 and 31 days again and again: 153 in five.
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn is_leap_year(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl LuxonDate {
    /// A moment in milliseconds since 1970.
    pub fn at(milliseconds: f64, zone: LuxonZone) -> Self {
        let milliseconds = if milliseconds.abs() <= LARGEST_MILLISECONDS { milliseconds } else { f64::NAN };
        let offset = zone.offset_at(milliseconds);
        Self::with_offset(milliseconds, zone, offset)
    }

    fn with_offset(milliseconds: f64, zone: LuxonZone, offset: i32) -> Self {
        // An invalid date shows the first day, but none of its parts is used.
        let wall = if milliseconds.is_nan() {
            WallClock::midnight(1970, 1, 1)
        } else {
            WallClock::at(milliseconds + f64::from(offset) * 1000.0)
        };
        Self { milliseconds, zone, offset, wall }
    }

    /// What a wall clock shows. Where the clocks were set back and it was shown twice, `guess` decides: the offset in
    /// seconds that is tried first.
    pub fn on_wall(wall: WallClock, zone: LuxonZone, guess: i32) -> Self {
        let (milliseconds, offset) = zone.moment_of(wall.utc_milliseconds(), guess);
        if milliseconds.abs() <= LARGEST_MILLISECONDS {
            Self::with_offset(milliseconds, zone, offset)
        } else {
            Self::with_offset(f64::NAN, zone, 0)
        }
    }

    /// What was written, in the zone that was written or else the local one. Nothing if there is no such zone.
    pub fn of(value: &DateValue, local: &LuxonZone) -> Option<Self> {
        let zone = match &value.zone {
            DateZone::Local => local.clone(),
            // Luxon has offsets in whole minutes.
            DateZone::Offset(offset) => LuxonZone::Fixed { minutes: offset.seconds() / 60 },
            DateZone::Named(name) => LuxonZone::named(name, local)?,
        };
        let civil = value.civil;
        let midnight = WallClock::midnight(civil.year().into(), civil.month().into(), civil.day().into());
        let wall = WallClock {
            hour: civil.hour().into(),
            minute: civil.minute().into(),
            second: civil.second().into(),
            millisecond: civil.millisecond().into(),
            ..midnight
        };
        // As Luxon does it: the offset of the day is the guess for the time, which decides where a time occurs twice.
        let day = Self::on_wall(midnight, zone.clone(), zone.offset_at(midnight.utc_milliseconds()));
        Some(if wall == midnight { day } else { Self::on_wall(wall, zone, day.offset) })
    }

    /// As a value that every language knows. Nothing for a date that does not exist or is beyond the year 9999.
    pub fn to_value(&self) -> Option<DateValue> {
        if !self.is_valid() {
            return None;
        }
        let wall = self.wall;
        // A year beyond 9999 does not fit, and no other part can be too large.
        let small = |number: i64| i8::try_from(number).ok();
        let date = jiff::civil::Date::new(i16::try_from(wall.year).ok()?, small(wall.month)?, small(wall.day)?).ok()?;
        let nanosecond = i32::try_from(wall.millisecond * 1_000_000).ok()?;
        let time =
            jiff::civil::Time::new(small(wall.hour)?, small(wall.minute)?, small(wall.second)?, nanosecond).ok()?;
        let zone = match &self.zone {
            LuxonZone::Local(_) => DateZone::Local,
            LuxonZone::Fixed { minutes } => DateZone::Offset(jiff::tz::Offset::from_seconds(minutes * 60).ok()?),
            LuxonZone::Named { name, .. } => DateZone::Named(name.clone()),
        };
        // A date with an explicit zone is a moment, even at midnight.
        let has_time = time != jiff::civil::Time::midnight() || zone != DateZone::Local;
        Some(DateValue { civil: date.to_datetime(time), has_time, zone })
    }

    pub fn is_valid(&self) -> bool {
        !self.milliseconds.is_nan()
    }

    /// Since 1970.
    pub fn milliseconds(&self) -> f64 {
        self.milliseconds
    }

    pub fn zone(&self) -> &LuxonZone {
        &self.zone
    }

    pub fn wall(&self) -> WallClock {
        self.wall
    }

    /// Ahead of UTC, in seconds.
    pub fn offset(&self) -> i32 {
        self.offset
    }

    /// The same moment on other clocks.
    #[must_use]
    pub fn in_zone(&self, zone: LuxonZone) -> Self {
        Self::at(self.milliseconds, zone)
    }

    /// The same wall clock in another zone.
    #[must_use]
    pub fn on_same_wall(&self, zone: LuxonZone) -> Self {
        let guess = zone.offset_at(self.milliseconds);
        Self::on_wall(self.wall, zone, guess)
    }

    /// With another wall clock in the same zone.
    #[must_use]
    pub fn with_wall(&self, wall: WallClock) -> Self {
        // An invalid date stays so, whatever is changed about it.
        if self.is_valid() { Self::on_wall(wall, self.zone.clone(), self.offset) } else { self.clone() }
    }

    /// Monday is 1.
    pub fn weekday(&self) -> i64 {
        (self.days() + 3).rem_euclid(7) + 1
    }

    /// From 1 on.
    pub fn day_of_year(&self) -> i64 {
        self.days() - days_since_1970(self.wall.year, 1, 1) + 1
    }

    /// The year of its ISO week, and the week.
    pub fn iso_week(&self) -> (i64, i64) {
        // By the ISO rule: the Thursday of a week decides its year.
        let week = (self.day_of_year() - self.weekday() + 10).div_euclid(7);
        let year = self.wall.year;
        if week < 1 {
            (year - 1, weeks_in_year(year - 1))
        } else if week > weeks_in_year(year) {
            (year + 1, 1)
        } else {
            (year, week)
        }
    }

    pub fn quarter(&self) -> i64 {
        (self.wall.month + 2) / 3
    }

    /// The same moment in the same zone, which is more than the same moment.
    pub fn equals(&self, other: &Self) -> bool {
        self.milliseconds == other.milliseconds && self.zone.is_same(&other.zone)
    }

    fn days(&self) -> i64 {
        days_since_1970(self.wall.year, self.wall.month, self.wall.day)
    }

    /// As ISO 8601 has it, with milliseconds and the offset: `2026-06-10T12:34:56.000+02:00`.
    pub fn iso_text(&self) -> String {
        if self.is_valid() { format_luxon(self, "yyyy-MM-dd'T'HH:mm:ss.SSSZZ") } else { "null".to_owned() }
    }
}

fn weeks_in_year(year: i64) -> i64 {
    // A year has 53 weeks if it ends on a Thursday, or on a Friday after a leap day.
    let last_weekday =
        |year: i64| (year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400)).rem_euclid(7);
    if last_weekday(year) == 4 || last_weekday(year - 1) == 3 { 53 } else { 52 }
}
