//! The older HTTP+SSE transport, for clients that know nothing else: one stream for everything that the server says, and a
//! path to post messages to.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use futures::{StreamExt, channel::mpsc, stream};
use lapidary_auth::is_same_digest;
use lapidary_note::ContentHash;
use rmcp::{
    RoleServer, ServiceExt,
    model::{GetExtensions, JsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
};

use super::{
    client_identity::{CURRENT, SESSION, error_response},
    endpoint::{Endpoint, RequestSender, peer_of, too_fast, too_many_sessions},
    known_clients::{KnownClient, UnknownClient, bearer},
    posted_message::{self, INVALID_REQUEST, PostedMessage},
    quoted_facts::unquoted,
    session_table::SessionInUse,
};
use crate::mcp::McpServer;

/// Messages that wait, in either direction.
const MAX_WAITING: usize = 64;
const MESSAGES_PATH: &str = "/messages";

/// What a stream is served with. The open ones are in the table of sessions.
pub(super) struct EventStreams {
    pub(super) endpoint: Endpoint,
    pub(super) mcp: McpServer,
    /// The hash of the token that was made at start, where clients are not asked for another.
    pub(super) token: Option<ContentHash>,
    pub(super) heartbeat: Duration,
    pub(super) calls_at_once: usize,
}

/// Where messages for a stream go.
#[derive(Clone)]
pub(super) struct StreamInput {
    input: mpsc::Sender<RxJsonRpcMessage<RoleServer>>,
    /// Requests that are not answered yet.
    pending: Arc<AtomicUsize>,
}

/// Forgets a stream when its connection is gone, and thereby ends what serves it.
struct StreamEnd {
    streams: Arc<EventStreams>,
    session: String,
    _in_use: SessionInUse,
}

impl Drop for StreamEnd {
    fn drop(&mut self) {
        self.streams.endpoint.0.sessions.forget_stream(&self.session);
    }
}

impl EventStreams {
    /// Who sent a request; a token may stand in the address, because these clients can send no headers.
    async fn sender(&self, request: &mut Request) -> Result<(RequestSender, Option<String>), Response> {
        let token = parameter(request, "token").map(str::to_owned);
        if let Some(value) = token.as_ref().and_then(|token| HeaderValue::from_str(&format!("Bearer {token}")).ok()) {
            // A header that was sent counts more.
            request.headers_mut().entry(header::AUTHORIZATION).or_insert(value);
        }
        if let Some(known) = &self.token {
            let given = bearer(request.headers()).map(|token| ContentHash::of(token.as_bytes()));
            match given {
                None => return Err(self.endpoint.0.challenge.refused(UnknownClient::NoToken)),
                Some(given) if !is_same_digest(&given, known) => {
                    return Err(self.endpoint.0.challenge.refused(UnknownClient::BadToken));
                }
                Some(_) => {}
            }
        }
        Ok((self.endpoint.sender(request.headers(), peer_of(request)).await?, token))
    }
}

/// A parameter of the address. Tokens and sessions need no escapes, so none are read.
fn parameter<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    let pairs = request.uri().query()?.split('&');
    pairs.filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// `GET /sse`: opens a stream and says where to post.
pub(super) async fn listen(State(streams): State<Arc<EventStreams>>, mut request: Request) -> Response {
    let opened = match streams.sender(&mut request).await {
        Ok((sender, token)) => open(&streams, &sender, token.as_deref()).await,
        Err(refused) => Err(refused),
    };
    opened.unwrap_or_else(|refused| refused)
}

async fn open(streams: &Arc<EventStreams>, sender: &RequestSender, token: Option<&str>) -> Result<Response, Response> {
    let place = streams.endpoint.0.limits.stream(sender.limited_as.as_deref()).map_err(too_fast)?;
    // Random, because any client that knows it can send messages to the stream.
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random)
        .map_err(|_| error_response(StatusCode::SERVICE_UNAVAILABLE, -32000, "The system gives no random numbers."))?;
    let session: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    // Bounded in both directions: a client that does not read must not fill the memory.
    let (input, incoming) = mpsc::channel(MAX_WAITING);
    let (outgoing, output) = mpsc::channel::<TxJsonRpcMessage<RoleServer>>(MAX_WAITING);
    let pending = Arc::new(AtomicUsize::new(0));
    let sessions = &streams.endpoint.0.sessions;
    // Before the stream is counted, so that the table never holds more than the limit.
    sessions.make_room(sender.client.as_ref()).await.map_err(too_many_sessions)?;
    let input = StreamInput { input, pending: Arc::clone(&pending) };
    let in_use = sessions.opened_stream(&session, sender.client.as_ref(), input);
    let end = StreamEnd { streams: Arc::clone(streams), session: session.clone(), _in_use: in_use };
    let server = streams.mcp.for_session(sender.client.as_ref());
    let serving = async move {
        match server.serve((outgoing, incoming)).await {
            Ok(service) => drop(service.waiting().await.is_ok()),
            Err(_) => tracing::debug!("no session came about"),
        }
    };
    match sender.client.clone() {
        // The service is made and served inside this task, which is how it learns whose stream it is.
        Some(client) => drop(tokio::spawn(CURRENT.scope(client, serving))),
        None => drop(tokio::spawn(serving)),
    }
    // A client that can send the token only in the address needs it in the next address too.
    let token = token.map(|token| format!("&token={token}")).unwrap_or_default();
    let first = format!("event: endpoint\ndata: {MESSAGES_PATH}?sessionId={session}{token}\n\n");
    let first = stream::once(async move { Ok::<_, axum::Error>(Bytes::from(first)) });
    let mut beats = tokio::time::interval(streams.heartbeat);
    // The first beat would come at once.
    beats.reset();
    let messages = stream::unfold((output, beats, pending), |(mut output, mut beats, pending)| async move {
        let event = tokio::select! {
            message = output.next() => event(&message?, &pending),
            _ = beats.tick() => Bytes::from_static(b": still here\n\n"),
        };
        Some((Ok(event), (output, beats, pending)))
    });
    let body = Body::from_stream(first.chain(messages));
    let response = ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response();
    // Dropped with the body: place and session end with the connection.
    Ok(streams.endpoint.ended_in_time(response, sender, true, (place, end)))
}

