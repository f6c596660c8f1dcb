//! Files and folders: what is answered, and what is on the disk afterwards.

use super::*;

const MD: &[(&str, &str)] = &[("Content-Type", "text/markdown")];

#[tokio::test]
async fn folders_list_what_is_in_them() {
    let trial =
        RestTrial::new(&[("b.md", ""), ("a/x.md", ""), ("a/deep/y.png", ""), ("Z.md", ""), (".hidden/x.md", "")]);
    assert_eq!(trial.get("/vault/").await.json(), json!({ "files": ["Z.md", "a/", "b.md"] }));
    for path in ["/vault/a/", "/vault/a"] {
        let answer = trial.get(path).await;
        assert_eq!(answer.json(), json!({ "files": ["deep/", "x.md"] }), "{path}");
        assert_eq!(answer.header("content-type"), "application/json; charset=utf-8");
        assert_eq!(answer.header("content-disposition"), "");
    }
}

#[tokio::test]
async fn a_file_comes_as_it_is() {
    let trial = RestTrial::new(&[("a b.md", "\u{feff}x\r\n"), ("d.json", "{ }"), ("x.bin", "\u{0}")]);
    let answer = trial.get("/vault/a%20b.md").await;
    assert_eq!(answer.body, "\u{feff}x\r\n".as_bytes());
    assert_eq!(answer.header("content-type"), "text/markdown; charset=utf-8");
    assert_eq!(answer.header("content-disposition"), "attachment; filename=\"a%20b.md\"");
    assert_eq!(trial.get("/vault/d.json").await.header("content-type"), "application/json");
    assert_eq!(trial.get("/vault/x.bin").await.header("content-type"), "application/octet-stream");
}

#[tokio::test]
async fn a_note_comes_as_json_with_its_links() {
    let trial = RestTrial::new(&[("n.md", NOTE), ("from.md", "[[n]] and [[none]]\n")]);
    let accept = [("Accept", "application/vnd.olrapi.note+json")];
    let note = trial.send("GET", "/vault/n.md", &accept, "").await;
    assert!(note.header("content-type").starts_with("application/vnd.olrapi.note+json"));
    let note = note.json();
    assert_eq!(note["path"], "n.md");
    assert_eq!(note["content"], NOTE);
    assert_eq!(note["frontmatter"], json!({ "title": "Plan", "tags": ["work"], "count": 42, "done": true }));
    assert_eq!(note["tags"], json!(["work", "inline"]));
    assert_eq!(note["stat"]["size"], NOTE.len());
    assert!(note["stat"]["mtime"].as_u64().is_some_and(|time| time > 0));
    assert_eq!((&note["links"], &note["backlinks"]), (&json!([]), &json!(["from.md"])));
    let from = trial.send("GET", "/vault/from.md", &accept, "").await.json();
    assert_eq!((&from["links"], &from["unresolvedLinks"]), (&json!(["n.md"]), &json!(["none"])));
}

#[tokio::test]
async fn maps_come_in_both_forms() {
    let trial = RestTrial::new(&[("n.md", NOTE)]);
    let accept = ("Accept", "application/vnd.olrapi.document-map+json");
    let map = trial.send("GET", "/vault/n.md", &[accept], "").await;
    assert_eq!(map.header("deprecation"), "");
    let map = map.json();
    assert_eq!(map["headings"], json!({ "One": { "Sub": {} }, "Two": {}, "Three": {}, "Four": {} }));
    assert_eq!(map["blocks"], json!(["b1", "t1"]));
    assert_eq!(map["frontmatterFields"], json!(["title", "tags", "count", "done"]));
    assert_eq!(map["version"].as_str().map(str::len), Some(32));
    let older = trial.send("GET", "/vault/n.md", &[accept, ("Markdown-Patch-Version", "1")], "").await;
    assert_eq!(older.header("deprecation"), "true; sunset-version=\"6.0\"");
    let older = older.json();
    assert_eq!(older["headings"], json!(["One", "One::Sub", "Two", "Three", "Four"]));
    assert!(older.get("version").is_none());
}

