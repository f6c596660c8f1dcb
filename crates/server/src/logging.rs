//! Where events of `tracing` go: to standard error, since stdout belongs to the protocol, and to a file if there is a
//! folder for it.
//!
//! Only our own crates are logged. Dependencies log whole protocol messages, which contain note text. Our own events
//! describe what happened with names of tools, counts, ids and kinds of errors, at every level without text of notes,
//! paths in the vault or tokens; `tests/it/logging.rs` runs everything with planted secrets.

mod line;
mod sink;

use std::sync::atomic::{AtomicU64, Ordering};

use lapidary_config::{LogLevel, LogSettings};
use lapidary_pipeline::Clock;
use lapidary_vault::ElapsedTime;
use tracing::{
    Event, Level, Metadata, Subscriber,
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
    subscriber::Interest,
};
use tracing_subscriber::{
    layer::{Context, Layer, SubscriberExt},
    registry::{LookupSpan, SpanRef},
};

use line::{EventFields, LogLine, SpanFields};
use sink::LogSinks;

/// The common prefix of our crates.
const CRATE_PREFIX: &str = "lapidary";

/// Starts logging events. Before this call, and at level `off`, nothing is logged.
pub(crate) fn start(settings: &LogSettings) {
    let level = match settings.level {
        LogLevel::Off => return,
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
        LogLevel::Debug => Level::DEBUG,
        LogLevel::Trace => Level::TRACE,
    };
    let layer = LogLayer { level, clock: Clock::system(), sinks: LogSinks::new(settings), calls: AtomicU64::new(0) };
    let subscriber = tracing_subscriber::registry().with(layer);
    // Only one subscriber is possible in a process.
    if tracing::subscriber::set_global_default(subscriber).is_err() {
        tracing::warn!("the log was started twice; the first one continues");
    }
}

struct LogLayer {
    level: Level,
    clock: Clock,
    sinks: LogSinks,
    /// How many calls have been made, to distinguish the lines of one from those of others.
    calls: AtomicU64,
}

impl LogLayer {
    /// Spans of calls are kept at every level, so that a warning can name its call.
    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        // Spans are needed even if their own level is not logged: events name the call they belong to.
        let most = if metadata.is_span() { self.level.max(Level::INFO) } else { self.level };
        *metadata.level() <= most && metadata.target().starts_with(CRATE_PREFIX)
    }

    fn write(&self, level: Level, target: &str, fields: EventFields, spans: Vec<SpanFields>) {
        self.sinks.write(&LogLine { time: self.clock.timestamp(), level, target, fields, spans });
    }
}

