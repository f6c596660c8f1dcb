//! Patches in all their forms, and the note afterwards.

use super::*;

const DOC: &str = "# A\n\na\n\n## B\n\nb\n\n# C\n\nc ^c1\n";

#[tokio::test]
async fn an_instruction_answers_with_the_note_and_its_version() {
    let trial = RestTrial::new(&[("n.md", DOC)]);
    let wanted = json!({ "targetType": "heading", "target": ["A", "B"], "operation": "append", "content": "x" });
    let answer = trial.patch("/vault/n.md", wanted).await;
    let expected = "# A\n\na\n\n## B\n\nb\n\nx\n\n# C\n\nc ^c1\n";
    assert_eq!((answer.status.as_u16(), answer.text()), (200, expected));
    assert_eq!(answer.header("content-type"), "text/markdown; charset=utf-8");
    assert_eq!((answer.header("deprecation"), answer.header("markdown-patch-warnings")), ("", ""));
    assert_eq!(trial.text("n.md").as_deref(), Some(expected));
    assert_eq!(answer.header("etag"), trial.get("/vault/n.md").await.header("etag"));
}

#[tokio::test]
async fn a_heading_that_gets_too_deep_is_a_warning() {
    let trial = RestTrial::new(&[("n.md", DOC)]);
    let wanted = json!({ "targetType": "heading", "target": ["A"], "operation": "replace", "content": "###### ü" });
    let answer = trial.patch("/vault/n.md", wanted).await;
    let warnings = super::super::request_path::decoded(answer.header("markdown-patch-warnings")).unwrap();
    let warnings: Value = serde_json::from_str(&warnings).unwrap();
    assert_eq!(warnings[0]["code"], "heading-depth-overflow");
    assert!(warnings[0]["message"].as_str().unwrap().contains('ü'));
}

#[tokio::test]
async fn instructions_are_refused_with_the_status_of_their_problem() {
    let files = [("n.md", "---\na: 1\nb: 2\n---\n# A\n\na\n"), ("broken.md", "---\na: b: c\n---\n# A\n")];
    let heading = |more: Value| {
        let mut wanted = json!({ "targetType": "heading", "target": ["A"], "operation": "append", "content": "a" });
        for (name, value) in more.as_object().unwrap() {
            wanted[name] = value.clone();
        }
        wanted
    };
    let property = |target: &str, operation: &str, scope: &str, content: Value| {
        let carrier = if scope == "marker" { "content" } else { "value" };
        json!({ "targetType": "frontmatter", "target": target, "operation": operation, "scope": scope, carrier: content })
    };
    for (path, wanted, code) in [
        ("n.md", heading(json!({ "target": ["None"] })), 40400),
        ("n.md", heading(json!({ "rejectIfContentPreexists": true })), 40900),
        ("n.md", heading(json!({ "ifMatch": "000000" })), 41200),
        ("n.md", heading(json!({ "operation": "rename" })), 40081),
        ("n.md", heading(json!({ "targetType": "paragraph" })), 40081),
        ("n.md", property("a", "append", "content", json!(["x"])), 40080),
        ("n.md", property("a", "replace", "marker", json!("b")), 40900),
        ("n.md", property("none", "replace", "content", json!(1)), 40400),
        ("broken.md", property("a", "replace", "content", json!(1)), 40005),
    ] {
        let trial = RestTrial::new(&files);
        let answer = trial.patch(&format!("/vault/{path}"), wanted.clone()).await;
        assert_eq!(answer.code(), code, "{wanted}: {}", answer.text());
        assert_eq!(trial.text("n.md").as_deref(), Some(files[0].1));
    }
}

