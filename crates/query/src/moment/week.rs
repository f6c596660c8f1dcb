//! Rules for counting weeks.

use jiff::{ToSpan, civil::Date};

use crate::english::WEEKDAYS;

/// How weeks are counted, in the terms of moment.js.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekRule {
    /// The day on which a week starts; 0 is Sunday.
    first_day: i64,
    /// The first week is the one with the day `7 + first_day - this` of January.
    first_week: i64,
}

impl WeekRule {
    /// Weeks start on Sunday, and the first contains 1 January.
    pub const ENGLISH: Self = Self { first_day: 0, first_week: 6 };
    /// Weeks start on Monday, and the first contains 4 January.
    pub const ISO: Self = Self { first_day: 1, first_week: 4 };

    /// The rule of a moment.js locale; for an unknown one, that of English.
    pub fn of_locale(locale: &str) -> Self {
        const ISO: &str = " af ar-ma ar-tn bm br ca cs cy da de-at de-ch de el en-gb en-ie en-nz en-sg es-do es et fi fil fo fr-ch fr fy ga gd gl hu is it-ch it km ku-kmr lb lt lv mi mt my nb nl-be nl nn oc-lnc pl pt ru sd se sk sq ss sv tet tl-ph tlh tzl uk ur vi yo zh-cn ";
        const MONDAY_SEVENTH: &str =
            " az be bg bs cv eo eu hr hy-am jv ka kk ky me mk ms-my ms ro sl sr-cyrl sr sw tg tk tr ug-cn uz-latn uz ";
        const SATURDAY: &str = " ar-ly ar fa ku ps tzm-latn tzm ";
        const SUNDAY_FOURTH: &str = " ar-dz en-au es-mx ";
        let locale = locale.to_lowercase();
        let among = |names: &str| names.contains(&format!(" {locale} "));
        let (first_day, first_week) = match () {
            // The numbers are those of moment.js: `dow` and `doy`.
            () if among(ISO) => (1, 4),
            () if among(MONDAY_SEVENTH) => (1, 7),
            () if among(SATURDAY) => (6, 12),
            () if among(SUNDAY_FOURTH) => (0, 4),
            () => (0, 6),
        };
        Self { first_day, first_week }
    }

    /// The same with weeks that start on another day, by its English name. An unknown name changes nothing.
    #[must_use]
    pub fn starting_on(self, weekday: &str) -> Self {
        Self { first_day: numbered(weekday).unwrap_or(self.first_day), ..self }
    }

    /// The year that a week belongs to, and its number in it.
    pub(super) fn week_of(self, date: Date) -> (i32, i64) {
        let year = i32::from(date.year());
        let week = (i64::from(date.day_of_year()) - self.offset(year) - 1).div_euclid(7) + 1;
        let weeks = self.weeks_in(year);
        if week < 1 {
            (year - 1, week + self.weeks_in(year - 1))
        } else if week > weeks {
            (year + 1, week - weeks)
        } else {
            (year, week)
        }
    }

    /// The number of days between a date and the weekday of this English name in the same week; `None` if it is
    /// unknown.
    pub fn days_to(self, weekday: &str, date: Date) -> Option<i64> {
        Some((numbered(weekday)? - self.first_day).rem_euclid(7) - self.weekday(date))
    }

    /// The day on which the week of a date starts.
    pub fn first_day(self, date: Date) -> Date {
        // The calendar begins on a Saturday, in the middle of a week.
        date.checked_sub(self.weekday(date).days()).unwrap_or(date)
    }

    /// Which day of its week a date is, from 0.
    pub(super) fn weekday(self, date: Date) -> i64 {
        (i64::from(date.weekday().to_sunday_zero_offset()) - self.first_day).rem_euclid(7)
    }

    /// How many days of January are before the first week; negative if it starts in December.
    fn offset(self, year: i32) -> i64 {
        let within_first = 7 + self.first_day - self.first_week;
        let weekday = (weekday_of_new_year(year) + within_first - 1).rem_euclid(7);
        // How far the day that is always in the first week is from the start of its week.
        let behind = (7 + weekday - self.first_day).rem_euclid(7);
        within_first - behind - 1
    }

    fn weeks_in(self, year: i32) -> i64 {
        (days_in(year) - self.offset(year) + self.offset(year + 1)) / 7
    }
}

/// The number of a day by its English name; 0 is Sunday.
fn numbered(weekday: &str) -> Option<i64> {
    let known = WEEKDAYS.iter().zip(1_i64..).find(|(name, _)| name.eq_ignore_ascii_case(weekday));
    known.map(|(_, day)| day % 7)
}

fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i32) -> i64 {
    if is_leap(year) { 366 } else { 365 }
}

/// 0 is Sunday.
fn weekday_of_new_year(year: i32) -> i64 {
    let before = i64::from(year) - 1;
    (before * 365 + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400) + 1).rem_euclid(7)
}
