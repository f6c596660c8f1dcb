//! Inserts lines.

use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool,
};
use lapidary_toolkit::file_edit::{FileEdit, FileInput, FileWritten};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub(crate) struct LinesInsert;

/// Insert lines before a line of a text file; one past the last line means the end of the file.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    /// The line that will follow the new ones, counted from 1.
    #[schemars(range(min = 1))]
    line: usize,
    /// The new lines.
    content: String,
}

impl WriteTool for LinesInsert {
    const DECLARATION: Declaration = Declaration {
        name: "lines_insert",
        dotted: Some("lines.insert"),
        title: "Insert lines into a file",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[
            ReasonKind::NoteMissing,
            ReasonKind::StalePrecondition,
            ReasonKind::LineOutOfRange,
            ReasonKind::EditRefused,
        ],
        words: "insert add new lines at a line number into a file",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = FileWritten;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<FileWritten>, Reason> {
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        let document = editing.document()?;
        let edited = document.insert_lines(input.line, &input.content).map_err(|error| editing.refusal(error))?;
        Ok(editing.plan(&edited.document, |written| written))
    }

    fn text(&self, output: &FileWritten) -> Option<String> {
        Some(output.text("lines inserted"))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "one\ntwo";
        const EDITED: &str = "one\nnew\ntwo";
        const NOTES: &[(&str, &str)] = &[("a.md", NOTE)];
        vec![
            Example {
                says: "Before a line",
                before: NOTES,
                input: json!({ "file": "a.md", "line": 2, "content": "new" }),
                gives: ExampleResult::Output(json!({
                    "file": "a.md",
                    "changed": true,
                    "contentHash": ContentHash::of(EDITED.as_bytes()).to_string(),
                    "totalLines": 3,
                    "sizeBefore": NOTE.len(),
                    "sizeAfter": EDITED.len(),
                    "dry_run": false,
                })),
                after: &[("a.md", EDITED)],
            },
            Example {
                says: "At the end of a file without a final newline",
                before: NOTES,
                input: json!({ "file": "a.md", "line": 3, "content": "new" }),
                gives: ExampleResult::Including(json!({ "totalLines": 3 })),
                after: &[("a.md", "one\ntwo\nnew\n")],
            },
            Example {
                says: "A file that changed since it was read is not touched",
                before: NOTES,
                input: json!({ "file": "a.md", "line": 1, "content": "x", "expected_content_hash": "sha256:000000000000" }),
                gives: ExampleResult::Refusal(ReasonKind::StalePrecondition),
                after: NOTES,
            },
            Example {
                says: "Beyond the end",
                before: NOTES,
                input: json!({ "file": "a.md", "line": 4, "content": "x" }),
                gives: ExampleResult::Refusal(ReasonKind::LineOutOfRange),
                after: NOTES,
            },
        ]
    }
}
