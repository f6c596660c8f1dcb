//! Changes that were made, newest first.

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use lapidary_auth::percent_encoded;
use lapidary_console::{ConsoleSection, HistoryEntry, HistoryFile, HistoryPage, ShownText};
use serde_json::{Value, json};

use super::{
    Console, ConsoleState, activity::address_of_change, no_answer, page, query, sessions::OpenSession,
    versions::address_of_versions,
};
use crate::commands::{client_name, local_time::LocalTime};

/// Changes on a page.
const LISTED: usize = 30;
/// Files of a change that are named in the list.
const MOST_FILES: usize = 5;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/history", get(list))
}

async fn list(State(console): ConsoleState, Extension(session): Extension<OpenSession>, request: Request) -> Response {
    let parameters = query(&request);
    let (note, vault) = (parameters.get("note").map(str::to_owned), console.vault(parameters.get("vault")));
    let arguments = json!({ "path": note, "limit": LISTED, "before": parameters.get("before"), "vault": vault });
    let (answer, problem) = match console.call("checkpoint_list", arguments).await {
        None => return no_answer(),
        Some(Ok(answer)) => (answer, None),
        Some(Err(words)) => (Value::Null, Some(ShownText::block(&words))),
    };
    let time = console.time();
    let changes = answer["checkpoints"].as_array().map(Vec::as_slice).unwrap_or_default();
    let entries = changes.iter().map(|change| entry(change, &time, vault.as_deref())).collect();
    // With the same filters, so that the next page goes on with the same list.
    let older = answer["nextBefore"].as_str().map(|before| {
        let mut address = format!("/console/history?before={}", percent_encoded(before));
        for (name, value) in [("note", &note), ("vault", &vault)] {
            if let Some(value) = value {
                address += &format!("&{name}={}", percent_encoded(value));
            }
        }
        address
    });
    let vaults = console.vault_names();
    let frame = console.frame(ConsoleSection::HISTORY, &session).await;
    let note = note.unwrap_or_default();
    page(StatusCode::OK, &HistoryPage { frame, entries, note, vault, vaults, older, problem })
}

/// A change of `checkpoint_list`.
pub(super) fn entry(change: &Value, time: &LocalTime, vault: Option<&str>) -> HistoryEntry {
    let text = |name: &str| change[name].as_str().unwrap_or_default();
    let named = change["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let file = |file: &Value| {
        let text = |name: &str| file[name].as_str().unwrap_or_default();
        let to = file["movedTo"].as_str().map_or_else(String::new, |to| format!(" → {to}"));
        HistoryFile {
            text: ShownText::line(&format!("{} {}{to}", text("what"), text("path"))),
            // Of a file that was moved, the versions are found under its present name.
            address: address_of_versions(file["movedTo"].as_str().unwrap_or(text("path")), vault.unwrap_or_default()),
        }
    };
    let kind = text("kind").replace('_', " ");
    let mut letters = kind.chars();
    let kind: String = letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect());
    HistoryEntry {
        id: text("id").to_owned(),
        time: ShownText::line(&time.exact(text("time"))),
        exact_time: ShownText::line(text("time")),
        // A change without a client was noticed, not made: a sync tool or an editor wrote it.
        client: ShownText::line(if text("client").is_empty() {
            "another program"
        } else {
            client_name(text("client"))
        }),
        tool: ShownText::line(text("tool")),
        kind: ShownText::line(&kind),
        files: named.iter().take(MOST_FILES).map(file).collect(),
        more_files: named.len().saturating_sub(MOST_FILES),
        address: address_of_change(text("id"), vault.unwrap_or_default()),
    }
}
