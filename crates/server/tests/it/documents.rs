//! Documents in the search, read by the real process beside the server.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, patience};

const SEARCH: &str = "obsidian_search_notes";

/// A PDF with these pages of one line each.
pub(crate) fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), pages.len()),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned(),
    ];
    for (number, text) in pages.iter().enumerate() {
        let content = format!("BT /F 12 Tf 20 50 Td ({text}) Tj ET");
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 100]/Contents {} 0 R/Resources<</Font<</F 3 0 R>>>>>>",
            5 + 2 * number
        ));
        objects.push(format!("<</Length {}>>stream\n{content}\nendstream", content.len()));
    }
    let (mut file, mut table) = ("%PDF-1.4\n".to_owned(), String::new());
    for (number, object) in (1..).zip(&objects) {
        table += &format!("{:010} 00000 n \n", file.len());
        file += &format!("{number} 0 obj{object} endobj\n");
    }
    let (start, count) = (file.len(), objects.len() + 1);
    file += &format!(
        "xref\n0 {count}\n0000000000 65535 f \n{table}trailer<</Size {count}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n"
    );
    file.into_bytes()
}

fn serve(vault: &Vault) -> Server {
    vault.spawn_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern)
}

/// Asks until all documents are read.
pub(crate) fn settled(server: &mut Server, arguments: &Value) -> Value {
    let started = Instant::now();
    loop {
        let answer = server.done(SEARCH, arguments.clone());
        if !answer["notice"].as_str().unwrap_or_default().contains("not read yet") {
            return answer;
        }
        assert!(started.elapsed() < patience(), "{answer}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn places(answer: &Value) -> Vec<String> {
    let hits = answer["result"]["hits"].as_array().unwrap().iter();
    hits.map(|hit| match &hit["page"] {
        Value::Null => hit["filename"].as_str().unwrap().to_owned(),
        page => format!("{}#{page}", hit["filename"].as_str().unwrap()),
    })
    .collect()
}

#[test]
fn a_page_of_a_document_is_found_by_words_and_by_meaning_with_its_place() {
    let handbook =
        pdf(&["Contents", "Slates are split by hand.", "Droppings in the attic. Traps worked, poison did not."]);
    let vault = Vault::new(&[
        ("Roof.md", b"# Roof\nSlates for the roof.\n"),
        ("Files/Handbook.pdf", &handbook),
        ("Files/Prices.csv", b"copper;40\n"),
        ("Files/Page.html", b"<title>Copper</title><p>Gutters of copper last longer.</p>"),
        ("Files/Broken.pdf", b"%PDF-1.4 no"),
    ]);
    let mut server = serve(&vault);
    let found = settled(&mut server, &json!({ "query": "slates", "mode": "omnisearch" }));
    assert_eq!(places(&found), ["Roof.md", "Files/Handbook.pdf#2"], "{found}");
    assert_eq!(found["result"]["hits"][1]["excerpt"], "Slates are split by hand.");
    let result = server.call(SEARCH, json!({ "query": "split slates" }));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Files/Handbook.pdf#page=2"), "{text}");
    let found = settled(&mut server, &json!({ "query": "copper", "mode": "omnisearch" }));
    let mut both = places(&found);
    both.sort();
    assert_eq!(both, ["Files/Page.html", "Files/Prices.csv"]);
    let found = server.done(SEARCH, json!({ "query": "slates page:3" }));
    assert_eq!(places(&found), [] as [&str; 0]);
    // By meaning, with the hash of the file.
    let started = Instant::now();
    let passage = loop {
        let found = server.done("semantic_search", json!({ "query": "how to catch rodents" }));
        if found["notice"].is_null() {
            break found["passages"][0].clone();
        }
        assert!(started.elapsed() < patience(), "{found}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!((&passage["path"], &passage["page"]), (&json!("Files/Handbook.pdf"), &json!(3)), "{passage}");
    let read = server.done("attachment_read", json!({ "path": "Files/Handbook.pdf", "pages": "3" }));
    let hash = passage["contentHash"].as_str().unwrap();
    assert!(read["contentHash"].as_str().unwrap().contains(hash), "{read} {hash}");
    let result = server.call("answer_context", json!({ "question": "are there rodents in the attic?" }));
    assert!(result["content"][0]["text"].as_str().unwrap().contains("Files/Handbook.pdf#page=3"), "{result}");
    // What ChatGPT's connectors see.
    let found = server.done("search", json!({ "query": "split slates" }));
    let first = &found["results"][0];
    assert_eq!(
        (&first["id"], &first["title"]),
        (&json!("Files/Handbook.pdf"), &json!("Handbook.pdf, page 2")),
        "{found}"
    );
    let fetched = server.done("fetch", json!({ "id": first["id"] }));
    assert!(fetched["text"].as_str().unwrap().contains("[page 2]\nSlates are split by hand."), "{fetched}");
}

#[test]
fn the_command_line_reads_documents_before_it_answers() {
    let vault = Vault::new(&[("Files/Slate.pdf", &pdf(&["Contents", "Slate lasts a century."]))]);
    let output = vault.run(&["search", "century"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "Files/Slate.pdf#page=2\n  Slate lasts a century.\n");
    let output = vault.run(&["search", "--json", "century"]);
    let hits: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(hits["hits"][0]["page"], 2, "{hits}");
}

#[test]
fn the_owner_can_leave_documents_out() {
    let vault = Vault::new(&[("Files/Slate.pdf", &pdf(&["Slate lasts a century."]))]);
    let environment = [("LAPIDARY_DOCUMENT_TEXT_BYTES", "0"), ("LAPIDARY_REPETITION", "off")];
    let mut server = vault.spawn_with(&[], &environment).open(Era::Modern);
    let found = server.done(SEARCH, json!({ "query": "century" }));
    assert_eq!(places(&found), [] as [&str; 0]);
    assert_eq!(found["notice"], "No note matches. Try other words, or fewer conditions.");
    assert_eq!(
        places(&server.done(SEARCH, json!({ "query": "ext:pdf" }))),
        ["Files/Slate.pdf"],
        "by its path, as before"
    );
    let read = server.done("attachment_read", json!({ "path": "Slate.pdf" }));
    assert_eq!(read["document"]["parts"][0]["text"], "Slate lasts a century.");
}

#[test]
fn a_server_that_is_killed_while_it_reads_loses_nothing_but_time() {
    let documents: Vec<(String, Vec<u8>)> = (0..40)
        .map(|number| (format!("d/{number}.pdf"), pdf(&["Contents", &format!("Chapter about stone{number}.")])))
        .collect();
    let files: Vec<(&str, &[u8])> = documents.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let vault = Vault::new(&files);
    let before = vault.everything();
    for _ in 0..3 {
        let mut server = serve(&vault);
        let found = server.done(SEARCH, json!({ "query": "chapter" }));
        // In the middle of it, most likely; dropping the server kills it.
        let unread = found["notice"].as_str().unwrap_or_default().to_owned();
        drop(server);
        if unread.is_empty() {
            break;
        }
    }
    let mut server = serve(&vault);
    let found = settled(&mut server, &json!({ "query": "chapter", "mode": "omnisearch" }));
    assert_eq!(found["result"]["totalCount"], 40, "{found}");
    for number in [0, 17, 39] {
        let found = server.done(SEARCH, json!({ "query": format!("stone{number}"), "mode": "omnisearch" }));
        assert_eq!(places(&found)[0], format!("d/{number}.pdf#2"));
    }
    assert_eq!(vault.everything(), before);
}
