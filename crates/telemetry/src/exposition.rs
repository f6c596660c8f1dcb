//! The counters in the text form of Prometheus.

use std::fmt::Write;

use super::meters::{BOUNDS_MS, CallOutcome, DurationMeter, RequestRoute, STATUSES, ServerMeters};

/// The type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All of them; `sessions` is counted elsewhere. What has never happened is left out, so that the text stays short.
pub fn exposition(meters: &ServerMeters, sessions: usize) -> String {
    let mut text = MetricText::default();
    text.head("lapidary_calls_total", "counter", "Calls, by operation and how they ended");
    for operation in &meters.operations {
        for outcome in CallOutcome::ALL {
            // Names are ours and need no escaping.
            let labels = format!("tool=\"{}\",outcome=\"{}\"", operation.name, outcome.name());
            text.line_if("lapidary_calls_total", &labels, operation.count(outcome));
        }
    }
    text.head("lapidary_reply_bytes_total", "counter", "Bytes of answers");
    for operation in &meters.operations {
        text.line_if("lapidary_reply_bytes_total", &format!("tool=\"{}\"", operation.name), operation.bytes());
    }
    text.head("lapidary_call_seconds", "histogram", "How long calls took");
    for operation in &meters.operations {
        text.durations("lapidary_call_seconds", &format!("tool=\"{}\"", operation.name), &operation.took);
    }
    text.head("lapidary_commit_seconds", "histogram", "How long changes took to be written");
    text.durations("lapidary_commit_seconds", "", &meters.commits);
    text.head("lapidary_http_requests_total", "counter", "Requests, by route and status");
    for route in RequestRoute::ALL {
        for (place, status) in STATUSES.iter().enumerate() {
            let labels = format!("route=\"{}\",status=\"{status}\"", route.name());
            text.line_if("lapidary_http_requests_total", &labels, meters.requests(route, place));
        }
    }
    text.head("lapidary_rate_limited_total", "counter", "Requests that were refused because there were too many");
    let too_many = STATUSES.iter().position(|status| *status == "429").unwrap_or_default();
    for route in RequestRoute::ALL {
        let labels = format!("route=\"{}\"", route.name());
        // Zeros too: an alert on this needs a series that was there before.
        text.line("lapidary_rate_limited_total", &labels, meters.requests(route, too_many));
    }
    text.head("lapidary_auth_refused_total", "counter", "Requests without credentials that count");
    let unknown = STATUSES.iter().position(|status| *status == "401").unwrap_or_default();
    text.line("lapidary_auth_refused_total", "", meters.requests(RequestRoute::Endpoint, unknown));
    for (name, help, value) in [
        ("lapidary_calls_active", "Calls under way", meters.active()),
        ("lapidary_streams", "Open streams", meters.streams()),
        // Sessions are counted by the table that holds them.
        ("lapidary_sessions", "Open sessions", i64::try_from(sessions).unwrap_or(i64::MAX)),
    ] {
        text.head(name, "gauge", help);
        text.line(name, "", value);
    }
    text.0
}

#[derive(Default)]
struct MetricText(String);

impl MetricText {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n").unwrap_or_default();
    }

    fn line(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        writeln!(self.0, "{name}{labels} {value}").unwrap_or_default();
    }

    fn line_if(&mut self, name: &str, labels: &str, value: u64) {
        if value > 0 {
            self.line(name, labels, value);
        }
    }

    fn durations(&mut self, name: &str, labels: &str, meter: &DurationMeter) {
        let counts = meter.counts();
        let all: u64 = counts.iter().sum();
        // Thirteen lines of zeros for each operation would be most of the text.
        if all == 0 {
            return;
        }
        let comma = if labels.is_empty() { "" } else { "," };
        let mut below = 0;
        for (bound, count) in BOUNDS_MS.iter().zip(&counts) {
            // Each bucket contains those before it, as Prometheus expects.
            below += count;
            let bound = *bound as f64 / 1000.0;
            self.line(&format!("{name}_bucket"), &format!("{labels}{comma}le=\"{bound}\""), below);
        }
        self.line(&format!("{name}_bucket"), &format!("{labels}{comma}le=\"+Inf\""), all);
        self.line(&format!("{name}_sum"), labels, meter.seconds());
        self.line(&format!("{name}_count"), labels, all);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn the_text_has_what_was_counted_and_nothing_else() {
        let meters = ServerMeters::new(SystemTime::UNIX_EPOCH);
        meters.began();
        meters.ended("file_read", CallOutcome::Answered, Duration::from_millis(3), 120);
        meters.committed(Duration::from_millis(20));
        meters.answered(RequestRoute::Endpoint, 401);
        meters.answered(RequestRoute::Endpoint, 429);
        let text = exposition(&meters, 2);
        for line in [
            "lapidary_calls_total{tool=\"file_read\",outcome=\"ok\"} 1",
            "lapidary_reply_bytes_total{tool=\"file_read\"} 120",
            "lapidary_call_seconds_bucket{tool=\"file_read\",le=\"0.002\"} 0",
            "lapidary_call_seconds_bucket{tool=\"file_read\",le=\"0.005\"} 1",
            "lapidary_call_seconds_bucket{tool=\"file_read\",le=\"+Inf\"} 1",
            "lapidary_call_seconds_sum{tool=\"file_read\"} 0.003",
            "lapidary_commit_seconds_bucket{le=\"0.025\"} 1",
            "lapidary_http_requests_total{route=\"mcp\",status=\"401\"} 1",
            "lapidary_rate_limited_total{route=\"mcp\"} 1",
            "lapidary_auth_refused_total 1",
            "lapidary_calls_active 0",
            "lapidary_sessions 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
        assert!(!text.contains("str_replace"), "{text}");
    }
}
