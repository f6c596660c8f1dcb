//! Whether ARCHITECTURE.md is true: every file and function that it names exists, and its tables of locks are complete.
//!
//! Reads the source as text, like the other checks.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::names::{crates, sources};

/// The heading of the section that follows calls from function to function.
const CALL_PATHS: &str = "## Four call paths";
/// The heading of the section that lists the locks.
const LOCKS: &str = "## Locks";

struct ArchitecturePage {
    root: PathBuf,
    text: String,
}

impl ArchitecturePage {
    fn of(root: &Path) -> Self {
        let text = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
        Self { root: root.to_owned(), text }
    }

    fn section(&self, heading: &str) -> &str {
        let start = self.text.find(heading).expect("a section that the checks know");
        let body = &self.text[start + heading.len()..];
        body.find("\n## ").map_or(body, |end| &body[..end])
    }

    /// Every file in code quotes. A path begins with its crate; where the text is about one, it may be left out.
    fn missing_files(&self) -> Vec<String> {
        let outside_walks = self.text.replace(self.section(CALL_PATHS), "");
        let quoted = outside_walks.split('`').skip(1).step_by(2);
        let files =
            quoted.filter(|word| word.ends_with(".rs") && word.contains('/') && !word.contains(['<', ' ', '…']));
        files.filter(|file| !self.exists(file)).map(str::to_owned).collect()
    }

    fn exists(&self, file: &str) -> bool {
        let Some((room, rest)) = file.split_once('/') else { return false };
        let in_room = |room: &str, rest: &str| format!("crates/{room}/src/{rest}");
        let spelt = [
            file.to_owned(),
            format!("crates/{file}"),
            in_room(room, rest),
            in_room("store", file),
            in_room("server", file),
        ];
        spelt.iter().any(|path| self.root.join(path).is_file())
    }

    /// The functions of the call paths that are not where the page says.
    fn missing_stations(&self) -> Vec<String> {
        let mut missing = Vec::new();
        // `*crate*` and `file.rs` hold until the next one is named.
        let (mut room, mut file) = (String::new(), PathBuf::new());
        for path in self.section(CALL_PATHS).split("\n- **").skip(1) {
            let stations = path.split_once(".**").map_or("", |(_, stations)| stations);
            for station in stations.trim().trim_end_matches('.').split('→') {
                for word in station.split_whitespace() {
                    if let Some(named) = word.strip_prefix('*').and_then(|word| word.strip_suffix('*')) {
                        named.clone_into(&mut room);
                    } else if let Some(named) = word.strip_prefix('`').and_then(|word| word.strip_suffix('`')) {
                        file = self.walked_file(&room, named);
                    } else if word.starts_with('(') {
                        break;
                    } else if !declares(&file, word) {
                        missing.push(format!("{room} {} {word}", file.display()));
                    }
                }
            }
        }
        missing
    }

    /// Tools are in a folder for each group, and `…/` is the folder of the tool before.
    fn walked_file(&self, room: &str, named: &str) -> PathBuf {
        let source = self.root.join("crates").join(room).join("src");
        let ending = named.trim_start_matches('…').trim_start_matches('/');
        let found = sources(&source).into_iter().find(|path| path.ends_with(ending));
        let exact = source.join(named);
        if exact.is_file() { exact } else { found.unwrap_or(exact) }
    }

    /// The locks of the tables, as `file field`; the field is missing where the type is the lock.
    fn listed_locks(&self) -> BTreeSet<String> {
        let rows = self.section(LOCKS).lines().filter(|line| line.starts_with("| `"));
        let mut locks = BTreeSet::new();
        for row in rows {
            let mut words = row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2);
            let file = words.next().unwrap_or_default();
            let name = Path::new(file).file_name().unwrap_or_default().display().to_string();
            let fields: Vec<_> = words.collect();
            if fields.is_empty() {
                locks.insert(name.clone());
            }
            locks.extend(fields.iter().map(|field| format!("{name} {field}")));
        }
        locks
    }

    /// The locks that the product declares.
    fn declared_locks(&self) -> BTreeSet<String> {
        let mut locks = BTreeSet::new();
        for file in
            crates(&self.root).iter().filter(|folder| !folder.ends_with("xtask/src")).flat_map(|folder| sources(folder))
        {
            let name = file.file_name().unwrap_or_default().display().to_string();
            // What plays the other side in tests is not part of the product.
            let is_fake = name.starts_with("fake_") || file.components().any(|part| part.as_os_str() == "fake-plugin");
            if name == "testing.rs" || is_fake {
                continue;
            }
            let text = fs::read_to_string(&file).expect("a source file");
            for line in text.lines().take_while(|line| !line.starts_with("mod tests {")) {
                let code = line.trim_start();
                let is_lock = ["Mutex<", "RwLock<"].iter().any(|lock| code.contains(lock));
                if !is_lock || code.starts_with("//") || code.contains("fn ") || code.contains("std::sync::Mutex<") {
                    continue;
                }
                let field = code.trim_start_matches("pub(super) ").split_once(": ").map(|(field, _)| field);
                let field =
                    field.filter(|field| field.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'));
                locks.insert(field.map_or_else(|| name.clone(), |field| format!("{name} {field}")));
            }
        }
        locks
    }
}

/// Whether a file has this function; `Type::name` is that of a type.
fn declares(file: &Path, function: &str) -> bool {
    let name = function.rsplit("::").next().unwrap_or(function);
    let text = fs::read_to_string(file).unwrap_or_default();
    ["fn", "struct"].iter().any(|keyword| {
        text.match_indices(&format!("{keyword} {name}")).any(|(at, found)| {
            !text[at + found.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> ArchitecturePage {
        ArchitecturePage::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
    }

    #[test]
    fn every_file_that_the_page_names_exists() {
        assert_eq!(page().missing_files(), Vec::<String>::new());
    }

    #[test]
    fn every_station_of_a_call_path_is_a_function_of_its_file() {
        assert_eq!(page().missing_stations(), Vec::<String>::new());
    }

    #[test]
    fn the_tables_have_every_lock_and_no_other() {
        let page = page();
        assert_eq!(page.listed_locks(), page.declared_locks());
    }

    #[test]
    fn a_function_is_found_by_its_whole_name() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/architecture.rs");
        assert!(declares(&here, "declares") && declares(&here, "ArchitecturePage::section"));
        assert!(!declares(&here, "declare") && !declares(&here, "ArchitecturePage::none"));
    }
}
