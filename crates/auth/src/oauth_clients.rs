//! Programs that ask the built-in authorization server for access, and those of them that have registered themselves.

use lapidary_note::ContentHash;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value, json};

use crate::{
    AuthStore, AuthStoreError, AuthorizationRules, RandomBytes, RedirectUri, SecretKind, SecretText, UnixSeconds,
    authorization::{GrantEnd, end_grant},
    is_same_digest,
};

/// Addresses of one client.
const MAX_REDIRECTS: usize = 10;
const MAX_NAME_CHARS: usize = 100;
/// How long a client lives that no owner has consented to, and how many of them there may be.
const UNUSED_LIFE: i64 = 24 * 60 * 60;
const MAX_UNUSED_CLIENTS: i64 = 200;
/// How long one is kept whose grants have all ended.
const IDLE_LIFE: i64 = 90 * 24 * 60 * 60;

/// How it is known what a program says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientSource {
    /// It registered itself: nothing is proven.
    Registered,
    /// Its document, on its own host.
    Document,
    /// A record of ours, in place of its document.
    BuiltIn,
}

/// A program that asks for access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthClient {
    pub id: String,
    pub name: String,
    pub redirects: Vec<RedirectUri>,
    /// Whether it has a secret, which it then has to show.
    pub has_secret: bool,
    pub source: ClientSource,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationError {
    #[error("invalid_client_metadata")]
    Metadata,
    #[error("invalid_redirect_uri")]
    Redirects,
    #[error("{0}")]
    Store(#[from] AuthStoreError),
}

impl AuthStore {
    /// Registers a client (RFC 7591); the answer holds its secret, if it wants one, this once. Of the addresses, those
    /// that cannot be taken are left out: some programs send one for every way they might run.
    pub fn register_client(
        &self,
        metadata: &Value,
        rules: &AuthorizationRules,
        random: &[RandomBytes; 3],
        now: UnixSeconds,
    ) -> Result<Value, RegistrationError> {
        let metadata = metadata.as_object().ok_or(RegistrationError::Metadata)?;
        // Without any address there would be nowhere to send a code.
        let redirects = metadata.get("redirect_uris").and_then(Value::as_array).ok_or(RegistrationError::Redirects)?;
        // Before they are parsed: anyone can register.
        if redirects.len() > MAX_REDIRECTS {
            return Err(RegistrationError::Redirects);
        }
        let redirects = redirects.iter().filter_map(Value::as_str).filter_map(RedirectUri::parse);
        // Left out rather than refused: a program may list addresses of all its versions.
        let redirects: Vec<RedirectUri> = redirects.filter(|redirect| rules.may_return_to(redirect)).collect();
        if redirects.is_empty() {
            return Err(RegistrationError::Redirects);
        }
        let method = match text(metadata, "token_endpoint_auth_method") {
            None => "none",
            Some(method @ ("none" | "client_secret_post" | "client_secret_basic")) => method,
            // Whatever else it can do, it can do without.
            Some(_) => "none",
        };
        let name = display_name(text(metadata, "client_name").unwrap_or_default());
        let id = SecretText::mint(SecretKind::ClientId, &random[0]).reveal().to_owned();
        let secret = (method != "none").then(|| SecretText::mint(SecretKind::ClientSecret, &random[1]));
        let management = SecretText::mint(SecretKind::Registration, &random[2]);
        let addresses: Vec<&str> = redirects.iter().map(RedirectUri::as_str).collect();
        self.write(|database| {
            // In the same transaction, so that registering in a loop cannot fill the disk.
            forget_unused(database, now)?;
            database.execute(
                "INSERT INTO oauth_clients (id, name, redirects, secret, management, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    id,
                    // The name is cleaned before it is stored, so every list shows the same.
                    name,
                    json!(addresses).to_string(),
                    secret.as_ref().map(|secret| *secret.digest().as_bytes()),
                    management.digest().as_bytes(),
                    now.0
                ],
            )?;
            Ok(())
        })?;
        let mut answer = json!({
            "client_id": id,
            "client_id_issued_at": now.0,
            "client_name": name,
            "redirect_uris": addresses,
            "token_endpoint_auth_method": method,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
        });
        if let Some(secret) = secret {
            answer["client_secret"] = json!(secret.reveal());
            // RFC 7591: 0 means that it does not expire.
            answer["client_secret_expires_at"] = json!(0);
        }
        answer["registration_client_uri"] = json!(format!("{}/register/{id}", rules.issuer));
        answer["registration_access_token"] = json!(management.reveal());
        Ok(answer)
    }

    /// A client's own registration, if it shows the token that it was given with it (RFC 7592).
    pub fn registration(&self, id: &str, token: &SecretText) -> Result<Option<OAuthClient>, AuthStoreError> {
        self.read(None, |database| {
            let mut known = database.prepare_cached("SELECT 1 FROM oauth_clients WHERE id = ?1 AND management = ?2")?;
            // Both in one query, so the answer does not tell which of them was wrong.
            if known.exists(params![id, token.digest().as_bytes()])? { find_client(database, id) } else { Ok(None) }
        })
    }

    /// Forgets a client, and with it everything that it was given.
    pub fn delete_client(&self, id: &str, now: UnixSeconds) -> Result<(), AuthStoreError> {
        self.write(|database| {
            let live: Vec<i64> = database
                .prepare_cached("SELECT id FROM oauth_grants WHERE client = ?1 AND revoked IS NULL AND ends > ?2")?
                .query_map(params![id, now.0], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            // One by one, because each end of a grant is an event for the owner.
            for grant in live {
                end_grant(database, grant, GrantEnd::Client, None, now)?;
            }
            database.execute("DELETE FROM oauth_clients WHERE id = ?1", [id])?;
            Ok(())
        })
    }

    pub fn find_client(&self, id: &str) -> Result<Option<OAuthClient>, AuthStoreError> {
        self.read(None, |database| find_client(database, id))
    }
}

pub(crate) fn find_client(database: &Connection, id: &str) -> Result<Option<OAuthClient>, AuthStoreError> {
    let mut found =
        database.prepare_cached("SELECT name, redirects, secret IS NOT NULL FROM oauth_clients WHERE id = ?1")?;
    let row =
        |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, bool>(2)?));
    let Some((name, redirects, has_secret)) = found.query_row([id], row).optional()? else { return Ok(None) };
    let redirects: Vec<String> =
        serde_json::from_str(&redirects).map_err(|error| AuthStoreError::Unusable(error.to_string()))?;
    // Rules for addresses may have become stricter since it was registered.
    let redirects = redirects.iter().filter_map(|text| RedirectUri::parse(text)).collect();
    Ok(Some(OAuthClient { id: id.to_owned(), name, redirects, has_secret, source: ClientSource::Registered }))
}

