//! PATCH: instructions of format 2 in the body or in headers, and the headers of format 1.

use axum::{
    http::{HeaderValue, header},
    response::Response,
};
use lapidary_note::{ContentHash, InstructionTarget};
use lapidary_tools::{LegacyPatch, RestPlace, file_version, parse_instruction};
use serde_json::{Map, Value, json};

use super::{
    RestApi,
    api_error::{ApiError, body_response, entity_tag},
    conditions::RequestConditions,
    get_file::{MARKDOWN_TEXT, deprecated},
    request_path::{RequestPath, decoded, encoded},
    request_target::{self, PatchVersion},
    rest_caller::RestCaller,
    rest_request::{INSTRUCTION, JSON, MARKDOWN, RequestBody, RestRequest},
    write_file::{PatchedNote, WritePlace},
};

impl RestApi {
    pub(super) async fn patch(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        at: &RequestPath,
    ) -> Result<Response, ApiError> {
        let (path, current, rest) = match self.write_place(caller, at).await? {
            WritePlace::Part { path, current, rest } => (path, current, rest),
            WritePlace::File { .. } if at.is_folder => return Err(ApiError::coded(40510)),
            WritePlace::File { path, current } => (path, current, Vec::new()),
        };
        let format = PatchVersion::of(request, self.0.settings.patch_format)?;
        let (in_path, in_headers) = (!rest.is_empty(), request.names_target());
        let in_body = request.kind().as_deref() == Some(INSTRUCTION);
        // Two targets could contradict each other.
        if [in_path, in_headers, in_body].into_iter().filter(|named| *named).count() > 1 {
            return Err(ApiError::coded(42200));
        }
        let note = PatchedNote { path: &path, current: current.as_ref(), begins: at.begins() };
        if format == PatchVersion::One {
            if in_path {
                return Err(ApiError::coded(40082).with("A target in the URL is of format 2."));
            }
            // Errors of the older format also tell that it is deprecated.
            return self.legacy_patch(caller, request, note).await.map(deprecated).or_else(|error| {
                use axum::response::IntoResponse;
                Ok(deprecated(error.into_response()))
            });
        }
        let instruction = if in_path {
            raw_instruction(request, &path_target(&rest)?)?
        } else if in_headers {
            // Headers mean one thing in format 1 and another in format 2, so a request has to say which.
            if request.header("Markdown-Patch-Version") != Some("2") {
                return Err(ApiError::coded(40084));
            }
            raw_instruction(request, &header_target(request)?)?
        } else {
            let RequestBody::Json(Value::Object(instruction)) = &request.body else {
                return Err(ApiError::coded(40081).with(
                    "The body must be a JSON object. Name the target in the URL to send plain text, or send \
                     `Markdown-Patch-Version: 1` for the older headers.",
                ));
            };
            instruction.clone()
        };
        // Checked before the note is looked up, so that a malformed request is always the same error.
        check(&instruction)?;
        self.instruct(caller, request, note, instruction).await
    }

    /// Carries out an instruction; the answer is the whole document.
    pub(super) async fn instruct(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        note: PatchedNote<'_>,
        mut instruction: Map<String, Value>,
    ) -> Result<Response, ApiError> {
        check(&instruction)?;
        note.must_exist()?;
        let PatchedNote { path, current, begins } = note;
        let condition = RequestConditions::of(&request.headers)?.for_change(current)?;
        let expected = match instruction.remove("ifMatch") {
            // In the body as well as in a header; the body is more specific and wins.
            Some(Value::String(wanted)) => {
                let is_wanted = |current: &&ContentHash| wanted.trim_matches('"') == file_version(current);
                let current = current.filter(is_wanted).ok_or_else(|| ApiError::precondition(current))?;
                Some(current.to_string())
            }
            _ => condition.expected,
        };
        let arguments = json!({ "path": path, "instruction": instruction, "begins": begins, "expectedHash": expected });
        let done = self.change(caller, "rest/patch", arguments).await?;
        // Read again: the answer is the note as it is on the disk after the change.
        let mut response = self.document(caller, path).await?;
        if let Some(warnings) = warnings(&done) {
            response.headers_mut().insert("Markdown-Patch-Warnings", warnings);
        }
        Ok(response)
    }

