//! Restores files from a checkpoint.

use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, RestoreReach,
    ToolGroup, ToolPlan, WireFamily, WriteTool,
};
use lapidary_toolkit::{
    checkpoint, hash, reading,
    restoring::{RestorePlan, RestoredFile, together},
};
use lapidary_vault::{ContentGuard, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct CheckpointRestore;

/// Undo a change: restore the files to their state before it. Their current content is kept in a new checkpoint, and a
/// file that the change created goes to the trash.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Its id, or a unique prefix of at least four characters.
    id: String,
    /// Only this file; by default all files of the checkpoint, or none if one cannot be restored.
    #[serde(default)]
    path: Option<String>,
    /// Also undo every later change, of whomever: the files are then as they were before this one.
    #[serde(default)]
    and_later: bool,
    /// Refuse unless the file at `path` now has this hash. Needed to restore a deleted file over a new one of that
    /// name.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    id: String,
    files: Vec<RestoredFile>,
    dry_run: bool,
}

const EXPECTED: &str = "expectedHash";
const TOO_MANY: &str = "would undo more than 500 changes; choose a later one";

impl WriteTool for CheckpointRestore {
    const DECLARATION: Declaration = Declaration {
        name: "checkpoint_restore",
        dotted: None,
        title: "Undo a change",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/path", role: PathRole::Write }],
        reasons: &[
            ReasonKind::CheckpointMissing,
            ReasonKind::CheckpointAmbiguous,
            ReasonKind::VersionMissing,
            ReasonKind::StalePrecondition,
            ReasonKind::FileExists,
            ReasonKind::BatchConflict,
        ],
        words: "undo revert restore roll back a change, get back a deleted note, recover an old version, lost text, deleted by accident, as it was yesterday",
    };
    const IN_BATCHES: bool = false;
    const RESTORES: RestoreReach = RestoreReach::AnyChange;
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let found = checkpoint::find(view, &input.id)?;
        let path = input.path.as_deref().map(reading::parse_path).transpose()?;
        let name = Self::DECLARATION.name;
        let expected = hash::expected(name, EXPECTED, input.expected_hash.as_deref())?;
        // Without a hash from the caller, the plan may be made again if the file changes in between.
        let guard = if expected.is_some() { ContentGuard::Caller } else { ContentGuard::Plan };
        if let Some(expected) = &expected {
            // One hash cannot be that of several files, and ignoring it would drop a check the caller relies on.
            let Some(path) = &path else { return Err(Reason::bad_argument(name, EXPECTED, "needs `path`")) };
            let now = reading::read_if_there(view, path)?;
            hash::check(path, EXPECTED, Some(expected), now.as_deref())?;
        }
        // The path may be where the change moved the file to; the restore needs the one it came from.
        let path = path.map(|path| checkpoint::entry_of(&found, &path)).transpose()?.map(|entry| entry.path.clone());
        let restored = match input.and_later {
            false => vec![found.clone()],
            true => {
                let too_many = || Reason::bad_argument(name, "andLater", TOO_MANY);
                together(checkpoint::since(context, view, &found, path.as_ref())?.ok_or_else(too_many)?)
            }
        };
        let (changes, files) = RestorePlan::of(context, view, guard, &restored, path.as_ref())?;
        let output = Output { id: found.id, files, dry_run: input.dry_run };
        Ok(ToolPlan { changes, output, dry_run: input.dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let done = if output.dry_run { "Would restore" } else { "Restored" };
        Some(RestoredFile::list(&format!("{done} the state before {}:", output.id), &output.files))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("a.md", "old\n"), ("b.md", "[[a]]\n")];
        vec![
            Example {
                says: "An edit is undone",
                before: NOTES,
                input: json!({ "id": "c0ff" }),
                gives: ExampleResult::Including(json!({ "files": [{ "path": "a.md", "outcome": "restored" }] }))
                    .after("str_replace", json!({ "file": "a.md", "find": "old", "replace": "new" })),
                after: NOTES,
            },
            Example {
                says: "A move with its links is undone",
                before: NOTES,
                input: json!({ "id": "c0ff" }),
                gives: ExampleResult::Including(json!({ "files": [
                    { "path": "b.md", "outcome": "restored" },
                    { "path": "a.md", "outcome": "moved back" },
                ] }))
                .after("file_move", json!({ "from": "a.md", "to": "c.md" })),
                after: NOTES,
            },
            Example {
                says: "A deleted note comes back",
                before: NOTES,
                input: json!({ "id": "c0ff", "path": "a.md" }),
                gives: ExampleResult::Including(json!({ "files": [{ "path": "a.md", "outcome": "restored" }] }))
                    .after("file_delete", json!({ "file": "a.md" })),
                after: NOTES,
            },
            Example {
                says: "A note that was made goes to the trash",
                before: NOTES,
                input: json!({ "id": "c0ff" }),
                gives: ExampleResult::Including(json!({ "files": [{ "path": "c.md", "outcome": "removed" }] }))
                    .after("file_create", json!({ "file": "c.md", "content": "new\n" })),
                after: &[(".trash/c.md", "new\n")],
            },
            Example {
                says: "A change and every later one are undone",
                before: NOTES,
                input: json!({ "id": "c0ffee0000000001", "andLater": true }),
                gives: ExampleResult::Including(json!({ "files": [{ "path": "a.md", "outcome": "restored" }] }))
                    .after("str_replace", json!({ "file": "a.md", "find": "new", "replace": "newer" }))
                    .after("str_replace", json!({ "file": "a.md", "find": "old", "replace": "new" })),
                after: NOTES,
            },
            Example {
                says: "A checkpoint that does not exist",
                before: NOTES,
                input: json!({ "id": "abcd" }),
                gives: ExampleResult::Refusal(ReasonKind::CheckpointMissing),
                after: NOTES,
            },
        ]
    }
}
