//! Messages on a pair of byte streams.

use std::{
    collections::{HashMap, HashSet},
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{Sink, Stream};
use lapidary_tools::json_text;
use rmcp::{
    RoleServer,
    model::{
        CallToolRequest, ClientNotification, ClientRequest, JsonRpcMessage, JsonRpcRequest, RequestId, ServerResult,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    sync::{Mutex, oneshot, watch},
};

use crate::message_price::{MOST_OPEN_BYTES, message_id, message_price};

type OutgoingMessages = Pin<Box<dyn Sink<TxJsonRpcMessage<RoleServer>, Error = io::Error> + Send>>;
type IncomingMessages = Pin<Box<dyn Stream<Item = RxJsonRpcMessage<RoleServer>> + Send>>;

/// A larger message is refused.
const MAX_MESSAGE: usize = 32 << 20;
/// How long calls in progress may take to be answered once the input has ended.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// The two halves as the protocol library wants them, and a signal for the end of the input.
pub(super) fn transport<R, W>(input: R, output: W) -> ((OutgoingMessages, IncomingMessages), oneshot::Receiver<()>)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let shared = Arc::new(StdioShared {
        output: Mutex::new(Box::new(output)),
        framed: AtomicBool::new(false),
        exchange: watch::Sender::default(),
    });
    let outgoing = futures::sink::unfold(Arc::clone(&shared), |shared, message| async move {
        shared.send(message).await?;
        Ok(shared)
    });
    let (ended, end) = oneshot::channel();
    let reader = MessageReader { input: BufReader::new(input), shared, ended: Some(ended) };
    let incoming = futures::stream::unfold(reader, |mut reader| async move {
        let message = reader.next().await?;
        Some((message, reader))
    });
    ((Box::pin(outgoing), Box::pin(incoming)), end)
}

struct StdioShared {
    output: Mutex<Box<dyn AsyncWrite + Unpin + Send>>,
    /// The client sends `Content-Length` frames, so it gets them too.
    framed: AtomicBool,
    /// Shared by the reading and the writing half.
    exchange: watch::Sender<MessageExchange>,
}

/// How many requests are accepted before the client has read the answers to earlier ones. A client that sends and does
/// not read fills the pipe, not our memory.
const MOST_OPEN: usize = 64;

/// What either side is still waiting for.
#[derive(Default)]
struct MessageExchange {
    /// Unanswered requests of the client, each with its price. Cancelled ones are never answered.
    open: HashMap<RequestId, usize>,
    /// Our questions.
    asked: HashSet<RequestId>,
}

impl MessageExchange {
    /// Each question of ours holds up one request, and is answered only if we keep reading.
    fn has_room(&self) -> bool {
        self.open.len() < self.asked.len() + MOST_OPEN && (self.has_memory() || !self.asked.is_empty())
    }

    /// Whether one request more fits into memory.
    fn has_memory(&self) -> bool {
        self.open.values().sum::<usize>() < MOST_OPEN_BYTES
    }

    fn take(&mut self, id: &RequestId, price: usize) -> Result<(), &'static str> {
        if self.open.contains_key(id) {
            return Err("A request with this id is not answered yet");
        }
        if !self.has_memory() {
            return Err("Too many large requests are not answered yet");
        }
        self.open.insert(id.clone(), price);
        Ok(())
    }

    /// Whether everything is answered that can be without the client.
    fn is_done(&self) -> bool {
        self.open.len() <= self.asked.len()
    }
}

impl StdioShared {
    async fn send(&self, message: TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        let (answered, asked) = match &message {
            JsonRpcMessage::Request(request) => (None, Some(request.id.clone())),
            JsonRpcMessage::Response(response) => (Some(response.id.clone()), None),
            JsonRpcMessage::Error(error) => (error.id.clone(), None),
            JsonRpcMessage::Notification(_) => (None, None),
        };
        // Written before it counts as answered: a client that does not read its answers is not sent more.
        self.write(serialised(message)?).await?;
        self.note(|exchange| {
            if let Some(id) = &answered {
                exchange.open.remove(id);
            }
            exchange.asked.extend(asked);
            true
        });
        Ok(())
    }

