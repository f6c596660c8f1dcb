//! What an attacker tries at the authorization server. Each of these fails when its countermeasure is taken out.

use super::*;

#[tokio::test]
async fn consent_is_asked_for_each_time_and_names_who_asks_and_where_the_answer_goes() {
    let mut trial = trial();
    let metadata = json!({ "redirect_uris": ["https://evil.example/cb"], "client_name": "Claude (official)" });
    let client = trial.register(&metadata).await.json()["client_id"].as_str().unwrap().to_owned();
    let query = Trial::request(&client, &[("redirect_uri", "https://evil.example/cb")]);
    let sign_in = trial.get(&format!("/authorize?{query}")).await;
    assert!(sign_in.body.contains("class=\"host\">evil.example<"), "{}", sign_in.body);
    assert!(sign_in.body.contains("calls itself “Claude (official)”"), "{}", sign_in.body);
    for _ in 0..2 {
        let page = trial.consent_page(&query).await;
        let host = page.body.split("class=\"host\">").nth(1).unwrap().split('<').next().unwrap();
        assert_eq!(host, "evil.example", "the host is what is large, not the name");
        assert!(page.body.contains("Not verified") && !page.body.contains("class=\"proven\""), "{}", page.body);
        trial.decide(&page, "allow", &[]).await.returned();
    }
}

#[tokio::test]
async fn the_browser_is_sent_nowhere_before_client_and_address_are_proven() {
    let mut trial = trial();
    let client = trial.registered().await;
    trial.sign_in(&Trial::request(&client, &[])).await;
    for changes in [
        &[("client_id", "lap_ci_unknown")][..],
        &[("client_id", "")],
        &[("client_id", "https://127.0.0.1/x")],
        &[("redirect_uri", "https://evil.example/cb")],
        &[("redirect_uri", "https://client.example/cb/../x")],
        &[("redirect_uri", "https://client.example/cb#x")],
        &[("redirect_uri", "javascript:alert(1)")],
        &[("redirect_uri", "https://evil.example/cb"), ("response_type", "token")],
        &[("redirect_uri", "//evil.example/cb")],
    ] {
        let path = format!("/authorize?{}", Trial::request(&client, changes));
        for answer in [trial.browse(&path).await, trial.get(&path).await] {
            let is_sign_in = answer.body.contains("type=\"password\"");
            assert!(answer.status == StatusCode::BAD_REQUEST || is_sign_in, "{changes:?}");
            assert_eq!(answer.header("location"), "", "{changes:?}");
        }
    }
    let twice = format!("/authorize?{}&redirect_uri=https%3A%2F%2Fevil.example%2F", Trial::request(&client, &[]));
    let answer = trial.browse(&twice).await;
    assert_eq!((answer.status, answer.header("location")), (StatusCode::BAD_REQUEST, ""), "there twice");
}

#[tokio::test]
async fn errors_go_back_with_state_and_issuer_and_never_with_a_code() {
    let mut trial = trial();
    let client = trial.registered().await;
    trial.sign_in(&Trial::request(&client, &[])).await;
    for (changes, error) in [
        (&[("response_type", "token")][..], "unsupported_response_type"),
        (&[("code_challenge", "")], "invalid_request"),
        (&[("code_challenge_method", "plain")], "invalid_request"),
        (&[("code_challenge_method", "")], "invalid_request"),
        (&[("resource", "https://other.example/mcp")], "invalid_target"),
    ] {
        let answer = trial.browse(&format!("/authorize?{}", Trial::request(&client, changes))).await;
        let returned = answer.returned();
        assert_eq!(returned["error"], error, "{changes:?}");
        assert_eq!((returned["iss"].as_str(), returned["state"].as_str()), (ORIGIN, "st&te"), "{changes:?}");
        assert!(!returned.contains_key("code"));
    }
}

