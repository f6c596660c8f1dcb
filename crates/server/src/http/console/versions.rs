//! The versions of a note: what it was before each change, and what it is now.

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use lapidary_auth::percent_encoded;
use lapidary_console::{ChangedFile, ConsoleSection, NoteVersion, ShownText, VersionsPage};
use serde_json::{Value, json};

use super::{
    Console, ConsoleState,
    changed_files::{MOST_ROWS, difference},
    no_answer, page, query,
    restoring::address_of_file,
    sessions::OpenSession,
};
use crate::commands::{client_name, local_time::LocalTime};

/// Changes of the note that are looked at.
const MOST_VERSIONS: usize = 200;
/// More of a text is not shown.
const LONGEST_TEXT: usize = 200_000;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/versions", get(show))
}

/// The page with the versions of a note.
pub(super) fn address_of_versions(path: &str, vault: &str) -> String {
    format!("/console/versions?path={}&vault={}", percent_encoded(path), percent_encoded(vault))
}

async fn show(State(console): ConsoleState, Extension(session): Extension<OpenSession>, request: Request) -> Response {
    let parameters = query(&request);
    let (path, vault) = (parameters.get("path").unwrap_or_default(), console.vault(parameters.get("vault")));
    let arguments = json!({ "path": path, "limit": MOST_VERSIONS, "vault": vault });
    let (listed, mut problem) = match console.call("checkpoint_list", arguments).await {
        None => return no_answer(),
        Some(Ok(listed)) => (listed, None),
        Some(Err(words)) => (Value::Null, Some(words)),
    };
    // Newest first; a version is what was there before a change, and the last one is the present.
    let changes: Vec<&Value> = listed["checkpoints"].as_array().into_iter().flatten().rev().collect();
    let newest = changes.len();
    // A number beyond the list means the present.
    let at = parameters.get("at").and_then(|at| at.parse().ok()).unwrap_or(newest).min(newest);
    let with_now = parameters.get("with") == Some("now");
    let note = NoteHistory { console: &console, path, vault: vault.as_deref(), changes: &changes };
    let mut text = None;
    let mut files = Vec::new();
    if newest > 0 {
        // The first version has nothing before it.
        let against = if with_now { Some(newest) } else { at.checked_sub(1) };
        let other = match against {
            Some(other) => note.text(other).await,
            None => Some(Ok(None)),
        };
        match (note.text(at).await, other) {
            (None, _) | (_, None) => return no_answer(),
            (Some(Err(words)), _) | (_, Some(Err(words))) => problem = problem.or(Some(words)),
            (Some(Ok(shown)), Some(Ok(other))) => {
                // From the older to the newer one.
                let (before, after) = if with_now { (&shown, &other) } else { (&other, &shown) };
                files.push(note.compared(before.as_deref(), after.as_deref()));
                text = shown;
            }
        }
    }
    let time = console.time();
    let cut = text.as_ref().and_then(|text| text.char_indices().nth(LONGEST_TEXT)).map(|(end, _)| end);
    let shown = VersionsPage {
        shown_path: ShownText::line(path),
        path: path.to_owned(),
        vault: vault.clone().unwrap_or_default(),
        versions: (0..=newest).map(|version| note.version(version, at, &time)).collect(),
        at,
        is_text_cut: cut.is_some(),
        text: text.as_deref().map(|text| ShownText::block(&text[..cut.unwrap_or(text.len())])),
        files,
        with_now,
        against_before: note.address(at),
        against_now: format!("{}&with=now", note.address(at)),
        restore: changes
            .get(at)
            .and_then(|change| change["id"].as_str())
            .map(|id| address_of_file(id, vault.as_deref(), path)),
        has_more: listed["nextBefore"].is_string(),
        is_split: false,
        problem: problem.as_deref().map(ShownText::block),
        frame: console.frame(ConsoleSection::HISTORY, &session).await,
    };
    page(StatusCode::OK, &shown)
}

struct NoteHistory<'a> {
    console: &'a Console,
    path: &'a str,
    vault: Option<&'a str>,
    /// Oldest first.
    changes: &'a [&'a Value],
}

impl NoteHistory<'_> {
    fn address(&self, version: usize) -> String {
        format!("{}&at={version}", address_of_versions(self.path, self.vault.unwrap_or_default()))
    }

    /// Its text; nothing if there was no note. A refusal is in words.
    async fn text(&self, version: usize) -> Option<Result<Option<String>, String>> {
        let content = |answer: Value| answer["content"].as_str().map(str::to_owned);
        let Some(change) = self.changes.get(version) else {
            let answer = self.console.call("file_read", json!({ "file": self.path, "vault": self.vault })).await?;
            // A note that is gone has no text now.
            return Some(Ok(answer.ok().and_then(content)));
        };
        // What a change created was not there before it.
        if self.file_of(change).is_some_and(|file| file["what"] == "created") {
            return Some(Ok(None));
        }
        let arguments = json!({ "id": change["id"], "path": self.path, "vault": self.vault });
        Some(self.console.call("checkpoint_read", arguments).await?.map(content))
    }

    fn file_of<'c>(&self, change: &'c Value) -> Option<&'c Value> {
        // Under either name: the change that moved the note belongs to its history.
        let is_it = |file: &&Value| file["path"] == self.path || file["movedTo"] == self.path;
        change["files"].as_array()?.iter().find(is_it)
    }

    fn version(&self, version: usize, at: usize, time: &LocalTime) -> NoteVersion {
        // A version came about by the change before the one that replaced it.
        let made_by = version.checked_sub(1).and_then(|before| self.changes.get(before));
        let words = match made_by {
            None => "Before the first change".to_owned(),
            Some(change) => {
                let text = |name: &str| change[name].as_str().unwrap_or_default();
                let by = if text("client").is_empty() { "another program" } else { client_name(text("client")) };
                format!("{}, {} by {by}", time.exact(text("time")), text("tool"))
            }
        };
        let now = if version == self.changes.len() { "Now: " } else { "" };
        NoteVersion {
            label: ShownText::line(&format!("{now}{words}")),
            address: self.address(version),
            is_current: version == at,
        }
    }

    fn compared(&self, before: Option<&str>, after: Option<&str>) -> ChangedFile {
        let names = self.console.vault_names();
        let vault = self.vault.or(names.first().map(String::as_str)).unwrap_or_default();
        let (diff, instead) = difference(vault, before.map(str::as_bytes), after.map(str::as_bytes), MOST_ROWS);
        ChangedFile {
            path: self.path.to_owned(),
            shown_path: ShownText::line(self.path),
            action: ShownText::default(),
            diff,
            instead,
            text: None,
            planned: String::new(),
            is_left_out: false,
            is_edited: false,
        }
    }
}
