//! Reads, sets or deletes a property.

use lapidary_note::{ContentHash, Document, PropertyEdit, PropertyPath};
use lapidary_operation::{
    CommitReport, Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool, clipped,
    fence::fenced,
    quote::{Prose, quoted},
};
use lapidary_toolkit::{
    hash,
    note_edit::{NoteEdit, NoteWritten, NotesMade},
    patching::edit_refusal,
    properties::{self, NoteProperties},
    target::NoteTarget,
};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

pub(crate) struct ObsidianManageFrontmatter;

/// Read, set or delete one property (frontmatter key) of a note; the others stay byte for byte.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// What to do.
    operation: PropertyOperation,
    /// Which note.
    target: NoteTarget,
    /// Its name, at the top level.
    #[schemars(length(min = 1))]
    key: String,
    /// For `set`: any JSON.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Value")]
    value: Option<Value>,
    /// Refuse if the note has another hash.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

/// `null` is a value; only an omitted one is none.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum PropertyOperation {
    Get,
    Set,
    Delete,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    result: PropertyOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PropertyOutcome {
    operation: PropertyOperation,
    path: String,
    key: String,
    #[serde(flatten)]
    found: PropertyResult,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum PropertyResult {
    Changed {
        frontmatter: Map<String, Value>,
        #[serde(flatten)]
        written: NoteWritten,
    },
    Read {
        exists: bool,
        value: Value,
        content_hash: String,
    },
}

impl WriteTool for ObsidianManageFrontmatter {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_manage_frontmatter",
        dotted: None,
        title: "Obsidian Manage Frontmatter",
        family: WireFamily::Obsidian,
        group: ToolGroup::Edit,
        listed: true,
        idempotent: true,
        paths: &[PathArgument { pointer: "/target/path", role: PathRole::Write }],
        reasons: &[
            ReasonKind::StalePrecondition,
            ReasonKind::NoteMissing,
            ReasonKind::PeriodicNotFound,
            ReasonKind::ValueRequired,
            ReasonKind::FrontmatterInvalid,
            ReasonKind::PatchRejected,
        ],
        words: "set change remove read a property, frontmatter key, YAML metadata, status, due date, aliases",
    };
    const EFFECT: Effect = Effect::Write;
    const TAKES_TARGET: bool = true;
    const ONLY_LOOKS: Option<(&'static str, &'static str)> = Some(("operation", "get"));
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let Input { operation, target, key, value, expected_hash, dry_run } = input;
        let tool = Self::DECLARATION.name;
        let writing =
            NoteEdit::begin(tool, context, view, &target, NotesMade::Nothing, expected_hash.as_deref(), dry_run)?;
        let document = writing.document()?;
        // A note with broken properties is refused before anything is looked up in it.
        let before = readable(writing.path(), &document)?;
        // Uses the spelling in the note: Obsidian treats names that differ only in case as the same.
        let known = before.keys().filter(|name| name.to_lowercase() == key.to_lowercase()).collect::<Vec<_>>();
        let key = match known[..] {
            // Only if that is unambiguous: with several spellings in the note, the name is taken as sent.
            [known] if !before.contains_key(&key) => known.clone(),
            _ => key,
        };
        let path = PropertyPath::name(&key);
        let is_missing = operation == PropertyOperation::Delete && !before.contains_key(&key);
        let notice =
            if is_missing { Some("There was no such property.".to_owned()) } else { beside_map(&before, &key) };
        let edited = match (operation, value) {
            // Planned like a change, with none in it, so that one tool can do both.
            (PropertyOperation::Get, _) => {
                let value = before.get(&key).cloned();
                let found = PropertyResult::Read {
                    exists: value.is_some(),
                    value: value.unwrap_or_default(),
                    content_hash: document.content().hash().to_string(),
                };
                let result = PropertyOutcome { operation, path: writing.path().to_string(), key, found };
                return Ok(writing.unchanged(Output { result, notice }));
            }
            (PropertyOperation::Set, None) => return Err(Reason::ValueRequired { key: clipped(&key) }),
            (PropertyOperation::Set, Some(value)) => {
                let value = properties::value(&value);
                document.edit_property(&PropertyEdit::Set { path: &path, value: &value }).map(|new| new.document)
            }
            // Deleting what is not there succeeds, and the note keeps its bytes.
            (PropertyOperation::Delete, _) if !before.contains_key(&key) => Ok(document),
            (PropertyOperation::Delete, _) => {
                document.edit_property(&PropertyEdit::Delete { path: &path }).map(|new| new.document)
            }
        };
        let edited = edited.map_err(|error| edit_refusal(writing.path(), &error))?;
        // Read back from the new text, so that the answer is what Obsidian will see.
        let frontmatter = readable(writing.path(), &edited)?;
        Ok(writing.plan(edited.content().clone(), |path, written| {
            let found = PropertyResult::Changed { frontmatter, written };
            Output { result: PropertyOutcome { operation, path: path.to_string(), key, found }, notice }
        }))
    }

    /// A caller that may not read the note sees only the property that it changed.
    fn finish(&self, output: &mut Output, learnt: &CommitReport<'_>) {
        let PropertyOutcome { key, found, .. } = &mut output.result;
        if let (PropertyResult::Changed { frontmatter, .. }, false) = (found, learnt.shows_content) {
            frontmatter.retain(|name, _| name == key);
        }
    }

    fn text(&self, Output { result, .. }: &Output) -> Option<String> {
        let (key, path) = (quoted(&result.key), quoted(&result.path));
        Some(match &result.found {
            PropertyResult::Read { exists, value, content_hash } => {
                let value = if *exists { fenced(&value.to_string()) } else { "Not there.".to_owned() };
                format!("{path}, {key}, hash {}\n{value}", hash::digits(content_hash))
            }
            PropertyResult::Changed { written, .. } => {
                let done = match result.operation {
                    PropertyOperation::Delete => written.done("Deleted", "Would delete"),
                    // Reading has another result and never gets here.
                    PropertyOperation::Get | PropertyOperation::Set => written.done("Set", "Would set"),
                };
                format!("{done} {key} in {path}, {}", written.text())
            }
        })
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "---\n# current state\nstatus: \"open\" # for now\ntags: [a]\n---\nText\n";
        const SET: &str = "---\n# current state\nstatus: \"done\" # for now\ntags: [a]\n---\nText\n";
        const NOTES: &[(&str, &str)] = &[("Plan.md", NOTE)];
        let target = json!({ "type": "path", "path": "Plan.md" });
        vec![
            Example {
                says: "Set a property; comments and quotes stay",
                before: NOTES,
                input: json!({ "operation": "set", "target": target, "key": "status", "value": "done" }),
                gives: ExampleResult::Output(json!({ "result": {
                    "operation": "set",
                    "path": "Plan.md",
                    "key": "status",
                    "frontmatter": { "status": "done", "tags": ["a"] },
                    "previousSizeInBytes": NOTE.len(),
                    "currentSizeInBytes": SET.len(),
                    "contentHash": ContentHash::of(SET.as_bytes()).to_string(),
                } })),
                after: &[("Plan.md", SET)],
            },
            Example {
                says: "Read one",
                before: NOTES,
                input: json!({ "operation": "get", "target": target, "key": "due" }),
                gives: ExampleResult::Including(json!({ "result": { "exists": false, "value": null } })),
                after: NOTES,
            },
            Example {
                says: "Delete one",
                before: NOTES,
                input: json!({ "operation": "delete", "target": target, "key": "tags" }),
                gives: ExampleResult::Including(json!({ "result": { "frontmatter": { "status": "open" } } })),
                after: &[("Plan.md", "---\n# current state\nstatus: \"open\" # for now\n---\nText\n")],
            },
            Example {
                says: "A name with a dot is not a place in a map",
                before: &[("a.md", "---\nsize: { wide: 2 }\n---\n")],
                input: json!({ "operation": "set", "target": "a.md", "key": "size.wide", "value": 3 }),
                gives: ExampleResult::Including(json!({
                    "notice": "`size.wide` is one name. For `wide` in the map `size`, set `size` to the whole map.",
                })),
                after: &[("a.md", "---\nsize: { wide: 2 }\nsize.wide: 3\n---\n")],
            },
            Example {
                says: "Nothing to set",
                before: NOTES,
                input: json!({ "operation": "set", "target": target, "key": "status" }),
                gives: ExampleResult::Refusal(ReasonKind::ValueRequired),
                after: NOTES,
            },
        ]
    }
}

/// The notice for a name with a dot where a map probably was meant.
fn beside_map(before: &Map<String, Value>, key: &str) -> Option<String> {
    // A name that exists is meant as it is.
    let (map, entry) = key.split_once('.').filter(|_| !before.contains_key(key))?;
    let (entry, key, map) =
        (quoted(entry), quoted(key), Some(quoted(map)).filter(|_| before.get(map).is_some_and(Value::is_object))?);
    Some(format!("{key} is one name. For {entry} in the map {map}, set {map} to the whole map."))
}

fn readable(path: &VaultPath, document: &Document) -> Result<Map<String, Value>, Reason> {
    let properties = NoteProperties::of(document);
    match properties.problem() {
        Some(problem) => Err(Reason::FrontmatterInvalid { path: path.clone(), problem: Prose::ours(problem) }),
        None => Ok(properties.json()),
    }
}