#[tokio::test]
async fn a_code_counts_once_and_a_second_use_takes_back_what_it_gave() {
    let mut trial = trial();
    let client = trial.registered().await;
    let code = trial.code(&client, &[], &[]).await;
    let tokens = trial.exchange(&client, &code, &[]).await.json();
    let (access, refresh) = (text(&tokens, "access_token"), text(&tokens, "refresh_token"));
    assert_eq!(trial.ask(access, "tools/list", json!({})).await.status, StatusCode::OK);
    let again = trial.exchange(&client, &code, &[]).await;
    assert_eq!(text(&again.json(), "error"), "invalid_grant");
    assert_eq!(trial.ask(access, "tools/list", json!({})).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(trial.refresh(&client, refresh, &[]).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_code_that_another_client_intercepted_is_worth_nothing() {
    let mut trial = trial();
    let (client, thief) = (trial.registered().await, trial.registered().await);
    let code = trial.code(&client, &[], &[]).await;
    for changes in [&[("client_id", thief.as_str())][..], &[("code_verifier", &VERIFIER.replace('a', "b"))]] {
        let answer = trial.exchange(&client, &code, changes).await;
        assert_eq!(text(&answer.json(), "error"), "invalid_grant", "{changes:?}");
    }
    assert_eq!(trial.exchange(&client, &code, &[]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_consent_form_counts_once_for_its_session_its_request_and_from_our_own_page() {
    let mut trial = trial();
    let client = trial.registered().await;
    let query = Trial::request(&client, &[]);
    let page = trial.consent_page(&query).await;
    let ticket = page.field("ticket");
    let form = encoded(&[
        ("action", "consent"),
        ("ticket", &ticket),
        ("profile", "editor"),
        ("vault.Notes", "on"),
        ("lifetime", "90d"),
        ("decision", "allow"),
    ]);
    let cookie = trial.cookie.clone().unwrap();
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let own = ("cookie", cookie.as_str());
    for (headers, what) in [
        (&[kind, own, ("origin", "https://evil.example")][..], "another page"),
        (&[kind, own, ("origin", "null")], "a hidden page"),
        (&[kind, own, ("origin", "http://vault.example")], "without TLS"),
        (&[kind, own, ("sec-fetch-site", "cross-site")], "another site"),
        (&[kind, own, ("sec-fetch-site", "same-site")], "a neighbour"),
        (&[kind, ("origin", ORIGIN)], "no session"),
        (&[kind, ("cookie", "__Host-lapidary=lap_os_forged"), ("origin", ORIGIN)], "a forged session"),
        (&[("content-type", "text/plain"), own, ("origin", ORIGIN)], "a form of another kind"),
    ] {
        let answer = trial.send(Method::POST, "/authorize", headers, &form).await;
        assert!(answer.status.is_client_error() && answer.header("location").is_empty(), "{what}: {answer:?}");
    }
    // Another session of the same owner did not see this page.
    let first = trial.cookie.take();
    trial.sign_in(&query).await;
    assert_eq!(trial.decide(&page, "allow", &[]).await.status, StatusCode::BAD_REQUEST);
    trial.cookie = first;
    for forged in ["", "lap_ct_forged", &format!("{ticket}x")] {
        let answer = trial.decide(&page, "allow", &[("ticket", forged)]).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{forged}");
    }
    assert!(trial.store.grants().unwrap().is_empty());
    trial.decide(&page, "allow", &[]).await.returned();
    assert_eq!(trial.decide(&page, "allow", &[]).await.status, StatusCode::BAD_REQUEST, "once");
    assert_eq!(trial.store.grants().unwrap().len(), 1);
}

#[tokio::test]
async fn a_page_of_another_origin_cannot_sign_in_the_owner() {
    let trial = trial();
    let client = trial.registered().await;
    let form = encoded(&[("action", "sign-in"), ("query", &Trial::request(&client, &[])), ("passphrase", PASSPHRASE)]);
    let headers = [("content-type", "application/x-www-form-urlencoded"), ("origin", "https://evil.example")];
    let answer = trial.send(Method::POST, "/authorize", &headers, &form).await;
    assert_eq!((answer.status, answer.header("set-cookie")), (StatusCode::FORBIDDEN, ""));
    // An origin that may call the endpoint may not, either.
    let open = Trial::start(&[("MCP_ALLOWED_ORIGINS", "https://app.example")], no_way_out());
    let headers = [headers[0], ("origin", "https://app.example")];
    let answer = open.send(Method::POST, "/authorize", &headers, &form).await;
    assert_eq!((answer.status, answer.header("set-cookie")), (StatusCode::FORBIDDEN, ""));
}

#[tokio::test]
async fn no_page_can_be_framed_kept_or_run_a_script() {
    let mut trial = trial();
    let client = trial.registered().await;
    let query = Trial::request(&client, &[]);
    let pages = [
        trial.get(&format!("/authorize?{query}")).await,
        trial.consent_page(&query).await,
        trial.browse("/authorize?client_id=x").await,
        trial.browse("/authorize").await,
    ];
    for page in &pages {
        let policy = page.header("content-security-policy");
        for part in [
            "default-src 'none'",
            "style-src 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "form-action 'self'",
        ] {
            assert!(policy.contains(part), "{part}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("script-src"), "{policy}");
        assert_eq!((page.header("x-frame-options"), page.header("cache-control")), ("DENY", "no-store"));
        assert_eq!((page.header("x-content-type-options"), page.header("referrer-policy")), ("nosniff", "same-origin"));
        assert_eq!(page.header("strict-transport-security"), "max-age=31536000");
        assert!(!page.body.contains("<script") && !page.body.contains("javascript:"), "{}", page.body);
        assert!(!page.body.contains("style=") && page.body.contains("/authorize.css"));
    }
    assert!(pages[1].header("content-security-policy").ends_with("form-action 'self' https://client.example"));
    assert!(trial.get("/authorize.css").await.header("content-type").starts_with("text/css"));
}

#[tokio::test]
async fn the_cookie_of_the_owner_is_for_this_host_over_tls_alone() {
    let mut trial = trial();
    let client = trial.registered().await;
    let answer = trial.sign_in(&Trial::request(&client, &[])).await;
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("__Host-lapidary=lap_os_"), "{cookie}");
    for part in ["; Secure", "; HttpOnly", "; SameSite=Lax", "; Path=/"] {
        assert!(cookie.contains(part), "{part}: {cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
    assert_eq!(answer.header("strict-transport-security"), "max-age=31536000");
}

#[tokio::test]
async fn a_session_that_somebody_planted_before_the_sign_in_is_not_the_owners() {
    let mut trial = trial();
    let client = trial.registered().await;
    let query = Trial::request(&client, &[]);
    let planted = SecretText::mint(lapidary_auth::SecretKind::OwnerSession, &[9; 32]);
    let planted = format!("__Host-lapidary={}", planted.reveal());
    trial.cookie = Some(planted.clone());
    trial.sign_in(&query).await;
    assert_ne!(trial.cookie.as_ref(), Some(&planted), "signing in makes a new session");
    let own = trial.cookie.replace(planted);
    let page = trial.browse(&format!("/authorize?{query}")).await;
    assert!(page.body.contains("type=\"password\""), "{}", page.body);
    trial.cookie = own;
    assert!(trial.browse(&format!("/authorize?{query}")).await.body.contains("Give access"));
}

#[tokio::test]
async fn a_narrow_grant_stays_narrow_after_a_wider_one_to_the_same_client() {
    let mut trial = trial();
    let client = trial.registered().await;
    let reader = [("profile", "reader")];
    let narrow = trial.tokens(&client, &[("scope", "vault:read")], &reader).await;
    trial.tokens(&client, &[("scope", "vault:read vault:write")], &[]).await;
    let wider = [("scope", "vault:read vault:write")];
    let refused = trial.refresh(&client, text(&narrow, "refresh_token"), &wider).await;
    assert_eq!((refused.status.as_u16(), text(&refused.json(), "error")), (400, "invalid_scope"));
    let renewed = trial.refresh(&client, text(&narrow, "refresh_token"), &[]).await.json();
    assert_eq!(text(&renewed, "scope"), "vault:read");
    let target = json!({ "type": "path", "path": "new.md" });
    let call =
        trial.call(text(&renewed, "access_token"), "obsidian_write_note", json!({ "target": target, "content": "x" }));
    assert_eq!(call.await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_registration_flood_is_limited_and_told_when_to_come_back() {
    let trial = trial();
    let metadata = json!({ "redirect_uris": [CALLBACK] });
    for _ in 0..20 {
        assert_eq!(trial.register(&metadata).await.status, StatusCode::CREATED);
    }
    let refused = trial.register(&metadata).await;
    assert_eq!((refused.status.as_u16(), text(&refused.json(), "error")), (429, "temporarily_unavailable"));
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 0);
}

#[tokio::test]
async fn letters_that_deceive_are_not_shown_and_markup_is_text() {
    let mut trial = trial();
    let name = "Cla\u{202e}ude\u{200b}<img src=x onerror=alert(1)>\"'&\r\nSet-Cookie: x=1";
    let metadata = json!({ "redirect_uris": [CALLBACK], "client_name": name });
    let client = trial.register(&metadata).await.json()["client_id"].as_str().unwrap().to_owned();
    let state = "\"><script>alert(1)</script>\r\nSet-Cookie: evil=1";
    let query = Trial::request(&client, &[("state", state)]);
    let sign_in = trial.get(&format!("/authorize?{query}")).await;
    let page = trial.consent_page(&query).await;
    for shown in [&sign_in, &page] {
        for part in ["<img", "<script", "\u{202e}", "\u{200b}", "onerror=alert(1)>\""] {
            assert!(!shown.body.contains(part), "{part}: {}", shown.body);
        }
    }
    assert!(
        page.body.contains("Claude&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;Set-Cookie: x=1"),
        "{}",
        page.body
    );
    let answer = trial.decide(&page, "allow", &[]).await;
    assert_eq!((answer.returned()["state"].as_str(), answer.header("set-cookie")), (state, ""));
    assert!(answer.header("location").contains("%0D%0ASet-Cookie%3A"), "{answer:?}");
}

#[tokio::test]
async fn a_passphrase_can_be_guessed_five_times() {
    let trial = trial();
    let client = trial.registered().await;
    let query = Trial::request(&client, &[]);
    let wrong = trial.submit(&[("action", "sign-in"), ("query", &query), ("passphrase", "wrong horse battery")]).await;
    assert_eq!((wrong.status, wrong.header("set-cookie")), (StatusCode::FORBIDDEN, ""));
    assert!(
        wrong.body.contains("That is not the passphrase.") && !wrong.body.contains("wrong horse"),
        "{}",
        wrong.body
    );
    let empty = trial.submit(&[("action", "sign-in"), ("query", &query)]).await;
    assert_eq!(empty.body, wrong.body, "the same for every failure");
    for _ in 0..3 {
        assert!(trial.guess("127.0.0.1"));
    }
    let right = [("action", "sign-in"), ("query", query.as_str()), ("passphrase", PASSPHRASE)];
    let refused = trial.submit(&right).await;
    assert_eq!((refused.status, refused.header("set-cookie")), (StatusCode::TOO_MANY_REQUESTS, ""));
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 60, "{refused:?}");
}

#[tokio::test]
async fn all_addresses_together_guess_thirty_times() {
    let trial = trial();
    for number in 0..30 {
        assert!(trial.guess(&format!("192.0.2.{number}")));
    }
    assert!(!trial.guess("198.51.100.1"));
    trial.server.as_ref().unwrap().sign_in_page.guessed_right("192.0.2.1");
    assert!(trial.guess("192.0.2.1"), "a right passphrase does not count");
}

#[tokio::test]
async fn a_signed_in_owner_is_not_locked_out_by_guesses() {
    let mut trial = trial();
    let client = trial.registered().await;
    let query = Trial::request(&client, &[]);
    trial.sign_in(&query).await;
    while trial.guess("127.0.0.1") {}
    assert!(trial.browse(&format!("/authorize?{query}")).await.body.contains("Give access"));
}

#[tokio::test]
async fn a_new_passphrase_ends_sessions_and_open_pages() {
    let mut trial = trial();
    let client = trial.registered().await;
    let page = trial.consent_page(&Trial::request(&client, &[])).await;
    trial.store.set_passphrase(&SecretText::new("another passphrase".to_owned()), &[2; 32], UnixSeconds(2)).unwrap();
    assert_eq!(trial.decide(&page, "allow", &[]).await.status, StatusCode::BAD_REQUEST);
    assert!(trial.store.grants().unwrap().is_empty());
}

#[tokio::test]
async fn twenty_refreshes_at_once_all_succeed_and_the_family_lives() {
    let mut trial = trial();
    let client = trial.registered().await;
    let first = trial.tokens(&client, &[], &[]).await;
    let refreshes = (0..20).map(|_| trial.refresh(&client, text(&first, "refresh_token"), &[]));
    for answer in futures::future::join_all(refreshes).await {
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        let token = answer.json();
        assert_eq!(trial.ask(text(&token, "access_token"), "tools/list", json!({})).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn too_many_requests_for_tokens_are_told_to_wait() {
    let trial = trial();
    for _ in 0..60 {
        trial.form("/token", &[("grant_type", "refresh_token")]).await;
    }
    let refused = trial.form("/token", &[("grant_type", "refresh_token")]).await;
    assert_eq!((refused.status.as_u16(), text(&refused.json(), "error")), (429, "temporarily_unavailable"));
}

#[tokio::test]
async fn a_session_belongs_to_its_grant_and_is_absent_for_every_other() {
    let mut trial = trial();
    let (one, other) = (trial.registered().await, trial.registered().await);
    let one = trial.tokens(&one, &[], &[]).await;
    let other = trial.tokens(&other, &[], &[]).await;
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    } });
    let bearer = |tokens: &Value| format!("Bearer {}", text(tokens, "access_token"));
    let (own, foreign) = (bearer(&one), bearer(&other));
    let json = ("content-type", "application/json");
    let opened = trial.send(Method::POST, "/mcp", &[json, ("authorization", &own)], &hello.to_string()).await;
    let session = opened.header("mcp-session-id").to_owned();
    assert!(!session.is_empty(), "{opened:?}");
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    for method in [Method::POST, Method::GET, Method::DELETE] {
        let headers =
            [json, ("authorization", &foreign), ("mcp-session-id", &session), ("accept", "text/event-stream")];
        let answer = trial.send(method.clone(), "/mcp", &headers, &list).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method}");
    }
    let headers = [json, ("authorization", own.as_str()), ("mcp-session-id", &session)];
    assert_eq!(trial.send(Method::POST, "/mcp", &headers, &list).await.status, StatusCode::OK, "it is still there");
}

#[tokio::test]
async fn no_header_gets_into_metadata_or_challenges() {
    let trial = trial();
    let spoofed = [
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "http"),
        ("forwarded", "host=evil.example;proto=http"),
        ("host", "localhost:1234"),
    ];
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"] {
        let answer = trial.send(Method::GET, path, &spoofed, "").await;
        assert_eq!(answer.body, trial.get(path).await.body, "{path}");
    }
    let answer = trial.send(Method::GET, "/mcp", &spoofed, "").await;
    assert!(!format!("{:?}", answer.headers).contains("evil"), "{answer:?}");
    let metadata = json!({ "redirect_uris": [CALLBACK] }).to_string();
    let registered = trial.send(Method::POST, "/register", &spoofed, &metadata).await;
    assert!(text(&registered.json(), "registration_client_uri").starts_with(ORIGIN));
    let evil = trial.send(Method::GET, "/authorize", &[("host", "evil.example")], "").await;
    assert_eq!(evil.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn pages_of_any_origin_may_use_what_programs_use_and_nothing_else() {
    let trial = trial();
    let origin = ("origin", "https://inspector.example");
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server/mcp"] {
        let answer = trial.send(Method::GET, path, &[origin], "").await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (StatusCode::OK, "*"), "{path}");
        assert_eq!(answer.header("access-control-allow-credentials"), "");
    }
    for path in ["/token", "/register", "/revoke"] {
        let preflight = [origin, ("access-control-request-method", "POST")];
        let answer = trial.send(Method::OPTIONS, path, &preflight, "").await;
        assert_eq!(answer.status, StatusCode::NO_CONTENT, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{path}");
        assert_eq!(answer.header("access-control-allow-credentials"), "", "{path}");
    }
    for path in ["/mcp", "/authorize", "/tokens", "/registered"] {
        let answer = trial.send(Method::GET, path, &[origin], "").await;
        assert_eq!(
            (answer.status, answer.header("access-control-allow-origin")),
            (StatusCode::FORBIDDEN, ""),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_token_does_not_reach_more_through_tools_that_call_others() {
    let mut trial = trial();
    let client = trial.registered().await;
    let tokens = trial.tokens(&client, &[("scope", "vault:write")], &[("folders", "projects")]).await;
    let token = text(&tokens, "access_token");
    for (tool, arguments) in [
        (
            "call_tool",
            json!({ "name": "obsidian_delete_note", "arguments": { "target": { "type": "path", "path": "projects/a.md" } } }),
        ),
        ("call_tool", json!({ "name": "file_read", "arguments": { "file": "plan.md" } })),
        ("file_read", json!({ "file": "../Home/list.md" })),
        ("file_read", json!({ "file": "list.md", "vault": "Home" })),
    ] {
        let answer = trial.call(token, tool, arguments.clone()).await;
        assert!(!answer.body.contains("lantern"), "{tool} {arguments}: {}", answer.body);
        let refused = answer.status == StatusCode::FORBIDDEN || answer.body.contains("\"isError\":true");
        assert!(refused, "{tool} {arguments}: {}", answer.body);
    }
    for (method, params) in [
        ("resources/read", json!({ "uri": "obsidian://vault/plan.md" })),
        ("resources/read", json!({ "uri": "obsidian://vault/list.md?vault=Home" })),
    ] {
        let answer = trial.ask(token, method, params.clone()).await;
        assert!(!answer.body.contains("lantern"), "{params}: {}", answer.body);
    }
}

#[cfg(unix)]
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "looks at the files of a test")]
async fn the_database_is_the_owners_alone_and_holds_no_secret() {
    use std::os::unix::fs::PermissionsExt;
    let mut trial = trial();
    let metadata = json!({ "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "client_secret_post" });
    let client = trial.register(&metadata).await.json();
    let code = trial.code(text(&client, "client_id"), &[], &[]).await;
    let secret = [("client_secret", text(&client, "client_secret"))];
    let tokens = trial.exchange(text(&client, "client_id"), &code, &secret).await.json();
    let session = trial.cookie.as_ref().unwrap().split_once('=').unwrap().1.to_owned();
    let secrets = [
        PASSPHRASE,
        &code,
        &session,
        text(&client, "client_secret"),
        text(&client, "registration_access_token"),
        text(&tokens, "access_token"),
        text(&tokens, "refresh_token"),
    ];
    let mut seen = 0;
    for entry in std::fs::read_dir(trial.place.path().join("state")).unwrap().map_while(Result::ok) {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with("auth.db")) {
            seen += 1;
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{entry:?}");
            let bytes = std::fs::read(entry.path()).unwrap();
            for secret in secrets {
                let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!is_there, "{entry:?} holds {secret}");
            }
        }
    }
    assert!(seen > 0);
}
