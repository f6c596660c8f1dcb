//! The public keys of another issuer (RFC 7517), and the tokens that are signed with one of them.

use std::str::FromStr;

use jsonwebtoken::{
    Algorithm, DecodingKey,
    crypto::verify,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse},
};
use serde_json::Value;

use crate::{
    BearerClaims, TokenRefusal, UnixSeconds,
    json_web_token::{ExpectedClaims, ReadToken},
};

/// An issuer has two or three; a set with more of them is not read to the end.
const MOST_KEYS: usize = 100;

const RSA_ALGORITHMS: [Algorithm; 6] =
    [Algorithm::RS256, Algorithm::RS384, Algorithm::RS512, Algorithm::PS256, Algorithm::PS384, Algorithm::PS512];

/// Those keys of a set that can check a signature. Shared secrets are not among them, whatever the set says.
pub struct IssuerKeys(Vec<IssuerKey>);

struct IssuerKey {
    id: Option<String>,
    key: DecodingKey,
    /// What the key is for. A token cannot choose another.
    algorithms: Vec<Algorithm>,
}

/// Why a token of an issuer is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssuerRefusal {
    /// It names a key that is not in the set, which may be newer than the set.
    UnknownKey,
    Refused(TokenRefusal),
}

impl IssuerKeys {
    /// `None` if this is not a set of keys. A key that cannot be used does not spoil the others.
    pub fn parse(json: &[u8]) -> Option<Self> {
        let set: Value = serde_json::from_slice(json).ok()?;
        let keys = set.get("keys")?.as_array()?;
        Some(Self(keys.iter().take(MOST_KEYS).filter_map(IssuerKey::parse).collect()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key that a token names. If there is only one key, its name may be left out.
    fn find(&self, id: Option<&str>) -> Option<&IssuerKey> {
        match (id, &self.0[..]) {
            // A key is found by its name alone. Trying them all would let a token choose.
            (Some(id), keys) => keys.iter().find(|key| key.id.as_deref() == Some(id)),
            (None, [only]) => Some(only),
            // Several keys and no name: guessing would accept a token under the wrong one.
            (None, _) => None,
        }
    }
}

impl IssuerKey {
    fn parse(written: &Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(written.clone()).ok()?;
        let common = &jwk.common;
        let is_for_signatures =
            // A key that does not say what it is for may be used for signatures (RFC 7517, 4.2).
            common.public_key_use.as_ref().is_none_or(|purpose| *purpose == PublicKeyUse::Signature)
                && common.key_operations.as_ref().is_none_or(|all| all.contains(&KeyOperations::Verify));
        let algorithms: &[Algorithm] = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => &RSA_ALGORITHMS,
            AlgorithmParameters::EllipticCurve(key) => match key.curve {
                EllipticCurve::P256 => &[Algorithm::ES256],
                EllipticCurve::P384 => &[Algorithm::ES384],
                _ => &[],
            },
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => &[Algorithm::EdDSA],
            _ => &[],
        };
        // What the set says of the key narrows what its type can do, and never adds to it.
        let own = common.key_algorithm.map(|algorithm| algorithm.to_string());
        let is_own = |algorithm: &&Algorithm| own.as_ref().is_none_or(|own| *own == format!("{algorithm:?}"));
        let algorithms: Vec<Algorithm> = algorithms.iter().filter(is_own).copied().collect();
        if !is_for_signatures || algorithms.is_empty() {
            return None;
        }
        Some(Self { id: common.key_id.clone(), key: DecodingKey::from_jwk(&jwk).ok()?, algorithms })
    }
}

/// Checks tokens of one issuer, for one audience.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuerVerifier {
    pub issuer: String,
    pub audience: String,
    /// What `resource` or `aud` has to name as well.
    pub resource: Option<String>,
}

impl IssuerVerifier {
    pub fn verify(&self, token: &str, keys: &IssuerKeys, now: UnixSeconds) -> Result<BearerClaims, IssuerRefusal> {
        let failed = || IssuerRefusal::Refused(TokenRefusal::Failed);
        let read = ReadToken::parse(token).ok_or_else(failed)?;
        // The algorithm `none` is not in the list of the library, so it ends here.
        let algorithm = read.algorithm().and_then(|name| Algorithm::from_str(name).ok()).ok_or_else(failed)?;
        // The only refusal that may go away by itself: keys are rotated.
        let key = keys.find(read.key_id()).ok_or(IssuerRefusal::UnknownKey)?;
        // Before the signature is looked at: the header of a token is written by its sender.
        if !key.algorithms.contains(&algorithm) {
            return Err(failed());
        }
        match verify(read.signature_text, read.signed.as_bytes(), &key.key, algorithm) {
            Ok(true) => {}
            Ok(false) | Err(_) => return Err(failed()),
        }
        // Last: the claims of a token count only once its signature does.
        let expected = ExpectedClaims {
            issuer: Some(&self.issuer),
            audience: Some(&self.audience),
            resource: self.resource.as_deref(),
        };
        expected.check(&read.claims, now).map_err(IssuerRefusal::Refused)
    }
}

#[cfg(test)]
mod tests;
