//! Taking changes back: one change, one file of it, or everything since. Shown first, and made only as shown.

use axum::{
    Extension, Router,
    extract::{Path, Request, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use lapidary_auth::{FormParameters, percent_encoded};
use lapidary_console::{AnswerPage, ConsoleSection, RestoreChoice, RestoreOffer, RestorePage, ShownText};
use lapidary_note::ContentHash;
use lapidary_pipeline::{Amendment, Outcome, OwnerReview};
use serde_json::{Value, json};

use super::{
    Console, ConsoleState, activity::address_of_change, changed_files::files, console_calls::words_of, history::entry,
    no_answer, page, query, sessions::OpenSession,
};

/// How many of the latest changes are looked through for one.
const LOOKED_THROUGH: usize = 200;
/// Files that can be taken back alone by a link; the page of a note's versions has the others.
const MOST_CHOICES: usize = 10;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/history/{id}", get(show).post(restore))
}

/// What is taken back.
struct RestoreTarget {
    id: String,
    /// `None` if there is only one.
    vault: Option<String>,
    /// Only this file.
    path: Option<String>,
    /// Every later change too.
    and_later: bool,
}

impl RestoreTarget {
    fn of(console: &Console, id: String, parameters: &FormParameters) -> Self {
        Self {
            id,
            vault: console.vault(parameters.get("vault")),
            path: parameters.get("path").filter(|path| !path.is_empty()).map(str::to_owned),
            and_later: parameters.get("later").is_some(),
        }
    }

    fn vault(&self) -> &str {
        self.vault.as_deref().unwrap_or_default()
    }

    /// The page about it.
    fn address(&self) -> String {
        let path = self.path.as_deref().map_or_else(String::new, |path| format!("&path={}", percent_encoded(path)));
        let later = if self.and_later { "&later=1" } else { "" };
        format!("{}{path}{later}", address_of_change(&self.id, self.vault()))
    }

    /// Takes it back, or says what that would do.
    async fn restored(&self, console: &Console, review: OwnerReview) -> Option<Outcome> {
        let arguments = json!({
            "id": self.id, "vault": self.vault, "path": self.path, "andLater": self.and_later.then_some(true),
        });
        console.call_reviewed("checkpoint_restore", arguments, review).await
    }

    /// What it would change; or why not, in words. `None` if the vault does not answer.
    async fn offer(&self, console: &Console) -> Option<Result<RestoreOffer, String>> {
        let (shown, digest) = match self.restored(console, OwnerReview::Preview).await? {
            Outcome::Previewed(preview) => {
                let names = console.vault_names();
                let vault = self.vault.as_ref().or(names.first()).map_or("", String::as_str);
                (files(vault, &preview, &preview, &Amendment::default()), preview.digest().to_string())
            }
            // Nothing would change.
            // The files are already as they were: there is nothing to approve.
            Outcome::Answered(_) => (Vec::new(), String::new()),
            outcome => return Some(Err(refusal(outcome))),
        };
        Some(Ok(RestoreOffer {
            address: format!("/console/history/{}", percent_encoded(&self.id)),
            vault: self.vault().to_owned(),
            path: self.path.clone().unwrap_or_default(),
            and_later: self.and_later,
            files: shown,
            digest,
            is_split: false,
        }))
    }
}

fn refusal(outcome: Outcome) -> String {
    outcome.rendered().map_or_else(|| "It cannot be taken back.".to_owned(), |reply| words_of(&reply))
}

/// What taking back a change would do, for the page of the call that made it.
pub(super) async fn offer(console: &Console, id: &str, vault: &str) -> Option<RestoreOffer> {
    let target = RestoreTarget { id: id.to_owned(), vault: console.vault(Some(vault)), path: None, and_later: false };
    target.offer(console).await?.ok()
}

/// The page that brings back one file as it was before a change.
pub(super) fn address_of_file(id: &str, vault: Option<&str>, path: &str) -> String {
    let (vault, path) = (vault.map(str::to_owned), Some(path.to_owned()));
    RestoreTarget { id: id.to_owned(), vault, path, and_later: false }.address()
}

async fn show(
    State(console): ConsoleState,
    Extension(session): Extension<OpenSession>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let target = RestoreTarget::of(&console, id, &query(&request));
    draw(&console, &session, &target, None).await
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
    let target = RestoreTarget::of(&console, id, &form);
    // A form without a digest comes from a page that could not show the change.
    let Some(digest) = form.get("digest").and_then(|digest| digest.parse::<ContentHash>().ok()) else {
        return draw(&console, &session, &target, None).await;
    };
    let approved = OwnerReview::Approved { digest, amendment: Amendment::default() };
    match target.restored(&console, approved).await {
        None => no_answer(),
        Some(Outcome::Answered(payload)) => {
            let checkpoint = match payload {
                lapidary_tools::ReadPayload::Tool(reply) => {
                    reply.facts().get("checkpoint").and_then(Value::as_str).map(str::to_owned)
                }
                _ => None,
            };
            let frame = console.frame(ConsoleSection::HISTORY, &session).await;
            let text = ShownText::line(match &target.path {
                Some(_) => "The file is as it was before that change.",
                None => "The files are as they were before that change.",
            });
            let address = checkpoint.map(|id| address_of_change(&id, target.vault()));
            page(StatusCode::OK, &AnswerPage { frame, heading: "Taken back", text, is_done: true, address })
        }
        Some(outcome) => draw(&console, &session, &target, Some(refusal(outcome))).await,
    }
}

async fn draw(console: &Console, session: &OpenSession, target: &RestoreTarget, problem: Option<String>) -> Response {
    let arguments = json!({ "limit": LOOKED_THROUGH, "vault": target.vault });
    let listed = match console.call("checkpoint_list", arguments).await {
        None => return no_answer(),
        // A history that cannot be listed still lets a known change be taken back.
        Some(listed) => listed.unwrap_or_default(),
    };
    let changes = listed["checkpoints"].as_array().map(Vec::as_slice).unwrap_or_default();
    // An older one is still shown, without its facts.
    let unknown = json!({ "id": target.id, "kind": "change" });
    let at = changes.iter().position(|change| change["id"] == target.id.as_str());
    let change = at.and_then(|at| changes.get(at)).unwrap_or(&unknown);
    let (offer, found) = match target.offer(console).await {
        None => return no_answer(),
        Some(Ok(offer)) => (Some(offer), None),
        Some(Err(words)) => (None, Some(words)),
    };
    let problem = problem.or(found);
    let status = if problem.is_some() { StatusCode::CONFLICT } else { StatusCode::OK };
    let frame = console.frame(ConsoleSection::HISTORY, session).await;
    let shown = RestorePage {
        frame,
        entry: entry(change, &console.time(), target.vault.as_deref()),
        // One that is not among the latest has later ones for certain.
        choices: choices(target, change, at.is_none_or(|at| at > 0)),
        offer,
        problem: problem.as_deref().map(ShownText::block),
    };
    page(status, &shown)
}

/// The change, each of its files, and everything since.
fn choices(target: &RestoreTarget, change: &Value, has_later: bool) -> Vec<RestoreChoice> {
    let choice = |text: &str, path: Option<&str>, and_later: bool| {
        let path = path.map(str::to_owned);
        let is_current = target.path == path && target.and_later == and_later;
        let meant = RestoreTarget { id: target.id.clone(), vault: target.vault.clone(), path, and_later };
        RestoreChoice { text: ShownText::line(text), address: meant.address(), is_current }
    };
    let mut choices = vec![choice("This change", None, false)];
    let files = change["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    // With a single file the first choice already is that file.
    if files.len() > 1 {
        let paths = files.iter().filter_map(|file| file["path"].as_str()).take(MOST_CHOICES);
        choices.extend(paths.map(|path| choice(&format!("Only {path}"), Some(path), false)));
    }
    if has_later {
        choices.push(choice("This and every later change", None, true));
    }
    choices
}
