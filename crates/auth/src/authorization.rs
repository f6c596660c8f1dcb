//! The built-in authorization server without its pages: a request is checked, the owner consents, a code becomes tokens, and
//! tokens become others (OAuth 2.1 with PKCE). Tokens are random and kept as hashes, so that revoking holds at once.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use lapidary_note::ContentHash;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};

use crate::{
    AuthStore, AuthStoreError, FormParameters, OAuthClient, RandomBytes, RedirectUri, SecretKind, SecretText,
    TokenRights, UnixSeconds, oauth_clients::is_authentic,
};

const CODE_LIFE: i64 = 120;
const REFRESH_LIFE: i64 = 90 * 24 * 60 * 60;
/// How long, and how often, a refresh token that was used may be used again: hosted clients refresh from several places at once.
const GRACE: i64 = 120;
const GRACE_PAIRS: i64 = 25;
const STATE_BYTES: usize = 1024;
/// What a client can ask for. Folders and vaults are the owner's choice and in no scope.
const SCOPES: [&str; 4] = ["vault:read", "vault:write", "vault:destroy", "offline_access"];
const DEFAULT_SCOPES: [&str; 2] = ["vault:read", "vault:write"];

/// What the server is called, and for what its tokens are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationRules {
    /// The public origin, without a slash at the end.
    pub issuer: String,
    /// The address of the MCP endpoint.
    pub resource: String,
    pub access_life: i64,
}

impl AuthorizationRules {
    /// Whether a client means this server: written exactly, with a slash more or less, or as the origin alone.
    fn is_ours(&self, resource: &str) -> bool {
        let plain = |text: &str| text.strip_suffix('/').unwrap_or(text).to_owned();
        let (scheme, rest) = resource.split_once("://").unwrap_or_default();
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let given = plain(&format!("{}://{}{path}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase()));
        given == plain(&self.resource) || given == plain(&self.issuer)
    }
}

/// A request that may be shown to the owner: client and address are proven to belong together, everything else is well-formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationRequest {
    pub client: OAuthClient,
    pub redirect: RedirectUri,
    challenge: String,
    state: Option<String>,
    /// Those that are known of what was asked for.
    pub scopes: Vec<String>,
}

/// Why a request is not shown to the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorizeRefusal {
    /// Shown on a page. The browser is not redirected before client and address are proven.
    OnPage(&'static str),
    /// Said to the client, at its own address.
    Redirect(String),
}

/// What `/token` refuses, by the names of RFC 6749.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantRefusal {
    InvalidRequest,
    InvalidClient,
    InvalidGrant,
    UnsupportedGrantType,
    InvalidTarget,
    InvalidScope,
}

impl GrantRefusal {
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::InvalidTarget => "invalid_target",
            Self::InvalidScope => "invalid_scope",
        }
    }
}

/// A pair of tokens, to be shown to the client this once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedTokens {
    pub access: SecretText,
    pub refresh: SecretText,
    pub expires_in: i64,
    pub scope: String,
}

impl IssuedTokens {
    pub fn to_json(&self) -> Value {
        json!({
            "access_token": self.access.reveal(),
            "token_type": "Bearer",
            "expires_in": self.expires_in,
            "refresh_token": self.refresh.reveal(),
            "scope": self.scope,
        })
    }
}

/// Whom an access token belongs to, and what it is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRecord {
    pub grant: i64,
    pub client_name: String,
    pub rights: TokenRights,
}

/// What the owner gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentGiven {
    /// Profile, vaults and folders.
    pub rights: TokenRights,
    /// Of those that were asked for.
    pub scopes: Vec<String>,
    pub lasts_until: UnixSeconds,
}

