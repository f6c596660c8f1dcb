//! The authorization server, from the request of a client to the end of its grant.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::json;

use super::{
    token_call::{GRACE_PAIRS, MAX_GRANT_TOKENS},
    *,
};
use crate::{auth_store::tests::store, percent_encoded};

const NOW: UnixSeconds = UnixSeconds(1_800_000_000);
const VERIFIER: &str = "a-verifier-of-at-least-forty-three-characters-0123456789";
const CALLBACK: &str = "https://client.example/cb";

fn rules() -> AuthorizationRules {
    AuthorizationRules::new("https://vault.example", "/mcp")
}

fn at(seconds: i64) -> UnixSeconds {
    UnixSeconds(NOW.0 + seconds)
}

/// Another number each time.
struct Chance(u64);

impl Chance {
    fn bytes(&mut self) -> RandomBytes {
        self.0 += 1;
        *ContentHash::of(&self.0.to_be_bytes()).as_bytes()
    }

    fn two(&mut self) -> [RandomBytes; 2] {
        [self.bytes(), self.bytes()]
    }

    fn three(&mut self) -> [RandomBytes; 3] {
        [self.bytes(), self.bytes(), self.bytes()]
    }
}

/// A server with a client that is registered there.
struct Trial {
    store: AuthStore,
    client: String,
    chance: Chance,
}

fn trial() -> Trial {
    let (store, mut chance) = (store(true), Chance(0));
    let metadata = json!({ "redirect_uris": [CALLBACK], "client_name": "Client" });
    let client = store.register_client(&metadata, &rules(), &chance.three(), NOW).unwrap()["client_id"]
        .as_str()
        .unwrap()
        .to_owned();
    Trial { store, client, chance }
}

fn form(pairs: &[(&str, &str)]) -> FormParameters {
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={}", percent_encoded(value))).collect();
    FormParameters::parse(&pairs.join("&")).unwrap()
}

fn sender<'a>(basic: Option<(&'a str, &'a str)>) -> TokenSender<'a> {
    TokenSender { basic, address: "192.0.2.1" }
}

fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(ContentHash::of(VERIFIER.as_bytes()).as_bytes())
}

impl Trial {
    fn authorize(&self, changes: &[(&str, &str)]) -> Result<AuthorizationRequest, AuthorizeRefusal> {
        let challenge = challenge();
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", &self.client),
            ("redirect_uri", CALLBACK),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", "st&te"),
            ("scope", "vault:read vault:write claudeai"),
            ("resource", "https://vault.example/mcp"),
        ];
        pairs.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
        pairs.extend(changes);
        let form = form(&pairs);
        let client = form.get("client_id").and_then(|id| self.store.find_client(id).unwrap());
        check_authorization(&form, client, &rules())
    }

    fn code(&mut self) -> String {
        let request = self.authorize(&[]).unwrap();
        let rights = TokenRights { read_paths: Some(vec!["projects".into()]), ..TokenRights::default() };
        let given = ConsentGiven { rights, scopes: request.scopes.clone(), lasts_until: at(365 * 86_400) };
        let url = self.store.approve(&request, &given, &rules(), &self.chance.bytes(), NOW).unwrap().unwrap();
        let query = url.strip_prefix(&format!("{CALLBACK}?")).unwrap_or_else(|| panic!("{url}"));
        let answer = FormParameters::parse(query).unwrap();
        assert_eq!((answer.get("state"), answer.get("iss")), (Some("st&te"), Some("https://vault.example")));
        answer.get("code").unwrap().to_owned()
    }

    fn token(&mut self, pairs: &[(&str, &str)], now: UnixSeconds) -> Result<IssuedTokens, GrantRefusal> {
        let random = self.chance.two();
        self.store.issue_tokens(&form(pairs), sender(None), &rules(), &random, now).unwrap()
    }

    fn exchange(
        &mut self,
        code: &str,
        changes: &[(&str, &str)],
        now: UnixSeconds,
    ) -> Result<IssuedTokens, GrantRefusal> {
        let client = self.client.clone();
        let mut pairs = vec![
            ("grant_type", "authorization_code"),
            ("client_id", &client),
            ("code", code),
            ("redirect_uri", CALLBACK),
            ("code_verifier", VERIFIER),
        ];
        pairs.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
        pairs.extend(changes);
        self.token(&pairs, now)
    }

    fn refresh(
        &mut self,
        token: &SecretText,
        more: &[(&str, &str)],
        now: UnixSeconds,
    ) -> Result<IssuedTokens, GrantRefusal> {
        let client = self.client.clone();
        let mut pairs =
            vec![("grant_type", "refresh_token"), ("client_id", &client), ("refresh_token", token.reveal())];
        pairs.extend(more);
        self.token(&pairs, now)
    }

    fn counts(&self, token: &IssuedTokens, now: UnixSeconds) -> bool {
        self.store.find_access(&token.access.digest(), now).unwrap().is_some()
    }
}

