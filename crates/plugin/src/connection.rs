//! One connection to the plugin: address, key, certificate, timeouts. Reached by the first call.

use std::{fmt, sync::OnceLock, time::Duration};

use lapidary_note::check_work;
use serde::{Deserialize, de::DeserializeOwned};
use ureq::{
    Agent,
    http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header},
    tls::{RootCerts, TlsConfig},
    unversioned::{
        resolver::DefaultResolver,
        transport::{Connector, DefaultConnector, TcpConnector},
    },
};

use crate::{
    CertificateTrust, PluginError, PluginUrl, TrustError,
    certificate_trust::{PinnedTls, ThisComputer, provider},
    request_retry::RequestRetry,
};

/// How long a connection may take. It is nearly always to this computer.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Connections that are kept: as many as requests are made at the same time.
const KEPT_CONNECTIONS: usize = 8;
/// The body of an error is read only for its number.
const MOST_ERROR_BYTES: u64 = 64 * 1024;
/// Answers that are lists or facts, not files.
pub(crate) const MOST_JSON_BYTES: u64 = 64 << 20;

/// Says which process sends a request. One that serves the plugin's API too refuses its own: an address in the settings may lead
/// back to it, and asking itself would never end.
pub const SENDER: &str = "lapidary-sender";

/// This process among all others.
pub fn process_mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        // Without random numbers a process has its number, which is its own on this computer.
        getrandom::u64().map_or_else(|_| std::process::id().to_string(), |mark| format!("{mark:016x}"))
    })
}

/// The plugin's key. It is in no log and no message.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// Where the plugin is and how to talk to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionSettings {
    pub url: PluginUrl,
    pub key: ApiKey,
    /// The header that carries the key, if the plugin's settings name another.
    pub key_header: Option<String>,
    pub trust: CertificateTrust,
    /// For a request with all its repetitions.
    pub timeout: Duration,
}

impl ConnectionSettings {
    pub const TIMEOUT: Duration = Duration::from_secs(30);

    pub fn new(url: PluginUrl, key: ApiKey) -> Self {
        Self { url, key, key_header: None, trust: CertificateTrust::Public, timeout: Self::TIMEOUT }
    }
}

/// The plugin, as calls. A clone shares its connections.
#[derive(Clone)]
pub struct PluginConnection {
    pub(crate) agent: Agent,
    /// For requests that are sent once: a kept connection may have been closed by the other side meanwhile.
    once: Agent,
    pub(crate) url: PluginUrl,
    key: HeaderValue,
    key_header: HeaderName,
    timeout: Duration,
    retries: bool,
}

/// A request before it is sent.
pub(crate) struct PluginRequest<'a> {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: Vec<(HeaderName, String)>,
    pub(crate) body: Option<&'a [u8]>,
    /// A larger answer is an error.
    pub(crate) most_bytes: u64,
    /// Without it, the request is one of a stranger.
    pub(crate) has_key: bool,
}

impl<'a> PluginRequest<'a> {
    pub(crate) fn new(method: Method, url: String) -> Self {
        Self { method, url, headers: Vec::new(), body: None, most_bytes: MOST_JSON_BYTES, has_key: true }
    }

    pub(crate) fn get(url: String) -> Self {
        Self::new(Method::GET, url)
    }

    pub(crate) fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn body(mut self, kind: &str, bytes: &'a [u8]) -> Self {
        self.body = Some(bytes);
        self.header(header::CONTENT_TYPE, kind)
    }
}

/// An answer that is not an error.
pub(crate) struct PluginReply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl PluginReply {
    /// That a change was carried out. The plugin says so without a body; a page says something else, whatever its status.
    pub(crate) fn done(self) -> Result<Self, PluginError> {
        if self.status == StatusCode::NO_CONTENT { Ok(self) } else { Err(PluginError::Unexpected) }
    }

    pub(crate) fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, PluginError> {
        serde_json::from_slice(&self.bytes).map_err(|_| PluginError::Unexpected)
    }
}

/// What is read of an error's body.
#[derive(Deserialize)]
struct ErrorBody {
    #[serde(rename = "errorCode")]
    code: Option<u32>,
}

/// Why an attempt failed, and when another one is welcome.
struct FailedAttempt {
    error: PluginError,
    /// The plugin's own number for the error.
    code: Option<u32>,
    wait: Option<Duration>,
}

impl From<PluginError> for FailedAttempt {
    fn from(error: PluginError) -> Self {
        Self { error, code: None, wait: None }
    }
}

impl PluginConnection {
    /// Nothing is sent yet.
    pub fn new(settings: &ConnectionSettings) -> Result<Self, TrustError> {
        let (agent, once) = (agent(settings, KEPT_CONNECTIONS)?, agent(settings, 0)?);
        let name = settings.key_header.as_deref().and_then(|name| HeaderName::from_bytes(name.as_bytes()).ok());
        // A key that cannot be in a header cannot be the right one; an empty one is refused by the other side.
        let mut key = HeaderValue::from_str(&format!("Bearer {}", settings.key.0))
            .unwrap_or_else(|_| HeaderValue::from_static("Bearer"));
        key.set_sensitive(true);
        Ok(Self {
            agent,
            once,
            url: settings.url.clone(),
            key,
            key_header: name.unwrap_or(header::AUTHORIZATION),
            timeout: settings.timeout,
            retries: true,
        })
    }

