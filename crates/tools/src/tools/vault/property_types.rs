//! What values the properties of a vault have.

use std::collections::BTreeMap;

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, clipped,
    fence::fenced,
    quote::{Prose, one_line, quoted},
};
use lapidary_query::nearest;
use lapidary_toolkit::{
    index,
    page::{self, ListingInput},
    property_kinds::{self, PropertyKind, VaultProperty},
};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct PropertyTypes;

/// The properties of the vault with the types of their values and how many notes have them; with `property`, its values
/// and the notes that differ.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// One property, in any case.
    #[serde(default)]
    property: Option<String>,
    #[serde(flatten)]
    listing: ListingInput,
}

/// How many are shown unless the caller says otherwise.
const USUAL: usize = 40;

/// Notes that are named of each type.
const MOST_EXAMPLES: usize = 3;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The most used first.
    properties: Vec<PropertyUse>,
    /// Of the one that was asked for, the most used first; items of lists count each.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<ValueUse>>,
    /// Properties, or values of the one.
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct PropertyUse {
    name: String,
    notes: usize,
    /// How many notes have a value of each type.
    types: BTreeMap<PropertyKind, usize>,
    /// Whether the types disagree.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    disagrees: bool,
    /// Some notes of each type, if one property was asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    examples: BTreeMap<PropertyKind, Vec<String>>,
}

#[derive(Serialize, JsonSchema)]
struct ValueUse {
    value: String,
    count: usize,
}

impl ReadTool for PropertyTypes {
    const DECLARATION: Declaration = Declaration {
        name: "property_types",
        dotted: None,
        title: "Property types",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/folder", role: PathRole::List }],
        reasons: &[ReasonKind::DirectoryMissing],
        words: "all properties of the vault, frontmatter keys fields, types of properties, which values does a property have, distinct values, schema, Eigenschaften und ihre Werte, propriétés et valeurs, propiedades y valores, 属性类型, 属性的值, プロパティの種類",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let notes = index::notes(context, view)?;
        let folder = input.listing.folder(view, notes)?;
        // Only the values of one property are collected: those of all would be most of the vault.
        let found = property_kinds::of_vault(context, notes, folder.as_ref(), input.property.as_deref())?;
        let Some(wanted) = &input.property else {
            let mut properties: Vec<PropertyUse> =
                found.values().map(|property| PropertyUse::of(property, false)).collect();
            // By name among equals, because the sort is stable.
            properties.sort_by_key(|property| std::cmp::Reverse(property.notes));
            let (page, next_cursor) = input.listing.page(properties, USUAL)?;
            return Ok(Output { properties: page.items, values: None, total: page.total, next_cursor, notice: None });
        };
        let Some(property) = found.values().next() else {
            // Read again without the name, because only now are the others needed.
            let all = property_kinds::of_vault(context, notes, folder.as_ref(), None)?;
            // The name is the caller's and may be long.
            let problem = Prose::ours(format_args!("is a property of no note: {}", quoted(&clipped(wanted))));
            let meant = nearest(wanted, all.values().map(|property| property.name.as_str()));
            let tool = Self::DECLARATION.name;
            return Err(match meant {
                Some(meant) => Reason::misspelt_argument(tool, "property", problem, meant.to_owned()),
                None => Reason::bad_argument(tool, "property", problem),
            });
        };
        let mut values: Vec<ValueUse> =
            property.values.iter().map(|(value, count)| ValueUse { value: value.clone(), count: *count }).collect();
        // The same order each time, so that pages fit together.
        values.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.value.cmp(&other.value)));
        let (page, next_cursor) = input.listing.page(values, USUAL)?;
        let notice = property.is_cut.then(|| "There are more values than were counted.".to_owned());
        let properties = vec![PropertyUse::of(property, true)];
        Ok(Output { properties, values: Some(page.items), total: page.total, next_cursor, notice })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { properties, values, total, next_cursor, .. } = output;
        let line = |property: &PropertyUse| {
            let types: Vec<String> = property.types.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            let mark = if property.disagrees { " (!)" } else { "" };
            // Names of properties are text of notes and may have line breaks.
            one_line(&format!("{}: {}{mark}", property.name, types.join(", "))).into_owned() + "\n"
        };
        let mut lines: String = properties.iter().map(line).collect();
        for (kind, paths) in properties.iter().flat_map(|property| &property.examples) {
            lines += &one_line(&format!("{kind}: {}", paths.join(", ")));
            lines.push('\n');
        }
        for value in values.iter().flatten() {
            lines += &one_line(&format!("{}× {}", value.count, value.value));
            lines.push('\n');
        }
        let what = if values.is_some() { "value" } else { "property" };
        let mut text = match *total {
            // The plural is irregular.
            total if what == "property" && total != 1 => format!("{total} properties"),
            total => counted(total, what).to_string(),
        };
        if !lines.is_empty() {
            text += &format!("\n{}", fenced(&lines));
        }
        text += &page::more(next_cursor.as_deref());
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("a.md", "---\nrating: 4\nstatus: open\n---\n"),
            ("b.md", "---\nRating: 5\nstatus: [open, late]\n---\n"),
            ("c.md", "---\nrating: four\ndue: 2026-11-01\n---\n"),
        ];
        vec![
            Example {
                says: "All properties",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Output(json!({
                    "properties": [
                        { "name": "rating", "notes": 3, "types": { "text": 1, "number": 2 }, "disagrees": true },
                        { "name": "status", "notes": 2, "types": { "text": 1, "list": 1 }, "disagrees": true },
                        { "name": "due", "notes": 1, "types": { "date": 1 } },
                    ],
                    "total": 3,
                })),
                after: &[],
            },
            Example {
                says: "The values of one",
                before: NOTES,
                input: json!({ "property": "Status" }),
                gives: ExampleResult::Output(json!({
                    "properties": [{
                        "name": "status", "notes": 2, "types": { "text": 1, "list": 1 }, "disagrees": true,
                        "examples": { "text": ["a.md"], "list": ["b.md"] },
                    }],
                    "values": [{ "value": "open", "count": 2 }, { "value": "late", "count": 1 }],
                    "total": 2,
                })),
                after: &[],
            },
            Example {
                says: "A property that no note has",
                before: NOTES,
                input: json!({ "property": "ratings" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

impl PropertyUse {
    fn of(property: &VaultProperty<'_>, with_examples: bool) -> Self {
        let first = |notes: &Vec<&VaultPath>| notes.iter().take(MOST_EXAMPLES).map(ToString::to_string).collect();
        let examples = property.notes.iter().map(|(kind, notes)| (*kind, first(notes)));
        Self {
            name: property.name.clone(),
            notes: property.note_count(),
            types: property.notes.iter().map(|(kind, notes)| (*kind, notes.len())).collect(),
            disagrees: property.disagreement().is_some(),
            examples: if with_examples { examples.collect() } else { BTreeMap::new() },
        }
    }
}
