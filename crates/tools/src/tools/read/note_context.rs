//! A note with what is around it, within a budget.

use lapidary_note::{Heading, counted};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily,
    fence::fenced,
    quote::{one_line, quoted},
};
use lapidary_toolkit::{
    backlinks::{self, BackLink},
    hash,
    link_walk::{LinkWalk, WalkDirection},
    naming::{self, NamedFile},
    reading,
    related::{self, RelatedNote},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct NoteContext;

/// A note in its context: its text, its headings, the sentences that link to it, what it links to, and related notes.
///
/// The answer stays within `maxTokens`; the text of a longer note is cut, and `nextLine` says where it goes on.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path or name of the note.
    file: String,
    /// About as much as this.
    #[serde(default = "max_tokens")]
    #[schemars(range(min = 200, max = 20_000))]
    max_tokens: usize,
}

fn max_tokens() -> usize {
    1_500
}

/// Text takes about four bytes a token; the rest is for names and signs around it.
const BYTES_PER_TOKEN: usize = 3;
/// What each entry of a list costs beside its text.
const ENTRY_BYTES: usize = 30;
/// Of the room, the part that the text of the note has at least, in per cent.
const LEAST_TEXT: usize = 35;
const MOST_RELATED: usize = 12;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    content_hash: String,
    /// From the start.
    content: String,
    /// The line in which the rest begins, if the text was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_line: Option<usize>,
    headings: Vec<HeadingLine>,
    backlinks: Vec<BackLink>,
    /// Notes that it links to.
    links: Vec<String>,
    /// Notes that it is not linked with.
    related: Vec<RelatedNote>,
    /// How many did not fit.
    #[serde(skip_serializing_if = "LeftOut::is_nothing")]
    left: LeftOut,
}

#[derive(Serialize, JsonSchema)]
struct HeadingLine {
    line: usize,
    level: u8,
    text: String,
}

