//! The database of tokens. It contains only hashes of secrets. Every lookup queries it, so a token that is revoked in one
//! process is refused by all others with their next request.

use lapidary_note::ContentHash;
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use crate::{NewEvent, SecretText, SecurityEventKind, TokenRights, UnixSeconds};

const FORMAT: i64 = 5;
/// The precision of a token's last use: a write for every request would wear out the disk.
const LAST_USED_STEP: i64 = 60;

/// Opens the database; `true` creates it if it is missing. The caller decides where it is kept, and how long a writer waits
/// for another.
pub type StoreOpener = Box<dyn Fn(bool) -> Result<Option<Connection>, String> + Send + Sync>;

/// Several processes may have it open.
pub struct AuthStore {
    opener: StoreOpener,
    open: Mutex<Option<Connection>>,
}

/// A token as the owner sees it. The secret itself is shown once, on creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    /// Never given to another token.
    pub id: i64,
    pub name: String,
    pub rights: TokenRights,
    pub created: UnixSeconds,
    /// `None` is never.
    pub expires: Option<UnixSeconds>,
    /// To the minute.
    pub last_used: Option<UnixSeconds>,
    pub revoked: Option<UnixSeconds>,
}

impl TokenRecord {
    pub fn is_live(&self, now: UnixSeconds) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| now < expires)
    }

    /// Whether its use at about this time is already recorded.
    pub fn is_use_noted(&self, now: UnixSeconds) -> bool {
        self.last_used.is_some_and(|last| now.0 < last.0.saturating_add(LAST_USED_STEP))
    }
}

pub struct NewToken<'a> {
    pub name: &'a str,
    pub rights: &'a TokenRights,
    pub expires: Option<UnixSeconds>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthStoreError {
    #[error("the database of tokens cannot be used: {0}")]
    Unusable(String),
    #[error("the database of tokens was written by a newer version of Lapidary")]
    Newer,
    #[error("there is already a token called '{0}'; revoke it first, or choose another name")]
    NameTaken(String),
}

impl From<rusqlite::Error> for AuthStoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Unusable(error.to_string())
    }
}

impl AuthStore {
    pub fn new(opener: StoreOpener) -> Self {
        Self { opener, open: Mutex::new(None) }
    }

    /// Creates a token. Names are unique at any time: sessions, approval requests and the log use them.
    pub fn create_token(
        &self,
        new: &NewToken<'_>,
        secret: &SecretText,
        now: UnixSeconds,
    ) -> Result<TokenRecord, AuthStoreError> {
        let rights = serde_json::to_string(new.rights).map_err(|error| AuthStoreError::Unusable(error.to_string()))?;
        self.write(|database| {
            // Within the transaction: two processes that create the same name at once must not both succeed. Names of
            // dead tokens are free.
            let taken = records(database)?.into_iter().any(|record| record.name == new.name && record.is_live(now));
            if taken {
                return Err(AuthStoreError::NameTaken(new.name.to_owned()));
            }
            database.execute(
                "INSERT INTO tokens (name, digest, rights, created, expires) VALUES (?1, ?2, ?3, ?4, ?5)",
                // The secret itself is never stored, so a copy of the database lets no one in.
                params![new.name, secret.digest().as_bytes(), rights, now.0, new.expires.map(|end| end.0)],
            )?;
            let id = database.last_insert_rowid();
            // In the same transaction: no token without its event.
            NewEvent::of(SecurityEventKind::TokenCreated, new.name).write(database, now)?;
            Ok(TokenRecord {
                id,
                name: new.name.to_owned(),
                rights: new.rights.clone(),
                created: now,
                expires: new.expires,
                last_used: None,
                revoked: None,
            })
        })
    }

    /// All that were ever created, oldest first.
    pub fn tokens(&self) -> Result<Vec<TokenRecord>, AuthStoreError> {
        self.read(Vec::new(), records)
    }

    /// The token with this hash, if it is still valid.
    pub fn find_token(&self, digest: &ContentHash, now: UnixSeconds) -> Result<Option<TokenRecord>, AuthStoreError> {
        self.read(None, |database| {
            // The column is unique, so there is at most one.
            let mut found = database.prepare_cached(&format!("{SELECT_TOKENS} WHERE digest = ?1"))?;
            let found = found.query_row([digest.as_bytes()], record).optional()?;
            Ok(found.filter(|record| record.is_live(now)))
        })
    }

    /// Whether a token that was found earlier is still valid.
    pub fn is_live(&self, id: i64, now: UnixSeconds) -> Result<bool, AuthStoreError> {
        self.read(false, |database| {
            let mut found = database.prepare_cached(&format!("{SELECT_TOKENS} WHERE id = ?1"))?;
            // By its number: the name may belong to another token by now.
            let found = found.query_row([id], record).optional()?;
            Ok(found.is_some_and(|record| record.is_live(now)))
        })
    }

