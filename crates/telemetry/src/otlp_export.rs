//! Sends traces and metrics to a collector, from a separate thread. Calls never wait for it: what does not fit into
//! its queue is dropped.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    time::{Duration, SystemTime},
};

use lapidary_config::OtlpSettings;
use lapidary_pipeline::{Clock, FinishedStage};
use lapidary_vault::ElapsedTime;

use crate::outgoing;
use crate::{
    meters::{BOUNDS_MS, CallOutcome, DurationMeter, ServerMeters},
    otlp_encoding::{ProtoMessage, nanoseconds},
    trace_context::{CallTrace, random},
};

/// Calls that wait to be sent.
const QUEUE_LENGTH: usize = 2_048;
/// How many are sent at a time.
const BATCH_LENGTH: usize = 512;
/// How long the first of a batch waits for others.
const BATCH_DELAY: Duration = Duration::from_secs(2);
/// How often metrics are sent, as in obsidian-mcp-server.
const METRICS_EVERY: Duration = Duration::from_secs(15);
/// How long a collector may take.
const COLLECTOR_TIMEOUT: Duration = Duration::from_secs(5);

/// A call with its stages, as spans.
pub(super) struct CallSpans {
    pub(super) trace: CallTrace,
    pub(super) operation: &'static str,
    pub(super) began: SystemTime,
    pub(super) took: Duration,
    pub(super) result: CallOutcome,
    pub(super) bytes: u64,
    pub(super) stages: Vec<(FinishedStage, SystemTime)>,
}

/// What the thread is told.
enum ExportTask {
    Spans(Box<CallSpans>),
    /// Send everything, and say when that is done.
    Finish(SyncSender<()>),
}

pub(super) struct OtlpExport {
    tasks: SyncSender<ExportTask>,
    pub(super) sampled_per_million: u32,
}

impl OtlpExport {
    pub(super) fn start(settings: &OtlpSettings, meters: Arc<ServerMeters>, clock: Clock) -> Self {
        // Bounded: with a collector that hangs, memory stays as it is.
        let (tasks, queue) = sync_channel(QUEUE_LENGTH);
        let sampled_per_million = settings.sampled_per_million;
        let exporter = OtlpThread {
            resource: ProtoMessage::default().attribute(1, "service.name", &settings.service_name).attribute(
                1,
                "service.version",
                &settings.service_version,
            ),
            settings: settings.clone(),
            agent: outgoing::agent(COLLECTOR_TIMEOUT),
            meters,
            clock,
            is_silent: false,
        };
        // A separate thread with a blocking client: a collector that hangs holds up nothing else.
        std::thread::spawn(move || exporter.run(&queue));
        Self { tasks, sampled_per_million }
    }

    pub(super) fn send(&self, spans: CallSpans) {
        // Never waits: a call must not be slower because a collector is.
        if self.tasks.try_send(ExportTask::Spans(Box::new(spans))).is_err() {
            tracing::debug!("a trace was dropped: the collector is too slow");
        }
    }

    pub(super) fn finish(&self, within: Duration) {
        let (done, ended) = sync_channel(1);
        // With a full queue the collector has not kept up for long, and the end of the server does not wait for it
        // either.
        if self.tasks.try_send(ExportTask::Finish(done)).is_ok() && ended.recv_timeout(within).is_err() {
            tracing::debug!("the last traces and metrics were not sent in time");
        }
    }
}

struct OtlpThread {
    settings: OtlpSettings,
    resource: ProtoMessage,
    agent: ureq::Agent,
    meters: Arc<ServerMeters>,
    clock: Clock,
    /// A collector that does not answer is worth one line.
    is_silent: bool,
}

impl OtlpThread {
    fn run(mut self, queue: &Receiver<ExportTask>) {
        let (mut waiting, mut first, mut last_metrics) = (Vec::new(), ElapsedTime::start(), ElapsedTime::start());
        loop {
            // Wakes up without calls too, because metrics are due by the clock.
            let task = queue.recv_timeout(BATCH_DELAY);
            let mut ended = None;
            match task {
                Ok(ExportTask::Spans(spans)) => {
                    if waiting.is_empty() {
                        first = ElapsedTime::start();
                    }
                    waiting.push(spans);
                }
                Ok(ExportTask::Finish(done)) => ended = Some(done),
                Err(RecvTimeoutError::Timeout) => {}
                // The server has ended without asking for the rest.
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let is_last = ended.is_some();
            // A batch is full, or old enough, or the last one.
            if !waiting.is_empty() && (is_last || waiting.len() >= BATCH_LENGTH || first.elapsed() >= BATCH_DELAY) {
                let spans = std::mem::take(&mut waiting);
                self.post(&self.settings.traces.clone(), self.traces(&spans));
            }
            if is_last || last_metrics.elapsed() >= METRICS_EVERY {
                last_metrics = ElapsedTime::start();
                self.post(&self.settings.metrics.clone(), self.metrics());
            }
            if let Some(done) = ended {
                // The receiver may be gone.
                done.try_send(()).unwrap_or_default();
                return;
            }
        }
    }

    fn post(&mut self, address: &str, message: ProtoMessage) {
        let request = self.agent.post(address).header("Content-Type", "application/x-protobuf");
        let problem = match request.send(&message.into_bytes()[..]) {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("it answers {}", answer.status().as_u16())),
            Err(error) => Some(outgoing::in_words(&error)),
        };
        match problem {
            Some(problem) if !self.is_silent => {
                tracing::warn!("the collector of telemetry takes nothing: {problem}");
                self.is_silent = true;
            }
            Some(_) => {}
            None => self.is_silent = false,
        }
    }

