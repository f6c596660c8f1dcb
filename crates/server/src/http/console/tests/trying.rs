//! Tools called by hand.

use std::sync::Arc;

use axum::http::StatusCode;
use lapidary_auth::{NewToken, SecretKind, SecretText, TokenRights, UnixSeconds};
use lapidary_pipeline::{Caller, CallerStanding, Invocation, Principal};
use lapidary_tools::{ChangeAuthor, TOOLS};

use super::ConsoleTrial;

const EDIT: [(&str, &str); 4] =
    [("argument-file", "a.md"), ("argument-find", "one"), ("argument-replace", ""), ("do", "call")];

/// The same with another value.
fn edit<'a>(name: &str, value: &'a str) -> Vec<(&'a str, &'a str)> {
    EDIT.iter().map(|(known, old)| (*known, if *known == name { value } else { old })).collect()
}

#[tokio::test]
async fn every_tool_has_a_page_and_each_of_its_examples_fills_it_in() {
    let trial = ConsoleTrial::start(&[("a.md", "one\n")], &[], &[]).await;
    let list = trial.get("/console/try").await;
    for tool in TOOLS {
        let name = tool.spec().declaration.name;
        list.has(&format!("/console/try/{name}\""));
        let address = format!("/console/try/{name}");
        assert_eq!(trial.get(&address).await.status, StatusCode::OK, "{name}");
        for number in 0..tool.examples().len() {
            assert_eq!(
                trial.get(&format!("{address}?example={number}")).await.status,
                StatusCode::OK,
                "{name} {number}"
            );
        }
    }
    assert_eq!(trial.get("/console/try/nothing").await.status, StatusCode::NOT_FOUND);
    let found = trial.get("/console/try?q=replace+exact").await;
    found.has("/console/try/str_replace\"");
    found.lacks("/console/try/outline\"");
}

#[tokio::test]
async fn an_answer_is_shown_as_a_model_sees_it_with_its_size() {
    let trial = ConsoleTrial::start(&[("a.md", "one <b>\u{202e}\n")], &[], &[]).await;
    let page = trial.post("/console/try/file_read", &[("argument-file", "a.md"), ("do", "call")]).await;
    page.has("<h2 class=\"plain\">Answer</h2>");
    page.has("one &lt;b&gt;");
    page.has("tokens (bytes / 4)");
    page.has("structuredContent: ");
    page.has("tools/call");
    page.lacks("\u{202e}");
    page.has("lapidary call file_read &#39;{&#34;file&#34;:&#34;a.md&#34;}&#39;");
}

#[tokio::test]
async fn a_change_is_made_and_leads_to_its_checkpoint() {
    let trial = ConsoleTrial::start(&[("a.md", "one two\n")], &[], &[]).await;
    // An empty text is one: it deletes.
    let page = trial.post("/console/try/str_replace", &EDIT).await;
    page.has("<h2 class=\"changed\">Changed</h2>");
    assert_eq!(trial.read("a.md"), " two\n");
    let (_, rest) = page.body.split_once("<a href=\"/console/history/").unwrap();
    let address =
        format!("/console/history/{}", rest.split('"').next().unwrap().replace("&amp;", "&").replace("&#38;", "&"));
    let change = trial.get(&address).await;
    change.has("Take it back");
    let digest = change.field("digest");
    trial.post(&address, &[("digest", &digest), ("decision", "restore")]).await.has("Taken back");
    assert_eq!(trial.read("a.md"), "one two\n");
}

#[tokio::test]
async fn a_dry_run_and_the_place_of_a_client_change_nothing() {
    let trial = ConsoleTrial::start(&[("a.md", "one\n"), ("Open/b.md", "one\n")], &[], &[]).await;
    trial.post("/console/try/str_replace", &edit("do", "dry")).await.has("-one");
    let mut as_editor = EDIT.to_vec();
    as_editor.push(("caller", "profile:editor"));
    let page = trial.post("/console/try/str_replace", &as_editor).await;
    page.has("It would change this");
    page.has("class=\"removed\"");
    let mut as_reader = EDIT.to_vec();
    as_reader.push(("caller", "profile:reader"));
    trial.post("/console/try/str_replace", &as_reader).await.has("<h2 class=\"refused\">Refused</h2>");
    assert_eq!(trial.read("a.md"), "one\n");
    // What a token cannot see does not exist for it.
    let rights = TokenRights { read_paths: Some(vec!["Open".to_owned()]), ..TokenRights::default() };
    let secret = SecretText::mint(SecretKind::Personal, &[7; 32]);
    let new = NewToken { name: "phone", rights: &rights, expires: None };
    trial.assembled.auth.create_token(&new, &secret, UnixSeconds(1)).unwrap();
    let read = |file| [("argument-file", file), ("caller", "token:phone"), ("do", "call")];
    trial.post("/console/try/file_read", &read("a.md")).await.has("<h2 class=\"refused\">Refused</h2>");
    trial.post("/console/try/file_read", &read("Open/b.md")).await.has("<h2 class=\"plain\">Answer</h2>");
}

