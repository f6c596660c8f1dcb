//! How much of the HTTP server its clients may use.

use crate::setting::{Setting, ShownDefault};
use crate::value::{limit, number};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("http.head_timeout_ms"),
        variable: Some("LAPIDARY_HTTP_HEAD_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("10000"),
        doc: "How long the head of a request may take to arrive before the connection is closed; 0 means no limit.",
        apply: |draft, given| limit(&given.raw).map(|limit| draft.config.http.connections.head = limit),
    },
    Setting {
        key: Some("http.body_timeout_ms"),
        variable: Some("LAPIDARY_HTTP_BODY_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("30000"),
        doc: "How long the body of a request may take to arrive before it is refused with 408; 0 means no limit.",
        apply: |draft, given| limit(&given.raw).map(|limit| draft.config.http.body.time = limit),
    },
    Setting {
        key: Some("http.idle_timeout_ms"),
        variable: Some("LAPIDARY_HTTP_IDLE_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("75000"),
        doc: "How long a connection may wait between two requests before it is closed; 0 means no limit.",
        apply: |draft, given| limit(&given.raw).map(|limit| draft.config.http.connections.idle = limit),
    },
    Setting {
        key: Some("http.max_connections"),
        variable: Some("LAPIDARY_HTTP_MAX_CONNECTIONS"),
        flag: None,
        default: ShownDefault::Value("1024"),
        doc: "How many connections may be open; what is beyond is closed at once. 0 means no limit.",
        apply: |draft, given| number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.connections.all = most),
    },
    Setting {
        key: Some("http.max_connections_per_address"),
        variable: Some("LAPIDARY_HTTP_MAX_CONNECTIONS_PER_ADDRESS"),
        flag: None,
        default: ShownDefault::Value("64"),
        doc: "The same for one address of another computer (of IPv6, the first 64 bits of it).",
        apply: |draft, given| {
            number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.connections.per_address = most)
        },
    },
    Setting {
        key: Some("http.max_sessions"),
        variable: Some("LAPIDARY_HTTP_MAX_SESSIONS"),
        flag: None,
        default: ShownDefault::Value("1000"),
        doc: "How many sessions may be open. The one that was idle longest makes room for another; if all are in use, 503 is answered. 0 means no limit.",
        apply: |draft, given| number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.sessions.all = most),
    },
    Setting {
        key: Some("http.max_sessions_per_client"),
        variable: Some("LAPIDARY_HTTP_MAX_SESSIONS_PER_CLIENT"),
        flag: None,
        default: ShownDefault::Value("32"),
        doc: "The same for one client that is known by its token.",
        apply: |draft, given| {
            number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.sessions.per_client = most)
        },
    },
    Setting {
        key: Some("http.max_streams_per_client"),
        variable: Some("LAPIDARY_HTTP_MAX_STREAMS_PER_CLIENT"),
        flag: None,
        default: ShownDefault::Value("16"),
        doc: "How many streams of news one client may keep open; 0 means no limit. What is beyond gets 429.",
        apply: |draft, given| number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.clients.streams = most),
    },
    Setting {
        key: Some("http.max_calls_per_client"),
        variable: Some("LAPIDARY_HTTP_MAX_CALLS_PER_CLIENT"),
        flag: None,
        default: ShownDefault::Value("8"),
        doc: "How many calls of one client may be under way. Others wait for 5 seconds and then get 429. 0 means no limit.",
        apply: |draft, given| number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.clients.calls = most),
    },
    Setting {
        key: Some("http.max_calls"),
        variable: Some("LAPIDARY_HTTP_MAX_CALLS"),
        flag: None,
        default: ShownDefault::Value("64"),
        doc: "The same for all clients together.",
        apply: |draft, given| {
            number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.clients.calls_in_all = most)
        },
    },
    Setting {
        key: Some("http.calls_per_second"),
        variable: Some("LAPIDARY_HTTP_CALLS_PER_SECOND"),
        flag: None,
        default: ShownDefault::Value("20"),
        doc: "How many calls one client may make each second, three seconds of them at once; what is beyond gets 429 with `Retry-After`. 0 means no limit. A client is a token or, without authentication, another computer.",
        apply: |draft, given| {
            number(&given.raw, 0..=u32::MAX).map(|most| draft.config.http.clients.calls_per_second = most)
        },
    },
    Setting {
        key: Some("http.writes_per_second"),
        variable: Some("LAPIDARY_HTTP_WRITES_PER_SECOND"),
        flag: None,
        default: ShownDefault::Value("5"),
        doc: "The same for calls that may change something, four seconds of them at once.",
        apply: |draft, given| {
            number(&given.raw, 0..=u32::MAX).map(|most| draft.config.http.clients.writes_per_second = most)
        },
    },
];
