//! Applies a unified diff.

use lapidary_note::{ContentHash, Patch, PatchFailure};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::file_edit::{FileEdit, FileInput, FileWritten};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct ApplyPatch;

/// Apply a unified diff to one file, exactly where it says; all hunks or none.
///
/// Counts and context lines must match; file names in the patch are ignored. Without line numbers, use `apply_edits`.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    /// From the first `@@ -line,count +line,count @@` on; text before it is ignored.
    patch: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    #[serde(flatten)]
    written: FileWritten,
    hunks: usize,
}

impl WriteTool for ApplyPatch {
    const IS_SEPARABLE: bool = true;
    const DECLARATION: Declaration = Declaration {
        name: "apply_patch",
        dotted: None,
        title: "Apply a patch to a file",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[
            ReasonKind::NoteMissing,
            ReasonKind::StalePrecondition,
            ReasonKind::PatchInvalid,
            ReasonKind::PatchMismatch,
            ReasonKind::EditRefused,
        ],
        words: "apply patch unified diff hunk to a file",
    };
    const EFFECT: Effect = Effect::Write;
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/patch", TextLanguage::Patch)];
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        let document = editing.document()?;
        let patch = Patch::parse(&input.patch).map_err(Reason::PatchInvalid)?;
        let patched = document.apply_patch(&patch).map_err(|failure| match failure {
            PatchFailure::Invalid(error) => Reason::PatchInvalid(error),
            PatchFailure::Mismatch(mismatch) => {
                let (path, mismatch) = (editing.path().clone(), Box::new(mismatch));
                Reason::PatchMismatch { path, mismatch, current: document.content().hash() }
            }
            PatchFailure::Edit(error) => editing.refusal(error),
        })?;
        Ok(editing.plan(&patched.document, |written| Output { written, hunks: patch.hunks() }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        Some(output.written.text(&format!("{} hunks applied", output.hunks)))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "# Tasks\n- Slates\n- Lead\n";
        const EDITED: &str = "# Tasks\n- Slates\n- Gold\n- Tin\n";
        const NOTES: &[(&str, &str)] = &[("Tasks.md", NOTE)];
        vec![
            Example {
                says: "One hunk",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "patch": "@@ -2,2 +2,3 @@\n - Slates\n-- Lead\n+- Gold\n+- Tin\n" }),
                gives: ExampleResult::Output(json!({
                    "file": "Tasks.md",
                    "changed": true,
                    "hunks": 1,
                    "contentHash": ContentHash::of(EDITED.as_bytes()).to_string(),
                    "totalLines": 4,
                    "sizeBefore": NOTE.len(),
                    "sizeAfter": EDITED.len(),
                    "dry_run": false,
                })),
                after: &[("Tasks.md", EDITED)],
            },
            Example {
                says: "New lines go after the named line",
                before: &[("a.md", "one\r\ntwo\r\n")],
                input: json!({ "file": "a.md", "patch": "@@ -1,0 +2 @@\n+new\n" }),
                gives: ExampleResult::Including(json!({ "hunks": 1 })),
                after: &[("a.md", "one\r\nnew\r\ntwo\r\n")],
            },
            Example {
                says: "A patch for another version of the file",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "patch": "@@ -3 +3 @@\n-- Copper\n+- Gold\n" }),
                gives: ExampleResult::Refusal(ReasonKind::PatchMismatch),
                after: NOTES,
            },
            Example {
                says: "Counts that do not match the lines",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "patch": "@@ -3,2 +3,2 @@\n-- Lead\n+- Gold\n" }),
                gives: ExampleResult::Refusal(ReasonKind::PatchInvalid),
                after: NOTES,
            },
        ]
    }
}