    pub fn url(&self) -> &PluginUrl {
        &self.url
    }

    /// The same connection, whose requests are sent once: to see whether it is there, and for changes whose fate is
    /// found out before they are tried again.
    pub fn without_retries(&self) -> Self {
        Self { retries: false, ..self.clone() }
    }

    /// The same connection with another limit.
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self { timeout, ..self.clone() }
    }

    pub(crate) fn send(&self, request: &PluginRequest<'_>) -> Result<PluginReply, PluginError> {
        self.send_coded(request).map_err(|(error, _)| error)
    }

    /// The same, with the plugin's own number for an error.
    pub(crate) fn send_coded(&self, request: &PluginRequest<'_>) -> Result<PluginReply, (PluginError, Option<u32>)> {
        let mut retry = RequestRetry::new(request.method.as_str(), self.timeout, self.retries);
        loop {
            let failed = match self.attempt(request, retry.time_left()) {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            let Some(pause) = retry.pause_after(failed.error, failed.wait) else {
                return Err((failed.error, failed.code));
            };
            tracing::debug!(error = %failed.error, "a request to the plugin is sent again");
            // A call that has ended meanwhile is not waited for.
            check_work();
            std::thread::sleep(pause);
            check_work();
        }
    }

    fn attempt(&self, request: &PluginRequest<'_>, time: Duration) -> Result<PluginReply, FailedAttempt> {
        let mut built = Request::builder().method(&request.method).uri(&request.url);
        for (name, value) in &request.headers {
            built = built.header(name, value);
        }
        if request.has_key {
            built = built.header(&self.key_header, &self.key);
        }
        built = built.header(SENDER, process_mark());
        let agent = if request.method == Method::POST { &self.once } else { &self.agent };
        let answered = match request.body {
            Some(bytes) => {
                let built = built.body(bytes).map_err(|_| PluginError::Unexpected)?;
                agent.run(agent.configure_request(built).timeout_global(Some(time)).build())
            }
            None => {
                let built = built.body(()).map_err(|_| PluginError::Unexpected)?;
                agent.run(agent.configure_request(built).timeout_global(Some(time)).build())
            }
        };
        let mut response = answered.map_err(|error| PluginError::of_transport(&error))?;
        let status = response.status();
        let limit = if status.is_success() { request.most_bytes } else { MOST_ERROR_BYTES };
        let read = response.body_mut().with_config().limit(limit).read_to_vec();
        if status.is_success() {
            let bytes = read.map_err(|error| match PluginError::of_transport(&error) {
                PluginError::TooLarge { .. } => PluginError::TooLarge { limit },
                error => error,
            })?;
            return Ok(PluginReply { status, headers: response.headers().clone(), bytes });
        }
        // What it says beside the number may quote notes and paths, and goes nowhere.
        let code = read.ok().and_then(|bytes| serde_json::from_slice::<ErrorBody>(&bytes).ok()).and_then(|it| it.code);
        let wait = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        Err(FailedAttempt {
            error: PluginError::of_status(status.as_u16(), code),
            code,
            wait: wait.map(Duration::from_secs),
        })
    }
}

/// What makes the requests, with this many connections that are kept open.
fn agent(settings: &ConnectionSettings, kept: usize) -> Result<Agent, TrustError> {
    let trusts_any = settings.trust == CertificateTrust::AnyOnThisComputer;
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::WebPki)
        .disable_verification(trusts_any)
        .unversioned_rustls_crypto_provider(provider())
        .build();
    let config = Agent::config_builder()
        .timeout_connect(Some(settings.timeout.min(CONNECT_TIME)))
        // A redirect could send the key to another host, and so could a proxy of the environment.
        .max_redirects(0)
        .proxy(None)
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        .max_idle_connections(kept)
        .max_idle_connections_per_host(kept)
        .user_agent(concat!("lapidary/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls)
        .build();
    Ok(match &settings.trust {
        CertificateTrust::Pinned(certificate) => {
            let connector = ().chain(TcpConnector::default()).chain(PinnedTls::new(certificate)?);
            Agent::with_parts(config, connector, DefaultResolver::default())
        }
        CertificateTrust::AnyOnThisComputer if settings.url.is_encrypted() => {
            Agent::with_parts(config, DefaultConnector::default(), ThisComputer::default())
        }
        // Plain HTTP has no certificate to ask about.
        CertificateTrust::Public | CertificateTrust::AnyOnThisComputer => config.into(),
    })
}

impl fmt::Debug for PluginConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginConnection").field("url", &self.url).finish_non_exhaustive()
    }
}
