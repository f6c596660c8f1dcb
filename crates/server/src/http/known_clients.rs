//! The clients over HTTP: all of them without authentication, otherwise those with one of the owner's tokens, a token of our
//! authorization server, or a JSON web token.

use std::sync::Arc;

use axum::http::{HeaderMap, header};
use lapidary_auth::{
    AccessRecord, AuthStore, AuthStoreError, BearerClaims, GrantRecord, IssuerRefusal, IssuerVerifier, ScopeSet,
    SecretKind, SecretText, SharedSecretVerifier, TokenRefusal, TokenRights, UnixSeconds, is_same_digest,
};
use lapidary_note::ContentHash;
use lapidary_pipeline::{CallerStanding, Clock, Grant};

use super::oauth::IssuerKeyCache;
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
    /// The scopes of a token that its client can get more of.
    pub(super) scopes: Option<Arc<ScopeSet>>,
}

impl KnownClient {
    /// The principal's name of a client that the owner has named.
    pub(crate) fn name_of(token: &str) -> String {
        format!("http:{token}")
    }

    /// Its token is in the configuration, and valid as long as the server runs.
    pub(crate) fn configured(token: &str, grant: Arc<Grant>) -> Self {
        let name = Self::name_of(token);
        Self { key: name.clone(), name, grant, standing: CallerStanding::default(), scopes: None }
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
    /// Without a token everything is allowed. A client that sends one of the owner's tokens has only that token's rights.
    TokenOptional { store: Arc<AuthStore> },
    /// With a token in the configuration, or one that the owner created.
    OwnerTokens { configured: Arc<[ConfiguredClient]>, store: Arc<AuthStore> },
    /// With one of these, or one that the built-in authorization server has issued.
    BuiltIn { configured: Arc<[ConfiguredClient]>, store: Arc<AuthStore> },
    /// With a JSON web token, signed with a shared secret.
    SharedSecret { verifier: Arc<SharedSecretVerifier>, checks_scopes: bool },
    /// With a JSON web token of another issuer.
    Issuer { verifier: Arc<IssuerVerifier>, keys: Arc<IssuerKeyCache>, checks_scopes: bool },
}

/// Identifies the sender of a request.
#[derive(Clone)]
pub(crate) struct KnownClients {
    pub(crate) check: ClientCheck,
    pub(crate) grants: Arc<GrantMaker>,
    pub(crate) clock: Clock,
    /// The passphrase and the sessions of the owner.
    pub(crate) owner: Arc<AuthStore>,
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
    pub(super) async fn find(&self, headers: &HeaderMap) -> Result<Option<KnownClient>, UnknownClient> {
        let refused = |refusal, was_sent| UnknownClient::WebToken { refusal, was_sent };
        match &self.check {
            ClientCheck::TokenOptional { store } => {
                // A token of another kind is ignored where none is required, as every header that is not ours.
                let own = bearer(headers).filter(|token| SecretText::recognise(token) == Some(SecretKind::Personal));
                // One that was revoked must not turn into full access, so it is refused here too.
                own.map(|token| self.by_owner_token(token, &[], store)).transpose()
            }
            ClientCheck::OwnerTokens { configured, store } | ClientCheck::BuiltIn { configured, store } => {
                let token = bearer(headers).ok_or(UnknownClient::NoToken)?;
                self.by_owner_token(token, configured, store).map(Some)
            }
            ClientCheck::SharedSecret { verifier, checks_scopes } => {
                let token = bearer(headers).ok_or(refused(TokenRefusal::Missing, false))?;
                let claims = verifier.verify(token, self.now()).map_err(|refusal| refused(refusal, true))?;
                self.by_claims("jwt", claims, *checks_scopes).map(Some)
            }
            ClientCheck::Issuer { verifier, keys, checks_scopes } => {
                let token = bearer(headers).ok_or(refused(TokenRefusal::Missing, false))?;
                let claims = self.by_issuer(token, verifier, keys).await?;
                self.by_claims("oauth", claims, *checks_scopes).map(Some)
            }
        }
    }

    /// What another issuer says of a client. Its keys are fetched where they are missing, and once more for a token that
    /// names one of them that is not known.
    async fn by_issuer(
        &self,
        token: &str,
        verifier: &IssuerVerifier,
        cache: &IssuerKeyCache,
    ) -> Result<BearerClaims, UnknownClient> {
        let refused = |refusal| UnknownClient::WebToken { refusal, was_sent: true };
        let keys = cache.keys().await.ok_or(UnknownClient::Unavailable)?;
        let verified = match verifier.verify(token, &keys, self.now()) {
            // Keys are rotated: a token may be signed with one that was published since the last look.
            Err(IssuerRefusal::UnknownKey) => match cache.newer(&keys).await {
                Some(newer) => verifier.verify(token, &newer, self.now()),
                None => Err(IssuerRefusal::UnknownKey),
            },
            verified => verified,
        };
        verified.map_err(|refusal| match refusal {
            IssuerRefusal::UnknownKey => refused(TokenRefusal::Failed),
            IssuerRefusal::Refused(refusal) => refused(refusal),
        })
    }

