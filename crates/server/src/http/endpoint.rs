//! The MCP endpoint: from a request that may come in to the protocol library and back, with everything around it that the
//! library does not do.

use std::{
    net::IpAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream};
use hyper::body::{Frame, SizeHint};
use lapidary_config::{AddressRange, BodyLimits};
use lapidary_pipeline::{CallerStanding, Grant};
use lapidary_tools::{Effect, Reason};
use rmcp::transport::streamable_http_server::{StreamableHttpService, session::local::LocalSessionManager};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{
    accept_loop::{ConnectionEnds, GuardedBody, network},
    client_address::client_address,
    client_identity::{AuthChallenge, CURRENT, SESSION, error_response},
    client_limits::{MessageRoom, RequestLimits, TooFast},
    known_clients::{ClientCheck, KnownClient, KnownClients, UnknownClient},
    posted_message::{self, INVALID_REQUEST, PostedMessage},
    quoted_facts,
    request_checks::plain_error,
    session_table::{SessionInUse, SessionTable},
};
use crate::{grants::lacking_scopes, mcp::McpServer, message_price::message_price};

/// Messages of one batch.
const MAX_BATCH: usize = 50;
/// The only version that has batches; also that of clients that say none.
const BATCH_VERSION: &str = "2025-03-26";
const VERSION_HEADER: &str = "mcp-protocol-version";
/// How often it is asked whether a client that only listens is still known.
const ASK_AGAIN: Duration = Duration::from_secs(1);
const RATE_LIMITED: i32 = -32000;

/// Everything that a request to the endpoint needs.
#[derive(Clone)]
pub(super) struct Endpoint(pub(super) Arc<EndpointParts>);

pub(super) struct EndpointParts {
    pub(super) service: StreamableHttpService<McpServer, LocalSessionManager>,
    pub(super) clients: KnownClients,
    pub(super) sessions: SessionTable,
    pub(super) limits: RequestLimits,
    pub(super) body: BodyLimits,
    pub(super) trusted_proxies: Vec<AddressRange>,
    /// For callers without authentication.
    pub(super) grant: Arc<Grant>,
    pub(super) has_sessions: bool,
    /// Without a name, clients of this computer are not told apart, and not limited each.
    pub(super) is_loopback: bool,
    pub(super) status: Value,
    pub(super) stopping: watch::Receiver<bool>,
    /// What clients that are not known are told.
    pub(super) challenge: AuthChallenge,
}

/// Who sent a request, and by which name its limits go.
pub(super) struct RequestSender {
    pub(super) client: Option<KnownClient>,
    pub(super) limited_as: Option<String>,
}

