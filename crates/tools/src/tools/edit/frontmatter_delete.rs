//! Deletes a property.

use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    file_edit::{FileEdit, FileInput},
    frontmatter::{self, FrontmatterInput, FrontmatterOutput, PropertyStep},
    properties,
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub(crate) struct FrontmatterDelete;

/// Delete one property (frontmatter) of a note, and the map or list that this leaves empty.
///
/// Deleting a missing property is not an error.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    #[serde(flatten)]
    frontmatter: FrontmatterInput,
    /// `status`, `author.name`, `aliases.0`. A dot within a name is written `\.`.
    #[serde(rename = "keyPath")]
    key_path: String,
}

impl WriteTool for FrontmatterDelete {
    const DECLARATION: Declaration = Declaration {
        name: "frontmatter_delete",
        dotted: Some("frontmatter.delete"),
        title: "Delete a property",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[
            ReasonKind::NoteMissing,
            ReasonKind::StalePrecondition,
            ReasonKind::FrontmatterInvalid,
            ReasonKind::EditRefused,
        ],
        words: "delete remove frontmatter property yaml key of a note",
    };
    const EFFECT: Effect = Effect::Write;
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/keyPath", TextLanguage::Property)];
    type Input = Input;
    type Output = FrontmatterOutput;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<FrontmatterOutput>, Reason> {
        let path = properties::key_path(Self::DECLARATION.name, &input.key_path)?;
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        // The properties have a hash of their own, so that an edit of the text does not make it stale.
        input.frontmatter.check(&editing, &editing.document()?)?;
        frontmatter::plan(editing, &[PropertyStep::Delete(path)])
    }

    fn text(&self, output: &FrontmatterOutput) -> Option<String> {
        Some(output.text())
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "---\nid: 007\nauthor:\n  name: Ada\n---\n# Plan\n";
        const EDITED: &str = "---\nid: 007\n---\n# Plan\n";
        const NOTES: &[(&str, &str)] = &[("Plan.md", NOTE)];
        let block = |note: &str| ContentHash::of(note.trim_end_matches("# Plan\n").as_bytes()).to_string();
        vec![
            Example {
                says: "The only value of a map",
                before: NOTES,
                input: json!({ "file": "Plan.md", "keyPath": "author.name", "expected_frontmatter_hash": block(NOTE) }),
                gives: ExampleResult::Output(json!({
                    "file": "Plan.md",
                    "changed": true,
                    "frontmatterHash": block(EDITED),
                    "contentHash": ContentHash::of(EDITED.as_bytes()).to_string(),
                    "totalLines": 4,
                    "sizeBefore": NOTE.len(),
                    "sizeAfter": EDITED.len(),
                    "dry_run": false,
                })),
                after: &[("Plan.md", EDITED)],
            },
            Example {
                says: "A missing property need not be deleted",
                before: NOTES,
                input: json!({ "file": "Plan.md", "keyPath": "status", "expected_frontmatter_hash": block(NOTE) }),
                gives: ExampleResult::Including(json!({ "changed": false })),
                after: NOTES,
            },
            Example {
                says: "Without the hash of the current properties",
                before: NOTES,
                input: json!({ "file": "Plan.md", "keyPath": "id" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: NOTES,
            },
        ]
    }
}
