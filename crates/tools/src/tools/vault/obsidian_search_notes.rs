//! Searches notes by query, words or rule.

mod by_plugin;
mod dataview;
mod hits;
mod logic;
mod ranked;
mod text;

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, WireFamily, fence::fenced,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    cursor::PageCursor,
    folder_words::{self, FolderDescriber, FolderWords},
    index,
    query_text::shown_query,
};
use lapidary_vault::{RankedBy, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::hits::{HitPage, RANKED_HITS, SearchHit, WITH_TEXT, fitting, ranked_lines};
use crate::tools::read::attachment_read::SLATE;

pub(crate) struct ObsidianSearchNotes;

/// Search notes and documents: `hybrid` ranks by words and meaning (also `"phrase"`, `-not`, `OR`, `path:`, `page:3`,
/// `tag:`, `[property:value]`, `line:(…)`), `omnisearch` by words, `semantic` by meaning; `text` finds words; `jsonlogic`
/// tests a rule; `dataview` runs DQL.
///
/// A rule sees `path`, `content`, `frontmatter.<key>`, `tags` (without `#`), `stat.mtime|ctime|size`, `links`,
/// `backlinks`, `unresolvedLinks`, and `{"glob": ["Projects/*", {"var": "path"}]}`, `regexp`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Mode.
    #[serde(default)]
    mode: SearchMode,
    /// Not for `jsonlogic`.
    #[serde(default)]
    query: Option<String>,
    /// About three other ways to say it.
    #[serde(default)]
    alternatives: Option<Vec<String>>,
    /// A rule.
    #[serde(default)]
    logic: Option<Map<String, Value>>,
    /// Characters around a match.
    #[serde(default = "context_length")]
    #[schemars(range(min = 1), extend("x-rare" = true))]
    context_length: usize,
    /// For `text`: only paths with this prefix.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    path_prefix: Option<String>,
    /// Matches per note.
    #[serde(default)]
    #[schemars(range(min = 1), extend("default" = 10, "x-rare" = true))]
    max_matches_per_hit: Option<usize>,
    /// `plugin` ranks by Omnisearch in the running app.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    engine: SearchEngine,
    /// Explain the ranking.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    explain: bool,
    /// `nextCursor` of the previous page.
    #[serde(default)]
    cursor: Option<String>,
}

fn context_length() -> usize {
    100
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum SearchMode {
    Text,
    Jsonlogic,
    Omnisearch,
    Dataview,
    #[default]
    Hybrid,
    Semantic,
}

/// Who ranks.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum SearchEngine {
    #[default]
    Own,
    Plugin,
}

