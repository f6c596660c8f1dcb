//! Reads a range of lines.

use lapidary_note::{ContentHash, LineRange, counted};
use lapidary_operation::{
    ArgumentProblem, Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason,
    ReasonKind, ToolGroup, WireFamily,
    fence::fenced,
    quote::{Prose, quoted},
};
use lapidary_toolkit::{
    hash,
    naming::{self, NamedFile},
    reading::{self, NOT_UTF8},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct FileReadRange;

/// Read a range of lines of a text file, with the hash that `lines_replace` expects for it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Path, e.g. `Projects/Plan.md`.
    file: String,
    /// First line, counted from 1.
    #[schemars(range(min = 1))]
    from: usize,
    /// Last line, inclusive; beyond the end means the last one.
    #[schemars(range(min = 1))]
    to: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    file: String,
    from: usize,
    to: usize,
    lines: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    range_hash: Option<String>,
    content_hash: String,
    total_lines: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    eol: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    bom: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl ReadTool for FileReadRange {
    const DECLARATION: Declaration = Declaration {
        name: "file_read_range",
        dotted: Some("file.read_range"),
        title: "Read lines of a file",
        family: WireFamily::Files,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing],
        words: "read show lines range part of a file, head, tail, scroll through a long note, read part of a note, first lines, last lines, end of a long log",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        // The schema cannot compare two arguments.
        if input.to < input.from {
            let problem = Prose::ours(format_args!("must be >= {} (`from`)", input.from));
            return Err(Reason::InvalidArguments {
                tool: Self::DECLARATION.name.to_owned(),
                problems: vec![ArgumentProblem { at: "to".to_owned(), problem, nearest: None }],
            });
        }
        let NamedFile { path, file, .. } = naming::find(context, view, &input.file)?;
        context.check()?;
        let shown = reading::show(&path, &file)?;
        let text = shown.text();
        let total_lines = shown.lines();
        // Beyond the last line there is nothing, which is a valid answer.
        let span = LineRange { from: input.from, to: input.to }.span(text).unwrap_or(text.len()..text.len());
        let range_hash = match span.is_empty() {
            // No lines have a hash as well, so that `lines_replace` can expect that there are none.
            true => Some(ContentHash::of(b"")),
            false => shown.hash_of(span.clone()),
        };
        Ok(Output {
            from: input.from,
            // As it is, even beyond the end, so that the caller recognises its own question.
            to: input.to.min(total_lines),
            lines: text[span].to_owned(),
            range_hash: range_hash.map(|hash| hash.to_string()),
            content_hash: file.hash().to_string(),
            total_lines,
            eol: shown.eol(),
            bom: shown.bom(),
            notice: shown.is_lossy().then(|| NOT_UTF8.to_owned()),
            file: path.to_string(),
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { file, from, to, lines, range_hash, content_hash, total_lines, eol, bom, .. } = output;
        let file = quoted(file);
        let form = reading::form(*eol, *bom);
        let range = range_hash.as_deref().map_or_else(String::new, |hash| format!(", range {}", hash::digits(hash)));
        let hash = hash::digits(content_hash);
        if lines.is_empty() {
            let all = counted(*total_lines, "line");
            return Some(format!("{file}: {all}, none from {from} on{form}, hash {hash}{range}"));
        }
        Some(format!("{file}: lines {from}-{to} of {total_lines}{form}, hash {hash}{range}\n{}", fenced(lines)))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "# Plan\none\ntwo\nthree\n";
        const NOTES: &[(&str, &str)] = &[("Plan.md", NOTE)];
        vec![
            Example {
                says: "Two lines and their hash",
                before: NOTES,
                input: json!({ "file": "Plan.md", "from": 2, "to": 3 }),
                gives: ExampleResult::Output(json!({
                    "file": "Plan.md",
                    "from": 2,
                    "to": 3,
                    "lines": "one\ntwo\n",
                    "rangeHash": ContentHash::of(b"one\ntwo\n").to_string(),
                    "contentHash": ContentHash::of(NOTE.as_bytes()).to_string(),
                    "totalLines": 4,
                })),
                after: &[],
            },
            Example {
                says: "To the end",
                before: NOTES,
                input: json!({ "file": "Plan.md", "from": 4, "to": 1000 }),
                gives: ExampleResult::Including(json!({ "lines": "three\n", "to": 4 })),
                after: &[],
            },
            Example {
                says: "Beyond the end there is nothing",
                before: NOTES,
                input: json!({ "file": "Plan.md", "from": 5, "to": 9 }),
                gives: ExampleResult::Including(
                    json!({ "lines": "", "to": 4, "rangeHash": ContentHash::of(b"").to_string() }),
                ),
                after: &[],
            },
            Example {
                says: "The last line comes before the first",
                before: NOTES,
                input: json!({ "file": "Plan.md", "from": 3, "to": 2 }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}
