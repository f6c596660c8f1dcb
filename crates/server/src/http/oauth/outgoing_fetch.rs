//! Requests that leave this server: the documents of clients, which strangers name, and the keys of an issuer, which the
//! owner names. No redirects, no proxies, little time and few bytes.

use std::time::Duration;

use lapidary_telemetry::outgoing;
use ureq::{
    Agent,
    http::{StatusCode, header},
    tls::RootCerts,
    unversioned::{
        resolver::{DefaultResolver, Resolver},
        transport::DefaultConnector,
    },
};

use crate::public_addresses::PublicAddresses;

/// For a document that a stranger names.
const STRANGERS_TIME: Duration = Duration::from_secs(5);

/// Fetches JSON.
pub(crate) struct OutgoingFetch(Agent);

/// An answer, and how long it may be kept.
#[derive(Debug)]
pub(super) struct FetchedJson {
    pub(super) bytes: Vec<u8>,
    pub(super) max_age: Option<Duration>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("it could not be fetched: {0}")]
    Unreachable(#[from] ureq::Error),
    #[error("it was answered with {0}")]
    Status(StatusCode),
    #[error("the answer is not JSON")]
    NotJson,
}

impl OutgoingFetch {
    /// For addresses that anyone can name: only public ones are connected to.
    pub(crate) fn for_strangers() -> Self {
        Self::new(PublicAddresses::new(DefaultResolver::default(), Vec::new()), RootCerts::WebPki, STRANGERS_TIME)
    }

    /// For an address in the configuration, which may be in the owner's own network.
    pub(crate) fn for_owner(timeout: Duration) -> Self {
        Self::new(DefaultResolver::default(), RootCerts::WebPki, timeout)
    }

    pub(super) fn new(names: impl Resolver, roots: RootCerts, timeout: Duration) -> Self {
        let config = outgoing::settings(timeout, roots, false)
            // A proxy of the environment would look up names itself, past the check of their addresses.
            .proxy(None)
            // A connection that is kept would be used without asking for its address again.
            .max_idle_connections(0)
            .accept("application/json")
            .build();
        Self(Agent::with_parts(config, DefaultConnector::default(), names))
    }

    /// Blocks; call it where that is harmless.
    pub(super) fn get(&self, url: &str, most_bytes: u64) -> Result<FetchedJson, FetchError> {
        let mut response = self.0.get(url).call()?;
        // A redirect is a status like any other that is not 200: it is not followed.
        if response.status() != StatusCode::OK {
            return Err(FetchError::Status(response.status()));
        }
        let text = |name: header::HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
        let kind = text(header::CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        // A page of HTML would mean that the address is not a document.
        if essence != "application/json" && !essence.ends_with("+json") {
            return Err(FetchError::NotJson);
        }
        let max_age = text(header::CACHE_CONTROL).and_then(max_age);
        let bytes = response.body_mut().with_config().limit(most_bytes).read_to_vec()?;
        Ok(FetchedJson { bytes, max_age })
    }
}

fn max_age(control: &str) -> Option<Duration> {
    let parts = control.split(',').map(|part| part.trim().to_ascii_lowercase());
    // The first that can be read. What it means is clamped where it is used.
    parts.filter_map(|part| part.strip_prefix("max-age=")?.parse().ok()).next().map(Duration::from_secs)
}

#[cfg(test)]
pub(super) mod tests;
