//! Links that lead nowhere.

use std::collections::BTreeMap;

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, fence::fenced, quote::one_line,
};
use lapidary_toolkit::{
    index,
    page::{self, ListingInput},
    unresolved::KnownTargets,
    vault_links::VaultLinks,
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct LinksUnresolved;

/// The links of the vault that lead nowhere, by target, the most used first, each with the nearest existing file.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    listing: ListingInput,
}

/// How many are shown unless the caller says otherwise.
const USUAL: usize = 30;

/// Places that are shown of a target.
const MOST_PLACES: usize = 3;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    targets: Vec<UnresolvedTarget>,
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct UnresolvedTarget {
    target: String,
    /// Links to it.
    count: usize,
    /// The first ones, as `path:line`.
    places: Vec<String>,
    /// The file that was probably meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<String>,
}

impl ReadTool for LinksUnresolved {
    const DECLARATION: Declaration = Declaration {
        name: "links_unresolved",
        dotted: None,
        title: "Links that lead nowhere",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/folder", role: PathRole::List }],
        reasons: &[ReasonKind::DirectoryMissing],
        words: "broken links dead links unresolved links, links that lead nowhere, missing notes, links to notes that do not exist, tote kaputte Links, liens cassés morts, enlaces rotos, 失效链接, 断链, リンク切れ",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let notes = index::notes(context, view)?;
        let folder = input.listing.folder(view, notes)?;
        let links = VaultLinks::of(context, notes)?;
        let mut targets: BTreeMap<String, UnresolvedTarget> = BTreeMap::new();
        for link in &links.unresolved {
            let Some(source) = links.path(link.source) else { continue };
            // By the note that has the link: where it should lead is unknown.
            if folder.as_ref().is_some_and(|folder| !source.is_within(folder)) {
                continue;
            }
            let new =
                || UnresolvedTarget { target: link.target.to_string(), count: 0, places: Vec::new(), nearest: None };
            // Obsidian would create one note for all spellings.
            let target = targets.entry(link.target.to_lowercase()).or_insert_with(new);
            target.count += 1;
            if target.places.len() < MOST_PLACES {
                target.places.push(format!("{source}:{}", link.line));
            }
        }
        let mut targets: Vec<UnresolvedTarget> = targets.into_values().collect();
        // By name among equals, because the sort is stable.
        targets.sort_by_key(|target| std::cmp::Reverse(target.count));
        let (mut page, next_cursor) = input.listing.page(targets, USUAL)?;
        // Only for the page: comparing names with all files of a vault takes a while.
        let known = KnownTargets::of(notes);
        for target in &mut page.items {
            context.check()?;
            target.nearest = known.nearest(&target.target).map(ToString::to_string);
        }
        Ok(Output { targets: page.items, total: page.total, next_cursor })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { targets, total, next_cursor } = output;
        let line = |target: &UnresolvedTarget| {
            let nearest = target.nearest.as_ref().map_or(String::new(), |nearest| format!(" → {nearest}?"));
            let more = if target.count > target.places.len() { ", …" } else { "" };
            let line = format!("{}× {} in {}{more}{nearest}", target.count, target.target, target.places.join(", "));
            one_line(&line).into_owned() + "\n"
        };
        let lines: String = targets.iter().map(line).collect();
        let mut text = format!("{} that no file has", counted(*total, "link target"));
        if !lines.is_empty() {
            text += &format!("\n{}", fenced(&lines));
        }
        text += &page::more(next_cursor.as_deref());
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Plan.md", "[[Stones]] and [[Nowhere]], see ![[plan.png]]\n"),
            ("Log.md", "---\nup: \"[[stones]]\"\n---\n[[Plan]]\n"),
            ("Stone.md", "---\naliases: [Pebble]\n---\n"),
            ("Books/List.md", "On [[Pebble]].\n"),
        ];
        vec![
            Example {
                says: "The most used first, with what was probably meant",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Output(json!({
                    "targets": [
                        { "target": "stones", "count": 2, "places": ["Log.md:2", "Plan.md:1"], "nearest": "Stone.md" },
                        { "target": "Nowhere", "count": 1, "places": ["Plan.md:1"] },
                        { "target": "Pebble", "count": 1, "places": ["Books/List.md:1"], "nearest": "Stone.md" },
                        { "target": "plan.png", "count": 1, "places": ["Plan.md:1"] },
                    ],
                    "total": 4,
                })),
                after: &[],
            },
            Example {
                says: "Of one folder",
                before: NOTES,
                input: json!({ "folder": "Books" }),
                gives: ExampleResult::Including(json!({ "targets": [{ "target": "Pebble" }], "total": 1 })),
                after: &[],
            },
            Example {
                says: "A folder that does not exist",
                before: NOTES,
                input: json!({ "folder": "Book" }),
                gives: ExampleResult::Refusal(ReasonKind::DirectoryMissing),
                after: &[],
            },
        ]
    }
}
