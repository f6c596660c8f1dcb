//! Undoes the caller's own changes.

mod taken_back;

use lapidary_operation::{
    ChangeOwnership, Context, Declaration, Effect, Example, ExampleResult, Reason, ReasonKind, RestoreReach, ToolGroup,
    ToolPlan, WireFamily, WriteTool,
};
use lapidary_toolkit::{
    checkpoint,
    restoring::{RestorePlan, RestoredFile, together},
    time::iso,
};
use lapidary_vault::{Checkpoint, ContentGuard, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use taken_back::{changed_since, open_changes};

pub(crate) struct Undo;

/// Undo your last change, your last `count`, or the one with this `id`, in one step.
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
#[serde(rename_all = "camelCase")]
struct UndoneChange {
    id: String,
    tool: String,
    time: String,
    /// Not made in this session: by the same client before it came back, or under the same name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    other_session: bool,
}

impl UndoneChange {
    fn text(&self) -> String {
        let Self { id, tool, time, other_session } = self;
        let session = if *other_session { format!(" (made in another session, {time})") } else { String::new() };
        format!("{tool} {id}{session}")
    }
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
            ReasonKind::ChangeUnnamed,
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
    const RESTORES: RestoreReach = RestoreReach::OwnChanges;
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let meant = match &input.id {
            Some(id) => {
                let found = checkpoint::find(view, id)?;
                // `checkpoint_restore` undoes any change; this tool promises to touch only the caller's own.
                if context.author.whose(&found.client) == ChangeOwnership::OtherClient {
                    return Err(Reason::ChangeOfOther { id: found.id });
                }
                vec![found]
            }
            // Whose the last one is, nothing tells.
            None if context.author.is_shared() => return Err(Reason::ChangeUnnamed),
            None => open_changes(context, view, input.count)?,
        };
        if meant.is_empty() {
            return Err(Reason::NothingToUndo);
        }
        // A later edit of the same file would be reverted along with the change.
        if let Some(path) = changed_since(context, view, &meant)? {
            let id = meant[0].id.clone();
            return Err(Reason::ChangedSince { path, id });
        }
        // Before the checkpoints are joined, which forgets whose they were.
        let undone = meant.iter().map(|Checkpoint { id, tool, time, client, .. }| UndoneChange {
            id: id.clone(),
            tool: tool.clone(),
            time: iso(*time),
            other_session: context.author.whose(client) != ChangeOwnership::ThisConnection,
        });
        let undone = undone.collect();
        // In one plan: several changes of a file become one.
        let (changes, files) = RestorePlan::of(context, view, ContentGuard::Plan, &together(meant), None)?;
        Ok(ToolPlan { changes, output: Output { undone, files, dry_run: input.dry_run }, dry_run: input.dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let done = if output.dry_run { "Would undo" } else { "Undid" };
        let changes: Vec<String> = output.undone.iter().map(UndoneChange::text).collect();
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
                says: "Two changes of one note",
                before: NOTES,
                input: json!({ "count": 2 }),
                gives: ExampleResult::Including(json!({ "files": [{ "path": "a.md", "outcome": "restored" }] }))
                    .after("str_replace", json!({ "file": "a.md", "find": "new", "replace": "newer" }))
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