#[tokio::test]
async fn a_target_in_the_url_takes_a_plain_body() {
    let md = ("Content-Type", "text/markdown");
    let json = ("Content-Type", "application/json");
    let place = "%7B%22parent%22%3A%5B%22C%22%5D%2C%22place%22%3A%22last%22%7D";
    for (method, path, headers, body, expected) in [
        ("PATCH", "heading/A/B", &[md, ("Operation", "replace")][..], "x\n", "# A\n\na\n\n## B\n\nx\n\n# C\n\nc ^c1\n"),
        ("PATCH", "heading/C", &[("Operation", "delete")], "", "# A\n\na\n\n## B\n\nb\n\n# C\n"),
        (
            "PATCH",
            "heading/C",
            &[md, ("Operation", "replace"), ("Target-Scope", "marker")],
            "D",
            "# A\n\na\n\n## B\n\nb\n\n# D\n\nc ^c1\n",
        ),
        (
            "PATCH",
            "heading/A",
            &[md, ("Operation", "append"), ("Within", "-1")],
            " more",
            "# A\n\na more\n\n## B\n\nb\n\n# C\n\nc ^c1\n",
        ),
        (
            "PATCH",
            "heading/A/B",
            &[("Operation", "replace"), ("Target-Scope", "parent"), ("Destination", place)],
            "",
            "# A\n\na\n\n# C\n\nc ^c1\n\n## B\n\nb\n",
        ),
        ("PATCH", "block/c1", &[md, ("Operation", "append")], "!", "# A\n\na\n\n## B\n\nb\n\n# C\n\nc! ^c1\n"),
        (
            "PATCH",
            "frontmatter/new",
            &[json, ("Operation", "replace"), ("Create-Target-If-Missing", "true")],
            "[1]",
            "---\nnew:\n  - 1\n---\n# A\n\na\n\n## B\n\nb\n\n# C\n\nc ^c1\n",
        ),
        ("PUT", "heading/A/B", &[md], "x", "# A\n\na\n\n## B\n\nx\n\n# C\n\nc ^c1\n"),
        ("PUT", "frontmatter/new", &[md], "text", "---\nnew: text\n---\n# A\n\na\n\n## B\n\nb\n\n# C\n\nc ^c1\n"),
        ("POST", "heading/C", &[md], "x", "# A\n\na\n\n## B\n\nb\n\n# C\n\nc ^c1\n\nx\n"),
    ] {
        let trial = RestTrial::new(&[("n.md", DOC)]);
        let answer = trial.send(method, &format!("/vault/n.md/{path}"), headers, body).await;
        assert_eq!((answer.status.as_u16(), answer.text()), (200, expected), "{method} {path} {headers:?}");
        assert_eq!(answer.header("content-location"), "n.md");
        assert_eq!(trial.text("n.md").as_deref(), Some(expected));
    }
}

#[tokio::test]
async fn the_headers_of_format_1_still_work_and_say_that_they_will_go() {
    let (v1, md, json) =
        (("Markdown-Patch-Version", "1"), ("Content-Type", "text/markdown"), ("Content-Type", "application/json"));
    for (kind, target, operation, body_kind, body, expected) in [
        ("heading", "A%3A%3AB", "append", md, "x\n", "# A\n\na\n\n## B\n\nb\n\nx\n\n# C\n\nc ^c1\n"),
        ("heading", "C", "replace", md, "x\n", "# A\n\na\n\n## B\n\nb\n\n# C\n\nx\n"),
        ("block", "c1", "replace", md, "x", "# A\n\na\n\n## B\n\nb\n\n# C\n\nx ^c1\n"),
        ("frontmatter", "t", "replace", json, "\"v\"", "---\nt: v\n---\n# A\n\na\n\n## B\n\nb\n\n# C\n\nc ^c1\n"),
    ] {
        let trial = RestTrial::new(&[("n.md", DOC)]);
        let create = ("Create-Target-If-Missing", if kind == "frontmatter" { "true" } else { "false" });
        let headers = [v1, body_kind, ("Target-Type", kind), ("Target", target), ("Operation", operation), create];
        let answer = trial.send("PATCH", "/vault/n.md", &headers, body).await;
        assert_eq!(answer.status, 200, "{kind}: {}", answer.text());
        assert_eq!(answer.header("deprecation"), "true; sunset-version=\"6.0\"");
        assert_eq!((answer.text(), trial.text("n.md").as_deref()), (expected, Some(expected)), "{kind}");
    }
}

#[tokio::test]
async fn an_owner_can_have_the_older_format_where_none_is_named() {
    let trial = RestTrial::with(&[("n.md", DOC)], &[], &[("LAPIDARY_REST_PATCH_FORMAT", "1")]);
    let headers =
        [("Content-Type", "text/markdown"), ("Target-Type", "heading"), ("Target", "C"), ("Operation", "append")];
    assert_eq!(trial.send("PATCH", "/vault/n.md", &headers, "x\n").await.status, 200);
    assert_eq!(trial.text("n.md").as_deref(), Some("# A\n\na\n\n## B\n\nb\n\n# C\n\nc ^c1\n\nx\n"));
    assert_eq!(trial.get("/").await.json()["versions"]["self"], "4.1.7");
}
