//! Messages of the protocol, and the limits of what is read of another server.

use std::time::Duration;

use lapidary_operation::{FailedCall, ServerFault};
use lapidary_vault::ElapsedTime;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// The newest version with a handshake, which servers of every later one still answer.
const VERSION: &str = "2025-11-25";
const KNOWN_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", VERSION];
/// A message with more values than this is not parsed: each takes many times its bytes in memory.
const MOST_VALUES: usize = 200_000;
/// A list of tools may be longer than a reply.
pub(crate) const LONGEST_LIST: usize = 4 << 20;
/// How often is looked whether anyone still waits.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

const METHOD_NOT_FOUND: i64 = -32601;

/// How long a caller waits, and whether it still does.
pub(crate) struct CallerPatience<'a> {
    pub(crate) began: ElapsedTime,
    pub(crate) within: Duration,
    pub(crate) is_wanted: &'a dyn Fn() -> bool,
}

impl CallerPatience<'_> {
    pub(crate) fn left(&self) -> Duration {
        self.within.saturating_sub(self.began.elapsed())
    }

    /// The time until the next look, or why there is none.
    pub(crate) fn next_look(&self) -> Result<Duration, ServerFault> {
        match self.left() {
            // Before the time: a caller that has gone away is not the fault of the server.
            _ if !(self.is_wanted)() => Err(ServerFault::TakenBack),
            left if left.is_zero() => Err(ServerFault::TimedOut),
            left => Ok(left.min(LOOK)),
        }
    }
}

