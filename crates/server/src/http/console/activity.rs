//! The log of calls, newest first, filtered by what the address says, and one of them.

use std::collections::BTreeMap;

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use lapidary_auth::{FormParameters, percent_encoded};
use lapidary_console::{
    ActivityFilter, ActivityPage, ActivityRow, CallFact, CallPage, ClientShare, ConsoleSection, OutcomeTone, ShownText,
};
use lapidary_note::one_line;
use lapidary_pipeline::Executor;
use lapidary_query::csv_record;
use serde_json::{Value, json};

use super::{Console, ConsoleState, no_answer, page, query, refused, restoring, sessions::OpenSession};
use crate::{
    commands::local_time::LocalTime,
    logged_call::{CallFilter, CallTone, LoggedCall, WantedOutcome},
};

/// More rows are not drawn; filters find older ones.
const MOST_ROWS: usize = 300;
/// At most this many of the latest calls are counted by client.
const MOST_COUNTED: usize = 10_000;
/// And of an export.
const MOST_EXPORTED: usize = 100_000;
/// Clients that are named; the others have the smallest shares.
const MOST_CLIENTS: usize = 12;

pub(super) fn routes() -> Router<Console> {
    Router::new()
        .route("/console/activity", get(show))
        .route("/console/activity.csv", get(export))
        .route("/console/activity/call", get(show_call))
}

async fn show(State(console): ConsoleState, Extension(session): Extension<OpenSession>, request: Request) -> Response {
    let filter = typed_filter(&query(&request));
    let (wanted, time) = (call_filter(&filter), console.time());
    let Some(Some(found)) = console.ask(move |executor| calls(executor, &wanted, MOST_COUNTED)).await else {
        return no_answer();
    };
    let has_more = found.len() > MOST_ROWS;
    let rows = found.iter().take(MOST_ROWS).map(|call| activity_row(call, &time)).collect();
    // The column for vaults is only drawn if it can differ.
    let has_several_vaults = console.0.executor.vaults().iter().count() > 1;
    let address = request.uri().query().map_or_else(String::new, |query| format!("?{query}"));
    let frame = console.frame(ConsoleSection::ACTIVITY, &session).await;
    let (shares, counted) = (shares(&found), found.len());
    page(
        StatusCode::OK,
        &ActivityPage { frame, rows, filter, has_more, has_several_vaults, query: address, shares, counted },
    )
}

async fn export(State(console): ConsoleState, request: Request) -> Response {
    let filter = call_filter(&typed_filter(&query(&request)));
    let Some(Some(found)) = console.ask(move |executor| calls(executor, &filter, MOST_EXPORTED)).await else {
        return no_answer();
    };
    // `\r\n`, as RFC 4180 has it.
    let mut csv = "time,client,tool,outcome,note,vault,ms,bytes,checkpoint\r\n".to_owned();
    for call in &found {
        let (ms, bytes) = (call.number("duration_ms"), call.number("reply_bytes"));
        // Cells that begin like a formula are made harmless by `csv_record`.
        csv += &csv_record([
            call.text("ts"),
            call.client(),
            call.text("tool"),
            call.outcome().0,
            call.text("file"),
            call.text("vault"),
            &ms,
            &bytes,
            call.text("checkpoint"),
        ]);
    }
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"lapidary-activity.csv\""),
    ];
    (headers, csv).into_response()
}