/// The data of an open span.
struct OpenSpan {
    fields: EventFields,
    opened: ElapsedTime,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for LogLayer {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // Decided once for each place in the code, so that what is not logged costs nothing.
        if self.wants(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.wants(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        // At least `info`, because spans of calls are kept at every level.
        Some(LevelFilter::from_level(self.level.max(Level::INFO)))
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = EventFields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            // The outermost span is a call; its number tells calls apart that run at the same time.
            if span.parent().is_none() {
                fields.push("call", (self.calls.fetch_add(1, Ordering::Relaxed) + 1).into());
            }
            span.extensions_mut().insert(OpenSpan { fields, opened: ElapsedTime::start() });
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        // A field that is known only later, such as the outcome of a call.
        if let Some(span) = context.span(id)
            && let Some(open) = span.extensions_mut().get_mut::<OpenSpan>()
        {
            values.record(&mut open.fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = EventFields::default();
        event.record(&mut fields);
        let spans = context.event_scope(event).into_iter().flat_map(|scope| scope.from_root());
        let metadata = event.metadata();
        self.write(*metadata.level(), metadata.target(), fields, spans.map(|span| fields_of(&span)).collect());
    }

    /// The duration of a span is logged one level below its own: that of a call at `debug`, that of a stage at `trace`.
    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        // That a call ended matters less than what happened in it.
        let level = if *span.metadata().level() <= Level::INFO { Level::DEBUG } else { Level::TRACE };
        if level > self.level {
            return;
        }
        let Some(took) = span.extensions().get::<OpenSpan>().map(|open| open.opened.elapsed()) else { return };
        let mut fields = EventFields::default();
        fields.message = format!("{} ended", span.name());
        // With decimals, because most stages take less than a millisecond.
        fields.push("ms", (took.as_micros() as f64 / 1000.0).into());
        let spans = span.scope().from_root().map(|span| fields_of(&span)).collect();
        self.write(level, span.metadata().target(), fields, spans);
    }
}

fn fields_of<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>) -> SpanFields {
    let fields = span.extensions().get::<OpenSpan>().map_or_else(EventFields::default, |open| open.fields.clone());
    SpanFields { name: span.name(), fields }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::Value;
    use tracing::subscriber::with_default;

    use super::*;
    use lapidary_config::LogFormat;

    /// What a program of ours logs at a level.
    fn logged(level: Level, format: LogFormat, program: impl FnOnce()) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sinks = LogSinks::into_memory(format, Arc::clone(&lines));
        let layer = LogLayer { level, clock: Clock::system(), sinks, calls: AtomicU64::new(0) };
        with_default(tracing_subscriber::registry().with(layer), program);
        let lines = lines.lock().unwrap();
        lines.iter().map(|line| line.trim_end().to_owned()).collect()
    }

    fn a_call() {
        let call = tracing::info_span!("call", operation = "file_read", vault = tracing::field::Empty);
        let _in_call = call.enter();
        call.record("vault", "notes");
        let _in_stage = tracing::debug_span!("plan").entered();
        tracing::trace!(files = 3, "looked");
        tracing::warn!(error = "disk\nfull", "cannot write");
    }

    #[test]
    fn a_line_says_in_which_call_it_arose() {
        let plain = logged(Level::WARN, LogFormat::Plain, a_call);
        assert_eq!(
            plain,
            ["lapidary: warning: cannot write error=disk\\nfull [call operation=file_read call=1 vault=notes]"]
        );
        let json = logged(Level::WARN, LogFormat::Json, a_call);
        let line: Value = serde_json::from_str(&json[0]).unwrap();
        assert_eq!(line["level"], "warning");
        assert_eq!(line["msg"], "cannot write");
        assert_eq!(line["fields"]["error"], "disk\nfull");
        assert_eq!((&line["spans"][0]["span"], &line["spans"][0]["call"]), (&"call".into(), &1.into()));
        assert_eq!(line["spans"][0]["vault"], "notes");
        assert!(line["target"].as_str().unwrap().starts_with("lapidary_server"));
    }

    #[test]
    fn every_level_adds_something() {
        let count = |level| logged(level, LogFormat::Json, a_call).len();
        assert_eq!((count(Level::ERROR), count(Level::WARN), count(Level::DEBUG)), (0, 1, 2));
        let trace = logged(Level::TRACE, LogFormat::Plain, a_call);
        assert_eq!(trace.len(), 4, "{trace:?}");
        assert!(trace[0].starts_with("lapidary: trace: looked files=3 [call operation=file_read call=1"), "{trace:?}");
        assert!(trace[2].starts_with("lapidary: trace: plan ended ms="), "{trace:?}");
        assert!(trace[3].starts_with("lapidary: debug: call ended ms="), "{trace:?}");
    }

    #[test]
    fn an_internal_error_is_found_by_the_id_that_the_caller_was_told() {
        let mut told = None;
        let plain = logged(Level::ERROR, LogFormat::Plain, || {
            let cause = "invalid utf-8 sequence of 1 bytes from index 7";
            let reason = lapidary_tools::bug!("text is no longer text after an edit: {cause}");
            let rules = lapidary_tools::ProfileRules::curator();
            let all = lapidary_tools::Catalogue::new(
                lapidary_tools::TOOL_SET,
                &lapidary_tools::ToolSelection::default(),
                &rules,
                &[],
            )
            .unwrap();
            let offered = lapidary_tools::OfferedTools::of(&all);
            told = Some(lapidary_tools::render_refusal(lapidary_tools::WireFamily::Own, &reason, offered));
        });
        let told = told.unwrap();
        let error = told.facts()["error"].take();
        let id = error["data"]["id"].as_str().unwrap();
        assert!(id.starts_with("b-") && error["message"].as_str().unwrap().contains(id), "{error}");
        assert!(error["data"]["recovery"]["hint"].as_str().unwrap().contains(id), "{error}");
        assert!(!error.to_string().contains("utf-8") && !error.to_string().contains("logging.rs"), "{error}");
        assert_eq!(plain.len(), 1);
        for part in
            [id, "crates/server/src/logging.rs:", "is no longer text after an edit: invalid utf-8 sequence of 1 bytes"]
        {
            assert!(plain[0].contains(part), "{part}: {plain:?}");
        }
    }

    #[test]
    fn other_crates_are_not_logged() {
        let lines =
            logged(Level::TRACE, LogFormat::Plain, || tracing::error!(target: "rmcp::service", "a whole message"));
        assert!(lines.is_empty(), "{lines:?}");
    }
}
