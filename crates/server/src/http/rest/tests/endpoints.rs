//! The table: endpoint, method, headers, body and code.

use super::*;

const MD: (&str, &str) = ("Content-Type", "text/markdown");
const JSON: (&str, &str) = ("Content-Type", "application/json");
const V1: (&str, &str) = ("Markdown-Patch-Version", "1");
const V2: (&str, &str) = ("Markdown-Patch-Version", "2");

#[tokio::test]
async fn every_error_has_the_code_of_the_plugin() {
    const HEADING: (&str, &str) = ("Target-Type", "heading");
    let files = [("n.md", NOTE), ("dir/a.md", "x\n"), ("broken.md", "---\na: b: c\n---\nx\n")];
    let rows: &[RequestRow<'_>] = &[
        // Reading.
        ("GET", "/vault/", &[], "", 200),
        ("GET", "/vault/dir", &[], "", 200),
        ("GET", "/vault/dir/", &[], "", 200),
        ("GET", "/vault/none/", &[], "", 40400),
        ("GET", "/vault/none.md", &[], "", 40400),
        ("GET", "/vault/n.md", &[], "", 200),
        ("GET", "/vault/n%2Emd", &[], "", 200),
        ("GET", "/vault/dir%2Fa.md", &[], "", 40400),
        ("GET", "/vault/%ff", &[], "", 40021),
        ("GET", "/vault/..%2F..%2Fetc%2Fpasswd", &[], "", 40021),
        ("GET", "/vault/..%20/x.md", &[], "", 40021),
        ("GET", "/vault/dir/...%2Fa.md", &[], "", 40021),
        ("GET", "/vault/.obsidian/plugins/obsidian-local-rest-api/data.json", &[], "", 40321),
        ("GET", "/vault/.obsidian/", &[], "", 40321),
        ("GET", "/vault/.obsidian", &[], "", 40321),
        ("GET", "/vault/.OBSIDIAN/none.json", &[], "", 40321),
        ("GET", "/vault/.obsidian./none.json", &[], "", 40321),
        ("GET", "/vault/.obsidian%2Fnone.json", &[], "", 40321),
        ("GET", "/vault/.obsidian-other/none.json", &[], "", 40400),
        ("HEAD", "/vault/.obsidian/app.json", &[], "", 403),
        ("POST", "/vault/.obsidian/app.json", &[MD], "x", 40321),
        ("PATCH", "/vault/.obsidian/app.json", &[JSON], "{}", 40321),
        ("DELETE", "/vault/.obsidian/app.json", &[], "", 40321),
        ("MOVE", "/vault/.obsidian/app.json", &[("Destination", "m.json")], "", 40321),
        ("POST", "/open/.obsidian/app.json", &[], "", 40321),
        ("GET", "/vault/n.md", &[("Accept", "application/vnd.olrapi.note+json")], "", 200),
        ("GET", "/vault/n.md", &[("Accept", "application/vnd.olrapi.document-map+json")], "", 200),
        (
            "GET",
            "/vault/n.md",
            &[("Accept", "application/vnd.olrapi.document-map+json"), ("Markdown-Patch-Version", "3")],
            "",
            40082,
        ),
        ("GET", "/vault/n.md", &[("Accept", "text/html")], "", 200),
        ("GET", "/vault/broken.md", &[("Accept", "text/html")], "", 200),
        ("GET", "/vault/dir/", &[("Accept", "text/html")], "", 200),
        ("GET", "/vault/none.md", &[("Accept", "text/html")], "", 40400),
        ("GET", "/vault/broken.md", &[("Accept", "application/vnd.olrapi.document-map+json")], "", 40005),
        ("GET", "/vault/n.md/heading/One", &[], "", 200),
        ("GET", "/vault/n.md/heading/One/Sub", &[], "", 200),
        ("GET", "/vault/n.md/heading/None", &[], "", 40400),
        ("GET", "/vault/n.md/heading/", &[], "", 40055),
        ("GET", "/vault/n.md/block/b1", &[], "", 200),
        ("GET", "/vault/n.md/block/none", &[], "", 40400),
        ("GET", "/vault/n.md/frontmatter/title", &[], "", 200),
        ("GET", "/vault/n.md/frontmatter/none", &[], "", 40400),
        ("GET", "/vault/n.md/other/x", &[], "", 40054),
        ("GET", "/vault/n.md/heading/One", &[HEADING], "", 42200),
        ("GET", "/vault/n.md/heading/One", &[("Target", "One")], "", 42200),
        ("GET", "/vault/n.md/heading/One", &[("Target-Scope", "parent")], "", 40059),
        ("GET", "/vault/n.md", &[HEADING, ("Target", "One")], "", 40083),
        ("GET", "/vault/n.md", &[("Target-Type", "bogus"), ("Target", "One")], "", 40054),
        ("GET", "/vault/n.md", &[V1, HEADING], "", 40055),
        ("GET", "/vault/n.md", &[V1, HEADING, ("Target", "%zz")], "", 40058),
        ("GET", "/vault/n.md", &[V1, HEADING, ("Target", "One")], "", 200),
        ("GET", "/vault/n.md", &[V1, HEADING, ("Target", "Sub")], "", 40400),
        ("GET", "/vault/n.md", &[V1, ("Target-Type", "block"), ("Target", "b1")], "", 200),
        ("GET", "/vault/n.md", &[V1, ("Target-Type", "frontmatter"), ("Target", "none")], "", 40400),
        // Writing.
        ("PUT", "/vault/new/deep.md", &[MD], "x", 204),
        ("PUT", "/vault/dir/", &[MD], "x", 40510),
        ("PUT", "/vault/", &[MD], "x", 40510),
        ("PUT", "/vault/dir", &[MD], "x", 40510),
        ("PUT", "/vault/n.md", &[JSON], "{", 40015),
        ("PUT", "/vault/none.md/heading/X", &[MD], "x", 40400),
        ("PUT", "/vault/n.md/heading/New", &[MD], "x", 200),
        ("PUT", "/vault/n.md/heading/One", &[("Content-Type", "text/plain")], "x", 40012),
        ("PUT", "/vault/n.md/heading/One", &[JSON], "[1]", 40081),
        ("PUT", "/vault/n.md/heading/One", &[MD, ("Target-Scope", "marker")], "x", 40083),
        ("PUT", "/vault/n.md/heading/One", &[MD, HEADING], "x", 42200),
        ("PUT", "/vault/n.md", &[MD, HEADING, ("Target", "One")], "x", 40083),
        ("PUT", "/vault/n.md", &[MD, ("Target", "One")], "x", 40053),
        ("PUT", "/vault/n.md", &[MD, HEADING], "x", 40055),
        ("PUT", "/vault/n.md", &[V1, MD, HEADING, ("Target", "One")], "x", 200),
        ("PUT", "/vault/n.md/block/t1", &[JSON], "[[\"3\",\"4\"]]", 200),
        ("PUT", "/vault/.obsidian/app.json", &[MD], "x", 40321),
        ("PUT", "/vault/..%2Fx.md", &[MD], "x", 40021),
        ("PUT", "/vault/Private./p.md", &[MD], "x", 40000),
        ("PUT", "/vault/Private%20/p.md", &[MD], "x", 40000),
        ("PUT", "/vault/CON.md", &[MD], "x", 40000),
        ("PUT", "/vault/a%3Ab.md", &[MD], "x", 40000),
        ("PUT", "/vault/a%0Ab.md", &[MD], "x", 40021),
        ("POST", "/vault/Private./p.md", &[MD], "x", 40000),
        ("MOVE", "/vault/n.md", &[("Destination", "Private./p.md")], "", 40000),
        ("COPY", "/vault/n.md", &[("Destination", "CON.md")], "", 40000),
        ("POST", "/open/Private./p.md", &[], "", 40000),
        ("POST", "/vault/n.md", &[MD], "x", 204),
        ("POST", "/vault/new.md", &[MD], "x", 204),
        ("POST", "/vault/n.md", &[JSON], "{}", 40010),
        ("POST", "/vault/n.md", &[("Content-Type", "image/png")], "x", 40010),
        ("POST", "/vault/dir/", &[MD], "x", 40510),
        ("POST", "/vault/n.md/heading/None", &[MD], "x", 40400),
        ("POST", "/vault/n.md/block/t1", &[JSON], "[[\"only\"]]", 40080),
        ("DELETE", "/vault/n.md", &[], "", 204),
        ("DELETE", "/vault/none.md", &[], "", 40400),
        ("DELETE", "/vault/dir/", &[], "", 40510),
        ("DELETE", "/vault/dir", &[], "", 40400),
        ("DELETE", "/vault/n.md/heading/One", &[], "", 40500),
        ("MOVE", "/vault/n.md", &[("Destination", "new/m.md")], "", 204),
        ("MOVE", "/vault/n.md", &[], "", 40020),
        ("MOVE", "/vault/n.md", &[("Destination", "%zz")], "", 40022),
        ("MOVE", "/vault/n.md", &[("Destination", "/etc/x.md")], "", 40021),
        ("MOVE", "/vault/n.md", &[("Destination", "a/../../x.md")], "", 40021),
        ("MOVE", "/vault/n.md", &[("Destination", "dir/a.md")], "", 40920),
        ("MOVE", "/vault/n.md", &[("Destination", "dir/a.md"), ("Allow-Overwrite", "true")], "", 204),
        ("MOVE", "/vault/n.md", &[("Destination", "n.md")], "", 204),
        ("MOVE", "/vault/none.md", &[("Destination", "m.md")], "", 40400),
        ("MOVE", "/vault/dir/", &[("Destination", "m/")], "", 40510),
        ("COPY", "/vault/n.md", &[("Destination", "m.md")], "", 204),
        ("COPY", "/vault/n.md", &[("Destination", "n.md")], "", 40920),
        ("COPY", "/vault/n.md", &[("Destination", "dir/a.md")], "", 40920),
        ("COPY", "/vault/n.md", &[("Destination", ".obsidian/x.md")], "", 40321),
        // Patching.
        ("PATCH", "/vault/n.md", &[MD], "x", 40081),
        ("PATCH", "/vault/n.md", &[JSON], "[]", 40081),
        ("PATCH", "/vault/n.md", &[JSON], "{", 40015),
        ("PATCH", "/vault/n.md", &[JSON, ("Markdown-Patch-Version", "9")], "{}", 40082),
        ("PATCH", "/vault/dir/", &[JSON], "{}", 40510),
        (
            "PATCH",
            "/vault/none.md",
            &[JSON],
            r#"{"targetType":"heading","target":["A"],"operation":"append","content":"x"}"#,
            40400,
        ),
        ("PATCH", "/vault/n.md", &[MD, HEADING, ("Target", "One"), ("Operation", "append")], "x", 40084),
        ("PATCH", "/vault/n.md", &[V2, MD, HEADING, ("Target", "One"), ("Operation", "append")], "x", 40058),
        ("PATCH", "/vault/n.md", &[V2, MD, HEADING, ("Target", "%5B%22One%22%5D"), ("Operation", "append")], "x", 200),
        ("PATCH", "/vault/n.md", &[V2, MD, ("Target", "One"), ("Operation", "append")], "x", 40053),
        ("PATCH", "/vault/n.md/heading/One", &[MD], "x", 40056),
        ("PATCH", "/vault/n.md/heading/One", &[MD, ("Operation", "rename")], "x", 40057),
        ("PATCH", "/vault/n.md/heading/One", &[MD, ("Operation", "append"), ("Target-Scope", "x")], "x", 40059),
        ("PATCH", "/vault/n.md/heading/One", &[MD, ("Operation", "append"), ("Within", "first")], "x", 40023),
        ("PATCH", "/vault/n.md/heading/One", &[MD, ("Operation", "append"), ("Within", "9")], "x", 40400),
        (
            "PATCH",
            "/vault/n.md/heading/One",
            &[("Operation", "replace"), ("Target-Scope", "parent"), ("Destination", "{")],
            "",
            40022,
        ),
        ("PATCH", "/vault/n.md/heading/One", &[MD, ("Operation", "replace")], "", 40081),
        ("PATCH", "/vault/n.md/heading/One", &[("Content-Type", "image/png"), ("Operation", "append")], "x", 40012),
        ("PATCH", "/vault/n.md/heading/One", &[MD, ("Operation", "append"), ("Target-Delimiter", "::")], "x", 40084),
        ("PATCH", "/vault/n.md/heading/One", &[MD, HEADING, ("Operation", "append")], "x", 42200),
        (
            "PATCH",
            "/vault/n.md/heading/One",
            &[("Content-Type", "application/vnd.olrapi.patch-instruction+json")],
            "{}",
            42200,
        ),
        ("PATCH", "/vault/n.md/heading/One", &[V1, MD, ("Operation", "append")], "x", 40082),
        ("PATCH", "/vault/n.md/heading/None", &[MD, ("Operation", "append")], "x", 40400),
        ("PATCH", "/vault/n.md", &[V1, MD, ("Operation", "append"), ("Target", "One")], "x", 40053),
        (
            "PATCH",
            "/vault/n.md",
            &[V1, MD, ("Operation", "append"), ("Target-Type", "x"), ("Target", "One")],
            "x",
            40054,
        ),
        ("PATCH", "/vault/n.md", &[V1, MD, HEADING, ("Target", "One")], "x", 40056),
        ("PATCH", "/vault/n.md", &[V1, MD, HEADING, ("Target", "One"), ("Operation", "delete")], "x", 40057),
        (
            "PATCH",
            "/vault/n.md",
            &[V1, MD, HEADING, ("Target", "One"), ("Operation", "append"), ("Target-Scope", "parent")],
            "x",
            40059,
        ),
        (
            "PATCH",
            "/vault/n.md",
            &[V1, ("Content-Type", "text/plain"), HEADING, ("Target", "One"), ("Operation", "append")],
            "x",
            40012,
        ),
        ("PATCH", "/vault/n.md", &[V1, MD, HEADING, ("Target", "None"), ("Operation", "append")], "x", 40080),
        (
            "PATCH",
            "/vault/n.md",
            &[V1, MD, HEADING, ("Target", "One"), ("Operation", "append"), ("Reject-If-Content-Preexists", "true")],
            "sub text",
            40080,
        ),
        ("PATCH", "/vault/none.md", &[V1, MD, HEADING, ("Target", "One"), ("Operation", "append")], "x", 40400),
        // Elsewhere.
        ("GET", "/active/", &[], "", 40400),
        ("PUT", "/active/", &[MD], "x", 40400),
        ("GET", "/periodic/hourly/", &[], "", 40460),
        ("GET", "/periodic/weekly/", &[], "", 40060),
        ("GET", "/periodic/daily/", &[], "", 40461),
        ("GET", "/periodic/daily/2026/13/40/", &[], "", 40461),
        ("POST", "/open/n.md", &[], "", 200),
        ("POST", "/open/dir%2Fa.md", &[], "", 200),
        ("POST", "/open/dir/", &[], "", 40510),
        ("POST", "/open/", &[], "", 40400),
        ("GET", "/open/n.md", &[], "", 40400),
        ("POST", "/open/..%2Fx", &[], "", 40021),
        ("GET", "/commands/", &[], "", 200),
        ("POST", "/commands/editor:save-file/", &[], "", 40400),
        ("GET", "/commands", &[], "", 200),
        ("HEAD", "/commands/", &[], "", 200),
        ("PUT", "/commands/", &[], "", 40400),
        ("POST", "/commands/", &[], "", 40400),
        ("POST", "/commands/a/b/", &[], "", 40400),
        ("GET", "/tags/", &[], "", 200),
        ("GET", "/tags", &[], "", 200),
        ("GET", "/TAGS/", &[], "", 200),
        ("HEAD", "/tags/", &[], "", 200),
        ("POST", "/tags/", &[], "", 40400),
        ("POST", "/search/simple/", &[], "", 40090),
        ("POST", "/search/simple/?query=a&query=b", &[], "", 40090),
        ("POST", "/search/simple/?query=lantern", &[], "", 200),
        ("POST", "/search/simple?query=lantern", &[], "", 200),
        ("POST", "/search/simple/?query=", &[], "", 200),
        ("POST", "/search/simple/?query=lantern&contextLength=x", &[], "", 200),
        ("POST", "/search/simple/?query=lantern&contextLength=-5", &[], "", 200),
        ("POST", "/search/other/", &[], "", 40400),
        ("GET", "/search/simple/?query=lantern", &[], "", 40400),
        ("POST", "/search/", &[], "{}", 40011),
        ("POST", "/search/", &[("Content-Type", "text/plain")], "{}", 40012),
        ("POST", "/search/", &[("Content-Type", "application/vnd.olrapi.jsonlogic+json")], "{", 40015),
        ("POST", "/search/", &[("Content-Type", "application/vnd.olrapi.jsonlogic+json")], r#"{"nope":[1]}"#, 40070),
        ("POST", "/search/", &[("Content-Type", "application/vnd.olrapi.dataview.dql+txt")], "LIST", 40070),
        ("GET", "/nowhere/", &[], "", 40400),
        ("GET", "/obsidian-local-rest-api.crt", &[], "", 40400),
    ];
    check(&files, rows).await;
}

#[tokio::test]
async fn everything_but_the_status_needs_the_key() {
    let trial = RestTrial::new(&[("n.md", NOTE)]);
    for (method, path) in [
        ("GET", "/vault/"),
        ("GET", "/vault/n.md"),
        ("PUT", "/vault/n.md"),
        ("PATCH", "/active/"),
        ("DELETE", "/active/"),
        ("POST", "/search/simple/?query=x"),
        ("GET", "/tags/"),
        ("GET", "/nowhere"),
    ] {
        for headers in [
            &[][..],
            &[("Authorization", "Bearer wrong")],
            &[("Authorization", "Bearer ")],
            &[("Authorization", KEY)],
            &[("X-Key", "Bearer d41d8cd98f00b204e9800998ecf8427e-key")],
        ] {
            let answer = trial.raw(method, path, headers, "").await;
            assert_eq!(answer.code(), 40101, "{method} {path} {headers:?}");
            assert!(!answer.text().contains(KEY));
        }
    }
    let answer = trial.raw("GET", "/", &[], "").await.json();
    assert_eq!((&answer["status"], &answer["authenticated"]), (&json!("OK"), &json!(false)));
    assert!(answer.get("apiExtensions").is_none());
    let answer = trial.get("/").await.json();
    assert_eq!((&answer["service"], &answer["authenticated"]), (&json!("Obsidian Local REST API"), &json!(true)));
    assert_eq!((&answer["versions"]["self"], &answer["apiExtensions"]), (&json!("5.1.0"), &json!([])));
    let openapi = trial.raw("GET", "/openapi.yaml", &[], "").await;
    assert!(openapi.header("content-type").contains("yaml") && openapi.text().contains("openapi:"));
    assert_eq!(trial.text("n.md").as_deref(), Some(NOTE));
}

#[tokio::test]
async fn the_plugin_may_have_another_header_for_its_key() {
    let settings = r#"{"apiKey": "another-key", "authorizationHeaderName": "X-Vault-Key"}"#;
    let trial = RestTrial::new(&[(SETTINGS_FILE, settings), ("n.md", NOTE)]);
    let answer = |headers: &'static [(&'static str, &'static str)]| trial.raw("GET", "/vault/n.md", headers, "");
    assert_eq!(answer(&[("X-Vault-Key", "Bearer another-key")]).await.status, 200);
    assert_eq!(answer(&[("Authorization", "Bearer another-key")]).await.code(), 40101);
}

#[tokio::test]
async fn pages_of_others_may_ask_and_read_every_header() {
    let trial = RestTrial::new(&[("n.md", NOTE)]);
    let asked = [("Origin", "https://example.com"), ("Access-Control-Request-Headers", "authorization, operation")];
    let answer = trial.raw("OPTIONS", "/vault/n.md", &asked, "").await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("access-control-allow-headers"), "authorization, operation");
    assert!(answer.header("access-control-allow-methods").contains("MOVE"));
    for answer in [answer, trial.raw("GET", "/vault/", &asked, "").await, trial.get("/vault/").await] {
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert_eq!(answer.header("access-control-expose-headers"), "*");
    }
}

