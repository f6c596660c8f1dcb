//! Compares a checkpoint with the current files.

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, fence::fenced, quote::quoted,
};
use lapidary_toolkit::{checkpoint, index, reading};
use lapidary_vault::{ChangeDiff, View, store::EntryRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct CheckpointDiff;

/// Show what changed since just before a checkpoint, as a unified diff.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Its id, or a unique prefix of at least four characters.
    id: String,
    /// Only this file; by default all files of the checkpoint.
    #[serde(default)]
    path: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    id: String,
    unified_diff: String,
    lines_added: usize,
    lines_removed: usize,
}

impl ReadTool for CheckpointDiff {
    const DECLARATION: Declaration = Declaration {
        name: "checkpoint_diff",
        dotted: None,
        title: "Compare with an old version",
        family: WireFamily::Own,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/path", role: PathRole::Read }],
        reasons: &[ReasonKind::CheckpointMissing, ReasonKind::CheckpointAmbiguous, ReasonKind::VersionMissing],
        words: "diff compare old and current version, what changed since a checkpoint",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let found = checkpoint::find(view, &input.id)?;
        let entries: Vec<&EntryRecord> = match input.path.as_deref().map(reading::parse_path).transpose()? {
            Some(path) => vec![checkpoint::entry_of(&found, &path)?],
            // Folders have no content to compare.
            None => checkpoint::files(&found).collect(),
        };
        let mut diff = ChangeDiff::default();
        for entry in entries {
            // Each file is read, so a change of many can take long.
            context.check()?;
            let old = checkpoint::content(view, &found, entry)?;
            if let Some(to) = entry.moved_to.as_ref().filter(|_| entry.before.is_none() && !entry.is_of_folder()) {
                // A folder, or a file that was moved unread: all that is known is that it moved.
                let files = index::files(context, view)?;
                if files.find(to).is_some() || files.find_folder(to).is_some() {
                    diff.rename(&entry.path, to);
                }
                continue;
            }
            // At its old path first: a later change may have moved it back.
            let mut now = reading::read_if_there(view, &entry.path)?;
            if let (Some(to), None) = (&entry.moved_to, &now) {
                now = reading::read_if_there(view, to)?;
                if now.is_some() {
                    diff.rename(&entry.path, to);
                }
            }
            diff.compare(&entry.path, old.as_deref(), now.as_ref().map(|file| file.bytes()));
        }
        let ChangeDiff { text, lines_added, lines_removed } = diff;
        Ok(Output { id: found.id, unified_diff: text, lines_added, lines_removed })
    }

    fn text(&self, output: &Output) -> Option<String> {
        if output.unified_diff.is_empty() {
            return Some(format!("Nothing has changed since before {}.", quoted(&output.id)));
        }
        Some(format!(
            "Since before {}, +{} -{}:\n{}",
            output.id,
            output.lines_added,
            output.lines_removed,
            fenced(&output.unified_diff)
        ))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "What an edit did",
                before: &[("a.md", "old\n")],
                input: json!({ "id": "c0ff", "path": "a.md" }),
                gives: ExampleResult::Including(
                    json!({ "unifiedDiff": "--- a.md\n+++ a.md\n@@ -1 +1 @@\n-old\n+new\n" }),
                )
                .after("str_replace", json!({ "file": "a.md", "find": "old", "replace": "new" })),
                after: &[],
            },
            Example {
                says: "A checkpoint that does not exist",
                before: &[],
                input: json!({ "id": "abcd" }),
                gives: ExampleResult::Refusal(ReasonKind::CheckpointMissing),
                after: &[],
            },
        ]
    }
}
