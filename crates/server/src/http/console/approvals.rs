//! Requests that wait: what each would change, and the owner's answer.

use axum::{
    Extension, Router,
    extract::{Path, Request, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use lapidary_auth::FormParameters;
use lapidary_console::{AnswerPage, ApprovalItem, ApprovalPage, ApprovalsPage, ConsoleSection, ReviewState, ShownText};
use lapidary_pipeline::{
    Amendment, AmendmentProblem, ApprovalDecision, ApprovalOutcome, ChangePreview, Executor, PendingChange,
};
use lapidary_tools::{OutsideAction, quote::quoted};
use serde_json::Value;

use super::{
    Console, ConsoleState,
    activity::address_of_change,
    changed_files::{editable, files, mark_of},
    console_calls::words_of,
    no_answer, page, query, refused,
    sessions::OpenSession,
};
use crate::commands::{client_name, local_time::LocalTime};

/// As much as a person writes in one breath.
const MOST_WORDS: usize = 500;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/", get(list)).route("/console/approvals/{id}", get(show).post(answer))
}

async fn list(State(console): ConsoleState, Extension(session): Extension<OpenSession>) -> Response {
    let Some(Ok(pending)) = console.ask(Executor::pending).await else { return no_answer() };
    let time = console.time();
    let items = pending.iter().map(|pending| item(pending, &time)).collect();
    page(StatusCode::OK, &ApprovalsPage { frame: console.frame(ConsoleSection::APPROVALS, &session).await, items })
}

async fn show(
    State(console): ConsoleState,
    Extension(session): Extension<OpenSession>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let is_split = query(&request).get("view") == Some("split");
    let Some(pending) = find(&console, &id).await else { return gone(&console, &session).await };
    // Without a form, so nothing is amended: this is the change as the client wants it.
    let state = review(&console, &pending, FormParameters::default()).await;
    match state {
        Some((state, _)) => draw(&console, &session, &pending, state, is_split, None).await,
        None => no_answer(),
    }
}

async fn answer(
    State(console): ConsoleState,
    Extension(session): Extension<OpenSession>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let is_split = query(&request).get("view") == Some("split");
    let form = match console.form(request, &session).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    // Looked up again, since it may have been answered in another window or by the command line.
    let Some(pending) = find(&console, &id).await else { return gone(&console, &session).await };
    let mut is_action = false;
    let decision = match form.get("decision") {
        Some("reject") => {
            let words = form.get("words").map(|words| words.chars().take(MOST_WORDS).collect());
            ApprovalDecision::Reject { words }
        }
        // Another request may be in the place of the one that was shown.
        Some("approve") if pending.is_for_reading() => match form.get("digest").and_then(|shown| shown.parse().ok()) {
            Some(digest) => ApprovalDecision::Approve { digest, amendment: Amendment::default() },
            None => return gone(&console, &session).await,
        },
        Some(decision @ ("approve" | "review")) => {
            let approves = decision == "approve";
            let shown = form.get("digest").unwrap_or_default().to_owned();
            let Some((state, amendment)) = review(&console, &pending, form).await else { return no_answer() };
            // Never approved without what the owner changed.
            let amendment = match amendment {
                Ok(amendment) => amendment,
                Err(problem) => {
                    let words = format!("It cannot be made like this: {problem}. To make none of it, reject it.");
                    return draw(&console, &session, &pending, state, is_split, Some(&words)).await;
                }
            };
            let ReviewState::Changes { digest, files, action, .. } = &state else {
                return draw(&console, &session, &pending, state, is_split, None).await;
            };
            is_action = action.is_some() && files.is_empty();
            // What is approved is what was shown, to the byte. Anything else is shown first.
            // The digest covers the amendment, so a form that was edited after the preview is shown once more.
            let digest = digest.parse().ok().filter(|_| approves && *digest == shown);
            match digest {
                Some(digest) => ApprovalDecision::Approve { digest, amendment },
                None => {
                    let changed = "This is not what was on the page before. Look at it, and approve it if it is right.";
                    let problem = approves.then_some(changed);
                    return draw(&console, &session, &pending, state, is_split, problem).await;
                }
            }
        }
        _ => return refused(StatusCode::BAD_REQUEST, "The form has no decision."),
    };
    let vault = pending.vault.clone();
    // Decided in the executor like a decision on the command line: both see one queue.
    let Some(Ok(outcome)) = console.ask(move |executor| executor.decide(&pending, decision)).await else {
        return no_answer();
    };
    let frame = console.frame(ConsoleSection::APPROVALS, &session).await;
    let (status, heading, text, checkpoint) = told(outcome, is_action);
    let is_done = status == StatusCode::OK;
    let address = checkpoint.map(|id| address_of_change(&id, &vault));
    page(status, &AnswerPage { frame, heading, text: ShownText::block(&text), is_done, address })
}

async fn find(console: &Console, id: &str) -> Option<PendingChange> {
    let pending = console.ask(Executor::pending).await?.ok()?;
    pending.into_iter().find(|pending| pending.id == id)
}

async fn gone(console: &Console, session: &OpenSession) -> Response {
    let frame = console.frame(ConsoleSection::APPROVALS, session).await;
    let text = ShownText::line("It has been answered already, or it has expired.");
    let page_of = AnswerPage { frame, heading: "No longer pending", text, is_done: true, address: None };
    page(StatusCode::NOT_FOUND, &page_of)
}

fn item(pending: &PendingChange, time: &LocalTime) -> ApprovalItem {
    let summary = pending.question.lines().next().unwrap_or_default();
    ApprovalItem {
        id: pending.id.clone(),
        client: ShownText::line(client_name(&pending.caller)),
        tool: ShownText::line(&pending.tool),
        vault: ShownText::line(&pending.vault),
        summary: ShownText::sentence(summary),
        asked: ShownText::line(&time.ago(&pending.asked_at())),
        asked_exactly: ShownText::line(&pending.asked_at()),
        until: ShownText::line(&time.exact(&pending.open_until())),
        left: ShownText::line(&time.until(&pending.open_until())),
        is_taken: pending.taken,
    }
}

async fn draw(
    console: &Console,
    session: &OpenSession,
    pending: &PendingChange,
    state: ReviewState,
    is_split: bool,
    problem: Option<&str>,
) -> Response {
    let frame = console.frame(ConsoleSection::APPROVALS, session).await;
    let status = if problem.is_some() { StatusCode::CONFLICT } else { StatusCode::OK };
    let (item, problem) = (item(pending, &console.time()), problem.map(ShownText::line));
    page(status, &ApprovalPage { frame, item, state, problem, is_split })
}

/// The change as it would be made now, with what the owner changed in the form, and that amendment.
async fn review(
    console: &Console,
    pending: &PendingChange,
    form: FormParameters,
) -> Option<(ReviewState, Result<Amendment, AmendmentProblem>)> {
    if pending.is_for_reading() {
        let (question, digest) = (ShownText::block(&pending.question), pending.digest().to_string());
        return Some((ReviewState::Reading { question, digest }, Ok(Amendment::default())));
    }
    let asked = pending.clone();
    let preview = match console.ask(move |executor| executor.preview(&asked)).await? {
        Ok(preview) => preview,
        Err(outcome) => {
            let reason = ShownText::block(&told(outcome, false).2);
            return Some((ReviewState::Impossible { reason }, Ok(Amendment::default())));
        }
    };
    let wanted = amendment(&preview, &form);
    let (amended, amendment) = match preview.amended(&wanted) {
        Ok(amended) => (amended, Ok(wanted)),
        Err(problem) => (preview.clone(), Err(problem)),
    };
    // If the amendment is refused, the change is shown as the client wants it, with the reason above.
    let shown = amendment.clone().unwrap_or_default();
    // Of what is shown, also with the owner's edits: approving it lets it run.
    let (tool, changes) = (pending.tool.clone(), amended.changes.clone());
    let reviews = console.ask(move |executor| executor.recipe_reviews(&tool, &changes)).await?;
    let state = ReviewState::Changes {
        action: preview.action.as_ref().map(|action| ShownText::sentence(&action.in_words())),
        arguments: preview.action.as_ref().and_then(OutsideAction::shown_arguments).map(|text| ShownText::block(&text)),
        recipes: reviews.iter().map(|review| ShownText::sentence(review)).collect(),
        files: files(&pending.vault, &preview, &amended, &shown),
        digest: amended.digest().to_string(),
        is_separable: preview.is_separable,
        is_stale: preview.digest() != pending.digest(),
        is_amended: !shown.is_empty(),
    };
    Some((state, amendment))
}

/// What the owner left out or rewrote in the form.
fn amendment(preview: &ChangePreview, form: &FormParameters) -> Amendment {
    let mut amendment = Amendment::default();
    // Without a decision it is not a form that was sent.
    if form.get("decision").is_none() {
        return amendment;
    }
    let ticked: Vec<&str> = form.named("file-").filter_map(|number| form.get(&format!("file-{number}"))).collect();
    for change in &preview.changes.changes {
        let path = change.path();
        // A tick box that is not ticked is not sent at all, so leaving out is the absence of a path.
        if preview.is_separable && preview.changes.changes.len() > 1 && !ticked.contains(&path.as_str()) {
            amendment.left_out.insert(path.clone());
            continue;
        }
        let number = form.named("path-").find(|number| form.get(&format!("path-{number}")) == Some(path.as_str()));
        let (Some(number), Some(_)) = (number, editable(change)) else { continue };
        // A field that was emptied is not sent.
        let given = form.get(&format!("text-{number}")).unwrap_or_default().replace("\r\n", "\n");
        // Not compared with what is planned now: a file that changed meanwhile must not make an edit of an old text.
        // Compared with what the page was drawn from, which the form carries along.
        if form.get(&format!("planned-{number}")).is_some_and(|planned| planned != mark_of(&given)) {
            amendment.texts.insert(path.clone(), given);
        }
    }
    amendment
}

/// The outcome of an answer, in words, with the checkpoint that takes it back. An action of the app changes no file here.
fn told(outcome: ApprovalOutcome, is_action: bool) -> (StatusCode, &'static str, String, Option<String>) {
    let failed = |text: String| (StatusCode::CONFLICT, "Nothing was changed", text, None);
    match outcome {
        // It may have been done all the same, if the app did not answer; the words say so.
        ApprovalOutcome::Tried(reply) if reply.is_error && is_action => {
            (StatusCode::CONFLICT, "It failed", words_of(&reply), None)
        }
        ApprovalOutcome::Tried(reply) if reply.is_error => failed(words_of(&reply)),
        ApprovalOutcome::Tried(_) if is_action => {
            let text = "Obsidian has done it. The client is told when it asks again.";
            (StatusCode::OK, "Approved", text.to_owned(), None)
        }
        ApprovalOutcome::Tried(reply) => {
            let checkpoint = reply.facts().get("checkpoint").and_then(Value::as_str).map(str::to_owned);
            let text = "The change was made. The client is told when it asks again.";
            (StatusCode::OK, "Approved", text.to_owned(), checkpoint)
        }
        ApprovalOutcome::MayRead => {
            let text = "The client gets the result when it makes the call again.";
            (StatusCode::OK, "Approved", text.to_owned(), None)
        }
        ApprovalOutcome::AlreadyMade { checkpoint } => {
            let text = "It was approved before, and the change was made then.";
            (StatusCode::OK, "Approved", text.to_owned(), Some(checkpoint))
        }
        ApprovalOutcome::HidesMore => failed(
            "The server that was asked hides the files that Obsidian excludes, and this console does not. Start it with the \
             same settings, or reject the change."
                .to_owned(),
        ),
        ApprovalOutcome::Rejected => (StatusCode::OK, "Rejected", "Nothing was changed.".to_owned(), None),
        ApprovalOutcome::NoSuchProfile(name) => {
            failed(format!("It was requested under the profile {}, which is not configured here.", quoted(&name)))
        }
        ApprovalOutcome::NoSuchPrincipal(name) => {
            failed(format!("It was requested by {}, which is not configured here.", quoted(&name)))
        }
        ApprovalOutcome::ProfileChanged { principal, profile } => failed(format!(
            "It was requested by {} under the profile {}, but its profile is another one now.",
            quoted(&principal),
            quoted(&profile)
        )),
        ApprovalOutcome::Gone => failed("It has been answered already, or it has expired.".to_owned()),
    }
}