#[test]
fn a_code_becomes_tokens_with_what_the_owner_chose() {
    let mut trial = trial();
    let code = trial.code();
    let tokens = trial.exchange(&code, &[], at(119)).unwrap();
    assert_eq!(
        (tokens.expires_in, tokens.scope.as_str()),
        (86_400, "vault:read vault:write"),
        "unknown scopes are dropped"
    );
    let found = trial.store.find_access(&tokens.access.digest(), at(119)).unwrap().unwrap();
    assert_eq!(found.rights.read_paths, Some(vec!["projects".to_owned()]));
    assert_eq!(found.rights.scopes, Some(vec!["vault:read".to_owned(), "vault:write".to_owned()]));
    assert_eq!(found.client_name, "Client");
    assert!(trial.counts(&tokens, at(119 + 86_399)) && !trial.counts(&tokens, at(119 + 86_400)));
    assert_eq!(trial.store.find_access(&tokens.refresh.digest(), at(120)).unwrap(), None, "not an access token");
    assert!(!format!("{tokens:?}").contains(tokens.access.reveal()));
}

#[test]
fn nobody_is_sent_anywhere_before_client_and_address_are_proven() {
    let trial = trial();
    for changes in [
        &[("client_id", "lap_ci_unknown")][..],
        &[("client_id", "")],
        &[("redirect_uri", "https://evil.example/cb")],
        &[("redirect_uri", "https://client.example/cb/")],
        &[("redirect_uri", "https://client.example/cb?x=1")],
        &[("redirect_uri", "javascript:alert(1)")],
        &[("redirect_uri", "https://evil.example/cb"), ("response_type", "token")],
    ] {
        assert!(matches!(trial.authorize(changes), Err(AuthorizeRefusal::OnPage(_))), "{changes:?}");
    }
    assert_eq!(trial.authorize(&[("redirect_uri", "")]).unwrap().redirect.as_str(), CALLBACK, "it has only one");
}

#[test]
fn what_is_wrong_is_said_to_the_client_with_state_and_issuer() {
    let trial = trial();
    let long = "x".repeat(1025);
    for (changes, error) in [
        (&[("response_type", "token")][..], "unsupported_response_type"),
        (&[("code_challenge", "")], "invalid_request"),
        (&[("code_challenge", "short")], "invalid_request"),
        (&[("code_challenge_method", "plain")], "invalid_request"),
        (&[("code_challenge_method", "")], "invalid_request"),
        (&[("resource", "https://other.example/mcp")], "invalid_target"),
        (&[("resource", "https://vault.example.evil.com/mcp")], "invalid_target"),
        (&[("resource", "http://vault.example/mcp")], "invalid_target"),
        (&[("state", &long)], "invalid_request"),
    ] {
        let Err(AuthorizeRefusal::Redirect(url)) = trial.authorize(changes) else { panic!("{changes:?}") };
        let answer = FormParameters::parse(url.strip_prefix(&format!("{CALLBACK}?")).unwrap()).unwrap();
        assert_eq!(
            (answer.get("error"), answer.get("iss")),
            (Some(error), Some("https://vault.example")),
            "{changes:?}"
        );
        assert_eq!(answer.get("state"), changes.iter().all(|(name, _)| *name != "state").then_some("st&te"));
    }
    for resource in [
        "https://vault.example/mcp/",
        "HTTPS://Vault.Example/mcp",
        "https://vault.example",
        "https://vault.example/",
        "",
    ] {
        assert!(trial.authorize(&[("resource", resource)]).is_ok(), "{resource}");
    }
    let scopes = |asked: &str| trial.authorize(&[("scope", asked)]).unwrap().scopes;
    assert_eq!(scopes("claudeai"), ["vault:read", "vault:write"]);
    assert_eq!(scopes("vault:read"), ["vault:read"]);
    assert_eq!(
        scopes("offline_access vault:destroy"),
        ["vault:read", "vault:write", "vault:destroy", "offline_access"]
    );
    assert_eq!(
        trial.authorize(&[]).unwrap().denied(&rules()),
        format!("{CALLBACK}?error=access_denied&state=st%26te&iss=https%3A%2F%2Fvault.example")
    );
}

