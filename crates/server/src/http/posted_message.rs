//! The body of a request: read within limits, and looked at just enough to know what it asks for.

use std::borrow::Cow;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use futures::StreamExt;
use lapidary_config::BodyLimits;
use serde::{Deserialize, de::IgnoredAny};

use super::client_identity::error_response;
use crate::message_price::{DEEPEST, MessageShape};

pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;

/// How large the body of a request is by its head, or may become if that does not say.
pub(super) fn check_size(headers: &HeaderMap, limits: BodyLimits) -> Result<usize, Response> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    match (length, limits.bytes) {
        (Some(length), Some(most)) if length > most => Err(too_large(most)),
        (Some(length), _) => Ok(length),
        // Without a length it may be as large as the limit, so room is taken for that much.
        (None, most) => Ok(most.unwrap_or(usize::MAX)),
    }
}

/// Whether the head of a request says that its body is JSON. Forms of web pages cannot.
pub(super) fn check_kind(headers: &HeaderMap) -> Result<(), Response> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let essence = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = "Unsupported Media Type: Content-Type must be application/json";
    Err(error_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, message))
}

/// The whole body, unless it is larger or slower than it may be.
pub(super) async fn read(body: Body, limits: BodyLimits) -> Result<Bytes, Response> {
    let reading = async {
        let (mut chunks, mut bytes) = (body.into_data_stream(), Vec::new());
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| {
                error_response(StatusCode::BAD_REQUEST, INVALID_REQUEST, "Bad Request: the body could not be read")
            })?;
            // The header may be missing or wrong, so it is counted as well.
            if let Some(most) = limits.bytes.filter(|most| bytes.len() + chunk.len() > *most) {
                return Err(too_large(most));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Bytes::from(bytes))
    };
    let Some(time) = limits.time else { return reading.await };
    // The whole body has this time, not each piece: one byte a second must not hold a place.
    tokio::time::timeout(time, reading).await.unwrap_or_else(|_| {
        let message = "Request Timeout: the body took too long";
        Err(closing(error_response(StatusCode::REQUEST_TIMEOUT, INVALID_REQUEST, message)))
    })
}

fn too_large(most: usize) -> Response {
    let message = format!("Payload Too Large: a request may have {most} bytes (MCP_HTTP_MAX_BODY_BYTES)");
    closing(error_response(StatusCode::PAYLOAD_TOO_LARGE, INVALID_REQUEST, &message))
}

/// The rest of an unread body is not waited for.
fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
    response
}

/// What a message is, as far as limits need to know.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PostedMessage {
    /// `None`: an answer to a question of ours.
    pub(super) method: Option<String>,
    pub(super) is_request: bool,
    /// The tool that is called, in the end.
    pub(super) tool: Option<String>,
    /// What the program that opens a session calls itself.
    pub(super) program: Option<String>,
}

impl PostedMessage {
    /// Whether it is a JSON text that is not nested too deep, and what it asks for.
    pub(super) fn peek(bytes: &[u8]) -> Result<Self, Response> {
        let broken = |message: &str| error_response(StatusCode::BAD_REQUEST, PARSE_ERROR, message);
        // Before it is parsed: serde's own limit would be an error of another kind.
        // The depth is counted over the bytes, without recursion.
        if MessageShape::of(bytes).depth > DEEPEST {
            return Err(broken("Parse error: the message is nested too deep"));
        }
        match serde_json::from_slice::<PeekedMessage<'_>>(bytes) {
            Ok(message) => Ok(message.into()),
            // It is JSON, only not of this shape.
            Err(error) if error.is_data() => {
                // Arguments of another shape than a call has; the tool will say so.
                // Method and id are enough for the limits; what else is wrong is found by the library.
                let outline = serde_json::from_slice::<MessageOutline<'_>>(bytes).unwrap_or_default();
                let method = outline.method.map(Cow::into_owned);
                Ok(Self { is_request: method.is_some() && outline.id.is_some(), method, tool: None, program: None })
            }
            Err(error) => {
                let message = format!("Parse error: not JSON at line {}, column {}", error.line(), error.column());
                Err(broken(&message))
            }
        }
    }
}

#[derive(Deserialize)]
struct PeekedMessage<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    id: Option<IgnoredAny>,
    #[serde(borrow)]
    params: Option<PeekedParams<'a>>,
}

#[derive(Deserialize)]
struct PeekedParams<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<PeekedName<'a>>,
    #[serde(borrow, rename = "clientInfo")]
    program: Option<PeekedName<'a>>,
}

/// Of a program, or the tool that `call_tool` names.
#[derive(Deserialize)]
struct PeekedName<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
struct MessageOutline<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    id: Option<IgnoredAny>,
}

impl From<PeekedMessage<'_>> for PostedMessage {
    fn from(peeked: PeekedMessage<'_>) -> Self {
        let (mut params, method) = (peeked.params, peeked.method.map(Cow::into_owned));
        let program = params.as_mut().and_then(|params| params.program.take()?.name).map(Cow::into_owned);
        let tool = params.and_then(|params| {
            let name = params.name?;
            let relayed = params.arguments.and_then(|arguments| arguments.name);
            // So that a relayed call counts against the limit of the tool that it runs.
            let name = if name == "call_tool" { relayed.unwrap_or(name) } else { name };
            Some(name.into_owned())
        });
        let (is_call, opens) = (method.as_deref() == Some("tools/call"), method.as_deref() == Some("initialize"));
        // Other methods may have fields of the same names with another meaning.
        let (tool, program) = (tool.filter(|_| is_call), program.filter(|_| opens));
        Self { is_request: method.is_some() && peeked.id.is_some(), tool, program, method }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peeked(text: &str) -> PostedMessage {
        PostedMessage::peek(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_message_is_known_by_its_method_and_its_tool() {
        let call = peeked(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"file_read","arguments":{"file":"a"}}}"#,
        );
        assert_eq!(
            (call.method.as_deref(), call.tool.as_deref(), call.is_request),
            (Some("tools/call"), Some("file_read"), true)
        );
        let relayed = peeked(
            r#"{"id":1,"method":"tools/call","params":{"name":"call_tool","arguments":{"name":"file_delete"}}}"#,
        );
        assert_eq!(relayed.tool.as_deref(), Some("file_delete"));
        assert!(!peeked(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).is_request);
        assert_eq!(peeked(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), PostedMessage::default());
        let odd = peeked(r#"{"id":1,"method":"tools/call","params":{"name":"x","arguments":"text"}}"#);
        assert_eq!((odd.method.as_deref(), odd.is_request), (Some("tools/call"), true));
        assert_eq!(peeked("7"), PostedMessage::default());
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        for text in ["", "{", "{\"a\":}", "nonsense", "{} x", "\u{0}"] {
            let refused = PostedMessage::peek(text.as_bytes()).unwrap_err();
            assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{text}");
        }
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(PostedMessage::peek(deep(DEEPEST).as_bytes()).is_ok());
        assert!(PostedMessage::peek(deep(DEEPEST + 1).as_bytes()).is_err());
        assert!(PostedMessage::peek(deep(1_000_000).as_bytes()).is_err());
        assert!(PostedMessage::peek(format!("\"{}\\\"{}\"", "[".repeat(200), "{".repeat(200)).as_bytes()).is_ok());
    }
}
