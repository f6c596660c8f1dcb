//! Makes a canvas of notes and their links.

mod chosen_notes;

use std::collections::{BTreeMap, HashMap};

use lapidary_note::{CanvasBoard, CanvasList, CanvasScalar, count_steps, counted};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool, quote::quoted,
};
use lapidary_query::{LayeredCard, PlacedBox, Row, Value, layered};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    canvas::{self, CANVAS},
    index,
    note_edit::NoteWritten,
    reading,
    whole_file::{self, WholeFileEdit, WholeFileInput},
};
use lapidary_vault::{FileRow, VaultPath, View, VisibleNotes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::chosen_notes::{ChosenNotes, NoteChoice};

pub(crate) struct CanvasGenerate;

/// Make a canvas of notes with their links as lines, laid out in layers from left to right. Choose the notes by exactly one
/// of `folder`, `tag`, `search`, `query` or `notes`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Input {
    #[serde(flatten)]
    file: WholeFileInput,
    #[serde(flatten)]
    choice: NoteChoice,
    /// Frames around notes: `folder`, or the name of a property.
    #[serde(default)]
    group_by: Option<String>,
    /// The most notes to show.
    #[serde(default = "usual_cards")]
    #[schemars(range(min = 1, max = 500))]
    max_cards: usize,
    /// Lines for the links between the notes.
    #[serde(default = "yes")]
    links: bool,
    /// Replace an existing canvas.
    #[serde(default)]
    overwrite: bool,
}

fn usual_cards() -> usize {
    100
}

fn yes() -> bool {
    true
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    created: bool,
    card_count: usize,
    group_count: usize,
    line_count: usize,
    // Notes that fit the choice and are not shown.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
    #[serde(flatten)]
    written: NoteWritten,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Room for a title and the first lines.
const CARD: (i64, i64) = (300, 120);

impl WriteTool for CanvasGenerate {
    const DECLARATION: Declaration = Declaration {
        name: "canvas_generate",
        dotted: None,
        title: "Make a canvas of notes",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[
            PathArgument { pointer: "/path", role: PathRole::Write },
            PathArgument { pointer: "/folder", role: PathRole::List },
        ],
        reasons: &[
            ReasonKind::FileExists,
            ReasonKind::StalePrecondition,
            ReasonKind::NoteMissing,
            ReasonKind::DirectoryMissing,
            ReasonKind::PathIsFile,
            ReasonKind::QueryInvalid,
            ReasonKind::QueryFailed,
            ReasonKind::QueryTooLarge,
        ],
        words: "make canvas mind map from folder, tag, search or query: visualize notes and links as a board, diagram, overview map",
    };
    const EFFECT: Effect = Effect::Write;
    const TEXTS: &'static [TextArgument] = &[
        TextArgument::new("/search", TextLanguage::Search),
        TextArgument::new("/query", TextLanguage::Query),
        TextArgument::new("/notes/*", TextLanguage::Path),
    ];
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        // Before the notes are chosen, which may take long.
        whole_file::check_ending(tool, &reading::parse_path(&input.file.path)?, CANVAS)?;
        let edit = WholeFileEdit::at(tool, context, view, &input.file, input.overwrite)?;
        let ChosenNotes { paths, left_out } = input.choice.notes(tool, context, view, input.max_cards)?;
        let notes = index::notes(context, view)?;
        // By number, since the layout knows notes only by their place in the list.
        let groups = input.group_by.as_deref().map(|by| groups(notes, &paths, by)).unwrap_or_default();
        let links = if input.links { links(context, notes, &paths)? } else { Vec::new() };
        let drawn = drawn(edit.path(), &paths, &groups, &links);
        if drawn.len() > context.budget.file_bytes() {
            return Err(context.budget.file_too_large(edit.path(), drawn.len()));
        }
        let created = edit.is_new();
        Ok(edit.plan(drawn.into(), |path, written| Output {
            path: path.to_string(),
            created,
            card_count: paths.len(),
            group_count: groups.len(),
            line_count: links.len(),
            left_out,
            written,
        }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, created, card_count, group_count, line_count, left_out, written } = output;
        let done = match created {
            true => written.done("Made", "Would make"),
            false => written.done("Replaced", "Would replace"),
        };
        let mut text =
            format!("{done} {}: {}, {}", quoted(path), counted(*card_count, "card"), counted(*line_count, "line"));
        if *group_count > 0 {
            text += &format!(", {}", counted(*group_count, "group"));
        }
        if *left_out > 0 {
            text += &format!("; {} left out, see `maxCards`", counted(*left_out, "more note"));
        }
        Some(format!("{text}; {}", written.text()))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("Stones/Amber.md", "see [[Jet]]\n"), ("Stones/Jet.md", ""), ("Log.md", "")];
        const AFTER: &[(&str, &str)] =
            &[("Stones/Amber.md", "see [[Jet]]\n"), ("Stones/Jet.md", ""), ("Log.md", ""), ("Stones.canvas", STONES)];
        vec![
            Example {
                says: "The notes of a folder and their links",
                before: NOTES,
                input: json!({ "path": "Stones.canvas", "folder": "Stones" }),
                gives: ExampleResult::Including(json!({ "path": "Stones.canvas", "cardCount": 2, "lineCount": 1 })),
                after: AFTER,
            },
            Example {
                says: "An existing canvas is kept",
                before: &[("Stones.canvas", "{}"), ("Log.md", "")],
                input: json!({ "path": "Stones.canvas", "notes": ["Log"] }),
                gives: ExampleResult::Refusal(ReasonKind::FileExists),
                after: &[("Stones.canvas", "{}"), ("Log.md", "")],
            },
            Example {
                says: "Two choices at once",
                before: NOTES,
                input: json!({ "path": "Stones.canvas", "folder": "Stones", "tag": "stone" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: NOTES,
            },
        ]
    }
}

const STONES: &str = "{\n\
     \t\"nodes\":[\n\
     \t\t{\"id\":\"21bb449847869c2c\",\"type\":\"file\",\"file\":\"Stones/Amber.md\",\"x\":0,\"y\":0,\"width\":300,\"height\":120},\n\
     \t\t{\"id\":\"6b06906477afc010\",\"type\":\"file\",\"file\":\"Stones/Jet.md\",\"x\":420,\"y\":0,\"width\":300,\"height\":120}\n\
     \t],\n\
     \t\"edges\":[\n\
     \t\t{\"id\":\"9c6e7060a95aa6c8\",\"fromNode\":\"21bb449847869c2c\",\"fromSide\":\"right\",\"toNode\":\"6b06906477afc010\",\"toSide\":\"left\"}\n\
     \t]\n\
     }";

/// The label of each group, with the numbers of its notes.
fn groups(notes: &VisibleNotes, paths: &[VaultPath], by: &str) -> Vec<(String, Vec<usize>)> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, path) in paths.iter().enumerate() {
        // Reading a property decodes the digest of a note.
        count_steps(64);
        let label = match by {
            "folder" => path.folder().map(|folder| folder.to_string()),
            property => {
                notes.get(path).and_then(|entry| FileRow::new(notes, entry.state()).property(property)).and_then(label)
            }
        };
        // A note without a value is in no group.
        if let Some(label) = label.filter(|label| !label.trim().is_empty()) {
            groups.entry(label).or_default().push(number);
        }
    }
    groups.into_iter().collect()
}