    /// A patch whose operation and target are in headers.
    async fn legacy_patch(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        note: PatchedNote<'_>,
    ) -> Result<Response, ApiError> {
        let kind = request.given("Target-Type").ok_or_else(|| ApiError::coded(40053))?;
        if !["heading", "block", "frontmatter"].contains(&kind) {
            return Err(ApiError::coded(40054));
        }
        let operation = request.given("Operation").ok_or_else(|| ApiError::coded(40056))?;
        if !["append", "prepend", "replace"].contains(&operation) {
            return Err(ApiError::coded(40057));
        }
        legacy_scope(request, kind)?;
        if !request.exact_kind().is_some_and(|kind| [MARKDOWN, JSON].contains(&kind)) {
            return Err(ApiError::coded(40012));
        }
        let target = match request_target::in_headers(request) {
            // The format has no error for it: nothing has an empty name.
            Err(error) if error.code == 40055 => return Err(ApiError::coded(40080).with("invalid-target")),
            target => target?.ok_or_else(|| ApiError::coded(40053))?,
        };
        let create = request.says("Create-Target-If-Missing");
        self.patch_by_headers(caller, request, note, &target, operation, create).await
    }

    /// Carries out a patch of format 1; the answer is the whole document.
    pub(super) async fn patch_by_headers(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        note: PatchedNote<'_>,
        target: &InstructionTarget,
        operation: &str,
        create: bool,
    ) -> Result<Response, ApiError> {
        note.must_exist()?;
        let PatchedNote { path, current, begins } = note;
        let condition = RequestConditions::of(&request.headers)?.for_change(current)?;
        let (target_type, names) = match target {
            InstructionTarget::Heading(names) => ("heading", names.clone()),
            InstructionTarget::Block(id) => ("block", vec![id.clone()]),
            InstructionTarget::Property(name) => ("frontmatter", vec![name.clone()]),
        };
        let (content, value) = match &request.body {
            // A string is text, however it was sent.
            RequestBody::Json(Value::String(text)) if target_type != "frontmatter" => (Some(text.clone()), None),
            RequestBody::Json(value) => (None, Some(value.clone())),
            RequestBody::Text(text) => (Some(text.clone()), None),
            RequestBody::Nothing | RequestBody::Bytes => (Some(String::new()), None),
        };
        // Version 3 of the plugin refused what is there unless told otherwise, and had another header for it.
        let reject_if_there = request.says("Reject-If-Content-Preexists")
            || request.header("Apply-If-Content-Preexists") == Some("false");
        let legacy = LegacyPatch {
            target_type: target_type.to_owned(),
            target: names,
            operation: operation.to_owned(),
            scope: legacy_scope(request, target_type)?.to_owned(),
            content,
            value,
            create,
            reject_if_there,
            trim: request.says("Trim-Target-Whitespace"),
        };
        let arguments = json!({ "path": path, "legacy": legacy, "begins": begins, "expectedHash": condition.expected });
        self.change(caller, "rest/patch", arguments).await?;
        Ok(deprecated(self.document(caller, path).await?))
    }

    /// A note as it is now.
    async fn document(&self, caller: &RestCaller, path: &str) -> Result<Response, ApiError> {
        let parts = path.split('/').map(str::to_owned).collect();
        match self.find(caller, &RequestPath { parts, ..RequestPath::default() }).await? {
            RestPlace::File { path, file, .. } => {
                let mut response = body_response(file.bytes().to_vec(), MARKDOWN_TEXT);
                response.headers_mut().insert(header::ETAG, entity_tag(&file.hash()));
                super::set_location(response.headers_mut(), path.as_str());
                Ok(response)
            }
            RestPlace::Folder(_) | RestPlace::Nothing => Err(ApiError::not_found()),
        }
    }
}

fn legacy_scope<'r>(request: &'r RestRequest, kind: &str) -> Result<&'r str, ApiError> {
    match request.given("Target-Scope").unwrap_or("content") {
        scope @ "content" => Ok(scope),
        scope @ ("marker" | "markerAndContent") if kind != "frontmatter" => Ok(scope),
        _ => {
            Err(ApiError::coded(40059).with("It has content, marker or markerAndContent, and content for frontmatter."))
        }
    }
}

fn check(instruction: &Map<String, Value>) -> Result<(), ApiError> {
    parse_instruction(instruction).map(|_| ()).map_err(|problem| ApiError::coded(40081).with(problem))
}

