//! Changes that were made, and taking them back: shown first, and made only as shown.

use axum::{
    Extension, Router,
    extract::{Path, Request, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use lapidary_auth::percent_encoded;
use lapidary_console::{AnswerPage, ChangedFile, ConsoleSection, HistoryEntry, HistoryPage, RestorePage, ShownText};
use lapidary_note::ContentHash;
use lapidary_pipeline::{Amendment, ChangePreview, Outcome, OwnerReview};
use serde_json::{Value, json};

use super::{
    Console, ConsoleState, activity::address_of_change, changed_files::files, console_calls::words_of, no_answer, page,
    query, sessions::OpenSession,
};
use crate::commands::{client_name, local_time::LocalTime};

/// Changes on a page.
const LISTED: usize = 30;
/// Files of a change that are named in the list.
const MOST_FILES: usize = 5;
/// How many of the latest changes are looked through for one.
const LOOKED_THROUGH: usize = 200;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/history", get(list)).route("/console/history/{id}", get(show).post(restore))
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

async fn show(
    State(console): ConsoleState,
    Extension(session): Extension<OpenSession>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let vault = console.vault(query(&request).get("vault"));
    draw(&console, &session, &id, vault, None).await
}

async fn restore(
    State(console): ConsoleState,
    Extension(session): Extension<OpenSession>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let form = match console.form(request, &session).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let vault = console.vault(form.get("vault"));
    let Some(digest) = form.get("digest").and_then(|digest| digest.parse::<ContentHash>().ok()) else {
        return draw(&console, &session, &id, vault, None).await;
    };
    let approved = OwnerReview::Approved { digest, amendment: Amendment::default() };
    match restored(&console, &id, vault.as_deref(), approved).await {
        None => no_answer(),
        Some(Outcome::Answered(payload)) => {
            let checkpoint = match payload {
                lapidary_tools::ReadPayload::Tool(reply) => {
                    reply.facts().get("checkpoint").and_then(Value::as_str).map(str::to_owned)
                }
                _ => None,
            };
            let frame = console.frame(ConsoleSection::HISTORY, &session).await;
            let text = ShownText::line("The files are as they were before that change.");
            let address = checkpoint.map(|id| address_of_change(&id, vault.as_deref().unwrap_or_default()));
            page(StatusCode::OK, &AnswerPage { frame, heading: "Taken back", text, is_done: true, address })
        }
        Some(outcome) => {
            let words =
                outcome.rendered().map_or_else(|| "It cannot be taken back.".to_owned(), |reply| words_of(&reply));
            draw(&console, &session, &id, vault, Some(words)).await
        }
    }
}

/// Takes a change back, or says what that would do.
async fn restored(console: &Console, id: &str, vault: Option<&str>, review: OwnerReview) -> Option<Outcome> {
    console.call_reviewed("checkpoint_restore", json!({ "id": id, "vault": vault }), review).await
}

async fn draw(
    console: &Console,
    session: &OpenSession,
    id: &str,
    vault: Option<String>,
    problem: Option<String>,
) -> Response {
    let listed = match console.call("checkpoint_list", json!({ "limit": LOOKED_THROUGH, "vault": vault })).await {
        None => return no_answer(),
        Some(listed) => listed.unwrap_or_default(),
    };
    let changes = listed["checkpoints"].as_array().map(Vec::as_slice).unwrap_or_default();
    // An older one is still shown, without its facts.
    let unknown = json!({ "id": id, "kind": "change" });
    let change = changes.iter().find(|change| change["id"] == id).unwrap_or(&unknown);
    let time = console.time();
    let entry = entry(change, &time, vault.as_deref());
    let Some(outcome) = restored(console, id, vault.as_deref(), OwnerReview::Preview).await else { return no_answer() };
    let (shown, digest, found) = match outcome {
        Outcome::Previewed(preview) => (shown_files(&preview), preview.digest().to_string(), None),
        // Nothing would change.
        Outcome::Answered(_) => (Vec::new(), String::new(), None),
        outcome => (Vec::new(), String::new(), outcome.rendered().map(|reply| words_of(&reply))),
    };
    let problem = problem.or(found);
    let status = if problem.is_some() { StatusCode::CONFLICT } else { StatusCode::OK };
    let frame = console.frame(ConsoleSection::HISTORY, session).await;
    let (vault, problem) = (vault.unwrap_or_default(), problem.as_deref().map(ShownText::block));
    page(status, &RestorePage { frame, entry, vault, files: shown, digest, is_split: false, problem })
}

fn shown_files(preview: &ChangePreview) -> Vec<ChangedFile> {
    files(preview, preview, &Amendment::default())
}

fn entry(change: &Value, time: &LocalTime, vault: Option<&str>) -> HistoryEntry {
    let text = |name: &str| change[name].as_str().unwrap_or_default();
    let named = change["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let file = |file: &Value| {
        let text = |name: &str| file[name].as_str().unwrap_or_default();
        let to = file["movedTo"].as_str().map_or_else(String::new, |to| format!(" → {to}"));
        ShownText::line(&format!("{} {}{to}", text("what"), text("path")))
    };
    let kind = text("kind").replace('_', " ");
    let mut letters = kind.chars();
    let kind: String = letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect());
    HistoryEntry {
        id: text("id").to_owned(),
        time: ShownText::line(&time.exact(text("time"))),
        exact_time: ShownText::line(text("time")),
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
