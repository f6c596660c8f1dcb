//! GET and HEAD: files, folders, notes as JSON, maps of documents, and parts of notes.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use lapidary_note::{Document, InstructionScope, InstructionTarget};
use lapidary_tools::{
    ReadNote, RestPayload, RestPlace, document_map, file_version, legacy_map, legacy_part, media_type, section_of,
};
use lapidary_vault::{File, VaultPath};
use serde_json::{Value, json};

use super::{
    RestApi,
    api_error::{ApiError, body_response, entity_tag, json_response},
    broken,
    conditions::RequestConditions,
    request_path::{RequestPath, encoded_path},
    request_target::{self, PatchVersion},
    rest_caller::RestCaller,
    rest_request::{DOCUMENT_MAP, HTML, NOTE_JSON, RestRequest},
};

/// On every answer in format 1.
pub(super) const DEPRECATED: HeaderValue = HeaderValue::from_static("true; sunset-version=\"6.0\"");
/// Pictures may come from anywhere, as in Obsidian; nothing else happens.
const HTML_POLICY: &str = "default-src 'none'; img-src *; sandbox";
/// Of a note shown as a page.
const LONGEST_HTML: usize = 16 << 20;
pub(super) const MARKDOWN_TEXT: &str = "text/markdown; charset=utf-8";

impl RestApi {
    pub(super) async fn get(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        at: &RequestPath,
    ) -> Result<Response, ApiError> {
        let (path, file, rest) = match self.find(caller, at).await? {
            RestPlace::Nothing => return Err(ApiError::not_found()),
            RestPlace::Folder(names) => return Ok(json_response(&json!({ "files": names }))),
            RestPlace::File { path, file, rest } => (path, file, rest),
        };
        // Shown before the version is compared, so that wrong requests are refused in every case.
        let mut response = self.shown(caller, request, &path, &file, &rest).await?;
        let headers = response.headers_mut();
        let name = encoded_path(path.as_str()).replace(',', "%2C");
        if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
            headers.insert(header::CONTENT_DISPOSITION, value);
        }
        // These also depend on other files: what links to the note, what it embeds.
        if request.wants(NOTE_JSON) || request.wants(HTML) {
            return Ok(response);
        }
        headers.insert(header::ETAG, entity_tag(&file.hash()));
        // Answered only now, so that a part that is not there is not "not modified".
        match RequestConditions::of(&request.headers)?.is_known(&file.hash()) {
            true => {
                let mut known = StatusCode::NOT_MODIFIED.into_response();
                known.headers_mut().insert(header::ETAG, entity_tag(&file.hash()));
                Ok(known)
            }
            false => Ok(response),
        }
    }

    async fn shown(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        path: &VaultPath,
        file: &File,
        rest: &[String],
    ) -> Result<Response, ApiError> {
        if request.wants(NOTE_JSON) {
            let operation = ReadNote { vault: caller.vault.clone(), path: path.clone() };
            let RestPayload::Json(note) = self.read(caller, operation).await? else { return Err(broken()) };
            return Ok(typed_json(&note, NOTE_JSON));
        }
        let unsaid = self.0.settings.patch_format;
        if request.wants(DOCUMENT_MAP) {
            // A map of a document that cannot be parsed would be wrong, so it is refused.
            let document = text_of(file)?;
            if let Err(error) = document.properties() {
                return Err(ApiError::coded(40005).with(error));
            }
            return Ok(match PatchVersion::of(request, unsaid)? {
                PatchVersion::Two => typed_json(&document_map(&document, &file_version(&file.hash())), DOCUMENT_MAP),
                PatchVersion::One => deprecated(typed_json(&legacy_map(&document), DOCUMENT_MAP)),
            });
        }
        // A target in two places cannot both be meant.
        if !rest.is_empty() && request.names_target() {
            return Err(ApiError::coded(42200));
        }
        if !rest.is_empty() {
            let target = request_target::in_path(rest)?;
            return match PatchVersion::of(request, unsaid)? {
                PatchVersion::Two => {
                    let scope = read_scope(request)?;
                    part(section_of(&text_of(file)?, &target, scope), &target)
                }
                PatchVersion::One => part(legacy_part(&text_of(file)?, &target), &target).map(deprecated),
            };
        }
        if let Some(kind) = request.given("Target-Type") {
            // The kind first, then the format, then the target itself.
            if !["heading", "block", "frontmatter"].contains(&kind) {
                return Err(ApiError::coded(40054).with("It is in the 'Target-Type' header."));
            }
            if PatchVersion::of(request, unsaid)? == PatchVersion::Two {
                return Err(ApiError::coded(40083));
            }
            let target = request_target::in_headers(request)?.ok_or_else(|| ApiError::coded(40055))?;
            return part(legacy_part(&text_of(file)?, &target), &target).map(deprecated);
        }
        if request.wants(HTML) && path.is_note() {
            return rendered(text_of(file)?).await;
        }
        // What is not known is sent as bytes, so that no browser tries to interpret it.
        let kind = media_type(path).unwrap_or("application/octet-stream");
        let kind = if kind == "text/markdown" { MARKDOWN_TEXT } else { kind };
        Ok(body_response(file.bytes().to_vec(), kind))
    }
}

/// A note as a page that nothing of it can leave, should a browser show it.
async fn rendered(document: Document) -> Result<Response, ApiError> {
    // Rendering a large note takes a while.
    let made = tokio::task::spawn_blocking(move || document.to_html(LONGEST_HTML)).await.map_err(|_| broken())?;
    let html = made.map_err(|too_long| ApiError::status(StatusCode::PAYLOAD_TOO_LARGE).with(too_long))?;
    let mut response = body_response(html, "text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(HTML_POLICY));
    Ok(response)
}

fn read_scope(request: &RestRequest) -> Result<InstructionScope, ApiError> {
    match request.header("Target-Scope") {
        None | Some("content") => Ok(InstructionScope::Content),
        Some("marker") => Ok(InstructionScope::Marker),
        Some("markerAndContent") => Ok(InstructionScope::MarkerAndContent),
        Some(_) => Err(ApiError::coded(40059).with("A read has content, marker or markerAndContent.")),
    }
}

/// Text of a note, or the value of a property.
fn part(found: Option<Value>, target: &InstructionTarget) -> Result<Response, ApiError> {
    match (found.ok_or_else(ApiError::not_found)?, target) {
        (Value::String(text), InstructionTarget::Heading(_) | InstructionTarget::Block(_)) => {
            Ok(body_response(text, MARKDOWN_TEXT))
        }
        (value, _) => Ok(json_response(&value)),
    }
}

pub(super) fn deprecated(mut response: Response) -> Response {
    response.headers_mut().insert("Deprecation", DEPRECATED);
    response
}

fn typed_json(value: &Value, kind: &str) -> Response {
    let mut response = json_response(value);
    if let Ok(kind) = HeaderValue::from_str(&format!("{kind}; charset=utf-8")) {
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    response
}

fn text_of(file: &File) -> Result<Document, ApiError> {
    Document::open(file.content.clone()).map_err(|_| ApiError::coded(40080).with("The file is not text."))
}
