//! How much one client may ask for, and all together. Time is an argument, so that limits can be tested to the millisecond.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::ClientLimits;

/// How many seconds of calls and writes may come at once.
const CALL_BURST: f64 = 3.0;
const WRITE_BURST: f64 = 4.0;
/// How long a call waits for others of its client before it is refused.
const PATIENCE: Duration = Duration::from_secs(5);
/// Tokens that do not count, of one address in a minute.
const REFUSALS: f64 = 30.0;
/// As many clients and addresses are remembered.
const KEYS: usize = 10_000;

/// A refusal, and after how long it is worth to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooFast {
    pub(super) retry_after: Duration,
}

/// How fast something may happen, for each of many keys. Every key has a bucket that fills up again.
pub(super) struct RateTable {
    per_second: f64,
    burst: f64,
    buckets: Mutex<HashMap<String, RateBucket>>,
}

struct RateBucket {
    level: f64,
    at: Instant,
}

impl RateTable {
    /// A rate of 0 means no limit.
    fn new(per_second: f64, burst: f64) -> Self {
        Self { per_second, burst, buckets: Mutex::default() }
    }

    /// Takes one of what there is at this moment.
    fn take(&self, key: &str, now: Instant) -> Result<(), TooFast> {
        if self.per_second <= 0.0 {
            return Ok(());
        }
        let mut buckets = self.buckets.lock();
        if buckets.len() >= KEYS && !buckets.contains_key(key) {
            buckets.retain(|_, bucket| self.level(bucket, now) < self.burst);
            if buckets.len() >= KEYS {
                // All of them are busy: a new one waits.
                return Err(TooFast { retry_after: Duration::from_secs(1) });
            }
        }
        if !buckets.contains_key(key) {
            buckets.insert(key.to_owned(), RateBucket { level: self.burst, at: now });
        }
        let Some(bucket) = buckets.get_mut(key) else { return Ok(()) };
        let level = self.level(bucket, now);
        if level < 1.0 {
            return Err(TooFast { retry_after: Duration::from_secs_f64((1.0 - level) / self.per_second) });
        }
        *bucket = RateBucket { level: level - 1.0, at: now };
        Ok(())
    }

    fn level(&self, bucket: &RateBucket, now: Instant) -> f64 {
        let gained = now.saturating_duration_since(bucket.at).as_secs_f64() * self.per_second;
        (bucket.level + gained).min(self.burst)
    }
}

/// What is counted of all clients.
pub(super) struct LimitKeeper {
    limits: ClientLimits,
    calls: RateTable,
    writes: RateTable,
    refusals: RateTable,
    in_all: Arc<Semaphore>,
    clients: Mutex<HashMap<String, Arc<ClientRoom>>>,
}

/// The places of one client.
struct ClientRoom {
    calls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
}

/// Held until an answer has been sent.
pub(super) struct CallPlace {
    _own: Option<OwnedSemaphorePermit>,
    _in_all: Option<OwnedSemaphorePermit>,
    _room: Option<Arc<ClientRoom>>,
}

impl LimitKeeper {
    pub(super) fn new(limits: ClientLimits) -> Self {
        let (calls, writes) = (f64::from(limits.calls_per_second), f64::from(limits.writes_per_second));
        Self {
            limits,
            calls: RateTable::new(calls, calls * CALL_BURST),
            writes: RateTable::new(writes, writes * WRITE_BURST),
            refusals: RateTable::new(REFUSALS / 60.0, REFUSALS),
            in_all: Arc::new(Semaphore::new(places(limits.calls_in_all))),
            clients: Mutex::default(),
        }
    }

    /// A token that does not count was sent from this address.
    pub(super) fn refused(&self, address: &str, now: Instant) -> Result<(), TooFast> {
        self.refusals.take(address, now)
    }

    /// One call more of a client at this moment.
    pub(super) fn rate(&self, client: &str, is_write: bool, now: Instant) -> Result<(), TooFast> {
        self.calls.take(client, now)?;
        if is_write { self.writes.take(client, now) } else { Ok(()) }
    }

    /// A place for a call; without a client only the calls of all are counted.
    pub(super) async fn place(&self, client: Option<&str>) -> Result<CallPlace, TooFast> {
        let room = client.map(|client| self.room(client));
        let waits = async {
            let own = match &room {
                Some(room) => Arc::clone(&room.calls).acquire_owned().await.ok(),
                None => None,
            };
            (own, Arc::clone(&self.in_all).acquire_owned().await.ok())
        };
        let (own, in_all) =
            tokio::time::timeout(PATIENCE, waits).await.map_err(|_| TooFast { retry_after: PATIENCE })?;
        Ok(CallPlace { _own: own, _in_all: in_all, _room: room })
    }

    /// One stream more that stays open.
    pub(super) fn stream(&self, client: Option<&str>) -> Result<CallPlace, TooFast> {
        let room = client.map(|client| self.room(client));
        let own = match &room {
            Some(room) => {
                Some(Arc::clone(&room.streams).try_acquire_owned().map_err(|_| TooFast { retry_after: PATIENCE })?)
            }
            None => None,
        };
        Ok(CallPlace { _own: own, _in_all: None, _room: room })
    }

    fn room(&self, client: &str) -> Arc<ClientRoom> {
        let mut clients = self.clients.lock();
        if clients.len() >= KEYS {
            // Those who hold nothing are forgotten.
            clients.retain(|_, room| Arc::strong_count(room) > 1);
        }
        let make = || {
            let (calls, streams) = (places(self.limits.calls), places(self.limits.streams));
            Arc::new(ClientRoom { calls: Arc::new(Semaphore::new(calls)), streams: Arc::new(Semaphore::new(streams)) })
        };
        Arc::clone(clients.entry(client.to_owned()).or_insert_with(make))
    }
}

fn places(limit: usize) -> usize {
    if limit == 0 { Semaphore::MAX_PERMITS } else { limit.min(Semaphore::MAX_PERMITS) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let table = RateTable::new(2.0, 4.0);
        let start = tokio::time::Instant::now().into_std();
        let at = |milliseconds: u64| start + Duration::from_millis(milliseconds);
        assert!((0..4).all(|_| table.take("a", start).is_ok()));
        assert_eq!(table.take("a", start), Err(TooFast { retry_after: Duration::from_millis(500) }));
        assert!(table.take("b", start).is_ok(), "another client has another bucket");
        assert!(table.take("a", at(499)).is_err());
        assert!(table.take("a", at(500)).is_ok() && table.take("a", at(500)).is_err());
        assert!((0..4).all(|_| table.take("a", at(60_000)).is_ok()) && table.take("a", at(60_000)).is_err());
    }

    #[test]
    fn many_keys_are_forgotten_when_they_are_quiet_and_do_not_fill_the_memory() {
        let table = RateTable::new(1.0, 2.0);
        let start = tokio::time::Instant::now().into_std();
        for key in 0..KEYS {
            table.take(&key.to_string(), start).unwrap();
        }
        assert!(table.take("new", start).is_err());
        assert!(table.take("new", start + Duration::from_secs(2)).is_ok());
        assert_eq!(table.buckets.lock().len(), 1);
    }

    #[test]
    fn no_rate_is_no_limit() {
        let table = RateTable::new(0.0, 0.0);
        assert!((0..1000).all(|_| table.take("a", tokio::time::Instant::now().into_std()).is_ok()));
    }
}