/// A connection to one server.
pub(crate) trait ServerLink: Send + Sync {
    /// The message that answers a request.
    fn request(&self, method: &str, params: Value, patience: &CallerPatience<'_>) -> Result<Vec<u8>, FailedCall>;
    /// Sends something that has no answer.
    fn notify(&self, method: &str, params: Value, patience: &CallerPatience<'_>) -> Result<(), ServerFault>;
    /// From now on, this version of the protocol is spoken.
    fn agree(&self, version: &'static str);
    /// Why it can no longer be used.
    fn ended(&self) -> Option<ServerFault>;
    /// Whether the server said that its list of tools is another one by now; once.
    fn takes_list_change(&self) -> bool;
    /// Asks it to end.
    fn close(&self);
    /// Ends it.
    fn kill(&self);
    /// The last lines that it wrote for people.
    fn last_words(&self) -> Vec<String>;
}

/// What is said first.
pub(crate) fn shake_hands(link: &dyn ServerLink, patience: &CallerPatience<'_>) -> Result<(), ServerFault> {
    // No capability: a server that wants a model, a person or folders from us is refused.
    let params = json!({
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": { "name": "lapidary", "version": env!("CARGO_PKG_VERSION") },
    });
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Welcome {
        protocol_version: String,
    }
    let answer = link.request("initialize", params, patience).map_err(|failed| failed.fault)?;
    let welcome: Welcome = result_of(&answer)?;
    // A server may answer with another version; one that is not known here cannot be spoken.
    let version = KNOWN_VERSIONS.into_iter().find(|version| *version == welcome.protocol_version);
    link.agree(version.ok_or(ServerFault::NotMcp)?);
    link.notify("notifications/initialized", json!({}), patience)
}

pub(crate) fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

pub(crate) fn notification(method: &str, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

fn line(message: &Value) -> Vec<u8> {
    let mut bytes = message.to_string().into_bytes();
    // Over standard input, the line end is what ends a message.
    bytes.push(b'\n');
    bytes
}

/// A message of a server, as far as it matters who it is for.
#[derive(Debug, PartialEq)]
pub(crate) enum IncomingMessage {
    /// To a request of ours.
    Answer {
        id: u64,
    },
    /// The server wants something; this is what it gets.
    Request {
        refusal: Vec<u8>,
    },
    ListChanged,
    /// Progress, log messages and the like.
    Other,
}

#[derive(Deserialize)]
struct MessageFrame {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
}

/// What is parsed of a message before it is known who wants it.
pub(crate) fn incoming(line: &[u8]) -> Result<IncomingMessage, ServerFault> {
    if values_in(line) > MOST_VALUES {
        return Err(ServerFault::TooMuch { limit: line.len() });
    }
    // A list would be taken for the fields of a message.
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err(ServerFault::NotMcp);
    }
    let frame: MessageFrame = serde_json::from_slice(line).map_err(|_| ServerFault::NotMcp)?;
    Ok(match (frame.id, frame.method.as_deref()) {
        // Nothing that is long is sent back.
        (Some(id), Some(method)) if id.is_number() || id.as_str().is_some_and(|id| id.len() <= 200) => {
            IncomingMessage::Request { refusal: refusal(&id, method) }
        }
        (None, Some("notifications/tools/list_changed")) => IncomingMessage::ListChanged,
        // Our ids are numbers, so an answer to anything else was not asked for.
        (Some(id), None) => id.as_u64().map_or(IncomingMessage::Other, |id| IncomingMessage::Answer { id }),
        (_, _) => IncomingMessage::Other,
    })
}

/// A model, a person and folders are not offered, and a server that asks for them all the same does not get them.
fn refusal(id: &Value, method: &str) -> Vec<u8> {
    line(&match method {
        "ping" => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
        _ => json!({
            "jsonrpc": "2.0", "id": id, "error": { "code": METHOD_NOT_FOUND, "message": "This client does not offer that." },
        }),
    })
}

#[derive(Deserialize)]
struct AnswerFrame<T> {
    #[serde(default = "Option::default")]
    result: Option<T>,
    error: Option<RpcError>,
}

#[derive(Deserialize)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
}

/// The result of an answer, or the error in its place.
pub(crate) fn answer_of<T: DeserializeOwned>(message: &[u8]) -> Result<Result<T, RpcError>, ServerFault> {
    let frame: AnswerFrame<T> = serde_json::from_slice(message).map_err(|_| ServerFault::NotMcp)?;
    match (frame.result, frame.error) {
        // Of both, the error is what counts.
        (_, Some(error)) => Ok(Err(error)),
        (Some(result), None) => Ok(Ok(result)),
        (None, None) => Err(ServerFault::NotMcp),
    }
}

/// The same where an error is the end.
pub(crate) fn result_of<T: DeserializeOwned>(message: &[u8]) -> Result<T, ServerFault> {
    answer_of(message)?.map_err(|error| ServerFault::Refused { code: error.code })
}

/// About how many values a JSON text has: by what separates them, outside of strings.
fn values_in(json: &[u8]) -> usize {
    let (mut values, mut in_string, mut is_escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_sorted_by_who_wants_them() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, Ok(IncomingMessage::Answer { id: 7 })),
            (r#"{"id":"7","result":{}}"#, Ok(IncomingMessage::Other)),
            (r#"{"method":"notifications/tools/list_changed"}"#, Ok(IncomingMessage::ListChanged)),
            (r#"{"method":"notifications/message","params":{}}"#, Ok(IncomingMessage::Other)),
            ("Server ready!", Err(ServerFault::NotMcp)),
            ("[1]", Err(ServerFault::NotMcp)),
        ] {
            assert_eq!(incoming(line.as_bytes()), expected, "{line}");
        }
        let asked = |method: &str| match incoming(format!(r#"{{"id":"x","method":"{method}"}}"#).as_bytes()) {
            Ok(IncomingMessage::Request { refusal }) => serde_json::from_slice::<Value>(&refusal).unwrap(),
            other => panic!("{other:?}"),
        };
        assert_eq!(asked("ping")["result"], json!({}));
        for method in ["sampling/createMessage", "elicitation/create", "roots/list"] {
            assert_eq!((&asked(method)["error"]["code"], &asked(method)["id"]), (&json!(-32601), &json!("x")));
        }
    }

    #[test]
    fn what_would_take_far_more_memory_than_bytes_is_not_parsed() {
        let many = format!(r#"{{"id":1,"result":[{}1]}}"#, "1,".repeat(MOST_VALUES));
        assert!(matches!(incoming(many.as_bytes()), Err(ServerFault::TooMuch { .. })));
        let text = format!(r#"{{"id":1,"result":"{}\" ,"}}"#, ",[{".repeat(MOST_VALUES));
        assert_eq!(incoming(text.as_bytes()), Ok(IncomingMessage::Answer { id: 1 }));
        let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        let deep = format!(r#"{{"id":1,"result":{deep}}}"#);
        assert!(matches!(answer_of::<Value>(deep.as_bytes()), Err(ServerFault::NotMcp)));
    }
}