fn event(message: &TxJsonRpcMessage<RoleServer>, pending: &AtomicUsize) -> Bytes {
    if matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) {
        let one_less = |count: usize| Some(count.saturating_sub(1));
        // Never below zero: an answer to a request that was not counted would otherwise wrap around.
        pending.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_less).unwrap_or_default();
    }
    match serde_json::to_string(message) {
        Ok(json) => unquoted(Bytes::from(format!("event: message\ndata: {json}\n\n"))),
        Err(error) => {
            tracing::error!(%error, "a message could not be written");
            Bytes::new()
        }
    }
}

/// `POST /messages`: a message for an open stream, on which it is answered.
pub(super) async fn post(State(streams): State<Arc<EventStreams>>, request: Request) -> Response {
    take(&streams, request).await.unwrap_or_else(|refused| refused)
}

async fn take(streams: &Arc<EventStreams>, mut request: Request) -> Result<Response, Response> {
    let size = posted_message::check_size(request.headers(), streams.endpoint.0.body)?;
    let (sender, _) = streams.sender(&mut request).await?;
    posted_message::check_kind(request.headers())?;
    // Both spellings are in use among clients of the older transport.
    let session = ["sessionId", "session_id"].into_iter().find_map(|name| parameter(&request, name));
    let session = session.unwrap_or_default().to_owned();
    let found = streams.endpoint.0.sessions.find_stream(&session, sender.client.as_ref());
    let not_found = || error_response(StatusCode::NOT_FOUND, -32001, "Session not found");
    let StreamInput { mut input, pending } = found.ok_or_else(not_found)?;
    // The room ends with this request: its answer comes on the stream, within the limit of calls.
    let (bytes, _room) = streams.endpoint.read(request.into_body(), size, &sender).await?;
    let peeked = PostedMessage::peek(&bytes)?;
    let mut message: RxJsonRpcMessage<RoleServer> = serde_json::from_slice(&bytes).map_err(|_| {
        error_response(StatusCode::BAD_REQUEST, INVALID_REQUEST, "Invalid Request: not a JSON-RPC 2.0 message")
    })?;
    if peeked.is_request {
        streams.endpoint.rate(&peeked, &sender).map_err(too_fast)?;
        let most = streams.calls_at_once;
        // Checked and counted in one step, as two requests may come at once.
        let one_more = |count: usize| (most == 0 || count < most).then_some(count + 1);
        pending.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).map_err(|_| too_many_calls())?;
    }
    let parts = head(&session, sender.client.as_ref());
    match &mut message {
        JsonRpcMessage::Request(request) => drop(request.request.extensions_mut().insert(parts)),
        JsonRpcMessage::Notification(notification) => drop(notification.notification.extensions_mut().insert(parts)),
        _ => {}
    }
    // Not waited for: the request is answered at once, and the answer to the message comes on the stream.
    input.try_send(message).map_err(|error| if error.is_full() { too_many_calls() } else { not_found() })?;
    Ok(StatusCode::ACCEPTED.into_response())
}

fn too_many_calls() -> Response {
    too_fast(super::client_limits::TooFast { retry_after: Duration::from_secs(5) })
}

/// What the rest of the server looks for in the head of a request: who sent it, and in which session. Nothing else of the
/// real one is handed on, which may have a token in its address.
fn head(session: &str, client: Option<&KnownClient>) -> Parts {
    let (mut parts, ()) = axum::http::Request::new(()).into_parts();
    if let Ok(session) = HeaderValue::from_str(session) {
        parts.headers.insert(SESSION, session);
    }
    if let Some(client) = client {
        parts.extensions.insert(client.clone());
    }
    parts
}
