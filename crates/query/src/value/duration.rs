//! Lengths of time, and the arithmetic that Luxon does on them, which both query languages follow.

use std::fmt;

use crate::js_number::decimal_text;

/// A duration in the units in which it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DurationValue {
    pub years: f64,
    pub months: f64,
    pub weeks: f64,
    pub days: f64,
    pub hours: f64,
    pub minutes: f64,
    pub seconds: f64,
    pub milliseconds: f64,
}

/// From the largest to the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DurationUnit {
    Years,
    Months,
    Weeks,
    Days,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
}

impl DurationUnit {
    pub const ALL: [Self; 8] = [
        Self::Years,
        Self::Months,
        Self::Weeks,
        Self::Days,
        Self::Hours,
        Self::Minutes,
        Self::Seconds,
        Self::Milliseconds,
    ];

    /// `days`
    pub fn name(self) -> &'static str {
        match self {
            Self::Years => "years",
            Self::Months => "months",
            Self::Weeks => "weeks",
            Self::Days => "days",
            Self::Hours => "hours",
            Self::Minutes => "minutes",
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
        }
    }

    /// How many of a smaller unit it holds. A year has 52 weeks and a month 4, so that the way over a unit between
    /// gives another number than the direct one.
    fn holds(self, smaller: Self) -> f64 {
        if self == smaller {
            return 1.0;
        }
        // Luxon's casual matrix, in which every month has 30 days.
        let days = match (self, smaller) {
            (Self::Years, Self::Months) => return 12.0,
            (Self::Years, Self::Weeks) => return 52.0,
            (Self::Months, Self::Weeks) => return 4.0,
            (Self::Years, _) => 365.0,
            (Self::Months, _) => 30.0,
            (Self::Weeks, _) => 7.0,
            _ => 1.0,
        };
        let below_day = |unit: Self| match unit {
            Self::Hours => 24.0,
            Self::Minutes => 1_440.0,
            Self::Seconds => 86_400.0,
            Self::Milliseconds => 86_400_000.0,
            _ => 1.0,
        };
        if self <= Self::Days { days * below_day(smaller) } else { below_day(smaller) / below_day(self) }
    }
}

impl DurationValue {
    pub fn of(unit: DurationUnit, amount: f64) -> Self {
        let mut duration = Self::default();
        *duration.part_mut(unit) = amount;
        duration
    }

    /// The amount that is written in a unit.
    pub fn part(&self, unit: DurationUnit) -> f64 {
        match unit {
            DurationUnit::Years => self.years,
            DurationUnit::Months => self.months,
            DurationUnit::Weeks => self.weeks,
            DurationUnit::Days => self.days,
            DurationUnit::Hours => self.hours,
            DurationUnit::Minutes => self.minutes,
            DurationUnit::Seconds => self.seconds,
            DurationUnit::Milliseconds => self.milliseconds,
        }
    }

    pub fn part_mut(&mut self, unit: DurationUnit) -> &mut f64 {
        match unit {
            DurationUnit::Years => &mut self.years,
            DurationUnit::Months => &mut self.months,
            DurationUnit::Weeks => &mut self.weeks,
            DurationUnit::Days => &mut self.days,
            DurationUnit::Hours => &mut self.hours,
            DurationUnit::Minutes => &mut self.minutes,
            DurationUnit::Seconds => &mut self.seconds,
            DurationUnit::Milliseconds => &mut self.milliseconds,
        }
    }

    /// With every amount changed in the same way.
    #[must_use]
    pub fn map(&self, change: impl Fn(f64) -> f64) -> Self {
        let mut duration = *self;
        for unit in DurationUnit::ALL {
            *duration.part_mut(unit) = change(self.part(unit));
        }
        duration
    }