#[tokio::test]
async fn undo_in_the_place_of_a_client_is_about_its_own_changes() {
    let trial = ConsoleTrial::start(&[("a.md", "one\n"), ("b.md", "one\n")], &[], &[]).await;
    let secret = SecretText::mint(SecretKind::Personal, &[7; 32]);
    let new = NewToken { name: "phone", rights: &TokenRights::default(), expires: None };
    trial.assembled.auth.create_token(&new, &secret, UnixSeconds(1)).unwrap();
    let undo = |caller| [("caller", caller), ("do", "call")];
    trial.post("/console/try/str_replace", &EDIT).await.has("Changed");
    let nothing = trial.post("/console/try/undo", &undo("token:phone")).await;
    nothing.has("<h2 class=\"refused\">Refused</h2>");
    nothing.has("nothing_to_undo");
    // The client itself changes another note, in its own session.
    let name = "http:phone".to_owned();
    let executor = &trial.assembled.executor;
    let phone = Principal {
        id: name.clone(),
        name: name.clone(),
        grant: Arc::clone(executor.grant()),
        can_be_asked: false,
        caller: Caller::of("phone"),
        is_single_client: true,
        author: ChangeAuthor::connected(name, "session", std::time::SystemTime::UNIX_EPOCH),
        standing: CallerStanding::default(),
    };
    let arguments = serde_json::json!({ "file": "b.md", "find": "one", "replace": "two" });
    let invocation = Invocation::tool("str_replace", arguments.as_object().unwrap().clone(), phone);
    let cancel = executor.cancel(&invocation);
    executor.execute(invocation, cancel).await;
    assert_eq!(trial.read("b.md"), "two\n");
    // A change of the owner after that is not the client's last one.
    trial
        .post("/console/try/file_create", &[("argument-file", "c.md"), ("argument-content", "x"), ("do", "call")])
        .await;
    let page = trial.post("/console/try/undo", &undo("token:phone")).await;
    page.has("It would change this");
    page.has("b.md");
    page.lacks("a.md");
    assert_eq!(trial.read("b.md"), "two\n", "only shown");
}

#[tokio::test]
async fn a_change_that_needs_approval_waits_for_it() {
    let trial = ConsoleTrial::start(&[("a.md", "one\n")], &[], &[("LAPIDARY_APPROVAL", "write=ask")]).await;
    let page = trial.post("/console/try/str_replace", &EDIT).await;
    page.has("Waits for approval");
    assert_eq!(trial.read("a.md"), "one\n");
    trial.get("/console/").await.has("str_replace");
}

#[tokio::test]
async fn arguments_can_be_typed_as_json_and_back() {
    let trial = ConsoleTrial::start(&[("a.md", "one\n")], &[], &[]).await;
    let page = trial.post("/console/try/str_replace", &edit("do", "json")).await;
    page.has("Arguments as JSON");
    page.has("&#34;find&#34;: &#34;one&#34;");
    assert_eq!(trial.read("a.md"), "one\n");
    let json = r#"{"file":"a.md","find":"one","replace":"two"}"#;
    trial
        .post("/console/try/str_replace", &[("typed", "json"), ("json", json), ("do", "form")])
        .await
        .has("\ntwo</textarea>");
    trial.post("/console/try/str_replace", &[("typed", "json"), ("json", json), ("do", "call")]).await.has("Changed");
    assert_eq!(trial.read("a.md"), "two\n");
    let broken = trial.post("/console/try/str_replace", &[("typed", "json"), ("json", "[1]"), ("do", "call")]).await;
    assert_eq!(broken.status, StatusCode::BAD_REQUEST);
    broken.has("This is not a JSON object");
    let number = trial
        .post("/console/try/find_tool", &[("argument-query", "x"), ("argument-limit", "ten"), ("do", "call")])
        .await;
    assert_eq!(number.status, StatusCode::BAD_REQUEST);
    number.has("This is not a number.");
}

/// A token may be revoked while its page is open.
#[tokio::test]
async fn a_call_in_the_place_of_an_unknown_client_is_not_made() {
    let trial = ConsoleTrial::start(&[("a.md", "one\n")], &[], &[]).await;
    for caller in ["token:revoked", "profile:none", "x"] {
        let mut call = edit("argument-replace", "two");
        call.push(("caller", caller));
        assert_eq!(trial.post("/console/try/str_replace", &call).await.status, StatusCode::NOT_FOUND, "{caller}");
        assert_eq!(trial.read("a.md"), "one\n", "{caller}");
    }
}
