//! The name of the repository in the documents, filled from the one place that has it: packages/release.toml.

use std::path::Path;

/// What is before the name in a document, and what is behind it.
const AROUND: &[(&str, &str)] = &[("https://github.com/", "/releases/"), ("`brew install ", "/lapidary`")];

/// `OWNER/NAME` on GitHub.
pub(crate) fn repository_name(root: &Path) -> Option<String> {
    let table = std::fs::read_to_string(root.join("packages/release.toml")).ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("repository = \""))?;
    Some(line.strip_suffix('"')?.to_owned())
}

/// The document with this name wherever it has one.
pub(crate) fn with_repository_name(document: &str, name: &str) -> String {
    let mut filled = document.to_owned();
    for (before, behind) in AROUND {
        let mut parts = filled.split(before);
        let mut made = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            made += before;
            // Another address may begin alike: a name is one owner and one repository.
            match part.split_once(behind) {
                Some((old, rest)) if is_name(old) => made += &format!("{name}{behind}{rest}"),
                _ => made += part,
            }
        }
        filled = made;
    }
    filled
}

fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
    };
    text.split_once('/').is_some_and(|(owner, name)| is_part(owner) && is_part(name))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_document_gets_the_name_and_keeps_the_rest() {
        let before = "curl https://github.com/a/b/releases/latest | sh, https://github.com/other/c and `brew install a/b/lapidary`\n";
        let after = "curl https://github.com/x/y.z/releases/latest | sh, https://github.com/other/c and `brew install x/y.z/lapidary`\n";
        assert_eq!(with_repository_name(before, "x/y.z"), after);
    }

    #[test]
    fn the_name_is_written_in_one_place() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let name = repository_name(&root).expect("packages/release.toml has a name");
        assert!(is_name(&name), "{name}");
        let mut files: Vec<PathBuf> = Vec::new();
        let mut folders: Vec<PathBuf> =
            ["docs", "packages", "deploy", "tests", ".github", "crates", "xtask/src", "demo"]
                .map(|folder| root.join(folder))
                .into();
        files.extend(
            ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "Cargo.toml", "Makefile"]
                .map(|file| root.join(file)),
        );
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let entry = entry.expect("an entry");
                let list = if entry.file_type().expect("a type").is_dir() { &mut folders } else { &mut files };
                list.push(entry.path());
            }
        }
        let has_name =
            |path: &PathBuf| std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&name));
        let mut found: Vec<PathBuf> = files.into_iter().filter(has_name).collect();
        found.sort();
        // The guide is filled by `cargo xtask docs`.
        assert_eq!(found, [root.join("docs/install.md"), root.join("packages/release.toml")]);
    }
}
