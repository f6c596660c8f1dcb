//! What happened around access: who signed in, what was granted, used, taken back or refused. For the owner to look at
//! later, so it contains names and addresses of the network, and no secret.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{AuthStore, AuthStoreError, UnixSeconds, oauth_clients::display_name};

/// How many of each kind are kept. Counted for each, so that what strangers can cause does not push out anything else.
const KEPT: i64 = 1_000;
/// What strangers can cause at any rate is one entry for this long, with a count.
const TOGETHER: i64 = 60 * 60;

/// A kind of event. The words are those of the database and of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityEventKind {
    PassphraseSet,
    SignedIn,
    WrongPassphrase,
    ClientRegistered,
    Granted,
    Denied,
    /// By the owner: a grant or a token.
    Revoked,
    /// By the client itself.
    EndedByClient,
    /// A code or a refresh token was used again, so everything that it gave was taken back.
    UsedAgain,
    TokenCreated,
    /// Other rights, or another secret.
    TokenChanged,
    FirstUsed,
    OriginRefused,
    LimitReached,
}

impl SecurityEventKind {
    pub const ALL: [Self; 14] = [
        Self::PassphraseSet,
        Self::SignedIn,
        Self::WrongPassphrase,
        Self::ClientRegistered,
        Self::Granted,
        Self::Denied,
        Self::Revoked,
        Self::EndedByClient,
        Self::UsedAgain,
        Self::TokenCreated,
        Self::TokenChanged,
        Self::FirstUsed,
        Self::OriginRefused,
        Self::LimitReached,
    ];

    pub fn id(self) -> &'static str {
        match self {
            Self::PassphraseSet => "passphrase_set",
            Self::SignedIn => "signed_in",
            Self::WrongPassphrase => "wrong_passphrase",
            Self::ClientRegistered => "client_registered",
            Self::Granted => "granted",
            Self::Denied => "denied",
            Self::Revoked => "revoked",
            Self::EndedByClient => "ended_by_client",
            Self::UsedAgain => "used_again",
            Self::TokenCreated => "token_created",
            Self::TokenChanged => "token_changed",
            Self::FirstUsed => "first_used",
            Self::OriginRefused => "origin_refused",
            Self::LimitReached => "limit_reached",
        }
    }

    /// Whether anyone can cause it as often as they like.
    fn is_counted(self) -> bool {
        matches!(self, Self::OriginRefused | Self::LimitReached)
    }
}

/// Something to record.
#[derive(Clone, Copy, Debug)]
pub struct NewEvent<'a> {
    pub kind: SecurityEventKind,
    /// The name of a token, a grant or a client, or nothing. May be written by a stranger.
    pub subject: &'a str,
    /// From where, if it came over the network.
    pub address: Option<&'a str>,
    /// How many of the same kind this stands for.
    pub count: i64,
}

impl<'a> NewEvent<'a> {
    pub fn of(kind: SecurityEventKind, subject: &'a str) -> Self {
        Self { kind, subject, address: None, count: 1 }
    }

    pub fn from(self, address: &'a str) -> Self {
        Self { address: Some(address), ..self }
    }