#[tokio::test]
async fn parts_come_by_url_and_by_headers() {
    let trial = RestTrial::new(&[("n.md", NOTE)]);
    // A section comes as deep as if it were a document.
    assert_eq!(
        trial.get("/vault/n.md/heading/One").await.text(),
        "\nfirst #inline\n\nsecond lantern.\n\n# Sub\n\nsub text\n"
    );
    let marked = trial.send("GET", "/vault/n.md/heading/One/Sub", &[("Target-Scope", "markerAndContent")], "").await;
    assert_eq!(marked.text(), "# Sub\n\nsub text\n");
    assert_eq!(trial.get("/vault/n.md/block/b1").await.text(), "body");
    assert_eq!(trial.get("/vault/n.md/block/t1").await.text(), "| A | B |\n|---|---|\n| 1 | 2 |");
    assert_eq!(trial.get("/vault/n.md/frontmatter/title").await.json(), json!("Plan"));
    assert_eq!(trial.get("/vault/n.md/frontmatter/count").await.json(), json!(42));
    let by_header = |kind: &'static str, target: &'static str| {
        let headers: &'static [(&str, &str)] =
            Box::leak(Box::new([("Markdown-Patch-Version", "1"), ("Target-Type", kind), ("Target", target)]));
        trial.send("GET", "/vault/n.md", headers, "")
    };
    let section = by_header("heading", "One::Sub").await;
    assert_eq!(section.text(), "\nsub text\n\n");
    assert_eq!(section.header("deprecation"), "true; sunset-version=\"6.0\"");
    assert_eq!(by_header("frontmatter", "tags").await.json(), json!(["work"]));
    assert_eq!(by_header("frontmatter", "done").await.json(), json!(true));
}

#[tokio::test]
async fn what_is_put_is_what_is_on_the_disk() {
    let trial = RestTrial::new(&[("n.md", "\u{feff}old\r\n")]);
    assert_eq!(trial.send("PUT", "/vault/n.md", MD, "new\nlines").await.status, 204);
    assert_eq!(trial.text("n.md").as_deref(), Some("new\nlines"));
    assert_eq!(trial.send("PUT", "/vault/x/y/z.md", MD, "").await.status, 204);
    assert_eq!(trial.text("x/y/z.md").as_deref(), Some(""));
    let json = [("Content-Type", "application/json")];
    assert_eq!(trial.send("PUT", "/vault/d.json", &json, "{ \"a\" : [1, 2] }").await.status, 204);
    assert_eq!(trial.text("d.json").as_deref(), Some("{\"a\":[1,2]}"));
    let key = format!("Bearer {KEY}");
    let image = [("Content-Type", "image/png"), ("Authorization", key.as_str())];
    let bytes = vec![0_u8, 159, 146, 150, 10];
    assert_eq!(trial.raw("PUT", "/vault/i.png", &image, bytes.clone()).await.status, 204);
    assert_eq!(trial.bytes("i.png"), Some(bytes));
}

#[tokio::test]
async fn what_is_posted_goes_behind_the_rest() {
    let trial = RestTrial::new(&[("a.md", "x"), ("b.md", "x\n"), ("c.md", "x\r\ny")]);
    for (path, expected) in [("a.md", "x\nmore"), ("b.md", "x\nmore"), ("c.md", "x\r\ny\r\nmore"), ("new.md", "more")] {
        assert_eq!(trial.send("POST", &format!("/vault/{path}"), MD, "more").await.status, 204);
        assert_eq!(trial.text(path).as_deref(), Some(expected), "{path}");
    }
}

