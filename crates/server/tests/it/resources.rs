//! Resources and the completion of their names, on the wire.

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault};

const BOTH: [Era; 2] = [Era::Legacy("2024-11-05"), Era::Modern];

fn read(server: &mut Server, uri: &str) -> Value {
    let reply = server.request("resources/read", json!({ "uri": uri }));
    let contents = &reply["result"]["contents"];
    assert_eq!(contents.as_array().map(Vec::len), Some(1), "{reply}");
    assert_eq!(contents[0]["uri"], uri);
    contents[0].clone()
}

/// The JSON in a resource, which is also readable for people.
fn read_json(server: &mut Server, uri: &str) -> Value {
    let contents = read(server, uri);
    assert_eq!(contents["mimeType"], "application/json", "{uri}");
    let text = contents["text"].as_str().unwrap();
    assert!(text.starts_with("{\n  \""), "{text}");
    serde_json::from_str(text).unwrap()
}

fn refused(server: &mut Server, uri: &str) -> Value {
    let reply = server.request("resources/read", json!({ "uri": uri }));
    assert!(reply.get("result").is_none(), "{reply}");
    reply["error"].clone()
}

#[test]
fn fixed_resources_are_listed_and_notes_have_a_template() {
    for era in BOTH {
        let vault = Vault::new(&[("a.md", b"x")]);
        let mut server = vault.serve().open(era);
        let list = server.request("resources/list", json!({}))["result"].clone();
        let described: Vec<(&Value, &Value, &Value)> = list["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|resource| (&resource["uri"], &resource["name"], &resource["mimeType"]))
            .collect();
        let json_type = json!("application/json");
        assert_eq!(
            described,
            [
                (&json!("obsidian://tags"), &json!("obsidian-tags"), &json_type),
                (&json!("obsidian://guide"), &json!("vault-guide"), &json_type),
                (&json!("obsidian://status"), &json!("obsidian-status"), &json_type),
            ]
        );
        assert!(list.get("nextCursor").is_none(), "no dump of all notes");
        let templates = server.request("resources/templates/list", json!({}))["result"]["resourceTemplates"].clone();
        assert_eq!(templates.as_array().unwrap().len(), 1);
        assert_eq!(templates[0]["uriTemplate"], "obsidian://vault/{+path}");
        assert_eq!(templates[0]["name"], "obsidian-vault-note");
    }
}

#[test]
fn a_note_is_read_as_by_the_note_tools() {
    let note = b"---\nstatus: open\ntags: [gem]\n---\n# Plan #cut\n";
    let vault = Vault::new(&[("Projects/To do.md", note), ("50%.md", b"half"), ("Why?.md", b"because")]);
    for era in BOTH {
        let mut server = vault.serve().open(era);
        for uri in ["obsidian://vault/Projects/To%20do.md", "obsidian://vault/Projects/To do.md"] {
            let read = read_json(&mut server, uri);
            assert_eq!(read["path"], "Projects/To do.md", "{uri}");
            assert_eq!(read["content"], std::str::from_utf8(note).unwrap());
            assert_eq!(read["frontmatter"], json!({ "status": "open", "tags": ["gem"] }));
            assert_eq!(read["tags"], json!(["gem", "cut"]));
            assert_eq!(read["stat"]["size"], note.len());
            assert!(read["stat"]["mtime"].as_u64().unwrap() > 1_600_000_000_000);
            assert!(read["contentHash"].as_str().unwrap().starts_with("sha256:"));
        }
        assert_eq!(read_json(&mut server, "obsidian://vault/50%.md")["content"], "half");
        assert_eq!(read_json(&mut server, "obsidian://vault/50%25.md")["content"], "half");
        assert_eq!(read_json(&mut server, "obsidian://vault/Why?.md")["content"], "because");
    }
}

#[test]
fn unusual_files_are_reported_with_their_properties() {
    let vault = Vault::new(&[
        ("win.md", "\u{feff}one\r\ntwo\r\n".as_bytes()),
        ("bad.md", b"a\xffb\n"),
        ("broken.md", b"---\na: b: c\n---\ntext\n"),
        ("zero.md", b"a\0b"),
        ("list.csv", b"a,b\r\n1,2\r\n"),
        ("board.canvas", b"{\"nodes\":[]}"),
        ("pic.PNG", b"\x89PNG\r\n\x1a\n"),
        ("drawing.svg", b"<svg/>"),
        ("strange.xyz", b"\xff\xfe\x00"),
        ("plain", b"no extension"),
    ]);
    let mut server = vault.serve().open(Era::Modern);
    let windows = read_json(&mut server, "obsidian://vault/win.md");
    assert_eq!((&windows["content"], &windows["eol"]), (&json!("one\ntwo\n"), &json!("crlf")));
    assert_eq!(windows["bom"], true);
    let bad = read_json(&mut server, "obsidian://vault/bad.md");
    assert_eq!(bad["content"], "a\u{fffd}b\n");
    assert!(bad["notice"].as_str().unwrap().contains("not valid UTF-8"), "{bad}");
    let broken = read_json(&mut server, "obsidian://vault/broken.md");
    assert_eq!(broken["frontmatter"], json!({}));
    assert!(broken["notice"].as_str().unwrap().contains("not valid YAML"), "{broken}");
    let table = read(&mut server, "obsidian://vault/list.csv");
    assert_eq!((&table["mimeType"], &table["text"]), (&json!("text/csv"), &json!("a,b\n1,2\n")));
    assert_eq!(table["_meta"]["eol"], "crlf");
    assert!(table["_meta"]["contentHash"].as_str().unwrap().starts_with("sha256:"));
    for (file, media_type, blob) in [
        ("pic.PNG", "image/png", Some("iVBORw0KGgo=")),
        ("drawing.svg", "image/svg+xml", Some("PHN2Zy8+")),
        ("strange.xyz", "application/octet-stream", Some("//4A")),
        ("zero.md", "text/markdown", Some("YQBi")),
        ("board.canvas", "application/json", None),
        ("plain", "text/plain", None),
    ] {
        let contents = read(&mut server, &format!("obsidian://vault/{file}"));
        assert_eq!(contents["mimeType"], media_type, "{file}");
        assert_eq!(contents["blob"].as_str(), blob, "{file}");
        assert_eq!(contents["text"].is_string(), blob.is_none(), "{file}");
    }
}

#[test]
fn a_tool_that_meets_a_picture_names_the_resource() {
    let vault = Vault::new(&[("My pics/a.png", b"\x89PNG\0")]);
    let mut server = vault.serve().open(Era::Modern);
    let target = json!({ "type": "path", "path": "My pics/a.png" });
    let result = server.call("obsidian_get_note", json!({ "format": "content", "target": target }));
    let data = &result["structuredContent"]["error"]["data"];
    assert_eq!(data["reason"], "not_text");
    let uri = data["resource"].as_str().unwrap();
    assert_eq!(read(&mut server, uri)["mimeType"], "image/png");
}

#[test]
fn tags_are_all_tags_and_status_says_what_works() {
    for era in BOTH {
        let vault = Vault::new(&[("a.md", b"#gem/cut #gem"), ("b.md", b"#gem"), ("hidden.md", b"#secret")]);
        let mut server = vault.serve_with(&[], &[("OBSIDIAN_DENY_PATHS", "hidden.md")]).open(era);
        let tags = read_json(&mut server, "obsidian://tags");
        assert_eq!(tags, json!({ "tags": [{ "name": "gem", "count": 2 }, { "name": "gem/cut", "count": 1 }] }));
        let status = read_json(&mut server, "obsidian://status");
        assert_eq!((&status["status"], &status["authenticated"]), (&json!("OK"), &json!(true)));
        let all = json!({ "compareAndSwap": true, "atomicMany": true, "durable": true, "checkpoints": true });
        let vaults = json!([
            { "name": "Notes", "status": "OK", "app": { "status": "not_set_up" }, "capabilities": all },
        ]);
        assert_eq!(status["vaults"], vaults);
        assert_eq!(status["versions"]["self"], env!("CARGO_PKG_VERSION"));
        vault.write(".lapidaryignore", b"[broken");
        let status = read_json(&mut server, "obsidian://status");
        assert_eq!((&status["status"], &status["authenticated"]), (&json!("unavailable"), &json!(false)));
        assert_eq!(status["vaults"][0]["status"], "vault_closed");
        assert_eq!(refused(&mut server, "obsidian://tags")["data"]["reason"], "vault_closed");
    }
}

#[test]
fn refusals_are_errors_with_code_data_and_hint() {
    let vault = Vault::new(&[("Folder/a.md", b"x"), ("secret/b.md", b"x"), ("big.md", &[b'x'; 3000])]);
    for era in BOTH {
        let environment = [("OBSIDIAN_READ_PATHS", "Folder,big.md,none"), ("LAPIDARY_MAX_REPLY_BYTES", "2000")];
        let mut server = vault.serve_with(&[], &environment).open(era);
        let missing = if era == Era::Modern { -32602 } else { -32001 };
        for (uri, code, reason) in [
            ("obsidian://vault/none/a.md", missing, "note_missing"),
            ("obsidian://vault/Folder/A.md", missing, "note_missing"),
            ("obsidian://vault/secret/b.md", -32005, "path_forbidden"),
            ("obsidian://vault/secret/none.md", -32005, "path_forbidden"),
            ("obsidian://vault/Folder", -32007, "path_is_directory"),
            ("obsidian://vault/../a.md", -32007, "path_traversal"),
            ("obsidian://vault/%2E%2E%2Fa.md", -32007, "path_traversal"),
            ("obsidian://vault/big.md", -32007, "reply_too_large"),
            ("obsidian://vault/Folder/a.md?vault=other", -32007, "vault_unknown"),
            ("obsidian://nothing", -32602, "resource_unknown"),
            ("file:///etc/passwd", -32602, "resource_unknown"),
        ] {
            let error = refused(&mut server, uri);
            assert_eq!((&error["code"], &error["data"]["reason"]), (&json!(code), &json!(reason)), "{uri} {era:?}");
            assert!(error["data"]["recovery"]["hint"].is_string(), "{error}");
            assert_eq!(error["data"]["uri"], uri);
        }
        let forbidden = refused(&mut server, "obsidian://vault/secret/b.md");
        assert_eq!(forbidden["data"]["subreason"], "outside_read_paths");
        assert_eq!(forbidden["data"]["activeScope"], json!(["Folder", "big.md", "none"]));
        assert_eq!(refused(&mut server, "obsidian://vault/Folder/A.md")["data"]["suggestions"], json!(["Folder/a.md"]));
    }
}

#[test]
fn files_beyond_the_limit_are_not_sent() {
    let vault = Vault::new(&[("pic.png", &[7; 5000]), ("small.png", &[7; 50])]);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_MAX_FILE_BYTES", "1000")]).open(Era::Modern);
    assert_eq!(refused(&mut server, "obsidian://vault/pic.png")["data"]["reason"], "file_too_large");
    read(&mut server, "obsidian://vault/small.png");
}

#[test]
fn several_vaults_are_told_apart_in_the_uri() {
    let (one, two) = (Vault::new(&[("a.md", b"one #x")]), Vault::new(&[("a.md", b"two #y"), ("b.md", b"b")]));
    let mut command = one.command();
    command.arg("--vault").arg(one.path()).arg("--vault").arg(format!("My notes={}", two.path().display()));
    let mut server = Server::start(&command).open(Era::Modern);
    let list = server.request("resources/list", json!({}))["result"]["resources"].clone();
    let uris: Vec<&str> = list.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    let of_vaults =
        ["tags?vault=Notes", "tags?vault=My%20notes", "guide?vault=Notes", "guide?vault=My%20notes", "status"];
    assert_eq!(uris, of_vaults.map(|resource| format!("obsidian://{resource}")));
    let templates = server.request("resources/templates/list", json!({}))["result"]["resourceTemplates"].clone();
    assert_eq!(templates[0]["uriTemplate"], "obsidian://vault/{+path}{?vault}");
    for (uri, content) in
        [("obsidian://vault/a.md?vault=Notes", "one #x"), ("obsidian://vault/a.md?vault=My%20notes", "two #y")]
    {
        assert_eq!(read_json(&mut server, uri)["content"], content);
    }
    assert_eq!(read_json(&mut server, uris[1])["tags"][0]["name"], "y");
    assert_eq!(read_json(&mut server, "obsidian://status")["vaults"].as_array().unwrap().len(), 2);
    assert_eq!(refused(&mut server, "obsidian://vault/a.md")["data"]["vaults"], json!(["Notes", "My notes"]));
    let reference = json!({ "type": "ref/resource", "uri": templates[0]["uriTemplate"] });
    let vaults = json!({ "ref": reference, "argument": { "name": "vault", "value": "my" } });
    let completed = server.request("completion/complete", vaults)["result"]["completion"].clone();
    assert_eq!(completed, json!({ "values": ["My notes"], "total": 1, "hasMore": false }));
    let paths = json!({
        "ref": reference,
        "argument": { "name": "path", "value": "" },
        "context": { "arguments": { "vault": "My notes" } },
    });
    let completed = server.request("completion/complete", paths)["result"]["completion"].clone();
    assert_eq!(completed["values"], json!(["a.md", "b.md"]));
}

fn complete(server: &mut Server, typed: &str) -> Value {
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "obsidian://vault/{+path}" },
        "argument": { "name": "path", "value": typed },
    });
    let reply = server.request("completion/complete", params);
    assert!(reply.get("result").is_some(), "{reply}");
    reply["result"]["completion"].clone()
}