/// A value as the label of a group; the first of several.
fn label(value: Value) -> Option<String> {
    const LONGEST: usize = 200;
    // One label for a note, as it can only be in one frame.
    let first = match value {
        Value::List(values) => values.into_iter().next()?,
        value => value,
    };
    let text = match serde_json::Value::from(&first) {
        serde_json::Value::String(text) => text,
        // An object or a list inside a list makes no label.
        serde_json::Value::Null | serde_json::Value::Object(_) | serde_json::Value::Array(_) => return None,
        value => value.to_string(),
    };
    Some(text.chars().take(LONGEST).collect())
}

/// The links between the notes, each pair once in each direction.
fn links(context: &Context<'_>, notes: &VisibleNotes, paths: &[VaultPath]) -> Result<Vec<(usize, usize)>, Reason> {
    let numbers: HashMap<&VaultPath, usize> = paths.iter().zip(0..).collect();
    let mut links = Vec::new();
    for (from, path) in paths.iter().enumerate() {
        context.check()?;
        let Some(entry) = notes.get(path).filter(|entry| entry.is_note()) else { continue };
        for link in FileRow::new(notes, entry.state()).links() {
            count_steps(64);
            // An empty target is a link within the note itself.
            let target = notes.resolve(link.target, path).filter(|_| !link.target.is_empty());
            links.extend(target.and_then(|target| numbers.get(target)).map(|to| (from, *to)));
        }
    }
    // Sorted, so that the same vault always gives the same file.
    links.sort_unstable();
    links.dedup();
    links.retain(|(from, to)| from != to);
    Ok(links)
}

/// The text of the canvas.
fn drawn(path: &VaultPath, notes: &[VaultPath], groups: &[(String, Vec<usize>)], links: &[(usize, usize)]) -> String {
    let mut cards = vec![LayeredCard { width: CARD.0, height: CARD.1, group: None }; notes.len()];
    for (group, (_, members)) in groups.iter().enumerate() {
        members.iter().for_each(|member| cards[*member].group = Some(group));
    }
    let places = layered(&cards, links, groups.len());
    // Tools have no random numbers: ids follow from the canvas and the note.
    let id = |what: &str| CanvasScalar::Text(canvas::id_of(&format!("{path}\n{what}")));
    let note_id = |note: usize| id(notes[note].as_str());
    // Groups first: they lie below the cards.
    let framed = groups.iter().zip(&places.groups).map(|((label, _), place)| {
        item([("id", id(&format!("group {label}"))), ("type", "group".into()), ("label", label.as_str().into())], place)
    });
    let carded = notes.iter().enumerate().zip(&places.cards).map(|((number, note), place)| {
        item([("id", note_id(number)), ("type", "file".into()), ("file", note.as_str().into())], place)
    });
    let nodes = framed.chain(carded).collect();
    let edge = |(from, to): &(usize, usize)| {
        let (start, end) = sides(&places.cards[*from], &places.cards[*to]);
        vec![
            ("id", id(&format!("{}\n{}", notes[*from], notes[*to]))),
            ("fromNode", note_id(*from)),
            ("fromSide", start.into()),
            ("toNode", note_id(*to)),
            ("toSide", end.into()),
        ]
    };
    CanvasBoard::written(&[(CanvasList::Nodes, nodes), (CanvasList::Edges, links.iter().map(edge).collect())])
}

fn item<'k>(members: [(&'k str, CanvasScalar); 3], place: &PlacedBox) -> Vec<(&'k str, CanvasScalar)> {
    let PlacedBox { x, y, width, height } = *place;
    let place = [("x", x.into()), ("y", y.into()), ("width", width.into()), ("height", height.into())];
    members.into_iter().chain(place).collect()
}

/// The sides at which a line leaves and arrives.
fn sides(from: &PlacedBox, to: &PlacedBox) -> (&'static str, &'static str) {
    match () {
        // Layers go from left to right, so most lines leave at the right.
        () if to.x >= from.x + from.width => ("right", "left"),
        () if from.x >= to.x + to.width => ("left", "right"),
        () if to.y >= from.y => ("bottom", "top"),
        () => ("top", "bottom"),
    }
}
