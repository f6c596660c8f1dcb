//! Tokens that the owner changes: other rights under the same secret, or another secret with the same rights.

use lapidary_note::ContentHash;
use rusqlite::params;

use crate::{
    AuthStore, AuthStoreError, NewEvent, SecretText, SecurityEventKind, TokenRecord, TokenRights, UnixSeconds,
    auth_store::records,
};

/// What is replaced of a token; the rest stays.
#[derive(Clone, Copy)]
pub enum TokenChange<'a> {
    Rights(&'a TokenRights),
    Secret(&'a SecretText),
}

impl AuthStore {
    /// Changes the valid token of this name, if there is one. The old one is revoked and a new one takes its name, in one
    /// step: sessions and streams of the old one end, so that none goes on with what is taken away.
    pub fn change_token(
        &self,
        name: &str,
        change: TokenChange<'_>,
        now: UnixSeconds,
    ) -> Result<Option<TokenRecord>, AuthStoreError> {
        // Reading creates no database, and without tokens there is nothing to change.
        if self.tokens()?.is_empty() {
            return Ok(None);
        }
        self.write(|database| {
            let old = records(database)?.into_iter().find(|record| record.name == name && record.is_live(now));
            let Some(old) = old else { return Ok(None) };
            let digest: Vec<u8> =
                database.query_row("SELECT digest FROM tokens WHERE id = ?1", [old.id], |row| row.get(0))?;
            // Each hash is there once, so the old record gives it up: nothing has the hash that it gets.
            let unused = ContentHash::of(format!("replaced {} {digest:?}", old.id).as_bytes());
            database.execute(
                "UPDATE tokens SET revoked = ?2, digest = ?3 WHERE id = ?1",
                params![old.id, now.0, unused.as_bytes()],
            )?;
            let (rights, digest) = match change {
                TokenChange::Rights(rights) => (rights, digest),
                TokenChange::Secret(secret) => (&old.rights, secret.digest().as_bytes().to_vec()),
            };
            let written = serde_json::to_string(rights).map_err(|error| AuthStoreError::Unusable(error.to_string()))?;
            database.execute(
                "INSERT INTO tokens (name, digest, rights, created, expires) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![name, digest, written, now.0, old.expires.map(|end| end.0)],
            )?;
            let id = database.last_insert_rowid();
            NewEvent::of(SecurityEventKind::TokenChanged, name).write(database, now)?;
            Ok(Some(TokenRecord { id, rights: rights.clone(), created: now, last_used: None, revoked: None, ..old }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewToken, SecretKind, auth_store::tests::store};

    const NOW: UnixSeconds = UnixSeconds(1_800_000_000);

    fn secret(number: u8) -> SecretText {
        SecretText::mint(SecretKind::Personal, &[number; 32])
    }

    fn with_token(expires: Option<UnixSeconds>) -> (AuthStore, TokenRecord) {
        let store = store(true);
        let rights = TokenRights { profile: Some("editor".to_owned()), ..TokenRights::default() };
        let made = store.create_token(&NewToken { name: "phone", rights: &rights, expires }, &secret(1), NOW).unwrap();
        (store, made)
    }

    #[test]
    fn a_new_secret_ends_the_old_one_at_once_and_keeps_everything_else() {
        let (store, old) = with_token(Some(UnixSeconds(NOW.0 + 100)));
        let new = store.change_token("phone", TokenChange::Secret(&secret(2)), NOW).unwrap().unwrap();
        assert_eq!(store.find_token(&secret(1).digest(), NOW).unwrap(), None);
        assert_eq!(store.find_token(&secret(2).digest(), NOW).unwrap(), Some(new.clone()));
        assert_eq!((&new.name, &new.rights, new.expires), (&old.name, &old.rights, old.expires));
        assert!(new.id != old.id && !store.is_live(old.id, NOW).unwrap());
        assert_eq!(store.events(1).unwrap()[0].kind, SecurityEventKind::TokenChanged);
    }

    #[test]
    fn other_rights_hold_for_the_same_secret_and_for_no_open_session() {
        let (store, old) = with_token(None);
        let rights = TokenRights { read_only: true, ..TokenRights::default() };
        let new = store.change_token("phone", TokenChange::Rights(&rights), NOW).unwrap().unwrap();
        assert_eq!(store.find_token(&secret(1).digest(), NOW).unwrap(), Some(new.clone()));
        assert_eq!(new.rights, rights);
        assert!(!store.is_live(old.id, NOW).unwrap() && store.is_live(new.id, NOW).unwrap());
        // Again, and then back.
        store.change_token("phone", TokenChange::Rights(&old.rights), NOW).unwrap().unwrap();
        assert_eq!(store.find_token(&secret(1).digest(), NOW).unwrap().unwrap().rights, old.rights);
    }

    #[test]
    fn only_a_valid_token_is_changed() {
        let (store, _) = with_token(Some(NOW));
        assert_eq!(store.change_token("phone", TokenChange::Secret(&secret(2)), NOW).unwrap(), None);
        assert_eq!(store.change_token("other", TokenChange::Secret(&secret(2)), NOW).unwrap(), None);
        assert_eq!(store.find_token(&secret(2).digest(), NOW).unwrap(), None);
    }
}