impl AuthStore {
    /// Checks what a client sent to `/authorize`.
    pub fn check_authorization(
        &self,
        parameters: &FormParameters,
        rules: &AuthorizationRules,
    ) -> Result<Result<AuthorizationRequest, AuthorizeRefusal>, AuthStoreError> {
        let Some(client) = parameters.get("client_id").map(|id| self.find_client(id)).transpose()?.flatten() else {
            return Ok(Err(AuthorizeRefusal::OnPage("This program is not registered here.")));
        };
        let redirect = match (parameters.get("redirect_uri"), &client.redirects[..]) {
            (None, [only]) => Some(only.clone()),
            (None, _) => None,
            (Some(given), registered) => {
                RedirectUri::parse(given).filter(|given| registered.iter().any(|known| given.matches(known)))
            }
        };
        let Some(redirect) = redirect else {
            return Ok(Err(AuthorizeRefusal::OnPage("The address to return to is not one of this program's.")));
        };
        Ok(request(parameters, client, redirect, rules))
    }

    /// The owner has consented: the address to send the browser to, with a code that counts once.
    pub fn approve(
        &self,
        request: &AuthorizationRequest,
        given: &ConsentGiven,
        rules: &AuthorizationRules,
        random: &RandomBytes,
        now: UnixSeconds,
    ) -> Result<String, AuthStoreError> {
        let code = SecretText::mint(SecretKind::Code, random);
        let scopes: Vec<&str> = given
            .scopes
            .iter()
            .map(String::as_str)
            .filter(|scope| request.scopes.iter().any(|asked| asked == scope))
            .collect();
        let rights =
            serde_json::to_string(&given.rights).map_err(|error| AuthStoreError::Unusable(error.to_string()))?;
        self.write(|database| {
            database.execute(
                "INSERT INTO oauth_grants (client, rights, scope, created, ends) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![request.client.id, rights, scopes.join(" "), now.0, given.lasts_until.0],
            )?;
            let grant = database.last_insert_rowid();
            database
                .execute("UPDATE oauth_clients SET consented = ?2 WHERE id = ?1", params![request.client.id, now.0])?;
            database.execute("DELETE FROM oauth_codes WHERE expires < ?1", [now.0.saturating_sub(REFRESH_LIFE)])?;
            database.execute(
                "INSERT INTO oauth_codes (digest, grant_id, redirect, challenge, expires) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    code.digest().as_bytes(),
                    grant,
                    request.redirect.as_str(),
                    request.challenge,
                    now.0.saturating_add(CODE_LIFE)
                ],
            )?;
            Ok(())
        })?;
        let mut parameters = vec![("code", code.reveal())];
        parameters.extend(request.state.as_deref().map(|state| ("state", state)));
        parameters.push(("iss", &rules.issuer));
        Ok(request.redirect.with_parameters(&parameters))
    }

    /// Answers `/token`: a code or a refresh token becomes a pair of tokens.
    pub fn issue_tokens(
        &self,
        form: &FormParameters,
        basic: Option<(&str, &str)>,
        rules: &AuthorizationRules,
        random: &[RandomBytes; 2],
        now: UnixSeconds,
    ) -> Result<Result<IssuedTokens, GrantRefusal>, AuthStoreError> {
        let (id, secret) = match basic {
            Some((id, secret)) => (Some(id), Some(secret)),
            None => (form.get("client_id"), form.get("client_secret")),
        };
        // A refusal may have revoked something, so it is written down like a success.
        self.write(|database| {
            let Some(client) = id else { return Ok(Err(GrantRefusal::InvalidClient)) };
            if !is_authentic(database, client, secret)? {
                return Ok(Err(GrantRefusal::InvalidClient));
            }
            if form.get("resource").is_some_and(|resource| !rules.is_ours(resource)) {
                return Ok(Err(GrantRefusal::InvalidTarget));
            }
            let call = TokenCall { database, client, form, rules, random, now };
            match form.get("grant_type") {
                Some("authorization_code") => call.by_code(),
                Some("refresh_token") => call.by_refresh_token(),
                Some(_) => Ok(Err(GrantRefusal::UnsupportedGrantType)),
                None => Ok(Err(GrantRefusal::InvalidRequest)),
            }
        })
    }

    /// The access token with this hash, if it still counts.
    pub fn find_access(&self, digest: &ContentHash, now: UnixSeconds) -> Result<Option<AccessRecord>, AuthStoreError> {
        self.read(None, |database| {
            let mut found = database.prepare_cached(
                "SELECT g.id, g.rights, t.scope, c.name FROM oauth_tokens t
                 JOIN oauth_grants g ON g.id = t.grant_id JOIN oauth_clients c ON c.id = g.client
                 WHERE t.digest = ?1 AND t.kind = 'access' AND t.expires > ?2 AND g.revoked IS NULL AND g.ends > ?2",
            )?;
            let row = |row: &rusqlite::Row<'_>| {
                Ok((
                    row.get::<_, i64>(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, String>(2)?,
                    row.get::<_, String>(3)?,
                ))
            };
            let found = found.query_row(params![digest.as_bytes(), now.0], row).optional()?;
            let Some((grant, rights, scope, client_name)) = found else { return Ok(None) };
            let rights: TokenRights =
                serde_json::from_str(&rights).map_err(|error| AuthStoreError::Unusable(error.to_string()))?;
            let scopes = Some(scope.split_whitespace().map(str::to_owned).collect());
            Ok(Some(AccessRecord { grant, client_name, rights: TokenRights { scopes, ..rights } }))
        })
    }

    /// Whether what an access token stands for still counts.
    pub fn is_grant_live(&self, grant: i64, now: UnixSeconds) -> Result<bool, AuthStoreError> {
        self.read(false, |database| {
            let mut live = database
                .prepare_cached("SELECT 1 FROM oauth_grants WHERE id = ?1 AND revoked IS NULL AND ends > ?2")?;
            Ok(live.exists(params![grant, now.0])?)
        })
    }

    /// Takes back what a token stands for (RFC 7009), if it is this client's. The answer does not tell whether there was one.
    pub fn revoke_issued(&self, token: &str, client: Option<&str>, now: UnixSeconds) -> Result<(), AuthStoreError> {
        let digest = ContentHash::of(token.as_bytes());
        self.write(|database| {
            database.execute(
                "UPDATE oauth_grants SET revoked = ?3 WHERE revoked IS NULL AND client = ?2
                 AND id IN (SELECT grant_id FROM oauth_tokens WHERE digest = ?1)",
                params![digest.as_bytes(), client, now.0],
            )?;
            Ok(())
        })
    }
}

