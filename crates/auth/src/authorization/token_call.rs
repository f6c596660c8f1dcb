//! A code or a refresh token becomes a pair of tokens. What is used twice may have been stolen, and ends the grant.

use std::ops::RangeInclusive;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use lapidary_note::ContentHash;
use rusqlite::{Connection, OptionalExtension, params};

use super::{AuthorizationRules, GrantEnd, GrantRefusal, IssuedTokens, REFRESH_LIFE, end_grant, grant_in_words};
use crate::{
    AuthStoreError, FormParameters, NewEvent, RandomBytes, SecretKind, SecretText, SecurityEventKind, UnixSeconds,
    auth_store::is_first_use,
};

/// How long, and how often, a refresh token that was used may be used again: hosted clients refresh from several places at once.
const REFRESH_GRACE: i64 = 120;
pub(super) const GRACE_PAIRS: i64 = 25;
/// How long a verifier is (RFC 7636). A shorter one could be guessed from its challenge.
const VERIFIER_LENGTH: RangeInclusive<usize> = 43..=128;
/// Tokens of one grant that are kept. A client that refreshes without end must not fill the disk; reuse of one that is older is
/// refused, but no longer recognised as theft.
pub(super) const MAX_GRANT_TOKENS: i64 = 2_000;

type CallResult = Result<Result<IssuedTokens, GrantRefusal>, AuthStoreError>;

/// A call of `/token` by a client that has shown who it is.
pub(super) struct TokenCall<'a> {
    pub(super) database: &'a Connection,
    pub(super) client: &'a str,
    pub(super) address: &'a str,
    pub(super) form: &'a FormParameters,
    pub(super) rules: &'a AuthorizationRules,
    pub(super) random: &'a [RandomBytes; 2],
    pub(super) now: UnixSeconds,
}