/// One call, as the log has it, with the change that it made.
async fn show_call(
    State(console): ConsoleState,
    Extension(session): Extension<OpenSession>,
    request: Request,
) -> Response {
    let parameters = query(&request);
    let wanted = |name: &str| parameters.get(name).unwrap_or_default().to_owned();
    // The log has no ids, and these three together name one call in practice.
    let key = (wanted("time"), wanted("vault"), wanted("arguments"));
    let found = console.ask(move |executor| {
        // Without a limit: the call may be far down in the log.
        let all = calls(executor, &CallFilter::default(), usize::MAX)?;
        let is_it = |call: &LoggedCall| {
            (call.text("ts"), call.text("vault"), call.text("args_hash")) == (&key.0, &key.1, &key.2)
        };
        Some(all.into_iter().find(is_it))
    });
    let call = match found.await.flatten() {
        None => return no_answer(),
        Some(None) => return refused(StatusCode::NOT_FOUND, "The log has no such call; it may be too old."),
        Some(Some(call)) => call,
    };
    // Planned now: what can be taken back may have changed since the call.
    let offer = match call.checkpoint() {
        Some(id) => restoring::offer(&console, id, call.text("vault")).await,
        None => None,
    };
    let (words, tone) = call.outcome();
    let frame = console.frame(ConsoleSection::ACTIVITY, &session).await;
    let shown = CallPage {
        frame,
        tool: ShownText::line(call.text("tool")),
        outcome: ShownText::line(words),
        tone: tone_of(tone),
        why: call.why(),
        facts: facts(&call, &console.time()),
        address: change_address(&call),
        offer,
    };
    page(StatusCode::OK, &shown)
}

/// What the log knows of a call, in its order.
fn facts(call: &LoggedCall, time: &LocalTime) -> Vec<CallFact> {
    let named = call.facts().as_object().into_iter().flatten();
    let fact = |(name, value): (&String, &Value)| {
        let text = match (name.as_str(), value) {
            ("ts", Value::String(written)) => time.exact(written),
            ("duration_ms", _) => call.number("duration_ms"),
            (_, Value::String(text)) => text.clone(),
            // A list of paths reads better than JSON.
            (_, Value::Array(items)) if items.iter().all(Value::is_string) => {
                items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
            }
            (_, other) => other.to_string(),
        };
        let name = match name.as_str() {
            "ts" => "time".to_owned(),
            "args_hash" => "arguments".to_owned(),
            "client_id" => "client".to_owned(),
            other => other.replace('_', " "),
        };
        CallFact { name: ShownText::line(&name), value: ShownText::line(&text) }
    };
    named.map(fact).collect()
}

fn typed_filter(parameters: &FormParameters) -> ActivityFilter {
    let text = |name: &str| parameters.get(name).unwrap_or_default().to_owned();
    ActivityFilter {
        client: text("client"),
        tool: text("tool"),
        note: text("note"),
        reason: text("reason"),
        outcome: text("outcome"),
        since: text("since"),
    }
}

fn call_filter(typed: &ActivityFilter) -> CallFilter {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    CallFilter {
        client: given(&typed.client),
        tool: given(&typed.tool),
        note: given(&typed.note),
        reason: given(&typed.reason),
        in_full: false,
        outcome: match typed.outcome.as_str() {
            "changed" => Some(WantedOutcome::Changed),
            "refused" => Some(WantedOutcome::Refused),
            _ => None,
        },
        since: match typed.since.as_str() {
            "1h" => Some(3_600),
            "1d" => Some(86_400),
            "7d" => Some(604_800),
            _ => None,
        },
    }
}

/// The latest calls that fit, newest first. `None` if a log cannot be read.
fn calls(executor: &Executor, filter: &CallFilter, most: usize) -> Option<Vec<LoggedCall>> {
    let time = LocalTime::at(executor.now());
    let mut found = Vec::new();
    for served in executor.vaults().iter() {
        // A filter has to see all of them.
        let wanted = if filter.is_open() { most } else { usize::MAX };
        let (lines, _) = served.log.tail(wanted).ok()?;
        let calls = lines.iter().filter_map(|line| LoggedCall::parse(line));
        found.extend(calls.filter(|call| filter.lets(call, &time)));
    }
    // The sort is stable: lines of the same millisecond stay in order.
    found.sort_by(|one, other| one.text("ts").cmp(other.text("ts")));
    // Not a sort in the other order, which would turn around lines of the same millisecond.
    found.reverse();
    found.truncate(most);
    Some(found)
}

