//! PUT, POST, DELETE, MOVE and COPY of files, and of parts of notes that the URL or headers name.

use axum::{http::header, response::Response};
use base64::{Engine, engine::general_purpose::STANDARD};
use lapidary_note::{ContentHash, InstructionTarget};
use lapidary_tools::RestPlace;
use serde_json::{Map, Value, json};

use super::{
    RestApi,
    api_error::{ApiError, entity_tag, no_content},
    conditions::{ChangeCondition, RequestConditions},
    request_path::{RequestPath, decoded, leads_out, query_value},
    request_target::{self, PatchVersion},
    rest_caller::RestCaller,
    rest_request::{JSON, MARKDOWN, RequestBody, RestRequest},
    set_location,
};

/// What a request that writes is about.
pub(super) enum WritePlace {
    /// A whole file, which may not exist yet.
    File { path: String, current: Option<ContentHash> },
    /// A part of a file that exists, or of a note that the change makes.
    Part { path: String, current: Option<ContentHash>, rest: Vec<String> },
}

impl RequestPath {
    /// Where a note is made, and the part of it that is addressed.
    fn new_place(&self) -> Option<WritePlace> {
        let path = &self.new_note.as_ref()?.path;
        let rest = self.parts.get(path.names().count()..)?.to_vec();
        let path = path.to_string();
        Some(match rest.is_empty() {
            true => WritePlace::File { path, current: None },
            false => WritePlace::Part { path, current: None, rest },
        })
    }
}

/// A note of which a part is changed.
#[derive(Clone, Copy)]
pub(super) struct PatchedNote<'a> {
    pub(super) path: &'a str,
    pub(super) current: Option<&'a ContentHash>,
    /// Its text, if it does not exist and the change makes it.
    pub(super) begins: Option<&'a str>,
}

impl PatchedNote<'_> {
    /// A patch makes no note, except one that has a text to begin with.
    pub(super) fn must_exist(&self) -> Result<(), ApiError> {
        match self.current.is_some() || self.begins.is_some() {
            true => Ok(()),
            false => Err(ApiError::not_found()),
        }
    }
}

impl RestApi {
    /// Where a request writes to. A name of a folder is refused by the request itself.
    pub(super) async fn write_place(&self, caller: &RestCaller, at: &RequestPath) -> Result<WritePlace, ApiError> {
        let found = self.find(caller, at).await?;
        // Asked for only where it is needed: a path with an encoded slash has no file.
        let whole = || at.file().ok_or_else(ApiError::not_found);
        match found {
            RestPlace::Nothing if at.new_note.is_some() => at.new_place().ok_or_else(ApiError::not_found),
            RestPlace::File { path, file, rest } if !rest.is_empty() => {
                Ok(WritePlace::Part { path: path.to_string(), current: Some(file.hash()), rest })
            }
            RestPlace::File { path, file, .. } => {
                Ok(WritePlace::File { path: path.to_string(), current: Some(file.hash()) })
            }
            RestPlace::Folder(_) if at.is_folder => Err(ApiError::coded(40510)),
            // `…/heading/X` behind a note that does not exist is not the name of a new file.
            RestPlace::Nothing if at.names_target() => Err(ApiError::not_found()),
            RestPlace::Folder(_) | RestPlace::Nothing if at.is_folder => Err(ApiError::coded(40510)),
            RestPlace::Folder(_) | RestPlace::Nothing => Ok(WritePlace::File { path: whole()?, current: None }),
        }
    }

    pub(super) async fn put(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        at: &RequestPath,
    ) -> Result<Response, ApiError> {
        let (path, current) = match self.write_place(caller, at).await? {
            WritePlace::Part { path, current, rest } => {
                let note = PatchedNote { path: &path, current: current.as_ref(), begins: at.begins() };
                return self.write_part(caller, request, note, &rest, "replace").await;
            }
            WritePlace::File { path, current } => (path, current),
        };
        if let Some(target) = request_target::in_headers(request)? {
            let note = PatchedNote { path: &path, current: current.as_ref(), begins: at.begins() };
            return self.write_by_headers(caller, request, note, target, "replace").await;
        }
        if at.is_folder {
            return Err(ApiError::coded(40510));
        }
        let ChangeCondition { expected, must_be_new } =
            RequestConditions::of(&request.headers)?.for_change(current.as_ref())?;
        let (content, is_base64) = match &request.body {
            // Written as it was read: without white space.
            RequestBody::Json(value) => (value.to_string(), false),
            // What is not text is an attachment, and tools take bytes as base64.
            _ => match std::str::from_utf8(&request.bytes) {
                Ok(text) => (text.to_owned(), false),
                Err(_) => (STANDARD.encode(&request.bytes), true),
            },
        };
        let done = self.change(
            caller,
            "rest/write",
            json!({
                "path": path,
                "content": content,
                "isBase64": is_base64,
                "mustBeNew": must_be_new,
                "expectedHash": expected,
            }),
        );
        match done.await {
            // The file came to be in between, and the condition was that it is not there.
            Err(error) if error.code == 40920 && must_be_new => Err(ApiError::precondition(None)),
            done => Ok(written(&done?)),
        }
    }