/// Whether a client that was given a secret shows it. One without a secret may send anything.
pub(crate) fn is_authentic(database: &Connection, id: &str, secret: Option<&str>) -> Result<bool, AuthStoreError> {
    let kept: Option<Option<[u8; 32]>> =
        database.query_row("SELECT secret FROM oauth_clients WHERE id = ?1", [id], |row| row.get(0)).optional()?;
    let given = secret.map(|secret| SecretText::new(secret.to_owned()).digest());
    Ok(match (kept, given) {
        (Some(Some(kept)), Some(given)) => is_same_digest(&ContentHash::from_bytes(kept), &given),
        // Some programs send an empty or made-up secret although they were given none.
        (Some(None), _) => true,
        _ => false,
    })
}

pub(crate) fn forget_unused(database: &Connection, now: UnixSeconds) -> Result<(), AuthStoreError> {
    // A client that an owner has ever consented to is never counted as unused.
    let unused = "consented IS NULL AND id NOT IN (SELECT client FROM oauth_grants)";
    database.execute(
        &format!("DELETE FROM oauth_clients WHERE created < ?1 AND {unused}"),
        [now.0.saturating_sub(UNUSED_LIFE)],
    )?;
    // The oldest make room for a new one.
    database.execute(
        &format!(
            "DELETE FROM oauth_clients WHERE id IN (
                 SELECT id FROM oauth_clients WHERE {unused} ORDER BY created DESC, rowid DESC LIMIT -1 OFFSET ?1)"
        ),
        // One less, to make room for the new one.
        [MAX_UNUSED_CLIENTS - 1],
    )?;
    database.execute(
        "DELETE FROM oauth_clients WHERE consented < ?1
         AND id NOT IN (SELECT client FROM oauth_grants WHERE revoked IS NULL AND ends > ?2)",
        params![now.0.saturating_sub(IDLE_LIFE), now.0],
    )?;
    Ok(())
}

fn text<'m>(metadata: &'m Map<String, Value>, name: &str) -> Option<&'m str> {
    metadata.get(name)?.as_str()
}

