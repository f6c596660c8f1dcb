//! The page about the health of a vault. Fixes are planned, shown as they are, and made only as shown.

use std::collections::BTreeSet;

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use lapidary_auth::{FormParameters, percent_encoded};
use lapidary_console::{AnswerPage, ConsoleSection, FindingRow, FixOffer, HealthPage, KindRow, ShownText};
use lapidary_note::ContentHash;
use lapidary_pipeline::{Amendment, Outcome, OwnerReview};
use lapidary_tools::ReadPayload;
use serde_json::{Value, json};

use super::{
    Console, ConsoleState, activity::address_of_change, changed_files::files, console_calls::words_of, no_answer, page,
    query, sessions::OpenSession,
};

const CHECK: &str = "vault_health_check";
const FIX: &str = "vault_health_fix";
/// Findings on a page.
const LISTED: usize = 100;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/health", get(show).post(mend))
}

/// What is looked at, and which findings are chosen.
struct HealthChoice {
    vault: Option<String>,
    kind: Option<String>,
    cursor: Option<String>,
    chosen: BTreeSet<String>,
}

impl HealthChoice {
    fn of(console: &Console, parameters: &FormParameters) -> Self {
        Self {
            vault: console.vault(parameters.get("vault")),
            kind: parameters.get("kind").map(str::to_owned),
            cursor: parameters.get("cursor").map(str::to_owned),
            // The box of each finding has the id in its name, so several can be ticked in one form.
            chosen: parameters.named("fix.").map(str::to_owned).collect(),
        }
    }

    fn address(&self, kind: &str, cursor: Option<&str>) -> String {
        let mut address = format!("/console/health?kind={}", percent_encoded(kind));
        for (name, value) in [("vault", self.vault.as_deref()), ("cursor", cursor)] {
            if let Some(value) = value {
                address += &format!("&{name}={}", percent_encoded(value));
            }
        }
        address
    }

    async fn mended(&self, console: &Console, review: OwnerReview) -> Option<Outcome> {
        let arguments = json!({ "vault": self.vault, "findings": self.chosen });
        console.call_reviewed(FIX, arguments, review).await
    }
}

async fn show(State(console): ConsoleState, Extension(session): Extension<OpenSession>, request: Request) -> Response {
    let choice = HealthChoice::of(&console, &query(&request));
    draw(&console, &session, &choice, None, None).await
}

async fn mend(State(console): ConsoleState, Extension(session): Extension<OpenSession>, request: Request) -> Response {
    let form = match console.form(request, &session).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let choice = HealthChoice::of(&console, &form);
    if choice.chosen.is_empty() {
        return draw(&console, &session, &choice, None, Some("Choose a finding first.".to_owned())).await;
    }
    // Without a digest nothing was shown yet, so it is planned and shown first.
    let Some(digest) = form.get("digest").and_then(|digest| digest.parse::<ContentHash>().ok()) else {
        return match choice.mended(&console, OwnerReview::Preview).await {
            None => no_answer(),
            Some(Outcome::Previewed(preview)) => {
                let names = console.vault_names();
                let vault = choice.vault.as_ref().or(names.first()).map_or("", String::as_str);
                let offer = FixOffer {
                    files: files(vault, &preview, &preview, &Amendment::default()),
                    digest: preview.digest().to_string(),
                    chosen: choice.chosen.iter().cloned().collect(),
                    is_split: false,
                };
                draw(&console, &session, &choice, Some(offer), None).await
            }
            // Nothing would change.
            Some(Outcome::Answered(_)) => {
                let offer = FixOffer { files: Vec::new(), digest: String::new(), chosen: Vec::new(), is_split: false };
                draw(&console, &session, &choice, Some(offer), None).await
            }
            Some(outcome) => draw(&console, &session, &choice, None, Some(refusal(outcome))).await,
        };
    };
    // The executor compares the digest with what it is about to do.
    let approved = OwnerReview::Approved { digest, amendment: Amendment::default() };
    match choice.mended(&console, approved).await {
        None => no_answer(),
        Some(Outcome::Answered(payload)) => {
            let checkpoint = match payload {
                ReadPayload::Tool(reply) => reply.facts().get("checkpoint").and_then(Value::as_str).map(str::to_owned),
                _ => None,
            };
            let frame = console.frame(ConsoleSection::HEALTH, &session).await;
            let text = ShownText::line("The findings are mended, as one change that can be taken back.");
            let address = checkpoint.map(|id| address_of_change(&id, choice.vault.as_deref().unwrap_or_default()));
            page(StatusCode::OK, &AnswerPage { frame, heading: "Mended", text, is_done: true, address })
        }
        Some(outcome) => draw(&console, &session, &choice, None, Some(refusal(outcome))).await,
    }
}

