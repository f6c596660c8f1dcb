//! The owner of each session, and which sessions are no longer used.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use lapidary_pipeline::CallerStanding;
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::session::{SessionManager, local::LocalSessionManager};

use super::known_clients::KnownClient;
use crate::config::SessionLimits;

/// How often idle sessions are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// After so long, a session that the library does not have is over.
const SETTLED: Duration = Duration::from_secs(5);

/// The sessions of the protocol library, and what it does not know about them.
#[derive(Clone)]
pub(super) struct SessionTable {
    pub(super) sessions: Arc<LocalSessionManager>,
    limits: SessionLimits,
    entries: Arc<Mutex<HashMap<String, SessionEntry>>>,
}

struct SessionEntry {
    /// `None` without authentication.
    owner: Option<String>,
    standing: CallerStanding,
    used: Arc<SessionUse>,
}

struct SessionUse {
    /// Requests and streams that are open.
    open: AtomicUsize,
    last: Mutex<Instant>,
}

/// Keeps a session from being idle.
pub(super) struct SessionInUse(Arc<SessionUse>);

impl Drop for SessionInUse {
    fn drop(&mut self) {
        *self.0.last.lock() = tokio::time::Instant::now().into_std();
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

impl SessionUse {
    fn begin(self: &Arc<Self>) -> SessionInUse {
        self.open.fetch_add(1, Ordering::AcqRel);
        SessionInUse(Arc::clone(self))
    }

    /// Since when nothing is open.
    fn idle_since(&self) -> Option<Instant> {
        (self.open.load(Ordering::Acquire) == 0).then(|| *self.last.lock())
    }
}

impl SessionEntry {
    fn new(client: Option<&KnownClient>) -> Self {
        Self {
            owner: client.map(|client| client.key.clone()),
            standing: client.map(|client| client.standing.clone()).unwrap_or_default(),
            used: Arc::new(SessionUse {
                open: AtomicUsize::new(0),
                last: Mutex::new(tokio::time::Instant::now().into_std()),
            }),
        }
    }
}

impl SessionTable {
    pub(super) fn new(limits: SessionLimits) -> Self {
        let mut sessions = LocalSessionManager::default();
        // The library would also end a session whose client only listens.
        sessions.session_config.keep_alive = None;
        Self { sessions: Arc::new(sessions), limits, entries: Arc::default() }
    }

    /// Uses a session, if it is this client's.
    pub(super) fn enter(&self, session: &str, client: Option<&KnownClient>) -> Option<SessionInUse> {
        let entries = self.entries.lock();
        let entry = entries.get(session)?;
        (entry.owner.as_deref() == client.map(|client| client.key.as_str())).then(|| entry.used.begin())
    }

    pub(super) fn opened(&self, session: &str, client: Option<&KnownClient>) -> SessionInUse {
        let entry = SessionEntry::new(client);
        let in_use = entry.used.begin();
        // In place of one that the sweep may have made for it already, which has no owner.
        self.entries.lock().insert(session.to_owned(), entry);
        in_use
    }

    /// Makes room for one session more; the limit that is reached if all of them are in use.
    pub(super) async fn make_room(&self, client: Option<&KnownClient>) -> Result<(), usize> {
        let owner = client.map(|client| client.key.as_str());
        let own = owner.map(|_| (self.limits.per_client, owner));
        for (limit, of) in own.into_iter().chain([(self.limits.all, None)]) {
            let Some(oldest) = self.oldest_beyond(limit, of).map_err(|()| limit)? else { continue };
            tracing::debug!("the session that was idle longest ended to make room for another");
            self.end(&oldest).await;
        }
        Ok(())
    }

    /// The session that was idle longest, if there are as many as there may be.
    fn oldest_beyond(&self, limit: usize, owner: Option<&str>) -> Result<Option<String>, ()> {
        let entries = self.entries.lock();
        let counted = || entries.iter().filter(|(_, entry)| owner.is_none() || entry.owner.as_deref() == owner);
        if limit == 0 || counted().count() < limit {
            return Ok(None);
        }
        let idle = counted().filter_map(|(session, entry)| Some((entry.used.idle_since()?, session)));
        idle.min().map(|(_, session)| Some(session.clone())).ok_or(())
    }

    /// Ends a session, and all that was begun for it; whether there was one.
    pub(super) async fn end(&self, session: &str) -> bool {
        let known = self.entries.lock().remove(session).is_some();
        if let Err(error) = self.sessions.close_session(&session.to_owned().into()).await {
            tracing::debug!(%error, "a session had ended already");
        }
        known
    }

    /// Ends unused sessions, and those of clients that are no longer known. Runs as long as the server.
    pub(super) async fn sweep(self) {
        loop {
            tokio::time::sleep(SWEEP_EVERY.min(self.limits.idle)).await;
            let open: BTreeSet<String> = self.sessions.sessions.read().await.keys().map(ToString::to_string).collect();
            let over = {
                let mut entries = self.entries.lock();
                // One that was opened since is not among them yet.
                let is_new = |since: Instant| since.elapsed() < SETTLED;
                entries.retain(|session, entry| open.contains(session) || entry.used.idle_since().is_none_or(is_new));
                for session in open {
                    // A client that went away before its session was opened left one without an entry.
                    entries.entry(session).or_insert_with(|| SessionEntry::new(None));
                }
                let is_idle = |since: Instant| since.elapsed() >= self.limits.idle;
                let over = entries
                    .iter()
                    .filter(|(_, entry)| entry.used.idle_since().is_some_and(is_idle) || !entry.standing.holds());
                over.map(|(session, _)| session.clone()).collect::<Vec<String>>()
            };
            for session in over {
                self.end(&session).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_session_that_is_idle_longest_makes_room_and_one_in_use_stays() {
        let limits = SessionLimits { all: 3, per_client: 3, idle: Duration::from_secs(60) };
        let table = SessionTable::new(limits);
        let busy = table.opened("busy", None);
        drop(table.opened("old", None));
        drop(table.opened("new", None));
        assert_eq!(table.make_room(None).await, Ok(()));
        assert!(table.enter("old", None).is_none());
        let (busy_too, last) = (table.enter("new", None), table.opened("last", None));
        assert!(busy_too.is_some());
        assert_eq!(table.make_room(None).await, Err(3));
        drop((busy, last));
        assert_eq!(table.make_room(None).await, Ok(()));
    }
}
