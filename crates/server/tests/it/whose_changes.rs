//! Whose changes `undo` takes back, over both transports, after a restart and beside other clients.

use serde_json::{Value, json};

use crate::{
    harness::{Era, Server, Vault},
    http::HttpServer,
};

fn edit(server: &mut Server, find: &str, replace: &str) -> Value {
    server.done("str_replace", json!({ "file": "a.md", "find": find, "replace": replace }))["checkpoint"].clone()
}

#[test]
fn a_client_that_comes_back_over_stdio_can_undo_what_it_did() {
    for era in [Era::Legacy("2025-11-25"), Era::Modern] {
        let vault = Vault::new(&[("a.md", b"one\n")]);
        let mut server = vault.serve().called_by("Editor").open(era);
        edit(&mut server, "one", "two");
        server.stop();
        let mut server = vault.serve().called_by("Editor").open(era);
        edit(&mut server, "two", "three");
        let undone = server.done("undo", json!({}));
        assert_eq!(undone["undone"][0].get("otherSession"), None, "{undone:#}");
        let undone = server.done("undo", json!({}));
        assert_eq!(undone["undone"][0]["otherSession"], true, "{undone:#}");
        assert_eq!(vault.read("a.md"), b"one\n");
        assert_eq!(server.refused("undo", json!({})), "nothing_to_undo");
    }
}

#[test]
fn what_another_program_or_another_window_did_is_not_undone_unless_it_is_named() {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let mut editor = vault.serve().called_by("Editor").open(Era::Modern);
    let mut window = vault.serve().called_by("Editor").open(Era::Legacy("2025-11-25"));
    let mut other = vault.serve().called_by("Other").open(Era::Modern);
    // All of them have begun before anything is changed.
    for server in [&mut editor, &mut window, &mut other] {
        server.done("file_read", json!({ "file": "a.md" }));
    }
    let changed = edit(&mut editor, "one", "two");
    for server in [&mut window, &mut other] {
        assert_eq!(server.refused("undo", json!({ "count": 5 })), "nothing_to_undo");
    }
    assert_eq!(other.refused("undo", json!({ "id": changed })), "change_of_other");
    assert_eq!(vault.read("a.md"), b"two\n");
    // Another window of the same program may, if it names the change; and it is said.
    let undone = window.done("undo", json!({ "id": changed }));
    assert_eq!(undone["undone"][0]["otherSession"], true, "{undone:#}");
    assert_eq!(vault.read("a.md"), b"one\n");
    // A program that starts later under another name is another client.
    let mut late = vault.serve().called_by("Editor#").open(Era::Modern);
    assert_eq!(late.refused("undo", json!({})), "nothing_to_undo");
}

#[test]
fn over_http_a_session_undoes_its_own_and_who_has_none_names_the_change() {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let server =
        HttpServer::start(&vault, "127.0.0.1:0", &[("LAPIDARY_TOKENS", "desk:curator:a-token-for-the-desk-1")]);
    let desk = ("Authorization", "Bearer a-token-for-the-desk-1");
    let without = |tool: &str, arguments: Value| -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let (_, body) = server.post(&[desk], "tools/call", Some(tool), params);
        serde_json::from_str::<Value>(&body).unwrap()["result"].clone()
    };
    let within = |session: &str, tool: &str, arguments: Value| -> Value {
        server.ask_in(session, &[desk], "tools/call", &json!({ "name": tool, "arguments": arguments }))["result"]
            .clone()
    };
    let (one, other) = (server.session_with(&[desk]), server.session_with(&[desk]));
    let change = |find: &str, replace: &str| json!({ "file": "a.md", "find": find, "replace": replace });
    // Two sessions that are open at the same time are two windows.
    within(&one, "str_replace", change("one", "two"));
    let refused = within(&other, "undo", json!({}));
    assert_eq!(refused["isError"], true, "{refused:#}");
    let undone = within(&one, "undo", json!({}));
    assert_ne!(undone["isError"], true, "{undone:#}");
    assert_eq!(vault.read("a.md"), b"one\n");
    // Without a session nothing tells two programs of a name apart.
    let made = without("str_replace", change("one", "two"))["structuredContent"]["checkpoint"].clone();
    let refused = without("undo", json!({}));
    assert!(refused.to_string().contains("change_unnamed"), "{refused:#}");
    assert_eq!(vault.read("a.md"), b"two\n");
    without("undo", json!({ "id": made }));
    assert_eq!(vault.read("a.md"), b"one\n");
    // A session that is opened later is the same client again.
    within(&one, "str_replace", change("one", "two"));
    let later = server.session_with(&[desk]);
    let undone = within(&later, "undo", json!({}));
    assert_eq!(undone["structuredContent"]["undone"][0]["otherSession"], true, "{undone:#}");
}
