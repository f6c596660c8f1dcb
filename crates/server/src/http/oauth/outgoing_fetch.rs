//! Requests that leave this server: the documents of clients, which strangers name, and the keys of an issuer, which the
//! owner names. No redirects, no proxies, little time and few bytes.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    time::Duration,
};

use lapidary_telemetry::outgoing;
use ureq::{
    Agent,
    config::Config,
    http::{StatusCode, Uri, header},
    tls::RootCerts,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::{DefaultConnector, NextTimeout},
    },
};

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
        Self::new(PublicAddresses(DefaultResolver::default()), RootCerts::WebPki, STRANGERS_TIME)
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

/// Names that lead only to public addresses. The connection is made to one of the very addresses that were looked at,
/// so that a name cannot lead elsewhere a moment later.
#[derive(Debug)]
struct PublicAddresses<R>(R);

impl<R: Resolver> Resolver for PublicAddresses<R> {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        // One private address among public ones is an attempt, too.
        if found.iter().all(|address| is_public(address.ip())) { Ok(found) } else { Err(ureq::Error::HostNotFound) }
    }
}

/// Whether an address is one of the open internet, and of no network that only this computer can reach.
fn is_public(address: IpAddr) -> bool {
    // An address of version 4 inside one of version 6 is judged as what it reaches.
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Shared by the customers of a provider, for protocols, for 6to4, for measuring.
        || (a == 100 && (b & 0xc0) == 64)
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b & 0xfe) == 18))
}

/// Global unicast is 2000::/3; within it are ranges for documentation and for tunnels that hide an address of version 4.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let is_special =
        first == 0x2001 && (second < 0x200 || second == 0xdb8) || first == 0x2002 || (first & 0xfff0) == 0x3ff0;
    (first & 0xe000) == 0x2000 && !is_special
}

#[cfg(test)]
pub(super) mod tests;