    /// The sum, unit by unit.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = *self;
        for unit in DurationUnit::ALL {
            *sum.part_mut(unit) += other.part(unit);
        }
        sum
    }

    #[must_use]
    pub fn negated(&self) -> Self {
        // Without a negative zero, which would be written with its sign.
        self.map(|amount| if amount == 0.0 { 0.0 } else { -amount })
    }

    /// The whole of it, where a year has 365 days, a month 30 and a week 7.
    pub fn total_milliseconds(&self) -> f64 {
        let larger = DurationUnit::ALL.into_iter().rev().skip(1).filter(|unit| self.part(*unit) != 0.0);
        larger.fold(self.milliseconds, |sum, unit| sum + self.part(unit) * unit.holds(DurationUnit::Milliseconds))
    }

    /// The whole of it in one unit.
    pub fn in_unit(&self, unit: DurationUnit) -> f64 {
        self.shifted_to(&[unit]).part(unit)
    }

    /// With as much as possible in the largest units, none of them a fraction but the smallest.
    #[must_use]
    pub fn normalised(&self) -> Self {
        let mut duration = self.shifted_to(&DurationUnit::ALL);
        duration.roll_up(&DurationUnit::ALL);
        duration
    }

    /// The same length in these units only.
    #[must_use]
    pub fn shifted_to(&self, units: &[DurationUnit]) -> Self {
        // Without units there is nothing to convert to.
        let Some(last) = units.iter().copied().max() else { return *self };
        let mut built = Self::default();
        // What has found no place yet, in the unit it is counted in.
        let mut left: Vec<(DurationUnit, f64)> = Vec::new();
        for unit in DurationUnit::ALL {
            if units.contains(&unit) {
                let mut own = 0.0;
                for (larger, amount) in &mut left {
                    own += larger.holds(unit) * *amount;
                    // Taken, so that it is not counted again for a smaller unit.
                    *amount = 0.0;
                }
                own += self.part(unit);
                let whole = own.trunc();
                *built.part_mut(unit) = whole;
                // In thousandths, as Luxon does, which drops some of the noise behind the point.
                left.push((unit, (own * 1000.0 - whole * 1000.0) / 1000.0));
            } else if self.part(unit) != 0.0 {
                left.push((unit, self.part(unit)));
            }
        }
        for (unit, amount) in left {
            // What is left lies below the smallest unit, which alone may be a fraction.
            if amount != 0.0 {
                *built.part_mut(last) += if unit == last { amount } else { amount / last.holds(unit) };
            }
        }
        let mut units = units.to_vec();
        units.sort_unstable();
        units.dedup();
        built.roll_up(&units);
        built
    }

    /// Moves what fills a larger unit up, from the smallest on, and then fractions down. Neighbours are converted
    /// directly, so that 4 weeks become a month.
    fn roll_up(&mut self, units: &[DurationUnit]) {
        // Counted away from zero: all parts of a negative length are negative.
        let sign = if self.total_milliseconds() < 0.0 { -1.0 } else { 1.0 };
        for pair in units.windows(2).rev() {
            let (larger, smaller) = (pair[0], pair[1]);
            let factor = larger.holds(smaller);
            let rolled = (self.part(smaller) * sign / factor).floor();
            *self.part_mut(larger) += rolled * sign;
            *self.part_mut(smaller) -= rolled * factor * sign;
        }
        for pair in units.windows(2) {
            let (larger, smaller) = (pair[0], pair[1]);
            let fraction = self.part(larger) % 1.0;
            *self.part_mut(larger) -= fraction;
            *self.part_mut(smaller) += fraction * larger.holds(smaller);
        }
    }

    /// In English, the units that are not zero: `1 year, 2 months`. Nothing for no time at all.
    pub fn human_text(&self) -> String {
        let parts = DurationUnit::ALL.into_iter().filter(|unit| self.part(*unit) != 0.0).map(|unit| {
            let number = decimal_text(self.part(unit), 0, 3, false);
            let name = unit.name();
            // The text decides: 1.0004 is written as 1.
            let name = if matches!(number.as_str(), "1" | "-1") { name.trim_end_matches('s') } else { name };
            format!("{number} {name}")
        });
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// As in ISO 8601: `P1Y2M`, `PT36H`, `PT0S`. Milliseconds are part of the seconds.
impl fmt::Display for DurationValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = |parts: &[(f64, char)]| {
            let parts = parts.iter().filter(|(number, _)| *number != 0.0);
            parts.map(|(number, unit)| format!("{number}{unit}")).collect::<String>()
        };
        let date = written(&[(self.years, 'Y'), (self.months, 'M'), (self.weeks, 'W'), (self.days, 'D')]);
        // ISO has no letter for milliseconds.
        let seconds = self.seconds + self.milliseconds / 1000.0;
        let time = written(&[(self.hours, 'H'), (self.minutes, 'M'), (seconds, 'S')]);
        match (date.is_empty(), time.is_empty()) {
            (true, true) => f.write_str("PT0S"),
            (false, true) => write!(f, "P{date}"),
            (_, false) => write!(f, "P{date}T{time}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(days: f64) -> DurationValue {
        DurationValue::of(DurationUnit::Days, days)
    }

    /// Each was asked of Luxon 3.4.3.
    #[test]
    fn lengths_are_normalised_as_luxon_does() {
        for (duration, text) in [
            (days(45.0), "1 month, 2 weeks, 3 days"),
            (days(400.0), "1 year, 2 months, 1 week, 1 day"),
            (DurationValue::of(DurationUnit::Months, 1.5), "1 month, 2 weeks"),
            (DurationValue { years: 1.0, days: -1.0, ..Default::default() }, "11 months, 3 weeks, 6 days"),
            (DurationValue { hours: 1.0, days: -1.0, ..Default::default() }, "-23 hours"),
            (DurationValue::of(DurationUnit::Weeks, 4.0), "1 month"),
            (DurationValue::of(DurationUnit::Years, 1500.0), "1500 years"),
            (DurationValue::of(DurationUnit::Seconds, 0.5), "500 milliseconds"),
            (days(-1.0), "-1 day"),
            (days(0.0), ""),
        ] {
            assert_eq!(duration.normalised().human_text(), text, "{duration}");
        }
    }

    #[test]
    fn a_length_is_read_in_any_unit() {
        let minutes = DurationValue::of(DurationUnit::Minutes, 90.0);
        assert_eq!(minutes.in_unit(DurationUnit::Hours), 1.5);
        let year = DurationValue::of(DurationUnit::Years, 1.0);
        assert_eq!(year.in_unit(DurationUnit::Days), 365.0);
        assert_eq!(year.in_unit(DurationUnit::Weeks), 52.0);
        assert_eq!(days(1.0).total_milliseconds(), 86_400_000.0);
    }
}
