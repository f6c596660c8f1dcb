//! Several exact replacements in one file.

use lapidary_note::{ContentHash, counted};
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

pub(crate) struct ApplyEdits;

/// Several `str_replace` in one file, all or none; each applies to the result of the one before.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    /// In order.
    #[schemars(length(min = 1))]
    edits: Vec<TextEdit>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextEdit {
    /// Exact text.
    #[schemars(length(min = 1))]
    find: String,
    replace: String,
    /// As in `str_replace`.
    #[serde(default)]
    occurrence: OccurrenceChoice,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    #[serde(flatten)]
    written: FileWritten,
    edits: Vec<EditOutput>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EditOutput {
    replaced_count: usize,
}

impl WriteTool for ApplyEdits {
    const DECLARATION: Declaration = Declaration {
        name: "apply_edits",
        dotted: None,
        title: "Make several edits in a file",
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
        words: "several multiple edits changes replacements in one file at once, atomic, multi-edit",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        let mut document = editing.document()?;
        let mut edits = Vec::with_capacity(input.edits.len());
        for (index, TextEdit { find, replace, occurrence }) in input.edits.into_iter().enumerate() {
            context.check()?;
            // Each edit is limited by itself: a chain of them that doubles the text must stop before memory does.
            let most = context.budget.file_bytes();
            let replaced = document.replace_text(&find, &replace, occurrence.into(), most).map_err(|error| {
                let reason =
                    occurrence::refusal(context, Self::DECLARATION.name, editing.path(), &document, &find, error);
                Reason::InStep { list: "edits", index, reason: Box::new(reason) }
            })?;
            // Text replaced by itself has changed nothing, and must not be counted as if it had.
            let replaced_count = if replaced.document == document { 0 } else { replaced.count };
            edits.push(EditOutput { replaced_count });
            document = replaced.document;
        }
        Ok(editing.plan(&document, |written| Output { written, edits }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let counts: Vec<String> = output.edits.iter().map(|edit| edit.replaced_count.to_string()).collect();
        // The usual case is short; only an unusual count is worth the list.
        let done = match counts.iter().all(|count| count == "1") {
            true => counted(counts.len(), "edit").to_string(),
            false => format!("{} replaced", counts.join(", ")),
        };
        Some(output.written.text(&done))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "# Tasks\n- [ ] Slates\n- [ ] Lead\n";
        const DONE: &str = "# Done\n- [x] Slates\n- [x] Lead\n";
        const NOTES: &[(&str, &str)] = &[("Tasks.md", NOTE)];
        vec![
            Example {
                says: "Two edits at once",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "edits": [
                    { "find": "# Tasks", "replace": "# Done" },
                    { "find": "[ ]", "replace": "[x]", "occurrence": "all" },
                ] }),
                gives: ExampleResult::Output(json!({
                    "file": "Tasks.md",
                    "changed": true,
                    "edits": [{ "replacedCount": 1 }, { "replacedCount": 2 }],
                    "contentHash": ContentHash::of(DONE.as_bytes()).to_string(),
                    "totalLines": 3,
                    "sizeBefore": NOTE.len(),
                    "sizeAfter": DONE.len(),
                    "dry_run": false,
                })),
                after: &[("Tasks.md", DONE)],
            },
            Example {
                says: "An edit may build on the one before",
                before: &[("a.md", "one\r\ntwo\r\n")],
                input: json!({ "file": "a.md", "edits": [
                    { "find": "one\n", "replace": "one\nnew\n" },
                    { "find": "new\ntwo", "replace": "new\n2" },
                ] }),
                gives: ExampleResult::Including(json!({ "changed": true, "totalLines": 3 })),
                after: &[("a.md", "one\r\nnew\r\n2\r\n")],
            },
            Example {
                says: "If one of them fails, none is made",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "edits": [
                    { "find": "Lead", "replace": "Gold" },
                    { "find": "Copper", "replace": "Zinc" },
                ] }),
                gives: ExampleResult::Refusal(ReasonKind::TextMissing),
                after: NOTES,
            },
        ]
    }
}
