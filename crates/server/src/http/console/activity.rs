//! The log of calls, newest first, filtered by what the address says.

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use lapidary_auth::{FormParameters, percent_encoded};
use lapidary_console::{ActivityFilter, ActivityPage, ActivityRow, ConsoleSection, OutcomeTone, ShownText};
use lapidary_pipeline::Executor;
use lapidary_query::csv_record;
use serde_json::Value;

use super::{Console, ConsoleState, no_answer, page, query, sessions::OpenSession};
use crate::commands::{client_name, local_time::LocalTime};

/// More rows are not read; filters find older ones.
const MOST_ROWS: usize = 300;
/// And of an export.
const MOST_EXPORTED: usize = 100_000;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/activity", get(show)).route("/console/activity.csv", get(export))
}

async fn show(State(console): ConsoleState, Extension(session): Extension<OpenSession>, request: Request) -> Response {
    let filter = filter_of(&query(&request));
    let (wanted, time) = (filter.clone(), console.time());
    let Some(Some(found)) = console.ask(move |executor| calls(executor, &wanted, MOST_ROWS + 1)).await else {
        return no_answer();
    };
    let has_more = found.len() > MOST_ROWS;
    let rows = found.iter().take(MOST_ROWS).map(|call| activity_row(call, &time)).collect();
    let has_several_vaults = console.0.executor.vaults().iter().count() > 1;
    let address = request.uri().query().map_or_else(String::new, |query| format!("?{query}"));
    let frame = console.frame(ConsoleSection::ACTIVITY, &session).await;
    page(StatusCode::OK, &ActivityPage { frame, rows, filter, has_more, has_several_vaults, query: address })
}

async fn export(State(console): ConsoleState, request: Request) -> Response {
    let filter = filter_of(&query(&request));
    let Some(Some(found)) = console.ask(move |executor| calls(executor, &filter, MOST_EXPORTED)).await else {
        return no_answer();
    };
    let mut csv = "time,client,tool,outcome,note,vault,ms,bytes,checkpoint\r\n".to_owned();
    for call in &found {
        let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| call[key].as_f64().map(|number| format!("{number:.0}")).unwrap_or_default();
        let cells = [
            text("ts"),
            client_name(&text("client_id")).to_owned(),
            text("tool"),
            outcome(call).0.to_owned(),
            text("file"),
            text("vault"),
            number("duration_ms"),
            number("reply_bytes"),
            text("checkpoint"),
        ];
        csv += &csv_record(cells);
    }
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"lapidary-activity.csv\""),
    ];
    (headers, csv).into_response()
}

fn filter_of(parameters: &FormParameters) -> ActivityFilter {
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

/// The latest calls that fit, newest first. `None` if a log cannot be read.
fn calls(executor: &Executor, filter: &ActivityFilter, most: usize) -> Option<Vec<Value>> {
    let time = LocalTime::at(executor.now());
    let mut found = Vec::new();
    for served in executor.vaults().iter() {
        // A filter has to see all of them.
        let wanted = if *filter == ActivityFilter::default() { most } else { usize::MAX };
        let (lines, _) = served.log.tail(wanted).ok()?;
        // A line that was cut off by a crash says nothing that could be shown.
        let calls = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        found.extend(calls.filter(|call| fits(call, filter, &time)));
    }
    // The sort is stable: lines of the same millisecond stay in order.
    found.sort_by(|one, other| one["ts"].as_str().cmp(&other["ts"].as_str()));
    found.reverse();
    found.truncate(most);
    Some(found)
}

fn fits(call: &Value, filter: &ActivityFilter, time: &LocalTime) -> bool {
    let text = |key: &str| call[key].as_str().unwrap_or_default();
    let has = |wanted: &str, found: &str| wanted.is_empty() || found.to_lowercase().contains(&wanted.to_lowercase());
    let mut names =
        std::iter::once(text("file")).chain(call["files"].as_array().into_iter().flatten().filter_map(Value::as_str));
    let seconds = match filter.since.as_str() {
        "1h" => Some(3_600),
        "1d" => Some(86_400),
        "7d" => Some(604_800),
        _ => None,
    };
    has(&filter.client, text("client_id"))
        && has(&filter.tool, text("tool"))
        && has(&filter.reason, text("reason"))
        && (filter.note.is_empty() || names.any(|name| has(&filter.note, name)))
        && seconds.is_none_or(|seconds| time.is_within(text("ts"), seconds))
        && match filter.outcome.as_str() {
            "changed" => call.get("checkpoint").is_some(),
            "refused" => call["ok"] == Value::Bool(false) && call.get("asked").is_none() && !is_waiting(call),
            _ => true,
        }
}

/// Whether it is not refused, but asks the owner.
fn is_waiting(call: &Value) -> bool {
    call["reason"] == "approval_pending"
}

/// What became of a call, and how it looks.
pub(super) fn outcome(call: &Value) -> (&str, OutcomeTone) {
    if let Some(event) = call["event"].as_str() {
        return (event, OutcomeTone::Waiting);
    }
    match (call["ok"].as_bool(), call.get("asked")) {
        (Some(true), _) if call.get("dry_run").is_some() => ("dry run", OutcomeTone::Plain),
        (Some(true), _) if call.get("checkpoint").is_some() => ("changed", OutcomeTone::Changed),
        (Some(true), _) => ("ok", OutcomeTone::Plain),
        (_, Some(_)) => ("asked", OutcomeTone::Waiting),
        _ if is_waiting(call) => ("waits for approval", OutcomeTone::Waiting),
        _ => (call["reason"].as_str().unwrap_or("refused"), OutcomeTone::Refused),
    }
}

fn activity_row(call: &Value, time: &LocalTime) -> ActivityRow {
    let text = |key: &str| call[key].as_str().unwrap_or_default();
    let number = |key: &str| call[key].as_f64().map(|number| format!("{number:.0}")).unwrap_or_default();
    let (words, tone) = outcome(call);
    ActivityRow {
        time: ShownText::line(&time.ago(text("ts"))),
        exact_time: ShownText::line(text("ts")),
        client: ShownText::line(client_name(text("client_id"))),
        tool: ShownText::line(text("tool")),
        note: ShownText::line(text("file")),
        vault: ShownText::line(text("vault")),
        outcome: ShownText::line(words),
        tone,
        milliseconds: number("duration_ms"),
        bytes: number("reply_bytes"),
        address: change_address(call),
    }
}

/// The page of the change that a call made.
pub(super) fn change_address(call: &Value) -> Option<String> {
    let (id, vault) = (call["checkpoint"].as_str()?, call["vault"].as_str().unwrap_or_default());
    Some(address_of_change(id, vault))
}

/// The page of a change. Each vault has its own.
pub(super) fn address_of_change(id: &str, vault: &str) -> String {
    format!("/console/history/{}?vault={}", percent_encoded(id), percent_encoded(vault))
}
