//! Replaces exact text.

use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool,
};
use lapidary_toolkit::{
    file_edit::{FileEdit, FileInput, FileWritten},
    occurrence::{self, OccurrenceChoice},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct StrReplace;

/// Replace exact text in a note or other text file; `find` must occur once unless `occurrence` says otherwise.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    /// Exact text, including spaces and line breaks.
    #[schemars(length(min = 1))]
    find: String,
    /// Empty deletes.
    replace: String,
    /// Or which one, from 1.
    #[serde(default)]
    occurrence: OccurrenceChoice,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    #[serde(flatten)]
    written: FileWritten,
    replaced_count: usize,
}

impl WriteTool for StrReplace {
    const DECLARATION: Declaration = Declaration {
        name: "str_replace",
        dotted: None,
        title: "Replace text in a file",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: true,
        idempotent: false,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[
            ReasonKind::NoteMissing,
            ReasonKind::StalePrecondition,
            ReasonKind::TextMissing,
            ReasonKind::TextNotUnique,
            ReasonKind::OccurrenceOutOfRange,
        ],
        words: "edit change replace fix text, find and replace, tick a task, mark a task as done, correct a typo, delete a sentence, fix the wording of a line, cross off an item, check a box",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        let (document, most) = (editing.document()?, context.budget.file_bytes());
        let replaced =
            document.replace_text(&input.find, &input.replace, input.occurrence.into(), most).map_err(|error| {
                occurrence::refusal(context, Self::DECLARATION.name, editing.path(), &document, &input.find, error)
            })?;
        Ok(editing.plan(&replaced.document, |written| Output {
            // Text replaced by itself has changed nothing.
            replaced_count: if written.changed { replaced.count } else { 0 },
            written,
        }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        Some(output.written.text(&format!("{} replaced", output.replaced_count)))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "# Tasks\n- [ ] Slates\n- [ ] Lead\n";
        const DONE: &str = "# Tasks\n- [x] Slates\n- [ ] Lead\n";
        const NOTES: &[(&str, &str)] = &[("Tasks.md", NOTE)];
        vec![
            Example {
                says: "Tick a task",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "find": "- [ ] Slates", "replace": "- [x] Slates" }),
                gives: ExampleResult::Output(json!({
                    "file": "Tasks.md",
                    "changed": true,
                    "replacedCount": 1,
                    "contentHash": ContentHash::of(DONE.as_bytes()).to_string(),
                    "totalLines": 3,
                    "sizeBefore": 32,
                    "sizeAfter": 32,
                    "dry_run": false,
                })),
                after: &[("Tasks.md", DONE)],
            },
            Example {
                says: "Windows line endings are kept, and `\\n` matches them",
                before: &[("a.txt", "one\r\ntwo\r\n")],
                input: json!({ "file": "a.txt", "find": "one\ntwo", "replace": "1\n2" }),
                gives: ExampleResult::Including(json!({ "replacedCount": 1 })),
                after: &[("a.txt", "1\r\n2\r\n")],
            },
            Example {
                says: "Look before you leap",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "find": "[ ]", "replace": "[x]", "occurrence": "all", "dry_run": true }),
                gives: ExampleResult::Including(json!({ "replacedCount": 2, "dry_run": true })),
                after: NOTES,
            },
            Example {
                says: "Text that occurs twice is not guessed at",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "find": "- [ ]", "replace": "- [x]" }),
                gives: ExampleResult::Refusal(ReasonKind::TextNotUnique),
                after: NOTES,
            },
            Example {
                says: "A file that changed since it was read is not touched",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "find": "Lead", "replace": "Gold", "expected_content_hash": "sha256:000000000000" }),
                gives: ExampleResult::Refusal(ReasonKind::StalePrecondition),
                after: NOTES,
            },
        ]
    }
}
