//! Messages on a pair of byte streams.

use std::{
    collections::HashSet,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{Sink, Stream};
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
    sync::{Mutex, mpsc, oneshot},
};

type Outgoing = Pin<Box<dyn Sink<TxJsonRpcMessage<RoleServer>, Error = io::Error> + Send>>;
type Incoming = Pin<Box<dyn Stream<Item = RxJsonRpcMessage<RoleServer>> + Send>>;

/// A message larger than this is no message.
const MAX_MESSAGE: usize = 64 << 20;
/// How long calls that are under way may take to be answered once the input has ended.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// The two halves as the protocol library wants them, and word of the end of the input.
pub(super) fn transport<R, W>(input: R, output: W) -> ((Outgoing, Incoming), oneshot::Receiver<()>)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (events, received) = mpsc::unbounded_channel();
    tokio::spawn(follow_exchange(received));
    let shared = Arc::new(Shared { output: Mutex::new(Box::new(output)), framed: AtomicBool::new(false), events });
    let outgoing = futures::sink::unfold(Arc::clone(&shared), |shared, message| async move {
        shared.send(message).await?;
        Ok(shared)
    });
    let (ended, end) = oneshot::channel();
    let reader = Reader { input: BufReader::new(input), shared, ended: Some(ended) };
    let incoming = futures::stream::unfold(reader, |mut reader| async move {
        let message = reader.next().await?;
        Some((message, reader))
    });
    ((Box::pin(outgoing), Box::pin(incoming)), end)
}

struct Shared {
    output: Mutex<Box<dyn AsyncWrite + Unpin + Send>>,
    /// The client sends `Content-Length` frames, so it gets them too.
    framed: AtomicBool,
    events: mpsc::UnboundedSender<Event>,
}

/// What happens between the two sides.
enum Event {
    /// The client wants something.
    Requested(RequestId),
    /// It has been answered, or the client took it back: what was taken back is never answered.
    Answered(Option<RequestId>),
    /// We ask the client something.
    Asked(RequestId),
    /// It has answered.
    Replied(Option<RequestId>),
    /// The client says nothing more; to be told when everything is answered that can be without it.
    Ended(oneshot::Sender<()>),
}

/// Knows what either side is still waiting for, as long as there is a transport.
async fn follow_exchange(mut events: mpsc::UnboundedReceiver<Event>) {
    let (mut open, mut asked) = (HashSet::new(), HashSet::new());
    let mut waiting: Option<oneshot::Sender<()>> = None;
    while let Some(event) = events.recv().await {
        match event {
            Event::Requested(id) => drop(open.insert(id)),
            Event::Answered(id) => open.retain(|known| Some(known) != id.as_ref()),
            Event::Asked(id) => drop(asked.insert(id)),
            Event::Replied(id) => asked.retain(|known| Some(known) != id.as_ref()),
            Event::Ended(waiter) => waiting = Some(waiter),
        }
        // Each question of ours holds up one request.
        if open.len() <= asked.len()
            && let Some(waiter) = waiting.take()
        {
            // Whoever wanted to know may have given up.
            waiter.send(()).unwrap_or_default();
        }
    }
}

impl Shared {
    async fn send(&self, message: TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        let event = match &message {
            JsonRpcMessage::Request(request) => Some(Event::Asked(request.id.clone())),
            JsonRpcMessage::Response(response) => Some(Event::Answered(Some(response.id.clone()))),
            JsonRpcMessage::Error(error) => Some(Event::Answered(error.id.clone())),
            JsonRpcMessage::Notification(_) => None,
        };
        self.write(serialised(message)?).await?;
        event.into_iter().for_each(|event| self.note(event));
        Ok(())
    }

