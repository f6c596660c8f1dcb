//! Dates with their precision and time zone.

use std::{fmt, sync::Arc};

use jiff::{
    Timestamp,
    civil::DateTime,
    tz::{Offset, TimeZone},
};

/// A date as written: a wall clock, whether a time of day was given, and the time zone.
///
/// The user's time zone is not known here; [`DateValue::timestamp`] takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateValue {
    pub civil: DateTime,
    pub has_time: bool,
    pub zone: DateZone,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DateZone {
    /// Not given, so it is the user's time zone.
    Local,
    Offset(Offset),
    /// `Europe/Berlin`
    Named(Arc<str>),
}

impl DateValue {
    /// A moment in a time zone.
    pub fn at(timestamp: Timestamp, local: &TimeZone) -> Self {
        Self { civil: local.to_datetime(timestamp), has_time: true, zone: DateZone::Local }
    }

    /// The moment. A wall clock time that was skipped or repeated there is read as in RFC 5545; `None` if it is out of
    /// range or the zone is unknown.
    pub fn timestamp(&self, local: &TimeZone) -> Option<Timestamp> {
        let zone = match &self.zone {
            DateZone::Local => local.clone(),
            DateZone::Offset(offset) => offset.to_time_zone(),
            DateZone::Named(name) => TimeZone::get(name).ok()?,
        };
        zone.to_timestamp(self.civil).ok()
    }
}

/// As in ISO 8601: `2026-06-10`, `2026-06-10T12:34:56`, `2026-06-10T12:34:56+02:00`.
impl fmt::Display for DateValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.has_time {
            return write!(f, "{}", self.civil.date());
        }
        write!(f, "{}", self.civil)?;
        match &self.zone {
            DateZone::Local => Ok(()),
            DateZone::Offset(offset) if *offset == Offset::UTC => write!(f, "Z"),
            DateZone::Offset(offset) => {
                let seconds = offset.seconds();
                let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs() / 60);
                // With minutes in any case: what reads ISO dates elsewhere may not take `+05`.
                write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            DateZone::Named(name) => write!(f, "[{name}]"),
        }
    }
}
