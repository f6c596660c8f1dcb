//! State folders of older versions: the history is kept and can be undone, caches are used or rebuilt.

use std::path::PathBuf;

use serde_json::json;

use crate::harness::{Era, Vault};

const ROOF: &str = "---\ntags: [house]\nstatus: open\n---\n# Roof\n\nSlate from [[Quarry]] ^slate\n\n## Tasks\n- [ ] order tiles 📅 2026-11-20\n";

/// The vault at the end of the old version, with the state folder that it left.
fn vault_of_version_0_1() -> Vault {
    let vault = Vault::new(&[
        ("House/Roof.md", ROOF.as_bytes()),
        ("Quarry.md", b"# Quarry\n\nBlue slate, see [[Roof#Tasks]].\nprice:: 12\n"),
        ("Idea.md", b"An old idea\r\nwith windows line ends\r\nmore\r\n"),
    ]);
    for day in 1..=220 {
        let text = format!("# Day {day}\n\nWeather {}, see [[Quarry]] #log/day{}\n", day % 7, day % 5);
        vault.write(&format!("Log/Day {day}.md"), text.as_bytes());
    }
    // The folder is named after the vault's path, so this version has to create it first.
    assert!(
        vault.run(&["call", "file_append", r#"{"file": "Idea.md", "content": "x", "dry_run": true}"#]).status.success()
    );
    let state = state_folder(&vault);
    let fixture = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/state-0.1");
    for file in std::fs::read_dir(&state).unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    for name in ["checkpoints.db", "index.db", "search.db", "audit.jsonl"] {
        std::fs::copy(fixture.join(name), state.join(name)).unwrap();
    }
    vault
}

fn state_folder(vault: &Vault) -> PathBuf {
    let around = vault.path().parent().unwrap().join("state");
    let mut folders =
        std::fs::read_dir(around).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let folder = folders.next().unwrap();
    assert!(folders.next().is_none(), "one vault has one state folder");
    folder
}

#[test]
fn the_history_of_an_older_version_is_listed_and_undone() {
    let vault = vault_of_version_0_1();
    let mut server = vault.serve().open(Era::Modern);
    let listed = server.done("checkpoint_list", json!({}));
    let ids: Vec<&str> =
        listed["checkpoints"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    let written = ["4eeedaed8d00dbc7", "c5a5269303ffcf2f", "9d3e9e4bc819b445", "a3947d7f95c5d679", "4c02a22254297255"];
    assert_eq!(ids, written, "{listed:#}");
    for id in written {
        server.done("checkpoint_restore", json!({ "id": id }));
    }
    assert_eq!(vault.read("Projects/Roof.md"), ROOF.as_bytes());
    assert_eq!(vault.read("Quarry.md"), b"# Quarry\n\nGrey slate, see [[Roof#Tasks]].\nprice:: 12\n");
    assert_eq!(vault.read("Idea.md"), b"An old idea\r\nwith windows line ends\r\n");
    assert_eq!(vault.read("Draft.md"), b"# Draft\n");
}

#[test]
fn caches_of_an_older_version_give_the_answers_of_today() {
    let vault = vault_of_version_0_1();
    let mut server = vault.serve().open(Era::Modern);
    let links = server.done("links_get", json!({ "file": "Quarry.md" }));
    assert_eq!(links["totalBacklinks"], 221, "{links:#}");
    let found = server.done("obsidian_search_notes", json!({ "mode": "omnisearch", "query": "blue slate" }));
    assert_eq!(found["result"]["hits"][0]["filename"], "Quarry.md", "{found:#}");
    assert!(vault.log().len() > 5, "the log of the older version is read on");
}