pub(super) async fn handle(State(endpoint): State<Endpoint>, request: Request) -> Response {
    let answered = match *request.method() {
        Method::POST => endpoint.post(request).await,
        Method::GET => endpoint.get(request).await,
        Method::DELETE => endpoint.delete(request).await,
        _ => {
            let allowed = [(header::ALLOW, "GET, POST, DELETE, OPTIONS")];
            Err((allowed, plain_error(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")).into_response())
        }
    };
    answered.unwrap_or_else(|refused| refused)
}

impl Endpoint {
    async fn post(&self, request: Request) -> Result<Response, Response> {
        // From the header, before the sender is looked up or a byte of the body is read.
        let size = posted_message::check_size(request.headers(), self.0.body)?;
        // Before the body: a client that is not known must not make the server read.
        let sender = self.sender(request.headers(), peer_of(&request)).await?;
        posted_message::check_kind(request.headers())?;
        let in_use = self.session_of(request.headers(), &sender)?;
        let (parts, body) = request.into_parts();
        let (bytes, room) = self.read(body, size, &sender).await?;
        // A batch can only be told from its first character, as the kind of content is the same.
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
            return self.batch(parts, &bytes, sender, (in_use, room)).await;
        }
        let answer = self.message(parts, bytes, &sender, in_use).await?;
        Ok(answer.map(|body| Body::new(GuardedBody { body, _guard: room })))
    }

    /// A body and its room in memory: for the size that it may have before it is read, and for more if its price is higher.
    pub(super) async fn read(
        &self,
        body: Body,
        size: usize,
        sender: &RequestSender,
    ) -> Result<(Bytes, [MessageRoom; 2]), Response> {
        let limited_as = sender.limited_as.as_deref();
        let room = self.0.limits.message_room(limited_as, size).await.map_err(too_fast)?;
        let bytes = posted_message::read(body, self.0.body).await?;
        let price = message_price(&bytes)
            .map_err(|refusal| error_response(StatusCode::BAD_REQUEST, refusal.code, &refusal.message))?;
        // Messages that wait for more room while they hold some may wait for each other, but not for long.
        // Room for the difference only: the first part is held already.
        let more = self.0.limits.message_room(limited_as, price.saturating_sub(size)).await.map_err(too_fast)?;
        Ok((bytes, [room, more]))
    }

    /// One message, within the limits of its client.
    async fn message(
        &self,
        mut parts: Parts,
        bytes: Bytes,
        sender: &RequestSender,
        in_use: Option<SessionInUse>,
    ) -> Result<Response, Response> {
        // Only a few fields are read here; the message itself is parsed by the library.
        let message = PostedMessage::peek(&bytes)?;
        let method = message.method.as_deref();
        self.check_scopes(&message, sender)?;
        let place = match method {
            // An answer to a question, or a word in passing: what waits for it must not wait for itself.
            _ if !message.is_request => None,
            Some("ping") => None,
            Some("subscriptions/listen") => Some(self.0.limits.stream(sender.limited_as.as_deref()).map_err(too_fast)?),
            _ => {
                self.rate(&message, sender).map_err(too_fast)?;
                let call = self.0.limits.place(sender.limited_as.as_deref()).await;
                Some(call.map_err(too_fast)?)
            }
        };
        let opens_session = method == Some("initialize") && self.0.has_sessions && in_use.is_none();
        if opens_session {
            // Before the library opens it, which knows no limit.
            self.0.sessions.make_room(sender.client.as_ref()).await.map_err(too_many_sessions)?;
        }
        // The library insists on both; the original answered every client.
        parts.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        // It was checked regardless of case.
        parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut response = self.call_library(Request::from_parts(parts, Body::from(bytes)), sender).await;
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            // The library answers so to JSON that is not a message.
            let message = "Invalid Request: not a JSON-RPC 2.0 message";
            response = error_response(StatusCode::BAD_REQUEST, INVALID_REQUEST, message);
        }
        let session = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).filter(|_| opens_session);
        // Known as soon as the client has the id, or its next request would find no session.
        let program = message.program.as_deref().unwrap_or_default();
        let in_use = session.map(|session| self.0.sessions.opened(session, sender.client.as_ref(), program)).or(in_use);
        let listens = method == Some("subscriptions/listen");
        Ok(self.ended_in_time(response, sender, listens, (place, in_use)))
    }

    /// Several messages at once. They are handled one after the other, and answered as they are: a question to the client
    /// must reach it before the next message can wait for the answer.
    async fn batch(
        &self,
        parts: Parts,
        bytes: &[u8],
        sender: RequestSender,
        guard: (Option<SessionInUse>, [MessageRoom; 2]),
    ) -> Result<Response, Response> {
        let invalid = |message: &str| error_response(StatusCode::BAD_REQUEST, INVALID_REQUEST, message);
        PostedMessage::peek(bytes)?;
        // Clients of that version need not say so in a header.
        let version =
            parts.headers.get(VERSION_HEADER).map_or(BATCH_VERSION, |version| version.to_str().unwrap_or_default());
        if version != BATCH_VERSION {
            return Err(invalid("Invalid Request: this version of the protocol has no batches"));
        }
        let messages: Vec<Value> =
            serde_json::from_slice(bytes).map_err(|_| invalid("Invalid Request: not a batch"))?;
        let is_odd = |message: &Value| !message.is_object() || message["method"] == "initialize";
        if messages.is_empty() || messages.len() > MAX_BATCH || messages.iter().any(is_odd) {
            return Err(invalid("Invalid Request: a batch has 1 to 50 messages, none of them `initialize`"));
        }
        // Answers and notifications get no answer.
        // Only then is there something to stream.
        let has_request = messages.iter().any(|message| message.get("method").is_some() && message.get("id").is_some());
        let (endpoint, sender) = (self.clone(), Arc::new(sender));
        let answers = stream::iter(messages).then(move |message| {
            let (endpoint, parts, sender) = (endpoint.clone(), parts.clone(), Arc::clone(&sender));
            async move {
                let bytes = Bytes::from(message.to_string());
                endpoint.message(parts, bytes, &sender, None).await.unwrap_or_else(|refused| refused)
            }
        });
        // Run to the end: a message is handled only when its answer is asked for.
        if !has_request {
            answers.for_each(|_| async {}).await;
            return Ok(StatusCode::ACCEPTED.into_response());
        }
        let events = answers.flat_map(as_events);
        let body = GuardedBody { body: Body::from_stream(events), _guard: guard };
        Ok(([(header::CONTENT_TYPE, "text/event-stream")], Body::new(body)).into_response())
    }

    async fn get(&self, mut request: Request) -> Result<Response, Response> {
        let sender = self.sender(request.headers(), peer_of(&request)).await?;
        // A list, which may come in several headers.
        let mut accepted = request.headers().get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
        // A browser or a health check that asks with GET is answered with a status, not with a stream.
        if !accepted.any(|accept| accept.contains("text/event-stream")) {
            return Ok(axum::Json(&self.0.status).into_response());
        }
        let in_use = self.session_of(request.headers(), &sender)?;
        let place = self.0.limits.stream(sender.limited_as.as_deref()).map_err(too_fast)?;
        request.headers_mut().insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        let response = self.call_library(request, &sender).await;
        Ok(self.ended_in_time(response, &sender, true, (Some(place), in_use)))
    }

    async fn delete(&self, request: Request) -> Result<Response, Response> {
        let sender = self.sender(request.headers(), peer_of(&request)).await?;
        if !self.0.has_sessions {
            let allowed = [(header::ALLOW, "POST, OPTIONS")];
            return Err((allowed, plain_error(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")).into_response());
        }
        let Some(session) = request.headers().get(SESSION).and_then(|id| id.to_str().ok()) else {
            return Err(plain_error(StatusCode::BAD_REQUEST, "Bad Request: Mcp-Session-Id header is required."));
        };
        // Entered before it is ended, which checks whose session it is.
        if self.0.sessions.enter(session, sender.client.as_ref()).is_none() || !self.0.sessions.end(session).await {
            return Err(plain_error(StatusCode::NOT_FOUND, "Session not found or access denied"));
        }
        Ok(axum::Json(json!({ "status": "terminated", "sessionId": session })).into_response())
    }

    /// The sender of a request, if it may be served.
    pub(super) async fn sender(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Result<RequestSender, Response> {
        let parts = &*self.0;
        let address = peer.map(|peer| network(client_address(peer, headers, &parts.trusted_proxies)));
        let client = parts.clients.find(headers).await.map_err(|unknown| {
            // A missing token is how every client begins, and our own failure is not the client's.
            let guessed = !matches!(unknown, UnknownClient::Unavailable | UnknownClient::NoToken);
            match address.filter(|address| guessed && !address.is_loopback()) {
                Some(address) => match parts.limits.refused(&address.to_string()) {
                    Ok(()) => parts.challenge.refused(unknown),
                    Err(limit) => too_fast(limit),
                },
                None => parts.challenge.refused(unknown),
            }
        })?;
        let limited_as = match &client {
            Some(client) => Some(client.key.clone()),
            // All programs on this computer would share one limit.
            None if parts.is_loopback => None,
            None => address.map(|address| address.to_string()),
        };
        Ok(RequestSender { client, limited_as })
    }

    /// The session that a request names, which has to be its sender's.
    fn session_of(&self, headers: &HeaderMap, sender: &RequestSender) -> Result<Option<SessionInUse>, Response> {
        let Some(session) = headers.get(SESSION).filter(|_| self.0.has_sessions) else { return Ok(None) };
        // The same for another client's session and for none; clients open a new one.
        let not_found = || error_response(StatusCode::NOT_FOUND, -32001, "Session not found");
        let in_use = session.to_str().ok().and_then(|session| self.0.sessions.enter(session, sender.client.as_ref()));
        in_use.map(Some).ok_or_else(not_found)
    }

    async fn call_library(&self, mut request: Request, sender: &RequestSender) -> Response {
        let service = self.0.service.clone();
        let response = match &sender.client {
            None => service.handle(request).await,
            Some(client) => {
                request.extensions_mut().insert(client.clone());
                CURRENT.scope(client.clone(), service.handle(request)).await
            }
        };
        quoted_facts::unquote(response.map(Body::new)).await
    }

    /// Whether a client may ask for this now.
    pub(super) fn rate(&self, message: &PostedMessage, sender: &RequestSender) -> Result<(), TooFast> {
        let Some(client) = &sender.limited_as else { return Ok(()) };
        let is_call = message.method.as_deref() == Some("tools/call");
        self.0.limits.rate(client, is_call && self.writes(message.tool.as_deref(), sender))
    }

    /// A client that can get more scopes is told which ones it needs, in the form that makes it ask its user. Others are
    /// told by the tool.
    fn check_scopes(&self, message: &PostedMessage, sender: &RequestSender) -> Result<(), Response> {
        let scopes = sender.client.as_ref().and_then(|client| client.scopes.as_ref());
        let tool = message.tool.as_deref().filter(|_| message.method.as_deref() == Some("tools/call"));
        let lacking = scopes.zip(tool).and_then(|(scopes, tool)| lacking_scopes(tool, scopes));
        lacking.map_or(Ok(()), |scope| Err(self.0.challenge.lacking(&scope)))
    }

    /// Whether a call may change something. Of an unknown tool that is assumed.
    fn writes(&self, tool: Option<&str>, sender: &RequestSender) -> bool {
        let grant = sender.client.as_ref().map_or(&self.0.grant, |client| &client.grant);
        let effect = tool.and_then(|tool| Some(grant.profile.catalogue.find(tool).ok()?.spec.effect));
        effect.is_none_or(|effect| effect != Effect::Read)
    }

    /// An answer that holds its places until it is sent. One that goes on ends when its client is no longer known, and one
    /// that would go on for ever also when the server stops.
    pub(super) fn ended_in_time<G: Send + Unpin + 'static>(
        &self,
        response: Response,
        sender: &RequestSender,
        listens: bool,
        guard: G,
    ) -> Response {
        let standing = sender.client.as_ref().map(|client| client.standing.clone()).unwrap_or_default();
        let stopping = listens.then(|| self.0.stopping.clone());
        let mut response = response;
        let kind = response.headers().get(header::CONTENT_TYPE);
        // Only for events: other answers may be buffered.
        if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
            // Proxies would keep events back until there are many.
            response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
        }
        response.map(|body| {
            let body = Body::new(GuardedBody { body, _guard: guard });
            // A body of known size is sent at once and needs no end.
            if body.size_hint().exact().is_some() { body } else { Body::new(EndingBody::new(body, standing, stopping)) }
        })
    }
}

/// The other end of the connection that a request came by.
pub(super) fn peer_of(request: &Request) -> Option<IpAddr> {
    request.extensions().get::<ConnectionEnds>().map(|ends| ends.peer)
}

/// The events of an answer; what is not a stream becomes one event.
fn as_events(response: Response) -> stream::BoxStream<'static, Result<Bytes, axum::Error>> {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("text/event-stream") {
        return response.into_body().into_data_stream().boxed();
    }
    let is_message = kind.starts_with("application/json");
    let event = async move {
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await?;
        // A line break would end the event.
        let text = String::from_utf8_lossy(&body).replace(['\n', '\r'], " ");
        Ok(Bytes::from(if is_message { format!("data: {text}\n\n") } else { String::new() }))
    };
    event.into_stream().boxed()
}