/// A name without characters that turn it round, hide in it or break a line.
pub(crate) fn display_name(name: &str) -> String {
    let is_shown = |letter: &char| {
        !letter.is_control()
            && !matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}' | '\u{61c}')
    };
    let shown: String = name.chars().filter(is_shown).take(MAX_NAME_CHARS).collect();
    if shown.trim().is_empty() { "a program without a name".to_owned() } else { shown.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth_store::tests::store;

    const NOW: UnixSeconds = UnixSeconds(1_800_000_000);

    fn rules() -> AuthorizationRules {
        AuthorizationRules::new("https://vault.example", "/mcp")
    }

    fn register(
        store: &AuthStore,
        metadata: &Value,
        number: u64,
        now: UnixSeconds,
    ) -> Result<Value, RegistrationError> {
        let random = |kind: u64| {
            let mut random = [0; 32];
            random[..8].copy_from_slice(&number.to_be_bytes());
            random[8..16].copy_from_slice(&kind.to_be_bytes());
            random
        };
        store.register_client(metadata, &rules(), &[random(1), random(2), random(3)], now)
    }

    #[test]
    fn a_client_registers_what_can_be_taken_of_its_addresses() {
        let store = store(true);
        let addresses = ["javascript:alert(1)", "cursor://anysphere.cursor-mcp/oauth/callback", "http://evil.example/"];
        let metadata = json!({ "redirect_uris": addresses, "client_name": "Cur\u{202e}sor\n", "token_endpoint_auth_method": "private_key_jwt" });
        let answer = register(&store, &metadata, 1, NOW).unwrap();
        assert_eq!(answer["redirect_uris"], json!(["cursor://anysphere.cursor-mcp/oauth/callback"]));
        assert_eq!((&answer["client_name"], &answer["token_endpoint_auth_method"]), (&json!("Cursor"), &json!("none")));
        assert!(answer.get("client_secret").is_none());
        let known = store.find_client(answer["client_id"].as_str().unwrap()).unwrap().unwrap();
        assert_eq!((known.name.as_str(), known.redirects.len(), known.has_secret), ("Cursor", 1, false));
        for metadata in [
            json!({ "redirect_uris": ["javascript:x"] }),
            json!({ "redirect_uris": [] }),
            json!({}),
            json!({ "redirect_uris": vec!["https://a.example/"; 11] }),
        ] {
            assert_eq!(register(&store, &metadata, 2, NOW), Err(RegistrationError::Redirects), "{metadata}");
        }
        assert_eq!(register(&store, &json!([]), 2, NOW), Err(RegistrationError::Metadata));
    }

    #[test]
    fn a_flood_of_registrations_is_bounded_and_forgotten() {
        let store = store(true);
        let metadata =
            json!({ "redirect_uris": ["https://a.example/cb"], "token_endpoint_auth_method": "client_secret_post" });
        let ids: Vec<String> = (0..250)
            .map(|number| {
                let answer = register(&store, &metadata, number, NOW).unwrap();
                assert!(answer["client_secret"].as_str().unwrap().starts_with("lap_cs_"));
                assert_eq!(answer["client_secret_expires_at"], 0);
                answer["client_id"].as_str().unwrap().to_owned()
            })
            .collect();
        let known = |id: &String| store.find_client(id).unwrap().is_some();
        assert_eq!(ids.iter().filter(|id| known(id)).count(), 200);
        assert!(known(&ids[249]) && !known(&ids[0]));
        register(&store, &metadata, 999, UnixSeconds(NOW.0 + UNUSED_LIFE + 1)).unwrap();
        assert!(!ids.iter().any(known));
    }

    #[test]
    fn a_client_can_look_at_its_registration_and_delete_it_with_its_own_token() {
        let store = store(true);
        let answer = register(&store, &json!({ "redirect_uris": ["https://a.example/cb"] }), 1, NOW).unwrap();
        let id = answer["client_id"].as_str().unwrap();
        assert_eq!(answer["registration_client_uri"], format!("https://vault.example/register/{id}"));
        let token = SecretText::new(answer["registration_access_token"].as_str().unwrap().to_owned());
        let other = SecretText::mint(SecretKind::Registration, &[9; 32]);
        assert_eq!(store.registration(id, &other).unwrap(), None);
        assert_eq!(store.registration(id, &token).unwrap().unwrap().id, id);
        store.delete_client(id, NOW).unwrap();
        assert_eq!(store.registration(id, &token).unwrap(), None);
        assert_eq!(store.find_client(id).unwrap(), None);
    }

    #[test]
    fn the_owner_can_say_where_programs_may_be_sent() {
        let store = store(true);
        let mut rules = rules();
        rules.redirects = Some(vec!["https://claude.ai".into(), "loopback".into()]);
        let register =
            |uri: &str| store.register_client(&json!({ "redirect_uris": [uri] }), &rules, &[[1; 32]; 3], NOW);
        for uri in ["https://evil.example/cb", "https://claude.ai.evil.example/cb", "cursor://x/cb"] {
            assert_eq!(register(uri), Err(RegistrationError::Redirects), "{uri}");
        }
        assert!(register("https://claude.ai/api/mcp/auth_callback").is_ok());
    }
}
