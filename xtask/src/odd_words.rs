//! The words that the project's English avoids: a noun such as caller, client, user or program says more than
//! "somebody", and "is not a path" is plainer than "is no path".
//!
//! Reads comments, strings and documents as text. [`EXCEPTIONS`] are the places where a word is right.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Phrases that are matched as whole words, and what to write instead.
const PHRASES: [(&str, &str); 16] = [
    ("somebody", "a caller, client, user, process or writer"),
    ("someone", "a caller, client, user, process or writer"),
    ("anybody", "any caller, client or program"),
    ("nobody", "no caller, client or program"),
    ("whoever", "the caller, client or program that"),
    ("stands", "is, occurs"),
    ("stood", "was, occurred"),
    ("shall", "must, will"),
    ("for good", "permanently"),
    ("so many", "this many, at most"),
    ("besides", "in addition, also"),
    ("as you like", "at your option"),
    ("of its own", "its own, separate"),
    ("is no", "is not a"),
    ("are no", "are not"),
    ("was no", "was not a"),
];

/// What may follow a phrase, so that it is plain English after all: "stands for", "is no longer".
const CONTINUATIONS: [(&str, &str); 12] = [
    ("stands", "for"),
    ("stood", "for"),
    ("so many", "that"),
    ("is no", "longer"),
    ("are no", "longer"),
    ("was no", "longer"),
    ("is no", "more"),
    ("are no", "more"),
    ("is no", "larger"),
    ("is no", "such"),
    ("are no", "such"),
    ("is no", "need"),
];

/// Files with word lists or note texts as data, by the end of their path.
const EXCEPTIONS: [(&str, &str); 5] = [
    // The licence of WordNet, word for word.
    ("meaning/model/NOTICE.md", "shall"),
    ("crates/note/benches/parse.rs", "nobody"),
    ("find_tool/ranking.rs", "someone"),
    ("leaks/logs.rs", "someone"),
    ("search/function_words.rs", "shall"),
];

/// Folders whose files are text that people read.
const FOLDERS: [&str; 6] = ["crates", "xtask", "docs", "tests", "packages", ".github"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file below a folder whose name ends like this.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            found.extend(files(&path, endings));
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// All texts of the project: sources, documents and the outside clients.
fn texts() -> Vec<PathBuf> {
    let root = root();
    let mut found: Vec<_> =
        FOLDERS.iter().flat_map(|folder| files(&root.join(folder), &[".rs", ".md", ".py", ".toml", ".yml"])).collect();
    // Only the top level: the demo vault and the fixtures are notes of users.
    let top = fs::read_dir(&root).expect("the project").map(|entry| entry.expect("an entry").path());
    found.extend(top.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    found.push(root.join("Makefile"));
    found
}

/// The prose in a line of Rust: a comment, or the text between quotes. A line with an odd quote, or one that ends with a
/// backslash, is part of a longer string.
fn prose(line: &str) -> String {
    if line.trim_start().starts_with("//") || line.ends_with('\\') {
        return line.to_owned();
    }
    let parts: Vec<&str> = line.split('"').collect();
    if parts.len().is_multiple_of(2) {
        return line.to_owned();
    }
    let comment = parts.last().and_then(|last| last.split_once("// ")).map_or("", |(_, comment)| comment);
    let quoted = parts.iter().skip(1).step_by(2).copied();
    quoted.chain([comment]).collect::<Vec<_>>().join("\n")
}

/// The phrases of the list that a line contains. `before` is the last word of the line above.
fn odd_phrases(line: &str, before: &str) -> Vec<&'static str> {
    let line = line.to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let mut found = Vec::new();
    for (phrase, _) in PHRASES {
        let mut from = 0;
        while let Some(at) = line[from..].find(phrase).map(|at| at + from) {
            from = at + phrase.len();
            let (left, right) = (&line[..at], &line[from..]);
            if left.ends_with(is_word) || right.starts_with(is_word) {
                continue;
            }
            let next = right.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let mut words = left.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            let previous = words.next_back().unwrap_or(before);
            // "There is no such file" is how English says it.
            let is_existence = phrase.ends_with(" no") && previous.eq_ignore_ascii_case("there");
            if !is_existence && !CONTINUATIONS.contains(&(phrase, next)) {
                found.push(phrase);
            }
        }
    }
    found
}

#[test]
fn no_text_of_the_project_has_an_odd_word() {
    let mut odd = Vec::new();
    let texts = texts();
    assert!(texts.len() > 500, "the project was read: {}", texts.len());
    for file in texts {
        let name = file.to_string_lossy().replace('\\', "/");
        if name.ends_with("xtask/src/odd_words.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a text");
        let mut before = String::new();
        for (index, line) in text.lines().enumerate() {
            let line = if name.ends_with(".rs") { &prose(line) } else { line };
            for phrase in odd_phrases(line, &before) {
                if !EXCEPTIONS.iter().any(|(end, word)| name.ends_with(end) && phrase == *word) {
                    let (_, better) = PHRASES.iter().find(|(odd, _)| *odd == phrase).expect("from the list");
                    odd.push(format!("{name}:{}: `{phrase}` (write: {better})", index + 1));
                }
            }
            before = line.split_whitespace().last().unwrap_or_default().to_owned();
        }
    }
    assert!(odd.is_empty(), "{} odd words:\n{}", odd.len(), odd.join("\n"));
}

#[test]
fn every_source_file_begins_with_what_it_is_for() {
    let sources = files(&root().join("crates"), &[".rs"]).into_iter().chain(files(&root().join("xtask"), &[".rs"]));
    let bare: Vec<_> = sources
        .filter(|file| !fs::read_to_string(file).expect("a source file").starts_with("//!"))
        .map(|file| file.display().to_string())
        .collect();
    assert!(bare.is_empty(), "without `//!`:\n{}", bare.join("\n"));
}

#[test]
fn phrases_are_told_from_plain_english() {
    for (line, before, expected) in [
        ("/// Nobody reads it.", "", vec!["nobody"]),
        ("fn nobody_reads_it() {", "", vec![]),
        ("a long-standing bug that stands for others", "", vec![]),
        ("it is no path, and there is no file", "", vec!["is no"]),
        ("/// is no watch.", "there", vec![]),
        ("it is no longer open", "", vec![]),
        ("so many that it fails, so many times", "", vec!["so many"]),
    ] {
        assert_eq!(odd_phrases(line, before), expected, "{line}");
    }
}
