//! Browsers in which the owner has signed in, and the codes that sign one in without the passphrase.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{AuthStore, AuthStoreError, NewEvent, SecretKind, SecretText, SecurityEventKind, UnixSeconds};

/// How long a session lives without being used.
pub(crate) const SESSION_IDLE: i64 = 12 * 60 * 60;
/// How long a code can be used, once.
const CODE_LIFE: i64 = 60;
/// The use of a session is kept to this precision, so that not every request writes.
const NOTED_EVERY: i64 = 60;

impl AuthStore {
    /// Opens a session of the owner, who has just given the passphrase.
    pub fn open_owner_session(
        &self,
        secret: &SecretText,
        address: &str,
        now: UnixSeconds,
    ) -> Result<(), AuthStoreError> {
        self.write(|database| open(database, secret, address, now))
    }

    /// Keeps a code that signs in once, soon. Only who may write to the database can make one.
    pub fn add_owner_code(&self, code: &SecretText, now: UnixSeconds) -> Result<(), AuthStoreError> {
        self.write(|database| {
            database.execute("DELETE FROM owner_codes WHERE expires <= ?1", [now.0])?;
            database.execute(
                "INSERT INTO owner_codes (digest, expires) VALUES (?1, ?2)",
                params![code.digest().as_bytes(), now.0.saturating_add(CODE_LIFE)],
            )?;
            Ok(())
        })
    }

    /// Exchanges a code for a session; returns whether it was valid.
    pub fn exchange_owner_code(
        &self,
        code: &SecretText,
        session: &SecretText,
        address: &str,
        now: UnixSeconds,
    ) -> Result<bool, AuthStoreError> {
        // Without a query for what is not a code of ours.
        if SecretText::recognise(code.reveal()) != Some(SecretKind::OwnerCode) {
            return Ok(false);
        }
        self.write(|database| {
            // Taken, not read: of two who come at once, one gets in.
            let taken = database.execute(
                "DELETE FROM owner_codes WHERE digest = ?1 AND expires > ?2",
                params![code.digest().as_bytes(), now.0],
            )?;
            if taken == 1 {
                open(database, session, address, now)?;
            }
            Ok(taken == 1)
        })
    }

    /// Whether a session of the owner is open, and notes that it is used.
    pub fn use_owner_session(&self, secret: &SecretText, now: UnixSeconds) -> Result<bool, AuthStoreError> {
        match self.idle_time(secret, now)? {
            Some(idle) if idle < NOTED_EVERY => Ok(true),
            Some(_) => self.write(|database| {
                let used = database.execute(
                    "UPDATE owner_sessions SET last_used = ?2 WHERE digest = ?1",
                    params![secret.digest().as_bytes(), now.0],
                )?;
                // It may have been closed since it was read.
                Ok(used == 1)
            }),
            None => Ok(false),
        }
    }

    /// The same without noting it: a page that is only left open does not keep its session.
    pub fn is_owner_session(&self, secret: &SecretText, now: UnixSeconds) -> Result<bool, AuthStoreError> {
        Ok(self.idle_time(secret, now)?.is_some())
    }

    /// How long an open session was not used.
    fn idle_time(&self, secret: &SecretText, now: UnixSeconds) -> Result<Option<i64>, AuthStoreError> {
        // Without a query for cookies that are not ours.
        if SecretText::recognise(secret.reveal()) != Some(SecretKind::OwnerSession) {
            return Ok(None);
        }
        let last_used = self.read(None, |database| {
            let mut found = database.prepare_cached("SELECT last_used FROM owner_sessions WHERE digest = ?1")?;
            Ok(found.query_row([secret.digest().as_bytes()], |row| row.get::<_, i64>(0)).optional()?)
        })?;
        Ok(last_used.map(|used| now.0.saturating_sub(used)).filter(|idle| *idle <= SESSION_IDLE))
    }

    /// Signs one browser out.
    pub fn close_owner_session(&self, secret: &SecretText) -> Result<(), AuthStoreError> {
        self.write(|database| {
            database.execute("DELETE FROM owner_sessions WHERE digest = ?1", [secret.digest().as_bytes()])?;
            Ok(())
        })
    }

    /// Signs every browser out.
    pub fn close_owner_sessions(&self) -> Result<(), AuthStoreError> {
        self.write(|database| {
            database.execute_batch("DELETE FROM owner_sessions; DELETE FROM owner_codes;")?;
            Ok(())
        })
    }
}

fn open(database: &Connection, secret: &SecretText, address: &str, now: UnixSeconds) -> Result<(), AuthStoreError> {
    database.execute("DELETE FROM owner_sessions WHERE last_used < ?1", [now.0.saturating_sub(SESSION_IDLE)])?;
    database.execute(
        "INSERT INTO owner_sessions (digest, last_used) VALUES (?1, ?2)",
        params![secret.digest().as_bytes(), now.0],
    )?;
    NewEvent::of(SecurityEventKind::SignedIn, "").from(address).write(database, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth_store::tests::store;

    const NOW: UnixSeconds = UnixSeconds(1_800_000_000);

    fn later(seconds: i64) -> UnixSeconds {
        UnixSeconds(NOW.0 + seconds)
    }

    fn secret(kind: SecretKind, number: u8) -> SecretText {
        SecretText::mint(kind, &[number; 32])
    }

    #[test]
    fn a_code_signs_in_once_and_not_for_long() {
        let store = store(true);
        let code = secret(SecretKind::OwnerCode, 1);
        let exchange = |code: &SecretText, number: u8, at: UnixSeconds| {
            store.exchange_owner_code(code, &secret(SecretKind::OwnerSession, number), "", at).unwrap()
        };
        assert!(!exchange(&code, 1, NOW), "it was not made yet");
        store.add_owner_code(&code, NOW).unwrap();
        assert!(!exchange(&code, 1, later(CODE_LIFE)), "too late");
        assert!(exchange(&code, 2, later(CODE_LIFE - 1)));
        assert!(!exchange(&code, 3, later(1)), "once");
        let is_open = |number: u8| store.use_owner_session(&secret(SecretKind::OwnerSession, number), NOW).unwrap();
        assert_eq!([is_open(1), is_open(2), is_open(3)], [false, true, false]);
        // A session or a token is not a code.
        let session = secret(SecretKind::OwnerSession, 4);
        store.add_owner_code(&session, NOW).unwrap();
        assert!(!exchange(&session, 5, NOW));
    }

    #[test]
    fn a_session_lives_while_it_is_used_and_ends_alone_or_with_all_others() {
        let store = store(true);
        let session = |number: u8| secret(SecretKind::OwnerSession, number);
        for number in 1..=3 {
            store.open_owner_session(&session(number), "", NOW).unwrap();
        }
        let is_open = |number: u8, at: UnixSeconds| store.use_owner_session(&session(number), at).unwrap();
        assert!(is_open(1, later(SESSION_IDLE)) && is_open(1, later(2 * SESSION_IDLE - 1)));
        assert!(is_open(2, later(30)) && !is_open(2, later(SESSION_IDLE + 1)), "the first use is not noted again");
        assert!(store.is_owner_session(&session(3), later(SESSION_IDLE)).unwrap());
        assert!(!is_open(3, later(SESSION_IDLE + 1)), "only looked at");
        store.close_owner_session(&session(1)).unwrap();
        assert!(!is_open(1, NOW) && is_open(3, NOW));
        store.close_owner_sessions().unwrap();
        assert!(!is_open(3, NOW));
    }
}
