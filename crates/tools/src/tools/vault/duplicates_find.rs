//! Notes and paragraphs that are there more than once.

use std::collections::{BTreeSet, HashMap};

use lapidary_note::{counted, shown_text};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, fence::fenced, quote::one_line,
};
use lapidary_toolkit::{
    folder::FolderTarget,
    index,
    near_copies::{self, TextSketch},
    passages::rounded,
};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct DuplicatesFind;

/// Notes that are nearly the same, and paragraphs that occur in several notes, the largest first. Names and properties do not
/// count.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Only in this folder.
    #[serde(default)]
    folder: Option<String>,
    /// How much of the text has to be the same.
    #[serde(default = "least")]
    #[schemars(range(min = 0.3, max = 1.0))]
    min_similarity: f64,
    /// How many groups of each kind.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 200))]
    limit: usize,
}

/// A copy in which one word in ten was changed is found.
fn least() -> f64 {
    0.5
}

fn limit() -> usize {
    20
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    notes: Vec<NoteCopies>,
    paragraphs: Vec<ParagraphCopies>,
    total_notes: usize,
    total_paragraphs: usize,
}

#[derive(Serialize, JsonSchema)]
struct NoteCopies {
    paths: Vec<String>,
    /// Of the least similar one.
    similarity: f64,
}

#[derive(Serialize, JsonSchema)]
struct ParagraphCopies {
    places: Vec<ParagraphPlace>,
    /// How it begins in the first of them.
    text: String,
    similarity: f64,
}

#[derive(Serialize, JsonSchema)]
struct ParagraphPlace {
    path: String,
    line: usize,
}

/// Places that are named of one group.
const MOST_PLACES: usize = 20;
const SHOWN_LENGTH: usize = 120;

/// What is compared of one note.
struct SketchedNote {
    path: VaultPath,
    whole: TextSketch,
    paragraphs: Vec<(usize, TextSketch, String)>,
}