/// Calls and bytes by client, with the most calls first.
fn shares(calls: &[LoggedCall]) -> Vec<ClientShare> {
    let mut by_client: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    // Lines about the store have no client.
    for call in calls.iter().filter(|call| !call.text("client_id").is_empty()) {
        let (count, bytes) = by_client.entry(call.client()).or_default();
        *count += 1;
        *bytes += call.facts()["reply_bytes"].as_f64().unwrap_or_default();
    }
    let most_calls = by_client.values().map(|(count, _)| *count).max().unwrap_or_default().max(1);
    // At least one, so that nothing is divided by zero.
    let most_bytes = by_client.values().map(|(_, bytes)| *bytes).fold(1.0, f64::max);
    let mut shares: Vec<(&str, (usize, f64))> = by_client.into_iter().collect();
    shares.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let share = |(name, (calls, bytes)): (&str, (usize, f64))| ClientShare {
        name: ShownText::line(name),
        calls,
        bytes: sized(bytes),
        // A client that did something has a bar that can be seen.
        calls_width: (calls * 100 / most_calls).max(1),
        bytes_width: ((bytes * 100.0 / most_bytes) as usize).clamp(1, 100),
        address: format!("/console/activity?client={}", percent_encoded(name)),
    };
    shares.into_iter().take(MOST_CLIENTS).map(share).collect()
}

/// A number of bytes as people read it.
fn sized(bytes: f64) -> String {
    match bytes {
        ..1_000.0 => format!("{bytes:.0} B"),
        ..1_000_000.0 => format!("{:.1} KB", bytes / 1_000.0),
        _ => format!("{:.1} MB", bytes / 1_000_000.0),
    }
}

fn tone_of(tone: CallTone) -> OutcomeTone {
    match tone {
        CallTone::Plain => OutcomeTone::Plain,
        CallTone::Changed => OutcomeTone::Changed,
        CallTone::Refused => OutcomeTone::Refused,
        CallTone::Waiting => OutcomeTone::Waiting,
    }
}

fn activity_row(call: &LoggedCall, time: &LocalTime) -> ActivityRow {
    let (words, tone) = call.outcome();
    ActivityRow {
        time: ShownText::line(&time.ago(call.text("ts"))),
        exact_time: ShownText::line(call.text("ts")),
        client: ShownText::line(call.client()),
        tool: ShownText::line(call.text("tool")),
        note: ShownText::line(call.text("file")),
        vault: ShownText::line(call.text("vault")),
        outcome: ShownText::line(words),
        tone: tone_of(tone),
        milliseconds: call.number("duration_ms"),
        bytes: call.number("reply_bytes"),
        address: change_address(call),
        open: call_address(call),
    }
}

/// The same for a page that is open: every text on one line and visible.
pub(super) fn live_row(call: &LoggedCall, time: &LocalTime) -> Value {
    let (words, tone) = call.outcome();
    json!({
        "time": time.ago(call.text("ts")), "exact": one_line(call.text("ts")), "client": one_line(call.client()),
        "tool": one_line(call.text("tool")), "outcome": one_line(words), "tone": tone_of(tone).class(),
        "note": one_line(call.text("file")), "vault": one_line(call.text("vault")),
        "ms": call.number("duration_ms"), "bytes": call.number("reply_bytes"),
        "address": change_address(call), "open": call_address(call),
    })
}

/// The page of the change that a call made.
fn change_address(call: &LoggedCall) -> Option<String> {
    Some(address_of_change(call.checkpoint()?, call.text("vault")))
}

fn call_address(call: &LoggedCall) -> String {
    let part = |name: &str| percent_encoded(call.text(name));
    format!("/console/activity/call?time={}&vault={}&arguments={}", part("ts"), part("vault"), part("args_hash"))
}

/// The page of a change. Each vault has its own.
pub(super) fn address_of_change(id: &str, vault: &str) -> String {
    format!("/console/history/{}?vault={}", percent_encoded(id), percent_encoded(vault))
}
