//! The environment of a query: the note that contains it, the clock, and its limits.

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{Timestamp, tz::TimeZone};

use super::{DataviewSettings, QueryHalt};

/// After this many steps it checks whether the caller still waits.
const STEPS_BETWEEN_LOOKS: u64 = 1024;

/// How much a query may do. A step is about one operator or function call on one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    pub steps: u64,
    /// Of values that are held at one time.
    pub bytes: u64,
    /// Nesting of expressions, values and calls.
    pub depth: usize,
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self { steps: 200_000_000, bytes: 512 << 20, depth: 128 }
    }
}

/// Everything a query depends on that is not in the vault. The same vault and context give the same answer.
pub struct QueryContext<'q> {
    /// The path of the note that contains the query, for `this` and for links; need not be readable.
    pub origin: Option<&'q str>,
    pub now: Timestamp,
    /// Of the person who asks.
    pub zone: TimeZone,
    pub limits: QueryLimits,
    pub dataview: DataviewSettings,
    steps: AtomicU64,
    bytes: AtomicU64,
    go_on: &'q (dyn Fn() -> bool + Sync),
    progress: Option<&'q (dyn Fn(u64, u64) + Sync)>,
}

impl<'q> QueryContext<'q> {
    /// `go_on` says whether the caller still waits.
    pub fn new(now: Timestamp, zone: TimeZone, go_on: &'q (dyn Fn() -> bool + Sync)) -> Self {
        Self {
            origin: None,
            now,
            zone,
            limits: QueryLimits::default(),
            dataview: DataviewSettings::default(),
            steps: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            go_on,
            progress: None,
        }
    }

    #[must_use]
    pub fn with_origin(self, origin: Option<&'q str>) -> Self {
        Self { origin, ..self }
    }

    #[must_use]
    pub fn with_limits(self, limits: QueryLimits) -> Self {
        Self { limits, ..self }
    }

    #[must_use]
    pub fn with_dataview(self, dataview: DataviewSettings) -> Self {
        Self { dataview, ..self }
    }

    /// Hears how many rows of how many are done.
    #[must_use]
    pub fn with_progress(self, progress: &'q (dyn Fn(u64, u64) + Sync)) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Counts work before it is done.
    pub fn step(&self, steps: u64) -> Result<(), QueryHalt> {
        let before = self.steps.fetch_add(steps, Ordering::Relaxed);
        let now = before.saturating_add(steps);
        if now > self.limits.steps {
            return Err(QueryHalt::TooManySteps { limit: self.limits.steps });
        }
        let looks = before / STEPS_BETWEEN_LOOKS != now / STEPS_BETWEEN_LOOKS;
        if looks && !(self.go_on)() { Err(QueryHalt::Cancelled) } else { Ok(()) }
    }

    /// Counts memory before it is taken. What is given back is not counted, so this bounds what a query ever made.
    pub fn hold(&self, bytes: usize) -> Result<(), QueryHalt> {
        let held = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed).saturating_add(bytes as u64);
        if held > self.limits.bytes { Err(QueryHalt::TooMuchMemory { limit: self.limits.bytes }) } else { Ok(()) }
    }

    pub fn steps_taken(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    pub fn progress(&self, done: usize, total: usize) {
        if let Some(progress) = self.progress {
            progress(done as u64, total as u64);
        }
    }
}

/// One step of a query that ran, for explanations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryStep {
    /// The clause as it was written: `WHERE rating > 3`.
    pub name: String,
    /// How many rows were left after it.
    pub rows: usize,
    /// The index that served it, if rows were not looked at.
    pub index: Option<&'static str>,
}

/// Rows that an error left out of the result, which the app does not mention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DroppedRows {
    /// The clause, filter or column that failed.
    pub step: String,
    pub count: usize,
    /// The first few, each once.
    pub messages: Vec<String>,
}

impl DroppedRows {
    /// More than these are counted but not quoted.
    const MOST_MESSAGES: usize = 3;

    pub fn new(step: impl Into<String>) -> Self {
        Self { step: step.into(), ..Self::default() }
    }

    pub fn add(&mut self, message: &str) {
        self.count += 1;
        if self.messages.len() < Self::MOST_MESSAGES && !self.messages.iter().any(|known| known == message) {
            self.messages.push(message.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(go_on: &(dyn Fn() -> bool + Sync)) -> QueryContext<'_> {
        let limits = QueryLimits { steps: 5_000, bytes: 100, depth: 8 };
        QueryContext::new(Timestamp::UNIX_EPOCH, TimeZone::UTC, go_on).with_limits(limits)
    }

    #[test]
    fn steps_and_bytes_end_where_the_limits_say() {
        let context = context(&|| true);
        assert!((0..5_000).all(|_| context.step(1).is_ok()));
        assert_eq!(context.step(1), Err(QueryHalt::TooManySteps { limit: 5_000 }));
        assert_eq!(context.hold(100), Ok(()));
        assert_eq!(context.hold(1), Err(QueryHalt::TooMuchMemory { limit: 100 }));
    }

    #[test]
    fn a_caller_that_no_longer_waits_is_noticed_soon() {
        let context = context(&|| false);
        let taken = (0..5_000).take_while(|_| context.step(1).is_ok()).count();
        assert!(taken < 2 * STEPS_BETWEEN_LOOKS as usize, "{taken}");
    }

    #[test]
    fn dropped_rows_are_counted_and_quoted_once() {
        let mut dropped = DroppedRows::new("where");
        for message in ["a", "b", "a", "c", "d"] {
            dropped.add(message);
        }
        assert_eq!((dropped.count, dropped.messages), (5, vec!["a".into(), "b".into(), "c".into()]));
    }
}
