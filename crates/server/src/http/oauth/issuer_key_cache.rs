//! The keys of another issuer: fetched once at a time, kept, and fetched again when a token names one that is not there.

use std::{sync::Arc, time::Duration};

use lapidary_auth::IssuerKeys;
use lapidary_vault::ElapsedTime;
use parking_lot::Mutex;

use super::outgoing_fetch::OutgoingFetch;

const SET_BYTES: u64 = 256 * 1024;
/// How long keys count without another look.
const FRESH_FOR: Duration = Duration::from_secs(10 * 60);
/// How long they count if the issuer does not answer.
const USABLE_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// After a failure, at least so long passes until the next try.
const AFTER_FAILURE: Duration = Duration::from_secs(10);

pub(crate) struct IssuerKeyCache {
    fetch: Arc<OutgoingFetch>,
    url: String,
    cooldown: Duration,
    kept: Mutex<KeptKeys>,
    /// Held while keys are fetched, so that many tokens cause one request.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct KeptKeys {
    keys: Option<(Arc<IssuerKeys>, ElapsedTime)>,
    /// The last try, whatever came of it.
    tried: Option<ElapsedTime>,
}

impl IssuerKeyCache {
    pub(crate) fn new(fetch: OutgoingFetch, url: String, cooldown: Duration) -> Self {
        let fetching = tokio::sync::Mutex::new(());
        Self { fetch: Arc::new(fetch), url, cooldown, kept: Mutex::default(), fetching }
    }

    /// The keys, if there are any that count.
    pub(crate) async fn keys(&self) -> Option<Arc<IssuerKeys>> {
        if let Some(keys) = self.younger_than(FRESH_FOR) {
            return Some(keys);
        }
        let _one_at_a_time = self.fetching.lock().await;
        // Looked at again, since the holder of the lock before may have fetched them.
        if let Some(keys) = self.younger_than(FRESH_FOR) {
            return Some(keys);
        }
        self.fetch_unless_tried(AFTER_FAILURE).await;
        // An issuer that is down for an hour does not lock out all its clients.
        self.younger_than(USABLE_FOR)
    }

    /// Newer keys, because a token names one that is not among these. `None` if it is too early to look again.
    pub(crate) async fn newer(&self, than: &Arc<IssuerKeys>) -> Option<Arc<IssuerKeys>> {
        // By identity: another fetch made another value, even if its keys are the same.
        let is_newer = |keys: &Arc<IssuerKeys>| !Arc::ptr_eq(keys, than);
        let _one_at_a_time = self.fetching.lock().await;
        if let Some(keys) = self.younger_than(FRESH_FOR).filter(is_newer) {
            return Some(keys);
        }
        self.fetch_unless_tried(self.cooldown).await;
        self.younger_than(FRESH_FOR).filter(is_newer)
    }

    fn younger_than(&self, age: Duration) -> Option<Arc<IssuerKeys>> {
        let kept = self.kept.lock();
        let (keys, fetched) = kept.keys.as_ref()?;
        (fetched.elapsed() < age).then(|| Arc::clone(keys))
    }

    async fn fetch_unless_tried(&self, within: Duration) {
        if self.kept.lock().tried.as_ref().is_some_and(|tried| tried.elapsed() < within) {
            return;
        }
        let (fetch, url) = (Arc::clone(&self.fetch), self.url.clone());
        let fetched = tokio::task::spawn_blocking(move || {
            let fetched = fetch.get(&url, SET_BYTES).map_err(|error| error.to_string())?;
            let keys = IssuerKeys::parse(&fetched.bytes).filter(|keys| !keys.is_empty());
            keys.ok_or_else(|| "it has no keys that can be used".to_owned())
        });
        let fetched = fetched.await.unwrap_or_else(|_| Err("it could not be fetched".to_owned()));
        let mut kept = self.kept.lock();
        // Also after a failure, which is what the pauses are for.
        kept.tried = Some(ElapsedTime::start());
        match fetched {
            Ok(keys) => kept.keys = Some((Arc::new(keys), ElapsedTime::start())),
            Err(reason) => tracing::warn!("the keys of the issuer cannot be used: {reason}"),
        }
    }
}