    fn received(&self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => self.note(Event::Requested(request.id.clone())),
            JsonRpcMessage::Response(response) => self.note(Event::Replied(Some(response.id.clone()))),
            JsonRpcMessage::Error(error) => self.note(Event::Replied(error.id.clone())),
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    self.note(Event::Answered(cancelled.params.request_id.clone()));
                }
            }
        }
    }

    fn note(&self, event: Event) {
        // The task that follows the exchange lives as long as this does.
        self.events.send(event).unwrap_or_default();
    }

    async fn write(&self, mut message: Vec<u8>) -> io::Result<()> {
        if self.framed.load(Ordering::Relaxed) {
            let header = format!("Content-Length: {}\r\n\r\n", message.len());
            message.splice(..0, header.into_bytes());
        } else {
            message.push(b'\n');
        }
        let mut output = self.output.lock().await;
        output.write_all(&message).await?;
        output.flush().await
    }

    /// Answers bytes that are no message.
    async fn complain(&self, bytes: &[u8]) {
        match serde_json::from_slice::<Value>(bytes) {
            Ok(value) => self.refuse(value.get("id").unwrap_or(&Value::Null), -32600, "Invalid request").await,
            Err(_) => self.refuse(&Value::Null, -32700, "Parse error: not JSON").await,
        }
    }

    async fn refuse(&self, id: &Value, code: i32, message: &str) {
        let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
        if let Err(error) = self.write(error.to_string().into_bytes()).await {
            tracing::debug!(%error, "the client does not read");
        }
    }

    /// Waits until everything is answered that can be without the client, which says nothing more.
    async fn all_answered(&self) {
        let (waiter, answered) = oneshot::channel();
        self.note(Event::Ended(waiter));
        answered.await.unwrap_or_default();
    }
}

/// A message as bytes. The facts of a tool's answer come as a text that is JSON already, which is put in as it is: they
/// are an object in the protocol, so that a text there can be nothing else.
fn serialised(mut message: TxJsonRpcMessage<RoleServer>) -> io::Result<Vec<u8>> {
    let facts = take_facts(&mut message);
    let mut bytes = serde_json::to_vec(&message)?;
    if let Some(facts) = facts {
        // The result comes last in a response, and has other fields before this one.
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

/// A message from the client. Most are calls of tools: read as one, a call costs a fraction of what it takes the library to
/// try every kind of message and every method.
fn parsed(bytes: &[u8]) -> serde_json::Result<RxJsonRpcMessage<RoleServer>> {
    let has = |text: &str| memchr::memmem::find(bytes, text.as_bytes()).is_some();
    // With a result or an error beside the method it is no request, and only the library looks at both.
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

struct Reader<R> {
    input: BufReader<R>,
    shared: Arc<Shared>,
    ended: Option<oneshot::Sender<()>>,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    /// The next message; bytes that are none are answered with an error and skipped.
    async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let bytes = match self.bytes().await {
                Ok(Some(Some(bytes))) => bytes,
                Ok(Some(None)) => {
                    self.shared
                        .refuse(&Value::Null, -32600, &format!("A message has at most {MAX_MESSAGE} bytes"))
                        .await;
                    continue;
                }
                // Nothing more comes, but what was asked is still answered.
                Ok(None) | Err(_) => {
                    // Past the limit there is nobody left to wait for.
                    drop(tokio::time::timeout(LAST_ANSWERS, self.shared.all_answered()).await);
                    if let Some(ended) = self.ended.take() {
                        // Whoever wanted to know may be gone.
                        ended.send(()).unwrap_or_default();
                    }
                    return None;
                }
            };
            match parsed(&bytes) {
                Ok(message) => {
                    self.shared.received(&message);
                    return Some(message);
                }
                Err(_) => self.shared.complain(&bytes).await,
            }
        }
    }

    /// The bytes of the next message in either form; `None` in it stands for one that was too large to take.
    async fn bytes(&mut self) -> io::Result<Option<Option<Vec<u8>>>> {
        loop {
            let Some(line) = read_line(&mut self.input).await? else { return Ok(None) };
            let Some(line) = line else { return Ok(Some(None)) };
            let text = line.trim_ascii();
            if text.is_empty() {
                continue;
            }
            let Some(mut header) = Header::parse(text) else { return Ok(Some(Some(text.to_vec()))) };
            self.shared.framed.store(true, Ordering::Relaxed);
            // Other headers may follow in any order; an empty line ends them.
            while let Some(Some(line)) = read_line(&mut self.input).await? {
                match Header::parse(line.trim_ascii()) {
                    Some(Header { length: Some(length) }) => header.length = Some(length),
                    Some(_) => {}
                    None => break,
                }
            }
            let length = header.length.ok_or(io::ErrorKind::InvalidData)?;
            if length > MAX_MESSAGE {
                skip(&mut self.input, length).await?;
                return Ok(Some(None));
            }
            let mut bytes = vec![0; length];
            self.input.read_exact(&mut bytes).await?;
            return Ok(Some(Some(bytes)));
        }
    }
}

/// A header line of a frame; holds the length if it is the one that says it.
struct Header {
    length: Option<usize>,
}

impl Header {
    /// JSON never looks like one: it begins with a bracket.
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
    fn a_call_is_read_as_the_library_reads_it() {
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
