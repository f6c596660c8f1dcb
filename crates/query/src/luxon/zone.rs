//! Time zones as Luxon tells them apart.

use std::sync::Arc;

use jiff::{Timestamp, tz::TimeZone};

/// Where a clock hangs. The local zone differs from the same zone by its name, as in Luxon.
#[derive(Clone, Debug)]
pub enum LuxonZone {
    /// Of the person who asks.
    Local(TimeZone),
    /// Minutes ahead of UTC.
    Fixed {
        minutes: i32,
    },
    Named {
        name: Arc<str>,
        zone: TimeZone,
    },
}

impl LuxonZone {
    pub const UTC: Self = Self::Fixed { minutes: 0 };

    /// `Europe/Berlin`, `utc`, `UTC+5:30`, `local`. Nothing if there is no such zone.
    pub fn named(name: &str, local: &Self) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        match lower.as_str() {
            "local" | "system" | "default" => return Some(local.clone()),
            "utc" | "gmt" => return Some(Self::UTC),
            _ => {}
        }
        if let Some(minutes) = lower.strip_prefix("utc").and_then(offset_minutes) {
            return Some(Self::Fixed { minutes });
        }
        let zone = TimeZone::get(name).ok()?;
        Some(Self::Named { name: name.into(), zone })
    }

    /// How many seconds its clocks are ahead of UTC at a moment. Beyond the years that jiff knows, as at their end.
    pub(super) fn offset_at(&self, milliseconds: f64) -> i32 {
        let zone = match self {
            Self::Fixed { minutes } => return minutes * 60,
            Self::Local(zone) | Self::Named { zone, .. } => zone,
        };
        let bounds = (Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond());
        // Beyond the years that jiff knows, the nearest one decides; a saturating cast turns NaN into 0.
        let moment = (milliseconds as i64).clamp(bounds.0, bounds.1);
        Timestamp::from_millisecond(moment).map_or(0, |moment| zone.to_offset(moment).seconds())
    }

    /// The moment at which the clocks show a local time, and their offset: the guess if it is true, else what it leads
    /// to. A time that was skipped is moved forward.
    pub(super) fn moment_of(&self, local: f64, guess: i32) -> (f64, i32) {
        let moment = |offset: i32| local - f64::from(offset) * 1000.0;
        // Luxon's method: two tries are enough, as clocks change rarely.
        let second = self.offset_at(moment(guess));
        if second == guess {
            return (moment(guess), guess);
        }
        let third = self.offset_at(moment(second));
        if second == third {
            return (moment(second), second);
        }
        // Neither offset leads to a clock that shows this time: it was skipped.
        (moment(second.min(third)), second.max(third))
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            // There is only one local zone at a time.
            (Self::Local(_), Self::Local(_)) => true,
            (Self::Fixed { minutes }, Self::Fixed { minutes: others }) => minutes == others,
            (Self::Named { name, .. }, Self::Named { name: others, .. }) => name == others,
            _ => false,
        }
    }

    /// `America/New_York`, `UTC+5:30`
    pub fn name(&self) -> String {
        match self {
            Self::Local(zone) => zone.iana_name().unwrap_or("UTC").to_owned(),
            Self::Fixed { minutes: 0 } => "UTC".to_owned(),
            Self::Fixed { minutes } => format!("UTC{}", narrow_offset(*minutes)),
            Self::Named { name, .. } => name.to_string(),
        }
    }
}

/// `+5`, `-03:30`
fn offset_minutes(text: &str) -> Option<i32> {
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['+', '-'])?;
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "00"));
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i32>().ok())?;
    ((1..=2).contains(&hours.len()) && minutes.len() == 2).then_some(())?;
    let total = number(hours)? * 60 + number(minutes)?;
    Some(if negative { -total } else { total })
}

/// `+5`, `-3:30`
pub(super) fn narrow_offset(minutes: i32) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
    if minutes == 0 { format!("{sign}{hours}") } else { format!("{sign}{hours}:{minutes}") }
}
