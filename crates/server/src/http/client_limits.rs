//! How much one client may request, and all of them together. The rates take time as an argument, so that they can be
//! tested to the millisecond.

use std::{collections::HashMap, sync::Arc, time::Duration};

use lapidary_config::ClientLimits;
use lapidary_vault::ElapsedTime;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::message_price::MOST_OPEN_BYTES;

/// A burst, in seconds of the allowed rate.
const CALL_BURST: f64 = 3.0;
const WRITE_BURST: f64 = 4.0;
/// How long a call waits for others of its client before it is refused.
const CALL_WAIT: Duration = Duration::from_secs(5);
/// Invalid tokens from one address in a minute.
const MAX_BAD_TOKENS: f64 = 30.0;
/// How many clients and addresses are remembered.
const MAX_REMEMBERED: usize = 10_000;

/// Room in memory is counted in pieces of this many bytes.
const PIECE_BYTES: usize = 1 << 10;
/// A message of this size needs no room: as many as can be open take little.
const SMALL_MESSAGE: usize = 64 << 10;
/// One client has at most one part in this many of the room for messages.
const ROOM_OF_ONE: usize = 2;

/// A refusal, and when to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooFast {
    pub(super) retry_after: Duration,
}

/// How fast something may happen, for each of many keys. Every key has a bucket that fills up again.
pub(super) struct RateTable {
    per_second: f64,
    burst: f64,
    buckets: HashMap<String, RateBucket>,
}

/// A rate, all of which may come at once.
pub(super) fn at_most(count: f64, seconds: f64) -> RateTable {
    RateTable::new(count / seconds, count)
}

struct RateBucket {
    level: f64,
    /// When the level was taken, since the start.
    at: Duration,
}

impl RateTable {
    /// A rate of 0 means no limit.
    pub(super) fn new(per_second: f64, burst: f64) -> Self {
        Self { per_second, burst, buckets: HashMap::new() }
    }

    /// Takes one of what there is at this moment.
    pub(super) fn take(&mut self, key: &str, now: Duration) -> Result<(), TooFast> {
        if self.per_second <= 0.0 {
            return Ok(());
        }
        let Self { per_second, burst, buckets } = self;
        let level = |bucket: &RateBucket| {
            // Time never runs backwards here, as it is measured from the start of the server.
            let gained = now.saturating_sub(bucket.at).as_secs_f64() * *per_second;
            (bucket.level + gained).min(*burst)
        };
        if buckets.len() >= MAX_REMEMBERED && !buckets.contains_key(key) {
            // Full buckets say nothing: a new one would be full as well.
            buckets.retain(|_, bucket| level(bucket) < *burst);
            if buckets.len() >= MAX_REMEMBERED {
                // All of them are busy: a new one waits.
                return Err(TooFast { retry_after: Duration::from_secs(1) });
            }
        }
        if !buckets.contains_key(key) {
            buckets.insert(key.to_owned(), RateBucket { level: *burst, at: now });
        }
        let Some(bucket) = buckets.get_mut(key) else { return Ok(()) };
        let level = level(bucket);
        // Less than one is left: the caller is told when it will be one again.
        if level < 1.0 {
            return Err(TooFast { retry_after: Duration::from_secs_f64((1.0 - level) / *per_second) });
        }
        *bucket = RateBucket { level: level - 1.0, at: now };
        Ok(())
    }

    /// Gives back one that was taken and not used.
    pub(super) fn give_back(&mut self, key: &str) {
        if let Some(bucket) = self.buckets.get_mut(key) {
            bucket.level = (bucket.level + 1.0).min(self.burst);
        }
    }
}

/// The limits, and what counts towards them.
pub(super) struct RequestLimits {
    limits: ClientLimits,
    started: ElapsedTime,
    in_all: Arc<Semaphore>,
    /// Room for the messages of all clients.
    messages: Arc<Semaphore>,
    counted: Mutex<CountedRequests>,
}

struct CountedRequests {
    calls: RateTable,
    writes: RateTable,
    refusals: RateTable,
    clients: HashMap<String, Arc<ClientRoom>>,
}

/// The places of one client.
struct ClientRoom {
    calls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    messages: Arc<Semaphore>,
}

/// The room of a message until it is answered; none for a small one.
#[derive(Default)]
pub(super) struct MessageRoom {
    _own: Option<OwnedSemaphorePermit>,
    _in_all: Option<OwnedSemaphorePermit>,
    _room: Option<Arc<ClientRoom>>,
}

/// Held until an answer has been sent.
pub(super) struct CallPlace {
    _own: Option<OwnedSemaphorePermit>,
    _in_all: Option<OwnedSemaphorePermit>,
    _room: Option<Arc<ClientRoom>>,
}

