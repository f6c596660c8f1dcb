//! Finds passages by what they say.

use std::time::SystemTime;

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    folder::FolderTarget,
    index,
    passages::{self, PassageAnswer, PassageRoom},
    query_text::check_words,
    time::moment,
};
use lapidary_vault::{NoteFilter, RankedBy, RankedQuery, View};
use schemars::JsonSchema;
use serde::Deserialize;
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
        reasons: &[
            ReasonKind::DirectoryMissing,
            ReasonKind::PathIsFile,
            ReasonKind::MeaningNotReady,
            ReasonKind::MeaningOff,
        ],
        words: "semantic search by meaning, similar passages, find paragraphs about a topic in other words, vector embedding search, search in a folder since a date, Suche nach Bedeutung, recherche sémantique, búsqueda semántica, 语义搜索, 意味で検索",
    };
    const SEARCHES_BY: &[&str] = &["query"];
    const TEXTS: &'static [TextArgument] = &[
        TextArgument::new("/query", TextLanguage::Search),
        TextArgument::new("/alternatives/*", TextLanguage::Search),
    ];
    type Input = Input;
    type Output = PassageAnswer;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<PassageAnswer, Reason> {
        let name = Self::DECLARATION.name;
        check_words(name, "query", &input.query, &input.alternatives)?;
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
        Ok(PassageAnswer::of(found))
    }

    fn text(&self, output: &PassageAnswer) -> Option<String> {
        Some(output.text("Nothing like that was found."))
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