#[tokio::test]
async fn a_target_without_a_path_is_not_found() {
    let trial = RestTrial::new(&[("n.md", NOTE)]);
    for target in ["example.org:80", "*"] {
        assert_eq!(trial.send("CONNECT", target, &[], "").await.status, StatusCode::NOT_FOUND, "{target}");
    }
}

#[tokio::test]
async fn a_head_has_the_length_and_no_body() {
    let trial = RestTrial::new(&[("n.md", NOTE)]);
    for (path, length) in [("/vault/n.md", NOTE.len()), ("/vault/", trial.get("/vault/").await.body.len())] {
        let answer = trial.send("HEAD", path, &[], "").await;
        assert_eq!((answer.status, answer.body.len()), (StatusCode::OK, 0));
        assert_eq!(answer.header("content-length"), length.to_string());
    }
    assert_eq!(trial.send("HEAD", "/vault/none.md", &[], "").await.status, 404);
}

#[tokio::test]
async fn a_note_is_shown_as_html_on_request() {
    let note = "---\na: 1\n---\n# A & B\n\n[[Other]] <script>alert(1)</script>\n";
    let trial = RestTrial::new(&[("n.md", note), ("p.html", "<b>x</b>")]);
    let html = [("Accept", "text/html")];
    let answer = trial.send("GET", "/vault/n.md", &html, "").await;
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    assert!(answer.header("content-security-policy").contains("sandbox") && answer.header("etag").is_empty());
    assert_eq!(
        answer.text(),
        "<h1>A &amp; B</h1>\n<p><a data-href=\"Other\" href=\"Other\" class=\"internal-link\">Other</a> \
         &lt;script&gt;alert(1)&lt;/script&gt;</p>\n"
    );
    let head = trial.send("HEAD", "/vault/n.md", &html, "").await;
    assert_eq!((head.header("content-length"), head.body.len()), (&*answer.body.len().to_string(), 0));
    // A file that is not a note stays what it is, and a list of types is another wish.
    assert_eq!(trial.send("GET", "/vault/p.html", &html, "").await.text(), "<b>x</b>");
    let list = trial.send("GET", "/vault/n.md", &[("Accept", "text/html, */*")], "").await;
    assert_eq!((list.header("content-type"), list.text()), ("text/markdown; charset=utf-8", note));
}

