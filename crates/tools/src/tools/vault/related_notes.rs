//! Notes that have to do with a note or a text.

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, fence::fenced, quote::one_line,
};
use lapidary_toolkit::{
    link_walk::LinkWalk,
    naming::{self, NamedFile},
    passages::{self, PassageRoom, rounded},
    query_text::check_length,
    related::{self, RelatedBy},
};
use lapidary_vault::{CloseNote, NoMeaning, NotePiece, RankedBy, RankedQuery, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct RelatedNotes;

/// Notes that have to do with a note and are not linked with it, or with a text, and why: the passages that are alike, notes
/// between them, tags, words.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Path or name of the note.
    #[serde(default)]
    file: Option<String>,
    /// Or a text.
    #[serde(default)]
    text: Option<String>,
    /// How many.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn limit() -> usize {
    10
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    related: Vec<RelatedEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct RelatedEntry {
    path: String,
    /// The strongest first.
    by: Vec<RelatedBy>,
    /// From 0 to 1, by meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    /// The passage of the note that was asked for, and the one that is like it.
    #[serde(skip_serializing_if = "Option::is_none")]
    here: Option<ShortPassage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    there: Option<ShortPassage>,
}

#[derive(Serialize, JsonSchema)]
struct ShortPassage {
    line: usize,
    text: String,
}

/// Characters of a passage that are shown.
const PASSAGE_LENGTH: usize = 160;
/// Notes that are compared more closely than shown, since some are linked.
const MORE: usize = 20;

impl ReadTool for RelatedNotes {
    const DECLARATION: Declaration = Declaration {
        name: "related_notes",
        dotted: None,
        title: "Related notes",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::MeaningNotReady, ReasonKind::MeaningOff],
        words: "related similar notes, notes like this one, what else have I written about this, see also, neighbours by meaning, ähnliche verwandte Notizen, notes similaires, notas relacionadas, 相关笔记, 似ているノート",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        match (&input.file, &input.text) {
            (Some(file), None) => to_note(context, view, file, input.limit),
            (None, Some(text)) => to_text(context, view, text, input.limit),
            _ => Err(Reason::bad_argument(Self::DECLARATION.name, "file", "or `text` is needed, and not both")),
        }
    }

    fn text(&self, Output { related, notice }: &Output) -> Option<String> {
        let mut text = notice.clone().map(|notice| notice + "\n").unwrap_or_default();
        if related.is_empty() {
            return Some(text + "No note is related.");
        }
        let mut lines = String::new();
        for RelatedEntry { path, by, similarity, here, there } in related {
            let by: Vec<&str> = by.iter().map(|by| by.name()).collect();
            let similarity = similarity.map_or(String::new(), |similarity| format!(" {similarity:.2}"));
            lines += &format!("{} · {}{similarity}\n", one_line(path), by.join(", "));
            for (place, passage) in [("here", here), ("there", there)] {
                if let Some(ShortPassage { line, text }) = passage {
                    lines += &format!("  {place} {line}: {}\n", one_line(text));
                }
            }
        }
        text += &format!("{}\n{}", counted(related.len(), "related note"), fenced(&lines));
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Boiler.md", "The heating loses pressure in winter. Bleed the radiators.\n"),
            ("Stove.md", "A fireplace keeps the house warm when the central heating fails in cold winter weather.\n"),
            ("Bread.md", "Flour, water and yeast.\n"),
        ];
        vec![
            Example {
                says: "By what the notes say",
                before: NOTES,
                input: json!({ "file": "Boiler" }),
                gives: ExampleResult::Including(json!({ "related": [{
                    "path": "Stove.md", "by": ["meaning"],
                    "here": { "line": 1 }, "there": { "line": 1 },
                }] })),
                after: &[],
            },
            Example {
                says: "To a text that is not in the vault",
                before: NOTES,
                input: json!({ "text": "baking a loaf at home", "limit": 1 }),
                gives: ExampleResult::Including(json!({ "related": [{ "path": "Bread.md", "by": ["meaning"] }] })),
                after: &[],
            },
            Example {
                says: "A note that does not exist",
                before: NOTES,
                input: json!({ "file": "Roof" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[],
            },
            Example {
                says: "Neither a note nor a text",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

fn to_note(context: &Context<'_>, view: &View, file: &str, limit: usize) -> Result<Output, Reason> {
    let NamedFile { path, .. } = naming::find(context, view, file)?;
    let walk = LinkWalk::new(context, view)?;
    let missing = || Reason::NoteMissing { path: path.clone(), suggestions: Vec::new() };
    let start = walk.find(&path).ok_or_else(missing)?;
    let close = related::close_notes(context, view, start, limit + MORE, true)?;
    let notice = close.as_ref().err().copied().map(without_meaning);
    let close: Vec<CloseNote> = close.unwrap_or_default();
    let found = related::find_with(context, view, &walk, start, limit, &close)?;
    let entry = |note: related::RelatedNote| {
        let close = close.iter().find(|close| close.path.as_str() == note.path);
        RelatedEntry {
            similarity: close.map(|close| rounded(close.cosine)),
            here: close.and_then(|close| close.own.as_ref()).map(short),
            there: close.and_then(|close| close.other.as_ref()).map(short),
            path: note.path,
            by: note.by,
        }
    };
    Ok(Output { related: found.into_iter().map(entry).collect(), notice })
}

/// Links, tags and words remain.
fn without_meaning(why: NoMeaning) -> String {
    match why {
        NoMeaning::NotReady(done) => format!("Without meaning: its index is being made, {done} % are done."),
        NoMeaning::Off => "Without meaning: the owner has switched it off.".to_owned(),
        NoMeaning::UnknownWords | NoMeaning::NoFreeWords => {
            "Without meaning: the model does not know this script.".to_owned()
        }
    }
}

fn to_text(context: &Context<'_>, view: &View, text: &str, limit: usize) -> Result<Output, Reason> {
    check_length(RelatedNotes::DECLARATION.name, text)?;
    // It is a text and not a query: its signs are not operators.
    let plain: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let query = RankedQuery::from(plain.as_str());
    let room = PassageRoom { bytes: usize::MAX, notes: limit, pieces_per_note: 1 };
    let found = passages::find(context, view, RankedBy::Meaning, query, room)?;
    let by = if found.by == RankedBy::Words { RelatedBy::Words } else { RelatedBy::Meaning };
    let entry = |passage: passages::FoundPassage| RelatedEntry {
        path: passage.path,
        by: vec![by],
        similarity: passage.similarity,
        here: None,
        there: passage.line.map(|line| ShortPassage { line, text: shortened(&passage.text) }),
    };
    Ok(Output { related: found.passages.into_iter().map(entry).collect(), notice: found.notice })
}

fn short(piece: &NotePiece) -> ShortPassage {
    ShortPassage { line: piece.line, text: shortened(&piece.text) }
}

/// The beginning, on one line.
fn shortened(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(PASSAGE_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
