//! Notes that are prompts, over stdio and HTTP.

use std::{
    io::{BufRead, BufReader},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    harness::{ERAS, Era, Server, Vault, patience},
    http::HttpServer,
};

const REVIEW: &str = "---\ntags: [work, mcp-tools-prompt]\ndescription: Look at a note again\n---\n\n\
    Review <% tp.mcpTools.prompt(\"note\", \"Which note?\") %> in a <% tp.mcpTools.prompt('tone') %> tone.\n\
    Again: <% tp.mcpTools.prompt(\"note\") %>\n";

fn vault() -> Vault {
    Vault::new(&[
        ("Prompts/Review.md", REVIEW.as_bytes()),
        ("Prompts/deep/Plain.md", b"---\ntags: mcp-tools-prompt\n---\nNo arguments.\n"),
        ("Prompts/Crlf.md", b"\xef\xbb\xbf---\r\ntags:\r\n  - MCP-tools-prompt\r\n---\r\nTwo\r\nlines\r\n"),
        ("Prompts/untagged.md", b"# Not a prompt\n#mcp-tools-prompt\n"),
        ("Prompts/broken.md", b"---\ntags: [mcp-tools-prompt\n---\n"),
        ("Elsewhere/Other.md", b"---\ntags: mcp-tools-prompt\n---\n"),
        ("Garden/Roses.md", b"#garden #stone/red\n"),
    ])
}

fn names(list: &Value) -> Vec<&str> {
    list["result"]["prompts"].as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect()
}

#[test]
fn tagged_notes_are_prompts_with_their_arguments() {
    for era in ERAS {
        let vault = vault();
        let mut server = vault.serve().open(era);
        let list = server.request("prompts/list", json!({}));
        assert_eq!(names(&list), ["Notes/Crlf", "Notes/Review", "Notes/deep/Plain"], "{era:?}");
        let review = &list["result"]["prompts"][1];
        assert_eq!((&review["description"], &review["title"]), (&json!("Look at a note again"), &json!("Review")));
        assert_eq!(
            review["arguments"],
            json!([{ "name": "note", "description": "Which note?", "required": true }, { "name": "tone", "required": true }])
        );
        let got = server.request(
            "prompts/get",
            json!({ "name": "Notes/Review", "arguments": { "note": "a <% tp.mcpTools.prompt('tone') %>", "tone": "mild" } }),
        );
        let expected =
            "Review a <% tp.mcpTools.prompt('tone') %> in a mild tone.\nAgain: a <% tp.mcpTools.prompt('tone') %>\n";
        assert_eq!(
            got["result"]["messages"],
            json!([{ "role": "user", "content": { "type": "text", "text": expected } }])
        );
        assert_eq!(got["result"]["description"], "Look at a note again");
        let plain = server.request("prompts/get", json!({ "name": "Notes/Crlf" }));
        assert_eq!(plain["result"]["messages"][0]["content"]["text"], "Two\nlines\n");
    }
}

#[test]
fn problems_of_a_request_are_reported() {
    let vault = vault();
    let mut server = vault.serve().open(Era::Modern);
    for (params, said) in [
        (json!({ "name": "Notes/Review" }), "`note` is required"),
        (json!({ "name": "Notes/Review", "arguments": { "note": "x" } }), "`tone` is required"),
        (json!({ "name": "Notes/Review", "arguments": { "note": "x", "tone": "y", "nose": "z" } }), "`nose`"),
        (json!({ "name": "Notes/Review", "arguments": { "note": 7, "tone": "y" } }), "must be a string"),
        (json!({ "name": "Notes/Revew" }), "Did you mean `Notes/Review`?"),
        (json!({ "name": "Other/Review" }), "There is no prompt"),
        (json!({ "name": "" }), "There is no prompt"),
    ] {
        let error = server.request("prompts/get", params.clone())["error"].clone();
        assert_eq!(error["code"], -32602, "{params}");
        assert!(error["message"].as_str().unwrap().contains(said), "{error}");
    }
    drop(server);
    let log = vault.log();
    assert!(log.iter().all(|line| line["tool"] == "prompts/get" && line["ok"] == false), "{log:?}");
}

