//! Measures durations. The time of day comes from the pipeline's clock alone.

use std::time::{Duration, Instant};

/// A stopwatch. It has no time of day, so no answer or file depends on it.
#[derive(Clone, Copy, Debug)]
pub struct ElapsedTime(Instant);

impl ElapsedTime {
    #[expect(clippy::disallowed_methods, reason = "the one place that measures durations")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// The moment after this duration, to wait for.
    pub(crate) fn moment_after(after: Duration) -> Instant {
        Self::start().0 + after
    }

    /// The time left until a moment; zero once it has passed.
    pub(crate) fn until(moment: Instant) -> Duration {
        moment.saturating_duration_since(Self::start().0)
    }
}