    /// Around the messages of either kind.
    fn enveloped(&self, inner: impl IntoIterator<Item = ProtoMessage>) -> ProtoMessage {
        // Here and below, the numbers are those of the fields in opentelemetry-proto.
        let scope = ProtoMessage::default().text(1, "lapidary").text(2, env!("CARGO_PKG_VERSION"));
        let scoped = ProtoMessage::default().message(1, &scope).messages(2, inner);
        let of_resource = ProtoMessage::default().message(1, &self.resource).message(2, &scoped);
        ProtoMessage::default().message(1, &of_resource)
    }

    fn traces(&self, calls: &[Box<CallSpans>]) -> ProtoMessage {
        self.enveloped(calls.iter().flat_map(|call| call.spans()))
    }

    fn metrics(&self) -> ProtoMessage {
        // Sums since the start of the server, which survive a message that is lost.
        const CUMULATIVE: u64 = 2;
        let (since, now) = (nanoseconds(self.meters.since), nanoseconds(self.clock.now()));
        let point = |value: u64| ProtoMessage::default().fixed(2, since).fixed(3, now).fixed(6, value);
        let sum = |name: &str, unit: &str, points: Vec<ProtoMessage>| {
            let sum = ProtoMessage::default().messages(1, points).number(2, CUMULATIVE).number(3, 1);
            ProtoMessage::default().text(1, name).text(3, unit).message(7, &sum)
        };
        let gauge = |name: &str, value: i64| {
            let value = u64::try_from(value).unwrap_or_default();
            let gauge = ProtoMessage::default().message(1, &point(value));
            ProtoMessage::default().text(1, name).message(5, &gauge)
        };
        let histogram = |name: &str, points: Vec<ProtoMessage>| {
            let histogram = ProtoMessage::default().messages(1, points).number(2, CUMULATIVE);
            ProtoMessage::default().text(1, name).text(3, "s").message(9, &histogram)
        };
        let durations = |meter: &DurationMeter| {
            let counts = meter.counts();
            // Bounds are in seconds there, and in milliseconds here.
            let bounds = BOUNDS_MS.iter().map(|bound| (*bound as f64 / 1000.0).to_bits());
            ProtoMessage::default()
                .fixed(2, since)
                .fixed(3, now)
                .fixed(4, counts.iter().sum())
                .double(5, meter.seconds())
                .packed(6, counts)
                .packed(7, bounds)
        };
        let (mut calls, mut errors, mut bytes, mut took) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for operation in &self.meters.operations {
            let named = |point: ProtoMessage, field: u64| point.attribute(field, "mcp.tool.name", operation.name);
            for outcome in CallOutcome::ALL {
                let count = operation.count(outcome);
                // Operations that were never called would fill most of every message.
                if count == 0 {
                    continue;
                }
                let counted = named(point(count), 7).attribute(7, "mcp.outcome", outcome.name());
                if outcome != CallOutcome::Answered {
                    errors.push(counted.clone());
                }
                calls.push(counted);
            }
            if operation.took.counts().iter().any(|count| *count > 0) {
                bytes.push(named(point(operation.bytes()), 7));
                took.push(named(durations(&operation.took), 9));
            }
        }
        self.enveloped([
            sum("mcp.tool.calls", "{call}", calls),
            sum("mcp.tool.errors", "{call}", errors),
            sum("mcp.tool.output_bytes", "By", bytes),
            histogram("mcp.tool.duration", took),
            histogram("lapidary.commit.duration", vec![durations(&self.meters.commits)]),
            gauge("mcp.requests.active", self.meters.active()),
            gauge("mcp.streams.active", self.meters.streams()),
        ])
    }
}

impl CallSpans {
    /// The call and its stages.
    fn spans(&self) -> Vec<ProtoMessage> {
        // Numbers of fields and kinds are those of opentelemetry-proto, trace.proto.
        const INTERNAL: u64 = 1;
        const SERVER: u64 = 2;
        const FAILED: u64 = 2;
        let name = match self.operation {
            "resources/read" => "resource_read:note".to_owned(),
            operation if operation.contains('/') => operation.to_owned(),
            tool => format!("tool_execution:{tool}"),
        };
        let span = |id: &[u8; 8], parent: Option<&[u8; 8]>, name: &str, kind, (began, ended)| {
            let mut span = ProtoMessage::default().bytes(1, &self.trace.trace).bytes(2, id);
            if let Some(parent) = parent {
                span = span.bytes(4, parent);
            }
            span.text(5, name).number(6, kind).fixed(7, nanoseconds(began)).fixed(8, nanoseconds(ended))
        };
        let times = (self.began, self.began + self.took);
        let mut call = span(&self.trace.span, self.trace.parent.as_ref(), &name, SERVER, times)
            .attribute(9, "mcp.tool.name", self.operation)
            .attribute(9, "mcp.outcome", self.result.name())
            .count(9, "mcp.tool.output_bytes", self.bytes);
        if self.result == CallOutcome::Failed {
            call = call.message(15, &ProtoMessage::default().number(3, FAILED));
        }
        let mut spans = vec![call];
        for (stage, ended) in &self.stages {
            // A trace without one of its stages is better than none.
            let Some(id) = random() else { continue };
            // Stages are recorded when they end.
            let began = ended.checked_sub(stage.took).unwrap_or(*ended);
            spans.push(span(&id, Some(&self.trace.span), stage.name, INTERNAL, (began, *ended)));
        }
        spans
    }
}
