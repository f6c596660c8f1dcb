//! Notes found by what they say, on the wire and on the command line.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    documents,
    harness::{Era, Server, Vault, files_below, patience},
};

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

/// A model that takes minutes for the notes of a test: the small one of the reference, as deep as a model may be, with room for whole
/// pieces.
fn write_deep_model(folder: &Path) {
    const LAYERS: usize = 256;
    const POSITIONS: usize = 512;
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("../meaning/tests/reference/tiny-bert");
    let bytes = fs::read(small.join("model.safetensors")).unwrap();
    let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
    let (header, data) = rest.split_at(usize::try_from(u64::from_le_bytes(*length)).unwrap());
    let header: Value = serde_json::from_slice(header).unwrap();
    let (mut tensors, mut packed) = (serde_json::Map::new(), Vec::new());
    let mut put = |name: String, mut shape: Value, bytes: &[u8]| {
        let (start, mut all) = (packed.len(), bytes.to_vec());
        if name.contains("position_embeddings") {
            all = bytes.iter().copied().cycle().take(POSITIONS * 16 * 4).collect();
            shape[0] = POSITIONS.into();
        }
        packed.extend(all);
        tensors.insert(name, json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, packed.len()] }));
    };
    for (name, tensor) in header.as_object().unwrap() {
        let at = |end: usize| usize::try_from(tensor["data_offsets"][end].as_u64().unwrap()).unwrap();
        let Some(bytes) = tensor.get("shape").map(|_| &data[at(0)..at(1)]) else { continue };
        match name.strip_prefix("encoder.layer.0.") {
            Some(part) => (0..LAYERS)
                .for_each(|layer| put(format!("encoder.layer.{layer}.{part}"), tensor["shape"].clone(), bytes)),
            None if name.starts_with("encoder.layer.") => {}
            None => put(name.clone(), tensor["shape"].clone(), bytes),
        }
    }
    let header = serde_json::to_vec(&tensors).unwrap();
    fs::create_dir(folder).unwrap();
    let file = [&(header.len() as u64).to_le_bytes()[..], &header, &packed].concat();
    fs::write(folder.join("model.safetensors"), file).unwrap();
    fs::copy(small.join("tokenizer.json"), folder.join("tokenizer.json")).unwrap();
    let config = fs::read_to_string(small.join("config.json")).unwrap();
    let config = config.replace("\"num_hidden_layers\": 2", &format!("\"num_hidden_layers\": {LAYERS}"));
    let config = config.replace(": 24,", &format!(": {POSITIONS},"));
    fs::write(folder.join("config.json"), config).unwrap();
}

/// When a server is killed.
#[derive(Clone, Copy, Debug)]
enum KilledAt {
    FirstQuestion,
    FirstAnswer,
    VectorsMade,
    /// While what was made is written, most likely.
    VectorsKept,
    DocumentsRead,
}

/// What searches find, with their scores, once everything is made.
fn all_found(server: &mut Server) -> Vec<Value> {
    documents::settled(server, &json!({ "query": "chapter", "mode": "omnisearch" }));
    settled(server, "rodents under the roof");
    let mut found = Vec::new();
    for query in ["rodents under the roof", "baking a loaf", "chapter about stone7", "fees of members"] {
        for mode in ["hybrid", "semantic"] {
            let started = Instant::now();
            // Documents get their vectors a moment later than their words.
            let answer = loop {
                let answer = server.done(SEARCH, json!({ "query": query, "mode": mode, "explain": true }));
                let next = server.done("semantic_search", json!({ "query": query, "folder": "d" }));
                if answer["notice"].is_null() && next["notice"].is_null() {
                    break json!([answer["result"], next["passages"]]);
                }
                assert!(started.elapsed() < patience(), "{answer} {next}");
                std::thread::sleep(Duration::from_millis(20));
            };
            found.push(answer);
        }
    }
    found
}

/// Every database that a server has kept so far, in order: each can be read to its end.
fn assert_kept_data_is_whole(state: &Path) {
    for (name, _) in files_below(state).iter().filter(|(name, _)| name.ends_with(".db")) {
        let database = rusqlite::Connection::open(state.join(name)).unwrap();
        let found: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(found, "ok", "{name}");
    }
}

