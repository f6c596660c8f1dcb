//! Lists checkpoints.

use lapidary_note::counted;
use lapidary_operation::{
    ChangeAuthor, Context, Declaration, Example, ExampleResult, PathArgument, PathRefusal, PathRole, ReadTool, Reason,
    ReasonKind, ToolGroup, WireFamily, quote::quoted,
};
use lapidary_toolkit::{checkpoint, hash, reading, time::iso};
use lapidary_vault::{
    Checkpoint, ReadError, View,
    store::{CheckpointKind, EntryRecord},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct CheckpointList;

/// The changes made here, newest first; each can be inspected and undone.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Only changes of this file or folder.
    #[serde(default)]
    path: Option<String>,
    /// How many.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 200))]
    limit: usize,
    /// Only changes before this checkpoint, to continue after the last one of an earlier answer.
    #[serde(default)]
    before: Option<String>,
}

fn twenty() -> usize {
    20
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    checkpoints: Vec<CheckpointOutput>,
    /// There are older ones; send it as `before`.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CheckpointOutput {
    id: String,
    time: String,
    /// `late_save`: what another program wrote to a file that had just been replaced.
    kind: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    tool: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    client: String,
    files: Vec<CheckpointFile>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CheckpointFile {
    path: String,
    /// `created`, `changed`, `deleted`, `moved`, `saved`, or `folder` for an empty one that was created or removed.
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash_before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash_after: Option<String>,
}

impl ReadTool for CheckpointList {
    const DECLARATION: Declaration = Declaration {
        name: "checkpoint_list",
        dotted: None,
        title: "List checkpoints",
        family: WireFamily::Own,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/path", role: PathRole::List }],
        reasons: &[ReasonKind::CheckpointMissing],
        words: "undo history versions of a note, what was changed when, list previous versions, history of a file, which edits have you made, checkpoints",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, _: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let path = input.path.as_deref().map(reading::parse_path).transpose()?;
        if let Some(path) = &path
            // A missing path is accepted: the history is also that of files that are gone.
            && let Err(ReadError::Denied(denied)) = view.may_enter(path)
        {
            let denied = PathRefusal::ByScope(denied);
            return Err(Reason::PathForbidden { path: path.clone(), writing: false, denied });
        }
        let before = input.before.as_deref();
        let page = view
            .checkpoints(path.as_ref(), before, input.limit)
            .map_err(|error| checkpoint::refusal(before.unwrap_or_default(), error))?;
        // The last one shown is where the next page begins, and only if there is one.
        let next_before = page.checkpoints.last().filter(|_| page.more).map(|last| last.id.clone());
        Ok(Output { checkpoints: page.checkpoints.into_iter().map(shown).collect(), next_before })
    }

    fn text(&self, output: &Output) -> Option<String> {
        if output.checkpoints.is_empty() {
            return Some("No checkpoints.".to_owned());
        }
        let mut text = String::new();
        for checkpoint in &output.checkpoints {
            let CheckpointOutput { id, time, tool, kind, .. } = checkpoint;
            // A late save was not made by a tool.
            let by = if tool.is_empty() { kind } else { tool.as_str() };
            let files: Vec<String> = checkpoint.files.iter().take(SHOWN_FILES).map(changed).collect();
            let more = checkpoint.files.len().saturating_sub(SHOWN_FILES);
            let more = if more > 0 { format!(", {}", counted(more, "more file")) } else { String::new() };
            text += &format!("{id} {time} {by}: {}{more}\n", files.join(", "));
        }
        if let Some(next) = &output.next_before {
            text += &format!("There are older ones: `before: \"{next}\"`.");
        }
        Some(text.trim_end().to_owned())
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "Nothing has been changed yet",
                before: &[("a.md", "")],
                input: json!({}),
                gives: ExampleResult::Output(json!({ "checkpoints": [] })),
                after: &[],
            },
            Example {
                says: "After a checkpoint that does not exist",
                before: &[],
                input: json!({ "before": "abcd" }),
                gives: ExampleResult::Refusal(ReasonKind::CheckpointMissing),
                after: &[],
            },
        ]
    }
}

fn shown(checkpoint: Checkpoint) -> CheckpointOutput {
    let kind = checkpoint.kind;
    let files = checkpoint::files(&checkpoint).map(|entry| file(kind, entry)).collect();
    CheckpointOutput {
        id: checkpoint.id,
        time: iso(checkpoint.time),
        kind: match kind {
            CheckpointKind::Change => "change",
            CheckpointKind::LateSave => "late_save",
        },
        tool: checkpoint.tool,
        client: ChangeAuthor::client_of(&checkpoint.client).to_owned(),
        files,
    }
}

/// For a change of many files, as many as fit on a line.
const SHOWN_FILES: usize = 5;

fn changed(CheckpointFile { path, what, moved_to, .. }: &CheckpointFile) -> String {
    let to = moved_to.as_ref().map_or_else(String::new, |to| format!(" → {}", quoted(to)));
    format!("{what} {}{to}", quoted(path))
}

fn file(kind: CheckpointKind, entry: &EntryRecord) -> CheckpointFile {
    // Short hashes are enough to be sent back, and the list may be long.
    let short = |hash: &lapidary_note::ContentHash| hash::short(&hash.to_string()).to_owned();
    CheckpointFile {
        path: entry.path.to_string(),
        what: match (kind, entry.before, entry.after, &entry.moved_to) {
            (CheckpointKind::LateSave, ..) => "saved",
            // Before the moves, as a folder is recorded as moved to itself.
            _ if entry.is_of_folder() => "folder",
            // A file that went to the trash is recorded as moved there.
            (_, _, _, Some(_)) => "moved",
            (_, None, ..) => "created",
            (_, Some(_), None, None) => "deleted",
            (_, Some(_), Some(_), None) => "changed",
        },
        moved_to: entry.moved_to.as_ref().filter(|_| !entry.is_of_folder()).map(ToString::to_string),
        hash_before: entry.before.as_ref().map(short),
        hash_after: entry.after.as_ref().map(short),
    }
}
