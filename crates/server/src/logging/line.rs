//! Formats a log line.

use std::fmt;

use lapidary_tools::quote::{one_line, quoted, visible_json};
use serde_json::{Map, Value, json};
use tracing::{
    Level,
    field::{Field, Visit},
};

/// One event, ready to be written.
pub(super) struct LogLine<'a> {
    pub(super) time: String,
    pub(super) level: Level,
    pub(super) target: &'a str,
    pub(super) fields: EventFields,
    /// From the outermost in.
    pub(super) spans: Vec<SpanFields>,
}

#[derive(Clone, Default)]
pub(super) struct EventFields {
    pub(super) message: String,
    values: Map<String, Value>,
}

pub(super) struct SpanFields {
    pub(super) name: &'static str,
    pub(super) fields: EventFields,
}

impl LogLine<'_> {
    /// For a person at a terminal, who knows which command is running.
    pub(super) fn told(&self) -> String {
        one_line(&format!("{}: {}{}", name(self.level), self.fields.message, self.fields.plain())).into_owned()
    }

    /// For people, after the name of the program or the time.
    pub(super) fn plain(&self) -> String {
        // Most lines are of this level, so it is left out.
        let mark = match self.level {
            Level::INFO => String::new(),
            level => format!("{}: ", name(level)),
        };
        let spans: Vec<String> =
            self.spans.iter().map(|span| format!("{}{}", span.name, span.fields.plain())).collect();
        let spans = if spans.is_empty() { String::new() } else { format!(" [{}]", spans.join(" > ")) };
        let line = format!("{mark}{}{}{spans}", self.fields.message, self.fields.plain());
        // Foreign text must not look like a separate line, or move the cursor.
        one_line(&line).into_owned()
    }

    pub(super) fn json(&self, process: u32) -> String {
        let mut line = json!({
            "time": self.time,
            "level": name(self.level),
            "pid": process,
            "target": self.target,
            "msg": self.fields.message,
        });
        // Empty objects would only make every line longer.
        if !self.fields.values.is_empty() {
            line["fields"] = Value::Object(self.fields.values.clone());
        }
        if !self.spans.is_empty() {
            line["spans"] = self.spans.iter().map(SpanFields::json).collect();
        }
        // Escapes what a terminal would act on; it is still the same JSON.
        visible_json(&line.to_string()).into_owned()
    }
}

impl EventFields {
    pub(super) fn push(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    fn plain(&self) -> String {
        let shown = |(name, value): (&String, &Value)| match value {
            // A name with a space in it could pass for another field.
            Value::String(text) if text.contains([' ', '=', ']', '`']) => format!(" {name}={}", quoted(text)),
            Value::String(text) => format!(" {name}={text}"),
            value => format!(" {name}={value}"),
        };
        self.values.iter().map(shown).collect()
    }
}

impl SpanFields {
    fn json(&self) -> Value {
        let mut span = Map::from_iter([("span".to_owned(), json!(self.name))]);
        // Fields of a span are beside its name, so that queries on the log need no path.
        span.extend(self.fields.values.clone());
        Value::Object(span)
    }
}

impl Visit for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        // `tracing` passes the text of an event as a field of this name.
        match field.name() {
            "message" => self.message = text,
            name => self.push(name, text.into()),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.push(field.name(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.push(field.name(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field.name(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.push(field.name(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.push(field.name(), value.into());
    }
}

/// Its name in the settings.
fn name(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warning",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}
