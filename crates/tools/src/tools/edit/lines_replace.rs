//! Replaces lines.

use lapidary_note::{ContentHash, LineRange};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, FilePart, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool, quote::Prose,
};
use lapidary_toolkit::{
    file_edit::{FileEdit, FileInput, FileWritten},
    place::LineColumns,
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct LinesReplace;

/// Replace lines of a text file that `file_read_range` has shown.
///
/// `""` deletes the lines, `"\n"` leaves one blank line.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    /// First line, counted from 1.
    #[schemars(range(min = 1))]
    from: usize,
    /// Last line, inclusive; beyond the end means the last one.
    #[schemars(range(min = 1))]
    to: usize,
    /// The new lines.
    content: String,
    /// The `rangeHash` of exactly these lines.
    expected_range_hash: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    #[serde(flatten)]
    written: FileWritten,
    /// Where the new lines are; `to` is before `from` if there are none.
    new_range: RangeOutput,
    range_hash: String,
}

#[derive(Serialize, JsonSchema)]
struct RangeOutput {
    from: usize,
    to: usize,
}

impl WriteTool for LinesReplace {
    const DECLARATION: Declaration = Declaration {
        name: "lines_replace",
        dotted: Some("lines.replace"),
        title: "Replace lines of a file",
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
        words: "delete lines, replace change remove lines by line number in a file",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        if input.to < input.from {
            return Err(editing.bad_argument("to", Prose::ours(format_args!("must be >= {} (`from`)", input.from))));
        }
        let document = editing.document()?;
        let lines = LineRange { from: input.from, to: input.to };
        // Only `from` can be out of range: a `to` beyond the end means the last line.
        let span = lines.span(document.shown()).map_err(|_| Reason::LineOutOfRange {
            path: editing.path().clone(),
            argument: "from",
            line: input.from,
            lines: document.line_count(),
        })?;
        // Line numbers alone say nothing after any other edit; the hash shows that these are still the lines meant.
        editing.expect_part(&document, FilePart::Range, &input.expected_range_hash, Some(span))?;
        let edited = document.replace_lines(lines, &input.content).map_err(|error| editing.refusal(error))?;
        let new = edited.document;
        let to = match edited.span.is_empty() {
            // No lines are left, which an inclusive range can only say with its end before its start.
            true => input.from.saturating_sub(1),
            false => LineColumns::of(new.shown()).last_line(edited.span.end),
        };
        let new_range = RangeOutput { from: input.from, to };
        let range_hash = new.hash_of_lines(LineRange { from: input.from, to }).to_string();
        Ok(editing.plan(&new, |written| Output { written, new_range, range_hash }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let RangeOutput { from, to } = output.new_range;
        let done = if to < from { "lines removed".to_owned() } else { format!("lines {from}-{to} written") };
        Some(output.written.text_of_part(&done, FilePart::Range, &output.range_hash))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "one\ntwo\nthree\n";
        const EDITED: &str = "one\n2a\n2b\nthree\n";
        const NOTES: &[(&str, &str)] = &[("a.md", NOTE)];
        let hash = ContentHash::of(b"two\n").to_string();
        let input = |content: &str| json!({ "file": "a.md", "from": 2, "to": 2, "content": content, "expected_range_hash": hash });
        vec![
            Example {
                says: "One line becomes two",
                before: NOTES,
                input: input("2a\n2b"),
                gives: ExampleResult::Output(json!({
                    "file": "a.md",
                    "changed": true,
                    "newRange": { "from": 2, "to": 3 },
                    "rangeHash": ContentHash::of(b"2a\n2b\n").to_string(),
                    "contentHash": ContentHash::of(EDITED.as_bytes()).to_string(),
                    "totalLines": 4,
                    "sizeBefore": NOTE.len(),
                    "sizeAfter": EDITED.len(),
                    "dry_run": false,
                })),
                after: &[("a.md", EDITED)],
            },
            Example {
                says: "Nothing in their place deletes the lines",
                before: NOTES,
                input: input(""),
                gives: ExampleResult::Including(json!({ "newRange": { "from": 2, "to": 1 }, "totalLines": 2 })),
                after: &[("a.md", "one\nthree\n")],
            },
            Example {
                says: "A newline in their place leaves a blank line",
                before: NOTES,
                input: input("\n"),
                gives: ExampleResult::Including(json!({ "newRange": { "from": 2, "to": 2 }, "totalLines": 3 })),
                after: &[("a.md", "one\n\nthree\n")],
            },
            Example {
                says: "Lines that changed since they were read are not touched",
                before: &[("a.md", "one\n2\nthree\n")],
                input: input("x"),
                gives: ExampleResult::Refusal(ReasonKind::StalePrecondition),
                after: &[("a.md", "one\n2\nthree\n")],
            },
            Example {
                says: "Lines beyond the end",
                before: NOTES,
                input: json!({ "file": "a.md", "from": 4, "to": 4, "content": "x", "expected_range_hash": hash }),
                gives: ExampleResult::Refusal(ReasonKind::LineOutOfRange),
                after: NOTES,
            },
        ]
    }
}