    /// Records the use of a token, to the minute.
    pub fn used(&self, token: &TokenRecord, now: UnixSeconds) -> Result<(), AuthStoreError> {
        if token.is_use_noted(now) {
            return Ok(());
        }
        self.write(|database| {
            // Asked before the time of use is set.
            if is_first_use(database, "tokens", token.id)? {
                NewEvent::of(SecurityEventKind::FirstUsed, &token.name).write(database, now)?;
            }
            database.execute("UPDATE tokens SET last_used = ?2 WHERE id = ?1", params![token.id, now.0])?;
            Ok(())
        })
    }

    /// Revokes a token; returns whether there was a valid one.
    pub fn revoke_token(&self, name: &str, now: UnixSeconds) -> Result<bool, AuthStoreError> {
        // Reading creates no database, and without tokens there is nothing to revoke.
        if self.tokens()?.is_empty() {
            return Ok(false);
        }
        self.write(|database| {
            let live = records(database)?.into_iter().find(|record| record.name == name && record.is_live(now));
            let Some(live) = live else { return Ok(false) };
            database.execute("UPDATE tokens SET revoked = ?2 WHERE id = ?1", params![live.id, now.0])?;
            NewEvent::of(SecurityEventKind::Revoked, name).write(database, now)?;
            Ok(true)
        })
    }

    /// Queries, without creating the database if there is none.
    pub(crate) fn read<T>(
        &self,
        otherwise: T,
        ask: impl FnOnce(&Connection) -> Result<T, AuthStoreError>,
    ) -> Result<T, AuthStoreError> {
        let mut open = self.open.lock();
        // Looked for again each time: another process may have created it since.
        if open.is_none() {
            *open = (self.opener)(false).map_err(AuthStoreError::Unusable)?.map(set_up).transpose()?;
        }
        open.as_ref().map_or(Ok(otherwise), ask)
    }

    pub(crate) fn write<T>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, AuthStoreError>,
    ) -> Result<T, AuthStoreError> {
        let mut open = self.open.lock();
        // Taken out, so that a connection whose transaction cannot even be begun is opened anew next time.
        let mut database = match open.take() {
            Some(database) => database,
            None => {
                let made = (self.opener)(true).map_err(AuthStoreError::Unusable)?;
                set_up(made.ok_or_else(|| AuthStoreError::Unusable("it could not be created".to_owned()))?)?
            }
        };
        let changed = {
            // Immediate: what is read in it must not change before it is written.
            // An error before this line leaves the connection out, and the next call opens another.
            let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let changed = change(&transaction);
            if changed.is_ok() {
                transaction.commit()?;
            }
            changed
        };
        *open = Some(database);
        changed
    }
}

/// Whether no use of a token or a grant was recorded yet. Asked within the transaction: many requests may come at once.
pub(crate) fn is_first_use(database: &Connection, table: &'static str, id: i64) -> Result<bool, AuthStoreError> {
    // The name of the table comes from two constants of ours, never from a request.
    let unused = format!("SELECT 1 FROM {table} WHERE id = ?1 AND last_used IS NULL");
    Ok(database.prepare_cached(&unused)?.exists([id])?)
}

const SELECT_TOKENS: &str = "SELECT id, name, rights, created, expires, last_used, revoked FROM tokens";

pub(crate) fn records(database: &Connection) -> Result<Vec<TokenRecord>, AuthStoreError> {
    let mut all = database.prepare_cached(&format!("{SELECT_TOKENS} ORDER BY id"))?;
    let all = all.query_map([], record)?;
    Ok(all.collect::<Result<_, _>>()?)
}

fn record(row: &Row<'_>) -> Result<TokenRecord, rusqlite::Error> {
    let rights: String = row.get(2)?;
    // Unreadable rights grant nothing: the whole record is refused.
    let rights = serde_json::from_str(&rights)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Text, Box::new(error)))?;
    let moment = |column: usize| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(UnixSeconds));
    Ok(TokenRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        rights,
        created: UnixSeconds(row.get(3)?),
        expires: moment(4)?,
        last_used: moment(5)?,
        revoked: moment(6)?,
    })
}