#[test]
fn a_code_is_bound_to_its_client_its_address_and_its_verifier() {
    let mut trial = trial();
    let metadata = json!({ "redirect_uris": [CALLBACK] });
    let other = trial.chance.three();
    let other = trial.store.register_client(&metadata, &rules(), &other, NOW).unwrap()["client_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let code = trial.code();
    for (changes, refusal) in [
        (&[("code_verifier", "another-verifier-of-at-least-forty-three-characters")][..], GrantRefusal::InvalidGrant),
        (&[("redirect_uri", "https://client.example/other")], GrantRefusal::InvalidGrant),
        (&[("client_id", &other)], GrantRefusal::InvalidGrant),
        (&[("code", "lap_ac_unknown")], GrantRefusal::InvalidGrant),
        (&[("code_verifier", "")], GrantRefusal::InvalidRequest),
        (&[("client_id", "lap_ci_unknown")], GrantRefusal::InvalidClient),
        (&[("client_id", "")], GrantRefusal::InvalidClient),
        (&[("grant_type", "password")], GrantRefusal::UnsupportedGrantType),
        (&[("grant_type", "client_credentials")], GrantRefusal::UnsupportedGrantType),
        (&[("resource", "https://other.example")], GrantRefusal::InvalidTarget),
    ] {
        assert_eq!(trial.exchange(&code, changes, NOW), Err(refusal), "{changes:?}");
    }
    assert_eq!(trial.exchange(&code, &[], at(120)), Err(GrantRefusal::InvalidGrant), "it is too old");
    assert!(trial.exchange(&code, &[], at(10)).is_ok());
}

#[test]
fn a_code_that_is_used_twice_takes_back_what_it_gave() {
    let mut trial = trial();
    let code = trial.code();
    let tokens = trial.exchange(&code, &[], NOW).unwrap();
    assert!(trial.counts(&tokens, NOW));
    assert!(matches!(trial.exchange(&code, &[], at(1)), Err(GrantRefusal::UsedAgain { .. })));
    assert!(!trial.counts(&tokens, at(1)));
    assert_eq!(trial.refresh(&tokens.refresh, &[], at(1)), Err(GrantRefusal::InvalidGrant));
}

#[test]
fn a_client_with_a_secret_has_to_show_it() {
    let mut trial = trial();
    let metadata = json!({ "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "client_secret_basic" });
    let random = trial.chance.three();
    let answer = trial.store.register_client(&metadata, &rules(), &random, NOW).unwrap();
    trial.client = answer["client_id"].as_str().unwrap().to_owned();
    let secret = answer["client_secret"].as_str().unwrap().to_owned();
    let code = trial.code();
    assert_eq!(trial.exchange(&code, &[], NOW), Err(GrantRefusal::InvalidClient));
    assert_eq!(trial.exchange(&code, &[("client_secret", "wrong")], NOW), Err(GrantRefusal::InvalidClient));
    let (client, random) = (trial.client.clone(), trial.chance.two());
    let form = form(&[("grant_type", "authorization_code"), ("code", &code), ("code_verifier", VERIFIER)]);
    let basic = Some((client.as_str(), secret.as_str()));
    let issued = trial.store.issue_tokens(&form, sender(basic), &rules(), &random, NOW).unwrap();
    assert!(issued.is_ok());
}

#[test]
fn many_refreshes_at_once_all_succeed_and_a_late_one_ends_everything() {
    let mut trial = trial();
    let code = trial.code();
    let first = trial.exchange(&code, &[], NOW).unwrap();
    let pairs: Vec<IssuedTokens> =
        (0..20).map(|second| trial.refresh(&first.refresh, &[], at(second)).unwrap()).collect();
    assert!(pairs.iter().all(|pair| trial.counts(pair, at(100))), "each of them counts");
    let next = trial.refresh(&pairs[7].refresh, &[], at(110)).unwrap();
    assert!(trial.counts(&next, at(110)));
    assert!(matches!(trial.refresh(&first.refresh, &[], at(121)), Err(GrantRefusal::UsedAgain { .. })));
    assert_eq!(trial.store.grants().unwrap()[0].revoked_by.as_deref(), Some("refresh token"), "the owner can see why");
    assert!(!trial.counts(&next, at(121)) && !pairs.iter().any(|pair| trial.counts(pair, at(121))));
    assert_eq!(trial.refresh(&next.refresh, &[], at(122)), Err(GrantRefusal::InvalidGrant));
}

#[test]
fn a_stolen_refresh_token_cannot_make_tokens_without_end() {
    let mut trial = trial();
    let code = trial.code();
    let first = trial.exchange(&code, &[], NOW).unwrap();
    let made = (0..100).take_while(|_| trial.refresh(&first.refresh, &[], at(1)).is_ok()).count();
    assert_eq!(made as i64, GRACE_PAIRS + 1);
    assert!(!trial.counts(&first, at(1)), "the family is revoked");
}

#[test]
fn a_refresh_gives_less_but_never_more() {
    let mut trial = trial();
    let code = trial.code();
    let first = trial.exchange(&code, &[], NOW).unwrap();
    for scope in ["vault:destroy", "vault:read vault:destroy", "tool:file_delete:write"] {
        assert_eq!(trial.refresh(&first.refresh, &[("scope", scope)], NOW), Err(GrantRefusal::InvalidScope), "{scope}");
    }
    let less = trial.refresh(&first.refresh, &[("scope", "vault:read")], NOW).unwrap();
    let found = trial.store.find_access(&less.access.digest(), NOW).unwrap().unwrap();
    assert_eq!(found.rights.scopes, Some(vec!["vault:read".to_owned()]));
    assert_eq!(
        trial.refresh(&first.refresh, &[("resource", "https://other.example")], NOW),
        Err(GrantRefusal::InvalidTarget)
    );
    let idle = trial.refresh(&less.refresh, &[], at(REFRESH_LIFE));
    assert_eq!(idle, Err(GrantRefusal::InvalidGrant), "it was not used for too long");
}

#[test]
fn what_is_revoked_ends_at_once_and_only_its_client_can_revoke_it() {
    let mut trial = trial();
    let code = trial.code();
    let tokens = trial.exchange(&code, &[], NOW).unwrap();
    let grant = trial.store.find_access(&tokens.access.digest(), NOW).unwrap().unwrap().grant;
    trial.store.revoke_issued(tokens.refresh.reveal(), "another", None, NOW).unwrap();
    trial.store.revoke_issued("nonsense", &trial.client, None, NOW).unwrap();
    assert!(trial.counts(&tokens, NOW) && trial.store.is_grant_live(grant, NOW).unwrap());
    trial.store.revoke_issued(tokens.refresh.reveal(), &trial.client, None, NOW).unwrap();
    assert!(!trial.counts(&tokens, NOW) && !trial.store.is_grant_live(grant, NOW).unwrap());
}

#[test]
fn the_owners_limits_end_a_grant_whatever_was_refreshed() {
    let mut trial = trial();
    let request = trial.authorize(&[]).unwrap();
    let given = ConsentGiven {
        rights: TokenRights::default(),
        scopes: vec!["vault:read".into(), "vault:destroy".into()],
        lasts_until: at(1000),
    };
    let random = trial.chance.bytes();
    let url = trial.store.approve(&request, &given, &rules(), &random, NOW).unwrap().unwrap();
    let answer = FormParameters::parse(url.split_once('?').unwrap().1).unwrap();
    let tokens = trial.exchange(answer.get("code").unwrap(), &[], NOW).unwrap();
    assert_eq!((tokens.expires_in, tokens.scope.as_str()), (1000, "vault:read"), "no more than was asked for");
    assert!(!trial.counts(&tokens, at(1000)));
    assert_eq!(trial.refresh(&tokens.refresh, &[], at(1000)), Err(GrantRefusal::InvalidGrant));
}

#[test]
fn the_owner_sees_grants_and_takes_them_back_at_once() {
    let mut trial = trial();
    let code = trial.code();
    let tokens = trial.exchange(&code, &[], NOW).unwrap();
    let access = trial.store.find_access(&tokens.access.digest(), at(60)).unwrap().unwrap();
    trial.store.used_grant(&access, at(60)).unwrap();
    let grant = trial.store.grants().unwrap().remove(0);
    assert_eq!((grant.client_name.as_str(), grant.last_used), ("Client", Some(at(60))));
    assert_eq!(GrantRecord::number_in(&GrantRecord::name_of(grant.id)), Some(grant.id));
    assert!(
        trial.store.revoke_grant(grant.id, at(61)).unwrap() && !trial.store.revoke_grant(grant.id, at(61)).unwrap()
    );
    assert!(!trial.counts(&tokens, at(61)));
    let grant = trial.store.grants().unwrap().remove(0);
    assert_eq!((grant.revoked, grant.revoked_by.as_deref()), (Some(at(61)), Some("owner")));
}

#[test]
fn a_client_with_a_document_is_kept_when_it_is_consented_to() {
    let mut trial = trial();
    let url = crate::ClientDocumentUrl::parse("https://chatgpt.com/oauth/abc/client.json").unwrap();
    trial.client = url.as_str().to_owned();
    let challenge = challenge();
    let form = form(&[
        ("response_type", "code"),
        ("client_id", url.as_str()),
        ("redirect_uri", "https://chatgpt.com/connector/oauth/abc"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ]);
    let request = check_authorization(&form, url.built_in(), &rules()).unwrap();
    let given = ConsentGiven { rights: TokenRights::default(), scopes: request.scopes.clone(), lasts_until: at(1000) };
    let random = trial.chance.bytes();
    let answer = trial.store.approve(&request, &given, &rules(), &random, NOW).unwrap().unwrap();
    let code = FormParameters::parse(answer.split_once('?').unwrap().1).unwrap().get("code").unwrap().to_owned();
    let tokens = trial.exchange(&code, &[("redirect_uri", "https://chatgpt.com/connector/oauth/abc")], NOW).unwrap();
    assert!(trial.counts(&tokens, NOW));
    assert_eq!(trial.store.grants().unwrap()[0].client_name, "ChatGPT");
}

#[test]
fn a_client_that_was_forgotten_while_the_owner_looked_at_its_request_gets_nothing() {
    let mut trial = trial();
    let request = trial.authorize(&[]).unwrap();
    trial.store.delete_client(&trial.client, NOW).unwrap();
    let given = ConsentGiven { rights: TokenRights::default(), scopes: request.scopes.clone(), lasts_until: at(1000) };
    let random = trial.chance.bytes();
    assert_eq!(trial.store.approve(&request, &given, &rules(), &random, NOW).unwrap(), None);
    assert_eq!(trial.store.grants().unwrap(), []);
}

#[test]
fn the_owner_can_read_that_a_code_or_a_token_was_used_again_and_from_where() {
    let mut trial = trial();
    let code = trial.code();
    trial.exchange(&code, &[], NOW).unwrap();
    assert!(trial.exchange(&code, &[], at(1)).is_err());
    let second = trial.code();
    let tokens = trial.exchange(&second, &[], NOW).unwrap();
    let client = trial.client.clone();
    let refresh =
        [("grant_type", "refresh_token"), ("client_id", client.as_str()), ("refresh_token", tokens.refresh.reveal())];
    trial.token(&refresh, at(2)).unwrap();
    assert!(trial.token(&refresh, at(1_000)).is_err());
    // Once: what has ended is not taken back again.
    assert!(trial.token(&refresh, at(1_001)).is_err());
    let events = trial.store.events(99).unwrap();
    let again: Vec<_> = events.iter().filter(|event| event.kind == SecurityEventKind::UsedAgain).collect();
    let subjects: Vec<&str> = again.iter().map(|event| event.subject.as_str()).collect();
    assert_eq!(subjects, ["oauth-1 Client", "oauth-2 Client"]);
    assert!(again.iter().all(|event| event.address.as_deref() == Some("192.0.2.1")), "{again:?}");
    let shown = format!("{events:?}");
    assert!(!shown.contains("lap_") && !shown.contains(VERIFIER), "{shown}");
}

#[test]
fn a_verifier_that_could_be_guessed_is_refused_even_if_it_fits() {
    let mut trial = trial();
    let short = "x".repeat(42);
    let challenge = URL_SAFE_NO_PAD.encode(ContentHash::of(short.as_bytes()).as_bytes());
    let request = trial.authorize(&[("code_challenge", &challenge)]).unwrap();
    let given =
        ConsentGiven { rights: TokenRights::default(), scopes: request.scopes.clone(), lasts_until: at(86_400) };
    let url = trial.store.approve(&request, &given, &rules(), &trial.chance.bytes(), NOW).unwrap().unwrap();
    let code = url.split("code=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    assert_eq!(trial.exchange(&code, &[("code_verifier", &short)], NOW), Err(GrantRefusal::InvalidGrant));
}

#[test]
fn a_client_that_refreshes_without_end_does_not_fill_the_disk() {
    let mut trial = trial();
    let code = trial.code();
    let mut last = trial.exchange(&code, &[], NOW).unwrap();
    let client = trial.client.clone();
    for _ in 0..1_100 {
        let form =
            [("grant_type", "refresh_token"), ("client_id", client.as_str()), ("refresh_token", last.refresh.reveal())];
        last = trial.token(&form, NOW).unwrap();
    }
    let count =
        |query: &str| trial.store.read(0, |database| Ok(database.query_row(query, [], |row| row.get::<_, i64>(0))?));
    assert_eq!(count("SELECT count(*) FROM oauth_tokens").unwrap(), MAX_GRANT_TOKENS);
    assert!(trial.store.find_access(&last.access.digest(), NOW).unwrap().is_some(), "the newest one counts");
}
