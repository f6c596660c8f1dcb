//! The environment of a query: the note that contains it, the clock, and its limits.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, ThreadId},
};

use jiff::{Timestamp, tz::TimeZone};
use lapidary_note::{MemoryCharges, count_steps, current_charges};

use super::{DataviewSettings, QueryHalt};

/// After this many steps it checks whether the caller still waits.
const STEPS_BETWEEN_LOOKS: u64 = 1024;
/// Memory is charged to the call in portions of this size.
const CHARGED_PORTION: u64 = 1 << 20;

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

/// What a query holds, charged to the memory that all calls share, until it ends.
struct QueryCharge {
    account: Option<Arc<dyn MemoryCharges>>,
    charged: AtomicU64,
    /// The thread of the call; the others work for it.
    thread: ThreadId,
}

impl QueryCharge {
    fn new() -> Self {
        Self { account: current_charges(), charged: AtomicU64::new(0), thread: thread::current().id() }
    }

    /// Whether the call may hold this much.
    fn raise_to(&self, bytes: u64, go_on: &dyn Fn() -> bool) -> bool {
        // Not every thread is charged; then nothing has to be asked.
        let Some(account) = &self.account else { return true };
        if bytes <= self.charged.load(Ordering::Relaxed) {
            return true;
        }
        // In portions, so that not every value asks the account.
        let wanted = bytes.next_multiple_of(CHARGED_PORTION);
        // First, so that unwinding releases it. Another thread may have charged more meanwhile.
        let more = wanted.saturating_sub(self.charged.fetch_max(wanted, Ordering::Relaxed));
        // Only the thread of the call may be unwound when there is no room; others report it.
        if thread::current().id() == self.thread {
            account.hold(more);
            return true;
        }
        account.hold_aside(more, go_on)
    }
}

impl Drop for QueryCharge {
    fn drop(&mut self) {
        if let Some(account) = &self.account {
            // All of it at once: what a query holds is not given back in between.
            account.release(*self.charged.get_mut());
        }
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
    /// The rows of the result that are shown, if not all are: the others are only counted.
    window: Option<Range<usize>>,
    steps: AtomicU64,
    bytes: AtomicU64,
    charge: QueryCharge,
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
            window: None,
            steps: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            charge: QueryCharge::new(),
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

    #[must_use]
    pub fn with_window(self, window: Option<Range<usize>>) -> Self {
        Self { window, ..self }
    }

    /// Hears how many rows of how many are done.
    #[must_use]
    pub fn with_progress(self, progress: &'q (dyn Fn(u64, u64) + Sync)) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// The rows that are shown, of this number in total.
    pub fn shown(&self, rows: usize) -> Range<usize> {
        match &self.window {
            Some(window) => {
                // A window beyond the end is empty, not an error.
                let start = window.start.min(rows);
                start..window.end.clamp(start, rows)
            }
            None => 0..rows,
        }
    }

    /// Whether all rows are shown, however many there are.
    pub fn shows_all(&self) -> bool {
        self.window.is_none()
    }

    /// Whether the row at this place of the result is shown.
    pub fn shows(&self, place: usize) -> bool {
        self.window.as_ref().is_none_or(|window| window.contains(&place))
    }

    /// Counts work before it is done.
    pub fn step(&self, steps: u64) -> Result<(), QueryHalt> {
        count_steps(usize::try_from(steps).unwrap_or(usize::MAX));
        // Shared by all threads of the query; the order of the counts does not matter.
        let before = self.steps.fetch_add(steps, Ordering::Relaxed);
        let now = before.saturating_add(steps);
        if now > self.limits.steps {
            return Err(QueryHalt::TooManySteps { limit: self.limits.steps });
        }
        // Also if one charge leaps over several marks.
        let looks = before / STEPS_BETWEEN_LOOKS != now / STEPS_BETWEEN_LOOKS;
        if looks && !(self.go_on)() { Err(QueryHalt::Cancelled) } else { Ok(()) }
    }

    /// Counts memory before it is taken. What is given back is not counted, so this bounds what a query ever made.
    pub fn hold(&self, bytes: usize) -> Result<(), QueryHalt> {
        let held = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed).saturating_add(bytes as u64);
        if held > self.limits.bytes {
            return Err(QueryHalt::TooMuchMemory { limit: self.limits.bytes });
        }
        // Without room the call ends, and its own thread says why.
        if self.charge.raise_to(held, self.go_on) { Ok(()) } else { Err(QueryHalt::Cancelled) }
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
        // All are counted, as the number says how wrong a query is.
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
    fn a_window_shows_what_there_is_of_it() {
        let all = context(&|| true);
        assert!(all.shows_all() && all.shows(7) && all.shown(3) == (0..3));
        let some = context(&|| true).with_window(Some(2..5));
        assert_eq!((some.shown(9), some.shown(3), some.shown(1)), (2..5, 2..3, 1..1));
        assert!(!some.shows_all() && some.shows(4) && !some.shows(5));
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
