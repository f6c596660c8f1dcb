//! The sessions of all HTTP transports: the owner of each, and which are no longer used.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use lapidary_config::SessionLimits;
use lapidary_note::ContentHash;
use lapidary_pipeline::CallerStanding;
use lapidary_vault::ElapsedTime;
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::session::{SessionManager, local::LocalSessionManager};

use super::{event_streams::StreamInput, known_clients::KnownClient};

/// How often idle sessions are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// A session that the library does not have for this long has ended.
const GONE_AFTER: Duration = Duration::from_secs(5);

/// How much of a program's name is kept.
const LONGEST_PROGRAM: usize = 40;

/// A session as the owner of the vaults sees it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListedSession {
    /// Stands for its id, which is a key.
    pub(super) mark: ContentHash,
    /// `None` without authentication.
    pub(super) client: Option<String>,
    pub(super) program: String,
    /// Of the older HTTP+SSE.
    pub(super) is_stream: bool,
    /// How long ago it was opened.
    pub(super) age: Duration,
    /// How long nothing has been open; `None` if something is.
    pub(super) idle: Option<Duration>,
}

/// The sessions of the protocol library, and what it does not know about them.
#[derive(Clone)]
pub(super) struct SessionTable {
    pub(super) sessions: Arc<LocalSessionManager>,
    limits: SessionLimits,
    started: ElapsedTime,
    entries: Arc<Mutex<HashMap<String, SessionEntry>>>,
}

struct SessionEntry {
    /// `None` without authentication.
    owner: Option<String>,
    /// Its client as the log names it.
    name: Option<String>,
    /// What the program that opened it calls itself; empty if it did not say.
    program: String,
    /// When it was opened, since the start.
    opened: Duration,
    standing: CallerStanding,
    used: Arc<SessionUse>,
    /// Of the older HTTP+SSE, which the library does not know.
    stream: Option<StreamInput>,
}

struct SessionUse {
    /// Requests and streams that are open.
    open: AtomicUsize,
    started: ElapsedTime,
    /// When the last of them ended, in nanoseconds since the start.
    last: AtomicU64,
}

/// Keeps a session from being idle.
pub(super) struct SessionInUse(Arc<SessionUse>);

impl Drop for SessionInUse {
    fn drop(&mut self) {
        // In this order: a session that looks unused must not look idle since an earlier use.
        self.0.last.store(nanoseconds(self.0.started.elapsed()), Ordering::Release);
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

impl SessionUse {
    fn begin(self: &Arc<Self>) -> SessionInUse {
        self.open.fetch_add(1, Ordering::AcqRel);
        SessionInUse(Arc::clone(self))
    }

    /// Since when nothing has been open, as time since the start.
    fn idle_since(&self) -> Option<Duration> {
        (self.open.load(Ordering::Acquire) == 0).then(|| Duration::from_nanos(self.last.load(Ordering::Acquire)))
    }
}

/// 584 years fit.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn mark_of(session: &str) -> ContentHash {
    ContentHash::of(format!("session {session}").as_bytes())
}

impl SessionEntry {
    fn new(client: Option<&KnownClient>, program: &str, started: ElapsedTime, stream: Option<StreamInput>) -> Self {
        let opened = started.elapsed();
        let last = AtomicU64::new(nanoseconds(opened));
        Self {
            owner: client.map(|client| client.key.clone()),
            name: client.map(|client| client.name.clone()),
            program: program.chars().take(LONGEST_PROGRAM).collect(),
            opened,
            standing: client.map(|client| client.standing.clone()).unwrap_or_default(),
            used: Arc::new(SessionUse { open: AtomicUsize::new(0), started, last }),
            stream,
        }
    }

    fn is_of(&self, client: Option<&KnownClient>) -> bool {
        self.owner.as_deref() == client.map(|client| client.key.as_str())
    }
}

impl SessionTable {
    pub(super) fn new(limits: SessionLimits) -> Self {
        let mut sessions = LocalSessionManager::default();
        // The library would also end a session whose client only listens.
        // Idle sessions are ended here, by a rule that also counts open streams.
        sessions.session_config.keep_alive = None;
        Self { sessions: Arc::new(sessions), limits, started: ElapsedTime::start(), entries: Arc::default() }
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.entries.lock().len()
    }

    /// Uses a session, if it is this client's.
    pub(super) fn enter(&self, session: &str, client: Option<&KnownClient>) -> Option<SessionInUse> {
        let entries = self.entries.lock();
        let entry = entries.get(session)?;
        (entry.stream.is_none() && entry.is_of(client)).then(|| entry.used.begin())
    }

    pub(super) fn opened(&self, session: &str, client: Option<&KnownClient>, program: &str) -> SessionInUse {
        self.insert(session, SessionEntry::new(client, program, self.started, None))
    }

    /// A session of the older HTTP+SSE, which is in use until its stream ends.
    pub(super) fn opened_stream(
        &self,
        session: &str,
        client: Option<&KnownClient>,
        input: StreamInput,
    ) -> SessionInUse {
        self.insert(session, SessionEntry::new(client, "", self.started, Some(input)))
    }

    fn insert(&self, session: &str, entry: SessionEntry) -> SessionInUse {
        let in_use = entry.used.begin();
        // In place of one that the sweep may have made for it already, which has no owner.
        self.entries.lock().insert(session.to_owned(), entry);
        in_use
    }