    /// Takes note of a message, which has this price, or says why it cannot be passed on: a request cannot while another
    /// with its id is open, as one answer could be taken for the other.
    fn received(&self, message: &RxJsonRpcMessage<RoleServer>, price: usize) -> Result<(), &'static str> {
        // The answer to a question makes room, and wakes the reader.
        let replied = |id: Option<&RequestId>| self.note(|exchange| id.is_some_and(|id| exchange.asked.remove(id)));
        match message {
            JsonRpcMessage::Request(request) => {
                let mut taken = Ok(());
                self.note(|exchange| {
                    taken = exchange.take(&request.id, price);
                    taken.is_ok()
                });
                return taken;
            }
            JsonRpcMessage::Response(response) => replied(Some(&response.id)),
            JsonRpcMessage::Error(error) => replied(error.id.as_ref()),
            JsonRpcMessage::Notification(notification) => match &notification.notification {
                ClientNotification::CancelledNotification(cancelled) => {
                    // A cancelled request gets no answer, so it must not be waited for.
                    let id = cancelled.params.request_id.as_ref();
                    self.note(|exchange| id.is_some_and(|id| exchange.open.remove(id).is_some()))
                }
                _ => false,
            },
        };
        Ok(())
    }

    /// Wakes the waiting half if the exchange changed.
    fn note(&self, change: impl FnOnce(&mut MessageExchange) -> bool) -> bool {
        self.exchange.send_if_modified(change)
    }

    /// Waits until the exchange is in the wanted state.
    async fn until(&self, is_wanted: fn(&MessageExchange) -> bool) {
        // Fails only without a sender, which is this one.
        drop(self.exchange.subscribe().wait_for(is_wanted).await);
    }

    async fn write(&self, mut message: Vec<u8>) -> io::Result<()> {
        if self.framed.load(Ordering::Relaxed) {
            let header = format!("Content-Length: {}\r\n\r\n", message.len());
            message.splice(..0, header.into_bytes());
        } else {
            message.push(b'\n');
        }
        // One message at a time: two writers would mix their bytes.
        let mut output = self.output.lock().await;
        output.write_all(&message).await?;
        output.flush().await
    }

    /// Answers bytes that are not a message.
    async fn complain(&self, bytes: &[u8]) {
        match serde_json::from_slice::<Value>(bytes) {
            // With the id, if it has one, so that the client can tell which of its messages is meant.
            Ok(value) => self.refuse(value.get("id").unwrap_or(&Value::Null), -32600, "Invalid request").await,
            Err(_) => self.refuse(&Value::Null, -32700, "Parse error: not JSON").await,
        }
    }

    async fn refuse(&self, id: &Value, code: i32, message: &str) {
        let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
        if let Err(error) = self.write(error.to_string().into_bytes()).await {
            tracing::debug!(%error, "the client does not read its messages");
        }
    }
}

/// A message as bytes. The facts of a tool's answer come as JSON text, which is inserted unchanged: the protocol
/// defines them as an object, so a string there can be nothing else.
fn serialised(mut message: TxJsonRpcMessage<RoleServer>) -> io::Result<Vec<u8>> {
    let facts = take_facts(&mut message);
    let mut bytes = json_text(&message).map_err(io::Error::other)?.into_bytes();
    if let Some(facts) = facts {
        // The result comes last in a response, after its other fields.
        bytes.truncate(bytes.strip_suffix(b"}}").ok_or(io::ErrorKind::InvalidData)?.len());
        bytes.reserve(facts.len() + 30);
        bytes.extend_from_slice(b",\"structuredContent\":");
        bytes.extend_from_slice(facts.as_bytes());
        bytes.extend_from_slice(b"}}");
    }
    Ok(bytes)
}

