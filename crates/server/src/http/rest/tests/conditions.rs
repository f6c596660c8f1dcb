//! Versions, and requests that are for one of them alone.

use super::*;

const OLD: &str = "# A\n\nold\n";
const MD: (&str, &str) = ("Content-Type", "text/markdown");
const STALE: (&str, &str) = ("If-Match", "\"000000\"");

#[tokio::test]
async fn the_version_of_a_file_is_the_same_everywhere() {
    let trial = RestTrial::new(&[("n.md", OLD)]);
    let tag = trial.get("/vault/n.md").await.header("etag").to_owned();
    assert_eq!(tag.len(), 8, "{tag}");
    let accept = |kind: &'static str| [("Accept", kind)];
    let map = trial.send("GET", "/vault/n.md", &accept("application/vnd.olrapi.document-map+json"), "").await;
    let note = trial.send("GET", "/vault/n.md", &accept("application/vnd.olrapi.note+json"), "").await;
    for answer in [map, note] {
        assert_eq!(format!("\"{}\"", answer.json()["version"].as_str().unwrap()), tag);
    }
    let known = trial.send("GET", "/vault/n.md", &[("If-None-Match", &tag)], "").await;
    assert_eq!((known.status.as_u16(), known.body.len()), (304, 0));
}

#[tokio::test]
async fn a_stale_condition_changes_nothing() {
    for (method, path, headers) in [
        ("PUT", "/vault/n.md", &[MD, STALE][..]),
        ("POST", "/vault/n.md", &[MD, STALE]),
        ("PUT", "/vault/n.md/heading/A", &[MD, STALE]),
        ("PATCH", "/vault/n.md/heading/A", &[MD, STALE, ("Operation", "append")]),
        ("PATCH", "/vault/n.md/heading/A", &[MD, ("If-Match", "000000"), ("Operation", "append")]),
        ("DELETE", "/vault/n.md", &[STALE]),
        ("MOVE", "/vault/n.md", &[STALE, ("Destination", "m.md")]),
        ("COPY", "/vault/n.md", &[STALE, ("Destination", "m.md")]),
        ("PUT", "/vault/new.md", &[MD, STALE]),
        ("PUT", "/vault/new.md", &[MD, ("If-Match", "*")]),
        ("PUT", "/vault/n.md", &[MD, ("If-None-Match", "*")]),
    ] {
        let trial = RestTrial::new(&[("n.md", OLD)]);
        assert_eq!(trial.send(method, path, headers, "x").await.code(), 41200, "{method} {path} {headers:?}");
        assert_eq!((trial.text("n.md").as_deref(), trial.text("m.md"), trial.text("new.md")), (Some(OLD), None, None));
    }
    let trial = RestTrial::new(&[("n.md", OLD)]);
    assert_eq!(trial.send("PUT", "/vault/n.md", &[MD, ("If-Match", "W/unquoted")], "x").await.code(), 40024);
}

#[tokio::test]
async fn a_condition_that_holds_changes_and_answers_with_the_new_version() {
    let trial = RestTrial::new(&[("n.md", OLD)]);
    let tag = trial.get("/vault/n.md").await.header("etag").to_owned();
    let written = trial.send("PUT", "/vault/n.md", &[MD, ("If-Match", &tag)], "new\n").await;
    assert_eq!(written.status, 204);
    assert_eq!(written.header("etag"), trial.get("/vault/n.md").await.header("etag"));
    assert_eq!(trial.send("PUT", "/vault/n.md", &[MD, ("If-Match", &tag)], "again\n").await.code(), 41200);
    assert_eq!(trial.send("PUT", "/vault/m.md", &[MD, ("If-None-Match", "*")], "m\n").await.status, 204);
    let bare = written.header("etag").trim_matches('"').to_owned();
    assert_eq!(trial.send("DELETE", "/vault/n.md", &[("If-Match", &bare)], "").await.status, 204);
}

#[tokio::test]
async fn of_two_with_the_same_condition_one_wins() {
    let trial = RestTrial::new(&[("n.md", OLD)]);
    let tag = trial.get("/vault/n.md").await.header("etag").to_owned();
    let headers = [MD, ("If-Match", tag.as_str())];
    let (one, other) = tokio::join!(
        trial.send("PUT", "/vault/n.md", &headers, "one\n"),
        trial.send("PUT", "/vault/n.md", &headers, "other\n")
    );
    let mut codes = [one.code(), other.code()];
    codes.sort_unstable();
    assert_eq!(codes, [204, 41200]);
    let winner = if one.status == 204 { "one\n" } else { "other\n" };
    assert_eq!(trial.text("n.md").as_deref(), Some(winner));
}