    pub(super) async fn post(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        at: &RequestPath,
    ) -> Result<Response, ApiError> {
        let (path, current) = match self.write_place(caller, at).await? {
            WritePlace::Part { path, current, rest } => {
                let note = PatchedNote { path: &path, current: current.as_ref(), begins: at.begins() };
                return self.write_part(caller, request, note, &rest, "append").await;
            }
            WritePlace::File { path, current } => (path, current),
        };
        if let Some(target) = request_target::in_headers(request)? {
            let note = PatchedNote { path: &path, current: current.as_ref(), begins: at.begins() };
            return self.write_by_headers(caller, request, note, target, "append").await;
        }
        if at.is_folder {
            return Err(ApiError::coded(40510));
        }
        let text = match &request.body {
            RequestBody::Text(text) => text.as_str(),
            // An empty text is appended as such; without a type it is more likely a mistake.
            RequestBody::Nothing if request.kind().is_some_and(|kind| kind.starts_with("text/")) => "",
            _ => return Err(ApiError::coded(40010)),
        };
        let ChangeCondition { expected, must_be_new } =
            RequestConditions::of(&request.headers)?.for_change(current.as_ref())?;
        let arguments = json!({
            "path": path,
            "content": text,
            "append": true,
            "begins": at.begins(),
            "mustBeNew": must_be_new,
            "expectedHash": expected,
        });
        Ok(written(&self.change(caller, "rest/write", arguments).await?))
    }

    /// A part that the URL names gets another text, or more of it.
    async fn write_part(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        note: PatchedNote<'_>,
        rest: &[String],
        operation: &str,
    ) -> Result<Response, ApiError> {
        // A target in the URL and another in headers would contradict each other.
        if request.names_target() {
            return Err(ApiError::coded(42200));
        }
        let format = PatchVersion::of(request, self.0.settings.patch_format)?;
        let kind = exact_kind(request)?;
        let target = request_target::in_path(rest)?;
        // A part that is replaced is created where it is missing.
        let create = operation == "replace" || request.says("Create-Target-If-Missing");
        if format == PatchVersion::One {
            return self.patch_by_headers(caller, request, note, &target, operation, create).await;
        }
        if ["Target-Scope", "Target-Delimiter", "Trim-Target-Whitespace"]
            .iter()
            .any(|name| request.given(name).is_some())
        {
            return Err(ApiError::coded(40083));
        }
        let (target_type, address) = request_target::words(&target);
        let mut instruction = Map::from_iter([
            ("targetType".to_owned(), json!(target_type)),
            ("target".to_owned(), address),
            ("operation".to_owned(), json!(operation)),
            ("createTargetIfMissing".to_owned(), json!(create)),
            ("rejectIfContentPreexists".to_owned(), json!(request.says("Reject-If-Content-Preexists"))),
        ]);
        let text = String::from_utf8_lossy(&request.bytes).into_owned();
        match (&request.body, kind, &target) {
            (RequestBody::Json(value), _, _) => instruction.insert("value".to_owned(), value.clone()),
            // The text is the value.
            (_, _, InstructionTarget::Property(_)) => instruction.insert("value".to_owned(), json!(text)),
            _ => instruction.insert("content".to_owned(), json!(text)),
        };
        self.instruct(caller, request, note, instruction).await
    }

    /// The same for headers, which are of format 1.
    async fn write_by_headers(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        note: PatchedNote<'_>,
        target: InstructionTarget,
        operation: &str,
    ) -> Result<Response, ApiError> {
        if PatchVersion::of(request, self.0.settings.patch_format)? == PatchVersion::Two {
            return Err(ApiError::coded(40083));
        }
        exact_kind(request)?;
        let create = operation == "replace" || request.says("Create-Target-If-Missing");
        self.patch_by_headers(caller, request, note, &target, operation, create).await
    }

