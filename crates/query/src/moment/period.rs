//! Days, weeks, months, quarters and years.

use jiff::{Span, civil::Date};

use super::WeekRule;

/// A span of time that has its own note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    Daily,
    Weekly,
    Monthly,
    Quarterly,
    Yearly,
}

impl Period {
    pub const ALL: [Self; 5] = [Self::Daily, Self::Weekly, Self::Monthly, Self::Quarterly, Self::Yearly];

    pub fn name(self) -> &'static str {
        match self {
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
            Self::Quarterly => "quarterly",
            Self::Yearly => "yearly",
        }
    }

    /// The default name format of its notes.
    pub fn default_format(self) -> &'static str {
        match self {
            Self::Daily => "YYYY-MM-DD",
            Self::Weekly => "gggg-[W]ww",
            Self::Monthly => "YYYY-MM",
            Self::Quarterly => "YYYY-[Q]Q",
            Self::Yearly => "YYYY",
        }
    }

    /// The day that is this many spans later, or earlier; `None` beyond the calendar.
    pub fn later(self, day: Date, count: i32) -> Option<Date> {
        let count = i64::from(count);
        let span = match self {
            Self::Daily => Span::new().try_days(count),
            Self::Weekly => Span::new().try_weeks(count),
            Self::Monthly => Span::new().try_months(count),
            Self::Quarterly => Span::new().try_months(3 * count),
            Self::Yearly => Span::new().try_years(count),
        };
        day.checked_add(span.ok()?).ok()
    }

    /// All days of the span that contains a day: that day, and then the others from the first on.
    pub fn days(self, day: Date, week: WeekRule) -> impl Iterator<Item = Date> {
        let quarter_month = (day.month() - 1) / 3 * 3 + 1;
        let in_month = |month: i8| Date::new(day.year(), month, 1).unwrap_or(day);
        let first = match self {
            Self::Daily => day,
            Self::Weekly => week.first_day(day),
            Self::Monthly => in_month(day.month()),
            Self::Quarterly => in_month(quarter_month),
            Self::Yearly => in_month(1),
        };
        let same = move |other: &Date| match self {
            Self::Daily => *other == day,
            Self::Weekly => (*other - first).get_days() < 7,
            Self::Monthly => (other.year(), other.month()) == (day.year(), day.month()),
            Self::Quarterly => other.year() == day.year() && (other.month() - 1) / 3 == (day.month() - 1) / 3,
            Self::Yearly => other.year() == day.year(),
        };
        // The calendar ends at the year 9999, and the span with it.
        let next = |date: &Date| date.tomorrow().ok();
        let all = std::iter::successors(Some(first), next).take_while(same).filter(move |other| *other != day);
        std::iter::once(day).chain(all)
    }
}
