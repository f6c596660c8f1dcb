//! Files without links.

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, fence::fenced,
};
use lapidary_toolkit::{
    index,
    page::{self, ListingInput},
    vault_links::{VaultLinks, is_attachment_name},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct Orphans;

/// Notes without links, notes that nothing links to, or attachments that nothing shows.
///
/// Links in properties, embeds and cards of canvases count.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// What to look for.
    #[serde(default)]
    kind: OrphanKind,
    #[serde(flatten)]
    listing: ListingInput,
}

/// How many are shown unless the caller says otherwise.
const USUAL: usize = 50;

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OrphanKind {
    /// Notes with no links and no backlinks.
    #[default]
    Unlinked,
    /// Notes with no backlinks.
    NoBacklinks,
    /// Images, sounds, films and PDFs with no backlinks.
    Attachments,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    orphans: Vec<String>,
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl ReadTool for Orphans {
    const DECLARATION: Declaration = Declaration {
        name: "orphans",
        dotted: None,
        title: "Files without links",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/folder", role: PathRole::List }],
        reasons: &[ReasonKind::DirectoryMissing],
        words: "orphans orphaned notes, notes without links, notes nothing links to, isolated unconnected notes, unused images attachments, verwaiste Notizen ohne Links, notes orphelines, notas huérfanas, 孤立笔记, 孤立したノート",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let notes = index::notes(context, view)?;
        let folder = input.listing.folder(view, notes)?;
        // Links of the whole vault, also for a folder: they may come from anywhere.
        let links = VaultLinks::of(context, notes)?;
        let both = links.both_ways();
        let mut orphans = Vec::new();
        for (file, entry) in links.numbered() {
            let path = entry.path();
            let is_orphan = match input.kind {
                OrphanKind::Unlinked => path.is_note() && both.degree(file) == 0,
                OrphanKind::NoBacklinks => path.is_note() && both.sources(file).is_empty(),
                OrphanKind::Attachments => is_attachment_name(path.name()) && both.sources(file).is_empty(),
            };
            if is_orphan && folder.as_ref().is_none_or(|folder| path.is_within(folder)) {
                orphans.push(path.to_string());
            }
        }
        let (page, next_cursor) = input.listing.page(orphans, USUAL)?;
        Ok(Output { orphans: page.items, total: page.total, next_cursor })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { orphans, total, next_cursor } = output;
        let mut text = counted(*total, "orphan").to_string();
        if !orphans.is_empty() {
            text += &format!("\n{}", fenced(&(orphans.join("\n") + "\n")));
        }
        text += &page::more(next_cursor.as_deref());
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Plan.md", "[[Stone]] ![[used.png]]\n"),
            ("Stone.md", ""),
            ("Alone.md", "No links.\n"),
            ("used.png", ""),
            ("spare.png", ""),
            ("Board.canvas", r#"{"nodes":[]}"#),
        ];
        let found = |paths: &[&str]| ExampleResult::Output(json!({ "orphans": paths, "total": paths.len() }));
        vec![
            Example {
                says: "Notes without any link",
                before: NOTES,
                input: json!({}),
                gives: found(&["Alone.md"]),
                after: &[],
            },
            Example {
                says: "Notes that nothing links to",
                before: NOTES,
                input: json!({ "kind": "no_backlinks" }),
                gives: found(&["Alone.md", "Plan.md"]),
                after: &[],
            },
            Example {
                says: "Attachments that nothing shows",
                before: NOTES,
                input: json!({ "kind": "attachments" }),
                gives: found(&["spare.png"]),
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
