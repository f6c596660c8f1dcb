//! Rules by which tasks recur, as the Tasks plugin reads and applies them: `every 2 weeks on Monday when done`.

use jiff::{
    Span, ToSpan,
    civil::{Date, Weekday},
};

use crate::english::WEEKDAYS;

/// When a task is due again. The plugin knows more rules; what is not here cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecurrenceRule {
    every: i64,
    unit: RecurrenceUnit,
    /// Counted from the day on which the task was done, not from the day on which it was due.
    when_done: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RecurrenceUnit {
    Days,
    /// On these days of the week, or on the day of the last time.
    Weeks(Vec<Weekday>),
    /// On these days of the month, or on the day of the last time.
    Months(Vec<MonthDay>),
    Years,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MonthDay {
    /// From 1; negative from the end.
    Numbered(i8),
    /// The first, second or last Friday.
    Nth(i8, Weekday),
}

/// A rule that is rarer than this was not meant.
const RAREST: i64 = 1000;
/// How often a day that not every month has is looked for: the 31st, a fifth Friday.
const MOST_MONTHS: i64 = 60;

impl RecurrenceRule {
    /// `None` if it is not one of the rules that are applied here.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let (rule, when_done) = match text.strip_suffix("when done") {
            Some(rule) => (rule, true),
            None => (text.as_str(), false),
        };
        // A comma may touch the words around it.
        let rule = rule.replace(',', " , ");
        let words: Vec<&str> = rule.split_whitespace().collect();
        let (every, rest) = match words.strip_prefix(&["every"])? {
            [count, rest @ ..] if count.starts_with(|c: char| c.is_ascii_digit()) => (count.parse().ok()?, rest),
            rest => (1, rest),
        };
        if !(1..=RAREST).contains(&every) {
            return None;
        }
        let unit = match rest {
            ["day" | "days"] => RecurrenceUnit::Days,
            ["week" | "weeks"] => RecurrenceUnit::Weeks(Vec::new()),
            ["week" | "weeks", "on", days @ ..] => RecurrenceUnit::Weeks(weekdays(days)?),
            // Every second weekday has no meaning.
            ["weekday" | "weekdays"] if every == 1 => RecurrenceUnit::Weeks(WORKDAYS.to_vec()),
            ["month" | "months"] => RecurrenceUnit::Months(Vec::new()),
            ["month" | "months", "on", "the", days @ ..] => RecurrenceUnit::Months(month_days(days)?),
            ["year" | "years"] => RecurrenceUnit::Years,
            days if every == 1 => RecurrenceUnit::Weeks(weekdays(days)?),
            _ => return None,
        };
        Some(Self { every, unit, when_done })
    }

    /// The next day after the one that the last time was planned for, or after today. `None` beyond the calendar.
    pub fn next(&self, planned: Option<Date>, today: Date) -> Option<Date> {
        let last = planned.filter(|_| !self.when_done).unwrap_or(today);
        let later = |span: Span| last.checked_add(span).ok();
        match &self.unit {
            RecurrenceUnit::Days => later(self.every.days()),
            RecurrenceUnit::Weeks(days) if days.is_empty() => later((7 * self.every).days()),
            RecurrenceUnit::Weeks(days) => self.next_weekday(last, days),
            // A day that the month does not have becomes its last one, as in the plugin.
            RecurrenceUnit::Months(days) if days.is_empty() => later(self.every.months()),
            RecurrenceUnit::Months(days) => self.next_in_month(last, days),
            RecurrenceUnit::Years => later(self.every.years()),
        }
    }

    fn next_weekday(&self, last: Date, days: &[Weekday]) -> Option<Date> {
        // Weeks are counted from the Monday of the week of the last time.
        let begun = i64::from(last.weekday().to_monday_zero_offset());
        let fits = |ahead: &i64| {
            let is_week = (begun + ahead) / 7 % self.every == 0;
            is_week && last.checked_add(ahead.days()).is_ok_and(|day| days.contains(&day.weekday()))
        };
        (1..=7 * self.every + 7).find(fits).and_then(|ahead| last.checked_add(ahead.days()).ok())
    }

    fn next_in_month(&self, last: Date, days: &[MonthDay]) -> Option<Date> {
        let first = last.first_of_month();
        for months in (0..).map(|count| count * self.every).take(MOST_MONTHS as usize) {
            let month = first.checked_add(months.months()).ok()?;
            let found = days.iter().filter_map(|day| day.in_month(month)).filter(|day| *day > last).min();
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

const WORKDAYS: [Weekday; 5] =
    [Weekday::Monday, Weekday::Tuesday, Weekday::Wednesday, Weekday::Thursday, Weekday::Friday];

impl MonthDay {
    fn in_month(self, first: Date) -> Option<Date> {
        match self {
            Self::Numbered(day) if day > 0 => Date::new(first.year(), first.month(), day).ok(),
            Self::Numbered(day) => Date::new(first.year(), first.month(), first.days_in_month() + 1 + day).ok(),
            Self::Nth(nth, weekday) => first.nth_weekday_of_month(nth, weekday).ok(),
        }
    }
}

/// `monday, wednesday and friday`; names may be cut to two letters or more.
fn weekdays(words: &[&str]) -> Option<Vec<Weekday>> {
    listed(words)?.into_iter().map(|words| if let [word] = words { weekday(word) } else { None }).collect()
}

fn weekday(word: &str) -> Option<Weekday> {
    let fits = |name: &str| word.len() >= 2 && name.to_lowercase().starts_with(word);
    let at = WEEKDAYS.iter().position(|name| fits(name))?;
    Weekday::from_monday_zero_offset(i8::try_from(at).ok()?).ok()
}

/// `1st, 15th and last`, `last friday`.
fn month_days(words: &[&str]) -> Option<Vec<MonthDay>> {
    let day = |words: &[&str]| match words {
        [day] => Some(MonthDay::Numbered(ordinal(day).filter(|day| (-31..=31).contains(day))?)),
        [nth, day] => Some(MonthDay::Nth(ordinal(nth).filter(|nth| (-5..=5).contains(nth))?, weekday(day)?)),
        _ => None,
    };
    listed(words)?.into_iter().map(day).collect()
}

/// The parts between commas and `and`, none of which is empty.
fn listed<'w>(words: &'w [&'w str]) -> Option<Vec<&'w [&'w str]>> {
    let parts: Vec<&[&str]> = words.split(|word| matches!(*word, "," | "and")).collect();
    parts.iter().all(|part| !part.is_empty()).then_some(parts)
}

fn ordinal(word: &str) -> Option<i8> {
    match word {
        "last" => Some(-1),
        "first" => Some(1),
        "second" => Some(2),
        "third" => Some(3),
        _ => {
            let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let is_ordinal = matches!(&word[digits.len()..], "st" | "nd" | "rd" | "th");
            digits.parse().ok().filter(|day| is_ordinal && *day > 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checked against rrule.js 2.8.1, which the Tasks plugin uses; the plugin itself shortens months and years.
    #[test]
    fn the_next_day_is_that_of_the_plugin() {
        for (rule, planned, expected) in [
            ("every day", "2026-11-18", "2026-11-19"),
            ("every 3 days", "2026-11-18", "2026-11-21"),
            ("every week", "2026-12-30", "2027-01-06"),
            ("every 2 weeks", "2026-11-18", "2026-12-02"),
            ("every weekday", "2026-11-20", "2026-11-23"),
            ("every week on Monday", "2026-11-18", "2026-11-23"),
            ("every week on Monday", "2026-11-23", "2026-11-30"),
            ("every week on Tuesday, Friday", "2026-11-17", "2026-11-20"),
            ("every week on Tue and Fri", "2026-11-20", "2026-11-24"),
            ("every 2 weeks on Monday", "2026-11-16", "2026-11-30"),
            ("every 2 weeks on Monday, Friday", "2026-11-16", "2026-11-20"),
            ("every Sunday", "2026-11-18", "2026-11-22"),
            ("every month", "2026-01-31", "2026-02-28"),
            ("every 2 months", "2026-12-31", "2027-02-28"),
            ("every month on the 1st", "2026-11-18", "2026-12-01"),
            ("every month on the 31st", "2026-01-31", "2026-03-31"),
            ("every month on the last", "2026-01-31", "2026-02-28"),
            ("every month on the 1st and 15th", "2026-11-01", "2026-11-15"),
            ("every month on the last Friday", "2026-11-18", "2026-11-27"),
            ("every month on the 2nd Wednesday", "2026-11-18", "2026-12-09"),
            ("every 3 months on the 15th", "2026-11-15", "2027-02-15"),
            ("every year", "2028-02-29", "2029-02-28"),
            ("EVERY Week When Done", "2026-01-01", "2026-11-25"),
            ("every month on the 1st when done", "2026-01-01", "2026-12-01"),
        ] {
            let today: Date = "2026-11-18".parse().unwrap();
            let rule = RecurrenceRule::parse(rule).unwrap_or_else(|| panic!("{rule}"));
            assert_eq!(rule.next(Some(planned.parse().unwrap()), today), Some(expected.parse().unwrap()), "{rule:?}");
        }
    }

    #[test]
    fn other_rules_are_not_guessed() {
        for rule in [
            "",
            "every",
            "every 0 days",
            "every 2000 days",
            "every January",
            "every year on the 1st",
            "daily",
            "every week on",
            "every week on Monday and",
            "every week on m",
            "every month on the 0th",
            "every month on the 1",
            "every month on the 2nd 3rd",
            "every 2 weekdays",
            "every hour",
            "every -1 days",
            "every day until 2027",
            "every other day",
            "every month on the 300th",
            "every month on the é",
        ] {
            assert_eq!(RecurrenceRule::parse(rule), None, "{rule}");
        }
    }

    #[test]
    fn time_ends() {
        let last: Date = "9999-12-31".parse().unwrap();
        for rule in ["every day", "every week on Monday", "every month on the 1st", "every year"] {
            assert_eq!(RecurrenceRule::parse(rule).unwrap().next(Some(last), last), None, "{rule}");
        }
        // Only leap years have such a February.
        let rare = RecurrenceRule::parse("every 12 months on the 29th").unwrap();
        assert_eq!(rare.next(Some("2026-02-01".parse().unwrap()), last), "2028-02-29".parse().ok());
    }
}
