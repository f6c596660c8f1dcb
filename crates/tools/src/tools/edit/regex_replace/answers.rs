//! What the two steps answer.

use lapidary_note::ContentHash;
use lapidary_operation::ProposalStep;
use lapidary_toolkit::{
    expression::{Found, Replaced},
    file_edit::total_lines,
    hash,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::Input;

#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<bool>,
    #[serde(rename = "proposal_token", skip_serializing_if = "Option::is_none")]
    pub(super) proposal_token: Option<String>,
    #[serde(rename = "replaced_preview_count", skip_serializing_if = "Option::is_none")]
    replaced_preview_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_be_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<usize>,
    /// Of a `glob`.
    #[serde(skip_serializing_if = "Option::is_none")]
    files_changed: Option<usize>,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<FileOutput>>,
    /// Files that fit and stay as they are, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<LeftOutput>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
    #[serde(rename = "dry_run")]
    dry_run: bool,
    #[serde(skip)]
    pub(super) proposal: Option<ProposalStep>,
    /// How many files were looked through.
    #[serde(skip)]
    pub(super) scanned: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FileOutput {
    file: String,
    replaced_count: usize,
    /// Before, in a proposal.
    #[serde(skip_serializing_if = "Option::is_none")]
    current_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_be_hash: Option<String>,
    /// Of the file as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_hash: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct LeftOutput {
    file: String,
    why: String,
}

/// Longer lists help nobody.
const MOST_FILES: usize = 100;

const TRUNCATED: &str = "Not all files were looked through: the budget is spent or the time is up. Carry out this \
                         proposal, then send `nextOffset` as `offset`.";
const NOTHING: &str = "Nothing was found, so there is nothing to carry out.";

/// The answer to the first step.
pub(super) fn proposed(input: &Input, found: &Found, proposal: Option<ProposalStep>) -> Output {
    let only = found.replaced.first().filter(|_| input.file.is_some());
    Output {
        proposal,
        replaced_preview_count: Some(found.count()),
        current_hash: only.map(|only| only.before.hash().to_string()),
        would_be_hash: only.map(|only| only.content.hash().to_string()),
        hint: match (found.next, found.count()) {
            (Some(_), _) => Some(TRUNCATED),
            (None, 0) => Some(NOTHING),
            (None, _) => None,
        },
        files: input.glob.is_some().then(|| found.replaced.iter().take(MOST_FILES).map(to_come).collect()),
        dry_run: true,
        ..either(input, found)
    }
}

/// The answer to the second.
pub(super) fn carried_out(input: &Input, found: &Found, proposal: ProposalStep) -> Output {
    let only = found.replaced.first().filter(|_| input.file.is_some());
    Output {
        proposal: Some(proposal),
        changed: Some(!found.replaced.is_empty()),
        replaced_count: Some(found.count()),
        content_hash: only.map(|only| only.content.hash().to_string()),
        total_lines: only.map(|only| total_lines(&only.content)),
        files: input.glob.is_some().then(|| found.replaced.iter().take(MOST_FILES).map(made).collect()),
        ..either(input, found)
    }
}

fn to_come(replaced: &Replaced) -> FileOutput {
    FileOutput {
        current_hash: Some(short(&replaced.before.hash())),
        would_be_hash: Some(short(&replaced.content.hash())),
        ..of_file(replaced)
    }
}

fn made(replaced: &Replaced) -> FileOutput {
    FileOutput { content_hash: Some(short(&replaced.content.hash())), ..of_file(replaced) }
}

fn of_file(replaced: &Replaced) -> FileOutput {
    FileOutput {
        file: replaced.path.to_string(),
        replaced_count: replaced.count,
        current_hash: None,
        would_be_hash: None,
        content_hash: None,
    }
}

/// What is enough to be sent back, as the list may be long.
fn short(hash: &ContentHash) -> String {
    hash::short(&hash.to_string()).to_owned()
}

/// What both steps say.
fn either(input: &Input, found: &Found) -> Output {
    let left = found.left.iter().map(|(path, why)| LeftOutput { file: path.to_string(), why: why.to_string() });
    Output {
        file: input.file.clone(),
        files_changed: input.glob.is_some().then_some(found.replaced.len()),
        left: left.collect(),
        truncated: found.next.is_some(),
        next_offset: found.next,
        scanned: found.scanned,
        ..Output::default()
    }
}