/// A body that ends early when something else does.
struct EndingBody {
    body: Body,
    end: BoxFuture<'static, ()>,
}

impl EndingBody {
    fn new(body: Body, standing: CallerStanding, stopping: Option<watch::Receiver<bool>>) -> Self {
        let unknown = async move {
            while standing.holds() {
                tokio::time::sleep(ASK_AGAIN).await;
            }
        };
        let stopped = async move {
            match stopping {
                Some(mut stopping) => drop(stopping.wait_for(|stops| *stops).await.is_ok()),
                None => std::future::pending().await,
            }
        };
        let end = async move {
            tokio::select! {
                () = unknown => {}
                () = stopped => {}
            }
        };
        Self { body, end: end.boxed() }
    }
}

impl HttpBody for EndingBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // Asked before every frame: a stream without news would otherwise never notice.
        if self.end.poll_unpin(cx).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pub(super) fn too_fast(limit: TooFast) -> Response {
    // Rounded up, so that a client that waits exactly that long gets through.
    let seconds = limit.retry_after.as_secs_f64().ceil().max(1.0) as u64;
    let error = json!({
        "code": RATE_LIMITED,
        "message": format!("Too many requests; try again in {seconds} s."),
        "data": { "reason": "rate_limited", "retryAfter": seconds },
    });
    let body = axum::Json(json!({ "jsonrpc": "2.0", "id": null, "error": error }));
    (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, seconds.to_string())], body).into_response()
}

pub(super) fn too_many_sessions(limit: usize) -> Response {
    let reason = Reason::TooMany { what: "sessions", limit };
    let data = json!({ "reason": reason.kind().wire_code().id, "limit": limit });
    let error = json!({ "code": reason.kind().wire_code().number, "message": reason.to_string(), "data": data });
    let body = axum::Json(json!({ "jsonrpc": "2.0", "id": null, "error": error }));
    (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "60")], body).into_response()
}

impl Endpoint {
    /// What a status says about who is asked.
    pub(super) fn mode(check: &ClientCheck) -> &'static str {
        match check {
            ClientCheck::TokenOptional { .. } => "none",
            ClientCheck::OwnerTokens { .. } => "bearer",
            ClientCheck::BuiltIn { .. } => "builtin",
            ClientCheck::SharedSecret { .. } => "jwt",
            ClientCheck::Issuer { .. } => "oauth",
        }
    }
}
