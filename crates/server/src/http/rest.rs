//! The HTTP API of Obsidian's plugin Local REST API, on a vault folder. One more client of the executor: every request is
//! a call like those of tools, with the same rules, checkpoints and log.

mod api_error;
mod app;
mod certificate;
mod conditions;
mod elsewhere;
mod get_file;
mod patch_note;
mod request_path;
mod request_target;
mod rest_caller;
mod rest_request;
mod search;
mod server_facts;
mod write_file;

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use lapidary_config::{BodyLimits, ConnectionLimits, HttpConfig, RestConfig};
use lapidary_pipeline::{Executor, Invocation, Outcome};
use lapidary_plugin::{SENDER, SETTINGS_ENDPOINT, process_mark};
use lapidary_tools::{ReadOperation, ReadPayload, RestPayload, RestPlace};
use lapidary_vault::VaultPath;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::{net::TcpListener, sync::watch};

use self::{api_error::ApiError, request_path::RequestPath, rest_caller::RestCaller, rest_request::RestRequest};
pub(crate) use self::{
    certificate::RestCertificate,
    rest_caller::{PluginPorts, RestCallers, VaultKey},
};
use super::{
    LAST_ANSWERS, PortOwner, ServedApi, accept_loop,
    client_limits::{CallPlace, MessageRoom, RequestLimits, TooFast},
    endpoint::peer_of,
    request_checks,
    tls_certificate::TlsCertificate,
};
use crate::stdio::told_to_stop;

const METHODS: &str = "GET,HEAD,PUT,PATCH,POST,DELETE,MOVE,COPY";

/// The running API.
#[derive(Clone)]
pub(crate) struct RestApi(Arc<RestParts>);

pub(crate) struct RestParts {
    executor: Arc<Executor>,
    callers: RestCallers,
    settings: RestConfig,
    body: BodyLimits,
    /// For those who want to trust it.
    certificate: Option<RestCertificate>,
    /// The note last opened through us, for each caller and vault: what one opens must not decide where another writes.
    active: Mutex<HashMap<(String, String), VaultPath>>,
    limits: RequestLimits,
}

