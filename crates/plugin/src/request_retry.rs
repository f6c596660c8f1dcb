//! Which requests are sent again, and after how long.

use std::time::Duration;

use lapidary_store::ElapsedTime;

use super::PluginError;

/// After the first.
const RETRIES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// A longer pause is not waited for.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How often a request was sent, and how much time there is for all of it.
pub(crate) struct RequestRetry {
    started: ElapsedTime,
    patience: Duration,
    left: u32,
    pause: Duration,
}

impl RequestRetry {
    /// A request that changes nothing twice may be sent again; `HEAD`, `POST`, `PATCH` and `MOVE` never are.
    pub(crate) fn new(method: &str, patience: Duration, retries: bool) -> Self {
        let left = if retries && matches!(method, "GET" | "PUT" | "DELETE") { RETRIES } else { 0 };
        Self { started: ElapsedTime::start(), patience, left, pause: FIRST_PAUSE }
    }

    pub(crate) fn time_left(&self) -> Duration {
        // Never zero, which the client takes for no limit.
        self.patience.saturating_sub(self.started.elapsed()).max(Duration::from_millis(1))
    }

    /// How long to wait before the next attempt; `None` if there is none. `wanted` is the pause that the other side
    /// asks for.
    pub(crate) fn pause_after(&mut self, error: PluginError, wanted: Option<Duration>) -> Option<Duration> {
        if self.left == 0 || !error.is_transient() {
            return None;
        }
        self.left -= 1;
        // What the other side asks for is kept exactly, as it knows when it is ready.
        let pause = wanted.unwrap_or_else(|| varied(self.pause));
        self.pause *= 2;
        // A pause that would use up the time is not begun: the caller gets the error at once.
        (pause <= LONGEST_PAUSE && pause < self.time_left()).then_some(pause)
    }
}

/// A quarter more or less, so that several clients do not come back at the same moment.
fn varied(pause: Duration) -> Duration {
    // From 150 to 250 of 200: three quarters to five quarters. Without randomness it is the pause itself.
    let share = getrandom::u32().map_or(50, |number| number % 101);
    pause * (150 + share) / 200
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_that_may_be_repeated_are() {
        for (method, retries) in
            [("GET", 3), ("PUT", 3), ("DELETE", 3), ("HEAD", 0), ("POST", 0), ("PATCH", 0), ("MOVE", 0)]
        {
            let mut retry = RequestRetry::new(method, Duration::from_secs(3600), true);
            let pauses: Vec<_> =
                std::iter::from_fn(|| retry.pause_after(PluginError::Upstream { status: 503 }, None)).collect();
            assert_eq!(pauses.len(), retries, "{method}");
            for (pause, base) in pauses.iter().zip([200, 400, 800]) {
                let range = Duration::from_millis(base * 3 / 4)..=Duration::from_millis(base * 5 / 4);
                assert!(range.contains(pause), "{pause:?}");
            }
        }
        assert!(
            RequestRetry::new("GET", Duration::from_secs(3600), false)
                .pause_after(PluginError::Unreachable, None)
                .is_none()
        );
    }

    #[test]
    fn what_will_not_pass_is_not_repeated() {
        let hour = Duration::from_secs(3600);
        let pause = |error, wanted| RequestRetry::new("GET", hour, true).pause_after(error, wanted);
        for error in [
            PluginError::KeyRejected,
            PluginError::NotFound,
            PluginError::CertificateRejected,
            PluginError::Upstream { status: 501 },
        ] {
            assert_eq!(pause(error, None), None, "{error:?}");
        }
        let wanted = Duration::from_secs(2);
        assert_eq!(pause(PluginError::TooManyRequests, Some(wanted)), Some(wanted));
        assert_eq!(pause(PluginError::TooManyRequests, Some(Duration::from_secs(31))), None);
        let mut hasty = RequestRetry::new("GET", Duration::from_millis(1), true);
        assert_eq!(hasty.pause_after(PluginError::Unreachable, None), None, "there is no time for another");
    }
}
