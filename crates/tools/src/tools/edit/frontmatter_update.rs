//! Changes several properties.

use lapidary_note::{ContentHash, PropertyPath, YamlValue};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool, bug,
};
use lapidary_toolkit::{
    file_edit::{FileEdit, FileInput},
    frontmatter::{self, FrontmatterInput, FrontmatterOutput, PropertyStep},
    properties::{self, NoteProperties},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

pub(crate) struct FrontmatterUpdate;

/// Change several properties (frontmatter) of a note at once, all or none.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    #[serde(flatten)]
    frontmatter: FrontmatterInput,
    /// Names and their values; a map is merged into an existing map.
    #[serde(default)]
    set: Map<String, Json>,
    /// Properties to delete first: `status`, `author.name`.
    #[serde(default)]
    remove: Vec<String>,
    /// `merge` keeps properties that are not named; `replace` leaves exactly those in `set`.
    #[serde(default)]
    mode: UpdateMode,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum UpdateMode {
    #[default]
    Merge,
    Replace,
}

impl WriteTool for FrontmatterUpdate {
    const DECLARATION: Declaration = Declaration {
        name: "frontmatter_update",
        dotted: Some("frontmatter.update"),
        title: "Change several properties",
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
        words: "set change remove several frontmatter properties at once, merge or replace yaml metadata",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = FrontmatterOutput;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<FrontmatterOutput>, Reason> {
        let removed = input.remove.iter().map(|given| properties::key_path(Self::DECLARATION.name, given));
        let removed = removed.collect::<Result<Vec<PropertyPath>, Reason>>()?;
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        let document = editing.document()?;
        input.frontmatter.check(&editing, &document)?;
        let properties = NoteProperties::of(&document).value();
        let YamlValue::Map(set) = frontmatter::value(&editing, "set", &Json::Object(input.set))? else {
            return Err(bug!("the properties to set are not a map"));
        };
        // YAML allows an empty key, but no path could name it afterwards.
        if set.iter().any(|(name, _)| name.is_empty()) {
            return Err(editing.bad_argument("set", "must not have an empty name"));
        }
        let mut steps: Vec<PropertyStep> = match input.mode {
            UpdateMode::Merge => from_the_back(removed).map(PropertyStep::Delete).collect(),
            // `remove` says nothing new here: what is not in `set` goes anyway.
            UpdateMode::Replace => gone(&properties, &set),
        };
        for (name, value) in set {
            match input.mode {
                UpdateMode::Merge => merge(&[name], value, &properties, &mut steps),
                UpdateMode::Replace => steps.push(PropertyStep::Set(PropertyPath::name(&name), value)),
            }
        }
        frontmatter::plan(editing, &steps)
    }

    fn text(&self, output: &FrontmatterOutput) -> Option<String> {
        Some(output.text())
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "---\nid: 007 # agent\nstatus: open\nauthor:\n  name: Ada\n---\n# Plan\n";
        const EDITED: &str = "---\nid: 007 # agent\nauthor:\n  name: Ada\n  mail: a@b.c\ndone: true\n---\n# Plan\n";
        const NOTES: &[(&str, &str)] = &[("Plan.md", NOTE)];
        let block = |note: &str| ContentHash::of(note.trim_end_matches("# Plan\n").as_bytes()).to_string();
        vec![
            Example {
                says: "Some are set, one is deleted, the others stay as written",
                before: NOTES,
                input: json!({
                    "file": "Plan.md",
                    "set": { "author": { "mail": "a@b.c" }, "done": true },
                    "remove": ["status"],
                    "expected_frontmatter_hash": block(NOTE),
                }),
                gives: ExampleResult::Output(json!({
                    "file": "Plan.md",
                    "changed": true,
                    "frontmatterHash": block(EDITED),
                    "contentHash": ContentHash::of(EDITED.as_bytes()).to_string(),
                    "totalLines": 8,
                    "sizeBefore": NOTE.len(),
                    "sizeAfter": EDITED.len(),
                    "dry_run": false,
                })),
                after: &[("Plan.md", EDITED)],
            },
            Example {
                says: "Exactly these",
                before: NOTES,
                input: json!({
                    "file": "Plan.md", "mode": "replace", "set": { "status": "done" },
                    "expected_frontmatter_hash": block(NOTE),
                }),
                gives: ExampleResult::Including(json!({ "changed": true })),
                after: &[("Plan.md", "---\nstatus: done\n---\n# Plan\n")],
            },
            Example {
                says: "Properties that cannot be read are not written",
                before: &[("a.md", "---\na: b: c\n---\n")],
                input: json!({
                    "file": "a.md", "set": { "x": 1 },
                    "expected_frontmatter_hash": ContentHash::of(b"---\na: b: c\n---\n").to_string(),
                }),
                gives: ExampleResult::Refusal(ReasonKind::FrontmatterInvalid),
                after: &[("a.md", "---\na: b: c\n---\n")],
            },
        ]
    }
}

/// Positions in a list refer to the list before any deletion, so the last one goes first.
fn from_the_back(mut paths: Vec<PropertyPath>) -> impl Iterator<Item = PropertyPath> {
    // By the whole path, so that equal ones are neighbours, and what is inside an entry goes before the entries in front of it.
    let place = |path: &PropertyPath| -> Vec<(Option<usize>, String)> {
        path.segments().map(|segment| (segment.parse().ok(), segment.to_owned())).collect()
    };
    paths.sort_by_cached_key(|path| std::cmp::Reverse(place(path)));
    // The same path twice would remove the next entry of the list as well.
    paths.dedup();
    paths.into_iter()
}

/// The properties to remove because they are not in the wanted set.
fn gone(properties: &YamlValue, set: &[(String, YamlValue)]) -> Vec<PropertyStep> {
    let YamlValue::Map(entries) = properties else { return Vec::new() };
    // Deleted by name instead of clearing the block, so that kept properties keep their order and comments.
    let is_gone = |name: &&String| !set.iter().any(|(kept, _)| kept == *name);
    entries
        .iter()
        .map(|(name, _)| name)
        .filter(is_gone)
        .map(|name| PropertyStep::Delete(PropertyPath::name(name)))
        .collect()
}

/// Maps are merged key by key; any other value replaces the existing one.
fn merge(way: &[String], value: YamlValue, properties: &YamlValue, steps: &mut Vec<PropertyStep>) {
    let Some(path) = PropertyPath::of(way.to_vec()) else { return };
    match (value, path.find(properties)) {
        // With an empty map on either side there is nothing to merge, and the value is set as it is.
        (YamlValue::Map(entries), Some(YamlValue::Map(there))) if !there.is_empty() && !entries.is_empty() => {
            for (name, value) in entries {
                let way: Vec<String> = way.iter().cloned().chain([name]).collect();
                merge(&way, value, properties, steps);
            }
        }
        (value, _) => steps.push(PropertyStep::Set(path, value)),
    }
}
