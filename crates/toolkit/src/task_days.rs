//! Days and spans of days that callers name: `overdue`, `this_week`, `2026-04-14..2026-04-20`.

use jiff::{ToSpan, civil::Date};
use lapidary_operation::Reason;
use lapidary_query::WeekRule;

/// Which days a date may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayRange {
    /// Both ends inclusive.
    Days { from: Option<Date>, to: Option<Date> },
    /// There is none.
    NoDate,
}

/// What a date may be, for a refusal.
const DAY_WORDS: &str =
    "must be `overdue`, `today`, `tomorrow`, `this_week`, `none`, a date such as `2026-04-14`, or `FROM..TO`";

impl DayRange {
    pub fn parse(
        tool: &str,
        argument: &str,
        given: &str,
        today: Date,
        week: impl FnOnce() -> WeekRule,
    ) -> Result<Self, Reason> {
        let refused = || Reason::bad_argument(tool, argument, DAY_WORDS);
        let date = |text: &str| text.trim().parse::<Date>().map_err(|_| refused());
        // An open end: `..2026-04-14` is everything up to that day.
        let end = |text: &str| if text.trim().is_empty() { Ok(None) } else { date(text).map(Some) };
        let day = |date: Date| Self::Days { from: Some(date), to: Some(date) };
        let beyond = |_| refused();
        Ok(match given.trim() {
            "overdue" => Self::Days { from: None, to: Some(today.yesterday().map_err(beyond)?) },
            "today" => day(today),
            "tomorrow" => day(today.tomorrow().map_err(beyond)?),
            "this_week" => {
                // The first day of a week depends on the vault, and looking that up takes a while.
                let first = week().first_day(today);
                Self::Days { from: Some(first), to: Some(first.checked_add(6.days()).map_err(beyond)?) }
            }
            "none" => Self::NoDate,
            other => match other.split_once("..") {
                Some((from, to)) => {
                    let (from, to) = (end(from)?, end(to)?);
                    // A range of no days finds nothing, which is never what was meant.
                    if from.zip(to).is_some_and(|(from, to)| to < from) || (from.is_none() && to.is_none()) {
                        return Err(refused());
                    }
                    Self::Days { from, to }
                }
                None => day(date(other)?),
            },
        })
    }
}

/// A day that a date is set to; `None` removes it.
pub fn new_day(tool: &str, argument: &str, given: &str, today: Date) -> Result<Option<Date>, Reason> {
    let refused = || {
        let problem = "must be a date such as `2026-04-14`, `today`, `tomorrow`, or `none` to remove it";
        Reason::bad_argument(tool, argument, problem)
    };
    Ok(Some(match given.trim() {
        "none" => return Ok(None),
        "today" => today,
        "tomorrow" => today.tomorrow().map_err(|_| refused())?,
        other => other.parse().map_err(|_| refused())?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_named_in_words_and_numbers() {
        let day = |text: &str| text.parse::<Date>().ok();
        let today = day("2026-11-18").unwrap();
        let parse = |given: &str| DayRange::parse("t", "due", given, today, || WeekRule::ISO);
        for (given, from, to) in [
            ("overdue", None, day("2026-11-17")),
            ("today", day("2026-11-18"), day("2026-11-18")),
            ("tomorrow", day("2026-11-19"), day("2026-11-19")),
            ("this_week", day("2026-11-16"), day("2026-11-22")),
            ("2026-04-14", day("2026-04-14"), day("2026-04-14")),
            ("2026-04-14 .. 2026-04-20", day("2026-04-14"), day("2026-04-20")),
            ("..2026-04-20", None, day("2026-04-20")),
            ("2026-04-14..", day("2026-04-14"), None),
        ] {
            assert_eq!(parse(given), Ok(DayRange::Days { from, to }), "{given}");
        }
        assert_eq!(parse("none"), Ok(DayRange::NoDate));
        for given in ["", "..", "soon", "2026-02-30", "2026-04-20..2026-04-14", "14.4.2026"] {
            assert!(parse(given).is_err(), "{given}");
        }
        assert_eq!(new_day("t", "due", "none", today), Ok(None));
        assert_eq!(new_day("t", "due", "tomorrow", today), Ok(day("2026-11-19")));
        assert!(new_day("t", "due", "overdue", today).is_err());
    }
}
