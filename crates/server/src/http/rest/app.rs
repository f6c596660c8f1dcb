//! What a request wants of the Obsidian app: the open note, opening another, commands. Where there is no app, the answers are
//! those of a plugin whose app has nothing open and no commands.

use axum::{
    http::{HeaderValue, Method},
    response::{IntoResponse, Response},
};
use lapidary_pipeline::{Invocation, Outcome};
use lapidary_plugin::AppState;
use lapidary_tools::{AppFault, FindOpenNote, OffReason, ReadPayload, Reason, ReasonKind, RestOpenNote, RestPayload};
use lapidary_vault::VaultPath;
use serde_json::{Map, Value, json};

use super::{
    RestApi,
    api_error::{ApiError, json_response, no_content},
    broken,
    request_path::RequestPath,
    rest_caller::RestCaller,
    rest_request::RestRequest,
};

impl RestApi {
    /// The note in front of the user; without the app, the one last opened through us.
    pub(super) async fn open_note(&self, caller: &RestCaller) -> Result<Option<VaultPath>, ApiError> {
        let operation = FindOpenNote { vault: caller.vault.clone() };
        let RestPayload::OpenNote(found) = self.read(caller, operation).await? else { return Err(broken()) };
        Ok(match found {
            RestOpenNote::Note(path) => Some(path),
            RestOpenNote::Nothing => None,
            RestOpenNote::Unknown => self.active(caller),
        })
    }

    /// Shows a note in the app; whether it did. A server without one, or a caller without the right, still has it as the active
    /// one here.
    pub(super) async fn show(&self, caller: &RestCaller, path: &VaultPath, new_leaf: bool) -> Result<bool, ApiError> {
        let arguments = json!({ "path": path.as_str(), "newLeaf": new_leaf });
        match self.by_app(caller, "rest/open", arguments).await {
            Ok(answer) => Ok(answer.get("opened").is_some_and(|opened| opened == true)),
            Err(Some(reason)) if reason.kind() == ReasonKind::ToolDisabled => Ok(false),
            Err(reason) => Err(reason.map_or_else(broken, |reason| ApiError::of(&reason))),
        }
    }

    pub(super) async fn commands(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        rest: &str,
    ) -> Result<Response, ApiError> {
        match (&request.method, rest) {
            (&Method::GET | &Method::HEAD, "") => {
                match self.by_app(caller, "rest/commands", json!({})).await {
                    Ok(mut answer) => {
                        let commands = answer.remove("commands").unwrap_or_else(|| json!([]));
                        Ok(json_response(&json!({ "commands": commands })))
                    }
                    // Without the app there are none, and a program that knows the header learns why.
                    Err(Some(reason)) if has_no_app(&reason) => {
                        Ok(without_app(json_response(&json!({ "commands": [] })), state_of(&reason)))
                    }
                    Err(reason) => Err(reason.map_or_else(broken, |reason| ApiError::of(&reason))),
                }
            }
            (&Method::POST, _) => {
                let RequestPath { parts, .. } = RequestPath::parse(rest)?;
                // Exactly one part: a command's id has no slash.
                let [id] = &parts.iter().filter(|part| !part.is_empty()).collect::<Vec<_>>()[..] else {
                    return Err(ApiError::not_found());
                };
                match self.by_app(caller, "rest/command", json!({ "commandId": id })).await {
                    Ok(_) => Ok(no_content()),
                    // The same answer for all: which commands exist is for callers with the right to them.
                    Err(Some(Reason::CommandUnknown { .. })) => Err(ApiError::not_found()),
                    Err(Some(reason)) if has_no_app(&reason) => {
                        let error = ApiError::not_found().with(in_words(&reason));
                        Ok(without_app(error.into_response(), state_of(&reason)))
                    }
                    Err(reason) => Err(reason.map_or_else(broken, |reason| ApiError::of(&reason))),
                }
            }
            _ => Err(ApiError::not_found()),
        }
    }

    /// A call that the app answers; its answer, or the reason why not.
    async fn by_app(
        &self,
        caller: &RestCaller,
        name: &'static str,
        arguments: Value,
    ) -> Result<Map<String, Value>, Option<Reason>> {
        let Value::Object(mut arguments) = arguments else { return Err(None) };
        arguments.insert("vault".to_owned(), Value::from(caller.vault.clone()));
        match self.execute(Invocation::internal(name, arguments, caller.principal.clone())).await {
            Outcome::Answered(ReadPayload::Tool(rendered)) if !rendered.is_error => Ok(rendered.facts()),
            Outcome::Refused(refusal) => Err(Some(refusal.reason)),
            Outcome::Answered(_) | Outcome::Asked(_) | Outcome::Previewed(_) | Outcome::UnknownTool { .. } => Err(None),
        }
    }
}

/// Marks an answer that the app had no part in.
pub(super) fn without_app(mut response: Response, state: AppState) -> Response {
    response.headers_mut().insert(AppState::HEADER, HeaderValue::from_static(state.word()));
    response
}

fn state_of(reason: &Reason) -> AppState {
    match reason {
        Reason::ToolOff { .. } | Reason::AppUnavailable { fault: AppFault::CommandsOffThere, .. } => {
            AppState::CommandsOff
        }
        _ => AppState::Absent,
    }
}

/// Why there is no command, and what can be done. The reasons themselves have words for models.
fn in_words(reason: &Reason) -> String {
    match reason {
        Reason::ToolOff { off: OffReason::Commands, .. } => {
            "Commands are off; the owner can set OBSIDIAN_ENABLE_COMMANDS=true.".to_owned()
        }
        Reason::ToolOff { off: OffReason::ReadOnly, .. } => "The server is read-only, so commands are off.".to_owned(),
        Reason::ToolOff { .. } => "Commands are off for this key; use that of the vault's plugin.".to_owned(),
        reason => format!("{reason} Start Obsidian with this vault and its plugin Local REST API."),
    }
}

/// Whether no app can be asked here: it does not run, or the owner has switched its commands off.
fn has_no_app(reason: &Reason) -> bool {
    match reason {
        Reason::AppUnavailable { fault, .. } => fault.is_absence(),
        Reason::ToolOff { .. } => true,
        _ => false,
    }
}
