//! Replaces a whole file.

use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool,
};
use lapidary_toolkit::file_edit::{EXPECTED_CONTENT, EditTarget, FileInput, FileMade};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub(crate) struct FileReplace;

/// Replace the whole text of a file that was read; `expected_content_hash` is required if it exists.
///
/// Line endings and byte order mark are kept. To change a part, use `str_replace` or `apply_edits`.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    /// The whole new text.
    content: String,
    /// Create the file if it is missing.
    #[serde(default)]
    create_if_missing: bool,
}

impl WriteTool for FileReplace {
    const DECLARATION: Declaration = Declaration {
        name: "file_replace",
        dotted: Some("file.replace"),
        title: "Replace a file",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::StalePrecondition],
        words: "replace overwrite rewrite the whole file",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = FileMade;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<FileMade>, Reason> {
        let target = EditTarget::begin(Self::DECLARATION.name, context, view, input.file)
            // Shows what the caller has not seen, so that it can merge instead of sending the hash it was just told.
            .map_err(|reason| reason.with_what_changed(view, input.content.as_bytes()))?;
        match target {
            // A whole text replaces everything; only the hash shows that the caller knows what that is.
            EditTarget::File(editing) if !editing.is_expected() => {
                let problem = "is required if the file exists: the `contentHash` from `file_read`";
                Err(editing.bad_argument(EXPECTED_CONTENT, problem))
            }
            EditTarget::File(editing) => {
                let content = editing.document()?.in_own_form(&input.content);
                Ok(editing.plan_content(content, |written| FileMade { written, created: false, notice: None }))
            }
            EditTarget::Nothing(creating) if !input.create_if_missing => Err(creating.missing(context, view)),
            EditTarget::Nothing(creating) => Ok(creating.plan(input.content, FileMade::created)),
        }
    }

    fn text(&self, output: &FileMade) -> Option<String> {
        Some(output.text("replaced"))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("a.md", "old\r\ntext\r\n")];
        let hash = ContentHash::of(b"old\r\ntext\r\n").to_string();
        vec![
            Example {
                says: "The file that was read, with its own line endings",
                before: NOTES,
                input: json!({ "file": "a.md", "content": "new\n", "expected_content_hash": hash }),
                gives: ExampleResult::Output(json!({
                    "file": "a.md",
                    "created": false,
                    "changed": true,
                    "contentHash": ContentHash::of(b"new\r\n").to_string(),
                    "totalLines": 1,
                    "sizeBefore": 11,
                    "sizeAfter": 5,
                    "dry_run": false,
                })),
                after: &[("a.md", "new\r\n")],
            },
            Example {
                says: "A file that was not read is not replaced",
                before: NOTES,
                input: json!({ "file": "a.md", "content": "new\n" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: NOTES,
            },
            Example {
                says: "A file that changed since it was read is not touched",
                before: NOTES,
                input: json!({ "file": "a.md", "content": "new\n", "expected_content_hash": "sha256:000000000000" }),
                gives: ExampleResult::Refusal(ReasonKind::StalePrecondition),
                after: NOTES,
            },
            Example {
                says: "A file that may not exist yet",
                before: NOTES,
                input: json!({ "file": "b.md", "content": "new\n", "create_if_missing": true }),
                gives: ExampleResult::Including(json!({ "created": true })),
                after: &[("a.md", "old\r\ntext\r\n"), ("b.md", "new\n")],
            },
            Example {
                says: "A file that does not exist",
                before: NOTES,
                input: json!({ "file": "b.md", "content": "new\n" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: NOTES,
            },
        ]
    }
}
