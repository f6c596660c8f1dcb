//! Notes found by words and by queries.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{ConsoleTrial, encoded};

const FILES: [(&str, &str); 4] = [
    ("Books/Dune.md", "---\nrating: 9\n---\n# Dune\n\nThe spice <must> flow. #book\n"),
    ("Books/Emma.md", "---\nrating: 10\n---\n# Emma\n\nA match is made. #book\n"),
    ("Books/=odd.md", "---\nrating: 2\n---\n#book\n"),
    (
        "Books.base",
        "filters: file.hasTag(\"book\")\nviews:\n  - type: table\n    name: All\n    order: [file.name, rating]\n",
    ),
];

async fn query(trial: &ConsoleTrial, ending: &str, pairs: &[(&str, &str)]) -> super::PageAnswer {
    trial.get(&format!("/console/queries{ending}?{}", encoded(pairs))).await
}

#[tokio::test]
async fn found_words_are_marked_and_notes_open_in_obsidian() {
    let trial = ConsoleTrial::start(&FILES, &[], &[]).await;
    let page = trial.get("/console/search?q=spice").await;
    page.has("The <mark>spice</mark> &lt;must&gt; flow.");
    page.has("obsidian://open?vault=Notes&#38;file=Books%2FDune.md");
    trial.get("/console/search").await.has("appear here");
    let found: Value = serde_json::from_str(&trial.get("/console/search.json?q=spice").await.body).unwrap();
    assert_eq!(found["total"], 1);
    assert_eq!(found["hits"][0]["path"], "Books/Dune.md");
    let marked: Vec<&Value> =
        found["hits"][0]["passage"].as_array().unwrap().iter().filter(|piece| piece["found"] == true).collect();
    assert_eq!(marked, [&json!({ "text": "spice", "found": true })]);
    assert_eq!(serde_json::from_str::<Value>(&trial.get("/console/search.json").await.body).unwrap()["total"], 0);
}

#[tokio::test]
async fn rows_are_sorted_by_the_address_and_exported() {
    let trial = ConsoleTrial::start(&FILES, &[], &[]).await;
    let dql = "TABLE rating FROM #book";
    let page = query(&trial, "", &[("query", dql), ("sort", "1"), ("order", "descending")]).await;
    assert_eq!(page.status, StatusCode::OK);
    page.has("3 rows");
    page.has("aria-sort=\"descending\"");
    let places: Vec<usize> =
        ["Emma</a>", "Dune</a>", "=odd</a>"].iter().map(|name| page.body.find(name).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    let csv = query(&trial, ".csv", &[("query", dql), ("sort", "1")]).await;
    // A cell that a spreadsheet would evaluate is a text.
    assert_eq!(csv.body, "File,rating\r\n'=odd,2\r\nDune,9\r\nEmma,10\r\n");
    let json: Value =
        serde_json::from_str(&query(&trial, ".json", &[("query", dql), ("sort", "1")]).await.body).unwrap();
    assert_eq!(json["columns"], json!(["File", "rating"]));
    assert_eq!(json["rows"][2][1], 10);
}

#[tokio::test]
async fn a_base_is_a_table_whose_names_lead_to_the_notes() {
    let trial = ConsoleTrial::start(&FILES, &[], &[]).await;
    let page = query(&trial, "", &[("query", "Books.base"), ("view", "All")]).await;
    page.has("file=Books%2FEmma.md");
    page.has("3 rows");
}

#[tokio::test]
async fn a_mistake_is_marked_at_its_place() {
    let trial = ConsoleTrial::start(&FILES, &[], &[]).await;
    let page = query(&trial, "", &[("query", "TABLE rating\nFROM #book WHERE )")]).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    page.has("Line 2, column ");
    page.has("FROM #book WHERE <mark>)</mark>");
    let csv = query(&trial, ".csv", &[("query", "TABLE )")]).await;
    assert_eq!(csv.status, StatusCode::BAD_REQUEST);
    let ended = query(&trial, "", &[("query", "TABLE rating FROM")]).await;
    assert_eq!(ended.status, StatusCode::BAD_REQUEST);
}