impl RequestLimits {
    pub(super) fn new(limits: ClientLimits) -> Self {
        let (calls, writes) = (f64::from(limits.calls_per_second), f64::from(limits.writes_per_second));
        let counted = CountedRequests {
            calls: RateTable::new(calls, calls * CALL_BURST),
            writes: RateTable::new(writes, writes * WRITE_BURST),
            // A new address may guess thirty times at once, and then one in two seconds.
            refusals: RateTable::new(MAX_BAD_TOKENS / 60.0, MAX_BAD_TOKENS),
            clients: HashMap::new(),
        };
        Self {
            limits,
            started: ElapsedTime::start(),
            in_all: Arc::new(Semaphore::new(places(limits.calls_in_all))),
            messages: Arc::new(Semaphore::new(MOST_OPEN_BYTES / PIECE_BYTES)),
            counted: Mutex::new(counted),
        }
    }

    /// How many calls are under way.
    #[cfg(test)]
    pub(super) fn places_taken(&self) -> usize {
        places(self.limits.calls_in_all) - self.in_all.available_permits()
    }

    /// An invalid token was sent from this address.
    pub(super) fn refused(&self, address: &str) -> Result<(), TooFast> {
        self.counted.lock().refusals.take(address, self.started.elapsed())
    }

    /// What was counted as a guess was right.
    pub(super) fn guessed_right(&self, address: &str) {
        // The check of a token counts as a guess beforehand, so that many at a time cannot all pass.
        self.counted.lock().refusals.give_back(address);
    }

    /// Another call of a client, which waits for its turn as long as a call waits for a place. For programs that do one thing after
    /// the other and know no limit: they get slower instead of failing.
    pub(super) async fn paced(&self, client: &str, is_write: bool) -> Result<(), TooFast> {
        let began = self.started.elapsed();
        loop {
            let TooFast { retry_after } = match self.rate(client, is_write) {
                Ok(()) => return Ok(()),
                Err(limit) => limit,
            };
            // A wait that would end after the limit is refused at once: sleeping first would only hold a connection.
            if self.started.elapsed().saturating_sub(began) + retry_after > CALL_WAIT {
                return Err(TooFast { retry_after });
            }
            tokio::time::sleep(retry_after).await;
        }
    }

    /// Another call of a client.
    pub(super) fn rate(&self, client: &str, is_write: bool) -> Result<(), TooFast> {
        let (mut counted, now) = (self.counted.lock(), self.started.elapsed());
        counted.calls.take(client, now)?;
        if !is_write {
            return Ok(());
        }
        // What is refused as a write does not count as a call.
        counted.writes.take(client, now).inspect_err(|_| counted.calls.give_back(client))
    }

    /// A place for a call; without a client only the calls of all are counted.
    pub(super) async fn place(&self, client: Option<&str>) -> Result<CallPlace, TooFast> {
        let room = client.map(|client| self.room(client));
        let waits = async {
            // Its own place first: a client that waits for itself must not take places from all.
            let own = match &room {
                Some(room) => Arc::clone(&room.calls).acquire_owned().await.ok(),
                None => None,
            };
            (own, Arc::clone(&self.in_all).acquire_owned().await.ok())
        };
        let (own, in_all) =
            tokio::time::timeout(CALL_WAIT, waits).await.map_err(|_| TooFast { retry_after: CALL_WAIT })?;
        Ok(CallPlace { _own: own, _in_all: in_all, _room: room })
    }

    /// Room in memory for a message. A larger one than there is room for gets all of it.
    pub(super) async fn message_room(&self, client: Option<&str>, bytes: usize) -> Result<MessageRoom, TooFast> {
        if bytes <= SMALL_MESSAGE {
            return Ok(MessageRoom::default());
        }
        // One client cannot fill the memory for all.
        let most = MOST_OPEN_BYTES / ROOM_OF_ONE;
        let pieces = u32::try_from(bytes.min(most) / PIECE_BYTES).unwrap_or(u32::MAX);
        let room = client.map(|client| self.room(client));
        let waits = async {
            let own = match &room {
                Some(room) => Arc::clone(&room.messages).acquire_many_owned(pieces).await.ok(),
                None => None,
            };
            // In the same order everywhere, own room before the common one, so that no two messages wait for each other
            // in a circle.
            (own, Arc::clone(&self.messages).acquire_many_owned(pieces).await.ok())
        };
        let (own, in_all) =
            tokio::time::timeout(CALL_WAIT, waits).await.map_err(|_| TooFast { retry_after: CALL_WAIT })?;
        Ok(MessageRoom { _own: own, _in_all: in_all, _room: room })
    }

