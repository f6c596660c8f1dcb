//! The owner's passphrase, kept as a hash that takes time and memory to compute.

use argon2::{Algorithm, Argon2, Params, Version};
use rusqlite::{OptionalExtension, params};

use crate::{AuthStore, AuthStoreError, NewEvent, RandomBytes, SecretText, SecurityEventKind, UnixSeconds};

const MIN_CHARS: usize = 12;
const MAX_CHARS: usize = 1_000;
/// 19 MiB, twice, is what OWASP asks for at least. With more, a few guesses at once would take the memory of a small server.
const HASH_MEMORY_KIB: u32 = 19 * 1024;
const HASH_ROUNDS: u32 = 2;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassphraseError {
    #[error("write at least {MIN_CHARS} characters")]
    TooShort,
    #[error("write at most {MAX_CHARS} characters")]
    TooLong,
    #[error("the passphrase could not be hashed: {0}")]
    Failed(String),
    #[error("{0}")]
    Store(#[from] AuthStoreError),
}

fn hashed(passphrase: &SecretText, salt: &[u8]) -> Result<[u8; 32], PassphraseError> {
    let failed = |error: argon2::Error| PassphraseError::Failed(error.to_string());
    let cost = Params::new(HASH_MEMORY_KIB, HASH_ROUNDS, 1, Some(32)).map_err(failed)?;
    let mut out = [0; 32];
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, cost);
    argon.hash_password_into(passphrase.reveal().as_bytes(), salt, &mut out).map_err(failed)?;
    Ok(out)
}

impl AuthStore {
    /// Sets the passphrase, and ends every session that was opened with another.
    pub fn set_passphrase(
        &self,
        passphrase: &SecretText,
        random: &RandomBytes,
        now: UnixSeconds,
    ) -> Result<(), PassphraseError> {
        // In characters, not bytes: that is what the message says.
        match passphrase.reveal().chars().count() {
            length if length < MIN_CHARS => return Err(PassphraseError::TooShort),
            length if length > MAX_CHARS => return Err(PassphraseError::TooLong),
            _ => {}
        }
        let (salt, hash) = (&random[..16], hashed(passphrase, &random[..16])?);
        Ok(self.write(|database| {
            // In the same transaction: no session may survive a change of the passphrase.
            database.execute("DELETE FROM owner_sessions", [])?;
            database.execute(
                "INSERT OR REPLACE INTO owner (id, salt, hash, changed) VALUES (1, ?1, ?2, ?3)",
                params![salt, hash, now.0],
            )?;
            NewEvent::of(SecurityEventKind::PassphraseSet, "").write(database, now)
        })?)
    }

    pub fn has_passphrase(&self) -> Result<bool, AuthStoreError> {
        self.read(false, |database| Ok(database.prepare("SELECT 1 FROM owner")?.exists([])?))
    }

    /// Whether this is the passphrase. Takes as long where there is none.
    pub fn is_passphrase(&self, given: &SecretText) -> Result<bool, PassphraseError> {
        // Hashing something long is work that anyone could ask for.
        if given.reveal().chars().count() > MAX_CHARS {
            return Ok(false);
        }
        let kept = self.read(None, |database| {
            let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?));
            Ok(database.query_row("SELECT salt, hash FROM owner", [], row).optional()?)
        })?;
        // A hash is computed in any case, so that the time does not tell whether there is a passphrase.
        let (salt, kept) = kept.unwrap_or_else(|| (vec![0; 16], Vec::new()));
        let hash = hashed(given, &salt)?;
        let differs = hash.iter().zip(&kept).fold(0, |sum, (one, other)| sum | (one ^ other));
        Ok(kept.len() == hash.len() && differs == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SecretKind, auth_store::tests::store, owner_sessions::SESSION_IDLE};

    const NOW: UnixSeconds = UnixSeconds(1_800_000_000);

    fn text(text: &str) -> SecretText {
        SecretText::new(text.to_owned())
    }

    #[test]
    fn a_passphrase_is_kept_as_a_hash_and_a_new_one_ends_sessions() {
        let store = store(true);
        assert!(!store.has_passphrase().unwrap() && !store.is_passphrase(&text("correct horse battery")).unwrap());
        assert_eq!(store.set_passphrase(&text("too short"), &[1; 32], NOW), Err(PassphraseError::TooShort));
        store.set_passphrase(&text("correct horse battery"), &[1; 32], NOW).unwrap();
        assert!(store.is_passphrase(&text("correct horse battery")).unwrap());
        for wrong in ["correct horse batterx", "", "correct horse battery ", &"x".repeat(2000)] {
            assert!(!store.is_passphrase(&text(wrong)).unwrap(), "{wrong}");
        }
        let session = SecretText::mint(SecretKind::OwnerSession, &[2; 32]);
        store.open_owner_session(&session, "192.0.2.1", NOW).unwrap();
        assert!(store.use_owner_session(&session, UnixSeconds(NOW.0 + SESSION_IDLE)).unwrap());
        assert!(!store.use_owner_session(&session, UnixSeconds(NOW.0 + 2 * SESSION_IDLE + 1)).unwrap());
        assert!(!store.use_owner_session(&SecretText::mint(SecretKind::OwnerSession, &[3; 32]), NOW).unwrap());
        assert!(store.use_owner_session(&session, UnixSeconds(NOW.0 + SESSION_IDLE)).unwrap());
        store.set_passphrase(&text("another long passphrase"), &[4; 32], NOW).unwrap();
        assert!(!store.use_owner_session(&session, NOW).unwrap());
        assert!(!store.is_passphrase(&text("correct horse battery")).unwrap());
    }
}
