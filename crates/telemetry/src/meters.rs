//! The counters. All names are known when the server starts, so counting needs no lock and no memory.

use std::{
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use lapidary_pipeline::Outcome;
use lapidary_tools::{Reason, TOOLS};

/// Operations other than tools that clients ask for.
const OPERATIONS: [&str; 6] =
    ["completion/complete", "prompts/get", "prompts/list", "resources/read", "resources/subscribe", OTHER];
/// A name that is not ours.
pub const OTHER: &str = "other";

/// The upper bounds of durations, in milliseconds; longer ones are counted separately.
pub(super) const BOUNDS_MS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 30_000];

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    Answered,
    Refused,
    /// The user has to be asked.
    Asked,
    /// A bug of ours.
    Failed,
}

impl CallOutcome {
    pub(super) const ALL: [Self; 4] = [Self::Answered, Self::Refused, Self::Asked, Self::Failed];

    pub(super) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Answered(_) => Self::Answered,
            // Told apart from refusals, as an alert on it means a bug.
            Outcome::Refused(refusal) if matches!(refusal.reason, Reason::Internal(_)) => Self::Failed,
            Outcome::Refused(_) | Outcome::UnknownTool { .. } => Self::Refused,
            Outcome::Asked(_) | Outcome::Previewed(_) => Self::Asked,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Answered => "ok",
            Self::Refused => "refused",
            Self::Asked => "asked",
            Self::Failed => "failed",
        }
    }
}

/// Where a request over HTTP went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestRoute {
    Endpoint,
    /// The older transport.
    EventStream,
    /// Signing in: authorization, tokens, registration.
    SignIn,
    Page,
}

impl RequestRoute {
    pub(super) const ALL: [Self; 4] = [Self::Endpoint, Self::EventStream, Self::SignIn, Self::Page];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Endpoint => "mcp",
            Self::EventStream => "sse",
            Self::SignIn => "sign_in",
            Self::Page => "page",
        }
    }
}

/// The statuses that are told apart; all others count by their hundreds.
pub(super) const STATUSES: [&str; 10] = ["2xx", "3xx", "400", "401", "403", "404", "413", "429", "4xx", "5xx"];

fn status_place(status: u16) -> usize {
    let exact = status.to_string();
    let hundreds = format!("{}xx", status / 100);
    let place = |name: &str| STATUSES.iter().position(|known| *known == name);
    // A status below 200 never ends a request; it counts with the errors.
    place(&exact).or_else(|| place(&hundreds)).unwrap_or(STATUSES.len() - 1)
}

/// Counters of one operation.
pub(super) struct OperationMeter {
    pub(super) name: &'static str,
    outcomes: [AtomicU64; CallOutcome::ALL.len()],
    bytes: AtomicU64,
    pub(super) took: DurationMeter,
}

impl OperationMeter {
    fn new(name: &'static str) -> Self {
        Self { name, outcomes: Default::default(), bytes: AtomicU64::new(0), took: DurationMeter::default() }
    }

    pub(super) fn count(&self, outcome: CallOutcome) -> u64 {
        // Relaxed everywhere: each number is read alone, and none orders another.
        self.outcomes[outcome as usize].load(Ordering::Relaxed)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// How long something took, how often.
#[derive(Default)]
pub(super) struct DurationMeter {
    buckets: [AtomicU64; BOUNDS_MS.len() + 1],
    micros: AtomicU64,
}

impl DurationMeter {
    fn add(&self, took: Duration) {
        // A handful of bounds: a search costs no more than a table would.
        let place = BOUNDS_MS.iter().position(|bound| took <= Duration::from_millis(*bound)).unwrap_or(BOUNDS_MS.len());
        self.buckets[place].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// How often it took at most each bound and more than the one before; the last is without a bound.
    pub(super) fn counts(&self) -> Vec<u64> {
        self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect()
    }

    pub(super) fn seconds(&self) -> f64 {
        self.micros.load(Ordering::Relaxed) as f64 / 1e6
    }
}

/// Everything that is counted.
pub struct ServerMeters {
    #[cfg_attr(not(feature = "otlp"), expect(dead_code, reason = "only a collector is told"))]
    pub(super) since: SystemTime,
    pub(super) operations: Vec<OperationMeter>,
    pub(super) commits: DurationMeter,
    active: AtomicI64,
    streams: AtomicI64,
    requests: [[AtomicU64; STATUSES.len()]; RequestRoute::ALL.len()],
}

impl ServerMeters {
    pub(super) fn new(since: SystemTime) -> Self {
        // All names are known at start, so counting needs no lock and no allocation.
        let tools = TOOLS.iter().map(|tool| tool.spec().name());
        Self {
            since,
            operations: tools.chain(OPERATIONS).map(OperationMeter::new).collect(),
            commits: DurationMeter::default(),
            active: AtomicI64::new(0),
            streams: AtomicI64::new(0),
            requests: Default::default(),
        }
    }

    pub(super) fn began(&self) {
        self.active.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn ended(&self, operation: &str, outcome: CallOutcome, took: Duration, bytes: u64) {
        self.active.fetch_sub(1, Ordering::Relaxed);
        // Callers choose names; a metric for each would grow without end, so all that are not ours share the last one.
        let named = self.operations.iter().find(|meter| meter.name == operation);
        let Some(meter) = named.or_else(|| self.operations.last()) else { return };
        meter.outcomes[outcome as usize].fetch_add(1, Ordering::Relaxed);
        meter.bytes.fetch_add(bytes, Ordering::Relaxed);
        meter.took.add(took);
    }

    pub(super) fn committed(&self, took: Duration) {
        self.commits.add(took);
    }

    pub fn answered(&self, route: RequestRoute, status: u16) {
        self.requests[route as usize][status_place(status)].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn requests(&self, route: RequestRoute, status: usize) -> u64 {
        self.requests[route as usize][status].load(Ordering::Relaxed)
    }

    pub(super) fn active(&self) -> i64 {
        self.active.load(Ordering::Relaxed)
    }

    pub(super) fn streams(&self) -> i64 {
        self.streams.load(Ordering::Relaxed)
    }

    /// Counts a stream for as long as the result lives.
    pub fn stream(self: std::sync::Arc<Self>) -> OpenStreamCount {
        self.streams.fetch_add(1, Ordering::Relaxed);
        OpenStreamCount(self)
    }
}

/// One open stream.
pub struct OpenStreamCount(std::sync::Arc<ServerMeters>);

impl Drop for OpenStreamCount {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_and_every_name_has_a_place() {
        for (status, name) in
            [(200, "2xx"), (202, "2xx"), (304, "3xx"), (401, "401"), (429, "429"), (415, "4xx"), (503, "5xx")]
        {
            assert_eq!(STATUSES[status_place(status)], name);
        }
        assert_eq!(STATUSES[status_place(100)], "5xx", "there is no such answer");
        let meters = ServerMeters::new(SystemTime::UNIX_EPOCH);
        meters.ended("../../etc/passwd", CallOutcome::Refused, Duration::ZERO, 0);
        assert_eq!(
            meters.operations.last().map(|meter| (meter.name, meter.count(CallOutcome::Refused))),
            Some((OTHER, 1))
        );
    }

    #[test]
    fn a_duration_counts_below_its_bound() {
        let meter = DurationMeter::default();
        for took in [0, 1, 2, 30_000, 30_001] {
            meter.add(Duration::from_millis(took));
        }
        let counts = meter.counts();
        assert_eq!((counts[0], counts[1], counts[11], counts[12]), (2, 1, 1, 1));
        assert!((meter.seconds() - 60.004).abs() < 1e-9);
    }
}