    /// A place for another stream that stays open.
    pub(super) fn stream(&self, client: Option<&str>) -> Result<CallPlace, TooFast> {
        let room = client.map(|client| self.room(client));
        let own = match &room {
            // Not waited for: a stream may stay open for hours.
            Some(room) => {
                Some(Arc::clone(&room.streams).try_acquire_owned().map_err(|_| TooFast { retry_after: CALL_WAIT })?)
            }
            None => None,
        };
        Ok(CallPlace { _own: own, _in_all: None, _room: room })
    }

    fn room(&self, client: &str) -> Arc<ClientRoom> {
        let clients = &mut self.counted.lock().clients;
        if clients.len() >= MAX_REMEMBERED {
            // A client without an open call has nothing to remember.
            // A room that is in use has another owner: the call that holds its place.
            clients.retain(|_, room| Arc::strong_count(room) > 1);
        }
        let make = || {
            let (calls, streams) = (places(self.limits.calls), places(self.limits.streams));
            Arc::new(ClientRoom {
                calls: Arc::new(Semaphore::new(calls)),
                streams: Arc::new(Semaphore::new(streams)),
                messages: Arc::new(Semaphore::new(MOST_OPEN_BYTES / ROOM_OF_ONE / PIECE_BYTES)),
            })
        };
        Arc::clone(clients.entry(client.to_owned()).or_insert_with(make))
    }
}

fn places(limit: usize) -> usize {
    // The semaphore panics above its own maximum.
    if limit == 0 { Semaphore::MAX_PERMITS } else { limit.min(Semaphore::MAX_PERMITS) }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let mut table = RateTable::new(2.0, 4.0);
        let (start, at) = (Duration::ZERO, Duration::from_millis);
        assert!((0..4).all(|_| table.take("a", start).is_ok()));
        assert_eq!(table.take("a", start), Err(TooFast { retry_after: Duration::from_millis(500) }));
        assert!(table.take("b", start).is_ok(), "another client has another bucket");
        assert!(table.take("a", at(499)).is_err());
        assert!(table.take("a", at(500)).is_ok() && table.take("a", at(500)).is_err());
        assert!((0..4).all(|_| table.take("a", at(60_000)).is_ok()) && table.take("a", at(60_000)).is_err());
    }

    #[test]
    fn many_keys_are_forgotten_when_they_are_quiet_and_do_not_fill_the_memory() {
        let mut table = RateTable::new(1.0, 2.0);
        let start = Duration::ZERO;
        for key in 0..MAX_REMEMBERED {
            table.take(&key.to_string(), start).unwrap();
        }
        assert!(table.take("new", start).is_err());
        assert!(table.take("new", start + Duration::from_secs(2)).is_ok());
        assert_eq!(table.buckets.len(), 1);
    }

    #[tokio::test]
    async fn large_messages_share_one_room_and_no_client_has_all_of_it() {
        let limits = ClientLimits { streams: 0, calls: 0, calls_in_all: 0, calls_per_second: 0, writes_per_second: 0 };
        let limits = RequestLimits::new(limits);
        let half = MOST_OPEN_BYTES / ROOM_OF_ONE;
        let room = |client, bytes| limits.message_room(Some(client), bytes).now_or_never().and_then(Result::ok);
        let one = room("one", half);
        assert!(one.is_some());
        assert!(room("one", half).is_none(), "its part is taken");
        let other = room("other", usize::MAX);
        assert!(other.is_some());
        assert!(room("third", SMALL_MESSAGE + PIECE_BYTES).is_none(), "all is taken");
        assert!(room("third", SMALL_MESSAGE).is_some(), "small ones always fit");
        drop(one);
        assert!(room("third", half).is_some());
    }

    #[tokio::test]
    async fn a_paced_call_waits_for_its_turn_and_a_refused_write_does_not_count() {
        let limits =
            ClientLimits { streams: 0, calls: 0, calls_in_all: 0, calls_per_second: 500, writes_per_second: 50 };
        let limits = RequestLimits::new(limits);
        // More than the burst, at once.
        for _ in 0..220 {
            assert_eq!(limits.paced("a", true).await, Ok(()));
        }
        let refused = (0..10_000).filter(|_| limits.rate("a", true).is_err()).count();
        assert!(refused > 0);
        assert!((0..500).all(|_| limits.rate("a", false).is_ok()));
    }

    #[test]
    fn no_rate_is_no_limit() {
        let mut table = RateTable::new(0.0, 0.0);
        assert!((0..1000).all(|_| table.take("a", Duration::ZERO).is_ok()));
    }
}
