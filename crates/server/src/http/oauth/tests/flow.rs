//! The whole way: discovery, registration, sign-in, consent, tokens, calls, the end.

use super::*;

#[tokio::test]
async fn a_client_finds_everything_it_needs_from_the_first_refusal() {
    let trial = trial();
    for (method, accept) in
        [(Method::GET, "*/*"), (Method::GET, "text/event-stream"), (Method::POST, "application/json")]
    {
        let answer = trial.send(method, "/mcp", &[("accept", accept)], "{}").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert_eq!(
            answer.header("www-authenticate"),
            "Bearer realm=\"lapidary\", \
             resource_metadata=\"https://vault.example/.well-known/oauth-protected-resource/mcp\", \
             scope=\"vault:read vault:write\""
        );
    }
    let resource = trial.get("/.well-known/oauth-protected-resource/mcp").await;
    assert_eq!(resource.body, trial.get("/.well-known/oauth-protected-resource").await.body);
    assert_eq!(
        resource.json(),
        json!({
            "resource": "https://vault.example/mcp",
            "scopes_supported": ["vault:read", "vault:write"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Lapidary",
            "resource_documentation": "https://vault.example/",
            "authorization_servers": ["https://vault.example"],
        })
    );
    let server = trial.get("/.well-known/oauth-authorization-server").await;
    for path in ["/.well-known/oauth-authorization-server/mcp", "/.well-known/openid-configuration"] {
        assert_eq!(server.body, trial.get(path).await.body, "{path}");
    }
    let document = server.json();
    assert_eq!(text(&document, "issuer"), ORIGIN, "byte-equal to what the resource names");
    assert_eq!(document["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(document["client_id_metadata_document_supported"], true);
    assert!(document["token_endpoint_auth_methods_supported"].as_array().unwrap().contains(&json!("none")));
    assert!(!server.body.contains("private_key_jwt") && !server.body.contains("vault:destroy"));
    for answer in [&resource, &server] {
        assert_eq!(answer.header("cache-control"), "public, max-age=300");
        assert_eq!(answer.header("content-type"), "application/json");
    }
}

#[tokio::test]
async fn the_owner_signs_in_chooses_and_the_client_gets_exactly_that() {
    let mut trial = trial();
    let client = trial.registered().await;
    let query = Trial::request(&client, &[]);
    let first = trial.get(&format!("/authorize?{query}")).await;
    assert!(first.body.contains("“Client”") && first.body.contains("client.example"), "{}", first.body);
    assert!(first.body.contains("Neither is proven") && first.body.contains("type=\"password\""));
    assert_eq!(first.field("query"), query);
    let back = trial.sign_in(&query).await;
    assert_eq!(back.header("location"), format!("/authorize?{query}"));
    let page = trial.browse(&format!("/authorize?{query}")).await;
    for part in
        ["Not verified", "client.example", "create and change notes", "value=\"reader\"", "value=\"editor\" checked"]
    {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    assert!(!page.body.contains("curator"), "it was not requested");
    let choice = [("profile", "reader"), ("folders", "projects/\n"), ("lifetime", "1w")];
    let answer = trial.decide(&page, "allow", &choice).await;
    let returned = answer.returned();
    assert!(answer.header("location").starts_with("https://client.example/cb?code="));
    assert_eq!((returned["state"].as_str(), returned["iss"].as_str()), ("st&te", ORIGIN));
    let issued = trial.exchange(&client, &returned["code"], &[("resource", "https://vault.example/mcp/")]).await;
    assert_eq!((issued.header("cache-control"), issued.header("pragma")), ("no-store", "no-cache"));
    let tokens = issued.json();
    assert_eq!((text(&tokens, "token_type"), text(&tokens, "scope")), ("Bearer", "vault:read"), "as granted");
    assert_eq!(tokens["expires_in"], 86_400);
    let token = text(&tokens, "access_token");
    let read = trial.call(token, "file_read", json!({ "file": "projects/a.md" })).await;
    assert!(read.body.contains("lantern"), "{}", read.body);
    assert_eq!(read.header("cache-control"), "no-store");
    for file in ["plan.md", "list.md"] {
        let closed = trial.call(token, "file_read", json!({ "file": file })).await;
        assert!(!closed.body.contains("lantern"), "{}", closed.body);
    }
    let tools = trial.ask(token, "tools/list", json!({})).await.body;
    assert!(tools.contains("file_read") && !tools.contains("str_replace") && !tools.contains("Home"), "{tools}");
    let grants = trial.store.grants().unwrap();
    assert_eq!(grants[0].ends.0 - grants[0].created.0, 7 * 86_400);
}

#[tokio::test]
async fn a_call_beyond_the_scopes_says_which_ones_to_ask_for() {
    let mut trial = trial();
    let client = trial.registered().await;
    let tokens = trial.tokens(&client, &[("scope", "vault:read")], &[("profile", "reader")]).await;
    let token = text(&tokens, "access_token");
    for (tool, scope) in [
        ("str_replace", "vault:read vault:write"),
        ("file.create", "vault:read vault:write"),
        ("obsidian_delete_note", "vault:read vault:write vault:destroy"),
    ] {
        let answer = trial.call(token, tool, json!({})).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{answer:?}");
        let challenge = answer.header("www-authenticate");
        assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
        assert!(challenge.contains(&format!("scope=\"{scope}\"")), "{challenge}");
        assert!(challenge.contains("/.well-known/oauth-protected-resource/mcp\""), "{challenge}");
    }
    // The client asks for more, and the owner gives it: as another grant.
    let changes = [("scope", "vault:read vault:write vault:destroy")];
    let more = trial.tokens(&client, &changes, &[("profile", "curator")]).await;
    assert_eq!(text(&more, "scope"), "vault:read vault:write vault:destroy");
    let tools = trial.ask(text(&more, "access_token"), "tools/list", json!({})).await.body;
    assert!(tools.contains("obsidian_delete_note"), "{tools}");
    let old = trial.ask(token, "tools/list", json!({})).await.body;
    assert!(!old.contains("obsidian_delete_note"), "the first token has what it had");
}

#[tokio::test]
async fn a_denial_goes_back_to_the_client_and_gives_nothing() {
    let mut trial = trial();
    let client = trial.registered().await;
    let page = trial.consent_page(&Trial::request(&client, &[])).await;
    let returned = trial.decide(&page, "deny", &[]).await.returned();
    assert_eq!(returned["error"], "access_denied");
    assert_eq!((returned["state"].as_str(), returned["iss"].as_str()), ("st&te", ORIGIN));
    assert!(trial.store.grants().unwrap().is_empty());
}

#[tokio::test]
async fn a_form_that_is_not_filled_in_well_is_shown_again_with_what_was_typed() {
    let mut trial = trial();
    let client = trial.registered().await;
    let page = trial.consent_page(&Trial::request(&client, &[])).await;
    let again = trial.decide(&page, "allow", &[("folders", "../<b>secret")]).await;
    assert_eq!(again.status, StatusCode::BAD_REQUEST);
    assert!(again.body.contains("role=\"alert\"") && again.body.contains("../&lt;b&gt;secret"), "{}", again.body);
    let again = trial.decide(&again, "allow", &[("vault.Notes", "")]).await;
    assert!(again.body.contains("at least one vault"), "{}", again.body);
    for changes in [&[("profile", "curator")][..], &[("profile", "boss")], &[("lifetime", "100y")], &[("lifetime", "")]]
    {
        let page = trial.consent_page(&Trial::request(&client, &[])).await;
        assert_eq!(trial.decide(&page, "allow", changes).await.status, StatusCode::BAD_REQUEST, "{changes:?}");
    }
    assert!(trial.store.grants().unwrap().is_empty());
    let page = trial.consent_page(&Trial::request(&client, &[])).await;
    assert!(trial.decide(&page, "allow", &[]).await.returned().contains_key("code"));
}

#[tokio::test]
async fn what_is_wrong_with_a_request_for_tokens_is_said_in_the_words_of_oauth() {
    let mut trial = trial();
    let client = trial.registered().await;
    let code = trial.code(&client, &[], &[]).await;
    for (changes, status, error) in [
        (&[("code", "lap_ac_unknown")][..], 400, "invalid_grant"),
        (&[("code_verifier", "another-verifier-of-at-least-forty-three-characters")], 400, "invalid_grant"),
        (&[("redirect_uri", "https://client.example/other")], 400, "invalid_grant"),
        (&[("code_verifier", "")], 400, "invalid_request"),
        (&[("client_id", "lap_ci_unknown")], 401, "invalid_client"),
        (&[("client_id", "")], 401, "invalid_client"),
        (&[("grant_type", "password")], 400, "unsupported_grant_type"),
        (&[("grant_type", "")], 400, "invalid_request"),
        (&[("resource", "https://other.example/mcp")], 400, "invalid_target"),
    ] {
        let answer = trial.exchange(&client, &code, changes).await;
        assert_eq!((answer.status.as_u16(), text(&answer.json(), "error")), (status, error), "{changes:?}");
    }
    let body = format!("grant_type=refresh_token&client_id={client}&refresh_token=x&refresh_token=y");
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    let twice = trial.send(Method::POST, "/token", &kind, &body).await;
    assert_eq!((twice.status.as_u16(), text(&twice.json(), "error")), (400, "invalid_request"));
    let json = trial.send(Method::POST, "/token", &[("content-type", "application/json")], "{}").await;
    assert_eq!((json.status.as_u16(), text(&json.json(), "error")), (400, "invalid_request"));
    let large = trial.send(Method::POST, "/token", &kind, &"x".repeat(17_000)).await;
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
    let basic = [kind[0], ("authorization", "Basic eDp5")];
    let answer = trial.send(Method::POST, "/token", &basic, "grant_type=refresh_token&refresh_token=x").await;
    assert_eq!((answer.status.as_u16(), answer.header("www-authenticate")), (401, "Basic realm=\"lapidary\""));
    assert_eq!(trial.exchange(&client, &code, &[]).await.status, StatusCode::OK, "none of it used the code up");
}

#[tokio::test]
async fn a_client_that_registers_with_a_secret_shows_it_in_either_way() {
    let mut trial = trial();
    for method in ["client_secret_post", "client_secret_basic"] {
        let metadata = json!({ "redirect_uris": [CALLBACK], "token_endpoint_auth_method": method, "client_name": "S" });
        let answer = trial.register(&metadata).await;
        let registered = answer.json();
        assert_eq!(registered["client_secret_expires_at"], 0, "an integer");
        let (client, secret) = (text(&registered, "client_id"), text(&registered, "client_secret"));
        let code = trial.code(client, &[], &[]).await;
        assert_eq!(trial.exchange(client, &code, &[]).await.status, StatusCode::UNAUTHORIZED);
        let wrong = trial.exchange(client, &code, &[("client_secret", "lap_cs_wrong")]).await;
        assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
        let right = if method == "client_secret_post" {
            trial.exchange(client, &code, &[("client_secret", secret)]).await
        } else {
            let basic = format!("Basic {}", STANDARD.encode(format!("{client}:{secret}")));
            let headers = [("content-type", "application/x-www-form-urlencoded"), ("authorization", basic.as_str())];
            let pairs = [("grant_type", "authorization_code"), ("code", &code), ("code_verifier", VERIFIER)];
            trial.send(Method::POST, "/token", &headers, &encoded(&pairs)).await
        };
        assert_eq!(right.status, StatusCode::OK, "{method}: {right:?}");
    }
}

#[tokio::test]
async fn tokens_are_renewed_and_revoked_by_their_client() {
    let mut trial = trial();
    let (client, other) = (trial.registered().await, trial.registered().await);
    let first = trial.tokens(&client, &[("scope", "vault:write offline_access")], &[]).await;
    assert_eq!(text(&first, "scope"), "vault:read vault:write offline_access");
    let second = trial.refresh(&client, text(&first, "refresh_token"), &[]).await.json();
    assert_ne!(text(&first, "refresh_token"), text(&second, "refresh_token"));
    let less = trial.refresh(&client, text(&second, "refresh_token"), &[("scope", "vault:read")]).await.json();
    assert_eq!(text(&less, "scope"), "vault:read");
    let more = trial.refresh(&client, text(&second, "refresh_token"), &[("scope", "vault:destroy")]).await;
    assert_eq!((more.status.as_u16(), text(&more.json(), "error")), (400, "invalid_scope"));
    let token = text(&second, "access_token").to_owned();
    let revoke = async |client: &str, token: &str| {
        let answer = trial.form("/revoke", &[("client_id", client), ("token", token)]).await;
        assert_eq!((answer.status, answer.body.as_str()), (StatusCode::OK, ""), "it tells nothing");
    };
    revoke(&other, &token).await;
    revoke(&client, "nonsense").await;
    assert_eq!(trial.ask(&token, "tools/list", json!({})).await.status, StatusCode::OK);
    revoke(&client, &token).await;
    let refused = trial.ask(&token, "tools/list", json!({})).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(refused.header("www-authenticate").contains("error=\"invalid_token\""), "{refused:?}");
    assert_eq!(trial.form("/revoke", &[("client_id", &client)]).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_registration_can_be_looked_at_and_deleted_with_its_own_token() {
    let trial = trial();
    let answer = trial.register(&json!({ "redirect_uris": [CALLBACK, "http://evil.example/"] })).await.json();
    assert_eq!(answer["redirect_uris"], json!([CALLBACK]), "what can be taken of them");
    let path = text(&answer, "registration_client_uri").strip_prefix(ORIGIN).unwrap().to_owned();
    let bearer = format!("Bearer {}", text(&answer, "registration_access_token"));
    let own = [("authorization", bearer.as_str())];
    assert_eq!(trial.get(&path).await.status, StatusCode::UNAUTHORIZED);
    let wrong = [("authorization", "Bearer lap_cr_x")];
    assert_eq!(trial.send(Method::DELETE, &path, &wrong, "").await.status, StatusCode::UNAUTHORIZED);
    let shown = trial.send(Method::GET, &path, &own, "").await;
    assert_eq!(shown.json()["client_id"], answer["client_id"]);
    assert_eq!(trial.send(Method::DELETE, &path, &own, "").await.status, StatusCode::NO_CONTENT);
    assert_eq!(trial.send(Method::GET, &path, &own, "").await.status, StatusCode::UNAUTHORIZED);
    for (metadata, error) in [
        (json!({}), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["javascript:x"] }), "invalid_redirect_uri"),
        (json!([]), "invalid_client_metadata"),
    ] {
        let answer = trial.register(&metadata).await;
        assert_eq!((answer.status.as_u16(), text(&answer.json(), "error")), (400, error), "{metadata}");
    }
}

#[tokio::test]
async fn the_owners_own_tokens_work_beside_oauth() {
    let trial = trial();
    let secret = SecretText::mint(lapidary_auth::SecretKind::Personal, &[7; 32]);
    let rights = lapidary_auth::TokenRights { profile: Some("reader".to_owned()), ..Default::default() };
    let new = lapidary_auth::NewToken { name: "phone", rights: &rights, expires: None };
    trial.store.create_token(&new, &secret, UnixSeconds(1)).unwrap();
    assert_eq!(trial.ask(secret.reveal(), "tools/list", json!({})).await.status, StatusCode::OK);
}

/// Registers twice with a secret, asks for its own scope, refreshes at once and from two places.
#[tokio::test]
async fn a_client_that_behaves_as_the_hosted_claude_gets_through() {
    let mut trial = trial();
    let callback = "https://claude.ai/api/mcp/auth_callback";
    let metadata = json!({
        "client_name": "Claude", "redirect_uris": [callback], "token_endpoint_auth_method": "client_secret_post",
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"], "scope": "claudeai",
    });
    trial.register(&metadata).await;
    let registered = trial.register(&metadata).await.json();
    let (client, secret) = (text(&registered, "client_id"), text(&registered, "client_secret"));
    let changes = [("redirect_uri", callback), ("scope", "claudeai"), ("resource", "https://vault.example/mcp")];
    let code = trial.code(client, &changes, &[]).await;
    let own = [("redirect_uri", callback), ("client_secret", secret)];
    let first = trial.exchange(client, &code, &own).await.json();
    assert_eq!(text(&first, "scope"), "vault:read vault:write");
    let refresh = || trial.refresh(client, text(&first, "refresh_token"), &own[1..]);
    let (one, other) = futures::join!(refresh(), refresh());
    for answer in [one, other] {
        let token = answer.json();
        assert_eq!(trial.ask(text(&token, "access_token"), "tools/list", json!({})).await.status, StatusCode::OK);
    }
    // An unknown client is told so, which makes Claude register again.
    let forgotten = trial.exchange("lap_ci_forgotten", &code, &[]).await;
    assert_eq!((forgotten.status.as_u16(), text(&forgotten.json(), "error")), (401, "invalid_client"));
}
