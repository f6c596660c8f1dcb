//! Tests run what is shipped: cargo builds a test with the features of all development dependencies, and those must not change how the
//! program behaves.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

/// Features that only tests switch on, and why they change nothing.
const HARMLESS: &[(&str, &str)] = &[
    ("either", "more methods"),
    ("hashbrown", "more methods"),
    ("indexmap", "more methods"),
    ("num-complex", "more methods"),
    ("num-integer", "more methods"),
    ("num-traits", "more methods"),
    ("rmcp", "the client, which the server does not have"),
    ("rustix", "terminals that tests open"),
    ("lapidary-note", "counts hashes"),
    ("lapidary-query", "vaults in memory"),
];

/// The features of each package in a build.
fn features(arguments: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["tree", "--offline", "--locked", "--prefix", "none", "--format", "{p}|{f}"]).args(arguments);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        // A package that was printed before has a mark at the end.
        let Some((package, features)) = line.trim_end_matches(" (*)").split_once('|') else { continue };
        // The folder of a package of ours is behind its version.
        let name: Vec<&str> = package.split(' ').take(2).collect();
        let features = features.split(',').filter(|feature| !feature.is_empty()).map(str::to_owned);
        found.entry(name.join(" ")).or_default().extend(features);
    }
    found
}

#[test]
fn a_test_switches_on_nothing_that_changes_the_program() {
    let shipped = features(&["--package", "lapidary-server", "--edges", "normal"]);
    let tested = features(&["--workspace", "--edges", "normal,dev"]);
    assert!(shipped.len() > 100, "{shipped:?}");
    let is_harmless = |package: &str| HARMLESS.iter().any(|(name, _)| package.split(' ').next() == Some(*name));
    for (package, features) in shipped.iter().filter(|(package, _)| !is_harmless(package)) {
        let only_tested: Vec<&String> =
            tested.get(package).into_iter().flatten().filter(|it| !features.contains(*it)).collect();
        assert!(
            only_tested.is_empty(),
            "{package}: only tests have {only_tested:?}; switch them on in Cargo.toml, or say here why they change nothing"
        );
    }
}
