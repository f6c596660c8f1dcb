//! The built-in authorization server without its pages: a request is checked, the owner consents, a code becomes tokens, and
//! tokens become others (OAuth 2.1 with PKCE). Tokens are random and kept as hashes, so that revoking holds at once.

mod token_call;

use lapidary_note::ContentHash;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};

use crate::{
    AuthStore, AuthStoreError, ClientSource, FormParameters, NewEvent, OAuthClient, RandomBytes, RedirectUri,
    SecretKind, SecretText, SecurityEventKind, TokenRights, UnixSeconds,
    oauth_clients::{forget_unused, is_authentic},
};
use token_call::TokenCall;

// In seconds. A code is exchanged at once by a program that waits for it.
const CODE_LIFE: i64 = 120;
const REFRESH_LIFE: i64 = 90 * 24 * 60 * 60;
const STATE_BYTES: usize = 1024;
/// What a client can ask for. Folders and vaults are the owner's choice and in no scope.
const SCOPES: [&str; 4] = ["vault:read", "vault:write", "vault:destroy", "offline_access"];
/// The first of these, each covering those before it.
const VAULT_SCOPES: usize = 3;
const DEFAULT_SCOPES: [&str; 2] = ["vault:read", "vault:write"];

/// What the server is called, and for what its tokens are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationRules {
    /// The public origin, without a slash at the end.
    pub issuer: String,
    /// The address of the MCP endpoint.
    pub resource: String,
    pub access_life: i64,
    /// Where programs may be sent back to; `None` is anywhere that is safe in itself.
    pub redirects: Option<Vec<String>>,
}

/// Hosted clients do not get a new token in the middle of a conversation.
const ACCESS_LIFE: i64 = 24 * 60 * 60;

impl AuthorizationRules {
    pub fn new(issuer: &str, endpoint: &str) -> Self {
        let resource = format!("{issuer}{endpoint}");
        Self { issuer: issuer.to_owned(), resource, access_life: ACCESS_LIFE, redirects: None }
    }

    pub fn may_return_to(&self, redirect: &RedirectUri) -> bool {
        self.redirects.as_ref().is_none_or(|list| redirect.is_among(list))
    }

    /// Whether a client means this server: written exactly, with a slash more or less, or as the origin alone.
    fn is_ours(&self, resource: &str) -> bool {
        // A slash at the end is the usual difference between two spellings.
        let plain = |text: &str| text.strip_suffix('/').unwrap_or(text).to_owned();
        let (scheme, rest) = resource.split_once("://").unwrap_or_default();
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        // Scheme and host are compared regardless of case, the path is not.
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

/// Who calls `/token`.
#[derive(Clone, Copy, Debug)]
pub struct TokenSender<'a> {
    /// The name and the secret in `Authorization: Basic`.
    pub basic: Option<(&'a str, &'a str)>,
    /// From where, for the owner's log.
    pub address: &'a str,
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
    /// A code or a token was used again, so that one of its two senders has stolen it. What it gave is revoked.
    UsedAgain {
        grant: i64,
    },
}

impl GrantRefusal {
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            // RFC 6749 has no word for the theft of a code; it is an invalid grant.
            Self::InvalidGrant | Self::UsedAgain { .. } => "invalid_grant",
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
    pub expires: UnixSeconds,
    /// Of the grant, to the minute.
    pub last_used: Option<UnixSeconds>,
}

/// What the owner has granted to a client, as the owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRecord {
    pub id: i64,
    pub client: String,
    pub client_name: String,
    pub rights: TokenRights,
    pub scope: String,
    pub created: UnixSeconds,
    pub ends: UnixSeconds,
    pub last_used: Option<UnixSeconds>,
    pub revoked: Option<UnixSeconds>,
    /// `owner`, `client`, or what was used again: `code`, `refresh token`.
    pub revoked_by: Option<String>,
}

impl GrantRecord {
    /// By which name the owner calls it. No token can have one like it.
    pub fn name_of(id: i64) -> String {
        format!("{GRANT_NAME}{id}")
    }

    /// The number of a grant that is called like this.
    pub fn number_in(name: &str) -> Option<i64> {
        name.strip_prefix(GRANT_NAME)?.parse().ok()
    }

    pub fn is_live(&self, now: UnixSeconds) -> bool {
        self.revoked.is_none() && now < self.ends
    }
}

