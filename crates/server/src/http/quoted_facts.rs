//! Unquotes the facts of a tool's answer on the way to the client.
//!
//! The facts are already JSON (`ReplyFacts`), but the protocol library carries them only as a tree of values. They pass
//! through it as one string instead: a copy is cheaper than parsing a tree and serialising it again.

use std::borrow::Cow;

use axum::{
    body::{Body, Bytes, to_bytes},
    http::header,
    response::{IntoResponse, Response},
};
use futures::StreamExt;
use memchr::memmem;

/// Precedes the facts. Inside a JSON string its quotes would be escaped, so this is always a key; the protocol requires an
/// object there, so a string can only be ours.
const FACTS_KEY: &[u8] = b"\"structuredContent\":";

/// Handles plain JSON replies and event streams; the library sends each event as one piece.
pub(super) async fn unquote(response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let body = if kind.starts_with("text/event-stream") {
        Body::from_stream(body.into_data_stream().map(|piece| piece.map(unquoted)))
    } else {
        // The whole reply is in memory anyway, so nothing is gained by a limit.
        match to_bytes(body, usize::MAX).await {
            Ok(whole) => Body::from(unquoted(whole)),
            // Unreachable in practice: the library holds the whole reply in memory.
            Err(_) => return axum::http::StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    };
    Response::from_parts(parts, body)
}

pub(super) fn unquoted(message: Bytes) -> Bytes {
    // There is at most one in a message.
    // Searched as bytes, which costs less than parsing a reply that has none.
    let Some(at) = memmem::find(&message, FACTS_KEY).map(|at| at + FACTS_KEY.len()) else { return message };
    let rest = &message[at..];
    let mut strings = serde_json::Deserializer::from_slice(rest).into_iter::<Cow<'_, str>>();
    // An object in this place comes from the library itself and stays as it is.
    let Some(Ok(facts)) = strings.next() else { return message };
    // Everything after the string stays as it is.
    let after = &rest[strings.byte_offset()..];
    [&message[..at], facts.as_bytes(), after].concat().into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn facts_are_what_they_were_and_the_rest_is_left_alone() {
        let facts =
            json!({ "content": "a \"quoted\" line\n\u{1}\\ 石", "structuredContent": "inner", "n": [1.5, null] });
        let text = r#"it says "structuredContent":"x" here"#;
        let result = |facts: Value| json!({ "id": 1, "result": { "content": text, "structuredContent": facts } });
        let sent = result(Value::String(facts.to_string())).to_string();
        assert_eq!(unquoted(sent.into()), result(facts.clone()).to_string());
        let event = format!("data: {}\nid: 0/3\n\n", result(Value::String(facts.to_string())));
        assert_eq!(unquoted(event.into()), format!("data: {}\nid: 0/3\n\n", result(facts.clone())));
        for other in [result(facts).to_string(), json!({ "text": text }).to_string(), String::new()] {
            assert_eq!(unquoted(other.clone().into()), other);
        }
    }
}
