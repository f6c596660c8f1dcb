//! How long something has taken. What time it is, only the pipeline's clock says.

use std::time::{Duration, Instant};

/// Runs from the moment it is made. It tells no time of day, so nothing that is answered or written down depends on it.
#[derive(Clone, Copy, Debug)]
pub struct ElapsedTime(Instant);

impl ElapsedTime {
    #[expect(clippy::disallowed_methods, reason = "the one place that measures")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// The moment that comes after a while, for those who wait for it.
    pub(crate) fn moment_after(after: Duration) -> Instant {
        Self::start().0 + after
    }

    /// How long until a moment comes; nothing if it is over.
    pub(crate) fn until(moment: Instant) -> Duration {
        moment.saturating_duration_since(Self::start().0)
    }
}
