//! Which sources wait.

use std::collections::BTreeMap;

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily,
    fence::fenced,
    quote::{one_line, quoted},
};
use lapidary_toolkit::{
    index,
    page::{self, ListingInput},
    sources::{self, SourceNote},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct SourcesList;

/// Source notes by status, those that wait longest first. A source is passed on by setting its property `status`.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// `inbox` is what waits to be looked at; `all` for every status.
    #[serde(default = "inbox")]
    status: String,
    #[serde(flatten)]
    listing: ListingInput,
}

/// How many are shown unless the caller says otherwise.
const USUAL: usize = 30;

fn inbox() -> String {
    sources::INBOX.to_owned()
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    sources: Vec<ListedSource>,
    /// With this status.
    total: usize,
    /// How many sources have each status.
    statuses: Vec<StatusCount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct StatusCount {
    status: String,
    count: usize,
}

#[derive(Serialize, JsonSchema)]
struct ListedSource {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ingested: Option<String>,
}

/// For counting; more kinds of status are not a triage.
const MOST_STATUSES: usize = 50;
const EVERY: &str = "all";

impl ReadTool for SourcesList {
    const DECLARATION: Declaration = Declaration {
        name: "sources_list",
        dotted: None,
        title: "Sources that wait",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/folder", role: PathRole::List }],
        reasons: &[ReasonKind::DirectoryMissing],
        words: "reading list, what is left to read, sources in the inbox, triage, unread articles, literature, Leseliste ungelesene Quellen, liste de lecture, lista de lectura, 待读 阅读清单, 未読の記事",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let folder = input.listing.folder(view, index::notes(context, view)?)?;
        let mut found = sources::all(context, view)?;
        found.retain(|source| folder.as_ref().is_none_or(|folder| source.path.is_within(folder)));
        let mut statuses: BTreeMap<String, usize> = BTreeMap::new();
        for source in &found {
            let status = source.property(sources::STATUS).unwrap_or_default().to_lowercase();
            if statuses.len() < MOST_STATUSES || statuses.contains_key(&status) {
                *statuses.entry(status).or_insert(0) += 1;
            }
        }
        let wanted = input.status.trim().to_lowercase();
        found.retain(|source| {
            wanted == EVERY || source.property(sources::STATUS).unwrap_or_default().to_lowercase() == wanted
        });
        // In path order among equals, because the sort is stable. Those without a date are the oldest.
        found.sort_by(|one, other| one.property(sources::INGESTED).cmp(&other.property(sources::INGESTED)));
        let (page, next_cursor) = input.listing.page(found, USUAL)?;
        let sources = page.items.iter().map(|source| listed(source, wanted == EVERY)).collect();
        let statuses = statuses.into_iter().map(|(status, count)| StatusCount { status, count }).collect();
        Ok(Output { sources, total: page.total, statuses, next_cursor })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { sources, total, statuses, next_cursor } = output;
        let each: Vec<String> =
            statuses.iter().map(|StatusCount { status, count }| format!("{} {count}", quoted(status))).collect();
        let mut text = counted(*total, "source").to_string();
        if !each.is_empty() {
            text += &format!(" (by status: {})", each.join(", "));
        }
        let line = |source: &ListedSource| {
            let parts = [&source.ingested, &source.status, &source.author, &source.source];
            let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
            let facts = if parts.is_empty() { String::new() } else { format!(" · {}", parts.join(" · ")) };
            one_line(&format!("{}{facts}", source.path)).into_owned() + "\n"
        };
        let lines: String = sources.iter().map(line).collect();
        if !lines.is_empty() {
            text += &format!("\n{}", fenced(&lines));
        }
        text += &page::more(next_cursor.as_deref());
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Sources/Slate.md", "---\nsource: https://a.example\nstatus: inbox\ningested: 2026-04-02\n---\n"),
            ("Sources/Tile.md", "---\nstatus: inbox\ningested: 2026-04-01\n---\n"),
            ("Done/Clay.md", "---\nstatus: read\nsource_hash: sha256:0\n---\n"),
            ("Plan.md", "---\nstatus: inbox\n---\n"),
        ];
        vec![
            Example {
                says: "What waits longest comes first",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Output(json!({
                    "sources": [
                        { "path": "Sources/Tile.md", "ingested": "2026-04-01" },
                        { "path": "Sources/Slate.md", "source": "https://a.example", "ingested": "2026-04-02" },
                    ],
                    "total": 2,
                    "statuses": [{ "status": "inbox", "count": 2 }, { "status": "read", "count": 1 }],
                })),
                after: &[],
            },
            Example {
                says: "All of them, also where they were filed",
                before: NOTES,
                input: json!({ "status": "all", "limit": 1 }),
                gives: ExampleResult::Including(json!({
                    "sources": [{ "path": "Done/Clay.md", "status": "read" }], "total": 3,
                })),
                after: &[],
            },
            Example {
                says: "A folder that does not exist",
                before: NOTES,
                input: json!({ "folder": "Papers" }),
                gives: ExampleResult::Refusal(ReasonKind::DirectoryMissing),
                after: &[],
            },
            Example {
                says: "An invalid cursor",
                before: NOTES,
                input: json!({ "cursor": "next" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

/// The status only where it differs from what was asked for.
fn listed(source: &SourceNote, with_status: bool) -> ListedSource {
    let property = |name: &str| source.property(name).map(str::to_owned);
    ListedSource {
        path: source.path.to_string(),
        status: property(sources::STATUS).filter(|_| with_status),
        source: property(sources::SOURCE),
        author: property(sources::AUTHOR),
        ingested: property(sources::INGESTED),
    }
}
