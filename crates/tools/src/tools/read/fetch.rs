//! The reading that ChatGPT's connectors expect: the id of a search result in, the whole text out.

use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily,
    uri::{LinkAction, in_app},
};
use lapidary_toolkit::{
    naming::{self, NamedFile},
    reading, tags,
    time::iso,
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct FetchTool;

/// Read a note found with `search`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The `id` of a search result, which is the path of the note.
    id: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    id: String,
    title: String,
    text: String,
    /// Opens the note in Obsidian.
    url: String,
    metadata: FetchedMetadata,
}

// Texts alone: the connectors know no other values here.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FetchedMetadata {
    content_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    /// Separated by commas.
    #[serde(skip_serializing_if = "String::is_empty")]
    tags: String,
}

impl ReadTool for FetchTool {
    const DECLARATION: Declaration = Declaration {
        name: "fetch",
        dotted: None,
        title: "Fetch",
        family: WireFamily::ChatGpt,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/id", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing],
        words: "fetch read a search result, for ChatGPT connectors and deep research",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        // By any name, because models shorten the ids that they were given.
        let NamedFile { path, file, .. } = naming::find(context, view, &input.id)?;
        context.check()?;
        let shown = reading::show(&path, &file)?;
        let metadata = FetchedMetadata {
            content_hash: file.hash().to_string(),
            modified: file.modified.map(iso),
            tags: tags::of_note(&shown.tagged()).join(", "),
        };
        Ok(Output {
            title: naming::title(&path).to_owned(),
            text: shown.text().to_owned(),
            // Connectors show it as the source; it opens the note in the app.
            url: in_app(LinkAction::Open, &view.vault_in_obsidian(), &path),
            id: path.to_string(),
            metadata,
        })
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "Fossil resin. #gem #organic\n";
        const NOTES: &[(&str, &str)] = &[("Stones/Amber.md", NOTE)];
        vec![
            Example {
                says: "A search result in full",
                before: NOTES,
                input: json!({ "id": "Stones/Amber.md" }),
                gives: ExampleResult::Including(json!({
                    "id": "Stones/Amber.md",
                    "title": "Amber",
                    "text": NOTE,
                    "url": "obsidian://open?vault=test&file=Stones%2FAmber.md",
                    "metadata": { "contentHash": ContentHash::of(NOTE.as_bytes()).to_string(), "tags": "gem, organic" },
                })),
                after: NOTES,
            },
            Example {
                says: "An id that no search gives",
                before: NOTES,
                input: json!({ "id": "Stones/Jet.md" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: NOTES,
            },
        ]
    }
}
