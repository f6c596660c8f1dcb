//! Durations: parts of a calendar and of a clock, with the text that moment.js gives them.

use jiff::{Span, Timestamp, ToSpan, Unit, Zoned, tz::TimeZone};

use super::base_date::precise;
use lapidary_query::DurationValue;

const DAY: f64 = 86_400_000.0;
/// Days in four hundred years, and their months.
const DAYS_PER_MONTH: f64 = 146_097.0 / 4800.0;

/// Weeks are seven days.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BaseDuration {
    pub years: f64,
    pub months: f64,
    pub days: f64,
    pub hours: f64,
    pub minutes: f64,
    pub seconds: f64,
    pub milliseconds: f64,
}

impl BaseDuration {
    pub(super) fn of_milliseconds(milliseconds: f64) -> Self {
        Self { milliseconds, ..Self::default() }
    }

    /// `2w`, `1 day`, `-3M`, `1d 2h`, or ISO 8601. `M` are months, `m` minutes.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        // No unit begins with it.
        if text.trim_start_matches(['-', '+']).starts_with('P') { iso(text) } else { spoken(text) }
    }

    /// The distance as moment.js measures it: whole months from the earlier on, then milliseconds.
    pub(super) fn between(from: &Zoned, to: &Zoned) -> Self {
        let (early, late, sign) = if from <= to { (from, to, 1.0) } else { (to, from, -1.0) };
        let milliseconds =
            |from: &Zoned| precise(late.timestamp().as_millisecond() - from.timestamp().as_millisecond());
        let whole = || {
            let month = |date: &Zoned| i64::from(date.year()) * 12 + i64::from(date.month());
            let shifted = |months: i64| early.checked_add(Span::new().try_months(months).ok()?).ok();
            let mut months = month(late) - month(early);
            // The months of the calendar may be one too many, if the day has not come yet.
            if shifted(months)? > *late {
                months -= 1;
            }
            let rest = milliseconds(&shifted(months)?);
            Some(Self { months: precise(months), milliseconds: rest, ..Self::default() })
        };
        // Beyond the calendar, there are no months to count.
        whole().unwrap_or_else(|| Self::of_milliseconds(milliseconds(early))).scaled(sign)
    }

    fn parts(&mut self) -> [&mut f64; 7] {
        [
            &mut self.years,
            &mut self.months,
            &mut self.days,
            &mut self.hours,
            &mut self.minutes,
            &mut self.seconds,
            &mut self.milliseconds,
        ]
    }

    pub(super) fn scaled(mut self, by: f64) -> Self {
        self.parts().into_iter().for_each(|part| *part *= by);
        self
    }

    pub(super) fn divided(mut self, by: f64) -> Self {
        self.parts().into_iter().for_each(|part| *part /= by);
        self
    }

    pub(super) fn plus(mut self, mut other: Self, sign: f64) -> Self {
        self.parts().into_iter().zip(other.parts()).for_each(|(part, more)| *part += sign * *more);
        self
    }

    pub(super) fn is_zero(self) -> bool {
        self == Self::default()
    }

    /// Whether it has parts of a clock.
    pub(super) fn has_time(&self) -> bool {
        let clock = [self.hours, self.minutes, self.seconds, self.milliseconds];
        clock.into_iter().any(|part| part != 0.0) || self.days.fract() != 0.0
    }

    fn clock_milliseconds(self) -> f64 {
        self.hours * 3_600_000.0 + self.minutes * 60_000.0 + self.seconds * 1000.0 + self.milliseconds
    }

    /// Whole months, whole days and milliseconds; fractions go on to the next smaller unit.
    #[expect(clippy::cast_possible_truncation, reason = "what is too large is refused where it is added")]
    pub(super) fn calendar(self) -> (i64, i64, i64) {
        let months = self.years * 12.0 + self.months;
        let days = self.days + months.fract() * 30.0;
        let milliseconds = self.clock_milliseconds() + days.fract() * DAY;
        (months.trunc() as i64, days.trunc() as i64, milliseconds.round() as i64)
    }

    /// Its length from a fixed day on, which is how the app turns months into days.
    pub(super) fn length(self) -> f64 {
        let (months, days, milliseconds) = self.calendar();
        // Without months it needs no calendar, and keeps its fractions.
        if months == 0 {
            return self.days * DAY + self.clock_milliseconds();
        }
        let added = reference_day().and_then(|day| {
            let day = day.checked_add(Span::new().try_months(months).ok()?).ok()?;
            day.checked_add(Span::new().try_days(days).ok()?).ok()
        });
        let calendar = added.map_or(precise(months) * DAYS_PER_MONTH * DAY + precise(days) * DAY, |day| {
            precise(day.timestamp().as_millisecond())
        });
        calendar + precise(milliseconds)
    }

    /// The whole length in one unit, with its fraction.
    pub(super) fn in_unit(self, unit: &str) -> Option<f64> {
        let length = self.length();
        Some(match unit {
            "years" => self.in_months() / 12.0,
            "months" => self.in_months(),
            "weeks" => length / (7.0 * DAY),
            "days" => length / DAY,
            "hours" => length / 3_600_000.0,
            "minutes" => length / 60_000.0,
            "seconds" => length / 1000.0,
            "milliseconds" => length,
            _ => return None,
        })
    }

    fn in_months(self) -> f64 {
        let measured = || {
            let from = reference_day()?;
            let to = from.checked_add(Span::new().try_milliseconds(self.length() as i64).ok()?).ok()?;
            let span = from.until((Unit::Month, &to)).ok()?;
            let whole = i64::from(span.get_years()) * 12 + i64::from(span.get_months());
            let anchor = from.checked_add(whole.months()).ok()?;
            let next = if to < from { anchor.checked_sub(1.month()) } else { anchor.checked_add(1.month()) }.ok()?;
            let passed = to.timestamp().as_millisecond() - anchor.timestamp().as_millisecond();
            let month = (next.timestamp().as_millisecond() - anchor.timestamp().as_millisecond()).abs();
            Some(precise(whole) + precise(passed) / precise(month))
        };
        measured().unwrap_or(self.length() / DAY / DAYS_PER_MONTH)
    }

    /// `a few seconds`, `2 hours`, `14 days`: without its sign, with the thresholds of moment.js.
    pub(super) fn humanised(self) -> String {
        let months = self.years * 12.0 + self.months;
        // moment.js turns months into days for the smaller units, and days into months for the larger ones.
        let days = self.days + (months * DAYS_PER_MONTH).round();
        let milliseconds = (days * DAY + self.clock_milliseconds()).abs();
        let whole = |unit: f64| (milliseconds / unit).round();
        let in_months = (months + (self.days + self.clock_milliseconds() / DAY) / DAYS_PER_MONTH).abs();
        let (seconds, minutes, hours, days) = (whole(1000.0), whole(60_000.0), whole(3_600_000.0), whole(DAY));
        let (months, years) = (in_months.round(), (in_months / 12.0).round());
        match () {
            // The thresholds are those of moment.js.
            () if seconds <= 44.0 => "a few seconds".to_owned(),
            () if minutes <= 1.0 => "a minute".to_owned(),
            () if minutes < 45.0 => format!("{minutes} minutes"),
            () if hours <= 1.0 => "an hour".to_owned(),
            () if hours < 22.0 => format!("{hours} hours"),
            () if days <= 1.0 => "a day".to_owned(),
            () if days < 26.0 => format!("{days} days"),
            () if months <= 1.0 => "a month".to_owned(),
            () if months < 11.0 => format!("{months} months"),
            () if years <= 1.0 => "a year".to_owned(),
            () => format!("{years} years"),
        }
    }

    pub(super) fn to_shared(self) -> DurationValue {
        let Self { years, months, days, hours, minutes, seconds, milliseconds } = self;
        DurationValue { years, months, weeks: 0.0, days, hours, minutes, seconds, milliseconds }
    }
}

