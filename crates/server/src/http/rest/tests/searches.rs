//! Searches and tags.

use super::*;

const LOGIC: &[(&str, &str)] = &[("Content-Type", "application/vnd.olrapi.jsonlogic+json")];
const DQL: &[(&str, &str)] = &[("Content-Type", "application/vnd.olrapi.dataview.dql+txt")];

#[tokio::test]
async fn words_are_found_in_names_and_texts() {
    let trial =
        RestTrial::new(&[("Lantern.md", "nothing\n"), ("b.md", "12345 a lantern ü lantern 67890\n"), ("c.md", "x\n")]);
    let hits = trial.send("POST", "/search/simple/?query=lantern&contextLength=3", &[], "").await.json();
    assert_eq!(hits.as_array().unwrap().len(), 2);
    assert_eq!(hits[0]["filename"], "Lantern.md");
    assert_eq!(
        hits[0]["matches"][0],
        json!({ "match": { "start": 0, "end": 7, "source": "filename" }, "context": "Lantern" })
    );
    assert!(hits[0]["score"].as_f64() >= hits[1]["score"].as_f64());
    assert_eq!(
        hits[1]["matches"][0],
        json!({ "match": { "start": 8, "end": 15, "source": "content" }, "context": " a lantern ü " })
    );
    assert_eq!(hits[1]["matches"][1]["match"]["start"], 18);
    assert_eq!(trial.send("POST", "/search/simple/?query=zzz", &[], "").await.json(), json!([]));
}

#[tokio::test]
async fn rules_and_queries_answer_by_note() {
    let trial = RestTrial::new(&[("n.md", NOTE), ("m.md", "---\ncount: 1\n---\n#other\n")]);
    for (rule, expected) in [
        (json!({ "==": [{ "var": "frontmatter.count" }, 42] }), json!([{ "filename": "n.md", "result": true }])),
        (json!({ "in": ["work", { "var": "tags" }] }), json!([{ "filename": "n.md", "result": true }])),
        (json!({ "glob": ["m*", { "var": "path" }] }), json!([{ "filename": "m.md", "result": true }])),
        (json!({ "regexp": ["lan.ern", { "var": "content" }] }), json!([{ "filename": "n.md", "result": true }])),
        (json!({ "var": "frontmatter.title" }), json!([{ "filename": "n.md", "result": "Plan" }])),
        (json!({}), json!([])),
    ] {
        assert_eq!(trial.send("POST", "/search/", LOGIC, &rule.to_string()).await.json(), expected, "{rule}");
    }
    let rows = trial.send("POST", "/search/", DQL, "TABLE count WHERE count > 1").await.json();
    assert_eq!(rows, json!([{ "filename": "n.md", "result": { "count": 42 } }]));
}

#[tokio::test]
async fn tags_are_counted_with_those_below_them() {
    let trial = RestTrial::new(&[("a.md", "---\ntags: [x/y/z, b]\n---\n#x #b and #b\n"), ("b.md", "#b `#no`\n")]);
    let tags = trial.get("/tags/").await.json();
    let mut counts: Vec<(String, u64)> = tags["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| (tag["name"].as_str().unwrap().to_owned(), tag["count"].as_u64().unwrap()))
        .collect();
    counts.sort();
    let counted: Vec<(&str, u64)> = counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(counted, [("b", 4), ("x", 2), ("x/y", 1), ("x/y/z", 1)]);
}

#[tokio::test]
async fn what_is_closed_counts_for_no_tag_and_is_in_no_page() {
    let open = [("Open/a.md", "#x [[Hidden]] ![[Hidden]]\n")];
    let both = [open[0], ("Closed/Hidden.md", "#x #xyzzy\n")];
    let rules = [("OBSIDIAN_READ_PATHS", "Open")];
    let (with, without) = (RestTrial::with(&both, &[], &rules), RestTrial::with(&open, &[], &rules));
    for (path, kind) in [("/tags/", "*/*"), ("/vault/Open/a.md", "text/html"), ("/vault/Closed/Hidden.md", "text/html")]
    {
        let accept = [("Accept", kind)];
        let (one, other) = (with.send("GET", path, &accept, "").await, without.send("GET", path, &accept, "").await);
        assert_eq!((one.status, one.text()), (other.status, other.text()), "{path}");
        assert!(!one.text().contains("xyzzy"));
    }
    assert_eq!(with.get("/tags/").await.json()["tags"], json!([{ "name": "x", "count": 1 }]));
}
