//! Compares two versions of a file.

use lapidary_note::{ContentHash, ExpectedHash};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, bug, fence::fenced, quote::quoted,
};
use lapidary_toolkit::{hash, naming, reading};
use lapidary_vault::{ChangeDiff, CheckpointError, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct FileDiff;

/// Compare two versions of a file by their hashes. Versions that changes made here replaced or wrote are kept, also
/// from before the file was moved.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path, e.g. `Projects/Plan.md`.
    file: String,
    /// The older version.
    from_hash: String,
    /// The newer version; by default the file as it is now.
    #[serde(default)]
    to_hash: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    file: String,
    unified_diff: String,
    from_hash: String,
    to_hash: String,
    lines_added: usize,
    lines_removed: usize,
}

impl ReadTool for FileDiff {
    const DECLARATION: Declaration = Declaration {
        name: "file_diff",
        dotted: Some("file.diff"),
        title: "Compare versions",
        family: WireFamily::Files,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::VersionMissing],
        words: "diff compare versions of a file by hash, what changed since I read it",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let path = match naming::find(context, view, &input.file) {
            Ok(found) => found.path,
            // A deleted file may still have versions.
            Err(Reason::NoteMissing { .. }) => reading::parse_path(&input.file)?,
            Err(reason) => return Err(reason),
        };
        let name = Self::DECLARATION.name;
        let parsed = |argument, given| {
            hash::expected(name, argument, Some(given))?.ok_or_else(|| bug!("a hash was given and none was read"))
        };
        let from = parsed("fromHash", &input.from_hash)?;
        // Without a second hash, the file as it is now.
        let to = input.to_hash.as_deref().map(|given| parsed("toHash", given)).transpose()?;
        let (from_hash, old) = version(view, &path, &from)?;
        let (to_hash, new) = match &to {
            Some(to) => version(view, &path, to)?,
            None => {
                let file = reading::read(view, &path)?;
                (file.hash(), file.bytes().to_vec())
            }
        };
        let mut diff = ChangeDiff::default();
        diff.compare(&path, Some(&old), Some(&new));
        Ok(Output {
            file: path.to_string(),
            unified_diff: diff.text,
            from_hash: from_hash.to_string(),
            to_hash: to_hash.to_string(),
            lines_added: diff.lines_added,
            lines_removed: diff.lines_removed,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { file, unified_diff, from_hash, to_hash, lines_added, lines_removed } = output;
        let file = quoted(file);
        let (from, to) = (hash::digits(from_hash), hash::digits(to_hash));
        if unified_diff.is_empty() {
            return Some(format!("{file}: {from} and {to} are the same."));
        }
        Some(format!("{file}: {from} → {to}, +{lines_added} -{lines_removed}\n{}", fenced(unified_diff)))
    }

    fn examples(&self) -> Vec<Example> {
        let old = ContentHash::of(b"old\n").to_string();
        vec![
            Example {
                says: "Since the version that was read",
                before: &[("a.md", "old\n")],
                input: json!({ "file": "a.md", "fromHash": old }),
                gives: ExampleResult::Output(json!({
                    "file": "a.md",
                    "unifiedDiff": "--- a.md\n+++ a.md\n@@ -1 +1 @@\n-old\n+new\n",
                    "fromHash": old,
                    "toHash": ContentHash::of(b"new\n").to_string(),
                    "linesAdded": 1,
                    "linesRemoved": 1,
                }))
                .after("str_replace", json!({ "file": "a.md", "find": "old", "replace": "new" })),
                after: &[],
            },
            Example {
                says: "A version that never existed",
                before: &[("a.md", "old\n")],
                input: json!({ "file": "a.md", "fromHash": "sha256:000000000000" }),
                gives: ExampleResult::Refusal(ReasonKind::VersionMissing),
                after: &[],
            },
        ]
    }
}

/// The file as it is now, or as it was before a change.
fn version(view: &View, path: &VaultPath, wanted: &ExpectedHash) -> Result<(ContentHash, Vec<u8>), Reason> {
    // The current version may have been written by another program, and the ledger would not have it.
    if let Some(file) = reading::read_if_there(view, path)?.filter(|file| wanted.matches(&file.hash())) {
        return Ok((file.hash(), file.bytes().to_vec()));
    }
    let missing = || Reason::VersionMissing { path: path.clone(), wanted: wanted.to_string() };
    match view.version(path, wanted) {
        Ok(found) => found.ok_or_else(missing),
        Err(CheckpointError::Ledger(_)) => Err(Reason::no_state()),
        // A prefix that fits several versions names none of them.
        Err(CheckpointError::Missing | CheckpointError::Ambiguous { .. }) => Err(missing()),
    }
}
