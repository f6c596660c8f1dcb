//! Finds passages by what they say.

use std::time::SystemTime;

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, quote::Prose,
};
use lapidary_toolkit::{
    folder::FolderTarget,
    index,
    passages::{self, FoundPassage, PassageRoom},
    query_text::{LONGEST_QUERY, check_length},
    time::moment,
};
use lapidary_vault::{NoteFilter, RankedBy, RankedQuery, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct SemanticSearch;

/// Find passages by meaning, also if they have none of the words: the best pieces of the best notes.
///
/// Operators such as `path:`, `tag:`, `"phrase"` and `-not` hold too.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// A question, or what it is about.
    query: String,
    /// Other words for the same.
    #[serde(default)]
    alternatives: Vec<String>,
    /// Only in this folder.
    #[serde(default)]
    folder: Option<String>,
    /// Only notes with all of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// Only notes changed since: `today`, `7d`, `2026-11-16`.
    #[serde(default)]
    since: Option<String>,
    /// About as much text as this.
    #[serde(default = "max_bytes")]
    #[schemars(range(min = 500, max = 50_000))]
    max_bytes: usize,
}

fn max_bytes() -> usize {
    4_000
}

/// Notes that are looked into.
const MOST_NOTES: usize = 30;
const PIECES_PER_NOTE: usize = 2;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    passages: Vec<FoundPassage>,
    /// Further notes that fit.
    left: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl ReadTool for SemanticSearch {
    const DECLARATION: Declaration = Declaration {
        name: "semantic_search",
        dotted: None,
        title: "Search by meaning",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/folder", role: PathRole::List }],
        reasons: &[ReasonKind::DirectoryMissing, ReasonKind::MeaningNotReady, ReasonKind::MeaningOff],
        words: "semantic search by meaning, similar passages, find paragraphs about a topic in other words, vector embedding search, search in a folder since a date, Suche nach Bedeutung, recherche sémantique, búsqueda semántica, 语义搜索, 意味で検索",
    };
    const SEARCHES_BY: &[&str] = &["query"];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let name = Self::DECLARATION.name;
        check_length(name, &input.query)?;
        if input.alternatives.iter().map(|text| text.len() + 1).sum::<usize>() > LONGEST_QUERY {
            let problem = Prose::ours(format_args!("have more than {LONGEST_QUERY} bytes"));
            return Err(Reason::bad_argument(name, "alternatives", problem));
        }
        let since = input.since.as_deref().map(|since| {
            let problem = "must be `today`, `yesterday`, a span such as `2h` or `7d`, or a date";
            moment(since, &context.now).ok_or_else(|| Reason::bad_argument(name, "since", problem))
        });
        let since = since.transpose()?.map(SystemTime::from);
        let folder = FolderTarget::chosen(view, index::files(context, view)?, input.folder.as_deref())?;
        let filter = NoteFilter { folder: folder.as_ref(), tags: &input.tags, since };
        let query = RankedQuery { text: &input.query, alternatives: &input.alternatives, filter, documents: true };
        let room = PassageRoom { bytes: input.max_bytes, notes: MOST_NOTES, pieces_per_note: PIECES_PER_NOTE };
        let found = passages::find(context, view, RankedBy::Meaning, query, room)?;
        let notice = passages::notice(&found);
        Ok(Output { passages: found.passages, left: found.left, notice })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { passages, left, notice } = output;
        let mut text = notice.clone().map(|notice| notice + "\n").unwrap_or_default();
        if passages.is_empty() {
            return Some(text + "Nothing like that was found.");
        }
        text += &passages::text(passages);
        if *left > 0 {
            text += &format!("\n{} more", counted(*left, "note"));
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("House/Boiler.md", "# Winter\nThe heating loses pressure. Open the valve and bleed the radiators.\n"),
            ("Food/Bread.md", "Flour, water and yeast make a dough. #baking\n"),
            ("Work/Pay.md", "The salary arrives at the end of the month.\n"),
        ];
        vec![
            Example {
                says: "A passage that has none of the words",
                before: NOTES,
                input: json!({ "query": "the flat is cold", "folder": "House" }),
                gives: ExampleResult::Including(json!({ "passages": [{
                    "path": "House/Boiler.md", "section": "Winter", "line": 2,
                    "text": "The heating loses pressure. Open the valve and bleed the radiators.",
                }] })),
                after: &[],
            },
            Example {
                says: "Only notes with a tag, in a folder",
                before: NOTES,
                input: json!({ "query": "how to bake a loaf", "tags": ["baking"], "folder": "Food" }),
                gives: ExampleResult::Including(json!({ "passages": [{ "path": "Food/Bread.md" }], "left": 0 })),
                after: &[],
            },
            Example {
                says: "A folder that does not exist",
                before: NOTES,
                input: json!({ "query": "wages", "folder": "Nowhere" }),
                gives: ExampleResult::Refusal(ReasonKind::DirectoryMissing),
                after: &[],
            },
        ]
    }
}
