//! Tokens of another issuer: every kind of key, and every way to be refused.

use aws_lc_rs::{
    encoding::AsDer,
    rsa::{KeyPair as RsaPair, KeySize},
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{EncodingKey, crypto::sign};
use serde_json::json;

use super::*;

const NOW: UnixSeconds = UnixSeconds(1_800_000_000);

/// A key pair, and the public half as a set has it.
struct Signer {
    key: EncodingKey,
    public: Value,
}

fn signer(algorithm: Algorithm, id: &str) -> Signer {
    let random = aws_lc_rs::rand::SystemRandom::new();
    let key = match algorithm {
        Algorithm::ES256 => EncodingKey::from_ec_der(
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap().as_ref(),
        ),
        Algorithm::ES384 => EncodingKey::from_ec_der(
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &random).unwrap().as_ref(),
        ),
        Algorithm::EdDSA => EncodingKey::from_ed_der(Ed25519KeyPair::generate_pkcs8v1(&random).unwrap().as_ref()),
        _ => {
            let pair = RsaPair::generate(KeySize::Rsa2048).unwrap();
            let der: aws_lc_rs::encoding::Pkcs8V1Der<'_> = pair.as_der().unwrap();
            EncodingKey::from_rsa_der(&rsa_part(der.as_ref()))
        }
    };
    let mut public = serde_json::to_value(Jwk::from_encoding_key(&key, algorithm).unwrap()).unwrap();
    public["kid"] = json!(id);
    Signer { key, public }
}

/// The key inside of PKCS #8: the last octet string, which is the last thing in it.
fn rsa_part(pkcs8: &[u8]) -> Vec<u8> {
    let inner = pkcs8.windows(4).enumerate().skip(4).find(|(_, bytes)| bytes[0] == 0x30 && bytes[1] == 0x82);
    pkcs8[inner.unwrap().0..].to_vec()
}

fn claims() -> Value {
    json!({
        "iss": "https://id.example", "aud": "notes", "client_id": "phone", "scope": "vault:read", "sub": "ada",
        "exp": NOW.0 + 100,
    })
}

fn token(signer: &Signer, algorithm: Algorithm, header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(header), part(claims));
    let signature = sign(signed.as_bytes(), &signer.key, algorithm).unwrap();
    format!("{signed}.{signature}")
}

fn verifier() -> IssuerVerifier {
    IssuerVerifier { issuer: "https://id.example".into(), audience: "notes".into(), resource: None }
}

fn set(keys: &[&Value]) -> IssuerKeys {
    IssuerKeys::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
}

const FAILED: IssuerRefusal = IssuerRefusal::Refused(TokenRefusal::Failed);

#[test]
fn every_kind_of_key_checks_its_own_tokens_and_no_others() {
    let kinds = [Algorithm::RS256, Algorithm::ES256, Algorithm::ES384, Algorithm::EdDSA];
    let signers: Vec<Signer> = kinds.iter().map(|kind| signer(*kind, &format!("{kind:?}"))).collect();
    let keys = set(&signers.iter().map(|signer| &signer.public).collect::<Vec<_>>());
    for (signer, kind) in signers.iter().zip(kinds) {
        let header = json!({ "alg": format!("{kind:?}"), "kid": format!("{kind:?}"), "typ": "at+jwt" });
        let good = token(signer, kind, &header, &claims());
        let read = verifier().verify(&good, &keys, NOW).unwrap_or_else(|refusal| panic!("{kind:?}: {refusal:?}"));
        assert_eq!((read.client.as_str(), read.subject.as_deref()), ("phone", Some("ada")));
        for other in kinds.iter().filter(|other| **other != kind) {
            let header = json!({ "alg": format!("{kind:?}"), "kid": format!("{other:?}") });
            assert_eq!(verifier().verify(&token(signer, kind, &header, &claims()), &keys, NOW), Err(FAILED));
        }
        let (body, signature) = good.rsplit_once('.').unwrap();
        let mut broken = URL_SAFE_NO_PAD.decode(signature).unwrap();
        broken[10] ^= 1;
        let broken = format!("{body}.{}", URL_SAFE_NO_PAD.encode(broken));
        assert_eq!(verifier().verify(&broken, &keys, NOW), Err(FAILED), "{kind:?}");
        assert_eq!(verifier().verify(&format!("{body}."), &keys, NOW), Err(FAILED), "{kind:?}");
    }
}

