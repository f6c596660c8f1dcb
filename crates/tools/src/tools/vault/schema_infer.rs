//! What the notes of a type have in common, as a schema.

use std::collections::BTreeMap;

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily,
    fence::fenced,
    quote::{one_line, quoted_list},
};
use lapidary_toolkit::{
    property_kinds::PropertyKind,
    schema::{self, InferredSchema, MismatchResponse, TypeInput},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct SchemaInfer;

/// Propose the schema of a note type from the notes that are there: usual properties with types, required or not, allowed
/// values, and common headings, with counts. `schema_save` keeps it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Notes in this folder.
    #[serde(default)]
    folder: Option<String>,
    /// Notes with this tag.
    #[serde(default)]
    tag: Option<String>,
    /// Notes with these values, e.g. `{"type": "meeting"}`.
    #[serde(default)]
    property: BTreeMap<String, String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// How many notes are of this type.
    notes: usize,
    /// How many of them fit the schema as they are.
    fit: usize,
    /// Some that do not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differing: Vec<String>,
    /// All properties, the most used first.
    properties: Vec<PropertyCount>,
    /// Headings of half of the notes or more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headings: Vec<HeadingCount>,
    /// The schema as properties of a note.
    schema: String,
}

#[derive(Serialize, JsonSchema)]
struct PropertyCount {
    name: String,
    /// With a value.
    notes: usize,
    types: BTreeMap<PropertyKind, usize>,
}

#[derive(Serialize, JsonSchema)]
struct HeadingCount {
    heading: String,
    notes: usize,
}

/// More are not typical of anything.
const MOST_PROPERTIES: usize = 40;
const MOST_HEADINGS: usize = 20;

impl ReadTool for SchemaInfer {
    const DECLARATION: Declaration = Declaration {
        name: "schema_infer",
        dotted: None,
        title: "Propose a schema",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/folder", role: PathRole::List }],
        reasons: &[],
        words: "schema of a note type, infer structure, what do meeting notes have in common, required properties, template from existing notes, allowed values, frontmatter schema, data model, Schema eines Notiztyps, schéma des notes, esquema de notas, 笔记类型的结构, ノートのスキーマ",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let Input { folder, tag, property } = input;
        let given = TypeInput { folder: folder.as_deref(), tag: tag.as_deref(), property: &property };
        let notes = given.parse(Self::DECLARATION.name, context, view)?;
        let InferredSchema { schema, notes, fit, properties, headings, differing } =
            schema::infer(context, view, notes, MismatchResponse::Notice)?;
        let properties = properties.into_iter().take(MOST_PROPERTIES);
        let headings = headings.into_iter().take(MOST_HEADINGS);
        Ok(Output {
            notes,
            fit,
            differing: differing.iter().map(ToString::to_string).collect(),
            properties: properties
                .map(|it| PropertyCount { name: it.name, notes: it.notes, types: it.kinds })
                .collect(),
            headings: headings.map(|it| HeadingCount { heading: it.text, notes: it.notes }).collect(),
            schema: schema.to_yaml(),
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { notes, fit, differing, properties, schema, .. } = output;
        let mut text = format!("{}, {fit} fit", counted(*notes, "note"));
        if !differing.is_empty() {
            text += &format!("; not {}", quoted_list(differing));
        }
        let line = |property: &PropertyCount| {
            let types: Vec<String> = property.types.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            one_line(&format!("# {}: {} ({})", property.name, property.notes, types.join(", "))).into_owned() + "\n"
        };
        let counts: String = properties.iter().map(line).collect();
        Some(format!("{text}\n{}", fenced(&format!("{counts}{schema}"))))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Meetings/a.md", "---\ntype: meeting\ndate: 2026-11-02\nstatus: open\n---\n# Decisions\n"),
            ("Meetings/b.md", "---\ntype: meeting\ndate: 2026-11-03\nstatus: done\n---\n# Decisions\n"),
            ("Meetings/c.md", "---\ntype: meeting\ndate: 2026-11-04\n---\n"),
            ("Other.md", "---\nrating: 4\n---\n"),
        ];
        vec![
            Example {
                says: "The notes of a type, by a property",
                before: NOTES,
                input: json!({ "property": { "type": "meeting" } }),
                gives: ExampleResult::Output(json!({
                    "notes": 3,
                    "fit": 3,
                    "properties": [
                        { "name": "date", "notes": 3, "types": { "date": 3 } },
                        { "name": "type", "notes": 3, "types": { "text": 3 } },
                        { "name": "status", "notes": 2, "types": { "text": 2 } },
                    ],
                    "headings": [{ "heading": "Decisions", "notes": 2 }],
                    "schema": "schema:\n  for:\n    property:\n      type: meeting\n  on_mismatch: notice\n  properties:\n    date:\n      type: date\n      required: true\n    status:\n      type: text\n",
                })),
                after: &[],
            },
            Example {
                says: "Which notes has to be said",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}