    pub(super) async fn delete(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        at: &RequestPath,
    ) -> Result<Response, ApiError> {
        let place = self.find(caller, at).await?;
        if let RestPlace::File { rest, .. } = &place
            && !rest.is_empty()
        {
            let refused = ApiError::status(axum::http::StatusCode::METHOD_NOT_ALLOWED);
            return Err(refused.with("A part of a note is deleted with PATCH and `Operation: delete`."));
        }
        // An encoded slash at the end belongs to a name and does not mean a folder.
        if at.is_folder && !at.parts.iter().any(|part| part.contains('/')) {
            return Err(ApiError::coded(40510));
        }
        let RestPlace::File { path, file, .. } = place else { return Err(ApiError::not_found()) };
        let condition = RequestConditions::of(&request.headers)?.for_change(Some(&file.hash()))?;
        let is_permanent = query_value(&request.query, "permanent").as_deref() == Some("true");
        // Permanently only with the hash of what is deleted.
        let expected = condition.expected.or_else(|| is_permanent.then(|| file.hash().to_string()));
        let arguments = json!({ "file": path.as_str(), "trash": !is_permanent, "expected_content_hash": expected });
        self.change(caller, "rest/delete", arguments).await?;
        Ok(no_content())
    }

    /// MOVE and COPY.
    pub(super) async fn relocate(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        at: &RequestPath,
        is_copy: bool,
    ) -> Result<Response, ApiError> {
        let from = at.file().ok_or_else(|| match at.parts.is_empty() {
            true => ApiError::coded(40510),
            false => ApiError::not_found(),
        })?;
        if at.is_folder {
            return Err(ApiError::coded(40510));
        }
        // Before the file is looked up, so that a malformed request is always the same error.
        let to = destination(request, &from)?;
        let overwrite = request.says("Allow-Overwrite");
        let RestPlace::File { path, file, rest } = self.find(caller, at).await? else {
            return Err(ApiError::not_found());
        };
        if !rest.is_empty() {
            return Err(ApiError::not_found());
        }
        let condition = RequestConditions::of(&request.headers)?.for_change(Some(&file.hash()))?;
        let to = match (path.as_str() == to, is_copy) {
            // Copying a file onto itself would be its own conflict.
            (true, true) => return Err(ApiError::coded(40920)),
            (true, false) => to,
            (false, true) => {
                let arguments = json!({
                    "from": path.as_str(), "to": to, "overwrite": overwrite, "expectedHash": condition.expected,
                });
                let done = self.change(caller, "rest/copy", arguments).await?;
                // The answer of the tool has the path in the spelling of the disk.
                done["path"].as_str().map_or(to, str::to_owned)
            }
            (false, false) => {
                let arguments = json!({
                    "from": path.as_str(),
                    "to": to,
                    "on_conflict": if overwrite { "overwrite" } else { "error" },
                    "expected_content_hash": condition.expected,
                });
                let done = self.change(caller, "rest/move", arguments).await?;
                done["to"].as_str().map_or(to, str::to_owned)
            }
        };
        let mut response = no_content();
        set_location(response.headers_mut(), &to);
        Ok(response)
    }
}

/// Where a file goes: a path in the vault, or a folder, in which it keeps its name.
fn destination(request: &RestRequest, from: &str) -> Result<String, ApiError> {
    let given = request.headers.get("Destination").ok_or_else(|| ApiError::coded(40020))?;
    let given = given.to_str().ok().and_then(|given| decoded(given.trim())).ok_or_else(|| ApiError::coded(40022))?;
    // Programs on Windows send backslashes.
    let mut to = given.replace('\\', "/");
    while to.contains("//") {
        to = to.replace("//", "/");
    }
    if to.starts_with('/') || to.split('/').any(leads_out) {
        return Err(ApiError::coded(40021));
    }
    if to.is_empty() || to.ends_with('/') {
        to += from.rsplit('/').next().unwrap_or(from);
    }
    Ok(to)
}

/// The type of a payload for a part: exactly one of two, without parameters.
fn exact_kind(request: &RestRequest) -> Result<&str, ApiError> {
    request.exact_kind().filter(|kind| [MARKDOWN, JSON].contains(kind)).ok_or_else(|| ApiError::coded(40012))
}

/// Done, and the version that there is now.
fn written(done: &Map<String, Value>) -> Response {
    let mut response = no_content();
    let hash = done.get("contentHash").and_then(Value::as_str).and_then(|hash| hash.parse().ok());
    if let Some(hash) = hash {
        response.headers_mut().insert(header::ETAG, entity_tag(&hash));
    }
    response
}
