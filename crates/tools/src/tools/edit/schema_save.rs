//! Keeps the schema of a note type as a note.

use std::collections::BTreeMap;

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, NameWanted, OffReason, PathArgument, PathRole, Reason,
    ReasonKind, ToolGroup, ToolPlan, WireFamily, WriteTool, quote::quoted,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    reading,
    schema::{self, InferredSchema, MismatchResponse, TypeInput},
};
use lapidary_vault::{Change, ChangeSet, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::tools::NO_SCHEMAS;

pub(crate) struct SchemaSave;

/// Keep the schema that `schema_infer` proposes for a note type, as a note in the owner's folder of schemas. From then on
/// changes are checked against it. Edit that note to change it; both need approval.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Name of the type and its note, e.g. `Meeting`.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// Notes in this folder.
    #[serde(default)]
    folder: Option<String>,
    /// Notes with this tag.
    #[serde(default)]
    tag: Option<String>,
    /// Notes with these values, e.g. `{"type": "meeting"}`.
    #[serde(default)]
    property: BTreeMap<String, String>,
    /// What becomes of a change that does not fit.
    #[serde(default)]
    on_mismatch: MismatchChoice,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MismatchChoice {
    /// It is made, and the answer says so.
    #[default]
    Notice,
    Refuse,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    /// How many notes are of this type.
    notes: usize,
    /// How many of them fit.
    fit: usize,
    schema: String,
    dry_run: bool,
}

impl WriteTool for SchemaSave {
    const DECLARATION: Declaration = Declaration {
        name: "schema_save",
        dotted: None,
        title: "Keep a schema",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/folder", role: PathRole::List }],
        reasons: &[ReasonKind::FileExists],
        words: "save schema, enforce properties of notes, keep the structure of meeting notes, validate frontmatter, require properties, check notes when they are written, Schema festlegen, imposer un schéma, guardar esquema, 保存笔记结构, スキーマを保存",
    };
    const EFFECT: Effect = Effect::Write;
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/name", TextLanguage::Path)];
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        let Input { name, folder, tag, property, on_mismatch, dry_run } = input;
        let off = || Reason::ToolOff { tool: tool.to_owned(), off: OffReason::NotSetUp(NO_SCHEMAS) };
        let schemas = context.shape.schema_folder().ok_or_else(off)?;
        let name = name.trim();
        let path = VaultPath::parse(&format!("{schemas}/{name}.md")).ok();
        let path = path.filter(|_| !name.starts_with('.') && !name.contains(['/', '\\']));
        let Some(path) = path else {
            return Err(Reason::bad_argument(tool, "name", "must be a name that a note can have"));
        };
        // An existing schema may have been edited since, and is never replaced.
        if let Some(there) = reading::read_if_there(view, &path)? {
            return Err(Reason::DestinationExists { path, current: there.hash(), wanted: NameWanted::New });
        }
        let given = TypeInput { folder: folder.as_deref(), tag: tag.as_deref(), property: &property };
        let on_mismatch = match on_mismatch {
            MismatchChoice::Notice => MismatchResponse::Notice,
            MismatchChoice::Refuse => MismatchResponse::Refuse,
        };
        let InferredSchema { schema, notes, fit, .. } =
            schema::infer(context, view, given.parse(tool, context, view)?, on_mismatch)?;
        let schema = schema.to_yaml();
        let content = format!("---\n{schema}---\n").into();
        let output = Output { path: path.to_string(), notes, fit, schema, dry_run };
        Ok(ToolPlan { changes: ChangeSet::one(Change::Create { path, content }), output, dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, notes, fit, dry_run, .. } = output;
        let done = if *dry_run { "Dry run: would keep" } else { "Kept" };
        Some(format!("{done} the schema in {}; {fit} of {} fit", quoted(path), counted(*notes, "note")))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] =
            &[("Meetings/a.md", "---\ndate: 2026-11-02\n---\n"), ("Meetings/b.md", "---\ndate: 2026-11-03\n---\n")];
        vec![
            Example {
                says: "From the notes of a folder",
                before: NOTES,
                input: json!({ "name": "Meeting", "folder": "Meetings", "onMismatch": "refuse" }),
                gives: ExampleResult::Including(json!({ "path": "Schemas/Meeting.md", "notes": 2, "fit": 2 })),
                after: &[
                    ("Meetings/a.md", "---\ndate: 2026-11-02\n---\n"),
                    ("Meetings/b.md", "---\ndate: 2026-11-03\n---\n"),
                    (
                        "Schemas/Meeting.md",
                        "---\nschema:\n  for:\n    folder: Meetings\n  on_mismatch: refuse\n  properties:\n    date:\n      type: date\n      required: true\n---\n",
                    ),
                ],
            },
            Example {
                says: "A name is not a path",
                before: NOTES,
                input: json!({ "name": "../Meeting", "folder": "Meetings" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: NOTES,
            },
        ]
    }
}
