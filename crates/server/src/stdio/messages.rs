//! Messages on a pair of byte streams.

use std::{
    collections::HashSet,
    io,
    pin::Pin,
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{Sink, Stream};
use rmcp::{
    RoleServer,
    model::{ClientNotification, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    sync::{Mutex, Notify, oneshot},
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
    let shared = Arc::new(Shared {
        output: Mutex::new(Box::new(output)),
        framed: AtomicBool::new(false),
        exchange: std::sync::Mutex::default(),
        moved: Notify::new(),
    });
    let outgoing = futures::sink::unfold(Arc::clone(&shared), |shared, message| async move {
        shared.send(&message).await?;
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
    exchange: std::sync::Mutex<Exchange>,
    moved: Notify,
}

/// What either side is still waiting for.
#[derive(Default)]
struct Exchange {
    /// Requests of the client that have not been answered.
    open: HashSet<RequestId>,
    /// Our own questions to the client.
    asked: HashSet<RequestId>,
}

impl Shared {
    async fn send(&self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        self.write(&serde_json::to_vec(message)?).await?;
        self.note(|exchange| match message {
            JsonRpcMessage::Request(request) => {
                exchange.asked.insert(request.id.clone());
            }
            JsonRpcMessage::Response(response) => {
                exchange.open.remove(&response.id);
            }
            JsonRpcMessage::Error(error) => exchange.open.retain(|id| error.id.as_ref() != Some(id)),
            JsonRpcMessage::Notification(_) => {}
        });
        Ok(())
    }

    fn received(&self, message: &RxJsonRpcMessage<RoleServer>) {
        self.note(|exchange| match message {
            JsonRpcMessage::Request(request) => {
                exchange.open.insert(request.id.clone());
            }
            JsonRpcMessage::Response(response) => {
                exchange.asked.remove(&response.id);
            }
            JsonRpcMessage::Error(error) => exchange.asked.retain(|id| error.id.as_ref() != Some(id)),
            // What was taken back is never answered.
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    exchange.open.retain(|id| Some(id) != cancelled.params.request_id.as_ref());
                }
            }
        });
    }

    fn note(&self, change: impl FnOnce(&mut Exchange)) {
        change(&mut self.exchange.lock().unwrap_or_else(PoisonError::into_inner));
        self.moved.notify_waiters();
    }

    async fn write(&self, message: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(message.len() + 40);
        let framed = self.framed.load(Ordering::Relaxed);
        if framed {
            bytes.extend(format!("Content-Length: {}\r\n\r\n", message.len()).bytes());
        }
        bytes.extend(message);
        if !framed {
            bytes.push(b'\n');
        }
        let mut output = self.output.lock().await;
        output.write_all(&bytes).await?;
        output.flush().await
    }

    /// Answers bytes that are no message.
    async fn complain(&self, bytes: &[u8]) {
        let (id, code, message) = match serde_json::from_slice::<Value>(bytes) {
            Ok(value) => (value.get("id").cloned().unwrap_or_default(), -32600, "Invalid request"),
            Err(_) => (Value::Null, -32700, "Parse error: not JSON"),
        };
        let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
        if let Err(error) = self.write(error.to_string().as_bytes()).await {
            crate::log::debug(&format!("the client does not read: {error}"));
        }
    }

    /// Waits until everything is answered that can be without the client, which says nothing more.
    async fn all_answered(&self) {
        loop {
            let moved = self.moved.notified();
            {
                let exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
                // Each question of ours holds up one request.
                if exchange.open.len() <= exchange.asked.len() {
                    return;
                }
            }
            moved.await;
        }
    }
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
                Ok(Some(bytes)) => bytes,
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
            match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(&bytes) {
                Ok(message) => {
                    self.shared.received(&message);
                    return Some(message);
                }
                Err(_) => self.shared.complain(&bytes).await,
            }
        }
    }

    /// The bytes of the next message in either form.
    async fn bytes(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let Some(line) = read_line(&mut self.input).await? else { return Ok(None) };
            let text = line.trim_ascii();
            if text.is_empty() {
                continue;
            }
            let Some(length) = content_length(text) else { return Ok(Some(text.to_vec())) };
            self.shared.framed.store(true, Ordering::Relaxed);
            let length = length.filter(|length| *length <= MAX_MESSAGE).ok_or(io::ErrorKind::InvalidData)?;
            // Other headers may follow; an empty line ends them.
            while read_line(&mut self.input).await?.is_some_and(|line| !line.trim_ascii().is_empty()) {}
            let mut bytes = vec![0; length];
            self.input.read_exact(&mut bytes).await?;
            return Ok(Some(bytes));
        }
    }
}

/// `Some` if the line is that header, holding its value if it has a sensible one.
fn content_length(line: &[u8]) -> Option<Option<usize>> {
    let text = str::from_utf8(line).ok()?;
    let (name, value) = text.split_once(':')?;
    name.trim().eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())
}

/// A line without more bytes than a message may have.
async fn read_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut limited = input.take(MAX_MESSAGE as u64);
    if limited.read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    if line.len() == MAX_MESSAGE && !line.ends_with(b"\n") {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Some(line))
}
