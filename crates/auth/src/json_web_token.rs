//! JSON web tokens: how they are read, those signed with a shared secret (HS256), and their claims.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value};
use sha2::Sha256;

use crate::{ScopeSet, UnixSeconds};

/// Longer ones are refused unread.
const MAX_TOKEN_BYTES: usize = 8 * 1024;
/// By how much the clocks of two machines may differ.
const CLOCK_SKEW: i64 = 60;
/// Shorter secrets can be guessed.
const SHORTEST_SECRET: usize = 32;

/// Why a token is refused, in the words that clients of the original know. More detail would help to forge one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    #[error("Missing or invalid Authorization header. Bearer scheme required.")]
    Missing,
    #[error("Invalid token: missing 'cid' or 'client_id' claim.")]
    NoClient,
    #[error("Token must contain valid, non-empty scopes.")]
    NoScopes,
    #[error("Token has expired.")]
    Expired,
    #[error("Token verification failed.")]
    Failed,
}

/// The sender of a token, and what it allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BearerClaims {
    pub client: String,
    pub subject: Option<String>,
    pub tenant: Option<String>,
    pub scopes: ScopeSet,
    /// When it expires.
    pub expires: UnixSeconds,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write at least {SHORTEST_SECRET} characters")]
pub struct WeakSecret;

/// Checks tokens of one issuer.
#[derive(Clone)]
pub struct SharedSecretVerifier {
    key: Hmac<Sha256>,
    /// Compared exactly; `None` takes any.
    issuer: Option<String>,
    audience: Option<String>,
}

impl SharedSecretVerifier {
    pub fn new(secret: &str, issuer: Option<String>, audience: Option<String>) -> Result<Self, WeakSecret> {
        // Guessing is limited by length; nothing can be said about how random it is.
        if secret.chars().count() < SHORTEST_SECRET {
            return Err(WeakSecret);
        }
        let key = Hmac::new_from_slice(secret.as_bytes()).map_err(|_| WeakSecret)?;
        Ok(Self { key, issuer, audience })
    }

    pub fn verify(&self, token: &str, now: UnixSeconds) -> Result<BearerClaims, TokenRefusal> {
        let read = ReadToken::parse(token).ok_or(TokenRefusal::Failed)?;
        // The algorithm is that of the key; the header has to agree.
        if read.algorithm() != Some("HS256") {
            return Err(TokenRefusal::Failed);
        }
        let mut mac = self.key.clone();
        mac.update(read.signed.as_bytes());
        // Constant time, and before any claim is looked at.
        mac.verify_slice(&read.signature).map_err(|_| TokenRefusal::Failed)?;
        let (issuer, audience) = (self.issuer.as_deref(), self.audience.as_deref());
        let expected = ExpectedClaims { issuer, audience, resource: None };
        expected.check(&read.claims, now)
    }
}

impl std::fmt::Debug for SharedSecretVerifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedSecretVerifier").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// The parts of a token, unverified.
pub(crate) struct ReadToken<'a> {
    /// The signed part.
    pub(crate) signed: &'a str,
    header: Map<String, Value>,
    pub(crate) claims: Map<String, Value>,
    signature: Vec<u8>,
    /// As it was sent.
    pub(crate) signature_text: &'a str,
}

impl<'a> ReadToken<'a> {
    pub(crate) fn parse(token: &'a str) -> Option<Self> {
        // Before anything is decoded.
        if token.len() > MAX_TOKEN_BYTES {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        Some(Self {
            signed,
            header: object(header)?,
            claims: object(claims)?,
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
            signature_text: signature,
        })
    }

    /// The algorithm in the header, if the header requires nothing beyond a signature.
    pub(crate) fn algorithm(&self) -> Option<&str> {
        // Critical extensions are not supported.
        if self.header.contains_key("crit") {
            return None;
        }
        let is_token = match self.header.get("typ") {
            None => true,
            Some(Value::String(kind)) => {
                let kind = kind.to_ascii_lowercase();
                matches!(kind.strip_prefix("application/").unwrap_or(&kind), "jwt" | "at+jwt")
            }
            Some(_) => false,
        };
        is_token.then(|| self.header.get("alg")?.as_str()).flatten()
    }

    /// The name of the key in the header. It is compared, and never used to look anything up.
    pub(crate) fn key_id(&self) -> Option<&str> {
        self.header.get("kid")?.as_str()
    }
}

fn object(part: &str) -> Option<Map<String, Value>> {
    let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
    match serde_json::from_slice(&bytes).ok()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// What claims must satisfy in addition to their signature.
pub(crate) struct ExpectedClaims<'a> {
    pub(crate) issuer: Option<&'a str>,
    pub(crate) audience: Option<&'a str>,
    /// What `resource` or `aud` has to name (RFC 8707).
    pub(crate) resource: Option<&'a str>,
}

impl ExpectedClaims<'_> {
    pub(crate) fn check(&self, claims: &Map<String, Value>, now: UnixSeconds) -> Result<BearerClaims, TokenRefusal> {
        let expires = moment(claims.get("exp")).ok_or(TokenRefusal::Failed)?;
        if now.0 >= expires.saturating_add(CLOCK_SKEW) {
            return Err(TokenRefusal::Expired);
        }
        // A claim that cannot be read is refused rather than ignored.
        let not_before = claims.get("nbf").map(|claim| moment(Some(claim)).ok_or(TokenRefusal::Failed)).transpose()?;
        let is_early = not_before.is_some_and(|moment| now.0.saturating_add(CLOCK_SKEW) < moment);
        let issuer_differs = self.issuer.is_some_and(|issuer| text(claims, "iss") != Some(issuer));
        let audience_differs = self.audience.is_some_and(|audience| !is_for(claims.get("aud"), audience));
        let is_ours = |resource| is_for(claims.get("resource"), resource) || is_for(claims.get("aud"), resource);
        let resource_differs = self.resource.is_some_and(|resource| !is_ours(resource));
        if is_early || issuer_differs || audience_differs || resource_differs {
            return Err(TokenRefusal::Failed);
        }
        let client =
            // The original took either, in this order.
            ["cid", "client_id"].into_iter().find_map(|name| text(claims, name)).ok_or(TokenRefusal::NoClient)?;
        let mut scopes = ScopeSet::default();
        for name in ["scp", "scope", "mcp_tool_scopes"] {
            scopes.add_claim(claims.get(name));
        }
        if scopes.is_empty() {
            return Err(TokenRefusal::NoScopes);
        }
        Ok(BearerClaims {
            client: client.to_owned(),
            subject: text(claims, "sub").map(str::to_owned),
            tenant: text(claims, "tid").map(str::to_owned),
            scopes,
            // The same tolerance as above, or a call could be refused midway that was accepted at its start.
            expires: UnixSeconds(expires.saturating_add(CLOCK_SKEW)),
        })
    }
}

fn text<'c>(claims: &'c Map<String, Value>, name: &str) -> Option<&'c str> {
    claims.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// Seconds since 1970. Some issuers write a fraction.
fn moment(claim: Option<&Value>) -> Option<i64> {
    let claim = claim?;
    claim.as_i64().or_else(|| claim.as_f64().filter(|seconds| seconds.abs() < 1e15).map(|seconds| seconds as i64))
}

/// An audience is one name or a list of them.
fn is_for(claim: Option<&Value>, audience: &str) -> bool {
    match claim {
        Some(Value::String(one)) => one == audience,
        Some(Value::Array(all)) => all.iter().any(|one| one.as_str() == Some(audience)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