/// Serves the API until told to stop.
pub(crate) async fn serve(
    executor: Arc<Executor>,
    settings: &RestConfig,
    http: &HttpConfig,
    callers: RestCallers,
    certificate: Option<RestCertificate>,
    port: &impl PortOwner,
) -> Result<(), String> {
    let tls = certificate.as_ref().map(|kept| TlsCertificate::start(&kept.files)).transpose();
    let tls = tls.map_err(|error| error.to_string())?;
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut listeners = Vec::new();
    // Plain HTTP is instead of TLS and only local, so it needs no certificate.
    match settings.plain_address {
        Some(address) => listeners.push((bind(address, port).await?, None)),
        None => listeners.push((bind(local(callers.ports.tls), port).await?, tls)),
    }
    if settings.is_plain_too && settings.plain_address.is_none() {
        listeners.push((bind(local(callers.ports.plain), port).await?, None));
    }
    let (stop, stopping) = watch::channel(false);
    tokio::spawn(async move {
        told_to_stop().await;
        stop.send_replace(true);
    });
    // One router for all listeners, so that they share limits and meters.
    let router = RestApi::new(executor, callers, settings.clone(), http, certificate).router();
    let mut serving = Vec::new();
    for (listener, tls) in listeners {
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        port.listening(ServedApi::Rest { is_encrypted: tls.is_some() }, address, None);
        tracing::info!("serving the REST API at {scheme}://{address}/");
        let limits: ConnectionLimits = http.connections;
        let (router, stopping) = (router.clone(), stopping.clone());
        serving.push(tokio::spawn(accept_loop::serve(listener, tls, router, limits, stopping, LAST_ANSWERS)));
    }
    // All of them have to end before the process may.
    for listener in serving {
        listener.await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

async fn bind(address: SocketAddr, port: &impl PortOwner) -> Result<TcpListener, String> {
    TcpListener::bind(address).await.map_err(|error| {
        let failed = format!("cannot listen on {address} for the REST API: {error}");
        match error.kind() {
            // The process, if it can be found out; otherwise what it most likely is.
            std::io::ErrorKind::AddrInUse => match port.holder(address.port()) {
                Some(holder) => format!("{failed} ({holder}). Stop it, or choose another port with `--rest PORT`."),
                None => format!(
                    "{failed}. If Obsidian runs with the plugin Local REST API, it has this port; choose another with \
                     `--rest PORT`."
                ),
            },
            _ => format!("{failed}. Choose another port with `--rest PORT`."),
        }
    })
}

impl RestApi {
    fn new(
        executor: Arc<Executor>,
        callers: RestCallers,
        settings: RestConfig,
        http: &HttpConfig,
        certificate: Option<RestCertificate>,
    ) -> Self {
        let body = BodyLimits { bytes: Some(settings.max_body_bytes), time: http.body.time };
        let (active, limits) = (Mutex::default(), RequestLimits::new(http.clients));
        Self(Arc::new(RestParts { executor, callers, settings, body, certificate, active, limits }))
    }

    fn router(self) -> Router {
        Router::new().fallback(answer).with_state(self)
    }

    /// The note last opened, if it is still there for this caller.
    fn active(&self, caller: &RestCaller) -> Option<VaultPath> {
        self.0.active.lock().get(&caller.seat()).cloned()
    }

    fn open(&self, caller: &RestCaller, path: VaultPath) {
        self.0.active.lock().insert(caller.seat(), path);
    }

    /// Runs an operation in a separate task, so that it ends and is logged even if the client disconnects.
    async fn execute(&self, invocation: Invocation) -> Outcome {
        let executor = Arc::clone(&self.0.executor);
        let cancel = executor.cancel(&invocation);
        let running = tokio::spawn(async move { executor.execute(invocation, cancel).await });
        match running.await {
            Ok(outcome) => outcome,
            // The task ended without an outcome: a panic, or the runtime is shutting down. The client gets an internal error.
            Err(_) => Outcome::UnknownTool { nearest: None },
        }
    }

    async fn read(
        &self,
        caller: &RestCaller,
        operation: impl ReadOperation + 'static,
    ) -> Result<RestPayload, ApiError> {
        match self.execute(Invocation::read(operation, caller.principal.clone())).await {
            Outcome::Answered(ReadPayload::Rest(payload)) => Ok(payload),
            outcome => Err(refused(outcome)),
        }
    }

    /// What a path leads to.
    async fn find(&self, caller: &RestCaller, path: &RequestPath) -> Result<RestPlace, ApiError> {
        let (vault, parts) = (caller.vault.clone(), path.parts.clone());
        match self.read(caller, lapidary_tools::FindPlace { vault, parts }).await? {
            RestPayload::Place(place) => Ok(place),
            RestPayload::Json(_) | RestPayload::Periodic(_) | RestPayload::OpenNote(_) => Err(broken()),
        }
    }

    /// Makes a change; its answer as JSON.
    async fn change(
        &self,
        caller: &RestCaller,
        name: &'static str,
        arguments: Value,
    ) -> Result<Map<String, Value>, ApiError> {
        let Value::Object(mut arguments) = arguments else { return Err(broken()) };
        // Headers that the request did not have; the schemas of tools know no null.
        arguments.retain(|_, value| !value.is_null());
        arguments.insert("vault".to_owned(), Value::from(caller.vault.clone()));
        match self.execute(Invocation::internal(name, arguments, caller.principal.clone())).await {
            Outcome::Answered(ReadPayload::Tool(rendered)) if !rendered.is_error => Ok(rendered.facts()),
            outcome => Err(refused(outcome)),
        }
    }
}

fn broken() -> ApiError {
    ApiError::status(StatusCode::INTERNAL_SERVER_ERROR)
}

fn refused(outcome: Outcome) -> ApiError {
    match outcome {
        Outcome::Refused(refusal) => ApiError::of(&refusal.reason),
        Outcome::Answered(_) | Outcome::Asked(_) | Outcome::Previewed(_) | Outcome::UnknownTool { .. } => broken(),
    }
}

/// Every request comes here: the plugin's methods and paths are not those of a usual router.
async fn answer(State(api): State<RestApi>, request: Request) -> Response {
    let is_head = request.method() == Method::HEAD;
    let asked = request.headers().get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    let mut response = match request.method() == Method::OPTIONS {
        true => preflight(asked),
        false => api.respond(request).await.unwrap_or_else(IntoResponse::into_response),
    };
    let headers = response.headers_mut();
    // As the plugin does: its key is in a header, which a page of another site cannot send without knowing it.
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // What one program is told must not be kept for another.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if is_head { without_body(response) } else { response }
}

/// The head alone, with the length that the body would have.
fn without_body(response: Response) -> Response {
    use axum::body::HttpBody;
    let (mut head, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    Response::from_parts(head, Body::empty())
}

fn preflight(asked: Option<HeaderValue>) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(header::VARY, HeaderValue::from_static("Access-Control-Request-Headers"));
    if let Some(asked) = asked {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked);
    }
    response
}

impl RestApi {
    async fn respond(&self, request: Request) -> Result<Response, ApiError> {
        // Two values of a header that decides could be read differently by a proxy and by us.
        if let Some(name) = request_checks::repeated(request.headers()) {
            let twice = ApiError::status(StatusCode::BAD_REQUEST);
            return Err(twice.with(format_args!("There is more than one {name} header.")));
        }
        if request.headers().get(SENDER).is_some_and(|sender| sender == process_mark()) {
            return Err(ApiError::status(StatusCode::LOOP_DETECTED));
        }
        // Before the body is read: a stranger must not be able to send one.
        let peer = peer_of(&request);
        let caller = match self.caller(request.headers(), peer).await {
            Ok(caller) => caller,
            Err(limit) => {
                let error = ApiError::coded(42901);
                return Ok(retried_later(limit, error));
            }
        };
        // Before the key is demanded: status and certificate are for everyone.
        let path = request.uri().path().to_owned();
        if let Some(facts) = self.open_to_all(request.method(), &path, caller.as_ref()) {
            return Ok(facts);
        }
        let caller = caller.ok_or_else(|| ApiError::coded(40101))?;
        // Both are held until the answer is made.
        let longest = self.longest_body(&request);
        let (_place, _room) = match self.room(&caller, request.method(), &path, longest).await {
            Ok(taken) => taken,
            Err(limit) => return Ok(too_fast(limit)),
        };
        let request = RestRequest::read(request, self.0.body).await?;
        // The target of a CONNECT request has no path at all.
        let path = path.strip_prefix('/').unwrap_or(&path);
        let (endpoint, rest) = path.split_once('/').unwrap_or((path, ""));
        match endpoint.to_ascii_lowercase().as_str() {
            "vault" => {
                let at = RequestPath::parse_in_vault(rest)?;
                if at.is_configuration() {
                    return Err(ApiError::coded(40321));
                }
                self.file(&caller, &request, at, None).await
            }
            "active" => self.active_file(&caller, &request, rest).await,
            "periodic" => self.periodic(&caller, &request, rest).await,
            "open" if request.method == Method::POST => self.open_file(&caller, &request, rest).await,
            "tags" if [Method::GET, Method::HEAD].contains(&request.method) && rest.is_empty() => {
                self.read_json(&caller, lapidary_tools::RestTags { vault: caller.vault.clone() }).await
            }
            "search" if request.method == Method::POST => self.search(&caller, &request, rest).await,
            // Not of the plugin: see `SETTINGS_ENDPOINT`.
            "lapidary" if request.method == Method::GET && rest.trim_end_matches('/') == SETTINGS_ENDPOINT[1] => {
                self.read_json(&caller, lapidary_tools::ShareSettings { vault: caller.vault.clone() }).await
            }
            "commands" => self.commands(&caller, &request, rest).await,
            _ => Err(ApiError::not_found()),
        }
    }

    /// The sender of a request. A wrong key is a guess, of which each address has only some in a minute; so is a right one that is
    /// weak, or guessing it would not be limited.
    async fn caller(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Result<Option<RestCaller>, TooFast> {
        let caller = self.0.callers.find(headers).await;
        let is_guess = match &caller {
            Some(caller) => caller.has_weak_key,
            None => self.0.callers.has_key(headers),
        };
        if is_guess {
            // Only a test calls the router without a connection.
            // By network for IPv6, or one sender would have billions of tries.
            let address = accept_loop::network(peer.unwrap_or(Ipv4Addr::LOCALHOST.into())).to_string();
            self.0.limits.refused(&address)?;
            if caller.is_some() {
                self.0.limits.guessed_right(&address);
            }
        }
        Ok(caller)
    }

    /// How long the body of a request may become. One that does not say its length may be as long as any.
    fn longest_body(&self, request: &Request) -> usize {
        use axum::body::HttpBody;
        let most = self.0.settings.max_body_bytes;
        let length =
            request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        // A request without a body needs no room, whatever its length header says.
        match request.body().is_end_stream() {
            true => 0,
            false => length.unwrap_or(most).min(most),
        }
    }

    /// A place for a request among those of its sender, and room for its body.
    async fn room(
        &self,
        caller: &RestCaller,
        method: &Method,
        path: &str,
        longest: usize,
    ) -> Result<(CallPlace, MessageRoom), TooFast> {
        let client = caller.limited_as.as_str();
        if caller.has_rate {
            // A search has a method that writes elsewhere.
            let is_read = [Method::GET, Method::HEAD].contains(method) || path.starts_with("/search");
            self.0.limits.paced(client, !is_read).await?;
        }
        // The place first: a client that waits for its own calls must not hold memory.
        let place = self.0.limits.place(Some(client)).await?;
        Ok((place, self.0.limits.message_room(Some(client), longest).await?))
    }

    /// A file, however it was named. `location` is its path where the request did not name it.
    async fn file(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        at: RequestPath,
        location: Option<&VaultPath>,
    ) -> Result<Response, ApiError> {
        let answered = match request.method.as_str() {
            "GET" | "HEAD" => self.get(caller, request, &at).await,
            "PUT" => self.put(caller, request, &at).await,
            "POST" => self.post(caller, request, &at).await,
            "PATCH" => self.patch(caller, request, &at).await,
            "DELETE" => self.delete(caller, request, &at).await,
            // The active note and periodic ones have no path in the request that could be changed.
            "MOVE" if location.is_none() => self.relocate(caller, request, &at, false).await,
            "COPY" if location.is_none() => self.relocate(caller, request, &at, true).await,
            _ => Err(ApiError::not_found()),
        };
        // Also on errors, since a program may want to know which note was meant.
        let mut response = answered.unwrap_or_else(IntoResponse::into_response);
        if let Some(location) = location {
            set_location(response.headers_mut(), location.as_str());
        }
        Ok(response)
    }

    async fn read_json(
        &self,
        caller: &RestCaller,
        operation: impl ReadOperation + 'static,
    ) -> Result<Response, ApiError> {
        match self.read(caller, operation).await? {
            RestPayload::Json(value) => Ok(api_error::json_response(&value)),
            RestPayload::Place(_) | RestPayload::Periodic(_) | RestPayload::OpenNote(_) => Err(broken()),
        }
    }
}

fn too_fast(limit: TooFast) -> Response {
    retried_later(limit, ApiError::status(StatusCode::TOO_MANY_REQUESTS))
}

fn retried_later(limit: TooFast, error: ApiError) -> Response {
    let seconds = limit.retry_after.as_secs_f64().ceil().max(1.0) as u64;
    let mut response = error.with(format_args!("Try again in {seconds} s.")).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Where the file of an answer is.
fn set_location(headers: &mut HeaderMap, path: &str) {
    if let Ok(value) = HeaderValue::from_str(&request_path::encoded_path(path)) {
        headers.insert(header::CONTENT_LOCATION, value);
    }
}

#[cfg(test)]
mod tests;
