//! Renames a heading and updates links to it.

use lapidary_note::{ContentHash, Document, Heading, HeadingRename as Rename};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, FilePart, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool, bug,
};
use lapidary_toolkit::{
    file_edit::{FileEdit, FileInput, FileWritten},
    heading::{self, HeadingInput},
    references::{NoteReferences, ReferencesInput, ReferencesOutput},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct HeadingRename;

/// Change the text of a heading. Links to it, in this note, all others and canvases, are updated.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    #[serde(flatten)]
    heading: HeadingInput,
    /// One line, without `#` marks.
    #[serde(rename = "newText")]
    #[schemars(length(min = 1))]
    new_text: String,
    /// Refuse if the section has another hash; `dry_run` shows what would change.
    #[serde(default)]
    expected_section_hash: Option<String>,
    #[serde(flatten)]
    references: ReferencesInput,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    #[serde(flatten)]
    written: FileWritten,
    section_hash: String,
    #[serde(flatten)]
    references: ReferencesOutput,
}

impl WriteTool for HeadingRename {
    const DECLARATION: Declaration = Declaration {
        name: "heading_rename",
        dotted: Some("heading.rename"),
        title: "Rename a heading",
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
            ReasonKind::EditRefused,
        ],
        words: "rename heading, change the title of a section, retitle a chapter, name of a chapter, update links references to it",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        // Neither a link nor a later call could name it.
        if input.new_text.trim().is_empty() {
            return Err(editing.bad_argument("newText", "must not be empty"));
        }
        let document = editing.document()?;
        let note = document.note();
        let hash_of = |heading: &Heading| document.hash_of(heading.section.clone());
        let heading = input.heading.find(editing.path(), &note, hash_of)?;
        if let Some(expected) = &input.expected_section_hash {
            editing.expect_part(&document, FilePart::Section, expected, Some(heading.section.clone()))?;
        }
        let line = heading.line;
        let rename = |document: &Document, heading: &Heading| match document.rename_heading(heading, &input.new_text) {
            Ok(edited) => Ok(edited.document),
            Err(error) => Err(editing.refusal(error)),
        };
        // Renamed once without links, which shows whether the text is valid and what links will have to say.
        let renamed = rename(&document, heading)?;
        if !input.references.update_references || renamed == document {
            let section_hash = heading::hash_after_edit(&renamed, line)?;
            let references = ReferencesOutput::default();
            return Ok(editing.plan(&renamed, |written| Output { written, section_hash, references }));
        }
        // By position: links in the note may change the text of headings, but not their order.
        let index = note.headings.partition_point(|other| other.span.start < heading.span.start);
        let after = renamed.note();
        let follow = Rename { before: &note, after: &after, index };
        let mut references = NoteReferences::to(context, view, editing.path())?;
        // Its own links first: they may be before the heading or in it.
        let own = references.within(context, &document, &|place| follow.follow(place))?;
        let moved = own.note();
        let heading =
            moved.headings.get(index).ok_or_else(|| bug!("a heading is gone after its own links were changed"))?;
        let line = heading.line;
        let renamed = rename(&own, heading)?;
        let section_hash = heading::hash_after_edit(&renamed, line)?;
        let (others, references) = references.elsewhere(context, view, &|place| follow.follow(place))?;
        let mut plan = editing.plan(&renamed, |written| Output { written, section_hash, references });
        // One change: either the heading and all links to it are new, or none is.
        plan.changes.changes.extend(others);
        Ok(plan)
    }

    fn text(&self, output: &Output) -> Option<String> {
        let done = format!("heading renamed{}", output.references.text());
        Some(output.written.text_of_part(&done, FilePart::Section, &output.section_hash))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "# Plan\nSee [[#Log]].\n## Log\nDry.\n";
        const EDITED: &str = "# Plan\nSee [[#Diary]].\n## Diary\nDry.\n";
        const OTHER: &str = "[[Plan#Log|log]] [x](Plan.md#Log) ![[plan#Plan#Log]] [[Plan]]\n";
        const FOLLOWED: &str = "[[Plan#Diary|log]] [x](Plan.md#Diary) ![[plan#Plan#Diary]] [[Plan]]\n";
        const NOTES: &[(&str, &str)] = &[("Plan.md", NOTE), ("Other.md", OTHER)];
        const BOARD: &[(&str, &str)] = &[
            ("Plan.md", NOTE),
            (
                "b.canvas",
                "{\"nodes\":[\n{\"type\":\"file\",\"file\":\"Plan.md\",\"subpath\":\"#Log\"},\n{\"type\":\"text\",\"text\":\"[[Plan#Log]]\"}]}",
            ),
        ];
        const BOARD_AFTER: &str = "{\"nodes\":[\n{\"type\":\"file\",\"file\":\"Plan.md\",\"subpath\":\"#Diary\"},\n{\"type\":\"text\",\"text\":\"[[Plan#Diary]]\"}]}";
        let hash = ContentHash::of(b"## Log\nDry.\n").to_string();
        let input = json!({ "file": "Plan.md", "heading": "Log", "newText": "Diary", "expected_section_hash": hash });
        let mut alone = input.clone();
        alone["update_references"] = json!(false);
        vec![
            Example {
                says: "Links follow",
                before: NOTES,
                input,
                gives: ExampleResult::Output(json!({
                    "file": "Plan.md",
                    "changed": true,
                    "sectionHash": ContentHash::of(b"## Diary\nDry.\n").to_string(),
                    "referencesUpdated": 4,
                    "filesUpdated": 1,
                    "contentHash": ContentHash::of(EDITED.as_bytes()).to_string(),
                    "totalLines": 4,
                    "sizeBefore": NOTE.len(),
                    "sizeAfter": EDITED.len(),
                    "dry_run": false,
                })),
                after: &[("Plan.md", EDITED), ("Other.md", FOLLOWED)],
            },
            Example {
                says: "By its name alone, and only shown",
                before: NOTES,
                input: json!({ "file": "Plan.md", "heading": "Log", "newText": "Diary", "dry_run": true }),
                gives: ExampleResult::Including(json!({ "referencesUpdated": 4, "filesUpdated": 1, "dry_run": true })),
                after: NOTES,
            },
            Example {
                says: "A section that is not the expected one",
                before: NOTES,
                input: json!({
                    "file": "Plan.md", "heading": "Log", "newText": "Diary", "expected_section_hash": "00000000",
                }),
                gives: ExampleResult::Refusal(ReasonKind::StalePrecondition),
                after: NOTES,
            },
            Example {
                says: "The heading alone",
                before: NOTES,
                input: alone,
                gives: ExampleResult::Including(json!({ "referencesUpdated": 0 })),
                after: &[("Plan.md", "# Plan\nSee [[#Log]].\n## Diary\nDry.\n"), ("Other.md", OTHER)],
            },
            Example {
                says: "Cards of a canvas show the same part as before",
                before: BOARD,
                input: json!({ "file": "Plan.md", "heading": "Log", "newText": "Diary", "expected_section_hash": hash }),
                gives: ExampleResult::Including(json!({ "referencesUpdated": 3, "filesUpdated": 1 })),
                after: &[("Plan.md", EDITED), ("b.canvas", BOARD_AFTER)],
            },
            Example {
                says: "No link is lost to another heading of that name",
                before: &[("a.md", "# A\n# B\n"), ("l.md", "[[a#B]]\n")],
                input: json!({
                    "file": "a.md", "heading": "B", "newText": "A",
                    "expected_section_hash": ContentHash::of(b"# B\n").to_string(),
                }),
                gives: ExampleResult::Refusal(ReasonKind::EditRefused),
                after: &[("a.md", "# A\n# B\n"), ("l.md", "[[a#B]]\n")],
            },
            Example {
                says: "One line is one heading",
                before: NOTES,
                input: json!({ "file": "Plan.md", "heading": "Log", "newText": "A\n# B", "expected_section_hash": hash }),
                gives: ExampleResult::Refusal(ReasonKind::EditRefused),
                after: NOTES,
            },
        ]
    }
}
