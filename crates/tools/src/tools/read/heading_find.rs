//! Finds a heading.

use lapidary_note::{ContentHash, Heading};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily,
};
use lapidary_toolkit::{
    hash,
    heading::{HashLength, HeadingInput, HeadingOutput, NoteOutline},
    naming::{self, NamedFile},
    reading::{self, NOT_UTF8},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct HeadingFind;

/// Find a heading of a note by its text or path, with the hash that an edit of its section expects.
///
/// Returns all matches; an empty list if there are none.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Path, e.g. `Projects/Plan.md`.
    file: String,
    #[serde(flatten)]
    heading: HeadingInput,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    matches: Vec<HeadingOutput>,
    content_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl ReadTool for HeadingFind {
    const DECLARATION: Declaration = Declaration {
        name: "heading_find",
        dotted: Some("heading.find"),
        title: "Find a heading",
        family: WireFamily::Files,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing],
        words: "find a heading or section in a note, section hash, where is the heading",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let NamedFile { path, file, .. } = naming::find(context, view, &input.file)?;
        context.check()?;
        let shown = reading::show(&path, &file)?;
        let note = shown.note();
        let outline = NoteOutline::of(&note, input.heading.delimiter());
        let hash_of = |heading: &Heading| shown.hash_of(heading.section.clone());
        let found = input.heading.chosen(&note);
        let none_found = found.is_empty().then(|| input.heading.none_found(&note));
        let shown_heading = |heading| outline.show(&context.budget, heading, HashLength::Whole, hash_of);
        Ok(Output {
            matches: found.into_iter().map(shown_heading).collect::<Result<_, Reason>>()?,
            content_hash: file.hash().to_string(),
            // That bytes were replaced matters more: the text of a heading may look different for that reason.
            notice: shown.is_lossy().then(|| NOT_UTF8.to_owned()).or(none_found),
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let mut text = format!("{} found, hash {}", output.matches.len(), hash::digits(&output.content_hash));
        for found in &output.matches {
            text += &format!("\n{}", found.text());
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "# Plan\n## Notes\na\n# Log\n## Notes\nb\n";
        const NOTES: &[(&str, &str)] = &[("Plan.md", NOTE)];
        vec![
            Example {
                says: "By its path",
                before: NOTES,
                input: json!({ "file": "Plan.md", "heading": "Log::Notes" }),
                gives: ExampleResult::Output(json!({
                    "matches": [{
                        "id": "h-4", "path": "Log::Notes", "text": "Notes", "level": 2, "line": 5, "endLine": 6,
                        "sectionHash": ContentHash::of(b"## Notes\nb\n").to_string(), "childrenCount": 0,
                    }],
                    "contentHash": ContentHash::of(NOTE.as_bytes()).to_string(),
                })),
                after: &[],
            },
            Example {
                says: "Two have this text",
                before: NOTES,
                input: json!({ "file": "Plan.md", "heading": "Notes" }),
                gives: ExampleResult::Including(
                    json!({ "matches": [{ "path": "Plan::Notes" }, { "path": "Log::Notes" }] }),
                ),
                after: &[],
            },
            Example {
                says: "A path in another notation",
                before: NOTES,
                input: json!({ "file": "Plan.md", "heading": "Log/Notes", "delimiter": "/" }),
                gives: ExampleResult::Including(json!({ "matches": [{ "path": "Log/Notes", "line": 5 }] })),
                after: &[],
            },
            Example {
                says: "A heading that does not exist",
                before: NOTES,
                input: json!({ "file": "Plan.md", "heading": "Budget" }),
                gives: ExampleResult::Including(json!({
                    "matches": [], "notice": "The note has no such heading; it has `Plan`, `Plan::Notes`, `Log`, `Log::Notes`.",
                })),
                after: &[],
            },
            Example {
                says: "A heading with a typo",
                before: NOTES,
                input: json!({ "file": "Plan.md", "heading": "lgo" }),
                gives: ExampleResult::Including(json!({
                    "matches": [], "notice": "The note has no such heading. Did you mean `Log`?",
                })),
                after: &[],
            },
            Example {
                says: "A note that does not exist",
                before: NOTES,
                input: json!({ "file": "Plans.md", "heading": "Notes" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[],
            },
        ]
    }
}