fn take_facts(message: &mut TxJsonRpcMessage<RoleServer>) -> Option<String> {
    let JsonRpcMessage::Response(response) = message else { return None };
    let ServerResult::CallToolResult(result) = &mut response.result else { return None };
    match result.structured_content.take_if(|facts| facts.is_string()) {
        Some(Value::String(facts)) => Some(facts),
        _ => None,
    }
}

/// A message from the client. Most are tool calls: parsing one as such costs a fraction of what the library needs to
/// try every kind of message and every method.
fn parsed(bytes: &[u8]) -> serde_json::Result<RxJsonRpcMessage<RoleServer>> {
    // A quick look instead of a parse; a wrong guess only costs the parse below.
    let has = |text: &str| memchr::memmem::find(bytes, text.as_bytes()).is_some();
    // With a result or an error next to the method it is not a request, and only the library checks both.
    let may_be_call = has("\"tools/call\"") && !has("\"result\"") && !has("\"error\"");
    if may_be_call
        && let Ok(JsonRpcRequest { jsonrpc, id, request }) =
            serde_json::from_slice::<JsonRpcRequest<CallToolRequest>>(bytes)
    {
        let request = ClientRequest::CallToolRequest(request);
        return Ok(JsonRpcMessage::Request(JsonRpcRequest { jsonrpc, id, request }));
    }
    serde_json::from_slice(bytes)
}

struct MessageReader<R> {
    input: BufReader<R>,
    shared: Arc<StdioShared>,
    ended: Option<oneshot::Sender<()>>,
}

impl<R: AsyncRead + Unpin> MessageReader<R> {
    /// The next message; invalid bytes are answered with an error and skipped.
    async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // Not reading is how the client learns that it sends too much.
            self.shared.until(MessageExchange::has_room).await;
            let bytes = match self.bytes().await {
                Ok(Some(Some(bytes))) => bytes,
                Ok(Some(None)) => {
                    self.shared
                        .refuse(&Value::Null, -32600, &format!("A message has at most {MAX_MESSAGE} bytes"))
                        .await;
                    continue;
                }
                // The input has ended, but open requests are still answered.
                Ok(None) | Err(_) => {
                    // Past the limit there is no request left to wait for.
                    drop(tokio::time::timeout(LAST_ANSWERS, self.shared.until(MessageExchange::is_done)).await);
                    if let Some(ended) = self.ended.take() {
                        // The receiver may be gone.
                        ended.send(()).unwrap_or_default();
                    }
                    return None;
                }
            };
            let price = match message_price(&bytes) {
                Ok(price) => price,
                Err(refusal) => {
                    self.shared.refuse(&message_id(&bytes), refusal.code, &refusal.message).await;
                    continue;
                }
            };
            match parsed(&bytes) {
                Ok(message) => match self.shared.received(&message, price) {
                    Ok(()) => return Some(message),
                    Err(refusal) => {
                        let request =
                            if let JsonRpcMessage::Request(request) = &message { Some(&request.id) } else { None };
                        self.shared.refuse(&json!(request), -32600, refusal).await;
                    }
                },
                Err(_) => self.shared.complain(&bytes).await,
            }
        }
    }

    /// The bytes of the next message in either form; `None` in it means that it was too large.
    async fn bytes(&mut self) -> io::Result<Option<Option<Vec<u8>>>> {
        loop {
            let Some(line) = read_line(&mut self.input).await? else { return Ok(None) };
            let Some(line) = line else { return Ok(Some(None)) };
            let text = line.trim_ascii();
            if text.is_empty() {
                continue;
            }
            // Blanks around it are blanks in JSON too.
            let Some(mut header) = FrameHeader::parse(text) else { return Ok(Some(Some(line))) };
            self.shared.framed.store(true, Ordering::Relaxed);
            // Other headers may follow in any order; an empty line ends them.
            while let Some(Some(line)) = read_line(&mut self.input).await? {
                match FrameHeader::parse(line.trim_ascii()) {
                    Some(FrameHeader { length: Some(length) }) => header.length = Some(length),
                    Some(_) => {}
                    None => break,
                }
            }
            let length = header.length.ok_or(io::ErrorKind::InvalidData)?;
            if length > MAX_MESSAGE {
                // The rest is read and dropped, or it would be taken for the next message.
                skip(&mut self.input, length).await?;
                return Ok(Some(None));
            }
            let mut bytes = vec![0; length];
            self.input.read_exact(&mut bytes).await?;
            return Ok(Some(Some(bytes)));
        }
    }
}

