//! Dates and lengths of time, added and subtracted.

use crate::{DurationUnit, DurationValue};

use super::{LuxonDate, WallClock, days_in_month};

/// Calendars end long before; beyond it, whole numbers would not be counted right.
const MOST_STEPS: f64 = 1e9;

impl LuxonDate {
    /// Years and months first, on the calendar, where a day that a month lacks becomes its last; then weeks and days, on
    /// the calendar too; then everything smaller as time that passes.
    #[must_use]
    pub fn plus(&self, duration: &DurationValue) -> Self {
        if !self.is_valid() {
            return self.clone();
        }
        let whole = |amount: f64| if amount.abs() <= MOST_STEPS { Some(amount.trunc() as i64) } else { None };
        let steps = || {
            let year = self.wall.year + whole(duration.years)?;
            let month = self.wall.month + whole(duration.months)?;
            // Before days are added: 31 January plus a month and a day is 1 March.
            let day = self.wall.day.min(days_in_month(year, month));
            let day = day + whole(duration.days)? + whole(duration.weeks)? * 7;
            Some(WallClock { year, month, day, ..self.wall })
        };
        let Some(wall) = steps() else { return Self::at(f64::NAN, self.zone.clone()) };
        // Fractions of calendar units have no place on a calendar, and pass as time.
        let rest = DurationValue {
            years: duration.years.fract(),
            months: duration.months.fract(),
            weeks: duration.weeks.fract(),
            days: duration.days.fract(),
            ..*duration
        };
        let rest = rest.in_unit(DurationUnit::Milliseconds);
        let (milliseconds, offset) = self.zone.moment_of(wall.utc_milliseconds(), self.offset);
        // The offset is kept: a time that occurs twice stays the one it was.
        if rest == 0.0 && milliseconds.abs() <= super::LARGEST_MILLISECONDS {
            Self::with_offset(milliseconds, self.zone.clone(), offset)
        } else {
            Self::at(milliseconds + rest, self.zone.clone())
        }
    }

    #[must_use]
    pub fn minus(&self, duration: &DurationValue) -> Self {
        self.plus(&duration.negated())
    }

    /// How much later it is than another date: years, months and days on the calendar, then the rest as time.
    pub fn difference(&self, other: &Self) -> DurationValue {
        if !self.is_valid() || !other.is_valid() {
            return DurationValue::of(DurationUnit::Milliseconds, f64::NAN);
        }
        let other_is_later = other.milliseconds > self.milliseconds;
        // Counted forwards and then negated, as months have no fixed length.
        let (earlier, later) = if other_is_later { (self, other) } else { (other, self) };
        let between = between(earlier, later);
        if other_is_later { between.negated() } else { between }
    }

    /// The first moment of its day, week (from Monday), month or year.
    #[must_use]
    pub fn start_of(&self, unit: DurationUnit) -> Self {
        let WallClock { year, month, day, .. } = self.wall;
        match unit {
            DurationUnit::Years => self.with_wall(WallClock::midnight(year, 1, 1)),
            DurationUnit::Months => self.with_wall(WallClock::midnight(year, month, 1)),
            DurationUnit::Weeks => self.with_wall(WallClock::midnight(year, month, day - (self.weekday() - 1))),
            _ => self.with_wall(WallClock::midnight(year, month, day)),
        }
    }

    /// The last millisecond of it.
    #[must_use]
    pub fn end_of(&self, unit: DurationUnit) -> Self {
        // In Luxon's order: one unit on first, then to the start.
        let next = self.plus(&DurationValue::of(unit, 1.0)).start_of(unit);
        next.minus(&DurationValue::of(DurationUnit::Milliseconds, 1.0))
    }
}

/// Steps of a larger unit are tried first; one that leads too far is taken back.
fn between(earlier: &LuxonDate, later: &LuxonDate) -> DurationValue {
    let mut steps = DurationValue::default();
    let mut cursor = earlier.clone();
    for unit in [DurationUnit::Years, DurationUnit::Months, DurationUnit::Days] {
        *steps.part_mut(unit) = match unit {
            DurationUnit::Years => (later.wall.year - cursor.wall.year) as f64,
            DurationUnit::Months => {
                (later.wall.month - cursor.wall.month + (later.wall.year - cursor.wall.year) * 12) as f64
            }
            _ => (later.days() - cursor.days()) as f64,
        };
        // From the beginning each time, with all steps together: one after the other would round at the end of months
        // twice.
        let reached = earlier.plus(&steps);
        if reached.milliseconds <= later.milliseconds {
            cursor = reached;
            continue;
        }
        *steps.part_mut(unit) -= 1.0;
        cursor = earlier.plus(&steps);
        // In other zones one step back may not be enough.
        if cursor.milliseconds > later.milliseconds {
            *steps.part_mut(unit) -= 1.0;
            cursor = earlier.plus(&steps);
        }
    }
    let rest = DurationValue::of(DurationUnit::Milliseconds, later.milliseconds - cursor.milliseconds);
    let time = [DurationUnit::Hours, DurationUnit::Minutes, DurationUnit::Seconds, DurationUnit::Milliseconds];
    rest.shifted_to(&time).plus(&steps)
}
