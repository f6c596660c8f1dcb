//! What is sent to a collector.

use crate::setting::{Setting, ShownDefault};
use crate::telemetry_draft::WrittenValue;
use crate::value::toggle;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("telemetry.otlp"),
        variable: Some("OTEL_ENABLED"),
        flag: None,
        default: ShownDefault::Value("false"),
        doc: "Send traces and metrics by OTLP over HTTP. They contain names of tools, outcomes, sizes and durations, never text, paths or tokens.",
        apply: |draft, given| toggle(&given.raw).map(|enabled| draft.telemetry.enabled = enabled),
    },
    Setting {
        key: Some("telemetry.endpoint"),
        variable: Some("OTEL_EXPORTER_OTLP_ENDPOINT"),
        flag: None,
        default: ShownDefault::Words("`http://localhost:4318`"),
        doc: "The address of the collector; `/v1/traces` and `/v1/metrics` are added to it.",
        apply: |draft, given| WrittenValue::of(given).map(|written| draft.telemetry.endpoint = written),
    },
    Setting {
        key: Some("telemetry.traces_endpoint"),
        variable: Some("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
        flag: None,
        default: ShownDefault::Words("below the collector"),
        doc: "The whole address for traces.",
        apply: |draft, given| WrittenValue::of(given).map(|written| draft.telemetry.traces = written),
    },
    Setting {
        key: Some("telemetry.metrics_endpoint"),
        variable: Some("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"),
        flag: None,
        default: ShownDefault::Words("below the collector"),
        doc: "The whole address for metrics.",
        apply: |draft, given| WrittenValue::of(given).map(|written| draft.telemetry.metrics = written),
    },
    Setting {
        key: Some("telemetry.service_name"),
        variable: Some("OTEL_SERVICE_NAME"),
        flag: None,
        default: ShownDefault::Words("`lapidary`"),
        doc: "The name of this server in traces and metrics.",
        apply: |draft, given| WrittenValue::of(given).map(|written| draft.telemetry.service_name = written),
    },
    Setting {
        key: Some("telemetry.service_version"),
        variable: Some("OTEL_SERVICE_VERSION"),
        flag: None,
        default: ShownDefault::Words("that of Lapidary"),
        doc: "Its version there.",
        apply: |draft, given| WrittenValue::of(given).map(|written| draft.telemetry.service_version = written),
    },
    Setting {
        key: Some("telemetry.sampled"),
        variable: Some("OTEL_TRACES_SAMPLER_ARG"),
        flag: None,
        default: ShownDefault::Words("all"),
        doc: "The share of traces that is sent, from 0 to 1, where the client has not decided.",
        apply: |draft, given| WrittenValue::of(given).map(|written| draft.telemetry.sampled = written),
    },
];
