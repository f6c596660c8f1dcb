//! Whether a scan has to stop.

use std::sync::OnceLock;

use super::ScanStop;

/// Checks whether to continue, and remembers the first stop: all threads then stop for the same reason, and a stop is
/// never lost.
pub(super) struct StopSignal<'b> {
    go_on: &'b (dyn Fn() -> Option<ScanStop> + Sync),
    stopped: OnceLock<ScanStop>,
}

impl<'b> StopSignal<'b> {
    pub(super) fn new(go_on: &'b (dyn Fn() -> Option<ScanStop> + Sync)) -> Self {
        Self { go_on, stopped: OnceLock::new() }
    }

    pub(super) fn stops(&self) -> bool {
        if self.stopped.get().is_none()
            && let Some(stop) = (self.go_on)()
        {
            // The first reason wins. Another thread may have found another one at the same moment.
            self.stopped.get_or_init(|| stop);
        }
        self.stopped.get().is_some()
    }

    pub(super) fn cancelled(&self) -> bool {
        (self.go_on)() == Some(ScanStop::Cancelled)
    }

    /// Why it was stopped.
    pub(super) fn reason(&self) -> ScanStop {
        self.stopped.get().copied().unwrap_or(ScanStop::Cancelled)
    }
}