#[test]
fn an_rsa_key_without_an_algorithm_is_good_for_its_family() {
    let signer = signer(Algorithm::RS256, "a");
    let mut free = signer.public.clone();
    free.as_object_mut().unwrap().remove("alg");
    for kind in RSA_ALGORITHMS {
        let header = json!({ "alg": format!("{kind:?}"), "kid": "a" });
        let token = token(&signer, kind, &header, &claims());
        assert!(verifier().verify(&token, &set(&[&free]), NOW).is_ok(), "{kind:?}");
        let own = verifier().verify(&token, &set(&[&signer.public]), NOW).is_ok();
        assert_eq!(own, kind == Algorithm::RS256, "the key says which: {kind:?}");
    }
}

#[test]
fn the_algorithm_comes_from_the_key_and_never_from_the_token() {
    let own = signer(Algorithm::ES256, "a");
    let keys = set(&[&own.public]);
    // The public key as a shared secret: everyone has it.
    let public = EncodingKey::from_secret(own.public["x"].as_str().unwrap().as_bytes());
    let forged = Signer { key: public, public: Value::Null };
    let hs256 = json!({ "alg": "HS256", "kid": "a" });
    assert_eq!(verifier().verify(&token(&forged, Algorithm::HS256, &hs256, &claims()), &keys, NOW), Err(FAILED));
    // A key that the token brings along, or that it says where to get.
    let foreign = signer(Algorithm::ES256, "a");
    for header in [
        json!({ "alg": "ES256", "kid": "a", "jwk": foreign.public }),
        json!({ "alg": "ES256", "kid": "a", "jku": "https://evil.example/keys" }),
        json!({ "alg": "ES256", "kid": "a", "x5u": "https://evil.example/cert" }),
        json!({ "alg": "none", "kid": "a" }),
        json!({ "alg": "None", "kid": "a" }),
        json!({ "alg": "es256", "kid": "a" }),
        json!({ "alg": "ES256", "kid": "a", "crit": ["b64"], "b64": false }),
        json!({ "kid": "a" }),
    ] {
        let token = token(&foreign, Algorithm::ES256, &header, &claims());
        assert_eq!(verifier().verify(&token, &keys, NOW), Err(FAILED), "{header}");
    }
    // A shared secret in the set is not a key at all.
    let secret = json!({ "kty": "oct", "kid": "s", "alg": "HS256", "k": URL_SAFE_NO_PAD.encode("a shared secret") });
    assert!(set(&[&secret]).is_empty());
}

#[test]
fn a_key_is_named_when_there_are_several_and_an_unknown_name_is_looked_up_again() {
    let (one, two) = (signer(Algorithm::ES256, "1"), signer(Algorithm::ES256, "2"));
    let nameless = token(&one, Algorithm::ES256, &json!({ "alg": "ES256" }), &claims());
    assert!(verifier().verify(&nameless, &set(&[&one.public]), NOW).is_ok());
    let both = set(&[&one.public, &two.public]);
    assert_eq!(verifier().verify(&nameless, &both, NOW), Err(IssuerRefusal::UnknownKey));
    for id in ["3", "../../etc/passwd", "1' OR '1'='1", ""] {
        let token = token(&one, Algorithm::ES256, &json!({ "alg": "ES256", "kid": id }), &claims());
        assert_eq!(verifier().verify(&token, &both, NOW), Err(IssuerRefusal::UnknownKey), "{id}");
    }
}