impl ReadTool for DuplicatesFind {
    const DECLARATION: Declaration = Declaration {
        name: "duplicates_find",
        dotted: None,
        title: "Find duplicates",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/folder", role: PathRole::List }],
        reasons: &[ReasonKind::DirectoryMissing, ReasonKind::PathIsFile],
        words: "find duplicate notes, near-identical notes, copies of a note, same paragraph in several notes, repeated text, dedupe, doppelte Notizen, notes en double, notas duplicadas, 重复笔记, 重複ノート",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let files = index::files_to_search(context, view)?;
        let folder = FolderTarget::chosen(view, files, input.folder.as_deref())?;
        let read = index::map_texts(context, files, |entry, bytes| {
            let within = folder.as_ref().is_none_or(|folder| entry.path().is_within(folder));
            let text = within.then(|| shown_text(bytes))?;
            let paragraphs = near_copies::paragraphs(&text);
            let body: String = paragraphs.iter().map(|(_, text)| format!("{text}\n")).collect();
            let sketched = |(line, text): &(usize, &str)| Some((*line, TextSketch::of(text)?, shortened(text)));
            let whole = TextSketch::of(&body)?;
            let paragraphs = paragraphs.iter().filter_map(sketched).collect();
            Some(SketchedNote { path: entry.path().clone(), whole, paragraphs })
        })?;
        let wholes: Vec<TextSketch> = read.iter().map(|note| note.whole.clone()).collect();
        let mut notes = near_copies::groups(&wholes, input.min_similarity, || context.check())?;
        // By what would be saved if one of the copies stayed.
        let copied = |members: &[usize], words: &dyn Fn(usize) -> usize| (members.len() - 1) * words(members[0]);
        notes.sort_by_key(|(members, _)| std::cmp::Reverse(copied(members, &|at| wholes[at].words)));
        // Paragraphs of notes that are copies of each other as a whole are known.
        let groups =
            notes.iter().enumerate().flat_map(|(group, (members, _))| members.iter().map(move |at| (*at, group)));
        let group_of: HashMap<usize, usize> = groups.collect();
        let places: Vec<(usize, &(usize, TextSketch, String))> =
            read.iter().enumerate().flat_map(|(at, note)| note.paragraphs.iter().map(move |part| (at, part))).collect();
        let sketches: Vec<TextSketch> = places.iter().map(|(_, (_, sketch, _))| sketch.clone()).collect();
        let mut paragraphs = near_copies::groups(&sketches, input.min_similarity, || context.check())?;
        paragraphs.retain(|(members, _)| {
            let groups: BTreeSet<Option<usize>> =
                members.iter().map(|at| group_of.get(&places[*at].0).copied()).collect();
            let notes: BTreeSet<usize> = members.iter().map(|at| places[*at].0).collect();
            // What a single note repeats is not reported.
            notes.len() > 1 && (groups.len() > 1 || groups.contains(&None))
        });
        paragraphs.sort_by_key(|(members, _)| std::cmp::Reverse(copied(members, &|at| sketches[at].words)));
        let (total_notes, total_paragraphs) = (notes.len(), paragraphs.len());
        let note = |(members, similarity): (Vec<usize>, f64)| NoteCopies {
            paths: members.iter().take(MOST_PLACES).map(|at| read[*at].path.to_string()).collect(),
            similarity: rounded(similarity),
        };
        let paragraph = |(members, similarity): (Vec<usize>, f64)| ParagraphCopies {
            places: members
                .iter()
                .take(MOST_PLACES)
                .map(|at| ParagraphPlace { path: read[places[*at].0].path.to_string(), line: places[*at].1.0 })
                .collect(),
            text: places[members[0]].1.2.clone(),
            similarity: rounded(similarity),
        };
        Ok(Output {
            notes: notes.into_iter().take(input.limit).map(note).collect(),
            paragraphs: paragraphs.into_iter().take(input.limit).map(paragraph).collect(),
            total_notes,
            total_paragraphs,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { notes, paragraphs, total_notes, total_paragraphs } = output;
        if *total_notes + *total_paragraphs == 0 {
            return Some("No duplicates were found.".to_owned());
        }
        let mut text = format!(
            "{} of notes, {} of paragraphs",
            counted(*total_notes, "group"),
            counted(*total_paragraphs, "group")
        );
        let mut lines = String::new();
        for NoteCopies { paths, similarity } in notes {
            lines += &format!("{similarity:.2} {}\n", one_line(&paths.join(" = ")));
        }
        for ParagraphCopies { places, text, similarity } in paragraphs {
            let places: Vec<String> = places.iter().map(|place| format!("{}:{}", place.path, place.line)).collect();
            lines += &format!("{similarity:.2} {}\n  {}\n", one_line(&places.join(" = ")), one_line(text));
        }
        if !lines.is_empty() {
            text += &format!("\n{}", fenced(&lines));
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const STONE: &str =
            "A slate is split along its grain into thin plates that keep the rain away from the roof.\n";
        const COPY: &str = "---\ncopied: true\n---\nA slate is split along its grain into thin plates that keep the rain away from the roof.\n";
        const LONG: &str = "Bread needs flour and water and salt and yeast, and time to rise in a warm place near the stove.\n\nA slate is split along its grain into thin plates that keep the rain away from the roof.\n\nCall the plumber about the tap in the bathroom, the siphon in the kitchen and the heating in the hall.\n";
        const NOTES: &[(&str, &str)] = &[("Slate.md", STONE), ("Old/Slate copy.md", COPY), ("Log.md", LONG)];
        vec![
            Example {
                says: "A note that is there twice, and its paragraph in a third one",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Including(json!({
                    "notes": [{ "paths": ["Old/Slate copy.md", "Slate.md"], "similarity": 1.0 }],
                    "paragraphs": [{ "places": [
                        { "path": "Log.md", "line": 3 }, { "path": "Old/Slate copy.md", "line": 4 }, { "path": "Slate.md", "line": 1 },
                    ] }],
                    "totalNotes": 1,
                })),
                after: &[],
            },
            Example {
                says: "A folder that does not exist",
                before: NOTES,
                input: json!({ "folder": "Nowhere" }),
                gives: ExampleResult::Refusal(ReasonKind::DirectoryMissing),
                after: &[],
            },
        ]
    }
}

/// How a paragraph begins.
fn shortened(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(SHOWN_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