#[test]
fn paths_are_completed_as_far_as_the_caller_may_see_them() {
    let vault = Vault::new(&[
        ("Plan.md", b"x"),
        ("Projects/Plan B.md", b"x"),
        ("Projects/replan.png", b"x"),
        ("Closed/Plan.md", b"x"),
        ("Ignored/Plan.md", b"x"),
        (".obsidian/plan.json", b"{}"),
        (".lapidaryignore", b"Ignored/\n"),
    ]);
    for era in BOTH {
        let mut server = vault.serve_with(&[], &[("OBSIDIAN_DENY_PATHS", "Closed")]).open(era);
        assert_eq!(
            complete(&mut server, "plan"),
            json!({ "values": ["Plan.md", "Projects/Plan B.md", "Projects/replan.png"], "total": 3, "hasMore": false })
        );
        assert_eq!(complete(&mut server, "PROJ")["values"], json!(["Projects/Plan B.md", "Projects/replan.png"]));
        for hidden in ["Closed", "Ignored", ".obs", "nothing"] {
            let nothing = json!({ "values": [], "total": 0, "hasMore": false });
            assert_eq!(complete(&mut server, hidden), nothing, "{hidden}");
        }
        for (reference, argument) in [
            (json!({ "type": "ref/resource", "uri": "obsidian://vault/{+path}" }), "other"),
            (json!({ "type": "ref/resource", "uri": "test://{x}" }), "path"),
            (json!({ "type": "ref/prompt", "name": "none" }), "path"),
        ] {
            let params = json!({ "ref": reference, "argument": { "name": argument, "value": "" } });
            assert_eq!(server.request("completion/complete", params)["error"]["code"], -32602, "{reference}");
        }
    }
}

