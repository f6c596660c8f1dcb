//! Searches the web with the owner's search engine.

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, WireFamily, quote::quoted,
};
use lapidary_toolkit::foreign_text::FOREIGN;
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::web;
use crate::tools::NO_WEB_SEARCH;

pub(crate) struct WebSearch;

/// Search the web.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Words to search for.
    #[schemars(length(min = 1, max = 400))]
    query: String,
    /// How many results.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn limit() -> usize {
    8
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Best first; text of strangers.
    hits: Vec<WebSearchHit>,
}

#[derive(Serialize, JsonSchema)]
struct WebSearchHit {
    title: String,
    url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    excerpt: String,
}

impl ReadTool for WebSearch {
    const DECLARATION: Declaration = Declaration {
        name: "web_search",
        dotted: None,
        title: "Search the web",
        family: WireFamily::Own,
        group: ToolGroup::Web,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[ReasonKind::WebNotAllowed, ReasonKind::WebUnreachable, ReasonKind::WebTimeout],
        words: "search the web internet online, google, find pages websites, im Internet suchen, chercher sur internet, buscar en internet, 搜索网络, ネット検索",
    };
    const SEARCHES_BY: &[&str] = &["query"];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, _: &View, input: Input) -> Result<Output, Reason> {
        let found = web(context, NO_WEB_SEARCH)?.search(&input.query, context.cancel)?;
        let hit =
            |hit: lapidary_operation::WebHit| WebSearchHit { title: hit.title, url: hit.url, excerpt: hit.excerpt };
        Ok(Output { hits: found.into_iter().take(input.limit).map(hit).collect() })
    }

    fn text(&self, output: &Output) -> Option<String> {
        if output.hits.is_empty() {
            return Some("Nothing found on the web.".to_owned());
        }
        let line = |hit: &WebSearchHit| {
            let excerpt = if hit.excerpt.is_empty() { String::new() } else { format!(": {}", quoted(&hit.excerpt)) };
            format!("\n- {} at {}{excerpt}", quoted(&hit.title), quoted(&hit.url))
        };
        let lines: String = output.hits.iter().map(line).collect();
        Some(format!("{}. {FOREIGN}{lines}", counted(output.hits.len(), "result")))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "What the owner's search engine finds",
                before: &[],
                input: json!({ "query": "slate roofs" }),
                gives: ExampleResult::Output(json!({ "hits": [{
                    "title": "Slate roofs", "url": "https://a.example/slate", "excerpt": "Slate lasts a century.",
                }] }))
                .with_web(),
                after: &[],
            },
            Example {
                says: "The owner has named no search engine",
                before: &[],
                input: json!({ "query": "slate roofs" }),
                gives: ExampleResult::Refusal(ReasonKind::ToolDisabled),
                after: &[],
            },
        ]
    }
}
