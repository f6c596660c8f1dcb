//! What the names of types have to be: two words where one is vague, and each once in its crate.
//!
//! Reads the source as text. Tests are left out: a name that only a test needs is read beside its one use.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The `Input` and `Output` of tools are the only names that every file may have again.
const IN_EVERY_TOOL: [&str; 2] = ["Input", "Output"];

/// One type, as its declaration says.
#[derive(Debug)]
struct DeclaredType {
    name: String,
    file: PathBuf,
    line: usize,
    /// It is declared for some platforms only, so it may have a twin for the others.
    for_platform: bool,
}

/// How many types there are outside of tests, and how many of their names have one word.
#[derive(Debug, Default)]
pub(crate) struct NameCount {
    pub(crate) types: usize,
    pub(crate) one_word: usize,
}

impl NameCount {
    pub(crate) fn of(root: &Path) -> Self {
        let mut count = Self::default();
        for declared in crates(root).iter().flat_map(|folder| declared_types(folder)) {
            count.types += 1;
            count.one_word += usize::from(word_count(&declared.name) < 2);
        }
        count
    }
}

/// One line for each name that a crate declares twice.
#[cfg_attr(not(test), expect(dead_code, reason = "the test below is its only caller"))]
fn repeated_names(root: &Path) -> Vec<String> {
    let mut repeated = Vec::new();
    for folder in crates(root) {
        let mut by_name: BTreeMap<String, Vec<DeclaredType>> = BTreeMap::new();
        for declared in declared_types(&folder) {
            by_name.entry(declared.name.clone()).or_default().push(declared);
        }
        for (name, places) in by_name {
            if places.len() < 2 || places.iter().all(|place| place.for_platform) {
                continue;
            }
            let places: Vec<_> =
                places.iter().map(|place| format!("{}:{}", place.file.display(), place.line)).collect();
            repeated.push(format!("{name}: {}", places.join(", ")));
        }
    }
    repeated
}

fn word_count(name: &str) -> usize {
    name.chars().filter(char::is_ascii_uppercase).count()
}

pub(crate) fn crates(root: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<_> =
        entries(&root.join("crates")).into_iter().map(|path| path.join("src")).filter(|path| path.is_dir()).collect();
    folders.push(root.join("xtask/src"));
    folders.push(root.join("xtask/model/src"));
    folders
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder of the project")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

/// Every Rust file below a folder but for those of tests.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries(folder) {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if stem == "tests" {
            continue;
        }
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

fn declared_types(folder: &Path) -> Vec<DeclaredType> {
    let mut found = Vec::new();
    for file in sources(folder) {
        let text = std::fs::read_to_string(&file).expect("a source file");
        // A platform has its own module here, whose `cfg` is in the file that declares it.
        let platform_file = file.components().any(|part| part.as_os_str() == "watch");
        let mut before = "";
        for (index, line) in text.lines().enumerate() {
            // Tests are the last thing in a file.
            if line.starts_with("mod tests {") {
                break;
            }
            if let Some(name) = declared_name(line).filter(|name| !IN_EVERY_TOOL.contains(name)) {
                let for_platform = platform_file || before.starts_with("#[cfg(");
                found.push(DeclaredType { name: name.to_owned(), file: file.clone(), line: index + 1, for_platform });
            }
            before = line;
        }
    }
    found
}

/// The name of the type that a line declares. An indented `type` belongs to a trait, which chose its name.
fn declared_name(line: &str) -> Option<&str> {
    let inner = line.trim_start();
    let mut words = inner.split_whitespace();
    let mut word = words.next()?;
    if word.starts_with("pub") {
        word = words.next()?;
    }
    // `pub(in super::super)` is two words.
    if word.ends_with(')') {
        word = words.next()?;
    }
    let names_a_type = match word {
        "struct" | "enum" | "trait" | "union" => true,
        "type" => inner.len() == line.len(),
        _ => false,
    };
    let name = words.next().filter(|_| names_a_type)?;
    let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
    Some(&name[..end]).filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn no_type_name_occurs_twice_in_a_crate() {
        let repeated = repeated_names(&root());
        assert!(repeated.is_empty(), "declared twice:\n{}", repeated.join("\n"));
    }

    #[test]
    fn fewer_than_a_quarter_of_the_type_names_have_one_word() {
        let NameCount { types, one_word } = NameCount::of(&root());
        assert!(types > 500, "the source was read: {types}");
        assert!(one_word * 4 < types, "{one_word} of {types}");
    }

    /// Names of parts of a house say nothing to a reader who searches for a sign-in or a cache.
    #[test]
    fn no_name_is_a_pun_on_the_house() {
        const PUNS: [&str; 5] = ["Keeper", "Door", "Gate", "Hear", "Tell"];
        for folder in crates(&root()) {
            for DeclaredType { name, file, line, .. } in declared_types(&folder) {
                let is_pun = PUNS.iter().any(|pun| name.starts_with(pun) || name.ends_with(pun));
                assert!(!is_pun, "{}:{line}: {name}", file.display());
            }
            for file in sources(&folder) {
                let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
                let is_pun = PUNS.iter().any(|pun| stem.split('_').any(|word| word.eq_ignore_ascii_case(pun)));
                assert!(!is_pun, "{}", file.display());
            }
        }
    }

    #[test]
    fn declarations_are_recognised() {
        for (line, name) in [
            ("pub struct VaultPath(String);", Some("VaultPath")),
            ("pub(in super::super) struct FolderWatch {", Some("FolderWatch")),
            ("    enum LocalChoice<'a> {", Some("LocalChoice")),
            ("type FileStates = BTreeMap<VaultPath, u8>;", Some("FileStates")),
            ("    type Target = Dir;", None),
            ("// struct Comment", None),
            ("let structure = 1;", None),
        ] {
            assert_eq!(declared_name(line), name, "{line}");
        }
    }
}