#[test]
fn no_more_than_a_hundred_paths_come_and_the_rest_is_counted() {
    let files: Vec<String> = (0..230).map(|number| format!("n{number}.md")).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|path| (path.as_str(), &b"x"[..])).collect();
    let vault = Vault::new(&files);
    let mut server = vault.serve().open(Era::Modern);
    let completed = complete(&mut server, "n");
    assert_eq!(completed["values"].as_array().unwrap().len(), 100);
    assert_eq!((&completed["total"], &completed["hasMore"]), (&json!(230), &json!(true)));
    let all = complete(&mut server, "n22");
    assert_eq!((&all["total"], &all["hasMore"]), (&json!(11), &json!(false)));
}

#[test]
fn the_log_tells_of_resources_as_of_calls() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let mut server = vault.serve().open(Era::Modern);
    read(&mut server, "obsidian://vault/a.md");
    refused(&mut server, "obsidian://vault/.obsidian/app.json");
    refused(&mut server, "obsidian://nothing");
    complete(&mut server, "a");
    server.stop();
    let log = vault.log();
    let told: Vec<(&str, Option<&str>, bool, Option<&str>)> = log
        .iter()
        .map(|line| {
            let text = |name: &str| line[name].as_str();
            (text("tool").unwrap(), text("file"), line["ok"].as_bool().unwrap(), text("reason"))
        })
        .collect();
    assert_eq!(
        told,
        [
            ("resources/read", Some("a.md"), true, None),
            ("resources/read", Some(".obsidian/app.json"), false, Some("path_forbidden")),
            ("resources/read", None, false, Some("resource_unknown")),
            ("completion/complete", None, true, None),
        ]
    );
    assert!(log[0]["reply_bytes"].as_u64().unwrap() > 50 && log[0]["client_id"] == "stdio:~test", "{}", log[0]);
}

#[test]
fn repeated_reading_of_a_resource_is_not_refused() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let mut server = vault.serve().open(Era::Modern);
    for _ in 0..8 {
        assert_eq!(read_json(&mut server, "obsidian://vault/a.md")["content"], "x");
    }
}
