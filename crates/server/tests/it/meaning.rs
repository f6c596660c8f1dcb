//! Notes found by what they say, on the wire and on the command line.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, patience};

const SEARCH: &str = "obsidian_search_notes";
const NOTES: &[(&str, &[u8])] = &[
    ("House/Boiler.md", b"# Winter\n\nThe heating loses pressure. Open the valve and bleed the radiators.\n"),
    ("House/Mice.md", b"Droppings in the attic. Traps with peanut butter worked, poison did not. #pests\n"),
    ("Food/Bread.md", b"Flour, water and yeast make a dough. Bake the loaf in a hot oven.\n"),
    ("Work/Pay.md", b"---\nstatus: open\n---\nThe salary arrives at the end of the month.\n"),
    ("Work/Log.md", b"Called the plumber. Wrote two letters.\n"),
];

fn serve(vault: &Vault) -> Server {
    vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern)
}

fn names(answer: &Value) -> Vec<&str> {
    answer["result"]["hits"].as_array().unwrap().iter().map(|hit| hit["filename"].as_str().unwrap()).collect()
}

/// Asks until the vectors are made.
fn settled(server: &mut Server, query: &str) -> Value {
    let started = Instant::now();
    loop {
        let answer = server.done(SEARCH, json!({ "query": query }));
        if answer["result"]["mode"] == "hybrid" {
            return answer;
        }
        let notice = answer["notice"].as_str().unwrap_or_default();
        assert!(notice.contains("being made"), "not ready is different from nothing found: {answer}");
        assert!(started.elapsed() < patience(), "{answer}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_search_finds_what_is_said_in_other_words_and_says_how_it_ranked() {
    let vault = Vault::new(NOTES);
    let mut server = serve(&vault);
    let found = server.done(SEARCH, json!({ "query": "rodents under the roof", "explain": true }));
    let hit = &found["result"]["hits"][0];
    assert_eq!((&found["result"]["mode"], &hit["filename"]), (&json!("hybrid"), &json!("House/Mice.md")), "{found}");
    assert_eq!(
        hit["excerpt"],
        json!("Droppings in the attic. Traps with peanut butter worked, poison did not. #pests")
    );
    assert!(hit["ranking"].as_str().unwrap().starts_with("meaning 0."), "{hit}");
    // The short hash is one that an edit can expect.
    let hash = hit["contentHash"].as_str().unwrap();
    let edit = json!({ "file": "House/Mice.md", "find": "poison", "replace": "venom", "expected_content_hash": hash });
    assert_eq!(server.done("str_replace", edit)["replacedCount"], 1);
    // And the edit is found by the next call.
    let found = server.done(SEARCH, json!({ "query": "venom", "explain": true }));
    let ranking = found["result"]["hits"][0]["ranking"].as_str().unwrap();
    assert!(ranking.starts_with("words venom ") && ranking.contains("; meaning 0."), "{ranking}");
    vault.write("Work/Log.md", b"The violin concerto was played by an orchestra.\n");
    let found = server.done(SEARCH, json!({ "mode": "semantic", "query": "classical music" }));
    assert_eq!(names(&found)[0], "Work/Log.md");
}

#[test]
fn words_alone_are_as_before_and_operators_hold() {
    let vault = Vault::new(NOTES);
    let mut server = serve(&vault);
    let nothing = server.done(SEARCH, json!({ "mode": "omnisearch", "query": "rodents" }));
    assert_eq!((&nothing["result"]["mode"], names(&nothing).len()), (&json!("omnisearch"), 0));
    let found = server.done(SEARCH, json!({ "query": "wages [status:open]" }));
    assert_eq!(names(&found), ["Work/Pay.md"]);
    let found = server.done(SEARCH, json!({ "query": "path:House" }));
    assert_eq!((&found["result"]["mode"], names(&found).len()), (&json!("omnisearch"), 2), "there is nothing to mean");
    let found = server.done(SEARCH, json!({ "query": "rodents -peanut" }));
    assert!(!names(&found).contains(&"House/Mice.md"));
}

#[test]
fn a_large_vault_answers_by_words_until_its_vectors_are_made_and_keeps_them() {
    let filler = "The minutes of the committee mention fees, dates and names of members. ".repeat(60);
    let mut files: Vec<(String, String)> =
        (0..700).map(|number| (format!("n/{number}.md"), format!("Protocol {number}. {filler}"))).collect();
    files.extend(NOTES.iter().map(|(path, text)| ((*path).to_owned(), String::from_utf8(text.to_vec()).unwrap())));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let vault = Vault::new(&files);
    let mut server = serve(&vault);
    let first = settled(&mut server, "rodents under the roof");
    assert_eq!(names(&first)[0], "House/Mice.md");
    drop(server);
    let mut server = serve(&vault);
    let again = settled(&mut server, "rodents under the roof");
    assert_eq!(again["result"], first["result"]);
}

#[test]
fn the_owner_can_switch_it_off() {
    let vault = Vault::new(NOTES);
    let environment = [("LAPIDARY_MEANING_MEMORY_BYTES", "0"), ("LAPIDARY_REPETITION", "off")];
    let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
    let found = server.done(SEARCH, json!({ "query": "salary" }));
    assert_eq!((&found["result"]["mode"], names(&found)), (&json!("omnisearch"), vec!["Work/Pay.md"]));
    let found = server.done(SEARCH, json!({ "mode": "semantic", "query": "salary" }));
    assert!(found["notice"].as_str().unwrap().contains("switched"), "{found}");
    let refusal = server.refused("semantic_search", json!({ "query": "salary" }));
    assert_eq!(refusal, "meaning_off");
    assert_eq!(
        server.done("related_notes", json!({ "file": "Pay" }))["notice"],
        json!("Without meaning: the owner has switched it off.")
    );
}

#[test]
fn the_command_line_ranks_by_both() {
    let vault = Vault::new(NOTES);
    let output = vault.run(&["search", "rodents", "under", "the", "roof"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("House/Mice.md\n  Droppings in the attic."), "{text}");
    let output = vault.run(&["search", "--explain", "rodents"]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("meaning 0."));
}

#[test]
fn passages_fit_their_budget_and_have_a_place() {
    let long =
        format!("# Long\n\n{}", "Mice and rats live in the attic and eat the insulation of the roof. ".repeat(60));
    let mut files = NOTES.to_vec();
    files.push(("House/Long.md", long.as_bytes()));
    let vault = Vault::new(&files);
    let mut server = serve(&vault);
    let found = server.done("semantic_search", json!({ "query": "rodents in the house", "maxBytes": 700 }));
    let passages = found["passages"].as_array().unwrap();
    let bytes: usize = passages.iter().map(|passage| passage["text"].as_str().unwrap().len()).sum();
    assert!(!passages.is_empty() && bytes <= 700, "{bytes} {found}");
    assert!(passages.iter().all(|passage| passage["line"].is_number() && passage["contentHash"].is_string()));
    let answer =
        server.done("answer_context", json!({ "question": "how did I get rid of the mice?", "maxTokens": 200 }));
    let passages = answer["passages"].as_array().unwrap();
    assert_eq!(passages[0]["path"], json!("House/Mice.md"), "{answer}");
    let since = server.done("semantic_search", json!({ "query": "rodents", "since": "2099-01-01" }));
    assert_eq!(since["passages"], json!([]));
}