/// A header line of a frame; has the length if it is the one that says it.
struct FrameHeader {
    length: Option<usize>,
}

impl FrameHeader {
    /// JSON never looks like one: it starts with a bracket.
    fn parse(line: &[u8]) -> Option<Self> {
        let (name, value) = str::from_utf8(line).ok()?.split_once(':')?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let length = || value.trim().parse().ok().filter(|_| name.eq_ignore_ascii_case("content-length"));
        is_name.then(|| Self { length: length() })
    }
}

/// A line, `None` in it if it had more bytes than a message may have.
async fn read_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Option<Vec<u8>>>> {
    let mut line = Vec::new();
    // One limited read at a time, so that a line without an end cannot fill the memory.
    if input.take(MAX_MESSAGE as u64).read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    if line.len() < MAX_MESSAGE || line.ends_with(b"\n") {
        return Ok(Some(Some(line)));
    }
    while !line.is_empty() && !line.ends_with(b"\n") {
        line.clear();
        input.take(MAX_MESSAGE as u64).read_until(b'\n', &mut line).await?;
    }
    Ok(Some(None))
}

async fn skip(input: &mut (impl AsyncBufRead + Unpin), bytes: usize) -> io::Result<()> {
    tokio::io::copy(&mut input.take(bytes as u64), &mut tokio::io::sink()).await.map(drop)
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolResult, ContentBlock, JsonRpcResponse};

    use super::*;

    #[test]
    fn a_call_is_parsed_like_the_library_does() {
        for message in [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "file_read" } }),
            json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {
                "name": "file_read", "arguments": { "file": "a.md", "_meta": 1 }, "_meta": { "progressToken": 7, "a/b": {} },
                "requestState": "s", "inputResponses": {}, "unknown": [1],
            } }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "ping", "params": { "x": "\"tools/call\"" } }),
            json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call" }),
            json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": 5 } }),
            json!({ "jsonrpc": "2.0", "method": "tools/call", "params": { "name": "x" } }),
            json!({ "jsonrpc": "1.0", "id": 3, "method": "tools/call", "params": { "name": "x" } }),
            json!({ "jsonrpc": "2.0", "id": null, "method": "tools/call", "params": { "name": "x" } }),
            json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "result": {}, "params": { "name": "x" } }),
        ] {
            let bytes = message.to_string().into_bytes();
            let library = serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(&bytes);
            assert_eq!(format!("{:?}", parsed(&bytes).ok()), format!("{:?}", library.ok()), "{message}");
        }
    }

    #[test]
    fn the_facts_of_an_answer_are_sent_as_they_were_serialised() {
        let facts = json!({ "path": "a.md", "text": "a \"note\" }} about 石", "list": [1, { "x": null }] });
        for result in [
            CallToolResult::success(vec![ContentBlock::text(facts.to_string())]),
            CallToolResult::error(vec![ContentBlock::text("}}")]),
            CallToolResult::success(Vec::new()),
        ] {
            let message = |facts: Value| {
                let mut result = result.clone();
                result.structured_content = Some(facts);
                let response =
                    JsonRpcResponse { jsonrpc: Default::default(), id: RequestId::Number(7), result: result.into() };
                TxJsonRpcMessage::<RoleServer>::Response(response)
            };
            let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
            let plain = parsed(&serde_json::to_vec(&message(facts.clone())).unwrap());
            let spliced = serialised(message(Value::String(facts.to_string()))).unwrap();
            assert_eq!(parsed(&spliced), plain);
            assert!(String::from_utf8(spliced).unwrap().contains(&facts.to_string()));
        }
    }
}
