//! Appends to a file.

use lapidary_note::ContentHash;
use lapidary_operation::{
    CommitReport, Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool,
};
use lapidary_toolkit::{
    appending::{self, AppendedText},
    file_edit::{EditTarget, FileInput, FileMade},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub(crate) struct FileAppend;

/// Add text at the end of a file, creating it if it is missing.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    /// The text to add.
    content: String,
    /// Start it on a new line, and end its last line. `false` adds exactly the given text.
    #[serde(default = "ensure_trailing_newline", rename = "ensureTrailingNewline")]
    ensure_trailing_newline: bool,
}

fn ensure_trailing_newline() -> bool {
    true
}

impl WriteTool for FileAppend {
    const DECLARATION: Declaration = Declaration {
        name: "file_append",
        dotted: Some("file.append"),
        title: "Append to a file",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[ReasonKind::StalePrecondition, ReasonKind::EditRefused],
        words: "append add text to the end of a file, log",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = FileMade;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<FileMade>, Reason> {
        let Input { file, mut content, ensure_trailing_newline } = input;
        match EditTarget::begin(Self::DECLARATION.name, context, view, file)? {
            EditTarget::File(editing) => {
                let document = editing.document()?;
                let add = |content: &str| match ensure_trailing_newline {
                    // Lines end an unfinished last line before them; bytes are put right behind it.
                    true => document.insert_lines(document.line_count() + 1, content),
                    false => document.insert_at(document.shown().len(), content),
                };
                let AppendedText { document, notice } =
                    appending::appended(&document, &content, ensure_trailing_newline, add)
                        .map_err(|error| editing.refusal(error))?;
                Ok(editing.plan(&document, |written| FileMade { written, created: false, notice }))
            }
            EditTarget::Nothing(creating) => {
                // An empty file stays empty: a line end alone would be a blank line.
                if ensure_trailing_newline && !content.is_empty() && !content.ends_with('\n') {
                    content.push('\n');
                }
                Ok(creating.plan(content, FileMade::created))
            }
        }
    }

    /// The notice names a block of the note.
    fn finish(&self, output: &mut FileMade, learnt: &CommitReport<'_>) {
        output.notice.take_if(|_| !learnt.shows_content);
    }

    fn text(&self, output: &FileMade) -> Option<String> {
        Some(output.text("appended"))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("Log.md", "one\r\ntwo")];
        const EDITED: &str = "one\r\ntwo\r\nthree\r\n";
        vec![
            Example {
                says: "A line at the end",
                before: NOTES,
                input: json!({ "file": "Log.md", "content": "three" }),
                gives: ExampleResult::Output(json!({
                    "file": "Log.md",
                    "created": false,
                    "changed": true,
                    "contentHash": ContentHash::of(EDITED.as_bytes()).to_string(),
                    "totalLines": 3,
                    "sizeBefore": 8,
                    "sizeAfter": 17,
                    "dry_run": false,
                })),
                after: &[("Log.md", EDITED)],
            },
            Example {
                says: "The id at the end of a block stays at its end",
                before: &[("List.md", "- item ^b1\n")],
                input: json!({ "file": "List.md", "content": "more" }),
                gives: ExampleResult::Including(json!({
                    "notice": "A blank line was added before the text so that `^b1` remains the id of its block.",
                })),
                after: &[("List.md", "- item ^b1\n\nmore\n")],
            },
            Example {
                says: "Another item needs no blank line",
                before: &[("List.md", "- item ^b1\n")],
                input: json!({ "file": "List.md", "content": "- more" }),
                gives: ExampleResult::Including(json!({ "changed": true })),
                after: &[("List.md", "- item ^b1\n- more\n")],
            },
            Example {
                says: "Exactly the given text, although an id is lost",
                before: &[("List.md", "- item ^b1")],
                input: json!({ "file": "List.md", "content": " and more", "ensureTrailingNewline": false }),
                gives: ExampleResult::Including(json!({ "notice": "No longer the id of a block: `^b1`." })),
                after: &[("List.md", "- item ^b1 and more")],
            },
            Example {
                says: "A file that does not exist yet",
                before: &[],
                input: json!({ "file": "Log.md", "content": "one" }),
                gives: ExampleResult::Including(json!({ "created": true, "totalLines": 1 })),
                after: &[("Log.md", "one\n")],
            },
            Example {
                says: "A bare name makes a file other than a note, with a notice",
                before: NOTES,
                input: json!({ "file": "Lgo", "content": "one" }),
                gives: ExampleResult::Including(json!({
                    "created": true, "notice": "`Lgo` has no extension, so Obsidian does not show it.",
                })),
                after: &[("Lgo", "one\n"), ("Log.md", "one\r\ntwo")],
            },
            Example {
                says: "Exactly the given text",
                before: NOTES,
                input: json!({ "file": "Log.md", "content": " and more", "ensureTrailingNewline": false }),
                gives: ExampleResult::Including(json!({ "totalLines": 2 })),
                after: &[("Log.md", "one\r\ntwo and more")],
            },
            Example {
                says: "A file that changed since it was read is not touched",
                before: NOTES,
                input: json!({ "file": "Log.md", "content": "three", "expected_content_hash": "sha256:000000000000" }),
                gives: ExampleResult::Refusal(ReasonKind::StalePrecondition),
                after: NOTES,
            },
        ]
    }
}
