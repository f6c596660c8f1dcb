//! A server behind an address, by Streamable HTTP: every request is a POST, whose answer is a message or a stream of them. Only the
//! address of the configuration is ever asked; a redirect is a fault.

use std::{
    io::Read,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread,
    time::Duration,
};

use lapidary_operation::{FailedCall, ServerFault};
use parking_lot::Mutex;
use serde_json::{Value, json};
use ureq::{Agent, Body, Error, http::Response};

use crate::{
    event_stream::EventStream,
    protocol::{CallerPatience, IncomingMessage, ServerLink, incoming, notification, request},
};

const SESSION: &str = "mcp-session-id";
/// No id of a session is longer.
const LONGEST_SESSION: usize = 500;
/// How long a refusal of what the server wants may take.
const REFUSING: Duration = Duration::from_secs(2);
/// Requests of the server that are answered, each with a refusal, while one answer is waited for.
const MOST_REFUSALS: usize = 5;

pub(crate) struct AddressLink {
    shared: Arc<AddressState>,
    next: AtomicU64,
}

struct AddressState {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
    longest_answer: usize,
    /// What the server calls this session, once it has.
    session: Mutex<Option<String>>,
    /// The version of the protocol that both speak, once that is known. Servers refuse requests that name another one.
    version: OnceLock<&'static str>,
    has_ended: AtomicBool,
    list_changed: AtomicBool,
}

impl AddressLink {
    pub(crate) fn new(agent: &Agent, url: &str, headers: &[(String, String)], longest_answer: usize) -> Self {
        let shared = Arc::new(AddressState {
            agent: agent.clone(),
            url: url.to_owned(),
            headers: headers.to_vec(),
            longest_answer,
            session: Mutex::default(),
            version: OnceLock::new(),
            has_ended: AtomicBool::new(false),
            list_changed: AtomicBool::new(false),
        });
        Self { shared, next: AtomicU64::new(1) }
    }
}