#[tokio::test]
async fn a_deleted_file_is_in_the_trash_and_comes_back() {
    let trial = RestTrial::new(&[("n.md", NOTE), (".obsidian/app.json", r#"{"trashOption":"local"}"#)]);
    assert_eq!(trial.send("DELETE", "/vault/n.md", &[], "").await.status, 204);
    assert_eq!((trial.text("n.md"), trial.text(".trash/n.md").as_deref()), (None, Some(NOTE)));
    assert_eq!(trial.send("DELETE", "/vault/n.md", &[], "").await.code(), 40400);
    // Permanent deletion has to be approved, and a program cannot be asked.
    assert_eq!(trial.send("PUT", "/vault/m.md", MD, "x").await.status, 204);
    assert_eq!(trial.send("DELETE", "/vault/m.md?permanent=true", &[], "").await.code(), 40300);
    assert_eq!(trial.text("m.md").as_deref(), Some("x"));
}

#[tokio::test]
async fn a_moved_note_takes_its_links_along() {
    let trial = RestTrial::new(&[("n.md", NOTE), ("from.md", "[[n]]\n"), ("to/a.md", "there\n")]);
    let answer = trial.send("MOVE", "/vault/n.md", &[("Destination", "to/new%20name.md")], "").await;
    assert_eq!((answer.status.as_u16(), answer.header("content-location")), (204, "to/new%20name.md"));
    assert_eq!(trial.text("to/new name.md").as_deref(), Some(NOTE));
    assert_eq!((trial.text("n.md"), trial.text("from.md").as_deref()), (None, Some("[[new name]]\n")));
    // Into a folder under its own name.
    let answer = trial.send("MOVE", "/vault/from.md", &[("Destination", "to/")], "").await;
    assert_eq!(answer.header("content-location"), "to/from.md");
    let overwrite = [("Destination", "to/a.md"), ("Allow-Overwrite", "true")];
    assert_eq!(trial.send("MOVE", "/vault/to/from.md", &overwrite, "").await.status, 204);
    assert_eq!(trial.text("to/a.md").as_deref(), Some("[[new name]]\n"));
}

#[tokio::test]
async fn a_copy_leaves_the_original() {
    let trial = RestTrial::new(&[("n.md", NOTE), ("to/a.md", "there\n")]);
    let answer = trial.send("COPY", "/vault/n.md", &[("Destination", "to/")], "").await;
    assert_eq!((answer.status.as_u16(), answer.header("content-location")), (204, "to/n.md"));
    assert_eq!((trial.text("n.md"), trial.text("to/n.md")), (Some(NOTE.into()), Some(NOTE.into())));
    let overwrite = [("Destination", "to/a.md"), ("Allow-Overwrite", "true")];
    assert_eq!(trial.send("COPY", "/vault/n.md", &overwrite, "").await.status, 204);
    assert_eq!(trial.text("to/a.md").as_deref(), Some(NOTE));
}

#[tokio::test]
async fn the_active_note_is_the_one_opened_last() {
    let trial = RestTrial::new(&[("a b.md", "# A\n\nx\n")]);
    let opened = trial.send("POST", "/open/a%20b.md?newLeaf=true", &[], "").await;
    assert_eq!((opened.status.as_u16(), opened.text()), (200, "\"\""));
    let active = trial.get("/active/").await;
    assert_eq!((active.text(), active.header("content-location")), ("# A\n\nx\n", "a%20b.md"));
    assert_eq!(trial.get("/active/heading/A").await.text(), "\nx\n");
    assert_eq!(trial.send("POST", "/active/", MD, "more\n").await.status, 204);
    let patched = trial.send("PATCH", "/active/heading/A", &[MD[0], ("Operation", "append")], "end").await;
    assert_eq!((patched.status.as_u16(), patched.header("content-location")), (200, "a%20b.md"));
    assert_eq!(trial.text("a b.md").as_deref(), Some("# A\n\nx\nmore\n\nend\n"));
    // A missing one is created, as the app does.
    assert_eq!(trial.send("POST", "/open/New", &[], "").await.status, 200);
    assert_eq!(trial.text("New.md").as_deref(), Some(""));
    assert_eq!(trial.send("DELETE", "/active/", &[], "").await.status, 204);
    assert_eq!(trial.get("/active/").await.code(), 40400);
}

#[tokio::test]
async fn what_one_caller_opens_is_not_where_another_writes() {
    const TOKEN: &str = "lap_reader_0123456789abcdef0123456789abcdef";
    let tokens = format!("other:reader:{TOKEN}");
    let trial = RestTrial::with(&[("a.md", "a\n"), ("b.md", "b\n")], &[], &[("LAPIDARY_TOKENS", &tokens)]);
    let by_token = format!("Bearer {TOKEN}");
    let other = [("Authorization", by_token.as_str())];
    assert_eq!(trial.raw("GET", "/active/", &other, "").await.code(), 40400);
    assert_eq!(trial.send("POST", "/open/a.md", &[], "").await.status, 200);
    assert_eq!(trial.raw("GET", "/active/", &other, "").await.code(), 40400);
    assert_eq!(trial.raw("POST", "/open/b.md", &other, "").await.status, 200);
    assert_eq!(trial.send("POST", "/active/", MD, "more\n").await.status, 204);
    assert_eq!((trial.text("a.md").as_deref(), trial.text("b.md").as_deref()), (Some("a\nmore\n"), Some("b\n")));
    assert_eq!(trial.raw("GET", "/active/", &other, "").await.text(), "b\n");
}

#[tokio::test]
async fn periodic_notes_are_found_and_created_as_the_vault_says() {
    let daily = r#"{"folder": "Daily", "template": "T"}"#;
    let trial = RestTrial::new(&[(".obsidian/daily-notes.json", daily), ("T.md", "# {{title}}\n")]);
    assert_eq!(trial.get("/periodic/daily/2026/04/13/").await.code(), 40461);
    let posted = trial.send("POST", "/periodic/daily/2026/4/13/", MD, "rain\n").await;
    assert_eq!((posted.status.as_u16(), posted.header("content-location")), (204, "Daily/2026-04-13.md"));
    assert_eq!(trial.text("Daily/2026-04-13.md").as_deref(), Some("# 2026-04-13\nrain\n"));
    let part = trial.get("/periodic/daily/2026/04/13/heading/2026-04-13").await;
    assert_eq!(part.text(), "rain\n");
    assert_eq!(trial.send("PUT", "/periodic/daily/", MD, "today\n").await.status, 204);
    assert_eq!(trial.get("/periodic/daily/").await.text(), "today\n");
    assert_eq!(trial.send("DELETE", "/periodic/daily/2026/04/13/", &[], "").await.status, 204);
    assert_eq!(trial.text("Daily/2026-04-13.md"), None);
}

#[tokio::test]
async fn a_request_that_fails_makes_no_periodic_note() {
    let daily = r#"{"folder": "Daily", "template": "T"}"#;
    let files = [(".obsidian/daily-notes.json", daily), ("T.md", "# Day\n\ntext\n")];
    let (md, json, append) = (MD[0], ("Content-Type", "application/json"), ("Operation", "append"));
    let v1 = ("Markdown-Patch-Version", "1");
    let heading = [("Target-Type", "heading"), ("Target", "None")];
    let rows: &[RequestRow<'_>] = &[
        ("PUT", "/periodic/daily/xx/01/01/", &[md], "x", 40054),
        ("POST", "/periodic/daily/xx/01/01/", &[md], "x", 40054),
        ("PATCH", "/periodic/daily/2026/xx/01/", &[md, append], "x", 40054),
        ("PUT", "/periodic/daily/26/01/01/", &[md], "x", 40054),
        ("PUT", "/periodic/daily/2026/13/01/", &[md], "x", 40461),
        ("PUT", "/periodic/daily/2026/02/30/", &[md], "x", 40461),
        ("PUT", "/periodic/daily/", &[md, ("If-Match", "\"0\"")], "x", 41200),
        ("PUT", "/periodic/daily/", &[json], "{", 40015),
        ("PUT", "/periodic/daily/", &[md, ("Content-Encoding", "gzip")], "x", 41500),
        ("PUT", "/periodic/daily/heading/", &[md], "x", 40055),
        ("PUT", "/periodic/daily/heading/Day", &[("Content-Type", "text/plain")], "x", 40012),
        ("PUT", "/periodic/daily/", &[md, heading[0], heading[1]], "x", 40083),
        ("POST", "/periodic/daily/", &[json], "{}", 40010),
        ("POST", "/periodic/daily/heading/None", &[md], "x", 40400),
        ("PATCH", "/periodic/daily/", &[json], "{}", 40081),
        ("PATCH", "/periodic/daily/", &[md], "x", 40081),
        ("PATCH", "/periodic/daily/heading/None", &[md, append], "x", 40400),
        ("PATCH", "/periodic/daily/heading/Day", &[md, append, ("If-Match", "\"0\"")], "x", 41200),
        ("PATCH", "/periodic/daily/", &[v1, md, append, heading[0], heading[1]], "x", 40080),
        ("DELETE", "/periodic/daily/", &[], "", 40461),
        ("MOVE", "/periodic/daily/", &[("Destination", "x.md")], "", 40461),
        ("COPY", "/periodic/daily/", &[("Destination", "x.md")], "", 40461),
    ];
    for (method, path, headers, body, code) in rows {
        let trial = RestTrial::new(&files);
        let answer = trial.send(method, path, headers, body).await;
        assert_eq!(answer.code(), *code, "{method} {path} {headers:?}: {}", answer.text());
        assert_eq!(trial.get("/vault/").await.json()["files"], json!(["T.md"]), "{method} {path} {headers:?}");
    }
}

#[tokio::test]
async fn a_periodic_note_comes_with_its_first_change() {
    let daily = r#"{"folder": "Daily", "template": "T"}"#;
    let files = [(".obsidian/daily-notes.json", daily), ("T.md", "# Day\n\ntext\n")];
    let (md, append) = (MD[0], ("Operation", "append"));
    let (v1, heading) = (("Markdown-Patch-Version", "1"), ("Target-Type", "heading"));
    let instruction = r#"{"targetType": "heading", "target": ["Day"], "operation": "append", "content": "x"}"#;
    for (method, behind, headers, body, expected) in [
        ("PUT", "", &[md][..], "x", "x"),
        ("PUT", "", &[md, ("If-None-Match", "*")], "x", "x"),
        ("POST", "", &[md], "x\n", "# Day\n\ntext\nx\n"),
        ("PUT", "heading/Day", &[md], "x", "# Day\n\nx\n"),
        ("POST", "heading/Day", &[md], "x", "# Day\n\ntext\n\nx\n"),
        ("PATCH", "", &[("Content-Type", "application/json")], instruction, "# Day\n\ntext\n\nx\n"),
        ("PATCH", "heading/Day", &[md, append], "x", "# Day\n\ntext\n\nx\n"),
        ("PATCH", "", &[v1, md, append, heading, ("Target", "Day")], "x\n", "# Day\n\ntext\nx\n"),
    ] {
        let trial = RestTrial::new(&files);
        let answer = trial.send(method, &format!("/periodic/daily/2026/04/13/{behind}"), headers, body).await;
        assert!(answer.status.is_success(), "{method} {behind}: {}", answer.text());
        assert_eq!(answer.header("content-location"), "Daily/2026-04-13.md");
        assert_eq!(trial.text("Daily/2026-04-13.md").as_deref(), Some(expected), "{method} {behind} {headers:?}");
    }
}

#[tokio::test]
async fn a_body_that_was_compressed_is_not_taken_for_text() {
    let trial = RestTrial::new(&[("n.md", NOTE)]);
    for encoding in ["gzip", "deflate", "br", "identity, gzip", "GZIP", "", "x"] {
        for (method, path) in [
            ("PUT", "/vault/n.md"),
            ("PUT", "/vault/new.md"),
            ("POST", "/vault/n.md"),
            ("PATCH", "/vault/n.md/heading/One"),
            ("POST", "/search/"),
        ] {
            let headers = [MD[0], ("Content-Encoding", encoding), ("Operation", "append")];
            assert_eq!(trial.send(method, path, &headers, "x").await.code(), 41500, "{method} {path} {encoding}");
        }
    }
    assert_eq!(
        trial.send("PUT", "/vault/n.md", &[MD[0], ("Transfer-Encoding", "gzip, chunked")], "x").await.code(),
        50100
    );
    assert_eq!((trial.text("n.md").as_deref(), trial.text("new.md")), (Some(NOTE), None));
    let plain = [MD[0], ("Content-Encoding", "Identity"), ("Transfer-Encoding", "chunked")];
    assert_eq!(trial.send("PUT", "/vault/n.md", &plain, "x").await.status, 204);
}

#[tokio::test]
async fn settings_are_shared_as_far_as_the_caller_may_see_their_places() {
    let files = [
        (".obsidian/daily-notes.json", r#"{"folder": "Private/Days", "secret": "x"}"#),
        (".obsidian/templates.json", r#"{"folder": "Templates", "dateFormat": "DD", "apiKey": "x"}"#),
        (".obsidian/app.json", "{"),
        ("n.md", NOTE),
    ];
    let open = RestTrial::new(&files).get("/lapidary/settings/").await.json();
    assert_eq!(
        open,
        json!({
            ".obsidian/daily-notes.json": { "folder": "Private/Days" },
            ".obsidian/templates.json": { "folder": "Templates", "dateFormat": "DD" },
            ".obsidian/app.json": null,
        })
    );
    let closed = RestTrial::with(&files, &[], &[("OBSIDIAN_DENY_PATHS", "Private,Templates")]);
    let shared = closed.get("/lapidary/settings/").await.json();
    assert!(!shared.to_string().contains("Private") && !shared.to_string().contains("Templates"), "{shared}");
    // A format may name a folder too.
    let by_format = [(".obsidian/daily-notes.json", r#"{"format": "[Private/]YYYY-MM-DD"}"#)];
    let closed = RestTrial::with(&by_format, &[], &[("OBSIDIAN_DENY_PATHS", "Private")]);
    assert_eq!(closed.get("/lapidary/settings/").await.json(), json!({ ".obsidian/daily-notes.json": null }));
    assert_eq!(closed.raw("GET", "/lapidary/settings/", &[], "").await.code(), 40101);
    for (method, path) in [("PUT", "/lapidary/settings/"), ("GET", "/lapidary/"), ("GET", "/lapidary/settings/x")] {
        assert_eq!(closed.send(method, path, MD, "x").await.code(), 40400, "{method} {path}");
    }
}

#[tokio::test]
async fn a_read_only_server_changes_nothing_and_a_reader_neither() {
    for (words, environment) in [(&["--read-only"][..], &[][..]), (&[], &[("LAPIDARY_PROFILE", "reader")])] {
        let trial = RestTrial::with(&[("n.md", NOTE)], words, environment);
        for (method, path, headers) in [
            ("PUT", "/vault/n.md", MD),
            ("POST", "/vault/n.md", MD),
            ("PATCH", "/vault/n.md/heading/One", &[("Content-Type", "text/markdown"), ("Operation", "append")]),
            ("DELETE", "/vault/n.md", &[]),
            ("MOVE", "/vault/n.md", &[("Destination", "m.md")]),
            ("COPY", "/vault/n.md", &[("Destination", "m.md")]),
        ] {
            assert_eq!(trial.send(method, path, headers, "x").await.code(), 40300, "{method}");
        }
        assert_eq!(trial.get("/vault/n.md").await.text(), NOTE);
        assert_eq!((trial.text("n.md").as_deref(), trial.text("m.md")), (Some(NOTE), None));
    }
}

#[tokio::test]
async fn what_is_closed_does_not_exist() {
    let open = [("n.md", "[[secret]] x\n")];
    let closed = [("n.md", "[[secret]] x\n"), ("Private/secret.md", "#hush lantern [[n]]\n")];
    let environment = [("OBSIDIAN_DENY_PATHS", "Private")];
    let (with, without) = (RestTrial::with(&closed, &[], &environment), RestTrial::with(&open, &[], &environment));
    let logic = [("Content-Type", "application/vnd.olrapi.jsonlogic+json")];
    let note = [("Accept", "application/vnd.olrapi.note+json")];
    for (method, path, headers, body) in [
        ("GET", "/vault/", &[][..], ""),
        ("GET", "/vault/Private/", &[], ""),
        ("GET", "/vault/Private/secret.md", &[], ""),
        ("GET", "/vault/Private/secret.md/heading/A", &[], ""),
        ("GET", "/vault/Private/secret.md", &note, ""),
        ("PUT", "/vault/Private/secret.md", MD, "x"),
        ("POST", "/vault/Private/secret.md", MD, "x"),
        ("PATCH", "/vault/Private/secret.md/heading/A", MD, "x"),
        ("DELETE", "/vault/Private/secret.md", &[], ""),
        ("MOVE", "/vault/Private/secret.md", &[("Destination", "m.md")], ""),
        ("MOVE", "/vault/n.md", &[("Destination", "Private/secret.md")], ""),
        ("COPY", "/vault/n.md", &[("Destination", "Private/secret.md")], ""),
        ("POST", "/open/Private/secret.md", &[], ""),
        ("GET", "/tags/", &[], ""),
        ("POST", "/search/simple/?query=lantern", &[], ""),
        ("POST", "/search/", &logic, "{\"var\":\"links\"}"),
    ] {
        let (one, other) =
            (with.send(method, path, headers, body).await, without.send(method, path, headers, body).await);
        assert_eq!((one.status, one.text()), (other.status, other.text()), "{method} {path}");
    }
    let mut notes = Vec::new();
    for trial in [&with, &without] {
        let mut note = trial.send("GET", "/vault/n.md", &note, "").await.json();
        note["stat"] = Value::Null;
        notes.push(note);
    }
    assert_eq!(notes[0], notes[1]);
    assert_eq!(with.text("Private/secret.md").as_deref(), Some("#hush lantern [[n]]\n"));
}

#[tokio::test]
async fn a_change_is_recorded_with_its_checkpoint_and_no_key() {
    let trial = RestTrial::new(&[("n.md", NOTE)]);
    trial.send("PUT", "/vault/n.md", MD, "x").await;
    let undone = trial.assembled.executor.grant().profile.catalogue.find("rest/write").is_ok();
    assert!(undone, "it is in the catalogue that the executor judges by");
    let log = trial.log();
    assert!(log.contains("\"rest/write\"") && log.contains("\"rest\""), "{log}");
    assert!(!log.contains(KEY) && !log.contains("lantern"), "{log}");
}

impl RestTrial {
    /// The lines of the log of the vault.
    #[expect(clippy::disallowed_methods, reason = "reads the state of a test")]
    fn log(&self) -> String {
        let mut text = String::new();
        for entry in std::fs::read_dir(self.place.path().join("state")).unwrap() {
            let log = entry.unwrap().path().join("audit.jsonl");
            text += &std::fs::read_to_string(log).unwrap_or_default();
        }
        text
    }
}

#[tokio::test]
async fn json_with_too_many_values_is_not_parsed() {
    let trial = RestTrial::new(&[("n.md", NOTE)]);
    let many = format!("[{}0]", "0,".repeat(200_000));
    let json = [("Content-Type", "application/json")];
    assert_eq!(trial.send("PUT", "/vault/x.json", &json, &many).await.status, 413);
    assert_eq!(trial.get("/vault/x.json").await.code(), 40400);
    assert_eq!(trial.send("PUT", "/vault/x.json", &json, "[1,2]").await.status, 204);
}