/// Checking a signature with a key of a megabit would take minutes.
#[test]
fn a_poisoned_set_with_a_huge_key_checks_nothing() {
    let huge = "_".repeat(20_000);
    for (n, e) in [(huge.as_str(), "AQAB"), (&huge[..342], huge.as_str())] {
        let keys = set(&[&json!({ "kty": "RSA", "kid": "huge", "alg": "RS256", "n": n, "e": e })]);
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&json!({ "alg": "RS256", "kid": "huge" })), part(&json!({ "exp": 1 })));
        let verifier = IssuerVerifier { issuer: "i".to_owned(), audience: "a".to_owned(), resource: None };
        let verified = verifier.verify(&format!("{signed}.{}", &huge[..4000]), &keys, UnixSeconds(0));
        assert!(verified.is_err());
    }
}

#[test]
fn keys_that_cannot_check_signatures_are_left_out_and_the_others_stay() {
    let good = signer(Algorithm::ES256, "good");
    let mut for_encryption = good.public.clone();
    (for_encryption["use"], for_encryption["kid"]) = (json!("enc"), json!("enc"));
    let others = [
        for_encryption,
        json!({ "kty": "EC", "crv": "P-521", "kid": "p521", "x": "AA", "y": "AA" }),
        json!({ "kty": "new", "kid": "new" }),
        json!({ "kty": "RSA", "kid": "half", "n": "AQAB" }),
        json!("text"),
        json!(null),
    ];
    let all: Vec<&Value> = others.iter().chain([&good.public]).collect();
    assert_eq!(set(&all).0.iter().filter_map(|key| key.id.as_deref()).collect::<Vec<_>>(), ["good"]);
    for text in ["", "[]", "{}", "{\"keys\":{}}", "<html>"] {
        assert!(IssuerKeys::parse(text.as_bytes()).is_none(), "{text}");
    }
}

#[test]
fn issuer_audience_resource_and_times_are_checked() {
    let signer = signer(Algorithm::EdDSA, "a");
    let keys = set(&[&signer.public]);
    let verify = |verifier: &IssuerVerifier, changes: &[(&str, Value)]| {
        let mut claims = claims();
        for (name, value) in changes {
            claims[*name] = value.clone();
        }
        let token = token(&signer, Algorithm::EdDSA, &json!({ "alg": "EdDSA" }), &claims);
        verifier.verify(&token, &keys, NOW).map(|_| ())
    };
    let refused = |refusal| Err(IssuerRefusal::Refused(refusal));
    let plain = verifier();
    for (name, value, answer) in [
        ("iss", json!("https://id.example/"), Err(FAILED)),
        ("iss", json!("https://ID.example"), Err(FAILED)),
        ("iss", Value::Null, Err(FAILED)),
        ("aud", json!("other"), Err(FAILED)),
        ("aud", json!(["other", "notes"]), Ok(())),
        ("aud", Value::Null, Err(FAILED)),
        ("exp", json!(NOW.0 - 59), Ok(())),
        ("exp", json!(NOW.0 - 60), refused(TokenRefusal::Expired)),
        ("exp", Value::Null, Err(FAILED)),
        ("nbf", json!(NOW.0 + 60), Ok(())),
        ("nbf", json!(NOW.0 + 61), Err(FAILED)),
        ("client_id", json!(""), refused(TokenRefusal::NoClient)),
        ("scope", json!(" "), refused(TokenRefusal::NoScopes)),
    ] {
        assert_eq!(verify(&plain, &[(name, value.clone())]), answer, "{name}: {value}");
    }
    let bound = IssuerVerifier { resource: Some("https://vault.example/mcp".into()), ..plain };
    assert_eq!(verify(&bound, &[]), Err(FAILED));
    assert_eq!(verify(&bound, &[("resource", json!("https://vault.example/mcp"))]), Ok(()));
    assert_eq!(verify(&bound, &[("resource", json!("https://other.example/mcp"))]), Err(FAILED));
    assert_eq!(verify(&bound, &[("aud", json!(["notes", "https://vault.example/mcp"]))]), Ok(()));
}