const GRANT_NAME: &str = "oauth-";
/// The precision of the last use.
const LAST_USED_STEP: i64 = 60;

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
    /// The owner has consented: the address to send the browser to, with a code that counts once. `None` if the client
    /// was forgotten in the meantime.
    pub fn approve(
        &self,
        request: &AuthorizationRequest,
        given: &ConsentGiven,
        rules: &AuthorizationRules,
        random: &RandomBytes,
        now: UnixSeconds,
    ) -> Result<Option<String>, AuthStoreError> {
        let code = SecretText::mint(SecretKind::Code, random);
        let scopes: Vec<&str> = given
            .scopes
            .iter()
            .map(String::as_str)
            // The form of the owner's page comes back through the browser; it must not add scopes that were not asked
            // for.
            .filter(|scope| request.scopes.iter().any(|asked| asked == scope))
            .collect();
        let rights =
            serde_json::to_string(&given.rights).map_err(|error| AuthStoreError::Unusable(error.to_string()))?;
        // One transaction: the client, the grant and the code are all there, or none.
        let is_known = self.write(|database| {
            // Here as well as at registration, so that the table stays small on every way.
            forget_unused(database, now)?;
            if !keep_client(database, &request.client, now)? {
                return Ok(false);
            }
            database.execute(
                "INSERT INTO oauth_grants (client, rights, scope, created, ends) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![request.client.id, rights, scopes.join(" "), now.0, given.lasts_until.0],
            )?;
            let grant = database.last_insert_rowid();
            // Codes are kept long after they expire: a second use must be recognised for as long as tokens from the
            // first one live.
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
            let subject = grant_in_words(database, grant)?;
            NewEvent::of(SecurityEventKind::Granted, &subject).write(database, now)?;
            Ok(true)
        })?;
        if !is_known {
            return Ok(None);
        }
        let mut parameters = vec![("code", code.reveal())];
        // Sent back as it came: the client compares it.
        parameters.extend(request.state.as_deref().map(|state| ("state", state)));
        // RFC 9207: with the issuer in the answer, a client cannot be made to send our code to another server.
        parameters.push(("iss", &rules.issuer));
        Ok(Some(request.redirect.with_parameters(&parameters)))
    }

    /// Answers `/token`: a code or a refresh token becomes a pair of tokens.
    pub fn issue_tokens(
        &self,
        form: &FormParameters,
        sender: TokenSender<'_>,
        rules: &AuthorizationRules,
        random: &[RandomBytes; 2],
        now: UnixSeconds,
    ) -> Result<Result<IssuedTokens, GrantRefusal>, AuthStoreError> {
        // RFC 6749 forbids both at once; the header counts.
        let (id, secret) = match sender.basic {
            Some((id, secret)) => (Some(id), Some(secret)),
            None => (form.get("client_id"), form.get("client_secret")),
        };
        // A refusal may have revoked something, so it is written down like a success.
        self.write(|database| {
            let Some(client) = id else { return Ok(Err(GrantRefusal::InvalidClient)) };
            // Checked for public clients too, which have no secret to show but must exist.
            if !is_authentic(database, client, secret)? {
                return Ok(Err(GrantRefusal::InvalidClient));
            }
            // RFC 8707: a token must not be issued for another server.
            if form.get("resource").is_some_and(|resource| !rules.is_ours(resource)) {
                return Ok(Err(GrantRefusal::InvalidTarget));
            }
            let call = TokenCall { database, client, address: sender.address, form, rules, random, now };
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
            // The token, its grant and the life of both, in one query.
            let mut found = database.prepare_cached(
                "SELECT g.id, g.rights, t.scope, c.name, t.expires, g.last_used FROM oauth_tokens t
                 JOIN oauth_grants g ON g.id = t.grant_id JOIN oauth_clients c ON c.id = g.client
                 WHERE t.digest = ?1 AND t.kind = 'access' AND t.expires > ?2 AND g.revoked IS NULL AND g.ends > ?2",
            )?;
            let row = |row: &rusqlite::Row<'_>| {
                Ok((
                    row.get::<_, i64>(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, String>(2)?,
                    row.get::<_, String>(3)?,
                    row.get::<_, i64>(4)?,
                    row.get::<_, Option<i64>>(5)?,
                ))
            };
            let found = found.query_row(params![digest.as_bytes(), now.0], row).optional()?;
            let Some((grant, rights, scope, client_name, expires, last_used)) = found else { return Ok(None) };
            let rights: TokenRights =
                serde_json::from_str(&rights).map_err(|error| AuthStoreError::Unusable(error.to_string()))?;
            let scopes = Some(scope.split_whitespace().map(str::to_owned).collect());
            // The token's own scopes, which may be fewer than those of the grant.
            let (expires, last_used) = (UnixSeconds(expires), last_used.map(UnixSeconds));
            Ok(Some(AccessRecord { grant, client_name, rights: TokenRights { scopes, ..rights }, expires, last_used }))
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

    /// All grants that were ever given, oldest first.
    pub fn grants(&self) -> Result<Vec<GrantRecord>, AuthStoreError> {
        self.read(Vec::new(), |database| {
            let mut all = database.prepare_cached(
                "SELECT g.id, g.client, coalesce(c.name, g.client), g.rights, g.scope, g.created, g.ends, g.last_used, g.revoked,
                        g.revoked_by
                 FROM oauth_grants g LEFT JOIN oauth_clients c ON c.id = g.client ORDER BY g.id",
            )?;
            let all = all.query_map([], grant_record)?;
            Ok(all.collect::<Result<_, _>>()?)
        })
    }

    /// The owner takes back a grant; returns whether there was a valid one.
    pub fn revoke_grant(&self, grant: i64, now: UnixSeconds) -> Result<bool, AuthStoreError> {
        // Outside of the transaction, so that nothing is created for a grant that never was.
        if !self.is_grant_live(grant, now)? {
            return Ok(false);
        }
        self.write(|database| end_grant(database, grant, GrantEnd::Owner, None, now))
    }

    /// Records the use of a grant, to the minute.
    pub fn used_grant(&self, access: &AccessRecord, now: UnixSeconds) -> Result<(), AuthStoreError> {
        if access.is_use_noted(now) {
            return Ok(());
        }
        self.write(|database| {
            database.execute("UPDATE oauth_grants SET last_used = ?2 WHERE id = ?1", params![access.grant, now.0])?;
            Ok(())
        })
    }

    /// Takes back what a token stands for (RFC 7009), if it is this client's and the client shows who it is. The answer does
    /// not tell whether there was one.
    pub fn revoke_issued(
        &self,
        token: &str,
        client: &str,
        secret: Option<&str>,
        now: UnixSeconds,
    ) -> Result<(), AuthStoreError> {
        // By its hash alone: the secret itself is stored nowhere.
        let digest = ContentHash::of(token.as_bytes());
        self.write(|database| {
            if !is_authentic(database, client, secret)? {
                return Ok(());
            }
            let query = "SELECT g.id FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id
                 WHERE t.digest = ?1 AND g.client = ?2";
            let grant = database.query_row(query, params![digest.as_bytes(), client], |row| row.get(0)).optional()?;
            if let Some(grant) = grant {
                end_grant(database, grant, GrantEnd::Client, None, now)?;
            }
            Ok(())
        })
    }
}

/// Who or what ended a grant.
#[derive(Clone, Copy)]
pub(crate) enum GrantEnd {
    Owner,
    Client,
    /// These were used again.
    Code,
    RefreshToken,
}

impl GrantEnd {
    /// As the database and the owner's list call it.
    fn word(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Client => "client",
            Self::Code => "code",
            Self::RefreshToken => "refresh token",
        }
    }

    fn event(self) -> SecurityEventKind {
        match self {
            Self::Owner => SecurityEventKind::Revoked,
            Self::Client => SecurityEventKind::EndedByClient,
            Self::Code | Self::RefreshToken => SecurityEventKind::UsedAgain,
        }
    }
}

/// Ends a grant; returns whether it had not ended before.
pub(crate) fn end_grant(
    database: &Connection,
    grant: i64,
    end: GrantEnd,
    address: Option<&str>,
    now: UnixSeconds,
) -> Result<bool, AuthStoreError> {
    let ended = database.execute(
        "UPDATE oauth_grants SET revoked = ?2, revoked_by = ?3 WHERE id = ?1 AND revoked IS NULL",
        params![grant, now.0, end.word()],
    )?;
    if ended == 1 {
        let subject = grant_in_words(database, grant)?;
        NewEvent { address, ..NewEvent::of(end.event(), &subject) }.write(database, now)?;
    }
    Ok(ended == 1)
}

/// A grant by its name and that of its client, like `oauth-3 Claude`.
fn grant_in_words(database: &Connection, grant: i64) -> Result<String, AuthStoreError> {
    let query = "SELECT c.name FROM oauth_grants g JOIN oauth_clients c ON c.id = g.client WHERE g.id = ?1";
    let client: Option<String> = database.query_row(query, [grant], |row| row.get(0)).optional()?;
    Ok(format!("{} {}", GrantRecord::name_of(grant), client.unwrap_or_default()))
}

/// Keeps what is known of a client that was consented to; whether it is still known.
fn keep_client(database: &Connection, client: &OAuthClient, now: UnixSeconds) -> Result<bool, AuthStoreError> {
    if client.source == ClientSource::Registered {
        let query = "UPDATE oauth_clients SET consented = ?2 WHERE id = ?1";
        return Ok(database.execute(query, params![client.id, now.0])? == 1);
    }
    let redirects: Vec<&str> = client.redirects.iter().map(RedirectUri::as_str).collect();
    database.execute(
        "INSERT INTO oauth_clients (id, name, redirects, created, consented) VALUES (?1, ?2, ?3, ?4, ?4)
         ON CONFLICT (id) DO UPDATE SET name = ?2, redirects = ?3, consented = ?4",
        params![client.id, client.name, json!(redirects).to_string(), now.0],
    )?;
    Ok(true)
}

fn grant_record(row: &rusqlite::Row<'_>) -> Result<GrantRecord, rusqlite::Error> {
    let rights: String = row.get(3)?;
    let rights = serde_json::from_str(&rights)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(3, rusqlite::types::Type::Text, Box::new(error)))?;
    let moment = |column: usize| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(UnixSeconds));
    Ok(GrantRecord {
        id: row.get(0)?,
        client: row.get(1)?,
        client_name: row.get(2)?,
        rights,
        scope: row.get(4)?,
        created: UnixSeconds(row.get(5)?),
        ends: UnixSeconds(row.get(6)?),
        last_used: moment(7)?,
        revoked: moment(8)?,
        revoked_by: row.get(9)?,
    })
}