fn refusal(outcome: Outcome) -> String {
    outcome.rendered().map_or_else(|| "It cannot be mended.".to_owned(), |reply| words_of(&reply))
}

async fn draw(
    console: &Console,
    session: &OpenSession,
    choice: &HealthChoice,
    offer: Option<FixOffer>,
    problem: Option<String>,
) -> Response {
    // The summary is always shown, since it is how one gets to another kind.
    let summary = match console.call(CHECK, json!({ "vault": choice.vault })).await {
        None => return no_answer(),
        Some(answer) => answer,
    };
    let found = match &choice.kind {
        None => Ok(Value::Null),
        Some(kind) => {
            let arguments = json!({ "vault": choice.vault, "kind": kind, "limit": LISTED, "cursor": choice.cursor });
            match console.call(CHECK, arguments).await {
                None => return no_answer(),
                Some(answer) => answer,
            }
        }
    };
    // The first problem is the cause of the others.
    let trouble = problem.or_else(|| summary.as_ref().err().cloned()).or_else(|| found.as_ref().err().cloned());
    let (summary, found) = (summary.unwrap_or_default(), found.unwrap_or_default());
    let status = if trouble.is_some() { StatusCode::CONFLICT } else { StatusCode::OK };
    let shown = HealthPage {
        frame: console.frame(ConsoleSection::HEALTH, session).await,
        kinds: entries(&summary, "summary").iter().map(|kind| kind_row(kind, choice)).collect(),
        kind: choice.kind.clone().unwrap_or_default(),
        findings: entries(&found, "findings").iter().map(|finding| finding_row(finding, choice)).collect(),
        more: found["nextCursor"]
            .as_str()
            .zip(choice.kind.as_deref())
            .map(|(cursor, kind)| choice.address(kind, Some(cursor))),
        offer,
        vault: choice.vault.clone(),
        vaults: console.vault_names(),
        problem: trouble.as_deref().map(ShownText::block),
    };
    page(status, &shown)
}

fn entries<'v>(answer: &'v Value, field: &str) -> &'v [Value] {
    answer[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn kind_row(kind: &Value, choice: &HealthChoice) -> KindRow {
    let name = kind["kind"].as_str().unwrap_or_default();
    KindRow {
        name: ShownText::line(&name.replace('_', " ")),
        severity: ShownText::line(kind["severity"].as_str().unwrap_or_default()),
        count: kind["count"].as_u64().unwrap_or_default(),
        fixable: kind["fixable"].as_u64().unwrap_or_default(),
        address: choice.address(name, None),
        is_current: choice.kind.as_deref() == Some(name),
    }
}

fn finding_row(finding: &Value, choice: &HealthChoice) -> FindingRow {
    let id = finding["id"].as_str().unwrap_or_default();
    let fix = finding["fix"].as_str();
    FindingRow {
        id: id.to_owned(),
        says: ShownText::sentence(finding["says"].as_str().unwrap_or_default()),
        fix: ShownText::sentence(fix.or(finding["byHand"].as_str()).unwrap_or_default()),
        is_fixable: fix.is_some(),
        is_chosen: choice.chosen.contains(id),
    }
}
