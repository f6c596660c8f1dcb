//! What is measured of calls, for those who watch the server: counters for Prometheus, and with the feature `otlp`
//! traces and metrics for a collector. Everything that is kept or sent is a name from a closed list, a count, a size or
//! a duration; no type here can hold text of a note, a path or a token.

pub mod exposition;
pub mod meters;
#[cfg(feature = "otlp")]
mod otlp_encoding;
#[cfg(feature = "otlp")]
mod otlp_export;
pub mod outgoing;
mod trace_context;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use crossbeam_queue::SegQueue;
use lapidary_config::Config;
use lapidary_pipeline::{Clock, FinishedStage, Invocation, Operation, Outcome};
use lapidary_vault::ElapsedTime;

pub use self::trace_context::TraceParent;
use self::{
    meters::{CallOutcome, ServerMeters},
    trace_context::CallTrace,
};

/// The stage whose duration is a separate metric: it waits for the disk.
const COMMIT: &str = "commit";

/// Measures if there is a reader for it; otherwise it does nothing.
#[derive(Clone, Default)]
pub struct Telemetry(Option<Arc<TelemetryParts>>);

struct TelemetryParts {
    meters: Arc<ServerMeters>,
    clock: Clock,
    #[cfg(feature = "otlp")]
    export: Option<otlp_export::OtlpExport>,
}

impl Telemetry {
    /// As the configuration says.
    pub fn start(config: &Config) -> Self {
        // Without a reader, a call costs no more than this check.
        if !config.http.metrics.served && config.otlp.is_none() {
            return Self::default();
        }
        let clock = Clock::system();
        let meters = Arc::new(ServerMeters::new(clock.now()));
        #[cfg(feature = "otlp")]
        let export = config.otlp.as_ref().map(|otlp| otlp_export::OtlpExport::start(otlp, Arc::clone(&meters), clock));
        #[cfg(not(feature = "otlp"))]
        if config.otlp.is_some() {
            tracing::warn!("OTEL_ENABLED is set, but this build sends no telemetry; build it with the feature `otlp`");
        }
        Self(Some(Arc::new(TelemetryParts {
            meters,
            clock,
            #[cfg(feature = "otlp")]
            export,
        })))
    }

    pub fn meters(&self) -> Option<&Arc<ServerMeters>> {
        self.0.as_ref().map(|parts| &parts.meters)
    }

    /// Begins to measure a call; `parent` is the span of the client that made it.
    pub fn begin(
        &self,
        invocation: &mut Invocation,
        parent: impl FnOnce() -> Option<TraceParent>,
    ) -> Option<CallMeasurement> {
        let parts = Arc::clone(self.0.as_ref()?);
        let operation = name_of(invocation)?;
        let trace = parts.new_trace(parent);
        // A queue without a lock, since stages end on the thread of the call and are read on the one that answers.
        let stages = trace.as_ref().map(|_| Arc::new(SegQueue::new()));
        let watch = (Arc::clone(&parts), stages.clone());
        invocation.stages = Some(Arc::new(move |stage| {
            let (parts, stages) = &watch;
            if stage.name == COMMIT {
                parts.meters.committed(stage.took);
            }
            if let Some(stages) = stages {
                stages.push((stage, parts.clock.now()));
            }
        }));
        parts.meters.began();
        // The wall clock says when, for the trace; how long is measured by a clock that is never set.
        let began = parts.clock.now();
        Some(CallMeasurement { parts, operation, began, timer: ElapsedTime::start(), trace, stages })
    }

    /// Sends what is left, for as long as that may take.
    pub fn finish(&self, within: Duration) {
        #[cfg(feature = "otlp")]
        if let Some(export) = self.0.as_ref().and_then(|parts| parts.export.as_ref()) {
            export.finish(within);
        }
        #[cfg(not(feature = "otlp"))]
        let _ = within;
    }
}

impl TelemetryParts {
    #[cfg(feature = "otlp")]
    fn new_trace(&self, parent: impl FnOnce() -> Option<TraceParent>) -> Option<CallTrace> {
        CallTrace::begin(parent(), self.export.as_ref()?.sampled_per_million)
    }

    #[cfg(not(feature = "otlp"))]
    fn new_trace(&self, _: impl FnOnce() -> Option<TraceParent>) -> Option<CallTrace> {
        None
    }
}

/// The stages that a call went through, each with the moment of its end.
type EndedStages = Arc<SegQueue<(FinishedStage, SystemTime)>>;

/// A call that is being measured.
pub struct CallMeasurement {
    parts: Arc<TelemetryParts>,
    operation: &'static str,
    began: SystemTime,
    timer: ElapsedTime,
    trace: Option<CallTrace>,
    stages: Option<EndedStages>,
}

impl CallMeasurement {
    pub fn finish(self, outcome: &Outcome) {
        let took = self.timer.elapsed();
        let result = CallOutcome::of(outcome);
        let bytes = match outcome {
            Outcome::Answered(payload) => payload.reply_bytes(),
            Outcome::Refused(_) | Outcome::Asked(_) | Outcome::Previewed(_) | Outcome::UnknownTool { .. } => 0,
        };
        self.parts.meters.ended(self.operation, result, took, bytes as u64);
        #[cfg(feature = "otlp")]
        if let (Some(trace), Some(export)) = (self.trace, &self.parts.export) {
            // In the order in which they ended.
            let stages = self.stages.iter().flat_map(|stages| std::iter::from_fn(|| stages.pop())).collect();
            export.send(otlp_export::CallSpans {
                trace,
                operation: self.operation,
                began: self.began,
                took,
                result,
                bytes: bytes as u64,
                stages,
            });
        }
        #[cfg(not(feature = "otlp"))]
        drop((self.trace, self.stages, self.began));
    }
}

/// The operation by a name of ours. Checks that run every second are not worth a line.
fn name_of(invocation: &Invocation) -> Option<&'static str> {
    match &invocation.operation {
        Operation::Tool { name, .. } => {
            let found = invocation.principal.profile().catalogue.find(name);
            // A name that a caller made up must not become a label: each would be a separate series.
            Some(found.map_or(meters::OTHER, |entry| entry.spec.name()))
        }
        Operation::Read(operation) => {
            let declaration = operation.declaration();
            declaration.recorded.then_some(declaration.name)
        }
    }
}
