//! Versions, and requests that are for one of them alone.

use super::*;

const OLD: &str = "# A\n\nold\n";
const MD: (&str, &str) = ("Content-Type", "text/markdown");
const STALE: (&str, &str) = ("If-Match", "\"000000\"");

#[tokio::test]
async fn the_version_of_a_file_is_the_same_everywhere() {
    let trial = RestTrial::new(&[("n.md", OLD)]);
    let tag = trial.get("/vault/n.md").await.header("etag").to_owned();
    assert_eq!(tag.len(), 34, "128 bits: {tag}");
    let accept = |kind: &'static str| [("Accept", kind)];
    let map = trial.send("GET", "/vault/n.md", &accept("application/vnd.olrapi.document-map+json"), "").await;
    let note = trial.send("GET", "/vault/n.md", &accept("application/vnd.olrapi.note+json"), "").await;
    for answer in [map, note] {
        assert_eq!(format!("\"{}\"", answer.json()["version"].as_str().unwrap()), tag);
    }
    let bare = tag.trim_matches('"');
    for known in [&tag, bare, &format!("W/{tag}"), &format!("\"x\", , {tag},")] {
        for path in ["/vault/n.md", "/vault/n.md/heading/A"] {
            let answer = trial.send("GET", path, &[("If-None-Match", known)], "").await;
            assert_eq!((answer.status.as_u16(), answer.body.len(), answer.header("etag")), (304, 0, &*tag), "{known}");
        }
        let note = [("If-None-Match", known), ("Accept", "application/vnd.olrapi.note+json")];
        let answer = trial.send("GET", "/vault/n.md", &note, "").await;
        assert_eq!((answer.status.as_u16(), answer.header("etag")), (200, ""), "its links may have changed");
    }
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
    let tag = trial.get("/vault/n.md").await.header("etag").to_owned();
    for (condition, code) in [
        ("W/unquoted", 40024),
        ("", 40024),
        (",", 40024),
        ("\"a\", *", 40024),
        ("\"a", 40024),
        ("\"a\"b\"", 40024),
        (&tag[..7], 40024),
        // What the plugin's own token would be, and the right one as a weak one.
        (&tag[1..7], 41200),
        (&format!("W/{tag}"), 41200),
    ] {
        let answer = trial.send("PUT", "/vault/n.md", &[MD, ("If-Match", condition)], "x").await;
        assert_eq!(answer.code(), code, "{condition}");
    }
    assert_eq!(trial.text("n.md").as_deref(), Some(OLD));
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
