//! Undoes the caller's own changes.

mod taken_back;

use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, Reason, ReasonKind, ToolGroup, ToolPlan, WireFamily,
    WriteTool,
};
use lapidary_toolkit::{
    checkpoint,
    restoring::{RestorePlan, RestoredFile},
    time::iso,
};
use lapidary_vault::{Checkpoint, ContentGuard, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use taken_back::{changed_since, open_changes, together};

pub(crate) struct Undo;

/// Undo your last change, your last `count`, or the one with this `id`, in one step that can itself be undone.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// How many of your changes, newest first.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 50))]
    count: usize,
    /// A checkpoint of yours.
    #[serde(default)]
    id: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

fn one() -> usize {
    1
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    undone: Vec<UndoneChange>,
    files: Vec<RestoredFile>,
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
struct UndoneChange {
    id: String,
    tool: String,
    time: String,
}

impl WriteTool for Undo {
    const DECLARATION: Declaration = Declaration {
        name: "undo",
        dotted: None,
        title: "Undo",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: true,
        idempotent: false,
        paths: &[],
        reasons: &[
            ReasonKind::NothingToUndo,
            ReasonKind::ChangeOfOther,
            ReasonKind::ChangedSince,
            ReasonKind::CheckpointMissing,
            ReasonKind::CheckpointAmbiguous,
            ReasonKind::VersionMissing,
            ReasonKind::FileExists,
            ReasonKind::BatchConflict,
        ],
        words: "undo my last change, revert, roll back, rollback, take back, restore a deleted note, oops, go back, I made a mistake, deleted the wrong note, by accident",
    };
    const IN_BATCHES: bool = false;
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let meant = match &input.id {
            Some(id) => {
                let found = checkpoint::find(view, id)?;
                if !context.author.is(&found.client) {
                    return Err(Reason::ChangeOfOther { id: found.id });
                }
                vec![found]
            }
            None => open_changes(context, view, input.count)?,
        };
        if meant.is_empty() {
            return Err(Reason::NothingToUndo);
        }
        if let Some(path) = changed_since(context, view, &meant)? {
            let id = meant[0].id.clone();
            return Err(Reason::ChangedSince { path, id });
        }
        let undone = meant.iter().map(|Checkpoint { id, tool, time, .. }| UndoneChange {
            id: id.clone(),
            tool: tool.clone(),
            time: iso(*time),
        });
        let undone = undone.collect();
        let (changes, files) = RestorePlan::of(context, view, ContentGuard::Plan, &together(meant), None)?;
        Ok(ToolPlan { changes, output: Output { undone, files, dry_run: input.dry_run }, dry_run: input.dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let done = if output.dry_run { "Would undo" } else { "Undid" };
        let changes: Vec<String> =
            output.undone.iter().map(|UndoneChange { id, tool, .. }| format!("{tool} {id}")).collect();
        Some(RestoredFile::list(&format!("{done} {}", changes.join(", ")), &output.files))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("a.md", "old\n"), ("b.md", "[[a]]\n")];
        vec![
            Example {
                says: "The last change",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Including(json!({ "files": [{ "path": "a.md", "outcome": "restored" }] }))
                    .after("str_replace", json!({ "file": "a.md", "find": "old", "replace": "new" })),
                after: NOTES,
            },
            Example {
                says: "A rename with its links",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Including(json!({ "undone": [{ "tool": "file_move" }] }))
                    .after("file_move", json!({ "from": "a.md", "to": "c.md" })),
                after: NOTES,
            },
            Example {
                says: "Nothing has been changed yet",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Refusal(ReasonKind::NothingToUndo),
                after: NOTES,
            },
        ]
    }
}
