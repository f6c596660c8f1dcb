//! How two notes are connected.

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily,
    fence::fenced,
    quote::{one_line, quoted},
};
use lapidary_toolkit::{
    backlinks::{self, BackLink},
    link_walk::{LinkWalk, WalkDirection},
};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::graph_neighbors::start;

pub(crate) struct GraphPath;

/// How two notes are connected: the shortest ways along links, with the sentence of each link.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path or name of a note.
    from: String,
    /// Path or name of the other.
    to: String,
    /// Which links to follow.
    #[serde(default)]
    direction: WalkDirection,
    /// The most links of a way.
    #[serde(default = "longest")]
    #[schemars(range(min = 1, max = 12))]
    max_hops: usize,
    /// The most ways, all of the same length.
    #[serde(default = "ways")]
    #[schemars(range(min = 1, max = 10))]
    ways: usize,
}

fn longest() -> usize {
    6
}

fn ways() -> usize {
    2
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    from: String,
    to: String,
    /// How many links apart; missing if no way was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    hops: Option<usize>,
    /// The steps of each way, from the first note to the last.
    ways: Vec<Vec<WayStep>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct WayStep {
    /// The note that the step leads to.
    path: String,
    /// The link, in the note before or in this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<BackLink>,
}

impl ReadTool for GraphPath {
    const DECLARATION: Declaration = Declaration {
        name: "graph_path",
        dotted: None,
        title: "How two notes are connected",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[
            PathArgument { pointer: "/from", role: PathRole::Read },
            PathArgument { pointer: "/to", role: PathRole::Read },
        ],
        reasons: &[ReasonKind::NoteMissing],
        words: "how two notes are connected related hang together, shortest path between notes, way from one note to another, degrees of separation, Weg zwischen Notizen, chemin, camino, 路径, 経路",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let walk = LinkWalk::new(context, view)?;
        let from = start(context, view, &walk, &input.from)?;
        let to = start(context, view, &walk, &input.to)?;
        let found = walk.ways(context, (from, to), input.max_hops, input.direction, input.ways)?;
        // All ways have the same length: the shortest.
        let hops = found.first().map(|way| way.len() - 1);
        let mut ways = Vec::new();
        for way in &found {
            let mut steps = Vec::new();
            for pair in way.windows(2) {
                let link = link_between(context, &walk, pair[0], pair[1], input.direction)?;
                steps.push(WayStep { path: pair[1].to_string(), link });
            }
            ways.push(steps);
        }
        let notice =
            hops.is_none().then(|| format!("No way of at most {} was found.", counted(input.max_hops, "link")));
        Ok(Output { from: from.to_string(), to: to.to_string(), hops, ways, notice })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { from, to, hops, ways, .. } = output;
        // Not an error: that there is no way is an answer.
        let Some(hops) = hops else { return Some(format!("{} and {}: no way", quoted(from), quoted(to))) };
        let mut text = format!("{} and {}: {}", quoted(from), quoted(to), counted(*hops, "link"));
        // Both are the same note.
        if *hops == 0 {
            return Some(text);
        }
        for steps in ways {
            let mut lines = format!("{from}\n");
            for step in steps {
                let step = match &step.link {
                    Some(link) => {
                        // The link is in the note that it was found in, which shows its direction.
                        let arrow = if link.file == step.path { "←" } else { "→" };
                        let property = link.property.as_ref().map_or(String::new(), |name| format!(" {name}:"));
                        let words = link.context.as_deref().unwrap_or_default();
                        format!("{arrow} {} (line {}{property} {words}", step.path, link.line).trim_end().to_owned()
                            + ")"
                    }
                    None => format!("– {}", step.path),
                };
                lines += &format!("{}\n", one_line(&step));
            }
            text += &format!("\n{}", fenced(&lines));
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Plan.md", "Ask [[Ana]] first.\n"),
            ("Ana.md", "Mason.\n"),
            ("Log.md", "With [[Ana]] at the [[Quarry]].\n"),
            ("Quarry.md", "Granite.\n"),
            ("Other.md", "Alone.\n"),
        ];
        vec![
            Example {
                says: "The way with the sentence of each link; links count in both directions",
                before: NOTES,
                input: json!({ "from": "Plan", "to": "Quarry" }),
                gives: ExampleResult::Output(json!({
                    "from": "Plan.md",
                    "to": "Quarry.md",
                    "hops": 3,
                    "ways": [[
                        {
                            "path": "Ana.md",
                            "link": { "file": "Plan.md", "line": 1, "kind": "wiki", "context": "Ask [[Ana]] first." },
                        },
                        {
                            "path": "Log.md",
                            "link": {
                                "file": "Log.md", "line": 1, "kind": "wiki", "context": "With [[Ana]] at the [[Quarry]].",
                            },
                        },
                        {
                            "path": "Quarry.md",
                            "link": {
                                "file": "Log.md", "line": 1, "kind": "wiki", "context": "With [[Ana]] at the [[Quarry]].",
                            },
                        },
                    ]],
                })),
                after: &[],
            },
            Example {
                says: "Notes that are not connected",
                before: NOTES,
                input: json!({ "from": "Plan.md", "to": "Other.md", "maxHops": 4 }),
                gives: ExampleResult::Output(json!({
                    "from": "Plan.md", "to": "Other.md", "ways": [], "notice": "No way of at most 4 links was found.",
                })),
                after: &[],
            },
            Example {
                says: "A note that does not exist",
                before: NOTES,
                input: json!({ "from": "Plan.md", "to": "Quarries" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[],
            },
        ]
    }
}

/// The first link between two notes that a step may follow.
fn link_between(
    context: &Context<'_>,
    walk: &LinkWalk<'_>,
    from: &VaultPath,
    to: &VaultPath,
    direction: WalkDirection,
) -> Result<Option<BackLink>, Reason> {
    // A step goes forward along a link of the first note, or back along one of the second.
    for (source, target, follows) in [(from, to, WalkDirection::In), (to, from, WalkDirection::Out)] {
        if direction == follows {
            continue;
        }
        context.check()?;
        // All links to a note are listed, because the index keeps them by target.
        let links = backlinks::find(context, walk.notes(), target)?;
        // One is enough to show why the notes are connected.
        let mut between: Vec<BackLink> =
            links.into_iter().filter(|link| link.file == source.as_str()).take(1).collect();
        backlinks::put_sentences(walk.notes(), target, &mut between);
        if let Some(link) = between.pop() {
            return Ok(Some(link));
        }
    }
    Ok(None)
}
