//! Moments, and the lifetime of a token.

use std::{fmt, str::FromStr, time::SystemTime};

/// Seconds since 1970. The clock is the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnixSeconds(pub i64);

impl From<SystemTime> for UnixSeconds {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH);
        // A clock before 1970 counts as 1970.
        Self(since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX)))
    }
}

/// The lifetime of a token from its creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenLifetime {
    Seconds(i64),
    Forever,
}

const DAY: i64 = 24 * 60 * 60;
const UNIT_SECONDS: [(char, i64); 5] = [('m', 60), ('h', 60 * 60), ('d', DAY), ('w', 7 * DAY), ('y', 365 * DAY)];
/// A hundred years is a mistake, not a lifetime.
const MAX_SECONDS: i64 = 100 * 365 * DAY;

impl Default for TokenLifetime {
    fn default() -> Self {
        Self::Seconds(90 * DAY)
    }
}

impl TokenLifetime {
    pub fn end(self, now: UnixSeconds) -> Option<UnixSeconds> {
        match self {
            Self::Seconds(seconds) => Some(UnixSeconds(now.0.saturating_add(seconds))),
            Self::Forever => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a number and a unit, like 30d, 12h, 45m, 2w or 1y, or `never`")]
pub struct LifetimeError;

impl FromStr for TokenLifetime {
    type Err = LifetimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("never") {
            return Ok(Self::Forever);
        }
        let unit = text.chars().last().ok_or(LifetimeError)?;
        let seconds = UNIT_SECONDS.iter().find(|(letter, _)| *letter == unit).ok_or(LifetimeError)?.1;
        // The unit is one ASCII letter, so this cuts at a character.
        let number: i64 = text[..text.len() - 1].parse().map_err(|_| LifetimeError)?;
        // Zero and negative numbers would make a token that is never valid.
        let total = number.checked_mul(seconds).filter(|total| (1..=MAX_SECONDS).contains(total));
        total.map(Self::Seconds).ok_or(LifetimeError)
    }
}

impl fmt::Display for TokenLifetime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(seconds) => write!(f, "{} days", seconds / DAY),
            Self::Forever => f.write_str("never"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_are_written_with_a_unit() {
        for (text, seconds) in [("30d", 30 * DAY), ("12h", 43_200), ("45m", 2_700), ("2w", 14 * DAY), ("1y", 365 * DAY)]
        {
            assert_eq!(text.parse(), Ok(TokenLifetime::Seconds(seconds)), "{text}");
        }
        assert_eq!("Never".parse(), Ok(TokenLifetime::Forever));
        for text in ["", "d", "0d", "-1d", "30", "1 d", "9999999999999999999d", "101y", "3é"] {
            assert_eq!(text.parse::<TokenLifetime>(), Err(LifetimeError), "{text}");
        }
    }
}