/// A target of the URL, as an instruction has it.
fn path_target(rest: &[String]) -> Result<(String, Value), ApiError> {
    let target = request_target::in_path(rest)?;
    let (kind, address) = request_target::words(&target);
    Ok((kind.to_owned(), address))
}

/// A target in headers of format 2: a heading is a list in JSON, and everything is percent-encoded.
fn header_target(request: &RestRequest) -> Result<(String, Value), ApiError> {
    let kind = request.given("Target-Type").ok_or_else(|| ApiError::coded(40053))?;
    if !["heading", "block", "frontmatter"].contains(&kind) {
        return Err(ApiError::coded(40054));
    }
    let given = request.given("Target").ok_or_else(|| ApiError::coded(40055))?;
    let unreadable = || ApiError::coded(40058);
    let target = decoded(given).ok_or_else(unreadable)?;
    if kind != "heading" {
        return Ok((kind.to_owned(), json!(target)));
    }
    let address: Value = serde_json::from_str(&target).map_err(|_| unreadable())?;
    let is_address = match &address {
        Value::Null => true,
        Value::Array(names) => names.iter().all(Value::is_string),
        _ => false,
    };
    match is_address {
        true => Ok((kind.to_owned(), address)),
        false => Err(unreadable().with("A heading is a list of texts in JSON, percent-encoded.")),
    }
}

/// An instruction whose payload is the body, and everything else in headers.
fn raw_instruction(request: &RestRequest, (kind, address): &(String, Value)) -> Result<Map<String, Value>, ApiError> {
    // These mean something in format 1 only, so a program that sends them expects that.
    if request.given("Target-Delimiter").is_some() || request.given("Trim-Target-Whitespace").is_some() {
        return Err(ApiError::coded(40084));
    }
    let operation = request.given("Operation").ok_or_else(|| ApiError::coded(40056))?;
    if !["replace", "prepend", "append", "delete"].contains(&operation) {
        return Err(ApiError::coded(40057));
    }
    let mut instruction = Map::from_iter([
        ("targetType".to_owned(), json!(kind)),
        ("target".to_owned(), address.clone()),
        ("operation".to_owned(), json!(operation)),
    ]);
    if let Some(scope) = request.header("Target-Scope") {
        if !["content", "marker", "markerAndContent", "parent"].contains(&scope) {
            return Err(ApiError::coded(40059).with("It has content, marker, markerAndContent or parent."));
        }
        instruction.insert("scope".to_owned(), json!(scope));
    }
    if let Some(given) = request.header("Destination") {
        let destination = decoded(given).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let destination = destination.ok_or_else(|| ApiError::coded(40022).with("It is JSON, percent-encoded."))?;
        instruction.insert("destination".to_owned(), destination);
    }
    if let Some(given) = request.header("Within") {
        let within: i64 = given.trim().parse().map_err(|_| ApiError::coded(40023))?;
        instruction.insert("within".to_owned(), json!(within));
    }
    for (header, field) in [
        ("Create-Target-If-Missing", "createTargetIfMissing"),
        ("Reject-If-Content-Preexists", "rejectIfContentPreexists"),
    ] {
        if request.says(header) {
            instruction.insert(field.to_owned(), json!(true));
        }
    }
    // An empty body carries nothing: a template that came out empty must not clear a section.
    match &request.body {
        RequestBody::Nothing => {}
        RequestBody::Text(text) => {
            instruction.insert("content".to_owned(), json!(text));
        }
        RequestBody::Json(value) if request.kind().as_deref() == Some(JSON) => {
            instruction.insert("value".to_owned(), value.clone());
        }
        RequestBody::Json(_) | RequestBody::Bytes => {
            return Err(ApiError::coded(40012).with("The payload is text/*, application/json, or nothing."));
        }
    }
    Ok(instruction)
}

/// What the author of an instruction should know, for a header.
fn warnings(done: &Map<String, Value>) -> Option<HeaderValue> {
    let too_deep = done.get("tooDeep")?.as_array()?;
    let warning = |found: &Value| {
        let (name, level) = (found[0].as_str().unwrap_or_default(), &found[1]);
        json!({
            "code": "heading-depth-overflow",
            "message": format!("The heading \"{name}\" is at level {level}; Markdown has six, so it is not a heading."),
        })
    };
    let warnings: Vec<Value> = too_deep.iter().map(warning).collect();
    HeaderValue::from_str(&encoded(&Value::from(warnings).to_string())).ok()
}
