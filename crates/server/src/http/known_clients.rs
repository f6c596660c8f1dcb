//! The clients over HTTP: all of them without authentication, otherwise those with one of the owner's tokens or a JSON
//! web token.

use std::sync::Arc;

use axum::http::{HeaderMap, header};
use lapidary_auth::{
    AuthStore, AuthStoreError, BearerClaims, SecretText, SharedSecretVerifier, TokenRecord, TokenRefusal, TokenRights,
    UnixSeconds,
};
use lapidary_note::ContentHash;
use lapidary_pipeline::{CallerStanding, Clock, Grant};

use crate::grants::GrantMaker;

/// An authenticated client.
#[derive(Clone)]
pub(crate) struct KnownClient {
    /// The name of the principal; in the log.
    pub(crate) name: String,
    /// Distinguishes it from all others, also from a later one of the same name. Sessions belong to it.
    pub(super) key: String,
    pub(crate) grant: Arc<Grant>,
    pub(crate) standing: CallerStanding,
}

impl KnownClient {
    /// The principal's name of a client that the owner has named.
    pub(crate) fn name_of(token: &str) -> String {
        format!("http:{token}")
    }

    /// Its token is in the configuration, and valid as long as the server runs.
    pub(crate) fn configured(token: &str, grant: Arc<Grant>) -> Self {
        let name = Self::name_of(token);
        Self { key: name.clone(), name, grant, standing: CallerStanding::default() }
    }
}

/// A client of the configuration, and the hash of its token.
#[derive(Clone)]
pub(crate) struct ConfiguredClient {
    pub(crate) digest: ContentHash,
    pub(crate) client: KnownClient,
}

/// How clients authenticate.
#[derive(Clone)]
pub(crate) enum ClientCheck {
    /// No authentication.
    Open,
    /// With a token in the configuration, or one that the owner created.
    OwnerTokens { configured: Arc<[ConfiguredClient]>, store: Arc<AuthStore> },
    /// With a JSON web token.
    SharedSecret { verifier: Arc<SharedSecretVerifier>, checks_scopes: bool },
}

/// Identifies the sender of a request.
#[derive(Clone)]
pub(crate) struct KnownClients {
    pub(crate) check: ClientCheck,
    pub(crate) grants: Arc<GrantMaker>,
    pub(crate) clock: Clock,
}

/// Why the credentials of a request identify no client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnknownClient {
    /// It has no token.
    NoToken,
    /// It has one that is not valid.
    BadToken,
    /// A JSON web token is missing or not valid, for a reason that may be reported.
    WebToken { refusal: TokenRefusal, was_sent: bool },
    /// The token is valid, but none of its vaults is served.
    NothingServed,
    /// The tokens cannot be looked up now.
    Unavailable,
}

impl KnownClients {
    /// The client that sent a request with these headers; `None` without authentication.
    pub(super) fn find(&self, headers: &HeaderMap) -> Result<Option<KnownClient>, UnknownClient> {
        match &self.check {
            ClientCheck::Open => Ok(None),
            ClientCheck::OwnerTokens { configured, store } => {
                let token = bearer(headers).ok_or(UnknownClient::NoToken)?;
                self.by_owner_token(token, configured, store).map(Some)
            }
            ClientCheck::SharedSecret { verifier, checks_scopes } => {
                let refused = |refusal, was_sent| UnknownClient::WebToken { refusal, was_sent };
                let token = bearer(headers).ok_or(refused(TokenRefusal::Missing, false))?;
                let claims = verifier.verify(token, self.now()).map_err(|refusal| refused(refusal, true))?;
                self.by_claims(claims, *checks_scopes).map(Some)
            }
        }
    }

    fn by_owner_token(
        &self,
        token: &str,
        configured: &[ConfiguredClient],
        store: &Arc<AuthStore>,
    ) -> Result<KnownClient, UnknownClient> {
        let digest = ContentHash::of(token.as_bytes());
        // All are compared to the end, so that the time reveals nothing.
        let same = |known: &ContentHash| {
            let bytes = known.as_bytes().iter().zip(digest.as_bytes());
            bytes.fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
        };
        let known: Vec<&KnownClient> =
            configured.iter().filter(|known| same(&known.digest)).map(|known| &known.client).collect();
        if let Some(client) = known.first() {
            return Ok((*client).clone());
        }
        SecretText::recognise(token).ok_or(UnknownClient::BadToken)?;
        let found = store.find_token(&digest, self.now()).map_err(|error| unavailable(&error))?;
        let record = found.ok_or(UnknownClient::BadToken)?;
        let grant = self.granted(&record.rights)?;
        let standing = {
            let (store, clock, id) = (Arc::clone(store), self.clock, record.id);
            // A database that does not respond grants nothing.
            CallerStanding::asked_of(move || store.is_live(id, clock.now().into()).unwrap_or(false))
        };
        let client = KnownClient {
            name: KnownClient::name_of(&record.name),
            key: format!("token {}", record.id),
            grant,
            standing,
        };
        self.note_use(record, store);
        Ok(client)
    }

    fn by_claims(&self, claims: BearerClaims, checks_scopes: bool) -> Result<KnownClient, UnknownClient> {
        let scopes = checks_scopes.then(|| claims.scopes.iter().map(str::to_owned).collect());
        let grant = self.granted(&TokenRights { scopes, ..TokenRights::default() })?;
        let BearerClaims { client, subject, tenant, expires, .. } = claims;
        let clock = self.clock;
        let mut name = format!("jwt:{}", label(&client));
        for part in [&subject, &tenant] {
            name.push('/');
            name += &part.as_deref().map(label).unwrap_or_default();
        }
        let name = name.trim_end_matches('/').to_owned();
        let standing = CallerStanding::asked_of(move || UnixSeconds::from(clock.now()) < expires);
        Ok(KnownClient { key: format!("{name} {client:?} {subject:?} {tenant:?}"), name, grant, standing })
    }

    fn granted(&self, rights: &TokenRights) -> Result<Arc<Grant>, UnknownClient> {
        self.grants.grant(rights).map_err(|error| {
            tracing::warn!("a token cannot be used: {error}");
            UnknownClient::NothingServed
        })
    }

    /// In the background: no request waits for a disk because of it.
    fn note_use(&self, record: TokenRecord, store: &Arc<AuthStore>) {
        let (store, now) = (Arc::clone(store), self.now());
        if !record.is_use_noted(now) {
            tokio::task::spawn_blocking(move || {
                if let Err(error) = store.used(&record, now) {
                    tracing::debug!(%error, "the use of a token was not recorded");
                }
            });
        }
    }

    fn now(&self) -> UnixSeconds {
        self.clock.now().into()
    }
}

fn unavailable(error: &AuthStoreError) -> UnknownClient {
    tracing::error!("tokens cannot be looked up: {error}");
    UnknownClient::Unavailable
}

/// The token of a request, if it has exactly one.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (value, None) = (values.next()?.to_str().ok()?, values.next()) else { return None };
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

/// A name that an issuer chose, as the log shows it: unchanged, or its hash if it is long or has unusual characters.
fn label(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '@' | '|');
    if name.len() <= 40 && name.chars().all(is_plain) {
        return name.to_owned();
    }
    let hash = ContentHash::of(name.as_bytes()).to_string();
    // No plain name starts with this.
    format!("#{}", hash.trim_start_matches("sha256:").chars().take(16).collect::<String>())
}
