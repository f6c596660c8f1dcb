//! Tokens of another issuer: keys that are fetched, kept and replaced, and every row of what clients are told.

use std::time::Duration;

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair},
};
use jsonwebtoken::{Algorithm, EncodingKey, crypto::sign, jwk::Jwk};
use lapidary_auth::IssuerVerifier;
use parking_lot::Mutex;

use super::*;

const ISSUER: &str = "https://app.example";
const FAR: i64 = 4_000_000_000;

/// An issuer with one key at a time.
struct Issuer {
    set: Arc<Mutex<String>>,
    host: FakeHost,
    key: EncodingKey,
    id: String,
}

impl Issuer {
    fn new() -> Self {
        let set = Arc::new(Mutex::new(String::new()));
        let host = FakeHost::with_changing_json(Arc::clone(&set));
        let mut issuer = Self { set, host, key: EncodingKey::from_secret(&[]), id: String::new() };
        issuer.change_key("first");
        issuer
    }

    fn change_key(&mut self, id: &str) {
        let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).unwrap();
        self.key = EncodingKey::from_ec_der(pair.as_ref());
        self.id = id.to_owned();
        let mut public = serde_json::to_value(Jwk::from_encoding_key(&self.key, Algorithm::ES256).unwrap()).unwrap();
        public["kid"] = json!(id);
        *self.set.lock() = json!({ "keys": [public] }).to_string();
    }

    fn token(&self, changes: &[(&str, Value)]) -> String {
        let mut claims = json!({
            "iss": ISSUER, "aud": "notes", "client_id": "phone", "sub": "ada", "scope": "vault:read", "exp": FAR,
        });
        for (name, value) in changes {
            claims[*name] = value.clone();
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&json!({ "alg": "ES256", "kid": self.id })), part(&claims));
        format!("{signed}.{}", sign(signed.as_bytes(), &self.key, Algorithm::ES256).unwrap())
    }

    fn serve(&self, cooldown: Duration, resource: Option<&str>) -> Trial {
        let keys = Arc::new(IssuerKeyCache::new(self.host.fetch(), format!("{ISSUER}/keys"), cooldown));
        let resource = resource.map(str::to_owned);
        let verifier = IssuerVerifier { issuer: ISSUER.to_owned(), audience: "notes".to_owned(), resource };
        let check = ClientCheck::Issuer { verifier: Arc::new(verifier), keys, checks_scopes: true };
        Trial::checking(&[], no_way_out(), |_| check)
    }
}

