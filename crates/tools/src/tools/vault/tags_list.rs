//! Lists the tags of a note or the vault.

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, quote::quoted,
};
use lapidary_toolkit::{
    index,
    naming::{self, NamedFile},
    reading,
    tags::{self, NestedTags, TagCounts},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct TagsList;

/// List the tags of one note, or of the vault with the number of notes for each, from properties and text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Path of a note; all notes by default.
    #[serde(default)]
    file: Option<String>,
    /// Only tags with this prefix, e.g. `project/`, ignoring case.
    #[serde(default)]
    prefix: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    tags: Vec<TagEntry>,
}

#[derive(Serialize, JsonSchema)]
struct TagEntry {
    tag: String,
    count: usize,
}

impl ReadTool for TagsList {
    const DECLARATION: Declaration = Declaration {
        name: "tags_list",
        dotted: Some("tags.list"),
        title: "List tags",
        family: WireFamily::Files,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing],
        words: "tags hashtags of a note or the vault, how often",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let mut counts = TagCounts::default();
        match &input.file {
            Some(given) => {
                let NamedFile { path, file, .. } = naming::find(context, view, given)?;
                let shown = reading::show(&path, &file)?;
                context.check()?;
                // Only in notes does `#` start a tag.
                if path.is_note() {
                    let found = tags::of_note(&shown.tagged());
                    counts.add_note(found.iter().map(String::as_str), NestedTags::CountAlone);
                }
            }
            None => {
                for (_, digest) in index::notes(context, view)?.notes() {
                    context.check()?;
                    counts.add_note(digest.tags().map(|tag| tag.name), NestedTags::CountAlone);
                }
            }
        }
        let prefix = input.prefix.unwrap_or_default().to_lowercase();
        // Tags are listed without it, but callers copy them from notes.
        let prefix = prefix.trim_start_matches('#');
        let found = counts.sorted().into_iter().filter(|(tag, _)| tag.to_lowercase().starts_with(prefix));
        Ok(Output { tags: found.map(|(tag, count)| TagEntry { tag, count }).collect() })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let tags: Vec<String> =
            output.tags.iter().map(|TagEntry { tag, count }| format!("#{} {count}", quoted(tag))).collect();
        Some(if tags.is_empty() { "No tags.".to_owned() } else { tags.join(", ") })
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("a.md", "---\ntags: [Project/garden]\n---\n#log and `#code`\n"),
            ("b.md", "#project/Garden #größe #log #log\n"),
        ];
        vec![
            Example {
                says: "All tags of the vault",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Output(json!({ "tags": [
                    { "tag": "log", "count": 2 },
                    { "tag": "Project/garden", "count": 2 },
                    { "tag": "größe", "count": 1 },
                ] })),
                after: &[],
            },
            Example {
                says: "The tags of one note that start with a word",
                before: NOTES,
                input: json!({ "file": "b.md", "prefix": "proj" }),
                gives: ExampleResult::Output(json!({ "tags": [{ "tag": "project/Garden", "count": 1 }] })),
                after: &[],
            },
            Example {
                says: "A note that does not exist",
                before: NOTES,
                input: json!({ "file": "c.md" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[],
            },
        ]
    }
}