fn request(
    parameters: &FormParameters,
    client: OAuthClient,
    redirect: RedirectUri,
    rules: &AuthorizationRules,
) -> Result<AuthorizationRequest, AuthorizeRefusal> {
    let state = parameters.get("state").filter(|state| state.len() <= STATE_BYTES);
    let refused = |error: &str| {
        let mut all = vec![("error", error)];
        all.extend(state.map(|state| ("state", state)));
        all.push(("iss", &rules.issuer));
        AuthorizeRefusal::Redirect(redirect.with_parameters(&all))
    };
    if parameters.get("response_type") != Some("code") {
        return Err(refused("unsupported_response_type"));
    }
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_challenge = |text: &&str| text.len() == 43 && text.bytes().all(is_letter);
    let challenge = parameters.get("code_challenge").filter(is_challenge);
    let is_hashed = parameters.get("code_challenge_method") == Some("S256");
    let (Some(challenge), true) = (challenge, is_hashed) else { return Err(refused("invalid_request")) };
    if parameters.get("state").is_some() && state.is_none() {
        return Err(refused("invalid_request"));
    }
    if parameters.get("resource").is_some_and(|resource| !rules.is_ours(resource)) {
        return Err(refused("invalid_target"));
    }
    let asked = parameters.get("scope").unwrap_or_default();
    let is_known = |scope: &&str| SCOPES.contains(scope);
    let mut scopes: Vec<String> = asked.split_whitespace().filter(is_known).map(str::to_owned).collect();
    // `offline_access` alone would open nothing.
    if !scopes.iter().any(|scope| scope.starts_with("vault:")) {
        scopes.extend(DEFAULT_SCOPES.map(str::to_owned));
    }
    let (challenge, state) = (challenge.to_owned(), state.map(str::to_owned));
    Ok(AuthorizationRequest { client, redirect, challenge, state, scopes })
}