#[tokio::test]
async fn tokens_of_the_issuer_count_and_clients_are_sent_there() {
    let issuer = Issuer::new();
    let trial = issuer.serve(Duration::from_secs(300), None);
    let document = trial.get("/.well-known/oauth-protected-resource").await.json();
    assert_eq!(document["authorization_servers"], json!([ISSUER]));
    assert_eq!(document["resource"], "https://vault.example/mcp");
    for path in ["/.well-known/oauth-authorization-server", "/authorize", "/token", "/register"] {
        assert_eq!(trial.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let token = issuer.token(&[]);
    let answer = trial.call(&token, "file_read", json!({ "file": "plan.md", "vault": "Notes" })).await;
    assert!(answer.body.contains("lantern"), "{}", answer.body);
    for _ in 0..5 {
        assert_eq!(trial.ask(&token, "tools/list", json!({})).await.status, StatusCode::OK);
    }
    assert_eq!(issuer.host.asked(), 1, "the keys are kept");
}

#[tokio::test]
async fn every_refusal_has_the_words_the_code_and_the_challenge_of_the_original() {
    let issuer = Issuer::new();
    let trial = issuer.serve(Duration::from_secs(300), None);
    let other = Issuer::new();
    let missing = "Missing or invalid Authorization header. Bearer scheme required.";
    for (authorization, message) in [
        (None, missing),
        (Some("Basic eDp5".to_owned()), missing),
        (Some("Bearer ".to_owned()), missing),
        (
            Some(format!("Bearer {}", issuer.token(&[("client_id", json!(""))]))),
            "Invalid token: missing 'cid' or 'client_id' claim.",
        ),
        (
            Some(format!("Bearer {}", issuer.token(&[("scope", json!(""))]))),
            "Token must contain valid, non-empty scopes.",
        ),
        (Some(format!("Bearer {}", issuer.token(&[("exp", json!(1_000_000_000))]))), "Token has expired."),
        (Some(format!("Bearer {}", issuer.token(&[("aud", json!("other"))]))), "Token verification failed."),
        (
            Some(format!("Bearer {}", issuer.token(&[("iss", json!("https://evil.example"))]))),
            "Token verification failed.",
        ),
        (Some(format!("Bearer {}", issuer.token(&[("nbf", json!(FAR))]))), "Token verification failed."),
        (Some(format!("Bearer {}", other.token(&[]))), "Token verification failed."),
        (Some("Bearer nonsense".to_owned()), "Token verification failed."),
    ] {
        let headers: Vec<(&str, &str)> = authorization.iter().map(|value| ("authorization", value.as_str())).collect();
        let answer = trial.send(Method::POST, "/mcp", &headers, "{}").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{message}");
        let body = answer.json();
        assert_eq!((&body["error"]["code"], &body["error"]["message"]), (&json!(-32006), &json!(message)));
        assert_eq!(body["id"], Value::Null);
        let challenge = answer.header("www-authenticate");
        assert!(challenge.contains("resource_metadata=\"https://vault.example/.well-known/oauth-protected-resource"));
        assert_eq!(challenge.contains("invalid_token"), message != missing, "{challenge}");
    }
}

#[tokio::test]
async fn claims_may_be_written_in_every_way_the_original_reads() {
    let issuer = Issuer::new();
    let trial = issuer.serve(Duration::from_secs(300), None);
    for changes in [
        &[("client_id", Value::Null), ("cid", json!("c"))][..],
        &[("scope", Value::Null), ("scp", json!(["vault:read"]))],
        &[("scope", json!("openid profile")), ("mcp_tool_scopes", json!("vault:read"))],
        &[("aud", json!(["other", "notes"]))],
        &[("tid", json!("home")), ("sub", Value::Null)],
    ] {
        let answer =
            trial.call(&issuer.token(changes), "file_read", json!({ "file": "plan.md", "vault": "Notes" })).await;
        assert!(answer.body.contains("lantern"), "{changes:?}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_call_beyond_the_scopes_is_answered_as_the_original_does() {
    let issuer = Issuer::new();
    let trial = issuer.serve(Duration::from_secs(300), None);
    let token = issuer.token(&[("scope", json!("tool:obsidian_get_note:read"))]);
    let listed = trial.ask(&token, "tools/list", json!({})).await.json();
    let names: Vec<&str> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| text(tool, "name")).collect();
    assert_eq!(names, ["obsidian_get_note"]);
    let target = json!({ "type": "path", "path": "plan.md" });
    let arguments = json!({ "target": target, "content": "x", "overwrite": true, "vault": "Notes" });
    let denied = trial.call(&token, "obsidian_write_note", arguments).await;
    let result = &denied.json()["result"];
    assert_eq!((denied.status, &result["isError"]), (StatusCode::OK, &json!(true)));
    let error = &result["structuredContent"]["error"];
    let expected = (&json!(-32005), &json!("Insufficient permissions."));
    assert_eq!((&error["code"], &error["message"]), expected, "no scope is named");
    let resource = trial.ask(&token, "resources/read", json!({ "uri": "obsidian://vault/plan.md?vault=Notes" })).await;
    assert_eq!(resource.json()["error"]["code"], -32005, "{}", resource.body);
}

#[tokio::test]
async fn a_new_key_is_looked_for_once_in_a_while_and_an_old_one_ends() {
    let mut issuer = Issuer::new();
    let patient = issuer.serve(Duration::from_secs(300), None);
    let eager = issuer.serve(Duration::ZERO, None);
    let old = issuer.token(&[]);
    for trial in [&patient, &eager] {
        assert_eq!(trial.ask(&old, "tools/list", json!({})).await.status, StatusCode::OK);
    }
    issuer.change_key("second");
    let new = issuer.token(&[]);
    let before = issuer.host.asked();
    for _ in 0..5 {
        let refused = patient.ask(&new, "tools/list", json!({})).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "it is too early to ask again");
    }
    assert_eq!(issuer.host.asked(), before, "tokens with made-up keys cause no requests");
    assert_eq!(eager.ask(&new, "tools/list", json!({})).await.status, StatusCode::OK);
    assert_eq!(eager.ask(&old, "tools/list", json!({})).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn many_first_requests_fetch_the_keys_once() {
    let issuer = Issuer::new();
    let trial = issuer.serve(Duration::from_secs(300), None);
    let token = issuer.token(&[]);
    let asks = (0..20).map(|_| trial.ask(&token, "tools/list", json!({})));
    assert!(futures::future::join_all(asks).await.iter().all(|answer| answer.status == StatusCode::OK));
    assert_eq!(issuer.host.asked(), 1);
}

#[tokio::test]
async fn without_keys_no_token_counts_and_clients_are_told_to_come_back() {
    let mut issuer = Issuer::new();
    for set in ["", "{}", "{\"keys\":[]}", "<html>", "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\",\"alg\":\"HS256\"}]}"]
    {
        *issuer.set.lock() = set.to_owned();
        let trial = issuer.serve(Duration::from_secs(300), None);
        let answer = trial.ask(&issuer.token(&[]), "tools/list", json!({})).await;
        assert_eq!((answer.status, answer.header("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, "5"), "{set}");
    }
    issuer.change_key("third");
    *issuer.set.lock() = format!("{{\"keys\":[], \"x\":\"{}\"}}", "x".repeat(300_000));
    let trial = issuer.serve(Duration::from_secs(300), None);
    let answer = trial.ask(&issuer.token(&[]), "tools/list", json!({})).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "too large");
}

#[tokio::test]
async fn a_token_for_another_resource_is_refused_where_the_owner_names_one() {
    let issuer = Issuer::new();
    let trial = issuer.serve(Duration::from_secs(300), Some("https://vault.example/mcp"));
    for (changes, status) in [
        (&[][..], 401),
        (&[("resource", json!("https://other.example/mcp"))], 401),
        (&[("resource", json!("https://vault.example/mcp"))], 200),
        (&[("aud", json!(["notes", "https://vault.example/mcp"]))], 200),
    ] {
        let answer = trial.ask(&issuer.token(changes), "tools/list", json!({})).await;
        assert_eq!(answer.status.as_u16(), status, "{changes:?}");
    }
}