#[test]
fn a_server_that_is_killed_while_it_makes_vectors_loses_nothing_but_time() {
    let filler = "The minutes of the committee mention fees, dates and names of members. ".repeat(60);
    let mut files: Vec<(String, Vec<u8>)> = (0..600)
        .map(|number| (format!("n/{number}.md"), format!("Protocol {number}. {filler}").into_bytes()))
        .collect();
    files.extend(NOTES.iter().map(|(path, text)| ((*path).to_owned(), text.to_vec())));
    files.extend((0..12).map(|number| {
        (format!("d/{number}.pdf"), documents::pdf(&["Contents", &format!("Chapter about stone{number}.")]))
    }));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let vault = Vault::new(&files);
    let before = vault.everything();
    let spawned = |state: &Path| {
        let environment = [("LAPIDARY_STATE_DIR", state.to_str().unwrap()), ("LAPIDARY_REPETITION", "off")];
        vault.spawn_with(&["--tools", "all"], &environment).open(Era::Modern)
    };
    let (calm, state) = (vault.path().with_file_name("calm"), vault.path().with_file_name("killed"));
    let expected = all_found(&mut spawned(&calm));
    let keeps = |name: &str| files_below(&state).keys().any(|file| file.ends_with(name));
    fs::create_dir(&state).unwrap();
    for point in [
        KilledAt::FirstQuestion,
        KilledAt::FirstAnswer,
        KilledAt::VectorsMade,
        KilledAt::VectorsKept,
        KilledAt::DocumentsRead,
    ] {
        let mut server = spawned(&state);
        let question = json!({ "name": SEARCH, "arguments": { "query": "rodents under the roof" } });
        let asked = server.ask("tools/call", question);
        match point {
            KilledAt::FirstQuestion => {}
            KilledAt::FirstAnswer => drop(server.answer_to(asked)),
            KilledAt::VectorsMade => drop(settled(&mut server, "rodents under the roof")),
            KilledAt::VectorsKept => {
                let started = Instant::now();
                while !keeps("/vectors.db") {
                    assert!(started.elapsed() < patience(), "nothing is kept");
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            KilledAt::DocumentsRead => {
                documents::settled(&mut server, &json!({ "query": "chapter", "mode": "omnisearch" }));
            }
        }
        server.kill();
        assert_kept_data_is_whole(&state);
    }
    assert!(keeps("/vectors.db") && keeps("documents.db"), "{:?}", files_below(&state).keys());
    assert_eq!(all_found(&mut spawned(&state)), expected);
    assert_eq!(vault.everything(), before);
}

#[test]
fn not_ready_is_another_answer_than_nothing_found() {
    let long = "The garden is about a tree, an apple and a table. ".repeat(16_000);
    let vault = Vault::new(&[("Garden.md", long.as_bytes()), ("Vault.md", "知识 in a vault.".as_bytes())]);
    let deep = vault.path().with_file_name("deep");
    write_deep_model(&deep);
    let added = vault.command().arg("model").args(["add", deep.to_str().unwrap()]).output().unwrap();
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let environment = [("LAPIDARY_MODEL", "deep"), ("LAPIDARY_REPETITION", "off")];
    let mut server = vault.spawn_with(&["--tools", "all"], &environment).open(Era::Modern);
    // The bundled model, which answers meanwhile, does not know the script.
    for (tool, arguments) in [
        ("semantic_search", json!({ "query": "知识" })),
        (SEARCH, json!({ "query": "知识", "mode": "semantic" })),
        ("related_notes", json!({ "text": "知识" })),
    ] {
        let refused = server.call(tool, arguments);
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(text.contains("The index of meanings is being made: 0 % are done. Nothing was searched."), "{text}");
        assert!(text.contains("Ask again in a moment, or search by words."), "{text}");
        assert!(refused.to_string().contains("\"meaning_not_ready\""), "{refused}");
    }
    // By both, words answer meanwhile, and that is said.
    let found = server.done(SEARCH, json!({ "query": "知识" }));
    assert_eq!((names(&found), &found["result"]["mode"]), (vec!["Vault.md"], &json!("omnisearch")));
    assert!(found["notice"].as_str().unwrap().contains("being made"), "{found}");
    // What the bundled model knows, it answers.
    let found = server.done("semantic_search", json!({ "query": "garden" }));
    assert_eq!(found["passages"][0]["path"], "Garden.md", "{found}");
    drop(server);
    // With the model in the program nothing is to be waited for, and nothing is found.
    let mut server = serve(&vault);
    let nothing = server.done("semantic_search", json!({ "query": "knowledge [status:open]" }));
    assert_eq!(nothing["passages"], json!([]), "{nothing}");
    assert!(!nothing.to_string().contains("being made"), "{nothing}");
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
