//! Clients that are known by a document, and those that are known without it.

use super::*;

const URL: &str = "https://app.example/oauth/client.json";

fn document(changes: &[(&str, Value)]) -> String {
    let mut document = json!({ "client_id": URL, "client_name": "App", "redirect_uris": [CALLBACK] });
    for (name, value) in changes {
        document[*name] = value.clone();
    }
    document.to_string()
}

#[tokio::test]
async fn a_client_is_verified_by_its_document_once_the_owner_has_signed_in() {
    let host = FakeHost::with_json(&document(&[]), "Cache-Control: max-age=3600\r\n");
    let mut trial = Trial::start(&[], host.fetch());
    let query = Trial::request(URL, &[]);
    let first = trial.get(&format!("/authorize?{query}")).await;
    assert!(first.body.contains("app.example"), "{}", first.body);
    assert_eq!(host.asked(), 0, "a stranger causes no request");
    let page = trial.consent_page(&query).await;
    assert!(page.body.contains("Verified: app.example") && page.body.contains(">App<"), "{}", page.body);
    let code = trial.decide(&page, "allow", &[]).await.returned()["code"].clone();
    let tokens = trial.exchange(URL, &code, &[]).await.json();
    assert_eq!(trial.ask(text(&tokens, "access_token"), "tools/list", json!({})).await.status, StatusCode::OK);
    trial.consent_page(&query).await;
    assert_eq!(host.asked(), 1, "it is kept");
    let elsewhere = trial.consent_page(&Trial::request(URL, &[("redirect_uri", "https://evil.example/cb")])).await;
    assert_eq!((elsewhere.status, elsewhere.header("location")), (StatusCode::BAD_REQUEST, ""));
}

#[tokio::test]
async fn a_document_that_cannot_be_used_ends_the_request_on_a_page() {
    for (answer, part) in [
        (document(&[("client_id", json!("https://app.example/other"))]), "another client"),
        (document(&[("client_secret", json!("x"))]), "secret"),
        (document(&[("redirect_uris", json!([]))]), "no address to return to"),
        (document(&[("token_endpoint_auth_method", json!("private_key_jwt"))]), "without a secret"),
        ("<html>".to_owned(), "not a JSON"),
        ("x".repeat(17_000), "could not be fetched"),
    ] {
        let host = FakeHost::with_json(&answer, "");
        let mut trial = Trial::start(&[], host.fetch());
        let page = trial.consent_page(&Trial::request(URL, &[])).await;
        assert_eq!((page.status, page.header("location")), (StatusCode::BAD_REQUEST, ""), "{part}");
        assert!(page.body.contains(part), "{part}: {}", page.body);
        trial.consent_page(&Trial::request(URL, &[])).await;
        assert_eq!(host.asked(), 1, "a failure counts for a while: {part}");
    }
}

#[tokio::test]
async fn well_known_clients_get_through_without_their_document() {
    let mut trial = trial();
    for (client, redirect, name) in [
        ("https://claude.ai/oauth/mcp-oauth-client-metadata", "https://claude.ai/api/mcp/auth_callback", "Claude"),
        ("https://claude.ai/oauth/claude-code-client-metadata", "http://localhost:54545/callback", "Claude Code"),
        ("https://chatgpt.com/oauth/codex/client.json", "http://127.0.0.1:1455/callback", "Codex"),
        ("https://chatgpt.com/oauth/abc/client.json", "https://chatgpt.com/connector/oauth/abc", "ChatGPT"),
        ("https://vscode.dev/oauth/client-metadata.json", "http://127.0.0.1:33419/", "Visual Studio Code"),
    ] {
        let page = trial.consent_page(&Trial::request(client, &[("redirect_uri", redirect)])).await;
        assert!(page.body.contains("Well known") && page.body.contains(name), "{name}: {}", page.body);
        let is_here = redirect.starts_with("http://");
        assert_eq!(page.body.contains("cannot be proven"), is_here, "{name}");
        let code = trial.decide(&page, "allow", &[]).await.returned()["code"].clone();
        let answer = trial.exchange(client, &code, &[("redirect_uri", redirect)]).await;
        assert_eq!(answer.status, StatusCode::OK, "{name}: {answer:?}");
    }
    // The same name with another address is not the same client.
    let other = [("redirect_uri", "https://chatgpt.com/connector/oauth/other")];
    let page = trial.consent_page(&Trial::request("https://chatgpt.com/oauth/abc/client.json", &other)).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_document_that_prefers_signatures_and_lists_none_is_taken_as_chatgpt_sends_it() {
    let url = "https://chatgpt.com/oauth/abc/client.json";
    let answer = json!({
        "client_id": url, "client_name": "ChatGPT", "redirect_uris": ["https://chatgpt.com/connector/oauth/abc"],
        "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://chatgpt.com/keys",
        "token_endpoint_auth_methods_supported": ["private_key_jwt", "none"],
    });
    let host = FakeHost::with_json(&answer.to_string(), "");
    let mut trial = Trial::start(&[], host.fetch());
    let redirect = ("redirect_uri", "https://chatgpt.com/connector/oauth/abc");
    let page = trial.consent_page(&Trial::request(url, &[redirect])).await;
    assert!(page.body.contains("Verified: chatgpt.com"), "{}", page.body);
    let code = trial.decide(&page, "allow", &[]).await.returned()["code"].clone();
    assert_eq!(trial.exchange(url, &code, &[redirect]).await.status, StatusCode::OK);
    assert_eq!(host.asked(), 1, "no keys and no pictures are fetched");
}

#[tokio::test]
async fn documents_are_fetched_ten_times_a_minute_at_most() {
    let host = FakeHost::answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    let mut trial = Trial::start(&[], host.fetch());
    for number in 0..15 {
        trial.consent_page(&Trial::request(&format!("https://app.example/{number}"), &[])).await;
    }
    assert_eq!(host.asked(), 10);
}
