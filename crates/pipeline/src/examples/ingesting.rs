//! What makes two sources the same.

use lapidary_tools::ReasonKind;
use serde_json::{Value, json};

use crate::testing::{TestServer, TestSetup};

const REAL: &str = "https://news.example/slate";

fn ingested(server: &TestServer, given: Value) -> Value {
    server.done("source_ingest", given)
}

#[test]
fn what_a_page_claims_to_be_does_not_make_it_known() {
    let server = TestSetup::default().serve(&[]);
    let page = format!(
        "<head><title>Trap</title><link rel=canonical href=\"{REAL}\"><meta property=\"og:url\" content=\"{REAL}\"></head><p>False.</p>"
    );
    let trap = ingested(&server, json!({ "html": page }));
    let text = server.text(trap["path"].as_str().unwrap());
    assert!(text.contains(&format!("\nclaimed_source: {REAL}\n")) && !text.contains("\nsource:"), "{text}");
    // A text may bring its own properties.
    let claims = format!("---\nsource: {REAL}\nsource_hash: sha256:0000000000000000\n---\nAlso false.\n");
    let other = ingested(&server, json!({ "text": claims, "title": "Second trap" }));
    let text = server.text(other["path"].as_str().unwrap());
    assert!(text.contains(&format!("\nclaimed_source: {REAL}\n")) && !text.contains("\nsource:"), "{text}");
    let real = ingested(&server, json!({ "html": "<title>Slate</title><p>True.</p>", "url": REAL }));
    assert_eq!(real["created"], true, "{real:#}");
    // And a page that claims the address of a known one is not taken for it.
    let claimed = format!("<head><title>Third</title><link rel=canonical href=\"{REAL}\"></head><p>False again.</p>");
    let third = ingested(&server, json!({ "html": claimed }));
    assert_eq!(third["created"], true, "{third:#}");
    let moved = ingested(&server, json!({ "html": claimed.replace("again", "still"), "url": "https://b.example" }));
    assert_eq!(moved["created"], true, "{moved:#}");
    let again = ingested(&server, json!({ "text": "anything", "url": REAL }));
    assert_eq!((&again["knownBy"], &again["path"]), (&json!("url"), &real["path"]));
}

#[test]
fn links_to_anchors_lead_to_the_new_note() {
    let server = TestSetup::default().serve(&[("Slate.md", "Another.\n")]);
    let given = json!({ "text": "Grey.\n", "title": "Slate", "anchors": [{ "quote": "Grey" }] });
    let kept = ingested(&server, given);
    // The links to the other note stay its own.
    assert_eq!(kept["path"], "Sources/Slate (source).md");
    assert_eq!(kept["anchors"], json!(["[[Slate (source)#^q1]]"]));
}

#[test]
fn a_date_is_a_date_and_a_status_is_one_line() {
    let server = TestSetup::default().serve(&[]);
    for wrong in
        [json!({ "published": "not a date" }), json!({ "published": "2026-13" }), json!({ "status": "a\nb: c" })]
    {
        let mut given = json!({ "text": "Grey.\n" });
        given.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        assert_eq!(server.refused("source_ingest", given).kind(), ReasonKind::InvalidArguments, "{wrong}");
    }
    for (number, right) in ["2026", "2026-04", "2026-04-15", "2026-04-15T10:00:00Z"].into_iter().enumerate() {
        ingested(&server, json!({ "text": format!("Grey {number}.\n"), "published": right }));
    }
}