#[derive(Default, Serialize, JsonSchema)]
struct LeftOut {
    #[serde(skip_serializing_if = "is_zero")]
    headings: usize,
    #[serde(skip_serializing_if = "is_zero")]
    backlinks: usize,
    #[serde(skip_serializing_if = "is_zero")]
    links: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl LeftOut {
    fn is_nothing(&self) -> bool {
        self.headings + self.backlinks + self.links == 0
    }
}

impl ReadTool for NoteContext {
    const DECLARATION: Declaration = Declaration {
        name: "note_context",
        dotted: None,
        title: "A note in its context",
        family: WireFamily::Own,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing],
        words: "everything about a note at once, note with its context, related similar notes, what belongs to this note, summary of a note and its surroundings, brief me, Kontext einer Notiz, ähnliche Notizen, contexte d'une note, contexto de una nota, 笔记上下文, 相关笔记, 関連ノート",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let NamedFile { path, file, .. } = naming::find(context, view, &input.file)?;
        let shown = reading::show(&path, &file)?;
        let (text, note) = (shown.text(), shown.note());
        let walk = LinkWalk::new(context, view)?;
        let start =
            walk.find(&path).ok_or_else(|| Reason::NoteMissing { path: path.clone(), suggestions: Vec::new() })?;
        let linked: Vec<String> = walk.beside(start, WalkDirection::Out).iter().map(ToString::to_string).collect();
        // All are counted, but only those that fit are read.
        let mut backlinks = backlinks::find(context, walk.notes(), start)?;
        let total_backlinks = backlinks.len();
        // In bytes, which is what every part is measured in.
        let room = input.max_tokens * BYTES_PER_TOKEN;
        // More could not fit, and each sentence has to be read.
        backlinks.truncate(room / ENTRY_BYTES);
        backlinks::put_sentences(walk.notes(), start, &mut backlinks);
        let related = related::find(context, view, &walk, start, MOST_RELATED)?;
        let headings: Vec<HeadingLine> = note.headings.iter().map(heading_line).collect();
        let (total_headings, total_links) = (headings.len(), linked.len());
        // What the text does not need is for the rest.
        // A short text leaves its share to the lists; a long one never takes more than all but its own.
        let beside = room - text.len().min(room * LEAST_TEXT / 100);
        let mut used = 0;
        // Shares of the rest: headings a fifth, backlinks the most, since their sentences say the most.
        let headings = fitting(headings, beside / 5, &mut used, |heading| heading.text.len());
        let backlinks = fitting(backlinks, beside * 9 / 20, &mut used, |link| {
            let parts = [&link.context, &link.alias, &link.subpath, &link.property];
            link.file.len() + parts.into_iter().flatten().map(String::len).sum::<usize>() + ENTRY_BYTES
        });
        let links = fitting(linked, beside * 7 / 40, &mut used, String::len);
        let related = fitting(related, beside * 7 / 40, &mut used, |note| note.path.len() + 10 * note.by.len());
        // The text gets whatever the lists did not use.
        let (content, next_line) = from_start(text, room - used);
        Ok(Output {
            path: path.to_string(),
            content_hash: file.hash().to_string(),
            content: content.to_owned(),
            next_line,
            left: LeftOut {
                headings: total_headings - headings.len(),
                backlinks: total_backlinks - backlinks.len(),
                links: total_links - links.len(),
            },
            headings,
            backlinks,
            links,
            related,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, content_hash, content, next_line, headings, backlinks, links, related, left } = output;
        let mut text = format!("{}, hash {}\n{}", quoted(path), hash::digits(content_hash), fenced(content));
        if let Some(line) = next_line {
            text += &format!("\nCut: goes on in line {line}");
        }
        let mut list = |title: &str, lines: Vec<String>, left: usize| {
            if !lines.is_empty() || left > 0 {
                let more = if left > 0 { format!(" ({left} more)") } else { String::new() };
                let lines: String = lines.iter().map(|line| one_line(line).into_owned() + "\n").collect();
                text += &format!("\n{title}{more}:\n{}", fenced(&lines));
            }
        };
        let marks = |level: u8| "#".repeat(usize::from(level));
        list(
            "Headings",
            headings
                .iter()
                .map(|heading| format!("{} {} {}", heading.line, marks(heading.level), heading.text))
                .collect(),
            left.headings,
        );
        let back = |link: &BackLink| {
            let words = link.context.as_deref().unwrap_or_default();
            format!("{}:{} {words}", link.file, link.line).trim_end().to_owned()
        };
        list("Linked from", backlinks.iter().map(back).collect(), left.backlinks);
        list("Links to", links.clone(), left.links);
        let by = |note: &RelatedNote| note.by.iter().map(|by| by.name()).collect::<Vec<_>>().join(", ");
        list("Related", related.iter().map(|note| format!("{} ({})", note.path, by(note))).collect(), 0);
        if backlinks.is_empty() && links.is_empty() && related.is_empty() && left.is_nothing() {
            text += &format!("\n{}, nothing related", counted(0, "link"));
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Roof.md", "# Roof\nSlates from [[Ana]]. #house\n"),
            ("Ana.md", "Roofer.\n"),
            ("Log.md", "Looked at the [[Roof]] today.\n"),
            ("Cellar.md", "Damp. #house\n"),
        ];
        vec![
            Example {
                says: "A note with everything around it",
                before: NOTES,
                input: json!({ "file": "Roof" }),
                gives: ExampleResult::Including(json!({
                    "path": "Roof.md",
                    "content": "# Roof\nSlates from [[Ana]]. #house\n",
                    "headings": [{ "line": 1, "level": 1, "text": "Roof" }],
                    "backlinks": [{ "file": "Log.md", "line": 1, "context": "Looked at the [[Roof]] today." }],
                    "links": ["Ana.md"],
                    "related": [{ "path": "Cellar.md", "by": ["meaning", "tags"] }],
                })),
                after: &[],
            },
            Example {
                says: "A note that does not exist",
                before: NOTES,
                input: json!({ "file": "Attic" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[],
            },
        ]
    }
}

fn heading_line(heading: &Heading) -> HeadingLine {
    HeadingLine { line: heading.line, level: heading.level, text: heading.text.clone() }
}

/// The first entries of a list that have room.
fn fitting<T>(list: Vec<T>, room: usize, used: &mut usize, size: impl Fn(&T) -> usize) -> Vec<T> {
    let mut taken = 0;
    let fits = |item: &T| {
        taken += size(item) + ENTRY_BYTES;
        taken <= room
    };
    let list: Vec<T> = list.into_iter().take_while(fits).collect();
    *used += list.iter().map(|item| size(item) + ENTRY_BYTES).sum::<usize>();
    list
}

/// The start of a text in whole lines, or as much of its first line as fits, and the line in which the rest begins.
fn from_start(text: &str, room: usize) -> (&str, Option<usize>) {
    if text.len() <= room {
        return (text, None);
    }
    let end = text.floor_char_boundary(room);
    // In whole lines, unless not even the first fits.
    let end = text[..end].rfind('\n').map_or(end, |at| at + 1);
    let line = text[..end].matches('\n').count() + 1;
    (&text[..end], Some(line))
}
