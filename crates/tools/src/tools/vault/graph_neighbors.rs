//! Which notes are around a note, along links.

use lapidary_note::{counted, is_tag_within};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, fence::fenced, quote::quoted,
};
use lapidary_toolkit::{
    link_walk::{LinkWalk, ReachedNote, WalkDirection},
    naming,
    page::{self, ListingInput},
};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct GraphNeighbors;

/// The notes and canvases around a note, up to some links away, nearest and best connected first.
///
/// Links in properties, embeds and cards of canvases count. `folder` and `tag` choose what is shown, not the way there.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Path or name of the note.
    file: String,
    /// How many links away.
    #[serde(default = "hops")]
    #[schemars(range(min = 1, max = 5))]
    hops: usize,
    /// Which links to follow.
    #[serde(default)]
    direction: WalkDirection,
    /// Only notes with this tag or one below it.
    #[serde(default)]
    tag: Option<String>,
    #[serde(flatten)]
    listing: ListingInput,
}

/// How many are shown unless the caller says otherwise.
const USUAL: usize = 30;

fn hops() -> usize {
    1
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    neighbors: Vec<NeighborNote>,
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct NeighborNote {
    path: String,
    hops: usize,
    /// `out`, `in` or `both`, if it is one link away.
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<&'static str>,
    #[serde(skip)]
    arrow: Option<char>,
    /// The note before it, if it is more than one link away.
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<String>,
}

impl ReadTool for GraphNeighbors {
    const DECLARATION: Declaration = Declaration {
        name: "graph_neighbors",
        dotted: None,
        title: "Notes around a note",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[
            PathArgument { pointer: "/file", role: PathRole::Read },
            PathArgument { pointer: "/folder", role: PathRole::List },
        ],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::DirectoryMissing],
        words: "graph neighbours neighbors around a note, two hops, connected notes, links of links, local graph, network, surroundings, Umgebung, voisins, vecinos, 邻居, 周辺",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let walk = LinkWalk::new(context, view)?;
        let start = start(context, view, &walk, &input.file)?;
        let folder = input.listing.folder(view, walk.notes())?;
        // The walk is along all links; only what it reached is filtered.
        let walked = walk.around(context, start, input.hops, input.direction)?;
        // Tags are compared in any case, as Obsidian does.
        let tag = input.tag.as_deref().map(|tag| tag.trim_start_matches('#').to_lowercase());
        let has_tag = |path: &VaultPath, tag: &str| {
            let mut tags = walk.notes().digest(path).into_iter().flat_map(|digest| digest.tags());
            tags.any(|found| is_tag_within(found.name, tag))
        };
        let is_wanted = |note: &ReachedNote<'_>| {
            folder.as_ref().is_none_or(|folder| note.path.is_within(folder))
                && tag.as_deref().is_none_or(|tag| has_tag(note.path, tag))
        };
        let found: Vec<ReachedNote<'_>> = walked.reached.into_iter().filter(is_wanted).collect();
        // After the filter, so that the total counts only what is shown.
        let (page, next_cursor) = input.listing.page(found, USUAL)?;
        let neighbor = |note: ReachedNote<'_>| NeighborNote {
            path: note.path.to_string(),
            hops: note.hops,
            direction: note.direction.map(WalkDirection::name),
            arrow: note.direction.map(WalkDirection::arrow),
            // Directly linked notes need no explanation.
            via: (note.hops > 1).then(|| note.via.to_string()),
        };
        let notice = walked.is_cut.then(|| "There are more: the walk ended after 20,000 notes.".to_owned());
        Ok(Output {
            path: start.to_string(),
            neighbors: page.items.into_iter().map(neighbor).collect(),
            total: page.total,
            next_cursor,
            notice,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, neighbors, total, next_cursor, .. } = output;
        let line = |note: &NeighborNote| {
            let via = note.via.as_ref().map_or(String::new(), |via| format!(" via {via}"));
            let arrow = note.arrow.map_or(String::new(), |arrow| format!("{arrow} "));
            format!("{} {arrow}{}{via}\n", note.hops, note.path)
        };
        let lines: String = neighbors.iter().map(line).collect();
        let mut text = format!("{}: {} around it", quoted(path), counted(*total, "note"));
        if !lines.is_empty() {
            text += &format!(" (links away, direction, path)\n{}", fenced(&lines));
        }
        text += &page::more(next_cursor.as_deref());
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Plan.md", "---\nup: \"[[Home]]\"\n---\nAsk [[Ana]].\n"),
            ("Home.md", "Start.\n"),
            ("People/Ana.md", "Knows [[Stone]]. #mason\n"),
            ("Stone.md", "Granite. #material\n"),
            (
                "Board.canvas",
                r#"{"nodes":[{"id":"1","type":"file","file":"Plan.md","x":0,"y":0,"width":1,"height":1}]}"#,
            ),
        ];
        vec![
            Example {
                says: "What is linked with a note, in both directions, with properties and canvases",
                before: NOTES,
                input: json!({ "file": "Plan" }),
                gives: ExampleResult::Output(json!({
                    "path": "Plan.md",
                    "neighbors": [
                        { "path": "People/Ana.md", "hops": 1, "direction": "out" },
                        { "path": "Board.canvas", "hops": 1, "direction": "in" },
                        { "path": "Home.md", "hops": 1, "direction": "out" },
                    ],
                    "total": 3,
                })),
                after: &[],
            },
            Example {
                says: "Two links away, in the direction of the links, only with a tag",
                before: NOTES,
                input: json!({ "file": "Plan.md", "hops": 2, "direction": "out", "tag": "#material" }),
                gives: ExampleResult::Output(json!({
                    "path": "Plan.md",
                    "neighbors": [{ "path": "Stone.md", "hops": 2, "via": "People/Ana.md" }],
                    "total": 1,
                })),
                after: &[],
            },
            Example {
                says: "Only those in a folder",
                before: NOTES,
                input: json!({ "file": "Plan.md", "hops": 2, "folder": "People" }),
                gives: ExampleResult::Including(json!({ "neighbors": [{ "path": "People/Ana.md" }], "total": 1 })),
                after: &[],
            },
            Example {
                says: "A note that does not exist",
                before: NOTES,
                input: json!({ "file": "Plans.md" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[],
            },
        ]
    }
}

/// The note or canvas that a caller names, as spelt on disk.
pub(super) fn start<'n>(
    context: &Context<'_>,
    view: &View,
    walk: &LinkWalk<'n>,
    given: &str,
) -> Result<&'n VaultPath, Reason> {
    let path = naming::find(context, view, given)?.path;
    // It may have been made since the vault was listed, or be a file without links.
    walk.find(&path).ok_or(Reason::NoteMissing { path, suggestions: Vec::new() })
}