impl AccessRecord {
    /// Whether its use at about this time is already recorded.
    pub fn is_use_noted(&self, now: UnixSeconds) -> bool {
        self.last_used.is_some_and(|last| now.0 < last.0.saturating_add(LAST_USED_STEP))
    }
}

/// Checks what a client sent to `/authorize`. Without a client, or with an address that is not its own, the browser is
/// not sent anywhere.
pub fn check_authorization(
    parameters: &FormParameters,
    client: Option<OAuthClient>,
    rules: &AuthorizationRules,
) -> Result<AuthorizationRequest, AuthorizeRefusal> {
    let Some(client) = client else {
        return Err(AuthorizeRefusal::OnPage("This program is not registered here."));
    };
    let redirect = match (parameters.get("redirect_uri"), &client.redirects[..]) {
        // A client with one address need not name it. With several, guessing would send the code somewhere else.
        (None, [only]) => Some(only.clone()),
        (None, _) => None,
        (Some(given), registered) => {
            RedirectUri::parse(given).filter(|given| registered.iter().any(|known| given.matches(known)))
        }
    };
    let Some(redirect) = redirect.filter(|redirect| rules.may_return_to(redirect)) else {
        return Err(AuthorizeRefusal::OnPage("The address to return to is not one of this program's."));
    };
    request(parameters, client, redirect, rules)
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
    // From here on, refusals go to the client: it is proven that the address is its own.
    if parameters.get("response_type") != Some("code") {
        return Err(refused("unsupported_response_type"));
    }
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    // The length of a SHA-256 hash in base64url.
    let is_challenge = |text: &&str| text.len() == 43 && text.bytes().all(is_letter);
    let challenge = parameters.get("code_challenge").filter(is_challenge);
    // Only S256. With `plain`, any program that sees the request could redeem the code.
    let is_hashed = parameters.get("code_challenge_method") == Some("S256");
    let (Some(challenge), true) = (challenge, is_hashed) else { return Err(refused("invalid_request")) };
    // A state that is too long is refused, not cut: the client could not recognise it.
    if parameters.get("state").is_some() && state.is_none() {
        return Err(refused("invalid_request"));
    }
    if parameters.get("resource").is_some_and(|resource| !rules.is_ours(resource)) {
        return Err(refused("invalid_target"));
    }
    let asked: Vec<&str> = parameters.get("scope").unwrap_or_default().split_whitespace().collect();
    let strongest = SCOPES[..VAULT_SCOPES].iter().rposition(|scope| asked.contains(scope));
    // What is asked for covers what is below it, so that the owner can grant less. `offline_access` alone would open nothing.
    let vault = strongest.map_or(&DEFAULT_SCOPES[..], |strongest| &SCOPES[..=strongest]);
    let others = SCOPES[VAULT_SCOPES..].iter().filter(|scope| asked.contains(scope));
    let scopes: Vec<String> = vault.iter().chain(others).map(|scope| (*scope).to_owned()).collect();
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

#[cfg(test)]
mod tests;
