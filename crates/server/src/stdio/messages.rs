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
    model::{JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    sync::{Mutex, Notify},
};

type Outgoing = Pin<Box<dyn Sink<TxJsonRpcMessage<RoleServer>, Error = io::Error> + Send>>;
type Incoming = Pin<Box<dyn Stream<Item = RxJsonRpcMessage<RoleServer>> + Send>>;

/// A message larger than this is no message.
const MAX_MESSAGE: usize = 64 << 20;
/// How long calls that are under way may take to be answered once the input has ended.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// The two halves as the protocol library wants them.
pub(super) fn transport<R, W>(input: R, output: W) -> (Outgoing, Incoming)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let shared = Arc::new(Shared {
        output: Mutex::new(Box::new(output)),
        framed: AtomicBool::new(false),
        open: std::sync::Mutex::default(),
        answered: Notify::new(),
    });
    let outgoing = futures::sink::unfold(Arc::clone(&shared), |shared, message| async move {
        shared.send(&message).await?;
        Ok(shared)
    });
    let reader = Reader { input: BufReader::new(input), shared };
    let incoming = futures::stream::unfold(reader, |mut reader| async move {
        let message = reader.next().await?;
        Some((message, reader))
    });
    (Box::pin(outgoing), Box::pin(incoming))
}

struct Shared {
    output: Mutex<Box<dyn AsyncWrite + Unpin + Send>>,
    /// The client sends `Content-Length` frames, so it gets them too.
    framed: AtomicBool,
    /// Requests that have not been answered.
    open: std::sync::Mutex<HashSet<RequestId>>,
    answered: Notify,
}

impl Shared {
    async fn send(&self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        self.write(&serde_json::to_vec(message)?).await?;
        let id = match message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        if let Some(id) = id {
            self.open().remove(&id);
            self.answered.notify_waiters();
        }
        Ok(())
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

    fn open(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until everything that was asked has been answered.
    async fn all_answered(&self) {
        loop {
            let answered = self.answered.notified();
            if self.open().is_empty() {
                return;
            }
            answered.await;
        }
    }
}

struct Reader<R> {
    input: BufReader<R>,
    shared: Arc<Shared>,
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
                    return None;
                }
            };
            match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(&bytes) {
                Ok(message) => {
                    if let JsonRpcMessage::Request(request) = &message {
                        self.shared.open().insert(request.id.clone());
                    }
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
