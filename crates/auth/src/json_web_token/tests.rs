//! Tests of signed tokens: which are accepted, and why others are not.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const SECRET: &str = "a-secret-of-at-least-thirty-two-characters";
const NOW: UnixSeconds = UnixSeconds(1_800_000_000);

fn signed(header: &Value, claims: &Value, secret: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(header), part(claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

fn claims() -> Value {
    json!({ "cid": "phone", "scp": ["tool:obsidian_get_note:read"], "sub": "ada", "tid": "home", "exp": NOW.0 + 100 })
}

fn with(changes: &[(&str, Value)]) -> Value {
    let mut claims = claims();
    for (name, value) in changes {
        claims[*name] = value.clone();
    }
    claims
}

fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

fn verified(header: &Value, claims: &Value) -> Result<BearerClaims, TokenRefusal> {
    let verifier = SharedSecretVerifier::new(SECRET, None, None).unwrap();
    verifier.verify(&signed(header, claims, SECRET), NOW)
}

fn hs256() -> Value {
    json!({ "alg": "HS256", "typ": "JWT" })
}

#[test]
fn claims_are_those_of_the_original() {
    let read = verified(&hs256(), &claims()).unwrap();
    assert_eq!(
        (read.client.as_str(), read.subject.as_deref(), read.tenant.as_deref()),
        ("phone", Some("ada"), Some("home"))
    );
    assert_eq!(read.scopes, ScopeSet::new(["tool:obsidian_get_note:read"]));
    let read = verified(
        &hs256(),
        &json!({ "client_id": "c", "scope": "a b", "scp": "c", "mcp_tool_scopes": ["d", " "], "exp": NOW.0 + 1 }),
    );
    assert_eq!(read.unwrap().scopes, ScopeSet::new(["a", "b", "c", "d"]));
}

#[test]
fn missing_claims_are_reported_in_the_words_of_the_original() {
    for (claims, refusal) in [
        (without("cid"), TokenRefusal::NoClient),
        (with(&[("cid", json!(""))]), TokenRefusal::NoClient),
        (with(&[("cid", json!(7))]), TokenRefusal::NoClient),
        (without("scp"), TokenRefusal::NoScopes),
        (with(&[("scp", json!([]))]), TokenRefusal::NoScopes),
        (with(&[("scp", json!("  "))]), TokenRefusal::NoScopes),
        (with(&[("exp", json!(NOW.0 - 61))]), TokenRefusal::Expired),
        (without("exp"), TokenRefusal::Failed),
        (with(&[("exp", json!("tomorrow"))]), TokenRefusal::Failed),
        (with(&[("nbf", json!(NOW.0 + 61))]), TokenRefusal::Failed),
        (with(&[("nbf", json!([]))]), TokenRefusal::Failed),
    ] {
        assert_eq!(verified(&hs256(), &claims), Err(refusal), "{claims}");
    }
    assert!(
        verified(&hs256(), &with(&[("exp", json!(NOW.0 - 59)), ("nbf", json!(NOW.0 + 59))])).is_ok(),
        "clocks differ"
    );
}

#[test]
fn the_algorithm_is_that_of_the_key() {
    for header in [
        json!({ "alg": "none" }),
        json!({ "alg": "None" }),
        json!({ "alg": "hs256" }),
        json!({ "alg": "HS512" }),
        json!({ "alg": "RS256" }),
        json!({ "alg": ["HS256"] }),
        json!({}),
        json!({ "alg": "HS256", "crit": ["exp"] }),
        json!({ "alg": "HS256", "typ": "JWE" }),
        json!({ "alg": "HS256", "typ": 1 }),
    ] {
        assert_eq!(verified(&header, &claims()), Err(TokenRefusal::Failed), "{header}");
    }
    for header in [
        json!({ "alg": "HS256", "typ": "at+jwt" }),
        json!({ "alg": "HS256", "kid": "../../etc/passwd", "jku": "http://127.0.0.1/", "jwk": { "kty": "oct", "k": "AA" } }),
    ] {
        assert!(verified(&header, &claims()).is_ok(), "a key in the header is ignored: {header}");
    }
}

#[test]
fn a_signature_of_another_secret_or_none_is_refused() {
    let verifier = SharedSecretVerifier::new(SECRET, None, None).unwrap();
    let other = signed(&hs256(), &claims(), "another-secret-of-at-least-32-characters");
    let good = signed(&hs256(), &claims(), SECRET);
    let (body, signature) = good.rsplit_once('.').unwrap();
    for token in [other, body.to_owned(), format!("{body}."), format!("{body}.{}", &signature[1..]), good.clone() + "."]
    {
        assert_eq!(verifier.verify(&token, NOW), Err(TokenRefusal::Failed), "{token}");
    }
    assert!(verifier.verify(&good, NOW).is_ok());
    assert_eq!(verifier.verify(&format!("{good}{}", "A".repeat(8192)), NOW), Err(TokenRefusal::Failed));
}

#[test]
fn issuer_and_audience_are_compared_exactly_where_they_are_set() {
    let issuer = Some("https://id.example".to_owned());
    let verifier = SharedSecretVerifier::new(SECRET, issuer, Some("notes".to_owned())).unwrap();
    let verify = |changes: &[(&str, Value)]| verifier.verify(&signed(&hs256(), &with(changes), SECRET), NOW).is_ok();
    let iss = ("iss", json!("https://id.example"));
    assert!(verify(&[iss.clone(), ("aud", json!("notes"))]));
    assert!(verify(&[iss.clone(), ("aud", json!(["other", "notes"]))]));
    assert!(!verify(&[iss.clone(), ("aud", json!("Notes"))]));
    assert!(!verify(std::slice::from_ref(&iss)));
    assert!(!verify(&[("iss", json!("https://id.example/")), ("aud", json!("notes"))]));
}

#[test]
fn a_short_secret_is_refused() {
    assert!(SharedSecretVerifier::new(&"x".repeat(31), None, None).is_err());
    assert!(SharedSecretVerifier::new(&"x".repeat(32), None, None).is_ok());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(token in "\\PC{0,60}(\\.\\PC{0,30}){0,4}") {
        let verifier = SharedSecretVerifier::new(SECRET, None, None).unwrap();
        prop_assert_eq!(verifier.verify(&token, NOW), Err(TokenRefusal::Failed));
    }
}
