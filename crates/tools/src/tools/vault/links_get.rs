use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, Declaration, Example, Family, Gives, Group, Kind, PathArgument, ReadTool, Reason, Role,
};
use lapidary_toolkit::{
    index,
    link::{self, OutLink, out_links},
    naming,
    page::Page,
    reading,
};
use lapidary_vault::{Notes, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct LinksGet;

/// The links of a note and the links to it (backlinks), resolved as Obsidian resolves them.
///
/// Works for attachments too: their backlinks are the notes that use them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Path in the vault, e.g. `Projects/Plan.md`.
    file: String,
    /// Which of the two.
    #[serde(default)]
    direction: Direction,
    /// At most so many of each.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 10000))]
    limit: usize,
    /// How many of each to leave out at the start.
    #[serde(default)]
    offset: usize,
}

fn limit() -> usize {
    200
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Outlinks,
    Backlinks,
    #[default]
    Both,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    outlinks: Option<Vec<OutLink>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backlinks: Option<Vec<BackLink>>,
    /// Of a note.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_outlinks: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_backlinks: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct BackLink {
    file: String,
    line: usize,
    kind: link::Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    alias: Option<String>,
    /// The heading or block that is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    subpath: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<String>,
}

impl ReadTool for LinksGet {
    const DECLARATION: Declaration = Declaration {
        name: "links_get",
        dotted: Some("links.get"),
        title: "Links and backlinks",
        family: Family::Files,
        group: Group::Vault,
        listed: true,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: Role::Read }],
        reasons: &[Kind::NoteMissing],
        words: "links backlinks outgoing incoming references mentions linked notes graph who links here",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let path = reading::parse_path(&input.file)?;
        let wants = |direction| input.direction == direction || input.direction == Direction::Both;
        let notes = index::notes(context, view)?;
        // By the name that it has on disk, as links lead there.
        let path = match notes.find(&path) {
            Some(entry) => entry.path().clone(),
            None => match naming::find(context, view, &input.file) {
                Ok(found) => found.path,
                Err(reason @ Reason::AmbiguousPath { .. }) => return Err(reason),
                Err(_) => path,
            },
        };
        let (mut outlinks, content_hash) = (Vec::new(), note_hash(view, notes, &path)?);
        if content_hash.is_some() && wants(Direction::Outlinks) {
            let file = reading::read(view, &path)?;
            let shown = reading::show(&path, &file)?;
            outlinks = out_links(&shown.note(), &path, notes);
        }
        context.check()?;
        let backlinks = if wants(Direction::Backlinks) { notes.backlinks(&path) } else { Vec::new() };
        let outlinks = Page::of(outlinks, input.offset, input.limit);
        let backlinks = Page::of(backlinks, input.offset, input.limit);
        let next_offset = outlinks.next.max(backlinks.next);
        let backlink = |found: lapidary_vault::Backlink<'_>| BackLink {
            file: found.source.to_string(),
            line: found.link.line,
            kind: link::Kind::of(found.link.kind, found.link.embed, found.link.subpath),
            alias: found.link.alias.map(str::to_owned),
            subpath: found.link.subpath.map(str::to_owned),
            property: found.link.property.map(str::to_owned),
        };
        let cut = next_offset.is_some() || input.offset > 0;
        Ok(Output {
            outlinks: wants(Direction::Outlinks).then_some(outlinks.items),
            backlinks: wants(Direction::Backlinks).then(|| backlinks.items.into_iter().map(backlink).collect()),
            content_hash: content_hash.map(|hash| hash.to_string()),
            total_outlinks: (cut && wants(Direction::Outlinks)).then_some(outlinks.total),
            total_backlinks: (cut && wants(Direction::Backlinks)).then_some(backlinks.total),
            next_offset,
        })
    }

    fn examples(&self) -> Vec<Example> {
        const PLAN: &str = "---\nup: \"[[Home]]\"\n---\nSee [[Stone#Kinds|kinds]] and ![[map.png]].\n";
        const VAULT: &[(&str, &str)] = &[("Plan.md", PLAN), ("notes/Stone.md", "[[plan]]\n"), ("map.png", "")];
        vec![
            Example {
                says: "Where a note leads, and who leads to it",
                before: VAULT,
                input: json!({ "file": "Plan.md" }),
                gives: Gives::Output(json!({
                    "outlinks": [
                        { "kind": "wiki", "target": "Home", "property": "up", "line": 2, "col": 5 },
                        {
                            "kind": "header-ref", "target": "Stone", "path": "notes/Stone.md", "heading": "Kinds",
                            "alias": "kinds", "line": 4, "col": 5,
                        },
                        { "kind": "embed", "target": "map.png", "path": "map.png", "line": 4, "col": 31 },
                    ],
                    "backlinks": [{ "file": "notes/Stone.md", "line": 1, "kind": "wiki" }],
                    "contentHash": ContentHash::of(PLAN.as_bytes()).to_string(),
                })),
                after: &[],
            },
            Example {
                says: "Which notes use an image",
                before: VAULT,
                input: json!({ "file": "map.png", "direction": "backlinks" }),
                gives: Gives::Output(json!({ "backlinks": [{ "file": "Plan.md", "line": 4, "kind": "embed" }] })),
                after: &[],
            },
            Example {
                says: "A page of many",
                before: &[("a.md", ""), ("b.md", "[[a]] [[a|x]]"), ("c.md", "[[a]]")],
                input: json!({ "file": "a.md", "direction": "backlinks", "limit": 1, "offset": 1 }),
                gives: Gives::Including(json!({
                    "backlinks": [{ "file": "b.md", "alias": "x" }], "totalBacklinks": 3, "nextOffset": 2,
                })),
                after: &[],
            },
            Example {
                says: "A note that is not there",
                before: VAULT,
                input: json!({ "file": "Plans.md" }),
                gives: Gives::Refusal(Kind::NoteMissing),
                after: &[],
            },
        ]
    }
}

/// The hash of a note, and nothing for another file, which may be larger than anyone wants to read.
fn note_hash(view: &View, notes: &Notes, path: &VaultPath) -> Result<Option<ContentHash>, Reason> {
    if !path.is_note() && notes.get(path).is_some() {
        return Ok(None);
    }
    let file = reading::read(view, path)?;
    Ok(path.is_note().then(|| file.hash()))
}
