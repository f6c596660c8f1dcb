//! Links between documents: every file and every heading that a document links to exists.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The documents: those in the root, and the manual.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in [root(), root().join("docs")] {
        let entries = fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        found.extend(entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    found.sort();
    found
}

/// The text without code, in which a bracket is not a link.
fn prose(text: &str) -> String {
    let mut inside = None;
    let mut kept = String::new();
    for line in text.lines() {
        let fence = line.trim_start();
        let mark: String = fence.chars().take_while(|letter| *letter == '`').collect();
        match &inside {
            None if mark.len() >= 3 => inside = Some(mark),
            Some(open) if mark.len() >= open.len() && fence.trim_end() == mark => inside = None,
            Some(_) => {}
            None => {
                for (number, part) in line.split('`').enumerate() {
                    // The inside of a code span is not a link, but its place in the text of one is.
                    kept += if number % 2 == 0 { part } else { "x" };
                }
                kept.push('\n');
            }
        }
    }
    kept
}

/// The targets of inline links and images, and of `src` and `href`.
fn targets(text: &str) -> Vec<String> {
    let text = prose(text);
    let mut found = Vec::new();
    for (mark, end) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
        let mut rest = text.as_str();
        while let Some((_, after)) = rest.split_once(mark) {
            let target = after.split(end).next().unwrap_or_default();
            found.push(target.split_whitespace().next().unwrap_or_default().to_owned());
            rest = after;
        }
    }
    found
}

/// The anchors of the headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        let Some(title) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#') && !is_code)
        else {
            continue;
        };
        let slug: String = title
            .trim()
            .to_lowercase()
            .chars()
            .filter_map(|letter| match letter {
                ' ' => Some('-'),
                letter if letter.is_alphanumeric() || letter == '-' || letter == '_' => Some(letter),
                _ => None,
            })
            .collect();
        let count = seen.entry(slug.clone()).or_default();
        found.insert(if *count == 0 { slug.clone() } else { format!("{slug}-{count}") });
        *count += 1;
    }
    found
}

/// What is wrong with the links of one document.
fn dead_links(document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).expect("a document");
    let folder = document.parent().expect("a folder");
    let name = document.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut dead = Vec::new();
    for target in targets(&text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) = target.split_once('#').map_or((target.as_str(), None), |(file, at)| (file, Some(at)));
        let path = if file.is_empty() { document.to_owned() } else { folder.join(file) };
        if !path.exists() {
            dead.push(format!("{name}: {target} does not exist"));
        } else if let Some(anchor) = anchor
            && path.extension().is_some_and(|ending| ending == "md")
            && !anchors(&fs::read_to_string(&path).expect("a document")).contains(anchor)
        {
            dead.push(format!("{name}: {target} has no such heading"));
        }
    }
    dead
}

#[test]
fn no_link_of_a_document_is_dead() {
    let documents = documents();
    assert!(documents.len() > 20, "{documents:?}");
    let dead: Vec<String> = documents.iter().flat_map(|document| dead_links(document)).collect();
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn every_page_of_the_manual_is_on_its_start_page_and_in_its_table_of_contents() {
    for list in ["SUMMARY.md", "index.md"] {
        let text = fs::read_to_string(root().join("docs").join(list)).expect("a list of pages");
        for document in documents() {
            let name = document.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_manual = document.parent().is_some_and(|folder| folder.ends_with("docs"));
            if is_manual && name != "SUMMARY.md" && name != list {
                assert!(text.contains(&format!("]({name})")), "{name} is not in docs/{list}");
            }
        }
    }
}

#[test]
fn links_and_anchors_are_read_as_people_see_them() {
    let text = "# A `b` – C?\n\n[one](x.md#y \"title\") `[no](z)` <img src=\"a.svg\">\n\n```\n[no](q)\n# no\n```\n## A b\n## A b\n";
    assert_eq!(targets(text), ["x.md#y", "a.svg"]);
    assert_eq!(anchors(text), BTreeSet::from(["a-b--c", "a-b", "a-b-1"].map(str::to_owned)));
}
