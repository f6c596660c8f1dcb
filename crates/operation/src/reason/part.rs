//! Parts of files in reasons: hashes, candidates, similar text.

use lapidary_note::ContentHash;
use serde_json::{Map, Value, json};

use super::advice::as_many_as_fit;
use crate::quote::quoted;

/// A part of a file that has its own hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePart {
    Section,
    Block,
    Range,
    Frontmatter,
}

impl FilePart {
    pub fn name(self) -> &'static str {
        match self {
            Self::Section => "section",
            Self::Block => "block",
            Self::Range => "range",
            Self::Frontmatter => "frontmatter",
        }
    }

    /// The argument that carries the hash a caller expects.
    pub fn argument(self) -> &'static str {
        match self {
            Self::Section => "expected_section_hash",
            Self::Block => "expected_block_hash",
            Self::Range => "expected_range_hash",
            Self::Frontmatter => "expected_frontmatter_hash",
        }
    }
}

/// A place whose text is similar to the text that was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearText {
    pub line: usize,
    pub text: String,
    /// How it differs.
    pub differs: &'static str,
}

/// A task that a caller may have meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskCandidate {
    pub line: usize,
    pub text: String,
}

/// The parts of a note that a name may refer to, with what to send for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartCandidates {
    Headings(Vec<HeadingCandidate>),
    Blocks(Vec<BlockCandidate>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadingCandidate {
    pub id: String,
    pub path: String,
    pub level: u8,
    pub line: usize,
    /// Its position among the candidates, counted from 1.
    pub occurrence: usize,
    pub hash: Option<ContentHash>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockCandidate {
    pub line: usize,
    pub start_line: usize,
    pub end_line: usize,
    pub hash: Option<ContentHash>,
}

/// At most as many as help to choose.
const SHOWN: usize = 20;

impl PartCandidates {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Headings(headings) => headings.len(),
            Self::Blocks(blocks) => blocks.len(),
        }
    }

    pub(super) fn json(&self) -> Vec<Value> {
        // Without a hash the field is absent: `null` would look like a value to send.
        let with_hash = |value: Value, name: &str, hash: &Option<ContentHash>| match (value, hash) {
            (Value::Object(mut map), Some(hash)) => {
                map.insert(name.to_owned(), json!(hash.to_string()));
                Value::Object(map)
            }
            (value, _) => value,
        };
        match self {
            // Enough to choose by; a note may have thousands of equal headings.
            Self::Headings(headings) => headings
                .iter()
                .take(SHOWN)
                .map(|HeadingCandidate { id, path, level, line, occurrence, hash }| {
                    let shown =
                        json!({ "id": id, "path": path, "line": line, "level": level, "occurrence": occurrence });
                    with_hash(shown, "sectionHash", hash)
                })
                .collect(),
            Self::Blocks(blocks) => blocks
                .iter()
                .take(SHOWN)
                .map(|BlockCandidate { line, start_line, end_line, hash }| {
                    let shown = json!({ "line": line, "startLine": start_line, "endLine": end_line });
                    with_hash(shown, "blockHash", hash)
                })
                .collect(),
        }
    }

    /// What to send for each of them.
    pub(super) fn choices(&self) -> String {
        match self {
            Self::Headings(headings) => {
                // A path survives edits better than a number, but only if no other heading has the same.
                let unique = |path: &str| headings.iter().filter(|other| other.path == path).count() == 1;
                let choice = |heading: &HeadingCandidate| match unique(&heading.path) {
                    true => format!("`heading` {}", quoted(&heading.path)),
                    false => format!("`occurrence: {}` (line {})", heading.occurrence, heading.line),
                };
                as_many_as_fit(headings.iter().map(choice), headings.len())
            }
            Self::Blocks(blocks) => {
                as_many_as_fit(blocks.iter().map(|block| format!("`line: {}`", block.line)), blocks.len())
            }
        }
    }
}

/// The hashes that a retry can expect, named as in the file tools.
pub(super) fn current(content: Option<ContentHash>, part: Option<(FilePart, ContentHash)>) -> Map<String, Value> {
    let content = content.map(|hash| ("current_content_hash".to_owned(), json!(hash.to_string())));
    let part = part.map(|(part, hash)| (format!("current_{}_hash", part.name()), json!(hash.to_string())));
    content.into_iter().chain(part).collect()
}
