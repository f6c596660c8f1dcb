//! Replaces the text under a heading.

use lapidary_note::{BlankLines, ContentHash, Heading, SectionEdit, SectionPart};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, FilePart, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool, clipped,
};
use lapidary_toolkit::{
    file_edit::{FileEdit, FileInput, FileWritten},
    heading::{self, HeadingInput},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct HeadingReplaceBody;

/// Replace the text under a heading of a note; the heading stays.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    #[serde(flatten)]
    heading: HeadingInput,
    /// The new text under the heading.
    content: String,
    /// `subtree`: everything below, including subsections; `own`: only up to the next heading.
    #[serde(default)]
    scope: BodyScope,
    /// The `sectionHash` of the heading.
    expected_section_hash: String,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum BodyScope {
    #[default]
    Subtree,
    Own,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    #[serde(flatten)]
    written: FileWritten,
    heading_line: usize,
    section_hash: String,
}

impl WriteTool for HeadingReplaceBody {
    const DECLARATION: Declaration = Declaration {
        name: "heading_replace_body",
        dotted: Some("heading.replace_body"),
        title: "Replace the text under a heading",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[
            ReasonKind::NoteMissing,
            ReasonKind::SectionMissing,
            ReasonKind::TargetAmbiguous,
            ReasonKind::OccurrenceOutOfRange,
            ReasonKind::StalePrecondition,
            ReasonKind::HeadingOutsideSection,
            ReasonKind::EditRefused,
        ],
        words: "replace rewrite section body text under a heading",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        let document = editing.document()?;
        let note = document.note();
        let hash_of = |heading: &Heading| document.hash_of(heading.section.clone());
        let heading = input.heading.find(editing.path(), &note, hash_of)?;
        let span = Some(heading.section.clone());
        editing.expect_part(&document, FilePart::Section, &input.expected_section_hash, span)?;
        let part = match input.scope {
            BodyScope::Subtree => SectionPart::Subtree,
            BodyScope::Own => SectionPart::Own,
        };
        let section = SectionEdit { heading, part, blanks: BlankLines::Kept };
        let edited = document.replace_body(&section, &input.content).map_err(|error| editing.refusal(error))?;
        // A heading of the same level in the new text would end the section, and the rest would belong to another
        // one.
        if let Some(outside) = edited.heading_outside(heading) {
            let (path, target) = (editing.path().clone(), clipped(&heading.text));
            return Err(Reason::HeadingOutsideSection { path, target, heading: clipped(&outside) });
        }
        let edited = edited.document;
        let heading_line = heading.line;
        // The heading keeps its line, as only text below it was replaced.
        let section_hash = heading::hash_after_edit(&edited, heading_line)?;
        Ok(editing.plan(&edited, |written| Output { written, heading_line, section_hash }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let done = format!("section at line {} replaced", output.heading_line);
        Some(output.written.text_of_part(&done, FilePart::Section, &output.section_hash))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "# Plan\n## Tasks\n- Slates\n\n### Later\n- Lead\n\n## Log\nDry.\n";
        const EDITED: &str = "# Plan\n## Tasks\n- Gold\n\n## Log\nDry.\n";
        const NOTES: &[(&str, &str)] = &[("Plan.md", NOTE)];
        let hash = ContentHash::of(b"## Tasks\n- Slates\n\n### Later\n- Lead\n\n").to_string();
        let new_hash = ContentHash::of(b"## Tasks\n- Gold\n\n").to_string();
        let input = |more: serde_json::Value| {
            let mut input =
                json!({ "file": "Plan.md", "heading": "Tasks", "content": "- Gold", "expected_section_hash": hash });
            if let (Some(input), serde_json::Value::Object(more)) = (input.as_object_mut(), more) {
                input.extend(more);
            }
            input
        };
        vec![
            Example {
                says: "A section with its subsections",
                before: NOTES,
                input: input(json!({})),
                gives: ExampleResult::Output(json!({
                    "file": "Plan.md",
                    "changed": true,
                    "headingLine": 2,
                    "sectionHash": new_hash,
                    "contentHash": ContentHash::of(EDITED.as_bytes()).to_string(),
                    "totalLines": 6,
                    "sizeBefore": NOTE.len(),
                    "sizeAfter": EDITED.len(),
                    "dry_run": false,
                })),
                after: &[("Plan.md", EDITED)],
            },
            Example {
                says: "Only up to the next heading",
                before: NOTES,
                input: input(json!({ "scope": "own" })),
                gives: ExampleResult::Including(json!({ "headingLine": 2 })),
                after: &[("Plan.md", "# Plan\n## Tasks\n- Gold\n\n### Later\n- Lead\n\n## Log\nDry.\n")],
            },
            Example {
                says: "Two headings with one path are told apart by number or line",
                before: &[("a.md", "# A\none\n# A\ntwo\n")],
                input: json!({
                    "file": "a.md", "heading": "A", "occurrence": 2, "content": "new",
                    "expected_section_hash": ContentHash::of(b"# A\ntwo\n").to_string(),
                }),
                gives: ExampleResult::Including(json!({ "headingLine": 3 })),
                after: &[("a.md", "# A\none\n# A\nnew\n")],
            },
            Example {
                says: "A heading that is not unique is not guessed at",
                before: &[("a.md", "# A\none\n# A\ntwo\n")],
                input: json!({ "file": "a.md", "heading": "A", "content": "new", "expected_section_hash": hash }),
                gives: ExampleResult::Refusal(ReasonKind::TargetAmbiguous),
                after: &[("a.md", "# A\none\n# A\ntwo\n")],
            },
            Example {
                says: "A heading that would end the section is refused",
                before: NOTES,
                input: input(json!({ "content": "- Gold\n\n# Other\n" })),
                gives: ExampleResult::Refusal(ReasonKind::HeadingOutsideSection),
                after: NOTES,
            },
            Example {
                says: "There is no third one",
                before: &[("a.md", "# A\none\n# A\ntwo\n")],
                input: json!({
                    "file": "a.md", "heading": "A", "occurrence": 3, "content": "new", "expected_section_hash": hash,
                }),
                gives: ExampleResult::Refusal(ReasonKind::OccurrenceOutOfRange),
                after: &[("a.md", "# A\none\n# A\ntwo\n")],
            },
            Example {
                says: "A section that changed since it was read is not touched",
                before: NOTES,
                input: input(json!({ "expected_section_hash": "sha256:000000000000" })),
                gives: ExampleResult::Refusal(ReasonKind::StalePrecondition),
                after: NOTES,
            },
        ]
    }
}