impl AuthorizationRequest {
    /// The owner has said no: the address to send the browser to.
    pub fn denied(&self, rules: &AuthorizationRules) -> String {
        let mut parameters = vec![("error", "access_denied")];
        parameters.extend(self.state.as_deref().map(|state| ("state", state)));
        parameters.push(("iss", &rules.issuer));
        self.redirect.with_parameters(&parameters)
    }
}

type CallResult = Result<Result<IssuedTokens, GrantRefusal>, AuthStoreError>;

/// A call of `/token` by a client that has shown who it is.
struct TokenCall<'a> {
    database: &'a Connection,
    client: &'a str,
    form: &'a FormParameters,
    rules: &'a AuthorizationRules,
    random: &'a [RandomBytes; 2],
    now: UnixSeconds,
}

impl TokenCall<'_> {
    fn by_code(&self) -> CallResult {
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
            self.revoke(grant)?;
            return Ok(Err(GrantRefusal::InvalidGrant));
        }
        let is_theirs = self.form.get("redirect_uri").is_none_or(|given| given == redirect);
        let shown = URL_SAFE_NO_PAD.encode(ContentHash::of(verifier.as_bytes()).as_bytes());
        let differs = shown.bytes().zip(challenge.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
        if !is_theirs || differs != 0 || shown.len() != challenge.len() || self.now.0 >= expires {
            return Ok(Err(GrantRefusal::InvalidGrant));
        }
        let Some(scope) = self.live_scope(grant)? else { return Ok(Err(GrantRefusal::InvalidGrant)) };
        self.database
            .execute("UPDATE oauth_codes SET used = ?2 WHERE digest = ?1", params![digest.as_bytes(), self.now.0])?;
        self.issue(grant, &scope).map(Ok)
    }

    fn by_refresh_token(&self) -> CallResult {
        let Some(token) = self.form.get("refresh_token") else { return Ok(Err(GrantRefusal::InvalidRequest)) };
        let digest = ContentHash::of(token.as_bytes());
        let row = |row: &rusqlite::Row<'_>| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<i64>>(2)?, row.get::<_, i64>(3)?))
        };
        let query =
            "SELECT grant_id, expires, rotated, further FROM oauth_tokens WHERE digest = ?1 AND kind = 'refresh'";
        let found = self.database.query_row(query, [digest.as_bytes()], row).optional()?;
        let Some((grant, expires, rotated, further)) = found else { return Ok(Err(GrantRefusal::InvalidGrant)) };
        let Some(scope) = self.live_scope(grant)?.filter(|_| self.now.0 < expires) else {
            return Ok(Err(GrantRefusal::InvalidGrant));
        };
        let granted: Vec<&str> = scope.split_whitespace().collect();
        let wanted = self.form.get("scope").map(|wanted| wanted.split_whitespace().collect::<Vec<_>>());
        if wanted.as_ref().is_some_and(|wanted| wanted.iter().any(|scope| !granted.contains(scope))) {
            return Ok(Err(GrantRefusal::InvalidScope));
        }
        if let Some(rotated) = rotated
            && (self.now.0 > rotated.saturating_add(GRACE) || further >= GRACE_PAIRS)
        {
            // It was used long ago: the sender did not get it from this server.
            self.revoke(grant)?;
            return Ok(Err(GrantRefusal::InvalidGrant));
        }
        self.database.execute(
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
        self.database.execute("DELETE FROM oauth_tokens WHERE expires < ?1", [self.now.0.saturating_sub(GRACE)])?;
        self.database.execute("UPDATE oauth_grants SET last_used = ?2 WHERE id = ?1", params![grant, self.now.0])?;
        Ok(IssuedTokens { access, refresh, expires_in: expires.saturating_sub(self.now.0), scope: scope.to_owned() })
    }

    fn revoke(&self, grant: i64) -> Result<(), AuthStoreError> {
        self.database.execute(
            "UPDATE oauth_grants SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL",
            params![grant, self.now.0],
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
