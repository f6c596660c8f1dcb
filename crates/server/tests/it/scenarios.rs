//! Whole vaults: `fixtures/scenarios/<name>/` holds `before/`, `call.json` and `after/`. A new case needs no Rust.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::Value;

use crate::harness::{Vault, files_below};

#[test]
fn every_scenario_ends_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenarios");
    let mut scenarios: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scenarios.sort();
    assert!(!scenarios.is_empty());
    for scenario in scenarios {
        check(&scenario);
    }
}

fn check(scenario: &Path) {
    let name = scenario.file_name().unwrap().to_str().unwrap();
    let call: Value = serde_json::from_slice(&std::fs::read(scenario.join("call.json")).unwrap()).unwrap();
    let vault = Vault::new(&[]);
    for (path, bytes) in files_below(&scenario.join("before")) {
        vault.write(&path, &bytes);
    }
    let mut command = vault.command();
    command
        .arg("--vault")
        .arg(vault.path())
        .args(["call", call["tool"].as_str().unwrap()])
        .arg(call["arguments"].to_string());
    for (name, value) in call["environment"].as_object().into_iter().flatten() {
        command.env(name, value.as_str().unwrap());
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{name}: {output:?}"));
    assert!(includes(&reply, &call["gives"]), "{name}: {reply:#}");
    let refused = reply.get("error").is_some();
    assert_eq!(output.status.code(), Some(i32::from(refused)), "{name}");
    assert_eq!(vault.everything(), files_below(&scenario.join("after")), "{name}");
}

fn includes(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|there| includes(there, value)))
        }
        _ => whole == part,
    }
}
