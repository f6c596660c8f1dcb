//! The search that ChatGPT's connectors expect: one query in, ids, titles and links out.

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, WireFamily,
    uri::{LinkAction, in_app},
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{naming, passages, query_text::check_length};
use lapidary_vault::{PassageSize, RankedNote, RankedPage, RankedQuery, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct SearchTool;

/// Search the notes and documents of the vault. Gives the ids of the best ones; read them with `fetch`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Words, "phrases", -not, OR, path:, tag:, [property:value], as in Obsidian.
    query: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    results: Vec<SearchResult>,
}

#[derive(Serialize, JsonSchema)]
struct SearchResult {
    /// For `fetch`.
    id: String,
    title: String,
    /// Opens the note in Obsidian.
    url: String,
}

/// The pair has no pages: a reader who wants more asks more precisely.
const MOST_RESULTS: usize = 20;

impl ReadTool for SearchTool {
    const DECLARATION: Declaration = Declaration {
        name: "search",
        dotted: None,
        title: "Search",
        family: WireFamily::ChatGpt,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "search find notes about, for ChatGPT connectors and deep research",
    };
    const SEARCHES_BY: &[&str] = &["query"];
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/query", TextLanguage::Search)];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, Input { query }: Input) -> Result<Output, Reason> {
        check_length(Self::DECLARATION.name, &query)?;
        let page = RankedPage {
            offset: 0,
            limit: MOST_RESULTS,
            // No text is shown, so none is looked for.
            size: PassageSize { context: 0, max_matches: 0, pieces: 0 },
            room: usize::MAX,
            takes: |_| 1,
        };
        let found = view
            .ranked(RankedQuery { documents: true, ..RankedQuery::from(query.as_str()) }, page, &|| {
                context.cancel.check().is_ok()
            })
            .map_err(|error| Reason::from_index(&error, context.cancel))?;
        let vault = view.vault_in_obsidian();
        let result = |RankedNote { path, page, .. }: RankedNote| SearchResult {
            title: match page.as_ref().and_then(|page| Some((page, passages::page_number(page)?))) {
                Some((page, number)) => format!("{}, {} {number}", naming::title(&path), page.kind.part_name()),
                None => naming::title(&path).to_owned(),
            },
            url: in_app(LinkAction::Open, &vault, &path),
            id: path.to_string(),
        };
        Ok(Output { results: found.hits.into_iter().map(result).collect() })
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("Stones/Amber.md", "Fossil resin.\n"), ("Log.md", "Rain.\n")];
        vec![
            Example {
                says: "The notes about something",
                before: NOTES,
                input: json!({ "query": "resin" }),
                gives: ExampleResult::Output(json!({ "results": [{
                    "id": "Stones/Amber.md",
                    "title": "Amber",
                    "url": "obsidian://open?vault=test&file=Stones%2FAmber.md",
                }] })),
                after: NOTES,
            },
            Example {
                says: "No note matches",
                before: NOTES,
                input: json!({ "query": "obsidianite" }),
                gives: ExampleResult::Output(json!({ "results": [] })),
                after: NOTES,
            },
            Example {
                says: "No query",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: NOTES,
            },
        ]
    }
}