#[test]
fn arguments_of_known_kinds_are_completed() {
    let vault = vault();
    vault.write(
        "Prompts/All.md",
        b"---\ntags: mcp-tools-prompt\n---\n<% tp.mcpTools.prompt('sourceNote') %><% tp.mcpTools.prompt('tag') %><% tp.mcpTools.prompt('target_folder') %><% tp.mcpTools.prompt('mood') %>",
    );
    let mut server = vault.serve().open(Era::Modern);
    let mut complete = |argument: &str, value: &str| {
        let reference = json!({ "type": "ref/prompt", "name": "Notes/All" });
        let reply = server.request(
            "completion/complete",
            json!({ "ref": reference, "argument": { "name": argument, "value": value } }),
        );
        reply["result"]["completion"]["values"].clone()
    };
    assert_eq!(complete("sourceNote", "ros"), json!(["Garden/Roses.md"]));
    assert_eq!(complete("tag", "#st"), json!(["stone/red"]));
    assert_eq!(complete("tag", "red"), json!(["stone/red"]));
    assert_eq!(complete("target_folder", ""), json!(["Elsewhere", "Garden", "Prompts", "Prompts/deep"]));
    assert_eq!(complete("mood", "g"), json!([]));
    assert_eq!(complete("none", ""), Value::Null);
    for note in 0..150 {
        vault.write(&format!("many/{note:03}.md"), b"");
    }
    assert_eq!(complete("sourceNote", "many").as_array().unwrap().len(), 100);
}

/// Waits until a message of this method comes.
fn told(server: &mut Server, method: &str) -> Value {
    let started = Instant::now();
    loop {
        if let Some(at) = server.aside.iter().position(|message| message["method"] == method) {
            return server.aside.remove(at);
        }
        assert!(started.elapsed() < patience(), "never told of {method}");
        let message = server.message();
        server.aside.push(message);
    }
}

const CHANGED: &str = "notifications/prompts/list_changed";

#[test]
fn clients_of_both_eras_are_notified_of_a_new_list() {
    for era in [Era::Legacy("2025-06-18"), Era::Modern] {
        let vault = vault();
        let mut server = vault.serve().open(era);
        if era == Era::Modern {
            server.ask("subscriptions/listen", json!({ "notifications": { "promptsListChanged": true } }));
            told(&mut server, "notifications/subscriptions/acknowledged");
        }
        assert_eq!(names(&server.request("prompts/list", json!({}))).len(), 3);
        std::thread::sleep(Duration::from_millis(300));
        // By our own tools, by another program, and by an edit that removes the tag.
        server.done("obsidian_write_note", json!({ "target": { "type": "path", "path": "Prompts/New.md" }, "content": "---\ntags: mcp-tools-prompt\n---\nx" }));
        told(&mut server, CHANGED);
        assert_eq!(names(&server.request("prompts/list", json!({}))).len(), 4);
        vault.write("Prompts/More.md", b"---\ntags: mcp-tools-prompt\n---\nx");
        told(&mut server, CHANGED);
        vault.write("Prompts/Review.md", b"no more");
        told(&mut server, CHANGED);
        assert_eq!(names(&server.request("prompts/list", json!({}))).len(), 4);
        // Changes that do not affect the list are not reported.
        vault.write("Prompts/More.md", b"---\ntags: mcp-tools-prompt\n---\nanother text");
        vault.write("Garden/New.md", b"x");
        std::thread::sleep(Duration::from_millis(2500));
        server.request("prompts/list", json!({}));
        assert!(!server.aside.iter().any(|message| message["method"] == CHANGED), "{:?}", server.aside);
    }
}

#[test]
fn prompts_work_over_http() {
    let vault = vault();
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let (status, body) = server.post(&[], "prompts/list", None, json!({}));
    assert_eq!(status, 200, "{body}");
    let list: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(names(&list), ["Notes/Crlf", "Notes/Review", "Notes/deep/Plain"]);
    let get = json!({ "name": "Notes/Review", "arguments": { "note": "x", "tone": "y" } });
    let (status, body) = server.post(&[], "prompts/get", Some("Notes/Review"), get);
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("Review x in a y tone."), "{body}");
    let (_, body) = server.post(&[], "prompts/get", Some("Notes/Review"), json!({ "name": "Notes/Review" }));
    assert!(body.contains("-32602") && body.contains("is required"), "{body}");
    // A stream that stays open delivers notifications.
    let mut stream = BufReader::new(
        server.open_stream("subscriptions/listen", json!({ "notifications": { "promptsListChanged": true } })),
    );
    let mut heard = |method: &str| {
        let mut line = String::new();
        while stream.read_line(&mut line).unwrap() > 0 && !line.contains(method) {
            line.clear();
        }
        assert!(line.contains(method), "never told of {method}");
    };
    heard("notifications/subscriptions/acknowledged");
    std::thread::sleep(Duration::from_millis(500));
    vault.write("Prompts/More.md", b"---\ntags: mcp-tools-prompt\n---\nx");
    heard(CHANGED);
}