    /// Where to post to a stream, if it is this client's.
    pub(super) fn find_stream(&self, session: &str, client: Option<&KnownClient>) -> Option<StreamInput> {
        let entries = self.entries.lock();
        let entry = entries.get(session)?;
        entry.is_of(client).then(|| entry.stream.clone())?
    }

    /// Forgets a stream whose connection is gone; dropping its input ends what serves it.
    pub(super) fn forget_stream(&self, session: &str) {
        self.entries.lock().remove(session);
    }

    /// Makes room for one session more; the limit that is reached if all of them are in use.
    pub(super) async fn make_room(&self, client: Option<&KnownClient>) -> Result<(), usize> {
        let owner = client.map(|client| client.key.as_str());
        let own = owner.map(|_| (self.limits.per_client, owner));
        // Its own sessions first: a client at its limit must not cost another client a session.
        for (limit, of) in own.into_iter().chain([(self.limits.all, None)]) {
            // All of them are in use, and none may be ended for a newcomer.
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
        // Removed first, so that no new request enters it while it ends.
        let known = self.entries.lock().remove(session);
        // The library does not know it. What serves it ends when the sender in this entry is dropped.
        if known.as_ref().is_some_and(|entry| entry.stream.is_some()) {
            return true;
        }
        if let Err(error) = self.sessions.close_session(&session.to_owned().into()).await {
            tracing::debug!(%error, "a session had ended already");
        }
        known.is_some()
    }

    /// All that are open, the newest first.
    pub(super) fn list(&self) -> Vec<ListedSession> {
        let (entries, now) = (self.entries.lock(), self.started.elapsed());
        let listed = |(session, entry): (&String, &SessionEntry)| ListedSession {
            mark: mark_of(session),
            client: entry.name.clone(),
            program: entry.program.clone(),
            is_stream: entry.stream.is_some(),
            age: now.saturating_sub(entry.opened),
            idle: entry.used.idle_since().map(|since| now.saturating_sub(since)),
        };
        let mut listed: Vec<ListedSession> = entries.iter().map(listed).collect();
        listed.sort_by(|one, other| one.age.cmp(&other.age).then_with(|| one.mark.cmp(&other.mark)));
        listed
    }

    /// Ends the session that a mark stands for; whether there was one.
    pub(super) async fn end_marked(&self, mark: &ContentHash) -> bool {
        let session = self.entries.lock().keys().find(|session| mark_of(session) == *mark).cloned();
        match session {
            Some(session) => self.end(&session).await,
            None => false,
        }
    }

    /// Ends unused sessions, and those of clients that are no longer known. Runs as long as the server.
    pub(super) async fn sweep(self) {
        loop {
            tokio::time::sleep(SWEEP_EVERY.min(self.limits.idle)).await;
            let open: BTreeSet<String> = self.sessions.sessions.read().await.keys().map(ToString::to_string).collect();
            let over = {
                let mut entries = self.entries.lock();
                // One that was opened since is not among them yet.
                let now = self.started.elapsed();
                let is_new = |since: Duration| now.saturating_sub(since) < GONE_AFTER;
                entries.retain(|session, entry| open.contains(session) || entry.used.idle_since().is_none_or(is_new));
                for session in open {
                    // A client that went away before its session was opened left one without an entry.
                    entries.entry(session).or_insert_with(|| SessionEntry::new(None, "", self.started, None));
                }
                let is_idle = |since: Duration| now.saturating_sub(since) >= self.limits.idle;
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
    async fn the_owner_sees_sessions_without_their_ids_and_ends_them() {
        let table = SessionTable::new(SessionLimits { all: 0, per_client: 0, idle: Duration::from_secs(60) });
        drop(table.opened("first", None, &"p".repeat(100)));
        let busy = table.opened("second", None, "Second");
        let listed = table.list();
        assert_eq!(listed.len(), 2);
        let second = listed.iter().find(|session| session.program == "Second").unwrap();
        assert!(second.idle.is_none() && !format!("{listed:?}").contains("\"second\""));
        assert!(listed.iter().any(|session| session.program.len() == LONGEST_PROGRAM && session.idle.is_some()));
        assert!(!table.end_marked(&ContentHash::of(b"second")).await, "an id is not a mark");
        assert!(table.end_marked(&second.mark).await && !table.end_marked(&second.mark).await);
        assert!(table.enter("second", None).is_none() && table.enter("first", None).is_some());
        drop(busy);
    }

    #[tokio::test]
    async fn the_session_that_is_idle_longest_makes_room_and_one_in_use_stays() {
        let limits = SessionLimits { all: 3, per_client: 3, idle: Duration::from_secs(60) };
        let table = SessionTable::new(limits);
        let busy = table.opened("busy", None, "");
        drop(table.opened("old", None, ""));
        drop(table.opened("new", None, "Program"));
        assert_eq!(table.make_room(None).await, Ok(()));
        assert!(table.enter("old", None).is_none());
        let (busy_too, last) = (table.enter("new", None), table.opened("last", None, ""));
        assert!(busy_too.is_some());
        assert_eq!(table.make_room(None).await, Err(3));
        drop((busy, last));
        assert_eq!(table.make_room(None).await, Ok(()));
    }
}