    /// Within the transaction of what it is about, so that neither is there without the other.
    pub(crate) fn write(self, database: &Connection, now: UnixSeconds) -> Result<(), AuthStoreError> {
        let Self { kind, subject, address, count } = self;
        // Names of clients are written by strangers, so they are shown without characters that mislead.
        let subject = if subject.is_empty() { String::new() } else { display_name(subject) };
        // Guessing comes in thousands; as one line with a count it does not push everything else out.
        if kind.is_counted() {
            // Only one that began within the hour: a new hour begins a new line.
            let recent = "SELECT id FROM events WHERE kind = ?1 AND at > ?2 ORDER BY id DESC LIMIT 1";
            let since = now.0.saturating_sub(TOGETHER);
            let recent =
                database.query_row(recent, params![kind.id(), since], |row| row.get::<_, i64>(0)).optional()?;
            if let Some(recent) = recent {
                // The last subject and address stand for all of them.
                let add = "UPDATE events SET count = count + ?2, last = ?3, subject = ?4, address = ?5 WHERE id = ?1";
                database.execute(add, params![recent, count, now.0, subject, address])?;
                return Ok(());
            }
        }
        database.execute(
            "INSERT INTO events (kind, subject, address, at, last, count) VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
            params![kind.id(), subject, address, now.0, count],
        )?;
        database.execute(
            "DELETE FROM events WHERE kind = ?1 AND id <= (
                 SELECT id FROM events WHERE kind = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
            params![kind.id(), KEPT],
        )?;
        Ok(())
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityEvent {
    pub kind: SecurityEventKind,
    pub subject: String,
    /// The last one, if there are several.
    pub address: Option<String>,
    pub at: UnixSeconds,
    pub last: UnixSeconds,
    pub count: i64,
}

impl AuthStore {
    /// Records an event, if there is a database: a stranger must not make us create one.
    pub fn record_event(&self, event: NewEvent<'_>, now: UnixSeconds) -> Result<(), AuthStoreError> {
        if self.read(false, |_| Ok(true))? { self.write(|database| event.write(database, now)) } else { Ok(()) }
    }

    /// The latest events, oldest first.
    pub fn events(&self, limit: usize) -> Result<Vec<SecurityEvent>, AuthStoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut latest = self.read(Vec::new(), |database| {
            let query =
                // By the last time: a counted event is as new as its newest occurrence.
                "SELECT kind, subject, address, at, last, count FROM events ORDER BY last DESC, id DESC LIMIT ?1";
            let mut latest = database.prepare_cached(query)?;
            let latest = latest.query_map([limit], event)?;
            Ok(latest.collect::<Result<Vec<_>, _>>()?)
        })?;
        latest.reverse();
        Ok(latest)
    }
}

fn event(row: &Row<'_>) -> Result<SecurityEvent, rusqlite::Error> {
    let id: String = row.get(0)?;
    let kind = SecurityEventKind::ALL.into_iter().find(|kind| kind.id() == id);
    // A kind of a newer version is an error, not an event that is silently left out.
    let unknown = || rusqlite::Error::InvalidColumnType(0, id.clone(), rusqlite::types::Type::Text);
    Ok(SecurityEvent {
        kind: kind.ok_or_else(unknown)?,
        subject: row.get(1)?,
        address: row.get(2)?,
        at: UnixSeconds(row.get(3)?),
        last: UnixSeconds(row.get(4)?),
        count: row.get(5)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth_store::tests::store;

    const NOW: i64 = 1_800_000_000;

    fn record(store: &AuthStore, kind: SecurityEventKind, subject: &str, address: &str, at: i64) {
        store.record_event(NewEvent::of(kind, subject).from(address), UnixSeconds(NOW + at)).unwrap();
    }

    #[test]
    fn what_a_stranger_can_cause_is_counted_and_pushes_out_nothing_else() {
        let store = store(true);
        record(&store, SecurityEventKind::Granted, "Claude", "192.0.2.1", 0);
        for at in 1..=1_200 {
            record(&store, SecurityEventKind::WrongPassphrase, "", "192.0.2.9", at);
            record(&store, SecurityEventKind::LimitReached, "", "192.0.2.9", at);
        }
        let events = store.events(10_000).unwrap();
        let of = |kind| events.iter().filter(|event| event.kind == kind).collect::<Vec<_>>();
        assert_eq!(of(SecurityEventKind::WrongPassphrase).len(), 1_000, "only the latest are kept");
        let limits = of(SecurityEventKind::LimitReached);
        assert_eq!(limits.iter().map(|event| event.count).collect::<Vec<_>>(), [1_200]);
        assert_eq!((limits[0].at, limits[0].last), (UnixSeconds(NOW + 1), UnixSeconds(NOW + 1_200)));
        assert_eq!(of(SecurityEventKind::Granted)[0].subject, "Claude");
        // After an hour there is a new entry.
        record(&store, SecurityEventKind::LimitReached, "", "192.0.2.9", 3_700);
        let last = store.events(1).unwrap();
        assert_eq!((last[0].kind, last[0].count), (SecurityEventKind::LimitReached, 1));
    }

    #[test]
    fn a_name_that_a_stranger_wrote_stays_on_its_line() {
        let store = store(true);
        let name = format!("Claude\u{202e}\n\u{1b}[2J{}", "x".repeat(500));
        record(&store, SecurityEventKind::ClientRegistered, &name, "192.0.2.1", 0);
        let kept = store.events(9).unwrap().remove(0).subject;
        assert!(kept.starts_with("Claude") && kept.chars().count() <= 100, "{kept}");
        assert!(!kept.contains(|letter: char| letter.is_control() || letter == '\u{202e}'), "{kept:?}");
    }

    #[test]
    fn a_refusal_creates_no_database() {
        let store = store(false);
        record(&store, SecurityEventKind::OriginRefused, "", "192.0.2.1", 0);
        assert_eq!(store.events(9).unwrap(), []);
        assert!(!store.read(false, |_| Ok(true)).unwrap());
    }

    #[test]
    fn every_kind_is_read_back_as_it_was_written() {
        let store = store(true);
        for kind in SecurityEventKind::ALL {
            record(&store, kind, "x", "192.0.2.1", 0);
        }
        let kinds: Vec<_> = store.events(99).unwrap().into_iter().map(|event| event.kind).collect();
        assert_eq!(kinds, SecurityEventKind::ALL);
    }
}