/// The day that lengths are counted from.
fn reference_day() -> Option<Zoned> {
    Some(Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC))
}

/// One or several numbers with units.
fn spoken(text: &str) -> Option<BaseDuration> {
    let mut duration = BaseDuration::default();
    let mut rest = text;
    let mut count = 0;
    while !rest.is_empty() && (count == 0 || takes_several(text)) {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let sign = usize::from(rest.starts_with('-'));
        let end = sign + digits(&rest[sign..]);
        let number: f64 = rest[..end].parse().ok()?;
        let unit_text = rest[end..].trim_start();
        let length = unit_text.bytes().take_while(u8::is_ascii_alphabetic).count();
        add(&mut duration, &unit_text[..length], number)?;
        rest = unit_text[length..].trim_start_matches([' ', ',', '\t']);
        count += 1;
    }
    (count > 0 && rest.is_empty()).then_some(duration)
}

/// Whether a text may have several units: `1d 2h`.
fn takes_several(_text: &str) -> bool {
    true
}

fn add(duration: &mut BaseDuration, unit: &str, number: f64) -> Option<()> {
    // One letter has its case: `M` are months, `m` minutes. Words have none.
    let (part, factor) = match unit {
        "y" => (&mut duration.years, 1.0),
        "M" => (&mut duration.months, 1.0),
        "w" => (&mut duration.days, 7.0),
        "d" => (&mut duration.days, 1.0),
        "h" => (&mut duration.hours, 1.0),
        "m" => (&mut duration.minutes, 1.0),
        "s" => (&mut duration.seconds, 1.0),
        "ms" => (&mut duration.milliseconds, 1.0),
        word => match word.to_ascii_lowercase().as_str() {
            "year" | "years" => (&mut duration.years, 1.0),
            "month" | "months" => (&mut duration.months, 1.0),
            "week" | "weeks" => (&mut duration.days, 7.0),
            "day" | "days" => (&mut duration.days, 1.0),
            "hour" | "hours" => (&mut duration.hours, 1.0),
            "minute" | "minutes" => (&mut duration.minutes, 1.0),
            "second" | "seconds" => (&mut duration.seconds, 1.0),
            "millisecond" | "milliseconds" => (&mut duration.milliseconds, 1.0),
            _ => return None,
        },
    };
    *part += number * factor;
    Some(())
}

/// `P1Y2M3W4DT5H6M7.5S`, with a sign for all of it or for a part.
fn iso(text: &str) -> Option<BaseDuration> {
    let negative = text.starts_with('-');
    let rest = text.trim_start_matches(['-', '+']).strip_prefix('P')?;
    let (date, time) = rest.split_once('T').unwrap_or((rest, ""));
    let mut duration = BaseDuration::default();
    let mut count = 0;
    for (part, units) in [(date, "YMWD"), (time, "HMS")] {
        let mut rest = part;
        while !rest.is_empty() {
            let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
            let number: f64 = rest[..end].replace(',', ".").parse().ok()?;
            let unit = &rest[end..=end];
            units.contains(unit).then_some(())?;
            let lower = unit.to_ascii_lowercase();
            // `M` before the `T` are months, behind it minutes.
            let unit = if unit == "M" && units == "YMWD" { unit } else { &lower };
            add(&mut duration, unit, number)?;
            rest = &rest[end + 1..];
            count += 1;
        }
    }
    (count > 0).then(|| duration.scaled(if negative { -1.0 } else { 1.0 }))
}
