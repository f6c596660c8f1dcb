//! Lists links and backlinks.

use lapidary_note::{ContentHash, counted};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, fence::fenced, quote::one_line,
};
use lapidary_toolkit::{
    backlinks::{self, BackLink},
    hash, index,
    link::{self, OutLink, canvas_links, out_links},
    naming,
    page::ListPage,
    reading,
    unlinked::{self, UnlinkedMention},
};
use lapidary_vault::{VaultPath, View, VisibleFiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct LinksGet;

/// The links from a note or attachment, and the links to it (backlinks).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Path, e.g. `Projects/Plan.md`.
    file: String,
    /// Which of the two.
    #[serde(default)]
    direction: LinkDirection,
    /// Also places that name the note without a link.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    unlinked: bool,
    /// At most this many of each.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 10000))]
    limit: usize,
    /// How many of each to skip.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    offset: usize,
}

fn limit() -> usize {
    200
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum LinkDirection {
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
    /// Places that name the note without a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    mentions: Option<Vec<UnlinkedMention>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_mentions: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

impl ReadTool for LinksGet {
    const DECLARATION: Declaration = Declaration {
        name: "links_get",
        dotted: Some("links.get"),
        title: "Links and backlinks",
        family: WireFamily::Files,
        group: ToolGroup::Vault,
        listed: true,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing],
        words: "links backlinks outgoing incoming references mentions linked notes graph, who links here, which notes link to it, links to headings, unlinked mentions",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let path = reading::parse_path(&input.file)?;
        let wants = |direction| input.direction == direction || input.direction == LinkDirection::Both;
        let files = index::files_to_search(context, view)?;
        // By its name on disk, as links lead there.
        let path = match files.find(&path) {
            Some(entry) => entry.path().clone(),
            None => match naming::find(context, view, &input.file) {
                Ok(found) => found.path,
                // With the candidates. Any other problem is reported when the file is read below.
                Err(reason @ (Reason::AmbiguousPath { .. } | Reason::NoteMissing { .. })) => return Err(reason),
                Err(_) => path,
            },
        };
        let (mut outlinks, content_hash) = (Vec::new(), note_hash(view, files, &path)?);
        // Other files have no links, and may be too large to read.
        if (content_hash.is_some() || path.is_canvas()) && wants(LinkDirection::Outlinks) {
            let file = reading::read(view, &path)?;
            let shown = reading::show(&path, &file)?;
            outlinks = match path.is_canvas() {
                true => canvas_links(shown.text(), &path, files).into_iter().map(|found| found.link).collect(),
                false => out_links(&shown.note(), &path, files),
            };
        }
        context.check()?;
        let backlinks =
            if wants(LinkDirection::Backlinks) { backlinks::find(context, files, &path)? } else { Vec::new() };
        let outlinks = ListPage::of(outlinks, input.offset, input.limit);
        let mut backlinks = ListPage::of(backlinks, input.offset, input.limit);
        // For one page only, as each source has to be read again.
        backlinks::put_sentences(files, &path, &mut backlinks.items);
        let mentions = if input.unlinked { unlinked_mentions(context, view, files, &path)? } else { Vec::new() };
        let mentions = ListPage::of(mentions, input.offset, input.limit);
        // One offset serves all lists; the shorter ones are just empty from some page on.
        let next_offset = outlinks.next.max(backlinks.next).max(mentions.next);
        let cut = next_offset.is_some() || input.offset > 0;
        // Reads all notes in the background, so that the next call finds them indexed.
        view.index_aside();
        Ok(Output {
            outlinks: wants(LinkDirection::Outlinks).then_some(outlinks.items),
            backlinks: wants(LinkDirection::Backlinks).then_some(backlinks.items),
            content_hash: content_hash.map(|hash| hash.to_string()),
            total_outlinks: (cut && wants(LinkDirection::Outlinks)).then_some(outlinks.total),
            total_backlinks: (cut && wants(LinkDirection::Backlinks)).then_some(backlinks.total),
            mentions: input.unlinked.then_some(mentions.items),
            total_mentions: (cut && input.unlinked).then_some(mentions.total),
            next_offset,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let out = |link: &OutLink| {
            let place = match (&link.heading, &link.block_id) {
                (Some(heading), _) => format!("#{heading}"),
                (None, Some(id)) => format!("#^{id}"),
                (None, None) => String::new(),
            };
            let target = link.path.as_ref().or(link.url.as_ref()).unwrap_or(&link.target);
            // The link leads nowhere.
            let mark = if link.path.is_none() && link.url.is_none() { "?" } else { "" };
            let embed = if link.kind == link::LinkWord::Embed { "!" } else { "" };
            one_line(&format!("{}→ {embed}{target}{place}{mark}", link.line)).into_owned() + "\n"
        };
        let back = |link: &BackLink| {
            let context = link.context.as_deref().unwrap_or_default();
            let property = link.property.as_ref().map_or(String::new(), |name| format!(" {name}:"));
            one_line(format!("← {}:{}{property} {context}", link.file, link.line).trim_end()).into_owned() + "\n"
        };
        let outlinks = output.outlinks.as_deref().unwrap_or_default();
        let backlinks = output.backlinks.as_deref().unwrap_or_default();
        let named = |mention: &UnlinkedMention| {
            one_line(&format!("~ {}:{} {}", mention.file, mention.line, mention.context)).into_owned() + "\n"
        };
        let mentions = output.mentions.as_deref().unwrap_or_default();
        let lines = outlinks.iter().map(out).chain(backlinks.iter().map(back));
        let lines: String = lines.chain(mentions.iter().map(named)).collect();
        let count = |shown: Option<usize>, total: Option<usize>, what: &'static str| {
            let of = total.filter(|total| shown != Some(*total));
            shown.map(|shown| {
                of.map_or(String::new(), |_| format!("{shown} of ")) + &counted(of.unwrap_or(shown), what).to_string()
            })
        };
        let counts = [
            count(output.outlinks.as_ref().map(Vec::len), output.total_outlinks, "link"),
            count(output.backlinks.as_ref().map(Vec::len), output.total_backlinks, "backlink"),
            count(output.mentions.as_ref().map(Vec::len), output.total_mentions, "unlinked mention"),
            output.next_offset.map(|next| format!("more with `offset` {next}")),
            output.content_hash.as_deref().map(|hash| hash::short(hash).to_owned()),
        ];
        let counts = counts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        Some(if lines.is_empty() { counts } else { format!("{counts}\n{}", fenced(&lines)) })
    }

    fn examples(&self) -> Vec<Example> {
        const PLAN: &str = "---\nup: \"[[Home]]\"\n---\nSee [[Stone#Kinds|kinds]] and ![[map.png]].\n";
        const VAULT: &[(&str, &str)] = &[("Plan.md", PLAN), ("notes/Stone.md", "As in [[plan]].\n"), ("map.png", "")];
        vec![
            Example {
                says: "Links from a note and links to it",
                before: VAULT,
                input: json!({ "file": "Plan.md" }),
                gives: ExampleResult::Output(json!({
                    "outlinks": [
                        { "kind": "wiki", "target": "Home", "property": "up", "line": 2, "col": 5 },
                        {
                            "kind": "header-ref", "target": "Stone", "path": "notes/Stone.md", "heading": "Kinds",
                            "alias": "kinds", "line": 4, "col": 5,
                        },
                        { "kind": "embed", "target": "map.png", "path": "map.png", "line": 4, "col": 31 },
                    ],
                    "backlinks": [{ "file": "notes/Stone.md", "line": 1, "kind": "wiki", "context": "As in [[plan]]." }],
                    "contentHash": ContentHash::of(PLAN.as_bytes()).to_string(),
                })),
                after: &[],
            },
            Example {
                says: "Which notes use an image",
                before: VAULT,
                input: json!({ "file": "map.png", "direction": "backlinks" }),
                gives: ExampleResult::Output(json!({ "backlinks": [
                    { "file": "Plan.md", "line": 4, "kind": "embed", "context": "See [[Stone#Kinds|kinds]] and ![[map.png]]." },
                ] })),
                after: &[],
            },
            Example {
                says: "Both ends of a reference link, addresses on the web, and the size of an image",
                before: &[
                    (
                        "a.md",
                        "[see][b] ![[map.png|200]] ![[map.png|30x20]]\n[x](<https://x.y>) <me@x.y>\n\n[b]: b.md#H\n",
                    ),
                    ("b.md", "[c]: a.md\n\n[c]\n"),
                ],
                input: json!({ "file": "a.md" }),
                gives: ExampleResult::Including(json!({
                    "outlinks": [
                        {
                            "kind": "markdown", "target": "b.md", "path": "b.md", "heading": "H", "text": "see",
                            "url": "b.md#H", "line": 1, "col": 1,
                        },
                        { "kind": "embed", "target": "map.png", "size": "200", "line": 1, "col": 10 },
                        { "kind": "embed", "target": "map.png", "size": "30x20", "line": 1, "col": 27 },
                        { "kind": "markdown", "target": "https://x.y", "url": "https://x.y", "text": "x", "line": 2, "col": 1 },
                        { "kind": "markdown", "target": "mailto:me@x.y", "url": "mailto:me@x.y", "line": 2, "col": 20 },
                    ],
                    "backlinks": [{ "file": "b.md", "line": 3, "kind": "markdown", "alias": "c" }],
                })),
                after: &[],
            },
            Example {
                says: "A sentence is shown once, and an embed alone has none",
                before: &[("a.md", ""), ("b.md", "![[a]]\n\nSee [[a]] or [[a|it]].\n")],
                input: json!({ "file": "a.md", "direction": "backlinks" }),
                gives: ExampleResult::Including(json!({ "backlinks": [
                    { "file": "b.md", "line": 1, "kind": "embed" },
                    { "file": "b.md", "line": 3, "kind": "wiki", "context": "See [[a]] or [[a|it]]." },
                    { "file": "b.md", "line": 3, "kind": "wiki", "alias": "it" },
                ] })),
                after: &[],
            },
            Example {
                says: "A page of many",
                before: &[("a.md", ""), ("b.md", "[[a]] [[a|x]]"), ("c.md", "[[a]]")],
                input: json!({ "file": "a.md", "direction": "backlinks", "limit": 1, "offset": 1 }),
                gives: ExampleResult::Including(json!({
                    "backlinks": [{ "file": "b.md", "alias": "x" }], "totalBacklinks": 3, "nextOffset": 2,
                })),
                after: &[],
            },
            Example {
                says: "Cards and texts of a canvas",
                before: &[
                    ("a.md", ""),
                    (
                        "board.canvas",
                        r##"{"nodes":[{"type":"file","file":"a.md","subpath":"#H"},{"type":"text","text":"Look at [[a]]."}]}"##,
                    ),
                ],
                input: json!({ "file": "a.md", "direction": "backlinks" }),
                gives: ExampleResult::Including(json!({ "backlinks": [
                    { "file": "board.canvas", "line": 1, "kind": "embed", "subpath": "#H" },
                    { "file": "board.canvas", "line": 1, "kind": "wiki", "context": "Look at [[a]]." },
                ] })),
                after: &[],
            },
            Example {
                says: "Places that name a note without a link to it",
                before: &[
                    ("Stone.md", "---\naliases: [Pebble]\n---\n"),
                    ("a.md", "A stone. See [[Stone]], `stone` and #stone.\n"),
                    ("b.md", "Stones are not one. A pebble is.\n"),
                ],
                input: json!({ "file": "Stone", "direction": "backlinks", "unlinked": true }),
                gives: ExampleResult::Including(json!({
                    "backlinks": [{ "file": "a.md" }],
                    "mentions": [
                        { "file": "a.md", "line": 1, "context": "A stone." },
                        { "file": "b.md", "line": 1, "context": "A pebble is." },
                    ],
                })),
                after: &[],
            },
            Example {
                says: "A note that does not exist",
                before: VAULT,
                input: json!({ "file": "Plans.md" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[],
            },
        ]
    }
}

/// Places that name a note. Other files are named by links alone.
fn unlinked_mentions(
    context: &Context<'_>,
    view: &View,
    files: &VisibleFiles,
    path: &VaultPath,
) -> Result<Vec<UnlinkedMention>, Reason> {
    if !path.is_note() {
        return Ok(Vec::new());
    }
    let file = reading::read(view, path)?;
    let shown = reading::show(path, &file)?;
    let note = shown.note();
    let aliases: Vec<String> = note.aliases().into_iter().map(str::to_owned).collect();
    unlinked::find(context, files, path, &aliases)
}

/// The hash of a note; `None` for other files, which may be too large to read.
fn note_hash(view: &View, files: &VisibleFiles, path: &VaultPath) -> Result<Option<ContentHash>, Reason> {
    if !path.is_note() && files.get(path).is_some() {
        return Ok(None);
    }
    let file = reading::read(view, path)?;
    Ok(path.is_note().then(|| file.hash()))
}
