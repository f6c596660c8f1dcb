//! Sets a property.

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
use serde_json::{Value, json};

pub(crate) struct FrontmatterSet;

/// Set one property (frontmatter) of a note; all others stay as written.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    #[serde(flatten)]
    frontmatter: FrontmatterInput,
    /// `status`, `author.name`, `aliases.0`; missing parents are created. A dot within a name is `\.`.
    #[serde(rename = "keyPath")]
    key_path: String,
    /// Any JSON.
    value: Value,
}

impl WriteTool for FrontmatterSet {
    const DECLARATION: Declaration = Declaration {
        name: "frontmatter_set",
        dotted: Some("frontmatter.set"),
        title: "Set a property",
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
        words: "set change add frontmatter property yaml key value of a note",
    };
    const EFFECT: Effect = Effect::Write;
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/keyPath", TextLanguage::Property)];
    type Input = Input;
    type Output = FrontmatterOutput;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<FrontmatterOutput>, Reason> {
        let path = properties::key_path(Self::DECLARATION.name, &input.key_path)?;
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        input.frontmatter.check(&editing, &editing.document()?)?;
        let value = frontmatter::value(&editing, "value", &input.value)?;
        frontmatter::plan(editing, &[PropertyStep::Set(path, value)])
    }

    fn text(&self, output: &FrontmatterOutput) -> Option<String> {
        Some(output.text())
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "---\nid: 007\nauthor: {name: Ada} # first\n---\n# Plan\n";
        const EDITED: &str = "---\nid: 007\nauthor: {name: Bea} # first\n---\n# Plan\n";
        const NOTES: &[(&str, &str)] = &[("Plan.md", NOTE)];
        let block = |note: &str| ContentHash::of(note.trim_end_matches("# Plan\n").as_bytes()).to_string();
        vec![
            Example {
                says: "One value, and not a byte more",
                before: NOTES,
                input: json!({
                    "file": "Plan.md", "keyPath": "author.name", "value": "Bea", "expected_frontmatter_hash": block(NOTE),
                }),
                gives: ExampleResult::Output(json!({
                    "file": "Plan.md",
                    "changed": true,
                    "frontmatterHash": block(EDITED),
                    "contentHash": ContentHash::of(EDITED.as_bytes()).to_string(),
                    "totalLines": 5,
                    "sizeBefore": NOTE.len(),
                    "sizeAfter": EDITED.len(),
                    "dry_run": false,
                })),
                after: &[("Plan.md", EDITED)],
            },
            Example {
                says: "The first property of a note",
                before: &[("a.md", "text\n")],
                input: json!({ "file": "a.md", "keyPath": "tags", "value": ["x"] }),
                gives: ExampleResult::Including(json!({ "changed": true, "totalLines": 5 })),
                after: &[("a.md", "---\ntags:\n  - x\n---\ntext\n")],
            },
            Example {
                says: "Without the hash of the current properties",
                before: NOTES,
                input: json!({ "file": "Plan.md", "keyPath": "id", "value": 8 }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: NOTES,
            },
            Example {
                says: "Properties that changed since they were read are not touched",
                before: NOTES,
                input: json!({
                    "file": "Plan.md", "keyPath": "id", "value": 8, "expected_frontmatter_hash": "sha256:000000000000",
                }),
                gives: ExampleResult::Refusal(ReasonKind::StalePrecondition),
                after: NOTES,
            },
        ]
    }
}
