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
use lapidary_vault::{DocumentKind, DocumentText, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::attachment_read::SLATE;

pub(crate) struct FetchTool;

/// Read a note or document found with `search`.
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
        reasons: &[ReasonKind::NoteMissing, ReasonKind::AttachmentUnreadable],
        words: "fetch read a search result, for ChatGPT connectors and deep research",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        // By any name, because models shorten the ids that they were given.
        let NamedFile { path, file, .. } = naming::find(context, view, &input.id)?;
        context.check()?;
        // A text is itself; of other documents there is only what was read out of them.
        let (text, tags) = match DocumentKind::of(&path).filter(|kind| !kind.is_text()) {
            Some(kind) => {
                let document = reading::document_text(context, view, &path, &file, kind)?;
                (by_parts(&document, context.budget.reply_bytes() / 2), String::new())
            }
            None => {
                let shown = reading::show(&path, &file)?;
                (shown.text().to_owned(), tags::of_note(&shown.tagged()).join(", "))
            }
        };
        let metadata =
            FetchedMetadata { content_hash: file.hash().to_string(), modified: file.modified.map(iso), tags };
        Ok(Output {
            title: naming::title(&path).to_owned(),
            text,
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
                says: "A document, by pages",
                before: &[("Slate.pdf", SLATE)],
                input: json!({ "id": "Slate.pdf" }),
                gives: ExampleResult::Including(json!({ "text": "[page 1]\nSlate lasts a century.\n" })),
                after: &[("Slate.pdf", SLATE)],
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

/// The text of a document with the numbers of its pages, as much as fits.
fn by_parts(document: &DocumentText, most: usize) -> String {
    let mut text = String::new();
    for part in &document.parts {
        let label = part.label.as_ref().map_or(String::new(), |label| format!(" {label}"));
        let part = format!("[{} {}{label}]\n{}\n", document.kind.part_name(), part.number, part.text);
        let room = most.saturating_sub(text.len());
        if part.len() > room {
            text += &part[..part.floor_char_boundary(room)];
            text += "\n[The rest is left out.]\n";
            break;
        }
        text += &part;
    }
    text
}