#[tokio::test]
async fn guesses_of_the_key_are_limited_and_the_right_key_works_all_the_same() {
    let guess = [("Authorization", "Bearer guess")];
    let trial = RestTrial::new(&[("n.md", NOTE)]);
    for _ in 0..30 {
        assert_eq!(trial.raw("GET", "/vault/", &guess, "").await.code(), 40101);
    }
    let refused = trial.raw("GET", "/vault/", &guess, "").await;
    assert_eq!((refused.code(), refused.header("retry-after").is_empty()), (42901, false));
    assert_eq!(trial.raw("GET", "/", &guess, "").await.code(), 42901, "the status would tell whether a key is right");
    assert_eq!(trial.raw("GET", "/vault/", &[], "").await.code(), 40101, "without a key nothing was guessed");
    assert_eq!(trial.get("/vault/n.md").await.status, 200);
    let weak = RestTrial::new(&[(SETTINGS_FILE, r#"{"apiKey": "secret"}"#), ("n.md", NOTE)]);
    let right = [("Authorization", "Bearer secret")];
    for _ in 0..40 {
        assert_eq!(weak.raw("GET", "/vault/n.md", &right, "").await.status, 200);
    }
    for _ in 0..30 {
        assert_eq!(weak.raw("GET", "/vault/", &guess, "").await.code(), 40101);
    }
    assert_eq!(weak.raw("GET", "/vault/n.md", &right, "").await.code(), 42901, "it may have been guessed");
    for nothing in [r#"{"apiKey": ""}"#, r#"{"apiKey": "  "}"#, r#"{"apiKey": 7}"#, "{}"] {
        let trial = RestTrial::new(&[(SETTINGS_FILE, nothing), ("n.md", NOTE)]);
        for sent in ["Bearer ", "Bearer  ", "Bearer 7", "Bearer undefined"] {
            assert_eq!(
                trial.raw("GET", "/vault/n.md", &[("Authorization", sent)], "").await.code(),
                40101,
                "{nothing}"
            );
        }
    }
}