/// How each format comes from the one before. AUTOINCREMENT: sessions remember numbers, which must never be another's.
const UPGRADE_STEPS: [&str; 5] = [
    "CREATE TABLE tokens (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         name TEXT NOT NULL,
         digest BLOB NOT NULL UNIQUE,
         rights TEXT NOT NULL,
         created INTEGER NOT NULL,
         expires INTEGER,
         last_used INTEGER,
         revoked INTEGER
     ) STRICT;",
    "CREATE TABLE owner (id INTEGER PRIMARY KEY, salt BLOB NOT NULL, hash BLOB NOT NULL, changed INTEGER NOT NULL) STRICT;
     CREATE TABLE owner_sessions (digest BLOB PRIMARY KEY, last_used INTEGER NOT NULL) STRICT;
     CREATE TABLE oauth_clients (
         id TEXT PRIMARY KEY,
         name TEXT NOT NULL,
         redirects TEXT NOT NULL,
         secret BLOB,
         created INTEGER NOT NULL,
         consented INTEGER
     ) STRICT;
     CREATE TABLE oauth_grants (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         client TEXT NOT NULL,
         rights TEXT NOT NULL,
         scope TEXT NOT NULL,
         created INTEGER NOT NULL,
         ends INTEGER NOT NULL,
         last_used INTEGER,
         revoked INTEGER
     ) STRICT;
     CREATE TABLE oauth_codes (
         digest BLOB PRIMARY KEY,
         grant_id INTEGER NOT NULL,
         redirect TEXT NOT NULL,
         challenge TEXT NOT NULL,
         expires INTEGER NOT NULL,
         used INTEGER
     ) STRICT;
     CREATE TABLE oauth_tokens (
         digest BLOB PRIMARY KEY,
         grant_id INTEGER NOT NULL,
         kind TEXT NOT NULL,
         scope TEXT NOT NULL,
         expires INTEGER NOT NULL,
         rotated INTEGER,
         further INTEGER NOT NULL DEFAULT 0
     ) STRICT;
     CREATE INDEX oauth_tokens_by_expiry ON oauth_tokens (expires);",
    "ALTER TABLE oauth_clients ADD COLUMN management BLOB;
     ALTER TABLE oauth_grants ADD COLUMN revoked_by TEXT;",
    "CREATE TABLE events (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         kind TEXT NOT NULL,
         subject TEXT NOT NULL,
         address TEXT,
         at INTEGER NOT NULL,
         last INTEGER NOT NULL,
         count INTEGER NOT NULL
     ) STRICT;
     CREATE INDEX events_by_kind ON events (kind, id);
     CREATE INDEX oauth_tokens_by_grant ON oauth_tokens (grant_id);",
    "CREATE TABLE owner_codes (digest BLOB PRIMARY KEY, expires INTEGER NOT NULL) STRICT;",
];

