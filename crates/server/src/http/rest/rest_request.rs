//! A request with its body read, and taken for what its `Content-Type` says.

use axum::{
    body::Bytes,
    extract::Request,
    http::{HeaderMap, HeaderName, Method, StatusCode, header},
};
use lapidary_config::BodyLimits;
use serde_json::Value;

use super::api_error::ApiError;
use crate::{http::posted_message, message_price::message_price};

pub(super) const INSTRUCTION: &str = "application/vnd.olrapi.patch-instruction+json";
pub(super) const NOTE_JSON: &str = "application/vnd.olrapi.note+json";
pub(super) const DOCUMENT_MAP: &str = "application/vnd.olrapi.document-map+json";
pub(super) const JSON_LOGIC: &str = "application/vnd.olrapi.jsonlogic+json";
pub(super) const DQL: &str = "application/vnd.olrapi.dataview.dql+txt";
pub(super) const HTML: &str = "text/html";
pub(super) const MARKDOWN: &str = "text/markdown";
pub(super) const JSON: &str = "application/json";

pub(super) struct RestRequest {
    pub(super) method: Method,
    pub(super) query: String,
    pub(super) headers: HeaderMap,
    pub(super) bytes: Bytes,
    pub(super) body: RequestBody,
}

/// What the body is.
#[derive(Debug, PartialEq)]
pub(super) enum RequestBody {
    Nothing,
    Text(String),
    Json(Value),
    Bytes,
}

impl RestRequest {
    pub(super) async fn read(request: Request, limits: BodyLimits) -> Result<Self, ApiError> {
        let (head, body) = request.into_parts();
        check_encoding(&head.headers)?;
        posted_message::check_size(&head.headers, limits).map_err(|refused| ApiError::status(refused.status()))?;
        // The plugin has its own form for errors, so only the status is kept.
        let bytes = posted_message::read(body, limits).await.map_err(|refused| ApiError::status(refused.status()))?;
        let kind = kind_of(&head.headers).unwrap_or_default();
        let is_json = [JSON, NOTE_JSON, JSON_LOGIC, INSTRUCTION].contains(&kind.as_str());
        let body = match () {
            () if bytes.is_empty() => RequestBody::Nothing,
            // A text of a few megabytes may have values that take gigabytes.
            () if is_json && message_price(&bytes).is_err() => {
                return Err(ApiError::status(StatusCode::PAYLOAD_TOO_LARGE));
            }
            () if is_json => RequestBody::Json(serde_json::from_slice(&bytes).map_err(|_| ApiError::coded(40015))?),
            // Its charset is not asked for: everything in a vault is UTF-8.
            () if kind.starts_with("text/") => RequestBody::Text(String::from_utf8_lossy(&bytes).into_owned()),
            () => RequestBody::Bytes,
        };
        let query = head.uri.query().unwrap_or_default().to_owned();
        Ok(Self { method: head.method, query, headers: head.headers, bytes, body })
    }

    /// The value of a header as text; what is not text is not there.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// A header that is not empty.
    pub(super) fn given(&self, name: &str) -> Option<&str> {
        self.header(name).filter(|value| !value.is_empty())
    }

    /// Whether a header says `true`.
    pub(super) fn says(&self, name: &str) -> bool {
        self.header(name) == Some("true")
    }

    /// The type of the body without parameters, in lower case.
    pub(super) fn kind(&self) -> Option<String> {
        kind_of(&self.headers)
    }

    /// The type of the body exactly as sent.
    pub(super) fn exact_kind(&self) -> Option<&str> {
        self.given(header::CONTENT_TYPE.as_str())
    }

    /// Whether an answer of exactly this type is wanted. A list of types is another wish.
    pub(super) fn wants(&self, kind: &str) -> bool {
        self.header(header::ACCEPT.as_str()) == Some(kind)
    }

    /// Whether a part is named by headers.
    pub(super) fn names_target(&self) -> bool {
        self.given("Target-Type").is_some() || self.given("Target").is_some()
    }
}

/// Bodies are taken as they are: those that were compressed would land in a note as compressed bytes.
fn check_encoding(headers: &HeaderMap) -> Result<(), ApiError> {
    // `get_all`, because each of several headers adds an encoding to those before.
    let is_plain = |name: &HeaderName, plain: &str| {
        let values = headers.get_all(name).iter();
        values.into_iter().all(|value| value.to_str().is_ok_and(|value| value.trim().eq_ignore_ascii_case(plain)))
    };
    if !is_plain(&header::CONTENT_ENCODING, "identity") {
        let refused = ApiError::status(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        return Err(refused.with("Send the body without Content-Encoding."));
    }
    if !is_plain(&header::TRANSFER_ENCODING, "chunked") {
        return Err(ApiError::status(StatusCode::NOT_IMPLEMENTED).with("A Transfer-Encoding is chunked, or none."));
    }
    Ok(())
}

fn kind_of(headers: &HeaderMap) -> Option<String> {
    let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}
