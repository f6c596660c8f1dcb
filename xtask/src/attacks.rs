//! Whether every test that the page about security names for an attack exists.

use std::{
    fs,
    path::{Path, PathBuf},
};

const HEADING: &str = "### Attacks over HTTP";

/// The tests of each row of the table.
fn rows(page: &str) -> Vec<Vec<String>> {
    let table = page.split_once(HEADING).map_or("", |(_, rest)| rest);
    let table = table.split("\n#").next().unwrap_or_default();
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    let tests = rows.filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next());
    tests.map(|tests| tests.split('`').skip(1).step_by(2).map(str::to_owned).collect()).collect()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the project") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_attack_has_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let rows = rows(&fs::read_to_string(root.join("docs/security.md")).expect("the page"));
    assert_eq!(rows.len(), 28, "one row for each attack");
    let mut files = Vec::new();
    rust_files(&root.join("crates"), &mut files);
    let source: String = files.iter().map(|file| fs::read_to_string(file).expect("a source")).collect();
    for tests in &rows {
        assert!(!tests.is_empty(), "a row has no test");
        for test in tests {
            let declared = source.match_indices(&format!("fn {test}()")).any(|(at, _)| {
                let before = source[..at].lines().rev().take(4).collect::<Vec<_>>().join("\n");
                before.contains("#[test]") || before.contains("#[tokio::test")
            });
            assert!(declared, "there is no test {test}");
        }
    }
}