    fn by_owner_token(
        &self,
        token: &str,
        configured: &[ConfiguredClient],
        store: &Arc<AuthStore>,
    ) -> Result<KnownClient, UnknownClient> {
        let digest = ContentHash::of(token.as_bytes());
        // All are compared, so that the time does not tell which one it is.
        // Collected rather than found: `find` would stop at the first match.
        let known: Vec<&KnownClient> = configured
            .iter()
            .filter(|known| is_same_digest(&known.digest, &digest))
            .map(|known| &known.client)
            .collect();
        if let Some(client) = known.first() {
            return Ok((*client).clone());
        }
        // Most wrong tokens are other services' tokens; they need no query.
        match SecretText::recognise(token) {
            Some(SecretKind::Personal) => {}
            // Tokens of our authorization server count only where that server runs.
            Some(SecretKind::Access) if matches!(self.check, ClientCheck::BuiltIn { .. }) => {
                return self.by_access_token(&digest, store);
            }
            _ => return Err(UnknownClient::BadToken),
        }
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
            scopes: None,
        };
        // After everything that can refuse it.
        // The time of use is written at most once in a while, not with every request.
        if !record.is_use_noted(self.now()) {
            self.note_use(store, move |store, now| store.used(&record, now));
        }
        Ok(client)
    }

    fn by_access_token(&self, digest: &ContentHash, store: &Arc<AuthStore>) -> Result<KnownClient, UnknownClient> {
        let found = store.find_access(digest, self.now()).map_err(|error| unavailable(&error))?;
        let record = found.ok_or(UnknownClient::BadToken)?;
        let AccessRecord { grant: id, expires, .. } = record;
        let grant = self.granted(&record.rights)?;
        let standing = {
            let (store, clock) = (Arc::clone(store), self.clock);
            CallerStanding::asked_of(move || {
                let now = UnixSeconds::from(clock.now());
                // Its end is known here, so an expired token needs no query.
                now < expires && store.is_grant_live(id, now).unwrap_or(false)
            })
        };
        let scopes = record.rights.scopes.as_ref().map(|scopes| Arc::new(ScopeSet::new(scopes)));
        if !record.is_use_noted(self.now()) {
            self.note_use(store, move |store, now| store.used_grant(&record, now));
        }
        // The next token of the same grant is the same client, and keeps its sessions.
        let name = KnownClient::name_of(&GrantRecord::name_of(id));
        Ok(KnownClient { key: format!("grant {id}"), name, grant, standing, scopes })
    }

    fn by_claims(&self, kind: &str, claims: BearerClaims, checks_scopes: bool) -> Result<KnownClient, UnknownClient> {
        // Without scopes there is nothing that narrows the rights of the server's profile.
        let scopes = checks_scopes.then(|| claims.scopes.iter().map(str::to_owned).collect());
        let grant = self.granted(&TokenRights { scopes, ..TokenRights::default() })?;
        let BearerClaims { client, subject, tenant, expires, .. } = claims;
        let clock = self.clock;
        let mut name = format!("{kind}:{}", label(&client));
        // Two subjects of one client are two principals; so are two tenants.
        for part in [&subject, &tenant] {
            name.push('/');
            // Also for a missing part, so that the position of the others stays the same.
            name += &part.as_deref().map(label).unwrap_or_default();
        }
        let name = name.trim_end_matches('/').to_owned();
        let standing = CallerStanding::asked_of(move || UnixSeconds::from(clock.now()) < expires);
        // With quotes around each part, so that no choice of names can make two clients one.
        let key = format!("{name} {client:?} {subject:?} {tenant:?}");
        Ok(KnownClient { key, name, grant, standing, scopes: None })
    }

    fn granted(&self, rights: &TokenRights) -> Result<Arc<Grant>, UnknownClient> {
        self.grants.grant(rights).map_err(|error| {
            tracing::warn!("a token cannot be used: {error}");
            // Not an error of the client: its token is valid, but for something that is not served here.
            UnknownClient::NothingServed
        })
    }

    /// In the background: no request waits for a disk because of it.
    fn note_use<N>(&self, store: &Arc<AuthStore>, note: N)
    where
        N: FnOnce(&AuthStore, UnixSeconds) -> Result<(), AuthStoreError> + Send + 'static,
    {
        let (store, now) = (Arc::clone(store), self.now());
        tokio::task::spawn_blocking(move || {
            if let Err(error) = note(&store, now) {
                tracing::debug!(%error, "the use of a token was not recorded");
            }
        });
    }

    fn now(&self) -> UnixSeconds {
        self.clock.now().into()
    }
}

fn unavailable(error: &AuthStoreError) -> UnknownClient {
    tracing::error!("tokens cannot be looked up: {error}");
    UnknownClient::Unavailable
}

/// The token of a request.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
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