impl TokenCall<'_> {
    pub(super) fn by_code(&self) -> CallResult {
        let (Some(code), Some(verifier)) = (self.form.get("code"), self.form.get("code_verifier")) else {
            return Ok(Err(GrantRefusal::InvalidRequest));
        };
        let digest = ContentHash::of(code.as_bytes());
        let row = |row: &rusqlite::Row<'_>| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, String>(2)?,
                row.get::<_, i64>(3)?,
                row.get::<_, Option<i64>>(4)?,
            ))
        };
        let query = "SELECT grant_id, redirect, challenge, expires, used FROM oauth_codes WHERE digest = ?1";
        let found = self.database.query_row(query, [digest.as_bytes()], row).optional()?;
        let Some((grant, redirect, challenge, expires, used)) = found else {
            return Ok(Err(GrantRefusal::InvalidGrant));
        };
        if used.is_some() {
            // One of the two uses is theft, and there is no way to tell which.
            self.take_back(grant, GrantEnd::Code)?;
            return Ok(Err(GrantRefusal::UsedAgain { grant }));
        }
        // The standard requires it if it was in the first request; clients that leave it out are still bound by PKCE.
        let is_theirs = self.form.get("redirect_uri").is_none_or(|given| given == redirect)
            && VERIFIER_LENGTH.contains(&verifier.len());
        let shown = URL_SAFE_NO_PAD.encode(ContentHash::of(verifier.as_bytes()).as_bytes());
        // Every byte is compared, so that the time says nothing about the verifier.
        let differs = shown.bytes().zip(challenge.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
        if !is_theirs || differs != 0 || shown.len() != challenge.len() || self.now.0 >= expires {
            return Ok(Err(GrantRefusal::InvalidGrant));
        }
        // Also checks that the code was given to this client.
        let Some(scope) = self.live_scope(grant)? else { return Ok(Err(GrantRefusal::InvalidGrant)) };
        self.database
            .execute("UPDATE oauth_codes SET used = ?2 WHERE digest = ?1", params![digest.as_bytes(), self.now.0])?;
        self.issue(grant, &scope).map(Ok)
    }

    pub(super) fn by_refresh_token(&self) -> CallResult {
        let Some(token) = self.form.get("refresh_token") else { return Ok(Err(GrantRefusal::InvalidRequest)) };
        let digest = ContentHash::of(token.as_bytes());
        let row = |row: &rusqlite::Row<'_>| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<i64>>(2)?, row.get::<_, i64>(3)?))
        };
        let query =
            "SELECT grant_id, expires, rotated, further FROM oauth_tokens WHERE digest = ?1 AND kind = 'refresh'";
        let found = self.database.query_row(query, [digest.as_bytes()], row).optional()?;
        let Some((grant, expires, rotated, further)) = found else { return Ok(Err(GrantRefusal::InvalidGrant)) };
        // A token of another client, of a revoked grant, or one that has expired: all are answered alike.
        let Some(scope) = self.live_scope(grant)?.filter(|_| self.now.0 < expires) else {
            return Ok(Err(GrantRefusal::InvalidGrant));
        };
        let granted: Vec<&str> = scope.split_whitespace().collect();
        let wanted = self.form.get("scope").map(|wanted| wanted.split_whitespace().collect::<Vec<_>>());
        if wanted.as_ref().is_some_and(|wanted| wanted.iter().any(|scope| !granted.contains(scope))) {
            return Ok(Err(GrantRefusal::InvalidScope));
        }
        if let Some(rotated) = rotated
            // A second use within the grace is normal: clients refresh from several places, or lose the answer.
            && (self.now.0 > rotated.saturating_add(REFRESH_GRACE) || further >= GRACE_PAIRS)
        {
            // It was used long ago: the sender did not get it from this server.
            self.take_back(grant, GrantEnd::RefreshToken)?;
            return Ok(Err(GrantRefusal::UsedAgain { grant }));
        }
        self.database.execute(
            // The first use is the one that counts for the grace; later ones do not extend it.
            "UPDATE oauth_tokens SET rotated = coalesce(rotated, ?2), further = further + (rotated IS NOT NULL) WHERE digest = ?1",
            params![digest.as_bytes(), self.now.0],
        )?;
        self.issue(grant, &wanted.map_or(scope.clone(), |wanted| wanted.join(" "))).map(Ok)
    }

    /// What a grant of this client covers, if it still counts.
    fn live_scope(&self, grant: i64) -> Result<Option<String>, AuthStoreError> {
        let query = "SELECT scope FROM oauth_grants WHERE id = ?1 AND client = ?2 AND revoked IS NULL AND ends > ?3";
        let found = self.database.query_row(query, params![grant, self.client, self.now.0], |row| row.get(0));
        Ok(found.optional()?)
    }

    fn issue(&self, grant: i64, scope: &str) -> Result<IssuedTokens, AuthStoreError> {
        let ends: i64 =
            self.database.query_row("SELECT ends FROM oauth_grants WHERE id = ?1", [grant], |row| row.get(0))?;
        // No token outlives what the owner agreed to.
        let until = |life: i64| self.now.0.saturating_add(life).min(ends);
        let access = SecretText::mint(SecretKind::Access, &self.random[0]);
        let refresh = SecretText::mint(SecretKind::Refresh, &self.random[1]);
        let expires = until(self.rules.access_life);
        for (secret, kind, expires) in [(&access, "access", expires), (&refresh, "refresh", until(REFRESH_LIFE))] {
            self.database.execute(
                "INSERT INTO oauth_tokens (digest, grant_id, kind, scope, expires) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![secret.digest().as_bytes(), grant, kind, scope, expires],
            )?;
        }
        self.database
            .execute("DELETE FROM oauth_tokens WHERE expires < ?1", [self.now.0.saturating_sub(REFRESH_GRACE)])?;
        self.database.execute(
            "DELETE FROM oauth_tokens WHERE grant_id = ?1 AND rowid <= (
                 SELECT rowid FROM oauth_tokens WHERE grant_id = ?1 ORDER BY rowid DESC LIMIT 1 OFFSET ?2)",
            params![grant, MAX_GRANT_TOKENS],
        )?;
        if is_first_use(self.database, "oauth_grants", grant)? {
            let subject = grant_in_words(self.database, grant)?;
            NewEvent::of(SecurityEventKind::FirstUsed, &subject).from(self.address).write(self.database, self.now)?;
        }
        self.database.execute("UPDATE oauth_grants SET last_used = ?2 WHERE id = ?1", params![grant, self.now.0])?;
        Ok(IssuedTokens { access, refresh, expires_in: expires.saturating_sub(self.now.0), scope: scope.to_owned() })
    }

    fn take_back(&self, grant: i64, used_again: GrantEnd) -> Result<(), AuthStoreError> {
        end_grant(self.database, grant, used_again, Some(self.address), self.now).map(|_| ())
    }
}