impl SearchMode {
    fn name(self) -> &'static str {
        match self {
            Self::Omnisearch => "omnisearch",
            Self::Text => "text",
            Self::Jsonlogic => "jsonlogic",
            Self::Dataview => "dataview",
            Self::Hybrid => "hybrid",
            Self::Semantic => "semantic",
        }
    }

    /// How it ranks, if it does.
    fn ranks_by(self) -> Option<RankedBy> {
        match self {
            Self::Omnisearch => Some(RankedBy::Words),
            Self::Hybrid => Some(RankedBy::Hybrid),
            Self::Semantic => Some(RankedBy::Meaning),
            Self::Text | Self::Jsonlogic | Self::Dataview => None,
        }
    }

    fn of(by: RankedBy) -> Self {
        match by {
            RankedBy::Words => Self::Omnisearch,
            RankedBy::Hybrid => Self::Hybrid,
            RankedBy::Meaning => Self::Semantic,
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    result: HitPage,
    #[serde(skip_serializing_if = "Option::is_none")]
    effective_query: Option<String>,
    // What the folders of the hits are for, on the first page.
    #[serde(skip_serializing_if = "FolderWords::is_empty")]
    #[schemars(with = "Map<String, Value>")]
    folders: FolderWords,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Folders that are described for a page of hits.
const MOST_DESCRIBED: usize = 2;
const MAX_CONTEXT: usize = 5_000;

impl ReadTool for ObsidianSearchNotes {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_search_notes",
        dotted: None,
        title: "Obsidian Search Notes",
        family: WireFamily::Obsidian,
        group: ToolGroup::Vault,
        listed: true,
        idempotent: true,
        paths: &[],
        reasons: &[
            ReasonKind::PathPrefixInvalidMode,
            ReasonKind::QueryRequired,
            ReasonKind::LogicRequired,
            ReasonKind::LogicInvalid,
            ReasonKind::QueryInvalid,
            ReasonKind::QueryFailed,
            ReasonKind::QueryTooLarge,
            ReasonKind::ContextLengthTooLarge,
            ReasonKind::OmnisearchUnreachable,
            ReasonKind::MeaningNotReady,
        ],
        words: "search find words in all notes, full text, query by property tag date link, filter notes, which notes mention",
    };
    const SEARCHES_BY: &[&str] = &["query"];
    const TEXTS: &'static [TextArgument] = &[
        TextArgument::new("/query", TextLanguage::Plain).when("mode", "text"),
        TextArgument::new("/query", TextLanguage::Query).when("mode", "dataview"),
        TextArgument::new("/query", TextLanguage::Search),
        TextArgument::new("/alternatives/*", TextLanguage::Search),
        TextArgument::new("/logic", TextLanguage::Logic),
        TextArgument::new("/pathPrefix", TextLanguage::Path),
    ];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        // A rule without a mode implies the mode.
        let is_rule = input.mode.ranks_by().is_some() && input.query.is_none() && input.logic.is_some();
        let mode = match input.mode {
            _ if is_rule => SearchMode::Jsonlogic,
            SearchMode::Hybrid if input.engine == SearchEngine::Plugin => SearchMode::Omnisearch,
            mode => mode,
        };
        if input.context_length > MAX_CONTEXT {
            return Err(Reason::ContextLengthTooLarge { given: input.context_length, limit: MAX_CONTEXT });
        }
        let cursor = match input.cursor.as_deref() {
            // A ranked page is shorter: the best hits come first.
            None if mode.ranks_by().is_some() && !context.in_steps => PageCursor { offset: 0, limit: RANKED_HITS },
            given => PageCursor::asked(context, given, PageCursor::LONGEST_PAGE)?,
        };
        // An argument that the mode does not know is refused, as ignoring it would find too much.
        if mode != SearchMode::Text && input.path_prefix.is_some() {
            return Err(Reason::PathPrefixInvalidMode { mode: mode.name() });
        }
        if mode != SearchMode::Omnisearch && input.engine == SearchEngine::Plugin {
            let problem = "can be `plugin` only with the mode `omnisearch`";
            return Err(Reason::bad_argument(Self::DECLARATION.name, "engine", problem));
        }
        // Blank counts as missing.
        let query = input.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
        let required = || Reason::QueryRequired { mode: mode.name() };
        let (mut notice, mut truncated, mut ranked_as, mut is_early) = (None, None, mode, false);
        let (total_count, hits) = match mode {
            SearchMode::Jsonlogic => {
                let rule = input.logic.as_ref().ok_or(Reason::LogicRequired { mode: mode.name() })?;
                logic::search(context, view, rule, cursor)?
            }
            SearchMode::Dataview => dataview::search(context, view, query.ok_or_else(required)?, cursor, &mut notice)?,
            SearchMode::Text => text::search(context, view, query.ok_or_else(required)?, &input, cursor)?,
            SearchMode::Omnisearch | SearchMode::Hybrid | SearchMode::Semantic => {
                let query = query.ok_or_else(required)?;
                let by = mode.ranks_by().unwrap_or_default();
                let answer = match input.engine {
                    SearchEngine::Own => ranked::search(context, view, query, by, &input, cursor)?,
                    SearchEngine::Plugin => by_plugin::search(context, view, query, cursor)?,
                };
                (notice, truncated, ranked_as) = (answer.notice, Some(answer.truncated), SearchMode::of(answer.by));
                is_early = answer.is_early;
                (answer.total, answer.hits)
            }
        };
        // Cut to the size of a page only here, where all modes have the same shape.
        let (hits, fewer) = fitting(hits, input.max_matches_per_hit, cursor.limit);
        if let Some(shown) = fewer {
            let matches = if shown == 1 { "One match".to_owned() } else { format!("Up to {shown} matches") };
            notice = Some(format!("{matches} per note; `maxMatchesPerHit` shows more."));
        }
        // From what is shown, not from the limit: hits that did not fit come on the next page.
        let end = cursor.offset.saturating_add(hits.len());
        let next_cursor =
            (end < total_count && !hits.is_empty()).then(|| PageCursor { offset: end, ..cursor }.written());
        // That it was only a scan is always reported: a later search may find more.
        let notice = match notice {
            // What is found by meaning is not known yet.
            Some(said) if total_count == 0 && is_early => Some(format!("{said} No note has the words.")),
            Some(said) if total_count == 0 => Some(format!("{said} No note matches.")),
            _ if hits.is_empty() => Some(nothing(mode, total_count, cursor)),
            notice => notice,
        };
        let effective_query = query.filter(|_| mode != SearchMode::Jsonlogic).map(shown_query);
        let folders = if mode.ranks_by().is_some() && cursor.offset == 0 && !hits.is_empty() {
            let paths: Vec<VaultPath> =
                hits.iter().take(WITH_TEXT).filter_map(|hit| VaultPath::parse(hit.filename()).ok()).collect();
            let files = index::files(context, view)?;
            FolderDescriber::new(context, view, files).above_files(&paths, MOST_DESCRIBED)?
        } else {
            FolderWords::new()
        };
        let result = HitPage { mode: ranked_as, hits, total_count, next_cursor, truncated };
        Ok(Output { result, effective_query, folders, notice })
    }

    fn text(&self, Output { result, folders, .. }: &Output) -> Option<String> {
        let mut text = format!(
            "**Search ({}) — {} on this page · {} total**",
            result.mode.name(),
            result.hits.len(),
            result.total_count
        );
        if let Some(cursor) = &result.next_cursor {
            text += &format!("\n_Next page cursor: `{cursor}`_");
        }
        text.extend(result.hits.iter().map(SearchHit::markdown));
        let ranked = ranked_lines(&result.hits);
        // Names alone need no frame.
        if ranked.contains("\n  ") {
            text += &format!("\n{}", fenced(&ranked));
        } else if !ranked.is_empty() {
            text += &format!("\n{}", ranked.trim_end());
        }
        text.extend(folders.iter().map(|folder| format!("\n{}", folder_words::sentence(folder))));
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Plan.md", "---\nstatus: open\n---\nSlates for the roof.\n"),
            ("Projects/Roof.md", "---\nstatus: done\n---\n[[Plan]] #house\n"),
        ];
        vec![
            Example {
                says: "The best notes for a query with typos",
                before: NOTES,
                input: json!({ "query": "slaets [status:open]", "contextLength": 8 }),
                gives: ExampleResult::Including(json!({
                    "result": {
                        "mode": "hybrid",
                        "hits": [{
                            "filename": "Plan.md",
                            "basename": "Plan",
                            "foundWords": ["slates"],
                            "matches": [{ "match": "Slates", "offset": 21 }],
                            "excerpt": "Slates for",
                        }],
                        "totalCount": 1,
                        "truncated": false,
                    },
                    "effectiveQuery": "slaets [status:open]",
                    "notice": "No note contains `slaets`; searched for `slates`.",
                })),
                after: &[],
            },
            Example {
                says: "The same in other words",
                before: NOTES,
                input: json!({ "query": "covering of a building", "alternatives": ["roof", "slates"], "explain": true }),
                gives: ExampleResult::Including(json!({ "result": {
                    "hits": [{ "filename": "Plan.md" }, { "filename": "Projects/Roof.md" }], "totalCount": 2,
                } })),
                after: &[],
            },
            Example {
                says: "By meaning: none of the words is in the note",
                before: NOTES,
                input: json!({ "mode": "semantic", "query": "tiles covering a house path:Plan" }),
                gives: ExampleResult::Including(json!({ "result": {
                    "mode": "semantic", "hits": [{ "filename": "Plan.md", "excerpt": "Slates for the roof." }],
                } })),
                after: &[],
            },
            Example {
                says: "A page of a document",
                before: &[("Plan.md", "Slates for the roof.\n"), ("Files/Slate.pdf", SLATE)],
                input: json!({ "query": "century ext:pdf page:1-2" }),
                gives: ExampleResult::Including(json!({ "result": { "hits": [{
                    "filename": "Files/Slate.pdf", "page": 1, "excerpt": "Slate lasts a century.",
                }], "totalCount": 1 } })),
                after: &[("Plan.md", "Slates for the roof.\n"), ("Files/Slate.pdf", SLATE)],
            },
            Example {
                says: "The order of the plugin Omnisearch, while Obsidian runs",
                before: NOTES,
                input: json!({ "query": "slates", "engine": "plugin" }),
                gives: ExampleResult::Including(json!({ "result": {
                    "mode": "omnisearch", "hits": [{ "filename": "Plan.md", "score": 1.0, "foundWords": ["slates"] }],
                } }))
                .with_app(),
                after: &[],
            },
            Example {
                says: "Words that all occur, in the text or the name",
                before: NOTES,
                input: json!({ "mode": "text", "query": "ROOF slates", "contextLength": 8 }),
                gives: ExampleResult::Output(json!({
                    "result": {
                        "mode": "text",
                        "hits": [{
                            "filename": "Plan.md",
                            "matches": [
                                {
                                    "context": "pen\n---\nSlates for the",
                                    "match": { "start": 21, "end": 27, "contextStart": 8, "contextEnd": 14 },
                                },
                                {
                                    "context": "for the roof.\n",
                                    "match": { "start": 36, "end": 40, "contextStart": 8, "contextEnd": 12 },
                                },
                            ],
                        }],
                        "totalCount": 1,
                    },
                    "effectiveQuery": "ROOF slates",
                })),
                after: &[],
            },
            Example {
                says: "Notes below a folder with a property",
                before: NOTES,
                input: json!({ "mode": "jsonlogic", "logic": { "and": [
                    { "glob": ["Projects/*", { "var": "path" }] },
                    { "==": [{ "var": "frontmatter.status" }, "done"] },
                ] } }),
                gives: ExampleResult::Output(json!({ "result": {
                    "mode": "jsonlogic",
                    "hits": [{ "filename": "Projects/Roof.md", "result": true }],
                    "totalCount": 1,
                } })),
                after: &[],
            },
            Example {
                says: "Notes that link to a note",
                before: NOTES,
                input: json!({ "mode": "jsonlogic", "logic": { "in": ["Plan.md", { "var": "links" }] } }),
                gives: ExampleResult::Including(json!({ "result": { "hits": [{ "filename": "Projects/Roof.md" }] } })),
                after: &[],
            },
            Example {
                says: "A table by Dataview",
                before: NOTES,
                input: json!({ "mode": "dataview", "query": "TABLE status FROM #house" }),
                gives: ExampleResult::Output(json!({
                    "result": {
                        "mode": "dataview",
                        "hits": [{ "filename": "Projects/Roof.md", "result": { "status": "done" } }],
                        "totalCount": 1,
                    },
                    "effectiveQuery": "TABLE status FROM #house",
                })),
                after: &[],
            },
            Example {
                says: "Properties that are not a rule",
                before: NOTES,
                input: json!({ "logic": { "tags": "house", "status": "done" } }),
                gives: ExampleResult::Refusal(ReasonKind::LogicInvalid),
                after: &[],
            },
            Example {
                says: "Omnisearch, while Obsidian does not run",
                before: NOTES,
                input: json!({ "query": "slates", "engine": "plugin" }),
                gives: ExampleResult::Refusal(ReasonKind::OmnisearchUnreachable),
                after: &[],
            },
            Example {
                says: "An operator that does not exist",
                before: NOTES,
                input: json!({ "mode": "jsonlogic", "logic": { "equals": [1, 1] } }),
                gives: ExampleResult::Refusal(ReasonKind::LogicInvalid),
                after: &[],
            },
        ]
    }
}

fn nothing(mode: SearchMode, total: usize, cursor: PageCursor) -> String {
    match mode {
        _ if total > 0 => {
            format!("There are {total} hits, and none from number {} on.", cursor.offset.saturating_add(1))
        }
        SearchMode::Omnisearch | SearchMode::Hybrid | SearchMode::Semantic => {
            "No note matches. Try other words, or fewer conditions.".to_owned()
        }
        SearchMode::Text => "No matches. Every word must occur; try fewer or shorter ones.".to_owned(),
        SearchMode::Jsonlogic => "No note matches the rule.".to_owned(),
        SearchMode::Dataview => "The query has no rows.".to_owned(),
    }
}