impl ServerLink for AddressLink {
    fn request(&self, method: &str, params: Value, patience: &CallerPatience<'_>) -> Result<Vec<u8>, FailedCall> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        // The time left is taken before the thread starts, which cannot ask how patient the caller is.
        let (message, within) = (request(id, method, &params), patience.left());
        if within.is_zero() {
            return Err(FailedCall::unsent(ServerFault::TimedOut));
        }
        let (sender, answer) = sync_channel(1);
        let shared = Arc::clone(&self.shared);
        // A read cannot be interrupted, so it is left behind if no one waits any more. It ends with its own time limit.
        thread::spawn(move || sender.send(shared.exchange(id, &message, within)).unwrap_or_default());
        loop {
            let look = match patience.next_look() {
                Ok(look) => look,
                Err(fault) => {
                    let cancelled = json!({ "requestId": id, "reason": "No one waits for it." });
                    // In the background: a caller that goes away waits for nothing.
                    self.shared.tell(notification("notifications/cancelled", &cancelled));
                    return Err(FailedCall { fault, is_sent: true });
                }
            };
            match answer.recv_timeout(look) {
                Ok(exchanged) => return exchanged,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(FailedCall { fault: ServerFault::Unreachable, is_sent: true });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn notify(&self, method: &str, params: Value, patience: &CallerPatience<'_>) -> Result<(), ServerFault> {
        let response =
            self.shared.post(&notification(method, &params), patience.left()).map_err(|failed| failed.fault)?;
        status_fault(&response).map_or(Ok(()), Err)
    }

    fn agree(&self, version: &'static str) {
        self.shared.version.get_or_init(|| version);
    }

    fn ended(&self) -> Option<ServerFault> {
        self.shared.has_ended.load(Ordering::Relaxed).then_some(ServerFault::Ended)
    }

    fn takes_list_change(&self) -> bool {
        self.shared.list_changed.swap(false, Ordering::Relaxed)
    }

    fn close(&self) {
        self.shared.has_ended.store(true, Ordering::Relaxed);
    }

    fn kill(&self) {
        self.close();
    }

    fn last_words(&self) -> Vec<String> {
        Vec::new()
    }
}

impl AddressState {
    fn post(&self, message: &[u8], within: Duration) -> Result<Response<Body>, FailedCall> {
        let mut post = self.agent.post(&self.url).config().timeout_global(Some(within)).build();
        for (name, value) in &self.headers {
            post = post.header(name, value);
        }
        post = post.header("content-type", "application/json").header("accept", "application/json, text/event-stream");
        if let Some(session) = self.session.lock().as_ref() {
            post = post.header(SESSION, session);
        }
        if let Some(version) = self.version.get() {
            post = post.header("mcp-protocol-version", *version);
        }
        post.send(message).map_err(|error| fault_of(&error))
    }

    /// Sends a request and reads until its answer is there.
    fn exchange(self: &Arc<Self>, id: u64, message: &[u8], within: Duration) -> Result<Vec<u8>, FailedCall> {
        let mut response = self.post(message, within)?;
        if let Some(fault) = status_fault(&response) {
            // A session that is no longer known is begun anew with the next call.
            if fault == (ServerFault::Status { status: 404 }) && self.session.lock().is_some() {
                self.has_ended.store(true, Ordering::Relaxed);
                return Err(FailedCall::unsent(ServerFault::Ended));
            }
            return Err(FailedCall { fault, is_sent: true });
        }
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        // The server gives it with its first answer, and wants it back with every request.
        if let Some(session) = header(SESSION).filter(|session| session.len() <= LONGEST_SESSION) {
            *self.session.lock() = Some(session.to_owned());
        }
        let is_stream = header("content-type").is_some_and(|kind| kind.trim().starts_with("text/event-stream"));
        let sent = |fault| FailedCall { fault, is_sent: true };
        let most = self.longest_answer;
        // One byte more than an answer may have: a body that reaches its limit counts as too large before its end is seen.
        let mut body = response.body_mut().with_config().limit(most as u64 + 1).reader();
        let mut part = vec![0; 16 << 10];
        let (mut events, mut whole, mut read, mut refusals) = (EventStream::default(), Vec::new(), 0, 0);
        loop {
            let bytes = match body.read(&mut part) {
                Ok(0) => break,
                Ok(bytes) => bytes,
                Err(error) => return Err(sent(read_fault(&error, most))),
            };
            read += bytes;
            if read > most {
                return Err(sent(ServerFault::TooMuch { limit: most }));
            }
            // A whole message is read to its end; a stream is left as soon as the answer is there.
            if !is_stream {
                whole.extend_from_slice(&part[..bytes]);
                continue;
            }
            for event in events.take(&part[..bytes]) {
                match incoming(&event).map_err(sent)? {
                    IncomingMessage::Answer { id: answered } if answered == id => return Ok(event),
                    IncomingMessage::ListChanged => self.list_changed.store(true, Ordering::Relaxed),
                    IncomingMessage::Request { refusal } if refusals < MOST_REFUSALS => {
                        refusals += 1;
                        // Servers wait for this before they go on, so it is worth a few requests.
                        self.tell(refusal);
                    }
                    // Progress, log messages, and answers to anything else.
                    _ => {}
                }
            }
        }
        match incoming(&whole).map_err(sent)? {
            IncomingMessage::Answer { id: answered } if answered == id => Ok(whole),
            _ => Err(sent(ServerFault::NotMcp)),
        }
    }

    /// Sends something whose arrival does not matter, without waiting for it.
    fn tell(self: &Arc<Self>, message: Vec<u8>) {
        let shared = Arc::clone(self);
        thread::spawn(move || drop(shared.post(&message, REFUSING)));
    }
}

fn status_fault(response: &Response<Body>) -> Option<ServerFault> {
    match response.status().as_u16() {
        200..=299 => None,
        // Followed, it would send the owner's headers to another address.
        300..=399 => Some(ServerFault::Redirected),
        status => Some(ServerFault::Status { status }),
    }
}

fn fault_of(error: &Error) -> FailedCall {
    match error {
        // Without a connection nothing was sent, so the call can be made again.
        Error::HostNotFound | Error::ConnectionFailed => FailedCall::unsent(ServerFault::Unreachable),
        // The request may have arrived: whether the tool ran is not known.
        Error::Timeout(_) => FailedCall { fault: ServerFault::TimedOut, is_sent: true },
        _ => FailedCall { fault: ServerFault::Unreachable, is_sent: true },
    }
}

fn read_fault(error: &std::io::Error, most: usize) -> ServerFault {
    match error.get_ref().and_then(|error| error.downcast_ref::<Error>()) {
        Some(Error::BodyExceedsLimit(_)) => ServerFault::TooMuch { limit: most },
        Some(Error::Timeout(_)) => ServerFault::TimedOut,
        // How the system reports a socket whose time is over.
        _ if matches!(error.kind(), std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock) => {
            ServerFault::TimedOut
        }
        _ => ServerFault::Unreachable,
    }
}