fn set_up(mut database: Connection) -> Result<Connection, AuthStoreError> {
    let format = |database: &Connection| database.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    if format(&database)? < FORMAT {
        let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been faster. Every step makes one format into the next.
        let found = format(&transaction)?;
        // Each step is numbered by the format that it makes.
        for (number, step) in (1_i64..).zip(UPGRADE_STEPS).filter(|(number, _)| *number > found) {
            transaction.execute_batch(step)?;
            transaction.pragma_update(None, "user_version", number)?;
        }
        transaction.commit()?;
    }
    // Only after the upgrade is known to be done: a newer program may have been faster.
    if format(&database)? > FORMAT { Err(AuthStoreError::Newer) } else { Ok(database) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::SecretKind;

    const NOW: UnixSeconds = UnixSeconds(1_800_000_000);

    fn later(seconds: i64) -> UnixSeconds {
        UnixSeconds(NOW.0 + seconds)
    }

    /// A database in memory that is there from the start, or only once it is made.
    pub(crate) fn store(is_there: bool) -> AuthStore {
        let open = move |make: bool| {
            let wanted = make || is_there;
            wanted.then(Connection::open_in_memory).transpose().map_err(|error| error.to_string())
        };
        AuthStore::new(Box::new(open))
    }

    fn made(store: &AuthStore, name: &str, expires: Option<UnixSeconds>) -> Result<SecretText, AuthStoreError> {
        let random = *ContentHash::of(format!("{name} {expires:?}").as_bytes()).as_bytes();
        let secret = SecretText::mint(SecretKind::Personal, &random);
        let rights = TokenRights { profile: Some("reader".to_owned()), ..TokenRights::default() };
        store.create_token(&NewToken { name, rights: &rights, expires }, &secret, NOW).map(|_| secret)
    }

    #[test]
    fn a_token_is_found_by_its_hash_until_it_expires() {
        let store = store(true);
        let secret = made(&store, "phone", Some(later(100))).unwrap();
        let found = store.find_token(&secret.digest(), later(99)).unwrap().unwrap();
        assert_eq!((found.name.as_str(), found.rights.profile.as_deref()), ("phone", Some("reader")));
        assert!(store.is_live(found.id, later(99)).unwrap());
        assert_eq!(store.find_token(&secret.digest(), later(100)).unwrap(), None);
        assert!(!store.is_live(found.id, later(100)).unwrap());
        assert_eq!(store.find_token(&ContentHash::of(b"other"), NOW).unwrap(), None);
    }

    #[test]
    fn a_revoked_token_is_gone_at_once_and_its_name_free_again() {
        let store = store(true);
        let secret = made(&store, "phone", None).unwrap();
        let first = store.find_token(&secret.digest(), NOW).unwrap().unwrap();
        assert_eq!(made(&store, "phone", Some(later(9))), Err(AuthStoreError::NameTaken("phone".to_owned())));
        assert!(store.revoke_token("phone", NOW).unwrap());
        assert!(!store.revoke_token("phone", NOW).unwrap());
        assert_eq!(store.find_token(&secret.digest(), NOW).unwrap(), None);
        assert!(!store.is_live(first.id, NOW).unwrap());
        let second = made(&store, "phone", Some(later(9))).unwrap();
        assert_ne!(store.find_token(&second.digest(), NOW).unwrap().unwrap().id, first.id);
        assert_eq!(store.tokens().unwrap().len(), 2, "the owner still sees the old ones");
    }

    #[test]
    fn the_last_use_is_kept_to_the_minute() {
        let store = store(true);
        let secret = made(&store, "phone", None).unwrap();
        let find = || store.find_token(&secret.digest(), NOW).unwrap().unwrap();
        for (at, kept) in [(0, 0), (59, 0), (60, 60), (61, 60)] {
            store.used(&find(), later(at)).unwrap();
            assert_eq!(find().last_used, Some(later(kept)), "{at}");
        }
    }

    #[test]
    fn asking_makes_no_database() {
        let made_one = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let seen = std::sync::Arc::clone(&made_one);
        let store = AuthStore::new(Box::new(move |make| {
            seen.fetch_or(make, std::sync::atomic::Ordering::Relaxed);
            make.then(Connection::open_in_memory).transpose().map_err(|error| error.to_string())
        }));
        assert_eq!(store.tokens().unwrap(), []);
        assert_eq!(store.find_token(&ContentHash::of(b"x"), NOW).unwrap(), None);
        assert!(!store.revoke_token("phone", NOW).unwrap());
        assert!(!made_one.load(std::sync::atomic::Ordering::Relaxed));
        made(&store, "phone", None).unwrap();
        assert!(made_one.load(std::sync::atomic::Ordering::Relaxed));
        assert_eq!(store.tokens().unwrap().len(), 1);
    }

    #[test]
    fn databases_of_every_older_format_keep_their_tokens_and_take_new_ones() {
        const DUMPS: [&str; FORMAT as usize] = [
            include_str!("../../../fixtures/auth/format-1.sql"),
            include_str!("../../../fixtures/auth/format-2.sql"),
            include_str!("../../../fixtures/auth/format-3.sql"),
            include_str!("../../../fixtures/auth/format-4.sql"),
            include_str!("../../../fixtures/auth/format-5.sql"),
        ];
        let token: ContentHash =
            "sha256:7f727c123c04b8c35951b773bc009c4736dd70e477ede1ddfc608b36c84b5859".parse().unwrap();
        let now = UnixSeconds(1_800_000_000);
        for (number, dump) in (1..).zip(DUMPS) {
            let store = AuthStore::new(Box::new(move |_| {
                let database = Connection::open_in_memory().map_err(|error| error.to_string())?;
                database.execute_batch(dump).map_err(|error| error.to_string())?;
                Ok(Some(database))
            }));
            let found = store.find_token(&token, now).unwrap().unwrap();
            assert_eq!((found.name.as_str(), found.id), ("phone", 1), "format {number}");
            assert_eq!(found.rights.read_paths, Some(vec!["Open".to_owned()]), "format {number}");
            let granted = store.find_access(&ContentHash::of(b"an access token"), now).unwrap();
            assert_eq!(granted.map(|access| access.grant), (number > 1).then_some(1), "format {number}");
            assert_eq!(store.events(9).unwrap().len(), usize::from(number > 3), "format {number}");
            made(&store, "tablet", None).unwrap();
            let rules = crate::AuthorizationRules::new("https://vault.example", "/mcp");
            let metadata = serde_json::json!({ "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"] });
            let client = store.register_client(&metadata, &rules, &[[1; 32], [2; 32], [3; 32]], now).unwrap();
            let id = client["client_id"].as_str().unwrap();
            assert!(store.find_client(id).unwrap().is_some(), "format {number}");
        }
    }

    #[test]
    fn rights_that_this_version_does_not_know_are_refused() {
        let store = store(true);
        let secret = made(&store, "phone", None).unwrap();
        store
            .write(|database| {
                database.execute("UPDATE tokens SET rights = '{\"only_on_sundays\":true}'", [])?;
                Ok(())
            })
            .unwrap();
        assert!(store.find_token(&secret.digest(), NOW).is_err());
    }
}
