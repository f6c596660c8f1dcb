//! Refusals that the owner can look at later. Anyone can cause them at any rate, so they are counted in memory and written
//! every few seconds.

use std::{collections::BTreeMap, net::IpAddr, sync::Arc, time::Duration};

use axum::{
    extract::Request,
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use lapidary_auth::{AuthStore, NewEvent, SecurityEventKind, UnixSeconds};
use lapidary_config::AddressRange;
use lapidary_pipeline::Clock;
use parking_lot::Mutex;

use super::{
    accept_loop::network,
    client_address::client_address,
    endpoint::peer_of,
    known_clients::{ClientCheck, KnownClients},
};

/// The disk hears of refusals once in this time.
const PAUSE: Duration = Duration::from_secs(10);

pub(super) struct RefusalLog {
    store: Arc<AuthStore>,
    clock: Clock,
    trusted_proxies: Vec<AddressRange>,
    /// By the words of their kind. Present while a task takes care of it.
    counted: Mutex<BTreeMap<&'static str, CountedRefusals>>,
}

/// Refusals of one kind that are not written yet.
struct CountedRefusals {
    kind: SecurityEventKind,
    count: i64,
    /// Of the last one.
    subject: String,
    address: Option<IpAddr>,
}

/// What is asked before a request is handed on, for the case that it is refused.
pub(super) struct RefusedRequest {
    origin: Option<String>,
    route: String,
    address: Option<IpAddr>,
}

impl RefusalLog {
    /// None where no database of tokens is used.
    pub(super) fn new(clients: &KnownClients, trusted_proxies: &[AddressRange]) -> Option<Arc<Self>> {
        // With tokens of another issuer, nothing is stored here.
        let (ClientCheck::TokenOptional { store }
        | ClientCheck::OwnerTokens { store, .. }
        | ClientCheck::BuiltIn { store, .. }) = &clients.check
        else {
            return None;
        };
        Some(Arc::new(Self {
            store: Arc::clone(store),
            clock: clients.clock,
            trusted_proxies: trusted_proxies.to_vec(),
            counted: Mutex::default(),
        }))
    }

    pub(super) fn look_at(&self, request: &Request) -> RefusedRequest {
        let text = |headers: &HeaderMap| Some(headers.get(header::ORIGIN)?.to_str().ok()?.to_owned());
        // Only the first part: the rest of a path may have a token or an id in it.
        let route = request.uri().path().split('/').nth(1).unwrap_or_default();
        let address = peer_of(request).map(|peer| client_address(peer, request.headers(), &self.trusted_proxies));
        RefusedRequest { origin: text(request.headers()), route: format!("/{route}"), address: address.map(network) }
    }

    pub(super) fn answered(self: &Arc<Self>, request: RefusedRequest, response: &Response, is_origin_refused: bool) {
        let (kind, subject) = match response.status() {
            _ if is_origin_refused => (SecurityEventKind::OriginRefused, request.origin.unwrap_or_default()),
            StatusCode::TOO_MANY_REQUESTS => (SecurityEventKind::LimitReached, request.route),
            _ => return,
        };
        let mut counted = self.counted.lock();
        // An entry, even one that counts nothing, means that a task is under way and will come back for it.
        if let Some(refusals) = counted.get_mut(kind.id()) {
            *refusals =
                CountedRefusals { kind, count: refusals.count.saturating_add(1), subject, address: request.address };
            return;
        }
        counted.insert(kind.id(), CountedRefusals { kind, count: 1, subject, address: request.address });
        tokio::spawn(Arc::clone(self).write(kind));
    }

    /// Writes what was counted until nothing more is.
    async fn write(self: Arc<Self>, kind: SecurityEventKind) {
        loop {
            let refusals = {
                let mut counted = self.counted.lock();
                let Some(refusals) = counted.get_mut(kind.id()).filter(|refusals| refusals.count > 0) else {
                    // Under the same lock as the look: a refusal right after this starts a new task instead of waiting
                    // for one that has ended.
                    counted.remove(kind.id());
                    return;
                };
                // A zero stays behind as the mark that this task is still running.
                let none = CountedRefusals { kind, count: 0, subject: String::new(), address: None };
                std::mem::replace(refusals, none)
            };
            let log = Arc::clone(&self);
            let written = tokio::task::spawn_blocking(move || {
                let address = refusals.address.map(|address| address.to_string());
                let event = NewEvent {
                    address: address.as_deref(),
                    count: refusals.count,
                    ..NewEvent::of(refusals.kind, &refusals.subject)
                };
                log.store.record_event(event, UnixSeconds::from(log.clock.now()))
            });
            if let Ok(Err(error)) = written.await {
                tracing::debug!(%error, "a refusal was not recorded");
            }
            // After writing and not before, so that the first refusal is seen at once and a flood costs one write for
            // each pause.
            tokio::time::sleep(PAUSE).await;
        }
    }
}
